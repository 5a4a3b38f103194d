"""HTML from templates: one file, no network, no script, made for printing."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from importlib.resources import files
from typing import Any

from ..privacy.sentences import format_bound, format_number, success_per_hundred
from .certificate_page import certificate_blocks
from .texts import ORIGINAL, Language, load_language

PAGE = b"<!doctype html>\n<!-- noisygd-delete -->"  # how every page begins


def render_template(
    template: str, *, words: Language | None = None, package: str = "noisygd_delete.reports", **values: Any
) -> str:
    """Render a template with every value escaped.

    Args:
        template: File name of the template.
        package: The package that has the template; it may include and extend those of this package.
        words: Language of sentences (`t` in the template) and figures; None means English.
        **values: Values of the template; `policy`, what the page may load or run, is its own style only unless given.
    """
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined  # loaded only when a page is made

    environment = Environment(
        loader=ChoiceLoader([PackageLoader(name) for name in dict.fromkeys((package, "noisygd_delete.reports"))]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    words = words or load_language(ORIGINAL)
    environment.filters["figure"] = words.figure
    environment.filters["exact"] = lambda number: words.numbers(format_number(number, 12))
    environment.filters["percent"] = lambda advantage: words.numbers(format_bound(advantage, percent=True))
    environment.filters["of_hundred"] = success_per_hundred
    environment.filters["moment"] = lambda when: "–" if when is None else words.moment(datetime.fromisoformat(when))
    given = {"t": words.say, "code": words.code, "policy": content_security_policy()} | values
    return environment.get_template(template).render(**given)


def content_security_policy(scripts: Sequence[str] = (), style: str | None = None) -> str:
    """Return the policy of a page: these scripts and its style by their digests, and nothing else.

    Args:
        scripts: The scripts of the page.
        style: A further style source, for pictures with their own; None allows the common style sheet only.
    """
    ran = " ".join(f"'{csp_digest(script)}'" for script in scripts)
    styles = f"'{csp_digest(page_stylesheet())}'" if style is None else style
    allowed = f"{f'script-src {ran}; ' if ran else ''}style-src {styles}"
    return f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'"


def page_stylesheet() -> str:
    """Return the style sheet embedded in every page."""
    return files(__package__).joinpath("templates", "style.css").read_text("utf-8").rstrip("\n")


def file_text(certificate: Mapping[str, Any]) -> str:
    """Return the text of a certificate's file."""
    return json.dumps(certificate, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def certificate_html(certificate: Mapping[str, Any], *, code: str = ORIGINAL) -> str:
    """Return the certificate as an HTML page; the signed JSON is the original, the page states its claims in sentences.

    Args:
        certificate: The certificate.
        code: Code of the page's language; the signed file is the same for all.
    """
    return render_template(
        "certificate.html",
        words=load_language(code),
        blocks=certificate_blocks(certificate, code),
        number=certificate["identity"]["certificate_id"],
    )


def csp_digest(content: str) -> str:
    """Return the digest by which a content security policy names a script or style."""
    return f"sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}"
