"""Events from files: one object for one description, a bounded memory of them, and a clear word for what is none."""

from __future__ import annotations

import math

import pytest

from noisygd_delete import Accountant
from noisygd_delete.accountant import Event, events
from noisygd_delete.errors import InvalidParameter
from noisygd_delete.methods.sampled_steps import SampledGaussian

from .test_accountant import plan

PLAN = plan(records=300)


def event(steps: int, kind: str = "learn") -> Event:
    return Event(kind, steps, 0, PLAN.mechanism)


def test_equal_descriptions_are_one_object_and_the_memory_of_them_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "_READ", {})
    monkeypatch.setattr(events, "_MOST_READ", 3)
    descriptions = [event(steps).to_dict() for steps in range(1, 12)]
    assert Event.from_dict(descriptions[0]) is Event.from_dict(dict(descriptions[0]))
    assert [Event.from_dict(each).to_dict() for each in descriptions] == descriptions
    assert len(events._READ) <= 3


@pytest.mark.parametrize("steps", [{1, 2}, object(), b"3", math.nan, "7", None, -1, True])
def test_what_no_event_can_hold_is_refused(steps) -> None:
    with pytest.raises(InvalidParameter):
        Event.from_dict({**event(5).to_dict(), "steps": steps})


def test_an_extractor_is_not_taken_for_a_run_of_the_plan() -> None:
    account = Accountant(PLAN)
    account.record(Event("extractor", 40, 0, SampledGaussian(records=300, sampling_rate=0.1, noise_multiplier=2.0)))
    assert account.forecast().steps_since_learn == 40
    account.record(event(PLAN.calibration.learn_steps))
    assert account.forecast().steps_since_learn == PLAN.calibration.learn_steps


def test_the_next_release_is_the_plan_s() -> None:
    coming = Accountant(PLAN).publication(3)
    assert (coming.kind, coming.steps, coming.edits) == ("unlearn", PLAN.calibration.delete_steps, 3)
