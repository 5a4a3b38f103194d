"""Typed cells and every spelling of their texts predict the same: in this package, in model.py, in the graph and in MLflow.

The oracle is the record itself: it is drawn first, written plainly once, and then as odd as a database, pandas or a person would write it.
"""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

from noisygd_delete import Model, Schema, losses
from noisygd_delete.errors import InvalidSchema
from noisygd_delete.features.schema import published as reader
from noisygd_delete.features.schema.cells import write_text
from noisygd_delete.features.schema.files import Table, read_table
from noisygd_delete.features.schema.spelling import make_spelling_patterns
from noisygd_delete.store.artifact import Artifact
from noisygd_delete.store.disk import Disk

ROWS = 2_000
COLUMNS = {
    "letters": {"boolean": ["f", "t"]},
    "words": {"boolean": ["True", "False"]},
    "digits": {"boolean": ["0", "1"], "unknown": "column"},
    "pair": {"categories": ["yes", "no"]},
    "grade": {"categories": ["1", "2", "3.5"], "unknown": "zero"},
    "sure": {"categories": ["a b", "ß", "10"], "unknown": "refuse"},
    "age": {"bounds": [0, 100]},
    "euro": {"bounds": [0, 5000], "decimal": ",", "thousands": ".", "unit": "€", "missing": "column"},
}
MOMENTS = {"since": {"dates": ["2013-01-01", "2014-12-31"], "cycles": ["day", "week"], "missing": "column"}}
SAYS = {
    False: [
        *["f", "F", "false", "False", "FALSE", "no", "n", "N", "off", "0", "0.0", "0."],
        " f ",
        "\tNo\n",
        "\u00a0false",
    ],
    True: [*["t", "T", "true", "True", "TRUE", "yes", "Y", "on", "1", "1.0", "1.00"], " t", "yes \u3000"],
}
TYPED = {
    False: [False, np.False_, 0, np.int64(0), 0.0, Decimal("0.0")],
    True: [True, np.True_, 1, np.int8(1), 1.0, Decimal(1)],
}
PLAIN = {"letters": "ft", "words": ["False", "True"], "digits": "01", "pair": ["no", "yes"]}
GRADES = {"1": ["1.0", "1.", " 1.000"], "2": ["2.0", "2 "], "3.5": ["3.50", "\n3.5"], "4": ["4.0", "?"]}
NUMBERS_OF_GRADES = {
    "1": [1, 1.0, np.int64(1), Decimal("1.00")],
    "2": [2, 2.0],
    "3.5": [3.5, Decimal("3.50"), np.float32(3.5)],
    "4": [4, 4.0],
}
SURE = {"a b": [" a b", "a b\t"], "ß": ["ß\u2003", "ß"], "10": ["10.0", "10.", " 10"]}
NUMBERS_OF_SURE = {"10": [10, 10.0, np.float32(10)]}
MISSING = ("", " ", "\t", None, float("nan"))


def drawn(seed: int = 11) -> tuple[dict[str, list[str]], dict[str, list], dict[str, list]]:
    """The same records three times: plain texts, odd texts, typed values."""
    chance, zone = random.Random(seed), timezone(timedelta(hours=-5, minutes=-30))
    plain, odd, typed = ({name: [] for name in (*COLUMNS, *MOMENTS)} for _ in range(3))
    for _ in range(ROWS):
        for name, words in PLAIN.items():
            truth = chance.random() < 0.5
            plain[name].append(words[truth])
            odd[name].append(chance.choice(SAYS[truth]))
            typed[name].append(chance.choice(TYPED[truth]))
        if chance.random() < 0.1:
            plain["digits"][-1], odd["digits"][-1], typed["digits"][-1] = "", " ", chance.choice((None, float("nan")))
        for name, texts, numbers in (("grade", GRADES, NUMBERS_OF_GRADES), ("sure", SURE, NUMBERS_OF_SURE)):
            value = chance.choice(list(texts))
            plain[name].append(value)
            odd[name].append(chance.choice(texts[value]))
            typed[name].append(chance.choice(numbers.get(value, texts[value])))
        age = chance.randint(-3, 110)
        plain["age"].append(str(age))
        odd["age"].append(chance.choice([f" {age}", f"{age}.0", f"{age}.", f"{age}e0"]))
        typed["age"].append(chance.choice([age, float(age), np.int32(age), Decimal(age)]))
        cents = chance.randint(0, 700_000)
        gap = chance.random() < 0.1
        plain["euro"].append("" if gap else f"{cents // 100},{cents % 100:02d}")
        odd["euro"].append(
            chance.choice(["", "  "])
            if gap
            else chance.choice([" ", "€", "€ "]) + f"{cents // 100:,}".replace(",", ".") + f",{cents % 100:02d} "
        )
        typed["euro"].append(None if gap else chance.choice([cents / 100, Decimal(cents) / 100]))
        at = datetime(2013, 1, 1, tzinfo=UTC) + timedelta(minutes=chance.randint(-9000, 1_100_000))
        plain["since"].append(at.strftime("%Y-%m-%d %H:%M"))
        written = [at.isoformat(), at.replace(tzinfo=zone).isoformat()]
        written += [at.strftime(" %Y-%m-%dT%H:%MZ "), at.strftime("%Y-%m-%d %H:%M+00")]
        odd["since"].append(chance.choice(written))
        typed["since"].append(
            chance.choice([at, at.astimezone(zone), at.replace(tzinfo=None), np.datetime64(at.replace(tzinfo=None))])
        )
    return plain, odd, typed


