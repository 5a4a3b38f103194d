"""The two attacks have power against the leaky and none against the private; the comparison runs end to end."""

from __future__ import annotations

import json

import numpy as np
import pytest
from noisygd_delete_lab import DPSGD, GradientAscent, OutputPerturbation, Retraining, adversaries, comparison
from noisygd_delete_lab.calibrated import Setting
from noisygd_delete_lab.command import main
from noisygd_delete_lab.comparison import compare
from scipy.stats import binom

from noisygd_delete import EditRequest, losses
from noisygd_delete.audit import ShadowLikelihoodRatio, World

from .conftest import REGULARIZATION, methods, table

FACTS = {"loss": losses.Logistic(1.0), "regularization": REGULARIZATION}


def test_two_releases() -> None:
    rng, records, every = np.random.default_rng(0), table("binary"), methods("binary")
    score = {
        name: adversaries.which_was_erased(every[name], records, **FACTS, candidates=10, rounds=3, rng=rng)
        for name in ("retrain", "SISA", "Noisy-GD", "output perturbation", "gradient ascent")
    }
    assert score["retrain"].rate == 1.0
    assert score["SISA"].verdict == score["gradient ascent"].verdict == "falls"
    assert score["Noisy-GD"].verdict != "falls"
    assert score["output perturbation"].verdict != "falls"
    assert 0.1 < score["Noisy-GD"].allowed < 0.4


def test_requests_that_tell() -> None:
    """Retraining is perfect deletion, and still loses to an adaptive requester; privacy is what stops it."""
    rng, records, every = np.random.default_rng(0), table("binary"), methods("binary")
    facts = {**FACTS, "group": 30, "trials": 30, "rng": rng}
    assert adversaries.attack_by_requests(every["retrain"], records, **facts).rate == 1.0
    assert adversaries.attack_by_requests(every["SISA"], records, **facts).verdict == "falls"
    private = adversaries.attack_by_requests(every["Noisy-GD"], records, **facts)
    assert private.verdict != "falls"
    assert private.allowed < 0.75


def test_gradient_ascent_publishes_the_erased_row() -> None:
    records = table("binary")
    method = GradientAscent(FACTS["loss"], regularization=REGULARIZATION)
    learned = method.learn(records)
    served = method.unlearn(records, EditRequest.delete([9]), learned)
    seen = (served.weights - learned.weights)[0]
    cosines = records.features[:195] @ seen / np.linalg.norm(seen) / np.linalg.norm(records.features[:195], axis=1)
    assert abs(cosines[9]) > 1 - 1e-6
    assert np.argmax(np.abs(cosines)) == 9


def test_scores() -> None:
    assert adversaries.Score(0, 30, 0.05).verdict == "survives"
    assert adversaries.Score(17, 30, 0.5).verdict == "survives"
    assert adversaries.Score(24, 30, 0.5).verdict == "falls"
    assert adversaries.Score(24, 30, 0.5, allowed=0.7).verdict == "within its DP"
    assert adversaries.Score(30, 30, 0.5, allowed=0.7).verdict == "falls"
    lower = adversaries.Score(24, 30, 0.5).lower
    assert binom.sf(23, 30, lower) == pytest.approx(0.01)  # at the bound, 24 or more hits happen once in a hundred


def test_engine_for_audits() -> None:
    """A baseline runs under the package's shadow attack: barely private output perturbation shows the record before its
    deletion and not after."""
    records = table("binary")
    absent = records.apply(EditRequest.delete([4]))
    method = OutputPerturbation(FACTS["loss"], regularization=0.05, records=200, epsilon=2_000.0, delta=1e-5)
    run = adversaries.engine(method)
    rng = np.random.default_rng(0)
    worlds = [World(records, absent), World(absent, absent)]
    shadows = [run(world, 60, rng) for world in worlds]
    assert [r.shape for r in shadows[0]] == [(60, 1, 6), (60, 1, 6)]
    before = ShadowLikelihoodRatio.fit(*shadows, observed=(1,))
    after = ShadowLikelihoodRatio.fit(*shadows, observed=(2,))
    fresh = [run(world, 60, rng) for world in worlds]
    found = [(attack(fresh[0]) > 0).mean() - (attack(fresh[1]) > 0).mean() for attack in (before, after)]
    assert found[0] > 0.7
    assert found[1] < 0.35


def test_comparison_runs_and_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """What noise DP-SGD needs has its own test (`test_private_baselines`), and takes Opacus longer than all the rest here."""
    monkeypatch.setattr(DPSGD, "_least_noise", lambda self: 30.0)
    records = table("binary")
    setting = Setting(
        FACTS["loss"], 0.5, deletion=0.2, dp=4.0, delta=1e-5, deletions=2, removals=5, attack_rows=60, attack_trials=2
    )
    heard: list[str] = []
    rows = compare(setting, records, records, rng=np.random.default_rng(0), attack=True, progress=heard.append)
    names = [row.method for row in rows]
    assert names == heard
    assert len(names) == len(set(names)) >= 14
    by_name = {row.method: row for row in rows}
    assert by_name["retrain"].delete_gradients <= by_name["retrain"].learn_gradients
    assert by_name["gradient ascent"].deletion is None
    assert by_name["certified removal"].until_retrain is not None
    assert by_name["Noisy-GD, tight"].two_releases is not None
    assert all(row.learn_time > 0 for row in rows)
    json.dumps([row.to_dict() for row in rows], allow_nan=False)


def test_a_method_without_calibration_for_few_records_is_not_attacked_and_no_other_takes_its_place(monkeypatch) -> None:
    records, given = table("binary"), []
    line = [Retraining(FACTS["loss"], regularization=0.5), GradientAscent(FACTS["loss"], regularization=0.5)]
    monkeypatch.setattr(comparison, "line_up", lambda _, there, *rest: line if there is records else line[1:])
    monkeypatch.setattr(comparison, "measure", lambda method, *rest: given.append((method, rest[-1])))
    setting = Setting(FACTS["loss"], 0.5, deletion=0.2, dp=4.0, delta=1e-5, attack_rows=60)
    compare(setting, records, records, rng=np.random.default_rng(0))
    assert given == [(line[0], None), (line[1], line[1])]


def test_compare_on_the_command_line(capsys, monkeypatch) -> None:
    from noisygd_delete_lab import sample

    monkeypatch.setattr(sample, "digits", lambda: (table("class"), table("class")))
    monkeypatch.setattr(losses, "Softmax", lambda radius, classes: _Softmax(radius, 3))
    assert main(["compare", "--no-attack", "--regularization", "0.5", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["records"] == 200
    assert {"retrain", "Noisy-GD, tight"} <= {row["method"] for row in answer["rows"]}


_Softmax = losses.Softmax


def test_what_privacy_allows() -> None:
    """Power and advantage of the best test, against the two Gaussians; (ε, δ) alone allows more."""
    from noisygd_delete_lab import Certificate
    from scipy.stats import norm

    gaussian = Certificate((0.0, 0.0), (1.0, 1e-5), True, "", gdp=0.5)
    threshold = norm.isf(0.1)
    assert gaussian.success(0.1) == pytest.approx(norm.sf(threshold, loc=0.5))
    assert gaussian.advantage == pytest.approx(norm.sf(0.25, loc=0.5) - norm.sf(0.25))
    plain = Certificate((0.0, 0.0), (1.0, 1e-5), True, "")
    assert plain.success(0.1) == pytest.approx(0.1 * np.e + 1e-5)
    assert plain.advantage == pytest.approx((np.e - 1 + 2e-5) / (np.e + 1))
    assert Certificate((0.0, 0.0), None, False, "").advantage == 1.0
