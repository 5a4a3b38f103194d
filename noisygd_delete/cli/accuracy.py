"""`--accuracy` of `plan` and `advise`: the least ε at which an accuracy is forecast, from public numbers alone."""

from __future__ import annotations

import argparse
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..errors import InvalidParameter
from ..methods.specs import parse_spec

if TYPE_CHECKING:
    from ..planner.least_epsilon import LeastEpsilon

_SUPPOSED = (1 / 16, 1 / 8, 1 / 4, 1 / 2)  # of the distance to 1, for the accuracy without noise where it is not given
_FIGURES = {"without_noise", "majority"}


def add_accuracy(parser: argparse.ArgumentParser) -> None:
    """Add the option --accuracy A, with the public figures `without_noise` and `majority` as its fields."""
    parser.add_argument(
        "--accuracy",
        metavar="A[:without_noise=A,majority=SHARE]",
        help="find the least --dp for it, by forecast and public figures",
    )


@dataclass(frozen=True)
class AccuracyAnswer:
    """What `--accuracy` answers.

    Attributes:
        found: The least ε for each accuracy without noise: one if it was given, else those supposed for which there is one.
        supposed: Whether the accuracy without noise was not given.
    """

    found: list[LeastEpsilon]
    supposed: bool

    @property
    def easiest(self) -> LeastEpsilon:
        """The smallest ε found."""
        return min(self.found, key=lambda one: one.epsilon)

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-compatible fields."""
        from ..planner.least_epsilon import LARGEST_ERROR, MEAN_ERROR

        target, problem = self.easiest.target, self.easiest.advice.plan.problem
        return {
            "accuracy": target.wanted,
            "majority": target.majority,
            "adjacency": str(problem.adjacency),
            "delta": problem.budget.dp_delta,
            "supposed": self.supposed,
            "least_epsilon": [
                {
                    "accuracy_without_noise": one.target.without_noise,
                    "epsilon": one.epsilon,
                    "forecast": one.accuracy,
                    "method": one.advice.plan.method.name,
                }
                for one in self.found
            ],
            "error": {"mean": MEAN_ERROR, "largest": LARGEST_ERROR},
        }

    def text(self) -> str:
        """Return the answer as lines, with its conditions and the error of the forecast."""
        from ..planner.least_epsilon import LARGEST_ERROR, MEAN_ERROR
        from ..privacy.sentences import format_bound, format_number

        target, problem = self.easiest.target, self.easiest.advice.plan.problem
        releases = "one release" if problem.releases == 1 else f"{problem.releases} releases together"
        head = (
            f"Least ε of {releases} for an accuracy of {target.wanted:.1%} at δ={format_bound(problem.budget.shown_delta)} "
            f"({problem.adjacency}), n={problem.records:,}, {problem.features} columns, where the most frequent class has {target.majority:.1%}:"
        )
        lines = [
            f"  ε={format_number(one.epsilon)} if a model without noise is right on {one.target.without_noise:.1%} "
            f"('{one.advice.plan.method.name}', forecast {one.accuracy:.1%})"
            for one in self.found
        ]
        whose = (
            "Which line holds no public size tells: give --accuracy A:without_noise=A. Measured on these records"
            if self.supposed
            else "The accuracy without noise and the most frequent class are your public figures: read off these records"
        )
        error = f"On 20 tables accuracy was {MEAN_ERROR:.1f} points from this forecast in the mean, {LARGEST_ERROR:.1f} at most."
        return "\n".join([head, *lines, f"{whose}, such a figure is a release that no ε here covers. {error}"])


def find_epsilon(parsed: argparse.Namespace, **sizes: Any) -> AccuracyAnswer | None:
    """Return the answer to --accuracy, and set `parsed.dp` and `parsed.delta` to its budget; None without --accuracy.

    If the accuracy without noise is supposed, the budget is that of the smallest ε found. The arguments are completed by
    `fill_arguments` and the schema beforehand.

    Raises:
        InvalidParameter: If the loss has no classes, or options contradict --accuracy.
        NothingWorthHaving: If no ε suffices.
    """
    from ..planner.least_epsilon import AccuracyTarget, find_least_epsilon
    from .plan_arguments import loss_from
    from .plan_selection import advise_plan, advised_budget

    if parsed.accuracy is None:
        return None
    text, figures = parse_spec("accuracy", parsed.accuracy)
    numbers = dict(figures, accuracy=_number(text))
    if not figures.keys() <= _FIGURES or any(type(value) not in (int, float) for value in numbers.values()):
        raise InvalidParameter(
            f"--accuracy {parsed.accuracy}: must be a number, and its fields without_noise and majority numbers"
        )
    wanted = numbers["accuracy"]
    for name in ("dp", "order", "total_epsilon"):
        if getattr(parsed, name) is not None:
            raise InvalidParameter(f"--accuracy finds ε: leave --{name.replace('_', '-')} out")
    if parsed.gdp:
        raise InvalidParameter("--accuracy finds ε of (ε, δ): leave --gdp out")
    loss = loss_from(parsed)
    if loss.label_kind not in ("binary", "class"):
        raise InvalidParameter(f"--accuracy is of classes, and the {loss.name} loss has none: leave it out")

    def advise_at(epsilon: float, records: int) -> Any:
        arguments = copy(parsed)
        arguments.dp = epsilon
        return advise_plan(arguments, **{**sizes, "records": records})

    given, majority = figures.get("without_noise"), figures.get("majority", 1 / max(2, loss.outputs))
    supposed = [wanted + share * (1 - wanted) for share in _SUPPOSED] if given is None else [given]
    targets = [AccuracyTarget(wanted, without_noise, majority) for without_noise in supposed]
    answer = AccuracyAnswer(find_least_epsilon(targets, advise_at, sizes["records"]), given is None)
    parsed.dp = answer.easiest.epsilon
    parsed.delta = advised_budget(parsed, sizes["records"]).shown_delta
    return answer


def _number(text: str | None) -> float | None:
    try:
        return float(text or "")
    except ValueError:
        return None
