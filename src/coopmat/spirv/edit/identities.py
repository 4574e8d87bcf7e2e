"""Equal types and constants of several modules: which ids mean the same.

Two of them are the same if their instructions agree in opcode, literals and decorations, and their operands
are the same in turn. Types can contain themselves through pointers, so that is decided by refining classes:
first all that agree by themselves, then split until no operand tells two members of a class apart.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

from coopmat.diagnostics import Error
from coopmat.spirv.grammar import Op, instruction
from coopmat.spirv.module import Module
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.validate.sections import CONSTANTS
from coopmat.spirv.validate.types import TYPES

Name = tuple[int, int]
"""An id of one of several modules: the module's number, and the id."""

def check_known(item: Instruction) -> None:
    """Raise Error for an unknown opcode: nobody can tell which of its words are ids."""
    if instruction(item.opcode) is None:
        raise Error(f"{item.name} is unknown here, so nobody can tell which of its words are ids: "
                    "modules with it cannot be linked")


def is_declaration(item: Instruction) -> bool:
    """Whether an instruction makes a type or a constant, or imports an instruction set."""
    return item.opcode in CONSTANTS or item.opcode in TYPES or item.opcode == Op.ExtInstImport


def classes(modules: Sequence[Module]) -> dict[Name, Name]:
    """Each type and constant → the first one that is the same."""
    items = {(number, item.result_id): item for number, module in enumerate(modules)
             for item in module.instructions if item.result_id is not None and is_declaration(item)}
    operands: dict[Name, list[Name]] = {}
    outside: dict[Name, list[Hashable]] = {}
    for name, item in items.items():
        used = [] if item.type_id is None else [item.type_id]
        used += [item.words[position] for position in item.id_places()]
        operands[name] = [(name[0], identifier) for identifier in used if (name[0], identifier) in items]
        outside[name] = [None if (name[0], identifier) in items else (name[0], identifier) for identifier in used]
    found = _numbered({name: (_own(modules[name[0]], item), tuple(outside[name])) for name, item in items.items()})
    while True:
        refined = _numbered({name: (found[name], tuple(found[used] for used in operands[name])) for name in items})
        if len(set(refined.values())) == len(set(found.values())):
            break
        found = refined
    first: dict[int, Name] = {}
    return {name: first.setdefault(number, name) for name, number in found.items()}


def _own(module: Module, item: Instruction) -> Hashable:
    """What an instruction says without its operands: opcode, literals, decorations."""
    ids = set(item.id_places())
    literals = tuple(None if position in ids else word for position, word in enumerate(item.words))
    identifier = item.result_id or 0
    members: Iterable[int] = range(len(item.words)) if item.opcode == Op.TypeStruct else ()
    return (item.opcode, literals, _sorted(module.decorations(identifier)),
            tuple(_sorted(module.member_decorations(identifier, member)) for member in members))


def _sorted(decorations: Iterable[tuple[int, tuple[int, ...]]]) -> tuple[tuple[int, tuple[int, ...]], ...]:
    return tuple(sorted((int(decoration), words) for decoration, words in decorations))


def _numbered(keys: dict[Name, Hashable]) -> dict[Name, int]:
    numbers: dict[Hashable, int] = {}
    return {name: numbers.setdefault(key, len(numbers)) for name, key in keys.items()}
