"""Releases by objective perturbation: what the product says of them, against exact laws, and plans that meet their budget."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np

from noisygd_delete import Budget, Plan, losses
from noisygd_delete.accountant import Accountant, Event
from noisygd_delete.bounds import renyi
from noisygd_delete.methods.objective_perturbation_run import ObjectivePerturbationRun
from noisygd_delete.privacy.curves import Curve
from noisygd_delete.privacy.guarantee import Guarantee
from noisygd_delete.privacy.worlds import Worlds

from . import ways
from .answers import exact_mu
from .framework import ADVERSARIAL, RIGOROUS, SYMBOLIC, Finding, close, require, statement
from .objective_perturbation import NULL, divergence, log_density, ramp

_ROWS = 2.0**-15  # what the length of a row in single precision may add, relative


def _faulty(**changes: Any) -> Any:
    def guarantee(run: ObjectivePerturbationRun, about: str, worlds: str, **steps: float) -> Guarantee:
        changed = {name: change(getattr(run, name)) for name, change in changes.items()}
        return replace(run, **changed).interval(about, worlds, **steps)

    return guarantee


def _run(**facts: Any) -> ObjectivePerturbationRun:
    usual: dict[str, Any] = {
        "records": 100,
        "linear_term": 3.0,
        "output_noise": 2.0**-8,
        "gradient_tolerance": 1e-7,
        "strong_convexity": 0.01,
        "lipschitz": 1.0,
        "smoothness": 0.25,
        "form": "one direction",
        "dimension": 1,
    }
    return ObjectivePerturbationRun(**{**usual, **facts})


@statement(
    "OP.releases",
    "a release by objective perturbation: Theorems 1, 2 and 3 at the constants of the loss; nothing of an erased record but the ball of a warm solver",
    evidence=(RIGOROUS, ADVERSARIAL),
    claim=ObjectivePerturbationRun.interval,
    fault=("the Hessian term forgotten", _faulty(smoothness=lambda _: 0.0)),
    licenses=(
        "methods.objective_perturbation:ObjectivePerturbationRun",
        "privacy.curves:Curve",
        "privacy.budget:Budget.affords",
    ),
    scope="Exact one-dimensional laws of ramps at the ρ and L of the run, where s is small and large; linear losses, where the law of the output "
    "is Gaussian: equality with the bound to the share of γ; the share of γ and the deletion part at opposite ends of the ball, on the "
    "grid; releases side by side (one-vs-rest); rows of a subject. The six Hessian costs: OP.one-direction and its neighbours.",
)
def _releases(claim, effort: int) -> Finding:
    closest = math.inf
    for scale, convexity in ((0.25, 0.005), (0.8, 0.01), (3.0, 0.03), (3.0, 0.01)):
        run = _run(linear_term=scale, strong_convexity=convexity)
        ratio, height = 0.25 / (100 * convexity), 1 / scale
        shift = ramp(height, ratio)
        laws = log_density(shift), log_density(NULL)
        for order in (1.3, 2.0, 3.5):
            if (order - 1) * ratio >= 1:
                continue
            truth = max(divergence(order, *laws), divergence(order, *laws[::-1]))
            bound = claim(run, "dp", "zero-out", steps_with=1).renyi(order)
            require(truth <= bound, f"s={scale}, ρ={ratio}, q={order}: {truth} above {bound}")
            closest = min(closest, 1 - truth / bound)
        both = ramp(height, ratio), ramp(-height, -0.0)  # x against x′: one bends, the other pulls the other way
        laws = tuple(map(log_density, both))
        for order in (1.3, 2.0):
            truth = max(divergence(order, *laws), divergence(order, *laws[::-1]))
            bound = claim(run, "dp", "replace", steps_with=1).renyi(order)
            require(truth <= bound, f"replace, s={scale}, ρ={ratio}, q={order}: {truth} above {bound}")
    for worlds, delta in ((Worlds.REPLACE, 2.0), (Worlds.ZERO_OUT, 1.0)):
        for rows in (1, 3):
            run = _run(smoothness=0.0, rows_per_subject=rows)
            apart = 2e-7 / 0.01 + 2.0**-32
            mu = math.hypot(rows * delta / 3, apart * 2**8)
            found = claim(run, "dp", str(worlds), steps_with=1)
            require(mu <= found.gdp <= mu * (1 + _ROWS), f"linear loss, {worlds}: {found.gdp} for {mu}")
            require(found.renyi(7) >= 3.5 * mu**2 * (1 - 1e-12), "its Rényi curve")
    several = claim(_run(form="several directions"), "dp", "replace", steps_with=1)
    require(several.gdp is None, "several directions have no μ")
    stiff = _run(strong_convexity=0.1)
    blocks = claim(replace(stiff, lipschitz=math.sqrt(5), blocks=5, dimension=5), "dp", "zero-out", steps_with=1)
    single = claim(stiff, "dp", "zero-out", steps_with=1)
    for order in (1.5, 4.0):
        close(blocks.renyi(order), 5 * single.renyi(order), "five releases side by side", 1e-3)
    require(blocks.gdp is not None and single.gdp is not None, "each has a μ")
    close(blocks.gdp, math.sqrt(5) * single.gdp, "μ of five", 1e-3)
    _facts(claim)
    warm = _run(warm=True)
    truth = (
        2 * 1e-7 / 0.01 + 2.0**-32
    ) * 2**8  # two runs at opposite ends of the ball, whether or not one held the record
    for notion in ("erased-vs-never", "pairwise"):
        found = claim(warm, "deletion", notion, steps_with=math.inf, steps_without=1)
        require(truth <= found.gdp * (1 + 1e-12) and found.gdp <= truth * 1.001, f"{notion}: {found.gdp} for {truth}")
        cold = claim(_run(), "deletion", notion, steps_with=math.inf, steps_without=1)
        require(cold.gdp == 0, "nothing shows where a cold solver began")
    order, budget = 4.0, single.renyi(4.0)
    require(Budget(order=order, dp=budget, deletion=budget).affords(single), "within its own budget")
    require(not Budget(order=order, dp=budget * 0.99, deletion=budget * 0.9).affords(single), "not within less")
    least = renyi.curve_least(lambda q: abs(q - 2.5), highest_order=4.0)
    require(least < 1e-3, "a search over orders")
    low = renyi.curve_least(lambda q: abs(q - 9.0), highest_order=4.0)
    require(5 < low < 5.1, "that stays below the highest")
    return Finding(f"closest approach {max(closest, 0):.1e}")


def _facts(claim: Any) -> None:
    """What follows from the facts of a run: curvature ratios, conditions, the weight of a person."""
    for smooth, weak in ((0.25, 0.0), (0.4, 0.1)):
        form = "weakly convex" if weak else "one direction"
        found = _run(smoothness=smooth, weak_convexity=weak, form=form).ratios()
        longer = Fraction(1 + 2.0**-19) ** 2  # rows of single precision may be longer than R by that factor
        rows = 100 * (Fraction(0.01) - 2 * Fraction(weak) * (longer - 1)) + Fraction(weak) * longer
        for one, bend in zip(found, (smooth, weak), strict=True):
            close(one, float(Fraction(bend) * longer / rows), "curvature of a row over that of the others", 1e-13)
    for fact, condition in (("shaped", "row-shape"), ("in_place", "rows-in-place")):
        for value in (True, False):
            stated = [name for name, _ in _run(**{fact: value}).conditions()]
            require((condition in stated) == value, f"conditions where {fact} is {value}: {stated}")
    person = _run(strong_convexity=0.1, rows_per_subject=3, weighting="by-person")
    found, plain = (claim(run, "dp", "replace", steps_with=1).gdp for run in (person, _run(strong_convexity=0.1)))
    close(found, plain, "rows of a person that weigh one together", 1e-12)


def _chain_divergence(order: float, scale: float, convexity: float, links: int, *, bent: bool) -> float:
    """Exact D_q of all links of a chain in one dimension, with one record of loss log(1 + e^{−θ}), or −θ where not `bent`, against
    none, both ways.

    The density of a link given the one before it, a: φ_s(G(θ)) G′(θ), G(θ) = nλ(θ − a) + f′(θ). Backwards: the expectation of the
    q-th power of the ratio, as a function of a, on a grid of a in units of s/(nλ).
    """
    pull = 100 * convexity
    grid = np.linspace(-14.0, 14.0, 561) * math.sqrt(links)
    theta, cell = grid * scale / pull, (grid[1] - grid[0]) * scale / pull

    def log_law(with_it: bool) -> Any:
        slope, bend = np.full_like(theta, -float(with_it)), np.zeros_like(theta)
        if with_it and bent:
            slope, bend = -1 / (1 + np.exp(theta)), 0.25 / np.cosh(theta / 2) ** 2
        moved = (pull * (theta[None, :] - theta[:, None]) + slope[None, :]) / scale
        return -(moved**2) / 2 + np.log((pull + bend[None, :]) / scale) - math.log(2 * math.pi) / 2

    laws, found = (log_law(True), log_law(False)), 0.0
    for one, other in (laws, laws[::-1]):
        worth = np.zeros_like(theta)
        for _ in range(links):
            exponent = order * one + (1 - order) * other + worth[None, :]
            top = exponent.max(axis=1)
            worth = top + np.log(np.exp(exponent - top[:, None]).sum(axis=1) * cell)
        found = max(found, float(worth[len(theta) // 2]) / (order - 1))
    return found


def _one_ball(run: ObjectivePerturbationRun, about: str, worlds: str, **steps: float) -> Guarantee:
    """As if the run without the record published the exact minimiser."""
    found = run.interval(about, worlds, **steps)
    return replace(found, gdp_squared=found.gdp_squared / 4) if steps.get("steps_without") else found


@statement(
    "OP.two-runs",
    "what a hidden start leaves of an erased record compares two runs, each within its ball about the exact minimiser, whether the other one held another "
    "record or none: ζ, as for a record that is still there",
    evidence=(SYMBOLIC, ADVERSARIAL),
    claim=ObjectivePerturbationRun.interval,
    fault=("one ball, against the exact minimiser", _one_ball),
    licenses=("methods.objective_perturbation:ObjectivePerturbationRun",),
    scope="Linear losses, where the published law is Gaussian: the runs stop at opposite ends of the ball, random constants, small and large tables; near 1 where "
    "the noise on the output is wide beside the spread of minimisers.",
)
def _two_runs(claim, effort: int) -> Finding:
    generator, closest = np.random.default_rng(4), math.inf
    for _ in range(100 * effort):
        convexity, tolerance = (float(x) for x in np.exp(generator.uniform(-8, 0, 2)))
        output = 2.0 ** int(generator.integers(-6, 6)) * tolerance / convexity
        output = 2.0 ** round(math.log2(output))
        run = _run(
            records=int(10 ** generator.uniform(1, 12)),
            strong_convexity=convexity,
            gradient_tolerance=tolerance,
            output_noise=output,
            smoothness=0.0,
            warm=True,
        )
        truth = 2 * (tolerance / convexity) / math.hypot(output, run.linear_term / (run.records * convexity))
        for worlds in ("erased-vs-never", "pairwise"):
            found = claim(run, "deletion", worlds, steps_with=math.inf, steps_without=1)
            require(found.gdp is not None and truth <= found.gdp, f"{worlds}: {truth} above {found.gdp}")
            closest = min(closest, 1 - truth / found.gdp)
    require(closest < 0.01, f"the bound is far from the truth: {closest}")
    return Finding(f"closest approach {closest:.1e}")


@statement(
    "OP.chain",
    "minimisers in a row, each with its regulariser centred at the one before: by composition, for the centre enters neither the difference of "
    "gradient sums nor the Hessians; later models owe an erased record nothing but what a warm start may show",
    evidence=(ADVERSARIAL,),
    claim=ObjectivePerturbationRun.interval,
    fault=("a chain charged as one minimiser", _faulty(chain=lambda _: 1)),
    licenses=("methods.objective_perturbation:ObjectivePerturbationRun",),
    scope="Exact joint laws of one to three links in one dimension, all of them observed, one logistic or linear record among empty slots, zero-out, orders 1.5 "
    "to 3, on grids that hold the mass; μ and the deletion figures against those of single minimisers. Not several dimensions, nor the two other forms.",
)
def _chains(claim, effort: int) -> Finding:
    closest = math.inf
    for links in (1, 2, 3):
        for scale, convexity, bent in ((2.0, 0.01, True), (4.0, 0.03, True), (2.0, 0.01, False)):
            run = _run(chain=links, linear_term=scale, strong_convexity=convexity, smoothness=0.25 * bent)
            for order in (1.5, 2.0, 3.0):
                truth = _chain_divergence(order, scale, convexity, links, bent=bent)
                bound = claim(run, "dp", "zero-out", steps_with=1).renyi(order)
                require(truth <= bound * (1 + 1e-9), f"{links} links, s={scale}, q={order}: {truth} above {bound}")
                closest = min(closest, 1 - truth / bound)
        stiff = _run(strong_convexity=0.1, chain=links)
        one = claim(replace(stiff, chain=1), "dp", "replace", steps_with=1).gdp
        require(one is not None, "one has a μ")
        close(claim(stiff, "dp", "replace", steps_with=1).gdp, math.sqrt(links) * one, "μ of a chain", 1e-9)
        for warm in (True, False):
            owed = claim(replace(stiff, warm=warm), "deletion", "erased-vs-never", steps_with=math.inf, steps_without=1)
            single = claim(
                replace(stiff, warm=warm, chain=1), "deletion", "erased-vs-never", steps_with=math.inf, steps_without=1
            )
            require(owed.gdp >= single.gdp and (warm or owed.gdp == 0), "what is owed to an erased record")
    require(closest < 0.01, f"the bound is far from the truth: {closest}")
    return Finding(f"closest approach {100 * closest:.1f}%")


@statement(
    "OP.composed",
    "guarantees with curves compose at equal orders, each part by the better of its proofs; what erased nothing and observed predecessors leave is 0",
    evidence=(RIGOROUS,),
    claim=Guarantee.composed,
    fault=("each curve counted once", lambda parts: Guarantee.composed([(part, 1) for part, _ in parts])),
    licenses=(
        "privacy.guarantee:Guarantee.composed",
        "privacy.guarantee:merge_curves",
        "privacy.guarantee:Guarantee.highest_order",
    ),
    scope="Random sums of curves with and without μ, of one and of different ρ, Gaussian parts and rates: every order against the sum of the parts, the μ "
    "where all have one; a cap covers what has no more of each part; the accountant on histories of releases, hidden and observed, warm and cold.",
)
def _composed(claim, effort: int) -> Finding:
    generator = np.random.default_rng(151)
    for _ in range(200 * effort):
        curves = [
            Curve(
                rate=float(generator.uniform(0, 1)),
                form="one direction",
                between_records=bool(generator.integers(2)),
                ratio=float(generator.choice([0.0, 0.01, 0.2])),
                gdp_squared=float(generator.uniform(0, 2)) if generator.random() < 0.7 else None,
            )
            for _ in range(3)
        ]
        parts = [
            (Guarantee("dp", "replace", curves=((curve, 1.0),)), int(generator.integers(1, 9))) for curve in curves
        ]
        parts.append((Guarantee("dp", "replace", gdp_squared=0.3, rate=float(generator.choice([0.0, 0.1]))), 2))
        total = claim([*parts, parts[0]])
        for order in (1.2, 2.0, 5.0, 50.0):
            terms = [times * part.renyi(order) for part, times in (*parts, parts[0])]
            if math.inf in terms:
                require(total.renyi(order) == math.inf, f"order {order}: nothing is known")
            else:
                close(total.renyi(order), math.fsum(terms), f"order {order}", 1e-12)
        squares = [part.gdp for part, _ in parts]
        if None in squares:
            require(total.gdp is None, "one part without a μ leaves none")
        else:
            whole = math.fsum(times * part.gdp**2 for part, times in (*parts, parts[0]))  # type: ignore[operator]
            close(total.gdp, math.sqrt(whole), "μ", 1e-12)
        unknown = [part.curves[0][0].highest_order for part, _ in parts[:3] if part.gdp is None]
        require(total.highest_order == min(unknown, default=math.inf), "the highest order")
        less = claim(parts)
        require(total.covers(less) and not less.covers(total), f"{total} covers {less}, and not the other way round")
    many = [
        (
            Guarantee(
                "dp",
                "replace",
                curves=(
                    (Curve(rate=0.01, form=form, between_records=True, ratio=ratio, below=low, gdp_squared=mu), 1.0),
                ),
            ),
            2,
        )
        for form in ("one direction", "several directions", "weakly convex")
        for ratio in np.linspace(0.001, 0.1, 30)
        for low, mu in (
            (ratio / 2 if form == "weakly convex" else 0.0, 0.02),
            (0.0, 0.02 if form == "one direction" else None),
        )
    ]  # more kinds than are kept
    total = claim(many)
    require(len(total.curves) <= 3, f"{len(total.curves)} curves are left")
    for order in (1.3, 3.0, 8.0):
        terms = math.fsum(times * part.renyi(order) for part, times in many)
        require(total.renyi(order) >= terms * (1 - 1e-12), f"order {order}: {total.renyi(order)} below {terms}")
    for mu in (0.02, None):  # of one kind: what is left is no looser than the steepest curve for all
        steep = Curve(rate=0.01, form="one direction", between_records=True, ratio=0.01, gdp_squared=mu)
        alike = [replace(steep, ratio=float(ratio)) for ratio in np.linspace(0.001, 0.01, 150)]
        merged = claim([(Guarantee("dp", "replace", curves=((curve, 1.0),)), 3) for curve in alike])
        require(merged.gdp is None if mu is None else abs(merged.gdp**2 / 9 - 1) < 1e-9, f"μ of one kind: {merged.gdp}")
        for order in (1.3, 3.0, 8.0):
            require(merged.renyi(order) <= 450 * steep.renyi(order) * (1 + 1e-9), f"above the steepest, order {order}")
    for warm in (True, False):
        run = _run(warm=warm)
        events = [Event("learn", 0, 0, run), *[Event("unlearn", 0, 1, run)] * 4]
        account, one = Accountant(None, events), run.interval("dp", "replace", steps_with=1).renyi(3.0)
        close(account.dp_cumulative(adjacency="replace").renyi(3.0), 5 * one, "five releases", 1e-12)
        close(account.dp(adjacency="replace").renyi(3.0), one, "one release", 1e-12)
        hidden = account.deletion(1, 3, [3, 4, 5]).renyi(3.0)
        left = run.interval("deletion", "erased-vs-never", steps_with=1, steps_without=1).renyi(3.0)
        close(hidden, left, "nothing seen before the erasure", 1e-12)
        require((left == 0) != warm, "a cold solver shows nothing")
        seen = account.deletion(1, 3).renyi(3.0)
        alone = run.interval("deletion", "erased-vs-never", steps_with=1).renyi(3.0)
        close(seen, 2 * alone, "two observed models, and nothing after them", 1e-12)
    return Finding("every part adds")


def _less(way: SimpleNamespace) -> Any:
    def planned(loss: Any, **arguments: Any) -> Plan:
        plan = way.planned("objective-perturbation", loss, **arguments)
        return plan.changed(linear_term=plan.calibration.linear_term * 0.97)

    return planned


@statement(
    "OP.plans",
    "plans by objective perturbation: N observed releases cost at most the dp budget and a deletion at most the deletion budget, in the budget's own "
    "measure; 1 % less noise would not do",
    evidence=(RIGOROUS,),
    claim=lambda loss, **arguments: ways.planned("objective-perturbation", loss, **arguments),
    fault=("3 % less noise", _less(ways)),  # type: ignore[arg-type]
    licenses=(
        "methods.objective_perturbation:ObjectivePerturbation.plan",
        "methods.objective_perturbation:ObjectivePerturbation.outlook",
        "methods.plan:Plan.allowed",
    ),
    scope="Random problems (linear, logistic, pseudo-Huber, softmax, one-vs-rest, sigmoid with λ > β₋; both adjacencies and notions; 1 to 7 releases; one to three "
    "rows per subject) and budgets in μ, Rényi and (ε, δ). The truth is the joint law of the linear loss with the same L: below the budget always, and within the "
    "costs of curvature and tolerance of it. The solver's tolerance against the rounding it must exceed. The cap of a plan is the whole dp budget, "
    "for plans by noisy steps and on samples too.",
)
def _plans(claim, effort: int) -> Finding:
    generator, done = np.random.default_rng(152), 0
    while done < 40 * effort:
        done += 1
        radius = math.exp(generator.uniform(-1, 1))
        loss = (
            losses.Linear(radius=radius),
            losses.Logistic(radius=radius),
            losses.PseudoHuber(radius=radius, delta=0.5),
            losses.Softmax(radius=radius, classes=3),
            losses.OneVsRest(radius=radius, classes=4),
            losses.Sigmoid(radius=radius),
        )[done % 6]
        gaussian = loss.name not in ("softmax", "sigmoid")
        measure = ("renyi", "epsilon-delta", "gdp")[done // 6 % (3 if gaussian else 2)]
        dp, share = math.exp(generator.uniform(-1, 1)), float(generator.uniform(0.05, 0.95))
        order, delta = float(generator.uniform(1.5, 12)), 1e-5
        if measure == "renyi":
            budget, mu = Budget(order=order, dp=dp, deletion=dp * share), math.sqrt(2 * dp / order)
        elif measure == "gdp":
            budget, mu = Budget.from_gdp(dp=dp, deletion=dp * share), dp
        else:
            budget = Budget.from_epsilon_delta(dp=(dp, delta), deletion=(dp * share, delta))
            mu = exact_mu(dp, delta)
        rows, releases = (
            int(generator.integers(1, 4)) if loss.name != "sigmoid" else 1,
            int(generator.choice([1, 1, 7])),
        )
        world = str(generator.choice(["replace", "zero-out"]))
        plan = claim(
            loss,
            budget=budget,
            records=2000,
            features=4,
            regularization=loss.constants.weak_convexity + radius**2 * math.exp(generator.uniform(-3, 0)),
            adjacency=world,
            deletion_notion=str(generator.choice(["erased-vs-never", "pairwise"])),
            rows_per_subject=rows,
            releases=releases,
            solver=str(generator.choice(["warm", "cold"])),
        )
        reach = loss.constants.lipschitz * rows * (2 if world == "replace" else 1)
        truth = math.sqrt(releases) * reach / plan.calibration.linear_term  # the joint law of the linear loss
        what = f"{loss.name}, {budget.describe()}, {releases} releases"
        # one order, or one conversion, says a little less than the exact pair
        require(truth <= mu * (1.13 if measure == "epsilon-delta" else 1) * (1 + 1e-12), f"{what}: μ={truth} of {mu}")
        require(
            truth >= mu * (0.85 if measure == "epsilon-delta" else 0.985),
            f"{what}: μ={truth} of {mu}: more noise than needed",
        )
        events = [Event("learn", 0, 0, plan.mechanism), *[Event("unlearn", 0, 1, plan.mechanism)] * (releases - 1)]
        require(budget.affords(Accountant(plan, events).dp_cumulative()), f"{what}: not within the budget")
        require(budget.affords(plan.deletion), f"{what}: deletion not within its budget")
        require(plan.allowed.covers(Accountant(plan, events).dp_cumulative()), f"{what}: not under its own cap")
        _cap(plan, what)
        require(
            plan.outlook.excess_risk
            >= plan.problem.dimension * plan.calibration.linear_term**2 / (2 * plan.problem.strong_convexity * 2000**2),
            "excess risk",
        )
    convex = {"loss": losses.Logistic(radius=1.0), "records": 2000, "features": 4, "regularization": 0.02}
    network = {**convex, "loss": losses.MultilayerPerceptron(radius=1.0, hidden=2), "adjacency": "zero-out"}
    for way, facts, options in (
        ("noisy-gd", convex, {"exact": False}),
        ("noisy-gd", convex, {"exact": True}),
        ("noisy-gd:analysis=paper", convex, {"exact": False}),
        ("noisy-gd:analysis=composition", network, {"batches": 5, "learn_steps": 10}),
    ):
        plan = ways.planned(way, budget=Budget(order=4, dp=0.8, deletion=0.3), dtype="float32", **facts, **options)
        _cap(plan, f"{way}, {options}")
    return Finding(f"{done} plans")


def _cap(plan: Plan, what: str) -> None:
    """What the plan allows all its releases together is the whole dp budget, with the rounding of the machine."""
    budget, allowed = plan.problem.budget, plan.allowed.with_slack()
    require((allowed.rate > 0) == (plan.dp.rate > 0), f"{what}: the cap has another form than the cost")
    if budget.measure == "renyi":
        close(allowed.renyi(budget.order), budget.dp, f"{what}: the cap", 1e-9)
    elif allowed.gdp is not None:
        close(allowed.gdp, budget.dp if budget.measure == "gdp" else exact_mu(budget.dp, budget.dp_delta), what, 1e-9)
    else:  # ε at the order of the cap, and no other order of the plan's own cost gives less
        ((order, cost),) = allowed.points

        def epsilon(order: float, cost: float) -> float:
            return cost + math.log1p(-1 / order) - math.log(budget.dp_delta * order) / (order - 1)

        close(epsilon(order, cost), budget.dp, f"{what}: the cap at order {order}", 1e-9)
        spent = plan.dp_observed()
        least = min(epsilon(q, spent.renyi(q)) for q in 1 + np.geomspace(0.01, 100.0, 2000))
        require(epsilon(order, spent.renyi(order)) <= least * (1 + 1e-9), f"{what}: {order} is not the best order")
