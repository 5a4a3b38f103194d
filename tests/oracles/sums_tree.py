"""The joint law of a tree of draws of noisy sums, from unit vectors: nothing of the package is used.

The recursion is run as a black box on basis vectors of (noise, person's statistic). Its matrix gives the mean and the covariance of all
draws together, and the divergence of two worlds is a quadratic form of the covariance's inverse, in rational arithmetic.
"""

from __future__ import annotations

from fractions import Fraction


def run(draws, sums, noise):
    """y of every draw. draws: (parent, carry, deviation); sums: S(D_j) of each table; noise: one number a draw."""
    published = []
    for (parent, carry, deviation), total, fresh in zip(draws, sums, noise, strict=True):
        rest = 0 if parent is None else published[parent] - sums[parent]
        published.append(total + carry * rest + deviation * fresh)
    return published


def columns(draws):
    """Of every noise the vector of what it adds to each draw."""
    number, nothing = len(draws), [Fraction(0)] * len(draws)
    return [run(draws, nothing, [Fraction(i == j) for i in range(number)]) for j in range(number)]


def covariance(draws):
    parts = columns(draws)
    number = range(len(draws))
    return [[sum((part[i] * part[j] for part in parts), Fraction(0)) for j in number] for i in number]


def solve(matrix, right):
    """matrix⁻¹ right, by elimination over the rationals."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    size = len(rows)
    for at in range(size):
        pivot = next(i for i in range(at, size) if rows[i][at])
        rows[at], rows[pivot] = rows[pivot], rows[at]
        rows[at] = [value / rows[at][at] for value in rows[at]]
        for other in range(size):
            if other != at and rows[other][at]:
                factor = rows[other][at]
                rows[other] = [a - factor * b for a, b in zip(rows[other], rows[at], strict=True)]
    return [row[-1] for row in rows]


def divergence(draws, moved, seen):
    """μ² of the two worlds, whose sums differ by `moved` (a vector a draw), for who saw the draws `seen`."""
    spread = covariance(draws)
    nothing = [Fraction(0)] * len(draws)
    total = Fraction(0)
    inner = [[spread[i][j] for j in seen] for i in seen]
    for part in zip(*moved, strict=True):
        there, gone = run(draws, list(part), nothing), run(draws, nothing, nothing)
        shift = [there[i] - gone[i] for i in seen]
        total += sum((a * b for a, b in zip(shift, solve(inner, shift), strict=True)), Fraction(0))
    return total
