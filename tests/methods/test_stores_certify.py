"""A store under each method of exact steps learns, deletes and certifies, without a word of the real numbers."""

from __future__ import annotations

from pathlib import Path

import pytest

from noisygd_delete import EditRequest, Store
from noisygd_delete.evidence import erasure_certificate, verify_certificate
from noisygd_delete.evidence.erasure import erasure_in
from noisygd_delete.methods import Method, OutputPerturbation

from ..store.conftest import SCHEMA
from ..store.conftest import plan as store_plan
from ..store.conftest import records as store_records

OVER_THE_REALS, PLACED = {"real-arithmetic", "gaussian-noise"}, {"exact-steps", "rows-in-place"}


@pytest.mark.parametrize(
    ("method", "stated"),
    [
        ("noisy-gd", PLACED),
        ("noisy-gd:analysis=paper", PLACED),
        (OutputPerturbation(solver="cold"), PLACED | {"machine-trusted", "time-unseen", "solver-tolerance"}),
    ],
    ids=["noisy-gd", "noisy-gd:analysis=paper", "output-perturbation"],
)
def test_a_store_learns_deletes_and_certifies(method: str | Method, stated: set[str], tmp_path: Path) -> None:
    plan = store_plan(method=method)
    with Store.create(tmp_path / "store", store_records(), SCHEMA, plan) as store:
        store.learn()
        store.serve(EditRequest.delete(["identifier-token-0003"], request_id="r3"))
        erasure, made, events = erasure_in(store.ledger, request_id="r3")
        paper = erasure_certificate(erasure, plan=made, events=events)
        found = {check.name: check.passed for check in verify_certificate(paper).checks}
        assert found == {**dict.fromkeys(found, True), "signature": False}, "unsigned, and right in all else"
        keys = {claim["key"] for claim in paper["claims"]}
        assert keys >= stated
        assert not keys & OVER_THE_REALS
        assert ("time-unseen" in keys) == ("time-unseen" in stated)
    with Store.open(tmp_path / "store") as store:
        assert store.plan == plan
        if isinstance(method, str):
            steps = {"steps_with": plan.calibration.learn_steps, "steps_without": plan.calibration.delete_steps}
            bound = plan.mechanism.interval("deletion", "erased-vs-never", **steps)
            assert store.accountant.deletion(1, 2, [2]).renyi(4) == pytest.approx(bound.renyi(4))
