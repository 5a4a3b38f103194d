"""`noisygd-delete audit`: claimed against measured, on synthetic worst-case records under a plan."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from ..errors import InvalidParameter
from ..methods.plan import Plan
from .arguments import number, seed, whole
from .change import open_store
from .plan import add_plan_arguments, plan_from
from .shared import add_json, progress_bar, show

FAILED = 5


def register(commands: Any) -> None:
    parser = commands.add_parser(
        "audit",
        help="attack a plan with synthetic worst-case records: claimed against measured",
        epilog="examples: noisygd-delete audit STORE; noisygd-delete audit --records 26000 --features 108 --method sharp --no-utility",
        allow_abbrev=False,
    )
    parser.add_argument(
        "store", nargs="?", metavar="STORE", help="audit its plan; without it, the plan of the options below"
    )
    parser.add_argument(
        "--wait", type=number, default=0.0, metavar="SECONDS", help="wait for another process to finish"
    )
    parser.add_argument("--records", type=whole, help="n, number of slots")
    parser.add_argument("--features", type=whole, help="columns, the constant one included")
    add_plan_arguments(parser)
    chosen = parser.add_argument_group("audit")
    chosen.add_argument("--chains", type=whole, default=20_000, help="synthetic runs per world (default 20000)")
    chosen.add_argument("--later-releases", type=whole, default=3, help="releases from the erasure on (default 3)")
    chosen.add_argument("--false-alarm", type=number, default=0.01, help="for the whole report (default 0.01)")
    chosen.add_argument(
        "--factor", type=number, default=3.0, help="a row passes if its bound comes so close to the claim (default 3)"
    )
    chosen.add_argument("--seed", type=seed, help="repeat the same synthetic runs")
    add_json(parser)
    parser.set_defaults(run=_run)


def _run(parsed: argparse.Namespace) -> int:
    from ..audit import audit
    from ..audit.membership import QUESTIONS

    plan = _plan(parsed)
    with progress_bar("audit", QUESTIONS) as progress:
        report = audit(
            plan,
            chains=parsed.chains,
            later_releases=parsed.later_releases,
            false_alarm=parsed.false_alarm,
            factor=parsed.factor,
            rng=np.random.default_rng(parsed.seed),
            progress=progress,
        )
    show(parsed, report.to_dict(), report.text())
    return FAILED if report.verdict == "fail" else 0


def _plan(parsed: argparse.Namespace) -> Plan:
    sizes = parsed.records, parsed.features
    if parsed.store is None:
        if None in sizes:
            raise InvalidParameter("audit needs a STORE, or --records and --features of a plan")
        return plan_from(parsed, records=parsed.records, features=parsed.features)
    if sizes != (None, None):
        raise InvalidParameter("a STORE has a plan already; leave --records and --features out")
    with open_store(parsed) as store:
        return store.plan
