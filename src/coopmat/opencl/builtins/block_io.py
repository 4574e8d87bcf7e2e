"""Block reads and writes of sub-groups: one-dimensional (cl_intel_subgroups…) and two-dimensional.

In a one-dimensional block, component i of work-item l is element i * (sub-group size) + l.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from coopmat.opencl.builtins.patterns import Build, BuiltinCall, Row
from coopmat.tree.nodes import Expression
from coopmat.tree.types import UCHAR, UINT, ULONG, USHORT, Scalar

_LOCAL = ("cl_intel_subgroup_local_block_io",)


@dataclass(frozen=True, slots=True)
class _BlockAccess:
    """The functions for one element type: the suffix of their names, component counts, extensions."""

    suffix: str
    element: Scalar
    counts: tuple[int, ...]
    needs: tuple[str, ...]

    def rows(self) -> Iterator[Row]:
        """Reads and writes, of global and of local memory."""
        for space, needs in (("global", self.needs), ("local", _LOCAL)):
            yield Row(f"intel_sub_group_block_read{self.suffix}{{n}}", f"gen({space} const scalar*)",
                      "core.SubgroupBlockReadINTEL", (self.element,), self.counts, needs)
            yield Row(f"intel_sub_group_block_write{self.suffix}{{n}}", f"void({space} scalar*, gen)",
                      "core.SubgroupBlockWriteINTEL", (self.element,), self.counts, needs)


_BLOCK_ACCESSES = (
    _BlockAccess("", UINT, (1, 2, 4, 8), ("cl_intel_subgroups",)),
    _BlockAccess("_ui", UINT, (1, 2, 4, 8),
                 ("cl_intel_subgroups_short", "cl_intel_subgroups_char", "cl_intel_subgroups_long")),
    _BlockAccess("_uc", UCHAR, (1, 2, 4, 8, 16), ("cl_intel_subgroups_char",)),
    _BlockAccess("_us", USHORT, (1, 2, 4, 8), ("cl_intel_subgroups_short",)),
    _BlockAccess("_ul", ULONG, (1, 2, 4, 8), ("cl_intel_subgroups_long",)),
)

# ------------------------------------------------------------------ two-dimensional blocks

BLOCK_2D = ("cl_intel_subgroup_2d_block_io",)

_SURFACE = "int, int, int, int2"  # width in bytes, height in rows, pitch in bytes, coordinate in elements
_SIGNATURES = {
    "read": ("Subgroup2DBlockLoadINTEL", f"void(global const void*, {_SURFACE}, private {{type}}*)"),
    "read_transform": ("Subgroup2DBlockLoadTransformINTEL",
                       f"void(global const void*, {_SURFACE}, private {{type}}*)"),
    "read_transpose": ("Subgroup2DBlockLoadTransposeINTEL",
                       f"void(global const void*, {_SURFACE}, private {{type}}*)"),
    "write": ("Subgroup2DBlockStoreINTEL", f"void(global void*, {_SURFACE}, private const {{type}}*)"),
    "prefetch": ("Subgroup2DBlockPrefetchINTEL", f"void(global const void*, {_SURFACE})"),
}
"""What the functions do: instruction and signature. ``global const void*`` takes any pointer."""


@dataclass(frozen=True, slots=True)
class _Blocks2D:
    """Functions that differ in numbers of rows and of blocks; ``type`` is that of the private data."""

    kind: str
    bits: int
    rows: tuple[int, ...]
    columns: int
    blocks: tuple[int, ...]
    type: str = ""

    def functions(self) -> Iterator[Row]:
        """One row for each function."""
        instruction, signature = _SIGNATURES[self.kind]
        for count in self.blocks:
            for rows in self.rows:
                name = f"intel_sub_group_2d_block_{self.kind}_{self.bits}b_{rows}r{self.columns}x{count}c"
                build = block_2d(instruction, self.bits // 8, self.columns, rows, count)
                yield Row(name, signature.format(type=self.type), build, needs=BLOCK_2D)


def block_2d(instruction: str, element_bytes: int, columns: int, rows: int, count: int) -> Build:
    """The instruction; what a write takes last is its first pointer."""
    def build(call: BuiltinCall) -> Expression:
        arguments = list(call.arguments)
        if instruction == "Subgroup2DBlockStoreINTEL":
            arguments.insert(0, arguments.pop())
        shape = [call.constant(value) for value in (element_bytes, columns, rows, count)]
        return call.operation(f"core.{instruction}", *shape, *arguments)
    return build


_ALL_ROWS = (1, 2, 4, 8, 16, 32)
_BLOCKS_2D = (
    _Blocks2D("read", 8, _ALL_ROWS, 32, (1, 2), "ushort"),
    _Blocks2D("read", 8, (8, 16, 32), 16, (4,), "uchar"),
    _Blocks2D("read", 16, _ALL_ROWS, 16, (1, 2), "ushort"),
    _Blocks2D("read", 32, _ALL_ROWS, 8, (1, 2), "uint"),
    _Blocks2D("read", 32, _ALL_ROWS, 16, (1,), "uint"),
    _Blocks2D("read_transform", 8, (32,), 16, (1, 2, 4), "uint"),
    _Blocks2D("read_transform", 16, (16, 32), 16, (1, 2), "uint"),
    _Blocks2D("read_transpose", 32, (16, 32), 8, (1,), "uint"),
    _Blocks2D("write", 8, (1, 2, 4, 8), 16, (1,), "uchar"),
    _Blocks2D("write", 8, (1, 2, 4, 8), 32, (1,), "ushort"),
    _Blocks2D("write", 16, (1, 2, 4, 8), 16, (1,), "ushort"),
    _Blocks2D("write", 32, (1, 2, 4, 8), 16, (1,), "uint"),
    _Blocks2D("prefetch", 8, _ALL_ROWS, 32, (1, 2)),
    _Blocks2D("prefetch", 8, (32,), 16, (1, 2)),
    _Blocks2D("prefetch", 8, (8, 16, 32), 16, (4,)),
    _Blocks2D("prefetch", 16, _ALL_ROWS, 16, (1, 2)),
    _Blocks2D("prefetch", 32, _ALL_ROWS, 8, (1, 2)),
    _Blocks2D("prefetch", 32, _ALL_ROWS, 16, (1,)),
)
"""cl_intel_subgroup_2d_block_io, "New OpenCL C Functions"."""

ROWS = (*(row for access in _BLOCK_ACCESSES for row in access.rows()),
        *(row for blocks in _BLOCKS_2D for row in blocks.functions()))
