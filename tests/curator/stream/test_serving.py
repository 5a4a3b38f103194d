"""Streams over a curator that only counts: who is served, what is published and when, against a plain list of what waits; and files of requests."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, field
from itertools import count
from types import SimpleNamespace
from typing import Any

import pytest

from noisygd_delete import EditRequest, Schema
from noisygd_delete.accountant import Statuses
from noisygd_delete.curator.release import Release
from noisygd_delete.curator.stream import Batching, NonAdaptive, Publication, Stream, interact, serving
from noisygd_delete.curator.stream.parsing import from_json, parse_requests
from noisygd_delete.errors import InvalidRequest, NotLearned
from noisygd_delete.records import EditCounts, limited_io
from noisygd_delete.store.batch import BatchResult

RECORDS = 50


@dataclass
class Counting:
    """A curator without rows or models: ids that are there, edits that wait, answers that were given, releases that are left."""

    left: int = 10**6
    carries: object = None
    present: set[int] = field(default_factory=lambda: set(range(RECORDS)))
    pending_edits: int = 0
    answered: dict[str, tuple] = field(default_factory=dict)
    made: int = 1
    calls: list[Any] = field(default_factory=list)
    is_out: bool = False

    @property
    def plan(self) -> SimpleNamespace:
        return SimpleNamespace(mechanism=SimpleNamespace(carries=self.carries))

    @property
    def accountant(self) -> SimpleNamespace:
        last = SimpleNamespace(mechanism=SimpleNamespace(records=7))
        return SimpleNamespace(last=last, releases=self.made, model_release=self.made)

    @property
    def model(self) -> str:
        if self.is_out:
            raise NotLearned("none")
        return f"model {self.made}"

    def serve(self, request: EditRequest, *, publish: bool = True, execution: object = None) -> Release:
        self.calls.append(publish)
        token, ids = request.request_id, tuple(request.deletions)
        if token in self.answered:
            if self.answered[token] != ids:
                raise InvalidRequest(f"other contents than {ids[0]!r}")
            return self._release(Statuses.PUBLISHED, 0, answered_before=True)
        if not set(ids) <= self.present:
            raise InvalidRequest(f"id {str(ids[0])!r} is not in the table")
        self.present -= set(ids)
        self.pending_edits += len(ids)
        if token is not None:
            self.answered[token] = ids
        return self.publish() if publish else self._release(Statuses.PENDING, self.pending_edits)

    def publish(self, *, execution: object = None) -> Release:
        if not self.left:
            self.is_out = True
            return self._release(Statuses.WITHHELD, self.pending_edits)
        self.left, self.made, edits, self.pending_edits = self.left - 1, self.made + 1, self.pending_edits, 0
        return self._release(Statuses.PUBLISHED, edits)

    def _release(self, status: Statuses, edits: int, **facts: object) -> Release:
        counts, figures = EditCounts(deleted=edits), {"dp_cumulative": f"all {self.made}", "dp": f"alone {self.made}"}
        if status is Statuses.WITHHELD:
            del figures["dp"]
        return Release(self.made, "unlearn", 3, 2, edits, figures, None, status, counts=counts, **facts)


class Together(Counting):
    """One that edits several requests in one transaction."""

    def edit_all(self, requests: list[EditRequest], *, publish_from: int | None, execution: object) -> BatchResult:
        self.calls.append((len(requests), publish_from))
        outcomes, served, release = [], 0, None
        for request in requests:
            before = self.pending_edits
            try:
                super().serve(request, publish=False)
                outcomes.append(None)
            except InvalidRequest as error:
                outcomes.append(error)
            self.calls.pop()
            served += self.pending_edits != before
        if publish_from is not None and self.pending_edits >= publish_from and served:
            release = self.publish()
        return BatchResult(outcomes, served, release)


def script(seed: int, length: int = 25, *, readable: bool = False) -> list[tuple[float, EditRequest | None]]:
    """Gaps between requests, and requests: new ones, ones sent again, with another content, of somebody who is not there; None: unreadable."""
    chance, made = random.Random(seed), []
    for number in range(length):
        ids = chance.sample(range(RECORDS), chance.choice([1, 1, 1, 3]))
        token = chance.choice([None, f"t{number}", f"t{chance.randrange(number + 1)}"])
        again = [request for _, request in made if request is not None and request.request_id is not None]
        request = chance.choice(again) if again and chance.random() < 0.2 else EditRequest.delete(ids, request_id=token)
        made.append((chance.choice([0.0, 0.0, 1.0, 4.0]), request if readable or chance.random() < 0.9 else None))
    return made


def watched(curator: Counting, batching: Batching, now: list[float], moments: list[tuple[float, int, int]]) -> Stream:
    """A stream by this clock that notes each publication: when, requests, edits."""

    def note(made: Publication) -> None:
        moments.append((now[0], made.requests, made.edits))

    return Stream(curator, batching, clock=lambda: now[0], progress=note)


@dataclass
class Expected:
    """What a stream comes to, from the list of what waits."""

    published: list[tuple[float, int, int]] = field(default_factory=list)  # when, requests, edits
    refused: list[int] = field(default_factory=list)
    served: int = 0
    repeated: int = 0


def expected(
    requests: list[tuple[float, EditRequest | None]],
    size: int | None,
    deadline: float | None,
    left: int,
    *,
    patient: bool,
) -> Expected:
    """What `requests` come to. `patient`: somebody looks whenever something is due, not at the next request alone."""
    found, present, answered = Expected(), set(range(RECORDS)), dict[str, tuple]()
    now, waiting, out = 0.0, list[tuple[float, int]](), False

    def look() -> None:
        nonlocal left, out
        edits = sum(each for _, each in waiting)
        late = deadline is not None and waiting and now - waiting[0][0] >= deadline
        if not out and ((size is not None and edits >= size) or late):
            found.published.append((now, len(waiting), edits))
            out = not left
            left -= left > 0
            if not out:
                waiting.clear()

    for place, (gap, request) in enumerate(requests):
        until = now + gap
        if patient and deadline is not None and waiting and waiting[0][0] + deadline <= until:
            now = waiting[0][0] + deadline
            look()
        now = until
        if request is None:
            found.refused.append(place)
            continue
        look()
        ids, token = tuple(request.deletions), request.request_id
        if token in answered:
            found.repeated += answered[token] == ids
            found.refused += [place] * (answered[token] != ids)
        elif not set(ids) <= present:
            found.refused.append(place)
        else:
            present -= set(ids)
            answered |= {} if token is None else {token: ids}
            waiting.append((now, len(ids)))
            found.served += 1
        look()
    return found


@pytest.fixture(autouse=True)
def seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock by which everything that is timed takes a second."""
    ticks = count()
    monkeypatch.setattr(serving.time, "perf_counter", lambda: float(next(ticks)))


