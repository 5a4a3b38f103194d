"""A torch module in stages: network on network, and a head on its own last hidden layer."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from noisygd_delete import Budget, Curator, Records
from noisygd_delete.errors import AssumptionViolated
from noisygd_delete.methods import Stage, Staged
from noisygd_delete.networks import NetworkLoss
from tests.bank import sized_plan


def network(module: torch.nn.Module) -> NetworkLoss:
    return NetworkLoss(radius=1.0, classes=3, module=module, clip=0.3, start="zero", init_variance=0.1, curvature=0.5)


def plan_for(loss: NetworkLoss, last: Stage):
    return sized_plan(
        loss, 40, 5, 1e-2, Budget(order=4, dp=2.0, deletion=0.5), method=Staged((Stage("network", 4), last))
    )


@pytest.mark.parametrize("last", [Stage("network", 2), Stage("head", 3)], ids=lambda stage: stage.kind)
def test_a_torch_module_climbs(last: Stage) -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(30, 5))
    rows /= np.linalg.norm(rows, axis=1).max() * 1.001
    module = torch.nn.Sequential(torch.nn.Linear(5, 6), torch.nn.Tanh(), torch.nn.Linear(6, 3))
    plan = plan_for(network(module), last)
    curator = Curator(Records(rows, rng.integers(0, 3, 30), slots=40), plan)
    learned, deleted = curator.learn(), curator.delete([7])
    before, after = (plan.model_loss.parts(release.model.weights, 5) for release in (learned, deleted))
    assert np.array_equal(before[0], after[0])
    assert not np.array_equal(before[1], after[1])
    assert deleted.model.predict(rows).shape == (30,)
    assert not deleted.guarantee.proven  # L is what the clip enforces, declared
    assert deleted.guarantees["deletion"].with_slack().renyi(4) <= 0.5 * (1 + 1e-9)


def test_a_head_has_to_find_a_layer_to_read() -> None:
    with pytest.raises(AssumptionViolated, match="all layers but the last"):
        plan_for(network(torch.nn.Linear(5, 3)), Stage("head", 3))


def test_what_a_head_reads_is_what_the_module_computes() -> None:
    module = torch.nn.Sequential(torch.nn.Linear(5, 6), torch.nn.Tanh(), torch.nn.Linear(6, 3))
    loss, rows = network(module), np.random.default_rng(1).normal(size=(4, 5))
    weights = np.concatenate([parameter.detach().numpy().ravel() for parameter in module.parameters()])
    with torch.no_grad():
        expected = module[:-1](torch.as_tensor(rows, dtype=torch.float32)).numpy()
    assert loss.representation(weights, rows) == pytest.approx(expected, abs=1e-6)
    assert loss.width(5) == 6
