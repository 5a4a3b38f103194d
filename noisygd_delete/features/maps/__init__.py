"""Public feature maps: fixed before the records are read, applied record by record, with rows of norm ≤ R.

A convex method on the rows Φ(x) keeps all its guarantees, whatever Φ is, if Φ was chosen without the records.
`check_map` tests a map for the other conditions; its `digest` is recorded in plan, ledger and certificate.

>>> from noisygd_delete.features import maps
>>> fourier = maps.RandomFourier(reads=2, size=8)
>>> maps.check_map(fourier, [[0.0, 1.0], [0.5, -0.5], [1.0, 0.0]])
>>> fourier.rows([[0.0, 1.0]]).shape
(1, 9)
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
    from .shape import Shape
    from .shapes import Shapes

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
        "Shape": "shape",
        "Shapes": "shapes",
    },
)
