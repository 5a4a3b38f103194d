"""A feature extractor Φ under a certified linear head: a deletion removes the head's memory of a record.

A public or frozen Φ never saw the private data, and only the head's guarantees matter. A Φ trained on the private data
by DP-SGD (Opacus) is the first event of the head's ledger. Its Rényi cost is permanent and not reduced by a deletion;
the accountant adds it to every answer, in the adjacency of the question: DP-SGD is accounted for add/remove, which is
zero-out here (a null record has gradient 0), and against another record by way of the null record.

A ladder whose last stage is a head (`methods.Staged`, with `networks.NetworkLoss` or `losses.MultilayerPerceptron`)
trains Φ at ε_dd in the same plan, and is planned, published and accounted as one. A store can hold that. This module
stays outside the package because a store's ledger cannot begin with the training of a map, and a head without a ledger
loses Φ's cost when the process ends.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from noisygd_delete.accountant import Accountant, Event, EventKinds
from noisygd_delete.curator import Curator, Release
from noisygd_delete.errors import InvalidParameter, MissingDependency, check_count, check_positive, check_probability
from noisygd_delete.methods import SampledGaussian as Training
from noisygd_delete.methods.plan import Plan
from noisygd_delete.privacy.guarantee import Guarantee
from noisygd_delete.records import Id, Records

from .frozen_module import FrozenModule


@dataclass(frozen=True, eq=False)
class Extractor:
    """Φ followed by division by the row's norm: rows of norm at most `radius`, including a constant column.

    Attributes:
        module: Maps (rows, *input_shape) to (rows, width); in evaluation mode, never trained again.
        input_shape: Shape of one input.
        radius: Bound on the norm of a row.
        event: Its training on the private data, as an accountant's event; None if it never saw them.
        device: Device of the module.
        map: The extractor as a feature map.
    """

    module: torch.nn.Module
    input_shape: tuple[int, ...]
    radius: float = 1.0
    event: Event | None = None
    device: str = "cpu"
    map: FrozenModule = field(init=False)

    def __post_init__(self) -> None:
        check_positive("radius", self.radius)
        object.__setattr__(self, "map", FrozenModule(self.module.eval(), self.input_shape, device=self.device))

    def rows(self, inputs: ArrayLike) -> NDArray[np.float32]:
        """Return (rows, width + 1) float32, each row a function of its own input only, of norm at most `radius`."""
        return self.map.rows(np.asarray(inputs, np.float32).reshape(-1, self.map.inputs), radius=self.radius)

    def cost(self, about: str, adjacency: str) -> Guarantee | None:
        """Return what publishing Φ itself reveals; None if it never saw the private data."""
        event = self.event
        return None if event is None else event.mechanism.interval(about, adjacency, steps_with=event.steps)

    def save(self, folder: str | Path) -> None:
        """Save weights as safetensors and facts as JSON, without code."""
        from safetensors.torch import save_file

        target = Path(folder)
        target.mkdir(parents=True, exist_ok=True)
        state = {name: tensor.detach().cpu().contiguous() for name, tensor in self.module.state_dict().items()}
        save_file(state, target / "extractor.safetensors")
        trained = None if self.event is None else self.event.to_dict()
        facts = {"input_shape": self.input_shape, "radius": self.radius, "event": trained}
        (target / "extractor.json").write_text(json.dumps(facts))

    @classmethod
    def load(cls, folder: str | Path, module: torch.nn.Module, device: str = "cpu") -> Extractor:
        """Load what `save` wrote into a newly built module of the same architecture."""
        from safetensors.torch import load_file

        source = Path(folder)
        try:
            facts = json.loads((source / "extractor.json").read_text())
            trained = facts["event"]
            module.load_state_dict(load_file(source / "extractor.safetensors"))
            return cls(
                module=module,
                input_shape=tuple(facts["input_shape"]),
                radius=facts["radius"],
                event=None if trained is None else Event.from_dict(trained),
                device=device,
            )
        except (OSError, ValueError, TypeError, KeyError, RuntimeError) as error:
            raise InvalidParameter(f"{source}: not a saved extractor of this module ({error})") from error


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
    """Train `top ∘ module` by DP-SGD on the private data; `module` becomes the extractor, `top` is discarded.

    Args:
        module: Torch module without batch statistics, (rows, *input_shape) → features.
        top: Torch module, features → class scores.
        inputs: (n, …) inputs; n is public.
        labels: (n,) class numbers.
        input_shape: Shape of one input.
        noise_multiplier: Noise standard deviation over `max_grad_norm`, of each Poisson-sampled batch.
        max_grad_norm: Clipping norm of a record's gradient.
        epochs: Number of epochs.
        batch: Expected batch size.
        learning_rate: Learning rate of SGD.
        radius: Bound on the norm of a row of the extractor.
        device: Device of the training.
    """
    try:
        from opacus import PrivacyEngine
    except ImportError as error:
        raise MissingDependency("train_extractor needs opacus: pip install 'noisygd-delete[torch]'") from error
    rows = torch.as_tensor(np.asarray(inputs, np.float32)).reshape(-1, *input_shape)
    answers = torch.as_tensor(np.asarray(labels).astype(np.int64))
    if len(rows) != len(answers):
        raise InvalidParameter(f"{len(rows)} inputs and {len(answers)} labels; give one label per input")
    check_positive("noise_multiplier", noise_multiplier)
    size = min(check_count("batch", batch), len(rows))
    network = torch.nn.Sequential(module, top).to(device)
    optimizer: Any = torch.optim.SGD(network.parameters(), lr=learning_rate)
    loader: Any = torch.utils.data.DataLoader(
        torch.utils.data.TensorDataset(rows, answers), batch_size=size, generator=_generator("cpu")
    )
    with warnings.catch_warnings():
        # the generators are seeded from system entropy; warnings about hooks of GradSampleModule are internal to Opacus
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
        for _ in range(check_count("epochs", epochs)):
            for part, truth in loader:
                optimizer.zero_grad()
                torch.autograd.backward(torch.nn.functional.cross_entropy(private(part.to(device)), truth.to(device)))
                optimizer.step()
                steps += 1
        private.remove_hooks()
    training = Training(records=len(rows), sampling_rate=1 / len(loader), noise_multiplier=noise_multiplier)
    event = Event(EventKinds.EXTRACTOR, steps, 0, training)
    return Extractor(module=module, input_shape=input_shape, radius=radius, event=event, device=device)


def _generator(device: str) -> torch.Generator:
    """Return a generator with fresh entropy: torch's own default seed is the same on every machine."""
    return torch.Generator(device=device).manual_seed(int.from_bytes(os.urandom(8)) >> 1)


