"""`noisygd-delete init`: make a store from a table and a schema, or draft a schema."""

from __future__ import annotations

import argparse
import math
import signal
from collections import Counter
from collections.abc import Container, Mapping
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ..errors import InvalidParameter
from ..extensions import require_extension
from ..methods.base import AUTO
from .arguments import add_command, parse_integer
from .plan_file import ADVISED, fill_arguments, plan_command
from .terminal import print_result, progress_bar

if TYPE_CHECKING:
    from ..features.schema import HeldOut, Schema, Table
    from ..features.schema.files import FileRows
    from ..methods.plan import Plan
    from ..records import LeftOut
    from .plan_selection import Chosen

NUMBERED = "record"  # id column given to a table without one


def register(commands: Any) -> None:
    """Add the `init` command: --data or --source, --schema or --draft-schema, and the options of columns and plan.

    These are --label, --id, --subject, --slots, --map, --plan, --engine, --table, --query, --delimiter, --dry-run,
    --tombstones with its key, --memory, --explain and --json.
    """
    parser = add_command(
        commands,
        "init",
        epilog="example, first: noisygd-delete init --data people.csv --label y --id id --draft-schema schema.toml",
    )
    parser.add_argument("store", nargs="?", metavar="STORE", help="folder to make; not needed with --draft-schema")
    rows = parser.add_mutually_exclusive_group(required=True)
    rows.add_argument("--data", metavar="FILE", help="CSV (plain or gzip) or Parquet, copied into the store")
    _add_source(parser, rows)
    parser.add_argument("--label", metavar="COL", help="column to predict (with a schema: must agree with it)")
    parser.add_argument(
        "--id", metavar="COL", help="column with each record's own id (or `id` in the schema; else rows are numbered)"
    )
    parser.add_argument("--subject", metavar="COL", help="column with the person each record is about")
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--schema", metavar="FILE", help="public bounds and categories (TOML)")
    source.add_argument(
        "--draft-schema",
        metavar="FILE",
        help="write a first draft of the schema, also off the first 100,000 rows of a --source, and stop",
    )
    parser.add_argument(
        "--slots",
        type=parse_integer,
        metavar="N",
        help="n, public; default: a twentieth more than rows, as room for insertions",
    )
    add_map(parser)
    parser.take(
        "--plan", "--delimiter", "--dry-run", "--tombstones", "--tombstone-key", "--memory", "--explain", "--json"
    )
    parser.set_defaults(run=init)


def _add_source(parser: argparse.ArgumentParser, rows: argparse._MutuallyExclusiveGroup) -> None:
    """Add `--source`, the alternative to `--data`, and its options."""
    rows.add_argument(
        "--source",
        metavar="ADDRESS",
        help="leave the rows where they lie, and keep no row and no id here: postgresql://USER@HOST/DATABASE (password from PGPASSWORD or "
        "~/.pgpass), FILE.duckdb, a Delta table, a folder of Parquet files",
    )
    parser.add_argument(
        "--engine",
        choices=["local", "ray", "spark"],
        default="local",
        help="whose workers hold a --source that is a folder of Parquet files (also s3://bucket/folder and the like) or a Delta table, and "
        "answer sums alone (docs/engines.md); --query and --subject with spark alone",
    )
    parser.add_argument("--table", metavar="NAME", help="of a database: what to learn from and `delete` deletes from")
    parser.add_argument(
        "--query",
        metavar="SQL",
        help="the rows to learn from, where that is not the whole table; without --table the application deletes",
    )


def _source_commands() -> Any:
    """Return the module that carries out `init --source`."""
    return require_extension("init", "source", "sources", "`init --source`")


def add_map(parser: argparse.ArgumentParser) -> None:
    """Add the option `--map` (additive[:levels=L], columns or auto), the public map for a schema without one."""
    parser.add_argument(
        "--map",
        type=_map,
        default=AUTO,
        help="additive gives each column a curve (docs/which_model.md; additive:levels=4: of 16 bins), columns reads each as it is; auto "
        "(default) takes what sizes and budget speak for, of a file, where no method is named",
    )


def _map(text: str) -> str:
    if text.partition(":")[0] not in (AUTO, "additive", "columns"):
        raise argparse.ArgumentTypeError(f"{text!r} is none of auto, additive, columns")
    return text


def init(parsed: argparse.Namespace) -> int:
    """Run `init`: write a draft of the schema with --draft-schema, else create the store; return the exit status 0."""
    return _draft(parsed) if parsed.draft_schema else create_store(parsed)