def published(tmp_path: Path, columns: dict) -> tuple[Schema, Model, Artifact, reader.PublishedModel]:
    of = Schema.from_dict({"label": {"column": "y", "classes": ["no", "yes"]}, "columns": columns})
    weights = np.random.default_rng(3).normal(size=of.features)
    made = Model(weights=weights, loss=losses.Logistic(1.0), certified=True)
    artefact = Artifact(1, "0" * 64, b"", made, of)
    (tmp_path / "model.json").write_bytes(artefact.files["model.json"])
    return of, made, artefact, reader.load(str(tmp_path / "model.json"))


def scores(made: Model, of: Schema, table: Table) -> np.ndarray:
    encoded = of.for_predictions().encode(table, labelled=False)
    return encoded.rows @ made.weights


def test_odd_rows_predict_the_same_typed_and_as_text(tmp_path: Path) -> None:
    pandas, parquet = pytest.importorskip("pandas"), pytest.importorskip("pyarrow.parquet")
    import pyarrow

    of, made, _, plain_model = published(tmp_path, COLUMNS | MOMENTS)
    plain, odd, typed = drawn()
    wanted = scores(made, of, Table("plain", plain, range(ROWS)))
    assert len({float(score) for score in wanted}) > ROWS / 2
    pandas.DataFrame(odd).to_csv(tmp_path / "odd.csv", index=False)
    exact = {"rtol": 0, "atol": 1e-6}
    np.testing.assert_allclose(scores(made, of, read_table(tmp_path / "odd.csv")), wanted, **exact)
    for given in (plain, odd, typed, pandas.DataFrame(typed, dtype=object), pandas.DataFrame(odd, dtype="string")):
        np.testing.assert_allclose(plain_model.scores(given)[:, 0], wanted, **exact)
    columns = {
        name: pyarrow.array([bool(text in ("t", "True", "1", "yes")) if text else None for text in plain[name]])
        for name in PLAIN
    }
    columns |= {name: pyarrow.array([float(text) for text in plain[name]]) for name in ("grade", "age")}
    columns["sure"] = pyarrow.array(odd["sure"])
    columns["euro"] = pyarrow.array(
        [None if value is None else Decimal(str(value)) for value in typed["euro"]], pyarrow.decimal128(9, 2)
    )
    columns["since"] = pyarrow.array(
        [datetime.fromisoformat(text + "+00:00") for text in plain["since"]], pyarrow.timestamp("us", "Asia/Tokyo")
    )
    parquet.write_table(pyarrow.table(columns), tmp_path / "typed.parquet")
    np.testing.assert_allclose(scores(made, of, read_table(tmp_path / "typed.parquet")), wanted, **exact)
    frame = pandas.read_parquet(tmp_path / "typed.parquet")
    np.testing.assert_allclose(plain_model.scores(frame)[:, 0], wanted, **exact)


def test_no_number_is_a_missing_value_whatever_kept_it(tmp_path: Path) -> None:
    """A file of typed columns may hold NaN beside its own missing values: both are what pandas makes of them."""
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    columns = {"age": {"bounds": [0, 100], "missing": "column"}, "code": {"hashed": 16}}
    of, made, _, plain_model = published(tmp_path, columns)
    cells = [1.5, None, float("nan"), 7.0]
    given = dict.fromkeys(columns, cells)
    parquet.write_table(
        pyarrow.table({name: pyarrow.array(cells, pyarrow.float64()) for name in columns}), tmp_path / "t.parquet"
    )
    found = scores(made, of, read_table(tmp_path / "t.parquet"))
    np.testing.assert_allclose(found, plain_model.scores(given)[:, 0], rtol=0, atol=1e-6)
    assert found[1] == found[2]
    assert [write_text(cell) for cell in (*cells, Decimal("NaN"), np.float64("nan"))] == ["1.5", "", "", "7.0", "", ""]


def test_the_graph_predicts_the_same_of_them(tmp_path: Path) -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    of, made, artefact, _ = published(tmp_path, COLUMNS)
    plain, odd, typed = drawn(12)
    wanted = scores(made, of, Table("plain", plain, range(ROWS)))
    session = onnxruntime.InferenceSession(artefact.files["model.onnx"], providers=["CPUExecutionProvider"])
    for given in (plain, odd, typed):
        inputs = {}
        for name, cells in given.items():
            if name in ("age", "euro"):
                numbers = [float(cell) if name == "age" else euros(cell) for cell in cells]
                inputs[name] = np.array(numbers)[:, None]
            elif name in COLUMNS:
                texts = ["" if cell is None or str(cell) == "nan" else str(cell) for cell in cells]
                inputs[name] = np.array(texts, object)[:, None]
        (found,) = session.run(["scores"], inputs)
        np.testing.assert_allclose(found[:, 0], wanted, rtol=0, atol=1e-6)


