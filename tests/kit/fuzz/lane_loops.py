"""Random OpenCL C with loops that start at a work-item's own number, and what it means: the same loops in Python, one
work-item after the other.

``generate(seed)`` gives a kernel ``k(out, mine, in, n, m)``. Each work-item mixes what it reads into a number, its
element of ``out``; the loops that give every index to one work-item also write to the work-group's part of ``mine``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from textwrap import indent

import numpy as np

ELEMENTS = 1024  # of ``in``, and of each work-group's part of ``mine``
TYPES = {"int": 32, "uint": 32, "long": 64, "ulong": 64}
NUMBERS = {"uchar": np.uint8, "ushort": np.uint16, "uint": np.uint32, "ulong": np.uint64}
GEOMETRIES = ((16, 64, 32), (16, 32, 16), (8, 48, 24), (16, 40, 20), (32, 64, 64), (4, 24, 12))
"""Sub-group, global and local size."""
MASK = 0xFFFFFFFF


def wrap(value: int, kind: str) -> int:
    """An integer as a type holds it."""
    bits = TYPES[kind]
    value &= (1 << bits) - 1
    return value - (1 << bits) if not kind.startswith("u") and value >> bits - 1 else value


@dataclass
class Kernel:
    """A kernel, the same in Python, and a launch."""

    seed: int
    element: str
    body: str
    meaning: str
    sub_group: int
    global_size: int
    local_size: int
    n: int
    m: int

    @property
    def source(self) -> str:
        return (f"__attribute__((intel_reqd_sub_group_size({self.sub_group})))\n"
                f"kernel void k(global uint *out, global {self.element} *mine, global const {self.element} *in, int n, "
                "int m)\n{\n"
                "    uint x = 1, lid = get_local_id(0), lsz = get_local_size(0), gid = get_global_id(0);\n"
                "    uint gsz = get_global_size(0), sid = get_sub_group_local_id();\n"
                f"    mine += get_group_id(0) * {ELEMENTS};\n    local {self.element} tile[{ELEMENTS}];\n"
                f"{indent(self.body, '    ')}    out[gid] = x;\n}}\n")

    @property
    def groups(self) -> int:
        return self.global_size // self.local_size

    def arguments(self) -> list:
        """out, mine, in, n and m."""
        rng = np.random.default_rng(self.seed)
        kind = NUMBERS[self.element]
        given = rng.integers(0, 256, ELEMENTS).astype(kind)
        return [np.zeros(self.global_size, np.uint32), np.zeros(self.groups * ELEMENTS, kind), given, self.n, self.m]

    def expected(self) -> tuple[np.ndarray, np.ndarray]:
        """What ``out`` and ``mine`` have then."""
        out, mine, given, n, m = self.arguments()
        code = compile("def run(x, lid, lsz, gid, gsz, sid, mine, tile, given, n, m):\n"
                       f"{indent(self.meaning, '    ')}    yield x\n", f"seed {self.seed}", "exec")
        scope: dict = {"wrap": wrap, "MASK": MASK, "quotient": quotient}
        exec(code, scope)
        for group in range(self.groups):
            part = mine[group * ELEMENTS:(group + 1) * ELEMENTS]
            tile = np.zeros(ELEMENTS, mine.dtype)
            runs = [scope["run"](1, lid, self.local_size, group * self.local_size + lid, self.global_size,
                                 lid % self.sub_group, part, tile, given.tolist(), n, m)
                    for lid in range(self.local_size)]
            while runs:  # from barrier to barrier
                for lid, found in enumerate([next(run) for run in runs]):
                    if found is not None:
                        out[group * self.local_size + lid] = found & MASK
                runs = runs if found is None else []
        return out, mine


def quotient(a: int, b: int) -> int:
    """C's."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


