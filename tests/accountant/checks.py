"""The agreements with independent oracles, as functions: the tests run them, and the mutant suite runs them on broken code."""

from __future__ import annotations

import itertools
import math

import mpmath
import numpy as np

from noisygd_delete.accountant import Accountant, Event
from noisygd_delete.bounds import gaussian, renyi
from noisygd_delete.methods import MECHANISMS
from noisygd_delete.methods.noisy_gd import NoisyGDRun
from noisygd_delete.methods.noisy_gd_paper import PaperNoisyGDRun
from noisygd_delete.methods.sampled_steps import SampledGaussian
from noisygd_delete.privacy.guarantee import Guarantee
from tests.oracles import gaussian_dp
from tests.oracles.linear_history import Run, squared_mu

GAPS = {"replace": 2, "zero-out": 1, "erased-vs-never": 1, "pairwise": 2}


def random_history(rng, method="noisy-gd-tight", longest=8):
    """(events, runs): the same releases for the accountant and for the oracle."""
    events, runs = [], []
    for number in range(int(rng.integers(2, longest + 1))):
        if number == 0 or rng.random() < 0.25:
            kind = "relearn" if number else "learn"
            mechanism = MECHANISMS[method](
                records=int(rng.integers(2, 50)),
                step_size=float(rng.uniform(0.05, 0.5)),
                noise_variance=float(10 ** rng.uniform(-3, 2)),
                strong_convexity=float(rng.uniform(0.1, 1.5)),
                lipschitz=float(10 ** rng.uniform(-1, 1)),
                rows_per_subject=int(rng.integers(1, 4)),
            )
        else:
            kind = "unlearn"
        steps = int(rng.integers(0 if kind == "unlearn" else 1, 9))
        events.append(Event(kind, steps, int(rng.integers(0, 3)), mechanism))
        runs.append(
            Run(
                kind != "unlearn",
                steps,
                mechanism.step_size,
                mechanism.strong_convexity,
                mechanism.noise_variance,
                mechanism.records,
                float(rng.normal()),
            )
        )
    return events, runs


def one_chain(rng, method="noisy-gd-tight"):
    """A history whose facts never change, as the oracle takes one gap for the whole of it."""
    events, runs = random_history(rng, method)
    facts, first = events[0].mechanism, runs[0]
    events = [Event(event.kind, event.steps, event.edits, facts) for event in events]
    keep = ("step_size", "regularization", "noise_variance", "records")
    same = {name: getattr(first, name) for name in keep}
    return events, [Run(run.fresh, run.steps, others=run.others, **same) for run in runs]


def hidden_steps_before(events, present_from, observed):
    """Steps between the last point both worlds share for certain and the record's insertion."""
    steps = 0
    for number, event in enumerate(events[: present_from - 1], start=1):
        steps = event.steps + (0 if event.kind != "unlearn" else steps)
        if number in observed:
            steps = 0
    return 0 if events[present_from - 1].kind != "unlearn" else steps


def linear_chain(settings=120, seed=0, method="noisy-gd-tight"):
    """Arbitrary histories: insert at a, delete at b, edits in between, observed subsets. Returns (tight, loose) counts."""
    rng = np.random.default_rng(seed)
    tight = loose = 0
    for _ in range(settings):
        events, runs = one_chain(rng, method)
        count = len(events)
        accountant = Accountant(events=events)
        present = int(rng.integers(1, count))
        erased = int(rng.integers(present + 1, count + 1)) if rng.random() < 0.7 else None
        observed = [n for n in range(1, count + 1) if rng.random() < 0.6]
        about, adjacency = (
            ("dp", ["replace", "zero-out"][rng.integers(2)])
            if erased is None
            else ("deletion", ["erased-vs-never", "pairwise"][rng.integers(2)])
        )
        facts = events[0].mechanism
        truth = squared_mu(
            runs,
            gap=GAPS[adjacency] * facts.lipschitz * facts.rows_per_subject,
            present_from=present,
            erased_at=erased,
            observed=observed,
        )
        if about == "dp":
            bound = accountant.dp_cumulative(observed, present_from=present, adjacency=adjacency)
        else:
            bound = accountant.deletion(present, erased, observed, notion=adjacency)
        value = 2 * bound.total_rate
        where = (present, erased, observed, [(event.kind, event.steps) for event in events])
        assert value >= truth * (1 - 1e-10), f"below the truth: {value} < {truth} for {where}"
        if method == "noisy-gd-tight" and hidden_steps_before(events, present, observed) == 0:
            assert value <= truth * (1 + 1e-9) + 1e-300, f"not tight: {value} > {truth} for {where}"
            tight += truth > 0
        else:
            loose += value > truth * (1 + 1e-9)
    return tight, loose


