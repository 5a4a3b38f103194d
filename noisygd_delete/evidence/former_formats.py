"""Certificates of formats 1, 2 and 3, written before 0.2.0: their figures and facts still verify, their sentences are not vouched for.

Frozen. Such a paper is prose beside its facts, and some of that prose claimed more than a bound: of histories with several methods, of a
person with several rows, of ranges read off the data. So its figures are compared with what can be proven from its facts (as those of
today's format: at least that), and whatever else it says is named in `NOT_RECOMPUTED`.
"""

from __future__ import annotations

import calendar
import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from ..accountant import Event
from ..accountant.tallies import MOST_TALLIES, Tallied, Tally
from ..errors import InvalidParameter, count
from ..methods.plan import Plan
from ..methods.reading import plan_from_dict
from ..privacy.guarantee import NON_ADAPTIVE, Guarantee, stated_delta
from ..register.case import moment
from .checks import REFUSALS, Check, at_least, brief, difference
from .deriving import guarantees, release_served
from .facts import Erasure, made_by, number, version
from .notices import Notices
from .signing import SIGNED, Scheme, canonical

FORMAT_1, FORMAT_2, FORMAT_3 = (f"noisygd-delete/erasure-certificate/{n}" for n in (1, 2, 3))
LIST_EACH = (FORMAT_1, FORMAT_2)  # they list every release; a later one lists tallies
BLOCKS = ("format", "identity", "request", "action", "evidence", "public_facts", "statement", "signature")
NOT_RECOMPUTED = (
    "its sentences: they were written before 0.2.0, and some of that time claim more than a bound, or leave out a condition. Go by the "
    "figures, or ask the controller to issue the paper again with this version",
    "forecasts of how many passes a solver would take, and the deadline",
)
_ORDER = 10.0  # of the Rényi figures where the budget names none


def written(document: Any) -> bytes:
    """What version 0.1.0 signed: names in the order of their code points, fractions as Python writes them."""
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


SCHEMES = {FORMAT_3: SIGNED, FORMAT_2: SIGNED, FORMAT_1: Scheme("Ed25519 over canonical JSON", written)}


def checks(certificate: Mapping[str, Any]) -> list[Check]:
    """Facts and figures of a paper of one of these formats."""
    try:
        plan, history = read_history(certificate)
        erasure = _erasure(certificate)
        plan.method.check_plan(plan)
        made_by(history.releases, erasure.publishers)
        if erasure.ledger_entries is not None and not erasure.ledger_entries > history.releases:
            raise InvalidParameter(f"is too few for {history.releases} releases", ledger_entries=erasure.ledger_entries)
        facts = Check("stated facts", True, "in their ranges, not recomputed: the operator's word")
    except REFUSALS as error:
        return [Check("stated facts", False, f"out of their range: {brief(error)}")]
    try:
        fault = _figures_fault(certificate, erasure, plan, history)
    except REFUSALS as error:
        fault = f"cannot be recomputed: {brief(error)}"
    return [facts, Check("figures", fault is None, fault or "each at least what the plan and the ledger prove")]


def read_history(certificate: Mapping[str, Any]) -> tuple[Plan, Tallied]:
    """The plan and the releases, every field of them of its type."""
    public = certificate["public_facts"]
    if set(public) != {"plan", "ledger", "delta"}:
        raise InvalidParameter("public_facts are plan, ledger and delta")
    ledger, about = public["ledger"], certificate["action"]["release"]
    if not isinstance(ledger, list) or len(ledger) > MOST_TALLIES:
        raise InvalidParameter(f"the ledger must be a list of at most {MOST_TALLIES}")
    if certificate["format"] == FORMAT_1 and any("counts" in fields for fields in ledger):
        raise InvalidParameter("a release of format 1 has kind, steps, edits and mechanism")
    if certificate["format"] == FORMAT_3:
        listed = [Tally.from_dict(fields) for fields in ledger]
    else:
        listed = [Tally(Event.from_dict(fields)) for fields in ledger]
    return plan_from_dict(public["plan"]), Tallied(listed, None if about is None else count("release", about))


