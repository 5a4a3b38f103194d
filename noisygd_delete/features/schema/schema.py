"""Public schema in, rows of norm ≤ R out, record by record.

Guarantee: the row of a record is a function of that record's own cells and of the schema only, so no statistic of the
data enters a feature, and deleting one row leaves every other row unchanged. The float64 norm of the float32 row is at
most R, the radius the loss constants were proven for.

A schema, as TOML (`Schema.read`) or JSON (`Schema.to_dict`); docs/schema.md has every key:

    rows = "unit"                  # each row divided by its own norm, R = 1; or "clip" with radius = R
    intercept = true               # a constant column 1 before the norm is taken; it counts in R
    [label]
    column = "income"
    classes = ["no", "yes"]        # two: −1, +1; more: 0..k−1.  Or bounds = [lo, hi]: a target, mapped to [−1, 1]
    [columns.age]
    bounds = [17, 90]              # public knowledge, never computed from the data
    transform = "log1p"            # or "none", or "signed-log" for bounds known only in order of magnitude
    missing = "column"             # an empty cell: the middle, and 1 in one more column; or a number to use instead
    [columns.workclass]
    categories = ["private", "public"]
    unknown = "column"             # any other value: one more column (default), "zero": none set, "refuse": an error
    [columns.review]
    text = "words"                 # free text, or "characters": hashed runs of 1 to `longest` = 2, `buckets` = 4096
    [columns.employed]
    boolean = ["no", "yes"]        # −1, +1 in one column
    [columns.since]
    dates = ["2013-01-01", "2013-12-31"]
    cycles = ["week", "year"]      # cosine and sine of the position in each
    [map]                          # optional: a public map of all the columns above (see `maps`), except text
    kind = "bins"                  # with its parameters; its SHA-256 is recorded in plan, ledger and certificate

A number is clipped to its bounds, transformed, and mapped to [−1, 1] (0 to 255 with bounds = [-255, 255] gives
[0, 1]). A category becomes one column per listed value, 0 or 1. Columns of the file that the schema does not name are
not read.
"""

from __future__ import annotations

import hashlib
import math
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray

from ...errors import InvalidSchema, UnreadableRows
from ...records import CodedRows, Id, Names, Rows, limited_io
from ..maps.base import PublicMap, normalize_rows, shrink_factors
from ..maps.codec import RowCodec, codec_of
from .cells import FloatColumn, Floats, Fractions
from .columns import Kind, Numeric
from .encoded import Encoded, GatheredRows
from .files import BLOCK_ROWS, Table, read_blocks
from .hashed import Text
from .held_out import HeldOut, select_rows
from .keys import parse
from .listed import GAP, Boolean, Category, refuse_empty
from .values import find_empty, without_label

_CODED = 1 << 14  # rows whose codes are found at once
MOST_UNLISTED = 50  # rows to predict in which a column may have unlisted values only


