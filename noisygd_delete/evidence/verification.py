"""Offline verification: a certificate holds if it claims at least what this version can prove from its facts.

A tighter bound, another planner, a forecast or another wording does not affect certificates issued before. A looser
bound, after an error was found in a proof, fails exactly those certificates that state less, and names the claim.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..accountant.events import is_within_budget
from ..accountant.tallies import tally_events
from ..dates import parse_day
from ..errors import NoisyGDDeleteError
from ..methods.plan import Plan
from ..privacy.sentences import success_per_hundred
from ..records import limited_io
from ..store.ledger import Ledger
from .certificate import BLOCKS, FORMAT, check_catalogue, check_stated_facts, erasure_of, facts_to_json, read_history
from .checks import (
    LAST_DIGITS,
    REFUSALS,
    Check,
    Verification,
    at_least,
    first_difference,
    shorten_error,
    with_whole_numbers,
)
from .claims import KEYS, Claim, of_history, select_owed
from .derivation import claims_of
from .signing import key_id, read_public, signed_by

SAME = 1e-9  # relative tolerance of a number that a bound is computed from
MOST_CLAIMS = 20_000  # in one certificate: bounds the time spent on an untrusted one


def verify_certificate(
    certificate: Any, *, public_key: str | Path | None = None, model: str | Path | None = None
) -> Verification:
    """Check a certificate without the store, the data or a network.

    Its claims are compared with what its facts prove; the facts stated by the operator are checked for type, range and
    order. Read the file with `limited_io.parse_json`, which rejects duplicate names in an object.

    Args:
        certificate: The parsed JSON, from any source: every fault gives a failed check, not an exception.
        public_key: PEM file of the expected signer; without it the signature only shows that nothing was altered since
            *some* key signed.
        model: A model file whose SHA-256 must be the published one.
    """
    certificate = _with_whole_numbers(certificate)
    checks = [_check_format(certificate), _check_signature(certificate, public_key)]
    if not checks[0].passed:
        return Verification(tuple(checks))
    checks += [_check_facts(certificate), _check_claims(certificate)]
    if model is not None:
        checks.append(_check_model(certificate, model))
    return Verification(tuple(checks))


def _with_whole_numbers(certificate: Any) -> Any:
    """Return the certificate with integral numbers as `int`; one nested too deeply is unchanged, and fails a check."""
    try:
        return with_whole_numbers(certificate)
    except RecursionError:
        return certificate


def read_claims(certificate: Mapping[str, Any]) -> list[Claim]:
    """Return the claims of a certificate of this format; anything else raises one of `REFUSALS`."""
    found = []
    for given in certificate["claims"]:
        if set(given) != {"key", "values", "conditions"}:
            raise ValueError("a claim has key, values and conditions")
        values, conditions = given["values"], given["conditions"]
        if not isinstance(values, Mapping) or not isinstance(conditions, list):
            raise ValueError("values of a claim are an object, conditions a list")
        found.append(Claim(given["key"], dict(values), tuple(conditions)))
    return found


def _check_facts(certificate: Mapping[str, Any]) -> Check:
    """Check the stated facts: each in its range, no others, and a plan whose proof covers what was run."""
    try:
        identity, erasure = certificate["identity"], erasure_of(certificate)
        again = facts_to_json(
            erasure,
            certificate_id=identity["certificate_id"],
            issued=identity["issued"],
            made_by=identity["version"],
            catalogue=identity["catalogue"],
        )
        for name in again:
            found = first_difference(certificate[name], again[name], f"{name}.")
            if found is not None:
                return Check("facts", False, f"{found} is not as this program writes it")
        plan, history, _ = read_history(certificate)
        check_stated_facts(erasure, plan, history)
        over = find_over_budget(plan)
    except REFUSALS as error:
        return Check("facts", False, f"out of their range: {shorten_error(error)}")
    if over is not None:
        return Check("facts", False, f"the plan does not meet its own budget: {over}")
    return Check("facts", True, "in their ranges; the operator's word, but that the plan meets its budget")


def find_over_budget(plan: Plan) -> str | None:
    """Return which part of its budget a plan exceeds; None if it exceeds none."""
    for name, promise in (("a record that is still there", plan.dp), ("a deleted record", plan.deletion)):
        if not is_within_budget(promise, plan):
            return name
    return None


def _check_claims(certificate: Mapping[str, Any]) -> Check:
    try:
        said, catalogue = read_claims(certificate), check_catalogue(certificate["identity"]["catalogue"])
        plan, history, delta = read_history(certificate)
        proven = claims_of(erasure_of(certificate), plan, history, delta)
        fault = claims_fault(said, select_owed(proven, catalogue), catalogue)
    except REFUSALS as error:
        return Check("claims", False, f"cannot be compared: {shorten_error(error)}")
    if fault is not None:
        return Check("claims", False, fault)
    return Check("claims", True, f"{len(said)} claims of catalogue {catalogue}, each at least what the facts prove")


def claims_fault(stated: Sequence[Claim], proven: Sequence[Claim], catalogue: int) -> str | None:
    """Return what is claimed without proof, or missing; None if there is no fault.

    Args:
        stated: The claims of a certificate.
        proven: The claims that it owes.
        catalogue: Number of the catalogue that the certificate states.
    """
    for claim in stated:
        if not _is_known_claim(claim) or max(KEYS[name].since for name in (claim.key, *claim.conditions)) > catalogue:
            return f"{str(claim.key)[:60]!r} with these values and conditions is no claim of catalogue {catalogue}"
    left: dict[str, list[Claim]] = {}
    for claim in stated:
        left.setdefault(claim.key, []).append(claim)
    for due in proven:
        like = left.get(due.key, [])
        place = next((i for i, claim in enumerate(like) if covers_claim(claim, due)), None)
        if place is None:
            return f"{due.key}: {_missing_part(like[0], due) if like else 'it is not stated'}"
        like.pop(place)
    for key, others in left.items():
        if others and not of_history(key):
            return f"{key}: nothing in the facts shows it"
    return None


def _missing_part(claim: Claim, due: Claim) -> str:
    """Return the part in which a claim states less than the proven one, or something else."""
    for name, unit in KEYS[due.key].values.items():
        if not _is_at_least(unit, claim.values.get(name), due.values[name], due.values):
            return f"{name} is stated as {claim.values.get(name)!r}, where {due.values[name]!r} can be proven"[:200]
    return f"it needs the conditions {', '.join(due.conditions)}"


def _is_known_claim(claim: Claim) -> bool:
    """Return whether a claim is in the table, with values of the right types and conditions that are keys."""
    key = KEYS.get(claim.key) if isinstance(claim.key, str) else None
    if key is None or set(claim.values) != set(key.values) or len(set(claim.conditions)) != len(claim.conditions):
        return False
    conditions = all(
        name in KEYS and KEYS[name].role == "condition" and not KEYS[name].values for name in claim.conditions
    )
    return conditions and all(_has_type(unit, claim.values[name]) for name, unit in key.values.items())


def _has_type(unit: str, value: Any) -> bool:
    if unit in ("bound", "number"):
        return value is None or (type(value) in (int, float) and 0 <= value < math.inf and str(value)[0] != "-")
    if unit in ("count", "odds"):
        return type(value) is int and 0 <= value < 2**53
    if unit == "list":
        return isinstance(value, list) and all(isinstance(one, str) for one in value)
    if not isinstance(value, str):
        return False
    return unit != "day" or parse_day("day", value).isoformat() == value


def covers_claim(claim: Claim, due: Claim) -> bool:
    """Return whether a claim states at least what another one proves.

    No figure is smaller, no condition is missing, and everything else is equal.
    """
    return (
        claim.key == due.key
        and set(claim.conditions) >= set(due.conditions)
        and all(
            _is_at_least(unit, claim.values[name], due.values[name], due.values)
            for name, unit in KEYS[due.key].values.items()
        )
    )


def _is_at_least(unit: str, stated: Any, proven: Any, values: Mapping[str, Any]) -> bool:
    if unit == "odds":
        return bool(100 >= stated >= success_per_hundred(values["advantage"] * (1 - LAST_DIGITS)))
    if unit == "bound":
        return at_least(stated, proven)
    if unit == "number" and stated is not None and proven is not None:
        return math.isclose(stated, proven, rel_tol=SAME, abs_tol=0.0)
    return type(stated) is type(proven) and bool(stated == proven)


def history_fault(ledger: Ledger, certificate: Any, *, public_key: str | Path | None = None) -> str | None:
    """Return why the ledger does not continue the state in which a certificate was issued; None if it does.

    An old copy of a whole store is consistent in itself; only something kept outside can show that it is stale. The
    certificate names one link of the ledger's hash chain, so a history without this link is another one.

    Args:
        ledger: Ledger of the store.
        certificate: The parsed certificate, from any source.
        public_key: PEM file of the expected signer; None accepts any.
    """
    certificate = _with_whole_numbers(certificate)
    for check in (_check_format(certificate), _check_signature(certificate, public_key)):
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
            "of the store was restored. Repeat every erasure made since, or restore the newer copy"
        )
    if digests[entries - 1] != digest:
        return (
            f"entry {entries} of the ledger is not the one that the certificate was issued after: this is another store, "
            "or an older copy that was restored and used"
        )
    return None


def facts_fault(ledger: Ledger, certificate: Mapping[str, Any]) -> str | None:
    """Return how the stated releases differ from those of this ledger; None if they agree.

    The ledger must continue the state of the certificate (`history_fault`).
    """
    certificate = with_whole_numbers(certificate)
    entries = certificate["evidence"]["ledger_entries"]
    made = sum(entry.event is not None for entry in ledger.outline[:entries])
    try:
        _, stated, _ = read_history(certificate)
        listed = tally_events(ledger.events[:made], stated.about).tallies
    except REFUSALS as error:
        return f"the releases that the certificate states cannot be read: {shorten_error(error)}"
    if [tally.to_dict() for tally in stated.tallies] == [tally.to_dict() for tally in listed]:
        return None
    return (
        f"the certificate states other releases than the first {made} of this ledger, from which it says that it was issued: "
        "its figures are not those of this store; issue it again"
    )


def _named_format(certificate: Any) -> str:
    """Return the format that a certificate states; "" if none."""
    found = certificate.get("format") if isinstance(certificate, Mapping) else None
    return found if isinstance(found, str) else ""


def _check_format(certificate: Any) -> Check:
    named = _named_format(certificate)
    if named != FORMAT:
        return Check(
            "format",
            False,
            f"{shorten_error(ValueError(repr(named)))} is not {FORMAT!r}; verify it with the version that issued it",
        )
    missing = [name for name in BLOCKS if name not in certificate and name != "signature"]
    if missing or not set(certificate) <= set(BLOCKS):
        return Check("format", False, f"missing or unknown blocks; there must be {', '.join(BLOCKS)}")
    for name in BLOCKS[1:]:
        kind = list if name == "claims" else Mapping
        if name in certificate and not isinstance(certificate[name], kind):
            return Check("format", False, "a block of it is of another kind than it must be")
    if len(certificate["claims"]) > MOST_CLAIMS:
        return Check("format", False, f"a certificate has at most {MOST_CLAIMS} claims")
    return Check("format", True, named)


def _check_signature(certificate: Any, public_key: str | Path | None) -> Check:
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


def _check_model(certificate: Mapping[str, Any], model: str | Path) -> Check:
    try:
        digest = limited_io.file_digest(model)
    except NoisyGDDeleteError as error:
        return Check("model", False, shorten_error(error))
    stated = certificate["action"].get("model_after_sha256")
    if digest == stated:
        return Check("model", True, f"its SHA-256 is {digest}")
    return Check("model", False, f"its SHA-256 is {digest}, which is not the one stated")
