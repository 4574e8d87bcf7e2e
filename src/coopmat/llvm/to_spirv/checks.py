"""Checks a module for what LLVM lets pass: impossible matrices, addresses of functions, matrices behind bytes."""

from __future__ import annotations

import re

from coopmat.diagnostics import CompileError, Diagnostic, SourceFile, SourceLocation
from coopmat.spirv.analysis.matrix_addresses import counted_in_bytes
from coopmat.spirv.grammar import CooperativeMatrixUse, Op, Scope
from coopmat.spirv.module import Module
from coopmat.spirv.module.instruction import Instruction
from coopmat.support.limits import LONGEST_SYMBOL

_MORE = f"{{{LONGEST_SYMBOL + 1},}}"
_LONG_NAME = re.compile(rf"""^(?:define|declare)\b[^@\n]*@([-\w$.]{_MORE}|"[^"\n]{_MORE}")""", re.MULTILINE)
_SCOPES = (Scope.Workgroup, Scope.Subgroup)
_ORDER = ("after the element type come scope, rows, columns and use, as in "
          'target("spirv.CooperativeMatrixKHR", float, 3, 8, 16, 2) for an accumulator of a sub-group')


def check_addresses(module: Module, source: SourceFile) -> None:
    """Raise CompileError for the address of a function, in the place of which the back end writes null.

    That is a matter of tidied modules: on its way the back end also makes up such types, for casts to and fro.
    """
    for item in module.of_opcode(Op.TypePointer):
        if module.defines(item.words[1]) and module.definition(item.words[1]).opcode == Op.TypeFunction:
            raise CompileError([Diagnostic("error", "a function has no address in SPIR-V; it can only be called",
                                           SourceLocation.whole(source))])


def check_matrix_addresses(module: Module, source: SourceFile) -> None:
    """Raise CompileError where bytes are counted to reach a cooperative matrix, and it could not be told which."""
    counted = set(map(id, counted_in_bytes(module)))
    for function in module.functions if counted else ():
        if any(id(row) in counted for block in function.blocks for row in block.instructions):
            name = module.names.get(function.id) or f"%{function.id}"
            message = (f"in '{name}' LLVM's optimiser counts bytes to reach cooperative matrices, which have no size "
                       "in SPIR-V, and it can no longer be told which matrices are meant; take the code as it was "
                       "before LLVM optimised it (coopmat compile -O hides matrices from LLVM's optimiser)")
            raise CompileError([Diagnostic("error", message, SourceLocation.whole(source))])


def check_names(source: SourceFile) -> None:
    """Raise CompileError for a function whose name is too long for an instruction of SPIR-V."""
    found = _LONG_NAME.search(source.text)
    if found is not None:
        length = len(found[1])
        message = f"the name of a function has {length} characters; at most {LONGEST_SYMBOL} are supported"
        raise CompileError([Diagnostic("error", message, SourceLocation.at(source, found.start(1), length))])


def check_matrix_types(module: Module, source: SourceFile) -> None:
    """Raise CompileError for a cooperative matrix that cannot exist, such as one whose numbers are in the
    order of the RFC's first examples; the message points at the type in ``source``."""
    for item in module.of_opcode(Op.TypeCooperativeMatrixKHR):
        element = module.definition(item.words[0])
        numbers = [int(module.constant_value(word) or 0) for word in item.words[1:5]]
        reason = _flaw(element, *numbers)
        if reason is not None:
            location = _find(source, numbers)
            raise CompileError([Diagnostic("error", f"{reason}: {_ORDER}", location)])


def _flaw(element: Instruction, scope: int, rows: int, columns: int, use: int) -> str | None:
    if element.opcode not in (Op.TypeInt, Op.TypeFloat):
        return f"a cooperative matrix of {element.name.removeprefix('OpType').lower()} elements does not exist"
    if rows < 1 or columns < 1:
        return f"a cooperative matrix has at least one row and one column, found {rows} and {columns}"
    if scope not in list(_SCOPES):
        wanted = " or ".join(f"{known.value} ({known.name})" for known in _SCOPES)
        return f"the scope of a cooperative matrix is {wanted}, found {scope}"
    if use not in list(CooperativeMatrixUse):
        return f"the use of a cooperative matrix is 0 (A), 1 (B) or 2 (accumulator), found {use}"
    return None


def _find(source: SourceFile, numbers: list[int]) -> SourceLocation:
    """Where a target type with these numbers stands in the text; the whole file if that cannot be told."""
    pattern = r'target\(\s*"spirv\.CooperativeMatrixKHR"\s*,[^,()]+' + "".join(
        rf",\s*{number}\s*" for number in numbers) + r"\)"
    found = re.search(pattern, source.text)
    return SourceLocation.whole(source) if found is None else SourceLocation.at(source, found.start(), len(found[0]))
