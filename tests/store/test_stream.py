"""A stream of requests against a store: resumable after any crash, one release per batch, nothing charged twice."""

from __future__ import annotations

import errno
import io
import json
import os
import subprocess
import sys
import time

import numpy as np
import pytest

from noisygd_delete import EditRequest
from noisygd_delete.cli import main
from noisygd_delete.curator.stream import Batching, NonAdaptive, interact
from noisygd_delete.curator.stream.parsing import from_json
from noisygd_delete.errors import InvalidRequest
from noisygd_delete.records import limited_io
from noisygd_delete.store import Store, status

from .conftest import ROWS, SCHEMA, Crash, CrashAt, contents, made, name, person, plan, records, row

REQUESTS = [EditRequest.delete([name(k)], request_id=f"token-{k}") for k in range(5)]
LINES = [json.dumps({"request_id": f"token-{k}", "delete": [name(k)]}) for k in range(5)]


def as_row(k: int, **more) -> dict:
    return {**dict(zip("abc", map(float, row(k)), strict=True)), "y": "yes", **more}


def test_the_disk_and_the_memory_curator_serve_a_stream_alike(path) -> None:
    with Store.open(path) as store:
        report = interact(store, NonAdaptive(REQUESTS), Batching(size=2))
    assert [entry.edits for entry in report.publications] == [2, 2, 1]
    assert (report.served, report.repeated, report.refused) == (5, 0, ())
    assert report.steps == 3 * plan().calibration.delete_steps
    assert report.erased.gdp < report.everything.gdp


def test_a_stream_resumes_after_a_crash_anywhere(path, tmp_path) -> None:
    """Killed at every announced change of the disk in turn; the same file is then served to its end."""
    import shutil

    counter = CrashAt()
    shutil.copytree(path, tmp_path / "dry")
    with Store.open(tmp_path / "dry", disk=counter) as store:
        interact(store, NonAdaptive(REQUESTS), Batching(size=2))
    for point in range(0, len(counter.points), 5):
        copy = tmp_path / f"crash-{point}"
        shutil.copytree(path, copy)
        with pytest.raises(Crash), Store.open(copy, disk=CrashAt(point)) as store:
            interact(store, NonAdaptive(REQUESTS), Batching(size=2))
        with Store.open(copy) as store:
            report = interact(store, NonAdaptive(REQUESTS), Batching(size=2))
            assert report.served + report.repeated == 5
            assert not report.refused
            assert store.pending_edits == 0
            edits = [event.edits for event in store.accountant.events[1:]]
            assert sum(edits) == 5
            assert max(edits) == 2
            assert set(store.records.ids) == {name(k) for k in range(5, ROWS)}


def test_the_command_on_json_lines(path, tmp_path, as_json, printed) -> None:
    file = tmp_path / "requests.jsonl"
    file.write_text("\n".join([*LINES[:3], "", LINES[0]]))
    answer = as_json("stream", str(path), str(file), "--batch", "2")
    assert (answer["served"], answer["repeated"], len(answer["publications"])) == (3, 1, 2)
    assert "0 requests served, 4 answered before, 0 refused; 0 releases" in printed("stream", str(path), str(file))
    assert status(path)["pending_edits"] == 0


def test_the_command_on_csv_and_what_it_refuses(path, tmp_path, as_json, complaint) -> None:
    file = tmp_path / "requests.csv"
    file.write_text(f"request_id,id,subject\nx,{name(0)},\nx,{name(1)},\n,{name(2)},\nz,,{person(4)}\nw,absent,\n")
    answer = as_json("stream", str(path), str(file), status=2)
    assert answer["served"] == 2
    assert [entry["edits"] for entry in answer["publications"]] == [4]  # what a file holds waits together
    assert "line 4: request_id is missing" in answer["refused"][0][1]
    assert "not in the table" in answer["refused"][1][1]
    file.write_text("who\n1\n")
    assert "header" in complaint("stream", str(path), str(file))
    assert main(["stream", str(path), str(tmp_path / "absent.jsonl")]) == 2


def test_inserted_and_replaced_rows_go_through_the_schema(path, tmp_path) -> None:
    file = tmp_path / "requests.jsonl"
    new = {"request_id": "a", "insert": [as_row(20, id="fresh", person="p")], "replace": {name(3): as_row(21)}}
    file.write_text(json.dumps(new))
    assert main(["stream", str(path), str(file)]) == 0
    with Store.open(path) as store:
        assert "fresh" in store.records
        slot = store.records.ids_by_slot.index(name(3))
        np.testing.assert_allclose(store.records.features[slot], row(21), atol=1e-6)
        assert store.records.labels[slot] == 1.0


