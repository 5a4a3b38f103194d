"""A store under each method of exact steps learns, deletes and certifies, without a word of the real numbers."""

from __future__ import annotations

from pathlib import Path

import pytest

from noisygd_delete import Budget, EditRequest, Store
from noisygd_delete.evidence import erasure_certificate, verify_certificate
from noisygd_delete.evidence.erasure import erasure_in
from noisygd_delete.methods import Method, OutputPerturbation

from ..store.conftest import SCHEMA
from ..store.conftest import plan as store_plan
from ..store.conftest import records as store_records

OVER_THE_REALS, PLACED = {"real-arithmetic", "gaussian-noise"}, {"exact-steps", "rows-in-place"}


@pytest.mark.parametrize(
    ("method", "asked", "stated", "absent"),
    [
        *((name, (3,), PLACED, OVER_THE_REALS | {"time-unseen"}) for name in ("noisy-gd", "noisy-gd:analysis=paper")),
        (OutputPerturbation(solver="cold"), (3,), PLACED | {"machine-trusted", "time-unseen", "solver-tolerance"}, OVER_THE_REALS),
    ],
    ids=["noisy-gd", "noisy-gd:analysis=paper", "output-perturbation"],
)  # fmt: skip
def test_a_store_learns_deletes_and_certifies(
    method: str | Method, asked: tuple[int, ...], stated: set[str], absent: set[str], tmp_path: Path
) -> None:
    several = {"releases": 8, "budget": Budget(order=4, dp=4.0, deletion=4.0)} if len(asked) > 1 else {}
    plan = store_plan(method=method, **several)
    with Store.create(tmp_path / "store", store_records(), SCHEMA, plan) as store:
        store.learn()
        for number in range(3, max(asked) + 2):
            store.serve(EditRequest.delete([f"identifier-token-000{number}"], request_id=f"r{number}"))
        for number in asked:
            erasure, made, events = erasure_in(store.ledger, request_id=f"r{number}")
            paper = erasure_certificate(erasure, plan=made, events=events)
            found = {check.name: check.passed for check in verify_certificate(paper).checks}
            assert found == {**dict.fromkeys(found, True), "signature": False}, "unsigned, and right in all else"
            keys = {claim["key"] for claim in paper["claims"]}
            assert keys >= stated
            assert not keys & absent
    with Store.open(tmp_path / "store") as store:
        assert store.plan == plan
        if isinstance(method, str):
            steps = {"steps_with": plan.calibration.learn_steps, "steps_without": plan.calibration.delete_steps}
            bound = plan.mechanism.interval("deletion", "erased-vs-never", **steps)
            assert store.accountant.deletion(1, 2, [2]).renyi(4) == pytest.approx(bound.renyi(4))
