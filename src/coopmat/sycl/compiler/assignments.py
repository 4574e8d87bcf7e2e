"""Which names certainly have a value where the compiler is: reads of others are warned about, or refused."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

Names = frozenset[str]


@dataclass
class Assignments:
    """``certain``: the names that have a value on every way to this place; None where no way leads."""

    certain: Names | None = frozenset()
    _jumps: list[dict[str, list[Names | None]]] = field(default_factory=list)

    def assign(self, name: str) -> None:
        """The name has a value from here on."""
        if self.certain is not None:
            self.certain |= {name}

    @property
    def is_reached(self) -> bool:
        """Whether control can get here."""
        return self.certain is not None

    def may_be_missing(self, name: str) -> bool:
        """Whether a name may be without a value here."""
        return self.certain is not None and name not in self.certain

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
    def loop(self, *, runs: bool, ends: bool = True) -> Iterator[list[Names | None]]:
        """A loop's body. ``runs``: it is carried out at least once; ``ends``: its condition may end it. Afterwards that
        holds which holds where the condition ended it; what holds where ``break`` did is in the list."""
        before = self.certain
        self._jumps.append({"break": [], "continue": []})
        broken: list[Names | None] = []
        yield broken
        jumps = self._jumps.pop()
        broken += jumps["break"]
        last = meet([self.certain, *jumps["continue"]])
        self.certain = (last if runs else before) if ends else None

    @contextmanager
    def copies(self) -> Iterator[list[Names | None]]:
        """The copies of an unrolled loop's body, each of which ends with :meth:`end_copy`. What holds where ``break``
        left one is in the list afterwards."""
        self._jumps.append({"break": [], "continue": []})
        broken: list[Names | None] = []
        yield broken
        broken += self._jumps.pop()["break"]

    def end_copy(self) -> None:
        """A copy's end, to which ``continue`` leads."""
        continued = self._jumps[-1]["continue"]
        self.join(continued)
        continued.clear()

    def forget(self, names: Iterable[str]) -> None:
        """Names that have no value that holds on every way."""
        if self.certain is not None:
            self.certain -= set(names)

    def join(self, ways: Sequence[Names | None]) -> None:
        """Other ways lead to this place, too."""
        self.certain = meet([self.certain, *ways])


def meet(ways: Sequence[Names | None]) -> Names | None:
    """What holds where several ways meet."""
    reached = [way for way in ways if way is not None]
    return frozenset.intersection(*reached) if reached else None
