"""Avro files (object container, specification 1.11): what their blocks hold, as bytes to look through or as plain values.

Manifests of Iceberg tables are such files. Blocks are uncompressed, or compressed by deflate, bzip2 or xz, which the standard library reads, or
by snappy or zstandard, which Arrow does. A library would read them in fewer lines, and without a bound on what a block unpacks to.
"""

from __future__ import annotations

import bz2
import json
import lzma
import struct
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ...errors import SourceError

MAGIC = b"Obj\x01"
_LONGEST = 1 << 28  # bytes of a file, and of a block of it unpacked
_DEEPEST = 64
_BY_ARROW = ("snappy", "zstandard")
_CRC = 4  # bytes behind a block of snappy


class _Reader:
    """Bytes read from the front."""

    def __init__(self, content: bytes) -> None:
        self.content, self.at = content, 0

    def take(self, size: int) -> bytes:
        if not 0 <= size <= len(self.content) - self.at:
            raise SourceError("a damaged Avro file")
        self.at += size
        return self.content[self.at - size : self.at]

    def whole(self) -> int:
        """A zigzag number of variable length."""
        found = self.unsigned()
        return (found >> 1) ^ -(found & 1)

    def unsigned(self) -> int:
        """A number of variable length."""
        found = shift = 0
        while True:
            (byte,) = self.take(1)
            found |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return found
            if shift > 63:
                raise SourceError("a damaged Avro file")

    def text(self) -> bytes:
        return self.take(self.whole())

    def counted(self, number: int) -> int:
        """A number of things that these bytes can hold."""
        if not 0 <= number <= len(self.content):
            raise SourceError("a damaged Avro file")
        return number

    @property
    def left(self) -> bool:
        return self.at < len(self.content)


def _unpacked(codec: str, block: bytes) -> bytes:
    if codec == "null":
        return block
    if codec in _BY_ARROW:
        return _unpacked_by_arrow(codec, block)
    unpackers: dict[str, Any] = {
        "deflate": lambda: zlib.decompressobj(-15),
        "bzip2": bz2.BZ2Decompressor,
        "xz": lzma.LZMADecompressor,
    }
    if codec not in unpackers:
        raise SourceError("Avro, compressed by something unknown")
    try:
        found: bytes = unpackers[codec]().decompress(block, _LONGEST)
    except (zlib.error, OSError, lzma.LZMAError, EOFError) as error:
        raise SourceError("a damaged Avro file") from error
    return _bounded(found)


def _unpacked_by_arrow(codec: str, block: bytes) -> bytes:
    try:
        import pyarrow
    except ImportError:
        raise SourceError(
            f"Avro, compressed by {codec}, which pyarrow reads: pip install 'noisygd-delete[files]'"
        ) from None
    try:
        if codec == "snappy":
            size = _Reader(block).unsigned()  # a block begins with its length
            if size >= _LONGEST:
                raise SourceError("unpacks to more than can be looked through")
            found: bytes = pyarrow.decompress(block[:-_CRC], decompressed_size=size, codec="snappy", asbytes=True)
            return found
        with pyarrow.CompressedInputStream(pyarrow.BufferReader(block), "zstd") as stream:
            found = stream.read(_LONGEST)
    except (OSError, pyarrow.ArrowException, OverflowError) as error:
        raise SourceError("a damaged Avro file") from error
    return _bounded(found)


def _bounded(found: bytes) -> bytes:
    if len(found) == _LONGEST:
        raise SourceError("unpacks to more than can be looked through")
    return found


def _opened(path: Path) -> tuple[_Reader, Mapping[str, bytes], str]:
    with path.open("rb") as file:
        content = file.read(_LONGEST + 1)
    if len(content) > _LONGEST or content[:4] != MAGIC:
        raise SourceError("no Avro file, or too large a one")
    reader = _Reader(content)
    reader.take(4)
    header = _value(reader, {"type": "map", "values": "bytes"}, {}, 0)
    return reader, header, header.get("avro.codec", b"null").decode("ascii", "replace")


def blocks(path: Path) -> Iterator[bytes]:
    """What each block holds, unpacked.

    Raises:
        SourceError: the file is damaged, or packed in a way that is not read here (its name).
    """
    return (content for _, content in _blocks(*_opened(path)))


def _blocks(reader: _Reader, _: Mapping[str, bytes], codec: str) -> Iterator[tuple[int, bytes]]:
    sync = reader.take(16)
    while reader.left:
        count, content = reader.whole(), _unpacked(codec, reader.text())
        if reader.take(16) != sync:
            raise SourceError("a damaged Avro file")
        yield count, content


def records(path: Path) -> Iterator[Any]:
    """Every record as plain values, by the schema that the file states.

    Raises:
        SourceError: as `blocks`.
    """
    reader, header, codec = _opened(path)
    try:
        schema = json.loads(header["avro.schema"])
    except (KeyError, ValueError, RecursionError) as error:
        raise SourceError("a damaged Avro file") from error
    named: dict[str, Any] = {}
    for count, content in _blocks(reader, header, codec):
        inside = _Reader(content)
        for _ in range(inside.counted(count)):
            try:
                yield _value(inside, schema, named, 0)
            except (KeyError, TypeError, AttributeError, ValueError) as error:  # of a schema that is none
                raise SourceError("a damaged Avro file") from error


def _value(reader: _Reader, schema: Any, named: dict[str, Any], depth: int) -> Any:
    if depth > _DEEPEST:
        raise SourceError("an Avro file of too deep a schema")
    if isinstance(schema, list):
        number = reader.whole()
        if not 0 <= number < len(schema):
            raise SourceError("a damaged Avro file")
        return _value(reader, schema[number], named, depth + 1)
    described = schema if isinstance(schema, dict) else named.get(schema, {"type": schema})
    kind = described.get("type")
    if isinstance(kind, (dict, list)):
        return _value(reader, kind, named, depth + 1)
    if kind in ("record", "enum", "fixed") and "name" in described:
        named[described["name"]] = described
    if kind == "record":
        fields = described.get("fields", ())
        return {field["name"]: _value(reader, field["type"], named, depth + 1) for field in fields}
    if kind in ("array", "map"):
        return _several(reader, described, kind, named, depth)
    if kind == "fixed":
        return reader.take(described["size"])
    plain = _PLAIN.get(kind)
    if plain is None:
        raise SourceError("an Avro file of an unknown type")
    return plain(reader)


def _several(reader: _Reader, described: Any, kind: str, named: dict[str, Any], depth: int) -> Any:
    items, pairs = [], {}
    while number := reader.whole():
        if number < 0:
            reader.whole()  # bytes of this part
        for _ in range(reader.counted(abs(number))):
            if kind == "map":
                name = reader.text().decode("utf-8", "replace")
                pairs[name] = _value(reader, described["values"], named, depth + 1)
            else:
                items.append(_value(reader, described["items"], named, depth + 1))
    return pairs if kind == "map" else items


_PLAIN: dict[Any, Any] = {
    "null": lambda reader: None,
    "boolean": lambda reader: reader.take(1) != b"\0",
    "int": _Reader.whole,
    "long": _Reader.whole,
    "enum": _Reader.whole,
    "float": lambda reader: struct.unpack("<f", reader.take(4))[0],
    "double": lambda reader: struct.unpack("<d", reader.take(8))[0],
    "bytes": _Reader.text,
    "string": lambda reader: reader.text().decode("utf-8", "replace"),
}
