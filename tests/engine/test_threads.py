"""A small table's solve runs on one thread, noisy steps too; a large one's solve on as many as were set."""

from __future__ import annotations

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from noisygd_delete import Curator
from noisygd_delete.curator import noisy_descent, starts
from noisygd_delete.engine import execution
from noisygd_delete.engine.kernel import quarter_of_memory
from noisygd_delete.errors import InvalidParameter, ProcessLost
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


@pytest.mark.parametrize(
    ("written", "most"), [("max 100000", 4), ("150000 100000", 2), ("20000 100000", 1), ("", 4), ("nonsense", 4)]
)
def test_a_control_group_says_how_many_processors_are_paid_for(written, most, tmp_path, monkeypatch) -> None:
    (tmp_path / "cpu.max").write_text(written + "\n")
    monkeypatch.setattr(execution, "CGROUPS", tmp_path)
    monkeypatch.setattr(execution.os, "sched_getaffinity", lambda _: set(range(4)), raising=False)
    execution.available_processors.cache_clear()
    try:
        assert execution.available_processors() == most
    finally:
        execution.available_processors.cache_clear()


def test_a_control_group_says_how_much_memory_is_paid_for(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(execution, "CGROUPS", tmp_path)
    machine = quarter_of_memory.__wrapped__()
    for written, least in (
        ("", machine),
        ("nonsense", machine),
        ("max", machine),
        (f"{1 << 20}", 1 << 18),
        (f"{1 << 60}", machine),
    ):
        (tmp_path / "memory.max").write_text(written + "\n")
        assert quarter_of_memory.__wrapped__() == least


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_parts_come_back_in_their_order_and_a_few_are_ahead(threads: int, monkeypatch) -> None:
    begun: list[int] = []

    def parts():
        for part in range(40):
            begun.append(part)
            yield part

    monkeypatch.setattr(execution, "thread_count", lambda numbers: threads if numbers == 600 else 1)
    for number, made in enumerate(execution.run_parallel(lambda part: part * part, parts(), 600)):
        assert made == number * number
        assert len(begun) <= number + 2 + 2 * threads * (threads > 1)
    assert begun == [*range(40)]
    assert number == 39


def test_a_group_of_torch_processes_of_one_adds_and_tells_as_alone(tmp_path, monkeypatch) -> None:
    distributed = pytest.importorskip("torch.distributed")
    monkeypatch.setenv("LOCAL_RANK", "3")
    distributed.init_process_group("gloo", init_method=f"file://{tmp_path}/meeting", rank=0, world_size=1)
    try:
        group = execution.TorchGroup()
        assert (group.rank, group.size, group.local_rank) == (0, 1, 3)
        part = np.arange(6.0).reshape(2, 3)
        total = group.total(part)
        np.testing.assert_array_equal(total, part)
        assert not np.shares_memory(total, part)
        assert (group.share({"a": 1}), group.gather("b")) == ({"a": 1}, ["b"])
        monkeypatch.setattr(distributed, "all_reduce", lambda _: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            group.total(part)

        def gone(_):
            raise RuntimeError("connection closed by peer")

        monkeypatch.setattr(distributed, "all_reduce", gone)
        with pytest.raises(ProcessLost, match="connection closed by peer"):
            group.total(part)
        for size, fits in ((execution.MOST_PROCESSES, True), (execution.MOST_PROCESSES + 1, False)):
            monkeypatch.setattr(distributed, "get_world_size", lambda size=size: size)
            if fits:
                assert execution.TorchGroup().size == size
            else:
                with pytest.raises(InvalidParameter, match=f"{size} processes are more"):
                    execution.TorchGroup()
    finally:
        distributed.destroy_process_group()


@pytest.mark.parametrize("launched", [False, True])
@pytest.mark.parametrize("size", [None, "1", "2"])
def test_a_group_is_found_where_torchrun_started_several_processes(
    launched: bool, size: str | None, monkeypatch
) -> None:
    monkeypatch.setattr(execution, "TorchGroup", lambda: "of torch")
    for name, value in (("TORCHELASTIC_RUN_ID", "1" if launched else None), ("WORLD_SIZE", size)):
        monkeypatch.delenv(name, raising=False)
        if value is not None:
            monkeypatch.setenv(name, value)
    found = execution.find_launched_group.__wrapped__()
    assert found == ("of torch" if launched and size == "2" else execution.ALONE)
