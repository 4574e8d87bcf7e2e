"""LLVM IR to SPIR-V, and LLVM's optimiser on the way: IR made ready, given to LLVM, and what comes out mended."""

from __future__ import annotations

from dataclasses import replace

from coopmat.diagnostics import CompileError, SourceFile, SourceLocation
from coopmat.llvm.process import client
from coopmat.llvm.to_spirv import aggregates, imports, matrix_memory, variadic
from coopmat.llvm.to_spirv.checks import check_addresses, check_matrix_addresses, check_matrix_types, check_names
from coopmat.llvm.to_spirv.metadata import kernel_argument_types
from coopmat.llvm.to_spirv.repairs import (
    constants_from_memory,
    null_events_from_memory,
    with_undefined_phis,
    without_surplus_operands,
)
from coopmat.spirv.module import Module

_ROUNDS = 3  # of the optimiser, as long as each finds more variables to make values of


def optimize(ir: str, level: int, *, source_name: str = "<llvm>") -> str:
    """The IR after LLVM's optimiser at ``level`` (0 to 3); raises as :func:`coopmat.llvm.verify` does.

    Of matrices in memory it sees only where they are used (:mod:`coopmat.llvm.to_spirv.matrix_memory`).
    """
    if not level or imports.MATRIX_TYPE not in ir:
        return client.optimize(ir, level, source_name=source_name)
    ir = client.printed(ir, source_name=source_name)
    for _ in range(_ROUNDS):
        text, hidden = matrix_memory.hide(ir)
        ir, is_simpler = matrix_memory.reveal(client.optimize(text, level, source_name=source_name), hidden)
        if not is_simpler:
            break
    return ir


def to_spirv(ir: str, *, source_name: str = "<llvm>", keeps_imports: bool = False) -> bytes:
    """The SPIR-V binary of textual LLVM IR.

    LLVM's back end compiles it, and every imported built-in function becomes the instruction it names; other
    functions that are only declared stay imports, if ``keeps_imports`` says so.
    Raises :class:`coopmat.diagnostics.CompileError` for IR that LLVM rejects, for calls of functions that
    nothing defines, and for what SPIR-V cannot express; :class:`coopmat.diagnostics.Error` when LLVM
    takes too long or cannot be started.
    """
    check_names(SourceFile(source_name, ir))
    declared = client.declarations(ir, source_name=source_name)
    hidden = imports.hidden_names(declared)
    compiled = ir
    is_variadic = any(variadic.is_variadic(type_) for _, type_ in declared)
    if is_variadic or aggregates.are_concerned(ir):
        compiled = aggregates.in_parts(client.printed(ir, source_name=source_name))
    if is_variadic:
        compiled = variadic.with_plain_arguments(compiled)
    compiled = null_events_from_memory(constants_from_memory(compiled))
    binary = client.emit_spirv(compiled, hidden, source_name=source_name)
    module = with_undefined_phis(Module.from_bytes(without_surplus_operands(binary)))
    source = SourceFile(source_name, ir)
    check_matrix_types(module, source)
    try:
        module = imports.resolve(module, hidden, kernel_argument_types(ir), keeps_unknown=keeps_imports)
    except CompileError as error:
        place = SourceLocation.whole(source)
        raise CompileError([replace(diagnostic, location=place) for diagnostic in error.diagnostics]) from None
    check_addresses(module, source)
    check_matrix_addresses(module, source)
    return module.to_bytes()
