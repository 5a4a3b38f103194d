"""torch modules as losses: networks certified by composition or a ladder. The only room, beside GPU gradients, that imports torch."""

from __future__ import annotations

from .network import Network

__all__ = ["Network"]
