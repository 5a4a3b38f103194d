"""A paper holds if what it claims is at least what can be proven: nothing else that a later version changes breaks it, and nothing less does."""

from __future__ import annotations

import base64
import copy
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from noisygd_delete.accountant import Event
from noisygd_delete.bounds import shifted_interpolation, theorem_5_1
from noisygd_delete.errors import InvalidParameter
from noisygd_delete.evidence import claims, erasure_certificate, signing, verify_certificate
from noisygd_delete.evidence.claims import Claim, claim_sentence
from noisygd_delete.evidence.envelope import make_envelope, open_envelope
from noisygd_delete.evidence.facts import Erasure
from noisygd_delete.evidence.notices import Notices
from noisygd_delete.evidence.signing import read_private, sign_document, signed_by
from noisygd_delete.methods import objective_perturbation_noise, objective_perturbation_run, output_perturbation
from noisygd_delete.privacy.guarantee import Guarantee
from noisygd_delete.records import EditCounts, limited_io

from ..bank import plan_by
from ..reports.certificate_mutations import dumped
from ..reports.histories import history
from ..reports.test_certificate_mutations import papers
from .reading_papers import figure, keys, said

METHODS = {  # method -> status of the request
    "noisy-gd:analysis=paper": "published", "noisy-gd": "published", "noisy-gd, over the reals": "published", "output-perturbation, over the reals": "withheld",
    "objective-perturbation": "published", "noisy-gd:analysis=composition": "published", "staged with a head": "pending", "noisy-gd:analysis=theorem-5-2": "published", "mixed": "published",
}  # fmt: skip


@pytest.fixture(scope="module")
def issued(key: Path) -> dict[str, str]:
    """The files of certificates of every method, written before anything is changed."""
    return {method: dumped(sign_document(papers(status, method), key)) for method, status in METHODS.items()}


def broken(issued: dict[str, str]) -> set[str]:
    """The certificates that do not hold."""
    return {name for name, text in issued.items() if not verify_certificate(limited_io.parse_json(text)).passed}


def test_certificates_of_several_methods_hold(issued: dict[str, str]) -> None:
    assert broken(issued) == set()


def reworded(monkeypatch: pytest.MonkeyPatch) -> None:
    words = copy.deepcopy(claims.load_catalogue("en"))
    words["claims"]["not-covered.backups"] = "backups and whatever else there is"
    monkeypatch.setattr(claims, "load_catalogue", lambda _: words)
    assert claim_sentence(Claim("not-covered.backups", {})) == "backups and whatever else there is"


def other_forecast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output_perturbation, "forecast_passes", lambda problem: 3)


def other_share_of_output_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(objective_perturbation_noise, "_OUTPUT_SHARE", 0.005)


def other_share_of_tolerance(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output_perturbation, "_SHARE", 0.009)


