"""`noisygd-delete document`: a model card, an annex for an impact assessment, and fields for a registry of deployments."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from noisygd_delete.cli.arguments import add_command
from noisygd_delete.cli.terminal import print_result
from noisygd_delete.errors import InvalidParameter
from noisygd_delete.evidence.atomic_write import check_outputs

_YAML = b'software: "noisygd-delete'  # how every such file begins


def register(commands: Any) -> None:
    """Add the `document` command and its options to the parser."""
    parser = add_command(
        commands,
        "document",
        description="Documents are made from plan, ledger and register: no row is read. Texts that only you can give come from `register settings`; "
        "what was not stated is marked as not stated.",
        epilog="example: noisygd-delete document STORE --registry deployment.yaml --model-card card.html --assessment annex.html",
    )
    parser.add_argument("store", metavar="STORE")
    parser.add_argument(
        "--registry", metavar="FILE", help="the fields of the DP deployments registry and of NIST SP 800-226, as YAML"
    )
    parser.add_argument("--model-card", metavar="FILE", help="a page for users of the model")
    parser.add_argument(
        "--assessment", metavar="FILE", help="a page for a data protection impact assessment (Article 35 GDPR)"
    )
    parser.add_argument(
        "--public-key", metavar="FILE", help="the key that signs certificates; the model card names its id"
    )
    parser.add_argument(
        "--audit", metavar="FILE", help="output of `audit --json`, quoted in the annex beside the bounds"
    )
    parser.take("--language", "--json")
    parser.set_defaults(run=_write_documents)


def _write_documents(parsed: argparse.Namespace) -> int:
    from noisygd_delete.cli.audit import audit_from
    from noisygd_delete.evidence.erasure import ledger_of
    from noisygd_delete.evidence.signing import key_id, read_public
    from noisygd_delete.reports.html import PAGE

    from .model_card import assessment, model_card
    from .registry_fields import fields, to_yaml
    from .request_rows import policy_of, register_lines

    outputs = check_outputs(
        {
            "--registry": (parsed.registry, _YAML),
            "--model-card": (parsed.model_card, PAGE),
            "--assessment": (parsed.assessment, PAGE),
        },
        inputs=[parsed.public_key, parsed.audit],
    )
    if not outputs and not parsed.json:
        raise InvalidParameter("name what to write: --registry, --model-card or --assessment; or --json")
    ledger, policy, lines = ledger_of(parsed.store), policy_of(parsed.store), register_lines(parsed.store)
    key = None if parsed.public_key is None else key_id(read_public(parsed.public_key))
    audit, deployment = audit_from(parsed.audit, ledger.plan), fields(ledger, policy)
    made: dict[str, Callable[[], str]] = {
        "--registry": lambda: to_yaml(deployment),
        "--model-card": lambda: model_card(ledger, policy, lines, key=key, code=parsed.language),
        "--assessment": lambda: assessment(ledger, policy, lines, audit=audit, code=parsed.language),
    }
    written = {option: made[option]() for option in outputs}
    for option, place in outputs.items():
        place.write(written[option])
    files = (parsed.registry, parsed.model_card, parsed.assessment)
    print_result(parsed, deployment, "\n".join(f"wrote {file}" for file in files if file))
    return 0
