"""A convolutional extractor trained by DP-SGD on private digits, and a certified linear head that deletes records.

The head forgets; the extractor does not, so its ε is part of every promise. It needs the second distribution of the repository, `lab`.
"""

import os

import numpy as np
import torch
from noisygd_delete_lab.extractor import CertifiedHead, train_extractor
from sklearn.datasets import load_digits

from noisygd_delete import Budget, losses, make_plan

pixels, labels = load_digits(return_X_y=True)
order = np.random.default_rng(0).permutation(len(labels))
images, labels = (pixels[order] / 16).astype(np.float32), labels[order]
train, test = slice(0, 1500), slice(1500, None)

# 1. the extractor: Φ is published, top is thrown away
convolution = torch.nn.Sequential(torch.nn.Conv2d(1, 8, 3, stride=2, padding=1), torch.nn.Tanh(), torch.nn.Flatten())
extractor = train_extractor(
    convolution,
    torch.nn.Linear(128, 10),
    images[train],
    labels[train],
    input_shape=(1, 8, 8),
    noise_multiplier=1.5,
    epochs=3,
    batch=150,
)

# 2. the head: rows Φ(x) of norm at most 1; its ledger begins with the extractor. Zero-out is what DP-SGD costs least in
plan = make_plan(
    losses.Softmax(1.0, 10),
    records=1500,
    features=129,
    regularization=3e-3,
    adjacency="zero-out",
    method="sharp",
    utility=False,
    budget=Budget.from_epsilon_delta(dp=(4.0, 1e-5), deletion=(0.1, 1e-5)),
)
head = CertifiedHead(extractor, images[train], labels[train], plan)
head.learn()

# 3. three people ask to be forgotten
release = head.delete([3, 14, 159])
accuracy = (head.predict(images[test]) == labels[test]).mean()
promised = release.guarantees["deletion"].epsilon(1e-5)
print(f"accuracy after deletion {accuracy:.3f}; {release.steps} steps")
print(
    f"ε of the extractor {head.extractor_epsilon(1e-5):.2f}, of the head's deletion {plan.deletion.epsilon(1e-5):.2f}"
)
print(f"ε of both about a deleted record {promised:.2f}, at δ=1e-5")

assert accuracy > 0.6
assert plan.deletion.epsilon(1e-5) <= 0.1
assert promised > head.extractor_epsilon(1e-5)
assert not head.curator.records.features[[3, 14, 159]].any()

if picture := os.environ.get("PICTURE"):
    from matplotlib import pyplot

    _, axes = pyplot.subplots(figsize=(7, 2.6), layout="constrained")
    parts = {
        "head, one deletion": plan.deletion.epsilon(1e-5),
        "extractor": head.extractor_epsilon(1e-5),
        "both": promised,
    }
    axes.barh(list(parts), list(parts.values()), color=["tab:green", "tab:orange", "tab:red"])
    axes.set(xlabel="ε about a deleted record, at δ=1e-5")
    axes.set_title("The head forgets; the extractor's ε stays", loc="left")
    pyplot.savefig(picture)
