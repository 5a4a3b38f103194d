"""DP-SGD by Opacus, with a deletion that does nothing: differential privacy already hides each record at ε_dp.

Poisson batches, gradients clipped to L, noise added by Opacus and accounted by its Rényi accountant (including
subsampling amplification). Each batch contains one null record, so that an empty draw is an ordinary step.
"""

from __future__ import annotations

import warnings
from typing import ClassVar

import numpy as np

from noisygd_delete.bounds.arithmetic import least_safe
from noisygd_delete.errors import MissingDependency, check_count, check_positive, check_probability
from noisygd_delete.losses.base import Loss
from noisygd_delete.records import Records

from .base import Baseline, Certificate, Erased, Held, generator

_ORDERS = [1.25, 1.5, 1.75, *range(2, 65), 80, 100, 128, 180, 256, 360, 512, 1024]


class DPSGD(Baseline):
    """DP-SGD with the least noise multiplier that Opacus accounts within (ε, δ).

    Args:
        loss: The loss.
        regularization: λ.
        records: Number of records n.
        epsilon: ε of the training.
        delta: δ of the training.
        batch: Expected batch size.
        steps: Number of steps.
        step_size: Step size; None means 1/(λ + β).
    """

    name: ClassVar[str] = "DP-SGD, no-op deletion"
    source: ClassVar[str] = "Abadi et al. (CCS 2016), Opacus; deletion by Guo et al. (2020), section 2"
    guarantees: ClassVar[str] = "deletion at the (ε, δ) of its differential privacy, for one record"
    does_not_guarantee: ClassVar[str] = (
        "a smaller ε for erased records than for the others; several erased records cost as a group, until it learns afresh"
    )
    secret_state: ClassVar[str] = "none"
    stateless: ClassVar[bool] = True
    private: ClassVar[bool] = True

    def __init__(
        self,
        loss: Loss,
        *,
        regularization: float,
        records: int,
        epsilon: float,
        delta: float,
        batch: int,
        steps: int,
        step_size: float | None = None,
    ) -> None:
        self.loss = loss
        self.regularization = check_positive("regularization", regularization)
        self.records, self.batch, self.steps = records, check_count("batch", batch), check_count("steps", steps)
        self.epsilon, self.delta = check_positive("epsilon", epsilon), check_probability("delta", delta)
        self.step_size = step_size or 1 / (regularization + loss.constants.smoothness)
        self.noise_multiplier = self._least_noise()

    def _least_noise(self) -> float:
        """Return the least noise multiplier within ε, to half a percent, rounded up."""
        return least_safe(
            lambda noise: self.accounted_epsilon(noise) <= self.epsilon, guess=0.5, below=0.25, digits=0.005
        )

    def accounted_epsilon(self, noise_multiplier: float | None = None) -> float:
        """Return ε at δ that Opacus accounts for the run; its default orders stop at 63, too few for a small ε."""
        try:
            from opacus.accountants import RDPAccountant
        except ImportError as error:
            raise MissingDependency("DP-SGD needs Opacus; pip install 'noisygd-delete[torch]'") from error
        accountant = RDPAccountant()
        accountant.history = [(noise_multiplier or self.noise_multiplier, self.batch / self.records, self.steps)]
        with warnings.catch_warnings():  # the best order is the first or last: valid, though not optimal
            warnings.filterwarnings("ignore", message="Optimal order is the", category=UserWarning)
            return float(accountant.get_epsilon(self.delta, alphas=_ORDERS))

    def learn(self, records: Records, rng: np.random.Generator | None = None) -> Held:
        import torch
        from opacus import GradSampleModule
        from opacus.optimizers import DPOptimizer

        rng = generator(rng)
        torch_rng = torch.Generator().manual_seed(int(rng.integers(2**62)))
        rows = torch.from_numpy(np.vstack([records.features, np.zeros_like(records.features[:1])]))
        kind = torch.int64 if self.loss.label_kind == "class" else torch.float32
        labels = torch.from_numpy(np.append(records.labels, 0.0)).to(kind)
        linear = torch.nn.Linear(rows.shape[1], self.loss.outputs, bias=False)
        torch.nn.init.zeros_(linear.weight)
        model = GradSampleModule(linear, loss_reduction="sum")
        optimizer = DPOptimizer(
            torch.optim.SGD(model.parameters(), lr=self.step_size / self.batch),
            noise_multiplier=self.noise_multiplier,
            max_grad_norm=self.loss.constants.lipschitz,
            expected_batch_size=None,
            loss_reduction="sum",
            generator=torch_rng,
        )
        work = 0
        for _ in range(self.steps):
            drawn = np.flatnonzero(rng.random(records.slots) < self.batch / self.records)
            batch = torch.from_numpy(np.append(drawn, records.slots))
            optimizer.zero_grad(set_to_none=True)
            inputs = rows[batch].requires_grad_()  # Opacus's backward hook warns unless the input requires a gradient
            self.loss.value(model(inputs), labels[batch], torch).sum().backward()
            optimizer.step()
            with torch.no_grad():
                linear.weight.mul_(1 - self.step_size * self.regularization)
            work += len(drawn)
        return Held(linear.weight.detach().numpy().astype(np.float64), len(records), gradient_evaluations=work)

    def forget(self, records: Records, erased: Erased, held: Held, rng: np.random.Generator | None = None) -> Held:
        return Held(held.weights, held.records - len(erased))

    def certificate(self, held: Held) -> Certificate:
        return Certificate(
            deletion=(self.epsilon, self.delta),
            existing=(self.epsilon, self.delta),
            adaptive=True,
            basis="Opacus's Rényi accountant",
            caveats=(
                "add or remove one record (zero-out)",
                f"{self.records - held.records} records erased since learning cost as a group"
                if held.records < self.records
                else "one erased record",
                "torch's generator is not cryptographic",
            ),
        )
