"""Markov sums over sources: a release carries on the noise of the one before only where nobody else changed the rows; else it begins another chain."""

from __future__ import annotations

import json
import math
import re
import shutil
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from fractions import Fraction
from itertools import count, product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pytest
from noisygd_delete_sources import source_at, trigger
from noisygd_delete_sources.carried_noise import KeptChain
from noisygd_delete_sources.duckdb_tables import DuckdbFile
from pyarrow import parquet

from noisygd_delete import Budget, EditRequest, Schema, losses, make_plan
from noisygd_delete.engine.moments import IntegerMoments
from noisygd_delete.errors import InvalidParameter, InvalidRequest
from noisygd_delete.evidence import verify_certificate
from noisygd_delete.records import Records
from noisygd_delete.store import Store, status, verify
from tests.oracles import sums_tree
from tests.sources.rows import records_of

from ..store.conftest import Crash, CrashAt
from .clusters.in_process import in_this_process
from .conftest import ROWS, SCHEMA, SLOTS, Server, learned, name, people, person, statement
from .tables import InDelta, InDuckdb, InPostgres, arrow, deltalake, duckdb
from .test_marks import keep, put_back, run_on
from .test_postgres import paper

FIELDS: dict[str, Any] = SCHEMA.to_dict()
CODED = Schema.from_dict({**FIELDS, "map": {"kind": "additive", "levels": 3}})
PERSONS = replace(CODED, subject_column="person")
RELEASES = 6


def plan(schema: Schema = CODED, **changes: Any) -> Any:
    facts = {"map": schema.map, "feature_map": schema.feature_map} if schema.map is not None else {}
    usual = {
        "regularization": 0.1,
        "budget": Budget.from_gdp(dp=2.0, deletion=0.5),
        "method": "sufficient-statistics",
        "releases": RELEASES,
    }
    loss = losses.Logistic(radius=1.0)
    return make_plan(loss, records=SLOTS, features=schema.features, utility=False, **{**usual, **facts, **changes})


psycopg = pytest.importorskip("psycopg")


def made(folder: Path, table: Any, schema: Schema = CODED, of: Any = None, **facts: Any) -> Path:
    """A store over the table, which has learned."""
    learned(folder, table.source(**facts), schema, of or plan(schema), watched=isinstance(table, InPostgres)).close()
    return folder


@pytest.fixture
def noises(monkeypatch: pytest.MonkeyPatch) -> list[np.ndarray]:
    """Every noise that is drawn: the same ones in the same order, whoever draws."""
    drawn: list[np.ndarray] = []

    def noise(self: IntegerMoments, noise: Any, **facts: Any) -> np.ndarray:
        drawn.append(np.random.default_rng(len(drawn)).integers(-10_000, 10_000, self.size))
        return drawn[-1]

    monkeypatch.setattr(IntegerMoments, "noise", noise)
    return drawn


def exact(store: Store) -> np.ndarray:
    """The sums of the table as a stranger reads it: row by row, none of it by the source's own counting."""
    from noisygd_delete.curator.carried_noise import moments_of

    source = store.source
    records, _ = records_of(source, store.schema, SLOTS)
    summed = moments_of(store.plan.learning.start, store.plan.shape)
    slots = np.flatnonzero(records.occupied)
    parts = [summed.of(records.features[[slot]], records.labels[[slot]]) for slot in slots]
    return sum(parts, np.zeros(summed.size, np.int64))


def carried(rest: np.ndarray, number: int, of: Any) -> np.ndarray:
    """c · rest, halves up."""
    carry = Fraction(of.mechanism.draws[number][0])
    return np.array([math.floor(carry * int(x) + Fraction(1, 2)) for x in rest], dtype=np.int64)


class Followed:
    """What each release's noise must be, from the noises that were drawn: the oracle of a chain."""

    def __init__(self, store: Store, noises: list[np.ndarray]) -> None:
        self.noises = noises
        self.rest, self.number = noises[-1], 1
        assert (store.model.sums - exact(store) == self.rest).all()

    def patched(self) -> None:
        self.rest = self.rest + self.noises[-1]

    def released(self, store: Store) -> None:
        self.rest = carried(self.rest, self.number, store.plan) + self.noises[-1]
        self.number += 1
        assert (store.model.sums - exact(store) == self.rest).all()


def remove(store: Store, k: int, **how: Any) -> Any:
    return store.serve(EditRequest.delete([name(k)]), **how)


