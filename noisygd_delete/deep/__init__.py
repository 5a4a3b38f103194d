"""torch modules: networks certified by composition, and extractors (public, frozen or DP-trained) under a certified head.

The only room, beside GPU gradients, that imports torch.
"""

from __future__ import annotations

from .extractor import CertifiedHead, Extractor, train_extractor
from .network import Network

__all__ = ["CertifiedHead", "Extractor", "Network", "train_extractor"]
