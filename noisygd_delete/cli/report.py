"""`noisygd-delete report`: one HTML page about the whole store, from its ledger."""

from __future__ import annotations

import argparse
import logging
from typing import Any

from ..evidence.outputs import output
from .arguments import add_command, number
from .terminal import show


def register(commands: Any) -> None:
    parser = add_command(commands, "report", epilog="example: noisygd-delete report STORE --out report.html")
    parser.add_argument("store", metavar="STORE")
    parser.add_argument("--out", required=True, metavar="FILE", help="write the page here")
    parser.add_argument("--title", help="default: what it is, in its language")
    parser.takes += ("--language",)
    parser.add_argument("--delta", type=number, help="δ of the (ε, δ) figures; default: the plan's, or 1e-6")
    parser.add_argument("--audit", metavar="FILE", help="output of `audit --json`, quoted as evidence")
    parser.takes += ("--json",)
    parser.set_defaults(run=_report)


def _report(parsed: argparse.Namespace) -> int:
    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # it remarks on folders for its cache
    from ..evidence.erasure import events_of, kept_to_calendar, ledger_of, release_times, standing
    from ..papers import store_report
    from ..papers.page import PAGE
    from ..papers.requests import lines_of
    from ..store.layout import Layout
    from ..store.requests import Register
    from .audit import audit_from

    out = output("--out", parsed.out, begins=PAGE, inputs=[parsed.audit])
    ledger = ledger_of(parsed.store)
    page = store_report(
        plan=ledger.plan,
        events=events_of(ledger),
        times=release_times(ledger),
        standing=standing(ledger),
        requests=lines_of(ledger, Register(Layout.at(parsed.store))),
        audit=audit_from(parsed.audit, ledger.plan),
        title=parsed.title,
        delta=parsed.delta,
        by_calendar=kept_to_calendar(ledger),
        code=parsed.language,
    )
    out.write(page)
    show(parsed, {"report": parsed.out, "releases": ledger.releases}, f"wrote {parsed.out}")
    return 0