def euros(cell: object) -> float:
    if cell is None or (isinstance(cell, str) and not cell.strip()):
        return float("nan")
    return float(cell.strip(" €").replace(".", "").replace(",", ".")) if isinstance(cell, str) else float(cell)


@pytest.mark.parametrize("cell", ["?", "2", "maybe", "tt", "t f", "1.01", "-1", "None"])
def test_a_boolean_that_is_neither_value_raises_everywhere(cell: str, tmp_path: Path) -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    of, made, artefact, plain_model = published(tmp_path, {"letters": {"boolean": ["f", "t"]}})
    given = {"letters": ["t", cell, ""]}
    with pytest.raises(InvalidSchema, match="letters"):
        scores(made, of, Table("test", given, range(3)))
    with pytest.raises(ValueError, match="letters"):
        plain_model.predict(given)
    session = onnxruntime.InferenceSession(artefact.files["model.onnx"], providers=["CPUExecutionProvider"])
    label, odds = session.run(["label", "probabilities"], {"letters": np.array(given["letters"], object)[:, None]})
    assert label.tolist()[1] == ""
    assert np.isnan(odds[1]).all()
    assert np.isfinite(odds[[0, 2]]).all()


def test_a_column_of_which_nothing_is_listed_raises(tmp_path: Path) -> None:
    of, _, _, plain_model = published(tmp_path, {"city": {"categories": ["Berlin", "Paris"]}})
    given = {"city": ["berlin"] * 60}
    encoded = of.for_predictions().encode(Table("test", given, range(60)), labelled=False)
    with pytest.raises(InvalidSchema, match="city"):
        of.check_listed(encoded)
    with pytest.raises(ValueError, match="city"):
        plain_model.predict(given)
    given["city"][7] = "Paris"
    assert len(plain_model.predict(given)) == 60


@pytest.mark.parametrize(
    ("listed", "text", "place"),
    [
        (("t", "f"), "1", 0),
        (("n", "y"), "ON", 1),
        (("n", "y", "?"), "yes", 3),  # a third value: what no means there is not known
        (("0", "1", "2"), "true", 3),
        (("3", "3.0"), "3.00", 2),  # two texts that are listed both mean themselves
        (("3", "3.0"), "3.0", 1),
        (("007", "8"), "7", 2),  # a code is no number
        (("-1", "1"), "-1.0", 0),
        (("1.50", "2"), "1.5", 0),
        (("a.c", "x"), "abc", 2),
    ],
)
def test_what_another_spelling_means(listed: tuple[str, ...], text: str, place: int) -> None:
    import re

    of = Schema.from_dict({"label": {"column": "y", "bounds": [0, 1]}, "columns": {"c": {"categories": list(listed)}}})
    found = of.columns["c"].positions(Table("test", {"c": [text]}, [1]), "c")
    assert found.tolist() == [place]
    matched = [number for number, one in enumerate(make_spelling_patterns(listed)) if re.fullmatch(one, text)]
    assert len(matched) <= 1


@pytest.mark.filterwarnings("ignore")
def test_mlflow_predicts_the_same_of_them_and_says_what_it_takes(tmp_path: Path) -> None:
    mlflow, pandas = pytest.importorskip("mlflow", reason="make publishers"), pytest.importorskip("pandas")
    from noisygd_delete_server.publishers.registry import Registry

    of, made, artefact, _ = published(tmp_path, COLUMNS | MOMENTS)
    tracking = f"sqlite:///{tmp_path / 'mlflow.db'}"
    Registry(tracking, "people", "production", "0123", Disk()).put(artefact)
    mlflow.set_tracking_uri(tracking)
    mlflow.set_registry_uri(tracking)
    loaded = mlflow.pyfunc.load_model("models:/people@production")
    assert loaded.metadata.get_input_schema().input_names() == list(of.columns)
    assert loaded.metadata.get_output_schema().input_types() == [mlflow.types.DataType.string]
    assert loaded.predict(loaded.input_example)[0] in ("no", "yes")
    plain, odd, typed = drawn()
    wanted = of.decode(made.predict(of.encode(Table("plain", plain, range(ROWS)), labelled=False).rows))
    assert len(set(wanted)) == 2
    for given in (plain, odd, typed):
        assert list(loaded.predict(pandas.DataFrame(given, dtype=object))) == wanted
    inferred = pandas.DataFrame(typed)  # bool, object, float64 as pandas chooses
    assert list(loaded.predict(inferred)) == wanted
    with pytest.raises(Exception, match="letters"):
        loaded.predict(inferred.drop(columns="letters"))
