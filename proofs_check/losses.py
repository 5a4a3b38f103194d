"""The constants each loss of the package declares: L, β₊, β₋, ω (guarantees depend on nothing else)."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import sympy as sp
from scipy.optimize import minimize

from noisygd_delete import losses

from .framework import ADVERSARIAL, SYMBOLIC, Finding, require, require_refusal, same, statement


def _labels(loss: Any, generator: np.random.Generator) -> np.ndarray:
    if loss.label_kind == "class":
        return np.array([int(generator.integers(loss.outputs))])
    if loss.label_kind == "target":
        return np.array([generator.normal() * 2])
    return np.array([generator.choice([-1.0, 1.0])])


def _attack(loss: Any, declared: Any, effort: int, seed: int) -> tuple[float, float, float, float]:
    """Closest approach to L, β₊, β₋ and ω, each as (bound − found)/bound, on R = `loss.radius` rows.

    For a row x the gradient in the weights is g xᵀ and the Hessian H ⊗ xxᵀ, so the extremes are those of g and H times R and R².
    """
    generator = np.random.default_rng(seed)
    radius, outputs = loss.radius, loss.outputs

    def derivative(scores: np.ndarray, labels: np.ndarray) -> np.ndarray:
        return np.asarray(loss.derivative(scores[None, :].copy(), labels, np))[0]

    def value(scores: np.ndarray, labels: np.ndarray) -> float:
        return float(np.asarray(loss.value(scores[None, :].copy(), labels, np))[0])

    def curvatures(scores: np.ndarray, labels: np.ndarray) -> np.ndarray:
        h = 1e-5
        columns = [
            (derivative(scores + h * e, labels) - derivative(scores - h * e, labels)) / (2 * h) for e in np.eye(outputs)
        ]
        matrix = np.array(columns)
        return np.linalg.eigvalsh((matrix + matrix.T) / 2)

    found = {"lipschitz": 0.0, "smoothness": 0.0, "weak": 0.0}

    def measure(scores: np.ndarray, labels: np.ndarray) -> tuple[float, float, float]:
        eigenvalues = curvatures(scores, labels)
        return (
            float(np.linalg.norm(derivative(scores, labels))) * radius,
            float(eigenvalues[-1]) * radius**2,
            -float(eigenvalues[0]) * radius**2,
        )

    for trial in range(150 * effort):
        labels = _labels(loss, generator)
        scores = generator.normal(size=outputs) * math.exp(generator.uniform(-3, 3.5))
        if trial % 25 == 24:  # far out, where exponentials overflow
            scores = scores * 1e3
        step = 1e-6  # the declared derivative is the derivative of the declared value
        slope = np.array(
            [
                (value(scores + step * e, labels) - value(scores - step * e, labels)) / (2 * step)
                for e in np.eye(outputs)
            ]
        )
        require(
            np.allclose(slope, derivative(scores, labels), atol=2e-4), "derivative() is not the derivative of value()"
        )
        if trial < 12 * effort:
            for index, name in enumerate(found):
                best = minimize(
                    lambda z, y=labels, i=index: -measure(z, y)[i],
                    scores,
                    method="Nelder-Mead",
                    options={"maxfev": 60 * outputs},
                )
                found[name] = max(found[name], -float(best.fun))
        for index, name in enumerate(found):
            found[name] = max(found[name], measure(scores, labels)[index])
    tolerance = 1e-6
    require(
        found["lipschitz"] <= declared.lipschitz * (1 + tolerance),
        f"gradient norm {found['lipschitz']} above L = {declared.lipschitz}",
    )
    require(
        found["smoothness"] <= declared.smoothness * (1 + 1e-5) + 1e-8,
        f"curvature {found['smoothness']} above β₊ = {declared.smoothness}",
    )
    require(
        found["weak"] <= declared.weak_convexity * (1 + 1e-5) + 1e-8,
        f"curvature {-found['weak']} below −β₋ = {-declared.weak_convexity}",
    )
    spread = 0.0
    if math.isfinite(declared.range):
        for _ in range(40 * effort):
            labels = _labels(loss, generator)
            levels = [
                value(generator.choice([-1.0, 1.0], outputs) * math.exp(generator.uniform(-2, 4)), labels)
                for _ in range(60)
            ]
            spread = max(spread, max(levels) - min(levels))
        require(spread <= declared.range * (1 + tolerance), f"range {spread} above ω = {declared.range}")
    else:
        labels = _labels(loss, generator)
        levels = [value(size * np.eye(outputs)[i], labels) for i in range(outputs) for size in (-1e3, 0.0, 1e3)]
        require(max(levels) - min(levels) > 100, "ω = ∞ is declared, and the loss looks bounded")

    def gap(bound: float, reached: float) -> float:
        return 1 - reached / bound if bound else 0.0

    return (
        gap(declared.lipschitz, found["lipschitz"]),
        gap(declared.smoothness, found["smoothness"]),
        gap(declared.weak_convexity, found["weak"]),
        gap(declared.range, spread) if math.isfinite(declared.range) else 0.0,
    )


def _margin(gaps: tuple[float, float, float, float]) -> str:
    return "closest approach L {:.1%}, β₊ {:.1%}, β₋ {:.1%}, ω {:.1%}".format(*(max(0.0, gap) for gap in gaps))


u = sp.Symbol("u", real=True)  # tanh(z/2) where a logistic function appears
SPAN = sp.Interval(-1, 1)


@statement(
    "S.logistic", "logistic loss: L = R, β₊ = R²/4, β₋ = 0, ω = ∞",
    evidence=(SYMBOLIC, ADVERSARIAL),
    claim=lambda loss: loss.constants,
    fault=("β₊ = R²/8", lambda loss: replace(loss.constants, smoothness=loss.radius**2 / 8)),
    licenses=("losses.logistic:Logistic",),
    scope="Extremes of g = −(1 ∓ u)/2 and g′ = (1 − u²)/4 over u = tanh(z/2) ∈ [−1, 1] symbolically; the code's value"
    " and derivative against each other and attacked at R = 1 and 3.",
)  # fmt: skip
def _logistic(claim, effort: int) -> Finding:
    z = sp.Symbol("z", real=True)
    for point in (sp.Rational(-7, 3), sp.Rational(1, 5)):
        require(
            abs(((1 - sp.tanh(z / 2) ** 2) / 4 - sp.diff(sp.log(1 + sp.exp(-z)), z, 2)).subs(z, point).evalf(30))
            < 1e-25,
            "g′ in u",
        )
    same(sp.maximum((1 - u**2) / 4, u, SPAN), sp.Rational(1, 4), "β₊")
    same(sp.minimum((1 - u**2) / 4, u, SPAN), 0, "β₋")
    same(sp.maximum(sp.Abs((1 - u) / 2), u, SPAN), 1, "L")
    scores, labels = np.linspace(-9, 9, 91)[:, None], np.where(np.arange(91) % 2, 1.0, -1.0)
    loss, limit = losses.Logistic(radius=1.0), 0.3
    slopes = np.abs(loss.derivative(scores, labels, np))
    nearest = np.abs(loss.derivative(loss.unclipped(scores, labels, limit, np), labels, np))
    require(np.allclose(nearest, np.minimum(slopes, limit)), "unclipped: the nearest score of slope 0.3 at most")
    gaps = [_attack(losses.Logistic(radius=r), claim(losses.Logistic(radius=r)), effort, 91) for r in (1.0, 3.0)]
    return Finding(_margin(tuple(min(column) for column in zip(*gaps, strict=True))))


@statement(
    "S.softmax", "cross-entropy of a linear model: L = √2R, β₊ = R²/2, β₋ = 0, ω = ∞",
    evidence=(ADVERSARIAL,),
    claim=lambda loss: loss.constants,
    fault=("L = R", lambda loss: replace(loss.constants, lipschitz=loss.radius)),
    licenses=("losses.softmax:Softmax",),
    scope="The code attacked with 2, 3 and 5 classes, Hessian eigenvalues included; the proof (variance of a bounded "
    "variable, Popoviciu) is in the class and not checked by machine.",
)  # fmt: skip
def _softmax(claim, effort: int) -> Finding:
    gaps = []
    for k in (2, 3, 5):
        loss, level = losses.Softmax(radius=2.0, classes=k), np.full((1, k), 1 / k)
        gaps.append(_attack(loss, claim(loss), effort, 92))
        trace = 9 * float(np.trace(np.diag(level[0]) - level.T @ level))  # of the Hessian at equal scores, R = 3
        require(
            abs(trace / replace(loss, radius=3.0).curvature_trace - 1) < 1e-12, f"{k} classes: the trace is {trace}"
        )
    return Finding(_margin(tuple(min(column) for column in zip(*gaps, strict=True))))


@statement(
    "S.pseudo-huber", "pseudo-Huber loss: L = δR, β₊ = R², β₋ = 0, ω = ∞",
    evidence=(SYMBOLIC, ADVERSARIAL),
    claim=lambda loss: loss.constants,
    fault=("L = δR/2", lambda loss: replace(loss.constants, lipschitz=loss.delta * loss.radius / 2)),
    licenses=("losses.pseudo_huber:PseudoHuber",),
    scope="g = δ sin φ and g′ = cos³φ with r = δ tan φ symbolically; the code attacked at two δ.",
)  # fmt: skip
def _pseudo_huber(claim, effort: int) -> Finding:
    residual, delta = sp.symbols("r delta", positive=True)
    loss = delta**2 * (sp.sqrt(1 + (residual / delta) ** 2) - 1)
    same(sp.simplify(loss.diff(residual, 2)), (1 + (residual / delta) ** 2) ** sp.Rational(-3, 2), "g′")
    require(sp.limit(loss.diff(residual), residual, sp.oo) == delta, "sup |g| = δ")
    gaps = [
        _attack(
            losses.PseudoHuber(radius=1.5, delta=value), claim(losses.PseudoHuber(radius=1.5, delta=value)), effort, 93
        )
        for value in (0.5, 2.0)
    ]
    return Finding(_margin(tuple(min(column) for column in zip(*gaps, strict=True))))


@statement(
    "S.linear", "linear loss: L = R, β = 0, ω = ∞",
    evidence=(ADVERSARIAL,),
    claim=lambda loss: loss.constants,
    fault=("L = R/2", lambda loss: replace(loss.constants, lipschitz=loss.radius / 2)),
    licenses=("losses.linear:Linear",),
    scope="The code's derivative is 1 at every score.",
)  # fmt: skip
def _linear(claim, effort: int) -> Finding:
    return Finding(_margin(_attack(losses.Linear(radius=2.0), claim(losses.Linear(radius=2.0)), effort, 94)))


@statement(
    "S.sigmoid", "sigmoid loss: L = R/4, β₊ = β₋ = R²/(6√3), ω = 1",
    evidence=(SYMBOLIC, ADVERSARIAL),
    claim=lambda loss: loss.constants,
    fault=("β₋ = 0: taken for convex", lambda loss: replace(loss.constants, weak_convexity=0.0)),
    licenses=("losses.sigmoid:Sigmoid",),
    scope="Extremes of (1 − u²)/4 and u(1 − u²)/4 symbolically; the code attacked, its range included.",
)  # fmt: skip
def _sigmoid(claim, effort: int) -> Finding:
    same(sp.maximum(u * (1 - u**2) / 4, u, SPAN), 1 / (6 * sp.sqrt(3)), "β₊")
    same(sp.minimum(u * (1 - u**2) / 4, u, SPAN), -1 / (6 * sp.sqrt(3)), "β₋")
    same(sp.maximum((1 - u**2) / 4, u, SPAN), sp.Rational(1, 4), "L")
    loss = losses.Sigmoid(radius=2.0)
    return Finding(_margin(_attack(loss, claim(loss), effort, 95)))


@statement(
    "S.tanh-network", "tanh network with fixed outer weights a: L = ‖a‖₂R, β₊ = R²(‖a‖₂²/4 + 4‖a‖_∞/(3√3)), β₋ = 4R²‖a‖_∞/(3√3), ω = ‖a‖₁",
    evidence=(SYMBOLIC, ADVERSARIAL),
    claim=lambda loss: loss.constants,
    fault=("β₊ without its second term", lambda loss: replace(loss.constants, smoothness=loss.radius**2 * sum(a * a for a in loss.outer_weights) / 4)),
    licenses=("losses.tanh_network:TanhNetwork",),
    scope="sup |tanh″| = 4/(3√3) symbolically; the code attacked at small and at large outer weights (where L and β₋ "
    "are approached).",
)  # fmt: skip
def _tanh(claim, effort: int) -> Finding:
    same(sp.maximum(2 * u * (1 - u**2), u, SPAN), 4 / (3 * sp.sqrt(3)), "sup |tanh″|")
    filled = SimpleNamespace(  # an array library whose scores lie on a device of their own
        concatenate=np.concatenate,
        full=lambda shape, value, *, dtype, device="cpu": np.full(shape, value, dtype) if device == "gpu" else None,
    )
    placed = losses.TanhNetwork(radius=1.0, outer_weights=(8.0, -0.3))._outer(
        SimpleNamespace(dtype=np.float64, device="gpu"), filled
    )
    require(placed.tolist() == [8.0, -0.3], f"outer weights beside the scores: {placed}")
    gaps = [
        _attack(
            losses.TanhNetwork(radius=1.0, outer_weights=a),
            claim(losses.TanhNetwork(radius=1.0, outer_weights=a)),
            effort,
            96,
        )
        for a in ((0.5,), (8.0, 1.0), (20.0, 0.5, -0.3))
    ]
    return Finding(_margin(tuple(min(column) for column in zip(*gaps, strict=True))))


@statement(
    "S.one-vs-rest", "one logistic model per class: L = √k R, β₊ = R²/4, β₋ = 0, ω = ∞",
    evidence=(ADVERSARIAL,),
    claim=lambda loss: loss.constants,
    fault=("L = R", lambda loss: replace(loss.constants, lipschitz=loss.radius)),
    licenses=("losses.one_vs_rest:OneVsRest",),
    scope="The code attacked with 2, 3 and 5 classes; L is approached where every model is wrong with certainty, which is set as a score.",
)  # fmt: skip
def _one_vs_rest(claim, effort: int) -> Finding:
    gaps = []
    for k in (2, 3, 5):
        loss = losses.OneVsRest(radius=1.5, classes=k)
        gaps.append(_attack(loss, claim(loss), effort, 97))
        wrong = np.where(np.arange(k) == 0, -40.0, 40.0)[None, :]
        norm = float(np.linalg.norm(loss.derivative(wrong, np.array([0]), np))) * loss.radius
        require(norm <= claim(loss).lipschitz * (1 + 1e-12), f"{k} classes: gradient norm {norm} above L")
        require(norm >= loss.constants.lipschitz * (1 - 1e-12), f"{k} classes: L is not approached")
    return Finding(_margin(tuple(min(column) for column in zip(*gaps, strict=True))))


@statement(
    "S.clipped", "a loss with one gradient direction, clipped to norm L: that L, β₊ of the base, β₋ = 0, ω = ∞",
    evidence=(ADVERSARIAL,),
    claim=lambda loss: loss.constants,
    fault=("L of half the limit", lambda loss: replace(loss.constants, lipschitz=loss.limit / 2)),
    licenses=("losses.clipped:Clipped", "losses.clipped:clip_loss"),
    scope="Logistic and pseudo-Huber clipped at two limits each: derivative against value, L and β₊ attacked on both sides of the kink; below the limit value and derivative are the base's own. Several "
    "directions per record, and losses that are not convex, are refused (F.3).",
)  # fmt: skip
def _clipped(claim, effort: int) -> Finding:
    gaps = []
    for base in (losses.Logistic(radius=2.0), losses.PseudoHuber(radius=2.0, delta=1.5)):
        for share in (0.3, 0.8):
            loss = losses.clip_loss(base, share * base.constants.lipschitz)
            gaps.append(_attack(loss, claim(loss), effort, 98))
            scores, labels = np.array([[0.4], [-0.2]]), np.array([1.0, -1.0]) * (base.label_kind == "binary")
            inside = np.abs(base.derivative(scores, labels, np)) < loss.limit / loss.radius
            wrong = [np.abs(one.derivative(np.array([[-1e9], [1e9]]), labels, np)).max() for one in (base, loss)]
            require(abs(wrong[0] / wrong[1] / loss.loss_of_fit - 1) < 1e-9, "slope of the base over the clipped one")
            for name in ("derivative", "value"):
                ours, plain = (np.reshape(getattr(one, name)(scores, labels, np), (2, 1)) for one in (loss, base))
                require(np.allclose(ours[inside], plain[inside]), f"{name} changed where nothing is clipped")
    for loss in (losses.Softmax(radius=1.0, classes=3), losses.Sigmoid(radius=1.0)):
        require_refusal(
            lambda base=loss: losses.clip_loss(base, base.constants.lipschitz / 2), f"the {loss.name} loss clipped"
        )
    return Finding(_margin(tuple(min(column) for column in zip(*gaps, strict=True))))
