"""The reference of a schema's keys, made of the code's own tables: `python -m tests.features.schema.reference` writes docs/schema.md's tables and
the JSON Schema that ships with the package."""

from __future__ import annotations

import json
import re

from noisygd_delete.features.schema.draft import JSON_SCHEMA
from noisygd_delete.features.schema.options import KINDS, LABEL, TOP, Key, json_schema
from tests.conftest import ROOT

PAGE = ROOT / "docs" / "schema.md"
TABLES = {"top": TOP, "label": LABEL, **KINDS}
_BLOCK = re.compile(r"(<!-- keys: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def table(keys: tuple[Key, ...]) -> str:
    rows = [
        f"| `{key.name}` | {_form(key)} | {f'`{key.default}`' if key.default else ''} | {key.means} |" for key in keys
    ]
    return "\n".join(["", "| key | value | default | meaning |", "|---|---|---|---|", *rows, "", ""])


def _form(key: Key) -> str:
    return _words(key.form).replace("|", "\\|")


def _words(form) -> str:
    if "enum" in form:
        return ", ".join(f"`{json.dumps(value)}`" for value in form["enum"])
    if "const" in form:
        return f"`{json.dumps(form['const'])}`"
    if "anyOf" in form:
        return " or ".join(map(_words, form["anyOf"]))
    if form["type"] != "array":
        return {"boolean": "true or false", "string": "text", "number": "number", "integer": "whole number"}[
            form["type"]
        ]
    items = _words(form["items"])
    return f"two: {items}" if form.get("maxItems") == 2 else f"list of {items}"


def page(text: str) -> str:
    """The page with its tables as the code has them."""
    return _BLOCK.sub(lambda found: found[1] + table(TABLES[found[2]]) + found[3], text)


def document() -> str:
    return json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text()))
    JSON_SCHEMA.write_text(document())
