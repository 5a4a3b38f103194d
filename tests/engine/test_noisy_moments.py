"""What one publication gives: discriminants against scikit-learn's, ridge regression, components; and that freeing of noise frees of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import Ridge

from noisygd_delete import Budget, Curator, Records, losses, make_plan
from noisygd_delete.curator import Model
from noisygd_delete.curator.carried_noise import PublishedSums, moments_of
from noisygd_delete.engine import moments as engine
from noisygd_delete.features import maps
from noisygd_delete.methods import Plan

MAP, ROWS = maps.Additive((0, 0, 0), levels=2), 3000  # every block of every row is filled


def table(classes: int = 2, seed: int = 0) -> tuple[Any, Any, Any]:
    """Cells, rows of the map, labels: ±1, or classes, or targets for 0."""
    rng = np.random.default_rng(seed)
    cells = rng.uniform(-1, 1, (ROWS, 3))
    score = np.sin(2 * cells[:, 0]) + (cells[:, 1] > 0.3) - 0.5 + rng.logistic(size=ROWS) / 3
    rows = MAP.rows(cells).astype(float)
    if not classes:
        return cells, rows, np.clip(score / 3, -1, 1)
    return (
        cells,
        rows,
        np.where(score > 0, 1.0, -1.0) if classes == 2 else np.digitize(score, [-0.5, 0.5]).astype(float),
    )


def plan(loss: Any, map: maps.Additive = MAP, gdp: float = 1.0, **options: Any) -> Plan:
    budget, sizes = Budget.from_gdp(dp=gdp, deletion=gdp), {"records": ROWS, "releases": 20, "regularization": 1e-9}
    return make_plan(
        loss, method="sufficient-statistics", map=map, features=map.width + 1, budget=budget, **{**sizes, **options}
    )


def moments(chosen: Plan) -> Any:
    return moments_of(chosen.learning.start, chosen.shape)


def quiet(chosen: Plan, rows: Any, labels: Any) -> PublishedSums:
    """Without noise, nearly: a plan's own readout of the sums themselves."""
    procedure = replace(chosen.learning, start=replace(chosen.learning.start, variance=1.0))
    model = Model(np.zeros(chosen.shape), chosen.problem.loss, True, moments(chosen).of(rows, labels))
    return PublishedSums(replace(chosen, learning=procedure), model)


@pytest.mark.parametrize("classes", [2, 3])
def test_discriminants_are_scikit_learns(classes: int) -> None:
    _, rows, labels = table(classes)
    loss = losses.Logistic(radius=1.0) if classes == 2 else losses.Softmax(radius=1.0, classes=3)
    found = quiet(plan(loss), rows, labels).model(1e-9).scores(rows)
    rival = LinearDiscriminantAnalysis(solver="svd").fit(rows[:, :-1], labels)
    expected = rival.decision_function(rows[:, :-1])
    if classes == 2:
        np.testing.assert_allclose(found[:, 0], expected, atol=0.02 * np.abs(expected).max())
    else:
        differ = found - found[:, :1], expected - expected[:, :1]
        np.testing.assert_allclose(differ[0], differ[1], atol=0.02 * np.abs(differ[1]).max())


def test_targets_are_ridge_regressions() -> None:
    _, rows, targets = table(0)
    chosen = plan(losses.Squared(radius=1.0))
    for ridge in (1e-3, 1e-1):
        found = quiet(chosen, rows, targets).model(ridge)
        rival = Ridge(alpha=ridge * ROWS, fit_intercept=False).fit(rows, targets)
        np.testing.assert_allclose(found.predict(rows), rival.predict(rows), atol=2e-3)


def test_targets_with_noise_are_learned_and_forgotten() -> None:
    cells, rows, targets = table(0)
    curator = Curator(Records(MAP.codes(cells), targets), plan(losses.Squared(radius=1.0), gdp=2.0))
    curator.learn(np.random.default_rng(1))
    assert curator.delete([3]).guarantees["deletion"].gdp == 0
    kept = targets - curator.model.predict(rows)
    assert kept.var() < 0.5 * targets.var()


