"""``coopmat opt --passes raise``: Intel's products of work-items' vectors as products of cooperative matrices. Raised
modules are valid, keep their lines, and compute the bits of the module before, with all checks of the simulator."""

from __future__ import annotations

import subprocess

import numpy as np
import pytest

import coopmat as cm
from coopmat.spirv import Module
from coopmat.spirv.analysis.places import place_of
from coopmat.spirv.grammar import Op
from coopmat.spirv.transform.merge import merged_of
from coopmat.spirv.transform.passes import chosen, transform
from tests.kit.fuzz.sub_group_products import FILLED, SOURCE, Drawn, bits, drawn
from tests.kit.paths import EXAMPLES
from tests.spirv.transform.test_merge import plain

INTEL = {8: "sim:intel_gpu_dg2_g10", 16: "sim:intel_gpu_pvc"}
PRODUCT = Op.SubgroupMatrixMultiplyAccumulateINTEL


def module_of(one: Drawn) -> Module:
    """The module of a random kernel."""
    return cm.build(SOURCE, one.options, device=cm.device(INTEL[one.size])).module


def raised(module: Module) -> tuple[Module, str]:
    """The module after the pass, and what the pass says."""
    changed, notes = transform(module, chosen(["raise"]))
    assert changed.validate() == []
    return Module.from_bytes(changed.to_bytes()), "\n".join(map(str, notes))


def result(module: Module, device: str, one: Drawn, seed: int) -> np.ndarray:
    """What a random kernel computes on a device."""
    a, b, before = one.operands(seed)
    m, n, k = one.sizes
    out = np.full((n, m) if one.store == "columns" else (m, n), FILLED, before.dtype)
    kernel = cm.build(module.to_bytes(), device=cm.device(device)).kernel("gemm")
    cm.Queue(device).enqueue(kernel, one.global_size, (one.local_size, 1), a, one.b_in_memory(b), before, out, m, n, k,
                             one.factor).wait()
    return out


@pytest.mark.thinned(4)
@pytest.mark.parametrize("seed", range(24))
def test_the_same_bits_as_before(seed: int) -> None:
    """A and B loaded in many ways, C stored in some, and functions of it in between."""
    one = drawn(seed)
    module = module_of(one)
    changed, said = raised(module)
    assert "of work-items' vectors became" in said
    assert not list(changed.of_opcode(PRODUCT, Op.SubgroupBlockReadINTEL, Op.Subgroup2DBlockLoadINTEL))
    before = result(module, INTEL[one.size], one, seed)
    np.testing.assert_array_equal(bits(result(changed, INTEL[one.size], one, seed)), bits(before))
    if np.issubdtype(before.dtype, np.integer):
        a, b, first = one.operands(seed)
        np.testing.assert_array_equal(before, one.expected(a, b, first))
        np.testing.assert_array_equal(result(changed, "sim:generic", one, seed), before)


def test_kernels_of_the_examples() -> None:
    """All are raised but those that share tiles by way of local memory."""
    module = cm.build(EXAMPLES / "matrix_int8.cl", device=cm.device(INTEL[16])).module
    left = [line for line in raised(module)[1].splitlines() if "keeps its products" in line]
    assert len(left) == 1
    assert "kernel 'shared_m8_n16'" in left[0]
    assert "work-items of a sub-group may part at a branch" in left[0]
    assert "shared_tiles.h:" in left[0]


@pytest.mark.oracle("spirv-val")
@pytest.mark.parametrize("seed", [1, 6, 7])
def test_spirv_val_accepts_what_is_raised(seed: int) -> None:
    """Of kernels whose B is not packed, which SPIRV-Tools do not know."""
    changed, _ = raised(module_of(drawn(seed)))
    found = subprocess.run(["spirv-val", "-"], input=plain(changed).to_bytes(), capture_output=True, check=False)
    assert found.returncode == 0, found.stderr.decode()


def test_lines_are_kept() -> None:
    """Products, loads and stores stand where those of the kernel stood."""
    module = module_of(drawn(3))
    before = {place.line for row in module.of_opcode(PRODUCT) if (place := place_of(module, row)) is not None}
    changed, _ = raised(module)
    for op in (Op.CooperativeMatrixMulAddKHR, Op.CooperativeMatrixLoadKHR, Op.CooperativeMatrixStoreKHR):
        places = [place_of(changed, row) for row in changed.of_opcode(op)]
        assert places
        assert all(places)
        if op == Op.CooperativeMatrixMulAddKHR:
            assert {place.line for place in places if place is not None} == before


