"""The inverse distribution function of certified noise, against mpmath and Python's own."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from noisygd_delete.engine import noise
from noisygd_delete.engine.noise import lower_normal_quantile

RNG = np.random.default_rng(7)
EDGES = np.concatenate([centre * (1 + np.linspace(-1e-9, 1e-9, 9)) for centre in (0.075, np.exp(-25.0))])
PLACES = np.concatenate(
    [RNG.random(400) / 2, 0.5 * np.exp(-RNG.random(400) * 675), EDGES, [0.25, 0.5, np.nextafter(0.5, 0), 2.0**-980]]
)


def error(probability: float, found: float) -> float:
    """|found − Φ⁻¹(p)| over 1 + |Φ⁻¹(p)|: by one Newton step from `found`, in 40 digits, since it is close."""
    with mpmath.workdps(40):
        z = mpmath.mpf(float(found))
        away = (
            (mpmath.log(mpmath.ncdf(z)) - mpmath.log(mpmath.mpf(float(probability)))) * mpmath.ncdf(z) / mpmath.npdf(z)
        )
        return float(abs(away) / (1 + abs(z)))


def worst() -> float:
    return max(map(error, PLACES, lower_normal_quantile(PLACES)))


def test_it_is_as_good_as_declared() -> None:
    assert worst() < noise.ACCURACY / 2


@pytest.mark.parametrize("part", ["_CENTRE", "_TAIL", "_FAR_TAIL"])
def test_a_digit_changed_in_any_part_is_noticed(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    above, below = getattr(noise, part)
    monkeypatch.setattr(noise, part, ((*above[:-1], above[-1] * (1 + 1e-13)), below))
    assert worst() > noise.ACCURACY


def test_shapes_and_pieces() -> None:
    many = RNG.random((3, noise._CHUNK + 5)) / 2
    found = lower_normal_quantile(many)
    assert found.shape == many.shape
    assert (found[2, -7:] == lower_normal_quantile(many[2, -7:])).all()
