"""The register and the report for people: every request and every fact, in order of need, in each language, and nothing that should not be there."""

from __future__ import annotations

import base64
import hashlib
import html
import re
from dataclasses import replace
from datetime import date

import pytest
from noisygd_delete_compliance.case import Channels, Decisions, Grounds, RegisterPolicy, RequestCase, Rights
from noisygd_delete_compliance.register_page import PAGE_LINES, register_page, reported_requests
from noisygd_delete_compliance.row import RegisterRow, Served

from noisygd_delete import Budget, losses, make_plan
from noisygd_delete.accountant import Event
from noisygd_delete.errors import InvalidParameter
from noisygd_delete.evidence.erasure import LedgerStatus, Unpublished
from noisygd_delete.evidence.notices import Reasons
from noisygd_delete.methods import CountedRecords
from noisygd_delete.records import EditCounts
from noisygd_delete.reports import store_report, summary
from noisygd_delete.reports.spending import LISTED
from noisygd_delete.reports.texts import ORIGINAL, Language, language_codes, load_language
from noisygd_delete.store.destinations import Destination
from noisygd_delete.store.entry import EntryKinds
from tests.reports.histories import releases, usual_plan
from tests.reports.test_certificate_languages import shown_text

TODAY = date(2026, 6, 20)
RECEIVED = "2026-06-03T23:30:00+02:00"
OTHERS = [code for code in language_codes() if code != ORIGINAL]
# what no paper may claim, in any language (law.md): a model that forgot, is anonymous, complies, or holds nothing personal
CLAIMS = re.compile(
    r"forgot|forgets|forgetting|anonymi[sz]ed|de-identif|GDPR-compliant|complies with|no personal data|"
    r"vergess(en|lich)\b(?! kann)|anonymisiert|DSGVO-konform|verlernt|keine? personenbezogen",
    re.IGNORECASE,
)
ENGLISH = re.compile(
    r"\b(the|of|and|is|are|were|not|by|from|with|until|told|informed|received|records?|release|at most)\b"
)


def a_line(number: int, served: Served | None = None, **stated) -> RegisterRow:
    return RegisterRow(
        f"token-{number:04d}", RequestCase(**stated), served, RegisterPolicy(holidays=("2026-07-03",)), TODAY
    )


