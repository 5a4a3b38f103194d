"""Adaptive streams and what an adversary learns from them: `python -m benchmarks adaptive [releases|claims|rows|adult]`.

Tables (CSV) and plots (PNG) in benchmarks/results:

    releases  advantage against the number of releases after the deletion: a count with secret state, exact retraining
              and Noisy-GD, under fixed and under 1-adaptive requests
    claims    claimed against measured ε_dd over K_Ā, on the linear worst case and on the logistic loss
    rows      how well the difference of the models before and after gives the deleted row's direction away
    adult     1,000 adaptive requests on Adult in 100 batches: the budget's course, accuracy and cost
"""

from __future__ import annotations

import argparse
import csv
import math
import runpy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from noisygd_delete_lab.reconstruction import curvature, reconstruct

from noisygd_delete import Budget, Curator, EditRequest, Model, Records, learn, losses, make_plan, unlearn
from noisygd_delete.audit import Counts, World
from noisygd_delete.audit.membership import linear_engine, row_of
from noisygd_delete.audit.simulation import SimulatedNoisyGD
from noisygd_delete.curator.stream import Adaptive, Batching, Publication, interact
from noisygd_delete.engine.noise import ResearchNoise
from noisygd_delete.engine.noisygd import initial_weights, run_noisy_steps

from . import datasets, report
from .report import RESULTS

ROOT = Path(__file__).parents[1]
MEASURED = report.commit()
ERROR = 1e-3  # probability that any bound of one figure is wrong


