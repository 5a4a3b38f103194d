"""Mutants of an erasure certificate, and which of them are unsafe: claim more than the paper that they come from, or state other facts.

The generators know the layout of the file and nothing of the package: one alters fields, the other swaps parts between valid papers. Every
mutant is a text, re-signed by the caller where it still parses: what is tested is not the signature but whether a dishonest *signer*
can claim more than follows from the facts. A mutant may verify if it claims no more than the honest paper did (a larger figure, a condition
more, the same in another order) and differs in facts that the operator states, each in its range.
"""

from __future__ import annotations

import copy
import json
import math
import random
import re
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import Any

Path = tuple[Any, ...]

# what only the operator can say. Everything else follows from the facts, or is read with them and must fit
HEX = re.compile("[0-9a-f]{64}")
UUID = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def _text(value: Any) -> bool:
    return value is None or (
        isinstance(value, str) and 0 < len(value) <= 1000 and value.isprintable() and bool(value.strip())
    )


def _time(value: Any) -> bool:
    try:
        return isinstance(value, str) and datetime.fromisoformat(value).isoformat() == value
    except ValueError:
        return False


def _digest(value: Any) -> bool:
    return value is None or (isinstance(value, str) and HEX.fullmatch(value) is not None)


def _number(value: Any) -> bool:
    return type(value) in (int, float) and 0 <= value <= 1


STATED: dict[Path, Callable[[Any], bool]] = {
    ("identity", "certificate_id"): lambda v: isinstance(v, str) and UUID.fullmatch(v) is not None,
    ("identity", "version"): lambda v: isinstance(v, str) and re.fullmatch(r"\d+(\.\d+)+[a-z0-9.+-]*", v) is not None,
    ("identity", "issued"): _time,
    ("identity", "controller"): _text,
    ("request", "request_id"): _text,
    ("action", "model_before_sha256"): _digest,
    ("action", "model_after_sha256"): _digest,
    ("evidence", "checked"): _text,
    ("evidence", "ledger_entries"): lambda v: v is None or (type(v) is int and v > 0),
    ("evidence", "ledger_sha256"): _digest,
}
SAME_DAY = {("request", "received")}  # stated too, but the deadline is counted from it: only the time of day is free
BOUNDS = {
    "of_hundred",
    "advantage",
    "epsilon",
    "renyi",
    "gdp",
    "odds",
}  # of a figure: more than can be proven may be stated
# conditions, and remarks on how little a figure limits: to state one too many takes nothing away
HARMLESS = {
    "map-public", "gradient-norm", "constants-declared", "slots-public", "gaussian-noise", "real-arithmetic", "solver-tolerance", "time-unseen",
    "exact-noise", "row-shape", "exact-steps", "rows-in-place", "machine-trusted", "stages-published", "samples-unseen", "counts-one-cell",
    "moments-own-norm", "hardly", "left.base", "left.extractor", "left.statistics", "requests-blind", "schedule-fixed", "schedule-calendar",
    "target-fixed", "record-fixed", "total-fixed",
}  # fmt: skip


def allowed(path: Path, old: Any, new: Any) -> bool:
    """Whether a certificate may still verify with this one value in place of the old."""
    if path[0] == "public_facts":
        return True  # no claim, and the ones beside it are judged by themselves
    if path in SAME_DAY:
        return _time(new) and _time(old) and new[:10] == old[:10]
    if path == ("request", "remaining"):  # each record counts as another person's in these papers
        return new is None or (type(new) is int and new >= 0)
    if path[:2] == ("evidence", "audit") and len(path) == 4:
        return isinstance(new, str) and _text(new) if path[3] == "name" else _number(new)
    if path == ("evidence", "audit"):
        return isinstance(new, list) and all(row in old for row in new)  # an audit less, or told twice
    return path in STATED and STATED[path](new)


def unsafe(before: dict[str, Any], after: Any) -> bool:
    """Whether the second paper claims what the first does not, leaves out what it says, or states other facts."""
    try:
        facts = [
            place_fine(before[block], after[block], (block,))
            for block in ("format", "identity", "request", "action", "evidence")
        ]
        return (
            not all(facts)
            or claims_more(before["claims"], after["claims"])
            or not set(after) <= set(before) | {"signature"}
        )
    except (KeyError, TypeError, AttributeError, IndexError):
        return True


def place_fine(old: Any, new: Any, path: Path) -> bool:
    """Whether facts may stand so, each in its place."""
    if same(old, new) or allowed(path, old, new):
        return True
    if isinstance(old, dict) and isinstance(new, dict) and set(old) == set(new):
        return all(place_fine(old[name], new[name], (*path, name)) for name in old)
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        return all(place_fine(one, other, (*path, i)) for i, (one, other) in enumerate(zip(old, new, strict=True)))
    return False


