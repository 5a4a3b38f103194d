"""No two releases share noise, whatever processes, threads and copies do; no key reaches a file, a log or a traceback."""

from __future__ import annotations

import contextlib
import copy
import itertools
import json
import logging
import multiprocessing
import os
import pickle
import shutil
import subprocess
import sys
import threading
import traceback
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from noisygd_delete import Budget, EditRequest, Execution, Model, Records, learn, losses
from noisygd_delete.curator.learning import resume
from noisygd_delete.engine import noise as noise_module
from noisygd_delete.engine.noise import SecureNoise
from noisygd_delete.errors import InvalidParameter
from noisygd_delete.store import Store
from tests.bank import sized_plan
from tests.store.conftest import SCHEMA, Crash, CrashAt, made, name, plan, records

FEW = sized_plan(losses.Logistic(1.0), 4, 3, 0.05, Budget(order=4, dp=2.0, deletion=0.5), method="noisy-gd")
TABLE = Records(np.zeros((4, 3)), np.ones(4))


def released(_: object = None) -> list[float]:
    """The weights of one certified release of the same table, under the same plan."""
    return learn(TABLE, FEW).weights.tolist()


def all_different(found: list[list[float]]) -> bool:
    return len({value for weights in found for value in weights}) == sum(map(len, found))


# Fresh interpreters, each of one thread: a fork of this process, which has threads of its own, could wait for a lock for ever.
PUBLISH = f"""
import json
from {__name__} import released
print(json.dumps([released() for _ in range(2)]))
"""
FORK_AND_PUBLISH = f"""
import json, os
from {__name__} import released
first = released()
child = os.fork()
os.write(1, (json.dumps([released(), *([first] if child else [])]) + "\\n").encode())
if child:
    raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
FORK_IN_A_RELEASE = f"""
import json, os
from {__name__} import Execution, FEW, TABLE, learn
parent, child = os.getpid(), 0
def fork_at(step):
    global child
    if step == 2:
        child = os.fork()
try:
    found = learn(TABLE, FEW, execution=Execution(progress=fork_at)).weights.tolist()
except RuntimeError as error:
    os._exit(0 if os.getpid() != parent and "crossed a fork" in str(error) else 1)
if os.getpid() != parent:
    os._exit(2)
print(json.dumps([found]))
raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def published_by(program: str) -> list[list[float]]:
    """The releases of a Python program of its own, one list of them to each line that it prints."""
    root = str(Path(__file__).parents[2])
    ran = subprocess.run(
        [sys.executable, "-c", program], cwd=root, text=True, capture_output=True, timeout=300, check=True
    )
    return [weights for line in ran.stdout.splitlines() for weights in json.loads(line)]


def test_processes_that_start_alike_publish_unlike() -> None:
    found = published_by(PUBLISH) + published_by(PUBLISH)
    assert len(found) == 4
    assert all_different([*found, released()])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_both_sides_of_a_fork_publish_unlike() -> None:
    found = published_by(FORK_AND_PUBLISH)
    assert len(found) == 3
    assert all_different(found)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_fork_in_the_middle_of_a_release_publishes_once() -> None:
    """Both sides go on from the same half-made release: the child's noise source refuses, so only the parent publishes."""
    assert FEW.calibration.learn_steps > 2
    (weights,) = published_by(FORK_IN_A_RELEASE)
    assert np.isfinite(weights).all()


def test_a_spawned_process_cannot_be_handed_a_source() -> None:
    process = multiprocessing.get_context("spawn").Process(target=print, args=(SecureNoise(),))
    with pytest.raises(TypeError, match="never copied, pickled or stored"):
        process.start()


def test_an_execution_holds_no_key_and_cannot_be_stored() -> None:
    """One execution, two runs: two keys. Handed to another process, a caller's generator would give the same noise twice."""
    one = Execution()
    draws = [one.noise().normal((64,)).tolist() for _ in range(3)] + [replace(one).noise().normal((64,)).tolist()]
    assert all_different(draws)
    for research in (one, Execution(rng=np.random.default_rng(0))):
        for taken in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(TypeError, match="never copied, pickled or stored"):
                taken(research)
        assert "rng" not in repr(research)


