"""What every plan of the bank promises: conditions as its facts are, and figures that hold for a learn and for a request, whatever their steps."""

from __future__ import annotations

import json
import math
import re
from dataclasses import MISSING, fields, is_dataclass, replace

import pytest

from noisygd_delete import Budget, losses
from noisygd_delete.errors import AssumptionViolated, InvalidParameter, NoisyGDDeleteError
from noisygd_delete.methods import METHODS, Stage, external_row_methods, method_variants, noisy_gd_paper, resolve_method
from noisygd_delete.methods.noisy_gd_gibbs import GibbsNoisyGD
from noisygd_delete.methods.plan import Method, without_options
from noisygd_delete.methods.sampled_steps import SampledSteps
from noisygd_delete.methods.serialization import problem_from_dict
from noisygd_delete.methods.specs import _parse_stages, format_spec, parse_spec
from noisygd_delete.privacy.budget import Total

from ..bank import FURTHER, PAIRS, PROBLEMS, plan_by

BANK = [*PROBLEMS, *FURTHER]
STEPPING = [
    name for name in BANK if not name.startswith(("objective", "staged", "sufficient"))
]  # by noisy steps of their own


def keys_of(mechanism) -> set[str]:
    return {key for key, _ in mechanism.conditions()}


@pytest.mark.parametrize("name", BANK)
def test_conditions_say_what_the_facts_say(name: str) -> None:
    mechanism = plan_by(name).mechanism
    keys = keys_of(mechanism)
    assert ("rows-in-place" in keys) == (name not in ("staged",) and "real-arithmetic" not in keys and not (
        mechanism.shows_order or name.startswith(("staged", "sufficient"))
    ))  # fmt: skip
    assert ("exact-steps" in keys) == (mechanism.exactness is not None if hasattr(mechanism, "exactness") else False)
    assert ("gaussian-noise" in keys) == ("real-arithmetic" in keys) == ("machine-trusted" not in keys)
    assert "row-shape" not in keys
    if hasattr(mechanism, "proven") and "gradient-norm" in keys and not name.startswith("staged"):
        for proven in (True, False):
            assert ("constants-declared" in keys_of(replace(mechanism, proven=proven))) != proven
        norm = dict(mechanism.conditions())["gradient-norm"]["lipschitz"]
        assert norm == mechanism.lipschitz == plan_by(name).problem.loss.constants.lipschitz
    if name.startswith("objective"):
        for shaped in (True, False):
            for in_place in (True, False):
                told = keys_of(replace(mechanism, shaped=shaped, in_place=in_place))
                assert ("row-shape" in told, "rows-in-place" in told) == (shaped, in_place)


@pytest.mark.parametrize("name", STEPPING)
@pytest.mark.parametrize(("learn", "request_"), [(1, 1), (2, 1), (1, 2)])
def test_the_dp_of_a_plan_holds_for_a_learn_and_for_a_request(name: str, learn: int, request_: int) -> None:
    """Also of a plan from a file, whose numbers of steps may be any."""
    plan = plan_by(name)
    base = max(1, min(plan.calibration.delete_steps, 50))
    numbers = replace(
        plan.calibration,
        learn_steps=learn * base,
        delete_steps_for_deletion=request_ * base,
        delete_steps_for_utility=0,
    )
    if name.startswith("output") and learn != request_:
        with pytest.raises(InvalidParameter, match="the same number of steps"):
            plan.method.assemble(plan.problem, numbers)
        return
    changed = plan.method.assemble(plan.problem, numbers)
    for steps in (learn * base, request_ * base):
        run = changed.mechanism
        alone = run.interval("dp", plan.problem.adjacency, steps_with=run.exposure(steps))
        assert changed.dp.epsilon(1e-6) >= alone.epsilon(1e-6) * (1 - 1e-9)
        assert changed.dp.delta(0.1) >= alone.delta(0.1) * (1 - 1e-9)
        assert changed.dp.advantage >= alone.advantage * (1 - 1e-9)


class Steep(losses.Logistic):
    """A loss without a Lipschitz constant."""

    @property
    def constants(self):
        return replace(super().constants, lipschitz=math.inf)


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_loss_without_a_lipschitz_constant_is_refused_by_every_method(name: str) -> None:
    plan = plan_by(name)
    Method.check_plan(plan.method, plan)
    steep = replace(plan, problem=replace(plan.problem, loss=Steep(radius=1.0)))
    with pytest.raises(InvalidParameter, match="no Lipschitz constant"):
        Method.check_plan(plan.method, steep)


