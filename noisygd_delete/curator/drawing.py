"""One draw of Markov sums: its noise carries on that of the release before, which is what was published less the sums of the table that
it was made from. So the table is read as that release left it, and edits are carried out after the draw."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ..bounds.markov_sums import CARRY_BITS
from ..engine import CurrentRecords, Execution, rows_here
from ..engine.integer_moments import IntegerMoments, Integers, carried
from ..engine.noisy_moments import NoisyMoments
from ..errors import InvalidParameter
from ..methods.procedure import Carried
from ..records import Records, SlotEdits


@dataclass(frozen=True)
class Continuation:
    """What a draw goes on from.

    number  of draws of its chain before it
    sums    of the last of them, as published; None: it is the first
    edits   that the table will have when the draw is published, and does not have yet
    """

    number: int = 0
    sums: Integers | None = None
    edits: SlotEdits | None = field(default=None, repr=False)


def draw(
    held: CurrentRecords, procedure: Carried, after: Continuation, shape: tuple[int, ...], execution: Execution
) -> tuple[NDArray[np.float64], Integers, bool]:
    """(weights, sums with their noise, whether the noise is certified). The exact sums, and the noise before it, end with the call.

    Raises:
        InvalidParameter: the chain has no further draw, or what it goes on from is missing.
    """
    if not after.number < len(procedure.draws) or (after.sums is None) != (after.number == 0):
        raise InvalidParameter("is not a draw of the chain that the plan has", number=after.number)
    records, noise = rows_here(held), execution.noise()
    outputs, features = shape
    moments = IntegerMoments(features, outputs, procedure.norm_squared, procedure.bits, procedure.label_bits)
    carry, variance = procedure.draws[after.number]
    before = moments.of_table(records)
    now = before if after.edits is None else before + change(moments, records, after.edits)
    rest = 0 if after.sums is None else carried(after.sums - before, Fraction(carry), CARRY_BITS)
    drawn: Integers = (
        now + rest + moments.noise(noise, variance=math.ceil(variance), label_weight=procedure.label_weight)
    )
    drawn.flags.writeable = False
    told = NoisyMoments.of(moments, drawn, variance=int(procedure.variance), coding=None)
    weights = told.ridge(procedure.ridge + procedure.ridge_share * told.noise) * max(1, outputs)
    return weights, drawn, noise.certified


def change(moments: IntegerMoments, records: Records, edits: SlotEdits) -> Integers:
    """What an edit changes the sums by: of the slots that it touches alone."""
    held = records.occupied[edits.slots]
    gone, new = edits.slots[held], np.array([name is not None for name in edits.ids], bool)
    came = moments.of(edits.rows[new], edits.labels[new])
    return came - moments.of(records.features[gone], records.labels[gone])
