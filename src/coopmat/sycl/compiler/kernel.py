"""The compilation of one kernel and of all that it calls."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from types import FunctionType
from typing import Any

from coopmat.support.limits import LONGEST_IDENTIFIER
from coopmat.sycl import constraints
from coopmat.sycl.compiler import messages
from coopmat.sycl.compiler.annotations import module_of
from coopmat.sycl.compiler.context import Failed, GaveUp, Unit
from coopmat.sycl.compiler.function import FunctionCompiler, body_of
from coopmat.sycl.compiler.helpers import Helpers
from coopmat.sycl.compiler.parameters import KernelParameters
from coopmat.sycl.compiler.results import NOTHING
from coopmat.sycl.compiler.values import Static
from coopmat.sycl.source import definition_of
from coopmat.tree import nodes as n
from coopmat.tree import types as t


def compile_into(unit: Unit, function: FunctionType, closure: Mapping[str, Any], *, sub_group_size: int | None,
                 work_group_size: tuple[int, int, int] | None) -> None:
    """Compile a kernel and what it calls; errors are in the unit's sink."""
    unit.helpers = Helpers(unit)
    source, node = definition_of(function)
    f = FunctionCompiler(unit, source, node, module_of(function, closure, node), {})
    parameters = unit.parameters = KernelParameters(f, function.__annotations__)
    try:
        parameters.declare(f)
    except Failed:
        return
    f.result = NOTHING
    location = f.location(node)
    name = unit.unique(node.name if isinstance(node, ast.FunctionDef) else "lambda_kernel")
    if len(name) > LONGEST_IDENTIFIER:
        f.fail(messages.NAME_TOO_LONG, node, length=len(name), limit=LONGEST_IDENTIFIER)
    try:
        body = body_of(f)
    except GaveUp:
        return
    for value, place in f.returned:
        if not (isinstance(value, Static) and value.value is None):
            f.fail(messages.KERNEL_RESULT, place)
    shared = (place for one, place in unit.uses.matrices.items() if one.scope is t.ExecutionScope.WORKGROUP)
    if work_group_size is None and (first := next(shared, None)) is not None:
        unit.sink.report(constraints.NEEDS_WORK_GROUP_SIZE, first, name=name)
    unit.functions.append(n.Function(name, t.VOID, parameters.variables, location, True, body,
                                     required_work_group_size=work_group_size,
                                     required_sub_group_size=sub_group_size))
