"""Cooperative matrices: load, store, multiply-accumulate, changes of use, length, element coordinates.

A matrix is an array ``[S, rows, columns]``; :mod:`.matrix_groups` says what one of a work-group is.
SPV_KHR_cooperative_matrix; of SPV_INTEL_joint_matrix the packed layout, the checked instructions, GetElementCoord,
Prefetch, and the multiply-accumulate operands for tf32 and bf16; of SPV_EXT_cooperative_matrix_maintenance1 and
SPV_NV_cooperative_matrix2 the changes of use and GetCoordinate (the functions on elements: :mod:`.matrix_functions`).
"""

from __future__ import annotations

from collections.abc import Callable

import ml_dtypes
import numpy as np

from coopmat.diagnostics import Error, UndefinedBehavior, ValidationError
from coopmat.spirv.analysis.matrix_uses import multiply_accumulate_of
from coopmat.spirv.analysis.types import FloatType, IntType, MatrixType, Type
from coopmat.spirv.grammar import CooperativeMatrixOperands, CooperativeMatrixUse, Op
from coopmat.spirv.module import Instruction
from coopmat.targets.analysis.conversions import is_transposed
from coopmat.targets.base.wording import SYCL_LANGUAGES
from coopmat.targets.simulator.address_space import FARTHEST
from coopmat.targets.simulator.compiler import FunctionCompiler, Handler
from coopmat.targets.simulator.convergence import first_active, require_sub_groups
from coopmat.targets.simulator.matrix_groups import agreed_value, dealt, held, of_matrices, require_group, whole
from coopmat.targets.simulator.matrix_memory import MatrixAccess, StrideRule, load_matrix, store_matrix
from coopmat.targets.simulator.matrix_windows import Window, inside_window, load_window, store_window
from coopmat.targets.simulator.registers import take_component
from coopmat.targets.simulator.state import Frame, Step
from coopmat.targets.simulator.values import Array, unsigned


def matrix_type(kind: Type, row: Instruction) -> MatrixType:
    """The type, if it is a matrix type."""
    if not isinstance(kind, MatrixType):
        raise ValidationError("matrix-type-operands", f"{row.name} needs a cooperative matrix, not a value of type "
                              f"{kind}", row.offset)
    return kind


# --------------------------------------------------------------------------------------
# Load and store
# --------------------------------------------------------------------------------------

def compute_whole(compiler: FunctionCompiler, row: Instruction, function: Callable[..., Array], *operands: int) -> Step:
    """As ``compiler.compute``, for a function of whole matrices ``[matrices, rows, columns]``."""
    kinds = [matrix_type(compiler.type_of(operand), row) for operand in operands]
    kind, site, result = matrix_type(compiler.result_type(row), row), compiler.site(row), compiler.result(row)
    slots = [compiler.slot(operand) for operand in operands]

    def execute(frame: Frame) -> None:
        require_group(frame, site, kind)
        given = [whole(frame, one, frame.slots[slot]) for one, slot in zip(kinds, slots, strict=True)]
        frame.slots[result] = dealt(frame, kind, function(*given))

    return execute


Operands = Callable[[Frame], tuple[Array, Array, Array]]


def _operands(compiler: FunctionCompiler, row: Instruction, kind: MatrixType, words: tuple[int, ...]) -> Operands:
    """A closure for (address, layout, stride in bytes) per sub-group: ``[S]`` or ``[1]`` each.

    ``words`` are the pointer, the layout and, optionally, the stride and the memory operands.
    """
    site = compiler.site(row)
    unit = compiler.types.pointee(compiler.type_of(words[0])).size
    farthest = FARTHEST // max(unit, 1)
    pointer, layout = compiler.slot(words[0]), compiler.slot(words[1])
    stride = compiler.slot(words[2]) if len(words) > 2 else None
    no_stride = np.zeros((1, 1), np.int64)

    def evaluate(frame: Frame) -> tuple[Array, Array, Array]:
        slots = frame.slots
        require_group(frame, site, kind)
        distance = no_stride if stride is None else slots[stride]
        return (agreed_value(frame, kind, slots[pointer], site, "pointer",
                             lambda address: frame.memory.describe(int(address), unit)),
                agreed_value(frame, kind, slots[layout], site, "layout"),
                agreed_value(frame, kind, distance, site, "stride").astype(np.int64).clip(-farthest, farthest) * unit)

    return evaluate


def _access(compiler: FunctionCompiler, row: Instruction, kind: MatrixType, memory_operands: tuple[int, ...],
            *, writing: bool) -> MatrixAccess:
    alignment = max(kind.component.size, compiler.alignment(memory_operands) or 1)
    return MatrixAccess(kind, alignment, compiler.site(row), writing, _stride_rule(compiler, kind))


def _stride_rule(compiler: FunctionCompiler, kind: MatrixType) -> StrideRule:
    """The device's rule for matrices of half and float of sub-groups; components of A and B that are floats hold
    tf32."""
    device, component = compiler.kernel.device, kind.component
    if kind.is_of_work_group or not isinstance(component, FloatType) or component.encoding is not None or (
            component.width == 32 and kind.use != CooperativeMatrixUse.MatrixAccumulatorKHR):
        return StrideRule()
    return StrideRule(device.stride_multiple(f"fp{component.width}"), device.name)