def test_the_printed_risk_holds_from_the_least_steps_on() -> None:
    plan = plan_by("noisy-gd:analysis=paper, over the reals")
    problem, numbers = plan.problem, plan.calibration
    at = replace(numbers, step_size=noisy_gd_paper.theorem_5_1.step_size(
        regularization=problem.regularization, smoothness=problem.loss.constants.smoothness))  # fmt: skip

    def risk(learn: int, request: int) -> float:
        steps = {"learn_steps": learn, "delete_steps_for_deletion": request, "delete_steps_for_utility": 0}
        return noisy_gd_paper._printed_risk(replace(plan, calibration=replace(at, **steps)))

    many = 10**6
    assert risk(many, many) < math.inf
    least = [
        next(k for k in range(many) if risk(*pair(k)) < math.inf) for pair in (lambda k: (k, many), lambda k: (many, k))
    ]
    facts = {"smoothness": problem.loss.constants.smoothness, "regularization": problem.regularization, "dimension": problem.dimension,
             "rate": noisy_gd_paper.theorem_5_1.full_rate(sensitivity=2 * problem.loss.constants.lipschitz, regularization=problem.regularization,
                                                          noise_variance=numbers.noise_variance, records=problem.records)}  # fmt: skip
    assert least == [
        noisy_gd_paper.theorem_5_1.learn_steps_for_utility(records=problem.records, **facts),
        noisy_gd_paper.theorem_5_1.delete_steps_for_utility(batch=problem.batch, **facts),
    ]
    assert risk(least[0] - 1, many) == risk(many, least[1] - 1) == risk(0, 0) == math.inf


def wrong_values(value: object) -> list[object]:
    """What a fact of this kind can never be; a number of times is whole, and a text is one of a few words."""
    if isinstance(value, str):
        return ["no such word"]
    if isinstance(value, bool) or not isinstance(value, int | float):
        return []
    return [-1, -0.5, math.nan, math.inf, "3", True, *([1.5] if isinstance(value, int) else [])]


@pytest.mark.parametrize("name", BANK)
def test_a_fact_of_another_kind_is_refused(name: str) -> None:
    """Whoever states it: a ledger, a certificate of a stranger, a caller."""
    plan, tried = plan_by(name), 0
    stages = [stage.mechanism for stage in plan.calibration.stages]
    for facts in (plan.mechanism, getattr(plan.mechanism, "exact", None), plan.problem, *stages):
        for field in fields(facts) if is_dataclass(facts) else ():
            for wrong in wrong_values(getattr(facts, field.name)):
                tried += 1
                with pytest.raises(NoisyGDDeleteError):
                    replace(facts, **{field.name: wrong})
    assert tried > 60


@pytest.mark.parametrize("spec", method_variants())
def test_an_option_of_another_kind_is_refused(spec: str) -> None:
    kind = method_variants()[spec]
    for field in fields(kind):
        if field.init and ("int" in field.type or "float" in field.type):
            whole = [] if "float" in field.type else [1.5]
            for wrong in (-2, -0.5, math.nan, math.inf, "much", True, *whole):
                with pytest.raises(NoisyGDDeleteError):
                    kind(**{field.name: wrong})


@pytest.mark.parametrize("name", BANK)
def test_methods_for_rows_in_any_order_are_those_that_plan_with_them(name: str) -> None:
    problem = plan_by(name).problem
    told, works = external_row_methods(problem), []
    for kind, made in METHODS.items():
        try:
            works += [kind] * (
                made().allow_any_order().check_any_order(problem, "") is None
                and "in_place" in {f.name for f in fields(made)}
            )
        except (NoisyGDDeleteError, AttributeError):
            continue
    assert told == (f"plan with method {' or '.join(map(repr, works))}" if works else told)
    assert told.startswith("plan with method") == bool(works)


def test_the_order_that_a_caller_asks_of_theorem_5_2_is_the_one_that_is_planned() -> None:
    plan = plan_by("noisy-gd:analysis=theorem-5-2")
    problem = replace(plan.problem, budget=PAIRS)
    for order in (1.5, 3.0):
        assert (
            GibbsNoisyGD(order=order)._orders(PAIRS)
            == GibbsNoisyGD(order=order)._orders(plan.problem.budget)
            == [order]
        )
    assert GibbsNoisyGD()._orders(plan.problem.budget) == [plan.problem.budget.order]
    assert len(GibbsNoisyGD()._orders(problem.budget)) > 5
    with pytest.raises(InvalidParameter, match="one Rényi order"):
        GibbsNoisyGD(order=3.0)._orders(Budget.from_gdp(dp=1.0, deletion=0.1))


def test_a_stage_has_at_most_three_numbers() -> None:
    for text, stage in (
        ("network:20", Stage("network", 20)), ("head", Stage("head")), ("network:7:0.25", Stage("network", 7, 0.25)),
        (" network:7:0.25:0.5", Stage("network", 7, 0.25, sampling_rate=0.5)),
    ):  # fmt: skip
        assert _parse_stages(text) == (stage,)
        assert _parse_stages(f"{text},head") == (stage, Stage("head"))
    for text in ("network:7:0.25:0.5:1", "network:1.5", "network:7:much", "other:3"):
        with pytest.raises(InvalidParameter, match="stages: "):
            _parse_stages(text)


