"""The module builder: unique types and constants, sections, exactly the capabilities in use."""

from __future__ import annotations

import math
import shutil
import subprocess
from pathlib import Path

import pytest

from coopmat.spirv import Module, Op
from coopmat.spirv.edit.builder import ModuleBuilder
from coopmat.spirv.grammar import (
    OPENCL_STD,
    BuiltIn,
    Capability,
    CooperativeMatrixOperands,
    CooperativeMatrixUse,
    Decoration,
    ExecutionMode,
    FPEncoding,
    FunctionParameterAttribute,
    LinkageType,
    MemoryAccess,
    PackedVectorFormat,
    Scope,
    SourceLanguage,
    StorageClass,
)

BASE = {Capability.Addresses, Capability.Kernel}


def valid(module: Module, folder: Path) -> None:
    """Pass a module through SPIRV-Tools, where it is here."""
    if shutil.which("spirv-val") is None:
        pytest.skip("spirv-val is not here (SPIRV-Tools: the package spirv-tools)")
    path = folder / "module.spv"
    path.write_bytes(module.to_bytes())
    result = subprocess.run(["spirv-val", "--target-env", f"spv{module.version_text}", str(path)],
                            capture_output=True, text=True, timeout=60)
    assert result.returncode == 0, result.stderr


def axpy() -> ModuleBuilder:
    """``y[i] = i < n ? a * x[i] + y[i] : y[i]``, with a helper function, a loop variable and source lines."""
    b = ModuleBuilder()
    f32, i32, i64, void = b.type_float(32), b.type_int(32), b.type_int(64), b.type_void()
    pointer = b.type_pointer(StorageClass.CrossWorkgroup, f32)
    file = b.string("axpy.cl")
    b.source(SourceLanguage.OpenCL_C, 300000, file)
    ids = b.builtin(BuiltIn.GlobalInvocationId, b.type_vector(i64, 3))

    helper_type = b.type_function(f32, [f32, f32, f32])
    helper = b.begin_function(f32, helper_type)
    a, x, y = (b.parameter(f32) for _ in range(3))
    b.begin_block()
    b.line(file, 1, 30)
    b.emit(Op.ReturnValue, b.extended(f32, "fma", a, x, y))
    b.end_function()

    kernel = b.begin_function(void, b.type_function(void, [f32, pointer, pointer, i32]))
    b.name(kernel, "axpy")
    a, x, y, n = b.parameter(f32), b.parameter(pointer), b.parameter(pointer), b.parameter(i32)
    b.decorate(x, Decoration.FuncParamAttr, FunctionParameterAttribute.NoWrite)
    then, merge = b.new_id(), b.new_id()
    b.begin_block()
    b.line(file, 4, 7)
    index = b.value(Op.CompositeExtract, i64, b.value(Op.Load, b.type_vector(i64, 3), ids), 0)
    count = b.value(Op.UConvert, i64, n)
    inside = b.value(Op.ULessThan, b.type_bool(), index, count)
    saved = b.local_variable(i64)
    b.emit(Op.Store, saved, index, MemoryAccess.Aligned, 8)
    b.emit(Op.SelectionMerge, merge, 0)
    b.emit(Op.BranchConditional, inside, then, merge)
    assert not b.block_open
    b.begin_block(then)
    b.line(file, 5, 3)
    b.line(file, 5, 3)
    place = b.value(Op.InBoundsPtrAccessChain, pointer, y, b.value(Op.Load, i64, saved, MemoryAccess.Aligned, 8))
    source = b.value(Op.InBoundsPtrAccessChain, pointer, x, index)
    value = b.value(Op.FunctionCall, f32, helper, a, b.value(Op.Load, f32, source, MemoryAccess.Aligned, 4),
                    b.value(Op.Load, f32, place, MemoryAccess.Aligned, 4))
    b.emit(Op.Store, place, value, MemoryAccess.Aligned, 4)
    b.emit(Op.Branch, merge)
    b.begin_block(merge)
    b.emit(Op.Return)
    b.end_function()
    b.entry_point(kernel, "axpy")
    b.execution_mode(kernel, ExecutionMode.LocalSize, 16, 1, 1)
    return b


