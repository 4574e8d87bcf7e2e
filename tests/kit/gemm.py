"""GEMM kernels of every element type, layout and shape for the tests, and their numpy references."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import coopmat as cm

ROW, COLUMN = "ROW_MAJOR", "COLUMN_MAJOR"

# One work-group, one sub-group, one product C = A*B + C of exactly the tile's size.
TILE_KERNEL = """
#define MATRIX(r, c, use) __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, r, c, use)))
typedef IN  matrix_a MATRIX(M, K, CLK_COOPERATIVE_MATRIX_A);
typedef IN  matrix_b MATRIX(K, N, CLK_COOPERATIVE_MATRIX_B);
typedef OUT matrix_c MATRIX(M, N, CLK_COOPERATIVE_MATRIX_ACCUMULATOR);

kernel void tile(global const IN *A, global const IN *B, global OUT *C, uint lda, uint ldb, uint ldc)
{
    matrix_a a = coop_mat_load(A, CLK_COOPERATIVE_MATRIX_LAYOUT_LA, lda);
    matrix_b b = coop_mat_load(B, CLK_COOPERATIVE_MATRIX_LAYOUT_LB, ldb);
    matrix_c c = coop_mat_load(C, CLK_COOPERATIVE_MATRIX_LAYOUT_LC, ldc);
    c = coop_matmul_add(a, b, c, FLAGS);
    coop_mat_store(C, c, CLK_COOPERATIVE_MATRIX_LAYOUT_LC, ldc);
}
"""

ALL_SIGNED = "|".join(f"CLK_COOPERATIVE_MATRIX_OPERAND_MATRIX_{operand}_SIGNED" for operand in
                      ("A", "B", "C", "RESULT"))
NO_FLAGS = "CLK_COOPERATIVE_MATRIX_OPERAND_NONE"


@dataclass(frozen=True)
class Elements:
    """Element types of a product: names in C, dtypes, and operand flags."""

    name: str
    inner: str
    outer: str
    dtype: type
    accumulator: type
    flags: str


ELEMENTS = (
    Elements("s8", "char", "int", np.int8, np.int32, ALL_SIGNED),
    Elements("u8", "uchar", "uint", np.uint8, np.uint32, NO_FLAGS),
    Elements("fp16", "half", "float", np.float16, np.float32, NO_FLAGS),
    Elements("fp32", "float", "float", np.float32, np.float32, NO_FLAGS),
    Elements("fp64", "double", "double", np.float64, np.float64, NO_FLAGS),
)


def random_array(rng: np.random.Generator, shape: tuple[int, ...], dtype: type) -> np.ndarray:
    """Random numbers over the whole range of an integer type, or normally distributed."""
    if np.dtype(dtype).kind in "iu":
        info = np.iinfo(dtype)
        return rng.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)
    return rng.standard_normal(shape).astype(dtype)


def stored(matrix: np.ndarray, layout: str, padding: int = 0) -> tuple[np.ndarray, int]:
    """``matrix`` as memory holds it in ``layout``, each line followed by ``padding`` elements; the stride."""
    lines = matrix if layout == ROW else matrix.T
    memory = np.zeros((lines.shape[0], lines.shape[1] + padding), matrix.dtype)
    memory[:, : lines.shape[1]] = lines
    return memory, memory.shape[1]


def read_back(memory: np.ndarray, layout: str, rows: int, columns: int) -> np.ndarray:
    """The matrix that :func:`stored` put into ``memory``."""
    return memory[:rows, :columns] if layout == ROW else memory[:columns, :rows].T


def reference(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """``a @ b + c`` in the type of ``c``: integers wrap, floats are rounded once from long double."""
    if c.dtype.kind in "iu":
        return (a.astype(np.int64) @ b.astype(np.int64) + c.astype(np.int64)).astype(c.dtype)
    wide = np.longdouble
    return (a.astype(wide) @ b.astype(wide) + c.astype(wide)).astype(c.dtype)


def run_tile(device: cm.Device, elements: Elements, a: np.ndarray, b: np.ndarray, c: np.ndarray,
             layouts: tuple[str, str, str] = (ROW, ROW, ROW), padding: int = 0) -> np.ndarray:
    """``a @ b + c`` by TILE_KERNEL on ``device``."""
    m, k, n = a.shape[0], a.shape[1], b.shape[1]
    options = [f"-D{name}={value}" for name, value in {
        "M": m, "N": n, "K": k, "IN": elements.inner, "OUT": elements.outer, "FLAGS": elements.flags}.items()]
    kernel = cm.build(_with_layouts(layouts), options, device).kernel("tile")
    (memory_a, lda), (memory_b, ldb), (memory_c, ldc) = (
        stored(matrix, layout, padding) for matrix, layout in zip((a, b, c), layouts, strict=True))
    size = device.sub_group_sizes[0]
    cm.Queue(device).enqueue(kernel, size, size, memory_a, memory_b, memory_c, lda, ldb, ldc).wait()
    return read_back(memory_c, layouts[2], m, n)


def _with_layouts(layouts: tuple[str, str, str]) -> str:
    source = TILE_KERNEL
    for name, layout in zip(("LA", "LB", "LC"), layouts, strict=True):
        source = source.replace(f"LAYOUT_{name}", f"LAYOUT_{layout}")
    return source
