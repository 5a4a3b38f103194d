"""Fixtures of the register, the command line and signed documents."""

from __future__ import annotations

from tests.cli.conftest import folder, made
from tests.reports.conftest import key
from tests.store.conftest import path

__all__ = ["folder", "key", "made", "path"]
