"""From a certificate to a Coq file which states that its figures are at least the formulas' values on its facts, and proves it.

Each figure is a sum over stretches of noisy steps, or over releases: the package says which; here each stretch becomes a formula of
`coq/Formulas.v` on the facts of its mechanism, as exact rational numbers, and `interval` proves the inequality. Covered are the methods of
`cost_of`, and the odds under an enforced total; every other figure is named with the reason.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

import mpmath as mp

from noisygd_delete.bounds import arithmetic, correlated_sums, gaussian, renyi, theorem_5_1
from noisygd_delete.bounds import objective_perturbation as bounds
from noisygd_delete.evidence import derivation
from noisygd_delete.evidence.certificate import erasure_of, read_history
from noisygd_delete.evidence.verification import read_claims
from noisygd_delete.methods.base import Mechanism
from noisygd_delete.methods.moments import GRID, MomentsRun
from noisygd_delete.methods.noisy_gd import NoisyGDRun
from noisygd_delete.methods.noisy_gd_composition import CompositionNoisyGDRun
from noisygd_delete.methods.noisy_gd_paper import PaperNoisyGDRun
from noisygd_delete.methods.objective_perturbation_run import ObjectivePerturbationRun
from noisygd_delete.methods.output_perturbation import OutputPerturbationRun
from noisygd_delete.methods.sufficient_statistics import SufficientStatisticsRun
from noisygd_delete.privacy.budget import Total
from noisygd_delete.privacy.curves import ONE_DIRECTION, SEVERAL_DIRECTIONS, WEAKLY_CONVEX
from noisygd_delete.privacy.guarantee import Guarantee
from noisygd_delete.privacy.worlds import Worlds
from noisygd_delete.records import limited_io

from . import coq_files

_PRECISION = 120  # bits of interval arithmetic, where those of the processor's floats do not do
_NEEDED = coq_files.with_imports("Conversion", "Formulas")


@dataclass(frozen=True)
class Stretch:
    """One call of `Mechanism.interval`, or of `NoiseChain.staying`."""

    mechanism: Mechanism
    worlds: Worlds
    steps_with: float
    steps_without: float
    stays: bool = False


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
    interval, staying, composed = Mechanism.interval, SufficientStatisticsRun.staying, Guarantee.composed

    def traced_interval(self: Mechanism, about: str, worlds: str, **steps: Any) -> Guarantee:
        stretch = Stretch(self, Worlds(worlds), steps["steps_with"], steps.get("steps_without", 0))
        return _marked(interval(self, about, worlds, **steps), Counter({stretch: 1}))

    def traced_staying(self: SufficientStatisticsRun, about: str, worlds: str, **steps: Any) -> Guarantee:
        stretch = Stretch(self, Worlds(worlds), steps["steps_with"], steps.get("steps_without", 0), stays=True)
        return _marked(staying(self, about, worlds, **steps), Counter({stretch: 1}))

    def traced_composed(parts: Any) -> Guarantee:
        listed = [*parts]
        counted: Counter[Stretch] = Counter()
        for part, times in listed:
            for stretch, number in getattr(part.rate, "parts", Counter()).items():
                counted[stretch] += number * times
        return _marked(composed(listed), counted)

    with (
        mock.patch.object(Mechanism, "interval", traced_interval),
        mock.patch.object(SufficientStatisticsRun, "staying", traced_staying),
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


class Definitions:
    """The formulas of one file, each defined once."""

    def __init__(self) -> None:
        self._texts: dict[str, tuple[str, str]] = {}  # formula -> (name, definition and range)

    def __iter__(self) -> Iterator[str]:
        return (text for _, text in self._texts.values())

    def __call__(self, formula: str, value: float, proof: str = "") -> str:
        """Return the name of a formula, whose value is up to 2⁻⁴⁶ more than what the package computes.

        Args:
            formula: Coq text.
            value: What the package computes.
            proof: Proof of the range, given the limit as "{most}"; by default interval arithmetic on the formula.
        """
        if formula == "0" or re.fullmatch(r"formula_\d+", formula):
            return formula
        if formula not in self._texts:
            name, most = f"formula_{len(self._texts) + 1}", _ratio(Fraction(value) * (1 + Fraction(1, 1 << 46)))
            used = dict.fromkeys(re.findall(r"\bformula_\d+", formula))
            ranges = "".join(f"generalize {one}_range; generalize {one}; intros; " for one in used)
            direct = f"unfold_formulas; {ranges}first [interval | interval with (i_prec {_PRECISION})]."
            self._texts[formula] = (
                name,
                f"Definition {name} : R := {formula}.\nLemma {name}_range : 0 <= {name} <= {most}.\n"
                f"Proof. unfold {name}. {proof.replace('{most}', most) or direct} Qed.",
            )
        return self._texts[formula][0]


Naming = Definitions


@dataclass(frozen=True)
class Cost:
    """What a stretch adds to a figure, as Coq text: μ² ("" if it has no μ), and ε_q at an order, given as text and as a number."""

    square: str
    renyi: Callable[[str, float], str]


def _of_rate(rate: str, square: str = "") -> Cost:
    return Cost(square, lambda order, _: f"({order} * {rate})")


def _of_mu(mu: str, named: Naming, squared: float) -> Cost:
    name = named(mu, math.sqrt(squared))
    return _of_rate(f"({name} * {name} / 2)", f"({name} * {name})")


def cost_of(stretch: Stretch, named: Naming) -> Cost:
    """Return what a stretch costs.

    Args:
        stretch: Part of a run.
        named: Names a formula that has this value; the formula becomes a definition.

    Raises:
        NotCovered: If Coq has no formula for the method.
    """
    run: Any = stretch.mechanism
    if not (stretch.steps_with or stretch.steps_without):
        return _of_rate("0", "0")
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
            name = named(_exact_gdp(run, stretch), math.sqrt(2 * cost.rate))
            return _of_rate(f"({name} * {name} / 2)")
        return _of_rate(named(rate, printed))
    if isinstance(run, ObjectivePerturbationRun):
        return _objective_perturbation(run, stretch, cost, named)
    if isinstance(run, SufficientStatisticsRun):
        return _of_mu(_sums(run, stretch, cost, named), named, cost.gdp_squared)
    if isinstance(run, CompositionNoisyGDRun) and run.batches == 1 and math.isfinite(stretch.steps_with):
        facts = [_sensitivity(run, stretch.worlds), *map(exact, (run.step_size, run.noise_variance, run.records))]
        return _of_mu(f"composition_gdp {' '.join(facts)} {stretch.steps_with:.0f}", named, cost.gdp_squared)
    if isinstance(run, MomentsRun):
        if not cost.gdp_squared:
            return _of_rate("0", "0")
        apart = f"({run.rows_per_subject} * {'2' if stretch.worlds.between_records else '(sqrt (3 / 2))'} / {exact(run.deviation)})"
        grid = exact(GRID)
        mu = f"inexact_gdp ({apart} + {grid} * sqrt {run.coordinates}) 1 {grid}"
        return _of_mu(mu, named, cost.gdp_squared)
    reason = "steps on samples have a Rényi bound at listed orders alone" if cost.points else f"method {run.method!r}"
    raise NotCovered(reason)


_HESSIANS = {  # (form, between records) -> name in Formulas.v, and that of several rows where it differs
    (ONE_DIRECTION, False): "zero_out_hessian",
    (ONE_DIRECTION, True): "replace_one_hessian",
    (SEVERAL_DIRECTIONS, False): "several_zero_out_hessian",
    (SEVERAL_DIRECTIONS, True): "several_replace_hessian",
    (WEAKLY_CONVEX, False): "weakly_convex_zero_out_hessian",
    (WEAKLY_CONVEX, True): "weakly_convex_replace_hessian",
}


def _objective_perturbation(run: ObjectivePerturbationRun, stretch: Stretch, cost: Guarantee, named: Naming) -> Cost:
    """Return the cost of minimisers of a randomly tilted objective, or of the solver's tolerance alone."""
    room = f"(1 + 2 * / 2 ^ {-round(math.log2(arithmetic.NORM_TOLERANCE))})"
    weak, noise, n = exact(run.weak_convexity), exact(run.linear_term), exact(run.records)
    least = f"({exact(run.strong_convexity)} - {weak} * ({room} * {room} - 1) * 2)"
    grid = f"({exact(run.output_noise)} / 2 ^ {arithmetic.GRID_BITS})"
    spread = bounds.rounded_solution_distance(**run._ball())
    distance = named(f"solution_distance {exact(run.gradient_tolerance)} {least} {grid} {run.dimension}", spread)
    inexact = named(f"inexact_gdp {distance} {exact(run.output_noise)} {grid}", run._inexact_gdp(spread))
    if not cost.curves:
        square = f"({run.chain} * ({inexact} * {inexact}))" if cost.gdp_squared else "0"
        return _of_rate(f"({square} / 2)", square)
    curve, rows = run.curve(stretch.worlds), run.rows_per_subject
    ratios = [
        named(f"curvature_ratio ({exact(beta)} * {room} * {room}) {n} {least} ({weak} * {room} * {room})", value)
        for beta, value in zip((run.smoothness, run.weak_convexity), run.ratios(), strict=True)
    ]
    between, lipschitz = stretch.worlds.between_records, f"({exact(run.lipschitz)} * {room})"
    sensitivity = f"({2 if between else 1} * {rows} * {lipschitz})"
    rate = named(f"tilt_rate {sensitivity} {noise} {distance} {exact(run.output_noise)}", curve.rate)
    square = ""
    if curve.gdp_squared is not None:
        flow = f"flow_gdp {sensitivity} {lipschitz} {noise} {ratios[0]} {run.blocks}"
        mu = named(
            f"sqrt ({flow} * {flow} + {inexact} * {inexact})".replace(flow, f"({flow})"), math.sqrt(curve.gdp_squared)
        )
        square = f"({run.chain} * ({mu} * {mu}))"

    def divergence(order: str, number: float) -> str:
        if curve.gdp_squared is not None and number * curve.gdp_squared / 2 < number * curve.rate + curve.hessian(
            number
        ):
            return f"({order} * {square} / 2)"
        name, ratio = _HESSIANS[run.form, between], f"({rows} * {ratios[0]})" if rows > 1 else ratios[0]
        if name == "replace_one_hessian" and rows > 1 and number * (rows * curve.ratio) ** 2 > 1:
            name = "replace_rows_hessian"
        below = f" {ratios[1]}" if run.form == WEAKLY_CONVEX else ""
        return f"({run.chain} * ({order} * {rate} + {run.blocks} * {name} {order} {ratio}{below}))"

    return Cost(square, divergence)


