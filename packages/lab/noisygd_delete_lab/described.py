"""Description of a torch module beyond its registered weights, as plain data: attributes, tensors and code."""

from __future__ import annotations

import builtins
import functools
import hashlib
import inspect
import logging
import sys
import sysconfig
import types
from collections.abc import Iterator, Mapping
from enum import Enum
from typing import TYPE_CHECKING, Any

import numpy as np

from noisygd_delete.errors import InvalidParameter

if TYPE_CHECKING:
    import torch

_HOOKS = {"_forward_hooks", "_forward_pre_hooks"}  # attributes of torch that change what a layer computes
_PLAIN = (type(None), bool, int, str)


class Description:
    """Description of the objects of one module, each once; a repeated object is described by its number.

    Args:
        code: Name and version of the code of classes and functions outside torch, used instead of their source.
    """

    def __init__(self, code: str) -> None:
        import torch

        self._code, self._torch = code, torch
        self._seen: dict[int, tuple[int, Any]] = {}  # holds the object, so that its id is not reused
        self._own = vars(torch.nn.Module()).keys() - _HOOKS

    def layers(self, module: torch.nn.Module) -> list[Any]:
        """Return every layer: name, class, code, and attributes that are not parameters, buffers or layers."""
        return [
            [name, self.of(type(part), name), part.extra_repr(), self.buffers(part), self._attributes(part, name)]
            for name, part in module.named_modules()
        ]

    def buffers(self, part: torch.nn.Module) -> list[Any]:
        """Return the buffers that are not part of the state dict."""
        return [[name, self.of(part._buffers[name], name)] for name in sorted(part._non_persistent_buffers_set)]

    def _attributes(self, part: torch.nn.Module, layer: str) -> list[Any]:
        kept = {name: value for name, value in vars(part).items() if name not in self._own}
        return [
            [name, self.of(value, f"{layer}.{name}".strip("."))]
            for name, value in sorted(kept.items())
            if name not in _HOOKS or value
        ]

    def of(self, value: Any, where: str) -> Any:
        """Return the description of a value as JSON types.

        Raises:
            InvalidParameter: If its type cannot be described.
        """
        torch = self._torch
        if isinstance(value, Enum):
            return ["enum", self._name(type(value)), value.name]
        if isinstance(value, _PLAIN):
            return value
        if isinstance(
            value, float | complex | np.generic | torch.dtype | torch.device | torch.memory_format | torch.layout
        ):
            return [type(value).__name__, value.hex() if isinstance(value, float) else repr(value)]
        if isinstance(value, bytes):
            return ["bytes", value.hex()]
        if id(value) in self._seen:
            return ["seen", self._seen[id(value)][0]]
        self._seen[id(value)] = len(self._seen), value
        if isinstance(value, torch.Tensor):
            return ["tensor", *tensor(value)]
        if isinstance(value, np.ndarray) and value.dtype.kind in "biufcSU":
            return ["array", str(value.dtype), list(value.shape), hashlib.sha256(value.tobytes()).hexdigest()]
        if isinstance(value, torch.nn.Module):
            return ["module", {name: list(tensor(one)) for name, one in value.state_dict().items()}, self.layers(value)]
        return self._composed(value, where)

    def _composed(self, value: Any, where: str) -> Any:
        if isinstance(value, list | tuple):
            return [type(value).__name__, *(self.of(one, where) for one in value)]
        if isinstance(value, set | frozenset):
            return ["set", *sorted(repr(self.of(one, where)) for one in value)]
        if isinstance(value, Mapping):
            return ["dict", *([self.of(key, where), self.of(one, where)] for key, one in value.items())]
        if isinstance(value, functools.partial):
            return ["partial", *(self.of(one, where) for one in (value.func, value.args, value.keywords))]
        if isinstance(value, types.MethodType):
            return ["method", self.of(value.__func__, where), self.of(value.__self__, where)]
        if isinstance(value, types.ModuleType | logging.Logger):
            return ["named", getattr(value, "__name__", "logger")]
        if isinstance(value, type) or (callable(value) and hasattr(value, "__qualname__")):
            return ["code", self._name(value), *self._definition(value, where)]
        if hasattr(value, "__dict__"):
            return ["object", self.of(type(value), where), self.of(vars(value), where)]
        raise InvalidParameter(
            f"{where!r} of the module is of type {type(value).__qualname__}, which nothing names: two modules that differ in it would have "
            "one digest. Keep numbers, texts and tensors there, or export the module (torch.onnx.export) and use maps.OnnxFile"
        )

    @staticmethod
    def _name(value: Any) -> str:
        return f"{value.__module__}.{value.__qualname__}"

    def _definition(self, value: Any, where: str) -> Iterator[Any]:
        """Yield the source of code, and for code outside installed libraries what it depends on.

        Its dependencies are bases, defaults, closures and names of its module. Yields nothing for torch, numpy and
        Python.
        """
        library = (getattr(value, "__module__", None) or "builtins").split(".")[0]
        known = library in ("torch", "numpy") or (
            library in sys.stdlib_module_names and library not in ("builtins", "__main__")
        )
        if (
            known
            or isinstance(value, types.BuiltinFunctionType)
            or getattr(builtins, value.__qualname__, None) is value
        ):
            return
        if self._code:
            yield self._code
        else:
            try:
                yield hashlib.sha256(inspect.getsource(value).encode()).hexdigest()
            except (OSError, TypeError) as error:
                raise InvalidParameter(
                    f"the source of {value.__qualname__} is not at hand, so its code cannot be named: give code=, its name and version"
                ) from error
        if self._code or _is_installed(value.__module__):
            return
        if isinstance(value, type):
            yield [self.of(base, where) for base in value.__bases__]
            functions = [part for part in vars(value).values() if isinstance(part, types.FunctionType)]
        else:
            functions = [value] if isinstance(value, types.FunctionType) else []
        for function in functions:
            yield self.of([function.__defaults__, function.__kwdefaults__], where)
            yield [self.of(cell.cell_contents, where) for cell in function.__closure__ or () if _is_filled(cell)]
            around = {
                name: function.__globals__[name] for name in _names(function.__code__) if name in function.__globals__
            }
            yield [[name, self.of(one, where)] for name, one in sorted(around.items())]


def tensor(value: torch.Tensor) -> tuple[str, list[int], str]:
    """Return dtype, shape and SHA-256 of the values."""
    import torch

    numbers = value.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy()
    return str(value.dtype), list(value.shape), hashlib.sha256(numbers.tobytes()).hexdigest()


def _is_installed(module: str) -> bool:
    """Return whether a module is an installed package; such code is described by its own source only."""
    file = getattr(sys.modules.get(module), "__file__", None) or ""
    return any(file.startswith(sysconfig.get_path(which)) for which in ("purelib", "platlib"))


def _is_filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not cell
    except ValueError:
        return False


def _names(code: types.CodeType) -> set[str]:
    """Return the names that a function reads from its module, including those of nested functions."""
    inner = (part for part in code.co_consts if isinstance(part, types.CodeType))
    return set(code.co_names).union(*map(_names, inner))