def changing_plans(settings=40, seed=1):
    """Histories with a new plan (own η, σ², n, L) at each relearn: the cost is the sum of the exact chains."""
    rng = np.random.default_rng(seed)
    for _ in range(settings):
        events, runs = random_history(rng)
        observed = [n for n in range(1, len(events) + 1) if rng.random() < 0.7]
        starts = [i for i, event in enumerate(events) if event.kind != "unlearn"] + [len(events)]
        truth = 0.0
        for begin, end in itertools.pairwise(starts):
            facts = events[begin].mechanism
            truth += squared_mu(
                runs[begin:end],
                gap=2 * facts.lipschitz * facts.rows_per_subject,
                present_from=1,
                erased_at=None,
                observed=[n - begin for n in observed if begin < n <= end],
            )
        bound = Accountant(events=events).dp_cumulative(observed, adjacency="replace").gdp_squared
        assert math.isclose(bound, truth, rel_tol=1e-9, abs_tol=1e-300), (bound, truth)


def printed_rates(settings=60, seed=2):
    """Theorem 5.1's certificate against G.9 and G.15 in 50 digits: (Δ²/(λσ²n²))(1 − e^{−ληT/2}) e^{−ληK/2}."""
    rng = np.random.default_rng(seed)
    for _ in range(settings):
        eta, lam, sigma2, lipschitz = (rng.uniform(*ends) for ends in ((0.01, 0.5), (0.01, 1), (0.01, 9), (0.1, 9)))
        n, learn, delete = (int(rng.integers(*ends)) for ends in ((2, 10**6), (1, 400), (1, 400)))
        q = rng.uniform(1.1, 64)
        facts = PaperNoisyGDRun(
            records=n, step_size=eta, noise_variance=sigma2, strong_convexity=lam, lipschitz=lipschitz
        )
        accountant = Accountant(events=[Event("learn", learn, 0, facts), Event("unlearn", delete, 1, facts)])
        with mpmath.workdps(50):
            step, curve, noise, bound = map(mpmath.mpf, (eta, lam, sigma2, lipschitz))
            decay = mpmath.exp(-curve * step * delete / 2)
            truth = (
                mpmath.mpf(q) * bound**2 / (curve * noise * n**2) * (1 - mpmath.exp(-curve * step * learn / 2)) * decay
            )
        bound = accountant.deletion(1, 2, [2], notion="erased-vs-never").renyi(q)
        assert abs(bound / truth - 1) < 1e-11, (bound, truth)


def gaussian_conversions(settings=150, seed=3):
    """δ(ε), ε(δ), advantage and trade-off of μ-GDP against 60 digits: never below (above), within 1e-9."""
    rng = np.random.default_rng(seed)
    for _ in range(settings):
        mu = float(10 ** rng.uniform(-6, 3))
        tail = rng.uniform(max(-mu / 2, -6), 36)
        epsilon = float((tail + mu / 2) * mu)
        truth = gaussian_dp.delta(mu, epsilon)
        guarantee = Guarantee("dp", "replace", gdp_squared=mu * mu)
        log_bound = gaussian.gdp_log_delta(mu=mu, epsilon=epsilon)
        with mpmath.workdps(60):
            excess = log_bound - mpmath.log(truth)
        assert 0 <= excess <= 1e-9, (mu, epsilon, excess)
        delta = float(truth)
        if 1e-300 < delta < 0.99:
            bound = guarantee.epsilon(delta)
            # the exact ε lies below the bound, and less than 1e-9 below it (of μ, where ε itself vanishes)
            assert gaussian_dp.delta(mu, bound) <= delta, (mu, delta, bound)
            lower = bound * (1 - 1e-9) - 1e-9 * mu
            assert lower <= 0 or gaussian_dp.delta(mu, lower) > delta, (mu, delta, bound)
        alpha = float(10 ** rng.uniform(-12, -0.01))
        exact, bound = gaussian_dp.false_negative(mu, alpha), guarantee.tradeoff(alpha)
        assert exact * (1 - 1e-9) - mpmath.mpf("1e-300") <= bound <= exact, (mu, alpha, bound, exact)
        exact, bound = gaussian_dp.advantage(mu), gaussian.gdp_advantage(mu=mu)
        assert min(exact, 1) <= bound <= exact * (1 + 1e-9)