def _sums(run: SufficientStatisticsRun, stretch: Stretch, cost: Guarantee, named: Naming) -> str:
    """Return μ of the draws of a chain, and have its range proven draw by draw."""
    last = stretch.steps_with + (1 if stretch.steps_without else 0)
    draws = run.draws[: int(min(last, run.releases))]
    between, leaves = stretch.worlds.between_records, not stretch.stays
    squared, weight = run.norm_squared, run.label_weight
    name = "sums_sensitivity"
    if between:
        name = "sums_sensitivity_between" if weight**2 <= 2 * squared else "sums_sensitivity_heavy"
    apart = named(f"{name} {squared} {weight}", run.apart(between_records=between))
    rounded = correlated_sums.rounding_norm(features=run.features, outputs=run.outputs, label_weight=weight)
    rounding = named(f"rounding_norm {run.features} {run.outputs} {weight}", rounded)
    chain = " :: ".join(f"({exact(c)}, {exact(v)}, {rounding if c % 1 else '0'})" for c, v in draws)
    flags = [str(flag).lower() for flag in (run.joiners, leaves)]
    least = min(variance for _, variance in run.draws)
    lost = correlated_sums.SMOOTHING_SQUARED * max(2, weight**2)

    def charge(**rows: int) -> list[Fraction]:
        facts = {"apart": run.apart(between_records=between), "rounded": rounded, **rows}
        costs = (correlated_sums.draw_cost(carry=c, variance=v, **facts) for c, v in draws)
        return [Fraction(cost) * (1 + Fraction(1, 1 << 42)) for cost in costs]

    charged = "(unfold Sums.stays, Sums.joins, Sums.leaves; interval)"
    joins, stays, lefts = charge(joined=1), charge(stay=1), charge(left=1)
    present, gone, steps = joins[0], Fraction(0), []
    for place in range(1, len(draws)):
        if leaves:
            gone = max(gone, present + lefts[place])
        present = max(present + stays[place], joins[place] if run.joiners else present)
        shown = f"apply Sums.within_step with (present' := {_ratio(present)}) (gone' := {_ratio(gone)})"
        join, leave = ("intros _; " + charged if allowed else "discriminate" for allowed in (run.joiners, leaves))
        steps.append(f"{shown}; [{charged} | {join} | lra | {leave} |].")
    most = _ratio(max(present, gone))
    proof = (
        f"apply sums_gdp_shown with (most := {most}); [interval | interval | | unfold sums_gdp; interval with (i_prec {_PRECISION})]. "
        f"generalize {apart}_range {rounding}_range; generalize {apart} {rounding}; intros delta rounding Hd Hr. "
        f"apply Sums.cap_shown with (present := {_ratio(joins[0])}); [unfold Sums.joins; interval |]. "
    )
    proof += " ".join([*steps, "apply Sums.within_end; lra."])
    return named(
        f"sums_gdp {exact(least)} {lost} {run.rows_per_subject} (Sums.chain_cap {apart} {' '.join(flags)} ({chain} :: nil)%list)",
        math.sqrt(cost.gdp_squared),
        proof,
    )


