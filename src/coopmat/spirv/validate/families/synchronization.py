"""Rules for scopes, memory semantics and barriers (SPIR-V 3.2.24, 3.2.26, 3.3.20)."""

from __future__ import annotations

import numpy as np

from coopmat.spirv.grammar import Capability, MemoryModel, MemorySemantics, Op, Scope, instruction
from coopmat.spirv.validate.rules import Findings, rule
from coopmat.spirv.validate.types import Booleans, Integers
from coopmat.spirv.validate.view import Group, ModuleView

SCOPES = "SPIR-V 3.2.26 Scope"
SEMANTICS = "SPIR-V 3.2.24 Memory Semantics"
BARRIERS = "SPIR-V 3.3.20 Barrier Instructions"
SPLIT_BARRIER = "cl_intel_split_work_group_barrier, OpenCL SPIR-V environment"

_ORDERS = (MemorySemantics.Acquire, MemorySemantics.Release, MemorySemantics.AcquireRelease,
           MemorySemantics.SequentiallyConsistent)
_ORDER = int(sum(_ORDERS))
_KNOWN = int(sum(MemorySemantics))
_CLASSES = int(MemorySemantics.UniformMemory | MemorySemantics.WorkgroupMemory | MemorySemantics.ImageMemory
               | MemorySemantics.OutputMemory)
_RELEASING = int(MemorySemantics.Release | MemorySemantics.AcquireRelease)
_ACQUIRING = int(MemorySemantics.Acquire | MemorySemantics.AcquireRelease)
_SPLIT_BARRIERS = (Op.ControlBarrierArriveEXT, Op.ControlBarrierWaitEXT)
_BARRIERS = (Op.ControlBarrier, Op.MemoryBarrier, Op.MemoryNamedBarrier, *_SPLIT_BARRIERS)
COMPARING = (Op.AtomicCompareExchange, Op.AtomicCompareExchangeWeak)

_WITH_SCOPE = tuple(op for op in Op if "IdScope" in op.signature
                    and op not in (Op.TypeCooperativeMatrixKHR, Op.TypeCooperativeMatrixNV))
_WITH_SEMANTICS = tuple(op for op in Op if "IdMemorySemantics" in op.signature)


def _places(opcode: Op, kind: str) -> list[int]:
    """The places of the operands of this kind."""
    row = instruction(opcode)
    assert row is not None
    return [place for place, spec in enumerate(row.operands) if spec.kind == kind]


SCOPE_PLACES: dict[int, list[int]] = {op: _places(op, "IdScope") for op in _WITH_SCOPE}
"""The places of the scopes of each instruction that has some."""
_SEMANTICS_PLACES: dict[int, list[int]] = {op: _places(op, "IdMemorySemantics") for op in _WITH_SEMANTICS}


def _not_constant(group: Group, place: int) -> Booleans:
    """Whether a scope or semantics is no constant that a shader module may have there."""
    constant = group.constant(place) >= 0
    if group.view.has(Capability.CooperativeMatrixNV):
        constant |= np.isin(group.definition(place), (Op.SpecConstant, Op.SpecConstantOp))
    return ~constant


@rule("scope-value", "A scope is a 32-bit integer, and a constant one of the known scopes.", SCOPES, *_WITH_SCOPE)
def scope_value(group: Group) -> Findings:
    for place in SCOPE_PLACES[group.opcode]:
        yield ~group.value(place).is_int(32), f"the scope of {{op}} is a 32-bit integer, not {{type{place}}}"
        value = group.constant(place)
        yield (value > max(Scope)), f"the scope of {{op}}, {{def{place}}}, is none that exists"
        if group.view.is_shader:
            yield _not_constant(group, place), \
                f"in a shader module the scope of {{op}} is a constant, not {{def{place}}}"


@rule("scope-vulkan",
      "In the Vulkan memory model, memory is shared with a device only by a capability of its own, with a "
      "queue family in no other model.", SCOPES, *(op for op in _WITH_SEMANTICS))