def write_table(name: str, rows: Sequence[Mapping[str, object]]) -> None:
    """CSV under a comment line with the commit and the command."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    with (RESULTS / f"adaptive_{name}.csv").open("w", newline="") as file:
        file.write(f"# commit {MEASURED}, python -m benchmarks adaptive {name}\n")
        table = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        table.writeheader()
        for row in rows:
            table.writerow({key: f"{value:.6g}" if isinstance(value, float) else value for key, value in row.items()})


def counted(present: np.ndarray, absent: np.ndarray, comparisons: int) -> Counts:
    """Positive scores say "present"."""
    return Counts(
        int((present > 0).sum()), len(present), int((absent > 0).sum()), len(absent), error=ERROR / comparisons
    )


# --- advantage against the number of releases after the deletion ---------------------------------------------------------


def releases(chains: int = 20_000) -> None:
    """The victim is x = +1 or −1. The adversary sees `number` releases from the deletion on, by itself."""
    numbers = [1, 2, 4, 8, 16, 32, 64, 128, 256]
    example = runpy.run_path(str(ROOT / "examples" / "attacks" / "counterexamples.py"))
    series: dict[str, list[Counts]] = {
        "count, printed secret state": pick(
            example["measured"](example["printed_shifts"](numbers[-1]), epsilon=1.0, runs=chains), numbers
        ),
        "count, turn-taking secret state": pick(
            example["measured"](example["turn_taking_shifts"](numbers[-1]), epsilon=1.0, runs=chains), numbers
        ),
        "exact retraining, 1-adaptive requests": exact_retraining(numbers, chains),
    }
    plan = make_plan(
        losses.Linear(radius=1.0),
        records=41,
        features=1,
        regularization=0.1,
        budget=Budget.from_gdp(dp=1.0, deletion=0.25),
        method="noisy-gd",
        deletion_notion="pairwise",
        step_size=5.0,
        utility=False,
    )
    certified = {}
    for adaptive in (False, True):
        name = f"Noisy-GD, {'1-adaptive' if adaptive else 'fixed'} requests"
        series[name], certified[name] = noisy_gd(plan, numbers, chains, adaptive=adaptive)
    rows = [
        {
            "releases after the deletion": number,
            **{
                f"{name} ({kind})": value
                for name, counts in series.items()
                for kind, value in (("measured", counts[k].estimate), ("at least", counts[k].advantage))
            },
            **{f"{name} (certified)": bound for name, bound in certified.items()},
        }
        for k, number in enumerate(numbers)
    ]
    write_table("releases", rows)
    plot_releases(numbers, series, certified)
    for name, counts in series.items():
        print(f"{name:<40} {counts[0].estimate:.3f} after 1 release, {counts[-1].estimate:.3f} after {numbers[-1]}")
    for name, bound in certified.items():
        print(f"{name + ', certified':<40} {bound:.3f} for any number")


def pick(counts: Sequence[Counts], numbers: Iterable[int]) -> list[Counts]:
    return [replace(counts[number - 1], error=ERROR / 50) for number in numbers]


COPIES = 8


def exact_retraining(numbers: Sequence[int], chains: int) -> list[Counts]:
    """Publishes the exact minimiser −Σx/(nλ). The requester copies the sign of the first one into other records."""
    rng = np.random.default_rng(0)
    scores = {}
    for victim in (1.0, -1.0):
        others = 0.1 * rng.choice([-1.0, 1.0], size=(chains, COPIES))
        first = victim + others.sum(axis=1)
        planted = COPIES * np.sign(first)
        scores[victim] = planted  # every release from the deletion on is a function of this sum
    return [counted(scores[1.0], scores[-1.0], 50) for _ in numbers]


def noisy_gd(plan, numbers: Sequence[int], chains: int, *, adaptive: bool) -> tuple[list[Counts], float]:
    """The same requester against the product's kernel; the adversary adds up the releases it sees.

    Fixed requests: the exact likelihood ratio needs the first release only, the others are functions of it and of noise.
    """
    noise = ResearchNoise(np.random.default_rng(1))
    n, eta = plan.problem.records, plan.calibration.step_size
    scores: dict[float, list[np.ndarray]] = {}
    for victim in (1.0, -1.0):
        planted = np.zeros((chains, 1, 1))

        def descend(start, steps: int, own: float, planted):
            total = own + planted
            return run_noisy_steps(
                start,
                lambda theta: total / n + plan.problem.regularization * theta,
                step_size=eta,
                noise_variance=plan.calibration.noise_variance,
                steps=steps,
                noise=noise,
            )

        start = initial_weights((chains, 1, 1), init_variance=plan.calibration.init_variance, noise=noise)
        weights = descend(start, plan.calibration.learn_steps, victim, planted)
        if adaptive:
            planted = -COPIES * np.sign(weights)  # a record at +1 pushes the weights down
            weights = descend(weights, plan.calibration.delete_steps, victim, planted)
        seen = np.zeros(chains)
        scores[victim] = []
        for number in range(1, numbers[-1] + 1):
            weights = descend(weights, plan.calibration.delete_steps, 0.0, planted)
            if adaptive or number == 1:
                seen = seen - weights[:, 0, 0]
            if number in numbers:
                scores[victim].append(seen)
    erased_at = 3 if adaptive else 2
    curator = Curator(Records([[1.0], [0.0]], [0.0, 0.0], slots=n), plan)
    curator.learn()
    requests = ([EditRequest.replace({1: ([1.0], 0.0)})] if adaptive else []) + [EditRequest.delete([0])]
    for request in requests:
        curator.serve(request)
    for _ in range(numbers[-1] - 1):
        curator.publish()
    observed = ([1] if adaptive else []) + list(range(erased_at, len(curator.accountant.events) + 1))
    certified = curator.accountant.deletion(1, erased_at, observed, notion="pairwise").advantage
    return [counted(a, b, 50) for a, b in zip(scores[1.0], scores[-1.0], strict=True)], certified


# --- claimed against measured over the number of steps -------------------------------------------------------------------


def claims(chains: int = 1_000_000) -> None:
    """ε_dd of Definition 4.1 at order 10: a record that was learned and erased, against one that was never there."""
    order, steps = 10.0, list(range(0, 61, 5))
    plan = make_plan(
        losses.Logistic(radius=1.0),
        records=1000,
        features=1,
        regularization=0.05,
        budget=Budget(order=order, dp=4.0, deletion=0.1),
        method="noisy-gd",
        adjacency="zero-out",
        step_size=1.6,
        utility=False,
    )
    printed = replace(plan.mechanism, method="noisy-gd:analysis=paper")
    linear = linear_engine(plan)
    logistic = replace(linear, loss=plan.problem.loss, regularization=plan.problem.regularization)
    measured = {
        "linear": course(linear, steps, chains),
        "logistic": course(logistic, steps, chains),
    }
    rows = []
    for k, number in enumerate(steps):
        facts = {"steps_with": linear.learn_steps, "steps_without": number}
        row = {
            "K": number,
            "Theorem 5.1 (G.15)": printed.interval("deletion", "erased-vs-never", **facts).renyi(order),
            "noisy-gd": plan.mechanism.interval("deletion", "erased-vs-never", **facts).renyi(order),
        }
        for name, counts in measured.items():
            row |= {
                f"{name}, at least (Gaussian)": order * counts[k].gdp ** 2 / 2,
                f"{name}, at least (any law)": counts[k].renyi(order),
            }
        rows.append(row)
    write_table("claims", rows)
    plot_claims(rows)
    for row in rows[:: len(rows) - 1]:
        print({key: round(value, 4) for key, value in row.items()})
    assert all(row[f"{name}, at least (Gaussian)"] <= row["noisy-gd"] for row in rows for name in measured)


def course(engine: SimulatedNoisyGD, steps: Sequence[int], chains: int) -> list[Counts]:
    """The threshold test on the weight, after each number of clean steps; the threshold comes from chains not counted."""
    rng = np.random.default_rng(2)
    weights = {
        world: replace(engine, later_releases=0)(world_of(world * engine.loss.radius), chains, rng)[0]
        for world in (1, 0)
    }
    done, answers = 0, []
    for number in steps:
        weights = {
            world: engine.descend(chain, row_of(0.0), number - done, ResearchNoise(rng))
            for world, chain in weights.items()
        }
        done = number
        (one, fitted), (other, reference) = (np.split(weights[world][:, 0, 0], 2) for world in (1, 0))
        middle, sign = (fitted.mean() + reference.mean()) / 2, np.sign(fitted.mean() - reference.mean())
        answers.append(counted(sign * (one - middle), sign * (other - middle), 2 * len(steps)))
    return answers


def world_of(value: float) -> World:
    return World(row_of(value), row_of(0.0))


# --- the direction of a deleted row --------------------------------------------------------------------------------------


def deleted_rows(trials: int = 40) -> None:
    """Adult: cosine between a deleted row and the attacker's guess, beside the same guess against another row."""
    data = datasets.adult()
    rows, labels = np.array(data.train.features, dtype=np.float64), np.array(data.train.labels)
    plan = make_plan(
        data.loss,
        records=len(rows),
        features=rows.shape[1],
        regularization=1e-3,
        budget=Budget(order=10, dp=1.0, deletion=0.1),
        method="noisy-gd",
        utility=False,
    )
    rng = np.random.default_rng(3)
    whole, learned = minimise(rows, labels, plan.problem.regularization), learn(data.train, plan, rng)
    hessian = curvature(data.test, data.loss, whole, regularization=plan.problem.regularization)

    def retrain(index: int):
        left = rows.copy()
        left[index] = 0
        return whole, minimise(left, labels, plan.problem.regularization, start=whole)

    def ours(index: int):
        return learned.weights, unlearn(data.train, EditRequest.delete([index]), learned, plan, rng).weights

    table: list[dict[str, object]] = []
    for engine, delete in (("exact retraining", retrain), ("Noisy-GD", ours)):
        for knows, matrix in (("nothing", None), ("the curvature, from public rows", hessian)):
            found = reconstruct(delete, rows[:trials], data.test.features, hessian=matrix)
            table.append(
                {
                    "engine": engine,
                    "attacker knows": knows,
                    "mean cosine with the deleted row": found.mean_cosine,
                    "with a row that was not deleted": found.mean_control,
                    "share of deleted rows above 0.9": float(np.mean(np.array(found.cosines) > 0.9)),
                }
            )
            print(table[-1])
    write_table("rows", table)


