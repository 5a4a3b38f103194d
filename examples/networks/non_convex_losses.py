"""Non-convex losses: three certificates, what each asks for, and one that refuses with its numbers.

    python examples/networks/non_convex_losses.py

Data: two interleaved half-moons, synthetic; nothing is downloaded.
"""

import os

import numpy as np

from noisygd_delete import Budget, Curator, Records, losses, make_plan
from noisygd_delete.errors import PlanInfeasible

PEOPLE = 4_000
rng = np.random.default_rng(0)
angle = rng.uniform(0, np.pi, PEOPLE)
labels = rng.choice([-1, 1], PEOPLE)
points = np.c_[np.cos(angle), np.sin(angle)] * labels[:, None] + np.outer(labels, [-0.5, 0.25])
points += rng.normal(0, 0.15, points.shape)
rows = np.c_[points, np.ones(PEOPLE)]
rows /= np.linalg.norm(rows, axis=1, keepdims=True)

network = losses.TanhNetwork(radius=1.0, outer_weights=[1.0, -1.0] * 8)
print(f"the objective stops being convex where λ <= β₋ = {network.constants.weak_convexity:.3g}")
common = {"records": PEOPLE, "features": 3, "budget": Budget.from_epsilon_delta(dp=(4.0, 1e-5), deletion=(0.5, 1e-5))}

# 1. λ > β₋: the regulariser makes the objective strongly convex, and everything of the convex case holds.
tight = make_plan(network, method="sharp", regularization=1.2 * network.constants.weak_convexity, **common)

# 2. Theorem 5.2 takes any λ, by closeness to the Gibbs law. Its steps grow like e^(range/noise): here it refuses.
try:
    make_plan(network, method="theorem", regularization=1e-2, **common)
    refusal = None
except PlanInfeasible as error:
    refusal = error
    print(f"\nTheorem 5.2: {error}\n")

# 3. Composition assumes nothing but a bounded gradient. Nothing fades: after ten requests a fresh learn is due.
composed = make_plan(network, method="composition", regularization=1e-2, requests_per_learn=10, **common)

steps = {}
for name, plan in (("tight", tight), ("composition", composed)):
    curator = Curator(Records(rows, labels), plan)
    learned = curator.learn()
    before = learned.model.accuracy(curator.records)
    release = curator.delete([17])
    after = release.model.accuracy(curator.records)
    steps[name] = (learned.steps, release.steps)
    deletion = release.guarantees["deletion"]
    print(
        f"{name:<12} λ={plan.regularization:.3g}  σ={plan.noise_variance**0.5:.2g}  K_A={plan.learn_steps}  K_Ā={plan.delete_steps}  "
        f"accuracy {before:.3f} -> {after:.3f}  deleted record: (ε={deletion.epsilon(1e-5):.3f}, δ=1e-5)"
    )
    assert deletion.epsilon(1e-5) <= 0.5
    assert release.steps < learned.steps / 2
    assert after > 0.6

assert refusal is not None
assert refusal.plan.learn_steps > 1e9
assert tight.horizon is None
assert composed.horizon is not None

if picture := os.environ.get("PICTURE"):
    from matplotlib import pyplot

    _, axes = pyplot.subplots(figsize=(7, 3), layout="constrained")
    steps["Theorem 5.2 (refused)"] = (refusal.plan.learn_steps, refusal.plan.delete_steps)
    for line, (learning, deleting) in enumerate(steps.values()):
        axes.barh(line + 0.2, learning, height=0.35, color="tab:blue", label="to learn" if line == 0 else None)
        axes.barh(line - 0.2, deleting, height=0.35, color="tab:green", label="to delete" if line == 0 else None)
    axes.set(xscale="log", yticks=range(len(steps)), yticklabels=steps, xlabel="steps")
    axes.set_title("Three proofs for a network that is not convex", loc="left")
    axes.legend()
    pyplot.savefig(picture)
