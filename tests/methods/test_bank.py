"""The bank of problems has every method, and no number in a stored plan makes reading it fail with anything but this package's errors."""

from __future__ import annotations

import contextlib
import math

import pytest

from noisygd_delete.errors import NoisyGDDeleteError
from noisygd_delete.methods import method_variants
from noisygd_delete.methods.base import NoisySteps, SingleRelease
from noisygd_delete.methods.serialization import plan_from_dict

from ..bank import PROBLEMS, plan_by
from ..fingerprint import differences


def test_every_method_has_a_problem() -> None:
    assert {plan_by(name).method.variant_name() for name in PROBLEMS} == set(method_variants())


def test_a_difference_of_one_bit_is_told() -> None:
    before = {"plan": {"noise": [0.1, 0.2]}, "gone": 1}
    now = {"plan": {"noise": [0.1, 0.2 + 2**-55]}}
    assert list(differences(before, before)) == []
    assert list(differences(before, now)) == [
        " / gone: 1 -> None",
        " / plan / noise / 1: 0.2 -> 0.20000000000000004",
    ]


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_release_is_exposed_for_its_noisy_steps_or_for_one_draw(name: str) -> None:
    plan = plan_by(name)
    mechanism, steps = plan.mechanism, plan.calibration.learn_steps
    if isinstance(mechanism, SingleRelease):
        assert mechanism.exposure(mechanism.steps) == 1
    elif isinstance(mechanism, NoisySteps):
        assert mechanism.exposure(steps) == steps > 0


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_number_that_no_plan_has_is_refused_in_a_sentence(name: str) -> None:
    good = plan_by(name).to_dict()
    for key, number in good.items():
        if isinstance(number, (int, float)):
            for other in (0, -1, 5e-324, 1e-18, 2**63, 1e308, math.inf):
                with contextlib.suppress(NoisyGDDeleteError):  # whatever else is raised is a fault
                    plan_from_dict({**good, key: other})
