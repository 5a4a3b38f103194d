"""The linear term b of objective perturbation: drawn once per release and held only in memory.

The published model together with b reveals the gradient sum of the private records exactly, so b cannot be pickled,
copied, printed or converted to JSON.

Each coordinate is s√v · Φ⁻¹(U/2) with a random sign, U uniform on (0, 1) with at least 64 significant bits however
small it is: the tails are not truncated (with plain 53-bit uniforms the law would end at 8.3 s). `rounding` bounds
‖b̂ − b‖ against an ideal b that is coupled with the draw, of law N(0, s²Σ) exactly; it enters the solver's tolerance
(Theorem 3). It assumes `noise.ACCURACY` for the inverse distribution function.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from .noise import NeverCopied, Noise, lower_normal_quantile

_ACCURACY = 2.0**-44  # of z, relative to 1 + |z|: cell of U, its rounding, and the inverse distribution function
_ROUNDOFF = 2.0**-53
_UNUSUAL = 9.0  # P(‖b‖ > ‖s√v‖ + 9 max s√v) < e^{−81/2} (Gaussian concentration)


class LinearTerm(NeverCopied):
    """The linear term b of objective perturbation: (outputs, features), float64, in units of the gradient sum."""

    __slots__ = ("_vector", "norm", "rounding")

    _refusal = "the linear term is never copied, pickled or stored: beside the model it reveals the gradient sum"

    def __init__(self, vector: NDArray[np.float64], rounding: float, usual: float) -> None:
        self._vector = vector
        self._vector.flags.writeable = False
        self.rounding = rounding
        self.norm = max(usual, float(np.linalg.norm(vector)))  # a bound on ‖b‖, public except once in 10¹⁸ draws

    def per_record(self, records: int) -> NDArray[np.float64]:
        """Return b/n, which is added to the gradient of the mean objective."""
        return self._vector / records

    def per_record_rounding(self, records: int) -> float:
        """Return a bound on the distance, in norm, of `per_record` from the ideal b/n."""
        return (self.rounding * (1 + 1e-12) + 4 * _ROUNDOFF * self.norm) / records

    def __repr__(self) -> str:
        return "LinearTerm(hidden)"


def tail_normals(size: int, noise: Noise) -> NDArray[np.float64]:
    """Draw independent N(0, 1) numbers, each within `_ACCURACY`·(1 + |z|) of an ideal draw.

    Their tail probabilities have 53 significant bits.
    """
    first, second = noise.words(size), noise.words(size)
    negative = (noise.words(size) & np.uint64(1)).astype(bool)
    exponent = np.full(size, -65)
    while (empty := first == 0).any():  # once in 2⁶⁴: the number is smaller, and as precise
        first, second = np.where(empty, second, first), np.where(empty, noise.words(size), second)
        exponent[empty] -= 64
    # U/2 for U = (first + second/2⁶⁴ + …)/2⁶⁴
    uniform = np.ldexp(first.astype(np.float64) + second.astype(np.float64) * 2.0**-64, exponent)
    normals = lower_normal_quantile(uniform)
    return np.where(negative, -normals, normals)


def draw_linear_term(
    shape: tuple[int, int], noise: Noise, *, deviation: float, variances: NDArray[np.float64] | None = None
) -> LinearTerm:
    """Draw b ~ N(0, s² (I ⊗ Σ)).

    Args:
        shape: (outputs, features).
        noise: Source of uniform words.
        deviation: s.
        variances: (features,) the diagonal of Σ; None: ones.

    Raises:
        ValueError: If a variance or s is not positive and finite.
    """
    if not 0 < deviation < math.inf:
        raise ValueError(f"deviation must be positive and finite, not {deviation}")
    size = math.prod(shape)
    normals = tail_normals(size, noise).reshape(shape)
    scale = np.full(shape[1], deviation) if variances is None else deviation * np.sqrt(variances)
    if not (np.isfinite(scale) & (scale > 0)).all() or scale.shape != (shape[1],):
        raise ValueError("variances must be one positive finite number per feature")
    error = np.linalg.norm(scale * (1 + np.abs(normals)))
    usual = math.sqrt(shape[0]) * float(np.linalg.norm(scale)) + _UNUSUAL * float(scale.max())
    return LinearTerm(normals * scale, float(error) * (_ACCURACY + 4 * _ROUNDOFF) * (1 + 1e-9), usual)
