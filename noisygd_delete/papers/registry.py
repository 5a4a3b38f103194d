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
from ..privacy.shown import right_of_hundred
from ..records import NO_EDITS, EditCounts
from ..register import Line, Practice
from ..store import onward
from ..store.layout import Layout
from ..store.ledger import Ledger
from ..version import __version__
from . import common
from .catalogue import ORIGINAL, Language, Said, figure, labels, language, said
from .figures import ORDER, figures
from .page import render
from .paper import audit_name
from .summary import accuracy, erased_figures

Section = tuple[str, list[tuple[str, Any]]]


class Stated(str):
    """The operator's own words, or a name: as they are in every language."""


def _stated(text: str | None, option: str) -> str:
    """What the operator stated; where nothing was, what states it."""
    return Stated(text) if text else _missing(f"register settings STORE --{option} TEXT")


class Claimed(str):
    """A claim in English that knows itself, so that another language can say it too."""

    claim: Claim


def _claimed(claim: Claim) -> Claimed:
    made = Claimed(sentence(claim))
    made.claim = claim
    return made


def _missing(command: str) -> Said:
    return said("not stated by the operator; state it with: {text}", text=f"`noisygd-delete {command}`")


def entry(ledger: Ledger, practice: Practice) -> dict[str, Any]:
    """The registry's fields, in JSON's own types; one relation of neighbours to a figure."""
    plan, accountant = ledger.plan, ledger.accountant
    problem, read_off = plan.problem, from_data_of(ledger)
    order, delta = plan.budget.order or ORDER, plan.budget.shown_delta

    def told(guarantee: Any) -> dict[str, Any]:
        return figures(guarantee, order=order, delta=delta)

    erased = {name: told(guarantee) for name, guarantee in erased_figures(accountant, plan).items()}
    released: dict[str, Any] = {"this_release": told(plan.dp)}
    if ledger.releases:
        released["all_releases_together"] = told(accountant.dp_cumulative())
    other = "another" if problem.adjacency == "replace" else "an empty one"
    return {
        "software": Stated(f"noisygd-delete {__version__}"),
        "flavour": "Rényi and Gaussian differential privacy; (ε, δ) follows from them",
        "model": "central, many releases",
        "input_metric": {
            "unit": said("one person, at most {n} row(s): the operator's assertion", n=problem.rows_per_subject),
            "neighbours": said(
                f"{{text}}: a record replaced by {other}; the number of slots is public", text=str(problem.adjacency)
            ),
        },
        "output_measure": released,
        "deletion_figure": {
            "about": "erased records only",
            "notion": Stated(problem.deletion_notion),
            "later_models_alone": erased["later"],
            "every_model_kept": erased["observed"],
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
            "per_release": common.budget(plan),
            "cap": "no cap was set on the sum of all publications"
            if not plan.capped
            else "publications beyond it are withheld",
            "enforced": plan.capped,
            "justification": _stated(practice.justification, "justification"),
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
            "access": _stated(practice.models, "models"),
            "post_processing": "weights are rounded to a public grid",
        },
        "composition": "all releases are accounted together, whatever the requests depended on; releases of other programs are not",
        "pre_processing": "record by record",
        "not_counted": ["tuning on the data", "releases made elsewhere from the same data"],
        "mechanism": {
            "method": Stated(plan.method.name),
            "proof": plan.dp.source.split(" + "),
            "constants": "proven" if plan.dp.proven else "declared by the user",
            "noise": "Gaussian, from a cryptographic generator keyed anew by the operating system for each release",
            "floating_point": said(
                "rounding of gradient sums adds a slack to the sensitivity, which the figures include ({n})",
                n=plan.dp.slack,
            ),
            "assumptions": [_claimed(claim) for claim in conditions_of(plan, accountant, read_off)],
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
            ("models", _stated(practice.models, "models")),
            ("intended use", _stated(practice.purposes, "purposes")),
            ("excluded use", "telling whether somebody's record was used; any use that its operator did not state"),
            ("data from", _stated(practice.source, "source")),
            (
                "table",
                said(
                    "{n} slots, {n2} columns; kept from {day} to {day2}",
                    n=figure(plan.records),
                    n2=figure(plan.features),
                    day=_day(times[0]),
                    day2=_day(times[-1]),
                ),
            ),
            ("accuracy", _accuracy(plan)),
            ("accuracy by group", "not measured here: `evaluate` measures it on rows that were kept out of training"),
        ],
    )
    history: Section = (
        "Releases and erasures",
        [
            ("releases", ledger.releases),
            ("edits they cover", edits or "none"),
            ("edits that wait", state.pending or "none"),
            (
                "in service",
                "yes"
                if state.withdrawn is None and ledger.releases
                else said("no, since {day}", day=_day(state.withdrawn))
                if state.withdrawn
                else "not yet",
            ),
            (
                "earlier models",
                said(
                    "replaced by later ones: {n}; copies that others hold are not withdrawn",
                    n=max(0, ledger.releases - 1),
                ),
            ),
            *[("put besides", _besides(place)) for place in onward.destinations(Layout(ledger.path.parent))],
            (
                "requests",
                said(
                    "{n} in the register, {n2} overdue",
                    n=sum(line.of_a_person for line in lines),
                    n2=sum(line.overdue for line in lines),
                ),
            ),
            (
                "certificates are signed by key",
                Stated(key) if key else _missing("export STORE --public-key FILE --model-card FILE"),
            ),
            ("to exercise rights", _stated(practice.contact, "contact")),
        ],
    )
    fields = list(entry(ledger, practice).items())
    return _sheet("Model card", practice, [use, history, ("As registries want it", fields)], language(code))


