"""The planner: what it returns meets the budget that was asked for, and no smaller noise and no fewer steps would."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from noisygd_delete import Budget, Plan, losses

from . import chapters, ways
from .answers import exact_mu
from .densities import Line, renyi
from .framework import RIGOROUS, Finding, close, require, statement
from .gibbs import Wave
from .observers import Induction

_TIGHT = 1e-4  # relative: what the rounding slack of float64 rows and the search may add


def _budget(generator: np.random.Generator, measure: str) -> tuple[Budget, float, float]:
    """A random budget with the largest μ within its dp part and within its deletion part."""
    dp, share = math.exp(generator.uniform(-2.5, 1)), generator.uniform(0.1, 0.95)
    if measure == "gdp":
        return Budget.from_gdp(dp=dp, deletion=dp * share), dp, dp * share
    if measure == "renyi":
        order = generator.uniform(1.5, 20)
        return (
            Budget(order=order, dp=dp, deletion=dp * share),
            math.sqrt(2 * dp / order),
            math.sqrt(2 * dp * share / order),
        )
    delta = 10 ** generator.uniform(-7, -4)
    budget = Budget.from_epsilon_delta(dp=(dp, delta), deletion=(dp * share, delta))
    return budget, exact_mu(dp, delta), exact_mu(dp * share, delta)


def _problem(generator: np.random.Generator, trial: int) -> dict:
    radius = math.exp(generator.uniform(-1, 1))
    loss = (losses.Linear(radius=radius), losses.Logistic(radius=radius), losses.Sigmoid(radius=radius))[trial % 3]
    lam = loss.constants.weak_convexity + radius**2 * math.exp(generator.uniform(-3, 0))
    return {
        "loss": loss,
        "records": int(generator.integers(20, 400)),
        "features": int(generator.integers(1, 9)),
        "regularization": lam,
        "adjacency": str(generator.choice(["replace", "zero-out"])),
        "rows_per_subject": int(generator.integers(1, 4)),
        "releases": int(generator.choice([1, 1, 2, 7])),
        "batch": int(generator.integers(1, 4)),
    }


def _less_noise(way: str, loss, **arguments) -> Plan:
    plan = ways.planned(way, loss, **arguments)
    return plan.changed(noise_variance=plan.calibration.noise_variance * 0.97)


def _one_step_fewer(way: str, loss, **arguments) -> Plan:
    plan = ways.planned(way, loss, **arguments)
    return plan.changed(delete_steps_for_deletion=max(0, plan.calibration.delete_steps_for_deletion - 1))


def _published(plan: Plan, way: str, delta: float, steps: list[int]) -> float:
    """μ² of releases after so many steps each, all observed, the record there throughout."""
    lives = [True] * len(steps)
    if way == "noisy-gd":
        return chapters.chain(plan, delta, steps, lives, lives)
    return chapters.from_minimisers(plan, delta, steps, lives, lives, warm=way == "warm")


@statement(
    "S.plans",
    "plans from the published model and from the minimiser: N observed publications cost at most the dp budget, and a deletion at most the "
    "deletion budget, in the budget's own measure; with the least noise, and with the fewest steps",
    evidence=(RIGOROUS,),
    claim=ways.planned,
    fault=("3 % less noise", _less_noise),
    licenses=(
        "planner.planning:make_plan",
        "methods.exact_steps:GridMethod.plan",
        "methods.noisy_gd:NoisyGD._over_reals",
        "methods.noisy_gd:NoisyGD._exactly",
        "methods.noisy_gd:NoisyGD._numbers",
        "methods.output_perturbation:OutputPerturbation._over_reals",
        "methods.output_perturbation:OutputPerturbation._exactly",
        "methods.noisy_steps:calibrate_noise",
        "methods.noisy_steps:contraction_risk",
    ),
    scope="Random problems (linear, logistic, and sigmoid with λ > β₋; both adjacencies and notions; 1 to 7 publications; one to three rows per subject) and budgets in μ, Rényi and "
    "(ε, δ). The truth is the joint law of the linear loss at curvature m, the worst case of all of these (S.gdp-bound, S.weakly-convex). A single release of every length; the "
    "steps for utility against the recursion of S.released-excess, written out. Noise for one publication is at most 10⁻⁴ above the least; for several at most twice the least, as the cost jumps where the number of steps does.",
)
def _plans(claim, effort: int) -> Finding:
    generator, tight = np.random.default_rng(141), 0.0
    for trial in range(90 * effort):
        problem, way = _problem(generator, trial), ("noisy-gd", "cold", "warm")[trial // 3 % 3]
        budget, dp, deletion = _budget(generator, ("gdp", "renyi", "epsilon-delta")[trial // 9 % 3])
        problem["deletion_notion"] = str(generator.choice(["erased-vs-never", "pairwise"]))
        if problem["loss"].constants.smoothness == 0:  # else η = 1/λ, and one step forgets all
            problem["step_size"] = generator.uniform(0.1, 0.9) / problem["regularization"]
        plan = claim(way, budget=budget, **problem)
        reach = problem["loss"].constants.lipschitz * problem["rows_per_subject"]
        delta_dp = reach * (2 if problem["adjacency"] == "replace" else 1)
        delta_dd = reach * (2 if problem["deletion_notion"] == "pairwise" else 1)
        times, what = problem["releases"], f"{way}, {budget.describe()}, {problem}"
        if times == 1 and way == "noisy-gd":
            spent = _supremum(plan, delta_dp) ** 2
            for steps in (1, 5, min(400, plan.calibration.learn_steps)):
                require(_published(plan, way, delta_dp, [steps]) <= dp**2 * (1 + 1e-9), f"{what}: {steps} steps")
        else:
            lengths = [
                min(plan.calibration.learn_steps, 2000),
                *[min(plan.calibration.delete_steps, 500)] * (times - 1),
            ]
            spent = _published(plan, way, delta_dp, lengths)
        whole = spent * (1 + plan.mechanism.slack) ** 2  # rounding included
        require(whole <= dp**2 * (1 + 1e-9), f"{what}: {times} publications cost μ² = {whole}, allowed {dp**2}")
        if times == 1:
            require(spent >= dp**2 * (1 - _TIGHT), f"{what}: μ² = {spent} of {dp**2}: more noise than needed")
            tight = max(tight, 1 - spent / dp**2)
        elif (
            plan.calibration.learn_steps <= 2000 and plan.calibration.delete_steps <= 500
        ):  # whole steps: the cost jumps where K does
            require(spent >= dp**2 / 2, f"{what}: μ² = {spent} of {dp**2}: much more noise than needed")
        kept = (1 - plan.calibration.step_size * chapters.curvature(plan)) ** plan.calibration.delete_steps_for_deletion
        if way == "noisy-gd":
            left = kept * _supremum(plan, delta_dd)
            fewer = left / (1 - plan.calibration.step_size * chapters.curvature(plan))
            require(
                plan.calibration.delete_steps_for_deletion <= 1 or fewer > deletion * (1 - _TIGHT),
                f"{what}: fewer steps would do",
            )
            _utility(plan, what)
            _risk(plan, what)
        else:
            lives, both = [True, False], [plan.calibration.learn_steps, plan.calibration.delete_steps]
            left = math.sqrt(chapters.from_minimisers(plan, delta_dd, both, lives, [False, True], warm=way == "warm"))
        left *= 1 + plan.mechanism.slack
        require(left <= deletion * (1 + 1e-9), f"{what}: a deletion leaves μ = {left}, allowed {deletion}")
        require(plan.calibration.delete_steps >= 1, f"{what}: no step deletes nothing")
    return Finding(f"noise at most {tight:.1e} (in μ²) above the least")


def _supremum(plan: Plan, delta: float) -> float:
    """μ after very many steps with the record: the gap's limit over the stationary deviation of the linear chain."""
    numbers = plan.calibration
    m = chapters.curvature(plan)
    contraction = 1 - numbers.step_size * m
    gap = numbers.step_size * delta / plan.problem.records / (1 - contraction)
    deviation = math.sqrt(2 * numbers.step_size * numbers.noise_variance / (1 - contraction**2))
    return gap / deviation


