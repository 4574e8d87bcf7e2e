"""Cooperative matrices in a kernel's IR, before it is known how the hardware does them.

A matrix has LLVM's opaque type for cooperative matrices, and every operation on it is a call of a function without a
body. LLVM can so unroll loops over arrays of matrices, and keep matrices out of memory, before :mod:`.lowering` gives
type and operations the form that the hardware needs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from coopmat.devices.lane_layout import rows_per_word
from coopmat.diagnostics import Error, ValidationError
from coopmat.formats import format_of
from coopmat.spirv.analysis.combinations import combination_of
from coopmat.spirv.analysis.matrix_uses import multiply_accumulate_of
from coopmat.spirv.analysis.types import IntType, MatrixType, Type, round_up
from coopmat.spirv.grammar import (
    CooperativeMatrixLayout,
    CooperativeMatrixOperands,
    CooperativeMatrixUse,
    Op,
)
from coopmat.spirv.module.instruction import Instruction
from coopmat.targets.analysis.conversions import is_transposed
from coopmat.targets.cpu.options import HARDWARE
from coopmat.targets.llvm.emitter import Emitter, Handler
from coopmat.targets.llvm.instructions.integers import divide, remainder, resized
from coopmat.targets.llvm.prefetch import prefetch
from coopmat.targets.llvm.values import Matrix, Number, Value, literal, llvm_type
from coopmat.targets.llvm.writer import Operand

PREFETCH_WORDS = 6
TILE_BYTES = 1024  # of AMX
MATRIX_BYTES = 8  # what LLVM takes a matrix to have in memory
PURE = "nounwind willreturn memory(none)"
READS = "nounwind willreturn memory(read)"
WRITES = "nounwind willreturn"


@dataclass(frozen=True)
class Operation:
    """One operation on matrices: what the function of a name stands for.

    name: fill, load, store, multiply, multiply_as, elementwise, scale, convert, use, reduce, extract, insert, inside
    (the elements of a window), and, of matrices in memory (:mod:`.component_loops`), to_memory, from_memory,
    extract_in_memory and insert_in_memory. result: the type of the matrix that it gives, None if none. operands: the
    types of the matrices that it takes. detail: what else there is to know: of load and store the layout and the
    alignment, of load whether the tile may be kept; of multiply the formats of A, B, C and D and whether it saturates;
    of multiply_as the formats, and "exact" or an architecture; of elementwise and convert the instruction's name, its
    rounding and whether it saturates; of use whether it transposes; of reduce the axes and the operation's name; of
    access to a component whether all work-items mean the same one, and in memory the type. sub_group_size: work-items.
    """

    name: str
    result: MatrixType | None
    operands: tuple[MatrixType, ...]
    detail: tuple[object, ...] = ()
    sub_group_size: int = 16

    @property
    def vector(self) -> str:
        """LLVM's type of a component of every work-item, for ``extract``."""
        return f"<{self.sub_group_size} x {element_type(self.operands[0])}>"


def matrix_type(kind: MatrixType) -> str:
    """LLVM's type of a matrix in the kernel's IR; it names element, scope, rows, columns and use."""
    component = "i4" if kind.component == IntType(4) else llvm_type(kind.component)
    if kind.component.dtype.name == "bfloat16":
        component = "bfloat"
    return f'target("spirv.CooperativeMatrixKHR", {component}, 3, {kind.rows}, {kind.columns}, {kind.use})'


def slot_type(kind: MatrixType) -> str:
    """The type of a place in memory that holds a matrix: as many bytes as any form of it needs."""
    return f"{{ {matrix_type(kind)}, [{slot_bytes(kind) - MATRIX_BYTES} x i8] }}"


def slot_bytes(kind: MatrixType) -> int:
    """The bytes of such a place: of rows whose lengths are powers of two, or of a tile."""
    row = 1 << (kind.columns * kind.component.size - 1).bit_length()
    return round_up(max(kind.rows * row, TILE_BYTES), 64)


def component_bytes(kind: MatrixType) -> int:
    """The bytes of the components of all work-items; those behind the last element count, too."""
    return round_up(kind.slice_length * kind.sub_group_size * kind.component.size, 64)


def element_type(kind: MatrixType) -> str:
    """LLVM's type of an element: bf16 as its bits, 4-bit integers in a byte, sign-extended."""
    return llvm_type(kind.component)


