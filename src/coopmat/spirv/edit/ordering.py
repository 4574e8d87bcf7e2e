"""The order of a module's declarations: each id before its uses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from coopmat.spirv.grammar import Op
from coopmat.spirv.module.instruction import Instruction

LINES = frozenset({Op.Line, Op.NoLine})


def ordered(items: Sequence[Instruction]) -> list[Instruction]:
    """Declarations, each behind those that it uses; forward pointers first, and lines with what follows them."""
    forward = {item.words[0]: item for item in items if item.opcode == Op.TypeForwardPointer}
    groups: list[list[Instruction]] = []
    lines: list[Instruction] = []
    for item in items:
        if item.opcode in LINES:
            lines.append(item)
        elif item.opcode != Op.TypeForwardPointer:
            groups.append([*lines, item])
            lines = []
    makers: dict[int | None, int] = {group[-1].result_id: index for index, group in enumerate(groups)
                                     if group[-1].result_id is not None}
    order: list[Instruction] = list(forward.values())
    for index in _dependencies_first(groups, makers, forward):
        order += groups[index]
    return order


def _dependencies_first(groups: Sequence[Sequence[Instruction]], makers: Mapping[int | None, int],
                        forward: Mapping[int, Instruction]) -> Iterator[int]:
    seen: set[int] = set()
    for start in range(len(groups)):
        stack = [] if start in seen else [(start, _needs(groups[start][-1], makers, forward))]
        seen.add(start)
        while stack:
            index, needs = stack[-1]
            following = next((need for need in needs if need not in seen), None)
            if following is None:
                stack.pop()
                yield index
            else:
                seen.add(following)
                stack.append((following, _needs(groups[following][-1], makers, forward)))


def _needs(item: Instruction, makers: Mapping[int | None, int], forward: Mapping[int, Instruction]) -> Iterator[int]:
    """The declarations that an instruction uses; a structure may use pointers that come later."""
    is_structure = item.opcode == Op.TypeStruct
    return (makers[used] for used in item.ids() if used in makers and not (is_structure and used in forward))