def test_a_generator_and_an_execution_are_not_given_together() -> None:
    with pytest.raises(InvalidParameter, match="one of the two"):
        learn(TABLE, FEW, np.random.default_rng(0), execution=Execution())
    both = (
        learn(TABLE, FEW, np.random.default_rng(0)),
        learn(TABLE, FEW, execution=Execution(rng=np.random.default_rng(0))),
    )
    assert both[0].weights.tolist() == both[1].weights.tolist()
    assert not any(model.certified for model in both)


def test_a_store_takes_no_generator(tmp_path: Path) -> None:
    with Store.create(tmp_path / "store", records(), SCHEMA, plan()) as store:
        research = Execution(rng=np.random.default_rng(0))
        with pytest.raises(InvalidParameter, match="certified noise alone"):
            store.learn(execution=research)
        store.learn()
        held = store.records.features.copy()
        with pytest.raises(InvalidParameter, match="certified noise alone"):
            store.serve(EditRequest.delete([name(3)]), execution=research)
        assert name(3) in store.records.ids
        assert (store.records.features == held).all()
        assert store.ledger.releases == 1


def drawn_by_threads(noise: SecureNoise, threads: int = 8, times: int = 300) -> np.ndarray:
    """All draws of all threads. A thread that trips over another ends early."""
    found: list[np.ndarray] = []
    start = threading.Barrier(threads)

    def draw() -> None:
        start.wait(60)
        with contextlib.suppress(ValueError, RuntimeError):
            found.extend(noise.normal((7,)) for _ in range(times))

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        running = [threading.Thread(target=draw) for _ in range(threads)]
        for thread in running:
            thread.start()
        for thread in running:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    return np.concatenate(found)


def test_threads_that_share_a_source_never_get_the_same_draw() -> None:
    draws = drawn_by_threads(SecureNoise())
    assert len(draws) == 8 * 300 * 7
    assert len(np.unique(draws)) == len(draws)


def test_the_thread_test_sees_a_source_without_its_lock() -> None:
    for _ in range(50):
        careless = SecureNoise()
        careless._lock = contextlib.nullcontext()  # type: ignore[assignment]
        draws = drawn_by_threads(careless)
        if len(np.unique(draws)) < len(draws) or len(draws) < 8 * 300 * 7:
            return
    pytest.fail("fifty runs without a lock never repeated or lost a draw")


