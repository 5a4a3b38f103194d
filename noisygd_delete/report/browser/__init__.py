"""The verification as a page runs it: this package's own Python, translated into JavaScript when a page is made.

There is no second verifier to keep in step. `demand` finds the functions that `verify_certificate` reaches, `translation` writes them
in JavaScript, and `runtime/` is what Python brings along: whole numbers apart from fractions, rounding, dates, special functions.
"""

from .embedding import embedded, policy
from .script import checker, page_script

__all__ = ["checker", "embedded", "page_script", "policy"]