@dataclass(frozen=True)
class Schema:
    """Public declaration of the columns of a table by the operator.

    Attributes:
        columns: Kind of each feature column.
        label_column: Name of the label column.
        label: `Category` (classes, unknown values rejected) or `Numeric` (target bounds).
        id_column: Column of record ids, if any.
        subject_column: Column of data subjects, if any.
        intercept: Whether rows have a constant column.
        rows: "unit" or "clip".
        radius: R.
        confirmed: False in a draft: its ranges were computed from the data and are not public until a person confirms
            them.
        map: Map of the columns as numbers, before the constant column and the norm.
        rows_per_subject: Only this many rows of each subject, the first in the file, are kept; None: all.
        from_data: Columns whose range or list is marked as computed from the data.
        named_map: Of a store: the digest of the map in its plan; rows of another map are rejected. Erasure needs no
            map.
    """

    columns: dict[str, Kind]
    label_column: str
    label: Numeric | Category
    id_column: str | None = None
    subject_column: str | None = None
    intercept: bool = True
    rows: str = "unit"
    radius: float = 1.0
    confirmed: bool = True
    map: PublicMap | None = None
    rows_per_subject: int | None = None
    from_data: tuple[str, ...] = ()
    named_map: str | None = field(default=None, compare=False)

    @classmethod
    def read(cls, path: str | Path) -> Schema:
        """Return the schema in a TOML file.

        Raises:
            InvalidSchema: If anything is wrong; names the file and the key.
        """
        try:
            fields = tomllib.loads(limited_io.read_text(path, limited_io.SCHEMA, error=InvalidSchema))
        except InvalidSchema:
            raise
        except (ValueError, RecursionError) as error:  # invalid TOML or UTF-8, or a number with thousands of digits
            raise InvalidSchema(f"{path}: not a TOML file ({error})") from error
        return cls.from_dict(fields, str(path), Path(path).resolve().parent)

    @classmethod
    def from_dict(cls, fields: dict[str, Any], source: str = "schema", folder: Path | None = None) -> Schema:
        """Return a schema from its parsed form; unknown keys are rejected, so that typing errors are noticed.

        Args:
            fields: The parsed form.
            source: Name of the schema for messages.
            folder: Base folder of a map's file names.

        Raises:
            InvalidSchema: If anything is wrong; names the source and the key.
        """
        return cls(**parse(fields, source, folder))

    def to_dict(self) -> dict[str, Any]:
        """Return the parsed form for `from_dict`: confirmed, rows, radius, intercept, label and columns always.

        `id`, `subject`, `rows_per_subject` and `map` are in it only where set, `from_data` only in entries computed
        from the data. `named_map` is not.
        """
        label: dict[str, Any] = {"column": self.label_column}
        if isinstance(self.label, Category):
            label["classes"] = list(self.label.values)
        else:
            label |= {"bounds": [self.label.lower, self.label.upper], **self.label.marks()}
        named = {"id": self.id_column, "subject": self.subject_column, "rows_per_subject": self.rows_per_subject}
        return {
            "confirmed": self.confirmed,
            "rows": self.rows,
            "radius": self.radius,
            "intercept": self.intercept,
            **{key: value for key, value in named.items() if value is not None},
            "label": label | self._own(self.label_column),
            "columns": {name: column.to_dict() | self._own(name) for name, column in self.columns.items()},
            **({} if self.map is None else {"map": self.map.to_dict()}),
        }

    def _own(self, column: str) -> dict[str, bool]:
        return {"from_data": True} if column in self.from_data else {}

    def with_columns(self, id: str | None = None, subject: str | None = None) -> Schema:
        """Return the same schema with ids and subjects read from these columns; None or "" keeps the present one."""
        return replace(self, id_column=id or self.id_column, subject_column=subject or self.subject_column)

    def additive(self, **fields: Any) -> Schema:
        """Return the same schema with an additive map of its columns in place of any other map.

        Args:
            **fields: Parameters of `maps.Additive`, such as `levels`; the columns come from the schema.

        Raises:
            InvalidSchema: If a parameter is wrong, or a column is text.
        """
        return Schema.from_dict({**self.to_dict(), "map": {"kind": "additive", **fields}})

    @property
    def levels(self) -> tuple[tuple[int, str], ...]:
        """(levels, kind of curves for `Advice.bears_curves`) of the additive maps to try, in order.

        It is ((7, "many"), (4, "few")); with a signed logarithm, of which numbers fill only a tenth, so that 16 bins
        would put them into two, ((7, "many"), (7, "few"), (5, "wide")).
        """
        wide = any(isinstance(kind, Numeric) and kind.transform == "signed-log" for kind in self.columns.values())
        return ((7, "many"), (7, "few"), (5, "wide")) if wide else ((7, "many"), (4, "few"))

    def for_predictions(self) -> Schema:
        """Return the schema for rows to predict, in which a boolean with a third value is an error.

        Of a boolean with unknown = "zero" an empty cell remains 0. The features are the same; a third value would count
        as half of each.
        """
        strict = {
            name: replace(kind, unknown=GAP) if isinstance(kind, Boolean) and kind.unknown == "zero" else kind
            for name, kind in self.columns.items()
        }
        return replace(self, columns=strict)

    def check_listed(self, encoded: Encoded) -> None:
        """Check that no column of rows to predict consists of unlisted values only, which means a different spelling.

        Raises:
            InvalidSchema: If a column does, with at least `MOST_UNLISTED` rows.
        """
        for name, unknown in encoded.unknown.items():
            if unknown == len(encoded.rows) >= MOST_UNLISTED:
                raise InvalidSchema(
                    f"column {name!r}: none of {unknown} cells is one of the listed values; write them as the table that the model was made of has them"
                )

    @property
    def names(self) -> list[str]:
        """One name per feature, in the order of the row: of its columns, or "KIND K" of a map.

        With `intercept`, "(constant)" is the last.
        """
        names = [name for column, kind in self.columns.items() for name in kind.names(column)]
        if self.map is not None:
            names = [f"{self.map.kind} {place}" for place in range(self.map.width)]
        return names + ["(constant)"] * self.intercept

    def reads(self) -> frozenset[str]:
        """Return the names of a file's columns that are read: features, label, id and subject."""
        named = (self.label_column, self.id_column, self.subject_column)
        return frozenset([*self.columns, *(name for name in named if name is not None)])

    @property
    def features(self) -> int:
        """Number of features of a row, the intercept included."""
        columns = sum(kind.width for kind in self.columns.values())
        return (columns if self.map is None else self.map.width) + self.intercept

    @property
    def target_norm(self) -> float | None:
        """B of a ridge for a target: the norm that a good model may have; None for maps without a `target_norm`.

        It is the norm of weights with which one column, of norm R/√columns, takes the prediction from end to end.
        """
        norm = math.sqrt(len(self.columns) + self.intercept) if self.map is None else self.map.target_norm
        return None if norm is None else norm / self.radius

    @property
    def feature_map(self) -> str | None:
        """SHA-256 of all public maps that make the rows, those of text columns included; None if there is none."""
        maps = [kind.ngrams for kind in self.columns.values() if isinstance(kind, Text)]
        if self.map is not None:
            return self.map.digest
        return hashlib.sha256("".join(each.digest for each in maps).encode()).hexdigest() if maps else None

    @property
    def map_of_rows(self) -> PublicMap | None:
        """The map whose rows, with a constant and of norm R, are the table's rows.

        None without a map, without intercept, and with rows = "clip".
        """
        return self.map if self.intercept and self.rows == "unit" else None

    @property
    def codec(self) -> RowCodec | None:
        """How the rows are stored as codes; None unless `map_of_rows` is a map with codes (an additive one)."""
        return None if self.map_of_rows is None else codec_of(self.map_of_rows, self.radius)

    @property
    def one_hot_blocks(self) -> tuple[int, ...]:
        """The columns for `bounds.objective_perturbation`: k for k one-hot columns, one hot in every row, else 0 each.

        The intercept is a block of 1. With a map it is 0 for every feature, the intercept included. A category with
        unknown = "zero" may have none hot, so its columns count as numbers; so do both columns of a cycle, and the one
        that marks an empty cell. This holds for every row that the schema can make, so noise shaped by it needs no look
        at the data.
        """
        if self.map is not None:
            return (0,) * self.features
        blocks = [block for kind in self.columns.values() for block in kind.blocks]
        return (*blocks, *([1] if self.intercept else []))

    @property
    def classes(self) -> tuple[str, ...] | None:
        """Class names in label order, None for a target."""
        return self.label.values if isinstance(self.label, Category) else None

    def encode(self, table: Table, *, labelled: bool = True, coded: bool = False) -> Encoded:
        """Return rows, labels, ids, subjects and counts of `table`; every row is a function of its own cells.

        Args:
            table: The table.
            labelled: Whether the label column is read; otherwise labels are 0 (rows to predict).
            coded: Whether rows that have a `codec` are returned as `CodedRows`, which take a few bytes each.

        Raises:
            InvalidSchema: If a cell does not fit, at the first such column (`UnreadableRows`); a column is missing; or
                `named_map` is another map's digest.
        """
        if self.named_map is not None and self.named_map != self.feature_map:
            raise InvalidSchema(
                "this version of the program makes other features of a record than the one that made the table, whose map the plan "
                "names: use that version, or make a new store from the records. Erasures need no map and go on"
            )
        count = len(table)
        width = sum(kind.width for kind in self.columns.values())
        rows = np.zeros((count, width + self.intercept))
        squares = np.full(count, float(self.intercept))
        clipped, unknown, at = {}, {}, 0
        for name, kind in self.columns.items():
            written = kind.write(rows[:, at : at + kind.width], table, name)
            squares += written.squares  # column by column: a row's norm cannot depend on its neighbours
            if written.clipped is not None:
                clipped[name] = written.clipped
            if written.unknown is not None:
                unknown[name] = written.unknown
            at += kind.width
        encoded: Rows | CodedRows
        if coded and self.map is not None and (codec := self.codec) is not None:
            parts = [codec.to_stored(np.empty((0, codec.blocks)))]
            parts += [codec.to_stored(self.map.codes(rows[k : k + _CODED, :at])) for k in range(0, count, _CODED)]
            encoded = CodedRows(np.concatenate(parts), codec)
        elif self.map is not None:
            encoded = normalize_rows(
                self.map.features(rows[:, :at]), radius=self.radius, constant=self.intercept, clip=self.rows == "clip"
            )
        else:
            if self.intercept:
                rows[:, at] = 1.0
            rows *= shrink_factors(np.sqrt(squares), self.radius, clip=self.rows == "clip")[:, None]
            encoded = rows.astype(np.float32)
        labels, targets = self._labels(table) if labelled else (np.zeros(count), None)
        if targets is not None and isinstance(self.label, Numeric):
            clipped[self.label_column] = self.label.outside(targets)
        ids = subjects = None
        if self.id_column is not None:
            ids = _identifiers(table, self.id_column, "the id of each record")
        if self.subject_column is not None:
            subjects = _identifiers(table, self.subject_column, "the person each record is about")
        return Encoded(encoded, labels, ids, subjects, clipped, unknown, targets=targets)

    def encode_readable(
        self, table: Table, *, labelled: bool = True, coded: bool = False
    ) -> tuple[Encoded, list[int], list[UnreadableRows]]:
        """Return `encode` of the readable rows; a row with a cell that does not fit is left out.

        Returns:
            The encoded rows, their indices in `table`, and for each column at fault an error with the rows left out.

        Raises:
            InvalidSchema: If a column is missing.
        """
        kept, faults = list(range(len(table))), list[UnreadableRows]()
        while True:
            try:
                return self.encode(table, labelled=labelled, coded=coded), kept, faults
            except UnreadableRows as error:
                faults.append(error)
                bad = set(error.rows)
                stay = [row for row in range(len(table)) if row not in bad]
                kept, table = [kept[row] for row in stay], table.part(stay)

    def encode_file(self, path: str | Path, delimiter: str | None = None, *, readable: bool = False) -> Encoded:
        """Return `encode` of a whole CSV or Parquet file, read in blocks; ids must be distinct.

        The first `rows_per_subject` rows of each subject are kept, the others counted in `dropped`. Besides the result,
        a few blocks are in memory; `RecordFile` yields them without the result.

        Args:
            path: The file.
            delimiter: See `read_blocks`.
            readable: Whether rows that cannot be read are left out and reported (`skipped`).

        Raises:
            InvalidSchema: If the file is damaged, an id repeats, or a cell does not fit without `readable`.
        """
        reading, whole = RecordFile(self, path, delimiter, readable=readable), GatheredRows(self.features)
        reading.read(whole.add, lambda: whole.ids)
        return replace(whole.encoded(), dropped=reading.dropped, skipped=tuple(reading.skipped))

    def encode_readable_file(
        self,
        path: str | Path,
        delimiter: str | None = None,
        *,
        labelled: bool = True,
        progress: Callable[[int], None] | None = None,
    ) -> tuple[Encoded, NDArray[np.int64], list[UnreadableRows]]:
        """Return `encode_readable` of a whole file, read in blocks; rows that have a `codec` are `CodedRows`.

        Repeated ids are not an error, and `rows_per_subject` is not applied.

        Args:
            path: The file.
            delimiter: See `read_blocks`.
            labelled: See `encode`.
            progress: Called with the number of rows read so far, after each block.

        Raises:
            InvalidSchema: If a column is missing, or the file is damaged.
        """
        whole, kept, seen = GatheredRows(self.features), list[NDArray[np.int64]](), 0
        faults = dict[tuple[str, str, str], tuple[list[int], list[int]]]()
        for table in read_blocks(path, delimiter, rows=_block_rows(self, coded=True), columns=self.reads()):
            block, rows, wrong = self.encode_readable(table, labelled=labelled, coded=True)
            whole.add(block)
            kept.append(seen + np.array(rows, np.int64))
            for fault in wrong:
                rows_at_fault, lines = faults.setdefault((fault.source, fault.column, fault.problem), ([], []))
                rows_at_fault += [seen + row for row in fault.rows]
                lines += fault.lines
            seen += len(table)
            if progress is not None:
                progress(seen)
        wrong = [UnreadableRows(*where, *found) for where, found in faults.items()]
        return whole.encoded(), np.concatenate(kept), wrong

    def decode(self, labels: npt.ArrayLike) -> list[str] | list[float]:
        """Return class names, or targets in their own unit clipped to the bounds, of labels in the engine's coding.

        Args:
            labels: −1/+1 for two classes, 0..k−1 for more, numbers in [−1, 1] for a target.
        """
        coded = np.asarray(labels, np.float64)
        if isinstance(self.label, Numeric):
            return [float(value) for value in self.label.unscale(coded)]
        places = (coded + 1) / 2 if len(self.label.values) == 2 else coded
        return [self.label.values[int(place)] for place in places]

    def _labels(self, table: Table) -> tuple[Floats, Floats | None]:
        """Return labels in the engine's coding, and the values of a target in the file."""
        if isinstance(self.label, Numeric):
            refuse_empty(table, self.label_column)
            targets = self.label.numbers(table, self.label_column)
            return self.label.scaled(targets), targets
        if "" not in self.label.values:
            refuse_empty(table, self.label_column)
        found = self.label.positions(table, self.label_column).astype(np.float64)
        return (2 * found - 1 if len(self.label.values) == 2 else found), None


