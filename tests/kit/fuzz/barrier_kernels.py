"""Random kernels whose work-items give each other data in memory, with every barrier that they need, and the same ones
with some barriers removed.

``generate(seed)`` gives a kernel ``k(out, memory, in)`` that is free of races by construction: at any time each piece
of memory is used in one way, and where the way changes, a barrier comes first. Each work-item has elements of its own,
or all of them read, or one work-item has everything, or a sub-group reads what it has written, by itself or as a
matrix, or all of them add by atomics.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, field
from random import Random

import numpy as np

GEOMETRIES = ((8, 16, 3), (8, 24, 2), (8, 20, 2), (16, 32, 3), (16, 64, 2), (16, 48, 1), (32, 64, 2))
"""Sub-group size, work-items of a work-group, work-groups."""
LOCAL, GLOBAL = "CLK_LOCAL_MEM_FENCE", "CLK_GLOBAL_MEM_FENCE"
WAYS = ("own", "own", "read", "read", "one", "neighbours", "add", "tile")
COLUMNS = 4  # of a sub-group's matrix, which has as many elements as the sub-group has work-items
TILE = ("__attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, {rows}, {columns}, "
        "CLK_COOPERATIVE_MATRIX_ACCUMULATOR)))")


@dataclass(frozen=True)
class Barrier:
    """A barrier in the text; ``split``: in two halves, with this between them."""

    number: int
    flags: str
    is_sub_group: bool = False
    split: str = ""

    def text(self, removed: Collection[int]) -> str:
        if self.number in removed:
            return self.split
        if self.split:
            return (f"intel_work_group_barrier_arrive({self.flags}); {self.split} "
                    f"intel_work_group_barrier_wait({self.flags});")
        return f"{'sub_group_barrier' if self.is_sub_group else 'barrier'}({self.flags});"


@dataclass
class Kernel:
    """A kernel, as lines some of which are barriers, and a launch."""

    seed: int
    lines: list[str | Barrier]
    sub_group: int
    local_size: int
    groups: int
    barriers: int

    @property
    def sizes(self) -> tuple[int, int]:
        """Global and local size."""
        return self.local_size * self.groups, self.local_size

    def text(self, removed: Collection[int] = ()) -> str:
        """The source, without some of its barriers."""
        return "\n".join([f"__attribute__((intel_reqd_sub_group_size({self.sub_group})))",
                          "kernel void k(global uint *out, global uint *memory, global const uint *in) {",
                          *(line if isinstance(line, str) else line.text(removed) for line in self.lines), "}\n"])

    def some_barriers(self) -> frozenset[int]:
        """Barriers to remove: one, some, or most of them."""
        random = Random(self.seed + 1)
        count = random.choice((1, 1, 2, max(1, self.barriers // 2)))
        return frozenset(random.sample(range(self.barriers), min(count, self.barriers)))

    def arguments(self) -> list[np.ndarray]:
        """out, memory and in."""
        rng = np.random.default_rng(self.seed)
        total = self.local_size * self.groups
        return [np.zeros(total, np.uint32), rng.integers(0, 2**32, total, np.uint32),
                rng.integers(0, 2**32, total, np.uint32)]


@dataclass
class Memory:
    """A piece of memory of as many elements as the work-group has work-items, and how it is used since the last barrier
    that orders it; None: not at all."""

    name: str
    flags: str
    way: tuple[str, ...] | None = None

    @property
    def space(self) -> str:
        return "local" if self.flags == LOCAL else "global"


def _is_narrow(way: tuple[str, ...]) -> bool:
    """Whether each sub-group has its part of the memory."""
    return way[0] in ("neighbours", "tile") or way == ("own", "lid")


def generate(seed: int) -> Kernel:
    """The kernel of a seed."""
    return _Generator(seed).kernel()


@dataclass
class _Generator:
    seed: int
    lines: list[str | Barrier] = field(default_factory=list)
    barriers: int = 0
    tiles: int = 0

    def __post_init__(self) -> None:
        self.random = Random(self.seed)
        self.sub_group, self.size, self.groups = self.random.choice(GEOMETRIES)
        self.pieces = [Memory(f"t{number}", LOCAL) for number in range(self.random.randint(1, 3))]
        if self.random.random() < 0.5:
            self.pieces.append(Memory("m", GLOBAL))

    def kernel(self) -> Kernel:
        """The whole kernel."""
        self.lines += [f"local uint {one.name}[{self.size}];" for one in self.pieces if one.flags == LOCAL]
        self.lines += ["uint lid = get_local_id(0), lane = get_sub_group_local_id(), first = lid - lane;",
                       "uint members = get_sub_group_size(), x = in[get_global_id(0)];",
                       f"global uint *m = memory + get_group_id(0) * {self.size};"]
        self.lines += [f"{one.name}[lid] = x + {self.random.randrange(100)};" for one in self.pieces]
        for one in self.pieces:
            one.way = ("own", "lid")
        for _ in range(self.random.randint(3, 7)):
            if self.random.random() < 0.15:
                self.loop()
            else:
                self.statement()
        self.lines += ["out[get_global_id(0)] = x;"]
        for one in self.pieces:
            self.use(one, ("own", "lid"))
            self.lines.append(f"out[get_global_id(0)] ^= {one.name}[lid] * {self.odd()}u;")
        return Kernel(self.seed, self.lines, self.sub_group, self.size, self.groups, self.barriers)

    # --- order ------------------------------------------------------------------------

    def use(self, one: Memory, way: tuple[str, ...]) -> None:
        """Use a piece of memory in a way, after a barrier if it was used in another one."""
        if one.way is not None and one.way != way:
            if _is_narrow(one.way) and _is_narrow(way):
                self.barrier(one.flags, is_sub_group=True)
            else:
                self.barrier(one.flags)
        one.way = way

    def barrier(self, flags: str, *, is_sub_group: bool = False) -> None:
        """A barrier, behind which memory may be used in any way."""
        split = ""
        if not is_sub_group:
            if self.random.random() < 0.2:
                flags = f"{LOCAL} | {GLOBAL}"
            if self.random.random() < 0.1:
                split = f"x = x * {self.odd()} + {self.random.randrange(9)};"
            for one in self.pieces:
                if one.flags in flags:
                    one.way = None
        self.lines.append(Barrier(self.barriers, flags, is_sub_group, split))
        self.barriers += 1

    def loop(self) -> None:
        """A loop; at each turn's start everything before has happened."""
        self.lines.append(f"for (uint n = 0; n < {self.random.randint(2, 3)}; n++) {{")
        self.barrier(f"{LOCAL} | {GLOBAL}")
        for _ in range(self.random.randint(1, 3)):
            self.statement()
        self.lines.append("}")
        self.barrier(f"{LOCAL} | {GLOBAL}")

    # --- accesses ---------------------------------------------------------------------

    def statement(self) -> None:
        """Some accesses to a piece of memory in one way."""
        one, way = self.random.choice(self.pieces), self.random.choice(WAYS)
        condition = self.random.choice(("", "", f"if (x >> {self.random.randrange(32)} & 1) "))
        if way == "own":
            index = self.own()
            self.use(one, ("own", index))
            self.lines.append(condition + self.random.choice((
                f"{one.name}[{index}] = x ^ {self.random.randrange(1000)};",
                f"{one.name}[{index}] += x;", f"x += {one.name}[{index}] * {self.odd()};")))
        elif way == "read":
            self.use(one, ("read",))
            self.lines.append(f"{condition}x ^= {one.name}[{self.any()}] + {self.odd()};")
        elif way == "one":
            who = self.random.randrange(self.size)
            self.use(one, ("one", str(who)))
            self.lines.append(f"if (lid == {who}) for (uint i = 0; i < {self.size}; i += {self.random.randint(1, 5)}) "
                              f"{{ x += {one.name}[i]; {one.name}[i] = x; }}")
        elif way == "tile":
            if self.size % self.sub_group == 0:
                self.tile(one)
        elif way == "neighbours":
            self.use(one, ("neighbours",))
            self.lines.append(f"{condition}x ^= {one.name}[first + (lane + {self.random.randint(1, 7)}) % members];")
        else:
            self.use(one, ("add",))
            self.lines.append(f"{condition}atomic_add({one.name} + {self.any()}, x);")

    def tile(self, one: Memory) -> None:
        """A sub-group loads its part of a piece of memory as a matrix, or stores it. No two of these are ordered."""
        self.tiles += 1
        self.use(one, ("tile", str(self.tiles)))
        name, layout = f"a{self.tiles}", self.random.choice(("ROW", "COLUMN"))
        rows, tile = self.sub_group // COLUMNS, TILE.format(rows=self.sub_group // COLUMNS, columns=COLUMNS)
        stride = COLUMNS if layout == "ROW" else rows
        place = f"({one.space} int *)({one.name} + first)"
        how = f"CLK_COOPERATIVE_MATRIX_LAYOUT_{layout}_MAJOR, {stride}"
        if self.random.random() < 0.5:
            self.lines.append(f"int {tile} {name} = coop_mat_load({place}, {how}); x += {name}[0];")
        else:
            self.lines.append(f"int {tile} {name} = coop_mat_load((global const int *)(in + first), {how}); "
                              f"coop_mat_store({place}, {name}, {how});")

    def own(self) -> str:
        """An index that no other work-item has."""
        if self.random.random() < 0.4:
            return "lid"
        factor = self.random.choice([n for n in range(1, self.size) if math.gcd(n, self.size) == 1])
        return f"(lid * {factor} + {self.random.randrange(self.size)}) % {self.size}"

    def any(self) -> str:
        """Any index."""
        return self.random.choice((f"(lid + {self.random.randint(1, self.size - 1)}) % {self.size}",
                                   f"x % {self.size}", str(self.random.randrange(self.size))))

    def odd(self) -> int:
        return 2 * self.random.randrange(1, 1000) + 1
