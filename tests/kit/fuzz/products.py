"""Random products of matrices, a few tiles a sub-group, whose work-groups, or rounds over tiles, lie side by side: what
can be merged."""

from __future__ import annotations

import random
from dataclasses import dataclass

import ml_dtypes
import numpy as np

SOURCE = """
#define M(rows, columns, use) \\
    __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, rows, columns, CLK_COOPERATIVE_MATRIX_##use)))
#define ROW CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
#define PACKED CLK_COOPERATIVE_MATRIX_LAYOUT_PACKED_INTEL
#define COLUMN CLK_COOPERATIVE_MATRIX_LAYOUT_COLUMN_MAJOR
#define LOAD_A(a, i, at) (BY_COLUMNS_A ? coop_mat_load((a) + (row + (i) * TM) + (size_t)(at) * m, COLUMN, m) \\
                                       : coop_mat_load((a) + (row + (i) * TM) * k + (at), ROW, k))
#if TOGETHER > 1
#define LOAD_B(b, j, at) coop_mat_load((b) + (size_t)(at) * n + (column + (j) * TN) * TOGETHER, PACKED, n * TOGETHER)
#else
#define LOAD_B(b, j, at) (BY_COLUMNS_B ? coop_mat_load((b) + (at) + (column + (j) * TN) * k, COLUMN, k) \\
                                       : coop_mat_load((b) + (size_t)(at) * n + column + (j) * TN, ROW, n))
#endif
#define LOAD_FROM(a, b, x, y, at) \\
    for (int i = 0; i < RM; i++) x[i] = LOAD_A(a, i, at); \\
    for (int j = 0; j < RN; j++) y[j] = LOAD_B(b, j, at)
#define CHANGED(z, count, each) \\
    for (int i = 0; i < count; i++) for (int e = 0; e < coop_mat_length(z[i]); e++) { \\
        int2 p = coop_mat_get_coord(z[i], e); OUT old = (OUT)z[i][e]; z[i][e] = (IN)(each); }
#define LOAD(x, y, at) LOAD_FROM(a, b, x, y, at); CHANGE(x, y, at)
#define SHIFT (TK == 8 ? 3 : TK == 16 ? 4 : TK == 32 ? 5 : 6)
#define STEP_A (BY_COLUMNS_A ? TK * m : TK)
#define STEP_B (BY_COLUMNS_B ? TK : TK * n)
#define EACH for (int i = 0; i < RM; i++) for (int j = 0; j < RN; j++)
#define ADD(x, y, sums) EACH sums[i][j] = coop_matmul_add(x[i], y[j], sums[i][j], FLAGS)
#ifndef GUARD
#define GUARD
#endif
#ifndef CHANGE
#define CHANGE(x, y, at)
#endif
#define COPY(x, next_x, y, next_y) \\
    for (int i = 0; i < RM; i++) x[i] = next_x[i]; \\
    for (int j = 0; j < RN; j++) y[j] = next_y[j]
OUT relu(OUT x) { return x > 0 ? x : 0; }
kernel void gemm(global const IN *a, global const IN *b, global const OUT *bias, global OUT *c, int m, int n, int k)
{
    const int down = m / (RM * TM), across = n / (RN * TN);
    TILES {
    size_t row = (ROW_OF) * (RM * TM), column = (COLUMN_OF) * (RN * TN);
    GUARD {
    OUT M(TM, TN, ACCUMULATOR) sums[RM][RN];
    for (int i = 0; i < RM; i++)
        for (int j = 0; j < RN; j++)
            sums[i][j] = START;
    IN M(TM, TK, A) x[RM], next_x[RM], third_x[RM]; IN M(TK, TN, B) y[RN], next_y[RN], third_y[RN];
    LOOP
    for (int i = 0; i < RM; i++)
        for (int j = 0; j < RN; j++) {
            OUT M(TM, TN, ACCUMULATOR) sum = sums[i][j];
            END;
            coop_mat_store(c + (row + i * TM) * n + column + j * TN, sum, ROW, n);
        }
    }
    }
}
"""
TYPES = {"char": (np.int8, "int", np.int32, 15), "uchar": (np.uint8, "int", np.int32, 12),
         "short": (np.int16, "int", np.int32, 15), "half": (np.float16, "float", np.float32, 0),
         "__bf16": (ml_dtypes.bfloat16, "float", np.float32, 0), "float": (np.float32, "float", np.float32, 0),
         "double": (np.float64, "double", np.float64, 0)}
