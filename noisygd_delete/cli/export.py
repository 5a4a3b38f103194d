"""`noisygd-delete export` and `report`: documents about a deployment, and the model in portable formats.

`export` writes registry fields, a model card, an annex for an impact assessment, and the model as ONNX or JSON;
`report` writes one page about the whole store, from its ledger.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ..errors import InvalidParameter
from ..evidence.atomic_write import open_output
from .arguments import add_command, parse_number
from .terminal import print_result

_YAML = b'software: "noisygd-delete'  # how every such file begins
_PLAIN = b'{"format": 1, "kind": "'


def register(commands: Any) -> None:
    parser = add_command(
        commands,
        "export",
        description="Papers are made from plan, ledger and register: no row is read. Texts that only you can give come from `register settings`; what "
        "nobody stated stands there as not stated.",
        epilog="example: noisygd-delete export STORE --registry deployment.yaml --model-card card.html --assessment annex.html",
    )
    parser.add_argument("store", metavar="STORE")
    parser.add_argument(
        "--registry", metavar="FILE", help="the fields of the DP deployments registry and of NIST SP 800-226, as YAML"
    )
    parser.add_argument("--model-card", metavar="FILE", help="a page for whoever uses the model")
    parser.add_argument(
        "--assessment", metavar="FILE", help="a page for a data protection impact assessment (Article 35 GDPR)"
    )
    parser.add_argument(
        "--onnx",
        metavar="FILE",
        help="the model in force as a graph from raw columns to labels, normalisation and all; a model with a public map has none",
    )
    parser.add_argument(
        "--plain", metavar="FILE", help="the model in force as coefficients in JSON (see docs/publishers.md)"
    )
    parser.add_argument(
        "--monotone",
        metavar="COLUMN=WAY",
        action="append",
        default=[],
        help="with --onnx or --plain: `rising` or `falling`, the nearest such curve of an additive model in place of its own",
    )
    parser.add_argument(
        "--public-key", metavar="FILE", help="the key that signs certificates; the model card names its id"
    )
    parser.add_argument(
        "--audit", metavar="FILE", help="output of `audit --json`, quoted in the annex beside the bounds"
    )
    parser.take("--language", "--json")
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
    from ..evidence.erasure import ledger_of
    from ..evidence.signing import key_id, read_public
    from ..reports.html import PAGE
    from ..reports.model_card import assessment, fields, model_card, to_yaml
    from ..reports.request_rows import practice_of, register_lines
    from ..store.onnx_graph import BEGINS
    from .audit import audit_from

    asked = {"--registry": parsed.registry, "--model-card": parsed.model_card, "--assessment": parsed.assessment}
    asked |= {"--onnx": parsed.onnx, "--plain": parsed.plain}
    files = {option: file for option, file in asked.items() if file is not None}
    if not files and not parsed.json:
        raise InvalidParameter(
            "name what to write: --registry, --model-card, --assessment, --onnx or --plain; or --json"
        )
    if parsed.monotone and parsed.onnx is None and parsed.plain is None:
        raise InvalidParameter("--monotone changes what --onnx or --plain writes: name one of them")
    read = [parsed.public_key, parsed.audit]
    outputs = {
        option: open_output(
            option,
            file,
            begins={"--registry": _YAML, "--onnx": BEGINS, "--plain": _PLAIN}.get(option, PAGE),
            inputs=[*read, *(f for f in files.values() if f is not file)],
        )
        for option, file in files.items()
    }
    ledger, practice, lines = ledger_of(parsed.store), practice_of(parsed.store), register_lines(parsed.store)
    key = None if parsed.public_key is None else key_id(read_public(parsed.public_key))
    audit, deployment = audit_from(parsed.audit, ledger.plan), fields(ledger, practice)
    made: dict[str, Callable[[], str | bytes]] = {
        "--registry": lambda: to_yaml(deployment),
        "--model-card": lambda: model_card(ledger, practice, lines, key=key, code=parsed.language),
        "--assessment": lambda: assessment(ledger, practice, lines, audit=audit, code=parsed.language),
    }
    if parsed.onnx is not None or parsed.plain is not None:
        from ..features.schema.shapes import monotone_weights
        from ..store.artifact import current_artifact

        leaving = current_artifact(parsed.store)
        if parsed.monotone:
            weights = monotone_weights(leaving.schema, leaving.model.weights, parsed.monotone)
            leaving = replace(leaving, model=replace(leaving.model, weights=weights))
        made |= {"--onnx": lambda: leaving.file("model.onnx"), "--plain": lambda: leaving.file("model.json")}
    written = {option: made[option]() for option in outputs}
    for option, place in outputs.items():
        place.write(written[option])
    print_result(parsed, deployment, "\n".join(f"wrote {file}" for file in files.values()))
    return 0


def _report(parsed: argparse.Namespace) -> int:
    from ..evidence.erasure import is_on_calendar, ledger_of, ledger_status, release_times
    from ..reports import store_report
    from ..reports.html import PAGE
    from ..reports.request_rows import lines_of
    from ..store.layout import Layout
    from ..store.request_log import RequestLog
    from .audit import audit_from

    out = open_output("--out", parsed.out, begins=PAGE, inputs=[parsed.audit])
    ledger = ledger_of(parsed.store)
    page = store_report(
        plan=ledger.plan,
        events=ledger.events,
        times=release_times(ledger),
        standing=ledger_status(ledger),
        requests=lines_of(ledger, RequestLog(Layout.at(parsed.store))),
        audit=audit_from(parsed.audit, ledger.plan),
        title=parsed.title,
        delta=parsed.delta,
        by_calendar=is_on_calendar(ledger),
        code=parsed.language,
    )
    out.write(page)
    print_result(parsed, {"report": parsed.out, "releases": ledger.releases}, f"wrote {parsed.out}")
    return 0
