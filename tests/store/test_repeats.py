"""A request id stands for one request: sent again it costs nothing, sent with other contents it is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from noisygd_delete import EditRequest
from noisygd_delete.curator.stream.parsing import from_json
from noisygd_delete.errors import InvalidRequest, UnknownName
from noisygd_delete.store import Store
from noisygd_delete.store.disk import Disk
from noisygd_delete.store.held_out import write_held_out
from noisygd_delete.store.layout import Layout
from tests.cli.planned import main

from .conftest import SCHEMA, name, person, row


def insert(k: int, *, owner: int | None = None, label: float = 1.0) -> EditRequest:
    return EditRequest.insert(
        [name(k)], [row(k)], [label], subjects=[person(k if owner is None else owner)], request_id="r"
    )


def put(k: int, new: int) -> EditRequest:
    return EditRequest.replace({name(k): (row(new), 1.0)}, request_id="r")


def erase(*numbers: int, subjects: tuple[int, ...] = ()) -> EditRequest:
    return EditRequest.delete(map(name, numbers), subjects=map(person, subjects), request_id="r")


FIRST_AND_OTHERS = {
    "another record": (erase(3), [erase(4), erase(3, 4), insert(50), put(4, 60), put(3, 3)]),
    "more records, fewer": (erase(3, 4), [erase(3), erase(4), erase(3, 5), erase(3, 4, 5), erase(subjects=(6,))]),
    "a person": (erase(subjects=(3,)), [erase(subjects=(4,)), erase(4), erase(subjects=(3, 4))]),
    "an insertion": (insert(50), [insert(51), erase(3), insert(50, label=-1.0), insert(50, owner=0), put(50, 50)]),
    "a replacement": (put(3, 60), [put(3, 61), put(4, 60), erase(4), insert(50)]),
}


@pytest.mark.parametrize("case", FIRST_AND_OTHERS)
def test_other_contents_are_refused_and_the_same_are_told_again(path: Path, case: str) -> None:
    first, others = FIRST_AND_OTHERS[case]
    with Store.open(path) as store:
        done = store.serve(first)
        ids = list(store.records.ids)
        for other in others:
            with pytest.raises(InvalidRequest, match="other contents"):
                store.serve(other)
        again = store.serve(first)
        assert (again.release, again.answered_before, done.answered_before) == (done.release, True, False)
        assert store.records.ids == ids
        assert len(store.accountant.events) == 2
        with pytest.raises(InvalidRequest, match="other contents"):
            store.dry_run(others[0])
        assert store.dry_run(first)["request_id_answered_before"]


def test_an_id_that_came_back_is_not_called_erased(path: Path) -> None:
    with Store.open(path) as store:
        store.serve(erase(3))
        store.serve(EditRequest.insert([name(3)], [row(3)], [1.0], subjects=[person(3)]))
        with pytest.raises(InvalidRequest, match="still there"):
            store.serve(erase(3))


def test_the_command_says_that_nothing_was_done(path: Path, as_json, printed, complaint) -> None:
    command = ["delete", str(path), name(3), "--request-id", "token"]
    assert as_json(*command)["answered_before"] is False
    assert as_json(*command)["answered_before"] is True
    assert "answered before, nothing was done" in printed(*command)
    assert "other contents" in complaint("delete", str(path), name(4), "--request-id", "token")
    with Store.open(path) as store:
        assert name(4) in store.records


def test_publish_learn_and_relearn_take_a_request_id(path: Path, capsys, printed) -> None:
    assert main(["delete", str(path), name(3), "--no-publish", "--request-id", "d"]) == 0
    for command in (["publish", str(path), "--request-id", "p"], ["relearn", str(path), "--request-id", "l"]):
        assert "answered before" not in printed(*command)
        assert "answered before, nothing was done" in printed(*command)
    assert "answered before" in printed("learn", str(path), "--request-id", "l")
    for wrong in (["publish", str(path), "--request-id", "d"], ["relearn", str(path), "--request-id", "p"]):
        assert main(wrong) == 2
        assert "another request" in capsys.readouterr().err
    assert main(["relearn", str(path), "--request-id", "l", "--deletion", "0.4"]) == 2
    assert main(["learn", str(path)]) == 2
    with Store.open(path) as store:
        assert [event.kind for event in store.accountant.events] == ["learn", "unlearn", "relearn"]


def test_a_stream_refuses_a_token_that_names_somebody_else(path: Path, tmp_path: Path, as_json) -> None:
    file = tmp_path / "requests.csv"
    file.write_text(f"request_id,id\nA,{name(0)}\nB,{name(1)}\nA,{name(2)}\n")
    answer = as_json("stream", str(path), str(file), status=2)
    assert (answer["served"], answer["repeated"], len(answer["refused"])) == (2, 0, 1)
    assert "other contents" in answer["refused"][0][1]
    with Store.open(path) as store:
        assert name(2) in store.records
    answer = as_json("stream", str(path), str(file), status=2)
    assert (answer["served"], answer["repeated"], len(answer["refused"])) == (0, 2, 1)


@pytest.mark.parametrize(
    "line",
    [
        '{"request_id": "a", "delete": ["x"], "delete": ["y"]}',
        '{"request_id": "a", "request_id": "b", "delete": ["x"]}',
        '{"request_id": "a", "replace": {"x": {"a": 1, "a": 0, "b": 0, "c": 0, "y": "yes"}}}',
        '{"request_id": "a", "replace": {"x": {"a": 1, "b": 0, "c": 0, "y": "no"}, "x": {"a": 0, "b": 0, "c": 0, "y": "yes"}}}',
        '{"request_id": "a", "delete": ["x"], "dele\\u0074e": ["y"]}',
    ],
)
def test_a_part_given_twice_is_refused(line: str) -> None:
    with pytest.raises(InvalidRequest, match=r"line 5: .*twice"):
        from_json(line, 5, SCHEMA)


@pytest.mark.parametrize("person_", [False, True])
def test_a_name_that_was_held_out_never_had_rows_that_a_request_could_have_edited(path: Path, person_: bool) -> None:
    """Whoever asks for it is told so, and a token that stands for another request does not answer for it."""

    def asked(who: str, token: str | None = None) -> EditRequest:
        return EditRequest.delete([] if person_ else [who], subjects=[who] if person_ else [], request_id=token)

    write_held_out(Disk(), Layout(path), ["Eve"], ["Mallory"])
    held, other, here = ("Mallory", "Eve", person(4)) if person_ else ("Eve", "Mallory", name(4))
    with Store.open(path) as store:
        store.serve(asked(person(2) if person_ else name(2), "r"))
        assert store.serve(asked("nobody", "r")).answered_before, "as many rows: it may have been the same"
        for repeated in (store.serve, store.dry_run):
            with pytest.raises(InvalidRequest, match="for another request"):
                repeated(asked(held, "r"))
        assert store.serve(asked(other, "r")).answered_before, "held out as the other kind of name"
        for who, facts in (
            (held, (True, False)),
            (held.upper(), (False, True)),
            (here.upper(), (False, True)),
            (other, (False, False)),
        ):
            for refused in (store.serve, store.dry_run, lambda request: throw(store.edit_all([request]).outcomes[0])):
                with pytest.raises(UnknownName) as caught:
                    refused(asked(who))
                assert (caught.value.held_out, caught.value.similar) == facts


def throw(error: Exception | None) -> None:
    assert error is not None
    raise error
