"""Small real kernels with one planted mistake, in OpenCL C and in Python. Comments mark the lines of a source:

- ``BUG``: only with the mistake,
- ``FIX``: only in the repaired twin,
- ``HERE DataRace``: which error the mistake raises, or which warning, and which line its message names.

A line that is left out stays empty, so that the lines of both twins have the same numbers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import coopmat as cm
from tests.kit.checks.planted import Planted

BUG, FIX = "BUG", "FIX"
_MARKS = re.compile(r"(?://|#) (?:(BUG|FIX)\b ?)?(?:HERE (\w+))?$")


@dataclass(frozen=True)
class Marked(Planted):
    """One of both languages; ``bug`` and ``fix`` are the marks of their lines."""

    def text(self, part: str) -> str:
        """The source without what the other one has."""
        other = FIX if part == BUG else BUG
        return "\n".join("" if _marks(line)[0] == other else line for line in self.source.split("\n"))


@dataclass(frozen=True)
class Pair:
    """A kernel ``k`` in OpenCL C and in Python, with a mistake of one ``kind``; an empty source where a language cannot
    make it. The rest is as in :class:`Planted`."""

    kind: str
    name: str
    opencl: str
    python: str
    arguments: Callable[[], Sequence[Any]]
    global_size: tuple[int, ...] = (64,)
    local_size: tuple[int, ...] = (32,)
    words: Sequence[str] = ()
    device: str = "sim:intel_gpu_pvc"
    options: cm.SimulatorOptions | None = None
    build: str = ""

    def both(self) -> list[Marked]:
        """The planted kernels, one for each language that can make the mistake."""
        return [Marked(f"{language}: {self.name}", source, BUG, FIX, _error(source), self.words, self.arguments,
                       self.global_size, self.local_size, self.device, self.options, self.build)
                for language, source in (("C", self.opencl), ("Python", self.python)) if source]


def _marks(line: str) -> tuple[str, str]:
    """BUG or FIX, and the name of an error, that a line is marked with; empty where it is not."""
    found = _MARKS.search(line)
    return (found[1] or "", found[2] or "") if found else ("", "")


def _error(source: str) -> type[Exception]:
    """The class that a source names, on one line."""
    (name,) = [name for _, name in map(_marks, source.split("\n")) if name]
    error = getattr(cm, name)
    assert issubclass(error, cm.Error | Warning)
    return error
