"""Phrases that several documents share, each built from its facts."""

from __future__ import annotations

from ..methods.plan import Plan
from ..privacy.budget import format_numbers
from ..privacy.sentences import format_bound, format_number
from ..records import EditCounts
from .texts import Figure, Language, LocalizedSentence, localized_sentence


def format_edits(words: Language, counts: EditCounts) -> str:
    """Return the edits by kind, without zeros: "2 records erased, 1 inserted"."""
    numbers = [(kind, number) for kind, number in counts.to_dict().items() if number]
    if not numbers:
        return words.say("edits.none")
    keys = [f"edits.{kind}" if first == 0 else f"edits.{kind}.more" for first, (kind, _) in enumerate(numbers)]
    return ", ".join(words.say(key, n=number) for key, (_, number) in zip(keys, numbers, strict=True))


def format_budget(plan: Plan) -> LocalizedSentence:
    """Return the budget for present and erased records, per release or over all releases, and the total if there is one."""
    problem = plan.problem
    total = problem.total
    text, numbers = format_numbers(problem.budget)
    one = localized_sentence(text, **{name: Figure(format_number(number)) for name, number in numbers.items()})
    each = (
        localized_sentence("{part}, per release", part=one)
        if problem.releases == 1
        else localized_sentence("{part}, over {n} releases", part=one, n=problem.releases)
    )
    if total is None:
        return each
    return localized_sentence(
        "{part}; all publications within (ε={n}, δ={n2})",
        part=each,
        n=Figure(format_number(total.epsilon)),
        n2=Figure(format_bound(total.delta)),
    )
