"""Whether a release read the rows after a deletion, from two texts alone."""

from __future__ import annotations

from itertools import product

import pytest

from noisygd_delete.errors import InvalidParameter
from noisygd_delete.store.position import check_position, position_covers


@pytest.mark.parametrize(
    ("read", "changed", "shown"),
    [
        ("version:3", "version:3", True),
        ("version:2", "version:3", False),
        ("time:2026-11-22T05:45:00.000001+00:00", "time:2026-11-22T05:45:00+00:00", True),
        ("time:2026-11-22T05:44:59+00:00", "time:2026-11-22T05:45:00+00:00", False),
        ("version:9", "transaction:3", False),
        ("transaction:9", "transaction:3", False),
    ],
)
def test_a_release_shows_a_deletion_only_if_it_was_committed_before(read: str, changed: str, shown: bool) -> None:
    assert position_covers(read, changed) is shown


def test_a_snapshot_covers_another_exactly_if_it_sees_all_that_the_other_saw() -> None:
    """Against the definition, for every pair of small snapshots."""
    small = [
        (first, end, tuple(number for number in range(first, end) if number == first or bits >> number & 1))
        for first, end, bits in product(range(1, 5), range(1, 6), range(0, 64, 2))
        if first <= end
    ]
    small = sorted({(f, e, o) for f, e, o in small if (f == e) == (o == ())})
    sees = {s: {n for n in range(8) if n < s[0] or (n < s[1] and n not in s[2])} for s in small}
    text = {s: f"snapshot:{s[0]}:{s[1]}:{','.join(map(str, s[2]))}" for s in small}
    pairs = list(product(small, small))
    assert len(pairs) > 500
    for one, other in pairs:
        seen = position_covers(text[one], text[other])
        assert not seen or sees[one] >= sees[other], "never too early"
        if one[1] >= other[1]:
            assert seen == (sees[one] >= sees[other])


@pytest.mark.parametrize(
    "text",
    ["", "734", "transaction:", "transaction:-1", "transaction:07", "snapshot:1:2", "snapshot:1:2:3,", "version:1.0",
     "time:2026-13-01T00:00:00+00:00", "time:2026-11-22T05:45:00", "version:" + "9" * 30, "snapshot:1:2:" + "3," * 9000, None, 7],
)  # fmt: skip
def test_anything_else_is_refused(text) -> None:
    with pytest.raises(InvalidParameter, match="position in a source"):
        check_position(text)
