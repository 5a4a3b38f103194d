"""Letters in every language say what the law asks for, both observers, and nothing more than the certificate."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date

import pytest
from noisygd_delete_compliance.case import RegisterPolicy, RequestCase
from noisygd_delete_compliance.letter import render_letter
from noisygd_delete_compliance.row import RegisterRow, Served

from noisygd_delete.accountant.tallies import tally_events
from noisygd_delete.errors import InvalidParameter
from noisygd_delete.evidence.claims import Claim, conditions_in_words
from noisygd_delete.evidence.derivation import claims_of
from noisygd_delete.evidence.facts import Erasure
from noisygd_delete.records import EditCounts
from noisygd_delete.reports.texts import language_codes, load_language
from tests.reports.histories import releases, usual_plan

RECEIVED = "2026-05-04T09:30:00+02:00"
PRACTICE = RegisterPolicy(
    controller="Example <Ltd>",
    contact="desk@example.org",
    authority="the authority",
    purposes="prices",
    models="price-1",
)
OUT = Served(edited="2026-05-05T10:00:00Z", rows=1, published="2026-05-05T10:00:00Z", release=2)
WAITS = Served(edited="2026-05-05T10:00:00Z", rows=1)
CORRECTED = replace(OUT, replaced=1)
CODES = language_codes()
# what no letter may claim, in any language (the sentence that denies it is taken out first)
FORBIDDEN = r"anonym|forgot|vergess|compliant|konform|cheaper|günstiger|billiger|no personal data|keine personenbezogenen|guarantee|ε|%"


@pytest.fixture(scope="module")
def promised() -> tuple[Claim, ...]:
    plan = usual_plan()
    return claims_of(Erasure(rows=1, release=2), plan, tally_events(releases(plan, EditCounts(deleted=1)), 2), 1e-6)


def written(
    case: RequestCase, served: Served | None, promised: tuple[Claim, ...] = (), code: str = "en", **named
) -> str:
    line = RegisterRow("t0k3n", case, served, PRACTICE, date(2026, 5, 20))
    page = render_letter(line, promised, code=code, **named)
    return re.sub(r"\s+", " ", re.sub(r"<style>.*?</style>", "", page, flags=re.S))


@pytest.mark.parametrize("code", CODES)
def test_who_was_erased_reads_both_observers_and_the_remedies(promised: tuple[Claim, ...], code: str) -> None:
    case = RequestCase(received=RECEIVED, recipients=3, recipients_informed="2026-05-18", backups_until="2026-09-01")
    page = written(case, OUT, promised, code)
    odds = [claim.values["of_hundred"] for claim in promised if claim.key in ("erased.later", "erased.all")]
    assert len(odds) == 2
    assert all(f" {number} " in page for number in odds)
    plain = page.replace("&#39;", "'")
    for claim in promised:
        if claim.key in ("erased.later", "erased.all"):
            assert claim.conditions, claim.key
            assert conditions_in_words(claim, code) in plain, "a figure without its condition"
    words = load_language(code)
    for key, values in (
        ("erased", {"edited": date(2026, 5, 5), "rows": 1}), ("published_resumed", {"published": date(2026, 5, 5), "rows": 1}),
        ("recipients", {"count": 3, "informed": date(2026, 5, 18)}), ("backups", {"until": date(2026, 9, 1), "rows": 1}),
        ("not_covered", {}), ("purpose", {"models": "price-1", "purposes": "prices"}), ("contact", {"contact": "desk@example.org"}),
        ("remedy", {"authority": "the authority"}), ("record", {}),
    ):  # fmt: skip
        assert words.say(f"letter.{key}", **values).replace("'", "&#39;") in page, key
    assert "Example &lt;Ltd&gt;" in page
    assert f'lang="{code}"' in page
    assert not re.search(FORBIDDEN, page.replace(words.say("letter.not_anonymous"), ""), re.I)


def begins(key: str, code: str) -> str:
    """The words of a sentence about one record, as far as nothing is filled in; the longest such part."""
    text = load_language(code).sentences[f"letter.{key}"]
    text = text if isinstance(text, str) else text["one"]
    return max(re.split(r"\{\w+\}", text), key=len).strip()


SITUATIONS = {
    "open": (RequestCase(received=RECEIVED), None, ["received"]),
    "pending": (RequestCase(received=RECEIVED, publish_by="2026-06-01"), WAITS, ["erased", "pending", "before_used"]),
    "withdrawn": (RequestCase(), Served(edited=WAITS.edited, rows=1, withdrawn=WAITS.edited), ["withdrawn"]),
    "withheld": (RequestCase(), Served(edited=WAITS.edited, rows=1, withheld=True, withdrawn=WAITS.edited), ["withheld", "withdrawn"]),
    "rectified": (RequestCase(right="rectification"), CORRECTED, ["rectified", "published_resumed"]),
    "refused": (RequestCase(decision="refused", decided="2026-05-06", ground="17(3)(b)"), None, ["refused", "remedy"]),
    "in part": (RequestCase(decision="refused in part", decided="2026-05-06", ground="17(3)(e)"), OUT, ["erased", "refused_in_part"]),
    "opted out": (RequestCase(decision="opted out", decided="2026-05-06"), None, ["opted_out"]),
    "not found": (RequestCase(decision="not found", decided="2026-05-06"), None, ["not_found", "identity"]),
    "extended": (RequestCase(received=RECEIVED, extended_until="2026-07-01", extension_reason="complexity"), None, ["extended"]),
    "restricted": (RequestCase(right="restriction", restricted="2026-05-06"), OUT, ["restricted"]),
    "lifted": (RequestCase(right="restriction", restricted="2026-05-06", lifted="2026-05-07"), OUT, ["lifted"]),
}  # fmt: skip


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("name", SITUATIONS)
def test_each_situation_has_its_sentences_and_claims_nothing_more(
    promised: tuple[Claim, ...], name: str, code: str
) -> None:
    case, served, keys = SITUATIONS[name]
    if served is not None and served.published is None:
        promised = tuple(replace(claim, key="erased.before") for claim in promised if claim.key == "erased.all")
    page = written(case, served, promised if served else (), code, because="Reason.")
    for key in keys:
        start = begins(key, code)
        assert start.replace("'", "&#39;") in page, key
    other = {"refused", "not_found", "restricted", "withheld"} - {key.removesuffix("_in_part") for key in keys}
    for key in other - ({"withheld"} if name == "withheld" else set()):
        assert begins(key, code) not in page or key == "refused", key
    assert not re.search(FORBIDDEN, page.replace(load_language(code).say("letter.not_anonymous"), ""), re.I)


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("right", ["erasure", "rectification"])
@pytest.mark.parametrize(("erased", "rectified"), [(1, 0), (0, 1), (2, 1)])
def test_what_was_done_is_what_the_ledger_counts_whatever_was_asked(
    code: str, right: str, erased: int, rectified: int
) -> None:
    served = replace(OUT, rows=erased + rectified, replaced=rectified)
    page = written(RequestCase(right=right, received=RECEIVED), served, (), code)
    words, day = load_language(code), date(2026, 5, 5)
    for key, rows in (("erased", erased), ("rectified", rectified)):
        said = [words.say(f"letter.{key}", edited=day, rows=n) for n in (1, 2, 3)]
        assert [sentence in page for sentence in said] == [n == rows for n in (1, 2, 3)], key
    assert words.say(f"letter.subject_{right}") in page, "what was asked is said besides"


@pytest.mark.parametrize("code", CODES)
def test_no_letter_promises_a_model_that_may_never_come(code: str) -> None:
    for case in (RequestCase(received=RECEIVED), RequestCase(received=RECEIVED, publish_by="2026-06-01")):
        assert not re.search(r"will be published|wird als|wird bis", written(case, WAITS, (), code))


@pytest.mark.parametrize("code", CODES)
def test_figures_of_single_records_are_not_taken_for_all_of_a_person(code: str) -> None:
    """Three records asked for in one letter, under a plan that takes each for another person's, and under one for three of a person."""
    told = {}
    for most in (1, 3):
        plan = usual_plan(rows_per_subject=most)
        tallied = tally_events(releases(plan, EditCounts(deleted=3)), 2)
        claims = claims_of(Erasure(rows=3, release=2, remaining=0), plan, tallied, 1e-6)
        told[most] = written(RequestCase(received=RECEIVED), replace(OUT, rows=3), claims, code)
    alone = load_language(code).say("letter.alone")
    assert alone in told[1]
    assert alone not in told[3]


def test_a_refusal_is_explained() -> None:
    case = RequestCase(decision="refused", decided="2026-05-06", ground="17(3)(b)")
    with pytest.raises(InvalidParameter, match="explained to the person"):
        written(case, None)
    assert "The law asks for ten years." in written(case, None, because="The law asks for ten years.")
    assert "&lt;script&gt;" in written(case, None, because="<script>")
