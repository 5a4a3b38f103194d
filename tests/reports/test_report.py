"""Erasure certificates and reports: right numbers, altered papers caught, nothing personal."""

from __future__ import annotations

import json
import math
import re
import subprocess

import pytest
from scipy.stats import norm

from noisygd_delete import Curator, Guarantee
from noisygd_delete.accountant import Event
from noisygd_delete.errors import InvalidParameter
from noisygd_delete.evidence import Erasure, derivation, erasure_certificate, new_key, sign_document, verify_certificate
from noisygd_delete.evidence.canonical import canonical_bytes
from noisygd_delete.evidence.signing import signed_by
from noisygd_delete.records import EditCounts
from noisygd_delete.reports import certificate_html, store_report
from noisygd_delete.reports.html import PAGE

from ..bank import FURTHER, plan_by, unit_records
from ..evidence.reading_papers import figure, keys
from .certificate_mutations import leaves, with_value
from .histories import releases, usual_plan

EDITS = (1, 3, 1, 2)
ERASURE = Erasure(
    rows=2,
    release=3,
    request_id="5b0c7e",
    received="2026-01-31T10:00:00Z",
    served="2026-02-02T12:00:00+02:00",
    controller="Example Ltd",
    checked="the store is whole",
    audit=({"name": "membership", "measured_lower_bound": 0.02, "claimed_advantage": 0.4},),
)


def ledger(plan):
    return releases(plan, *(EditCounts(unrecorded=edits) for edits in EDITS))


@pytest.fixture
def plan():
    return usual_plan()


@pytest.fixture
def certificate(plan, key):
    return json.loads(json.dumps(sign_document(erasure_certificate(ERASURE, plan=plan, events=ledger(plan)), key)))


def gdp_of(plan, lipschitz_factor, steps_with, steps_without):
    """μ of one interval, straight from the printed formula, with the rounding slack."""
    numbers = plan.calibration
    c = 1 - numbers.step_size * plan.problem.regularization
    ratio = (
        numbers.step_size
        * lipschitz_factor
        / plan.problem.records
        / math.sqrt(2 * numbers.step_size * numbers.noise_variance)
    )
    total = steps_with + steps_without
    mu = ratio * c**steps_without * (1 - c**steps_with) / (1 - c) * math.sqrt((1 - c**2) / (1 - c ** (2 * total)))
    return mu * (1 + plan.mechanism.slack)


def test_the_figures_are_those_of_the_formulas(plan, certificate):
    found = {key: figure(certificate, key) for key in ("erased.later", "erased.all", "present.all")}
    learn, delete = plan.calibration.learn_steps, plan.calibration.delete_steps
    later = gdp_of(plan, 1, learn + delete, delete)
    every = math.hypot(gdp_of(plan, 1, learn, 0), gdp_of(plan, 1, delete, 0), gdp_of(plan, 1, 0, delete))
    # release 3 served the erasure: its steps ran without the record, from the observed release 2
    assert found["erased.later"]["gdp"] >= later, "the formulas are over the reals, the figures with their roundings"
    assert found["erased.later"]["gdp"] == pytest.approx(later, rel=5e-4)
    assert found["erased.all"]["gdp"] == pytest.approx(every, rel=5e-4)
    existing = math.hypot(gdp_of(plan, 2, learn, 0), *[gdp_of(plan, 2, delete, 0)] * 4)
    assert found["present.all"]["gdp"] == pytest.approx(existing, rel=5e-4)
    assert found["erased.later"]["advantage"] == pytest.approx(2 * norm.cdf(later / 2) - 1, rel=5e-4)
    assert found["erased.later"]["renyi"] == pytest.approx(8 * later**2 / 2, rel=5e-4)


