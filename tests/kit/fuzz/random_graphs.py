"""Kernels in SPIR-V whose blocks branch to each other at random: values in phis, and loops with several entries.

``generate(seed)`` gives a module of one kernel ``k(out, in)``. Every block mixes two numbers of the work-item, takes
one from its fuel, and goes on to another block, most often by what the numbers are; without fuel, to the last block.
Some blocks mix in what the work-items give that are in them together, so that it matters where work-items meet. Some
kernels call the function that does all this, in a loop and not all work-items in each round.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

import numpy as np

from coopmat.spirv import Module
from coopmat.spirv.analysis.dominators import immediate_dominators, preorder

GEOMETRIES = ((4, 12, 4), (8, 16, 16), (8, 20, 10), (16, 64, 32), (16, 36, 18), (32, 64, 64), (64, 64, 64))
STATE = ("x", "y", "f")  # two numbers and the fuel
OPERATIONS = ("IAdd", "ISub", "IMul", "BitwiseXor", "BitwiseAnd", "BitwiseOr")
GROUP_OPERATIONS = ("GroupNonUniformIAdd %u32 %c3 Reduce", "GroupNonUniformUMax %u32 %c3 Reduce",
                    "GroupNonUniformBitwiseXor %u32 %c3 InclusiveScan", "GroupNonUniformIAdd %u32 %c3 ExclusiveScan")
CONSTANTS = (*range(8), 24, 31, 1664525, 1013904223)

HEAD = """\
OpCapability Kernel
OpCapability Addresses
OpCapability Int64
OpCapability GroupNonUniform
OpCapability GroupNonUniformArithmetic
OpCapability SubgroupDispatch
OpMemoryModel Physical64 OpenCL
OpEntryPoint Kernel %k "k" %gid_in %group_in
OpExecutionMode %k SubgroupSize {size}
OpDecorate %gid_in BuiltIn GlobalInvocationId
OpDecorate %group_in BuiltIn WorkgroupId
%void = OpTypeVoid
%bool = OpTypeBool
%u32 = OpTypeInt 32 0
%u64 = OpTypeInt 64 0
%v3 = OpTypeVector %u64 3
%g = OpTypePointer CrossWorkgroup %u32
%in_v3 = OpTypePointer Input %v3
%words = OpConstant %u32 8
%array = OpTypeArray %u32 %words
%zeros = OpConstantNull %array
%p_array = OpTypePointer Function %array
%p = OpTypePointer Function %u32
%signature = OpTypeFunction %void %g %g
%gid_in = OpVariable %in_v3 Input
%group_in = OpVariable %in_v3 Input
"""


@dataclass
class Graph:
    """A module and its launch."""

    seed: int
    text: str
    global_size: int
    local_size: int

    @property
    def spirv(self) -> bytes:
        return Module.from_text(self.text).to_bytes()

    @property
    def sizes(self) -> tuple[tuple[int], tuple[int]]:
        return (self.global_size,), (self.local_size,)

    def arguments(self) -> list[np.ndarray]:
        """out and in; the same for each call."""
        rng = np.random.default_rng(self.seed)
        return [np.zeros(2 * self.global_size, np.uint32), rng.integers(0, 2**32, 2 * self.global_size, np.uint32)]


def generate(seed: int) -> Graph:
    """The kernel of this seed."""
    return _Maker(Random(seed)).graph(seed)


class _Maker:
    def __init__(self, random: Random) -> None:
        self.random = random
        self.lines: list[str] = []
        self.names = 0
        self.count = random.randint(2, 9)
        self.targets = [self._targets(block) for block in range(self.count)]
        self.ancestors = self._ancestors()

    def _targets(self, block: int) -> list[int]:
        """Where a block goes; the number of blocks stands for the end."""
        ahead = min(block + 1, self.count)
        choices = [ahead, ahead, *range(self.count + 1)]
        return [self.random.choice(choices) for _ in range(self.random.choice((1, 2, 2, 2, 3)))]

    def _ancestors(self) -> list[list[int]]:
        """For each block that can be reached, those whose values are there."""
        graph = [[target for target in row if target < self.count] for row in self.targets]
        sources: list[list[int]] = [[] for _ in graph]
        for block, row in enumerate(graph):
            for target in row:
                sources[target].append(block)
        above = immediate_dominators(0, graph.__getitem__, sources.__getitem__)
        found: list[list[int]] = []
        for block in range(self.count):
            chain, at = [], block
            while at in above and above[at] != at and at != 0:
                at = above[at]
                chain.append(at)
            found.append(chain)
        order, _ = preorder(0, graph.__getitem__)
        self.order = order  # a block comes after those that all ways to it go through
        return found

    # ------------------------------------------------------------------ text

    def let(self, text: str) -> str:
        self.names += 1
        self.lines.append(f"%t{self.names} = {text}")
        return f"%t{self.names}"

    def constant(self) -> str:
        return f"%c{self.random.choice(CONSTANTS)}"

    def operation(self, a: str, b: str) -> str:
        if self.random.random() < 0.15:
            return self.let(f"OpShiftRightLogical %u32 {a} %c{self.random.randrange(1, 8)}")
        return self.let(f"Op{self.random.choice(OPERATIONS)} %u32 {a} {b}")

    def element(self) -> str:
        """A pointer to an element of the private array, by a number that varies or not."""
        index = self.let(f"OpBitwiseAnd %u32 {self.random.choice(('%x0', '%group', '%y0'))} %c7")
        return self.let(f"OpInBoundsAccessChain %p %private {index}")

    def body(self, block: int) -> None:
        """What a block does to its numbers."""
        x, y = f"%x{block}_in", f"%y{block}_in"
        known = [x, y, "%x0", "%y0", "%group", "%id", *(f"%{name}{one}_out" for one in self.ancestors[block]
                                                       for name in "xy")]
        for _ in range(self.random.randint(1, 4)):
            x, y = y, self.operation(x, self.random.choice((y, self.constant(), self.random.choice(known))))
        if self.random.random() < 0.3:
            pointer = self.element()
            x = self.let(f"OpIAdd %u32 {x} {self.let(f'OpLoad %u32 {pointer} Aligned 4')}")
            self.lines.append(f"OpStore {pointer} {x} Aligned 4")
        if self.random.random() < 0.4:
            x = self.operation(x, self.let(f"Op{self.random.choice(GROUP_OPERATIONS)} {self.random.choice((x, y))}"))
        self.lines += [f"%x{block}_out = OpCopyObject %u32 {x}", f"%y{block}_out = OpCopyObject %u32 {y}"]

    def terminator(self, block: int) -> None:
        """To one of the block's targets, by a number of the work-item or one that is the same for all."""
        targets = [self.label(target) for target in self.targets[block]]
        if len(targets) == 1:
            self.lines.append(f"OpBranch {targets[0]}")
            return
        chosen = self.random.choice((f"%x{block}_out", f"%y{block}_out", f"%x{block}_out", "%group", "%id", "%shared"))
        bits = self.let(f"OpBitwiseAnd %u32 {chosen} %c{self.random.choice((1, 2, 3))}")
        if len(targets) == 2:
            condition = self.let(f"OpINotEqual %bool {bits} %c0")
            self.lines.append(f"OpBranchConditional {condition} {targets[0]} {targets[1]}")
        else:
            self.lines.append(f"OpSwitch {bits} {targets[0]} 1 {targets[1]} 2 {targets[2]}")

    def label(self, block: int) -> str:
        return f"%head{block}" if block < self.count else "%end"

    def graph(self, seed: int) -> Graph:
        size, global_size, local_size = self.random.choice(GEOMETRIES)
        phis: dict[int, dict[str, list[str]]] = {block: {name: [] for name in STATE}
                                                 for block in range(self.count + 1)}

        def edge(target: int, label: str, values: tuple[str, ...]) -> None:
            for name, value in zip(STATE, values, strict=True):
                if label not in phis[target][name][1::2]:
                    phis[target][name] += [value, label]

        edge(0, "%start", ("%x0", "%y0", f"%c{self.random.choice((6, 24, 31))}"))
        for block in self.order:
            edge(self.count, f"%head{block}", tuple(f"%{name}{block}_in" for name in STATE))
            for target in self.targets[block]:
                edge(target, f"%body{block}", (f"%x{block}_out", f"%y{block}_out", f"%f{block}_out"))
        parts: list[str] = []
        for block in self.order:
            self.lines = []
            self.body(block)
            self.lines.append(f"%f{block}_out = OpISub %u32 %f{block}_in %c1")
            self.terminator(block)
            parts += [f"%head{block} = OpLabel", *self._phis(block, phis[block]),
                      f"%empty{block} = OpIEqual %bool %f{block}_in %c0",
                      f"OpBranchConditional %empty{block} %end %body{block}", f"%body{block} = OpLabel", *self.lines]
        constants = [f"%c{value} = OpConstant %u32 {value}" for value in CONSTANTS]
        constants.append(f"%far = OpConstant %u64 {global_size}")
        caller, function = (CALLER, "%mix") if self.random.random() < 0.3 else ([], "%k")
        lines = [HEAD.format(size=size) + "\n".join(constants), *caller,
                 f"{function} = OpFunction %void None %signature", *START, *parts, "%end = OpLabel",
                 *self._phis(self.count, phis[self.count]), *self._end()]
        return Graph(seed, "\n".join(lines) + "\n", global_size, local_size)

    def _phis(self, block: int, sources: dict[str, list[str]]) -> list[str]:
        return [f"%{name}{block}_in = OpPhi %u32 {' '.join(words)}" for name, words in sources.items()]

    def _end(self) -> list[str]:
        n = self.count
        return [f"%all = OpGroupNonUniformIAdd %u32 %c3 InclusiveScan %x{n}_in",
                f"%sum = OpBitwiseXor %u32 %all %f{n}_in", "%first = OpInBoundsPtrAccessChain %g %out %wide",
                "%before = OpLoad %u32 %first Aligned 4", "%both = OpIMul %u32 %before %c1664525",
                "%now = OpIAdd %u32 %sum %both", "OpStore %first %now Aligned 4",
                "%second = OpInBoundsPtrAccessChain %g %first %far",
                f"OpStore %second %y{n}_in Aligned 4", "OpReturn", "OpFunctionEnd"]


