"""No trip through the house enters more rooms or files than its page says."""

from __future__ import annotations

import re

from tests.trips import PAGE, TABLE, counts


def test_no_trip_is_longer_than_its_page_says() -> None:
    found = TABLE.search(PAGE.read_text())
    assert found
    said = {
        name: tuple(map(int, numbers.split(" | ")))
        for name, numbers in re.findall(r"\| ([a-z ]+) \| ([\d |]+) \|", found[0])
    }
    walked = counts()
    assert said.keys() == walked.keys()
    longer = {
        name: (numbers, said[name])
        for name, numbers in walked.items()
        if any(a > b for a, b in zip(numbers[:2], said[name], strict=False))
    }
    assert longer == {}, "python -m tests.trips writes it, if it must be so long"
