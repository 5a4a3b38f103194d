"""Shared parts of commands that change a store: open it, forecast the cost of a request, report the release."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..accountant import Statuses
from ..curator.release import ABOUT, Release, format_figure_conditions
from ..engine import Execution
from ..engine.execution import ALONE, is_worth_sharing
from ..errors import InvalidParameter
from ..methods.plan import Plan
from ..privacy.sentences import format_bound
from ..privacy.worlds import FIXED_SCHEDULE, FIXED_TARGET, NON_ADAPTIVE
from ..records import EditCounts, EditRequest
from ..store import Store
from ..store.release_schedule import date_to_wait_for, format_day, is_nearly_spent, reserve
from .remaining_budget import before_and_after, format_spent_warning, left_text, weak_plan_warning
from .statements import request_note, stated_facts, with_request_id
from .terminal import print_outdated_destinations, print_result, progress_bar

if TYPE_CHECKING:
    from ..store import Tombstones

_WITHHELD = 3
_LEARNING = ("learn", "relearn")


def open_tombstones(parsed: argparse.Namespace) -> Tombstones | None:
    """Return the list of erased ids at --tombstones with its key; None if neither option is given.

    Raises:
        InvalidParameter: If only one of the two is given, or a file is inside a store.
    """
    path, key = getattr(parsed, "tombstones", None), getattr(parsed, "tombstone_key", None)
    if path is None and key is None:
        return None
    if path is None or key is None:
        raise InvalidParameter("--tombstones and --tombstone-key go together; give both")
    from ..evidence.atomic_write import check_outside_store
    from ..store import Tombstones

    check_outside_store("--tombstones", path)
    check_outside_store("--tombstone-key", key)
    return Tombstones(path, key)


def open_store(parsed: argparse.Namespace) -> Store:
    """Open and lock the store, waiting up to --wait seconds, after finishing a request that had been interrupted.

    That request's release is reported on standard error, as is a table too small for a group of processes. The caller
    closes the store.
    """
    store = Store.open(parsed.store, wait=parsed.wait, tombstones=open_tombstones(parsed), execution=parsed.execution)
    group, problem = parsed.execution.group if parsed.execution else ALONE, store.plan.problem
    numbers = problem.records * problem.features * problem.loss.outputs
    if group.size > 1 and not is_worth_sharing(
        numbers, passes=store.plan.calibration.learn_steps, processes=group.size
    ):
        print(
            f"this table is small: starting {group.size} processes, and their messages at every step, take longer than they "
            "save; one process alone, without torchrun, is faster",
            file=sys.stderr,
        )
    if store.recovered_release is not None:
        print(
            f"a request that had been interrupted was finished first: {describe_release(store.recovered_release)}",
            file=sys.stderr,
        )
    return store


def publishes_now(parsed: argparse.Namespace, store: Store) -> bool:
    """Return whether edits made now get a release of their own.

    They do not with --no-publish, nor if the releases left suffice for the reserved dates only and the next date is
    still to come (`date_to_wait_for`).
    """
    return not parsed.no_publish and date_to_wait_for(store.ledger) is None


def serve_request(
    parsed: argparse.Namespace,
    store: Store,
    request: EditRequest,
    right: str | None = None,
    **counts: dict[str, int],
) -> int:
    """Carry out a request and print its release; with --dry-run print the forecast of its cost and change nothing.

    Args:
        parsed: Arguments of the command.
        store: The open store.
        request: The edits; a random request id is added where `right` is given and it has none.
        right: The right that a person exercises, which an installed register notes; None for an insertion, which no
            register records.
        **counts: Further counts for the JSON answer.

    Returns:
        0, or 3 if the release was withheld by the budget (the rows are edited all the same).
    """
    note, publish = None, publishes_now(parsed, store)
    if right is not None:
        request = with_request_id(request)
        note = request_note(store.request_log, right, stated_facts(parsed))
    if parsed.dry_run:
        delta = store.accountant.remaining().delta
        answer = {**store.dry_run(request, publish=publish, delta=delta), **counts}
        print_result(parsed, answer, _format_forecast(answer))
        return 0

    with tracking_progress(parsed, parsed.command, store.plan) as execution:
        release = store.serve(request, publish=publish, note=note, execution=execution)
        if right is not None and parsed.withdraw:
            store.withdraw()
    return report_release(parsed, store, release, None, **counts)


def _format_forecast(answer: Mapping[str, Any]) -> str:
    edited = EditCounts(**answer["counts"]).text() if "counts" in answer else "no records edited"
    text = f"would be: {edited}, {answer['steps']} steps; release: {answer['publication']}"
    if "left" not in answer:
        return text
    text += f"\na record still there, over all releases, if {FIXED_SCHEDULE}:\n{before_and_after(answer)}"
    if "epsilon_deletion" not in answer:
        return text
    erased, delta = answer["epsilon_deletion"], answer["delta"]
    return f"{text}\nwork: {answer['gradient_evaluations']} record gradients" + (
        ""
        if erased is None
        else f"\nan erased record, from this release on: ε={format_bound(erased)} (δ={format_bound(delta)}), if {NON_ADAPTIVE}; "
        f"every release observed: ε={format_bound(answer['epsilon_deletion_observed'])}, if {FIXED_SCHEDULE}; both if {FIXED_TARGET}"
    )


@contextmanager
def tracking_progress(parsed: argparse.Namespace, label: str, plan: Plan) -> Iterator[Execution]:
    """Yield the execution for a release, which reports its steps to a progress bar on a terminal, none in a pipe."""
    steps = plan.calibration.learn_steps if label in _LEARNING else plan.calibration.delete_steps
    with progress_bar(label, steps) as progress:
        yield replace(parsed.execution, progress=progress)


def report_release(
    parsed: argparse.Namespace,
    store: Store,
    release: Release,
    learned: Plan | None = None,
    **counts: dict[str, int],
) -> int:
    """Print a release, the remaining budget, the date of pending edits, and warnings, as text or JSON.

    Destinations that are not up to date are printed to standard error.

    Args:
        parsed: Arguments of the command.
        store: The open store.
        release: The release.
        learned: The plan of a fresh learn, for the warning of a weak plan; None after other requests.
        **counts: Further counts for the JSON answer.

    Returns:
        3 if the release was withheld by the budget, else 0.
    """
    doubt = {} if learned is None else weak_plan_warning(learned)
    left = store.accountant.remaining().to_dict()
    places = {"publishers": listed} if (listed := store.destination_status()) else {}
    print_outdated_destinations(store)
    kept = reserve(store.ledger)
    date = format_day(kept.date) if release.status is Statuses.PENDING and kept is not None else None
    warning = format_spent_warning(left) if is_nearly_spent(store.ledger) else None
    summary = f"{describe_release(release)}\n{left_text(left)}"
    if date is not None:
        what = (
            "the release that covers them is due"
            if left["publications"]
            else "no release is left, and the model is withdrawn"
        )
        summary += (
            f"\n{date}: {what}; the first request from then on makes it, `publish --due` in a daily job, or `serve`"
        )
    out = {"left_out": store.table.left_out._asdict()} if store.table.left_out.rows else {}
    left_out = store.table.left_out.describe(
        store.plan.problem.rows_per_subject, store.ledger.schema.get("subject") or "the id"
    )
    text = "\n\n".join(
        filter(None, (summary, left_out, _format_generated_id(parsed, release), doubt.get("warning"), warning))
    )
    answer = {**release.to_dict(), "left": left, "publishes_on": date, "nearly_spent": warning is not None}
    print_result(parsed, {**answer, **counts, **doubt, **places, **out}, text)
    return _WITHHELD if release.status is Statuses.WITHHELD else 0


def _format_generated_id(parsed: argparse.Namespace, release: Release) -> str:
    """Return a note on the request id that was generated; "" if one was given."""
    if getattr(parsed, "request_id", "") is not None or release.request_id is None:
        return ""
    return f"request id {release.request_id} (generated): register and certificate know this request by it"


def _edits_text(release: Release) -> str:
    """Return the edits of this request, and all edits that the release covers or that are pending, if more."""
    own, together = release.requested, release.counts
    if own is None or own == together:
        return together.text()
    return f"{own.text()} by this request; with those of earlier requests that no release covered, {together.text()}"


def describe_release(release: Release) -> str:
    """Return a release as text: its number, edits and steps, then a line for each guarantee with its conditions.

    A withheld, a pending and a repeated one are a sentence that says so.
    """
    if release.answered_before:
        return f"answered before, nothing was done; the answer was: {describe_release(replace(release, answered_before=False))}"
    if release.status is Statuses.WITHHELD:
        return (
            f"release withheld: {_edits_text(release)}; the rows are edited and the old model is withdrawn, "
            "because one more release would exceed the budget. Next: `relearn --plan FILE`, planned with a larger --dp, or --total-epsilon where a total was set "
            "(--dry-run says whether it is enough); "
            "under composition, where the horizon is spent, relearn as it is"
        )
    if release.status is Statuses.PENDING:
        return f"done on the rows; waiting for the next release (publish, or any later request): {_edits_text(release)}"
    done = [_edits_text(release)] if release.edits else []
    done.append(f"{release.steps} steps" if release.steps else "no noisy steps")
    lines = [f"release {release.release} ({release.label}): {', '.join(done)}"]
    for name, guarantee in release.guarantees.items():
        about = str(guarantee.adjacency) if guarantee.rows == 1 else f"{guarantee.adjacency}, {guarantee.unit}"
        limit = f"at most {guarantee.at_most} over guessing ({about})"
        lines.append(f"  {ABOUT[name]}: {limit}{format_figure_conditions(name, guarantee)}")
    return "\n".join(lines)