@dataclass(frozen=True)
class Lemma:
    """A statement and its proof, as Coq text."""

    name: str
    statement: str
    proof: str

    def text(self) -> str:
        return f"Lemma {self.name} : {self.statement}.\nProof. {self.proof} Qed.\n"


def _at_most(name: str, value: str, limit: str) -> Lemma:
    """Return the lemma that a formula is at most a number."""
    used = dict.fromkeys(re.findall(r"\bformula_\d+", value))
    ranges = "".join(f"generalize {one}_range; generalize {one}; intros; " for one in used)
    # a figure that meets its budget to the last bit needs the formulas themselves
    unfolded = f"unfold {', '.join(used)}; " if used else ""
    closely = f"{unfolded}unfold_formulas; interval with (i_prec {_PRECISION})"
    if "hessian" in value:
        closely = f"{ranges}split_cases; interval with (i_prec {_PRECISION}) | {closely}"
    return Lemma(name, f"{value} <= {limit}", f"first [{ranges}interval | {closely}].")


def _ratio(value: Fraction) -> str:
    return str(value.numerator) if value.denominator == 1 else f"({value.numerator} / {value.denominator})"


def _just_above(value: float) -> Fraction:
    """Return a number of 17 digits, a little above a value that the package computed."""
    if not value:
        return Fraction(0)
    most = Fraction(value) * (1 + Fraction(1, 1 << 45))
    place = Fraction(10) ** (math.floor(math.log10(most)) - 16)
    return math.ceil(most / place) * place


