"""Blocks of work-groups instead of single ones: which a kernel of sub-groups is merged to, for one launch.

A kernel whose work-groups are sub-groups with a tile each becomes one with matrices of work-groups
(spirv/transform/enlarge/), which tensor maps fetch and wgmma multiplies (work_groups/).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from coopmat.spirv.edit.processing import schedule_of
from coopmat.spirv.grammar import Op, Scope
from coopmat.spirv.module import Module
from coopmat.spirv.transform.enlarge.merge import Block, Merged, Neighbours, NoMerge
from coopmat.spirv.transform.enlarge.pack import packed
from coopmat.spirv.transform.without_variables import with_values
from coopmat.support.schedules import OPTION
from coopmat.targets.cuda.lanes import Variant

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

        module, conditions, apart = packed(self.module, kernel, variant.local_size, variant.sub_group_size)

        def neighbours() -> Neighbours:
            return Neighbours(module, kernel, variant.local_size, variant.sub_group_size, conditions, apart,
                              places_elements=False, packed=False, converted=False)

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
