"""Definitions C.1 and C.2 and Remarks 4.2 and 4.4, on finite examples where everything can be enumerated."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from noisygd_delete import EditRequest, Records

from .framework import RIGOROUS, Finding, require, statement

Database = tuple[int, ...]
Edit = tuple[int, int]  # slot, new value

UNIVERSE = (-2, -1, 1, 2)


def _subsets(elements: Any) -> list[frozenset[int]]:
    members = sorted(elements)
    return [frozenset(chosen) for size in range(len(members) + 1) for chosen in itertools.combinations(members, size)]


def _sums(kept: frozenset[int]) -> int:
    """A(D) = Σ x, and Ā(D, S, A(D)) = A(D∖S): (32)."""
    return sum(kept)


def _by_sign(model: int) -> frozenset[int]:
    """(33): all negative records go if the model is negative, else all positive ones."""
    return frozenset(x for x in UNIVERSE if (x < 0) == (model < 0))


def _unsound(requester: Callable[[int], frozenset[int]]) -> None:
    """The release after deletion tells D₋₁ = {−2, −1, 2} from D₁ = {−2, 1, 2}, though the deleted record alone differs."""
    releases = []
    for secret in (-1, 1):
        database = frozenset({-2, secret, 2})
        asked = requester(_sums(database))
        require(secret in asked, "the record that differs is deleted")
        releases.append(_sums(database - asked))
    require(releases[0] != releases[1], f"the release after deletion is {releases[0]} in both worlds")


@statement(
    "C.1",
    "(ε, δ)-certified removal is unsound where requests depend on the model, and incomplete: the printed examples",
    evidence=(RIGOROUS,),
    claim=_by_sign,
    fault=("the two records are asked for whatever the model is", lambda model: frozenset({-1, 1})),
    scope="The definition at ε = δ = 0 for the pair (32) by enumeration of all databases over the universe and all deletion sets; the attack (33) on the release alone; "
    "and the pair with fixed outputs, which sees no record, yet is not certified removal for A = Σ.",
)
def _certified_removal(claim, effort: int) -> Finding:
    for database in _subsets(UNIVERSE):
        for gone in _subsets(database):
            require(_sums(database - gone) == sum(x for x in database if x not in gone), "Ā(D, S, A(D)) = A(D∖S)")
    _unsound(claim)
    fixed = {True: 0, False: 7}  # Ā's output by "is S empty", whatever the records are
    uncovered = [d for d in _subsets(UNIVERSE) for s in _subsets(d) if s and fixed[False] != _sums(d - s)]
    require(uncovered, "fixed outputs are certified removal for A = Σ")
    return Finding(
        f"exact; the fixed outputs differ from retraining in {len(uncovered)} deletions, and reveal no record"
    )


@statement(
    "C.2",
    "(ε, δ)-unlearning is unsound where requests depend on the model, and incomplete: an Ā that sees nothing of the records fails it for every A",
    evidence=(RIGOROUS,),
    claim=lambda empty: 0 if empty else 1,
    fault=("one output whatever is asked", lambda empty: 0),
    scope="With statistics T(D) = D the pair (32) meets the definition at ε = δ = 0 (enumerated), and (33) reads the deleted record off the release. Fixed outputs x₁ (S = ∅) and "
    "x₂ ≠ x₁: Ā(T(D), S, ·) against Ā(T(D∖S), ∅, ·) compares x₂ with x₁, disjoint laws, so no δ < 1 will do, though no record is looked at. What Ā does reveal is that "
    "something was deleted, which Definition 4.1 does not protect either.",
)
def _unlearning(claim, effort: int) -> Finding:
    for database in _subsets(UNIVERSE):
        for gone in _subsets(database):
            require(_sums(database - gone) == _sums((database - gone) - frozenset()), "both sides of (31)")
    _unsound(_by_sign)
    for database in _subsets(UNIVERSE):
        for gone in _subsets(database):
            advantage = int(claim(not gone) != claim(True))
            require(advantage == bool(gone), f"fixed outputs meet (31) at S = {sorted(gone)}")
    return Finding("exact; total variation 1 for every S ≠ ∅")


# --- Remark 4.2 ---


def _in_place(database: Database, edits: tuple[Edit, ...]) -> Database:
    """The package's table: slots keep their numbers."""
    ids = list(range(len(database)))
    records = Records(np.array(database, dtype=float)[:, None] / 8, np.zeros(len(database)), ids=ids)
    request = EditRequest.replace({slot: ([value / 8], 0.0) for slot, value in edits})
    return tuple(round(float(value) * 8) for value in records.apply(request).features[:, 0])


