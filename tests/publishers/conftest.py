"""A store that has learned, and a folder beside it that it publishes to."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from noisygd_delete_server.publishers import publish_to
from safetensors.numpy import load_file

from noisygd_delete import EditRequest
from noisygd_delete.store import Store
from tests.store.conftest import SCHEMA, CrashAt, name, path, plan, records, tmp_path

__all__ = ["path", "tmp_path"]  # fixtures


@pytest.fixture
def out(path: Path) -> Path:
    """The folder, with the first release in it."""
    folder = path.parent / "out"
    with Store.open(path) as store:
        publish_to(store, f"folder:{folder}")
    return folder


def founded(folder: Path) -> Path:
    """A store in this folder that has learned."""
    folder.mkdir(exist_ok=True)
    with Store.create(folder / "store", records(), SCHEMA, plan()) as store:
        store.learn()
    return folder / "store"


def delete(store: Store, k: int = 3) -> None:
    store.serve(EditRequest.delete([name(k)], request_id=f"r{k}"))


def served(trial: Path, disk: CrashAt) -> None:
    with Store.open(trial / "store", disk=disk) as store:
        delete(store)


def ended(trial: Path, disk: CrashAt) -> None:
    with Store.open(trial / "store", disk=disk) as store:
        store.withdraw()


def coefficients(file: Path) -> list[bytes]:
    """The bytes that a model leaves: all its weights together, each by itself, and each as JSON writes it."""
    weights = np.atleast_2d(load_file(file)["weights"])
    each = [number for number in weights.reshape(-1) if number]
    return [weights.tobytes(), *(number.tobytes() for number in each), *(repr(float(n)).encode() for n in each)]
