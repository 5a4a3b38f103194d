"""Statements of lectures and of introductions that the sources print without proof: sampling, DP-SGD, the exponential mechanism, sensitivity, two
examples of certified removal, and the lower bound that Theorem 5.1's risk is compared with.
"""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import numpy as np
import sympy as sp
from noisygd_delete_lab.mechanisms import exponential_probabilities

from noisygd_delete.bounds import theorem_5_1

from .framework import ADVERSARIAL, FAILS, REPAIRED, RIGOROUS, SYMBOLIC, Finding, require, same, statement


@statement(
    "DP sampling",
    "(ε, δ)-DP on a sample that holds each record with chance p is (ln(1 + p(e^ε − 1)), pδ)-DP, and ln(1 + p(e^ε − 1)) ≤ 2pε",
    verdict=REPAIRED,
    evidence=(SYMBOLIC, RIGOROUS, ADVERSARIAL),
    claim=lambda epsilon, p: math.log1p(p * math.expm1(epsilon)),
    fault=("pε, what small ε gives", lambda epsilon, p: p * epsilon),
    scope="One record added or removed. Given the sample of the other records, an event has chances r without and (1 − p)r + ps with the record, where (r, s) is any pair that "
    "(ε, δ) allows: its two edges are taken, on random r, ε, δ, p, in both directions. The note ≤ 2pε holds for ε ≤ 5/4, where e^ε − 1 ≤ 2ε.",
)
def _sampling(claim, effort: int) -> Finding:
    p, r, e, delta = sp.symbols("p r e delta", positive=True)
    same(
        (1 - p) * r + p * (e * r + delta), (1 + p * (e - 1)) * r + p * delta, "an event that the record makes likelier"
    )
    generator, closest = np.random.default_rng(81), math.inf
    for _ in range(20_000 * effort):
        epsilon, rate = math.exp(generator.uniform(-4, 1.5)), generator.uniform(0.001, 1)
        bound, delta_ = claim(epsilon, rate), generator.uniform(0, 0.2)
        without = generator.uniform(0, 1)
        likely = min(1.0, math.exp(epsilon) * without + delta_, 1 - (1 - without - delta_) * math.exp(-epsilon))
        rare = max(0.0, (without - delta_) * math.exp(-epsilon), 1 - math.exp(epsilon) * (1 - without) - delta_)
        for other in (likely, rare):
            mixed = (1 - rate) * without + rate * other
            slack = min(
                math.exp(bound) * without + rate * delta_ - mixed, math.exp(bound) * mixed + rate * delta_ - without
            )
            require(slack > -1e-12, f"ε = {epsilon:.3g}, p = {rate:.3g}: {without:.4g} against {mixed:.4g}")
            closest = min(closest, slack)
    require(math.expm1(1.25) <= 2.5, "e^ε − 1 ≤ 2ε at ε = 5/4")  # convex in ε, equal at 0
    epsilon, rate = 10.0, 0.1
    require(claim(epsilon, rate) > 2 * rate * epsilon, "the note fails at a large ε")
    return Finding(f"closest approach {max(closest, 0.0):.1e}", "ε = 10, p = 1/10: ln(1 + p(e^ε − 1)) = 7.7 > 2 = 2pε.")


@statement(
    "DP-SGD, (qTε, qTδ)",
    "T steps, each (ε, δ)-DP on a sample that holds each record with chance q, are (qTε, qTδ)-DP together",
    verdict=FAILS,
    evidence=(RIGOROUS,),
    claim=lambda epsilon, q, steps: q * steps * epsilon,
    fault=("T ln(1 + q(e^ε − 1)), the repair", lambda epsilon, q, steps: steps * math.log1p(q * math.expm1(epsilon))),
    scope="Counter-example with δ = 0 and T = 1: randomised response on the sampled bit. T ln(1 + q(e^ε − 1)), with qTδ, is what sampling and composition give. The sharper (qε√T, δ) is "
    "printed without its conditions: for Gaussian noise, q = 1 and large T it fails too, as ε then grows as Tε²/2.",
)
def _naive(claim, effort: int) -> Finding:
    # a step answers 1 with chance 3/4 where the sampled bit is 1, else 1/4: ε = ln 3, δ = 0
    with_record = Fraction(1, 2) * Fraction(3, 4) + Fraction(1, 2) * Fraction(1, 4)
    ratio = with_record / Fraction(1, 4)
    stated = mpmath.exp(claim(math.log(3), 0.5, 1))
    require(float(ratio) > float(stated) + 1e-9, f"a ratio of {ratio} lies within e^ε′ = {float(stated):.6f}")
    return Finding(
        f"probability ratio {ratio} where {float(stated):.3f} is claimed",
        "T = 1, q = 1/2, ε = ln 3, δ = 0: randomised response (3/4) on a sampled bit, 0 if it was not sampled: "
        "P[1] = 1/2 with a record of 1 and 1/4 without, a ratio of 2 > √3 = e^{qε}.",
    )


