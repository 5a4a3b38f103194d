"""How deep the call stack is where a deletion by command reaches the training."""

from __future__ import annotations

import sys
from pathlib import Path
from types import FrameType

import pytest

import noisygd_delete
from noisygd_delete import Budget
from noisygd_delete.cli import main
from noisygd_delete.curator.learning import train
from tests.store.conftest import made, name

PACKAGE = str(Path(noisygd_delete.__file__).parent)
LIMIT = 8  # from `main` to `train`, both included


def frames_to(function: object, arguments: list[str]) -> list[str]:
    """Run the command; return this package's functions on the stack at the first call of `function`."""
    found: list[str] = []

    def watch(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code is function.__code__ and not found:  # type: ignore[attr-defined]
            while frame is not None:
                if frame.f_code.co_filename.startswith(PACKAGE):
                    found.append(frame.f_code.co_name)
                frame = frame.f_back  # type: ignore[assignment]

    sys.setprofile(watch)
    try:
        status = main(arguments)
    finally:
        sys.setprofile(None)
    assert status == 0
    return found[::-1]


@pytest.mark.parametrize(
    "facts",
    [{}, {"method": "sufficient-statistics", "releases": 6, "budget": Budget.from_gdp(dp=2.0, deletion=0.5)}],
    ids=["noise afresh", "carried noise"],
)
def test_a_deletion_reaches_training_in_few_calls(tmp_path: Path, facts) -> None:
    store = str(made(tmp_path / "store", **facts))
    frames = frames_to(train, ["delete", store, name(3)])
    assert frames[-1] == "train"
    assert len(frames) <= LIMIT, frames
