"""Compare claimed with measured privacy: one row per question, and a verdict.

A row fails if the measurement refutes the claim. It passes only if the test had the power to detect a violation: the
claim is not vacuous, and the lower bound is within a given factor of it. Otherwise it is inconclusive.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..privacy.guarantee import Guarantee
from ..privacy.sentences import format_number
from .counts import Counts
from .one_run import OneRun
from .three_samples import ThreeSamples

VACUOUS = 0.99  # claimed advantage from which on a claim is vacuous


@dataclass(frozen=True)
class AuditRow:
    """One question about an engine or the product, with the claim and the measurement.

    Attributes:
        question: The question.
        attack: Name of the attack.
        claimed: Guarantee by the accountant.
        measured: Counts of the attack, with this row's share of the error probability.
        factor: Factor of the claim within which the bound must be for the row to pass.
    """

    question: str
    attack: str
    claimed: Guarantee
    measured: Counts | OneRun
    factor: float

    @property
    def verdict(self) -> str:
        """Verdict of the row: "pass", "fail" or "inconclusive"."""
        if self.measured.refutes(self.claimed):
            return "fail"
        claim = self.claimed.with_slack().advantage
        return "pass" if claim < VACUOUS and self.measured.advantage * self.factor >= claim else "inconclusive"

    def to_dict(self) -> dict[str, Any]:
        """Return question, attack, claimed and measured advantage, its lower bound, and the verdict, as JSON."""
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
    """All rows of an audit, and three samples of models if they were drawn.

    An honest engine fails any of them with probability at most `false_alarm`.

    Attributes:
        rows: One row per question and attack.
        chains: Runs per dataset.
        false_alarm: Probability that an honest engine fails.
        notes: Remarks on the audit.
        three: Result of the three samples.
    """

    rows: tuple[AuditRow, ...]
    chains: int
    false_alarm: float
    notes: tuple[str, ...] = ()
    three: ThreeSamples | None = None

    @property
    def verdict(self) -> str:
        """Verdict of the audit: "fail", "pass" or "inconclusive".

        It fails if any row fails, or if unlearned models are nearer to those with the record. It passes if at least one
        row passes.
        """
        verdicts = {row.verdict for row in self.rows}
        if self.three is not None and self.three.verdict == "fail":
            return "fail"
        return next((word for word in ("fail", "pass") if word in verdicts), "inconclusive")

    def to_dict(self) -> dict[str, Any]:
        """Return verdict, chains per world, false-alarm probability, notes, rows and any three samples, as JSON."""
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
        """Return the report as a plain text table."""
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
            f"with probability at most {format_number(self.false_alarm)}"
        )
        return "\n".join([*lines, *self.notes])
