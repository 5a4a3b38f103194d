"""SACRO-ML's attacks on scikit-learn models: the estimator before and after deletions, and two faults that must be found.

In an environment of its own: pip install sacroml==2.0.1 noisygd-delete, then python -m benchmarks judge_sacroml
"""

from __future__ import annotations

import logging
import math
import tempfile
import warnings
from statistics import fmean
from typing import Any

import numpy as np
from scipy.stats import norm

from benchmarks import report
from noisygd_delete import Budget, NoisyGDClassifier
from noisygd_delete.bounds import gaussian

LEARNED, DELETED = 1.0, 0.2  # μ claimed of learn, and of the release after the deletions
MEMBERS = 80  # rows of each side of an attack: learned and never seen; deleted and never seen
WRONG = 0.3  # of the labels: what a model can only know by heart
STAYED = 80  # rows that stay when the others are deleted


def pictures(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Threes and eights of scikit-learn's digits as 0 and 1, in a random order."""
    from sklearn.datasets import load_digits

    data = load_digits()
    chosen = np.flatnonzero((data.target == 3) | (data.target == 8))
    rng = np.random.default_rng(seed)
    order = rng.permutation(chosen)
    wrong = rng.random(len(order)) < WRONG
    return data.data[order], ((data.target[order] == 8) ^ wrong).astype(int)


def product(seed: int) -> NoisyGDClassifier:
    """The estimator; its noise comes from a seed because the attacks set `random_state` for the models that they train."""
    return NoisyGDClassifier(
        feature_bounds=(0, 16),
        budget=Budget.from_gdp(dp=LEARNED, deletion=DELETED),
        method="objective-perturbation",
        regularization=0.05,
        random_state=seed,
    )


def memorising(seed: int) -> Any:
    """A planted fault: a network without noise that learns its rows by heart."""
    from sklearn.neural_network import MLPClassifier

    return MLPClassifier((64,), alpha=0.0, max_iter=400, random_state=seed)


def attacked(
    model: Any, rows: np.ndarray, labels: np.ndarray, shadows: int
) -> tuple[dict[str, dict[str, float]], list[str]]:
    """By attack: AUC and advantage at the attack's own threshold; and the risks that the structural attack reports.

    The first half of the rows are the members.
    """
    from sacroml.attacks.likelihood_attack import LIRAAttack
    from sacroml.attacks.qmia_attack import QMIAAttack
    from sacroml.attacks.structural_attack import StructuralAttack
    from sacroml.attacks.target import Target

    half = len(rows) // 2
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        target = Target(
            model=model,
            dataset_name="digits",
            **{"X_train": rows[:half], "y_train": labels[:half], "X_test": rows[half:], "y_test": labels[half:]},
        )
        quiet: dict[str, Any] = {"output_dir": folder, "write_report": False}
        for name, attack in (
            ("LiRA", LIRAAttack(n_shadow_models=shadows, mode="online-carlini", fix_variance=True, **quiet)),
            ("QMIA", QMIAAttack(alpha=0.1, **quiet)),
        ):
            attack.attack(target)
            (seen,) = attack.attack_metrics
            found[name] = {"AUC": float(seen["AUC"]), "advantage": float(seen["TPR"] - seen["FPR"])}
        structural = StructuralAttack(**quiet)
        structural.attack(target)
        flags = vars(structural.results).items()
    return found, sorted(name for name, raised in flags if raised is True)


def cases(seed: int) -> list[tuple[str, Any, np.ndarray, np.ndarray, float | None]]:
    """What is attacked: name, fitted model, rows and labels of both sides, and the claimed μ."""
    rows, labels = pictures(seed)
    both = slice(0, 2 * MEMBERS)  # members, then rows that were never seen
    whole = np.r_[0:MEMBERS, 2 * MEMBERS : 2 * MEMBERS + STAYED]
    names = [f"row-{number}" for number in whole]
    deleted = product(seed).fit(rows[whole], labels[whole], ids=names)
    deleted.delete(names[:MEMBERS])
    return [
        ("learn", product(seed).fit(rows[:MEMBERS], labels[:MEMBERS]), rows[both], labels[both], LEARNED),
        (f"after {MEMBERS} deletions", deleted, rows[both], labels[both], DELETED),
        (
            "planted: no noise, memorised",
            memorising(seed).fit(rows[:MEMBERS], labels[:MEMBERS]),
            rows[both],
            labels[both],
            None,
        ),
        (
            "planted: memorised, not removed",
            memorising(seed).fit(rows[whole], labels[whole]),
            rows[both],
            labels[both],
            None,
        ),
    ]


def main(arguments: list[str]) -> None:
    parsed, page = report.begin("judge_sacroml", __doc__, arguments, shadows=40, seeds=3)
    logging.disable(logging.INFO)
    warnings.simplefilter("ignore")
    seen = dict[tuple[str, str], list[dict[str, float]]]()
    claims: dict[str, float | None] = {}
    flags: dict[str, list[str]] = {}
    for seed in range(parsed.seeds):
        for name, model, rows, labels, mu in cases(seed):
            claims[name] = mu
            by_attack, flags[name] = attacked(model, rows, labels, parsed.shadows)
            for attack, found in by_attack.items():
                seen.setdefault((name, attack), []).append(found)
                print(name, attack, found, flags[name], flush=True)
    lines = []
    for (name, attack), found in seen.items():
        mu = claims[name]
        most = (
            ["none"] * 2
            if mu is None
            else [f"{norm.cdf(mu / math.sqrt(2)):.3f}", f"{gaussian.gdp_advantage(mu=mu):.3f}"]
        )
        auc, advantage = (fmean(each[key] for each in found) for key in ("AUC", "advantage"))
        lines.append([name, attack, f"{auc:.3f}", most[0], f"{advantage:.3f}", most[1]])
    body = (
        f"Judge: sacroml 2.0.1, LiRA (online, {parsed.shadows} shadow models) and QMIA, against threes and eights of scikit-learn's digits, {WRONG:.0%} of the labels wrong; means of {parsed.seeds} "
        f"targets. {MEMBERS} rows that were learned, or learned and then deleted beside {STAYED} that stay, against {MEMBERS} that were never seen: AUC and advantage "
        f"with a standard deviation of about {0.046 / math.sqrt(parsed.seeds):.3f} and {0.079 / math.sqrt(parsed.seeds):.3f} where nothing can be seen. The estimator: objective "
        f"perturbation, λ = 0.05, claimed μ = {LEARNED} for `fit` and {DELETED} for the release after the deletions, a row.\n\n"
        + report.table(["target", "attack", "AUC", "AUC at most", "advantage", "at most"], lines)
        + "\n\nRisks that its structural attack reports:\n\n"
        + report.table(["target", "risks"], [[name, ", ".join(found) or "none"] for name, found in flags.items()])
        + "\n\nWhat this judge cannot see: its attacks read predicted probabilities of one model, so they see neither weights, nor two releases together, nor rows "
        "made to stand out; a membership bound holds for each of them. Its structural attack has no count of parameters for this "
        "estimator, and flags every model whose predictions differ from row to row. A figure near chance is no proof of privacy: `audits.md` attacks the weights."
    )
    page.write("SACRO-ML on the estimator, before and after deletions", body)
