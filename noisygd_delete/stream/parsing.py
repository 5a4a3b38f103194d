"""Edit requests as lines of text: JSON objects, or CSV.

JSON, one request a line; every part but request_id may be left out:

    {"request_id": "token", "delete": ["17", 42], "subjects": ["person"],
     "replace": {"18": {"age": 40, …, "income": "<=50K"}}, "insert": [{"id": "900", "age": 31, …}]}

CSV, deletions only: a header with request_id and one or both of id, subject; neighbouring lines with the same request_id are one
request. Raw rows are encoded by the store's public schema. Messages name the line and never quote it: a line is
somebody's data. The file is to be opened with errors="surrogateescape", so that a line that is not UTF-8 is one refused
request and not the end of the stream.
"""

from __future__ import annotations

import csv
import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from ..errors import InvalidRequest, InvalidSchema
from ..records import EditRequest, Id, Insertion, bounded
from ..schema import Schema
from ..schema.files import Table

_PARTS = {"request_id", "delete", "subjects", "replace", "insert"}


def from_json(line: str, number: int, schema: Schema) -> EditRequest:
    """The request in one JSON line.

    Raises:
        InvalidRequest: naming the line.
    """
    try:
        fields = bounded.parsed(line)
    except ValueError:
        reason = "not a JSON object, or one that gives a part twice; give every part once"
        raise InvalidRequest(f"line {number}: {reason}") from None
    if not isinstance(fields, dict) or not set(fields) <= _PARTS:
        raise InvalidRequest(f"line {number}: a request is an object with {', '.join(sorted(_PARTS))} and nothing else")
    try:
        inserted, replaced = fields.get("insert", []), fields.get("replace", {})
        if not isinstance(inserted, list) or not isinstance(replaced, dict):
            raise InvalidRequest("insert is a list of rows, replace maps ids to rows")
        if {type(name) for name in _listed(fields, "delete") + _listed(fields, "subjects")} - {int, str}:
            raise InvalidRequest("ids and subjects are whole numbers or strings")
        return EditRequest(
            deletions=tuple(_listed(fields, "delete")),
            subjects=tuple(_listed(fields, "subjects")),
            replacements=_replacements(replaced, number, schema),
            insertion=_insertion(inserted, number, schema),
            request_id=_token(fields.get("request_id")),
        )
    except (InvalidRequest, InvalidSchema) as error:
        raise InvalidRequest(f"line {number}: {error}") from error


def _listed(fields: Mapping[str, Any], name: str) -> list[Id]:
    value = fields.get(name, [])
    if not isinstance(value, list):
        raise InvalidRequest(f"{name} must be a list")
    return value


def _token(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise InvalidRequest(
            "request_id is missing; give every request its own random token, so that a stream can be resumed"
        )
    return value


def _table(rows: Sequence[Any], number: int) -> Table:
    if not all(isinstance(row, dict) and set(row) == set(rows[0]) for row in rows):
        raise InvalidRequest("rows are objects that all have the same columns")
    columns = {str(name): ["" if row[name] is None else str(row[name]).strip() for row in rows] for name in rows[0]}
    return Table(f"line {number}", columns, [number] * len(rows))


def _insertion(rows: list[Any], number: int, schema: Schema) -> Insertion | None:
    if not rows:
        return None
    new = schema.encode(_table(rows, number))
    return EditRequest.insert(new.ids, new.rows, new.labels, subjects=new.subjects).insertion


def _replacements(rows: Mapping[str, Any], number: int, schema: Schema) -> Mapping[Id, Any]:
    if not rows:
        return {}
    new = dataclasses.replace(schema, id_column=None, subject_column=None).encode(_table(list(rows.values()), number))
    return EditRequest.replace(
        {name: (row, label) for name, row, label in zip(rows, new.rows, new.labels, strict=True)}
    ).replacements


def read(lines: Iterable[str], schema: Schema, *, table: bool = False) -> Iterator[EditRequest | InvalidRequest]:
    """The requests in order; in the place of one that cannot be read, the reason.

    Args:
        lines: of the file, with or without line ends. table: whether they are CSV.
    """
    if table:
        yield from _csv(lines)
        return
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                yield from_json(line, number, schema)
            except InvalidRequest as error:
                yield error


def _csv(lines: Iterable[str]) -> Iterator[EditRequest | InvalidRequest]:
    reader = csv.DictReader(lines)
    try:
        yield from _deletions(reader)
    except csv.Error as error:
        raise InvalidRequest(f"line {reader.line_num}: not CSV ({error}); what was read before it stands") from error


def _deletions(reader: csv.DictReader[str]) -> Iterator[EditRequest | InvalidRequest]:
    header = sorted(reader.fieldnames or ())
    if header not in (["id", "request_id"], ["request_id", "subject"], ["id", "request_id", "subject"]):
        raise InvalidRequest("the header of a CSV stream is request_id with id, subject or both")
    for token, group in groupby(enumerate(reader, start=2), key=lambda numbered: numbered[1]["request_id"]):
        numbered = list(group)
        first = numbered[0][0]
        try:
            if any(None in row or None in row.values() for _, row in numbered):
                raise InvalidRequest("not as many values as the header has columns")
            yield EditRequest.delete(
                [row["id"] for _, row in numbered if row.get("id")],
                subjects=[row["subject"] for _, row in numbered if row.get("subject")],
                request_id=_token(token),
            )
        except InvalidRequest as error:
            yield InvalidRequest(f"line {first}: {error}")
