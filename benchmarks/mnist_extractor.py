"""A convolutional extractor trained by DP-SGD on private MNIST images, and a certified head that deletes.

Deleting retrains nothing of the extractor: its ε stays. The alternative that forgets everything is to train both again.
"""

from __future__ import annotations

import argparse
import gzip
import time

import numpy as np
import torch
from noisygd_delete_lab.extractor import CertifiedHead, Extractor, train_extractor

from benchmarks import datasets, report
from noisygd_delete import Budget, losses, make_plan

DELTA = 1e-5
DELETED = tuple(range(10))
INPUT = (1, 28, 28)
WIDTH = 16 * 4 * 4


def images() -> tuple[np.ndarray, np.ndarray]:
    folder = datasets.path("mnist_t10k")
    with gzip.open(folder / "t10k-images-idx3-ubyte.gz") as file:
        pixels = np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 28 * 28).astype(np.float32) / 255
    with gzip.open(folder / "t10k-labels-idx1-ubyte.gz") as file:
        digits = np.frombuffer(file.read(), np.uint8, offset=8).astype(np.int64)
    order = np.random.default_rng(0).permutation(len(pixels))
    return pixels[order], digits[order]


def convolution() -> torch.nn.Module:
    return torch.nn.Sequential(
        torch.nn.Conv2d(1, 16, 5, stride=2),
        torch.nn.Tanh(),
        torch.nn.AvgPool2d(3),
        torch.nn.Flatten(),
    )


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks mnist_extractor")
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--train", type=int, default=6000)
    chosen = parser.parse_args(arguments)
    measured = report.commit()
    pixels, digits = images()
    n = chosen.train
    train, test = (pixels[:n], digits[:n]), (pixels[n:], digits[n:])
    plan = make_plan(
        losses.Softmax(1.0, 10), records=n, features=WIDTH + 1, regularization=2e-3, adjacency="zero-out",
        budget=Budget.from_epsilon_delta(dp=(1.0, DELTA), deletion=(0.1, DELTA)), method="noisy-gd", utility=False,
    )  # fmt: skip
    began = time.perf_counter()
    trained = train_extractor(
        convolution(), torch.nn.Linear(WIDTH, 10), *train,
        input_shape=INPUT, noise_multiplier=1.0, epochs=chosen.epochs, batch=256, learning_rate=1.0,
    )  # fmt: skip
    extractor_seconds = time.perf_counter() - began
    rows = []
    for name, extractor in (
        ("trained by DP-SGD on the private images", trained),
        ("random filters, never trained", Extractor(convolution(), INPUT)),
    ):
        began = time.perf_counter()
        head = CertifiedHead(extractor, *train, plan)
        learned = head.learn()
        retrain = time.perf_counter() - began + (extractor_seconds if extractor is trained else 0.0)
        before = (head.predict(test[0]) == test[1]).mean()
        began = time.perf_counter()
        erased = head.delete(DELETED)
        delete = time.perf_counter() - began
        after = (head.predict(test[0]) == test[1]).mean()
        rows.append(
            [
                name,
                f"{before:.3f}",
                f"{after:.3f}",
                f"{head.extractor_epsilon(DELTA):.2f}",
                f"{plan.dp.epsilon(DELTA):.2f} / {plan.deletion.epsilon(DELTA):.2f}",
                f"{learned.guarantees['dp'].epsilon(DELTA):.2f} / {erased.guarantees['deletion'].epsilon(DELTA):.2f}",
                f"{delete / retrain:.3f}",
            ]
        )
    header = [
        "extractor",
        "accuracy",
        f"after deleting {len(DELETED)}",
        "ε of the extractor",
        "ε of the head (dp / deletion)",
    ]
    header += ["ε of both (dp / deletion)", "time of a deletion over training everything again"]
    body = (
        f"MNIST's 10,000 test images, ten classes, {n:,} to train and {len(test[1]):,} to test. One convolution, tanh, pooling "
        f"({WIDTH} features), {chosen.epochs} epochs of DP-SGD at noise multiplier 1; softmax head on unit rows, K_A={plan.calibration.learn_steps}, "
        f"K_Ā={plan.calibration.delete_steps}. Zero-out adjacency; every ε at δ=1e-5.\n\n"
        + report.table(header, rows)
        + "\n\n"
        "The deletion ε of the head is small; the extractor's is not, and no deletion reduces it. Where erased people must be "
        "forgotten to the head's level, the extractor has to be public."
    )
    report.write(
        "mnist_extractor",
        "Extractor and certified head on MNIST",
        "python -m benchmarks mnist_extractor",
        body,
        measured,
    )
