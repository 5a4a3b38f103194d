"""The page on which a reader erases a person: its numbers, and what a browser shows of them."""

from __future__ import annotations

import json
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from benchmarks import demonstration
from noisygd_delete import Budget
from tests.compliance.browser import dom, in_a_browser

TEXT = demonstration.OUT.read_text(encoding="utf-8")
DATA = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', TEXT)[1])


def right(data: dict[str, Any], way: str) -> np.ndarray:
    """(rounds of all persons, old models kept)"""
    return np.concatenate([person[way]["right"] for person in data["people"]])


def test_exact_retraining_is_read_off_and_the_library_stays_under_its_bound() -> None:
    assert right(DATA, "exact")[:, 1:].all()
    ours = right(DATA, "ours")
    assert len(ours) >= 100
    for kept, (most, luck) in enumerate(zip(DATA["most"], DATA["luck"], strict=True)):
        assert ours[:, kept].sum() <= binom.ppf(0.9999, len(ours), most / DATA["rounds"])
        assert luck == binom.ppf(demonstration.SURELY, len(ours), most / DATA["rounds"])
    for person in DATA["people"]:
        assert person["exact"]["cosine"] > 0.99
        assert {name: person["exact"]["read"][name] for name in ("region", "smsa", "paid")} == {
            name: person["cells"][name] for name in ("region", "smsa", "paid")
        }
        assert abs(person["ours"]["cosine"]) < 0.9


@pytest.fixture(scope="module")
def small() -> dict[str, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return demonstration.computed(1, 3, 5)


def test_the_bounds_on_the_page_are_the_accountants(small: dict[str, Any]) -> None:
    np.testing.assert_allclose(DATA["advantages"], small["advantages"], rtol=1e-9)
    assert right(small, "exact")[:, 1:].all()


def test_the_attack_finds_who_it_was_where_the_budget_lets_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The attack has power: with hardly any noise it names the person, and reads the row."""
    loose = Budget.from_epsilon_delta(dp=(3000.0, 1e-6), deletion=(300.0, 1e-6))
    monkeypatch.setattr(demonstration, "BUDGET", loose)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data = demonstration.computed(3, 6, 5)
    assert right(data, "ours")[:, 2:].mean() > 0.9
    assert sorted(person["ours"]["cosine"] for person in data["people"])[1] > 0.6  # two of three: the noise is fresh


def test_the_page_asks_no_network_and_is_the_one_that_is_made() -> None:
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", TEXT)
    assert demonstration.page(DATA) == TEXT
    assert len(TEXT) < 400_000


@in_a_browser
@pytest.mark.parametrize("width", [390, 1200])
def test_a_reader_picks_and_slides(width: int, tmp_path: Path) -> None:
    script = """<script>
const boxes = document.querySelectorAll("input[type=radio]"), said = [];
const note = () => said.push([document.getElementById("cosines").textContent, document.getElementById("said").textContent, document.querySelectorAll("#shapes svg").length]);
note(); boxes[1].click(); note(); const kept = document.getElementById("kept"); kept.value = 0; kept.dispatchEvent(new Event("input")); note();
document.body.dataset.said = JSON.stringify({said, wide: document.documentElement.scrollWidth - document.documentElement.clientWidth});
</script></body>"""
    shown = dom(TEXT.replace("</body>", script), tmp_path, width=width)
    found = json.loads(re.search(r'data-said="([^"]*)"', shown)[1].replace("&quot;", '"').replace("&amp;", "&"))
    first, second, none_kept = found["said"]
    people, total = DATA["people"], len(right(DATA, "exact"))
    for place, (cosines, said, pictures) in enumerate((first, second)):
        one = people[place]
        assert f"{one['exact']['cosine']:.3f} after exact" in cosines
        assert f"person {total} times of {total} after exact" in said
        assert f"{right(DATA, 'ours')[:, 1].sum()} times after this library" in said
        assert pictures == len(one["shapes"])
    assert "exact retraining shows nothing here" in none_kept[1]
    assert found["wide"] <= 0, "nothing is cut off"


@in_a_browser
def test_a_screen_reader_and_a_keyboard_have_all_of_it(tmp_path: Path) -> None:
    shown = re.sub(r"<script.*?</script>", "", dom(TEXT, tmp_path), flags=re.DOTALL)
    controls, without_labels = "<input[^>]*>", re.sub(r"<label.*?</label>", "", shown, flags=re.DOTALL)
    kinds = [re.search(r'type="(\w+)"', control)[1] for control in re.findall(controls, shown)]
    assert kinds == ["radio"] * len(DATA["people"]) + ["range"], "the browser's own controls"
    labelled = set(re.findall(r'<label[^>]* for="(\w+)"', shown))
    assert {re.search(r'id="(\w+)"', control)[1] for control in re.findall(controls, without_labels)} <= labelled
    assert len(set(re.findall(r'<input[^>]* name="(\w+)"', shown))) == 1, "arrows go from person to person"
    assert not re.search(r"tabindex|onclick", shown)
    assert (shown.count('role="status"'), shown.count("<legend")) == (2, 1)
    pictures = [re.search(r'aria-label="([^"]+)"', one)[1] for one in re.findall(r'<[^>]*role="img"[^>]*>', shown)]
    assert len(pictures) == len(DATA["people"][0]["shapes"]) + 2
    most = f"{np.ceil(DATA['most'][1] * len(DATA['people']) * 10) / 10:.1f}"
    assert any(f"at most {most} are to be expected" in picture for picture in pictures)
    assert '<html lang="en"' in shown
    assert "prefers-color-scheme: dark" in shown


def test_what_is_said_of_a_rival_is_what_was_measured() -> None:
    """The attack on DP-EBM that the page speaks of, as the committed result has it; it gets further where nothing protects."""
    result = (demonstration.OUT.parents[1] / "benchmarks" / "results" / "dp_ebm.md").read_text(encoding="utf-8")
    rows = {row[0]: row[2] for row in re.findall(r"^\| (1|1000) \| (.+?) \| (.+?) \|$", result, re.MULTILINE)}
    usual, loose = (sorted(map(int, rows[epsilon].split(", "))) for epsilon in ("1", "1000"))
    right, refit, erasure = (
        re.search(found, result)[1]
        for found in (
            r"DP-EBM gets ([\d.]+) %",
            r"A refit took ([\d.]+) s",
            r"by `objective-perturbation` ([\d.]+) s\.",
        )
    )
    for said in (
        f"gets {right} % right",
        f"would name the person {usual[0]} to {usual[-1]} times in 100",
        f"{loose[0]} to {loose[-1]} at ε = 1000",
        f"A refit took {refit} s, an erasure here {erasure} s",
    ):
        assert said in re.sub(r"\s+", " ", TEXT)
    assert f"right of 100 with {DATA['old']} models" in result
    assert usual[-1] < loose[0]
