"""Matrix operations on any processor: a matrix is an array of its rows, each a vector.

Every operation becomes a function with a body, which LLVM inlines. What is not moved row by row goes through a buffer
in memory, element by element along the rows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from coopmat.devices.lane_layout import rows_per_word
from coopmat.diagnostics import Error
from coopmat.spirv.grammar import CooperativeMatrixLayout as Layout
from coopmat.spirv.grammar import CooperativeMatrixUse as Use
from coopmat.spirv.types import IntType, MatrixType
from coopmat.targets.cpu.conversions import converted
from coopmat.targets.cpu.emitter import Emitter
from coopmat.targets.cpu.floats import through_float
from coopmat.targets.cpu.integers import MATRIX_FUNCTIONS, is_bf16, resized
from coopmat.targets.cpu.matrix.operations import Operation, element_type
from coopmat.targets.cpu.values import Number, suffix, zero_of
from coopmat.targets.cpu.writer import Writer

Features = frozenset[str]


class Rows(Emitter):
    """Writes instructions on rows of so many columns, instead of on the work-items of a sub-group."""

    def __init__(self, writer: Writer, columns: int) -> None:
        self.writer = writer
        self.size = columns


def plain_type(kind: MatrixType) -> str:
    """LLVM's type of a matrix: an array of rows."""
    return f"[{kind.rows} x {row_type(kind)}]"


def row_type(kind: MatrixType) -> str:
    """LLVM's type of a row."""
    return f"<{kind.columns} x {element_type(kind)}>"


class Body:
    """The body of a function that stands for an operation; its parameters are ``%0``, ``%1``, …"""

    def __init__(self, operation: Operation, features: Features) -> None:
        self.operation = operation
        self.features = features
        self.writer = Writer()

    def rows(self, parameter: str, kind: MatrixType) -> list[str]:
        """The rows of a matrix."""
        return [self.writer.let(f"extractvalue {plain_type(kind)} {parameter}, {row}") for row in range(kind.rows)]

    def gathered(self, rows: list[str], kind: MatrixType) -> str:
        """The matrix with these rows."""
        whole, result = plain_type(kind), "poison"
        for number, row in enumerate(rows):
            result = self.writer.let(f"insertvalue {whole} {result}, {row_type(kind)} {row}, {number}")
        return result

    # --- buffers ----------------------------------------------------------------------

    def buffer(self, kind: MatrixType, elements: int = 0) -> str:
        """Memory for the elements of a matrix along its rows; ``elements``: for more than it has, zeros behind them."""
        count = max(elements, kind.rows * kind.columns)
        element = element_type(kind)
        slot = self.writer.slot(f"[{count} x {element}]", align=64)
        if elements > kind.rows * kind.columns:
            tail = elements - kind.rows * kind.columns
            address = self.address(slot, element, kind.rows * kind.columns)
            self.writer.do(f"store [{tail} x {element}] zeroinitializer, ptr {address}, align 1")
        return slot

    def address(self, base: str, element: str, index: int | str) -> str:
        """The address of an element."""
        return self.writer.let(f"getelementptr {element}, ptr {base}, i64 {index}")

    def to_buffer(self, matrix: str, kind: MatrixType, elements: int = 0) -> str:
        """A buffer with a matrix's elements."""
        slot = self.buffer(kind, elements)
        size = kind.component.size
        for number, row in enumerate(self.rows(matrix, kind)):
            address = self.address(slot, element_type(kind), number * kind.columns)
            alignment = _power_of_two(64, number * kind.columns * size)
            self.writer.do(f"store {row_type(kind)} {row}, ptr {address}, align {alignment}")
        return slot

    def spilled(self, rows: list[str], vector: str) -> str:
        """Memory with some vectors of one type; LLVM does not look into it. A scalar in memory meets a whole vector in
        one instruction, a scalar in a register does not."""
        slot = self.writer.slot(f"[{len(rows)} x {vector}]", align=64)
        for number, row in enumerate(rows):
            address = self.writer.let(f"getelementptr {vector}, ptr {slot}, i64 {number}")
            self.writer.do(f"store {vector} {row}, ptr {address}")
        return self.writer.let(f'call ptr asm sideeffect "", "=r,0,~{{memory}}"(ptr {slot})')

    def from_buffer(self, slot: str, kind: MatrixType) -> str:
        """The matrix whose elements are in a buffer."""
        rows = []
        for number in range(kind.rows):
            address = self.address(slot, element_type(kind), number * kind.columns)
            alignment = _power_of_two(64, number * kind.columns * kind.component.size)
            rows.append(self.writer.let(f"load {row_type(kind)}, ptr {address}, align {alignment}"))
        return self.gathered(rows, kind)

    def each_element(self, kind: MatrixType, body: Callable[[str, str, str], None]) -> None:
        """A loop over the elements: ``body`` gets row, column and number, 64-bit integers."""
        writer = self.writer
        start, head, end = (writer.fresh(name)[1:] for name in ("before", "element", "after"))
        writer.do(f"br label %{start}")
        writer.label(start)
        writer.do(f"br label %{head}")
        writer.label(head)
        number, following, latch = writer.fresh("n"), writer.fresh("next"), writer.fresh("latch")[1:]
        writer.do(f"{number} = phi i64 [ 0, %{start} ], [ {following}, %{latch} ]")
        row = writer.let(f"udiv i64 {number}, {kind.columns}")
        column = writer.let(f"urem i64 {number}, {kind.columns}")
        body(row, column, number)
        writer.do(f"br label %{latch}")
        writer.label(latch)
        writer.do(f"{following} = add nuw nsw i64 {number}, 1")
        done = writer.let(f"icmp eq i64 {following}, {kind.rows * kind.columns}")
        writer.do(f"br i1 {done}, label %{end}, label %{head}")
        writer.label(end)

    def when(self, condition: str, body: Callable[[], None]) -> None:
        """Code that runs where a condition holds."""
        then, rest = self.writer.fresh("then")[1:], self.writer.fresh("rest")[1:]
        self.writer.do(f"br i1 {condition}, label %{then}, label %{rest}")
        self.writer.label(then)
        body()
        self.writer.do(f"br label %{rest}")
        self.writer.label(rest)


