"""`noisygd-delete quickstart`: from a file to a model, and to the certificate of a deletion.

Run the commands that a user would run, with the drafted schema and the advised plan, and hold out some rows to measure
on. No model learns from the held-out rows and no file contains one, but the schema is drafted from all rows, these
included, or from the first that fit into --memory; the store keeps salted digests of their names, so that a request for one is answered.
"""

from __future__ import annotations

import argparse
import io
import json
import math
import sys
import tomllib
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import InvalidParameter, InvalidSchema
from .arguments import add_command, parse_integer, parse_number
from .commands import joining_group, parser
from .init import add_map, file_rows, first_rows_warning, note_first_rows, read_first
from .terminal import print_result

if TYPE_CHECKING:
    from ..features.schema import Draft, HeldOut
    from ..features.schema.files import FileRows
    from ..reports.plain_evaluation import PlainScore

_MOST_APART = 10_000  # most held-out rows
_ENOUGH_APART = 30
_OWN = "from_data = true"
_PUBLIC = "public"
_SIGNED_LOG = 'transform = "signed-log"'
_REQUEST = "first-deletion"  # the token of --delete
_KINDS = ("bounds", "dates", "times", "categories", "boolean", "classes")  # how a range or list begins
_WIDE = 60  # characters in one line
_MOST_REQUESTS = 10**6


def register(commands: Any) -> None:
    """Add the `quickstart` command: FILE, --label, --id, --subject, --output-dir, --delete, --holdout, --yes.

    It also takes --map, --requests-per-year, --plan, --memory and --json.
    """
    command = add_command(
        commands,
        "quickstart",
        description="Makes a folder with a draft of the schema, a store and a key. In a terminal it asks about each range and list "
        "that it found in the data; elsewhere, and with --yes, it takes them, and papers say so.",
        epilog="example: noisygd-delete quickstart people.csv --label income --delete 17",
    )
    command.add_argument("data", metavar="FILE", help="CSV (plain or gzip) or Parquet")
    command.add_argument("--label", required=True, metavar="COL", help="column to predict")
    command.add_argument(
        "--id", metavar="COL", help="column with each record's own id (default: found, or rows are numbered)"
    )
    command.add_argument("--subject", metavar="COL", help="column with the person each record is about")
    command.add_argument(
        "--output-dir", metavar="FOLDER", help="new folder (default: the file's name without its ending)"
    )
    command.add_argument(
        "--delete",
        nargs="+",
        default=[],
        metavar="ID",
        help="erase these records, with --subject these persons, and certify it",
    )
    command.add_argument(
        "--holdout",
        type=parse_number,
        default=0.1,
        metavar="SHARE",
        help="of the rows, to measure on (default .1; 0: none)",
    )
    command.add_argument(
        "--yes", action="store_true", help="ask nothing in a terminal either: take what the draft proposes"
    )
    add_map(command)
    command.add_argument(
        "--requests-per-year",
        type=parse_integer,
        metavar="N",
        help="deletions expected: by forecast, sums, a release for each, or a calendar (default)",
    )
    command.take("--plan", "--memory", "--json")
    command.set_defaults(run=quickstart)


def quickstart(parsed: argparse.Namespace) -> int:
    """Draft the schema of FILE, make a folder, and fill it by `fill_folder`; return its exit status 0.

    On a terminal, without --yes and --json, ask about every range and list of the draft. If anything fails before a
    store exists, schema.toml and the folder are removed.

    Raises:
        InvalidParameter: If --holdout is not in [0, 1), a name of --delete is in no labelled row, or the folder cannot
            be made.
    """
    from ..features.schema import draft_schema

    if not 0 <= parsed.holdout < 1:
        raise InvalidParameter(f"--holdout {parsed.holdout} must be a share, at least 0 and below 1")
    folder = Path(parsed.output_dir if parsed.output_dir is not None else _folder_for(parsed.data))
    rows = file_rows(parsed)
    draft = draft_schema(read_first(rows), parsed.label, id=parsed.id, subject=parsed.subject)
    partly = first_rows_warning(rows)
    draft = draft._replace(doubts=(*draft.doubts, *partly))
    if not parsed.yes and not parsed.json and _both_are_terminals():
        draft = draft._replace(text=answer_draft(draft.text, _ask))
        if parsed.requests_per_year is None and parsed.plan is None:
            parsed.requests_per_year = _ask_requests()
    _check_named(parsed, rows, draft.text)
    try:
        folder.mkdir()
    except OSError as error:
        raise InvalidParameter(
            f"cannot make the folder {folder} ({error.strerror}); name a new one with --output-dir FOLDER"
        ) from error
    try:
        return fill_folder(parsed, folder, rows, draft)
    except BaseException as error:
        if not (folder / "store").exists():
            (folder / "schema.toml").unlink(missing_ok=True)
            folder.rmdir()
        if isinstance(error, InvalidSchema) and partly:
            raise InvalidSchema(f"{error}. The schema was {partly[0]}: give more") from error
        raise