@pytest.mark.parametrize("schema", [CODED, SCHEMA], ids=["coded", "plain"])
def test_releases_carry_on_what_the_one_before_left(table: Any, tmp_path: Path, noises, schema: Schema) -> None:
    path = made(tmp_path / "store", table, schema)
    with Store.open(path) as store:
        followed = Followed(store, noises)
        assert remove(store, 3).guarantees["deletion"].gdp == 0.0
        followed.rest = followed.rest + noises[-2]
        followed.released(store)
        assert store.publish(force=True).kind == "unlearn"
        followed.released(store)
        remove(store, 5, publish=False)
        followed.patched()
    assert status(path)["patch"]["patches"] == 1
    with Store.open(path) as store:
        remove(store, 7, publish=False)
        followed.patched()
        assert store.dry_run(EditRequest.delete([name(9)]))["publication"] == "published"
        assert store.publish().kind == "unlearn"
        followed.released(store)
        assert [event.kind for event in store.accountant.events] == ["learn", *["unlearn"] * 3]
        assert store.accountant.dp_cumulative().gdp <= 2.0
    assert verify(path).faults == ()
    assert status(path)["patch"] is None


def test_the_same_bits_as_rows_in_the_store(table: Any, tmp_path: Path, noises) -> None:
    with Store.open(made(tmp_path / "over", table)) as store:
        rows, _ = records_of(store.source, CODED, SLOTS)
        for k in (3, 4):
            remove(store, k, publish=False)
        first = store.publish().model.sums
    noises.clear()
    used = rows.occupied
    held = Records(rows.features[used], rows.labels[used], [name(k) for k in range(ROWS)], slots=SLOTS)
    with Store.create(tmp_path / "here", held, CODED, plan()) as store:
        store.learn()
        for k in (3, 4):
            remove(store, k, publish=False)
        assert (store.publish().model.sums == first).all()


EDITS = {
    "deleted": f"DELETE FROM people WHERE id = '{name(10)}'",
    "inserted": "INSERT INTO people VALUES ('new', 'new', 0.5, 5, 'x', 'no')",
    "replaced": f"UPDATE people SET a = -a + 0.25, y = 'yes' WHERE id = '{name(11)}'",
}


@pytest.mark.parametrize(("edit", "when"), [("deleted", "before"), ("inserted", "between"), ("replaced", "before")])
def test_an_edit_elsewhere_cuts_the_chain(table: Any, tmp_path: Path, noises, edit: str, when: str) -> None:
    path = made(tmp_path / "store", table)
    if when == "before":
        table.run(EDITS[edit])
    with Store.open(path) as store:
        remove(store, 3, publish=False)
    if when == "between":
        table.run(EDITS[edit])
    with Store.open(path) as store:
        assert store.publish().kind == "relearn"
        assert (store.model.sums - exact(store) == noises[-1]).all()  # nothing is carried on
        first = plan().mechanism.charges(plan().problem.adjacency)[0]
        assert store.accountant.dp_cumulative().gdp ** 2 == pytest.approx(2 * first, rel=1e-6)
        assert store.accountant.deletion(1, 2, [2]).gdp == 0.0
    assert verify(path).faults == ()


def test_of_a_person_with_too_many_rows_those_that_are_left_come_in(table: Any, tmp_path: Path, noises) -> None:
    """Where one of three rows goes, the two that are left come in."""
    table.run(f"INSERT INTO people VALUES ('third', '{person(6)}', 0.5, 5, 'x', 'no')")
    facts = {"subject": "person", "rows_per_subject": 2}
    path = made(tmp_path / "store", table, PERSONS, plan(PERSONS, rows_per_subject=2), **facts)
    with Store.open(path) as store:
        followed = Followed(store, noises)
        for request in (EditRequest.delete(["third"]), EditRequest.delete(subjects=[person(20)])):
            assert store.serve(request).kind == "unlearn"
            followed.rest = followed.rest + noises[-2]
            followed.released(store)


def test_an_edit_elsewhere_between_two_deletions_cuts_the_chain(table: Any, tmp_path: Path, noises) -> None:
    """In one process: what was drawn for the first deletion is not taken for the second one."""
    with Store.open(made(tmp_path / "store", table)) as store:
        remove(store, 3, publish=False)
        table.run(EDITS["deleted"])
        assert remove(store, 5).kind == "relearn"


