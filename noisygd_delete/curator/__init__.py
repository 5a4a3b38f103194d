"""Learner and unlearner, and the curator who runs them in sequence on one table."""

from .curator import Curator, Release
from .drawing import PublishedSums
from .learning import Model, learn, resume, unlearn

__all__ = ["Curator", "Model", "PublishedSums", "Release", "learn", "resume", "unlearn"]
