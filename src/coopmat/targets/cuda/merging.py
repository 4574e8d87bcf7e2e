"""Blocks of work-groups instead of single ones: which a kernel of sub-groups is merged to, for one launch.

A kernel whose work-groups are sub-groups with a tile each becomes one with matrices of work-groups
(spirv/transform/enlarge/), which tensor maps fetch and wgmma multiplies (work_groups/).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from coopmat.spirv.analysis.polynomials import Atom, Polynomial
from coopmat.spirv.edit.processing import schedule_of
from coopmat.spirv.grammar import Op, Scope
from coopmat.spirv.module import Module
from coopmat.spirv.transform.enlarge.indices import Condition, Counter, Quotient
from coopmat.spirv.transform.enlarge.merge import Block, Merged, Neighbours, NoMerge
from coopmat.spirv.transform.enlarge.pack import packed
from coopmat.support.cache import Cache
from coopmat.support.schedules import OPTION
from coopmat.targets.cuda.compilation import with_values
from coopmat.targets.cuda.lanes import Variant
from coopmat.targets.llvm import saved

LINE = 128  # bytes along K that a block takes at once
TILES = (
    ((128, 256), 256, 1.0),
    ((192, 192), 384, 1.0),
    ((128, 192), 256, 0.96),
    ((128, 128), 256, 0.8),
    ((64, 256), 128, 0.75),
    ((64, 128), 128, 0.65),
)
"""Rows and columns of a block, its work-items, and how fast one is while all multiprocessors are busy, beside the
first."""


class Merging:
    """The merged forms of a module's kernels."""

    def __init__(self, module: Module) -> None:
        self._given = module
        self._block = schedule_of(module).block
        self._module: Module | None = None

    @property
    def module(self) -> Module:
        """The module with values instead of variables."""
        if self._module is None:
            self._module = with_values(self._given)
        return self._module

    def of(self, kernel: str, variant: Variant, group_counts: Sequence[int], multiprocessors: int) -> Iterator[Merged]:
        """The merged forms of a kernel, the fastest first. NoMerge, with the reason, if there are none."""
        if not variant.chip.has(80):
            raise NoMerge(f"{variant.chip.name} has no asynchronous copies")
        if self._block == (0, 0):
            raise NoMerge(f"{OPTION}block:none")
        if variant.nulls:
            raise NoMerge("arguments are null pointers")
        if not any(True for _ in self._given.of_opcode(Op.CooperativeMatrixMulAddKHR)):
            raise NoMerge("it multiplies no matrices")

        module, conditions = packed(self.module, kernel, variant.local_size, variant.sub_group_size)

        def neighbours() -> Neighbours:
            return Neighbours(module, kernel, variant.local_size, variant.sub_group_size, conditions)

        found = neighbours()
        if found.scope == Scope.Workgroup:  # whoever wrote it has chosen a block
            yield found.merged(Block(None, None, 0, variant.local_size, Scope.Workgroup))
            return
        rows, columns = found.extents(group_counts)
        depth = LINE // found.element_bytes

        def seconds(tile: tuple[tuple[int, int], int, float]) -> float:
            """The time that a launch takes with a tile, in some unit."""
            (down, across), _, speed = tile
            blocks = -(-rows // down) * -(-columns // across)
            return -(-blocks // multiprocessors) * down * across / speed

        tiles = [one for one in TILES if self._block in (None, one[0])]
        if not tiles:
            known = ", ".join(f"{down}x{across}" for (down, across), _, _ in TILES)
            raise NoMerge(f"there are blocks of {known}")
        for (down, across), work_items, _ in sorted(tiles, key=seconds):
            yield neighbours().merged(Block(down, across, depth, (work_items, 1, 1), Scope.Workgroup))


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
    found = saved.from_bytes(Merged, rest, (Condition, Counter, Quotient, Polynomial, Atom),
                             module=None) if kind == _FORM else None
    return None if found is None else replace(found[0], module=Module.from_bytes(found[1]))
