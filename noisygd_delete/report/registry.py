"""What a deployment says of itself, in the fields that registries ask for, and the two sheets made from them.

The fields are those of the OpenDP deployments registry and of NIST SP 800-226; the sheets are a model card and an annex to a data
protection impact assessment (Article 35 GDPR). All of it comes from plan, ledger and register: figures are bounds, written
rounded up; what only a person can say, and nobody said, stands there as not stated.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any

from ..evidence.claims import Claim, sentence
from ..evidence.deriving import NOT_COVERED, conditions_of
from ..evidence.erasure import from_data_of, standing
from ..methods.plan import Plan
from ..privacy.guarantee import NON_ADAPTIVE
from ..privacy.shown import right_of_hundred
from ..records import NO_EDITS
from ..register import Line, Practice
from ..store import onward
from ..store.layout import Layout
from ..store.ledger import Ledger
from ..version import __version__
from .catalogue.readings import ORIGINAL, Reading, reading
from .figures import ORDER, figures
from .page import dated, figure, render
from .summary import accuracy

NOT_STATED = "not stated by the operator"
Section = tuple[str, list[tuple[str, Any]]]


class Stated(str):
    """The operator's own words, or a name: as they are in every language."""


def _stated(text: str | None) -> str:
    return NOT_STATED if text is None or text == "" else Stated(text)


def entry(ledger: Ledger, practice: Practice) -> dict[str, Any]:
    """The registry's fields, in JSON's own types; one relation of neighbours to a figure."""
    plan, accountant = ledger.plan, ledger.accountant
    problem = plan.problem
    order, delta = plan.budget.order or ORDER, plan.budget.shown_delta
    remaining = accountant.remaining()

    def told(guarantee: Any) -> dict[str, Any]:
        return figures(guarantee, order=order, delta=delta)

    released: dict[str, Any] = {"this_release": told(plan.dp)}
    if ledger.releases:
        released["all_releases_together"] = told(accountant.dp_cumulative())
    return {
        "software": Stated(f"noisygd-delete {__version__}"),
        "flavour": "Rényi and Gaussian differential privacy; (ε, δ) follows from them",
        "model": "central, many releases",
        "input_metric": {
            "unit": f"one person, at most {problem.rows_per_subject} row(s): the operator's assertion",
            "neighbours": f"{problem.adjacency}: a record replaced by {'another' if problem.adjacency == 'replace' else 'an empty one'}; the number of slots is public",
        },
        "output_measure": released,
        "deletion_figure": {
            "about": "erased records only",
            "notion": Stated(problem.deletion_notion),
            "holds_only_if": NON_ADAPTIVE,
            "one_release": told(plan.deletion),
        },
        "data_domain": {
            "slots": problem.records,
            "features": problem.features,
            "row_norm_at_most": plan.loss.radius,
            "loss": Stated(plan.loss.name),
        },
        "unprotected": [
            "number of slots",
            "schema and its bounds",
            "classes",
            "number, kinds and times of edits and releases",
        ],
        "parameters": {
            "per_release": remaining.allowed,
            "cap": "no cap was set on the sum of all publications"
            if not plan.capped
            else "publications beyond it are withheld",
            "enforced": plan.capped,
            "justification": _stated(practice.justification),
        },
        "trust": {
            "curator": "trusted, with its machine",
            "requesters": "may choose requests after seeing models",
            "observers": "may keep every model",
        },
        "releases": {
            "type": "weights of a model",
            "kind": "dynamic",
            "number": ledger.releases,
            "access": _stated(practice.models),
            "post_processing": "weights are rounded to a public grid",
        },
        "composition": "all releases are accounted together, whatever the requests depended on; releases of other programs are not",
        "pre_processing": "record by record"
        + (
            f", by ranges of which these were read off the data: {', '.join(read_off)}"
            if (read_off := from_data_of(ledger))
            else ""
        ),
        "not_counted": ["tuning on the data", "releases made elsewhere from the same data"],
        "mechanism": {
            "method": Stated(plan.method.name),
            "proof": plan.dp.source,
            "constants": "proven" if plan.dp.proven else "declared by the user",
            "noise": "Gaussian, from a cryptographic generator keyed anew by the operating system for each release",
            "floating_point": f"rounding of gradient sums adds a slack to the sensitivity, which the figures include ({figure(plan.dp.slack)})",
            "assumptions": [sentence(claim) for claim in conditions_of(plan, ledger.accountant, from_data_of(ledger))],
        },
        "not_a_claim": "this is not a statement that the model is anonymous",
    }


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


