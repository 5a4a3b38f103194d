"""The compiled kernel: the right sums, a bounded slope for every float, and the same bits however the work is cut."""

from __future__ import annotations

import math
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import mpmath
import numpy as np
import pytest

from noisygd_delete import Curator, EditRequest, Records, losses
from noisygd_delete.bounds.arithmetic import BLOCK, sensitivity_slack
from noisygd_delete.engine import Objective, execution, kernel
from noisygd_delete.engine import objective as engine_objective
from noisygd_delete.engine.kernel import Kernel
from noisygd_delete.engine.objective import PreciseObjective
from noisygd_delete.engine.sums import HeldSums
from tests.bank import sized_plan, unit_rows

numba = pytest.importorskip("numba", reason="the compiled kernel needs the extra `fast`")
from noisygd_delete.engine import kernel_numba  # noqa: E402

RNG = np.random.default_rng(8)

LOSSES = {
    "logistic": (losses.Logistic(1.0), lambda z, y: -y / (1 + math.exp(y * z))),
    "sigmoid": (losses.Sigmoid(1.0), lambda z, y: -y / (2 + 2 * math.cosh(z))),
    "pseudo-huber": (losses.PseudoHuber(1.0, 0.7), lambda z, y: (z - y) / math.hypot(1, (z - y) / 0.7)),
    "linear": (losses.Linear(1.0), lambda z, y: 1.0),
    "clipped": (losses.clip_loss(losses.Logistic(1.0), 0.4), lambda z, y: -y * min(0.4, 1 / (1 + math.exp(y * z)))),
}
SLOPE_TOLERANCE = 2.0**-21


def bounds() -> list[tuple[str, float]]:
    return [(name, loss.constants.lipschitz) for name, (loss, _) in LOSSES.items()]


