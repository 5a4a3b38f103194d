"""A feature extractor Φ under a certified linear head: what is deleted is the head's memory of a record.

Public or frozen Φ: it never saw the private data, and the head's guarantees are the whole story. Φ trained on the private
data by DP-SGD (Opacus): its Rényi cost stays for ever, a deletion does not reduce it, and it is added to every guarantee
of the head. DP-SGD is accounted for add/remove, which is zero-out adjacency here (a null record has gradient 0), so the
head must speak of zero-out too: adding an ε for one pair of worlds to an ε for another means nothing.
"""

from __future__ import annotations

import json
import math
import os
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from ..curator import Curator, Release
from ..errors import InvalidParameter, MissingDependency, count, positive, probability
from ..guarantee import Guarantee
from ..plan import Plan
from ..records import Id, Records

ORDERS = tuple(1 + k / 10 for k in range(1, 100)) + tuple(float(q) for q in range(11, 64))


@dataclass(frozen=True, eq=False)
class Extractor:
    """Φ followed by division by the row's norm: rows of norm at most `radius`, a constant column included.

    module  maps (rows, *input_shape) to (rows, width), in evaluation mode, never trained again
    points  ((order, ε), …): Rényi cost of training it on the private data, zero-out adjacency; empty if it never saw them
    """

    module: torch.nn.Module
    input_shape: tuple[int, ...]
    radius: float = 1.0
    points: tuple[tuple[float, float], ...] = ()
    device: str = "cpu"

    def __post_init__(self) -> None:
        positive("radius", self.radius)
        self.module.eval().requires_grad_(False).to(self.device)

    def rows(self, inputs: ArrayLike) -> NDArray[np.float32]:
        """(rows, width + 1) float32, each a function of its own input alone, of norm at most `radius`."""
        given = torch.as_tensor(np.asarray(inputs, np.float32)).reshape(-1, *self.input_shape)
        with torch.no_grad():
            parts = [self.module(part.to(self.device)).flatten(1).cpu() for part in torch.split(given, 1024)]
        features = torch.cat(parts).double()
        features = torch.cat([features, torch.ones(len(features), 1, dtype=torch.float64)], dim=1)
        norms = torch.linalg.vector_norm(features, dim=1, keepdim=True)
        shortened: NDArray[np.float32] = (features / norms * (self.radius * (1 - 2.0**-22))).float().numpy()
        return shortened

    def cost(self, about: str) -> Guarantee:
        """What publishing Φ itself reveals: added to each of the head's guarantees."""
        trained = "feature extractor trained by DP-SGD (Opacus, Rényi accountant of the Poisson-subsampled Gaussian)"
        return Guarantee(
            about=about,
            adjacency="zero-out" if about == "dp" else "definition-4.1",
            points=self.points,
            source=trained if self.points else "",
            assumptions=("the extractor's noise comes from torch's generator, seeded by the system",)
            if self.points
            else (),
        )

    def save(self, folder: str | Path) -> None:
        """Weights as safetensors, facts as JSON: no code in either."""
        from safetensors.torch import save_file

        target = Path(folder)
        target.mkdir(parents=True, exist_ok=True)
        state = {name: tensor.detach().cpu().contiguous() for name, tensor in self.module.state_dict().items()}
        save_file(state, target / "extractor.safetensors")
        facts = {"input_shape": self.input_shape, "radius": self.radius, "points": self.points}
        (target / "extractor.json").write_text(json.dumps(facts))

    @classmethod
    def load(cls, folder: str | Path, module: torch.nn.Module, device: str = "cpu") -> Extractor:
        """Read back `save` into a freshly built module of the same architecture."""
        from safetensors.torch import load_file

        facts = json.loads((Path(folder) / "extractor.json").read_text())
        module.load_state_dict(load_file(Path(folder) / "extractor.safetensors"))
        return cls(
            module=module,
            input_shape=tuple(facts["input_shape"]),
            radius=facts["radius"],
            points=tuple((float(order), float(cost)) for order, cost in facts["points"]),
            device=device,
        )


def dp_sgd_points(*, noise_multiplier: float, sample_rate: float, steps: int) -> tuple[tuple[float, float], ...]:
    """((order, ε), …) of DP-SGD under add/remove of one record: Opacus' Rényi accountant."""
    from opacus.accountants.analysis.rdp import compute_rdp

    costs = compute_rdp(q=sample_rate, noise_multiplier=noise_multiplier, steps=steps, orders=list(ORDERS))
    return tuple((order, float(cost)) for order, cost in zip(ORDERS, costs, strict=True) if math.isfinite(cost))


