"""The page of what a certificate rests on is what the verification reaches, and it does not reach what it need not."""

from __future__ import annotations

import ast

from . import trusted


def test_the_page_lists_what_the_verification_reaches() -> None:
    assert trusted.PAGE.read_text("utf-8") == trusted.page(), "python -m tests.docs.trusted"


def test_neither_planner_nor_store_nor_words_are_among_it() -> None:
    reached = trusted.lines_reached()
    assert not [
        file
        for file in reached
        if file.startswith(("planner/", "engine/", "curator/", "report/", "cli/", "service/", "schema/"))
    ]
    assert {
        "evidence/verification.py",
        "evidence/derivation.py",
        "bounds/shifted_interpolation.py",
        "accountant/account.py",
    } <= set(reached)
    assert sum(reached.values()) < 6_700  # of code; falls from version to version


def test_docstrings_are_no_lines_of_code() -> None:
    part = ast.parse(
        'class A:\n    """One.\n\n    Two.\n    """\n\n    def b(self):\n        """Three."""\n        return 1\n'
    ).body[0]
    assert trusted.code_lines(part) == 4