def call(emitter: Emitter, operation: Operation, operands: Sequence[Operand], result: str, attributes: str) -> str:
    """A call of the function that stands for an operation."""
    known: dict[Operation, str] = emitter.extra.setdefault("matrix names", {})
    if operation not in known:
        known[operation] = f"matrix.{operation.name}.{len(known)}"
        emitter.extra.setdefault("matrix operations", {})[known[operation]] = operation
    return emitter.writer.call(result, known[operation], operands, attributes)


def _operand(matrix: Matrix) -> Operand:
    return matrix_type(matrix.kind), matrix.text


def uniform_text(emitter: Emitter, number: Number) -> str:
    """The operand of a number that all work-items have alike, as group operations require."""
    return number.base if number.is_uniform else emitter.lane_of(number, emitter.first_lane())


# --------------------------------------------------------------------------------------
# Values
# --------------------------------------------------------------------------------------


def zero_matrix(emitter: Emitter, kind: MatrixType) -> str:
    """The operand of a matrix of zeros."""
    from coopmat.targets.llvm.values import zero_of

    return _fill(emitter, kind, zero_of(element_type(kind)))


def _fill(emitter: Emitter, kind: MatrixType, text: str) -> str:
    operation = Operation("fill", kind, (), (), emitter.size)
    return call(emitter, operation, [(element_type(kind), text)], matrix_type(kind), PURE)


def filled_matrix(emitter: Emitter, kind: MatrixType, fill: Number) -> Value:
    """A matrix of equal elements."""
    return (Matrix(kind, _fill(emitter, kind, uniform_text(emitter, fill))),)


def pure(emitter: Emitter, name: str, kind: MatrixType, operands: Sequence[Matrix], detail: tuple[object, ...] = (),
         others: Sequence[Operand] = ()) -> tuple[Matrix]:
    """The matrix that an operation without other effects gives."""
    operation = Operation(name, kind, tuple(one.kind for one in operands), detail, emitter.size)
    text = call(emitter, operation, [*map(_operand, operands), *others], matrix_type(kind), PURE)
    return (Matrix(kind, text),)


def _result(emitter: Emitter, row: Instruction) -> MatrixType:
    return as_matrix_type(emitter.result_type(row), row)


def as_matrix_type(kind: Type, row: Instruction) -> MatrixType:
    """The type, if it is a matrix type."""
    if not isinstance(kind, MatrixType):
        raise ValidationError("matrix-type-operands", f"{row.name} needs a cooperative matrix, not a value of type "
                              f"{kind}", row.offset)
    return kind


def elementwise_matrix(emitter: Emitter, row: Instruction, name: str) -> Value:
    """An arithmetic instruction on each element."""
    return pure(emitter, "elementwise", _result(emitter, row), [emitter.matrix(word) for word in row.words], (name,))


def scaled_matrix(emitter: Emitter, row: Instruction) -> Value:
    """OpMatrixTimesScalar."""
    kind = _result(emitter, row)
    factor = uniform_text(emitter, emitter.number(row.words[1]))
    return pure(emitter, "scale", kind, [emitter.matrix(row.words[0])], (), [(element_type(kind), factor)])


def converted_matrix(emitter: Emitter, row: Instruction) -> Value:
    """A conversion of each element."""
    from coopmat.targets.llvm.instructions.conversions import manner_of

    kind, given = _result(emitter, row), emitter.matrix(row.words[0])
    transposed = _is_transposed(emitter, row)
    same_shape = replace(kind, rows=kind.columns, columns=kind.rows) if transposed else kind
    detail = (Op(row.opcode), *manner_of(emitter, row))
    [found] = pure(emitter, "convert", same_shape, [given], detail)
    return pure(emitter, "use", kind, [found], (True,)) if transposed else (found,)


def same_matrix(emitter: Emitter, row: Instruction) -> Value:
    """OpBitcast of a matrix: integers of one width."""
    kind, given = _result(emitter, row), emitter.matrix(row.words[0])
    if given.kind.dtype.itemsize != kind.dtype.itemsize or given.kind.dtype.kind != kind.dtype.kind:
        raise Error("OpBitcast of a matrix is possible between integer components of one width only")
    if matrix_type(kind) == matrix_type(given.kind):
        return (Matrix(kind, given.text),)
    return pure(emitter, "use", kind, [given], (False,))


def _change_use(emitter: Emitter, row: Instruction) -> Value:
    """OpCooperativeMatrixConvertUseEXT: the same elements, transposed if decorated so."""
    return _as_other_use(emitter, row, _is_transposed(emitter, row))


