"""Several processes on one table: one result, one writer, and nothing lost when one of them dies."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from noisygd_delete import Budget, Curator, Records, Store, losses, make_plan, methods
from noisygd_delete.bounds.arithmetic import BLOCK
from noisygd_delete.engine import Objective
from noisygd_delete.engine.execution import ALONE, Group, is_worth_sharing
from noisygd_delete.engine.noise import KEY_BYTES, SecureNoise, noise_source
from tests.bank import Part, unit_rows
from tests.store.conftest import SCHEMA, plan, records

torch_distributed = pytest.importorskip("torch.distributed", reason="processes talk through torch")
needs_gloo = pytest.mark.skipif(
    not (torch_distributed.is_available() and torch_distributed.is_gloo_available()), reason="torch without gloo"
)
ROOT = Path(__file__).parents[2]


def launch(program: Path, *arguments: object, check: bool = True, processes: int = 2) -> subprocess.CompletedProcess:
    """The program under torchrun."""
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={processes}"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"}
    return subprocess.run(
        [*command, str(program), *map(str, arguments)],
        env=environment,
        capture_output=True,
        text=True,
        check=check,
        timeout=240,
    )


def table(n: int, d: int = 6) -> Records:
    return Records(unit_rows(n, d), np.random.default_rng(0).choice([-1.0, 1.0], n))


@pytest.mark.parametrize("n", [1, BLOCK, 5 * BLOCK + 3, 12 * BLOCK])
@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_every_row_is_read_by_one_process_and_no_block_is_split(n: int, size: int) -> None:
    shares = [Part(rank, size).rows(n, BLOCK) for rank in range(size)]
    assert [slot for share in shares for slot in share] == list(range(n))
    assert all(share.start % BLOCK == 0 or share.start == n for share in shares)


def test_the_parts_add_up() -> None:
    loss, whole = losses.Logistic(1.0), table(7 * 2048 + 5)
    weights = np.ones((1, 6))

    def total(group: Group = ALONE) -> np.ndarray:
        return Objective(whole, loss, regularization=0.0, group=group).gradient(weights)

    parts = [total(Part(rank, 3)) for rank in range(3)]
    assert sum(parts) == pytest.approx(total(), rel=1e-12, abs=1e-15)
    assert all(np.linalg.norm(part) > 0 for part in parts)


def test_one_key_gives_one_noise_and_the_next_key_comes_from_it(monkeypatch) -> None:
    key = bytes(range(KEY_BYTES))
    one, two, other = SecureNoise(key), SecureNoise(key), SecureNoise(key[::-1])
    assert (one.normal((20_000,)) == two.normal((20_000,))).all()
    for noise in (one, two, other):
        noise._drawn = 1 << 34  # the key is spent: the next one must be the same in every process
    following = one.normal((40_000,))
    assert (following == two.normal((40_000,))).all()
    assert not np.isin(following, other.normal((40_000,))).any()
    sent = []
    assert noise_source(None, lambda mine: sent.append(mine) or key).normal((1,)) == SecureNoise(key).normal((1,))
    assert len(sent[0]) == KEY_BYTES
    assert sent[0] != key


SPMD = """
import sys
import numpy as np
from noisygd_delete import Curator, Execution
from noisygd_delete.engine.execution import find_launched_group
from noisygd_delete.errors import AssumptionViolated
from tests.engine.test_distributed import big_plan, table
group = find_launched_group()
for kind in ("published", "output-perturbation", "device", "secure"):
    rng = None if kind == "secure" else np.random.default_rng(5 + group.rank)  # process 0's is used
    execution = Execution("cpu:0" if kind == "device" else "cpu", group, rng)
    curator = Curator(table(3000), big_plan(kind), execution=execution)
    curator.learn(execution=execution)
    curator.delete([3, 2900], execution=execution)
    np.save(f"{sys.argv[1]}/{kind}-{group.rank}.npy", curator.model.weights)
