"""Requests in batches of 10 on Adult, in turn on another checkout of the project and on this one.

python -m benchmarks stream_rate --other FOLDER [--requests N] [--times N]
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from noisygd_delete import Budget, EditRequest, Records, losses, make_plan
from noisygd_delete.curator.stream import Batching, Stream
from noisygd_delete.features.schema import Schema
from noisygd_delete.store import Store


def rate(requests: int, data: Path, schema_file: Path, place: Path) -> tuple[float, float, float]:
    """Requests a second, the share of computing and syncs a request, of the package that the path finds first, with the store below
    `place`."""
    schema = Schema.read(schema_file)
    encoded = schema.encode_file(data)
    n, d = encoded.rows.shape
    records = Records(encoded.rows, encoded.labels, [f"record-{k:05d}" for k in range(n)])
    plan = make_plan(
        losses.Logistic(1.0), records=n, features=d, regularization=1e-2, method="output-perturbation", releases=requests // 10 + 1,
        budget=Budget.from_gdp(dp=1.0, deletion=0.1),
    )  # fmt: skip
    syncs = [0]
    real = os.fsync

    def counted(descriptor: int) -> None:
        syncs[0] += 1
        real(descriptor)

    with tempfile.TemporaryDirectory(dir=place) as folder:
        with Store.create(
            Path(folder, "store"), records, Schema.from_dict({**schema.to_dict(), "id": "id"}), plan
        ) as store:
            store.learn()
        with Store.open(Path(folder, "store")) as store:
            computed = [0.0]
            stream = Stream(store, Batching(size=10))
            run = store._rolling.run

            def timed(*arguments: object, **named: object) -> object:
                began = time.perf_counter()
                try:
                    return run(*arguments, **named)  # type: ignore[arg-type]
                finally:
                    computed[0] += time.perf_counter() - began

            store._rolling.run = timed  # type: ignore[method-assign, assignment]
            os.fsync = counted
            began = time.perf_counter()
            asked = [(EditRequest.delete([f"record-{k * 7:05d}"], request_id=f"r{k}"), "") for k in range(requests)]
            if hasattr(stream, "push_all"):
                stream.push_all(asked)
            else:
                for request, source in asked:
                    stream.push(request, source)
            whole = time.perf_counter() - began
            os.fsync = real
    return requests / whole, computed[0] / whole, syncs[0] / requests


def main(arguments: list[str]) -> None:
    from benchmarks import report
    from benchmarks.datasets import path

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--other", type=Path, required=True, help="a checkout of the commit to compare with")
    parser.add_argument("--requests", type=int, default=500)
    parser.add_argument("--times", type=int, default=2)
    parsed = parser.parse_args(arguments)
    program = [sys.executable, __file__, str(parsed.requests), str(path("adult.csv.gz"))]
    program.append(str(ROOT / "examples" / "schemas" / "adult.toml"))

    def once(tree: Path, place: Path = ROOT) -> list[float]:
        environment = {**os.environ, "PYTHONPATH": str(tree.resolve())}
        done = subprocess.run(
            [*program, str(place)], env=environment, cwd=ROOT, capture_output=True, text=True, check=True
        )
        return list(map(float, done.stdout.split()))

    pairs = [(once(parsed.other), once(ROOT)) for _ in range(parsed.times)]
    in_memory = [once(ROOT, MEMORY) for _ in range(parsed.times)] if MEMORY.is_dir() else []
    columns = [[" and ".join(f"{pair[which][fact]:.2f}" for pair in pairs) for which in (0, 1)] for fact in (1, 2)]
    lines = [
        "# Requests in batches of 10 on Adult",
        "",
        f"Commit {report.commit()}; `python -m benchmarks stream_rate --requests {parsed.requests} --times {parsed.times}`: deletions, minimiser, in",
        "turn on commit ce305e4 and on this one, on a machine of two processors under load (others at work on it and on its disk). Syncs are",
        "those of the store's own files; SQLite's own come on top of both, five a transaction, of which a batch has two now. A sync",
        "takes as long as the disk does; what is not computing and no disk either shows where the store lies in a file system in memory.",
        "",
        "| | ce305e4 | now |",
        "|---|---:|---:|",
        "| requests a second, over ce305e4 | 1 | "
        + " and ".join(f"{now[0] / then[0]:.1f}" for then, now in pairs)
        + " |",
        f"| share of computing | {columns[0][0]} | {columns[0][1]} |",
        f"| syncs a request | {columns[1][0]} | {columns[1][1]} |",
    ]
    if in_memory:
        shares = " and ".join(f"{share:.2f}" for _, share, _ in in_memory)
        lines.append(f"| share of computing, the store in memory | | {shares} |")
    (ROOT / "benchmarks" / "results" / "stream_rate.md").write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


ROOT = Path(__file__).resolve().parents[1]
MEMORY = Path("/dev/shm")  # where there is one

if __name__ == "__main__":
    print(*rate(int(sys.argv[1]), *map(Path, sys.argv[2:])))
