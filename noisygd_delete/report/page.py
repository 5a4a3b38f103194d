"""HTML from templates: one file, no network, made for printing; no script but the one that checks a certificate."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import datetime
from importlib.resources import files
from typing import Any

from ..evidence.words import dated
from ..privacy.shown import right_of_hundred, shown
from .catalogue.readings import ORIGINAL, Reading, reading
from .checker import embedded

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


def figure(value: Any) -> str:
    """A number for a table: four digits, rounded up like every bound; a dash where there is none."""
    if value is None:
        return "–"
    if isinstance(value, float):
        return shown(value)
    return f"{value:,}".replace(",", " ") if isinstance(value, int) else str(value)


QUESTIONS = {
    "definition-4.1": "Was the record ever in the data? (definition-4.1: a record against no record)",
    "zero-out": "Was the record ever in the data? (zero-out: a record against no record)",
    "pairwise": "Was it this content or another? (pairwise: two records, one of which was there)",
    "replace": "Was it this content or another? (replace: two records, one of which was there)",
}
LABELS = {
    "erased_later_models": "what was erased, from every model since",
    "erased_all_models": "what was erased, from all models ever published",
    "replaced_later_models": "the content before the rectification, from every model since",
    "replaced_all_models": "the content before the rectification, from all models ever published",
    "existing_one_release": "a record still there, from the last model alone",
    "existing_all_models": "a record still there, from all models",
}


def certificate_html(certificate: Mapping[str, Any], *, checking: bool = False, code: str = ORIGINAL) -> str:
    """The certificate for a reader or a printer. The signed JSON is the original; this page shows it.

    Figures about different pairs of worlds stand in different tables: a number of one column is compared with its neighbours.

    Args:
        checking: the page also holds the signed file and a script that verifies it in the reader's browser, without a network (`checker`).
        code: of the language that the page is in; the signed file is the same for all.
    """
    tables: dict[tuple[str, str], dict[str, tuple[str, Any]]] = {}
    for name, label in LABELS.items():
        figures = certificate["statement"]["guarantees"].get(name)
        if figures is not None:
            group = tables.setdefault((figures["adjacency"], name.partition("_")[0]), {})
            group[label] = name, figures
    shown_tables = [(QUESTIONS[adjacency], rows) for (adjacency, _), rows in tables.items()]
    check = None
    if checking:
        check = embedded(file_text(certificate), stylesheet(), code=code) | {"decimal": reading(code).decimal}
    return render("certificate.html", words=reading(code), c=certificate, tables=shown_tables, check=check)
