"""One request to several databases whose keys are of other types, and rows that a database keeps: nothing stops the queue."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("noisygd_delete_server", reason="noisygd-delete-server is not installed")

from noisygd_delete_sources import source_at

from noisygd_delete.errors import SourceError
from noisygd_delete.store import Tombstones, status
from tests.sources.conftest import database, learned, name, server, statement, tmp_path

from .conftest import opened

__all__ = ["database", "opened", "server", "tmp_path"]  # fixtures
pytestmark = pytest.mark.filterwarnings("ignore")


def test_names_that_a_key_cannot_hold_and_rows_that_a_database_keeps(database: str, tmp_path: Path, opened) -> None:
    known = "9b2f0c1e-2d3a-4b5c-8d7e-0123456789ab"
    for made in (
        "CREATE TABLE numbered AS SELECT row_number() OVER () AS id, a, b, c, y FROM people",
        "CREATE TABLE unique_ones AS SELECT gen_random_uuid() AS id, a, b, c, y FROM people",
        "ALTER TABLE numbered ADD PRIMARY KEY (id)",
        "ALTER TABLE unique_ones ADD PRIMARY KEY (id)",
        f"INSERT INTO unique_ones VALUES ('{known}', 0, 1, 'x', 'no')",
        "INSERT INTO people VALUES ('17', 'p', 0, 1, 'x', 'no')",
        "CREATE TABLE orders (who bigint REFERENCES numbered (id) DEFERRABLE INITIALLY DEFERRED)",
        "INSERT INTO orders VALUES (5)",
    ):
        statement(database, made)
    stores = []
    for table in ("numbered", "unique_ones", "people"):
        stores.append(tmp_path / table)
        learned(stores[-1], source_at(database, id="id", table=table)).close()
    desk = opened(*stores, batch=1)
    asked = {
        "both": ["17"],
        "upper": [known.upper()],
        "text": [name(3)],
        "huge": ["9" * 26],
        "odd": ["no-such\u0000thing", "17 "],
        "kept": ["5"],
        "after": ["6"],
    }
    codes = {token: desk.ask(delete=ids, request_id=token).status_code for token, ids in asked.items()}
    assert {token for token, code in codes.items() if code == 202} >= set(asked) - {"odd"}
    for _ in range(3):
        desk.turn()
    states = {token: desk.look(token).json().get("state") for token in asked if codes[token] == 202}
    refused = {token for token, state in states.items() if state != "published"}
    assert refused <= {"huge", "odd", "kept"}
    assert {"huge", "kept"} <= refused
    assert desk.service.writer.trouble is None
    assert statement(database, "SELECT FROM numbered WHERE id IN (6, 17)") == 0
    assert statement(database, "SELECT FROM people WHERE id IN (%s, '17')", name(3)) == 0
    assert statement(database, "SELECT FROM unique_ones WHERE id = %s", known) == 0
    assert statement(database, "SELECT FROM numbered WHERE id = 5") == 1
    assert [status(path)["pending_edits"] for path in stores] == [0, 0, 0]


def test_a_row_that_is_written_again_is_met_in_every_later_release(database: str, tmp_path: Path, opened) -> None:
    """The service forgets ids; with a list of erased ones it goes on looking, and says so until somebody erases the row again."""
    learned(tmp_path / "people", source_at(database, id="id", table="people")).close()
    listed = Tombstones.create(tmp_path / "list", tmp_path / "key")
    desk = opened(tmp_path / "people", batch=2, tombstones=listed)
    statement(database, "CREATE TABLE kept AS SELECT * FROM people")
    assert desk.ask(delete=[name(3)], request_id="one").status_code == 202
    desk.turn()
    statement(database, "INSERT INTO people SELECT * FROM kept WHERE id = %s", name(3))
    assert desk.ask(delete=[name(4)], request_id="two").status_code == 202
    for _ in range(3):
        with pytest.raises(SourceError, match="erased before"):
            desk.turn()
        assert desk.state("one") == "pending"
    statement(database, "DELETE FROM people WHERE id = %s", name(3))
    desk.turn()
    assert {desk.state(token) for token in ("one", "two")} == {"published"}
