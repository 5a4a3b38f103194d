"""The reference and the JSON Schema say what the code reads: tried against `Schema.from_dict`."""

from __future__ import annotations

import json
import re
import tomllib

import pytest

from noisygd_delete.features.schema import Schema
from noisygd_delete.features.schema import fields as options
from noisygd_delete.features.schema.fields import JSON_SCHEMA, KINDS, LABEL, TOP
from tests.conftest import ROOT
from tests.features.schema.reference import PAGE, TABLES, page
from tests.features.schema.test_features import BAD_SCHEMAS, FIELDS
from tests.features.schema.test_kinds import BAD_KINDS

LABELLED = {"label": {"column": "y", "classes": ["no", "yes"]}}


def test_the_page_says_what_the_json_schema_says() -> None:
    assert PAGE.read_text() == page(PAGE.read_text()), "run python -m tests.features.schema.reference"
    for key in (*TOP, *LABEL, *(key for keys in KINDS.values() for key in keys)):
        assert f"* `{key}` (" in PAGE.read_text()


def test_what_may_be_chosen_is_what_the_code_takes() -> None:
    """Every list of choices of the JSON Schema is one of `options`, and every one of those is listed."""
    listed = set()
    for keys in TABLES.values():
        forms = [form.get("items", form) for form in keys.values()]
        listed |= {tuple(form["enum"]) for form in forms if "enum" in form}
    own = {name: value for name, value in vars(options).items() if not name.startswith("_")}
    known = {value for value in own.values() if isinstance(value, tuple)} - {TOP, LABEL, options.TABLES}
    assert listed == known | {options.CYCLES[:1]}


def test_examples_of_the_page_are_schemas() -> None:
    examples = re.findall(r"```toml\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert len(examples) == len(KINDS) + 1, "each kind of column, and a whole schema"
    for example in examples:
        assert Schema.from_dict({**LABELLED, **tomllib.loads(example)}).features >= 2


VALID = [
    {},
    {
        "confirmed": False,
        "rows": "clip",
        "radius": 2,
        "intercept": False,
        "id": "i",
        "subject": "s",
        "rows_per_subject": 3,
    },
    {"label": {"column": "y", "bounds": [0, 1], "decimal": ",", "thousands": ".", "unit": "€", "from_data": True}},
    {"columns": {"a": {"bounds": [0, 1], "transform": "log1p", "missing": 0.5, "empty": ["NA"], "decimal": ","}}},
    {"columns": {"a": {"bounds": [0, 1], "missing": "column", "thousands": ",", "unit": "%", "from_data": True}}},
    {"columns": {"a": {"categories": ["u"], "unknown": "refuse"}, "b": {"boolean": ["u", "v"], "unknown": "column"}}},
    {
        "columns": {
            "a": {"dates": ["2013-01-01", "2014-01-01"], "format": "%Y", "cycles": ["week"], "missing": "column"}
        }
    },
    {"columns": {"a": {"times": ["08:00", "09:00"], "cycles": ["day"], "empty": ["-"]}}},
]


@pytest.mark.parametrize("fields", VALID)
def test_what_the_code_reads_an_editor_accepts(fields: dict) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    given = {**LABELLED, "columns": {}, **fields}
    jsonschema.Draft202012Validator(json.loads(JSON_SCHEMA.read_text())).validate(given)
    if "columns" in fields or fields.get("intercept", True):
        made = Schema.from_dict(given)
        jsonschema.Draft202012Validator(json.loads(JSON_SCHEMA.read_text())).validate(made.to_dict())
        assert Schema.from_dict(made.to_dict()) == made


# what is said where the code refuses alone: a JSON Schema has no relations of values
RELATIONS = {
    *("radius", 'must be 1 with rows = "unit"', "also the label column", "also the id column", "nothing to learn from"),
    *("name of a column", "lo < hi", "above -1", "one number", "within the bounds", "first before last", "%Y %m %d"),
    *("%H %M %S %f", "another mark"),
}


def test_what_the_code_refuses_an_editor_refuses_but_for_relations() -> None:
    """Tests of their own have it that the code refuses these."""
    jsonschema = pytest.importorskip("jsonschema")
    validator = jsonschema.Draft202012Validator(json.loads(JSON_SCHEMA.read_text()))
    given = [({**FIELDS, **change}, said) for change, said in BAD_SCHEMAS]
    given += [({**LABELLED, "columns": {"c": column}}, said) for column, said in BAD_KINDS]
    accepted = [said for fields, said in given if not list(validator.iter_errors(fields))]
    assert set(accepted) == RELATIONS
    assert len(accepted) == 21 < len(given) / 2


def test_example_schemas_and_the_json_schema_itself_are_valid() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.Draft202012Validator.check_schema(json.loads(JSON_SCHEMA.read_text()))
    for path in (ROOT / "examples" / "schemas").glob("*.toml"):
        jsonschema.Draft202012Validator(json.loads(JSON_SCHEMA.read_text())).validate(tomllib.loads(path.read_text()))
        Schema.read(path)
    assert json.loads(JSON_SCHEMA.read_text())["title"]


@pytest.mark.parametrize("table", ["top", "label", *(kind for kind, keys in KINDS.items() if len(keys) > 1)])
def test_a_default_on_the_page_is_what_the_code_takes(table: str) -> None:
    """Written out or left out, it is the same schema."""
    kinds = {
        "number": {"bounds": [0, 1]},
        "category": {"categories": ["u"]},
        "boolean": {"boolean": ["u", "v"]},
        "date": {"dates": ["2013-01-01", "2014-01-01"]},
        "time": {"times": ["08:00", "09:00"]},
        "text": {"text": "words"},
    }
    target = {"label": {"column": "y", "bounds": [0, 1]}}

    def read(**more: object) -> Schema:
        if table == "top":
            return Schema.from_dict({**target, **more})
        if table == "label":
            return Schema.from_dict({"label": {**target["label"], **more}})
        return Schema.from_dict({**target, "columns": {"c": {**kinds[table], **more}}})

    defaults = {name: form["default"] for name, form in TABLES[table].items() if "default" in form}
    assert defaults
    for name, value in defaults.items():
        assert read(**{name: value}) == read(), name
