"""Planted faults: the silent constant factors of this field. Each is named, and the check that must catch it is named."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from noisygd_delete.accountant import Account
from noisygd_delete.accountant import history as history_module
from noisygd_delete.bounds import arithmetic, gaussian, renyi, shifted_interpolation, theorem_5_1
from noisygd_delete.bounds.gaussian import gdp_log_delta, gdp_tradeoff
from noisygd_delete.bounds.renyi import renyi_epsilon
from noisygd_delete.methods import base as mechanism_module
from noisygd_delete.methods import noisy_gd as tight_module
from noisygd_delete.methods import noisy_gd_paper as paper_module
from noisygd_delete.privacy import guarantee as guarantee_module
from tests.accountant import checks


def changed(function, **changes):
    """The function with some keyword arguments replaced by functions of their values."""

    def mutant(**given):
        return function(**{name: changes[name](value) if name in changes else value for name, value in given.items()})

    return mutant


def sharp_formula(**changes):
    return lambda patch: patch.setattr(
        tight_module.shifted_interpolation, "gdp", changed(shifted_interpolation.gdp, **changes)
    )


def printed_formula(**changes):
    return lambda patch: patch.setattr(
        paper_module.theorem_5_1, "deletion_rate", changed(theorem_5_1.deletion_rate, **changes)
    )


def sensitivity(worlds):
    def plant(patch):
        patch.setattr(
            mechanism_module.NoisySteps,
            "sensitivity",
            lambda self, adjacency: worlds(adjacency) * self.lipschitz * self.rows_per_subject,
        )

    return plant


def without_subjects(patch):
    worlds = {"replace": 2, "pairwise": 2, "zero-out": 1, "erased-vs-never": 1}
    patch.setattr(
        mechanism_module.NoisySteps, "sensitivity", lambda self, adjacency: worlds[str(adjacency)] * self.lipschitz
    )


def walk(edit):
    """Mutate the stretches of a history."""
    right = history_module.iterate_stretches

    def plant(patch):
        patch.setattr(history_module, "iterate_stretches", lambda events, **given: edit(right, list(events), given))

    return plant


def forget_the_first(right, events, given):
    return list(right(events, **given))[1:]


def everything_hidden_is_free(right, events, given):
    return [part for number in given["observed"] for part in right(events, **{**given, "observed": {number}})][:1]


def swap_the_orders_of_releases(right, events, given):
    return right(events[::-1], **given)


def count_hidden_steps(right, events, given):
    return [(facts, with_ + 1, gone) for facts, with_, gone in right(events, **given)]


def erased_one_later(right, events, given):
    erased = given["erased_at"]
    return right(events, **{**given, "erased_at": None if erased is None else erased + 1})


def erased_one_sooner(right, events, given):
    erased = given["erased_at"]
    return right(events, **{**given, "erased_at": None if erased is None else erased - 1})


def composed(edit):
    right = guarantee_module.Guarantee.composed

    def plant(patch):
        patch.setattr(guarantee_module.Guarantee, "composed", staticmethod(lambda parts: edit(right, list(parts))))

    return plant


def root_for_square(right, parts):
    return right([(replace(part, gdp_squared=part.gdp_squared**0.5), times) for part, times in parts])


def add_mu_instead_of_squares(right, parts):
    total = right(parts)
    return replace(total, gdp_squared=sum(part.gdp_squared**0.5 * times for part, times in parts) ** 2)


def once_whatever_the_number(right, parts):
    return right([(part, 1) for part, _ in parts])


def listing(edit):
    def plant(patch):
        patch.setattr(guarantee_module.Guarantee, "listed", edit)

    return plant


def smaller_orders_cover(self, order):
    return min((cost for listed, cost in self.points if listed <= order), default=0.0) if self.points else 0.0


def formula(module, name, function):
    return lambda patch: patch.setattr(module, name, function)


def rounds_inward(**given):
    return gdp_log_delta(**given) - 1e-9


def record_ignores_times(patch):
    right = Account.record

    def record(self, event, times=1):
        right(self, event, times)
        self.published = Counter(dict.fromkeys(self.published, 1))

    patch.setattr(Account, "record", record)


MUTANTS = {
    "σ/2": (sharp_formula(noise_variance=lambda v: v / 4), "linear_chain"),
    "2σ": (sharp_formula(noise_variance=lambda v: v * 4), "linear_chain"),
    "σ for σ²": (sharp_formula(noise_variance=lambda v: v**0.5), "linear_chain"),
    "L for 2L": (sensitivity(lambda adjacency: 1), "linear_chain"),
    "2L for L": (sensitivity(lambda adjacency: 2), "linear_chain"),
    "rows of a subject ignored": (without_subjects, "linear_chain"),
    "K−1": (sharp_formula(steps_without_record=lambda k: max(0, k - 1)), "linear_chain"),
    "K+1": (sharp_formula(steps_without_record=lambda k: k + 1), "linear_chain"),
    "T−1": (sharp_formula(steps_with_record=lambda t: t - 1), "linear_chain"),
    "wrong n: one slot more": (sharp_formula(records=lambda n: n + 1), "linear_chain"),
    "wrong n: sum for mean": (sharp_formula(records=lambda n: 1), "linear_chain"),
    "η/2": (sharp_formula(step_size=lambda eta: eta / 2), "linear_chain"),
    "forgotten release": (walk(forget_the_first), "linear_chain"),
    "only one release counted": (walk(everything_hidden_is_free), "linear_chain"),
    "one hidden step too many": (walk(count_hidden_steps), "linear_chain"),
    "swapped orders of releases": (walk(swap_the_orders_of_releases), "linear_chain"),
    "erasure one release late": (walk(erased_one_later), "linear_chain"),
    "erasure one release soon": (walk(erased_one_sooner), "linear_chain"),
    "√ for square": (composed(root_for_square), "changing_plans"),
    "μ added instead of μ²": (composed(add_mu_instead_of_squares), "changing_plans"),
    "Theorem 5.1: σ/2": (printed_formula(noise_variance=lambda v: v / 4), "printed_rates"),
    "Theorem 5.1: K−1": (printed_formula(steps_without_record=lambda k: k - 1), "printed_rates"),
    "Theorem 5.1: e^{−ηλK} for e^{−ηλK/2}": (printed_formula(steps_without_record=lambda k: 2 * k), "printed_rates"),
    "Theorem 5.1: λ/2": (printed_formula(regularization=lambda v: v / 2), "printed_rates"),
    "100 times cost as much as once (parts)": (composed(once_whatever_the_number), "composition"),
    "100 times cost as much as once (ledger)": (record_ignores_times, "composition"),
    "swapped Rényi orders": (listing(smaller_orders_cover), "listed_orders"),
    "GDP: μ/2 dropped": (
        formula(
            gaussian,
            "gdp_log_delta",
            lambda mu, epsilon: gdp_log_delta(mu=mu, epsilon=epsilon + mu * mu / 2),
        ),
        "gaussian_conversions",
    ),
    "GDP: rounded inward": (formula(gaussian, "gdp_log_delta", rounds_inward), "gaussian_conversions"),
    "GDP: advantage of μ/2": (
        formula(gaussian, "gdp_advantage", lambda mu: gdp_tradeoff(mu=mu, false_positive=0.5)),
        "gaussian_conversions",
    ),
    "GDP: the search returns its unsafe end": (
        lambda patch: patch.setattr(arithmetic, "first_safe", lambda safe, low, high, digits: (low + high) / 2),
        "gaussian_conversions",
    ),
    "Rényi: q for q−1": (
        formula(
            renyi,
            "renyi_epsilon_mironov",
            lambda order, renyi, delta: renyi_epsilon(order=order + 1, renyi=renyi, delta=delta),
        ),
        "renyi_conversions",
    ),
    "Rényi: optimal below what its δ allows": (
        formula(
            renyi,
            "renyi_epsilon_optimal",
            lambda order, renyi, delta: 0.9 * renyi_epsilon(order=order, renyi=renyi, delta=delta),
        ),
        "renyi_conversions",
    ),
    "Rényi: second event's sign": (
        lambda patch: patch.setattr(renyi, "_log_mass", lambda order, epsilon, x: (order - 1) * epsilon - 1.0),
        "optimal_against_coins",
    ),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_mutant_is_caught(name, monkeypatch):
    plant, check = MUTANTS[name]
    run = getattr(checks, check)
    with monkeypatch.context() as patch:
        plant(patch)
        with pytest.raises(AssertionError):
            run()


@pytest.mark.parametrize("check", [checks.optimal_against_coins, checks.composition, checks.listed_orders])
def test_the_checks_accept_the_code_as_it_is(check):
    """The others are run at more settings in `test_agreement.py`."""
    check()
