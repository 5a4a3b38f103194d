"""The learner and the unlearner, and the curator that runs them in sequence on one table."""

from typing import TYPE_CHECKING

from ..lazy_imports import on_first_use
from .curator import Curator
from .learning import learn, resume, unlearn
from .model import Model
from .release import Release

if TYPE_CHECKING:
    from .carried_noise import PublishedSums

__all__ = ["Curator", "Model", "PublishedSums", "Release", "learn", "resume", "unlearn"]

__getattr__ = on_first_use(__name__, {"PublishedSums": "carried_noise"})
