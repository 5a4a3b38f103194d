"""What is true of a store by what was asked of it: who is there, which release covered which request, what lies where. Written from the definitions
of a request; imports nothing of the package.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

NONE = {"deleted": 0, "replaced": 0, "inserted": 0}


@dataclass
class Asked:
    """A request that was carried out: its edits, rows of its persons that it left, the release that covered it (None: none has), ids of the
    rows that went, and whether they were only set aside, and put back."""

    deleted: int
    replaced: int
    inserted: int
    left: int
    release: int | None = None
    gone: tuple[str, ...] = ()
    aside: bool = False
    back: bool = False

    @property
    def edits(self) -> dict[str, int]:
        return {"deleted": self.deleted, "replaced": self.replaced, "inserted": self.inserted}


@dataclass
class Desk:
    """people: id -> person. requests: by token, in order. releases: edits that each covered, in order; read: ids that each read. withheld: whether the last publication
    was, and withdrawn: whether the operator took the model out of service, with none since."""

    people: dict[str, str]
    requests: dict[str, Asked] = field(default_factory=dict)
    releases: list[dict[str, int]] = field(default_factory=list)
    read: list[set[str]] = field(default_factory=list)
    withheld: bool = False
    withdrawn: bool = False

    def edit(self, token: str, deleted: list[str], replaced: list[str], inserted: dict[str, str]) -> None:
        """One request: rows go, rows get another content, rows come. Other rows of its persons are left by it; the new content of a row is
        one of them where another row of that person went."""
        persons, gone = {self.people[who] for who in (*deleted, *replaced)}, {self.people[who] for who in deleted}
        for who in deleted:
            del self.people[who]
        self.people |= inserted
        left = sum(owner in (gone if who in replaced else persons) for who, owner in self.people.items())
        self.requests[token] = Asked(len(deleted), len(replaced), len(inserted), left, gone=tuple(deleted))

    def release(self) -> None:
        """A model of what is there now."""
        edits = dict(NONE)
        for asked in self.requests.values():
            if asked.release is None:
                asked.release = len(self.releases) + 1
                edits = {name: edits[name] + asked.edits[name] for name in NONE}
        self.releases.append(edits)
        self.read.append(set(self.people))
        self.withheld = self.withdrawn = False

    def withhold(self) -> None:
        """Rows are edited, no model is published, and the one before is withdrawn."""
        self.withheld = True

    def status(self, token: str) -> str:
        if self.requests[token].release is not None:
            return "published"
        return "withheld" if self.withheld else "pending"


def faults(
    paper: dict[str, Any], released: list[dict[str, int]], desk: Desk, token: str, lying: list[int | None]
) -> list[str]:
    """What a paper about a request says that is not so.

    Args:
        released: edits of each release that its figures were computed from.
        lying: the earliest release that lies in each place besides the store, None where none does.
    """
    asked, status = desk.requests[token], desk.status(token)
    claims = {claim["key"]: claim["values"] for claim in paper["claims"]}
    found = []
    for key, rows in (("erased", asked.deleted), ("replaced", asked.replaced), ("inserted", asked.inserted)):
        if claims.get(key, {"rows": 0})["rows"] != rows:
            found.append(f"{key}: {claims.get(key)}, and {rows} were")
    published = [
        values["release"] for key, values in claims.items() if key.startswith("published.") and key != "published.on"
    ]
    if published != ([asked.release] if asked.release is not None else []):
        found.append(f"published as {published}, and it was release {asked.release}")
    if any(who in desk.read[release - 1] for release in published for who in asked.gone):
        found.append("computed without rows that it read")
    if set(asked.gone) & set(desk.people) and any(key.startswith("erased.") for key in claims):
        found.append("figures of erased rows, which are there")
    if (asked.aside, asked.back) != ("restricted" in claims, "restriction-lifted" in claims):
        found.append(f"set aside: {asked.aside}, put back: {asked.back}, and not said so")
    if paper["action"]["status"] != status or (status != "published") != (status in claims):
        found.append(f"{paper['action']['status']}, and it is {status}")
    if "person-gone" in claims and asked.left:
        found.append(f"the person is gone, and {asked.left} row(s) remained")
    if "rows-remain" in claims and claims["rows-remain"]["remaining"] != asked.left:
        found.append(f"{claims['rows-remain']} and {asked.left} did")
    stale = sum(oldest is not None and (asked.release is None or oldest < asked.release) for oldest in lying)
    told, open_ended = claims.get("elsewhere.left", {"left": 0})["left"], "elsewhere.unknown" in claims
    if told < stale and not open_ended:
        found.append(f"models made with it are said to lie in {told} place(s), and lie in {stale}")
    if "model-withdrawn" in claims and status == "pending" and not desk.withdrawn:
        found.append("said to be out of service, and it is not")
    if stale and ("model-withdrawn" in claims or ("elsewhere.none" in claims and not open_ended)):
        found.append("said to be gone everywhere, and it is not")
    if released != desk.releases:
        found.append(f"releases of {released}, and they covered {desk.releases}")
    return found
