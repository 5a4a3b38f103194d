"""Whoever is said to be erased is in nothing that a release reads: counted in the deletion's own transaction, and again before a release.

Each case is a database as operators have them: views, rules, triggers, policies, partitions, copies, keys of any type. The oracle asks the
database itself, past this program.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from uuid import UUID

import pytest
from noisygd_delete_sources import source_at
from noisygd_delete_sources.postgres import Postgres

from noisygd_delete import EditRequest, Schema
from noisygd_delete.cli import main
from noisygd_delete.errors import InvalidParameter, InvalidRequest, SourceError, UnknownName
from noisygd_delete.store import Store, Tombstones
from tests.sources.rows import records_of

from .conftest import ROWS, SCHEMA, SLOTS, fill, learned, name, people, plan, statement
from .tables import InDelta, InDuckdb, InPostgres, arrow, duckdb, parquet
from .test_postgres import paper

SOFT = (
    "ALTER TABLE people ADD gone boolean DEFAULT false",
    "CREATE VIEW present AS SELECT * FROM people WHERE NOT gone",
    "CREATE FUNCTION hide() RETURNS trigger LANGUAGE plpgsql AS "
    "'BEGIN UPDATE people SET gone = true WHERE id = OLD.id; RETURN OLD; END'",
    "CREATE TRIGGER hide INSTEAD OF DELETE ON present FOR EACH ROW EXECUTE FUNCTION hide()",
)


def run(address: str, *statements: str) -> None:
    for each in statements:
        statement(address, each)


def store_over(address: str, folder: Path, schema: Schema = SCHEMA, **facts) -> Store:
    return learned(folder, source_at(address, **{"id": "id", **facts}), schema)


def refused(store: Store, said: str, **request) -> None:
    """A deletion that is refused has changed nothing, and the next one is served."""
    length = store.ledger.length
    with pytest.raises(InvalidRequest, match=said) as told:
        store.serve(EditRequest.delete(**request or {"ids": [name(3)]}))
    assert "identifier-token" not in str(told.value) or "never there" in said
    assert (store.ledger.length, store.pending_edits) == (length, 0)


def test_a_soft_deletion_counts_where_the_release_reads_without_it(database: str, tmp_path: Path) -> None:
    run(database, *SOFT)
    with store_over(database, tmp_path / "honest", table="present") as store:
        assert store.serve(EditRequest.delete([name(3)], request_id="r")).counts.deleted == 1
        assert len(records_of(store.source, SCHEMA, SLOTS)[0]) == ROWS - 1
        assert paper(store)["request"]["rows"] == 1
    with store_over(database, tmp_path / "store", table="present", query="SELECT * FROM people") as store:
        refused(store, "1 rows of those that the request names are still read", ids=[name(4)])
    assert statement(database, "SELECT FROM people WHERE gone") == 1, "what was refused is undone"


@pytest.mark.parametrize(
    ("table", "later", "said"),
    [
        ("postgres", "SELECT * FROM people ORDER BY id LIMIT 150", "chosen by LIMIT"),
        ("postgres", "SELECT * FROM copy", "copy is a materialised view"),
        ("postgres", "SELECT p.* FROM people p WHERE c IN (SELECT c FROM people WHERE a > 0)", "other rows of"),
        ("duckdb", "SELECT * FROM people LIMIT 9", "chosen by LIMIT"),
        ("duckdb", "SELECT * FROM people QUALIFY rank() OVER (ORDER BY a) < 9", "chosen by a window"),
    ],
    indirect=["table"],
)
def test_a_view_that_is_replaced_later_stops_the_release(
    table: InDuckdb, tmp_path: Path, later: str, said: str
) -> None:
    table.run("CREATE VIEW chosen AS SELECT * FROM people")
    if isinstance(table, InPostgres):
        table.run("CREATE MATERIALIZED VIEW copy AS SELECT * FROM people")
    with learned(tmp_path / "store", table.source(query="SELECT * FROM chosen")) as store:
        store.serve(EditRequest.delete([name(3)], request_id="r"), publish=False)
        table.run(f"CREATE OR REPLACE VIEW chosen AS {later}")
        with pytest.raises(SourceError, match=f"{said}.*Nothing was published"):
            store.publish()
        table.run("CREATE OR REPLACE VIEW chosen AS SELECT * FROM people")
        store.publish()
        assert store.pending_edits == 0


def test_a_row_that_comes_back_before_the_release_is_noticed(table: InDuckdb, tmp_path: Path) -> None:
    with learned(tmp_path / "store", table.source()) as store:
        store.serve(EditRequest.delete([name(3)], request_id="r"), publish=False)
        table.insert([people()[3]])
        with pytest.raises(SourceError, match="1 rows that were deleted since the last release are read there again"):
            store.publish()
        store.serve(EditRequest.delete([name(3)], request_id="again"))
        assert (store.ledger.releases, store.pending_edits) == (2, 0)


def test_a_materialised_view_is_refused_and_never_proves_anything(database: str, tmp_path: Path, monkeypatch) -> None:
    run(
        database,
        "CREATE MATERIALIZED VIEW copy AS SELECT * FROM people",
        "CREATE VIEW above AS SELECT * FROM copy WHERE c = 'x' OR c = 'z'",
    )
    for query in ("SELECT * FROM copy", "SELECT * FROM above"):
        with pytest.raises(InvalidParameter, match="copy is a materialised view"):
            source_at(database, id="id", table="people", query=query).check()
    monkeypatch.setattr(Postgres, "_check_plan", lambda *_, **__: None)
    with store_over(database, tmp_path / "store", table="people", query="SELECT * FROM above") as store:
        refused(store, "still read after their deletion")


def test_a_table_of_another_server_is_refused(database: str, tmp_path: Path) -> None:
    """A mark left here says nothing about a server elsewhere, which may be restored by itself."""
    run(
        database,
        "CREATE EXTENSION IF NOT EXISTS file_fdw",
        "CREATE SERVER elsewhere FOREIGN DATA WRAPPER file_fdw",
        "CREATE FOREIGN TABLE far (id text, a float8, b float8, c text, y text) SERVER elsewhere OPTIONS (filename '/dev/null')",
    )
    with pytest.raises(InvalidParameter, match="far is a table of another server"):
        source_at(
            database, id="id", table="people", query="SELECT id, a, b, c, y FROM people UNION ALL SELECT * FROM far"
        ).check()


KEEPING = {
    "a trigger that returns nothing": (
        "CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
        "CREATE TRIGGER keep BEFORE DELETE ON people FOR EACH ROW EXECUTE FUNCTION keep()",
    ),
    "a trigger that writes the row again": (
        "CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO people SELECT OLD.*; RETURN NULL; END'",
        "CREATE TRIGGER keep AFTER DELETE ON people FOR EACH ROW EXECUTE FUNCTION keep()",
    ),
    "a rule": ("CREATE RULE keep AS ON DELETE TO people WHERE OLD.c = 'z' DO INSTEAD NOTHING",),
    "a trigger that refuses": (
        "CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RAISE EXCEPTION 'no'; END$$",
        "CREATE TRIGGER keep BEFORE DELETE ON people FOR EACH ROW WHEN (OLD.c = 'z') EXECUTE FUNCTION keep()",
    ),
    "a constraint that waits for the commit": (
        "CREATE TABLE orders (who text REFERENCES people (id) DEFERRABLE INITIALLY DEFERRED)",
        f"INSERT INTO orders VALUES ('{name(3)}')",
    ),
    "a trigger that waits for the commit": (
        "CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RAISE EXCEPTION 'no'; END$$",
        "CREATE CONSTRAINT TRIGGER keep AFTER DELETE ON people DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (OLD.c = 'z') "
        "EXECUTE FUNCTION keep()",
    ),
}


@pytest.mark.parametrize("how", KEEPING)
def test_a_row_that_the_database_keeps_refuses_its_own_request(database: str, tmp_path: Path, how: str) -> None:
    run(database, *KEEPING[how])
    with store_over(database, tmp_path / "store", table="people") as store:
        refused(store, "still read after|the source refuses the deletion")
        assert statement(database, "SELECT FROM people") == ROWS
        if "returns nothing" not in how and "again" not in how:
            done = store.edit_all([EditRequest.delete([name(k)], request_id=f"r{k}") for k in (2, 3, 4)])
            assert [error is None for error in done.outcomes] == [True, False, True], "the others go on"
            store.publish()
            assert len(records_of(store.source, SCHEMA, SLOTS)[0]) == ROWS - 2


def test_what_fails_at_the_commit_itself_is_undone_and_the_queue_goes_on(
    database: str, tmp_path: Path, monkeypatch
) -> None:
    """The constraint is made to wait in spite of being asked for before: the server refuses the commit."""
    import psycopg

    run(database, *KEEPING["a constraint that waits for the commit"])
    true = psycopg.Connection.execute

    def without(connection, query, *given, **options):
        return None if query == "SET CONSTRAINTS ALL IMMEDIATE" else true(connection, query, *given, **options)

    monkeypatch.setattr(psycopg.Connection, "execute", without)
    with store_over(database, tmp_path / "store", table="people") as store:
        refused(store, "ForeignKeyViolation")
        assert store.serve(EditRequest.delete([name(5)], request_id="r")).release == 2
        assert statement(database, "SELECT FROM people") == ROWS - 1


def test_row_level_security_is_told_and_never_taken_for_an_erasure(database: str, tmp_path: Path) -> None:
    run(
        database,
        "DROP ROLE IF EXISTS tenant",
        "CREATE ROLE tenant LOGIN",
        "GRANT SELECT, DELETE ON people TO tenant",
        "ALTER TABLE people ENABLE ROW LEVEL SECURITY",
        "CREATE POLICY seen ON people FOR SELECT TO tenant USING (c = 'x')",
        f"CREATE POLICY may ON people FOR DELETE TO tenant USING (id <> '{name(2)}')",
    )
    try:
        with store_over(database.replace("postgres@", "tenant@"), tmp_path / "store", table="people") as store:
            refused(store, "never there, or erased already, or hidden from this role by row-level security")
            refused(store, "still read after their deletion", ids=[name(2)])
            assert store.serve(EditRequest.delete([name(4)])).release == 2
            assert len(records_of(store.source, SCHEMA, SLOTS)[0]) == ROWS // 2 - 1
    finally:
        run(database, "DROP OWNED BY tenant", "DROP ROLE tenant")


@pytest.mark.parametrize("kind", [InDuckdb, InDelta])
def test_so_in_files(tmp_path: Path, kind) -> None:
    made = kind(tmp_path)
    parquet.write_table(arrow(), tmp_path / "kept.parquet")
    again = f"SELECT * FROM '{tmp_path / 'kept.parquet'}' WHERE id = '{name(3)}'"
    query = f"SELECT * FROM {made.facts.get('table', 'source')} UNION ALL {again}"
    with learned(tmp_path / "store", made.source(query=query)) as store:
        refused(store, "1 rows of those that the request names are still read")
        assert store.source.held([name(3)], []) == 1
        assert store.serve(EditRequest.delete([name(4)])).release == 2


def test_a_name_that_the_key_cannot_hold_is_not_there(database: str, tmp_path: Path) -> None:
    """Whole numbers and UUIDs: no name stops the store, none is read as another, and letters of a UUID are of either case."""
    known = "9b2f0c1e-2d3a-4b5c-8d7e-0123456789ab"
    run(
        database,
        "CREATE SCHEMA crm",
        "CREATE TABLE crm.numbered AS SELECT row_number() OVER () AS id, gen_random_uuid() AS person, a, b, c, y FROM people",
        f"UPDATE crm.numbered SET person = '{known}' WHERE id = 7",
    )
    schema = replace(SCHEMA, subject_column="person")
    odd = ["abc", "9" * 26, "1\0", "\ud800", "", " 17", "017", "17.0", "1e1", "NaN", "-" + "9" * 26]
    with store_over(database, tmp_path / "store", schema, table="crm.numbered", subject="person") as store:
        assert store.source.held(odd, []) == store.source.held(odd, [], names=True) == 0
        assert store.source.held([*odd, "17", "18"], []) == store.source.held([*odd, "17", "18"], [], names=True) == 2
        assert store.source.held([], ["no uuid", known.upper(), "{" + known + "}"], names=True) == 1
        for wrong in odd:
            with pytest.raises(InvalidRequest, match=r"not in the table|not Unicode text"):
                store.serve(EditRequest.delete([wrong]))
        with pytest.raises(UnknownName) as unknown:
            store.serve(EditRequest.delete(subjects=["no uuid"]))
        assert (unknown.value.kind, unknown.value.name) == ("subject", "no uuid")
        assert store.serve(EditRequest.delete(subjects=[known.upper()], request_id="r")).counts.deleted == 1
        assert store.serve(EditRequest.delete(subjects=[known.upper()], request_id="r")).answered_before
        assert store.serve(EditRequest.delete([17])).counts.deleted == 1
    assert statement(database, "SELECT FROM crm.numbered") == ROWS - 2


def test_a_uuid_in_duckdb_too(tmp_path: Path) -> None:
    file, known = str(tmp_path / "p.duckdb"), UUID(int=5)
    with duckdb.connect(file) as connection:
        connection.register("given", arrow())
        connection.execute(
            "CREATE TABLE people AS SELECT * REPLACE (CAST(concat('00000000-0000-0000-0000-', right(id, 12)) AS VARCHAR) AS id) "
            "FROM (SELECT * REPLACE (lpad(hex(row_number() OVER ()), 12, '0') AS id) FROM given)"
        )
        connection.execute("ALTER TABLE people ALTER id TYPE UUID")
    source = source_at(file, id="id", table="people")
    assert source.held([str(known).upper(), "\ud800", "a\0"], []) == 1
    source.delete([str(UUID(int=10)).upper()], [], lambda *_: None)
    assert source.held([str(UUID(int=10))], []) == 0


@pytest.mark.parametrize("column", ["100% own", 'with "quotes"', "a%sb", "$1"])
def test_any_name_of_a_column_will_do(database: str, tmp_path: Path, column: str) -> None:
    quoted = '"' + column.replace('"', '""') + '"'
    import psycopg

    with psycopg.connect(database) as connection:
        connection.execute(f"ALTER TABLE people RENAME id TO {quoted}")  # type: ignore[arg-type]
    schema = replace(SCHEMA, id_column=column)
    for k, query in enumerate((None, "SELECT * FROM people WHERE c LIKE '%' -- all")):
        with store_over(database, tmp_path / str(k), schema, id=column, table="people", query=query) as store:
            assert store.serve(EditRequest.delete([name(3 + k)], request_id="r")).release == 2
            assert store.serve(EditRequest.delete([name(3 + k)], request_id="r")).answered_before


@pytest.mark.parametrize("kind", ["char(40)", "inet", "citext", "numeric(20, 3)"])
def test_a_key_is_known_again_however_an_export_writes_it(database: str, tmp_path: Path, kind: str) -> None:
    """An export pads one of fixed width and shortens an address; the list of erased ids holds what a query shows."""
    written = {"inet": "'10.0.0.' || n", "numeric(20, 3)": "n + 0.5"}.get(kind, "'Key-' || n")
    run(
        database,
        *(["CREATE EXTENSION citext"] if kind == "citext" else []),
        f"CREATE TABLE keyed AS SELECT ({written})::{kind} AS key, p.* FROM (SELECT *, row_number() OVER () AS n FROM people) AS p",
    )
    tombstones = Tombstones.create(tmp_path / "list", tmp_path / "key")
    store_over(database, tmp_path / "store", table="keyed", id="key", schema=replace(SCHEMA, id_column="key")).close()
    with Store.open(tmp_path / "store", tombstones=tombstones) as store:
        assert store.source is not None
        one = sorted(store.source.names("key"))[3]
        run(database, f"CREATE TABLE kept AS SELECT * FROM keyed WHERE key = '{one}'::{kind}")
        assert store.serve(EditRequest.delete([one], request_id="r")).release == 2
        run(database, "INSERT INTO keyed SELECT * FROM kept")
        with pytest.raises(
            SourceError, match=r"1 rows there have ids that were erased before|1 rows that were deleted"
        ):
            store.publish(force=True)
    with Store.open(tmp_path / "store", tombstones=tombstones) as store:
        with pytest.raises(SourceError, match="1 rows there have ids that were erased before"):
            store.publish(force=True)
        assert store.list_reappeared_ids() == [one]


def test_a_dump_that_is_put_back_is_met_and_erased_again(database: str, tmp_path: Path, capsys, as_json) -> None:
    import psycopg

    store_over(database, tmp_path / "store", table="people").close()
    Tombstones.create(tmp_path / "list", tmp_path / "key")
    listed = ["--tombstones", str(tmp_path / "list"), "--tombstone-key", str(tmp_path / "key")]
    folder = str(tmp_path / "store")
    assert as_json("delete", folder, name(3), name(8), "--request-id", "r", *listed)["release"] == 2
    with psycopg.connect(database) as connection:  # what pg_restore --clean does
        connection.execute("TRUNCATE people")
    fill(database, people())
    assert main(["publish", folder, "--force", *listed]) == 2
    said = capsys.readouterr().err
    assert "2 rows there have ids that were erased before" in said
    assert "identifier-token" not in said
    assert "--reapply" in said
    told = as_json("delete", folder, "--reapply", "--request-id", "again", *listed)
    assert (told["release"], told["counts"]["deleted"]) == (3, 2)
    assert statement(database, "SELECT FROM people WHERE id = ANY(%s)", [name(3), name(8)]) == 0
    assert as_json("publish", folder, "--force", *listed)["release"] == 4


def test_what_is_asked_of_a_wrong_source_is_told_in_the_servers_words(database: str, tmp_path: Path) -> None:
    run(database, "CREATE SCHEMA crm", "CREATE TABLE crm.elsewhere AS SELECT * FROM people")
    for address, facts, said in (
        (database.replace("test_", "no_"), {"table": "people"}, 'database "no_.*" does not exist'),
        (database.replace("postgres@", "nobody@"), {"table": "people"}, 'role "nobody" does not exist'),
        (database, {"table": "elsewhere"}, r'relation "elsewhere" does not exist\. .*--table schema\.table'),
        (database, {"table": "people", "id": "nosuch"}, "no column 'nosuch' for --id; there are: id, person, a"),
        (database, {"table": "people", "query": "SELECT a, y FROM people"}, "no column 'id' for --id"),
        (database, {"table": "people", "subject": "nosuch"}, "no column 'nosuch' for --subject"),
    ):
        with pytest.raises((SourceError, InvalidParameter), match=said):
            source_at(address, **{"id": "id", **facts}).check()
    with pytest.raises(InvalidParameter, match="must not hold a password"):
        source_at(f"{database}&sslpassword=secret", id="id", table="people")


def test_settings_of_a_session_are_its_own(database: str) -> None:
    run(database, "CREATE ROLE settled LOGIN SUPERUSER")
    try:
        for setting in ("DateStyle = 'German'", "TimeZone = 'Asia/Tokyo'", "extra_float_digits = 0"):
            run(database, f"ALTER ROLE settled SET {setting}")
        source = source_at(
            database.replace("postgres@", "settled@"), id="id", query="SELECT now() AS id, 0.1::float8 + 0.2 AS x"
        )
        assert next(iter(source.every(["x"]))).columns["x"] == ["0.30000000000000004"]
        (found,) = source.names("id")
        assert found[4] == "-", "ISO"
        assert found.endswith("+00"), "UTC"
    finally:
        run(database, "DROP ROLE settled")


def test_a_lock_of_somebody_else_ends_in_an_answer(database: str, tmp_path: Path) -> None:
    import psycopg

    address = f"{database}&options=-c%20lock_timeout%3D200ms"
    with store_over(address, tmp_path / "store", table="people") as store:
        with psycopg.connect(database) as other:
            other.execute("LOCK TABLE people IN ACCESS EXCLUSIVE MODE")
            with pytest.raises(SourceError, match=r"lock timeout.*Another session holds a lock there"):
                store.serve(EditRequest.delete([name(3)], request_id="r"))
        assert store.serve(EditRequest.delete([name(3)], request_id="r")).release == 2
    with source_at(database, id="id", table="people").connected() as connection:
        limits = [connection.execute(f"SHOW {name}_timeout").fetchone() for name in ("lock", "statement")]  # type: ignore[arg-type]
    assert limits == [("10s",), ("10min",)]


def test_a_map_other_than_the_plans_is_noticed(database: str, tmp_path: Path) -> None:
    """The plan was made for the rows of another map: nothing is founded over them."""
    source = source_at(database, id="id", table="people")
    mapped = plan().of_map("0" * 64)
    with pytest.raises(InvalidParameter, match="public map"):
        Store.create_over(tmp_path / "store", source, SCHEMA, mapped)
    assert not (tmp_path / "store").exists()
    with store_over(database, tmp_path / "store", table="people") as store:
        with pytest.raises(InvalidParameter, match="public map"):
            store.relearn(mapped)
        with pytest.raises(InvalidParameter, match="rows of one person"):
            store.relearn(plan(rows_per_subject=2))
        assert store.ledger.releases == 1
