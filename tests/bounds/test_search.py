"""The one search: what it answers was asked about and found safe, and nothing much smaller is."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from itertools import product

import pytest

from noisygd_delete.bounds import arithmetic

CROSSINGS = [1e-290, 3e-17, 0.7, 1.0, math.pi, 1e5, 7e280]
GUESSES = [1e-200, 1e-3, 1.0, 4.0, 1e150]


def judged(least_safe: Callable[..., float], digits: float) -> list[str]:
    """Every way in which a search over many crossings was wrong."""
    faults = []
    for crossing, guess, factor in product(CROSSINGS, GUESSES, (2.0, 16.0)):
        said: dict[float, bool] = {}

        def safe(x: float, crossing: float = crossing, said: dict[float, bool] = said) -> bool:
            said[x] = x >= crossing
            return said[x]

        found = least_safe(safe, guess=guess, factor=factor, digits=digits)
        if not said.get(found, False):
            faults.append(f"{found} was not checked safe")
        if not found <= crossing * (1 + 2 * max(digits, 1e-15)):
            faults.append(f"{found} for {crossing}")
    return faults


@pytest.mark.parametrize("digits", [1e-15, 1e-9, 0.005])
def test_the_answer_was_checked_and_is_the_least(digits: float) -> None:
    assert judged(arithmetic.least_safe, digits) == []


def unsafe_end(safe, low, high, digits):
    """Returns its last unsafe point."""
    for _ in range(200):
        middle = math.sqrt(low) * math.sqrt(high) if low > 0 and high / low > 4 else low + (high - low) / 2
        if not low < middle < high or high - low <= digits * high:
            break
        low, high = (low, middle) if safe(middle) else (middle, high)
    return low


PLANTED = {
    "its unsafe end": unsafe_end,
    "the middle": lambda safe, low, high, digits: (low + high) / 2,
    "the bracket": lambda safe, low, high, digits: high,
}


@pytest.mark.parametrize("fault", PLANTED)
def test_a_search_that_returns_another_point_is_noticed(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arithmetic, "first_safe", PLANTED[fault])
    assert judged(arithmetic.least_safe, 1e-9)


def test_a_search_that_does_not_go_down_is_noticed() -> None:
    def never_down(safe, *, guess, factor, digits):
        return arithmetic.least_safe(safe, guess=guess, factor=factor, digits=digits, below=guess / factor)

    assert judged(never_down, 1e-9)


def test_what_is_not_to_be_had_is_infinite_and_what_is_too_small_is_not_asked() -> None:
    assert arithmetic.least_safe(lambda x: False, guess=1.0, most=100.0) == math.inf
    assert arithmetic.least_safe(lambda x: False, guess=math.nan) == math.inf
    asked: list[float] = []

    def safe(x: float) -> bool:
        asked.append(x)
        return True

    assert 0.5 < arithmetic.least_safe(safe, guess=1.0, below=0.5) <= 0.5 * (1 + 2e-15)
    assert min(asked) > 0.5
    assert arithmetic.least_safe(lambda x: x >= 100.0, guess=1.0, most=100.0) == 100.0


def test_whole_numbers_exactly() -> None:
    chance = random.Random(5)
    for limit in [1, 2, 3, 7, 8, 9, 1023, 1024, *(chance.randrange(1, 10**9) for _ in range(200))]:
        asked: list[int] = []

        def safe(number: int, limit: int = limit, asked: list[int] = asked) -> bool:
            asked.append(number)
            return number >= limit

        assert arithmetic.least_whole(safe) == limit
        assert len(asked) <= 2 * limit.bit_length() + 2
        assert arithmetic.last_whole(lambda number, limit=limit: number < limit) == limit - 1
        assert arithmetic.first_whole(safe, 0, limit + 5) == limit
        found = arithmetic.least_whole(safe, digits=0.05)
        assert found is not None
        assert limit <= found <= max(limit + 1, limit * 1.06)
    assert arithmetic.least_whole(lambda number: number >= 65, most=64) is None
    assert arithmetic.least_whole(lambda number: number >= 6, guess=6, below=3) == 6


def test_a_search_that_begins_where_something_cheaper_is_sure_ends_at_the_same_number() -> None:
    for last in (0, 1, 2, 7, 100, 1001):
        for sure in {0, min(1, last), last // 2, last}:
            asked: list[int] = []

            def fits(number: int, last: int = last, asked: list[int] = asked) -> bool:
                asked.append(number)
                return number <= last

            assert arithmetic.last_whole(fits, lambda number, sure=sure: number <= sure) == last
            if sure == last:
                assert asked == [last + 1]  # one question, which is answered no
