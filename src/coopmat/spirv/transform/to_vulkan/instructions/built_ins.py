"""Built-in variables: numbers of 32 bits in a shader, and what has to be computed of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from coopmat.spirv.analysis.types import BoolType, IntType, Type, VectorType
from coopmat.spirv.grammar import BuiltIn, Decoration, Op, StorageClass
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.transform.to_vulkan.instructions.composites import of_scalars
from coopmat.spirv.transform.to_vulkan.translation import Translation
from coopmat.spirv.transform.to_vulkan.types import U32, U64

DIMENSIONS = 3
_TRIPLE = VectorType(U32, DIMENSIONS)
_GROUP = ("group_offset",)
_HIDDEN: dict[int, tuple[str, ...]] = {
    BuiltIn.WorkgroupId: _GROUP, BuiltIn.NumWorkgroups: ("group_count",), BuiltIn.GlobalSize: ("group_count",),
    BuiltIn.GlobalInvocationId: ("group_offset", "global_offset"), BuiltIn.GlobalOffset: ("global_offset",),
    BuiltIn.GlobalLinearId: ("group_offset", "group_count"), BuiltIn.WorkDim: ("work_dim",),
}
"""Built-in → what the runtime has to fill in for it."""


def built_in_of(t: Translation, pointer: int) -> BuiltIn | None:
    """Which built-in a variable is."""
    words = t.is_decorated(pointer, Decoration.BuiltIn)
    return None if words is None else BuiltIn(words[0])


def is_built_in(t: Translation, pointer: int) -> bool:
    """Whether a pointer is a built-in variable or a part of one."""
    return pointer in t.built_in_parts or built_in_of(t, pointer) is not None


def hidden(t: Translation) -> Iterator[str]:
    """What the kernel's built-ins need of the runtime."""
    for row in t.module.of_opcode(Op.Variable):
        built_in = built_in_of(t, row.result_id or 0)
        if built_in is not None and t.is_used(row.result_id or 0):
            yield from _HIDDEN.get(built_in, ())


def load(t: Translation, pointer: int, kind: Type) -> int:
    """The value of a built-in variable, or of one component, as the kernel declares it."""
    if pointer in t.built_in_parts:
        base, index = t.built_in_parts[pointer]
        whole = t.pointee(base)
        value = load(t, base, whole)
        number = t.integer_of(index)
        if number is not None:
            return t.writer.extract(kind, value, number)
        return t.writer.op(Op.VectorExtractDynamic, kind, value, t.value(index))
    built_in = built_in_of(t, pointer)
    assert built_in is not None
    if isinstance(kind, VectorType):
        found = [_component(t, built_in, index, kind.component) for index in range(kind.length)] \
            if kind.length == DIMENSIONS else []
        return of_scalars(t, kind, found) if found else _input(t, built_in, kind)
    return _component(t, built_in, 0, kind)


def is_taken_apart(t: Translation, row: Instruction) -> bool:
    """Whether a built-in is loaded for some of its components only."""
    return isinstance(t.result_type(row), VectorType) and all(
        user.opcode == Op.CompositeExtract for user in t.module.uses(row.result_id or 0))


def component(t: Translation, pointer: int, index: int, kind: Type) -> int:
    """One component of a built-in variable."""
    built_in = built_in_of(t, pointer)
    assert built_in is not None
    return _component(t, built_in, index, kind)


def _component(t: Translation, built_in: BuiltIn, index: int, kind: Type) -> int:
    computed = _COMPUTED.get(built_in)
    if computed is not None:
        value, found = computed(t, index)
    elif built_in in _TRIPLES:
        value, found = t.writer.extract(U32, _input(t, built_in, _TRIPLE), index), U32
    elif built_in in _SCALARS:
        value, found = _input(t, _SCALARS[built_in], U32), U32
    else:
        raise t.refuse(f"the built-in {built_in.name}")
    return t.writer.converted(value, found, kind)


def number(t: Translation, built_in: BuiltIn) -> int:
    """A built-in of one number, of 32 bits."""
    return _input(t, _SCALARS[built_in], U32)


