"""Markov sums on disk: what is published carries on the noise of the release before, whenever the process dies; nothing else is kept."""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from noisygd_delete import Budget, EditRequest, Records, Schema
from noisygd_delete.accountant import Forecast
from noisygd_delete.cli import main
from noisygd_delete.curator import carried_noise
from noisygd_delete.curator.carried_noise import PublishedSums, moments_of
from noisygd_delete.engine import Execution
from noisygd_delete.engine.execution import Group
from noisygd_delete.engine.moments import IntegerMoments
from noisygd_delete.errors import InvalidParameter, InvalidRequest, NotLearned
from noisygd_delete.features import maps
from noisygd_delete.privacy.worlds import Worlds
from noisygd_delete.store import Store, candidate, file_footer, release_schedule, status, verify
from noisygd_delete.store.layout import Layout
from noisygd_delete.store.ledger import Ledger
from noisygd_delete.store.transaction import StoreTransaction
from tests.curator.test_drawing import drawn
from tests.oracles import sums_tree

from .conftest import (
    ROWS,
    SCHEMA,
    SLOTS,
    WIDTH,
    changes,
    crashed,
    deaths,
    found,
    in_flight,
    made,
    name,
    nothing,
    person,
    records,
    row,
    traces,
)
from .conftest import plan as usual_plan
from .operations import DELETE, SUBJECT, serve

__all__ = ["drawn"]  # a fixture

RELEASES = 6


OWN = {"method": "sufficient-statistics", "releases": RELEASES, "budget": Budget.from_gdp(dp=2.0, deletion=0.5)}


def plan(**changes):
    return usual_plan(**(OWN | changes))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return made(tmp_path / "store", **OWN)


@pytest.fixture
def counted(tmp_path: Path) -> Path:
    """The same of rows of an additive map, which are counted."""
    schema = Schema.from_dict({**SCHEMA.to_dict(), "intercept": True, "map": {"kind": "additive", "levels": 2}})
    rows = schema.map.rows(np.stack([row(k) for k in range(ROWS)]).astype(float))
    held = records()
    persons = [person(k) for k in range(ROWS)]
    table = Records(rows, held.labels[:ROWS], [name(k) for k in range(ROWS)], persons, slots=SLOTS)
    facts = {"features": schema.features, "feature_map": schema.feature_map, "map": schema.map}
    with Store.create(tmp_path / "counted", table, schema, plan(**facts)) as store:
        store.learn()
    return tmp_path / "counted"