@pytest.mark.parametrize(
    "options",
    [
        {"method": name}
        for name in ("noisy-gd:analysis=paper", "noisy-gd", "output-perturbation", "objective-perturbation")
    ],
)
@pytest.mark.parametrize("status", ["published", "withheld", "pending"])
def test_every_status_and_certificate_verifies(options, status, key):
    plan = usual_plan(**options)
    erasure = Erasure(rows=1, release=2 if status == "published" else None, status=status)
    paper = sign_document(erasure_certificate(erasure, plan=plan, events=ledger(plan)), key)
    assert verify_certificate(json.loads(json.dumps(paper)), public_key=f"{key}.pub").passed
    assert ("erased.later" in keys(paper)) == (status == "published")
    certificate_html(paper)
    store_report(plan=plan, events=ledger(plan))


def test_a_release_with_too_few_steps_gets_no_certificate(plan):
    events = ledger(plan)
    events[1] = Event("unlearn", plan.calibration.delete_steps - 1, 1, plan.mechanism)
    with pytest.raises(InvalidParameter, match="fewer than its plan"):
        erasure_certificate(Erasure(rows=1, release=2), plan=plan, events=events)


def altered(document, path, value):
    if isinstance(value, bool):
        return with_value(document, path, not value)
    return with_value(document, path, (value * 0.5 if value else 1) if isinstance(value, (int, float)) else f"{value}x")


def facts_of(certificate):
    """(path, value) of all that was signed, lists and objects aside."""
    signed = {name: block for name, block in certificate.items() if name != "signature"}
    return [(path, value) for path, value in leaves(signed) if not isinstance(value, (dict, list))]


def test_any_change_breaks_the_signature(certificate):
    for path, value in facts_of(certificate):
        assert signed_by(altered(certificate, path, value)) is None, path


def test_the_expected_signer_matters(certificate, tmp_path):
    other = tmp_path / "other.pem"
    new_key(other)
    assert verify_certificate(certificate).passed
    assert not verify_certificate(certificate, public_key=f"{other}.pub").passed
    unsigned = {name: block for name, block in certificate.items() if name != "signature"}
    assert not verify_certificate(unsigned).passed


def test_a_dropped_or_added_block_fails(certificate, key):
    for block in certificate:
        if block != "signature":
            rest = {name: value for name, value in certificate.items() if name != block}
            assert not verify_certificate(sign_document(rest, key)).passed
    assert not verify_certificate(sign_document({**certificate, "extra": 1}, key)).passed


def test_the_model_file_is_compared(plan, key, tmp_path):
    model = tmp_path / "model.safetensors"
    model.write_bytes(b"weights")
    digest = "0a9de5b8a19a8c7c7bcb1a6ee4a9e4c2" * 2  # not the digest of these bytes
    paper = sign_document(
        erasure_certificate(Erasure(rows=1, release=2, model_after=digest), plan=plan, events=ledger(plan)), key
    )
    assert not verify_certificate(paper, model=model).passed
    digest = subprocess.run(["sha256sum", model], capture_output=True, text=True, check=True).stdout.split()[0]
    paper = sign_document(
        erasure_certificate(Erasure(rows=1, release=2, model_after=digest), plan=plan, events=ledger(plan)), key
    )
    assert verify_certificate(paper, model=model).passed


@pytest.mark.parametrize(
    ("received", "deadline"),
    [
        ("2026-12-15T00:00:00Z", "2027-01-15"),
        ("2028-01-30T00:00:00Z", "2028-02-29"),
        ("2026-03-31T01:00:00+02:00", "2026-04-30"),  # still 30 March in UTC, which would give 1 May 01:00 local time
        ("2026-03-30T23:30:00Z", "2026-04-30"),
        ("2026-01-31T10:00:00Z", "2026-03-02"),  # 28 February 2026 is a Saturday: the next working day
        ("2026-04-16T23:59:59-11:00", "2026-05-18"),  # a Saturday
        ("2026-05-14T00:00:00+14:00", "2026-06-15"),  # a Sunday
        ("2027-12-31T12:00:00Z", "2028-01-31"),
    ],
)
def test_the_deadline_is_the_end_of_a_working_day_a_calendar_month_later(received, deadline):
    """Regulation 1182/71, Article 3; the local day of receipt counts, not the one in UTC."""
    assert Erasure(rows=1, release=1, received=received).deadline == deadline


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"release": 1}, "covers 0 edits"),
        ({"release": 9}, "not in the ledger"),
        ({"release": 2, "rows": 5}, "fewer than the 5 rows"),
        ({"release": None}, "contradict"),
        ({"release": 2, "status": "withheld"}, "contradict"),
        ({"release": 2, "received": "2026-01-31T10:00:00"}, "time zone"),
        ({"release": 2, "received": "yesterday"}, "ISO 8601"),
        ({"release": 2, "rows": 0}, "rows"),
    ],
)
def test_contradicting_facts_are_refused(plan, facts, message):
    with pytest.raises(InvalidParameter, match=message):
        erasure_certificate(Erasure(**{"rows": 1, **facts}), plan=plan, events=ledger(plan))