CALLER = """\
%k = OpFunction %void None %signature
%k_out = OpFunctionParameter %g
%k_in = OpFunctionParameter %g
%k_start = OpLabel
%k_gid = OpLoad %v3 %gid_in Aligned 32
%k_wide = OpCompositeExtract %u64 %k_gid 0
%k_id = OpUConvert %u32 %k_wide
OpBranch %round
%round = OpLabel
%n = OpPhi %u32 %c0 %k_start %more %next
%turn = OpIAdd %u32 %n %k_id
%bits = OpBitwiseAnd %u32 %turn %c3
%some = OpINotEqual %bool %bits %c0
OpBranchConditional %some %call %next
%call = OpLabel
%nothing = OpFunctionCall %void %mix %k_out %k_in
OpBranch %next
%next = OpLabel
%more = OpIAdd %u32 %n %c1
%again = OpULessThan %bool %more %c3
OpBranchConditional %again %round %k_end
%k_end = OpLabel
OpReturn
OpFunctionEnd""".splitlines()
START = """\
%out = OpFunctionParameter %g
%in = OpFunctionParameter %g
%start = OpLabel
%private = OpVariable %p_array Function %zeros
%gid3 = OpLoad %v3 %gid_in Aligned 32
%wide = OpCompositeExtract %u64 %gid3 0
%id = OpUConvert %u32 %wide
%group3 = OpLoad %v3 %group_in Aligned 32
%group_wide = OpCompositeExtract %u64 %group3 0
%group = OpUConvert %u32 %group_wide
%x_at = OpInBoundsPtrAccessChain %g %in %wide
%x0 = OpLoad %u32 %x_at Aligned 4
%y_at = OpInBoundsPtrAccessChain %g %x_at %wide
%y0 = OpLoad %u32 %y_at Aligned 4
%shared = OpLoad %u32 %in Aligned 4
OpBranch %head0""".splitlines()
