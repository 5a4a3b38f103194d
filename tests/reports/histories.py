"""Random histories of releases under a plan of every method: deletions of any size, fresh learns, earlier plans, statistics, extractors."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from typing import Any

from noisygd_delete import Budget, losses, make_plan
from noisygd_delete.accountant import Event
from noisygd_delete.methods import CountedRecords, Mechanism
from noisygd_delete.methods.plan import Plan
from noisygd_delete.methods.sampled_steps import SampledGaussian
from noisygd_delete.records import EditCounts

from ..bank import plan_by


def history(method: str, seed: int, most: int = 40) -> tuple[Plan, list[Event], int]:
    """(plan in force, releases, the number of one that erased a record under that plan)."""
    chance, plan = random.Random(seed), plan_by(method)
    own = plan.mechanism
    earlier = replace(own, slack=own.slack + 1e-3)  # what a plan before this one ran
    counted = CountedRecords(records=own.records, deviation=64.0)
    phi = SampledGaussian(records=own.records, sampling_rate=0.05, noise_multiplier=2.0)
    mechanism = earlier if seed % 2 else own
    events = [Event("learn", plan.calibration.learn_steps, 0, mechanism)]
    for _ in range(chance.randrange(3, most)):
        if (
            _drawn(events) > getattr(own, "releases", math.inf) - 5
        ):  # draws that sums have a schedule for; the last requests go on
            mechanism = chance.choice((own, earlier))
            events.append(_served("relearn", plan, mechanism, EditCounts()))
        kind = chance.choice(["unlearn"] * 12 + ["relearn", "statistic", "extractor"][: 1 + seed % 3])
        if kind == "statistic":
            events.append(Event("statistic", 1, 0, counted))
            continue
        if kind == "extractor":
            events.append(Event("extractor", 20, 0, phi))
        if kind != "unlearn":
            kind, mechanism = "relearn", chance.choice((own, earlier))
        events.append(_served(kind, plan, mechanism, EditCounts(*(chance.randrange(3) for _ in range(3)))))
    if mechanism is not own:
        events.append(_served("relearn", plan, own, EditCounts()))
    events.append(_served("unlearn", plan, own, EditCounts(deleted=1, replaced=1)))
    number = chance.choice(
        [n for n, event in enumerate(events, 1) if n > 1 and event.mechanism == own and _whole(event.counts)]
    )
    later = [_served("unlearn", plan, own, EditCounts(inserted=n)) for n in (1, 2)]
    return plan, [*events, *(later if seed % 4 == 0 else [])], number


def usual_plan(method: str = "noisy-gd", **facts: Any) -> Plan:
    """2,000 records of 12 columns."""
    asked = {"budget": Budget(order=8, dp=1.0, deletion=0.1), "method": method, **facts}
    return make_plan(losses.Logistic(radius=1.0), **{"records": 2000, "features": 12, "regularization": 1e-2, **asked})


def releases(plan: Plan, *edits: EditCounts) -> list[Event]:
    """A learn, and a release for each of these edits."""
    learned = Event("learn", plan.calibration.learn_steps, 0, plan.mechanism)
    return [
        learned,
        *(Event("unlearn", plan.calibration.delete_steps, each.total, plan.mechanism, each) for each in edits),
    ]


def _drawn(events: list[Event]) -> int:
    """Releases since the last fresh run, that one included."""
    models = [event.fresh for event in events if event.kind not in ("extractor", "statistic")]
    return 1 + models[::-1].index(True) if any(models) else 0


def _served(kind: str, plan: Plan, mechanism: Mechanism, counts: EditCounts) -> Event:
    return Event(
        kind,
        plan.calibration.delete_steps if kind == "unlearn" else plan.calibration.learn_steps,
        counts.total,
        mechanism,
        counts,
    )


def _whole(counts: EditCounts) -> bool:
    return bool(counts.deleted and counts.replaced)