def test_a_whole_kernel(tmp_path: Path) -> None:
    module = axpy().finish()
    assert set(module.capabilities) == {*BASE, Capability.Int64}
    assert module.extensions == ()
    assert module.version_text == "1.4"
    (entry,) = module.entry_points
    (builtin,) = [item.result_id for item in module.of_opcode(Op.Variable)
                  if item.words[0] == StorageClass.Input]
    assert entry.interface == (builtin,)
    kernel = module.function(entry.function_id)
    names = [item.name for item in kernel.blocks[0].instructions]
    assert names[:3] == ["OpVariable", "OpLine", "OpLoad"]
    assert [item.opcode for item in kernel.blocks[1].instructions].count(Op.Line) == 1
    again = Module.from_bytes(module.to_bytes())
    assert again.to_bytes() == module.to_bytes()
    assert Module.from_text(module.to_text()).to_bytes() == module.to_bytes()
    valid(module, tmp_path)


ORDER = [
    {Op.Capability}, {Op.Extension}, {Op.ExtInstImport}, {Op.MemoryModel}, {Op.EntryPoint},
    {Op.ExecutionMode, Op.ExecutionModeId}, {Op.String, Op.Source}, {Op.Name, Op.MemberName},
    {Op.Decorate, Op.MemberDecorate},
]


def test_sections_are_in_order_and_ids_defined_before_use() -> None:
    b = axpy()
    b.type_cooperative_matrix(b.type_float(16), Scope.Subgroup, 8, 16, CooperativeMatrixUse.MatrixAKHR)
    module = b.finish()
    ranks = [next((rank for rank, ops in enumerate(ORDER) if item.opcode in ops), len(ORDER))
             for item in module.instructions]
    end = next(index for index, item in enumerate(module.instructions) if item.opcode == Op.Function)
    assert ranks[:end] == sorted(ranks[:end])
    seen: set[int] = set()
    start = next(index for index, rank in enumerate(ranks) if rank == len(ORDER))
    for item in module.instructions[start:end]:
        assert seen.issuperset(item.ids()), item
        seen.add(item.result_id or 0)


def test_types_and_constants_are_unique() -> None:
    b = ModuleBuilder()
    i32, f32 = b.type_int(32), b.type_float(32)
    assert b.type_int(32) == i32 != b.type_int(64)
    assert b.type_vector(f32, 4) == b.type_vector(f32, 4)
    assert b.constant(i32, 5) == b.constant(i32, 5) != b.constant(b.type_int(64), 5)
    assert b.constant(i32, -1) == b.constant(i32, 0xFFFFFFFF)
    assert b.constant(f32, 0.0) != b.constant(f32, -0.0)
    assert b.constant(f32, math.nan) == b.constant(f32, math.nan)
    assert b.constant(f32, 1.0) == b.constant_bits(f32, 0x3F800000)
    assert b.constant(b.type_bool(), 1) == b.constant_bool(True) != b.constant_bool(False)
    assert b.constant_null(i32) == b.constant_null(i32) != b.constant_null(f32)
    assert b.undef(i32) == b.undef(i32)
    assert b.type_array(f32, 4) == b.type_array(f32, 4)
    assert b.type_struct([f32]) == b.type_struct([f32])
    assert b.type_struct([f32], unique=False) != b.type_struct([f32], unique=False)
    assert b.string("a") == b.string("a")
    assert b.extended_set() == b.extended_set()
    matrix = (f32, Scope.Subgroup, 8, 8, CooperativeMatrixUse.MatrixAKHR)
    assert b.type_cooperative_matrix(*matrix) == b.type_cooperative_matrix(*matrix)
    assert b.type_float(16) != b.type_float(16, FPEncoding.BFloat16KHR)
    assert b.builtin(BuiltIn.WorkDim, i32) == b.builtin(BuiltIn.WorkDim, i32)


