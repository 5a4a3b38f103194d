"""What is promised, and what may be spent."""

from .budget import Budget
from .guarantee import Guarantee
from .worlds import Worlds

__all__ = ["Budget", "Guarantee", "Worlds"]
