"""Documents for people: the erasure certificate as a page, and the report on a whole store.

Both are built from public facts only: a plan, the ledger of releases, times and random request ids.

Example:
    Write the page of a signed certificate::

        from noisygd_delete.reports import certificate_html

        Path("certificate.html").write_text(certificate_html(certificate), encoding="utf-8")
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..lazy_imports import on_first_use

if TYPE_CHECKING:
    from .html import certificate_html
    from .summary import store_report

__all__ = ["certificate_html", "store_report"]

__getattr__ = on_first_use(__name__, {"certificate_html": "html", "store_report": "summary"})
