"""Validation of numeric input (tables of rows, columns of labels), memory-mapped arrays, sparse rows, coded rows."""

from __future__ import annotations

import mmap
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InvalidRequest

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Id = int | str
Rows = NDArray[np.float32]
Labels = NDArray[np.float64]

_CHUNK = 4096  # rows checked at a time
# Smaller entries make subnormal products in float32, which many processors compute ten times slower: the time of a
# release would reveal such a table.
LEAST_ENTRY = 2.0**-100
_HELD = 1 << 26  # bytes of a mapped table that its validation keeps in memory
# a copy-on-write mapping (mode "c") would lose its changes, including erasures, with its pages
_SHARED = ("r", "r+", "w+")


def check_numbers(name: str, value: ArrayLike, error: type[Exception]) -> NDArray[np.float64]:
    """Return `value` as finite float64. Strings, objects and booleans raise `error`."""
    try:
        array = np.asarray(value)
    except ValueError as problem:
        raise error(f"{name} must be a rectangular array of numbers: {problem}") from problem
    if array.dtype.kind not in "iuf":
        raise error(f"{name} has dtype {array.dtype}; it must hold numbers (encode categories with a schema first)")
    array = array.astype(np.float64)
    if not np.isfinite(array).all():
        raise error(f"{name} holds NaN or infinite values; replace or remove them: a certificate cannot cover them")
    return array


def check_matrix(name: str, value: ArrayLike, error: type[Exception]) -> Rows:
    """Return `value` as a new float32 table, converted a few rows at a time; a mapped float32 table is not copied.

    Entries smaller than `LEAST_ENTRY` in magnitude become 0, which no bound on a row's norm notices; a mapped table
    must not contain any.
    """
    try:
        given = value if isinstance(value, np.memmap) else np.asarray(value)
    except ValueError:
        given = check_numbers(name, value, error)  # raises the error
    if given.ndim != 2:
        given = check_numbers(name, given, error)
        raise error(f"{name} has shape {given.shape}; it must be (rows, features)")
    pages = file_mapping(given) if given.dtype == np.float32 and given.flags.c_contiguous else None
    rows = np.empty(given.shape, np.float32) if pages is None else given
    held = 0
    for first in range(0, max(1, len(given)), _CHUNK):
        part = check_numbers(name, given[first : first + _CHUNK], error)
        if part.size and not np.abs(part).max() <= np.finfo(np.float32).max:
            raise error(f"{name} holds values too large for float32; scale the features by public bounds first")
        tiny = np.abs(part) < LEAST_ENTRY
        if pages is None:
            rows[first : first + _CHUNK] = np.where(tiny, 0, part)
            continue
        if part[tiny].any():
            raise error(
                f"{name} holds values below {LEAST_ENTRY:.0e} in size; write 0 in their place into the mapped file"
            )
        held += part.nbytes // 2  # as float32
        if held > _HELD or first + _CHUNK >= len(given):
            release_memory(pages)
            held = 0
    return rows


def check_column(name: str, value: ArrayLike, length: int, error: type[Exception]) -> Labels:
    """Return `value` as a finite float64 column of this length."""
    array = check_numbers(name, value, error)
    if array.shape != (length,):
        raise error(f"{name} has shape {array.shape}; it must be ({length},): one per row")
    return array


def file_mapping(rows: NDArray[Any]) -> mmap.mmap | None:
    """Return the file mapping behind an array, if the array can contain only what the file contains; else None."""
    if getattr(rows, "mode", None) not in _SHARED:
        return None
    base: Any = rows
    while isinstance(base, np.ndarray):
        base = base.base
    return base if isinstance(base, mmap.mmap) else None


def release_memory(pages: mmap.mmap) -> None:
    """Release the pages of a mapping from this process's memory; they are read again on demand."""
    if hasattr(pages, "madvise"):
        pages.madvise(mmap.MADV_DONTNEED)


# --- sparse rows ---
#
# Compressed sparse rows in memory.
#
# Slot i has the values `data[starts[i]:starts[i + 1]]` in the columns at the same positions; a free slot has none. An
# edit rewrites all three arrays, as the number of a row's values is private too, and overwrites the old ones with
# zeros: neither values nor columns nor their number remain of an erased row. Both copies exist during the edit.


