"""A small table's solve runs on one thread; its noisy steps, and a large one's solve, on as many as were set."""

from __future__ import annotations

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from noisygd_delete import Curator
from noisygd_delete.curator import learning
from noisygd_delete.engine import threads
from tests.store.conftest import plan, records


def blas() -> set[int]:
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


def test_threads_follow_the_size_and_come_back_after_an_error(monkeypatch) -> None:
    monkeypatch.setattr(threads, "LEAST", 600)
    threads._pools.cache_clear()
    with threadpool_limits(2, user_api="blas"):
        with threads.limit_threads(600):
            assert blas() == {2}
        with threads.limit_threads(599):
            assert blas() == {1}
        assert blas() == {2}
        with pytest.raises(ValueError, match="planted"), threads.limit_threads(599):
            raise ValueError("planted")
        assert blas() == {2}


def test_a_solve_is_limited_and_its_noisy_steps_are_not(monkeypatch) -> None:
    seen = {}
    for name in ("solve", "_descend"):
        run = getattr(learning, name)

        def watched(*arguments, run=run, name=name, **words):
            seen[name] = blas()
            return run(*arguments, **words)

        monkeypatch.setattr(learning, name, watched)
    threads._pools.cache_clear()
    with threadpool_limits(2, user_api="blas"):
        Curator(records(), plan(method="minimiser")).learn()
    assert seen == {"solve": {1}, "_descend": {2}}
