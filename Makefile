# Every target works on a machine with Python 3.11+, make and the package index: the first one run makes .venv.
PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin/python
READY := $(VENV)/.ready
ENGINES := .venv-engines
PUBLISHERS := .venv-publishers
JUDGE := .venv-api
# hundreds of processes start in the tests: modules are compiled once, not in each of them
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test slow coq services engines publishers desk-to-registry api examples package long faults database-faults mutation coverage lint types proofs bench bench-kernel bench-check docs clean

$(READY): pyproject.toml $(wildcard packages/*/pyproject.toml) requirements/constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(RUN) -m pip install --quiet --upgrade --constraint requirements/constraints.txt pip
	$(RUN) -m pip install --quiet --constraint requirements/constraints.txt --editable ".[dev]" \
		--editable packages/compliance --editable packages/lab --editable packages/server --editable packages/sources
	touch $@

demo: $(READY)          ## learn and delete on scikit-learn's digits, to the certificate
	$(RUN) examples/start/digits.py

# rooms that start databases or services, and tests of pages and proofs, are stages of their own: `make test TESTS="tests/docs"`
SERVICES := tests/sources tests/service
APART := $(SERVICES) tests/publishers tests/docs tests/engines tests/examples tests/proofs_check
SUITE := $(RUN) -m pytest -n 2 --dist worksteal --timeout 600
test: $(READY)          ## the fast suite; with TESTS="..." all of those; PYTEST_ADDOPTS="--shuffle SEED" draws another order
	$(SUITE) $(if $(TESTS),$(TESTS),-m "not long and not slow" $(APART:%=--ignore=%))

slow: $(READY)          ## what the fast suite leaves out of the same rooms: tests of more than a second
	$(SUITE) -m "slow and not long" $(APART:%=--ignore=%)

services: $(READY)      ## rooms that start PostgreSQL or a service
	$(SUITE) $(SERVICES)

$(PUBLISHERS)/.ready: pyproject.toml $(wildcard packages/*/pyproject.toml) requirements/constraints-publishers.txt
	$(PYTHON) -m venv $(PUBLISHERS)
	$(PUBLISHERS)/bin/python -m pip install --quiet --constraint requirements/constraints-publishers.txt --editable . \
		--editable packages/compliance --editable "packages/server[publish]" --editable "packages/sources[postgres]" \
		s3fs "moto[server,s3]" httpx2 pytest pytest-timeout hypothesis
	touch $@

publishers: $(PUBLISHERS)/.ready  ## MLflow's registry and an S3 on this machine, killed at every step and scanned; the whole way from a desk
	$(PUBLISHERS)/bin/python -m pytest --timeout 900 tests/publishers tests/service/test_end_to_end.py $(TESTS)

desk-to-registry: $(PUBLISHERS)/.ready  ## from a privacy desk to a model registry, 200 kills -9 on the way: about an hour
	$(PUBLISHERS)/bin/python -m pytest tests/service/test_end_to_end.py -m long --table=benchmarks/results/desk-to-registry.md

