"""Papers say where models are put besides, and whether one made with the erased rows may still lie there."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
from noisygd_delete_compliance.case import RegisterPolicy
from noisygd_delete_compliance.model_card import model_card
from noisygd_delete_compliance.request_rows import register_lines
from noisygd_delete_server.publishers import publish_to

from noisygd_delete.errors import InvalidParameter
from noisygd_delete.evidence import Erasure, erasure_certificate, new_key, sign_document, verify_certificate
from noisygd_delete.evidence.erasure import erasure_in, ledger_of, ledger_status
from noisygd_delete.reports import store_report
from noisygd_delete.store import Store
from tests.evidence.reading_papers import said
from tests.store.conftest import SCHEMA, plan, records

from .test_folder import delete


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with Store.create(tmp_path / "store", records(), SCHEMA, plan()) as store:
        publish_to(store, f"folder:{tmp_path / 'out'}")
        store.learn()
        delete(store)
    return tmp_path / "store"


def paper(path: Path, request: str = "r3") -> dict[str, Any]:
    erasure, made, events = erasure_in(ledger_of(path), request_id=request)
    return erasure_certificate(erasure, plan=made, events=events)


def claimed(certificate: dict[str, Any], key: str) -> dict[str, Any] | None:
    """The values of the claim with this key; None where it is not made."""
    return next((claim["values"] for claim in certificate["claims"] if claim["key"] == key), None)


def card(path: Path) -> str:
    return model_card(ledger_of(path), RegisterPolicy(), register_lines(path))


def test_a_place_without_a_model_made_with_the_rows_is_counted_as_such(path: Path, tmp_path: Path) -> None:
    certificate = paper(path)
    assert certificate["evidence"]["publishers"] == [{"kind": "folder", "release": 2, "oldest": 2}]
    assert claimed(certificate, "elsewhere.none") == {"places": 1, "kinds": ["folder"]}
    assert claimed(certificate, "elsewhere.left") is None
    assert str(tmp_path) not in str(certificate)  # where the operator's folders are is nobody's business
    assert "release 2 in force" in card(path)
    assert "no earlier model lies there" in card(path)


def test_a_place_that_did_not_give_up_the_old_model_is_named(path: Path, tmp_path: Path) -> None:
    away = (tmp_path / "out").rename(tmp_path / "elsewhere")
    (tmp_path / "out").write_text("a file")
    with Store.open(path) as store:
        delete(store, 4)
    certificate = paper(path, "r4")
    assert certificate["evidence"]["publishers"] == [{"kind": "folder", "release": 2, "oldest": 2}]
    assert "in 1 of them a model that may have used what was erased may still lie." in said(certificate)
    (tmp_path / "out").unlink()
    away.rename(tmp_path / "out")
    Store.open(path).close()
    assert "none of them holds a model" in said(paper(path, "r4"))


def test_the_report_names_each_place_and_what_it_holds(path: Path, tmp_path: Path) -> None:
    def report() -> str:
        ledger = ledger_of(path)
        return store_report(plan=ledger.plan, events=ledger.events, standing=ledger_status(ledger))

    told = f"folder:{tmp_path / 'out'}: release 2 in force there. No earlier model lies there."
    assert told in " ".join(report().split())
    (tmp_path / "out").rename(tmp_path / "elsewhere")
    (tmp_path / "out").write_text("a file")
    with Store.open(path) as store:
        store.withdraw()
    assert "No earlier model lies there" in report()  # it still has release 2 in force, and nothing before it
    assert "no model is in force" in report() or "out of service" in report()


def test_a_store_without_publishers_says_nothing_of_them(tmp_path: Path) -> None:
    with Store.create(tmp_path / "store", records(), SCHEMA, plan()) as store:
        store.learn()
        delete(store)
    certificate = paper(tmp_path / "store")
    assert certificate["evidence"]["publishers"] == []
    assert not [claim for claim in certificate["claims"] if claim["key"].startswith("elsewhere")]
    assert "put besides" not in card(tmp_path / "store")


def test_whoever_changes_what_a_place_holds_changes_the_paper(path: Path, tmp_path: Path) -> None:
    new_key(tmp_path / "controller.pem")
    signed = sign_document(paper(path), tmp_path / "controller.pem")
    assert verify_certificate(signed).passed
    for change in ({"release": 1, "oldest": 1}, {"oldest": 1}, {"kind": "mlflow"}, {"release": 3}, {"release": None}):
        changed = copy.deepcopy(signed)
        changed["evidence"]["publishers"][0].update(change)
        assert not verify_certificate(changed).passed


@pytest.mark.parametrize(
    "place",
    [
        {"kind": "folder", "release": 2},
        {"kind": None, "release": 2, "oldest": 2},
        {"kind": "folder", "release": 0, "oldest": 2},
        {"kind": "folder", "release": 1, "oldest": 2},
        {"kind": "folder", "release": 2, "oldest": None},
        {"kind": "fol\nder", "release": 2, "oldest": 2},
        "folder",
    ],
)
def test_facts_of_a_place_are_held_to_their_range(place: Any) -> None:
    with pytest.raises(InvalidParameter):
        Erasure(rows=1, release=2, publishers=(place,))


def test_a_place_holds_no_release_that_was_never_made(path: Path) -> None:
    _, made, events = erasure_in(ledger_of(path), request_id="r3")
    with pytest.raises(InvalidParameter, match="cannot hold release 3"):
        erasure_certificate(
            Erasure(rows=1, release=2, publishers=({"kind": "folder", "release": 3, "oldest": 2},)),
            plan=made,
            events=events,
        )
