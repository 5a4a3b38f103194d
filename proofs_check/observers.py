"""What observers of a part of a history learn: adaptive requesters, those who came after an erasure, and schedules under a filter."""

from __future__ import annotations

import itertools
import math

import numpy as np

from noisygd_delete import Budget, Guarantee, losses
from noisygd_delete.accountant import Accountant, Event, PrivacyFilter
from noisygd_delete.methods.sampled_steps import SampledGaussian

from . import chapters, ways
from .framework import RIGOROUS, Finding, close, require, statement


def _adaptive(accountant: Accountant, models_seen: int, **query) -> Guarantee:
    return accountant.deletion_adaptive(models_seen, **query)


@statement(
    "S.deletion-adaptive",
    "requests that depend on any p of the models before an erasure: the bound covers every choice of p, and is the dearest one where"
    " releases are independent",
    evidence=(RIGOROUS,),
    claim=_adaptive,
    fault=(
        "one model fewer",
        lambda accountant, models_seen, **query: _adaptive(accountant, max(0, models_seen - 1), **query),
    ),
    licenses=(
        "accountant.accountant:Accountant.deletion_adaptive",
        "accountant.history:_dearest",
        "accountant.events:releases_alone",
    ),
    scope="Random histories as in S.history, every set of p earlier models enumerated with its joint Gaussian law (all later ones "
    "observed); equality with the dearest set for releases from the minimiser with a cold solver, with the whole history from p = number "
    "of earlier models on, and with the later models at p = 0. That requests which depend on observed models cost no more than the "
    "models themselves is the argument of 4.3-noisy-gd.",
)
def _deletion_adaptive(claim, effort: int) -> Finding:
    generator, sets, equal = np.random.default_rng(121), 0, 0
    for trial in range(120 * effort):
        mixed = (("cold",), ("noisy-gd", "warm", "cold"), ("noisy-gd", "noisy-gd:analysis=paper"), ("noisy-gd",))[
            trial % 4
        ]
        releases = chapters.history(
            generator, ways_of=mixed, chapters=int(generator.integers(1, 3)), extractors=trial % 5 == 4
        )
        if len(releases) < 2:
            continue
        count, accountant = len(releases), chapters.accountant(releases)
        start = int(generator.integers(1, count))
        erased = int(generator.integers(start + 1, count + 1))
        after = set(range(erased, count + 1))
        seen = int(generator.integers(0, erased - start + 1))
        answer = claim(accountant, seen, present_from=start, erased_at=erased, notion="erased-vs-never")
        costs = []
        for chosen in itertools.combinations(range(1, erased), min(seen, erased - 1)):
            real = chapters.truth(
                releases, present_from=start, erased_at=erased, observed=after | set(chosen), worlds=1
            )
            what = f"{[(r.kind, r.way, r.steps) for r in releases]}, present {start} to {erased}, p = {seen}, seen {chosen}"
            require(
                answer.gdp_squared >= real.gaussian * (1 - 1e-9), f"{what}: {answer.gdp_squared} below {real.gaussian}"
            )
            require(
                2 * answer.rate >= real.theorem * (1 - 1e-9), f"{what}: rate {answer.rate} below {real.theorem / 2}"
            )
            require(
                answer.listed(3.0) * 2 / 3 >= real.extractor * (1 - 1e-9), f"{what}: extractor {answer.listed(3.0)}"
            )
            costs.append(real.gaussian)
            sets += 1
        if mixed == ("cold",) or (seen in (0, erased - start) and real.exact and mixed == ("noisy-gd",) and start == 1):
            close(
                answer.gdp_squared,
                max(costs),
                f"p = {seen}, {[(r.kind, r.way, r.steps) for r in releases]}, {start} to {erased}",
            )
            equal += 1
    return Finding(f"equality in {equal} questions; {sets} sets of models below the bound")


# --- Theorem 5.2, for those who came after the erasure ---


