"""Events of Debezium or of an outbox say what an application deleted: each transaction once, and only what is really gone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from noisygd_delete_sources import source_at
from noisygd_delete_sources.events import parse_erased

from noisygd_delete.cli import main
from noisygd_delete.errors import InvalidRequest
from noisygd_delete.store import Store

from .conftest import learned, name


def event(k: int, number: int, op: str = "d", table: str = "people", whole: bool = False) -> str:
    body = {
        "op": op,
        "before": {"id": name(k), "a": 0.5, "y": "no"},
        "after": None,
        "source": {"db": "x", "schema": "public", "table": table, "txId": number, "lsn": 1},
    }
    return json.dumps({"schema": {}, "payload": body} if whole else body)


def deleted(address: str, *ks: int) -> int:
    """Rows that an application deletes in one transaction; its number."""
    import psycopg

    with psycopg.connect(address) as connection:
        connection.execute("DELETE FROM people WHERE id = ANY(%s)", [[name(k) for k in ks]])
        (number,) = connection.execute("SELECT pg_current_xact_id()::text::bigint").fetchone()
    return number


@pytest.fixture
def store(database: str, tmp_path: Path) -> Path:
    learned(tmp_path / "store", source_at(database, id="id", table="people"), watched=True).close()
    return tmp_path / "store"


def test_events_come_again_and_count_once(database: str, tmp_path: Path, store: Path, as_json) -> None:
    first = deleted(database, 3, 4)
    lines = [
        event(3, first),
        event(4, first, whole=True),
        "null",
        event(5, first, "c"),
        event(7, first, table="orders"),
        event(3, first),
    ]
    file = tmp_path / "events.jsonl"
    file.write_text("\n".join(lines) + "\n")
    told = as_json("publish", str(store), "--events", str(file))
    assert told["counts"]["deleted"] == 2
    second = deleted(database, 9)
    file.write_text("\n".join([*lines, event(9, second)]) + "\n")
    told = as_json("publish", str(store), "--events", str(file))
    assert told["counts"]["deleted"] == 1
    assert as_json("publish", str(store), "--events", str(file))["events"] == "known"
    with Store.open(store) as opened:
        assert [
            opened.ledger.edits_at(place).deleted
            for number in (first, second)
            if (place := opened.ledger.position(f"people-transaction-{number}"))
        ] == [2, 1]
        assert opened.ledger.releases == 3
    late = deleted(database, 11)
    as_json("publish", str(store))
    file.write_text(event(11, late) + "\n")
    assert as_json("publish", str(store), "--events", str(file))["events"] == "known"
    papers = as_json("certificate", str(store), "--request-id", f"people-transaction-{second}")
    assert name(9) not in json.dumps(papers)


def test_what_comes_late_is_noted_where_nothing_counted_it(database: str, tmp_path: Path, as_json) -> None:
    """A release read the rows after the deletion before anybody told of it: without a count no entry knows of it."""
    import psycopg

    store = over(database, tmp_path / "uncounted")

    def told(number: int) -> dict:
        return as_json("publish", str(store), "--events", str(written(event(number, gone[number]))))

    def written(line: str) -> Path:
        (tmp_path / "events.jsonl").write_text(line + "\n")
        return tmp_path / "events.jsonl"

    gone = {3: deleted(database, 3)}
    as_json("publish", str(store), "--force")
    assert told(3)["counts"]["deleted"] == 1
    assert as_json("certificate", str(store), "--request-id", f"people-transaction-{gone[3]}")
    gone[4] = deleted(database, 4)
    as_json("publish", str(store), "--force")
    as_json("watch", str(store))  # from here on it is counted, and what came before still is not
    as_json("publish", str(store), "--force")
    gone[5] = deleted(database, 5)
    as_json("publish", str(store))
    assert told(4)["counts"]["deleted"] == 1
    assert told(5)["events"] == "known", "the trigger counted it"
    with psycopg.connect(database) as connection:
        connection.execute("DELETE FROM people WHERE id = %s", [name(6)])
        connection.execute("INSERT INTO people SELECT 'new', person, a, b, c, y FROM people LIMIT 1")
    gone[7] = deleted(database, 7)
    assert told(7)["counts"] == {**told_of(store), "deleted": 2, "inserted": 1}


def over(database: str, folder: Path) -> Path:
    learned(folder, source_at(database, id="id", table="people")).close()
    return folder


def told_of(store: Path) -> dict:
    with Store.open(store) as opened:
        return opened.accountant.last.counts.to_dict()


def test_what_was_deleted_before_the_first_model_is_known(database: str, tmp_path: Path, as_json) -> None:
    number, store = deleted(database, 3), over(database, tmp_path / "later")
    (tmp_path / "events.jsonl").write_text(event(3, number) + "\n")
    told = as_json("publish", str(store), "--events", str(tmp_path / "events.jsonl"))
    assert told["events"] == "known"


def test_a_row_that_is_still_there_stops_it(database: str, tmp_path: Path, store: Path, capsys) -> None:
    file = tmp_path / "events.jsonl"
    file.write_text(event(3, deleted(database, 4)) + "\n")
    assert main(["publish", str(store), "--events", str(file)]) != 0
    said = capsys.readouterr().err
    assert "read there again" in said
    assert name(3) not in said
    with Store.open(store) as opened:
        assert (opened.pending_edits, opened.ledger.releases) == (0, 1)


def test_an_outbox_names_its_own_requests(database: str, tmp_path: Path, store: Path, capsys, as_json) -> None:
    number = deleted(database, 3, 4)
    file = tmp_path / "outbox.jsonl"
    file.write_text(
        json.dumps(
            {"erased": 2, "request_id": "9f2c31", "position": f"transaction:{number}", "ids": [name(3), name(4)]}
        )
        + "\n"
    )
    assert as_json("publish", str(store), "--events", str(file))["counts"]["deleted"] == 2
    file.write_text(json.dumps({"erased": 5, "request_id": "9f2c31"}) + "\n")
    assert main(["publish", str(store), "--events", str(file)]) == 2
    file.write_text(
        json.dumps({"erased": 1, "request_id": "later", "position": f"transaction:{number + 10**6}"}) + "\n"
    )
    assert main(["publish", str(store), "--events", str(file)]) == 2
    assert "has not reached" in capsys.readouterr().err


@pytest.mark.parametrize(
    "line",
    [
        "[]", "7", '"d"', "{", '{"op": "d"}', '{"erased": -1, "request_id": "a"}', '{"erased": 1}', '{"erased": 1, "request_id": 4}',
        '{"erased": 1, "request_id": "a", "position": "yesterday"}', event(1, -4), event(1, 7).replace("7", '"7"'),
        event(1, 7).replace('"id"', '"key"'), event(1, 7, "t"), '{"op": "d", "op": "c"}', "x" * (1 << 20),
    ],
)  # fmt: skip
def test_what_is_no_event_is_told_by_its_line_and_quotes_nothing(tmp_path: Path, line: str) -> None:
    file = tmp_path / "events.jsonl"
    file.write_text(event(2, 5, "u") + "\n" + line + "\n")
    with pytest.raises(InvalidRequest) as told:
        parse_erased(file, "people", "id")
    assert "identifier-token" not in str(told.value)
