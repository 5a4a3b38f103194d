"""From a certificate to a Coq file which states that its figures are at least the formulas' values on its facts, and proves it.

Each figure is a sum over stretches of noisy steps, or over releases: the package says which; here each stretch becomes a formula of
`coq/Formulas.v` on the facts of its mechanism, as exact rational numbers, and `interval` proves the inequality. Figures in Gaussian
DP and in Rényi divergence of `noisy-gd`, `noisy-gd:analysis=paper` and `output-perturbation` are covered; the others are named as not covered.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

from noisygd_delete.bounds import arithmetic, theorem_5_1
from noisygd_delete.evidence import derivation
from noisygd_delete.evidence.certificate import erasure_of, read_history
from noisygd_delete.evidence.verification import read_claims
from noisygd_delete.methods.base import Mechanism
from noisygd_delete.methods.noisy_gd import NoisyGDRun
from noisygd_delete.methods.noisy_gd_paper import PaperNoisyGDRun
from noisygd_delete.methods.output_perturbation import OutputPerturbationRun
from noisygd_delete.privacy.guarantee import Guarantee, Worlds
from noisygd_delete.records import limited_io

from . import coq_files

_PRECISION = 120  # bits of interval arithmetic, where those of the processor's floats do not do
_UNFOLDED = (
    "shifted_gdp", "shifted_gdp_forever", "minimiser_gdp", "limit_gdp", "printed_rate", "printed_rate_forever", "rounding_gap",
    "gradient_error", "grid_variance", "slower", "steeper", "unit_roundoff", "power",
)  # fmt: skip
_NEEDED = coq_files.FILES[: coq_files.FILES.index("Formulas") + 1]


@dataclass(frozen=True)
class Stretch:
    """One call of `Mechanism.interval`."""

    mechanism: Mechanism
    worlds: Worlds
    steps_with: float
    steps_without: float


class _Sum(float):
    """A number that knows of which stretches it is the sum."""

    parts: Counter[Stretch]


def _marked(guarantee: Guarantee, parts: Counter[Stretch]) -> Guarantee:
    # the rate is carried unchanged from one guarantee to the next, so the mark goes with it
    marked = _Sum(guarantee.rate)
    marked.parts = parts
    object.__setattr__(guarantee, "rate", marked)
    return guarantee


@contextmanager
def _traced() -> Iterator[None]:
    """Have every guarantee remember the stretches that it is composed of."""
    interval, composed = Mechanism.interval, Guarantee.composed

    def traced_interval(self: Mechanism, about: str, worlds: str, **steps: Any) -> Guarantee:
        stretch = Stretch(self, Worlds(worlds), steps["steps_with"], steps.get("steps_without", 0))
        return _marked(interval(self, about, worlds, **steps), Counter({stretch: 1}))

    def traced_composed(parts: Any) -> Guarantee:
        listed = [*parts]
        counted: Counter[Stretch] = Counter()
        for part, times in listed:
            for stretch, number in getattr(part.rate, "parts", Counter()).items():
                counted[stretch] += number * times
        return _marked(composed(listed), counted)

    with (
        mock.patch.object(Mechanism, "interval", traced_interval),
        mock.patch.object(Guarantee, "composed", staticmethod(traced_composed)),
    ):
        yield


class NotCovered(ValueError):
    """No formula in Coq covers this stretch."""


def exact(value: float) -> str:
    """A float as Coq reads it, exactly."""
    number = Fraction(value)
    return f"{number.numerator}" if number.denominator == 1 else f"({number.numerator} / {number.denominator})"


def _sensitivity(run: Any, worlds: Worlds) -> str:
    return f"({worlds.sensitivity(1.0, run.rows_per_subject):.0f} * {exact(run.lipschitz)})"


def _shifted(facts: str, steps: float, clean: str) -> str:
    if math.isinf(steps):
        return f"shifted_gdp_forever {facts} {clean}"
    return f"shifted_gdp {facts} {steps:.0f} {clean}"


def _real_gdp(run: NoisyGDRun, stretch: Stretch) -> str:
    facts = " ".join(map(exact, (run.step_size, run.strong_convexity, run.noise_variance, run.records)))
    steps, clean = stretch.steps_with, stretch.steps_without
    if isinstance(run, OutputPerturbationRun):
        gone = bool(clean)
        if gone and not run.shows_start:
            return "0"
        sensitivity = "0" if gone else _sensitivity(run, stretch.worlds)
        return f"minimiser_gdp {sensitivity} {facts} {clean or steps:.0f} {exact(run.gradient_tolerance)}"
    return _shifted(f"{_sensitivity(run, stretch.worlds)} {facts}", steps, f"{clean:.0f}") if steps else "0"


def _exact_gdp(run: Any, stretch: Stretch) -> str:
    """μ of exact steps: of the record, of the roundings, and of starts apart (`bounds.exact_steps.gdp`)."""
    steps, facts = stretch, run.exact
    solved = isinstance(run, OutputPerturbationRun)
    gone = bool(steps.steps_without)
    if solved and gone and not (run.shows_start or run.shows_order):
        return "0"
    with_record, without = steps.steps_with, steps.steps_without
    if solved:
        with_record, without = (0, without) if gone else (with_record, 0)
    room = f"(1 + 2 * / 2 ^ {-round(math.log2(arithmetic.NORM_TOLERANCE))})"
    eta, m, ridge = exact(run.step_size), exact(run.strong_convexity), exact(facts.regularization)
    noise = f"(sqrt (2 * {eta} * {exact(run.noise_variance)}))"
    grid = f"({noise} / 2 ^ {facts.grid_bits})"
    lipschitz, n = f"({exact(run.lipschitz)} * {room})", exact(run.records)
    radius = exact(facts.radius)
    additions = _additions(run.records)
    error = (
        f"(gradient_error {lipschitz} ({exact(facts.curvature)} * {room} * {room}) {facts.outputs} {facts.features} {additions} "
        f"{ridge} (1001 / 1000 * {radius}))"
    )
    gap = f"(rounding_gap {error} {eta} {m} {lipschitz} {ridge} {radius} {facts.dimension} {grid})"
    chain = f"{eta} (slower {eta} {m}) (grid_variance {eta} {noise} {grid}) {n}"
    sensitivity = f"({_sensitivity(run, steps.worlds)} * {room})"
    total = with_record + without
    parts = []
    if with_record:
        parts.append(_shifted(f"{sensitivity} {chain}", with_record, f"{without:.0f}"))
    roundings = total if facts.in_place or solved else math.inf
    if with_record or solved or not facts.in_place:
        parts.append(_shifted(f"({gap} * {n} / {eta}) {chain}", roundings, "0"))
    if solved:
        more = "(1 + / 2 ^ 40)"
        apart = f"(2 * {exact(run.gradient_tolerance)} / {m} * {more})"
        if not gone:
            apart = f"({sensitivity} / ({n} * {m}) * {more} + {apart})"
        parts.append(f"minimiser_gdp 0 {chain} {total:.0f} ({apart} * slower {eta} {m} / 2)")
    return f"(({' + '.join(parts)}) * (1 + 1 / 10 ^ 9))" if parts else "0"


def _additions(records: int) -> int:
    """Additions that one row goes through, as `bounds.arithmetic.gradient_error` counts them."""
    blocks = -(-records // arithmetic.BLOCK)
    joined = max(arithmetic.MOST_PROCESSES, (arithmetic.MOST_PARTITIONS - 1).bit_length())
    return min(arithmetic.CHUNK, records) + (blocks - 1).bit_length() + joined


Naming = Callable[[str, float], str]


def _of_mu(mu: str, named: Naming, squared: float) -> tuple[str, str]:
    name = named(mu, math.sqrt(squared))
    return f"({name} * {name} / 2)", f"({name} * {name})"


def rate_of(stretch: Stretch, named: Naming) -> tuple[str, str]:
    """What a stretch adds to ε_q/q, and to μ²; "" where it has no μ.

    Args:
        stretch: Of a run.
        named: Names a formula that has this value; it is then defined by itself.

    Raises:
        NotCovered: If no formula in Coq is its own.
    """
    run: Any = stretch.mechanism
    if not (stretch.steps_with or stretch.steps_without):
        return "0", "0"
    about, steps = stretch.worlds.about, {"steps_with": stretch.steps_with, "steps_without": stretch.steps_without}
    cost = run.interval(about, stretch.worlds, **steps)
    if isinstance(run, NoisyGDRun):
        mu = _real_gdp(run, stretch) if run.exact is None else _exact_gdp(run, stretch)
        return _of_mu(mu, named, cost.gdp_squared)
    if isinstance(run, PaperNoisyGDRun):
        facts = [exact(run.strong_convexity), exact(run.noise_variance), exact(run.records), exact(run.step_size)]
        clean = stretch.steps_without
        times = "" if math.isinf(stretch.steps_with) else f" {stretch.steps_with:.0f}"
        name = "printed_rate" if times else "printed_rate_forever"
        rate = f"{name} {_sensitivity(run, stretch.worlds)} {' '.join(facts)}{times} {clean:.0f}"
        printed = theorem_5_1.deletion_rate(
            **run._chain(),
            sensitivity=run.sensitivity(stretch.worlds),
            regularization=run.strong_convexity,
            steps_with_record=stretch.steps_with,
            steps_without_record=clean,
        )
        if cost.rate != printed:  # the roundings of exact steps cost more
            return _of_mu(_exact_gdp(run, stretch), named, 2 * cost.rate)[0], ""
        return named(rate, printed), ""
    raise NotCovered(f"method {run.method!r}")


@dataclass(frozen=True)
class Lemma:
    """A figure's inequality, as Coq text. `printed`: the figure as the certificate has it."""

    name: str
    value: str
    printed: str

    def text(self) -> str:
        used = dict.fromkeys(re.findall(r"\bformula_\d+", self.value))
        ranges = "".join(f"generalize {name}_range; generalize {name}; intros; " for name in used)
        # a figure that meets its budget to the last bit needs the formulas themselves
        closely = f"unfold {', '.join([*used, *_UNFOLDED])}; cbv zeta; interval with (i_prec {_PRECISION})"
        return (
            f"Lemma {self.name} : {self.value} <= {self.printed}.\nProof. first [{ranges}interval | {closely}]. Qed.\n"
        )