# Ray and Spark are heavy, so they have an environment and pins of their own
$(ENGINES)/.ready: pyproject.toml $(wildcard packages/*/pyproject.toml) requirements/constraints-engines.txt
	$(PYTHON) -m venv $(ENGINES)
	$(ENGINES)/bin/python -m pip install --quiet --constraint requirements/constraints-engines.txt --editable ".[files]" \
		--editable packages/compliance --editable "packages/sources[ray,spark]" pytest pytest-timeout psutil
	touch $@

engines: $(ENGINES)/.ready  ## clusters of Ray and Spark of two workers each, killed and scanned; needs Java 17
	$(ENGINES)/bin/python -m pytest --timeout 900 tests/engines $(TESTS)

$(JUDGE)/.ready:
	$(PYTHON) -m venv $(JUDGE)
	$(JUDGE)/bin/python -m pip install --quiet schemathesis==4.32.5
	touch $@

api: $(READY) $(JUDGE)/.ready  ## the service fuzzed from its own description
	NOISYGD_DELETE_SCHEMATHESIS=$(abspath $(JUDGE))/bin/schemathesis $(RUN) -m pytest --timeout 600 tests/service/test_description.py $(TESTS)

examples: $(READY)      ## every example and the notebook: their own assertions hold
	$(SUITE) tests/examples

package: $(READY)       ## wheel and sdist into dist/, each tried in a clean environment without extras
	.ci/package

long: $(READY)          ## the statistical suite
	$(RUN) -m pytest -n 2 --dist worksteal -m long --table=benchmarks/results/long-suite.md

database-faults: $(PUBLISHERS)/.ready  ## the service over PostgreSQL, with MLflow beside it: killed, locked, put back; about twenty minutes
	PYTHONPATH=.:packages/server:packages/compliance:packages/sources $(PUBLISHERS)/bin/python -W ignore -m tests.service.database_faults --out benchmarks/results/database_faults.md

faults: $(READY)        ## every fault tried on the store, about ten minutes
	$(RUN) -m tests.store.fault_table --out benchmarks/results/faults.md

SEED ?= 0
mutation: $(READY)      ## 150 faults drawn at random in eight packages (SEED=n draws others): how many does the fast suite notice?
	$(RUN) -m tests.mutation --count 150 --seed $(SEED) --out .cache/mutation/table.md

COMMA := ,
# what a certificate rests on: whole rooms, and files of two others
RESTS_ON := $(foreach room,bounds privacy methods planner accountant curator store,noisygd_delete/$(room)/*) \
	$(subst $() ,$(COMMA),$(foreach file,noise noisygd linear_term solver sample descent,noisygd_delete/engine/$(file).py)) \
	$(subst $() ,$(COMMA),$(foreach file,verification checks claims derivation canonical signing envelope facts,noisygd_delete/evidence/$(file).py))
COVERING := $(addprefix tests/,bounds privacy methods planner accountant curator store fuzz cli compliance evidence reports engine across)
coverage: $(READY)      ## lines and branches of what a certificate rests on; fails where a part of it is below 98 %
	$(RUN) -m pytest -q -n 2 --dist worksteal --cov=noisygd_delete --cov-branch --cov-report= $(COVERING)
	failed=0; for part in $(foreach part,$(RESTS_ON),'$(part)'); do $(RUN) -m coverage report --show-missing --skip-covered \
		--precision=1 --include="$$part" --fail-under=98 || failed=1; done; exit $$failed

lint: $(READY)
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .

types: $(READY)
	$(RUN) -m mypy

proofs: $(READY)        ## every statement of the paper, checked, and what checks them
	$(RUN) -m proofs_check
	$(SUITE) tests/proofs_check --ignore=tests/proofs_check/test_coq.py --deselect=tests/proofs_check/test_statements.py::test_the_check_passes

coq: $(READY)           ## the theorems in Coq, their axioms, certificates and 10,000 values; skipped without coqc (apt-get install coq libcoq-coquelicot libcoq-interval)
	$(RUN) -m pytest -rs tests/proofs_check/test_coq.py $(TESTS)

bench: $(READY)         ## side-by-side measurements
	$(RUN) -m benchmarks speed
	$(RUN) -m benchmarks kernel

bench-kernel: $(READY)  ## time of a step over one reading of the matrix; the last line has the ratios
	$(RUN) -m benchmarks kernel

bench-check: $(READY)   ## does anything grow faster with a resource than committed? Ratios, never seconds
	$(RUN) -m benchmarks growth --check

docs: $(READY)          ## the documentation site, into site/, and the tests of its pages
	$(RUN) -m mkdocs build --config-file .ci/mkdocs.yml --strict
	$(SUITE) tests/docs --deselect=tests/docs/test_documentation.py::test_the_site_builds_strictly

clean:
	rm -rf $(VENV) $(ENGINES) $(PUBLISHERS)
