"""The request log: a note is kept whole or not at all, whatever was stated before and however many requests there are."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from noisygd_delete.store import Store


@pytest.mark.parametrize("odd", [math.nan, math.inf, -math.inf], ids=str)
def test_a_note_with_a_number_that_json_lacks_is_refused_and_none_of_its_batch_is_kept(path: Path, odd: float) -> None:
    with Store.open(path) as store:
        store.request_log.update({"first": lambda note: {**note, "stated": 1}})
        before = store.request_log.notes()
        with pytest.raises(ValueError, match="JSON"):
            store.request_log.update(
                {"first": lambda note: {**note, "stated": 2}, "second": lambda note: {"days": [0.5, odd]}}
            )
        assert store.request_log.notes() == before
        assert store.request_log.note("second") is None
