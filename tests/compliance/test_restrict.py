"""Records taken out of the table for a time: used by no release, in no byte of the store, and back as they were."""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone
from pathlib import Path

import numpy as np
import pytest
from noisygd_delete_compliance import restricted_records
from noisygd_delete_compliance.register import Register

from noisygd_delete.evidence.erasure import erasure_in, ledger_of
from noisygd_delete.store import Store, verify, verify_absence
from tests.cli.conftest import SCHEMA, run

NAME = "identifier-005"
ASIDE = ("--archive-key", "aside.key")


def held(name: str) -> tuple[bytes, float] | None:
    with Store.open("store") as store:
        found = store.records.names.find([name]).tolist()
        return (store.records.features[found[0]].tobytes(), float(store.records.labels[found[0]])) if found else None


def test_out_of_the_table_and_back_as_it_was(folder: Path, as_json, printed) -> None:
    before = held(NAME)
    when = ("--request-id", "t", "--received", "2020-05-04T09:30+02:00")
    restrict = ["restrict", "store", NAME, "--to", "aside.bin", *ASIDE, *when]
    run(*restrict)
    assert held(NAME) is None
    assert verify_absence("store", [NAME]) == []
    kept = Path("aside.bin").read_bytes()
    assert NAME.encode() not in kept
    assert before[0] not in kept
    assert Path("aside.bin").stat().st_mode & 0o077 == Path("aside.key").stat().st_mode & 0o077 == 0
    assert "answered before" in printed(*restrict)
    assert Path("aside.bin").read_bytes() == kept
    shown = as_json("register", "show", "store", "t")
    here = datetime.now(timezone(timedelta(hours=2))).date().isoformat()
    assert (shown["right"], shown["restricted"], shown["lifted"]) == ("restriction", here, None)
    said = printed("certificate", "store", "--request-id", "t")
    assert "keeps the record aside" in said
    assert "was put back" not in said
    lift = ["lift", "store", "t", "--from", "aside.bin", *ASIDE, "--informed", date.today().isoformat()]
    run(*lift)
    assert held(NAME) == before
    assert "answered before" in printed(*lift)
    shown = as_json("register", "show", "store", "t")
    assert (shown["lifted"], shown["informed"]) == (here, date.today().isoformat())
    assert "the record was put back" in printed("certificate", "store", "--request-id", "t")
    with Store.open("store") as store:
        counts = [event.counts.to_dict() for event in store.accountant.events][-2:]
        assert [(one["deleted"], one["inserted"]) for one in counts] == [(1, 0), (0, 1)]  # both are charged edits
        tokens = set(Register(store.request_log).cases()) - {"first", "t"}
        assert [len(token) for token in tokens] == [32]  # of putting them back: it does not name the request
    assert verify("store").passed


def test_papers_give_no_figure_of_rows_that_came_back(folder: Path, complaint, capsys, as_json) -> None:
    """Nor do they call a model one without the rows that was made after they came back."""
    run("restrict", "store", NAME, "--to", "aside.bin", *ASIDE, "--request-id", "t", "--no-publish")
    lift = ["lift", "store", "t", "--from", "aside.bin", *ASIDE, "--informed", date.today().isoformat()]
    assert "publish first" in complaint(*lift)
    assert held(NAME) is None
    run("publish", "store")
    with Store.open("store") as store:
        release = str(store.ledger.releases)
    capsys.readouterr()

    def figures() -> set[str]:
        claims = as_json("certificate", "store", "--request-id", "t")["claims"]
        return {claim["key"] for claim in claims if "advantage" in claim["values"]}

    def letter() -> str:
        run("register", "letter", "store", "t", "--out", "letter.html")
        return Path("letter.html").read_text()

    assert "restrict" in complaint("certificate", "store", "--release", release)
    assert figures() == {"erased.later", "erased.all", "present.one", "present.all"}
    assert "times in 100" in letter()
    Path("letter.html").unlink()
    run(*lift, "--no-publish")
    assert held(NAME) is not None
    capsys.readouterr()
    assert figures() == {"present.one", "present.all"}
    stated, _, _ = erasure_in(ledger_of("store"), request_id="t")
    assert stated.notices.lifted is not None, "whoever asks in Python is told, too"
    assert "times in 100" not in letter()
    assert "restrict" in complaint("certificate", "store", "--release", release)
    with Store.open("store") as store:
        store.request_log.forget(["t"])
    assert "forgotten" in complaint("certificate", "store", "--release", release)
    assert verify("store").passed


