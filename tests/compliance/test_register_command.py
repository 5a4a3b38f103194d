"""The register on the command line: from a request that comes in to one that is forgotten."""

from __future__ import annotations

import csv
import json
import shutil
from datetime import date, datetime
from pathlib import Path

import pytest
from noisygd_delete_compliance.case import RequestCase
from noisygd_delete_compliance.register import Register

from noisygd_delete.cli import main
from noisygd_delete.errors import escape_unprintable
from noisygd_delete.store import Store
from tests.cli.conftest import one_paragraph, run, typed


def test_a_request_from_its_receipt_to_its_end(folder: Path, as_json, complaint) -> None:
    Path("holidays.txt").write_text("2020-06-01\n")
    typed("register settings store --holidays holidays.txt --controller 'Example Ltd' --keep-years 1")
    typed("register receive store --request-id t --received 2020-04-30T23:30+02:00 --channel e-mail")
    first = as_json("register", "show", "store", "t")
    assert (first["due"], first["state"], first["late"]) == (
        "2020-06-02",
        "open",
        "answer overdue",
    )  # a holiday on Monday
    typed("delete store identifier-002 --request-id t --identity-checked --no-publish --publish-by 2020-06-20")
    shown = as_json("register", "list", "store")
    assert [(one["request_id"], one["state"], one["late"]) for one in shown["requests"]] == [
        ("t", "pending", "answer overdue; release overdue"),
        ("first", "published", ""),
    ]
    assert shown["overdue"] == 1
    run("publish", "store")
    run("register", "extend", "store", "t", "--until", "2020-07-30", "--reason", "complexity", "--on", "2020-05-20")
    run("register", "recipients", "store", "t", "--count", "3")
    run("register", "backups", "store", "t", "--until", "2099-12-31")
    run("certificate", "store", "--request-id", "t", "--out", "paper.json")
    paper = json.loads(Path("paper.json").read_text())
    assert paper["request"]["received"] == "2020-04-30T23:30:00+02:00"
    (deadline,) = [one for one in paper["claims"] if one["key"] == "deadline.extended"]
    assert deadline["values"]["day"] == "2020-07-30"
    assert paper["request"]["notices"]["holidays"] == ["2020-06-01"]
    assert paper["request"]["notices"]["recipients"] == 3
    assert paper["identity"]["controller"] == "Example Ltd"
    last = as_json("register", "inform", "store", "t", "--certificate", "paper.json")
    assert (last["state"], last["retain_until"], len(last["certificate"])) == (
        "answered",
        f"{date.today().year + 1}-12-31",
        64,
    )
    assert as_json("register", "prune", "store", "--dry-run")["forgotten"] == 0
    assert "t" in {one["request_id"] for one in as_json("register", "list", "store")["requests"]}
    run("register", "prune", "store", "--request-id", "t")
    assert [one["request_id"] for one in as_json("register", "list", "store")["requests"]] == ["first"]
    assert "not in the register" in complaint("certificate", "store", "--request-id", "t")
    run("verify", "store")


def test_what_is_stated_twice_must_agree(folder: Path, complaint) -> None:
    run("delete", "store", "identifier-002", "--request-id", "t", "--received", "2020-05-04T09:30+02:00")
    said = complaint("certificate", "store", "--request-id", "t", "--received", "2020-05-05T09:30+02:00")
    assert "--received 2020-05-05T09:30:00+02:00 is not what the register holds (2020-05-04T09:30:00+02:00)" in said
    run("certificate", "store", "--request-id", "t", "--received", "2020-05-04T09:30+02:00")


