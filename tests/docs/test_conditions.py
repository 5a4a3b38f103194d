"""docs/methods.md says of every method every condition that its papers state; a page that is cut keeps the conditions of what it says."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest

from noisygd_delete.privacy.sentences import load_catalogue
from tests.bank import plan_by
from tests.docs import conditions
from tests.docs.prose import ROOT

PAGE = conditions.PAGE.read_text(encoding="utf-8")


def test_the_page_of_methods_has_every_condition_of_every_method() -> None:
    (section,) = conditions.SECTION.findall(PAGE)
    assert section.strip() == conditions.written(conditions.bank()).strip(), "python -m tests.docs.conditions"
    assert set(conditions.WORDS) <= set(load_catalogue("en")["claims"])
    assert set(conditions.WORDS) == set(conditions.rests(conditions.bank())), "every line is some method's"


@dataclass(frozen=True)
class _Longer:
    """A mechanism that states one condition more, or one less."""

    keys: tuple[str, ...]

    def conditions(self) -> tuple[tuple[str, dict[str, object]], ...]:
        return tuple((key, {}) for key in self.keys)


def test_a_condition_that_a_method_gets_or_loses_is_seen() -> None:
    whole = conditions.bank()
    sharp = [key for key, _ in plan_by("sharp").mechanism.conditions()]
    more, less = _Longer((*sharp, "time-unseen")), _Longer(tuple(sharp[:-1]))
    for other in (more, less):
        assert conditions.written({**whole, "sharp": other}) != conditions.written(whole)  # type: ignore[dict-item]
    with pytest.raises(KeyError):
        conditions.written({**whole, "sharp": _Longer((*sharp, "a-new-one"))})  # type: ignore[dict-item]


# what a page's statements hold under, as it says it: whoever shortens a page keeps these, or says them better and changes the line here
KEPT = {
    "README.md": [
        "The first figure holds if requests did not depend on earlier models",
        "The second holds whatever the requests were, as long as what was seen did not decide when a model came out",
        "linear models with a proven loss", "whose old traces do not fade", "a machine that somebody else controls while it runs",
        "for others a gap to the theorems is left", "each model at the same privacy budget",
    ],
    "docs/methods.md": [
        "if requests did not depend on earlier models", "convex, C², L-Lipschitz and β-smooth", "η ≤ 2/(2λ+β)", "η < 1/(λ+β)", "row norms at most R",
        "ε_dp < d", "an unobserved past", "refused where nλ is small beside a row's curvature", "ε_dp is per release, given the one before",
        "a fresh one that nobody saw is charged in full", "a horizon after which only a fresh learn forgets", "neither the schedule of publications nor the set of observed ones",
    ],
    "docs/privacy-officer.md": [
        "nobody chose requests after seeing earlier models", "as long as nothing that was seen decided when a model came out", "must not be chosen after looking at the models",
        "only a cap fixed beforehand counts", "except with probability δ", "only where a cap on the sum of all publications was set",
    ],
    "docs/limitations.md": [
        "no deletion engine can do", "Forgetting in full needs a convex objective", "never saw the records", "contracts is not proven in floating point", "tell nearly surely whether one person is in it",
        "Caches and power are not covered", "not a legal category", "as good as the one who signs them",
    ],
    "docs/non-convex.md": [
        "above the loss's weak convexity", "only a fresh learn, due after a fixed number of requests", "whose DP-SGD cost you accept for good", "Poisson sampling and holds at zero-out",
        "Clipping keeps no convexity beyond one gradient direction per record", "charged by composition", "withheld",
    ],
    "docs/sources.md": [
        "choose each row by itself", "as wrong, and not noticed", "none is read", "others are refused", "adds them in an order that their contents fix",
        "at most `--batch` rows changed since the last release", "encrypt the swap", "what their steps have not yet forgotten are in the figures", "show that this program alone changed rows", "A subscriber of logical replication runs no triggers of statements",
    ],
    "docs/absence.md": ["after triggers and constraints that wait for the commit", "a row of the person under another id", "refuse every failover", "has no marks, only the clock"],
    "docs/engines.md": [
        "without `spark.io.encryption.enabled`, or with an event log", "deletion vectors, renamed columns", "below ten roundings", "more than one machine", "switch off spilling",
    ],
    "docs/choosing.md": [
        "must be at most `dp`", "well below 1/n", "one row per person", "never from data", "slots that stay filled", "never the minimum and maximum of the table", "covers all of them together",
        "s ≤ L/(4ρ)", "does not forget",
    ],
    "docs/certificates.md": ["answers for it|the signer answers", "only for a public key or key id that its reader gives", "A page can be forged as a whole", "not a statement that the model is anonymous", "A store that does not verify gets none"],
    "docs/scaling.md": ["not run on a GPU so far", "whoever reads that traffic can undo the noise", "over gloo alone"],
    "docs/scikit-learn.md": ["`sample_weight` is refused", "is public and allowed", "their costs add", "outside any certificate", "the model is marked uncertified"],
    "docs/service.md": ["Insertions are not taken", "It decides nothing", "Without a cap, what waits is published at once", "needs `--tls-certificate`", "rows go and publication is withheld"],
    "docs/audit.md": ["It is evidence, never the reason for a figure", "only if the bound also comes within a factor", "halved noise passes unseen"],
    "docs/streams.md": ["whatever requests depended on", "if requests did not depend on earlier ones", "Nobody else may edit the table", "before it starts"],
    "docs/ladder.md": ["only the first one", "What the base showed of a record stays until a fresh learn", "Never start a stage where the last published model was", "do not depend on the rows"],
    "docs/which_model.md": ["if it never saw them", "which no certificate covers", "nothing is fitted", "pure, record by record"],
    "docs/command-line.md": ["no deletion takes earlier counts back", "statistic of private data", "While edits wait it is refused", "nothing more is published", "A forecast|a forecast does not"],
    "docs/publishers.md": ["belongs to one store", "copies that others made, replicas, backups, caches", "models may lie in places that are not known"],
    "docs/drop.md": ["is **not hashed**", "No hash is kept", "several persons have the identifier", "stay the broker's own|the broker's own duties"],
    "docs/table.md": ["an encrypted volume", "as far as that certificate reaches", "never the erasure"],
    "docs/quick-start.md": ["yours to erase", "the papers then say that they are the data's own", "who wrote requests after looking at it"],
    "docs/claims.md": ["evidence and no proof", "is not proven but tested", "for requests that did not depend on models", "Theorem 5.2 is right and asks for more steps than can be run"],
    "docs/literature.md": ["few were read beyond an abstract"],
    "docs/conformance.md": ["never instead of deletion", "none of it is a finding of conformity"],
}  # fmt: skip


def lost(pages: dict[str, str]) -> list[str]:
    """Conditions that a page no longer has."""
    return [
        f"{name}: {words}"
        for name, kept in KEPT.items()
        for words in kept
        if not re.search("|".join(re.escape(each) for each in words.split("|")), pages[name])
    ]


def read() -> dict[str, str]:
    return {name: re.sub(r"\s+", " ", (ROOT / name).read_text(encoding="utf-8")) for name in KEPT}


def test_no_page_has_lost_a_condition() -> None:
    assert lost(read()) == []


def test_a_page_without_one_of_its_sentences_is_seen() -> None:
    """Whichever sentence with a condition is cut out, that condition is missed."""
    pages = read()
    for name, kept in KEPT.items():
        for words in kept:
            one = "|".join(re.escape(each) for each in words.split("|"))
            without = re.sub(rf"[^.|*]*(?:{one})[^.|*]*", " ", pages[name])
            assert f"{name}: {words}" in lost({**pages, name: without})
