"""Intel's OpenCL C functions that LLVM's back end does not know: sub-group matrices, tf32, 2D blocks."""

from __future__ import annotations

import re

from coopmat.devices.subgroup_matrices import SUBGROUP_MATRIX_MADS, SubgroupMatrixMad
from coopmat.llvm.to_spirv.calls import ImportedCall
from coopmat.llvm.to_spirv.names import ParameterCode, ScalarCode
from coopmat.spirv.grammar import Op

_ACCUMULATORS = {"sint32": ("sint", 32), "fp32": ("float", 32), "fp16": ("float", 16), "bf16": ("sint", 16)}
"""Kind and bits of the OpenCL C types that hold the accumulators."""

_MATRIX_MADS: dict[tuple[str, int, tuple[str, int]], SubgroupMatrixMad] = {
    (mad.name, mad.a_bits, _ACCUMULATORS[mad.accumulator]): mad for mad in SUBGROUP_MATRIX_MADS}
_MATRIX_MAD_NAMES = frozenset(mad.name for mad in SUBGROUP_MATRIX_MADS)

_ROUND_TO_TF32 = re.compile(r"intel_convert_tfloat32(2|3|4|8|16)?_as_float(?(1)\1)\Z")
_BLOCK_2D = re.compile(r"intel_sub_group_2d_block_(?P<kind>[a-z_]+)_(?P<bits>\d{1,2})b_(?P<rows>\d{1,2})r"
                       r"(?P<columns>\d{1,2})x(?P<count>\d)c\Z")
_BLOCK_2D_INSTRUCTIONS = {
    "read": Op.Subgroup2DBlockLoadINTEL, "read_transform": Op.Subgroup2DBlockLoadTransformINTEL,
    "read_transpose": Op.Subgroup2DBlockLoadTransposeINTEL, "write": Op.Subgroup2DBlockStoreINTEL,
    "prefetch": Op.Subgroup2DBlockPrefetchINTEL,
}


def replace(call: ImportedCall) -> bool:
    """Append the instructions for a call; False if the function is none of these."""
    name = call.name.name
    if name in _MATRIX_MAD_NAMES:
        _multiply_accumulate(call)
        return True
    if _ROUND_TO_TF32.match(name):
        call.expect(1)
        call.replace(Op.RoundFToTF32INTEL, call.arguments[0])
        return True
    block = _BLOCK_2D.match(name)
    if block is not None and block["kind"] in _BLOCK_2D_INSTRUCTIONS:
        _block_2d(call, block)
        return True
    return False


def _multiply_accumulate(call: ImportedCall) -> None:
    """The overloads of one name differ in the types of A and of the accumulator."""
    call.expect(3)
    a, accumulator = (_scalar(call.name.parameters, index) for index in (0, 2))
    mad = None
    if a is not None and accumulator is not None:
        mad = _MATRIX_MADS.get((call.name.name, a.bits, (accumulator.kind, accumulator.bits)))
    if mad is None:
        raise call.fail("the name does not tell the types of an overload of this function")
    call.replace(Op.SubgroupMatrixMultiplyAccumulateINTEL, call.editor.constant(mad.k), *call.arguments,
                 mad.operands)


def _scalar(parameters: tuple[ParameterCode, ...], index: int) -> ScalarCode | None:
    code = parameters[index] if index < len(parameters) else None
    return code if isinstance(code, ScalarCode) else None


def _block_2d(call: ImportedCall, block: re.Match[str]) -> None:
    """The shape stands in the name; what a write takes last is its first pointer."""
    call.expect(5 if block["kind"] == "prefetch" else 6)
    arguments = list(call.arguments)
    if block["kind"] == "write":
        arguments.insert(0, arguments.pop())
    shape = (int(block["bits"]) // 8, *(int(block[part]) for part in ("columns", "rows", "count")))
    call.effect(_BLOCK_2D_INSTRUCTIONS[block["kind"]], *map(call.editor.constant, shape), *arguments)
