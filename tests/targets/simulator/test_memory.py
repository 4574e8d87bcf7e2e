"""Loads, stores, address arithmetic, every storage class, and what goes wrong there."""

from __future__ import annotations

import numpy as np
import pytest

from coopmat.diagnostics import Misaligned, OutOfBounds, SimulationError, UndefinedBehavior, ValidationError
from coopmat.targets.base.local_memory import LocalMemory
from coopmat.targets.simulator import SimulatorOptions
from tests.kit.targets.short_kernels import DTYPES, module, run

RNG = np.random.default_rng(23)
LINE = '%file = OpString "kernel.cl"'

COPY = """
    OpLine %file 12 5
    %p = OpPtrAccessChain %g_{0} %a {1}
    %v = OpLoad %{0} %p
    OpLine %file 13 5
    %q = OpPtrAccessChain %g_{0} %out {2}
    OpStore %q %v"""


def copy_kernel(kind: str = "i32", source: str = "%gx", target: str = "%gx", before: str = ""):
    return module(f"g_{kind} out, g_{kind} a", before + COPY.format(kind, source, target), strings=LINE)


# --------------------------------------------------------------------------------------
# Global memory
# --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", DTYPES)
def test_scalars_and_vectors_of_every_type(kind: str) -> None:
    dtype = np.dtype(DTYPES[kind])
    for count in (1, 2, 4, 8, 16):
        a = np.frombuffer(RNG.bytes(32 * count * dtype.itemsize), np.uint8).view(dtype).copy()
        out = np.zeros_like(a)
        run(copy_kernel(kind if count == 1 else f"v{count}_{kind}"), [out, a], 32)
        assert out.tobytes() == a.tobytes()


def test_three_component_vectors_take_the_room_of_four() -> None:
    a = RNG.integers(0, 99, (16, 4)).astype(np.int32)
    out = np.full_like(a, -1)
    run(copy_kernel("v3_i32"), [out, a])
    np.testing.assert_array_equal(out[:, :3], a[:, :3])
    assert (out[:, 3] == -1).all()


def test_gather_and_scatter() -> None:
    order, a = RNG.permutation(64).astype(np.int64), RNG.integers(0, 99, 64).astype(np.int32)
    out = np.zeros(64, np.int32)
    source = module("g_i32 out, g_i32 a, g_i64 order", """
        %pi = OpPtrAccessChain %g_i64 %order %gx
        %i = OpLoad %i64 %pi
        """ + COPY.format("i32", "%i", "%i"), strings=LINE)
    run(source, [out, a, order], 64)
    np.testing.assert_array_equal(out, a)


def test_the_last_lane_wins() -> None:
    out, a = np.zeros(2, np.int32), np.arange(64, dtype=np.int32)
    run(copy_kernel(target="%i64_c1"), [out, a], 64, options=SimulatorOptions(races=False))
    assert out.tolist() == [0, 63]


def test_arrays_need_not_start_at_an_aligned_place() -> None:
    """Offset 0 of an argument is aligned, wherever numpy has put the array."""
    raw = np.zeros(65, np.uint8)
    a = raw[1:].view(np.int32)
    a[:] = np.arange(16)
    out = np.zeros(16, np.int32)
    run(copy_kernel(), [out, a])
    np.testing.assert_array_equal(out, a)


@pytest.mark.parametrize(("index", "element"), [("%i64_c1", 16), ("%i64_cm1", -1)])
@pytest.mark.parametrize("writing", [False, True])
def test_out_of_bounds_names_everything(index: str, element: int, writing: bool) -> None:
    lane = 15 if element > 0 else 0
    places = ("%gx", "%shifted") if writing else ("%shifted", "%gx")
    source = copy_kernel("i32", *places, before=f"%shifted = OpIAdd %i64 %gx {index}\n")
    a = np.arange(16, dtype=np.int32)
    with pytest.raises(OutOfBounds) as error:
        run(source, [np.zeros(16, np.int32), a])
    where = error.value.where
    assert (where.kernel, where.location) == ("kernel", f"kernel.cl:{13 if writing else 12}:5")
    assert (where.work_group, where.sub_group, where.lane) == ((0, 0, 0), 0, lane)
    assert (where.buffer, where.element) == ("argument 0 'out'" if writing else "argument 1 'a'", element)
    verb = "write" if writing else "read"
    assert str(error.value).startswith(f"{verb} of 4 bytes at byte {4 * element}; the buffer has 64 bytes, 16 elements")


