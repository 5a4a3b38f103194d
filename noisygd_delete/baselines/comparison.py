"""All methods on one table at one promise for the erased record: what each costs, keeps and leaks.

Times are ratios to one plain gradient step on the same table, taken in the same run; the clock starts after the erasure of
the row, which is the same for every method.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from ..budget import Budget
from ..errors import MissingDependency
from ..gradient import Objective
from ..losses.base import Loss
from ..planner import make_plan
from ..records import EditRequest, Records
from . import exposure
from .accelerated import NoisyAcceleratedSGD
from .ascent import GradientAscent
from .base import Erased, Held, Method, erasure
from .certified_removal import CertifiedRemoval
from .chien import LangevinUnlearning, NoisySGDUnlearning
from .dp_sgd import DPSGD
from .local import LocalRandomisation
from .noisy_gd import NoisyGD
from .output_perturbation import OutputPerturbation
from .perturbed_gd import PerturbedGD, PublishedPerturbedGD
from .retraining import PrivateRetraining, Retraining
from .sisa import SISA
from .solver import minimise

LONGEST = 20_000  # gradient steps of one deletion that are run; longer ones are counted, not run
CLOSE = 0.01  # noise scales are the largest that cost at most this much accuracy


@dataclass(frozen=True)
class Setting:
    """What is compared: the loss, λ, and the two promises at one δ."""

    loss: Loss
    regularization: float
    deletion: float
    dp: float
    delta: float
    deletions: int = 5
    removals: int = 300
    attack_rows: int = 600
    attack_trials: int = 40


@dataclass(frozen=True)
class Row:
    """One method's line. Times are in plain gradient steps on the same table; a field that was not measured is None."""

    method: str
    deletion: float | None
    existing: float | None
    accuracy: float
    accuracy_after: float | None
    learn_gradients: int
    delete_gradients: float
    delete_hessians: float
    learn_time: float
    delete_time: float | None
    until_retrain: float | None
    until_retrain_extrapolated: bool
    private: bool
    stateless: bool
    memory: int
    two_releases: float | None
    two_releases_survives: bool | None
    adaptive: float | None
    adaptive_survives: bool | None
    guarantees: str
    does_not_guarantee: str
    secret_state: str

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def accuracy(loss: Loss, weights: np.ndarray[Any, Any], records: Records) -> float:
    """Share of occupied slots predicted right."""
    used = records.occupied
    scores = records.features[used].astype(np.float64) @ weights.T
    return float((loss.predict(scores, np) == records.labels[used]).mean())


def largest_harmless(candidates: list[float], score: Callable[[float], float], reference: float) -> float:
    """The largest candidate whose score is within `CLOSE` of the reference; the smallest if none is."""
    good = [candidate for candidate in candidates if score(candidate) >= reference - CLOSE]
    return max(good, default=min(candidates))


