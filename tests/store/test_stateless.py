"""A store opened with stateless=True keeps rows, model and ledger, whatever the method; what would keep more is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from noisygd_delete import Budget, EditRequest, Store
from noisygd_delete.errors import InvalidParameter, InvalidRequest
from noisygd_delete.methods import OutputPerturbation

from .conftest import SCHEMA, name
from .conftest import plan as store_plan
from .conftest import records as store_records

KEPT = {
    "plan.json",
    "schema.json",
    "ledger.sqlite",
    "seal.json",
    "lock",
    "register.sqlite",
}  # public facts, and ids of requests
METHODS = {
    "noisy-gd:analysis=paper": {"method": "noisy-gd:analysis=paper"},
    "noisy-gd": {"method": "noisy-gd"},
    "solved": {"method": OutputPerturbation(solver="cold")},
    "sufficient-statistics": {
        "method": "sufficient-statistics",
        "releases": 8,
        "budget": Budget(order=4, dp=20.0, deletion=4.0),
    },
}


def files(root: Path) -> set[str]:
    """Names of files outside of `records`; a database's own journal, empty between transactions, is part of the database."""
    return {
        path.name.removesuffix("-journal")
        for path in root.rglob("*")
        if path.is_file() and path.parent.name != "records"
    }


def created(path: Path, method: str) -> Store:
    Store.create(path, store_records(), SCHEMA, store_plan(**METHODS[method])).close()
    return Store.open(path, stateless=True)


@pytest.mark.parametrize("method", METHODS)
def test_nothing_but_rows_model_and_ledger_is_left_between_requests(method: str, tmp_path: Path) -> None:
    with created(tmp_path / "store", method) as store:
        store.learn()
        for k in (3, 4):
            store.serve(EditRequest.delete([name(k)], request_id=f"r{k}"))
            model = f"model-{store.ledger.releases}.safetensors"
            assert files(store.path) <= {*KEPT, model}
    with Store.open(tmp_path / "store", stateless=True) as store:
        assert store.stateless


@pytest.mark.parametrize("method", METHODS)
def test_a_release_that_waits_is_refused_where_a_patch_would_wait_with_it(method: str, tmp_path: Path) -> None:
    with created(tmp_path / "store", method) as store:
        store.learn()
        before = store.ledger.length, len(store.records)
        deferred = {
            "serve": lambda: store.serve(EditRequest.delete([name(5)]), publish=False),
            "edit_all": lambda: store.edit_all([EditRequest.delete([name(6)]), EditRequest.delete([name(7)])]),
        }
        for call in deferred.values():
            if method == "sufficient-statistics":
                with pytest.raises(InvalidRequest):
                    call()
                assert (store.ledger.length, len(store.records)) == before
            else:
                call()
        assert not (store.path / "patch.bin").exists()
        store.serve(EditRequest.delete([name(8)]))
        assert name(8) not in store.records


def test_a_patch_that_waits_keeps_a_stateless_session_out(tmp_path: Path) -> None:
    with created(tmp_path / "store", "sufficient-statistics") as store:
        store.learn()
    with Store.open(tmp_path / "store") as store:
        store.serve(EditRequest.delete([name(5)]), publish=False)
        assert (store.path / "patch.bin").exists()
    with pytest.raises(InvalidParameter):
        Store.open(tmp_path / "store", stateless=True)
    with Store.open(tmp_path / "store") as store:
        store.publish()
    with Store.open(tmp_path / "store", stateless=True) as store:
        assert name(5) not in store.records