def _check_named(parsed: argparse.Namespace, rows: FileRows, draft: str) -> None:
    """Reject names of --delete that are in no labelled row, before anything is made.

    They are persons with `--subject`, else records.
    """
    from ..features.schema.values import without_label

    if not parsed.delete:
        return
    column = parsed.subject or parsed.id or tomllib.loads(draft).get("id")
    named, known, seen = set(parsed.delete), set[str](), 0
    for table in rows.blocks():
        names = table.columns[column] if column else [str(seen + row) for row in range(1, len(table) + 1)]
        empty = without_label(table.columns[parsed.label])
        known.update(name for name, none in zip(names, empty, strict=True) if not none and name in named)
        seen += len(table)
    unknown = sum(name not in known for name in parsed.delete)
    if unknown:
        where = f"column {column!r}" if column else f"the rows' numbers, 1 to {rows.rows}"
        what = "ids" if parsed.subject is None else "persons"
        raise InvalidParameter(
            f"--delete: {unknown} of {len(parsed.delete)} {what} are in no row of {parsed.data} ({where}) that has a label; nothing was made"
        )


def fill_folder(parsed: argparse.Namespace, folder: Path, rows: FileRows, draft: Draft) -> int:
    """Create schema.toml, store and model in an empty folder, measure it on held-out rows, print all, and return 0.

    With --delete also erase, and write key.pem, certificate.json and certificate.html. No rows are held out if they would
    be fewer than 30.

    Args:
        parsed: Arguments of the command.
        folder: The empty folder.
        rows: The rows, which have been read.
        draft: Draft of the schema, taken as confirmed.
    """
    from ..features.schema import HeldOut
    from ..store.status import status
    from .init import create_store
    from .remaining_budget import left_text, reserve_text

    rows.forget_first()
    schema = note_first_rows(draft.text.replace("confirmed = false", "confirmed = true", 1), rows)
    (folder / "schema.toml").write_text(schema, encoding="utf-8")
    store = str(folder / "store")
    share = min(parsed.holdout, _MOST_APART / rows.rows)
    apart = HeldOut(share if share * rows.rows >= _ENOUGH_APART else 0.0, never=parsed.delete)

    def init(found: argparse.Namespace) -> int:
        found.plan, found.map, found.requests_per_year = parsed.plan, parsed.map, parsed.requests_per_year
        return create_store(found, held_out=apart, rows=rows)

    made = _run_for_json(["init", store, "--data", parsed.data, "--schema", str(folder / "schema.toml")], init)
    _run_for_json(["learn", store, *_memory(parsed)])
    measured, plain = _measure_model(store, apart)
    lines = _format_created(parsed, made, measured, folder, draft, whole=not first_rows_warning(rows))
    if plain is not None:
        lines[-1] += f"; {plain}"
    answer: dict[str, Any] = {
        "folder": str(folder),
        "init": made,
        "evaluation": measured,
        "without_noise": None if plain is None else plain.to_dict(),
        "doubts": list(draft.doubts),
        "inferred_marks": list(draft.inferred),
        "drafted_from_held_out": made["held_out"] > 0,
    }
    paper: list[str] = []
    if parsed.delete:
        erased, paper = _delete(parsed, folder, store)
        answer |= {"delete": erased, "certificate": str(folder / "certificate.json")}
    found = status(store)
    answer |= {"left": found["left"], "reserve": found["reserve"]}
    lines.append("; ".join(filter(None, (left_text(found["left"]), reserve_text(found["reserve"])))))
    lines.append(f"next: noisygd-delete delete {store} {'ID' if parsed.subject is None else '--subject S'}")
    lines += ["", *paper] if paper else []
    print_result(parsed, answer, "\n".join(lines))
    return 0


def _memory(parsed: argparse.Namespace) -> list[str]:
    return [] if parsed.memory is None else ["--memory", str(parsed.memory)]


