"""`noisygd-delete-lab compare`: compare all deletion methods on the caller's table, or on digits."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

import numpy as np

from noisygd_delete import losses
from noisygd_delete.cli.arguments import Intermixed, parse_number, parse_seed
from noisygd_delete.cli.terminal import flush_streams, print_error, print_result
from noisygd_delete.errors import InvalidParameter, NoisyGDDeleteError
from noisygd_delete.features.schema import Schema
from noisygd_delete.privacy.sentences import format_number
from noisygd_delete.records import Records

from . import sample
from .calibrated import Setting
from .comparison import ComparisonRow, compare


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    whole = Intermixed(prog="noisygd-delete-lab", description="Rival deletion methods.", allow_abbrev=False)
    kinds = whole.add_subparsers(dest="kind", required=True, metavar="KIND")
    comparing = kinds.add_parser(
        "compare",
        help="cost, accuracy, state and leaks of every method, on a table or on scikit-learn's digits",
        epilog="example: noisygd-delete-lab compare --regularization 1e-2 --no-attack",
        allow_abbrev=False,
    )
    comparing.add_argument("--data", help="CSV or Parquet; default: scikit-learn's digits")
    comparing.add_argument("--schema", help="schema of --data")
    comparing.add_argument("--regularization", type=parse_number, default=1e-2, metavar="λ", help="default 1e-2")
    comparing.add_argument(
        "--dp", type=parse_number, default=8.0, help="ε for records still there, where a method gives one"
    )
    comparing.add_argument("--deletion", type=parse_number, default=0.1, help="ε for erased records (default 0.1)")
    comparing.add_argument("--delta", type=parse_number, default=1e-5)
    comparing.add_argument("--no-attack", action="store_true", help="leave out the two attacks (most of the time)")
    comparing.add_argument("--seed", type=parse_seed, default=0, help="of this measurement; nothing certified uses it")
    comparing.take("--json")
    return whole


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the comparison and return the exit status: 0 success, 2 usage error."""
    parsed = parser().parse_args(arguments)
    try:
        return _run(parsed)
    except NoisyGDDeleteError as error:
        return print_error(f"noisygd-delete-lab: {error}", 2)


def run() -> None:
    """Run the console script."""
    try:
        status = main()
    except BrokenPipeError:  # the reader of the answer closed the pipe
        status = 0
    sys.exit(flush_streams(status))


def _tables(parsed: argparse.Namespace) -> tuple[Records, Records, losses.Loss]:
    if (parsed.data is None) != (parsed.schema is None):
        raise InvalidParameter("give --data and --schema together, or neither for scikit-learn's digits")
    if parsed.data is None:
        return *sample.digits(), losses.Softmax(1.0, classes=10)
    encoded = Schema.read(parsed.schema).encode_file(parsed.data)
    train, test = sample.split(encoded.rows, encoded.labels, len(encoded.rows) * 4 // 5)
    classes = sorted(set(encoded.labels.tolist()))
    if classes == [-1.0, 1.0]:
        return train, test, losses.Logistic(1.0)
    if classes == list(range(len(classes))):
        return train, test, losses.Softmax(1.0, classes=len(classes))
    raise InvalidParameter("the comparison needs a class label; this schema has a numeric target")


def _run(parsed: argparse.Namespace) -> int:
    train, test, loss = _tables(parsed)
    setting = Setting(loss, parsed.regularization, deletion=parsed.deletion, dp=parsed.dp, delta=parsed.delta)
    rows = compare(setting, train, test, rng=np.random.default_rng(parsed.seed), attack=not parsed.no_attack)
    answer = {"records": train.slots, "features": train.features.shape[1], "rows": [row.to_dict() for row in rows]}
    print_result(parsed, answer, _text(rows, train, parsed))
    return 0


def _text(rows: list[ComparisonRow], train: Records, parsed: argparse.Namespace) -> str:
    heading = (
        f"{train.slots} records × {train.features.shape[1]} features, λ={format_number(parsed.regularization)}, δ={format_number(parsed.delta)}; "
        "gradients in passes over the table, times in plain gradient steps on it"
    )
    columns = (
        f"{'method':26} {'ε erased':>8} {'DP ε':>6} {'accuracy':>8} {'learn':>9} {'delete':>9} {'time':>8} "
        f"{'private':>7} {'stateless':>9} {'two releases':>12} {'adaptive':>8} {'kept, bytes':>11}"
    )
    return "\n".join([heading, "", columns, *(_line(row, train.slots) for row in rows)])


def _line(row: ComparisonRow, records: int) -> str:
    def number(value: float | None, form: str) -> str:
        return "—" if value is None else format(value, form)

    return (
        f"{row.method:26} {number(row.deletion, '8.3g'):>8} {number(row.existing, '6.3g'):>6} {row.accuracy:8.3f} "
        f"{row.learn_gradients / records:9.1f} {row.delete_gradients / records:9.2f} {number(row.delete_time, '8.1f'):>8} "
        f"{'yes' if row.private else 'no':>7} {'yes' if row.stateless else 'no':>9} "
        f"{number(row.two_releases, '12.0%'):>12} {number(row.adaptive, '8.0%'):>8} {row.memory:11}"
    )
