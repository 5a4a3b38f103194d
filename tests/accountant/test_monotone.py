"""Never easier: ε grows as δ falls, n falls, m, r and L grow, K falls; plans need more noise and more steps."""

from __future__ import annotations

import math

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from noisygd_delete.bounds import adaptive, gaussian, renyi
from noisygd_delete.privacy.guarantee import Guarantee

slow = settings(max_examples=20, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
quick = settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])

epsilons = st.floats(1e-6, 1e6)
log10_deltas = st.floats(-300, -0.01)
parts = st.tuples(st.floats(0, 1e4), st.floats(0, 1e4), st.booleans())


def build(part):
    squared, rate, listed = part
    return Guarantee(
        "deletion",
        "erased-vs-never",
        gdp_squared=squared,
        rate=rate,
        points=((2.0, 0.01), (9.0, 0.2)) if listed else (),
    )


@quick
@given(parts, log10_deltas, st.floats(0.01, 20))
def test_epsilon_is_total_and_grows_as_delta_falls(part, exponent, fall):
    guarantee = build(part)
    larger, smaller = 10.0**exponent, 10.0 ** max(-300.0, exponent - fall)
    first, second = guarantee.epsilon(larger), guarantee.epsilon(smaller)
    assert 0 <= first <= second * (1 + 1e-9) + 1e-9
    assert not math.isnan(second)
    conversions = guarantee.conversions(larger)
    assert first <= min(conversions.values()) * (1 + 1e-9)
    assert conversions["one-order-optimal"] <= conversions["canonne-kamath-steinke"] <= conversions["mironov"] + 1e-12


@slow
@given(parts, epsilons, st.floats(1.001, 100))
def test_delta_is_total_and_falls_as_epsilon_grows(part, epsilon, factor):
    guarantee = build(part)
    first, second = guarantee.delta(epsilon), guarantee.delta(epsilon * factor)
    assert 0 <= second <= first * (1 + 1e-9) + 5e-324
    assert first <= 1
    assert guarantee.log_delta(epsilon) <= 0


@quick
@given(parts, log10_deltas)
def test_epsilon_and_delta_are_inverse_to_each_other_on_the_safe_side(part, exponent):
    guarantee = build(part)
    epsilon = guarantee.epsilon(10.0**exponent)
    assert guarantee.log_delta(epsilon) <= exponent * math.log(10) + 1e-3  # a search per side; both are upper bounds


@slow
@given(parts, st.floats(1e-9, 0.999), st.floats(1e-9, 0.999))
def test_tradeoff_falls_and_agrees_with_the_advantage(part, first, second):
    guarantee = build(part)
    low, high = sorted((first, second))
    assert 0 <= guarantee.tradeoff(high) <= guarantee.tradeoff(low) * (1 + 1e-9) <= (1 - low) * (1 + 1e-9)
    assert 1 - low - guarantee.tradeoff(low) <= guarantee.advantage + 1e-9
    assert 0 <= guarantee.advantage <= guarantee.advantage_between_records * (1 + 1e-9) <= 1 + 1e-9


@slow
@given(st.floats(1e-6, 40), st.floats(1e-6, 0.5))
def test_a_gaussian_guarantee_lies_below_what_its_renyi_curve_alone_would_say(mu, false_positive):
    exact = Guarantee("dp", "zero-out", gdp_squared=mu * mu)
    curve = Guarantee("dp", "zero-out", rate=mu * mu / 2)
    assert exact.epsilon(1e-6) <= curve.epsilon(1e-6)
    assert exact.advantage <= curve.advantage * (1 + 1e-9)
    assert exact.tradeoff(false_positive) >= curve.tradeoff(false_positive) * (1 - 1e-9)
    assert exact.advantage_between_records <= curve.advantage_between_records * (1 + 1e-9)


@quick
@given(st.floats(1.01, 200), st.floats(0, 50))
def test_theorem_4_1_is_never_beaten_by_its_own_printed_form(order, renyi):
    ours, printed = (
        adaptive.membership_advantage(order=order, renyi=renyi),
        adaptive.theorem_4_1(order=order, renyi=renyi),
    )
    assert 0 <= ours <= printed <= 1
    # Theorem 4.5 is its converse: an advantage δ² beyond the bound rules the guarantee out
    if printed < 1:
        assert adaptive.deletion_lower_bound(order=order, advantage=math.sqrt(printed)) <= renyi * (1 + 1e-6) + 1e-9
    assert adaptive.deletion_lower_bound_sharp(order=order, advantage=math.sqrt(ours)) <= renyi * (1 + 1e-6) + 1e-9


@slow
@given(st.floats(1e-6, 1e6), log10_deltas)
def test_what_a_budget_allows_stays_within_it(epsilon, exponent):
    delta = 10.0**exponent
    mu = gaussian.gdp_for(epsilon=epsilon, delta=delta)
    assert gaussian.gdp_log_delta(mu=mu, epsilon=epsilon) <= math.log(delta)
    assert 0 < gaussian.gdp_epsilon(mu=mu, delta=delta) <= epsilon * (1 + 1e-14)
    assert gaussian.gdp_epsilon(mu=mu * (1 + 1e-7), delta=delta) >= epsilon * (1 - 1e-6)
    rate, order = renyi.rate_for(epsilon=epsilon, delta=delta)
    assert rate > 0
    assert renyi.renyi_epsilon(order=order, renyi=order * rate, delta=delta) <= epsilon


@pytest.mark.parametrize(
    ("question", "words", "numbers"),
    [
        ("epsilon", "delta", (math.nan, -1.0, 0.0, 1.0, 1.5, "x", None, True)),
        ("renyi", "order", (math.nan, 1.0, 0.5, -2.0, math.inf)),
        ("tradeoff", "false_positive", (math.nan, -0.1, 1.5, math.inf)),
    ],
)
def test_what_is_asked_outside_its_range_certifies_nothing(question, words, numbers):
    for number in numbers:
        with pytest.raises(ValueError, match=words):
            getattr(Guarantee("dp", "replace", rate=1.0), question)(number)


@pytest.mark.parametrize("field", ["gdp_squared", "rate"])
def test_a_nan_is_not_a_guarantee(field):
    with pytest.raises(ValueError, match=field):
        Guarantee("dp", "replace", **{field: math.nan})
