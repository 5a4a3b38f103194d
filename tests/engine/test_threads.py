"""A small table's solve runs on one thread, noisy steps too; a large one's solve on as many as were set."""

from __future__ import annotations

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from noisygd_delete import Curator
from noisygd_delete.curator import noisy_descent, starts
from noisygd_delete.engine import execution
from tests.store.conftest import plan, records


def blas() -> set[int]:
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


def test_threads_follow_the_size_and_come_back_after_an_error(monkeypatch) -> None:
    monkeypatch.setattr(execution, "LEAST", 600)
    execution._pools.cache_clear()
    with threadpool_limits(2, user_api="blas"):
        with execution.limit_threads(600):
            assert blas() == {2}
        with execution.limit_threads(599):
            assert blas() == {1}
        assert blas() == {2}
        with pytest.raises(ValueError, match="planted"), execution.limit_threads(599):
            raise ValueError("planted")
        assert blas() == {2}


def test_a_solve_and_noisy_steps_are_limited(monkeypatch) -> None:
    seen = {}
    for module, name in ((starts, "solve"), (noisy_descent, "run_exactly")):
        run = getattr(module, name)

        def watched(*arguments, run=run, name=name, **words):
            seen[name] = blas()
            return run(*arguments, **words)

        monkeypatch.setattr(module, name, watched)
    execution._pools.cache_clear()
    with threadpool_limits(2, user_api="blas"):
        Curator(records(), plan(method="output-perturbation")).learn()
    assert seen == {"solve": {1}, "run_exactly": {1}}


@pytest.mark.parametrize(("written", "most"), [("max 100000", 4), ("150000 100000", 2), ("20000 100000", 1)])
def test_a_control_group_says_how_many_processors_are_paid_for(written, most, tmp_path, monkeypatch) -> None:
    (tmp_path / "cpu.max").write_text(written + "\n")
    monkeypatch.setattr(execution, "CGROUPS", tmp_path)
    monkeypatch.setattr(execution.os, "sched_getaffinity", lambda _: set(range(4)), raising=False)
    execution.available_processors.cache_clear()
    try:
        assert execution.available_processors() == most
    finally:
        execution.available_processors.cache_clear()