def _closed_up(database: Database, edits: tuple[Edit, ...]) -> Database:
    """The fault: a deletion (value 0) closes the gap, so that later requests mean other records."""
    kept = list(database)
    for slot, value in edits:
        if slot < len(kept):
            kept[slot : slot + 1] = [value] if value else []
    return tuple(kept)


@statement(
    "4.2",
    "non-adaptive requests: for every ⟨ind, y⟩ ∈ u_i the database D_{i−1}∘u_i is a function of D_0∘⟨ind, y⟩, so any map π of the current records (retraining "
    "among them) serves as reference",
    evidence=(RIGOROUS,),
    claim=_in_place,
    fault=("deleting a record closes the gap", _closed_up),
    licenses=("records.records:Records.apply", "records.records:EditRequest"),
    scope="Every database of three slots over three values and every sequence of two requests of one edit, by the package's own table; and requests that copy what they saw "
    "of the record, for which it is false (so the remark needs its word non-adaptive).",
)
def _generalises(claim, effort: int) -> Finding:
    values, slots = (0, 1, 2), 3
    singles = [(slot, value) for slot in range(slots) for value in values]
    compared = 0
    cache: dict[tuple[Database, Edit], Database] = {}

    def edited(database: Database, edit: Edit) -> Database:
        if (database, edit) not in cache:
            cache[database, edit] = claim(database, (edit,))
        return cache[database, edit]

    for database in itertools.product(values, repeat=slots):
        for first, second in itertools.product(singles, repeat=2):
            direct = edited(edited(database, first), second)
            early = edited(edited(edited(database, second), first), second)  # (D_0∘⟨ind, y⟩)∘u_1∘u_2
            require(direct == early, f"{database}, requests {first} and {second}: {direct} against {early}")
            compared += 1
    seen = {edited(edited((bit, 0, 0), (1, bit)), (0, 0)) for bit in (1, 2)}  # the first request copies slot 0
    require(len(seen) == 2, "an adaptive request leaves the deleted record in the table")
    return Finding(f"equal in {compared} sequences; an adaptive copy survives its deletion")


# --- Remark 4.4 ---

Law = dict[int, Fraction]


def _total_variation(one: Law, other: Law) -> Fraction:
    return sum((abs(one.get(k, Fraction(0)) - other.get(k, Fraction(0))) for k in one | other), Fraction(0)) / 2


def _exact_copy(bit: int, coin: int) -> Law:
    """Publishes the record; its internal randomness plays no part."""
    return {bit: Fraction(1)}


def _padded(bit: int, coin: int) -> Law:
    """Publishes the coin drawn once at set-up, and never looks at the record."""
    return {coin: Fraction(1)}


@statement(
    "4.4",
    "DP with regard to internal randomness (Gupta et al.) and DP with regard to records are different demands: neither gives the other, and the first "
    "does not stop a requester who copies what he saw",
    evidence=(RIGOROUS,),
    claim=(_exact_copy, _padded),
    fault=("a mechanism that publishes nothing", (lambda bit, coin: {0: Fraction(1)}, _padded)),
    scope="Two mechanisms on one bit with one coin of persistent state, exactly: deterministic retraining has advantage 0 over the coin and 1 over the record; a published "
    "pad the other way round. With the first, exact retraining on the remaining records and a requester who copies the bit, the release after deletion is the deleted "
    "bit (Theorem 3.1's attack). What Gupta et al. prove is cited, not checked.",
)
def _two_demands(claim, effort: int) -> Finding:
    copy, padded = claim

    def over(mechanism, *, record: bool) -> Fraction:
        return max(
            _total_variation(
                mechanism(0, fixed) if record else mechanism(fixed, 0),
                mechanism(1, fixed) if record else mechanism(fixed, 1),
            )
            for fixed in (0, 1)
        )

    require(over(copy, record=False) == 0 and over(copy, record=True) == 1, "private of its coins, not of its records")
    require(
        over(padded, record=False) == 1 and over(padded, record=True) == 0, "private of its records, not of its coins"
    )
    afterwards = []
    for bit in (0, 1):
        (seen,) = copy(bit, 0)  # the requester sees the model and writes it into the second record
        database = [0, seen]  # the first record is then deleted; retraining publishes what remains
        (release,) = copy(database[1], 0)
        afterwards.append(release)
    require(afterwards == [0, 1], "the release after deletion is the deleted bit")
    return Finding("exact: advantages 0 and 1, 1 and 0")
