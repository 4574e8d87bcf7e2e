"""Where the sums of a product begin and end: with zeros that nobody writes, and in the memory that the kernel stores
them to.

Sums of large matrices lie in a buffer between products. A loop over K that begins with zeros would fill it, and the
store behind the loop copy it. Instead a product is told whether it begins with zeros, and the last one where its sums
go.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from coopmat.spirv.grammar import CooperativeMatrixLayout as Layout
from coopmat.targets.cpu.matrix.body import is_large
from coopmat.targets.cpu.matrix.fusing import writes
from coopmat.targets.cpu.matrix.memory import is_by_rows
from coopmat.targets.cpu.matrix.operation import Fill, Operation, Product, Store, StoreWindow, Target
from coopmat.targets.llvm.ir_text import Block, CallLine, Function, Line, is_zero

_BRANCH = re.compile(r"br i1 (\S+), label %(\S+), label %([^\s,]+)")


@dataclass(frozen=True)
class _Stored:
    """The store of a product's result. place: the label of its block. due: the lines that make the i1 ``is_due``, which
    says whether the store comes next."""

    place: str
    line: Line
    call: CallLine
    is_due: str = "true"
    due: tuple[Line, ...] = ()


class Ends:
    """Rewrites functions. ``operations``: what calls stand for, by name, with those that it writes."""

    def __init__(self, operations: Mapping[str, Operation]) -> None:
        self.operations = dict(operations)
        self._names: dict[Operation, str] = {}
        self._function = Function("", {})

    def rewrite(self, function: Function) -> None:
        """Put the ends of sums into a function's products."""
        if not any(self._is_large_product(line) for line in function.lines):
            return
        function.name_all()
        self._function = function
        for label, block in function.blocks.items():
            for line in [one for one in block.lines if self._is_large_product(one)]:
                self._store(label, block, self._begin(block, line))
        self._make_zeros_where_used()

    def _operation(self, line: Line) -> Operation | None:
        return self.operations.get(line.call.function) if line.call else None

    def _is_large_product(self, line: Line) -> bool:
        operation = self._operation(line)
        return isinstance(operation, Product) and is_large(operation.c) and is_large(operation.result)

    def _users(self, name: str) -> list[tuple[str, Line]]:
        """The lines that use a value, with the labels of their blocks."""
        return [(label, line) for label, block in self._function.blocks.items() for line in block.lines
                if name in line.text and name in line.used]

    def _called(self, line: Line, operation: Operation, operands: Sequence[str]) -> Line:
        """A line that calls another operation instead."""
        name = self._names.setdefault(operation, f"matrix.{operation.name}.ends.{len(self._names)}")
        self.operations[name] = operation
        assert line.call is not None
        start = f"{line.result} = " if line.result else ""
        return Line.of(f"  {start}call {line.call.returned} @{name}({', '.join(operands)})")

    # --- where sums begin -------------------------------------------------------------------

    def _is_zeros(self, value: str) -> bool:
        return value == "zeroinitializer" or any(
            line.result == value and self._fills_with_zeros(line) for line in self._function.lines)

    def _fills_with_zeros(self, line: Line) -> bool:
        return line.call is not None and isinstance(self._operation(line), Fill) and is_zero(
            line.call.operands[0].value)

    def _begin(self, block: Block, line: Line) -> Line:
        """A product that is told whether C is zeros, if it may be."""
        operation = self._operation(line)
        assert isinstance(operation, Product)
        assert line.call is not None
        *operands, c = line.call.operands
        flag, value = "true", "poison"
        if not self._is_zeros(c.value):
            flag, value = f"{c.value}.zeros", c.value
            if not self._split_phi(block, c.value, flag):
                return line
        told = self._called(line, replace(operation, asks_for_zeros=True), [
            *map(str, operands), f"i1 {flag}", f"{c.type} {value}"])
        block.lines[block.lines.index(line)] = told
        return told

    def _split_phi(self, block: Block, name: str, flag: str) -> bool:
        """Whether a value that only a product of a block uses comes from zeros, and then an i1 says so instead."""
        place, phi = next(((place, line.phi) for place, line in enumerate(block.lines) if line.result == name),
                          (0, None))
        if phi is None or len(self._users(name)) > 1:
            return False
        zeros = [self._is_zeros(value) for value, _ in phi.incoming]
        if any(zeros):
            given = [("poison" if zero else value, label) for zero, (value, label)
                     in zip(zeros, phi.incoming, strict=True)]
            flags = [(str(zero).lower(), label) for zero, (_, label) in zip(zeros, phi.incoming, strict=True)]
            block.lines[place:place + 1] = [Line.of(
                f"  {result} = phi {llvm} {', '.join(f'[ {value}, %{label} ]' for value, label in incoming)}")
                for result, llvm, incoming in ((name, phi.type, given), (flag, "i1", flags))]
        return any(zeros)

    def _make_zeros_where_used(self) -> None:
        """Fill large matrices with zeros where something still needs them, which may be never."""
        blocks = self._function.blocks.values()
        for block, line in [(one, line) for one in blocks for line in one.lines if self._fills_with_zeros(line)]:
            users, operation = self._users(line.result), self._operation(line)
            if operation is None or operation.result is None or not is_large(operation.result) or any(
                    user.opcode == "phi" for _, user in users):
                continue
            block.lines.remove(line)
            for number, (label, user) in enumerate(users):
                there, own = self._function.blocks[label].lines, f"{line.result}.own.{number}"
                place = there.index(user)
                names = {line.result: own}
                there[place:place + 1] = [line.with_result(own), user.renamed(partial(_renamed, names))]

    # --- where sums end ---------------------------------------------------------------------

    def _store(self, label: str, block: Block, line: Line) -> None:
        """Make the store of a product's result a part of it, if that can be: it moves to where the store comes next."""
        operation, stored = self._operation(line), self._stored(label, block, line)
        if stored is None:
            return
        assert isinstance(operation, Product)
        assert line.call is not None
        *operands, c = map(str, line.call.operands)
        store = self._operation(stored.line)
        _, *place = map(str, stored.call.operands)
        told = self._called(line, replace(operation, target=Target(isinstance(store, StoreWindow))), [
            *operands, f"i1 {stored.is_due}", *place, c])
        block.lines.remove(line)
        at = block.lines.index(stored.line) if stored.place == label else block.end
        block.lines[at:at] = [*stored.due, told]
        there = self._function.blocks[stored.place].lines
        at = there.index(stored.line)
        there[at:at + 1] = [self._called(stored.line, replace(store, is_rest=True), list(
            map(str, stored.call.operands)))] if isinstance(store, StoreWindow) else []

    def _stored(self, label: str, block: Block, product: Line) -> _Stored | None:
        """The only store of a product's result, if nothing else uses that then, and nothing between accesses memory
        that the product or the store may access as well."""
        stores = [(place, line, line.call) for place, line in self._users(product.result) if self._is_by_rows(line)]
        others = len(self._users(product.result)) - len(stores)
        if len(stores) != 1:
            return None
        (place, store, call), = stores
        assert call is not None
        behind = block.lines[block.lines.index(product) + 1:]
        if place == label:
            between = behind[:behind.index(store)]
            return None if others or self._any_writes(between) else _Stored(place, store, call)
        ahead = self._function.blocks[place].lines
        ahead = ahead[:ahead.index(store)]
        phis = sum(line.opcode == "phi" for line in block.lines if product.result in line.used)
        sources = [name for name, one in self._function.blocks.items() if place in one.successors]
        branch = _BRANCH.search(block.lines[block.end].text)
        if (others != phis or sources != [label] or branch is None or branch[2] == branch[3]
                or self._any_writes([*behind, *ahead])
                or any(line.opcode == "load" or self._operation(line) is not None for line in ahead)
                or any(line.result in store.used for line in ahead if line.result)):
            return None
        if branch[2] == place:
            return _Stored(place, store, call, branch[1])
        is_due = f"{product.result}.due"
        return _Stored(place, store, call, is_due, (Line.of(f"  {is_due} = xor i1 {branch[1]}, true"),))

    def _is_by_rows(self, line: Line) -> bool:
        operation = self._operation(line)
        return isinstance(operation, Store | StoreWindow) and operation.layout == Layout.RowMajorKHR and is_by_rows(
            operation.operands[0], operation.layout)

    def _any_writes(self, lines: Sequence[Line]) -> bool:
        return any(writes(line, self._operation(line)) for line in lines)


def _renamed(names: Mapping[str, str], name: str) -> str:
    return names.get(name, name)
