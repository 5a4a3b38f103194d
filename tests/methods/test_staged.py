"""The ladder from plan to store: budgets, what is kept and what is run again, the run's law, its two observers, and refusals."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from noisygd_delete import Budget, Curator, EditRequest, Records, losses, make_plan
from noisygd_delete.accountant import Event
from noisygd_delete.curator.learning import train
from noisygd_delete.engine import Execution
from noisygd_delete.errors import InvalidParameter, PlanInfeasible
from noisygd_delete.methods import Stage, Staged
from noisygd_delete.methods.serialization import mechanism_from_dict
from noisygd_delete.methods.staged_run import KEPT
from noisygd_delete.privacy.sentences import format_bound
from noisygd_delete.privacy.worlds import NON_ADAPTIVE
from noisygd_delete.store import Store
from tests.bank import unit_rows
from tests.cli.planned import main

LOSS = losses.MultilayerPerceptron(radius=1.0, hidden=3)
BUDGET = Budget(order=10, dp=1.0, deletion=0.1)
NETWORKS = (Stage("network", 6), Stage("network", 3))
HEADED = (Stage("network", 6), Stage("head", 4))
THREE = (Stage("network", 6), Stage("network", 3, share=2.0), Stage("head", 2, regularization=0.1))


def plan_for(stages=NETWORKS, level=0, **options):
    facts = {"records": 60, "features": 4, "regularization": 0.01, "budget": BUDGET, "adjacency": "zero-out", **options}
    return make_plan(facts.pop("loss", LOSS), method=Staged(stages=stages, level=level), **facts)


def table():
    rows = unit_rows(50, 4)
    return Records(rows, np.sign(rows[:, 0] * rows[:, 1] + 1e-9), slots=60)


LADDERS = [(NETWORKS, 0), (HEADED, 0), (THREE, 0), (THREE, 1), (THREE, -1)]
SAMPLED = Stage("network", 40, sampling_rate=0.1)
MOMENTS = (Stage("network", 6), Stage("moments"))
OTHERS = [  # with stages of other kinds
    (MOMENTS, 0),
    (MOMENTS, -1),
    ((Stage("network", 6), SAMPLED), 0),
    ((SAMPLED, Stage("network", 3)), 0),
    ((SAMPLED, Stage("head", 3)), 0),
    ((SAMPLED, SAMPLED, Stage("moments")), 1),
]


# ---------------------------------------------------------------- the plan


def test_the_base_never_takes_more_than_half_of_the_dp_budget():
    plan = plan_for(adjacency="replace", budget=Budget(order=10, dp=1.0, deletion=1.0))
    base = plan.calibration.stages[0].mechanism.interval("dp", "replace", steps_with=6).gdp_squared
    assert base == pytest.approx(plan.problem.dp_gdp() ** 2 / 2)
    assert plan.dp.with_slack().renyi(10) <= 1.0 * (1 + 1e-9)


def test_descriptions_without_end_or_sense_are_refused():
    facts = plan_for(THREE).mechanism.to_dict()
    inner = {"records": 60, "later": [facts["later"][0]], "later_steps": [3], "method": "staged"}
    with pytest.raises(InvalidParameter, match="no stages of its own"):
        mechanism_from_dict({**facts, "later": [inner], "later_steps": [3]})
    with pytest.raises(InvalidParameter, match="at most"):
        mechanism_from_dict({**facts, "later": facts["later"] * 10})
    with pytest.raises(InvalidParameter, match="as many numbers as stages"):
        mechanism_from_dict({**facts, "later_steps": [3]})
    with pytest.raises(InvalidParameter, match="runs again"):
        mechanism_from_dict({**facts, "later": [], "later_steps": []})
    warm = {**facts["later"][1], "warm": True}
    with pytest.raises(InvalidParameter, match="never where the last published model was"):
        mechanism_from_dict({**facts, "later": [facts["later"][0], warm]})
    with pytest.raises(InvalidParameter, match="is no stage"):
        mechanism_from_dict({**facts, "records": 61})
    with pytest.raises(InvalidParameter, match="runs"):
        Event("unlearn", 4, 1, plan_for(THREE).mechanism)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Staged(stages=(Stage("network", 5),)), "one-stage case is method 'noisy-gd:analysis=composition'"),
        (lambda: Staged(stages=(*NETWORKS, Stage("head")), level=2), "level=2 must lie between -1"),
        (lambda: Staged(stages=("network", "head")), "methods.Stage objects"),
        (lambda: Stage("network"), "needs steps="),
        (lambda: Stage("tree", 3), "kind of a stage"),
        (lambda: plan_for((Stage("head"), Stage("head"))), "must begin with"),
        (lambda: plan_for(loss=losses.Logistic(1.0)), "is convex"),
    ],
)
def test_refusals_say_what_to_do(make, message):
    with pytest.raises(InvalidParameter, match=message):
        make()


def test_a_network_with_fixed_outer_weights_climbs_too():
    plan = plan_for(loss=losses.TanhNetwork(radius=1.0, outer_weights=(1.0, -1.0)))
    curator = Curator(table(), plan)
    curator.learn()
    assert curator.delete([3]).model.predict(table().features).shape == (60,)


# ---------------------------------------------------------------- the run


@pytest.mark.parametrize(("stages", "level"), [*LADDERS, *OTHERS], ids=str)
def test_a_deletion_keeps_the_kept_stages_and_runs_the_others_again(stages, level):
    plan = plan_for(stages, level)
    curator = Curator(table(), plan)
    learned, deleted = curator.learn(), curator.delete([1, 2])
    before, after = (plan.model_loss.parts(r.model.weights, 4) for r in (learned, deleted))
    same = [np.array_equal(a, b) for a, b in zip(before, after, strict=True)]
    assert same == [True] * (level + 1) + [False] * (len(stages) - level - 1)
    assert learned.steps == plan.calibration.learn_steps
    assert deleted.steps == plan.calibration.delete_steps
    assert deleted.gradient_passes < learned.gradient_passes or level < 0
    assert learned.model.certified
    assert not learned.model.weights.flags.writeable
    assert deleted.model.predict(table().features).shape == (60,)
    again = curator.delete([3])  # the base does not grow dearer, and no horizon comes near
    assert again.guarantees["deletion"].with_slack().renyi(10) <= 0.1 * (1 + 1e-9)
    assert not curator.accountant.forecast().horizon_spent


@pytest.mark.parametrize("stages", [THREE, (Stage("network", 4), SAMPLED, Stage("moments"))], ids=str)
def test_later_stages_do_not_know_where_the_last_model_was(stages):
    """From one base, the law of what is run again is the same whatever stood in its place before: noise off, it is equal."""
    plan, records = plan_for(stages), table()
    quiet = Execution(rng=np.random.default_rng(3))
    first = train(records, plan, plan.learning, None, quiet).model
    parts = plan.model_loss.parts(first.weights, 4)
    moved = plan.model_loss.join_parts([parts[0], parts[1] + 100.0, parts[2] - 100.0])
    again = [
        train(records, plan, plan.serving, start, Execution(rng=np.random.default_rng(7))).model.weights
        for start in (np.array(first.weights), np.array(moved))
    ]
    assert np.array_equal(*again)


def test_the_noise_of_every_stage_is_what_the_plan_counts():
    """Null records only: what is left is the noise. A network's later stage is c^T θ_0 + noise of variance 2ησ² Σ c^{2k}."""
    plan = plan_for(
        (Stage("network", 4, 0.5), Stage("network", 3, 0.5)),
        regularization=0.2,
        loss=losses.MultilayerPerceptron(1.0, hidden=400),
    )
    records = table()
    records.edit(EditRequest.delete(range(50)))
    model = train(records, plan, plan.learning, None, Execution(rng=np.random.default_rng(1))).model
    base, later = plan.model_loss.parts(model.weights, 4)
    c = 1 - 0.5 * 0.2
    for stage, moved in ((plan.calibration.stages[1], later - c**3 * base),):
        variance = 2 * 0.5 * stage.calibration.noise_variance * sum(c ** (2 * k) for k in range(3))
        assert moved.var() == pytest.approx(variance, rel=0.1)
    first = plan.calibration.stages[0]
    drawn = c**8 * LOSS.init_variance * math.sqrt(3 / 400) + 2 * 0.5 * first.calibration.noise_variance * sum(
        c ** (2 * k) for k in range(4)
    )
    assert base.var() == pytest.approx(drawn, rel=0.1)


