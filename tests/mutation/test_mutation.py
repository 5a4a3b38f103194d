"""The mutation survey itself: it edits what it says, in a fork, and nothing that only words depend on."""

from __future__ import annotations

import ast

from proofs_check.mutation import edit
from proofs_check.sources import Sources
from tests.mutation import __main__ as survey

SOURCES = Sources()


def made(module: str, room: str) -> list[survey.Edit]:
    return [make() for make in survey.edits(module, room, SOURCES)]


def test_an_edited_module_runs_with_that_edit_and_no_other():
    module = "bounds.arithmetic"
    for change in made(module, "bounds")[:40]:
        space: dict[str, object] = {"__name__": "edited", "__package__": "noisygd_delete.bounds"}
        exec(change.code, space)
        assert callable(space["probability_from_log"])
    unit = next(
        change for change in made(module, "bounds") if change.place.name == "UNIT" and change.what == "2.0 → 3.0"
    )
    space = {"__name__": "edited", "__package__": "noisygd_delete.bounds"}
    exec(unit.code, space)
    assert space["UNIT"] == 3.0**-53
    assert space["MARGIN"] == 1e-12


def test_the_walk_over_a_definition_leaves_it_as_it_was():
    tree = ast.parse("def f(x):\n    return max(x + 1, 2) if x < 3 and not x == 1 else True\n")
    before = ast.dump(tree)
    changes = [what for node in survey._editable(tree.body[0]) for what in edit(node)]
    assert ast.dump(tree) == before
    assert {"Lt → LtE", "And → Or", "max → min", "1 → 2", "True → False", "Add → Sub"} <= set(changes)


def test_words_of_errors_docstrings_and_annotations_are_left_alone():
    tree = ast.parse('def f(x: 1 = 2) -> 3:\n    """4"""\n    if x > 5:\n        raise ValueError(6)\n    return 7\n')
    values = {node.value for node in survey._editable(tree.body[0]) if isinstance(node, ast.Constant)}
    assert values == {2, 5, 7}


def test_a_fork_answers_however_much_it_has_to_say_and_is_ended_when_it_is_late():
    assert survey.in_a_fork(lambda: "x" * 200_000, 20) == "x" * 200_000
    assert survey.in_a_fork(lambda: survey.time.sleep(60), 0.1) is None


def test_the_edit_is_what_the_package_reads(monkeypatch):
    change = next(change for change in made("bounds.theorem_5_1", "bounds") if change.place.name == "condition_number")

    def read() -> float:
        for name in [name for name in survey.sys.modules if name.startswith("noisygd_delete.")]:
            del survey.sys.modules[name]
        survey.sys.meta_path.insert(0, survey._Finder(change))
        from noisygd_delete.bounds import theorem_5_1

        return theorem_5_1.condition_number(regularization=2.0, smoothness=4.0)

    assert survey.in_a_fork(read, 30) != 3.0
