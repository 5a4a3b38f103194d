"""What time and memory grow with: for each resource a small and a large run, and the exponent between them.

python -m benchmarks growth            writes benchmarks/results/growth.md
python -m benchmarks growth --check    measures again and fails where an exponent is larger than the committed one by `MORE`
python -m benchmarks growth --only "as codes"    measures the resources whose names contain this; the other rows remain

Ratios only: what a run took of the processors is compared with another run on the same machine a moment before; who else is at work
there lengthens neither.
"""

from __future__ import annotations

import argparse
import math
import os
import shutil
import tempfile
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from noisygd_delete import Budget, Curator, EditRequest, Records, losses, make_plan
from noisygd_delete.features.maps import Additive
from noisygd_delete.features.maps.codec import codec_of
from noisygd_delete.records import CodedRows, Names

RESULTS = Path(__file__).parent / "results" / "growth.md"
MORE = 0.2  # exponents of short runs differ by this much and no more, whoever else is at work
_TIMES = 3


def _rows(n: int, d: int, path: Path | None = None) -> np.ndarray:
    """Unit rows, in memory or mapped from a file."""
    rng = np.random.default_rng(0)
    rows = np.empty((n, d), np.float32) if path is None else np.memmap(path, np.float32, mode="w+", shape=(n, d))
    for first in range(0, n, 1 << 16):
        part = rng.standard_normal(rows[first : first + (1 << 16)].shape, dtype=np.float32)
        rows[first : first + len(part)] = part / (np.linalg.norm(part, axis=1, keepdims=True) * (1 + 2.0**-20))
    return rows


def _curator(n: int, d: int, classes: int = 2, path: Path | None = None, subjects: int | None = None) -> Curator:
    rng = np.random.default_rng(1)
    labels = rng.choice([-1.0, 1.0], n) if classes == 2 else rng.integers(0, classes, n).astype(float)
    loss = losses.Logistic(1.0) if classes == 2 else losses.Softmax(1.0, classes=classes)
    owners = None if subjects is None else [f"s{k % subjects}" for k in range(n)]
    plan = make_plan(
        loss, records=n, features=d, regularization=0.1, budget=Budget.from_gdp(dp=0.5, deletion=0.1), method="noisy-gd",
        rows_per_subject=1 if subjects is None else math.ceil(n / subjects),
    )  # fmt: skip
    curator = Curator(Records(_rows(n, d, path), labels, subjects=owners), plan)
    curator.learn()
    return curator


def _coded(n: int = 100_000, columns: int = 8, levels: int = 7, classes: int = 2) -> Callable[[int], object]:
    """A deletion by a solver, of rows of an additive map that are kept as codes; labels depend on two columns."""
    rng, map = np.random.default_rng(2), Additive((0,) * columns, levels=levels)
    codes = rng.integers(0, 1 << levels, (n, columns))
    score = (codes[:, 0] + codes[:, 1]) / (1 << levels) + rng.standard_normal(n) / 4
    labels = np.digitize(score, np.quantile(score, np.arange(1, classes) / classes)).astype(float)
    loss = losses.Logistic(1.0) if classes == 2 else losses.Softmax(1.0, classes=classes)
    plan = make_plan(
        loss, records=n, features=map.coding.width, regularization=0.01, budget=Budget.from_gdp(dp=0.5, deletion=0.1),
        method="output-perturbation",
    )  # fmt: skip
    codec = codec_of(map, 1.0)
    assert codec is not None
    rows = CodedRows(codec.to_stored(codes), codec)
    curator = Curator(Records(rows, 2 * labels - 1 if classes == 2 else labels), plan)
    curator.learn()
    return _deletion(curator)


def _deletion(curator: Curator) -> Callable[[int], object]:
    return lambda k: curator.delete([k])


def _by_rows(n: int) -> Callable[[int], object]:
    return _deletion(_curator(n, 20))


def _by_rows_mapped(n: int) -> Callable[[int], object]:
    folder = tempfile.mkdtemp()
    curator = _curator(n, 5, path=Path(folder, "rows"))
    weakref.finalize(curator, shutil.rmtree, folder)  # the map lives as long as who reads it
    return _deletion(curator)


def _by_features(d: int) -> Callable[[int], object]:
    return _deletion(_curator(20_000, d))


def _by_classes(classes: int) -> Callable[[int], object]:
    return _deletion(_curator(20_000, 50, classes))


def _by_subjects(subjects: int) -> Callable[[int], object]:
    curator = _curator(200_000, 5, subjects=subjects)
    return lambda k: curator.records.resolve(EditRequest.delete(subjects=[f"s{k}"]))


