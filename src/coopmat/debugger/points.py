"""Breakpoints and watchpoints, and what the engine tells when one of them stops the kernel."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass, field

from coopmat.debugger.code import Code, Line
from coopmat.debugger.expressions import Node, parse
from coopmat.debugger.items import Item, show_item
from coopmat.diagnostics import Error
from coopmat.targets.simulator.values import Array

_COMPARED: dict[str, Callable[[int, int], bool]] = {
    "==": operator.eq, ">=": operator.ge, ">": operator.gt, "<=": operator.le, "<": operator.lt,
    "%": lambda hits, number: hits % number == 0}


@dataclass(frozen=True)
class Hits:
    """Which hits of a point stop: ``== 5``, ``>= 5``, ``> 5``, ``<= 5``, ``< 5``, and ``% 5``, each fifth one."""

    sign: str
    number: int

    @staticmethod
    def parse(text: str) -> Hits:
        """A condition in words; a number alone is one hit. Error for anything else."""
        match = re.fullmatch(r"\s*(==|>=|>|<=|<|%)?\s*(\d{1,9})\s*", text)
        if match is None or (match[1] == "%" and not int(match[2])):
            raise Error(f"which hits stop is a number, or {', '.join(_COMPARED)} and a number, such as >= 5 or % 2; "
                        f"found '{text.strip()}'")
        return Hits(match[1] or "==", int(match[2]))

    def hold(self, hits: int) -> bool:
        """Whether the hit of this number, from 1, stops."""
        return _COMPARED[self.sign](hits, self.number)

    def __str__(self) -> str:
        return f"{self.sign} {self.number}"


@dataclass(frozen=True)
class Message:
    """What a breakpoint prints: texts, and expressions, which stand in braces; ``{{`` and ``}}`` are braces."""

    parts: tuple[str | Node, ...]

    @staticmethod
    def parse(text: str) -> Message:
        """Error for braces without an expression."""
        parts: list[str | Node] = []
        for match in re.finditer(r"\{\{|\}\}|\{([^{}]*)\}|[^{}]+|[{}]", text):
            if match[1] is not None:
                parts.append(parse(match[1]))
            elif match[0] in "{}":
                raise Error(f"expressions of a message stand in {{ and }}, and {{{{ is a brace; found '{text}'")
            else:
                parts.append(match[0][:1] if match[0] in ("{{", "}}") else match[0])
        return Message(tuple(parts))

    def __str__(self) -> str:
        return "".join(f"{{{part}}}" if isinstance(part, Node) else re.sub(r"([{}])", r"\1\1", part)
                       for part in self.parts)


@dataclass(eq=False)
class Point:
    """What may stop a kernel. ``condition`` holds for the work-items that are stopped, ``stops_at`` tells which hits
    stop, all if it is None. ``hits`` counts those of the run up to where the kernel stands, after ``since``: the
    instruction at which the point was set, or an earlier one that was gone back to."""

    number: int
    condition: Node | None = field(default=None, kw_only=True)
    stops_at: Hits | None = field(default=None, kw_only=True)
    hits: int = field(default=0, kw_only=True)
    since: int = field(default=0, kw_only=True)

    def hit(self, clock: int) -> bool:
        """Count a hit; whether it stops."""
        if clock > self.since:
            self.hits += 1
        return self.stops_at is None or (clock > self.since and self.stops_at.hold(self.hits))

    def _when(self) -> str:
        condition = f", if {self.condition}" if self.condition is not None else ""
        return condition + (f", at hits {self.stops_at}" if self.stops_at is not None else "")


@dataclass(eq=False)
class Breakpoint(Point):
    """Stops work-items before a line, or at the start of a function; one with a ``message`` prints it and does not
    stop."""

    line: Line | None = None
    function: str | None = None
    item: Item | None = None
    is_temporary: bool = False
    message: Message | None = None

    def __str__(self) -> str:
        place = str(self.line) if self.function is None else f"{self.function} ({self.line})"
        item = f", for work-item {show_item(self.item)}" if self.item is not None else ""
        message = f": {self.message}" if self.message is not None else ""
        name = "breakpoint" if self.message is None else "message"
        return f"{'temporary ' * self.is_temporary}{name} at {place}{item}{self._when()}{message}"


@dataclass(eq=False)
class Watchpoint(Point):
    """Stops after a write that changes an element: of memory (``buffer``, ``offset`` in its bytes, all instances
    included), or, where ``buffer`` is None, of a variable that has no address, in one activation of its function."""

    expression: Node
    item: Item
    buffer: int | None = None
    offset: int = 0
    address: int = 0
    size: int = 0
    first_group: int | None = None  # of the batch that it is in; None: of the whole launch
    activation: int = 0
    last: bytes | None = None
    in_words: Callable[[bytes], str] = bytes.hex
    shown: str = ""

    def __str__(self) -> str:
        return f"watchpoint on {self.expression}, of work-item {show_item(self.item)}{self._when()}"


@dataclass(frozen=True)
class Change:
    """What a watchpoint has seen: the values as they are shown, the line of the write, and who wrote."""

    watchpoint: Watchpoint
    old: str
    new: str
    line: Line | None
    writer: str


@dataclass(frozen=True)
class Stop:
    """Where a kernel stands still, before ``code``.

    reason: start, step, finish, breakpoint, watchpoint, interrupt, end (the kernel is done) or error. ``clock`` counts
    the instructions that were executed, ``lanes``, ``[S, L]``, are those that have come here.
    """

    reason: str
    clock: int
    code: Code | None = None
    lanes: Array | None = None
    breakpoint: Breakpoint | None = None
    changes: tuple[Change, ...] = ()
    error: Error | None = None
    trouble: str = ""  # what is wrong with the condition of a breakpoint

    @property
    def line(self) -> Line | None:
        """The line that comes next."""
        return self.code.line if self.code is not None else None

    @property
    def function(self) -> str | None:
        """The function that it is in."""
        return self.code.function.name if self.code is not None else None


@dataclass
class Points:
    """All of them, by number."""

    breakpoints: dict[int, Breakpoint] = field(default_factory=dict)
    watchpoints: dict[int, Watchpoint] = field(default_factory=dict)
    _last: int = 0

    def next_number(self) -> int:
        """A number that none of them had."""
        self._last += 1
        return self._last

    @property
    def all(self) -> dict[int, Breakpoint | Watchpoint]:
        """Both kinds, in the order of their numbers."""
        both: dict[int, Breakpoint | Watchpoint] = {**self.breakpoints, **self.watchpoints}
        return dict(sorted(both.items()))

    def add(self, point: Breakpoint | Watchpoint) -> None:
        """Make a point count."""
        if isinstance(point, Breakpoint):
            self.breakpoints[point.number] = point
        else:
            self.watchpoints[point.number] = point

    def restart(self) -> None:
        """A run begins: no hits yet."""
        for point in self.all.values():
            point.hits = 0

    def stand_at(self, clock: int) -> None:
        """Somebody looks at this instruction: hits after it count."""
        for point in self.all.values():
            point.since = min(point.since, clock)

    def delete(self, number: int) -> None:
        """Error if there is none of that number."""
        if self.breakpoints.pop(number, None) is None and self.watchpoints.pop(number, None) is None:
            raise Error(f"there is no breakpoint or watchpoint {number}")
