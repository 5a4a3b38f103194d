"""A row goes stale when code that its statement rests on changes, wherever that code stands, and never when only words or places do."""

from __future__ import annotations

import ast
import dis
from functools import cache
from pathlib import Path
from types import CodeType

import pytest

from noisygd_delete.bounds import shifted_interpolation, theorem_5_1
from proofs_check import licences
from proofs_check.normal_form import Place
from proofs_check.sources import Sources
from proofs_check.statements import REGISTRY

PACKAGE = licences.present()


@cache
def index() -> dict[str, dict[str, str]]:
    """The package as it is; not made where tests are only collected."""
    return {key: licences.current(entry) for key, entry in REGISTRY.items()}


def stale_rows(edits: dict[str, str], keys=REGISTRY) -> set[str]:
    sources = Sources(edits=edits)
    return {key for key in keys if licences.stale(REGISTRY[key], index(), sources)}


def edited(name: str, old: str, new: str) -> dict[str, str]:
    """The module that defines `name`, with one change inside that definition."""
    place = PACKAGE.find(name)
    assert place is not None, name
    node = PACKAGE.module(place.module).definitions[place.name][-1]
    if place.member:
        node = next(item for item in node.body if getattr(item, "name", "") == place.member)
    lines = PACKAGE.texts[place.module].splitlines(keepends=True)
    before, inside, after = (
        "".join(part)
        for part in (lines[: node.lineno - 1], lines[node.lineno - 1 : node.end_lineno], lines[node.end_lineno :])
    )
    assert old in inside, f"{name} no longer reads {old!r}"
    return {place.module: before + inside.replace(old, new, 1) + after}


# edits of code on which a row rests without naming it: each was invisible to a hash of named functions
UNNAMED = {
    "a constant": ("rounding:MARGIN", "MARGIN = 1e-12", "MARGIN = 1e-6", {"S.gdp", "S.optimal", "S.advantage"}),
    "a constant of another module": ("rounding:UNIT", "UNIT = 2.0**-53", "UNIT = 0.0", {"S.gdp", "S.optimal"}),
    "a method": (
        "minimiser:OutputPerturbationRun._cost",
        "if steps_without and not (",
        "if not steps_without and not (",
        {"S.history"},
    ),
    "a property": (
        "events:Event.fresh",
        "return self.kind not in (EventKinds.UNLEARN, EventKinds.STATISTIC) or self.mechanism.fresh",
        "return not (self.kind not in (EventKinds.UNLEARN, EventKinds.STATISTIC) or self.mechanism.fresh)",
        {"S.history"},
    ),
    "another property": (
        "events:Event.warm",
        "self.kind is EventKinds.UNLEARN and",
        "self.kind is not EventKinds.UNLEARN and",
        {"S.history"},
    ),
    "a property of the answer": (
        "guarantee:Guarantee.total_rate",
        "self.gdp_squared / 2",
        "self.gdp_squared",
        {"S.history"},
    ),
    "what is called through a module": (
        "shifted_interpolation:gdp_limit",
        "(1 - step_size * strong_convexity / 2)",
        "(1 - step_size * strong_convexity)",
        {"S.history", "S.gdp-bound", "S.diffuse"},
    ),
    "a method of a part": (
        "guarantee:Guarantee.listed",
        "if listed >= order",
        "if listed > order",
        {"S.history", "B.3"},
    ),
    "a default of a field": (
        "guarantee:Guarantee",
        "proven: bool = True",
        "proven: bool = False",
        {"S.history", "B.3"},
    ),
    "a method that Python calls": (
        "guarantee:Guarantee.__post_init__",
        'check_bound("rate", self.rate)',
        "pass",
        {"S.history", "B.3"},
    ),
    "a constant of a kind of event": ("extractor:ORDERS", "*range(2, 33)", "*range(2, 32)", {"S.history"}),
    "a check of what is handed in": (
        "errors:check_positive",
        "not number > 0",
        "not number >= 0",
        {"S.history", "S.logistic"},
    ),
    "a default argument": (
        "shifted_interpolation:gdp",
        "steps_without_record: float = 0,",
        "steps_without_record: float = 1,",
        {"S.history"},
    ),
}


@pytest.mark.parametrize("what", UNNAMED)
def test_a_change_of_what_a_row_rests_on_makes_it_stale(what):
    name, old, new, rows = UNNAMED[what]
    assert rows <= stale_rows(edited(name, old, new), rows)


def test_a_row_that_does_not_rest_on_it_stays():
    name, old, new, _ = UNNAMED["a property"]
    assert stale_rows(edited(name, old, new), {"S.gdp", "S.logistic", "G.7", "5.1(1)", "S.gdp-bound"}) == set()


def joined(room: str, file: str, kind: str, old: str, new: str) -> dict[str, str]:
    """A catalogue with one more line, and the file of what it lists: `file` with another class in it."""
    catalogue = PACKAGE.texts[room]
    assert catalogue.count(old) == 1
    return {
        room: catalogue.replace(old, old + new),
        f"{room}.newcomer": PACKAGE.texts[f"{room}.{file}"].replace(f"class {kind}", "class Newcomer"),
    }


