"""Random OpenCL C with group functions wherever work-items part, and what it means: each statement is carried out by
all who come to it in the same round of the loops around it.

``generate(seed)`` gives a kernel ``k(out, in)`` and ``Kernel.expected()`` what it computes, found by walking over the
statements with a mask of those who are there, not over a graph of blocks.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

import numpy as np

Array = np.ndarray
GEOMETRIES = ((8, 16, 16), (16, 32, 16), (16, 40, 20), (32, 64, 64))  # sub-group, global and local size
LIMIT = 3  # rounds of a loop


@dataclass
class Condition:
    """``(x >> shift & mask) < limit``, and whether a second one is an alternative to it or must hold, too."""

    shift: int
    mask: int
    limit: int
    link: str = ""
    other: Condition | None = None

    @property
    def text(self) -> str:
        own = f"(x >> {self.shift} & {self.mask}) < {self.limit}"
        return f"({own} {self.link} {self.other.text})" if self.other else own

    def holds(self, x: Array) -> Array:
        own = (x >> np.uint32(self.shift) & np.uint32(self.mask)) < self.limit
        if self.other is None:
            return own
        return own | self.other.holds(x) if self.link == "||" else own & self.other.holds(x)


@dataclass
class Statement:
    """``bodies`` are those of if and else, of a loop, or of the cases of a switch, whose default is case ``number``."""

    kind: str
    number: int = 0
    condition: Condition | None = None
    bodies: list[list[Statement]] = field(default_factory=list)


@dataclass
class Kernel:
    """The statements of functions, the last of them the kernel, and a launch."""

    seed: int
    functions: list[list[Statement]]
    sub_group: int
    global_size: int
    local_size: int

    @property
    def sizes(self) -> tuple[tuple[int], tuple[int]]:
        return (self.global_size,), (self.local_size,)

    def arguments(self) -> list[Array]:
        """out and in."""
        rng = np.random.default_rng(self.seed)
        return [np.zeros(self.global_size, np.uint32), rng.integers(0, 2**32, self.global_size, np.uint32)]

    @property
    def source(self) -> str:
        *helpers, kernel = self.functions
        texts = [f"uint f{number}(uint x)\n{{\n{_text(body, 'return x;')}    return x;\n}}\n"
                 for number, body in enumerate(helpers)]
        leave = "{ out[get_global_id(0)] = x; return; }"
        return "".join([
            *texts, f"__attribute__((intel_reqd_sub_group_size({self.sub_group})))\n",
            "kernel void k(global uint* out, global const uint* in)\n{\n    uint x = in[get_global_id(0)];\n",
            _text(kernel, leave), "    out[get_global_id(0)] = x;\n}\n"])

    def expected(self) -> Array:
        """What ``out`` is to be."""
        out, values = self.arguments()
        for group in range(0, self.global_size, self.local_size):
            end = group + self.local_size
            for first in range(group, end, self.sub_group):
                x = values[first:min(first + self.sub_group, end)].copy()
                out[first:first + len(x)] = _Walk(self.functions, len(self.functions) - 1, x, np.ones(len(x), bool)).x
        return out


def _text(body: list[Statement], leave: str, indent: str = "    ") -> str:
    """The source of statements; ``leave`` is a return."""
    def inner(number: int = 0) -> str:
        return _text(one.bodies[number], leave, indent + "    ")

    lines: list[str] = []
    for one in body:
        holds = one.condition.text if one.condition else ""
        match one.kind:
            case "mix":
                lines.append(f"x = x * {2 * one.number + 5} + sub_group_non_uniform_reduce_add(x ^ {one.number});")
            case "call":
                lines.append(f"x = f{one.number}(x);")
            case "return":
                lines.append(leave)
            case "break" | "continue":
                lines.append(f"{one.kind};")
            case "if":
                lines.append(f"if ({holds}) {{\n{inner()}{indent}}} else {{\n{inner(1)}{indent}}}")
            case "for":
                lines.append(f"for (uint i = 0; i < {LIMIT} && {holds}; ++i) {{\n{inner()}{indent}}}")
            case "do":
                lines.append(f"{{ uint i = 0; do {{\n{inner()}{indent}}} while (++i < {LIMIT} && {holds}); }}")
            case "forever":
                lines.append(f"for (uint i = 0;;) {{ if (i++ == {LIMIT}) break;\n{inner()}{indent}}}")
            case "switch":
                cases = "".join(f"{indent}{'default' if number == one.number else f'case {number}'}:\n{inner(number)}"
                                for number in range(len(one.bodies)))
                lines.append(f"switch (x >> 3 & 3) {{\n{cases}{indent}}}")
    return "".join(f"{indent}{line}\n" for line in lines)


class _Walk:
    """One execution of a function by those of a mask; ``x`` is in the end what each of them returns."""

    def __init__(self, functions: list[list[Statement]], number: int, x: Array, mask: Array) -> None:
        self.functions = functions
        self.x = x
        self.left: list[dict[str, Array]] = []  # for each loop and switch around: who has left it, and how
        self.walk(functions[number], mask)

    def walk(self, body: list[Statement], mask: Array) -> Array:
        """Carry out statements for those of the mask; who goes on after them."""
        for one in body:
            if not mask.any():
                break
            mask = getattr(self, f"do_{one.kind}")(one, mask)
        return mask

    def do_mix(self, one: Statement, mask: Array) -> Array:
        total = (self.x ^ np.uint32(one.number))[mask].sum(dtype=np.uint32)
        self.x[mask] = self.x[mask] * np.uint32(2 * one.number + 5) + total
        return mask

    def do_call(self, one: Statement, mask: Array) -> Array:
        self.x[mask] = _Walk(self.functions, one.number, self.x.copy(), mask).x[mask]
        return mask

    def do_return(self, one: Statement, mask: Array) -> Array:
        return np.zeros_like(mask)

    def do_break(self, one: Statement, mask: Array) -> Array:
        self.left[-1]["break"] |= mask
        return np.zeros_like(mask)

    def do_continue(self, one: Statement, mask: Array) -> Array:
        next(around for around in reversed(self.left) if "continue" in around)["continue"] |= mask
        return np.zeros_like(mask)

    def do_if(self, one: Statement, mask: Array) -> Array:
        chosen = mask & self.holds(one)
        return self.walk(one.bodies[0], chosen) | self.walk(one.bodies[1], mask & ~chosen)

    def do_for(self, one: Statement, mask: Array) -> Array:
        done = np.zeros_like(mask)
        left = {"break": np.zeros_like(mask), "continue": np.zeros_like(mask)}
        self.left.append(left)
        for number in range(LIMIT + 1):
            goes_on = mask & self.holds(one) if self.is_tested(one, number) else mask
            goes_on = goes_on & (number < LIMIT)
            done |= mask & ~goes_on
            left["continue"][:] = False
            mask = self.walk(one.bodies[0], goes_on) | left["continue"]
        self.left.pop()
        return done | left["break"]

    do_do = do_forever = do_for

    @staticmethod
    def is_tested(one: Statement, number: int) -> bool:
        """Whether a loop looks at its condition before this round."""
        return one.kind == "for" or (one.kind == "do" and number > 0)

    def do_switch(self, one: Statement, mask: Array) -> Array:
        chosen = self.x >> np.uint32(3) & np.uint32(3)
        known = [number for number in range(len(one.bodies)) if number != one.number]
        goes_on = np.zeros_like(mask)
        left = {"break": np.zeros_like(mask)}
        self.left.append(left)
        for number, body in enumerate(one.bodies):
            here = ~np.isin(chosen, known) if number == one.number else chosen == number
            goes_on = self.walk(body, goes_on | (mask & here))
        self.left.pop()
        return goes_on | left["break"]

    def holds(self, one: Statement) -> Array:
        assert one.condition is not None
        return one.condition.holds(self.x)


def generate(seed: int) -> Kernel:
    """The kernel of this seed."""
    random = Random(seed)
    sizes = random.choice(GEOMETRIES)
    helper = _Maker(random, 0, 8).body(2, False, False)
    kernel = _Maker(random, 1, 18).body(3, False, False)
    return Kernel(seed, [helper, kernel], *sizes)


@dataclass
class _Maker:
    random: Random
    callable: int  # how many functions there are
    left: int  # statements that may still be made

    def body(self, depth: int, in_loop: bool, in_switch: bool) -> list[Statement]:
        found = [self.statement(depth, in_loop, in_switch) for _ in range(self.random.randint(1, 3))]
        jumps = ["return", *["break"] * 2 * (in_loop or in_switch), *["continue"] * 2 * in_loop]
        if depth < 3 and self.random.random() < 0.4:
            found.append(Statement(self.random.choice(jumps)))
        return found

    def statement(self, depth: int, in_loop: bool, in_switch: bool) -> Statement:
        self.left -= 1
        kinds = ["mix", "if", "if", "for", "do", "forever", "switch"] if depth and self.left > 0 else ["mix"]
        kind = self.random.choice(kinds + ["call"] * bool(self.callable))
        if kind == "switch":
            count = self.random.randint(2, 4)
            return Statement(kind, self.random.randrange(count), None,
                             [self.body(depth - 1, in_loop, True) for _ in range(count)])
        if kind == "if":
            return Statement(kind, 0, self.condition(),
                             [self.body(depth - 1, in_loop, in_switch) for _ in range(2)])
        if kind in ("for", "do", "forever"):
            return Statement(kind, 0, self.condition(), [self.body(depth - 1, True, False)])
        return Statement(kind, self.random.randrange(self.callable if kind == "call" else 100))

    def condition(self) -> Condition:
        mask = self.random.choice((1, 3, 7))
        found = Condition(self.random.randrange(24), mask, self.random.randint(1, mask))
        if self.random.random() < 0.4:
            found.link, found.other = self.random.choice(("||", "&&")), self.condition()
        return found
