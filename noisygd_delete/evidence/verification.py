"""Offline verification: recompute all that a certificate concludes, check the facts it states, and who signed it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..accountant import Event
from ..accountant.tallies import MOST_TALLIES, Tallied, Tally, tallied
from ..errors import InvalidParameter, NoisyGDDeleteError, count
from ..methods.plan import Plan
from ..methods.reading import plan_from_dict
from ..planner.make import plan_for
from ..records import bounded
from ..store.ledger import Ledger
from ..version import __version__
from . import format_1
from .checks import REFUSALS, Check, Verification, brief, difference
from .erasure_certificate import BLOCKS, FORMAT, erasure_of, stated, statement
from .signing import SIGNED, Scheme, key_id, read_public, signed_by

FORMAT_2 = "noisygd-delete/erasure-certificate/2"  # as `FORMAT`, but that it lists every release
TOLERANCE = 1e-9  # relative, of a plan made again: another machine's log and exp may differ in the last digits
SCHEMES = {FORMAT: SIGNED, FORMAT_2: SIGNED, format_1.FORMAT: Scheme(format_1.ALGORITHM, format_1.canonical)}


def verify_certificate(
    certificate: Any, *, public_key: str | Path | None = None, model: str | Path | None = None
) -> Verification:
    """Check a certificate without the store, the data or a network.

    Everything in it is either recomputed or, where the operator states it, held to its type, range and order. Read the file
    with `bounded.parsed`, which refuses a name that stands twice in an object.

    Args:
        certificate: the parsed JSON. It may come from anywhere: whatever is wrong with it ends in a failed check.
        public_key: PEM file of the signer expected; without it the signature only shows that nothing was altered since
            *somebody* signed.
        model: a model file whose SHA-256 must be the published one.
    """
    checks = [_format(certificate), _signature(certificate, public_key)]
    if not checks[0].passed:
        return Verification(tuple(checks))
    checks.append(_plan(certificate))
    earlier = certificate["format"] == format_1.FORMAT
    checks += _format_1(certificate) if earlier else [_statement(certificate), _facts(certificate)]
    if model is not None:
        checks.append(_model(certificate, model))
    return Verification(tuple(checks), format_1.NOT_RECOMPUTED if earlier else ())


def history_fault(ledger: Ledger, certificate: Any, *, public_key: str | Path | None = None) -> str | None:
    """What is wrong if the store with this ledger does not continue from the state in which a certificate was issued.

    An old copy of a whole store agrees with itself; only something kept outside it can tell that it is old. The
    certificate names one link of the ledger's hash chain, so any history without that very link is another one.
    """
    for check in (_format(certificate), _signature(certificate, public_key)):
        if not check.passed:
            return f"the certificate cannot be relied on: {check.detail}"
    evidence = certificate["evidence"] if isinstance(certificate["evidence"], Mapping) else {}
    entries, digest = evidence.get("ledger_entries"), evidence.get("ledger_sha256")
    if type(entries) is not int or entries < 1 or not isinstance(digest, str):
        return "the certificate does not say what the ledger was when it was issued; take one issued from a store"
    digests = ledger.digests
    if entries > len(digests):
        return (
            f"the ledger has {len(digests)} entries, and {entries} when the certificate was issued: an older copy "
            "of the store was put back. Carry out again every erasure made since, or restore the newer copy"
        )
    if digests[entries - 1] != digest:
        return (
            f"entry {entries} of the ledger is not the one that the certificate was issued after: this is another store, "
            "or an older copy that was put back and used"
        )
    return None


def facts_fault(ledger: Ledger, certificate: Mapping[str, Any]) -> str | None:
    """What is wrong if the releases that a certificate states are not those of the ledger that it continues from (`history_fault`)."""
    entries = certificate["evidence"]["ledger_entries"]
    made = sum(entry.event is not None for entry in ledger.outline[:entries])
    try:
        _, stated = _read(certificate)
        listed = [Tally(event) for event in ledger.events[:made]]
        if certificate["format"] == FORMAT:
            listed = [*tallied(ledger.events[:made], stated.about).tallies]
    except REFUSALS as error:
        return f"the releases that the certificate states cannot be read: {brief(error)}"
    if [tally.to_dict() for tally in stated.tallies] == [tally.to_dict() for tally in listed]:
        return None
    return (
        f"the certificate states other releases than the first {made} of this ledger, from which it says that it was issued: "
        "its figures are not those of this store; issue it again"
    )


def _named(certificate: Any) -> str:
    """The format that a certificate names."""
    found = certificate.get("format") if isinstance(certificate, Mapping) else None
    return found if isinstance(found, str) else ""


def _format(certificate: Any) -> Check:
    if _named(certificate) not in SCHEMES:
        return Check("format", False, f"this is not a {FORMAT}")
    missing = [name for name in BLOCKS if name not in certificate and name != "signature"]
    if missing or not set(certificate) <= set(BLOCKS):
        return Check("format", False, f"missing or unknown blocks; there must be {', '.join(BLOCKS)}")
    if not all(isinstance(certificate[name], Mapping) for name in BLOCKS[1:] if name in certificate):
        return Check("format", False, "a block of it is no JSON object")
    return Check("format", True, str(certificate["format"]))


def _signature(certificate: Any, public_key: str | Path | None) -> Check:
    scheme = SCHEMES.get(_named(certificate))
    signer = None if scheme is None else signed_by(dict(certificate), scheme)
    if signer is None:
        return Check("signature", False, "unsigned, or altered after signing")
    if public_key is None:
        return Check(
            "signature", True, f"unaltered since key {key_id(signer)} signed it; compare with the controller's key id"
        )
    expected = key_id(read_public(public_key))
    if key_id(signer) != expected:
        return Check("signature", False, f"signed by key {key_id(signer)}, not by the expected {expected}")
    return Check("signature", True, f"signed by the expected key {expected}")


def _plan(certificate: Mapping[str, Any]) -> Check:
    """The plan's steps and noise must be those that its budget asks for, or safer."""
    try:
        plan = plan_from_dict(certificate["public_facts"]["plan"])
        again = plan_for(plan.problem)
        if certificate["format"] == format_1.FORMAT and plan.method.passes_depend_on_data:
            again = replace(
                again, learn_solver_passes=plan.learn_solver_passes, delete_solver_passes=plan.delete_solver_passes
            )
        found = difference(plan.to_dict(), again.to_dict(), tolerance=TOLERANCE)
    except REFUSALS as error:
        return Check("plan", False, f"cannot be recomputed: {brief(error)}")
    if found:
        return Check("plan", False, f"planning again gives another {found}")
    return Check("plan", True, f"planning again gives the same noise and steps ({plan.method.noise(plan)})")