class Induction:
    """The induction of Theorem 5.2 and its sharper form, written out: ε_q after runs of (steps, edits) since the last fresh learn."""

    def __init__(self, plan) -> None:
        self.plan, self.order = plan, plan.mechanism.gibbs.order
        self.sharper = plan.mechanism.gibbs.form == "sharper"
        constants = plan.problem.loss.constants
        self.scale = constants.range / plan.calibration.noise_variance  # ω/σ²
        smooth, lam, eta = (
            max(constants.smoothness, constants.weak_convexity),
            plan.problem.regularization,
            plan.calibration.step_size,
        )
        barrier = math.exp(self.scale * (1 if self.sharper else 2))  # B
        self.largest_step = lam / (64 * barrier * self.order**2 * (smooth + lam) ** 2)  # G.22
        self.forgetting = lam * eta / (2 * barrier)
        self.error = 32 * plan.problem.dimension * eta * barrier * (smooth + lam) ** 2 / lam

    def risk(self, closeness: float) -> float:
        """(162): Lσ√(2εB/λ) + εBσ²(2λ+β)/λ + (dσ²/2)(log((β+λ)/λ) + 2e^{ω/σ²})."""
        plan, lam = self.plan, self.plan.problem.regularization
        constants, variance = plan.problem.loss.constants, plan.calibration.noise_variance
        smooth = max(constants.smoothness, constants.weak_convexity)
        share = closeness * math.exp(self.scale * (1 if self.sharper else 2)) / lam
        gibbs = math.log((smooth + lam) / lam) + 2 * math.exp(self.scale)
        return (
            constants.lipschitz * math.sqrt(2 * share * variance)
            + share * variance * (2 * lam + smooth)
            + plan.problem.dimension * variance / 2 * gibbs
        )

    def after(self, runs: list[tuple[int, int]]) -> float:
        cost = self.order * min(self.scale, self.scale**2 / 8) if self.sharper else self.scale
        for index, (steps, edits) in enumerate(runs):
            cost += (
                (2 * edits * self.scale / self.plan.problem.records) * (self.order if self.sharper else 1) * bool(index)
            )
            kept = math.exp(-self.forgetting * steps)
            if self.sharper:
                cost = kept * cost + self.order * self.error * (1 - kept)
            else:
                cost = self.order * (kept * cost + self.error)
        return cost

    def composed(self, steps: int) -> float:
        """q L²ηT/(4σ²n²): every step with the record costs, and nothing is forgotten."""
        plan = self.plan
        return (
            self.order
            * plan.problem.loss.constants.lipschitz**2
            * plan.calibration.step_size
            * steps
            / (4 * plan.calibration.noise_variance * plan.problem.records**2)
        )


def _without_extractors(accountant: Accountant, *, present_from: int, erased_at: int, observed: list[int]) -> Guarantee:
    """The fault: as if the extractor (the first event of these histories) had been public."""
    kept = [event for event in accountant.events if event.kind != "extractor"]
    shift = len(accountant.events) - len(kept)
    seen = [number - shift for number in observed if number > shift]
    return Accountant(events=kept).deletion(
        max(1, present_from - shift), erased_at - shift, seen, notion="erased-vs-never"
    )


@statement(
    "S.hidden-past",
    "Theorem 5.2 for an observer who came after the erasure: the runs since the last fresh learn, every edit counted; nothing where an earlier "
    "model was seen, nor after an extractor trained with the record",
    evidence=(RIGOROUS,),
    claim=lambda accountant, **query: accountant.deletion(notion="erased-vs-never", **query),
    fault=("an extractor trained with the record is ignored", _without_extractors),
    licenses=(
        "accountant.history:History.hidden_past",
        "accountant.accountant:Accountant.deletion",
        "accountant.accountant:Accountant.deletion_later_releases",
        "methods.noisy_gd_gibbs:GibbsNoisyGDRun.distance_after",
        "methods.noisy_gd_gibbs:GibbsNoisyGDRun.guarantee_at",
        "bounds.theorem_5_2:Gibbs.closeness",
        "bounds.theorem_5_2:Gibbs.distance_after",
    ),
    scope="Random histories with fresh learns, printed and sharper form: the answer at the order of Theorem 5.2 is the smaller of the induction "
    "written out here and the composition of the steps with the record; 0 steps and no edits included. `forgotten` is the induction.",
)
def _hidden_past(claim, effort: int) -> Finding:
    generator, hidden = np.random.default_rng(122), 0
    loss, budget = losses.Sigmoid(radius=1.0), Budget(order=2, dp=1.9, deletion=0.5)
    sizes = {"records": 10, "features": 2, "regularization": 0.05, "budget": budget}
    plans = [ways.planned(way, loss, **sizes) for way in ("noisy-gd:analysis=paper", "noisy-gd")]
    for trial in range(300 * effort):
        plan = plans[trial % 2]
        induction, n = Induction(plan), int(generator.integers(2, 8))
        kinds = ["learn", *map(str, generator.choice(["unlearn", "unlearn", "relearn"], n - 1))]
        longest = 4 * max(plan.calibration.learn_steps, plan.calibration.delete_steps)
        events = [
            Event(kind, int(generator.integers(1, longest)), int(generator.integers(0, 4)), plan.mechanism)
            for kind in kinds
        ]
        if trial % 4 == 3:
            events.insert(
                0,
                Event(
                    "extractor",
                    2,
                    0,
                    SampledGaussian(records=plan.problem.records, sampling_rate=1.0, noise_multiplier=3.0),
                ),
            )
        extractor = events[0].kind == "extractor"
        accountant, count = Accountant(events=events), len(events)
        start = int(generator.integers(1, count))
        erased = int(generator.integers(start + 1, count + 1))
        observed = sorted(
            {int(k) for k in generator.integers(1, count + 1, 2)}
            if trial % 3
            else {int(generator.integers(erased, count + 1))}
        )
        answer = claim(accountant, present_from=start, erased_at=erased, observed=observed).renyi(induction.order)
        carried = extractor and start == 1
        expected = induction.order * 2 / (2 * 3.0**2) * carried + induction.composed(
            _steps_with(events, start, erased, observed)
        )
        what = f"{[(e.kind, e.steps, e.edits) for e in events]}, present {start} to {erased}, observed {observed}"
        if observed[0] >= erased and not extractor:
            began = max(k for k in range(1, observed[0] + 1) if events[k - 1].kind != "unlearn")
            runs = [(event.steps, event.edits) for event in events[began - 1 : observed[0]]]
            hidden += induction.after(runs) < expected
            expected = min(expected, induction.after(runs))
        close(answer, expected, what)
        if events[-1].kind == "unlearn" and not extractor:
            began = max(k for k in range(1, count + 1) if events[k - 1].kind != "unlearn")
            runs = [(event.steps, event.edits) for event in events[began - 1 :]]
            alone = Accountant(events=events).deletion_later_releases()
            close(alone.renyi(induction.order), induction.after(runs), f"forgotten, {what}")
            require(alone.non_adaptive, "the figure for one release alone says that requests must not have adapted")
    require(hidden > 20, "closeness must matter in some of the questions")
    return Finding(f"equal in every question; in {hidden} of them closeness is below composition")