def test_an_objection_waits_for_its_decision(folder: Path, as_json) -> None:
    run("object", "store", NAME, "--to", "aside.bin", *ASIDE, "--request-id", "t", "--no-publish", "--withdraw")
    shown = as_json("register", "show", "store", "t")
    assert (shown["right"], shown["state"]) == ("objection", "pending")
    assert shown["withdrawn"] is not None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("restrict", "store", "nobody", "--to", "new.bin", *ASIDE), "not in the table"),
        (("restrict", "store", "identifier-006", "--to", "aside.bin", *ASIDE), "of another request"),
        (("restrict", "store", "identifier-006", "--to", "people.csv", *ASIDE), "not an earlier output"),
        (("restrict", "store", "identifier-006", "--to", "store/aside.bin", *ASIDE), "inside the store"),
        (("restrict", "store", "identifier-006", "--to", "new.bin", "--archive-key", "people.csv"), "not a key"),
        (
            ("lift", "store", "t", "--from", "aside.bin", "--archive-key", "no.key", "--informed", "2026-05-20"),
            "no key",
        ),
        (("lift", "store", "first", "--from", "aside.bin", *ASIDE, "--informed", "2026-05-20"), "of another request"),
        (
            ("lift", "store", "t", "--from", "people.csv", *ASIDE, "--informed", "2026-05-20"),
            "not a file of restricted records",
        ),
        (
            (
                "lift",
                "store",
                "t",
                "--from",
                "aside.bin",
                *ASIDE,
                "--informed",
                (date.today() + timedelta(2)).isoformat(),
            ),
            "is in the future",
        ),
    ],
)
def test_refusals_change_nothing(folder: Path, complaint, arguments: tuple[str, ...], message: str) -> None:
    run("restrict", "store", NAME, "--to", "aside.bin", *ASIDE, "--request-id", "t")
    before = {path: path.read_bytes() for path in (*Path("store").rglob("*"), Path("aside.bin")) if path.is_file()}
    assert message in complaint(*arguments)
    assert {path: path.read_bytes() for path in before} == before
    assert not Path("new.bin").exists()


def test_a_kill_between_file_and_deletion_is_gone_over_again(folder: Path) -> None:
    """The file was made and the rows are still there: the same command goes on from it."""
    from noisygd_delete_compliance.restricted_records import RestrictedRecords

    from noisygd_delete import EditRequest

    with Store.open("store") as store:
        aside = RestrictedRecords.of(store.records, EditRequest.delete([NAME]))
        aside.write(Path("aside.bin").absolute(), Path("aside.key").absolute(), "t")
    kept = Path("aside.bin").read_bytes()
    run("restrict", "store", NAME, "--to", "aside.bin", *ASIDE, "--request-id", "t")
    assert Path("aside.bin").read_bytes() == kept
    assert held(NAME) is None
    again = RestrictedRecords.read(Path("aside.bin"), Path("aside.key"), "t")
    assert again.ids == (NAME,)
    np.testing.assert_array_equal(again.rows, aside.rows)


def test_more_than_could_be_read_back_is_not_kept_aside(folder: Path, complaint, monkeypatch) -> None:
    before = held(NAME)
    monkeypatch.setattr(restricted_records, "_LONGEST", 100)
    assert "restrict fewer at a time" in complaint("restrict", "store", NAME, "--to", "aside.bin", *ASIDE)
    assert held(NAME) == before
    assert not Path("aside.bin").exists()


def test_an_erasure_and_rows_kept_aside_know_of_each_other(tmp_path: Path, monkeypatch, capsys, complaint) -> None:
    """Nobody can tell whose the rows in the file are, so the command says which requests took some out, and which erased since."""
    monkeypatch.chdir(tmp_path)
    lines = [f"k{k:02d},p{k // 2},{k - 10},{'yes' if k % 2 else 'no'}" for k in range(20)]
    Path("people.csv").write_text("\n".join(["id,person,a,y", *lines, ""]))
    Path("schema.toml").write_text(SCHEMA.replace("[label]", 'subject = "person"\n[label]'))
    plan = "--method noisy-gd --regularization 0.1 --no-utility --slots 24 --rows-per-subject 2"
    run(*f"init store --data people.csv --schema schema.toml {plan}".split())
    run("learn", "store")
    run("restrict", "store", "k10", "--to", "aside.bin", *ASIDE, "--request-id", "R")
    assert "or taken out by `restrict`" in complaint("delete", "store", "k10", "--request-id", "E0")
    run("delete", "store", "--subject", "p5", "--request-id", "E")
    assert "does not reach rows restricted (`restrict`, `object`) by 'R'" in capsys.readouterr().err
    run("lift", "store", "R", "--from", "aside.bin", *ASIDE, "--informed", date.today().isoformat(), "--no-publish")
    assert "'E' requested an erasure, which did not reach them" in capsys.readouterr().err
    run(
        "delete", "store", "--subject", "p5", "--request-id", "E2"
    )  # what the words say: no model had the row in between
    assert "does not reach" not in capsys.readouterr().err
    with Store.open("store") as store:
        assert not {"k10", "k11"} & set(store.records.ids)
        assert [event.counts.inserted for event in store.accountant.events] == [0, 0, 0, 1]
