"""Lowering of the typed kernel tree: one walk, two builders (SPIR-V and LLVM IR)."""

from __future__ import annotations

from collections.abc import Sequence

from coopmat.lowering.llvm.builder import to_llvm_ir
from coopmat.lowering.spirv.builder import SpirvBuilder
from coopmat.lowering.walk import lower
from coopmat.spirv.module import Module
from coopmat.tree.nodes import Program

__all__ = ["to_llvm_ir", "to_spirv"]


def to_spirv(program: Program, *, marks_overflow: bool = False, fast_math: Sequence[str] = ()) -> Module:
    """The program as a SPIR-V module for the OpenCL environment. ``marks_overflow``: signed arithmetic is decorated
    with NoSignedWrap. ``fast_math``: names of FPFastMathMode, with which arithmetic of floating-point numbers is.

    Raises :class:`coopmat.diagnostics.CompileError` for what only lowering can see: a call of a function
    without definition, a program-scope initialiser that is not a constant.
    """
    builder = SpirvBuilder(marks_overflow=marks_overflow, fast_math=fast_math)
    lower(program, builder)
    return builder.finish()
