"""A third verifier of certificates, format 1, for histories of the methods `noisy-gd` and `output-perturbation`, or of `sufficient-statistics`, on the logistic loss: one file that shares nothing
with the package, for whoever wants to read all of what they trust.

    python third_verifier.py certificate.json

It says "holds" only if the signature fits, every figure is at least what the formulas below give, every figure stands with its conditions, every
condition of the methods is said, and no claim about a person stands where rows remain. What only restates facts (days, notices, what is not
covered) it does not look at. Formulas: Bok, Su & Altschuler, "Shifted interpolation for differential privacy" (ICML 2024), as in docs/theorems.md.

    c = 1 − ηm                            a step carries two runs together by this
    s = ηΔ/n, τ² = 2ησ²                   how far one record's presence moves a step; its noise
    μ²(T, K) = (s²/τ²) c^{2K} (1 − c^T)² (1 − c²) / ((1 − c)² (1 − c^{2(T+K)}))     after T steps with the record and K without, from one start
    minimiser, K steps from a solver's answer within γ:  μ = (Δ + 2γnc^K) √((1 − ηm/2) / (m(1 − c^{2K}))) / (σn)     deletion, warm: Δ = 0
    the same in exact steps (`exact`), rows in place: gaps s + δ at every step from z_0 = Δ/(nm) + 2γ/m (erased: 0 + δ, 2γ/m), against τ² − 144h²
    releases that are seen start both worlds at one point: μ² adds.   Δ = 2L between two records, L against none, times the rows of a person
    sums: draws of a chain, D the table of each: y = S(D) + c (y before − S(D before)) + noise of variance s. A record that comes, stays or
    goes moves a draw by Δ, (1 − c)Δ + ρ or cΔ + ρ, and μ² = Σ moved²/(s − 144 max(2, β²)); of those gone before a draw nothing is in it
        s = V/(1 + m), c² = m/(1 + m) to 2⁻²⁰; m = 1/3 for the last of T draws, for the one before m − (√(1+m) − √m)² = the next one's
        Δ² = R⁴ + β²R² against none, 2(R² + β²/2)² between two (4β²R² where β² > 2R²); ρ² = D² + β²D; in steps of the grid
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

FORMAT = "noisygd-delete/erasure-certificate/1"
ROOM = 1e-9  # relative: another machine's last digits
LONGER = 1 + 2.0**-19  # than they should be, stored rows may be


class Refused(Exception):
    """Why a certificate does not hold, or is none that this file can judge."""


def need(right: bool, why: str) -> None:
    if not right:
        raise Refused(why)


# --- the bytes that are signed: RFC 8785 ---


def canonical(value: Any) -> str:
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: name.encode("utf-16-be"))
        fields = (f"{json.dumps(name, ensure_ascii=False)}:{canonical(value[name])}" for name in names)
        return "{" + ",".join(fields) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    if type(value) in (int, float):
        return number(float(value))
    return json.dumps(value, ensure_ascii=False)


def number(value: float) -> str:
    """As ECMAScript writes a double."""
    need(math.isfinite(value), "a number that JSON does not have")
    if value == 0:
        return "0"
    mantissa, _, exponent = f"{abs(value)!r}".partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    point = len(whole) + int(exponent or 0) - (len(whole + fraction) - len((whole + fraction).lstrip("0")))
    digits = digits.rstrip("0") or "0"
    sign = "-" if value < 0 else ""
    if len(digits) <= point <= 21:
        return sign + digits + "0" * (point - len(digits))
    if 0 < point <= 21:
        return sign + digits[:point] + "." + digits[point:]
    if -6 < point <= 0:
        return sign + "0." + "0" * -point + digits
    power = point - 1
    fraction = "." + digits[1:] if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{fraction}e{'+' if power > 0 else '-'}{abs(power)}"


def whole_numbers(value: Any) -> Any:
    """The same value with every number without a fraction as an `int`: 2.0 and 2 are one number in JSON."""
    if isinstance(value, dict):
        return {name: whole_numbers(part) for name, part in value.items()}
    if isinstance(value, list):
        return [whole_numbers(part) for part in value]
    whole = type(value) is float and value.is_integer() and abs(value) < 2**53 and repr(value) != "-0.0"
    return int(value) if whole else value


def check_signature(paper: dict[str, Any]) -> str:
    """The id of the key that signed it. Whether that key is the controller's, its reader must know."""
    block = paper["signature"]
    need(set(block) == {"algorithm", "key_id", "public_key", "value"}, "signature block")
    need(block["algorithm"] == "Ed25519 over canonical JSON (RFC 8785)", "algorithm")
    raw, value = base64.b64decode(block["public_key"], validate=True), base64.b64decode(block["value"], validate=True)
    need(base64.b64encode(raw).decode() == block["public_key"], "base64 in another form")
    need(base64.b64encode(value).decode() == block["value"], "base64 in another form")
    name = hashlib.sha256(raw).hexdigest()[:16]
    need(name == block["key_id"], "key id")
    unsigned = {key: part for key, part in paper.items() if key != "signature"}
    try:
        Ed25519PublicKey.from_public_bytes(raw).verify(value, canonical(unsigned).encode())
    except InvalidSignature:
        raise Refused("unsigned, or altered after signing") from None
    return name