@pytest.mark.parametrize("left", [10**6, 3, 0])
@pytest.mark.parametrize(("size", "deadline"), [(1, None), (3, None), (None, 4.0), (4, 3.0), (2, 1.0)])
@pytest.mark.parametrize("patient", [False, True])
@pytest.mark.parametrize("carries", [None, "noise"])
def test_a_stream_serves_and_publishes_as_the_list_of_what_waits_says(
    size, deadline, left: int, carries: str | None, patient: bool
) -> None:
    for seed in range(4):
        now, moments, requests = [0.0], [], script(seed)
        curator = Counting(left, carries)
        stream = watched(curator, Batching(size, deadline), now, moments)
        for gap, request in requests:
            until = now[0] + gap
            while patient and stream.due is not None and now[0] + stream.due <= until:
                now[0] += stream.due
                stream.tick()
            now[0] = until
            if request is None:
                stream.refuse("not a request")
            else:
                stream.push(request)
            held = stream._publications and stream._publications[-1].status is Statuses.WITHHELD
            assert (stream.due is None) == (deadline is None or not curator.pending_edits or bool(held))
        want = expected(requests, size, deadline, left, patient=patient)
        assert moments == want.published
        assert (stream._served, stream._repeated) == (want.served, want.repeated)
        assert [place for place, _ in stream._refused] == want.refused
        assert stream._evaluations == 7 * 2 * len(want.published)
        kept = [made for made in stream._publications if made.status is not Statuses.WITHHELD]
        assert [made.release for made in kept] == list(range(2, len(kept) + 2))
        assert [(made.dp, made.dp_cumulative) for made in kept] == [
            (f"alone {n}", f"all {n}") for n in range(2, len(kept) + 2)
        ]
        assert all(made.dp == made.dp_cumulative for made in stream._publications if made not in kept)
        if carries is None or size != 1:
            assert not any(curator.calls), "rows first, one release for several later"
        elif left > len(requests):
            assert all(curator.calls), "drawn before the rows go"
        apart = carries is None or size != 1  # from the requests
        assert stream._seconds == len(curator.calls) + apart * len(stream._publications)
        assert {made.seconds for made in stream._publications} <= {1.0}
        waits, before = bool(curator.pending_edits and not stream._withheld), len(moments)
        stream.flush()
        assert len(moments) == before + waits
        assert bool(curator.pending_edits) == stream._withheld