def _draft(parsed: argparse.Namespace) -> int:
    from ..evidence.atomic_write import check_output
    from ..features.schema import draft_schema

    if parsed.label is None:
        raise InvalidParameter("--draft-schema needs --label COL, the column to predict")
    target = check_output("--draft-schema", parsed.draft_schema, inputs=[parsed.data] if parsed.data else [])
    from_file = parsed.data is not None
    rows = file_rows(parsed) if from_file else None
    table = _source_commands().sample_rows(parsed) if rows is None else read_first(rows)
    text = draft_schema(table, parsed.label, id=parsed.id, subject=parsed.subject, weighed=from_file).text
    text = text if rows is None else note_first_rows(text, rows)
    if not parsed.dry_run:
        target.write(text)
    warning = (
        "its ranges and lists were read off the data: answer the questions marked ASK, replace them by public ones, then set "
        "confirmed = true"
    )
    warning = "; ".join([*([] if rows is None else first_rows_warning(rows)), warning])
    answer = {"draft_schema": parsed.draft_schema, "written": not parsed.dry_run, "warning": warning}
    print_result(parsed, answer, f"{'would write' if parsed.dry_run else 'wrote'} {parsed.draft_schema}; {warning}")
    return 0


def create_store(parsed: argparse.Namespace, held_out: HeldOut | None = None, rows: FileRows | None = None) -> int:
    """Create a store from --data, print what was made as text or JSON, and return the exit status 0.

    With --source, the package noisygd-delete-sources does it. With --dry-run everything is checked and nothing is
    written.

    Args:
        parsed: Arguments of the command, completed in place by the plan file and the schema.
        held_out: Holds out rows of the file for measuring; the store does not contain them.
        rows: The rows of the file, if they have been read.

    Raises:
        InvalidParameter: If STORE is missing, the schema is unconfirmed or contradicts the options, or options of
            --source are given without it.
    """
    from .schema_arguments import with_schema_map

    if parsed.store is None:
        raise InvalidParameter("give STORE, the folder to make")
    fill_arguments(parsed, ADVISED)
    parsed.slots = parsed.records if parsed.slots is None else parsed.slots
    schema = _schema(parsed)
    if parsed.source is not None:
        return int(_source_commands().create_store(parsed, schema))
    for option, default in (("table", None), ("query", None), ("engine", "local")):
        if getattr(parsed, option) != default:
            raise InvalidParameter(f"--{option} belongs to --source; a file of --data is copied into the store")
    rows = file_rows(parsed, schema.reads()) if rows is None else rows
    parsed.rows_a_person = _rows_a_person(schema, rows)
    schema = with_schema_map(parsed, schema, partial(_count, rows))
    found = _create_from(parsed, schema, held_out, rows)
    return report_store(parsed, schema, found, numbered=schema.id_column is None)


@dataclass(frozen=True)
class StoreRows:
    """The rows that a store was made of, and its plan.

    Attributes:
        seen: Rows of the file or source.
        rows: Rows in the store.
        clipped: Values clipped to their bounds, by column.
        unknown: Values unknown to the schema, by column.
        left_out: Rows permanently not in the store: beyond `rows_per_subject` of their person, or without a label.
        choice: The plan and how it was chosen.
        unlabelled: Rows without a label.
        held_out: Rows held out for measuring.
        alike: Ids that read like another one.
        beyond: Rows of a file beyond the first `rows_per_subject` of their person.
    """

    seen: int
    rows: int
    clipped: Mapping[str, int]
    unknown: Mapping[str, int]
    left_out: LeftOut
    choice: Chosen
    unlabelled: int = 0
    held_out: int = 0
    alike: int = 0
    beyond: int = 0


def _create_from(parsed: argparse.Namespace, schema: Schema, held_out: HeldOut | None, rows: FileRows) -> StoreRows:
    """Create a store whose rows are copied from a file, or from memory if all are there."""
    from ..features.schema import RecordFile
    from ..planner.defaults import default_slots
    from ..records import LeftOut, check_slots
    from ..store import Store
    from ..store.store import DryRun
    from .release import open_tombstones

    data = parsed.data if rows.table is None else rows.table
    tombstones = open_tombstones(parsed)
    made: list[Chosen] = []

    def plan_for(rows: int) -> Plan:
        slots = check_slots(default_slots(rows) if parsed.slots is None else parsed.slots, rows)
        made.append(plan_for_rows(parsed, schema, slots))
        return made[-1].plan

    named = schema if schema.id_column is not None else _with_numbered_ids(schema)
    with suppress(ValueError):  # not in the main thread
        # as for Ctrl-C: rows already written are overwritten
        signal.signal(signal.SIGTERM, signal.default_int_handler)
    with progress_bar("fill", rows.rows or None, unit="row") as progress:
        reading = RecordFile(
            schema, data, parsed.delimiter, numbered=True, held_out=held_out, labelled=True, progress=progress
        )
        with suppress(DryRun):
            Store.create_from(
                parsed.store, reading, named, plan_for, tombstones=tombstones, dry_run=parsed.dry_run
            ).close()
    left_out = LeftOut(rows=reading.dropped + reading.unlabelled)
    counted = reading.rows, reading.clipped, reading.unknown
    kinds = reading.unlabelled, reading.held, reading.alike, reading.dropped
    return StoreRows(reading.seen, *counted, left_out, made[-1], *kinds)


