"""Which names a source has rows of, in few questions."""

from __future__ import annotations

import random
from typing import Any

import pytest
from noisygd_delete_sources import Source


class Counting:
    """A source that counts how often it is asked."""

    subject = "person"
    find_held = Source.find_held

    def __init__(self, ids: dict[str, int], persons: dict[str, int]) -> None:
        self.ids, self.persons, self.asked = ids, persons, 0

    def held(self, ids: list[str], subjects: list[str], *, names: bool = False) -> int:
        self.asked += 1
        rows = [self.ids.get(one, 0) for one in ids] + [self.persons.get(one, 0) for one in subjects]
        return sum(min(number, 1) if names else number for number in rows)


@pytest.mark.parametrize("seed", range(20))
def test_the_names_that_are_there_are_found_and_no_others(seed: int) -> None:
    draw = random.Random(seed)
    wanted = [f"n{k}" for k in range(draw.randrange(1, 60))]
    there = {one for one in wanted if draw.random() < draw.choice((0.0, 0.1, 0.9, 1.0))}
    source: Any = Counting(
        *({one: draw.randrange(1, 4) for one in there} for _ in range(2))
    )  # an id can stand in several rows
    assert source.find_held(wanted) == there
    assert source.find_held(wanted, persons=True) == there
    assert source.find_held([]) == set()


def test_ids_that_are_all_there_or_none_of_them_are_one_question() -> None:
    wanted = [f"n{k}" for k in range(50)]
    for there in (set(wanted), set()):
        source: Any = Counting(dict.fromkeys(there, 2), dict.fromkeys(there, 3))
        assert source.find_held(wanted) == source.find_held(wanted, persons=True) == there
        assert source.asked == 2
