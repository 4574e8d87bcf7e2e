"""Multiply-accumulates that no single instruction does become products (:mod:`.product`), which take their operands
from the memory that the kernel would have loaded them from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from coopmat.spirv.analysis.types import IntType
from coopmat.spirv.grammar import CooperativeMatrixLayout as Layout
from coopmat.spirv.grammar import CooperativeMatrixUse as Use
from coopmat.targets.cpu.matrix.amx import instruction_of
from coopmat.targets.cpu.matrix.body import Features, is_large
from coopmat.targets.cpu.matrix.memory import together_in_memory
from coopmat.targets.cpu.matrix.operation import (
    Convert,
    Expression,
    Load,
    LoadWindow,
    Multiply,
    MultiplyInMemory,
    Operation,
    Product,
    Publish,
    Source,
    Store,
    StoreWindow,
    ToMemory,
)
from coopmat.targets.cpu.matrix.product.unit import Unit, unit_of
from coopmat.targets.cpu.matrix.sums import MOST_UNROLLED, register_bytes, sum_registers
from coopmat.targets.llvm.ir_text import Block, CallLine, Function, Line, is_name

_SUMS = ("fp32", "fp64")  # formats of A in which sums are formed as well
_PLAIN = (Layout.RowMajorKHR, Layout.ColumnMajorKHR)
_WRITES = (Publish, Store, StoreWindow, ToMemory)
_WRITING_OPCODES = frozenset({"store", "fence", "atomicrmw", "cmpxchg"})
_WRITING_INTRINSICS = ("llvm.mem", "llvm.masked.s", "llvm.masked.compressstore", "llvm.vp.s")


@dataclass(frozen=True)
class _Found:
    """A load in the block at hand: its line's number, and what it does. conversions: of its elements, behind it."""

    line: int
    operation: Load | LoadWindow
    call: CallLine
    conversions: tuple[Convert, ...] = ()


