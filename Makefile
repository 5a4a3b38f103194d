# Every target works on a machine with Python 3.11+, make and the package index: the first one run makes .venv.
PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin/python
READY := $(VENV)/.ready

.PHONY: demo test examples package long faults mutation coverage lint types proofs bench bench-kernel docs clean

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(RUN) -m pip install --quiet --upgrade --constraint constraints.txt pip
	$(RUN) -m pip install --quiet --constraint constraints.txt --editable ".[dev]"
	touch $@

demo: $(READY)          ## learn and delete on scikit-learn's digits
	$(RUN) -m noisygd_delete demo

test: $(READY)          ## the default suite, or TESTS="..." of it
	$(RUN) -m pytest -n 2 --dist loadfile $(TESTS)

examples: $(READY)      ## every example and the notebook: their own assertions hold
	$(RUN) -m pytest -n 2 tests/examples

package: $(READY)       ## wheel and sdist into dist/, each tried in a clean environment without extras
	.ci/package

long: $(READY)          ## the statistical suite
	$(RUN) -m pytest -n 2 --dist loadfile -m long --table=benchmarks/results/long-suite.md

faults: $(READY)        ## every fault tried on the store, about ten minutes
	$(RUN) -m tests.store.fault_table --out benchmarks/results/faults.md

mutation: $(READY)      ## small edits of what a certificate rests on: how many does a proof or a test notice? About 20 minutes
	$(RUN) -m tests.mutation --count 130

ROOMS := bounds accountant methods planner store
COVERING := $(addprefix tests/,bounds accountant methods planner curator stream store fuzz cli report)
coverage: $(READY)      ## lines and branches of four rooms; fails where one is below 98 %
	$(RUN) -m coverage run --branch --source=noisygd_delete -m pytest -q $(COVERING)
	for room in $(ROOMS); do $(RUN) -m coverage report --show-missing --skip-covered --precision=1 \
		--include="noisygd_delete/$$room/*" --fail-under=98 || exit 1; done

lint: $(READY)
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .

types: $(READY)
	$(RUN) -m mypy

proofs: $(READY)        ## every statement of the paper, checked
	$(RUN) -m proofs_check

bench: $(READY)         ## side-by-side measurements
	$(RUN) -m benchmarks speed
	$(RUN) -m benchmarks kernel

bench-kernel: $(READY)  ## time of a step over one reading of the matrix; the last line has the ratios
	$(RUN) -m benchmarks kernel

docs: $(READY)          ## the documentation site, into site/
	$(RUN) -m mkdocs build --strict

clean:
	rm -rf $(VENV)
