"""What a guarantee says of itself: ε, δ, advantages, rounding slack, and whether it lies within a cap or a budget."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace

import mpmath
import numpy as np
from scipy.stats import norm

from noisygd_delete import Budget, Guarantee
from noisygd_delete.accountant import is_within_budget
from noisygd_delete.bounds import gaussian, tails

from . import chapters
from .framework import ADVERSARIAL, RIGOROUS, SYMBOLIC, Finding, close, require, statement


def _exact_delta(epsilon: float, mu: float) -> mpmath.mpf:
    """δ(ε) of N(0,1) against N(μ,1)."""
    with mpmath.workdps(40):
        return mpmath.ncdf(-epsilon / mpmath.mpf(mu) + mpmath.mpf(mu) / 2) - mpmath.exp(epsilon) * mpmath.ncdf(
            -epsilon / mpmath.mpf(mu) - mpmath.mpf(mu) / 2
        )


def _mixtures(generator: np.random.Generator, number: int):
    """Guarantees of every kind of part, with the μ of a Gaussian pair that attains them at the orders they know."""
    for trial in range(number):
        squares = np.exp(generator.uniform(-4, 1, 3)) * [
            trial % 2 == 0 or trial % 7 == 1,
            trial % 3 != 0,
            trial % 5 == 4,
        ]
        gaussian, rate, listed = map(float, squares)
        points = tuple((q, q * listed / 2) for q in (1.5, 3.0, 8.0, 40.0)) if listed else ()
        yield (
            Guarantee("dp", "replace", gdp_squared=gaussian, rate=rate / 2, points=points),
            math.sqrt(gaussian + rate + listed),
        )


class _Conversions:
    epsilon = staticmethod(Guarantee.epsilon)
    log_delta = staticmethod(Guarantee.log_delta)
    delta = staticmethod(Guarantee.delta)


class _ConversionsFault(_Conversions):
    @staticmethod
    def epsilon(guarantee: Guarantee, delta: float) -> float:
        return replace(guarantee, points=(), rate=0.0).epsilon(delta)


@statement(
    "S.epsilon",
    "ε(δ), δ(ε), the trade-off and the advantage of any mixture of Gaussian parts, rates and listed orders are never below those of the Gaussian pair "
    "with that Rényi curve, and equal them where the guarantee is Gaussian",
    evidence=(RIGOROUS,),
    claim=_Conversions,
    fault=("only the Gaussian part is converted", _ConversionsFault),
    licenses=(
        "privacy.guarantee:Guarantee.epsilon",
        "privacy.guarantee:Guarantee.conversions",
        "privacy.guarantee:Guarantee.delta",
        "privacy.guarantee:Guarantee.log_delta",
        "privacy.guarantee:Guarantee.tradeoff",
        "privacy.guarantee:Guarantee.advantage",
        "privacy.guarantee:Guarantee.renyi",
        "privacy.guarantee:Guarantee.listed",
        "privacy.guarantee:Guarantee.at_most",
    ),
    scope="Random mixtures of one, two and three kinds of parts, against the exact curves of the pair in 40 digits; every conversion shown beside the "
    "answer is at least the answer; listed orders cover smaller orders only; what a person is told is rounded up.",
)
def _epsilon(claim, effort: int) -> Finding:
    generator, closest = np.random.default_rng(131), math.inf
    for guarantee, mu in _mixtures(generator, 24 * effort):
        if not mu:
            continue
        delta, epsilon = math.exp(generator.uniform(-25, -2)), generator.uniform(0, 4)
        found = claim.epsilon(guarantee, delta)
        require(
            _exact_delta(found, mu) <= delta * (1 + 1e-12),
            f"{guarantee}: ε({delta:.3g}) = {found} is too small for μ = {mu}",
        )
        exact = _exact_delta(epsilon, mu)
        log_delta = claim.log_delta(guarantee, epsilon)
        require(
            log_delta >= mpmath.log(exact) - 1e-15, f"{guarantee}: log δ({epsilon:.3g}) = {log_delta} below {exact}"
        )
        require(claim.delta(guarantee, epsilon) >= exact, f"{guarantee}: δ({epsilon:.3g}) below {exact}")
        others = guarantee.conversions(delta)
        require(min(others.values()) >= found * (1 - 1e-9), f"{others} beside {found}")
        alarms = generator.uniform(0, 1)
        missed = norm.cdf(norm.isf(alarms) - mu)
        require(guarantee.tradeoff(alarms) <= missed * (1 + 1e-9), f"{guarantee}: trade-off above {missed}")
        advantage = 2 * norm.cdf(mu / 2) - 1
        require(guarantee.advantage >= advantage * (1 - 1e-12), f"{guarantee}: advantage below {advantage}")
        require(
            float(guarantee.at_most.removesuffix(" %")) >= 100 * advantage - 1e-9,
            f"{guarantee.at_most} below {advantage}",
        )
        order = generator.uniform(1.01, 45)
        expected = order * mu**2 / 2 if order <= 40 or not guarantee.points else math.inf
        require(guarantee.renyi(order) >= expected * (1 - 1e-12), f"{guarantee}: R_{order} below {expected}")
        if guarantee.gdp is not None:
            close(guarantee.gdp, mu, "μ")
            close(float(_exact_delta(found, mu)) if found else delta, delta, f"ε({delta})", 1e-6)
            close(math.exp(log_delta), float(exact), f"δ({epsilon})", 1e-8)
            closest = min(closest, guarantee.advantage / advantage - 1)
    return Finding(f"equal for Gaussian guarantees; advantage within {closest:.1e}")


@statement(
    "S.between-records",
    "a guarantee against the null record bounds every test of x against x′ by two steps: 2μ",
    evidence=(RIGOROUS, SYMBOLIC),
    claim=lambda guarantee: guarantee.advantage_between_records,
    fault=("μ for 2μ", lambda guarantee: guarantee.advantage),
    licenses=("privacy.guarantee:Guarantee.advantage_between_records",),
    scope="Three Gaussians at −μ, 0 and μ: each outer one is μ from the middle one, and the best test between the outer two has advantage 2Φ(μ) − 1: equality "
    "for Gaussian guarantees, above it for rates and listed orders; against x′ itself the plain advantage.",
)
def _between(claim, effort: int) -> Finding:
    generator, closest = np.random.default_rng(132), math.inf
    for guarantee, mu in _mixtures(generator, 24 * effort):
        if not mu:
            continue
        other = replace(guarantee, adjacency="zero-out")
        truth = 2 * norm.cdf(mu) - 1
        found = claim(other)
        require(min(1.0, truth) - 1e-12 <= found <= 1, f"{other}: {found} below {truth}")
        close(claim(guarantee), guarantee.advantage, "x against x′ is what the guarantee is about")
        if guarantee.gdp is not None:
            close(found, truth, f"μ = {mu}", 1e-9)
        closest = min(closest, found - truth)
    return Finding(f"attained by three Gaussians; closest approach {max(0.0, closest):.1e}")


class _Slack:
    one = staticmethod(Guarantee.with_slack)
    composed = staticmethod(Guarantee.composed)


class _SlackFault(_Slack):
    @staticmethod
    def one(guarantee: Guarantee) -> Guarantee:
        return replace(guarantee, slack=math.sqrt(1 + guarantee.slack) - 1).with_slack()


class _OneSide:
    @staticmethod
    def advantage(guarantee: Guarantee) -> float:
        return guarantee.delta(0.0)


@statement(
    "S.ideal-law",
    "a guarantee against an ideal law that no run has bounds the advantage between two runs that are both within it of that law",
    evidence=(RIGOROUS, ADVERSARIAL),
    claim=SimpleNamespace(advantage=lambda guarantee: guarantee.advantage),
    fault=("one distance for two", _OneSide),
    licenses=("privacy.guarantee:Guarantee.advantage",),
    scope="Laws on two, three and four points, random and mirrored, at the divergence of one order from a third law; attained by two coins on opposite sides of a "
    "fair one. ε and Rényi figures stay those against the ideal law, as its neighbouring relation says.",
)
def _ideal_law(claim, effort: int) -> Finding:
    generator, closest = np.random.default_rng(5), math.inf
    for trial in range(300 * effort):
        points, order = int(generator.integers(2, 5)), float(generator.choice([1.5, 2.0, 6.0]))
        third = generator.dirichlet(np.ones(points))
        near = [0.5 * third + 0.5 * generator.dirichlet(np.ones(points)) for _ in range(2)]
        if trial % 3 == 0:
            tilt = float(generator.uniform(0.01, 0.9))
            third, near = np.array([0.5, 0.5]), [np.array([0.5 + s * tilt / 2, 0.5 - s * tilt / 2]) for s in (1, -1)]
        cost = max(math.log(float(np.sum(law**order * third ** (1 - order)))) / (order - 1) for law in near)
        found = claim.advantage(Guarantee("deletion", "ideal-law", points=((order, max(cost, 0.0)),)))
        truth = float(np.abs(near[0] - near[1]).sum() / 2)
        require(truth <= found * (1 + 1e-9), f"order {order}, ε={cost}: {truth} above {found}")
        closest = min(closest, 1 - truth / found)
    return Finding(f"closest approach {max(closest, 0):.1e}")


@statement(
    "S.slack",
    "a sensitivity larger by the factor 1 + s raises μ², rates and the solver's share by at most (1 + s)²; a sum carries the largest s",
    evidence=(RIGOROUS,),
    claim=_Slack,
    fault=("1 + s for (1 + s)²", _SlackFault),
    licenses=(
        "privacy.guarantee:Guarantee.with_slack",
        "privacy.guarantee:Guarantee.composed",
        "methods.base:Mechanism.interval",
    ),
    scope="The mechanism of each way with L(1 + s) for L, against `with_slack` of the guarantee with L: equal where every part is proportional to Δ, above where a "
    "solver's tolerance is not; sums of parts with different s, against the sum of each with its own.",
)
def _slack(claim, effort: int) -> Finding:
    generator = np.random.default_rng(133)
    for trial in range(60 * effort):
        way = ("noisy-gd", "noisy-gd:analysis=paper", "cold", "warm")[trial % 4]
        plan, slack = chapters.plan_of(way, generator), math.exp(generator.uniform(-5, 0))
        mechanism = replace(plan.mechanism, slack=slack)
        wider = replace(mechanism, lipschitz=mechanism.lipschitz * (1 + slack), slack=0.0)
        steps = {"steps_with": int(generator.integers(1, 9)), "steps_without": int(generator.integers(0, 5))}
        plain, raised = (m.interval("deletion", "pairwise", **steps) for m in (mechanism, wider))
        found = claim.one(plain)
        for name in ("gdp_squared", "rate"):
            require(
                getattr(found, name) >= getattr(raised, name) * (1 - 1e-12), f"{way}: {name} {found} below {raised}"
            )
            if way in ("noisy-gd", "noisy-gd:analysis=paper"):
                close(getattr(found, name), getattr(raised, name), f"{way}, {name}")
        require(found.slack == 0, "the slack is inside")
        other = replace(plain, slack=slack * generator.uniform(0, 2), points=((2.0, 0.3),))
        both = claim.one(claim.composed([(plain, 2), (other, 1)]))
        each = [(claim.one(plain), 2), (claim.one(other), 1)]
        require(
            both.renyi(2.0) >= sum(part.renyi(2.0) * times for part, times in each) * (1 - 1e-12),
            "a sum below its parts",
        )
        require(
            claim.composed([(plain, 1), (replace(other, proven=False), 1)]).proven is False,
            "a sum with an unproven part is unproven",
        )
        require(claim.composed([(plain, 1), (replace(other, rows=5), 1)]).rows == min(plain.rows, 5), "rows of a sum")
    return Finding("equal where all is proportional to Δ")


def _covers(cap: Guarantee, other: Guarantee) -> bool:
    return cap.covers(other)


@statement(
    "S.covers",
    "a cap covers a guarantee only if it promises at least as much of the same worlds, for as many rows of a subject",
    evidence=(RIGOROUS,),
    claim=_covers,
    fault=(
        "rows per subject are not looked at",
        lambda cap, other: cap.covers(replace(other, rows=max(cap.rows, other.rows))),
    ),
    licenses=("privacy.guarantee:Guarantee.covers",),
    scope="Random pairs near each other, with every kind of part: whenever a cap covers, every Rényi order that it knows, δ at two ε, worlds and rows agree; whenever "
    "a pair with parts of one kind is ordered, it is covered.",
)
def _cap(claim, effort: int) -> Finding:
    generator, covered = np.random.default_rng(134), 0
    for trial in range(400 * effort):
        gaussian, rate, listed = (float(part) for part in np.exp(generator.uniform(-2, 1, 3)) * np.eye(3)[trial % 3])
        points = ((2.0, listed), (5.0, 2 * listed)) if listed else ()
        cap = Guarantee(
            "dp", "replace", gdp_squared=gaussian, rate=rate, points=points, rows=int(generator.integers(1, 4))
        )
        growth = math.exp(generator.normal() * 0.02 * (trial % 2))
        other = replace(
            cap,
            gdp_squared=cap.gdp_squared * growth,
            rate=cap.rate * growth,
            points=tuple((q, cost * growth) for q, cost in points),
            rows=int(generator.integers(1, 4)),
            adjacency=str(generator.choice(["replace", "replace", "replace", "zero-out"])),
        )
        answer = claim(cap, other)
        same = other.adjacency == cap.adjacency and other.rows >= cap.rows
        require(answer == (same and growth <= 1 + 1e-12), f"{cap} covers {other}: {answer}")
        if answer:
            covered += 1
            require(all(other.renyi(q) <= cap.renyi(q) * (1 + 1e-11) for q in (2.0, 5.0)), "Rényi")
            if trial % 40 < 3:
                require(all(other.log_delta(e) <= cap.log_delta(e) + 1e-9 for e in (0.1, 1.0)), "δ")
        else:
            require(not (same and growth < 1 - 1e-9), f"{other} lies below {cap}")
    mixed = Guarantee("dp", "replace", rate=0.01)
    require(not claim(Guarantee("dp", "replace", gdp_squared=1.0), mixed), "a Rényi curve gives no μ")
    require(
        not claim(Guarantee("dp", "replace", rate=1.0), replace(mixed, points=((2.0, 0.01),))),
        "a listed order gives no curve",
    )
    return Finding(f"{covered} pairs covered")


def exact_mu(epsilon: float, delta: float) -> float:
    """The μ at which δ(ε) of the Gaussian pair is `delta`."""
    with mpmath.workdps(40):
        low, high = mpmath.mpf("1e-3"), mpmath.mpf(20)
        for _ in range(90):
            middle = (low + high) / 2
            low, high = (middle, high) if _exact_delta(epsilon, middle) <= delta else (low, middle)
        return float(low)


@statement(
    "S.within",
    "a history lies within the plan's budget exactly if its cost, in the budget's own measure, is no larger",
    evidence=(RIGOROUS,),
    claim=is_within_budget,
    fault=("1 % room", lambda spent, plan: is_within_budget(replace(spent, gdp_squared=spent.gdp_squared / 1.01, rate=spent.rate / 1.01), plan)),
    licenses=("accountant.events:is_within_budget", "privacy.budget:Budget.dp_gdp", "privacy.budget:Budget.dp_rate"),
    scope="Budgets in μ, (ε, δ) and at one Rényi order, ways with a μ and Theorem 5.1; costs 10⁻⁶ beside the limit, which is worked out in 40 digits. Theorem 5.1 under (ε, δ) "
    "is compared with the conversion that the planner takes, not with the least ε.",
)  # fmt: skip
def _within(claim, effort: int) -> Finding:
    generator = np.random.default_rng(135)
    for trial in range(60 * effort):
        amount, delta = math.exp(generator.uniform(-2, 1)), 10 ** generator.uniform(-8, -3)
        measure = ("gdp", "renyi", "epsilon-delta")[trial % 3]
        if measure == "gdp":
            budget, limit = Budget.from_gdp(dp=amount, deletion=amount / 2), amount
        elif measure == "renyi":
            budget, limit = Budget(order=4, dp=amount, deletion=amount / 2), math.sqrt(2 * amount / 4)
        else:
            budget = Budget.from_epsilon_delta(dp=(amount, delta), deletion=(amount / 2, delta))
            limit = exact_mu(amount, delta)
        for way in ("noisy-gd", "cold") if measure != "renyi" else ("noisy-gd", "noisy-gd:analysis=paper"):
            plan = chapters.ways.planned(
                way, chapters.LOSS, records=40, features=1, regularization=0.5, budget=budget, utility=False,
                slack_in_budget=trial % 2 == 0,
            )  # fmt: skip
            for growth, fits in ((1 - 1e-6, True), (1 + 1e-6, False)):
                cost = (limit * growth / (1.01 if plan.problem.slack_in_budget else 1)) ** 2
                parts = {"rate": cost / 2} if way == "noisy-gd:analysis=paper" else {"gdp_squared": cost}
                spent = Guarantee("dp", "replace", slack=0.01, **parts)
                require(
                    claim(spent, plan) is fits,
                    f"{way}, {budget.describe()}: {growth} of the limit is within: {not fits}",
                )
    return Finding("right on both sides at 10⁻⁶")


@statement(
    "S.support",
    "noise that ends at B standard deviations adds at most δ = (draws)·Φ(μ − B): the outcomes that one world has and the other has not",
    evidence=(RIGOROUS,),
    claim=gaussian.support_delta,
    fault=("one draw", lambda *, mu: gaussian.support_delta(mu=mu) / 1e18),
    licenses=(
        "bounds.gaussian:support_delta",
        "bounds.tails:log_lower_tail",
        "privacy.guarantee:Guarantee.least_delta",
    ),
    scope="Steps that part the worlds by a_i, Σ a_i² = μ² (one, many equal, one large and many small), each drawn up to 10¹⁸ times in all: the exact mass of a Gaussian cut at B that the "
    "shifted one does not have, in 40 digits, summed over the draws. That the source reaches B = 36.3 is a test.",
)
def _support(claim, effort: int) -> Finding:
    closest, edge = math.inf, mpmath.mpf("36.3")
    with mpmath.workdps(60):
        whole = mpmath.ncdf(edge) - mpmath.ncdf(-edge)
        for mu in (0.01, 0.5, 2.83, 10.0, 26.0):
            for shares in ([1.0], [0.1] * 100, [0.9, *[math.sqrt(0.19 / 1000)] * 1000]):
                draws = mpmath.mpf(10) ** 18 / len(shares)
                lost = sum(
                    shares.count(share) * (mpmath.ncdf(edge) - mpmath.ncdf(edge - mu * share)) / whole
                    for share in set(shares)
                )
                exact = min(mpmath.mpf(1), draws * lost)
                found = claim(mu=mu)
                require(found >= exact, f"μ = {mu}: δ = {found} below {exact}")
                closest = min(closest, float(found / exact - 1) if exact else math.inf)
        for t in (-30.0, -2.0, -0.1, 0.1, 3.0):
            close(tails.log_lower_tail(t), float(mpmath.log(mpmath.ncdf(t))), f"log Φ({t})", 1e-12)
    require(claim(mu=40.0) == 1, "far apart, every outcome tells")
    require(Guarantee("dp", "replace").least_delta == 0, "nothing revealed")
    close(Guarantee("dp", "replace", rate=2.0).least_delta, max(claim(mu=2.0), 2.0**-256), "least δ", 1e-6)
    return Finding(f"closest approach {closest:.1e} (one step, every draw as far apart as it may be)")
