"""The learner A and the unlearner Ā as pure functions, and the curator that runs them in sequence.

Between releases the curator keeps the current records, the last published model and public facts. Nothing else: no
optimiser state, no cached sum, no generator, no statistic of the data.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .accountant import Accountant, Event
from .errors import AssumptionViolated, BudgetExceeded, InvalidParameter, InvalidRecords, InvalidRequest, NotLearned
from .gradient import Objective, check_records
from .guarantee import Guarantee
from .losses.base import Loss
from .noise import Noise, noise_source
from .noisygd import Progress, Weights, initial_weights, on_grid, publication_grid, run
from .plan import Plan
from .records import EditRequest, Id, Records
from .solver import solve


@dataclass(frozen=True)
class Model:
    """A published model. `weights` is read-only float64: (features,), or (outputs, features) for several outputs.

    `certified` is False where the noise came from a caller's generator: such a model is for research.
    """

    weights: NDArray[np.float64]
    loss: Loss
    certified: bool

    def scores(self, features: ArrayLike) -> NDArray[np.float64]:
        """Wx per row: (rows, outputs)."""
        rows = np.asarray(features, dtype=np.float64)
        return np.asarray(rows @ np.atleast_2d(self.weights).T)

    def predict(self, features: ArrayLike) -> NDArray[np.float64]:
        """Labels in the table's own coding: −1/+1, class numbers, or targets."""
        labels: NDArray[np.float64] = self.loss.predict(self.scores(features), np)
        return labels

    def accuracy(self, records: Records) -> float:
        """Share of occupied slots predicted right. On private records this is a statistic of them: do not publish it."""
        used = records.occupied
        return float((self.predict(records.features[used]) == records.labels[used]).mean())


@dataclass(frozen=True)
class Release:
    """What one call published, or withheld.

    status           "published", or "withheld": rows edited, publication refused by the budget
    gradient_passes  full passes over the table that it took, and `seconds`: with start="minimiser" both depend on private
                     data, so they are for the caller and never for the ledger
    guarantees       "dp" (this release alone), "deletion" (Definition 4.1 for what it erased), "dp_cumulative"
    model            None when withheld
    """

    release: int
    kind: str
    steps: int
    gradient_passes: int
    edits: int
    guarantees: Mapping[str, Guarantee]
    model: Model | None = field(repr=False)
    status: str = "published"
    request_id: str | None = None
    seconds: float = 0.0

    @property
    def guarantee(self) -> Guarantee:
        """What this call was made for: deletion where it erased something, dp for a learn."""
        return self.guarantees.get("deletion", self.guarantees["dp_cumulative" if self.model is None else "dp"])

    def to_dict(self) -> dict[str, Any]:
        """JSON answer to the caller; all but gradient_passes and seconds are public facts."""
        return {
            "release": self.release,
            "kind": self.kind,
            "status": self.status,
            "steps": self.steps,
            "edits": self.edits,
            "gradient_passes": self.gradient_passes,
            "seconds": self.seconds,
            "certified": None if self.model is None else self.model.certified,
            "request_id": self.request_id,
            "guarantees": {name: guarantee.to_dict() for name, guarantee in self.guarantees.items()},
        }


def check_fit(records: Records, plan: Plan) -> None:
    """Raise unless the table is the one the plan was made for: n, features, labels, row norms, rows per subject."""
    if records.slots != plan.records:
        raise AssumptionViolated(
            f"the table has {records.slots} slots and the plan records={plan.records}; n is part of the noise: plan for this n"
        )
    if records.features.shape[1] != plan.features:
        raise AssumptionViolated(
            f"the table has {records.features.shape[1]} features and the plan features={plan.features} (count the constant column)"
        )
    rows = records.rows_per_subject
    if rows > plan.problem.rows_per_subject:
        raise AssumptionViolated(
            f"a data subject has {rows} rows and the plan rows_per_subject={plan.problem.rows_per_subject}; plan with "
            f"rows_per_subject={rows}, or keep fewer rows of each person"
        )
    check_records(records, plan.loss)


def check_edit(records: Records, plan: Plan, request: EditRequest) -> None:
    """Raise `InvalidRequest` unless the request can be carried out and its new rows are ones the plan covers."""
    if not (request.replacements or request.insertion):
        records.resolve(request)
        return
    try:
        check_fit(records.apply(request), plan)
    except (AssumptionViolated, InvalidRecords) as error:
        raise InvalidRequest(f"the new rows do not fit the plan; nothing was changed: {error}") from error


@dataclass(frozen=True)
class Training:
    """A model and what it cost: full passes over the table and seconds, which may depend on private data."""

    model: Model
    gradient_passes: int
    seconds: float