"""Type of A and B → its numpy type, C's, its numpy type, which operands have a sign."""
STARTS = ("coop_mat_init(0)", "coop_mat_load(bias + (row + i * TM) * n + column + j * TN, ROW, n)")
OLD = "OUT M(TM, TN, ACCUMULATOR) old = coop_mat_load({} + (row + i * TM) * n + column + j * TN, ROW, n)"
ENDS = ("", "sum = sum * (OUT)3", "sum = coop_mat_apply(sum, relu)",
        "for (int e = 0; e < coop_mat_length(sum); e++) { int2 at = coop_mat_get_coord(sum, e); "
        "sum[e] += bias[(row + i * TM + at.x) * n + column + j * TN + at.y]; }",
        f"{OLD.format('bias')}; sum = sum * (OUT)2 + old * (OUT)3", f"{OLD.format('c')}; sum = sum + old")
C_BEFORE = 77

LOOPS = {
    "simple": """for (int at = 0; at < k; at += TK) { LOAD(x, y, at); ADD(x, y, sums); }""",
    "shifted": """for (int o = 0; o < k >> SHIFT; o++) { LOAD(x, y, o << SHIFT); ADD(x, y, sums); }""",
    "down to zero": """int left = k / TK, at = 0; while (left--) { LOAD(x, y, at); ADD(x, y, sums); at += TK; }""",
    "asked behind": """int at = 0; do { LOAD(x, y, at); ADD(x, y, sums); at += TK; } while (at < k);""",
    "exactly": """int o = 0; do { LOAD(x, y, o * TK); ADD(x, y, sums); } while (++o != k / TK);""",
    "pointers": """const global IN *pa = a, *pb = b, *end = a + k / TK * STEP_A;
        while (pa < end) { LOAD_FROM(pa, pb, x, y, 0); ADD(x, y, sums); pa += STEP_A; pb += STEP_B; }""",
    "to a pointer": """const global IN *pb = b, *end = b + (k >> SHIFT) * STEP_B;
        for (int at = 0; pb != end; at += TK, pb += STEP_B) { LOAD_FROM(a + at * (STEP_A / TK), pb, x, y, 0);
                                                              ADD(x, y, sums); }""",
    "a round ahead": """LOAD(x, y, 0);
        for (int at = TK; at < k; at += TK) { LOAD(next_x, next_y, at); ADD(x, y, sums); COPY(x, next_x, y, next_y); }
        ADD(x, y, sums);""",
    "if there is another": """LOAD(x, y, 0);
        for (int at = 0; at < k; at += TK) {
            if (at + TK < k) { LOAD(next_x, next_y, at + TK); }
            ADD(x, y, sums); COPY(x, next_x, y, next_y);
        }""",
    "within the matrix": """LOAD(x, y, 0);
        for (int at = 0; at < k; at += TK) {
            int next = min(at + TK, k - TK);
            LOAD(next_x, next_y, next); ADD(x, y, sums); COPY(x, next_x, y, next_y);
        }""",
    "by turns": """IN M(TM, TK, A) xs[2][RM]; IN M(TK, TN, B) ys[2][RN]; int turn = 0; LOAD(xs[0], ys[0], 0);
        for (int at = 0; at < k; at += TK) {
            if (at + TK < k) { LOAD(xs[turn ^ 1], ys[turn ^ 1], at + TK); }
            ADD(xs[turn], ys[turn], sums); turn ^= 1;
        }""",
    "two sums and a rest": """OUT M(TM, TN, ACCUMULATOR) others[RM][RN]; EACH others[i][j] = coop_mat_init(0);
        const int last = k / (2 * TK) * (2 * TK);
        for (int at = 0; at < last; at += 2 * TK) {
            LOAD(x, y, at); LOAD(next_x, next_y, at + TK); ADD(x, y, sums); ADD(next_x, next_y, others);
        }
        if (last < k) { LOAD(x, y, last); ADD(x, y, sums); }
        EACH sums[i][j] = sums[i][j] + others[i][j];""",
    "two rounds ahead": """LOAD(x, y, 0); LOAD(next_x, next_y, TK);
        for (uint at = 2 * TK; at < k; at += TK) {
            LOAD(third_x, third_y, at); ADD(x, y, sums);
            COPY(x, next_x, y, next_y); COPY(next_x, third_x, next_y, third_y);
        }
        ADD(x, y, sums); ADD(next_x, next_y, sums);""",
    "in turn": """LOAD(x, y, 0);
        for (int at = 0; at < k; at += 2 * TK) {
            LOAD(next_x, next_y, at + TK); ADD(x, y, sums);
            if (at + 2 * TK < k) { LOAD(x, y, at + 2 * TK); }
            ADD(next_x, next_y, sums);
        }""",
    "two sums": """OUT M(TM, TN, ACCUMULATOR) others[RM][RN]; EACH others[i][j] = coop_mat_init(0);
        for (int at = 0; at < k; at += 2 * TK) {
            LOAD(x, y, at); LOAD(next_x, next_y, at + TK); ADD(x, y, sums); ADD(next_x, next_y, others);
        }
        EACH sums[i][j] = sums[i][j] + others[i][j];""",
    "in halves": """OUT M(TM, TN, ACCUMULATOR) others[RM][RN]; EACH others[i][j] = coop_mat_init(0);
        for (int at = 0; at < k / 2; at += TK) {
            LOAD(x, y, at); LOAD(next_x, next_y, at + k / 2); ADD(x, y, sums); ADD(next_x, next_y, others);
        }
        EACH sums[i][j] = sums[i][j] + others[i][j];""",
}
"""How a kernel goes along K; the last four need an even number of rounds."""
_OF_A, _OF_B = "CHANGED(x, RM, old {})", "CHANGED(y, RN, old {})"
CHANGES = {
    "": "",
    "B by rows": _OF_B.format("* (OUT)(1 + ((at) + p.s0) % 2)"),
    "B by rounds": _OF_B.format("* (OUT)(1 + (at) / (2 * TK) % 2)"),
    "B by columns": _OF_B.format("* (OUT)(1 + (column + i * TN + p.s1) % 2)"),
    "A by columns": _OF_A.format("* (OUT)(1 + ((at) + p.s1) % 2)"),
    "both": f"{_OF_A.format('+ (OUT)1')} {_OF_B.format('+ (OUT)1')}",
}
"""What becomes of elements of A and B that were loaded, in loops that know where they are along K."""
_EVEN = list(LOOPS)[-4:]
_NUMBERED = "t / across", "t % across"
TILES = {
    "a grid": ("", "get_group_id(1)", "get_group_id(0)"),
    "upwards": ("", "get_num_groups(1) - 1 - get_group_id(1)", "(get_global_id(0) & ~15) >> 4"),
    "a row": ("int t = get_group_id(0);", *_NUMBERED),
    "a row from the last one": ("uint t = get_num_groups(0) - 1 - get_group_id(0);", *_NUMBERED),
    "one after the other": ("for (int t = get_group_id(0); t < down * across; t += get_num_groups(0))", *_NUMBERED),
    "of 64 bits": ("for (ulong t = get_global_id(0) / 16; t < (ulong)down * across; t += get_global_size(0) / 16)",
                   *_NUMBERED),
    "in both directions": ("for (uint y = get_group_id(1); y < down; y += get_num_groups(1)) "
                           "for (uint x = get_group_id(0); across > x; x += get_num_groups(0))", "y", "x"),
    "along a column": ("for (int y = get_group_id(1), x = get_group_id(0); y < down; y += get_num_groups(1))",
                       "y", "x"),
}
"""Which tiles a work-group has → what stands before its part of the kernel, and the numbers of its row and column."""