@pytest.mark.parametrize("left", [10**6, 2])
@pytest.mark.parametrize("size", [1, 3, 5])
def test_several_requests_at_once_come_to_what_they_come_to_one_by_one(size: int, left: int) -> None:
    for seed in range(6):
        requests = [request for _, request in script(seed, readable=True)]
        one, several, plain = (Stream(kind(left), Batching(size)) for kind in (Counting, Together, Counting))
        for number, request in enumerate(requests):
            one.push(request, f"line {number}")
        named = [(request, f"line {number}") for number, request in enumerate(requests)]
        several.push_all(named)
        plain.push_all(named)
        assert plain._refused == one._refused
        assert (several._served, several._repeated) == (one._served, one._repeated)
        assert several._refused == one._refused
        assert all(each.startswith(f"line {place}: ") for place, each in one._refused)
        edits = [sum(made.edits for made in stream._publications) for stream in (one, several)]
        assert several._seconds >= len(several._publications) > 0
        assert {made.seconds for made in several._publications} <= {1.0}
        if left > 100:
            assert edits[0] + one.curator.pending_edits == edits[1] + several.curator.pending_edits
            assert several.curator.pending_edits < size
            assert all(0 < some <= size and publish == size for some, publish in several.curator.calls)
        assert several._withheld == (left < 100 and len(several._publications) > left)
        assert {publish for _, publish in several.curator.calls} <= {size, None}
        assert (several.curator.calls[-1][1] is None) == several._withheld, (
            "the edits go on, and no release is asked for"
        )


@pytest.mark.parametrize(("pending", "published"), [(2, True), (3, False), (502, False), (503, True)])
def test_a_full_batch_waits_while_more_arrive_and_not_for_ever(pending: int, published: bool) -> None:
    curator = Counting(pending_edits=pending)
    stream = Stream(curator, Batching(size=3), more=lambda: pending > 2)
    stream.tick()
    assert bool(stream._publications) == (published and pending > 2)
    if pending == 3:
        Stream(curator, Batching(size=3)).tick()
        assert curator.pending_edits == 0


def test_edits_of_before_are_due_at_once_if_there_is_a_deadline() -> None:
    for pending, due in ((0, None), (1, 0.0)):
        assert Stream(Counting(pending_edits=pending), Batching(size=None, deadline=9.0), clock=lambda: 5.0).due == due
    assert Stream(Counting(pending_edits=1), Batching(size=2)).due is None


class Odd:
    """A container without an end: the odd numbers."""

    def __contains__(self, number: object) -> bool:
        return isinstance(number, int) and number % 2 == 1


@pytest.mark.parametrize(
    ("declared", "shown"),
    [(None, [1, 2, 3, 4]), ((), []), ((4, 2, 9), [2, 4]), (Odd(), [1, 3]), (range(0, 3), [1, 2]), ({5}, [])],
)
def test_what_a_requester_sees_is_what_it_declared_and_exists(declared: Any, shown: list[int]) -> None:
    assert list(Stream(Counting(), Batching(), observable=declared)._shown(4)) == shown


@pytest.mark.parametrize("limit", [None, 0, 2, 9])
def test_an_interaction_ends_with_the_requests_or_at_its_limit(
    limit: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Stream, "summary", lambda self, holdout: (self, holdout))
    curator, requests = Counting(), [EditRequest.delete([k]) for k in range(5)]
    stream, holdout = interact(curator, NonAdaptive(requests), Batching(size=2), limit=limit, holdout="held out")
    count = 5 if limit is None else min(limit, 5)
    assert (stream._served, curator.pending_edits, holdout) == (count, 0, "held out")


def test_odds_are_told_for_the_failure_probability_of_the_plan() -> None:
    for plan, delta in (
        (None, 1e-6),
        (SimpleNamespace(problem=SimpleNamespace(budget=SimpleNamespace(shown_delta=1e-3))), 1e-3),
    ):
        for epsilon in (None, 2.0):
            told = serving._odds(SimpleNamespace(plan=plan, stopping_epsilon=lambda d, e=epsilon: e and e + d))
            assert told == (epsilon and (epsilon + delta, delta))


def test_a_refusal_in_a_file_names_nobody() -> None:
    """Whoever the message quotes, in whatever part of the request; a name inside another goes as a whole."""
    row = ([0.1], 1.0)
    insertion = EditRequest.insert(["n1", "n11"], [[0.1], [0.2]], [1.0, 1.0], subjects=["o'1", "o1"]).insertion
    request = EditRequest(("d1", 17), ("s1",), {"r1": row}, insertion)
    for quoted in ("d1", "s1", "r1", "n1", "n11", "o'1", "o1", "17"):
        error = InvalidRequest(f"the id {quoted!r} is there, and id 17 too")
        stream = Stream(SimpleNamespace(pending_edits=0), Batching())
        stream._note_error(3, request, "line 9", error)
        assert stream._refused == [(3, "line 9: the id … is there, and id … too")]
        stream._note_error(4, request, "", error)
        assert stream._refused[1] == (4, str(error)), "to the requester itself it is said as it is"