def test_a_token_is_made_where_none_is_given(folder: Path, as_json, printed) -> None:
    assert "(generated)" in printed("delete", "store", "identifier-002")
    tokens = [
        one["request_id"] for one in as_json("register", "list", "store")["requests"] if one["request_id"] != "first"
    ]
    assert [len(token) for token in tokens] == [32]
    run("certificate", "store", "--request-id", tokens[0])
    answer = as_json("delete", "store", "identifier-003")
    assert len(answer["request_id"]) == 32


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("refuse", "store", "first", "--ground", "17(3)(b)"), "1 records were edited"),
        (("not-found", "store", "first"), "1 records were edited"),
        (
            ("extend", "store", "open", "--until", "2099-01-01", "--reason", "complexity", "--on", "2020-05-05"),
            "three months",
        ),
        (("inform", "store", "nobody"), "not in the register"),
        (("inform", "store", "open"), "nothing was erased or decided"),
        (("inform", "store", "open", "--on", "2020-05-03"), "nothing was erased or decided"),
        (
            ("inform", "store", "first", "--on", "2020-05-05"),
            "so a person informed on 2020-05-05 did not learn what was done",
        ),
        (("inform", "store", "first", "--on", "2099-05-05"), "still to come"),
        (("acknowledge", "store", "open", "--on", "2099-05-05"), "still to come"),
        (("acknowledge", "store", "open", "--on", "2020-05-03"), "precedes"),
        (("not-found", "store", "open", "--on", "2099-05-05"), "still to come"),
        (("recipients", "store", "open", "--count", "2"), "nothing was erased, rectified or restricted"),
        (("recipients", "store", "first", "--count", "2", "--on", "2020-05-05"), "there was nothing to tell"),
        (("backups", "store", "first", "--until", "2020-05-05"), "when the rows were edited"),
        (("inform", "store", "open", "--on", "yesterday"), "must be a day"),
        (("settings", "store", "--holidays", "people.csv"), "people.csv, line 1"),
        (("settings", "store", "--contact", "a\nb"), "one line"),
        (("prune", "store", "--request-id", "nobody"), "not in the register"),
        (("list", "nowhere"), "no store"),
        (("receive", "store", "--request-id", "open", "--received", "2021-01-01T00:00Z"), "holds this request with"),
        (("receive", "store", "--request-id", "new", "--received", "2099-01-01T00:00Z"), "still to come"),
        (("delete", "store", "identifier-002", "--withdraw"), "goes with --no-publish"),
        (("delete", "store", "identifier-002", "--publish-by", "2030-01-01"), "goes with --no-publish"),
    ],
)
def test_refusals(folder: Path, complaint, arguments: tuple[str, ...], message: str) -> None:
    run("register", "receive", "store", "--request-id", "open", "--received", "2020-05-04T09:30+02:00")
    before = (folder / "store" / "register.sqlite").read_bytes()
    assert message in complaint(*([] if arguments[0] == "delete" else ["register"]), *arguments)
    assert (folder / "store" / "register.sqlite").read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("refuse", "store", "open", "--ground", "17(3)(z)"), "invalid choice"),
        (("refuse", "store", "open"), "--ground"),
        (("forget", "store"), "invalid choice"),
        ((), "required"),
    ],
)
def test_wrong_usage_is_one_paragraph(folder: Path, capsys, arguments: tuple[str, ...], message: str) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["register", *arguments])
    assert stop.value.code == 2
    assert message in one_paragraph(capsys.readouterr().err)


def test_the_old_model_stops_at_once(folder: Path, complaint, as_json) -> None:
    run("delete", "store", "identifier-002", "--no-publish", "--withdraw", "--request-id", "t")
    assert "out of service" in complaint("predict", "store", "--data", "people.csv")
    assert as_json("status", "store")["model"] == "withdrawn"
    assert as_json("register", "show", "store", "t")["withdrawn"] is not None
    run("delete", "store", "identifier-002", "--no-publish", "--withdraw", "--request-id", "t")  # sent again
    run("publish", "store")
    run("predict", "store", "--data", "people.csv")


def test_the_register_as_a_table(folder: Path, printed) -> None:
    run("register", "receive", "store", "--request-id", "open", "--received", "2020-05-04T09:30+02:00")
    run("register", "not-found", "store", "open", "--on", "2020-05-06")
    run("register", "list", "store", "--out", "register.csv")
    run("register", "list", "store", "--out", "register.csv")
    rows = list(csv.DictReader(Path("register.csv").read_text().splitlines()))
    assert [(row["request_id"], row["decision"], row["rows"]) for row in rows] == [
        ("open", "not found", ""),
        ("first", "", "1"),
    ]
    out = printed("register", "list", "store", "--open")
    assert "2 requests, 1 overdue" in out
    run("register", "list", "store", "--out", "people.csv", status=2)


