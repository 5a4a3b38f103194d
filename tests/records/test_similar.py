"""Spellings of one name fold to one text, and names of different people do not."""

from __future__ import annotations

import random
import string
from unicodedata import normalize

import pytest

from noisygd_delete.records import Names
from noisygd_delete.records.similar import fold_name

INVISIBLE = [
    "\u200b",
    "\u200c",
    "\u200d",
    "\ufeff",
    "\u00ad",
    "\u2060",
    "\u200e",
    "\u202a",
    "\ufe0f",
    "\u034f",
    "\u00a0",
    "\u3000",
    "\t",
]


def inserted(name: str, letters: str, rng: random.Random) -> str:
    place = rng.randrange(len(name) + 1)
    return name[:place] + letters + name[place:]


SPELLINGS = {
    "case": lambda name, rng: name.swapcase(),
    "invisible": lambda name, rng: inserted(name, rng.choice(INVISIBLE), rng),
    "unicode": lambda name, rng: normalize("NFD", name),
    "quotes": lambda name, rng: rng.choice(['"{}"', "'{}'", "b'{}'", "“{}”"]).format(name),
    "spaces": lambda name, rng: f" {name}  ",
}
KINDS = {
    "words": lambda rng: "".join(rng.choices(string.ascii_letters + "äöéñ", k=rng.randint(4, 30))),
    "numbers": lambda rng: str(rng.randrange(1, 10**12)),
    "phones": lambda rng: f"+49 {rng.randrange(100, 999)} {rng.randrange(10**6, 10**7)}",
    "uuids": lambda rng: "-".join(f"{rng.getrandbits(4 * n):0{n}x}" for n in (8, 4, 4, 4, 12)),
    "codes": lambda rng: f"K-{rng.randrange(1, 10**6)}",
}


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("kind", KINDS)
def test_every_spelling_is_met_and_no_other_person(kind: str, seed: int) -> None:
    rng = random.Random(seed)
    people = sorted({KINDS[kind](rng) for _ in range(200)})
    # different people may read alike by chance; whoever does is left out
    people = [
        name
        for name, folded in zip(people, map(fold_name, people), strict=True)
        if list(map(fold_name, people)).count(folded) == 1
    ]
    there, others = people[::2], people[1::2]
    table = Names.of([*there, None, "z" * 300])
    for spelling, write in SPELLINGS.items():
        for name in rng.sample(there, 10):
            written = write(name, rng)
            assert table.has_similar(written) == (written != name), (spelling, name, written)
    for name in rng.sample(others, 20):
        assert not table.has_similar(name), name


@pytest.mark.parametrize(
    ("there", "asked"),
    [
        ("00123", "123"), ("123", "000123.00"), (123, "0123"), (123, "１２３"), ("K-007", "k-7"), ("1234567", "1,234,567"), ("1234567", "1.234.567"),
        ("123000", "1.23E+5"), ("1.23e+5", "123000"), ("1,5e20", "150000000000000000000"), ("1E40", "1" + 40 * "0"), ("12e0", "12"), ("1.23e+5", "12.3E4"),
        ("+49 151 000000", "0049-151-000000"), ("+49 151 000000", "+49 (0)151 000000"), ("O’Brien", "o'brien"),
        ("6f9619ff-8b86-d011-b42d-00c04fc964ff", "{6F9619FF8B86D011B42D00C04FC964FF}"),
        ("17", " 17\t"), ("b'17'", 'b"17"'), (17, "17.0"), ("ﬁne", "fine"), ("e\u0301" * 40, "é" * 40),
        ("6f9619ff8b86d011b42d00c04fc964ff", "urn:uuid:6f9619ff-8b86-d011-b42d-00c04fc964ff"), ("a–b", "a-b"), ("ſtraße", "STRASSE"),
    ],
)  # fmt: skip
def test_pairs(there: str | int, asked: str) -> None:
    assert Names.of([there, "somebody"] if isinstance(there, str) else [there, 5]).has_similar(asked)
    assert not Names.of(["somebody", "1", "12", "1717", "b17", "17.05", None]).has_similar(asked)
    assert not Names.of([there, "x" * 300] if isinstance(there, str) else [there]).has_similar(there), "itself"