class Fusing:
    """Rewrites functions. ``operations``: what calls stand for, by name, with those that it writes."""

    def __init__(self, operations: Mapping[str, Operation], features: Features) -> None:
        self.operations = dict(operations)
        self._features = features
        self._names: dict[Operation, str] = {}

    def rewrite(self, function: Function) -> None:
        """Put products into a function."""
        if not any(isinstance(self._operation(line), Multiply) for line in function.lines):
            return
        for block in function.blocks.values():
            self._rewrite_block(block)
        while self._drop_unused(function):
            pass

    def _rewrite_block(self, block: Block) -> None:
        loads: dict[str, _Found] = {}
        for number, line in enumerate(block.lines):
            operation = self._operation(line)
            if isinstance(operation, Load | LoadWindow) and line.call:
                loads[line.result] = _Found(number, operation, line.call)
            elif isinstance(operation, Convert) and line.call and (found := loads.get(line.call.operands[0].value)):
                loads[line.result] = replace(found, conversions=(*found.conversions, operation))
            elif isinstance(operation, Multiply) and self._takes(operation) and line.call:
                block.lines[number] = self._product(operation, line.call, loads)
            elif isinstance(operation, Multiply) and line.call:
                found, other = (loads.get(one.value) for one in line.call.operands[:2])
                if found and self._is_alone(block) and self._reads(operation, found, other):
                    block.lines[number] = self._in_memory(operation, line.call, found)
            elif writes(line, operation):
                loads.clear()

    def _drop_unused(self, function: Function) -> bool:
        """Remove loads and conversions that nothing uses; whether there were any."""
        used = {name for line in function.lines for name in line.used}
        unused = {id(line) for line in function.lines if line.result not in used
                  and isinstance(self._operation(line), Convert | Load | LoadWindow)}
        for block in function.blocks.values() if unused else ():
            block.lines = [line for line in block.lines if id(line) not in unused]
        return bool(unused)

    def _operation(self, line: Line) -> Operation | None:
        return self.operations.get(line.call.function) if line.call else None

    def _takes(self, operation: Operation | None) -> bool:
        """Whether a multiply-accumulate becomes a product."""
        if not isinstance(operation, Multiply):
            return False
        if any(map(is_large, operation.kinds)):
            return True
        unit = unit_of(operation.formats, operation.saturates, self._features)
        return unit.kind == "tiles" and not instruction_of(operation, self._features)

    def _is_alone(self, block: Block) -> bool:
        """Whether a block has one multiply-accumulate."""
        return sum(isinstance(self._operation(line), Multiply) for line in block.lines) == 1

    def _reads(self, operation: Multiply, found: _Found, other: _Found | None) -> bool:
        """Whether a multiply-accumulate, whose sums fit registers, takes the elements of A from where a load would, one
        by one. Lines of A and B whose distance is not known might push each other out of the first-level cache
        meanwhile. other: the load of B."""
        a, b, _ = operation.operands
        registers = -(-b.columns * b.component.size // register_bytes(self._features))
        return (operation.formats[0] in _SUMS and isinstance(found.operation, Load) and not found.conversions
                and found.operation.layout in _PLAIN and a.rows * registers <= sum_registers(self._features)
                and a.rows * a.columns * registers <= MOST_UNROLLED
                and any(one is not None and not is_name(one.call.operands[1].value) for one in (found, other)))

    def _in_memory(self, operation: Multiply, call: CallLine, found: _Found) -> Line:
        """The call of a multiply-accumulate with A in memory."""
        a, b, c = operation.operands
        made = MultiplyInMemory(result=operation.result, a=a, operands=(b, c), layout=found.operation.layout,
                                formats=operation.formats, sub_group_size=operation.sub_group_size)
        return self._called(made, call, [*found.call.operands[:2], *call.operands[1:]])

    def _called(self, made: Operation, call: CallLine, operands: Sequence[object]) -> Line:
        name = self._names.setdefault(made, f"matrix.{made.name}.{len(self._names)}")
        self.operations[name] = made
        text = ", ".join(map(str, operands))
        return Line.of(f"  {call.result} = call {call.returned} @{name}({text})")

    def _product(self, operation: Multiply, call: CallLine, loads: Mapping[str, _Found]) -> Line:
        """The call of a product instead of that of a multiply-accumulate."""
        a, b, c = operation.operands
        unit = unit_of(operation.formats, operation.saturates, self._features)
        operands: list[str] = []
        sources: list[Source | None] = []
        kinds = []
        for kind, operand in zip((a, b), call.operands, strict=False):
            found = loads.get(operand.value)
            if found is None or not _is_plain(found, unit):
                sources.append(None)
                kinds.append(kind)
                operands.append(str(operand))
                continue
            load = found.operation
            sources.append(Source(load.layout, isinstance(load, LoadWindow), load.is_kept, found.conversions))
            operands += map(str, found.call.operands)
        made = Product(result=operation.result, a=a, b=b, c=c, operands=(*kinds, c), formats=operation.formats,
                       saturates=operation.saturates, sources=(sources[0], sources[1]), step=operation.step,
                       runs=operation.runs, sub_group_size=operation.sub_group_size)
        return self._called(made, call, [*operands, call.operands[2]])


def writes(line: Line, operation: Operation | None) -> bool:
    """Whether a line, which may be an operation, may write to memory."""
    if operation is not None:
        return isinstance(operation, _WRITES) or (
            isinstance(operation, Product | Expression) and operation.target is not None)
    if line.call is None:
        return line.opcode in _WRITING_OPCODES or line.opcode == "call"
    name = line.call.function
    return not name.startswith("llvm.") or name.startswith(_WRITING_INTRINSICS)


def _is_plain(found: _Found, unit: Unit) -> bool:
    """Whether elements lie in bytes of their own, one by one or as the unit takes them; where a unit of vectors has A
    converted from integers, there is no -0 for what is not there."""
    kind = found.operation.result
    together = together_in_memory(kind, found.operation.layout)
    has_zeros = unit.kind == "tiles" or not unit.is_float or kind.use != Use.MatrixAKHR
    return kind.component != IntType(4) and (has_zeros or not isinstance(kind.component, IntType)) and (
        together == 1 or unit.takes_packed(together) or (bool(found.conversions) and together % unit.together == 0))
