"""Random products by Intel's sub-group functions, a few tiles a sub-group, with operands from memory in many ways."""

from __future__ import annotations

import random
from dataclasses import dataclass

import ml_dtypes
import numpy as np

SOURCE = """
#define CAT(a, b) CAT_(a, b)
#define CAT_(a, b) a##b
#define VECTOR_1(type) type
#define VECTOR_2(type) type##2
#define VECTOR_4(type) type##4
#define VECTOR_8(type) type##8
#define VECTOR(type, count) CAT(VECTOR_, count)(type)
#define LANE get_sub_group_local_id()
#define A_VECTOR VECTOR(A_PART, TM)
#define PER_PART (sizeof(A_PART) / sizeof(ELEMENT))
#define C_VECTOR VECTOR(SUM, TM)
#define EACH(body) for (int i = 0; i < MM; ++i) for (int j = 0; j < NN; ++j) { body; }
#define EACH_ROW(body) for (int i = 0; i < MM; ++i) for (int r = 0; r < TM; ++r) for (int j = 0; j < NN; ++j) { body; }

__attribute__((intel_reqd_sub_group_size(SIZE))) __attribute__((reqd_work_group_size(SIZE * WIDE, 1, 1)))
kernel void gemm(global const ELEMENT *a, global const ELEMENT *b, global const SUM *before, global RESULT *c,
                 int m, int n, int k, SUM factor)
{
    const int row = get_group_id(1) * (TM * MM), column = get_global_id(0) / SIZE * (SIZE * NN);
    C_VECTOR sums[MM][NN];
    EACH(START)
    for (int at = 0; at < k; at += TK) {
        A_VECTOR x[MM];
        B_VECTOR y[NN];
        for (int t = 0; t < MM; ++t) {
            const int first = row + t * TM;
            LOAD_A
        }
        for (int t = 0; t < NN; ++t) {
            const int first = column + t * SIZE;
            LOAD_B
        }
        EACH(sums[i][j] = MAD(x[i], y[j], sums[i][j]))
    }
    LAST(const int top = row + i * TM; const int left = column + j * SIZE; END STORE)
}
"""

A_LOADS = {
    "plain": "for (int r = 0; r < TM; ++r) ((A_PART *)&x[t])[r] = *(global const A_PART *)(a + (first + r) * k + at "
             "+ LANE * PER_PART);",
    "block": "for (int r = 0; r < TM; ++r) ((A_PART *)&x[t])[r] = A_READ((global const A_WORD *)(a + "
             "(size_t)(first + r) * k + at)));",
    "2d": "CAT(CAT(CAT(CAT(CAT(intel_sub_group_2d_block_read_, BITS), b_), TM), r), CAT(TK, x1c))((global void *)a, "
          "k * (int)sizeof(ELEMENT), m, k * (int)sizeof(ELEMENT), (int2)(at, first), (private A_2D *)&x[t]);",
}
B_LOADS = {
    "rows": "for (int r = 0; r < TK; ++r) ((ELEMENT *)&y[t])[r] = b[(at + r) * n + first + LANE];",
    "packed": "for (int r = 0; r < 8; ++r) ((uint *)&y[t])[r] = ((global const uint *)b)[(at / PER + r) * n + first "
              "+ LANE];",
    "packed blocks": "for (int r = 0; r < 8; ++r) ((uint *)&y[t])[r] = intel_sub_group_block_read((global const uint *)"
                     "b + (size_t)(at / PER + r) * n + first);",
    "columns": "y[t] = *(global const B_VECTOR *)(b + (first + LANE) * k + at);",
    "vload": "y[t] = AS_B(vload8(0, (global const uint *)(b + (first + LANE) * k + at)));",
    "2d transform": "CAT(CAT(CAT(CAT(intel_sub_group_2d_block_read_transform_, BITS), b_), TK), r16x1c)("
                    "(global void *)b, n * (int)sizeof(ELEMENT), k, n * (int)sizeof(ELEMENT), (int2)(first, at), "
                    "(private uint *)&y[t]);",
    "2d packed": "intel_sub_group_2d_block_read_32b_8r16x1c((global void *)b, n * 4, k / PER, n * 4, "
                 "(int2)(first, at / PER), (private uint *)&y[t]);",
}
STORES = {
    "plain": "for (int r = 0; r < TM; ++r) c[(top + r) * n + left + LANE] = ((SUM *)&sums[i][j])[r]",
    "block": "for (int r = 0; r < TM; ++r) intel_sub_group_block_write((global uint *)(c + (top + r) * n + left), "
             "((uint *)&sums[i][j])[r])",
    "2d": "CAT(CAT(intel_sub_group_2d_block_write_32b_, TM), r16x1c)(c, n * 4, m, n * 4, (int2)(left, top), "
          "(private uint *)&sums[i][j])",
    "columns": "*(global C_VECTOR *)(c + (left + LANE) * m + top) = sums[i][j]",
    "row by row": "const int at = (top + r) * n + left + LANE; c[at] = ((SUM *)&sums[i][j])[r] * factor - c[at]",
}
STARTS = ("sums[i][j] = 0", "for (int r = 0; r < TM; ++r) ((SUM *)&sums[i][j])[r] = before[(row + i * TM + r) * n + "
                            "column + j * SIZE + LANE]")