def _power_of_two(most: int, offset: int) -> int:
    return min(most, offset & -offset) if offset else most


def definition(name: str, operation: Operation, features: Features) -> tuple[str, dict[str, str]]:
    """A function for an operation, and the declarations of what it calls."""
    body = Body(operation, features)
    parameters, result, returned = OPERATIONS[operation.name](body)
    end = f"ret {result} {returned}" if result != "void" else "ret void"
    # Large operations stay calls: their loops are many.
    manner = "noinline" if _is_large(operation) else "alwaysinline"
    named = ", ".join(f"{llvm} %{place}" for place, llvm in enumerate(parameters))
    text = "\n".join([f"define internal {result} @{name}({named}) {manner} nounwind {{", "entry:", *body.writer.entry,
                      *body.writer.lines, f"  {end}", "}", *body.writer.helpers.values()])
    return text, body.writer.declarations


def _is_large(operation: Operation) -> bool:
    kinds = [*operation.operands, *([operation.result] if operation.result else [])]
    return max(kind.rows * kind.columns for kind in kinds) > 4096


Made = tuple[list[str], str, str]  # types of the parameters, type of the result, its operand


def _fill(body: Body) -> Made:
    kind = body.operation.result
    assert kind is not None
    row = Rows(body.writer, kind.columns).splat(element_type(kind), "%0")
    return [element_type(kind)], plain_type(kind), body.gathered([row] * kind.rows, kind)


# --------------------------------------------------------------------------------------
# Memory
# --------------------------------------------------------------------------------------


def _detail(operation: Operation) -> tuple[Layout, int]:
    layout, alignment = operation.detail[:2]
    assert isinstance(layout, Layout)
    assert isinstance(alignment, int)
    return layout, alignment


def _is_by_rows(kind: MatrixType, layout: Layout) -> bool:
    """Whether the elements of a row lie side by side in bytes of their own."""
    return kind.component != IntType(4) and (
        layout == Layout.RowMajorKHR or (layout == Layout.PackedINTEL and kind.use == Use.MatrixAKHR))


def _together(kind: MatrixType, layout: Layout) -> int:
    """How many rows of B the packed layout interleaves, of elements with bytes of their own; 1 for any other layout."""
    if layout != Layout.PackedINTEL or kind.use != Use.MatrixBKHR or kind.component == IntType(4):
        return 1
    together = rows_per_word(8 * kind.component.size)
    return together if kind.rows % together == 0 else 1


def _line(body: Body, base: str, stride: str, number: int) -> str:
    """The address of a line of memory."""
    offset = body.writer.let(f"mul i64 {stride}, {number}")
    return body.writer.let(f"getelementptr i8, ptr {base}, i64 {offset}")