def _statement(certificate: Mapping[str, Any]) -> Check:
    try:
        plan, history = _read(certificate)
        found = difference(certificate["statement"], statement(certificate, erasure_of(certificate), plan, history))
    except REFUSALS as error:
        return Check("statement", False, f"cannot be recomputed: {brief(error)}")
    if found:
        return Check("statement", False, f"recomputing gives another {found}{_other_version(certificate)}")
    return Check("statement", True, "every number and sentence recomputed from the plan and the ledger")


def _other_version(certificate: Mapping[str, Any]) -> str:
    """What to do where the sentences may differ for an honest reason."""
    made_by = certificate["identity"].get("version")
    if made_by == __version__ or not isinstance(made_by, str):
        return ""
    return f"; if it was written by version {made_by[:40]!r}, as it says, check it with that version: this is {__version__}"


def _format_1(certificate: Mapping[str, Any]) -> list[Check]:
    try:
        plan, history = _read(certificate)
    except REFUSALS as error:
        return [Check("figures", False, f"cannot be recomputed: {brief(error)}")]
    return format_1.checks(certificate, plan, history)


def _read(certificate: Mapping[str, Any]) -> tuple[Plan, Tallied]:
    """The plan and the releases, every field of them of its type."""
    public = certificate["public_facts"]
    if set(public) != {"plan", "ledger", "delta"}:
        raise InvalidParameter("public_facts are plan, ledger and delta")
    ledger, about = public["ledger"], certificate["action"]["release"]
    if not isinstance(ledger, list) or len(ledger) > MOST_TALLIES:
        raise InvalidParameter(f"the ledger must be a list of at most {MOST_TALLIES}")
    if certificate["format"] == FORMAT:
        listed = [Tally.from_dict(fields) for fields in ledger]
    else:
        listed = [Tally(Event.from_dict(fields)) for fields in ledger]
    return plan_from_dict(public["plan"]), Tallied(listed, None if about is None else count("release", about))


def _facts(certificate: Mapping[str, Any]) -> Check:
    """What the operator states: each fact in its range, and nothing else beside them."""
    try:
        identity = certificate["identity"]
        again = stated(
            erasure_of(certificate),
            certificate_id=identity["certificate_id"],
            issued=identity["issued"],
            made_by=identity["version"],
            named=_named(certificate),
        )
        other = next(
            (found for name in again if (found := difference(certificate[name], again[name], f"{name}."))), None
        )
    except REFUSALS as error:
        return Check("stated facts", False, f"out of their range: {brief(error)}")
    if other:
        return Check("stated facts", False, f"{other} is not as this program writes it")
    return Check(
        "stated facts",
        True,
        "in their ranges, not recomputed: the operator's word, listed under stated_by_the_operator",
    )


def _model(certificate: Mapping[str, Any], model: str | Path) -> Check:
    try:
        digest = bounded.digest(model)
    except NoisyGDDeleteError as error:
        return Check("model", False, brief(error))
    stated = certificate["action"].get("model_after_sha256")
    if digest == stated:
        return Check("model", True, f"its SHA-256 is {digest}")
    return Check("model", False, f"its SHA-256 is {digest}, which is not the one stated")
