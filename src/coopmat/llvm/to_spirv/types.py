"""The SPIR-V types that names of built-in functions and of kernels' arguments tell."""

from __future__ import annotations

from coopmat.llvm.to_spirv.names import ScalarCode
from coopmat.spirv.edit.editor import Editor
from coopmat.spirv.grammar import FPEncoding, Op


def type_of(code: ScalarCode, editor: Editor) -> int:
    """The id of the type that a parameter code means, in the module being changed."""
    if code.kind == "bool":
        scalar = editor.unique(Op.TypeBool)
    elif code.kind == "bfloat":
        scalar = editor.unique(Op.TypeFloat, code.bits, FPEncoding.BFloat16KHR)
    elif code.kind == "float":
        scalar = editor.unique(Op.TypeFloat, code.bits)
    else:
        scalar = editor.unique(Op.TypeInt, code.bits, 0)
    return scalar if code.count == 1 else editor.unique(Op.TypeVector, scalar, code.count)