@pytest.mark.parametrize(
    ("table", "operation", "stride"),
    [
        ("duckdb", "delete", 2),
        ("duckdb", "later", 3),
        ("delta", "delete", 4),
        *(pytest.param(*case, 1, marks=pytest.mark.long) for case in product(("duckdb", "delta"), ("delete", "later"))),
    ],
    indirect=["table"],
)
def test_death_at_any_write_leaves_a_draw_from_the_table_before_or_cuts(
    table: Any, tmp_path: Path, noises, operation: str, stride: int
) -> None:
    """The death comes at each write of the store, or at some of them."""
    kinds = list[str]()
    for at in count(step=stride):
        path, k = tmp_path / f"store{at}", 3 + at
        noises.clear()
        made(path, table, of=plan(releases=8))
        with Store.open(path) as store:
            before = exact(store)
        try:
            with Store.open(path, disk=CrashAt(at)) as store:
                remove(store, k, publish=operation == "delete")
        except Crash:
            pass
        else:
            break
        assert secrets_on(path, [before, *noises]) == []
        with Store.open(path) as store:
            gone = not store.source.held([name(k)], [])
            if store.ledger.releases == 1:
                assert gone == bool(store.pending_edits)
                store.publish() if gone else remove(store, k)
            kind, rest = store.accountant.events[-1].kind, store.model.sums - exact(store)
            kinds.append(str(kind))
            starts = [0 * noises[0]]
            if kind == "unlearn":
                starts = [carried(noises[0] + patch, 1, store.plan) for patch in noises[1:]]
            assert any((rest - start == noise).all() for start in starts for noise in noises[1:]), kind
            assert store.ledger.releases == 2
        assert verify(path).faults == ()
    assert at > 12
    assert stride > 1 or kinds.count("unlearn") > 2 * kinds.count("relearn") > 0, kinds


def secrets_on(path: Path, arrays: list[np.ndarray]) -> list[str]:
    """Which of these are in a file, two numbers of them in a row."""
    places = [at for at in range(len(arrays[0]) - 1) if all(each[at : at + 2].all() for each in arrays)]
    needles = {each[at : at + 2].tobytes(): which for which, each in enumerate(arrays) for at in places}
    held = b"".join(file.read_bytes() for file in sorted(path.rglob("*")) if file.is_file())
    windows = {held[at : at + 16] for at in range(len(held) - 15)}
    return [f"part of array {which}" for needle, which in needles.items() if needle in windows]


@pytest.mark.parametrize("table", ["duckdb", "delta"], indirect=True)
def test_a_copy_that_was_put_back_is_a_cut(table: Any, tmp_path: Path, noises) -> None:
    path = made(tmp_path / "store", table)
    table.copy(tmp_path / "copy")
    table.run(EDITS["inserted"])
    table.put_back(tmp_path / "copy")
    with Store.open(path) as store:
        assert store.publish(force=True).kind == "relearn"
        assert (store.model.sums - exact(store) == noises[-1]).all()


def test_a_data_directory_put_back_is_a_cut(own: Server, tmp_path: Path) -> None:
    """The copy is of the time between two releases: the second is not in its history, and the application went on."""
    source = InPostgres(own.address()).source()
    with learned(tmp_path / "store", source, CODED, plan(), watched=True) as store:
        statement(own.address(), EDITS["inserted"])
    keep(own, "backup")
    with Store.open(tmp_path / "store") as store:
        statement(own.address(), "DELETE FROM people WHERE id = 'new'")
        store.relearn()
        position = store.ledger.head.position
    put_back(own, "backup")
    run_on(own, f"transaction:{position.split(':')[2]}")
    with Store.open(tmp_path / "store") as store, store.source._moment() as (connection, position):
        assert not store.source._is_in(connection, position, store.table._chain.state)


def test_a_release_reads_no_row_where_the_source_counts(tmp_path: Path, monkeypatch) -> None:
    table = InDuckdb(tmp_path)
    path = made(tmp_path / "store", table)

    right = DuckdbFile._cells

    def none_read(source: DuckdbFile, connection: Any, columns: Any, rows: str) -> Iterator[Any]:
        assert columns == ["persons", "rows"], "a row was read"  # how many are left out
        yield from right(source, connection, columns, rows)

    monkeypatch.setattr(DuckdbFile, "_cells", none_read)
    with Store.open(path) as store:
        assert store.publish(force=True).kind == "unlearn"