def interleaved(body: Body, rows: list[str], kind: MatrixType, together: int) -> list[str]:
    """Lines of the packed layout: rows that belong together, element by element, as vectors of 32-bit integers."""
    element, columns, result = element_type(kind), kind.columns, []
    for first in range(0, kind.rows, together):
        vectors, length = rows[first:first + together], columns
        while len(vectors) > 1:  # concatenate, two at a time
            order = ", ".join(f"i32 {place}" for place in range(2 * length))
            vectors = [body.writer.let(f"shufflevector <{length} x {element}> {x}, <{length} x {element}> {y}, "
                                       f"<{2 * length} x i32> <{order}>")
                       for x, y in zip(vectors[::2], vectors[1::2], strict=True)]
            length *= 2
        order = ", ".join(f"i32 {row * columns + column}" for column in range(columns) for row in range(together))
        mixed = body.writer.let(f"shufflevector <{length} x {element}> {vectors[0]}, <{length} x {element}> poison, "
                                f"<{length} x i32> <{order}>")
        result.append(body.writer.let(f"bitcast <{length} x {element}> {mixed} to <{columns} x i32>"))
    return result


def separated(body: Body, lines: list[str], kind: MatrixType, together: int) -> list[str]:
    """The rows of a matrix whose packed lines are given."""
    element, wide, rows = element_type(kind), kind.columns * together, []
    for line in lines:
        mixed = body.writer.let(f"bitcast <{kind.columns} x i32> {line} to <{wide} x {element}>")
        for part in range(together):
            order = ", ".join(f"i32 {column * together + part}" for column in range(kind.columns))
            rows.append(body.writer.let(f"shufflevector <{wide} x {element}> {mixed}, <{wide} x {element}> poison, "
                                        f"<{kind.columns} x i32> <{order}>"))
    return rows


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