def table(n: int, d: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    return unit_rows(n, d, seed).astype(np.float32), np.random.default_rng(seed).choice([-1.0, 1.0], n)


def objective(rows: np.ndarray, labels: np.ndarray, loss: losses.Loss) -> Objective:
    return Objective(Records(rows, labels), loss, regularization=0.0)


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize(
    ("n", "d"), [(1, 1), (7, 3), (8, 8), (BLOCK - 1, 5), (BLOCK, 17), (3 * BLOCK + 12, 100), (40_000, 30)]
)
def test_sums_match_the_formula(name: str, n: int, d: int, monkeypatch) -> None:
    monkeypatch.setattr(kernel, "LEAST", 0)
    loss, slope = LOSSES[name]
    rows, labels = table(n, d, seed=n)
    weights = np.random.default_rng(1).standard_normal((1, d)) * 4
    scores = rows.astype(float) @ weights[0]
    truth = np.array([slope(z, y) for z, y in zip(scores, labels, strict=True)]) @ rows.astype(float)
    summed = objective(rows, labels, loss).gradient_sum(weights)
    assert np.linalg.norm(summed[0] - truth) < 3e-7 * n + 1e-9
    assert isinstance(objective(rows, labels, loss)._kernel, Kernel)


def slopes(name: str, scores: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """The kernel's ∂ℓ/∂z, one row of one feature at a time: the weight is 1 and the row is the score."""
    loss, _ = LOSSES[name]
    kind, slope = scores.dtype, loss.scalar_slope
    facts = kind.type(slope.parameter), kind.type(slope.bound)
    clamped, root = kernel_numba.clamp, kernel_numba.root
    formula, tanh = (kernel_numba.formula_for(text, kind.name) for text in (slope.formula, kernel_numba.tanh))

    @numba.njit(error_model="numpy")
    def each(parameter, bound, z, y, out):
        for k in range(len(z)):
            out[k] = clamped(formula(z[k], y[k], parameter, tanh, root), bound)

    out = np.empty_like(scores)
    each(*facts, scores, labels, out)
    return out


def floats(stride: int, first: int = 0) -> np.ndarray:
    """Every `stride`-th float32 there is: both signs, infinities and NaNs."""
    return np.arange(first, 1 << 32, stride, dtype=np.uint64).astype(np.uint32).view(np.float32)


@pytest.mark.parametrize(("name", "lipschitz"), bounds())
def test_no_score_whatever_exceeds_the_declared_slope(name: str, lipschitz: float) -> None:
    scores = floats(stride=9973)
    if name == "pseudo-huber":
        scores = scores[np.isfinite(scores)]  # ∞/∞: weights that overflowed are refused by the engine
    for label in (-1.0, 0.0, 1.0):
        found = slopes(name, scores, np.full(scores.shape, label, np.float32))
        assert np.abs(found).max() <= lipschitz * (1 + SLOPE_TOLERANCE)
        if label == 0 and name in ("logistic", "sigmoid", "clipped"):
            assert not found.any()


def test_tanh_is_right_and_never_leaves_its_range() -> None:
    assert worst_tanh(floats(stride=4099)) <= 2.0**-21


def test_tanh_is_as_good_in_float64_as_is_declared() -> None:
    """The last point is the worst that was found among 6 · 10⁷: 4.44 · 2⁻⁵³."""
    points = np.concatenate(
        [RNG.uniform(-edge, edge, 100_000) for edge in (25, 3, 0.1)]
        + [[-np.inf, np.inf, np.nan, 0, 0.9993038094022959]]
    )
    assert worst_tanh(points) <= 8 * 2.0**-53


def test_roundings_of_tanh_in_float64_come_to_less_than_is_declared() -> None:
    """All of them one way, to first order, at 400,000 arguments: a product or a sum errs by u, a constant by u; and so do the doublings of t = p/q."""
    a = np.linspace(1e-6, 20, 400_001) / 8
    s = a * a, 1.0 * a * a

    def of(constants: tuple[float, ...]) -> tuple[np.ndarray, np.ndarray]:  # value, error in u
        value, error = np.full_like(a, constants[-1]), np.full_like(a, constants[-1])
        for constant in (*constants[-2::-1], 1.0):
            product = s[0] * value
            error = s[0] * error + s[1] * value + product + constant * (constant != 1)
            value = constant + product
            error = error + value
        return value, error

    p, wrong_p = of((270270 / 2027025, 6930 / 2027025, 36 / 2027025))
    q, wrong_q = of((945945 / 2027025, 51975 / 2027025, 630 / 2027025, 1 / 2027025))
    t, relative = a * p / q, wrong_p / p + 1 + wrong_q / q
    for _ in range(3):
        t, relative = 2 * t / (1 + t * t), relative * (1 - t * t) / (1 + t * t) + 3
    worst = (t * (relative + 1)).max()
    assert 7 < worst < 7.2


@pytest.mark.parametrize(
    ("name", "width", "fault"),
    [
        *((name, 7, "") for name in LOSSES),
        *(("logistic", width, "") for width in (3, 8, 22)),
        ("logistic", 7, "slopes"),
        ("logistic", 7, "weights"),
    ],
)
def test_sums_in_float64_are_within_the_declared_rounding(name: str, width: int, fault: str, monkeypatch) -> None:
    """Against sums of 40 digits. The planted faults: a tanh and slopes, or the weights, in single precision."""
    monkeypatch.setattr(kernel, "LEAST", 0)
    (rows, labels), (loss, _) = table(3 * BLOCK + 11, width), LOSSES[name]
    weights = RNG.standard_normal((1, width)) * 3
    with mpmath.workdps(40):
        slope = lambda z, y: loss.slope(z, y, loss.parameter, mpmath.tanh, mpmath.sqrt)  # noqa: E731
        if name == "clipped":
            slope = lambda z, y: mpmath.sign(y) * max(-mpmath.mpf(0.4), y * loss.base.slope(z, y, 1, mpmath.tanh, None))  # noqa: E731
        exact = np.zeros(width, object)
        for given, label in zip(rows.tolist(), labels.tolist(), strict=True):
            row = np.array([mpmath.mpf(value) for value in given], object)
            exact = exact + slope(row @ np.array([mpmath.mpf(w) for w in weights[0]], object), mpmath.mpf(label)) * row
        exact = np.array([mpmath.mpf(each) for each in exact], object) / len(rows)
        if fault == "slopes":
            honest = kernel_numba.formula_for
            monkeypatch.setattr(kernel_numba, "formula_for", lambda text, _: honest(text, "float32"))
            monkeypatch.setattr(kernel_numba, "add_for", kernel_numba.add_for.__wrapped__)
            monkeypatch.setattr(kernel_numba, "njit", lambda cache=False, **words: numba.njit(**words))
        precise = PreciseObjective(Records(rows, labels), loss, regularization=0.0)
        assert precise._sums._kernel is not None
        if fault == "weights":
            weights = weights.astype(np.float32).astype(np.float64)
        off = mpmath.norm(list(exact - precise.gradient(weights)[0]))
    assert (off <= precise.gradient_error(float(np.linalg.norm(weights)))) == (not fault)


@pytest.mark.long
def test_tanh_on_every_float(record_property) -> None:
    worst = max(worst_tanh(floats(stride=256, first=k)) for k in range(256))
    record_property("evidence", f"largest error {worst / 2.0**-24:.2f} · 2⁻²⁴ over all 2³² floats")
    assert worst <= 2.0**-21


def worst_tanh(points: np.ndarray) -> float:
    tanh = kernel_numba.formula_for(kernel_numba.tanh, points.dtype.name)

    @numba.njit(error_model="numpy")
    def each(x, out):
        for k in range(len(x)):
            out[k] = tanh(x[k])

    out = np.empty_like(points)
    each(points, out)
    assert np.abs(out).max() <= 1
    usual = ~np.isnan(points)
    wider = np.float64 if points.dtype == np.float32 else np.longdouble
    return float(np.abs(out[usual] - np.tanh(points[usual].astype(wider))).max())


def test_convergents_of_lambert_enclose_tanh() -> None:
    """The truncation error of the docstring, in exact arithmetic: what is left of it where three doublings end."""

    def convergent(a: Fraction, terms: int) -> Fraction:
        tail = Fraction(2 * terms - 1)
        for odd in range(2 * terms - 3, 0, -2):
            tail = odd + a * a / tail
        return a / tail

    for eighths in range(1, 21):
        a, worst = Fraction(eighths, 8), []
        for terms in (8, 9):
            t = convergent(a, terms)
            for _ in range(3):
                t = 2 * t / (1 + t * t)
            worst.append(t)
        assert 0 <= worst[1] - worst[0] < Fraction(1, 10**3 * 2**53)


@pytest.mark.parametrize("number", ["2", "3"])
def test_threads_change_no_bit(number: str, monkeypatch) -> None:
    rows, labels = table(50_000, 24)
    monkeypatch.setattr(execution, "_PARALLEL", 0)
    weights = np.random.default_rng(2).standard_normal((1, 24))
    for kind in ("float32", "float64"):
        monkeypatch.setenv("OMP_NUM_THREADS", "1")
        one = HeldSums(rows, labels, losses.Logistic(1.0)).gradient(weights, kind)
        monkeypatch.setenv("OMP_NUM_THREADS", number)
        many = HeldSums(rows, labels, losses.Logistic(1.0))
        assert many._kernel is not None
        assert many._kernel._threads == int(number)
        assert all((many.gradient(weights, kind) == one).all() for _ in range(5))


def test_a_change_in_one_block_leaves_the_others_alone() -> None:
    """The declared sensitivity counts the rounding of one block: the others must sum to the same bits in both worlds."""
    rows, labels = table(70_000, 16)
    other = rows.copy()
    other[40_000] = -other[40_000]
    weights = np.random.default_rng(3).standard_normal((1, 16)) * 9
    one, two = (objective(r, labels, losses.Logistic(1.0)) for r in (rows, other))
    change = one.gradient_sum(weights) - two.gradient_sum(weights)
    block = slice(40_000 // BLOCK * BLOCK, 40_000 // BLOCK * BLOCK + BLOCK)
    single, pair = (
        Kernel(np.ascontiguousarray(r[block]), losses.Logistic(1.0), range(BLOCK))(weights, labels[block].astype("f4"))
        for r in (rows, other)
    )
    inside = single - pair
    assert np.abs(change - inside).max() < 1e-10  # float64 additions of blocks, nothing else
    assert np.linalg.norm(change) <= 2 * (1 + sensitivity_slack(records=70_000, dtype="float32"))


def test_one_float32_sum_over_the_table_would_break_the_slack(monkeypatch) -> None:
    """The planted fault: blocks as long as the table. A record's influence then drowns in the sum of the others."""
    n = 1 << 22
    values = np.full((n, 1), 1.0, np.float32)
    values[: n // 2] = 1e3 / 2**10
    running = np.cumsum(values[:, 0], dtype=np.float32)[-1]
    other = values.copy()
    other[0] = 0
    faulty = abs(float(running) - float(np.cumsum(other[:, 0], dtype=np.float32)[-1]))
    honest = [
        float(Kernel(v, losses.Linear(1.0), range(n))(np.ones((1, 1)), np.ones(n, np.float32))[0, 0])
        for v in (values, other)
    ]
    slack = sensitivity_slack(records=n, dtype="float32")
    gap = float(values[0, 0])
    assert abs(honest[0] - honest[1] - gap) <= slack * gap
    assert abs(faulty - gap) > slack * gap


def test_without_the_compiler_matrix_products_serve_within_the_slack(monkeypatch) -> None:
    rows, labels = table(60_000, 20)
    weights = np.random.default_rng(5).standard_normal((1, 20))
    compiled = objective(rows, labels, losses.Logistic(1.0)).gradient_sum(weights)
    monkeypatch.setattr(kernel, "_can_compile", lambda: False)
    plain = objective(rows, labels, losses.Logistic(1.0))
    assert plain._kernel is None
    assert np.linalg.norm(plain.gradient_sum(weights) - compiled) < 60_000 * 3e-7


def test_a_missing_compiler_is_no_error(monkeypatch) -> None:
    kernel._can_compile.cache_clear()
    monkeypatch.setitem(sys.modules, "numba", None)
    monkeypatch.delitem(sys.modules, "noisygd_delete.engine.kernel_numba")
    monkeypatch.delattr("noisygd_delete.engine.kernel_numba", raising=False)
    try:
        assert not kernel._can_compile()
    finally:
        kernel._can_compile.cache_clear()


@pytest.mark.parametrize("name", ["logistic", "softmax"])
def test_a_mapped_table_gives_the_bits_of_one_in_memory(name: str, tmp_path: Path, monkeypatch) -> None:
    rows, labels = table(60_001, 24)
    loss = LOSSES["logistic"][0] if name == "logistic" else losses.Softmax(1.0, 3)
    labels = labels if name == "logistic" else np.arange(len(rows)) % 3.0
    (tmp_path / "rows").write_bytes(rows.tobytes())
    there = np.memmap(tmp_path / "rows", dtype=np.float32, mode="r", shape=rows.shape)
    weights = np.random.default_rng(4).standard_normal((loss.outputs, 24))
    ids = [None] * len(rows)
    held = Objective(Records.from_slots(rows, labels, ids, None), loss, regularization=0.1)
    streamed = Objective(Records.from_slots(there, labels, ids, None), loss, regularization=0.1)
    monkeypatch.setattr(kernel, "LIMIT", rows.nbytes // 5)
    released = []
    monkeypatch.setattr(kernel, "release_memory", released.append)
    assert (held.gradient(weights) == streamed.gradient(weights)).all()
    assert len(released) >= 4


def test_changes_that_only_memory_holds_are_kept(tmp_path: Path, monkeypatch) -> None:
    """A row erased in a copy-on-write mapping stays erased when the table is streamed."""
    rows, labels = table(20_000, 8)
    (tmp_path / "rows").write_bytes(rows.tobytes())
    there = np.memmap(tmp_path / "rows", dtype=np.float32, mode="c", shape=rows.shape)
    records = Records.from_slots(there, labels, list(range(len(rows))), None)
    records.edit(EditRequest.delete([5]))
    monkeypatch.setattr(kernel, "LIMIT", rows.nbytes // 5)
    Objective(records, losses.Logistic(1.0), regularization=0.1).gradient(np.ones((1, 8)))
    assert not records.features[5].any()


_STREAM = """
import sys
from pathlib import Path
import numpy as np
from noisygd_delete import Records, losses
from noisygd_delete.engine import Objective, check_records
from noisygd_delete.engine import kernel as windows
path, n, d, limit = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
rows = np.memmap(path, dtype=np.float32, mode="r", shape=(n, d))
records = Records.from_slots(rows, np.ones(n), [None] * n, None)
loss = losses.Logistic(1.0) if sys.argv[5] == "logistic" else losses.Softmax(1.0, 3)
small = Records.from_slots(np.zeros((1 << 14, d), np.float32), np.ones(1 << 14), [None] * (1 << 14), None)
objective = Objective(small, loss, regularization=0.1)
weights = np.ones(objective.shape)
objective.gradient(weights)  # libraries loaded, kernel compiled
def peak():
    status = Path("/proc/self/status").read_text()
    return next(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM"))
before = peak()
windows.LIMIT = limit
check_records(records, loss)
objective = Objective(records, loss, regularization=0.1)
for _ in range(3):
    objective.gradient(weights)
print(peak() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="resident memory is measured in Linux's units")
@pytest.mark.parametrize("name", ["logistic", "softmax"])
def test_resident_memory_is_bounded(name: str, tmp_path: Path) -> None:
    n, d = 200_000, 100
    with (tmp_path / "rows").open("wb") as file:
        for _ in range(10):
            file.write(np.full((n // 10, d), 0.1, np.float32).tobytes())

    def grown(limit: int) -> int:
        program = [sys.executable, "-c", _STREAM, str(tmp_path / "rows"), str(n), str(d), str(limit), name]
        return int(subprocess.run(program, capture_output=True, text=True, check=True, timeout=120).stdout)

    size = n * d * 4
    assert grown(1 << 60) > 0.9 * size  # without a limit the whole file becomes resident: the measurement sees it
    assert grown(size // 8) < 0.45 * size


@pytest.mark.skipif(sys.platform != "linux", reason="resident memory is measured in Linux's units")
def test_a_learn_and_a_deletion_hold_little_more_than_the_table_twice() -> None:
    """Once as it is, and once in the order of its contents."""
    from benchmarks.memory import peak_ratio

    assert 1.9 < peak_ratio(200_000, 100) < 2.3


def test_a_compiler_is_not_loaded_for_a_few_steps(monkeypatch) -> None:
    rows, labels = table(400, 5)
    records, loss = Records(rows, labels), losses.Logistic(1.0)
    curator = Curator(
        records,
        sized_plan(loss, 400, 5, 0.05, exact=False),
    )
    made = []
    monkeypatch.setattr(engine_objective, "Kernel", lambda *facts: made.append(1) or Kernel(*facts))
    monkeypatch.setattr(kernel, "LEAST", 0)
    monkeypatch.setattr(kernel, "_worth", [False])
    steps = curator.plan.calibration.learn_steps, curator.plan.calibration.delete_steps
    assert steps[0] > steps[1] + 1
    monkeypatch.setattr(kernel, "WORTH", rows.size * steps[0])
    curator.learn()
    assert len(made) == 1
    monkeypatch.setattr(kernel, "_worth", [False])
    curator.delete([3])
    assert len(made) == 1
    monkeypatch.setattr(kernel, "WORTH", rows.size * steps[1])
    curator.delete([4])
    assert len(made) == 2


@pytest.mark.parametrize("filled", [0.01, 0.9])
def test_rows_that_are_gone_decide_not_how_later_ones_are_added(filled: float, monkeypatch) -> None:
    """A solve that reads mostly zeros sparsely needs no compiler; whether later runs use it depends on public facts all the same."""
    rows = np.where(RNG.random((300, 400)) < filled, 0.02, 0.0).astype(np.float32)
    labels = np.where(RNG.random(300) < 0.5, -1.0, 1.0)
    monkeypatch.setattr(kernel, "LEAST", 0)
    monkeypatch.setattr(kernel, "WORTH", rows.size * 2)
    monkeypatch.setattr(kernel, "_worth", [False])
    one = 1  # reading: worth nothing by itself
    assert not kernel.is_supported(losses.Logistic(1.0), rows, one)
    chosen = sized_plan(losses.Logistic(1.0), 300, 400, 0.05, method="objective-perturbation")
    Curator(Records(rows, labels), chosen).learn()
    assert kernel.is_supported(losses.Logistic(1.0), rows, one)
