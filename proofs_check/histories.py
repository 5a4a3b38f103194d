"""The accountant: what a history of releases reveals, against joint Gaussian laws on the linear loss."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from noisygd_delete import Budget, Guarantee
from noisygd_delete.accountant import Accountant, Event
from noisygd_delete.methods.objective_perturbation_run import ObjectivePerturbationRun
from noisygd_delete.methods.sufficient_statistics import SufficientStatisticsRun
from tests.oracles import sums_tree

from . import chapters
from .framework import RIGOROUS, Finding, close, require, require_refusal, statement

_NOTIONS = (("pairwise", "replace", 2), ("erased-vs-never", "zero-out", 1))
_CHAIN = SufficientStatisticsRun(
    records=1000, features=4, outputs=1, norm_squared=2**28, label_weight=9830, variance=1e18, releases=6, joiners=False
)
_ORDER = 3.0  # among the orders at which an extractor's cost is listed


class _Answers:
    @staticmethod
    def deletion(accountant: Accountant, **query) -> Guarantee:
        return accountant.deletion(**query)

    @staticmethod
    def dp(accountant: Accountant, **query) -> Guarantee:
        return accountant.dp_cumulative(**query)


class _Forgetful(_Answers):
    @staticmethod
    def deletion(accountant: Accountant, **query) -> Guarantee:
        return accountant.deletion(**{**query, "observed": [max(query["observed"])]})


def _compare(answer: Guarantee, real: chapters.Truth, worlds: int, what: str) -> int:
    """Never below the joint law; equal to it, part by part, where the record entered at a point that both worlds share."""
    listed = answer.listed(_ORDER) / _ORDER * 2
    for found, true in ((answer.gdp_squared, real.gaussian), (2 * answer.rate, real.theorem), (listed, real.extractor)):
        require(found >= true * (1 - 1e-9), f"{what}: {found} below the joint law's {true}")
    if worlds == 1:  # from x to x′ an extractor's cost goes over the null record
        close(listed, real.extractor, f"extractors, {what}")
    if real.exact:
        close(answer.gdp_squared, real.gaussian, what)
    close(answer.rate, real.printed, f"what Theorem 5.1 prints, {what}")
    return real.exact


@statement(
    "S.history",
    "any history of learns, requests and relearns by any way, with changes of plan and extractors, any set of observed releases:"
    " the accountant's answer bounds the joint law, tightly",
    evidence=(RIGOROUS,),
    claim=_Answers,
    fault=("only the last observed release counts", _Forgetful),
    licenses=(
        "accountant.events:iterate_stretches",
        "accountant.events:compose_costs",
        "accountant.events:releases_alone",
        "accountant.events:iterate_erased_costs",
        "accountant.events:answer_question",
        "accountant.account:Account.record",
        "accountant.account:Account.deletion_observed",
        "accountant.account:Account.compose_all",
        "accountant.history:History.parts",
        "accountant.accountant:Accountant.record",
        "accountant.accountant:Accountant.deletion",
        "accountant.accountant:Accountant.deletion_of_each",
        "accountant.accountant:Accountant.deletion_observed",
        "accountant.accountant:Accountant.dp",
        "accountant.accountant:Accountant.dp_of_each",
        "accountant.accountant:Accountant.dp_cumulative",
        "accountant.accountant:Accountant.dp_cumulative_of_each",
        "privacy.guarantee:Guarantee.composed",
        "methods.base:Mechanism.interval",
        "methods.base:NoisySteps.sensitivity",
        "methods.sampled_steps:SampledGaussian",
        "methods.noisy_gd_paper:PaperNoisyGDRun",
        "methods.noisy_gd:NoisyGDRun",
        "methods.output_perturbation:OutputPerturbationRun",
    ),
    scope="Random histories of one to three chapters on the linear loss from a point (closed form, dense linear algebra): Noisy-GD "
    "from the published model, from the minimiser with a cold and a warm solver, Theorem 5.1, extractors sampled at rate 1; "
    "equality wherever the record enters at a point both worlds share, above the truth elsewhere; what Theorem 5.1 prints is "
    "equal everywhere, and above the truth. present_from, erased_at and observed at random, both pairs of worlds, one and two rows per "
    "subject. The queries for each release at once equal the single ones. Histories in which a requester saw releases outside "
    "`observed` are not covered: then later records may carry the erased one (see 4.1). Two chains that "
    "carry noise on, against the rational law of all draws; the order of rows.",
)
def _history(claim, effort: int) -> Finding:
    generator, equal, asked = np.random.default_rng(111), 0, 0
    for trial in range(250 * effort):
        mixed = ("noisy-gd", "cold", "warm", "noisy-gd:analysis=paper") if trial % 3 else ("noisy-gd",)
        releases = chapters.history(
            generator, ways_of=mixed, chapters=int(generator.integers(1, 4)), extractors=trial % 3 == 2
        )
        if len(releases) < 2:
            continue
        accountant, count = chapters.accountant(releases), len(releases)
        notion, adjacency, worlds = _NOTIONS[int(generator.integers(2))]
        present_from = int(generator.integers(1, count))
        erased_at = int(generator.integers(present_from + 1, count + 1))
        observed = {int(k) for k in range(1, count + 1) if generator.random() < 0.6} | {count}
        query = {"present_from": present_from, "observed": sorted(observed)}
        what = f"{[(r.kind, r.way, r.steps) for r in releases]}, {query}, erased at {erased_at}, {notion}"
        for name, answer, gone in (
            ("deletion", claim.deletion(accountant, erased_at=erased_at, notion=notion, **query), erased_at),
            ("dp_cumulative", claim.dp(accountant, adjacency=adjacency, **query), None),
        ):
            real = chapters.truth(releases, present_from=present_from, erased_at=gone, observed=observed, worlds=worlds)
            equal += _compare(answer, real, worlds, f"{name}, {what}")
            asked += 1
        _at_once(accountant, releases, notion, adjacency, worlds)
    for erased_at in (None, *range(4, 7)):
        _carried(claim, erased_at)
    _last_erased()
    _rounded()
    alone = Accountant(events=[Event("learn", 0, 0, _CHAIN)])
    require(alone.deletion_observed().gdp == 0.0, "the first release erased nothing")
    require_refusal(Accountant().deletion_observed, "what was erased before the first release")
    return Finding(f"equality in {equal} of {asked} answers, the others above the truth")


def _at_once(
    accountant: Accountant, releases: list[chapters.Release], notion: str, adjacency: str, worlds: int
) -> None:
    """The answers for every release in one pass, against the joint laws of the questions they stand for."""
    numbers = range(1, len(releases) + 1)

    def same(found: list[Guarantee], queries: list[tuple[int | None, set[int]]], what: str) -> None:
        require(len(found) == len(queries), f"{what}: {len(found)} answers for {len(queries)} releases")
        for answer, (gone, observed) in zip(found, queries, strict=True):
            real = chapters.truth(releases, present_from=1, erased_at=gone, observed=observed, worlds=worlds)
            _compare(answer, real, worlds, f"{what}, {[(r.kind, r.way) for r in releases]}, {gone}, {observed}")

    same(accountant.dp_of_each(adjacency=adjacency), [(None, {n}) for n in numbers], "dp_of_each")
    same(accountant.dp_of_each(1, adjacency=adjacency), [(None, {len(releases)})], "dp_of_each, last")
    same([accountant.dp(n, adjacency=adjacency) for n in numbers], [(None, {n}) for n in numbers], "dp")
    same(accountant.deletion_of_each(notion=notion), [(n, {n}) for n in numbers[1:]], "deletion_of_each")
    if worlds == 2 and all(release.kind != "extractor" for release in releases):  # the default worlds
        growing = [(None, set(range(1, n + 1))) for n in numbers]
        same(accountant.dp_cumulative_of_each(), growing, "dp_cumulative_of_each")
        some = numbers[:-1:2]
        same(accountant.dp_cumulative_of_each(some), growing[:-1:2], f"dp_cumulative_of_each of {list(some)}")
    if worlds == 1 and releases[-1].kind == "unlearn":
        same([accountant.deletion_observed()], [(len(releases), set(numbers))], "deletion_observed")


def _rounded() -> None:
    """From the minimiser with steps on a grid, as plans take them: the law over the reals, and little for the rounding."""
    for way in ("cold", "warm"):
        budget = Budget(order=3, dp=1.0, deletion=0.5)
        plan = chapters.ways.planned(
            way, chapters.LOSS, records=40, features=1, regularization=0.5, budget=budget, exact=True
        )
        steps = plan.calibration.learn_steps
        truth = chapters.from_minimisers(plan, 2 * chapters.LOSS.radius, [steps], [True], [True], warm=way == "warm")
        found = Accountant(events=[Event("learn", steps, 0, plan.mechanism)]).dp_cumulative().gdp_squared
        require(truth * (1 - 1e-9) <= found <= truth * 1.001, f"{way}, exact steps: {found}, the law says {truth}")


def _last_erased() -> None:
    """What the last release erased: a chain that ended before it counts, and so does the order of the rows where a sum may show it."""
    kinds = ("learn", "relearn", "unlearn")
    found = Accountant(events=[Event(kind, 0, 1, _CHAIN) for kind in kinds]).deletion_observed().gdp_squared
    require(found >= _law(1, 1) + _law(2, 1), f"chains of one draw and of two: {found}")
    run = ObjectivePerturbationRun(
        records=100, linear_term=3.0, output_noise=2.0**-12, gradient_tolerance=1e-7, strong_convexity=0.01, lipschitz=1.0,
        smoothness=0.0, form="one direction", dimension=1, in_place=False,
    )  # fmt: skip
    order = ((2e-7 / 0.01 + 2.0**-36) * 2**12) ** 2  # two solves at opposite ends of the ball
    accountant = Accountant(events=[Event("learn", 0, 0, run), Event("unlearn", 0, 1, run)])
    close(accountant.deletion_observed().gdp ** 2, 1 / 9 + 2 * order, "a model, and the order of what is left", 1e-4)
    close(accountant.dp_cumulative(adjacency="zero-out").gdp ** 2, 2 / 9 + 2 * order, "two models", 1e-4)


def _law(draws: int, held: int) -> float:
    """μ² of these draws of a chain that carries noise on, about a row of the largest statistic that the first `held` hold."""
    drawn = [
        (number - 1 if number else None, Fraction(carry), Fraction(math.sqrt(variance / 1e18)))
        for number, (carry, variance) in enumerate(_CHAIN.draws[:draws])
    ]
    there = [[Fraction(number < held)] for number in range(draws)]
    return float(sums_tree.divergence(drawn, there, list(range(draws)))) * 2**28 * (2**28 + 9830**2) / 1e18


def _carried(claim, erased_at: int | None) -> None:
    """A chain of two draws that carry noise on, and one of four: a record leaves in one, and stays to the end of the other.

    The charge bounds the joint law of all draws; it is that of the costlier chain to leave in, by the worst law of either.
    """
    accountant = Accountant(
        events=[Event(kind, 0, 1, _CHAIN) for kind in ("learn", "unlearn", "relearn", *["unlearn"] * 3)]
    )
    if erased_at is None:
        held, counted, answer = 4, 4, claim.dp(accountant, adjacency="zero-out")
    else:
        held, counted, answer = erased_at - 3, min(erased_at - 2, 4), claim.deletion(accountant, erased_at=erased_at)
    found, truth, what = answer.gdp_squared, _law(2, 2) + _law(4, held), f"two chains, erased at {erased_at}"
    require(found >= truth * (1 - 1e-12), f"{what}: {found} below the joint law's {truth}")
    leaves = {draws: max(_law(draws, place) for place in range(1, draws + 1)) for draws in (2, counted)}
    worst = max(leaves[2] + _law(counted, counted), _law(2, 2) + leaves[counted])
    close(found, worst, what, 1e-3)