def _utility(plan: Plan, what: str) -> None:
    """After the learn, and after any number of the largest requests, the excess risk stays within its target."""
    m, eta, d, variance = (
        chapters.curvature(plan),
        plan.calibration.step_size,
        plan.problem.dimension,
        plan.calibration.noise_variance,
    )
    lam, constants = plan.problem.regularization, plan.problem.loss.constants
    steepest, trace = lam + constants.smoothness, constants.smoothness + d * lam
    settled = d * variance / (m * (1 - eta * m / 2))

    def excess(size: float, distance: float) -> float:
        square = variance * trace / (1 - size * steepest / 2)
        rest = min(d * variance + size / 2 * square, steepest / 2 * d * variance / (m * (1 - size * m / 2)))
        return rest + distance * math.sqrt(square) + steepest / 2 * distance**2

    sampling = (
        min(d / (2 * plan.problem.records), plan.problem.loss.gap_at_zero / 100)
        if plan.problem.loss.gap_at_zero < math.inf
        else 0.0
    )
    usual = plan.problem.method.step_size or 1 / steepest
    target = max((1 + plan.problem.utility_tolerance) * excess(usual, 0.0), sampling)
    low, high = 0.0, 1e9
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if excess(eta, middle) <= target else (low, middle)
    far = math.sqrt(d * plan.calibration.init_variance) + math.sqrt(settled) + constants.lipschitz / lam
    learned = (1 - eta * m) ** plan.calibration.learn_steps * far
    require(learned <= low * (1 + 1e-6), f"{what}: K_A = {plan.calibration.learn_steps} is too few")
    moved = low + 2 * constants.lipschitz * plan.problem.batch / (m * plan.problem.records)
    require(
        (1 - eta * m) ** plan.calibration.delete_steps * moved <= low * (1 + 1e-6),
        f"{what}: K_Ā = {plan.calibration.delete_steps} is too few",
    )
    least = plan.calibration.delete_steps_for_utility
    require(
        least == 0 or (1 - eta * m) ** (least - 1) * moved > low * (1 - 1e-6), f"{what}: fewer steps keep the accuracy"
    )