def test_raised_kernels_are_merged() -> None:
    """The pass ``merge`` takes them."""
    changed, notes = transform(cm.build(KERNEL, device=cm.device(INTEL[16])).module, chosen(["raise", "merge"]))
    assert changed.validate() == [], notes
    assert merged_of(changed)["gemm"].factors == (2, 2, 1)


KERNEL = """
__attribute__((intel_reqd_sub_group_size(16))) __attribute__((reqd_work_group_size(16, 1, 1)))
kernel void gemm(global const char *a, global const uint *b, global int *c, int n, int k)
{
    const int lane = get_sub_group_local_id(), row = get_group_id(1) * 8, column = get_group_id(0) * 16;
    int8 sum = 0;
    for (int at = 0; at < k; at += 32) {
        short8 x; int8 y;
        for (int r = 0; r < 8; r++) { ((short *)&x)[r] = *(global const short *)(a + (row + r) * k + at + 2 * lane); }
        for (int r = 0; r < 8; r++) ((uint *)&y)[r] = b[(at / 4 + r) * n + column + lane];
        sum = intel_sub_group_i8_i8_matrix_mad_k32(x, y, sum);
    }
    for (int r = 0; r < 8; r++) c[(row + r) * n + column + lane] = ((int *)&sum)[r];
}
"""
REFUSALS = {
    "another order": ("at + 2 * lane)", "at + 2 * (lane ^ 1))",
                      "its address is made of numbers of which it is not known how they differ between work-items", 9),
    "rows out of order": ("(row + r) * k + at", "(row + r % 4 * 2 + r / 4) * k + at",
                          "does not lie in memory as one does", 9),
    "a shuffle": ("(row + r) * n + column + lane] = ((int *)&sum)[r]",
                  "(row + r) * n + column + lane] = sub_group_reduce_add(((int *)&sum)[r])",
                  "a product's components are used by OpGroupIAdd", 13),
    "some rows": ("for (int r = 0; r < 8; r++) c[", "for (int r = 0; r < 7; r++) c[",
                  "not all components of a product are stored together", 13),
    "some columns": ("c[(row + r) * n + column + lane] =", "if (column + lane < n) c[(row + r) * n + column + lane] =",
                     "work-items of a sub-group may part at a branch", 13),
    "changed operands": ("b[(at / 4 + r) * n + column + lane]", "b[(at / 4 + r) * n + column + lane] ^ 0x80808080",
                         "are made by OpBitwiseXor", 10),
    "private memory": ("*(global const short *)(a + (row + r) * k + at + 2 * lane);",
                       "*((short *)own + 2 * lane);", "it is not seen that work-items share the memory", 9),
    "a barrier": ("{ ((short *)&x)[r] =", "{ if (r == 4) barrier(CLK_GLOBAL_MEM_FENCE); ((short *)&x)[r] =",
                  "between accesses to one matrix stands another one (OpControlBarrier)", 9),
    "a row of A that is not loaded": ("{ ((short *)&x)[r] =", "{ if (r != 4) ((short *)&x)[r] =",
                                      "are made by OpUndef", 0),
    "no work-group size": ("__attribute__((reqd_work_group_size(16, 1, 1)))", "",
                           "it requires no work-group size, and none is given (--work-group)", 0),
}
"""What of the kernel is written otherwise, what the pass says then, and the line that it names."""


def test_the_kernel_of_the_refusals_is_raised() -> None:
    _, said = raised(cm.build(KERNEL, device=cm.device(INTEL[16])).module)
    assert said == ("raise: kernel 'gemm': 1 product of work-items' vectors became one of cooperative matrices; "
                    "integers that say where its matrices lie must not wrap around")


@pytest.mark.parametrize("name", REFUSALS)
def test_refusals(name: str) -> None:
    """A kernel that cannot be raised stays as it is, and a note says why."""
    old, new, reason, line = REFUSALS[name]
    assert KERNEL.count(old) == 1
    text = KERNEL.replace(old, new).replace("short8 x;", "short own[32] = {a[at], k}; short8 x;")
    module = cm.build(text, device=cm.device(INTEL[16])).module
    changed, said = raised(module)
    assert "kernel 'gemm' keeps its products of work-items' vectors: " in said
    assert reason in said
    assert not line or f":{line})" in said
    assert changed.to_bytes() == module.to_bytes()
