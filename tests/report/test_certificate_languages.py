"""Certificates in other languages: every sentence of every kind of paper, from the one signed text."""

from __future__ import annotations

import html
import re

import pytest

from noisygd_delete import Budget, losses, make_plan
from noisygd_delete.accountant import Event
from noisygd_delete.evidence.notices import Notices
from noisygd_delete.methods import CountedRecords
from noisygd_delete.records import EditCounts
from noisygd_delete.report import Erasure, erasure_certificate
from noisygd_delete.report.catalogue import readings
from noisygd_delete.report.catalogue.readings import reading, written_languages

NOTICES = Notices(
    purposes="Kredit", models="Modell A", contact="datenschutz@example.org", authority="LfDI", informed="2026-04-20", recipients=2,
    recipients_told="2026-04-20", backups_until="2026-10-01", withdrawn="2026-04-02",
)  # fmt: skip
TIMES = {"received": "2026-03-31T01:00:00+02:00", "edited": "2026-04-01T10:00:00Z"}
SERVED = {"served": "2026-04-02T10:00:00Z", "model_after": "2" * 64}
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
    plan = make_plan(
        losses.Logistic(radius=1.0), records=2000, features=12, regularization=1e-2, method=method,
        budget=Budget(order=8, dp=1.0, deletion=0.1), utility=method != "perturbed",
    )  # fmt: skip
    counts = EditCounts(deleted=rows - replaced, replaced=replaced, inserted=inserted)
    events = [Event("learn", plan.learn_steps, 0, plan.mechanism)]
    if statistic:
        events.append(Event("statistic", 1, 0, CountedRecords(records=2000, deviation=64.0)))
    events.append(Event("unlearn", plan.delete_steps, counts.total, plan.mechanism, counts))
    made = {"release": len(events), **SERVED} if status == "published" else {"release": None}
    erasure = Erasure(
        rows=rows, replaced=replaced, inserted=inserted, status=status, **{**TIMES, **made, **OTHERS, **facts}
    )
    return erasure_certificate(erasure, plan=plan, events=events, issued="2026-05-03T00:00:00Z")


PAPERS = {
    "one record": lambda: a_paper("sharp", "published", notices=NOTICES, request_id="5b0c7e"),
    "several, corrected too, by a solver": lambda: a_paper("minimiser", "published", rows=3, replaced=2, inserted=1),
    "corrections alone, objective perturbation": lambda: a_paper("perturbed", "published", rows=2, replaced=2, inserted=2),
    "withheld": lambda: a_paper("theorem", "withheld", rows=2),
    "pending, nothing else stated": lambda: a_paper("sharp", "pending", received=None, edited=None),
    "counts were published": lambda: a_paper("sharp", "published", statistic=True),
    "in a source that counts": lambda: a_paper("perturbed", "published", rows=2, replaced=1, inserted=1, deleted_at="version:3",
                                               read_at="version:4", counted="versions"),
    "put in other places": lambda: a_paper("sharp", "published", publishers=PLACES),
    "in a source": lambda: a_paper("perturbed", "published", deleted_at="version:3", read_at="version:4",
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


@pytest.mark.parametrize("code", [code for code in written_languages() if code != readings.ORIGINAL])
def test_both_texts_of_a_sentence_have_the_same_places(code: str) -> None:
    for english, put in reading(code).sentences.items():
        places = {text: set(re.findall(r"\{(\w+)\}", text)) for text in (english, put)}
        assert places[put] <= places[english], english
        numbers = {name for name in places[english] if name.startswith(("n", "day"))}
        assert numbers <= places[put], english  # no figure and no day is left out


def test_what_no_catalogue_has_stays_as_it_was_signed() -> None:
    asked = reading("de")
    assert asked.say("A sentence of a later version.") == "A sentence of a later version."
    assert asked.missing == ["A sentence of a later version."]
    assert (
        asked.say("Backups may hold the record until 1 October 2026.")
        == "Sicherungskopien können den Datensatz bis zum 1. Oktober 2026 enthalten."
    )