def test_the_offender_is_the_first_lane_in_order_and_its_group_is_named() -> None:
    source = copy_kernel("i32", "%i", before="%i = OpIMul %i64 %gx %i64_c2\n")
    with pytest.raises(OutOfBounds) as error:
        run(source, [np.zeros(128, np.int32), np.zeros(100, np.int32)], 128, 32)
    where = error.value.where  # lane 50 of the grid: group 1, its second sub-group
    assert (where.work_group, where.sub_group, where.lane, where.element) == ((1, 0, 0), 1, 2, 100)


def test_a_part_of_an_element_is_outside() -> None:
    with pytest.raises(OutOfBounds):
        run(copy_kernel("i64"), [np.zeros(16, np.int64), np.zeros(127, np.int8)])


def test_lanes_that_are_not_active_may_point_anywhere() -> None:
    source = module("g_i32 out, g_i32 a", """
        %inside = OpSLessThan %bool %gx %i64_c10
        OpSelectionMerge %end None
        OpBranchConditional %inside %then %end
        %then = OpLabel
        """ + COPY.format("i32", "%gx", "%gx") + """
        OpBranch %end
        %end = OpLabel""", strings=LINE)
    a, out = np.arange(10, dtype=np.int32), np.zeros(10, np.int32)
    run(source, [out, a], 64)
    np.testing.assert_array_equal(out, a)


def test_without_bounds_checks_reads_give_zero_and_writes_are_dropped() -> None:
    a, out = np.arange(1, 11, dtype=np.int32), np.full(12, -1, np.int32)
    run(copy_kernel(), [out, a], options=SimulatorOptions(bounds=False))
    assert out.tolist() == [*range(1, 11), 0, 0]


def test_null_pointer() -> None:
    source = module("g_i32 out", "%v = OpLoad %i32 %nothing\nOpStore %out %v",
                    declarations="%nothing = OpConstantNull %g_i32")
    with pytest.raises(OutOfBounds, match="null pointer"):
        run(source, [np.zeros(1, np.int32)])


def test_none_binds_a_null_pointer() -> None:
    with pytest.raises(OutOfBounds, match="null pointer"):
        run(copy_kernel(), [np.zeros(16, np.int32), None])


@pytest.mark.parametrize(("address", "message"), [
    (0, "through a null pointer"), (16, r"the address 0x10, .*a null pointer plus 16 bytes"),
    (-8, r"the address 0xfffffffffffffff8, .*a null pointer minus 8 bytes"),
    (-(1 << 63), r"the address 0x8000000000000000, which is in no buffer \(kernel")])
def test_addresses_near_null_are_named(address: int, message: str) -> None:
    source = module("i64 n", "%p = OpConvertUToPtr %g_i32 %n\nOpStore %p %i32_c1")
    with pytest.raises(OutOfBounds, match=message):
        run(source, [address])


INDEX_ALL = """
    %p = OpPtrAccessChain %g_i32 %out {}
    OpStore %p %i32_c1"""


@pytest.mark.parametrize("index", [1 << 62, 1 << 61, -(1 << 61), 1 << 42, -(1 << 40), (1 << 63) - 1, -(1 << 63)])
def test_an_index_too_large_for_an_address(index: int) -> None:
    """Whatever its product with the size is modulo 2**64, the access is outside, and the element is named."""
    source = module("g_i32 out, g_i32 next, i64 n", INDEX_ALL.format("%n"))
    with pytest.raises(OutOfBounds, match=f"at byte {4 * index};") as error:
        run(source, [np.zeros(64, np.int32), np.zeros(64, np.int32), index])
    assert (error.value.where.buffer, error.value.where.element) == ("argument 0 'out'", index)
    out, following = np.zeros(64, np.int32), np.zeros(64, np.int32)
    run(source, [out, following, index], options=SimulatorOptions(bounds=False))
    assert not out.any()
    assert not following.any()


def test_a_large_index_in_one_lane() -> None:
    """Lanes that do not access memory may compute any address; the first that does is named."""
    body = """
        %large = OpShiftLeftLogical %i64 %gx %i64_c60
        %p = OpPtrAccessChain %g_i32 %out %large
        %q = OpPtrAccessChain %g_i32 %p %i64_c1
        %inside = OpSLessThan %bool %gx {}
        OpBranchConditional %inside %then %end
        %then = OpLabel
        OpStore %q %i32_c1
        OpBranch %end
        %end = OpLabel"""
    out = np.zeros(64, np.int32)
    run(module("g_i32 out", body.format("%i64_c1")), [out])
    assert out.tolist() == [0, 1, *[0] * 62]
    with pytest.raises(OutOfBounds) as error:
        run(module("g_i32 out", body.format("%i64_c5")), [out])
    assert (error.value.where.lane, error.value.where.element) == (1, (1 << 60) + 1)


