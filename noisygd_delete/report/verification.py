"""Offline verification: recompute every number of a certificate from its public facts, and check who signed it."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .. import __version__
from ..errors import NoisyGDDeleteError
from ..methods.plan import Plan
from ..planner import make_plan
from ..store.ledger import Ledger
from .erasure_certificate import BLOCKS, FORMAT, statement
from .signing import key_id, read_public, signed_by

TOLERANCE = 1e-9  # relative: another machine's log and exp may differ in the last digits


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
    certificate: Mapping[str, Any], *, public_key: str | Path | None = None, model: str | Path | None = None
) -> Verification:
    """Check a certificate without the store, the data or a network.

    Args:
        certificate: the parsed JSON. It may come from anywhere: whatever is wrong with it ends in a failed check.
        public_key: PEM file of the signer expected; without it the signature only shows that nothing was altered since
            *somebody* signed.
        model: a model file whose SHA-256 must be the published one.
    """
    checks = [_format(certificate), _signature(certificate, public_key)]
    if checks[0].passed:
        checks += [_plan(certificate), _statement(certificate)]
        if model is not None:
            checks.append(_model(certificate, model))
    return Verification(tuple(checks))


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


def _format(certificate: Any) -> Check:
    if not isinstance(certificate, Mapping) or certificate.get("format") != FORMAT:
        return Check("format", False, f"this is not a {FORMAT}")
    unknown = set(certificate) ^ set(BLOCKS) - ({"signature"} - set(certificate))
    if unknown:
        return Check("format", False, f"missing or unknown blocks: {', '.join(sorted(map(str, unknown)))}")
    return Check("format", True, FORMAT)


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
        plan = Plan.from_dict(certificate["public_facts"]["plan"])
        problem = plan.problem
        again = make_plan(**{name: getattr(problem, name) for name in problem.__dataclass_fields__})
    except (NoisyGDDeleteError, ArithmeticError, KeyError, TypeError, ValueError, AttributeError) as error:
        return Check("plan", False, f"cannot be recomputed: {error}")
    difference = _difference(plan.to_dict(), again.to_dict())
    if difference:
        return Check("plan", False, f"planning again gives another {difference}")
    return Check("plan", True, f"planning again gives the same noise and steps (σ²={plan.noise_variance:.6g})")


def _statement(certificate: Mapping[str, Any]) -> Check:
    try:
        again = statement(certificate)
    except (
        NoisyGDDeleteError, ArithmeticError, KeyError, TypeError, ValueError, AttributeError, AssertionError,
    ) as error:  # fmt: skip
        return Check("statement", False, f"cannot be recomputed: {error}")
    stated = certificate["statement"]
    version = certificate["identity"].get("version") if isinstance(certificate["identity"], Mapping) else None
    if version != __version__ and isinstance(stated, Mapping):  # wording may change between versions, numbers may not
        kept = ("run", "guarantees")
        stated, again = ({name: block.get(name) for name in kept} for block in (stated, again))
        note = f"every number recomputed; its sentences are of version {version} and were not checked by this {__version__}"
    else:
        note = "every number and sentence recomputed from the plan and the ledger"
    difference = _difference(stated, again)
    if difference:
        return Check("statement", False, f"recomputing gives another {difference}")
    return Check("statement", True, note)


def _model(certificate: Mapping[str, Any], model: str | Path) -> Check:
    try:
        digest = hashlib.sha256(Path(model).read_bytes()).hexdigest()
    except OSError as error:
        return Check("model", False, f"cannot read {model}: {error.strerror}")
    stated = certificate["action"].get("model_after_sha256")
    return Check(
        "model", digest == stated, f"its SHA-256 is {digest}" + ("" if digest == stated else f", not {stated}")
    )


def _difference(stated: Any, again: Any, path: str = "") -> str | None:
    """Path of the first place where two JSON values differ; numbers up to `TOLERANCE`."""
    if isinstance(stated, Mapping) and isinstance(again, Mapping):
        for name in [*again, *(name for name in stated if name not in again)]:
            if name not in stated or name not in again:
                return f"{path}{name}"
            found = _difference(stated[name], again[name], f"{path}{name}.")
            if found:
                return found
        return None
    if isinstance(stated, (list, tuple)) and isinstance(again, (list, tuple)):
        if len(stated) != len(again):
            return path.rstrip(".")
        pairs = enumerate(zip(stated, again, strict=True), start=1)
        return next((found for i, (a, b) in pairs if (found := _difference(a, b, f"{path}{i}."))), None)
    if isinstance(stated, (int, float)) and isinstance(again, (int, float)) and type(stated) is not bool:
        same = math.isclose(stated, again, rel_tol=TOLERANCE, abs_tol=0.0)
    else:
        same = type(stated) is type(again) and stated == again
    return None if same else path.rstrip(".") or "value"
