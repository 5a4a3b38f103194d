"""What a deployment says of itself: read back by an independent YAML reader, its figures those of the accountant, rounded up."""

from __future__ import annotations

import html
import json
import re
import shutil
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as some
from noisygd_delete_compliance.case import RegisterPolicy, RequestCase
from noisygd_delete_compliance.model_card import assessment, model_card
from noisygd_delete_compliance.register import Register
from noisygd_delete_compliance.registry_fields import fields, to_yaml
from noisygd_delete_compliance.request_rows import register_lines

from noisygd_delete import EditRequest
from noisygd_delete.cli import main
from noisygd_delete.evidence.claims import Claim, claim_sentence
from noisygd_delete.evidence.erasure import ledger_of
from noisygd_delete.privacy.sentences import success_per_hundred
from noisygd_delete.store import Store
from tests.store.conftest import SCHEMA, name, plan, records

PRACTICE = RegisterPolicy(purposes="prices", models="price-1", contact="desk@example.org", justification="ε <small>")
VALUES = some.one_of(
    some.none(),
    some.booleans(),
    some.integers(),
    some.floats(allow_nan=False, allow_infinity=False),
    some.text(max_size=20).filter(str.isprintable),
)


@given(some.dictionaries(some.from_regex("[a-z_]{1,8}_", fullmatch=True), some.one_of(VALUES, some.lists(VALUES, min_size=1, max_size=3),
       some.dictionaries(some.from_regex("[a-z]{1,5}_", fullmatch=True), VALUES, min_size=1, max_size=3)), min_size=1, max_size=4))  # fmt: skip
def test_an_independent_reader_reads_the_same(made: dict) -> None:
    assert yaml.safe_load(to_yaml(made)) == made  # texts that a page can show: no field holds another


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("registry") / "store"
    with Store.create(path, records(), SCHEMA, plan()) as made:
        made.learn()
        case = RequestCase(received="2020-05-04T09:30:00+02:00", recipients=2, backups_until="2020-09-01")
        made.serve(
            EditRequest.delete([name(3)], request_id="secret-token"), note=Register(made.request_log).adding(case)
        )
        Register(made.request_log).adopt(PRACTICE)
    return path


def test_proofs_and_constants_are_those_of_every_release(store: Path, tmp_path: Path) -> None:
    """Of a plan that was changed, earlier models stay where they are."""
    shutil.copytree(store, tmp_path / "store")
    with Store.open(tmp_path / "store") as opened:
        before = fields(opened.ledger, PRACTICE)["mechanism"]
        opened.relearn(plan(method="output-perturbation"))
        made = fields(opened.ledger, PRACTICE)["mechanism"]
        card = html.unescape(model_card(opened.ledger, PRACTICE, []))
    assert set(before["proof"]) < set(made["proof"])
    assert all(proof in card for proof in made["proof"])


def test_every_field_is_there_and_every_figure_is_the_accountants(store: Path) -> None:
    ledger = ledger_of(store)
    made = fields(ledger, PRACTICE)
    assert yaml.safe_load(to_yaml(made)) == json.loads(json.dumps(made))
    wanted = {"flavour", "input_metric", "output_measure", "data_domain", "unprotected", "parameters", "releases", "composition",
              "pre_processing", "mechanism", "deletion_figure", "not_counted"}  # fmt: skip
    assert wanted <= set(made)
    together = made["output_measure"]["all_releases_together"]
    truth = ledger.accountant.dp_cumulative().with_slack()
    assert truth.gdp <= together["gdp"] <= truth.gdp * (1 + 1e-9)
    order = together["order"]
    assert truth.renyi(order) <= together["renyi"] <= truth.renyi(order) * (1 + 1e-9)
    assert {made["output_measure"][name]["worlds"] for name in made["output_measure"]} == {
        ledger.plan.problem.adjacency
    }
    assert (
        "register settings STORE --justification TEXT"
        in fields(ledger, RegisterPolicy())["parameters"]["justification"]
    )


