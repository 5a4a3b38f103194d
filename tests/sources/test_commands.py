"""The command line over rows that lie elsewhere, from `init` to the certificate; and a process that is killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from noisygd_delete.store import Store
from tests.cli.planned import main

from .conftest import ROWS, SCHEMA_FILE, name, people, statement
from .tables import in_duckdb, in_parquet
from .test_postgres import files_holding

PLAN = ("--method", "objective-perturbation", "--regularization", "0.1", "--no-utility")
ROOT = Path(__file__).parents[2]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "schema.toml").write_text(SCHEMA_FILE)
    return tmp_path


def test_from_init_to_the_certificate(folder: Path, as_json) -> None:
    made = in_duckdb(folder)
    where = ["--source", made["address"], "--table", "people", "--schema", "schema.toml"]
    told = as_json("init", "store", *where, "--dry-run", "--dp", "8")
    assert (told["created"], told["plan"]["method"]) == (False, "objective-perturbation"), (
        "what is advised is taken among those that suit"
    )
    assert as_json("init", "store", *where, *PLAN, "--slots", "240")["records"] == ROWS
    assert as_json("learn", "store")["release"] == 1
    told = as_json("delete", "store", name(3), "--dry-run")
    assert (told["counts"]["deleted"], told["publication"]) == (1, "published")
    assert main(["delete", "store", "never-there", "--dry-run"]) == 2
    told = as_json("delete", "store", name(3), "--request-id", "r")
    assert (told["release"], told["counts"]["deleted"]) == (2, 1)
    assert as_json("publish", "store", "--erased", "4", "--position", "version:1")["release"] == 3
    assert as_json("status", "store")["source"] == made["address"]
    paper = as_json("certificate", "store", "--request-id", "r", "--html", "paper.html")
    assert (paper["evidence"]["deleted_at"], paper["evidence"]["read_at"]) == ("version:1", "version:1")
    assert "version:1" in Path("paper.html").read_text()
    assert as_json("verify", "store")["passed"]
    assert main(["register", "receive", "store", "--request-id", "s5", "--received", "2026-05-04T09:30+02:00"]) == 0
    lines = [",".join(map(str, row)) for row in people()[:10]]
    Path("new.csv").write_text("\n".join(["id,person,a,b,c,y", *lines, ""]))
    told = as_json("evaluate", "store", "--data", "new.csv")
    assert told["rows_in_table"] == 9, "all but the one that was erased"
    Path("new.csv").write_text("\n".join(["a,b,c,y", *(line.split(",", 2)[2] for line in lines), ""]))
    assert as_json("evaluate", "store", "--data", "new.csv")["rows_in_table"] >= 9
    lines = [json.dumps({"request_id": f"s{k}", "delete": [name(k)]}) for k in (5, 7)]
    Path("requests.txt").write_text("\n".join(lines))
    told = as_json("stream", "store", "requests.txt", "--batch", "2")
    assert (told["served"], len(told["publications"])) == (2, 1)


def test_arguments_that_do_not_go_together(folder: Path, capsys) -> None:
    made = in_parquet(folder)["address"]
    for arguments, said in (
        (["--source", made, *PLAN, "--tombstones", "t", "--tombstone-key", "k"], "belong to a file"),
        (["--data", "people.csv", "--table", "people", *PLAN], "--table belongs to --source"),
        (
            ["--source", made, "--method", "noisy-gd:analysis=composition", "--loss", "sigmoid"],
            "plan with method 'objective-perturbation'",
        ),
        (["--source", made, "--table", "people", *PLAN], "leave --table out"),
        (["--source", "nowhere", *PLAN], "postgresql://HOST/DATABASE"),
    ):
        assert main(["init", "store", "--schema", "schema.toml", *arguments]) == 2
        assert said in capsys.readouterr().err
        assert not Path("store").exists()


@pytest.mark.parametrize("instant", ["before", "after"])
def test_a_process_killed_at_the_commit(database: str, folder: Path, instant: str) -> None:
    """A true SIGKILL, right before and right after the source's own commit."""
    where = ["--source", database, "--table", "people", "--schema", "schema.toml"]
    assert main(["init", "store", *where, *PLAN, "--slots", "240"]) == main(["learn", "store"]) == 0
    killed = (
        "import os, psycopg, sys\n"
        "from noisygd_delete.cli import main\n"
        "commit = psycopg.Connection.commit\n"
        "def die(connection):\n"
        f"    {instant == 'after'} and commit(connection)\n"
        "    os.kill(os.getpid(), 9)\n"
        "psycopg.Connection.commit = die\n"
        f"main(['delete', 'store', '{name(3)}', '--request-id', 'r'])\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "packages" / "sources")])}
    done = subprocess.run([sys.executable, "-c", killed], env=environment, capture_output=True, check=False, timeout=60)
    assert done.returncode == -signal.SIGKILL
    assert Path("store/journal/request.json").exists()
    assert files_holding(folder / "store", b"identifier-token") == [], "not even the journal names anybody"
    happened = instant == "after"
    with Store.open("store") as store:
        assert (store.ledger.position("r") is not None, store.ledger.releases) == (happened, 1 + happened)
        assert (store.recovered_release is not None) == happened
    assert statement(database, "SELECT FROM people") == ROWS - happened


@pytest.mark.parametrize("made", [in_duckdb, in_parquet])
def test_a_schema_is_drafted_off_a_source(folder: Path, capsys, made, as_json) -> None:
    facts = made(folder)
    named = ["--table", facts["table"]] if "table" in facts else []
    where = ["init", "--source", facts["address"], *named, "--label", "y", "--id", "id", "--subject", "person"]
    assert main([*where, "--draft-schema", "draft.toml"]) == 0
    text = Path("draft.toml").read_text()
    assert all(words in text for words in ('id = "id"', 'subject = "person"', "rows_per_subject = 2", '[columns."c"]'))
    assert main([*where[:-4], "--draft-schema", "again.toml"]) == 0
    assert 'id = "id"' in Path("again.toml").read_text(), "found by itself"
    (folder / "draft.toml").write_text(text.replace("confirmed = false", "confirmed = true"))
    told = as_json(
        "init",
        "store",
        *where[1:5],
        *where[7:],
        "--schema",
        "draft.toml",
        *PLAN,
        "--slots",
        "240",
        "--rows-per-subject",
        "2",
    )
    assert (told["records"], told["rows_left_out"]) == (ROWS, 0)
    wrong = [*where[1:3], *named, "--id", "nosuch", "--schema", "schema.toml"]
    assert main(["init", "other", *wrong]) == 2
    assert "no column 'nosuch' for --id; there are: id, person, a, b, c, y" in capsys.readouterr().err


def test_so_off_a_database(database: str, folder: Path) -> None:
    where = ["init", "--source", database, "--table", "people", "--label", "y", "--id", "id"]
    assert main([*where, "--draft-schema", "draft.toml"]) == 0
    assert '[columns."b"]' in Path("draft.toml").read_text()