def _steps_with(events: list[Event], start: int, erased: int, observed: list[int]) -> int:
    """Steps with the record that some observed model shows: those since the last fresh learn before each sight, counted once."""
    total = unseen = 0
    for number, event in enumerate(events, start=1):
        if event.kind == "extractor":
            continue
        unseen = 0 if event.kind != "unlearn" else unseen
        unseen += event.steps if start <= number < erased else 0
        if number in observed:
            total, unseen = total + unseen, 0
    return total


# --- one plan: what a release alone has forgotten ---


@statement(
    "S.forgotten",
    "after any number of unobserved requests by the plan, the release that serves a deletion reveals at most what the plan states, and the"
    " statement is the limit",
    evidence=(RIGOROUS,),
    claim=lambda plan, events: Accountant(plan, events).deletion_later_releases(),
    fault=("as if twice the steps were taken", lambda plan, events: plan.mechanism.interval("deletion", "erased-vs-never", steps_with=math.inf, steps_without=2 * plan.calibration.delete_steps)),
    licenses=("accountant.accountant:Accountant.deletion_later_releases", "methods.plan:Plan.deletion", "methods.base:Mechanism.interval"),
    scope="Plans by every convex way, learned once and asked up to six times: the joint law of the last release alone (closed form, linear "
    "loss) is never above; the stated figure is c^K μ_∞ resp. what Theorem 5.1 prints, a solver's tolerance, or 0; it says that requests "
    "must not have adapted. A learn alone has forgotten nothing and owes nothing.",
)  # fmt: skip
def _forgotten(claim, effort: int) -> Finding:
    generator, closest = np.random.default_rng(123), math.inf
    for trial in range(60 * effort):
        way = ("noisy-gd", "noisy-gd:analysis=paper", "cold", "warm")[trial % 4]
        plan = chapters.plan_of(way, generator, deletion_share=generator.uniform(0.2, 0.9))
        lengths = [plan.calibration.learn_steps, *[plan.calibration.delete_steps] * int(generator.integers(1, 7))]
        if sum(lengths) > 3000:
            continue
        kinds = ["learn", *["unlearn"] * (len(lengths) - 1)]
        releases = [chapters.Release(kind, steps, way, plan) for kind, steps in zip(kinds, lengths, strict=True)]
        answer = claim(plan, [release.event for release in releases])
        last = len(releases)
        real = chapters.truth(releases, present_from=1, erased_at=last, observed={last}, worlds=1)
        found = answer.gdp_squared + 2 * answer.rate
        require(found >= (real.gaussian + real.theorem) * (1 - 1e-9), f"{way}: {found} below {real}")
        delta, steps = chapters.LOSS.radius * plan.problem.rows_per_subject, plan.calibration.delete_steps
        eta, lam, n = plan.calibration.step_size, plan.problem.regularization, plan.problem.records
        stationary = (1 - eta * lam / 2) / (lam * plan.calibration.noise_variance * n**2)
        kept = (1 - eta * lam) ** steps
        stated = {
            "noisy-gd": (kept * delta) ** 2 * stationary,
            "noisy-gd:analysis=paper": 2
            * delta**2
            / (lam * plan.calibration.noise_variance * n**2)
            * math.exp(-eta * lam * steps / 2),
            "cold": 0.0,
            "warm": (2 * plan.calibration.gradient_tolerance * n * kept) ** 2 * stationary / (1 - kept**2),
        }[way]
        close(found, stated, f"{way}, K = {steps}")
        require(answer.non_adaptive, "the figure for one release alone says that requests must not have adapted")
        require(
            claim(plan, [releases[0].event]).renyi(2.0) == 0 or way not in ("noisy-gd", "cold"), "a learn owes nothing"
        )
        if real.gaussian:
            closest = min(closest, found / real.gaussian - 1)
    return Finding(f"closest approach {max(0.0, closest):.1e}")