def _risk(plan: Plan, what: str) -> None:
    """`excess_risk` holds for the steps that are taken, few or none for utility too: a quadratic of curvature λ whose minimiser is as far as
    L/λ; with no loss curvature at all it is attained after the learn."""
    problem, numbers = plan.problem, plan.calibration
    lam, eta, d = problem.regularization, numbers.step_size, problem.dimension
    if chapters.curvature(plan) != lam:
        return
    move = 2 * problem.loss.constants.lipschitz * problem.batch / (lam * problem.records)
    for learn in (1, 4, numbers.learn_steps):
        few = plan.changed(learn_steps=learn)
        kept, settled = (1 - eta * lam) ** learn, numbers.noise_variance / (lam * (1 - eta * lam / 2))
        mean = kept * problem.loss.constants.lipschitz / lam
        spread = kept**2 * numbers.init_variance + (1 - kept**2) * settled
        worst = lam / 2 * (mean**2 + d * spread)
        for _ in range(50):
            kept = (1 - eta * lam) ** numbers.delete_steps
            mean, spread = kept * (mean + move), kept**2 * spread + (1 - kept**2) * settled
            worst = max(worst, lam / 2 * (mean**2 + d * spread))
        require(
            few.outlook.excess_risk >= worst * (1 - 1e-9),
            f"{what}, K_A = {learn}: risk {worst} above {few.outlook.excess_risk}",
        )
        if problem.loss.constants.smoothness == 0 and learn == 1:
            require(few.outlook.excess_risk <= 4 * worst, f"{what}: {few.outlook.excess_risk} is far above {worst}")