def _load(compiler: FunctionCompiler, row: Instruction) -> Step:
    kind = matrix_type(compiler.result_type(row), row)
    access = _access(compiler, row, kind, row.words[3:], writing=False)
    operands, result = _operands(compiler, row, kind, row.words[:3]), compiler.result(row)

    def execute(frame: Frame) -> None:
        frame.slots[result] = dealt(frame, kind, load_matrix(frame, access, *operands(frame)))

    return execute


def _store(compiler: FunctionCompiler, row: Instruction) -> Step:
    pointer, value, *rest = row.words
    kind = matrix_type(compiler.type_of(value), row)
    access = _access(compiler, row, kind, tuple(rest[2:]), writing=True)
    operands, slot = _operands(compiler, row, kind, (pointer, *rest[:2])), compiler.slot(value)

    def execute(frame: Frame) -> None:
        store_matrix(frame, access, whole(frame, kind, frame.slots[slot]), *operands(frame))

    return execute


def _prefetch(compiler: FunctionCompiler, row: Instruction) -> Step:
    """A hint about memory that need not be there; all work-items of a sub-group give it together."""
    site = compiler.site(row)

    def execute(frame: Frame) -> None:
        require_sub_groups(frame, site)

    return execute


# --------------------------------------------------------------------------------------
# Windows of matrices in memory
# --------------------------------------------------------------------------------------


def _window(compiler: FunctionCompiler, row: Instruction, kind: MatrixType, offsets: tuple[int, ...],
            sizes: tuple[int, ...]) -> Callable[[Frame], Window]:
    """A closure for the window of a checked instruction: X is the row, Y the column; sizes have no sign."""
    site = compiler.site(row)
    places = [compiler.slot(word) for word in (*offsets, *sizes)]
    names = ("X offset", "Y offset", "height", "width")

    def evaluate(frame: Frame) -> Window:
        x, y, height, width = (agreed_value(frame, kind, frame.slots[place], site, name)
                               for place, name in zip(places, names, strict=True))
        return Window(x.astype(np.int64), y.astype(np.int64), *(_size(size) for size in (height, width)))

    return evaluate


def _size(value: Array) -> Array:
    return np.minimum(unsigned(value), np.uint64(FARTHEST)).astype(np.int64)


def _checked_type(kind: Type, row: Instruction) -> MatrixType:
    matrix = matrix_type(kind, row)
    if matrix.component == IntType(4):
        raise Error(f"cannot simulate '{row}': the components of a matrix in a window have at least 8 bits")
    return matrix


def _load_checked(compiler: FunctionCompiler, row: Instruction) -> Step:
    pointer, x, y, layout, height, width, *rest = row.words
    kind = _checked_type(compiler.result_type(row), row)
    access = _access(compiler, row, kind, tuple(rest[1:]), writing=False)
    operands, window = _operands(compiler, row, kind, (pointer, layout, *rest[:1])), \
        _window(compiler, row, kind, (x, y), (height, width))
    result = compiler.result(row)

    def execute(frame: Frame) -> None:
        frame.slots[result] = dealt(frame, kind, load_window(frame, access, *operands(frame), window(frame)))

    return execute


def _store_checked(compiler: FunctionCompiler, row: Instruction) -> Step:
    pointer, x, y, value, layout, height, width, *rest = row.words
    kind = _checked_type(compiler.type_of(value), row)
    access = _access(compiler, row, kind, tuple(rest[1:]), writing=True)
    operands, window = _operands(compiler, row, kind, (pointer, layout, *rest[:1])), \
        _window(compiler, row, kind, (x, y), (height, width))
    slot = compiler.slot(value)

    def execute(frame: Frame) -> None:
        store_window(frame, access, whole(frame, kind, frame.slots[slot]), *operands(frame), window(frame))

    return execute


def _construct_checked(compiler: FunctionCompiler, row: Instruction) -> Step:
    x, y, height, width, value = row.words
    kind = matrix_type(compiler.result_type(row), row)
    window, result = _window(compiler, row, kind, (x, y), (height, width)), compiler.result(row)
    site, fill = compiler.site(row), compiler.slot(value)
    nothing_there = np.zeros((), kind.dtype)

    def execute(frame: Frame) -> None:
        require_group(frame, site, kind)
        filled = agreed_value(frame, kind, frame.slots[fill], site, "component")
        found = [of_matrices(frame, kind, value) for value in (*window(frame), filled)]
        elements = np.where(inside_window(kind, Window(*found[:-1])), found[-1][:, None, None], nothing_there)
        frame.slots[result] = dealt(frame, kind, elements)

    return execute


# --------------------------------------------------------------------------------------
# Changes of use
# --------------------------------------------------------------------------------------


def _change_use(compiler: FunctionCompiler, row: Instruction) -> Step:
    """OpCooperativeMatrixConvertUseEXT: the same elements, transposed if decorated so."""
    return _as_other_use(compiler, row, is_transposed(compiler.module, row.result_id or 0))


