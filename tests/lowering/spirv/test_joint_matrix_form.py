"""The instructions that joint_matrix kernels become, before two validators: ours, and Khronos's where it knows
the extension."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from coopmat.devices import ARCHITECTURES
from coopmat.diagnostics import KernelNotSupported
from coopmat.lowering import to_llvm_ir, to_spirv
from coopmat.spirv.grammar import Capability
from coopmat.spirv.module import Module
from coopmat.tree import nodes as n
from coopmat.tree import types as t
from tests.kit.lowering.trees import (
    assign,
    at,
    binary,
    convert,
    declare,
    element,
    function,
    kernel,
    load,
    num,
    place,
    pointer,
    run,
    validate,
    variable,
)
from tests.lowering.test_joint_matrices import PRIVATE, SCALARS, in_window, multiplication
from tests.lowering.test_matrix_lowering import DTYPES, matrix, read, write

JOINT, KHR = "SPV_INTEL_joint_matrix", "SPV_KHR_cooperative_matrix"
SOURCE, TARGET = variable("source", pointer(t.FLOAT)), variable("target", pointer(t.FLOAT))
TILE = matrix(t.FLOAT)


def module_of(*body: n.Statement | n.Expression, helpers: tuple[n.Function, ...] = ()) -> Module:
    """A module that our validator has nothing to say about."""
    program = n.Program([*helpers, kernel("k", [SOURCE, TARGET], *body)])
    module = to_spirv(program)
    assert module.validate() == []
    return module


def test_windows() -> None:
    window = n.Window(num(-1), num(2), num(9, t.UINT), num(11))
    loaded = n.MatrixLoad(TILE, None, load(SOURCE), 1, num(9, t.ULONG), window)
    filled = n.MatrixFill(TILE, None, num(1.5, t.FLOAT), window)
    stored = n.MatrixStore(t.VOID, None, load(TARGET), binary("+", loaded, filled), 0, num(11), window)
    module = module_of(stored)
    assert {Capability.CooperativeMatrixCheckedInstructionsINTEL, Capability.CooperativeMatrixKHR} <= set(
        module.capabilities)
    assert {JOINT, KHR} <= set(module.extensions)
    names = [item.name.removeprefix("Op") for item in module.instructions if "Checked" in item.name]
    assert names == [f"CooperativeMatrix{name}CheckedINTEL" for name in ("Load", "Construct", "Store")]
    constants = {item.result_id: module.constant_value(item.result_id) for item in module.instructions
                 if item.name == "OpConstant" and item.result_id is not None}
    row, column, height, width, layout, stride = -1 % (1 << 32), 2, 9, 11, 1, 9
    found = [[constants.get(word) for word in item.words] for item in module.instructions if "Checked" in item.name]
    assert found[0] == [None, row, column, layout, height, width, stride]  # X is the row
    assert found[1] == [row, column, height, width, 1.5]
    assert found[2] == [None, row, column, None, 0, height, width, 11]


def test_a_prefetch() -> None:
    module = module_of(n.MatrixPrefetch(t.VOID, None, load(SOURCE), 8, 16, 2, 0, num(64, t.ULONG)))
    assert Capability.CooperativeMatrixPrefetchINTEL in module.capabilities
    assert JOINT in module.extensions
    (item,) = [item for item in module.instructions if item.name == "OpCooperativeMatrixPrefetchINTEL"]
    pointer_, rows, columns, level, layout, stride = item.words  # drivers know no offsets
    assert [module.constant_value(word) for word in (rows, columns, layout, stride)] == [8, 16, 0, 64]
    assert level == 2
    chain = module.definition(pointer_)  # for Intel's compiler, which wants one
    assert chain.name == "OpPtrAccessChain"
    assert module.constant_value(chain.words[1]) == 0
    assert chain.words[0] in {parameter.result_id for parameter in module.functions[0].parameters}


def hinted_read(**controls: tuple[tuple[int, int], ...]) -> Module:
    """``target[0] = source[5]`` with hints."""
    fifth = n.PointerOffset(SOURCE.type, None, load(SOURCE), num(5, t.LONG))
    hinted = n.WithCacheControls(SOURCE.type, None, fifth, **controls)
    return module_of(assign(at(TARGET, num(0)), load(n.Dereference(t.FLOAT, None, hinted))))


def test_cache_controls_decorate_an_access_chain_of_their_own() -> None:
    module = hinted_read(loads=((1, 1), (2, 0)), stores=((0, 2),))
    assert Capability.CacheControlsINTEL in module.capabilities
    assert "SPV_INTEL_cache_controls" in module.extensions
    decorated = [item for item in module.instructions if item.name == "OpDecorate" and "CacheControl" in str(item)]
    target = decorated[0].words[0]
    assert [str(item).split("CacheControl")[1] for item in decorated] == [
        "LoadINTEL 1 CachedINTEL", "LoadINTEL 2 UncachedINTEL", "StoreINTEL 0 WriteBackINTEL"]
    assert {item.words[0] for item in decorated} == {target}
    chain = module.definition(target)
    assert chain.name == "OpPtrAccessChain"
    assert module.constant_value(chain.words[1]) == 0


def test_cache_controls_before_khronos_s_validator(tmp_path: Path) -> None:
    """It takes one control of a kind for a pointer, where the extension allows one for each level."""
    validate(hinted_read(loads=((1, 1),), stores=((0, 2),)), tmp_path)


@pytest.mark.parametrize(("given", "wanted", "steps"), [
    (t.Use.ACCUMULATOR, t.Use.A, 0), (t.Use.B, t.Use.ACCUMULATOR, 0), (t.Use.A, t.Use.B, 1), (t.Use.B, t.Use.A, 1)])
def test_a_change_of_use(given: t.Use, wanted: t.Use, steps: int, tmp_path: Path) -> None:
    """Together with the conversion; what is A becomes an accumulator before it is B."""
    halves = variable("halves", pointer(t.HALF))
    copied = convert(read(matrix(t.FLOAT, use=given), SOURCE), matrix(t.HALF, use=wanted))
    module = to_spirv(n.Program([kernel("k", [SOURCE, halves], write(halves, copied))]))
    assert module.validate() == []
    names = [item.name for item in module.instructions if "Convert" in item.name]
    assert names == [*["OpCooperativeMatrixConvertUseEXT"] * steps, "OpFConvert"]
    assert Capability.CooperativeMatrixConversionsEXT in module.capabilities
    assert "SPV_EXT_cooperative_matrix_maintenance1" in module.extensions
    validate(module, tmp_path)


def test_a_private_matrix_behind_a_pointer(tmp_path: Path) -> None:
    tile, own = variable("tile", pointer(TILE, PRIVATE)), variable("own", TILE)
    behind = n.Dereference(TILE, None, load(tile))
    helper = function("twice", t.VOID, [tile], assign(behind, binary("+", load(behind), load(behind))))
    call = n.Call(t.VOID, None, helper, (n.AddressOf(tile.type, None, place(own)),))
    module = module_of(declare(own, read(TILE, SOURCE)), call, write(TARGET, load(own)), helpers=(helper,))
    validate(module, tmp_path)


def test_tf32() -> None:
    """The multiplication reads floats as tf32: an operand of SPV_INTEL_joint_matrix."""
    module = to_spirv(multiplication(("tf32", "tf32", "fp32", "fp32"), 16, 16, 8))
    assert module.validate() == []
    assert Capability.CooperativeMatrixTF32ComponentTypeINTEL in module.capabilities
    assert {JOINT, KHR} <= set(module.extensions)
    assert "MatrixAAndBTF32ComponentsINTEL" in module.to_text()


def test_rounding_to_tf32(tmp_path: Path) -> None:
    rounded = n.Operation(t.FLOAT, None, "core.RoundFToTF32INTEL", (load(at(SOURCE)),))
    module = module_of(assign(at(TARGET), rounded))
    assert Capability.TensorFloat32RoundingINTEL in module.capabilities
    assert module.extensions == ("SPV_INTEL_tensor_float32_conversion",)
    validate(module, tmp_path)


def test_every_combination_is_valid() -> None:
    for formats in dict.fromkeys(row.types for device in ARCHITECTURES.values() for row in device.combinations):
        module = to_spirv(multiplication(formats, 16, 16, 16))
        assert [finding for finding in module.validate() if finding.severity == "error"] == [], formats


@pytest.mark.parametrize("device", [name for name, row in ARCHITECTURES.items() if row.combinations])
def test_every_device_runs_what_is_portable_in_sycl(device: str) -> None:
    """Prefetches, hints, windows, coordinates and rounding to tf32, with the first matrix C of its table."""
    description = ARCHITECTURES[device]
    row = description.combinations[0]
    scalar, rows, columns = SCALARS[row.ctype], row.msize or row.max_msize, row.nsize or row.max_nsize
    source, target = variable("source", pointer(scalar)), variable("target", pointer(scalar))
    singles, type_ = variable("singles", pointer(t.FLOAT)), matrix(scalar, rows, columns)
    tile = variable("tile", type_)
    hinted = n.WithCacheControls(source.type, None, load(source), loads=((0, 1),))
    window = n.Window(num(1), num(1), num(rows), num(columns))
    spot = n.MatrixCoordinates(t.Vector(t.INT, 2), None, load(tile), num(0))
    rounded = n.Operation(t.FLOAT, None, "core.RoundFToTF32INTEL", (load(at(singles)),))
    body = [n.MatrixPrefetch(t.VOID, None, load(source), rows, columns, 0, 0, num(columns)),
            declare(tile, n.MatrixLoad(type_, None, hinted, 0, num(columns), window)),
            n.MatrixStore(t.VOID, None, load(target), load(tile), 0, num(columns), window),
            assign(at(singles), binary("+", rounded, convert(n.Swizzle(t.INT, None, spot, (1,)), t.FLOAT)))]
    size = description.sub_group_sizes[0]
    a, found = np.random.default_rng(1).integers(0, 9, (2, rows, columns)).astype(DTYPES[scalar])
    before, numbers = found.copy(), np.full(size, 1 + 2 ** -12, np.float32)
    run(n.Program([kernel("k", [source, target, singles], *body)]), "k", size, a, found, numbers, device=device)
    np.testing.assert_array_equal(found[0], before[0])
    np.testing.assert_array_equal(found[:, 0], before[:, 0])
    np.testing.assert_array_equal(found[1:, 1:], a[1:, 1:])
    assert (numbers % 1 == 0).all()  # 1 and the column, without what tf32 does not hold


def test_a_device_without_the_matrices_says_so() -> None:
    program = multiplication(("tf32", "tf32", "fp32", "fp32"), 8, 16, 8)
    arrays = [np.zeros(shape, np.float32) for shape in ((8, 8), (8, 16), (8, 16), (8, 16))]
    run(program, "k", 16, *arrays, device="intel_gpu_pvc")
    with pytest.raises(KernelNotSupported, match=r"amd_gpu_gfx90a does not support the matrix multiply-accumulate "
                                                 r"tf32\*tf32 \+ fp32 -> fp32, M=8 N=16 K=8"):
        run(program, "k", 64, *arrays, device="amd_gpu_gfx90a")


@pytest.mark.parametrize(("device", "supported"), [
    ("nvidia_gpu_sm_70", True), ("intel_gpu_pvc", False), ("amd_gpu_gfx90a", False)])
def test_c_and_d_of_different_types(device: str, supported: bool) -> None:
    """fp16 * fp16 + fp32 -> fp16: NVIDIA's alone."""
    program = multiplication(("fp16", "fp16", "fp32", "fp16"), 16, 16, 16)
    arrays = [np.ones((16, 16), dtype) for dtype in (np.float16, np.float16, np.float32, np.float16)]
    size = ARCHITECTURES[device].sub_group_sizes[0]
    if supported:
        run(program, "k", size, *arrays, device=device)
        assert (arrays[3] == 17).all()
    else:
        with pytest.raises(KernelNotSupported, match=r"fp16\*fp16 \+ fp32 -> fp16, M=16 N=16 K=16; nearest"):
            run(program, "k", size, *arrays, device=device)


