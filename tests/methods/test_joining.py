"""The exercise of adding a method, done in a copy of the repository: a twin of `noisy-gd` with one option of its own.

By hand it touches its own file and its lines in the catalogue. What else must change is written by commands. Nobody's accepted proof goes
stale, every door offers it, and the guards know its names.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TWIN = '''
"""`noisy-gd` with a multiple of the steps that forgetting needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .noisy_gd import NoisyGD, NoisyGDRun
from .plan import Calibration, Plan
from .problem import Problem


@dataclass(frozen=True, kw_only=True)
class PatientRun(NoisyGDRun):
    """Noisy-GD, longer."""

    method: ClassVar[str] = "patient"


@dataclass(frozen=True)
class Patient(NoisyGD):
    """As `noisy-gd`; patience: so many times the steps of a deletion."""

    name: ClassVar[str] = "patient"
    summary: ClassVar[str] = "as sharp, with more steps for a deletion"

    patience: int = 2

    def plan(self, problem: Problem) -> Plan:
        plan = super().plan(problem)
        return plan.changed(delete_steps_for_deletion=self.patience * plan.calibration.delete_steps_for_deletion)

    def assemble(self, problem: Problem, numbers: Calibration) -> Plan:
        run = PatientRun(**self.run_facts(problem, numbers))
        return Plan.of(problem, run, numbers, exactness=run.exactness)
'''.lstrip()
LINES = (
    ('    "noisy-gd": "NoisyGD",\n', '    "noisy-gd": "NoisyGD",\n    "patient": "Patient",\n'),
    (
        '        **dict.fromkeys(("NoisyGD", "NoisyGDRun"), "noisy_gd"),\n',
        '        **dict.fromkeys(("NoisyGD", "NoisyGDRun"), "noisy_gd"),\n        **dict.fromkeys(("Patient", "PatientRun"), "patient"),\n',
    ),
    ('    "PaperNoisyGD",\n    "Plan",\n', '    "PaperNoisyGD",\n    "Patient",\n    "Plan",\n'),
    ("    from .plan import Method, Plan\n", "    from .patient import Patient\n    from .plan import Method, Plan\n"),
)
BY_HAND = {"noisygd_delete/methods/patient.py", "noisygd_delete/methods/__init__.py"}
WRITERS = ("tests.docs.options", "tests.docs.public_names", "tests.rooms")
TRIED = """
import sys
from pathlib import Path

import noisygd_delete
from noisygd_delete import Budget, Curator, EditRequest, Records, losses, make_plan, methods
from noisygd_delete.cli import main
from proofs_check import licences
from proofs_check.statements import REGISTRY
from tests.test_architecture import method_questions

assert Path(noisygd_delete.__file__).is_relative_to(Path.cwd()), noisygd_delete.__file__
accepted = licences.load()
assert [key for key, entry in REGISTRY.items() if licences.stale(entry, accepted)] == []

sizes = ["--records", "5000", "--features", "8", "--json"]
assert main(["plan", "--method", "patient:patience=3", *sizes]) == 0
assert main(["plan", "--compare", *sizes[:-1], "--releases", "3"]) == 0
assert "patient" in methods.compared_methods()

plan = make_plan(losses.Linear(radius=1.0), records=60, features=3, regularization=0.25, budget=Budget.from_gdp(dp=2.0, deletion=0.3), method=methods.resolve_method("patient", patience=3))
assert plan.calibration.delete_steps_for_deletion % 3 == 0
rows = [[1.0, 0.0, 0.0]] * 60
curator = Curator(Records(rows, [1.0] * 60), plan)
curator.learn()
release = curator.delete([17])
assert release.guarantees["deletion"].gdp <= 0.3

planted = Path("planted.py")
planted.write_text("found = name == 'patient' or isinstance(facts, PatientRun)")
assert method_questions(planted) == ["patient", "PatientRun"]
planted.unlink()
"""


def digests(root: Path) -> dict[str, str]:
    return {
        str(path.relative_to(root)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in root.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and ".hypothesis" not in path.parts
    }


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """The repository with the twin in it, and what stood in its files before."""
    copy = tmp_path_factory.mktemp("house") / "copy"
    left_out = shutil.ignore_patterns(".*", "__pycache__", "*.egg-info", "dist", "build", "site", "shared", "results")
    shutil.copytree(ROOT, copy, ignore=left_out)
    before = digests(copy)
    (copy / "noisygd_delete" / "methods" / "patient.py").write_text(TWIN)
    catalogue = copy / "noisygd_delete" / "methods" / "__init__.py"
    text = catalogue.read_text()
    for old, new in LINES:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    catalogue.write_text(text)
    return copy, before


def run(copy: Path, *words: str) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "PYTHONPATH"))}
    done = subprocess.run(
        [sys.executable, *words], cwd=copy, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{words}: {done.stdout[-3000:]}{done.stderr[-3000:]}"


def test_a_method_with_an_option_of_its_own_joins_by_its_file_and_its_lines(copy: tuple[Path, dict[str, str]]) -> None:
    folder, before = copy
    run(folder, "-c", TRIED)
    for writer in WRITERS:
        run(folder, "-m", writer)
    written = {name for name, digest in digests(folder).items() if before.get(name) != digest} - BY_HAND
    assert len(BY_HAND) <= 5
    allowed = (
        "docs/commands/",
        "docs/public-names.txt",
        "docs/rooms.svg",
        "docs/page-digests.md",
        "noisygd_delete/reports/",
        "noisygd_delete/evidence/",
    )
    assert {name for name in written if not name.startswith(allowed)} == set(), "written by commands"


def test_the_suite_asks_the_new_method_without_being_told(copy: tuple[Path, dict[str, str]]) -> None:
    folder, _ = copy
    run(
        folder,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "tests/test_architecture.py",
        "-k",
        "method or imports or word",
    )
    run(folder, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/audit/test_one_run.py", "-k", "patient")
