"""A table of values that the functions of `bounds/` return, for Coq to compare with its own formulas in rational arithmetic."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

from noisygd_delete.bounds import correlated_sums, shifted_interpolation, theorem_5_1

from .coq_files import FOLDER

ROWS = 10_000
_BATCH = 1_000  # rows of one lemma


def _dyadic(generator: random.Random, most: int, bits: int = 6) -> Fraction:
    """A positive number of few binary digits, which a float holds as it is."""
    return Fraction(generator.randint(1, most << bits), 1 << bits)


def _chain(generator: random.Random) -> dict[str, Fraction]:
    """Facts of a run whose step contracts."""
    return {
        "sensitivity": _dyadic(generator, 4, 3),
        "step_size": Fraction(generator.randint(1, 15), 16),
        "strong_convexity": Fraction(generator.randint(1, 15), 16),
        "noise_variance": _dyadic(generator, 4, 4),
        "records": Fraction(generator.randint(1, 40)),
    }


def _floats(facts: dict[str, Fraction]) -> dict[str, float]:
    return {name: float(value) for name, value in facts.items()}


Row = tuple[list[Fraction], list[int], Fraction]


def _gdp(generator: random.Random) -> Row:
    chain, steps, clean = _chain(generator), generator.randint(1, 5), generator.randint(0, 5)
    mu = shifted_interpolation.gdp(**_floats(chain), steps_with_record=steps, steps_without_record=clean)
    return [*chain.values()], [steps, clean], Fraction(mu) ** 2


def _limit(generator: random.Random) -> Row:
    chain = _chain(generator)
    return [*chain.values()], [1, 0], Fraction(shifted_interpolation.gdp_limit(**_floats(chain))) ** 2


def _diffused(generator: random.Random) -> Row:
    chain, steps, tolerance = _chain(generator), generator.randint(1, 5), _dyadic(generator, 1)
    mu = shifted_interpolation.minimiser_dp_gdp(**_floats(chain), steps=steps, gradient_tolerance=float(tolerance))
    return [*chain.values(), tolerance], [steps], Fraction(mu) ** 2


def _diffused_deletion(generator: random.Random) -> Row:
    chain, steps, tolerance = _chain(generator), generator.randint(1, 5), _dyadic(generator, 1)
    facts = _floats(chain)
    facts.pop("sensitivity")
    mu = shifted_interpolation.minimiser_deletion_gdp(**facts, steps=steps, gradient_tolerance=float(tolerance))
    return [Fraction(0), *list(chain.values())[1:], tolerance], [steps], Fraction(mu) ** 2


def _noise(generator: random.Random) -> Row:
    chain, mu = _chain(generator), _dyadic(generator, 2)
    facts = _floats(chain)
    facts.pop("noise_variance")
    found = shifted_interpolation.noise_variance(gdp=float(mu), **facts)
    listed = [mu, *(chain[name] for name in ("sensitivity", "step_size", "strong_convexity", "records"))]
    return listed, [], Fraction(found)


def _printed_noise(generator: random.Random) -> Row:
    order, lipschitz, ridge, records = (_dyadic(generator, 4) for _ in range(4))
    rate = _dyadic(generator, 2)
    found = theorem_5_1.noise_variance(
        rate=float(rate), sensitivity=float(2 * lipschitz), regularization=float(ridge), records=float(records)
    )
    return [order, order * rate, lipschitz, ridge, records], [], Fraction(found)


def _condition(generator: random.Random) -> Row:
    facts = {"regularization": _dyadic(generator, 4), "smoothness": _dyadic(generator, 9)}
    return [*facts.values()], [], Fraction(theorem_5_1.condition_number(**_floats(facts)))


def _step_size(generator: random.Random) -> Row:
    facts = {"regularization": _dyadic(generator, 4), "smoothness": _dyadic(generator, 9)}
    return [*facts.values()], [], Fraction(theorem_5_1.step_size(**_floats(facts)))


def _charge(generator: random.Random) -> Row:
    carry, variance, apart = Fraction(generator.randint(0, 64), 64), _dyadic(generator, 9), _dyadic(generator, 4)
    rows = {name: generator.randint(0, 3) for name in ("stay", "joined", "left")}
    found = correlated_sums.draw_cost(carry=carry, variance=float(variance), apart=float(apart), rounded=0.0, **rows)
    return [carry, variance, apart, *map(Fraction, rows.values())], [], Fraction(found)


# formula of Values.v, the share of the rows, and where they come from
SOURCES: dict[str, tuple[float, Callable[[random.Random], Row]]] = {
    "e_gdp": (0.3, _gdp),
    "e_limit": (0.1, _limit),
    "e_apart": (0.2, _diffused),
    "e_apart ": (0.1, _diffused_deletion),
    "e_noise": (0.1, _noise),
    "e_printed_noise": (0.1, _printed_noise),
    "e_condition": (0.03, _condition),
    "e_step": (0.02, _step_size),
    "e_charge": (0.05, _charge),
}


def rational(value: Fraction) -> str:
    """A rational number as Coq reads it."""
    return f"({value.numerator} # {value.denominator})"


def rows(seed: int = 0, number: int = ROWS) -> Iterator[tuple[str, Row]]:
    """Formula and row, the same ones for the same seed."""
    generator = random.Random(seed)
    for formula, (share, source) in SOURCES.items():
        for _ in range(round(share * number)):
            yield formula.strip(), source(generator)


def source_text(seed: int = 0, number: int = ROWS, change: Callable[[int, Fraction], Fraction] | None = None) -> str:
    """A Coq file that states of every row that the package's value is the formula's.

    Args:
        seed: Of the random facts.
        number: Of rows.
        change: What becomes of the value of a row, by its number: for planted faults.
    """
    lines = [
        "(* Written by proofs_check/coq_values.py. *)",
        "From Coq Require Import List QArith.",
        "From NoisyGD Require Import Values.",
        "Import ListNotations.",
        "Open Scope Q_scope.",
    ]
    batch: list[str] = []
    written = [*rows(seed, number)]
    for place, (formula, (facts, steps, value)) in enumerate(written):
        stated = value if change is None else change(place, value)
        listed = "; ".join(map(rational, facts))
        counts = "; ".join(f"{step}%nat" for step in steps)
        batch.append(f"  value_is {formula} [{listed}] [{counts}] {rational(stated)}")
        if len(batch) == _BATCH or place == len(written) - 1:
            lines.append(f"Lemma rows_{place} : forallb (fun b => b) [\n" + ";\n".join(batch) + "] = true.")
            lines.append("Proof. vm_cast_no_check (eq_refl true). Qed.")
            batch = []
    return "\n".join(lines) + "\n"


def main(arguments: list[str]) -> Any:
    """Write the table to the file that is named."""
    target = FOLDER / "Table.v" if not arguments else arguments[0]
    with open(target, "w", encoding="utf-8") as file:
        file.write(source_text())


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
