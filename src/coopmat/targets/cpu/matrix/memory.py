"""Loads and stores of plain matrices, in every layout, whole or as much of them as lies in a window."""

from __future__ import annotations

from collections.abc import Sequence

from coopmat.devices.lane_layout import rows_per_word
from coopmat.diagnostics import Error
from coopmat.spirv.analysis.types import IntType, MatrixType
from coopmat.spirv.grammar import CooperativeMatrixLayout as Layout
from coopmat.spirv.grammar import CooperativeMatrixUse as Use
from coopmat.targets.cpu.matrix.body import RESULT, Body, Made, is_large, plain_type, row_type
from coopmat.targets.cpu.matrix.copies import Copy, inside
from coopmat.targets.cpu.matrix.operation import Load, LoadWindow, Store, StoreWindow
from coopmat.targets.cpu.matrix.packing import interleaved, separated, transposed
from coopmat.targets.cpu.matrix.types import element_type
from coopmat.targets.llvm.values import zero_of


def is_by_rows(kind: MatrixType, layout: Layout) -> bool:
    """Whether the elements of a row lie side by side in bytes of their own."""
    return kind.component != IntType(4) and (
        layout == Layout.RowMajorKHR or (layout == Layout.PackedINTEL and kind.use == Use.MatrixAKHR))


def together_in_memory(kind: MatrixType, layout: Layout) -> int:
    """How many rows of B the packed layout interleaves, of elements with bytes of their own; 1 for any other layout."""
    if layout != Layout.PackedINTEL or kind.use != Use.MatrixBKHR or kind.component == IntType(4):
        return 1
    together = rows_per_word(8 * kind.component.size)
    return together if kind.rows % together == 0 else 1


def _offset(body: Body, kind: MatrixType, layout: Layout, row: str, column: str, stride: str) -> tuple[str, str | None]:
    """The byte of an element, and, of 4-bit components, whether it is in the byte's upper half (an i64, 0 or 1)."""
    let = body.writer.let
    halves = kind.component == IntType(4)
    size, per_byte = kind.component.size, 2 if halves else 1
    together = 4 * per_byte // size
    if layout == Layout.ColumnMajorKHR:
        row, column = column, row
    elif layout == Layout.PackedINTEL and kind.use == Use.MatrixBKHR and together > 1 and kind.rows % together == 0:
        inner = let(f"urem i64 {row}, {together}")
        wide = let(f"mul i64 {column}, {together}")
        row, column = let(f"udiv i64 {row}, {together}"), let(f"add i64 {wide}, {inner}")
    elif layout != Layout.RowMajorKHR and not (layout == Layout.PackedINTEL and kind.use == Use.MatrixAKHR):
        raise Error(f"layout {layout.name} is not possible for a {kind} of use {kind.use}")
    upper = let(f"and i64 {column}, 1") if halves else None
    unit = let(f"lshr i64 {column}, 1") if halves else let(f"mul i64 {column}, {size}")
    line = let(f"mul i64 {row}, {stride}")
    return let(f"add i64 {line}, {unit}"), upper


def load(body: Body, operation: Load) -> Made:
    kind, layout = operation.result, operation.layout
    parameters = ["ptr", "i64", *(["ptr", "i64"] if operation.is_kept else [])]  # the last two: see reuse.py
    copy = _copy(body, kind, layout, RESULT, "%0", "%1", is_load=True)
    if copy is not None:
        copy.whole()
        return parameters, plain_type(kind), RESULT
    if _are_lines(kind, layout):
        return parameters, plain_type(kind), body.gathered(_loaded(body, kind, layout, "%0", "%1"), kind)
    slot, element = body.result(kind), element_type(kind)

    def move(row: str, column: str, number: str) -> None:
        value = _load_element(body, kind, *_offset(body, kind, layout, row, column, "%1"))
        body.writer.do(f"store {element} {value}, ptr {body.address(slot, element, number)}")

    body.each_element(kind, move)
    return parameters, plain_type(kind), body.from_buffer(slot, kind)


# --------------------------------------------------------------------------------------
# Matrices in registers whose lines in memory are vectors
# --------------------------------------------------------------------------------------


def _are_lines(kind: MatrixType, layout: Layout) -> bool:
    """Whether a matrix in registers lies in lines of memory: rows, columns, or packed rows."""
    return not is_large(kind) and (is_by_rows(kind, layout) or together_in_memory(kind, layout) > 1 or (
        layout == Layout.ColumnMajorKHR and kind.component != IntType(4)))


def _shape(kind: MatrixType, layout: Layout) -> tuple[int, int]:
    """How many lines a matrix has in memory, and elements of each."""
    if layout == Layout.ColumnMajorKHR:
        return kind.columns, kind.rows
    together = together_in_memory(kind, layout)
    return kind.rows // together, kind.columns * together