def test_cells_that_sql_codes_otherwise_are_read_here(table: Any, tmp_path: Path, noises) -> None:
    table.run(f"UPDATE people SET b = NULL, c = ' x', y = 'yes ' WHERE id = '{name(8)}'")
    columns = {**FIELDS["columns"], "b": {"bounds": [0, 10], "missing": "column"}, "c": {"categories": ["x", "z"]}}
    label = {"column": "y", "classes": ["no", "Yes"]}
    schema = Schema.from_dict({**FIELDS, "columns": columns, "map": {"kind": "additive", "levels": 2}, "label": label})
    path = made(tmp_path / "store", table, schema)
    with Store.open(path) as store:
        followed = Followed(store, noises)
        remove(store, 8)
        followed.rest = followed.rest + noises[-2]
        followed.released(store)


@pytest.mark.parametrize("kind", ["a query", "a view", "a column of today", "parquet", "one row of several"])
def test_sources_that_cannot_show_it_are_refused_with_what_works(kind: str, tmp_path: Path) -> None:
    table, facts, of, schema = InDuckdb(tmp_path), {"table": "people"}, plan(), CODED
    if kind == "a view":
        table.run("CREATE VIEW elders AS SELECT * FROM people")
        facts = {"table": "elders"}
    if kind == "a column of today":
        table.run("CREATE TABLE ages (id VARCHAR, b DOUBLE, c VARCHAR, y VARCHAR, a DOUBLE AS (b / 10))")
        facts = {"table": "ages"}
    if kind == "a query":
        facts |= {"query": "SELECT * FROM people WHERE c = 'x'"}
    place = table.place
    if kind == "parquet":
        (tmp_path / "folder").mkdir()
        duckdb.sql(f"ATTACH '{place}' AS p (READ_ONLY); COPY p.people TO '{tmp_path}/folder/a.parquet'")
        place, facts = str(tmp_path / "folder"), {}
    said = "objective-perturbation"
    if kind == "one row of several":
        facts |= {"subject": "person", "rows_per_subject": 2}
        schema, said = PERSONS, "joiners=true"
        of = plan(PERSONS, rows_per_subject=2, joiners=False)
    with pytest.raises(InvalidParameter, match=said):
        Store.create_over(tmp_path / "store", source_at(place, id="id", **facts), schema, of)


def test_a_database_that_counts_nothing_yet_is_told_to_be_watched(database: str, tmp_path: Path) -> None:
    table = InPostgres(database)
    with Store.create_over(tmp_path / "store", table.source(), CODED, plan()) as store:
        with pytest.raises(InvalidParameter, match="noisygd-delete watch"):
            store.learn()
        store.table.watch()
        assert store.learn().status == "published"
        with table.source().connected() as connection:
            for each in trigger.remove_statements('"people"'):
                connection.execute(each)
        assert remove(store, 3).kind == "relearn"


@pytest.mark.parametrize("how", ["carried", "cut"])
def test_a_certificate_says_who_counted_what_changed(table: Any, tmp_path: Path, how: str) -> None:
    path = made(tmp_path / "store", table)
    if how == "cut":
        table.run(EDITS["inserted"])
    with Store.open(path) as store:
        store.serve(EditRequest.delete([name(3)], request_id="r"))
        found = paper(store)
    assert {check.name for check in verify_certificate(found).checks if not check.passed} == {"signature"}
    claims = {claim["key"]: claim for claim in found["claims"]}
    assert ("published.carried" in claims) == (how == "carried")
    by = {InDuckdb: "file", InDelta: "versions", InPostgres: "trigger"}[type(table)]
    if how == "carried":
        assert claims["source.counted"]["values"] == {"by": by, "deleted": 1, "replaced": 0, "inserted": 0}
    elif by == "file":
        assert "source.uncounted" in claims
    assert "sums-carried" in claims


def test_a_servers_log_and_disk_hold_no_sum(own: Server, tmp_path: Path, noises) -> None:
    """Every statement is logged, and every file that is written for one."""
    for setting in ("log_statement = 'all'", "log_temp_files = 0", "log_min_duration_statement = 0"):
        with psycopg.connect(own.address(), autocommit=True) as connection:
            connection.execute(f"ALTER SYSTEM SET {setting}")
            connection.execute("SELECT pg_reload_conf()")
    source = InPostgres(own.address()).source()
    with learned(tmp_path / "store", source, CODED, plan(), watched=True) as store:
        sums = exact(store)
        remove(store, 3)
        with source.connected() as connection:
            assert connection.execute("SELECT count(*) FROM pg_matviews").fetchone() == (0,)
            assert connection.execute("SELECT sum(temp_files) FROM pg_stat_database").fetchone() == (0,)
    log = (own.folder / "log").read_text()
    assert "GROUPING SETS" in log
    assert "temporary file" not in log
    large = {str(x) for x in [*sums, *noises[0]] if abs(int(x)) > 10**6}
    assert large
    assert not large & set(re.findall(r"\d+", log))