ENDS = ("", "sums[i][j] = sums[i][j] * factor;",
        "for (int r = 0; r < TM; ++r) ((SUM *)&sums[i][j])[r] = max(((SUM *)&sums[i][j])[r], (SUM)0);",
        "const SUM bias = before[left + LANE]; for (int r = 0; r < TM; ++r) ((SUM *)&sums[i][j])[r] += bias;")
FILLED = 77
"""What C is before."""
TYPES = {
    "i8": (np.int8, "char", "int", np.int32), "u8": (np.uint8, "uchar", "int", np.int32),
    "f16": (np.float16, "half", "float", np.float32), "bf16": (ml_dtypes.bfloat16, "ushort", "float", np.float32),
}
"""Type of A → its numpy type, OpenCL C's, that of the sums, and its numpy type."""


@dataclass(frozen=True)
class Drawn:
    """A kernel's options. types: of A and B; sizes: M, N, K; tile: rows and columns of a work-group; per_word: elements
    in 32 bits; b, store, start, end: what was chosen of the tables; factor: the kernel's last argument."""

    types: tuple[str, str]
    options: tuple[str, ...]
    sizes: tuple[int, int, int]
    tile: tuple[int, int]
    local_size: int
    per_word: int
    b: str
    store: str
    start: int
    end: int
    factor: int = 3

    @property
    def size(self) -> int:
        """The work-items of a sub-group."""
        return 16 if "-DSIZE=16" in self.options else 8

    def b_in_memory(self, b: np.ndarray) -> np.ndarray:
        """B as the kernel has it."""
        if self.b in ("columns", "vload"):
            return np.ascontiguousarray(b.T)
        if "packed" in self.b:
            k, n = b.shape
            return np.ascontiguousarray(b.reshape(k // self.per_word, self.per_word, n).transpose(0, 2, 1))
        return b

    @property
    def global_size(self) -> tuple[int, int]:
        """Of a launch."""
        m, n, _ = self.sizes
        return n // self.tile[1] * self.local_size, m // self.tile[0]

    def operands(self, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """A, B and what C may begin with, or be a bias: random numbers, hostile ones among the floats."""
        rng = np.random.default_rng(seed)
        (m, n, k), kinds = self.sizes, [TYPES[one] for one in self.types]
        if np.issubdtype(kinds[0][0], np.integer):
            a, b = (rng.integers(np.iinfo(kind[0]).min, np.iinfo(kind[0]).max + 1, shape).astype(kind[0])
                    for kind, shape in zip(kinds, ((m, k), (k, n)), strict=True))
            return a, b, rng.integers(-1 << 31, 1 << 31, (m, n)).astype(np.int32)
        a, b = (rng.standard_normal(shape).astype(kinds[0][0]) for shape in ((m, k), (k, n)))
        for matrix in (a, b):
            places = rng.random(matrix.shape) < 0.02
            matrix[places] = rng.integers(0, 1 << 16, int(places.sum()), np.uint16).view(matrix.dtype)
        return a, b, rng.standard_normal((m, n)).astype(np.float32)

    def expected(self, a: np.ndarray, b: np.ndarray, before: np.ndarray) -> np.ndarray:
        """The result of integers."""
        total = a.astype(np.int64) @ b.astype(np.int64) + (before if self.start else 0)
        total = total.astype(np.int32)
        if self.end == 1:
            total = total * np.int32(self.factor)
        elif self.end == 2:
            total = np.maximum(total, 0)
        elif self.end == 3:
            total = total + before.reshape(-1)[:total.shape[1]]
        if self.store == "row by row":
            total = total * np.int32(self.factor) - np.int32(FILLED)
        return total.T if self.store == "columns" else total


def bits(result: np.ndarray) -> np.ndarray:
    """A result's bits; of several NaNs that meet, which one comes out is the processor's choice."""
    numbers = np.where(np.isnan(result), np.float32(np.nan), result) if result.dtype.kind == "f" else result
    return numbers.view(np.uint32)


def drawn(seed: int) -> Drawn:
    """The kernel of a seed."""
    chance = random.Random(seed)
    a = chance.choice(list(TYPES))
    b = chance.choice(("i8", "u8")) if a in ("i8", "u8") else a
    dtype, element, sums, _ = TYPES[a]
    size = chance.choice((8, 16, 16))
    bits = 8 * np.dtype(dtype).itemsize
    per, depth = 32 // bits, 256 // bits
    is_wide = size == 16
    a_load = chance.choice(list(A_LOADS) if is_wide else ["plain", "block"])
    b_load = chance.choice(list(B_LOADS) if is_wide else [one for one in B_LOADS if "2d" not in one])
    store = chance.choice(list(STORES) if is_wide else [one for one in STORES if one != "2d"])
    start, end = chance.randrange(len(STARTS)), chance.randrange(len(ENDS))
    tm, mm, nn, wide = (chance.choice(sizes) for sizes in ((1, 2, 4, 8, 8), (1, 2, 4), (1, 2), (1, 1, 2)))
    end = 0 if (store, end) == ("2d", 3) or store == "row by row" else end
    part = "short" if is_wide else "int"
    unsigned = "u" if a == "u8" else ""
    options = {
        "SIZE": size, "WIDE": wide, "TM": tm, "MM": mm, "NN": nn, "TK": depth, "PER": per, "BITS": bits,
        "ELEMENT": element, "SUM": sums, "RESULT": sums, "A_PART": unsigned + part, "A_WORD": f"u{part}",
        "A_READ": f"as_{unsigned}{part}(intel_sub_group_block_read{'_us' if is_wide else ''}",
        "B_VECTOR": "uint8" if b == "u8" else "int8", "AS_B": "as_uint8" if b == "u8" else "as_int8",
        "A_2D": "ushort", "MAD": f"intel_sub_group_{a}_{b}_matrix_mad_k{depth}", "START": STARTS[start],
        "END": ENDS[end], "STORE": STORES[store], "LAST": "EACH_ROW" if store == "row by row" else "EACH",
        "LOAD_A": A_LOADS[a_load], "LOAD_B": B_LOADS[b_load]}
    groups = [chance.randint(1, 5) for _ in range(2)]
    tile = (tm * mm, size * nn * wide)
    # rows of surfaces have at least 64 bytes
    m, n, k = groups[0] * tile[0], max(groups[1] * tile[1], 64 // tile[1] * tile[1]), depth * chance.randint(2, 7)
    return Drawn((a, b), tuple(f"-D{name}={value}" for name, value in options.items()), (m, n, k), tile, size * wide,
                 per, b_load, store, start, end)