def claims_more(before: list[dict[str, Any]], after: list[dict[str, Any]]) -> bool:
    """Whether a claim of the first list has no place in the second where it stands as cautiously, or another stands there."""
    left = list(after)
    for claim in before:
        fitting = next((one for one in left if weaker(claim, one)), None)
        if fitting is None:
            return True
        left.remove(fitting)
    return any(one["key"] not in HARMLESS for one in left)


def weaker(claim: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether the second says no more than the first."""
    values, others = claim["values"], other["values"]
    return (
        claim["key"] == other["key"]
        and set(values) == set(others)
        and set(other["conditions"]) >= set(claim["conditions"])
        and set(other["conditions"]) <= HARMLESS
        and all(_no_less(name, values[name], others[name]) for name in values)
    )


def _no_less(name: str, value: Any, other: Any) -> bool:
    if name not in BOUNDS:
        small = type(other) in (int, float) and abs(other) < 2.0**1000  # a larger integer is no float
        near = type(value) is float and small and math.isclose(value, other, rel_tol=1e-9)
        return same(value, other) or near
    if other is None or value is None:
        return other is None and name != "of_hundred"
    return type(other) in (int, float) and not isinstance(other, bool) and math.inf > other >= value * (1 - 2e-9)


def mixtures(papers: list[dict[str, Any]], sign: Callable[[dict[str, Any]], dict[str, Any]], count: int, seed: int):
    """(text, whether it may verify, what was done) of mutants made of parts of valid papers: other claims, releases, requests, units,
    conditions, and another format's name."""
    source = random.Random(seed)
    while count:
        one, other = source.sample(papers, 2)
        changed = copy.deepcopy({name: block for name, block in one.items() if name != "signature"})
        way = source.choice(("block", "block", "claim", "figure", "unit", "condition", "fact", "format"))
        if way == "block":
            name = source.choice(("claims", "public_facts", "request", "action", "evidence"))
            changed[name] = copy.deepcopy(other[name])
        elif way == "claim":
            claim = copy.deepcopy(source.choice(other["claims"]))
            at = source.randrange(len(changed["claims"]))
            changed["claims"][at : at + source.choice((0, 1))] = [claim]
        elif way == "figure":
            mine = [c for c in changed["claims"] if "advantage" in c["values"]]
            theirs = [c for c in other["claims"] if "advantage" in c["values"]]
            source.choice(mine)["values"] |= copy.deepcopy(source.choice(theirs)["values"])
        elif way == "unit":
            figures = [c for c in changed["claims"] if "unit" in c["values"]]
            units = (
                {"unit": "person"},
                {"unit": "row"},
                {"rows_per_person": 5},
                {"question": "used"},
                {"worlds": "zero-out"},
            )
            source.choice(figures)["values"] |= source.choice((*units, {"rows": 9}))
        elif way == "condition":
            held = [c for c in changed["claims"] if c["conditions"]]
            claim = source.choice(held)
            claim["conditions"] = source.choice(
                ([], ["requests-blind"], ["schedule-fixed"], ["curator-trusted"], ["requests-blind", "schedule-fixed"])
            )
        elif way == "fact":
            block = source.choice(("request", "action", "evidence", "identity"))
            name = source.choice(list(changed[block]))
            changed[block][name] = copy.deepcopy(other[block][name])
        else:
            changed["format"] = f"noisygd-delete/erasure-certificate/{source.choice((0, 2, 4))}"
        if same(changed, {name: block for name, block in one.items() if name != "signature"}):
            continue
        yield dumped(sign(changed)), not unsafe(one, changed), f"{way} of another paper"
        count -= 1


def leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every place of a JSON value, containers included."""
    if path:
        yield path, value
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, part in inner:
        yield from leaves(part, (*path, name))


def place(document: Any, path: Path) -> Any:
    for step in path:
        document = document[step]
    return document


def with_value(document: Any, path: Path, value: Any) -> Any:
    """A copy with another value in one place."""
    changed = copy.deepcopy(document)
    place(changed, path[:-1])[path[-1]] = value
    return changed


ODD: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2, 1e-300, 1e300, -5, 0.5, 10**400, "", "x", " ", "\x1b[2J", "0.1.0", "9.9.9", "published", "pending",
    "withheld", [], {}, [1], {"a": 1}, "2026-01-31T10:00:00+00:00", "0001-01-01T00:00:00+00:00", "f" * 64, "F" * 64, "a" * 2000,
)  # fmt: skip


def other(value: Any, random: random.Random) -> Any:
    """Another value, near by or far off."""
    if random.random() < 0.35:
        return random.choice(ODD)
    if isinstance(value, bool) or value is None:
        return not value
    if isinstance(value, int):
        near = (value + 1, value - 1, value * 2, -value, "7")
        return random.choice((*near, float(value)) if abs(value) < 1e300 else near)
    if isinstance(value, float):
        last = math.nextafter(value, math.inf), math.nextafter(value, -math.inf)
        return random.choice(
            (*last, value * (1 + 1e-10), value * (1 - 1e-7), value * 0.999, value * 2, -value, round(value, 3))
        )
    if isinstance(value, str) and value:
        at = random.randrange(len(value))
        letter = random.choice("0123456789abcdef:-.%xε ")
        return random.choice(
            (value[:at] + letter + value[at + 1 :], value[:at] + value[at + 1 :], value + letter, value[::-1])
        )
    if isinstance(value, list) and value:
        at = random.randrange(len(value))
        return random.choice((value[:at] + value[at + 1 :], [*value, value[at]], value[::-1]))
    if isinstance(value, dict) and value:
        name = random.choice(list(value))
        rest = {key: part for key, part in value.items() if key != name}
        return random.choice((rest, {**value, "extra": 1}, {**rest, f"{name}x": value[name]}))
    return random.choice(ODD)


def same(old: Any, new: Any) -> bool:
    """Whether two values are one in JSON, in which 1 and 1.0 are one number; true is another, and so is -0.0."""
    old, new = whole(old), whole(new)
    return type(old) is type(new) and json.dumps(old, sort_keys=True) == json.dumps(new, sort_keys=True)


def whole(value: Any) -> Any:
    """The value with whole numbers as `int`, however they were written."""
    if isinstance(value, dict):
        return {name: whole(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [whole(part) for part in value]
    return int(value) if type(value) is float and value.is_integer() and str(value)[0] != "-" else value


def duplicated(text: str, random: random.Random) -> str:
    """The text with one name given twice in an object, the second time with another value."""
    names = list(re.finditer(r'"(\w+)": (?=[^\s])', text))
    found = random.choice(names)
    value = random.choice(('"x"', "0", "true", "null", "1e-9", '{"a": 1}'))
    return f'{text[: found.start()]}"{found[1]}": {value}, {text[found.start() :]}'


def mutants(paper: dict[str, Any], sign: Callable[[dict[str, Any]], dict[str, Any]], count: int, seed: int):
    """(text of the file, whether it may verify, what was done) of `count` mutants, re-signed by `sign`."""
    source = random.Random(seed)
    unsigned = {name: block for name, block in paper.items() if name != "signature"}
    places = list(leaves(unsigned))
    while count:
        way = source.random()
        if way < 0.06:
            yield duplicated(json.dumps(paper, indent=2), source), False, "a name twice"
        elif way < 0.12:
            path, old = source.choice(list(leaves(paper["signature"])))
            new = other(old, source)
            if same(old, new):
                continue
            yield dumped(with_value(paper, ("signature", *path), new)), False, f"signature.{path}"
        else:
            changed, done = unsigned, []
            for _ in range(source.choice((1, 1, 1, 2, 3))):
                # every third time among the facts that a signer may state, which are few
                path, _ = source.choice(places) if source.random() < 0.67 else (source.choice(list(STATED)), None)
                try:
                    old = place(changed, path)
                except (KeyError, IndexError, TypeError):
                    continue
                if not isinstance(place(changed, path[:-1]), (dict, list)):
                    continue  # a text in the place of a list
                new = other(old, source)
                if not same(old, new):
                    changed = with_value(changed, path, new)
                    done.append(f"{'.'.join(map(str, path))}: {str(old)[:60]!r} -> {str(new)[:60]!r}")
            if not done or same(changed, unsigned):
                continue
            fine = not unsafe(unsigned, changed)
            try:
                yield dumped(sign(changed)), fine, "; ".join(done)
            except (ValueError, TypeError):
                yield dumped(changed), False, "; ".join(done)  # no canonical form: nobody can sign it
        count -= 1


def dumped(document: Any) -> str:
    return json.dumps(document, indent=2)


def verdicts(made: Iterable[tuple[str, bool, str]], verify: Callable[[str], bool]) -> tuple[list[str], int]:
    """(mutants that verify and must not, how many verified because they may)."""
    wrong, passed = [], 0
    for text, fine, done in made:
        if verify(text):
            passed += 1
            if not fine:
                wrong.append(done)
    return wrong, passed
