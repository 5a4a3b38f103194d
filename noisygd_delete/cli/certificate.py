"""`noisygd-delete certificate`: issue the erasure certificate of a request from the store's ledger."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from ..dates import parse_datetime
from ..errors import InvalidParameter, StoreCorrupt
from ..evidence.atomic_write import check_outputs, check_outside_store
from ..extensions import load_extension, require_extension
from ..records import limited_io
from .arguments import add_command, parse_integer, parse_number
from .keygen import add_passphrase_file, passphrase_of
from .terminal import print_result

if TYPE_CHECKING:
    from ..evidence.facts import Erasure
    from ..evidence.notices import OperatorStatements

_PAPER = b'{\n  "format": "noisygd-delete/erasure-certificate/'  # how every certificate on disk begins


def register(commands: Any) -> None:
    """Add the `certificate` command and its options to the parser."""
    certificate = add_command(
        commands,
        "certificate",
        description="States what was erased, what an observer can still learn, and what is not covered. Contains no "
        "name, record number or row; the request id in it is your own token. The store is verified first. An insertion erases "
        "nothing and gets no certificate; a replacement is certified as a rectification.",
        epilog="example: noisygd-delete certificate STORE --request-id 9f2c --key controller.pem --out certificate.json "
        "--html certificate.html",
    )
    certificate.add_argument("store", metavar="STORE")
    which = certificate.add_mutually_exclusive_group(required=True)
    which.add_argument("--request-id", metavar="TOKEN", help="the token that the request was made with")
    which.add_argument("--release", type=parse_integer, metavar="N", help="everything that release N erased")
    certificate.add_argument("--key", metavar="FILE", help="sign with this key (see keygen); keep it outside the store")
    add_passphrase_file(certificate)
    certificate.add_argument("--out", metavar="FILE", help="write the JSON here")
    certificate.add_argument(
        "--html",
        metavar="FILE",
        help="write the page here; where noisygd-delete-compliance is installed, it checks itself in a browser",
    )
    certificate.add_argument(
        "--envelope", metavar="FILE", help="write it here as an in-toto statement in a DSSE envelope; needs --key"
    )
    certificate.add_argument(
        "--timestamp-server",
        metavar="URL",
        help="have the file of --out stamped by this server (RFC 3161); it learns a SHA-256 alone",
    )
    certificate.add_argument("--timestamp", metavar="FILE", help="write the stamp here")
    certificate.add_argument(
        "--log",
        metavar="FILE",
        help="enter it into this log of certificates, random ids and SHA-256 alone; needs --key",
    )
    certificate.add_argument(
        "--log-proof", metavar="FILE", help="write a signed proof of inclusion in the log to this file; requires --log"
    )
    certificate.add_argument(
        "--received",
        metavar="TIME",
        help="when the request came in, ISO 8601 with the zone of that place (2026-05-04T09:30+02:00); default: as the register "
        "says, with which it must agree",
    )
    certificate.add_argument("--controller", metavar="NAME", help="the organisation that answers for the data")
    certificate.add_argument("--delta", type=parse_number, help="δ of the (ε, δ) figures; default: the plan's, or 1e-6")
    certificate.add_argument("--audit", metavar="FILE", help="output of `audit --json`, quoted as evidence")
    certificate.add_argument(
        "--residue",
        metavar="FILE",
        help="output of `residue --json`: where it was looked for what was erased, as your statement",
    )
    certificate.take("--language", "--json")
    certificate.set_defaults(run=_certificate)


def _certificate(parsed: argparse.Namespace) -> int:
    from ..evidence import erasure_certificate, plain_words, sign_document
    from ..evidence.envelope import BEGINS, make_envelope
    from ..evidence.erasure import erasure_in, ledger_of
    from ..reports.html import PAGE, certificate_html, file_text
    from .audit import audit_from

    check_outside_store("--key", parsed.key)
    read = [parsed.key, parsed.audit, parsed.residue]
    outputs = check_outputs(
        {"--out": (parsed.out, _PAPER), "--html": (parsed.html, PAGE), "--envelope": (parsed.envelope, BEGINS)},
        inputs=read,
    )
    obtain = _check_further_files(parsed, [*read, parsed.out])
    if parsed.envelope is not None and parsed.key is None:
        raise InvalidParameter("--envelope needs --key: an envelope holds a signed certificate")
    password = None if parsed.key is None else passphrase_of(parsed.key, parsed.passphrase_file)
    stated = _operator_statements(parsed)
    erasure, plan, events = erasure_in(
        ledger_of(parsed.store),
        request_id=parsed.request_id,
        release=parsed.release,
        received=stated.received,
        controller=parsed.controller or stated.controller,
        notices=stated.notices,
        checked=_verify_store(parsed.store),
    )
    paper = erasure_certificate(
        replace(
            erasure, audit=tuple(audit_from(parsed.audit, plan)), residue=tuple(_read_residue(parsed.residue, erasure))
        ),
        plan=plan,
        events=events,
        delta=parsed.delta,
    )
    if parsed.key is not None:
        paper = sign_document(paper, parsed.key, password=password)
    text = file_text(paper)
    further = [] if obtain is None else obtain(paper, text, password)
    if "--out" in outputs:
        outputs["--out"].write(text)
    for output, content in further:
        output.write(content)
    if "--envelope" in outputs:
        sealed = make_envelope(paper, parsed.key, password=password)
        outputs["--envelope"].write(json.dumps(sealed, indent=2) + "\n")
    _warn_of_overclaims(erasure)
    if "--html" in outputs:
        checking = load_extension("hooks", "certificate-page")
        outputs["--html"].write((checking or certificate_html)(paper, code=parsed.language))
    signed = f"signed by key {paper['signature']['key_id']}" if "signature" in paper else "NOT signed: give --key"
    files = (parsed.out, parsed.timestamp, parsed.log_proof, parsed.envelope, parsed.html)
    print_result(
        parsed,
        paper,
        "\n".join([*plain_words(paper), "", signed, *(f"wrote {file}" for file in files if file is not None)]),
    )
    return 0


def _check_further_files(parsed: argparse.Namespace, inputs: list[str | None]) -> Any:
    """Check the paths of the time stamp and the log; return what obtains these files, or None if none is asked for."""
    names = ("timestamp_server", "timestamp", "log", "log_proof")
    given = next((name for name in names if getattr(parsed, name) is not None), None)
    if given is None:
        return None
    return require_extension("hooks", "certificate-files", "compliance", parsed.options[given])(parsed, inputs)


def _operator_statements(parsed: argparse.Namespace) -> OperatorStatements:
    """Return what the register states about the request, if a register is installed, else what the arguments state."""
    from ..evidence.notices import OperatorStatements

    read = load_extension("hooks", "certificate-statements")
    if read is not None:
        return cast("OperatorStatements", read(parsed.store, parsed.request_id, parsed.received))
    received = None if parsed.received is None else parse_datetime("received", parsed.received, utc=False)
    return OperatorStatements(received)


def _warn_of_overclaims(erasure: Erasure) -> None:
    from ..evidence.notices import TEXTS, find_overclaims

    said = {"controller": erasure.controller, **{name: getattr(erasure.notices, name) for name in TEXTS}}
    for warning in find_overclaims(said):
        print(f"noisygd-delete certificate: {warning}", file=sys.stderr)


def _verify_store(store: str) -> str:
    from ..store import verify

    result = verify(store)
    if not result.passed:
        raise StoreCorrupt(f"{store} does not verify, so nothing is certified: {'; '.join(result.faults)}")
    return f"the store was verified when this was issued ({len(result.checked)} checks passed)"


def _read_residue(file: str | None, erasure: Erasure) -> list[dict[str, Any]]:
    """Return the places of a file written by `noisygd-delete residue --json`, as the operator's statement.

    Raises:
        InvalidParameter: If the file is not such an output, or the search was made before the rows were erased.
    """
    if file is None:
        return []
    try:
        said = limited_io.parse_json(limited_io.read_text(file, limited_io.DOCUMENT))
        looked = parse_datetime("looked_at", said["looked_at"])[:10]
        places = [{name: place[name] for name in ("place", "verdict", "found", "remedy")} for place in said["places"]]
    except (ValueError, KeyError, TypeError) as error:
        raise InvalidParameter(f"--residue {file}: give the output of `noisygd-delete residue ... --json`") from error
    gone = erasure.edited or erasure.served
    if gone is not None and looked < gone[:10]:
        raise InvalidParameter(
            f"--residue {file}: it was looked on {looked}, and the rows were there until {gone[:10]}: run `noisygd-delete residue` again"
        )
    return places
