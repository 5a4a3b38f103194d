"""A progress bar, on a terminal only."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from ..engine.noisygd import Progress

_PATIENCE = 0.5  # seconds of a run that no bar is drawn for: loading what draws it would be a part of them


@contextmanager
def progress_bar(
    label: str, total: int, running: Callable[[int], str] | None = None, unit: str = "step"
) -> Iterator[Progress | None]:
    """A bar on stderr while it is a terminal; nothing in a pipe. `running` says where the guarantee stands after k units."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    bar = _Bar(label, total, running, unit)
    try:
        yield bar
    finally:
        bar.close()


class _Bar:
    """Drawn once a run has taken `_PATIENCE` seconds, then ten times a second at most. What it says beside the steps is
    computed anew only while that takes less than a hundredth of the time."""

    def __init__(self, label: str, total: int, running: Callable[[int], str] | None, unit: str) -> None:
        self._words: dict[str, Any] = {"total": total, "desc": label, "unit": unit, "leave": False}
        self._running, self._bar = running, cast("Any", None)
        self._began = time.perf_counter()
        self._next = self._speaks = self._began + _PATIENCE

    def __call__(self, step: int) -> None:
        now = time.perf_counter()
        if now < self._next:
            return
        if self._bar is None:
            from tqdm.std import tqdm

            self._bar = tqdm(**self._words)
            self._bar.start_t -= now - self._began
        if self._running is not None and now >= self._speaks:
            before = time.perf_counter()
            self._bar.set_postfix_str(self._running(step), refresh=False)
            after = time.perf_counter()
            self._speaks = after + 99 * (after - before)
        self._bar.n = step
        self._bar.refresh()
        self._next = time.perf_counter() + 0.1

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