def test_a_row_that_comes_while_another_goes_cuts_the_chain(database: str, tmp_path: Path, noises, monkeypatch) -> None:
    """Committed after the deletion's own view of the rows, and before its commit."""
    table, take = InPostgres(database), KeptChain.take

    def beside(self: KeptChain, *given: Any) -> None:
        take(self, *given)
        statement(database, EDITS["inserted"])

    monkeypatch.setattr(KeptChain, "take", beside)
    with Store.open(made(tmp_path / "store", table)) as store:
        assert remove(store, 3).kind == "relearn"
        assert (store.model.sums - exact(store) == noises[-1]).all()


def test_a_trigger_that_takes_more_rows_cuts_nothing_where_all_are_named(database: str, tmp_path: Path, noises) -> None:
    table = InPostgres(database)
    takes = "DELETE FROM people WHERE person = OLD.person; RETURN NULL"
    table.run(f"CREATE FUNCTION more() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {takes}; END $$")
    table.run(
        "CREATE TRIGGER more AFTER DELETE ON people FOR EACH ROW WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION more()"
    )
    with Store.open(made(tmp_path / "store", table)) as store:
        followed = Followed(store, noises)
        with pytest.raises(InvalidRequest):
            remove(store, 3)
        assert store.serve(EditRequest.delete([name(2), name(3)])).kind == "unlearn"
        followed.rest = followed.rest + noises[-2]
        followed.released(store)


def told(store: Store) -> list[tuple[int, Fraction, Fraction]]:
    """The tree of draws that a ledger tells: (draw that it goes on from, c, σ)."""
    draws, tree, at = store.plan.mechanism.draws, list[Any](), 0
    for event in store.accountant.events:
        at = 0 if event.kind in ("learn", "relearn") else at + 1
        tree.append((len(tree) - 1 if at else None, *map(Fraction, draws[at])))
    return [(parent, carry, Fraction(math.sqrt(variance))) for parent, carry, variance in tree]


@pytest.mark.parametrize("seed", range(4))
def test_the_account_of_any_history_is_not_below_the_joint_law(tmp_path: Path, noises, seed: int) -> None:
    """Deletions now and later, releases made again, and an application that writes: each release is a draw of the tree that the ledger tells, and
    what is printed of a record is at least what the law of that tree says."""
    chance, table = np.random.default_rng(seed), InDuckdb(tmp_path)
    of = plan()
    store = Store.open(made(tmp_path / "store", table, of=of))
    with closing(store):
        rest, k, cut = noises[-1], 0, False
        for _ in range(5):
            what = chance.choice(["now", "later", "again", "elsewhere"], p=[0.4, 0.2, 0.2, 0.2])
            before = len(noises)
            k += 1
            if what == "elsewhere":
                table.run(f"DELETE FROM people WHERE id = '{name(100 + k)}'")
                cut = True
            release = None
            if what == "later":
                remove(store, k, publish=False)
            else:
                release = remove(store, k) if what != "again" else store.publish(force=not store.pending_edits)
            if release is None:
                rest = rest + (0 if cut else noises[before])
                continue
            if release.status == "withheld":
                assert cut or store.accountant.account.relearned  # two chains cost more than the plan's one
                break
            assert (release.kind == "relearn") == cut
            patches = 0 if cut or what == "again" else noises[before]
            number = store.ledger.account.since_fresh - 1
            start = 0 if cut else carried(rest + patches, number, of)
            assert (store.model.sums - exact(store) == start + noises[-1]).all()
            rest, cut = store.model.sums - exact(store), False
        tree, row = told(store), Fraction(store.plan.mechanism.apart(between_records=True))
        everyone, printed = range(len(tree)), store.accountant.dp_cumulative().gdp ** 2
        law = max(
            float(sums_tree.divergence(tree, [[row * (at <= last)] for at in everyone], everyone)) for last in everyone
        )
        assert printed / 2 < law <= printed
        store.close()
    assert verify(tmp_path / "store").faults == ()


