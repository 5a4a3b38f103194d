"""The exercises of adding a method, a loss and a command, done in a copy of the repository.

The method is a twin of `noisy-gd` with one option of its own, the loss has a kink in its derivative, the command reads a store. By hand each
touches its own file, its lines in the catalogue, and for the loss a row of the tests. What else must change is written by commands. No accepted proof goes stale, every
command offers them, and the guards know their names.
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
HINGE = '''
"""Smoothed hinge loss for labels −1/+1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from .base import ONE_DIRECTION, Array, Loss, LossConstants


@dataclass(frozen=True)
class SmoothedHinge(Loss):
    """With m = y⟨θ, x⟩: 0 for m ≥ 1, (1 − m)²/2 for 0 ≤ m ≤ 1, 1/2 − m below.

    |g| = min(max(1 − m, 0), 1) ≤ 1, so L = R. g is Lipschitz with constant 1 and not differentiable at m = 0 and m = 1: β₊ = R², β₋ = 0.
    """

    name: ClassVar[str] = "smoothed-hinge"
    label_kind: ClassVar[str] = "binary"
    curving: ClassVar[str] = ONE_DIRECTION
    twice_differentiable: ClassVar[bool] = False

    @property
    def constants(self) -> LossConstants:
        return LossConstants(lipschitz=self.radius, smoothness=self.radius**2, proven=True)

    def value(self, scores: Array, labels: Array, xp: Any) -> Array:
        rest = 1 - scores[..., 0] * labels
        part = (xp.abs(rest) - xp.abs(rest - 1) + 1) / 2
        return part * (rest - part / 2)

    @staticmethod
    def slope(score, label, parameter, tanh, sqrt):  # type: ignore[no-untyped-def]
        rest = 1.0 - score * label
        return label * (-0.5 * (sqrt(rest * rest) - sqrt((rest - 1.0) * (rest - 1.0)) + 1.0))
'''.lstrip()
BY_HAND = {"noisygd_delete/methods/patient.py", "noisygd_delete/methods/__init__.py"}
LOSS_BY_HAND = {
    "noisygd_delete/losses/smoothed_hinge.py",
    "noisygd_delete/losses/__init__.py",
    "tests/losses/test_losses.py",
}
LOSS_LINES = {
    "noisygd_delete/losses/__init__.py": (
        (
            '        "Softmax": "softmax",\n',
            '        "SmoothedHinge": "smoothed_hinge",\n        "Softmax": "softmax",\n',
        ),
        ('    "softmax": "Softmax",\n', '    "softmax": "Softmax",\n    "smoothed-hinge": "SmoothedHinge",\n'),
    ),
    "tests/losses/test_losses.py": (
        (
            "    losses.Linear(radius=1.0),\n    losses.with",
            '    losses.CATALOGUE["smoothed-hinge"](radius=1.0),\n    losses.Linear(radius=1.0),\n    losses.with',
        ),
    ),
}
COMMAND = '''
"""`noisygd-delete slots`: how many slots of a store are free."""

from __future__ import annotations

import argparse
from typing import Any

from .arguments import store_command
from .terminal import print_result


def register(commands: Any) -> None:
    """Add the `slots` command."""
    store_command(commands, "slots", "slots STORE", _slots)


def _slots(parsed: argparse.Namespace) -> int:
    from ..store.status import status as read_status

    status = read_status(parsed.store)
    free = status["slots"] - status["records"]
    print_result(parsed, {"free": free}, f"{free} free slots")
    return 0
