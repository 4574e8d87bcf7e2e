"""The call stack of a running kernel: one activation for each function that is being executed."""

from __future__ import annotations

from coopmat.debugger.code import Code
from coopmat.targets.simulator.state import Frame, Mask


class Arrivals:
    """Notices when lanes come to a line: to another one than before, or to the start of the same one once more."""

    __slots__ = ("line", "visited")

    def __init__(self) -> None:
        self.line: object = None
        self.visited: set[int] = set()

    def note(self, code: Code) -> bool:
        """Whether an instruction begins a visit of its line."""
        if code.line == self.line and code.index not in self.visited:
            self.visited.add(code.index)
            return False
        self.line, self.visited = code.line, {code.index}
        return True


class Activation:
    """One activation of a function for all lanes that called it together; ``ordinal`` counts those of a launch.

    ``frame`` holds its values and ``code`` is the instruction that comes next, or the call that is being executed;
    both are None before its first instruction. ``is_new``: it has come to no line yet.
    """

    def __init__(self, ordinal: int) -> None:
        self.ordinal = ordinal
        self.frame: Frame | None = None
        self.code: Code | None = None
        self.is_new = True
        self._mask: Mask | None = None
        self._together = Arrivals()
        self._focus = Arrivals()

    def has(self, place: tuple[int, int]) -> bool:
        """Whether the work-item at a place in the batch has not left it yet."""
        frame = self.frame
        return frame is not None and any(bool(mask.expanded[place]) for mask in (frame.mask, *frame.waiting.values()))

    def arrive(self, mask: Mask, code: Code) -> bool:
        """Whether the lanes of a mask, or some of them, come to a line now."""
        first = self._mask
        if mask is not first and first is not None and (mask.lanes & ~first.lanes).any():
            self._together = Arrivals()  # some who were not here
            self._mask = mask
        if not self._together.note(code):
            return False
        self._mask = mask
        return True

    def focus_arrives(self, code: Code) -> bool:
        """Whether the chosen work-item, which is here, comes to a line now."""
        return self._focus.note(code)

    def forget_focus(self) -> None:
        """Another work-item is chosen, which may be here."""
        self._focus = Arrivals()
        if self.code is not None:
            self._focus.note(self.code)