def sums_of(store: Store) -> np.ndarray:
    """The exact sums of the table, in whole numbers of Python; of rows that are counted, by their codes one by one."""
    if store.plan.learning.coding is not None:
        summed = moments_of(store.plan.learning.start, store.plan.shape)
        slots = np.flatnonzero(store.records.occupied)
        parts = [summed.of(store.records.features[[slot]], store.records.labels[[slot]]) for slot in slots]
        return sum(parts, np.zeros(summed.size, np.int64))
    bits, total = 14, [0] * (WIDTH * (WIDTH + 1) // 2 + WIDTH)
    for slot in np.flatnonzero(store.records.occupied):
        steps = [math.trunc(float(x) * (1 - 2.0**-20) * 2**bits) for x in store.records.features[slot].astype(float)]
        label = int(store.records.labels[slot])
        products = [steps[i] * steps[j] for i in range(WIDTH) for j in range(i, WIDTH)]
        total = [a + b for a, b in zip(total, [*products, *(label * x for x in steps)], strict=True)]
    return np.array(total, dtype=np.int64)


def rest_of(store: Store) -> np.ndarray:
    """Published less the sums: what the next release carries on."""
    return store.model.sums - sums_of(store)


def carried(rest: np.ndarray, number: int) -> np.ndarray:
    """c · rest, halves up, of the draw after `number` others."""
    carry = Fraction(plan().mechanism.draws[number][0])
    return np.array([math.floor(carry * int(x) + Fraction(1, 2)) for x in rest], dtype=np.int64)


def is_one_of(rest: np.ndarray, noises: list[np.ndarray]) -> bool:
    return any((rest == noise).all() for noise in noises)


delete, delete_a_subject, later = serve(DELETE), serve(SUBJECT), serve(DELETE, publish=False)
insert = serve(EditRequest.insert([name(99)], [row(99)], [1.0], subjects=["new"], request_id="r"))


def several(store: Store) -> None:
    asked = [
        EditRequest.delete([name(3)], request_id="r"),
        EditRequest.insert([name(98)], [row(98)], [-1.0], subjects=["b"], request_id="s"),
    ]
    store.edit_all(asked, publish_from=1)


def test_releases_carry_on_what_was_published_less_the_table_before(path: Path, drawn) -> None:
    with Store.open(path) as store:
        rest = rest_of(store)
        operations = (
            delete,
            lambda it: it.serve(EditRequest.insert([name(99)], [row(99)], [1.0], subjects=["new"])),
            lambda it: it.publish(force=True),
            lambda it: it.serve(EditRequest.delete(subjects=[person(4)])),
            lambda it: it.edit_all([EditRequest.delete([name(1)]), EditRequest.delete([name(99)])], publish_from=2),
        )
        for number, operation in enumerate(operations, start=1):
            operation(store)
            after = rest_of(store)
            assert (after == carried(rest, number) + drawn[-1]).all()
            rest = after
            assert store.ledger.releases == number + 1
            assert [event.kind for event in store.accountant.events] == ["learn", *["unlearn"] * number]
        assert store.accountant.dp_cumulative().gdp <= 2.0
        assert len(drawn) == RELEASES - 1
    assert verify(path).faults == ()
    assert not Layout(path).candidate.exists()


@pytest.mark.parametrize("operation", [delete, delete_a_subject, insert, several])
def test_death_at_any_write_leaves_the_right_draw(path: Path, drawn, operation) -> None:
    assert trials(path, drawn, operation) == []


def test_death_at_any_write_of_counted_rows(counted: Path, drawn) -> None:
    assert trials(counted, drawn, delete, hidden=[name(3).encode()]) == []


def test_counted_rows_carry_on_and_their_plan_is_read_back(counted: Path, drawn) -> None:
    with Store.open(counted) as store:
        rest, rows = rest_of(store), store.records.features
        for number, operation in enumerate((delete, lambda it: it.publish(force=True)), start=1):
            operation(store)
            assert (rest_of(store) == carried(rest, number) + drawn[-1]).all()
            rest = rest_of(store)
        assert store.model.weights.shape == (store.schema.features,)
        assert store.plan.learning.coding.directions == 1 + 3 * 3
        store.serve(EditRequest.insert([name(99)], rows[:1], [1.0], subjects=["new"]))
        with pytest.raises(InvalidRequest, match="none of this map"):
            store.serve(EditRequest.insert([name(98)], np.eye(1, rows.shape[1]) * 0.9, [1.0], subjects=["b"]))
        PublishedSums(store.plan, store.model).model(0.1)
    assert verify(counted).faults == ()


@pytest.mark.parametrize("map", ["no JSON", '{"kind": "fourier", "reads": 3}', maps.Additive((0,) * 9)])
def test_a_map_that_has_no_codes_is_refused(map: object) -> None:
    with pytest.raises(InvalidParameter):
        plan(map=map)


def trials(path: Path, drawn: list[np.ndarray], operation: Callable[[Store], None], hidden=None) -> list[str]:
    """What was wrong after a death before each write."""
    with Store.open(path) as store:
        before, exact = rest_of(store), sums_of(store)
    wrong, seen = [], set()
    for at, (copy, accepted) in enumerate(deaths(path, operation)):
        wrong += [f"{at}: {secret} on disk" for secret in secrets_on(copy, [exact, before, *drawn])]
        begun = candidate_of(copy)
        if at % 3 == 0:
            crashed(copy, nothing, at // 3)  # the recovery dies as well
        with Store.open(copy) as store:
            happened = store.ledger.releases == 2
            table = sums_of(store)
            wrong += [f"{at}: lost"] * (accepted and not happened)
            if begun is not None and not (store.ledger.releases == 2 and (store.model.sums == begun).all()):
                wrong.append(f"{at}: drawn again from a table that may have been touched")
            if not happened:
                wrong += [f"{at}: rows gone without a release"] * bool((table != exact).any())
                operation(store)
            after = store.model.sums - sums_of(store)
            if not is_one_of(after - carried(before, 1), drawn):
                wrong.append(f"{at}: not a draw from the table before")
            if store.ledger.releases != 2 or [e.kind for e in store.accountant.events] != ["learn", "unlearn"]:
                wrong.append(f"{at}: {store.ledger.releases} releases")
            seen.add(happened)
        if operation in (delete, delete_a_subject):
            wrong += [f"{at}: {file} holds the row" for file in found(copy, hidden or traces(3))]
        wrong += [f"{at}: a candidate is left"] * Layout(copy).candidate.exists()
        drawn.clear()
    assert at > 20
    assert seen == {False, True}
    return wrong


def candidate_of(path: Path) -> np.ndarray | None:
    """What was drawn, once the journal says that rows may be overwritten."""
    layout = Layout(path)
    from noisygd_delete.store import journal

    change = journal.read_in_flight(layout)
    if change is None or not change.drawn:
        return None
    kept = candidate.kept_candidate(layout.candidate, Ledger.read(layout.ledger).plan, change.stamp)
    if isinstance(kept, candidate.DrawnPatch):
        return kept.after.sums
    return None if kept is None else kept.model.sums


def secrets_on(path: Path, arrays: list[np.ndarray]) -> list[str]:
    """Which of these are in a file, two numbers of them in a row."""
    places = [at for at in range(len(arrays[0]) - 1) if arrays[0][at : at + 2].all()]  # sums of 0 hide nothing
    needles = {each[at : at + 2].tobytes(): which for which, each in enumerate(arrays) for at in places}
    held = b"".join(file.read_bytes() for file in sorted(path.rglob("*")) if file.is_file())
    return [f"part of array {which}" for needle, which in needles.items() if needle in held]


def test_the_search_for_secrets_finds_one(path: Path) -> None:
    with Store.open(path) as store:
        published = np.array(store.model.sums)
    assert secrets_on(path, [published])  # what is published is there, as it should be


def test_planted_rows_go_first(path, drawn, monkeypatch) -> None:
    """The usual order: the table is edited, then the release is finished from what is there."""
    monkeypatch.setattr(StoreTransaction, "_drawn", lambda self, change, execution: (change, None))
    publication = Forecast.publication
    monkeypatch.setattr(Forecast, "publication", lambda self, edits, touched=False: publication(self, edits))
    assert any("not a draw from the table before" in each for each in trials(path, drawn, delete))


def test_planted_candidates_are_swept(path, drawn, monkeypatch) -> None:
    """What was drawn is destroyed after the overwrite began, and drawn again."""
    right = StoreTransaction._drawn

    def swept(self, change, execution):
        from dataclasses import replace

        return right(self, replace(change, drawn=False), execution)

    monkeypatch.setattr(StoreTransaction, "_drawn", swept)
    wrong = trials(path, drawn, delete)
    assert any("drawn again" in each for each in wrong)


def test_what_was_drawn_is_the_release_after_a_crash(path: Path) -> None:
    assert crashed(path, delete, changes(path, delete).index(("commit", "ledger.sqlite")))
    begun = candidate_of(path)
    assert begun is not None
    with Store.open(path) as store:
        assert store.recovered_release.kind == "unlearn"
        assert (store.model.sums == begun).all()


@pytest.mark.parametrize("harm", ["cut short", "of another request", "taken away", "a bit turned"])
def test_what_was_drawn_and_cannot_be_read_is_a_cut(path: Path, tmp_path: Path, drawn, harm: str) -> None:
    """The rows go, and the next release begins another chain: of the row there is nothing, and those that stay pay once."""
    assert crashed(path, delete, changes(path, delete).index(("commit", "ledger.sqlite")))
    file = Layout(path).candidate
    data = file.read_bytes()
    if harm == "cut short":
        file.write_bytes(data[:-5])
    elif harm == "a bit turned":
        file.write_bytes(data[:200] + bytes([data[200] ^ 1]) + data[201:])
    elif harm == "taken away":
        file.unlink()
    else:
        kept = candidate.kept_candidate(Layout(path).candidate, plan(), candidate_stamp(path))
        with Store.open(tmp_path / "whole") as store:
            candidate.DrawnRelease("0" * 32, kept.event, kept.model).keep(store._files.disk, Layout(path).candidate)
    drawn.clear()
    with Store.open(path) as store:
        assert store.recovered_release.kind == "relearn"
        assert is_one_of(rest_of(store), drawn)  # nothing is carried on
        assert name(3) not in store.records.ids_by_slot
        first = plan().mechanism.charges(plan().problem.adjacency)[0]
        assert store.accountant.dp_cumulative().gdp ** 2 == pytest.approx(2 * first, rel=1e-6)
        assert store.accountant.deletion(1, 2, [2]).gdp == 0.0
        # going on with another chain beside the first costs too much; a third one that is not gone on with is covered
        assert store.serve(EditRequest.delete([name(4)])).kind == "relearn"
        store.relearn(plan(budget=Budget.from_gdp(dp=5.0, deletion=0.5)))
        store.serve(EditRequest.delete([name(5)]))
        assert store.accountant.events[-1].kind == "unlearn"
    assert verify(path).faults == ()


def test_a_release_that_was_drawn_before_its_edits_read_the_table_once(path: Path) -> None:
    with Store.open(path) as store:
        answer = store.serve(EditRequest.delete([name(3)]))
    assert (answer.kind, answer.steps, answer.gradient_passes) == ("unlearn", 0, 1)


def candidate_stamp(path: Path) -> str:
    from noisygd_delete.store import journal

    return journal.read_in_flight(Layout(path)).stamp


def later_by_one_of_them(store: Store) -> None:
    asked = [EditRequest.delete([name(3)], request_id="r"), EditRequest.delete([name(4)], request_id="s")]
    store.edit_all(asked)


def patch_of(path: Path):
    return candidate.patch_now(Layout(path), Ledger.read(Layout(path).ledger))


def test_edits_published_later_leave_patches_that_releases_go_on_from(path: Path, drawn) -> None:
    with Store.open(path) as store:
        rest, published, released = rest_of(store), store.model.sums, 1
        endings = (
            store.publish,
            lambda: store.serve(EditRequest.delete([name(1)])),
            lambda: store.edit_all([EditRequest.delete([name(0)])], publish_from=1).release,
        )
        edits = (
            EditRequest.delete([name(3)]),
            EditRequest.insert([name(99)], [row(99)], [1.0], subjects=["new"]),
            EditRequest.delete([name(99)]),
            EditRequest.delete(subjects=[person(4)]),
        )
        for ending, some in zip(endings, (edits[:2], edits[2:3], edits[3:]), strict=True):
            for number, request in enumerate(some, start=1):
                assert store.serve(request, publish=False).status == "pending"
                patch = patch_of(path)
                assert (patch.number, patch.patches) == (released, number)
                assert (patch.sums - sums_of(store) == rest + drawn[-1]).all()
                assert drawn[-1].any()
                rest = patch.sums - sums_of(store)
                assert (store.model.sums == published).all()  # what is published is as it was
            told = status(path)["patch"]
            assert told["patches"] == len(some)
            assert told["epsilon_if_copied"] > store.accountant.dp_cumulative().epsilon(told["delta"])
            release = ending()
            assert release.kind == "unlearn"
            assert release.guarantees["deletion"].gdp == 0.0
            assert (rest_of(store) == carried(rest, released) + drawn[-1]).all()
            rest, published, released = rest_of(store), store.model.sums, released + 1
            assert not Layout(path).patch.exists()
            assert status(path)["patch"] is None
        charges = plan().mechanism.charges(plan().problem.adjacency)
        assert store.accountant.dp_cumulative().gdp ** 2 <= charges[released - 1] * (1 + 1e-9)  # as without patches
    assert verify(path).faults == ()


def test_a_patch_is_no_run_of_the_group(path: Path) -> None:
    """Other processes wait for runs: a key that came between two of them would be taken for one."""
    heard = []

    class Heard(Group):
        def share(self, value):
            heard.append(value)
            return value

    with Store.open(path) as store:
        store.serve(EditRequest.delete([name(3)]), publish=False, execution=Execution(group=Heard()))
    assert patch_of(path).patches == 1
    assert heard == []


def test_what_a_copy_tells_counts_chains_before(path: Path) -> None:
    """Who saw every model saw those of an earlier chain too."""
    with Store.open(path) as store:
        for _ in range(RELEASES - 1):
            store.publish(force=True)
        store.relearn(plan(budget=Budget.from_gdp(dp=2.5, deletion=0.5)))
        store.serve(EditRequest.delete([name(3)]), publish=False)  # in all of the releases
        told = carried_noise.patch_guarantee(store.plan, store.ledger.account, patch_of(path))
        alone = store.plan.mechanism.patched(
            "erased-vs-never", draws=1, variance=carried_noise.planned_patch_variance(store.plan, 1, 1)
        )
        draws = [
            (number - 1 if number else None, Fraction(carry), Fraction(math.sqrt(variance)))
            for number, (carry, variance) in enumerate(plan().mechanism.draws)
        ]
        draws.append((None, Fraction(0), Fraction(math.sqrt(store.plan.mechanism.variance))))
        draws.append(
            (RELEASES, Fraction(1), Fraction(math.sqrt(carried_noise.planned_patch_variance(store.plan, 1, 1))))
        )
        person = store.plan.mechanism.rows_per_subject * Fraction(store.plan.mechanism.apart(between_records=False))
        moved = [[person]] * (RELEASES + 1) + [[Fraction(0)]]
        law = sums_tree.divergence(draws, moved, list(range(RELEASES + 2)))
        assert alone.gdp_squared < law <= told.gdp_squared
        shown = status(path)["patch"]
        assert shown["epsilon_if_copied"] == told.epsilon(shown["delta"])


@pytest.mark.parametrize(("operation", "again"), [(later, True), (later_by_one_of_them, False)])
def test_death_at_any_write_leaves_the_right_patch(path: Path, drawn, operation, again) -> None:
    if again:
        with Store.open(path) as store:
            store.serve(EditRequest.delete([name(1)]), publish=False)
    assert patch_trials(path, drawn, operation) == []


def patch_trials(path: Path, drawn: list[np.ndarray], operation: Callable[[Store], None]) -> list[str]:
    """What was wrong after a death before each write of a patch, and of the release after it."""
    with Store.open(path) as store:
        exact, held = sums_of(store), patch_of(path)
        before = (store.model.sums if held is None else held.sums) - exact
        earlier = 0 if held is None else held.patches

    def whole(store: Store) -> None:
        operation(store)
        store.publish()

    wrong, seen = [], set()
    for at, (copy, _) in enumerate(deaths(path, whole)):
        wrong += [f"{at}: {secret} on disk" for secret in secrets_on(copy, [exact, before, *drawn])]
        if at % 3 == 0:
            crashed(copy, nothing, at // 3)  # the recovery dies as well
        with Store.open(copy) as store:
            happened = name(3) not in store.records.ids_by_slot
            published = store.ledger.releases == 2
            seen.add((happened, published))
            if not happened:
                wrong += [f"{at}: edited in part"] * bool((sums_of(store) != exact).any())
                operation(store)
            if not published:
                patch = patch_of(copy)
                if patch is None:
                    wrong.append(f"{at}: no patch")
                else:
                    rest = patch.sums - sums_of(store)
                    wrong += [f"{at}: not a patch of the one before"] * (not is_one_of(rest - before, drawn))
                    wrong += [f"{at}: counted {patch.patches}"] * (patch.patches != earlier + 1)
                store.publish()
                if patch is not None and not is_one_of(rest_of(store) - carried(rest, 1), drawn):
                    wrong.append(f"{at}: not a draw from the patch")
            if [e.kind for e in store.accountant.events] != ["learn", "unlearn"]:
                wrong.append(f"{at}: {store.accountant.events}")
        wrong += [f"{at}: {file} holds the row" for file in found(copy, traces(3))]
        layout = Layout(copy)
        wrong += [f"{at}: left behind"] * (layout.candidate.exists() or layout.patch.exists())
        drawn.clear()
    assert seen >= {(False, False), (True, False), (True, True)}
    return wrong


def silent(self, *args, **facts):
    return np.zeros(self.size, np.int64)


def is_swept(self, disk, path) -> None:
    """The patch stays where it was drawn, and goes with the journal."""
    if path.name != "patch.bin":
        DRAWN_PATCH_KEEP(self, disk, path)


DRAWN_PATCH_KEEP = candidate.DrawnPatch.keep


@pytest.mark.parametrize(
    ("owner", "attribute", "fault", "said"),
    [
        (candidate.DrawnPatch, "keep", is_swept, "no patch"),
        (StoreTransaction, "_drawn", lambda self, change, execution: (change, None), "no patch"),
        (IntegerMoments, "noise", silent, "not a patch of the one before"),
    ],
)
def test_planted_faults_of_patches_are_seen(path, drawn, monkeypatch, owner, attribute, fault, said) -> None:
    monkeypatch.setattr(owner, attribute, fault)
    assert any(said in each for each in patch_trials(path, drawn, later))


@pytest.mark.parametrize("harm", ["cut short", "of another table", "taken away", "of no draw", "with a sum more"])
def test_a_patch_that_is_none_of_the_table_cuts_the_chain(path: Path, drawn, harm: str) -> None:
    with Store.open(path) as store:
        later(store)
        after = patch_of(path)
        stamp = file_footer.tie_of(Layout(path).ids).stamp.hex()
        file, disk = Layout(path).patch, store._files.disk
        if harm == "cut short":
            file.write_bytes(file.read_bytes()[:-5])
        elif harm == "taken away":
            file.unlink()
        elif harm == "of another table":
            candidate.DrawnPatch("0" * 32, after).keep(disk, file)
        elif harm == "of no draw":
            candidate.DrawnPatch(stamp, replace(after, number=2)).keep(disk, file)
        else:
            candidate.DrawnPatch(stamp, replace(after, sums=np.append(after.sums, 1))).keep(disk, file)
        drawn.clear()
        assert store.dry_run(EditRequest.delete([name(4)]))["publication"] == "published"
        release = store.serve(EditRequest.delete([name(4)]))
        assert (release.kind, release.edits) == ("relearn", 2)
        assert is_one_of(rest_of(store), drawn)
        assert release.guarantees["deletion"].gdp == 0.0
    with Store.open(path) as store:
        store.relearn(plan(budget=Budget.from_gdp(dp=5.0, deletion=0.5)))
        rest = rest_of(store)
        store.serve(EditRequest.delete([name(5)]))
        assert (rest_of(store) == carried(rest, 1) + drawn[-1]).all()
    assert verify(path).faults == ()


def test_a_spent_budget_erases_all_the_same_and_withdraws(path: Path) -> None:
    with Store.open(path) as store:
        for k in range(RELEASES - 1):
            assert store.serve(EditRequest.delete([name(k)])).status == "published"
        assert store.accountant.remaining().publications == 0
        assert status(path)["releases"] == RELEASES
        release = store.serve(EditRequest.delete([name(7)], request_id="last"))
        assert release.status == "withheld"
        assert name(7) not in store.records.ids_by_slot
        with pytest.raises(NotLearned):
            store.model
        again = store.relearn(plan(budget=Budget.from_gdp(dp=4.0, deletion=0.5)))
        assert (again.kind, again.status) == ("relearn", "published")
    assert found(path, traces(7)) == []
    assert verify(path).faults == ()


def test_what_the_bounds_do_not_cover_is_refused(tmp_path: Path, path: Path) -> None:
    with Store.open(path) as store, pytest.raises(InvalidRequest, match="Delete it, and insert"):
        store.serve(EditRequest.replace({name(3): (row(70), 1.0)}))
    with Store.open(made(tmp_path / "closed", **OWN, joiners=False)) as store:
        with pytest.raises(InvalidRequest, match="joiners=true"):
            insert(store)
        delete(store)
        with pytest.raises(InvalidParameter, match="n may only grow"):
            store.relearn(plan(slots=SLOTS - 1))


def test_a_plan_of_another_method_goes_on_after_sums_and_back(path: Path) -> None:
    other = usual_plan(
        method="objective-perturbation", solver="cold", budget=Budget.from_gdp(dp=9.0, deletion=2.0), regularization=5.0
    )
    with Store.open(path) as store:
        delete(store)
        spent = store.accountant.dp_cumulative(adjacency="replace").gdp ** 2
        store.relearn(other)
        assert store.model.sums is None
        one = other.mechanism.interval("dp", "replace", steps_with=1).gdp ** 2
        assert store.accountant.dp_cumulative(adjacency="replace").gdp ** 2 == pytest.approx(spent + one)
        store.serve(EditRequest.delete([name(4)]))
        store.relearn(plan(budget=Budget.from_gdp(dp=30.0, deletion=0.5)))
        rest = rest_of(store)
        store.serve(EditRequest.delete([name(5)]))
        assert store.accountant.deletion(1, 3, [3, 4, 5]).gdp == 0.0
        assert (np.abs(rest_of(store)) < np.abs(rest).max() * 100).all()
    assert verify(path).faults == ()


@pytest.mark.parametrize("rows", [1, 2])
def test_rows_that_come_back_are_said_to_be_another_persons(tmp_path: Path, capsys, rows: int) -> None:
    """Out for a release and back: by the law of all draws together a plan of one row is exceeded, and that is said; one of two is not."""
    place, store = ["--archive-key", str(tmp_path / "key")], str(tmp_path / "store")
    held = records()
    table = Records(held.features[:ROWS], held.labels[:ROWS], [name(k) for k in range(ROWS)], slots=SLOTS)
    with Store.create(store, table, replace(SCHEMA, subject_column=None), plan(rows_per_subject=rows)) as opened:
        opened.learn()
        gone, run = str(opened.records.names[0]), opened.plan.mechanism
    taken = ["restrict", store, gone, "--to", str(tmp_path / "aside"), *place, "--request-id", "t"]
    back = ["lift", store, "t", "--from", str(tmp_path / "aside"), *place, "--informed", "2026-01-01"]
    for command in (taken, back):
        assert main(command) == 0
        assert ("2 of a person" in capsys.readouterr().err) == (rows == 1)
    draws = [
        (None if not at else at - 1, Fraction(carry), Fraction(math.sqrt(variance)))
        for at, (carry, variance) in enumerate(run.draws)
    ]
    apart = Fraction(run.apart(between_records=True))
    moved = [[apart * (at != 1)] for at in range(len(draws))]
    law = float(sums_tree.divergence(draws, moved, range(len(draws))))
    assert (law > run.charges(Worlds.REPLACE)[-1]) == (rows == 1)


def test_a_record_that_could_not_be_put_back_is_not_restricted(tmp_path: Path, complaint) -> None:
    with Store.open(made(tmp_path / "closed", **OWN, joiners=False)) as store:
        name = str(store.records.ids[0])
    aside = ["--to", str(tmp_path / "aside"), "--archive-key", str(tmp_path / "key")]
    assert "no record could be restored" in complaint("restrict", str(tmp_path / "closed"), name, *aside)
    with Store.open(tmp_path / "closed") as store:
        assert name in map(str, store.records.ids)
    assert not (tmp_path / "aside").exists()


def test_a_journal_that_was_being_marked_as_drawn_is_left_once(path: Path, tmp_path: Path) -> None:
    """A crash at each of its changes leaves one journal after the next start, and nothing of the row."""
    within = [at for at, (_, file) in enumerate(changes(path, delete)) if file.startswith("request.json")]
    assert len(within) > 4
    for at in within:
        copy = tmp_path / "copy"
        shutil.copytree(path, copy)
        assert crashed(copy, delete, at)
        accepted = in_flight(copy)
        Store.open(copy).close()
        left = [file.name for file in (copy / "journal").iterdir() if file.name.startswith("request")]
        assert (left, found(copy, traces(3))) == ([], []) or not accepted
        shutil.rmtree(copy)


@pytest.mark.parametrize("releases", [2, RELEASES])
def test_the_publications_told_before_the_first_learn_are_those_after_it(tmp_path: Path, releases: int) -> None:
    with Store.create(tmp_path / "store", records(), SCHEMA, plan(releases=releases)) as store:
        before = release_schedule.publications(store.ledger)
        store.learn()
        assert before == release_schedule.publications(store.ledger) == releases - 1
        store.serve(EditRequest.delete([name(3)]))
        assert release_schedule.publications(store.ledger) == releases - 1
