"""Plan noise and steps for a loss, public sizes and a budget, and compare the methods.

Example:
    >>> from noisygd_delete.losses import Logistic
    >>> from noisygd_delete.planner import make_plan
    >>> from noisygd_delete.privacy import Budget
    >>> plan = make_plan(
    ...     Logistic(radius=1.0),
    ...     records=10_000,
    ...     features=10,
    ...     regularization=0.01,
    ...     budget=Budget(order=10, dp=1.0, deletion=0.1),
    ...     method="noisy-gd",
    ... )
    >>> plan.calibration.learn_steps, plan.calibration.delete_steps
    (156, 9)
"""

from .advise import advise, make_advised_plan
from .comparison import compare_plans, plan_stream
from .planning import explain_plan, make_plan

__all__ = ["advise", "compare_plans", "explain_plan", "make_advised_plan", "make_plan", "plan_stream"]
