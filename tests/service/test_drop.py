"""California's deletion lists: every person found is erased once, and nothing is answered before it is so."""

from __future__ import annotations

import base64
import csv
import json
import logging
import stat
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from noisygd_delete_compliance.case import Channels
from noisygd_delete_compliance.register import Register
from noisygd_delete_compliance.request_rows import line_of
from noisygd_delete_compliance.statements import record_decision
from noisygd_delete_server.deletion_list import DeletionList
from noisygd_delete_server.drop import DropIntake
from noisygd_delete_server.drop_settings import Drop

from noisygd_delete.errors import InvalidParameter, InvalidRequest, StoreCorrupt, StoreError
from noisygd_delete.store import Store, status
from noisygd_delete.store.disk import Disk
from tests.oracles import deletion_hash as oracle
from tests.store.conftest import found

from .conftest import Desk, Opened, killed_at_every_change, make_store, name, person

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


def settings(folder: Path, text: str, identifiers: str | None = None) -> Drop:
    """The settings of this text, beside a folder for lists and the identifiers of persons."""
    (folder / "drop").mkdir(exist_ok=True)
    if identifiers is not None:
        (folder / "identifiers.csv").write_text(identifiers)
    (folder / "drop.toml").write_text(text)
    return Drop.read(folder / "drop.toml")


@pytest.fixture
def drop(tmp_path: Path) -> Drop:
    """Thirty persons; the last two have one telephone."""
    persons = [f'{person(2 * k)},{email(k)},"{phone(min(k, 28))}"' for k in range(30)]
    rows = ["subject,mail,phone", *persons, f'subject-without-rows,{email(77)},"{phone(77)}"']
    text = 'folder = "drop"\nidentifiers = "identifiers.csv"\n[lists]\nEmail = ["mail"]\nPhone = ["phone"]\n'
    return settings(tmp_path, text, "\n".join(rows) + "\n")


class Lists:
    """A service and its look-out for lists, whose turns a test takes."""

    def __init__(self, desk: Desk, drop: Drop) -> None:
        self.desk, self.drop, self.folder, self.intake = desk, drop, drop.folder, DropIntake(desk.service, drop)
        self.store = next(iter(desk.service.paths.values()))
        self.turn = self.intake.process_files

    def served(self, times: int = 1) -> None:
        """The folder is looked into before the service's turn and after it."""
        for _ in range(times):
            self.turn()
            self.desk.turn()
        self.turn()

    def put(self, kind: str, *rows: tuple[str, str], day: str = "20260312") -> str:
        named = f"{day}_4821_{kind}.csv"
        (self.folder / named).write_text(deletion_list(*rows))
        return named

    def put_removed(self, *rows: tuple[str, str], kind: str = "Email") -> Path:
        path = self.folder / "20260512_4821_Removed.csv"
        path.write_text("".join(f"{one},{digest},{kind}\n" for one, digest in rows).join(["ID,Hash,ListType\n", ""]))
        return path

    def answered(self, named: str) -> dict[str, str] | None:
        """The answers as the platform reads them."""
        path = self.folder / "answers" / named
        if not path.exists():
            return None
        header, *rows = list(csv.reader(path.read_text().splitlines()))
        assert header == ["Id", "Status"]
        return dict(rows)

    def fault_lines(self, named: str) -> list[int]:
        said = (self.folder / "answers" / f"{named}.faults").read_text()
        return [json.loads(line)["line"] for line in said.splitlines()]

    def decide(self, k: int, how: Any, **more: Any) -> None:
        token = f"drop-{item(k)}"
        with Store.open(self.store, wait=5) as held:
            Register(held.request_log).state(
                token, record_decision(line_of(self.store, token), how, datetime.now(UTC).date(), **more)
            )

    def look(self, disk: Disk) -> None:
        """One turn of an intake of its own, on this disk."""
        DropIntake(self.desk.service, self.drop, disk).process_files()

    @property
    def records(self) -> int:
        return int(status(self.store)["records"])


@pytest.fixture
def lists(store: Path, drop: Drop, opened: Opened) -> Lists:
    return Lists(opened(store, batch=1), drop)


def test_a_list_is_answered_once_the_model_without_them_is_published(store: Path, drop: Drop, opened: Opened) -> None:
    lists = Lists(opened(store, batch=3), drop)
    named = lists.put("Email", (item(1), by_email(1)), (item(2), by_email(99)), (item(3), by_email(3)))
    lists.turn()
    assert found(lists.folder, [by_email(1).encode(), person(2).encode()]) == []  # neither hashes nor names are kept
    assert [stat.S_IMODE(path.stat().st_mode) for path in lists.folder.glob("*.open")] == [0o600]
    lists.desk.turn()
    lists.turn()
    assert lists.records == 56  # both persons, two rows each
    assert status(lists.store)["releases"] == 2
    assert lists.answered(named) == {item(1): DELETED, item(2): NOT_FOUND, item(3): DELETED}
    assert [path.name for path in lists.folder.iterdir()] == ["answers"]
    case = line_of(lists.store, f"drop-{item(1)}").case
    assert case.channel is Channels.REGISTRY
    assert (case.publish_by - date.fromisoformat(case.received[:10])).days == 45