def _train(
    records: Records,
    plan: Plan,
    steps: int,
    published: Weights | None,
    rng: np.random.Generator | None,
    progress: Progress | None,
) -> Training:
    """The run every release is made of: a start, then Noisy-GD. `published` is None for a learn."""
    check_fit(records, plan)
    began = time.perf_counter()
    noise, passes = noise_source(rng), steps
    if plan.problem.start == "minimiser":
        solution = solve(
            Objective(records, plan.loss, regularization=plan.regularization, dtype="float64"),
            start=published if plan.problem.solver == "warm" else None,
            tolerance=plan.gradient_tolerance,
            strong_convexity=plan.problem.strong_convexity,
            objective_smoothness=plan.problem.objective_smoothness,
            fixed=plan.problem.solver == "fixed",
        )
        start, passes = solution.weights, passes + solution.gradient_passes
    elif published is None:
        start = initial_weights(plan.shape, init_variance=plan.init_variance, noise=noise)
    else:
        start = published
    model = _descend(start, records, plan, steps, noise, progress)
    return Training(model, passes, time.perf_counter() - began)


def _descend(
    start: Weights, records: Records, plan: Plan, steps: int, noise: Noise, progress: Progress | None
) -> Model:
    objective = Objective(records, plan.loss, regularization=plan.regularization, dtype=plan.problem.dtype)
    scale = {"step_size": plan.step_size, "noise_variance": plan.noise_variance}
    weights = run(start, objective.gradient, steps=steps, noise=noise, progress=progress, **scale)
    if not np.isfinite(weights).all():
        raise AssumptionViolated(
            "the weights overflowed; the step size is too large for this loss, plan it with make_plan"
        )
    published = on_grid(weights, publication_grid(**scale))
    published = published[0] if plan.loss.outputs == 1 else published
    return Model(weights=published, loss=plan.loss, certified=noise.certified)


def learn(
    records: Records, plan: Plan, rng: np.random.Generator | None = None, progress: Progress | None = None
) -> Model:
    """A(D): K_A steps of Noisy-GD from the initial law ρ (or from the minimiser, if the plan says so).

    Args:
        rng: None for certified noise; a `numpy.random.Generator` for research (the model is then not certified).
        progress: told the number of steps done.

    Raises:
        AssumptionViolated, InvalidRecords: the table is not the one the plan was made for.
    """
    return _train(records, plan, plan.learn_steps, None, rng, progress).model


def resume(
    records: Records, model: Model, plan: Plan, rng: np.random.Generator | None = None, progress: Progress | None = None
) -> Model:
    """K_Ā steps of Noisy-GD on `records` from a published model: Ā once the request has been applied."""
    return _resume(records, model, plan, rng, progress).model


def _resume(
    records: Records, model: Model, plan: Plan, rng: np.random.Generator | None, progress: Progress | None
) -> Training:
    start = np.atleast_2d(model.weights)
    if start.shape != plan.shape or not np.isfinite(start).all():
        raise InvalidParameter(
            f"the model has weights of shape {model.weights.shape}; the plan needs finite {plan.shape}"
        )
    training = _train(records, plan, plan.delete_steps, start, rng, progress)
    certified = training.model.certified and model.certified
    return replace(training, model=replace(training.model, certified=certified))


def unlearn(
    records: Records,
    request: EditRequest,
    model: Model,
    plan: Plan,
    rng: np.random.Generator | None = None,
    progress: Progress | None = None,
) -> Model:
    """Ā(D, u, θ) = resume(D ∘ u, θ). `records` is left as it was; erase the caller's own copy too."""
    return resume(records.apply(request), model, plan, rng, progress)