def test_both_observers_stand_there_each_with_its_unit_and_its_condition(store: Path) -> None:
    ledger = ledger_of(store)
    told = fields(ledger, PRACTICE)["deletion_figure"]
    later, every = told["later_models_alone"], told["every_model_kept"]
    truth = ledger.accountant.deletion(1, ledger.releases).with_slack()
    assert truth.gdp <= every["gdp"] <= truth.gdp * (1 + 1e-9)
    assert later["gdp"] < every["gdp"]
    for figure, keys in ((later, ("requests-blind", "target-fixed")), (every, ("target-fixed", "schedule-fixed"))):
        assert figure["holds_only_if"] == [claim_sentence(Claim(key, {})) for key in keys]
    assert later["rows_per_person"] == every["rows_per_person"] == ledger.plan.problem.rows_per_subject
    card = html.unescape(model_card(ledger, PRACTICE, []))
    for figure in (later, every):
        assert figure["of_hundred"] >= success_per_hundred(figure["advantage"] * (1 - 1e-9))
        assert f"right at most {figure['of_hundred']} times in 100" in card
        assert all(condition in card for condition in figure["holds_only_if"])
    first, annex = card.split("Annex: the figures")
    for symbol in ("ε", "δ", "erased-vs-never", "zero-out", "replace (", "Rényi", "λ"):
        assert symbol not in first
    assert "(ε=" in annex
    assert "present." not in card
    assert "erased." not in card.replace("erased.</li>", "")
    assert (
        re.search(r"[{}\[\]_]", re.sub(r"<style>.*?</style>|<!--.*?-->", "", first, flags=re.S)) is None
    )  # sentences, no YAML


def test_the_sheets_say_what_was_stated_and_claim_nothing_more(store: Path) -> None:
    ledger, lines = ledger_of(store), register_lines(store)
    card = model_card(ledger, PRACTICE, lines, key="0123456789abcdef")
    annex = assessment(
        ledger, PRACTICE, lines, audit=[{"name": "a", "measured_lower_bound": 0.01, "claimed_advantage": 0.2}]
    )
    assert re.search(
        r"a model that says nothing loses \(?0\.6931", card
    )  # a bound in a unit nobody knows stands beside that
    for page in (card, annex):
        text = re.sub(r"<style>.*?</style>", "", page, flags=re.S)
        assert "secret-token" not in text
        assert "identifier-token" not in text
        assert "<small>" not in text  # escaped
        for claim in ("is anonymous", "GDPR-compliant", "forgotten", "no personal data"):
            assert claim not in text.replace("not a statement that the model is anonymous", "")
    assert "0123456789abcdef" in card
    assert "1 in the register, 1 overdue" in card
    odds = success_per_hundred(ledger.accountant.dp_cumulative(adjacency="zero-out").with_slack().advantage)
    assert f"kept every model is right at most {odds} times in 100" in annex
    assert "if nothing that was seen decided when a model was published" in annex
    assert "1 September 2020" in annex
    assert "measured at least 0.01" in annex


def test_on_the_command_line(store: Path, tmp_path: Path, capsys) -> None:
    files = [str(tmp_path / name) for name in ("d.yaml", "card.html", "annex.html")]
    asked = ["--registry", files[0], "--model-card", files[1], "--assessment", files[2]]
    for _ in range(2):  # an earlier output of its kind is written over
        assert main(["document", str(store), *asked]) == 0
    assert yaml.safe_load(Path(files[0]).read_text())["releases"]["number"] == 2
    assert main(["document", str(store), *asked[2:], "--language", "de"]) == 0
    assert [Path(file).read_text().count('<html lang="de">') for file in files[1:]] == [1, 1]
    assert main(["document", str(store)]) == 2
    assert "name what to write" in capsys.readouterr().err
    assert main(["document", str(store), "--registry", files[1]]) == 2
    assert main(["document", str(store), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["releases"]["number"] == 2
    assert main(["document", str(store), "--registry", files[0], "--model-card", files[0]]) == 2