# --- (ε, δ) and the advantage ---

# proves an inequality between an integral and a number, or takes minutes to give up
INTEGRAL = "unfold bell, lost, decay, half_below, half_above; first [{0}53) | {0}90)]".format(
    "integral with (i_fuel 300, i_degree 15, i_prec "
)


def _gaussian_proof(limit: str, mu: Fraction, epsilon: Fraction | None, delta: str) -> str:
    """Return the proof that μ at most `mu` has this ε at δ, or, without ε, this advantage."""
    if not mu:
        return f"apply (converts_below _ 0); [exact {limit} | apply converts_nothing]."
    if epsilon is None:
        shown = f"apply (advantage_shown {_ratio(mu)} {delta} half_at_least); [lra | lra | {INTEGRAL}]"
    else:
        far = f"({_ratio(epsilon)} / {_ratio(mu)} - {_ratio(mu)} / 2)"
        reach = max(0, math.ceil(mu / 2 - epsilon / mu)) + 9
        shown = f"apply (epsilon_shown {_ratio(mu)} {_ratio(epsilon)} {delta} {far} {reach} half_at_least)"
        shown += f"; [lra | reflexivity | lra | interval | {INTEGRAL}]"
    return f"apply (converts_below _ {_ratio(mu)}); [exact {limit} | {shown}]."