@statement(
    "S.plans-theorem",
    "plans under Theorem 5.1 are the printed ones: σ² from ε_dp, K_Ā from (16) and (17), K_A from (17), for one release; and for N publications the sum of their "
    "printed costs is the budget",
    evidence=(RIGOROUS,),
    claim=ways.planned,
    fault=("one deletion step fewer", _one_step_fewer),
    licenses=(
        "planner.planning:make_plan",
        "methods.noisy_gd_paper:PaperNoisyGD._over_reals",
        "methods.noisy_gd_paper:PaperNoisyGD._exactly",
        "methods.noisy_steps:calibrate_noise",
    ),
    scope="Random problems with linear and logistic loss and Rényi budgets, both adjacencies; printed formulas written out here; Theorem 5.1 itself is 5.1(1) to 5.1(3).",
)
def _theorem(claim, effort: int) -> Finding:
    generator = np.random.default_rng(142)
    for trial in range(90 * effort):
        problem = _problem(generator, trial % 2)
        budget, _, _ = _budget(generator, "renyi")
        plan = claim("noisy-gd:analysis=paper", budget=budget, **problem)
        lam, constants, n, d = (
            problem["regularization"],
            problem["loss"].constants,
            problem["records"],
            plan.problem.dimension,
        )
        q, times, what = budget.order, problem["releases"], f"{budget.describe()}, {problem}"
        kappa, eta = (lam + constants.smoothness) / lam, 1 / (2 * (lam + constants.smoothness))
        delta = constants.lipschitz * problem["rows_per_subject"] * (2 if problem["adjacency"] == "replace" else 1)
        full = q * delta**2 / (lam * plan.calibration.noise_variance * n**2)
        close(plan.calibration.step_size, eta, "η")
        close(
            plan.calibration.init_variance,
            plan.calibration.noise_variance / (lam * (1 - eta * lam / 2)),
            "variance of ρ",
        )

        def printed(steps: int, full=full, half=lam * eta / 2) -> float:
            return full * -math.expm1(-half * steps)

        if times == 1:
            close(full, budget.dp, f"ε_dp, {what}", _TIGHT)
            require(full <= budget.dp * (1 + 1e-9), what)
        else:
            spent = printed(plan.calibration.learn_steps) + (times - 1) * printed(plan.calibration.delete_steps)
            require(budget.dp / 2 <= spent <= budget.dp * (1 + 1e-9), f"{what}: {times} cost {spent}")
        deletion = (
            max(1, math.ceil(4 * kappa * math.log(full / budget.deletion) - 1e-6)) if full > budget.deletion else 1
        )
        require(
            plan.calibration.delete_steps_for_deletion in (deletion, deletion + 1),
            f"(16): {plan.calibration.delete_steps_for_deletion}, {deletion}; {what}",
        )
        one = q * 4 * constants.lipschitz**2 / (lam * plan.calibration.noise_variance * n**2)  # one row, replaced
        learn = 4 * kappa * math.log(max(1.0, one * n**2 / (4 * q * d)))
        utility = 4 * kappa * math.log(max(5 * kappa, 8 * one * problem["batch"] ** 2 / (q * d)))
        require(plan.calibration.learn_steps >= learn - 1e-6, f"(17) K_A: {plan.calibration.learn_steps}, {learn}")
        require(plan.calibration.learn_steps <= max(1, learn + 1), f"(17) K_A: {plan.calibration.learn_steps}, {learn}")
        require(
            utility - 1e-6 <= plan.calibration.delete_steps_for_utility <= utility + 1,
            f"(17) K_Ā: {plan.calibration.delete_steps_for_utility}, {utility}",
        )
    return Finding("equal up to rounding of K")


