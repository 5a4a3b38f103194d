"""`evaluate --on-records`: counts of the private records under noise, charged before they are shown."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from noisygd_delete import EditRequest, Model, Records, losses
from noisygd_delete.accountant import Accountant
from noisygd_delete.evidence.certificate import erasure_certificate
from noisygd_delete.evidence.erasure import erasure_in
from noisygd_delete.reports import private_evaluation
from noisygd_delete.store import Store
from tests.cli.planned import main
from tests.cli.test_evaluate import LABELS, learned

from ..evidence.reading_papers import figure, said


@pytest.fixture
def kind(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    learned(request.param, 3000)
    return str(request.param)


@pytest.mark.parametrize("kind", list(LABELS), indirect=True)
def test_counts_are_near_those_without_noise_and_charged_as_they_say(kind: str, as_json) -> None:
    plain = as_json("evaluate", "store", "--data", "people.csv")
    found = as_json("evaluate", "store", "--on-records", "3")
    assert (found["deviation"], found["release"]) == (4.0, 2)
    assert found["rows"] == pytest.approx(3000, abs=4 * 8 * math.sqrt(50))
    if kind == "target":
        half_a_bin = found["bin_width"] / 2
        assert abs(found["mean_absolute_error"] - plain["mean_absolute_error"]) < 3 * found["within"] + half_a_bin
    else:
        assert abs(found["accuracy"] - plain["accuracy"]) < 3 * found["within"]
        apart = np.subtract(found["confusion"], plain["confusion"])
        assert 0 < np.abs(apart).max() < 8 * 4
        assert (apart % (4 * 2.0**-24) == 0).all()  # on the public grid
    with Store.open("store") as store:
        events = store.accountant.events
        models = Accountant(store.plan, events[:1]).dp_cumulative()
        assert store.accountant.dp_cumulative().gdp_squared == pytest.approx(models.gdp_squared + 2 / 16)
        assert store.model.weights.shape


@pytest.mark.parametrize("kind", ["two"], indirect=True)
def test_the_store_goes_on_and_every_paper_knows_of_the_counts(kind: str, as_json, printed) -> None:
    out = printed("evaluate", "store", "--on-records")
    assert "Charged as release 2" in out
    assert "learned from" in out
    assert as_json("status", "store")["releases"] == 2
    assert main(["predict", "store", "--data", "people.csv", "--out", "said.csv"]) == 0
    assert main(["verify", "store"]) == 0
    assert main(["delete", "store", "r5", "--request-id", "one"]) == 0
    assert main(["verify", "store"]) == 0
    told = as_json("budget", "store")
    assert [row["kind"] for row in told["releases"]] == ["learn", "statistic", "unlearn"]
    assert any("Counts of the records" in note for note in told["statement"]["notes"])
    with Store.open("store") as store:
        erased = store.accountant.deletion(1, 3)
        models = Accountant(store.plan, [store.accountant.events[0], store.accountant.events[2]]).deletion(1, 2)
        assert erased.gdp_squared > models.gdp_squared  # the counts had read the record
        later = store.accountant.deletion(1, 3, [3])
        assert later.gdp_squared < erased.gdp_squared
    assert main(["evaluate", "store", "--on-records"]) == 0  # and again, of the records that are left
    assert main(["delete", "store", "r6"]) == 0
    assert main(["verify", "store"]) == 0


@pytest.mark.parametrize("kind", ["two"], indirect=True)
def test_a_certificate_counts_them_and_says_so(kind: str) -> None:
    assert main(["evaluate", "store", "--on-records"]) == 0
    assert main(["delete", "store", "r5", "--request-id", "one"]) == 0
    with Store.open("store") as store:
        erasure, plan, events = erasure_in(store.ledger, request_id="one")
        paper = erasure_certificate(erasure, plan=plan, events=events)
        everything = store.accountant.deletion(1, 3).with_slack().gdp
    assert erasure.release == 3
    assert "Numbers about the records were published too" in said(paper)
    assert "exact discrete Gaussian" in said(paper)
    assert figure(paper, "erased.all")["gdp"] == pytest.approx(everything, rel=1e-9)


def test_nothing_is_shown_that_is_not_charged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys, complaint, as_json
) -> None:
    monkeypatch.chdir(tmp_path)
    learned("two", 3000, "--dp", "1", "--deletion", "0.5")
    before = as_json("status", "store")
    assert main(["evaluate", "store", "--on-records", "1"]) != 0
    told = capsys.readouterr()
    assert told.out == ""
    assert "exceed the budget" in told.err
    assert as_json("status", "store") == before
    assert "--plain goes with --data" in complaint("evaluate", "store", "--on-records", "--plain")
    assert main(["delete", "store", "r7", "--no-publish"]) == 0
    capsys.readouterr()
    assert main(["evaluate", "store", "--on-records"]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert "publish first" in told.err


def test_a_cap_on_all_releases_covers_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    learned("two", 3000, "--releases", "3")
    shown = 0
    while main(["evaluate", "store", "--on-records", "1"]) == 0:
        shown += 1
        assert shown < 100
    assert "exceed the budget" in capsys.readouterr().err
    with Store.open("store") as store:
        assert store.ledger.releases == 1 + shown
        assert store.plan.problem.budget.affords(store.accountant.dp_cumulative().with_slack())


def test_a_records_own_cell_does_not_depend_on_the_others() -> None:
    """Counting slot by slot in blocks of fixed shape: erasing one record moves one count by one."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(9000, 7)).astype(np.float32)
    labels = np.where(rng.random(9000) < 0.5, -1.0, 1.0)
    model = Model(weights=rng.normal(size=7), loss=losses.Logistic(10.0), certified=False)
    counts = private_evaluation._confusion_counts(model, Records(rows, labels), 2)
    assert counts.sum() == 9000
    fewer = Records(rows, labels)
    fewer.edit(EditRequest.delete([4097]))
    apart = counts - private_evaluation._confusion_counts(model, fewer, 2)
    assert sorted(apart.ravel()) == [0, 0, 0, 1]
