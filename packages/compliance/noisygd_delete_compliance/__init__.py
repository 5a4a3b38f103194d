"""Requests of data subjects as a controller records them, and the documents that answer them.

A register of requests with deadlines, decisions and notifications; letters to the persons; a model card and an annex to
an impact assessment; documents in German; the certificate's page that verifies itself. The engine, noisygd_delete,
finds all of it by entry points.

Example:
    >>> from noisygd_delete_compliance import RequestCase, Rights
    >>> RequestCase(right=Rights.ERASURE, received="2026-05-04T09:30:00+02:00").received
    '2026-05-04T09:30:00+02:00'
"""

from __future__ import annotations

from .case import Channels, Decisions, Grounds, RegisterPolicy, RequestCase, Rights
from .register import Register
from .row import RegisterRow, Served, States

__all__ = [
    "Channels",
    "Decisions",
    "Grounds",
    "Register",
    "RegisterPolicy",
    "RegisterRow",
    "RequestCase",
    "Rights",
    "Served",
    "States",
]