@pytest.mark.parametrize("name", BANK)
def test_a_problem_is_read_as_it_was_written(name: str) -> None:
    """With every field; the two of weights by person are left out where they say nothing."""
    problem = plan_by(name).problem
    own = {field.name for field in fields(problem)}
    assert set(problem.to_dict()) == own - {"weighting", "rows_a_person"}
    others = {
        "rows_a_person": 1.5,
        "total": Total(3.0, 1e-7, order=4.0),
        "utility_tolerance": 2.0,
        "feature_map": "ab" * 32,
        "model_norm": 2.0,
    }
    for changed in (problem, replace(problem, **others), replace(problem, rows_per_subject=3, rows_a_person=2.0)):
        told = json.loads(json.dumps(changed.to_dict()))
        assert ("rows_a_person" in told) == (changed.rows_a_person != 1)
        assert problem_from_dict(told) == changed
        for missing in ("loss", "records", "features", "regularization", "budget", "method"):
            with pytest.raises(InvalidParameter):
                problem_from_dict({key: value for key, value in told.items() if key != missing})
        with pytest.raises(InvalidParameter):
            problem_from_dict({**told, "more": 1})


@pytest.mark.parametrize("name", BANK)
def test_options_are_left_out_one_by_one(name: str) -> None:
    method = plan_by(name).method
    usual = {field.name: field.default for field in fields(method) if field.init and field.default is not MISSING}
    for option, value in usual.items():
        try:
            found = without_options(method, option, "no option of any")
        except InvalidParameter:
            continue  # the others do not go with it
        assert getattr(found, option) == value
        assert all(getattr(found, other) == getattr(method, other) for other in usual if other != option)


def test_a_field_without_a_name_or_without_a_sign_is_refused() -> None:
    assert parse_spec("method", "noisy-gd:step=") == ("noisy-gd", {"step": ""})
    for text in ("noisy-gd:step", "noisy-gd:=3"):
        with pytest.raises(InvalidParameter, match="must be FIELD=VALUE"):
            parse_spec("method", text)


@pytest.mark.parametrize("name", BANK)
def test_a_release_of_steps_that_no_run_takes_is_refused(name: str) -> None:
    plan = plan_by(name)
    runs = {plan.calibration.learn_steps, plan.calibration.delete_steps}
    for steps in runs:
        plan.mechanism.check(steps)
    of_any_steps = name.startswith(("noisy-gd", "output"))
    for wrong in {0} if name.startswith("output") else set() if of_any_steps else {max(runs) + 1, 10**6}:
        with pytest.raises(InvalidParameter):
            plan.mechanism.check(wrong)


@pytest.mark.parametrize("name", ["noisy-gd", "noisy-gd:analysis=paper", "output-perturbation"])
def test_the_method_that_a_refusal_names_covers_rows_in_any_order(name: str) -> None:
    problem = plan_by("noisy-gd").problem
    with pytest.raises(InvalidParameter) as refused:
        resolve_method(name, exact=False).check_any_order(problem, "")
    (named,) = re.findall(r"plan with (\S+), or", str(refused.value))
    assert resolve_method(named) == resolve_method(name, exact=True)
    resolve_method(named).check_any_order(problem, "")


@pytest.mark.parametrize("name", [name for name in BANK if "composition" not in name])
def test_a_plan_for_a_loss_that_its_method_does_not_cover_is_refused(name: str) -> None:
    plan = plan_by(name)
    plan.method.check_plan(plan)
    network = losses.MultilayerPerceptron(radius=1.0)
    other = network if plan.problem.loss.constants.convex else losses.Logistic(radius=1.0)
    with pytest.raises((InvalidParameter, AssumptionViolated)):
        plan.method.check_plan(replace(plan, problem=replace(plan.problem, loss=other, dtype="float64")))


def test_persons_may_share_a_weight_where_a_bound_covers_that() -> None:
    """Convex losses of linear models; for objective perturbation those of one direction a row; for sums any."""
    one, several = losses.Logistic(1.0), losses.Softmax(1.0, classes=3)
    others = [losses.Sigmoid(1.0), losses.MultilayerPerceptron(1.0)]
    for spec, kind in method_variants().items():
        covered = [kind().covers_weights(loss) for loss in (one, several, *others)]
        assert covered == {
            "noisy-gd": [True, True, False, False],
            "output-perturbation": [True, True, False, False],
            "objective-perturbation": [True, False, False, False],
            "sufficient-statistics": [True] * 4,
        }.get(spec, [False] * 4), spec


def test_a_run_on_samples_takes_its_passes_and_no_other_number() -> None:
    sampled = SampledSteps(records=2000, sampling_rate=0.01, draws=300, noise_multiplier=2.0)
    sampled.check(3)
    for wrong in (2, 4, 300):
        with pytest.raises(InvalidParameter, match="must be 3"):
            sampled.check(wrong)


@pytest.mark.parametrize("fields_", [{}, {"solver": "cold"}, {"diffusion_steps": 40, "exact": True, "step_size": 0.5}])
def test_a_text_for_a_method_is_read_as_it_was_written(fields_: dict) -> None:
    assert parse_spec("method", format_spec("output-perturbation", fields_)) == ("output-perturbation", fields_)


def test_a_run_on_samples_counts_as_one_step_whatever_its_passes() -> None:
    sampled = SampledSteps(records=2000, sampling_rate=0.01, draws=300, noise_multiplier=2.0)
    assert sampled.passes == 3
    assert {sampled.exposure(steps) for steps in (1, 3, 70)} == {1}
