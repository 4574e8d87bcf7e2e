"""Cooperative matrices of integers in generated kernels: every operation is exact, and wraps."""

from __future__ import annotations

import math

from tests.kit.fuzz.generator import INPUTS, MEMORY, Generator
from tests.kit.fuzz.nodes import INT, Node, Statement

SHAPES = ((8, 16, 32), (16, 16, 64), (8, 8, 32), (16, 16, 16), (4, 8, 16), (1, 16, 32), (2, 4, 4), (8, 16, 8))
SIGNS = ("MATRIX_A", "MATRIX_B", "MATRIX_C", "MATRIX_RESULT")
PREFIX = "CLK_COOPERATIVE_MATRIX_OPERAND_"
REDUCE, COMBINE = "CLK_COOPERATIVE_MATRIX_REDUCE_", "CLK_COOPERATIVE_MATRIX_COMBINE_"
LAYOUTS = ("CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR", "CLK_COOPERATIVE_MATRIX_LAYOUT_COLUMN_MAJOR")
ARRAY = 3
GRID = 2  # rows and columns of matrices, and structures in an array


class MatrixStatements(Generator):
    """Statements on matrices ``ma`` (A), ``mb`` (B), ``c0``, ``c1``, an array ``cs``, an array of arrays ``grid`` and a
    structure ``pair`` of accumulators, and an array ``pairs`` of these. All of a sub-group reach them together."""

    sub_group_size: int
    local: tuple[int, ...]
    groups: tuple[int, ...]
    total: int
    matrices = False

    def matrix_types(self) -> list[Statement]:
        """The types, and functions of them."""
        self.matrices = True
        self.m, self.n, self.k = self.pick(SHAPES)
        self.types = self.pick(("char", "uchar")), self.pick(("char", "uchar"))
        self.is_signed = self.chance(0.7)
        scope = "__attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, {}, {}, CLK_COOPERATIVE_MATRIX_{})))"
        return [Statement(
            f"typedef {self.types[0]} matrix_a {scope.format(self.m, self.k, 'A')};\n"
            f"typedef {self.types[1]} matrix_b {scope.format(self.k, self.n, 'B')};\n"
            f"typedef {self._word} matrix_c {scope.format(self.m, self.n, 'ACCUMULATOR')};\n"
            f"typedef short matrix_s {scope.format(self.m, self.n, 'ACCUMULATOR')};\n"
            f"typedef short matrix_u {scope.format(self.m, self.n, 'A')};\n"
            f"typedef {self._word} matrix_v {scope.format(self.m, self.n, 'B')};\n"
            f"typedef char matrix_t {scope.format(self.n, self.m, 'B')};\n"
            f"typedef {self._word} matrix_w {scope.format(self.n, self.m, 'ACCUMULATOR')};\n"
            "typedef struct { matrix_c first; uint number; matrix_c second; } matrix_pair;\n"
            "matrix_c either(matrix_c a, matrix_c b, uint chosen)\n"
            "{\n    if (chosen & 1)\n        return a - b;\n    if (chosen & 2)\n        return b;\n"
            "    return a + b;\n}\n"
            "matrix_c changed(matrix_c c, uint step)\n"
            "{\n    for (uint i = 0; i < coop_mat_length(c); ++i) {\n        int2 at = coop_mat_get_coord(c, i);\n"
            "        c[i] = c[i] * (at.x + 1) + (at.y ^ step);\n    }\n    return c;\n}\n"
            "matrix_pair exchanged(matrix_pair pair, uint step)\n"
            "{\n    matrix_pair other = {pair.second, pair.number + step, pair.first};\n    return other;\n}\n"
            "void moved(matrix_c *c, uint count)\n"
            "{\n    for (uint i = 0; i < count; ++i)\n        c[i] = c[i] + c[(i + 1) % count];\n}\n"
            "WORD placed(uint row, uint column, WORD x) { return x * 3 + (row << 8 ^ column); }\n"
            "WORD mixed(WORD x, uint step, WORD y)\n"
            "{\n    for (uint i = 0; i < (step & 3); ++i) {\n        if (x & 1) x = x * 3 + y;\n        else x >>= 1;\n"
            "        if (x == 5) return y;\n    }\n    return x ^ y;\n}\n"
            "WORD picked(int row, short column, WORD x, global const WORD *from)\n"
            "{\n    return row > column ? x : from[(row + column) & 31] - x;\n}\n".replace("WORD", self._word))]

    @property
    def _word(self) -> str:
        """The type of accumulators' elements."""
        return "int" if self.is_signed else "uint"

    def matrix_words(self) -> int:
        """Words of ``memory`` that all sub-groups store their matrices to."""
        return self._region() * self._sub_groups() * math.prod(self.groups) if self.matrices else 0

    def _sub_groups(self) -> int:
        return math.prod(self.local) // self.sub_group_size

    def _region(self) -> int:
        return len(self._kept()) * self.m * self.n

    def declare_matrices(self) -> list[Statement]:
        start = f"memory + {self.total * MEMORY + 56}"
        number = f"(group * {self._sub_groups()} + get_sub_group_id())"
        return [Statement(f"global WORD *place = (global WORD *)({start} + {number} * {self._region()});"
                          .replace("WORD", self._word)),
                Statement("matrix_a ma = ", self._load(0), ";"), Statement("matrix_b mb = ", self._load(1), ";"),
                Statement("matrix_c c0 = coop_mat_init(0), c1 = coop_mat_init(-7);"),
                Statement(f"matrix_c cs[{ARRAY}];\nfor (uint i = 0; i < {ARRAY}; ++i) cs[i] = coop_mat_init(i);"),
                Statement("matrix_pair pair;\npair.first = c1; pair.number = 3; pair.second = c0;"),
                Statement(f"matrix_c grid[{GRID}][{GRID}];\nmatrix_pair pairs[{GRID}];\n"
                          f"for (uint i = 0; i < {GRID}; ++i) {{\n    for (uint j = 0; j < {GRID}; ++j) "
                          "grid[i][j] = i > j ? c0 : c1;\n    pairs[i] = pair;\n}")]

    def _load(self, which: int) -> Node:
        """A or B out of ``in``: 4096 bytes are behind what the work-items read."""
        rows, columns = ((self.m, self.k), (self.k, self.n))[which]
        layout = self.random.randrange(2)
        stride = (columns, rows)[layout] + self.pick((0, 0, 1, 16))
        return Node(f"coop_mat_load((global const {self.types[which]} *)(in + {self.total * INPUTS}) + "
                    f"{self.random.randrange(256)} + (group & 3) * 32, {LAYOUTS[layout]}, {stride})")

    def _accumulator(self) -> str:
        row, column = (self.pick(("0", "1", "(group & 1)", "(get_sub_group_id() & 1)")) for _ in range(2))
        return self.pick(("c0", "c1", f"cs[{self.random.randrange(ARRAY)}]", f"cs[group % {ARRAY}u]", "pair.first",
                          "pair.second", f"cs[get_sub_group_id() % {ARRAY}u]", f"grid[{row}][{column}]",
                          f"pairs[{row}].{self.pick(('first', 'second'))}"))

    def matrix_statement(self) -> Statement:
        """Any statement on matrices."""
        return self.pick((self._multiply, self._multiply, self._elementwise, self._elementwise, self._components,
                          self._components, self._reduce, self._apply, self._convert, self._over_array,
                          self._through_function, self._reload, self._move))()

    def _flags(self) -> str:
        """Which operands are signed."""
        signs = (self.types[0] == "char", self.types[1] == "char", self.is_signed, self.is_signed)
        names = [f"{PREFIX}{name}_SIGNED" for name, is_signed in zip(SIGNS, signs, strict=True) if is_signed]
        if self.chance(0.3):
            names.append(f"{PREFIX}SATURATING_ACCUMULATION")
        return " | ".join(names) or f"{PREFIX}NONE"

    def _multiply(self) -> Statement:
        return Statement(f"{self._accumulator()} = coop_mat_mulAdd(ma, mb, {self._accumulator()}, {self._flags()});")

    def _elementwise(self) -> Statement:
        a, b, c = (self._accumulator() for _ in range(3))
        return Statement(self.pick((
            f"{a} = {b} + {c};", f"{a} = {b} - {c};", f"{a} = -{b};", f"{a} += {b};", f"{a} = {b} * {c};",
            f"{a} *= (int)in[{self.random.randrange(64)}];", "ma = ma + ma;", "mb = -mb;", f"{a} = {b};",
            f"{{ matrix_s s = coop_mat_convert({b}); s = s + s; {a} = coop_mat_convert(s); }}")))

    def _components(self) -> Statement:
        """A loop over the components of each work-item."""
        a, b = self._accumulator(), self._accumulator()
        loop = f"for (uint i = 0; i < coop_mat_length({a}); ++i) "
        match self.random.randrange(6):
            case 0:
                return Statement(loop, f"{{ int2 at = coop_mat_get_coord({a}, i); {a}[i] += {b}[i] ^ at.x - at.y; }}")
            case 1:
                return Statement(loop, f"{{ if ({a}[i] & 1) {a}[i] = {b}[i] >> 3; else {a}[i] += ",
                                 self.expression(INT, 1), "; }")
            case 2:
                return Statement(loop, "w0 += ", f"{a}[i] * (i + 1);")
            case 3:
                return Statement(loop, f"{a}[i] = max({a}[i], ({b}[i] & 63) * 3);")
            case 4:
                return Statement("for (uint i = 0; i < coop_mat_length(ma); ++i) ma[i] = ma[i] > 9 ? ma[i] - 9 : i;")
        return Statement(loop, f"{{ {a}[i] ^= lane + w0; if (i == 1) break; }}")

    def _reduce(self) -> Statement:
        axis, operation = self.pick(("ROW", "COLUMN", "ALL")), self.pick(("ADD", "MIN", "MAX", "MUL"))
        return Statement(f"{self._accumulator()} = coop_mat_reduce({self._accumulator()}, {REDUCE}{axis}, "
                         f"{COMBINE}{operation});")

    def _apply(self) -> Statement:
        """A function of the program, or a built-in one, for each element."""
        a, b, c = (self._accumulator() for _ in range(3))
        return Statement(self.pick((
            f"{a} = coop_mat_apply({b}, placed);", f"{a} = coop_mat_apply({b}, mixed, group, {c});",
            f"{a} = coop_mat_apply({b}, mixed, {self.random.randrange(9)}, {b});", f"{a} = max({b}, {c});",
            f"{a} = coop_mat_apply({b}, picked, (global const {self._word} *)in);", f"{a} = mad24({b}, {c}, {b});",
            f"{a} = clamp({b}, ({self._word})3, ({self._word})in[3] | 64);", "ma = min(ma, ma + ma);",
            f"{a} = rotate({b}, {c});", f"{a} = abs_diff(min({b}, {c}), {c});")))

    def _convert(self) -> Statement:
        """To other uses and types and back, transposed or not."""
        a, b = self._accumulator(), self._accumulator()
        kind, function = self.pick((("u", "convert"), ("v", "convert"), ("t", "transpose"), ("w", "transpose")))
        between = self.pick(("", "x = x + x; "))
        return Statement(f"{{ matrix_{kind} x = coop_mat_{function}({b}); {between}{a} = coop_mat_{function}(x); }}")

    def _over_array(self) -> Statement:
        a = self._accumulator()
        return Statement(f"for (uint i = 0; i < {ARRAY}; ++i) ", self.pick((
            f"cs[i] = cs[i] + {a};", f"cs[i] = cs[{ARRAY - 1} - i] * {a};", f"if (i & 1) cs[i] = {a};",
            f"cs[i] = coop_mat_mulAdd(ma, mb, cs[i], {self._flags()});",
            f"for (uint j = 0; j < {GRID}; ++j) grid[i & 1][j] = grid[j][i & 1] - cs[i];",
            f"{{ uint j = i & 1; grid[j][1] = pairs[j].first; pairs[1 - j] = pairs[j]; pairs[j].second = {a}; }}",
            f"for (uint j = 0; j < coop_mat_length({a}); ++j) grid[i & 1][1][j] += cs[i][j] ^ {a}[j];")))

    def _through_function(self) -> Statement:
        a, b, c = (self._accumulator() for _ in range(3))
        chosen = self.random.randrange(4)
        return Statement(self.pick((f"{a} = either({b}, {c}, group);", f"{a} = either({b}, {c}, {chosen});",
                                    f"{a} = changed({b}, group);", f"{a} = in[7] & 1 ? {b} : changed({c}, 5);",
                                    "pair = exchanged(pair, group);", "pairs[group & 1] = exchanged(pair, 2);",
                                    f"moved(cs, {ARRAY});", f"moved(grid[group & 1], {GRID});", f"moved(&{a}, 1);")))

    def _reload(self) -> Statement:
        if self.chance(0.6):
            which = self.random.randrange(2)
            return Statement(f"{('ma', 'mb')[which]} = ", self._load(which), ";")
        layout = self.random.randrange(2)
        stride = (self.n, self.m)[layout]
        return Statement(f"coop_mat_store(place, {self._accumulator()}, {LAYOUTS[layout]}, {stride});\n"
                         f"sub_group_barrier(CLK_GLOBAL_MEM_FENCE);\n"
                         f"{self._accumulator()} = coop_mat_load(place, {LAYOUTS[layout]}, {stride});")

    def _move(self) -> Statement:
        return Statement(self.pick(("pair.first = pair.second;", "pair.number += 5;", "matrix_pair other = pair;",
                                    "if (pair.number & 1) { matrix_pair p = pair; p.first = c0; pair = p; }",
                                    "{ matrix_c t = c0; c0 = c1; c1 = t; }", "pairs[group & 1] = pair;",
                                    "pair = pairs[get_sub_group_id() & 1];",
                                    f"for (uint i = 0; i < {GRID}; ++i) grid[i][0] = cs[i];",
                                    f"for (uint i = 0; i < {GRID}; ++i) cs[i] = coop_mat_init(0);")))

    def _kept(self) -> list[str]:
        """The accumulators."""
        return ["c0", "c1", *(f"cs[{i}]" for i in range(ARRAY)), "pair.first", "pair.second",
                *(f"grid[{i}][{j}]" for i in range(GRID) for j in range(GRID)),
                *(f"pairs[{i}].{name}" for i in range(GRID) for name in ("first", "second"))]

    def store_matrices(self) -> list[Statement]:
        """All accumulators to the sub-group's own words."""
        return [Statement(f"coop_mat_store(place + {i * self.m * self.n}, {name}, {LAYOUTS[i & 1]}, "
                          f"{(self.n, self.m)[i & 1]});") for i, name in enumerate(self._kept())]
