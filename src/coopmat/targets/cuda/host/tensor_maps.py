"""Tensor maps: what the copy engine of a GPU knows of a matrix in memory, made by the driver for each launch."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import lru_cache

from coopmat.diagnostics import Error
from coopmat.targets.cuda.host.driver import bindings, call
from coopmat.targets.cuda.work_groups.pipeline import MAP_ALIGNMENT, TensorMap

BYTES = 128
MOST_EXTENT, MOST_STRIDE = 1 << 32, 1 << 40  # of a matrix, in elements, and of its lines, in bytes


def sizes_of(described: TensorMap, arguments: Sequence[int]) -> tuple[int, int, int]:
    """Width, height and stride of a matrix in a launch, in elements."""
    width, height = (one.of(arguments) & (1 << one.bits) - 1 for one in (described.width, described.height))
    return width, height, described.stride.of(arguments)


def tensor_map(described: TensorMap, address: int, sizes: tuple[int, int, int]) -> bytes | None:
    """The map of a matrix at an address of the GPU's memory, of width, height and stride in elements; None for one that
    the hardware does not take: its address and its stride are multiples of 16 bytes, and there is something in it."""
    width, height, stride = sizes
    stride *= described.element_bytes
    if (address % MAP_ALIGNMENT or stride % MAP_ALIGNMENT or not 0 < stride < MOST_STRIDE
            or not 0 < width <= MOST_EXTENT or not 0 < height <= MOST_EXTENT
            or width * described.element_bytes > stride):
        return None
    return _encoded(described.element, address, width, height, stride, described.box, described.line_bytes)


@lru_cache(maxsize=256)
def _encoded(element: str, address: int, width: int, height: int, stride: int, box: tuple[int, int],
             line_bytes: int) -> bytes | None:
    driver = bindings()
    kind = getattr(driver.CUtensorMapDataType, f"CU_TENSOR_MAP_DATA_TYPE_{element}")
    swizzle = getattr(driver.CUtensorMapSwizzle, f"CU_TENSOR_MAP_SWIZZLE_{line_bytes}B")
    try:
        found = call(
            "cuTensorMapEncodeTiled", kind, 2, address, [driver.cuuint64_t(width), driver.cuuint64_t(height)],
            [driver.cuuint64_t(stride)], [driver.cuuint32_t(one) for one in box], [driver.cuuint32_t(1)] * 2,
            driver.CUtensorMapInterleave.CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
            driver.CUtensorMapL2promotion.CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
            driver.CUtensorMapFloatOOBfill.CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE, error=Error)
    except Error:
        return None
    return ctypes.string_at(int(found.getPtr()), BYTES)