def model_card(
    ledger: Ledger, practice: Practice, lines: Sequence[Line], *, key: str | None = None, code: str = ORIGINAL
) -> str:
    """A page about the model for whoever uses it. `key`: id of the key that signs certificates; `code`: of the language."""
    plan = ledger.plan
    state = standing(ledger)
    edits = sum((event.counts for event in ledger.events), NO_EDITS)
    times = [item.time for item in ledger.outline]
    use: Section = (
        "Use",
        [
            ("models", _stated(practice.models)),
            ("intended use", _stated(practice.purposes)),
            ("excluded use", "telling whether somebody's record was used; any use that its operator did not state"),
            ("data from", _stated(practice.source)),
            (
                "table",
                f"{figure(plan.records)} slots, {figure(plan.features)} columns; kept from {_day(times[0])} to {_day(times[-1])}",
            ),
            ("accuracy", _accuracy(plan)),
            ("accuracy by group", "not measured here: `evaluate` measures it on rows that were kept out of training"),
        ],
    )
    history: Section = (
        "Releases and erasures",
        [
            ("releases", ledger.releases),
            ("edits they cover", edits.text() if edits.total else "none"),
            ("edits that wait", state.pending.text() if state.pending.total else "none"),
            (
                "in service",
                "yes"
                if state.withdrawn is None and ledger.releases
                else f"no, since {_day(state.withdrawn)}"
                if state.withdrawn
                else "not yet",
            ),
            (
                "earlier models",
                f"replaced by later ones: {max(0, ledger.releases - 1)}; copies that others hold are not withdrawn",
            ),
            *[("put besides", _besides(place)) for place in onward.destinations(Layout(ledger.path.parent))],
            (
                "requests",
                f"{sum(line.of_a_person for line in lines)} in the register, {sum(line.overdue for line in lines)} overdue",
            ),
            ("certificates are signed by key", _stated(key)),
            ("to exercise rights", _stated(practice.contact)),
        ],
    )
    fields = list(entry(ledger, practice).items())
    return _sheet("Model card", practice, [use, history, ("As registries want it", fields)], reading(code))


def _besides(place: onward.Destination) -> dict[str, list[str]]:
    """What one publisher was last known to hold, and whether an earlier model may lie there."""
    name = place.address + (f" ({place.model}@{place.alias})" if place.model else "")
    since = "" if place.since is None else f", brought there on {_day(place.since)}"
    holds = "no release in force" if place.release is None else f"release {place.release} in force{since}"
    clean = place.oldest == place.release
    return {Stated(name): [holds, "no earlier model lies there" if clean else "an earlier model may still lie there"]}


