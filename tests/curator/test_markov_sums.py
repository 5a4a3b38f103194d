"""Streams of Markov sums in memory: exact forgetting bit by bit, the order of writing, and what is refused."""

from __future__ import annotations

import copy
import math
import pickle
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from noisygd_delete import Budget, Curator, Records, errors, losses, make_plan
from noisygd_delete.bounds import correlated_sums
from noisygd_delete.curator import carried_noise
from noisygd_delete.curator.carried_noise import change_of_edits, draw_release, moments_of
from noisygd_delete.curator.stream import Batching, Stream
from noisygd_delete.engine.moments import IntegerMoments, round_product
from noisygd_delete.methods import Plan
from noisygd_delete.privacy.worlds import Worlds
from noisygd_delete.records import EditRequest
from tests.bank import unit_rows
from tests.oracles import sums_tree

SLOTS, COLUMNS = 60, 3
LOSS = losses.Logistic(radius=1.0)


def rows(number: int = 40, seed: int = 0) -> tuple[Any, Any]:
    return unit_rows(number, COLUMNS, seed), np.sign(np.random.default_rng([seed, 1]).normal(size=number))


def table(left_out: tuple[int, ...] = ()) -> Records:
    features, labels = rows()
    kept = [i for i in range(len(features)) if i not in left_out]
    return Records(features[kept], labels[kept], ids=kept, slots=SLOTS)


def plan(loss: Any = LOSS, gdp: float = 1.0, **options: Any) -> Plan:
    sizes = {"records": SLOTS, "features": COLUMNS, "releases": 6, "regularization": 1e-4}
    return make_plan(
        loss, method="sufficient-statistics", budget=Budget.from_gdp(dp=gdp, deletion=gdp), **{**sizes, **options}
    )


def moments(chosen: Plan) -> IntegerMoments:
    return moments_of(chosen.learning.start, chosen.shape)


def usual(*given: Any) -> Any:
    return draw_release(*given)


def erases_first(held: Any, procedure: Any, after: Any, *others: Any) -> Any:
    """Planted fault: the usual order. Rows are overwritten, then the noise is recomputed from what is there."""
    if after.edits is not None:
        held.write(after.edits)
    return draw_release(held, procedure, replace(after, edits=None), *others)


def takes_the_new_table(held: Any, procedure: Any, after: Any, shape: Any, noise: Any) -> Any:
    """Planted fault: a restored copy, or any other table, is taken for the one of the last release."""
    if after.edits is not None and after.number == 2:
        row = moments_of(procedure, shape).of(*(part[:1] for part in rows()))
        after = replace(after, sums=after.sums - row)
    return draw_release(held, procedure, after, shape, noise)