@dataclass(frozen=True)
class Tangents:
    """An order q and the two points r > x at which its moment is bounded by tangents."""

    order: float
    r: float
    x: float

    def limits(self, renyi: float) -> tuple[float, float]:
        """Return e^ε and the δ that they prove, for a divergence, at twice the digits of a float's."""
        with localcontext() as context:
            context.prec = 40
            q, r, x = Decimal(self.order), Decimal(self.r), Decimal(self.x)
            width = q * (r ** (q - 1) - x ** (q - 1))
            mass = ((q - 1) * Decimal(renyi)).exp() - q * x ** (q - 1) + (q - 1) * x**q
            return float((q - 1) * (r**q - x**q) / width), float(mass / width)


def _tangents(guarantee: Guarantee, evaluate: Callable[[], float], *, loss: bool) -> Tangents:
    """Return the tangents by which the package finds ε at a δ, or else δ at ε = 0, while it runs `evaluate`.

    Raises:
        NotCovered: If it finds its figure in another way.
    """
    found: list[Tangents] = []
    pair_epsilon, log_r = renyi._pair_epsilon, renyi._log_r

    def recorded_pair(order: float, log_r: float, x: float) -> float:
        if loss and order * abs(log_r) < 600:
            found.append(Tangents(order, math.exp(log_r), x))
        return pair_epsilon(order, log_r, x)

    def recorded_root(order: float, epsilon: float, x: float) -> float:
        low = log_r(order, epsilon, x)
        found.append(Tangents(order, math.exp(low), x))
        return low

    with mock.patch.object(renyi, "_pair_epsilon", recorded_pair):
        if loss:
            evaluate()
        else:
            with mock.patch.object(renyi, "_log_r", recorded_root):
                evaluate()
    proper = [one for one in found if one.r > one.x * (1 + 1e-12)]
    if not proper:
        raise NotCovered("its conversion uses no tangents")
    if loss:
        return min(proper, key=lambda one: pair_epsilon(one.order, math.log(one.r), one.x))
    return min(proper, key=lambda one: one.limits(guarantee.renyi(one.order))[1])


_POWERS = f"unfold Rpower, renyi_advantage; interval with (i_prec {_PRECISION})"


def _advantage_order(guarantee: Guarantee) -> float:
    """Return the order at which the package finds the advantage of a rate."""
    found: dict[float, float] = {}
    original = gaussian.renyi_advantage

    def recorded(*, order: float, renyi: float) -> float:
        found[order] = original(order=order, renyi=renyi)
        return found[order]

    with mock.patch.object(gaussian, "renyi_advantage", recorded):
        gaussian.rate_advantage(rate=guarantee.total_rate)
    return min(found, key=found.__getitem__)


Change = Callable[[str, Fraction, Fraction], Fraction]  # a printed figure's name, value and last place -> another value


def decimal(number: float) -> Fraction:
    """The decimal number that a file shows for a float."""
    return Fraction(Decimal(repr(float(number))))


def last_place(number: float) -> Fraction:
    """One unit in the last of the ten digits that a certificate prints."""
    return Fraction(10) ** (math.floor(math.log10(number)) - 9) if number else Fraction(0)