def test_components_are_those_of_the_rows() -> None:
    _, rows, labels = table()
    along, sizes = quiet(plan(losses.Logistic(radius=1.0)), rows, labels).components(3)
    parts = (rows - rows.mean(axis=0)) @ along.T
    exact = np.linalg.svd(rows - rows.mean(axis=0), compute_uv=False)[:3] ** 2
    np.testing.assert_allclose((parts**2).sum(axis=0), exact, rtol=2e-3)
    np.testing.assert_allclose(sizes, exact, rtol=2e-3)


def test_whitened_rows_have_unit_squares() -> None:
    _, rows, labels = table()
    white = quiet(plan(losses.Logistic(radius=1.0)), rows, labels).whitening(4)
    parts = (rows - rows.mean(axis=0)) @ white.T
    np.testing.assert_allclose(parts.T @ parts / ROWS, np.eye(4), atol=0.02)


def test_moments_freed_of_noise_are_nearer_to_the_rows() -> None:
    """A dependent pair of columns beside independent ones: at least a third of the noise's square is gone, and of the dependence not."""
    rng = np.random.default_rng(4)
    map = maps.Additive((0,) * 5, levels=4)
    cells = rng.uniform(-1, 1, (20_000, 5))
    cells[:, 1] = np.abs(cells[:, 1]) * np.sign(cells[:, 0])
    labels = np.where(cells[:, 2] > 0, 1.0, -1.0)
    chosen = plan(losses.Logistic(radius=1.0), map, records=20_000, releases=100)
    curator = Curator(Records(map.codes(cells), labels), chosen)
    curator.learn(np.random.default_rng(2))
    above = np.triu_indices(map.coding.directions)
    run = chosen.mechanism
    held, spread = np.zeros((map.coding.directions,) * 2), float(run.norm_squared)
    held[above] = moments(chosen).of(map.codes(cells), labels)[: len(above[0])] / spread
    raw = np.zeros_like(held)
    raw[above] = curator.model.sums[: len(above[0])] / spread
    exact, raw = (part + np.triu(part, 1).T for part in (held, raw))
    read = PublishedSums(chosen, curator.model)._moments
    freed, above = read.square, np.triu_indices(len(exact), 1)
    assert (raw - exact)[above].var() == pytest.approx(
        read.variance / 2, rel=0.03
    )  # what a pair of blocks is shrunk by
    half, right = (engine._shrink_blocks(raw, map.coding.starts, part * read.variance) for part in (0.5, 1.0))
    assert np.linalg.norm(right - exact) < 0.9 * np.linalg.norm(half - exact)
    assert np.linalg.norm(freed - exact) ** 2 < 0.4 * np.linalg.norm(raw - exact) ** 2
    both = np.ix_(range(1, 16), range(16, 31))  # they share their half, and are apart within it
    assert np.linalg.norm(freed[both] - exact[both]) < 0.5 * np.linalg.norm(raw[both] - exact[both])


def spiked(sizes: tuple[float, ...]) -> tuple[Any, Any]:
    """A block of 400 × 100 whose singular values are these times the noise's σ√400, and the block with noise of σ = 0.3."""
    rng = np.random.default_rng(8)
    left, right = (np.linalg.qr(rng.normal(size=(length, len(sizes))))[0] for length in (400, 100))
    block = (left * (0.3 * 20 * np.array(sizes))) @ right.T
    return block, block + rng.normal(0, 0.3, block.shape)


