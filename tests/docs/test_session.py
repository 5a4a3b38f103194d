"""The session printed in the quick start is what the command prints."""

from __future__ import annotations

import pytest

pytest.importorskip("sklearn", reason="scikit-learn is not installed")
pytest.importorskip("pandas", reason="pandas is not installed")
pytest.importorskip("jinja2", reason="jinja2 is not installed")

from tests.docs import session


def test_the_session_of_the_quick_start_is_what_the_command_says() -> None:
    written = session.written_down()
    assert session.without_chance(session.run()) == session.without_chance(written), "python -m tests.docs.session"
    assert "signed and verified" in written
    assert session.without_chance("method 'noisy-gd', 51 times in 100") == "method 'noisy-gd', 51 times in 100"
    assert session.without_chance(written.replace("51 times", "50 times")) != session.without_chance(written)