DONE = Served("2026-06-04T22:30:00+00:00", 1, 0, "2026-06-06T08:00:00+00:00", 3, withdrawn="2026-06-06T08:00:00+00:00")
EVERYTHING = a_line(
    1, DONE, received=RECEIVED, channel="e-mail", identity_checked=True, informed="2026-06-10", recipients=3, recipients_informed="2026-06-11",
    backups_until="2026-09-01", certificate="0123456789abcdef" * 4,
)  # fmt: skip
LINES = [
    EVERYTHING,
    a_line(2, received="2026-05-04T23:30:00+02:00", right="objection"),
    a_line(3, Served("2026-06-04T22:30:00+00:00", 12), received=RECEIVED, publish_by="2026-07-01"),
    a_line(4, received=RECEIVED, extended_until="2026-08-04", extension_reason="number of requests"),
    a_line(5, received=RECEIVED, decision="refused in part", decided="2026-06-10", ground="17(3)(b)", identity_checked=False),
    a_line(6, received=RECEIVED, decision="not found", decided="2026-06-10", informed="2026-06-11", recipients=2),
    a_line(7, Served("2026-05-05T22:30:00+00:00", 1, 0, "2026-05-06T08:00:00+00:00", 3, still_at=("s3://models/risk",))),
    a_line(8, Served("2026-06-04T22:30:00+00:00", 2, withheld=True), received=RECEIVED, restricted="2026-06-05", lifted="2026-06-06"),
    a_line(9, Served("2026-05-05T22:30:00+00:00", 1), received=RECEIVED, publish_by="2026-06-09", informed="2026-07-10"),
    a_line(11, received=RECEIVED, acknowledged="2026-06-04"),
    a_line(12, received=RECEIVED, informed="2026-06-04"),
    a_line(13, DONE, received=RECEIVED, informed="2026-06-05", informed_again="2026-06-08"),
    a_line(10, DONE, received="2026-05-04T09:30:00+02:00", informed="2026-06-15", publish_by="2026-06-05"),
    *(a_line(20 + k, right=str(right), received=RECEIVED) for k, right in enumerate(Rights)),
    *(a_line(30 + k, channel=str(channel), received=RECEIVED) for k, channel in enumerate(Channels)),
    *(a_line(40 + k, decision="refused", decided="2026-06-10", ground=str(ground), received=RECEIVED) for k, ground in enumerate(Grounds)),
    *(a_line(60 + k, extended_until="2026-08-04", extension_reason=str(why), received=RECEIVED) for k, why in enumerate(Reasons)),
    *(a_line(70 + k, decision=str(how), decided="2026-06-10", ground=None if how in (Decisions.NOT_FOUND, Decisions.OPTED_OUT) else "12(2)", received=RECEIVED)
      for k, how in enumerate(Decisions)),
]  # fmt: skip
STANDING = LedgerStatus(
    EditCounts(deleted=12, inserted=1),
    (
        Unpublished(EntryKinds.EDIT, "2026-06-02T22:30:00+00:00", EditCounts(deleted=12), None),
        Unpublished(EntryKinds.EDIT, "2026-06-02T22:30:00+00:00", EditCounts(deleted=1, replaced=2), 3, "trigger"),
        Unpublished(EntryKinds.EDIT, "2026-06-02T22:30:00+00:00", EditCounts(replaced=2), 3, "versions"),
        Unpublished(EntryKinds.WITHHELD, "2026-06-02T22:30:00+00:00", EditCounts(unrecorded=4), 3),
    ),
    None,
    besides=(
        Destination("folder:/srv/models", held="release-5-0123456789ab", oldest=5),
        Destination("mlflow:https://models.example", "people", "production", oldest=2, problem="it does not answer"),
    ),
)
STOPPED = replace(STANDING, withdrawn="2026-06-02T22:30:00+00:00")
STANDINGS = (STANDING, STOPPED, replace(STOPPED, by_hand=True), LedgerStatus(EditCounts(), (), None), None)
AUDIT = ({"name": "Angriff", "measured_lower_bound": 0.02, "claimed_advantage": 0.4},)


def a_report(
    code: str,
    *,
    standing: LedgerStatus | None = STANDING,
    lines=LINES,
    method: str = "noisy-gd",
    budget=None,
    **options,
) -> str:
    plan = usual_plan(method, utility=False, **options, **({"budget": budget} if budget else {}))
    events = [
        *releases(plan, EditCounts(deleted=1, replaced=1), EditCounts(inserted=1)),
        Event("statistic", 1, 0, CountedRecords(records=2000, deviation=64.0)),
        Event("relearn", plan.calibration.learn_steps, 0, plan.mechanism),
    ]
    times = [f"2026-05-{1 + k:02d}T10:00:00+00:00" for k in range(len(events))]
    requests = None if lines is None else reported_requests(lines, code, most=LISTED)
    return store_report(
        plan=plan, events=events, times=times, standing=standing, requests=requests, audit=AUDIT, code=code
    )


REPORTS = {
    "everything": lambda code: a_report(code, total=(40.0, 1e-6)),
    "out of service": lambda code: a_report(code, standing=STOPPED, lines=LINES[:3]),
    "out of service, by its operator": lambda code: a_report(code, standing=STANDINGS[2], lines=[], method="output-perturbation"),
    "nothing waits": lambda code: a_report(code, standing=STANDINGS[3], lines=None, releases=9, method="noisy-gd:analysis=paper"),
    "no word of how it stands": lambda code: a_report(code, standing=None, method="objective-perturbation", budget=Budget.from_gdp(dp=1.0, deletion=0.2)),
    "of (ε, δ)": lambda code: a_report(code, budget=Budget.from_epsilon_delta(dp=(1.0, 1e-6), deletion=(0.5, 1e-6)), method="noisy-gd:analysis=paper"),
}  # fmt: skip


