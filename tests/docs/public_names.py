"""The public interface as text: `python -m tests.docs.public_names` writes docs/public-names.txt.

What `import noisygd_delete` offers and what the pages of the API document of its rooms, the parameters of what can be called, and the
members of the front's classes: all of it is promised, and what is an experiment is in another distribution, the lab. A line that leaves this
file, or loses a parameter, breaks somebody's program: it needs a deprecation first (docs/CONTRIBUTING.md) and a line in CHANGELOG.md.
"""

from __future__ import annotations

import inspect
import re
import types
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import noisygd_delete

DOCS = Path(__file__).parents[2] / "docs"
LISTED = DOCS / "public-names.txt"


def parameters(call: object) -> str:
    """Names of the parameters that a caller may pass, in order; `*` before those given by name, `=` where there is a default."""
    shown, by_name = [], False
    for parameter in inspect.signature(call).parameters.values():  # type: ignore[arg-type]
        if parameter.name in ("self", "cls"):
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and not by_name:
            shown, by_name = [*shown, "*"], True
        star = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
        by_name = by_name or star == "*"
        shown.append(f"{star}{parameter.name}{'=' if parameter.default is not parameter.empty else ''}")
    return f"({', '.join(shown)})"


def lines(name: str, thing: object) -> Iterator[str]:
    """A name, and what is below it: of a class its public members, of a module its classes and functions."""
    if isinstance(thing, types.ModuleType):
        for inner in sorted(getattr(thing, "__all__", [inner for inner in vars(thing) if not inner.startswith("_")])):
            found = getattr(thing, inner)
            if inspect.isclass(found) or inspect.isfunction(found):
                yield f"{name}.{inner}{'' if inspect.isclass(found) and issubclass(found, Exception) else parameters(found)}"
    elif inspect.isclass(thing):
        yield f"{name}{parameters(thing)}"
        for inner in sorted(
            {inner for base in thing.__mro__ if base.__module__.startswith("noisygd_delete") for inner in vars(base)}
        ):
            found = getattr(thing, inner, None)
            if not inner.startswith("_"):
                yield f"{name}.{inner}{parameters(found) if inspect.isfunction(found) or inspect.ismethod(found) else ''}"
    else:
        yield f"{name}{parameters(thing)}"


def documented() -> list[tuple[str, str]]:
    """(module, name) of everything that the pages of the API document."""
    found = []
    for page in sorted((DOCS / "api").glob("*.md")):
        for path in re.findall(r"^::: (\S+)", page.read_text(), re.MULTILINE):
            module, _, name = path.rpartition(".")
            found.append((module, name))
    return found


def listed() -> str:
    """Every public name, in order: the front, then what is documented of rooms."""
    rooms = sorted((module, name) for module, name in documented() if module != "noisygd_delete")
    found = [line for name in sorted(set(dir(noisygd_delete))) for line in lines(name, getattr(noisygd_delete, name))]
    for module, name in rooms:
        found.append(
            next(lines(f"{module.removeprefix('noisygd_delete.')}.{name}", getattr(import_module(module), name)))
        )
    return "\n".join(dict.fromkeys(found)) + "\n"


if __name__ == "__main__":
    LISTED.write_text(listed())