@statement(
    "S.plans-composition",
    "plans under composition: every step that a record can take part in before its erasure, and before the next fresh learn, lies within both budgets; the horizon is "
    "the most that do",
    evidence=(RIGOROUS,),
    claim=ways.planned,
    fault=("3 % less noise", _less_noise),
    licenses=(
        "methods.noisy_gd_composition:CompositionNoisyGD.plan",
        "methods.noisy_gd_composition:CompositionNoisyGDRun",
        "bounds.theorem_5_2:composition_horizon",
        "bounds.theorem_5_1:composition_rate",
    ),
    scope="Random problems with the sigmoid loss: T steps with the record cost μ² = Δ²ηT/(2σ²n²), which the linear loss attains at λ = 0 (G.7). Learning and the stated number of requests fit, one "
    "step more than the horizon does not fit, with one publication and with several. Passes on samples, of a network: the same at the budget's integer order, by the sum of Mironov, Talwar & Zhang "
    "for one sample, zero-out alone; that samples are independent and unseen is assumed.",
)
def _composition(claim, effort: int) -> Finding:
    generator, tight = np.random.default_rng(143), 0.0
    for trial in range(90 * effort):
        problem = _problem(generator, 2)
        budget, dp, deletion = _budget(generator, ("gdp", "renyi")[trial % 2])
        learn, delete, requests = (int(generator.integers(*bounds)) for bounds in ((20, 400), (1, 20), (2, 30)))
        problem |= {"deletion_notion": str(generator.choice(["erased-vs-never", "pairwise"]))}
        plan = claim(
            "noisy-gd:analysis=composition",
            budget=budget,
            learn_steps=learn,
            delete_steps=delete,
            requests_per_learn=requests,
            **problem,
        )
        reach, what = (
            problem["loss"].constants.lipschitz * problem["rows_per_subject"],
            f"{budget.describe()}, {problem}",
        )
        per_step = plan.calibration.step_size / (2 * plan.calibration.noise_variance * plan.problem.records**2)
        stay = (reach * (2 if problem["adjacency"] == "replace" else 1)) ** 2 * per_step
        gone = (reach * (2 if problem["deletion_notion"] == "pairwise" else 1)) ** 2 * per_step
        for about, worlds, step in (("dp", "adjacency", stay), ("deletion", "deletion_notion", gone)):
            cost = plan.mechanism.interval(about, problem[worlds], steps_with=learn, steps_without=delete).gdp_squared
            close(cost, step * learn, f"{what}: {learn} steps with the record")
        times = problem["releases"]
        learns = -(-times // (requests + 1))
        shown = learn + requests * delete if times == 1 else learns * max(learn, delete) + (times - learns) * delete
        hidden = learn + (requests - 1) * delete
        require(stay * shown <= dp**2 * (1 + 1e-9), f"{what}: {shown} steps with the record exceed the dp budget")
        require(
            gone * hidden <= deletion**2 * (1 + 1e-9),
            f"{what}: {hidden} steps with the record exceed the deletion budget",
        )
        used = max(stay * shown / dp**2, gone * hidden / deletion**2)
        require(used >= 1 - _TIGHT, f"{what}: {used} of the budget is used: more noise than needed")
        tight = max(tight, 1 - used)
        require(
            plan.calibration.horizon is not None and gone * plan.calibration.horizon <= deletion**2 * (1 + 1e-9),
            f"{what}: horizon {plan.calibration.horizon}",
        )
        fits = gone * (plan.calibration.horizon + 1) <= deletion**2 * (1 - 1e-9)
        fits &= times > 1 or stay * (plan.calibration.horizon + 1 + delete) <= dp**2 * (1 - 1e-9)
        require(not fits, f"{what}: a horizon of {plan.calibration.horizon + 1} would fit")
    return Finding(f"noise at most {max(tight, _on_samples(claim, generator, 12 * effort)):.1e} above the least")


def _on_samples(claim, generator: np.random.Generator, trials: int) -> float:
    """Check passes on Poisson samples; return the largest share of the budget that is left."""
    left = 0.0
    for _ in range(trials):
        batches, order = int(generator.integers(2, 40)), int(generator.integers(2, 20))
        learn, delete, requests = (int(generator.integers(*bounds)) for bounds in ((2, 40), (1, 4), (2, 20)))
        dp = float(generator.uniform(0.5, 8.0))
        deletion = dp * float(generator.uniform(0.05, 1.0))
        plan = claim(
            "noisy-gd:analysis=composition", loss=losses.MultilayerPerceptron(radius=1.0, hidden=2), records=int(generator.integers(200, 10_000)), features=3,
            regularization=0.01, budget=Budget(order=order, dp=dp, deletion=deletion), adjacency="zero-out", batches=batches,
            learn_steps=learn, delete_steps=delete, requests_per_learn=requests, slack_in_budget=False,
        )  # fmt: skip
        rate = 1 / batches
        z = (
            math.sqrt(2 * plan.calibration.noise_variance / plan.calibration.step_size)
            * rate
            * plan.problem.records
            / plan.problem.loss.constants.lipschitz
        )
        moment = sum(
            math.comb(order, k) * (1 - rate) ** (order - k) * rate**k * math.exp((k * k - k) / (2 * z * z))
            for k in range(order + 1)
        )
        one_pass = batches * math.log(moment) / (order - 1)
        wider = (1 + plan.problem.slack) / z  # rounding is inside the run's z
        moment = sum(
            math.comb(order, k) * (1 - rate) ** (order - k) * rate**k * math.exp((k * k - k) * wider**2 / 2)
            for k in range(order + 1)
        )
        cost = plan.mechanism.interval("dp", "zero-out", steps_with=learn, steps_without=delete).with_slack()
        close(cost.renyi(order), learn * batches * math.log(moment) / (order - 1), "passes with the record", 1e-8)
        used = max(one_pass * (learn + requests * delete) / dp, one_pass * (learn + (requests - 1) * delete) / deletion)
        what = f"{batches} samples a pass, order {order}, z={z:.4g}"
        require(used <= 1 + 1e-9, f"{what}: {used} of the budget is used")
        require(
            used >= 1 - 0.02, f"{what}: {used} of the budget is used: more noise than needed"
        )  # the slack is inside z
        require(
            one_pass * plan.calibration.horizon <= deletion * (1 + 1e-9), f"{what}: horizon {plan.calibration.horizon}"
        )
        left = max(left, 1 - used)
    return left


# --- Theorem 5.2 ---


def _as_planned(plan: Plan) -> Plan:
    return plan


@statement(
    "S.closeness",
    "closeness to the Gibbs law under Theorem 5.2, printed and sharper: the stated ε_dd is the supremum of the induction over any number of requests, lies within the "
    "budget, and bounds real chains; a step above G.22's limit certifies nothing",
    evidence=(RIGOROUS,),
    claim=_as_planned,
    fault=(
        "half of the steps of a request",
        lambda plan: plan.changed(delete_steps_for_deletion=plan.calibration.delete_steps_for_deletion // 2),
    ),
    licenses=(
        "bounds.theorem_5_2:Gibbs.closeness",
        "bounds.theorem_5_2:Gibbs.worst_closeness",
        "methods.noisy_gd_gibbs:GibbsNoisyGD.plan",
        "methods.noisy_gd_gibbs:GibbsNoisyGDRun.forgets",
        "methods.noisy_gd_gibbs:GibbsNoisyGD.assemble",
        "methods.noisy_gd_gibbs:GibbsNoisyGD.outlook",
    ),
    scope="Plans for the sigmoid loss at least noise, at the cheapest and at a chosen noise, batches of one to three: the induction of S.hidden-past for up to 20,000 requests of every size up to the batch; "
    "densities of a learn and requests on a grid (two sine losses, n = 2) against π(D). The inequality itself is G.22 and S.rate-to-gibbs.",
)
def _closeness(claim, effort: int) -> Finding:
    closest = math.inf
    for way in ("noisy-gd:analysis=paper", "noisy-gd"):
        for n, noise, batch in ((10, None, 1), (10, "cheapest", 2), (40, 3.0, 3), (200, 2.0, 1)):
            budget = Budget(order=2, dp=1.9, deletion=0.5)
            plan = claim(
                ways.planned(
                    way,
                    losses.Sigmoid(radius=1.0),
                    records=n,
                    features=2,
                    regularization=0.05,
                    budget=budget,
                    noise_variance=noise,
                    batch=batch,
                )
            )
            induction, what = Induction(plan), f"{way}, n = {n}, σ² = {plan.calibration.noise_variance:.3g}"
            stated, learned = plan.deletion.renyi(2.0), (plan.calibration.learn_steps, 0)
            worst = max(
                induction.after([learned, *[(plan.calibration.delete_steps, batch)] * count])
                for count in (1, 2, 5, 20_000)
            )
            close(stated, worst, f"{what}: the supremum over requests", 1e-6)
            for edits in range(batch + 1):
                for count in (1, 3, 20):
                    require(
                        induction.after([learned, *[(plan.calibration.delete_steps, edits)] * count])
                        <= stated * (1 + 1e-9),
                        what,
                    )
            require(stated <= budget.deletion * (1 + 1e-9), f"{what}: ε_dd = {stated}")
            longest = max(plan.calibration.learn_steps, plan.calibration.delete_steps)
            replaced = 4 * induction.composed(longest)  # x for x′: twice the sensitivity
            require(replaced <= budget.dp * (1 + 1e-9), f"{what}: ε_dp = {replaced}")
            close(plan.dp.renyi(2.0), replaced, f"{what}: ε_dp")
            require(plan.dp.renyi(2.0) >= induction.composed(1), "a release is not free")
            closest = min(closest, 1 - stated / budget.deletion)
            near = max(stated, induction.after([learned]))
            close(plan.outlook.excess_risk, induction.risk(near), f"{what}: (162)")
            limit = induction.largest_step
            require(plan.calibration.step_size <= limit * (1 + 1e-9), f"{what}: η above G.22's limit")
            require(
                plan.changed(step_size=limit * 1.001).deletion.renyi(2.0) == math.inf,
                f"{what}: η above the limit certifies",
            )
            require(
                plan.changed(step_size=limit * 0.999).deletion.renyi(2.0) < math.inf,
                f"{what}: η below the limit certifies",
            )
    _written_out(effort)
    real = min(_on_a_grid(form) for form in ("printed", "sharper"))
    return Finding(
        f"the deletion budget is used up to {max(0.0, closest):.1e}; chains on a grid at least {real:.0%} below"
    )


def _written_out(effort: int) -> None:
    """The induction over a history, line by line, for facts of every kind: every run, every edit and the prior count."""
    from noisygd_delete.bounds.theorem_5_2 import Gibbs

    generator = np.random.default_rng(145)
    for trial in range(200 * effort):
        order, form = 1 + math.exp(generator.uniform(-2, 2.5)), ("printed", "sharper")[trial % 2]
        width, smooth, lam, variance = (math.exp(generator.uniform(-2, 1)) for _ in range(4))
        n, dimension, scale = int(generator.integers(2, 60)), int(generator.integers(1, 9)), width / variance
        barrier = math.exp(scale * (1 if form == "sharper" else 2))
        limit = lam / (64 * barrier * order**2 * (smooth + lam) ** 2)
        step = limit * generator.uniform(0.05, 1)
        forgetting, error = lam * step / (2 * barrier), 32 * dimension * step * barrier * (smooth + lam) ** 2 / lam
        sizes = [
            (max(1, round(u / forgetting)), int(k))
            for u, k in zip(generator.uniform(0, 1.5, 6), generator.integers(0, 5, 6), strict=True)
        ]
        runs = sizes[: int(generator.integers(1, 7))]
        expected = scale if form == "printed" else order * min(scale, scale**2 / 8)
        for place, (steps, edits) in enumerate(runs):
            kept = math.exp(-forgetting * steps)
            moved = 2 * edits * scale / n if place else 0.0
            if form == "sharper":
                expected = order * (kept * (expected / order + moved) + error * (1 - kept))
            else:
                expected = order * (kept * (expected + moved) + error)
        facts = Gibbs(order=order, range=width, smoothness=smooth, regularization=lam, dimension=dimension, form=form)
        chain = {"step_size": step, "noise_variance": variance, "records": n}
        close(facts.closeness(**chain, runs=runs), expected, f"{form}, q = {order:.3g}, {runs}", 1e-8)
        (steps, edits), *others = runs
        one = facts.distance_after(**chain, before=None, steps=steps, edits=edits)
        for steps, edits in others:
            one = facts.distance_after(**chain, before=one, steps=steps, edits=edits)
        close(one, expected, f"run by run: {form}, q = {order:.3g}, {runs}", 1e-8)
        beyond = {**chain, "step_size": limit * 1.001}
        require(facts.closeness(**beyond, runs=runs) == math.inf, "a step above G.22's limit certifies nothing")
        learn, delete, batch = runs[0][0], sizes[1][0], sizes[1][1]
        every = [
            facts.closeness(**chain, runs=[(learn, 0), *[(delete, batch)] * count])
            for count in (1, 2, 3, 10, 100, 3000)
        ]
        worst = facts.worst_closeness(**chain, learn_steps=learn, delete_steps=delete, batch=batch)
        require(
            max(every) <= worst * (1 + 1e-9), f"{form}: more requests come to {max(every)}, the supremum is {worst}"
        )
        if worst < math.inf:
            close(max(every), worst, f"{form}: the supremum over requests", 1e-3)


def _on_a_grid(form: str) -> float:
    """R_q of a learn and three requests against π of the current records; two records, sine losses, one edit at a time."""
    from noisygd_delete.bounds.theorem_5_2 import Gibbs

    waves = [Wave(0.25, 1.0, phase) for phase in (0.0, math.pi, math.pi / 2)]
    order, variance, lam = 2.0, 1.0, 1.0
    facts = Gibbs(order=order, range=0.5, smoothness=0.25, regularization=lam, dimension=1, form=form)
    step = lam / (64 * math.exp(0.5 if form == "sharper" else 1.0) * order**2 * 1.25**2)
    line, closest = Line(7.0, math.sqrt(2 * step * variance), 2.0), math.inf

    def mean(
        pair: tuple[int, int], part: Callable[[Wave, np.ndarray], np.ndarray]
    ) -> Callable[[np.ndarray], np.ndarray]:
        return lambda x: (part(waves[pair[0]], x) + part(waves[pair[1]], x)) / 2

    law, runs = line.gaussian(variance / lam), []
    for index, pair in enumerate([(0, 0), (1, 0), (1, 2), (0, 2)]):
        kernel = line.kernel(mean(pair, lambda wave, x: wave.gradient(x, lam)), step)
        target = line.gibbs(mean(pair, lambda wave, x: wave.potential(x, lam)), variance)
        steps = 400 if not index else 5 * index
        for _ in range(steps):
            law = kernel @ law
        runs.append((steps, int(index > 0)))
        bound = facts.closeness(step_size=step, noise_variance=variance, records=2, runs=runs)
        truth = renyi(order, law, target)
        require(truth <= bound * (1 + 1e-9), f"{form}, after {runs}: R_q = {truth} above {bound}")
        closest = min(closest, 1 - truth / bound)
    return closest
