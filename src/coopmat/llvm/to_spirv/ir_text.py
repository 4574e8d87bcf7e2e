"""LLVM IR as LLVM prints it, an instruction to a line: its values, its types, and the operands of a line."""

from __future__ import annotations

import re
from collections.abc import Iterator

VALUE = r'%(?:"[^"]*"|[-\w.$]+)'
"""A local value, as a pattern."""
SYMBOL = r'@(?:"[^"]*"|[-\w.$]+)'
"""A function or a global variable."""
POINTER = r"ptr(?: addrspace\(\d+\))?"

_DEFINITION = re.compile(rf"^({VALUE}) = type (.*)$", re.MULTILINE)
_NAME = re.compile(VALUE)
_MATRIX = 'target("spirv.CooperativeMatrixKHR"'
_BRACKETS = {"(": ")", "[": "]", "{": "}", "<": ">"}
_TOKEN = re.compile(r'"[^"]*"|[()\[\]{}<>]|,|[^"()\[\]{}<>,]+')
_ARRAY = re.compile(r"\[(\d+) x (.*)\]")
_STRUCTURE = re.compile(r"<?\{(.*)\}>?")
_ATTRIBUTE = re.compile(r"(?:align \d+|(?!(?:splat|getelementptr|inttoptr|ptrtoint|addrspacecast|bitcast)\b)"
                        r"[a-z_]+(?:\((?:[^()]|\([^()]*\))*\))?) ")


def split_list(text: str) -> tuple[list[str], str]:
    """The items of a list up to the bracket that closes it, and what follows that bracket; all, of a list that is not
    closed."""
    items, depth, end = [""], 0, 0
    for match in _TOKEN.finditer(text):
        token, end = match.group(), match.end()
        depth += (token in _BRACKETS) - (token in _BRACKETS.values())
        if depth < 0:
            break
        if token == "," and not depth:
            items.append("")
        else:
            items[-1] += token
    return [item.strip() for item in items if item.strip()], text[end:]


def split_type(text: str) -> tuple[str, str]:
    """The type that a text begins with, and what follows it."""
    pointer = re.match(POINTER, text)
    if pointer is not None:
        return pointer.group(), text[pointer.end():].lstrip()
    depth = 0
    for match in _TOKEN.finditer(text):
        token = match.group()
        space = -1 if token.startswith('"') else token.find(" ")
        if not depth and (token == "," or space >= 0):
            end = match.start() + max(space, 0)
            return text[:end], text[end:].lstrip()
        depth += (token in _BRACKETS) - (token in _BRACKETS.values())
    return text, ""


def split_operand(text: str) -> tuple[str, str]:
    """Type and value of an operand or an argument, without the attributes between them."""
    type_, value = split_type(text)
    while (attribute := _ATTRIBUTE.match(value)) is not None:
        value = value[attribute.end():]
    return type_, value


def operands(text: str) -> list[str]:
    """The operands that a text lists, up to the bracket that closes it, if there is one."""
    return split_list(text)[0]


def functions(ir: str) -> Iterator[list[str]]:
    """The lines of IR, those of each function together with what stands before it."""
    part: list[str] = []
    for line in ir.split("\n"):
        part.append(line)
        if line == "}":
            yield part
            part = []
    yield part


def values_in(line: str) -> Iterator[str]:
    """The local values, labels and named types that a line mentions."""
    return (match.group() for match in _NAME.finditer(line))


class Types:
    """The types of a module."""

    def __init__(self, ir: str) -> None:
        self._definitions: dict[str, str] = dict(_DEFINITION.findall(ir))
        self._with_matrix: dict[str, bool] = {}

    def holds_matrix(self, type_: str) -> bool:
        """Whether a type is a cooperative matrix, or has one in it."""
        if _MATRIX in type_:
            return True
        return any(self._names_matrix(name) for name in values_in(type_))

    def _names_matrix(self, name: str) -> bool:
        if name not in self._with_matrix:
            self._with_matrix[name] = False  # of a type within itself
            self._with_matrix[name] = self.holds_matrix(self._definitions.get(name, ""))
        return self._with_matrix[name]

    def part(self, type_: str, index: int) -> str | None:
        """The type of a member of a structure or of an element of an array; None where there is none."""
        members, count = self.parts(type_)
        if not 0 <= index < count:
            return None
        return members[index] if len(members) == count else members[0]

    def parts(self, type_: str) -> tuple[list[str], int]:
        """The types of a structure's members, or the one of an array's elements, and how many there are."""
        type_ = self._definitions.get(type_, type_)
        array = _ARRAY.fullmatch(type_)
        if array is not None:
            return [array.group(2)], int(array.group(1))
        structure = _STRUCTURE.fullmatch(type_)
        members = operands(structure.group(1)) if structure is not None else []
        return members, len(members)


def is_matrix(type_: str) -> bool:
    """Whether a type is a cooperative matrix."""
    return type_.startswith(_MATRIX)
