"""`noisygd-delete audit`: compare the claimed with the measured leakage on synthetic worst-case records of a plan."""

from __future__ import annotations

import argparse
import hashlib
from typing import TYPE_CHECKING, Any

from ..errors import InvalidParameter
from ..records import limited_io
from .arguments import add_command, parse_integer, parse_seed
from .plan_file import PLANNED, fill_arguments
from .terminal import print_result, progress_bar

if TYPE_CHECKING:
    from ..audit import AuditResult
    from ..methods.plan import Plan

FAILED = 5
_FACTOR = 3.0  # how close to the claim a measured bound must come for a row to pass, for every `--by`
_OF = "plan_sha256"
WAYS = ("chains", "releases", "one-run")


def register(commands: Any) -> None:
    """Add the `audit` command and its options to the parser."""
    parser = add_command(
        commands,
        "audit",
        epilog="examples: noisygd-delete audit STORE; noisygd-delete plan --records 1000 --features 1000 --method output-perturbation --out plan.toml; "
        "noisygd-delete audit --plan plan.toml --by one-run",
    )
    parser.add_argument(
        "store",
        nargs="?",
        metavar="STORE",
        help="audit its plan; without it, that of --plan, which then says --records and --features too",
    )
    parser.take("--plan", "--wait")
    chosen = parser.add_argument_group("audit")
    chosen.add_argument(
        "--by",
        choices=WAYS,
        help="chains (default, where it covers the method): noisy steps on the worst-case loss, thousands of runs; releases (default elsewhere, as for most "
        "networks): learn and delete themselves, many times over; one-run: a canary on every column, in one learn and one deletion",
    )
    chosen.add_argument(
        "--chains", type=parse_integer, default=20_000, help="by chains: synthetic runs per world (default 20000)"
    )
    chosen.add_argument(
        "--later-releases", type=parse_integer, default=3, help="by chains: releases from the erasure on (default 3)"
    )
    chosen.add_argument(
        "--runs",
        type=parse_integer,
        default=500,
        help="by releases: runs to fit to, and as many to count (default 500)",
    )
    chosen.add_argument("--seed", type=parse_seed, help="repeat the same synthetic runs")
    parser.take("--json")
    parser.set_defaults(run=_run)


def _run(parsed: argparse.Namespace) -> int:
    plan = _plan(parsed)
    report = _run_audit(plan, parsed)
    print_result(parsed, {**report.to_dict(), _OF: _digest(plan)}, report.text())
    return FAILED if report.verdict == "fail" else 0


def audit_from(file: str | None, plan: Plan) -> list[dict[str, Any]]:
    """Return the rows of a file written by `noisygd-delete audit --json`, as evidence in a document about this plan.

    Args:
        file: The file; None gives no rows.
        plan: Plan of the releases that the document describes.

    Returns:
        One dictionary for each row: `name` ("question: attack"), `measured_lower_bound` (negative values as 0) and
        `claimed_advantage`.

    Raises:
        InvalidParameter: If the file cannot be read, is not such an output, or its digest is that of another plan.
    """
    if file is None:
        return []
    try:
        document = limited_io.read_text(file, limited_io.DOCUMENT)
    except InvalidParameter as error:
        raise InvalidParameter(f"--audit {error}") from error
    try:
        kept = limited_io.parse_json(document)
        found = [
            {
                "name": f"{row['question']}: {row['attack']}",
                "measured_lower_bound": max(0.0, float(row["measured_lower_bound"])),
                "claimed_advantage": float(row["claimed_advantage"]),
            }
            for row in kept["rows"]
        ]
    except (ValueError, KeyError, TypeError) as error:
        raise InvalidParameter(
            f"--audit {file}: give the output of `noisygd-delete audit ... --json` ({error!r})"
        ) from error
    if kept.get(_OF) != _digest(plan):
        raise InvalidParameter(
            f"--audit {file}: it attacked another plan than that of this paper; give the output of `noisygd-delete audit STORE --json`"
        )
    return found


def _digest(plan: Plan) -> str:
    """Return the SHA-256 of what an audit attacks: the mechanism and its learning and deletion steps."""
    from ..evidence.canonical import canonical_bytes

    facts = {
        "mechanism": plan.mechanism.to_dict(),
        "steps": [plan.calibration.learn_steps, plan.calibration.delete_steps],
    }
    return hashlib.sha256(canonical_bytes(facts)).hexdigest()


def _run_audit(plan: Plan, parsed: argparse.Namespace) -> AuditResult:
    import numpy as np

    from ..audit import audit, audit_one_run, audit_releases
    from ..audit.membership import QUESTIONS, is_simulated
    from ..audit.releases import WORLDS

    rng, way = np.random.default_rng(parsed.seed), parsed.by or WAYS[not is_simulated(plan)]
    if way == "one-run":
        return audit_one_run(plan, factor=_FACTOR, rng=rng)
    with progress_bar("audit", WORLDS if way == "releases" else QUESTIONS) as progress:
        if way == "releases":
            return audit_releases(plan, runs=parsed.runs, progress=progress, rng=rng)
        return audit(plan, chains=parsed.chains, later_releases=parsed.later_releases, progress=progress, rng=rng)


def _plan(parsed: argparse.Namespace) -> Plan:
    from .plan_arguments import plan_from
    from .release import open_store

    if parsed.store is None:
        fill_arguments(parsed, PLANNED)
        if None in (parsed.records, parsed.features):
            raise InvalidParameter("audit needs a STORE, or --plan FILE with the records and features of a plan")
        return plan_from(parsed, records=parsed.records, features=parsed.features, one_hot_blocks=parsed.one_hot_blocks)
    if parsed.plan is not None:
        raise InvalidParameter("a STORE has a plan already; leave --plan out")
    with open_store(parsed) as store:
        return store.plan