def _loaded(body: Body, kind: MatrixType, layout: Layout, base: str, stride: str) -> list[str]:
    """The rows of a matrix."""
    together, (count, length), element = together_in_memory(kind, layout), _shape(kind, layout), element_type(kind)
    vector, alignment = (f"<{length} x {element}>", kind.component.size) if together == 1 else (
        f"<{kind.columns} x i32>", 1)
    lines = [body.writer.let(f"load {vector}, ptr {body.writer.line(base, number, stride)}, align {alignment}")
             for number in range(count)]
    if together > 1:
        return separated(body, lines, kind, together)
    return lines if is_by_rows(kind, layout) else transposed(body.writer, lines, length, element)


def _put(body: Body, kind: MatrixType, layout: Layout, rows: list[str], base: str, stride: str) -> None:
    """Store the rows of a matrix."""
    together, (_, length), element = together_in_memory(kind, layout), _shape(kind, layout), element_type(kind)
    vector, alignment = f"<{length} x {element}>", kind.component.size
    lines = rows
    if together > 1:
        vector, alignment, lines = f"<{kind.columns} x i32>", 1, interleaved(body, rows, kind, together)
    elif not is_by_rows(kind, layout):
        lines = transposed(body.writer, rows, kind.columns, element)
    for number, line in enumerate(lines):
        body.writer.do(f"store {vector} {line}, ptr {body.writer.line(base, number, stride)}, align {alignment}")


def is_whole(body: Body, kind: MatrixType, layout: Layout, window: Sequence[str]) -> tuple[str, str]:
    """Whether all of a matrix lies in a window, and whether not."""
    writer, conditions = body.writer, []
    for start, size, count in zip(window[:2], window[2:], _shape(kind, layout), strict=True):
        conditions += [writer.let(f"icmp eq i64 {place}, {limit}")
                       for place, limit in zip(inside(writer, start, size, count), (0, count), strict=True)]
    whole = writer.all_of("true", *conditions)
    return whole, writer.let(f"xor i1 {whole}, true")


# --------------------------------------------------------------------------------------
# Large ones, and element by element
# --------------------------------------------------------------------------------------


def _copy(body: Body, kind: MatrixType, layout: Layout, here: str, there: str, stride: str, *,
          is_load: bool) -> Copy | None:
    """The copy of a large matrix between its buffer and memory; None where it goes element by element."""
    by_rows = is_by_rows(kind, layout)
    if not is_large(kind) or not (by_rows or (layout == Layout.ColumnMajorKHR and kind.component != IntType(4))):
        return None
    return Copy(body, kind, here, there, stride, not by_rows, is_load)


def _load_element(body: Body, kind: MatrixType, offset: str, upper: str | None) -> str:
    let, element = body.writer.let, element_type(kind)
    address = let(f"getelementptr i8, ptr %0, i64 {offset}")
    value = let(f"load {element}, ptr {address}, align {kind.component.size}")
    if upper is None:
        return value
    narrow = let(f"trunc i64 {upper} to i8")
    moved = let(f"shl i8 {narrow}, 2")
    shift = let(f"sub i8 4, {moved}")
    high = let(f"shl i8 {value}, {shift}")
    return let(f"ashr i8 {high}, 4")


def store(body: Body, operation: Store) -> Made:
    kind, layout = operation.operands[0], operation.layout
    parameters = [plain_type(kind), "ptr", "i64"]
    copy = _copy(body, kind, layout, "%0", "%1", "%2", is_load=False)
    if copy is not None:
        copy.whole()
        return parameters, "void", ""
    if _are_lines(kind, layout):
        _put(body, kind, layout, body.rows("%0", kind), "%1", "%2")
        return parameters, "void", ""
    slot = body.to_buffer("%0", kind)
    body.each_element(kind, lambda row, column, number: _store_element(
        body, kind, slot, number, "%1", *_offset(body, kind, layout, row, column, "%2")))
    return parameters, "void", ""


def _store_element(body: Body, kind: MatrixType, slot: str, number: str, base: str, offset: str,
                   upper: str | None) -> None:
    let, element = body.writer.let, element_type(kind)
    value = let(f"load {element}, ptr {body.address(slot, element, number)}")
    address = let(f"getelementptr i8, ptr {base}, i64 {offset}")
    if upper is not None:
        narrow = let(f"trunc i64 {upper} to i8")
        shift = let(f"shl i8 {narrow}, 2")
        old = let(f"load i8, ptr {address}, align 1")
        other = let(f"lshr i8 -16, {shift}")
        kept = let(f"and i8 {old}, {other}")
        nibble = let(f"and i8 {value}, 15")
        moved = let(f"shl i8 {nibble}, {shift}")
        value = let(f"or i8 {kept}, {moved}")
    body.writer.do(f"store {element} {value}, ptr {address}, align {kind.component.size}")


# --------------------------------------------------------------------------------------
# Windows
# --------------------------------------------------------------------------------------


