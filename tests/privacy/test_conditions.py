"""What a command prints as a condition is what a paper prints."""

from __future__ import annotations

from noisygd_delete.privacy.guarantee import FIXED_RECORD, FIXED_SCHEDULE, FIXED_TARGET, NON_ADAPTIVE
from noisygd_delete.privacy.sentences import condition


def test_conditions_are_said_as_papers_say_them() -> None:
    assert condition("requests-blind", {}) == NON_ADAPTIVE
    assert condition("schedule-fixed", {}) == FIXED_SCHEDULE
    assert condition("target-fixed", {}) == FIXED_TARGET
    assert condition("record-fixed", {}) == FIXED_RECORD