def test_nothing_is_answered_while_a_model_with_them_is_in_force(store: Path, drop: Drop, opened: Opened) -> None:
    lists = Lists(opened(store, batch=None, deadline=1e6), drop)
    named = lists.put("Email", (item(1), by_email(1)))
    for _ in range(3):
        lists.turn()
        lists.desk.turn()
    assert lists.desk.state(f"drop-{item(1)}") == "pending"
    # the person is no longer in the table, so a second list does not find them; that is not said before it is true of the model
    later = lists.put("Phone", (item(2), by_phone(1)))
    lists.turn()
    lists.turn()
    assert (lists.answered(named), lists.answered(later)) == (None, None)
    lists.desk.service.publish(None)
    lists.desk.turn()
    lists.turn()
    assert (lists.answered(named), lists.answered(later)) == ({item(1): DELETED}, {item(2): NOT_FOUND})


def test_a_person_on_two_lists_is_one_request(lists: Lists) -> None:
    names = [lists.put("Email", (item(1), by_email(4))), lists.put("Phone", (item(2), by_phone(4)))]
    lists.turn()
    assert lists.desk.service.accepted == 1
    third = lists.put("Email", (item(3), by_email(4)), day="20260313")  # before the writer had its turn
    lists.turn()
    assert lists.desk.service.accepted == 1
    lists.desk.turn()
    lists.turn()
    assert [lists.answered(one) for one in (*names, third)] == [{item(k): DELETED} for k in (1, 2, 3)]


def test_an_identifier_of_several_persons_erases_nobody_and_waits_for_a_person(lists: Lists) -> None:
    named = lists.put("Phone", *((item(k), by_phone(28)) for k in (1, 2, 3)), (item(4), by_phone(5)))
    lists.turn()
    lists.desk.turn()
    assert lists.records == 58
    asked = lists.desk.look(f"drop-{item(1)}").json()
    assert (asked["state"], asked["stores"]) == ("refused", [])
    assert "2 persons" in asked["reason"]
    lists.turn()
    assert lists.answered(named) is None
    lists.decide(1, "refused", ground="12(5)(b)")  # another refusal than an exemption has no answer
    lists.decide(2, "refused", ground="exempt")
    lists.decide(3, "not found")
    lists.turn()
    assert lists.answered(named) is None
    lists.decide(1, "opted out")
    lists.turn()
    assert lists.answered(named) == {item(1): OPTED_OUT, item(2): EXEMPT, item(3): NOT_FOUND, item(4): DELETED}