# --- the history ---


def slack_of(records: int, dtype: str) -> float:
    """How much more than Δ two computed gradient sums may differ by, relatively: blocks of 256 rows in float32, spans of 16,384 in float64."""
    need(dtype in ("float32", "float64"), "dtype")
    unit = 2.0**-24 if dtype == "float32" else 2.0**-53
    inside = 256 * unit / (1 - 256 * unit)
    additions = 64 + 2 * (records // 16384 + 1).bit_length()
    return 2 * 256 * inside + 4 * records * additions * 2.0**-53


EXACT = ("regularization", "curvature", "features", "outputs", "radius", "grid_bits", "in_place")


def row_norm_of(facts: dict[str, Any]) -> float:
    """How long a row may be in the releases that these facts describe."""
    radius = facts["row_norm"]
    need(type(radius) in (int, float) and 0 < radius < math.inf, "a release that does not state the norm of its rows")
    return float(radius)


class Run:
    """One kind of release, from its facts, each at least as cautious as the logistic loss on rows of its norm asks for.

    problem: of the plan that made it, where the certificate holds that plan; None: of a plan before.
    """

    def __init__(self, facts: dict[str, Any], problem: dict[str, Any] | None) -> None:
        self.method = facts["method"]
        need(
            self.method in ("noisy-gd-tight", "output-perturbation"),
            f"method {self.method!r} is not one of this file's",
        )
        self.row_norm = radius = row_norm_of(facts)
        lam = facts["strong_convexity"] if problem is None else problem["regularization"]
        self.n, self.eta, self.variance = facts["records"], facts["step_size"], facts["noise_variance"]
        self.m, self.lipschitz, self.rows = facts["strong_convexity"], facts["lipschitz"], facts["rows_per_subject"]
        self.slack, self.proven = facts["slack"], facts["proven"]
        self.gamma, self.warm = facts.get("gradient_tolerance", 0.0), facts.get("warm", False)
        for value in (self.n, self.eta, self.variance, self.m, self.lipschitz, lam):
            need(type(value) in (int, float) and 0 < value < math.inf, "a fact out of its range")
        need(type(self.rows) is int and self.rows >= 1, "rows of a person")
        need(type(self.n) is int, "number of slots")
        check_own(problem, self)
        need(self.lipschitz >= radius * (1 - ROOM), "the gradient bound of the logistic loss is its radius")
        need(self.m <= lam * (1 + ROOM), "a logistic objective is no more strongly convex than its regulariser")
        need(self.eta <= 2 / (2 * lam + radius**2 / 4) * (1 + ROOM), "a step that may carry two runs apart")
        self.exact = facts.get("exact")
        if self.exact is None:
            least = slack_of(self.n, "float64" if problem is None else problem["dtype"])
            need(self.slack >= least, "less slack than the machine's rounding needs")
        need(self.proven is True and self.gamma >= 0, "a fact out of its range")
        self.c = 1 - self.eta * self.m
        self.rounding = self.variance_left = 0.0
        if self.exact is not None:
            self.check_exact(self.exact, problem)

    def check_exact(self, exact: dict[str, Any], problem: dict[str, Any] | None) -> None:
        """Facts of exact steps; δ: what the roundings of one step may move two runs apart, and τ² − 144h²."""
        need(exact.get("in_place", True) is True, "exact steps that are none of this file's")
        radius, lam, bits = exact["radius"], exact["regularization"], exact["grid_bits"]
        need(type(radius) in (int, float) and 0 < radius < math.inf, "a fact out of its range")
        need(type(bits) is int and 12 <= bits <= 24, "a fact out of its range")
        d, beta = exact["features"], exact["curvature"] * LONGER**2
        need(exact["outputs"] == 1 and type(d) is int and d > 0, "another number of weights")
        if problem is not None:
            need(problem["dtype"] == "float64" and d == problem["features"], "steps of another problem")
            need(lam == problem["regularization"], "another regulariser")
        need(lam == self.m, "another regulariser")
        need(exact["curvature"] >= self.row_norm**2 / 4 * (1 - ROOM), "the curvature of the logistic loss")
        need(self.eta <= 2 / (2 * lam + beta), "a step that may carry two runs apart")
        length, unit, tau = 1.001 * radius, 2.0**-53, math.sqrt(2 * self.eta * self.variance)
        steepest, h = self.lipschitz * LONGER + lam * length, tau / 2**bits
        need(
            length + self.eta * (self.lipschitz * LONGER + lam * radius) <= 2**51 * h,
            "points that are no whole numbers",
        )
        added = min(2048, self.n) + math.ceil(math.log2(-(-self.n // 256))) + 128
        measured = 2 * unit * (beta * (d + 2) * length + (28 + added) * self.lipschitz * LONGER + 4 * lam * length)
        centre = 1.01 * (self.eta * measured + unit * (3 * self.eta * steepest + 2 * length)) + h * math.sqrt(d) / 2
        self.rounding = 2 * (centre + self.c * 1.01 * (d + 9) * unit * length) + h * math.sqrt(d)
        self.variance_left = tau**2 - 144 * h**2

    def delta(self, between: bool) -> float:
        return (2 if between else 1) * self.lipschitz * self.rows * (1 + self.slack)

    def squared(self, between: bool, with_record: float, without: int) -> float:
        """μ² of a stretch of steps."""
        if with_record == 0:
            return 0.0
        step = self.eta * self.delta(between) / self.n
        c, total = self.c, with_record + without
        if self.exact is not None:  # gaps s + δ with the record, δ without it
            step *= LONGER / (1 + self.slack)
            carried = step * c**without * (1 - c**with_record) / (1 - c) + self.rounding * (1 - c**total) / (1 - c)
            return carried**2 * (1 - c**2) / (self.variance_left * (1 - c ** (2 * total)))
        if c == 0:
            return 0.0 if without else step**2 / (2 * self.eta * self.variance)
        shape = c ** (2 * without) * (1 - c**with_record) ** 2 * (1 - c**2) / ((1 - c) ** 2 * (1 - c ** (2 * total)))
        return step**2 / (2 * self.eta * self.variance) * shape

    def solved(self, between: bool, with_record: bool, steps: int) -> float:
        """μ² of a release from the minimiser; of a record that is gone, what a warm solver's start may show."""
        if not with_record and not self.warm:
            return 0.0
        far = self.delta(between) if with_record else 0.0
        if self.exact is not None:
            far *= LONGER / (1 + self.slack)
            step, apart, left = self.eta * far / self.n, far / (self.n * self.m) + 2 * self.gamma / self.m, 0.0
            for _ in range(
                steps
            ):  # what a record, its start and every rounding carry to the end, and what noise is there
                apart = self.c * apart + step + self.rounding
                left = self.c**2 * left + self.variance_left
            return (apart * (1 + self.slack)) ** 2 / left
        spread = (1 - self.eta * self.m / 2) / (self.m * (1 - self.c ** (2 * steps)))
        mu = (
            (far + 2 * self.gamma * self.n * self.c**steps * (1 + self.slack))
            * math.sqrt(spread / self.variance)
            / self.n
        )
        return mu**2


def check_own(problem: dict[str, Any] | None, run: Run | Sums) -> None:
    """Whether a run is one of the plan that the certificate holds."""
    if problem is not None:
        need(problem["loss"]["name"] == "logistic", "the loss is not one of this file's")
        need(run.row_norm == problem["loss"]["radius"], "rows of another norm than the plan's")
        need(run.n == problem["records"], "number of slots")
        need(run.rows == problem["rows_per_subject"], "rows of a person")


class Sums:
    """Chains of draws by one plan."""

    method, exact = "sufficient-statistics", None

    def __init__(self, facts: dict[str, Any], problem: dict[str, Any] | None) -> None:
        self.row_norm = radius = row_norm_of(facts)
        names = ("features", "norm_squared", "label_weight", "releases", "rows_per_subject", "records")
        columns, norm, weight, self.most, self.rows, self.n = (facts[name] for name in names)
        need(all(type(facts[name]) is int and facts[name] > 0 for name in names), "a fact out of its range")
        need(facts["outputs"] == 1 and self.most <= 2**16, "other sums, or too many draws")
        need(problem is None or columns == problem["features"], "sums of another problem")
        check_own(problem, self)
        bits = 15 - math.frexp(radius)[1]
        need(norm == math.floor(radius**2 * 4.0**bits), "rows on another grid")
        self.joiners, variance = facts["joiners"], facts["variance"]
        need(type(self.joiners) is bool and 0 < variance < math.inf, "a fact out of its range")
        self.apart = {
            False: math.sqrt(norm**2 + weight**2 * norm),
            True: math.sqrt(2) * (norm + weight**2 / 2) if weight**2 <= 2 * norm else 2 * weight * math.sqrt(norm),
        }
        self.rounding = math.sqrt(columns**2 + weight**2 * columns)
        costs = [1 / 3]
        while len(costs) < self.most - 1:
            low, high = costs[-1], costs[-1] + 1
            for _ in range(80):
                middle = (low + high) / 2
                rises = middle - (math.sqrt(1 + middle) - math.sqrt(middle)) ** 2 < costs[-1]
                low, high = (middle, high) if rises else (low, middle)
            costs.append(high)
        carries = [round(math.sqrt(m / (1 + m)) * 2**20) / 2**20 for m in reversed(costs[: self.most - 1])]
        self.draws = [(c, variance * (1 - c * c) - 144 * max(2, weight**2)) for c in (0.0, *carries)]
        need(min(left for _, left in self.draws) > 0, "too little noise for its grid")

    def stretch(self, between: bool, come: int, gone: int, drawn: int) -> float:
        """μ² of a chain's first draws, of a record in those from `come` to before `gone`."""
        total = 0.0
        for place in range(come, min(gone + 1, drawn)):
            carry, left = self.draws[place]
            share = 1.0 if place == come else carry if place == gone else 1 - carry
            rounded = self.rounding if place > come else 0.0
            total += (self.rows * (share * self.apart[between] + rounded)) ** 2 / left
        return total

    def until(self, between: bool, gone: int, drawn: int) -> tuple[float, float]:
        """The same of who was there from the first, and of whoever came when it costs most."""
        comes = range(gone if self.joiners else 1)
        found = [self.stretch(between, come, gone, drawn) for come in comes]
        return found[0], max(found)


class Release:
    def __init__(self, kind: str, steps: int, run: Any) -> None:
        self.kind, self.steps, self.run = kind, steps, run
        need(kind in ("learn", "unlearn", "relearn"), f"a release of kind {kind!r} is not one of this file's")
        need(type(steps) is int and steps >= (1 if run.method == "output-perturbation" else 0), "steps")
        need(run.method != "sufficient-statistics" or steps == 0, "a draw of sums has no steps")
        self.fresh = kind != "unlearn" or run.method == "output-perturbation"

    def present(self, between: bool, since: int) -> float:
        """μ² of seeing it, of a record that was there for `since` of its steps from a common start."""
        return (
            self.run.solved(between, True, self.steps)
            if self.run.method == "output-perturbation"
            else self.run.squared(between, since, 0)
        )


def history(paper: dict[str, Any]) -> list[Release]:
    problem, about = paper["public_facts"]["plan"]["problem"], paper["action"]["release"]
    runs, found = {}, []
    need(
        sum(tally["releases"] for tally in paper["public_facts"]["ledger"]) <= 100_000,
        "more releases than this file goes through",
    )
    listed = []
    for tally in paper["public_facts"]["ledger"]:
        facts = dict(tally["mechanism"])
        if facts.get("exact") is not None:  # what else stands there counts for nothing
            facts["exact"] = {name: facts["exact"][name] for name in EXACT if name in facts["exact"]}
        need(type(tally["releases"]) is int and tally["releases"] >= 1, "releases of a tally")
        listed += [(json.dumps(facts, sort_keys=True), tally)] * tally["releases"]
    need(bool(listed) and (about is None or 1 <= about <= len(listed)), "the release is not in the history")
    own = listed[-1 if about is None else about - 1][0]  # what the plan of the certificate made
    for name, tally in listed:
        made = Sums if tally["mechanism"]["method"] == "sufficient-statistics" else Run
        run = runs.setdefault(name, None) or made(tally["mechanism"], problem if name == own else None)
        runs[name] = run
        found.append(Release(tally["kind"], tally["steps"], run))
    need(bool(found) and found[0].kind == "learn", "a history begins with a learn")
    for before, after in pairwise(found):
        need(after.kind != "learn", "two beginnings")
        need(after.fresh or after.run is before.run, "a change of plan without a fresh run")
    return found


def of_sums(releases: list[Release], about: int | None, between: bool) -> float:
    """μ² of what the releases told of a record that release `about` erased, or that is still there."""
    chains: list[list[int]] = []
    for number, release in enumerate(releases, 1):
        if release.run.method != "sufficient-statistics":
            continue
        if release.fresh:
            chains.append([])
        chains[-1].append(number)
        need(len(chains[-1]) <= release.run.most, "more draws than the schedule has")
    whole, dearest = 0.0, 0.0  # of who was there since the chain that is looked at; of the dearest time to come
    for chain in reversed(chains):
        gone = len([number for number in chain if about is None or number < about])
        if gone:
            first, most = releases[chain[0] - 1].run.until(between, gone, len(chain))
            dearest = max(dearest, whole + most)
            whole += first
    return dearest


def stretched(releases: list[Release]) -> list[tuple[float, list[int]]]:
    """The releases (by number) in stretches whose rows have the same norm."""
    found: list[tuple[float, list[int]]] = []
    for number, release in enumerate(releases, 1):
        if not found or found[-1][0] != release.run.row_norm:
            found.append((release.run.row_norm, []))
        found[-1][1].append(number)
    return found


def since_fresh(releases: list[Release]) -> int:
    """Steps since the last fresh run, its own among them."""
    steps = 0
    for release in releases:
        steps = release.steps + (0 if release.fresh else steps)
    return steps


def figures(releases: list[Release], about: int | None, between: bool, later: bool) -> float:
    """μ² about what release `about` erased (None: about a record that is still there, all models seen): from it on, or of all."""
    end = len(releases) if about is None else about - 1
    stepped = [one for one in releases[:end] if one.run.method != "sufficient-statistics"]
    seen = 0.0 if later else of_sums(releases, about, between) + sum(one.present(between, one.steps) for one in stepped)
    if about is None or not later:
        return seen  # release `about` starts at the model before it, which was seen: it never held the record
    served, steps = releases[about - 1], since_fresh(releases[: about - 1])
    if served.run.method == "sufficient-statistics":
        return seen
    if served.run.method == "output-perturbation":
        return seen + (served.run.solved(between, False, served.steps) if served.kind == "unlearn" and steps else 0.0)
    return seen + (0.0 if served.fresh else served.run.squared(between, steps, served.steps))


def covered(key: str, releases: list[Release], about: int | None) -> list[Release]:
    """The releases that a figure is about; the last one counts in each."""
    if key == "present.one":
        return releases[-1:]
    later = key.endswith(".later") and about is not None
    first, end = (about - 1, about) if later and about is not None else (0, len(releases) if about is None else about)
    return [*releases[first:end], *(releases if key == "present.all" else releases[-1:])]


# --- what a μ comes to ---


def advantage(mu: float) -> float:
    return math.erf(mu / 2 / math.sqrt(2))


def below(score: float) -> float:
    """Φ, to its last digits far below 0, too."""
    return math.erfc(-score / math.sqrt(2)) / 2


def log_delta(mu: float, epsilon: float) -> float:
    first, second = below(-epsilon / mu + mu / 2), math.exp(epsilon) * below(-epsilon / mu - mu / 2)
    return math.log(first - second) if first > second else -math.inf


def epsilon_of(mu: float, delta: float) -> float:
    """Least ε with δ(ε) ≤ δ, from below by bisection."""
    if mu == 0 or log_delta(mu, 0.0) <= math.log(delta):
        return 0.0
    low, high = 0.0, 1.0
    while high < 600 and log_delta(mu, high) > math.log(delta):
        low, high = high, 2 * high
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if log_delta(mu, middle) > math.log(delta) else (low, middle)
    return low


# --- what is claimed ---


def check_figure(claim: dict[str, Any], squared: float, paper: dict[str, Any], worlds: str) -> None:
    said, mu = claim["values"], math.sqrt(squared)
    delta, order = paper["public_facts"]["delta"], paper["public_facts"]["plan"]["problem"]["budget"].get("order")
    need(said["worlds"] == worlds, f"{claim['key']}: other worlds")
    question = "which" if worlds in ("replace", "pairwise") else "used"
    need(said["question"] == question, f"{claim['key']}: another question")
    own = said["delta"]
    need(type(own) is float and 0 < own <= delta and said["order"] == order, f"{claim['key']}: another δ or order")
    bounds = {
        "gdp": mu,
        "advantage": advantage(mu),
        "epsilon": epsilon_of(mu, own),
        "renyi": None if order is None else order * squared / 2,
    }
    for name, least in bounds.items():
        if said[name] is None:
            continue  # no bound is claimed
        need(type(said[name]) in (int, float) and least is not None, f"{claim['key']}: {name}")
        room = 1e-6 if name == "epsilon" else ROOM
        need(math.inf > said[name] >= least * (1 - room), f"{claim['key']}: {name} is less than {least:.10g}")
    need(
        type(said["of_hundred"]) is int and 100 >= said["of_hundred"] >= 50 + 50 * advantage(mu) * (1 - ROOM),
        f"{claim['key']}: odds",
    )


def check_odds(found: list[dict[str, Any]], problem: dict[str, Any], delta: float, spent: float) -> None:
    """Odds are stated where a total counts μ² and was fixed before the first model, and only there; they are of the whole total.

    With mu the largest that the total allows, and p = P(odds of e^ε) = Φ(y) where Φ(y) = e^ε Φ(y − mu): (1 + e^−ε) p ≤ δ.
    """
    total = problem.get("total")
    if total is None or total.get("late", False) or not total.get("gdp", False):
        need((total is not None and "order" in total) or not found, "odds that no total covers")
        return  # of a Rényi total they are not recomputed here
    need(type(total["epsilon"]) in (int, float) and 0 < total["epsilon"] < 1e6, "total")
    low, high = 0.0, 1.0
    while epsilon_of(high, total["delta"]) <= total["epsilon"]:
        low, high = high, 2 * high
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if epsilon_of(middle, total["delta"]) <= total["epsilon"] else (low, middle)
    if math.sqrt(spent) > high * (1 + ROOM):
        need(not found, "odds of a total that is exceeded")
        return
    near, far = -40.0, 40.0 + high  # y: the larger, the smaller the odds and the likelier
    for _ in range(200):
        y = (near + far) / 2
        chance, wrong = below(y), below(y - high)
        rare = wrong == 0 or chance + wrong <= delta
        near, far = (y, far) if rare else (near, y)
    least = math.log(below(near) / below(near - high))
    if least > 100:
        return
    (claim,) = found
    said = claim["values"]
    need(claim["conditions"] == ["total-fixed"] and said["delta"] == delta, "odds under other conditions")
    need(said["worlds"] == problem["adjacency"], "odds about other worlds")
    need((said["total_epsilon"], said["total_delta"]) == (total["epsilon"], total["delta"]), "odds of another total")
    for name, value in (("epsilon", least), ("odds", math.exp(least))):
        need(said[name] >= value * (1 - 1e-5), f"odds: {name} is less than {value:.10g}")


def check(paper: dict[str, Any]) -> str:
    """The key id of a certificate that holds.

    Raises:
        Refused: it does not, or is none that this file can judge.
    """
    paper = whole_numbers(paper)
    need(paper["format"] == FORMAT and paper["identity"]["catalogue"] == 1, "another format or catalogue of claims")
    signer = check_signature(paper)
    releases, problem = history(paper), paper["public_facts"]["plan"]["problem"]
    request, about = paper["request"], paper["action"]["release"]
    need((about is None) == (paper["action"]["status"] != "published"), "status")
    need(about is None or about > 1, "the first release cannot have erased anything")
    counts = [request[name] for name in ("rows", "replaced", "inserted")]
    need(all(type(number) is int for number in counts) and counts[0] >= max(1, counts[1]) and min(counts) >= 0, "rows")
    need(0 < paper["public_facts"]["delta"] <= 0.01, "δ")
    by_key: dict[str, list[dict[str, Any]]] = {}
    for claim in paper["claims"]:
        by_key.setdefault(claim["key"], []).append(claim)
    rows, remaining = problem["rows_per_subject"], request["remaining"]
    whole = rows == 1 or remaining == 0
    need(("person-gone" in by_key) == whole, "whether rows of the person remain is not said")
    due = {"erased": problem["deletion_notion"]} if request["rows"] > request["replaced"] else {}
    due |= {"replaced": "pairwise"} if request["replaced"] else {}
    wanted: dict[str, tuple[float, str, str]] = {}
    named = [
        (claim["values"]["radius"], claim["values"]["first"], claim["values"]["last"])
        for claim in by_key.get("row-norm", [])
    ]
    stretches = [(norm, numbers[0], numbers[-1]) for norm, numbers in stretched(releases)]
    need(named == (stretches if len(stretches) > 1 else []), "in which releases rows had which norm is not said")
    for what, worlds in due.items():
        between = worlds == "pairwise"
        if about is None:
            unpublished = "replace" if between else "zero-out"
            wanted[f"{what}.before"] = figures(releases, None, between, False), unpublished, "schedule"
            continue
        wanted[f"{what}.later"] = figures(releases, about, between, True), worlds, "requests-blind"
        wanted[f"{what}.all"] = figures(releases, about, between, False), worlds, "schedule"
    adjacency = problem["adjacency"]
    between, last = adjacency == "replace", releases[-1]
    # of sums, all draws of a chain tell more than one
    chain = max(number for number, release in enumerate(releases) if release.fresh)
    one = (
        of_sums(releases[chain:], None, between)
        if last.run.method == "sufficient-statistics"
        else last.present(between, since_fresh(releases))
    )
    wanted["present.one"] = one, adjacency, "requests-blind"
    wanted["present.all"] = figures(releases, None, between, False), adjacency, "schedule"
    schedule = "schedule-calendar" if paper["evidence"]["by_calendar"] else "schedule-fixed"
    stated = {key for key, found in by_key.items() if any("advantage" in claim["values"] for claim in found)}
    need(stated == set(wanted), "other figures than there are")
    for key, (squared, worlds, condition) in wanted.items():
        (claim,) = by_key[key]
        check_figure(claim, squared, paper, worlds)
        if not (key == "present.one" and len(releases) == 1):
            owed = schedule if condition == "schedule" else condition
            need(owed in claim["conditions"], f"{key}: its condition is missing")
        target = "record-fixed" if key.startswith("present.") else "target-fixed"
        need(target in claim["conditions"], f"{key}: that its record was fixed beforehand is not said")
        about_all = key.startswith("present") or (key.startswith("erased") and whole)
        fewest = min(release.run.rows for release in covered(key, releases, about))
        unit = "record" if rows == 1 else "person" if about_all and fewest >= rows else "row"
        need(claim["values"]["unit"] == unit, f"{key}: another unit")
    check_odds(by_key.get("odds.ever", []), problem, paper["public_facts"]["delta"], wanted["present.all"][0])
    said = {(claim["key"], claim["values"].get("method")) for claim in paper["claims"]}
    for method, exact in {(release.run.method, release.run.exact is not None) for release in releases}:
        if method == "sufficient-statistics":
            for key in ("sums-carried", "exact-noise"):
                need((key, method) in said, f"{key} of {method} is not said")
            need("sums-all-rows" in by_key and "machine-trusted" in by_key, "whose rows count together is not said")
            continue
        for key in (
            *(("exact-steps", "rows-in-place") if exact else ("real-arithmetic", "gaussian-noise")),
            *(("time-unseen", "solver-tolerance") if method == "output-perturbation" else ()),
        ):
            need((key, method) in said, f"{key} of {method} is not said")
        need(not exact or "machine-trusted" in by_key, "that the machine is trusted is not said")
    columns = paper["evidence"]["from_data"]
    ranges = "ranges-unknown" if columns is None else "ranges-from-data" if columns else "ranges-public"
    need({key for key in by_key if key.startswith("ranges-")} == {ranges}, "what is known of the ranges is not said")
    longest = max(release.run.row_norm for release in releases)
    need([claim["values"]["radius"] for claim in by_key[ranges]] == [longest], "the norm of the rows is not said")
    for run in {release.run for release in releases if release.run.method != "sufficient-statistics"}:
        steep = [claim["values"]["lipschitz"] for claim in by_key.get("gradient-norm", [])]
        need(run.lipschitz in steep, "gradient-norm is not said")
    for key in ("slots-public", "curator-trusted", "rows-per-person", "not-anonymous"):
        need(key in by_key, f"{key} is not said")
    return signer


if __name__ == "__main__":
    try:
        print(f"holds; signed by key {check(json.loads(Path(sys.argv[1]).read_text('utf-8')))}")
    except Refused as refused:
        print(f"does not hold, or cannot be judged here: {refused}")
        sys.exit(5)
