"""b: its law to the ends of the tails, the bound on its rounding, and that it can be kept nowhere."""

from __future__ import annotations

import copy
import json
import pickle

import mpmath
import numpy as np
import pytest
from scipy.stats import kstest

from noisygd_delete import Records, losses
from noisygd_delete.engine import linear_term
from noisygd_delete.engine.linear_term import draw_linear_term, tail_normals
from noisygd_delete.engine.noise import ResearchNoise, SecureNoise
from noisygd_delete.engine.objective import PreciseObjective

from ..bank import unit_records


class Tape:
    """Words said beforehand."""

    certified = False

    def __init__(self, *parts: list[int]) -> None:
        self.parts = [np.array(part, dtype=np.uint64) for part in parts]

    def words(self, size: int) -> np.ndarray:
        part = self.parts.pop(0)
        assert len(part) == size
        return part


def noise(seed: int = 0) -> ResearchNoise:
    return ResearchNoise(np.random.default_rng(seed))


def test_it_is_standard_normal() -> None:
    draws = tail_normals(200_000, noise())
    assert kstest(draws, "norm").pvalue > 1e-3
    assert abs(np.corrcoef(draws[1:], draws[:-1])[0, 1]) < 0.01


def ideal(words: list[int]) -> mpmath.mpf:
    """z with Φ(z) = U/2, U with these words as its leading binary digits."""
    uniform = mpmath.fsum(mpmath.mpf(word) / mpmath.mpf(2) ** (64 * (i + 1)) for i, word in enumerate(words)) / 2
    return mpmath.findroot(
        lambda z: mpmath.log(mpmath.ncdf(z)) - mpmath.log(uniform), -mpmath.sqrt(-2 * mpmath.log(uniform))
    )


@pytest.mark.parametrize("first", [1, 3, 2**11 + 1, 2**40 - 3, 2**62 + 12345, 2**63 + 99, 2**64 - 2**30])
def test_every_draw_is_within_its_accuracy_of_the_ideal_one(first) -> None:
    """Cells at both ends: the whole interval of U that these words stand for."""
    with mpmath.workdps(60):
        drawn = tail_normals(1, Tape([first], [2**63], [0]))[0]
        for second in (2**63, 2**63 + 1):
            error = abs(mpmath.mpf(float(drawn)) - ideal([first, second]))
            assert error <= linear_term._ACCURACY / 8 * (1 + abs(drawn))


def test_an_empty_word_goes_further_into_the_tail() -> None:
    deep = tail_normals(2, Tape([0, 2**63], [2**63, 5], [1, 1], [7, 7]))
    assert deep[0] == pytest.approx(float(ideal([0, 2**63])) * -1, rel=1e-9)
    assert deep[0] > 9.2  # beyond where 53-bit uniforms end
    assert deep[1] == pytest.approx(0.674, abs=1e-3)


def test_the_rounding_covers_the_distance_to_the_ideal_b() -> None:
    words = noise(3)
    parts = [words.words(24) for _ in range(3)]
    variances = np.linspace(0.5, 2.0, 12)
    term = draw_linear_term((2, 12), Tape(*(p.tolist() for p in parts)), deviation=3.7, variances=variances)
    with mpmath.workdps(40):
        total = mpmath.mpf(0)
        for at, (first, second, third) in enumerate(zip(*(p.tolist() for p in parts), strict=True)):
            z = ideal([first, second]) * (-1 if third & 1 else 1)
            b = mpmath.mpf(3.7) * mpmath.sqrt(mpmath.mpf(float(variances[at % 12]))) * z
            total += (b - mpmath.mpf(float(term.per_record(1).ravel()[at]))) ** 2
        assert mpmath.sqrt(total) <= term.rounding
    assert term.rounding < 1e-11
    assert term.per_record_rounding(100) == pytest.approx(term.rounding / 100, rel=0.01)
    assert (term.per_record(100) == term.per_record(1) / 100).all()


def test_it_is_kept_nowhere() -> None:
    term = draw_linear_term((1, 5), SecureNoise(), deviation=2.0)
    value = f"{term.per_record(1)[0, 0]:.6f}"
    assert value not in repr(term)
    assert value not in str(term)
    assert value not in f"{[term]}"
    for keep in (pickle.dumps, copy.copy, copy.deepcopy, json.dumps):
        with pytest.raises(TypeError):
            keep(term)
    with pytest.raises(TypeError):
        vars(term)
    with pytest.raises(ValueError, match="read-only"):
        term._vector[0, 0] = 0.0


def test_impossible_sizes_are_refused() -> None:
    for wrong in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(ValueError, match="deviation"):
            draw_linear_term((1, 3), noise(), deviation=wrong)
    for variances in (np.array([1.0, 0.0, 1.0]), np.ones(2), np.array([1.0, np.nan, 1.0])):
        with pytest.raises(ValueError, match="variances"):
            draw_linear_term((1, 3), noise(), deviation=1.0, variances=variances)


def test_the_rounding_of_a_gradient_with_a_linear_term_counts_the_term_and_the_centre() -> None:
    records, loss = unit_records(50, 3), losses.Softmax(radius=1.0, classes=2)
    records = Records(records.features, (records.labels > 0).astype(float))
    plain = PreciseObjective(records, loss, regularization=0.1)
    term = draw_linear_term((2, 3), ResearchNoise(np.random.default_rng(1)), deviation=5.0)
    centre = np.full((2, 3), 7.0)
    pulled = plain.pulled(term, centre)
    far = plain.gradient_error(2.0 + float(np.linalg.norm(centre)))
    assert plain.pulled(None, centre).gradient_error(2.0) == pytest.approx(far, rel=1e-8, abs=0)
    drawn = (term.rounding + 4 * 2.0**-53 * term.norm) / 50
    added = 2.0**-51 * term.norm / 50 + drawn
    assert pulled.gradient_error(2.0) - far == pytest.approx(added, rel=1e-3, abs=0)
    assert far > plain.gradient_error(0.0) > 0
    assert pulled.pull_norm == pytest.approx(term.norm / 50)
    weights = np.random.default_rng(2).standard_normal((2, 3))
    away = weights - centre
    assert pulled.regular_value(weights) == pytest.approx(
        0.05 * (away**2).sum() + (term.per_record(50) * weights).sum()
    )
    np.testing.assert_allclose(pulled.regular_gradient(weights), 0.1 * away + term.per_record(50))
    mean = plain.gradient(weights) - 0.1 * weights
    np.testing.assert_allclose(pulled.gradient(weights), mean + pulled.regular_gradient(weights), atol=1e-12)