def later_releases(way: Callable[..., Any], left_out: tuple[int, ...]) -> list[Any]:
    """The releases after row 0 is gone, from noise that is the same in both worlds."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(carried_noise, "draw_release", way)
        curator = Curator(table(left_out), plan())
        curator.learn(np.random.default_rng(1))
        curator.delete([5], rng=np.random.default_rng(2))
        curator.delete([7] if left_out else [0, 7], rng=np.random.default_rng(3))
        found = [curator.model.sums]
        features, labels = rows(2, seed=9)
        curator.insert(None, features, labels, rng=np.random.default_rng(4))
        found.append(curator.model.sums)
        curator.delete([8], rng=np.random.default_rng(5))
        return [*found, curator.model.sums]


def test_an_erased_row_is_as_if_it_had_never_been_bit_by_bit() -> None:
    """The noise is a function of the draws alone: with equal draws both worlds publish equal numbers once the row is gone."""
    for there, never in zip(later_releases(usual, ()), later_releases(usual, (0,)), strict=True):
        assert (there == never).all()


@pytest.mark.parametrize("fault", [erases_first, takes_the_new_table])
def test_a_wrong_order_of_writing_is_seen(fault: Callable[..., Any]) -> None:
    with_row, without = later_releases(fault, ()), later_releases(usual, (0,))
    assert any((there != never).any() for there, never in zip(with_row, without, strict=True))


def releases_after_patches(left_out: tuple[int, ...], seen: list[Any] | None = None) -> list[Any]:
    """The releases after row 0 is gone by a patch, from noise that is the same in both worlds. `seen`: takes the patches."""
    curator = Curator(table(left_out), plan())
    curator.learn(np.random.default_rng(1))
    features, labels = rows(2, seed=9)
    steps = ([5], [7] if left_out else [0, 7], [8])
    for number, gone in enumerate(steps, start=2):
        assert curator.serve(EditRequest.delete(gone), publish=False, rng=np.random.default_rng(number)) is None
        assert not set(gone) & set(curator.records.ids)
        if seen is not None:
            seen.append(curator._patch.sums)
    curator.publish(rng=np.random.default_rng(9))
    found = [curator.model.sums]
    assert curator._patch is None
    curator.serve(EditRequest.insert(None, features, labels), publish=False, rng=np.random.default_rng(10))
    curator.delete([9], rng=np.random.default_rng(11))
    assert [event.kind for event in curator.accountant.events] == ["learn", "unlearn", "unlearn"]
    return [*found, curator.model.sums]


def test_a_row_that_left_by_a_patch_is_as_if_it_had_never_been() -> None:
    there, never = list[Any](), list[Any]()
    both = zip(releases_after_patches((), there), releases_after_patches((0,), never), strict=True)
    assert all((one == other).all() for one, other in both)
    same = [(one == other).all() for one, other in zip(there, never, strict=True)]
    assert same == [False, True, True]  # the first was made while the row was there


def test_a_patch_read_from_the_edited_table_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: the usual order. The rows go first, and what they add is not known any more."""

    def erased_first(records: Records, chosen: Plan, edits: Any) -> Any:
        records.write(edits)
        return change_of_edits(records, chosen, edits)

    never = releases_after_patches((0,))
    monkeypatch.setattr(carried_noise, "change_of_edits", erased_first)
    assert any((one != other).any() for one, other in zip(releases_after_patches(()), never, strict=True))


def test_a_patch_does_not_read_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    curator = Curator(table(), plan())
    curator.learn()
    monkeypatch.setattr(IntegerMoments, "of_table", lambda self, records: pytest.fail("the table was read"))
    curator.serve(EditRequest.delete([3]), publish=False)
    with pytest.raises(pytest.fail.Exception, match="was read"):
        curator.publish()


def test_a_patch_by_a_callers_generator_certifies_nothing() -> None:
    curator = Curator(table(), plan())
    curator.learn()
    curator.serve(EditRequest.delete([3]), publish=False, rng=np.random.default_rng(2))
    assert not curator.publish().model.certified


def test_a_stream_in_batches_stays_one_chain() -> None:
    curator = Curator(table(), plan(batch=4))
    curator.learn()
    stream = Stream(curator, Batching(size=4))
    for number in range(12):
        stream.push(EditRequest.delete([number]))
    stream.flush()
    kinds = [(event.kind, event.edits) for event in curator.accountant.events]
    assert kinds == [("learn", 0), *[("unlearn", 4)] * 3]


def test_rows_are_overwritten_after_the_draw_and_what_was_drawn_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    """Interrupted while rows are overwritten: the next call goes on with the same draw, and makes none from a touched table."""
    curator = Curator(table(), plan())
    curator.learn(np.random.default_rng(1))
    write, drawn = Records.write, []

    def interrupted(self: Records, edits: Any) -> None:
        assert curator._drawn is not None, "the draw is kept before a row is touched"
        drawn.append(curator._drawn[1].model.sums)
        write(self, edits)
        raise KeyboardInterrupt

    monkeypatch.setattr(Records, "write", interrupted)
    with pytest.raises(KeyboardInterrupt):
        curator.delete([0], rng=np.random.default_rng(2))
    monkeypatch.setattr(Records, "write", write)
    release = curator.publish(rng=np.random.default_rng(3))
    assert (release.release, release.kind, curator.accountant.releases) == (3, "unlearn", 3)

    other = Curator(table(), plan())
    other.learn(np.random.default_rng(1))
    other.delete([0], rng=np.random.default_rng(2))
    assert (other.model.sums == drawn[0]).all()
    other.publish(rng=np.random.default_rng(3))
    assert (other.model.sums == curator.model.sums).all()


