"""Identifiers are hashed as California's platform hashes them: its published examples, and an oracle written from its rules."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st
from noisygd_delete_server import identifiers
from noisygd_delete_server.identifiers import FIELDS, Lists, hash_identifier

from tests.oracles import deletion_hash as oracle

# what was given, as it is hashed, its hash: privacy.ca.gov, DROP technical specifications 1.2.0, "Working with the data"
PUBLISHED = [
    ("name", "Juan Pablo", "juanpablo", "91hIbrbzNeqHs3o81O5yNrXUj7wDd2shvZ6THKi9qz8="),
    ("name", "Martinez", "martinez", "2wRPGbwBNxhShjRczx8GfS2c4cjvs4NJskeWloUNtp8="),
    ("zip", "91790-3771", "91790", "2FPZucR4x7U8KlM+SFAX4LPGhwNz/PIZUCSUdDh0o/s="),
    ("zip", "M1B 1A1", "m1b1a", "n8L9q8mVeT6Xt9/EeUNiTukGDrkbPJ3DvOEx14uElxk="),
    ("zip", "00712345", "71234", "aeNUYKh7Xw5sqpxSbSP9eOHsj6iXewbUyavv89DIuhQ="),
    ("zip", " 00300-9999", "300", "mDvWFLta/s5as7YCP3EUfNe2vCMU+dJ690IlQcZVg4k="),
    ("email", "Anna.Smith@Domain.com", "anna.smith@domain.com", "KA18MT/ph6IHYjzT9zwETySDQyvSh87YuoSBpOQtkhE="),
    ("phone", "+1(415)555-9317", "4155559317", "vGM7y5n+hBXRSEAklhHDPCbysyNgYTmXdMcagGUOY8E="),
    ("phone", "+84(90)123 4567", "4901234567", "ptzVkgbv9DonwvPCHmXmJ2SEOaolSh37z3ZzY/Gmm+U="),
    ("vin", "1HGCM82633A004352", "1hgcm82633a004352", "iNswy1m+0VSt8jAfFrvaiQ1R/0HAbgSwNGkwqo6QBss="),
    ("maid", "a3f1c2d4-5678-90ab-cdef-1234567890ab", "a3f1c2d4567890abcdef1234567890ab", "250KY6lOgzYUB3EHrkbDCE2kMEZQE69SF38muhoDudI="),
    ("ctvid", "SmartTV_9F8E7D6C", "smarttv9f8e7d6c", "d9fxuTIrKksBXYDlaWsvQbcyUUfCbUx7v78gd+KP+tc="),
    ("dob", "1776-07-04", "17760704", "skXYXxBER6HQTZ3rXSZH1wVGLQ054mS5rbR/bwvzy4I="),
]  # fmt: skip
RULES = {
    "name": identifiers.person_name,
    "zip": identifiers.postal_code,
    "email": identifiers.email,
    "phone": identifiers.phone,
    "vin": identifiers.vehicle_number,
    "maid": identifiers.advertising_id,
    "ctvid": identifiers.television_id,
    "dob": identifiers.birthday,
}


@pytest.mark.parametrize(("field", "given", "standard", "expected"), PUBLISHED)
def test_the_platforms_own_examples(field: str, given: str, standard: str, expected: str) -> None:
    assert RULES[field](given) == oracle.standardised(field, given) == standard
    assert oracle.hashed(standard) == expected


def test_the_platforms_own_examples_of_several_fields() -> None:
    johnson = hash_identifier(Lists.NDZ, ["Danielle", "Johnson", "1985-07-04", "91790"])
    genesis = hash_identifier(Lists.NAME_VIN, ["Eve", "Genesis", "1HGCM82633A004352"])
    assert johnson == base64.b64decode("PQOfn1RffEKmqMmNAzDKKaoZCwxWbQZkQzPWmQo9REA=")
    assert genesis == base64.b64decode("rtnDuXIe63jXYQQXW5r07GJ7lSsrib8+46QuKFwkOmk=")


TEXTS = st.text(st.characters(max_codepoint=0x24F), max_size=40) | st.text(max_size=20)


@given(TEXTS)
def test_any_text_as_the_oracle_has_it(text: str) -> None:
    for field, rule in RULES.items():
        if field != "dob":
            assert rule(text) == oracle.standardised(field, text), field


@given(st.lists(TEXTS, min_size=4, max_size=4), st.dates(), st.sampled_from(list(Lists)))
def test_any_person_as_the_oracle_has_it(texts: list[str], born: object, kind: Lists) -> None:
    fields = {rule: field for field, rule in RULES.items()}
    values = [
        str(born) if rule is identifiers.birthday else text for rule, text in zip(FIELDS[kind], texts, strict=False)
    ]
    standard = [oracle.standardised(fields[rule], value) for rule, value in zip(FIELDS[kind], values, strict=True)]
    expected = None if None in standard else base64.b64decode(oracle.hashed(*map(str, standard)))
    assert hash_identifier(kind, values) == expected


LETTERS = {
    "ß": "ss",
    "ł": "l",
    "ü": "ue",
    "и": "i",
    "в": "v",
    "а": "a",
    "н": "n",
    "ё": "yo",
    "ι": "i",
    "王": "王",
    "ь": "",
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Straße", "strasse"),
        ("STRASSE", "strasse"),
        ("Łukasz", "lukasz"),
        ("Müller-José", "muellerjose"),  # composed, before its accent is taken off
        ("Mu\u0308ller", "mueller"),  # and however it is written
        ("Иван", "ivan"),  # the example that vendors of the platform's rules print
        ("Ив\u0438\u0306н", "ivin"),  # й: its accent off, then as stated
        ("ΐ", "i"),
        ("王", "王"),  # stated to stay
        ("Ань", "an"),
        ("Петр", None),  # not stated
        ("王小", None),
        ("ь", None),  # nothing is left
    ],
)
def test_letters_become_what_the_operator_states(text: str, expected: str | None) -> None:
    assert identifiers.person_name(text, LETTERS) == expected == (oracle.standardised("name", text, LETTERS) or None)


SPELLED = st.text(st.sampled_from("abcß éÄäłŁüÜиИйЙвёЁ王ьЬ́̈-_1²ﬁΐΪİſⅣ小"), max_size=12)


@given(SPELLED | TEXTS, SPELLED | TEXTS)
def test_any_name_with_stated_letters_as_the_oracle_has_it(first: str, last: str) -> None:
    standard = [oracle.standardised("name", one, LETTERS) for one in (first, last)]
    assert [identifiers.person_name(one, LETTERS) for one in (first, last)] == standard
    others = ["1985-07-04", "91790"]
    rest = [oracle.standardised(field, value) for field, value in zip(("dob", "zip"), others, strict=True)]
    expected = None if None in standard else base64.b64decode(oracle.hashed(*map(str, [*standard, *rest])))
    assert hash_identifier(Lists.NDZ, [first, last, *others], LETTERS) == expected


@pytest.mark.parametrize(
    "letters",
    ["SS ss", "é E", "É e", "a b", "1 i", "и й", "ł l\u3000", "ﬁ fi", "ж zzzzzzzzz"],
)
def test_a_table_of_letters_is_one(letters: str) -> None:
    with pytest.raises(ValueError, match=r"\[letters\]|a to z"):
        identifiers.check_letters(dict([letters.split(" ")]))
    identifiers.check_letters(LETTERS)


@pytest.mark.parametrize("text", ["4 July 1985", "1985-02-30", "19850732", "", "0000-01-01"])
def test_a_birthday_is_a_day(text: str) -> None:
    assert identifiers.birthday(text) is None
