"""What nothing checks stands apart and in quotation marks; what a certificate says once it does not contradict elsewhere."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from noisygd_delete.accountant.events import Statuses
from noisygd_delete.evidence import Erasure, erasure_certificate, sign_document, verify_certificate
from noisygd_delete.evidence.claims import KEYS
from noisygd_delete.evidence.notices import Notices
from noisygd_delete.privacy.sentences import load_catalogue
from noisygd_delete.records import EditCounts
from noisygd_delete.reports import certificate_html
from noisygd_delete.reports.certificate_page import certificate_blocks
from noisygd_delete.reports.texts import language_codes

from ..bank import plan_by
from ..evidence.reading_papers import keys
from .certificate_mutations import dumped
from .histories import releases, usual_plan

FALSE = 'fine.” It is `harmless`. «"“'
QUOTED = re.compile("“[^”]*”|„[^“]*“")
REPORT = [
    {"place": f"{FALSE} a", "verdict": "RESIDUAL", "found": 2, "remedy": f"{FALSE} b"},
    {"place": "logs", "verdict": "NOT COVERED", "found": 0, "remedy": None},
    {"place": "cache", "verdict": "ERASED", "found": 0, "remedy": None},
]


def certified(**facts: Any) -> dict[str, Any]:
    plan = usual_plan()
    events = releases(plan, EditCounts(deleted=1))
    given = {
        "rows": 1,
        "release": 2,
        "received": "2026-03-01T10:00:00Z",
        "edited": "2026-03-02",
        "served": "2026-03-02",
    }
    made = erasure_certificate(Erasure(**{**given, **facts}), plan=plan, events=events, issued="2026-03-05T10:00:00Z")
    return json.loads(dumped(made))


def stated() -> dict[str, Any]:
    """With a text of the operator's in every place that takes one."""
    texts = {name: f"{FALSE} {name}" for name in ("purposes", "models", "contact", "authority")}
    audit = ({"name": f"{FALSE} audit", "measured_lower_bound": 0.0, "claimed_advantage": 0.001},)
    publishers = ({"kind": f"{FALSE} kind", "release": 2, "oldest": 1},)
    return certified(
        controller=f"{FALSE} controller", request_id=f"{FALSE} id", checked=f"{FALSE} checked", from_data=(f"{FALSE} column",),
        notices=Notices(**texts), audit=audit, residue=REPORT, publishers=publishers,
    )  # fmt: skip


def texts_of(blocks: list[dict[str, Any]]) -> Iterator[tuple[str, list[str]]]:
    """(kind of the block, parts of a line) of everything that a certificate shows."""
    for block in blocks:
        if "text" in block:
            yield block["kind"], [block["text"]]
        for line in block.get("lines", ()):
            yield block["kind"], line
        for row in block.get("rows", ()):
            yield from ((block["kind"], [cell] if isinstance(cell, str) else cell) for cell in row)


@pytest.mark.parametrize("code", language_codes())
def test_the_operators_texts_are_quoted_and_cannot_end_their_quotation(code: str) -> None:
    shown = list(texts_of(certificate_blocks(stated(), code)))
    holding = [(kind, parts) for kind, parts in shown if any("harmless" in part for part in parts)]
    assert len(holding) == 11
    for _, parts in holding:
        assert "harmless" not in QUOTED.sub("", parts[0]), parts
        assert all("harmless" not in part for part in parts[1::2])  # no text is shown as a command
    assert sum(kind == "stated" for kind, _ in holding) == 7


def test_what_a_search_found_stands_on_the_first_page_and_is_claimed(key: Path) -> None:
    made = stated()
    found = {claim["key"]: claim["values"] for claim in made["claims"] if claim["key"].startswith("residue.")}
    assert found == {"residue.found": {"places": 1}, "residue.unread": {"places": 1}}
    kinds = [block["kind"] for block in certificate_blocks(made, "en")]
    assert "warning" in kinds[: kinds.index("stated")]
    assert verify_certificate(sign_document(made, key)).passed
    for left in found:
        without = {**made, "claims": [claim for claim in made["claims"] if claim["key"] != left]}
        assert not verify_certificate(sign_document(without, key)).passed
    assert not {"residue.found", "residue.unread"} & keys(certified(residue=REPORT[2:]))


