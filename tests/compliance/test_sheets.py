"""Model card and annex in every language: each sentence of them, the same figures, nothing claimed."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from noisygd_delete_compliance import model_card as sheets_of
from noisygd_delete_compliance import request_rows
from noisygd_delete_compliance.case import RegisterPolicy, RequestCase
from noisygd_delete_compliance.model_card import assessment, model_card
from noisygd_delete_compliance.register import Register
from noisygd_delete_compliance.request_rows import policy_of, register_lines

from noisygd_delete import EditRequest
from noisygd_delete.accountant import Accountant, Event
from noisygd_delete.audit import audit
from noisygd_delete.evidence import erasure
from noisygd_delete.evidence.erasure import LedgerStatus, ledger_of
from noisygd_delete.privacy.budget import Total
from noisygd_delete.records import NO_EDITS
from noisygd_delete.reports import certificate_html, store_report
from noisygd_delete.reports.certificate_page import audit_name
from noisygd_delete.reports.texts import ORIGINAL, language_codes, page_labels
from noisygd_delete.store import Store
from noisygd_delete.store.destinations import Destination
from tests.reports.histories import history
from tests.reports.test_certificate_languages import FORBIDDEN, a_paper, shown_text
from tests.store.conftest import SCHEMA, name, plan, records

from ..bank import PROBLEMS, plan_by
from .test_register_page import CLAIMS, ENGLISH, asked_in

PRACTICE = RegisterPolicy(purposes="Kredit", models="Modell A", contact="datenschutz@example.org", justification="siehe Akte", source="eigene Kunden",
                    lawful_basis="Art. 6", review="2027-01-31", controller="Beispiel GmbH")  # fmt: skip
QUESTIONS = (
    "record still there, the learned model", "record still there, all releases", "erased record, the release that erased it",
    "erased record, the learned model and every later one", "erased record, releases from its erasure on",
)  # fmt: skip
ATTACKS = ("shadow model", "likelihood ratio", "one run", "kernel witness")
AUDIT = tuple(
    {"name": f"{question}: {attack}", "measured_lower_bound": 0.0123, "claimed_advantage": 0.2345}
    for question in QUESTIONS
    for attack in ATTACKS
)
PLACES = (
    Destination(address="folder:/srv/modelle", held="release-2-ab", oldest=2, since="2026-05-03T00:00:00+00:00"),
    Destination(address="mlflow:https://host", model="preis", alias="prod", held="release-2-ab", oldest=1),
    Destination(address="s3://eimer/a"),
)
OTHERS = [code for code in language_codes() if code != ORIGINAL]
NUMBER = re.compile(r"(?<![\w.,])\d[\d.,]*(?:e-?\d+)?(?!\w)")


def a_store(path: Path, made: Any, policy: RegisterPolicy = PRACTICE, *, erase: bool = True) -> Path:
    with Store.create(path, records(), SCHEMA, made) as store:
        store.learn()
        if erase:
            case = RequestCase(received="2020-05-04T09:30:00+02:00", recipients=2, backups_until="2020-09-01")
            store.serve(
                EditRequest.delete([name(3)], request_id="secret-token"), note=Register(store.request_log).adding(case)
            )
        Register(store.request_log).adopt(policy)
    return path


STORES: dict[str, Callable[[Path], Path]] = {
    "learned, erased": lambda path: a_store(path, plan()),
    "nothing stated": lambda path: a_store(path, plan(), RegisterPolicy()),
    "never learned, with a level": lambda path: unlearned(path, plan(slots=2000, utility=True)),
    "learned, nothing erased": lambda path: a_store(path, plan(adjacency="zero-out"), erase=False),
}


def unlearned(path: Path, made: Any) -> Path:
    with Store.create(path, records(slots=2000), SCHEMA, made):
        return path


@pytest.fixture(scope="module", params=STORES)
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return STORES[request.param](tmp_path_factory.mktemp("sheets") / "store")


def sheets(store: Path, code: str) -> list[str]:
    """Both pages."""
    ledger, policy, lines = ledger_of(store), policy_of(store), register_lines(store)
    return [
        model_card(ledger, policy, lines, key="0123456789abcdef", code=code),
        assessment(ledger, policy, lines, audit=AUDIT, code=code),
    ]


@pytest.mark.parametrize("code", OTHERS)
def test_no_english_is_left_in_the_sheets_and_their_figures_are_the_same(
    store: Path, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for reader in (erasure, request_rows):
        monkeypatch.setattr(reader, "list_destinations", lambda _: PLACES)
    english, asked = sheets(store, ORIGINAL), asked_in(code)
    for page, original in zip(sheets(store, code), english, strict=True):
        assert f'<html lang="{code}">' in page
        text = shown_text(page)
        assert not ENGLISH.search(re.sub(r"folder:\S+|mlflow:\S+|s3:\S+", " ", text))
        assert not re.search(r"\d\.\d", text)  # a German reads 2.003 as two thousand and three
        assert not FORBIDDEN.search(text)
        assert not CLAIMS.search(text)
        assert "besagt nicht, dass das Modell anonym ist" in text
        assert_same_numbers(text, original)
        for own in ("Kredit", "eigene Kunden", "Beispiel GmbH"):
            assert (own in page) == (own in original)  # the operator's words are nobody's to translate
    assert asked.missing == []


def assert_same_numbers(text: str, original: str) -> None:
    found, expected = (
        sorted(number.rstrip(".") for number in NUMBER.findall(one.replace(",", ".")))
        for one in (text, shown_text(original))
    )
    assert found == expected
    assert len(expected) > 12


@pytest.mark.parametrize("code", OTHERS)
@pytest.mark.parametrize("method", PROBLEMS)
def test_the_sheets_of_every_method_are_in_the_language(
    method: str, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    quiet = LedgerStatus(NO_EDITS, (), None)
    monkeypatch.setattr(sheets_of, "ledger_status", lambda _: quiet)
    monkeypatch.setattr(sheets_of, "is_on_calendar", lambda _: False)
    monkeypatch.setattr(sheets_of, "from_data_of", lambda _: ())
    times = [SimpleNamespace(time="2026-05-04T09:30:00+00:00")]
    made, events, _ = history(method, seed=4)
    for capped in (made, replace(made, problem=replace(made.problem, total=Total(40.0, 1e-6)))):
        made_of = {"plan": capped, "accountant": Accountant(capped, events), "events": events, "releases": len(events)}
        ledger = SimpleNamespace(**made_of, outline=times)
        asked = asked_in(code)
        for sheet in (model_card, assessment):
            text = shown_text(sheet(ledger, PRACTICE, [], code=code))
            assert not ENGLISH.search(text)
            assert_same_numbers(text, sheet(ledger, PRACTICE, []))
        assert asked.missing == []


@pytest.mark.parametrize("code", OTHERS)
def test_attacks_have_names_in_the_language_wherever_they_stand(code: str) -> None:
    asked, somebodys = page_labels(code), "membership, by a consultant"
    assert [audit_name(row["name"], asked) for row in AUDIT if audit_name(row["name"], asked) == row["name"]] == []
    assert audit_name(somebodys, asked) == somebodys
    assert audit_name(f"{QUESTIONS[0]}: {somebodys}", asked) == f"{QUESTIONS[0]}: {somebodys}"  # not half of it
    assert audit_name(AUDIT[0]["name"], page_labels(ORIGINAL)) == AUDIT[0]["name"]
    said = "noch vorhandener Datensatz, das gelernte Modell: Schattenmodell"
    page = certificate_html(a_paper("noisy-gd", "published", audit=AUDIT[:1]), code=code)
    assert f"Angriffsversuch „{said}“" in html.unescape(page)
    facts = plan_by("noisy-gd")
    page = store_report(
        plan=facts,
        events=[Event("learn", facts.calibration.learn_steps, 0, facts.mechanism)],
        audit=AUDIT[:1],
        code=code,
    )
    assert said in html.unescape(page)


def test_an_audit_asks_by_the_names_that_are_read() -> None:
    rows = audit(plan_by("noisy-gd"), chains=100, later_releases=2).rows
    assert {row.question for row in rows} <= set(QUESTIONS)
    assert {row.attack for row in rows} <= set(ATTACKS)
