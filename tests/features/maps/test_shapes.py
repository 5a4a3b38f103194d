"""What an additive model says, column by column: the curves are the model, the band is the noise, and files read back."""

from __future__ import annotations

import json
import math
import re

import numpy as np
import pandas as pd
import pytest

from noisygd_delete import Budget, NoisyGDClassifier, Records, Store, learn, losses, maps, methods
from noisygd_delete.errors import InvalidParameter
from noisygd_delete.estimators import make_mapped_pipeline
from noisygd_delete.features.maps import Shapes, catalogue
from noisygd_delete.reports.shapes import shapes_of, shapes_page, shapes_picture
from tests.bank import sized_plan
from tests.cli.planned import main

MAP = maps.Additive(columns=(0, 3, 0), gaps=(2,), levels=4)
SCHEMA = """
rows = "unit"
intercept = true
[label]
column = "paid"
classes = ["no", "yes"]
[columns.age]
bounds = [10, 90]
[columns.town]
categories = ["a", "b<script>"]
unknown = "column"
[columns.sum]
bounds = [0, 1000]
transform = "log1p"
missing = "column"
"""


def raw_rows(rows: int, seed: int = 0) -> np.ndarray:
    generator = np.random.default_rng(seed)
    made = np.zeros((rows, MAP.inputs))
    made[:, 0], made[:, 4] = generator.uniform(-1, 1, (2, rows))
    made[np.arange(rows), 1 + generator.integers(0, 3, rows)] = 1
    made[:, 5] = generator.random(rows) < 0.2
    made[made[:, 5] > 0, 4] = 0
    return made


def test_a_score_is_the_constant_and_one_value_of_each_column() -> None:
    weights, inputs = np.random.default_rng(1).standard_normal(MAP.width + 1), raw_rows(50)
    made = Shapes.of(MAP, weights, noise=0.1, unit="score")
    shapes = {shape.name: shape for shape in made.shapes}
    scores = MAP.rows(inputs) @ weights
    for row, score in zip(inputs, scores, strict=True):
        total = made.constant + shapes["column 1"].values[row[1:4].argmax()]
        for name, at in (("column 0", 0), ("column 2", 4)):
            shape = shapes[name]
            if at == 4 and row[5]:
                total += shape.missing
            else:
                total += shape.values[min(np.searchsorted(shape.edges, row[at], side="right") - 1, 15)]
        assert total == pytest.approx(score, abs=1e-5)
    assert all(abs(sum(shape.values)) < 1e-9 for shape in shapes.values())
    assert [shape.importance for shape in made.shapes] == sorted((s.importance for s in made.shapes), reverse=True)


@pytest.mark.parametrize("chain", [1, 3])
def test_the_band_is_the_noise_where_no_row_lies(chain: int) -> None:
    """A table of one record in 400 slots: what curves say is noise. Its deviation is the band's, to what the sample shows; the
    planted fault, a chain taken for one minimiser, would be √3 off."""
    plan = sized_plan(
        losses.Logistic(1.0),
        400,
        MAP.width + 1,
        0.5,
        Budget.from_gdp(dp=1.0, deletion=0.1),
        method=methods.ObjectivePerturbation(chain=chain),
    )
    records = Records(MAP.rows(raw_rows(1)), [1.0], slots=400)
    noise, drawn = plan.outlook.weight_deviation, []
    for seed in range(150):
        model = learn(records, plan, np.random.default_rng(seed))
        shapes = Shapes.of(MAP, model.weights, noise=noise, unit="log odds").shapes
        drawn.append(next(shape for shape in shapes if shape.name == "column 0").values)
    bound = Shapes.of(MAP, model.weights, noise=noise, unit="log odds").noise
    deviation = np.array(drawn).std(axis=0).mean()
    assert 0.7 * bound < deviation < 1.05 * bound  # the mean that is taken off takes some of it along
    steps = sized_plan(losses.Logistic(1.0), 400, 9, 0.5, Budget(order=4, dp=1.0, deletion=0.5), method="noisy-gd")
    assert steps.outlook.weight_deviation == pytest.approx(
        math.sqrt(steps.calibration.noise_variance / (0.5 * (1 - steps.calibration.step_size / 4)))
    )


def test_the_band_of_a_chain_that_may_curve_away_holds_its_noise() -> None:
    """Sigmoid's rows may bend the objective by −β₋: the pull towards the model before is then handed on more than once over."""
    plan = sized_plan(
        losses.Sigmoid(1.0),
        400,
        3,
        0.5,
        Budget(order=4, dp=1.0, deletion=0.5),
        method=methods.ObjectivePerturbation(chain=3),
    )
    convexity, variance = plan.problem.strong_convexity, 0.0
    assert convexity < 0.45
    for _ in range(3):
        own = (
            plan.calibration.linear_term / (plan.problem.records * convexity)
        ) ** 2 + plan.calibration.output_noise**2
        variance = (0.5 / convexity) ** 2 * variance + own
    assert plan.outlook.weight_deviation == pytest.approx(math.sqrt(variance))


def a_store(path, *plan: str, rows: int = 300) -> Store:
    generator = np.random.default_rng(3)
    (path / "schema.toml").write_text(SCHEMA + '\n[map]\nkind = "additive"\nlevels = 4\n')
    table = pd.DataFrame(
        {
            "id": np.arange(rows),
            "age": generator.integers(10, 90, rows),
            "town": generator.choice(["a", "b<script>", "x"], rows),
            "sum": [None if one < 50 else one for one in generator.integers(0, 1000, rows)],
        }
    )
    table["paid"] = np.where(table["age"] > 40, "yes", "no")
    table.to_csv(path / "rows.csv", index=False)
    made = [
        "init",
        str(path / "s"),
        "--data",
        str(path / "rows.csv"),
        "--schema",
        str(path / "schema.toml"),
        "--id",
        "id",
    ]
    assert (
        main([*made, *(plan or ("--method", "objective-perturbation")), "--dp", "5", "--regularization", "0.05"]) == 0
    )
    assert main(["learn", str(path / "s")]) == 0
    return Store.open(path / "s")