@statement(
    "DP exponential",
    "the exponential mechanism P(o) ∝ e^{εs(o)/Δ} is ε-DP",
    verdict=REPAIRED,
    evidence=(RIGOROUS, ADVERSARIAL),
    claim=lambda scores, epsilon: exponential_probabilities(scores, sensitivity=1.0, epsilon=epsilon),
    fault=(
        "ε/Δ in the exponent, as printed",
        lambda scores, epsilon: exponential_probabilities(scores, sensitivity=1.0, epsilon=2 * epsilon),
    ),
    licenses=("noisygd_delete_lab.mechanisms:exponential_probabilities",),
    scope="With ε/(2Δ), as the package has it: ε-DP on random scores that move by at most Δ = 1, the worst moves (one up, the others down) among them, attained as outcomes multiply. As "
    "printed it is 2ε-DP.",
)
def _exponential(claim, effort: int) -> Finding:
    generator, closest = np.random.default_rng(82), math.inf
    for _ in range(2000 * effort):
        outcomes, epsilon = int(10 ** generator.uniform(0.4, 4)), math.exp(generator.uniform(-3, 1))
        scores = generator.normal(size=outcomes) * generator.choice([0.0, 1.0])
        moves = generator.uniform(-1, 1, outcomes) if generator.random() < 0.3 else -np.ones(outcomes)
        moves[0] = 1.0
        ratio = np.abs(np.log(claim(scores + moves, epsilon) / claim(scores, epsilon))).max()
        require(ratio <= epsilon * (1 + 1e-9), f"{outcomes} outcomes: log ratio {ratio:.4g} above ε = {epsilon:.4g}")
        closest = min(closest, 1 - ratio / epsilon)
    # as printed, five outcomes, e^ε = 2: scores (0, 0, 0, 0, 0) against (1, −1, −1, −1, −1)
    printed = (Fraction(2) / (2 + Fraction(4, 2))) / Fraction(1, 5)
    require(printed == Fraction(5, 2), "the printed mechanism's ratio")
    return Finding(
        f"closest approach {closest:.1e} of ε",
        "five outcomes, Δ = 1, e^ε = 2: scores 0 against (1, −1, −1, −1, −1) give the first outcome 1/5 and 1/2, a ratio of 5/2 > 2.",
    )


@statement(
    "DP-ERM sensitivity",
    "the minimiser of a mean of G-Lipschitz convex losses with a λ-strongly convex objective moves by at most 4G/(nλ) when a record is replaced",
    evidence=(RIGOROUS, ADVERSARIAL),
    claim=lambda lipschitz, records, strong: 4 * lipschitz / (records * strong),
    fault=("G/(nλ)", lambda lipschitz, records, strong: lipschitz / (records * strong)),
    scope="2G/(nλ) is enough, and the linear loss attains it: what `OutputPerturbation` of the lab takes. Checked by bisection on one-dimensional losses √(1 + (w − y)²), G = 1, and on the linear loss.",
)
def _sensitivity(claim, effort: int) -> Finding:
    generator, closest = np.random.default_rng(83), math.inf

    def minimiser(targets: np.ndarray, strong: float) -> float:
        low, high = -1 / strong, 1 / strong
        for _ in range(60):
            middle = (low + high) / 2
            slope = float(np.mean((middle - targets) / np.sqrt(1 + (middle - targets) ** 2))) + strong * middle
            low, high = (low, middle) if slope > 0 else (middle, high)
        return (low + high) / 2

    for _ in range(300 * effort):
        records, strong = int(generator.integers(1, 30)), math.exp(generator.uniform(-3, 2))
        targets = generator.normal(size=records) * math.exp(generator.uniform(-1, 5))
        other = targets.copy()
        other[0] = -targets[0] * math.exp(generator.uniform(0, 3))
        bound = claim(1.0, records, strong)
        moves = (abs(minimiser(targets, strong) - minimiser(other, strong)), 2 / (records * strong))  # curved, linear
        require(
            max(moves) <= bound * (1 + 1e-9), f"n = {records}, λ = {strong:.3g}: {max(moves):.4g} above {bound:.4g}"
        )
        closest = min(closest, 1 - max(moves) / bound)
    return Finding(f"closest approach {closest:.0%}: twice what is needed")


@statement(
    "Guo, basis vectors",
    "a small gradient residual hides nothing: least squares on {(e_i, i)} keeps a non-zero weight w_i of a removed record, which tells that it was there",
    evidence=(RIGOROUS,),
    claim=lambda residual: Fraction(1),
    fault=("an advantage of at most the residual", lambda residual: min(Fraction(1), residual)),
    scope="Exact rationals at n = d = 5 and λ = 1/10, residuals from 1 to 10⁻¹²: retraining without (e_5, 5) has w_5 = 0, a removal with a residual ε′ > 0 may leave w_5 = ε′/(λ(n − 1)), and the "
    "test w_5 ≠ 0 has advantage 1. Hidden by noise, not by a smaller residual.",
)
def _basis(claim, effort: int) -> Finding:
    records, strong = 5, Fraction(1, 10)
    ridge = strong * (records - 1)
    for exponent in range(13):
        residual = Fraction(1, 10**exponent)
        retrained = [Fraction(i, 1) / (1 + ridge) for i in range(1, records)] + [Fraction(0)]
        removed = [*retrained[:-1], residual / ridge]
        gradient = [(removed[i] - (i + 1)) + ridge * removed[i] for i in range(records - 1)] + [ridge * removed[-1]]
        require(gradient[:-1] == [0] * (records - 1), "the other weights are optimal")
        require(gradient[-1] == residual, "the residual")
        advantage = Fraction(int((removed[-1] != 0) != (retrained[-1] != 0)))
        require(advantage == claim(residual), f"residual {float(residual):.0e}: advantage {advantage}")
    return Finding("advantage 1 at every residual down to 10⁻¹²")


