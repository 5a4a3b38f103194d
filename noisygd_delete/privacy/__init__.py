"""What is promised, and what may be spent."""

from .budget import Budget
from .guarantee import Guarantee

__all__ = ["Budget", "Guarantee"]
