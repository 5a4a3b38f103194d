"""A network trained on public images becomes the features of private ones; the head on it forgets, and nothing below it needs to.

Public here are scikit-learn's first 900 digits, private the other 897: the network never sees those.
"""

import os

import numpy as np
import torch
from noisygd_delete_lab.frozen_module import FrozenModule
from sklearn.datasets import load_digits

from noisygd_delete import Budget, Curator, Records, losses, make_plan, maps

pixels, labels = load_digits(return_X_y=True)
pixels = pixels / np.linalg.norm(pixels, axis=1, keepdims=True)
public, private = slice(0, 900), slice(900, None)

# 1. on the public images: two layers and a head that is thrown away, then a frozen batch norm, which takes the public mean off
torch.manual_seed(0)
body = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.Tanh(), torch.nn.Linear(128, 64), torch.nn.Tanh())
network = torch.nn.Sequential(body, torch.nn.Linear(64, 10))
rows, classes = torch.tensor(pixels[public], dtype=torch.float32), torch.tensor(labels[public])
steps = torch.optim.Adam(network.parameters(), 3e-3)
for _ in range(150):
    steps.zero_grad()
    torch.nn.functional.cross_entropy(network(rows), classes).backward()
    steps.step()
centre = torch.nn.BatchNorm1d(64, affine=False, momentum=None)
centre(body(rows))
frozen = FrozenModule(torch.nn.Sequential(body, centre).eval(), input_shape=(64,))

# 2. the map is held to what the certificate rests on: each record's row is its own
maps.check_map(frozen, pixels[private])

# 3. the private images, mapped once; the plan carries the map's digest, and so does every certificate
accuracy = {}
features = {"pixels": maps.normalize_rows(pixels[private]), "public network": frozen.rows(pixels[private])}
for name, table in features.items():
    plan = make_plan(
        losses.Softmax(1.0, 10), records=700, features=table.shape[1], regularization=2e-2, method="objective-perturbation", utility=False,
        budget=Budget(order=10, dp=1.0, deletion=0.1), feature_map=frozen.digest if name == "public network" else None,
    )  # fmt: skip
    curator = Curator(Records(table[:700], labels[private][:700]), plan)
    curator.learn()
    release = curator.delete([3, 14, 159])  # three people ask to be forgotten
    accuracy[name] = float((curator.model.predict(table[700:]) == labels[private][700:]).mean())
    print(f"{name}: accuracy {accuracy[name]:.2f}, ε_dd {release.guarantees['deletion'].renyi(10):.3f} at order 10")

assert accuracy["public network"] > accuracy["pixels"]
assert release.guarantees["deletion"].renyi(10) <= 0.1
assert not curator.records.features[[3, 14, 159]].any()
assert curator.plan.problem.feature_map == frozen.digest

if picture := os.environ.get("PICTURE"):
    from matplotlib import pyplot

    _, axes = pyplot.subplots(figsize=(7, 2.6), layout="constrained")
    axes.barh(list(accuracy), list(accuracy.values()), color=["0.7", "tab:green"])
    axes.set(xlim=(0, 1), xlabel="held-out accuracy after three deletions")
    axes.set_title("The same convex head on …", loc="left")
    pyplot.savefig(picture)
