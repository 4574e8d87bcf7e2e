"""Kernels whose work-groups are merged (spirv/transform/enlarge/): their launches, and what the cache keeps of them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from coopmat.spirv.analysis.polynomials import Atom, Polynomial
from coopmat.spirv.module import Module
from coopmat.spirv.transform.enlarge.conditions import Computed, Condition, Counter, Limit
from coopmat.spirv.transform.enlarge.merge import Merged, NoMerge
from coopmat.spirv.transform.enlarge.runs import Runs
from coopmat.support.cache import Cache
from coopmat.targets.llvm import saved

MOST_KNOWN = 256  # launches of which is remembered whether they may be merged
WORD_BYTES = 8


class MergedLaunch:
    """A launch whose work-groups are merged. given: the arguments behind the kernel's own."""

    def __init__(self, merged: Merged, group_counts: Sequence[int]) -> None:
        self.merged, self.group_counts = merged, tuple(group_counts)
        self.given = [count.to_bytes(WORD_BYTES, "little") for count in merged.given(group_counts)]
        self._known: dict[tuple[int, ...], str] = {}

    def takes(self, numbers: tuple[int, ...]) -> bool:
        """Whether the kernel may be launched with arguments that are these numbers."""
        return not self.refusal(numbers)

    def refusal(self, numbers: tuple[int, ...]) -> str:
        """Why it may not; nothing if it may."""
        if numbers not in self._known:
            if len(self._known) > MOST_KNOWN:
                self._known.clear()
            self._known[numbers] = self.merged.refusal(numbers, self.group_counts)
        return self._known[numbers]


# --------------------------------------------------------------------------------------
# In the cache
# --------------------------------------------------------------------------------------

_FORM, _REASON, _END = b"form", b"none", b"end."


def kept(made: Callable[[], Iterator[Merged]], cache: Cache, key: Callable[[int], str]) -> Iterator[Merged]:
    """What ``made`` gives, or the NoMerge that it raises, of which the cache keeps each; ``key``: of the first, the
    second, …"""
    source: Iterator[Merged] | None = None
    for number in itertools.count():
        content = cache.get(key(number))
        found = None if content is None else _read(content)
        if found is None:
            if source is None:
                source = itertools.islice(made(), number, None)
            content = _next(source)
            cache.put(key(number), content)
            found = _read(content)
        if not isinstance(found, Merged):
            if found:
                raise NoMerge(found)
            return
        yield found


def _next(source: Iterator[Merged]) -> bytes:
    """The next one as bytes, or that there is none."""
    try:
        found = next(source, None)
    except NoMerge as reason:
        return _REASON + str(reason).encode()
    if found is None:
        return _END
    return _FORM + saved.to_bytes(found, found.module.to_bytes(), ("module",))


def _read(content: bytes) -> Merged | str | None:
    """A form, or the reason why there is none, which is empty behind the last one; None for anything else."""
    kind, rest = content[:len(_FORM)], content[len(_FORM):]
    if kind == _REASON:
        return rest.decode(errors="replace")
    if kind == _END:
        return ""
    found = saved.from_bytes(Merged, rest, (Condition, Counter, Computed, Limit, Polynomial, Atom, Runs),
                             module=None) if kind == _FORM else None
    return None if found is None else replace(found[0], module=Module.from_bytes(found[1]))
