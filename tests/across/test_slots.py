"""No slot tells who was there: every stated 0, between two machines of which one never held the record.

One machine holds the record for a while, so that others get other slots, and erases it. The other never held it: an empty slot was kept for it, the file
had no such line, it was never inserted, the table was written anew without holes. Both then hold the same rows, hidden behind the same
noise: where a figure is 0 they publish the same weights, bit for bit.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from noisygd_delete import Curator, EditRequest, Records, learn, losses, make_plan
from noisygd_delete.curator.learning import resume
from noisygd_delete.curator.model import Model
from noisygd_delete.engine import content_order, sums
from noisygd_delete.engine.content_order import order_of_content
from noisygd_delete.engine.execution import ALONE, Group
from noisygd_delete.engine.objective import PreciseObjective
from noisygd_delete.errors import InvalidParameter
from noisygd_delete.methods.plan import Plan

from ..bank import FURTHER, PROBLEMS, plan_by, unit_rows

HISTORIES = ("insert", "insert many", "replace", "restrict and lift", "relearn")
WITHOUT = ("empty slot", "no line", "never inserted", "compacted")
OWN_NOISE = ("sufficient-statistics",)  # whose releases share no noise between worlds: their exact sums are compared


class Table:
    """A world under construction: requests name rows by number, and go where `Records` puts them."""

    def __init__(self, rows: np.ndarray, labels: np.ndarray, start: list[int], slots: int) -> None:
        self.rows, self.labels, self.slots = rows, labels, slots
        self.records = Records(rows[start], labels[start], ids=start, slots=slots)

    def take(self, names: list[int]) -> None:
        self.records.edit(EditRequest.insert(names, self.rows[names], self.labels[names]))

    def drop(self, names: list[int]) -> None:
        self.records.edit(EditRequest.delete(names))

    def change(self, name: int, content: int) -> None:
        self.records.edit(EditRequest.replace({name: (self.rows[content], float(self.labels[content]))}))

    def write_anew(self, *, slots: int, order: list[int] | None = None) -> None:
        """As a relearn with other slots, or a compaction, does: the records in the order of their slots, without holes."""
        held, names = self.records, self.records.ids_by_slot
        kept = np.flatnonzero(held.occupied) if order is None else np.flatnonzero(held.occupied)[order]
        self.records = Records(held.features[kept], held.labels[kept], ids=[names[slot] for slot in kept], slots=slots)


def two_worlds(
    plan: Plan, history: str, without: str, rng: np.random.Generator, *, many: int | None = None
) -> tuple[Records, Records]:
    """The table of either machine once the record, number 0, is gone."""
    problem = plan.problem
    n = problem.records if many is None else many
    rows = unit_rows(n + 40, problem.features, seed=int(rng.integers(1 << 30))).astype(np.float32)
    rows[rng.random(n + 40) < 0.1] = rows[1]  # some are alike
    kind = problem.loss.label_kind
    labels = rng.integers(0, max(2, problem.loss.outputs), n + 40).astype(float)
    labels = labels if kind == "class" else 2.0 * np.minimum(labels, 1) - 1
    others = rng.permutation(np.arange(1, n - 20)).tolist()
    inserted = without == "never inserted"
    line = int(rng.integers(len(others)))  # where in the file
    there = others if inserted else [*others[:line], 0, *others[line:]]
    present, absent = (
        Table(rows, labels, there, n),
        Table(rows, labels, others if inserted or without == "no line" else there, n),
    )
    if not inserted and without != "no line":
        absent.drop([0])
    if inserted:
        present.take([0])
    new = list(range(n, n + 30))
    for world in (present, absent):
        if history == "insert many":  # some leave before and after, so that slots fall free below and above
            world.drop(others[:3])
            world.take(new[:9])
            world.drop(others[5:40:7])
            world.take(new[9:14])
        elif history == "replace":
            world.change(others[7], new[0])
            world.take(new[1:2])
        elif history == "restrict and lift":
            world.drop(others[4:6])
            world.take(new[:1])
            if world is present:
                world.drop([0])
            world.take(others[4:6])
        elif history == "relearn":
            world.take(new[:2])
            world.write_anew(slots=n)
            world.take(new[2:3])
        else:
            world.take(new[:1])
        if 0 in world.records:
            world.drop([0])
    if without == "compacted":
        absent.write_anew(slots=n, order=rng.permutation(len(absent.records)).tolist())
    assert sorted(map(bytes, present.records.features)) == sorted(map(bytes, absent.records.features))
    return present.records, absent.records


def stated_zero(plan: Plan) -> bool:
    """Whether a release that observes its predecessor is said to tell nothing of a record that was gone before."""
    steps = plan.mechanism.exposure(plan.calibration.delete_steps)
    later = plan.mechanism.interval("deletion", "pairwise", steps_with=0, steps_without=steps)
    return later.advantage == 0


def over_the_reals(plan: Plan) -> bool:
    return "real-arithmetic" in dict(plan.mechanism.conditions())


@cache
def checked() -> dict[str, Plan]:
    """Every plan of the bank that a table of this size can be made for, and whose 0 is of a machine."""
    plans = {name: plan_by(name) for name in (*PROBLEMS, *FURTHER)}
    return {
        name: plan
        for name, plan in plans.items()
        if plan.problem.records <= 2000 and name not in OWN_NOISE and not over_the_reals(plan) and stated_zero(plan)
    }


def released(plan: Plan, records: Records) -> list[np.ndarray]:
    """A fresh model where each release is one, and one from a model that was observed; the same noise always."""
    if not plan.mechanism.fresh:
        plan = plan.changed(delete_steps_for_deletion=min(plan.calibration.delete_steps, 5), delete_steps_for_utility=0)
    weights = np.full(plan.shape, 0.01)
    before = Model(
        weights=weights[0] if plan.problem.loss.outputs == 1 else weights, loss=plan.problem.loss, certified=False
    )
    models = [resume(records, before, plan, np.random.default_rng(7))]
    if plan.mechanism.fresh and not plan.mechanism.shows_start:
        models.append(learn(records, plan, np.random.default_rng(8)))
    return [model.weights for model in models]


def test_the_bank_has_zeros_of_machines() -> None:
    kinds = {plan.mechanism.method for plan in checked().values()}
    assert kinds >= {"noisy-gd-paper", "noisy-gd-tight", "output-perturbation", "objective-perturbation"}
    warm, cold = plan_by("output-perturbation, warm"), plan_by("output-perturbation, cold")
    assert warm.mechanism.shows_start != cold.mechanism.shows_start


@pytest.mark.parametrize("name", [name for name in PROBLEMS if "reals" not in name and name not in OWN_NOISE])
def test_where_nothing_is_said_to_be_left_the_same_weights_are_published_wherever_rows_lie(name: str) -> None:
    if name not in checked():
        assert over_the_reals(plan_by(name)), "a 0 of a machine that nothing here compares"
        return
    plan, rng = checked()[name], np.random.default_rng(len(name))
    for number, history in enumerate(HISTORIES):
        for without in (WITHOUT[number % 4], WITHOUT[(number + 1) % 4]):
            present, absent = two_worlds(plan, history, without, rng)
            for one, other in zip(released(plan, present), released(plan, absent), strict=True):
                np.testing.assert_array_equal(one, other, err_msg=f"{history}, {without}")


def test_the_slot_of_a_later_record_is_seen_where_rows_are_added_in_the_order_of_their_slots(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The planted fault: the lowest free slot, and sums that go by slots."""
    plan, seen = checked()["objective-perturbation"], set()
    sizes = {"records": 9000, "features": 5, "regularization": 0.01, "budget": plan.problem.budget, "utility": False}
    large = make_plan(plan.problem.loss, **sizes, method=plan.method)
    monkeypatch.setattr(sums, "order_of_content", lambda rows, labels, group: np.arange(len(labels)))
    for history in HISTORIES:
        for without in WITHOUT:
            tables = two_worlds(large, history, without, np.random.default_rng(3))
            one, other = (learn(table, large, np.random.default_rng(8)).weights for table in tables)
            seen |= {(history, without)} if (one != other).any() else set()
    assert len(seen) >= 16, seen
    assert ("insert", "empty slot") in seen
    assert ("insert", "no line") in seen


