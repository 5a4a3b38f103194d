"""Time of one Noisy-GD step against one reading of the matrix, interleaved in one run."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable

import numpy as np

from noisygd_delete import Records, losses
from noisygd_delete.engine import Objective, device
from noisygd_delete.engine.device import DeviceObjective
from noisygd_delete.engine.execution import thread_count
from noisygd_delete.engine.noise import SecureNoise
from noisygd_delete.engine.noisygd import run_in_blocks, run_noisy_steps

from . import datasets, report
from .timing import ratio, rounds

STEPS = 4  # in one timing: a step includes its noise and its update
STEPS_ON_A_DEVICE = 8 * device.STEPS  # so many that the capture of a graph, once a run, weighs little


def random_table(rows: int, features: int, classes: int = 0) -> Records:
    """Unit rows, made in place; labels −1/+1, or 0..classes−1."""
    rng = np.random.default_rng(0)
    table = rng.standard_normal((rows, features), dtype=np.float32)
    table /= np.sqrt(np.einsum("ij,ij->i", table, table))[:, None] * np.float32(1 + 2.0**-20)
    labels = rng.integers(0, classes, rows).astype(float) if classes else rng.choice([-1.0, 1.0], rows)
    return Records.from_slots(table, labels, [None] * rows, None)


def reader(rows: np.ndarray, threads: int) -> Callable[[], object]:
    """One reading of the matrix: the sum of its numbers, compiled, by as many threads as the kernel has."""
    from concurrent.futures import ThreadPoolExecutor

    from numba import njit

    @njit(nogil=True, error_model="numpy", fastmath={"reassoc"})
    def total(numbers):
        result = np.float32(0)
        for index in range(numbers.shape[0]):
            result += numbers[index]
        return result

    parts = np.array_split(rows.reshape(-1), threads)
    if threads == 1:
        return lambda: total(parts[0])
    pool = ThreadPoolExecutor(threads)
    return lambda: list(pool.map(total, parts))


def measure(name: str, records: Records, loss: losses.Loss, repeats: int) -> list[str]:
    """A line of the table: ratios to one reading of the step, of the same step by products, and of two bare products."""
    rows, rng = records.features, np.random.default_rng(1)
    objective = Objective(records, loss, regularization=1e-3)
    weights = rng.standard_normal(objective.shape)
    noise = SecureNoise()
    threads = objective._kernel._threads if objective._kernel is not None else thread_count(rows.size)
    single, slopes = weights.astype(np.float32), np.ones((loss.outputs, len(rows)), np.float32)

    def steps(gradient: Callable[[np.ndarray], np.ndarray]) -> Callable[[], object]:
        scale = {"step_size": 0.1, "noise_variance": 1e-6, "steps": STEPS, "noise": noise}
        return lambda: run_noisy_steps(weights, gradient, **scale)

    plain = Objective(records, loss, regularization=1e-3)
    plain._kernel = None
    times = rounds(
        {
            "read": (reader(rows, threads), 1),
            "step": (steps(objective.gradient), STEPS),
            "products": (steps(plain.gradient), STEPS),
            "bare": (lambda: (rows @ single.T, slopes @ rows), 1),
        },
        repeats,
    )
    return [
        name,
        loss.name,
        f"{len(rows):,} × {rows.shape[1]}",
        "compiled" if objective._kernel is not None else "products",
        str(threads),
        *(f"{ratio(times, column, 'read'):.2f}" for column in ("step", "products", "bare")),
    ]


def measure_on_device(
    name: str, records: Records, loss: losses.Loss, repeats: int, place: str, steps: int
) -> list[str]:
    """The same line for a device: its reading is torch's sum of the rows, its bare products are torch's."""
    import torch

    objective = DeviceObjective(records, loss, regularization=1e-3, device=place)
    weights, noise = np.random.default_rng(1).standard_normal(objective.shape), SecureNoise()
    single = torch.tensor(weights, dtype=torch.float32, device=objective.device)
    rows, few = objective.rows, max(1, steps // 16)
    slopes = torch.ones((loss.outputs, len(rows)), device=objective.device)

    scale = {"step_size": 0.1, "noise_variance": 1e-6, "steps": steps, "noise": noise, "block": device.STEPS}

    def repeated(work: Callable[[], torch.Tensor]) -> Callable[[], object]:
        def calls() -> None:
            for _ in range(few):
                last = work()
            last.sum().cpu()  # waits for the device

        return calls

    times = rounds(
        {
            "read": (repeated(rows.sum), few),
            "step": (lambda: run_in_blocks(weights, objective.descend, **scale), steps),
            "bare": (repeated(lambda: rows @ single.T + (slopes @ rows).sum()), few),
        },
        repeats,
    )
    size = f"{records.slots:,} × {records.features.shape[1]}"
    return [
        name,
        loss.name,
        size,
        f"{objective.device.type}, products",
        "-",
        *(f"{ratio(times, column, 'read'):.2f}" for column in ("step", "step", "bare")),
    ]


def _cuda() -> bool:
    try:
        import torch
    except ImportError:
        return False
    return torch.cuda.is_available()


def _device() -> str:
    if not _cuda():
        return "No CUDA device was at hand."
    import torch

    return f"CUDA: {torch.cuda.get_device_name()}, where a reading is torch's sum of the rows."


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks kernel")
    parser.add_argument("--repeats", type=int, default=41)
    parser.add_argument("--quick", action="store_true", help="10⁵ rows and 10⁴ images instead of ten times as many")
    chosen = parser.parse_args(arguments)
    measured, lines, scale = report.commit(), [], 10 if chosen.quick else 1
    if datasets.found("adult.csv.gz"):
        lines.append(measure("Adult", datasets.adult().train, losses.Logistic(1.0), chosen.repeats))
    wide = random_table(10**6 // scale, 100)
    for loss in (losses.Logistic(1.0), losses.PseudoHuber(1.0), losses.clip_loss(losses.Logistic(1.0), 0.5)):
        lines.append(measure("random", wide, loss, chosen.repeats))
    images = random_table(10**5 // scale, 784, classes=10)
    lines.append(measure("random, ten classes", images, losses.Softmax(1.0, classes=10), max(5, chosen.repeats // 3)))
    if _cuda():
        for loss in (losses.Logistic(1.0), losses.PseudoHuber(1.0), losses.clip_loss(losses.Logistic(1.0), 0.5)):
            lines.append(measure_on_device("random", wide, loss, chosen.repeats, "cuda", STEPS_ON_A_DEVICE))
        softmax = losses.Softmax(1.0, classes=10)
        lines.append(
            measure_on_device("random, ten classes", images, softmax, chosen.repeats, "cuda", STEPS_ON_A_DEVICE)
        )
    header = [
        "table",
        "loss",
        "size",
        "path",
        "threads",
        "step / read",
        "by products / read",
        "two bare products / read",
    ]
    body = f"""\
A step of Noisy-GD (gradient, noise, update) over one reading of the table (a compiled sum of its numbers, by as many threads),
interleaved in one run; medians of {chosen.repeats}. "By products": the same step without the compiler. Adult fits in the
processor's cache, so its reading is a reading of cache. {_device()} OMP_NUM_THREADS={os.environ.get("OMP_NUM_THREADS", "unset")}.

{report.table(header, lines)}"""
    if not chosen.quick:
        command = " ".join(["python -m benchmarks kernel", *arguments])
        print(report.write("step_over_reading", "Time of a step over the time of a reading", command, body, measured))
    print(body)
    print("step / read: " + ", ".join(f"{line[0]} {line[1]} {line[2]} {line[3]} {line[5]}" for line in lines))
