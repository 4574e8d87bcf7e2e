"""Random products of matrices, a few tiles a sub-group, whose work-groups lie side by side: what can be merged."""

from __future__ import annotations

import random
from dataclasses import dataclass

import ml_dtypes
import numpy as np

SOURCE = """
#define M(rows, columns, use) \\
    __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, rows, columns, CLK_COOPERATIVE_MATRIX_##use)))
#define ROW CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
#define COLUMN CLK_COOPERATIVE_MATRIX_LAYOUT_COLUMN_MAJOR
OUT relu(OUT x) { return x > 0 ? x : 0; }
kernel void gemm(global const IN *a, global const IN *b, global const OUT *bias, global OUT *c, int m, int n, int k)
{
    size_t row = get_group_id(1) * (RM * TM), column = get_group_id(0) * (RN * TN);
    OUT M(TM, TN, ACCUMULATOR) sums[RM][RN];
    for (int i = 0; i < RM; i++)
        for (int j = 0; j < RN; j++)
            sums[i][j] = START;
    for (int at = 0; at < k; at += TK)
        for (int i = 0; i < RM; i++)
            for (int j = 0; j < RN; j++) {
                size_t top = row + i * TM, left = column + j * TN;
                IN M(TM, TK, A) x = BY_COLUMNS_A ? coop_mat_load(a + top + (size_t)at * m, COLUMN, m)
                                                 : coop_mat_load(a + top * k + at, ROW, k);
                IN M(TK, TN, B) y = BY_COLUMNS_B ? coop_mat_load(b + at + left * k, COLUMN, k)
                                                 : coop_mat_load(b + (size_t)at * n + left, ROW, n);
                sums[i][j] = coop_matmul_add(x, y, sums[i][j], FLAGS);
            }
    for (int i = 0; i < RM; i++)
        for (int j = 0; j < RN; j++) {
            OUT M(TM, TN, ACCUMULATOR) sum = sums[i][j];
            END;
            coop_mat_store(c + (row + i * TM) * n + column + j * TN, sum, ROW, n);
        }
}
"""
TYPES = {"char": (np.int8, "int", np.int32, 15), "uchar": (np.uint8, "int", np.int32, 12),
         "short": (np.int16, "int", np.int32, 15), "half": (np.float16, "float", np.float32, 0),
         "__bf16": (ml_dtypes.bfloat16, "float", np.float32, 0), "float": (np.float32, "float", np.float32, 0),
         "double": (np.float64, "double", np.float64, 0)}
"""Type of A and B → its numpy type, C's, its numpy type, which operands have a sign."""
STARTS = ("coop_mat_init(0)", "coop_mat_load(bias + (row + i * TM) * n + column + j * TN, ROW, n)")
ENDS = ("", "sum = sum * (OUT)3", "sum = coop_mat_apply(sum, relu)",
        "for (int e = 0; e < coop_mat_length(sum); e++) { int2 at = coop_mat_get_coord(sum, e); "
        "sum[e] += bias[(row + i * TM + at.x) * n + column + j * TN + at.y]; }")


@dataclass(frozen=True)
class Drawn:
    """A kernel's options, its sizes, and how many of its work-groups become one."""

    element: str
    options: tuple[str, ...]
    sizes: tuple[int, int, int]
    grid: tuple[int, int]
    start: int
    end: int
    columns: tuple[bool, bool]
    tile: tuple[int, int, int]
    merge: str
    threads: int


def drawn(seed: int, most_groups: int = 6, most_rounds: int = 9) -> Drawn:
    """The kernel of a seed. most_groups: work-groups along an axis; most_rounds: of the loop along K."""
    chance = random.Random(seed)
    element = chance.choice(list(TYPES))
    tile = [chance.choice((8, 16, 24, 32)) for _ in range(2)]
    depth = chance.choice((8, 16, 32, 64))
    blocks, grid = ([chance.randint(1, most) for _ in range(2)] for most in (2, most_groups))
    start, end = chance.randrange(len(STARTS)), chance.randrange(len(ENDS))
    columns = chance.random() < 0.4, chance.random() < 0.4
    options = {"IN": element, "OUT": TYPES[element][1], "FLAGS": TYPES[element][3], "TM": tile[0], "TN": tile[1],
               "TK": depth, "RM": blocks[0], "RN": blocks[1], "START": STARTS[start], "END": ENDS[end],
               "BY_COLUMNS_A": int(columns[0]), "BY_COLUMNS_B": int(columns[1])}
    m, n = (grid[place] * blocks[place] * tile[place] for place in range(2))
    return Drawn(element, tuple(f"-D{name}={value}" for name, value in options.items()),
                 (m, n, depth * chance.randint(1, most_rounds)), (grid[0], grid[1]), start, end, columns,
                 (tile[0], tile[1], depth), f"{chance.randint(1, 5)}x{chance.randint(1, 5)}", chance.randint(1, 3))