NO_ARRAY = (
    "this reads rows written out with all their zeros, and those of this table are sparse: they are learned from in memory, on the "
    "processor, by one process, with method 'objective-perturbation', 'output-perturbation' or one of noisy steps. Give rows as an array (features.toarray()) "
    "if memory has room for them"
)
_LARGEST = 2**31 - 1  # column number, in int32


class SparseRows:
    """(rows, width) float32; the columns of a row ascend without repetition, and no stored value is 0.

    Args:
        data: (values,) float32.
        columns: (values,) int32.
        starts: (rows + 1,) int64, from 0 to the number of values.
        width: Number of columns.
    """

    def __init__(
        self, data: NDArray[np.float32], columns: NDArray[np.int32], starts: NDArray[np.int64], width: int
    ) -> None:
        self._data, self._columns, self._starts = data, columns, starts
        self.shape = (len(starts) - 1, width)

    @classmethod
    def of(cls, name: str, value: Any, error: type[Exception]) -> SparseRows:
        """Convert a matrix of `scipy.sparse` or a dense one to a new table; values are validated as in `check_matrix`.

        Repeated entries of one position are summed, as in scipy.

        Raises:
            error: If the input is not a rectangle of finite numbers within float32, or its arrays are inconsistent.
        """
        from scipy.sparse import csr_array  # imported on use: most tables are dense

        if len(value.shape) != 2 or value.shape[1] > _LARGEST:
            raise error(f"{name} has shape {value.shape}; it must be (rows, features)")
        given = value.tocsr() if hasattr(value, "tocsr") else csr_array(value)
        try:
            given.check_format(full_check=True)
        except ValueError as problem:
            raise error(f"{name} is no table of sparse rows: {problem}; make it again, as a csr_array") from problem
        whole = csr_array(
            (check_numbers(name, given.data, error), given.indices.copy(), given.indptr.copy()), given.shape
        )
        whole.sum_duplicates()
        if whole.nnz and not np.abs(whole.data).max() <= np.finfo(np.float32).max:
            raise error(f"{name} holds values too large for float32; scale the features by public bounds first")
        whole.data[np.abs(whole.data) < LEAST_ENTRY] = 0
        whole.eliminate_zeros()
        arrays = whole.data.astype(np.float32), whole.indices.astype(np.int32), whole.indptr.astype(np.int64)
        return cls(*arrays, given.shape[1])

    @classmethod
    def empty(cls, rows: int, width: int) -> SparseRows:
        """Return rows of zeros."""
        return cls(np.zeros(0, np.float32), np.zeros(0, np.int32), np.zeros(rows + 1, np.int64), width)

    @classmethod
    def stack(cls, parts: Sequence[SparseRows]) -> SparseRows:
        """Stack tables of equal width vertically."""
        lengths = [np.diff(part._starts) for part in parts]
        starts = np.concatenate([[0], np.concatenate(lengths).cumsum()]).astype(np.int64)
        data, columns = (np.concatenate(arrays) for arrays in zip(*((p._data, p._columns) for p in parts), strict=True))
        return cls(data, columns, starts, parts[0].shape[1])

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, slot: int) -> Rows:
        """Return one dense row, of shape (width,)."""
        row, part = np.zeros(self.shape[1], np.float32), slice(self._starts[slot], self._starts[slot + 1])
        row[self._columns[part]] = self._data[part]
        return row

    @property
    def nonzeros(self) -> int:
        """Number of non-zero values."""
        return len(self._data)

    @property
    def nbytes(self) -> int:
        """Size of the three arrays in bytes."""
        return self._data.nbytes + self._columns.nbytes + self._starts.nbytes

    def entries(self, step: int = 1) -> tuple[NDArray[np.float32], NDArray[np.int32], NDArray[np.int64]]:
        """Return `data`, `columns` and `starts` of every `step`-th row; do not modify those of all rows (`step=1`)."""
        if step == 1:
            return self._data, self._columns, self._starts
        return self.select(np.arange(0, len(self), step)).entries()

    @property
    def lengths(self) -> NDArray[np.int64]:
        """(rows,) number of non-zero values of each row."""
        return np.diff(self._starts)

    def select(self, rows: NDArray[np.intp]) -> SparseRows:
        """Return these rows, in this order, as a new table."""
        lengths = self.lengths[rows]
        starts = np.concatenate([[0], lengths.cumsum()]).astype(np.int64)
        places = np.repeat(self._starts[rows] - starts[:-1], lengths) + np.arange(starts[-1])
        return SparseRows(self._data[places], self._columns[places], starts, self.shape[1])

    def select_values(self, places: NDArray[np.intp]) -> SparseRows:
        """Return the same rows with only the values at these ascending positions of `data`."""
        return SparseRows(self._data[places], self._columns[places], places.searchsorted(self._starts), self.shape[1])

    def copy(self) -> SparseRows:
        """Return an independent table with the same content."""
        return SparseRows(self._data.copy(), self._columns.copy(), self._starts.copy(), self.shape[1])

    def written_out(self) -> Rows:
        """Return all rows as a dense array."""
        rows: Rows = self.part(0, len(self)).toarray()
        return rows

    def part(self, first: int, last: int, dtype: str = "float32") -> csr_array:
        """Return the rows from `first` to `last` as a scipy array; in float32 a read-only view."""
        from scipy.sparse import csr_array

        starts = self._starts[first : last + 1]
        held = slice(starts[0], starts[-1])
        values, columns = self._data[held], self._columns[held]
        for view in (values, columns):
            view.flags.writeable = False
        within = starts - starts[0]
        if within[-1] <= _LARGEST:  # same dtype as the columns: otherwise scipy would copy them
            within = within.astype(np.int32)
        arrays = values.astype(dtype, copy=False), columns, within
        return csr_array(arrays, shape=(last - first, self.shape[1]))

    def write_rows(self, slots: NDArray[np.int64], rows: SparseRows) -> None:
        """Write `rows` into these distinct slots; the old arrays are overwritten with zeros."""
        lengths = np.diff(self._starts)
        lengths[slots] = np.diff(rows._starts)
        starts = np.concatenate([[0], lengths.cumsum()]).astype(np.int64)
        data, columns = np.empty(starts[-1], np.float32), np.empty(starts[-1], np.int32)
        order = np.argsort(slots).tolist()
        after = 0  # the first slot not written yet
        for place in [*order, None]:
            slot = len(self) if place is None else int(slots[place])
            if after < slot:  # copied directly: a temporary array would not be overwritten
                there, here = slice(starts[after], starts[slot]), slice(self._starts[after], self._starts[slot])
                data[there], columns[there] = self._data[here], self._columns[here]
            if place is not None:
                there, here = slice(starts[slot], starts[slot + 1]), slice(rows._starts[place], rows._starts[place + 1])
                data[there], columns[there] = rows._data[here], rows._columns[here]
            after = slot + 1
        old = self._data, self._columns, self._starts
        self._data, self._columns, self._starts = data, columns, starts
        for array in old:
            array.fill(0)


