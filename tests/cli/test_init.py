"""`init` on a newcomer's table: the draft and its questions, a dry run that refuses what the run refuses, tables without ids, people
with many rows."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from noisygd_delete.store import Store
from tests.cli.conftest import SCHEMA
from tests.cli.planned import main

PLAN = ["--method", "noisy-gd", "--regularization", "0.1", "--no-utility"]
ROWS = 40


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A table with a gap, a date and nobody's id; and a draft of its schema that somebody has confirmed without reading it."""
    monkeypatch.chdir(tmp_path)
    lines = [
        f"{k if k % 5 else ''},2013-{1 + k % 12:02d}-03,{'uvw'[k % 3]},{'yes' if k % 2 else 'no'}" for k in range(ROWS)
    ]
    (tmp_path / "people.csv").write_text("\n".join(["size,day,town,y", *lines]) + "\n")
    assert main(["init", "--data", "people.csv", "--label", "y", "--draft-schema", "draft.toml"]) == 0
    draft = (tmp_path / "draft.toml").read_text()
    (tmp_path / "schema.toml").write_text(draft.replace("confirmed = false", "confirmed = true"))
    return tmp_path


def init(*more: str) -> list[str]:
    return ["init", "store", "--data", "people.csv", "--schema", "schema.toml", *PLAN, *more]


def test_an_unconfirmed_draft_is_refused_naming_what_to_look_at(folder: Path, capsys, complaint) -> None:
    capsys.readouterr()
    said = complaint("init", "store", "--data", "people.csv", "--schema", "draft.toml")
    assert "confirmed = false" in said
    assert "To look at: y, size, day, town" in said
    assert not (folder / "store").exists()


def test_a_draft_confirmed_with_the_datas_own_ranges_warns(folder: Path, printed) -> None:
    assert "WARNING: 4 range(s) or list(s) are the data's own" in printed(*init("--dry-run"))
    assert json.loads(printed(*init("--json")))["from_data"] == ["y", "size", "day", "town"]
    with Store.open("store") as store:
        assert store.schema.from_data == ("y", "size", "day", "town"), "what was not answered stays on record"
    answered = re.sub(r"^from_data.*$", "", (folder / "schema.toml").read_text(), flags=re.MULTILINE)
    (folder / "schema.toml").write_text(answered)
    assert "WARNING" not in printed("init", "other", *init()[2:])


def test_records_without_ids_are_numbered(folder: Path, capsys, printed, complaint) -> None:
    ids = json.loads(printed(*init("--slots", "50", "--json")))["ids"]
    assert ids == {"column": None, "numbered": [1, ROWS]}
    assert main(["learn", "store"]) == main(["delete", "store", "17", "40"]) == 0
    with Store.open("store") as store:
        assert len(store.records) == 38
        assert "17" not in store.records
    (folder / "new.csv").write_text("size,day,town,y\n3,2013-05-05,u,yes\n")
    capsys.readouterr()
    assert main(["insert", "store", "--data", "new.csv"]) == main(["replace", "store", "--data", "new.csv"]) == 2
    assert capsys.readouterr().err.count("give the file a column 'record'") == 2
    (folder / "new.csv").write_text("record,size,day,town,y\n41,3,2013-05-05,u,yes\n")
    assert main(["insert", "store", "--data", "new.csv"]) == 0
    (folder / "new.csv").write_text("size,day,town,y\n3,2013-05-05,u,yes\n")
    capsys.readouterr()
    assert "no column 'record'" in complaint("insert", "store", "--data", "new.csv")


def test_persons_of_records_without_ids(folder: Path) -> None:
    _two_rows_each(folder)
    assert main(init("--subject", "who", "--rows-per-subject", "2", "--slots", "50")) == 0
    assert main(["learn", "store"]) == main(["delete", "store", "--subject", "p3"]) == 0
    with Store.open("store") as store:
        assert sorted(store.records.ids, key=int) == [str(row) for row in range(1, 41) if row not in (7, 8)]


def test_a_column_called_record_cannot_be_two_things(folder: Path, capsys, complaint) -> None:
    for name in ("people.csv", "schema.toml"):
        (folder / name).write_text((folder / name).read_text().replace("town", "record"))
    capsys.readouterr()
    assert "'record' is another column" in complaint(*init())


def _taken(folder: Path) -> None:
    (folder / "store").mkdir()
    (folder / "store" / "mine.txt").write_text("mine")


def _two_rows_each(folder: Path) -> None:
    lines = (folder / "people.csv").read_text().splitlines()
    lines = [
        f"{name},{line}" for name, line in zip(["id,who", *(f"{k},p{k // 2}" for k in range(ROWS))], lines, strict=True)
    ]
    (folder / "people.csv").write_text("\n".join(lines) + "\n")


