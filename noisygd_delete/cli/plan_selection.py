"""Choose the plan of a command: by its options, or by advice if no method is named; with its total budget."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import Any

from ..errors import InvalidParameter, NothingWorthHaving
from ..methods.base import AUTO
from ..methods.plan import Plan
from ..methods.specs import format_spec
from ..planner import advise, make_advised_plan
from ..planner.advise import Advice
from ..planner.comparison import StreamPlan
from ..planner.defaults import (
    DELETION,
    EPSILON,
    PUBLICATIONS,
    TOTAL_EPSILON,
    default_delta,
    default_total,
    with_total,
)
from ..planner.service import DeletionService, choose_service
from ..privacy.budget import Budget
from .plan_arguments import budget_from, check_stream, comparison_arguments, plan_from, stream_from, total_from
from .plan_file import PLANNED, SIZES, STREAM, plan_command


@dataclass(frozen=True)
class Chosen:
    """A plan and how it was chosen.

    Attributes:
        plan: The plan.
        advice: The comparison that it was chosen from; None if the method was named.
        stream: The schedule for an expected number of requests; None if none was given.
        service: How two years of requests are served; None if the options of the plan decide that.
    """

    plan: Plan
    advice: Advice | None
    stream: StreamPlan | None
    service: DeletionService | None = None

    def text(self, *, whole: bool) -> str:
        """Return how the plan was chosen: the schedule of the stream and the advice; "" if there is neither.

        Args:
            whole: Whether the advice is a table, instead of a few lines.
        """
        stream = "" if self.stream is None else self.stream.text()
        advice = "" if self.advice is None else self.advice.table() if whole else self.advice.summarize()
        return "\n\n".join(filter(None, (stream, advice, service_text(self.service))))


def service_text(service: DeletionService | None) -> str:
    """Return how requests are served and why, as one line; "" for None."""
    return "" if service is None else f"deletions are served by {service.reason}"


def choose_plan(parsed: argparse.Namespace, **sizes: Any) -> Chosen:
    """Return the plan for the arguments, with its total budget: that given, none with --no-total, else `default_total`.

    It is by advice for method `AUTO`, by forecast if --requests or --period is given, and by the options otherwise.

    Raises:
        NothingWorthHaving: If the advice finds no useful plan at these sizes; names the `plan` command to go on.
    """
    streamed = parsed.requests is not None or parsed.period is not None
    if parsed.method == AUTO:
        advice = advise_plan(parsed, **sizes)
        if not advice.worth_having:
            raise NothingWorthHaving(
                f"{advice.refusal()}. To go on all the same {plan_command(advised_problem(parsed, advice))} and give the command again with --plan plan.toml in "
                "place of what it says of a plan: every certificate holds, the model may be no better than guessing"
            )
        plan = make_advised_plan(advice, _format_total(parsed, advice.plan))
        requests = parsed.requests
        stream = None if requests is None else StreamPlan(advice.comparison, requests, parsed.period)
        service = _choose_service(parsed, advice, plan, **sizes)
        if service is not None:
            plan, advice = service.plan, service.advice
        return Chosen(plan, advice, stream, service)
    check_unserved(parsed)
    stream = stream_from(parsed, **sizes) if streamed else None
    plan = plan_from(parsed, **sizes) if stream is None else stream.plan
    return Chosen(with_total(plan, _format_total(parsed, plan)), None, stream)


def _choose_service(parsed: argparse.Namespace, advice: Advice, plan: Plan, **sizes: Any) -> DeletionService | None:
    """Return how two years of requests are served, by --requests-per-year; None if the plan's options decide that."""
    options = ("requests", "total_epsilon", "order")
    decided = parsed.gdp or parsed.no_total or plan.problem.releases > 1 or getattr(parsed, "source", None) is not None
    if decided or any(getattr(parsed, name) is not None for name in options):
        check_unserved(parsed)
        return None
    return choose_service(advice, plan, parsed.requests_per_year, **_advice_arguments(parsed, **sizes))


def check_unserved(parsed: argparse.Namespace) -> None:
    """Check that --requests-per-year is not given where it decides nothing.

    Raises:
        InvalidParameter: If it is.
    """
    if parsed.requests_per_year is not None:
        raise InvalidParameter(
            "--requests-per-year is for `init` and `quickstart`, which choose releases under the default total by it: leave it out for a --source, "
            "and with a plan that names a method, a total, releases or requests"
        )


def _advice_arguments(parsed: argparse.Namespace, **sizes: Any) -> dict[str, Any]:
    """Return the arguments of `advise` other than method, λ, budget, releases and requests."""
    facts = comparison_arguments(parsed)
    if facts["model_norm"] is None and parsed.regularization is None:
        facts["model_norm"] = getattr(parsed, "usual_norm", None)  # from the schema
    return {**facts, **sizes, "proof": parsed.proof}


