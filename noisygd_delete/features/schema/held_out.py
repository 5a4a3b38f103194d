"""Held-out rows of a file, and selections of the rows of a block."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ...records import CodedRows, Id, Names
from .encoded import Encoded, GatheredRows


class HeldOut:
    """Held-out rows of a file, for evaluation and never for learning; in memory only.

    A coin decides, derived from the data subject (else the record) and a key that is not stored: the coins of different
    subjects are independent, all rows of a subject have the same coin, and a second reading selects the same rows.

    Args:
        share: Of the records, in [0, 1).
        never: Subjects (else records) that are not held out whatever their coin.
    """

    def __init__(self, share: float, never: Iterable[str] = ()) -> None:
        self._key, self._below, self._never = os.urandom(32), share * 2**64, frozenset(never)
        self._parts: list[Encoded] = []

    def begin(self) -> None:
        """Discard the rows held out so far, for a reading from the first row on; the coins remain the same."""
        self._parts = []

    def taken_from(self, block: Encoded) -> NDArray[np.bool_]:
        """Store the block's held-out rows, and return a (rows,) mask of the rows that remain for learning."""
        names = block.ids if block.subjects is None else block.subjects
        assert names is not None
        held = np.zeros(len(names), bool)
        if self._below:
            held[:] = self._coins(map(str, names)) < self._below
            if self._never:
                held &= [str(name) not in self._never for name in names]
        self._parts.append(select_rows(block, held))
        return ~held

    def encoded(self) -> Encoded | None:
        """Return all held-out rows as one block without ids and subjects; None if there are none."""
        parts = [part for part in self._parts if len(part.rows)]
        if not parts:
            return None
        whole = GatheredRows(parts[0].rows.shape[1])
        for part in parts:
            whole.add(replace(part, ids=None, subjects=None))
        return whole.encoded()

    def names(self) -> tuple[list[Id], list[Id]]:
        """Return the ids and the subjects of the held-out rows; an empty list for one that the rows do not have."""
        ids = [name for part in self._parts for name in part.ids or ()]
        return ids, [name for part in self._parts for name in part.subjects or ()]

    def _coins(self, names: Iterable[str]) -> NDArray[np.uint64]:
        """Return one uniform number below 2**64 per name, equal for equal names."""
        copy = hashlib.blake2b(digest_size=8, key=self._key).copy  # faster than to absorb the key for each name
        coins = bytearray()
        for name in names:
            coin = copy()
            coin.update(name.encode())
            coins += coin.digest()
        return np.frombuffer(coins, ">u8")


def select_rows(block: Encoded, kept: NDArray[np.bool_]) -> Encoded:
    """Return the rows of a block where `kept`, (rows,), is true; the block itself if all are."""
    if kept.all():
        return block

    def of(names: Names | None) -> Names | None:
        return None if names is None else names.select(kept)

    rows = block.rows.select(kept) if isinstance(block.rows, CodedRows) else block.rows[kept]
    labels = block.labels[kept]
    targets = None if block.targets is None else block.targets[kept]
    return replace(block, rows=rows, labels=labels, ids=of(block.ids), subjects=of(block.subjects), targets=targets)
