"""Breakpoints and watchpoints, and what the engine tells when one of them stops the kernel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from coopmat.debugger.code import Code, Line
from coopmat.debugger.expressions import Node
from coopmat.debugger.items import Item, show_item
from coopmat.diagnostics import Error
from coopmat.targets.simulator.values import Array


@dataclass(eq=False)
class Breakpoint:
    """Stops work-items before a line, or at the start of a function; ``condition`` holds for those that are stopped."""

    number: int
    line: Line | None = None
    function: str | None = None
    condition: Node | None = None
    item: Item | None = None
    is_temporary: bool = False
    hits: int = 0

    def __str__(self) -> str:
        place = str(self.line) if self.function is None else f"{self.function} ({self.line})"
        item = f", for work-item {show_item(self.item)}" if self.item is not None else ""
        condition = f", if {self.condition}" if self.condition is not None else ""
        return f"{'temporary ' * self.is_temporary}breakpoint at {place}{item}{condition}"


@dataclass(eq=False)
class Watchpoint:
    """Stops after a write that changes an element: of memory (``buffer``, ``offset`` in its bytes, all instances
    included), or, where ``buffer`` is None, of a variable that has no address, in one activation of its function."""

    number: int
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
    hits: int = 0

    def __str__(self) -> str:
        return f"watchpoint on {self.expression}, of work-item {show_item(self.item)}"


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

    def delete(self, number: int) -> None:
        """Error if there is none of that number."""
        if self.breakpoints.pop(number, None) is None and self.watchpoints.pop(number, None) is None:
            raise Error(f"there is no breakpoint or watchpoint {number}")
