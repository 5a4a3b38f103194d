"""Public schema in, rows of norm ≤ R out, record by record.

Guarantee: the row of a record is a function of that record's own cells and of the schema, and of nothing else, so no
statistic of anybody's data enters a feature and deleting one row leaves every other row as it was. The float64 norm
of the float32 row is at most R, the radius the loss constants were proven for.

A schema, as TOML (`Schema.read`) or JSON (`Schema.to_dict`); docs/schema.md has every key:

    rows = "unit"                  # each row divided by its own norm, R = 1; or "clip" with radius = R
    intercept = true               # a constant column 1 before the norm is taken; it counts in R
    [label]
    column = "income"
    classes = ["no", "yes"]        # two: −1, +1; more: 0..k−1.  Or bounds = [lo, hi]: a target, mapped to [−1, 1]
    [columns.age]
    bounds = [17, 90]              # public knowledge, never read off the data
    transform = "log1p"            # or "none", or "signed-log" for bounds known in order of magnitude alone
    missing = "column"             # an empty cell: the middle, and 1 in one more column; or a number that stands in
    [columns.workclass]
    categories = ["private", "public"]
    unknown = "column"             # any other value: one more column (default), "zero": none set, "refuse": an error
    [columns.review]
    text = "words"                 # free text, or "characters": hashed runs of 1 to `longest` = 2, in `buckets` = 4096 columns
    [columns.employed]
    boolean = ["no", "yes"]        # −1, +1 in one column
    [columns.since]
    dates = ["2013-01-01", "2013-12-31"]
    cycles = ["week", "year"]      # cosine and sine of the place in each
    [map]                          # optional: a public map of all the columns above (see `maps`), text apart
    kind = "bins"                  # with its parameters; its SHA-256 stands in plan, ledger and certificate

A number is clipped to its bounds, transformed, and mapped to [−1, 1] (0 to 255 with bounds = [-255, 255] gives
[0, 1]). A category becomes one column per listed value, 0 or 1. Columns of the file that the schema does not name are
not read.
"""

from __future__ import annotations

import hashlib
import math
import tomllib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...errors import InvalidSchema, UnreadableRows
from ...records import Names, bounded
from ..maps import PublicMap, normalised
from . import values
from .columns import GAP, Boolean, Category, Kind, Numeric, refuse_empty
from .encoded import Encoded, Gathered
from .hashed import Text
from .keys import parse
from .text import FloatColumn, Floats, Fractions

if TYPE_CHECKING:
    from .files import Table

# Rounding to float32 moves a row's norm by at most a relative 2^-24; twice that is left free.
_HEADROOM = 1 - 2.0**-23
MOST_UNLISTED = 50  # rows to predict of which a column may have no cell of its list


