"""An answer says what its own request did, whatever else a release covers or waits for one."""

from __future__ import annotations

from pathlib import Path

import pytest

from noisygd_delete import Curator, EditRequest
from noisygd_delete.accountant import Statuses
from noisygd_delete.records import EditCounts
from noisygd_delete.store import Store

from .conftest import made, name, plan, records

REQUESTS = {
    "one": (EditRequest.delete([name(5)]), EditCounts(deleted=1)),
    "two": (EditRequest.delete([name(6), name(7)]), EditCounts(deleted=2)),
    "corrected": (EditRequest.replace({name(8): ([0.1] * 3, 1.0)}), EditCounts(replaced=1)),
}


@pytest.mark.parametrize("which", REQUESTS)
@pytest.mark.parametrize("status", [Statuses.PUBLISHED, Statuses.WITHHELD, Statuses.PENDING])
def test_of_what_waits_a_request_tells_its_own_part(tmp_path: Path, status: Statuses, which: str) -> None:
    request, own = REQUESTS[which]
    asked = EditRequest(request.deletions, request.subjects, request.replacements, request_id="r")
    with Store.open(made(tmp_path / "store", releases=2)) as store:
        if status is Statuses.WITHHELD:
            store.serve(EditRequest.delete([name(4)]))  # the last that the budget pays for
        for k in range(2):
            waits = store.serve(EditRequest.delete([name(k)], request_id=f"w{k}"), publish=False)
            assert (waits.requested, waits.counts.deleted) == (EditCounts(deleted=1), k + 1)
        answer = store.serve(asked, publish=status is not Statuses.PENDING)
        assert (answer.status, answer.requested) == (status, own)
        assert answer.counts == own + EditCounts(deleted=2)
        again = store.serve(asked)
        assert (again.answered_before, again.requested) == (True, own)
        assert store.ledger.edits_at(store.ledger.position("r")) == own


def test_a_curator_in_memory_tells_it_too() -> None:
    curator = Curator(records(), plan())
    assert curator.learn().requested is None
    curator.serve(EditRequest.delete([name(1)]), publish=False)
    answer = curator.serve(EditRequest.delete([name(2)]))
    assert answer is not None
    assert (answer.requested, answer.counts) == (EditCounts(deleted=1), EditCounts(deleted=2))
