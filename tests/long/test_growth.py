"""`make bench-check`: nothing grows faster with its resource than the committed table says."""

from __future__ import annotations

import math

import pytest

from benchmarks import growth


def test_what_grows_faster_is_seen() -> None:
    before = {"n": 1.0, "d": 0.9}
    assert growth.worse({"n": 1.0 + growth.MORE / 2, "d": 0.1}, before) == []
    assert len(growth.worse({"n": 1.0 + growth.MORE + 0.01, "d": 0.9}, before)) == 1
    assert len(growth.worse({"n": 1.0}, before)) == 1, "what is measured no more is not passed over"
    assert len(growth.worse({"n": math.nan, "d": math.nan}, before)) == 2


def test_the_exponent_of_a_quadratic_is_two(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr(growth.time, "process_time", lambda: clock[0])

    def make(size: int):
        def run(_: int) -> None:
            clock[0] += size**2

        return run

    assert growth.exponent(make, 10, 1000) == pytest.approx((10_000, 2.0))


def test_every_resource_has_a_committed_exponent() -> None:
    assert set(growth.committed()) == set(growth.RESOURCES)
    assert max(growth.committed().values()) <= 1, "nothing grows faster than its resource"


@pytest.mark.long
def test_nothing_grows_faster_than_committed(record_property) -> None:
    found = {name: power for name, (*_, power) in growth.measured().items()}
    record_property("evidence", ", ".join(f"{name}: {power:.2f}" for name, power in found.items()))
    assert growth.worse(found, growth.committed()) == []
