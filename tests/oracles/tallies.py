"""What the figures of a certificate are functions of, from its list of releases as plain JSON: written down from the definitions.

Given an observed model both worlds restart from it, so whoever sees every release pays for each run once; whoever comes when the
record has just been erased pays for what the model carried of it. Releases by one mechanism and of one length cost the same.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

Listed = list[dict[str, Any]]  # releases, or tallies of releases, as they stand in a certificate

AFRESH = {"output-perturbation", "objective-perturbation"}  # methods whose every release is a fresh run
IN_ORDER = {"noisy-gd-theorem-5-2"}  # methods whose closeness is a recursion over requests


def each(tallies: Listed) -> Listed:
    """The releases one by one, in one order that the tallies allow."""
    return [
        {**tally, "releases": 1, "edits": tally["edits"] / tally["releases"]}
        for tally in tallies
        for _ in range(tally["releases"])
    ]


def facts(releases: Listed, about: int | None) -> dict[str, Any]:
    """Everything that a figure about release `about` (from 1) is made of."""
    since, carried, said, course = 0, None, None, []
    runs: Counter[Any] = Counter()
    found: dict[str, Any] = {"releases": len(releases)}
    for number, release in enumerate(releases, start=1):
        name, kind = json.dumps(release["mechanism"], sort_keys=True), release["kind"]
        exposed = exposure(release)
        afresh = kind in ("learn", "relearn") or release["mechanism"]["method"] in AFRESH
        if number == about:
            warm = kind == "unlearn" and bool(release["mechanism"].get("warm"))
            found["before"] = Counter(runs)
            found["own"] = (name, 0 if afresh and not warm else since, exposed, carried)
            found["served"] = release["edits"], release["counts"]
        runs[name, exposed] += 1
        said = None
        if kind == "extractor":
            carried = name, exposed
        elif kind == "statistic":
            said = name
        else:
            since = exposed + (0 if afresh else since)
            step = release["steps"], float(release["edits"]), name
            course = [(release["steps"], 0.0, name)] if afresh else [*course, step]
        if number == about and release["mechanism"]["method"] in IN_ORDER:
            found["course"] = course
        found["last"] = name, since, carried, said
    found["all"] = runs
    return found


def exposure(release: dict[str, Any]) -> int:
    """Steps where they add up; a run whose noise is drawn at once counts as one."""
    facts, steps = release["mechanism"], release["steps"]
    if facts["method"] == "objective-perturbation":
        return 1
    if facts["method"] == "staged":
        return 3 if steps == sum(facts["kept_steps"]) + sum(facts["later_steps"]) else 2
    return int(steps)
