"""Kernels as shaders: every kernel of the tests and examples is one that Khronos's validator and ours accept, what a
driver does not have is refused by its name, and arguments are where the interface says."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

import coopmat as cm
from coopmat.spirv import Module
from coopmat.spirv.grammar import Capability, Decoration, MemoryAccess, Op, StorageClass
from coopmat.spirv.transform.to_vulkan import Shader, VulkanTarget, to_vulkan
from coopmat.spirv.transform.to_vulkan.features import ALL
from tests.kit.cases import KERNELS
from tests.kit.oracles import vulkan
from tests.kit.paths import EXAMPLES

FROM_EXAMPLES = ("gemm", "gemm_blocked", "gemm_quantized", "gemm_tuned_gpu", "gemm_w4a16", "flash_attention",
                 "dot_products", "scale_rows", "convolution")
SOURCES = [*sorted(KERNELS.glob("*.cl")), *(EXAMPLES / f"{name}.cl" for name in FROM_EXAMPLES)]
SUB_GROUP = 16


@cache
def built(source: Path | str) -> Module:
    return Module.from_bytes(cm.build(source, options=("-w",)).spirv)


def shader_of(module: Module, kernel: str, target: VulkanTarget | None = None) -> Shader:
    size = module.kernel_signatures[kernel].sub_group_size
    return to_vulkan(module, kernel, target or VulkanTarget.of_everything(size or SUB_GROUP))


def shaders(source: Path) -> list[Shader]:
    module = built(source)
    return [shader_of(module, kernel) for kernel in module.kernel_signatures]


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_our_validator_accepts_the_shaders(source: Path) -> None:
    for shader in shaders(source):
        assert Module.from_bytes(shader.spirv).validate() == [], shader.entry_point


@pytest.mark.oracle("lavapipe")
@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_khronos_validator_accepts_the_shaders(source: Path, tmp_path: Path) -> None:
    tool = vulkan.spirv_val()
    assert tool is not None
    for shader in shaders(source):
        file = tmp_path / f"{shader.entry_point}.spv"
        file.write_bytes(shader.spirv)
        run = subprocess.run([tool, "--target-env", "vulkan1.3", file], capture_output=True, text=True, check=False,
                             timeout=60)
        assert run.returncode == 0, f"{shader.entry_point}: {run.stdout}{run.stderr}"


NEEDS = {
    "shaderFloat64": "kernel void k(global double *x) { x[0] *= 3; }",
    "shaderFloat16": "kernel void k(global half *x) { x[0] *= 3; }",
    "shaderInt8": "kernel void k(global char *x) { x[0] *= 3; }",
    "storageBuffer8BitAccess": "kernel void k(global char *x) { x[0] *= 3; }",
    "storageBuffer16BitAccess": "kernel void k(global short *x) { x[0] *= 3; }",
    "shaderInt16": "kernel void k(global short *x) { x[0] *= 3; }",
    "shaderBufferInt64Atomics": "kernel void k(global long *x) { atom_add(x, 3L); }",
    "shaderSharedInt64Atomics": "kernel void k(global long *x) { local long y; y = 0; atom_add(&y, 3L); x[0] = y; }",
    "subgroupArithmetic": "kernel void k(global int *x) { x[0] = sub_group_reduce_add(x[1]); }",
    "shaderSubgroupExtendedTypes": "kernel void k(global long *x) { x[0] = sub_group_reduce_add(x[1]); }",
    "bufferDeviceAddress": "kernel void k(global int *x) { x[0] = 1; }",
}


@pytest.mark.parametrize("feature", NEEDS)
def test_what_a_driver_lacks_is_named(feature: str) -> None:
    everything = VulkanTarget.of_everything(SUB_GROUP)
    module = built(NEEDS[feature])
    assert feature in shader_of(module, "k", everything).features
    with pytest.raises(cm.KernelNotSupported, match=feature):
        shader_of(module, "k", replace(everything, features=ALL - {feature}))


def test_features_that_others_can_do_without() -> None:
    """Dot products, matrices, bf16 numbers and scopes of devices become other instructions."""
    source = ("kernel void k(global uint *x, global ushort *y) {\n"
              "  atomic_add(x, dot(as_uchar4(x[1]), as_uchar4(x[2]))); }")
    lacking = {"shaderIntegerDotProduct", "vulkanMemoryModelDeviceScope", "shaderBFloat16Type", "cooperativeMatrix"}
    poor = replace(VulkanTarget.of_everything(SUB_GROUP), features=ALL - lacking)
    for module, kernel in ((built(source), "k"), (built(EXAMPLES / "gemm.cl"), "gemm")):
        found = shader_of(module, kernel, poor)
        assert not found.features & lacking
        capabilities = Module.from_bytes(found.spirv).capabilities
        assert Capability.CooperativeMatrixKHR not in capabilities
        assert Capability.DotProduct not in capabilities


def test_contraction_may_be_forbidden() -> None:
    body = "kernel void k(global float *x) { x[0] = x[1] * x[2] + x[3]; }"
    for source, forbidden in ((body, 0), (f"#pragma OPENCL FP_CONTRACT OFF\n{body}", 2)):
        shader = Module.from_bytes(shader_of(built(source), "k").spirv)
        assert sum(row.words[1] == Decoration.NoContraction for row in shader.of_opcode(Op.Decorate)) == forbidden


def test_another_sub_group_size_than_required() -> None:
    module = built("__attribute__((intel_reqd_sub_group_size(16))) kernel void k(global int *x) { "
                   "*x = get_sub_group_size(); }")
    with pytest.raises(cm.KernelNotSupported, match="requires sub-groups of 16"):
        to_vulkan(module, "k", VulkanTarget.of_everything(8))


def test_more_local_memory_than_there_is() -> None:
    module = built("kernel void k(global int *x) { local int y[9000]; y[x[0]] = 1; x[1] = y[x[2]]; }")
    with pytest.raises(cm.KernelNotSupported, match="36000 bytes of local memory"):
        to_vulkan(module, "k", replace(VulkanTarget.of_everything(8), local_memory_bytes=32768))


def test_the_argument_block() -> None:
    module = built("typedef struct { char tag; double value; } pair;\n"
                   "kernel void k(global int *x, char c, pair p, local short *scratch, float3 v, global int *y) {\n"
                   "  scratch[0] = c; x[0] = scratch[0] + p.tag + v.z + get_num_groups(0);\n"
                   "  y[0] = get_global_offset(0); }")
    shader = shader_of(module, "k")
    assert [(one.kind, one.offset, one.size) for one in shader.arguments] == [
        ("pointer", 0, 8), ("value", 8, 1), ("value", 16, 16), ("local", 0, 0), ("value", 32, 16), ("pointer", 48, 8)]
    assert shader.arguments[3].element_size == 2
    assert shader.arguments[3].spec_id not in (None, *shader.local_size_spec_ids)
    assert dict(shader.hidden) == {"group_count": 56, "global_offset": 72}
    assert shader.block_size == 96
    assert not shader.block_in_memory


def words_of(shader: Shader, *ops: Op) -> list[tuple[int, ...]]:
    return [row.words for row in Module.from_bytes(shader.spirv).of_opcode(*ops)]


def test_local_memory_is_accessed_in_vectors() -> None:
    """Where every access allows it: those of matrices do if their lines begin at multiples of 16 bytes."""
    source = (EXAMPLES / "gemm_tuned_gpu.cl").read_text()
    shorter = source.replace("#define LINE_A (TK + TOGETHER)", "#define LINE_A (TK + 4)")
    for text, size in ((source, 16), (shorter, 8)):
        shader = Module.from_bytes(shader_of(built(text), "gemm", VulkanTarget.of_everything(32)).spirv)
        arrays = {shader.definition(row.type_id or 0).words[1] for row in shader.of_opcode(Op.Variable)
                  if row.words[0] == StorageClass.Workgroup}
        units = {shader.definition(shader.definition(one).words[0]) for one in arrays}
        assert min(row.words[1] * 4 if row.opcode == Op.TypeVector else row.words[0] // 8 for row in units) == size


def test_short_loops_are_to_be_unrolled() -> None:
    source = ("kernel void k(global int *x, int n) { int sum[4] = {0}; for (int i = 0; i < n; i++) {\n"
              "  #pragma unroll 1\n  for (int j = 0; j < 4; j++) sum[j] += x[i + j];\n"
              "  for (int j = 0; j < 4; j++) sum[j] += x[i * j]; }\n"
              "for (int j = 0; j < 4000; j++) x[j] += sum[j % 4]; }")
    assert sorted(words[2] for words in words_of(shader_of(built(source), "k"), Op.LoopMerge)) == [0, 0, 1, 2]


@pytest.mark.parametrize(("between", "is_shared"), [
    ("barrier(CLK_LOCAL_MEM_FENCE);", False), ("barrier(CLK_GLOBAL_MEM_FENCE);", True), ("", False),
    ("atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_release, memory_scope_device);", True)])
def test_global_memory_is_private_where_nothing_orders_it(between: str, is_shared: bool) -> None:
    source = f"kernel void k(global int *x) {{ x[get_global_id(0)] = 1; {between} x[3] = x[5]; }}"
    flags = [words[-2] for words in words_of(shader_of(built(source), "k"), Op.Store)]
    assert flags
    assert all(bool(one & MemoryAccess.NonPrivatePointer) == is_shared for one in flags)


def test_arguments_that_push_constants_cannot_hold() -> None:
    parameters = ", ".join(f"global int *p{number}" for number in range(20))
    module = built(f"kernel void k({parameters}) {{ p0[0] = p19[0]; }}")
    shader = shader_of(module, "k")
    assert shader.block_in_memory
    assert shader.block_size == 160
    arrays = [row for row in Module.from_bytes(shader.spirv).of_opcode(Op.TypeArray)
              if Module.from_bytes(shader.spirv).decorations(row.result_id or 0)]
    assert len(arrays) == 1  # the two words of the address
    assert not shader_of(module, "k", replace(VulkanTarget.of_everything(), push_constant_bytes=256)).block_in_memory


def test_program_scope_variables_are_the_same_for_all_kernels() -> None:
    module = built("global int counter = 7; constant int table[3] = {1, 2, 3}; global int *where = &counter;\n"
                   "kernel void first(global int *x) { x[0] = counter + table[x[1]]; }\n"
                   "kernel void second(global int *x) { *where = x[0]; }\n"
                   "kernel void third(global int *x) { x[0] = 1; }")
    first, second, third = (shader_of(module, name) for name in ("first", "second", "third"))
    assert first.globals_image == second.globals_image != b""
    assert len(first.globals_relocations) == 1
    assert third.globals_image == b""
    assert "globals" not in third.hidden


def test_what_is_no_kernel() -> None:
    module = built("kernel void k(global int *x) { x[0] = 1; }")
    with pytest.raises(cm.Error, match="no kernel 'other'; its kernels: k"):
        to_vulkan(module, "other", VulkanTarget.of_everything())
    shader = Module.from_bytes(shader_of(module, "k").spirv)
    with pytest.raises(cm.Error, match="nothing to translate"):
        to_vulkan(shader, "k", VulkanTarget.of_everything())
