"""LLVM IR for a kernel: its blocks, and what instructions need to read and write values.

How work-items run, and in which form matrices are, is asked of the machine (:mod:`.lanes`, :mod:`.matrices`). What
crosses blocks where the code's layout has no order (divergent code, phis, variables) goes through stack slots, and LLVM
makes registers of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

from coopmat.diagnostics import Error, ValidationError
from coopmat.spirv.analysis.places import line_text
from coopmat.spirv.analysis.types import MatrixType, Type
from coopmat.spirv.grammar import CHAINS, POINTER_CASTS, Op
from coopmat.spirv.module.instruction import Instruction
from coopmat.targets.analysis.flatten import labels_of
from coopmat.targets.analysis.leaves import LeafType, leaves_of
from coopmat.targets.analysis.origins import Origins
from coopmat.targets.base.global_memory import GlobalMemory
from coopmat.targets.base.unsupported import reason_against
from coopmat.targets.llvm.checks import AccessChecks
from coopmat.targets.llvm.lanes import Lanes
from coopmat.targets.llvm.matrices import MatrixForm
from coopmat.targets.llvm.numbers import NumberWriter, Remainder
from coopmat.targets.llvm.place import SlotPlace
from coopmat.targets.llvm.print_buffer import PrintCall
from coopmat.targets.llvm.values import Leaf, Matrix, Number, Value, llvm_type, zero_of
from coopmat.targets.llvm.writer import Writer

Handler = Callable[["Emitter", Instruction], "Value | None"]


@dataclass(frozen=True)
class Machine:
    """What code is made for.

    name: as messages call it. handlers: what writes each instruction, by its opcode. execution: makes how work-items
    run and the form of matrices. sub_group_size: work-items. width: how many of them stand side by side in a number
    that varies. stack: the address space of the stack. remainder: C's fmod of doubles, where LLVM's frem is not exact,
    or slow. has_bf16: it rounds floats to bf16 by itself, subnormal ones, too. single, double: its functions of real
    numbers in single and double precision, by their names in OpenCL.std; others are those of ``REAL``, in double.
    relaxed: those of floats with the errors that OpenCL C allows with -cl-unsafe-math-optimizations.
    features: those of the processor that code depends on.
    """

    name: str
    handlers: Mapping[int, Handler]
    execution: Callable[[Emitter], tuple[Lanes, MatrixForm]]
    sub_group_size: int
    width: int
    stack: int = 0
    remainder: Remainder | None = None
    has_bf16: bool = False
    single: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    double: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    relaxed: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    features: Set[str] = frozenset()


class Emitter(NumberWriter):
    """Writes the code of a sub-group, once; see :meth:`emit`.

    checks: writes the checks of accesses, where they are checked. places: the variables in slots that pointers are
    known to point to. prints: the calls of printf that were written. variables: of the module, with their initial
    values.
    """

    def __init__(self, machine: Machine, origins: Origins) -> None:
        super().__init__(Writer(machine.stack), machine.width, lambda *call: self.execution.call_library(*call),
                         remainder=machine.remainder, has_bf16=machine.has_bf16)
        self.machine = machine
        self.sub_group_size = machine.sub_group_size
        self.origins = origins
        self.uses = origins.uses
        self.flat = origins.uses.flat
        self.module = self.flat.module
        self.types = self.flat.types
        self.checks: AccessChecks | None = None
        self.places: dict[int, SlotPlace] = {}
        self.prints: list[PrintCall] = []
        self.variables = GlobalMemory(self.module)
        self.values: dict[int, Value] = {}
        self.constants: dict[int, Value] = {}
        self.block = 0
        self.row: Instruction | None = None
        self.block_numbers = labels_of(self.flat.blocks)
        self.homes = {row.result_id: number for number, block in enumerate(self.flat.blocks)
                      for row in block.instructions if row.result_id is not None}
        self._locations: dict[int, dict[int, str | None]] = {}  # of each block's instructions
        self.execution, self.matrices = machine.execution(self)
        self.stored = self._stored_values()

    # --- types ------------------------------------------------------------------------

    def type_of(self, identifier: int) -> Type:
        """The type of a value."""
        return self.flat.type_of(identifier)

    def result_type(self, row: Instruction) -> Type:
        """The type of an instruction's result."""
        assert row.type_id is not None
        return self.types[row.type_id]

    def pointee(self, pointer: int) -> Type:
        """What a pointer points to."""
        return self.flat.pointee(pointer)

    def constant_of(self, identifier: int) -> int | None:
        """The value of an integer constant (unsigned where its type has no sign), or None."""
        return self.flat.constant_of(identifier)

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

    def location_of(self, block: int) -> str | None:
        """The first source line of a block."""
        rows = self.flat.blocks[block].instructions
        return next((line_text(self.module, row) for row in rows if row.opcode == Op.Line), None)

    def lane_number(self, llvm: str = "i32") -> Number:
        """Each work-item's position in its sub-group."""
        return self.execution.lane_number(llvm)

    # --- values by id -----------------------------------------------------------------

    def value(self, identifier: int) -> Value:
        """The leaves of a value."""
        row = self.flat.definition(identifier)
        home = self.homes.get(identifier)
        if home is None:
            return self._global_value(identifier, row)
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

    def zero_value(self, kind: Type) -> Value:
        """The value of a type whose bits are all zero."""
        return tuple(self.matrices.fill(leaf.kind, zero_of(llvm_type(leaf.kind.component)))
                     if isinstance(leaf.kind, MatrixType)
                     else Number(llvm_type(leaf.kind), zero_of(llvm_type(leaf.kind))) for leaf in leaves_of(kind))

    def _is_direct(self, home: int, here: int) -> bool:
        return home == here or self.execution.dominates(home, here)

    def _stored_values(self) -> set[int]:
        """The values that other blocks take from slots: those whose block need not have run before."""
        found: set[int] = set()
        reached = set(self.execution.order)
        for number, block in enumerate(self.flat.blocks):
            if number not in reached:
                continue
            for row in block.instructions:
                if row.opcode != Op.Phi:
                    self._note_uses(row.ids(), number, found)
                    continue
                for used, label in zip(row.words[::2], row.words[1::2], strict=True):
                    source = self.block_numbers.get(label)  # phis take their values at the ends of other blocks
                    if source in reached:
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

    def _global_value(self, identifier: int, row: Instruction) -> Value:
        """A constant, a parameter, or a variable of the module."""
        if identifier not in self.constants:
            if row.type_id is None or row.opcode == Op.Function:
                raise ValidationError("operand-value", f"%{identifier} ({row.name}) is not a value of this function",
                                      row.offset)
            with self.writer.in_entry():
                found = self._handled(row)
            if found is None:
                raise ValidationError("operand-value", f"%{identifier} ({row.name}) is not a value", row.offset)
            self.constants[identifier] = found
        return self.constants[identifier]

    # --- slots ------------------------------------------------------------------------

    def load_slots(self, key: Any, kinds: Sequence[LeafType]) -> Value:
        """What was stored for ``key``, a value with these leaves."""
        return tuple(self.load_slot((key, place), one.kind) for place, one in enumerate(kinds))

    def store_slots(self, key: Any, value: Value) -> None:
        """Keep a value for ``key``, of the work-items that are here."""
        for place, leaf in enumerate(value):
            self.store_slot((key, place), leaf)

    def load_slot(self, key: Any, kind: Type) -> Leaf:
        """What was stored for ``key``, a number or a matrix."""
        if isinstance(kind, MatrixType):
            return self.matrices.load_slot(key, kind)
        return self.execution.load_slot(key, llvm_type(kind))

    def store_slot(self, key: Any, leaf: Leaf) -> None:
        """Keep a number, of the work-items that are here, or a matrix."""
        if isinstance(leaf, Matrix):
            self.matrices.store_slot(key, leaf)
        else:
            self.execution.store_slot(key, leaf)

    # --- blocks -----------------------------------------------------------------------

    def emit(self) -> None:
        """Write all blocks."""
        self.execution.begin()
        for number in self.execution.order:
            self.block = number
            self.execution.enter(number)
            if number < len(self.flat.blocks):
                self._emit_block(number)
            else:
                self.execution.leave_latch()
        self.execution.finish()

    def _emit_block(self, number: int) -> None:
        block = self.flat.blocks[number]
        for row in block.instructions[:-1]:
            self.row = row
            found = self._handled(row)
            if row.result_id is not None and found is not None:
                self.values[row.result_id] = found
                if row.result_id in self.stored and row.opcode != Op.Phi:
                    self.store_slots(("value", row.result_id), found)
        self.row = block.terminator
        self._handled(block.terminator)

    def _handled(self, row: Instruction) -> Value | None:
        handler = self.machine.handlers.get(row.opcode)
        if handler is None:
            raise unsupported(row, self.machine.name)
        return handler(self, row)

    def phi_values(self, target: int) -> list[tuple[int, Value]]:
        """The phis of a block, by their ids, with the values that they get from the block that is being written."""
        label = self.flat.blocks[self.block].label
        found = []
        for row in self.flat.blocks[target].instructions:
            if row.opcode == Op.Phi:
                sources = dict(zip(row.words[1::2], row.words[::2], strict=True))
                if label not in sources:
                    raise ValidationError("phi-parents", f"OpPhi %{row.result_id} has no value for its predecessor "
                                          f"%{label}", row.offset)
                found.append((row.result_id or 0, self.value(sources[label])))
        return found


def unsupported(row: Instruction, machine: str) -> Error:
    """The error for an instruction that a machine does not have."""
    offset = f", at byte {row.offset:#x}" if row.offset is not None else ""
    return Error(f"cannot compile '{row}' for {machine}{offset}: "
                 f"{reason_against(row) or 'the target has no such instruction'}")


def as_matrix_type(kind: Type, row: Instruction) -> MatrixType:
    """The type, if it is a matrix type."""
    if not isinstance(kind, MatrixType):
        raise ValidationError("matrix-type-operands", f"{row.name} needs a cooperative matrix, not a value of type "
                              f"{kind}", row.offset)
    return kind


def uniform_text(emitter: Emitter, number: Number) -> str:
    """The operand of a number that all work-items have alike, as group operations require."""
    return number.base if number.is_single else emitter.execution.first(number)[0]
