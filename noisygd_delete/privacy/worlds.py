"""What a figure compares and assumes: the pair of datasets, the conditions under which it holds, and which δ is valid."""

from __future__ import annotations

from typing import Any

from ..errors import InvalidParameter, Word, check_probability


class Worlds(Word):
    """The two neighbouring datasets, or laws, that a guarantee compares.

    In all but IDEAL_LAW both sides are runs of the same program in finite precision, with its rounding and its solver's
    tolerance, so each may deviate from the result of exact computation.

    Attributes:
        REPLACE: x or another record x′, for a record that is present.
        ZERO_OUT: x or the null record, for a record that is present.
        ERASED_VS_NEVER: x or never present, for a record that was erased. The run without x is a law that never saw it,
            as required by Chourasia & Shah 2023, Definition 4.1.
        PAIRWISE: x or x′, for a record that was erased.
        IDEAL_LAW: x, for a record that was erased, or an ideal law of the remaining records, which no machine runs;
            this suffices for Definition 4.1. The run without x is close to that law, not equal to it, so a test that
            distinguishes the two runs may use both distances; `Guarantee.advantage` is that of such a test.
    """

    REPLACE = "replace"
    ZERO_OUT = "zero-out"
    ERASED_VS_NEVER = "erased-vs-never"
    PAIRWISE = "pairwise"
    IDEAL_LAW = "ideal-law"

    @property
    def about(self) -> str:
        """Subject of the comparison: "dp" for a record that is present, "deletion" for one that was erased."""
        return "dp" if self in ADJACENCIES else "deletion"

    @property
    def between_records(self) -> bool:
        """Whether both sides hold a record (x or x′), rather than one a record and the other none."""
        return self in (Worlds.REPLACE, Worlds.PAIRWISE)

    def sensitivity(self, lipschitz: float, rows: int = 1) -> float:
        """Return Δ: 2L between two records, L against the null record, times the rows of one data subject."""
        return (2 if self.between_records else 1) * lipschitz * rows


ADJACENCIES = (Worlds.REPLACE, Worlds.ZERO_OUT)
DELETION_NOTIONS = (Worlds.ERASED_VS_NEVER, Worlds.PAIRWISE)  # those that a plan may use

LEAST_DELTA = 2.0**-256  # the noise key has 256 bits, and guessing it reveals the records
LARGEST_DELTA = 0.01  # a larger δ would be meaningless

NON_ADAPTIVE = (
    "requests did not depend on earlier models"  # else they may have copied information from a model into other rows
)
FIXED_SCHEDULE = "nothing that was seen decided when a model was published"  # else the dates leak information too
FIXED_TARGET = (
    "which record is erased, and when, was fixed before any model was seen"  # else both may depend on a model
)
FIXED_TOTAL = "if the total was fixed before the first model and every later one keeps to it"
FIXED_RECORD = "which record is meant was fixed before any model was seen"  # for a record that is present


def check_delta(name: str, value: Any) -> float:
    """Return a δ that is valid in any budget, total, report or certificate.

    Raises:
        InvalidParameter: If it is below `LEAST_DELTA`, which no noise drawn on a machine can achieve, or above
            `LARGEST_DELTA`.
    """
    delta = check_probability(name, value)
    if not delta <= LARGEST_DELTA:
        raise InvalidParameter(
            f"must be at most {LARGEST_DELTA:g}: it is the share of cases in which a figure may fail; take one far "
            "below one in the number of records",
            **{name: delta},
        )
    if not delta >= LEAST_DELTA:
        raise InvalidParameter(
            f"must be at least {LEAST_DELTA:.2g}: the noise comes from a 256-bit key, and no smaller δ means anything",
            **{name: delta},
        )
    return delta
