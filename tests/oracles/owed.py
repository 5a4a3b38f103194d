"""What a certificate owes its reader, from the facts of a history as plain data: which conditions and remarks must stand in it, and which
claims must not. Written from the definitions; imports nothing of the package.

Sources: guarantees.md, sections 1 (several rows of a person), 3 and 3b (real arithmetic), 6 (adaptive requests, schedules); the assumptions of each
method's proof.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

REAL = {
    "noisy-gd-tight",
    "noisy-gd-paper",
    "output-perturbation",
    "noisy-gd-composition",
    "noisy-gd-theorem-5-2",
}  # bounds over the real numbers, Gaussian steps
SOLVED = {
    "output-perturbation",
    "objective-perturbation",
}  # a solver runs until it is done: its time may depend on the records
EXACT = {"objective-perturbation"}  # exact noise on a grid


def parts(mechanism: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A mechanism and those inside it."""
    yield mechanism
    for name in ("kept", "later"):
        for inner in mechanism.get(name, ()):
            yield from parts(inner)


def owed(releases: list[dict[str, Any]], facts: dict[str, Any]) -> set[tuple[str, str]]:
    """(key, method or "") of every claim that must stand there.

    Args:
        releases: `kind` and `mechanism` of each, in order. facts: what else the paper states, by name.
    """
    runs = [part for release in releases for part in parts(release["mechanism"])]
    due = {("curator-trusted", ""), ("rows-per-person", ""), ("slots-public", ""), ("not-anonymous", "")}
    for run in runs:
        method, exact = run["method"], run.get("exact") is not None
        if method in REAL and not exact:
            due |= {("real-arithmetic", method), ("gaussian-noise", method), ("gradient-norm", "")}
        if method in SOLVED:
            due |= {("time-unseen", method), ("solver-tolerance", method)}
        if method in EXACT:
            due |= {("exact-noise", method), ("machine-trusted", ""), ("gradient-norm", "")}
        if exact:
            due |= {("exact-steps", method), ("machine-trusted", ""), ("gradient-norm", "")}
        if run.get("kept"):
            due |= {("left.base", ""), ("stages-published", "")}
    kinds = {release["kind"] for release in releases}
    due |= {("left.extractor", "")} if "extractor" in kinds else set()
    due |= {("left.statistics", ""), ("counts-one-cell", "")} if "statistic" in kinds else set()
    if facts.get("read_at") is not None:
        due |= {("source.order", ""), ("source.uncounted" if facts["counted"] is None else "source.counted", "")}
    columns = facts["from_data"]
    due |= {("ranges-unknown" if columns is None else "ranges-from-data" if columns else "ranges-public", "")}
    if facts["rows_per_person"] > 1 and facts["remaining"] != 0:
        due |= {("rows-may-remain" if facts["remaining"] is None else "rows-remain", "")}
    else:
        due |= {("person-gone", "")}
    if facts["delta"] * facts["slots"] > 1:
        due |= {("delta-large", "")}
    if facts["status"] != "published":
        due |= {(facts["status"], "")}
        due |= {("model-in-use", "")} if facts["status"] == "pending" and not facts.get("withdrawn") else set()
    oldest = [place["oldest"] for place in facts["publishers"] if place["oldest"] is not None]
    if any(facts["release"] is None or one < facts["release"] for one in oldest) and not facts.get("places_unknown"):
        due |= {("elsewhere.left", "")}
    return due


def conditions(key: str, by_calendar: bool) -> set[str]:
    """Under which conditions a figure holds: whose record is in question, and when it was erased, was fixed before any model was seen; of later
    models, and of one release, requests must not have depended on earlier models; of several models, nothing that was seen may have
    decided when one was published."""
    target = "record-fixed" if key.startswith("present.") else "target-fixed"
    if key.endswith((".later", ".one")):
        return {"requests-blind", target}
    return {"schedule-calendar" if by_calendar else "schedule-fixed", target}


def faults(paper: dict[str, Any], releases: list[dict[str, Any]], facts: dict[str, Any]) -> list[str]:
    """What is missing in a paper, stands in it without its condition, or must not stand there."""
    said = {(claim["key"], claim["values"].get("method", "")) for claim in paper["claims"]}
    keys = {key for key, _ in said}
    found = [f"not said: {key} {method}" for key, method in owed(releases, facts) - said]
    left = keys & {"left.base", "left.extractor"}
    if left and keys & {"published.fresh", "published.resumed", "published.warm", "model-withdrawn"}:
        found.append("computed without it, beside a part that was not")
    if facts.get("deleted_at") is not None and "rows-in-place" in keys:
        found.append("rows of a source keep their places")
    if keys >= {"withheld", "model-in-use"}:
        found.append("withdrawn, and in use")
    alternatives = (
        ("ranges-public", "ranges-from-data", "ranges-unknown"), ("person-gone", "rows-remain", "rows-may-remain"),
        ("elsewhere.none", "elsewhere.left"), ("source.counted", "source.uncounted"), ("published", "withheld", "pending"),
    )  # fmt: skip
    found += [f"both said: {group}" for group in alternatives if len(keys & set(group)) > 1]
    for claim in paper["claims"]:
        values = claim["values"]
        if "advantage" not in values:
            continue
        alone = {"requests-blind"} if claim["key"] == "present.one" and len(releases) == 1 else set()
        if not {*claim["conditions"], *alone} >= conditions(claim["key"], facts["by_calendar"]):
            found.append(f"{claim['key']} without its condition")
        if values["of_hundred"] < 50 + 50 * values["advantage"]:
            found.append(f"{claim['key']}: odds below the advantage")
        whole = facts["rows_per_person"] == 1 or (facts["remaining"] == 0 and claim["key"].startswith("erased"))
        if values["unit"] == "person" and not whole and not claim["key"].startswith("present"):
            found.append(f"{claim['key']} is said of a person whose rows remain")
        counted = [
            run["rows_per_subject"] for one in releases for run in parts(one["mechanism"]) if "rows_per_subject" in run
        ]
        least = min(counted, default=1)
        if (
            claim["key"].endswith((".all", ".before"))
            and values["unit"] == "person"
            and least < facts["rows_per_person"]
        ):
            found.append(f"{claim['key']} is said of a person, of whom a release counted {least} row(s)")
        if values["unit"] == "record" and facts["rows_per_person"] > 1:
            found.append(f"{claim['key']} takes every row for another person's")
        if values["advantage"] >= 0.9 and claim["key"].split(".")[0] in ("erased", "replaced"):
            hardly = {one["values"]["figure"] for one in paper["claims"] if one["key"] == "hardly"}
            found += [] if claim["key"] in hardly else [f"{claim['key']} is hardly a limit"]
    if facts["release"] is not None and any(key.endswith(".before") for key in keys):
        found.append("figures of what was out before, though a model was published since")
    return found
