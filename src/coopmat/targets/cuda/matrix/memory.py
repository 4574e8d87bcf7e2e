"""Loads and stores of matrices: each thread its own components, as wide as alignment and stride allow."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from coopmat.spirv.analysis.types import MatrixType
from coopmat.targets.cuda.matrix.blocks import LINE_BYTES, WORD_BYTES, BlockMemory, Blocks
from coopmat.targets.cuda.matrix.fragments import Fragment, fragment_of
from coopmat.targets.cuda.matrix.late import Late
from coopmat.targets.cuda.matrix.orders import Order, Runs
from coopmat.targets.cuda.matrix.positions import is_element, lane_of, positions
from coopmat.targets.llvm.arithmetic.integers import add, multiply
from coopmat.targets.llvm.matrices import MatrixAccess
from coopmat.targets.llvm.threads.spread import Position
from coopmat.targets.llvm.values import Matrix, Number, zero_of


class MatrixMemory(BlockMemory):
    """Loads and stores."""

    def load(self, kind: MatrixType, access: MatrixAccess) -> Matrix:
        """A matrix in memory; of a window, zeros where it does not reach."""
        if access.window:
            return self._load_window(kind, access)
        return self._load_whole(kind, access)

    def store(self, matrix: Matrix, access: MatrixAccess) -> None:
        """Write a matrix, or what of it lies in a window."""
        if access.window:
            inside, plain = self._in_window(matrix.kind, access)
            self._either(inside, lambda: self._store_whole(matrix, plain),
                         lambda: self._store_elements(matrix, access))
        else:
            self._store_whole(matrix, access)

    # --- whole matrices ---------------------------------------------------------------

    def _load_whole(self, kind: MatrixType, access: MatrixAccess) -> Matrix:
        blocks = Blocks.of(kind, access.layout)
        if blocks is None or not (self.can_load_blocks and self.is_shared(access)):
            return self._load_words(kind, access, blocks)
        return self._chosen(kind, self.is_aligned(access, LINE_BYTES), lambda: self.load_blocks(kind, access, blocks),
                            lambda: self._load_words(kind, access, blocks))

    def _load_words(self, kind: MatrixType, access: MatrixAccess, blocks: Blocks | None) -> Matrix:
        """Each thread its own registers."""
        if blocks is not None and blocks.is_turned and self.can_turn:
            return self._chosen(kind, self.is_aligned(access, WORD_BYTES),
                                lambda: self.load_turned(kind, access, blocks),
                                lambda: self._load_elements(kind, access))
        runs = Runs.of(kind, access.layout)
        if runs is None:
            return self._load_elements(kind, access)

        def wide() -> Matrix:
            registers: list[str] = []
            for address in self._addresses(kind, access, runs.offsets):
                found = self.writer.let(f"load {runs.type}, ptr {address}, align {runs.nbytes}")
                registers += [found] if runs.count == 1 else [
                    self.writer.let(f"extractelement {runs.type} {found}, i32 {place}") for place in range(runs.count)]
            return self.matrix(kind, registers)

        return self._chosen(kind, self.is_aligned(access, runs.nbytes), wide,
                            lambda: self._load_elements(kind, access))

    def _store_whole(self, matrix: Matrix, access: MatrixAccess) -> None:
        blocks = Blocks.of(matrix.kind, access.layout)
        if blocks is None or not (self.can_store_blocks and self.is_shared(access)):
            self._store_words(matrix, access, blocks)
            return
        self._either(self.is_aligned(access, LINE_BYTES), lambda: self.store_blocks(matrix, access, blocks),
                     lambda: self._store_words(matrix, access, blocks))

    def _store_words(self, matrix: Matrix, access: MatrixAccess, blocks: Blocks | None) -> None:
        if blocks is not None and blocks.is_turned and self.can_turn:
            self._either(self.is_aligned(access, WORD_BYTES), lambda: self.store_turned(matrix, access, blocks),
                         lambda: self._store_elements(matrix, access))
            return
        kind = matrix.kind
        runs = Runs.of(kind, access.layout)
        if runs is None:
            self._store_elements(matrix, access)
            return

        def wide() -> None:
            registers = self.registers(matrix)
            for number, address in enumerate(self._addresses(kind, access, runs.offsets)):
                part = registers[number * runs.count:(number + 1) * runs.count]
                text = part[0] if runs.count == 1 else "poison"
                for place, register in enumerate(part if runs.count > 1 else ()):
                    text = self.writer.let(f"insertelement {runs.type} {text}, {runs.register} {register}, i32 {place}")
                self.writer.do(f"store {runs.type} {text}, ptr {address}, align {runs.nbytes}")

        self._either(self.is_aligned(access, runs.nbytes), wide, lambda: self._store_elements(matrix, access))

    def _addresses(self, kind: MatrixType, access: MatrixAccess, offsets: list[tuple[int, int]]) -> Iterator[str]:
        """The addresses of elements so many rows and columns from a thread's first one."""
        emitter, fragment, order = self.emitter, fragment_of(kind), Order.of(kind, access.layout)
        stride = Number("i64", access.stride)
        lines: dict[int, str] = {}
        position = fragment.spread.start(emitter, lane_of(emitter, kind, "i64"))
        start = self.address(access, fragment, self._line_and_place(order, position))
        for offset in offsets:
            line, place = self._line_and_bits(order, fragment, offset)
            if line not in lines:
                way = multiply(emitter, stride, emitter.constant("i64", line))
                lines[line] = start if line == 0 else self.writer.let(
                    f"getelementptr i8, ptr {start}, i64 {way.base}")
            yield lines[line] if place == 0 else self.writer.let(
                f"getelementptr i8, ptr {lines[line]}, i64 {place // 8}")

    def _line_and_bits(self, order: Order, fragment: Fragment, offset: tuple[int, int]) -> tuple[int, int]:
        """Of an offset in the matrix the lines, and the bits in a line."""
        if order.together > 1:
            row, column = offset
            return row // order.together, (column * order.together + row % order.together) * fragment.bits
        return offset[1 - order.along], offset[order.along] * fragment.bits

    def _line_and_place(self, order: Order, position: Position) -> Position:
        """Which line of memory an element is in, and which element of it."""
        emitter = self.emitter
        if order.together == 1:
            return position[1 - order.along], position[order.along]
        row, column = position
        count = order.together.bit_length() - 1
        line = emitter.apply("lshr {t} {0}, {1}", "i64", row, emitter.constant("i64", count))
        inner = emitter.apply("and {t} {0}, {1}", "i64", row, emitter.constant("i64", order.together - 1))
        wide = emitter.apply("shl {t} {0}, {1}", "i64", column, emitter.constant("i64", count))
        return line, add(emitter, wide, inner)

    # --- element by element -----------------------------------------------------------

    def _elements(self, kind: MatrixType, access: MatrixAccess, part: range | None = None
                  ) -> Iterator[tuple[int, Number, str, str | None]]:
        """Each component, or each of a part, that may hold an element: its number, whether it does, its address, and of
        4-bit ones whether it is in the upper half of its byte, an i32."""
        emitter, fragment, order = self.emitter, fragment_of(kind), Order.of(kind, access.layout)
        window = [Number("i64", one) for one in access.window]
        for number, position in enumerate(positions(emitter, kind, "i64")):
            if fragment.spread.nowhere[number] or (part is not None and number not in part):
                continue
            exists = (Number("i1", "true") if fragment.spread.everywhere[number] else
                      is_element(emitter, kind, position))
            place = self._line_and_place(order, position)
            if window:  # of memory: its rows are lines there, whatever the layout
                place = add(emitter, place[0], window[0]), add(emitter, place[1], window[1])
                for one, limit in zip(place, window[2:], strict=True):
                    inside = self._is_below(one, limit)
                    exists = inside if exists.base == "true" else emitter.apply(
                        "and {t} {0}, {1}", "i1", exists, inside)
            address = self.address(access, fragment, place)
            yield number, exists, address, self._upper(fragment, place)

    def _upper(self, fragment: Fragment, place: Position) -> str | None:
        if fragment.bits >= 8:
            return None
        return self.writer.let(f"trunc i64 {self.writer.let(f'and i64 {place[1].base}, 1')} to i32")

    def _load_elements(self, kind: MatrixType, access: MatrixAccess) -> Matrix:
        fragment, element = fragment_of(kind), fragment_of(kind).element
        numbers = [self.zero(kind)] * fragment.components
        for number, exists, address, upper in self._elements(kind, access):
            numbers[number] = self._if(exists, element, lambda address=address, upper=upper: self._load_one(  # type: ignore[misc]
                fragment, address, upper))
        return self.of_components(kind, numbers)

    def _load_one(self, fragment: Fragment, address: str, upper: str | None) -> str:
        element, let = fragment.element, self.writer.let
        value = let(f"load {element}, ptr {address}, align {max(1, fragment.bits // 8)}")
        if upper is None:
            return value
        wide = let(f"zext i8 {value} to i32")
        moved = let(f"lshr i32 {wide}, {let(f'shl i32 {upper}, 2')}")
        high = let(f"shl i32 {moved}, 28")
        return let(f"trunc i32 {let(f'ashr i32 {high}, 28')} to i8")

    def _store_elements(self, matrix: Matrix, access: MatrixAccess) -> None:
        kind = matrix.kind
        fragment = fragment_of(kind)
        if fragment.bits < 8:
            self.store_nibbles(matrix, access)
            return
        components = self.components(matrix)
        for number, exists, address, _ in self._elements(kind, access):
            text = f"store {fragment.element} {components[number].base}, ptr {address}, align {fragment.bits // 8}"
            if exists.base == "true":
                self.writer.do(text)
            else:
                self.writer.when(exists.base, lambda text=text: self.writer.do(text))  # type: ignore[misc]

    def store_nibbles(self, matrix: Matrix, access: MatrixAccess) -> None:
        """Store a matrix of 4-bit components, of which threads may share bytes: by an exchange and a comparison of the
        word around."""
        components, writer, let = self.components(matrix), self.writer, self.writer.let
        for number, exists, address, upper in self._elements(matrix.kind, access):
            def store(number: int = number, address: str = address, upper: str | None = upper) -> None:
                place = let(f"ptrtoint ptr {address} to i64")
                word = let(f"inttoptr i64 {let(f'and i64 {place}, -4')} to ptr")
                byte = let(f"trunc i64 {let(f'and i64 {place}, 3')} to i32")
                shift = let(f"or i32 {let(f'shl i32 {byte}, 3')}, {let(f'shl i32 {upper}, 2')}")
                wide = let(f"zext i8 {components[number].base} to i32")
                new = let(f"shl i32 {let(f'and i32 {wide}, 15')}, {shift}")
                hole = let(f"xor i32 {let(f'shl i32 15, {shift}')}, -1")
                let(f"atomicrmw and ptr {word}, i32 {hole} monotonic")
                let(f"atomicrmw or ptr {word}, i32 {new} monotonic")

            if exists.base == "true":
                store()
            else:
                writer.when(exists.base, store)

    # --- windows ----------------------------------------------------------------------

    def _load_window(self, kind: MatrixType, access: MatrixAccess) -> Matrix:
        if self._repeats(kind, access):
            every = range(fragment_of(kind).components)
            return self.of_components(kind, self._load_repeated(kind, access, every))
        inside, plain = self._in_window(kind, access)
        return self._chosen(kind, inside, lambda: self._load_whole(kind, plain),
                            lambda: self._load_elements(kind, access))

    def late(self, kind: MatrixType, access: MatrixAccess) -> Late | None:
        """A matrix that is loaded part by part; None for one whose load needs all threads, or moves single elements."""
        if access.window and self._repeats(kind, access):
            return Late(kind, lambda part: self._load_repeated(kind, access, part))
        runs, blocks, fragment = Runs.of(kind, access.layout), Blocks.of(kind, access.layout), fragment_of(kind)
        if runs is None or self.is_shared(access) or (blocks is not None and blocks.is_turned):
            return None
        inside, plain = self._in_window(kind, access) if access.window else ("true", access)
        is_wide = self.writer.all_of(inside, self.is_aligned(plain, runs.nbytes))
        each = runs.count * fragment.per_register  # components of an access

        def load(part: range) -> list[Number]:
            vector = f"<{len(part)} x {fragment.element}>"

            def wide() -> str:
                numbers: list[Number] = []
                for address in self._addresses(kind, plain, runs.offsets[part.start // each:part.stop // each]):
                    found = self.writer.let(f"load {runs.type}, ptr {address}, align {runs.nbytes}")
                    registers = [found] if runs.count == 1 else [
                        self.writer.let(f"extractelement {runs.type} {found}, i32 {place}")
                        for place in range(runs.count)]
                    numbers += [one for register in registers for one in self.unpacked(fragment, register)]
                return self._vector(vector, fragment.element, (one.base for one in numbers))

            def narrow() -> str:
                return self._vector(vector, fragment.element, (
                    self._if(exists, fragment.element, lambda address=address: self._load_one(  # type: ignore[misc]
                        fragment, address, None)).base for _, exists, address, _ in self._elements(kind, access, part)))

            found = self._either_value(vector, is_wide, wide, narrow)
            return [Number(fragment.element, self.writer.let(f"extractelement {vector} {found}, i32 {place}"))
                    for place in range(len(part))]

        return Late(kind, load)

    def _repeats(self, kind: MatrixType, access: MatrixAccess) -> bool:
        """Whether all lines are the same memory, such as a row of numbers that is added to all rows."""
        fragment = fragment_of(kind)
        return (access.stride == "0" and fragment.bits >= 8 and fragment.spread.is_regular
                and all(fragment.spread.everywhere) and Order.of(kind, access.layout).together == 1)

    def _load_repeated(self, kind: MatrixType, access: MatrixAccess, part: range) -> list[Number]:
        """A part of a matrix whose lines are the same memory: each element of a line is loaded once, and is there or
        not for a whole line at once. Both ways to a line hold few registers; to a matrix of them, twice as many as
        there are."""
        emitter, fragment = self.emitter, fragment_of(kind)
        offsets = [fragment.spread.offsets[number] for number in part]
        order, start = Order.of(kind, access.layout), fragment.spread.start(emitter, lane_of(emitter, kind, "i64"))
        first_line, first_place, height, _ = (Number("i64", one) for one in access.window)
        line, place = self._line_and_place(order, start)
        line, place = add(emitter, line, first_line), add(emitter, place, first_place)
        values = self._line_once(kind, order, access, (line, place), sorted({one[order.along] for one in offsets}))
        lines = {offset: self._is_below(add(emitter, line, emitter.constant("i64", offset)), height)
                 for offset in {one[1 - order.along] for one in offsets}}
        parts = [(lines[one[1 - order.along]], values[one[order.along]]) for one in offsets]
        return [Number(fragment.element, self.writer.let(
            f"select i1 {is_there.base}, {fragment.element} {value.base}, {fragment.element} {self.zero(kind).base}"))
            for is_there, value in parts]

    def _line_once(self, kind: MatrixType, order: Order, access: MatrixAccess, start: tuple[Number, Number],
                   places: list[int]) -> dict[int, Number]:
        """A thread's elements of the only line at some distances from the first one, whose line and place there are
        ``start``; zeros outside of the window."""
        emitter, fragment, let = self.emitter, fragment_of(kind), self.writer.let
        first_line, first_place, height, width = (Number("i64", one) for one in access.window)
        zero, extents = emitter.constant("i64", 0), (kind.rows, kind.columns)
        ends = [add(emitter, first, emitter.constant("i64", extent)) for first, extent in (
            (first_line, extents[1 - order.along]), (first_place, extents[order.along]))]
        has_lines = self.writer.all_of(emitter.apply("icmp slt {t} {0}, {1}", "i1", first_line, height).base,
                                       emitter.apply("icmp sgt {t} {0}, {1}", "i1", ends[0], zero).base)
        is_whole = self.writer.all_of(has_lines, emitter.apply("icmp sge {t} {0}, {1}", "i1", first_place, zero).base,
                                      emitter.apply("icmp sle {t} {0}, {1}", "i1", ends[1], width).base)
        address = self.address(access, fragment, start)

        def element(offset: int) -> str:
            return self._load_one(fragment, let(f"getelementptr i8, ptr {address}, i64 {offset * fragment.bits // 8}"),
                                  None)

        def element_if_there(offset: int) -> str:
            own = add(emitter, start[1], emitter.constant("i64", offset))
            is_there = Number("i1", self.writer.all_of(has_lines, self._is_below(own, width).base))
            return self._if(is_there, fragment.element, lambda: element(offset)).base

        vector = f"<{len(places)} x {fragment.element}>"
        found = self._either_value(vector, is_whole, *(
            lambda make=make: self._vector(vector, fragment.element, map(make, places))
            for make in (element, element_if_there)))
        return {offset: Number(fragment.element, let(f"extractelement {vector} {found}, i32 {number}"))
                for number, offset in enumerate(places)}

    def _is_below(self, one: Number, limit: Number) -> Number:
        """Whether a number is neither negative nor too large."""
        return self.emitter.apply("icmp ult {t} {0}, {1}", "i1", one, limit)

    def _vector(self, llvm: str, element: str, texts: Iterable[str]) -> str:
        found = "poison"
        for place, text in enumerate(texts):
            found = self.writer.let(f"insertelement {llvm} {found}, {element} {text}, i32 {place}")
        return found

    def _in_window(self, kind: MatrixType, access: MatrixAccess) -> tuple[str, MatrixAccess]:
        """Whether all of a matrix lies in the window, and where it lies then."""
        emitter, fragment = self.emitter, fragment_of(kind)
        order = Order.of(kind, access.layout)
        first_line, first_place, height, width = (Number("i64", one) for one in access.window)
        lines, places = (kind.rows, kind.columns)[1 - order.along], (kind.rows, kind.columns)[order.along]
        if order.together > 1:
            lines, places = kind.rows // order.together, kind.columns * order.together
        conditions = []
        for first, limit, size in ((first_line, height, lines), (first_place, width, places)):
            last = add(emitter, first, emitter.constant("i64", size))
            conditions += [emitter.apply("icmp sge {t} {0}, {1}", "i1", first, emitter.constant("i64", 0)).base,
                           emitter.apply("icmp ule {t} {0}, {1}", "i1", last, limit).base]
        address = self.address(access, fragment, (first_line, first_place))
        return self.writer.all_of(*conditions), MatrixAccess(access.pointer, address, access.stride, access.layout,
                                                             access.alignment)

    # --- choices at run time ----------------------------------------------------------

    def _chosen(self, kind: MatrixType, condition: str, then: Callable[[], Matrix],
                otherwise: Callable[[], Matrix]) -> Matrix:
        """One of two ways to a matrix."""
        return Matrix(kind, self._either_value(fragment_of(kind).type, condition, lambda: then().text,
                                               lambda: otherwise().text))

    def _either_value(self, llvm: str, condition: str, then: Callable[[], str], otherwise: Callable[[], str]) -> str:
        """One of two ways to a value."""
        if condition == "true":
            return then()
        found: list[tuple[str, str]] = []
        self._either(condition, *(lambda make=make: found.append((make(), self.writer.block))
                                  for make in (then, otherwise)))
        sources = ", ".join(f"[ {text}, %{block} ]" for text, block in found)
        return self.writer.let(f"phi {llvm} {sources}")

    def _either(self, condition: str, then: Callable[[], object], otherwise: Callable[[], object]) -> None:
        if condition == "true":
            then()
            return
        writer = self.writer
        one, other, end = (writer.fresh(name)[1:] for name in ("one", "other", "end"))
        writer.do(f"br i1 {condition}, label %{one}, label %{other}")
        for label, make in ((one, then), (other, otherwise)):
            writer.label(label)
            make()
            writer.do(f"br label %{end}")
        writer.label(end)

    def _if(self, condition: Number, llvm: str, make: Callable[[], str]) -> Number:
        """A number where a condition holds, else zero."""
        if condition.base == "true":
            return Number(llvm, make())
        writer = self.writer
        before, then, end = writer.block, writer.fresh("then")[1:], writer.fresh("rest")[1:]
        writer.do(f"br i1 {condition.base}, label %{then}, label %{end}")
        writer.label(then)
        text = make()
        block = writer.block
        writer.do(f"br label %{end}")
        writer.label(end)
        return Number(llvm, writer.let(
            f"phi {llvm} [ {text}, %{block} ], [ {zero_of(llvm)}, %{before} ]"))


