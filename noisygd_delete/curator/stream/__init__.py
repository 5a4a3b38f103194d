"""Streams of edit requests: Algorithm 1 of Chourasia & Shah (ICML 2023), with batched publication.

    publish A(D_0); for i = 1, 2, …: get u_i from the requester, edit the rows, publish Ā(D_{i−1}, u_i, θ_{i−1})

A (p, r)-requester chooses u_i after seeing p earlier releases. Which releases it is shown is declared before the
interaction, so the accountant's adaptive bound follows from the declaration: nobody computes p. Both worlds restart from
the same point at every release the requester or the adversary saw (see `accountant.py`).

Rows are erased at once. Publication may wait: for a number of edits, or for a deadline. Each release of a stream runs the
same number of steps, so *when* it happens does not change what it costs; if the requester decides how many there are, the
total is bounded by the plan's `releases=N`, which caps it beforehand.
"""

from .serving import (
    Adaptive,
    Batching,
    Calendar,
    Curating,
    NonAdaptive,
    Publication,
    Requester,
    Stream,
    StreamSummary,
    interact,
)

__all__ = [
    "Adaptive",
    "Batching",
    "Calendar",
    "Curating",
    "NonAdaptive",
    "Publication",
    "Requester",
    "Stream",
    "StreamSummary",
    "interact",
]