def train_extractor(
    module: torch.nn.Module,
    top: torch.nn.Module,
    inputs: ArrayLike,
    labels: ArrayLike,
    *,
    input_shape: tuple[int, ...],
    noise_multiplier: float,
    max_grad_norm: float = 1.0,
    epochs: int = 5,
    batch: int = 256,
    learning_rate: float = 0.5,
    radius: float = 1.0,
    device: str = "cpu",
) -> Extractor:
    """Train `top ∘ module` by DP-SGD on the private data; the module becomes the extractor, `top` is thrown away.

    Args:
        module, top: torch modules without batch statistics; (rows, *input_shape) → features → class scores.
        inputs, labels: (n, …) and class numbers; n is public.
        noise_multiplier: noise standard deviation over `max_grad_norm`, of each Poisson-sampled batch.
    """
    try:
        from opacus import PrivacyEngine
    except ImportError as error:
        raise MissingDependency("train_extractor needs opacus: pip install 'noisygd-delete[deep]'") from error
    rows = torch.as_tensor(np.asarray(inputs, np.float32)).reshape(-1, *input_shape)
    answers = torch.as_tensor(np.asarray(labels).astype(np.int64))
    if len(rows) != len(answers):
        raise InvalidParameter(f"{len(rows)} inputs and {len(answers)} labels; give one label per input")
    positive("noise_multiplier", noise_multiplier)
    size = min(count("batch", batch), len(rows))
    network = torch.nn.Sequential(module, top).to(device)
    optimizer: Any = torch.optim.SGD(network.parameters(), lr=learning_rate)
    loader: Any = torch.utils.data.DataLoader(
        torch.utils.data.TensorDataset(rows, answers), batch_size=size, generator=_generator("cpu")
    )
    with warnings.catch_warnings():
        # torch's generator is seeded by the system below; hooks of GradSampleModule are Opacus' own affair
        warnings.simplefilter("ignore")
        private, optimizer, loader = PrivacyEngine(accountant="rdp").make_private(
            module=network.train(),
            optimizer=optimizer,
            data_loader=loader,
            noise_multiplier=noise_multiplier,
            max_grad_norm=max_grad_norm,
            poisson_sampling=True,
            noise_generator=_generator(device),
        )
        steps = 0
        for _ in range(count("epochs", epochs)):
            for part, truth in loader:
                optimizer.zero_grad()
                torch.autograd.backward(torch.nn.functional.cross_entropy(private(part.to(device)), truth.to(device)))
                optimizer.step()
                steps += 1
        private.remove_hooks()
        points = dp_sgd_points(noise_multiplier=noise_multiplier, sample_rate=1 / len(loader), steps=steps)
    return Extractor(module=module, input_shape=input_shape, radius=radius, points=points, device=device)


def _generator(device: str) -> torch.Generator:
    """Fresh entropy: torch's own default seed is the same on every machine."""
    return torch.Generator(device=device).manual_seed(int.from_bytes(os.urandom(8)) >> 1)


class CertifiedHead:
    """A curator of the head's table Φ(x), whose guarantees include what Φ itself cost.

    The inputs are not kept: erasing a record zeroes its feature row, and the caller erases the input.
    """

    def __init__(
        self, extractor: Extractor, inputs: ArrayLike, labels: ArrayLike, plan: Plan, ids: Iterable[Id] | None = None
    ) -> None:
        problem = plan.problem
        if extractor.points and (problem.adjacency != "zero-out" or problem.deletion_notion != "definition-4.1"):
            raise InvalidParameter(
                f"adjacency={problem.adjacency!r}, deletion_notion={problem.deletion_notion!r}: the extractor's ε is for "
                "zero-out; plan the head with adjacency='zero-out' and deletion_notion='definition-4.1'. For 'replace' it "
                "would have to be accounted again with doubled sensitivity"
            )
        self.extractor = extractor
        self.curator = Curator(Records(extractor.rows(inputs), labels, ids=ids), plan)

    def learn(self, **options: Any) -> Release:
        return self._with_extractor(self.curator.learn(**options))

    def delete(self, ids: Iterable[Id], **options: Any) -> Release:
        return self._with_extractor(self.curator.delete(ids, **options))

    def dp_cumulative(self, **options: Any) -> Guarantee:
        """Every observed head release together with the extractor."""
        return self._add(self.curator.accountant.dp_cumulative(**options))

    def deletion(self, **options: Any) -> Guarantee:
        """What the observed head releases and the extractor reveal about an erased record."""
        return self._add(self.curator.accountant.deletion(**options))

    def predict(self, inputs: ArrayLike) -> NDArray[np.float64]:
        return self.curator.model.predict(self.extractor.rows(inputs))

    def extractor_epsilon(self, delta: float) -> float:
        """ε of the extractor alone at δ: the floor of everything this head can promise."""
        return self.extractor.cost("dp").epsilon(probability("delta", delta)) if self.extractor.points else 0.0

    def _with_extractor(self, release: Release) -> Release:
        return replace(release, guarantees={name: self._add(part) for name, part in release.guarantees.items()})

    def _add(self, guarantee: Guarantee) -> Guarantee:
        if not self.extractor.points:
            return guarantee
        return guarantee + replace(self.extractor.cost(guarantee.about), rows=guarantee.rows)
