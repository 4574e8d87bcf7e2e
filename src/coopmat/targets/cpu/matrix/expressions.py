"""Operations on each element of large matrices, one after the other, done together.

Each by itself would read all of its matrices from memory and write all of its result there. Together they take a part
of a row through all operations, from where the kernel loads matrices and to where it stores the last one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from coopmat.spirv.analysis.types import MatrixType
from coopmat.spirv.grammar import CooperativeMatrixLayout as Layout
from coopmat.targets.cpu.matrix.body import CHUNK, RESULT, Body, Made, is_large, plain_type
from coopmat.targets.cpu.matrix.copies import AHEAD, Copy
from coopmat.targets.cpu.matrix.elements import function_of
from coopmat.targets.cpu.matrix.fusing import writes
from coopmat.targets.cpu.matrix.memory import is_by_rows, is_whole, window_start
from coopmat.targets.cpu.matrix.operation import (
    Apply,
    ChangeUse,
    Convert,
    Elementwise,
    Expression,
    Fill,
    Load,
    LoadWindow,
    Operation,
    Scale,
    Step,
    Store,
    StoreWindow,
)
from coopmat.targets.cpu.matrix.types import element_type
from coopmat.targets.cpu.prefetch import WRITE, prefetch
from coopmat.targets.llvm.ir_text import Block, Function, Line, Operand
from coopmat.targets.llvm.numbers import NumberWriter
from coopmat.targets.llvm.values import Number, suffix

_OF_PLACE, _OF_WINDOW, _OF_FUNCTION = 2, 6, 2
"""Operands that say where a matrix is in memory: address and stride, and a window; those of a function of elements
before the numbers that it gets."""

# --------------------------------------------------------------------------------------
# Which operations
# --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Tree:
    """A load, an operation on each element or a store, and what it takes: matrices, or what makes them there."""

    line: Line
    operation: Operation
    given: tuple[_Tree | Operand, ...] = ()

    @property
    def all(self) -> list[_Tree]:
        """All that it is made of, each once, in the order in which they may be done."""
        found = {id(one.line): one for given in self.given if isinstance(given, _Tree) for one in given.all}
        return [*found.values(), self]

    @property
    def loads(self) -> list[_Tree]:
        """The loads that it is made of."""
        return [one for one in self.all if isinstance(one.operation, Load | LoadWindow)]

    @property
    def reads(self) -> bool:
        """Whether it reads memory."""
        return any(isinstance(one.operation, Load | LoadWindow) or _reads(one.operation) for one in self.all)

    @property
    def place(self) -> tuple[str, ...]:
        """The operands of a load or store that say where in memory a matrix is."""
        assert self.line.call is not None
        operands = self.line.call.operands[len(self.operation.operands):]
        count = _OF_WINDOW if isinstance(self.operation, LoadWindow | StoreWindow) else _OF_PLACE
        return tuple(map(str, operands[:count]))


class Expressions:
    """Rewrites functions. ``operations``: what calls stand for, by name, with those that it writes."""

    def __init__(self, operations: Mapping[str, Operation]) -> None:
        self.operations = dict(operations)
        self._names: dict[Operation, str] = {}
        self._users: dict[str, int] = {}
        self._fills: dict[str, _Tree] = {}

    def rewrite(self, function: Function) -> None:
        """Put expressions into a function."""
        lines = list(function.lines)
        if not any(self._is_step(self._operation(line)) for line in lines):
            return
        self._users = Counter(name for line in lines for name in line.used)
        self._fills = {line.result: _Tree(line, operation) for line in lines
                       if isinstance(operation := self._operation(line), Fill)}
        for block in function.blocks.values():
            self._rewrite_block(block)
        used = {name for line in function.lines for name in line.used}
        for block in function.blocks.values():
            block.lines = [line for line in block.lines if line.result in used or line.result not in self._fills]

    def _rewrite_block(self, block: Block) -> None:
        """Grow trees from line to line, and write those that no other one takes."""
        known: dict[str, _Tree] = {}  # of values that one line uses
        roots: dict[int, _Tree] = {}
        for line in block.lines:
            operation = self._operation(line)
            tree = self._tree(line, operation, known) if operation is not None else None
            if tree is not None:
                roots[id(line)] = tree
                for one in tree.all[:-1]:
                    roots.pop(id(one.line), None)
                if self._users.get(line.result) == 1:
                    known[line.result] = tree
            if writes(line, operation):
                known = {name: one for name, one in known.items() if not one.reads}
        roots = {key: tree for key, tree in roots.items() if len(tree.all) > 1 or isinstance(tree.operation, Apply)}
        taken = {id(one.line) for tree in roots.values() for one in tree.all[:-1]
                 if not isinstance(one.operation, Fill)}
        block.lines = [self._written(roots[id(line)]) if id(line) in roots else line for line in block.lines
                       if id(line) not in taken]

    def _operation(self, line: Line) -> Operation | None:
        return self.operations.get(line.call.function) if line.call else None

    def _is_step(self, operation: Operation | None) -> bool:
        """Whether an operation gives each element of a large matrix by itself."""
        is_one = isinstance(operation, Elementwise | Scale | Convert | Apply) or (
            isinstance(operation, ChangeUse) and not operation.transposes)
        return is_one and operation is not None and all(map(is_large, operation.kinds))

    def _tree(self, line: Line, operation: Operation, known: Mapping[str, _Tree]) -> _Tree | None:
        """What a line is, if that may be an expression, or a part of one."""
        assert line.call is not None
        matrices = line.call.operands[:len(operation.operands)]
        tree = _Tree(line, operation, tuple(
            known.get(one.value) or self._fills.get(one.value) or one for one in matrices))
        if self._is_step(operation):
            return tree
        is_plain = isinstance(operation, Load | LoadWindow | Store | StoreWindow) and is_by_rows(
            operation.kinds[0], operation.layout) and is_large(operation.kinds[0])
        if not is_plain or not tree.given:
            return tree if is_plain else None
        of_step = isinstance(tree.given[0], _Tree) and self._is_step(tree.given[0].operation)
        # What is loaded from elsewhere may be what is stored at another element.
        return tree if of_step and all(one.place == tree.place for one in tree.loads) else None

    # --- what becomes of them ---------------------------------------------------------------

    def _written(self, tree: _Tree) -> Line:
        """The line of an expression."""
        call, root = tree.line.call, tree.operation
        assert call is not None
        target = root if isinstance(root, Store | StoreWindow) else None
        loads, others = tree.loads, [one for one in tree.all if one.operation is not target]
        steps = [one for one in others if one not in loads]
        pairs = [pair for one in steps for pair in zip(one.given, one.operation.operands, strict=True)]
        matrices = {given.value: (given, kind) for given, kind in pairs if isinstance(given, Operand)}
        numbers = {key: place for place, key in enumerate([
            *(one.line.result for one in loads), *matrices, *(one.line.result for one in steps)])}
        made = Expression(
            result=root.result, operands=tuple(kind for _, kind in matrices.values()), target=target,
            sources=tuple(replace(one.operation, is_kept=False) for one in loads
                          if isinstance(one.operation, Load | LoadWindow)),
            steps=tuple(Step(one.operation, tuple(  # type: ignore[arg-type]
                numbers[given.value if isinstance(given, Operand) else given.line.result] for given in one.given))
                for one in steps), sub_group_size=root.sub_group_size)
        scalars = [str(one) for step in steps if step.line.call is not None
                   for one in step.line.call.operands[len(step.operation.operands):]]
        operands = [*(one for load in loads for one in load.place), *scalars,
                    *(tree.place if target is not None else ()), *(str(given) for given, _ in matrices.values())]
        name = self._names.setdefault(made, f"matrix.{made.name}.{len(self._names)}")
        self.operations[name] = made
        start = f"{call.result} = " if call.result else ""
        return Line.of(f"  {start}call {call.returned} @{name}({', '.join(operands)})")


def _reads(operation: Operation) -> bool:
    return isinstance(operation, Apply) and operation.reads


def _scalars(operation: Operation) -> list[str]:
    """LLVM's types of the operands of a step that are no matrices."""
    if isinstance(operation, Apply):
        return ["ptr", "i1", *operation.numbers]
    return [element_type(operation.result)] if isinstance(operation, Fill | Scale) else []


