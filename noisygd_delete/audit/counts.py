"""Lower bounds on leakage from the counts of a membership test: Clopper-Pearson bounds on its rates.

Every bound holds with the given error probability for any distributions. A report that makes several comparisons divides
its error probability among them (Bonferroni), so its false-alarm rate is that of the whole report.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from scipy.special import betaincinv, ndtri

from ..errors import InvalidParameter, check_count, check_probability
from ..privacy.guarantee import Guarantee


def lower_rate(successes: int, trials: int, error: float) -> float:
    """Return the rate p for which P(at least `successes`) = `error`.

    The true rate is below p with probability ≤ `error`.
    """
    return float(betaincinv(successes, trials - successes + 1, error)) if successes else 0.0


def upper_rate(successes: int, trials: int, error: float) -> float:
    """Return the rate that the true rate exceeds with probability ≤ `error`."""
    return 1 - lower_rate(trials - successes, trials, error)


@dataclass(frozen=True)
class Counts:
    """Counts of the answer "present" of a membership test.

    Attributes:
        hits: "Present" answers in runs with the record.
        present: Runs with the record.
        alarms: "Present" answers in runs without the record.
        absent: Runs without the record.
        error: Probability that any of the bounds below is wrong.
    """

    hits: int
    present: int
    alarms: int
    absent: int
    error: float = 0.01

    def __post_init__(self) -> None:
        check_probability("error", self.error)
        for part, whole in (("hits", "present"), ("alarms", "absent")):
            trials = check_count(whole, getattr(self, whole))
            if not check_count(part, getattr(self, part), minimum=0) <= trials:
                raise InvalidParameter(f"must be at most {whole}={trials}", **{part: getattr(self, part)})

    @property
    def rates(self) -> tuple[float, float]:
        """Lower bound on the true positive rate and upper bound on the false positive rate."""
        return (
            lower_rate(self.hits, self.present, self.error / 2),
            upper_rate(self.alarms, self.absent, self.error / 2),
        )

    @property
    def estimate(self) -> float:
        """Measured advantage, true minus false positive rate."""
        return self.hits / self.present - self.alarms / self.absent

    @property
    def advantage(self) -> float:
        """Lower bound on the advantage."""
        true, false = self.rates
        return max(0.0, true - false)

    def renyi(self, order: float) -> float:
        """Return a lower bound on the Rényi divergence of the two worlds.

        It is the divergence of the test's two answers (data processing).
        """
        true, false = self.rates
        if not true > false:
            return 0.0
        terms = [order * math.log(p) + (1 - order) * math.log(r) for p, r in ((true, false), (1 - true, 1 - false))]
        return max(0.0, (max(terms) + math.log1p(math.exp(-abs(terms[0] - terms[1])))) / (order - 1))

    def refutes(self, claimed: Guarantee) -> bool:
        """Return whether the lower bound on the advantage exceeds the claim, slack included."""
        return self.advantage > claimed.with_slack().advantage

    @property
    def gdp(self) -> float:
        """Lower bound on μ if the two worlds are μ-GDP: Φ⁻¹(TPR) − Φ⁻¹(FPR)."""
        true, false = self.rates
        return max(0.0, float(ndtri(true) - ndtri(false))) if true > false else 0.0
