"""`noisygd-delete verify`: check the store against its ledger, or that given texts are in no byte of it."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..errors import StoreCorrupt
from .arguments import store_command
from .terminal import print_result
from .verify_certificate import read_certificate

if TYPE_CHECKING:
    from ..store import Soundness

_INTEGRITY = 5


def register(commands: Any) -> None:
    """Add the `verify` command and its options to the parser."""
    checking = store_command(commands, "verify", "verify STORE --absent gone.txt", _verify)
    checking.take("--tombstones", "--tombstone-key")
    checking.add_argument("--absent", metavar="FILE", help="texts that must be gone, one a line; never stored")
    checking.add_argument(
        "--certificate",
        metavar="FILE",
        help="the last certificate issued, kept outside: shows whether an older copy of the store was restored",
    )
    checking.add_argument("--public-key", metavar="FILE", help="public key that must have signed the certificate")


def _verify(parsed: argparse.Namespace) -> int:
    if parsed.absent is not None:
        return _verify_absence(parsed)
    certificate = None if parsed.certificate is None else read_certificate(parsed.certificate)
    from ..store import verify

    result = verify(parsed.store, wait=parsed.wait)
    if parsed.tombstones is not None or parsed.tombstone_key is not None:
        result = _verify_tombstones(parsed, result)
    if certificate is not None:
        result = _verify_continuation(parsed, result, certificate)
    text = "\n".join([f"checked: {check}" for check in result.checked] + [f"FAULT: {fault}" for fault in result.faults])
    print_result(parsed, result.to_dict(), f"{text}\n{'sound' if result.passed else 'NOT sound'}")
    return 0 if result.passed else _INTEGRITY


def _verify_continuation(parsed: argparse.Namespace, result: Soundness, certificate: Any) -> Soundness:
    """Return the verification, extended by whether the ledger continues from the certificate's state."""
    from ..evidence.erasure import ledger_of
    from ..evidence.verification import facts_fault, history_fault

    try:
        ledger = ledger_of(parsed.store)
        fault = history_fault(ledger, certificate, public_key=parsed.public_key) or facts_fault(ledger, certificate)
    except StoreCorrupt as error:  # a broken ledger is no continuation
        fault = str(error)
    faults = result.faults if fault is None or fault in result.faults else (*result.faults, fault)
    return replace(result, checked=(*result.checked, "the ledger continues from the certificate"), faults=faults)


def _verify_tombstones(parsed: argparse.Namespace, result: Soundness) -> Soundness:
    """Return the verification, extended by whether the table contains records on the list of erased ids."""
    from .release import open_store

    if result.faults:  # a faulty store cannot be opened
        return result
    with open_store(parsed) as store:
        found = len(store.list_reappeared_ids())
    faults = (f"{found} records were erased before: a backup was restored; delete --reapply erases them again",)
    return replace(result, checked=(*result.checked, "the list of erased ids"), faults=faults if found else ())


def _verify_absence(parsed: argparse.Namespace) -> int:
    from ..records import limited_io
    from ..store import tokens, verify_absence

    wanted = tokens(parsed.absent, limited_io.read_text(parsed.absent, limited_io.LIST))
    hits = verify_absence(parsed.store, wanted)
    summary = f"{len(wanted)} texts looked for in every byte of {parsed.store}: "
    text = summary + ("none found" if not hits else "\n".join(["FOUND", *hits]))
    print_result(parsed, {"passed": not hits, "tokens": len(wanted), "found": hits}, text)
    return _INTEGRITY if hits else 0
