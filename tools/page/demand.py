"""Which definitions of the package a few of its functions reach: by names, following imports, and no method that nobody calls."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path

# of a `Method`: how plans are made, forecast and told of
PLANNING = {"plan", "complete", "together", "towards", "words", "forecast", "excess_risk", "start", "noise"}
PACKAGE = Path(__file__).parents[2] / "noisygd_delete"


@dataclass(frozen=True)
class Imported:
    """What a name that an import binds stands for: `name` of a module, or the module itself (None)."""

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
        """Every name that an import binds, wherever it stands."""
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
                and bound(statement) == ["__getattr__"]
            ):
                table = statement.value.args[1]
                pairs = zip(table.keys, table.values, strict=True) if isinstance(table, ast.Dict) else ()
                return {name: f"{self.name}.{home}" for key, value in pairs for name, home in _listed(key, value)}
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
            for name in bound(statement):
                found.setdefault(name, []).append(statement)
        return found


def _listed(key: ast.expr | None, value: ast.expr) -> list[tuple[str, str]]:
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


def bound(statement: ast.stmt) -> list[str]:
    """The names that a statement of a module binds."""
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        return [statement.name]
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    targets = [statement.target] if isinstance(statement, ast.AnnAssign) and statement.value else targets
    return [node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)]


@dataclass
class Demand:
    """What is reached: names of modules in the order in which they were asked for, and every name of an attribute.

    natives  modules and names ("module:name") that the runtime brings
    """

    natives: frozenset[str]
    wanted: dict[str, dict[str, None]] = field(default_factory=dict)
    attributes: set[str] = field(default_factory=set)
    _left: list[tuple[ModuleText, ast.stmt]] = field(default_factory=list)
    _uncalled: dict[str, list[tuple[ModuleText, ast.stmt]]] = field(default_factory=dict)  # methods, by name

    def native(self, module: str, name: str | None = None) -> bool:
        return module in self.natives or f"{module}:{name}" in self.natives

    def reach(self, roots: Iterable[tuple[str, str]]) -> Demand:
        """Follow these names until nothing new turns up."""
        for module, name in roots:
            self._want(module, name)
        while self._left:
            self._follow(*self._left.pop())
        return self

    def _want(self, module: str, name: str) -> None:
        module = home_of(module, name)
        if self.native(module, name) or path_of(module) is None:  # a library that the runtime does not bring
            return
        names = self.wanted.setdefault(module, {})
        if name in names:
            return
        names[name] = None
        if name == "__getattr__":  # whoever asks it may ask for any of its names
            for each, home in module_text(module).homes.items():
                self._want(home, each)
        source = module_text(module)
        self._left += [(source, statement) for statement in source.definitions.get(name, [])]
        imported = source.imports.get(name)
        if imported is not None and imported.name is not None and name not in source.definitions:
            self._want(imported.module, imported.name)

    def _called(self, name: str) -> None:
        """Somebody asks for an attribute of this name."""
        if name not in self.attributes:
            self.attributes.add(name)
            self._left += self._uncalled.pop(name, [])

    def _follow(self, source: ModuleText, statement: ast.stmt) -> None:
        for node in self._kept(source, statement):
            if isinstance(node, ast.Attribute):
                self._called(node.attr)
                alias = source.imports.get(node.value.id) if isinstance(node.value, ast.Name) else None
                if alias is not None and alias.name is None:
                    self._want(alias.module, node.attr)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier():
                self._called(node.value)  # getattr, or the field of a document: one too many does no harm
            elif isinstance(node, ast.Name) and (node.id in source.definitions or node.id in source.imports):
                imported = source.imports.get(node.id)
                if imported is None or imported.name is not None:
                    self._want(source.name, node.id)

    def _kept(self, source: ModuleText, statement: ast.stmt) -> Iterator[ast.AST]:
        """The nodes of a statement that are translated: no annotations but of fields, and no methods before somebody calls them."""
        left: list[ast.AST] = [statement]
        while left:
            node = left.pop()
            yield node
            if isinstance(node, ast.ClassDef):
                left += node.bases
                for part in node.body:
                    if self.keeps(part):
                        left.append(part)
                    elif isinstance(part, ast.FunctionDef):
                        self._uncalled.setdefault(part.name, []).append((source, part))
            elif isinstance(node, ast.FunctionDef):
                left += [*node.body, *node.decorator_list, *_defaults(node.args)]
            elif isinstance(node, ast.Lambda):
                left += [node.body, *_defaults(node.args)]
            elif isinstance(node, ast.AnnAssign):
                left += [node.target, *([node.value] if node.value else []), *names_of(node.annotation)]
            else:
                left += ast.iter_child_nodes(node)

    def keeps(self, statement: ast.stmt) -> bool:
        """Whether a statement of a class is of use."""
        if isinstance(statement, ast.FunctionDef) and statement.name in PLANNING:
            return False  # asked by name alone: what is checked was planned before
        if isinstance(statement, ast.FunctionDef):
            return statement.name in self.attributes or statement.name.startswith("__")
        return not isinstance(statement, ast.Pass)


def _without_types(tree: ast.Module) -> Iterator[ast.AST]:
    """Every node but what stands there for type checkers alone."""
    for statement in tree.body:
        if not (
            isinstance(statement, ast.If)
            and isinstance(statement.test, ast.Name)
            and statement.test.id == "TYPE_CHECKING"
        ):
            yield from ast.walk(statement)


def _defaults(given: ast.arguments) -> list[ast.expr]:
    return [value for value in (*given.defaults, *given.kw_defaults) if value is not None]


def names_of(annotation: ast.expr) -> list[ast.Name]:
    """The names in an annotation."""
    return [node for node in ast.walk(annotation) if isinstance(node, ast.Name)]
