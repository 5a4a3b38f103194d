"""Generated histories of commands over small tables of every shape, with what each must leave in the table beside them.

Rows with and without ids, persons of several rows, rows without a label, every method, columns and curves; then requests of every kind,
some to be published later, some that must be refused. After each the ids, labels and persons of the store are those of the oracle, a
dictionary; no command ends in a fault; every certificate verifies; the store is sound at the end.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from noisygd_delete.features.schema import RecordFile
from noisygd_delete.records import Names
from noisygd_delete.store import Store
from tests.cli.planned import main

METHODS = (
    "objective-perturbation",
    "noisy-gd",
    "noisy-gd:exact=False",
    "output-perturbation",
    "sufficient-statistics",
    "noisy-gd:analysis=paper",
)
COLUMNS = """
[label]
column = "y"
classes = ["no", "yes"]
[columns."age"]
bounds = [0, 120]
missing = "middle"
[columns."town"]
categories = ["u", "v", "w"]
unknown = "column"
[columns."pay"]
bounds = [0, 300]
transform = "log1p"
"""
DONE, REFUSED, SPENT = 0, 2, 3
KINDS = ["delete", "person", "insert", "replace", "publish", "relearn", "restrict", "lift", "stream", "paper", "bad"]


class History:
    """One store and its oracle: `table` has the row of each id that must be there."""

    def __init__(self, seed: int, capsys: pytest.CaptureFixture[str]) -> None:
        self.random, self.capsys, self.said = random.Random(seed), capsys, list[str]()
        pick = self.random.choice
        self.rows, self.named, self.persons, self.most = pick([60, 300]), pick([0, 1]), pick([0, 1]), pick([1, 2, 4])
        self.header = [*["rid"] * self.named, *["who"] * self.persons, "age", "town", "pay", "y"]
        self.table, self.aside = dict[str, dict[str, str]](), dict[str, tuple[str, dict[str, str]]]()
        unlabelled, of_person = pick([0.0, 0.05]), Counter[str]()
        given = [self.row(number, unlabelled) for number in range(1, self.rows + 1)]
        for number, row in enumerate(given, 1):
            of_person[row["who"]] += bool(row["y"])
            if row["y"] and (not self.persons or of_person[row["who"]] <= self.most):
                self.table[row["rid"] if self.named else str(number)] = row
        write("t.csv", self.header, given)

    def row(self, number: int, unlabelled: float = 0.0) -> dict[str, str]:
        draw = self.random
        return {
            "rid": f"R{number}",
            "record": f"N{number}",
            "who": f"P{draw.randrange(self.rows // 3)}",
            "age": "" if draw.random() < 0.03 else str(draw.randrange(100)),
            "town": draw.choice(["u", "v", "w", "zz"]),
            "pay": f"{draw.lognormvariate(3, 1):.2f}",
            "y": "" if draw.random() < unlabelled else draw.choice(["yes", "no"]),
        }

    def do(self, *arguments: object) -> int:
        """A command's status; fails on any but those that commands have."""
        status = main([str(argument) for argument in arguments])
        told = self.capsys.readouterr()
        self.said.append(f"$ {' '.join(map(str, arguments))}\n{told.out}{told.err}")
        assert "fault of this program" not in told.err, self.text()
        assert status in (DONE, 1, REFUSED, SPENT), self.text()
        return status

    def text(self) -> str:
        return "\n".join(self.said)

    def plan(self, file: str) -> None:
        """A method and a budget for it that the coins choose."""
        pick = self.random.choice
        method, wide = pick(METHODS), pick([8.0, 50.0])
        lines = [f'method = "{method}"', f"regularization = {pick([0.03, 0.1])}", f"dp = {wide}"]
        lines.append(f"deletion = {wide / 5}")
        lines += ["delta = 1e-6", f"total_epsilon = {3 * wide}", f"releases = {pick([4, 20])}"]
        if self.persons:
            lines.append(f"rows_per_subject = {self.most}")
        if method.startswith("noisy-gd") and pick([0, 0, 1]):
            lines.append('deletion_notion = "pairwise"')
        lines.append(f'adjacency = "{pick(["replace", "zero-out"])}"')
        Path(file).write_text("\n".join(lines) + "\n")

    def begin(self) -> bool:
        """Whether the plan that the coins chose can be had."""
        schema = ["confirmed = true", *['id = "rid"'] * self.named]
        if self.persons:
            schema += ['subject = "who"', f"rows_per_subject = {self.most}"]
        Path("s.toml").write_text("\n".join(schema) + "\n" + COLUMNS)
        self.plan("p.toml")
        curves = self.random.choice(["columns", "additive:levels=3", "auto"])
        made = self.do("init", "st", "--data", "t.csv", "--schema", "s.toml", "--plan", "p.toml", "--map", curves)
        return made == DONE

    def check(self) -> None:
        with Store.open("st") as store:
            records = store.records
            assert {str(name) for name in records.ids} == self.table.keys(), self.text()
            for slot, name in enumerate(records.ids_by_slot):
                if name is not None:
                    row = self.table[str(name)]
                    assert (records.labels[slot] == 1) == (row["y"] == "yes"), self.text()
                    assert records.owners is None or str(records.owners[slot]) == row["who"], self.text()

    def request(self, step: int) -> None:
        draw, live = self.random, sorted(self.table)
        later = ["--no-publish"] * (draw.random() < 0.4)
        kind = draw.choice(KINDS)
        if kind == "delete":
            gone = draw.sample(live, min(len(live), draw.choice([1, 3])))
            if self.do("delete", "st", *gone, *later) != REFUSED:
                self.leave(gone)
        elif kind == "person" and self.persons:
            who = self.table[draw.choice(live)]["who"]
            if self.do("delete", "st", "--subject", who, *later) != REFUSED:
                self.leave([name for name in live if self.table[name]["who"] == who])
        elif kind == "insert":
            new = [self.row(1000 * (step + 1) + beside) for beside in range(2)]
            write("new.csv", self.header if self.named else ["record", *self.header], new)
            if self.do("insert", "st", "--data", "new.csv", *later) != REFUSED:
                self.table |= {row["rid" if self.named else "record"]: row for row in new}
        elif kind == "replace":
            name = draw.choice(live)
            row = {**self.row(0), "rid": name, "record": name, "who": self.table[name]["who"]}
            write("new.csv", self.header if self.named else ["record", *self.header], [row])
            if self.do("replace", "st", "--data", "new.csv", *later) != REFUSED:
                self.table[name] = row
        elif kind == "restrict":
            name, file = draw.choice(live), f"aside-{step}.json"
            given = ["--to", file, "--archive-key", "aside.pem", "--request-id", f"restrict-{step}"]
            if self.do("restrict", "st", name, *given, *later) != REFUSED:
                self.aside[file] = name, self.table.pop(name)
        elif kind == "lift" and self.aside:
            file = draw.choice(sorted(self.aside))
            given = ["--from", file, "--archive-key", "aside.pem", "--informed", "2026-11-25"]
            if self.do("lift", "st", file.replace("aside", "restrict")[:-5], *given, *later) != REFUSED:
                name, row = self.aside.pop(file)
                self.table[name] = row
        elif kind == "stream":
            gone = draw.sample(live, min(len(live), 3))
            lines = [json.dumps({"request_id": f"{step}-{name}", "delete": [name]}) for name in gone]
            Path("lines").write_text("\n".join([*lines, "{bad", json.dumps({"delete": ["nobody"]})]) + "\n")
            assert self.do("stream", "st", "lines", "--batch", draw.choice([1, 2])) in (REFUSED, SPENT), self.text()
            self.leave(gone)
        elif kind == "paper":
            if not Path("key").exists():
                assert self.do("keygen", "key") == DONE
            given = ["--release", draw.choice([2, 3]), "--out", f"{step}.json", "--key", "key"]
            if self.do("certificate", "st", *given) == DONE:
                assert self.do("verify-certificate", f"{step}.json", "--public-key", "key.pub") == DONE, self.text()
            assert self.do("document", "st", "--model-card", f"{step}.md") == DONE, self.text()
        elif kind == "bad":
            assert self.do("delete", "st", "nobody") == REFUSED, self.text()
        elif kind == "publish":
            self.do("publish", "st", *["--force"] * draw.choice([0, 1]))
        elif kind == "relearn":
            self.plan("other.toml")
            self.do("relearn", "st", *draw.choice([[], ["--plan", "other.toml"]]))

    def leave(self, names: list[str]) -> None:
        for name in names:
            del self.table[name]