def test_an_audit_is_not_certified_by_a_figure_that_its_reporter_chose() -> None:
    (line,) = [
        parts[0]
        for kind, parts in texts_of(certificate_blocks(stated(), "en"))
        if kind == "stated" and "0.001" in parts[0]
    ]
    assert "certified" not in line


def test_a_restriction_has_its_own_title_and_a_lifted_one_no_duty_to_erase_again() -> None:
    plain, restricted = certified(), certified(notices=Notices(restricted="2026-03-02"))
    lifted = certified(notices=Notices(restricted="2026-03-02", lifted="2026-03-04"))
    titles = [certificate_blocks(made, "en")[0]["text"] for made in (plain, restricted, lifted)]
    assert len(set(titles)) == 3
    for made, title in zip((plain, restricted, lifted), titles, strict=True):
        assert f"<title>{title} " in certificate_html(made)
    assert {"to-do.backups", "to-do.withdraw"} <= keys(restricted)
    assert not {"to-do.backups", "to-do.withdraw"} & keys(lifted)


@pytest.mark.parametrize(
    ("status", "total", "duty"),
    [
        (Statuses.WITHHELD, None, "to-do.budget"),
        (Statuses.WITHHELD, (30.0, 1e-6), "to-do.total"),
        (Statuses.PENDING, None, "to-do.publish"),
    ],
)
def test_what_a_request_without_a_release_waits_for_is_a_duty(status, total, duty) -> None:
    plan = usual_plan(total=total)
    facts = {"rows": 1, "release": None, "status": status, "edited": "2026-03-02"}
    made = erasure_certificate(Erasure(**facts), plan=plan, events=releases(plan)[:1])
    assert keys(made) & {"to-do.budget", "to-do.total", "to-do.publish"} == {duty}


@pytest.mark.parametrize("remaining", [None, 0, 2])
def test_the_annex_is_about_what_the_plain_words_are_about(remaining: int | None) -> None:
    plan = usual_plan(rows_per_subject=3)
    events = releases(plan, EditCounts(deleted=1))
    made = erasure_certificate(Erasure(rows=1, release=2, remaining=remaining), plan=plan, events=events)
    (unit,) = {claim["values"]["unit"] for claim in made["claims"] if claim["key"].startswith("erased.")}
    rows = [
        row[0]
        for block in certificate_blocks(made, "en")
        if block["kind"] == "table"
        for row in block["rows"]
        if "erased" in row[0]
    ]
    assert unit == ("person" if remaining == 0 else "row")
    assert rows
    assert all(("each row by itself" in row) == (unit == "row") for row in rows)


def test_sums_are_not_learned_afresh() -> None:
    plan = plan_by("sufficient-statistics")
    edits = EditCounts(deleted=1)
    made = erasure_certificate(Erasure(rows=1, release=2), plan=plan, events=releases(plan, edits))
    assert "published.carried" in keys(made)


def leaves(entry: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    if isinstance(entry, str):
        yield path, entry
    else:
        for name, part in entry.items():
            if name != "by":
                yield from leaves(part, (*path, name))


MAY = {
    "en": re.compile(r"\b(?:may|can)\b", re.I),
    "de": re.compile(r"\b(?:kann|können|könnte|könnten|mag|dürfen|darf)\b", re.I),
}


def test_no_language_is_surer_than_the_other() -> None:
    said = {code: dict(leaves(load_catalogue(code)["claims"])) for code in ("en", "de")}
    assert said["en"].keys() == said["de"].keys()
    surer = [
        path
        for path, text in said["en"].items()
        if re.search(r"\bmay\b", text) and not MAY["de"].search(said["de"][path])
    ]
    assert surer == []
    counted = {path: len(re.findall(r"\bmay\b", text)) for path, text in said["en"].items()}
    assert [path for path, times in counted.items() if len(MAY["de"].findall(said["de"][path])) < times] == []


def test_claims_with_texts_are_the_ones_that_are_set_apart() -> None:
    free = {"models", "purposes", "contact", "complaint.to"}
    texts = {key for key, line in KEYS.items() if "text" in line.values.values() and line.role == "notice"}
    assert texts == free
