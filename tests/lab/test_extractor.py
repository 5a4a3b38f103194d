"""Extractor and certified head: per-record features, costs that add up, refusals, files without code."""

import numpy as np
import pytest

from noisygd_delete import Budget, losses, make_plan
from noisygd_delete.accountant import Event, build_report
from noisygd_delete.errors import InvalidParameter
from noisygd_delete.methods import SampledGaussian

torch = pytest.importorskip("torch", reason="extractors need torch")
pytest.importorskip("opacus", reason="DP-trained extractors need opacus")

from noisygd_delete_lab.extractor import CertifiedHead, Extractor, train_extractor  # noqa: E402

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
        input_shape=INPUT, noise_multiplier=1.0, epochs=1, batch=140,
    )  # fmt: skip


def plan_for(records, features=129, **options):
    options = {
        "adjacency": "zero-out",
        "budget": Budget.from_epsilon_delta(dp=(6.0, 1e-5), deletion=(0.1, 1e-5)),
        **options,
    }
    return make_plan(
        losses.Softmax(1.0, 10), records=records, features=features, regularization=3e-3,
        method="noisy-gd", utility=False, **options,
    )  # fmt: skip


def test_rows_are_short_and_depend_on_their_own_input_alone(trained, digits):
    inputs, _ = digits
    rows = trained.rows(inputs[:50])
    assert rows.dtype == np.float32
    assert rows.shape == (50, 129)
    assert np.linalg.norm(rows.astype(np.float64), axis=1).max() <= 1
    # evaluation mode, no batch statistics: up to the float32 rounding of a different batch size
    assert trained.rows(inputs[7]) == pytest.approx(rows[7:8], abs=1e-6)


def test_the_ledger_of_the_head_begins_with_the_extractor(trained, digits):
    inputs, labels = digits
    private = CertifiedHead(trained, inputs[:1400], labels[:1400], plan_for(1400))
    public = CertifiedHead(Extractor(trained.module, INPUT), inputs[:1400], labels[:1400], plan_for(1400))
    learned, erased = private.learn(), private.delete([3, 5])
    public.learn()
    plain = public.delete([3, 5])
    assert [event.kind for event in private.accountant.events] == ["extractor", "learn", "unlearn"]
    assert (learned.release, erased.release, plain.release) == (2, 3, 2)
    assert (private.predict(inputs[1400:]) == labels[1400:]).mean() > 0.7
    extra = trained.cost("dp", "zero-out")
    for order in (2.0, 8.0):
        for release, name, alone in (
            (learned, "dp", public.accountant.dp(1)),
            (erased, "deletion", public.accountant.deletion(observed=[2])),
            (erased, "dp_cumulative", public.accountant.dp_cumulative()),
        ):
            assert release.guarantees[name].renyi(order) == pytest.approx(alone.renyi(order) + extra.renyi(order))
    assert plain.guarantees["deletion"].epsilon(1e-5) <= 0.1 < private.extractor_epsilon(1e-5)
    assert private.extractor_epsilon(1e-5) < erased.guarantees["deletion"].epsilon(1e-5)
    assert build_report(private.accountant).to_dict()["releases"][0]["kind"] == "extractor"
    assert not private.curator.records.features[[3, 5]].any()


def test_an_extractor_covers_rows_and_so_does_the_sum(trained, digits):
    inputs, labels = digits
    head = CertifiedHead(trained, inputs[:1400], labels[:1400], plan_for(1400, rows_per_subject=3))
    assert head.learn().guarantees["dp"].unit == "one row"


def test_training_is_recorded_as_it_was_run(trained):
    event = trained.event
    assert event == Event("extractor", 10, 0, SampledGaussian(records=1400, sampling_rate=0.1, noise_multiplier=1.0))
    accounting = pytest.importorskip("dp_accounting", reason="the independent accountant")
    from dp_accounting.rdp import RdpAccountant

    sampled = accounting.PoissonSampledDpEvent(0.1, accounting.GaussianDpEvent(1.0))
    theirs = RdpAccountant([2, 5, 16, 32]).compose(accounting.SelfComposedDpEvent(sampled, 10))
    cost = trained.cost("dp", "zero-out")
    for order, value in zip(theirs._orders, theirs._rdp, strict=True):
        assert cost.renyi(float(order)) == pytest.approx(value, rel=1e-8)


def test_against_another_record_the_extractor_costs_more(trained, digits):
    """By stepping over the null record; for a Gaussian without sampling the doubled sensitivity costs four times."""
    inputs, labels = digits
    head = CertifiedHead(
        trained, inputs[:1400], labels[:1400], plan_for(1400, adjacency="replace", deletion_notion="pairwise")
    )
    head.learn()
    for order in (2.0, 8.0):
        alone, other = trained.cost("dp", "zero-out").renyi(order), trained.cost("dp", "replace").renyi(order)
        assert other > 2 * alone
        assert head.accountant.dp_cumulative().renyi(order) > other
        whole = SampledGaussian(records=1400, sampling_rate=1.0, noise_multiplier=1.0)
        null = whole.interval("dp", "zero-out", steps_with=1).renyi(order)
        assert 4 * null <= whole.interval("dp", "replace", steps_with=1).renyi(order)


def test_saved_and_reloaded_without_code(trained, digits, tmp_path):
    inputs, _ = digits
    trained.save(tmp_path / "phi")
    assert sorted(path.name for path in (tmp_path / "phi").iterdir()) == ["extractor.json", "extractor.safetensors"]
    back = Extractor.load(tmp_path / "phi", convolution())
    assert np.array_equal(back.rows(inputs[:20]), trained.rows(inputs[:20]))
    assert back.event == trained.event
    with pytest.raises(InvalidParameter, match="not a saved extractor"):
        Extractor.load(tmp_path / "phi", head())  # another architecture
    (tmp_path / "phi" / "extractor.json").write_text('{"input_shape": [1, 8, 8], "radius": 1.0}')
    with pytest.raises(InvalidParameter, match="event"):  # never silently an extractor that cost nothing
        Extractor.load(tmp_path / "phi", convolution())
    with pytest.raises(InvalidParameter, match="nowhere"):
        Extractor.load(tmp_path / "nowhere", convolution())


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
