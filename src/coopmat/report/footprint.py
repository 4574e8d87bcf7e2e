"""What a kernel needs of registers: the bytes of the values that are alive at the same time, where they are most.

Liveness is that of the module after the usual transformations: calls inlined, variables as values, nothing computed
twice. A compiler's own number differs: it reorders, and keeps what is the same for a whole sub-group only once.
"""

from __future__ import annotations

from dataclasses import dataclass

from coopmat.devices import DeviceDescription
from coopmat.diagnostics import Error
from coopmat.spirv.analysis.control_flow import postorder, successors_of
from coopmat.spirv.analysis.types import MatrixType, PointerType, Type, TypeTable, VoidType
from coopmat.spirv.grammar import ExecutionModel, Op, StorageClass
from coopmat.spirv.module import Block, Instruction, Module
from coopmat.spirv.transform.passes import chosen, transform

PASSES = ("inline", "values", "fold")
IN_MEMORY = frozenset({Op.Variable, Op.Label})


@dataclass(frozen=True)
class Footprint:
    """Of a work-item: bytes of ``values`` (numbers, vectors, pointers) and of its share of ``matrices`` that are alive
    where their sum is largest; ``private``: bytes of variables that stay in private memory."""

    values: int
    matrices: int
    private: int

    @property
    def registers(self) -> int:
        """Registers of 4 bytes."""
        return -(-(self.values + self.matrices) // 4)


def footprint_of(module: Module, kernel: str, device: DeviceDescription, sub_group_size: int,
                 work_group_items: int) -> Footprint | None:
    """What a kernel needs; None for a module that the passes do not take."""
    try:
        small, _ = transform(module, chosen(PASSES))
        types = TypeTable(small, sub_group_size, device.name, work_group_items=work_group_items)
        entry = next(entry for entry in small.entry_points
                     if entry.name == kernel and entry.model == ExecutionModel.Kernel)
        return _Liveness(small, types, small.function(entry.function_id).blocks).footprint()
    except Error:
        return None


class _Liveness:
    """Which values of a function are alive where."""

    def __init__(self, module: Module, types: TypeTable, blocks: list[Block]) -> None:
        self.types = types
        self.blocks = blocks
        self.kinds = {row.result_id: types[row.type_id] for block in blocks for row in block.instructions
                      if row.result_id is not None and row.type_id is not None and row.opcode not in IN_MEMORY}
        self.private = sum(types.pointee(types[row.type_id]).size for block in blocks for row in block.instructions
                           if row.opcode == Op.Variable and row.type_id is not None
                           and row.words[0] == StorageClass.Function)

    def footprint(self) -> Footprint:
        successors = successors_of(self.blocks)
        entering: list[set[int]] = [set() for _ in self.blocks]
        order = list(postorder(0, successors))
        changed = True
        most = (0, 0)
        while changed:
            changed = False
            for number in order:
                live = self._leaving(number, successors[number], entering)
                peak = self._walk(self.blocks[number], live)
                most = max(most, peak, key=sum)
                if live != entering[number]:
                    entering[number], changed = live, True
        return Footprint(*most, self.private)

    def _leaving(self, number: int, following: list[int], entering: list[set[int]]) -> set[int]:
        """What is alive at a block's end."""
        live: set[int] = set()
        label = self.blocks[number].label
        for target in following:
            phis = [row for row in self.blocks[target].instructions if row.opcode == Op.Phi]
            live |= entering[target] - {row.result_id for row in phis}
            live |= {value for row in phis for value, parent in zip(row.words[::2], row.words[1::2], strict=True)
                     if parent == label and value in self.kinds}
        return live

    def _walk(self, block: Block, live: set[int]) -> tuple[int, int]:
        """Go through a block from its end, so that ``live`` is what is alive at its start; the most on the way."""
        most = self._bytes(live)
        for row in reversed(block.instructions):
            live.discard(row.result_id or 0)
            if row.opcode == Op.Phi:
                live.add(row.result_id or 0)
                continue
            new = self._used(row) - live
            if new:
                live |= new
                most = max(most, self._bytes(live), key=sum)
        return most

    def _used(self, row: Instruction) -> set[int]:
        return {word for word in row.ids() if word in self.kinds and word != row.result_id}

    def _bytes(self, live: set[int]) -> tuple[int, int]:
        """Of values, and of matrices."""
        kinds = [self.kinds[identifier] for identifier in live if identifier in self.kinds]
        matrices = sum(kind.size for kind in kinds if isinstance(kind, MatrixType))
        return sum(_size(kind) for kind in kinds if not isinstance(kind, MatrixType)), matrices


def _size(kind: Type) -> int:
    """Bytes of a value in registers, of at least 4; pointers take 8."""
    if isinstance(kind, VoidType):
        return 0
    return 8 if isinstance(kind, PointerType) else max(4, kind.size)
