"""Launching: arguments, sizes, batches, built-in variables, sub-group sizes, modules that are wrong."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from coopmat.devices import describe
from coopmat.diagnostics import Error, LaunchError, OutOfBounds, ValidationError
from coopmat.spirv.module import Module
from coopmat.targets import simulator
from coopmat.targets.base.local_memory import LocalMemory
from coopmat.targets.simulator import SimulatorOptions, launch
from tests.kit.targets import short_kernels
from tests.kit.targets.short_kernels import DTYPES, module, refuses, run

ADD = """
    %p = OpPtrAccessChain %g_i32 %out %gx
    %v = OpLoad %i32 %p
    %w = OpIAdd %i32 %v %n
    OpStore %p %w"""


def add_kernel(**more: object) -> Module:
    return module("g_i32 out, i32 n", ADD, **more)


# --------------------------------------------------------------------------------------
# Arguments
# --------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [3, np.int32(3), np.uint32(3), np.array(3, np.int32)])
def test_scalars_may_be_numbers_or_numpy_values(value: object) -> None:
    out = np.zeros(16, np.int32)
    run(add_kernel(), [out, value])
    assert (out == 3).all()


@pytest.mark.parametrize(("kind", "value"), [
    ("i8", -5), ("i8", 251), ("i16", -5), ("i64", -(1 << 63)), ("i64", (1 << 64) - 1), ("f16", 1.5), ("f32", -2.25),
    ("f64", 1e300), ("bf16", 0.5)])
def test_value_of_every_type(kind: str, value: float) -> None:
    out = np.zeros(1, DTYPES[kind])
    run(module(f"g_{kind} out, {kind} n", "OpStore %out %n"), [out, value], 1, 1)
    bits = 8 * out.itemsize
    assert out[0] == value or (kind.startswith("i") and int(out[0]) % (1 << bits) == int(value) % (1 << bits))


@pytest.mark.parametrize("count", [2, 3, 4, 16])
def test_vectors_by_value(count: int) -> None:
    value, out = np.arange(count, dtype=np.float32), np.zeros(16, np.float32)
    run(module(f"g_v{count}_f32 out, v{count}_f32 n", "OpStore %out %n"), [out, value], 1, 1)
    np.testing.assert_array_equal(out[:count], value)


@pytest.mark.parametrize("by_pointer", [False, True])
def test_structures_by_value(by_pointer: bool) -> None:
    """As a value, or as a pointer to the work-item's own copy (attribute ByVal)."""
    declarations = "%record = OpTypeStruct %i32 %v2_f32"
    record = np.array((7, 0, [1.5, 2.5]), np.dtype([("a", "i4"), ("gap", "i4"), ("b", "f4", 2)]))
    if by_pointer:
        source = module("g_v2_f32 out, p_record r", """
            %b = OpAccessChain %p_v2_f32 %r %i32_c1
            %v = OpLoad %v2_f32 %b
            %w = OpFAdd %v2_f32 %v %v
            OpStore %b %w
            %x = OpLoad %v2_f32 %b
            OpStore %out %x""", declarations=declarations, decorations="OpDecorate %r FuncParamAttr ByVal")
    else:
        source = module("g_v2_f32 out, record r", """
            %v = OpCompositeExtract %v2_f32 %r 1
            %w = OpFAdd %v2_f32 %v %v
            OpStore %out %w""", declarations=declarations)
    for argument in (record, record.tobytes()):
        out = np.zeros(2, np.float32)
        run(source, [out, argument])
        assert out.tolist() == [3, 5]
    with refuses(LaunchError, match="16 bytes is needed, found 3"):
        run(source, [np.zeros(2, np.float32), b"abc"])


@pytest.mark.parametrize(("arguments", "message"), [
    ([np.zeros(16, np.int32)], "takes 2 arguments, found 1"),
    ([[0] * 16, 1], r"argument 0 'out': a global pointer needs a contiguous numpy array, found list"),
    ([np.zeros((16, 2), np.int32)[:, 0], 1], r"argument 0 'out'"),
    ([np.zeros(16, object), 1], r"argument 0 'out'"),
    ([np.zeros(16, np.int32), "one"], r"argument 1 'n': 'one' is no value of type int32"),
    ([np.zeros(16, np.int32), 1 << 40], r"argument 1 'n'"),
    ([np.zeros(16, np.int32), np.int64(1)], "4 bytes is needed, found 8")])