def report_store(parsed: argparse.Namespace, schema: Schema, found: StoreRows, *, numbered: bool) -> int:
    """Print the plan and every count of rows or cells that are not as in the file, by `report_created`; return 0.

    Counts of the text are printed only where they are not 0; the JSON answer has all.

    Args:
        parsed: Arguments of the command.
        schema: Schema of the store.
        found: The rows and the plan of the store.
        numbered: Whether the ids are row numbers, because no column names the records.
    """
    from .remaining_budget import room_text
    from .schema_arguments import list_columns

    plan = found.choice.plan
    facts = {
        "records": found.rows,
        "rows_read": found.seen,
        "ids": {"column": schema.id_column, "numbered": [1, found.seen] if numbered else None},
        "clipped": dict(found.clipped),
        "unknown": dict(found.unknown),
        "rows_left_out": found.left_out.rows,
        "unlabelled": found.unlabelled,
        "alike_ids": found.alike,
        "beyond_rows_per_subject": found.beyond,
        "rows_per_subject": schema.rows_per_subject,
        "held_out": found.held_out,
        **({"subjects_left_out": found.left_out.subjects} if parsed.source is not None else {}),
        "from_data": list(schema.from_data),
    }
    outside = {name: count for name, count in found.clipped.items() if count}
    free = plan.problem.records - found.rows
    text = f"{found.rows} records in {plan.problem.records} slots ({free} free), {schema.features} features\n{room_text(plan)}\n"
    text += "".join(f"{line}\n" for line in left_out_lines(facts))
    text += "".join(f"{line}\n" for line in alike_lines(facts))
    strange = [name for name, count in found.unknown.items() if count == found.rows > 0]
    if strange:
        text += f"WARNING: every value of {list_columns(strange)} is unknown to the schema, so the column says nothing: compare its list with the file\n"
    if outside:
        text += f"values clipped to their bounds (shown here only, not stored): {_format_cell_counts(outside)}\n"
    if parsed.source is not None:
        left_out = found.left_out.describe(
            plan.problem.rows_per_subject, schema.subject_column or str(schema.id_column)
        )
        text += f"{left_out}\n" if left_out else ""
    text += f"{numbered_line(facts, parsed.data)}; new rows name theirs in a column {NUMBERED!r}\n" if numbered else ""
    if not numbered and parsed.data is not None:
        text += f"ids: column {schema.id_column!r}\n"
    if schema.from_data:
        text += f"WARNING: {_data_ranges_warning(schema)}\n"
    return report_created(parsed, schema, found.choice, text, facts)


def left_out_lines(facts: Mapping[str, Any], whence: str = "of the schema") -> list[str]:
    """Return a line with the number of rows without a label, and one with that beyond `rows_per_subject`, if not 0.

    Args:
        facts: As `init --json` prints them: `unlabelled`, `beyond_rows_per_subject` and `rows_per_subject` are read.
        whence: Where `rows_per_subject` comes from, for the line.
    """
    beyond = f"beyond the first {facts['rows_per_subject']} of their person (rows_per_subject {whence})"
    counts = (
        (facts["unlabelled"], "have", "has", "no label"),
        (facts["beyond_rows_per_subject"], "are", "is", beyond),
    )
    return [
        f"{rows} row{f's {many}' if rows > 1 else f' {one}'} {why}: left out" for rows, many, one, why in counts if rows
    ]


def alike_lines(facts: Mapping[str, Any]) -> list[str]:
    """Return one warning with the number of ids that differ only in spelling; an empty list if there are none.

    Args:
        facts: As `init --json` prints them, of which `alike_ids` is read.
    """
    alike = facts["alike_ids"]
    if not alike:
        return []
    how = "case, invisible characters, leading zeros, or the spelling of a number"
    return [
        f"WARNING: {alike} ids differ from another one by {how} alone: a request names one row of them, spelled as in the file"
    ]