def _delete(parsed: argparse.Namespace, folder: Path, store: str) -> tuple[dict[str, Any], list[str]]:
    """Erase the named records, certify and verify it; return the answer and the text of the certificate."""
    request = _REQUEST
    key, paper, page = (str(folder / name) for name in ("key.pem", "certificate.json", "certificate.html"))
    named = parsed.delete if parsed.subject is None else [f"--subject={person}" for person in parsed.delete]
    erased = _run_for_json(["delete", store, *named, "--request-id", request, *_memory(parsed)])
    _run_for_json(["keygen", key])
    said = _run_for_text(["certificate", store, "--request-id", request, "--key", key, "--out", paper, "--html", page])
    _run_for_json(["verify-certificate", paper, "--public-key", f"{key}.pub"])
    signed = f"signed and verified: {paper}; to read and print, {page}; the key, which signs for you, is {key}"
    return erased, [*said.partition("\n\n")[0].splitlines(), signed]


def _measure_model(store: str, apart: HeldOut) -> tuple[dict[str, Any] | None, PlainScore | None]:
    """Evaluate the model, and a fit without noise, on the held-out rows; None for each that cannot be."""
    from ..reports.evaluation import measure
    from ..reports.plain_evaluation import measure_without_noise
    from ..store import Store

    rows = apart.encoded()
    if rows is None or not len(rows.rows):
        return None, None
    with Store.open(store) as opened:
        return measure(opened, rows).to_dict(), measure_without_noise(opened, rows)


def _format_created(
    parsed: argparse.Namespace,
    made: Mapping[str, Any],
    found: Mapping[str, Any] | None,
    folder: Path,
    draft: Draft,
    *,
    whole: bool,
) -> list[str]:
    from .init import alike_lines, left_out_lines, numbered_line
    from .schema_arguments import list_columns

    rows = f"{made['records']} rows learned from, in {made['slots']} slots; {made['features']} features"
    unread = f"; columns left out: {list_columns(draft.left_out)}" if draft.left_out else ""
    lines = [f"{folder}: {rows}, method '{made['plan']['method']}'{unread}"]
    lines += left_out_lines(made, "was read off the data; see schema.toml")
    lines += alike_lines(made)
    if made["ids"]["numbered"]:
        lines.append(numbered_line(made, parsed.data))
    elif draft.named_by is not None:
        lines.append(f"the pandas index of {parsed.data} names the records: {draft.named_by}")
    if draft.shared and parsed.subject is None:
        lines.append(
            f"WARNING: several rows share a value of {draft.shared[0]!r}, and every figure is of one row alone: if it names persons, begin again "
            f"with --subject {draft.shared[0]}"
        )
    if draft.inferred:
        lines.append(f"decimal marks as in the other columns of {parsed.data}: {list_columns(draft.inferred)}")
    lines += [f"WARNING: {doubt} ({folder / 'schema.toml'})" for doubt in draft.doubts]
    own = made["from_data"]
    if own:
        lines.append(
            f"WARNING: ranges and lists are the data's own ({list_columns(own)}), taken for public: answer for them in {folder / 'schema.toml'}"
        )
    if made["service"] is not None:
        lines.append(f"deletions are served by {made['service']['reason']}")
    if made["advice"] is not None and made["advice"]["remedies"]:
        lines.append(f"WARNING: {made['advice']['caution']}")
    if found is None:
        reason = "too few rows to hold some out" if parsed.holdout else "no rows were held out (--holdout 0)"
        return [*lines, f"{reason}: all were learned from; noisygd-delete evaluate measures on others"]
    if found["accuracy"] is not None:
        score = (
            f"right on {found['accuracy']:.1%}; always saying {found['baseline']!r}: {found['baseline_accuracy']:.1%}"
        )
    else:
        score = (
            f"R² {'not defined' if found['r2'] is None else format(found['r2'], '.3f')}, mean absolute error {found['mean_absolute_error']:.4g}; always saying the median: "
            f"{found['baseline_mean_absolute_error']:.4g}"
        )
    drafted = "all rows, these included" if whole else "the first rows, some of these perhaps included"
    apart = f"{found['rows']} held-out rows, from which no model learned; schema.toml was drafted from {drafted}"
    return [*lines, f"measured on {apart}: {score}"]


def _run_for_json(arguments: Sequence[str], run: Callable[[argparse.Namespace], int] | None = None) -> dict[str, Any]:
    """Run another command and return its JSON answer."""
    return dict(json.loads(_run_for_text([*arguments, "--json"], run)))


