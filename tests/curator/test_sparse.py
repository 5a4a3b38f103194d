"""Sparse rows from learning to deletion: the plan, the certificate and, from the same seed, the model of the dense table."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from noisygd_delete import Budget, Curator, Execution, Records, errors, learn, losses, make_plan, unlearn
from noisygd_delete.curator import starts
from noisygd_delete.curator.release import Release
from noisygd_delete.evidence.canonical import canonical_bytes
from noisygd_delete.methods import ObjectivePerturbation, Stage, Staged
from noisygd_delete.records import EditRequest, SparseRows
from noisygd_delete.store import Store

from ..engine.test_distributed import Part
from ..engine.test_sparse import labels_for, rows_of
from ..store.conftest import SCHEMA
from ..store.conftest import plan as store_plan
from ..store.conftest import records as store_records

N, D, SLOTS = 700, 90, 705
WIDE = Budget(order=10, dp=50.0, deletion=1.0)
TWO, FOUR = losses.Logistic(1.0), losses.Softmax(1.0, classes=4)


def tables(loss) -> tuple[Records, Records]:
    rows, labels = rows_of(N, D, 1), labels_for(loss, N, 1)
    return Records(rows, labels, slots=SLOTS), Records(rows.toarray(), labels, slots=SLOTS)


def plan_for(loss, method: str, **options):
    facts = {"records": SLOTS, "features": D, "regularization": 1e-2, "budget": WIDE, **options}
    return make_plan(loss, **facts, method=method)


def history(records: Records, plan) -> list[Release]:
    """One of each kind of release."""
    curator, new = Curator(records, plan), rows_of(6, D, 9)
    curator.learn(np.random.default_rng(1))
    made = [curator.delete([3, 500], rng=np.random.default_rng(2))]
    made.append(curator.replace({4: (new[:1].toarray()[0], 1.0)}, rng=np.random.default_rng(3)))
    rows = new[1:4] if records.sparse is not None else new[1:4].toarray()
    made.append(curator.insert(None, rows, [1.0, 1.0, 1.0], rng=np.random.default_rng(4)))
    made.append(curator.delete([0], rng=np.random.default_rng(5)))
    return made


@pytest.mark.parametrize("method", ["objective-perturbation", "output-perturbation", "noisy-gd"])
@pytest.mark.parametrize("loss", [TWO, FOUR], ids=lambda loss: loss.name)
def test_releases_are_those_of_the_dense_table(loss, method: str) -> None:
    plan = plan_for(loss, method)
    thin, dense = (history(records, plan) for records in tables(loss))
    for mine, theirs in zip(thin, dense, strict=True):
        ours, others = mine.to_dict(), theirs.to_dict()
        passes = ours.pop("gradient_passes"), others.pop("gradient_passes")
        assert abs(passes[0] - passes[1]) <= 2
        assert canonical_bytes(ours) == canonical_bytes(others)  # every figure of every guarantee
        # both are as near to the same minimiser as the solver was asked to come; steps without a solver differ by roundings
        apart = (
            2 * plan.calibration.gradient_tolerance / plan.problem.regularization + 2e-5 * plan.problem.dimension**0.5
        )
        assert np.linalg.norm(mine.model.weights - theirs.model.weights) <= apart
        assert np.abs(theirs.model.weights).max() > 1e-2


def test_steps_of_a_bounded_loss_are_those_of_the_dense_table() -> None:
    """No loss of a solver: noisy steps from the initial law."""
    loss = losses.Sigmoid(1.0)
    plan = plan_for(loss, "noisy-gd:analysis=composition", budget=Budget(order=2, dp=200.0, deletion=50.0))
    weights = [learn(records, plan, np.random.default_rng(3)).weights for records in tables(loss)]
    np.testing.assert_allclose(*weights, rtol=0, atol=2e-5)


def test_a_deletion_forgets_and_the_functions_of_records_take_sparse_ones() -> None:
    plan = plan_for(TWO, "noisy-gd")
    thin, dense = tables(TWO)
    model = learn(thin, plan, np.random.default_rng(0))
    request = EditRequest.delete([5])
    ours = unlearn(thin, request, model, plan, np.random.default_rng(1))
    theirs = unlearn(dense, request, model, plan, np.random.default_rng(1))
    np.testing.assert_allclose(ours.weights, theirs.weights, rtol=0, atol=1e-5)
    assert thin.sparse.written_out()[5].any()  # the argument is left as it was
    assert model.accuracy(thin) == model.accuracy(dense)


def test_rows_that_are_too_long_are_named() -> None:
    rows = rows_of(N, D, 1).tolil()
    rows[17] = 0.5
    records = Records(rows.tocsr(), labels_for(TWO, N, 1), slots=SLOTS, ids=[f"r{i}" for i in range(N)])
    with pytest.raises(errors.AssumptionViolated, match=r"the row of id 'r17' has norm 4.74342 > radius=1"):
        Curator(records, plan_for(TWO, "noisy-gd"))
    curator = Curator(tables(TWO)[0], plan_for(TWO, "noisy-gd"))
    curator.learn(np.random.default_rng(0))
    before = curator.records.sparse.written_out()
    with pytest.raises(errors.InvalidRequest, match="nothing was changed: the row of id"):
        curator.insert(["new"], sparse.csr_array(np.full((1, D), 0.5)), [1.0])
    with pytest.raises(errors.InvalidRequest, match="labels must be"):
        curator.replace({3: (np.zeros(D), 0.5)})
    np.testing.assert_array_equal(curator.records.sparse.written_out(), before)


@pytest.mark.parametrize(
    "execution", [Execution(group=Part(0, 2)), Execution(device="cuda")], ids=["a group", "a device"]
)
def test_groups_and_devices_are_refused_before_anything_is_made(execution: Execution) -> None:
    curator = Curator(tables(TWO)[0], plan_for(TWO, "noisy-gd"))
    with pytest.raises(errors.InvalidParameter, match="on the processor"):
        curator.learn(execution=execution)
    assert curator.accountant.releases == 0


def test_a_store_is_refused_before_its_folder_is_made(tmp_path: Path) -> None:
    dense = store_records()
    thin = Records.from_slots(
        SparseRows.of("rows", dense.features, errors.InvalidRecords), dense.labels, dense.names, dense.owners
    )
    with pytest.raises(errors.InvalidParameter, match="rows written out"):
        Store.create(tmp_path / "store", thin, SCHEMA, store_plan())
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("stages", [(Stage("network", 6), Stage("moments")), (Stage("network", 3), Stage("head", 3))])
def test_a_ladder_is_refused_before_anything_is_released(stages) -> None:
    """Its stages write rows anew, or hold a table of features by features."""
    loss = losses.MultilayerPerceptron(radius=1.0, hidden=3)
    narrow = Budget(order=10, dp=1.0, deletion=0.1)
    plan = plan_for(loss, Staged(stages=stages, level=0), adjacency="zero-out", budget=narrow)
    curator = Curator(tables(TWO)[0], plan)
    with pytest.raises(errors.InvalidParameter, match="rows written out"):
        curator.learn()
    assert curator.accountant.releases == 0


@pytest.mark.parametrize(("solver", "looked"), [("cold", True), ("warm", True), ("fixed", False)])
def test_a_fixed_solver_reads_a_table_the_same_way_however_full_it_is(solver, looked, monkeypatch) -> None:
    """A wide table that is mostly zeros is read sparsely, which is quicker: whoever watches the clock would see how full the rows are, and
    so that all others have left."""
    seen = []
    monkeypatch.setattr(starts, "to_sparse_records", lambda records: seen.append(records) or records)
    plan = plan_for(TWO, ObjectivePerturbation(solver=solver))
    curator = Curator(tables(TWO)[1], plan)
    curator.learn(np.random.default_rng(1))
    curator.delete([3], rng=np.random.default_rng(2))
    assert bool(seen) == looked
