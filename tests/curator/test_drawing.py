"""A curator whose plan carries noise on: each release is drawn from the table before its edits."""

from __future__ import annotations

import numpy as np
import pytest

from noisygd_delete import Budget, Curator, EditRequest, Records, losses, make_plan, resume
from noisygd_delete.curator.stream import Batching, Stream
from noisygd_delete.engine.moments import IntegerMoments
from noisygd_delete.errors import InvalidParameter, InvalidRequest

ROWS, COLUMNS = 60, 3


def plan(loss=None, **options):
    facts = {
        "records": ROWS,
        "features": COLUMNS,
        "regularization": 1e-2,
        "budget": Budget.from_gdp(dp=3.0, deletion=0.5),
    }
    return make_plan(
        loss or losses.Logistic(radius=1.0), method="sufficient-statistics", **{"releases": 8, **facts, **options}
    )


def table(kind: str = "binary") -> Records:
    rng = np.random.default_rng(7)
    rows = rng.normal(size=(ROWS - 5, COLUMNS))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True) * 1.01
    labels = {
        "binary": np.sign(rows[:, 0]),
        "class": (rows[:, 0] > 0) + (rows[:, 1] > 0.5),
        "target": rows[:, 0] * 0.9,
    }[kind]
    return Records(rows.astype(np.float32), labels.astype(float), slots=ROWS)


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[np.ndarray]:
    kept: list[np.ndarray] = []
    noise = IntegerMoments.noise

    def recorded(self, *args, **facts):
        kept.append(noise(self, *args, **facts))
        return kept[-1]

    monkeypatch.setattr(IntegerMoments, "noise", recorded)
    return kept


def rest(curator: Curator, label_bits: int = 0) -> np.ndarray:
    loss, mechanism = curator.plan.problem.loss, curator.plan.mechanism
    sums = IntegerMoments(COLUMNS, loss.outputs, mechanism.norm_squared, 14, label_bits)
    return curator.model.sums - sums.of_table(curator.records)


@pytest.mark.parametrize(
    ("loss", "bits"),
    [(losses.Logistic(radius=1.0), 0), (losses.Softmax(radius=1.0, classes=3), 0), (losses.Squared(radius=1.0), 10)],
)
def test_the_noise_is_that_of_the_release_before_and_new_noise(loss, bits, drawn) -> None:
    curator = Curator(table(loss.label_kind), plan(loss))
    curator.learn()
    before = rest(curator, bits)
    assert (before == drawn[-1]).all()
    for number in range(1, 5):
        curator.delete([number])
        carry = round(curator.plan.mechanism.draws[number][0] * 2**20)
        after = rest(curator, bits)
        assert (after == ((before * carry + 2**19) >> 20) + drawn[-1]).all()
        before = after
    assert [event.kind for event in curator.accountant.events] == ["learn", *["unlearn"] * 4]
    assert curator.model.weights.shape == ((COLUMNS,) if loss.outputs == 1 else (3, COLUMNS))


def test_a_draw_that_fails_changes_nothing(monkeypatch) -> None:
    curator = Curator(table(), plan())
    curator.learn()
    sums = curator.model.sums

    def fails(*_: object, **__: object) -> None:
        raise MemoryError

    with monkeypatch.context() as broken:
        broken.setattr(IntegerMoments, "of_table", fails)
        with pytest.raises(MemoryError):
            curator.delete([3])
    assert (curator.pending_edits, curator.accountant.releases, curator.model.sums is sums) == (0, 1, True)
    assert 3 in curator.records.ids
    assert curator.delete([3]).kind == "unlearn"


def test_what_needs_the_table_before_is_refused_without_it() -> None:
    chosen = plan()
    curator = Curator(table(), chosen)
    curator.learn()
    with pytest.raises(InvalidParameter, match="take a Curator or a Store"):
        resume(table(), curator.model, chosen)
    with pytest.raises(InvalidRequest, match="Delete it, and insert"):
        curator.replace({3: (np.zeros(COLUMNS), 1.0)})
    assert curator.insert([99], [[0.5, 0.5, 0.0]], [1.0]).kind == "unlearn"


def test_a_stream_draws_each_release_of_one_request_before_its_rows_go() -> None:
    curator = Curator(table(), plan())
    curator.learn()
    stream = Stream(curator, Batching(size=1))
    for number in range(9):
        stream.push(EditRequest.delete([number], request_id=str(number)))
    summary = stream.summary()
    assert [event.kind for event in curator.accountant.events] == ["learn", *["unlearn"] * 7]
    assert len(curator.records.ids) == ROWS - 5 - 9
    assert summary.served == 9
