"""The table "What loads what" of docs/element-layouts.md: each function brings an operand to where it belongs.

One tile of each matrix. A row of A and a column of B have 32 bytes, whatever the elements.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import coopmat as cm
from tests.kit.paths import ROOT

PAGE = ROOT / "docs" / "element-layouts.md"
BITS = {"bf16": 16, "i8": 8, "i4": 4, "tf32": 32}
PITCH, X, ROWS = 128, 32, 64  # bytes of a row of the surface, where the tile begins in it, rows of the surface


def elements(kind: str, rows: int, columns: int) -> np.ndarray:
    random = np.random.default_rng(rows)
    low, high = {"i4": (-8, 8), "i8": (-128, 128)}.get(kind, (-9, 10))
    return random.integers(low, high, (rows, columns))


def in_memory(kind: str, matrix: np.ndarray) -> np.ndarray:
    """The bytes of a row-major matrix; the first of two 4-bit elements is in the low bits."""
    if kind == "i4":
        low, high = (matrix & 15)[:, 0::2], (matrix & 15)[:, 1::2]
        return (low | high << 4).astype(np.uint8)
    dtype = {"bf16": ml_dtypes.bfloat16, "i8": np.int8, "tf32": np.float32}[kind]
    return np.ascontiguousarray(matrix.astype(dtype)).view(np.uint8)


def surface(tile: np.ndarray) -> np.ndarray:
    """The tile within a larger matrix of other bytes."""
    memory = np.random.default_rng(0).integers(0, 256, (ROWS, PITCH), np.uint8)
    memory[:tile.shape[0], X:X + tile.shape[1]] = tile
    return memory


def block_2d(name: str, kind: str, pointee: str, target: str, bits: int) -> str:
    return (f"intel_sub_group_2d_block_{name}(p{kind}, {PITCH}, {ROWS}, {PITCH}, (int2)({X * 8 // bits}, 0), "
            f"(private {pointee} *){target});")


# How A comes into the private array a of short, int or float; pA points to the surface, tA to a tile without gaps.
LOADS_OF_A = {
    (16, "2d_block_read_16b_8r16x1c"): lambda m: block_2d(f"read_16b_{m}r16x1c", "A", "ushort", "a", 16),
    (16, "2d_block_read_8b_8r32x1c"): lambda m: block_2d(f"read_8b_{m}r32x1c", "A", "ushort", "a", 8),
    (16, "block_read_us"): lambda m: f"""for (int i = 0; i < {m}; ++i)
        a[i] = as_short(intel_sub_group_block_read_us((global const ushort *)(pA + i * {PITCH} + {X})));""",
    (16, "block_read_us8"): lambda m: (
        f"""*(private ushort{'' if m == 1 else m} *)a = intel_sub_group_block_read_us{'' if m == 1 else m}(
            (global const ushort *)tA);"""),
    (8, "block_read"): lambda m: f"""for (int i = 0; i < {m}; ++i)
        a[i] = as_int(intel_sub_group_block_read((global const uint *)(pA + i * {PITCH} + {X})));""",
    (8, "block_read8"): lambda m: (
        f"""*(private uint{'' if m == 1 else m} *)a = intel_sub_group_block_read{'' if m == 1 else m}(
            (global const uint *)tA);"""),
}
LOADS_OF_A_TF32 = {
    "2d_block_read_32b_8r8x1c": lambda m: block_2d(f"read_32b_{m}r8x1c", "A", "uint", "a", 32),
    "block_read4": lambda m: (
        f"""*(private uint{'' if m <= 2 else m // 2} *)a = intel_sub_group_block_read{'' if m <= 2 else m // 2}(
            (global const uint *)tA);"""),
}

# How B comes into the private array b of 8 int; pB: the surface in row-major order, cB: column-major, wB: packed rows
# of words, tB: a packed tile without gaps.
LOADS_OF_B = {
    (16, "bf16", "2d_block_read_transform_16b_16r16x1c"): block_2d("read_transform_16b_16r16x1c", "B", "uint", "b", 16),
    (16, "i8", "2d_block_read_transform_8b_32r16x1c"): block_2d("read_transform_8b_32r16x1c", "B", "uint", "b", 8),
    (16, "tf32", "2d_block_read_32b_8r16x1c"): block_2d("read_32b_8r16x1c", "B", "uint", "b", 32),
    # Packed tf32 is row-major tf32.
    **{(16, kind, name): text for kind in BITS for name, text in {
        "2d_block_read_transpose_32b_16r8x1c":
            block_2d("read_transpose_32b_16r8x1c", "B", "uint", "b", 32).replace("pB", "cB"),
        "2d_block_read_32b_8r16x1c":
            block_2d("read_32b_8r16x1c", "B", "uint", "b", 32).replace("pB", "wB"),
        "block_read8": "*(private uint8 *)b = intel_sub_group_block_read8((global const uint *)tB);"}.items()},
    **{(8, kind, name): text for kind in ("bf16", "i8", "i4") for name, text in {
        "vload8": f"*(private int8 *)b = vload8(0, (global const int *)(cB + lane * {PITCH} + {X}));",
        "block_read": f"""for (int i = 0; i < 8; ++i)
            b[i] = as_int(intel_sub_group_block_read((global const uint *)(wB + i * {PITCH} + {X})));""",
        "block_read8": "*(private uint8 *)b = intel_sub_group_block_read8((global const uint *)tB);"}.items()},
}
TILE_OF_A = {16: LOADS_OF_A[16, "block_read_us8"], 8: LOADS_OF_A[8, "block_read8"]}
TILE_OF_B = "*(private uint8 *)b = intel_sub_group_block_read8((global const uint *)tB);"


def check(kind: str, size: int, m: int, load_a: str, load_b: str) -> None:
    """The product with operands loaded like this is that of the matrices."""
    k = 256 // BITS[kind]
    a, b = elements(kind, m, k), elements(kind, k, size)
    rows, columns = in_memory(kind, a), in_memory(kind, np.ascontiguousarray(b.T))
    words = np.ascontiguousarray(columns.view(np.uint32).T)
    accumulator = "int" if kind.startswith("i") else "float"
    type_a = {16: "short", 8: "int"}[size] if kind != "tf32" else "float"
    type_b = "int" if kind != "tf32" else "float"
    count_a = m if kind != "tf32" else (m + 1) // 2
    vector = [f"{name}{count if count > 1 else ''}" for name, count in ((accumulator, m), (type_a, count_a))]
    source = f"""__attribute__((intel_reqd_sub_group_size({size})))
    kernel void k(global const char *pA, global const char *tA, global const char *pB, global const char *cB,
                  global const char *wB, global const char *tB, global {vector[0]} *out) {{
        size_t lane = get_local_id(0);
        {type_a} a[8];
        {type_b} b[8];
        {load_a}
        {load_b}
        out[lane] = intel_sub_group_{kind}_{kind}_matrix_mad_k{k}(*(private {vector[1]} *)a, *(private {type_b}8 *)b,
                                                                  ({vector[0]})0);
    }}"""
    row_major = surface(in_memory(kind, b)) if in_memory(kind, b).shape[1] <= PITCH - X else surface(columns)
    room = np.zeros((1, 32), np.uint8)  # a read for M = 1 of tf32 takes two rows
    arguments = [surface(rows), np.concatenate([rows, room]), row_major, surface(columns),
                 surface(words.view(np.uint8)), words]
    out = np.zeros((size, m), np.int32 if accumulator == "int" else np.float32)
    device = cm.device("sim:intel_gpu_pvc" if size == 16 else "sim:intel_gpu_dg2_g10")
    cm.Queue(device).enqueue(cm.build(source, device=device).kernel("k"), size, size,
                             *(np.ascontiguousarray(x).view(np.uint8) for x in arguments), out).wait()
    np.testing.assert_array_equal(out.T, a @ b)


@pytest.mark.parametrize("m", [1, 2, 4, 8])
@pytest.mark.parametrize(("size", "name"), LOADS_OF_A)
@pytest.mark.parametrize("kind", ["bf16", "i8", "i4"])
def test_a(kind: str, size: int, name: str, m: int) -> None:
    check(kind, size, m, LOADS_OF_A[size, name](m), TILE_OF_B)


@pytest.mark.parametrize("m", [1, 2, 4, 8])
@pytest.mark.parametrize("name", LOADS_OF_A_TF32)
def test_a_of_tf32(name: str, m: int) -> None:
    check("tf32", 16, m, LOADS_OF_A_TF32[name](m), TILE_OF_B)


@pytest.mark.parametrize(("size", "kind", "name"), LOADS_OF_B)
def test_b(size: int, kind: str, name: str) -> None:
    load_a = LOADS_OF_A_TF32["block_read4"](8) if kind == "tf32" else TILE_OF_A[size](8)
    check(kind, size, 8, load_a, LOADS_OF_B[size, kind, name])


def test_the_table_names_what_is_tested() -> None:
    page = PAGE.read_text()
    table = page[page.index("## What loads what"):page.index("### Row-major A by block reads")]
    for name in {name for _, name in LOADS_OF_A} | set(LOADS_OF_A_TF32) | {name for *_, name in LOADS_OF_B}:
        assert f"`{name}`" in table.replace("intel_sub_group_", ""), name
