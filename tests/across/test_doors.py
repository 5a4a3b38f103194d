"""Doors by which a request reaches a row, and what holds at each of them: identity, ambiguity, limits, counts.

| property  | what holds at every door                                                              |
|-----------|---------------------------------------------------------------------------------------|
| identity  | a name erases the row of that very name, and no other                                 |
| ambiguity | a name that only reads alike is refused and erases nobody; where an operator asks, a hint says that a similar name is there |
| limits    | an id of more than 1,000 characters is refused before anything is erased              |
| counts    | the answer says how many rows this request erased; of a request all is done, or nothing |

`docs/table.md` has these for users.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from noisygd_delete_sources import source_at

from noisygd_delete import EditRequest, NoisyGDClassifier
from noisygd_delete.errors import InvalidRequest, NoisyGDDeleteError, UnknownName
from noisygd_delete.features.schema import Schema
from noisygd_delete.store import Store
from tests.cli.planned import main
from tests.sources.conftest import learned, plan
from tests.store.conftest import memory_folder

pandas = pytest.importorskip("pandas")
pyarrow = pytest.importorskip("pyarrow")
pytest.importorskip("sklearn")

ROWS, LONG = 60, "x" * 1001
# names of the table, and spellings of them that are nobody's
ALIKE = {
    "Ana@Example.org": ["ana@example.org", "Ana@Example.org\u200b", "\ufeffAna@Example.org"],
    "00123": ["123", "0123", "123.0", "１２３"],
    "+49 151 000000": ["+49151000000", "0049 (151) 000-000"],
    "6f9619ff-8b86-d011-b42d-00c04fc964ff": ["6F9619FF-8B86-D011-B42D-00C04FC964FF", "6f9619ff8b86d011b42d00c04fc964ff"],
    "ana\u00ad-3": ["ana-3"],
    "Zoë": ["Zoe\u0308", "ZOË"],
}  # fmt: skip
TWINS = ["Jos\u00e9", "Jose\u0301", "JOS\u00c9", "007", "7"]  # all of them in the table
NAMES = [*ALIKE, *(f"person-{k}" for k in range(ROWS - len(ALIKE) - len(TWINS))), *TWINS]
SCHEMA = {"id": "id", "label": {"column": "y", "classes": ["no", "yes"]}, "columns": {"x": {"bounds": [0, ROWS]}}}
PLAN = ["--method", "noisy-gd", "--regularization", "0.5", "--no-utility", "--no-total"]


def people() -> Any:
    """Return the table: a number of its own in every row, under the row's name."""
    columns = {"x": np.arange(ROWS), "y": ["no", "yes"] * (ROWS // 2)}
    return pandas.DataFrame(columns, index=pandas.Index(NAMES, name="id"))


class Refused(Exception):
    """Whether the door hints at a similar name; None where it tells nobody who is in the table."""

    def __init__(self, hint: bool | None) -> None:
        self.hint = hint


class OfStore:
    """A store, asked by Python, from a file. `left` are the numbers of the rows that it holds."""

    hints = True

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
        monkeypatch.chdir(folder)
        self.capsys = capsys
        self.make()

    def make(self) -> None:
        people().to_csv("d.csv")
        self.init("d.csv", 'id = "id"\n')

    def init(self, file: str, named: str) -> None:
        Path("s.toml").write_text(
            f'{named}rows = "clip"\nradius = 2\n[label]\ncolumn = "y"\nclasses = ["no", "yes"]\n[columns.x]\nbounds = [0, {ROWS}]\n'
        )
        assert main(["init", "store", "--data", file, "--schema", "s.toml", *PLAN]) == 0
        assert main(["learn", "store"]) == 0
        self.capsys.readouterr()

    def left(self) -> set[int]:
        with Store.open("store") as store:
            rows = store.records.features[store.records.occupied][:, 0]
        return {round((float(row) + 1) * ROWS / 2) for row in rows}

    def erase(self, *names: str) -> int:
        with Store.open("store") as store:
            try:
                return store.serve(EditRequest.delete(names)).requested.deleted
            except UnknownName as error:
                raise Refused(error.similar) from None
            except InvalidRequest:
                raise Refused(False) from None


class Parquet(OfStore):
    """The names are the index, which pandas wrote into the file."""

    def make(self) -> None:
        people().to_parquet("d.parquet")
        self.init("d.parquet", "")


class Command(OfStore):
    def erase(self, *names: str) -> int:
        status = main(["delete", "store", "--json", "--", *names])
        said = self.capsys.readouterr()
        if status:
            raise Refused("reads like it" in said.err)
        return int(json.loads(said.out)["requested"]["deleted"])


class Stream(OfStore):
    turn = 0

    def erase(self, *names: str) -> int:
        self.turn += 1
        Path("r.jsonl").write_text(json.dumps({"request_id": f"r{self.turn}", "delete": names}) + "\n")
        status = main(["stream", "store", "r.jsonl", "--batch", "1", "--json"])
        answer = json.loads(self.capsys.readouterr().out)
        if status:
            raise Refused("reads like it" in json.dumps(answer["refused"]))
        return int(answer["publications"][-1]["edits"])


class Letter(OfStore):
    """What the person is told: the certificate of the request."""

    turn = 0

    def erase(self, *names: str) -> int:
        self.turn += 1
        with Store.open("store") as store:
            try:
                store.serve(EditRequest.delete(names, request_id=f"r{self.turn}"))
            except UnknownName as error:
                raise Refused(error.similar) from None
            except InvalidRequest:
                raise Refused(False) from None
        assert main(["certificate", "store", "--request-id", f"r{self.turn}", "--json"]) == 0
        paper = json.loads(self.capsys.readouterr().out)
        return int(paper["request"]["rows"])


class Estimator(OfStore):
    def make(self) -> None:
        table = people()
        self.model = NoisyGDClassifier(feature_bounds=(0, ROWS), method="noisy-gd", regularization=0.5)
        self.model.fit(table[["x"]], table["y"])
        self.rows = {name: number for number, name in enumerate(NAMES)}

    def left(self) -> set[int]:
        return {self.rows[name] for name in self.model._curator.records.ids}

    def erase(self, *names: str) -> int:
        try:
            return self.model.delete(list(names)).requested.deleted
        except UnknownName as error:
            raise Refused(error.similar) from None
        except NoisyGDDeleteError:
            raise Refused(False) from None


class InSource(OfStore):
    def make(self) -> None:
        duckdb = pytest.importorskip("duckdb")
        with duckdb.connect("people.duckdb") as connection:
            connection.register("given", people().reset_index())
            connection.execute("CREATE TABLE people AS SELECT id, CAST(x AS DOUBLE) AS x, y FROM given")
        schema = Schema.from_dict(SCHEMA)
        source = source_at(str(Path("people.duckdb").absolute()), id="id", table="people")
        learned(Path("store"), source, schema, plan(schema, slots=ROWS + 4)).close()

    def left(self) -> set[int]:
        import duckdb

        with duckdb.connect("people.duckdb") as connection:
            return {int(x) for (x,) in connection.execute("SELECT x FROM people").fetchall()}


class Service(OfStore):
    """The service tells no client who is in a table: a refusal has one sentence for all reasons."""

    hints = None  # type: ignore[assignment]
    turn = 0

    def make(self) -> None:
        super().make()
        server = pytest.importorskip("noisygd_delete_server", reason="noisygd-delete-server is not installed")
        from noisygd_delete_server.service import Service as Behind
        from starlette.testclient import TestClient

        from noisygd_delete.curator.stream import Batching

        secret, lines = server.new_token("all", ["request", "publish", "read", "sign"])
        Path("tokens.toml").touch(mode=0o600)
        Path("tokens.toml").write_text(lines)
        self.service = Behind([Path("store")], server.TokenFile.read("tokens.toml"), pace=lambda _: Batching(size=1))
        self.client = TestClient(server.application(self.service, run=False), raise_server_exceptions=False)
        self.headers = {"Authorization": f"Bearer {secret}"}

    def erase(self, *names: str) -> int:
        self.turn += 1
        token = f"r{self.turn}"
        asked = self.client.post("/requests", json={"request_id": token, "delete": list(names)}, headers=self.headers)
        if asked.status_code >= 400:
            raise Refused(None)
        self.service.writer.turn()
        answer = self.client.get(f"/requests/{token}", headers=self.headers).json()
        if answer["state"] == "refused":
            raise Refused(None)
        return int(sum(one["rows"] for one in answer["stores"]))


DOORS: dict[str, Callable[..., OfStore]] = {
    "CSV": OfStore,
    "Parquet": Parquet,
    "command": Command,
    "estimator": Estimator,
    "source": InSource,
    "stream": Stream,
    "service": Service,
    "letter": Letter,
}


@pytest.mark.parametrize(
    "door", [pytest.param(door, marks=[pytest.mark.slow] if door == "source" else []) for door in DOORS]
)
def test_every_property_at_every_door(door: str, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    with memory_folder() as folder:
        opened = DOORS[door](folder, monkeypatch, capsys)
        everybody = set(range(ROWS))
        assert opened.left() == everybody
        for name, spellings in ALIKE.items():  # ambiguity
            for spelling in spellings:
                assert spelling not in NAMES
                with pytest.raises(Refused) as refused:
                    opened.erase(spelling)
                assert refused.value.hint == opened.hints, (name, spelling)
        for stranger in ("nobody", LONG):  # limits, and a name that is like none
            with pytest.raises(Refused) as refused:
                opened.erase(stranger)
            assert not refused.value.hint
        with pytest.raises(Refused):  # all of a request or nothing
            opened.erase(NAMES[2], "nobody")
        assert opened.left() == everybody, "nobody was erased so far"
        for names in (
            [NAMES[0]],
            [NAMES[1], NAMES[4]],
            [NAMES[5]],
            [NAMES[30]],
            [TWINS[1]],
            [TWINS[4], TWINS[2]],
        ):  # identity and counts
            assert opened.erase(*names) == len(names)
            everybody -= {NAMES.index(name) for name in names}
            assert opened.left() == everybody
        with suppress(Refused):  # a name twice is refused, or one row
            assert opened.erase(NAMES[40], NAMES[40]) == 1
            everybody -= {40}
        assert opened.left() == everybody
