"""The compilation of one kernel and of all that it calls."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from types import FunctionType
from typing import Any

from coopmat.diagnostics import DiagnosticSink, SourceLocation
from coopmat.support.limits import LONGEST_IDENTIFIER
from coopmat.sycl.compiler import messages
from coopmat.sycl.compiler.annotations import module_of
from coopmat.sycl.compiler.function import Failed, FunctionCompiler, GaveUp, body_of
from coopmat.sycl.compiler.helpers import Helpers
from coopmat.sycl.compiler.parameters import KernelParameters
from coopmat.sycl.compiler.results import NOTHING
from coopmat.sycl.compiler.source import definition_of
from coopmat.sycl.compiler.support import MatrixUses
from coopmat.sycl.compiler.values import Static
from coopmat.tree import nodes as n
from coopmat.tree import types as t

MAX_COPIES = 16_384


class Unit:
    """What the functions of one kernel share.

    scope: what annotations name besides what their functions do. arrays: the lists (their origins) that lie in memory,
    because the kernel computes indices of them; indexed: those that should. globals: variables of the program; tables
    and strings: those with constants. imports: functions that the target has. has_double: whether the device has
    float64. has_assertions: whether assert is compiled. functions: those compiled so far.
    calls: of the helpers being compiled, outermost first. being_passed: ids of the local functions whose captured
    values are being passed.
    """

    parameters: KernelParameters

    def __init__(self, sink: DiagnosticSink, scope: Mapping[str, Any], arrays: AbstractSet[Any] = frozenset(), *,
                 has_double: bool = True, has_assertions: bool = True) -> None:
        self.sink = sink
        self.has_double = has_double
        self.has_assertions = has_assertions
        self.scope = scope
        self.arrays = arrays
        self.indexed: set[Any] = set()
        self.globals: list[n.Variable] = []
        self.tables: dict[Any, n.Variable] = {}
        self.strings: dict[tuple[str, t.AddressSpace], n.Variable] = {}
        self.imports: dict[str, n.Function] = {}
        self.functions: list[n.Function] = []
        self.helpers = Helpers(self)
        self.uses = MatrixUses()
        self.calls: list[tuple[str, SourceLocation]] = []
        self.being_passed: list[int] = []
        self.element_functions: dict[Any, n.Function] = {}  # made for matrix instructions
        self._names: dict[str, int] = {}
        self._copies = 0  # of the bodies of unrolled loops and comprehensions

    def compile_kernel(self, function: FunctionType, closure: Mapping[str, Any], *, sub_group_size: int | None,
                       work_group_size: tuple[int, int, int] | None) -> None:
        """Compile a kernel and what it calls; errors are in the sink."""
        source, node = definition_of(function)
        f = FunctionCompiler(self, source, node, module_of(function, closure, node), {})
        self.parameters = KernelParameters(f, function.__annotations__)
        try:
            self.parameters.declare(f)
        except Failed:
            return
        f.result = NOTHING
        location = f.location(node)
        name = self.unique(node.name if isinstance(node, ast.FunctionDef) else "lambda_kernel")
        if len(name) > LONGEST_IDENTIFIER:
            f.fail(messages.NAME_TOO_LONG, node, length=len(name), limit=LONGEST_IDENTIFIER)
        try:
            body = body_of(f)
        except GaveUp:
            return
        for value, place in f.returned:
            if not (isinstance(value, Static) and value.value is None):
                f.fail(messages.KERNEL_RESULT, place)
        self.functions.append(n.Function(name, t.VOID, self.parameters.variables, location, True, body,
                                         required_work_group_size=work_group_size,
                                         required_sub_group_size=sub_group_size))

    def count_copies(self, f: FunctionCompiler, count: int, node: ast.AST) -> None:
        """Note that something is about to be compiled ``count`` times; what is in it counts for itself."""
        self._copies += count
        if self._copies > MAX_COPIES:
            f.fail(messages.TOO_MANY_COPIES, node, limit=MAX_COPIES)
            raise GaveUp

    def unique(self, name: str) -> str:
        """A name that no other function of the program has."""
        count = self._names.get(name, 0)
        self._names[name] = count + 1
        return f"{name}.{count}" if count else name
