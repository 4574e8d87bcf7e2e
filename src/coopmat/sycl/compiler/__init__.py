"""The compiler of Python kernels: from a function's syntax tree to the typed kernel tree."""

from __future__ import annotations

from collections.abc import Mapping
from types import FunctionType
from typing import Any

from coopmat.diagnostics import Diagnostic, DiagnosticSink
from coopmat.sycl.compiler import builtins as builtins
from coopmat.sycl.compiler.unit import Unit
from coopmat.tree.nodes import Program

__all__ = ["compile_kernel"]


def compile_kernel(function: FunctionType, closure: Mapping[str, Any], *, sub_group_size: int | None = None,
                   work_group_size: tuple[int, int, int] | None = None) -> tuple[Program, list[Diagnostic]]:
    """The program of one kernel, and the warnings. Raises CompileError.

    closure: what the function has captured. The sizes are those that the kernel requires, in OpenCL's order.
    """
    unit = Unit(DiagnosticSink())
    unit.compile_kernel(function, closure, sub_group_size=sub_group_size, work_group_size=work_group_size)
    return Program(unit.functions), unit.sink.finish()