@dataclass(frozen=True)
class Figures:
    """The figures of one guarantee, each as a lemma after the bound on which its proof rests.

    Attributes:
        name: Of the guarantee, in Coq.
        guarantee: What the package derives from the facts, with its rounding slack.
        values: What the certificate prints.
        costs: What it is the sum of, with multiplicities.
        grown: 1 + slack, as Coq text.
        change: What becomes of a printed figure.
    """

    name: str
    guarantee: Guarantee
    values: Mapping[str, Any]
    costs: Sequence[tuple[int, Cost]]
    grown: str
    change: Change | None

    def lemmas(self) -> Iterator[Lemma]:
        """Yield the lemmas.

        Raises:
            NotCovered: If Coq has no formula for a figure.
        """
        if self.values["renyi"] is not None:
            order = self.values["order"]
            yield _at_most(f"{self.name}_renyi", self._divergence(exact(order), order), self._printed("renyi"))
        if self.values["gdp"] is not None:
            yield from self._of_mu()
        if self.guarantee.adjacency is Worlds.IDEAL_LAW:
            raise NotCovered("advantage and ε against an ideal law")
        if self.values["gdp"] is None and not self.guarantee.renyi(2.0):
            yield _at_most(f"{self.name}_nothing", self._divergence("2", 2.0), "0")
            return
        if self.values["gdp"] is None:
            yield from self._tangent_advantage() if self.guarantee.curves else self._rate_advantage()
        if self.values["epsilon"] is not None and not self._is_gaussian:
            yield from self._tangent_epsilon()

    def _printed(self, figure: str) -> str:
        number = decimal(self.values[figure])
        if self.change is not None:
            number = self.change(f"{self.name}_{figure}", number, last_place(self.values[figure]))
        return _ratio(number)

    @property
    def _delta(self) -> str:
        return _ratio(decimal(self.values["delta"]))

    @property
    def _is_gaussian(self) -> bool:
        """Whether the package's ε is that of μ."""
        delta = self.values["delta"]
        return self.guarantee.gdp is not None and gaussian.gdp_epsilon(
            mu=self.guarantee.gdp, delta=delta
        ) <= self.guarantee.epsilon(delta)

    def _divergence(self, order: str, number: float) -> str:
        total = " + ".join(f"{times} * {cost.renyi(order, number)}" for times, cost in self.costs)
        return f"({self.grown} * {self.grown} * ({total}))"

    def _limited(self, order: float, figure: str) -> tuple[Lemma, Fraction]:
        """Return a bound on the divergence at an order, close to what the package computes."""
        most = _just_above(self.guarantee.renyi(order))
        return _at_most(f"{self.name}_{figure}_range", self._divergence(exact(order), order), _ratio(most)), most

    def _of_mu(self) -> Iterator[Lemma]:
        """Yield μ, the advantage, and ε if it follows from μ."""
        if not all(cost.square for _, cost in self.costs):
            raise NotCovered("its μ has no formula")
        assert self.guarantee.gdp is not None
        mu = f"({self.grown} * sqrt ({' + '.join(f'{times} * {cost.square}' for times, cost in self.costs)}))"
        most = _just_above(self.guarantee.gdp)
        bound = _at_most(f"{self.name}_mu_range", mu, _ratio(most))
        yield from (_at_most(f"{self.name}_gdp", mu, self._printed("gdp")), bound)
        if self.guarantee.adjacency is Worlds.IDEAL_LAW:
            return
        stated = self._printed("advantage")
        proof = _gaussian_proof(bound.name, most, None, stated)
        yield Lemma(f"{self.name}_advantage", f"converts {mu} 0 {stated}", proof)
        if self.values["epsilon"] is not None and self._is_gaussian:
            stated = self._printed("epsilon")
            proof = _gaussian_proof(bound.name, most, Fraction(stated.strip("()").replace(" ", "")), self._delta)
            yield Lemma(f"{self.name}_epsilon", f"converts {mu} {stated} {self._delta}", proof)

    def _rate_advantage(self) -> Iterator[Lemma]:
        order, stated = _advantage_order(self.guarantee), self._printed("advantage")
        bound, most = self._limited(order, "advantage")
        angle = exact(2 * math.atanh(self.values["advantage"]))
        shown = f"apply (curve_advantage_shown _ {stated} {exact(order)} {angle} {_ratio(most)})"
        statement = f"curve_advantage (fun q => {self._divergence('q', order)}) {stated}"
        yield bound
        proof = f"{shown}; [lra | lra | exact {bound.name} | {_POWERS}]."
        yield Lemma(f"{self.name}_advantage", statement, proof)

    def _tangent_advantage(self) -> Iterator[Lemma]:
        tangents = _tangents(self.guarantee, lambda: self.guarantee.delta(0.0), loss=False)
        yield from self._by_tangents(tangents, "advantage", "0", self._printed("advantage"))

    def _tangent_epsilon(self) -> Iterator[Lemma]:
        tangents = _tangents(self.guarantee, lambda: self.guarantee.epsilon(self.values["delta"]), loss=True)
        yield from self._by_tangents(tangents, "epsilon", self._printed("epsilon"), self._delta)

    def _by_tangents(self, tangents: Tangents, figure: str, epsilon: str, delta: str) -> Iterator[Lemma]:
        bound, most = self._limited(tangents.order, figure)
        yield bound
        facts = " ".join([epsilon, delta, *map(exact, (tangents.order, tangents.r, tangents.x)), _ratio(most)])
        statement = f"curve_converts (fun q => {self._divergence('q', tangents.order)}) {epsilon} {delta}"
        shown = f"apply (curve_shown _ {facts}); [lra | lra | exact {bound.name} | {_POWERS} | {_POWERS}]."
        yield Lemma(f"{self.name}_{figure}", statement, shown)


