"""Work-groups that would have been rounds of a loop, one after the other: whether they reach memory of their own.

Work-groups run in any order, so none may count on another one. Rounds may: a later one may read what an earlier one has
stored, or overwrite it. Where each has a window of its own in every argument that is stored to, and reads nothing else
of it, the order does not matter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from coopmat.spirv.analysis.polynomials import Atom, Polynomial, Range
from coopmat.spirv.grammar import Decoration, FunctionParameterAttribute, Op, StorageClass
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.transform.enlarge.accesses import LOADS, STORES, NotRegular, access_of
from coopmat.spirv.transform.enlarge.indices import Indices
from coopmat.spirv.transform.enlarge.matrices import no_merge
from coopmat.spirv.transform.enlarge.order import Order
from coopmat.spirv.transform.enlarge.requirements import Requirements

OVERLAP = "rounds of its loop over tiles may reach the same memory"
_NO_ALIAS = (Decoration.FuncParamAttr, (FunctionParameterAttribute.NoAlias,))


@dataclass(frozen=True)
class Window:
    """What an access reaches: so many ``lines``, of ``length`` elements each, and where that begins."""

    line: Polynomial
    along: Polynomial
    lines: int
    length: int
    stride: Polynomial


@dataclass(frozen=True)
class Apart:
    """What must hold for work-groups that are independent. windows: those of each argument that is stored to; pairs of
    arguments that may not share memory."""

    windows: tuple[tuple[Window, ...], ...]
    pairs: tuple[tuple[int, int], ...]
    requirements: Requirements

    def holds(self, arguments: Sequence[int], group_counts: Sequence[int]) -> bool:
        """Whether each work-group of such a launch has windows of its own."""
        ranges, split = self.requirements.ranges(arguments, group_counts)
        return all(_are_apart(windows, ranges, split) for windows in self.windows)


def apart(indices: Indices) -> Apart:
    """What must hold for the work-groups of a kernel. NoMerge if what it reaches is not known."""
    order = Order(indices, asks=False)
    parameters = {row.result_id or 0: place for place, row in enumerate(indices.body.parameters)}
    reached = [(row, base) for row in indices.body.rows() if row.opcode in STORES or order.reads(row)
               for base in _bases(indices, row)]
    windows: dict[int, list[Window]] = {base: [] for row, base in reached if row.opcode in STORES}
    pairs: dict[tuple[int, int], None] = {}
    for row, base in reached:
        if base not in parameters:
            raise no_merge(indices.editor, row, f"{OVERLAP}, as it is not known where this lies")
        if base in windows:
            windows[base].append(_window(indices, row))
        for one in windows.keys() - {base}:
            if not any(_NO_ALIAS in indices.editor.module.decorations(each) for each in (one, base)):
                first, second = sorted((parameters[one], parameters[base]))
                pairs[first, second] = None
    return Apart(tuple(map(tuple, windows.values())), tuple(pairs), Requirements.of(indices, tuple(indices.conditions)))


def _bases(indices: Indices, row: Instruction) -> Iterator[int]:
    """From where an instruction reads memory, or where it stores (0: not known); none for built-in values."""
    if row.opcode in LOADS + STORES or row.opcode == Op.Load:
        if indices.builtin(row) is None:
            yield indices.pointer(row.words[0])[0]
        return
    own = (StorageClass.Input, StorageClass.Function)
    if any(one.words[0] not in own for one in indices.editor.module.of_opcode(Op.Variable)):
        yield 0
    yield from (indices.pointer(word)[0] for word in row.words[2:]
                if indices.editor.type_of(word).opcode == Op.TypePointer)


def _window(indices: Indices, row: Instruction) -> Window:
    """What an access to a matrix reaches. NoMerge for other ones."""
    if row.opcode not in LOADS + STORES:
        raise no_merge(indices.editor, row, f"{OVERLAP}: this reads, not as a matrix, what is stored")
    try:
        access = access_of(indices, row)
    except NotRegular as reason:
        raise no_merge(indices.editor, row, str(reason)) from None
    kind = indices.editor.type_of(access.matrix)
    rows, columns = (indices.editor.integer(word) or 0 for word in kind.words[2:4])
    rows, columns = access.in_memory(rows, 0), access.in_memory(columns, 1)
    lines, length = (rows, columns) if access.by_rows else (columns, rows)
    return Window(access.line, access.along, lines, length, indices.of(access.stride))


def _are_apart(windows: Sequence[Window], ranges: Mapping[Atom, Range], split: Mapping[Atom, Polynomial]) -> bool:
    """Whether work-groups have boxes of their own, around all windows of an argument: whether the places of elements
    are numbers of several digits (of the position, the line, and along it), of which no two are the same."""
    boxes = [_box(one, ranges, split) for one in windows]
    found = [one for one in boxes if one is not None]
    if len(found) < len(boxes) or len({(box.stride, box.steps) for box in found}) != 1:
        return False
    lines, length = (max(box.ends[place] for box in found) - min(box.starts[place] for box in found)
                     for place in range(2))
    counts = [1 + ranges[atom][1] for atom in _positions(ranges)]
    digits = [(1, length), (found[0].stride, lines), *zip(map(abs, found[0].steps), counts, strict=True)]
    most = 0
    for weight, count in sorted(digits):
        if count > 1 and weight <= most:
            return False
        most += weight * (count - 1)
    return True


@dataclass(frozen=True)
class _Box:
    """Where a window lies at position zero, with its ends: lines, and along them. steps: by how many elements it moves
    for each step of a position."""

    stride: int
    steps: tuple[int, ...]
    starts: tuple[int, int]
    ends: tuple[int, int]


def _box(window: Window, ranges: Mapping[Atom, Range], split: Mapping[Atom, Polynomial]) -> _Box | None:
    """The box of a window; None if it depends on what is not known."""
    positions = dict.fromkeys(_positions(ranges), Polynomial())
    whole = (window.line * window.stride + window.along).replaced(split)
    numbers = [_only(window.stride, ranges), *(_only(whole.coefficient(atom), ranges) for atom in positions)]
    places = [part.replaced(split).replaced(positions).range(ranges) for part in (window.line, window.along)]
    if any(number is None for number in numbers) or any(place is None for place in places):
        return None
    stride, *steps = (number or 0 for number in numbers)
    (line, last_line), (along, last_along) = (place or (0, 0) for place in places)
    return _Box(stride, tuple(steps), (line, along), (last_line + window.lines, last_along + window.length))


def _positions(ranges: Mapping[Atom, Range]) -> list[Atom]:
    return [atom for atom in ranges if atom.kind in ("outer", "inner")]


def _only(value: Polynomial | None, ranges: Mapping[Atom, Range]) -> int | None:
    """What a number is that is always the same."""
    found = None if value is None else value.range(ranges)
    return found[0] if found is not None and found[0] == found[1] else None
