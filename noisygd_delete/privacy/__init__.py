"""What is promised, and what may be spent."""

from .budget import Budget
from .guarantee import Guarantee, Worlds

__all__ = ["Budget", "Guarantee", "Worlds"]
