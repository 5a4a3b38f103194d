"""The key that papers of tests are signed with."""

from ..papers.conftest import key

__all__ = ["key"]