@pytest.mark.parametrize(("width", "value", "expected"), [
    (8, -1, 255), (16, 65537, 1), (32, -5, 2**32 - 5), (64, -1, 2**64 - 1), (64, 2**40, 2**40),
])
def test_integer_constants(width: int, value: int, expected: int) -> None:
    b = ModuleBuilder()
    constant = b.constant(b.type_int(width), value)
    assert b.finish().constant_value(constant) == expected


@pytest.mark.parametrize(("width", "encoding", "value", "expected"), [
    (16, None, 65520.0, math.inf), (16, None, 0.1, 0.0999755859375), (32, None, 1e300, math.inf),
    (32, None, 0.1, 0.10000000149011612), (64, None, 0.1, 0.1), (16, FPEncoding.BFloat16KHR, 0.1, 0.10009765625),
    (32, None, -math.inf, -math.inf), (32, None, 3, 3.0),
])
def test_float_constants(width: int, encoding: FPEncoding | None, value: float, expected: float) -> None:
    b = ModuleBuilder()
    constant = b.constant(b.type_float(width, encoding), value)
    assert b.finish().constant_value(constant) == expected


def capabilities_of(build: object) -> tuple[set[object], tuple[str, ...]]:
    """What a module needs beyond the capabilities that every kernel module has."""
    b = ModuleBuilder()
    assert callable(build)
    build(b)
    module = b.finish()
    return set(module.capabilities) - BASE, module.extensions


def in_function(b: ModuleBuilder, op: Op, result: int | None, *operands: int) -> None:
    """Put one instruction into a function of its own."""
    void = b.type_void()
    b.begin_function(void, b.type_function(void, []))
    b.begin_block()
    if result is None:
        b.emit(op, *operands)
    else:
        b.value(op, result, *operands)
    b.emit(Op.Return)
    b.end_function()


def matrix(b: ModuleBuilder, component: int) -> int:
    return b.type_cooperative_matrix(component, Scope.Subgroup, 8, 16, CooperativeMatrixUse.MatrixAKHR)


def vector_of(b: ModuleBuilder, width: int, count: int) -> int:
    return b.undef(b.type_vector(b.type_int(width), count))


def dot(b: ModuleBuilder, operand: int, *rest: int) -> None:
    in_function(b, Op.SDot, b.type_int(32), operand, operand, *rest)


def printing(b: ModuleBuilder, storage: StorageClass) -> None:
    """A printf without arguments."""
    format = b.undef(b.type_pointer(storage, b.type_int(8)))
    in_function(b, Op.ExtInst, b.type_int(32), b.extended_set(), OPENCL_STD["printf"], format)


def atomic(b: ModuleBuilder, op: Op, value_type: int) -> None:
    index = b.type_int(32)
    pointer = b.undef(b.type_pointer(StorageClass.CrossWorkgroup, value_type))
    scope = b.constant(index, Scope.Device)
    in_function(b, op, value_type, pointer, scope, b.constant(index, 0), b.undef(value_type))


