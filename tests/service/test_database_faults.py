"""The table of faults over a database, in a hurry; `make database-faults` makes the committed one."""

from __future__ import annotations

import os

import pytest

pytest.importorskip("noisygd_delete_server", reason="noisygd-delete-server is not installed")
pytest.importorskip("psycopg", reason="psycopg is not installed")

from tests.sources.conftest import server_folder

from .database_faults import BAD, rows

pytestmark = [
    pytest.mark.long,
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(os.name == "nt", reason="SIGKILL"),
]


@pytest.mark.skipif(server_folder() is None, reason="PostgreSQL is not installed")
def test_nothing_is_lost_done_twice_falsely_told_or_stopped() -> None:
    found = list(rows(True, 2000, ["composite"]))
    assert [(fault, counted) for fault, _, counted in found if any(counted[name] for name in BAD)] == []
    assert sum(counted["refused alone"] for _, _, counted in found) == 13
