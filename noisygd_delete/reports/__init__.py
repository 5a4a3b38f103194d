"""Documents for people: the erasure certificate as a page, and the report on a whole store.

Both are built from public facts only: a plan, the ledger of releases, times and random request ids.

Example:
    Write the page of a signed certificate::

        from noisygd_delete.reports.html import certificate_html

        Path("certificate.html").write_text(certificate_html(certificate), encoding="utf-8")
"""