def test_what_only_joins_a_catalogue_makes_no_row_stale():
    """The rows accepted say nothing of a new method or loss; the classes that they name count as before."""
    method = joined("methods", "noisy_gd", "NoisyGD", '    "noisy-gd": "NoisyGD",\n', '    "newcomer": "Newcomer",\n')
    loss = joined("losses", "logistic", "Logistic", '    "logistic": "Logistic",\n', '    "newcomer": "Newcomer",\n')
    assert stale_rows(method) == stale_rows(loss) == set()


def test_another_class_under_a_name_that_a_row_uses_makes_it_stale():
    catalogue = PACKAGE.texts["methods"]
    swapped = catalogue.replace('    "noisy-gd": "NoisyGD",\n', '    "noisy-gd": "Theorem",\n')
    assert swapped != catalogue
    assert "S.plans" in stale_rows({"methods": swapped}, {"S.plans"})


def test_a_row_names_its_methods_by_class_or_by_the_name_in_the_catalogue():
    assert {"NoisyGD", "OutputPerturbation", "OutputPerturbationRun", "ObjectivePerturbation"} <= licences.named(
        REGISTRY["S.history"], PACKAGE
    )
    assert licences.named(REGISTRY["S.gdp"], PACKAGE) == set()


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("shifted_interpolation:gdp_limit", '"""Return ', '"""Return, in other words, '),
        (
            "shifted_interpolation:gdp_limit",
            "    return (\n        sensitivity / records",
            "    # a comment\n    return (\n        sensitivity  /  records",
        ),
        ("errors:check_positive", "must be ", "has to be "),
        (
            "shifted_interpolation:gdp_limit",
            "noise_variance: float, records: float\n",
            "noise_variance: 'float', records: int\n",
        ),
    ],
)
def test_words_comments_formats_and_annotations_do_not_count(name, old, new):
    assert stale_rows(edited(name, old, new)) == set()


_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def test_every_reference_is_seen():
    """The bytecode's own list of global names is the oracle: what a function loads from its module is in its normal form."""
    for module, text in PACKAGE.texts.items():
        tree = _Quiet().visit(ast.parse(text))
        compiled = compile(ast.fix_missing_locations(tree), module, "exec", flags=0x1000000, dont_inherit=True)
        names = PACKAGE.module(module)
        heads = {node.name: _names(node) for node in ast.walk(tree) if isinstance(node, _DEFINITIONS)}
        for code in compiled.co_consts:
            if isinstance(code, CodeType) and code.co_name in names.definitions:
                whole = Place(module, code.co_name)
                members = [Place(module, code.co_name, member) for member in PACKAGE.members(whole)]
                seen = {p for place in (whole, *members) for p in PACKAGE.normal(place).places}
                loaded = set(_globals(code))
                own = {Place(module, name) for name in loaded if name in names.definitions}
                brought = {PACKAGE.follow(f".{module}", name) for name in loaded if name in names.imports}
                assert own | {place for place in brought if isinstance(place, Place)} <= seen, whole
                named = {*loaded, *heads[code.co_name], code.co_name}
                assert {place.name for place in seen if place.module == module} <= named, whole


class _Quiet(ast.NodeTransformer):
    """Without the words of errors, which the normal form leaves out."""

    def visit_Raise(self, node: ast.Raise) -> ast.stmt:
        return ast.copy_location(ast.Pass(), node)

    def visit_Assert(self, node: ast.Assert) -> ast.stmt:
        node.msg = None
        return node


def _globals(code: CodeType):
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            yield instruction.argval
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _globals(inner)


def _names(node: ast.AST) -> set[str]:
    """Names in a definition, those that the module evaluates included: decorators, defaults, annotations of fields."""
    return {name.id for name in ast.walk(node) if isinstance(name, ast.Name)}


def test_no_row_rests_on_a_module_handed_around_as_a_value():
    """Such a value could be asked for anything; the closure would not know for what."""
    for entry in REGISTRY.values():
        for name in entry.licenses:
            for place in licences.closure(PACKAGE.find(name), PACKAGE, licences.named(entry, PACKAGE)):
                assert "a module," not in PACKAGE.normal(place).parts, place


# --- a small package, to move things about in ---

ONE = '''
"""A module."""
import math
from dataclasses import dataclass

LIMIT = 3
_TABLE = {"a": 1}
_TABLE["b"] = 2


def helper(x, helper=2):
    """A helper."""
    return x + LIMIT + helper


def licensed(x):
    """Docstring."""
    if x > 9:
        raise ValueError(f"{x} is too large")
    return 2 * helper(x) + sum(map(lambda y: other(y), [x])) + math.sqrt(x)  # comment


def other(y):
    return y * _TABLE["a"] if y else licensed(y - 1)


@dataclass
class Shape:
    size: float = 1.0

    @property
    def area(self):
        return self.size**2 * LIMIT

    def unused(self):
        return 5

    def __len__(self):
        return 4


class Cube(Shape):
    @property
    def area(self):
        return 6 * self.size**2


def measured(shape: Shape):
    return shape.area
'''