C = Capability
CASES = {
    "nothing": (lambda b: b.type_int(32), set(), ()),
    "char": (lambda b: b.type_int(8), {C.Int8}, ()),
    "short": (lambda b: b.type_int(16), {C.Int16}, ()),
    "long": (lambda b: b.type_int(64), {C.Int64}, ()),
    "half": (lambda b: b.type_float(16), {C.Float16}, ()),
    "double": (lambda b: b.type_float(64), {C.Float64}, ()),
    "vector of 3": (lambda b: b.type_vector(b.type_int(32), 3), set(), ()),
    "vector of 16": (lambda b: b.type_vector(b.type_int(32), 16), {C.Vector16}, ()),
    "int4": (lambda b: b.type_int(4), {C.Int4TypeINTEL}, ("SPV_INTEL_int4",)),
    "bfloat16": (lambda b: b.type_float(16, FPEncoding.BFloat16KHR), {C.BFloat16TypeKHR}, ("SPV_KHR_bfloat16",)),
    "float8": (lambda b: b.type_float(8, FPEncoding.Float8E4M3EXT), {C.Float8EXT}, ("SPV_EXT_float8",)),
    "matrix": (lambda b: matrix(b, b.type_float(32)), {C.CooperativeMatrixKHR}, ("SPV_KHR_cooperative_matrix",)),
    "matrix of bfloat16": (lambda b: matrix(b, b.type_float(16, FPEncoding.BFloat16KHR)),
                           {C.CooperativeMatrixKHR, C.BFloat16TypeKHR, C.BFloat16CooperativeMatrixKHR},
                           ("SPV_KHR_bfloat16", "SPV_KHR_cooperative_matrix")),
    "matrix of int4": (lambda b: matrix(b, b.type_int(4)),
                       {C.CooperativeMatrixKHR, C.Int4TypeINTEL, C.Int4CooperativeMatrixINTEL},
                       ("SPV_INTEL_int4", "SPV_KHR_cooperative_matrix")),
    "tf32 operands": (lambda b: in_function(
        b, Op.CooperativeMatrixMulAddKHR, matrix(b, b.type_float(32)), *[b.undef(matrix(b, b.type_float(32)))] * 3,
        CooperativeMatrixOperands.MatrixAAndBTF32ComponentsINTEL),
        {C.CooperativeMatrixKHR, C.CooperativeMatrixTF32ComponentTypeINTEL},
        ("SPV_INTEL_joint_matrix", "SPV_KHR_cooperative_matrix")),
    "packed layout": (lambda b: in_function(
        b, Op.CooperativeMatrixLoadKHR, matrix(b, b.type_float(32)),
        b.undef(b.type_pointer(StorageClass.CrossWorkgroup, b.type_float(32))), b.constant(b.type_int(32), 2)),
        {C.CooperativeMatrixKHR, C.PackedCooperativeMatrixINTEL},
        ("SPV_INTEL_joint_matrix", "SPV_KHR_cooperative_matrix")),
    "matrix times scalar": (lambda b: in_function(
        b, Op.MatrixTimesScalar, matrix(b, b.type_float(32)), b.undef(matrix(b, b.type_float(32))),
        b.constant(b.type_float(32), 2)), {C.CooperativeMatrixKHR, C.Matrix}, ("SPV_KHR_cooperative_matrix",)),
    "generic pointer": (lambda b: b.type_pointer(StorageClass.Generic, b.type_int(32)), {C.GenericPointer}, ()),
    "linkage": (lambda b: b.export(b.undef(b.type_int(32)), "f", LinkageType.Import), {C.Linkage}, ()),
    "link once": (lambda b: b.export(b.undef(b.type_int(32)), "f", LinkageType.LinkOnceODR), {C.Linkage},
                  ("SPV_KHR_linkonce_odr",)),
    "sub-group size": (lambda b: b.execution_mode(b.new_id(), ExecutionMode.SubgroupSize, 16),
                       {C.SubgroupDispatch}, ()),
    "built-in of kernels": (lambda b: b.builtin(BuiltIn.SubgroupLocalInvocationId, b.type_int(32)), set(), ()),
    "event": (lambda b: b.type_opaque(Op.TypeEvent), set(), ()),
    "packed dot": (lambda b: dot(b, b.undef(b.type_int(32)), PackedVectorFormat.PackedVectorFormat4x8Bit),
                   {C.DotProduct, C.DotProductInput4x8BitPacked}, ("SPV_KHR_integer_dot_product",)),
    "dot of char4": (lambda b: dot(b, vector_of(b, 8, 4)), {C.DotProduct, C.DotProductInput4x8Bit, C.Int8},
                     ("SPV_KHR_integer_dot_product",)),
    "dot of short2": (lambda b: dot(b, vector_of(b, 16, 2)), {C.DotProduct, C.DotProductInputAll, C.Int16},
                      ("SPV_KHR_integer_dot_product",)),
    "dot of short2 and char4": (lambda b: [dot(b, vector_of(b, 16, 2)), dot(b, vector_of(b, 8, 4))],
                                {C.DotProduct, C.DotProductInputAll, C.Int16, C.Int8},
                                ("SPV_KHR_integer_dot_product",)),
    "atomic int": (lambda b: atomic(b, Op.AtomicIAdd, b.type_int(32)), set(), ()),
    "atomic long": (lambda b: atomic(b, Op.AtomicIAdd, b.type_int(64)), {C.Int64, C.Int64Atomics}, ()),
    "atomic float": (lambda b: atomic(b, Op.AtomicFAddEXT, b.type_float(32)), {C.AtomicFloat32AddEXT},
                     ("SPV_EXT_shader_atomic_float_add",)),
    "atomic double maximum": (lambda b: atomic(b, Op.AtomicFMaxEXT, b.type_float(64)),
                              {C.AtomicFloat64MinMaxEXT, C.Float64}, ("SPV_EXT_shader_atomic_float_min_max",)),
    "group operation": (lambda b: in_function(b, Op.GroupIAdd, b.type_int(32), b.constant(b.type_int(32), 3), 0,
                                              b.undef(b.type_int(32))), {C.Groups}, ()),
    "non-uniform group operation": (
        lambda b: in_function(b, Op.GroupNonUniformIAdd, b.type_int(32), b.constant(b.type_int(32), 3), 0,
                              b.undef(b.type_int(32))), {C.GroupNonUniformArithmetic}, ()),
    "clustered group operation": (
        lambda b: in_function(b, Op.GroupNonUniformIAdd, b.type_int(32), b.constant(b.type_int(32), 3), 3,
                              b.undef(b.type_int(32)), b.constant(b.type_int(32), 4)),
        {C.GroupNonUniformClustered}, ()),
    "tf32 rounding": (lambda b: in_function(b, Op.RoundFToTF32INTEL, b.type_float(32), b.undef(b.type_float(32))),
                      {C.TensorFloat32RoundingINTEL}, ("SPV_INTEL_tensor_float32_conversion",)),
    "matrix multiply-accumulate": (
        lambda b: in_function(b, Op.SubgroupMatrixMultiplyAccumulateINTEL, b.type_int(32),
                              *[b.undef(b.type_int(32))] * 4, 0x33),
        {C.SubgroupMatrixMultiplyAccumulateINTEL}, ("SPV_INTEL_subgroup_matrix_multiply_accumulate",)),
    "non-semantic instructions": (lambda b: b.extended_set("NonSemantic.ClspvReflection"), set(),
                                  ("SPV_KHR_non_semantic_info",)),
    "printf": (lambda b: printing(b, StorageClass.UniformConstant), {C.Int8}, ()),
    "printf of another format": (lambda b: printing(b, StorageClass.CrossWorkgroup), {C.Int8},
                                 ("SPV_EXT_relaxed_printf_string_address_space",)),
    "split barrier": (lambda b: in_function(b, Op.ControlBarrierArriveINTEL, None,
                                            *[b.constant(b.type_int(32), 2)] * 3),
                      {C.SplitBarrierEXT}, ("SPV_INTEL_split_barrier",)),
}