def test_a_pipe_is_served_as_it_comes_and_the_deadline_is_kept(path) -> None:
    """Nothing follows the first line, and yet its release comes in time."""
    command = [sys.executable, "-m", "noisygd_delete", "stream", str(path), "-", "--batch", "99", "--deadline", "0.3"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        process.stdin.write(LINES[0] + "\n")
        process.stdin.flush()
        wait_for(lambda: status(path)["releases"] == 2)
        process.stdin.write(LINES[1] + "\n")
        process.stdin.close()
        assert process.wait(timeout=60) == 0
    assert status(path)["releases"] == 3


def wait_for(condition, seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_the_budget_sets_the_batches_and_withholds_in_the_end(tmp_path, capsys, as_json, complaint) -> None:
    made(tmp_path / "store", releases=3)
    file = tmp_path / "requests.jsonl"
    file.write_text("\n".join(LINES[:4]))
    assert [
        entry["edits"]
        for entry in as_json("stream", str(tmp_path / "store"), str(file), "--expect", "4")["publications"]
    ] == [2, 2]
    file.write_text(LINES[4])
    assert "no publication is left" in complaint("stream", str(tmp_path / "store"), str(file), "--expect", "1")
    assert main(["stream", str(tmp_path / "store"), str(file)]) == 3
    assert "withheld" in capsys.readouterr().out
    assert main(["stream", str(tmp_path / "store"), str(file), "--batch", "9"]) == 3
    with Store.open(tmp_path / "store") as store:
        assert name(4) not in store.records


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "not a JSON object"),
        ("[]", "a request is an object"),
        ('{"request_id": "a", "erase": ["x"]}', "and nothing else"),
        ('{"delete": ["x"]}', "request_id is missing"),
        ('{"request_id": "a"}', "empty"),
        ('{"request_id": "a", "delete": "x"}', "must be a list"),
        ('{"request_id": "a", "delete": [1.5]}', "whole numbers or strings"),
        ('{"request_id": "a", "insert": {"a": 1}}', "insert is a list"),
        ('{"request_id": "a", "insert": [{"a": 1}, {"b": 1}]}', "same columns"),
        ('{"request_id": "a", "replace": {"x": {"a": 0.5, "b": 0, "c": "secret", "y": "yes"}}}', "column 'c'"),
    ],
)
def test_a_line_that_cannot_be_read_is_named_and_not_quoted(line, reason) -> None:
    with pytest.raises(InvalidRequest, match=r"^line 7: ") as caught:
        from_json(line, 7, SCHEMA)
    assert reason in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_line_that_is_not_text_is_one_refused_request(path, tmp_path, as_json) -> None:
    """Nor is one that nests too deep; what follows is served. Both formats, and an id that no file could hold."""
    file = tmp_path / "requests.jsonl"
    smuggled = json.dumps({"request_id": "u", "insert": [as_row(20, id="\ud800", person="p")]})
    bad = [b'{"request_id": "\xff", "delete": ["x"]}', b"[" * 100_000, smuggled.encode()]
    file.write_bytes(b"\n".join([*bad, LINES[0].encode()]))
    answer = as_json("stream", str(path), str(file), status=2)
    assert (answer["served"], len(answer["refused"])) == (1, 3)
    file.write_bytes(f"request_id,id\nx,\xff\ny,{name(1)}\n".encode("latin-1"))
    answer = as_json("stream", str(path), str(file), "--csv", status=2)
    assert (answer["served"], len(answer["refused"])) == (1, 1)


def test_the_audit_of_a_store_runs_its_plan_and_touches_nothing(path, as_json, complaint) -> None:
    before = contents(path)
    answer = as_json("audit", str(path), "--chains", "2000", "--seed", "1")
    assert answer["verdict"] == "pass"
    assert f"n={plan().problem.records}" in answer["notes"][0]
    assert contents(path) == before
    assert "a plan already" in complaint("audit", str(path), "--plan", "plan.toml")
    assert "needs a STORE" in complaint("audit")


BAD_LINES = {
    "a cell beyond the reader's limit": b"x," + b"9" * 200_000,
    "a line beyond every limit": b"x," + b"9" * (limited_io.LINE + 9),
    "a quote in the middle": b'x,"a"b',
    "an open quote": b'x,"a',
    "too many cells": b"x,a,b",
    "no text": b"x,\xff",
    "a zero byte": b"x,\0",
}


