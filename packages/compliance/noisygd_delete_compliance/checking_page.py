"""The page of a certificate that verifies itself: it embeds the signed file and a script that verifies it, offline.

The script is the engine's own verification, translated to JavaScript (see `translator`). It is built with the wheel;
a source checkout builds it on first use.
"""

from __future__ import annotations

import base64
import gzip
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from noisygd_delete.reports.certificate_page import certificate_blocks
from noisygd_delete.reports.html import content_security_policy, csp_digest, file_text, render_template
from noisygd_delete.reports.texts import ORIGINAL, load_language

TEMPLATES = Path(__file__).parent / "templates"
SCRIPT, LOADER = TEMPLATES / "checker.js", TEMPLATES / "loader.js"


def checking_html(certificate: Mapping[str, Any], *, code: str = ORIGINAL) -> str:
    """Return the certificate as an HTML page that verifies itself and is rebuilt from the verified file.

    Args:
        certificate: The certificate.
        code: Code of the page's language; the signed file is the same for all.
    """
    check = embed_certificate(file_text(certificate))
    return render_template(
        "checking_certificate.html",
        package=__package__,
        words=load_language(code),
        blocks=certificate_blocks(certificate, code),
        number=certificate["identity"]["certificate_id"],
        check=check,
        policy=content_security_policy(check["scripts"]),
    )


def embed_certificate(signed: str) -> dict[str, Any]:
    """Return the values of templates/check.html, and the scripts that the page runs.

    Args:
        signed: The exact text of the certificate's file; "" for a page that only verifies other files.
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
    """Return the script that every verifying page runs once its loader has decompressed it."""
    if find_spec(f"{__package__}.translator") is None:  # a wheel, which has the script instead
        return SCRIPT.read_text(encoding="utf-8")
    from .translator import build_cached

    return build_cached()


def compress_script(script: str) -> str:
    """Return a script compressed with gzip, in base64."""
    return base64.b64encode(gzip.compress(script.encode(), mtime=0)).decode()
