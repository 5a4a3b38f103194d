"""Sums, samples and curvature over rows of every kind, however they are cut, against the same rows written out."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from noisygd_delete import EditRequest, Records, losses
from noisygd_delete.bounds.arithmetic import CHUNK
from noisygd_delete.engine import coded as lookup
from noisygd_delete.engine import content_order, execution, kernel
from noisygd_delete.engine import objective as objective_module
from noisygd_delete.engine import sample as sample_module
from noisygd_delete.engine import sums as module
from noisygd_delete.engine.coded import CodedSums
from noisygd_delete.engine.objective import Objective, PreciseObjective
from noisygd_delete.engine.sample import Sample
from noisygd_delete.engine.sums import HeldSums, SparseSums
from noisygd_delete.losses import Loss
from noisygd_delete.records import CodedRows

from ..bank import Part
from .test_nested import coded, rows_of
from .test_sparse import labels_for

N = 2 * CHUNK + 77
THIN = rows_of(N, 1)
WHOLE = THIN.toarray()
OWNERS = np.random.default_rng(2).integers(0, N // 2, N).tolist()
LOSSES = [
    losses.Logistic(1.0),
    losses.clip_loss(losses.PseudoHuber(1.0), 0.3),
    losses.with_class_weights(losses.Softmax(1.0, classes=3), [1.0, 0.2, 1.0]),
]
Patch = pytest.MonkeyPatch


def mapped(folder: Path, patch: Patch) -> np.ndarray:
    rows = np.memmap(folder / "rows", np.float32, mode="w+", shape=WHOLE.shape)
    rows[:] = WHOLE
    patch.setattr(kernel, "LIMIT", 2 * CHUNK * rows[0].nbytes)  # in windows of one chunk
    return rows


def without_implications(_: Path, patch: Patch) -> Any:
    patch.setattr(module, "nest_rows", lambda rows: None)
    return THIN


def as_codes(patch: Patch, *, looked_up: bool, skips_zeros: bool) -> Any:
    patch.setattr(module, "_EXPANDED", 0)
    patch.setattr(lookup, "LEAST_ROWS", 1 if looked_up else 1 << 62)
    return coded(THIN, skips_zeros=skips_zeros)


def compiled(_: Path, patch: Patch) -> np.ndarray:
    pytest.importorskip("numba", reason="the compiled kernel needs the extra `fast`")
    patch.setattr(kernel, "LEAST", 0)
    return WHOLE


# how each kind is made, and what sums its rows
KINDS: dict[str, tuple[Callable[[Path, Patch], Any], type]] = {
    "dense": (lambda _, patch: WHOLE, HeldSums),
    "compiled": (compiled, HeldSums),
    "mapped": (mapped, HeldSums),
    "sparse": (without_implications, SparseSums),
    "nested": (lambda _, patch: THIN, SparseSums),
    "codes": (lambda _, patch: as_codes(patch, looked_up=False, skips_zeros=True), SparseSums),
    "padded codes": (lambda _, patch: as_codes(patch, looked_up=False, skips_zeros=False), SparseSums),
    "expanded codes": (lambda _, patch: coded(THIN, skips_zeros=False), HeldSums),
    "looked up": (lambda _, patch: as_codes(patch, looked_up=True, skips_zeros=False), CodedSums),
}


def cut_unevenly(patch: Patch) -> None:
    """Pieces, blocks and tasks that divide neither the table nor each other, on three threads."""
    numbers = {"_CACHED": 100 * WHOLE.shape[1], "_LEAST": 1, "_TASK": 1}
    for place, given in ((module, numbers), (lookup, {"_BLOCK": 999, "_TASK": 1500, "_GROUPED": 333})):
        for name, value in given.items():
            patch.setattr(place, name, value)
    for place in (execution, kernel):
        patch.setattr(place, "thread_count", lambda numbers: 3)


def table(rows: Any, labels: np.ndarray, order: np.ndarray | None = None, *, persons: bool = False) -> Records:
    """The rows in this order, and free slots at the end of a table in memory."""
    chosen, order = rows, np.arange(N) if order is None else order
    if (np.diff(order) < 0).any():
        chosen = rows.select(order) if isinstance(rows, CodedRows) else rows[order]
    owners = np.array(OWNERS)[order].tolist() if persons else None
    return Records(chosen, labels[order], subjects=owners, slots=N + 3 * (not isinstance(rows, np.memmap)))


def shares(persons: bool) -> np.ndarray:
    """The weight of each row."""
    return (1 << 20) // np.bincount(OWNERS)[OWNERS] / (1 << 20) if persons else np.ones(N)


@cache
def exact_sum(loss: Loss, persons: bool) -> tuple[np.ndarray, np.ndarray]:
    """Weights, and Σ ∇ℓ there in 80-bit arithmetic, each row by its person's weight."""
    labels, weights = labels_for(loss, N), np.random.default_rng(3).standard_normal((loss.outputs, WHOLE.shape[1]))
    slopes = loss.derivative(WHOLE.astype(float) @ weights.T, labels.astype(int) if loss.outputs > 1 else labels, np)
    return weights, (slopes * shares(persons)[:, None]).T.astype(np.longdouble) @ WHOLE.astype(np.longdouble)


