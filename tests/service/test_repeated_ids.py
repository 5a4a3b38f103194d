"""A request id used again for other contents is refused, whichever kinds of stores the service has, and the person stays nowhere unnoticed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.sources.conftest import learned, people

from .conftest import Opened, make_store, name, person, raw


def source_store(folder: Path) -> Path:
    """Make a store over a table of DuckDB that holds the same persons by the same names as `make_store`."""
    pytest.importorskip("duckdb")
    from tests.sources.tables import InDuckdb

    folder.mkdir()
    rows = [(name(k), person(k), *row[2:]) for k, row in enumerate(people())]
    learned(folder / "sourced", InDuckdb(folder, rows).source()).close()
    return folder / "sourced"


SERVICES: dict[str, list[Callable[[Path], Path]]] = {
    "one store": [lambda folder: make_store(folder / "first")],
    "two stores": [lambda folder: make_store(folder / "first"), lambda folder: make_store(folder / "second", first=30)],
    "a source": [lambda folder: source_store(folder / "lake")],
    "a store and a source": [
        lambda folder: make_store(folder / "first"),
        lambda folder: source_store(folder / "lake"),
    ],
}
# first contents, contents sent later under the same id, whether a source can do both
USES: dict[str, tuple[dict[str, Any], dict[str, Any], bool]] = {
    "another id": ({"delete": [name(40)]}, {"delete": [name(41)]}, True),
    "one id less": ({"delete": [name(40), name(42)]}, {"delete": [name(42)]}, False),
    "one more id": ({"delete": [name(40)]}, {"delete": [name(40), name(41)]}, True),
    "an id of one store": ({"delete": [name(40)]}, {"delete": [name(3)]}, True),
    "another person": ({"subjects": [person(40)]}, {"subjects": [person(44)]}, False),
    "a person for an id": ({"delete": [name(40)]}, {"subjects": [person(44)]}, False),
    "an id for a person": ({"subjects": [person(40)]}, {"delete": [name(44)]}, False),
    "a correction for an id": ({"delete": [name(40)]}, {"replace": {name(41): raw(2)}}, False),
    "another correction": ({"replace": {name(40): raw(2)}}, {"replace": {name(40): raw(3)}}, False),
    "a correction of another": ({"replace": {name(40): raw(2)}}, {"replace": {name(41): raw(2)}}, False),
    "an id for a correction": ({"replace": {name(40): raw(2)}}, {"delete": [name(41)]}, False),
}


@pytest.mark.parametrize(
    ("made", "use"),
    [(made, use) for made in SERVICES for use, (*_, by_source) in USES.items() if by_source or made == "one store"],
)
def test_an_id_used_for_other_contents_is_refused(tmp_path: Path, opened: Opened, made: str, use: str) -> None:
    first, second, _ = USES[use]
    desk = opened(*(make(tmp_path) for make in SERVICES[made]), batch=1)
    assert desk.ask(request_id="one", **first).status_code == 202
    assert desk.ask(request_id="one", **second).status_code == 409, "while it waits"
    same = {kind: named[::-1] * 2 if isinstance(named, list) else named for kind, named in first.items()}
    assert desk.ask(request_id="one", **same).status_code == 202
    desk.turn()
    again = desk.ask(request_id="one", **same)
    assert (again.status_code, again.json()["state"]) == (200, "published")
    assert (desk.service.accepted, desk.service.repeated) == (1, 2)
    assert desk.ask(request_id="one", **second).status_code == 409, "once it is done"
    desk.turn()
    assert desk.ask(request_id="two", **second).status_code == 202
    desk.turn()
    was_left = use not in ("one more id", "one id less")  # which name one that the first request did erase
    assert desk.state("two") == ("published" if was_left else "refused")


def test_a_repeated_request_is_not_answered_by_a_source_that_is_gone(tmp_path: Path, opened: Opened) -> None:
    desk = opened(source_store(tmp_path / "lake"), batch=1)
    desk.ask(request_id="one", delete=[name(40)])
    desk.turn()
    (tmp_path / "lake" / "people.duckdb").rename(tmp_path / "elsewhere")
    assert desk.ask(request_id="one", delete=[name(40)]).status_code == 503
    (tmp_path / "elsewhere").rename(tmp_path / "lake" / "people.duckdb")
    assert desk.ask(request_id="one", delete=[name(40)]).status_code == 200
