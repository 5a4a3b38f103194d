"""Mutants of an erasure certificate, and what an honest verifier must say of each.

The generator knows the layout of the file and nothing of the package. Every mutant is a text, re-signed by the caller
where it still parses: what is tested is not the signature but whether a dishonest *signer* can alter what follows from the
facts. A mutant may verify only if it says the same in every recomputed place, and differs in facts that the operator
states, each in its range.
"""

from __future__ import annotations

import copy
import json
import math
import random
import re
from collections.abc import Callable, Iterator
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
    ("evidence", "ledger_entries"): lambda v: type(v) is int and v > 0,
    ("evidence", "ledger_sha256"): _digest,
}
SAME_SENTENCES = {  # stated too, but sentences or the deadline are made from them: only the time of day is free
    ("request", "received"),
    ("request", "edited"),
    ("request", "served"),
}


def allowed(path: Path, old: Any, new: Any) -> bool:
    """Whether a certificate may still verify with this one value in place of the old."""
    if path in SAME_SENTENCES:
        return _time(new) and _time(old) and new[:10] == old[:10]
    if path[:2] == ("evidence", "audit") and len(path) == 4:
        return isinstance(new, str) and _text(new) if path[3] == "name" else _number(new)
    if path == ("evidence", "audit"):
        return isinstance(new, list) and all(row in old for row in new)  # an audit less, or told twice
    return path in STATED and STATED[path](new)


def may_stand(path: Path, before: Any, after: Any) -> bool:
    """The same of what stands in one place in the end, however it came there."""
    try:
        old, new = place(before, path), place(after, path)
    except (KeyError, IndexError, TypeError):
        return False
    return same(old, new) or allowed(path, old, new)


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
    """Whether two values are one in JSON. Where a fraction is due, 1 is 1.0, as most languages write it; a whole number with
    a fraction's point, and true, are others."""
    if type(old) is float and type(new) is int:
        return old == new
    return type(old) is type(new) and json.dumps(old, sort_keys=True) == json.dumps(new, sort_keys=True)


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
            changed, touched, done = unsigned, [], []
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
                    touched.append(path)
                    done.append(f"{'.'.join(map(str, path))}: {str(old)[:60]!r} -> {str(new)[:60]!r}")
            if not done or same(changed, unsigned):
                continue
            fine = all(may_stand(path, unsigned, changed) for path in touched)
            try:
                yield dumped(sign(changed)), fine, "; ".join(done)
            except (ValueError, TypeError):
                yield dumped(changed), False, "; ".join(done)  # no canonical form: nobody can sign it
        count -= 1


def dumped(document: Any) -> str:
    return json.dumps(document, indent=2)


def verdicts(
    paper: dict[str, Any],
    sign: Callable[[dict[str, Any]], dict[str, Any]],
    verify: Callable[[str], bool],
    count: int,
    seed: int,
) -> tuple[list[str], int]:
    """(mutants that verify and must not, how many verified because they may)."""
    wrong, passed = [], 0
    for text, fine, done in mutants(paper, sign, count, seed):
        if verify(text):
            passed += 1
            if not fine:
                wrong.append(done)
    return wrong, passed
