"""Which method's figures rest on which condition, from the mechanisms themselves: `python -m tests.docs.conditions` writes it into docs/methods.md."""

from __future__ import annotations

import re
from collections import defaultdict

from noisygd_delete import make_plan
from noisygd_delete.methods import Stage
from noisygd_delete.methods.base import Mechanism
from tests.bank import FURTHER, LARGER, NETWORK, PAIRS, PROBLEMS, USUAL, plan_by
from tests.docs.pages import ROOT

PAGE = ROOT / "docs" / "methods.md"
SECTION = re.compile(r"(?<=<!-- conditions: python -m tests.docs.conditions -->\n).*?(?=<!-- end -->)", re.DOTALL)
OTHERS = {  # ways of a plan with conditions of their own
    "objective-perturbation, in a shape": {**USUAL, "features": 9, "budget": PAIRS, "method": "objective-perturbation", "one_hot_blocks": (4, 4, 1)},
    "staged, sampled": {**USUAL, **LARGER, "loss": NETWORK, "budget": PAIRS, "method": "staged",
                        "stages": (Stage("network", 20, sampling_rate=0.05), Stage("moments"))},
}  # fmt: skip
WORDS = {  # key of the catalogue of papers -> the same in few words
    "gradient-norm": "every record's gradient is bounded",
    "slots-public": "n slots, public and fixed",
    "gaussian-noise": "the noise is Gaussian, independent and unknown to the observer",
    "real-arithmetic": "bounds over the real numbers; rounding of gradient sums is in the figures, between tables in which every other row has the same slot",
    "exact-steps": "discrete noise at every step, drawn exactly on a public grid, every rounding charged",
    "exact-noise": "the last noise is an exact discrete Gaussian on a public grid",
    "rows-in-place": "rows are added in an order fixed by their contents, independent of slots, or `in_place=False` charges for any order",
    "row-shape": "with a schema's noise shape: no row exceeds its bound in the norm of that shape",
    "solver-tolerance": "the gradient at the solver's answer is at most γ, rounding included",
    "time-unseen": "publication times are observed no finer than to the day; with `solver=\"fixed\"` the passes do not depend on data",
    "machine-trusted": "the system's random numbers, ChaCha20 and the stated accuracy of elementary functions are trusted",
    "stages-published": "every stage starts at a kept stage or a public point, and is published",
    "sums-carried": "every edit goes through the store, rows are erased after the noise is drawn, the number of releases is fixed beforehand, and run times are unobserved",
    "sums-all-rows": "no person ever had more rows than stated, erased ones counted",
    "samples-unseen": "DP-SGD stages: independent, unobserved Poisson samples",
    "moments-own-norm": "moment stages: every row is divided by its own norm",
}  # fmt: skip


def label(problem: str) -> str:
    """A method as the page names it: its name, and whether its bounds are over the reals though exact ones are there."""
    name, *ways = problem.split(", ")
    name = name.split(" ")[0]
    return f"`{name}{',' if ':' in name else ':'}exact=False`" if "over the reals" in ways else f"`{name}`"


def rests(mechanisms: dict[str, Mechanism]) -> dict[str, list[str]]:
    """Key of a condition -> the methods that state it, in the bank's order."""
    found: dict[str, dict[str, None]] = defaultdict(dict)
    for problem, mechanism in mechanisms.items():
        for key, _ in mechanism.conditions():
            found[key][label(problem)] = None
    return {key: list(methods) for key, methods in found.items()}


def bank() -> dict[str, Mechanism]:
    others = {name: make_plan(**facts).mechanism for name, facts in OTHERS.items()}
    return {**{name: plan_by(name).mechanism for name in {**PROBLEMS, **FURTHER}}, **others}


def written(mechanisms: dict[str, Mechanism]) -> str:
    """One line for each condition. A condition without words here is a KeyError: the page would be silent about it."""
    all_methods = list(dict.fromkeys(label(problem) for problem in mechanisms))
    found = rests(mechanisms)
    places = {WORDS[key]: methods for key, methods in found.items()}
    said = {words: _named(places[words], all_methods) for words in WORDS.values() if words in places}
    return "".join(f"* {words}: {methods}\n" for words, methods in said.items())


def _named(methods: list[str], of: list[str]) -> str:
    """These methods, the shorter way: all, all but a few, or one by one; with those over the reals in one word where all are there."""
    others = [method for method in of if method not in methods]
    if len(others) < 3:
        return f"all but {' and '.join(others)}" if others else "all"
    reals = [method for method in of if method.endswith(":exact=False`")]
    if set(reals) <= set(methods):
        methods = [method for method in methods if method not in reals] + ["every method with `exact=False`"]
    return ", ".join(methods)


if __name__ == "__main__":
    PAGE.write_text(
        SECTION.sub(lambda _: "\n" + written(bank()) + "\n", PAGE.read_text(encoding="utf-8")), encoding="utf-8"
    )
