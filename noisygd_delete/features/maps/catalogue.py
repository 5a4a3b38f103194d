"""Construction of maps from the names and parameters of a schema."""

from __future__ import annotations

import json
from dataclasses import MISSING, fields
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any, get_type_hints

import msgspec

from ...errors import InvalidParameter, InvalidSchema, MissingDependency
from ...lazy_imports import Catalogue
from .base import PublicMap
from .codec import RowCodec, codec_of
from .coding import Coding

_CLASSES = {
    "additive": "Additive",
    "bins": "BinsAndCrosses",
    "fourier": "RandomFourier",
    "ngrams": "HashedNgrams",
    "sentences": "SentenceEmbedding",
    "onnx": "OnnxFile",
    "chain": "Chain",
    "beside": "ConcatenatedMap",
}
_OF_THE_LAB = ("gradients", "scattering")  # loaded by the entry points of the lab's distribution
_COMPOSED = ("chain", "beside")


def _find_map(kind: str) -> type[PublicMap]:
    found: type[PublicMap] = getattr(import_module(__package__), _CLASSES[kind])
    return found


def _import_lab_map(kind: str) -> type[PublicMap]:
    from importlib.metadata import entry_points  # slow to import, and needed only here

    for brought in entry_points(group="noisygd_delete.maps", name=kind):
        found: type[PublicMap] = brought.load()
        return found
    raise MissingDependency(
        f"the map {kind!r} belongs to the lab; pip install noisygd-delete-lab (in a clone: pip install ./lab)"
    )


KINDS: Catalogue[type[PublicMap]] = Catalogue(_CLASSES, _find_map)
_DEEPEST = 8


def from_dict(
    given: Any,
    *,
    columns: tuple[int, ...] | None = None,
    gaps: tuple[int, ...] = (),
    signs: tuple[int, ...] = (),
    folder: Path | None = None,
    depth: int = 0,
) -> PublicMap:
    """Return a map from its kind and parameters (`PublicMap.to_dict`).

    Args:
        given: The kind and the parameters.
        columns: Of the table that the map reads, 0 for a number and k for k 0/1 columns; used for parameters that
            `given` omits.
        gaps: Places in `columns` of numbers followed by a 0/1 column that marks an empty cell.
        signs: Places of numbers that are −1, 0 or 1.
        folder: Base folder of file names.
        depth: Nesting depth of this map.

    Raises:
        InvalidParameter: If a kind or parameter is unknown or out of its range.
        MissingDependency: If the map belongs to the lab, which is not installed.
    """
    called = given.get("kind") if isinstance(given, dict) else None
    if not isinstance(called, str) or called not in (*KINDS, *_OF_THE_LAB):
        raise InvalidParameter(f"a map needs kind, one of {', '.join(map(repr, KINDS))}")
    if depth > _DEEPEST:
        raise InvalidParameter(f"maps within maps, over {_DEEPEST} deep")
    kind = KINDS[called] if called in KINDS else _import_lab_map(called)
    parameters = {name: value for name, value in given.items() if name != "kind"}
    known = {field.name: field for field in fields(kind)}  # type: ignore[arg-type]  # each is a dataclass
    for name in parameters:
        if name not in known:
            raise InvalidParameter(f"the map {kind.kind!r} has no parameter {name!r}; it has {', '.join(known)}")
    if called in _COMPOSED:
        parameters["of"] = _parse_parts(parameters.get("of"), called, columns, folder, depth)
    if columns is not None:
        read = {"columns": columns, "reads": sum(width or 1 for width in columns)}
        if called == "additive":
            read = {"columns": tuple(width for at, width in enumerate(columns) if at - 1 not in gaps)}
            places = {"gaps": gaps, "signs": () if "columns" in parameters else signs}
            read |= {name: tuple(at - sum(gap < at for gap in gaps) for at in of) for name, of in places.items()}
        parameters = {**{name: value for name, value in read.items() if name in known}, **parameters}
    for name in kind.files:
        if folder is not None and isinstance(parameters.get(name), str):
            parameters[name] = str(folder / parameters[name])
    missing = [name for name, field in known.items() if field.default is MISSING and name not in parameters]
    if missing:
        raise InvalidParameter(f"the map {kind.kind!r} needs {', '.join(missing)}")
    hints = get_type_hints(kind)
    try:
        read = {
            name: value if name == "of" else msgspec.convert(value, hints[name]) for name, value in parameters.items()
        }
    except (msgspec.ValidationError, UnicodeEncodeError) as error:
        raise InvalidParameter(f"the map {kind.kind!r}: {error}") from error
    return kind(**read)


@lru_cache(maxsize=16)
def coding_of(text: str) -> Coding:
    """Return the coding of the additive map that a JSON text gives (`PublicMap.to_dict`), from a cache of 16 texts.

    Raises:
        InvalidParameter: If `text` is not JSON, or not an additive map.
    """
    try:
        coding = from_dict(json.loads(text)).coding
    except ValueError as error:
        raise InvalidParameter(f"the map is no JSON: {error}") from error
    if coding is None:
        raise InvalidParameter("the map must be an additive one: rows of others have no codes to count")
    return coding


def stored_codec(fields: dict[str, Any], digest: str | None) -> RowCodec | None:
    """Return the codec of the rows of a schema in its parsed form, whose map has this digest; None without codes.

    Rows have codes for an additive map with rows = "unit" and an intercept.

    Raises:
        InvalidSchema: If the digest is not the map's.
    """
    given = fields.get("map") or {}
    if given.get("kind") != "additive" or fields.get("rows") != "unit" or not fields.get("intercept"):
        return None
    map = from_dict(given)
    if map.digest != digest:
        raise InvalidSchema(
            "this version of the program reads the stored rows otherwise than the one that made them; use that version"
        )
    return codec_of(map, fields["radius"])


def _parse_parts(
    given: Any, called: str, columns: tuple[int, ...] | None, folder: Path | None, depth: int
) -> tuple[PublicMap, ...]:
    if not isinstance(given, list):
        raise InvalidParameter(f"the map {called!r} needs of, a list of maps")
    made: list[PublicMap] = []
    for part in given:
        made.append(from_dict(part, columns=columns, folder=folder, depth=depth + 1))
        if called == "chain":
            columns = (0,) * made[-1].width
    return tuple(made)
