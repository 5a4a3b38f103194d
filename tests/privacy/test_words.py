"""Words from a fixed list: a typo is refused where it is made, and a word reads, writes and compares as its text."""

from __future__ import annotations

import ast
import json
import pickle
from pathlib import Path

import pytest

from noisygd_delete import Budget, losses, make_plan
from noisygd_delete.accountant import Event, EventKinds, Statuses
from noisygd_delete.curator.release import Release
from noisygd_delete.errors import InvalidParameter, Word
from noisygd_delete.evidence import Erasure
from noisygd_delete.features.maps.catalogue import KINDS
from noisygd_delete.methods.serialization import plan_from_dict
from noisygd_delete.privacy.budget import Measures
from noisygd_delete.privacy.worlds import Worlds
from noisygd_delete.store.entry import Entry, EntryKinds

from ..syntax import parse_source

PACKAGE = Path(__file__).parents[2] / "noisygd_delete"
FAMILIES = (EventKinds, EntryKinds, Statuses, Measures, Worlds)


@pytest.fixture(scope="module")
def plan():
    return make_plan(
        losses.Logistic(radius=1.0), records=500, features=4, regularization=1e-2, method="noisy-gd",
        budget=Budget(order=8, dp=1.0, deletion=0.1),
    )  # fmt: skip


def test_a_typo_is_refused_with_the_words_there_are(plan) -> None:
    with pytest.raises(InvalidParameter, match="'unlern' is not one of the event kinds: 'learn', 'unlearn'"):
        Event("unlern", 1, 0, plan.mechanism)
    with pytest.raises(InvalidParameter, match="entry kinds: 'init'"):
        Entry(kind="edits", time="", pending=0)
    with pytest.raises(InvalidParameter, match="statuses: 'published'"):
        Erasure(rows=1, release=1, status="publisht")
    with pytest.raises(InvalidParameter, match="measures: 'renyi'"):
        Budget(order=8, measure="rényi")
    with pytest.raises(InvalidParameter, match="statuses"):
        Release(1, "learn", 1, 1.0, 0, {}, None, status="done")


def test_a_word_is_its_text_in_json_comparisons_and_messages(plan) -> None:
    event = Event("learn", plan.calibration.learn_steps, 0, plan.mechanism)
    assert event.kind is EventKinds.LEARN
    assert event.kind == "learn"
    assert event == Event(EventKinds.LEARN, plan.calibration.learn_steps, 0, plan.mechanism)
    assert type(event.to_dict()["kind"]) is str
    assert type(plan.problem.budget.to_dict()["measure"]) is str
    assert json.loads(json.dumps(plan.to_dict())) == plan.to_dict()
    assert plan_from_dict(json.loads(json.dumps(plan.to_dict()))) == plan
    assert f"{EventKinds.LEARN} {Measures.EPSILON_DELTA}" == "learn epsilon-delta"
    assert pickle.loads(pickle.dumps(event)) == event


def compared(tree: ast.AST) -> list[tuple[str, str]]:
    """(attribute, text) of every comparison of an attribute with a text."""
    found = []
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Compare)
            and isinstance(node.left, ast.Attribute)
            and node.left.attr in WORDS
            and "dtype" not in ast.unparse(node.left)
        ):
            texts = [leaf for side in node.comparators for leaf in ast.walk(side) if isinstance(leaf, ast.Constant)]
            found += [(node.left.attr, leaf.value) for leaf in texts if isinstance(leaf.value, str)]
    return found


WORDS = {
    "kind": (EventKinds, EntryKinds, tuple(KINDS), ("id", "subject")),  # the last: of an `UnknownName`
    "status": (Statuses,),
    "measure": (Measures,),
    "adjacency": (Worlds,),
}


def test_no_comparison_in_the_package_misspells_a_word() -> None:
    """`event.kind == "unlern"` would be false for ever, and nobody would see it."""
    seen = 0
    for path in PACKAGE.rglob("*.py"):
        for attribute, text in compared(parse_source(path.read_text("utf-8"))):
            if attribute in WORDS:
                seen += 1
                assert text in {str(word) for family in WORDS[attribute] for word in family}, f"{path}: {text!r}"
    assert seen > 5
    assert compared(ast.parse('event.kind in ("unlern",)')) == [("kind", "unlern")]


def test_every_family_is_a_word() -> None:
    for family in FAMILIES:
        assert issubclass(family, Word)
        for word in family:
            assert family(str(word)) is word