# --- the odds under a total ---


def _fraction(value: Any) -> Fraction:
    """Return a number of `mpmath`, to 25 digits."""
    return Fraction(mp.nstr(value, 25, min_fixed=-math.inf, max_fixed=math.inf))


def _number(value: Fraction) -> mp.mpf:
    return mp.mpf(value.numerator) / value.denominator


def _limit(total: Total) -> Fraction:
    """Return ε of a total with the room that `Total` leaves when it bounds what it allows."""
    return decimal(total.epsilon) * (1 + Fraction(1, 10**9))


def _odds(values: Mapping[str, Any], total: Total, change: Change | None) -> Iterator[Lemma]:
    """Yield the odds that no observer exceeds under an enforced total, and their logarithm.

    The total is taken with the room that `Total.affords` leaves, and more.
    """
    prove_odds = _gdp_odds if total.order is None else _renyi_odds
    for figure in ("epsilon", "odds"):
        number = decimal(values[figure])
        if change is not None:
            number = change(f"odds_ever_{figure}", number, last_place(values[figure]))
        with mp.workdps(40):
            text, epsilon = _ratio(number), _number(number)
            if figure == "odds":
                text, epsilon = f"(ln {text})", mp.log(epsilon)
            statement, proof = prove_odds(text, epsilon, decimal(values["delta"]), total)
        yield Lemma(f"odds_ever_{figure}", statement, proof)


_CLOSELY = f"interval with (i_prec {_PRECISION})"


def _gdp_odds(text: str, epsilon: mp.mpf, failed: Fraction, total: Total) -> tuple[str, str]:
    """Return the statement on the logarithm of odds under a total summed as μ², exceeded with probability `failed`, and its proof."""
    delta, limit = _number(failed), _limit(total)
    cap = _just_above(total._most_gdp() * (1 + 1e-12))
    mu = _number(cap)
    far = f"({_ratio(limit)} / {_ratio(cap)} - {_ratio(cap)} / 2)"
    # y between the points where the odds are reached and where δ is, and U between the two sides of y
    highest = mp.sqrt(2) * mp.erfinv(2 * delta / (1 + mp.exp(-epsilon)) - 1)
    least = mp.findroot(lambda y: mp.log(mp.ncdf(y)) - mp.log(mp.ncdf(y - mu)) - epsilon, highest)
    point = _fraction(-(least + 2 * abs(highest - least) / 3))
    y = -_number(point)
    tail, allowed = mp.ncdf(y), mp.ncdf(highest) * (1 - mp.mpf(10) ** -12)
    most = _fraction(mp.sqrt(2 * mp.pi) * min(allowed, mp.sqrt(tail * min(allowed, mp.exp(epsilon) * mp.ncdf(y - mu)))))
    reach, room = (max(0, math.ceil(-start)) + 9 for start in (point, limit / cap - cap / 2))
    facts = f"{_ratio(limit)} {_ratio(decimal(total.delta))} {text} {_ratio(failed)}"
    chosen = f"{_ratio(cap)} {far} {room} {_ratio(point)} {reach} {_ratio(most)}"
    shown = f"apply (odds_shown {facts} {chosen} half_at_least half_at_most)"
    signs = "lra | reflexivity | lra | lra | lra | lra | lra"
    proof = f"{shown}; [{signs} | {INTEGRAL} | unfold half_below; {_CLOSELY} | {INTEGRAL} | {INTEGRAL}]."
    return f"odds_within {facts}", proof


