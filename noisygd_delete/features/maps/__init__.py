"""Public feature maps: fixed before the records are read, record by record, rows of norm ≤ R.

A convex method on the rows Φ(x) keeps every one of its guarantees, whatever Φ is, as long as Φ was chosen without the records:
`check` holds a map to that, and its `digest` stands in plan, ledger and certificate.
"""

from typing import TYPE_CHECKING

from ...lazy_imports import on_first_use
from .base import PublicMap, check_map, normalize_rows
from .catalogue import from_dict

if TYPE_CHECKING:
    from .additive import Additive, Term
    from .bins import BinsAndCrosses
    from .compose import Chain, ConcatenatedMap
    from .fourier import RandomFourier
    from .ngrams import HashedNgrams
    from .onnx import OnnxFile
    from .sentences import SentenceEmbedding
    from .shapes import Shape, Shapes

__all__ = [
    "Additive",
    "BinsAndCrosses",
    "Chain",
    "ConcatenatedMap",
    "HashedNgrams",
    "OnnxFile",
    "PublicMap",
    "RandomFourier",
    "SentenceEmbedding",
    "Shape",
    "Shapes",
    "Term",
    "check_map",
    "from_dict",
    "normalize_rows",
]

__getattr__ = on_first_use(
    __name__,
    {
        **dict.fromkeys(("Additive", "Term"), "additive"),
        "BinsAndCrosses": "bins",
        **dict.fromkeys(("ConcatenatedMap", "Chain"), "compose"),
        "RandomFourier": "fourier",
        "HashedNgrams": "ngrams",
        "OnnxFile": "onnx",
        "SentenceEmbedding": "sentences",
        **dict.fromkeys(("Shape", "Shapes"), "shapes"),
    },
)
