"""Every reader of the package that takes bytes from outside, with a good example and what a right result is."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from noisygd_delete import EditRequest, Plan, Schema
from noisygd_delete.curator.stream.parsing import parse_requests
from noisygd_delete.errors import InvalidRequest, NoisyGDDeleteError
from noisygd_delete.evidence import Erasure, erasure_certificate, new_key, sign_document, verify_certificate
from noisygd_delete.evidence.canonical import canonical_bytes
from noisygd_delete.methods.serialization import plan_from_dict
from noisygd_delete.records import limited_io
from noisygd_delete.store import Store, Tombstones, journal, models, status
from noisygd_delete.store.layout import Layout
from noisygd_delete.store.ledger import Ledger

from ..store.conftest import SCHEMA, WIDTH, name, person, plan, records, row
from .guided import Target

TABLE = "id,person,a,b,c,y\n" + "\n".join(f'k{k},p{k},{k / 9},"-0.5",1e-3,{"yes" if k % 2 else "no"}' for k in range(5))
TOML = """
confirmed = true
rows = "clip"
radius = 1.5
intercept = false
id = "id"
[label]
column = "y"
classes = ["no", "yes"]
[columns.a]
bounds = [0, 5]
transform = "log1p"
missing = 1
[columns.b]
categories = ["u", "v"]
unknown = "zero"
"""
LINES = [
    {"request_id": "r", "delete": [name(1), 17], "subjects": [person(4)]},
    {"request_id": "s", "insert": [{"id": "n", "person": "p", "a": 0.1, "b": "0.2", "c": 0.3, "y": "yes"}]},
    {"request_id": "t", "replace": {name(2): {"a": 0.5, "b": 0.25, "c": -1, "y": "no"}}},
]


def targets(folder: Path) -> list[Target]:
    """All of them; `folder` is for their files."""
    file, key = folder / "input", folder / "key.pem"
    path = folder / "store"
    with Store.create(path, records(), SCHEMA, plan()) as store:
        store.learn()
        store.serve(EditRequest.delete([name(0)], request_id="r"))
        edits = store.records.resolve(
            EditRequest(deletions=(name(1),), replacements={name(2): (row(2), 1.0)}, request_id="s")
        )
        good_plan, ledger, events = store.plan, store.ledger, store.accountant.events
    new_key(key)
    model = Layout(path).model(2).read_bytes()
    with closing(sqlite3.connect(Layout(path).ledger)) as connection:
        bodies = [body for (body,) in connection.execute("SELECT body FROM entries ORDER BY number")]
    erasure = Erasure(rows=1, release=2, ledger_entries=3, ledger_sha256=ledger.digests[-1])
    paper = sign_document(erasure_certificate(erasure, plan=good_plan, events=events), key)
    tombstones = Tombstones.create(folder / "list.txt", folder / "list.key")
    change = journal.InFlight(3, edits, True, "s", (None,), "0" * 64)
    layout = Layout(folder / "other")
    layout.journal.mkdir(parents=True)

    def written(use: Callable[[Path], None]) -> Callable[[bytes], None]:
        def run(data: bytes) -> None:
            file.write_bytes(data)
            use(file)

        return run

    def a_ledger(data: bytes) -> None:
        """Entries as somebody who can mend the hash chain would leave them."""
        try:
            values = json.loads(data)
        except (ValueError, RecursionError):
            return
        rows, digest = [], "0" * 64
        for number, value in enumerate(values if isinstance(values, list) else [values], start=1):
            body = json.dumps(value)
            digest = hashlib.sha256(f"{digest}{body}".encode()).hexdigest()
            rows.append((number, body, digest))
        sound(Ledger.from_rows(file, rows))

    def a_journal(data: bytes) -> None:
        layout.request.write_bytes(data)
        found = journal.read_in_flight(layout)
        assert found is not None
        whole(found)

    def a_sealed_journal(data: bytes) -> None:
        """A request whose seal was mended after it was changed."""
        a_journal(hashlib.sha256(data).hexdigest().encode() + b"\n" + data)

    def a_model(data: bytes) -> None:
        layout.model(2).write_bytes(data)
        weights = models.load_model(layout, good_plan, 2, hashlib.sha256(data).hexdigest()).weights
        assert weights.shape == (WIDTH,)
        assert weights.dtype == np.float64
        assert np.isfinite(weights).all()

    def a_certificate(data: bytes) -> None:
        try:
            value = json.loads(data)
        except (ValueError, RecursionError):
            return
        if not verify_certificate(value, public_key=f"{key}.pub").passed:
            raise InvalidRequest("the certificate does not hold")
        assert canonical_bytes(value) == canonical_bytes(paper), "an altered certificate passed"

    def a_list(data: bytes) -> None:
        (folder / "list.txt").write_bytes(data)
        Tombstones(folder / "list.txt", folder / "list.key").refuse(["nobody"])

    as_json = [json.dumps(LINES[k]).encode() for k in range(3)]
    sealed = change.to_bytes()
    found = [
        Target("CSV", (TABLE.encode(), TABLE.replace(",", ";").encode()), written(a_table)),
        Target("CSV, gzip", (gzip.compress(TABLE.encode()),), written(a_table)),
        Target("schema, TOML", (TOML.encode(),), written(lambda path: a_schema(Schema.read(path)))),
        Target(
            "schema, JSON", (_json(SCHEMA.to_dict()),), lambda data: a_schema(Schema.from_dict(_parsed(data))), True
        ),
        Target(
            "requests, JSON lines", (*as_json, b"\n".join(as_json)), written(lambda path: requests(path, False)), True
        ),
        Target(
            "requests, CSV",
            (f"request_id,id,subject\nx,{name(0)},\nx,,{person(2)}\ny,{name(1)},\n".encode(),),
            written(lambda path: requests(path, True)),
        ),
        Target("plan", (_json(good_plan.to_dict()),), lambda data: a_plan(plan_from_dict(_parsed(data))), True),
        Target("ledger, entries", (f"[{','.join(bodies)}]".encode(),), a_ledger, True),
        Target("ledger, file", (Layout(path).ledger.read_bytes(),), written(lambda path: sound(Ledger.read(path)))),
        Target("journal", (sealed,), a_journal),
        Target("journal, sealed again", (sealed.partition(b"\n")[2],), a_sealed_journal, True),
        Target("model, safetensors", (model,), a_model),
        Target("certificate", (_json(paper),), a_certificate, True),
        Target("list of erased ids", (tombstones.path.read_bytes() + b"00\n",), a_list),
    ]
    if find_spec("pyarrow"):
        found.append(Target("Parquet", (parquet(),), written(a_table)))
    assert status(path)["releases"] == 2
    return found


def parquet() -> bytes:
    import pyarrow
    from pyarrow import parquet

    header, *lines = [line.replace('"', "").split(",") for line in TABLE.splitlines()]
    columns = dict(zip(header, map(list, zip(*lines, strict=True)), strict=True))
    sink = io.BytesIO()
    parquet.write_table(pyarrow.table(columns | {"a": [0.1, 2.0, 3.0, 4.0, 5.0]}), sink)
    return sink.getvalue()


def a_table(path: Path) -> None:
    encoded = SCHEMA.encode_file(path)
    assert encoded.rows.shape == (len(encoded.labels), WIDTH)
    assert (np.linalg.norm(encoded.rows.astype(np.float64), axis=1) <= 1).all()
    assert set(encoded.labels) <= {-1.0, 1.0}
    assert encoded.ids is not None
    assert len(set(encoded.ids)) == len(encoded.ids) == len(encoded.labels) > 0
    for text in encoded.ids:
        text.encode()


def a_schema(schema: Schema) -> None:
    assert schema.features == len(schema.names) > 0
    again = Schema.from_dict(json.loads(json.dumps(schema.to_dict(), allow_nan=False)))
    assert again == schema


def requests(path: Path, table: bool) -> None:
    from noisygd_delete.cli.stream import _open_source

    refused = None
    with _open_source(str(path)) as file:
        for _, request in parse_requests(limited_io.iterate_lines(file, error=InvalidRequest), SCHEMA, table=table):
            if isinstance(request, InvalidRequest):
                refused = request
                continue
            assert request.request_id
            json.dumps([request.request_id, list(map(str, request.deletions))]).encode()
            if request.insertion is not None:
                assert (np.linalg.norm(request.insertion.rows, axis=1) <= 1 + 1e-6).all()
    if refused is not None:
        raise refused


def a_plan(found: Plan) -> None:
    for guarantee in (found.dp, found.deletion):
        assert guarantee.epsilon(1e-6) >= 0
    assert found.calibration.noise_variance > 0
    assert found.calibration.step_size > 0
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))


def sound(ledger: Ledger) -> None:
    for entry in ledger.entries:
        assert entry.pending >= 0
    if ledger.releases:
        assert ledger.accountant.dp_cumulative().epsilon(1e-6) >= 0


def whole(change: journal.InFlight) -> None:
    edits = change.edits
    count = len(edits.slots)
    assert edits.rows.shape[0] == len(edits.labels) == len(edits.ids) == len(edits.subjects) == count
    assert len(set(edits.slots.tolist())) == count
    assert (edits.slots >= 0).all()
    assert np.isfinite(edits.rows).all()


def _json(value: object) -> bytes:
    return json.dumps(value).encode()


def _parsed(data: bytes) -> dict:
    """JSON as the store has already parsed it when it comes to a plan or a schema."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise NoisyGDDeleteError("not JSON, which every caller of these readers reports") from error
    return value
