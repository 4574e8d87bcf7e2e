"""Which warnings are shown, and which count as errors: what the ``-W`` options and the pragmas of a source say.

The rules are clang's. A warning has one name; a name may also stand for a group of others. Options are obeyed
in order, the last one wins; ``-w`` silences all whatever else is said.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from functools import reduce


class Level(Enum):
    """What becomes of a warning."""

    IGNORED = "ignored"
    WARNING = "warning"
    ERROR = "error"


Groups = Mapping[str, tuple[str, ...]]
"""The names that a group's name stands for, which may be groups themselves."""

EVERYTHING = "everything"


def members(name: str, groups: Groups) -> Iterator[str]:
    """The warnings that ``name`` stands for: its own, and those of the groups in it."""
    yield name
    for inner in groups.get(name, ()):
        yield from members(inner, groups)


@dataclass(frozen=True, slots=True)
class WarningLevels:
    """What has been said so far. ``levels`` are the warnings that have been named; ``everything`` is
    -Weverything (True) or -Wno-everything (False)."""

    levels: tuple[tuple[str, Level], ...] = ()
    never_errors: frozenset[str] = frozenset()
    errors: bool = False
    silent: bool = False
    everything: bool | None = None

    def level(self, option: str | None, on_by_default: bool = True) -> Level:
        """What becomes of the warning called ``option``."""
        named = dict(self.levels).get(option or "")
        if named is None:
            is_on = on_by_default if self.everything is None else self.everything
            named = Level.WARNING if is_on else Level.IGNORED
        if named is Level.IGNORED or self.silent:
            return Level.IGNORED
        if named is Level.WARNING and self.errors and option not in self.never_errors:
            return Level.ERROR
        return named

    def with_level(self, name: str, level: Level, groups: Groups) -> WarningLevels:
        """The same with a level for the warning or group ``name``; one that is an error stays one if it is
        only turned on."""
        if name == EVERYTHING:
            kept = self.levels if level is Level.WARNING else ()
            return replace(self, levels=kept, everything=level is not Level.IGNORED)
        levels = dict(self.levels)
        for member in members(name, groups):
            if level is not Level.WARNING or levels.get(member) is not Level.ERROR:
                levels[member] = level
        return replace(self, levels=tuple(levels.items()))

    def without_errors(self, name: str, groups: Groups) -> WarningLevels:
        """``-Wno-error=name``: these warnings are never errors."""
        names = frozenset(members(name, groups))
        levels = tuple((member, Level.WARNING if member in names and level is Level.ERROR else level)
                       for member, level in self.levels)
        return replace(self, levels=levels, never_errors=self.never_errors | names)

    def with_option(self, option: str, groups: Groups) -> WarningLevels:
        """The same after another option: ``-w``, ``-Werror``, ``-Wno-NAME`` and so on."""
        if option == "-w":
            return replace(self, silent=True)
        text = option.removeprefix("-W")
        positive = not text.startswith("no-")
        text = text.removeprefix("no-")
        if text == "error":
            return replace(self, errors=positive)
        if not text.startswith("error="):
            return self.with_level(text, Level.WARNING if positive else Level.IGNORED, groups)
        name = text.removeprefix("error=")
        return self.with_level(name, Level.ERROR, groups) if positive else self.without_errors(name, groups)


def name_in(option: str) -> str | None:
    """The name of a warning or group in a ``-W`` option; None where it names none."""
    text = option.removeprefix("-W").removeprefix("no-")
    if option == "-w" or text == "error":
        return None
    return text.removeprefix("error=")


def levels_of(options: tuple[str, ...], groups: Groups) -> WarningLevels:
    """What several options say together."""
    return reduce(lambda levels, option: levels.with_option(option, groups), options, WarningLevels())