def _load(body: Body) -> Made:
    kind = body.operation.result
    assert kind is not None
    layout, _ = _detail(body.operation)
    parameters = ["ptr", "i64", *(["ptr", "i64"] if body.operation.detail[2] else [])]  # the last two: see reuse.py
    if _is_by_rows(kind, layout):
        rows = []
        for number in range(kind.rows):
            address = _line(body, "%0", "%1", number)
            rows.append(body.writer.let(f"load {row_type(kind)}, ptr {address}, align {kind.component.size}"))
        return parameters, plain_type(kind), body.gathered(rows, kind)
    together = _together(kind, layout)
    if together > 1:
        lines = [body.writer.let(f"load <{kind.columns} x i32>, ptr {_line(body, '%0', '%1', number)}, align 1")
                 for number in range(kind.rows // together)]
        return parameters, plain_type(kind), body.gathered(separated(body, lines, kind, together), kind)
    slot, element = body.buffer(kind), element_type(kind)

    def move(row: str, column: str, number: str) -> None:
        value = _load_element(body, kind, *_offset(body, kind, layout, row, column, "%1"))
        body.writer.do(f"store {element} {value}, ptr {body.address(slot, element, number)}")

    body.each_element(kind, move)
    return parameters, plain_type(kind), body.from_buffer(slot, kind)


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


def _store(body: Body) -> Made:
    kind = body.operation.operands[0]
    layout, _ = _detail(body.operation)
    parameters = [plain_type(kind), "ptr", "i64"]
    if _is_by_rows(kind, layout):
        for number, row in enumerate(body.rows("%0", kind)):
            address = _line(body, "%1", "%2", number)
            body.writer.do(f"store {row_type(kind)} {row}, ptr {address}, align {kind.component.size}")
        return parameters, "void", ""
    together = _together(kind, layout)
    if together > 1:
        for number, line in enumerate(interleaved(body, body.rows("%0", kind), kind, together)):
            body.writer.do(f"store <{kind.columns} x i32> {line}, ptr {_line(body, '%1', '%2', number)}, align 1")
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


def _inside(body: Body, row: str, column: str, height: str, width: str) -> str:
    """Whether an element's row and column lie in a window; negative ones are large without a sign."""
    let = body.writer.let
    in_rows = let(f"icmp ult i64 {row}, {height}")
    in_columns = let(f"icmp ult i64 {column}, {width}")
    return let(f"and i1 {in_rows}, {in_columns}")


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


def _load_window(body: Body) -> Made:
    kind = body.operation.result
    assert kind is not None
    layout, _ = _detail(body.operation)
    slot, element = body.buffer(kind), element_type(kind)

    def move(row: str, column: str, number: str) -> None:
        x, y = _window_place(body, kind, layout, row, column, 2)
        target = body.address(slot, element, number)
        body.writer.do(f"store {element} {zero_of(element)}, ptr {target}")

        def take() -> None:
            value = _load_element(body, kind, _window_offset(body, kind, x, y, "%1"), None)
            body.writer.do(f"store {element} {value}, ptr {target}")

        body.when(_inside(body, x, y, "%4", "%5"), take)

    body.each_element(kind, move)
    return ["ptr", *["i64"] * 5], plain_type(kind), body.from_buffer(slot, kind)


def _store_window(body: Body) -> Made:
    kind = body.operation.operands[0]
    layout, _ = _detail(body.operation)
    slot = body.to_buffer("%0", kind)

    def move(row: str, column: str, number: str) -> None:
        x, y = _window_place(body, kind, layout, row, column, 3)

        def put() -> None:
            _store_element(body, kind, slot, number, "%1", _window_offset(body, kind, x, y, "%2"), None)

        body.when(_inside(body, x, y, "%5", "%6"), put)

    body.each_element(kind, move)
    return [plain_type(kind), "ptr", *["i64"] * 5], "void", ""


def _inside_fill(body: Body) -> Made:
    """The value inside of a window, zero outside."""
    kind = body.operation.result
    assert kind is not None
    slot, element = body.buffer(kind), element_type(kind)

    def move(row: str, column: str, number: str) -> None:
        let = body.writer.let
        x, y = let(f"add i64 {row}, %1"), let(f"add i64 {column}, %2")
        value = let(f"select i1 {_inside(body, x, y, '%3', '%4')}, {element} %0, {element} {zero_of(element)}")
        body.writer.do(f"store {element} {value}, ptr {body.address(slot, element, number)}")

    body.each_element(kind, move)
    return [element, *["i64"] * 4], plain_type(kind), body.from_buffer(slot, kind)


# --------------------------------------------------------------------------------------
# Element by element
# --------------------------------------------------------------------------------------


def _row_numbers(body: Body, parameter: str, kind: MatrixType) -> list[Number]:
    return [Number(element_type(kind), lanes=row) for row in body.rows(parameter, kind)]


def _wrapped(rows: Rows, number: Number, kind: MatrixType) -> str:
    """The operand of a row of results; 4-bit integers wrap."""
    if kind.component == IntType(4):
        four = rows.constant("i8", 4)
        number = rows.apply("ashr {t} {0}, {1}", "i8", rows.apply("shl {t} {0}, {1}", "i8", number, four), four)
    return rows.lanes(number)


def _elementwise(body: Body) -> Made:
    kind = body.operation.result
    assert kind is not None
    function = through_float(MATRIX_FUNCTIONS[str(body.operation.detail[0])], is_bf16(kind.component))
    rows = Rows(body.writer, kind.columns)
    operands = [_row_numbers(body, f"%{place}", one) for place, one in enumerate(body.operation.operands)]
    found = [_wrapped(rows, function(rows, *numbers), kind) for numbers in zip(*operands, strict=True)]
    return [plain_type(one) for one in body.operation.operands], plain_type(kind), body.gathered(found, kind)


def _scale(body: Body) -> Made:
    kind = body.operation.result
    assert kind is not None
    rows, element = Rows(body.writer, kind.columns), element_type(kind)
    name = "IMul" if isinstance(kind.component, IntType) else "FMul"
    function = through_float(MATRIX_FUNCTIONS[name], is_bf16(kind.component))
    factor = Number(element, lanes=rows.splat(element, "%1"))
    found = [_wrapped(rows, function(rows, row, factor), kind) for row in _row_numbers(body, "%0", kind)]
    return [plain_type(kind), element], plain_type(kind), body.gathered(found, kind)


def _convert(body: Body) -> Made:
    kind, given = body.operation.result, body.operation.operands[0]
    assert kind is not None
    op, rounding, saturate = body.operation.detail
    rows = Rows(body.writer, kind.columns)
    found = [convert_element(rows, op, row, given, kind, rounding, saturate)
             for row in _row_numbers(body, "%0", given)]
    return [plain_type(given)], plain_type(kind), body.gathered(found, kind)


def convert_element(rows: Rows, op: Any, number: Number, given: MatrixType, kind: MatrixType, rounding: Any,
                    saturate: Any) -> str:
    """A row of elements in another type; 4-bit ones are read with or without sign, and wrap or saturate."""
    from coopmat.spirv.grammar import Op

    if given.component == IntType(4) and op in (Op.UConvert, Op.ConvertUToF):
        number = rows.apply("and {t} {0}, {1}", "i8", number, rows.constant("i8", 15))
    return _wrapped(rows, converted(rows, op, number, given.component, kind.component, rounding, saturate), kind)


def _use(body: Body) -> Made:
    """The same elements for another use, transposed if ``detail`` says so."""
    kind, given = body.operation.result, body.operation.operands[0]
    assert kind is not None
    if not body.operation.detail[0]:
        return [plain_type(given)], plain_type(kind), "%0"
    source, target, element = body.to_buffer("%0", given), body.buffer(kind), element_type(kind)

    def move(row: str, column: str, number: str) -> None:
        let = body.writer.let
        line = let(f"mul i64 {column}, {given.columns}")
        place = let(f"add i64 {line}, {row}")
        value = let(f"load {element}, ptr {body.address(source, element, place)}")
        body.writer.do(f"store {element} {value}, ptr {body.address(target, element, number)}")

    body.each_element(kind, move)
    return [plain_type(given)], plain_type(kind), body.from_buffer(target, kind)


# --------------------------------------------------------------------------------------
# Components
# --------------------------------------------------------------------------------------


def _component(body: Body, kind: MatrixType, index: str) -> tuple[Rows, str, Number]:
    """Rows of work-items, the buffer, and the number of each one's element."""
    lanes = Rows(body.writer, body.operation.sub_group_size)
    slot = body.to_buffer("%0", kind, kind.slice_length * lanes.size)
    number = Number("i32", index) if body.operation.detail[0] == "uniform" else Number("i32", lanes=index)
    last = lanes.constant("i32", kind.slice_length - 1)
    wide = resized(lanes, lanes.intrinsic("umin", "i32", number, last), "i64", signed=False)
    return lanes, slot, wide


def _addresses(body: Body, lanes: Rows, slot: str, kind: MatrixType, index: Number) -> str:
    number = lanes.apply("mul {t} {0}, {1}", "i64", index, lanes.constant("i64", lanes.size))
    element = lanes.apply("add {t} {0}, {1}", "i64", number, Number("i64", "0", 1))
    return body.writer.let(f"getelementptr {element_type(kind)}, ptr {slot}, {lanes.vector('i64')} "
                           f"{lanes.lanes(element)}")


def _extract(body: Body) -> Made:
    kind = body.operation.operands[0]
    lanes, slot, index = _component(body, kind, "%1")
    element = element_type(kind)
    vector = lanes.vector(element)
    if index.is_uniform:
        place = body.writer.let(f"mul i64 {index.base}, {lanes.size}")
        address = body.address(slot, element, place)
        found = body.writer.let(f"load {vector}, ptr {address}, align {kind.component.size}")
        return [plain_type(kind), "i32"], vector, found
    pointers = lanes.vector("ptr")
    found = body.writer.call(vector, f"llvm.masked.gather.{suffix(vector)}.{suffix(pointers)}", [
        (pointers, f"align 1 {_addresses(body, lanes, slot, kind, index)}"), (lanes.vector("i1"), "splat (i1 true)"),
        (vector, "zeroinitializer")])
    return [plain_type(kind), lanes.vector("i32")], vector, found


def _insert(body: Body) -> Made:
    kind = body.operation.operands[0]
    lanes, slot, index = _component(body, kind, "%1")
    element = element_type(kind)
    vector, mask = lanes.vector(element), lanes.vector("i1")
    how = "i32" if index.is_uniform else lanes.vector("i32")
    if index.is_uniform:
        place = body.writer.let(f"mul i64 {index.base}, {lanes.size}")
        address = body.address(slot, element, place)
        old = body.writer.let(f"load {vector}, ptr {address}, align {kind.component.size}")
        new = body.writer.let(f"select {mask} %3, {vector} %2, {vector} {old}")
        body.writer.do(f"store {vector} {new}, ptr {address}, align {kind.component.size}")
    else:
        pointers = lanes.vector("ptr")
        body.writer.call("void", f"llvm.masked.scatter.{suffix(vector)}.{suffix(pointers)}", [
            (vector, "%2"), (pointers, f"align 1 {_addresses(body, lanes, slot, kind, index)}"), (mask, "%3")])
    return [plain_type(kind), how, vector, mask], plain_type(kind), body.from_buffer(slot, kind)


def _multiply(body: Body) -> Made:
    from coopmat.targets.cpu.matrix.multiply import multiply

    return multiply(body)


OPERATIONS: dict[str, Callable[[Body], Made]] = {
    "fill": _fill,
    "load": _load,
    "store": _store,
    "load_window": _load_window,
    "store_window": _store_window,
    "inside": _inside_fill,
    "elementwise": _elementwise,
    "scale": _scale,
    "convert": _convert,
    "use": _use,
    "extract": _extract,
    "insert": _insert,
    "multiply": _multiply,
}