def minimise(
    rows: np.ndarray, labels: np.ndarray, regularization: float, start: np.ndarray | None = None
) -> np.ndarray:
    """The exact minimiser of the logistic objective, by Newton's method."""
    weights = np.zeros(rows.shape[1]) if start is None else start
    for _ in range(50):
        share = 1 / (1 + np.exp(labels * (rows @ weights)))
        gradient = -(labels * share) @ rows / len(rows) + regularization * weights
        if np.linalg.norm(gradient) < 1e-13:
            break
        curved = (rows * (share * (1 - share))[:, None]).T @ rows / len(rows) + regularization * np.eye(len(weights))
        weights = weights - np.linalg.solve(curved, gradient)
    return weights


# --- a thousand adaptive requests on Adult -------------------------------------------------------------------------------


def adult(requests: int = 1000, batches: int = 100) -> None:
    """An everything-adaptive requester: whoever the newest model serves worst asks to be forgotten next."""
    data = datasets.adult()
    public, rows, labels = data.test, np.array(data.train.features), np.array(data.train.labels)
    plan = make_plan(
        data.loss,
        records=len(rows),
        features=rows.shape[1],
        regularization=1e-3,
        budget=Budget.from_gdp(dp=1.3, deletion=0.1),
        method="noisy-gd",
        releases=batches + 1,
        batch=requests // batches,
        utility=False,
    )
    curator = Curator(data.train, plan)
    learned = curator.learn()
    left = np.ones(len(rows), dtype=bool)
    looked_at, margins = 0, np.zeros(len(rows))

    def worst_served(seen: Mapping[int, Model]) -> EditRequest:
        nonlocal looked_at, margins
        newest = max(seen)
        if newest != looked_at:
            looked_at, margins = newest, seen[newest].scores(rows)[:, 0] * labels
        index = int(np.where(left, margins, np.inf).argmin())
        left[index] = False
        return EditRequest.delete([index])

    table: list[dict[str, object]] = []

    def note(release: int, served: int, steps: int) -> None:
        accountant = curator.accountant
        table.append(
            {
                "release": release,
                "requests served": served,
                "steps": steps,
                "gradient passes per request": steps / (requests / batches) if served else float(steps),
                "present mu": accountant.dp_cumulative().gdp,
                "present advantage": accountant.dp_cumulative().with_slack().advantage,
                "erased advantage": accountant.deletion(1, release).with_slack().advantage if release > 1 else 0.0,
                "erased advantage, after the erasure": plan.deletion.with_slack().advantage if release > 1 else 0.0,
                "accuracy": curator.model.accuracy(public),
            }
        )

    def published(publication: Publication) -> None:
        note(publication.release, int((~left).sum()), publication.steps)

    note(1, 0, learned.steps)
    batching = Batching.within_budget(curator.accountant, edits=requests)
    outcome = interact(curator, Adaptive(worst_served), batching, limit=requests, holdout=public, progress=published)
    assert outcome.served == requests
    assert not outcome.withheld
    assert outcome.adaptivity == batches + 1
    present, erased = outcome.present.with_slack().advantage, outcome.everything.with_slack().advantage
    assert max(present, erased) < 0.5
    write_table("adult", table)
    plot_adult(table)
    print(
        f"{outcome.served} requests in {len(outcome.publications)} publications; K_A={plan.calibration.learn_steps}, K_Ā={plan.calibration.delete_steps}: "
        f"{outcome.steps / outcome.served:.1f} passes per request, 1/{plan.calibration.learn_steps * outcome.served / outcome.steps:.0f} of relearning\n"
        f"advantage: still present at most {present:.3f}, erased at most {erased:.3f} (to an observer of every release), "
        f"{plan.deletion.advantage:.3f} (from the erasure on)\naccuracy {table[0]['accuracy']:.4f} at first, "
        f"{outcome.accuracy:.4f} at last"
    )


