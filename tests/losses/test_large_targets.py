"""A residual far beyond all bounds: neither slope nor value overflows, and no digit of an ordinary one has moved."""

from __future__ import annotations

import math

import numpy as np
import pytest

from noisygd_delete import losses

LOSS = losses.PseudoHuber(radius=1.0, delta=0.5)


@pytest.mark.parametrize(("dtype", "largest"), [(np.float32, 1e29), (np.float64, 1e160)])
def test_the_slope_of_any_residual_is_that_of_the_formula(dtype, largest):
    residuals = np.array([s * r for r in [0, *np.logspace(-12, math.log10(largest), 200)] for s in (-1, 1)], dtype)
    scores, labels = residuals[:, None], np.zeros_like(residuals)
    ratios = residuals.astype(np.longdouble) / 0.5
    expected = residuals.astype(np.longdouble) / np.sqrt(1 + ratios**2)
    np.testing.assert_allclose(LOSS.derivative(scores, labels, np)[:, 0], expected, rtol=4 * np.finfo(dtype).eps)
    value = LOSS.value(scores, labels, np)
    np.testing.assert_allclose(value, 0.25 * ratios**2 / (np.sqrt(1 + ratios**2) + 1), rtol=8 * np.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_an_ordinary_slope_has_the_digits_of_the_plain_formula(dtype):
    residuals = np.random.default_rng(0).normal(size=10_000).astype(dtype)
    ratios = residuals / dtype(0.5)
    plain = residuals / np.sqrt(dtype(1) + ratios * ratios)
    np.testing.assert_array_equal(LOSS.derivative(residuals[:, None], np.zeros_like(residuals), np)[:, 0], plain)
