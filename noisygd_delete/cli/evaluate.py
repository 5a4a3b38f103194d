"""`noisygd-delete evaluate`: how good the published model is on labelled rows, beside what guessing gets."""

from __future__ import annotations

import argparse
from typing import Any

from ..report.evaluation import Evaluation, evaluate
from .change import open_store
from .shared import show, store_command

_MOST_CLASSES_SHOWN = 12
CAUTION = "(of these rows {} are in the training table: this is a statistic of private data, do not publish it)"


def register(commands: Any) -> None:
    parser = store_command(
        commands,
        "evaluate",
        "how good the published model is on labelled rows of a file that were kept out of training, beside what guessing gets",
        "evaluate STORE --data held-out.csv",
        _run,
    )
    parser.add_argument("--data", required=True, metavar="FILE", help="CSV or Parquet with the label column")
    parser.add_argument("--delimiter", help="of a CSV file; default: found from the header")


def _run(parsed: argparse.Namespace) -> int:
    with open_store(parsed) as store:
        found = evaluate(store, parsed.data, parsed.delimiter)
    show(parsed, found.to_dict(), _text(found))
    return 0


def _text(found: Evaluation) -> str:
    lines = [f"{'rows':<28}{found.rows}"]
    if found.accuracy is not None and found.baseline_accuracy is not None:
        lines += [
            f"{'right':<28}{found.accuracy:.1%}",
            f"{'right by always saying':<28}{found.baseline_accuracy:.1%}  ({found.baseline!r}, the most frequent class here)",
            f"{'right, classes weighed alike':<29}{found.balanced_accuracy:.1%}",
            f"{'log loss':<28}{found.log_loss:.4f}",
            f"{'area under the ROC curve':<28}"
            + ("not defined: a class is missing here" if found.auc is None else f"{found.auc:.4f}"),
            f"{'calibration error':<28}{found.calibration_error:.3f}  (mean difference of probability said and share right)",
        ]
        lines += _confusion(found)
    else:
        lines += [
            f"{'mean absolute error':<28}{found.mean_absolute_error:.4g}",
            f"{'of always saying':<28}{found.baseline_mean_absolute_error:.4g}  ({found.baseline:.4g}, the median here)",
            f"{'root mean squared error':<28}{found.root_mean_squared_error:.4g}",
            f"{'R²':<28}" + ("not defined on one row" if found.r2 is None else f"{found.r2:.4f}"),
        ]
    if not found.beats_baseline:
        lines.append(
            "The model is no better than saying the same for every row. `plan --compare` shows what the noise and λ cost; a larger "
            "budget, more records, fewer columns or another λ would help."
        )
    if found.rows_in_table:
        lines.append(CAUTION.format(found.rows_in_table))
    return "\n".join(lines)


def _confusion(found: Evaluation) -> list[str]:
    """Rows: what is true; columns: what was said. Left to --json where it would not fit a screen."""
    if len(found.classes) > _MOST_CLASSES_SHOWN:
        return [f"confusion of {len(found.classes)} classes: see --json"]
    width = max(8, *(min(len(name), 14) + 2 for name in found.classes))
    cut = [name if len(name) <= 14 else name[:13] + "…" for name in found.classes]
    head = f"{'is / was said':<16}" + "".join(f"{name:>{width}}" for name in cut)
    return [head] + [
        f"{name:<16}" + "".join(f"{count:>{width}}" for count in row)
        for name, row in zip(cut, found.confusion, strict=True)
    ]
