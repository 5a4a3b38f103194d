"""Budget + loss + sizes -> Plan, or a refusal with the numbers. The only room that weighs one method against another."""

from .advise import advise, advised_plan
from .comparison import compare_plans, plan_stream
from .make import explain, make_plan

__all__ = ["advise", "advised_plan", "compare_plans", "explain", "make_plan", "plan_stream"]
