"""docs/note/: every number is one of a committed result or is computed here, figures are of those results, citations and keys exist."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pytest
from scipy.stats import norm

from benchmarks import capacity, paper
from noisygd_delete.bounds.correlated_sums import equalizer_costs
from noisygd_delete.bounds.forgetting_limits import steps_worth_waiting
from noisygd_delete.bounds.gaussian import gdp_for
from proofs_check.closed_forms import charged_steps
from tests.docs.pages import ROOT, verdicts

PAPER, NOTE = ((ROOT / "docs" / "note" / name).read_text() for name in ("paper.md", "note.md"))


def cost(method: str, column: str) -> str:
    for row in paper.rows("cost", ""):
        if row[""] == method:
            return row[column]
    raise KeyError(method)


def additive(method: str) -> str:
    (row,) = (
        row
        for row in paper.rows("additive", "table")
        if (row["table"], row["method"], row["ε"]) == ("Adult", method, "1")
    )
    return row["AUC"].split(" ")[0]


def in_paper() -> Iterator[str]:
    """What paper.md says, by the results: phrases with numbers in them."""
    attack, slots = paper.attack(), {row["slots"]: row["ε = 1"] for row in paper.rows("capacity", "slots")}
    rounds = sum(len(one["exact"]["right"]) for one in paper.demonstration()["people"])
    exact, ours, most = (attack[name] for name in ("exact retraining", "noisygd-delete", "certified bound"))
    yield f"{exact[1]:.0%} of {rounds} rounds after exact retraining"
    assert set(exact[1:]) == {exact[1]}
    yield f"he was right in {ours[1]:.0%}, with ten old models in {ours[10]:.0%}; the certified bound is {most[1]:.0%} and {most[10]:.0%}"
    yield f"Every point is {rounds} rounds"
    assert (paper.demonstration()["epsilon"], paper.demonstration()["delta"]) == (1.0, 1e-6), "the formulas say so"
    assert (capacity.DELTA, capacity.FEATURES, capacity.PUBLICATIONS) == (1e-6, 20, 10)
    assert "One release at (ε, 1e-05), zero-out" in (ROOT / "benchmarks" / "results" / "additive.md").read_text()
    assert float(additive("DP-EBM, best of grid")) < float(additive("additive, ours"))
    yield f"its AUC is {additive('DP-EBM')} against {additive('additive, ours')} here"
    right = {
        cost(name, "accuracy")
        for name in ("`objective-perturbation`", "scikit-learn, float32, from nothing", "scikit-learn, float32, warm")
    }
    low, high = sorted((min(right), max(right)))
    yield f"all three are right on {low} to {high} of held-out rows"
    yield f"takes {cost('`objective-perturbation`', 'passes')} passes over the table, {cost('`objective-perturbation`', 'time / refit float32, from nothing')} of the time"
    yield f"{cost('`objective-perturbation`', 'time / refit float32, warm')} of one from the coefficients it had"
    yield f"takes {cost('`noisy-gd:analysis=paper`', 'passes')} passes"
    yield "On Adult (26,000 rows"
    assert (
        "Adult, 26,000 rows, λ = 0.001, (q = 10, ε_dp = 1," in (ROOT / "benchmarks" / "results" / "cost.md").read_text()
    )
    yield f"of the statements checked {sum(verdict == 'fails' for verdict in verdicts().values())} fail"
    assert slots["10,000"] == "0.0%"
    yield "no row of 10,000 may leave"
    yield "Current Population Survey of 1988"
    yield "deletion lists every 45 days"


def in_note() -> Iterator[str]:
    """What note.md says."""
    noise, left = paper.noise(), {row["rows left"]: row for row in paper.rows("capacity", "rows left")}
    place = noise["across"].index(0.1)
    yield f"noise needed is {noise['exact tilt'][place]:.3f} times the lower bound (what a linear loss needs), against {noise['Redberg et al. (2023)'][place]:.3f}"
    yield "at order 10. Lower is better; 1 cannot be beaten"
    assert (
        "(q, ε_dp) = (10, 1) for every release of every row, ε_dd = 0.1 where"
        in (ROOT / "benchmarks" / "results" / "ladder.md").read_text()
    )
    ladder = {row["way"]: row for row in paper.rows("ladder", "way")}
    short, cold, whole = (
        ladder[name]
        for name in (
            "ladder: base, then 20 steps",
            "cold start with a fifth of its passes",
            "one whole run, a deletion learns afresh",
        )
    )
    after = [row["after a deletion"].split(" ")[0] for row in (short, cold, whole)]
    assert short["passes per deletion"] == cold["passes per deletion"]
    yield (
        f"a base and 20 steps is right on {after[0]} after a deletion in {short['passes per deletion']} passes, against {after[1]} for a cold start of "
        f"the same passes and {after[2]} for learning afresh in {whole['passes per deletion']}."
    )
    worse = norm.cdf(norm.ppf(0.02) + gdp_for(epsilon=1.0, delta=1e-5))
    yield f"an error of 2 % from the trained start means at most {100 * worse:.1f} % from the public one"
    worth = [steps_worth_waiting(expansion=c) for c in (1.1, 1.01)]
    yield f"worth {worth[0]:.2f} steps"
    yield f"and {worth[1]:.1f} at"
    (reserve, *_) = equalizer_costs(1_000)
    yield f"For 1,000 releases the charge is {1 + reserve:.1f} times that of one; fresh noise pays 1,000 times."
    many = {
        row["what"]: row["accuracy"].split(" ")[0]
        for row in paper.rows("sums", "releases")
        if row["releases"] == "1001"
    }
    assert (
        "All releases together are 1-GDP between two records"
        in (ROOT / "benchmarks" / "results" / "sums.md").read_text()
    )
    yield "with 1,001 releases"
    yield f"is right on {many['Markov sums, deletions only']}, on fresh sums on {many['fresh sums']}."
    (steps,) = (
        row
        for row in paper.rows("exact_steps", "table")
        if row["table"].startswith("adult") and (row["method"], row["λ"]) == ("noisy-gd", "0.001")
    )
    slower = "time of a step over float32's"
    assert steps["σ² over float64's reals"] == "1 + 1.3e-04", "the formula says so"
    assert "Rényi order q=10, ε_dp=1, ε_dd=0.1" in (ROOT / "benchmarks" / "results" / "exact_steps.md").read_text()
    (kernel,) = re.findall(
        r"adult, λ = 0.001: \d+ exact steps of `noisy-gd` take ([\d.]+) times",
        (ROOT / "benchmarks" / "results" / "exact_steps.md").read_text(),
    )
    yield f"a step takes {kernel} times as long as in single precision by a compiled kernel, {steps[slower]} by"
    half, full = left["11,000"], left["22,000"]
    assert full["rows left"] == "22,000"
    yield (
        f"With 11,000 of 22,000 rows left at random the loss is {half['measured loss, at random']} nats by measurement and {half['forecast loss']} by forecast."
    )
    yield f"accuracy at that point is {half['right, longest schooled first']}, against {half['right, at random']} at random"


def test_the_last_inequality_of_theorem_5_holds_and_the_room_is_used_up() -> None:
    """g(x) ≤ ln 2 − ½ for 1/(c+1) ≤ x ≤ 1; and the package's optimum of finite chains keeps to it."""
    closest = 1.0
    for log_c in (1e-3, 0.01, 0.1, 0.5, 1.0, 3.0, 8.0):
        c = np.exp(log_c)
        x = np.linspace(1 / (c + 1), 1, 20_001)
        g = -np.log(x) - (1 - x) ** 2 * (c + 1) * log_c / (c - 1)
        room = np.log(2) - 0.5 - g.max()
        assert room >= -1e-9
        closest = min(closest, room)
        for steps, clean in ((1, 5), (40, 3), (400, 4_000)):
            assert (
                steps - charged_steps(expansion=c, steps_with=steps, steps_without=clean)
                <= (np.log(2) - 0.5) / log_c + 1e-9
            )
    assert closest < 1e-4