def scope_vulkan(group: Group) -> Findings:
    view = group.view
    place = max(SCOPE_PLACES[group.opcode])
    value = group.constant(place)
    if not view.has(Capability.VulkanMemoryModel):
        yield value == int(Scope.QueueFamily), \
            "the memory scope QueueFamily of {op} needs the capability VulkanMemoryModel"
    elif not view.has(Capability.VulkanMemoryModelDeviceScope):
        yield value == int(Scope.Device), \
            "the memory scope Device of {op} needs the capability VulkanMemoryModelDeviceScope"


@rule("memory-semantics", "Memory semantics are a 32-bit integer with at most one order, in shader modules a constant.",
      SEMANTICS, *_WITH_SEMANTICS)
def memory_semantics(group: Group) -> Findings:
    view = group.view
    for place in _SEMANTICS_PLACES[group.opcode]:
        yield ~group.value(place).is_int(32), \
            f"the memory semantics of {{op}} are a 32-bit integer, not {{type{place}}}"
        if view.is_shader:
            yield _not_constant(group, place), \
                f"in a shader module the memory semantics of {{op}} are a constant, not {{def{place}}}"
        value = np.maximum(group.constant(place), 0)
        if view.is_shader:
            yield value & ~_KNOWN != 0, "the memory semantics of {op} have bits without a meaning"
        order = value & _ORDER
        yield order & (order - 1) != 0, "the memory semantics of {op} name more than one of Acquire, Release, " \
                                        "AcquireRelease and SequentiallyConsistent"
        yield from _capabilities(group, value)
        yield (value & int(MemorySemantics.MakeAvailable) != 0) & (value & _RELEASING == 0), \
            "the memory semantics of {op} make available what they do not release"
        yield (value & int(MemorySemantics.MakeVisible) != 0) & (value & _ACQUIRING == 0), \
            "the memory semantics of {op} make visible what they do not acquire"
        if group.opcode in _BARRIERS:
            yield value & int(MemorySemantics.Volatile) != 0, "{op} cannot be Volatile"


_NEEDS = {MemorySemantics.UniformMemory: Capability.Shader, MemorySemantics.OutputMemory: Capability.VulkanMemoryModel,
          MemorySemantics.MakeAvailable: Capability.VulkanMemoryModel,
          MemorySemantics.MakeVisible: Capability.VulkanMemoryModel,
          MemorySemantics.Volatile: Capability.VulkanMemoryModel}
"""Bit of memory semantics → the capability that it needs."""


def _capabilities(group: Group, value: Integers) -> Findings:
    for bit, capability in _NEEDS.items():
        if not group.view.has(capability) and not group.view.declared.unknown:
            yield value & int(bit) != 0, \
                f"the memory semantics {bit.spelling} of {{op}} need the capability {capability.spelling}"


@rule("memory-semantics-vulkan",
      "In the Vulkan memory model, an order goes with storage classes and a scope beyond the "
      "invocation; there is no sequential consistency.", f"{SEMANTICS}; SPIR-V 2.16.1, Vulkan memory model",
      *_WITH_SEMANTICS)
def memory_semantics_vulkan(group: Group) -> Findings:
    if group.view.memory_model[1] != MemoryModel.VulkanKHR:
        return
    scope = group.constant(max(SCOPE_PLACES[group.opcode]))
    for place in _SEMANTICS_PLACES[group.opcode]:
        known = group.constant(place) >= 0
        value = np.maximum(group.constant(place), 0)
        yield value & int(MemorySemantics.SequentiallyConsistent) != 0, \
            "{op} cannot be SequentiallyConsistent in the Vulkan memory model"
        ordered, classes = value & _ORDER != 0, value & _CLASSES != 0
        yield known & ordered & ~classes, "the memory semantics of {op} name an order, but no storage class"
        yield known & ~ordered & classes, "the memory semantics of {op} name storage classes, but no order"
        yield known & ordered & (scope == int(Scope.Invocation)), \
            "the memory semantics of {op} name an order, but the scope is one invocation"
        if group.opcode == Op.MemoryBarrier:
            yield known & ~ordered, "{op} without an order does nothing in the Vulkan memory model"
    if group.opcode in _SPLIT_BARRIERS:
        allowed = _split_order(group)
        value = np.maximum(group.constant(2), 0)
        yield value & (_ORDER & ~int(allowed)) != 0, f"{{op}} can have the order {allowed.spelling} only"
    if group.opcode in COMPARING:
        yield from _unequal(group)