# --------------------------------------------------------------------------------------
# Their code
# --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Memory:
    """A matrix in memory: its first element's address, the bytes from line to line, and its window, if it has one."""

    kind: MatrixType
    start: str
    stride: str
    window: tuple[str, ...]

    @classmethod
    def of(cls, body: Body, kind: MatrixType, place: Sequence[str]) -> _Memory:
        """That of a place: address, stride and window."""
        base, stride, *window = place
        return cls(kind, window_start(body, kind, base, stride, window) if window else base, stride, tuple(window))


class _Code:
    """The code of an expression."""

    def __init__(self, body: Body, operation: Expression) -> None:
        self.body, self.operation, self.writer = body, operation, body.writer
        self.kind = operation.last
        self.parameters: list[str] = []
        self.sources = [_Memory.of(body, one.result, self._place(one)) for one in operation.sources]
        self.scalars = [self._take(_scalars(one.operation)) for one in operation.steps]
        target = operation.target
        self.target = None if target is None else _Memory.of(body, target.operands[0], self._place(target))
        self.matrices = self._take(["ptr"] * len(operation.operands))
        self.chunk = min((one.operation.lanes for one in operation.steps if isinstance(one.operation, Apply)),
                         default=CHUNK)
        self.held = RESULT  # where the result lies if it is not stored at once

    def _take(self, types: Sequence[str]) -> list[str]:
        """Further parameters."""
        first = len(self.parameters)
        self.parameters += types
        return [f"%{first + place}" for place in range(len(types))]

    def _place(self, operation: Operation) -> list[str]:
        """Those that say where a matrix is."""
        is_window = isinstance(operation, LoadWindow | StoreWindow)
        return self._take(["ptr", *["i64"] * ((_OF_WINDOW if is_window else _OF_PLACE) - 1)])

    def made(self) -> Made:
        """The code: at once to memory, if functions read nothing that lies there."""
        apart = self.writer.all_of("true", *(scalars[1] for scalars, step in zip(
            self.scalars, self.operation.steps, strict=True) if _reads(step.operation)))
        if self.target is None or apart == "true":
            self._all()
        else:
            self.writer.when(apart, self._all)
            self.writer.when(self.writer.let(f"xor i1 {apart}, true"), self._by_way_of_buffer)
        result = self.operation.result
        return self.parameters, "void" if result is None else plain_type(result), RESULT

    def _by_way_of_buffer(self) -> None:
        """The result first to memory of its own, and then to where it is stored."""
        target, self.target = self.target, None
        assert target is not None
        self.held = self.body.buffer(self.kind)
        self._all()
        copy = Copy(self.body, self.kind, self.held, target.start, target.stride, is_turned=False, is_load=False)
        if target.window:
            copy.window(target.window)
        else:
            copy.whole()

    def _all(self) -> None:
        """All rows: without masks where all matrices lie in their windows."""
        windows = {one.window: one for one in self.memories if one.window}
        if not windows:
            self._rows(is_masked=False)
        else:
            found = [is_whole(self.body, one.kind, Layout.RowMajorKHR, one.window)[0] for one in windows.values()]
            whole = self.writer.all_of("true", *found)
            part = self.writer.let(f"xor i1 {whole}, true")
            self.writer.when(whole, lambda: self._rows(is_masked=False))
            self.writer.when(part, lambda: self._rows(is_masked=True))

    @property
    def memories(self) -> list[_Memory]:
        """All that is loaded and stored."""
        return [*self.sources, *([self.target] if self.target is not None else [])]

    def _rows(self, *, is_masked: bool) -> None:
        whole, rest = divmod(self.kind.columns, self.chunk)
        inlines = not is_masked and self.held == RESULT

        def row(number: str) -> None:
            if self.target is not None:
                self._ask(self.target, number)
            self.writer.count(whole, lambda part: self._chunk(
                number, self.writer.let(f"mul nuw nsw i64 {part}, {self.chunk}"), self.chunk, is_masked=is_masked,
                inlines=inlines), unrolls=self.chunk == CHUNK)
            if rest:
                self._chunk(number, str(whole * self.chunk), rest, is_masked=is_masked)

        self.writer.count(self.kind.rows, row, unrolls=False)

    def _ask(self, target: _Memory, row: str) -> None:
        """Ask for a line of memory that is written soon."""
        nbytes = target.kind.columns * target.kind.component.size
        later = self.writer.let(f"add i64 {row}, {max(1, AHEAD // nbytes)}")
        prefetch(self.writer, self.writer.line(target.start, later, target.stride), "1", str(nbytes), "0", WRITE)

    def _chunk(self, row: str, column: str, count: int, *, is_masked: bool, inlines: bool = False) -> None:
        """Some elements of a row, through all steps. inlines: functions stand here as well, and are not only called.
        """
        numbers = NumberWriter(self.writer, count)
        masks = {one.window: self._mask(numbers, one, row, column) for one in self.memories
                 if one.window and is_masked}
        values = [self._loaded(numbers, one, row, column, masks.get(one.window, "")) for one in self.sources]
        for name, kind in zip(self.matrices, self.operation.operands, strict=True):
            vector = numbers.vector(element_type(kind))
            values.append(Number(element_type(kind), lanes=self.writer.let(
                f"load {vector}, ptr {self._own(name, kind, row, column)}, align {kind.component.size}")))
        for step, scalars in zip(self.operation.steps, self.scalars, strict=True):
            given = [values[number] for number in step.given]
            lanes = (self._applied(step.operation, scalars, given, (row, column), inlines=inlines)
                     if isinstance(step.operation, Apply) else function_of(step.operation, scalars)(numbers, *given))
            values.append(Number(element_type(step.operation.result), lanes=lanes))
        vector, size = numbers.vector(values[-1].type), suffix(numbers.vector(values[-1].type))
        if self.target is None:
            own = self._own(self.held, self.kind, row, column)
            self.writer.do(f"store {vector} {values[-1].lanes}, ptr {own}, align {self.kind.component.size}")
            return
        address, alignment = self._there(self.target, row, column), self.target.kind.component.size
        if self.target.window in masks:
            self.writer.call("void", f"llvm.masked.store.{size}.p0", [
                (vector, values[-1].lanes), ("ptr", f"align {alignment} {address}"),
                (numbers.vector("i1"), masks[self.target.window])])
        else:
            self.writer.do(f"store {vector} {values[-1].lanes}, ptr {address}, align {alignment}")

    def _applied(self, operation: Apply, scalars: Sequence[str], given: Sequence[Number], place: Sequence[str], *,
                 inlines: bool) -> str:
        """What a function makes of elements that follow each other from a place."""
        let, count = self.writer.let, operation.lanes
        places = ", ".join(f"i32 {let(f'trunc nuw nsw i64 {one} to i32')}" for one in place)
        elements = "".join(f", <{count} x {one.type}> {one.lanes}" for one in given)
        others = "".join(f", {llvm} {text}" for llvm, text in zip(operation.numbers, scalars[_OF_FUNCTION:],
                                                                  strict=True))
        how = "alwaysinline" if inlines else "noinline"
        return let(f"call <{count} x {element_type(operation.result)}> @{operation.function}("
                   f"{places}{elements}{others}) {how}")

    def _loaded(self, numbers: NumberWriter, memory: _Memory, row: str, column: str, mask: str) -> Number:
        """Elements out of memory; zeros outside of the window."""
        element, alignment = element_type(memory.kind), memory.kind.component.size
        vector, address = numbers.vector(element), self._there(memory, row, column)
        if not mask:
            return Number(element, lanes=self.writer.let(f"load {vector}, ptr {address}, align {alignment}"))
        return Number(element, lanes=self.writer.call(vector, f"llvm.masked.load.{suffix(vector)}.p0", [
            ("ptr", f"align {alignment} {address}"), (numbers.vector("i1"), mask), (vector, "zeroinitializer")]))

    def _mask(self, numbers: NumberWriter, memory: _Memory, row: str, column: str) -> str:
        """Which elements of a row lie in a window."""
        x, y, height, width = memory.window
        let, many = self.writer.let, numbers.vector("i64")
        in_rows = let(f"icmp ult i64 {let(f'add i64 {row}, {x}')}, {height}")
        places = numbers.lanes(Number("i64", let(f"add i64 {column}, {y}"), stride=1))
        inside = let(f"icmp ult {many} {places}, {numbers.splat('i64', width)}")
        return let(f"and {numbers.vector('i1')} {inside}, {numbers.splat('i1', in_rows)}")

    def _there(self, memory: _Memory, row: str, column: str) -> str:
        return self.body.address(self.writer.line(memory.start, row, memory.stride), element_type(memory.kind), column)

    def _own(self, buffer: str, kind: MatrixType, row: str, column: str) -> str:
        pitch = kind.columns * kind.component.size
        return self.body.address(self.writer.line(buffer, row, pitch), element_type(kind), column)


def expression(body: Body, operation: Expression) -> Made:
    """The body of an expression's function."""
    return _Code(body, operation).made()
