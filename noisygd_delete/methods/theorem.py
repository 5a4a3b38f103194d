"""Plans under Theorem 5.1, exactly as printed."""

from __future__ import annotations

from ..bounds import theorem_5_1
from ..errors import AssumptionViolated, InvalidParameter
from ..privacy.guarantee import Guarantee
from .calibration import calibrate
from .plan import Plan
from .problem import Problem


def plan_theorem(problem: Problem) -> Plan:
    """Theorem 5.1: (σ² from ε_dp), (16) for deletion and (17) for utility, at η = 1/(2(λ+β))."""
    constants, lam = problem.loss.constants, problem.regularization
    if not problem.loss.twice_differentiable:
        raise AssumptionViolated(
            f"the {problem.loss.name} loss is C^{{1,1}}, not twice differentiable, which Theorem 5.1 assumes; "
            "certificate='sharp' needs no more and is tighter"
        )
    if problem.deletion_notion == "pairwise":
        raise InvalidParameter(
            "deletion_notion='pairwise' needs certificate='sharp': Theorem 5.1 states Definition 4.1 (a deleted record "
            "against one that was never there)"
        )
    printed = theorem_5_1.step_size(regularization=lam, smoothness=constants.smoothness)
    eta = printed if problem.step_size is None else problem.step_size
    if not eta < 1 / (lam + constants.smoothness):
        raise AssumptionViolated(
            f"step_size={eta:g} must be below 1/(λ+β)={1 / (lam + constants.smoothness):g} for Theorem 5.1; leave it out"
        )
    if eta != printed and problem.utility:
        raise AssumptionViolated(
            f"step_size={eta:g}: the utility condition (17) is stated for η=1/(2(λ+β))={printed:g} only; leave step_size out, "
            "pass utility=False, or use certificate='sharp'"
        )
    dp_rate, dp_order = problem.dp_rate()
    deletion_rate, _ = problem.deletion_rate()
    sizes = {"regularization": lam, "smoothness": constants.smoothness, "dimension": problem.dimension}

    def complete(noise_variance: float) -> Plan:
        mechanism = problem.mechanism(step_size=eta, noise_variance=noise_variance)
        facts = {"regularization": lam, "noise_variance": noise_variance, "records": problem.records}
        released = theorem_5_1.full_rate(sensitivity=mechanism.sensitivity(problem.adjacency), **facts)
        replace_one_row = theorem_5_1.full_rate(sensitivity=2 * constants.lipschitz, **facts)
        return Plan(
            problem=problem,
            step_size=eta,
            noise_variance=noise_variance,
            init_variance=theorem_5_1.init_variance(noise_variance=noise_variance, regularization=lam, step_size=eta),
            learn_steps=theorem_5_1.learn_steps_for_utility(rate=replace_one_row, records=problem.records, **sizes),
            delete_steps_for_deletion=max(
                theorem_5_1.deletion_steps(dp=released, deletion=deletion_rate, regularization=lam, step_size=eta),
                1,  # the same weights again have forgotten nothing
            ),
            delete_steps_for_utility=(
                theorem_5_1.delete_steps_for_utility(rate=replace_one_row, batch=problem.batch, **sizes)
                if problem.utility
                else 0
            ),
        )

    def affordable(together: Guarantee) -> bool:
        return together.renyi(dp_order) <= dp_rate * dp_order

    single = theorem_5_1.noise_variance(
        rate=dp_rate,
        sensitivity=problem.mechanism(step_size=eta, noise_variance=1.0).sensitivity(problem.adjacency),
        regularization=lam,
        records=problem.records,
    )
    return calibrate(problem, single, complete, affordable)
