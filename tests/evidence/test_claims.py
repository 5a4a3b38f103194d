"""One table of what may be claimed: every key has its sentence in every language, and no sentence stands without its conditions."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from noisygd_delete.errors import InvalidParameter
from noisygd_delete.evidence.claims import CATALOGUE, KEYS, Claim, claim_sentence, claim_terms
from noisygd_delete.evidence.notices import Reasons
from noisygd_delete.evidence.verification import claims_fault
from noisygd_delete.privacy.sentences import language_codes, load_catalogue
from noisygd_delete.store.position import COUNTED_BY

from ..bank import PROBLEMS, plan_by

RESULTS = Path(__file__).parents[2] / "proofs_check" / "RESULTS.md"
SAMPLES: dict[str, Any] = {
    "count": 2, "odds": 57, "bound": 0.12345, "number": 1e-6, "day": "2026-05-04", "text": "{x} }{ Ltd", "word": "trigger",
    "list": ["age", "{pay}"],
}  # fmt: skip
CONDITIONS = {"figure": ("requests-blind", "target-fixed", "schedule-fixed"), "odds": ("total-fixed",)}
WORDS = {"question": ("used", "which"), "unit": ("row", "person"), "figure": ("erased.all",), "reason": ("number",)}


def claims(key: str) -> list[Claim]:
    """Claims of a key: one and many, by every word that its sentence is picked by."""
    values = {name: SAMPLES[unit] for name, unit in KEYS[key].values.items()}
    conditions = CONDITIONS.get(KEYS[key].role, ())
    words = {name: WORDS.get(name, (value,))[0] for name, value in values.items() if isinstance(value, str)}
    both = [values | words, {**values, **words, **{n: 1 for n, unit in KEYS[key].values.items() if unit == "count"}}]
    asked = [{**one, "question": word} for one in both for word in WORDS["question"]] if "question" in values else both
    return [Claim(key, one, conditions) for one in asked]


@pytest.mark.parametrize("language", language_codes())
def test_every_key_has_its_sentence_in_every_language(language: str) -> None:
    words = load_catalogue(language)
    assert set(words["claims"]) == set(KEYS)
    for key in KEYS:
        for claim in claims(key):
            said = claim_sentence(claim, language)
            assert said.strip() == said
            assert said
            assert ("{x} }{ Ltd" in said) == ("text" in KEYS[key].values.values()), (
                key
            )  # what a person wrote stays as it is


def shape(entry: Any) -> Any:
    """What an entry is picked by, and what is filled into each of its sentences."""
    if isinstance(entry, str):
        return sorted(set(re.findall(r"{(\w+)}", entry)))
    return {name: inner if name == "by" else shape(inner) for name, inner in entry.items()}


@pytest.mark.parametrize("language", language_codes())
def test_a_language_has_every_part_of_the_catalogue_and_nothing_that_nobody_says(language: str) -> None:
    words, english = load_catalogue(language), load_catalogue("en")
    assert set(words) == set(english)
    said = {
        *COUNTED_BY,
        *map(str, Reasons),
        "erased",
        "published",
        "informed",
    }  # values that are words; of figures, where they are from
    figures = {key for key, about in KEYS.items() if about.role == "figure"}
    assert set(words["words"]) == said | figures
    for key, entry in words["claims"].items():
        assert shape(entry) == shape(english["claims"][key]), key


@pytest.mark.parametrize("language", language_codes())
def test_no_figure_is_said_without_its_conditions(language: str) -> None:
    words = load_catalogue(language)["claims"]
    for key in (key for key, about in KEYS.items() if about.role in CONDITIONS):
        for claim in claims(key):
            said = claim_sentence(claim, language)
            assert all(words[name] in said for name in claim.conditions), key
            assert KEYS[key].role == "odds" or "57" in said, key
        with pytest.raises(KeyError):
            claim_sentence(Claim(key, claims(key)[0].values), language)  # no condition given: nothing is said


def test_a_figure_rests_on_a_row_of_the_proofs() -> None:
    text = RESULTS.read_text("utf-8")
    for key, about in KEYS.items():
        assert bool(about.row) == (about.role in CONDITIONS), key
        assert not about.row or f"| {about.row} " in text, key


def test_numbers_are_written_rounded_up_and_days_as_people_write_them() -> None:
    assert claim_sentence(Claim("edited", {"day": "2026-05-04"})) == "The table was changed on 4 May 2026."
    assert "0.1235" in claim_sentence(Claim("ranges-public", {"radius": 0.1235}))
    assert re.search(
        r"\bage, pay\b", claim_sentence(Claim("ranges-from-data", {"radius": 1.0, "columns": ["age", "pay"]}))
    )


@pytest.mark.parametrize("method", PROBLEMS)
def test_a_guarantee_assumes_in_words_what_papers_claim_by_keys(method: str) -> None:
    """One catalogue: a plan's answer, `budget --json` and papers say the same sentences."""
    plan = plan_by(method)
    conditions = [claim_sentence(Claim(key, values)) for key, values in plan.mechanism.conditions()]
    assert conditions
    assert set(conditions) <= set(plan.dp.assumptions)


