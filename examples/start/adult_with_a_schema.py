"""The Adult table through a public schema, into a store on disk: learn, erase, certify.

    python examples/start/adult_with_a_schema.py [adult.csv.gz]

Data: the UCI Adult training table as CSV (plain or gzip), named on the command line or adult.csv.gz in the folder
$NOISYGD_DELETE_DATA. Without it the example stops with status 77 and says so.
"""

import os
import sys
import tempfile
from pathlib import Path

from noisygd_delete import Budget, EditRequest, Records, Schema, Store, losses, make_plan
from noisygd_delete.evidence import erasure_certificate, new_key, plain_words, sign, verify_certificate
from noisygd_delete.evidence.erasure import erasure_in

named = sys.argv[1] if len(sys.argv) > 1 else Path(os.environ.get("NOISYGD_DELETE_DATA", ".")) / "adult.csv.gz"
if not Path(named).exists():
    print(f"skipped: {named} is not there; name the Adult table on the command line")
    raise SystemExit(77)

# The schema lists what the census questionnaire allows. No range, category or mean is read off the rows.
schema = Schema.read(Path(__file__).parents[1] / "schemas" / "adult.toml")
encoded = schema.encode_file(named)
ids = [f"adult-{number:05d}" for number in range(len(encoded.rows))]
held_out = Records(encoded.rows[26_000:], encoded.labels[26_000:])
records = Records(encoded.rows[:26_000], encoded.labels[:26_000], ids[:26_000])

plan = make_plan(
    losses.Logistic(radius=schema.radius),
    records=26_000,
    features=schema.features,
    regularization=1e-3,
    budget=Budget(order=10, dp=1.0, deletion=0.1),
    method="sharp",
)

with tempfile.TemporaryDirectory() as folder:
    with Store.create(Path(folder) / "store", records, schema.with_columns(id="id", subject=None), plan) as store:
        store.learn()
        before = store.model.accuracy(held_out)
        release = store.serve(EditRequest.delete(["adult-00007", "adult-00042"], request_id="5b0c7e"))
        after = store.model.accuracy(held_out)
        erasure, its_plan, events = erasure_in(store.ledger, request_id="5b0c7e", controller="Example Ltd")
    key = Path(folder) / "controller.pem"
    new_key(key)
    paper = sign(erasure_certificate(erasure, plan=its_plan, events=events), key)
    holds = verify_certificate(paper, public_key=f"{key}.pub").passed

print(f"held-out accuracy {before:.3f} before, {after:.3f} after two deletions in {release.steps} steps")
print("\n".join(plain_words(paper)))

assert holds
assert before > 0.80
assert after > 0.80
assert release.guarantees["deletion"].renyi(10) <= 0.1
assert "adult-00007" not in str(paper)

if picture := os.environ.get("PICTURE"):
    from matplotlib import pyplot

    _, axes = pyplot.subplots(figsize=(7, 2.6), layout="constrained")
    positive = float((encoded.labels[26_000:] > 0).mean())
    bars = {"always the majority": max(positive, 1 - positive), "learned": before, "after two deletions": after}
    axes.bar_label(
        axes.barh(list(bars), list(bars.values()), color=["0.7", "tab:blue", "tab:green"]), fmt="%.3f", padding=3
    )
    axes.set(xlim=(0, 1), xlabel="held-out accuracy on the Adult table")
    axes.set_title("Two deletions cost no accuracy that shows", loc="left")
    pyplot.savefig(picture)
