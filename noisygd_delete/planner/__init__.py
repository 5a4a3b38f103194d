"""Budget + loss + sizes -> Plan, or a refusal with the numbers. The only room that weighs one method against another."""

from .advise import advise, make_advised_plan
from .comparison import compare_plans, plan_stream
from .planning import explain_plan, make_plan

__all__ = ["advise", "compare_plans", "explain_plan", "make_advised_plan", "make_plan", "plan_stream"]