# --- plots ---------------------------------------------------------------------------------------------------------------


def figure(title: str, xlabel: str, ylabel: str):
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    canvas, axes = pyplot.subplots(figsize=(7.2, 4.8), dpi=130, layout="constrained")
    axes.set(title=title, xlabel=xlabel, ylabel=ylabel)
    axes.grid(alpha=0.25)
    return canvas, axes


def save(canvas, name: str) -> None:
    canvas.savefig(RESULTS / f"adaptive_{name}.png", metadata={"Software": None})


def plot_releases(numbers, series: Mapping[str, list[Counts]], certified: Mapping[str, float]) -> None:
    canvas, axes = figure(
        "What the releases after a deletion tell about the deleted record",
        "releases after the deletion",
        "membership advantage",
    )
    for (name, counts), marker, color in zip(series.items(), "sDvox", ("C1", "C3", "k", "C0", "C2"), strict=True):
        axes.plot(numbers, [entry.estimate for entry in counts], marker=marker, color=color, label=name)
        if name in certified:
            axes.axhline(certified[name], color=color, linestyle="--", label=f"{name}: certified")
    axes.set_xscale("log", base=2)
    axes.set_xticks(numbers, [str(number) for number in numbers])
    axes.set_ylim(-0.02, 1.04)
    canvas.legend(fontsize=7, loc="outside lower center", ncols=2)
    save(canvas, "releases")