def test_nothing_about_the_records_reaches_the_papers(key):
    """Two curators with different people, ids, rows and labels: the same papers, byte for byte but for the id and time."""
    papers = []
    for seed, prefix in ((0, "ada-lovelace"), (1, "grace-hopper")):
        records = unit_records(2000, 12, seed, ids=[f"{prefix}-{i}" for i in range(2000)])
        curator = Curator(records, usual_plan())
        curator.learn()
        curator.delete([f"{prefix}-7"])
        facts = {"plan": curator.plan, "events": curator.accountant.events}
        paper = erasure_certificate(Erasure(rows=1, release=2), issued="2026-05-04T09:30:00Z", **facts)
        paper["identity"]["certificate_id"] = "same"
        papers.append((canonical_bytes(paper), certificate_html(paper), store_report(**facts)))
    assert papers[0] == papers[1]
    assert not any(name in str(papers) for name in ("lovelace", "hopper"))


def test_pages_escape_what_they_are_given_and_fetch_nothing(plan):
    paper = erasure_certificate(
        Erasure(rows=1, release=2, controller="<script>alert(1)</script>"), plan=plan, events=ledger(plan)
    )
    pages = certificate_html(paper), store_report(plan=plan, events=ledger(plan), title="<img src=x>")
    for page in pages:
        assert "<script" not in page
        assert "<img" not in page
        links = re.findall(r"""(?:src|href)=["']([^"'#][^"']*)|url\(([^#)][^)]*)\)|@import""", page)
        assert not links
        assert page.startswith(PAGE.decode())
        assert page.count("Content-Security-Policy") == page.count("default-src &#39;none&#39;; style-src &#39;") == 1
        assert '<meta name="referrer" content="no-referrer">' in page


def test_a_bound_that_does_not_exist_is_null_and_not_a_number(plan):
    known_at_four = Guarantee(about="deletion", adjacency="erased-vs-never", points=((4.0, 0.5),))
    told = derivation.figure_claim(
        "erased.all", known_at_four, plan, rows=1, whole=False, delta=1e-6, by_calendar=False
    )
    assert plan.problem.budget.order > 4
    assert told.values["renyi"] is None
    canonical_bytes(told.to_dict())


def test_reports_cover_empty_spent_and_relearned_stores(plan):
    assert "0 releases" in store_report(plan=plan, events=[])
    other = usual_plan("noisy-gd:analysis=paper", releases=3)
    events = [*ledger(plan)[:2], Event("relearn", other.calibration.learn_steps, 0, other.mechanism)]
    page = store_report(plan=other, events=events, times=["a", "b", "c"], audit=ERASURE.audit)
    assert page.count("<svg") == 1
    assert "publication(s) left" in page


@pytest.mark.parametrize("name", FURTHER)
def test_the_report_is_of_every_loss(name):
    further = plan_by(name)
    learned = Event("learn", further.calibration.learn_steps, 0, further.mechanism)
    shown = store_report(plan=further, events=[learned])
    assert (
        f"{further.problem.loss.name}, R={further.problem.loss.radius:g}, λ={further.problem.regularization:g}" in shown
    )
