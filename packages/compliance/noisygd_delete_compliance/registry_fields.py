"""The fields of the OpenDP deployments registry and of NIST SP 800-226, and their text as YAML."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from noisygd_delete.accountant import Accountant
from noisygd_delete.evidence.certificate import claim_to_json
from noisygd_delete.evidence.claims import KEYS, Claim, claim_sentence
from noisygd_delete.evidence.derivation import conditions_of
from noisygd_delete.evidence.erasure import from_data_of, is_on_calendar, ledger_status
from noisygd_delete.evidence.store_claims import claims_of_store
from noisygd_delete.methods.plan import Plan
from noisygd_delete.privacy.guarantee import Guarantee
from noisygd_delete.reports import common
from noisygd_delete.store.ledger import Ledger
from noisygd_delete.version import __version__

from .case import RegisterPolicy


def fields(ledger: Ledger, policy: RegisterPolicy) -> dict[str, Any]:
    """Return the registry fields as JSON types; each figure has one neighbouring relation."""
    plan, problem = ledger.plan, ledger.plan.problem
    by_calendar, waiting = is_on_calendar(ledger), ledger_status(ledger).pending
    figures = claims_of_store(ledger.accountant, plan, by_calendar=by_calendar, waiting=waiting)
    shown = cumulative_guarantee(ledger.accountant, plan)
    figure_values = {key: _figure(claim) for key, claim in figures.items() if KEYS[key].role == "figure"}
    conditions = conditions_of(
        plan, ledger.accountant, from_data_of(ledger), ((event.mechanism, 1) for event in ledger.events)
    )
    return {
        "software": f"noisygd-delete {__version__}",
        "flavour": "Rényi and Gaussian differential privacy; (ε, δ) follows from them",
        "model": "central, many releases",
        "input_metric": {
            "unit": claim_sentence(Claim("rows-per-person", {"rows_per_person": problem.rows_per_subject})),
            "neighbours": str(problem.adjacency),
        },
        "output_measure": {
            "this_release": figure_values["present.one"],
            **({"all_releases_together": figure_values["present.all"]} if "present.all" in figure_values else {}),
        },
        "deletion_figure": {
            "notion": str(problem.deletion_notion),
            "later_models_alone": figure_values["erased.later"],
            "every_model_kept": figure_values["erased.all"],
        },
        "data_domain": {
            "slots": problem.records,
            "features": problem.features,
            "row_norm_at_most": plan.problem.loss.radius,
            "loss": plan.problem.loss.name,
        },
        "unprotected": [
            "number of slots",
            "schema and its bounds",
            "classes",
            "number, kinds and times of edits and releases",
        ],
        "parameters": {
            "per_release": str(common.format_budget(plan)),
            "enforced": plan.problem.is_capped,
            "justification": _check_statement(policy.justification, "justification"),
        },
        "releases": {
            "type": "weights of a model",
            "kind": "dynamic",
            "number": ledger.releases,
            "access": _check_statement(policy.models, "models"),
            "post_processing": "weights are rounded to a public grid",
        },
        "composition": "all releases are accounted together; releases of other programs are not",
        "pre_processing": "record by record",
        "not_counted": ["tuning on the data", "releases made elsewhere from the same data"],
        "mechanism": {
            "method": plan.method.name,
            "proof": shown.source.split(" + "),
            "constants": "proven" if shown.proven else "declared by the user",
            "assumptions": [claim_sentence(claim) for claim in conditions],
        },
        "not_a_claim": claim_sentence(Claim("not-anonymous", {})),
    }


def _figure(claim: Claim) -> dict[str, Any]:
    """Return a figure with its neighbouring relation, unit and conditions; bounds rounded up, null if there is none."""
    values = claim_to_json(claim)["values"]
    kept = ("worlds", "rows_per_person", "of_hundred", "advantage", "epsilon", "delta", "order", "renyi", "gdp")
    conditions = [claim_sentence(Claim(key, {})) for key in claim.conditions]
    return {name: values[name] for name in kept} | {"holds_only_if": conditions}


def _check_statement(text: str | None, option: str) -> str:
    return text or f"not stated by the operator; state it with: noisygd-delete register settings STORE --{option} TEXT"


def to_yaml(value: Mapping[str, Any], indent: str = "") -> str:
    """Return nested fields as YAML 1.2; texts are written as JSON strings, which YAML reads unchanged."""
    lines = []
    for name, inner in value.items():
        if isinstance(inner, Mapping) and inner:
            lines += [f"{indent}{name}:", to_yaml(inner, indent + "  ").rstrip("\n")]
        elif isinstance(inner, (list, tuple)) and inner:
            lines += [f"{indent}{name}:", *(f"{indent}  - {_scalar(one)}" for one in inner)]
        else:
            lines.append(f"{indent}{name}: {_scalar(inner)}")
    return "\n".join(lines) + "\n"


def _scalar(value: Any) -> str:
    if isinstance(value, float):  # older YAML parsers read 1e-06 as a text; all read 1.0e-06 as a number
        mantissa, mark, exponent = repr(value).partition("e")
        return f"{mantissa}{'.0' if mark and '.' not in mantissa else ''}{mark}{exponent}"
    return json.dumps(value, ensure_ascii=False)


def cumulative_guarantee(accountant: Accountant, plan: Plan) -> Guarantee:
    """Return the guarantee of a present record over all models; before the first, that of the plan."""
    return accountant.dp_cumulative() if accountant.releases else plan.dp