_OF_GRID = ("if (row >= m || column >= n) return;", "if ((int)row < m && n > (int)column)",
            "if (row + RM * TM > m) return; if (column >= n) return;",
            "if (!(ROW_OF < down & COLUMN_OF < across)) return;", "if (column / (RN * TN) < across) if (row < m)")
_OF_ROW = ("if (t >= down * across) return;", "if (t < m / (RM * TM) * across)")
GUARDS = {"a grid": _OF_GRID, "upwards": _OF_GRID, "a row": _OF_ROW, "a row from the last one": _OF_ROW}
"""Which tiles a work-group has → what keeps those that have none from memory, where there are more than tiles."""
ROUNDED_UP = (1, 2, 4, 8)


@dataclass(frozen=True)
class Drawn:
    """A kernel's options, its sizes, its work-groups along x and y, and how many of these become one. together: the
    rows of B that share words in memory."""

    element: str
    options: tuple[str, ...]
    sizes: tuple[int, int, int]
    groups: tuple[int, int]
    start: int
    end: int
    columns: tuple[bool, bool]
    tile: tuple[int, int, int]
    merge: str
    threads: int
    loop: str
    tiles: str
    together: int
    guard: str
    change: str

    def changed(self, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """A and B as they are multiplied."""
        along, across = np.arange(self.sizes[2]), np.arange(self.sizes[1])
        twice = {"B by rows": along[:, None] % 2, "B by rounds": (along // (2 * self.tile[2]) % 2)[:, None],
                 "B by columns": across % 2}.get(self.change, 0)
        more = int(self.change == "both")
        return (a + more) * (1 + along % 2 * (self.change == "A by columns")), (b + more) * (1 + twice)

    def in_memory(self, a: np.ndarray, b: np.ndarray) -> list[np.ndarray]:
        """A and B as the kernel has them in memory: by rows, by columns, or B with rows together in words."""
        found = [matrix.T if by_columns else matrix for matrix, by_columns in zip((a, b), self.columns, strict=True)]
        if self.together > 1:
            k, n = b.shape
            found[1] = b.reshape(k // self.together, self.together, n).transpose(0, 2, 1)
        return [np.ascontiguousarray(matrix) for matrix in found]


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
    rounds, merge = chance.randint(1, most_rounds), [chance.randint(1, 5) for _ in range(2)]
    threads = chance.randint(1, 3)
    loop = chance.choice(list(LOOPS))
    each = 4 // np.dtype(TYPES[element][0]).itemsize
    together = each if each > 1 and not columns[1] and chance.random() < 0.5 else 1
    options["TOGETHER"] = together
    options["LOOP"] = LOOPS[loop].replace("\n", " ")
    tiles = chance.choice(("a grid", *TILES))
    options |= dict(zip(("TILES", "ROW_OF", "COLUMN_OF"), TILES[tiles], strict=True))
    few = [chance.randint(1, most_groups) for _ in range(2)]
    groups = {"a grid": (grid[1], grid[0]), "upwards": (grid[1], grid[0]), "a row": (grid[0] * grid[1], 1),
              "a row from the last one": (grid[0] * grid[1], 1), "in both directions": (few[1], few[0]),
              "along a column": (grid[1], few[0])}.get(tiles, (few[0], 1))
    guard = chance.choice(("", *GUARDS.get(tiles, ())))
    options["GUARD"] = guard
    if guard:
        up = [chance.choice(ROUNDED_UP) for _ in range(2)]
        groups = (-(-groups[0] // up[0]) * up[0], 1 if guard in _OF_ROW else -(-groups[1] // up[1]) * up[1])
    change = chance.choice(list(CHANGES)) if "LOAD(" in LOOPS[loop] else ""
    options["CHANGE(x,y,at)"] = CHANGES[change]
    return Drawn(element, tuple(f"-D{name}={value}" for name, value in options.items()),
                 (m, n, depth * (2 * -(-rounds // 2) if loop in _EVEN else rounds)), groups, start, end, columns,
                 (tile[0], tile[1], depth), "x".join(map(str, merge)), threads, loop, tiles, together, guard, change)