def toy(path: Path, **modules: str) -> Sources:
    path.mkdir()
    (path / "__init__.py").write_text("")
    for name, text in modules.items():
        file = path / f"{name.replace('__', '/')}.py"
        file.parent.mkdir(exist_ok=True)
        (file.parent / "__init__.py").write_text("")
        file.write_text(text)
    return Sources(path)


def mark(sources: Sources, name: str) -> str:
    place = sources.find(name)
    assert place is not None
    return licences.fingerprint(place, sources)


@pytest.mark.parametrize(
    ("old", "new", "changes"),
    [
        ("2 * helper(x)", "3 * helper(x)", {"licensed"}),
        ("x + LIMIT + helper", "x - LIMIT + helper", {"licensed"}),
        ("y * _TABLE", "y + _TABLE", {"licensed"}),  # only a lambda mentions it
        ('_TABLE["b"] = 2', '_TABLE["a"] = 2', {"licensed"}),
        ("LIMIT = 3", "LIMIT = 4", {"licensed", "measured"}),
        ("helper=2", "helper=3", {"licensed"}),
        ("math.sqrt", "math.exp", {"licensed"}),
        ("x > 9", "x > 8", {"licensed"}),
        ("size: float = 1.0", "size: float = 2.0", {"measured"}),
        ("self.size**2 * LIMIT", "self.size**3 * LIMIT", {"measured"}),
        ("6 * self.size**2", "7 * self.size**2", {"measured"}),  # of a class that stands in for the one named
        ("@dataclass\n", "@dataclass(frozen=True)\n", {"measured"}),
        ("return 4", "return 3", {"measured"}),  # Python itself calls it
        ("return 5", "return 6", set()),  # nobody calls it
        ("too large", "too big", set()),
        ('"""Docstring."""', '"""Other words."""', set()),
        ("  # comment", "", set()),
        ("2 * helper(x)", "(2\n        * helper(x))", set()),
        ("def helper(x, helper=2)", "def helper(x: int, helper: int = 2) -> int", set()),
    ],
)
def test_the_fingerprint_follows_code(tmp_path, old, new, changes):
    assert old in ONE
    before, after = toy(tmp_path / "a", one=ONE), toy(tmp_path / "b", one=ONE.replace(old, new))
    assert {name for name in ("licensed", "measured") if mark(before, name) != mark(after, name)} == changes


def test_moving_functions_between_modules_changes_nothing(tmp_path):
    before = toy(tmp_path / "a", one=ONE)
    start = ONE.index("def helper")
    lower = ONE[:start] + "def helper(x, helper=2):\n    return x + LIMIT + helper\n"
    rest = ONE[ONE.index("def licensed") :].replace("helper(x)", "below.assist(x)", 1)
    upper = (
        "import math\nfrom dataclasses import dataclass as made\nfrom ..room import lower as below\nfrom ..room.lower import LIMIT as MOST, _TABLE\n"
        + (rest.replace("@dataclass", "@made").replace("LIMIT", "MOST"))
    )
    after = toy(tmp_path / "b", room__lower=lower.replace("def helper", "def assist"), attic__upper=upper)
    for name in ("licensed", "measured", "Shape"):
        assert mark(before, f"one:{name}") == mark(after, f"one:{name}"), name


def test_a_name_in_two_modules_is_told_apart_by_its_module(tmp_path):
    sources = toy(tmp_path / "a", one="def f():\n    return 1\n", two="def f():\n    return 2\n")
    assert sources.find("two:f") == Place("two", "f")
    assert sources.find("gone:f") is None
    assert sources.find("two:f.g") is None
    assert mark(sources, "one:f") != mark(sources, "two:f")


def test_a_local_import_and_a_shadowed_name(tmp_path):
    body = "def f(g):\n    from .two import h\n    return h(g)\n\n\ndef g():\n    return 1\n\n\ndef k():\n    return [g for g in (1, 2)] + [g()]\n"
    sources = toy(tmp_path / "a", one=body, two="def h(x):\n    return x\n")
    assert sources.normal(Place("one", "f")).places == {Place("two", "h")}
    assert sources.normal(Place("one", "k")).places == {Place("one", "g")}


def test_the_running_function_is_the_licensed_one():
    assert licences.resolve("shifted_interpolation:gdp") is shifted_interpolation.gdp
    assert licences.resolve("theorem_5_1:noise_variance") is theorem_5_1.noise_variance
    assert licences.functions(licences.resolve("events:Event.fresh"))[0].__qualname__ == "Event.fresh"
    assert licences.resolve("sharp:no_such_function") is None