def _is_transposed(emitter: Emitter, row: Instruction) -> bool:
    return is_transposed(emitter.module, emitter.flat.original(row.result_id or 0))


def _transpose(emitter: Emitter, row: Instruction) -> Value:
    """OpCooperativeMatrixTransposeNV."""
    return _as_other_use(emitter, row, True)


def _as_other_use(emitter: Emitter, row: Instruction, transposed: bool) -> Value:
    given, kind = emitter.matrix(row.words[0]), _result(emitter, row)
    rows, columns = given.kind.rows, given.kind.columns
    shape = (columns, rows) if transposed else (rows, columns)
    if given.kind.component != kind.component or shape != (kind.rows, kind.columns):
        raise ValidationError("matrix2-conversion", f"{row.name} keeps components and shape; found {given.kind} to "
                              f"{kind}", row.offset)
    return pure(emitter, "use", kind, [given], (transposed,))


def _reduce(emitter: Emitter, row: Instruction) -> Value:
    """OpCooperativeMatrixReduceEXT by one of the usual operations; others have become loops."""
    matrix, axes, function = row.words
    name = combination_of(emitter.module, function)
    assert name is not None
    return pure(emitter, "reduce", _result(emitter, row), [emitter.matrix(matrix)], (axes, name))


# --------------------------------------------------------------------------------------
# Components
# --------------------------------------------------------------------------------------


def extract_component(emitter: Emitter, matrix: Matrix, index: Number) -> Number:
    """A component of every work-item: element ``index`` * work-items + work-item, counted along the rows; zero behind
    the last one."""
    element = element_type(matrix.kind)
    how, where = _place(emitter, index)
    operation = Operation("extract", None, (matrix.kind,), (how,), emitter.size)
    text = call(emitter, operation, [_operand(matrix), where], emitter.vector(element), PURE)
    return emitter.varying(element, text)


def _place(emitter: Emitter, index: Number) -> tuple[str, Operand]:
    """Whether all work-items mean the same component, and its number."""
    if index.is_uniform:
        return "uniform", ("i32", index.base)
    return "varying", (emitter.vector("i32"), emitter.lanes(index))


def insert_component(emitter: Emitter, matrix: Matrix, index: Number, value: Number) -> Matrix:
    """The matrix with a component of every work-item that is here replaced."""
    element = element_type(matrix.kind)
    how, where = _place(emitter, index)
    operation = Operation("insert", matrix.kind, (matrix.kind,), (how,), emitter.size)
    text = call(emitter, operation, [_operand(matrix), where, (emitter.vector(element), emitter.lanes(value)),
                                     (emitter.mask_type, emitter.mask_text)], matrix_type(matrix.kind), PURE)
    return Matrix(matrix.kind, text)


def _length(emitter: Emitter, row: Instruction) -> Value:
    kind = as_matrix_type(emitter.types[row.words[0]], row)
    return (emitter.constant(llvm_type(emitter.result_type(row)), kind.slice_length),)


def _element_coordinates(emitter: Emitter, row: Instruction) -> Value:
    """OpCooperativeMatrixGetElementCoordINTEL: elements are dealt out to the work-items in turn."""
    kind = as_matrix_type(emitter.type_of(row.words[0]), row)
    index = resized(emitter, emitter.number(row.words[1]), "i32", signed=False)
    number = emitter.apply("mul {t} {0}, {1}", "i32", index, emitter.constant("i32", emitter.size))
    number = emitter.apply("add {t} {0}, {1}", "i32", number, emitter.lane_number())
    columns = emitter.constant("i32", kind.columns)
    llvm = llvm_type(emitter.result_type(row).scalar)
    return tuple(resized(emitter, one, llvm, signed=False)
                 for one in (divide(False)(emitter, number, columns), remainder(False)(emitter, number, columns)))


# --------------------------------------------------------------------------------------
# Memory
# --------------------------------------------------------------------------------------


def _memory(emitter: Emitter, kind: MatrixType, pointer: int, rest: Sequence[int]) -> tuple[list[Operand], int]:
    """Operands (address, bytes from one row or column to the next), and the alignment."""
    from coopmat.targets.llvm.instructions.memory import alignment_of

    unit = emitter.pointee(pointer).size
    address = uniform_text(emitter, emitter.number(pointer))
    stride = "0"
    if rest:
        count = resized(emitter, emitter.number(rest[0]), "i64", signed=True)
        stride = uniform_text(emitter, count)
        stride = literal("i64", int(stride) * unit) if stride.lstrip("-").isdigit() else \
            emitter.writer.let(f"mul i64 {stride}, {unit}")
    return [("ptr", address), ("i64", stride)], max(kind.component.size, alignment_of(rest[1:], kind.component))