def test_hints_of_local_memory_are_dropped() -> None:
    numbers = variable("numbers", t.Array(t.FLOAT, 4), t.AddressSpace.LOCAL)
    there = n.AddressOf(pointer(t.FLOAT, t.AddressSpace.LOCAL), None, element(place(numbers), 0))
    hinted = n.WithCacheControls(there.type, None, there, loads=((0, 1),))
    module = module_of(declare(numbers), assign(at(TARGET, num(0)), load(n.Dereference(t.FLOAT, None, hinted))))
    assert Capability.CacheControlsINTEL not in module.capabilities


def test_llvm_ir() -> None:
    window = in_window(-1, 2)
    hinted = n.WithCacheControls(SOURCE.type, None, load(SOURCE), loads=((0, 1),))
    body = (n.MatrixPrefetch(t.VOID, None, load(SOURCE), 4, 8, 1, 0, num(8, t.ULONG)),
            n.MatrixStore(t.VOID, None, load(TARGET), n.MatrixLoad(TILE, None, hinted, 0, num(11, t.ULONG), window), 0,
                          num(11, t.ULONG), window),
            write(TARGET, n.MatrixFill(TILE, None, num(1.0, t.FLOAT), window)),
            write(TARGET, convert(read(matrix(t.FLOAT, use=t.Use.A), SOURCE), TILE)))
    text = to_llvm_ir(n.Program([kernel("k", [SOURCE, TARGET], *body)]))
    for expected in (
            "@_Z38__spirv_CooperativeMatrixPrefetchINTELPU3AS1fjjjjm(ptr addrspace(1) %source, i32 4, i32 8, i32 1, "
            "i32 0, i64 8)",
            "%hinted = getelementptr inbounds float, ptr addrspace(1) %source, i64 0, !spirv.Decorations !",
            "= !{i32 6442, i32 0, i32 1}",
            "@_Z41__spirv_CooperativeMatrixLoadCheckedINTELPU3AS1f.f32_sc3_4x8_u2(ptr addrspace(1) %hinted, i32 -1, "
            "i32 2, i32 0, i32 %convert",
            "@_Z42__spirv_CooperativeMatrixStoreCheckedINTELPU3AS1f.f32_sc3_4x8_u2(ptr addrspace(1) %target, i32 -1, "
            "i32 2, target(",
            "@_Z46__spirv_CooperativeMatrixConstructCheckedINTEL_f32_sc3_4x8_u2(i32 -1, i32 2, i32 %convert",
            "@_Z38__spirv_CooperativeMatrixConvertUseEXT_f32_sc3_4x8_u0_f32_sc3_4x8_u2("):
        assert expected in text, expected + "\n" + text
