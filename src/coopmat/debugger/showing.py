"""Values in words: numbers, vectors, structures, pointers; matrices as rows and columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from coopmat.debugger.evaluation import evaluate, member_names, whole_matrices
from coopmat.debugger.items import item_at, show_item
from coopmat.debugger.points import Message
from coopmat.debugger.scope import Known, Scope
from coopmat.diagnostics import Error
from coopmat.spirv.analysis.types import (
    ArrayType,
    BoolType,
    FloatType,
    IntType,
    MatrixType,
    PointerType,
    StructType,
    Type,
    VectorType,
)
from coopmat.targets.simulator.address_space import member_offsets
from coopmat.targets.simulator.values import Array, members_of

MOST_ELEMENTS = 64
MOST_LINES = 64
Place = tuple[int, int]


@dataclass(frozen=True)
class Format:
    """How numbers are shown; ``letter``: x for hexadecimal, u without a sign, d for the decimal form."""

    letter: str = "d"


FORMATS = ("d", "u", "x")


def show(known: Known, scope: Scope, place: Place, how: Format) -> str:
    """A value of one lane in words."""
    if isinstance(known.kind, MatrixType):
        return "\n".join(matrix_lines(known, scope, place, how))
    return _shown(known, scope.at(known.value, place), scope, how)


def _shown(known: Known, value: Any, scope: Scope, how: Format) -> str:
    """A value of one lane; ``known`` tells its type, not its value."""
    kind = known.kind
    if isinstance(kind, StructType):
        names = member_names(known, scope)
        ids = scope.module.definition(known.type_id).words if known.type_id else (None,) * len(names)
        parts = [f"{name} = {_shown(replace(known, kind=member, type_id=type_id), part, scope, how)}" for
                 name, member, type_id, part in zip(names, kind.members, ids, value, strict=True)]
        return f"{{{', '.join(parts)}}}"
    if isinstance(kind, ArrayType):
        type_id = scope.module.definition(known.type_id).words[0] if known.type_id else None
        element = replace(known, kind=kind.element, type_id=type_id)
        parts = [_shown(element, part, scope, how) for part in value[:MOST_ELEMENTS]]
        more = [f"… {kind.length - MOST_ELEMENTS} more"] if kind.length > MOST_ELEMENTS else []
        return f"{{{', '.join(parts + more)}}}"
    if isinstance(kind, VectorType):
        return f"({', '.join(number(part, kind.component, known.is_unsigned, how) for part in value)})"
    if isinstance(kind, MatrixType):
        return f"a {kind}"
    if isinstance(kind, PointerType):
        return pointer_text(int(value), kind, scope)
    return number(value, kind, known.is_unsigned, how)


def number(value: Any, kind: Type, is_unsigned: bool, how: Format) -> str:
    """A scalar in words."""
    if isinstance(kind, BoolType):
        return "true" if value else "false"
    if how.letter == "x":
        return f"0x{int.from_bytes(np.asarray(value).tobytes(), 'little'):0{2 * kind.size}x}"
    if isinstance(kind, FloatType):
        return str(value)
    if isinstance(kind, IntType) and (is_unsigned or how.letter == "u"):
        return str(int(value) & (1 << kind.width) - 1)
    return str(int(value))


def pointer_text(address: int, kind: PointerType, scope: Scope) -> str:
    """Where a pointer leads."""
    if address == 0:
        return "null"
    return scope.frame.memory.describe(address, scope.target(kind).size)


def message_text(message: Message, scope: Scope, place: Place) -> str:
    """A breakpoint's message with the values of one lane; what has none is shown as the error."""
    texts = []
    for part in message.parts:
        try:
            texts.append(part if isinstance(part, str) else
                         show(scope.load(evaluate(part, scope)), scope, place, Format()))
        except Error as error:
            texts.append(f"<{error}>")
    return "".join(texts)


def show_bytes(known: Known, scope: Scope, content: bytes) -> str:
    """The bytes of a value in memory, in words."""
    return _shown(known, _unpacked(known.kind, np.frombuffer(content, np.uint8)), scope, Format())


def _unpacked(kind: Type, content: Array) -> Any:
    members = members_of(kind)
    if members is not None:
        return tuple(_unpacked(member, content[offset:offset + member.size])
                     for member, offset in zip(members, member_offsets(kind), strict=True))
    values = content[:kind.count * kind.dtype.itemsize].view(kind.dtype)
    return values if isinstance(kind, VectorType) else values[0]


# ------------------------------------------------------------------------- many work-items


def lines_of_all(known: Known, scope: Scope, how: Format) -> list[str]:
    """A line for each run of work-items that have the same value."""
    runs: list[tuple[str, Place, Place, int]] = []
    for sub_group, lane in np.argwhere(scope.lanes):
        place = int(sub_group), int(lane)
        text = _shown(known, scope.at(known.value, place), scope, how)
        if runs and runs[-1][0] == text:
            runs[-1] = text, runs[-1][1], place, runs[-1][3] + 1
        else:
            runs.append((text, place, place, 1))
    lines = []
    for text, first, last, count in runs[:MOST_LINES]:
        ends = " to ".join(dict.fromkeys(show_item(item_at(scope.frame.batch, *place)) for place in (first, last)))
        lines.append(f"{ends}: {text}" if count > 1 or first == last else text)
    if len(runs) > MOST_LINES:
        lines.append(f"… {len(runs) - MOST_LINES} more: name one with @X,Y,Z")
    return lines


# ------------------------------------------------------------------------- matrices


def matrix_of(known: Known, scope: Scope, place: Place) -> Array:
    """The matrix that a lane has a share of: an array of its type, ``[rows, columns]``."""
    if not isinstance(known.kind, MatrixType):
        raise Error(f"this is no matrix but a value of type {known.kind}")
    whole = whole_matrices(known.kind, known.value, scope)
    return np.asarray(whole[min(place[0], len(whole) - 1)])


def matrix_lines(known: Known, scope: Scope, place: Place, how: Format) -> list[str]:
    """The matrix of a lane's group, rows and columns numbered."""
    kind = known.kind
    assert isinstance(kind, MatrixType)
    cells = [[number(value, kind.component, known.is_unsigned, how) for value in row]
             for row in matrix_of(known, scope, place)]
    return grid(f"{kind}", cells)


def owner_lines(known: Known, scope: Scope) -> list[str]:
    """Which lane, and which component of it, holds each element."""
    kind = known.kind
    if not isinstance(kind, MatrixType):
        raise Error(f"this is no matrix but a value of type {kind}")
    who = "work-item of the work-group" if kind.is_of_work_group else "lane"
    return grid(f"{kind}, {who} and component", owner_names(kind))


def owner_names(kind: MatrixType) -> list[list[str]]:
    """The lane of each element, or the work-item in its work-group, and the component: ``3.7``."""
    lanes, components = kind.layout.owner
    return [[f"{lane}.{component}" for lane, component in zip(*row, strict=True)]
            for row in zip(lanes.tolist(), components.tolist(), strict=True)]


def grid(title: str, cells: Sequence[Sequence[str]]) -> list[str]:
    """Cells in columns of one width, under a title."""
    width = max(len(text) for row in cells for text in row)
    width = max(width, len(str(len(cells[0]) - 1)))
    side = len(str(len(cells) - 1))
    head = " ".join(f"{column:>{width}}" for column in range(len(cells[0])))
    return [title, f"{'':{side}}  {head}",
            *(f"{row:>{side}}: {' '.join(f'{text:>{width}}' for text in texts)}".replace(": ", "  ", 1)
              for row, texts in enumerate(cells))]