def test_bad_lines_are_told_by_their_numbers_and_the_others_are_served(
    lists: Lists, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    secret = by_email(7)
    rows = [(item(1), by_email(1)), ("short", secret), (item(2), secret[:-2]), ("x" * 300, secret), (item(1), secret)]
    named = lists.put("Email", *rows)
    lists.served()
    assert lists.answered(named) == {item(1): DELETED}
    assert lists.fault_lines(named) == [3, 4, 5, 6]
    told = (lists.folder / "answers" / f"{named}.faults").read_text() + caplog.text
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
def test_what_is_no_list_is_put_aside_and_said_once(lists: Lists, named: str, text: str, said: str) -> None:
    (lists.folder / named).write_text(text)
    lists.turn()
    lists.turn()
    assert {path.name for path in lists.folder.iterdir()} == {f"{named}.unfit", "answers"}
    assert said in json.loads((lists.folder / "answers" / f"{named}.faults").read_text())["error"]


def test_an_empty_list_needs_no_answer(lists: Lists) -> None:
    lists.put("Email")
    lists.turn()
    assert [path.name for path in lists.folder.rglob("*")] == ["answers"]


def test_the_same_list_again_costs_nothing_and_says_the_same(lists: Lists) -> None:
    rows = [(item(1), by_email(1)), (item(2), by_email(99))]
    for k in range(3):
        named = lists.put("Email", *rows)
        lists.served()
        assert lists.answered(named) == {item(1): DELETED, item(2): NOT_FOUND}
        if k == 1:
            (lists.folder / "answers" / named).unlink()  # then the ledger alone is asked
    assert (lists.desk.service.accepted, status(lists.store)["releases"]) == (1, 2)


def test_answers_changed_by_hand_are_not_taken_for_ones_own(lists: Lists) -> None:
    named = lists.put("Email", (item(1), by_email(99)))
    lists.turn()
    (lists.folder / "answers" / named).write_text(f"Id,Status\n{item(1)},7\n")
    lists.put("Email", (item(1), by_email(99)))
    with pytest.raises(InvalidRequest, match="none of this program"):
        lists.turn()
    assert (lists.folder / named).exists()


def test_killed_at_every_change_of_the_disk_each_person_is_erased_once(lists: Lists) -> None:
    emails = lists.put("Email", (item(1), by_email(1)), (item(2), by_email(2)), (item(3), by_email(99)))
    phones = lists.put("Phone", (item(4), by_phone(2)), (item(5), by_phone(28)))
    assert killed_at_every_change(lists.look) >= 10
    lists.desk.turn()
    lists.decide(5, "opted out")
    killed_at_every_change(lists.look)
    lists.turn()
    assert lists.answered(emails) == {item(1): DELETED, item(2): DELETED, item(3): NOT_FOUND}
    assert lists.answered(phones) == {item(4): DELETED, item(5): OPTED_OUT}
    assert lists.records == 56
    assert lists.desk.service.accepted == 3
    assert [path.name for path in lists.folder.iterdir()] == ["answers"]


def test_killed_while_the_writer_goes_on_each_person_is_erased_once(lists: Lists) -> None:
    emails = lists.put("Email", *((item(k), by_email(k)) for k in range(3)))
    killed_at_every_change(lists.look, lists.desk.turn)
    lists.served()
    assert lists.answered(emails) == dict.fromkeys(map(item, range(3)), DELETED)
    assert (lists.records, lists.desk.service.accepted) == (54, 3)


def test_a_full_disk_leaves_the_list_for_later(lists: Lists, monkeypatch: pytest.MonkeyPatch) -> None:
    named = lists.put("Email", (item(1), by_email(1)))
    with monkeypatch.context() as patched:
        patched.setattr(Disk, "write", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
        with pytest.raises((OSError, StoreError)):
            lists.turn()
    lists.served(2)
    assert lists.answered(named) == {item(1): DELETED}


def test_the_tables_own_names_can_be_the_identifiers(store: Path, tmp_path: Path, opened: Opened) -> None:
    drop = settings(tmp_path, 'folder = "drop"\nnames = "id"\n[lists]\nEmail = ["id"]\n')
    lists = Lists(opened(store, batch=1), drop)
    named = lists.put("Email", (item(1), oracle.hashed(name(5))))
    lists.served()
    assert lists.answered(named) == {item(1): DELETED}
    assert lists.records == 59


def test_persons_of_several_stores_are_found_in_each(tmp_path: Path, drop: Drop, opened: Opened) -> None:
    lists = Lists(
        opened(make_store(tmp_path / "people"), make_store(tmp_path / "others", rows=20, first=40), batch=1), drop
    )
    named = lists.put("Email", (item(1), by_email(1)), (item(2), by_email(25)))
    lists.served()
    assert lists.answered(named) == {item(1): DELETED, item(2): DELETED}
    assert [len(lists.desk.look(f"drop-{item(k)}").json()["stores"]) for k in (1, 2)] == [1, 2]


def test_rows_that_lie_in_a_database_are_found_there(tmp_path: Path, opened: Opened) -> None:
    pytest.importorskip("duckdb")
    from tests.sources.conftest import learned
    from tests.sources.tables import InDuckdb

    learned(tmp_path / "people", InDuckdb(tmp_path).source()).close()
    drop = settings(tmp_path, 'folder = "drop"\nnames = "id"\n[lists]\nCTVID = ["id"]\n')
    lists = Lists(opened(tmp_path / "people", batch=1), drop)
    there, nowhere = (oracle.hashed(f"identifiertoken{k:04d}") for k in (12, 9999))
    named = lists.put("CTVID", (item(1), there), (item(2), nowhere))
    lists.served()
    assert lists.answered(named) == {item(1): DELETED, item(2): NOT_FOUND}


NDZ = 'folder = "drop"\nidentifiers = "identifiers.csv"\n[lists]\nNDZ = ["first", "last", "born", "zip"]\n'


def test_identifiers_that_cannot_be_hashed_are_counted(
    store: Path, tmp_path: Path, opened: Opened, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    rows = f"subject,first,last,born,zip\n{person(0)},Иван,Петров,1985-07-04,91790\n{person(2)},,,,\n"
    lists = Lists(opened(store), settings(tmp_path, NDZ, rows))
    named = lists.put("NDZ", (item(1), by_email(1)))
    lists.turn()
    assert lists.answered(named) == {item(1): NOT_FOUND}
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
    with pytest.raises(InvalidParameter, match=said):
        settings(tmp_path, text)


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
    lists = Lists(opened(store, batch=2), drop)
    rows = [(item(k), by_email(k if k % 2 else 90)) for k in range(9)]
    emails = lists.put("Email", *rows, (item(20), by_email(3)))  # one person on two lines
    phones = lists.put("Phone", (item(30), by_phone(5)), (item(31), by_phone(28)), (item(32), by_phone(7)))
    lists.turn()
    lists.desk.turn()
    lists.decide(31, "opted out")
    lists.turn()
    assert lists.answered(emails) == {item(k): DELETED if k % 2 else NOT_FOUND for k in range(9)} | {item(20): DELETED}
    assert lists.answered(phones) == {item(30): DELETED, item(31): OPTED_OUT, item(32): DELETED}
    assert lists.desk.service.accepted == 5
    assert [path.name for path in lists.folder.iterdir()] == ["answers"]


def test_what_a_consumer_has_taken_back_is_neither_erased_nor_answered(
    lists: Lists, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    removed = lists.put_removed((item(1), by_email(1)))
    named = lists.put("Email", (item(1), by_email(1)), (item(2), by_email(2)))
    lists.served(2)
    assert lists.answered(named) == {item(2): DELETED}
    assert lists.records == 58
    assert not removed.exists()
    assert found(lists.folder, [by_email(1).encode(), base64.b64decode(by_email(1))]) == []
    assert "taken back 1 requests" in caplog.text
    assert item(1) not in caplog.text
    again = lists.put("Email", (item(1), by_email(1)), day="20260401")  # an old list, put there once more
    lists.served()
    assert (lists.answered(again), lists.records) == (None, 58)
    other = lists.put("Phone", (item(3), by_phone(1)))  # another identifier, which the person did not take back
    lists.served()
    assert (lists.answered(other), lists.records) == ({item(3): DELETED}, 56)


def test_a_list_does_not_wait_for_a_decision_about_what_was_taken_back(lists: Lists) -> None:
    named = lists.put("Phone", (item(1), by_phone(28)), (item(2), by_phone(5)))
    lists.served(2)
    assert lists.answered(named) is None  # two persons have one telephone
    lists.put_removed((item(1), by_phone(28)), kind="Phone")
    lists.turn()
    assert lists.answered(named) == {item(2): DELETED}
    assert lists.records == 58


def test_killed_at_every_change_what_was_taken_back_stays_so(lists: Lists) -> None:
    removed = lists.put_removed((item(1), by_email(1)), ("short", by_email(2)))
    named = lists.put("Email", (item(1), by_email(1)), (item(2), by_email(99)))
    assert killed_at_every_change(lists.look) >= 10
    lists.desk.turn()
    lists.turn()
    assert lists.answered(named) == {item(2): NOT_FOUND}
    assert lists.records == 60
    assert sorted(path.name for path in lists.folder.iterdir()) == ["answers", "taken_back"]
    assert lists.fault_lines(removed.name) == [3]


@pytest.mark.parametrize("ending", [".items", ".open"])
def test_a_damaged_state_is_no_answer(lists: Lists, ending: str) -> None:
    named = lists.put("Email", (item(1), by_email(1)), (item(2), by_email(2)))
    lists.turn()
    path = lists.folder / (named + ending)
    path.write_bytes(path.read_bytes().replace(b"drop-", b"drap-", 1))
    lists.desk.turn()
    with pytest.raises(StoreCorrupt, match="not what this program wrote"):
        lists.turn()
    assert lists.answered(named) is None


def test_names_are_found_by_the_letters_that_were_stated(store: Path, tmp_path: Path, opened: Opened) -> None:
    rows = f"subject,first,last,born,zip\n{person(0)},Иван,Straße,1985-07-04,91790\n"
    letters = '[letters]\n"и" = "i"\n"в" = "v"\n"а" = "a"\n"н" = "n"\n"ß" = "ss"\n'
    lists = Lists(opened(store, batch=1), settings(tmp_path, NDZ + letters, rows))
    named = lists.put("NDZ", (item(1), oracle.hashed("ivan", "strasse", "19850704", "91790")))
    lists.served(2)
    assert lists.answered(named) == {item(1): DELETED}
    assert lists.records == 58


def test_the_example_is_one(store: Path, tmp_path: Path, opened: Opened) -> None:
    text = (Path(__file__).parents[2] / "examples" / "service" / "drop.toml").read_text()
    rows = [line.removeprefix("#   ") for line in text.splitlines() if line.startswith(("#   subject,", "#   person-"))]
    identifiers = "\n".join([rows[0], rows[1].replace("person-00042", person(2))]) + "\n"
    lists = Lists(opened(store, batch=1), settings(tmp_path, text, identifiers))
    named = lists.put("Email", (item(1), "KA18MT/ph6IHYjzT9zwETySDQyvSh87YuoSBpOQtkhE="))
    lists.served()
    assert lists.answered(named) == {item(1): DELETED}