def plot_claims(rows: Sequence[Mapping[str, float]]) -> None:
    canvas, axes = figure(
        "Claimed and measured ε_dd, Definition 4.1, order 10", "K, steps after the deletion", "ε_dd at order 10"
    )
    steps = [row["K"] for row in rows]
    styles = {
        "Theorem 5.1 (G.15)": {"color": "C3", "linestyle": "--"},
        "noisy-gd": {"color": "k"},
        "linear, at least (Gaussian)": {"color": "C0", "marker": "o", "linestyle": ""},
        "linear, at least (any law)": {"color": "C0", "marker": "_", "linestyle": ""},
        "logistic, at least (Gaussian)": {"color": "C2", "marker": "^", "linestyle": ""},
    }
    for name, style in styles.items():
        values = [row[name] if row[name] > 0 else math.nan for row in rows]
        label = f"claimed: {name}" if "at least" not in name else f"measured: {name}"
        axes.plot(steps, values, label=label, **style)
    axes.set_yscale("log")
    axes.legend(fontsize=7)
    save(canvas, "claims")


def plot_adult(table: Sequence[Mapping[str, object]]) -> None:
    canvas, axes = figure(
        "1,000 adaptive requests on Adult, 100 publications", "requests served", "certified advantage"
    )
    served = [row["requests served"] for row in table]
    for name, label in (
        ("present advantage", "a record still present, every release observed"),
        ("erased advantage", "a record erased now, every release observed"),
        ("erased advantage, after the erasure", "a record erased now, seen from its erasure on"),
    ):
        axes.plot(served[1:], [row[name] for row in table][1:], label=label)
    axes.axhline(0.5, color="k", linestyle=":", linewidth=1)
    axes.set_ylim(0, 0.62)
    other = axes.twinx()
    other.plot(served, [row["accuracy"] for row in table], color="C7", linewidth=1, label="hold-out accuracy (right)")
    other.set_ylim(0.7, 0.9)
    other.set_ylabel("accuracy")
    lines = [*axes.get_lines()[:3], *other.get_lines()]
    axes.legend(lines, [str(line.get_label()) for line in lines], fontsize=7, loc="upper left")
    save(canvas, "adult")


FIGURES = {"releases": releases, "claims": claims, "rows": deleted_rows, "adult": adult}


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("figure", nargs="*", help="releases, claims, rows or adult; default: all of them")
    for name in parser.parse_args(arguments).figure or FIGURES:
        FIGURES[name]()
