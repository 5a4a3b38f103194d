"""Phrases that several papers share, each from the facts that it says."""

from __future__ import annotations

from ..methods.plan import Plan
from ..privacy.budget import Measures
from ..privacy.shown import brief, shown
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
    asked, total = plan.budget, plan.total

    def exactly(number: float | None) -> Figure:
        return Figure(brief(number))

    dp, deletion = exactly(asked.dp), exactly(asked.deletion)
    if asked.measure is Measures.RENYI:
        one = said("(q={n}, ε_dp={n2}) and (q={n}, ε_dd={n3}) Rényi", n=exactly(asked.order), n2=dp, n3=deletion)
    elif asked.measure is Measures.GDP:
        one = said("μ_dp={n} and μ_dd={n2} Gaussian DP", n=dp, n2=deletion)
    else:
        deltas = {"n2": exactly(asked.dp_delta), "n4": exactly(asked.deletion_delta)}
        one = said(
            "(ε={n}, δ={n2}) for present records and (ε={n3}, δ={n4}) for erased ones", n=dp, n3=deletion, **deltas
        )
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
        n=exactly(total.epsilon),
        n2=Figure(shown(total.delta)),
    )