def _run_for_text(arguments: Sequence[str], run: Callable[[argparse.Namespace], int] | None = None) -> str:
    parsed = parser(arguments[0]).parse_args(arguments)
    out = io.StringIO()
    with redirect_stdout(out), joining_group(parsed) if run is None else nullcontext():
        status = int((run or parsed.run)(parsed))
    if status:
        raise InvalidParameter(
            f"noisygd-delete {' '.join(arguments)} ended with status {status}: {out.getvalue().strip()}"
        )
    return out.getvalue()


def answer_draft(draft: str, ask: Callable[[str, str], str]) -> str:
    """Return the draft with a person's answer to each entry marked from_data, which an answer other than "" unmarks.

    Columns of truth values, such as 0 and 1, share one question.

    Args:
        draft: Text of the schema draft.
        ask: Called with the name of an entry and the line of its range or list; returns what is public: "" (nothing,
            the range is the data's own), "public", two numbers (ends of a public range), or one number that bounds the
            magnitude, known to an order of magnitude only (`+m` if no value is negative).
    """
    lines, name, values = draft.splitlines(), "", 0
    truths = _columns_of_truths(draft)
    of_truths: str | None = None
    for at, line in enumerate(lines):
        if line.startswith("["):
            name = line.strip("[]").removeprefix("columns.").strip('"')
        elif line.startswith(_KINDS):
            values = at
        elif line.startswith(_OWN):
            if name not in truths:
                answer = ask(name, lines[values])
            else:
                if of_truths is None:
                    of_truths = ask(", ".join(truths), f"boolean = {' or '.join(dict.fromkeys(truths.values()))}")
                answer = of_truths
            if answer:
                lines[at] = ""
            if answer not in ("", _PUBLIC):
                low, *high = answer.split()
                lines[values] = (
                    f"bounds = [{low}, {high[0]}]"
                    if high
                    else f"bounds = [{0 if low.startswith('+') else f'-{low}'}, {low.lstrip('+')}]\n{_SIGNED_LOG}"
                )
                lines[values + 1 : at] = [
                    kept if high or "transform" not in kept else "" for kept in lines[values + 1 : at]
                ]
    return "\n".join(lines) + "\n"


def _columns_of_truths(draft: str) -> dict[str, str]:
    """Return the columns of a draft whose two values are a pair of truth values, and each pair as text."""
    from ..features.schema.column_draft import TRUTHS

    found = {}
    for name, entry in tomllib.loads(draft).get("columns", {}).items():
        pair = entry.get("boolean")
        if pair is not None and tuple(value.lower() for value in pair) in TRUTHS:
            found[name] = "/".join(pair)
    return found


def _ask(name: str, values: str) -> str:
    """Ask one question in the terminal until the answer is valid."""
    what = f"{name}: {values if len(values) < _WIDE else values[:_WIDE] + ' …'}"
    ends = values.startswith("bounds")
    column = name != "label"
    more = ", or two numbers: the ends of a public range" if ends else ""
    more += (
        ", or one: none is larger, known to a factor of 100; with a + before it, none is below 0"
        if ends and column
        else ""
    )
    while True:
        question = f"{what}\n  was this known before anybody saw the data? [y]es, [Enter] no{more}: "
        print(question, end="", file=sys.stderr, flush=True)
        answer = sys.stdin.readline().strip()
        if answer.lower() in ("", "n", "no"):
            return ""
        if answer.lower() in ("y", "yes"):
            return _PUBLIC
        if ends and _is_range(answer, or_magnitude=column):
            return answer


def _ask_requests() -> int | None:
    """Ask in the terminal how many deletion requests a year are expected, until the answer is valid; None if unknown."""
    while True:
        question = "How many deletion requests a year do you expect? [Enter] unknown: "
        print(question, end="", file=sys.stderr, flush=True)
        answer = sys.stdin.readline().strip()
        if not answer:
            return None
        if answer.isdecimal() and 0 < int(answer) <= _MOST_REQUESTS:
            return int(answer)


def _is_range(answer: str, *, or_magnitude: bool) -> bool:
    """Return whether the answer is two ends in order, or with `or_magnitude` one positive number."""
    try:
        ends = tuple(map(float, answer.split()))
    except ValueError:
        return False
    if or_magnitude and len(ends) == 1:
        ends = (0.0, *ends)
    return len(ends) == 2 and -math.inf < ends[0] < ends[1] < math.inf


def _both_are_terminals() -> bool:
    return sys.stdin is not None and sys.stdin.isatty() and sys.stderr is not None and sys.stderr.isatty()


def _folder_for(file: str) -> str:
    """Return the name of the file without its suffixes."""
    return Path(file).name.partition(".")[0] or "table"
