"""HTML from templates: one file, no network, made for printing; no script but the one that checks a certificate."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import date, datetime
from importlib.resources import files
from typing import Any

from ..evidence.claims import KEYS, Claim, sentence
from ..evidence.claims import languages as claim_languages
from ..privacy.shown import right_of_hundred, shown
from .catalogue.readings import ORIGINAL, Reading, reading

PAGE = b"<!doctype html>\n<!-- noisygd-delete -->"  # how every page begins


def render(template: str, *, words: Reading | None = None, **values: Any) -> str:
    """A template of this package with every value escaped.

    Args:
        words: the language of sentences (`t` in the template) and figures; default: English.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined  # loaded where a page is made

    environment = Environment(
        loader=PackageLoader("noisygd_delete.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    words = words or reading(ORIGINAL)
    environment.filters["figure"] = lambda value: words.numbers(figure(value))
    environment.filters["exact"] = lambda number: words.numbers(re.sub("e-0*", "e-", f"{number:.12g}"))
    environment.filters["percent"] = lambda advantage: words.numbers(shown(advantage, percent=True))
    environment.filters["of_hundred"] = right_of_hundred
    environment.filters["moment"] = written_out
    environment.filters["day"] = lambda when: "–" if when is None else dated(when)
    return environment.get_template(template).render(
        **{"t": words.say, "named": words.named, "code": words.code} | values
    )


def stylesheet() -> str:
    """The one style of every page, as it stands in them."""
    return files(__package__).joinpath("templates", "style.css").read_text("utf-8").rstrip("\n")


def file_text(certificate: Mapping[str, Any]) -> str:
    """A certificate as its file holds it."""
    return json.dumps(certificate, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def written_out(when: str | None) -> str:
    """A moment for people, with the zone in which it was written down."""
    if when is None:
        return "–"
    found = datetime.fromisoformat(when)
    zone = "UTC" if not found.utcoffset() else f"UTC{found.strftime('%z')[:3]}:{found.strftime('%z')[3:]}"
    return f"{dated(found.date())}, {found:%H:%M} {zone}"


_MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]


def dated(when: str | date) -> str:
    """A day as people write it, in no country's order of numbers."""
    day = when if isinstance(when, date) else date.fromisoformat(when)
    return f"{day.day} {_MONTHS[day.month - 1]} {day.year}"


def figure(value: Any) -> str:
    """A number for a table: four digits, rounded up like every bound; a dash where there is none."""
    if value is None:
        return "–"
    if isinstance(value, float):
        return shown(value)
    return f"{value:,}".replace(",", " ") if isinstance(value, int) else str(value)


QUESTIONS = {
    "used": "Was the record ever in the data? (a record against no record)",
    "which": "Was it this content or another? (two records, one of which was there)",
}
LABELS = {
    "erased.later": "what was erased, from every model since",
    "erased.all": "what was erased, from all models ever published",
    "erased.before": "what was erased, from all models so far",
    "replaced.later": "the content before the rectification, from every model since",
    "replaced.all": "the content before the rectification, from all models ever published",
    "replaced.before": "the content before the rectification, from all models so far",
    "present.one": "a record still there, from the last model alone",
    "present.all": "a record still there, from all models",
}


def certificate_html(certificate: Mapping[str, Any], *, checking: bool = False, code: str = ORIGINAL) -> str:
    """The certificate for a reader or a printer. The signed JSON is the original; this page says its claims in sentences.

    Figures about different pairs of worlds stand in different tables: a number of one column is compared with its neighbours.

    Args:
        checking: the page also holds the signed file and a script that verifies it in the reader's browser, without a network (`checker`).
        code: of the language that the page is in; the signed file is the same for all.
    """
    claims = [Claim(**claim) for claim in certificate["claims"]]
    spoken = code if code in claim_languages() else ORIGINAL
    said: dict[str, list[str]] = {kind: [] for kind in ("plain", "notice", "condition", "uncovered", "duty")}
    tables: dict[str, dict[str, Claim]] = {}
    for claim in claims:
        kind = KEYS[claim.key].kind
        if kind == "figure":
            tables.setdefault(claim.values["question"], {})[LABELS[claim.key]] = claim
        if not claim.key.startswith("present."):
            said[kind if kind in said else "plain"].append(sentence(claim, spoken))
    check = None
    if checking:
        from .checker import embedded

        check = embedded(file_text(certificate), stylesheet(), code=code) | {"decimal": reading(code).decimal}
    shown_tables = [(QUESTIONS[question], rows) for question, rows in tables.items()]
    return render("certificate.html", words=reading(code), c=certificate, said=said, tables=shown_tables, check=check)
