"""Python statements in JavaScript: modules, functions and classes, as `runtime/` runs them. Expressions are in `expressions`.

Whole numbers become BigInts and fractions numbers, so that 1 and 1.0 stay apart as they do in Python; every operation on values of
unknown type is a function of the runtime, `$`. A construct that is not listed here is refused when the page is made, never
guessed at. Functions take one list of arguments and one object of named ones.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from .demand import Demand, names_of
from .expressions import Expressions, Scope, Untranslatable, quote_text, safe
from .modules import ModuleText, list_defined_names

_WORD = re.compile(r"[\w$]+")
_NO_BASES = {"ABC", "Protocol", "Generic"}


class Translation(Expressions):
    """The kept definitions of one module."""

    def __init__(self, demand: Demand, source: ModuleText) -> None:
        super().__init__()
        self.demand, self.source = demand, source
        self.wanted = demand.wanted[source.name]
        self.scopes = [Scope(set(source.definitions) | set(source.imports))]
        self.name = source.name
        self.modules = {
            name: self.home(imported.module)
            for name, imported in source.imports.items()
            if imported.name is None and (demand.native(imported.module) or imported.module in demand.wanted)
        }

    def home(self, module: str) -> str:
        """Return the namespace of a module."""
        return (
            f"$.libraries[{quote_text(module)}]" if self.demand.native(module) else f"$.modules[{quote_text(module)}]"
        )

    def text(self) -> str:
        """The module as one statement."""
        kept = [
            statement
            for statement in self.source.tree.body
            if any(name in self.wanted for name in list_defined_names(statement)) and not _typing_only(statement)
        ]
        names = list(dict.fromkeys(name for statement in kept for name in list_defined_names(statement)))
        written = [self.statement(statement) for statement in kept]
        own = [name for name in self.source.definitions if self.demand.native(self.source.name, name)]
        names = [name for name in names if name not in own]
        lines = [
            *(f"const {safe(name)} = $.libraries[{quote_text(self.source.name)}][{quote_text(name)}];" for name in own)
        ]
        lines += [*self._imports(names, set(_WORD.findall("\n".join(written)))), *written]
        declared = f"let {', '.join(map(safe, names))};" if names else ""
        again = [name for name in self.wanted if name in self.source.imports and name not in names]
        given = ", ".join(name if safe(name) == name else f"{name}: {safe(name)}" for name in (*names, *again))
        body = "\n".join(filter(None, [declared, *lines]))
        return f"$.modules[{quote_text(self.source.name)}] = (() => {{\n{body}\nreturn {{{given}}};\n}})();"

    def _imports(self, names: list[str], used: set[str]) -> list[str]:
        lines = []
        for name, imported in self.source.imports.items():
            if name in names or (safe(name) not in used and name not in self.wanted):
                continue
            if name in self.modules:
                lines.append(f"const {safe(name)} = {self.modules[name]};")
            elif imported.name is not None:
                native = self.demand.native(imported.module, imported.name)
                if native or name in self.wanted:
                    home = f"{'$.libraries' if native else '$.modules'}[{quote_text(imported.module)}]"
                    lines.append(f"const {safe(name)} = {home}[{quote_text(imported.name)}];")
        return lines

    # --- statements ---

    def block(self, body: Iterable[ast.stmt]) -> str:
        """Translate a list of statements."""
        return "\n".join(filter(None, map(self.statement, body)))

    def statement(self, node: ast.stmt) -> str:
        """Translate a statement."""
        written = getattr(self, f"_on_{type(node).__name__}", None)
        if written is None:
            raise Untranslatable(f"{self.source.name}: line {node.lineno}: {type(node).__name__} has no translation")
        return str(written(node))

    def _on_Pass(self, node: ast.Pass) -> str:
        return ""

    def _on_Expr(self, node: ast.Expr) -> str:
        if isinstance(node.value, ast.Constant):
            return ""  # a docstring
        if isinstance(node.value, ast.Yield):
            return f"yield {self.value(node.value.value)};"
        if isinstance(node.value, ast.YieldFrom):
            return f"yield* $.each({self.value(node.value.value)});"
        return f"{self.value(node.value)};"

    def _on_Import(self, node: ast.Import) -> str:
        return ""  # bound at the head of the module

    def _on_ImportFrom(self, node: ast.ImportFrom) -> str:
        return ""

    def _on_Return(self, node: ast.Return) -> str:
        return f"return {self.value(node.value) if node.value else 'null'};"

    def _on_Assign(self, node: ast.Assign) -> str:
        if len(node.targets) == 1:
            target, value = node.targets[0], node.value
            if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and _side_by_side(target, value):
                held = self.fresh()
                each = "".join(self.assigned(part, f"{held}[{place}]") for place, part in enumerate(target.elts))
                return f"{{const {held} = [{', '.join(map(self.value, value.elts))}];{each}}}"
            return self.assigned(target, self.value(value))
        held = self.fresh()
        targets = "".join(self.assigned(target, held) for target in node.targets)
        return f"{{const {held} = {self.value(node.value)};{targets}}}"

    def _on_AnnAssign(self, node: ast.AnnAssign) -> str:
        return self.assigned(node.target, self.value(node.value)) if node.value else ""

    def _on_AugAssign(self, node: ast.AugAssign) -> str:
        operation = f"$.i{self.name_operation(node.op)}"
        if isinstance(node.target, ast.Name):
            return self.assigned(node.target, f"{operation}({self.value(node.target)}, {self.value(node.value)})")
        if isinstance(node.target, ast.Attribute):
            whole = self.value(node.target.value)
            now = f"$.ga({whole}, {quote_text(node.target.attr)})"
            return f"$.sa({whole}, {quote_text(node.target.attr)}, {operation}({now}, {self.value(node.value)}));"
        if isinstance(node.target, ast.Subscript):
            whole, place = self.fresh(), self.fresh()
            now = f"{operation}($.gi({whole}, {place}), {self.value(node.value)})"
            where = f"const {whole} = {self.value(node.target.value)}, {place} = {self.value(node.target.slice)};"
            return f"{{{where}$.si({whole}, {place}, {now});}}"
        raise Untranslatable(f"{self.source.name}: line {node.lineno}: {ast.unparse(node)}")

    def _on_Assert(self, node: ast.Assert) -> str:
        return f"if (!{self.test(node.test)}) throw $.raised($.b.AssertionError);"

    def _on_Raise(self, node: ast.Raise) -> str:
        return f"throw $.raised({self.value(node.exc)});" if node.exc else "throw $caught;"

    def _on_If(self, node: ast.If) -> str:
        rest = f" else {{\n{self.block(node.orelse)}\n}}" if node.orelse else ""
        return f"if ({self.test(node.test)}) {{\n{self.block(node.body)}\n}}{rest}"

    def _on_While(self, node: ast.While) -> str:
        return f"while ({self.test(node.test)}) {{\n{self._without_else(node)}\n}}"

    def _on_For(self, node: ast.For) -> str:
        held = self.fresh()
        head = f"for (const {held} of $.each({self.value(node.iter)}))"
        return f"{head} {{\n{self.assigned(node.target, held)}\n{self._without_else(node)}\n}}"

    def _without_else(self, node: ast.For | ast.While | ast.Try) -> str:
        """The body of what must have no `else`."""
        if node.orelse:
            raise Untranslatable(f"{self.source.name}: line {node.lineno}: an else of {type(node).__name__}")
        return self.block(node.body)

    def _on_Break(self, node: ast.Break) -> str:
        return "break;"

    def _on_Continue(self, node: ast.Continue) -> str:
        return "continue;"

    def _on_Try(self, node: ast.Try) -> str:
        branches = []
        for handler in node.handlers:
            kinds = "true" if handler.type is None else f"$.caught($caught, {self.value(handler.type)})"
            named = f"{safe(handler.name)} = $caught;" if handler.name else ""
            branches.append(f"if ({kinds}) {{{named}\n{self.block(handler.body)}\n}}")
        chain = " else ".join([*branches, "throw $caught;"])
        caught = f" catch ($error) {{ const $caught = $.thrown($error);\n{chain}\n}}" if branches else ""
        finished = f" finally {{\n{self.block(node.finalbody)}\n}}" if node.finalbody else ""
        return f"try {{\n{self._without_else(node)}\n}}{caught}{finished}"

    def _on_FunctionDef(self, node: ast.FunctionDef) -> str:
        return f"{self.variable(node.name)} = {self._decorated(node)};"

    def _decorated(self, node: ast.FunctionDef) -> str:
        made = self.translate_function(node)
        for decorator in reversed(node.decorator_list):
            called = decorator.func if isinstance(decorator, ast.Call) else decorator
            name = called.id if isinstance(called, ast.Name) else ""
            if name in ("property", "classmethod", "staticmethod", "cached_property", "cache", "lru_cache"):
                made = f"$.{name}({made})"
            elif name not in ("abstractmethod", "overload"):
                raise Untranslatable(f"{self.source.name}: line {node.lineno}: decorated by {ast.unparse(decorator)}")
        return made

    def translate_function(self, node: ast.FunctionDef) -> str:
        """Translate a function to a call of `$.fn` with its signature and defaults; it returns null at its end."""
        arguments = [argument.arg for argument in _parameters(node.args)]
        scope = Scope(set(arguments) | _assigned_in(node.body))
        self.scopes.append(scope)
        self.classes.append(self.class_body or self.classes[-1])
        body_of, self.class_body = self.class_body, ""
        local = sorted(scope.names - set(arguments))
        declared = f"let {', '.join(map(safe, local))};\n" if local else ""
        body = self.block(node.body)
        self.scopes.pop()
        self.class_body = body_of
        self.classes.pop()
        star = "*" if _yields(node) else ""
        ended = "" if isinstance(node.body[-1], ast.Return) else "\nreturn null;"
        names = ", ".join(map(safe, arguments))
        return (
            f"$.fn({quote_text(node.name)}, {self.signature(node.args)}, {self.defaults(node.args)}, "
            f"function{star} ({names}) {{\n{declared}{body}{ended}\n}})"
        )

    def _on_ClassDef(self, node: ast.ClassDef) -> str:
        bases = [self.value(base) for base in node.bases if not _is(base, _NO_BASES)]
        outer, self.class_body = self.class_body, node.name
        self.scopes.append(Scope(set(), of_class=True))
        body = "\n".join(self.statement(one) for one in node.body if self.demand.keeps(one) and _binds(one))
        self.scopes.pop()
        self.class_body = outer
        made = f"$.cls({quote_text(node.name)}, [{', '.join(bases)}], ($ns) => {{\n{body}\n}})"
        for decorator in node.decorator_list:
            if not _is(decorator.func if isinstance(decorator, ast.Call) else decorator, {"dataclass"}):
                raise Untranslatable(f"{self.source.name}: class {node.name} is decorated by {ast.unparse(decorator)}")
            made = f"$.dataclass({made}, [{self._fields(node)}], {{{self._options(decorator)}}})"
        return f"{self.variable(node.name)} = {made};"

    def _options(self, decorator: ast.expr) -> str:
        given = decorator.keywords if isinstance(decorator, ast.Call) else []
        return ", ".join(f"{keyword.arg}: {self.value(keyword.value)}" for keyword in given)

    def _fields(self, node: ast.ClassDef) -> str:
        """[name, type] of every field in the order of the class; types are looked up on use."""
        found = [
            (one.target.id, one.annotation)
            for one in node.body
            if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)
            if not any(name.id == "ClassVar" for name in names_of(one.annotation))
        ]
        return ", ".join(f"[{quote_text(name)}, () => {self.hint(kind)}]" for name, kind in found)


def _parameters(given: ast.arguments) -> list[ast.arg]:
    """In the order in which the function takes them."""
    starred = [one for one in (given.vararg,) if one is not None]
    named = [one for one in (given.kwarg,) if one is not None]
    return [*given.posonlyargs, *given.args, *starred, *given.kwonlyargs, *named]


def _side_by_side(target: ast.Tuple, value: ast.Tuple) -> bool:
    """Whether each part of a target has its own value beside it: `low, high = high, low`."""
    parts = (*target.elts, *value.elts)
    return len(target.elts) == len(value.elts) and not any(isinstance(part, ast.Starred) for part in parts)


def _binds(statement: ast.stmt) -> bool:
    """Whether a statement of a class leaves anything in it."""
    if isinstance(statement, ast.AnnAssign):
        return statement.value is not None
    return not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant))


def _is(node: ast.expr, names: set[str]) -> bool:
    inner = node.value if isinstance(node, ast.Subscript) else node
    return isinstance(inner, ast.Name) and inner.id in names


def _typing_only(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.If) and _is(statement.test, {"TYPE_CHECKING"})


def _nodes_within(body: Iterable[ast.AST]) -> Iterable[ast.AST]:
    """The nodes of one function, without the functions inside it; a comprehension's own names are its own."""
    left: list[ast.AST] = list(body)
    while left:
        node = left.pop()
        yield node
        if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Lambda)):
            continue
        if isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            left += [inner for inner in ast.walk(node) if isinstance(inner, ast.NamedExpr)]
            continue
        left += ast.iter_child_nodes(node)


def _assigned_in(body: Iterable[ast.stmt]) -> set[str]:
    """The local names of a function."""
    found = set[str]()
    for node in _nodes_within(body):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.ExceptHandler)) and node.name:
            found.add(node.name)
    return found


def _yields(node: ast.FunctionDef) -> bool:
    return any(isinstance(inner, (ast.Yield, ast.YieldFrom)) for inner in _nodes_within(node.body))
