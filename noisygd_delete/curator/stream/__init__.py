"""Streams of edit requests: Algorithm 1 of Chourasia & Shah (ICML 2023), with batched publication.

    publish A(D_0); for i = 1, 2, …: get u_i from the requester, edit the rows, publish Ā(D_{i−1}, u_i, θ_{i−1})

A (p, r)-requester chooses u_i after seeing p earlier releases. The releases that it sees are declared before the
interaction, so the accountant's adaptive bound follows from the declaration and p need not be estimated. Runs on
neighbouring datasets restart from the same point at every release that the requester or the adversary saw (see
`accountant.py`).

Rows are erased at once. Publication may wait for a number of edits or for a deadline. Each release of a stream runs
the same number of steps, so *when* it happens does not change its cost; if the requester decides how many there are,
the total is bounded by the plan's `releases=N`, a cap set in advance.
"""

from ...privacy.release_dates import Calendar
from .batching import Batching
from .interaction import Adaptive, NonAdaptive, Requester, interact
from .serving import Curating, Stream
from .summary import Publication, StreamSummary

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
