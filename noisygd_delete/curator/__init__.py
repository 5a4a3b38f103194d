"""The learner and the unlearner, and the curator that runs them in sequence on one table."""

from .curator import Curator
from .learning import learn, resume, unlearn
from .model import Model
from .release import Release

__all__ = ["Curator", "Model", "Release", "learn", "resume", "unlearn"]