FAULTS = {
    "something is there": (_taken, []),
    "no folder to make it in": (lambda folder: None, ["--at", "none/store"]),
    "a file": (lambda folder: (folder / "store").write_text(""), []),
    "more rows of a person than planned": (_two_rows_each, ["--id", "id", "--subject", "who"]),
    "slots": (lambda folder: None, ["--slots", "39"]),
    "label": (lambda folder: None, ["--label", "town"]),
    "a bad cell": (lambda folder: (folder / "people.csv").write_text("size,day,town,y\nx,2013-01-01,u,no\n"), []),
    "an empty label": (lambda folder: (folder / "people.csv").write_text("size,day,town,y\n1,2013-01-01,u,\n"), []),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_dry_run_refuses_what_the_run_refuses_in_the_same_words(fault: str, folder: Path, capsys, complaint) -> None:
    break_it, more = FAULTS[fault]
    break_it(folder)
    command = init(*more)
    if "--at" in command:
        command[1] = command[command.index("--at") + 1]
        del command[command.index("--at") : command.index("--at") + 2]
    capsys.readouterr()
    before = sorted(folder.rglob("*"))
    dry = complaint(*command, "--dry-run")
    assert dry == complaint(*command)
    assert sorted(folder.rglob("*")) == before


def test_the_first_rows_of_a_person_are_kept_and_the_plan_covers_them(folder: Path, complaint, printed) -> None:
    _two_rows_each(folder)
    schema = (folder / "schema.toml").read_text()
    (folder / "schema.toml").write_text(f'subject = "who"\nrows_per_subject = 1\nid = "id"\n{schema}')
    made = json.loads(printed(*init("--slots", "30", "--json")))
    assert (made["records"], made["rows_left_out"], made["beyond_rows_per_subject"]) == (20, 20, 20)
    (folder / "schema.toml").write_text(f'subject = "who"\nrows_per_subject = 2\nid = "id"\n{schema}')
    answer = json.loads(printed("init", "two", *init("--json")[2:]))
    assert (answer["records"], answer["rows_left_out"]) == (ROWS, 0)
    with Store.open("two") as store:
        assert store.plan.problem.rows_per_subject == 2
    (folder / "new.csv").write_text("id,who,size,day,town,y\n" + "a,n,3,2013-05-05,u,yes\nb,n,3,2013-05-05,u,yes\n")
    assert "1 rows of new.csv are beyond the first 1 of their person" in complaint(
        "insert", "store", "--data", "new.csv"
    )
    (folder / "schema.toml").write_text(f"rows_per_subject = 2\n{schema}")
    assert "rows_per_subject needs subject" in complaint("init", "three", *init()[2:])


def test_a_draft_can_be_tried_without_writing(folder: Path, capsys, printed) -> None:
    capsys.readouterr()
    command = ["init", "--data", "people.csv", "--label", "y", "--draft-schema", "other.toml", "--dry-run"]
    assert "would write other.toml" in printed(*command)
    assert not (folder / "other.toml").exists()


def write_people(rows: int, classes: str = '["no", "yes"]') -> None:
    """Whose label is a bump in the size, which no line has."""
    lines = [f"{k % 100},{'uv'[k % 2]},{('no', 'yes')[30 < k % 100 < 60]}" for k in range(rows)]
    Path("many.csv").write_text("\n".join(["size,town,y", *lines]) + "\n")
    columns = '[columns.size]\nbounds = [0, 99]\n[columns.town]\ncategories = ["u", "v"]\n'
    Path("many.toml").write_text(f'[label]\ncolumn = "y"\nclasses = {classes}\n{columns}')


@pytest.mark.parametrize(
    ("rows", "classes", "more", "map"),
    [
        (20_000, '["no", "yes"]', [], "additive"),
        (20_000, '["no", "yes"]', ["--map", "columns"], None),
        (
            20_000,
            '["no", "yes"]',
            ["--method", "objective-perturbation"],
            None,
        ),  # a method that was named reads what it read before
        (20_000, '["no", "yes", "perhaps"]', [], "additive"),
        (1000, '["no", "yes", "perhaps"]', [], "additive"),  # of few bins
        (1000, '["no", "yes"]', ["--dp", "1"], None),  # too few for curves
    ],
)
def test_a_table_of_numbers_gets_curves_where_its_sizes_bear_them(
    folder: Path, printed, rows: int, classes: str, more: list[str], map: str | None
) -> None:
    write_people(rows, classes)
    assert main(["init", "many", "--data", "many.csv", "--schema", "many.toml", *more]) == 0
    with Store.open("many") as store:
        found = store.schema.map
        assert (None if found is None else found.kind) == map
        assert store.plan.problem.feature_map == (None if found is None else found.digest)
    slots = "21000" if rows == 20_000 else "1050"
    told = printed("advise", "--records", slots, "--schema", "many.toml")
    if not more and rows == 20_000:
        assert ("--map additive:levels=7" in told) == (map == "additive")


def test_a_source_of_numbers_gets_curves_where_its_sizes_bear_them(folder: Path, capsys, as_json) -> None:
    duckdb = pytest.importorskip("duckdb")
    write_people(20_000)
    base = duckdb.connect("many.duckdb")
    base.execute("create table people as select row_number() over () as record, * from read_csv('many.csv')")
    base.execute("alter table people add primary key (record)")
    base.close()
    init = ["init", "many", "--source", "many.duckdb", "--table", "people", "--schema", "many.toml", "--id", "record"]
    plain = as_json(*init, "--dry-run", "--map", "columns")
    assert main(init) == main(["learn", "many"]) == 0
    with Store.open("many") as store:
        assert store.schema.map is not None
        assert store.schema.map.kind == "additive"
        assert store.plan.problem.features > plain["features"]
    assert main(["delete", "many", "17"]) == main(["evaluate", "many", "--data", "many.csv"]) == 0
    assert float(re.findall(r"right +([0-9.]+)%", capsys.readouterr().out)[0]) > 95  # a bump, which columns cannot say


def test_a_store_on_curves_takes_every_request(folder: Path, capsys) -> None:
    write_people(20_000)
    assert main(["init", "many", "--data", "many.csv", "--schema", "many.toml"]) == main(["learn", "many"]) == 0
    assert main(["delete", "many", "17"]) == main(["evaluate", "many", "--data", "many.csv"]) == 0
    told = capsys.readouterr().out
    assert float(re.findall(r"right +([0-9.]+)%", told)[0]) > 95
    Path("new.csv").write_text("record,size,town,y\nnew,45,u,yes\n")
    assert main(["insert", "many", "--data", "new.csv"]) == main(["explain", "many"]) == 0
    assert main(["export", "many", "--plain", "m.json", "--onnx", "m.onnx"]) == 0
    assert main(["publish-to", "many", f"folder:{folder / 'served'}"]) == 0
    assert (folder / "served").exists()
    assert main(["relearn", "many"]) == main(["verify", "many"]) == 0


def test_a_map_is_asked_for_in_one_word_and_named_by_the_plan(folder: Path, capsys, as_json, complaint) -> None:
    capsys.readouterr()
    assert main(init("--map", "additive")) == main(["learn", "store"]) == main(["delete", "store", "3"]) == 0
    with Store.open("store") as store:
        made = store.schema.map
        assert made is not None
        assert made.kind == "additive"
        assert store.plan.problem.feature_map == made.digest
        assert store.schema.features == made.width + 1
    assert as_json("init", "few", *init("--map", "additive:levels=3")[2:])["features"] < made.width / 4
    assert "levels" in complaint("init", "few", *init("--map", "additive:levels=99")[2:])
    with pytest.raises(SystemExit, match="2"):
        main(init("--map", "curves"))
    assert "none of auto, additive, columns" in capsys.readouterr().err
    (folder / "schema.toml").write_text((folder / "schema.toml").read_text() + '\n[map]\nkind = "bins"\n')
    capsys.readouterr()
    said = complaint("init", "other", "--data", "people.csv", "--schema", "schema.toml", "--map", "additive")
    assert "contradicts its [map], 'bins'" in said


def sizes(folder: Path) -> list[int]:
    found = list[int]()
    for file in folder.rglob("*"):
        with suppress(FileNotFoundError):
            found += [file.stat().st_size] if file.is_file() else []
    return found


def test_a_dry_run_that_is_ended_leaves_no_row_and_the_folder_as_it_was(tmp_path: Path) -> None:
    lines = [f"person-{k},{k % 20 - 10},{'yes' if k % 2 else 'no'}" for k in range(200_000)]
    (tmp_path / "people.csv").write_text("\n".join(["id,a,y", *lines, ""]))
    (tmp_path / "schema.toml").write_text(SCHEMA)
    store = tmp_path / "store"
    store.mkdir(mode=0o755)
    store.chmod(0o755)
    command = [sys.executable, "-m", "noisygd_delete", "init", str(store), "--data", str(tmp_path / "people.csv")]
    running = subprocess.Popen(
        [*command, "--schema", str(tmp_path / "schema.toml"), "--dry-run"], stderr=subprocess.DEVNULL
    )
    while not any(size > 10_000 for size in sizes(store)):
        assert running.poll() is None, "it ended before it could be ended"
        time.sleep(0.005)
    running.terminate()
    assert running.wait(60) == 130
    assert max(sizes(store), default=0) < 1000
    assert store.stat().st_mode & 0o777 == 0o755