def test_interrupted_before_a_row_was_touched() -> None:
    class Halted(Curator):
        halted = False

        def _carry_out(self) -> Any:
            if self._drawn is not None and self.halted:
                self.halted = False
                raise KeyboardInterrupt
            return super()._carry_out()

    curator = Halted(table(), plan())
    curator.learn(np.random.default_rng(1))
    curator.halted = True
    with pytest.raises(KeyboardInterrupt):
        curator.delete([0])
    assert curator.delete([1]).release == 3  # the first deletion was carried out by the draw that was made for it
    with pytest.raises(errors.InvalidRequest, match="not in the table"):
        curator.delete([0])


def test_nothing_but_the_table_and_what_was_published_is_kept() -> None:
    curator = Curator(table(), plan())
    curator.learn()
    curator.delete([0])
    assert [name for name, value in vars(curator).items() if isinstance(value, np.ndarray)] == []
    assert (curator.model.sums != moments(curator.plan).of_table(curator.records)).all()
    assert curator._drawn is None


def test_a_copy_is_refused() -> None:
    curator = Curator(table(), plan())
    for way in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="never copied"):
            way(curator)


def test_a_spent_budget_never_keeps_a_row() -> None:
    curator = Curator(table(), plan(releases=2, joiners=False))
    curator.learn()
    curator.delete([0])
    with pytest.raises(errors.BudgetExceeded, match="2 releases are out"):
        curator.publish()
    assert curator.model
    for row in (1, 2):
        withheld = curator.delete([row])
        assert (withheld.status, withheld.model, withheld.release) == ("withheld", None, 2)
        assert row not in curator.records
        with pytest.raises(errors.NotLearned):
            _ = curator.model


@pytest.mark.parametrize("radius", [1e-3, 0.3, 1.0, 7.5, 300.0])
def test_the_grid_follows_the_radius(radius: float) -> None:
    """Rows of any length cost the same noise beside it, and the model is the same up to the scale."""
    chosen, run = plan(losses.Logistic(radius=radius)), plan().mechanism
    assert 2**28 <= chosen.mechanism.norm_squared < 2**30
    assert chosen.mechanism.variance / chosen.mechanism.apart(between_records=True) ** 2 == pytest.approx(
        run.variance / run.apart(between_records=True) ** 2, rel=2e-3
    )
    features, labels = rows()
    curator = Curator(Records(features * radius * 0.999, labels, slots=SLOTS), chosen)
    assert curator.learn().model.certified


def test_what_no_grid_carries_is_refused_at_once() -> None:
    for options, words in (
        ({"gdp": 1e-6}, "more noise"),
        ({"records": 2**40}, "exact"),
        ({"features": 10**6}, "features"),
    ):
        with pytest.raises((errors.InvalidParameter, errors.PlanInfeasible), match=words):
            plan(**options)
    with pytest.raises(errors.InvalidParameter, match="classes"):
        plan(losses.PseudoHuber(radius=1.0))


