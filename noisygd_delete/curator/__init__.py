"""Learner and unlearner, and the curator who runs them in sequence on one table."""

from .curator import Curator, Release
from .learning import Model, learn, resume, unlearn

__all__ = ["Curator", "Model", "Release", "learn", "resume", "unlearn"]
