"""How many guesses about canaries may be right, worked out without the recursion: by linear programming, and by exact laws.

A law of the number N of right guesses (of r, about m canaries that are in by fair coins) is within a trade-off curve f if, for every
i, the events "right, and at least i − 1 of the others" and "wrong, and …" have rates within f on average over the canaries.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog


def most_likely(canaries, guesses, correct, lines):
    """The largest P[N ≥ correct] over all such laws, where f is the highest of `lines`: (height, slope) each, f(a) ≥ height + slope·a."""
    number = np.arange(guesses + 1)
    rows, limits = [], []
    for i in range(1, guesses + 1):
        right = np.where(number >= i, number, 0) / canaries
        wrong = np.where(number >= i - 1, guesses - number, 0) / canaries
        for height, slope in lines:  # wrong ≥ height + slope (1 − right)
            rows.append(-(wrong + slope * right))
            limits.append(-(height + slope))
    found = linprog(
        -(number >= correct).astype(float),
        A_ub=np.array(rows),
        b_ub=np.array(limits),
        A_eq=np.ones((1, guesses + 1)),
        b_eq=[1.0],
        bounds=(0, 1),
    )
    return -found.fun if found.status == 0 else 0.0
