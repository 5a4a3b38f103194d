"""What a deployment says of itself, in the fields of the OpenDP deployments registry and of NIST SP 800-226.

All of it comes from plan, ledger and register: figures are claims, written rounded up, each with the conditions that it holds under;
what only a person can say, and nobody said, stands there as not stated.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ..evidence.certificate import written
from ..evidence.claims import Claim, sentence
from ..evidence.deriving import conditions_of
from ..evidence.erasure import from_data_of, kept_to_calendar, standing
from ..evidence.standing import claims_of_store, shown_so_far
from ..register import Practice
from ..store.ledger import Ledger
from ..version import __version__
from . import common


def fields(ledger: Ledger, practice: Practice) -> dict[str, Any]:
    """The fields, in JSON's own types; one relation of neighbours to a figure."""
    plan, problem = ledger.plan, ledger.plan.problem
    by_calendar, waiting = kept_to_calendar(ledger), standing(ledger).pending
    figures = claims_of_store(ledger.accountant, plan, by_calendar=by_calendar, waiting=waiting)
    shown = shown_so_far(ledger.accountant, plan)
    told = {key: _figure(claim) for key, claim in figures.items()}
    conditions = conditions_of(plan, ledger.accountant, from_data_of(ledger))
    return {
        "software": f"noisygd-delete {__version__}",
        "flavour": "Rényi and Gaussian differential privacy; (ε, δ) follows from them",
        "model": "central, many releases",
        "input_metric": {
            "unit": sentence(Claim("rows-per-person", {"rows_per_person": problem.rows_per_subject})),
            "neighbours": str(problem.adjacency),
        },
        "output_measure": {
            "this_release": told["present.one"],
            **({"all_releases_together": told["present.all"]} if "present.all" in told else {}),
        },
        "deletion_figure": {
            "notion": str(problem.deletion_notion),
            "later_models_alone": told["erased.later"],
            "every_model_kept": told["erased.all"],
        },
        "data_domain": {
            "slots": problem.records,
            "features": problem.features,
            "row_norm_at_most": plan.loss.radius,
            "loss": plan.loss.name,
        },
        "unprotected": [
            "number of slots",
            "schema and its bounds",
            "classes",
            "number, kinds and times of edits and releases",
        ],
        "parameters": {
            "per_release": str(common.budget(plan)),
            "enforced": plan.capped,
            "justification": _stated(practice.justification, "justification"),
        },
        "releases": {
            "type": "weights of a model",
            "kind": "dynamic",
            "number": ledger.releases,
            "access": _stated(practice.models, "models"),
            "post_processing": "weights are rounded to a public grid",
        },
        "composition": "all releases are accounted together; releases of other programs are not",
        "pre_processing": "record by record",
        "not_counted": ["tuning on the data", "releases made elsewhere from the same data"],
        "mechanism": {
            "method": plan.method.name,
            "proof": shown.source.split(" + "),
            "constants": "proven" if shown.proven else "declared by the user",
            "assumptions": [sentence(claim) for claim in conditions],
        },
        "not_a_claim": sentence(Claim("not-anonymous", {})),
    }


def _figure(claim: Claim) -> dict[str, Any]:
    """A figure with its worlds, its unit and its conditions; bounds rounded up, null where there is none."""
    values = written(claim)["values"]
    kept = ("worlds", "rows_per_person", "of_hundred", "advantage", "epsilon", "delta", "order", "renyi", "gdp")
    conditions = [sentence(Claim(key, {})) for key in claim.conditions]
    return {name: values[name] for name in kept} | {"holds_only_if": conditions}


def _stated(text: str | None, option: str) -> str:
    return text or f"not stated by the operator; state it with: noisygd-delete register settings STORE --{option} TEXT"


def as_yaml(value: Mapping[str, Any], indent: str = "") -> str:
    """Nested fields as YAML 1.2: every text as JSON writes it, which YAML reads as the same text."""
    lines = []
    for name, inner in value.items():
        if isinstance(inner, Mapping) and inner:
            lines += [f"{indent}{name}:", as_yaml(inner, indent + "  ").rstrip("\n")]
        elif isinstance(inner, (list, tuple)) and inner:
            lines += [f"{indent}{name}:", *(f"{indent}  - {_scalar(one)}" for one in inner)]
        else:
            lines.append(f"{indent}{name}: {_scalar(inner)}")
    return "\n".join(lines) + "\n"


def _scalar(value: Any) -> str:
    if isinstance(value, float):  # 1e-06 is a text to older readers of YAML, 1.0e-06 a number to all
        mantissa, mark, exponent = repr(value).partition("e")
        return f"{mantissa}{'.0' if mark and '.' not in mantissa else ''}{mark}{exponent}"
    return json.dumps(value, ensure_ascii=False)