def test_arguments_that_do_not_fit(arguments: list[object], message: str) -> None:
    with pytest.raises(LaunchError, match=message):
        run(add_kernel(), arguments)


@pytest.mark.parametrize("argument", [np.zeros(4, np.int32), 16, LocalMemory(0)])
def test_local_pointers_need_local_memory(argument: object) -> None:
    with pytest.raises(LaunchError, match=r"argument 0 't': a local pointer"):
        run(module("w_i32 t", "OpNop"), [argument])


@pytest.mark.parametrize("subclass", [np.matrix, np.recarray])
def test_subclasses_of_arrays_are_written_in_place(subclass: type[np.ndarray]) -> None:
    out = np.zeros((4, 4), np.int32).view(subclass)
    run(add_kernel(), [out, np.full((1, 1), 3, np.int32).view(subclass)])
    assert (np.asarray(out) == 3).all()


@pytest.mark.parametrize("position", [0, 1])
def test_masked_arrays_are_refused(position: int) -> None:
    arguments: list[object] = [np.zeros(16, np.int32), 1]
    arguments[position] = np.ma.masked_array(np.zeros(16, np.int32))
    with pytest.raises(LaunchError, match=f"argument {position} .*masked array"):
        run(add_kernel(), arguments)


def test_local_memory_has_a_limit() -> None:
    """Of all that one work-group has: arguments and the kernel's own variables."""
    source = module("w_i32 t, w_i32 u", "%p = OpAccessChain %w_i32 %variable %i32_c1\nOpStore %p %i32_c1",
                    declarations="%many = OpTypeArray %i32 %i32_c4194304\n%w_many = OpTypePointer Workgroup %many\n"
                                 "%variable = OpVariable %w_many Workgroup")
    run(source, [LocalMemory(16 << 20), LocalMemory(32 << 20)], 1, 1)
    with pytest.raises(LaunchError, match=r"67108865 bytes of local memory .*16777216 for variable .*"
                                          r"16777217 for argument 0 't', 33554432 for argument 1 'u'.*65536 KiB"):
        run(source, [LocalMemory((16 << 20) + 1), LocalMemory(32 << 20)], 1, 1)
    with pytest.raises(LaunchError, match="65536 KiB"):
        run(source, [LocalMemory(10**11), LocalMemory(1)], 1, 1)


def test_the_same_array_twice() -> None:
    out = np.arange(16, dtype=np.int32)
    source = module("g_i32 out, g_i32 a", """
        %p = OpPtrAccessChain %g_i32 %out %gx
        %q = OpPtrAccessChain %g_i32 %a %gx
        OpStore %p %i32_c5
        %v = OpLoad %i32 %q
        %w = OpIAdd %i32 %v %v
        OpStore %p %w""")
    run(source, [out, out])
    assert (out == 10).all()


# --------------------------------------------------------------------------------------
# Sizes and batches
# --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("whole", "local", "message"), [
    ((100,), (16,), "not a multiple"), ((16, 16), (16,), "same number of dimensions"), ((0,), (1,), "positive"),
    ((16,), (0,), "positive"), ((), (), "one to three"), ((2, 2, 2, 2), (1, 1, 1, 1), "one to three")])
def test_sizes_that_do_not_fit(whole: tuple[int, ...], local: tuple[int, ...], message: str) -> None:
    with pytest.raises(LaunchError, match=message):
        run(add_kernel(), [np.zeros(16, np.int32), 1], whole, local)


def test_a_required_work_group_size() -> None:
    source = add_kernel(modes=["LocalSize 8 2 1"])
    program = simulator.compile(source, describe("generic"), simulator.SimulatorOptions(races=False))
    assert program.kernels["kernel"].required_local_size == (8, 2, 1)
    program.launch("kernel", (16, 2), (8, 2), [np.zeros(16, np.int32), 1])
    with pytest.raises(LaunchError, match=r"requires work-groups of \(8, 2, 1\), found \(16, 1, 1\)"):
        program.launch("kernel", (16,), (16,), [np.zeros(16, np.int32), 1])


