"""What depends on the work-item's number in its sub-group: numbers and conditions, computed once where a function
begins, and the moves of data between work-items."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from coopmat.devices.lane_layout import Indices
from coopmat.spirv.edit.functions import FunctionEditor
from coopmat.spirv.grammar import BuiltIn, Decoration, Op, Scope, StorageClass
from coopmat.spirv.module.instruction import Instruction, make
from coopmat.spirv.transform.goal import Moves
from coopmat.spirv.transform.matrices.layout import Chosen

_WORD = 32
_SHIFTS = range(-5, 6)


def input_variable(editor: FunctionEditor, built_in: BuiltIn) -> int:
    """The Input variable with a number of the work-item, in the interface of every kernel."""
    variable = next((row.words[0] for row in editor.head if row.opcode == Op.Decorate
                     and row.words[1:] == (Decoration.BuiltIn, built_in)), None)
    if variable is None:
        pointer = editor.type_pointer(StorageClass.Input, editor.unique(Op.TypeInt, _WORD, 0))
        row = editor.row(Op.Variable, pointer, StorageClass.Input)
        editor.head.append(row)
        variable = row.result_id or 0
        editor.annotate([make(Op.Decorate, variable, Decoration.BuiltIn, built_in)])
    add_to_interfaces(editor, variable)
    return variable


def add_to_interfaces(editor: FunctionEditor, variable: int) -> None:
    """Name a variable in the interface of every kernel."""
    for place, row in enumerate(editor.head):
        if row.opcode == Op.EntryPoint and variable not in _interface(row):
            editor.head[place] = Instruction(row.opcode, None, None, (*row.words, variable), row.offset, row.context)


def _interface(row: Instruction) -> tuple[int, ...]:
    """The variables in the interface of an entry point: what stands behind its name."""
    return tuple(row.words[place] for place in row.id_places()[1:])


@dataclass
class Lanes:
    """The work-items of a sub-group, seen by one function. ``start`` are instructions for its beginning."""

    editor: FunctionEditor
    size: int
    variable: int
    sub_group: int
    moves: Moves
    start: list[Instruction] = field(default_factory=list)
    known: dict[object, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.uint = self.editor.unique(Op.TypeInt, _WORD, 0)
        self.bool = self.editor.unique(Op.TypeBool)

    def number(self, value: int) -> int:
        """A constant of 32 bits."""
        return self.editor.constant(value & 0xFFFFFFFF)

    def _let(self, op: Op, type_id: int, *words: int) -> int:
        """An instruction at the beginning, the only one with these operands."""
        key = (op, type_id, *words)
        if key not in self.known:
            row = self.editor.row(op, type_id, *words)
            self.start.append(row)
            self.known[key] = row.result_id or 0
        return self.known[key]

    @property
    def lane(self) -> int:
        """The work-item's number, of 32 bits."""
        return self._loaded(self.variable)

    @property
    def start_in_work_group(self) -> int:
        """How many work-items the sub-groups before this one have."""
        return self._let(Op.IMul, self.uint, self._loaded(self.sub_group), self.number(self.size))

    def _loaded(self, variable: int) -> int:
        found = self._let(Op.Load, self.editor.definition(self.editor.definition(variable).type_id or 0).words[1],
                          variable)
        type_id = self.editor.definition(found).type_id or 0
        return found if type_id == self.uint else self._let(Op.UConvert, self.uint, found)

    # --- numbers and conditions that differ from work-item to work-item -----------------

    def index(self, numbers: Indices) -> int:
        """The id of ``numbers[lane]``, of 32 bits."""
        numbers = np.asarray(numbers)
        least = int(numbers[0])
        if (numbers == least).all():
            return self.number(least)
        found = self._part(numbers - least)
        if found is not None:
            return self._let(Op.IAdd, self.uint, found, self.number(least)) if least else found
        assert numbers.min() >= 0
        return self._from_bits(numbers)

    def _part(self, numbers: Indices) -> int | None:
        """Some bits of the work-item's number, shifted."""
        lanes = np.arange(self.size)
        for shift in sorted(_SHIFTS, key=abs):
            mask = sum(bit for bit in (1 << place for place in range(self.size.bit_length() - 1)) if numbers[bit])
            moved = (lanes & mask) << shift if shift >= 0 else (lanes & mask) >> -shift
            if (moved == numbers).all():
                bits = self.lane if mask == self.size - 1 else self._let(Op.BitwiseAnd, self.uint, self.lane,
                                                                         self.number(mask))
                return self._shifted(bits, shift)
        return None

    def _shifted(self, value: int, shift: int) -> int:
        if shift == 0:
            return value
        op = Op.ShiftLeftLogical if shift > 0 else Op.ShiftRightLogical
        return self._let(op, self.uint, value, self.number(abs(shift)))

    def _from_bits(self, numbers: Indices) -> int:
        """Any numbers, bit by bit."""
        found = self.number(0)
        for bit in range(int(numbers.max()).bit_length()):
            one = self._shifted(self._bit((numbers >> bit & 1).astype(np.bool_)), bit)
            found = one if bit == 0 else self._let(Op.BitwiseOr, self.uint, found, one)
        return found

    def _bit(self, chosen: Chosen) -> int:
        """1 in some work-items, 0 in the others."""
        words = [sum(1 << place for place, one in enumerate(chosen[start:start + _WORD]) if one)
                 for start in range(0, self.size, _WORD)]
        if len(set(words)) == 1:
            word = self.number(words[0])
        else:
            upper = self._let(Op.UGreaterThanEqual, self.bool, self.lane, self.number(_WORD))
            word = self._let(Op.Select, self.uint, upper, self.number(words[1]), self.number(words[0]))
        place = self.lane if self.size <= _WORD else self._let(Op.BitwiseAnd, self.uint, self.lane,
                                                               self.number(_WORD - 1))
        return self._let(Op.BitwiseAnd, self.uint, self._let(Op.ShiftRightLogical, self.uint, word, place),
                         self.number(1))

    def flag(self, chosen: Chosen) -> int:
        """The id of a bool: whether this work-item is one of some."""
        chosen = np.asarray(chosen, np.bool_)
        if chosen.all() or not chosen.any():
            return self.editor.unique(Op.ConstantTrue if chosen[0] else Op.ConstantFalse, type_id=self.bool)
        return self._let(Op.INotEqual, self.bool, self._bit(chosen), self.number(0))

    @property
    def scope(self) -> int:
        """The constant for the scope of a sub-group."""
        return self.number(Scope.Subgroup)



    def parts(self, numbers: Indices, type_id: int) -> tuple[int | None, int]:
        """``numbers[lane]`` as what differs between work-items, of an integer type, and a constant to add to it."""
        numbers = np.asarray(numbers)
        least = int(numbers[0])
        if (numbers == least).all():
            return None, least
        if self._part(numbers - least) is None:
            least = 0
        found = self.index(numbers - least)
        return found if type_id == self.uint else self._let(Op.UConvert, type_id, found), least
