"""Offline verification: recompute all that a certificate concludes, check the facts it states, and who signed it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ..accountant import Event
from ..errors import InvalidParameter, NoisyGDDeleteError
from ..methods.reading import plan_from_dict
from ..planner.make import plan_for
from ..records import bounded
from ..store.ledger import Ledger
from ..version import __version__
from .erasure_certificate import BLOCKS, FORMAT, MOST_RELEASES, Bound, erasure_of, stated, statement
from .signing import key_id, read_public, signed_by

TOLERANCE = 1e-9  # relative, of a plan made again: another machine's log and exp may differ in the last digits
LAST_DIGITS = 1e-12  # relative, of a bound before it is rounded up to be written
EARLIER = "noisygd-delete/erasure-certificate/1"
_REFUSALS = (
    NoisyGDDeleteError, ArithmeticError, LookupError, TypeError, ValueError, AttributeError, AssertionError, MemoryError,
    RecursionError,
)  # fmt: skip
_LONGEST = 400  # characters of an answer that may quote what a stranger wrote


@dataclass(frozen=True)
class Check:
    """One line of the answer."""

    name: str
    passed: bool
    detail: str


@dataclass(frozen=True)
class Verification:
    """The answer: every check, and whether all passed."""

    checks: tuple[Check, ...]

    @property
    def passed(self) -> bool:
        return all(check.passed for check in self.checks)

    def to_dict(self) -> dict[str, Any]:
        return {"passed": self.passed, "checks": [asdict(check) for check in self.checks]}

    def text(self) -> str:
        lines = [f"{'ok  ' if check.passed else 'FAIL'} {check.name}: {check.detail}" for check in self.checks]
        return "\n".join([*lines, "the certificate holds" if self.passed else "the certificate does NOT hold"])


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
    if checks[0].passed:
        checks += [_plan(certificate), _statement(certificate), _facts(certificate)]
        if model is not None:
            checks.append(_model(certificate, model))
    return Verification(tuple(checks))


def history_fault(ledger: Ledger, certificate: Any, *, public_key: str | Path | None = None) -> str | None:
    """What is wrong if the store with this ledger does not continue from the state in which a certificate was issued.

    An old copy of a whole store agrees with itself; only something kept outside it can tell that it is old. The
    certificate names one link of the ledger's hash chain, so any history without that very link is another one.
    """
    whole = _blocks(certificate) if _format_of(certificate) == EARLIER else _format(certificate)
    for check in (whole, _signature(certificate, public_key)):
        if not check.passed:
            return f"the certificate cannot be relied on: {check.detail}"
    evidence = certificate["evidence"] if isinstance(certificate["evidence"], Mapping) else {}
    entries, digest = evidence.get("ledger_entries"), evidence.get("ledger_sha256")
    if type(entries) is not int or entries < 1 or not isinstance(digest, str):
        return "the certificate does not say what the ledger was when it was issued; take one issued from a store"
    if entries > len(ledger.entries):
        return (
            f"the ledger has {len(ledger.entries)} entries, and {entries} when the certificate was issued: an older copy "
            "of the store was put back. Carry out again every erasure made since, or restore the newer copy"
        )
    if ledger.digests[entries - 1] != digest:
        return (
            f"entry {entries} of the ledger is not the one that the certificate was issued after: this is another store, "
            "or an older copy that was put back and used"
        )
    return None


def _format_of(certificate: Any) -> Any:
    return certificate.get("format") if isinstance(certificate, Mapping) else None


def _format(certificate: Any) -> Check:
    if _format_of(certificate) == EARLIER:
        return Check(
            "format",
            False,
            "an erasure certificate of format 1, written by version 0.1.0: some of its sentences claim more than was proven. "
            "Ask the controller to issue it again with this version, or check its numbers with version 0.1.0",
        )
    if _format_of(certificate) != FORMAT:
        return Check("format", False, f"this is not a {FORMAT}")
    return _blocks(certificate)


def _blocks(certificate: Mapping[str, Any]) -> Check:
    missing = [name for name in BLOCKS if name not in certificate and name != "signature"]
    if missing or not set(certificate) <= set(BLOCKS):
        return Check("format", False, f"missing or unknown blocks; there must be {', '.join(BLOCKS)}")
    if not all(isinstance(certificate[name], Mapping) for name in BLOCKS[1:] if name in certificate):
        return Check("format", False, "a block of it is no JSON object")
    return Check("format", True, str(certificate["format"]))


def _signature(certificate: Any, public_key: str | Path | None) -> Check:
    signer = signed_by(dict(certificate)) if isinstance(certificate, Mapping) else None
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
        difference = _difference(plan.to_dict(), again.to_dict(), tolerance=TOLERANCE)
    except _REFUSALS as error:
        return Check("plan", False, f"cannot be recomputed: {_brief(error)}")
    if difference:
        return Check("plan", False, f"planning again gives another {difference}")
    return Check("plan", True, f"planning again gives the same noise and steps (σ²={plan.noise_variance:.6g})")


def _statement(certificate: Mapping[str, Any]) -> Check:
    try:
        public = certificate["public_facts"]
        if set(public) != {"plan", "ledger", "delta"}:
            raise InvalidParameter("public_facts are plan, ledger and delta")
        plan, events = plan_from_dict(public["plan"]), _events(public["ledger"])
        again = statement(certificate, erasure_of(certificate), plan, events)
        difference = _difference(certificate["statement"], again)
    except _REFUSALS as error:
        return Check("statement", False, f"cannot be recomputed: {_brief(error)}")
    if difference:
        return Check("statement", False, f"recomputing gives another {difference}{_other_version(certificate)}")
    return Check("statement", True, "every number and sentence recomputed from the plan and the ledger")


def _other_version(certificate: Mapping[str, Any]) -> str:
    """What to do where the sentences may differ for an honest reason."""
    made_by = certificate["identity"].get("version")
    if made_by == __version__ or not isinstance(made_by, str):
        return ""
    return f"; if it was written by version {made_by[:40]!r}, as it says, check it with that version: this is {__version__}"


def _events(ledger: Any) -> list[Event]:
    """The releases, every field of them of its type."""
    if not isinstance(ledger, list) or len(ledger) > MOST_RELEASES:
        raise InvalidParameter(f"the ledger must be a list of at most {MOST_RELEASES} releases")

    return [Event.from_dict(fields) for fields in ledger]


def _facts(certificate: Mapping[str, Any]) -> Check:
    """What the operator states: each fact in its range, and nothing else beside them."""
    try:
        identity = certificate["identity"]
        again = stated(
            erasure_of(certificate),
            certificate_id=identity["certificate_id"],
            issued=identity["issued"],
            made_by=identity["version"],
        )
        difference = next(
            (found for name in again if (found := _difference(certificate[name], again[name], f"{name}."))), None
        )
    except _REFUSALS as error:
        return Check("stated facts", False, f"out of their range: {_brief(error)}")
    if difference:
        return Check("stated facts", False, f"{difference} is not as this program writes it")
    return Check(
        "stated facts",
        True,
        "in their ranges, not recomputed: the operator's word, listed under stated_by_the_operator",
    )


def _brief(error: BaseException) -> str:
    """An error in at most a few lines, without characters that would take over a terminal."""
    said = str(error) or type(error).__name__
    said = "".join(letter if letter.isprintable() else "?" for letter in said[:_LONGEST])
    return said + ("..." if len(str(error)) > _LONGEST else "")


def _model(certificate: Mapping[str, Any], model: str | Path) -> Check:
    try:
        digest = bounded.digest(model)
    except NoisyGDDeleteError as error:
        return Check("model", False, _brief(error))
    stated = certificate["action"].get("model_after_sha256")
    if digest == stated:
        return Check("model", True, f"its SHA-256 is {digest}")
    return Check("model", False, f"its SHA-256 is {digest}, which is not the one stated")


def _difference(stated: Any, again: Any, path: str = "", tolerance: float = 0.0) -> str | None:
    """Path of the first place where two JSON values differ in kind or content, fractions by more than `tolerance`.

    A `Bound` must stand there as it is written, rounded up, give or take another machine's last digits before the rounding.
    """
    if isinstance(stated, Mapping) and isinstance(again, Mapping):
        for name in [*again, *(name for name in stated if name not in again)]:
            if name not in stated or name not in again:
                return _brief(ValueError(f"{path}{name}"))
            found = _difference(stated[name], again[name], f"{path}{name}.", tolerance)
            if found:
                return found
        return None
    if isinstance(stated, (list, tuple)) and isinstance(again, (list, tuple)):
        if len(stated) != len(again):
            return path.rstrip(".")
        pairs = enumerate(zip(stated, again, strict=True), start=1)
        return next((found for i, (a, b) in pairs if (found := _difference(a, b, f"{path}{i}.", tolerance))), None)
    if isinstance(again, Bound):
        forms = {repr(Bound(again * factor).written) for factor in (1 - LAST_DIGITS, 1.0, 1 + LAST_DIGITS)}
        same = type(stated) is float and repr(stated) in forms  # as text: −0.0 is another number than 0.0 to a reader
    elif tolerance and type(stated) is float and type(again) is float:
        same = math.isclose(stated, again, rel_tol=tolerance, abs_tol=0.0)
    elif tolerance and {type(stated), type(again)} == {int, float}:
        same = stated == again
    else:
        same = type(stated) is type(again) and repr(stated) == repr(again)
    return None if same else path.rstrip(".") or "value"