def _identifiers(table: Table, column: str, purpose: str) -> Names:
    texts = table.column(column, purpose)
    if isinstance(texts, (FloatColumn, Fractions)):
        raise InvalidSchema(
            f"{table.source}, column {column!r}: fractional numbers, and {purpose} needs one text everywhere (1.0 is 1 elsewhere): store whole "
            "numbers or text there"
        )
    missing = find_empty(texts, ())
    if missing.any():
        raise table.fault(missing, column, f"empty; {purpose} must be given")
    return Names.of(texts)


# --- reading ---
#
# A file of records as rows, in blocks: the caller decides what stays in memory.


_LINES = 10  # named in one sentence
_CELLS = 1 << 24  # of one block, as numbers
_Lines = NDArray[np.int64]


def _block_rows(schema: Schema, *, coded: bool) -> int:
    """Return how many rows to read at a time."""
    width = schema.map.inputs if coded and schema.codec is not None and schema.map is not None else schema.features
    return max(1, min(BLOCK_ROWS, _CELLS // max(1, width or 1)))


class RecordFile:
    """A table, or a CSV or Parquet file, read by a schema; of each subject the first `rows_per_subject` rows, in file order.

    Args:
        schema: The schema.
        data: The file, or its rows.
        delimiter: See `read_blocks`.
        numbered: Whether records without an id column get the ids 1, 2, …, in file order.
        held_out: Takes some rows for evaluation, which are then not yielded.
        readable: Whether rows that cannot be read are left out and reported instead of raising an error.
        labelled: Whether rows without a label are left out and counted instead of raising an error.
        progress: Called with the number of rows read so far, after each block.

    Attributes:
        seen: Rows of the file, after `read`; the following attributes too.
        rows: Rows yielded.
        unlabelled: Rows without a label.
        dropped: Rows beyond their subject's `rows_per_subject`.
        held: Rows held out.
        clipped: Clipped cells per column.
        unknown: Unknown cells per column.
        skipped: Descriptions of rows that cannot be read.
        alike: Ids that read like another one (see `fold_name`).
    """

    def __init__(
        self,
        schema: Schema,
        data: str | Path | Table,
        delimiter: str | None = None,
        *,
        numbered: bool = False,
        held_out: HeldOut | None = None,
        readable: bool = False,
        labelled: bool = False,
        progress: Callable[[int], None] | None = None,
    ) -> None:
        self._progress = progress
        self.readable, self.skipped = readable, list[str]()
        self.labelled, self.unlabelled = labelled, 0
        self.schema, self.delimiter, self.held_out = schema, delimiter, held_out
        self._table = data if isinstance(data, Table) else None
        self.path: str | Path = data.source if isinstance(data, Table) else data
        self.numbered = numbered and schema.id_column is None
        self.seen = self.rows = self.dropped = self.held = self.alike = 0
        self.clipped, self.unknown = Counter[str](), Counter[str]()

    def read(self, take: Callable[[Encoded], None], taken: Callable[[], Names | None], *, coded: bool = False) -> None:
        """Read the whole file, pass every block to `take`, check that ids are distinct, and set the counts.

        Args:
            take: Called with each block.
            taken: Returns the ids of all rows passed so far.
            coded: See `Schema.encode`.

        Raises:
            InvalidSchema: If a cell does not fit, or a record repeats an earlier id: whichever comes first in the file.
        """
        try:
            for block in self.blocks(coded=coded):
                take(block)
        except InvalidSchema:
            self._check_ids(taken())
            raise
        names = taken()
        self._check_ids(names)
        self.alike = 0 if names is None or self.numbered else names.count_alike()

    def blocks(self, *, coded: bool = False) -> Iterator[Encoded]:
        """Read the file from the first row on and yield its rows in blocks; ids are not compared.

        Args:
            coded: See `Schema.encode`.

        Raises:
            InvalidSchema: If a cell does not fit, no row can be read, or no row has a label.
        """
        for block, _ in self._blocks(coded=coded):
            yield block

    def _blocks(self, *, coded: bool = False) -> Iterator[tuple[Encoded, _Lines]]:
        self.seen = self.rows = self.dropped = self.unlabelled = self.held = 0
        self.clipped, self.unknown, self.skipped = Counter(), Counter(), []
        schema, of_subject = self.schema, Counter[Id | None]()
        readable, unread = 0, list[UnreadableRows]()
        if self.held_out is not None:
            self.held_out.begin()
        coded = coded and schema.codec is not None
        size = _block_rows(schema, coded=coded)
        columns = schema.reads()
        given = read_blocks(self.path, self.delimiter, rows=size, columns=columns)
        for whole in given if self._table is None else self._table.blocks(size, columns):
            table, places = self._with_label(whole)
            numbers, self.seen = [self.seen + 1 + place for place in places], self.seen + len(whole)
            if not len(table):
                continue
            block, read, faults = self._encoded(table, coded=coded)
            self.skipped += describe_faults(faults)
            readable, unread = readable + len(read), unread + faults
            lines = np.asarray(table.lines)[read]
            if self.numbered:
                block = replace(block, ids=Names.of([str(numbers[row]) for row in read.tolist()]))
            self.clipped.update(block.clipped)
            self.unknown.update(block.unknown)
            if schema.rows_per_subject is not None and block.subjects is not None:
                kept = _first_of_each(block.subjects, of_subject, schema.rows_per_subject)
                self.dropped += int(np.count_nonzero(~kept))
                block, lines = select_rows(block, kept), lines[kept]
            if self.held_out is not None:
                stays = self.held_out.taken_from(block)
                self.held += int(np.count_nonzero(~stays))
                block, lines = select_rows(block, stays), lines[stays]
            self.rows += len(block.rows)
            yield block, lines
            if self._progress is not None:
                self._progress(self.seen)
        if unread and not readable:
            raise unread[0]
        if self.unlabelled == self.seen:
            raise InvalidSchema(f"{self.path}: no row has a label; name another column with --label, in the schema too")

    def _with_label(self, table: Table) -> tuple[Table, Sequence[int]]:
        """Return the rows that have a label if one is required, and their positions."""
        if not self.labelled:
            return table, range(len(table))
        empty = without_label(table.column(self.schema.label_column, "the label"), self.schema.classes or ())
        if not empty.any():
            return table, range(len(table))
        self.unlabelled += int(empty.sum())
        kept = np.flatnonzero(~empty).tolist()
        return table.part(kept), kept

    def _encoded(self, table: Table, *, coded: bool) -> tuple[Encoded, NDArray[np.intp], list[UnreadableRows]]:
        if not self.readable:
            return self.schema.encode(table, coded=coded), np.arange(len(table)), []
        block, kept, faults = self.schema.encode_readable(table, coded=coded)
        return block, np.array(kept, np.intp), faults

    def _check_ids(self, names: Names | None) -> None:
        found = None if names is None else names.first_repeat
        if found is not None:
            first, again = self._lines_of(found)
            raise InvalidSchema(
                f"{self.path}, line {again}, column {self.schema.id_column!r}: the same id as line {first}; "
                "every record needs its own id (use the subject column for the person)"
            )

    def _lines_of(self, rows: tuple[int, int]) -> list[int]:
        """Return the lines of these rows, in order; the file is read again, because lines are not stored per row."""
        found: list[int] = []
        before = 0
        for _, lines in self._blocks(coded=True):
            found += [int(lines[row - before]) for row in rows if before <= row < before + len(lines)]
            before += len(lines)
            if len(found) == len(rows):
                break
        return found


def describe_faults(faults: Iterable[UnreadableRows], what: str = "left out") -> list[str]:
    """Return a sentence for each fault: how many rows, their first ten lines, the column, and what is wrong.

    Args:
        faults: Faults of columns, as `Schema.encode_readable` returns them.
        what: What is done with the rows.
    """
    return [
        f"{len(fault.lines)} row{'s' * (len(fault.lines) > 1)} {what} (line {', '.join(map(str, fault.lines[:_LINES]))}"
        f"{', …' * (len(fault.lines) > _LINES)}): column {fault.column!r} {fault.problem}"
        for fault in faults
    ]


def _first_of_each(subjects: Names, of_subject: Counter[Id | None], most: int) -> NDArray[np.bool_]:
    """Return which rows to keep, by file order only, independent of any other cell."""
    kept = np.zeros(len(subjects), bool)
    for row, subject in enumerate(subjects):
        of_subject[subject] += 1
        kept[row] = of_subject[subject] <= most
    return kept