def test_other_values_than_its_own_are_refused() -> None:
    for claim in (Claim("edited", {}), Claim("edited", {"day": "2026-05-04", "more": 1}), Claim("forgotten", {})):
        with pytest.raises(InvalidParameter, match="no claim"):
            claim_sentence(claim)


def test_a_figure_in_the_terms_of_the_field_has_its_divergence_where_there_is_one() -> None:
    due = claims("erased.all")[0]
    alone = claim_terms(replace(due, values={**due.values, "renyi": None}))
    assert claim_terms(due).startswith(alone)
    assert "Rényi" in claim_terms(due).removeprefix(alone)


# --- what a verifier compares ---

# a claim too many takes nothing away: remarks and conditions that follow from the mechanisms of the releases
HARMLESS = {
    "gradient-norm", "constants-declared", "slots-public", "gaussian-noise", "real-arithmetic", "solver-tolerance", "time-unseen", "exact-noise",
    "exact-steps", "rows-in-place", "row-shape", "machine-trusted", "stages-published", "samples-unseen", "counts-one-cell", "moments-own-norm",
    "sums-carried", "sums-all-rows", "weighed-by-person", "persons-once", "hardly", "left.base", "left.extractor", "left.statistics",
}  # fmt: skip
# unit -> (values that hold where the sample is proven, values that do not)
STATED: dict[str, tuple[list[Any], list[Any]]] = {
    "bound": ([0.12345 * (1 - 1e-10), 0.2, 1, None], [0.12345 * (1 - 1e-8), -0.2, -0.0, math.inf, math.nan, True, "0.2"]),
    "odds": ([57, 58, 100], [56, 101, 57.0, True, None, -57]),
    "number": ([1e-6 * (1 + 1e-10)], [1e-6 * (1 + 1e-6), 1e-7, 0, None, True, "1e-6"]),
    "count": ([2], [1, 3, 2.0, -2, True, None, "2", 2**53]),
    "day": (["2026-05-04"], ["2026-05-05", "2026-5-4", "soon", "", None, 20260504]),
    "text": (["{x} }{ Ltd"], ["{x} }{ ltd", "", None, 1, ["{x} }{ Ltd"]]),
    "word": ([], ["other", "", None, 1]),
    "list": ([["age", "{pay}"]], [["age"], ["{pay}", "age"], "age", None, [1, 2], ["age", 2]]),
}  # fmt: skip


@pytest.mark.parametrize("key", KEYS)
def test_a_claim_holds_if_it_states_no_less_than_is_proven(key: str) -> None:
    """Each value for itself, with every condition; one claim less is a fault, and one more unless it only limits."""
    due = claims(key)[0]

    def fault(*stated: Claim) -> str | None:
        try:
            return claims_fault(stated, [due], CATALOGUE)
        except InvalidParameter as error:  # no day
            return str(error)

    assert fault(due) is None
    assert fault() is not None
    assert (fault(due, due) is None) == (key in HARMLESS)
    for name, unit in KEYS[key].values.items():
        right, wrong = STATED[unit]
        for value in (*right, *wrong):
            holds = value in right and type(value) in {type(one) for one in right if one == value}
            found = fault(replace(due, values={**due.values, name: value}))
            assert (found is None) == holds, (name, value, found)
        assert fault(replace(due, values={n: v for n, v in due.values.items() if n != name})) is not None
    assert fault(replace(due, values={**due.values, "more": 1})) is not None
    for condition in due.conditions:
        left = tuple(name for name in due.conditions if name != condition)
        assert condition in str(fault(replace(due, conditions=left)))
    assert fault(replace(due, conditions=(*due.conditions, "machine-trusted"))) is None
    for wrong in ("not-anonymous", "ranges-public", "nonsense", *due.conditions[:1]):
        assert fault(replace(due, conditions=(*due.conditions, wrong))) is not None, wrong


def test_a_figure_that_cannot_be_proven_is_stated_by_nobody() -> None:
    due = claims("present.all")[0]
    unknown = replace(due, values={**due.values, "epsilon": None})
    assert claims_fault([unknown], [unknown], CATALOGUE) is None
    assert claims_fault([due], [unknown], CATALOGUE) is not None
