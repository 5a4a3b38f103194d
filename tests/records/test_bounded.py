"""What is read from outside: plain files, stated sizes, lines that end at \\n or \\r\\n, JSON without a name twice."""

from __future__ import annotations

import hashlib
import io
import os
import sys
from pathlib import Path

import pytest

from noisygd_delete.errors import InvalidParameter, InvalidRequest
from noisygd_delete.records import limited_io


def test_a_file_within_its_limit_is_read_whole(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"\xef\xbb\xbfab\r\n")
    assert limited_io.read_file(file, 7) == b"\xef\xbb\xbfab\r\n"
    assert limited_io.read_text(file, 7) == "ab\r\n"
    assert limited_io.file_digest(file) == hashlib.sha256(file.read_bytes()).hexdigest()
    with pytest.raises(InvalidParameter, match="longer than 6 bytes"):
        limited_io.read_file(file, 6)
    file.write_bytes(b"secret\xff")
    with pytest.raises(InvalidRequest, match="not UTF-8 text") as caught:
        limited_io.read_text(file, 100, error=InvalidRequest)
    assert "secret" not in str(caught.value)


@pytest.mark.skipif(sys.platform == "win32", reason="devices and named pipes of POSIX systems")
def test_what_never_ends_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in ("/dev/zero", tmp_path / "pipe", tmp_path):
        for read in (lambda path: limited_io.read_file(path, 10), limited_io.file_digest):
            with pytest.raises(InvalidParameter, match=r"not a plain file|cannot be read"):
                read(path)


@pytest.mark.parametrize("name", ["absent", "x" * 300, "a\0b", "\ud800", ""])
def test_a_name_that_opens_nothing_is_one_error(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidParameter):
        limited_io.read_file(os.path.join(tmp_path, name), 10)


def test_lines_end_at_newlines_and_nowhere_else() -> None:
    odd = "a\u2028b\u2029c\x85d\x0be\x0cf\x1cg\rh"
    assert limited_io.split_lines(f"{odd}\r\nx\n\ny") == [odd, "x", "", "y"]
    raw = io.BytesIO(f"\ufeff{odd}\r\nx\n\ny".encode())
    assert list(limited_io.iterate_lines(raw)) == [odd, "x", "", "y"]


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("length", range(8))
def test_a_line_too_long_is_one_place_and_the_next_is_read(length: int, end: bytes, monkeypatch) -> None:
    monkeypatch.setattr(limited_io, "_CHUNK", 3)
    long, last = b"l" * length, b"z" * 4
    expected = None if length > 5 else "l" * length
    assert list(limited_io.iterate_lines(io.BytesIO(long + end + long + end + last), 5)) == [expected, expected, "zzzz"]
    assert list(limited_io.iterate_lines(io.BytesIO(b"\xef\xbb\xbf" + long), 8)) == [
        "l" * length if length <= 5 else None
    ]
    assert list(limited_io.iterate_lines(io.BytesIO(b"a\xff" + end))) == ["a\udcff"]


def test_a_line_without_an_end_holds_no_memory_and_stops() -> None:
    class Zeros(io.RawIOBase):
        asked = 0

        def readable(self) -> bool:
            return True

        def readinto(self, buffer) -> int:
            self.asked += len(buffer)
            buffer[:] = bytes(len(buffer))
            return len(buffer)

    raw = Zeros()
    with pytest.raises(InvalidRequest, match="without an end"):
        list(limited_io.iterate_lines(io.BufferedReader(raw), 100, error=InvalidRequest))
    assert raw.asked < 2 * limited_io.LIST
    with pytest.raises(InvalidParameter, match="longer than 1000 bytes"):
        limited_io.read_limited(io.BufferedReader(Zeros()), 1000, "standard input")


@pytest.mark.parametrize(
    "document",
    ['{"a": 1, "a": 1}', '[{"b": {"a": 1, "c": 2, "a": 3}}]', "NaN", "[-Infinity]", "[" * 100_000, "9" * 10_000, "{"],
)
def test_json_that_says_two_things_or_none_is_refused(document: str) -> None:
    with pytest.raises(ValueError, match=r".") as caught:
        limited_io.parse_json(document)
    assert '"a"' not in str(caught.value)


def test_json_as_the_standard_has_it() -> None:
    assert limited_io.parse_json('{"a": [1, 2.5, null, {"a": ""}]}') == {"a": [1, 2.5, None, {"a": ""}]}