'''.lstrip()
COMMAND_LINES = {
    "noisygd_delete/cli/arguments.py": (
        ('    "verify": "check that', '    "slots": "how many slots are free",\n    "verify": "check that'),
    ),
    "tests/docs/options.py": ((" status budget verify", " status slots budget verify"),),
}
COMMAND_BY_HAND = {"noisygd_delete/cli/slots.py", *COMMAND_LINES}
PYTEST = ("-m", "pytest", "-q", "-n0", "-p", "no:cacheprovider")
WRITERS = ("tests.docs.options", "tests.docs.public_names", "tests.rooms")
TRIED = """
import sys
import tempfile
from pathlib import Path

import noisygd_delete
from noisygd_delete import Budget, Curator, EditRequest, Records, losses, make_plan, methods
from noisygd_delete.cli import main
from noisygd_delete.errors import AssumptionViolated
from noisygd_delete.store import Store
from proofs_check import licences
from proofs_check.statements import REGISTRY
from tests.store import conftest as store_rows
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
folder = tempfile.mkdtemp() + "/store"
Store.create(folder, store_rows.records(), store_rows.SCHEMA, store_rows.plan()).close()
assert main(["slots", folder, "--json"]) == 0
assert release.guarantees["deletion"].gdp <= 0.3

hinge = losses.CATALOGUE["smoothed-hinge"](radius=1.0)
assert main(["plan", "--loss", "smoothed-hinge", *sizes]) == 0
plan = make_plan(hinge, records=60, features=3, regularization=0.25, budget=Budget.from_gdp(dp=2.0, deletion=0.3))
curator = Curator(Records(rows, [1.0] * 60), plan)
curator.learn()
assert curator.delete([17]).guarantees["deletion"].gdp <= 0.3
try:
    make_plan(hinge, records=60, features=3, regularization=0.25, budget=Budget.from_gdp(dp=2.0, deletion=0.3), method="noisy-gd:analysis=paper")
except AssumptionViolated:
    pass
else:
    raise AssertionError("Theorem 5.1 needs a loss that is differentiable twice")

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
    (copy / "noisygd_delete" / "losses" / "smoothed_hinge.py").write_text(HINGE)
    (copy / "noisygd_delete" / "cli" / "slots.py").write_text(COMMAND)
    for file, lines in {"noisygd_delete/methods/__init__.py": LINES, **LOSS_LINES, **COMMAND_LINES}.items():
        text = (copy / file).read_text()
        for old, new in lines:
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        (copy / file).write_text(text)
    return copy, before


def run(copy: Path, *words: str) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "PYTHONPATH"))}
    done = subprocess.run(
        [sys.executable, *words], cwd=copy, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{words}: {done.stdout[-3000:]}{done.stderr[-3000:]}"


def test_a_method_a_loss_and_a_command_join_by_their_files_and_their_lines(copy: tuple[Path, dict[str, str]]) -> None:
    folder, before = copy
    run(folder, "-c", TRIED)
    for writer in WRITERS:
        run(folder, "-m", writer)
    by_hand = BY_HAND | LOSS_BY_HAND | COMMAND_BY_HAND
    written = {name for name, digest in digests(folder).items() if before.get(name) != digest} - by_hand
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
    run(folder, *PYTEST, "tests/test_architecture.py", "-k", "method or imports or word")
    run(folder, *PYTEST, "tests/audit/test_one_run.py", "-k", "patient")


def test_the_bank_of_losses_accepts_a_kink_and_finds_a_wrong_constant(copy: tuple[Path, dict[str, str]]) -> None:
    folder, _ = copy
    bank = (*PYTEST, "tests/losses/test_losses.py", "-k", "SmoothedHinge")
    run(folder, *bank)
    file = folder / "noisygd_delete" / "losses" / "smoothed_hinge.py"
    for right, wrong in (
        ("smoothness=self.radius**2", "smoothness=0.99 * self.radius**2"),
        ("lipschitz=self.radius,", "lipschitz=0.99 * self.radius,"),
    ):
        file.write_text(HINGE.replace(right, wrong))
        with pytest.raises(AssertionError, match="test_the_search_reaches_the_constants"):
            run(folder, *bank)
    file.write_text(HINGE)


def test_a_new_command_passes_what_is_asked_of_every_command(copy: tuple[Path, dict[str, str]]) -> None:
    folder, _ = copy
    run(folder, *PYTEST, "tests/docs/test_pages.py", "-k", "options or interface")
    run(folder, *PYTEST, "tests/cli/test_arguments.py", "tests/cli/test_options.py", "tests/test_architecture.py")