SCHEMA = Schema.from_dict(
    {
        "id": "id",
        "label": {"column": "y", "classes": ["no", "yes"]},
        "columns": {"a": {"bounds": [-1, 1]}},
        "subject": "who",
    }
)
CELLS = ["", "x", "y", '"q"', "a b"]


@pytest.mark.parametrize("header", ["request_id,id", "id,request_id", "subject,request_id", "request_id,id,subject"])
def test_adjacent_lines_of_one_token_are_one_request(header: str) -> None:
    """Against the lines one by one; empty lines belong to nobody, and bad ones are refused each by itself."""
    columns = header.split(",")
    for seed in range(8):
        chance, lines = random.Random(seed), [header]
        for _ in range(14):
            cells = {name: chance.choice(["a", "a", "b", ""] if name == "request_id" else CELLS) for name in columns}
            row = ",".join(cells[name] for name in columns)
            lines.append(chance.choice([row, row, row, "", row + ",more", 'x,"open', "lone"]))
        groups: list[tuple[str | None, int, list[dict[str, str]]]] = []
        for number, line in enumerate(lines[1:], start=2):
            cells = [cell.strip('"') for cell in line.split(",")]
            if not line:
                continue
            if len(cells) != len(columns) or "open" in line:
                groups.append((None, number, []))
                continue
            named = dict(zip(columns, cells, strict=True))
            if groups and groups[-1][0] == named["request_id"]:
                groups[-1][2].append(named)
            else:
                groups.append((named["request_id"], number, [named]))
        found = list(parse_requests(lines, SCHEMA, table=True))
        assert [number for number, _ in found] == [number for _, number, _ in groups]
        for (token, number, rows), (_, request) in zip(groups, found, strict=True):
            ids, persons = ([row[name] for row in rows if row.get(name)] for name in ("id", "subject"))
            if not token or not (ids or persons) or len(set(ids)) < len(ids) or len(set(persons)) < len(persons):
                assert isinstance(request, InvalidRequest)
                assert str(request).startswith(f"line {number}: ")
            else:
                assert request == EditRequest.delete(ids, subjects=persons, request_id=token)


@pytest.mark.parametrize(
    "header", ["", "id", "request_id", "request_id,id,id", "request_id,id,subject,more", "who,request_id"]
)
def test_a_header_that_leaves_something_open_is_refused(header: str) -> None:
    with pytest.raises(InvalidRequest, match="header"):
        list(parse_requests([header, "a,b"], SCHEMA, table=True))
    assert [str(error)[:8] for _, error in parse_requests(["request_id,id", None], SCHEMA, table=True)] == ["line 2: "]


def test_lines_of_json_are_numbered_and_too_long_ones_refused() -> None:
    lines = ["", '{"request_id": "a", "delete": ["x", 7], "subjects": ["p"]}', "   ", None, "{"]
    found = list(parse_requests(lines, SCHEMA))
    assert [number for number, _ in found] == [2, 4, 5]
    assert found[0][1] == EditRequest.delete(["x", 7], subjects=["p"], request_id="a")
    assert str(found[1][1]) == f"line 4: longer than {limited_io.LINE} bytes; split the request"
    assert str(found[2][1]).count("line 5") == 1
    row = {"id": "n", "who": "p", "a": 0.5, "y": "yes"}
    new, other = (str(part).replace("'", '"') for part in (row, {**row, "id": "m", "a": "0.25", "y": "no"}))
    request = from_json(
        f'{{"request_id": "r", "insert": [{new}, {other}], "replace": {{"k": {{"a": -1, "y": "no"}}}}}}', 3, SCHEMA
    )
    insertion = request.insertion
    assert insertion is not None
    assert (list(insertion.ids or ()), list(insertion.subjects or ()), list(insertion.labels)) == (
        ["n", "m"],
        ["p", "p"],
        [1.0, -1.0],
    )
    assert math.isclose(insertion.rows[0][0] / insertion.rows[0][-1], 0.5)
    assert list(request.replacements) == ["k"]
    assert request.replacements["k"][1] == -1.0
    for token in ("null", '""', '" "', "7"):
        with pytest.raises(InvalidRequest, match="request_id is missing"):
            from_json(f'{{"request_id": {token}, "delete": ["x"]}}', 3, SCHEMA)
