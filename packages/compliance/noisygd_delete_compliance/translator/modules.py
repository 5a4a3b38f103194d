"""Modules of the package as text: what each defines and imports."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.util import find_spec
from pathlib import Path

_SPEC = find_spec("noisygd_delete")  # found, not imported: a build environment lacks what it needs
assert _SPEC is not None, "the engine is neither installed nor on the path"
PACKAGE = Path(str(_SPEC.origin)).parent


@dataclass(frozen=True)
class Imported:
    """The meaning of a name that an import binds: `name` of a module, or the module itself (None)."""

    module: str
    name: str | None


@dataclass
class ModuleText:
    """One module of the package, by its dotted name within it ("" is the package)."""

    name: str
    path: Path

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.path.read_text(encoding="utf-8"))

    @cached_property
    def imports(self) -> dict[str, Imported]:
        """Every name that an import binds, anywhere in the module."""
        found: dict[str, Imported] = {}
        for node in _without_types(self.tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    found[alias.asname or alias.name.split(".")[0]] = Imported(alias.name, None)
            elif isinstance(node, ast.ImportFrom):
                module = self._absolute(node)
                for alias in node.names:
                    inner = f"{module}.{alias.name}".lstrip(".")
                    whole = node.level and path_of(inner) is not None
                    found[alias.asname or alias.name] = (
                        Imported(inner, None) if whole else Imported(home_of(module, alias.name), alias.name)
                    )
        return found

    @cached_property
    def homes(self) -> dict[str, str]:
        """Names that load on first use (`loading.on_first_use`), and the modules that they live in."""
        for statement in self.tree.body:
            if (
                isinstance(statement, ast.Assign)
                and isinstance(statement.value, ast.Call)
                and list_defined_names(statement) == ["__getattr__"]
            ):
                table = statement.value.args[1]
                pairs = zip(table.keys, table.values, strict=True) if isinstance(table, ast.Dict) else ()
                return {name: f"{self.name}.{home}" for key, value in pairs for name, home in _read_pair(key, value)}
        return {}

    def _absolute(self, node: ast.ImportFrom) -> str:
        if not node.level:
            return node.module or ""
        package = self.name.split(".") if self.path.name == "__init__.py" else self.name.split(".")[:-1]
        base = package[: len(package) - node.level + 1]
        return ".".join([*filter(None, base), *((node.module,) if node.module else ())])

    @cached_property
    def definitions(self) -> dict[str, list[ast.stmt]]:
        """The statements that bind each name of the module, but for imports."""
        found: dict[str, list[ast.stmt]] = {}
        for statement in self.tree.body:
            for name in list_defined_names(statement):
                found.setdefault(name, []).append(statement)
        return found


def _read_pair(key: ast.expr | None, value: ast.expr) -> list[tuple[str, str]]:
    """The pairs of one part of a table: of `"Name": "module"`, or of `**dict.fromkeys(("Name", ...), "module")`."""
    names, home = (key, value) if key is not None else value.args if isinstance(value, ast.Call) else (None, None)
    read = ast.literal_eval(names) if names is not None else ()
    return [(name, ast.literal_eval(home)) for name in ((read,) if isinstance(read, str) else read) if home is not None]


@cache
def module_text(module: str) -> ModuleText:
    """The text of a module of the package.

    Raises:
        LookupError: there is none.
    """
    path = path_of(module)
    if path is None:
        raise LookupError(f"no module {module!r} for the page, and the runtime brings none")
    return ModuleText(module, path)


def home_of(module: str, name: str) -> str:
    """The module that a name really lives in."""
    return module if path_of(module) is None else module_text(module).homes.get(name, module)


def path_of(module: str) -> Path | None:
    """The file of a module of the package."""
    place = PACKAGE.joinpath(*filter(None, module.split(".")))
    return next((path for path in (place.with_suffix(".py"), place / "__init__.py") if path.is_file()), None)


def list_defined_names(statement: ast.stmt) -> list[str]:
    """Return the names that a function, class or assignment defines; imports and bare annotations define none."""
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        return [statement.name]
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    targets = [statement.target] if isinstance(statement, ast.AnnAssign) and statement.value else targets
    return [node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)]


def _without_types(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield every node except those for type checkers only."""
    for statement in tree.body:
        if not (
            isinstance(statement, ast.If)
            and isinstance(statement.test, ast.Name)
            and statement.test.id == "TYPE_CHECKING"
        ):
            yield from ast.walk(statement)