def numbered_line(facts: Mapping[str, Any], file: str) -> str:
    """Return the sentence that states that the ids are row numbers of `file`, and their first and last one.

    Args:
        facts: As `init --json` prints them; `facts["ids"]["numbered"]` is [first, last].
        file: Name of the file.
    """
    first, last = facts["ids"]["numbered"]
    return f"no column names the records: the ids are the rows' numbers in {file}, {first} to {last}, the header not counted"


def plan_for_rows(parsed: argparse.Namespace, schema: Schema, slots: int) -> Chosen:
    """Return the plan for the arguments at these slots and this schema, with the digest of its feature map.

    An error is raised again with a note of the nearest command that works, if there is one (`attempt_with_suggestion`).

    Args:
        parsed: Arguments of the command, not modified.
        schema: Schema of the rows: features, one-hot blocks, and defaults for loss and row norm.
        slots: n.

    Raises:
        InvalidParameter: If the plan file is for another number of features.
    """
    from .plan_selection import choose_plan
    from .schema_arguments import sizes_of
    from .suggestion import attempt_with_suggestion

    if parsed.features not in (None, schema.features):
        raise InvalidParameter(
            f"--plan: it is for {parsed.features} features, and {parsed.schema} gives {schema.features}"
        )

    def attempt(options: dict[str, Any]) -> Chosen:
        arguments = copy(parsed)
        fill_arguments(arguments, ADVISED, options)
        return choose_plan(arguments, **sizes_of(arguments, schema, slots))

    choice = attempt_with_suggestion(parsed.given_options, attempt, partial(_format_arguments, parsed))
    return replace(choice, plan=choice.plan.of_map(schema.feature_map))


def _format_arguments(parsed: argparse.Namespace, options: dict[str, Any]) -> str:
    """Return the commands by which a problem is passed to this command."""
    again = ", and this command again" if parsed.plan is not None else ", and this command with --plan plan.toml"
    return plan_command(options, file=parsed.plan or "plan.toml") + again


def file_rows(parsed: argparse.Namespace, columns: Container[str] | None = None) -> FileRows:
    """Return the rows of --data, to be read; at most --memory of them are kept.

    Args:
        parsed: Arguments of the command.
        columns: Columns to keep; None: all.
    """
    from ..engine.kernel import quarter_of_memory
    from ..features.schema.files import FileRows

    memory = quarter_of_memory() if parsed.memory is None else parsed.memory
    return FileRows(parsed.data, getattr(parsed, "delimiter", None), columns, memory=memory)


def read_first(rows: FileRows) -> Table:
    """Return the first rows of a file, as `FileRows.first`, read under a progress bar."""
    with progress_bar("read", None, unit="row") as progress:
        return rows.first(progress)


def first_rows_warning(rows: FileRows) -> list[str]:
    """Return the statement that a schema was drafted from the first rows of a file, if it is larger than --memory."""
    if rows.kept == rows.rows:
        return []
    return [f"drafted from the first {rows.kept} of {rows.rows} rows, as many as --memory has room for"]


def note_first_rows(draft: str, rows: FileRows) -> str:
    """Return a drafted schema with a comment that names the rows it was drafted from, if not all."""
    return (
        "".join(f"# {warning}; statements about rows hold for these\n" for warning in first_rows_warning(rows)) + draft
    )


def _count(rows: FileRows) -> int:
    if not rows.rows:
        read_first(rows)
        rows.forget_first()
    return rows.rows


def _rows_a_person(schema: Schema, rows: FileRows) -> float:
    """Return the mean number of rows of a person, rounded up to a power of √2 as it is taken for public; 1 without persons."""
    column, most, persons = schema.subject_column, schema.rows_per_subject, Counter[str]()
    if column is None or (most or 1) == 1:
        return 1.0
    for block in rows.blocks():
        persons.update(block.column(column, "the person each record is about"))
    kept = sum(min(number, most or number) for number in persons.values())
    return 2.0 ** (math.ceil(2 * math.log2(kept / max(1, len(persons)) + 1e-9)) / 2) if kept else 1.0