def _input(t: Translation, built_in: BuiltIn, kind: Type) -> int:
    variable = t.inputs.get(built_in)
    if variable is None:
        variable = t.inputs[built_in] = t.writer.out.global_variable(StorageClass.Input, t.writer.types(kind))
        t.writer.out.decorate(variable, Decoration.BuiltIn, built_in)
    return t.writer.op(Op.Load, kind, variable)


_TRIPLES = frozenset({BuiltIn.LocalInvocationId})
_SCALARS = {
    BuiltIn.LocalInvocationIndex: BuiltIn.LocalInvocationIndex, BuiltIn.SubgroupSize: BuiltIn.SubgroupSize,
    BuiltIn.SubgroupMaxSize: BuiltIn.SubgroupSize, BuiltIn.NumSubgroups: BuiltIn.NumSubgroups,
    BuiltIn.NumEnqueuedSubgroups: BuiltIn.NumSubgroups, BuiltIn.SubgroupId: BuiltIn.SubgroupId,
    BuiltIn.SubgroupLocalInvocationId: BuiltIn.SubgroupLocalInvocationId,
}

Number = tuple[int, IntType]


def size_of_group(t: Translation, index: int) -> int:
    """The size of a work-group in one dimension, of 32 bits."""
    return t.local_size[index]


def _local_size(t: Translation, index: int) -> Number:
    return size_of_group(t, index), U32


def _group_id(t: Translation, index: int) -> Number:
    here = t.writer.extract(U32, _input(t, BuiltIn.WorkgroupId, _TRIPLE), index)
    return t.writer.add(U32, here, t.block.hidden("group_offset", index)), U32


def _group_count(t: Translation, index: int) -> Number:
    return t.block.hidden("group_count", index), U32


def _wide_product(t: Translation, a: int, b: int) -> int:
    return t.writer.multiply(U64, t.writer.converted(a, U32, U64), t.writer.converted(b, U32, U64))


def _global_size(t: Translation, index: int) -> Number:
    return _wide_product(t, _group_count(t, index)[0], size_of_group(t, index)), U64


def _from_zero(t: Translation, index: int) -> int:
    """The global id without the offset, of 64 bits."""
    first = _wide_product(t, _group_id(t, index)[0], size_of_group(t, index))
    here = t.writer.extract(U32, _input(t, BuiltIn.LocalInvocationId, _TRIPLE), index)
    return t.writer.add(U64, first, t.writer.converted(here, U32, U64))


def _global_id(t: Translation, index: int) -> Number:
    return t.writer.add(U64, _from_zero(t, index), t.block.hidden("global_offset", index)), U64


def _global_offset(t: Translation, index: int) -> Number:
    return t.block.hidden("global_offset", index), U64


def _global_linear(t: Translation, index: int) -> Number:
    value = _from_zero(t, 2)
    for dimension in (1, 0):
        value = t.writer.multiply(U64, value, _global_size(t, dimension)[0])
        value = t.writer.add(U64, value, _from_zero(t, dimension))
    return value, U64


def _dimensions(t: Translation, index: int) -> Number:
    return t.block.hidden("work_dim"), U32


def _members(t: Translation, index: int) -> Number:
    """How many work-items a sub-group has: the last one of a work-group may be smaller than the others."""
    writer = t.writer
    size = number(t, BuiltIn.SubgroupSize)
    total = writer.multiply(U32, writer.multiply(U32, t.local_size[0], t.local_size[1]), t.local_size[2])
    left = writer.op(Op.ISub, U32, total, writer.multiply(U32, number(t, BuiltIn.SubgroupId), size))
    return writer.op(Op.Select, U32, writer.op(Op.ULessThan, BoolType(), left, size), left, size), U32


_COMPUTED: dict[BuiltIn, Callable[[Translation, int], Number]] = {
    BuiltIn.WorkgroupSize: _local_size, BuiltIn.EnqueuedWorkgroupSize: _local_size, BuiltIn.WorkgroupId: _group_id,
    BuiltIn.NumWorkgroups: _group_count, BuiltIn.GlobalSize: _global_size, BuiltIn.GlobalInvocationId: _global_id,
    BuiltIn.GlobalOffset: _global_offset, BuiltIn.GlobalLinearId: _global_linear, BuiltIn.WorkDim: _dimensions,
    BuiltIn.SubgroupSize: _members,
}
