"""What an answer carries where its plan promises nothing worth having."""

from __future__ import annotations

from ..methods.plan import Plan
from ..methods.words import worth


def warning(plan: Plan) -> dict[str, str | None]:
    """For JSON, None where there is nothing to warn of."""
    return {"warning": worth(plan) or None}