# --- coded rows ---
#
# Rows of a public map as the few codes that determine them (`features.maps.codec`): they are expanded as they are read.


class Codec(Protocol):
    """Conversion between rows and codes; the null record is 0 in every block."""

    @property
    def width(self) -> int:
        """Number of features of a row."""

    @property
    def coding(self) -> Any:
        """Meaning of the codes, of which equal maps have the same object."""

    def to_codes(self, stored: NDArray[Any]) -> NDArray[np.int64]:
        """Return codes counted from 0, of rows that are not null."""

    @property
    def blocks(self) -> int:
        """Number of codes of a row."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the codes."""

    @property
    def entries(self) -> int:
        """Largest number of non-zero values of a row."""

    def check(self, stored: NDArray[Any]) -> NDArray[np.bool_]:
        """Return which rows are not null; raise `InvalidRecords` if codes are not valid."""

    def encode(self, rows: Any, error: type[Exception]) -> NDArray[Any]:
        """Return the codes of rows, dense or sparse; raise `error` if the map does not make them."""

    def decode(self, stored: NDArray[Any]) -> Rows:
        """Return dense rows."""

    @property
    def parents(self) -> NDArray[np.int32]:
        """(width,) the feature that each feature implies in every row; −1 for none."""

    @property
    def code_values(self) -> list[NDArray[np.float64]]:
        """(codes,) of each block: the value of all entries of a code, times a row's factor the value in the row."""

    def factors(self, stored: NDArray[Any]) -> NDArray[np.float64]:
        """Return (rows,) factors of the values of rows that are not null; raise as `check`."""

    def rows_of_each_norm(self, stored: NDArray[Any]) -> NDArray[np.intp]:
        """Return the places of rows among which is every norm of these rows; raise as `check`."""

    def decode_sparse(self, stored: NDArray[Any], *, last: bool = False, padded: bool = False) -> SparseRows:
        """Return the rows without their zeros; with `last`, without the values that others imply too.

        If `padded`, all rows have as many values, some of them 0.
        """