def test_a_stream_states_when_its_requests_came_in(folder: Path, as_json) -> None:
    lines = [{"request_id": f"r{k}", "delete": [f"identifier-{k:03d}"]} for k in range(4, 7)]
    Path("requests.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    run("stream", "store", "requests.jsonl", "--received", "2020-05-04T09:30+02:00", "--channel", "registry")
    shown = as_json("register", "list", "store")["requests"]
    assert [(one["request_id"], one["due"], one["channel"]) for one in shown[:3]] == [
        (f"r{k}", "2020-06-04", "registry") for k in range(4, 7)
    ]


def test_a_register_of_another_time_is_told_by_whatever_reads_it(folder: Path, capsys) -> None:
    earlier = shutil.copy("store/register.sqlite", "earlier")
    run("delete", "store", "identifier-004", "--request-id", "later")
    shutil.copy(earlier, "store/register.sqlite")
    told = "restored from an earlier copy, or lost"
    for command in (["register", "list"], ["register", "show"], ["status"], ["publish"]):
        capsys.readouterr()
        main([*command[:2], "store", *(["first"] if "show" in command else [])])
        assert told in one_paragraph(capsys.readouterr().err.split("\n")[0] + "\n"), command
    run("register", "settings", "store", "--controller", "Example Ltd")
    run("register", "receive", "store", "--request-id", "later")
    capsys.readouterr()
    run("register", "list", "store")
    assert told not in capsys.readouterr().err
    run("certificate", "store", "--request-id", "later", status=2)
    assert "of 1 requests in the ledger the register holds no id" in capsys.readouterr().err
    run("register", "inform", "store", "later", status=2)
    assert "nothing was erased or decided under this id" in capsys.readouterr().err


@pytest.mark.parametrize("odd", ["z\n2026-01-01  answered", "\x1b[31mred", "z\0", "z\u202e"])
def test_a_request_id_forges_no_line_of_a_list(folder: Path, capsys, monkeypatch, odd: str) -> None:
    Path("requests.jsonl").write_text(json.dumps({"request_id": odd, "delete": ["identifier-004"]}) + "\n")
    run("stream", "store", "requests.jsonl", status=2)
    run("delete", "store", "identifier-004", "--request-id", odd, status=2)
    run("register", "receive", "store", "--request-id", odd, status=2)
    with Store.open("store") as store, monkeypatch.context() as before:
        before.setattr("noisygd_delete.store.request_log.check_token", lambda token: None)  # as an edited file holds it
        Register(store.request_log).receive({odd: RequestCase(received="2020-05-04T09:30+02:00")})
    capsys.readouterr()
    run("register", "list", "store")
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4  # the head, two requests, their number
    assert sum(escape_unprintable(odd) in line for line in lines) == 1
    assert not any(odd in line for line in lines)


def test_the_report_begins_with_what_is_late_due_and_left(folder: Path) -> None:
    run("register", "receive", "store", "--request-id", "secret-token", "--received", "2020-05-04T09:30+02:00")
    run("report", "store", "--out", "report.html")
    page = Path("report.html").read_text()
    first = page.split("An erased record:")[0]
    assert "2 in the register, 2 not closed" in first
    assert "1 overdue" in first
    assert "Next due: 4 June 2020" in first
    assert "answer overdue" in first
    assert "more publication(s) fit into the total" in first
    assert "secret-token" not in page
    run("delete", "store", "identifier-004", "--no-publish", "--withdraw")
    run("report", "store", "--out", "report.html")
    assert "because its operator took it out" in Path("report.html").read_text()


def test_a_letter_in_each_language_from_the_store(folder: Path, complaint) -> None:
    run("register", "letter", "store", "first", "--language", "de", "--out", "brief.html")
    run("register", "letter", "store", "first", "--out", "letter.html")
    assert "Ein Datensatz von Ihnen wurde am" in Path("brief.html").read_text()
    assert "Someone who kept every model" in Path("letter.html").read_text()
    with pytest.raises(SystemExit):
        main(["register", "letter", "store", "first", "--language", "fr", "--out", "x.html"])
    assert not Path("x.html").exists()
    assert "exists" in complaint("register", "letter", "store", "first", "--out", "people.csv")


def test_a_certificate_in_an_envelope_and_with_a_stamp(folder: Path, complaint, monkeypatch) -> None:
    run("keygen", "c.pem")
    monkeypatch.setattr(
        "noisygd_delete_compliance.timestamp.request_timestamp", lambda data, server: server.encode() + data[:9]
    )
    stamp = ["--timestamp-server", "http://stamps", "--timestamp", "c.tsr"]
    certify = "certificate store --request-id first --key c.pem"
    typed(f"{certify} --out c.json --envelope c.dsse.json {' '.join(stamp)}")
    assert Path("c.tsr").read_bytes() == b"http://stamps" + Path("c.json").read_bytes()[:9]
    run("verify-certificate", "c.dsse.json", "--public-key", "c.pem.pub")
    typed(f"{certify} --envelope c.dsse.json")  # in its own place
    assert "needs --key" in complaint("certificate", "store", "--request-id", "first", "--envelope", "e.json")
    assert "go together" in complaint("certificate", "store", "--request-id", "first", *stamp[:3], "d.tsr")
    assert "exists" in complaint("certificate", "store", "--request-id", "first", "--out", "c.json", *stamp)


def test_register_and_report_as_pages_in_each_language(folder: Path, printed, complaint) -> None:
    run("register", "settings", "store", "--controller", "Beispiel GmbH")
    run("register", "receive", "store", "--request-id", "t", "--received", "2020-05-04T09:30+02:00")
    assert printed("register", "list", "store", "--html", "register.html") == "wrote register.html\n"
    run("register", "list", "store", "--open", "--html", "Register.html", "--language", "de", "--page", "1")
    english, german = Path("register.html").read_text(), Path("Register.html").read_text()
    assert "Beispiel GmbH" in german
    assert "answer overdue" in english
    assert "Antwort überfällig" in german
    assert english.index("<code>t</code>") < english.index("<code>first</code>")
    run("report", "store", "--language", "de", "--out", "bericht.html")
    assert "Bericht über Löschungen" in Path("bericht.html").read_text()
    assert "page" in complaint("register", "list", "store", "--html", "x.html", "--page", "0")
    assert "exists" in complaint("register", "list", "store", "--html", "people.csv")


def test_a_receipt_that_was_confirmed_stays_due(folder: Path, as_json) -> None:
    run("register", "receive", "store", "--request-id", "t", "--received", "2020-05-04T09:30+02:00")
    seen = as_json("register", "acknowledge", "store", "t", "--on", "2020-05-05")
    assert (seen["state"], seen["late"], seen["acknowledged"]) == ("open", "answer overdue", "2020-05-05")
    assert next(one["request_id"] for one in as_json("register", "list", "store", "--open")["requests"]) == "t"
    run("register", "not-found", "store", "t")
    assert as_json("register", "inform", "store", "t")["state"] == "answered"


def test_a_person_told_before_the_edit_was_not_told_of_it(folder: Path, as_json, printed) -> None:
    """As registers of earlier versions hold it: the day stays, nothing is closed by it, and no certificate says that it was in time."""
    run("register", "receive", "store", "--request-id", "t", "--received", "2020-05-04T09:30+02:00")
    with Store.open("store") as store:
        Register(store.request_log).state("t", RequestCase(received="2020-05-04T09:30:00+02:00", informed="2020-05-20"))
    seen = as_json("register", "show", "store", "t")
    assert (seen["state"], seen["late"], seen["informed"]) == ("open", "answer overdue", "2020-05-20")
    assert "informed before anything was done, which is no answer" in printed("register", "list", "store")
    run("delete", "store", "identifier-002", "--request-id", "t", "--no-publish")
    assert as_json("register", "show", "store", "t")["state"] == "pending"
    run("certificate", "store", "--request-id", "t", "--out", "pending.json")
    pending = json.loads(Path("pending.json").read_text())
    run("publish", "store")
    run("certificate", "store", "--request-id", "t", "--out", "paper.json")
    for paper in (pending, json.loads(Path("paper.json").read_text())):
        assert paper["request"]["notices"]["informed"] is None
        assert "in-time" not in {one["key"] for one in paper["claims"]}
    assert as_json("register", "inform", "store", "t")["late"] == "informed late"


@pytest.mark.parametrize("zone", ["+14:00", "-12:00"])  # at any hour it is another day in one of them
def test_a_day_that_nobody_says_is_that_of_the_place_where_the_request_came_in(
    zone: str, folder: Path, as_json
) -> None:
    run("register", "receive", "store", "--request-id", "t", "--received", f"2020-05-04T09:30{zone}")
    run("delete", "store", "identifier-002", "--request-id", "t")
    here = datetime.now(datetime.fromisoformat(f"2020-05-04T09:30{zone}").tzinfo).date()
    assert as_json("register", "inform", "store", "t")["informed"] == here.isoformat()
    run("certificate", "store", "--request-id", "t")


def test_a_text_that_says_what_no_paper_shows_is_warned_of(folder: Path, capsys, as_json) -> None:
    texts = (
        "Anonymous scores|de-identified prices|a model that has forgotten you|GDPR-compliant|DSGVO-konform|vergessen"
    )
    for text in texts.split("|"):
        answer = as_json("register", "settings", "store", "--purposes", text, "--contact", "desk@example.org")
        (warning,) = answer["warnings"]
        assert "purposes says" in warning
        assert "no certificate shows that" in warning
    capsys.readouterr()
    run("certificate", "store", "--request-id", "first", "--controller", text)
    assert capsys.readouterr().err.count("no certificate shows that") == 2
    assert as_json("register", "settings", "store", "--purposes", "prices of homes")["warnings"] == []