def report_created(
    parsed: argparse.Namespace, schema: Schema, choice: Chosen, text: str, facts: Mapping[str, Any]
) -> int:
    """Print what was made, or would be with --dry-run, how the plan was chosen, and the plan; return 0.

    The plan is a short text, or in full with --explain.

    Args:
        parsed: Arguments of the command.
        schema: Schema of the store.
        choice: The plan and how it was chosen.
        text: What was made, in words.
        facts: The same for JSON, which also has store, slots, features, the plan's summary, the releases that remain
            after the learn, the advice and a warning.
    """
    from .plan_arguments import describe_plan, named_reason
    from .remaining_budget import releases_remaining

    answer = {
        "store": parsed.store,
        "created": not parsed.dry_run,
        "slots": choice.plan.problem.records,
        "features": schema.features,
        **facts,
        "plan": choice.plan.summary(),
        "after_the_learn": releases_remaining(choice.plan),
        "advice": None if choice.advice is None else choice.advice.to_dict(),
        "service": None if choice.service is None else choice.service.to_dict(),
        **_doubt_fields(choice),
    }
    made = f"{'would make' if parsed.dry_run else 'made'} {parsed.store}: {text.rstrip()}"
    parts = (
        made,
        choice.text(whole=parsed.explain),
        describe_plan(parsed, choice.plan, named_reason(parsed) if choice.advice is None else ""),
    )
    print_result(parsed, answer, ("\n\n" if parsed.explain else "\n").join(filter(None, parts)))
    return 0


def _doubt_fields(choice: Chosen) -> dict[str, str | None]:
    """Return the warning for the JSON answer: that of a weak plan and the caution of the advice, which says what would help."""
    from .remaining_budget import weak_plan_warning

    doubt = weak_plan_warning(choice.plan)
    advisory = None if choice.advice is None else choice.advice.advisory
    return {"warning": "\n".join(filter(None, (doubt["warning"], advisory))) or None}


def _schema(parsed: argparse.Namespace) -> Schema:
    from ..features.schema import Schema
    from .schema_arguments import list_columns

    schema = Schema.read(parsed.schema).with_columns(id=parsed.id, subject=parsed.subject)
    if schema.id_column is None and parsed.data is not None:
        schema = schema.with_columns(id=_index_column(parsed, schema))
    if not schema.confirmed:
        raise InvalidParameter(
            f"{parsed.schema}: confirmed = false: this is a draft whose ranges were read off the data. Replace them by ranges "
            "that are public knowledge, then set confirmed = true"
            + (f". To look at: {list_columns(schema.from_data)}" if schema.from_data else "")
        )
    if schema.rows_per_subject is not None and schema.subject_column is None:
        raise InvalidParameter(
            f"{parsed.schema}: rows_per_subject needs subject, the column that says whose each row is; give --subject COL or take it out"
        )
    if parsed.label not in (None, schema.label_column):
        raise InvalidParameter(f"--label {parsed.label} contradicts the schema's label column {schema.label_column!r}")
    if schema.map is not None and parsed.map.partition(":")[0] not in (AUTO, schema.map.kind):
        raise InvalidParameter(
            f"{parsed.schema}: --map {parsed.map} contradicts its [map], {schema.map.kind!r}; take one of them out"
        )
    return schema


def _index_column(parsed: argparse.Namespace, schema: Schema) -> str | None:
    """Return the index column that names the rows of the file; None if there is none."""
    from ..features.schema.files import index_of

    index = index_of(parsed.data)
    if index is None:
        return None
    column = index.require(parsed.data)
    if column in (*schema.columns, schema.label_column, schema.subject_column):
        raise InvalidParameter(
            f"{parsed.schema}: column {column!r} is the index of {parsed.data}, which names its rows; name another id column with --id COL"
        )
    return column


def _with_numbered_ids(schema: Schema) -> Schema:
    """Return the schema of a table without ids, whose ids are row numbers; later files give them in a column."""
    if NUMBERED in (*schema.columns, schema.label_column):
        raise InvalidParameter(f"--id COL is needed: no column names the records, and {NUMBERED!r} is another column")
    return schema.with_columns(id=NUMBERED)


def _data_ranges_warning(schema: Schema) -> str:
    from .schema_arguments import list_columns

    return (
        f"{len(schema.from_data)} range(s) or list(s) are the data's own, as their entries say: {list_columns(schema.from_data)}. Every figure "
        "here takes them for public knowledge. Replace them by what was known before, and take the line from_data out"
    )


def _format_cell_counts(cells: Mapping[str, int]) -> str:
    """Return counts of cells per column as text, largest first."""
    ordered = sorted(cells, key=cells.__getitem__, reverse=True)
    more = f" and in {len(ordered) - 4} more" if len(ordered) > 4 else ""
    return ", ".join(f"{cells[name]} in {name}" for name in ordered[:4]) + more
