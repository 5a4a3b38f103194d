"""`noisygd-delete export` and `report`: the model as ONNX or JSON, and one page about the whole store, from its ledger."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import Any

from ..errors import InvalidParameter
from ..evidence.atomic_write import check_output, check_outputs
from ..extensions import load_extension, require_extension
from .arguments import add_command, parse_number
from .terminal import print_result

_PLAIN = b'{"format": 1, "kind": "'


def register(commands: Any) -> None:
    """Add the commands `export` and `report` and their options to the parser."""
    parser = add_command(
        commands,
        "export",
        description="Write the current model in a portable format. A model card and other documents: `document`.",
        epilog="example: noisygd-delete export STORE --onnx model.onnx --plain model.json",
    )
    parser.add_argument("store", metavar="STORE")
    parser.add_argument(
        "--onnx",
        metavar="FILE",
        help="the current model as a graph from raw columns to labels, with the normalisation; not available with a public map (package noisygd-delete-server)",
    )
    parser.add_argument(
        "--plain", metavar="FILE", help="the current model as coefficients in JSON (see docs/publishers.md)"
    )
    parser.add_argument(
        "--monotone",
        metavar="COLUMN=WAY",
        action="append",
        default=[],
        help="`rising` or `falling`, the nearest such curve of an additive model in place of its own",
    )
    parser.take("--json")
    parser.set_defaults(run=_export)
    parser = add_command(commands, "report", epilog="example: noisygd-delete report STORE --out report.html")
    parser.add_argument("store", metavar="STORE")
    parser.add_argument("--out", required=True, metavar="FILE", help="write the page here")
    parser.add_argument("--title", help="default: what it is, in its language")
    parser.take("--language")
    parser.add_argument("--delta", type=parse_number, help="δ of the (ε, δ) figures; default: the plan's, or 1e-6")
    parser.add_argument("--audit", metavar="FILE", help="output of `audit --json`, quoted as evidence")
    parser.take("--json")
    parser.set_defaults(run=_report)


def _export(parsed: argparse.Namespace) -> int:
    from ..features.schema.shapes import monotone_weights
    from ..store.artifact import current_artifact

    begins = (
        None if parsed.onnx is None else require_extension("hooks", "onnx", "server", "--onnx", extra="onnx").BEGINS
    )
    outputs = check_outputs({"--onnx": (parsed.onnx, begins), "--plain": (parsed.plain, _PLAIN)})
    if not outputs:
        raise InvalidParameter("name what to write: --onnx or --plain")
    leaving = current_artifact(parsed.store)
    if parsed.monotone:
        weights = monotone_weights(leaving.schema, leaving.model.weights, parsed.monotone)
        leaving = replace(leaving, model=replace(leaving.model, weights=weights))
    names = {"--onnx": "model.onnx", "--plain": "model.json"}
    written = {option: leaving.file(names[option]) for option in outputs}
    for option, place in outputs.items():
        place.write(written[option])
    files = [file for file in (parsed.onnx, parsed.plain) if file is not None]
    print_result(parsed, {"files": files}, "\n".join(f"wrote {file}" for file in files))
    return 0


def _report(parsed: argparse.Namespace) -> int:
    from ..evidence.erasure import is_on_calendar, ledger_of, ledger_status, release_times
    from ..reports.html import PAGE
    from ..reports.spending import LISTED
    from ..reports.summary import store_report
    from .audit import audit_from

    out = check_output("--out", parsed.out, begins=PAGE, inputs=[parsed.audit])
    ledger, requests = ledger_of(parsed.store), load_extension("hooks", "report-requests")
    page = store_report(
        plan=ledger.plan,
        events=ledger.events,
        times=release_times(ledger),
        standing=ledger_status(ledger),
        requests=requests and requests(ledger, parsed.language, most=LISTED),
        audit=audit_from(parsed.audit, ledger.plan),
        title=parsed.title,
        delta=parsed.delta,
        by_calendar=is_on_calendar(ledger),
        code=parsed.language,
    )
    out.write(page)
    print_result(parsed, {"report": parsed.out, "releases": ledger.releases}, f"wrote {parsed.out}")
    return 0
