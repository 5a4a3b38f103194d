"""Additive models: dyadic bins of every number, one entry per category. Under a linear head each column has a curve."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import InvalidParameter, check_count
from .base import Floats, PublicMap, check_inputs, check_width, normalize_rows
from .coding import NO_ENTRY, CodedBlock, Codes, Coding, entry_block, tree_block

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_ROWS = 4096  # at a time
_NONE = NO_ENTRY  # the place of a missing entry


class Term(NamedTuple):
    """One column of an additive model.

    Attributes:
        column: Its place.
        edges: (values + 1,) ends of the finest bins, in [−1, 1]; None for a category and for a sign.
        values: Contributions to a score: by bin, by category, or for − and +.
        missing: Contribution of an empty cell; None if no cell may be empty.
    """

    column: int
    edges: Floats | None
    values: Floats
    missing: float | None = None


class PairTerm(NamedTuple):
    """Boxes of two columns.

    Attributes:
        columns: Places of the two columns.
        edges: Of each column, see `Term`.
        values: (parts of the first, parts of the second).
    """

    columns: tuple[int, int]
    edges: tuple[Floats | None, Floats | None]
    values: Floats


@dataclass(frozen=True)
class Additive(PublicMap):
    """Map in which each column of the table is a block of norm 1, and a row has few nonzero entries.

    A number in [−1, 1] is, at each level l = 1 … `levels`, in one of 2^l equal bins; each gives an entry 1/√levels. A
    category gives one entry 1. Fine bins share what coarse ones learn: the penalty on a step between two neighbouring
    bins decreases with the size of the bin that separates them.

    Attributes:
        columns: One entry for each column of the table: 0 for a number, k for k 0/1 columns of a category (set by a
            schema).
        levels: Levels of bins.
        amounts: Places in `columns` of numbers whose lower end, usually an amount of 0, gives no entry.
        logarithmic: Places of numbers with bins of equal width in ± log(1 + |value|/`finest`), for ranges known only in
            order of magnitude.
        finest: For these, the share of half the range below which values are not distinguished.
        gaps: Places of numbers followed by a 0/1 column that marks an empty cell; 1 is then the only entry (set by a
            schema).
        pairs: Places of two columns each, whose boxes are a block too.
        pair_levels: Levels of boxes, 2^l bins a side.
        signs: Places of numbers of which only the sign counts: two entries, and none at 0 (set by a schema for
            booleans).
    """

    columns: tuple[int, ...]
    levels: int = 7
    amounts: tuple[int, ...] = ()
    logarithmic: tuple[int, ...] = ()
    finest: float = 1e-5
    gaps: tuple[int, ...] = ()
    pairs: tuple[tuple[int, int], ...] = ()
    pair_levels: int = 3
    signs: tuple[int, ...] = ()

    kind: ClassVar[str] = "additive"

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", tuple(check_count("columns", width, minimum=0) for width in self.columns))
        check_count("levels", self.levels, maximum=16)
        check_count("pair_levels", self.pair_levels, maximum=6)
        if not 0 < self.finest < 1:
            raise InvalidParameter("must be above 0 and below 1, a part of half the range", finest=self.finest)
        if not self.columns:
            raise InvalidParameter("the map 'additive' needs at least one column")
        for name in ("amounts", "logarithmic", "gaps", "signs"):
            places = getattr(self, name)
            wrong = [place for place in places if place not in range(len(self.columns)) or self.columns[place]]
            if wrong or len(set(places)) < len(places):
                raise InvalidParameter("must be places of numbers, from 0, each once", **{name: list(places)})
        if set(self.signs) & {*self.amounts, *self.logarithmic, *self.gaps}:
            raise InvalidParameter("signs: a number whose sign alone counts has no amounts, scale or gap")
        for pair in self.pairs:
            if len(set(pair)) < 2 or not set(pair) <= set(range(len(self.columns))):
                raise InvalidParameter(f"pairs: {list(pair)} must be the places of two columns, from 0")
        check_width(self.kind, self.width)

    @property
    def inputs(self) -> int:
        """Numbers per record: one for a number, k for a category of k columns, and one more for each of the `gaps`."""
        return sum(width or 1 for width in self.columns) + len(self.gaps)

    @cached_property
    def blocks(self) -> tuple[range, ...]:
        """The range of features of each column, in the order of `columns`, then of each of the `pairs`."""
        sizes = [width or self._numbers_of(place) + (place in self.gaps) for place, width in enumerate(self.columns)]
        sizes += [sum(size for size, _ in self._boxes(pair)) for pair in self.pairs]
        ends = np.cumsum([0, *sizes]).tolist()
        return tuple(range(first, last) for first, last in pairwise(ends))

    @property
    def width(self) -> int:
        """Features of all blocks, those of the columns and then those of the pairs.

        These are 2^(levels + 1) − 2 of a number, 2 of a sign, k of a category, 1 more for a gap, and the boxes of a
        pair.
        """
        return self.blocks[-1].stop

    @property
    def target_norm(self) -> float:  # type: ignore[override]
        """Least norm of weights whose curve for one number is a straight line over the whole range of the prediction.

        A step at depth d of the tree costs 2^−d levels/4.
        """
        return math.sqrt(self.levels / 2 * (len(self.columns) + 1))

    def to_dict(self) -> dict[str, Any]:
        """Return the kind and parameters for `maps.from_dict`; `signs` only if not empty."""
        fields = super().to_dict()
        if not self.signs:  # omitted, as in maps written before this field existed
            del fields["signs"]
        return fields

    def _numbers_of(self, place: int) -> int:
        """Return the number of features of a number."""
        return 2 if place in self.signs else 2 ** (self.levels + 1) - 2

    def features(self, inputs: Any) -> Floats:
        """Return (records, width) dense features: each block with an entry has norm 1, one without is 0.

        A block is 0 for an amount of 0, for a sign of 0, and for a category of which no column is hot.
        """
        places, values = self._entries(inputs)
        made, every = np.zeros((len(places), self.width)), np.arange(len(places))
        for at, value in zip(places.T, values.T, strict=True):
            there = at != _NONE
            made[every[there], at[there]] = value[there]
        return made

    @property
    def coding(self) -> Coding:
        """Meaning of one code per block; equal maps have the same object."""
        return _coding_of(self)

    def codes(self, inputs: Any) -> Codes:
        """Return (records, blocks) int64 codes of the records, counted from 0, which determine their `rows`."""
        given = check_inputs(inputs, self.inputs)
        coding, lasts = self.coding, [np.empty((0, len(self.blocks)), np.intp)]
        for first in range(0, len(given), _ROWS):
            lasts.append(np.stack([where[:, -1] for where in self._places(given[first : first + _ROWS])], axis=1))
        return coding.of_last_places(np.concatenate(lasts))

    def sparse_rows(self, inputs: Any, *, radius: float = 1.0, constant: bool = True) -> csr_array:
        """Return `rows`, bit by bit, as a (records, width + constant) csr_array of float32 without zeros."""
        from scipy.sparse import csr_array

        places, values = self._entries(inputs)
        short = normalize_rows(values, radius=radius, constant=constant)
        if constant:
            places = np.column_stack([places, np.full(len(places), self.width)])
        there = places != _NONE
        starts = np.concatenate([[0], there.sum(axis=1).cumsum()])
        return csr_array((short[there], places[there], starts), shape=(len(places), self.width + constant))

    def terms(self, weights: Floats) -> list[Term]:
        """Return the contribution of each column, in the order of `columns`, to the unscaled score of a head.

        A row's score is the sum of its terms (those of pairs too) and of the constant's weight, over √(1 + number of
        columns and pairs that have an entry): the same divisor for every row, unless amounts of 0 or unknown values
        omit columns.

        Args:
            weights: (width,) or (width + 1,) with the constant's last.

        Raises:
            InvalidParameter: If the number of weights is wrong.
        """
        given, found, parts = np.asarray(weights, np.float64).reshape(-1), [], 2**self.levels
        if len(given) not in (self.width, self.width + 1):
            raise InvalidParameter(f"{len(given)} weights for a map of {self.width} features: give those of one score")
        for place, block in enumerate(self.blocks[: len(self.columns)]):
            if self.columns[place] or place in self.signs:
                found.append(Term(place, None, given[block.start : block.stop]))
                continue
            edges = np.linspace(0.0, 1.0, parts + 1)
            bins = self._bins_at((edges[:-1] + edges[1:]) / 2, block.start)
            missing = float(given[block.stop - 1]) if place in self.gaps else None
            found.append(
                Term(place, self._unscaled(place, edges), given[bins].sum(axis=1) / math.sqrt(self.levels), missing)
            )
        return found

    def pair_terms(self, weights: Floats) -> list[PairTerm]:
        """Return the terms of each of the `pairs`, without boxes of unknown categories; see `terms`.

        Args:
            weights: (width,) or (width + 1,) with the constant's last.
        """
        given, found, parts = np.asarray(weights, np.float64).reshape(-1), list[PairTerm](), 2**self.pair_levels
        edges = np.linspace(0.0, 1.0, parts + 1)
        for pair, block in zip(self.pairs, self.blocks[len(self.columns) :], strict=True):
            one, other = (np.arange(self.columns[place] or parts) for place in pair)
            places = self._in_boxes(pair, block, (one[:, None], other))
            ends = [None if self.columns[place] else self._unscaled(place, edges) for place in pair]
            values = given[places].sum(axis=-1) / math.sqrt(places.shape[-1])
            found.append(PairTerm(pair, (ends[0], ends[1]), values))
        return found

    def monotone(self, weights: Floats, directions: Mapping[int, int]) -> Floats:
        """Return a copy of the weights with which these columns' terms are monotone: the nearest such curves.

        Only weights of the finest bins differ. Every bin has equal weight, so the result is a function of published
        weights and of the arguments alone, and reveals nothing more.

        Args:
            weights: Weights of one score.
            directions: By place, 1 for nondecreasing and −1 for nonincreasing; numbers only, and no `amounts`, whose
                lower end has no bin.

        Raises:
            InvalidParameter: If a place has no curve.
        """
        from scipy.optimize import isotonic_regression

        made, terms = np.array(weights, np.float64), {term.column: term for term in self.terms(weights)}
        flat = made.reshape(-1)
        for place, direction in directions.items():
            if place not in terms or terms[place].edges is None or place in self.amounts:
                raise InvalidParameter(
                    "only a number with bins everywhere has a curve that may be made monotone", column=place
                )
            values = terms[place].values
            raised = isotonic_regression(values, increasing=direction > 0).x - values
            finest = self.blocks[place].start + 2**self.levels - 2
            flat[finest : finest + len(values)] += math.sqrt(self.levels) * raised
        return made

    def _entries(self, inputs: Any) -> tuple[NDArray[np.intp], Floats]:
        """Return (records, entries) places, ascending, and values: 0 if the place is `_NONE`."""
        given = check_inputs(inputs, self.inputs)
        parts = []
        for first in range(0, max(1, len(given)), _ROWS):
            blocks = self._places(given[first : first + _ROWS])
            parts.append([np.concatenate(part, axis=1) for part in (blocks, list(map(self._values, blocks)))])
        places, values = (np.concatenate(part) for part in zip(*parts, strict=True))
        return places, values

    def _places(self, given: Floats) -> list[NDArray[np.intp]]:
        """Return, for each block, (records, entries) places, `_NONE` without entry; the last determines the others."""
        places, codes, at = list[NDArray[np.intp]](), list[NDArray[np.intp]](), 0
        for place, width in enumerate(self.columns):
            if width:
                hot = given[:, at : at + width] > 0
                code = np.where(hot.any(axis=1), hot.argmax(axis=1), width)
                places.append(np.where(code < width, self.blocks[place].start + code, _NONE)[:, None])
                codes.append(code)
            else:
                value, start = given[:, at], self.blocks[place].start
                unit = self._scaled(place, value)
                if place in self.signs:
                    bins = np.where(value == 0, _NONE, start + (value > 0))[:, None]
                else:
                    bins = self._bins_at(unit, start)
                if place in self.amounts:
                    bins[value <= -1] = _NONE
                if place in self.gaps:
                    at += 1
                    absent = given[:, at] > 0
                    bins[absent] = _NONE
                    bins[absent, -1] = self.blocks[place].stop - 1
                places.append(bins)
                codes.append(_part(unit, 2**self.pair_levels))
            at += width or 1
        for pair, block in zip(self.pairs, self.blocks[len(self.columns) :], strict=True):
            places.append(self._in_boxes(pair, block, [codes[place] for place in pair]))
        return places

    def _values(self, where: NDArray[np.intp]) -> Floats:
        """Return the values of one block: of norm 1, or 0 if it has no entry."""
        there = where != _NONE
        return np.asarray(there / np.sqrt(np.maximum(1, there.sum(axis=1)))[:, None])

    def _scaled(self, place: int, values: Floats) -> Floats:
        """Map [−1, 1] to [0, 1], on the scale of the bins."""
        if place in self.logarithmic:
            values = np.sign(values) * np.log1p(np.abs(values) / self.finest) / math.log1p(1 / self.finest)
        return np.clip((values + 1) / 2, 0.0, 1.0)

    def _unscaled(self, place: int, unit: Floats) -> Floats:
        """Map [0, 1] on the scale of the bins back to [−1, 1]."""
        values = 2 * unit - 1
        if place in self.logarithmic:
            values = np.sign(values) * np.expm1(np.abs(values) * math.log1p(1 / self.finest)) * self.finest
        return values

    def _bins_at(self, unit: Floats, start: int) -> NDArray[np.intp]:
        """Return (records, levels), the place of each level's bin."""
        finest = _part(unit, 2**self.levels)
        bins = [start + 2**level - 2 + (finest >> self.levels - level) for level in range(1, self.levels + 1)]
        return np.stack(bins, axis=1)

    def _boxes(self, pair: tuple[int, int]) -> list[tuple[int, int]]:
        """Return, for each level, the number of boxes and how many of them share a value of the first column."""
        both = all(self.columns[place] for place in pair)
        found = []
        for level in range(1, 2 if both else self.pair_levels + 1):
            one, other = (self.columns[place] + 1 if self.columns[place] else 2**level for place in pair)
            found.append((one * other, other))
        return found

    def _in_boxes(self, pair: tuple[int, int], block: range, codes: Sequence[NDArray[np.intp]]) -> NDArray[np.intp]:
        """Return (…, levels), the place of each level's box for the two columns' categories or finest parts."""
        boxes, found, first = self._boxes(pair), [], block.start
        for coarser, (size, side) in zip(range(len(boxes) - 1, -1, -1), boxes, strict=True):
            one, other = (
                code if self.columns[place] else code >> coarser for place, code in zip(pair, codes, strict=True)
            )
            found.append(first + one * side + other)
            first += size
        return np.stack(found, axis=-1)


def _part(unit: Floats, parts: int) -> NDArray[np.intp]:
    """Return the index of the part of [0, 1] that contains each value, for equal parts."""
    return np.minimum(np.floor(unit * parts), parts - 1).astype(np.intp)


@lru_cache(maxsize=16)
def _coding_of(map: Additive) -> Coding:
    blocks, common = list[CodedBlock](), Fraction(1)
    for place, (width, block) in enumerate(zip(map.columns, map.blocks, strict=False)):
        if width or place in map.signs:
            blocks.append(entry_block(block.start, [*([at] for at in block), []]))
            continue
        others = {"missing": place in map.gaps, "empty": place in map.amounts}
        made, shared = tree_block(block.start, map.levels, **others)
        blocks.append(made)
        common += shared
    for pair, block in zip(map.pairs, map.blocks[len(map.columns) :], strict=True):
        size, side = map._boxes(pair)[-1]
        places = map._in_boxes(pair, block, np.divmod(np.arange(size), side))
        blocks.append(entry_block(block.start, places.tolist()))
    return Coding(tuple(blocks), map.width + 1, common)
