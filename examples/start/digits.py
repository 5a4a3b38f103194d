"""Commands from a table to a signed certificate: ten classes, three records erased, measured before and after.

    python examples/start/digits.py

Data: the digits that ship with scikit-learn; nothing of it is kept.
"""

import csv
import io
import os
import re
import shlex
from contextlib import chdir, redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory

from sklearn.datasets import load_digits

from noisygd_delete.cli import main

DARKEST = 16  # of a pixel, public
pixels, digits = load_digits(return_X_y=True)
names = [f"p{place}" for place in range(pixels.shape[1])]
table = [[f"d{k}", *row, digits[k]] for k, row in enumerate(pixels.astype(int).tolist())]
classes = ", ".join(f'"{digit}"' for digit in range(10))
schema = f'id = "id"\n[label]\ncolumn = "digit"\nclasses = [{classes}]\n'
schema += "".join(f"[columns.{name}]\nbounds = [{-DARKEST}, {DARKEST}]\n" for name in names)


def write(file: str, rows: list[list[object]]) -> None:
    with Path(file).open("w", newline="") as out:
        csv.writer(out).writerows([["id", *names, "digit"], *rows])


def run(command: str) -> str:
    print(f"\n$ noisygd-delete {command}")
    said = io.StringIO()
    with redirect_stdout(said):
        status = main(shlex.split(command))
    assert status == 0, command
    print(said.getvalue(), end="")
    return said.getvalue()


def accuracy() -> float:
    found = re.search(r"^right +([0-9.]+)%$", run("evaluate digits --data apart.csv"), re.MULTILINE)
    return float(found[1]) / 100 if found else 0.0


with TemporaryDirectory() as folder, chdir(folder):
    write("digits.csv", [row for k, row in enumerate(table) if k % 10])
    write("apart.csv", table[::10])
    Path("schema.toml").write_text(schema)
    run("plan --dp 8 --deletion 0.8 --delta 1e-5 --out plan.toml")  # a wide budget, for so few rows
    run("init digits --data digits.csv --schema schema.toml --plan plan.toml")
    run("learn digits")
    before = accuracy()
    run("delete digits d3 d14 d159 --request-id first")
    after = accuracy()
    run("keygen key.pem")
    run("certificate digits --request-id first --key key.pem --out certificate.json --html certificate.html")
    told = run("verify-certificate certificate.json --public-key key.pem.pub")

assert min(before, after) > 0.7
assert told.endswith("the certificate holds\n")
print("\nSigned and verified. Of a table of yours: noisygd-delete quickstart FILE --label COL --delete ID")

if picture := os.environ.get("PICTURE"):
    from matplotlib import pyplot

    _, axes = pyplot.subplots(figsize=(7, 2.2), layout="constrained")
    axes.barh(["three erased", "all there"], [after, before], color=["tab:orange", "tab:green"])
    axes.set(xlim=(0, 1), xlabel="right, of digits kept apart")
    axes.set_title("What three erasures cost the model", loc="left")
    pyplot.savefig(picture)
