"""One draw of Markov sums: its noise carries on that of the release before, which is what was published less the sums of the table that
it was made from. So the table is read as that release left it, and edits are carried out after the draw.

Edits whose release comes later leave a patch: what was published, changed by them, with a little more noise. It is made before they are
carried out and reads the rows that they touch alone. The next draw goes on from it as from a release, with the table as they left it.
Given the noise of patches, which is the same in both worlds, a draw after them is one from the last release: who sees releases alone is
told no more than without.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ..accountant.account import Account
from ..bounds.correlated_sums import CARRY_BITS, patch_variance
from ..engine import CurrentRecords, Execution, local_rows
from ..engine.count_tables import CodedMoments
from ..engine.moments import IntegerMoments, Integers, NoisyMoments, round_product
from ..engine.sums import exact_sums
from ..errors import InvalidParameter, check_count, check_scale
from ..features.maps.catalogue import coding_of
from ..methods.plan import Plan
from ..methods.problem import CarriedSums
from ..privacy.guarantee import Guarantee
from ..records import Records, SlotEdits
from .model import Continuation, Model


def draw_release(
    held: CurrentRecords, procedure: CarriedSums, after: Continuation, shape: tuple[int, ...], execution: Execution
) -> tuple[NDArray[np.float64], Integers, bool]:
    """(weights, sums with their noise, whether the noise is certified). The exact sums, and the noise before it, end with the call.

    Raises:
        InvalidParameter: the chain has no further draw, or what it goes on from is missing.
    """
    if not after.number < len(procedure.draws) or (after.sums is None) != (after.number == 0):
        raise InvalidParameter("is not a draw of the chain that the plan has", number=after.number)
    noise, moments = execution.noise(), moments_of(procedure, shape)
    carry, variance = procedure.draws[after.number]
    before = exact_sums(held, moments)
    now = before if after.edits is None else before + sums_change(moments, local_rows(held), after.edits)
    rest = 0 if after.sums is None else round_product(after.sums - before, Fraction(carry), CARRY_BITS)
    drawn: Integers = (
        now + rest + moments.noise(noise, variance=math.ceil(variance), label_weight=procedure.label_weight)
    )
    drawn.flags.writeable = False
    weights = _weights_from_moments(_noisy_moments(moments, procedure, drawn), procedure, procedure.ridge, shape)
    return weights, drawn, noise.certified and after.certified


def change_of_edits(records: Records, plan: Plan, edits: SlotEdits) -> Integers:
    """What edits change the sums by that a plan publishes."""
    assert isinstance(plan.learning.start, CarriedSums)
    return sums_change(moments_of(plan.learning.start, plan.shape), records, edits)


def make_patch(change: Integers, plan: Plan, after: Continuation, execution: Execution) -> Continuation | None:
    """What the draw after edits goes on from, once they are carried out and change the sums by this; None where the chain has no further draw."""
    procedure, noise, number = plan.learning.start, execution.noise(), after.patches + 1
    assert isinstance(procedure, CarriedSums)
    assert after.sums is not None
    if not after.number < len(procedure.draws):
        return None
    moments = moments_of(procedure, plan.shape)
    spread = planned_patch_variance(plan, after.number, number)
    fresh = moments.noise(noise, variance=spread, label_weight=procedure.label_weight)
    drawn: Integers = after.sums + change + fresh
    return Continuation(after.number, drawn, patches=number, certified=noise.certified and after.certified)


def planned_patch_variance(plan: Plan, draws: int, patches: int) -> int:
    """w² of the last of so many patches after so many draws."""
    assert isinstance(plan.learning.start, CarriedSums)
    carry, variance = plan.learning.start.draws[draws]
    return patch_variance(carry=carry, variance=variance, number=patches, usual=plan.problem.batch)


def patch_guarantee(plan: Plan, account: Account, patch: Continuation) -> Guarantee:
    """What a patch, and all releases before it, those of earlier chains too, reveal of a record that left by it or by one before it since
    the last release."""
    notion, variance = plan.problem.deletion_notion, planned_patch_variance(plan, patch.number, patch.patches)
    told: Guarantee = plan.mechanism.patched(notion, draws=patch.number, variance=variance)  # type: ignore[attr-defined]
    before = account.published - Counter([(plan.mechanism, patch.number, 0.0)])
    return Guarantee.composed([(account.answer("deletion", notion, before), 1), (told, 1)]) if before else told


def moments_of(procedure: CarriedSums, shape: tuple[int, ...]) -> IntegerMoments:
    """What is summed of a table, for weights of shape (outputs, features)."""
    outputs, features = shape
    facts = outputs, procedure.norm_squared, procedure.bits, procedure.label_bits
    if procedure.map is None:
        return IntegerMoments(features, *facts)
    coding = coding_of(procedure.map)
    return CodedMoments(coding.directions, *facts, coding=coding)


def sums_change(moments: IntegerMoments, records: Records, edits: SlotEdits) -> Integers:
    """What an edit changes the sums by: of the slots that it touches alone."""
    held = records.occupied[edits.slots]
    gone, new = edits.slots[held], np.array([name is not None for name in edits.ids], bool)
    came = moments.of(edits.rows[new], edits.labels[new])
    return came - moments.of(records.features[gone], records.labels[gone])


def _noisy_moments(moments: IntegerMoments, procedure: CarriedSums, published: Integers) -> NoisyMoments:
    coding = None if procedure.map is None else coding_of(procedure.map)
    return NoisyMoments.of(moments, published, variance=int(procedure.variance), coding=coding)


def _weights_from_moments(
    told: NoisyMoments, procedure: CarriedSums, ridge: float, shape: tuple[int, ...]
) -> NDArray[np.float64]:
    """Log odds of normal classes where rows share a constant (a coded map's do), else least squares."""
    whole = told.ridges(ridge, procedure.ridge_share)
    if procedure.map is not None and not procedure.label_bits:
        return told.discriminant(whole)
    return told.ridge(whole) * max(1, shape[0])


class PublishedSums:
    """What one release gives besides its model, and for nothing more: models of any ridge, components of its rows.

    Args:
        model: of a release by this plan, which is one of method `sums`.

    Raises:
        InvalidParameter: it has no sums.
    """

    def __init__(self, plan: Plan, model: Model) -> None:
        begin = plan.learning.start
        if not isinstance(begin, CarriedSums) or model.sums is None:
            raise InvalidParameter("has no sums: they are published by method 'sums'", method=plan.method.name)
        self._plan, self._begin, self._model = plan, begin, model
        self._moments = _noisy_moments(moments_of(begin, plan.shape), begin, model.sums)

    def model(self, regularization: float) -> Model:
        """With this λ per slot in the place of the plan's; a share of the noise is added to the ridge."""
        ridge = self._plan.records * check_scale("regularization", regularization)
        weights = _weights_from_moments(self._moments, self._begin, ridge, self._plan.shape)
        weights.flags.writeable = False
        return replace(self._model, weights=weights[0] if self._plan.loss.outputs == 1 else weights)

    def components(self, number: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """(number, features) directions of unit length in which rows spread most, and the sums of squares along each."""
        return self._moments.components(check_count("number", number, maximum=len(self._moments.square)))

    def whitening(self, number: int) -> NDArray[np.float64]:
        """(number, features): rows times its transpose have mean squares of about 1 in so many directions, of those that stand out
        of the noise."""
        along, sizes = self.components(number)
        floor = self._begin.ridge_share * self._moments.noise
        return along * np.sqrt(self._plan.records / np.maximum(sizes, floor))[:, None]
