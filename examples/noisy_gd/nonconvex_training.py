"""Train a torch network by noisy gradient descent, delete records, and compare with DP-SGD trained again.

    python examples/noisy_gd/nonconvex_training.py

No convexity is used. By `noisy-gd:analysis=composition` every noisy step since the last fresh learn is charged, and a deletion takes few of them. A `staged`
publishes a base trained within eps_dd and later steps that a deletion runs again. The rival is Opacus at the same eps_dp, trained again
from the start for each deletion: it owes an erased record nothing, and costs a whole training. One record against none (zero-out), delta = 1e-5.

Data: handwritten digits that ship with scikit-learn, 1,437 to train on and 360 held out. Needs `pip install 'noisygd-delete[torch]'`.
"""

import os
import warnings

import numpy as np
import torch
from opacus import PrivacyEngine
from sklearn.datasets import load_digits

from noisygd_delete import Budget, Curator, Records, make_plan
from noisygd_delete.methods import CompositionNoisyGD, Stage, Staged
from noisygd_delete.networks import NetworkLoss

images, digits = load_digits(return_X_y=True)
rows = (images / 16 - 0.5) / np.linalg.norm(images / 16 - 0.5, axis=1, keepdims=True) * 0.999  # each row by itself
train, test, count = slice(0, 1437), slice(1437, None), 1437


def make_module() -> torch.nn.Module:
    torch.manual_seed(0)  # a public start, the same for all
    return torch.nn.Sequential(torch.nn.Linear(64, 32), torch.nn.Tanh(), torch.nn.Linear(32, 10))


loss = NetworkLoss(radius=1.0, classes=10, module=make_module(), clip=0.5)
base, refinement = (Stage("network", steps, sampling_rate=0.1, step_size=2.0) for steps in (200, 100))
results = {}
for method in (
    CompositionNoisyGD(learn_steps=20, delete_steps=1, batches=10, step_size=2.0),
    Staged((base, refinement)),
):
    plan = make_plan(
        loss,
        records=count,
        features=64,
        regularization=1e-4,
        budget=Budget.from_epsilon_delta(dp=(8.0, 1e-5), deletion=(2.0, 1e-5)),
        adjacency="zero-out",
        method=method,
    )
    curator = Curator(Records(rows[train], digits[train]), plan)
    curator.learn()
    release = curator.delete([7, 19])
    accuracy = np.mean(release.model.predict(rows[test]) == digits[test])
    learned, deleted = (work // count for work in plan.count_gradients().values())
    eps_dp, eps_dd = curator.accountant.epsilon_dp(observed=[2]), curator.accountant.epsilon_dd()
    results[method.variant_name()] = (accuracy, learned, deleted, eps_dp, eps_dd)

module, epochs = make_module(), 30
optimizer = torch.optim.SGD(module.parameters(), lr=2.0)
kept = [k for k in range(count) if k not in (7, 19)]
pairs = torch.utils.data.TensorDataset(torch.tensor(rows[kept], dtype=torch.float32), torch.tensor(digits[kept]))
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of torch's generator, and of hooks
    engine = PrivacyEngine()
    module, optimizer, batches = engine.make_private_with_epsilon(
        module=module, optimizer=optimizer, data_loader=torch.utils.data.DataLoader(pairs, batch_size=144),
        target_epsilon=8.0, target_delta=1e-5, epochs=epochs, max_grad_norm=0.5,
    )  # fmt: skip
    for _ in range(epochs):
        for some, labels in batches:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(module(some), labels).backward()
            optimizer.step()
    guessed = module(torch.tensor(rows[test], dtype=torch.float32)).argmax(1).numpy()
    results["Opacus, again"] = (np.mean(guessed == digits[test]), epochs, epochs, engine.get_epsilon(1e-5), 0.0)

print("                               accuracy  passes: learn  delete   eps_dp   eps_dd")
for name, (accuracy, learned, deleted, dp, dd) in results.items():
    print(f"{name:>29}  {accuracy:8.1%}  {learned:13}  {deleted:6}  {dp:7.2f}  {dd:7.2f}")
    assert accuracy > 0.7
    assert dp <= 8.01
    assert dd <= 2.0
assert results["noisy-gd:analysis=composition"][2] < results["staged"][2] < results["Opacus, again"][2]

if picture := os.environ.get("PICTURE"):
    from matplotlib import pyplot

    _, axes = pyplot.subplots(figsize=(7, 2.4), layout="constrained")
    for name, (accuracy, _, deleted, _, dd) in results.items():
        axes.plot(deleted, accuracy, "o")
        axes.annotate(f"{name}\neps_dd {dd:.1f}", (deleted, accuracy), xytext=(6, -9), textcoords="offset points")
    axes.set(xlabel="passes over the table for a deletion", ylabel="held-out accuracy", xlim=(0, 38), ylim=(0.7, 1))
    axes.set_title("A network deletes for less than a training", loc="left")
    pyplot.savefig(picture)