@dataclass(frozen=True)
class Schema:
    """What the operator declares in public about the columns of a table.

    label       column name and either `Category` (classes, unknown refused) or `Numeric` (target bounds)
    confirmed   False in a draft: its ranges were read off the data and are not public until a person says so
    rows_per_subject   of each subject the first so many rows of a file are kept; None: all
    map         of the columns as numbers, before the constant column and the norm
    from_data   columns whose range or list says that it was read off the data
    named_map   of a store: the digest that its plan names; rows of another map are refused. No erasure makes any
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
        """A schema from a TOML file; every fault is an `InvalidSchema` naming the file and the key."""
        try:
            fields = tomllib.loads(bounded.text(path, bounded.SCHEMA, error=InvalidSchema))
        except InvalidSchema:
            raise
        except (ValueError, RecursionError) as error:  # TOML, UTF-8, or a number of thousands of digits
            raise InvalidSchema(f"{path}: not a TOML file ({error})") from error
        return cls.from_dict(fields, str(path), Path(path).resolve().parent)

    @classmethod
    def from_dict(cls, fields: dict[str, Any], source: str = "schema", folder: Path | None = None) -> Schema:
        """A schema from its parsed form; unknown keys are refused, so that no typing error goes unnoticed.

        folder: where the name of a map's file begins.
        """
        return cls(**parse(fields, source, folder))

    def to_dict(self) -> dict[str, Any]:
        """The form `from_dict` reads back."""
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
        """The same schema reading ids and subjects from these columns."""
        return replace(self, id_column=id or self.id_column, subject_column=subject or self.subject_column)

    def additive(self, **fields: Any) -> Schema:
        """The same on an additive map of its columns (`maps.Additive`), which has these fields."""
        return Schema.from_dict({**self.to_dict(), "map": {"kind": "additive", **fields}})

    @property
    def levels(self) -> tuple[tuple[int, bool], ...]:
        """Of an additive map of its columns, in the order in which to try them, and whether they count as few. On a signed logarithm, a tenth of
        which is all that numbers fill, 16 bins would hold them in two."""
        wide = any(isinstance(kind, Numeric) and kind.transform == "signed-log" for kind in self.columns.values())
        return ((7, False), (7, True), (5, True)) if wide else ((7, False), (4, True))

    def for_predictions(self) -> Schema:
        """The same features of rows to predict, among which a boolean that is neither of its two values is an error: it would count as
        half of each."""
        strict = {
            name: replace(kind, unknown=GAP) if isinstance(kind, Boolean) and kind.unknown == "zero" else kind
            for name, kind in self.columns.items()
        }
        return replace(self, columns=strict)

    def check_listed(self, encoded: Encoded) -> None:
        """Raise `InvalidSchema` where rows to predict have a column of which no cell is of its list: it is written otherwise than the
        table was."""
        for name, unknown in encoded.unknown.items():
            if unknown == len(encoded.rows) >= MOST_UNLISTED:
                raise InvalidSchema(
                    f"column {name!r}: none of {unknown} cells is one of the listed values; write them as the table that the model was made of has them"
                )

    @property
    def names(self) -> list[str]:
        """One name per feature, in the order of the row."""
        names = [name for column, kind in self.columns.items() for name in kind.names(column)]
        if self.map is not None:
            names = [f"{self.map.kind} {place}" for place in range(self.map.width)]
        return names + ["(constant)"] * self.intercept

    def reads(self) -> frozenset[str]:
        """The columns of a file that are read."""
        named = (self.label_column, self.id_column, self.subject_column)
        return frozenset([*self.columns, *(name for name in named if name is not None)])

    @property
    def features(self) -> int:
        columns = sum(kind.width for kind in self.columns.values())
        return (columns if self.map is None else self.map.width) + self.intercept

    @property
    def target_norm(self) -> float | None:
        """B of a ridge for a target: the norm of weights with which one column, of norm R/√columns, takes the prediction from end to end;
        None for maps whose features are of no one column."""
        norm = math.sqrt(len(self.columns) + self.intercept) if self.map is None else self.map.target_norm
        return None if norm is None else norm / self.radius

    @property
    def feature_map(self) -> str | None:
        """SHA-256 of all public maps that make the rows; None where the columns are the features."""
        maps = [kind.ngrams for kind in self.columns.values() if isinstance(kind, Text)]
        if self.map is not None:
            return self.map.digest
        return hashlib.sha256("".join(each.digest for each in maps).encode()).hexdigest() if maps else None

    @property
    def map_of_rows(self) -> PublicMap | None:
        """The map whose rows, with a constant and of norm R, are the table's: what they are is then told by the map alone."""
        return self.map if self.intercept and self.rows == "unit" else None

    @property
    def one_hot_blocks(self) -> tuple[int, ...]:
        """The columns as `bounds.noise_shape` reads them: k for k one-hot columns of which every row has one hot, else 0 each.

        A category with unknown = "zero" may have none hot, so its columns count as numbers do; so do both columns of a cycle, and the
        one that says a cell was empty. What follows is true of every row that this schema can make, so noise shaped by it needs no
        look at the data.
        """
        if self.map is not None:
            return (0,) * self.features
        blocks = [block for kind in self.columns.values() for block in kind.blocks]
        return (*blocks, *([1] if self.intercept else []))

    @property
    def classes(self) -> tuple[str, ...] | None:
        """Class names in label order, None for a target."""
        return self.label.values if isinstance(self.label, Category) else None

    def encode(self, table: Table, *, labelled: bool = True) -> Encoded:
        """Rows and labels of `table`. Raises `InvalidSchema` at the first cell that does not fit.

        `labelled` False: the label column is not read, labels are 0 (rows to predict).
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
        if self.map is not None:
            encoded = normalised(
                self.map.features(rows[:, :at]), radius=self.radius, constant=self.intercept, clip=self.rows == "clip"
            )
        else:
            if self.intercept:
                rows[:, at] = 1.0
            rows *= self._shrink(np.sqrt(squares))[:, None]
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
        self, table: Table, *, labelled: bool = True
    ) -> tuple[Encoded, list[int], list[UnreadableRows]]:
        """The rows that can be read, which they are, and for each column what is wrong with the others.

        Raises:
            InvalidSchema: a column is missing.
        """
        kept, faults = list(range(len(table))), list[UnreadableRows]()
        while True:
            try:
                return self.encode(table, labelled=labelled), kept, faults
            except UnreadableRows as error:
                faults.append(error)
                bad = set(error.rows)
                stay = [row for row in range(len(table)) if row not in bad]
                kept, table = [kept[row] for row in stay], table.part(stay)

    def encode_file(self, path: str | Path, delimiter: str | None = None, *, readable: bool = False) -> Encoded:
        """`encode` over a CSV or Parquet file, block by block; ids must differ. Of each subject the first `rows_per_subject` rows are
        kept. Beside the result, a few blocks are in memory; `RecordFile` has them without the result. `readable`: rows that cannot be read
        are left out and told of (`skipped`)."""
        from .reading import RecordFile  # reads files, which whoever holds a table has no more

        reading, whole = RecordFile(self, path, delimiter, readable=readable), Gathered(self.features)
        reading.read(whole.add, lambda: whole.ids)
        return replace(whole.encoded(), dropped=reading.dropped, skipped=tuple(reading.skipped))

    def decode(self, labels: npt.ArrayLike) -> list[str] | list[float]:
        """Class names, or targets in their own unit, of labels in the engine's coding."""
        coded = np.asarray(labels, np.float64)
        if isinstance(self.label, Numeric):
            return [float(value) for value in self.label.raw(coded)]
        places = (coded + 1) / 2 if len(self.label.values) == 2 else coded
        return [self.label.values[int(place)] for place in places]

    def _shrink(self, norms: Floats) -> Floats:
        limit = self.radius * _HEADROOM
        with np.errstate(divide="ignore"):
            factors = limit / norms
        if self.rows == "clip":
            return np.minimum(1.0, factors)
        return np.where(norms > 0, factors, 0.0)

    def _labels(self, table: Table) -> tuple[Floats, Floats | None]:
        """In the engine's coding; and of a target the values as the file has them."""
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
    missing = values.find_empty(texts, ())
    if missing.any():
        raise table.fault(missing, column, f"empty; {purpose} must be given")
    return Names.of(texts)
