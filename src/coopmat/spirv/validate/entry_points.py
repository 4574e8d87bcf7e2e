"""The entry points of a module."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from coopmat.spirv.grammar import Op

if TYPE_CHECKING:
    from coopmat.spirv.validate.view import ModuleView


@dataclass(frozen=True)
class EntryPoint:
    """An OpEntryPoint: its index, execution model, function, name, and the ids of its interface."""

    index: int
    model: int
    function: int
    name: str
    interface: tuple[int, ...]


def entry_points(view: ModuleView) -> list[EntryPoint]:
    """The entry points in order."""
    found = []
    for index, item in view.of_opcode(Op.EntryPoint):
        name, *interface = item.operands[2:]
        found.append(EntryPoint(index, item.words[0], item.words[1], str(name.value),
                                tuple(int(operand.value) for operand in interface)))
    return found
