"""The key that papers of tests are signed with."""

from __future__ import annotations

from pathlib import Path

import pytest

from noisygd_delete.evidence import new_key


@pytest.fixture(scope="session")
def key(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of a controller; the public half lies beside it (`.pub`)."""
    file = tmp_path_factory.mktemp("keys") / "controller.pem"
    new_key(file)
    return file