@statement(
    "Guo, nearest neighbour",
    "differential privacy is sufficient for certified removal and not necessary: a nearest-neighbour classifier removes exactly and is private at no ε",
    evidence=(RIGOROUS,),
    claim=lambda epsilon: 1.0,
    fault=("δ = tanh(ε/2)", lambda epsilon: math.tanh(epsilon / 2)),
    scope="The least δ for which the classifier is (ε, δ)-DP is 1 at every ε: a record at the query decides its answer. Removal drops the record and equals the classifier of the rest on random tables. Sufficient: "
    "an answer that is ε-DP is within e^ε of that of the table without the record, and the removal that does nothing publishes it.",
)
def _neighbour(claim, effort: int) -> Finding:
    generator = np.random.default_rng(84)

    def answer(points: np.ndarray, labels: np.ndarray, query: float) -> int:
        return int(labels[np.argmin(np.abs(points - query))])

    for _ in range(200 * effort):
        points, labels = generator.normal(size=6), generator.integers(0, 2, 6)
        kept = np.arange(6) != 2
        far = np.where(kept, points, np.inf)  # removed: never the nearest
        queries = generator.normal(size=20)
        require(
            [answer(far, labels, x) for x in queries] == [answer(points[kept], labels[kept], x) for x in queries],
            "removal equals the classifier of the rest",
        )
        flipped = labels.copy()
        flipped[2] = 1 - labels[2]
        answers = [answer(points, some, points[2]) for some in (labels, flipped)]
        for epsilon in (0.1, 1.0, 10.0):
            least = float(answers[0] != answers[1])  # P(O) = 1 against 0
            require(least == claim(epsilon), f"ε = {epsilon}: δ = {least}")
    return Finding("δ = 1 at every ε")


@statement(
    "5.1-optimal",
    "Theorem 5.1's risk O(qd/(ε_dp n²)) is the lower bound Ω(min{1, d/(ε²n²)}) of Bassily et al. for (ε, δ)-DP, up to constants, κ and log(1/δ)",
    evidence=(SYMBOLIC, RIGOROUS),
    claim=theorem_5_1.excess_risk,
    fault=("n for n²", lambda **facts: theorem_5_1.excess_risk(**facts) * facts["records"]),
    licenses=("bounds.theorem_5_1:excess_risk",),
    scope="The budget (ε, δ) is met by q = 1 + 2 log(1/δ)/ε and ε_dp = ε/2 (Theorem B.1), where qd/(ε_dp n²) = 2(ε + 2 log(1/δ)) d/(ε²n²): at most 6 log(1/δ) times the lower bound for "
    "ε ≤ log(1/δ). The ratio of the package's risk to d L²/(λε²n²) is bounded by 60 κ log(1/δ) over a grid of n, d, ε, δ, κ. The lower bound itself (Bassily, Smith & Thakurta 2014, Theorem 5.5) is cited.",
)
def _optimal(claim, effort: int) -> Finding:
    epsilon, log_delta, d, n = sp.symbols("epsilon l d n", positive=True)  # l = log(1/δ)
    order = 1 + 2 * log_delta / epsilon
    same(epsilon / 2 + log_delta / (order - 1), epsilon, "ε_dp + log(1/δ)/(q − 1) = ε")
    same(
        order * d / (epsilon / 2 * n**2),
        2 * (epsilon + 2 * log_delta) * d / (epsilon**2 * n**2),
        "the risk's order in ε and δ",
    )
    largest = 0.0
    for records in (10**3, 10**5, 10**7):
        for dimension in (1, 30, 1000):
            for eps in (0.01, 0.3, 3.0):
                for delta in (1e-3, 1e-9):
                    for smoothness in (0.0, 1.0, 100.0):
                        rate = (eps / 2) / (1 + 2 * math.log(1 / delta) / eps)
                        risk = claim(
                            rate=rate,
                            lipschitz=2.0,
                            regularization=0.5,
                            smoothness=smoothness,
                            records=records,
                            dimension=dimension,
                        )
                        lower = dimension * 2.0**2 / (0.5 * eps**2 * records**2)
                        allowed = 60 * (1 + smoothness / 0.5) * math.log(1 / delta)
                        require(risk <= allowed * lower, f"n = {records}: {risk / lower:.3g} times the lower bound")
                        largest = max(largest, risk / (lower * allowed))
    return Finding(f"at most {largest:.2f} of 60 κ log(1/δ) times the lower bound")