def _definition(name: str, formula: str, value: float) -> str:
    """A formula and the range in which it lies: up to 2⁻⁴⁶ more than what the package computes."""
    most = Fraction(value) * (1 + Fraction(1, 1 << 46))
    return (
        f"Definition {name} : R := {formula}.\n"
        f"Lemma {name}_range : 0 <= {name} <= ({most.numerator} / {most.denominator}).\n"
        f"Proof. unfold {name}, {', '.join(_UNFOLDED)}; cbv zeta; first [interval | interval with (i_prec {_PRECISION})]. Qed."
    )


def decimal(number: float) -> Fraction:
    """The decimal number that a file shows for a float."""
    return Fraction(Decimal(repr(float(number))))


def last_place(number: float) -> Fraction:
    """One unit in the last place of that decimal."""
    exponent = Decimal(repr(float(number))).normalize().as_tuple().exponent
    assert isinstance(exponent, int)
    return Fraction(10) ** exponent


def source_text(
    certificate: Mapping[str, Any], change: Callable[[str, Fraction, Fraction], Fraction] | None = None
) -> tuple[str, dict[str, str]]:
    """The Coq file of a certificate, and why figures are not covered, by their keys.

    Args:
        certificate: The parsed JSON, in this version's format.
        change: What becomes of a printed figure, by its name, value and last place: for planted faults.
    """
    plan, history, _ = read_history(certificate)
    claims = {claim.key: claim.values for claim in read_claims(certificate)}
    erasure = erasure_of(certificate)
    with _traced():
        guarantees = derivation.derive_guarantees(erasure, history.accountant(plan))
    found: list[Lemma] = []
    missing: dict[str, str] = {}
    formulas: dict[str, tuple[str, float]] = {}

    def named(formula: str, value: float) -> str:
        return "0" if formula == "0" else formulas.setdefault(formula, (f"formula_{len(formulas) + 1}", value))[0]

    for key, guarantee in guarantees.items():
        parts = getattr(guarantee.rate, "parts", None)
        try:
            if parts is None:
                raise NotCovered("not a sum of stretches")
            rates = [(number, *rate_of(stretch, named)) for stretch, number in parts.items()]
        except NotCovered as reason:
            missing[key] = str(reason)
            continue
        grown = f"(1 + {exact(guarantee.slack)})"
        name = key.replace(".", "_").replace("-", "_")
        values = claims[key]
        statements = {}
        if values["gdp"] is not None and all(square for _, _, square in rates):
            total = " + ".join(f"{number} * {square}" for number, _, square in rates)
            statements[f"{name}_gdp"] = (f"{grown} * sqrt ({total})", values["gdp"])
        if values["renyi"] is not None:
            total = " + ".join(f"{number} * {rate}" for number, rate, _ in rates)
            statements[f"{name}_renyi"] = (
                f"{grown} * {grown} * ({exact(values['order'])} * ({total}))",
                values["renyi"],
            )
        for full, (value, stated) in statements.items():
            printed = decimal(stated)
            if change is not None:
                printed = change(full, printed, last_place(stated))
            found.append(Lemma(full, value, f"({printed.numerator} / {printed.denominator})"))
    head = [
        "(* Written by `python -m proofs_check coq`: the printed figures are at least the formulas' values on the certificate's facts. *)",
        "From Coq Require Import Reals.",
        "From Interval Require Import Tactic.",
        "From NoisyGD Require Import Formulas.",
        "Open Scope R_scope.",
        *(f"(* {key}: not covered, {reason} *)" for key, reason in missing.items()),
        *(_definition(name, formula, value) for formula, (name, value) in formulas.items()),
    ]
    return "\n".join([*head, *(lemma.text() for lemma in found)]), missing


def read_source_text(path: Path) -> tuple[str, dict[str, str]]:
    """`source_text` of a file."""
    return source_text(limited_io.parse_json(limited_io.read_text(path, limited_io.DOCUMENT)))


def prove(text: str, folder: Path | None = None) -> str | None:
    """Have Coq check the file; None if it does, else its words. `folder`: the compiled development, compiled where it is None."""
    if folder is None:
        with TemporaryDirectory() as made:
            coq_files.compile_all(Path(made), _NEEDED)
            return prove(text, Path(made))
    source = folder / "Certificate.v"
    source.write_text(text)
    outcome = coq_files.compile_file(source, folder)
    return None if outcome.returncode == 0 else outcome.stderr.strip()
