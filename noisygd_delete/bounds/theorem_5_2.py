"""Theorem 5.2 of Chourasia & Shah (ICML 2023) and G.22–G.24 as printed, and sharper forms of them.

Assumptions: the loss of each record is L-Lipschitz, twice differentiable, β-smooth (β = max(β₊, β₋)), and of range ω.
The objective is (1/n) Σ ℓ + (λ/2)‖θ‖², and θ_{k+1} = θ_k − η∇ + sqrt(2η) N(0, σ² I_d). π(D) ∝ e^{−L_D/σ²} is the Gibbs
law of the objective and ρ = N(0, (σ²/λ) I_d) the prior. Subtracting a constant from the loss changes nothing, so the
theorem's "σ² log(B)/4-bounded" holds with b = ω/2, that is B = e^{2ω/σ²}.

π(D) satisfies a log-Sobolev inequality with constant λ/B. B is the cost of the *barriers* of the loss and enters every
formula through `log_barrier`:

    printed   log B = 2ω/σ²    (Holley–Stroock from a two-sided bound on the density ratio π/ρ)
    sharper   log B = ω/σ²     (Holley–Stroock from its oscillation)

The exponential is inherent: a chain between two wells of depth ω forgets its well in time e^{ω/σ²}.

Closeness to a Gibbs law is a statement about a model whose past was *not observed*, so it certifies non-adaptive
requests only. For adaptive requests use the composition bound `composition_horizon`.

| API name       | symbol | meaning                                                  |
|----------------|--------|----------------------------------------------------------|
| range          | ω      | sup ℓ − inf ℓ of one record's loss                        |
| log_barrier    | log B  | see above                                                |
| order          | q      | Rényi order                                              |
| deletion       | ε_dd   | Rényi divergence to the Gibbs law, at order q            |
| dimension      | d      | number of weights                                        |
| batch          | r      | edits per request                                        |
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import check_choice, check_count, check_positive, non_negative, renyi_order


def log_barrier_printed(*, range: float, noise_variance: float) -> float:
    """Return log B = 2ω/σ² (Theorem 5.2)."""
    return 2 * range / noise_variance


def log_barrier(*, range: float, noise_variance: float) -> float:
    """Return log B = ω/σ², which suffices because the density of π(D) with respect to ρ oscillates by e^{ω/σ²}."""
    return range / noise_variance


def _exp(exponent: float) -> float:
    """Return e^x; infinity if it overflows."""
    return math.exp(exponent) if exponent < 709 else math.inf


def largest_step_size(*, log_barrier: float, order: float, regularization: float, smoothness: float) -> float:
    """Return the largest step size allowed by G.22, η ≤ λ/(64 B q² (β+λ)²)."""
    return regularization / (64 * order**2 * (smoothness + regularization) ** 2) * math.exp(-log_barrier)


def step_size(
    *, log_barrier: float, order: float, deletion: float, dimension: int, regularization: float, smoothness: float
) -> float:
    """Return η = λ ε_dd/(64 d q B (β+λ)²) of Theorem 5.2, or the limit of G.22 if smaller (if q ε_dd > d).

    With the printed η the discretization error at order q is half of ε_dd.
    """
    limit = largest_step_size(
        log_barrier=log_barrier, order=order, regularization=regularization, smoothness=smoothness
    )
    return min(limit, limit * order * deletion / dimension)


def discretisation_rate(
    *, log_barrier: float, dimension: int, regularization: float, smoothness: float, step_size: float
) -> float:
    """Return c2/c1 = 32 d η B (β+λ)²/λ; 0 if η underflowed.

    q times this rate bounds how far from π(D) the chain may settle.
    """
    if step_size == 0:
        return 0.0
    scale = 32 * dimension * (smoothness + regularization) ** 2 / regularization
    return scale * _exp(math.log(step_size) + log_barrier)


def forgetting_rate(*, log_barrier: float, regularization: float, step_size: float) -> float:
    """Return the forgetting rate per step, c1·η = λη/(2B)."""
    return regularization * step_size / 2 * math.exp(-log_barrier)


def renyi_to_gibbs_printed(
    *, start: float, discretisation_rate: float, forgetting_rate: float, order: float, steps: float
) -> float:
    """Return the bound of Theorem G.22: R_q(K steps ‖ π(D)) ≤ q e^{−c1 ηK} R_q(start ‖ π(D)) + (c2/c1) q."""
    return order * math.exp(-forgetting_rate * steps) * start + order * discretisation_rate


def rate_to_gibbs(*, start_rate: float, discretisation_rate: float, forgetting_rate: float, steps: float) -> float:
    """Return the Rényi rate to the Gibbs law after K steps, by G.22 before its last relaxation, for a family of orders.

    If R_p(start ‖ π(D)) ≤ p·ρ for 1 < p ≤ q, then after K steps R_p ≤ p·ρ′ for 1 < p ≤ q, with
    ρ′ = e^{−c1 ηK} ρ + (c2/c1)(1 − e^{−c1 ηK}).

    Proof: divide R_q ≤ (q/q0) e^{−c1 ηK} R_{q0}(start) + (c2/c1) q (1 − e^{−c1 ηK}) by the order.
    p0 = (p − 1)e^{−c1 ηK} + 1 is in (1, p], so R_{p0}(start)/p0 ≤ ρ, and a step size that G.22 allows at q it also
    allows at p. A move of the target adds R_∞ ≤ p·R_∞ at every order (weak triangle inequality), so a history of edits
    and steps is a scalar recursion. There is no factor q at intermediate stages, and after a small edit only the small
    move has to be forgotten.
    """
    kept = math.exp(-forgetting_rate * steps)
    return kept * start_rate - math.expm1(-forgetting_rate * steps) * discretisation_rate


def prior_to_gibbs(*, range: float, noise_variance: float) -> tuple[float, float]:
    """Return (W, W²/8) with W = ω/σ²: R_q(ρ ‖ π(D)) ≤ min(W, q W²/8) for every q, in both directions.

    W is R_∞, G.23's log(B)/2. The second bound holds because log dπ/dρ has range W (Hoeffding's lemma).
    """
    oscillation = range / noise_variance
    return oscillation, oscillation**2 / 8


def data_influence(*, range: float, noise_variance: float) -> float:
    """Return tanh(ω/(4σ²)), an upper bound on the total variation between π(D) and the prior for any data."""
    return math.tanh(range / noise_variance / 4)


def gibbs_move(*, range: float, noise_variance: float, batch: int, records: int, deletions_only: bool = False) -> float:
    """Return R_∞(π(D) ‖ π(D∘u)) ≤ 2rω/(nσ²), G.23's (r/n) log B.

    Only R_∞ may be added to a divergence of equal order (weak triangle inequality); the quadratic bound may not.

    Args:
        range: ω.
        noise_variance: σ².
        batch: Edits r.
        records: Dataset size n.
        deletions_only: Whether every edit deletes a record or fills a null slot, which halves the bound.
    """
    return (1 if deletions_only else 2) * batch * range / (records * noise_variance)


def _round_up(steps: float) -> float:
    """Return the next integer, allowing for the rounding error of the formula; infinity is unchanged."""
    return max(0.0, float(math.ceil(steps * (1 + 1e-14)))) if steps < math.inf else math.inf


def _time(*, log_barrier: float, regularization: float, step_size: float) -> float:
    """Return 2B/(λη), the number of steps in which the bound falls by a factor e."""
    return math.inf if step_size == 0 else _exp(math.log(2 / (regularization * step_size)) + log_barrier)


def learn_steps_printed(
    *, log_barrier: float, order: float, deletion: float, regularization: float, step_size: float
) -> float:
    """Return the smallest K_A ≥ (2B/(λη)) log(q log(B)/ε_dd) of (19)."""
    time = _time(log_barrier=log_barrier, regularization=regularization, step_size=step_size)
    ratio = order * log_barrier / deletion
    return _round_up(time * math.log(ratio)) if ratio > 1 else 0.0


def delete_steps_printed(
    *,
    learn_steps: float,
    log_barrier: float,
    deletion: float,
    regularization: float,
    step_size: float,
    batch: int,
    records: int,
) -> float:
    """Return the smallest K_Ā of (19) for the K_A that is run.

    K_Ā ≥ K_A − (2B/(λη)) log( log(B) / (2(ε_dd + (r/n) log B)) ). If q log B ≤ ε_dd the prior itself is close enough
    and K_A = 0 suffices. (19) then requires more than its proof needs, (2B/(λη)) log(2q(1 + (r/n) log(B)/ε_dd)); the
    printed count is returned.
    """
    time = _time(log_barrier=log_barrier, regularization=regularization, step_size=step_size)
    if math.inf in (time, learn_steps):
        return math.inf
    spared = math.log(log_barrier / (2 * (deletion + batch / records * log_barrier)))
    return max(1.0, _round_up(learn_steps - time * spared))


def steps_to_rate(*, start_rate: float, rate: float, discretisation_rate: float, forgetting_rate: float) -> float:
    """Return the smallest K with `rate_to_gibbs` ≤ rate, checked after rounding.

    It is infinite if the discretization error exceeds the rate.
    """
    if start_rate <= rate:
        return 0.0
    if not discretisation_rate < rate or forgetting_rate == 0:
        return math.inf
    steps = _round_up(math.log1p((start_rate - rate) / (rate - discretisation_rate)) / forgetting_rate)

    def reached(candidate: float) -> float:
        return rate_to_gibbs(
            start_rate=start_rate,
            discretisation_rate=discretisation_rate,
            forgetting_rate=forgetting_rate,
            steps=candidate,
        )

    nudge = 1.0
    while reached(steps) > rate * (1 + 1e-13):
        steps, nudge = steps + nudge, 2 * nudge
    return steps


def excess_risk(
    *,
    log_barrier: float,
    range: float,
    noise_variance: float,
    lipschitz: float,
    smoothness: float,
    regularization: float,
    dimension: int,
    deletion: float,
) -> float:
    """Return (162): err ≤ Lσ sqrt(2 ε_dd B/λ) + ε_dd B σ²(2λ+β)/λ + (dσ²/2)(log((β+λ)/λ) + 2e^{ω/σ²}).

    The first two terms come from the log-Sobolev constant λ/B, the last from the density ratio e^{ω/σ²} (printed: √B).
    """
    distance = noise_variance * deletion / regularization * _exp(log_barrier)  # σ² ε_dd B/λ: W₂² is at most twice this
    gibbs = math.log1p(smoothness / regularization) + 2 * _exp(range / noise_variance)
    return (
        lipschitz * math.sqrt(2 * distance)
        + distance * (2 * regularization + smoothness)
        + dimension * noise_variance / 2 * gibbs
    )


def composition_horizon(
    *, rate: float, sensitivity: float, noise_variance: float, records: int, step_size: float
) -> int:
    """Return the number of steps with a record in the sum before G.7's rate Δ²ηK/(4σ²n²) exceeds `rate`.

    After these steps the model must be learned anew.
    """
    per_step = sensitivity**2 * step_size / (4 * noise_variance * records**2)
    steps = math.floor(rate / per_step)
    while steps * per_step > rate:
        steps -= 1
    return steps


# --- gibbs ---
#
# Closeness of a non-convex model to its Gibbs law: the induction of Theorem 5.2 over a history of public parameters.


FORMS = ("printed", "sharper")


@dataclass(frozen=True)
class Gibbs:
    """Parameters of Theorem 5.2 apart from the history of the run. All bounds are at Rényi orders up to `order`.

    Attributes:
        order: Rényi order q.
        range: ω.
        smoothness: β.
        regularization: λ.
        dimension: d.
        form: "printed" (Theorem 5.2) or "sharper" (B = e^{ω/σ²}, and a hypothesis for every order at once).
    """

    order: float
    range: float
    smoothness: float
    regularization: float
    dimension: int
    form: str

    def __post_init__(self) -> None:
        renyi_order("order", self.order)
        for name in ("range", "regularization"):
            check_positive(name, getattr(self, name))
        non_negative("smoothness", self.smoothness)
        check_count("dimension", self.dimension)
        check_choice("form", self.form, FORMS)

    def closeness(
        self, *, step_size: float, noise_variance: float, records: int, runs: Sequence[tuple[float, int]]
    ) -> float:
        """Return ε_q, a bound on R_q(model ‖ π(D)) after a learn and requests.

        The intermediate models must not have been observed, and the requests must not depend on them.

        Args:
            step_size: η.
            noise_variance: σ².
            records: n.
            runs: (steps, edits before it) of each run, first the learn, then the requests.

        Returns:
            ε_q; infinite if the step size is larger than G.22 allows.
        """
        chain: dict[str, Any] = {"step_size": step_size, "noise_variance": noise_variance, "records": records}
        (learn_steps, edits), *requests = runs
        cost = self.distance_after(**chain, before=None, steps=learn_steps, edits=edits)
        for steps, edits in requests:
            cost = self.distance_after(**chain, before=cost, steps=steps, edits=edits)
        return cost

    def distance_after(
        self, *, step_size: float, noise_variance: float, records: int, before: float | None, steps: float, edits: int
    ) -> float:
        """Return `closeness` after one more run.

        Args:
            step_size: η.
            noise_variance: σ².
            records: n.
            before: ε_q of the earlier runs; None for a fresh learn, which starts from the prior regardless of earlier
                edits.
            steps: Steps of the run.
            edits: Edits before the run.
        """
        run = self._run(step_size, noise_variance, records)
        return run(self._prior(noise_variance), steps, 0) if before is None else run(before, steps, edits)

    def worst_closeness(
        self,
        *,
        step_size: float,
        noise_variance: float,
        records: int,
        learn_steps: float,
        delete_steps: float,
        batch: int,
    ) -> float:
        """Return the supremum of `closeness` over any number ≥ 1 of requests of at most `batch` edits.

        One request maps the bound by an increasing affine function, so the sequence is monotone and its supremum is the
        first value or the limit.
        """
        run = self._run(step_size, noise_variance, records)
        first = run(run(self._prior(noise_variance), learn_steps, 0), delete_steps, batch)
        offset = run(0.0, delete_steps, batch)
        slope = run(1.0, delete_steps, batch) - offset
        return max(first, offset / (1 - slope)) if slope < 1 else math.inf

    def _prior(self, noise_variance: float) -> float:
        everywhere, rate = prior_to_gibbs(range=self.range, noise_variance=noise_variance)
        return self.order * min(everywhere, rate) if self.form == "sharper" else everywhere

    def _run(self, step_size: float, noise_variance: float, records: int) -> Callable[[float, float, int], float]:
        """Return the function (ε_q before, steps, edits) -> ε_q after."""
        scale: dict[str, Any] = {"range": self.range, "noise_variance": noise_variance}
        barrier = log_barrier if self.form == "sharper" else log_barrier_printed
        sizes = {"log_barrier": barrier(**scale), "regularization": self.regularization}
        limit = largest_step_size(order=self.order, smoothness=self.smoothness, **sizes)
        if not step_size <= limit * (1 + 1e-12):
            return lambda *_: math.inf
        chain = {
            "discretisation_rate": discretisation_rate(
                dimension=self.dimension, smoothness=self.smoothness, step_size=step_size, **sizes
            ),
            "forgetting_rate": forgetting_rate(step_size=step_size, **sizes),
        }

        def after(cost: float, steps: float, edits: int) -> float:
            move = gibbs_move(batch=edits, records=records, **scale)
            if self.form == "sharper":
                rate = cost / self.order + move
                return self.order * rate_to_gibbs(start_rate=rate, steps=steps, **chain)
            return renyi_to_gibbs_printed(start=cost + move, order=self.order, steps=steps, **chain)

        return after