def _transpose(compiler: FunctionCompiler, row: Instruction) -> Step:
    """OpCooperativeMatrixTransposeNV."""
    return _as_other_use(compiler, row, True)


def _as_other_use(compiler: FunctionCompiler, row: Instruction, transposed: bool) -> Step:
    given = matrix_type(compiler.type_of(row.words[0]), row)
    result = matrix_type(compiler.result_type(row), row)
    shape = (given.columns, given.rows) if transposed else (given.rows, given.columns)
    if given.component != result.component or shape != (result.rows, result.columns):
        raise ValidationError("matrix2-conversion", f"{row.name} keeps components and shape; found {given} to {result}",
                              row.offset)
    if not transposed and not result.is_of_work_group:
        return compiler.compute(row, lambda value: value, row.words[0])
    return compute_whole(compiler, row, lambda value: value.swapaxes(1, 2) if transposed else value, row.words[0])


# --------------------------------------------------------------------------------------
# Multiply-accumulate
# --------------------------------------------------------------------------------------


def _multiply_accumulate(compiler: FunctionCompiler, row: Instruction) -> Step:
    a_kind, b_kind, c_kind = (matrix_type(compiler.type_of(word), row) for word in row.words[:3])
    result_kind = matrix_type(compiler.result_type(row), row)
    use = multiply_accumulate_of(a_kind, b_kind, c_kind, result_kind, CooperativeMatrixOperands(
        row.words[3] if len(row.words) > 3 else 0), row)
    a_format, b_format, c_format, d_format = use.formats
    model = compiler.kernel.arithmetic

    def multiply(a: Array, b: Array, c: Array) -> Array:
        result = model(
            to_storage(a, a_format), to_storage(b, b_format), to_storage(c, c_format), a_format=a_format,
            b_format=b_format, c_format=c_format, d_format=d_format, saturating=use.saturating)
        return from_storage(result, result_kind)

    return compute_whole(compiler, row, multiply, *row.words[:3])


def to_storage(value: Array, name: str) -> Array:
    """A matrix as the storage type of the format that the operation reads it in."""
    if name == "uint4":
        return (value & np.int8(15)).astype(ml_dtypes.uint4)
    if name == "sint4":
        return value.astype(ml_dtypes.int4)
    return value.view(ml_dtypes.bfloat16) if name == "bf16" else value


def from_storage(value: Array, kind: MatrixType) -> Array:
    """A result in the simulator's own form."""
    return value if value.dtype == kind.dtype else value.view(kind.dtype)


# --------------------------------------------------------------------------------------
# What a work-item may ask
# --------------------------------------------------------------------------------------


def _length(compiler: FunctionCompiler, row: Instruction) -> Step:
    """A work-item may ask by itself; a SYCL kernel does in joint_matrix_apply, which is a group function."""
    kind = matrix_type(compiler.types[row.words[0]], row)
    result = compiler.result(row)
    value = np.full((1, 1), kind.slice_length, compiler.result_type(row).dtype)
    site, is_collective = compiler.site(row), compiler.kernel.language in SYCL_LANGUAGES

    def execute(frame: Frame) -> None:
        if is_collective:
            require_group(frame, site, kind)
        frame.slots[result] = value

    return execute


def _element_coordinates(compiler: FunctionCompiler, row: Instruction) -> Step:
    kind = matrix_type(compiler.type_of(row.words[0]), row)
    site, index, result = compiler.site(row), compiler.slot(row.words[1]), compiler.result(row)
    dtype = compiler.result_type(row).dtype

    def execute(frame: Frame) -> None:
        component = frame.slots[index].astype(np.int64)
        place = first_active(frame, (component < 0) | (component >= kind.slice_length))
        if place is not None:
            raise UndefinedBehavior(
                f"the component index of {site.in_words} must be below the length {kind.slice_length}",
                site.where(frame, *place))
        component = component.clip(0, kind.slice_length - 1)
        rows, columns, _ = held(frame, kind)
        frame.slots[result] = np.stack([take_component(one, component) for one in (rows, columns)], -1).astype(dtype)

    return execute


OPERATIONS: dict[int, Handler] = {
    Op.CooperativeMatrixLoadKHR: _load,
    Op.CooperativeMatrixStoreKHR: _store,
    Op.CooperativeMatrixLoadCheckedINTEL: _load_checked,
    Op.CooperativeMatrixStoreCheckedINTEL: _store_checked,
    Op.CooperativeMatrixConstructCheckedINTEL: _construct_checked,
    Op.CooperativeMatrixConvertUseEXT: _change_use,
    Op.CooperativeMatrixTransposeNV: _transpose,
    Op.CooperativeMatrixMulAddKHR: _multiply_accumulate,
    Op.CooperativeMatrixLengthKHR: _length,
    Op.CooperativeMatrixGetElementCoordINTEL: _element_coordinates,
    Op.CooperativeMatrixGetCoordinateEXT: _element_coordinates,
    Op.CooperativeMatrixPrefetchINTEL: _prefetch,
}
