"""Parsing of edit requests from JSON lines or CSV.

JSON, one request per line; every part except request_id is optional:

    {"request_id": "token", "delete": ["17", 42], "subjects": ["person"],
     "replace": {"18": {"age": 40, …, "income": "<=50K"}}, "insert": [{"id": "900", "age": 31, …}]}

CSV, deletions only: a header with request_id and one or both of id, subject; adjacent lines with the same request_id
form one request. Raw rows are encoded by the store's public schema. Messages name the line but never quote it, as it
contains personal data. Lines come from `limited_io.split_lines`: a line that is not UTF-8, too long, or not a row of
CSV is one refused request and does not end the stream.
"""

from __future__ import annotations

import csv
import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from ...errors import InvalidRequest, InvalidSchema
from ...features.schema import Schema
from ...features.schema.cells import Fractions, write_text
from ...features.schema.files import Table
from ...records import EditRequest, Id, Insertion, limited_io

Numbered = tuple[int, EditRequest | InvalidRequest]

_PARTS = {"request_id", "delete", "subjects", "replace", "insert"}


def from_json(line: str, number: int, schema: Schema) -> EditRequest:
    """Parse the request in one JSON line.

    Args:
        line: The line.
        number: Its number, for messages.
        schema: Encodes raw rows.

    Raises:
        InvalidRequest: If the line is not a request; the message names the line.
    """
    try:
        fields = limited_io.parse_json(line)
    except ValueError:
        reason = "not a JSON object, or one that gives a part twice; give every part once"
        raise InvalidRequest(f"line {number}: {reason}") from None
    if not isinstance(fields, dict) or not set(fields) <= _PARTS:
        raise InvalidRequest(f"line {number}: a request is an object with {', '.join(sorted(_PARTS))} and nothing else")
    try:
        inserted, replaced = fields.get("insert", []), fields.get("replace", {})
        if not isinstance(inserted, list) or not isinstance(replaced, dict):
            raise InvalidRequest("insert is a list of rows, replace maps ids to rows")
        if {type(name) for name in _parse_ids(fields, "delete") + _parse_ids(fields, "subjects")} - {int, str}:
            raise InvalidRequest("ids and subjects are whole numbers or strings")
        return EditRequest(
            deletions=tuple(_parse_ids(fields, "delete")),
            subjects=tuple(_parse_ids(fields, "subjects")),
            replacements=_parse_replacements(replaced, number, schema),
            insertion=_parse_insertion(inserted, number, schema),
            request_id=_parse_token(fields.get("request_id")),
        )
    except (InvalidRequest, InvalidSchema) as error:
        raise InvalidRequest(f"line {number}: {error}") from error


def _parse_ids(fields: Mapping[str, Any], name: str) -> list[Id]:
    value = fields.get(name, [])
    if not isinstance(value, list):
        raise InvalidRequest(f"{name} must be a list")
    return value


def _parse_token(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise InvalidRequest(
            "request_id is missing; give every request its own random token, so that a stream can be resumed"
        )
    return value


def _parse_table(rows: Sequence[Any], number: int) -> Table:
    if not all(isinstance(row, dict) and set(row) == set(rows[0]) for row in rows):
        raise InvalidRequest("rows are objects that all have the same columns")
    columns: dict[str, list[str]] = {}
    for name in rows[0]:
        try:
            texts = [write_text(row[name]) for row in rows]
        except ValueError as error:
            raise InvalidRequest(f"column {str(name)!r}: {error}") from None
        columns[str(name)] = Fractions(texts) if any(isinstance(row[name], float) for row in rows) else texts
    return Table(f"line {number}", columns, [number] * len(rows))


def _parse_insertion(rows: list[Any], number: int, schema: Schema) -> Insertion | None:
    if not rows:
        return None
    new = schema.encode(_parse_table(rows, number))
    return EditRequest.insert(new.ids, new.rows, new.labels, subjects=new.subjects).insertion


def _parse_replacements(rows: Mapping[str, Any], number: int, schema: Schema) -> Mapping[Id, Any]:
    if not rows:
        return {}
    new = dataclasses.replace(schema, id_column=None, subject_column=None).encode(
        _parse_table(list(rows.values()), number)
    )
    return EditRequest.replace(
        {name: (row, label) for name, row, label in zip(rows, new.rows, new.labels, strict=True)}
    ).replacements


def parse_requests(lines: Iterable[str | None], schema: Schema, *, table: bool = False) -> Iterator[Numbered]:
    """Yield the requests in order, each with the number of its first line; unreadable ones are yielded as errors.

    Args:
        lines: Lines of the file, with or without line ends; None for a line that was too long
            (`limited_io.split_lines`).
        schema: Encodes raw rows.
        table: Whether the lines are CSV.

    Raises:
        InvalidRequest: If the header of a CSV stream is not valid; nothing was read.
    """
    rows = enumerate(lines, start=1)
    if table:
        yield from _parse_deletions(rows)
        return
    for number, line in rows:
        try:
            if line is None or line.strip():
                yield number, from_json(_shorten(line), number, schema)
        except InvalidRequest as error:
            yield number, _with_line_number(number, error)


def _shorten(line: str | None) -> str:
    if line is None:
        raise InvalidRequest(f"longer than {limited_io.LINE} bytes; split the request")
    return line


def _with_line_number(number: int, error: InvalidRequest) -> InvalidRequest:
    """Return the error with its line number prefixed once."""
    place = f"line {number}: "
    return error if str(error).startswith(place) else InvalidRequest(f"{place}{error}")


def _parse_cells(line: str | None) -> list[str]:
    """Parse one line of CSV. A cell that continues on the next line is rejected: it cannot be an id."""
    try:
        rows = list(csv.reader([_shorten(line)], strict=True))
    except csv.Error as error:
        raise InvalidRequest(f"not a row of CSV ({error})") from None
    return rows[0] if rows else []


def _parse_deletions(lines: Iterator[tuple[int, str | None]]) -> Iterator[Numbered]:
    header = _parse_cells(next(lines, (0, ""))[1])
    if sorted(header) not in (["id", "request_id"], ["request_id", "subject"], ["id", "request_id", "subject"]):
        raise InvalidRequest("the header of a CSV stream is request_id with id, subject or both")
    rows = (_parse_row(number, line, header) for number, line in lines)
    for token, group in groupby((row for row in rows if row is not None), key=_token_of):
        together = list(group)
        first = together[0][0]
        if token is None:  # invalid lines: each is refused separately
            yield from (
                (number, _with_line_number(number, problem))
                for number, problem in together
                if isinstance(problem, InvalidRequest)
            )
            continue
        cells = [row for _, row in together if not isinstance(row, InvalidRequest)]
        try:
            ids = [row["id"] for row in cells if row.get("id")]
            subjects = [row["subject"] for row in cells if row.get("subject")]
            yield first, EditRequest.delete(ids, subjects=subjects, request_id=_parse_token(token))
        except InvalidRequest as error:
            yield first, _with_line_number(first, error)


def _parse_row(number: int, line: str | None, header: list[str]) -> tuple[int, dict[str, str] | InvalidRequest] | None:
    """Parse one line as a row; return the error if it is invalid, None if it is empty."""
    try:
        cells = _parse_cells(line)
        if not cells:
            return None
        if len(cells) != len(header):
            raise InvalidRequest("not as many values as the header has columns")
        return number, dict(zip(header, cells, strict=True))
    except InvalidRequest as error:
        return number, error


def _token_of(row: tuple[int, dict[str, str] | InvalidRequest]) -> str | None:
    return None if isinstance(row[1], InvalidRequest) else row[1]["request_id"]