def test_steps_that_add_up_to_another_buffer() -> None:
    """Sixteen steps of 2**40 bytes are what lies between two buffers' addresses."""
    steps = "".join(f"%p{i + 1} = OpPtrAccessChain %g_i32 %p{i} %i64_c274877906944\n" for i in range(16))
    source = module("g_i32 p0, g_i32 other", steps + "OpStore %p16 %i32_c1")
    with pytest.raises(OutOfBounds) as error:
        run(source, [np.zeros(64, np.int32), np.zeros(64, np.int32)])
    assert (error.value.where.buffer, error.value.where.element) == ("argument 0 'p0'", 1 << 42)


def test_a_large_index_of_a_vector_store() -> None:
    source = module("g_i32 out, i64 n, v4_i32 v", "%s = OpExtInst %void %std vstoren %v %n %out")
    with pytest.raises(OutOfBounds) as error:
        run(source, [np.zeros(64, np.int32), 1 << 60, np.zeros(4, np.int32)])
    assert (error.value.where.buffer, error.value.where.element) == ("argument 0 'out'", 1 << 60)


def test_an_address_in_no_buffer() -> None:
    source = module("g_i32 out", """
        %p = OpConvertUToPtr %g_i32 %i64_c999999999999999
        %v = OpLoad %i32 %p
        OpStore %out %v""")
    with pytest.raises(OutOfBounds, match="no buffer"):
        run(source, [np.zeros(1, np.int32)])


def test_misaligned_by_the_type() -> None:
    source = module("g_i32 out, g_i8 a", """
        OpLine %file 7 1
        %p = OpPtrAccessChain %g_i8 %a %i64_c6
        %q = OpBitcast %g_i32 %p
        %v = OpLoad %i32 %q
        OpStore %out %v""", strings=LINE)
    with pytest.raises(Misaligned, match="multiple of 4 bytes; it is byte 6") as error:
        run(source, [np.zeros(1, np.int32), np.zeros(16, np.int8)])
    assert (error.value.where.location, error.value.where.buffer) == ("kernel.cl:7:1", "argument 1 'a'")


def test_the_aligned_operand_counts_instead_of_the_type() -> None:
    code = """
        %p = OpPtrAccessChain %g_i8 %a %i64_c{}
        %q = OpBitcast %g_i32 %p
        %v = OpLoad %i32 %q Aligned {}
        %r = OpPtrAccessChain %g_i8 %out %i64_c3
        %s = OpBitcast %g_i32 %r
        OpStore %s %v Aligned 1"""
    a, out = np.arange(32, dtype=np.uint8), np.zeros(8, np.uint8)
    run(module("g_i8 out, g_i8 a", code.format(5, 1)), [out, a])
    assert out.tolist() == [0, 0, 0, 5, 6, 7, 8, 0]
    with pytest.raises(Misaligned, match="multiple of 16"):
        run(module("g_i8 out, g_i8 a", code.format(8, 16)), [out, a])


def test_an_alignment_must_be_a_power_of_two() -> None:
    with pytest.raises(ValidationError, match="power of two"):
        run(module("g_i32 a", "%v = OpLoad %i32 %a Aligned 3"), [np.zeros(1, np.int32)])


def test_a_read_only_array_cannot_be_written() -> None:
    out, a = np.zeros(16, np.int32), np.arange(16, dtype=np.int32)
    out.flags.writeable = False
    with pytest.raises(SimulationError, match="read-only") as error:
        run(copy_kernel(), [out, a])
    assert error.value.where.buffer == "argument 0 'out'"
    out.flags.writeable = True
    a.flags.writeable = False
    run(copy_kernel(), [out, a])
    np.testing.assert_array_equal(out, a)


