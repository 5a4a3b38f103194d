"""Markov sums: releases of sufficient statistics whose noise is carried on.

The noise of a draw continues that of the previous release, which is its published sums minus the sums of the table
that it was made from. So the table is read as that release left it, and edits are carried out after the draw.

Edits whose release is deferred leave a patch: the published sums, changed by the edits, with a little more noise. It
is made before the edits are carried out and reads only the rows they affect. The next draw continues from it as from a
release, with the edited table. Given the noise of patches, which is the same for neighbouring datasets, a draw after
them is one from the last release: an observer of releases alone learns no more than without patches.
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
from ..engine.noise import Noise
from ..engine.sums import exact_sums
from ..errors import InvalidParameter, check_count, check_scale
from ..features.maps.catalogue import coding_of
from ..methods.plan import Plan
from ..methods.procedure import CarriedSums
from ..privacy.guarantee import Guarantee
from ..records import Records, SlotEdits
from .model import Continuation, Model


def draw_release(
    held: CurrentRecords, procedure: CarriedSums, after: Continuation, shape: tuple[int, ...], noise: Noise
) -> tuple[NDArray[np.float64], Integers]:
    """Return (weights, noisy sums). The exact sums and the old noise are discarded.

    Args:
        held: The table as the previous release left it.
        procedure: The chain of draws.
        after: The draw or patch to continue, with the edits of the new draw.
        shape: Shape of the weights: (outputs, features).
        noise: The noise of the draw.

    Raises:
        InvalidParameter: If the chain has no further draw, or the sums to continue from are missing.
    """
    if not after.number < len(procedure.draws) or (after.sums is None) != (after.number == 0):
        raise InvalidParameter("is not a draw of the chain that the plan has", number=after.number)
    moments = moments_of(procedure, shape)
    carry, variance = procedure.draws[after.number]
    before, own = exact_sums(held, moments, by_person=procedure.by_person), {"by_person": procedure.by_person}
    now = before if after.edits is None else before + sums_change(moments, local_rows(held), after.edits, **own)
    rest = 0 if after.sums is None else round_product(after.sums - before, Fraction(carry), CARRY_BITS)
    drawn: Integers = (
        now + rest + moments.noise(noise, variance=math.ceil(variance), label_weight=procedure.label_weight)
    )
    drawn.flags.writeable = False
    weights = _weights_from_moments(_noisy_moments(moments, procedure, drawn), procedure, procedure.ridge, shape)
    return weights, drawn


def change_of_edits(records: Records, plan: Plan, edits: SlotEdits) -> Integers:
    """Return the change of the plan's published sums by edits."""
    assert isinstance(plan.learning.start, CarriedSums)
    moments = moments_of(plan.learning.start, plan.shape)
    return sums_change(moments, records, edits, by_person=plan.problem.by_person)


def draw_patch(
    records: Records, plan: Plan, edits: SlotEdits, after: Continuation | None, execution: Execution
) -> Continuation | None:
    """Return the patch that covers edits which the records do not have yet; None if nothing can be continued."""
    return None if after is None else make_patch(change_of_edits(records, plan, edits), plan, after, execution)


def make_patch(change: Integers, plan: Plan, after: Continuation, execution: Execution) -> Continuation | None:
    """Return the patch that the next draw continues: published sums, `change` and fresh noise; None if no draw is left."""
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
    """Return w², the noise variance of patch number `patches` after `draws` draws."""
    assert isinstance(plan.learning.start, CarriedSums)
    carry, variance = plan.learning.start.draws[draws]
    return patch_variance(carry=carry, variance=variance, number=patches, usual=plan.problem.batch)


def patch_guarantee(plan: Plan, account: Account, patch: Continuation) -> Guarantee:
    """Return what a patch and all earlier releases, including those of earlier chains, reveal about an erased record.

    The record left by this patch or by one before it since the last release.
    """
    notion, variance = plan.problem.deletion_notion, planned_patch_variance(plan, patch.number, patch.patches)
    patched: Guarantee = plan.mechanism.patched(notion, draws=patch.number, variance=variance)  # type: ignore[attr-defined]
    before = account.published - Counter([(plan.mechanism, patch.number, 0.0)])
    return Guarantee.composed([(account.answer("deletion", notion, before), 1), (patched, 1)]) if before else patched