@pytest.mark.parametrize("edit", [reworded, other_forecast, other_share_of_output_noise, other_share_of_tolerance])
def test_words_forecasts_and_tuning_break_no_paper(
    edit: Callable[..., None], issued: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    edit(monkeypatch)
    assert broken(issued) == set()


TIGHTER, LOOSER = 0.97, 1.03
BOUNDS = {  # a bound, and the certificates whose figures rest on it
    "gdp": (shifted_interpolation, {"noisy-gd", "noisy-gd, over the reals", "mixed"}),
    "minimiser_dp_gdp": (shifted_interpolation, {"output-perturbation, over the reals", "staged with a head"}),
    "deletion_rate": (theorem_5_1, {"noisy-gd:analysis=paper", "mixed"}),
    "composition_rate": (
        theorem_5_1,
        {"noisy-gd:analysis=composition", "staged with a head", "noisy-gd:analysis=theorem-5-2"},
    ),
}


@pytest.mark.parametrize("name", BOUNDS)
def test_a_tighter_bound_breaks_no_paper_and_a_looser_one_those_that_rest_on_it(
    name: str, issued: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    module, resting = BOUNDS[name]
    right = getattr(module, name)
    monkeypatch.setattr(module, name, lambda **facts: right(**facts) * TIGHTER)
    assert broken(issued) == set()
    monkeypatch.setattr(module, name, lambda **facts: right(**facts) * LOOSER)
    assert broken(issued) == resting
    for each in resting:
        answer = verify_certificate(limited_io.parse_json(issued[each])).text()
        assert any(figure in answer for figure in ("present.", "erased.", "replaced.", "budget"))


def test_a_looser_curve_of_the_default_method_is_named(issued: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    right = objective_perturbation_run.ObjectivePerturbationRun.curve

    def looser(self: Any, worlds: Any) -> Any:
        curve = right(self, worlds)
        return replace(
            curve, rate=curve.rate * 1.1, gdp_squared=None if curve.gdp_squared is None else curve.gdp_squared * 1.1
        )

    monkeypatch.setattr(objective_perturbation_run.ObjectivePerturbationRun, "curve", looser)
    assert broken(issued) == {"objective-perturbation", "mixed"}


def test_a_condition_that_is_found_to_be_needed_breaks_the_papers_without_it(
    issued: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    right = objective_perturbation_run.ObjectivePerturbationRun.conditions
    monkeypatch.setattr(
        objective_perturbation_run.ObjectivePerturbationRun,
        "conditions",
        lambda self: (*right(self), ("samples-unseen", {})),
    )
    assert broken(issued) == {"objective-perturbation", "mixed"}
    monkeypatch.setattr(objective_perturbation_run.ObjectivePerturbationRun, "conditions", lambda self: right(self)[:2])
    assert broken(issued) == set()  # one that is needed no more stands there and does no harm


def paper_of(method: str, seed: int = 4, **facts: Any) -> dict[str, Any]:
    plan, events, number = history(method, seed)
    return erasure_certificate(
        Erasure(**{"rows": 2, "replaced": 1, "release": number, **facts}),
        plan=plan,
        events=events,
        issued="2026-11-23T00:00:00Z",
    )


def test_a_mixed_history_carries_the_conditions_of_every_method() -> None:
    """Both ways round: exact noise beside bounds over the real numbers, each said of its own releases."""
    mixed = papers("published", "mixed")
    named = {(claim["key"], claim["values"].get("method")) for claim in mixed["claims"]}
    assert {
        ("exact-steps", "noisy-gd-tight"),
        ("exact-steps", "noisy-gd-paper"),
        ("exact-noise", "objective-perturbation"),
        ("time-unseen", "objective-perturbation"),
    } <= named
    assert ("time-unseen", "noisy-gd-tight") not in named


def test_ranges_read_off_the_data_are_named() -> None:
    for columns, name in ((("age", "pay"), "ranges-from-data"), ((), "ranges-public"), (None, "ranges-unknown")):
        paper = paper_of("noisy-gd", from_data=columns)
        assert keys(paper) & {"ranges-from-data", "ranges-public", "ranges-unknown"} == {name}
        assert ("age, pay" in said(paper)) == (name == "ranges-from-data")
        assert "not read off" not in said(paper)


def test_a_figure_is_about_a_person_only_when_all_rows_are_gone() -> None:
    plan, events, number = history("noisy-gd", 4)
    several = plan.changed(rows_per_subject=3)
    run = several.mechanism
    events = [
        replace(event, mechanism=run) if event.mechanism.method == "noisy-gd-tight" else event for event in events
    ]
    for remaining, unit, remark in (
        (0, "person", "person-gone"),
        (2, "row", "rows-remain"),
        (None, "row", "rows-may-remain"),
    ):
        erasure = Erasure(rows=2, replaced=1, release=number, remaining=remaining)
        paper = erasure_certificate(erasure, plan=several, events=events)
        assert figure(paper, "erased.later")["unit"] == unit
        assert remark in keys(paper)
        assert figure(paper, "replaced.later")["unit"] == "row"
    assert "not about the person" in said(paper)


def test_a_figure_that_counts_one_row_of_a_release_is_not_about_a_person_of_several() -> None:
    """A plan for persons of one row first, then one for persons of three: of all models only single rows are known."""
    plan, events, _ = history("noisy-gd", 4)
    several = plan.changed(rows_per_subject=3)
    events = [
        *events,
        Event("relearn", several.calibration.learn_steps, 0, several.mechanism),
        Event("unlearn", several.calibration.delete_steps, 2, several.mechanism, EditCounts(deleted=2)),
    ]
    erasure = Erasure(rows=2, release=len(events), remaining=0)
    paper = erasure_certificate(erasure, plan=several, events=events)
    units = {key: figure(paper, key)["unit"] for key in ("erased.later", "erased.all", "present.one", "present.all")}
    assert units == {"erased.later": "person", "erased.all": "row", "present.one": "person", "present.all": "row"}


def test_a_model_that_is_withdrawn_is_not_said_to_be_in_use() -> None:
    for status, said_so in (("withheld", False), ("pending", True)):
        assert ("model-in-use" in keys(paper_of("noisy-gd", status=status, release=None))) == said_so


def test_of_a_ladder_what_is_kept_is_not_said_to_be_computed_without_the_record() -> None:
    paper = paper_of("staged", notices=Notices(withdrawn="2026-11-20"))
    assert {"published.kept", "model-withdrawn.kept"} < keys(paper)
    assert "model-withdrawn" not in keys(paper)
    assert "left.base" in keys(paper)
    assert "models in use still carry it" in said(paper)


def test_no_delta_is_stated_that_means_nothing() -> None:
    plan, events, number = history("noisy-gd", 4)
    erasure = Erasure(rows=2, replaced=1, release=number)
    for delta in (0.9, 0.011, 0.0, float("nan")):
        with pytest.raises(InvalidParameter):
            erasure_certificate(erasure, plan=plan, events=events, delta=delta)
    assert "delta-large" in keys(erasure_certificate(erasure, plan=plan, events=events, delta=2 / plan.problem.records))
    assert "delta-large" not in keys(
        erasure_certificate(erasure, plan=plan, events=events, delta=0.9 / plan.problem.records)
    )


def test_a_model_read_before_the_deletion_is_not_certified(key: Path) -> None:
    source = {"deleted_at": "version:7", "counted": "versions"}
    paper = sign_document(paper_of("noisy-gd", read_at="version:8", **source), key)
    assert verify_certificate(json.loads(json.dumps(paper))).passed
    with pytest.raises(InvalidParameter, match="does not show the deletion"):
        paper_of("noisy-gd", read_at="version:6", **source)
    forged = {**paper, "evidence": {**paper["evidence"], "read_at": "version:6"}}
    forged["claims"] = [
        {**claim, "values": {**claim["values"], "read_at": "version:6"}} if claim["key"] == "source.order" else claim
        for claim in paper["claims"]
    ]
    assert not verify_certificate(sign_document(forged, key)).passed


def test_an_old_model_at_a_publisher_is_told_of_while_pending() -> None:
    plan, events, _ = history("noisy-gd", 4)
    place = {"kind": "folder", "release": 1, "oldest": 1}
    paper = erasure_certificate(
        Erasure(rows=1, release=None, status="pending", publishers=(place,)), plan=plan, events=events
    )
    assert figure(paper, "elsewhere.left")["left"] == 1
    assert "elsewhere.none" not in keys(paper)


def test_the_subject_of_an_envelope_is_bound_to_its_certificate(key: Path) -> None:
    """Another model's digest under an honest certificate, signed by the right key."""
    paper = sign_document(paper_of("noisy-gd", model_after="2" * 64), key)
    good = make_envelope(paper, key)
    inside = json.loads(base64.b64decode(good["payload"]))
    inside["subject"][0]["digest"]["sha256"] = "4" * 64
    from noisygd_delete.evidence.canonical import canonical_bytes
    from noisygd_delete.evidence.envelope import PAYLOAD, pre_authentication_encoding

    body = canonical_bytes(inside)
    signature = base64.b64encode(read_private(key).sign(pre_authentication_encoding(PAYLOAD, body))).decode()
    forged = {
        **good,
        "payload": base64.b64encode(body).decode(),
        "signatures": [{**good["signatures"][0], "sig": signature}],
    }
    assert open_envelope(good)[1].passed
    assert not open_envelope(forged)[1].passed
    assert "not the one that this certificate gives" in open_envelope(forged)[1].detail


def test_an_envelope_has_one_form(key: Path) -> None:
    good = make_envelope(sign_document(paper_of("noisy-gd", model_after="2" * 64), key), key)
    assert open_envelope(good)[1].passed
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    sig = good["signatures"][0]["sig"]
    loose = sig[:-3] + alphabet[alphabet.index(sig[-3]) ^ 1] + "=="  # bits that decoding ignores
    assert base64.b64decode(loose) == base64.b64decode(sig)
    assert not open_envelope({**good, "signatures": [{**good["signatures"][0], "sig": loose}]})[1].passed


@pytest.mark.parametrize(
    "point",
    [
        "00" * 32, "01" + "00" * 31, "ec" + "ff" * 30 + "7f", "00" * 31 + "80",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    ],
)  # fmt: skip
def test_a_key_of_small_order_signs_nothing(point: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """For such a "key" a signature of the neutral element and 0 fits a large share of all documents, or all of them."""
    import hashlib

    raw = bytes.fromhex(point)
    paper = paper_of("noisy-gd")
    for number in range(12):
        paper["identity"]["controller"] = f"Nobody {number}"
        block = {
            "algorithm": "Ed25519 over canonical JSON (RFC 8785)",
            "key_id": hashlib.sha256(raw).hexdigest()[:16],
            "public_key": base64.b64encode(raw).decode(),
            "value": base64.b64encode(bytes([1, *[0] * 63])).decode(),
        }
        assert signed_by({**paper, "signature": block}) is None
    if point == "01" + "00" * 31:  # power: without that list the last document is "signed"
        monkeypatch.setattr(signing, "_OF_SMALL_ORDER", ())
        assert signed_by({**paper, "signature": block}) is not None


def test_a_guarantee_without_its_condition_is_not_derived(monkeypatch: pytest.MonkeyPatch, key: Path) -> None:
    """Power: a derivation that forgets the condition of later models makes papers that today's verifier refuses."""
    with monkeypatch.context() as patched:
        patched.setattr(Guarantee, "non_adaptive", property(lambda self: False))
        careless = sign_document(paper_of("noisy-gd"), key)
        assert verify_certificate(json.loads(json.dumps(careless))).passed
    answer = verify_certificate(json.loads(json.dumps(careless)))
    assert not answer.passed
    assert "requests-blind" in answer.text()
    assert plan_by("noisy-gd").method.name == "noisy-gd"