def test_structures_and_arrays_in_memory() -> None:
    """Members lie as in C; a packed structure has no padding."""
    for packed in (False, True):
        source = module("g_record out, g_record a", """
            %p = OpPtrAccessChain %g_record %a %gx
            %v = OpLoad %record %p
            %q = OpPtrAccessChain %g_record %out %gx
            OpStore %q %v
            %m = OpAccessChain %g_f32 %q %i32_c2 %i32_c1
            %x = OpLoad %f32 %m Aligned 1
            %y = OpFAdd %f32 %x %x
            OpStore %m %y Aligned 1""",
                        declarations="%record = OpTypeStruct %i8 %i32 %a3_f32 %i16",
                        decorations="OpDecorate %record CPacked" if packed else "")
        dtype = np.dtype([("a", "i1"), ("b", "i4"), ("c", "f4", 3), ("d", "i2")], align=not packed)
        a = np.zeros(16, dtype)
        for name in dtype.names:
            a[name] = RNG.integers(-99, 99, a[name].shape)
        out = np.zeros_like(a)
        run(source, [out, a])
        a["c"][:, 1] *= 2
        np.testing.assert_array_equal(out, a)


def test_copies() -> None:
    source = module("g_v4_i32 out, g_v4_i32 a, g_i8 bytes", """
        %p = OpPtrAccessChain %g_v4_i32 %a %gx
        %q = OpPtrAccessChain %g_v4_i32 %out %gx
        OpCopyMemory %q %p
        %b = OpBitcast %g_i8 %a
        OpCopyMemorySized %bytes %b %i64_c13""")
    a, out = RNG.integers(0, 99, (16, 4)).astype(np.int32), np.zeros((16, 4), np.int32)
    raw = np.zeros(16, np.uint8)
    run(source, [out, a, raw])
    np.testing.assert_array_equal(out, a)
    assert raw[:13].tobytes() == a.tobytes()[:13]
    assert (raw[13:] == 0).all()


def test_pointers_of_different_buffers_in_one_load() -> None:
    source = module("g_i32 out, g_i32 a, g_i32 b", """
        %odd = OpBitwiseAnd %i64 %gx %i64_c1
        %c = OpIEqual %bool %odd %i64_c1
        %base = OpSelect %g_i32 %c %a %b
        %p = OpPtrAccessChain %g_i32 %base %gx
        %v = OpLoad %i32 %p
        %q = OpPtrAccessChain %g_i32 %out %gx
        OpStore %q %v""")
    a, b, out = np.arange(16, dtype=np.int32), np.arange(100, 116, dtype=np.int32), np.zeros(16, np.int32)
    run(source, [out, a, b])
    np.testing.assert_array_equal(out, np.where(np.arange(16) % 2, a, b))
    with pytest.raises(OutOfBounds) as error:
        run(source, [out, a, b[:10].copy()])
    assert (error.value.where.buffer, error.value.where.lane) == ("argument 2 'b'", 10)


# --------------------------------------------------------------------------------------
# Private, local and constant memory
# --------------------------------------------------------------------------------------

# Each work-item fills an array with its id plus the index, then reads one element back.
PRIVATE_ARRAY = """
    %array = OpVariable %p_a8_i64 Function
    %i = OpVariable %p_i64 Function
    OpStore %i %i64_c0
    OpBranch %head
    %head = OpLabel
    OpLoopMerge %end %next None
    OpBranch %test
    %test = OpLabel
    %n = OpLoad %i64 %i
    %more = OpSLessThan %bool %n %i64_c8
    OpBranchConditional %more %next %end
    %next = OpLabel
    %x = OpIAdd %i64 %n %gx
    %p = OpAccessChain %p_i64 %array %n
    OpStore %p %x
    %n1 = OpIAdd %i64 %n %i64_c1
    OpStore %i %n1
    OpBranch %head
    %end = OpLabel
    %which = OpBitwiseAnd %i64 %gx {}
    %q = OpAccessChain %p_i64 %array %which
    %v = OpLoad %i64 %q
    %r = OpPtrAccessChain %g_i64 %out %gx
    OpStore %r %v"""


def test_private_arrays_with_run_time_index() -> None:
    out = np.zeros(64, np.int64)
    run(module("g_i64 out", PRIVATE_ARRAY.format("%i64_c7")), [out], 64)
    ids = np.arange(64)
    np.testing.assert_array_equal(out, ids + (ids & 7))


def test_private_array_out_of_bounds() -> None:
    with pytest.raises(OutOfBounds) as error:
        run(module("g_i64 out", PRIVATE_ARRAY.format("%i64_c15")), [np.zeros(64, np.int64)], 64)
    assert (error.value.where.buffer, error.value.where.lane, error.value.where.element) == ("variable 'array'", 8, 8)


