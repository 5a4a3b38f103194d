"""A torch module of one's own: learned, unlearned, accounted for, streamed, audited, stored and certified."""

from __future__ import annotations

import json
import math
import warnings

import numpy as np
import pytest

from noisygd_delete import Budget, Curator, EditRequest, Records, Store, losses, make_plan
from noisygd_delete.audit import audit, audit_one_run
from noisygd_delete.cli import main
from noisygd_delete.curator.stream import NonAdaptive, interact
from noisygd_delete.errors import AssumptionViolated, InvalidParameter
from noisygd_delete.evidence import erasure_certificate, verify_certificate
from noisygd_delete.evidence.erasure import erasure_in
from noisygd_delete.methods import CompositionNoisyGD, Stage, Staged
from noisygd_delete.store import verify

from ..store.conftest import SCHEMA, WIDTH
from ..store.conftest import records as store_records

torch = pytest.importorskip("torch", reason="networks need torch")
opacus = pytest.importorskip("opacus", reason="the accountants are compared")

from noisygd_delete.networks import NetworkLoss  # noqa: E402

PAIRS = Budget.from_epsilon_delta(dp=(8.0, 1e-5), deletion=(2.0, 1e-5))
SAMPLED = CompositionNoisyGD(learn_steps=6, delete_steps=1, requests_per_learn=5, batches=8)
STAGED = Staged((Stage("network", 12, sampling_rate=0.25), Stage("network", 4, sampling_rate=0.25)))


def table(n: int = 120) -> Records:
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, n)
    rows = rng.normal(size=(n, 5)) * 0.2 + np.eye(3, 5)[labels]
    return Records(rows / np.linalg.norm(rows, axis=1).max() * 0.999, labels)


def planned(method, n: int = 120, **options):
    torch.manual_seed(0)
    module = torch.nn.Sequential(torch.nn.Linear(5, 6), torch.nn.Tanh(), torch.nn.Linear(6, 3))
    loss = NetworkLoss(radius=1.0, classes=3, module=module, clip=0.5)
    usual = {"records": n, "features": 5, "regularization": 1e-2, "budget": PAIRS, "adjacency": "zero-out"}
    return make_plan(loss, method=method, **{**usual, **options})


