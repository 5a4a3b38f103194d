"""HTML from templates: one file, no script, no network, made for printing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..errors import MissingDependency

PAGE = b"<!doctype html>\n<!-- noisygd-delete -->"  # how every page begins


def render(template: str, **values: Any) -> str:
    """A template of this package with every value escaped."""
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError as error:
        raise MissingDependency("HTML pages need jinja2; pip install 'noisygd-delete[report]'") from error
    environment = Environment(
        loader=PackageLoader("noisygd_delete.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["figure"] = figure
    return environment.get_template(template).render(**values)


def figure(value: Any) -> str:
    """A number for a table: four digits; a dash where there is none."""
    if value is None:
        return "–"
    if isinstance(value, float):
        return re.sub(r"e([+-])0", r"e\1", f"{value:.4g}")
    return f"{value:,}".replace(",", " ") if isinstance(value, int) else str(value)


def certificate_html(certificate: Mapping[str, Any]) -> str:
    """The certificate for a reader or a printer. The signed JSON is the original; this page shows it."""
    labels = {
        "erased_later_models": "the erased record, from every model since",
        "erased_all_models": "the erased record, from all models ever published",
        "existing_one_release": "a record still there, from the last model alone",
        "existing_all_models": "a record still there, from all models",
    }
    return render("certificate.html", c=certificate, labels=labels)
