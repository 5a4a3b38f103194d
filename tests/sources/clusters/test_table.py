"""What the driver accepts as an answer: each partition once, from the rows that were there, and errors as they were."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest
from noisygd_delete_sources.workers.on_spark import pack_partition, unpack_partition
from noisygd_delete_sources.workers.questions import Answer, Encoder, EveryStepth, Partition
from noisygd_delete_sources.workers.table import ClusterRecords

from noisygd_delete import Records, Schema, losses
from noisygd_delete.engine import check_records
from noisygd_delete.engine.coded import LEAST_ROWS
from noisygd_delete.engine.count_tables import CodedMoments
from noisygd_delete.engine.objective import PreciseObjective
from noisygd_delete.errors import AssumptionViolated, InvalidRecords, SourceError
from noisygd_delete.features.maps import Additive
from noisygd_delete.features.maps.codec import RowCodec
from noisygd_delete.records import CodedRows

from .in_process import InProcess, cut, in_partitions


def table(n: int = 50) -> Records:
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((n, 3))
    return Records(rows / np.linalg.norm(rows, axis=1, keepdims=True) * 0.99, rng.choice([-1.0, 1.0], n))


def gradient_under(change) -> np.ndarray:
    objective = PreciseObjective(in_partitions(table(), 4, change), losses.Logistic(1.0), regularization=0.1)
    return objective.gradient(np.ones((1, 3)))


def test_the_order_in_which_they_answer_changes_no_bit() -> None:
    rng = np.random.default_rng(1)
    found = {
        gradient_under(lambda answers: [answers[k] for k in rng.permutation(len(answers))]).tobytes() for _ in range(10)
    }
    assert len(found) == 1


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda answers: [*answers, answers[0]], "counted exactly once"),
        (lambda answers: answers[1:], "counted exactly once"),
        (lambda answers: [replace(answers[0], digest=b"other"), *answers[1:]], "its rows are others now"),
    ],
    ids=["a partition answers twice", "one does not", "one was read again and changed"],
)
def test_what_would_count_a_row_twice_or_never_is_refused(change, said: str) -> None:
    with pytest.raises(SourceError, match=said):
        gradient_under(change)


def test_an_error_of_a_worker_is_told_as_it_was() -> None:
    def broken(answers: list[Answer]) -> list[Answer]:
        return [Answer(0, b"", None, ("InvalidRecords", "the worker's own words")), *answers[:-1]]

    with pytest.raises(InvalidRecords, match="the worker's own words"):
        gradient_under(broken)


def test_rows_and_labels_are_checked_where_they_are() -> None:
    loss = losses.Logistic(1.0)
    check_records(in_partitions(table(), 4), loss)
    longer = table()
    longer._features[41] *= 3
    with pytest.raises(AssumptionViolated, match=r"a row of a table has norm 2\.97 > radius=1: L and β"):
        check_records(in_partitions(longer, 4), loss)
    with pytest.raises(AssumptionViolated, match="in the shape of the noise"):
        check_records(in_partitions(table(), 4), loss, variances=np.full(3, 0.25))
    labelled = table()
    labelled._labels[30] = 2.0
    with pytest.raises(InvalidRecords, match="must be −1 or"):
        check_records(in_partitions(labelled, 4), loss)


def test_slots_are_public_and_more_rows_are_refused() -> None:
    parts = cut(table(), 4)
    for slots, said in ((49, "more rows than the 49 slots"), (None, None), (80, None)):
        if said is None:
            held = ClusterRecords(InProcess(parts), address="a table", width=3, slots=slots)
            assert (held.slots, held.rows) == (slots or 50, 50)
        else:
            with pytest.raises(InvalidRecords, match=said):
                ClusterRecords(InProcess(parts), address="a table", width=3, slots=slots)
    with pytest.raises(InvalidRecords, match="no row"):
        ClusterRecords(InProcess([]), address="a table", width=3, slots=None)


def test_more_than_the_driver_can_add_up_is_refused_before_a_pass() -> None:
    cluster = InProcess(cut(table(), 50))
    held = ClusterRecords(cluster, address="a table", width=3, slots=None)
    with pytest.raises(InvalidRecords, match="merge its files"):
        held.sums(losses.Softmax(1.0, classes=10**6))
    assert len(cluster.asked) == 1


CODEC = RowCodec(Additive((0, 0, 2), levels=4, amounts=(0,)).coding)


def coded(n: int) -> Records:
    rng = np.random.default_rng(2)
    codes = np.column_stack([rng.integers(0, size, n) for size in CODEC.coding.sizes])
    return Records(CodedRows(CODEC.to_stored(codes), CODEC), rng.choice([-1.0, 1.0], n), slots=n + 7)


@pytest.mark.parametrize("loss", [losses.Logistic(1.0), losses.Softmax(1.0, classes=3)], ids=["logistic", "softmax"])
def test_workers_sum_codes_by_lookup_and_send_no_expanded_row(loss, monkeypatch) -> None:
    """Partitions of any size of a table that is large enough, and a planted fault: values that are not those of the rows."""
    records = coded(LEAST_ROWS)
    if loss.outputs > 1:
        records._labels[:LEAST_ROWS] = np.arange(LEAST_ROWS) % 3
    weights = np.random.default_rng(3).standard_normal((loss.outputs, CODEC.width))
    whole = PreciseObjective(records, loss, regularization=0.1)
    parts, expected = in_partitions(records, 9), whole.gradient(weights)
    check_records(parts, loss)
    ours = PreciseObjective(parts, loss, regularization=0.1)
    (some, labels), (same, own) = ours.strided(4000), whole.strided(4000)
    np.testing.assert_array_equal(labels, own)
    np.testing.assert_allclose(some @ weights.T, same @ weights.T, atol=1e-5)
    most = ours.gradient_error(float(np.linalg.norm(weights))) + whole.gradient_error(float(np.linalg.norm(weights)))
    monkeypatch.setattr(RowCodec, "_parts", None)
    assert np.linalg.norm(ours.gradient(weights) - expected) <= most
    first = parts._cluster.held[0]
    stored = EveryStepth((0,) * 9, 1).answer_for(first)[0]
    assert (stored.dtype, stored.shape) == (CODEC.dtype, (len(first.rows), CODEC.blocks))
    values = RowCodec.code_values.func
    monkeypatch.setattr(RowCodec, "code_values", property(lambda own: [v * (1 + 2.0**-20) for v in values(own)]))
    assert np.linalg.norm(ours.gradient(weights) - expected) > most


def test_few_rows_and_moments_of_codes_are_those_of_features() -> None:
    records, loss = coded(300), losses.Logistic(1.0)
    dense = Records(np.asarray(records.coded_rows)[:300], records.labels[:300], slots=records.slots)
    weights = np.ones((1, CODEC.width))
    one, other = (PreciseObjective(in_partitions(held, 4), loss, regularization=0.1) for held in (records, dense))
    np.testing.assert_allclose(one.gradient(weights), other.gradient(weights), atol=1e-14)
    np.testing.assert_array_equal(one.strided(50)[0], other.strided(50)[0])
    copied = pickle.loads(pickle.dumps(CODEC.coding))
    moments = CodedMoments(copied.directions, 1, 4**10, 10, coding=copied)
    found = in_partitions(records, 4).exact_sums(moments)
    np.testing.assert_array_equal(found, moments.of_table(dense))


def test_a_partition_in_pieces_is_its_codes() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    columns = {"a": {"bounds": [-1, 1]}, "b": {"bounds": [0, 10]}, "c": {"categories": ["x", "z"]}}
    label = {"column": "y", "classes": ["no", "yes"]}
    schema = Schema.from_dict({"columns": columns, "label": label, "map": {"kind": "additive", "levels": 3}})
    encoder = Encoder.for_rows(schema, "a table")
    for n in (0, 500):
        some = {"a": [0.25] * n, "b": [k % 10 for k in range(n)], "c": ["xz"[k % 2] for k in range(n)], "y": ["no"] * n}
        batches = pyarrow.table(some).to_batches()
        pieces = list(pack_partition(encoder, batches))
        assert sum(len(content) for kind, content in pieces if kind == "rows") == n * schema.codec.blocks
        held, whole = unpack_partition(encoder, 3, pieces), Partition.of(3, encoder.encoded(batches))
        assert (held.number, held.digest) == (3, whole.digest)
        np.testing.assert_array_equal(held.rows.codes, whole.rows.codes)
        np.testing.assert_array_equal(held.labels, whole.labels)
