"""Which variables certainly have a value where the compiler is, so that reads of others are warned about."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

Names = frozenset[str]


@dataclass
class Assignments:
    """``certain``: the names that have a value on every way to this place; None where no way leads. ``possible``: those
    whose variable is declared further out than it is first assigned."""

    certain: Names | None = frozenset()
    possible: set[str] = field(default_factory=set)
    _jumps: list[dict[str, list[Names | None]]] = field(default_factory=list)

    def assign(self, name: str) -> None:
        """The variable has a value from here on."""
        if self.certain is not None:
            self.certain |= {name}

    def may_be_missing(self, name: str) -> bool:
        """Whether a variable may be without a value here."""
        return name in self.possible and self.certain is not None and name not in self.certain

    def leave(self, word: str | None = None) -> None:
        """Control leaves here: by ``break`` or ``continue`` of a loop that the kernel runs, or (None) for good."""
        if word is not None and self._jumps:
            self._jumps[-1][word].append(self.certain)
        self.certain = None

    @contextmanager
    def choice(self) -> Iterator[list[Names | None]]:
        """Around the sides of a choice, each of which :meth:`side` compiles: afterwards holds what holds on all."""
        ends: list[Names | None] = []
        yield ends
        self.certain = meet(ends)

    @contextmanager
    def side(self, ends: list[Names | None]) -> Iterator[None]:
        """One side of a choice."""
        before = self.certain
        yield
        ends.append(self.certain)
        self.certain = before

    @contextmanager
    def loop(self, *, runs: bool, ends: bool = True) -> Iterator[None]:
        """A loop's body. ``runs``: it is carried out at least once; ``ends``: its condition may end it."""
        before = self.certain
        self._jumps.append({"break": [], "continue": []})
        yield
        jumps = self._jumps.pop()
        last = meet([self.certain, *jumps["continue"]])
        ways = jumps["break"] + ([last if runs else before] if ends else [])
        self.certain = meet(ways)


def meet(ways: Sequence[Names | None]) -> Names | None:
    """What holds where several ways meet."""
    reached = [way for way in ways if way is not None]
    return frozenset.intersection(*reached) if reached else None