def is_inside(body: Body, row: str, column: str, height: str, width: str) -> str:
    """Whether an element's row and column lie in a window; negative ones are large without a sign."""
    let = body.writer.let
    in_rows = let(f"icmp ult i64 {row}, {height}")
    in_columns = let(f"icmp ult i64 {column}, {width}")
    return let(f"and i1 {in_rows}, {in_columns}")


def window_start(body: Body, kind: MatrixType, base: str, stride: str, window: Sequence[str]) -> str:
    """The address of the matrix's first element in memory, where that is there."""
    offset = body.writer.let(f"mul i64 {window[1]}, {kind.component.size}")
    return body.address(body.writer.line(base, window[0], stride), "i8", offset)


def _window_place(body: Body, kind: MatrixType, layout: Layout, row: str, column: str, first: int) -> tuple[str, str]:
    """Row and column in memory of an element; those of a packed matrix are those of what is packed. The window is
    in the parameters from ``first`` on."""
    let = body.writer.let
    together = 4 // kind.component.size
    if layout == Layout.ColumnMajorKHR:
        row, column = column, row
    elif layout == Layout.PackedINTEL and kind.use == Use.MatrixBKHR and together > 1 and kind.rows % together == 0:
        wide = let(f"mul i64 {column}, {together}")
        inner = let(f"urem i64 {row}, {together}")
        column = let(f"add i64 {wide}, {inner}")
        row = let(f"udiv i64 {row}, {together}")
    return let(f"add i64 {row}, %{first}"), let(f"add i64 {column}, %{first + 1}")


def _window_offset(body: Body, kind: MatrixType, row: str, column: str, stride: str) -> str:
    line = body.writer.let(f"mul i64 {row}, {stride}")
    unit = body.writer.let(f"mul i64 {column}, {kind.component.size}")
    return body.writer.let(f"add i64 {line}, {unit}")


def load_window(body: Body, operation: LoadWindow) -> Made:
    kind, layout = operation.result, operation.layout
    parameters = ["ptr", *["i64"] * 5, *(["ptr", "i64"] if operation.is_kept else [])]
    window = [f"%{place}" for place in range(2, 6)]
    copy = _copy(body, kind, layout, RESULT, window_start(body, kind, "%0", "%1", window), "%1", is_load=True)
    if copy is not None:
        copy.window(window)
        return parameters, plain_type(kind), RESULT
    slot, element = body.result(kind), element_type(kind)

    def move(row: str, column: str, number: str) -> None:
        x, y = _window_place(body, kind, layout, row, column, 2)
        target = body.address(slot, element, number)
        body.writer.do(f"store {element} {zero_of(element)}, ptr {target}")

        def take() -> None:
            value = _load_element(body, kind, _window_offset(body, kind, x, y, "%1"), None)
            body.writer.do(f"store {element} {value}, ptr {target}")

        body.writer.when(is_inside(body, x, y, "%4", "%5"), take)

    if not _are_lines(kind, layout):
        body.each_element(kind, move)
        return parameters, plain_type(kind), body.from_buffer(slot, kind)
    whole, part = is_whole(body, kind, layout, window)
    start = window_start(body, kind, "%0", "%1", window)

    def take_all() -> None:
        for number, row in enumerate(_loaded(body, kind, layout, start, "%1")):
            body.writer.do(f"store {row_type(kind)} {row}, ptr {body.address(slot, element, number * kind.columns)}, "
                           f"align {kind.component.size}")

    body.writer.when(whole, take_all)
    body.writer.when(part, lambda: body.each_element(kind, move))
    return parameters, plain_type(kind), body.from_buffer(slot, kind)


def store_window(body: Body, operation: StoreWindow) -> Made:
    kind, layout = operation.operands[0], operation.layout
    parameters = [plain_type(kind), "ptr", *["i64"] * 5]
    window = [f"%{place}" for place in range(3, 7)]
    copy = _copy(body, kind, layout, "%0", window_start(body, kind, "%1", "%2", window), "%2", is_load=False)
    if copy is not None and operation.is_rest:
        body.writer.when(is_whole(body, kind, layout, window)[1], lambda: copy.window(window))
        return parameters, "void", ""
    if copy is not None:
        copy.window(window)
        return parameters, "void", ""
    slot = body.to_buffer("%0", kind)

    def move(row: str, column: str, number: str) -> None:
        x, y = _window_place(body, kind, layout, row, column, 3)

        def put() -> None:
            _store_element(body, kind, slot, number, "%1", _window_offset(body, kind, x, y, "%2"), None)

        body.writer.when(is_inside(body, x, y, "%5", "%6"), put)

    if not _are_lines(kind, layout):
        body.each_element(kind, move)
        return parameters, "void", ""
    whole, part = is_whole(body, kind, layout, window)
    start = window_start(body, kind, "%1", "%2", window)
    body.writer.when(whole, lambda: _put(body, kind, layout, body.rows("%0", kind), start, "%2"))
    body.writer.when(part, lambda: body.each_element(kind, move))
    return parameters, "void", ""
