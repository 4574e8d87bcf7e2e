"""The words of a message: what an instruction, a type and an id look like in it."""

from __future__ import annotations

import re

from coopmat.spirv.grammar import Op, instruction
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.text.lines import instruction_to_text
from coopmat.spirv.validate.types import SCALARS
from coopmat.spirv.validate.view import ModuleView

_FIELD = re.compile(r"(id|type|pointee|word|def|declared|named)(\d+)")
_IN_MESSAGE = re.compile(r"\{(op|id|type|result_pointee|(?:id|type|pointee|word|def|declared|named)\d{1,10})\}")


MOST_PARTS = 16
"""Types of more parts are not shown in full."""


class Fields(dict[str, str]):
    """The fields that a message about one instruction may hold, made on demand.

    ``{op}``: its name; ``{id}``: its result id; ``{type}``: its result type; with the place of an operand
    word behind: ``{id0}`` that word as an id, ``{type0}`` the type of the value with this id, ``{pointee0}``
    what that type points to, ``{word0}`` the number, ``{def0}`` the instruction that defines the id.
    ``{declared7}`` is the type whose id is 7, ``{named7}`` the id 7.  An id that has a name is followed by it:
    ``%5[%uint]``.
    """

    def __init__(self, view: ModuleView, index: int) -> None:
        super().__init__()
        self.view = view
        self.item = view.items[index]
        self.first = int(view.start[index] - view.word_start[index])
        inner = instruction(int(view.operation[index])) if view.opcode[index] == Op.SpecConstantOp else None
        self.name = self.item.name if inner is None else f"{self.item.name} {inner.opcode.spelling}"

    def fill(self, message: str) -> str:
        """A message with its fields filled in; other braces, as in the names of a module, stay."""
        return _IN_MESSAGE.sub(lambda found: self[found[1]], message)

    def __missing__(self, key: str) -> str:
        if key == "op":
            return self.name
        if key == "id":
            return self._id(self.item.result_id or 0)
        if key == "type":
            return self._type(self.item.type_id or 0)
        if key == "result_pointee":
            return self._pointee(self.item.type_id or 0)
        match = _FIELD.fullmatch(key)
        if match is None:
            raise KeyError(key)
        if match[1] == "declared":
            return self._type(int(match[2]))
        if match[1] == "named":
            return self._id(int(match[2]))
        place = self.first + int(match[2])
        if place >= len(self.item.words):
            return "nothing"
        return self._operand(match[1], self.item.words[place])

    def _operand(self, what: str, word: int) -> str:
        if what == "word":
            return str(word)
        if what == "id":
            return self._id(word)
        definition = self._definition(word)
        if what == "def":
            return self._shown_definition(word, definition)
        type_id = definition.type_id if definition is not None else None
        if type_id is None:
            return f"{self._id(word)}, which has no type"
        return self._type(type_id) if what == "type" else self._pointee(type_id)

    def _definition(self, identifier: int) -> Instruction | None:
        return self.view.module._definitions.get(identifier)

    def _id(self, identifier: int) -> str:
        name = self.view.names.name(identifier)
        return f"%{identifier}[%{name}]" if name != str(identifier) else f"%{identifier}"

    def _shown_definition(self, identifier: int, definition: Instruction | None) -> str:
        if definition is None:
            return self._id(identifier)
        value = self.view.constant(identifier)
        return f"{self._id(identifier)} ({definition.name}{'' if value is None else f' {value}'})"

    def _type(self, type_id: int) -> str:
        declaration = self._definition(type_id)
        return self._id(type_id) + (f" ({self._declaration(declaration)})" if declaration is not None else "")

    def _declaration(self, item: Instruction) -> str:
        """A type's declaration without its result id, a vector's or matrix's with its components and sizes."""
        if item.opcode in (Op.TypeVector, Op.TypeCooperativeMatrixKHR):
            component = self._definition(item.words[0])
            if component is not None and component.opcode in SCALARS:
                return f"{_sizes(self.view, item)} {_declaration(component)}"
        return _declaration(item)

    def _pointee(self, type_id: int) -> str:
        declaration = self._definition(type_id)
        if declaration is None or len(declaration.words) < 2:
            return self._id(type_id)
        return self._type(declaration.words[1])


def _sizes(view: ModuleView, item: Instruction) -> str:
    """The size of a vector, or the sizes, use and scope of a cooperative matrix, before the type of a component."""
    if item.opcode == Op.TypeVector:
        return f"{item.words[1]} x"
    scope, rows, columns, use = (view.constant(word) for word in item.words[1:5])
    sizes = " x ".join("?" if size is None else str(size) for size in (rows, columns))
    return f"{sizes} matrix of use {'?' if use is None else use}, scope {'?' if scope is None else scope}, of"


def _declaration(item: Instruction) -> str:
    """A type's declaration without its result id; of one with many parts, only how many these are."""
    if len(item.words) > MOST_PARTS:
        return f"{item.name} of {len(item.words)} parts"
    text = instruction_to_text(item)
    return text.partition("= ")[2] or text