def _by_layout(emitter: Emitter, kind: MatrixType, layout: int, row: Instruction,
               access: Callable[[CooperativeMatrixLayout], str]) -> str:
    """What ``access`` gives for the layout; for one that only the kernel knows, a branch to each that is possible."""
    known = emitter.constant_of(layout)
    if known is not None:
        if known not in set(CooperativeMatrixLayout):
            raise Error(f"the layout {known} of {row.name} is not known")
        return access(CooperativeMatrixLayout(known))
    writer = emitter.writer
    chosen = uniform_text(emitter, resized(emitter, emitter.number(layout), "i32", signed=False))
    end = writer.fresh("layout.end")[1:]
    labels = {one: writer.fresh("layout")[1:] for one in _possible_layouts(kind)}
    table = " ".join(f"i32 {int(one)}, label %{label}" for one, label in labels.items())
    writer.do(f"switch i32 {chosen}, label %{labels[CooperativeMatrixLayout.RowMajorKHR]} [ {table} ]")
    found = []
    for one, label in labels.items():
        writer.label(label)
        found.append(f"[ {access(one)}, %{writer.current_block()} ]")
        writer.do(f"br label %{end}")
    writer.label(end)
    return "" if row.result_id is None else writer.let(f"phi {matrix_type(kind)} {', '.join(found)}")


def _possible_layouts(kind: MatrixType) -> list[CooperativeMatrixLayout]:
    """The layouts in which a matrix can lie in memory."""
    together = rows_per_word(4 if kind.component == IntType(4) else 8 * kind.component.size)
    can_be_packed = kind.use == CooperativeMatrixUse.MatrixAKHR or (
        kind.use == CooperativeMatrixUse.MatrixBKHR and together > 1 and kind.rows % together == 0)
    packed = [CooperativeMatrixLayout.PackedINTEL] if can_be_packed else []
    return [CooperativeMatrixLayout.RowMajorKHR, CooperativeMatrixLayout.ColumnMajorKHR, *packed]


def _check(emitter: Emitter, kind: MatrixType, pointer: int, layout: CooperativeMatrixLayout,
           operands: Sequence[Operand], *, writing: bool) -> None:
    """Where accesses are checked, have that of a matrix checked, or of what of it lies in a window."""
    from coopmat.targets.cpu.matrix.checks import check_matrix

    if "bounds" in emitter.extra:
        address, stride, *window = (text for _, text in operands)
        check_matrix(emitter, kind, pointer, layout, address, stride, window, writing=writing)


def _loaded(emitter: Emitter, name: str, kind: MatrixType, pointer: int, layout: int, rest: Sequence[int],
            row: Instruction, more: Sequence[Operand] = ()) -> Value:
    operands, alignment = _memory(emitter, kind, pointer, rest)

    def access(found: CooperativeMatrixLayout) -> str:
        _check(emitter, kind, pointer, found, [*operands, *more], writing=False)
        kept = _kept(emitter, name, kind, pointer, found)
        operation = Operation(name, kind, (), (found, alignment, bool(kept)), emitter.size)
        return call(emitter, operation, [*operands, *more, *kept], matrix_type(kind), READS)

    return (Matrix(kind, _by_layout(emitter, kind, layout, row, access)),)


def _kept(emitter: Emitter, name: str, kind: MatrixType, pointer: int,
          layout: CooperativeMatrixLayout) -> list[Operand]:
    """The operands by which a load may take a tile that was converted before; empty where it need not, or must not."""
    from coopmat.targets.cpu.matrix import amx, reuse

    if name != "load" or "amx-tile" not in emitter.variant.features or amx.tile_shape(kind) is None:
        return []
    return reuse.operands(emitter, pointer) if reuse.is_kept(kind, amx.is_direct(kind, layout)) else []


def _stored(emitter: Emitter, name: str, matrix: Matrix, pointer: int, layout: int, rest: Sequence[int],
            row: Instruction, more: Sequence[Operand] = ()) -> None:
    operands, alignment = _memory(emitter, matrix.kind, pointer, rest)

    def access(found: CooperativeMatrixLayout) -> str:
        _check(emitter, matrix.kind, pointer, found, [*operands, *more], writing=True)
        operation = Operation(name, None, (matrix.kind,), (found, alignment), emitter.size)
        return call(emitter, operation, [_operand(matrix), *operands, *more], "void", WRITES)

    _by_layout(emitter, matrix.kind, layout, row, access)