longer = table(3000)
longer._features[2900] *= 3  # among the second process's rows
try:
    Curator(longer, big_plan("published"), execution=execution)
except AssumptionViolated as error:
    open(f"{sys.argv[1]}/refused-{group.rank}", "w").write(str(error))
"""


def big_plan(start: str):
    budget = Budget.from_gdp(dp=0.5, deletion=0.1)
    sharp = methods.NoisyGD(exact=False if start == "device" else None)  # exact steps are taken on the processor
    method = methods.OutputPerturbation(diffusion_steps=12) if start == "output-perturbation" else sharp
    return make_plan(losses.Logistic(1.0), records=3000, features=6, regularization=0.05, budget=budget, method=method)


@needs_gloo
def test_two_processes_do_the_work_of_one(tmp_path: Path) -> None:
    (tmp_path / "spmd.py").write_text(SPMD)
    launch(tmp_path / "spmd.py", tmp_path)
    for kind in ("published", "output-perturbation", "device", "secure"):
        first, second = (np.load(tmp_path / f"{kind}-{rank}.npy") for rank in range(2))
        assert (first == second).all()
        alone, rng = Curator(table(3000), big_plan(kind)), np.random.default_rng(5)
        alone.learn(rng=rng)
        alone.delete([3, 2900], rng=rng)
        distance = np.abs(alone.model.weights - first).max()
        assert (distance < 1e-6) == (kind != "secure")  # a fresh key gives other weights
    for rank in range(2):
        assert "the row of id 2900" in (tmp_path / f"refused-{rank}").read_text()


def test_advice_on_sharing_weighs_the_work_against_starting_and_messages() -> None:
    assert not is_worth_sharing(26_000 * 108, passes=120, processes=2)  # Adult: launching alone takes longer
    assert is_worth_sharing(10**8, passes=120, processes=2)
    assert not is_worth_sharing(10**8, passes=1, processes=2)
    assert not is_worth_sharing(10**5, passes=10**6, processes=64)  # every step waits for a message


COMMAND = """
import os, signal, sys
from noisygd_delete.engine import execution as group
from noisygd_delete.cli import main
killed = int(sys.argv[1])
if killed and group.find_launched_group().rank == 1:
    total, calls = group.TorchGroup.total, []
    def dying(self, part):
        calls.append(1)
        if len(calls) == killed:
            os.kill(os.getpid(), signal.SIGKILL)
        return total(self, part)
    group.TorchGroup.total = dying
for line in sys.argv[2:]:
    status = main(line.split())
raise SystemExit(status)
"""


@needs_gloo
def test_the_command_line_takes_several_processes_and_survives_the_death_of_one(tmp_path: Path) -> None:
    """Learn and delete with two processes; then kill the second in mid-run: the next command, alone, finishes the request."""
    (tmp_path / "command.py").write_text(COMMAND)
    store = tmp_path / "store"
    Store.create(store, records(), SCHEMA, plan()).close()
    erase = f"delete --json {store}"
    lines = [f"learn {store} --json", f"{erase} {records().ids[0]}", f"{erase} nobody", f"verify {store} --json"]
    told = launch(tmp_path / "command.py", 0, *lines)
    assert told.stdout.count('"release":') == 2  # one answer each, from process 0
    assert "is not in the table" in told.stderr
    second = records().ids[1]
    ended = launch(tmp_path / "command.py", 1, f"{erase} {second}", check=False)
    assert ended.returncode
    assert (
        "another one of the group has gone" in ended.stderr or "another process of the group has gone" in ended.stderr
    )
    assert "finished by the next command" in ended.stderr
    assert "this table is small" in told.stderr
    assert (store / "journal" / "request.json").exists()
    with Store.open(store) as opened:
        assert opened.recovered_release is not None
        assert opened.recovered_release.release == 3
        assert second not in opened.records.ids
    assert not (store / "journal" / "request.json").exists()
