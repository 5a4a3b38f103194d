"""The certificate's sentences. Each number in them is a bound that `Accountant` proves; nothing here computes one."""

from __future__ import annotations

from collections.abc import Mapping

from ..methods.plan import Plan
from ..privacy.guarantee import Guarantee

ADAPTIVITY = (
    "the figure for later models holds if requests did not depend on models published before the erasure; the figure for all "
    "models holds for any requester who saw all of them, with the schedule of releases fixed in advance"
)

NOT_COVERED = (
    "models published before the erasure, and copies of them that others hold",
    "backups, snapshots, logs and exports outside the store, and copies of the data held elsewhere",
    "worn or remapped cells of the storage device (encrypt the volume: destroying its key destroys them too)",
    "records of other people that mention this person",
    "other models, embeddings or feature extractors trained on the same data",
    "what the data of everybody else reveals about this person",
    "this is not a statement that the model is anonymous in the sense of the law",
)


def assumptions(plan: Plan) -> list[str]:
    """What the caller answers for, besides the mathematics of the mechanism."""
    timed = plan.problem.start == "minimiser" and plan.problem.solver != "fixed"
    seen = "sees published models" + ("" if timed else " and the time of their publication") + ", not memory or disks"
    return [
        f"every feature row has norm at most {plan.loss.radius:g}, by bounds that were not read off the data",
        "preprocessing acts on each record by itself and was fitted to no record of the table",
        f"at most {plan.problem.rows_per_subject} row(s) belong to one person; the figures cover all of them together",
        f"the curator's machine is trusted: the observer {seen}",
    ]


def _short(number: float) -> str:
    return f"{number:g}".replace("e-0", "e-")


def _limit(guarantee: Guarantee) -> str:
    if guarantee.with_slack().advantage >= 0.9:
        return (
            f"at most {guarantee.at_most}, which is hardly a limit: an observer who kept earlier models may well know"
        )
    return f"at most {guarantee.at_most}"


def _question(guarantee: Guarantee, rows: int) -> str:
    one = "the erased record" if rows == 1 else "any one of the erased records"
    if guarantee.adjacency in ("pairwise", "replace"):
        return f"which of two possible records {one} was"
    return f"whether {one} was ever in the data"


def plain(status: str, rows: int, promises: Mapping[str, Guarantee], *, order: float, delta: float) -> list[str]:
    """For the person who asked: no symbols."""
    erased = "The record was" if rows == 1 else f"{rows} records were"
    it = "it" if rows == 1 else "them"
    everything = promises["erased_all_models"]
    guess = (
        "Advantage over guessing: a coin is right half the time; an advantage of 10 % means right at most 55 times in 100 "
        "on an even bet."
    )
    if status == "published":
        later = promises["erased_later_models"]
        sentences = [
            f"{erased} erased from the training data, and a model that has forgotten {it} was published.",
            f"If requests did not depend on earlier models: whoever sees every model published since can tell {_question(later, rows)} "
            f"with an advantage over guessing of {_limit(later)}.",
            f"If requests depended on every earlier model, seen by somebody who kept them all: {_limit(everything)}.",
        ]
    elif status == "withheld":
        sentences = [
            f"{erased} erased from the training data. No new model was published, because that would have cost "
            "other people more privacy than was promised; the old model is withdrawn.",
            f"From the models published before, somebody who kept them all can tell {_question(everything, rows)} with an "
            f"advantage over guessing of {_limit(everything)}.",
        ]
    else:
        sentences = [
            f"{erased} erased from the training data. The model published now has not forgotten {it} yet: "
            "the next publication will, and a certificate for it follows.",
            f"From the models published so far, somebody who kept them all can tell {_question(everything, rows)} with an "
            f"advantage over guessing of {_limit(everything)}.",
        ]
    exact = everything.with_slack()
    return [
        *sentences,
        guess,
        f"In the terms of the field, for all models together: Rényi divergence at order {order:g} at most {exact.renyi(order):.4g}; "
        f"(ε={exact.epsilon(delta):.4g}, δ={_short(delta)}).",
    ]


def to_do(status: str) -> list[str]:
    """What the software cannot do for the controller."""
    steps = [
        "tell the person what was done and when",
        "notify every recipient of the data and of earlier models (Article 19 GDPR)",
        "withdraw earlier models from use, and ask recipients to delete their copies",
        "let backups that hold the record expire, and repeat the erasure after any restore",
    ]
    if status == "withheld":
        steps.insert(0, "plan a larger dp budget, and relearn, before publishing again")
    if status == "pending":
        steps.insert(0, "publish the next release within the deadline")
    return steps
