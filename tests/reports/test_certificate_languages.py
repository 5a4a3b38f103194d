"""Certificates in other languages: every label and figure of the page, beside the sentences as they were signed."""

from __future__ import annotations

import html
import re

import pytest

from noisygd_delete.accountant import Event
from noisygd_delete.cli import parser
from noisygd_delete.evidence import Erasure, erasure_certificate
from noisygd_delete.evidence.claims import KEYS
from noisygd_delete.evidence.notices import Notices
from noisygd_delete.methods import CountedRecords
from noisygd_delete.privacy.sentences import language_codes as claim_languages
from noisygd_delete.records import EditCounts
from noisygd_delete.reports import certificate_html
from noisygd_delete.reports.certificate_page import COMMANDS
from noisygd_delete.reports.texts import ORIGINAL, language_codes
from tests.docs.options import children

from .histories import usual_plan

NOTICES = Notices(
    purposes="Kredit", models="Modell A", contact="datenschutz@example.org", authority="LfDI", informed="2026-04-20", recipients=2,
    recipients_informed="2026-04-20", backups_until="2026-10-01", withdrawn="2026-04-02",
)  # fmt: skip
TIMES = {"received": "2026-03-31T01:00:00+02:00", "edited": "2026-04-01"}
SERVED = {"served": "2026-04-02", "model_after": "2" * 64}
OTHERS = {
    "checked": "the store was verified when this was issued (12 checks passed)",
    "ledger_entries": 9,
    "ledger_sha256": "ab" * 32,
    "audit": ({"name": "membership", "measured_lower_bound": 0.02, "claimed_advantage": 0.4},),
}
PLACES = ({"kind": "folder", "release": 2, "oldest": 2}, {"kind": "mlflow", "release": 2, "oldest": 1})
FORBIDDEN = re.compile(r"vergess|anonymisiert|DSGVO-konform|verlernt|kein(e)? personenbezogen", re.IGNORECASE)


def a_paper(
    method: str, status: str, *, rows: int = 1, replaced: int = 0, inserted: int = 0, statistic: bool = False, **facts
) -> dict:
    plan = usual_plan(method, utility=method != "objective-perturbation")
    counts = EditCounts(deleted=rows - replaced, replaced=replaced, inserted=inserted)
    events = [Event("learn", plan.calibration.learn_steps, 0, plan.mechanism)]
    if statistic:
        events.append(Event("statistic", 1, 0, CountedRecords(records=2000, deviation=64.0)))
    events.append(Event("unlearn", plan.calibration.delete_steps, counts.total, plan.mechanism, counts))
    made = {"release": len(events), **SERVED} if status == "published" else {"release": None}
    erasure = Erasure(
        rows=rows, replaced=replaced, inserted=inserted, status=status, **{**TIMES, **made, **OTHERS, **facts}
    )
    return erasure_certificate(erasure, plan=plan, events=events, issued="2026-05-03T00:00:00Z")


PAPERS = {
    "one record": lambda: a_paper("noisy-gd", "published", notices=NOTICES, request_id="5b0c7e"),
    "several, corrected too, by a solver": lambda: a_paper("output-perturbation", "published", rows=3, replaced=2, inserted=1),
    "corrections alone, objective perturbation": lambda: a_paper("objective-perturbation", "published", rows=2, replaced=2, inserted=2),
    "withheld": lambda: a_paper("noisy-gd:analysis=paper", "withheld", rows=2),
    "pending, nothing else stated": lambda: a_paper("noisy-gd", "pending", received=None, edited=None),
    "counts were published": lambda: a_paper("noisy-gd", "published", statistic=True),
    "in a source that counts": lambda: a_paper("objective-perturbation", "published", rows=2, replaced=1, inserted=1, deleted_at="version:3",
                                               read_at="version:4", counted="versions"),
    "put in other places": lambda: a_paper("noisy-gd", "published", publishers=PLACES),
    "in a source": lambda: a_paper("objective-perturbation", "published", deleted_at="version:3", read_at="version:4",
                                   residue=({"place": "log", "verdict": "RESIDUAL", "found": 1, "remedy": "vacuum"},)),
}  # fmt: skip


def shown_text(page: str) -> str:
    """What is read of a page: without markup, style, script, and without what stands as code, in quotes or after a version's name."""
    page = re.sub(r"<(style|script|code|pre)\b.*?</\1>", " ", page, flags=re.DOTALL)
    text = html.unescape(re.sub("<[^>]+>", " ", page))
    return re.sub(
        r"noisygd-delete [\w.]+|noisygd-delete/\S+|[“„][^“”]*[“”]|`[^`]*`|definition-4\.1|(Theorem|Satz) 5\.1",
        " ",
        text,
    )


ENGLISH = re.compile(r"\b(the|of|and|is|are|were|not|by|from|with|until|told|received|records?|release|at most)\b")
OWN = re.compile(r"“[^”]*”|`[^`]*`|SHA-256|noisygd-delete\S*|definition-4\.1|zero-out")  # quoted, typed, or a name


def test_labels_and_claims_are_in_the_same_languages() -> None:
    assert set(language_codes()) == set(claim_languages())


@pytest.mark.parametrize("code", [code for code in language_codes() if code != ORIGINAL])
@pytest.mark.parametrize("kind", PAPERS)
def test_every_sentence_of_a_certificate_is_in_the_language(kind: str, code: str) -> None:
    signed = PAPERS[kind]()
    english, page = certificate_html(signed), certificate_html(signed, code=code)
    assert f'<html lang="{code}">' in page
    text = OWN.sub(" ", shown_text(page))
    assert not ENGLISH.search(text), ENGLISH.search(text)
    assert not FORBIDDEN.search(text)
    assert not re.search(r"\d\.\d", text)  # a German reads 2.003 as two thousand and three
    cells = r'<td class="n"[^>]*>([^<]*)<'
    assert [cell.replace(",", ".") for cell in re.findall(cells, page)] == re.findall(cells, english) != []
    assert english.count("<li>") == page.count("<li>")


@pytest.mark.parametrize("kind", PAPERS)
def test_the_first_page_has_no_symbol_and_says_what_to_do(kind: str) -> None:
    """What an officer reads before the annex: sentences, days and odds of a hundred."""
    first = shown_text(certificate_html(PAPERS[kind]()).split('<h2 class="annex">')[0])
    first = re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{64}", " ", first)
    assert not re.search(r"[εδμηλσβ]|K_|definition-4|zero-out|\breplace\b|pairwise|e-\d|∞", first)
    assert "What to do next" in first
    assert "Guessing is right 50 times in 100." in first
    page = certificate_html(PAPERS[kind]())
    assert set(re.findall(r"noisygd-delete ([\w-]+ ?[\w-]*) STORE", page.split("annex")[0])) <= DUTIES
    assert first.index("In plain words") < first.index("What to do next") < first.index("Not covered")


DUTIES = {
    "relearn",
    "publish",
    "publish-to",
    *(f"register {word}" for word in ("letter", "inform", "recipients", "backups")),
}


def test_the_commands_that_are_named_are_there() -> None:
    known = parser()
    for command in {part for commands in COMMANDS.values() for part in commands.split("; ")}:
        words = [word for word in command.split() if word.islower() and not word.startswith("-")]
        found = known
        for word in words:
            found = children(found)[word]
    assert set(COMMANDS) == {key for key, about in KEYS.items() if about.role == "duty"}