def test_a_store_says_what_its_model_says(tmp_path, capsys) -> None:
    store = a_store(tmp_path)
    shapes = shapes_of(store)
    store.close()
    named = {shape.name: shape for shape in shapes.shapes}
    assert set(named) == {"age", "town", "sum"}
    assert (named["age"].edges[0], named["age"].edges[-1]) == (10, 90)
    assert named["sum"].edges[-1] == pytest.approx(1000)
    assert named["sum"].missing is not None
    assert named["town"].labels == ("a", "b<script>", "other")
    assert shapes.unit == "log odds of paid = yes"
    assert Shapes.from_dict(json.loads(json.dumps(shapes.to_dict()))) == shapes
    page = shapes_page(shapes, "Shapes", shapes)
    assert "<script" not in page
    assert "b&lt;script&gt;" in page
    assert "0.0 deviations" in page
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", page)
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    assert shapes_picture(shapes, shapes).startswith(b"\x89PNG")
    capsys.readouterr()


def test_the_command_lays_a_deletion_over_what_was_before(tmp_path, capsys) -> None:
    a_store(tmp_path).close()
    place, before = str(tmp_path / "s"), str(tmp_path / "before.json")
    assert main(["explain", place, "--out", before]) == 0
    assert main(["delete", place, "7"]) == 0
    capsys.readouterr()
    for ending in ("html", "png"):
        assert main(["explain", place, "--before", before, "--out", str(tmp_path / f"after.{ending}")]) == 0
    told = capsys.readouterr().out
    assert "deviations of what the noise" in told
    assert "release 1" in (tmp_path / "after.html").read_text()
    assert main(["explain", place, "--before", before, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["release"] == 2
    assert answer["farthest"] < 6  # fresh noise, nothing that points at anybody
    for wrong in ("after.pdf", "after"):
        assert main(["explain", place, "--out", str(tmp_path / wrong)]) == 2
    (tmp_path / "other.json").write_text('{"kind": "shapes"}')
    assert main(["explain", place, "--before", str(tmp_path / "other.json")]) == 2
    assert "no shapes" in capsys.readouterr().err


def test_a_model_of_columns_is_refused_with_what_to_do(tmp_path, capsys) -> None:
    (tmp_path / "schema.toml").write_text(SCHEMA)
    pd.DataFrame({"age": [20, 50] * 20, "town": ["a"] * 40, "sum": [1] * 40, "paid": ["no", "yes"] * 20}).to_csv(
        tmp_path / "rows.csv", index=False
    )
    made = [
        "init",
        str(tmp_path / "s"),
        "--data",
        str(tmp_path / "rows.csv"),
        "--schema",
        str(tmp_path / "schema.toml"),
    ]
    assert main([*made, "--method", "objective-perturbation", "--dp", "5", "--regularization", "0.5"]) == 0
    assert main(["learn", str(tmp_path / "s")]) == 0
    assert main(["explain", str(tmp_path / "s")]) == 2
    assert "--map additive" in capsys.readouterr().err


def test_curves_of_sums_are_refused_with_the_reason(tmp_path, capsys) -> None:
    with pytest.raises(InvalidParameter, match="no bound on the noise"):
        Shapes.of(MAP, np.zeros(MAP.width + 1), noise=math.inf, unit="score")
    a_store(tmp_path, "--method", "sufficient-statistics", "--releases", "4").close()
    assert main(["explain", str(tmp_path / "s")]) == 2
    assert "no bound on the noise" in capsys.readouterr().err


def test_an_estimator_explains_itself() -> None:
    generator = np.random.default_rng(0)
    table = pd.DataFrame({"age": generator.uniform(-1, 1, 400), "sum": generator.uniform(-1, 1, 400)})
    labels = (table["age"] > 0).astype(int)
    model = make_mapped_pipeline(
        maps.Additive((0, 0), levels=3),
        NoisyGDClassifier(
            method="objective-perturbation", regularization=0.02, budget=Budget(order=4, dp=8.0, deletion=1.0)
        ),
    )
    shapes = model.fit(table, labels).explain()
    assert {shape.name for shape in shapes.shapes} == {"column 0", "column 1"}
    first = shapes.shapes[0].values
    assert np.mean(first[4:]) > np.mean(first[:4])
    with pytest.raises(InvalidParameter, match="additive"):
        make_mapped_pipeline(maps.BinsAndCrosses((0, 0)), NoisyGDClassifier(method="objective-perturbation")).explain()


@pytest.mark.parametrize("fact", [{"noise": math.inf}, {"noise": -1.0}, {"constant": math.nan}, {"release": 1e999}])
def test_numbers_of_a_file_that_no_model_has_are_refused(fact) -> None:
    made = Shapes.of(MAP, np.ones(MAP.width), noise=0.1, unit="score").to_dict()
    with pytest.raises(InvalidParameter):
        Shapes.from_dict(made | fact)


def test_a_band_is_written_rounded_up() -> None:
    made = Shapes.of(MAP, np.ones(MAP.width), noise=0.101, unit="score")
    assert float(re.findall(r"±([\d.]+)", made.caption())[0]) >= 2 * made.noise


def test_every_map_is_found_under_its_own_name() -> None:
    assert {name: kind.kind for name, kind in catalogue.KINDS.items()} == {name: name for name in catalogue.KINDS}
