"""Machine code of the loops of `engine.coded`, with their results to the last bit: scores are added in their order.

The loops are made by LLVM, which numba brings with it, in milliseconds and without a cache: most deletions take less
time than loading numba.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

from numpy.typing import NDArray

_LOOP = """
define void @{name}(ptr %codes, ptr %groups, ptr %starts, i64 %rows, i64 %blocks, i64 %cells, ptr %table, ptr %values) {{
begin:
  %some = icmp sgt i64 %rows, 0
  br i1 %some, label %row, label %done
row:
  %r = phi i64 [0, %begin], [%r.next, %end]
  %group.at = getelementptr i8, ptr %groups, i64 %r
  %group.held = load i8, ptr %group.at
  %group = zext i8 %group.held to i64
  %base = mul i64 %group, %cells
  %first = mul i64 %r, %blocks
  %value.at = getelementptr i64, ptr %values, i64 %r
  {before}
  br label %block
block:
  %b = phi i64 [0, %row], [%b.next, %block]
  {carried}
  %place = add i64 %first, %b
  %code.at = getelementptr {code}, ptr %codes, i64 %place
  %code.held = load {code}, ptr %code.at
  %code = zext {code} %code.held to i64
  %start.at = getelementptr i64, ptr %starts, i64 %b
  %start = load i64, ptr %start.at
  %within = add i64 %start, %code
  %cell = add i64 %base, %within
  %cell.at = getelementptr i64, ptr %table, i64 %cell
  %held = load {kind}, ptr %cell.at
  {sum}
  %b.next = add i64 %b, 1
  %b.more = icmp ult i64 %b.next, %blocks
  br i1 %b.more, label %block, label %end
end:
  {after}
  %r.next = add i64 %r, 1
  %r.more = icmp ult i64 %r.next, %rows
  br i1 %r.more, label %row, label %done
done:
  ret void
}}
"""
_SCORE = {
    "name": "score",
    "kind": "double",
    "before": "",
    "carried": "%total = phi double [0.0, %row], [%sum, %block]",
    "sum": "%sum = fadd double %total, %held",
    "after": "store double %sum, ptr %value.at",
}
_ADD = {
    "name": "add",
    "kind": "i64",
    "before": "%step = load i64, ptr %value.at",
    "carried": "",
    "sum": "%sum = add i64 %held, %step\n  store i64 %sum, ptr %cell.at",
    "after": "",
}
_LEAST_LLVM = 20  # that of numba 0.62
_INTEGER, _POINTER = ctypes.c_int64, ctypes.c_void_p
_LOOP_OF_C = ctypes.CFUNCTYPE(None, *[_POINTER] * 3, *[_INTEGER] * 3, *[_POINTER] * 2)
_engines = list[Any]()  # own the machine code

Array = NDArray[Any]
Loop = Callable[[Array, Array, Array, int, Array, Array], None]


@cache
def load_loops(bits: int) -> tuple[Loop, Loop]:
    """Return `score` and `add` for codes of this many bits.

    Arrays of both are contiguous, of the types that `coded._score` and `coded._add` take, and long enough.

    Raises:
        ImportError: If llvmlite is not installed.
        RuntimeError: If its LLVM is older than `_LEAST_LLVM`, or makes no code for this processor.
    """
    from llvmlite import binding

    if binding.llvm_version_info[0] < _LEAST_LLVM:
        raise RuntimeError(f"LLVM {binding.llvm_version_info[0]} is older than {_LEAST_LLVM}")
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    text = "".join(_LOOP.format(code=f"i{bits}", **loop) for loop in (_SCORE, _ADD))
    module = binding.parse_assembly(text)
    module.verify()
    machine = binding.Target.from_default_triple().create_target_machine(opt=3, jit=True)
    engine = binding.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    _engines.append(engine)
    score, add = (_LOOP_OF_C(engine.get_function_address(name)) for name in ("score", "add"))
    return _wrap(score), _wrap(add)


def _wrap(loop: Any) -> Loop:
    def run(codes: Array, groups: Array, starts: Array, cells: int, table: Array, values: Array) -> None:
        given = codes.ctypes.data, groups.ctypes.data, starts.ctypes.data, *codes.shape, cells
        loop(*given, table.ctypes.data, values.ctypes.data)

    return run
