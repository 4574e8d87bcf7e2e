"""Barriers of sub-groups, which not every driver has: whether they work, and what takes their place.

Intel's runtime for CPUs has all sub-groups of a work-group wait at them, and rusticl on a CPU forgets rounds of loops
around them, so that kernels go wrong in silence where sub-groups take different ways. There a sub-group is a vector,
whose work-items are never apart: what is left of the barrier is the order of accesses to memory.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from coopmat.spirv.edit.editor import Editor
from coopmat.spirv.grammar import Op, Scope
from coopmat.spirv.module import Module
from coopmat.spirv.module.instruction import make
from coopmat.targets.opencl.declarations import declared_for
from coopmat.targets.opencl.host.description import DriverDevice
from coopmat.targets.opencl.host.trial import Trial

KERNEL = "ways"
SUB_GROUPS, ROUNDS = 2, 3
_TEXT = """
               OpCapability Addresses
               OpCapability Kernel
               OpCapability Int64
               OpCapability SubgroupDispatch
               OpMemoryModel Physical64 OpenCL
               OpEntryPoint Kernel %ways "ways" %number %item
               OpExecutionMode %ways SubgroupSize {size}
               OpDecorate %number BuiltIn SubgroupId
               OpDecorate %item BuiltIn LocalInvocationId
       %void = OpTypeVoid
       %uint = OpTypeInt 32 0
      %ulong = OpTypeInt 64 0
       %bool = OpTypeBool
    %v3ulong = OpTypeVector %ulong 3
     %global = OpTypePointer CrossWorkgroup %uint
  %in_number = OpTypePointer Input %uint
    %in_item = OpTypePointer Input %v3ulong
  %signature = OpTypeFunction %void %global
     %number = OpVariable %in_number Input
       %item = OpVariable %in_item Input
       %zero = OpConstant %uint 0
     %rounds = OpConstant %uint {rounds}
     %groups = OpConstant %uint {groups}
       %size = OpConstant %uint {size}
      %scope = OpConstant %uint 3
      %order = OpConstant %uint 520
       %ways = OpFunction %void None %signature
        %out = OpFunctionParameter %global
      %start = OpLabel
      %first = OpLoad %uint %number
      %items = OpLoad %v3ulong %item
       %wide = OpCompositeExtract %ulong %items 0
      %local = OpUConvert %uint %wide
       %lane = OpUMod %uint %local %size
       %seen = OpLoad %uint %out Aligned 4
    %unknown = OpBitwiseAnd %uint %seen %rounds
               OpBranch %head
       %head = OpLabel
      %round = OpPhi %uint %first %start %next %again
       %left = OpULessThan %bool %round %rounds
               OpLoopMerge %end %again None
               OpBranchConditional %left %inside %end
     %inside = OpLabel
               OpBranch %turns
      %turns = OpLabel
       %turn = OpPhi %uint %zero %inside %after %more
      %waits = OpULessThan %bool %turn %unknown
               OpLoopMerge %passed %more None
               OpBranchConditional %waits %hold %passed
       %hold = OpLabel
               OpControlBarrier %scope %scope %order
               OpBranch %more
       %more = OpLabel
      %after = OpIAdd %uint %turn %groups
               OpBranch %turns
     %passed = OpLabel
       %line = OpIMul %uint %round %size
         %at = OpIAdd %uint %line %lane
      %place = OpPtrAccessChain %global %out %at
               OpStore %place %round Aligned 4
               OpBranch %again
      %again = OpLabel
       %next = OpIAdd %uint %round %groups
               OpBranch %head
        %end = OpLabel
               OpReturn
               OpFunctionEnd
"""
"""Sub-groups take the rounds of a loop in turn, so that one has more than another, with barriers in a loop of
each, whose end no compiler knows: as they stand in code for matrices, and where rusticl loses the last round."""


_EXCHANGE = """
               OpStore %place %item_number Aligned 4
               OpMemoryBarrier %scope %order
      %other = OpBitwiseXor %ulong %wide %one
       %near = OpPtrAccessChain %global %out %other
      %found = OpLoad %uint %near Aligned 4
               OpMemoryBarrier %scope %order
    %doubled = OpIAdd %uint %found %found
               OpStore %place %doubled Aligned 4
               OpReturn
               OpFunctionEnd
"""
"""Work-items write and read what their neighbours have written, with no more than an order in between."""


def trial(device: DriverDevice, size: int, requires_size: bool) -> Trial:
    """A launch whose sub-groups meet different numbers of barriers."""
    return _trial(device, _TEXT, size, requires_size, np.full((ROUNDS, size), -1, np.int32))


def exchange(device: DriverDevice, size: int, requires_size: bool) -> Trial:
    """A launch whose work-items wait for nobody."""
    start = _TEXT[:_TEXT.index("       %seen =")].replace("%rounds =", "%unused =")
    place = ("%item_number = OpUConvert %uint %wide\n      %place = OpPtrAccessChain %global %out %wide\n")
    text = start.replace("%scope = OpConstant", "%one = OpConstant %ulong 1\n %scope = OpConstant") + place + _EXCHANGE
    return _trial(device, text, size, requires_size, np.full(SUB_GROUPS * size, -1, np.int32))


def _trial(device: DriverDevice, text: str, size: int, requires_size: bool, memory: np.ndarray) -> Trial:
    text = text.format(size=size, rounds=ROUNDS, groups=SUB_GROUPS)
    if not requires_size:
        text = "\n".join(line for line in text.splitlines() if "SubgroupSize" not in line
                         and "SubgroupDispatch" not in line)
        text = text.replace("OpCapability Int64", "OpCapability Int64\n               OpCapability GroupNonUniform")
    module = declared_for(device, Module.from_text(f"; Version: 1.3\n{text}"))
    sizes = (SUB_GROUPS * size,)
    return Trial(module.to_bytes(), KERNEL, sizes, sizes, (memory,))


def is_exchanged(found: Sequence[np.ndarray]) -> bool:
    """Whether each work-item has found what its neighbour wrote."""
    return bool((found[0] == 2 * (np.arange(found[0].size) ^ 1)).all())


def is_right(found: Sequence[np.ndarray]) -> bool:
    """Whether every round has been done."""
    return all((found[0][number] == number).all() for number in range(ROUNDS))


def without_barriers(module: Module) -> Module:
    """The module whose barriers of sub-groups order accesses only."""
    editor = Editor(module)
    if not any(row.opcode == Op.ControlBarrier and module.constant_value(row.words[0]) == Scope.Subgroup
               for row in editor.functions):
        return module
    editor.rewrite_functions(lambda row: (make(Op.MemoryBarrier, *row.words[1:]),) if row.opcode == Op.ControlBarrier
                             and module.constant_value(row.words[0]) == Scope.Subgroup else None)
    return editor.finish()
