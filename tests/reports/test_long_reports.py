"""A report of a long store: the same figures as by a walk through every release, and few of them converted."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from noisygd_delete import Accountant
from noisygd_delete.accountant import Event
from noisygd_delete.evidence.store_claims import erased_figures
from noisygd_delete.privacy.guarantee import Guarantee
from noisygd_delete.records import EditCounts
from noisygd_delete.reports import spending, summary
from noisygd_delete.reports.texts import load_language

from ..bank import PROBLEMS, plan_by
from .histories import history

SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("method", PROBLEMS)
def test_the_dearest_erasure_is_that_of_a_walk_through_all(method: str) -> None:
    for seed in range(6):
        plan, events, _ = history(method, seed, most=20)
        accountant = Accountant(plan, events)
        erasing = [number for number, event in enumerate(events, 1) if number > 1 and event.counts.erased]
        each = [accountant.deletion(1, number, [number]).with_slack() for number in erasing]
        found = erased_figures(accountant, plan)
        assert found["later"].with_slack().advantage == max(guarantee.advantage for guarantee in each)
        assert found["all"] == accountant.deletion(1, erasing[-1], list(range(1, len(events) + 1)))
        assert found["later"].non_adaptive
        assert not found["all"].non_adaptive


def test_what_nothing_was_erased_from_is_told_of_the_next_release() -> None:
    plan = plan_by("noisy-gd")
    accountant = Accountant(plan, [Event("learn", plan.calibration.learn_steps, 0, plan.mechanism)])
    assert erased_figures(Accountant(plan), plan)["later"] == plan.deletion
    ahead = accountant.what_if(accountant.planned_event())
    assert erased_figures(accountant, plan)["all"] == ahead.deletion(1, 2)
    assert erased_figures(accountant, plan)["later"] == ahead.deletion_of_each()[0]


@pytest.mark.parametrize("method", PROBLEMS)
def test_an_erased_record_that_waits_for_its_release_has_all_models_against_it(method: str) -> None:
    """Withheld or pending: whoever kept every model has those of after the last erasure that was published, too."""
    plan, events, _ = history(method, 1, most=12)
    accountant = Accountant(plan, events)
    found = erased_figures(accountant, plan, EditCounts(deleted=1))
    before = accountant.dp_cumulative(adjacency="zero-out").with_slack()
    assert found["all"].with_slack().advantage >= before.advantage > 0
    assert found["all"].with_slack().epsilon(1e-6) >= before.epsilon(1e-6)
    done = erased_figures(accountant, plan, EditCounts(inserted=1))
    assert done == erased_figures(accountant, plan)
    assert found["later"].with_slack().advantage >= done["later"].with_slack().advantage


def test_a_long_report_converts_as_much_as_a_short_one(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = plan_by("noisy-gd:analysis=paper")
    learn = Event("learn", plan.calibration.learn_steps, 0, plan.mechanism)
    one = Event("unlearn", plan.calibration.delete_steps, 1, plan.mechanism, EditCounts(deleted=1))
    converted, right = [], Guarantee.epsilon

    def noted(self: Guarantee, delta: float) -> float:
        converted.append(self)
        return right(self, delta)

    monkeypatch.setattr(Guarantee, "epsilon", noted)
    course = spending.compute_spending(Accountant(plan, [learn] + [one] * 19_999), plan, 1e-6)
    assert len(course.release) == spending.LISTED + spending.POINTS
    assert len(converted) <= 2 * len(course.release)
    short = Accountant(plan, [learn] + [one] * 249)
    assert course.cumulative[list(course.release).index(19_800)] > course.cumulative[0]
    monkeypatch.undo()
    walked = [short.dp_cumulative(range(1, number + 1)).with_slack().epsilon(1e-6) for number in (1, 250)]
    drawn = spending.compute_spending(short, plan, 1e-6)
    assert [drawn.cumulative[0], drawn.cumulative[-1]] == walked


@pytest.mark.parametrize("code", ["en", "de"])
def test_the_page_says_that_not_every_release_is_drawn(code: str) -> None:
    plan = plan_by("noisy-gd:analysis=paper")
    learn = Event("learn", plan.calibration.learn_steps, 0, plan.mechanism)
    one = Event("unlearn", plan.calibration.delete_steps, 1, plan.mechanism, EditCounts(deleted=1))
    said = load_language(code).say(
        "The picture shows the last {n}, and {n2} at most of those before: exact at each point, the line between them is drawn straight.",
        n=spending.LISTED,
        n2=spending.POINTS,
    )
    pages = [summary.store_report(plan=plan, events=[learn] + [one] * more, code=code) for more in (9, 499)]
    assert [said in page for page in pages] == [False, True]
    assert code == "en" or "Veröffentlichungen" in said


@pytest.mark.parametrize("code", ["en", "de"])
def test_the_picture_shows_the_numbers(code: str) -> None:
    """Every mark, read off by the two axes that are printed beside it, is the number it stands for."""
    releases = np.arange(3.0, 47.0)
    alone = np.where(releases % 9 == 0, 1.9, 0.31)
    together = 2.4 + 0.2 * np.sqrt(releases)
    curve = spending.SpendingCurves(releases, alone, together, 5.25)
    drawn = ElementTree.fromstring(spending.draw_curve(curve, 1e-6, load_language(code)))
    texts = [
        (text, float(str(text.text).replace(",", ".")))
        for text in drawn.iter(f"{SVG}text")
        if "1e-6" not in str(text.text) and re.fullmatch(r"[\d.,]+", str(text.text))
    ]

    def axis(anchor: str, place: str) -> np.ndarray:
        marks = [(float(text.attrib[place]), value) for text, value in texts if text.attrib["text-anchor"] == anchor]
        assert len(marks) >= 3
        return np.polyfit(*np.transpose(marks), 1)

    across, up = axis("middle", "x"), axis("end", "y")

    def read(kind: str, middle: float, lift: float, names: tuple[str, str] = ("x", "y")) -> np.ndarray:
        found = [
            [float(one.attrib[name]) + middle for name in names] for one in drawn.iter(SVG + kind) if one.get("class")
        ]
        x, y = np.transpose(found)
        return np.stack([np.polyval(across, x), np.polyval(up, y + lift)])

    for found, values in ((read("rect", 2, 3.5), alone), (read("circle", 0, 3.5, ("cx", "cy")), together)):
        assert found[0] == pytest.approx(releases, abs=0.05)
        assert found[1] == pytest.approx(values, abs=0.02)
    dashed = [float(one.attrib["y1"]) for one in drawn.iter(f"{SVG}line") if one.get("stroke-dasharray")]
    assert np.polyval(up, dashed[0] + 3.5) == pytest.approx(5.25, abs=0.02)
