"""A seeded generator of kernels for comparing targets: what :mod:`tests.kit.fuzz.generator` makes, smaller, and around
it what sub-groups and work-groups do together.

``generate(seed)`` gives a kernel ``k(out, memory, in)`` as there, with a sub-group size, one to three dimensions,
groups whose size need not be a multiple of it, sub-group functions in divergent code, functions of the group, loops and
branches that are uniform, atomics whose results do not depend on their order, and cooperative matrices of integers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from random import Random

import numpy as np

from tests.kit.fuzz.generator import DEPTH, HEADER, INPUTS, MEMORY, Generator, Kernel
from tests.kit.fuzz.group_statements import GroupStatements
from tests.kit.fuzz.matrix_statements import MatrixStatements
from tests.kit.fuzz.nodes import INT, INTEGERS, UINT, Array, Block, Expression, Node, Place, Statement, Type

GEOMETRIES = (  # sub-group size (0: the target's), local size, numbers of groups
    (4, (4,), (3,)), (4, (7,), (2,)), (4, (2, 2, 3), (1, 2, 1)), (8, (16,), (2,)), (8, (5, 3), (2, 2)),
    (8, (8, 2), (2, 1)), (16, (32,), (2,)), (16, (16, 2), (2, 1)), (16, (4, 4, 2), (1, 2, 1)), (16, (20,), (2,)),
    (16, (3, 5, 2), (2, 1, 1)), (16, (1,), (3,)), (32, (32,), (2,)), (32, (8, 4), (1, 2)), (32, (40,), (1,)),
    (64, (64,), (1,)), (64, (4, 4, 4), (2, 1, 1)), (64, (72,), (1,)), (0, (32,), (2,)), (0, (9,), (2,)),
)
COUNTERS = 4  # of each function of the global atomics
ATOMICS = ("add", "sub", "xor", "or", "and", "min", "max")
EXTRA_INPUTS = 1024  # words of ``in`` for matrices

PROLOGUE = HEADER + """\
uint present(uint lane)
{
    lane %= get_sub_group_size();
    return sub_group_ballot_bit_extract(sub_group_ballot(1), lane) ? lane : get_sub_group_local_id();
}
"""


@dataclass
class TargetKernel(Kernel):
    """A program whose launch has dimensions, with words behind those of the work-items: ``extra`` ones of ``memory``
    for counters and matrices."""

    local: tuple[int, ...] = ()
    groups: tuple[int, ...] = ()
    extra: int = 0

    @property
    def sizes(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Global and local size."""
        return tuple(n * count for n, count in zip(self.local, self.groups, strict=True)), self.local

    def arguments(self) -> list[np.ndarray]:
        out, memory, words = super().arguments()
        rng = np.random.default_rng(self.seed + 1)
        return [out, np.concatenate([memory, rng.integers(0, 2**32, self.extra, np.uint32)]),
                np.concatenate([words, rng.integers(0, 2**32, EXTRA_INPUTS, np.uint32)])]


def generate(seed: int) -> TargetKernel:
    """The kernel of this seed."""
    return TargetGenerator(Random(seed)).kernel(seed)