def asked_in(code: str) -> Language:
    """The language, and nothing noted as missing in it yet."""
    asked = load_language(code)
    asked.missing.clear()
    return asked


def placed(lines):
    return [(None, line) for line in lines]


def test_late_comes_first_then_due_then_closed_and_every_fact_is_there() -> None:
    page = register_page(placed(LINES), controller="Example Ltd", on=TODAY)
    tokens = re.findall(r"<code>(token-\d+)</code>", page)
    late = {line.token for line in LINES if line.overdue}
    assert len(late) > 1
    assert set(tokens[: len(late)]) == late
    assert tokens[0] == "token-0002"
    assert len(tokens) == len(LINES) == len(set(tokens))
    closed = [line.token for line in LINES if line.closed is not None]
    assert set(tokens[-len(closed) :]) == set(closed)
    row = next(part for part in page.split("<tr") if "token-0001" in part)
    said = html.unescape(re.sub("<[^>]+>", "|", row)).replace("\xa0", " ")
    for fact in (
        "6 July 2026",  # a month from the 3rd is a Friday that is a holiday there, then a weekend
        "answered", "erasure", "received 3 June 2026", "by e-mail", "identity checked",
        "rows erased 5 June 2026: 1",  # 22:30 in UTC is the next day where the request came in
        "published 6 June 2026, release 3", "model before withdrawn 6 June 2026", "person informed 10 June 2026",
        "3 recipient(s) informed 11 June 2026", "backups until 1 September 2026", "certificate 0123456789abcdef…", "kept until 31 December 2029",
    ):  # fmt: skip
        assert f"|{fact}|" in said, fact
    assert "in the register, " in page
    assert f"{len(LINES)} in the register" in page
    assert "Example Ltd" in page


def test_many_requests_come_by_pages() -> None:
    many = [a_line(k, received=RECEIVED) for k in range(2 * PAGE_LINES + 7)]
    seen = []
    for number, size in ((1, PAGE_LINES), (2, PAGE_LINES), (3, 7), (99, 7)):
        page = register_page(placed(many), page=number, here="/register")
        tokens = re.findall(r"<code>(token-\d+)</code>", page)
        assert len(tokens) == size
        seen += tokens if number < 99 else []
        links = re.findall(r'href="/register\?page=(\d+)&amp;language=en"', page)
        assert links == [str(n) for n in (min(number, 3) - 1, min(number, 3) + 1) if 1 <= n <= 3]
    assert seen == sorted(line.token for line in many)
    assert "href" not in register_page(placed(many), page=2)  # a file has no other pages
    for wrong in (0, -1):
        with pytest.raises(InvalidParameter, match="page"):
            register_page([], page=wrong)
    assert "No request has come in." in register_page([])


