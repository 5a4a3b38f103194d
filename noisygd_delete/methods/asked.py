"""Words that stand for what is left open when a plan is asked for; whoever offers them loads no planner for it."""

AUTO = "auto"  # in the place of a method's name: whichever is advised
RIDGES = ("given", "forecast")  # λ as it is given, or raised by public numbers where the noise asks for it
