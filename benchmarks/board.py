"""The board: certified deletion on tables, every method in one table, from committed results and from rows of others.

A row of somebody else is a JSON file in benchmarks/board/ with the fields of `Row`; `python -m benchmarks board` writes the
page anew. A method that this repository can run is added to `compare` instead (docs/CONTRIBUTING.md, "a new baseline").
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import report
from noisygd_delete.errors import InvalidParameter
from noisygd_delete.records import limited_io

OTHERS = Path(__file__).parent / "board"
DATA = {"adult": "Adult", "mnist": "MNIST, 3 against 8", "digits": "scikit-learn's digits"}
HEAD = [
    "method",
    "accuracy",
    "deletion",
    "ε, later models",
    "ε, each earlier model",
    "two releases",
    "adaptive",
    "state",
    "source",
]


@dataclass(frozen=True)
class Row:
    """One method on one table.

    Attributes:
        data: A table of the board: adult, mnist or digits.
        regularization: λ of the mean loss, as the board prints it.
        method: Its name and version.
        accuracy_after: Accuracy on the test rows after five deletions, None if not run.
        delete_time: Time of a deletion, in plain gradient steps over the table measured in the same run; None if not run.
        deletion: ε of the deletion at the board's δ, for those who see later models alone; None if nothing is promised.
        existing: ε at the same δ of each release that used the record, which is what an earlier model shows; None if
            nothing is promised.
        two_releases: Share of right guesses which of 20 candidates was erased, from the models before and after.
        adaptive: Share of right guesses about a row erased by a requester who saw the first model.
        memory: Bytes of secret state between requests.
        source: The command and version, or the page, from which the figures can be repeated.
    """

    data: str
    regularization: str
    method: str
    accuracy_after: float | None
    delete_time: float | None
    deletion: float | None
    existing: float | None
    two_releases: float | None
    adaptive: float | None
    memory: int
    source: str

    def __post_init__(self) -> None:
        shares = (self.accuracy_after, self.two_releases, self.adaptive)
        figures = (self.delete_time, self.deletion, self.existing, self.memory)
        if self.data not in DATA or not self.method or not self.source:
            raise InvalidParameter(f"a row of the board needs a method, a source and data of {', '.join(DATA)}")
        if any(share is not None and not 0 <= share <= 1 for share in shares):
            raise InvalidParameter(f"{self.method}: accuracy and attacks are shares between 0 and 1")
        if any(figure is not None and not figure >= 0 for figure in figures):
            raise InvalidParameter(f"{self.method}: times, ε and state are 0 or more")


def committed() -> list[Row]:
    """Return the rows of this repository's own comparisons."""
    rows = []
    for data in DATA:
        name = f"compare_{data}"
        for regularization, found in json.loads((report.RESULTS / f"{name}.json").read_text()).items():
            if regularization == "attacked":
                continue
            for each in found:
                fields = {key: each[key] for key in Row.__dataclass_fields__ if key in each}
                rows.append(Row(data=data, regularization=regularization, source=f"[{name}]({name}.md)", **fields))
    return rows


def of_others(folder: Path = OTHERS) -> list[Row]:
    """Return the rows of other people's files."""
    found = []
    for path in sorted(folder.glob("*.json")):
        content = json.loads(limited_io.read_file(path, limited_io.LINE))
        if not isinstance(content, dict) or set(content) != set(Row.__dataclass_fields__):
            raise InvalidParameter(
                f"{path}: a row of the board has exactly the fields {', '.join(Row.__dataclass_fields__)}"
            )
        found.append(Row(**content))
    return found


def cells(row: Row) -> list[str]:
    """Return the row as it is printed."""

    def shown(value: float | None, form: str) -> str:
        return "—" if value is None else form.format(value)

    return [
        row.method,
        shown(row.accuracy_after, "{:.3f}"),
        shown(row.delete_time, "{:,.0f}"),
        "none" if row.deletion is None else f"{row.deletion:.3g}",
        "none" if row.existing is None else f"{row.existing:.3g}",
        shown(row.two_releases, "{:.0%}"),
        shown(row.adaptive, "{:.0%}"),
        f"{row.memory:,} B",
        row.source,
    ]


def page(rows: list[Row]) -> str:
    """Return the tables, one for each table of data and λ; private methods without state first, then by accuracy."""

    def order(row: Row) -> tuple[Any, ...]:
        return row.existing is None, row.memory > 0, -(row.accuracy_after or 0), row.method

    groups = dict.fromkeys((row.data, row.regularization) for row in rows)
    parts = [BODY]
    for data, regularization in groups:
        chosen = sorted((row for row in rows if (row.data, row.regularization) == (data, regularization)), key=order)
        parts.append(f"## {DATA[data]}, λ = {regularization}\n\n{report.table(HEAD, [cells(row) for row in chosen])}")
    return "\n\n".join(parts)


def main(arguments: list[str]) -> None:
    argparse.ArgumentParser(prog="python -m benchmarks board", description=__doc__).parse_args(arguments)
    body = page([*committed(), *of_others()])
    report.write(
        "board", "Certified deletion on tables: the board", "python -m benchmarks board", body, report.commit()
    )


BODY = """Every method erases records at the (ε, δ) of its row, δ = 1/100,000, and no accuracy stands without what it costs. Accuracy: after five deletions. Deletion: its time in plain
gradient steps over the table. Later models: ε for an observer of models published after the deletion alone. Each earlier model: ε of a release that used the record; an observer who kept
all models adds these up. Attacks: right guesses with two releases (guessing: 5 %) and by a requester who saw a model first (guessing: 50 %), of 20 trials; a low score is what the attack
found, not a proof. State: secret bytes between requests. "none": nothing is promised; "—": not run. How each was run, and what it does not guarantee: the source. Private methods
without state come first, then those with state, then those that promise nothing for records still there.

To add a row: put a JSON file with the fields of `benchmarks.board.Row` into `benchmarks/board/`, its source a command that others can run, and run the command above. A row is printed as
its author states it. A method to be run beside the others in one run: `docs/CONTRIBUTING.md`, "a new baseline"."""
