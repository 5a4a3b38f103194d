"""Every baseline follows the protocol, and its description of itself is true."""

from __future__ import annotations

import numpy as np
import pytest
from noisygd_delete_lab import SISA, Held, PerturbedGD

from noisygd_delete import EditRequest, errors

from .conftest import FEATURES, table


def test_learn_then_unlearn(every_method) -> None:
    records, methods = every_method
    before = records.features.copy()
    for name, method in methods.items():
        rng = np.random.default_rng(1)
        learned = method.learn(records, rng)
        held = method.unlearn(records, EditRequest.delete([7]), learned, rng)
        assert held.weights.shape == (method.loss.outputs if hasattr(method, "loss") else len(held.weights), FEATURES)
        assert np.isfinite(held.weights).all()
        assert (learned.records, held.records) == (195, 194), name
        assert learned.gradient_evaluations > 0
        np.testing.assert_array_equal(records.features, before)


def test_descriptions_agree_with_what_is_held(every_method) -> None:
    """Stateless methods keep nothing, the others say what; private methods state an (ε, δ), the others none."""
    records, methods = every_method
    for name, method in methods.items():
        held = method.learn(records, np.random.default_rng(1))
        assert method.stateless == (held.memory == 0) == method.secret_state.startswith("none"), name
        certificate = method.certificate(held)
        assert method.private == (certificate.existing is not None), name
        assert (method.guarantees == "nothing") == (certificate.deletion is None), name
        assert method.does_not_guarantee, name
        assert certificate.basis, name
        assert not certificate.adaptive or method.private, f"{name}: without privacy, adaptive requests carry data"


def test_stateless_methods_use_records_and_model_only(every_method) -> None:
    """Handing over a `Held` with nothing but the published model changes nothing; for the others it breaks."""
    records, methods = every_method
    for method in methods.values():
        learned = method.learn(records, np.random.default_rng(1))
        bare = Held(learned.weights, learned.records)

        def forget(held, method=method):
            return method.unlearn(records, EditRequest.delete([7]), held, np.random.default_rng(2)).weights

        if method.stateless:
            np.testing.assert_array_equal(forget(bare), forget(learned))
        else:
            with pytest.raises(KeyError):
                forget(bare)


def test_only_deletions(every_method) -> None:
    records, methods = every_method
    method = methods["retrain"]
    request = EditRequest.insert(None, np.zeros((1, FEATURES)), [1.0])
    with pytest.raises(errors.InvalidRequest, match="only delete"):
        method.unlearn(records, request, method.learn(records))


def test_the_secret_iterate_and_the_saved_run_hold_the_erased_record() -> None:
    """What an intruder finds: two secret states that differ in one erased record stay different after its deletion."""
    records = table("binary")
    rng = np.random.default_rng(3)
    replaced = records.apply(EditRequest.replace({7: (records.features[11], -records.labels[7])}))
    from noisygd_delete import losses

    method = PerturbedGD(
        losses.Logistic(1.0),
        regularization=1e-2,
        records=200,
        features=FEATURES,
        epsilon=0.5,
        delta=1e-5,
        noise_limit=0.1,
    )
    states = []
    for world in (records, replaced):
        held = method.unlearn(world, EditRequest.delete([7]), method.learn(world, rng), rng)
        states.append(held.secret["iterate"])
    gap = np.linalg.norm(states[0] - states[1])
    assert 1e-12 < gap < method.noise / 10  # readable without the noise, hidden under it


def test_sisa_checkpoints_never_saw_the_record() -> None:
    """Bit for bit the state of a run that never had it; keeping one checkpoint too many (planted) is caught."""
    from noisygd_delete import losses

    records = table("binary")
    method = SISA(losses.Logistic(1.0), regularization=1e-2, shards=3, slices=4, steps=15)
    slot = int(method.assignment(records.slots)[1][2][0])
    request = EditRequest.delete([records.ids_by_slot[slot]])
    served = method.unlearn(records, request, method.learn(records))
    fresh = method.learn(records.apply(request))
    for ours, theirs in zip(served.secret["checkpoints"], fresh.secret["checkpoints"], strict=True):
        assert all(np.array_equal(a, b) for a, b in zip(ours, theirs, strict=True))
    assert 0 < served.gradient_evaluations < fresh.gradient_evaluations / 3

    class Late(SISA):
        def _train(self, records, slices, checkpoints, start):
            return super()._train(records, slices, checkpoints, min(start + 1, self.slices - 1) if start else 0)

    planted = Late(losses.Logistic(1.0), regularization=1e-2, shards=3, slices=4, steps=15)
    assert not np.array_equal(planted.unlearn(records, request, planted.learn(records)).weights, fresh.weights)
