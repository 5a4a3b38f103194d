"""The bank of problems has every method, and stored plans of every version run what they ran."""

from __future__ import annotations

import contextlib
import json
import math

import pytest

from noisygd_delete.errors import NoisyGDDeleteError
from noisygd_delete.methods import METHODS
from noisygd_delete.methods.reading import plan_from_dict

from ..bank import PROBLEMS, plan_by
from ..fingerprint import SAMPLES, differences, digest, stored

STORED = dict(stored())
DIGESTS = json.loads((SAMPLES / "what-plans-run.json").read_text())  # written once: a plan's line never changes


def test_every_method_has_a_problem() -> None:
    assert {plan_by(name).method.name for name in PROBLEMS} == set(METHODS)


@pytest.mark.parametrize("name", STORED)
def test_a_stored_plan_runs_what_it_ran(name: str) -> None:
    plan = plan_from_dict(STORED[name]["plan"])
    assert digest(plan) == DIGESTS[name]
    again = plan_from_dict(json.loads(json.dumps(plan.to_dict())))
    assert digest(again) == DIGESTS[name]


def test_a_digest_tells_other_noise_and_other_steps() -> None:
    plan = plan_by("sharp")
    louder = plan.changed(noise_variance=plan.noise_variance * (1 + 1e-9))
    longer = plan.changed(delete_steps_for_utility=plan.delete_steps + 1)
    assert len({digest(plan), digest(louder), digest(longer)}) == 3


def test_every_stored_plan_has_a_digest() -> None:
    assert DIGESTS.keys() == STORED.keys()


def test_a_difference_of_one_bit_is_told() -> None:
    before = {"plan": {"noise": [0.1, 0.2]}, "gone": 1}
    now = {"plan": {"noise": [0.1, 0.2 + 2**-55]}}
    assert list(differences(before, before)) == []
    assert list(differences(before, now)) == [
        " / gone: 1 -> None",
        " / plan / noise / 1: 0.2 -> 0.20000000000000004",
    ]


@pytest.mark.parametrize("name", [*STORED, *PROBLEMS])
def test_a_number_that_no_plan_has_is_refused_in_a_sentence(name: str) -> None:
    good = STORED[name]["plan"] if name in STORED else plan_by(name).to_dict()
    for key, number in good.items():
        if isinstance(number, (int, float)):
            for other in (0, -1, 5e-324, 1e-18, 2**63, 1e308, math.inf):
                with contextlib.suppress(NoisyGDDeleteError):  # whatever else is raised is a fault
                    plan_from_dict({**good, key: other})
