"""The ladder: what published stages reveal is the sum over every run of a stage that an observer's models rest on.

A run e of a stage reads some rows and the outputs of other runs, its parents. For *every* value of its parents it is μ_e-GDP for one
row against none. Then all that an observer of the runs O learns about one row is μ-GDP with

    μ² = Σ_{e ∈ An(O)} μ_e²,        each run once; An(O): O, its parents, their parents, ...

*Proof.* Order An(O) so that parents come first. Given the outputs before it, each run is a μ_e-GDP mechanism, whatever those outputs are:
adaptive composition (Dong, Roth & Su 2022, Cor. 3.3) bounds the joint law of An(O), of which O is a part. ∎ Runs outside An(O), overwritten before
anybody saw them, are integrated out on both sides. A run that read no row of the person costs 0.

Requesters who choose edits by what they saw (V) make runs depend on V: then the sum runs over An(O ∪ V), for a set fixed in advance or a sum
capped beforehand. A run that starts where a run of the *same* stage ended, instead of at a stage below it, has that run as a parent.

Not claimed: that what a run reveals fades. Noise below the observed runs is given away; the sum is exact where every run of An(O) is
observed and each is Gaussian in the row.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping


def ancestors(*, parents: Mapping[int, Iterable[int]], seen: Iterable[int]) -> frozenset[int]:
    """An(seen): the runs themselves and whatever they read, directly or not. `parents` names the inputs of every run."""
    found: set[int] = set()
    open_ = list(seen)
    while open_:
        run = open_.pop()
        if run not in found:
            found.add(run)
            open_ += parents[run]
    return frozenset(found)