def advise_plan(parsed: argparse.Namespace, **sizes: Any) -> Advice:
    """Return advice on method, λ, batch and releases for what the arguments leave open, from public sizes alone.

    For a --source the method is objective perturbation.

    Raises:
        InvalidParameter: If fields of a method or --ridge are given, or stream options contradict each other.
    """
    requests = parsed.requests
    if requests is not None or parsed.period is not None:
        check_stream(parsed)
    if parsed.method_fields:
        raise InvalidParameter(
            f"--method {parsed.method}: advice chooses {', '.join(parsed.method_fields)}; leave it out, or use `plan`"
        )
    if parsed.ridge is not None:
        raise InvalidParameter(
            "--ridge: the advice chooses λ; give --regularization λ to have it as it is, or name a --method"
        )
    releases: dict[str, Any] = {} if requests is not None else {"releases": releases_from(parsed)}
    return advise(
        **_advice_arguments(parsed, **sizes),
        **releases,
        method=parsed.method if getattr(parsed, "source", None) is None else "objective-perturbation",
        regularization=parsed.regularization,
        budget=advised_budget(parsed, sizes["records"]),
        requests=requests,
    )


def advised_problem(parsed: argparse.Namespace, advice: Advice) -> dict[str, Any]:
    """Return the options of `plan` that make the advised plan; method, λ, adjacency and budget are the advice's.

    Of the given options the others are kept, except sizes, stream options, --proof and --ridge. `releases` and `batch`
    are in it only if not the default. With a given model_norm, λ is the requested one with ridge = "forecast"; for a
    chain, model_norm is dropped.
    """
    chosen, budget, problem = advice.list_options(), advice.plan.problem.budget, advice.plan.problem
    options = {
        name: value for name, value in parsed.given_options.items() if name not in (*STREAM, *SIZES, "proof", "ridge")
    }
    if advice.chained is not None:  # its λ is not that of the forecast
        options.pop("model_norm", None)
    elif parsed.model_norm is not None:
        options["ridge"] = "forecast"
        chosen["regularization"] = problem.requested_regularization or problem.regularization
    own = {name: value for name, value in chosen.items() if name not in PLANNED}
    clip = chosen.pop("clip", None) if parsed.clip is None else parsed.clip
    amounts = {
        "clip": clip,
        "dp": budget.dp,
        "deletion": budget.deletion,
        "delta": budget.dp_delta,
        "order": budget.order,
    }
    return {
        "method": format_spec(chosen["method"], own),
        "adjacency": str(problem.adjacency),
        "regularization": chosen["regularization"],
        **{name: value for name, value in amounts.items() if value is not None},
        **{name: chosen[name] for name in ("releases", "batch") if chosen[name] != PLANNED[name]},
        **{name: value for name, value in options.items() if name not in (*chosen, *amounts)},
    }


def releases_from(parsed: argparse.Namespace) -> int:
    """Return the number of releases that share --dp: that of --releases, by default 1.

    It is `PUBLICATIONS` if --total-epsilon is given without --dp, --requests and --releases.
    """
    if parsed.requests is None and parsed.total_epsilon is not None and parsed.dp is None and parsed.releases == 1:
        return PUBLICATIONS
    return parsed.releases  # type: ignore[no-any-return]


def advised_budget(parsed: argparse.Namespace, records: int) -> Budget:
    """Return the budgets for present and erased records that the arguments name, completed by the defaults in (ε, δ).

    The default is that of one release, or of the total (--total-epsilon or `TOTAL_EPSILON`) if several releases or
    --requests share it; a tenth of it is for erased records. Rényi and GDP budgets are those of `budget_from`.
    """
    if parsed.order is not None or parsed.gdp:
        return budget_from(parsed)
    shared = parsed.requests is not None or releases_from(parsed) > 1
    delta = parsed.delta
    if delta is None:
        delta = default_delta(records) if parsed.total_delta is None else parsed.total_delta
    usual = parsed.total_epsilon or TOTAL_EPSILON if shared else EPSILON
    dp = usual if parsed.dp is None else parsed.dp
    tenth = dp * DELETION / (TOTAL_EPSILON if shared else EPSILON)
    deletion = tenth if parsed.deletion is None else parsed.deletion
    return Budget.from_epsilon_delta(dp=(dp, delta), deletion=(deletion, delta))


def _format_total(parsed: argparse.Namespace, plan: Plan) -> Any:
    given = total_from(parsed, delta=plan.problem.budget.shown_delta)
    return given if given is not None or parsed.no_total else default_total(plan)