@pytest.mark.parametrize("wrong", [1.0, 0.5, 2.0])
def test_shrunk_blocks_lose_what_the_theorem_says_and_more_by_a_wrong_noise(wrong: float) -> None:
    """Gavish and Donoho's least loss x² (1 − c² c̃²) of each singular value x, by the cosines c, c̃ of its directions."""
    sizes, beta = (3.0, 2.0, 1.2, 0.4), 0.25  # the last one is below β^¼, where everything is lost
    block, noisy = spiked(sizes)
    least = 0.0
    for size in sizes:
        kept = max(0.0, size**4 - beta) ** 2 / ((size**4 + beta * size**2) * (size**4 + size**2))
        least += (0.3 * 20 * size) ** 2 * (1 - kept)
    lost = np.linalg.norm(engine._without_noise(noisy, wrong * 0.3**2) - block) ** 2
    if wrong == 1:
        assert lost == pytest.approx(least, rel=0.05)
        np.testing.assert_allclose(engine._without_noise(noisy.T, 0.3**2), engine._without_noise(noisy, 0.3**2).T)
    else:
        assert lost > 1.2 * least


def test_an_erased_row_of_codes_is_as_if_it_had_never_been_bit_by_bit() -> None:
    """Counted in one world and in the other, joined and erased again beside it; codes or features, what a table holds."""
    cells, rows, labels = table()
    codes, ends = MAP.codes(cells).astype(np.float32), []
    for held, left_out in ((codes, ()), (codes, (0,)), (rows.astype(np.float32), ())):
        kept = [i for i in range(200) if i not in left_out]
        records = Records(held[kept], labels[kept], ids=kept, slots=ROWS)
        curator = Curator(records, plan(losses.Logistic(radius=1.0)))
        curator.learn(np.random.default_rng(1))
        curator.delete([7] if left_out else [0, 7], rng=np.random.default_rng(2))
        curator.insert([900], held[900:901], labels[900:901], rng=np.random.default_rng(3))
        curator.delete([900], rng=np.random.default_rng(4))
        ends.append(curator.model.sums)
    np.testing.assert_array_equal(ends[0], ends[1])
    np.testing.assert_array_equal(ends[0], ends[2])


@pytest.mark.parametrize("coded", [True, False])
def test_ridges_are_a_share_of_the_noise_and_more_where_rows_are_few(coded: bool) -> None:
    found = quiet(plan(losses.Logistic(radius=1.0)), *table()[1:])._moments
    found = replace(found, variance=7.0, coding=found.coding if coded else None)
    noise = np.sqrt(2 * 7.0 * len(found.square))
    assert found.noise == pytest.approx(noise)
    found.square[5, 5] = 1e-9  # less than a twentieth of the mean counts as much
    told = found.ridges(0.5, 0.25)
    if not coded:
        np.testing.assert_allclose(told, 0.5 + 0.25 * noise)
        with pytest.raises(ValueError, match="no coding"):
            found.reach
        return
    along = np.diag(found.square)[1:]
    along = np.maximum(along, along.mean() / 20)
    usual = np.prod(along ** (1 / len(along)))
    np.testing.assert_allclose(
        told, np.append(0.5 + 0.25 * noise, 0.5 + 0.25 * noise * (usual / along) ** 0.25), rtol=1e-9
    )


def test_weights_are_those_of_unscaled_rows() -> None:
    found = quiet(plan(losses.Squared(radius=1.0)), *table(0)[1:])._moments
    ridge = np.full(len(found.square), 0.1)
    np.testing.assert_allclose(replace(found, radius=4.0).ridge(ridge), found.ridge(ridge) / 4)