def test_rows_that_a_policy_chooses_are_refused(database: str, tmp_path: Path) -> None:
    table = InPostgres(database)
    table.run(
        "CREATE ROLE reader LOGIN; GRANT SELECT ON people TO reader; ALTER TABLE people ENABLE ROW LEVEL SECURITY"
    )
    table.run("CREATE POLICY today ON people USING (now() > '2020-01-01')")
    source = source_at(database.replace("postgres@", "reader@"), id="id", table="people")
    with pytest.raises(InvalidParameter, match="objective-perturbation"):
        Store.create_over(tmp_path / "store", source, CODED, plan())
    table.run("DROP OWNED BY reader; DROP ROLE reader")


@pytest.mark.parametrize("schema", [CODED, SCHEMA], ids=["coded", "plain"])
def test_workers_sum_a_delta_table_by_parts(tmp_path: Path, noises, monkeypatch, schema: Schema) -> None:
    """The workers of an engine, without the engine: a release is that of one process, bit for bit, and the chain goes on or is cut alike."""
    monkeypatch.setattr("noisygd_delete_sources.factory.open_rows", in_this_process)
    table, found = InDelta(tmp_path, people()[:70]), []
    for part in (people()[70:150], people()[150:]):  # a file each, and so a partition
        table.insert(part)
    for engine in (None, "ray"):
        noises.clear()
        path = tmp_path / f"store-{engine}"
        copied = tmp_path / f"delta-{engine}"
        shutil.copytree(table.place, copied)
        with learned(path, source_at(str(copied), id="id", engine=engine), schema, plan(schema)) as store:
            assert remove(store, 3).kind == "unlearn"
            deltalake.DeltaTable(str(copied)).delete(f"id = '{name(4)}'")
            found.append((store.model.sums, store.dry_run(EditRequest.delete([name(5)]))["publication"]))
            assert remove(store, 5).status == "withheld"
        assert verify(path).faults == ()
    assert (found[0][0] == found[1][0]).all()
    assert found[0][1] == found[1][1] == "withheld"


def commit_by_hand(place: str, *actions: dict[str, Any]) -> None:
    """A commit as another program may write it."""
    log = Path(place) / "_delta_log"
    number = deltalake.DeltaTable(place).version() + 1
    (log / f"{number:020d}.json").write_text("".join(json.dumps(action) + "\n" for action in actions))


def added_last(place: str) -> dict[str, Any]:
    """The newest action of the log that adds a file."""
    lines = [
        line for file in sorted((Path(place) / "_delta_log").glob("*.json")) for line in file.read_text().splitlines()
    ]
    return [action["add"] for action in map(json.loads, lines) if "add" in action][-1]


def test_a_path_that_is_added_again_is_another_state_and_is_not_counted(tmp_path: Path, noises) -> None:
    """Of the same name, with other rows or as another partition."""
    table = InDelta(tmp_path)
    shutil.rmtree(table.place)
    deltalake.write_deltalake(table.place, arrow(people()), partition_by=["c"])
    source = table.source()
    path = made(tmp_path / "store", table)
    action = added_last(table.place)
    other = {**action, "partitionValues": {"c": "z" if action["partitionValues"]["c"] == "x" else "x"}}
    removed = {
        "path": action["path"],
        "dataChange": True,
        "deletionTimestamp": 1,
        "partitionValues": action["partitionValues"],
    }
    before = source.position()
    commit_by_hand(table.place, {"remove": removed})
    commit_by_hand(table.place, {"add": other})
    with Store.open(path) as store:
        assert source.changes(before, source.position(), ["a", "b", "c", "y"]) is None
        assert store.publish(force=True).kind == "relearn"
        assert (store.model.sums - exact(store) == noises[-1]).all()
    file = Path(table.place) / other["path"]
    rows = parquet.read_table(file, partitioning=None)
    state, before = source.state_at(source.position()), source.position()
    turned = rows.set_column(
        rows.column_names.index("y"), "y", pyarrow.array([{"no": "yes", "yes": "no"}[str(y)] for y in rows["y"]])
    )
    parquet.write_table(turned, file)
    commit_by_hand(table.place, {"remove": removed})
    commit_by_hand(table.place, {"add": {**other, "size": file.stat().st_size}})
    assert source.state_at(source.position()) != state
    assert source.changes(before, source.position(), ["a", "b", "c", "y"]) is None