def _besides(place: onward.Destination) -> dict[str, list[str]]:
    """What one publisher was last known to hold, and whether an earlier model may lie there."""
    name = place.address + (f" ({place.model}@{place.alias})" if place.model else "")
    holds = said("release {n} in force", n=place.release) if place.release else said("no release in force")
    if place.release and place.since is not None:
        holds = said("release {n} in force, brought there on {day}", n=place.release, day=_day(place.since))
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
    plan, accountant, words = ledger.plan, ledger.accountant, language(code)
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
            ("purpose", _stated(practice.purposes, "purposes")),
            ("necessity", _stated(practice.justification, "justification")),
            ("data from", _stated(practice.source, "source")),
            ("lawful basis", _stated(practice.lawful_basis, "lawful-basis")),
            (
                "unit of protection",
                said("one person, at most {n} row(s): the operator's assertion", n=plan.problem.rows_per_subject),
            ),
            ("records to parameters", said("{n} slots to {n2} weights", n=figure(plan.records), n2=figure(parameters))),
        ],
    )
    risks: Section = (
        "Risks and their bounds",
        [
            (
                "threat model",
                "the observer keeps every model, knows every other record and how the program works, and may choose requests after seeing models",
            ),
            (
                "membership: was this person's record used?",
                said("right at most {n} times in 100; guessing gives 50", n=odds),
            ),
            (
                "attributes and reconstruction: which of two contents?",
                said("right at most {n} times in 100; guessing gives 50", n=between),
            ),
            ("extraction", "the weights are all there is to extract; no row is kept in the model"),
            *[
                (
                    Stated(f"{words.say('audit')}: {audit_name(row['name'], labels(code))}"),
                    said(
                        "measured at least {n}, bound {n2} (advantage over guessing)",
                        n=row["measured_lower_bound"],
                        n2=row["claimed_advantage"],
                    ),
                )
                for row in audit
            ],
            ("what the figures leave out", [_claimed(Claim(key, {})) for key in NOT_COVERED]),
            (
                "residual risk",
                said(
                    "at most {n} of 100 for a record still there, over the {n2} releases so far",
                    n=odds,
                    n2=ledger.releases,
                ),
            ),
        ],
    )
    duties: Section = (
        "Erasure in practice",
        [
            ("longest wait for a release without the rows", _longest_wait(people)),
            ("requests overdue", sum(line.overdue for line in people)),
            (
                "backups last until",
                said("{day}", day=max(backups)) if backups else _missing("register backups STORE REQUEST --until DAY"),
            ),
            ("recipients told", told),
            (
                "when the budget is spent",
                "rows are erased all the same; no model is published and the old one is withdrawn, until a new plan",
            ),
            ("advice of the data protection officer", "to be written here by hand"),
            (
                "looked at again on",
                said("{day}", day=practice.review)
                if practice.review
                else _missing("register settings STORE --review DAY"),
            ),
        ],
    )
    return _sheet("Annex to the impact assessment", practice, [why, risks, duties], words)


