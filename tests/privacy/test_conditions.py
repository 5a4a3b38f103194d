"""What a command prints as a condition is what a paper prints."""

from __future__ import annotations

from noisygd_delete.privacy.sentences import format_condition
from noisygd_delete.privacy.worlds import FIXED_RECORD, FIXED_SCHEDULE, FIXED_TARGET, NON_ADAPTIVE


def test_conditions_are_said_as_papers_say_them() -> None:
    assert format_condition("requests-blind", {}) == NON_ADAPTIVE
    assert format_condition("schedule-fixed", {}) == FIXED_SCHEDULE
    assert format_condition("target-fixed", {}) == FIXED_TARGET
    assert format_condition("record-fixed", {}) == FIXED_RECORD