class CertifiedHead:
    """A curator of the head's table Φ(x), with the training of Φ as first event of its ledger.

    So every answer of `curator.accountant` includes the cost of Φ, and releases of the head are numbered from 2 (from 1
    if Φ is public). The inputs are not kept: erasing a record zeroes its feature row, and the caller erases the input.
    """

    def __init__(
        self, extractor: Extractor, inputs: ArrayLike, labels: ArrayLike, plan: Plan, ids: Iterable[Id] | None = None
    ) -> None:
        self.extractor, plan = extractor, plan.of_map(extractor.map.digest)
        self.curator = Curator.restore(
            Records(extractor.rows(inputs), labels, ids=ids),
            plan,
            accountant=Accountant(plan, () if extractor.event is None else (extractor.event,)),
            model=None,
            pending_edits=0,
        )

    @property
    def accountant(self) -> Accountant:
        return self.curator.accountant

    def learn(self, **options: Any) -> Release:
        return self.curator.learn(**options)

    def delete(self, ids: Iterable[Id], **options: Any) -> Release:
        return self.curator.delete(ids, **options)

    def predict(self, inputs: ArrayLike) -> NDArray[np.float64]:
        return self.curator.model.predict(self.extractor.rows(inputs))

    def extractor_epsilon(self, delta: float) -> float:
        """Return ε of the extractor alone at δ, in zero-out adjacency: a lower bound on every ε of this head."""
        cost = self.extractor.cost("dp", "zero-out")
        return 0.0 if cost is None else cost.epsilon(check_probability("delta", delta))
