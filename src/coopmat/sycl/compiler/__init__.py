"""The compiler of Python kernels: from a function's syntax tree to the typed kernel tree."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from types import FunctionType, MappingProxyType
from typing import Any

from coopmat.devices import DeviceDescription
from coopmat.diagnostics import Diagnostic, DiagnosticSink, Error
from coopmat.sycl.compiler.context import Unit
from coopmat.sycl.compiler.handlers import HANDLERS
from coopmat.sycl.compiler.kernel import compile_into
from coopmat.sycl.options import KernelOptions
from coopmat.tree.nodes import Language, Program

__all__ = ["compile_kernel"]
_RECURSION_LIMIT = 20_000  # frames: some five for each level of nesting


def compile_kernel(function: FunctionType, closure: Mapping[str, Any], device: DeviceDescription,
                   options: KernelOptions, *, scope: Mapping[str, Any] = MappingProxyType({}),
                   sub_group_size: int | None = None,
                   work_group_size: tuple[int, int, int] | None = None) -> tuple[Program, list[Diagnostic]]:
    """The program of one kernel for a device, and the warnings. Raises CompileError, and KernelNotSupported for
    matrices that the device does not have.

    closure: what the function has captured. scope: what its annotations name besides that. The sizes are those that
    the kernel requires, in OpenCL's order.
    """
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, _RECURSION_LIMIT))
    try:
        indexed: AbstractSet[Any] = frozenset()
        while True:
            sink = DiagnosticSink(options.levels, error_limit=options.build.error_limit)
            unit = Unit(HANDLERS, sink, scope, indexed, has_double=device.has_fp64,
                        has_assertions=options.has_assertions)
            compile_into(unit, function, closure, sub_group_size=sub_group_size, work_group_size=work_group_size)
            if unit.indexed <= indexed:
                break
            indexed |= unit.indexed  # lists that lie in memory: compile it again
    except RecursionError:
        raise Error(f"an expression or statement of kernel '{function.__name__}' is nested too deeply to be compiled; "
                    "split it into several") from None
    finally:
        sys.setrecursionlimit(limit)
    warnings = unit.sink.finish()
    unit.uses.require(device, unit.functions[-1].name)
    return Program(unit.functions, unit.globals, language=Language.SYCL), warnings