class Curator:
    """Runs A and Ā in sequence on one table, in memory. The table is edited in place: an erased row is gone at once.

    Args:
        records: the table; the curator owns it from here on.
        plan: from `make_plan`.
    """

    def __init__(self, records: Records, plan: Plan) -> None:
        check_fit(records, plan)
        self.records = records
        self.plan = plan
        self.accountant = Accountant(plan)
        self.pending_edits = 0
        self._model: Model | None = None
        self._answered: dict[str, Release] = {}
        self._waiting: list[str] = []  # request ids whose rows are edited and whose release is still to come

    @classmethod
    def restored(
        cls, records: Records, plan: Plan, *, events: Iterable[Event], model: Model | None, pending_edits: int
    ) -> Curator:
        """A curator in the state that these facts describe: all that may persist between releases."""
        curator = cls(records, plan)
        curator.accountant = Accountant(plan, events)
        curator.pending_edits = pending_edits
        curator._model = model
        return curator

    @property
    def model(self) -> Model:
        """The last published model.

        Raises:
            NotLearned: before `learn`, or when the last model was withdrawn because edits could not be published.
        """
        if self._model is None:
            raise NotLearned("there is no current model: call learn() first, or relearn() after a withheld release")
        return self._model

    def learn(self, rng: np.random.Generator | None = None, progress: Progress | None = None) -> Release:
        """Train from the initial law and publish. A second call is a fresh, charged release.

        Raises:
            BudgetExceeded: with the numbers; nothing was published.
        """
        kind = "relearn" if self.accountant.events else "learn"
        event = Event(kind, self.plan.learn_steps, self.pending_edits, self.plan.mechanism)
        if not self.accountant.affordable(event):
            raise BudgetExceeded(self._refusal())
        training = _train(self.records, self.plan, event.steps, None, rng, progress)
        return self._publish(event, training, None)

    def relearn(
        self, plan: Plan | None = None, rng: np.random.Generator | None = None, progress: Progress | None = None
    ) -> Release:
        """Learn afresh, with a new plan if one is given: how a change of plan is made."""
        if plan is not None:
            check_fit(self.records, plan)
            self.plan = plan
            self.accountant = Accountant(plan, self.accountant.events)
        return self.learn(rng, progress)

    def serve(
        self,
        request: EditRequest,
        *,
        publish: bool = True,
        rng: np.random.Generator | None = None,
        progress: Progress | None = None,
    ) -> Release | None:
        """Carry out one request: edit the rows, then publish unless `publish=False` leaves that to a later call.

        A request_id that was answered before returns its release and costs nothing; one whose release is still to come
        returns None.
        """
        if request.request_id is not None and request.request_id in self._answered:
            return self._answered[request.request_id]
        if request.request_id is not None and request.request_id in self._waiting:
            return None
        if self._model is None and not self.accountant.events:
            raise NotLearned(
                "there is no model to delete from yet: call learn() first, or build Records without the rows"
            )
        check_edit(self.records, self.plan, request)
        self.pending_edits += self.records.edit(request)
        if publish:
            return self.publish(request.request_id, rng=rng, progress=progress)
        if request.request_id is not None:
            self._waiting.append(request.request_id)
        return None

    def publish(
        self,
        request_id: str | None = None,
        *,
        rng: np.random.Generator | None = None,
        progress: Progress | None = None,
    ) -> Release:
        """One release that covers every pending edit. Withheld, with the old model withdrawn, if the budget is spent."""
        event = Event("unlearn", self.plan.delete_steps, self.pending_edits, self.plan.mechanism)
        if self._model is None or not self.accountant.affordable(event):
            self._model = None
            spent = {"dp_cumulative": self.accountant.dp_cumulative()}
            number = len(self.accountant.events)
            return self._answer(
                Release(number, "unlearn", 0, 0, self.pending_edits, spent, None, "withheld", request_id)
            )
        return self._publish(event, _resume(self.records, self.model, self.plan, rng, progress), request_id)

    def delete(
        self,
        ids: Iterable[Id] = (),
        *,
        subjects: Iterable[Id] = (),
        request_id: str | None = None,
        rng: np.random.Generator | None = None,
        progress: Progress | None = None,
    ) -> Release:
        """Erase records by id, or all rows of the given subjects, and publish a model that forgot them."""
        return self._served(EditRequest.delete(ids, subjects=subjects, request_id=request_id), rng, progress)

    def replace(
        self,
        replacements: Mapping[Id, tuple[ArrayLike, float]],
        *,
        request_id: str | None = None,
        rng: np.random.Generator | None = None,
        progress: Progress | None = None,
    ) -> Release:
        """Put new content in place of records; what they held before is forgotten like a deleted record."""
        return self._served(EditRequest.replace(replacements, request_id=request_id), rng, progress)

    def insert(
        self,
        ids: Iterable[Id] | None,
        rows: ArrayLike,
        labels: ArrayLike,
        *,
        subjects: Iterable[Id] | None = None,
        request_id: str | None = None,
        rng: np.random.Generator | None = None,
        progress: Progress | None = None,
    ) -> Release:
        """Put new records into free slots and publish a model that has seen them."""
        request = EditRequest.insert(ids, rows, labels, subjects=subjects, request_id=request_id)
        return self._served(request, rng, progress)

    def _served(self, request: EditRequest, rng: np.random.Generator | None, progress: Progress | None) -> Release:
        release = self.serve(request, rng=rng, progress=progress)
        assert release is not None
        return release

    def _publish(self, event: Event, training: Training, request_id: str | None) -> Release:
        number = self.accountant.record(event)
        self._model, self.pending_edits = training.model, 0
        guarantees = {"dp": self.accountant.dp(), "dp_cumulative": self.accountant.dp_cumulative()}
        if event.edits:
            forgotten = event.mechanism.interval("deletion", self.plan.problem.deletion_notion, steps_with=0)
            guarantees["deletion"] = self.plan.deletion if event.kind == "unlearn" else forgotten
        release = Release(
            release=number,
            kind=event.kind,
            steps=event.steps,
            gradient_passes=training.gradient_passes,
            seconds=training.seconds,
            edits=event.edits,
            guarantees=guarantees,
            model=training.model,
            request_id=request_id,
        )
        return self._answer(release)

    def _answer(self, release: Release) -> Release:
        self._answered.update(dict.fromkeys(self._waiting, release))
        self._waiting.clear()
        if release.request_id is not None:
            self._answered[release.request_id] = release
        return release

    def _refusal(self) -> str:
        spent = self.accountant.remaining()
        return (
            f"publishing once more would exceed the budget of {spent.allowed}: {len(self.accountant.events)} releases are out. "
            "Plan afresh with a larger budget or more releases, and relearn"
        )