class TargetGenerator(GroupStatements, MatrixStatements, Generator):
    """Makes kernels for one of :data:`GEOMETRIES`."""

    def __init__(self, random: Random) -> None:
        super().__init__(random)
        self.sub_group_size, self.local, self.groups = self.pick(GEOMETRIES)
        self.counts = (2, 3, 4) if self.chance(0.8) else (2, 4, 8)
        self.depth = self.pick((1, 2, 2, 3))
        self.is_whole = self.sub_group_size > 0 and math.prod(self.local) % self.sub_group_size == 0
        self.total = math.prod(self.local) * math.prod(self.groups)

    def expression(self, type_: Type, depth: int) -> Expression:
        """Not nested as deeply as :mod:`tests.kit.fuzz.generator` does: code for a sub-group is long."""
        return super().expression(type_, min(depth, self.depth))

    # ------------------------------------------------------------------ statements

    def statement(self, depth: int) -> Statement:
        if self.result is None and self.chance(0.1):  # helpers know no counters
            return self.global_atomic()
        if depth > 0 and self.chance(0.08) and self.loops < 2:
            return self.counted_loop(depth - 1)
        return super().statement(min(depth, 2))

    def global_atomic(self) -> Statement:
        """A counter that nothing but one function changes and that only the host reads."""
        which = self.random.randrange(len(ATOMICS))
        signed = self.chance(0.3)
        pointer = "(volatile global int *)" if signed else ""
        return Statement(f"atomic_{ATOMICS[which]}({pointer}(counters + {(2 * which + signed) * COUNTERS} + ",
                         self.index(COUNTERS), "), ", self.expression(INT if signed else UINT, DEPTH), ");")

    def counted_loop(self, depth: int) -> Statement:
        """A loop with as many turns as a value of each work-item says."""
        name, limit = self.name("n"), self.pick((3, 7))
        outer = self.scope
        self.scope = outer.inner()
        self.scope.places.append(Place(UINT, name, (name,), False, 0, limit))
        body = self._body(depth, ["break", "continue"])
        self.scope = outer
        return Statement(f"for (uint {name} = ", self.expression(self.pick(INTEGERS), 2), f" & {limit}; {name} > 0; "
                         f"{name}--) ", body)

    def early_return(self) -> Statement:
        """Some work-items leave the kernel; nothing that needs all of them may follow."""
        return Statement("if (", self.condition(2), ") { out[gid * SLOTS] = (ulong)", self.expression(UINT, 2),
                         "; return; }")

    # ------------------------------------------------------------------ the kernel

    def kernel(self, seed: int) -> TargetKernel:
        """The whole program."""
        self.structs = [self.structure() for _ in range(self.random.randint(0, 1))]
        if self.chance(0.2):
            self.structs.append(self.union())
        types = "".join(struct.declaration() for struct in self.structs)
        constants = [self.constant() for _ in range(self.random.randint(0, 1))]
        helpers = [self.helper() for _ in range(self.random.randint(0, 2))]
        matrices = self.matrix_types() if self.is_whole and self.chance(0.5) else []
        body, locals_ = self._kernel_body(math.prod(self.local))
        writes = [f"out[gid * SLOTS + {slot}] = {text};" for slot, text in enumerate(self._results())]
        size = (f"__attribute__((intel_reqd_sub_group_size({self.sub_group_size})))\n" if self.sub_group_size else "")
        block = Block(*map(Statement, locals_), *map(Statement, self._names()), *body, *map(Statement, writes))
        root = Node(f"{PROLOGUE}#define SLOTS {len(writes)}\n{types}", Node(*constants), Node(*matrices),
                    Node(*helpers), f"{size}kernel void k(global ulong *out, global uint *memory, "
                    "global const uint *in)\n", block, "\n")
        return TargetKernel(seed, root, self.total, math.prod(self.local), len(writes), self.local, self.groups,
                            2 * len(ATOMICS) * COUNTERS + self.matrix_words())

    def _names(self) -> list[str]:
        return ["size_t gid = get_group_id(2);", "gid = gid * get_num_groups(1) + get_group_id(1);",
                "uint group = gid = gid * get_num_groups(0) + get_group_id(0);",
                "uint lid = get_local_linear_id();", f"gid = gid * {math.prod(self.local)} + lid;",
                "uint lane = get_sub_group_local_id();", "uint x = get_global_id(0);",
                f"global uint *m = memory + gid * {MEMORY};",
                f"global uint *counters = memory + {self.total * MEMORY};"]

    def _kernel_body(self, local_size: int) -> tuple[list[Statement], list[str]]:
        """Statements, and the declarations of local memory."""
        for name, limit in (("group", math.prod(self.groups)), ("lid", local_size), ("lane", 64),
                            ("x", self.local[0] * self.groups[0])):
            self.scope.places.append(Place(UINT, name, (name,), False, 0, limit))
        self.scope.places += [Place(UINT, "in", (f"in[gid * {INPUTS} + ", INPUTS, "]"), False),
                              Place(UINT, "in", ("in[", 64, "]"), False),
                              Place(UINT, "in", ("in[lane + ", 64, "]"), False)]
        body = [Statement(f"uint w{n} = in[gid * {INPUTS} + {n}];") for n in range(2)]
        self.scope.places += [Place(UINT, f"w{n}", (f"w{n}",)) for n in range(2)]
        for make in self.random.sample([self.declare_array, self.declaration, self.declaration,
                                        *(lambda t=t: self.declare(t) for t in (*INTEGERS, INT, UINT)),
                                        *(lambda: self.declare(self.any_type()) for _ in range(2))], 5):
            made = make()
            body += [made] if made else []
        self.declared = list(self.scope.places)
        self.scope.places.append(Place(UINT, "memory", ("m[", MEMORY, "]")))
        self.scope.arrays.append(Array(UINT, MEMORY, "m", "memory", "global"))
        self.locals: list[str] = []
        if self.matrices:
            body += self.declare_matrices()
        scope = self.scope
        for _ in range(self.random.randint(2, 6)):
            self.scope = scope
            body.append(self.converged(2) if self.chance(0.45) else self.statement(2))
        if self.matrices:
            body += self.store_matrices()
        if self.chance(0.3):
            body += [self.statement(1), self.early_return(), self.statement(2)]
        return body, self.locals