def test_long_rows_and_persons_of_many_rows_are_refused() -> None:
    curator = Curator(table(), plan())
    curator.learn()
    with pytest.raises(errors.InvalidRequest, match="norm"):
        curator.insert(None, [[2.0, 0.0, 0.0]], [1.0])
    features, labels = rows()
    several = Records(features, labels, subjects=[i // 2 for i in range(40)], slots=SLOTS)
    with pytest.raises(errors.AssumptionViolated, match="rows of one person"):
        Curator(several, plan())
    told = Curator(several, plan(rows_per_subject=2)).learn().guarantees["dp"]
    assert told.rows == 2
    assert "more than 2" in " ".join(told.assumptions)
    with pytest.raises(errors.AssumptionViolated, match="slots"):
        Curator(Records(features, labels), plan())


def one_for_another(records: Records) -> None:
    features, labels = rows(1, seed=9)
    records.edit(EditRequest.insert(None, features, labels))
    records.edit(EditRequest.delete([3]))


@pytest.mark.parametrize(
    "edit",
    [
        lambda records: records.edit(EditRequest.delete([3])),
        lambda records: records.edit(EditRequest.replace({3: tuple(part[0] for part in rows(1, seed=9))})),
        one_for_another,
    ],
)
def test_a_table_edited_elsewhere_is_noticed(edit: Callable[[Records], Any]) -> None:
    """As many rows as before or not."""
    records = table()
    curator = Curator(records, plan())
    curator.learn()
    edit(records)
    assert curator.delete([0]).kind == "relearn"


@pytest.mark.parametrize(
    "options", [{}, {"joiners": False}, {"rows_per_subject": 3}, {"adjacency": "zero-out"}, {"releases": 2}]
)
def test_the_whole_stream_is_within_its_budget(options: dict[str, Any]) -> None:
    chosen = plan(gdp=0.7, **options)
    totals = chosen.mechanism.charges(chosen.problem.adjacency)
    assert 0.699 < math.sqrt(totals[-1]) <= 0.7 * (1 + 1e-15)
    assert list(totals) == sorted(totals)
    assert chosen.deletion.gdp == 0
    assert chosen.deletion.non_adaptive


@pytest.mark.parametrize("releases", [2, 300, 20_000])
def test_a_budget_that_asks_for_next_to_no_noise_gets_what_the_grid_needs(releases: int) -> None:
    """The least noise of a draw falls with their number: V/(1 + √(T/2))."""
    chosen = plan(gdp=5000.0, releases=releases, joiners=False)
    run = chosen.mechanism
    assert run.charges(chosen.problem.adjacency)[-1] <= 5000**2
    assert min(variance for _, variance in run.draws) > correlated_sums.SMOOTHING_SQUARED * max(2, run.label_weight**2)


def test_figures_of_a_release_say_their_worlds_and_conditions() -> None:
    curator = Curator(table(), plan())
    assert "deletion" not in curator.learn().guarantees
    told = curator.delete([0]).guarantees
    assert told["deletion"].gdp == 0
    assert told["deletion"].non_adaptive
    assert told["deletion_observed"].adjacency is Worlds.ERASED_VS_NEVER
    assert 0 < told["deletion_observed"].gdp < told["dp_cumulative"].gdp <= 1


@pytest.mark.parametrize("weight", [40, 120])  # labels that weigh less than the rows, and more
def test_statistic_of_random_rows_is_within_its_sensitivity(weight: int) -> None:
    """As integers, rounded towards 0; with labels of the worst signs."""
    rng, bits = np.random.default_rng(6), 6
    closest = {False: 0.0, True: 0.0}
    summed = IntegerMoments(2, 1, 4**bits, bits)
    scaled = np.array([1.0, math.sqrt(2), 1.0, weight, weight])  # off the diagonal once, counted twice
    for _ in range(2000):
        angles = rng.uniform(0, 2 * math.pi, 2)
        pair = np.stack([np.cos(angles), np.sin(angles)], axis=1) * rng.choice([1.0, 1.0, 0.7], (2, 1))
        signs = rng.choice([-1.0, 1.0], 2)
        one, other = (summed.of(pair[i : i + 1], signs[i : i + 1]) * scaled for i in (0, 1))
        closest[False] = max(closest[False], float(np.linalg.norm(one)))
        closest[True] = max(closest[True], float(np.linalg.norm(one - other)))
    for between, found in closest.items():
        stated = float(
            correlated_sums.sensitivity(norm_squared=summed.norm_squared, label_weight=weight, between_records=between)
        )
        assert 0.93 * stated < found <= stated


def test_sums_are_exact_in_any_order_and_patches_add_up() -> None:
    features, labels = rows()
    summed = IntegerMoments(COLUMNS, 1, 4**14, 14)
    whole = summed.of(features, labels)
    order = np.random.default_rng(3).permutation(len(features))
    assert (summed.of(features[order], labels[order]) == whole).all()
    parts = [summed.of(features[i : i + 1], labels[i : i + 1]) for i in order]
    assert (sum(parts) == whole).all()
    classes = IntegerMoments(COLUMNS, 3, 4**14, 14)
    by_class = classes.of(features, np.arange(40) % 3)
    assert len(by_class) == classes.size
    assert (by_class[: len(whole) - COLUMNS] == whole[: len(whole) - COLUMNS]).all()


def test_rounding_of_what_is_carried_on_has_fixed_ties() -> None:
    rest = np.array([-3, -1, 0, 1, 3, 5])
    assert round_product(rest, Fraction(1, 2), 20).tolist() == [-1, 0, 0, 1, 2, 3]
    with pytest.raises(OverflowError):
        round_product(np.array([1 << 45]), Fraction(1, 2), 20)
    with pytest.raises(OverflowError):
        round_product(rest, Fraction(1, 3), 20)


def test_models_of_the_stream_tell_the_classes_apart() -> None:
    features = unit_rows(6000, COLUMNS, seed=5)
    places = np.argmax(features, axis=1)
    for loss, labels in (
        (LOSS, np.sign(features[:, 0])),
        (losses.Softmax(radius=1.0, classes=3), places.astype(float)),
    ):
        records = Records(features, labels)
        chosen = plan(loss, records=6000, releases=50)
        curator = Curator(records, chosen)
        release = curator.learn()
        assert release.model.certified
        assert release.model.accuracy(records) > 0.9
        assert curator.delete(range(10)).model.accuracy(records) > 0.9
        assert not curator.delete([10], rng=np.random.default_rng(1)).model.certified
        assert not curator.delete([11]).model.certified, "it carries on noise that was for research"


def test_noise_of_a_run_has_the_planned_law() -> None:
    """What is published less the true sums, over runs: σ² on the diagonal, half of it above, σ²/β² on the labels, correlated by c from one
    release to the next. The law is worked out by the recursion alone (`tests.oracles.sums_tree`)."""
    chosen = plan(records=4, features=2, releases=3)
    run, summed = chosen.mechanism, moments(chosen)
    features, labels = np.array([[0.6, 0.8], [1.0, 0.0], [0.0, -1.0]]), np.array([1.0, -1.0, 1.0])
    runs = []
    for seed in range(500):
        curator = Curator(Records(features, labels, slots=4), chosen)
        curator.learn(np.random.default_rng([seed, 0]))
        noise = [curator.model.sums - summed.of_table(curator.records)]
        for row in (0, 2):
            curator.delete([row], rng=np.random.default_rng([seed, row + 1]))
            noise.append(curator.model.sums - summed.of_table(curator.records))
        runs.append(noise)
    weights = np.sqrt([1.0, 2.0, 1.0, run.label_weight**2, run.label_weight**2])
    scaled = np.array(runs) * weights / math.sqrt(run.variance)  # (runs, releases, coordinates)
    tree = [
        (None if j == 0 else j - 1, Fraction(carry), Fraction(math.sqrt(v / run.variance)))
        for j, (carry, v) in enumerate(run.draws)
    ]
    expected = np.array(sums_tree.covariance(tree), float)
    for coordinate in range(5):
        found = np.cov(scaled[:, :, coordinate].T)
        assert np.abs(found - expected).max() < 0.25
    assert np.abs(np.mean([np.cov(scaled[:, :, k].T) for k in range(5)], axis=0) - expected).max() < 0.1
    assert np.abs(np.diag(expected) - 1).max() < 1e-5
    assert 0.4 < expected[2, 1] < 0.6 < expected[1, 0] < 0.9
    assert np.abs(np.corrcoef(scaled[:, 0].T) - np.eye(5)).max() < 0.25, "coordinates are independent"