def test_threads_that_each_release_publish_unlike() -> None:
    found: list[list[float]] = []
    running = [threading.Thread(target=lambda: found.append(released())) for _ in range(8)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    assert all_different(found)


def test_a_restored_copy_publishes_something_else(tmp_path: Path) -> None:
    """Two copies of one store serve the same request; a third dies and is finished by the next opening."""
    made(tmp_path / "store")
    request, found = EditRequest.delete([name(3)], request_id="r"), []
    for number in range(3):
        copy = tmp_path / f"copy-{number}"
        shutil.copytree(tmp_path / "store", copy)
        disk = CrashAt(20) if number == 2 else None
        with contextlib.suppress(Crash), Store.open(copy, disk=disk) as store:
            store.serve(request)
        with Store.open(copy) as store:
            store.serve(request)
            found.append(store.model.weights.tolist())
    assert all_different(found)


def test_a_new_key_is_taken_before_the_counter_of_the_cipher_wraps(monkeypatch) -> None:
    monkeypatch.setattr(noise_module, "_DRAWS_PER_KEY", 3 * noise_module._CHUNK)
    taken = []
    start = SecureNoise._start
    monkeypatch.setattr(SecureNoise, "_start", lambda self, key: taken.append(key) or start(self, key))
    noise = SecureNoise()
    draws = np.concatenate([noise.normal((noise_module._CHUNK,)) for _ in range(10)])
    assert len(set(taken)) == len(taken) >= 4
    assert len(np.unique(draws)) == len(draws)


def forms(secret: bytes) -> list[bytes]:
    """A secret as bytes, as hexadecimal, and as Python would print it."""
    return [
        secret,
        secret.hex().encode(),
        repr(secret)[2:-1].encode(),
        repr(np.frombuffer(secret, "<u4").tolist()).encode(),
    ]


def test_keys_reach_no_file_no_log_and_no_traceback(tmp_path: Path, monkeypatch, caplog, capfd) -> None:
    """Every byte that the operating system hands out is remembered, and looked for wherever bytes could end up."""
    secrets: list[bytes] = []
    urandom = os.urandom
    monkeypatch.setattr("noisygd_delete.engine.noise.os.urandom", lambda n: secrets.append(urandom(n)) or secrets[-1])
    texts: list[bytes] = []
    sources: list[SecureNoise] = []
    make = SecureNoise.__init__
    monkeypatch.setattr(SecureNoise, "__init__", lambda self, key=None: sources.append(self) or make(self, key))
    caplog.set_level(logging.DEBUG)
    path = tmp_path / "store"
    with Store.create(path, records(), SCHEMA, plan()) as store:
        store.learn()
    for number, at in enumerate((5, 20, 30, 40)):
        try:
            with Store.open(path, disk=CrashAt(at)) as store:
                store.serve(EditRequest.delete([name(number)]))
        except Crash as error:
            inside = error.__traceback__ and error.__traceback__.tb_next  # without this frame, which holds them
            told = traceback.TracebackException(Crash, error, inside, capture_locals=True)
            texts.append("".join(told.format()).encode())
        texts += [file.read_bytes() for file in path.rglob("*") if file.is_file()]
    with Store.open(path):
        pass
    texts += [repr(source).encode() for source in sources] + [caplog.text.encode()]
    texts += [stream.encode() for stream in capfd.readouterr()]
    texts += [file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()]
    keys = [secret[:32] for secret in secrets if len(secret) == noise_module.KEY_BYTES]
    assert len(keys) >= 4
    assert not [
        1 for secret, text in itertools.product(secrets + keys, texts) for form in forms(secret) if form in text
    ]
    for planted in (keys[0], keys[0].hex().encode(), repr(keys[0]).encode()):  # the search would have seen it
        assert any(form in b"..." + planted + b"..." for form in forms(keys[0]))


STEPS = {"method": "noisy-gd", "utility": False, "step_size": 0.5, "dtype": "float64"}
# steps in floating point, whose last noise is on no grid by itself
WIDE = sized_plan(losses.Linear(1.0), 2, 100_000, 1.0, Budget(order=4, dp=2.0, deletion=1.99), **STEPS, exact=False)


def published(start: float) -> np.ndarray:
    """One certified release from a model whose weights all equal `start`, on a table of null records."""
    nothing = Records(np.zeros((1, WIDE.problem.features)), np.zeros(1), slots=2).apply(EditRequest.delete([0]))
    model = Model(np.full(WIDE.problem.features, start), WIDE.problem.loss, True)
    return resume(nothing, model, WIDE).weights


def test_the_low_bits_of_a_release_say_nothing(monkeypatch) -> None:
    """Haney et al. 2022 on the release path: from value + noise in floats, the last place of the value shows.

    One step without data takes 0 to the noise and v to (1 − ηλ)v + noise. A small sum of two larger numbers is a multiple of
    their last place; the noise alone is not.
    """
    assert WIDE.calibration.delete_steps == 1
    scale = np.sqrt(2 * WIDE.calibration.step_size * WIDE.calibration.noise_variance)
    start = float(scale / (1 - WIDE.calibration.step_size * WIDE.problem.regularization))

    def betrays(weights: np.ndarray) -> float:
        """Share of outputs that are small and no multiple of the last place of `scale`/4: impossible for v + noise."""
        place = np.spacing(scale / 4)
        small = np.abs(weights) < scale / 8
        return float((np.remainder(weights, place) != 0)[small].mean())

    assert betrays(published(0.0)) == betrays(published(start)) == 0.0
    monkeypatch.setattr("noisygd_delete.curator.starts.on_grid", lambda weights, grid: weights)  # the planted fault
    assert betrays(published(0.0)) > 0.5
    assert betrays(published(start)) == 0.0
