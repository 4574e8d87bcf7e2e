"""Cooperative matrices: what their instructions ask of the machine's form of matrices."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from coopmat.devices.lane_layout import rows_per_word
from coopmat.diagnostics import Error, ValidationError
from coopmat.spirv.analysis.combinations import combination_of
from coopmat.spirv.analysis.matrix_uses import multiply_accumulate_of
from coopmat.spirv.analysis.types import IntType, MatrixType, Type
from coopmat.spirv.grammar import CooperativeMatrixLayout as Layout
from coopmat.spirv.grammar import CooperativeMatrixOperands, Op
from coopmat.spirv.grammar import CooperativeMatrixUse as Use
from coopmat.spirv.module.instruction import Instruction
from coopmat.targets.analysis.conversions import is_transposed
from coopmat.targets.llvm.arithmetic.integers import resized
from coopmat.targets.llvm.emitter import Emitter, Handler, as_matrix_type, uniform_text
from coopmat.targets.llvm.instructions.memory import alignment_of
from coopmat.targets.llvm.matrices import MatrixAccess
from coopmat.targets.llvm.matrix_checks import check_matrix
from coopmat.targets.llvm.values import Matrix, Value, literal, llvm_type

PREFETCH_WORDS = 6


def _result(emitter: Emitter, row: Instruction) -> MatrixType:
    return as_matrix_type(emitter.result_type(row), row)


# --------------------------------------------------------------------------------------
# Values
# --------------------------------------------------------------------------------------


def _scale(emitter: Emitter, row: Instruction) -> Value:
    """OpMatrixTimesScalar."""
    _result(emitter, row)
    factor = uniform_text(emitter, emitter.number(row.words[1]))
    return (emitter.matrices.scale(emitter.matrix(row.words[0]), factor),)


def _change_use(emitter: Emitter, row: Instruction) -> Value:
    """OpCooperativeMatrixConvertUseEXT: the same elements, transposed if decorated so."""
    return _as_other_use(emitter, row, is_transposed(emitter.module, emitter.flat.original(row.result_id or 0)))


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
    return (emitter.matrices.change_use(kind, given, transposed=transposed),)


def _reduce(emitter: Emitter, row: Instruction) -> Value:
    """OpCooperativeMatrixReduceEXT by one of the usual operations; others have become loops."""
    matrix, axes, function = row.words
    name = combination_of(emitter.module, function)
    assert name is not None
    return (emitter.matrices.reduce(_result(emitter, row), emitter.matrix(matrix), axes, name),)


def _multiply_accumulate(emitter: Emitter, row: Instruction) -> Value:
    a, b, c = (emitter.matrix(word) for word in row.words[:3])
    kind = _result(emitter, row)
    use = multiply_accumulate_of(a.kind, b.kind, c.kind, kind, CooperativeMatrixOperands(
        row.words[3] if len(row.words) > 3 else 0), row)
    return (emitter.matrices.multiply(kind, (a, b, c), use.formats, saturates=use.saturating),)


# --------------------------------------------------------------------------------------
# Components
# --------------------------------------------------------------------------------------


def _length(emitter: Emitter, row: Instruction) -> Value:
    kind = as_matrix_type(emitter.types[row.words[0]], row)
    return (emitter.constant(llvm_type(emitter.result_type(row)), kind.slice_length),)


def _coordinates(emitter: Emitter, row: Instruction) -> Value:
    """OpCooperativeMatrixGetElementCoordINTEL and OpCooperativeMatrixGetCoordinateEXT."""
    kind = as_matrix_type(emitter.type_of(row.words[0]), row)
    index = resized(emitter, emitter.number(row.words[1]), "i32", signed=False)
    llvm = llvm_type(emitter.result_type(row).scalar)
    return tuple(resized(emitter, one, llvm, signed=False) for one in emitter.matrices.coordinates(kind, index))


# --------------------------------------------------------------------------------------
# Memory
# --------------------------------------------------------------------------------------


def _access(emitter: Emitter, kind: MatrixType, pointer: int, rest: Sequence[int],
            window: tuple[str, ...]) -> Callable[[Layout], MatrixAccess]:
    """Where a matrix lies, by its layout. ``rest``: the stride, if there is one, and the memory operands."""
    unit = emitter.pointee(pointer).size
    address = uniform_text(emitter, emitter.number(pointer))
    stride = "0"
    if rest:
        count = resized(emitter, emitter.number(rest[0]), "i64", signed=True)
        stride = uniform_text(emitter, count)
        stride = literal("i64", int(stride) * unit) if stride.lstrip("-").isdigit() else \
            emitter.writer.let(f"mul i64 {stride}, {unit}")
    alignment = max(kind.component.size, alignment_of(rest[1:], kind.component))
    return lambda layout: MatrixAccess(pointer, address, stride, layout, alignment, window)


def _by_layout(emitter: Emitter, kind: MatrixType, layout: int, row: Instruction,
               access: Callable[[Layout], str]) -> str:
    """What ``access`` gives for the layout; for one that only the kernel knows, a branch to each that is possible."""
    known = emitter.constant_of(layout)
    if known is not None:
        if known not in set(Layout):
            raise Error(f"the layout {known} of {row.name} is not known")
        return access(Layout(known))
    writer = emitter.writer
    chosen = uniform_text(emitter, resized(emitter, emitter.number(layout), "i32", signed=False))
    end = writer.fresh("layout.end")[1:]
    labels = {one: writer.fresh("layout")[1:] for one in _possible_layouts(kind)}
    table = " ".join(f"i32 {int(one)}, label %{label}" for one, label in labels.items())
    writer.do(f"switch i32 {chosen}, label %{labels[Layout.RowMajorKHR]} [ {table} ]")
    found = []
    for one, label in labels.items():
        writer.label(label)
        found.append(f"[ {access(one)}, %{writer.block} ]")
        writer.do(f"br label %{end}")
    writer.label(end)
    return "" if row.result_id is None else writer.let(f"phi {emitter.matrices.type(kind)} {', '.join(found)}")


def _possible_layouts(kind: MatrixType) -> list[Layout]:
    """The layouts in which a matrix can lie in memory."""
    together = rows_per_word(4 if kind.component == IntType(4) else 8 * kind.component.size)
    can_be_packed = kind.use == Use.MatrixAKHR or (
        kind.use == Use.MatrixBKHR and together > 1 and kind.rows % together == 0)
    packed = [Layout.PackedINTEL] if can_be_packed else []
    return [Layout.RowMajorKHR, Layout.ColumnMajorKHR, *packed]


def _loaded(emitter: Emitter, kind: MatrixType, pointer: int, layout: int, rest: Sequence[int], row: Instruction,
            window: tuple[str, ...] = ()) -> Value:
    """What a load gives, of all of a matrix or of a window."""
    access_of = _access(emitter, kind, pointer, rest, window)

    def load(found: Layout) -> str:
        access = access_of(found)
        check_matrix(emitter, kind, access, writing=False)
        return emitter.matrices.load(kind, access).text

    return (Matrix(kind, _by_layout(emitter, kind, layout, row, load)),)


def _stored(emitter: Emitter, matrix: Matrix, pointer: int, layout: int, rest: Sequence[int], row: Instruction,
            window: tuple[str, ...] = ()) -> None:
    """Store all of a matrix, or what of it lies in a window."""
    access_of = _access(emitter, matrix.kind, pointer, rest, window)

    def store(found: Layout) -> str:
        access = access_of(found)
        check_matrix(emitter, matrix.kind, access, writing=True)
        emitter.matrices.store(matrix, access)
        return ""

    _by_layout(emitter, matrix.kind, layout, row, store)


def _load(emitter: Emitter, row: Instruction) -> Value:
    pointer, layout, *rest = row.words
    return _loaded(emitter, _result(emitter, row), pointer, layout, rest, row)


def _store(emitter: Emitter, row: Instruction) -> None:
    pointer, value, layout, *rest = row.words
    _stored(emitter, emitter.matrix(value), pointer, layout, rest, row)


# --------------------------------------------------------------------------------------
# Windows
# --------------------------------------------------------------------------------------


def _window(emitter: Emitter, words: Sequence[int]) -> tuple[str, ...]:
    """First row, first column, height and width of a window, as 64-bit integers; sizes have no sign."""
    found = []
    for place, word in enumerate(words):
        number = resized(emitter, emitter.number(word), "i64", signed=place < 2)
        found.append(uniform_text(emitter, number))
    return tuple(found)


def _checked_type(kind: Type, row: Instruction) -> MatrixType:
    matrix = as_matrix_type(kind, row)
    if matrix.component == IntType(4):
        raise Error(f"cannot compile '{row}': the components of a matrix in a window have at least 8 bits")
    return matrix


def _load_checked(emitter: Emitter, row: Instruction) -> Value:
    pointer, x, y, layout, height, width, *rest = row.words
    kind = _checked_type(emitter.result_type(row), row)
    return _loaded(emitter, kind, pointer, layout, rest, row, _window(emitter, (x, y, height, width)))


def _store_checked(emitter: Emitter, row: Instruction) -> None:
    pointer, x, y, value, layout, height, width, *rest = row.words
    matrix = emitter.matrix(value)
    _checked_type(matrix.kind, row)
    _stored(emitter, matrix, pointer, layout, rest, row, _window(emitter, (x, y, height, width)))


def _construct_checked(emitter: Emitter, row: Instruction) -> Value:
    x, y, height, width, value = row.words
    kind = _result(emitter, row)
    fill = uniform_text(emitter, emitter.number(value))
    return (emitter.matrices.fill_window(kind, fill, _window(emitter, (x, y, height, width))),)


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
    if order == Layout.ColumnMajorKHR:
        height, width = width, height
    elif order == Layout.PackedINTEL:
        together = rows_per_word(8 * unit)
        height, width = -(-height // together), width * together
    distance = resized(emitter, emitter.number(stride), "i64", signed=True)
    bytes_ = emitter.apply("mul {t} {0}, {1}", "i64", distance, emitter.constant("i64", unit))
    emitter.matrices.prefetch(uniform_text(emitter, emitter.number(pointer)), height, width * unit,
                              uniform_text(emitter, bytes_))


OPERATIONS: dict[int, Handler] = {
    Op.MatrixTimesScalar: _scale,
    Op.CooperativeMatrixLoadKHR: _load,
    Op.CooperativeMatrixStoreKHR: _store,
    Op.CooperativeMatrixLoadCheckedINTEL: _load_checked,
    Op.CooperativeMatrixStoreCheckedINTEL: _store_checked,
    Op.CooperativeMatrixConstructCheckedINTEL: _construct_checked,
    Op.CooperativeMatrixConvertUseEXT: _change_use,
    Op.CooperativeMatrixTransposeNV: _transpose,
    Op.CooperativeMatrixMulAddKHR: _multiply_accumulate,
    Op.CooperativeMatrixLengthKHR: _length,
    Op.CooperativeMatrixGetElementCoordINTEL: _coordinates,
    Op.CooperativeMatrixGetCoordinateEXT: _coordinates,
    Op.CooperativeMatrixReduceEXT: _reduce,
    Op.CooperativeMatrixPrefetchINTEL: _prefetch,
}
