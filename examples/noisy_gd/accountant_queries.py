"""Ask the accountant ten questions, in Python and on the command line.

    python examples/noisy_gd/accountant_queries.py

Data: breast biopsies that ship with scikit-learn.
"""

import csv
import os
import shlex
from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory

from sklearn.datasets import load_breast_cancer

from noisygd_delete import Store
from noisygd_delete.cli import main

DELTA = 1e-6


def run(command: str) -> None:
    print(f"\n$ noisygd-delete {command}", flush=True)
    assert main(shlex.split(command)) == 0, command


with TemporaryDirectory() as folder, chdir(folder):
    rows, benign = load_breast_cancer(return_X_y=True)
    with Path("people.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "radius", "texture", "concavity", "benign"])
        writer.writerows(
            [f"p{k}", *row[[0, 1, 6]], "yes" if b else "no"]
            for k, (row, b) in enumerate(zip(rows, benign, strict=True))
        )
    Path("schema.toml").write_text(
        'id = "id"\n[label]\ncolumn = "benign"\nclasses = ["no", "yes"]\n[columns.radius]\nbounds = [0, 30]\n'
        "[columns.texture]\nbounds = [0, 40]\n[columns.concavity]\nbounds = [0, 1]\n"
    )
    run(
        "plan --method noisy-gd --regularization 0.01 --dp 2 --deletion 0.1 --delta 1e-6"
        " --records 600 --features 4 --out plan.toml"
    )
    run("init clinic --data people.csv --schema schema.toml --map columns --plan plan.toml --slots 600")
    for command in ("learn clinic", "delete clinic p3", "delete clinic p5 p8", "delete clinic p13"):
        run(command)

    accountant = Store.open("clinic").accountant
    every = range(1, accountant.releases + 1)
    last = accountant.releases
    answers = {
        "1 one model, a record that is still present": accountant.dp(last).epsilon(DELTA),
        "2 all models, a record that is still present": accountant.epsilon_dp(delta=DELTA),
        "3 the same at Renyi order 8": accountant.epsilon_dp(order=8),
        "4 the last model alone, the record it erased": accountant.epsilon_dd(delta=DELTA),
        "5 all models, the record erased last": accountant.epsilon_dd(delta=DELTA, observed=every),
        "6 all models, the record erased first": accountant.epsilon_dd(delta=DELTA, observed=every, erased_at=2),
        "7 the requester saw one earlier model": accountant.deletion_adaptive(1).epsilon(DELTA),
        "8 an observer who came after release 3": accountant.epsilon_dd(delta=DELTA, observed=[3, 4], erased_at=3),
        "9 all models after one more deletion": accountant.what_if(accountant.planned_event()).epsilon_dp(delta=DELTA),
        "10 all models after 20 more, in batches of 5": accountant.forecast().outlook(20, batch=5).total.epsilon(DELTA),
    }
    print(f"\nepsilon at delta = {DELTA:g}")
    for question, epsilon in answers.items():
        print(f"  {question:<50} {epsilon:8.4f}")

    run("budget clinic --delta 1e-6")
    run("budget clinic --delta 1e-6 --models-seen 1")
    run("budget clinic --delta 1e-6 --observed 3,4 --erased-at 3")
    run("budget clinic --delta 1e-6 --requests 20")

values = list(answers.values())
assert values[0] < values[1] < values[8] < values[9]  # each further model costs
assert values[3] <= 0.1 < values[4]  # the deletion budget, and what an observer of everything learns
assert values[5] < values[4]  # fewer models held the record that left first

if picture := os.environ.get("PICTURE"):
    from matplotlib import pyplot

    _, axes = pyplot.subplots(figsize=(7, 3.2), layout="constrained")
    axes.barh(list(answers)[::-1], values[::-1], color="tab:blue")
    axes.set(xlabel=f"epsilon at delta = {DELTA:g}", xscale="log")
    axes.set_title("Ten questions to one history of four releases", loc="left")
    pyplot.savefig(picture)
