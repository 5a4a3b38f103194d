"""Claimed against measured: one row per question, and a verdict that can fail.

A row fails where what was measured refutes the claim. It passes only where the test had the power to notice: the
claim is not vacuous, and the lower bound comes within a stated factor of it. Everything else is inconclusive.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..privacy.guarantee import Guarantee
from ..privacy.shown import brief
from .bounds import Counts
from .one_run import OneRun
from .three_samples import ThreeSamples

VACUOUS = 0.99  # a claimed advantage this large promises nothing


@dataclass(frozen=True)
class AuditRow:
    """One question asked of an engine, or of the product.

    claimed   what the accountant answers
    measured  counts of the attack, with this row's share of the error probability
    factor    the bound must come so close to the claim for the row to count as passed
    """

    question: str
    attack: str
    claimed: Guarantee
    measured: Counts | OneRun
    factor: float

    @property
    def verdict(self) -> str:
        """ "pass", "fail" or "inconclusive"."""
        if self.measured.refutes(self.claimed):
            return "fail"
        claim = self.claimed.with_slack().advantage
        return "pass" if claim < VACUOUS and self.measured.advantage * self.factor >= claim else "inconclusive"

    def to_dict(self) -> dict[str, Any]:
        return {
            "question": self.question,
            "attack": self.attack,
            "claimed_advantage": self.claimed.with_slack().advantage,
            "measured_advantage": self.measured.estimate,
            "measured_lower_bound": self.measured.advantage,
            "verdict": self.verdict,
        }


@dataclass(frozen=True)
class AuditResult:
    """All rows, and three samples of models where they were drawn. An honest engine fails anywhere with probability at most
    `false_alarm`."""

    rows: tuple[AuditRow, ...]
    chains: int
    false_alarm: float
    notes: tuple[str, ...] = ()
    three: ThreeSamples | None = None

    @property
    def verdict(self) -> str:
        """ "fail" if any row fails, or unlearned models are nearer to those with the record; "pass" if at least one row passes, else
        "inconclusive"."""
        verdicts = {row.verdict for row in self.rows}
        if self.three is not None and self.three.verdict == "fail":
            return "fail"
        return next((word for word in ("fail", "pass") if word in verdicts), "inconclusive")

    def to_dict(self) -> dict[str, Any]:
        three = {} if self.three is None else {"three_samples": self.three.to_dict()}
        return {
            "verdict": self.verdict,
            "chains_per_world": self.chains,
            "false_alarm": self.false_alarm,
            "notes": list(self.notes),
            "rows": [row.to_dict() for row in self.rows],
            **three,
        }

    def text(self) -> str:
        lines = [f"{'question':<58} {'attack':<17} {'claimed':>8} {'measured':>9} {'at least':>9}  verdict"]
        for row in self.rows:
            entry = row.to_dict()
            lines.append(
                f"{row.question:<58} {row.attack:<17} {entry['claimed_advantage']:8.4f} {entry['measured_advantage']:9.4f} "
                f"{entry['measured_lower_bound']:9.4f}  {row.verdict}"
            )
        if self.three is not None:
            lines.append(
                f"three samples: of what tells models with the record from models without, {self.three.left:.0%} is left after the erasure "
                f"(as counted)  {self.three.verdict}"
            )
        runs = "1 synthetic run" if self.chains == 1 else f"{self.chains} synthetic runs"
        lines.append(
            f"{self.verdict}: advantages over guessing, {runs} per world, all bounds together wrong "
            f"with probability at most {brief(self.false_alarm)}"
        )
        return "\n".join([*lines, *self.notes])