WAYS = [("whole", LOSSES[0]), *(("uneven", loss) for loss in LOSSES), ("by person", LOSSES[2])]


@pytest.mark.parametrize(
    ("kind", "way", "loss"),
    [(kind, *way) for kind in KINDS for way in WAYS if kind != "compiled" or way[1] is LOSSES[0]],
    ids=lambda one: getattr(one, "name", one),
)
def test_gradients_and_samples_are_those_of_the_rows(kind, way, loss, tmp_path, monkeypatch) -> None:
    make, held = KINDS[kind]
    persons = way == "by person"
    if way != "whole":
        cut_unevenly(monkeypatch)
    labels, (weights, total) = labels_for(loss, N), exact_sum(loss, persons)
    records = table(make(tmp_path, monkeypatch), labels, persons=persons)
    objective = PreciseObjective(records, loss, regularization=0.01, by_person=persons)
    if not persons:
        assert type(objective._sums) is held
        assert (getattr(objective._sums, "_kernel", None) is not None) == (kind == "compiled")
    exact = (total / records.slots + 0.01 * weights).astype(float)
    assert np.linalg.norm(objective.gradient(weights) - exact) <= objective.gradient_error(
        float(np.linalg.norm(weights))
    )
    np.testing.assert_allclose(objective.gradient(weights, "float32"), exact, rtol=0, atol=1e-6)
    part, own = objective.strided(37)
    chosen = slice(None, None, records.slots // 37 if part.shape[0] < 50 else 1)  # all, where products are cheap
    expected = np.vstack([WHOLE, np.zeros((records.slots - N, WHOLE.shape[1]))])[chosen]
    np.testing.assert_allclose(part @ np.eye(WHOLE.shape[1], dtype=np.float32), expected, rtol=0, atol=1e-6)
    sides = np.random.default_rng(4).standard_normal((2, len(expected))).astype(np.float32)
    np.testing.assert_allclose(sides @ part, sides @ expected, rtol=0, atol=1e-4)
    np.testing.assert_array_equal(own, np.append(labels, np.zeros(records.slots - N))[chosen].astype(own.dtype))


@pytest.mark.parametrize("persons", [False, True], ids=["by row", "by person"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kind", ["dense", "compiled", "mapped", "sparse", "codes", "expanded codes"])
def test_steps_are_taken_along_the_gradient_of_the_rows(kind, dtype, persons, tmp_path, monkeypatch) -> None:
    """For one model, and for several at a time over dense rows; and the value is that of the rows."""
    cut_unevenly(monkeypatch)
    monkeypatch.setattr(objective_module, "_CELLS", 1 << 14)
    for loss in LOSSES[:1] if kind == "compiled" else LOSSES[2:] if persons else LOSSES:
        (weights, total), labels = exact_sum(loss, persons), labels_for(loss, N)
        records = table(KINDS[kind][0](tmp_path, monkeypatch), labels, persons=persons)
        objective = Objective(records, loss, regularization=0.01, dtype=dtype, by_person=persons)
        near = {"rtol": 0, "atol": 1e-6 if dtype == "float32" else 1e-13}
        expected = (total / records.slots + 0.01 * weights).astype(float)
        np.testing.assert_allclose(objective.gradient(weights), expected, **near)
        if isinstance(objective._rows, np.ndarray):
            value = loss.value(WHOLE.astype(float) @ weights.T, labels.astype(int) if loss.outputs > 1 else labels, np)
            null = np.atleast_1d(loss.value(np.zeros((1, loss.outputs)), np.zeros(1, int), np))
            mean = (value @ shares(persons) + (records.slots - N) * null[0]) / records.slots
            assert objective.value(weights) == pytest.approx(mean + 0.005 * (weights**2).sum(), rel=near["atol"])
            many = np.stack([weights, 0 * weights, -weights])
            found = objective.gradient(many)
            np.testing.assert_allclose(found[0], expected, **near)
            np.testing.assert_allclose(found[2], objective.gradient(-weights), **near)


@pytest.mark.parametrize("keys", ["as they are", "of the first word alone"])
@pytest.mark.parametrize("persons", [False, True], ids=["by row", "by person"])
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "compiled"])
def test_added_by_content_a_sum_has_the_same_bits_in_any_order(kind, persons, keys, tmp_path, monkeypatch) -> None:
    """Also where different rows have one key; added as they are stored, the same rows give other bits."""
    if keys != "as they are":
        monkeypatch.setattr(content_order, "_MULTIPLIER", 1 << 63)
    monkeypatch.setattr(lookup, "_BITS", 48)  # float64 would not add such fine steps exactly
    loss, labels = LOSSES[0], labels_for(LOSSES[0], N)
    weights, rows = exact_sum(loss, False)[0], KINDS[kind][0](tmp_path, monkeypatch)
    mixed = np.random.default_rng(6).permutation(N)
    made = [table(rows, labels, order, persons=persons) for order in (None, mixed)]
    made[1].edit(EditRequest.delete([5]))
    made[0].edit(EditRequest.delete([int(mixed[5])]))

    def read(**options: bool) -> list[list[np.ndarray]]:
        found = []
        for one in made:
            objective = PreciseObjective(one, loss, regularization=0.0, by_person=persons, **options)
            part, own = objective.strided(37)
            sample = part @ np.eye(len(weights.T), dtype=np.float32), own[None] @ part, own
            found.append([objective.gradient(weights), objective.gradient(weights, "float32"), *sample])
            cut_unevenly(monkeypatch) if kind == "looked up" else None  # its sums are exact, however they are cut
        return found

    for mine, theirs in zip(*read(by_content=True), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    stored = read()
    assert (stored[0][0] == stored[1][0]).all() == (kind == "looked up" and not persons)


@pytest.mark.parametrize("kind", ["dense", "mapped", "sparse", "codes"])
def test_processes_of_a_group_compute_the_keys_that_one_would(kind, tmp_path, monkeypatch) -> None:
    records = table(KINDS[kind][0](tmp_path, monkeypatch), labels_for(LOSSES[0], N))
    coded, labels = records.coded_rows, records.labels
    rows: Any = records.sparse if kind == "sparse" else records.features if coded is None else coded.codes
    shares = [Part(rank, 3).rows(len(labels), 300) for rank in range(3)]
    parts = [content_order._keys(rows, labels, share) for share in shares]
    np.testing.assert_array_equal(np.concatenate(parts), content_order._keys(rows, labels, range(len(labels))))


# -- the sample ------------------------------------------------------------------------------------------------------------

FEW = 240
SAMPLED = [
    *(("dense", True), ("dense", False), ("sparse", True), ("sparse", False)),
    *(("nested", False), ("codes", False), ("looked up", False)),
]


@pytest.fixture
def exactly(monkeypatch: Patch) -> None:
    """Every row in the sample, or every second one; products until they are exact, few columns and pairs at a time."""
    for place, name, value in (
        ("sample", "_SAMPLED_RESIDUAL", 1e-7),
        ("sample", "_MOST_PRODUCTS", 400),
        ("sample", "_MOST_BESIDE", 400.0),
        ("sample", "_CELLS", 1000),
        ("nested", "_SIDE", 12),
        ("nested", "_SAMPLED", 1),
        ("nested", "_MOST_SAMPLED", 1),
        ("coded", "_CHEAP", 0),
        ("coded", "_PAIRS", 100),
    ):
        monkeypatch.setattr(f"noisygd_delete.engine.{place}.{name}", value)


def bend_of(loss: Loss, scores: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """(rows, outputs, outputs) ∂²ℓ/∂z², by differences of the slopes."""
    sides = [
        (loss.derivative(scores + one, labels, np) - loss.derivative(scores - one, labels, np)) / 2e-4
        for one in 1e-4 * np.eye(loss.outputs)
    ]
    return np.stack(sides, axis=2)


@pytest.mark.parametrize(("persons", "step"), [(False, 2), (True, 1)], ids=["half of the rows", "all, by person"])
@pytest.mark.parametrize(
    "loss",
    [LOSSES[0], losses.Softmax(1.0, classes=3), losses.OneVsRest(1.0, classes=3)],
    ids=lambda loss: loss.name,
)
@pytest.mark.parametrize(("kind", "narrow"), SAMPLED)
def test_the_sample_has_the_gradient_and_the_curvature_of_its_rows(
    kind, narrow, loss, persons, step, exactly, tmp_path, monkeypatch
) -> None:
    """The oracle is the dense Hessian; of several outputs at 0, where it is a Kronecker product."""
    monkeypatch.setattr(sample_module, "sample_rows", lambda **size: (size["records"] // step, narrow))
    monkeypatch.setattr(Sample, "_even", lambda *_: None)
    rows, labels = KINDS[kind][0](tmp_path, monkeypatch), np.append(labels_for(loss, N)[:FEW], np.zeros(16))
    rows = rows.select(slice(FEW)) if isinstance(rows, CodedRows) else rows[:FEW]
    records = Records(rows, labels[:FEW], subjects=OWNERS[:FEW] if persons else None, slots=FEW + 16)
    objective = PreciseObjective(records, loss, regularization=0.01, by_person=persons)
    sample, dense = Sample(objective, 100.0), np.vstack([WHOLE[:FEW], 0 * WHOLE[:16]])[::step].astype(float)
    labels = labels[::step].astype(int) if loss.outputs > 1 else labels[::step]
    (taken, width), outputs = dense.shape, loss.outputs
    weights, direction = np.random.default_rng(8).standard_normal((2, outputs, width))
    share = objective.mean_share / taken
    expected = share * loss.derivative(dense @ weights.T, labels, np).T @ dense + 0.01 * weights
    np.testing.assert_allclose(sample.gradient(weights), expected, rtol=0, atol=1e-5)
    assert sample.passes == pytest.approx(1 / step)
    point = weights if outputs == 1 else 0 * weights
    bend = bend_of(loss, dense @ point.T, labels) * share
    hessian = np.einsum("nij,nk,nl->ikjl", bend, dense, dense).reshape(outputs * width, -1)
    if step > 1:  # what the sample does not see has the curvature of a row's share
        if outputs == 1:
            unseen = np.trace(hessian) / taken * np.eye(1)
        else:
            mean = bend.sum(axis=0) * (dense**2).sum() / taken**2
            unseen = mean if kind != "looked up" else np.linalg.norm(mean, 2) * np.eye(outputs)
        hessian += np.kron(unseen, np.eye(width))
    exact = np.linalg.solve(hessian + 0.01 * np.eye(len(hessian)), direction.ravel()).reshape(direction.shape)
    inverse = sample.inverse(point)
    assert sample.passes == pytest.approx(1 / step + sample._factor)
    assert np.linalg.norm(inverse(direction) - exact) <= 0.002 * np.linalg.norm(exact)
    other, before = sample.pulled(objective), sample.passes
    centre = np.zeros_like(weights)
    values = [
        loss.value(dense @ at.T, labels, np).mean() * objective.mean_share + 0.005 * (at**2).sum()
        for at in (weights, centre)
    ]
    assert sample.is_nearer(weights) == (values[0] < values[1])
    assert sample.passes - before == pytest.approx(other.passes) == pytest.approx(1 / step)


@pytest.mark.parametrize("persons", [False, True], ids=["by row", "by person"])
@pytest.mark.parametrize("kind", ["nested", "codes", "padded codes", "looked up"])
def test_the_columns_of_largest_curvature_have_the_hessian_of_the_rows(
    kind, persons, exactly, tmp_path, monkeypatch
) -> None:
    """With null rows; all columns together, and the few that bend more than λ by itself."""
    loss, rows = LOSSES[0], KINDS[kind][0](tmp_path, monkeypatch)
    rows = rows.select(slice(FEW)) if isinstance(rows, CodedRows) else rows[:FEW]
    records = Records(rows, labels_for(loss, N)[:FEW], slots=FEW + 16, subjects=OWNERS[:FEW] if persons else None)
    part, _ = PreciseObjective(records, loss, regularization=0.01, by_person=persons).strided(FEW + 16)
    dense = np.vstack([WHOLE[:FEW], 0 * WHOLE[:16]]).astype(float)
    entries = rows.codec.entries if isinstance(rows, CodedRows) else rows.nnz // len(dense)
    assert (part.shape, part.nnz) == (dense.shape, len(dense) * entries)
    bend = np.random.default_rng(5).random(len(dense)).astype(np.float32)
    exact = dense.T @ (bend[:, None] * dense) / len(dense)
    order = np.argsort(-np.diag(exact), kind="stable")
    edge = float(np.diag(exact)[order[5:7]].mean())  # between the sixth and the seventh
    for regularization, most in ((1e-9, 12), (edge / 0.05, 6)):
        chosen, matrix, diagonal = part.hessian(bend, regularization)
        np.testing.assert_allclose(diagonal, np.diag(exact), rtol=1e-5, atol=1e-9)
        assert chosen.tolist() == sorted(np.argsort(-diagonal, kind="stable")[:most].tolist())
        np.testing.assert_allclose(matrix, exact[np.ix_(chosen, chosen)], rtol=1e-5, atol=1e-8)


def test_the_curvature_of_large_targets_is_not_lost_in_single_precision(monkeypatch) -> None:
    """Scores of 10⁶, whose last place in float32 is larger than the step of the differences."""
    monkeypatch.setattr(sample_module, "sample_rows", lambda **size: (size["records"], True))
    loss, rows = losses.PseudoHuber(1.0), WHOLE[:FEW]
    weights = 1e6 * np.random.default_rng(9).standard_normal((1, rows.shape[1]))
    labels = (rows.astype(np.float32) @ weights[0].astype(np.float32)).astype(np.float64)
    objective = PreciseObjective(Records(rows, labels), loss, regularization=0.01)
    dense, direction = rows.astype(float), np.ones_like(weights)
    exact = np.linalg.solve(dense.T @ dense / FEW + 0.01 * np.eye(dense.shape[1]), direction[0])
    found = Sample(objective, 100.0).inverse(weights)(direction)[0]
    assert np.linalg.norm(found - exact) <= 0.1 * np.linalg.norm(exact)