@pytest.mark.parametrize("name", CASES)
def test_exactly_the_capabilities_in_use(name: str) -> None:
    build, capabilities, extensions = CASES[name]
    assert capabilities_of(build) == (capabilities, extensions)


def test_core_in_a_later_version_needs_no_extension() -> None:
    b = ModuleBuilder(version=(1, 6))
    dot(b, vector_of(b, 8, 4))
    module = b.finish()
    assert module.extensions == ()
    assert Capability.DotProductInput4x8Bit in module.capabilities


def test_the_interface_lists_what_callees_use() -> None:
    for version, expected in (((1, 3), 1), ((1, 4), 2)):
        b = ModuleBuilder(version=version)
        i32, void = b.type_int(32), b.type_void()
        used = b.builtin(BuiltIn.WorkDim, i32)
        local = b.global_variable(StorageClass.Workgroup, i32)
        b.global_variable(StorageClass.Workgroup, i32)
        b.builtin(BuiltIn.SubgroupSize, i32)
        kind = b.type_function(void, [])
        inner, outer = b.new_id(), b.new_id()
        b.begin_function(void, kind, identifier=outer)
        b.begin_block()
        b.value(Op.FunctionCall, void, inner)
        b.emit(Op.Return)
        b.end_function()
        b.begin_function(void, kind, identifier=inner)
        b.begin_block()
        b.emit(Op.Store, local, b.value(Op.Load, i32, used))
        b.value(Op.FunctionCall, void, outer)
        b.emit(Op.Return)
        b.end_function()
        b.entry_point(outer, "k")
        (entry,) = b.finish().entry_points
        assert entry.interface == (used, local)[:expected]


