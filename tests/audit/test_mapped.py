"""Attacks on mapped tables: a public map stays within its certificate, and one that peeks at other records does not."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import audits
from noisygd_delete import maps
from noisygd_delete.audit import audit_releases
from noisygd_delete.errors import AssumptionViolated

pytest.importorskip("sklearn", reason="scikit-learn is not installed")
MAP = audits.MAPS[1]


@pytest.mark.parametrize("peeks", [False, True])
def test_a_map_that_peeks_at_other_records_is_refused_and_breaks_the_certificate(peeks) -> None:
    target, others = audits.digits()
    tried = audits.ByTheLargest((MAP,)) if peeks else MAP
    found = audit_releases(
        audits.mapped_plan(MAP),
        target=target,
        others=others,
        runs=40,
        publish=audits.through(tried),
        rng=np.random.default_rng(1),
    )
    assert (found.verdict == "fail") == peeks, found.text()
    erased = [row.verdict for row in found.rows if row.question.endswith("that erased it")]
    assert (set(erased) == {"fail"}) == peeks
    records = np.concatenate([target.features, others.features])
    if peeks:
        assert found.three is not None
        assert found.three.verdict == "fail"
        with pytest.raises(AssumptionViolated, match="the records beside it"):
            maps.check_map(tried, records)
    else:
        maps.check_map(tried, records)
