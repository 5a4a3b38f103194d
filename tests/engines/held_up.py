"""A worker that is held up in the middle of a pass, so that a test can kill it, or the driver, while the pass is under way."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from noisygd_delete_sources.workers.questions import GradientSum, Longest, Partition

LONGEST = 240.0  # seconds


@dataclass(frozen=True)
class HeldUp(GradientSum):
    """A gradient's sum; the first worker that computes it for partition 0 writes its process's id to `mark`, and waits to be killed."""

    mark: str = ""

    def answer_for(self, partition: Partition) -> Any:
        wait(self.mark, partition)
        return super().answer_for(partition)


def wait(mark: str, partition: Partition) -> None:
    """To be killed, in the first process that comes here with partition 0."""
    own = Path(f"{mark}.{os.getpid()}")
    if partition.number == 0:
        own.write_text(str(os.getpid()))
        with suppress(FileExistsError):
            os.link(own, mark)
            time.sleep(LONGEST)


@dataclass(frozen=True)
class LongestHeldUp(Longest):
    """The question that `init` asks of every row, held up likewise."""

    mark: str = ""

    def answer_for(self, partition: Partition) -> Any:
        wait(self.mark, partition)
        return super().answer_for(partition)


def held_up(question: GradientSum, mark: Path) -> HeldUp:
    return HeldUp(question.loss, question.slots, question.weights, question.dtype, str(mark))


def marked(mark: Path) -> int:
    """The process that is held up, once one is."""
    until = time.monotonic() + LONGEST
    while not mark.exists():
        if time.monotonic() > until:
            raise AssertionError("no worker was held up")
        time.sleep(0.01)
    return int(mark.read_text())