def renyi_conversions(settings=150, seed=4):
    """Mironov and Canonne et al. against 60 digits; the optimal conversion against the worst pair of coins."""
    rng = np.random.default_rng(seed)
    for _ in range(settings):
        order, cost = 1 + float(10 ** rng.uniform(-2, 2.5)), float(10 ** rng.uniform(-6, 2))
        delta = float(10 ** rng.uniform(-300, -0.1))
        given = {"order": order, "renyi": cost, "delta": delta}
        for function, oracle in (
            (renyi.renyi_epsilon_mironov, gaussian_dp.mironov),
            (renyi.renyi_epsilon, gaussian_dp.canonne),
        ):
            exact, bound = oracle(order, cost, delta), function(**given)
            scale = cost - math.log(delta) / (order - 1)
            assert exact <= bound <= exact + 1e-12 * scale, (function.__name__, given, bound, exact)
        optimal = renyi.renyi_epsilon_optimal(**given)
        assert optimal <= renyi.renyi_epsilon(**given)
        assert (
            optimal == 0
            or renyi.renyi_log_delta_optimal(order=order, renyi=cost, epsilon=optimal) <= math.log(delta) + 1e-6
        )


def optimal_against_coins(settings=60, seed=6):
    """Coins within ε_q of each other, drawn at random on the boundary, stay below δ(ε); the worst nearly attains it."""
    rng = np.random.default_rng(seed)
    for _ in range(settings):
        order, cost, epsilon = (
            1 + float(10 ** rng.uniform(-1, 1.2)),
            float(10 ** rng.uniform(-2.5, 0)),
            float(rng.uniform(0, 1)),
        )
        bound = math.exp(renyi.renyi_log_delta_optimal(order=order, renyi=cost, epsilon=epsilon))
        worst = 0.0
        for q in np.concatenate([np.geomspace(1e-6, 0.5, 60), np.linspace(0.5, 0.999, 30)]):
            low, high = q, 1.0  # p on the boundary, by bisection
            for _ in range(50):
                p = (low + high) / 2
                if p**order * q ** (1 - order) + (1 - p) ** order * (1 - q) ** (1 - order) <= math.exp(
                    (order - 1) * cost
                ):
                    low = p
                else:
                    high = p
            worst = max(worst, low - math.exp(epsilon) * q)
        assert worst <= bound, (order, cost, epsilon, worst, bound)
        assert bound <= 1.05 * worst + 1e-4, (order, cost, epsilon, worst, bound)


def composition(seed=5):
    """k at once equals once k times, for every kind of event, in the answer and against k times the divergence."""

    facts = NoisyGDRun(records=20, step_size=0.3, noise_variance=0.7, strong_convexity=0.4, lipschitz=1.5)
    printed = PaperNoisyGDRun(records=20, step_size=0.3, noise_variance=0.7, strong_convexity=0.4, lipschitz=1.5)
    for kind, mechanism in (
        ("learn", facts),
        ("relearn", facts),
        ("unlearn", facts),
        ("unlearn", printed),
        ("extractor", SampledGaussian(records=20, sampling_rate=0.1, noise_multiplier=1.3)),
    ):
        event = Event(kind, 5, 1, mechanism)
        begin = [] if kind in ("learn", "extractor") else [Event("learn", 3, 0, mechanism)]
        before = Accountant(events=begin).dp_cumulative().renyi(4) if begin else 0.0
        together, apart = Accountant(events=begin), Accountant(events=begin)
        together.record(event, times=100)
        for _ in range(100):
            apart.record(event)
        assert together.events == apart.events
        assert together.dp_cumulative() == apart.dp_cumulative(), kind
        once = Accountant(events=[*begin, event]).dp_cumulative().renyi(4) - before
        assert math.isclose(together.dp_cumulative().renyi(4) - before, 100 * once, rel_tol=1e-9), kind
        part = mechanism.interval("dp", "replace", steps_with=5)
        assert math.isclose(part.times(100).renyi(4), 100 * part.renyi(4), rel_tol=1e-12)


def listed_orders():
    """A Rényi bound at listed orders covers smaller orders, never larger ones."""
    guarantee = Guarantee("deletion", "erased-vs-never", points=((2.0, 0.1), (8.0, 0.9)))
    assert guarantee.renyi(2) == 0.1
    assert guarantee.renyi(1.5) == 0.1
    assert guarantee.renyi(3) == 0.9
    assert guarantee.renyi(9) == math.inf


def fill(gate, event, most=10_000):
    """Admit the event until the filter refuses it. A filter that never does is a fault, and not a hang."""
    for _ in range(most):
        if not gate.allows(event):
            return
        gate.admit(event)
    raise AssertionError(f"the filter still admits after {most} releases")