def test_moments_of_a_block_are_those_of_counts_that_sum_to_the_rows() -> None:
    """Exact sums are as they were; noisy ones become Σ t_c z_c z_cᵀ and ρ Σ t_c z_c with t ≥ 0 of the stated sum; of no rows, nothing."""
    map = maps.Additive((0, 3), levels=2, gaps=(0,))
    rng = np.random.default_rng(3)
    cells = np.column_stack([rng.uniform(-1, 1, 200), rng.random(200) < 0.2, np.eye(4)[rng.integers(0, 4, 200)][:, :3]])
    coding, codes = map.coding, map.codes(cells)
    full = 1 + len(coding.blocks)
    reach = np.sqrt(float(coding.common) / full)
    square, added = np.zeros((coding.directions,) * 2), []
    square[0, 0] = 200 * reach**2
    for block, start, code in zip(coding.blocks, coding.starts, codes.T, strict=False):
        adds = block.signs * np.sqrt([float(share) / full for share in block.shares])
        here = slice(start, start + adds.shape[1])
        added.append((adds, here))
        square[0, here] = square[here, 0] = reach * adds[code].sum(axis=0)
        square[here, here] = adds[code].T @ adds[code]
    np.testing.assert_allclose(engine._by_numbers(square, coding, reach), square, atol=1e-5)
    noise = 5 * rng.standard_normal(square.shape)
    found = engine._by_numbers(square + noise + noise.T, coding, reach)
    total = (square + noise + noise.T)[0, 0] / reach**2
    for adds, here in added:
        system = np.vstack([reach * adds.T, np.einsum("ci,cj->ijc", adds, adds).reshape(-1, len(adds))])
        counts, *_ = np.linalg.lstsq(system, np.append(found[0, here], found[here, here].ravel()), rcond=None)
        assert counts.min() >= -1e-6
        assert counts.sum() == pytest.approx(total)
        np.testing.assert_allclose(system @ counts, np.append(found[0, here], found[here, here].ravel()), atol=1e-6)
        np.testing.assert_array_equal(found[0, here], found[here, 0])
    assert not engine._by_numbers(0 * square, coding, reach).any()


@pytest.mark.parametrize("shape", [(7, 4), (4, 7), (5, 5)])
def test_singular_values_are_shrunk_and_those_of_noise_are_gone(shape: tuple[int, int]) -> None:
    """By the singular values themselves; σ² is chosen so that some are below √p + √q of σ, and some are not."""
    made = np.random.default_rng(sum(shape)).standard_normal(shape) * np.geomspace(1, 9, shape[1])
    left, sizes, right = np.linalg.svd(made, full_matrices=False)
    edge = np.sqrt(shape[0]) + np.sqrt(shape[1])
    variance = (np.median(sizes) * 1.01 / edge) ** 2
    kept = [
        np.sqrt((d**2 - sum(shape) * variance) ** 2 - 4 * shape[0] * shape[1] * variance**2) / d
        if d > edge * np.sqrt(variance)
        else 0.0
        for d in sizes
    ]
    assert 0 < sum(value > 0 for value in kept) < len(kept)
    np.testing.assert_allclose(engine._without_noise(made, variance), (left * kept) @ right, atol=1e-9)


@pytest.mark.parametrize("least", [2.0, -0.3, -0.8])
def test_a_solve_with_a_ridge_leaves_out_what_is_below_minus_a_half_of_it(least: float) -> None:
    rng = np.random.default_rng(11)
    axes, _ = np.linalg.qr(rng.standard_normal((6, 6)))
    sizes, ridge, right = (
        np.array([least, 1.0, 2.0, 3.0, 4.0, 5.0]),
        np.geomspace(0.5, 2, 6),
        rng.standard_normal((6, 2)),
    )
    beside = (axes * sizes) @ axes.T
    kept = (axes * np.where(sizes < -0.5, 0.0, sizes)) @ axes.T
    scale = np.sqrt(ridge)
    found = engine._solve_ridge(scale[:, None] * beside * scale, right, ridge)
    expected = np.linalg.solve(scale[:, None] * (kept + np.eye(6)) * scale, right)
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    weights = engine.least_squares(right.T, beside, ridge=0.7)
    positive = (axes * np.maximum(sizes, 0)) @ axes.T
    np.testing.assert_allclose(weights, 2 * np.linalg.solve(positive + 0.7 * np.eye(6), right).T, rtol=1e-9)
