"""A ledger or a plan that lacks a field is refused: a default would take its place."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest

from noisygd_delete.accountant import Event
from noisygd_delete.accountant.tallies import Tally
from noisygd_delete.errors import InvalidParameter
from noisygd_delete.methods import CountedRecords
from noisygd_delete.methods.sampled_steps import SampledGaussian
from noisygd_delete.methods.serialization import FORECASTS, mechanism_from_dict, plan_from_dict

from ..bank import plan_by

METHODS = (
    *(
        "noisy-gd:analysis=paper",
        "noisy-gd",
        "noisy-gd, over the reals",
        "noisy-gd:analysis=composition",
        "output-perturbation, warm",
        "output-perturbation, cold",
        "objective-perturbation",
        "sufficient-statistics",
    ),
    *("staged", "staged with a head"),
)


def names(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path to every name in every object of a JSON value."""
    if isinstance(value, dict):
        for name, part in value.items():
            yield (*path, name)
            yield from names(part, (*path, name))
    elif isinstance(value, list):
        for place, part in enumerate(value):
            yield from names(part, (*path, place))


def without(value: Any, path: tuple[Any, ...]) -> Any:
    changed = copy.deepcopy(value)
    inner = changed
    for step in path[:-1]:
        inner = inner[step]
    del inner[path[-1]]
    return changed


def events() -> list[Event]:
    plans = [plan_by(method) for method in METHODS]
    counted, phi = (
        CountedRecords(records=50, deviation=64.0),
        SampledGaussian(records=50, sampling_rate=0.05, noise_multiplier=2.0),
    )
    made = [Event("learn", plan.calibration.learn_steps, 0, plan.mechanism) for plan in plans]
    return [*made, Event("statistic", 1, 0, counted), Event("extractor", 20, 0, phi)]


def test_no_field_of_a_release_may_be_missing() -> None:
    tried = 0
    for event in events():
        whole = json.loads(json.dumps(event.to_dict()))
        assert Event.from_dict(whole) == event
        assert mechanism_from_dict(whole["mechanism"]) == event.mechanism
        for path in names(whole):
            with pytest.raises(InvalidParameter):
                Event.from_dict(without(whole, path))
            with pytest.raises(InvalidParameter):
                Tally.from_dict({**without(whole, path), "releases": 1})
            tried += 1
    assert tried > 150


@pytest.mark.parametrize("method", METHODS)
def test_no_field_of_a_plan_may_be_missing_but_forecasts(method: str) -> None:
    whole = json.loads(json.dumps(plan_by(method).to_dict()))
    assert plan_from_dict(whole) == plan_by(method)
    for path in names(whole):
        if path[-1] not in FORECASTS:
            with pytest.raises(InvalidParameter):
                plan_from_dict(without(whole, path))
