"""A solver of public passes: how far one record moves where it ends, with no tolerance to reach and nothing measured.

The n slots are cut into B public blocks, whatever they hold. Pass t goes through them in public order, forwards and backwards in turn; each
is a gradient step of size η_t on the block's own objective, (B/n) Σ_{i in block} ℓ(θ; x_i) + (λ/2)‖θ‖². With η_t ≤ 2/(m + M) for every block, each
step brings two worlds nearer by 1 − η_t m, whatever the block holds, and the one with the record moves them apart by η_t BΔ/n. In units
of Δ/(nm), with a_t = η_t m B, the distance obeys

    z ← (1 − a_t/B) z,   + a_t at the record's block                                                                             (4)

from a common start. What it ends at is a sum of terms in (1 − a_t/B)^{±place}, convex in the place, so an end of the order is the worst; f is the
larger of both ends. Constant a: f ≤ a coth a, about 1 + a²/3 (in one direction only: 1 + a/2). Attained by the linear loss. Several
rows of a person add up: their number times f. Design sheet "exact steps", section 9(c); output perturbation of permuted stochastic
gradients has the one-way form since Wu et al. (2017).

Machine: a step errs by r_t = 1.01(ηe + 3uηG₁ + 2uW) (`exact_steps`; nothing here is random), and distances to the true path obey
D ← (1 − η_t m) D + r_t, so D never exceeds the largest r_t/(η_t m).
"""

from __future__ import annotations

from collections.abc import Sequence

from .arithmetic import UNIT

_STEEPER = 64 * UNIT  # of a step's contraction: its rounding, and that of the powers here
_SECOND_ORDER = 1.01


def step_sizes(*, first: float, last: float, passes: int, blocks: int, strong_convexity: float) -> tuple[float, ...]:
    """η_t = a_t/(mB), a_t from `first` to `last` by equal factors."""
    ratio = last / first
    return tuple(
        first * ratio ** (number / max(passes - 1, 1)) / (strong_convexity * blocks) for number in range(passes)
    )


def largest_step_size(*, strong_convexity: float, curvature: float, blocks: int, records: int) -> float:
    """2/(m + M) for the fullest block: ⌈n/B⌉ rows at most, counted B/n each, so its curvature is at most (1 + B/n)β."""
    return 2 / (2 * strong_convexity + fuller(blocks=blocks, records=records) * curvature) * (1 - 4 * UNIT)


def fuller(*, blocks: int, records: int) -> float:
    """1 + B/n, rounded up: how much more than n/B rows a block may hold."""
    return (1 + blocks / records) * (1 + 4 * UNIT)


def carried(*, step_sizes: Sequence[float], strong_convexity: float, blocks: int) -> float:
    """f of (4), rounded up: where two worlds end apart, in units of Δ/(nm)."""
    farthest = 0.0
    for end in (0, blocks - 1):
        apart = 0.0
        for number, step_size in enumerate(step_sizes):
            rate = step_size * strong_convexity
            place = end if number % 2 == 0 else blocks - 1 - end
            apart = apart * (1 - rate) ** blocks + rate * blocks * (1 - rate) ** (blocks - 1 - place)
        farthest = max(farthest, apart)
    return farthest * (1 + 1e-9 + _STEEPER * blocks * len(step_sizes))


def rounding(
    *,
    step_sizes: Sequence[float],
    strong_convexity: float,
    gradient_error: float,
    lipschitz: float,
    regularization: float,
    weights_norm: float,
) -> float:
    """D: how far the machine's answer may be from that of the same passes over the reals, rounded up.

    Args:
        gradient_error: of a block's measured gradient. lipschitz: of a block's mean loss. weights_norm: W, which no step leaves.
    """
    steepest = lipschitz + regularization * weights_norm
    least = min(step_sizes) * strong_convexity * (1 - _STEEPER)
    moved = (gradient_error + 3 * UNIT * steepest) / strong_convexity
    return _SECOND_ORDER * (moved + 2 * UNIT * weights_norm / least)
