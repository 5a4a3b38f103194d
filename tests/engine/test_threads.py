"""A small table's products run on one thread; a large one's on as many as were set; the limit ends with the run."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from noisygd_delete import losses
from noisygd_delete.engine import threads


def blas() -> set[int]:
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


@dataclass
class Sized:
    features: np.ndarray
    loss: losses.Loss


def test_threads_follow_the_size_and_come_back_after_an_error(monkeypatch) -> None:
    table = Sized(np.zeros((30, 4)), losses.Softmax(1.0, 5))
    monkeypatch.setattr(threads, "LEAST", 600)
    threads._pools.cache_clear()

    @threads.on_threads_that_pay
    def seen(records: Sized, plan: Sized, fails: bool = False) -> set[int]:
        if fails:
            raise ValueError("planted")
        return blas()

    with threadpool_limits(2, user_api="blas"):
        assert seen(table, table) == {2}  # 30 × 4 × 5 is large here
        monkeypatch.setattr(threads, "LEAST", 601)
        assert seen(table, table) == {1}
        assert blas() == {2}
        with pytest.raises(ValueError, match="planted"):
            seen(table, table, True)
        assert blas() == {2}