@pytest.mark.parametrize("index", ["%lx", "%i64_c2"])
def test_vector_components_of_a_variable(index: str) -> None:
    """A component of a vector in a register, by constant and run-time index, under divergence."""
    source = module("g_v4_i64 out", f"""
        %v = OpVariable %p_v4_i64 Function
        OpStore %v %nothing
        %p = OpInBoundsAccessChain %p_i64 %v {index}
        %small = OpSLessThan %bool %gx %i64_c3
        OpSelectionMerge %end None
        OpBranchConditional %small %then %end
        %then = OpLabel
        %n = OpIAdd %i64 %gx %i64_c10
        OpStore %p %n
        OpBranch %end
        %end = OpLabel
        %x = OpLoad %v4_i64 %v
        %q = OpPtrAccessChain %g_v4_i64 %out %gx
        OpStore %q %x""", declarations="%nothing = OpConstantNull %v4_i64")
    out = np.full((4, 4), -1, np.int64)
    run(source, [out], 4, 4)
    expected = np.zeros((4, 4), np.int64)
    for lane in range(3):
        expected[lane, lane if index == "%lx" else 2] = lane + 10
    np.testing.assert_array_equal(out, expected)


def test_vector_component_out_of_bounds() -> None:
    source = module("g_i64 out", """
        %v = OpVariable %p_v4_i64 Function
        %p = OpAccessChain %p_i64 %v %gx
        OpStore %p %i64_c1""")
    with pytest.raises(OutOfBounds, match="index 4 is outside of the 4") as error:
        run(source, [np.zeros(1, np.int64)])
    assert (error.value.where.buffer, error.value.where.lane) == ("variable 'v'", 4)


def test_structures_in_registers_and_in_memory_agree() -> None:
    """Passing the address to a function keeps a variable in memory."""
    functions = """
        %touch_type = OpTypeFunction %void %p_record
        %touch = OpFunction %void None %touch_type
        %t = OpFunctionParameter %p_record
        %touch_entry = OpLabel
        {}
        OpReturn
        OpFunctionEnd"""
    body = """
        %v = OpVariable %p_record Function %start
        %a = OpAccessChain %p_i32 %v %i32_c0
        %n = OpUConvert %i32 %gx
        OpStore %a %n
        {}
        %b = OpAccessChain %p_f32 %v %i32_c1 %i32_c1
        %x = OpLoad %f32 %b
        %c = OpLoad %i32 %a
        %y = OpConvertSToF %f32 %c
        %z = OpFAdd %f32 %x %y
        %q = OpPtrAccessChain %g_f32 %out %gx
        OpStore %q %z"""
    declarations = """
        %record = OpTypeStruct %i32 %a2_f32
        %two = OpConstantComposite %a2_f32 %f32_c1p5 %f32_c2p5
        %start = OpConstantComposite %record %i32_c0 %two"""
    change = "%m = OpAccessChain %p_f32 %t %i32_c1 %i32_c1\nOpStore %m %f32_c4p5"
    for call, inside, base in (("", "", 2.5), ("%u = OpFunctionCall %void %touch %v", "", 2.5),
                               ("%u = OpFunctionCall %void %touch %v", change, 4.5)):
        out = np.zeros(16, np.float32)
        source = module("g_f32 out", body.format(call), declarations=declarations, functions=functions.format(inside))
        run(source, [out])
        np.testing.assert_array_equal(out, np.arange(16) + np.float32(base))


def test_a_variable_is_initialised_each_time_its_function_is_called() -> None:
    functions = """
        %count_type = OpTypeFunction %i32
        %count = OpFunction %i32 None %count_type
        %count_entry = OpLabel
        %n = OpVariable %p_i32 Function %i32_c40
        %n0 = OpLoad %i32 %n
        %n1 = OpIAdd %i32 %n0 %i32_c1
        OpStore %n %n1
        %n2 = OpLoad %i32 %n
        OpReturnValue %n2
        OpFunctionEnd"""
    source = module("g_i32 out", """
        %x = OpFunctionCall %i32 %count
        %y = OpFunctionCall %i32 %count
        %z = OpIAdd %i32 %x %y
        OpStore %out %z""", functions=functions)
    out = np.zeros(1, np.int32)
    run(source, [out])
    assert out[0] == 82