def write(path: str, header: list[str], rows: list[dict[str, str]]) -> None:
    Path(path).write_text(
        "\n".join([",".join(header), *(",".join(row[name] for name in header) for row in rows)]) + "\n"
    )


def run(seed: int, capsys: pytest.CaptureFixture[str]) -> bool:
    history = History(seed, capsys)
    if not history.begin():
        return False
    history.check()
    assert history.do("learn", "st") == DONE, history.text()
    for step in range(history.random.choice([3, 6])):
        history.request(step)
        history.check()
    for command in ("budget", "status", "verify"):
        assert history.do(command, "st") == DONE, history.text()
    return True


@pytest.mark.parametrize("first", range(0, 24, 6))
def test_any_history_of_commands_leaves_the_rows_that_it_says(tmp_path: Path, monkeypatch, capsys, first: int) -> None:
    ran = 0
    for seed in range(first, first + 6):
        folder = tmp_path / str(seed)
        folder.mkdir()
        monkeypatch.chdir(folder)
        ran += run(seed, capsys)
    assert ran >= 3  # the others' plans cannot be had


def test_rows_with_the_names_of_others_are_seen(tmp_path: Path, monkeypatch, capsys) -> None:
    """Planted: each row of a file gets the number of the one before it."""
    monkeypatch.chdir(tmp_path)
    blocks = RecordFile.blocks

    def shifted(self, **options):
        for block in blocks(self, **options):
            names = [str(name) for name in block.ids]
            yield replace(block, ids=Names.of([*names[1:], names[0]]))

    history = next(one for seed in range(100) if not (one := History(seed, capsys)).named)
    monkeypatch.setattr(RecordFile, "blocks", shifted)
    assert any(history.begin() for _ in range(20))
    with pytest.raises(AssertionError):
        history.check()
