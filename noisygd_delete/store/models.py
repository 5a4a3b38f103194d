"""Published models on disk: safetensors (numbers only, no code), recognised by their digest in the ledger."""

from __future__ import annotations

import hashlib
import json

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load, save

from ..curator.model import Model
from ..errors import StoreCorrupt
from ..methods.plan import Plan
from .disk import Disk, read
from .layout import Layout


def write(disk: Disk, layout: Layout, model: Model, release: int) -> str:
    """Make the model of a release durable; returns its digest. It is in force once the ledger names it."""
    data = packed(model, str(release))
    disk.replace(layout.model(release), data)
    return hashlib.sha256(data).hexdigest()


def packed(model: Model, release: str) -> bytes:
    """A model as a file: its weights, and the sums that they were made from, where it has some."""
    arrays = {"weights": np.array(model.weights)}
    if model.sums is not None:
        arrays["sums"] = np.array(model.sums)
    return save(arrays, {"release": release, "loss": json.dumps(model.loss.to_dict(), sort_keys=True)})


def unpacked(data: bytes, plan: Plan) -> Model:
    """The same read back.

    Raises:
        ValueError: it is no such file.
    """
    try:
        arrays = load(data)
        weights, sums = arrays["weights"], arrays.get("sums")
    except (SafetensorError, KeyError) as error:
        raise ValueError("not a model file") from error
    for array in (weights, *([] if sums is None else [sums])):
        array.flags.writeable = False
    return Model(weights=weights, loss=plan.model_loss, certified=True, sums=sums)


def load_model(layout: Layout, plan: Plan, release: int, digest: str) -> Model:
    """The model of a release.

    Raises:
        StoreCorrupt: it is missing, or not the file that the ledger names.
    """
    path = layout.model(release)
    data = read(path)
    if hashlib.sha256(data).hexdigest() != digest:
        raise StoreCorrupt(
            f"{path}: not the model that was published as release {release}: it was changed by hand or damaged. Restore it "
            "from a copy of that release; the records and the ledger are untouched"
        )
    try:
        return unpacked(data, plan)
    except ValueError as error:
        raise StoreCorrupt(f"{path}: not a model file; restore the store from a backup") from error