def test_an_unknown_kernel() -> None:
    with pytest.raises(LaunchError, match="no kernel 'nothing'; the kernels are kernel"):
        simulator.compile(add_kernel(), describe("generic")).launch("nothing", (16,), (16,), [])


def test_many_batches_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """More sub-groups than run at once; the last batch is smaller; the counter counts over all of them."""
    monkeypatch.setattr(launch, "MOST_SUB_GROUPS", 7)
    source = module("g_i64 out, g_i32 count, w_i64 t", """
        %s = OpPtrAccessChain %w_i64 %t %lx
        OpStore %s %gx
        OpControlBarrier %i32_c2 %i32_c2 %i32_c272
        %other = OpBitwiseXor %i64 %lx %i64_c31
        %q = OpPtrAccessChain %w_i64 %t %other
        %v = OpLoad %i64 %q
        %p = OpPtrAccessChain %g_i64 %out %gx
        OpStore %p %v
        %n = OpAtomicIIncrement %i32 %count %i32_c1 %i32_c0""")
    out, count = np.zeros(640, np.int64), np.zeros(1, np.int32)
    run(source, [out, count, LocalMemory(256)], 640, 32)
    np.testing.assert_array_equal(out, np.arange(640) ^ 31)
    assert count[0] == 640


def test_errors_in_a_later_batch_name_the_right_group(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch, "MOST_SUB_GROUPS", 2)
    with pytest.raises(OutOfBounds) as error:
        run(add_kernel(), [np.zeros(300, np.int32), 1], 320, 32)
    assert (error.value.where.work_group, error.value.where.sub_group, error.value.where.lane) == ((9, 0, 0), 0, 12)


def test_private_memory_bounds_the_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch, "MOST_BYTES", 1 << 16)
    source = module("g_i64 out", """
        %v = OpVariable %p_a512_i64 Function
        %i = OpBitwiseAnd %i64 %gx %i64_c255
        %p = OpAccessChain %p_i64 %v %i
        OpStore %p %gx
        %x = OpLoad %i64 %p
        %q = OpPtrAccessChain %g_i64 %out %gx
        OpStore %q %x""")
    out = np.zeros(256, np.int64)
    run(source, [out], 256)
    np.testing.assert_array_equal(out, np.arange(256))


def test_many_batches_do_not_use_up_the_step_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch, "MOST_SUB_GROUPS", 1)
    out = np.zeros(96, np.int32)
    run(add_kernel(), [out, 1], 96, options=SimulatorOptions(step_limit=1))
    assert (out == 1).all()


# --------------------------------------------------------------------------------------
# Built-in variables and sub-groups
# --------------------------------------------------------------------------------------

BUILTINS = ("GlobalInvocationId", "LocalInvocationId", "WorkgroupId", "NumWorkgroups", "WorkgroupSize", "GlobalSize",
            "GlobalOffset", "EnqueuedWorkgroupSize")
SCALARS = ("LocalInvocationIndex", "GlobalLinearId", "WorkDim", "SubgroupSize", "SubgroupMaxSize", "NumSubgroups",
           "NumEnqueuedSubgroups", "SubgroupId", "SubgroupLocalInvocationId")


def builtin(name: str, kind: str, size: tuple[int, ...], local: tuple[int, ...], offset: tuple[int, ...] | None,
            modes: tuple[str, ...]) -> np.ndarray:
    """The value of a built-in in every work-item, by its position among all work-items."""
    source = module("g_i64 out, g_i32 next", f"""
        %n = OpAtomicIIncrement %i32 %next %i32_c1 %i32_c0
        %v = OpLoad %{kind} %variable
        %first = OpIMul %i32 %n %i32_c4
        %q = OpPtrAccessChain %g_i64 %out %first
        {_stores(kind)}""", declarations=f"%variable = OpVariable %in_{kind} Input",
                    decorations=f"OpDecorate %variable BuiltIn {name}", modes=modes)
    out, following = np.zeros((int(np.prod(size)), 4), np.int64), np.zeros(1, np.int32)
    run(source, [out, following], size, local, global_offset=offset)
    return out[:, :3] if kind == "v3_i64" else out[:, 0]