@pytest.mark.parametrize(
    ("stages", "passes"), [(THREE, 11), ((SAMPLED, Stage("network", 3), Stage("moments")), 4 + 3 + 1)], ids=str
)
def test_steps_are_told_on_through_the_stages(stages, passes):
    told = []
    plan = plan_for(stages)
    Curator(table(), plan).learn(execution=Execution(progress=told.append))
    assert told == list(range(1, plan.calibration.learn_steps + 1))
    assert plan.calibration.learn_steps == passes


def test_any_number_of_deletions_costs_the_base_and_every_observed_release_the_rest():
    plan = plan_for()
    curator = Curator(table(), plan)
    curator.learn()
    for name in range(8):
        release = curator.delete([name])
    kept, later = (
        stage.mechanism.interval("deletion", "erased-vs-never", steps_with=stage.calibration.learn_steps).gdp_squared
        for stage in plan.calibration.stages
    )
    shown = release.guarantees
    assert shown["deletion"].gdp_squared == pytest.approx(kept)
    assert NON_ADAPTIVE in shown["deletion"].assumptions
    assert KEPT in shown["deletion"].assumptions
    assert shown["deletion_observed"].gdp_squared == pytest.approx(kept + 8 * later)
    assert not shown["deletion_observed"].non_adaptive
    assert KEPT not in shown["dp"].assumptions
    assert not curator.accountant.forecast().horizon_spent
    curator.insert([1000], [[1.0, 0, 0, 0]], [1.0])  # came after the base, and goes
    curator.delete([1000])
    last = curator.accountant.releases
    joined = curator.accountant.deletion(last - 1, last)
    assert joined.gdp_squared == pytest.approx(later)