def plain(text: str) -> str:
    """A page in one line, without its front matter, formulas, code, citations and addresses; names of statements stay out too."""
    text = re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.DOTALL)
    text = re.sub(r"\$\$.*?\$\$|\$[^$]+\$", "", text, flags=re.DOTALL)
    text = re.sub(r"`[^`]*`|\[@[^\]]*\]|@\w+|\]\([^)]*\)|\\\w+\{[^}]*\}|\{ ?width=\d+% ?\}", "", text)
    text = re.sub(r"(?:Theorem|Lemma|Corollary|Proposition) \d|^# \d\.|\(\d\)", "", text, flags=re.MULTILINE)
    return re.sub(r"\s+", " ", text)


def numbers_left(text: str, phrases: list[str]) -> list[str]:
    """Numbers of a page that no phrase accounts for; and phrases that it does not have."""
    page, found = plain(text), []
    for phrase in phrases:
        found += [] if phrase in page else [f"not there: {phrase}"]
        page = page.replace(phrase, " ")
    page = re.sub(r"(?<![\d.,])[01](?![\d%]|[.,]\d)", "", page)  # of proofs: at least 0, to 1
    return [*found, *re.findall(r"[^ ]* ?[\d][\d.,%]*[^ ]*", page)]


@pytest.mark.parametrize(("text", "said"), [(PAPER, in_paper), (NOTE, in_note)], ids=["paper", "note"])
def test_every_number_is_looked_up(text: str, said) -> None:
    assert numbers_left(text, [plain(phrase) for phrase in said()]) == []


def test_a_number_that_is_not_looked_up_is_seen() -> None:
    assert numbers_left(PAPER.replace("7 passes", "6 passes"), [plain(phrase) for phrase in in_paper()])
    assert numbers_left(NOTE + "\nFaster by 12%.", [plain(phrase) for phrase in in_note()]) == ["by 12%."]


def test_the_paper_is_as_long_as_the_journal_wants() -> None:
    body = re.sub(r"\A---\n.*?\n---\n", "", PAPER, flags=re.DOTALL)
    assert 250 <= len(body.split()) <= 1000


@pytest.mark.parametrize("name", sorted(paper.FIGURES))
def test_a_figure_is_of_the_results_that_are_committed(name: str) -> None:
    drawn, _ = paper.FIGURES[name]
    made_of = paper.fingerprint(drawn()).encode()
    assert made_of in (ROOT / "docs" / "note" / f"{name}.png").read_bytes(), "python -m benchmarks paper draws it anew"
    assert f"({name}.png)" in PAPER + NOTE


def test_whoever_is_cited_is_in_the_bibliography_and_the_other_way_round() -> None:
    entries = set(re.findall(r"^@\w+\{(\w+),", (ROOT / "docs" / "note" / "paper.bib").read_text(), re.MULTILINE))
    assert set(re.findall(r"@(\w+)", re.sub(r"`[^`]*`", "", PAPER + NOTE))) == entries


def test_every_statement_of_the_note_has_a_check_of_its_verdict() -> None:
    keys = re.findall(r"\[`([^`]+)`\]|; `([^`]+)`\]", NOTE)
    known = verdicts()
    named = {first or second for first, second in keys}
    assert len(named) >= 12
    assert {key for key in named if known.get(key) != "holds"} == {"4.3"}
    assert known["4.3"] == "fails"
