"""The mutation tool: it applies the edit that it names, to every copy of a function, and runs the tests that can notice it."""

from __future__ import annotations

import ast
import subprocess
import sys
import time
from itertools import islice

import pytest

from noisygd_delete.bounds import theorem_5_1, theorem_5_2
from proofs_check.mutation import edit
from tests.mutation import faults, runs
from tests.mutation.faults import ROOT, Fault

FILE = "noisygd_delete/bounds/theorem_5_1.py"


def faults_in(file: str, function: str) -> list[Fault]:
    tree = ast.parse((ROOT / file).read_text())
    return [
        fault
        for name, node in faults.functions_of(tree)
        if name == function
        for fault in faults.faults_of(file, name, node)
    ]


def test_the_walk_over_a_definition_leaves_it_as_it_was():
    text = "def f(x):\n    if not x:\n        g(x)\n    x += 1\n    return max(x + 1, 2) if x < 3 and not x == 1 else True\n"
    tree = ast.parse(text)
    before = ast.dump(tree)
    changes = [what for node, _ in faults.editable(tree.body[0]) for what in edit(node)]
    assert ast.dump(tree) == before
    expected = {
        "Lt → LtE",
        "And → Or",
        "max → min",
        "1 → 2",
        "True → False",
        "Add → Sub",
        "Add= → Sub=",
        "not left out",
    }
    assert expected | {"`g(x)` left out", "`if not x` never holds", "`if not x` always holds"} <= set(changes)


def test_texts_of_errors_docstrings_annotations_and_defaults_are_not_edited():
    tree = ast.parse(
        'def f(x: 1 = 2) -> 3:\n    """4"""\n    if x > 5:\n        raise ValueError(6)\n    return g(7)\n'
    )
    nodes = [node for node, _ in faults.editable(tree.body[0])]
    assert {node.value for node in nodes if isinstance(node, ast.Constant)} == {5, 7}


def test_a_seed_fixes_the_faults_and_every_package_has_some():
    drawn = list(islice(faults.draw_faults(1), 300))
    assert drawn == list(islice(faults.draw_faults(1), 300))
    assert drawn != list(islice(faults.draw_faults(2), 300))
    assert len(set(drawn)) == 300
    assert {fault.file.split("/")[1] for fault in drawn} == set(faults.PACKAGES)


def test_functions_are_drawn_as_often_as_one_another_however_long_they_are():
    drawn = list(islice(faults.draw_faults(3, ("privacy",)), 200))
    counts = {name: sum(fault.function == name for fault in drawn) for name in {fault.function for fault in drawn}}
    sizes = {name: len(faults_in(drawn[0].file, name)) for name in counts}
    longest = max(sizes, key=lambda name: sizes[name])
    assert counts[longest] < 200 / 10


def answer(fault: Fault, compute) -> float | None:
    def work(write):
        fault.apply()
        write(compute())

    fork = runs.Fork(work, 60)
    while not fork.has_ended():
        time.sleep(0.01)
    return fork.answer()


def test_an_edit_is_what_every_holder_of_the_function_runs_and_only_in_its_fork():
    held = theorem_5_1.condition_number  # as a module does that imported the function
    before = held(regularization=2.0, smoothness=4.0)
    for fault in faults_in(FILE, "condition_number"):
        found = answer(fault, lambda: held(regularization=2.0, smoothness=4.0))
        assert found not in (None, before), fault
    assert held(regularization=2.0, smoothness=4.0) == before


def test_a_method_and_a_function_within_a_function_are_edited():
    gibbs = theorem_5_2.Gibbs(order=2, range=1.0, smoothness=1.0, regularization=0.5, dimension=2, form="sharper")
    run = {"step_size": 1e-4, "noise_variance": 1.0, "records": 10, "before": 0.1, "steps": 5, "edits": 1}
    file = "noisygd_delete/bounds/theorem_5_2.py"
    inner = [fault for fault in faults_in(file, "Gibbs._run") if fault.what == "Mult → Div"][-1]
    assert answer(inner, lambda: gibbs.distance_after(**run)) != gibbs.distance_after(**run)


def test_a_fork_that_is_late_has_no_answer_and_one_that_fails_has_its_error():
    for work, error in ((lambda write: time.sleep(60), None), (lambda write: 1 / 0, "ZeroDivisionError")):
        fork = runs.Fork(work, 0.5)
        while not fork.has_ended():
            time.sleep(0.01)
        said = fork.answer()
        assert said is None if error is None else error in said["error"]


def test_only_sound_tests_that_run_the_line_are_chosen_and_cheap_ones_come_first():
    fault = next(fault for fault in faults_in(FILE, "condition_number"))
    line = fault.lines[0]
    tests = {
        "a.py::slow": runs.Test(3.0, False, {FILE: [line]}),
        "b.py::fast": runs.Test(0.1, False, {FILE: [line]}),
        "b.py::failing": runs.Test(0.1, True, {FILE: [line]}),
        "b.py::elsewhere": runs.Test(0.1, False, {FILE: [line + 100], "other": [line]}),
    }
    assert runs.order_tests(fault, tests) == ["b.py::fast", "a.py::slow"]


def test_a_function_that_is_compiled_has_the_tests_that_name_it_and_its_edit_is_compiled():
    fault = next(fault for fault in faults_in("noisygd_delete/engine/kernel_numba.py", "_spread"))
    assert fault.is_compiled()
    assert not faults_in(FILE, "condition_number")[0].is_compiled()
    files = [str(path.relative_to(ROOT)) for path in sorted((ROOT / "tests" / "engine").glob("test_*.py"))]
    assert "tests/engine/test_kernel.py::test" in runs.nearest_tests(fault, [f"{file}::test" for file in files], 6)


@pytest.mark.parametrize(("tests", "noticed"), [("test_convex.py", True), ("test_tails.py", False)])
def test_a_fault_is_noticed_by_the_tests_that_reach_it_and_a_survivor_is_listed(tmp_path, tests, noticed):
    fault = faults_in(FILE, "condition_number")[0]
    run = [sys.executable, "-m", "tests.mutation", "--folder", tmp_path, "--out", tmp_path / "table.md"]
    run += ["--package", "bounds", "--count", "2000", "--only", fault, "--tests", ROOT / "tests" / "bounds" / tests]
    subprocess.run([*map(str, run)], cwd=ROOT, check=True, capture_output=True, timeout=300)
    table = (tmp_path / "table.md").read_text()
    assert ("| all | 1 | 1 " in table) == noticed
    assert (f"- {fault}" in table) == (not noticed)
