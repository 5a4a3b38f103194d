"""Ids or subjects by slot, packed in a few bytes each and found by a linear scan without an index.

Names are stored in cells (see below); the few that do not fit are in a dictionary by slot: longer texts, very large or
negative numbers, and numbers among texts or texts among numbers.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Self, overload

import numpy as np
from numpy.typing import NDArray

from . import WIDTHS
from .similar import ADDED, POWERS, fold_name
from .values import Id

# --- cells ---
#
# Names in cells of a fixed number of little-endian 64-bit words, which numpy packs, compares and hashes in bulk.
#
# All zeros: the slot is free.
#
# text cells     UTF-8 bytes, zeros, and in the last byte the number of bytes + 2; 1 there: name stored in `others`
# number cells   one word, the number + 2; 1: stored in `others`


WORD = np.dtype("<u8")
Cells = NDArray[np.uint64]
Slots = NDArray[np.int64]
_SHARE = 1 << 22  # names sorted at a time
_BLOCK = 1 << 14  # cells scanned at a time
ELSEWHERE, SHIFT = 1, 2  # marker of a name in `others`; offset of a length or a number
_COST = 4096 // WORD.itemsize  # words that a name in `others` takes on disk (see store.names)
TAG = np.uint64(56)  # bits below the last byte of a word
_MASKS = np.array([(1 << 8 * held) - 1 for held in range(9)], WORD)
# powers of an odd number near 2⁶⁴ over the golden ratio
_MIX = np.cumprod(np.full(max(WIDTHS), 0x9E3779B97F4A7C15, np.uint64))


def pack_texts(buffer: NDArray[np.uint8], starts: NDArray[np.int64], lengths: NDArray[np.int64], words: int) -> Cells:
    """Pack each text into one cell of `words` 64-bit words, padded with zeros, its length + 2 in the last byte.

    Args:
        buffer: Bytes of the texts, with at least 8 bytes after the last one.
        starts: Where each text begins.
        lengths: Bytes of each text, fewer than 8 · words.
        words: Words per cell.

    Returns:
        Shape (texts, words).
    """
    cells = gather_bytes(buffer, starts, lengths, words)
    cells[:, -1] |= (lengths + SHIFT).astype(WORD) << TAG
    return cells


def gather_bytes(buffer: NDArray[np.uint8], starts: NDArray[np.int64], lengths: NDArray[np.int64], words: int) -> Cells:
    """Return (texts, words): the bytes of each text, eight per word and zero-padded, truncated to `words` words."""
    everywhere: Cells = np.ndarray(len(buffer) - 7, WORD, buffer, strides=(1,))  # the word starting at every byte
    cells = np.empty((len(starts), words), WORD)
    for word in range(words):
        left = np.clip(lengths - 8 * word, 0, 8)
        cells[:, word] = everywhere[np.minimum(starts + 8 * word, len(everywhere) - 1)] & _MASKS[left]
    return cells


def width_for(lengths: NDArray[Any]) -> int:
    """Return the cell width, in words, with which texts of these byte lengths take the least space in a store."""

    def cost(words: int) -> int:
        return len(lengths) * words + int(np.count_nonzero(lengths >= 8 * words)) * _COST

    return min(WIDTHS, key=cost)


def widen_cells(cells: Cells, into: Cells, *, texts: bool) -> None:
    """Copy cells into wider ones; the length of a text moves to the new last byte."""
    words = cells.shape[1]
    into[:, :words] = cells
    if texts and words < into.shape[1]:
        tag = cells[:, -1] >> TAG
        into[:, words - 1] &= _MASKS[7]
        into[:, -1] = tag << TAG


def hash_cells(cells: Cells) -> NDArray[np.uint64]:
    """Return one hash word per cell, of shape (slots,)."""
    hashes: NDArray[np.uint64] = cells[:, 0] * _MIX[0]
    for word in range(1, cells.shape[1]):
        hashes += cells[:, word] * _MIX[word]
    hashes ^= hashes >> np.uint64(32)
    hashes *= _MIX[0]
    return hashes


_MOST = (1 << 64) - SHIFT
_HASH = (1 << 64) - 1
_PLAIN_LETTERS = np.zeros(256, np.uint8)  # 1: a lower-case letter, 2: a digit 1 to 9, 3: the digit 0
for _kind, _letters in enumerate((b"abcdefghijklmnopqrstuvwxyz", b"123456789", b"0"), start=1):
    _PLAIN_LETTERS[list(_letters)] = _kind


class Names(Sequence[Any]):
    """One name, or None, per slot.

    Attributes:
        cells: (slots, words), possibly mapped from a file.
        texts: Whether they are text cells.
        others: Names that do not fit their cells, by slot.
    """

    def __init__(self, cells: Cells, *, texts: bool, others: dict[int, Id] | None = None) -> None:
        self.cells, self.texts = cells, texts
        self.others = {} if others is None else others

    @classmethod
    def of(cls, names: Iterable[Id | None]) -> Self:
        """Pack a name or None per slot."""
        if isinstance(names, range) and names.step == 1 and names.start >= 0 and names.stop < _MOST:
            words = np.arange(names.start + SHIFT, names.stop + SHIFT, dtype=WORD)
            return cls(words[:, None], texts=False)
        listed = list(names)
        if any(isinstance(name, str) for name in listed):
            return cls.texts_of(listed)
        return cls._of_numbers(listed)

    @classmethod
    def _of_numbers(cls, names: Sequence[Id | None]) -> Self:
        def word(name: Id | None) -> int:
            if name is None:
                return 0
            return name + SHIFT if isinstance(name, int) and 0 <= name < _MOST else ELSEWHERE

        cells = np.fromiter(map(word, names), WORD, len(names))[:, None]
        far = np.flatnonzero(cells == ELSEWHERE).tolist()
        others = {slot: name for slot in far if (name := names[slot]) is not None}
        return cls(cells, texts=False, others=others)

    @classmethod
    def texts_of(cls, names: Sequence[Id | None], words: int | None = None) -> Self:
        """Pack the names in text cells, `words` wide if given."""
        # callers that store names reject lone surrogates; searching for one is allowed
        written = [name.encode("utf-8", "surrogatepass") if isinstance(name, str) else b"" for name in names]
        lengths = np.fromiter(map(len, written), np.int64, len(written))
        numbered = [slot for slot, name in enumerate(names) if isinstance(name, int)]
        kept = np.fromiter((isinstance(name, str) for name in names), bool, len(names))
        words = width_for(lengths[kept]) if words is None else words
        fits = kept & (lengths < 8 * words)
        buffer = np.frombuffer(b"".join([*written, bytes(8)]), np.uint8)
        cells = pack_texts(buffer, np.cumsum(lengths) - lengths, np.where(fits, lengths, 0), words)
        cells[~kept] = 0
        long = np.flatnonzero(kept & ~fits)
        cells[long] = cells[numbered] = 0
        cells[long, -1] = cells[numbered, -1] = np.uint64(ELSEWHERE) << TAG
        others = {slot: name for slot in (*long.tolist(), *numbered) if (name := names[slot]) is not None}
        return cls(cells, texts=True, others=others)

    @classmethod
    def concatenate(cls, parts: Sequence[Names]) -> Names:
        """Concatenate the parts, whose cells may be reused."""
        if len(parts) == 1:
            return parts[0]
        words = max(part.cells.shape[1] for part in parts)
        if len({part.texts for part in parts}) > 1:
            return cls.of([name for part in parts for name in part])
        cells, others, at = np.zeros((sum(map(len, parts)), words), WORD), {}, 0
        for part in parts:
            here = cells[at : at + len(part)]
            widen_cells(part.cells, here, texts=part.texts)
            others.update({at + slot: name for slot, name in settle_names(here, part.others, texts=part.texts).items()})
            at += len(part)
        return cls(cells, texts=parts[0].texts, others=others)

    def select(self, kept: NDArray[np.bool_]) -> Names:
        """Return the names of the slots where `kept`, (slots,), is True."""
        places = kept.cumsum() - 1
        others = {int(places[slot]): name for slot, name in self.others.items() if kept[slot]}
        return Names(self.cells[kept], texts=self.texts, others=others)

    def copy(self) -> Names:
        """Return an independent copy."""
        return Names(np.array(self.cells), texts=self.texts, others=dict(self.others))

    def with_free_slots(self, free: int) -> Names:
        """Return a copy with `free` empty slots appended."""
        cells = np.concatenate([self.cells, np.zeros((free, self.cells.shape[1]), WORD)])
        return Names(cells, texts=self.texts, others=dict(self.others))

    def __len__(self) -> int:
        return len(self.cells)

    @overload
    def __getitem__(self, slot: int) -> Id | None: ...
    @overload
    def __getitem__(self, slot: slice) -> list[Id | None]: ...
    def __getitem__(self, slot: int | slice) -> Id | list[Id | None] | None:
        if isinstance(slot, slice):
            return [self[place] for place in range(*slot.indices(len(self)))]
        return self._name(range(len(self))[slot], self.cells[slot].tobytes())

    def __iter__(self) -> Iterator[Any]:  # a name or None; Any spares callers with full tables a check
        width = self.cells.shape[1] * WORD.itemsize
        for first in range(0, len(self), _BLOCK):
            data = self.cells[first : first + _BLOCK].tobytes()
            for place in range(len(data) // width):
                yield self._name(first + place, data[place * width : (place + 1) * width])

    def _name(self, slot: int, cell: bytes) -> Id | None:
        held = cell[-1] if self.texts else int.from_bytes(cell, "little")
        if held <= ELSEWHERE:
            return self.others[slot] if held else None
        return cell[: held - SHIFT].decode("utf-8", "surrogatepass") if self.texts else held - SHIFT

    def __eq__(self, other: object) -> bool:
        return list(self) == list(other) if isinstance(other, Sequence) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # compared like a list

    def __contains__(self, name: object) -> bool:
        return isinstance(name, (int, str)) and len(self.find([name])) > 0

    @property
    def is_set(self) -> NDArray[np.bool_]:
        """(slots,) True where there is a name."""
        return self.held_in(slice(None))

    def held_in(self, part: slice) -> NDArray[np.bool_]:
        """Return `is_set` for some slots."""
        return np.asarray(self.cells[part, -1] != 0)

    @property
    def only_texts(self) -> bool:
        """Whether no name is a number."""
        if not self.texts and any(self._in_cells(first).any() for first in range(0, len(self), _BLOCK)):
            return False
        return all(isinstance(name, str) for name in self.others.values())

    @property
    def highest(self) -> int:
        """The largest number among the names; -1 if there is none."""
        here = [name for name in self.others.values() if isinstance(name, int)]
        if not self.texts and len(self):
            here.append(int(self.cells.max()) - SHIFT)
        return max([-1, *here])

    def set_name(self, slot: int, name: Id | None) -> None:
        """Set the name of a slot."""
        self.cells[slot] = self._like([name]).cells[0]
        self.others.pop(slot, None)
        if name is not None and self.cells[slot, -1] == self._elsewhere:
            self.others[slot] = name

    def find(self, wanted: Collection[Id]) -> NDArray[np.int64]:
        """Return the slots that hold any of these names, in ascending order."""
        among = set(wanted)
        here = [slot for slot, name in self.others.items() if name in among]
        keys = self._like(list(among)).cells
        keys = keys[keys[:, -1] != self._elsewhere]
        return np.sort(np.concatenate([np.array(here, np.int64), *self._cells_among(keys)]))

    def _cells_among(self, keys: Cells) -> Iterator[NDArray[np.int64]]:
        if not len(keys):
            return
        bits = min(26, max(16, len(keys).bit_length() + 6))
        shift = np.uint64(64 - bits)
        possible = np.zeros(1 << bits, bool)
        possible[hash_cells(keys) >> shift] = True
        exact = {key.tobytes() for key in keys}
        for first in range(0, len(self), _BLOCK):
            block = self.cells[first : first + _BLOCK]
            near = np.flatnonzero(possible[hash_cells(block) >> shift])
            hits = [first + int(place) for place in near if block[place].tobytes() in exact]
            if hits:
                yield np.array(hits, np.int64)

    def free(self, most: int) -> list[int]:
        """Return the first slots without a name, at most `most`."""
        found: list[int] = []
        for first in range(0, len(self), _BLOCK):
            if len(found) >= most:
                break
            found += (first + np.flatnonzero(self.cells[first : first + _BLOCK, -1] == 0)).tolist()
        return found[:most]

    @property
    def most_alike(self) -> int:
        """Number of slots of the most frequent name; 0 if there are no names."""
        most = max(Counter(self.others.values()).values(), default=0)
        for slots, again in self._sorted():
            starts = np.flatnonzero(np.concatenate([np.ones(min(1, len(slots)), bool), ~again]))
            most = max(most, int(np.diff(starts, append=len(slots)).max(initial=0)))
        return most

    def alike(self) -> NDArray[np.int64]:
        """Return (slots,) the number of slots with the same name as each slot; 0 where there is no name."""
        found = np.zeros(len(self), np.int64)
        for slots, again in self._sorted():
            groups = np.concatenate([np.zeros(min(1, len(slots)), np.int64), np.cumsum(~again)])
            found[slots] = np.bincount(groups)[groups] if len(slots) else 0
        counts = Counter(self.others.values())
        for slot, name in self.others.items():
            found[slot] = counts[name]
        return found

    @property
    def first_repeat(self) -> tuple[int, int] | None:
        """Two slots with the same name, the second as early as possible; None if all names differ."""
        found, seen = list[tuple[int, int]](), dict[Id, int]()
        for slots, again in self._sorted():
            behind = slots[1:][again]
            if len(behind):
                first = int(behind.argmin())
                found.append((int(slots[:-1][again][first]), int(behind[first])))
        for slot, name in sorted(self.others.items()):
            if (first := seen.setdefault(name, slot)) != slot:
                found.append((first, slot))
        return min(found, key=lambda pair: pair[1], default=None)

    def _sorted(self) -> Iterator[tuple[Slots, NDArray[np.bool_]]]:
        """Yield, one share at a time, slots whose names are in cells, equal names adjacent and ordered by slot.

        With them comes, for each slot but the first, whether its name equals the previous one.
        """
        shares = max(1, -(-len(self) // _SHARE))
        for share in range(shares):
            some = [np.zeros(0, np.int64)]
            for first in range(0, len(self), _BLOCK):
                mine = hash_cells(self.cells[first : first + _BLOCK]) % np.uint64(shares) == share
                some.append(first + np.flatnonzero(self._in_cells(first) & mine))
            slots = np.concatenate(some)
            held = self.cells[slots]
            order = np.lexsort(held.T)
            slots, held = slots[order], held[order]
            yield slots, (held[1:] == held[:-1]).all(axis=1)

    @property
    def first_duplicate(self) -> Id | None:
        """The first name, by its second slot, that occurs twice; None if all names differ."""
        found = self.first_repeat
        return None if found is None else self[found[1]]

    def count_alike(self) -> int:
        """Return how many names look like another one, compared by `similar.fold_name`."""
        hashes = [np.zeros(0, np.uint64)]
        for first in range(0, len(self), _BLOCK):
            block = self.cells[first : first + _BLOCK]
            found = hash_cells(block)
            own = self._are_folded(block)
            rest = np.flatnonzero((block[:, -1] != 0) & ~own)
            forms = [fold_name(name) for place in rest.tolist() if (name := self[first + place]) is not None]
            found[rest] = self._hash_forms(forms)
            hashes.append(found[block[:, -1] != 0])
        _, counts = np.unique(np.concatenate(hashes), return_counts=True)
        return int(counts[counts > 1].sum())

    def _are_folded(self, block: Cells) -> NDArray[np.bool_]:
        """Return for some cells whether folding plainly leaves their names as they are.

        That is: digits that do not begin with 0, or lower-case letters and digits that begin with a letter and in which
        no 0 follows a letter.
        """
        if not self.texts:
            return np.zeros(len(block), bool)
        kinds = _PLAIN_LETTERS[np.ascontiguousarray(block).view(np.uint8)[:, :-1]]
        lengths = (block[:, -1] >> TAG).astype(np.int64) - SHIFT
        plain = (kinds != 0).sum(axis=1) == lengths  # padding is of kind 0, like other letters
        digits = (kinds >= 2).sum(axis=1) == lengths
        begins = np.where(digits, kinds[:, 0] == 2, kinds[:, 0] == 1)
        return np.asarray(plain & begins & (lengths > 0) & ~((kinds[:, :-1] == 1) & (kinds[:, 1:] == 3)).any(axis=1))

    def _hash_forms(self, forms: list[str]) -> NDArray[np.uint64]:
        """Return a hash of each text, that of its cell if it fits one."""
        packed = Names.texts_of(forms, self.cells.shape[1])
        hashes = hash_cells(packed.cells)
        for place in packed.others:
            hashes[place] = hash(forms[place]) & _HASH
        return hashes

    def has_similar(self, missing: Id) -> bool:
        """Return whether another name here looks like this one, compared by `similar.fold_name`."""
        form = fold_name(missing)
        if not self.texts:
            number = re.fullmatch("-?[0-9]{1,20}", form)
            found = [] if number is None else [self[slot] for slot in self.find([int(form)]).tolist()]
        else:
            found = [self[slot] for slot in self._slots_near(form)]
        found += self.others.values()
        return any(name not in (None, missing) and fold_name(name) == form for name in found)

    def _slots_near(self, form: str) -> Iterator[int]:
        """Yield slots whose names may fold to `form`: with its letters and digits in any order, or beyond ASCII."""
        wanted = [_hash_letters(form + added) for added in (*ADDED, *(POWERS if form.isdecimal() else ()))]
        high = np.full(self.cells.shape[1], 0x8080808080808080, WORD)
        high[-1] >>= np.uint64(8)  # exclude the length
        for first in range(0, len(self), _BLOCK):
            block = np.ascontiguousarray(self.cells[first : first + _BLOCK])
            hashes = _LETTERS[block.view(np.uint8)[:, :-1]].sum(axis=1)
            near = np.isin(hashes, wanted) | (block & high).any(axis=1)
            yield from (first + np.flatnonzero(near & self._in_cells(first))).tolist()

    @property
    def _elsewhere(self) -> np.uint64:
        return np.uint64(ELSEWHERE) << TAG if self.texts else np.uint64(ELSEWHERE)

    def _in_cells(self, first: int) -> NDArray[np.bool_]:
        """Return for the slots of a block whether their names are in their cells."""
        last = self.cells[first : first + _BLOCK, -1]
        return np.asarray((last != 0) & (last != self._elsewhere))

    def _like(self, names: Sequence[Id | None]) -> Names:
        """Pack these names in cells of the same format."""
        return self.texts_of(names, self.cells.shape[1]) if self.texts else self._of_numbers(names)


def settle_names(cells: Cells, others: Mapping[int, Id], *, texts: bool) -> dict[int, Id]:
    """Move names into cells that are now wide enough, and return those that still do not fit.

    A name that fits a cell must be in one; otherwise a duplicate could go unnoticed.
    """
    if not (texts and others):
        return dict(others)
    slots = list(others)
    names = Names.texts_of([others[slot] for slot in slots], cells.shape[1])
    cells[slots] = names.cells
    return {slots[place]: name for place, name in names.others.items()}


def _letter_hashes() -> NDArray[np.uint64]:
    """Return a word per byte: for an ASCII letter, regardless of case, or a digit 1 to 9; 0 for everything else."""
    hashes = np.zeros(256, WORD)
    for place, letter in enumerate("123456789abcdefghijklmnopqrstuvwxyz", start=1):
        mixed = np.uint64(pow(0x9E3779B97F4A7C15, place + 1, 1 << 64))
        hashes[[ord(letter), ord(letter.upper())]] = mixed
    return hashes


_LETTERS = _letter_hashes()


def _hash_letters(text: str) -> np.uint64:
    """Return the sum of the words of a text's letters and digits, which is independent of their order."""
    return np.uint64(_LETTERS[np.frombuffer(text.encode("ascii", "ignore"), np.uint8)].sum())