# ---------------------------------------------------------------- on disk, by the command line


def call(capsys, *arguments: str, status: int = 0) -> dict:
    assert main([*arguments, "--json"]) == status
    said = capsys.readouterr()
    assert said.err == ""
    return json.loads(said.out)


TWO_NAMES, THREE_NAMES, BY_SAMPLES = ["no", "yes"], ["no", "yes", "perhaps"], "network:9:1:0.3,network:9:1:0.3"


@pytest.mark.parametrize(
    ("names", "stages"),
    [
        (TWO_NAMES, "network:6,network:3:0.5"),
        (THREE_NAMES, "network:6,head"),
        (TWO_NAMES, "network:6,moments"),
        (THREE_NAMES, "network:6,moments"),
        pytest.param(TWO_NAMES, BY_SAMPLES, marks=pytest.mark.long),
    ],
)
def test_a_store_by_the_command_line(tmp_path: Path, capsys, stages, names) -> None:
    lines = [f"id-{k:03d},{k - 10},{names[k % len(names)]}" for k in range(24)]
    (tmp_path / "people.csv").write_text("\n".join(["id,a,y", *lines]) + "\n")
    classes = json.dumps(names)
    (tmp_path / "schema.toml").write_text(
        f'id = "id"\n[label]\ncolumn = "y"\nclasses = {classes}\n[columns.a]\nbounds = [-10, 14]\n'
    )
    store, data, schema = str(tmp_path / "store"), str(tmp_path / "people.csv"), str(tmp_path / "schema.toml")
    plan = str(tmp_path / "plan.toml")
    chosen = ["--method", f"staged:stages={stages}", "--loss", "multilayer-perceptron:hidden=3", "--clip", "0.5"]
    call(capsys, "plan", *chosen, "--out", plan)
    made = call(capsys, "init", store, "--data", data, "--schema", schema, "--plan", plan)
    assert [stage["kind"] for stage in made["plan"]["options"]["stages"]] == [
        part.split(":")[0] for part in stages.split(",")
    ]
    call(capsys, "learn", store)
    with Store.open(store) as opened:
        base = opened.plan.model_loss.parts(opened.model.weights, 2)[0]
    for name in ("id-003", "id-004"):
        released = call(capsys, "delete", store, name)
        assert released["status"] == "published"
    with Store.open(store) as opened:
        assert np.array_equal(base, opened.plan.model_loss.parts(opened.model.weights, 2)[0])
        assert opened.plan.problem.loss.clip == 0.5
    assert call(capsys, "predict", store, "--data", data)["rows"] == 24
    call(capsys, "verify", store)
    paper, key, web = (str(tmp_path / name) for name in ("paper.json", "key.pem", "paper.html"))
    call(capsys, "keygen", key)
    call(capsys, "certificate", store, "--release", "3", "--key", key, "--out", paper, "--html", web)
    keys = [claim["key"] for claim in json.loads(Path(paper).read_text())["claims"]]
    assert {"published.kept", "left.base"} <= set(keys), (
        "the base was trained with what was erased, and is still in use"
    )
    assert "the models in use still carry it" in Path(web).read_text()
    call(capsys, "verify-certificate", paper, "--public-key", f"{key}.pub")
    call(capsys, "budget", store)
    call(capsys, "status", store)
    call(capsys, "plan", "--method", "staged:stages=network:4,network:2", "--out", plan)
    call(capsys, "relearn", store, "--plan", plan)


