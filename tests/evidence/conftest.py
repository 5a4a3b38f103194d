"""The key that papers of tests are signed with."""

from ..reports.conftest import key

__all__ = ["key"]