class _Generator:
    """Writes C and Python side by side."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.count = 0
        self.going_on: list[str] = []  # Python's continue, of the loops around

    def index(self, i: str) -> tuple[str, str]:
        """An index into ``in``, made of a loop's variable, which is at most 133."""
        number = self.random.choice((3, 8, 16, 48, 64))
        c = self.random.choice((
            f"{i}", f"{i} % {number}", f"{i} / {number}", f"{i} / {number} * {number} + {i} % {number}",
            f"{i} / m * m + {i} % m", f"({i} & 31)", f"({i} >> 2)", f"2 * {i}", f"3 * {i} + 1", f"4 * {i}",
            f"500 - {i}", f"600 - 2 * {i}", f"(size_t){i} * 2 % 64 + {number}", f"({i} & ~15) + 3", f"{i} << 1",
            f"(({i} + 1) >> 4) * 16 + ({i} & 15)"))
        python = c.replace("(size_t)", "")
        while " / " in python:
            left, _, right = python.partition(" / ")
            divisor, _, rest = right.partition(" ")
            python = f"{left.removesuffix(i)}quotient({i}, {divisor}) {rest}"
        end = self.random.choice(("", f" & {ELEMENTS - 1}"))
        return f"({c}){end}", f"({python}){end}"

    def statements(self, i: str, depth: int) -> Iterator[tuple[str, str]]:
        """Of a loop's body."""
        for _ in range(self.random.randint(1, 3)):
            c, python = self.index(i)
            factor = self.random.randrange(3, 99, 2)
            choice = self.random.randrange(10)
            if choice < 5:
                yield f"x = x * {factor} + (uint)in[{c}];", f"x = x * {factor} + given[{python}] & MASK"
            elif choice == 5:
                yield (f"if (in[{c}] & 1) continue;", f"if given[{python}] & 1: {self.going_on[-1]}")
            elif choice == 6:
                yield f"if (in[{c}] > {200 + depth * 9}) break;", f"if given[{python}] > {200 + depth * 9}: break"
            elif choice == 7:
                yield f"if (in[{c}] & 2) x += 5;", f"if given[{python}] & 2: x = x + 5 & MASK"
            elif choice == 8 and depth < 2:
                yield from self.loop(depth + 1)
            elif depth < 2:
                j = self.name()
                yield (f"for (int {j} = 0; {j} < m % 5; {j}++)\n    x = x * 3 + (uint)in[({c}) + {j} & 1023];",
                       f"for {j} in range(m % 5):\n    x = x * 3 + given[({python}) + {j} & 1023] & MASK")

    def name(self) -> str:
        self.count += 1
        return f"i{self.count}"

    def loop(self, depth: int) -> Iterator[tuple[str, str]]:
        """A loop of any kind."""
        i, kind = self.name(), self.random.choice(tuple(TYPES))
        start = self.random.choice(("lid", "lid", "gid", "sid", "lid + 3", "2 * lid", "lid * 3 + 1"))
        step = self.random.choice(("lsz", "gsz", "16", "7", "2 * lsz"))
        bound = self.random.choice(("n", "n", "n + 5", "90", "m * 4"))
        sign = self.random.choice(("<", "<", "<="))
        if kind in ("int", "long") and self.random.randrange(4) == 0:
            start, step, bound = f"{bound} - (int)({start})", f"-(int)({step})", "0"
            sign = self.random.choice((">", ">="))
        condition = f"{i} {sign} ({kind})({bound})"
        if self.random.randrange(4) == 0:
            condition = f"({kind})({bound}) {sign.translate(str.maketrans('<>', '><'))} {i}"
        advance = f"{i} = wrap({i} + ({_python(step)}), '{kind}')"
        self.going_on.append(f"{advance}; continue")
        parts = list(self.statements(i, depth))
        self.going_on.pop()
        c = "\n".join(one for one, _ in parts)
        python = "\n".join(one for _, one in parts)
        yield (f"for ({kind} {i} = {start}; {condition}; {i} += {step}) {{\n{indent(c, '    ')}\n}}",
               f"{i} = wrap({_python(start)}, '{kind}')\nwhile {_python(condition)}:\n{indent(python, '    ')}\n"
               f"    {advance}")

    def copy(self) -> Iterator[tuple[str, str]]:
        """From ``in`` to local memory, and on to ``mine``, in another order: each index is one work-item's."""
        kind, number = self.random.choice(tuple(TYPES)), self.random.choice((3, 8, 16, 48))
        there = self.random.choice(("{}", "{} / {n} * {n} + {} % {n}", "1023 - {}", "2 * {}", "3 * {}", "4 * {} + 1"))
        place, (c, python) = there.format("i", "i", n=number), self.index("i")
        limit = self.random.choice(("n", "m * 4", "96"))
        head = f"for ({kind} i = lid; i < ({kind})({limit}); i += lsz)"
        loop = f"for i in range(lid, {limit}, lsz):"
        meant = place.replace("/", "//")
        yield f"{head}\n    tile[{place}] = in[{c}] + 1;", \
            f"{loop}\n    tile[{meant}] = given[{python}] + 1 & {{limit}}"
        yield "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);", "yield None"
        yield f"{head}\n    mine[{place}] = tile[{place}] ^ 1;", f"{loop}\n    mine[{meant}] = tile[{meant}] ^ 1"
        yield "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);", "yield None"


def _python(text: str) -> str:
    """C's conversions are Python's nothing: all values are small."""
    for kind in TYPES:
        text = text.replace(f"({kind})", "")
    return text


def generate(seed: int) -> Kernel:
    """The kernel of a seed."""
    random = Random(seed)
    geometry = random.choice(GEOMETRIES)
    generator = _Generator(random)
    element = random.choice(tuple(NUMBERS))
    parts: list[tuple[str, str]] = []
    for _ in range(2):
        parts += list(generator.copy()) if random.randrange(3) == 0 else list(generator.loop(0))
    c, python = ("\n".join(found) + "\n" for found in zip(*parts, strict=True))
    limit = (1 << 8 * NUMBERS[element]().itemsize) - 1
    n, m = random.choice((64, 96, 100, 128, 37)), random.choice((16, 17, 32, 24))
    return Kernel(seed, element, c, python.replace("{limit}", str(limit)), *geometry, n, m)