def test_forward_pointers_make_recursive_structures(tmp_path: Path) -> None:
    b = ModuleBuilder()
    pointer = b.forward_pointer(StorageClass.CrossWorkgroup)
    node = b.type_struct([b.type_int(32), pointer])
    b.complete_pointer(pointer, StorageClass.CrossWorkgroup, node)
    assert b.type_pointer(StorageClass.CrossWorkgroup, node) == pointer
    b.export(b.global_variable(StorageClass.CrossWorkgroup, node), "root")
    b.member_name(node, 1, "next")
    valid(b.finish(), tmp_path)


def test_declarations_come_before_definitions() -> None:
    b = ModuleBuilder()
    void = b.type_void()
    kind = b.type_function(void, [])
    in_function(b, Op.Nop, None)
    declared = b.begin_function(void, kind)
    b.end_function()
    b.export(declared, "elsewhere", LinkageType.Import)
    assert [function.id == declared for function in b.finish().functions] == [True, False]


def test_switch_on_long() -> None:
    b = ModuleBuilder()
    i64, void = b.type_int(64), b.type_void()
    b.begin_function(void, b.type_function(void, []))
    b.begin_block()
    end = b.new_id()
    b.switch(b.undef(i64), end, [(-1, end), (1 << 40, end)], width=64)
    b.begin_block(end)
    b.emit(Op.Return)
    b.end_function()
    module = Module.from_bytes(b.finish().to_bytes())
    (switch,) = module.of_opcode(Op.Switch)
    assert [operand.value for operand in switch.operands[2::2]] == [(1 << 64) - 1, 1 << 40]


def test_composites_and_specialisation(tmp_path: Path) -> None:
    b = ModuleBuilder()
    i32 = b.type_int(32)
    size = b.spec_constant(i32, 16, 3)
    flag = b.spec_constant(b.type_bool(), True, 4)
    double = b.constant_operation(i32, Op.IMul, size, b.constant(i32, 2))
    pair = b.constant_composite(b.type_vector(i32, 2), [b.constant(i32, 1), b.constant(i32, 2)])
    table = b.constant_composite(b.type_array(i32, 2), [b.constant(i32, 1), b.constant(i32, 2)])
    b.export(b.global_variable(StorageClass.UniformConstant, b.type_array(i32, 2), table), "table")
    module = b.finish()
    assert module.constant_value(size) == 16
    assert module.constant_value(flag) is True
    assert module.decorations(size) == [(Decoration.SpecId, (3,))]
    assert module.definition(double).opcode == Op.SpecConstantOp
    assert len(module.definition(pair).words) == 2
    valid(module, tmp_path)


def test_misuse_is_refused() -> None:
    b = ModuleBuilder()
    i32, void = b.type_int(32), b.type_void()
    kind = b.type_function(void, [])
    for action in (lambda: b.begin_block(), lambda: b.emit(Op.Return), lambda: b.parameter(i32),
                   lambda: b.local_variable(i32), lambda: b.end_function(), lambda: b.constant(999, 1),
                   lambda: b.constant(b.type_vector(i32, 2), 1), lambda: b.type_array(i32, 0)):
        with pytest.raises(ValueError, match=r"."):
            action()
    b.begin_function(void, kind)
    b.begin_block()
    for action in (lambda: b.begin_function(void, kind), lambda: b.parameter(i32), lambda: b.end_function(),
                   lambda: b.begin_block(), lambda: b.emit(Op.IAdd, 1, 2), lambda: b.finish(),
                   lambda: b.extended(i32, "no_such_function")):
        with pytest.raises(ValueError, match=r"."):
            action()
    b.emit(Op.Return)
    with pytest.raises(ValueError, match="outside of a block"):
        b.emit(Op.Return)
    b.end_function()
    assert b.finish().functions
