"""California's deletion lists: every person found is erased once, and nothing is answered before it is so."""

from __future__ import annotations

import base64
import csv
import json
import logging
import stat
from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from noisygd_delete_server.deletion_list import DeletionList, Outcomes, answers
from noisygd_delete_server.drop import DropIntake
from noisygd_delete_server.drop_settings import Drop

from noisygd_delete.errors import InvalidParameter, InvalidRequest, StoreCorrupt, StoreError
from noisygd_delete.papers.requests import line_of
from noisygd_delete.register import Channels, decided
from noisygd_delete.store import Store, status
from noisygd_delete.store.disk import Disk
from tests.oracles import deletion_hash as oracle
from tests.store.conftest import Crash, CrashAt, found

from .conftest import Desk, Opened, make_store, name, person

DELETED, NOT_FOUND, OPTED_OUT, EXEMPT = "3", "5", "4", "2"


def item(k: int) -> str:
    return f"A7kP2xQ9{k:04d}"


def email(k: int) -> str:
    return f"Person.{k}@Example.org"


def phone(k: int) -> str:
    return f"+1 (415) 555-{k:04d}"


def by_email(k: int) -> str:
    return oracle.hashed(str(oracle.standardised("email", email(k))))


def by_phone(k: int) -> str:
    return oracle.hashed(str(oracle.standardised("phone", phone(k))))


def deletion_list(*rows: tuple[str, str]) -> str:
    return "".join(f"{one},{digest}\n" for one, digest in (("ID", "Hash"), *rows))