def assessment(
    ledger: Ledger,
    practice: Practice,
    lines: Sequence[Line],
    *,
    audit: Sequence[Mapping[str, Any]] = (),
    code: str = ORIGINAL,
) -> str:
    """The annex to an impact assessment: what this processing adds to the risks, and what bounds them. `code`: of the language."""
    plan, accountant, language = ledger.plan, ledger.accountant, reading(code)
    worst = accountant.dp_cumulative() if ledger.releases else plan.dp
    odds = right_of_hundred(worst.with_slack().advantage)
    between = right_of_hundred(worst.with_slack().advantage_between_records)
    people = [line for line in lines if line.of_a_person]
    backups = [line.case.backups_until for line in people if line.case.backups_until is not None]
    told = sum(line.case.recipients or 0 for line in people)
    parameters = plan.shape[0] * plan.shape[1]
    why: Section = (
        "Processing",
        [
            ("purpose", _stated(practice.purposes)),
            ("necessity", _stated(practice.justification)),
            ("data from", _stated(practice.source)),
            ("lawful basis", _stated(practice.lawful_basis)),
            (
                "unit of protection",
                f"one person, at most {plan.problem.rows_per_subject} row(s) each: the operator's assertion",
            ),
            ("records to parameters", f"{figure(plan.records)} slots to {figure(parameters)} weights"),
        ],
    )
    risks: Section = (
        "Risks and their bounds",
        [
            (
                "threat model",
                "the observer keeps every model, knows every other record and how the program works, and may choose requests after seeing models",
            ),
            ("membership: was this person's record used?", f"right at most {odds} times in 100; guessing gives 50"),
            (
                "attributes and reconstruction: which of two contents?",
                f"right at most {between} times in 100; guessing gives 50",
            ),
            ("extraction", "the weights are all there is to extract; no row is kept in the model"),
            *[
                (
                    Stated(f"{language.say('audit')}: {language.named(row['name'])}"),
                    f"measured at least {figure(row['measured_lower_bound'])}, bound {figure(row['claimed_advantage'])} (advantage over guessing)",
                )
                for row in audit
            ],
            ("what the figures leave out", [sentence(Claim(key, {})) for key in NOT_COVERED]),
            (
                "residual risk",
                f"at most {odds} of 100 for a record still there, over the {ledger.releases} releases so far",
            ),
        ],
    )
    duties: Section = (
        "Erasure in practice",
        [
            ("longest wait for a release without the rows", _longest_wait(people)),
            ("requests overdue", sum(line.overdue for line in people)),
            ("backups last until", dated(max(backups)) if backups else NOT_STATED),
            ("recipients told", told),
            (
                "when the budget is spent",
                "rows are erased all the same; no model is published and the old one is withdrawn, until a new plan",
            ),
            ("advice of the data protection officer", NOT_STATED),
            ("looked at again on", dated(practice.review) if practice.review else NOT_STATED),
        ],
    )
    return _sheet("Annex to the impact assessment", practice, [why, risks, duties], language)


def _longest_wait(people: Sequence[Line]) -> str:
    """In days from the edit of the rows to the release without them, what still waits included."""
    waits = [_waited(line) for line in people if line.served is not None and line.served.rows]
    return f"{max(waits)} day(s)" if waits else "nothing was erased yet"


def _waited(line: Line) -> int:
    assert line.served is not None
    edited = datetime.fromisoformat(line.served.edited).date()
    until = line.today if line.served.published is None else datetime.fromisoformat(line.served.published).date()
    return max(0, (until - edited).days)


def _accuracy(plan: Plan) -> str:
    if not plan.excess_risk < float("inf"):
        return "no bound is promised"
    bound = f"objective at most {figure(plan.excess_risk)} above its minimum: a proven bound, not a measurement."
    return " ".join(filter(None, [bound, accuracy(plan)]))


def _told(value: Any, language: Reading) -> str:
    """A value of a line in a language: each text of it by itself, whatever holds them."""
    if isinstance(value, Mapping):
        return "; ".join(f"{_named(name, language)}: {_told(inner, language)}" for name, inner in value.items())
    if isinstance(value, (list, tuple)):
        return "; ".join(_told(one, language) for one in value)
    if isinstance(value, bool):
        return language.say("yes" if value else "no")
    if isinstance(value, str):
        return value if isinstance(value, Stated) else language.say(value)
    return language.numbers(figure(value))


def _named(name: str, language: Reading) -> str:
    return name if isinstance(name, Stated) else language.say(name.replace("_", " "))


def _day(when: str | None) -> str:
    return "–" if when is None else dated(datetime.fromisoformat(when).date())


def _sheet(title: str, practice: Practice, sections: Sequence[Section], language: Reading) -> str:
    return render(
        "sheet.html",
        words=language,
        title=language.say(title),
        controller=practice.controller,
        written=language.say(dated(date.today())),
        sections=[
            (language.say(heading), [(_named(name, language), _told(value, language)) for name, value in lines])
            for heading, lines in sections
        ],
        version=__version__,
    )