def _load(emitter: Emitter, row: Instruction) -> Value:
    pointer, layout, *rest = row.words
    return _loaded(emitter, "load", _result(emitter, row), pointer, layout, rest, row)


def _store(emitter: Emitter, row: Instruction) -> None:
    pointer, value, layout, *rest = row.words
    _stored(emitter, "store", emitter.matrix(value), pointer, layout, rest, row)


def _window(emitter: Emitter, words: Sequence[int]) -> list[Operand]:
    """First row, first column, height and width of a window, as 64-bit integers; sizes have no sign."""
    found: list[Operand] = []
    for place, word in enumerate(words):
        number = resized(emitter, emitter.number(word), "i64", signed=place < 2)
        found.append(("i64", uniform_text(emitter, number)))
    return found


def _checked_type(kind: Type, row: Instruction) -> MatrixType:
    matrix = as_matrix_type(kind, row)
    if matrix.component == IntType(4):
        raise Error(f"cannot compile '{row}': the components of a matrix in a window have at least 8 bits")
    return matrix


def _load_checked(emitter: Emitter, row: Instruction) -> Value:
    pointer, x, y, layout, height, width, *rest = row.words
    kind = _checked_type(emitter.result_type(row), row)
    return _loaded(emitter, "load_window", kind, pointer, layout, rest, row, _window(emitter, (x, y, height, width)))


def _store_checked(emitter: Emitter, row: Instruction) -> None:
    pointer, x, y, value, layout, height, width, *rest = row.words
    matrix = emitter.matrix(value)
    _checked_type(matrix.kind, row)
    window = _window(emitter, (x, y, height, width))
    _stored(emitter, "store_window", matrix, pointer, layout, rest, row, window)


def _construct_checked(emitter: Emitter, row: Instruction) -> Value:
    x, y, height, width, value = row.words
    kind = _result(emitter, row)
    fill = uniform_text(emitter, emitter.number(value))
    operation = Operation("inside", kind, (), (), emitter.size)
    operands = [(element_type(kind), fill), *_window(emitter, (x, y, height, width))]
    return (Matrix(kind, call(emitter, operation, operands, matrix_type(kind), PURE)),)


def _prefetch(emitter: Emitter, row: Instruction) -> None:
    """OpCooperativeMatrixPrefetchINTEL: a hint about memory that need not be there. Of its two forms the one with
    offsets is left alone."""
    if len(row.words) != PREFETCH_WORDS:
        return
    pointer, rows, columns, _, layout, stride = row.words
    unit = emitter.pointee(pointer).size
    sizes = [emitter.constant_of(word) for word in (rows, columns, layout)]
    if None in sizes:
        return
    height, width, order = (int(size or 0) for size in sizes)
    if order == CooperativeMatrixLayout.ColumnMajorKHR:
        height, width = width, height
    elif order == CooperativeMatrixLayout.PackedINTEL:
        together = rows_per_word(8 * unit)
        height, width = -(-height // together), width * together
    distance = resized(emitter, emitter.number(stride), "i64", signed=True)
    bytes_ = emitter.apply("mul {t} {0}, {1}", "i64", distance, emitter.constant("i64", unit))
    prefetch(emitter, uniform_text(emitter, emitter.number(pointer)), str(height), str(width * unit),
             uniform_text(emitter, bytes_))


# --------------------------------------------------------------------------------------
# Multiply-accumulate
# --------------------------------------------------------------------------------------


def _multiply_accumulate(emitter: Emitter, row: Instruction) -> Value:
    a, b, c = (emitter.matrix(word) for word in row.words[:3])
    kind = _result(emitter, row)
    use = multiply_accumulate_of(a.kind, b.kind, c.kind, kind, CooperativeMatrixOperands(
        row.words[3] if len(row.words) > 3 else 0), row)
    numerics = emitter.variant.numerics
    if numerics == HARDWARE or format_of(use.formats[3]).is_integer:
        return pure(emitter, "multiply", kind, [a, b, c], (use.formats, use.saturating))
    return pure(emitter, "multiply_as", kind, [a, b, c], (use.formats, numerics))


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
    Op.CooperativeMatrixReduceEXT: _reduce,
    Op.CooperativeMatrixPrefetchINTEL: _prefetch,
}