def _stores(kind: str) -> str:
    if kind == "i64":
        return "OpStore %q %v"
    return "\n".join(f"%v{i} = OpCompositeExtract %i64 %v {i}\n%q{i} = OpPtrAccessChain %g_i64 %q %i32_c{i}\n"
                     f"OpStore %q{i} %v{i}" for i in range(3))


@pytest.mark.parametrize(("size", "local", "offset"), [
    ((64,), (16,), None), ((24, 6), (6, 3), (5, 7)), ((8, 4, 6), (4, 2, 3), (1, 2, 3)), ((20,), (10,), (100,))])
def test_built_ins(size: tuple[int, ...], local: tuple[int, ...], offset: tuple[int, ...] | None) -> None:
    """Work-groups run in order, their work-items in the order of the linear local id."""
    dimensions = len(size)
    whole, part, start = ((*x, *[fill] * (3 - dimensions)) for x, fill in (
        (size, 1), (local, 1), (offset or (0,) * dimensions, 0)))
    counts = tuple(g // n for g, n in zip(whole, part, strict=True))
    expected: dict[str, list] = {name: [] for name in (*BUILTINS, *SCALARS)}
    per_group = int(np.prod(part))
    for group in itertools.product(*(range(n) for n in reversed(counts))):
        for item in itertools.product(*(range(n) for n in reversed(part))):
            g, i = group[::-1], item[::-1]
            index = [g[d] * part[d] + i[d] for d in range(3)]
            linear = (i[2] * part[1] + i[1]) * part[0] + i[0]
            values = {
                "GlobalInvocationId": [x + s for x, s in zip(index, start, strict=True)], "LocalInvocationId": list(i),
                "WorkgroupId": list(g), "NumWorkgroups": list(counts), "WorkgroupSize": list(part),
                "EnqueuedWorkgroupSize": list(part), "GlobalSize": list(whole), "GlobalOffset": list(start),
                "LocalInvocationIndex": linear, "WorkDim": dimensions, "SubgroupMaxSize": 8,
                "GlobalLinearId": (index[2] * whole[1] + index[1]) * whole[0] + index[0],
                "SubgroupSize": min(8, per_group - linear // 8 * 8), "NumSubgroups": -(-per_group // 8),
                "NumEnqueuedSubgroups": -(-per_group // 8), "SubgroupId": linear // 8,
                "SubgroupLocalInvocationId": linear % 8}
            for name, value in values.items():
                expected[name].append(value)
    for name in (*BUILTINS, *SCALARS):
        kind = "v3_i64" if name in BUILTINS else "i64"
        found = builtin(name, kind, size, local, offset, ("SubgroupSize 8",))
        wanted = np.array(expected[name])
        if short_kernels.TARGET == "cpu":  # which takes work-groups in an order of its own
            found, wanted = (np.array(sorted(numbers.tolist())) for numbers in (found, wanted))
        np.testing.assert_array_equal(found, wanted, err_msg=name)


def test_components_of_a_built_in_by_run_time_index() -> None:
    source = module("g_i64 out, i32 n", """
        %p = OpAccessChain %in_i64 %in_gid %n
        %v = OpLoad %i64 %p
        %q = OpPtrAccessChain %g_i64 %out %lx
        OpStore %q %v""")
    out = np.zeros(4, np.int64)
    run(source, [out, 1], (4, 8), (4, 8), options=simulator.SimulatorOptions(races=False))
    assert (out == 7).all()


def test_unknown_inputs_are_refused() -> None:
    for decorations, message in (("", "is no built-in"), ("OpDecorate %x BuiltIn FragCoord", "FragCoord")):
        source = module("", "%v = OpLoad %i32 %x", declarations="%x = OpVariable %in_i32 Input",
                        decorations=decorations)
        with pytest.raises(Error, match=message):
            run(source, [])


@pytest.mark.parametrize(("device", "size"), [("generic", 16), ("intel_gpu_dg2_g10", 8), ("nvidia_gpu_sm_80", 32),
                                              ("amd_gpu_gfx90a", 64)])
def test_the_first_sub_group_size_is_the_default(device: str, size: int) -> None:
    source = module("g_i32 out", "%n = OpLoad %i32 %x\nOpStore %out %n",
                    declarations="%x = OpVariable %in_i32 Input", decorations="OpDecorate %x BuiltIn SubgroupMaxSize")
    out = np.zeros(1, np.int32)
    run(source, [out], 64, 64, device=device)
    assert out[0] == size


def test_a_sub_group_size_that_the_device_does_not_have() -> None:
    source = add_kernel(modes=["SubgroupSize 64"])
    run(source, [np.zeros(16, np.int32), 1])
    with pytest.raises(LaunchError, match=r"requires sub-groups of 64; intel_gpu_pvc has 16, 32"):
        run(source, [np.zeros(16, np.int32), 1], device="intel_gpu_pvc")


# --------------------------------------------------------------------------------------
# Modules that are wrong
# --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("body", "message"), [
    ("%v = OpIAdd %i32 %n %kernel", "is not a value of this function"),
    ("%v = OpIAdd %i32 %n %i32", "is not a value"),
    ("%v = OpFAdd %v4_f32 %null4 %null3",
     "of type float32 vector of 4 has an operand of type float32 vector of 3|differ in length"),
    ("OpStore %n %n", "a pointer is needed"),
    ("%p = OpAccessChain %g_i32 %out %n", "nothing to index"),
    ("%p = OpAccessChain %p_i32 %record %i32_c2", "constant below 2"),
    ("%v = OpImageQueryOrder %i32 %n", r"cannot .* '%\d+ = OpImageQueryOrder %\d+ %\d+'.*, at byte 0x\w+: images"),
    ("%v = OpIsValidReserveId %bool %n", "OpIsValidReserveId .*: pipes are not supported; use buffers"),
    ("%v = OpGetDefaultQueue %i32", "OpGetDefaultQueue .*: device-side enqueue .* launch each kernel from the host"),
    ("OpMemoryNamedBarrier %n %i32_c1 %i32_c0", "OpMemoryNamedBarrier .*: named barriers are not supported"),
    ("%v = OpFunctionPointerCallINTEL %i32 %n", "OpFunctionPointerCallINTEL .*: function pointers are not supported"),
    ("%v = OpUntypedAccessChainKHR %g_i32 %i32 %out %n", "OpUntypedAccessChainKHR .*: untyped pointers"),
    ("OpRestoreMemoryINTEL %out", "OpRestoreMemoryINTEL .*: arrays of variable length"),
    ("%v = OpDPdx %f32 %n", "OpDPdx .*: it is for shaders"),
    ("%v = OpReadClockKHR %i64 %i32_c1", "OpReadClockKHR .*: the .* has no such instruction"),
    ("%v = OpGroupNonUniformQuadSwap %i32 %i32_c3 %n %i32_c3", "must be a constant from 0 to 2, found 3"),
    ("%v = OpUndef %wide", "128 bits"),
    ("%v = OpUndef %sampler", "OpTypeSampler.*(images and samplers|is not supported)"),
])
def test_wrong_or_unknown_instructions_end_in_an_error(body: str, message: str) -> None:
    declarations = """
        %null4 = OpConstantNull %v4_f32
        %null3 = OpConstantNull %v3_f32
        %true = OpConstantTrue %bool
        %pair = OpTypeStruct %i32 %i32
        %record = OpConstantNull %g_pair"""
    extra = {"wide": "OpTypeInt 128 0", "sampler": "OpTypeSampler"}
    declarations += "".join(f"\n%{name} = {line}" for name, line in extra.items() if name in body)
    with pytest.raises(Error, match=message):
        run(module("g_i32 out, i32 n", body, declarations=declarations), [np.zeros(16, np.int32), 1])


def test_32_bit_addresses_are_refused() -> None:
    text = add_kernel().to_text().replace("Physical64", "Physical32")
    with pytest.raises(Error, match="Physical32"):
        simulator.compile(Module.from_text(text), describe("generic"))


def test_a_type_that_contains_itself() -> None:
    text = add_kernel().to_text()
    lines = text.splitlines()
    place = next(i for i, line in enumerate(lines) if "OpTypeVoid" in line)
    lines.insert(place, "%900 = OpTypeStruct %900")
    inside = next(i for i, line in enumerate(lines) if "OpStore" in line)
    lines.insert(inside, "%901 = OpUndef %900")
    with pytest.raises(ValidationError, match="contains itself"):
        run(Module.from_text("\n".join(lines)), [np.zeros(16, np.int32), 1])


def test_calls_and_types_that_are_nested_too_deep() -> None:
    functions = ["""
        %f_type = OpTypeFunction %void
        %fn0 = OpFunction %void None %f_type
        %l0 = OpLabel
        OpReturn
        OpFunctionEnd"""]
    functions += [f"""
        %fn{n} = OpFunction %void None %f_type
        %l{n} = OpLabel
        %c{n} = OpFunctionCall %void %fn{n - 1}
        OpReturn
        OpFunctionEnd""" for n in range(1, 300)]
    with pytest.raises(Error, match="calls are nested more than 100 deep"):
        run(module("", "%c = OpFunctionCall %void %fn299", functions="".join(functions)), [])
    types = ["%t0 = OpTypeStruct %i32", *(f"%t{n} = OpTypeStruct %t{n - 1}" for n in range(1, 300))]
    with pytest.raises(ValidationError, match="nested more than 64 deep"):
        run(module("", "%v = OpUndef %t299", declarations="\n".join(types)), [])


def test_a_constant_that_contains_itself() -> None:
    source = module("g_v2_i32 out", "OpStore %out %own",
                    declarations="%own = OpConstantComposite %v2_i32 %i32_c1 %i32_c2")
    lines = source.to_text().splitlines()
    place = next(i for i, line in enumerate(lines) if "OpConstantComposite" in line)
    own = lines[place].split()[0]
    lines[place] = lines[place].rsplit(" ", 1)[0] + f" {own}"
    with pytest.raises(ValidationError, match=r"malformed|before OpConstantComposite defines it"):
        run(Module.from_text("\n".join(lines)), [np.zeros(2, np.int32)])


MATRIX_LOOP = """
    %v = OpVariable %p_m_f32_4x4_2 Function %zero
    OpBranch %head
    %head = OpLabel
    %i = OpPhi %i32 %i32_c0 %entry %i1 %body
    %more = OpSLessThan %bool %i %n
    OpBranchConditional %more %body %end
    %body = OpLabel
    %a = OpCooperativeMatrixLoadKHR %m_f16_4x8_0 %in %i32_c0 %i64_c8
    %b = OpCooperativeMatrixLoadKHR %m_f16_8x4_1 %in %i32_c1 %i64_c8
    %c = OpLoad %m_f32_4x4_2 %v
    %d = OpCooperativeMatrixMulAddKHR %m_f32_4x4_2 %a %b %c
    OpStore %v %d
    %i1 = OpIAdd %i32 %i %i32_c1
    OpBranch %head
    %end = OpLabel
    %r = OpLoad %m_f32_4x4_2 %v
    OpCooperativeMatrixStoreKHR %out %r %i32_c0 %i64_c4"""


MATRIX_KERNEL = module("g_f32 out, g_f16 in, i32 n", MATRIX_LOOP, declarations="%zero = OpConstantNull %m_f32_4x4_2")


@pytest.mark.parametrize("source", [add_kernel(), MATRIX_KERNEL])
def test_a_changed_word_ends_in_an_error_or_a_result(source: Module) -> None:
    """Every word of a module, changed: never anything but an error of the contract."""
    data = np.frombuffer(source.to_bytes(), np.uint32)
    kinds = [parameter.type.bits for parameter in simulator.compile(source, describe("generic")).kernels[
        "kernel"].parameters]
    refused = 0
    for position, value in itertools.product(range(5, len(data)), (0, 1, 7, 0xFFFFFFFF)):
        changed = data.copy()
        changed[position] = value
        arguments = [*(np.zeros(64, f"f{bits // 8}") for bits in kinds[:-1]), 2]
        try:
            run(Module.from_bytes(changed.tobytes()), arguments, options=SimulatorOptions(step_limit=100))
        except Error:
            refused += 1
    assert refused > len(data)
