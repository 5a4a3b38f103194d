"""The page recomputes certificates of every method, not of the frequent ones alone."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from noisygd_delete import Budget, losses, make_plan, methods
from noisygd_delete.accountant import Event
from noisygd_delete.evidence import Erasure, erasure_certificate, new_key, sign, verify_certificate
from noisygd_delete.methods import Minimiser, Perturbed, Stage
from noisygd_delete.papers.checker import page_script
from noisygd_delete.records import EditCounts, bounded
from tools.page import checker, script, verifier
from tools.page.__main__ import DIGESTS, listed

from .browser import dom, in_a_browser, judged

NETWORK = losses.MultilayerPerceptron(radius=1.0, classes=2, hidden=8)
ROWS = {"records": 20_000, "features": 12, "regularization": 1e-2}
PLACES = ({"kind": "s3", "release": 2, "oldest": 1}, {"kind": "folder", "release": None, "oldest": None})
RENYI, PAIRS = Budget(order=8, dp=1.0, deletion=0.1), Budget.from_epsilon_delta(dp=(2.0, 1e-6), deletion=(0.2, 1e-6))
PLANS: dict[str, dict[str, Any]] = {
    "sharp, in (ε, δ)": {"loss": losses.Logistic(radius=1.0), "method": "sharp", "budget": PAIRS},
    "sharp, down to the last bit": {"loss": losses.Softmax(radius=1.0, classes=3), "method": "sharp-exact", "budget": PAIRS},
    "the same, rows in any order": {"loss": losses.Softmax(radius=1.0, classes=3), "method": methods.METHODS["sharp-exact"](in_place=False), "budget": PAIRS},
    "minimiser": {"loss": losses.Softmax(radius=1.0, classes=3), "method": "minimiser", "budget": RENYI},
    "minimiser, down to the last bit": {"loss": losses.Logistic(radius=1.0), "method": Minimiser(exact=True), "budget": PAIRS},
    "that, rows in any order": {"loss": losses.Softmax(radius=1.0, classes=3), "method": Minimiser(solver="fixed", exact=True, in_place=False), "budget": RENYI},
    "perturbed, in (ε, δ)": {"loss": losses.OneVsRest(radius=1.0, classes=3), "method": "perturbed", "budget": PAIRS},
    "perturbed, of very many rows": {"loss": losses.Logistic(radius=1.0), "method": "perturbed", "budget": RENYI, "records": 10**9},
    "perturbed, three in a row": {"loss": losses.clip(losses.Logistic(radius=1.0), 0.6), "method": Perturbed(chain=3), "budget": PAIRS},
    "perturbed, of weighted classes": {"loss": losses.weigh(losses.Softmax(radius=1.0, classes=3), [1.0, 0.5, 1.0]), "method": "perturbed", "budget": PAIRS},
    "interleaved": {"loss": losses.PseudoHuber(radius=1.0), "method": "interleaved", "budget": RENYI, "releases": 8},
    "composition": {"loss": losses.Sigmoid(radius=1.0), "method": "composition", "budget": RENYI},
    "ladder": {"loss": NETWORK, "method": "ladder", "budget": RENYI},
    "ladder with a head": {"loss": NETWORK, "method": "ladder", "budget": PAIRS, "stages": (Stage("network", 20), Stage("head"))},
}  # fmt: skip


@in_a_browser
def test_a_certificate_of_every_method_holds_in_the_page(tmp_path: Path) -> None:
    new_key(tmp_path / "controller.pem")
    texts = []
    for facts in PLANS.values():
        plan = make_plan(**{**ROWS, **facts})
        counts = EditCounts(deleted=1, replaced=1)
        events = [
            Event("learn", plan.learn_steps, 0, plan.mechanism),
            Event("unlearn", plan.delete_steps, 2, plan.mechanism, counts),
        ]
        erasure = Erasure(rows=2, replaced=1, release=2, publishers=PLACES)
        paper = erasure_certificate(erasure, plan=plan, events=events)
        texts.append(json.dumps(sign(paper, tmp_path / "controller.pem"), indent=2))
    assert [verify_certificate(bounded.parsed(text)).passed for text in texts] == [True] * len(PLANS)
    found = judged(texts, None, checker(), tmp_path)
    assert [name for name, held in zip(PLANS, found, strict=True) if not held] == []


@in_a_browser
def test_the_runtime_brings_whatever_the_translated_modules_ask_it_for(tmp_path: Path) -> None:
    """But for arrays of records, keys that sign and files, of which a page has none."""
    text = verifier()
    asked = {tuple(found) for found in re.findall(r'\$\.libraries\["([\w.]+)"\]\.(\w+)', text)}
    asked |= {tuple(found) for found in re.findall(r'\$\.libraries\["([\w.]+)"\]\["(\w+)"\]', text)}
    asked = {
        (library, name)
        for library, name in asked
        if not library.startswith(("numpy", "cryptography", "typing", "records"))
    }
    builtins = set(re.findall(r"\$\.b\.(\w+)", text))
    assert len(asked) > 40
    assert len(builtins) > 30
    script = f"""{checker()}
document.body.dataset.found = [
  ...{json.dumps(sorted(asked))}.filter(([library, name]) => $.libraries[library]?.[name] === undefined).map((pair) => pair.join(".")),
  ...{json.dumps(sorted(builtins))}.filter((name) => $.b[name] === undefined),
].join(" ");"""
    shown = dom(f'<!doctype html><meta charset="utf-8"><body><script>{script}</script></body>', tmp_path)
    found = re.search(r'data-found="([^"]*)"', shown)
    assert found is not None
    assert set(found[1].split()) <= {
        "scipy.special.ndtri",
        "functools.cached_property",
    }  # of tests alone; read as a decorator


def test_the_script_in_the_package_is_what_its_sources_make_today() -> None:
    """After a change of anything that the page recomputes: python -m tools.page."""
    made = script()
    assert page_script() == made, "run python -m tools.page"
    assert listed(DIGESTS.read_text(encoding="utf-8"), made) == DIGESTS.read_text(encoding="utf-8")


def test_versions_before_keep_their_line_in_the_list_of_digests() -> None:
    before = "| version | digest |\n|---|---|\n| 0.0.9 | `sha256-old` |\n"
    once = listed(before, "one")
    assert once.startswith(before)
    assert listed(once, "two").startswith(before)
    assert listed(once, "two").count("\n") == once.count("\n") == 4
    assert listed(once, "two") != once
