"""Requests in batches of 10 on Adult: `python benchmarks/stream_rate.py N` prints requests a second, the share of computing and
syncs a request, of the package that the path finds first."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

from noisygd_delete import Budget, EditRequest, Records, losses, make_plan
from noisygd_delete.schema import Schema
from noisygd_delete.store import Store
from noisygd_delete.stream import Batching, Stream


def main(requests: int, data: Path, schema_file: Path) -> tuple[float, float, float]:
    schema = Schema.read(schema_file)
    encoded = schema.encode_file(data)
    n, d = encoded.rows.shape
    records = Records(encoded.rows, encoded.labels, [f"record-{k:05d}" for k in range(n)])
    plan = make_plan(
        losses.Logistic(1.0), records=n, features=d, regularization=1e-2, method="minimiser", releases=requests // 10 + 1,
        budget=Budget.from_gdp(dp=1.0, deletion=0.1),
    )  # fmt: skip
    syncs = [0]
    real = os.fsync

    def counted(descriptor: int) -> None:
        syncs[0] += 1
        real(descriptor)

    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
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


if __name__ == "__main__":
    print(*main(int(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3])))
