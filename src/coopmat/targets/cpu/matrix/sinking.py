"""Large matrices that a kernel loads, or scales or converts, long before it uses them are loaded where they are used.

C that a kernel loads before its loop along K, and adds behind it, would be copied into a buffer that stays through the
loop. Behind it, it is a part of what is done to the sums (:mod:`.expressions`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from coopmat.targets.cpu.matrix.body import is_large
from coopmat.targets.cpu.matrix.fusing import writes
from coopmat.targets.cpu.matrix.operation import Convert, Load, LoadWindow, Operation, Scale
from coopmat.targets.llvm.ir_text import Function, Line

_READS = Load | LoadWindow
_SINKS = Load | LoadWindow | Scale | Convert
"""Operations that take one matrix at most, so that nothing else must be kept in their result's stead."""


class Sinking:
    """Rewrites functions. ``operations``: what calls stand for, by name."""

    def __init__(self, operations: Mapping[str, Operation]) -> None:
        self._operations = operations
        self._function = Function("", {})
        self._sources: dict[str, list[str]] = {}

    def rewrite(self, function: Function) -> None:
        """Move what can be moved, the last ones first: what they take may follow."""
        if not any(self._sinks(line) for line in function.lines):
            return
        function.name_all()
        lines = [(label, line) for label, block in function.blocks.items() for line in block.lines
                 if self._sinks(line)]
        self._function = function
        self._sources = {label: [] for label in function.blocks}
        for label, block in function.blocks.items():
            for follower in block.successors:
                self._sources[follower].append(label)
        for label, line in reversed(lines):
            self._sink(label, line)

    def _operation(self, line: Line) -> Operation | None:
        return self._operations.get(line.call.function) if line.call else None

    def _sinks(self, line: Line) -> bool:
        operation = self._operation(line)
        return isinstance(operation, _SINKS) and is_large(operation.result)

    def _sink(self, label: str, line: Line) -> None:
        """Move a line to the block of its only user, if that comes once for each time that the line does, and memory is
        the same there."""
        blocks = self._function.blocks
        users = [(place, user) for place, block in blocks.items() for user in block.lines
                 if line.result in user.text and line.result in user.used]
        if len(users) != 1 or users[0][0] == label or users[0][1].opcode == "phi":
            return
        (place, user), = users
        after = self._reached(blocks[place].successors, label)
        if place in after:
            return
        here, there = blocks[label].lines, blocks[place].lines
        between = self._reached(blocks[label].successors, label, place) & self._reaching(place, label)
        passed = [*here[here.index(line) + 1:], *there[:there.index(user)],
                  *(one for name in between - {place} for one in blocks[name].lines)]
        if isinstance(self._operation(line), _READS) and any(writes(one, self._operation(one)) for one in passed):
            return
        here.remove(line)
        there.insert(there.index(user), line)

    def _reached(self, first: Iterable[str], *ends: str) -> set[str]:
        """The blocks that come behind some, up to others."""
        return set(_walk(first, {label: block.successors for label, block in self._function.blocks.items()}, ends))

    def _reaching(self, last: str, end: str) -> set[str]:
        """The blocks that come before one, back to another."""
        return set(_walk(self._sources[last], self._sources, (end,)))


def _walk(first: Iterable[str], following: Mapping[str, Iterable[str]], ends: Iterable[str]) -> Iterator[str]:
    """The blocks that are reached from some, and not those behind the ends."""
    seen, waiting = set(ends), list(first)
    while waiting:
        label = waiting.pop()
        if label not in seen:
            yield label
            seen.add(label)
            waiting += following[label]