@pytest.mark.parametrize("code", language_codes())
def test_the_register_loads_nothing_and_runs_nothing(code: str) -> None:
    hostile = replace(LINES[0], token="<script>alert(1)</script>")
    page = register_page([("<b>store</b>", hostile)], code=code, controller="<img src=x>", here="/register")
    assert "<script" not in page
    assert "<img" not in page
    assert "<b>store" not in page
    assert not re.search(r"(src|href)=\"(https?:)?//", page)
    (style,) = re.findall(r"<style>(.*?)</style>", page, flags=re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert f"default-src 'none'; style-src 'sha256-{digest}'" in html.unescape(page)


@pytest.mark.parametrize("code", OTHERS)
def test_no_english_is_left_in_the_register(code: str) -> None:
    asked = asked_in(code)
    page = register_page([*placed(LINES), ("Kunden", LINES[1])], code=code, here="/register", waiting=2, on=TODAY)
    page += register_page([], code=code)
    page += register_page(placed(LINES * 9), code=code, page=2, here="/register", controller="Beispiel GmbH")
    assert asked.missing == []
    assert not ENGLISH.search(re.sub(r"token-\d+|s3://\S+|English", " ", shown_text(page)))
    assert "4.\xa0Juni\xa02026" in page
    assert f'<html lang="{code}">' in page


@pytest.mark.parametrize("code", OTHERS)
@pytest.mark.parametrize("kind", REPORTS)
def test_no_english_is_left_in_the_report_and_its_figures_are_the_same(code: str, kind: str) -> None:
    english = shown_text(REPORTS[kind](ORIGINAL))
    asked = asked_in(code)
    page = REPORTS[kind](code)
    assert asked.missing == []
    text = shown_text(page)
    assert not ENGLISH.search(text)
    assert not re.search(r"\d\.\d", text)  # a German reads 2.003 as two thousand and three
    figures = r"[=<> (]\d+[.,]\d+(?:e-?\d+)?"
    assert sorted(found.replace(",", ".").strip("=<> (") for found in re.findall(figures, text)) == sorted(
        found.strip("=<> (") for found in re.findall(figures, english)
    )


@pytest.mark.parametrize("code", language_codes())
def test_nothing_is_claimed_that_a_paper_must_not_claim(code: str) -> None:
    for text in [
        shown_text(register_page(placed(LINES), code=code)),
        *(shown_text(made(code)) for made in REPORTS.values()),
    ]:
        found = CLAIMS.search(
            text.replace("so that the register can forget", " ").replace("damit das Register sie vergessen kann", " ")
        )
        assert found is None, found
    assert {"en": "not a statement that the model is anonymous", "de": "besagt nicht, dass das Modell anonym ist"}[
        code
    ] in REPORTS["everything"](code)


def test_the_report_says_requests_due_dates_budget_pending_and_withheld_first_and_names_no_request() -> None:
    page = REPORTS["everything"](ORIGINAL)
    first = shown_text(page.split('<table class="stack requests">')[0])
    open_ones, late = [line for line in LINES if line.closed is None], sum(line.overdue for line in LINES)
    for said in (
        f"{len(LINES)} in the register, {len(open_ones)} not closed, {late} overdue. Next due: 4 June 2026.",
        "more publication(s) fit into the total of all.",
        "12 records erased, 1 inserted, not covered by any release yet.", "1 publication(s) so far, because the budget did not allow them",
    ):  # fmt: skip
        assert said in first, said
    before, annex = map(shown_text, page.split("Annex: the figures"))
    total, top = "(ε=40, δ=1e-6)", shown_text(page.split("<h2>")[0])
    assert top.count(total) == 1  # the odds name the total that they hold for, and no other figure has symbols
    for symbol in ("ε", "δ", "erased-vs-never", "(replace", "λ"):
        assert symbol not in top.replace(total, ""), symbol
    assert "of 40 is spent (at δ=1e-6)" in annex
    assert "In the terms of the field" in annex
    assert "In the terms of the field" not in before
    assert "answer overdue" in page
    assert "token-" not in page
    assert page.index("answer overdue") < page.index("An erased record:") < page.index("<h2>Register</h2>")


def test_a_bound_that_promises_nothing_is_said_to() -> None:
    plan = make_plan(
        losses.Logistic(radius=1.0), records=50, features=12, regularization=1e-2, method="noisy-gd", budget=Budget(order=8, dp=0.1, deletion=0.01),
        utility=False,
    )  # fmt: skip
    said = summary.compare_risk_bound(plan)
    assert plan.outlook.excess_risk > 0.6931
    assert "no less than what a model that says nothing loses (0.6931), so the bound promises nothing of use" in said
    better = make_plan(
        losses.Logistic(radius=1.0), records=200_000, features=2, regularization=1e-2, method="noisy-gd", budget=Budget(order=8, dp=1.0, deletion=0.1)
    )  # fmt: skip
    assert better.outlook.excess_risk < 0.6931
    assert summary.compare_risk_bound(better).endswith("a model that says nothing loses 0.6931.")