@pytest.mark.parametrize("stored", ["dense", "wide", "sparse", "narrow", "mapped"])
@pytest.mark.parametrize("loss", [losses.Logistic(1.0), losses.Softmax(1.0, classes=3)], ids=["one score", "three"])
def test_every_sum_is_the_same_bit_for_bit(
    stored: str, loss: losses.Loss, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Float64 and float32 gradients and the samples that steer a solver, of rows in many orders; in the order of their slots they differ."""
    rng, many = np.random.default_rng(1), 2500
    width = {"dense": 6, "wide": 300, "sparse": 300, "narrow": 1, "mapped": 7}[stored]
    rows = (unit_rows(many, width, seed=5) * rng.uniform(0.1, 0.9, (many, 1))).astype(np.float32)
    rows[rng.random(many) < 0.3] = 0  # free, or like each other
    if stored in ("wide", "sparse"):
        rows[rng.random(rows.shape) < 0.95] = 0
    labels = rng.integers(0, 3, many).astype(float) if loss.outputs > 1 else rng.choice([-1.0, 1.0], many)
    labels[~rows.any(axis=1)] = 0
    weights, found = rng.standard_normal((loss.outputs, width)), {True: [], False: []}
    if stored == "mapped":  # of which not even a quarter of the memory is there
        monkeypatch.setattr("noisygd_delete.engine.kernel.LIMIT", rows.nbytes // 9)
    for number in range(4):
        order = rng.permutation(many)
        held: Any = rows[order]
        if stored == "mapped":
            held.tofile(tmp_path / f"{number}")
            held = np.memmap(tmp_path / f"{number}", np.float32, mode="r", shape=rows.shape)
        records = Records(sparse.csr_array(held) if stored == "sparse" else held, labels[order])
        for by_content, kept in found.items():
            objective = PreciseObjective(records, loss, regularization=0.1, by_content=by_content)
            sample = objective.strided(300)[0]
            sample = sample.toarray() if hasattr(sample, "toarray") else getattr(sample, "rows", sample)
            sample = sample.toarray() if hasattr(sample, "toarray") else sample
            kept.append([objective.gradient(weights), objective.gradient(weights, "float32"), np.asarray(sample)])
    for made in found[True][1:]:
        for one, other in zip(found[True][0], made, strict=True):
            np.testing.assert_array_equal(one, other)
    first, *others = found[False]  # one sum alone may round alike in every order
    differ = [(first[kind] != made[kind]).any() for made in others for kind in range(2)]
    assert any(differ), "the comparison sees an order"


def test_rows_made_to_have_one_key_are_still_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody may choose rows whose words add up to the same."""
    monkeypatch.setattr(content_order, "_powers", lambda width: np.ones(width, np.uint64))
    rng = np.random.default_rng(2)
    base = np.array([0.125, 0.25, 0.5, 0.0], np.float32)
    rows = np.array([rng.permutation(base) for _ in range(400)])
    labels = rng.choice([-1.0, 1.0], 400)
    for held in (rows, Records(sparse.csr_array(rows), labels).sparse):
        first = None
        for _ in range(3):
            order = rng.permutation(400)
            moved = rows[order] if isinstance(held, np.ndarray) else held.select(order)
            slots = order_of_content(moved, labels[order], ALONE)
            assert sorted(slots.tolist()) == list(range(400))
            made = np.column_stack([labels[order][slots], rows[order][slots]]).tobytes()
            first = made if first is None else first
            assert made == first


class Third(Group):
    """One of three processes, beside which the two others answer at once."""

    rank, size = 1, 3
    table: Any = None

    def gather(self, value: Any) -> list[Any]:
        others = []
        for rank in range(3):
            alike = Third()
            alike.rank = rank
            others.append(content_order._keys(*self.table, alike.rows(len(self.table[1]), 256)))
        assert np.array_equal(others[1], value)
        return others


def test_processes_that_share_the_rows_find_one_order() -> None:
    rng = np.random.default_rng(4)
    rows, labels = rng.standard_normal((1000, 3)).astype(np.float32), rng.choice([-1.0, 1.0], 1000)
    group = Third()
    group.table = rows, labels
    order = order_of_content(rows, labels, group)
    np.testing.assert_array_equal(order, order_of_content(rows, labels, ALONE))
    held = sums.RowsInOrder(rows, order)
    own = group.rows(1000, 256)
    np.testing.assert_array_equal(held.gather(own)[own.start : own.stop], rows[order][own.start : own.stop])
    np.testing.assert_array_equal(held[3::50], rows[order][3::50])


def test_rows_at_workers_need_a_plan_that_charges_for_any_order() -> None:
    from ..sources.clusters.in_process import in_partitions

    plan = plan_by("objective-perturbation")
    records = Records(unit_rows(2000, 6).astype(np.float32), np.ones(2000))
    with pytest.raises(InvalidParameter, match="allow_any_order"):
        Curator(in_partitions(records, 3), plan).learn(np.random.default_rng(0))
    Curator(in_partitions(records, 3), plan.allow_any_order()).learn(np.random.default_rng(0))
