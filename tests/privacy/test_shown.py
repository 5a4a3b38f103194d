"""One way to write an upper bound: rounded up, the same digits wherever it stands."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from fractions import Fraction

import pytest

from noisygd_delete.privacy.guarantee import Guarantee
from noisygd_delete.privacy.sentences import format_bound, round_up, success_per_hundred
from noisygd_delete.privacy.worlds import Worlds


def bounds(count: int = 4000):
    generator = random.Random(11)
    yield from (0.0, 1.0, 0.1, 1e-6, 0.0032, 0.9999, 0.99999, 99.995, 1e16, 1e-300, 1.7e308)
    for _ in range(count):
        yield math.exp(generator.uniform(-40, 40))


def test_no_bound_is_written_smaller_than_it_is() -> None:
    for bound in bounds():
        exact = Fraction(repr(bound))
        assert exact <= Fraction(format_bound(bound)) <= exact * (1 + Fraction(1, 1000))
        assert exact <= Fraction(repr(round_up(bound, 10))) <= exact * (1 + Fraction(1, 10**9))
        if bound <= 1:
            percent = format_bound(bound, percent=True)
            assert percent.endswith(" %")
            assert 100 * exact <= Fraction(percent[:-2]) <= 100 * exact + Fraction(1, 10)
            assert 50 + 50 * exact <= success_per_hundred(bound) <= 51 + 50 * exact
        else:
            assert success_per_hundred(bound) == 100


def test_writing_twice_changes_nothing() -> None:
    """What a signed file holds in ten digits reads like what the command line shows."""
    for bound in bounds():
        assert format_bound(round_up(bound, 10)) == format_bound(bound)


@pytest.mark.parametrize(
    ("bound", "text"),
    [(0.00321, "0.4 %"), (0.0032, "0.4 %"), (0.003, "0.3 %"), (0.00001, "0.1 %"), (0.0, "0.0 %"), (1.0, "100.0 %")],
)
def test_percentages(bound: float, text: str) -> None:
    assert format_bound(bound, percent=True) == text


@pytest.mark.parametrize(
    ("bound", "text"),
    [(0.1, "0.1"), (1e-6, "1e-6"), (0.12341, "0.1235"), (123456.7, "1.235e5"), (None, "∞"), (math.inf, "∞")],
)
def test_numbers(bound: float | None, text: str) -> None:
    assert format_bound(bound) == text


def test_a_guarantee_is_one_short_line() -> None:
    guarantee = Guarantee("dp", Worlds.REPLACE, gdp_squared=0.01, assumptions=("a long condition " * 20,) * 6)
    assert guarantee.at_most in repr(guarantee)
    assert len(repr(guarantee)) < 150
    assert "proven" in repr(guarantee)
    assert "proven" not in repr(replace(guarantee, proven=False))