def test_a_module_of_ones_own_in_ten_lines() -> None:
    class Residual(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner, self.outer = torch.nn.Linear(5, 5), torch.nn.Linear(5, 3)

        def forward(self, rows):
            return self.outer(rows + torch.nn.functional.gelu(self.inner(rows)))

    loss = NetworkLoss(radius=1.0, classes=3, module=Residual())
    plan = make_plan(loss, records=2000, features=5, regularization=1e-3, budget=PAIRS, method="staged",
                     stages=(Stage("network", 30, step_size=2.0), Stage("network", 10, step_size=2.0)))  # fmt: skip
    curator = Curator(table(2000), plan)
    assert curator.learn().model.accuracy(curator.records) > 0.8
    after = curator.delete([3, 4])
    assert 3 not in curator.records
    assert after.model.accuracy(curator.records) > 0.8
    assert after.guarantees["deletion"].epsilon(1e-5) <= 2.0
    assert curator.accountant.epsilon_dp(observed=[2]) <= 8.0


@pytest.mark.parametrize("batches", [1, 8])
def test_composition_counts_what_opacus_counts(batches: int) -> None:
    """K noisy steps at noise multiplier z, on all rows or on Poisson samples: Rényi curve and (ε, δ)."""
    from opacus.accountants.analysis.rdp import compute_rdp

    plan = planned(CompositionNoisyGD(learn_steps=6, delete_steps=1, requests_per_learn=5, batches=batches), n=1200)
    run, rate = plan.mechanism, 1 / batches
    for passes in (1, 6, 10):
        ours = run.interval("dp", "zero-out", steps_with=passes).with_slack()
        for order in (2, 5, 32):
            theirs = compute_rdp(q=rate, noise_multiplier=run.noise_multiplier, steps=passes * batches, orders=[order])[
                0
            ]
            assert theirs * (1 - 1e-9) <= ours.renyi(order) <= theirs * (1 + 1e-3)
        assert ours.epsilon(1e-5) <= opacus_epsilon(run.noise_multiplier, rate, passes * batches) * (1 + 1e-6)


def opacus_epsilon(multiplier: float, rate: float, steps: int) -> float:
    from opacus.accountants import RDPAccountant

    accountant = RDPAccountant()
    accountant.history = [(multiplier, rate, steps)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return accountant.get_epsilon(1e-5, alphas=[*range(2, 33), 48, 64, 128, 256, 512])


def test_the_noise_of_samples_is_the_least_within_the_budget() -> None:
    plan = planned(SAMPLED, n=1200)
    z, longest = plan.mechanism.noise_multiplier, 8 * (6 + 4)  # a record of the learn, erased by the fifth request
    assert plan.calibration.horizon == 10
    assert opacus_epsilon(z, 1 / 8, longest) <= 2.0 * (1 + 1e-3)
    assert opacus_epsilon(0.9 * z, 1 / 8, longest) > 2.0  # planted fault: a tenth less noise
    assert plan.deletion.epsilon(1e-5) <= 2.0


def test_a_sampled_pass_takes_the_samples_and_the_noise_that_are_charged(monkeypatch: pytest.MonkeyPatch) -> None:
    from noisygd_delete.curator import noisy_descent
    from noisygd_delete.engine.noise import poisson

    plan, drawn = planned(SAMPLED), []

    def counting(slots, noise, *, rate):
        drawn.append((slots, rate))
        return poisson(slots, noise, rate=rate)

    monkeypatch.setattr(noisy_descent, "poisson", counting)
    curator = Curator(table(), plan)
    curator.learn()
    assert drawn == [(120, 1 / 8)] * 48
    curator.delete([5])
    assert drawn == [(120, 1 / 8)] * 56
    # a record moves a step's mean gradient by ηL/(pn); the noise is z times that
    moved = plan.calibration.step_size * 0.5 / (120 / 8)
    slack = 1 + plan.mechanism.slack  # of rounding, counted inside z
    assert plan.mechanism.noise_scale / moved == pytest.approx(plan.mechanism.noise_multiplier * slack, rel=1e-9)


def test_samples_stop_at_the_horizon() -> None:
    curator = Curator(table(), planned(SAMPLED))
    curator.learn()
    for k in range(5):
        assert curator.delete([k]).model is not None
    assert curator.delete([5]).model is None  # a fresh learn is due
    assert curator.relearn().model is not None


@pytest.mark.parametrize(
    "options",
    [
        {"adjacency": "replace"},
        {"deletion_notion": "pairwise"},
        {"rows_per_subject": 2},
        {"budget": Budget.from_gdp(dp=1.0, deletion=0.1)},
    ],
)
def test_samples_are_refused_where_they_are_not_counted(options: dict) -> None:
    with pytest.raises((AssumptionViolated, InvalidParameter)):
        planned(SAMPLED, **options)
    with pytest.raises(AssumptionViolated):
        make_plan(losses.Sigmoid(radius=1.0), records=100, features=2, regularization=0.01, budget=PAIRS, method=SAMPLED,
                  adjacency="zero-out")  # fmt: skip


@pytest.mark.parametrize("method", [SAMPLED, STAGED], ids=["noisy-gd:analysis=composition", "staged"])
def test_a_stream_serves_a_network(method) -> None:
    curator = Curator(table(), planned(method))
    curator.learn()
    requester = NonAdaptive([EditRequest.delete([k]) for k in (1, 2)])
    interact(curator, requester)
    assert curator.accountant.releases == 3
    alone, everything = curator.accountant.epsilon_dd(), curator.accountant.epsilon_dd(observed=[1, 2, 3])
    assert alone <= 2.0
    assert alone <= everything < math.inf


@pytest.mark.parametrize("method", [SAMPLED, STAGED], ids=["noisy-gd:analysis=composition", "staged"])
def test_an_audit_runs_the_network_itself(method) -> None:
    torch.manual_seed(0)
    module = torch.nn.Sequential(torch.nn.Linear(60, 4, bias=False), torch.nn.Tanh(), torch.nn.Linear(4, 3))
    loss = NetworkLoss(radius=1.0, classes=3, module=module, clip=0.3)
    plan = make_plan(
        loss, records=60, features=60, regularization=1e-2, budget=PAIRS, adjacency="zero-out", method=method
    )
    assert len(audit_one_run(plan, rng=np.random.default_rng(0)).rows) == 2
    with pytest.raises(AssumptionViolated):
        audit(plan)  # which would run another algorithm


def store_plan(method):
    module = torch.nn.Sequential(torch.nn.Linear(WIDTH, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2))
    loss = NetworkLoss(radius=1.0, classes=2, module=module, start="zero", init_variance=0.1)
    return make_plan(
        loss, records=12, features=WIDTH, regularization=0.1, budget=PAIRS, adjacency="zero-out", method=method
    )


@pytest.mark.parametrize("method", [SAMPLED, STAGED], ids=["noisy-gd:analysis=composition", "staged"])
def test_a_store_learns_deletes_certifies_and_is_audited(method, tmp_path, capsys) -> None:
    plan, held = store_plan(method), store_records()
    rows = held.features[held.occupied]
    records = Records(rows, np.arange(len(rows)) % 2, ids=held.ids, slots=12)
    schema = type(SCHEMA).from_dict({key: value for key, value in SCHEMA.to_dict().items() if key != "subject"})
    with Store.create(tmp_path / "store", records, schema, plan) as store:
        store.learn()
        store.serve(EditRequest.delete(["identifier-token-0003"], request_id="r3"))
        erasure, made, events = erasure_in(store.ledger, request_id="r3")
        paper = erasure_certificate(erasure, plan=made, events=events)
        found = {check.name: check.passed for check in verify_certificate(paper).checks}
        assert found == {**dict.fromkeys(found, True), "signature": False}, "unsigned, and right in all else"
        keys = {claim["key"] for claim in paper["claims"]}
        assert keys >= {"constants-declared", "samples-unseen"}
    assert verify(tmp_path / "store").faults == ()
    with Store.open(tmp_path / "store") as store:
        assert store.plan == plan
        assert store.model.predict(rows).shape == (len(rows),)
    capsys.readouterr()
    assert main(["audit", str(tmp_path / "store"), "--runs", "20", "--seed", "1", "--json"]) == 0
    audited = json.loads(capsys.readouterr().out)
    assert len(audited["rows"]) >= 2
    assert all(row["measured_lower_bound"] <= row["claimed_advantage"] for row in audited["rows"])


def test_the_command_line_takes_a_module_of_ones_own(tmp_path, monkeypatch, capsys) -> None:
    """From a CSV file: learned, deleted from and certified, and then served without the module's code."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_modules.py").write_text(
        "import torch\n\n\ndef build():\n    return torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 3))\n"
    )
    held = table(60)
    lines = [
        f"{k},{x[0]:.4f},{x[1]:.4f},class-{int(y)}"
        for k, (x, y) in enumerate(zip(held.features, held.labels, strict=True))
    ]
    (tmp_path / "people.csv").write_text("\n".join(["id,a,b,kind", *lines]) + "\n")
    loss = "network:module=my_modules:build,init_variance=0.1,clip=0.5"
    budget = ["--dp", "8", "--deletion", "2", "--delta", "1e-5", "--adjacency", "zero-out", "--regularization", "0.01"]
    method = ["--method", "noisy-gd:analysis=composition,learn_steps=2,delete_steps=1,batches=4"]
    assert main(["plan", "--loss", loss, *budget, *method, "--out", "plan.toml"]) == 0
    assert main(["quickstart", "people.csv", "--label", "kind", "--id", "id", "--plan", "plan.toml", "--yes"]) == 0
    (tmp_path / "my_modules.py").unlink()
    ((folder),) = (path.parent for path in tmp_path.rglob("ledger.sqlite"))
    with Store.open(folder) as store:
        assert isinstance(store.plan.problem.loss, NetworkLoss)
        gone = store.records.ids[0]
    assert main(["delete", str(folder), str(gone), "--request-id", "request-of-a-test"]) == 0
    assert main(["certificate", str(folder), "--request-id", "request-of-a-test", "--out", "certificate.json"]) == 0
    capsys.readouterr()
    for spec, wrong in (
        ("network", "needs its module"),
        ("network:module=my_modules", "my_networks:build"),
        ("network:module=absent_modules:build", "absent_modules"),
    ):
        assert main(["plan", "--loss", spec, "--records", "60", "--features", "3", *budget, *method]) == 2
        assert wrong in capsys.readouterr().err