@pytest.fixture
def drop(tmp_path: Path) -> Drop:
    """Thirty persons; the last two have one telephone."""
    (tmp_path / "drop").mkdir()
    with (tmp_path / "identifiers.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["subject", "mail", "phone"])
        for k in range(30):
            writer.writerow([person(2 * k), email(k), phone(min(k, 28))])
        writer.writerow(["subject-without-rows", email(77), phone(77)])
    text = 'folder = "drop"\nidentifiers = "identifiers.csv"\n[lists]\nEmail = ["mail"]\nPhone = ["phone"]\n'
    (tmp_path / "drop.toml").write_text(text)
    return Drop.read(tmp_path / "drop.toml")


def put(drop: Drop, kind: str, *rows: tuple[str, str], day: str = "20260312") -> str:
    named = f"{day}_4821_{kind}.csv"
    (drop.folder / named).write_text(deletion_list(*rows))
    return named


def answered(drop: Drop, named: str) -> dict[str, str] | None:
    """The answers as the platform reads them."""
    path = drop.folder / "answers" / named
    if not path.exists():
        return None
    header, *rows = list(csv.reader(path.read_text().splitlines()))
    assert header == ["Id", "Status"]
    return dict(rows)


def decide(store: Path, token: str, how: Any, **more: Any) -> None:
    with Store.open(store, wait=5) as held:
        held.register.state(token, decided(line_of(store, token), how, datetime.now(UTC).date(), **more))


def killed_at_every_change(desk: Desk, drop: Drop, then: Callable[[], object] = lambda: None) -> int:
    """Looks into the folder, each killed one change of the disk later than the one before, until one ends; how many were killed."""
    for at in range(1000):
        try:
            DropIntake(desk.service, drop, CrashAt(at)).turn()
            return at
        except Crash:
            then()
    pytest.fail("no look ended")


def test_a_list_is_answered_once_the_model_without_them_is_published(store: Path, drop: Drop, opened: Opened) -> None:
    desk = opened(store, batch=3)
    intake = DropIntake(desk.service, drop)
    named = put(drop, "Email", (item(1), by_email(1)), (item(2), by_email(99)), (item(3), by_email(3)))
    intake.turn()
    assert found(drop.folder, [by_email(1).encode(), person(2).encode()]) == []  # neither hashes nor names are kept
    assert [stat.S_IMODE(path.stat().st_mode) for path in drop.folder.glob("*.open")] == [0o600]
    desk.turn()
    intake.turn()
    assert status(store)["records"] == 56  # both persons, two rows each
    assert status(store)["releases"] == 2
    assert answered(drop, named) == {item(1): DELETED, item(2): NOT_FOUND, item(3): DELETED}
    assert [path.name for path in drop.folder.iterdir()] == ["answers"]


def test_nothing_is_answered_while_a_model_with_them_is_in_force(store: Path, drop: Drop, opened: Opened) -> None:
    desk = opened(store, batch=None, deadline=1e6)
    intake = DropIntake(desk.service, drop)
    named = put(drop, "Email", (item(1), by_email(1)))
    for _ in range(3):
        intake.turn()
        desk.turn()
    assert desk.look(f"drop-{item(1)}").json()["state"] == "pending"
    # the person is no longer in the table, so a second list does not find them; that is not said before it is true of the model
    later = put(drop, "Phone", (item(2), by_phone(1)))
    intake.turn()
    intake.turn()
    assert (answered(drop, named), answered(drop, later)) == (None, None)
    desk.service.publish(None)
    desk.turn()
    intake.turn()
    assert (answered(drop, named), answered(drop, later)) == ({item(1): DELETED}, {item(2): NOT_FOUND})


def too_early(desk: Desk, store: Path, drop: Drop) -> list[str]:
    """Lists that were answered while rows that they erased are not yet published without: by the ledger alone."""
    return [path.name for path in (drop.folder / "answers").iterdir() if status(store)["pending_edits"]]


def test_an_intake_that_answers_too_early_is_caught(
    store: Path, drop: Drop, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = opened(store, batch=None, deadline=1e6)
    intake = DropIntake(desk.service, drop)
    put(drop, "Email", (item(1), by_email(1)))
    intake.turn()
    desk.turn()
    intake.turn()
    assert too_early(desk, store, drop) == []
    monkeypatch.setattr(DropIntake, "_status", lambda *_: Outcomes.DELETED)
    monkeypatch.setattr(DropIntake, "_now", lambda self: ({}, None))
    intake.turn()
    assert too_early(desk, store, drop) == ["20260312_4821_Email.csv"]


def test_a_person_on_two_lists_is_one_request(store: Path, drop: Drop, opened: Opened) -> None:
    desk = opened(store, batch=1)
    intake = DropIntake(desk.service, drop)
    names = [put(drop, "Email", (item(1), by_email(4))), put(drop, "Phone", (item(2), by_phone(4)))]
    intake.turn()
    assert desk.service.accepted == 1
    third = put(drop, "Email", (item(3), by_email(4)), day="20260313")  # before the writer had its turn
    intake.turn()
    assert desk.service.accepted == 1
    desk.turn()
    intake.turn()
    assert [answered(drop, one) for one in (*names, third)] == [{item(k): DELETED} for k in (1, 2, 3)]


def test_the_register_has_the_channel_and_the_forty_five_days(store: Path, drop: Drop, opened: Opened) -> None:
    desk = opened(store, batch=1)
    put(drop, "Email", (item(1), by_email(1)))
    DropIntake(desk.service, drop).turn()
    desk.turn()
    case = line_of(store, f"drop-{item(1)}").case
    assert case.channel is Channels.REGISTRY
    assert case.publish_by is not None
    assert case.received is not None
    assert (case.publish_by - date.fromisoformat(case.received[:10])).days == 45


def test_an_identifier_of_several_persons_erases_nobody_and_waits_for_a_person(
    store: Path, drop: Drop, opened: Opened
) -> None:
    desk = opened(store, batch=1)
    intake = DropIntake(desk.service, drop)
    named = put(drop, "Phone", *((item(k), by_phone(28)) for k in (1, 2, 3)), (item(4), by_phone(5)))
    intake.turn()
    desk.turn()
    assert status(store)["records"] == 58
    asked = desk.look(f"drop-{item(1)}").json()
    assert (asked["state"], asked["stores"]) == ("refused", [])
    assert "2 persons" in asked["reason"]
    intake.turn()
    assert answered(drop, named) is None
    decide(store, f"drop-{item(1)}", "opted out")
    decide(store, f"drop-{item(2)}", "refused", ground="exempt")
    decide(store, f"drop-{item(3)}", "not found")
    intake.turn()
    assert answered(drop, named) == {item(1): OPTED_OUT, item(2): EXEMPT, item(3): NOT_FOUND, item(4): DELETED}


def test_another_refusal_than_an_exemption_has_no_answer(store: Path, drop: Drop, opened: Opened) -> None:
    desk = opened(store, batch=1)
    intake = DropIntake(desk.service, drop)
    named = put(drop, "Phone", (item(1), by_phone(28)))
    intake.turn()
    desk.turn()
    decide(store, f"drop-{item(1)}", "refused", ground="12(5)(b)")
    intake.turn()
    assert answered(drop, named) is None


def test_bad_lines_are_told_by_their_numbers_and_the_others_are_served(
    store: Path, drop: Drop, opened: Opened, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    desk = opened(store, batch=1)
    intake = DropIntake(desk.service, drop)
    secret = by_email(7)
    rows = [(item(1), by_email(1)), ("short", secret), (item(2), secret[:-2]), ("x" * 300, secret), (item(1), secret)]
    named = put(drop, "Email", *rows)
    intake.turn()
    desk.turn()
    intake.turn()
    assert answered(drop, named) == {item(1): DELETED}
    said = (drop.folder / "answers" / f"{named}.faults").read_text()
    assert [json.loads(line)["line"] for line in said.splitlines()] == [3, 4, 5, 6]
    told = said + caplog.text
    for hidden in (secret, item(1), item(2), person(2), "Person.1", "short"):
        assert hidden not in told


@pytest.mark.parametrize(
    ("named", "text", "said"),
    [
        ("20260312_4821_Email.csv", "Id,Hash\n", "first line"),
        ("20260312_4821_Email.csv", "", "first line"),
        ("20260312_4821_Removed.csv", deletion_list(), "ListType"),
        ("people.csv", deletion_list(), "not the name"),
        ("20260312_4821_NDZ.csv", deletion_list(), "NDZ"),
    ],
)
def test_what_is_no_list_is_put_aside_and_said_once(
    store: Path, drop: Drop, opened: Opened, named: str, text: str, said: str
) -> None:
    intake = DropIntake(opened(store).service, drop)
    (drop.folder / named).write_text(text)
    intake.turn()
    intake.turn()
    assert {path.name for path in drop.folder.iterdir()} == {f"{named}.unfit", "answers"}
    assert said in json.loads((drop.folder / "answers" / f"{named}.faults").read_text())["error"]


def test_an_empty_list_needs_no_answer(store: Path, drop: Drop, opened: Opened) -> None:
    intake = DropIntake(opened(store).service, drop)
    put(drop, "Email")
    intake.turn()
    assert [path.name for path in drop.folder.rglob("*")] == ["answers"]


def test_the_same_list_again_costs_nothing_and_says_the_same(store: Path, drop: Drop, opened: Opened) -> None:
    desk = opened(store, batch=1)
    intake = DropIntake(desk.service, drop)
    rows = [(item(1), by_email(1)), (item(2), by_email(99))]
    for k in range(3):
        named = put(drop, "Email", *rows)
        intake.turn()
        desk.turn()
        intake.turn()
        assert answered(drop, named) == {item(1): DELETED, item(2): NOT_FOUND}
        if k == 1:
            (drop.folder / "answers" / named).unlink()  # then the ledger alone is asked
    assert (desk.service.accepted, status(store)["releases"]) == (1, 2)


def test_answers_changed_by_hand_are_not_taken_for_ones_own(store: Path, drop: Drop, opened: Opened) -> None:
    intake = DropIntake(opened(store).service, drop)
    named = put(drop, "Email", (item(1), by_email(99)))
    intake.turn()
    (drop.folder / "answers" / named).write_text(f"Id,Status\n{item(1)},7\n")
    put(drop, "Email", (item(1), by_email(99)))
    with pytest.raises(InvalidRequest, match="none of this program"):
        intake.turn()
    assert (drop.folder / named).exists()


def test_killed_at_every_change_of_the_disk_each_person_is_erased_once(store: Path, drop: Drop, opened: Opened) -> None:
    desk = opened(store, batch=1)
    emails = put(drop, "Email", (item(1), by_email(1)), (item(2), by_email(2)), (item(3), by_email(99)))
    phones = put(drop, "Phone", (item(4), by_phone(2)), (item(5), by_phone(28)))
    assert killed_at_every_change(desk, drop) >= 10
    desk.turn()
    decide(store, f"drop-{item(5)}", "opted out")
    intake = DropIntake(desk.service, drop)
    killed_at_every_change(desk, drop)
    intake.turn()
    assert answered(drop, emails) == {item(1): DELETED, item(2): DELETED, item(3): NOT_FOUND}
    assert answered(drop, phones) == {item(4): DELETED, item(5): OPTED_OUT}
    assert status(store)["records"] == 56
    assert desk.service.accepted == 3
    assert [path.name for path in drop.folder.iterdir()] == ["answers"]


def test_killed_while_the_writer_goes_on_each_person_is_erased_once(store: Path, drop: Drop, opened: Opened) -> None:
    desk = opened(store, batch=1)
    emails = put(drop, "Email", *((item(k), by_email(k)) for k in range(3)))
    killed_at_every_change(desk, drop, desk.turn)
    DropIntake(desk.service, drop).turn()
    desk.turn()
    DropIntake(desk.service, drop).turn()
    assert answered(drop, emails) == dict.fromkeys(map(item, range(3)), DELETED)
    assert (status(store)["records"], desk.service.accepted) == (54, 3)


def test_a_full_disk_leaves_the_list_for_later(
    store: Path, drop: Drop, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = opened(store, batch=1)
    named = put(drop, "Email", (item(1), by_email(1)))
    intake = DropIntake(desk.service, drop)
    with monkeypatch.context() as patched:
        patched.setattr(Disk, "write", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
        with pytest.raises((OSError, StoreError)):
            intake.turn()
    for _ in range(2):
        intake.turn()
        desk.turn()
    intake.turn()
    assert answered(drop, named) == {item(1): DELETED}


def test_the_tables_own_names_can_be_the_identifiers(tmp_path: Path, opened: Opened) -> None:
    store = make_store(tmp_path / "people")
    (tmp_path / "drop").mkdir()
    (tmp_path / "drop.toml").write_text('folder = "drop"\nnames = "id"\n[lists]\nEmail = ["id"]\n')
    drop = Drop.read(tmp_path / "drop.toml")
    desk = opened(store, batch=1)
    intake = DropIntake(desk.service, drop)
    named = put(drop, "Email", (item(1), oracle.hashed(name(5))))
    intake.turn()
    desk.turn()
    intake.turn()
    assert answered(drop, named) == {item(1): DELETED}
    assert status(store)["records"] == 59


def test_persons_of_several_stores_are_found_in_each(tmp_path: Path, drop: Drop, opened: Opened) -> None:
    desk = opened(make_store(tmp_path / "people"), make_store(tmp_path / "others", rows=20, first=40), batch=1)
    intake = DropIntake(desk.service, drop)
    named = put(drop, "Email", (item(1), by_email(1)), (item(2), by_email(25)))
    intake.turn()
    desk.turn()
    intake.turn()
    assert answered(drop, named) == {item(1): DELETED, item(2): DELETED}
    assert [len(desk.look(f"drop-{item(k)}").json()["stores"]) for k in (1, 2)] == [1, 2]


def test_rows_that_lie_in_a_database_are_found_there(tmp_path: Path, opened: Opened) -> None:
    duckdb = pytest.importorskip("duckdb")
    from noisygd_delete.store.sources import source_at
    from tests.store.sources.conftest import SCHEMA, plan

    with duckdb.connect(str(tmp_path / "people.duckdb")) as connection:
        connection.execute("CREATE TABLE people (id text PRIMARY KEY, a double, b double, c text, y text)")
        connection.executemany(
            "INSERT INTO people VALUES (?, ?, ?, ?, ?)",
            [[f"number-{k}", 0.1 * (k % 5), 1.0 * (k % 7), "xz"[k % 2], ("no", "yes")[k % 3 == 0]] for k in range(30)],
        )
    source = source_at(str(tmp_path / "people.duckdb"), id="id", table="people")
    with Store.create_over(tmp_path / "people", source, SCHEMA, plan(slots=30)) as made:
        made.learn()
    (tmp_path / "drop").mkdir()
    (tmp_path / "drop.toml").write_text('folder = "drop"\nnames = "id"\n[lists]\nCTVID = ["id"]\n')
    drop = Drop.read(tmp_path / "drop.toml")
    desk = opened(tmp_path / "people", batch=1)
    intake = DropIntake(desk.service, drop)
    named = put(drop, "CTVID", (item(1), oracle.hashed("number12")), (item(2), oracle.hashed("number99")))
    intake.turn()
    desk.turn()
    intake.turn()
    assert answered(drop, named) == {item(1): DELETED, item(2): NOT_FOUND}


def test_identifiers_that_cannot_be_hashed_are_counted(
    store: Path, tmp_path: Path, opened: Opened, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    (tmp_path / "drop").mkdir()
    rows = f"subject,first,last,born,zip\n{person(0)},Иван,Петров,1985-07-04,91790\n{person(2)},,,,\n"
    (tmp_path / "identifiers.csv").write_text(rows)
    text = 'folder = "drop"\nidentifiers = "identifiers.csv"\n[lists]\nNDZ = ["first", "last", "born", "zip"]\n'
    (tmp_path / "drop.toml").write_text(text)
    drop = Drop.read(tmp_path / "drop.toml")
    intake = DropIntake(opened(store).service, drop)
    named = put(drop, "NDZ", (item(1), by_email(1)))
    intake.turn()
    assert answered(drop, named) == {item(1): NOT_FOUND}
    assert "1 rows of identifiers could not be hashed" in caplog.text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "'lists' is missing"),
        ('folder = "drop"', "'lists' is missing"),
        ('[lists]\nEmail = ["subject"]', "'folder' is missing"),
        ('folder = "drop"\n[lists]\nEmail = ["mail"]', "own names"),
        ('folder = "drop"\n[lists]\nPost = ["subject"]', "not one of"),
        ('folder = "drop"\n[lists]\nEmail = "subject"', "list of columns"),
        ('folder = "drop"\nidentifiers = "identifiers.csv"\n[lists]\nNDZ = ["mail"]', "hashes 4 columns"),
        ('folder = "drop"\nidentifiers = "identifiers.csv"\n[lists]\nEmail = ["e-mail"]', "no column"),
        ('folder = "drop"\nidentifiers = "absent.csv"\n[lists]\nEmail = ["mail"]', "cannot be read"),
        ('folder = "drop"\nnames = "person"\n[lists]\nEmail = ["person"]', "names is"),
        ('folder = "drop"\nzone = "here"\n[lists]\nEmail = ["subject"]', "nothing else"),
        ('folder = "drop"\nfolder', "drop.toml"),
        ('folder = "drop"\n[lists]\nEmail = ["subject"]\n[letters]\n"Ж" = "zh"', "lower case"),
        ('folder = "drop"\n[lists]\nEmail = ["subject"]\n[letters]\n"ж" = 7', "drop.toml"),
    ],
)
def test_a_file_that_does_not_say_enough_is_refused(drop: Drop, tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "drop.toml").write_text(text)
    with pytest.raises(InvalidParameter, match=said):
        Drop.read(tmp_path / "drop.toml")


def test_a_list_has_bounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("noisygd_delete_server.deletion_list.MOST", 3)
    path = tmp_path / "20260312_4821_Email.csv"
    path.write_text(deletion_list(*((item(k), by_email(k)) for k in range(3))))
    assert [len(block) for block in DeletionList.read(path).blocks()] == [3]
    path.write_text(deletion_list(*((item(k), by_email(k)) for k in range(4))))
    with pytest.raises(InvalidRequest, match="split it"):
        DeletionList.read(path)


def test_a_list_is_read_in_blocks_and_each_id_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("noisygd_delete_server.deletion_list.BLOCK", 4)
    path = tmp_path / "20260312_4821_Email.csv"
    rows = [(item(k), by_email(k)) for k in range(10)]
    path.write_text(
        deletion_list(*rows, (item(0), by_email(99)), (item(1), by_email(1)), ("short", ""), (item(0), by_email(0)))
    )
    found = DeletionList.read(path)
    blocks = list(found.blocks())
    assert [len(block) for block in blocks] == [4, 4, 2]
    assert {one: base64.b64encode(digest).decode() for block in blocks for one, digest in block.items()} == dict(rows)
    assert list(found.faults) == [12, 14]  # another hash for one ID; no line


def test_blocks_change_nothing_of_the_answers(
    store: Path, drop: Drop, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("deletion_list", "drop"):
        monkeypatch.setattr(f"noisygd_delete_server.{module}.BLOCK", 2)
    desk = opened(store, batch=2)
    intake = DropIntake(desk.service, drop)
    rows = [(item(k), by_email(k if k % 2 else 90)) for k in range(9)]
    emails = put(drop, "Email", *rows, (item(20), by_email(3)))  # one person on two lines
    phones = put(drop, "Phone", (item(30), by_phone(5)), (item(31), by_phone(28)), (item(32), by_phone(7)))
    intake.turn()
    desk.turn()
    decide(store, f"drop-{item(31)}", "opted out")
    intake.turn()
    assert answered(drop, emails) == {item(k): DELETED if k % 2 else NOT_FOUND for k in range(9)} | {item(20): DELETED}
    assert answered(drop, phones) == {item(30): DELETED, item(31): OPTED_OUT, item(32): DELETED}
    assert desk.service.accepted == 5
    assert [path.name for path in drop.folder.iterdir()] == ["answers"]


def put_removed(drop: Drop, *rows: tuple[str, str], kind: str = "Email") -> Path:
    path = drop.folder / "20260512_4821_Removed.csv"
    path.write_text("".join(f"{one},{digest},{kind}\n" for one, digest in rows).join(["ID,Hash,ListType\n", ""]))
    return path


def test_what_a_consumer_has_taken_back_is_neither_erased_nor_answered(
    store: Path, drop: Drop, opened: Opened, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    desk = opened(store, batch=1)
    intake = DropIntake(desk.service, drop)
    removed = put_removed(drop, (item(1), by_email(1)))
    named = put(drop, "Email", (item(1), by_email(1)), (item(2), by_email(2)))
    for _ in range(2):
        intake.turn()
        desk.turn()
    assert answered(drop, named) == {item(2): DELETED}
    assert status(store)["records"] == 58
    assert not removed.exists()
    assert found(drop.folder, [by_email(1).encode(), base64.b64decode(by_email(1))]) == []
    assert "taken back 1 requests" in caplog.text
    assert item(1) not in caplog.text
    again = put(drop, "Email", (item(1), by_email(1)), day="20260401")  # an old list, put there once more
    intake.turn()
    desk.turn()
    intake.turn()
    assert (answered(drop, again), status(store)["records"]) == (None, 58)
    other = put(drop, "Phone", (item(3), by_phone(1)))  # another identifier, which the person did not take back
    intake.turn()
    desk.turn()
    intake.turn()
    assert (answered(drop, other), status(store)["records"]) == ({item(3): DELETED}, 56)


def test_a_list_does_not_wait_for_a_decision_about_what_was_taken_back(store: Path, drop: Drop, opened: Opened) -> None:
    desk = opened(store, batch=1)
    intake = DropIntake(desk.service, drop)
    named = put(drop, "Phone", (item(1), by_phone(28)), (item(2), by_phone(5)))
    for _ in range(2):
        intake.turn()
        desk.turn()
    assert answered(drop, named) is None  # two persons have one telephone
    put_removed(drop, (item(1), by_phone(28)), kind="Phone")
    intake.turn()
    assert answered(drop, named) == {item(2): DELETED}
    assert status(store)["records"] == 58


def test_killed_at_every_change_what_was_taken_back_stays_so(store: Path, drop: Drop, opened: Opened) -> None:
    desk = opened(store, batch=1)
    removed = put_removed(drop, (item(1), by_email(1)), ("short", by_email(2)))
    named = put(drop, "Email", (item(1), by_email(1)), (item(2), by_email(99)))
    assert killed_at_every_change(desk, drop) >= 10
    desk.turn()
    DropIntake(desk.service, drop).turn()
    assert answered(drop, named) == {item(2): NOT_FOUND}
    assert status(store)["records"] == 60
    assert sorted(path.name for path in drop.folder.iterdir()) == ["answers", "taken_back"]
    said = (drop.folder / "answers" / f"{removed.name}.faults").read_text()
    assert [json.loads(line)["line"] for line in said.splitlines()] == [3]


@pytest.mark.parametrize("ending", [".items", ".open"])
def test_a_damaged_state_is_no_answer(store: Path, drop: Drop, opened: Opened, ending: str) -> None:
    desk = opened(store, batch=1)
    intake = DropIntake(desk.service, drop)
    named = put(drop, "Email", (item(1), by_email(1)), (item(2), by_email(2)))
    intake.turn()
    path = drop.folder / (named + ending)
    path.write_bytes(path.read_bytes().replace(b"drop-", b"drap-", 1))
    desk.turn()
    with pytest.raises(StoreCorrupt, match="not what this program wrote"):
        intake.turn()
    assert answered(drop, named) is None


def test_names_are_found_by_the_letters_that_were_stated(store: Path, tmp_path: Path, opened: Opened) -> None:
    (tmp_path / "drop").mkdir()
    rows = f"subject,first,last,born,zip\n{person(0)},Иван,Straße,1985-07-04,91790\n"
    (tmp_path / "identifiers.csv").write_text(rows)
    text = 'folder = "drop"\nidentifiers = "identifiers.csv"\n[lists]\nNDZ = ["first", "last", "born", "zip"]\n'
    (tmp_path / "drop.toml").write_text(text + '[letters]\n"и" = "i"\n"в" = "v"\n"а" = "a"\n"н" = "n"\n"ß" = "ss"\n')
    drop = Drop.read(tmp_path / "drop.toml")
    desk = opened(store, batch=1)
    intake = DropIntake(desk.service, drop)
    named = put(drop, "NDZ", (item(1), oracle.hashed("ivan", "strasse", "19850704", "91790")))
    for _ in range(2):
        intake.turn()
        desk.turn()
    assert answered(drop, named) == {item(1): DELETED}
    assert status(store)["records"] == 58


def test_answers_are_what_the_platform_reads() -> None:
    assert b"".join(answers([{item(1): Outcomes.DELETED}])).decode() == f"Id,Status\n{item(1)},3\n"
    assert {str(one) for one in Outcomes} == {"2", "3", "4", "5"}


def test_the_example_is_one(store: Path, tmp_path: Path, opened: Opened) -> None:
    text = (Path(__file__).parents[2] / "examples" / "service" / "drop.toml").read_text()
    (tmp_path / "drop.toml").write_text(text)
    (tmp_path / "drop").mkdir()
    rows = [line.removeprefix("#   ") for line in text.splitlines() if line.startswith(("#   subject,", "#   person-"))]
    (tmp_path / "identifiers.csv").write_text("\n".join([rows[0], rows[1].replace("person-00042", person(2))]) + "\n")
    drop = Drop.read(tmp_path / "drop.toml")
    desk = opened(store, batch=1)
    intake = DropIntake(desk.service, drop)
    named = put(drop, "Email", (item(1), "KA18MT/ph6IHYjzT9zwETySDQyvSh87YuoSBpOQtkhE="))
    intake.turn()
    desk.turn()
    intake.turn()
    assert answered(drop, named) == {item(1): DELETED}