def _unequal(group: Group) -> Findings:
    """What a failed comparison does is part of what a successful one does."""
    equal, unequal = np.maximum(group.constant(2), 0), np.maximum(group.constant(3), 0)
    both = (group.constant(2) >= 0) & (group.constant(3) >= 0)
    yield both & (unequal & ~equal & (_CLASSES | int(MemorySemantics.MakeVisible)) != 0), \
        "{op} has semantics where the values differ that it lacks where they are equal"
    yield both & ((equal ^ unequal) & int(MemorySemantics.Volatile) != 0), \
        "{op} is Volatile in one of its two semantics only"


@rule("barrier-scope", "In OpenCL, a control barrier is for a work-group or a sub-group.",
      f"OpenCL SPIR-V environment; {BARRIERS}", Op.ControlBarrier)
def barrier_scope(group: Group) -> Findings:
    if group.view.runs_kernels:
        scope = group.constant(0)
        yield (scope >= 0) & ~np.isin(scope, (Scope.Workgroup, Scope.Subgroup)), \
            "the execution scope of {op} is Workgroup (2) or Subgroup (3)"


@rule("split-barrier",
      "A split barrier of a kernel is for a work-group; if it orders memory, arriving releases and waiting acquires.",
      SPLIT_BARRIER, *_SPLIT_BARRIERS)
def split_barrier(group: Group) -> Findings:
    if not group.view.is_kernel:
        return
    scope, semantics = group.constant(0), group.constant(2)
    yield (scope >= 0) & (scope != int(Scope.Workgroup)), "the execution scope of {op} is Workgroup (2), not {def0}"
    order = _split_order(group)
    yield (semantics > 0) & (semantics & _ORDER != int(order)), \
        f"the memory semantics of {{op}} have the order {order.spelling} ({int(order):#x}), or are None (0)"


def _split_order(group: Group) -> MemorySemantics:
    """The order that one half of a split barrier has."""
    return MemorySemantics.Release if group.opcode == Op.ControlBarrierArriveEXT else MemorySemantics.Acquire


@rule("split-barrier-pair", "A function that arrives at a split barrier waits for it, too.", SPLIT_BARRIER,
      severity="warning")
def split_barrier_pair(view: ModuleView) -> Findings:
    arrive = {int(view.flow.function_of[i]): i for i in view.indices(Op.ControlBarrierArriveEXT)}
    wait = {int(view.flow.function_of[i]): i for i in view.indices(Op.ControlBarrierWaitEXT)}
    for function in sorted(arrive.keys() ^ wait.keys()):
        missing = "OpControlBarrierWaitINTEL" if function in arrive else "OpControlBarrierArriveINTEL"
        yield (arrive | wait)[function], f"{{op}} has no {missing} in the same function"


@rule("named-barrier", "A named barrier is made for a number of sub-groups, and waited at.",
      BARRIERS, Op.NamedBarrierInitialize, Op.MemoryNamedBarrier)
def named_barrier(group: Group) -> Findings:
    if group.opcode == Op.NamedBarrierInitialize:
        yield ~group.result.is_kind(Op.TypeNamedBarrier), "{op} gives a named barrier, not {type}"
        yield ~group.value(0).is_int(32), "the number of sub-groups of {op} is a 32-bit integer, not {type0}"
    else:
        yield ~group.value(0).is_kind(Op.TypeNamedBarrier), "{op} waits at a named barrier, not at {type0}"
