"""Records as structures, against LLVM's data layout for SPIR-V."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from llvmlite import binding, ir

from coopmat.lowering.memory import is_empty_array, memory_type, natural_alignment, physical_record
from coopmat.lowering.spirv.types import TypeLowering
from coopmat.spirv.edit.builder import ModuleBuilder
from coopmat.spirv.grammar import Op
from coopmat.tree import types as t

DATA_LAYOUT = binding.create_target_data(
    "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-n8:16:32:64-G1")
FLOATS = {16: ir.HalfType(), 32: ir.FloatType(), 64: ir.DoubleType()}


def llvm_type(type_: t.Type) -> ir.Type:
    """``type_`` as an LLVM type, laid out by LLVM."""
    match type_:
        case t.Scalar(kind="float", bits=bits):
            return FLOATS[bits]
        case t.Scalar(bits=bits):
            return ir.IntType(bits)
        case t.Vector(scalar=scalar, count=count):
            return ir.VectorType(llvm_type(scalar), count)
        case t.Pointer():
            return ir.IntType(64)
        case t.Array(item=item, count=count):
            return ir.ArrayType(llvm_type(item), count)
        case t.Record():
            physical = physical_record(type_)
            return ir.LiteralStructType([llvm_type(member) for member in physical.members], physical.packed)
    raise AssertionError(type_)


SCALARS = [s for s in t.SCALARS.values() if s != t.BFLOAT16]
leaves = st.one_of(st.sampled_from(SCALARS),
                   st.builds(t.Vector, st.sampled_from(SCALARS[1:]), st.sampled_from(t.VECTOR_COUNTS)),
                   st.just(t.Pointer(t.INT, t.AddressSpace.GLOBAL)))


def _record(members: list[t.Type], is_union: bool, packed: bool, alignment: int | None,
            most: int | None = None, placed: tuple[int | None, int | None, bool] = (None, None, False)) -> t.Record:
    """A record; ``placed`` says what its second member has of its own: alignment of the type, alignment, packed."""
    fields = tuple(t.Field(f"f{i}", member, False, *(placed if i == 1 else ())) for i, member in enumerate(members))
    return t.Record("R", is_union, fields, packed, alignment, most)


ALIGNMENTS = st.sampled_from([None, None, 1, 2, 8, 16, 64])


def records(members: st.SearchStrategy[t.Type]) -> st.SearchStrategy[t.Record]:
    return st.builds(_record, st.lists(members, min_size=1, max_size=5), st.booleans(), st.booleans(), ALIGNMENTS,
                     st.sampled_from([None, None, 1, 4]), st.tuples(ALIGNMENTS, ALIGNMENTS, st.booleans()))


members = st.recursive(leaves, lambda inner: st.one_of(records(inner), st.builds(
    t.Array, inner, st.integers(0, 4))), max_leaves=8)


@settings(derandomize=True, max_examples=300, deadline=None)
@given(records(members))
def test_llvm_places_the_members_where_the_layout_says(record: t.Record) -> None:
    layout = t.layout_of(record)
    physical = physical_record(record)
    lowered = llvm_type(memory_type(record))
    assert lowered.get_abi_size(DATA_LAYOUT) == layout.size
    assert lowered.get_abi_alignment(DATA_LAYOUT) == natural_alignment(record)
    offsets = [lowered.get_element_offset(DATA_LAYOUT, index) for index in physical.index_of if index is not None]
    expected = [offset for offset, member in zip(layout.offsets, record.fields or (), strict=True)
                if not is_empty_array(member.type)]
    assert offsets == ([] if record.is_union else expected)


def test_bools_and_enumerations_have_a_form_in_memory() -> None:
    assert memory_type(t.BOOL) == t.UCHAR
    assert memory_type(t.Vector(t.BOOL, 4)) == t.Vector(t.UCHAR, 4)
    assert memory_type(t.Array(t.Array(t.BOOL, 2), 3)) == t.Array(t.Array(t.UCHAR, 2), 3)
    assert memory_type(t.Enumeration("colour")) == t.INT


def test_a_plain_record_stays_as_it_is() -> None:
    record = _record([t.CHAR, t.INT, t.DOUBLE], False, False, None)
    assert physical_record(record).members == (t.CHAR, t.INT, t.DOUBLE)
    assert not physical_record(record).packed


def test_an_over_aligned_record_is_padded() -> None:
    record = _record([t.INT], False, False, 16)
    assert physical_record(record).members == (t.INT, t.Array(t.UCHAR, 12))


@pytest.mark.parametrize("indirect", [False, True])
def test_records_that_point_to_each_other_are_declared_ahead(indirect: bool) -> None:
    node, holder = t.Record("Node"), t.Record("Holder")
    holder.fields = (t.Field("node", t.Array(node, 2)),)
    target = holder if indirect else node
    node.fields = (t.Field("next", t.Pointer(target, t.AddressSpace.GLOBAL)), t.Field("value", t.INT))
    module = ModuleBuilder()
    types = TypeLowering(module)
    pointer = types.value(t.Pointer(node, t.AddressSpace.GLOBAL))
    assert types.value(t.Pointer(node, t.AddressSpace.GLOBAL)) == pointer
    built = module.finish()
    forward = [item for item in built.instructions if item.opcode == Op.TypeForwardPointer]
    assert len(forward) == 1
    pointee = built.definition(built.definition(forward[0].words[0]).words[1])
    assert pointee.opcode == Op.TypeStruct
    assert len(pointee.words) == (1 if indirect else 2)
