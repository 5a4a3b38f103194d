"""Counts of hashed n-grams of texts: no vocabulary is read from the data."""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...errors import InvalidParameter, InvalidRecords, check_choice, check_count
from .base import Floats, PublicMap, check_width

UNITS = ("words", "characters")
_WORD = re.compile(r"\w+")
_LONGEST = 1 << 20  # characters of a text


@dataclass(frozen=True)
class HashedNgrams(PublicMap):
    """±(1 + log count) in a bucket for every run of 1 to `longest` words or characters of a lower-cased text.

    Attributes:
        units: "words" (runs of letters, digits and _) or "characters".
        longest: Maximum units in a run.
        buckets: Of the hash, BLAKE2, which is the same on every machine; its last bit is the sign.
    """

    units: str = "words"
    longest: int = 2
    buckets: int = 4096

    kind: ClassVar[str] = "ngrams"

    def __post_init__(self) -> None:
        check_choice("units", self.units, UNITS)
        check_count("longest", self.longest, maximum=10)
        check_width(self.kind, check_count("buckets", self.buckets))

    @property
    def inputs(self) -> None:
        """None: the map reads texts."""
        return None

    @property
    def width(self) -> int:
        """Features per record: `buckets`."""
        return self.buckets

    def features(self, inputs: Sequence[str]) -> Floats:
        """Return (texts, buckets): ±(1 + log of its count) for each different n-gram, added up in its bucket.

        N-grams are runs of 1 to `longest` words or characters (`units`) of the text in lower case.

        Raises:
            InvalidRecords: If an input is not a text.
            InvalidParameter: If a text has more than 2^20 characters.
        """
        if isinstance(inputs, str) or not all(isinstance(text, str) for text in inputs):
            raise InvalidRecords("the map 'ngrams' reads a sequence of texts, one a record")
        made = np.zeros((len(inputs), self.buckets))
        for row, text in zip(made, inputs, strict=True):
            for run, times in Counter(self._runs(text)).items():
                hashed = int.from_bytes(
                    hashlib.blake2b(run.encode("utf-8", "replace"), digest_size=8).digest(), "little"
                )
                weight = 1 + math.log(times)
                row[(hashed >> 1) % self.buckets] += weight if hashed & 1 else -weight
        return made

    def _runs(self, text: str) -> Iterator[str]:
        if len(text) > _LONGEST:
            raise InvalidParameter(
                f"a text of {len(text)} characters; the map reads at most {_LONGEST}. Cut it to that"
            )
        lowered = text.lower()
        units, between = (_WORD.findall(lowered), " ") if self.units == "words" else (lowered, "")
        for length in range(1, self.longest + 1):
            for first in range(len(units) - length + 1):
                yield between.join(units[first : first + length])
