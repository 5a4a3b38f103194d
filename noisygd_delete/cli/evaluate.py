"""`noisygd-delete evaluate` and `predict`: quality of the published model on labelled rows, and predictions.

The quality is compared with that of a constant prediction.
"""

from __future__ import annotations

import argparse
import csv
import io
from collections import Counter
from collections.abc import Sequence
from itertools import islice, repeat
from typing import TYPE_CHECKING, Any

from ..errors import InvalidParameter
from ..privacy.guarantee import describe_guarantee
from .arguments import parse_number, store_command
from .terminal import print_result, progress_bar

if TYPE_CHECKING:
    from ..reports.evaluation import Evaluation
    from ..reports.private_evaluation import CountedEvaluation
    from ..store.prediction import Predictions


_MOST_CLASSES_SHOWN = 12
_PRIVATE = "this is a statistic of private data, do not publish it"


def register(commands: Any) -> None:
    """Add the commands `evaluate` and `predict` and their options to the parser."""
    parser = store_command(commands, "evaluate", "evaluate STORE --data held-out.csv", _evaluate)
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--data", metavar="FILE", help="CSV or Parquet with the label column")
    where.add_argument(
        "--on-records",
        nargs="?",
        const=True,
        type=parse_number,
        metavar="TAU",
        help="on the table's records instead: counts under noise, charged like a release; TAU: least deviation of the noise of each count, rounded "
        "up to a power of two (default: a tenth of the budget in Gaussian DP)",
    )
    parser.take("--delimiter")
    parser.add_argument(
        "--plain",
        action="store_true",
        help="with --data: score of a fit without noise too; not private, do not publish",
    )
    parser = store_command(commands, "predict", "predict STORE --data new.csv --out predictions.csv", _predict)
    parser.add_argument("--data", required=True, metavar="FILE", help="CSV or Parquet; label and id may be missing")
    parser.take("--delimiter")
    parser.add_argument("--probabilities", action="store_true", help="of each class too, a column each in --out")
    parser.add_argument("--out", metavar="FILE", help="write one prediction a line (CSV)")


def _evaluate(parsed: argparse.Namespace) -> int:
    if parsed.on_records is not None:
        if parsed.plain:
            raise InvalidParameter("--plain goes with --data: a fit without noise has seen the records' own labels")
        return _evaluate_privately(parsed)
    from ..reports.evaluation import evaluate
    from .release import open_store

    with open_store(parsed) as store:
        with progress_bar("read", None, unit="row") as progress:
            found = evaluate(store, parsed.data, parsed.delimiter, plain=parsed.plain, progress=progress)
        if parsed.plain and found.without_noise is None:
            raise InvalidParameter(
                "--plain: no plain fit of rows in a source, of a network or of a loss that is not convex; leave it out"
            )
    print_result(parsed, found.to_dict(), _format_evaluation(found))
    return 0


def _evaluate_privately(parsed: argparse.Namespace) -> int:
    from ..reports.private_evaluation import evaluate_records
    from .release import open_store

    with open_store(parsed) as store:
        counted = evaluate_records(store, None if parsed.on_records is True else parsed.on_records)
        delta = store.plan.problem.budget.shown_delta
    print_result(parsed, counted.to_dict(delta), _counted_text(counted, delta))
    return 0


def _counted_text(found: CountedEvaluation, delta: float) -> str:
    lines = [f"{'records, noisy':<28}{found.rows:.0f}"]
    if found.accuracy is not None:
        lines += [
            f"{'right':<28}{found.accuracy:.1%} ± {found.within:.1%}",
            f"{'right by always saying one':<28}{found.baseline_accuracy:.1%}",
            *_format_confusion(found.classes, [[round(count) for count in row] for row in found.confusion]),
        ]
    elif found.mean_absolute_error is not None:
        half = f"to half of {found.bin_width:.3g}"
        lines.append(f"{'mean absolute error':<28}{found.mean_absolute_error:.4g} ± {found.within:.2g}, {half}")
    else:
        lines.append("too few records for this noise: nothing can be said")
    figures = (
        describe_guarantee(found.alone, several=False, delta=delta),
        describe_guarantee(found.together, several=True, delta=delta),
    )
    return "\n".join(
        [
            *lines,
            f"These are the records that it was learned from; ± is twice the deviation that the noise of {found.deviation:g} gives.",
            f"Charged as release {found.release}. Of a record still there: {figures[0]}; with every release so far {figures[1]}.",
        ]
    )