def _by_requests(requests: int) -> Callable[[int], object]:
    """Named in one request, found in a table of 10^6."""
    names = Names.of([f"record-{k:07d}" for k in range(10**6)])
    wanted = [f"record-{k * 3:07d}" for k in range(requests)]
    return lambda _: names.find(wanted)


def _by_releases(releases: int) -> Callable[[int], object]:
    """One more deletion after so many."""
    curator = _curator(2_000, 5)
    for k in range(releases):
        curator.delete([1000 + k])
    return _deletion(curator)


@contextmanager
def _one_thread() -> Iterator[None]:
    """Within, products and the compiled kernel run on one thread: several wait for each other in loops, longer where others are at work."""
    before = os.environ.get("OMP_NUM_THREADS")
    os.environ["OMP_NUM_THREADS"] = "1"
    try:
        with threadpool_limits(1, user_api="blas"):
            yield
    finally:
        if before is None:
            del os.environ["OMP_NUM_THREADS"]
        else:
            os.environ["OMP_NUM_THREADS"] = before


# resource -> (what is timed, small, large)
RESOURCES: dict[str, tuple[Callable[[int], Callable[[int], object]], int, int]] = {
    "n, in memory": (_by_rows, 50_000, 1_000_000),
    "n, mapped from a file": (_by_rows_mapped, 300_000, 30_000_000),
    "d": (_by_features, 50, 800),
    "classes": (_by_classes, 5, 80),
    "n, as codes": (lambda n: _coded(n=n), 50_000, 1_000_000),
    "columns, as codes": (lambda columns: _coded(columns=columns), 4, 64),
    "levels, as codes": (lambda levels: _coded(levels=levels), 3, 12),
    "classes, as codes": (lambda classes: _coded(columns=4, classes=classes), 3, 24),
    "subjects, of 200,000 rows": (_by_subjects, 10_000, 200_000),
    "ids named in a request, of 10^6": (_by_requests, 10, 10_000),
    "releases before": (_by_releases, 5, 100),
}


def exponent(make: Callable[[int], Callable[[int], object]], small: int, large: int) -> tuple[float, float]:
    """(time of the large run over the small one's, the exponent that this makes)."""
    best = [math.inf, math.inf]
    with _one_thread():
        runs = make(small), make(large)
        for turn in range(_TIMES):
            for which, run in enumerate(runs):
                began = time.process_time()
                run(turn)
                best[which] = min(best[which], time.process_time() - began)
    ratio = best[1] / best[0]
    return ratio, math.log(ratio) / math.log(large / small)


def measured(only: str = "") -> dict[str, tuple[int, int, float, float]]:
    asked = {name: facts for name, facts in RESOURCES.items() if only in name}
    return {name: (small, large, *exponent(make, small, large)) for name, (make, small, large) in asked.items()}


def committed(path: Path = RESULTS) -> dict[str, float]:
    """The exponents of the committed table."""
    return {name: float(line.strip("|").split("|")[-1]) for name, line in _committed_lines(path).items()}


def _committed_lines(path: Path) -> dict[str, str]:
    lines = [line for line in path.read_text().splitlines() if line.startswith("| ") and "---" not in line]
    return {line.split("|")[1].strip(): line for line in lines[1:]}


def worse(now: dict[str, float], before: dict[str, float]) -> list[str]:
    """What grows faster than it did, by more than chance, and what is measured no more."""
    return [
        f"{name}: exponent {now.get(name, math.nan):.2f}, committed {exponent:.2f}"
        for name, exponent in before.items()
        if not now.get(name, math.nan) <= exponent + MORE
    ]


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--only", default="", metavar="TEXT")
    parsed = parser.parse_args(arguments)
    found = measured(parsed.only)
    kept = _committed_lines(RESULTS) if parsed.only else {}
    kept |= {
        name: f"| {name} | {a:,} | {b:,} | {ratio:.2f} | {power:.2f} |" for name, (a, b, ratio, power) in found.items()
    }
    lines = [
        "# Growth",
        "",
        "Made by `python -m benchmarks growth`, rows of codes at another time by `--only 'as codes'`; `make bench-check` compares. A deletion (noise",
        "steps, whole tables; `noisy-gd`; of codes by a solver, `output-perturbation`), or for subjects and ids the finding of them, at two sizes:",
        "the least processor time of three on one thread, taken in turn, over one another.",
        "",
        "| resource | from | to | time over | exponent |",
        "|---|---:|---:|---:|---:|",
        *(kept[name] for name in RESOURCES if name in kept),
    ]
    print("\n".join(lines))
    if not parsed.check:
        RESULTS.write_text("\n".join(lines) + "\n")
        return
    before = {name: power for name, power in committed().items() if parsed.only in name}
    faults = worse({name: power for name, (*_, power) in found.items()}, before)
    if faults:
        raise SystemExit("grows faster than committed:\n" + "\n".join(faults))