def _renyi_odds(text: str, epsilon: mp.mpf, failed: Fraction, total: Total) -> tuple[str, str]:
    """Return the same under a total summed at one Rényi order."""
    assert total.order is not None
    limit, delta, q = _limit(total), decimal(total.delta), Fraction(total.order)
    order, grown = mp.mpf(total.order), mp.exp(_number(limit))

    def pair(share: mp.mpf) -> tuple[Fraction, Fraction]:
        """Return two probabilities that the total does not allow together."""
        other = _fraction(_number(delta) / grown * mp.exp(share))
        return _fraction((grown * _number(other) + _number(delta)) * (1 + mp.mpf(10) ** -20)), other

    def divergence(share: mp.mpf) -> mp.mpf:
        one, other = map(_number, pair(share))
        moment = one**order * other ** (1 - order) + (1 - one) ** order * (1 - other) ** (1 - order)
        return mp.log(moment) / (order - 1)

    low, high = mp.mpf(-20), min(mp.mpf(20), -mp.log(2 * _number(delta)))
    for _ in range(80):  # the least divergence of such a pair, by thirds
        first, second = (2 * low + high) / 3, (low + 2 * high) / 3
        low, high = (low, second) if divergence(first) < divergence(second) else (first, high)
    cap = _fraction(divergence(low) * (1 + mp.mpf(10) ** -20))
    facts = f"{_ratio(q)} {_ratio(limit)} {_ratio(delta)} {text} {_ratio(failed)}"
    shown = f"apply (renyi_odds_shown {facts} {' '.join(map(_ratio, (cap, *pair(low))))})"
    proof = f"{shown}; [lra | lra | lra | {_CLOSELY} | unfold renyi_moment, Rpower; {_CLOSELY} | {_CLOSELY}]."
    return f"renyi_odds_within {facts}", proof


def source_text(certificate: Mapping[str, Any], change: Change | None = None) -> tuple[str, dict[str, str]]:
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
    named = Definitions()
    for key, guarantee in guarantees.items():
        parts = getattr(getattr(guarantee, "rate", None), "parts", None)
        try:
            if parts is None:
                raise NotCovered("not a sum of stretches")
            costs = [(number, cost_of(stretch, named)) for stretch, number in parts.items()]
            name, grown = key.replace(".", "_").replace("-", "_"), f"(1 + {exact(guarantee.slack)})"
            found += Figures(name, guarantee.with_slack(), claims[key], costs, grown, change).lemmas()
        except NotCovered as reason:
            missing[key] = str(reason)
    if "odds.ever" in claims:
        try:
            assert plan.problem.total is not None
            found += _odds(claims["odds.ever"], plan.problem.total, change)
        except NotCovered as reason:
            missing["odds.ever"] = str(reason)
    head = [
        "(* Written by `python -m proofs_check coq`: the printed figures are at least the formulas' values on the certificate's facts. *)",
        "From Coq Require Import Reals Lra List.",
        "From Coquelicot Require Import Coquelicot.",
        "From Interval Require Import Tactic.",
        "From NoisyGD Require Import Normal Conversion Formulas.",
        "From NoisyGD Require Sums Tilt.",
        "Open Scope R_scope.",
        *(f"(* {key}: not covered, {reason} *)" for key, reason in missing.items()),
        *named,
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
