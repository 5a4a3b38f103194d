"""Python expressions in JavaScript, for `translation`."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable
from dataclasses import dataclass

_RESERVED = {
    "arguments", "await", "break", "case", "catch", "const", "continue", "debugger", "default", "delete", "do",
    "enum", "eval", "export", "extends", "function", "implements", "instanceof", "interface", "let", "new", "null",
    "package", "private", "protected", "public", "static", "super", "switch", "this", "throw", "typeof",
    "undefined", "var", "void",
}  # fmt: skip
_OPERATORS = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.FloorDiv: "floordiv", ast.Mod: "mod", ast.Pow: "pow",
    ast.MatMult: "matmul", ast.BitAnd: "and", ast.BitOr: "or", ast.LShift: "shl",
}  # fmt: skip
_COMPARISONS = {
    ast.Eq: "$.eq({}, {})", ast.NotEq: "!$.eq({}, {})", ast.Lt: "$.lt({}, {})", ast.LtE: "$.le({}, {})", ast.Gt: "$.lt({1}, {0})",
    ast.GtE: "$.le({1}, {0})", ast.Is: "$.is({}, {})", ast.IsNot: "!$.is({}, {})", ast.In: "$.has({1}, {0})",
    ast.NotIn: "!$.has({1}, {0})",
}  # fmt: skip


class Untranslatable(Exception):
    """A construct that the translation does not know."""


def quote_text(text: str) -> str:
    """Return a text as a JavaScript literal."""
    return json.dumps(text)


def safe(name: str) -> str:
    """A name that JavaScript has not taken."""
    return f"{name}$" if name in _RESERVED else name


@dataclass
class Scope:
    """The names of one function, module or comprehension; those of a class are reached through it alone."""

    names: set[str]
    of_class: bool = False


class Expressions:
    """Expressions, given the scopes around them."""

    def __init__(self) -> None:
        self.scopes: list[Scope] = []
        self.name = ""
        self.modules: dict[str, str] = {}
        self.classes: list[str] = [""]
        self.class_body = ""
        self._count = 0

    @property
    def inside_class(self) -> bool:
        """Whether the current scope is the body of a class."""
        return self.scopes[-1].of_class

    def fresh(self) -> str:
        """Return an unused name."""
        self._count += 1
        return f"$v{self._count}"

    @staticmethod
    def name_operation(operation: ast.operator) -> str:
        """Return the name of the runtime function for a Python operator, for example 'add'."""
        return _OPERATORS[type(operation)]

    def variable(self, name: str) -> str:
        """Where a name is bound."""
        if self.inside_class:
            self.scopes[-1].names.add(name)
            return f"$ns.{name}"
        return safe(name)

    def assigned(self, target: ast.expr, value: str) -> str:
        """The statement that binds a target, or the parts of one."""
        if isinstance(target, ast.Name):
            return f"{self.variable(target.id)} = {value};"
        if isinstance(target, ast.Attribute):
            return f"$.sa({self.value(target.value)}, {quote_text(target.attr)}, {value});"
        if isinstance(target, ast.Subscript):
            return f"$.si({self.value(target.value)}, {self.value(target.slice)}, {value});"
        if isinstance(target, (ast.Tuple, ast.List)):
            held, parts = self.fresh(), target.elts
            star = next((place for place, part in enumerate(parts) if isinstance(part, ast.Starred)), -1)
            inner = [part.value if isinstance(part, ast.Starred) else part for part in parts]
            each = "".join(self.assigned(part, f"{held}[{place}]") for place, part in enumerate(inner))
            return f"{{const {held} = $.unpack({value}, {len(parts)}, {star});{each}}}"
        raise Untranslatable(ast.unparse(target))

    # --- calls ---

    @staticmethod
    def signature(given: ast.arguments) -> str:
        """Names in order; "*" before those that are named only, "*name" and "**name" for the rest."""
        names = [one.arg for one in (*given.posonlyargs, *given.args)]
        if given.vararg is not None:
            names.append(f"*{given.vararg.arg}")
        elif given.kwonlyargs:
            names.append("*")
        names += [one.arg for one in given.kwonlyargs]
        if given.kwarg is not None:
            names.append(f"**{given.kwarg.arg}")
        return json.dumps(names)

    def defaults(self, given: ast.arguments) -> str:
        """Translate the defaults of parameters."""
        placed = [*given.posonlyargs, *given.args]
        pairs = [*zip(placed[len(placed) - len(given.defaults) :], given.defaults, strict=True)]
        pairs += [
            (one, value) for one, value in zip(given.kwonlyargs, given.kw_defaults, strict=True) if value is not None
        ]
        return "{" + ", ".join(f"{quote_text(one.arg)}: {self.value(value)}" for one, value in pairs) + "}"

    def _on_Call(self, node: ast.Call) -> str:
        given = self._arguments(node)
        made = node.func
        if isinstance(made, ast.Attribute) and not self._module(made.value):
            if (
                isinstance(made.value, ast.Call)
                and isinstance(made.value.func, ast.Name)
                and made.value.func.id == "super"
            ):
                return f"$.sup({self.classes[-1]}, self, {quote_text(made.attr)})({given})"
            return f"$.cm({self.value(made.value)}, {quote_text(made.attr)}, {given})"
        return f"{self.value(made)}({given})"

    def _arguments(self, node: ast.Call) -> str:
        placed = f"[{self._listed(node.args)}]"
        if not node.keywords:
            return placed
        named = (
            f"...$.named({self.value(keyword.value)})"
            if keyword.arg is None
            else f"{quote_text(keyword.arg)}: {self.value(keyword.value)}"
            for keyword in node.keywords
        )
        return f"{placed}, {{{', '.join(named)}}}"

    def _listed(self, parts: Iterable[ast.expr]) -> str:
        return ", ".join(
            f"...$.each({self.value(part.value)})" if isinstance(part, ast.Starred) else self.value(part)
            for part in parts
        )

    def _on_Lambda(self, node: ast.Lambda) -> str:
        given = node.args
        starred = [one for one in (given.vararg,) if one is not None]
        arguments = [one.arg for one in (*given.posonlyargs, *given.args, *starred, *given.kwonlyargs)]
        signature, defaults = self.signature(given), self.defaults(given)
        self.scopes.append(Scope(set(arguments)))
        body = self.value(node.body)
        self.scopes.pop()
        return f'$.fn("<lambda>", {signature}, {defaults}, ({", ".join(map(safe, arguments))}) => {body})'

    # --- values ---

    def value(self, node: ast.expr | None) -> str:
        """Translate an expression."""
        if node is None:
            return "null"
        written = getattr(self, f"_on_{type(node).__name__}", None)
        if written is None:
            raise Untranslatable(f"line {node.lineno}: {type(node).__name__}: {ast.unparse(node)}")
        return str(written(node))

    def test(self, node: ast.expr) -> str:
        """A condition, as JavaScript asks for one."""
        if isinstance(node, ast.BoolOp):
            joint = " && " if isinstance(node.op, ast.And) else " || "
            return f"({joint.join(map(self.test, node.values))})"
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return f"!{self.test(node.operand)}"
        return f"$.t({self.value(node)})"

    def _on_Name(self, node: ast.Name) -> str:
        name = node.id
        for scope in reversed(self.scopes):
            if scope.of_class:
                if scope is self.scopes[-1] and name in scope.names:
                    return f"$ns.{name}"
                continue
            if name in scope.names:
                return safe(name)
        return quote_text(self.name) if name == "__name__" else f"$.b.{name}"

    def _module(self, node: ast.expr) -> str | None:
        """Return the namespace of a module, if the expression names one."""
        if not isinstance(node, ast.Name) or node.id not in self.modules:
            return None
        local = any(node.id in scope.names for scope in self.scopes[1:] if not scope.of_class)
        return None if local else self.modules[node.id]

    def _on_Attribute(self, node: ast.Attribute) -> str:
        module = self._module(node.value)
        if module is not None:
            return f"{module}.{safe(node.attr)}" if node.attr.isidentifier() else f"{module}[{quote_text(node.attr)}]"
        return f"$.ga({self.value(node.value)}, {quote_text(node.attr)})"

    def _on_Constant(self, node: ast.Constant) -> str:
        value = node.value
        if value is None or isinstance(value, bool):
            return {None: "null", True: "true", False: "false"}[value]
        if isinstance(value, int):
            return f"{value}n"
        if isinstance(value, float):
            return "Infinity" if value == float("inf") else repr(value)
        if isinstance(value, str):
            return quote_text(value)
        if isinstance(value, bytes):
            return f"new Uint8Array({list(value)})"
        return "$.ellipsis"

    def _on_JoinedStr(self, node: ast.JoinedStr) -> str:
        return "(" + " + ".join(['""', *map(self.value, node.values)]) + ")"

    def _on_FormattedValue(self, node: ast.FormattedValue) -> str:
        way = quote_text("" if node.conversion < 0 else chr(node.conversion))
        spec = self.value(node.format_spec) if node.format_spec is not None else '""'
        return f"$.formatted({self.value(node.value)}, {way}, {spec})"

    def _on_Tuple(self, node: ast.Tuple) -> str:
        return f"$.tuple([{self._listed(node.elts)}])"

    def _on_List(self, node: ast.List) -> str:
        return f"[{self._listed(node.elts)}]"

    def _on_Set(self, node: ast.Set) -> str:
        return f"$.set([{self._listed(node.elts)}])"

    def _on_Dict(self, node: ast.Dict) -> str:
        pairs = (
            f"...$.pairs({self.value(value)})" if name is None else f"[{self.value(name)}, {self.value(value)}]"
            for name, value in zip(node.keys, node.values, strict=True)
        )
        return f"$.dict([{', '.join(pairs)}])"

    def _on_BoolOp(self, node: ast.BoolOp) -> str:
        way = "both" if isinstance(node.op, ast.And) else "either"
        found = self.value(node.values[-1])
        for value in reversed(node.values[:-1]):
            found = f"$.{way}({self.value(value)}, () => {found})"
        return found

    def _on_BinOp(self, node: ast.BinOp) -> str:
        return f"$.{self.name_operation(node.op)}({self.value(node.left)}, {self.value(node.right)})"

    def _on_UnaryOp(self, node: ast.UnaryOp) -> str:
        if isinstance(node.op, ast.Not):
            return f"!{self.test(node.operand)}"
        if isinstance(node.op, ast.USub):
            return f"$.neg({self.value(node.operand)})"
        raise Untranslatable(ast.unparse(node))

    def _on_Compare(self, node: ast.Compare) -> str:
        if len(node.ops) == 1:
            return _COMPARISONS[type(node.ops[0])].format(self.value(node.left), self.value(node.comparators[0]))
        terms = [self.value(node.left), *map(self.value, node.comparators)]
        held = [self.fresh() for _ in terms]
        links = (_COMPARISONS[type(op)].format(held[i], held[i + 1]) for i, op in enumerate(node.ops))
        return f"(({', '.join(held)}) => {' && '.join(links)})({', '.join(terms)})"

    def _on_IfExp(self, node: ast.IfExp) -> str:
        return f"({self.test(node.test)} ? {self.value(node.body)} : {self.value(node.orelse)})"

    def _on_NamedExpr(self, node: ast.NamedExpr) -> str:
        return f"({safe(node.target.id)} = {self.value(node.value)})"

    def _on_Subscript(self, node: ast.Subscript) -> str:
        whole = self.value(node.value)
        if isinstance(node.slice, ast.Slice):
            ends = ", ".join(map(self.value, (node.slice.lower, node.slice.upper, node.slice.step)))
            return f"$.slice({whole}, {ends})"
        return f"$.gi({whole}, {self.value(node.slice)})"

    def _on_ListComp(self, node: ast.ListComp) -> str:
        return f"[...{self._generated(node.generators, node.elt)}]"

    def _on_SetComp(self, node: ast.SetComp) -> str:
        return f"$.set({self._generated(node.generators, node.elt)})"

    def _on_DictComp(self, node: ast.DictComp) -> str:
        return f"$.dict({self._generated(node.generators, node.key, node.value)})"

    def _on_GeneratorExp(self, node: ast.GeneratorExp) -> str:
        return self._generated(node.generators, node.elt)

    def _generated(self, generators: list[ast.comprehension], *parts: ast.expr) -> str:
        """A generator of the values, or of pairs. Its iterable is evaluated at once, as in Python."""
        first = self.value(generators[0].iter)
        names = {
            inner.id
            for one in generators
            for inner in ast.walk(one.target)
            if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store)
        }
        self.scopes.append(Scope(names))
        heads, tails = "", ""
        for place, one in enumerate(generators):
            held, own = self.fresh(), sorted({n.id for n in ast.walk(one.target) if isinstance(n, ast.Name)})
            source = "$first" if place == 0 else self.value(one.iter)
            tests = "".join(f" if (!{self.test(condition)}) continue;" for condition in one.ifs)
            bound = f"let {', '.join(map(safe, own))}; {self.assigned(one.target, held)}"
            heads += f"for (const {held} of $.each({source})) {{ {bound}{tests} "
            tails += "}"
        made = ", ".join(map(self.value, parts))
        self.scopes.pop()
        made = made if len(parts) == 1 else f"[{made}]"
        return f"(function* ($first) {{ {heads}yield {made}; {tails} }})({first})"

    # --- types of fields ---

    def hint(self, node: ast.expr) -> str:
        """A type that a field is declared with, as `$.hint` functions."""
        if isinstance(node, ast.Constant) and node.value is None:
            return '["none"]'
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            return f'["or", {self.hint(node.left)}, {self.hint(node.right)}]'
        if isinstance(node, ast.Subscript):
            parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            if any(isinstance(part, ast.Constant) and part.value is Ellipsis for part in parts):
                return f'["of", {self.value(node.value)}, {self.hint(parts[0])}]'
            return f'["parts", {self.value(node.value)}, {", ".join(map(self.hint, parts))}]'
        return f'["is", {self.value(node)}]'