# --- schedules that depend on what was published ---


class _Late(PrivacyFilter):
    """The fault: looks at what is spent, not at what would be."""

    def allows(self, event: Event) -> bool:
        return not self.admitted or self._cap.covers(Accountant(events=self.admitted).dp_cumulative())


@statement(
    "S.filter",
    "whatever a filter admits, one release after the other, stays under its cap; what it refuses would not",
    evidence=(RIGOROUS,),
    claim=PrivacyFilter,
    fault=("what is spent is looked at, not what would be", _Late),
    licenses=("accountant.filter:PrivacyFilter", "privacy.guarantee:Guarantee.covers"),
    scope="Random requests for releases by every way, under caps on μ, on the rate and on listed orders: the joint law of all admitted (a record "
    "there from the first, all observed) is below the cap, and with each refused release it would be above (Gaussian caps). That a cap fixed "
    "beforehand covers a schedule chosen on the way is cited (Feldman & Zrnic 2021, Lécuyer 2021; Smith & Thakurta 2022).",
)
def _filter(claim, effort: int) -> Finding:
    generator, refused = np.random.default_rng(124), 0
    for trial in range(80 * effort):
        mixed = (("noisy-gd", "cold", "warm"), ("noisy-gd:analysis=paper",), ("noisy-gd", "noisy-gd:analysis=paper"))[
            trial % 3
        ]
        asked = chapters.history(generator, ways_of=mixed, chapters=4, extractors=False)
        accountant = chapters.accountant(asked)
        whole = accountant.dp_cumulative()
        share = generator.uniform(0.1, 0.9)
        if mixed == ("noisy-gd:analysis=paper",):
            cap = Guarantee("dp", "replace", rate=whole.rate * share)
        elif "noisy-gd:analysis=paper" in mixed:
            cap = Guarantee("dp", "replace", points=((3.0, whole.renyi(3.0) * share),))
        else:
            cap = Guarantee("dp", "replace", gdp_squared=whole.gdp_squared * share)
        guard, admitted, skipping = claim(cap), [], False
        for release in asked:
            skipping = (
                skipping and release.kind == "unlearn"
            )  # a request after a refused learn has no model to resume from
            if skipping:
                continue
            if guard.allows(release.event):
                guard.admit(release.event)
                admitted.append(release)
                require(
                    _spent(admitted) <= cap.renyi(3.0) / 3 * (1 + 1e-9), f"{[r.way for r in admitted]} exceed the cap"
                )
            else:
                refused += 1
                skipping = release.kind != "unlearn"
                if cap.gdp is not None:
                    require(_spent([*admitted, release]) > cap.renyi(3.0) / 3 * (1 - 1e-9), "refused, though it fits")
        require(guard.guarantee.renyi(2.5) == cap.renyi(2.5), "what may be promised is the cap")
    plan = chapters.plan_of("noisy-gd", generator)
    cap = claim.for_plan(plan).guarantee
    growth = (1 + plan.mechanism.slack) ** 2
    close(cap.renyi(3.0) * growth, plan.problem.budget.dp, "the cap of a plan is its budget, rounding included")
    return Finding(f"{refused} releases refused, none in vain")


def _spent(releases: list[chapters.Release]) -> float:
    real = chapters.truth(releases, present_from=1, erased_at=None, observed=set(range(1, len(releases) + 1)), worlds=2)
    return (real.gaussian + real.theorem) / 2