def moments_of(procedure: CarriedSums, shape: tuple[int, ...]) -> IntegerMoments:
    """Return the summation rule for weights of shape (outputs, features)."""
    outputs, features = shape
    facts = outputs, procedure.norm_squared, procedure.bits, procedure.label_bits
    if procedure.map is None:
        return IntegerMoments(features, *facts)
    coding = coding_of(procedure.map)
    return CodedMoments(coding.directions, *facts, coding=coding)


def sums_change(moments: IntegerMoments, records: Records, edits: SlotEdits, *, by_person: bool = False) -> Integers:
    """Return the change of the sums by an edit, computed from only the slots that it affects.

    Args:
        moments: The summation rule.
        records: The table before the edit.
        edits: The edit; with `by_person` of whole persons, as `learning.check_edit` requires.
        by_person: Whether the sums of a row of a person with k rows are divided by k.
    """
    held = records.occupied[edits.slots]
    gone, new = edits.slots[held], np.array([name is not None for name in edits.ids], bool)
    if by_person:
        came, left = _slots_of_persons(edits, new), records.rows_alike()[gone]
        change = np.zeros(moments.size, np.int64)
        for number in np.union1d(came, left).tolist():
            own, some, those = replace(moments, alike=number), np.flatnonzero(new)[came == number], gone[left == number]
            change += own.of(edits.rows[some], edits.labels[some])
            change -= own.of(records.features[those], records.labels[those])
        return change
    came = moments.of(edits.rows[new], edits.labels[new])
    return came - moments.of(records.features[gone], records.labels[gone])


def _slots_of_persons(edits: SlotEdits, new: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return for each new row the number of new rows of its person."""
    owners = [owner for owner, here in zip(edits.subjects, new, strict=True) if here]
    counts = Counter(owner for owner in owners if owner is not None)
    return np.array([1 if owner is None else counts[owner] for owner in owners], np.int64)


def _noisy_moments(moments: IntegerMoments, procedure: CarriedSums, published: Integers) -> NoisyMoments:
    coding = None if procedure.map is None else coding_of(procedure.map)
    return NoisyMoments.of(moments, published, variance=int(procedure.variance), coding=coding)


def _weights_from_moments(
    moments: NoisyMoments, procedure: CarriedSums, ridge: float, shape: tuple[int, ...]
) -> NDArray[np.float64]:
    """Return log odds of normal classes if rows share a constant (those of a coded map do), else least squares."""
    whole = moments.ridges(ridge, procedure.ridge_share)
    if procedure.map is not None and not procedure.targets:
        return moments.discriminant(whole)
    return moments.ridge(whole) * max(1, shape[0])


class PublishedSums:
    """Post-processing of the published sums of a release: models of any ridge, principal components of its rows.

    None of it costs privacy beyond the release.

    Args:
        plan: A plan of method `sufficient-statistics`.
        model: The model of a release by this plan.

    Raises:
        InvalidParameter: If the plan or the model has no sums.
    """

    def __init__(self, plan: Plan, model: Model) -> None:
        begin = plan.learning.start
        if not isinstance(begin, CarriedSums) or model.sums is None:
            raise InvalidParameter(
                "has no sums: they are published by method 'sufficient-statistics'", method=plan.method.name
            )
        self._plan, self._begin, self._model = plan, begin, model
        self._moments = _noisy_moments(moments_of(begin, plan.shape), begin, model.sums)

    def model(self, regularization: float) -> Model:
        """Return the model with another λ per slot than the plan's; a share of the noise is added to the ridge."""
        ridge = self._plan.problem.records * check_scale("regularization", regularization)
        weights = _weights_from_moments(self._moments, self._begin, ridge, self._plan.shape)
        weights.flags.writeable = False
        return replace(self._model, weights=weights[0] if self._plan.problem.loss.outputs == 1 else weights)

    def components(self, number: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return unit-length directions of largest spread of the rows, and the sums of squares along each.

        Returns:
            (number, features) directions and (number,) sums.
        """
        return self._moments.components(check_count("number", number, maximum=len(self._moments.square)))

    def whitening(self, number: int) -> NDArray[np.float64]:
        """Return a (number, features) map to whitened rows.

        Rows times its transpose have mean squares of about 1 in the directions that exceed the noise.
        """
        along, sizes = self.components(number)
        floor = self._begin.ridge_share * self._moments.noise
        return along * np.sqrt(self._plan.problem.records / np.maximum(sizes, floor))[:, None]
