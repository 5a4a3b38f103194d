"""The reference of a schema's keys: `python -m tests.features.schema.reference` writes docs/schema.md's lists from the JSON Schema that ships
with the package."""

from __future__ import annotations

import json
import re
from typing import Any

from noisygd_delete.features.schema.fields import JSON_SCHEMA, KINDS, LABEL, TOP
from tests.conftest import ROOT

PAGE = ROOT / "docs" / "schema.md"
_KEYS = json.loads(JSON_SCHEMA.read_text())["properties"]
_KINDS = {kind["title"]: kind["properties"] for kind in _KEYS["columns"]["additionalProperties"]["oneOf"]}
TABLES = {
    "top": {name: _KEYS[name] for name in TOP},
    "label": {name: _KEYS["label"]["properties"][name] for name in LABEL},
    **{kind: {name: _KINDS[kind][name] for name in names} for kind, names in KINDS.items()},
}
_BLOCK = re.compile(r"(<!-- keys: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def listed(keys: dict[str, dict[str, Any]], said: set[str]) -> str:
    """One list, and the names of the keys that an earlier one `said` in the same words."""
    rows, again = [], []
    for name, form in keys.items():
        default = f"; default `{json.dumps(form['default'])}`" if "default" in form else ""
        row = f"* `{name}` ({_words(form)}{default}): {form['description']}"
        if row in said:
            again.append(f"`{name}`")
        else:
            rows.append(row)
        said.add(row)
    also = ["", f"As above: {', '.join(again)}."] if again else []
    return "\n".join(["", *rows, *also, "", ""])


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
    """The page with its lists as the code has them."""
    said: set[str] = set()
    return _BLOCK.sub(lambda found: found[1] + listed(TABLES[found[2]], said) + found[3], text)


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text()))
