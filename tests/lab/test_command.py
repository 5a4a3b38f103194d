"""The distribution beside the package: its version and its command."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

from noisygd_delete_lab import command, comparison

import noisygd_delete

PROJECT = tomllib.loads((Path(__file__).parents[2] / "packages" / "lab" / "pyproject.toml").read_text())["project"]


def test_the_lab_has_the_version_of_the_package() -> None:
    assert PROJECT["version"] == noisygd_delete.__version__
    assert f"noisygd-delete[sklearn]=={noisygd_delete.__version__}" in PROJECT["dependencies"]


def test_it_compares(monkeypatch, capsys) -> None:
    asked: dict[str, object] = {}

    def compared(setting, train, test, **options):
        asked.update(options, deletion=setting.deletion, records=train.slots)
        return []

    monkeypatch.setattr(command, "compare", compared)
    assert command.main(["compare", "--no-attack", "--deletion", "0.3", "--json"]) == 0
    answer = capsys.readouterr()
    assert json.loads(answer.out) == {"records": 1497, "features": 65, "rows": []}
    assert (asked["attack"], asked["deletion"], asked["records"]) == (False, 0.3, 1497)
    assert command.main(["compare", "--data", "x.csv"]) == 2
    assert capsys.readouterr().err.startswith("noisygd-delete-lab: give --data and --schema together")


def test_a_row_has_a_line(capsys, monkeypatch) -> None:
    row = comparison.ComparisonRow
    fields = dict.fromkeys(row.__dataclass_fields__, 1.0) | {"method": "retraining", "memory": 7, "deletion": None}
    monkeypatch.setattr(command, "compare", lambda *_, **__: [row(**fields)])
    assert command.main(["compare", "--no-attack"]) == 0
    assert "retraining" in capsys.readouterr().out
