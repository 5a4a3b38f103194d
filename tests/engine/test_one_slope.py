"""A loss states its slope once: arrays and the compiled kernel run that one text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from noisygd_delete import Records, losses
from noisygd_delete.engine import Objective, kernel
from noisygd_delete.losses.base import Loss, LossConstants

RNG = np.random.default_rng(7)
ROWS = RNG.standard_normal((700, 5)) / 9
LABELS = RNG.choice([-1.0, 1.0], len(ROWS))
WEIGHTS = RNG.standard_normal((1, 5)) * 9


@dataclass(frozen=True)
class Planted(Loss):
    """A loss of no other file: g = c (z − y)/√(1 + (z − y)²)·(1 + tanh(z)/4), smooth and bounded; its constants do not matter here."""

    scale: float = 0.25

    name: ClassVar[str] = "planted"
    label_kind: ClassVar[str] = "target"

    @property
    def constants(self) -> LossConstants:
        return LossConstants(lipschitz=1.25 * self.scale * self.radius, smoothness=self.radius**2)

    @property
    def parameter(self) -> float:
        return self.scale

    def value(self, scores, labels, xp):
        raise NotImplementedError

    @staticmethod
    def slope(score, label, parameter, tanh, sqrt):
        residual = score - label
        return parameter * residual / sqrt(1.0 + residual * residual) * (1.0 + tanh(score) * 0.25)


def exact() -> np.ndarray:
    """∇L_D of the planted loss by the definition, in float64."""
    scores = ROWS.astype(np.float32).astype(float) @ WEIGHTS[0]
    residual = scores - LABELS
    slopes = 0.25 * residual / np.hypot(1, residual) * (1 + np.tanh(scores) / 4)
    return slopes @ ROWS.astype(np.float32).astype(float) / len(ROWS)


def test_a_new_loss_has_every_fast_path_by_its_slope_alone(monkeypatch) -> None:
    pytest.importorskip("numba", reason="the compiled kernel needs the extra `fast`")
    monkeypatch.setattr(kernel, "LEAST", 0)
    records = Records(ROWS, LABELS)
    compiled = Objective(records, Planted(1.0), regularization=0.0)
    assert compiled._kernel is not None
    assert np.abs(compiled.gradient(WEIGHTS) - exact()).max() < 1e-7
    precise = Objective(records, Planted(1.0), regularization=0.0, dtype="float64")
    assert precise._kernel is not None
    assert np.abs(precise.gradient(WEIGHTS) - exact()).max() < 1e-15


def test_a_new_loss_runs_on_a_device() -> None:
    pytest.importorskip("torch", reason="a device needs torch")
    from noisygd_delete.engine.device import DeviceObjective

    there = DeviceObjective(Records(ROWS, LABELS), Planted(1.0), regularization=0.0, device="cpu")
    assert np.abs(there.gradient(WEIGHTS) - exact()).max() < 1e-7


def test_an_heir_with_a_derivative_of_its_own_is_left_to_products(monkeypatch) -> None:
    class Heir(losses.Logistic):
        def derivative(self, scores, labels, xp):
            return super().derivative(scores, labels, xp) / 2

    monkeypatch.setattr(kernel, "LEAST", 0)
    assert Heir(1.0).scalar_slope is None
    assert (
        Heir(1.0).derivative(np.ones((1, 1)), np.ones(1), np)
        == losses.Logistic(1.0).derivative(np.ones((1, 1)), np.ones(1), np) / 2
    )
    assert Objective(Records(ROWS, LABELS), Heir(1.0), regularization=0.0)._kernel is None
    assert losses.Softmax(1.0, 3).scalar_slope is None
    assert losses.clip_loss(losses.Logistic(1.0), 0.4).scalar_slope.bound == 0.4


def test_a_loss_without_slope_and_derivative_says_so() -> None:
    class Empty(Planted):
        slope = None

    with pytest.raises(NotImplementedError, match="neither slope nor derivative"):
        Empty(1.0).derivative(np.ones((1, 1)), np.ones(1), np)


def test_the_arithmetic_of_a_slope_is_single_and_its_loop_is_named_by_it() -> None:
    """A float64 literal would widen it, and a loop kept on disk under a name of its own would outlive an edit."""
    numba = pytest.importorskip("numba", reason="the compiled kernel needs the extra `fast`")
    from noisygd_delete.engine import kernel_numba

    def edited(score, label, parameter, tanh, sqrt):
        return label * ((tanh(score * label * 0.5) - 1.0) * 0.25)

    clamped, root = kernel_numba.clamp, kernel_numba.root
    widths, tanh = [], kernel_numba.formula_for(kernel_numba.tanh, "float32")
    for formula in (kernel_numba.formula_for(Planted.slope, kind) for kind in ("float32", "float64")):

        @numba.njit
        def one(z, formula=formula):
            return formula(z, z, z, tanh, root)

        one(np.float32(0.5))
        widths.append(str(one.nopython_signatures[0].return_type))
    assert widths == ["float32", "float64"]  # the second is the fault that it prevents
    assert clamped(np.float32(np.nan), np.float32(0.5)) == 0.5
    names = {
        kernel_numba.add_for(each, kind).py_func.__qualname__
        for each in (losses.Logistic.slope, edited, Planted.slope)
        for kind in ("float32", "float64")
    }
    assert len(names) == 6