def line_up(setting: Setting, train: Records, test: Records, rng: np.random.Generator) -> list[Method]:
    """Every baseline, calibrated to the setting. Noise scales that no theorem fixes are chosen on the test records."""
    loss, n, d = setting.loss, train.slots, train.features.shape[1]
    same: dict[str, Any] = {"regularization": setting.regularization}
    erased: dict[str, Any] = {"epsilon": setting.deletion, "delta": setting.delta}
    existing: dict[str, Any] = {"epsilon": setting.dp, "delta": setting.delta}
    outputs = loss.outputs
    optimum = minimise(train, loss, **same).weights
    best = accuracy(loss, optimum, test)
    grid = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0]

    def mean(score: Callable[[], float]) -> float:
        return statistics.mean(score() for _ in range(5))

    published = largest_harmless(
        grid, lambda s: mean(lambda: accuracy(loss, optimum + s * rng.standard_normal(optimum.shape), test)), best
    )
    removal: dict[str, Any] = {**same, **erased, "classes": outputs}

    def after_newton(noise: float) -> float:
        learned = CertifiedRemoval(**removal, noise=noise).learn(train, rng)
        return accuracy(loss, learned.weights, test)

    perturbed = largest_harmless([0.3, 1.0, 3.0, 10.0, 30.0], after_newton, after_newton(1e-3))
    sgd: dict[str, Any] = {**same, "batch": min(64, n // 4), "steps": 300}

    def after_sgd(noise: float) -> float:
        return accuracy(loss, NoisyAcceleratedSGD(loss, **sgd, noise=noise).learn(train, rng).weights, test)

    batch_noise = largest_harmless([0.003, 0.01, 0.03, 0.1, 0.3], after_sgd, after_sgd(1e-4))
    plans = {
        certificate: make_plan(
            loss,
            records=n,
            features=d,
            **same,
            budget=Budget.from_epsilon_delta(
                dp=(setting.dp, setting.delta), deletion=(setting.deletion, setting.delta)
            ),
            certificate=certificate,
            utility=False,
        )
        for certificate in ("sharp", "theorem")
    }
    sharp = plans["sharp"]
    sized: dict[str, Any] = {"records": n, "features": d}
    methods: list[Method] = [
        NoisyGD(sharp, delta=setting.delta),
        NoisyGD(plans["theorem"], delta=setting.delta),
        LangevinUnlearning(sharp, **erased),
        NoisySGDUnlearning(sharp, **erased),
        PrivateRetraining(sharp, delta=setting.delta),
        Retraining(loss, **same),
        CertifiedRemoval(**removal, noise=perturbed),
        PerturbedGD(loss, **same, **sized, **erased, noise_limit=published),
        PublishedPerturbedGD(loss, **same, **sized, **erased, noise_limit=published),
        NoisyAcceleratedSGD(loss, **sgd, noise=batch_noise),
        SISA(loss, **same, shards=5, slices=4, steps=100),
        OutputPerturbation(loss, **same, records=n, **existing),
        LocalRandomisation(loss, **same, **existing),
        GradientAscent(loss, **same),
    ]
    try:
        methods.insert(-2, DPSGD(loss, **same, records=n, **existing, batch=max(32, n // 20), steps=200))
        methods.insert(-2, DPSGD(loss, **same, records=n, **erased, batch=max(32, n // 20), steps=200))
    except MissingDependency:
        pass  # the table then has no DP-SGD rows
    return methods


def title(method: Method) -> str:
    """The method's name, told apart where two settings of it run."""
    if type(method) is NoisyGD:
        return f"Noisy-GD, {method.plan.certificate}"
    if isinstance(method, DPSGD):
        return f"{method.name} (ε={method.epsilon:g})"
    return method.name


@contextmanager
def _clock(times: list[float]) -> Iterator[None]:
    start = time.perf_counter()
    yield
    times.append(time.perf_counter() - start)


def _plain_steps(setting: Setting, records: Records, count: int) -> float:
    objective = Objective(records, setting.loss, regularization=setting.regularization)
    weights = np.zeros((setting.loss.outputs, records.features.shape[1]))
    times: list[float] = []
    for _ in range(count):
        with _clock(times):
            weights -= 0.1 * objective.gradient(weights)
    return statistics.median(times)


def measure(
    method: Method, setting: Setting, train: Records, test: Records, rng: np.random.Generator, attacked: Method | None
) -> Row:
    """Learn, delete, count, and (on `attack_rows` of the records, with `attacked` calibrated to them) attack."""
    table = train.copy()
    unit = [_plain_steps(setting, table, 20)]
    learn_times: list[float] = []
    with _clock(learn_times):
        learned = held = method.learn(table, rng)
    steps = method.plan.delete_steps if isinstance(method, NoisyGD) else 0
    delete_times: list[float] = []
    work: list[Held] = []
    names = list(rng.permutation(np.array(table.ids, dtype=object)))
    if steps <= LONGEST:
        for name in names[: setting.deletions]:
            gone = _erase(table, name)
            with _clock(delete_times):
                held = method.forget(table, gone, held, rng)
            work.append(held)
    unit.append(_plain_steps(setting, table, 20))
    plain = statistics.median(unit)
    lasts, extrapolated = _until_retrain(method, setting, table, names[setting.deletions :], held, rng)
    certificate = method.certificate(learned)
    row = Row(
        method=title(method),
        deletion=certificate.deletion[0] if certificate.deletion else None,
        existing=certificate.existing[0] if certificate.existing else None,
        accuracy=accuracy(setting.loss, learned.weights, test),
        accuracy_after=accuracy(setting.loss, held.weights, test) if work else None,
        learn_gradients=learned.gradient_evaluations,
        delete_gradients=statistics.mean(h.gradient_evaluations for h in work) if work else float(steps * table.slots),
        delete_hessians=statistics.mean(h.hessian_evaluations for h in work) if work else 0.0,
        learn_time=learn_times[0] / plain,
        delete_time=statistics.median(delete_times) / plain if work else None,
        until_retrain=lasts,
        until_retrain_extrapolated=extrapolated,
        private=method.private,
        stateless=method.stateless,
        memory=held.memory,
        two_releases=None,
        two_releases_survives=None,
        adaptive=None,
        adaptive_survives=None,
        guarantees=method.guarantees,
        does_not_guarantee=method.does_not_guarantee,
        secret_state=method.secret_state,
    )
    return row if attacked is None else _attack(row, attacked, setting, train, rng)


def _erase(table: Records, name: Any) -> Erased:
    request = EditRequest.delete([name])
    gone = erasure(table, request)
    table.edit(request)
    return gone


def _until_retrain(
    method: Method, setting: Setting, table: Records, names: list[Any], held: Held, rng: np.random.Generator
) -> tuple[float | None, bool]:
    """Removals before certified removal must learn afresh; after `removals` of them, extrapolated from what was spent."""
    if not isinstance(method, CertifiedRemoval):
        return None, False
    start = method.learn(table, rng)
    held, count = start, 0
    for name in names[: setting.removals]:
        held = method.forget(table, _erase(table, name), held, rng)
        if held.retrained:
            return float(count), False
        count += 1
    spent = held.secret["spent"] - start.secret["spent"]
    return count * (method.budget - start.secret["spent"]) / spent, True


def _attack(row: Row, method: Method, setting: Setting, train: Records, rng: np.random.Generator) -> Row:
    records = subsample(train, setting.attack_rows)
    facts: dict[str, Any] = {
        "loss": setting.loss,
        "regularization": setting.regularization,
        "trials": setting.attack_trials,
    }
    two = exposure.which_was_erased(method, records, **facts, rng=rng)
    told = exposure.told_by_requests(method, records, **facts, group=records.slots // 10, rng=rng)
    return replace(
        row,
        two_releases=two.rate,
        two_releases_survives=two.survives,
        adaptive=told.rate,
        adaptive_survives=told.survives,
    )


def subsample(records: Records, rows: int) -> Records:
    """The first `rows` records as a table of their own."""
    used = np.flatnonzero(records.occupied)[:rows]
    return Records(records.features[used], records.labels[used])


def compare(
    setting: Setting,
    train: Records,
    test: Records,
    *,
    rng: np.random.Generator,
    attack: bool = True,
    told: Callable[[str], None] = lambda _: None,
) -> list[Row]:
    """One row per method, in the order of `line_up`. `told` hears which method runs."""
    methods = line_up(setting, train, test, rng)
    victims: list[Method | None] = [None] * len(methods)
    if attack:
        small = subsample(train, setting.attack_rows)
        victims = [
            None if isinstance(victim, (LangevinUnlearning, PrivateRetraining)) else victim
            for victim in line_up(setting, small, test, rng)
        ]
    rows = []
    for method, victim in zip(methods, victims, strict=True):
        told(title(method))
        rows.append(measure(method, setting, train, test, rng, victim))
    return rows
