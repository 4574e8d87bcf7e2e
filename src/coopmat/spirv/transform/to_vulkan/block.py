"""The argument block: the kernel's parameters and what the runtime adds, in push constants or behind an address."""

from __future__ import annotations

from collections.abc import Iterable

from coopmat.spirv.analysis.types import IntType, Type, VectorType, round_up
from coopmat.spirv.grammar import Decoration, Op, StorageClass
from coopmat.spirv.transform.to_vulkan.memory import Memory, Place
from coopmat.spirv.transform.to_vulkan.types import U32, U64, UNSIGNED, as_number, is_leaf, members
from coopmat.spirv.transform.to_vulkan.writer import Writer

WORD = 4
HIDDEN: dict[str, tuple[IntType, int]] = {
    "group_offset": (U32, 3), "group_count": (U32, 3), "work_dim": (U32, 1), "global_offset": (U64, 3),
    "printf": (U64, 1), "globals": (U64, 1),
}
"""What the runtime fills in: type and number. See :class:`Shader`."""


class Layout:
    """Where things are in the block."""

    def __init__(self) -> None:
        self.size = 0
        self.hidden: dict[str, int] = {}

    def place(self, size: int, alignment: int) -> int:
        """The offset of the next thing."""
        offset = round_up(self.size, alignment)
        self.size = offset + size
        return offset

    def hide(self, names: Iterable[str]) -> None:
        """Places for what the runtime fills in."""
        for name, (kind, count) in HIDDEN.items():
            if name in names:
                self.hidden[name] = self.place(kind.size * count, kind.size)


class Block:
    """Reads the block in the shader; ``in_memory``: the push constants hold its address only."""

    def __init__(self, writer: Writer, layout: Layout, *, in_memory: bool) -> None:
        self.writer = writer
        self.layout = layout
        self.in_memory = in_memory
        self.memory = Memory(writer)
        self._address = 0
        self.words = 2 if in_memory else round_up(layout.size, WORD) // WORD
        self.variable = self._declared() if self.words else 0

    def _declared(self) -> int:
        out = self.writer.out
        array = out.type_array(self.writer.types(U32), self.words, unique=False)
        structure = out.type_struct([array], unique=False)
        out.decorate(array, Decoration.ArrayStride, WORD)
        out.decorate(structure, Decoration.Block)
        out.member_decorate(structure, 0, Decoration.Offset, 0)
        out.name(structure, "arguments")
        return out.global_variable(StorageClass.PushConstant, structure)

    def hidden(self, name: str, index: int = 0) -> int:
        """A number that the runtime fills in."""
        kind, _ = HIDDEN[name]
        return self.load(kind, self.layout.hidden[name] + kind.size * index)

    def load(self, kind: Type, offset: int) -> int:
        """A value in the block."""
        if self.in_memory:
            if not self._address:
                self._address = self._of_words(U64, 0)
            return self.memory.load(kind, self.memory.moved(Place(self._address, 16), offset))
        return self._load(kind, offset)

    def _load(self, kind: Type, offset: int) -> int:
        if not is_leaf(kind):
            parts = [self._load(member, offset + start) for start, member in members(kind)]
            return self.writer.construct(kind, parts)
        number = as_number(kind)
        if number.scalar.size >= WORD:
            return self._of_words(number, offset)
        size = number.scalar.size
        scalars = [self.writer.of_unsigned(self._narrow(size, offset + size * index), number.scalar)
                   for index in range(number.count)]
        return self.writer.construct(number, scalars) if isinstance(number, VectorType) else scalars[0]

    def _of_words(self, kind: Type, offset: int) -> int:
        count = kind.scalar.size * kind.count // WORD
        return self.writer.of_units([self._word(offset // WORD + index) for index in range(count)], kind, WORD)

    def _word(self, index: int) -> int:
        pointer = self.writer.out.type_pointer(StorageClass.PushConstant, self.writer.types(U32))
        there = self.writer.op(Op.AccessChain, pointer, self.variable, self.writer.integer(0),
                               self.writer.integer(index))
        return self.writer.op(Op.Load, U32, there)

    def _narrow(self, size: int, offset: int) -> int:
        """An integer of one or two bytes."""
        shift = offset % WORD * 8
        word = self._word(offset // WORD)
        if shift:
            word = self.writer.op(Op.ShiftRightLogical, U32, word, self.writer.integer(shift))
        return self.writer.converted(word, U32, UNSIGNED[size])

