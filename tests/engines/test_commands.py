"""From `init --engine` to the certificate, with rows that only workers hold."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from noisygd_delete.store import Store, verify
from tests.cli.planned import main

from .conftest import FILES, SCHEMA_FILE, SLOTS, N, Start, name, table, written
from .test_engines import holding, pytestmark

__all__ = ["pytestmark"]

PLAN = ("--method", "objective-perturbation", "--regularization", "0.05", "--no-utility", "--slots", str(SLOTS))


def answer(capsys, *arguments: str, status: int = 0):
    capsys.readouterr()
    assert main([*arguments, "--json"]) == status
    return json.loads(capsys.readouterr().out)


def delete_in_the_application(folder: Path, gone: int) -> None:
    import pyarrow
    from pyarrow import parquet

    people = table()
    kept = pyarrow.concat_tables([people.slice(0, gone), people.slice(gone + 1, N // FILES - gone - 1)])
    parquet.write_table(kept, folder / "000.parquet")


@pytest.mark.parametrize("engine", ["ray", "spark"])
def test_from_init_to_the_certificate(engine: str, short_folder: Path, start: Start, capsys, monkeypatch) -> None:
    start(engine)
    monkeypatch.chdir(short_folder)
    folder = written(short_folder / "files")
    Path("schema.toml").write_text(SCHEMA_FILE)
    where = ["--source", str(folder), "--engine", engine, "--schema", "schema.toml"]
    made = answer(capsys, "init", "store", *where, *PLAN)
    assert (made["created"], made["engine"], made["slots"]) == (True, engine, SLOTS)
    assert answer(capsys, "learn", "store")["release"] == 1
    delete_in_the_application(folder, 17)
    assert answer(capsys, "publish", "store", "--erased", "1", "--request-id", "r")["release"] == 2
    answer(capsys, "keygen", "key.pem")
    answer(capsys, "certificate", "store", "--request-id", "r", "--key", "key.pem", "--out", "paper.json")
    assert not {"ray", "spark"} & set(re.findall("[a-z]+", Path("paper.json").read_text())), "papers do not know which"
    answer(capsys, "verify-certificate", "paper.json", "--public-key", "key.pem.pub")
    assert verify("store").passed
    assert holding([Path("store")], [name(k).encode() for k in (0, 17, N - 1)]) == []
    with Store.open("store") as store:
        assert store.source is not None
        assert store.source.to_dict()["engine"] == engine
        assert np.isfinite(store.model.weights).all()
