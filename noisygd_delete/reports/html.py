"""HTML from templates: one file, no network, made for printing; no script but the one that checks a certificate."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from ..privacy.sentences import format_bound, format_number, success_per_hundred
from .certificate_page import certificate_blocks
from .texts import ORIGINAL, Language, load_language

PAGE = b"<!doctype html>\n<!-- noisygd-delete -->"  # how every page begins


def render_template(template: str, *, words: Language | None = None, **values: Any) -> str:
    """A template of this package with every value escaped.

    Args:
        words: the language of sentences (`t` in the template) and figures; default: English.
        values: `policy`, what the page may load or run, is its own style and nothing else unless it is given.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined  # loaded where a page is made

    environment = Environment(
        loader=PackageLoader("noisygd_delete.reports"),
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
    """What a page may load or run: these scripts and its style, by their digests, and nothing from anywhere.

    Args:
        style: a source of styles besides, for pictures that have their own; None: the style sheet of every page alone.
    """
    ran = " ".join(f"'{csp_digest(script)}'" for script in scripts)
    styles = f"'{csp_digest(page_stylesheet())}'" if style is None else style
    allowed = f"{f'script-src {ran}; ' if ran else ''}style-src {styles}"
    return f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'"


def page_stylesheet() -> str:
    """The one style of every page, as it stands in them."""
    return files(__package__).joinpath("templates", "style.css").read_text("utf-8").rstrip("\n")


def file_text(certificate: Mapping[str, Any]) -> str:
    """A certificate as its file holds it."""
    return json.dumps(certificate, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def certificate_html(certificate: Mapping[str, Any], *, checking: bool = False, code: str = ORIGINAL) -> str:
    """The certificate for a reader or a printer. The signed JSON is the original; this page says its claims in sentences.

    Args:
        checking: the page also holds the signed file and a script that verifies it in the reader's browser, without a network, and builds
            what it shows anew from the checked file (`checker`).
        code: of the language that the page is in; the signed file is the same for all.
    """
    words = load_language(code)
    check = embed_certificate(file_text(certificate)) if checking else None
    allowed = content_security_policy(check["scripts"]) if check is not None else content_security_policy()
    return render_template(
        "certificate.html",
        words=words,
        blocks=certificate_blocks(certificate, code),
        number=certificate["identity"]["certificate_id"],
        check=check,
        policy=allowed,
    )


TEMPLATES = Path(__file__).parent / "templates"
SCRIPT, LOADER = TEMPLATES / "checker.js", TEMPLATES / "loader.js"


def embed_certificate(signed: str) -> dict[str, Any]:
    """The parts that templates/check.html shows, and the scripts that the page runs.

    Args:
        signed: the certificate's file, to the letter; "" for a page that only checks other files.
    """
    script, loader = page_script(), LOADER.read_text(encoding="utf-8")
    return {
        "signed": signed,
        "packed": compress_script(script),
        "loader": loader,
        "digest": csp_digest(script),
        "scripts": (loader, script),
    }


@cache
def page_script() -> str:
    """What every page runs once its loader has unpacked it."""
    return SCRIPT.read_text(encoding="utf-8")


def compress_script(script: str) -> str:
    """A script in a quarter of its length."""
    return base64.b64encode(gzip.compress(script.encode(), mtime=0)).decode()


def csp_digest(content: str) -> str:
    """As a page's policy names what it runs."""
    return f"sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}"