def _longest_wait(people: Sequence[Line]) -> str:
    """In days from the edit of the rows to the release without them, what still waits included."""
    waits = [_waited(line) for line in people if line.served is not None and line.served.rows]
    return said("{n} day(s)", n=max(waits)) if waits else said("nothing was erased yet")


def _waited(line: Line) -> int:
    assert line.served is not None
    edited = datetime.fromisoformat(line.served.edited).date()
    until = line.today if line.served.published is None else datetime.fromisoformat(line.served.published).date()
    return max(0, (until - edited).days)


def _accuracy(plan: Plan) -> list[Said]:
    if not plan.excess_risk < float("inf"):
        return [said("no bound is promised")]
    bound = said("objective at most {n} above its minimum: a proven bound, not a measurement.", n=plan.excess_risk)
    return [one for one in (bound, accuracy(plan)) if one is not None]


def _told(value: Any, words: Language) -> list[str]:
    """The lines of a value in a language: one for each text, list or figure in it."""
    if isinstance(value, EditCounts):
        return [common.edits(words, value)]
    if isinstance(value, Mapping):
        return (
            [_promised(value, words)]
            if "advantage" in value
            else [f"{_named(name, words)}: {'; '.join(_told(inner, words))}" for name, inner in value.items()]
        )
    if isinstance(value, (list, tuple)):
        return [line for one in value for line in _told(one, words)]
    if isinstance(value, bool):
        return [words.say("yes" if value else "no")]
    if isinstance(value, Claimed):
        return [sentence(value.claim, words.code)]
    if isinstance(value, str):
        return [str(value) if isinstance(value, Stated) else words.say(value)]
    return [words.figure(value)]


def _promised(told: Mapping[str, Any], words: Language) -> str:
    """One figure with its worlds, its unit and its condition."""
    figures = [
        words.say(
            "right at most {n} times in 100; ε={n2} at δ={n3}",
            n=right_of_hundred(told["advantage"]),
            n2=words.figure(told["approximate"]["epsilon"]),
            n3=words.figure(told["approximate"]["delta"]),
        )
    ]
    if told["gdp"] is not None:
        figures.append(words.say("μ={n} of Gaussian DP", n=told["gdp"]))
    if told["renyi"]["epsilon"] is not None:
        figures.append(words.say("Rényi ε={n} at order {n2}", n=told["renyi"]["epsilon"], n2=told["renyi"]["order"]))
    figures.append(words.say("{text}, {n} row(s) per person", text=told["adjacency"], n=told["rows_per_subject"]))
    if told["holds_only_if"] is not None:
        figures.append(words.say("holds only if {part}", part=words.say(told["holds_only_if"])))
    return "; ".join(figures)


def _named(name: str, words: Language) -> str:
    return str(name) if isinstance(name, Stated) else words.say(name.replace("_", " "))


def _day(when: str) -> date:
    return datetime.fromisoformat(when).date()


def _sheet(title: str, practice: Practice, sections: Sequence[Section], words: Language) -> str:
    return render(
        "sheet.html",
        words=words,
        title=words.say(title),
        controller=practice.controller,
        written=words.day(date.today()),
        sections=[
            (words.say(heading), [(_named(name, words), _told(value, words)) for name, value in lines])
            for heading, lines in sections
        ],
        version=__version__,
    )