def test_stages_that_cannot_be_read_are_one_line(capsys) -> None:
    for text in ("network", "network:x", "tree:3,head", "network:1:2:3:4,head", "network:1:2:3,head", "moments:2"):
        assert main(["plan", "--records", "60", "--features", "4", "--method", f"ladder:stages={text}"]) == 2
        said = capsys.readouterr().err
        assert said.count("\n") == 1
        assert "stage" in said.lower() or "whole number" in said


# ---------------------------------------------------------------- honest refusals of waiting


def test_a_plan_that_does_not_contract_says_what_waiting_can_buy_and_what_does_forget():
    common = {"records": 200, "features": 4, "regularization": 0.01, "budget": BUDGET}
    tanh = losses.TanhNetwork(radius=1.0, outer_weights=(1.0, -1.0))
    plan = make_plan(tanh, method="noisy-gd:analysis=composition", **common)
    expansion = 1 + plan.calibration.step_size * (tanh.constants.weak_convexity - 0.01)
    text = plan.explain()
    assert f"c={expansion:.6g}" in text
    assert format_bound((math.log(2) - 0.5) / math.log(expansion)) in text
    assert "e^−" in text
    assert "method 'staged'" in text
    assert f"in {plan.calibration.learn_steps} passes" in text
    assert "clean steps forget nothing" in make_plan(LOSS, method="noisy-gd:analysis=composition", **common).explain()
    for contracting in (make_plan(losses.Logistic(1.0), method="noisy-gd", **common), plan_for()):
        assert "Waiting:" not in contracting.explain()


def test_theorem_5_2_refused_names_the_ladder():
    with pytest.raises(PlanInfeasible) as refused:
        make_plan(losses.Sigmoid(1.0), records=200, features=2, regularization=0.05, budget=BUDGET)
    assert any(way.startswith("'staged' (") and "no horizon" in way for way in refused.value.alternatives)
