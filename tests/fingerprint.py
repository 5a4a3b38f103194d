"""Everything that the methods answer, to the last bit: for changes that must change nothing.

python -m tests.fingerprint FILE    writes it where there is no such file; else says where it differs, status 1

It reads the bank of problems. Two machines may differ in the last bit: compare on one.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from noisygd_delete import Accountant
from noisygd_delete.accountant import Event, statement
from noisygd_delete.errors import NoisyGDDeleteError
from noisygd_delete.methods import external_row_methods
from noisygd_delete.methods.plan import Plan
from noisygd_delete.privacy.guarantee import Guarantee, describe_guarantee

from .bank import FURTHER, PROBLEMS, plan_by
from .reports.histories import history


def run_by(plan: Plan) -> dict[str, Any]:
    """What is run and what the accountant sees of it, however a plan keeps them."""
    return {
        "mechanism": plan.mechanism.to_dict(),
        "learning": repr(plan.learning),
        "serving": repr(plan.serving),
        "stages": [run_by(stage) for stage in plan.calibration.stages],
    }


def answers(plan: Plan) -> dict[str, Any]:
    """What a plan says of itself."""
    promised = (plan.dp, plan.deletion, plan.deletion_observed(3), plan.allowed)
    return {
        "plan": plan.to_dict(),
        "run": run_by(plan),
        "summary": plan.summary(),
        "promised": [figure(guarantee) for guarantee in promised],
        "words": [plan.explain(), plan.summarize(), repr(plan)],
        "any order": allow_any_order(plan),
        "loss": repr(plan.model_loss),
    }


def figure(guarantee: Guarantee) -> str:
    """A guarantee's advantage with its conditions."""
    proven = "proven" if guarantee.proven else "declared"
    return f"Guarantee({guarantee.about}, {proven}: {describe_guarantee(guarantee, several=True)})"


def allow_any_order(plan: Plan) -> str:
    """Its plan for rows that lie elsewhere, or why there is none."""
    try:
        plan.method.check_any_order(plan.problem, external_row_methods(plan.problem))
        return repr(plan.allow_any_order())
    except NoisyGDDeleteError as error:
        return str(error)


def account(plan: Plan, events: list[Event], number: int) -> dict[str, Any]:
    """What a ledger of these releases says, of which this one erased a record."""
    accountant = Accountant(plan, events)
    after = range(number, accountant.releases + 1)
    asked = (
        accountant.dp_cumulative(),
        accountant.deletion(erased_at=number),
        accountant.deletion(erased_at=number, observed=after, notion="pairwise"),
    )
    return {
        "events": [event.to_dict() for event in events],
        "figures": [figure(guarantee) for guarantee in asked],
        "statement": statement.build_report(accountant),
    }


def fingerprint() -> dict[str, Any]:
    found: dict[str, Any] = {name: answers(plan_by(name)) for name in (*PROBLEMS, *FURTHER)}
    for name in PROBLEMS:
        found |= {f"{name}, releases {seed}": account(*history(name, seed, most=12)) for seed in range(4)}
    return dict(json.loads(json.dumps(found, default=repr)))


def differences(before: Any, now: Any, path: str = "") -> Iterator[str]:
    """Where two of them differ, leaf by leaf."""
    if isinstance(before, dict) and isinstance(now, dict):
        for key in sorted(before.keys() | now.keys()):
            yield from differences(before.get(key), now.get(key), f"{path} / {key}")
    elif isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        for place, (one, other) in enumerate(zip(before, now, strict=True)):
            yield from differences(one, other, f"{path} / {place}")
    elif before != now:
        yield f"{path}: {before!r} -> {now!r}"


def main(file: Path) -> int:
    now = fingerprint()
    if not file.exists():
        file.write_text(json.dumps(now, indent=1))
        return 0
    found = list(differences(json.loads(file.read_text()), now))
    sys.stdout.write("".join(f"{line[:400]}\n" for line in found) or f"the same: {len(now)} problems and histories\n")
    return int(bool(found))


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1])))
