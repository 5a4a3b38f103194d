"""`noisygd-delete predict`: use the published model on a file."""

from __future__ import annotations

import argparse
import csv
import io
from collections import Counter
from typing import TYPE_CHECKING, Any

from .arguments import store_command
from .evaluate import CAUTION
from .terminal import show

if TYPE_CHECKING:
    from ..store.prediction import Predictions


_BEGINS = b"record,predicted "  # as no table of a user's own does


def register(commands: Any) -> None:
    parser = store_command(commands, "predict", "predict STORE --data new.csv --out predictions.csv", _run)
    parser.add_argument("--data", required=True, metavar="FILE", help="CSV or Parquet; label and id may be missing")
    parser.takes += ("--delimiter",)
    parser.add_argument("--probabilities", action="store_true", help="of each class too, a column each in --out")
    parser.add_argument("--out", metavar="FILE", help="write one prediction a line (CSV)")


def _run(parsed: argparse.Namespace) -> int:
    from ..evidence.outputs import output
    from ..store.prediction import predict
    from .release import open_store

    out = None if parsed.out is None else output("--out", parsed.out, begins=_BEGINS, inputs=[parsed.data])
    with open_store(parsed) as store:
        predictions = predict(store, parsed.data, parsed.delimiter, probabilities=parsed.probabilities)
        kind = store.schema.label_column
    if out is not None:
        out.write(_table(kind, predictions))
    measured = {"accuracy": predictions.accuracy, "mean_absolute_error": predictions.mean_absolute_error}
    counts = {} if isinstance(predictions.labels[0], float) else Counter(map(str, predictions.labels))
    answer: dict[str, Any] = {
        "rows": len(predictions.names),
        **measured,
        "counts": dict(counts),
        "skipped": list(predictions.skipped),
    }
    if parsed.out is None:
        answer["predictions"] = dict(zip(predictions.names, predictions.labels, strict=True))
        if predictions.probabilities is not None:
            odds = ([float(f"{chance:.6g}") for chance in row] for row in predictions.probabilities)
            answer["probabilities"] = dict(zip(predictions.names, odds, strict=True))
            answer["classes"] = list(predictions.classes)
    show(parsed, answer, _text(predictions, counts, parsed.out))
    return 0


def _table(kind: str, predictions: Predictions) -> str:
    odds = predictions.probabilities
    extra = [[f"{chance:.6g}" for chance in row] for row in odds] if odds is not None else [[]] * len(predictions.names)
    head = (
        "record",
        f"predicted {kind}",
        *(f"probability of {name}" for name in predictions.classes if odds is not None),
    )
    rows = (
        (name, label, *more) for name, label, more in zip(predictions.names, predictions.labels, extra, strict=True)
    )
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([head, *rows])
    return text.getvalue()


def _text(predictions: Predictions, counts: dict[str, int], out: str | None) -> str:
    lines = [f"{len(predictions.names)} rows" + "".join(f", {count} {name}" for name, count in sorted(counts.items()))]
    if predictions.accuracy is not None:
        lines.append(f"right: {predictions.accuracy:.1%}")
    if predictions.mean_absolute_error is not None:
        lines.append(f"mean absolute error: {predictions.mean_absolute_error:.4g}")
    if predictions.rows_in_table:
        lines.append(CAUTION.format(predictions.rows_in_table))
    lines += predictions.skipped
    return "\n".join([*lines, *([] if out is None else [f"wrote {out}"])])