def _format_evaluation(found: Evaluation) -> str:
    lines = [f"{'rows':<28}{found.rows}"]
    if found.accuracy is not None and found.baseline_accuracy is not None:
        lines += [
            f"{'right':<28}{found.accuracy:.1%}",
            f"{'right by always saying':<28}{found.baseline_accuracy:.1%}  ({found.baseline!r}, the most frequent class here)",
            f"{'right, classes weighed alike':<29}{found.balanced_accuracy:.1%}",
            f"{'log loss':<28}{found.log_loss:.4f}",
            f"{'area under the ROC curve':<28}"
            + ("not defined: a class is missing here" if found.auc is None else f"{found.auc:.4f}"),
            f"{'calibration error':<28}{found.calibration_error:.3f}"
            + "  (mean difference of probability said and share right)",
        ]
        lines += _format_confusion(found.classes, found.confusion)
    else:
        lines += [
            f"{'mean absolute error':<28}{found.mean_absolute_error:.4g}",
            f"{'of always saying':<28}{found.baseline_mean_absolute_error:.4g}  ({found.baseline:.4g}, the median here)",
            f"{'root mean squared error':<28}{found.root_mean_squared_error:.4g}",
            f"{'R²':<28}" + ("not defined: the targets are all equal" if found.r2 is None else f"{found.r2:.4f}"),
        ]
    if not found.beats_baseline:
        lines.append(
            "The model is no better than saying the same for every row. `plan --compare` shows what the noise and λ cost; a larger "
            "budget, more records, fewer columns or another λ would help."
        )
    if found.without_noise is not None:
        lines.append(f"On the same features {found.without_noise}")
    lines += found.skipped
    if found.rows_in_table:
        lines.append(_caution(found))
    return "\n".join(lines)


def _caution(found: Evaluation | Predictions) -> str:
    """Return the caution about rows of the file that are, or look like, rows of the training table."""
    rows = found.rows_in_table
    if found.matched_by == "id":
        return f"(of these rows {rows} are in the training table, by their ids: {_PRIVATE})"
    return f"(of these rows {rows} look like rows of the training table, perhaps of other people; if they are the same rows, {_PRIVATE})"


def _format_confusion(classes: Sequence[str], confusion: Sequence[Sequence[int]]) -> list[str]:
    """Return a table with true classes as rows and predicted classes as columns.

    With too many classes for a screen, return a reference to `--json`.
    """
    if len(classes) > _MOST_CLASSES_SHOWN:
        return [f"confusion of {len(classes)} classes: see --json"]
    width = max(8, *(min(len(name), 14) + 2 for name in classes))
    cut = [name if len(name) <= 14 else name[:13] + "…" for name in classes]
    head = f"{'is / was said':<16}" + "".join(f"{name:>{width}}" for name in cut)
    return [head] + [
        f"{name:<16}" + "".join(f"{count:>{width}}" for count in row) for name, row in zip(cut, confusion, strict=True)
    ]


_AT_ONCE = 1 << 14  # rows written
_BEGINS = b"record,predicted "  # no table of a user begins like this


def _predict(parsed: argparse.Namespace) -> int:
    from ..evidence.atomic_write import check_output
    from ..store.prediction import predict
    from .release import open_store

    out = None if parsed.out is None else check_output("--out", parsed.out, begins=_BEGINS, inputs=[parsed.data])
    with open_store(parsed) as store:
        with progress_bar("read", None, unit="row") as progress:
            predictions = predict(
                store, parsed.data, parsed.delimiter, probabilities=parsed.probabilities, progress=progress
            )
        kind = store.schema.label_column
    if out is not None:
        out.write(_format_table(kind, predictions))
    measured = {name: getattr(predictions, name) for name in ("measured", "accuracy", "mean_absolute_error", "r2")}
    counts = {} if isinstance(predictions.labels[0], float) else Counter(map(str, predictions.labels))
    answer: dict[str, Any] = {
        "rows": len(predictions.names),
        "rows_in_table": predictions.rows_in_table,
        "matched_by": predictions.matched_by,
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
    print_result(parsed, answer, _format_predictions(predictions, counts, parsed.out))
    return 0


def _format_table(kind: str, predictions: Predictions) -> bytes:
    odds = predictions.probabilities
    none = repeat(list[str](), len(predictions.names))
    extra = none if odds is None else ([f"{chance:.6g}" for chance in row] for row in odds)
    head = (
        "record",
        f"predicted {kind}",
        *(f"probability of {name}" for name in predictions.classes if odds is not None),
    )
    rows = (
        (name, label, *more) for name, label, more in zip(predictions.names, predictions.labels, extra, strict=True)
    )
    file = io.BytesIO()
    with io.TextIOWrapper(file, "utf-8", newline="") as text:
        lines = csv.writer(text, lineterminator="\n")
        lines.writerow(head)
        with progress_bar("write", len(predictions.names), unit="row") as progress:
            for first in range(0, len(predictions.names), _AT_ONCE):
                lines.writerows(islice(rows, _AT_ONCE))
                if progress is not None:
                    progress(min(first + _AT_ONCE, len(predictions.names)))
        text.flush()
        return file.getvalue()


def _format_predictions(predictions: Predictions, counts: dict[str, int], out: str | None) -> str:
    lines = [f"{len(predictions.names)} rows" + "".join(f", {count} {name}" for name, count in sorted(counts.items()))]
    if predictions.accuracy is not None:
        lines.append(f"right: {predictions.accuracy:.1%}")
    if predictions.mean_absolute_error is not None:
        explained = "" if predictions.r2 is None else f"; R²: {predictions.r2:.4f}"
        lines.append(f"mean absolute error: {predictions.mean_absolute_error:.4g}{explained}")
    if predictions.rows_in_table:
        lines.append(_caution(predictions))
    lines += predictions.skipped
    return "\n".join([*lines, *([] if out is None else [f"wrote {out}"])])