def _erasure(certificate: Mapping[str, Any]) -> Erasure:
    """The facts as today's, each in its range and in the one form in which it was written."""
    first = certificate["format"] == FORMAT_1
    identity, action = certificate["identity"], certificate["action"]
    request, evidence = dict(certificate["request"]), dict(certificate["evidence"])
    if set(identity) != {"certificate_id", "software", "version", "issued", "controller"} or set(action) != {
        "status", "release", "model_before_sha256", "model_after_sha256",
    }:  # fmt: skip
        raise InvalidParameter("missing or unknown facts")
    number(identity["certificate_id"])
    version(identity["version"])
    if identity["software"] != "noisygd-delete" or (first and identity["version"] != "0.1.0"):
        raise InvalidParameter("written by another program")
    times = {name: request.get(name) for name in ("received", "edited", "served")} | {"issued": identity["issued"]}
    for name, when in times.items():
        if when is not None and moment(name, when, utc=first or name != "received") != when:
            raise InvalidParameter(f"{name} is not as it was written")
    known = [datetime.fromisoformat(when) for when in times.values() if when is not None]
    if known != sorted(known):
        raise InvalidParameter("times do not follow one another")
    deadline = request.pop("deadline")
    if first:
        if deadline != _a_month_after(request["received"]):
            raise InvalidParameter("deadline is not a month after received")
        if action["status"] != "published":  # `served` was then when rows were edited
            request["edited"], request["served"] = request["served"], None
    else:
        if request.pop("deleted") != request["rows"] - request["replaced"]:
            raise InvalidParameter("rows are the deleted and the replaced ones")
        request["notices"] = Notices(**request["notices"])
        evidence |= evidence.pop("source", {})
    erasure = Erasure(
        **request,
        **evidence,
        status=action["status"],
        release=action["release"],
        model_before=action["model_before_sha256"],
        model_after=action["model_after_sha256"],
        controller=identity["controller"],
    )
    if not first and deadline != erasure.deadline:
        raise InvalidParameter("deadline is not the one that its facts give")
    return erasure


def _a_month_after(received: str | None) -> str | None:
    """By the calendar of UTC, at the same time of day."""
    if received is None:
        return None
    start = datetime.fromisoformat(received).astimezone(UTC)
    year, month = start.year + start.month // 12, start.month % 12 + 1
    return start.replace(year=year, month=month, day=min(start.day, calendar.monthrange(year, month)[1])).isoformat()


def _figures_fault(certificate: Mapping[str, Any], erasure: Erasure, plan: Plan, history: Tallied) -> str | None:
    """The first figure, or fact of the release beside it, that is less than what can be proven, or another."""
    said = certificate["statement"]
    served, accountant = release_served(erasure, plan, history), history.accountant(plan)
    delta, order = stated_delta("delta", certificate["public_facts"]["delta"]), plan.budget.order or _ORDER
    first = certificate["format"] == FORMAT_1
    if not first and said["computed_from_sha256"] != hashlib.sha256(canonical(certificate["public_facts"])).hexdigest():
        return "computed_from_sha256 is another"
    run = {
        "kind": None if served is None else str(served.kind),
        "steps": None if served is None else served.steps,
        "releases_so_far": history.releases,
    }
    found = difference({name: said["run"][name] for name in run}, run, "run.")
    if found is not None:
        return f"recomputing gives another {found}"
    proven = {_former(key): promise for key, promise in guarantees(erasure, accountant).items()}
    if set(said["guarantees"]) != set(proven):
        return "recomputing gives other guarantees"
    for name, promise in proven.items():
        part = _less(said["guarantees"][name], promise, order=order, delta=delta, conditional=not first)
        if part is not None:
            return f"{name}.{part} is less than what can be proven, or about something else"
    return None


def _former(key: str) -> str:
    """What a figure was called."""
    what, _, seen = key.partition(".")
    if what == "present":
        return "existing_one_release" if seen == "one" else "existing_all_models"
    return f"{what}_{'later' if seen == 'later' else 'all'}_models"


def _less(said: Mapping[str, Any], promise: Guarantee, *, order: float, delta: float, conditional: bool) -> str | None:
    """The part of a figure that states less than the promise, or is about something else."""
    exact = promise.with_slack()
    due: dict[str, Any] = {
        "about": promise.about,
        "adjacency": str(promise.adjacency),
        "rows_per_subject": promise.rows,
        "proven": promise.proven,
        "renyi": {"order": order, "epsilon": exact.renyi(order)},
        "approximate": {"epsilon": exact.epsilon(delta), "delta": delta},
        "gdp": exact.gdp,
        "advantage": exact.advantage,
        "slack": promise.slack,
    }
    if conditional:
        due["holds_only_if"] = NON_ADAPTIVE if promise.non_adaptive else None
    pairs = [(said[name], due[name], "epsilon") for name in ("renyi", "approximate")]
    for stated, proven, name in [*pairs, *((said, due, name) for name in ("gdp", "advantage", "slack"))]:
        if at_least(stated[name], proven[name]):
            proven[name] = stated[name]
    return difference(said, due)