def test_local_memory_belongs_to_the_work_group() -> None:
    """Reverse within the group, through a local variable and through a local argument."""
    body = """
        %p = OpPtrAccessChain %g_i64 %a %gx
        %v = OpLoad %i64 %p
        %s = OpAccessChain %w_i64 %tile %lx
        OpStore %s %v
        OpControlBarrier %i32_c2 %i32_c2 %i32_c272
        %other = OpISub %i64 %i64_c31 %lx
        %t = OpAccessChain %w_i64 %tile %other
        %w = OpLoad %i64 %t
        %q = OpPtrAccessChain %g_i64 %out %gx
        OpStore %q %w"""
    a = RNG.integers(0, 999, 128)
    expected = a.reshape(4, 32)[:, ::-1].reshape(-1)
    out = np.zeros_like(a)
    run(module("g_i64 out, g_i64 a", body, declarations="%tile = OpVariable %w_a32_i64 Workgroup"), [out, a], 128, 32)
    np.testing.assert_array_equal(out, expected)
    out = np.zeros_like(a)
    through_argument = body.replace("OpAccessChain %w_i64 %tile", "OpPtrAccessChain %w_i64 %tile")
    source = module("g_i64 out, g_i64 a, w_i64 tile", through_argument)
    run(source, [out, a, LocalMemory(256)], 128, 32)
    np.testing.assert_array_equal(out, expected)
    with pytest.raises(OutOfBounds) as error:
        run(source, [out, a, LocalMemory(255)], 128, 32)
    assert error.value.where.buffer == "argument 2 'tile'"


def test_constant_memory_is_read_and_never_written() -> None:
    declarations = """
        %table = OpConstantComposite %a4_f32 %f32_c1 %f32_c0p5 %f32_c0p25 %f32_c8
        %constants = OpVariable %c_a4_f32 UniformConstant %table"""
    body = """
        %i = OpBitwiseAnd %i64 %gx %i64_c3
        %p = OpAccessChain %c_f32 %constants %i
        %v = OpLoad %f32 %p
        %q = OpPtrAccessChain %g_f32 %out %gx
        OpStore %q %v
        """
    out = np.zeros(16, np.float32)
    run(module("g_f32 out", body, declarations=declarations), [out])
    assert out.tolist() == [1, 0.5, 0.25, 8] * 4
    with pytest.raises(SimulationError, match="read-only"):
        run(module("g_f32 out", body + "OpStore %p %v", declarations=declarations), [out])


def test_constant_memory_with_pointers_in_it() -> None:
    """An initialiser may hold the address of another variable."""
    declarations = """
        %numbers = OpConstantComposite %a2_i32 %i32_c11 %i32_c22
        %first = OpVariable %c_a2_i32 UniformConstant %numbers
        %element = OpSpecConstantOp %c_i32 InBoundsAccessChain %first %i32_c1
        %second = OpVariable %c_c_i32 UniformConstant %element"""
    source = module("g_i32 out", """
        %p = OpLoad %c_i32 %second
        %v = OpLoad %i32 %p
        OpStore %out %v""", declarations=declarations)
    out = np.zeros(1, np.int32)
    run(source, [out])
    assert out[0] == 22


def test_constant_argument() -> None:
    source = module("g_i32 out, c_i32 a", """
        %p = OpPtrAccessChain %c_i32 %a %gx
        %v = OpLoad %i32 %p
        %q = OpPtrAccessChain %g_i32 %out %gx
        OpStore %q %v""")
    a, out = np.arange(16, dtype=np.int32), np.zeros(16, np.int32)
    run(source, [out, a])
    np.testing.assert_array_equal(out, a)


def test_a_built_in_cannot_be_written() -> None:
    with pytest.raises(ValidationError, match="cannot be written"):
        run(module("g_i32 out", "%x = OpCopyObject %i32 %lane\nOpStore %in_lane %x"), [np.zeros(1, np.int32)])


def test_a_false_assumption() -> None:
    source = module("i64 n", """
        %true = OpSLessThan %bool %gx %n
        OpAssumeTrueKHR %true""")
    run(source, [16])
    with pytest.raises(UndefinedBehavior, match="assumption") as error:
        run(source, [9])
    assert error.value.where.lane == 9


def test_copies_of_varying_size() -> None:
    source = module("g_i8 a, g_i8 b", """
        %start = OpIMul %i64 %gx %i64_c16
        %to = OpInBoundsPtrAccessChain %g_i8 %a %start
        %from = OpInBoundsPtrAccessChain %g_i8 %b %start
        OpCopyMemorySized %to %from %gx""")
    target, data = np.zeros((16, 16), np.int8), np.arange(256).astype(np.int8).reshape(16, 16)
    run(source, [target, data])
    np.testing.assert_array_equal(target, np.where(np.arange(16) < np.arange(16)[:, None], data, 0))