class CodedRows:
    """(rows, width) float32 rows, stored as codes. A slice or a selection of them is a new dense array.

    Args:
        codes: (rows, blocks), in memory or mapped from a file.
        codec: What they mean.
        skips_zeros: Whether sums over the rows may take time that reveals how many values are zeros.
    """

    dtype = np.dtype(np.float32)

    def __init__(self, codes: NDArray[Any], codec: Codec, *, skips_zeros: bool = False) -> None:
        self.codes, self.codec, self.skips_zeros = codes, codec, skips_zeros
        self.shape = (len(codes), codec.width)

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def size(self) -> int:
        """Number of values, including zeros."""
        return self.shape[0] * self.shape[1]

    @property
    def nbytes(self) -> int:
        """Size in bytes of the dense rows."""
        return self.size * self.dtype.itemsize

    def __getitem__(self, part: Any) -> Rows:
        """Return the selected rows as a dense array, of shape (width,) for a single row."""
        if isinstance(part, (int, np.integer)):
            row: Rows = self.codec.decode(self.codes[part : part + 1 or None])[0]
            return row
        return self.codec.decode(self.codes[part])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Return all rows as a dense array."""
        return self.codec.decode(self.codes).astype(self.dtype if dtype is None else dtype, copy=False)

    def select(self, rows: Any) -> CodedRows:
        """Return the selected rows as codes."""
        return self._with(self.codes[rows])

    def sparse(self, first: int = 0, last: int | None = None) -> SparseRows:
        """Return the rows from `first` to `last` without their zeros."""
        return self.codec.decode_sparse(self.codes[first:last])

    def copy(self) -> CodedRows:
        """Return an independent table with the same content, in memory."""
        return self._with(np.array(self.codes))

    def _with(self, codes: NDArray[Any]) -> CodedRows:
        return CodedRows(codes, self.codec, skips_zeros=self.skips_zeros)

    def nulls(self, rows: int) -> CodedRows:
        """Return null rows of the same kind."""
        return self._with(np.zeros((rows, self.codec.blocks), self.codec.dtype))

    def append(self, parts: Iterable[Any]) -> CodedRows:
        """Return these rows followed by others, coded, dense or sparse.

        Raises:
            InvalidRequest: If a row is not one of the map.
        """
        own = self.codec
        coded = [
            p.codes if isinstance(p, CodedRows) and p.codec is own else own.encode(p, InvalidRequest) for p in parts
        ]
        return self._with(np.concatenate([self.codes, *coded]))


Table = Rows | SparseRows | CodedRows


def table_of(name: str, value: Any, error: type[Exception]) -> Table:
    """Return `value` as a new table, sparse if the input is sparse; of codes only their validity is checked."""
    if isinstance(value, CodedRows):
        value.codec.check(value.codes)
        return value
    return SparseRows.of(name, value, error) if hasattr(value, "tocsr") else check_matrix(name, value, error)


def to_dense(value: Any) -> NDArray[Any]:
    """Return a few rows, sparse or not, as a dense array."""
    return np.asarray(value.toarray() if hasattr(value, "tocsr") else value)


def null_rows(rows: int, like: Table) -> Table:
    """Return null rows in the format of `like`."""
    if isinstance(like, CodedRows):
        return like.nulls(rows)
    if isinstance(like, SparseRows):
        return SparseRows.empty(rows, like.shape[1])
    return np.zeros((rows, like.shape[1]), np.float32)


def append_rows(first: Table, parts: Iterable[Table]) -> Table:
    """Append rows of the same width to `first`, in the format of `first`.

    Raises:
        InvalidRequest: If `first` has codes, and a row is not one of its map.
    """
    if isinstance(first, CodedRows):
        return first.append(parts)
    if isinstance(first, SparseRows):
        thin = [p if isinstance(p, SparseRows) else SparseRows.of("rows", np.asarray(p), InvalidRequest) for p in parts]
        return SparseRows.stack([first, *thin])
    return np.concatenate([first, *[p.written_out() if isinstance(p, SparseRows) else np.asarray(p) for p in parts]])