@pytest.mark.parametrize("piped", [False, True])
@pytest.mark.parametrize("bad", BAD_LINES)
def test_a_bad_csv_line_takes_no_other_one_with_it(path, tmp_path, monkeypatch, as_json, bad: str, piped: bool) -> None:
    """The request before it is served and published, and so is the one after it; the refusal names its line."""
    text = b"request_id,id\nA," + name(0).encode() + b"\n" + BAD_LINES[bad] + b"\nB," + name(1).encode() + b"\n"
    (tmp_path / "requests.csv").write_bytes(text)
    if piped:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
    source = "-" if piped else str(tmp_path / "requests.csv")
    answer = as_json("stream", str(path), source, "--csv", "--batch", "9", status=2)
    assert (answer["served"], len(answer["publications"]), len(answer["refused"])) == (2, 1, 1)
    assert answer["refused"][0][1].startswith("line 3: ")
    with Store.open(path) as store:
        assert (store.pending_edits, store.ledger.releases) == (0, 2)
        assert not {name(0), name(1)} & set(store.records.ids)


def test_a_reader_that_dies_ends_the_stream_and_what_waits_is_published(path, monkeypatch, as_json) -> None:
    """Standard input breaks after its first line: the lock is not held for ever, and the request is not lost."""

    class Broken(io.RawIOBase):
        told = False

        def readable(self) -> bool:
            return True

        def readinto(self, buffer) -> int:
            if self.told:
                raise OSError(errno.EIO, "the other end has gone")
            self.told = True
            line = LINES[0].encode() + b"\n"
            buffer[: len(line)] = line
            return len(line)

    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(Broken())))
    answer = as_json("stream", str(path), "-", "--batch", "9", status=2)
    assert (answer["served"], len(answer["publications"])) == (1, 1)
    assert "the other end has gone" in answer["refused"][0][1]
    with Store.open(path, wait=0) as store:
        assert store.pending_edits == 0


def test_a_refusal_names_the_line_and_no_id(path, tmp_path, as_json) -> None:
    file = tmp_path / "requests.jsonl"
    secret = {"request_id": "b", "delete": ["somebody-unknown"]}
    twice = {"request_id": "c", "insert": [as_row(9, id=name(5), person="somebody-else")]}
    file.write_text("\n".join([LINES[0], json.dumps(secret), json.dumps(twice)]))
    refused = [reason for _, reason in as_json("stream", str(path), str(file), status=2)["refused"]]
    assert [reason.split(":")[0] for reason in refused] == ["line 2", "line 3"]
    assert "somebody" not in str(refused)
    assert name(5) not in str(refused)


def test_a_burst_through_a_pipe_beside_a_budget_takes_few_of_its_releases(tmp_path, monkeypatch, as_json) -> None:
    """Requests at once with every default: before, eleven releases and a model withdrawn."""
    from noisygd_delete.planner.defaults import default_total

    limited, path = plan(total=default_total(plan())), tmp_path / "store"
    with Store.create(path, records(), SCHEMA, limited) as store:
        store.learn()
        room = store.accountant.remaining().publications
    lines = [json.dumps({"request_id": f"burst-{k}", "delete": [name(k)]}) for k in range(ROWS)]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("\n".join(lines).encode())))
    answer = as_json("stream", str(path), "-")
    assert [entry["edits"] for entry in answer["publications"]] == [ROWS]
    assert not answer["withheld"]
    assert answer["left"]["publications"] == room - 1


@pytest.mark.skipif(os.name == "nt", reason="named pipes")
def test_a_named_pipe_holds_no_store_before_somebody_writes(path, tmp_path) -> None:
    os.mkfifo(tmp_path / "requests")
    source = str(tmp_path / "requests")
    command = [sys.executable, "-m", "noisygd_delete", "stream", str(path), source, "--deadline", "9"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        for _ in range(20):  # nobody has opened it; nobody has written
            time.sleep(0.1)
            Store.open(path).close()
            assert process.poll() is None
        with (tmp_path / "requests").open("w") as pipe:
            time.sleep(1.0)
            with Store.open(path) as store:
                store.serve(EditRequest.delete([name(5)]))
            pipe.write(LINES[0] + "\n")
        assert process.wait(timeout=60) == 0
    assert status(path)["releases"] == 3
