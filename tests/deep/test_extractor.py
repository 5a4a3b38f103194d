"""Extractor and certified head: per-record features, costs that add up, refusals, files without code."""

import numpy as np
import pytest

from noisygd_delete import Budget, losses, make_plan
from noisygd_delete.errors import InvalidParameter

torch = pytest.importorskip("torch", reason="deep.py needs torch")
pytest.importorskip("opacus", reason="DP-trained extractors need opacus")

from noisygd_delete.deep import CertifiedHead, Extractor, train_extractor  # noqa: E402
from noisygd_delete.deep.extractor import ORDERS, dp_sgd_points  # noqa: E402

INPUT = (1, 8, 8)


def convolution():
    return torch.nn.Sequential(torch.nn.Conv2d(1, 8, 3, stride=2, padding=1), torch.nn.Tanh(), torch.nn.Flatten())


def head():
    return torch.nn.Linear(8 * 16, 10)


@pytest.fixture(scope="module")
def digits():
    datasets = pytest.importorskip("sklearn.datasets")
    pixels, labels = datasets.load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(labels))
    return (pixels[order] / 16).astype(np.float32), labels[order]


@pytest.fixture(scope="module")
def trained(digits):
    inputs, labels = digits
    return train_extractor(
        convolution(), head(), inputs[:1400], labels[:1400],
        input_shape=INPUT, noise_multiplier=1.0, epochs=3, batch=140,
    )  # fmt: skip


def plan_for(records, features=129, **options):
    options = {
        "adjacency": "zero-out",
        "budget": Budget.from_epsilon_delta(dp=(6.0, 1e-5), deletion=(0.1, 1e-5)),
        **options,
    }
    return make_plan(
        losses.Softmax(1.0, 10), records=records, features=features, regularization=3e-3,
        certificate="sharp", utility=False, **options,
    )  # fmt: skip


def test_rows_are_short_and_depend_on_their_own_input_alone(trained, digits):
    inputs, _ = digits
    rows = trained.rows(inputs[:50])
    assert rows.dtype == np.float32
    assert rows.shape == (50, 129)
    assert np.linalg.norm(rows.astype(np.float64), axis=1).max() <= 1
    # evaluation mode, no batch statistics: up to the float32 rounding of a different batch size
    assert trained.rows(inputs[7]) == pytest.approx(rows[7:8], abs=1e-6)


def test_guarantees_are_the_heads_plus_the_extractors(trained, digits):
    inputs, labels = digits
    private = CertifiedHead(trained, inputs[:1400], labels[:1400], plan_for(1400))
    public = CertifiedHead(Extractor(trained.module, INPUT), inputs[:1400], labels[:1400], plan_for(1400))
    learned, erased = private.learn(), private.delete([3, 5])
    public.learn()
    plain = public.delete([3, 5])
    assert (private.predict(inputs[1400:]) == labels[1400:]).mean() > 0.7
    for release, name in ((learned, "dp"), (erased, "deletion")):
        for order in (2.0, 8.0):
            alone = release.guarantees[name].renyi(order) - trained.cost("dp").renyi(order)
            assert alone == pytest.approx(
                public.curator.accountant.dp(1).renyi(order) if name == "dp" else plain.guarantees[name].renyi(order)
            )
    assert plain.guarantees["deletion"].epsilon(1e-5) <= 0.1 < private.extractor_epsilon(1e-5)
    assert private.extractor_epsilon(1e-5) < erased.guarantees["deletion"].epsilon(1e-5)
    assert private.deletion(observed=[2]).renyi(4.0) == pytest.approx(
        public.curator.accountant.deletion(observed=[2]).renyi(4.0) + trained.cost("dp").renyi(4.0)
    )
    assert private.dp_cumulative().renyi(4.0) > private.curator.accountant.dp_cumulative().renyi(4.0)
    assert not private.curator.records.features[[3, 5]].any()


def test_dp_sgd_cost_agrees_with_an_independent_accountant():
    accounting = pytest.importorskip("dp_accounting", reason="the independent accountant")
    from dp_accounting.rdp import RdpAccountant

    points = dict(dp_sgd_points(noise_multiplier=1.1, sample_rate=0.05, steps=60))
    event = accounting.SelfComposedDpEvent(accounting.PoissonSampledDpEvent(0.05, accounting.GaussianDpEvent(1.1)), 60)
    for order in (2.0, 5.0, 16.0, 32.0):
        other = RdpAccountant([order]).compose(event)._rdp[0]
        assert points[order] == pytest.approx(other, rel=1e-6)
    halved = dict(dp_sgd_points(noise_multiplier=0.55, sample_rate=0.05, steps=60))
    assert all(halved[order] > points[order] for order in ORDERS if order in halved)


def test_replace_adjacency_is_refused_with_the_reason(trained, digits):
    inputs, labels = digits
    for options in ({"adjacency": "replace"}, {"deletion_notion": "pairwise"}):
        with pytest.raises(InvalidParameter, match="zero-out"):
            CertifiedHead(trained, inputs[:1400], labels[:1400], plan_for(1400, **options))


def test_saved_and_reloaded_without_code(trained, digits, tmp_path):
    inputs, _ = digits
    trained.save(tmp_path / "phi")
    assert sorted(path.name for path in (tmp_path / "phi").iterdir()) == ["extractor.json", "extractor.safetensors"]
    back = Extractor.load(tmp_path / "phi", convolution())
    assert np.array_equal(back.rows(inputs[:20]), trained.rows(inputs[:20]))
    assert back.points == trained.points


def test_training_twice_never_uses_the_same_noise(digits):
    inputs, labels = digits
    weights = []
    for _ in range(2):
        torch.manual_seed(0)
        module = convolution()
        train_extractor(
            module, head(), inputs[:100], labels[:100], input_shape=INPUT, noise_multiplier=1.0, epochs=1, batch=50
        )
        weights.append(module[0].weight.detach().clone())
    assert not torch.equal(*weights)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device here")
def test_cuda_gives_the_same_rows(trained, digits, tmp_path):
    inputs, _ = digits
    trained.save(tmp_path)
    there = Extractor.load(tmp_path, convolution(), device="cuda")
    assert there.rows(inputs[:50]) == pytest.approx(trained.rows(inputs[:50]), abs=1e-5)
