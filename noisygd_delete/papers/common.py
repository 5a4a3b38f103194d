"""Phrases that several papers share, each from the facts that it says."""

from __future__ import annotations

from ..methods.plan import Plan
from ..privacy.budget import in_numbers
from ..privacy.sentences import brief, shown
from ..records import EditCounts
from .catalogue import Figure, Language, Said, said


def edits(words: Language, counts: EditCounts) -> str:
    """Edits by kind, those that there are: "2 records erased, 1 inserted"."""
    numbers = [(kind, number) for kind, number in counts.to_dict().items() if number]
    if not numbers:
        return words.say("edits.none")
    keys = [f"edits.{kind}" if first == 0 else f"edits.{kind}.more" for first, (kind, _) in enumerate(numbers)]
    return ", ".join(words.say(key, n=number) for key, (_, number) in zip(keys, numbers, strict=True))


def budget(plan: Plan) -> Said:
    """What the plan allows, each release or all."""
    total = plan.total
    text, numbers = in_numbers(plan.budget)
    one = said(text, **{name: Figure(brief(number)) for name, number in numbers.items()})
    each = (
        said("{part}, per release", part=one)
        if plan.releases == 1
        else said("{part}, over {n} releases", part=one, n=plan.releases)
    )
    if total is None:
        return each
    return said(
        "{part}; all publications within (ε={n}, δ={n2})",
        part=each,
        n=Figure(brief(total.epsilon)),
        n2=Figure(shown(total.delta)),
    )
