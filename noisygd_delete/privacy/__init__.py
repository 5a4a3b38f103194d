"""Privacy guarantees of releases, and the budgets that limit them.

Example:
    >>> from noisygd_delete.privacy import Budget
    >>> budget = Budget.from_epsilon_delta(dp=(1.0, 1e-6), deletion=(0.1, 1e-6))
    >>> round(budget.dp_gdp(), 4), round(budget.deletion_gdp(), 4)
    (0.2367, 0.0275)
"""

from .budget import Budget
from .guarantee import Guarantee
from .worlds import Worlds

__all__ = ["Budget", "Guarantee", "Worlds"]
