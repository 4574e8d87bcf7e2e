"""Built-in variables as places: their values are computed at the kernel's start."""

from __future__ import annotations

from coopmat.diagnostics import Error
from coopmat.spirv.analysis.types import IntType, Type
from coopmat.spirv.grammar import BuiltIn, Decoration, Op
from coopmat.spirv.module.instruction import Instruction
from coopmat.targets.llvm.arithmetic.integers import resized
from coopmat.targets.llvm.emitter import Emitter
from coopmat.targets.llvm.lanes import Numbers
from coopmat.targets.llvm.place import SlotPlace
from coopmat.targets.llvm.values import llvm_type


def find_place(emitter: Emitter, pointer: int) -> SlotPlace | None:
    """The place that a pointer is known to point to; built-in inputs are places, too."""
    found = emitter.places.get(pointer)
    if found is None:
        row = emitter.flat.definition(pointer)
        if row.opcode == Op.Variable and emitter.module.is_built_in(row):
            found = emitter.places[pointer] = _input_place(emitter, row)
    return found


def is_input(place: SlotPlace) -> bool:
    """Whether a place is a part of a built-in variable."""
    return isinstance(place.key, tuple) and place.key[0] == "input"


def _input_place(emitter: Emitter, row: Instruction) -> SlotPlace:
    assert row.result_id is not None
    kind = emitter.pointee(row.result_id)
    for decoration, words in emitter.module.decorations(row.result_id):
        if decoration == Decoration.BuiltIn:
            with emitter.writer.in_entry():
                for axis, number in enumerate(_numbers(emitter, words[0], kind)[:kind.count]):
                    sized = resized(emitter, number, llvm_type(kind.scalar), signed=False)
                    emitter.execution.store_slot((("input", row.result_id), axis), sized, everywhere=True)
            return SlotPlace(("input", row.result_id), kind, kind)
    raise Error(f"the input variable '{emitter.module.names.get(row.result_id)}' is no built-in")


def _numbers(emitter: Emitter, number: int, kind: Type) -> Numbers:
    """The numbers of a built-in, if there is one with this type."""
    builtin = BuiltIn(number) if number in BuiltIn._value2member_map_ else None
    found = emitter.execution.input(builtin) if builtin is not None else None
    if builtin is None or found is None:
        raise Error(f"the built-in variable {builtin.name if builtin is not None else number} is not supported")
    if kind.count not in (1, 3, 4) or not isinstance(kind.scalar, IntType):
        raise Error(f"the built-in variable {builtin.name} cannot have the type {kind}")
    return found
