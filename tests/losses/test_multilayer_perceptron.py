"""The network of one hidden layer: its gradients against differences of the loss, its clip, its null record."""

import numpy as np
import pytest

from noisygd_delete import losses
from noisygd_delete.engine.objective import ClippedObjective
from noisygd_delete.errors import AssumptionViolated, InvalidParameter
from noisygd_delete.losses.staged import HEAD, NETWORK, StagedLoss
from noisygd_delete.records import Records

FEATURES = 5


def table(rng, classes, rows=6, scale=1.0):
    x = rng.normal(size=(rows, FEATURES))
    x = (x / np.linalg.norm(x, axis=1, keepdims=True) * scale).astype(np.float32)
    labels = rng.choice([-1.0, 1.0], rows) if classes == 2 else rng.integers(0, classes, rows).astype(float)
    return x, labels


def coded(loss, labels):
    return labels.astype(np.int64) if loss.label_kind == "class" else labels


def gradient_by_differences(loss, weights, row, label, step=1e-6):
    found = np.zeros(weights.size)
    for k in range(weights.size):
        shifted = []
        for sign in (1, -1):
            moved = weights.copy()
            moved[0, k] += sign * step
            shifted.append(loss.value(loss.scores(moved, row[None]), coded(loss, np.array([label])), np)[0])
        found[k] = (shifted[0] - shifted[1]) / (2 * step)
    return found


@pytest.mark.parametrize("classes", [2, 4])
def test_an_unclipped_gradient_is_that_of_the_loss(classes):
    rng = np.random.default_rng(1)
    loss = losses.MultilayerPerceptron(radius=1.0, classes=classes, hidden=3, clip=1e6)
    weights = rng.normal(size=loss.shape(FEATURES))
    for row, label in zip(*table(rng, classes), strict=True):
        expected = gradient_by_differences(loss, weights, row.astype(float), label)
        assert loss.clipped_sum(weights, row[None], coded(loss, np.array([label]))) == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize("classes", [2, 4])
def test_no_record_moves_the_sum_by_more_than_the_clip_and_most_that_could_move_it_by_just_that(classes):
    rng = np.random.default_rng(2)
    loss = losses.MultilayerPerceptron(radius=1.0, classes=classes, hidden=7, clip=0.3)
    clipped = 0
    for scale in (0.01, 1.0, 100.0, 1e150):
        weights = rng.normal(size=loss.shape(FEATURES)) * scale
        for row, label in zip(*table(rng, classes, rows=40), strict=True):
            norm = np.linalg.norm(loss.clipped_sum(weights, row[None], coded(loss, np.array([label]))))
            assert norm <= loss.constants.lipschitz
            clipped += norm > 0.3 * (1 - 1e-8)
    assert clipped > 40


def test_a_gradient_that_is_no_number_counts_as_nothing():
    loss = losses.MultilayerPerceptron(radius=1.0, hidden=2)
    weights = np.full(loss.shape(FEATURES), 1e308)
    x, labels = table(np.random.default_rng(3), 2)
    found = loss.clipped_sum(weights, x, labels)
    assert np.isfinite(found).all()
    assert np.linalg.norm(found) <= len(x)


def test_the_objective_sums_over_blocks_and_masks_null_slots(monkeypatch):
    from noisygd_delete.losses import multilayer_perceptron

    rng = np.random.default_rng(4)
    loss = losses.MultilayerPerceptron(radius=1.0, hidden=3)
    x, labels = table(rng, 2, rows=11)
    records = Records(x, labels, slots=15)
    weights = rng.normal(size=loss.shape(FEATURES))
    monkeypatch.setattr(multilayer_perceptron, "_BLOCK", 4)
    found = ClippedObjective(records, loss, regularization=0.1).gradient(weights)
    assert found == pytest.approx(loss.clipped_sum(weights, x, labels)[None] / 15 + 0.1 * weights)
    nothing = loss.clipped_sum(weights, np.zeros((2, FEATURES), np.float32), np.zeros(2))
    assert not nothing.any()  # the null record


def test_clipping_a_network_takes_any_norm_and_its_description_reads_back():
    loss = losses.MultilayerPerceptron(radius=2.0, classes=3, hidden=9, clip=1.0)
    assert losses.clip_loss(loss, 4.0).constants.lipschitz == 4.0
    assert losses.from_dict(loss.to_dict()) == loss
    for wrong in ({"hidden": 0}, {"clip": float("nan")}, {"classes": 1}):
        with pytest.raises(InvalidParameter):
            losses.MultilayerPerceptron(radius=1.0, **wrong)


def test_a_head_reads_unit_rows_record_by_record_and_zero_for_the_null_record():
    rng = np.random.default_rng(5)
    network = losses.MultilayerPerceptron(radius=0.7, classes=3, hidden=4)
    staged = StagedLoss(radius=0.7, network=network, kinds=(NETWORK, HEAD))
    parts = [rng.normal(size=shape) for shape in staged.shapes(FEATURES)]
    x, _ = table(rng, 3, rows=9, scale=0.7)
    x[4] = 0.0
    rows = staged.read(1, parts, x)
    norms = np.linalg.norm(rows.astype(float), axis=1)
    assert norms.max() <= 0.7
    assert norms[4] == 0
    assert np.delete(norms, 4).min() > 0.7 * (1 - 1e-6)
    assert np.array_equal(rows[2:3], staged.read(1, parts, x[2:3]))
    assert staged.scores(staged.join_parts(parts), x) == pytest.approx(rows @ parts[1].T, rel=1e-12)
    assert all(
        np.array_equal(a, b) for a, b in zip(parts, staged.parts(staged.join_parts(parts), FEATURES), strict=True)
    )


def test_stages_that_cannot_be():
    network = losses.MultilayerPerceptron(radius=1.0)
    with pytest.raises(InvalidParameter, match="must begin with"):
        StagedLoss(radius=1.0, network=network, kinds=(HEAD, NETWORK))
    with pytest.raises(AssumptionViolated, match="no hidden layer"):
        StagedLoss(radius=1.0, network=losses.TanhNetwork(1.0, (1.0, -1.0)), kinds=(NETWORK, HEAD))
