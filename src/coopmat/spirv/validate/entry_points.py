"""The entry points of a module."""

from __future__ import annotations

from dataclasses import dataclass

from coopmat.spirv.grammar import Op
from coopmat.spirv.validate.arrays import ModuleArrays


@dataclass(frozen=True)
class EntryPoint:
    """An OpEntryPoint: its index, execution model, function, name, and the ids of its interface."""

    index: int
    model: int
    function: int
    name: str
    interface: tuple[int, ...]


def entry_points(view: ModuleArrays) -> list[EntryPoint]:
    """The entry points in order: those of functions that are known, with what is known of their interface (an
    instruction that the tables do not know may define the rest)."""
    found = []
    for index, item in view.of_opcode(Op.EntryPoint):
        name, *interface = item.operands[2:]
        if view.is_defined(item.words[1]) and view.definition(item.words[1]).opcode == Op.Function:
            ids = (int(operand.value) for operand in interface)
            found.append(EntryPoint(index, item.words[0], item.words[1], str(name.value),
                                    tuple(identifier for identifier in ids if view.is_defined(identifier))))
    return found
