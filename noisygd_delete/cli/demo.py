"""`noisygd-delete demo`: learn and delete on scikit-learn's digits, the data that ships with a dependency: ten classes, three records deleted."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from ..errors import MissingDependency
from .arguments import add_command
from .progress import progress_bar
from .terminal import show

if TYPE_CHECKING:
    import numpy as np

    from ..engine import Execution

DELTA = 1e-5
DP_EPSILON = 8.0
DELETION_EPSILON = 0.1
REGULARIZATION = 3e-3
DELETED = (3, 14, 159)
TRAINING_ROWS = 1497
_WITH_UTILITY = {"theorem": False, "sharp": True}  # the paper's condition (17) takes too long for a demonstration


def register(commands: Any) -> None:
    parser = add_command(commands, "demo", epilog="example: noisygd-delete demo --method theorem")
    parser.add_argument("--method", default="sharp", choices=("theorem", "sharp"), help="default: sharp")
    parser.takes += ("--json",)
    parser.set_defaults(run=_run)


def _run(parsed: argparse.Namespace) -> int:
    answer = demonstrate(method=parsed.method)
    show(parsed, answer.to_dict(), answer.text())
    return 0


@dataclass(frozen=True)
class Demonstration:
    """What the demo measured. Accuracies are on 300 held-out digits; seconds are of this one run."""

    records: int
    features: int
    weights: int
    method: str
    budget: str
    non_private_accuracy: float
    accuracy_before: float
    accuracy_after: float
    learn_steps: int
    delete_steps: int
    learn_seconds: float
    delete_seconds: float
    deleted: tuple[int, ...]
    records_left: int
    dp_epsilon: float
    deletion_epsilon: float
    cumulative_epsilon: float
    delta: float
    deletion_advantage: float
    observed_advantage: float

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    def text(self) -> str:
        from ..privacy.guarantee import FIXED_SCHEDULE, NON_ADAPTIVE
        from ..privacy.shown import shown

        return f"""\
scikit-learn digits: {self.records} training records, {self.features} features, 10 classes ({self.weights} weights), 300 held out
method '{self.method}', budget {self.budget}, replace adjacency

                            accuracy      steps    seconds
  non-private               {self.non_private_accuracy:8.3f}
  learned                   {self.accuracy_before:8.3f}   {self.learn_steps:8d}   {self.learn_seconds:8.2f}
  after deleting {len(self.deleted)} records  {self.accuracy_after:8.3f}   {self.delete_steps:8d}   {self.delete_seconds:8.2f}

deleted ids {", ".join(map(str, self.deleted))}: {self.records_left} records left, the rows are zero, and for each deleted record
  an observer of the new model gains at most {shown(self.deletion_advantage, percent=True)} advantage over guessing whether it was ever there:
  (ε={shown(self.deletion_epsilon)}, δ={shown(self.delta)}) from this release alone, if {NON_ADAPTIVE}; an observer of both
  models gains at most {shown(self.observed_advantage, percent=True)}, whatever the requests were,
  if {FIXED_SCHEDULE}
for each record still there: (ε={shown(self.dp_epsilon)}, δ={shown(self.delta)}) from one release, (ε={shown(self.cumulative_epsilon)}, δ={shown(self.delta)}) from both,
  if {FIXED_SCHEDULE}"""


def demonstrate(*, method: str) -> Demonstration:
    """Learn on the digits, delete three records, and measure."""
    from ..curator.curator import Curator
    from ..engine import Execution
    from ..losses import Softmax
    from ..planner import make_plan
    from ..privacy.budget import Budget
    from ..records import Records

    features, digits = _digits()
    train, test = slice(0, TRAINING_ROWS), slice(TRAINING_ROWS, None)
    loss = Softmax(radius=1.0, classes=10)
    plan = make_plan(
        loss,
        records=TRAINING_ROWS,
        features=features.shape[1],
        regularization=REGULARIZATION,
        budget=Budget.from_epsilon_delta(dp=(DP_EPSILON, DELTA), deletion=(DELETION_EPSILON, DELTA)),
        method=method,
        utility=_WITH_UTILITY[method],
    )
    curator = Curator(Records(features[train], digits[train]), plan)
    held_out = Records(features[test], digits[test])

    def timed(label: str, steps: int, call: Callable[[Execution], Any]) -> tuple[Any, float]:
        with progress_bar(label, steps) as progress:
            start = time.perf_counter()
            return call(Execution(progress=progress)), time.perf_counter() - start

    learned, learn_seconds = timed("learn", plan.learn_steps, lambda how: curator.learn(execution=how))
    served, delete_seconds = timed("delete", plan.delete_steps, lambda how: curator.delete(DELETED, execution=how))
    return Demonstration(
        records=plan.records,
        features=plan.features,
        weights=plan.dimension,
        method=method,
        budget=plan.budget.describe(),
        non_private_accuracy=_non_private_accuracy(features, digits),
        accuracy_before=learned.model.accuracy(held_out),
        accuracy_after=served.model.accuracy(held_out),
        learn_steps=learned.steps,
        delete_steps=served.steps,
        learn_seconds=learn_seconds,
        delete_seconds=delete_seconds,
        deleted=DELETED,
        records_left=len(curator.records),
        dp_epsilon=served.guarantees["dp"].with_slack().epsilon(DELTA),
        deletion_epsilon=served.guarantees["deletion"].with_slack().epsilon(DELTA),
        cumulative_epsilon=served.guarantees["dp_cumulative"].with_slack().epsilon(DELTA),
        delta=DELTA,
        deletion_advantage=served.guarantees["deletion"].with_slack().advantage,
        observed_advantage=served.guarantees["deletion_observed"].with_slack().advantage,
    )


def _digits() -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Unit rows: pixels over their public maximum 16, a constant column, each row divided by its own norm; shuffled once."""
    import numpy as np

    try:
        from sklearn.datasets import load_digits
    except ImportError as error:
        raise MissingDependency("the demo uses scikit-learn's digits; pip install 'noisygd-delete[sklearn]'") from error
    pixels, digits = load_digits(return_X_y=True)
    rows = np.column_stack([pixels / 16, np.ones(len(pixels))])
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    order = np.random.default_rng(0).permutation(len(rows))
    return rows[order], digits[order]


def _non_private_accuracy(features: np.ndarray[Any, Any], digits: np.ndarray[Any, Any]) -> float:
    """scikit-learn's own multinomial logistic regression at the same λ and the same rows."""
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=1 / (REGULARIZATION * TRAINING_ROWS), fit_intercept=False, max_iter=1000)
    model.fit(features[:TRAINING_ROWS], digits[:TRAINING_ROWS])
    return float(model.score(features[TRAINING_ROWS:], digits[TRAINING_ROWS:]))
