"""Comparison of all methods on one table at one guarantee for the erased record: cost, state and leakage.

Times are CPU times, as ratios to one plain gradient step on the same table in the same run. The time of a deletion
starts after the erasure of the row, which is the same for every method, and ends with the new model: preparation for
the next request is counted in evaluations, not in time.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from noisygd_delete.engine import Objective
from noisygd_delete.records import EditRequest, Records

from . import adversaries
from .base import Baseline, Erased, Held, erasure
from .calibrated import Setting, accuracy, line_up, title
from .certified_removal import CertifiedRemoval
from .langevin import LangevinUnlearning
from .noisy_gd import NoisyGD, PrivateRetraining

LONGEST = 5_000  # most gradient steps of a deletion that is run; longer ones are only counted


@dataclass(frozen=True)
class ComparisonRow:
    """Result of one method; times in plain gradient steps on the same table, None if not measured."""

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
    two_releases_verdict: str | None
    adaptive: float | None
    adaptive_verdict: str | None
    guarantees: str
    does_not_guarantee: str
    secret_state: str

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@contextmanager
def _clock(times: list[float]) -> Iterator[None]:
    start = time.process_time()  # CPU time: other load on the machine does not affect the ratios
    yield
    times.append(time.process_time() - start)


def _plain_steps(setting: Setting, records: Records, count: int) -> float:
    objective = Objective(records, setting.loss, regularization=setting.regularization)
    weights = np.zeros((setting.loss.outputs, records.features.shape[1]))
    times: list[float] = []
    for _ in range(count):
        with _clock(times):
            weights -= 0.1 * objective.gradient(weights)
    return statistics.median(times)


def measure(
    method: Baseline,
    setting: Setting,
    train: Records,
    test: Records,
    rng: np.random.Generator,
    attacked: Baseline | None,
) -> ComparisonRow:
    """Measure one method: learn, delete, count, and attack.

    Args:
        method: The method.
        setting: Setting of the comparison.
        train: Training table.
        test: Test table.
        rng: Source of randomness.
        attacked: The method calibrated to `attack_rows` records, to attack; None skips the attacks.
    """
    table = train.copy()
    unit = [_plain_steps(setting, table, 20)]
    learn_times: list[float] = []
    with _clock(learn_times):
        learned = method.learn(table, rng)
    held = method.prepare(table, learned)
    steps = method.delete_steps if isinstance(method, NoisyGD) else 0
    delete_times: list[float] = []
    work: list[Held] = []
    names = list(rng.permutation(np.array(table.ids, dtype=object)))
    if steps <= LONGEST:
        for name in names[: setting.deletions]:
            gone = _erase(table, name)
            with _clock(delete_times):
                held = method.forget(table, gone, held, rng)
            work.append(held := method.prepare(table, held))
    unit.append(_plain_steps(setting, table, 20))
    plain = statistics.median(unit)
    lasts, extrapolated = _until_retrain(method, setting, table, names[setting.deletions :], held, rng)
    certificate = method.certificate(learned)
    row = ComparisonRow(
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
        two_releases_verdict=None,
        adaptive=None,
        adaptive_verdict=None,
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
    method: Baseline, setting: Setting, table: Records, names: list[Any], held: Held, rng: np.random.Generator
) -> tuple[float | None, bool]:
    """Return the number of removals before certified removal must retrain, and whether it is extrapolated.

    It is extrapolated from the residual spent after `removals` removals; None for other methods.
    """
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


def _attack(
    row: ComparisonRow, method: Baseline, setting: Setting, train: Records, rng: np.random.Generator
) -> ComparisonRow:
    records = subsample(train, setting.attack_rows)
    facts: dict[str, Any] = {"loss": setting.loss, "regularization": setting.regularization, "rng": rng}
    two = adversaries.which_was_erased(method, records, **facts, candidates=setting.attack_trials)
    adaptive = adversaries.attack_by_requests(
        method, records, **facts, group=records.slots // 10, trials=setting.attack_trials
    )
    return replace(
        row,
        two_releases=two.rate,
        two_releases_verdict=two.verdict,
        adaptive=adaptive.rate,
        adaptive_verdict=adaptive.verdict,
    )


def subsample(records: Records, rows: int) -> Records:
    """Return the first `rows` records as a separate table."""
    used = np.flatnonzero(records.occupied)[:rows]
    return Records(records.features[used], records.labels[used])


def _like_the_first(method: Baseline) -> bool:
    """Return whether it publishes the first row's noisy gradient descent, with as much noise or more steps."""
    return isinstance(method, (LangevinUnlearning, PrivateRetraining)) or (
        type(method) is NoisyGD and bool(method.plan.dp.rate)
    )


def compare(
    setting: Setting,
    train: Records,
    test: Records,
    *,
    rng: np.random.Generator,
    attack: bool = True,
    progress: Callable[[str], None] = lambda _: None,
) -> list[ComparisonRow]:
    """Return one row per method, in the order of `line_up`.

    Args:
        setting: Setting of the comparison.
        train: Training table.
        test: Test table.
        rng: Source of randomness.
        attack: Whether to run the attacks.
        progress: Called with the name of each method before it runs.
    """
    methods = line_up(setting, train, test, rng)
    victims: dict[str, Baseline] = {}
    if attack:  # a method without a calibration for this few records is not attacked
        small = subsample(train, setting.attack_rows)
        victims = {title(one): one for one in line_up(setting, small, test, rng) if not _like_the_first(one)}
    rows = []
    for method in methods:
        progress(title(method))
        rows.append(measure(method, setting, train, test, rng, victims.get(title(method))))
    return rows
