"""LLVM IR for a kernel: its blocks, masks, and what instructions need to read and write values.

The code of a sub-group is one function. Which values are uniform is found by writing the code, and writing it again
while what was assumed of a variable, or of a branch, turns out to be wrong; all assumptions begin with "uniform" and
move towards "varies", so that this ends.

What crosses blocks where the code's layout has no order (divergent code, phis, variables) goes through stack slots, and
LLVM makes registers of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from coopmat.diagnostics import Error, ValidationError
from coopmat.spirv.analysis.control_flow import RETURNED
from coopmat.spirv.analysis.places import line_text
from coopmat.spirv.analysis.types import MatrixType, Type, TypeTable
from coopmat.spirv.grammar import CHAINS, POINTER_CASTS, Op
from coopmat.spirv.module import Module
from coopmat.spirv.module.instruction import Instruction
from coopmat.targets.analysis.flatten import Flat, labels_of
from coopmat.targets.base.unsupported import reason_against
from coopmat.targets.cpu.options import HARDWARE
from coopmat.targets.cpu.regions import lay_out
from coopmat.targets.llvm.numbers import NumberWriter
from coopmat.targets.llvm.values import (
    UNIFORM,
    VARYING,
    Leaf,
    LeafType,
    Matrix,
    Number,
    Shape,
    Value,
    leaves_of,
    llvm_type,
    zero_of,
)
from coopmat.targets.llvm.writer import Writer

Handler = Callable[["Emitter", Instruction], "Value | None"]


@dataclass(frozen=True)
class Variant:
    """What the code of a kernel is made for.

    sub_group_size: work-items of a sub-group. is_whole: every sub-group has that many. is_straight: the work-items of a
    sub-group follow each other in the first dimension. bounds: accesses are checked. nulls: the positions of the
    parameters that are null pointers; accesses through those are checked in any case. numerics: how
    floating-point matrices are multiplied and accumulated (the option of CpuOptions). features: those of the processor
    that change what is written (:data:`~coopmat.targets.cpu.features.OF_EMISSION`).
    """

    sub_group_size: int
    is_whole: bool
    is_straight: bool
    bounds: bool = False
    nulls: tuple[int, ...] = ()
    numerics: str = HARDWARE
    features: frozenset[str] = frozenset()

    @property
    def is_checked(self) -> bool:
        """Whether some accesses are checked."""
        return self.bounds or bool(self.nulls)


@dataclass
class Assumptions:
    """What passes over the code have found; each pass begins with what the ones before it know."""

    shapes: dict[Any, Shape] = field(default_factory=dict)
    divergent: set[int] = field(default_factory=set)
    changed: bool = False

    def join(self, key: Any, shape: Shape) -> None:
        """Note that a slot holds a number of this shape."""
        old = self.shapes.get(key)
        new = shape if old is None else old.join(shape)
        if new != old:
            self.shapes[key] = new
            self.changed = True

    def diverges(self, block: int) -> None:
        """Note that the branch of a block sends work-items to several places."""
        if block not in self.divergent:
            self.divergent.add(block)
            self.changed = True


class Emitter(NumberWriter):
    """Writes the code of a sub-group, once; see :func:`emit`."""

    def __init__(self, flat: Flat, variant: Variant, handlers: Mapping[int, Handler], assumptions: Assumptions,
                 architecture: str) -> None:
        super().__init__(Writer(), variant.sub_group_size)
        self.flat = flat
        self.module: Module = flat.module
        self.variant = variant
        self.handlers = handlers
        self.known = assumptions
        self.types = TypeTable(self.module, self.size, architecture)
        self.values: dict[int, Value] = {}
        self.constants: dict[int, Value] = {}
        self.slots: dict[Any, str] = {}
        self.extra: dict[str, Any] = {}  # what families of instructions keep for themselves
        self.block = 0
        self.row: Instruction | None = None
        self.block_numbers = labels_of(flat.blocks)
        self.layout = lay_out(flat.flow, self.known.divergent)
        self.homes = {row.result_id: number for number, block in enumerate(flat.blocks)
                      for row in block.instructions if row.result_id is not None}
        self.masks: dict[int, str] = {}
        self.mask: str | None = None  # the work-items that are here; None: all of them
        self.whole_mask = None if variant.is_whole else "%exists"
        self.stored = self._stored_values()
        self._locations: dict[int, dict[int, str | None]] = {}  # of each block's instructions

    # --- types ------------------------------------------------------------------------

    def type_of(self, identifier: int) -> Type:
        """The type of a value."""
        row = self.flat.definition(identifier)
        if row.type_id is None:
            raise ValidationError("operand-value", f"{row.name} %{identifier} is not a value", row.offset)
        return self.types[row.type_id]

    def result_type(self, row: Instruction) -> Type:
        """The type of an instruction's result."""
        assert row.type_id is not None
        return self.types[row.type_id]

    def pointee(self, pointer: int) -> Type:
        """What a pointer points to."""
        return self.types.pointee(self.type_of(pointer))

    def constant_of(self, identifier: int) -> int | None:
        """The value of an integer constant (unsigned where its type has no sign), or None."""
        value = self.module.constant_value(identifier) if identifier not in self.flat.definitions else None
        return int(value) if isinstance(value, int) else None

    def decorations(self, row: Instruction) -> Sequence[tuple[Any, tuple[int, ...]]]:
        """The decorations of an instruction's result."""
        return self.module.decorations(self.flat.original(row.result_id or 0))

    def location(self) -> str | None:
        """The source line of the instruction."""
        if self.block >= len(self.flat.blocks):
            return None
        if self.block not in self._locations:
            self._locations[self.block] = found = {}
            location = None
            for row in self.flat.blocks[self.block].instructions:
                if row.opcode == Op.Line:
                    location = line_text(self.module, row)
                elif row.opcode == Op.NoLine:
                    location = None
                found[id(row)] = location
        return self._locations[self.block].get(id(self.row))

    # --- masks ------------------------------------------------------------------------

    @property
    def mask_type(self) -> str:
        """The type of a mask."""
        return f"<{self.size} x i1>"

    @property
    def mask_text(self) -> str:
        """The work-items that are here as an operand."""
        return self.mask if self.mask is not None else "splat (i1 true)"

    def mask_bits(self, mask: str | None = None) -> str:
        """A mask as an integer of so many bits as the sub-group has work-items; bit i is work-item i."""
        return self.writer.let(f"bitcast {self.mask_type} {mask or self.mask_text} to i{self.size}")

    def any_of(self, mask: str) -> str:
        """Whether a mask has a work-item."""
        bits = self.mask_bits(mask)
        return self.writer.let(f"icmp ne i{self.size} {bits}, 0")

    def last_lane(self) -> str:
        """The last work-item that is here, as an i32."""
        if self.mask is None:
            return str(self.size - 1)
        return self._edge_lane("ctlz")

    def first_lane(self) -> str:
        """The first work-item that is here, as an i32."""
        return "0" if self.mask is None else self._edge_lane("cttz")

    def _edge_lane(self, counting: str) -> str:
        bits, width = self.mask_bits(), f"i{self.size}"
        found = self.writer.call(width, f"llvm.{counting}.{width}", [(width, bits), ("i1", "true")])
        wide = found if self.size == 32 else self.writer.let(
            f"{'zext' if self.size < 32 else 'trunc'} {width} {found} to i32")
        return wide if counting == "cttz" else self.writer.let(f"sub i32 {self.size - 1}, {wide}")

    def lane_of(self, number: Number, lane: str) -> str:
        """The operand of one work-item."""
        if number.is_uniform:
            return number.base
        return self.writer.let(f"extractelement {self.vector(number.type)} {self.lanes(number)}, i32 {lane}")

    # --- values by id -----------------------------------------------------------------

    def value(self, identifier: int) -> Value:
        """The leaves of a value."""
        row = self.flat.definition(identifier)
        home = self.homes.get(identifier)
        if home is None:
            return self.global_value(identifier, row)
        if self._is_direct(home, self.block) and row.opcode != Op.Phi:
            if identifier not in self.values:
                raise ValidationError("id-dominance", f"%{identifier} ({row.name}) is used before it is there",
                                      row.offset)
            return self.values[identifier]
        return self.load_slots(("value", identifier), leaves_of(self.type_of(identifier)))

    def number(self, identifier: int) -> Number:
        """A value that is one number."""
        value = self.value(identifier)
        if len(value) != 1 or not isinstance(value[0], Number):
            raise ValidationError("operand-type", f"%{identifier} is not a number")
        return value[0]

    def numbers(self, identifier: int) -> tuple[Number, ...]:
        """A value of numbers: a scalar or a vector."""
        value = self.value(identifier)
        found = tuple(leaf for leaf in value if isinstance(leaf, Number))
        if len(found) != len(value):
            raise ValidationError("operand-type", f"%{identifier} is not a number or a vector of them")
        return found

    def matrix(self, identifier: int) -> Matrix:
        """A value that is a matrix."""
        value = self.value(identifier)
        if len(value) != 1 or not isinstance(value[0], Matrix):
            raise ValidationError("operand-type", f"%{identifier} is no cooperative matrix")
        return value[0]

    def _is_direct(self, home: int, here: int) -> bool:
        return home == here or self.layout.dominates(home, here)

    def _stored_values(self) -> set[int]:
        """The values that other blocks take from slots: those whose block need not have run before."""
        found: set[int] = set()
        for number, block in enumerate(self.flat.blocks):
            if number not in self.layout.place:
                continue
            for row in block.instructions:
                if row.opcode != Op.Phi:
                    self._note_uses(row.ids(), number, found)
                    continue
                for used, label in zip(row.words[::2], row.words[1::2], strict=True):
                    source = self.block_numbers.get(label)  # phis take their values at the ends of other blocks
                    if source in self.layout.place:
                        self._note_uses((used,), source, found)
        return found

    def _note_uses(self, used: Iterable[int], block: int, found: set[int]) -> None:
        """Note what a block takes from slots; what a pointer into a variable was made of counts as used with it."""
        for identifier in used:
            home = self.homes.get(identifier)
            if home is None:
                continue
            if not self._is_direct(home, block):
                found.add(identifier)
            row = self.flat.definitions[identifier]
            if home != block and (row.opcode in CHAINS or row.opcode in POINTER_CASTS):
                self._note_uses(row.ids(), block, found)

    def global_value(self, identifier: int, row: Instruction) -> Value:
        """A constant, a parameter, or a variable of the module."""
        if identifier not in self.constants:
            handler = self.handlers.get(row.opcode)
            if row.type_id is None or row.opcode == Op.Function:
                raise ValidationError("operand-value", f"%{identifier} ({row.name}) is not a value of this function",
                                      row.offset)
            if handler is None:
                raise unsupported(row)
            lines, self.writer.lines = self.writer.lines, self.writer.entry
            try:
                found = handler(self, row)
            finally:
                self.writer.lines = lines
            if found is None:
                raise ValidationError("operand-value", f"%{identifier} ({row.name}) is not a value", row.offset)
            self.constants[identifier] = found
        return self.constants[identifier]

    # --- slots ------------------------------------------------------------------------

    def load_slots(self, key: Any, kinds: Sequence[LeafType]) -> Value:
        """What was stored for ``key``, a value with these leaves."""
        return tuple(self.load_slot((key, place), one.kind) for place, one in enumerate(kinds))

    def store_slots(self, key: Any, value: Value, mask: str | None) -> None:
        """Keep a value for ``key``; in the work-items of ``mask``, if there is one."""
        for place, leaf in enumerate(value):
            self.store_slot((key, place), leaf, mask)

    def load_slot(self, key: Any, kind: Type) -> Leaf:
        if isinstance(kind, MatrixType):
            return Matrix(kind, self.writer.let(f"load {self.matrix_type(kind)}, ptr {self._slot(key, kind)}"))
        llvm = llvm_type(kind)
        shape = self.known.shapes.get(key, UNIFORM)
        slot = self._slot(key, kind)
        if shape.stride is None:
            return self.varying(llvm, self.writer.let(f"load {self.vector(llvm)}, ptr {slot}"))
        return Number(llvm, self.writer.let(f"load {llvm}, ptr {slot}"), shape.stride, is_id=shape.is_id)

    def store_slot(self, key: Any, leaf: Leaf, mask: str | None) -> None:
        if isinstance(leaf, Matrix):
            self.writer.do(f"store {self.matrix_type(leaf.kind)} {leaf.text}, ptr {self._slot(key, leaf.kind)}")
            return
        self.known.join(key, VARYING if mask is not None and mask != self.whole_mask else Shape.of(leaf))
        if self.known.shapes[key].stride is not None:
            self.writer.do(f"store {leaf.type} {leaf.base}, ptr {self._number_slot(key, leaf.type)}")
            return
        self.store_masked(leaf, self._number_slot(key, leaf.type), mask)

    def store_masked(self, leaf: Number, address: str, mask: str | None) -> None:
        """Store a number of every work-item in the kernel's own memory, where only the sub-group looks."""
        vector, text = self.vector(leaf.type), self.lanes(leaf)
        if mask is not None and mask != self.whole_mask:
            old = self.writer.let(f"load {vector}, ptr {address}")
            text = self.writer.let(f"select {self.mask_type} {mask}, {vector} {text}, {vector} {old}")
        self.writer.do(f"store {vector} {text}, ptr {address}")

    def _slot(self, key: Any, kind: Type) -> str:
        if not isinstance(kind, MatrixType):
            return self._number_slot(key, llvm_type(kind))
        if key not in self.slots:
            self.slots[key] = self.matrix_slot(kind)
        return self.slots[key]

    def _number_slot(self, key: Any, llvm: str) -> str:
        if key not in self.slots:
            is_varying = self.known.shapes.get(key, UNIFORM).stride is None
            self.slots[key] = (self.writer.slot(self.vector(llvm), initial="zeroinitializer") if is_varying
                               else self.writer.slot(llvm, initial=zero_of(llvm)))
        return self.slots[key]

    def matrix_slot(self, kind: MatrixType) -> str:
        """A stack slot for a matrix; it holds zeros at the start."""
        from coopmat.targets.cpu.matrix.operations import slot_type, zero_matrix

        slot = self.writer.slot(slot_type(kind), align=64)
        lines, self.writer.lines = self.writer.lines, self.writer.entry
        self.writer.do(f"store {self.matrix_type(kind)} {zero_matrix(self, kind)}, ptr {slot}")
        self.writer.lines = lines
        return slot

    def matrix_type(self, kind: MatrixType) -> str:
        """LLVM's type of a matrix until it gets the form that the hardware needs."""
        from coopmat.targets.cpu.matrix.operations import matrix_type

        return matrix_type(kind)

    # --- blocks -----------------------------------------------------------------------

    def emit(self) -> None:
        """Write all blocks; the code leaves through the label ``done``."""
        from coopmat.targets.llvm.instructions.branches import leave_latch

        for number in self.layout.partial:
            self.masks[number] = self.writer.slot(self.mask_type, initial="zeroinitializer")
        self.writer.do(f"br label %{self.entry(self.layout.order[0])}")
        for number in self.layout.order:
            self.block = number
            if number in self.layout.partial:
                self._begin_partial(number)
            else:
                self.writer.label(f"b{number}")
                self.mask = self.whole_mask
            if number < len(self.flat.blocks):
                self._emit_block(number)
            else:
                leave_latch(self)
        self.mask = None
        self.writer.label("done")

    def entry(self, block: int) -> str:
        """The label by which control comes to a block."""
        if block == RETURNED:
            return "done"
        return f"c{block}" if block in self.layout.partial else f"b{block}"

    def _begin_partial(self, number: int) -> None:
        writer = self.writer
        writer.label(f"c{number}")
        mask = writer.let(f"load {self.mask_type}, ptr {self.masks[number]}")
        following = self.entry(self.layout.following[number])
        writer.do(f"br i1 {self.any_of(mask)}, label %b{number}, label %{following}")
        writer.label(f"b{number}")
        writer.do(f"store {self.mask_type} zeroinitializer, ptr {self.masks[number]}")
        self.mask = mask

    def _emit_block(self, number: int) -> None:
        block = self.flat.blocks[number]
        for row in block.instructions[:-1]:
            self.row = row
            handler = self.handlers.get(row.opcode)
            if handler is None:
                raise unsupported(row)
            found = handler(self, row)
            if row.result_id is not None and found is not None:
                self.values[row.result_id] = found
                if row.result_id in self.stored and row.opcode != Op.Phi:
                    self.store_slots(("value", row.result_id), found, self.mask)
        self.row = block.terminator
        terminate = self.handlers.get(block.terminator.opcode)
        if terminate is None:
            raise unsupported(block.terminator)
        terminate(self, block.terminator)

def unsupported(row: Instruction) -> Error:
    """The error for an instruction that the target does not have."""
    offset = f", at byte {row.offset:#x}" if row.offset is not None else ""
    return Error(f"cannot compile '{row}' for the CPU{offset}: "
                 f"{reason_against(row) or 'the target has no such instruction'}")

