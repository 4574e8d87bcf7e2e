"""Kernels with Intel's sub-group functions on the CPU: merged like those with cooperative matrices, with the bits of
the kernel as it was written; what is said of them."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import coopmat as cm
from coopmat.targets.cpu.features import LEVELS, cpu_features
from coopmat.targets.cpu.features import VARIABLE as FEATURES
from coopmat.targets.cpu.host.launch import MergedPlan
from coopmat.targets.cpu.merging import VARIABLE
from coopmat.targets.cpu.program import CpuProgram
from tests.kit.fuzz.sub_group_products import FILLED, SOURCE, bits, drawn
from tests.kit.paths import EXAMPLES

INTEL = {8: "sim:intel_gpu_dg2_g10", 16: "sim:intel_gpu_pvc"}


def compare(seed: int, level: str, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Launch a kernel merged and as it is; whether it was merged."""
    one = drawn(seed)
    module = cm.build(SOURCE, one.options, device=cm.device(INTEL[one.size])).module
    a, b, before = one.operands(seed)
    given = [one.view(np.uint16) if one.dtype == ml_dtypes.bfloat16 else one for one in (a, one.b_in_memory(b))]
    m, n, k = one.sizes
    found, merged = [], False
    for merge in ("0", ""):
        monkeypatch.setenv(VARIABLE, merge)
        program = CpuProgram(module, cpu_features({FEATURES: level}), cm.CpuOptions(threads=1 + seed % 3))
        out = np.full((n, m) if one.store == "columns" else (m, n), FILLED, before.dtype)
        program.launch("gemm", one.global_size, (one.local_size, 1), [
            *given, before, out, np.int32(m), np.int32(n), np.int32(k), before.dtype.type(one.factor)])
        found.append(out)
        (plan, _), = program._plans.values()
        merged = isinstance(plan, MergedPlan) and plan.is_merged
    np.testing.assert_array_equal(*map(bits, found))
    if np.issubdtype(before.dtype, np.integer):
        np.testing.assert_array_equal(found[0], one.expected(a, b, before))
    return merged


@pytest.mark.thinned(3)
@pytest.mark.parametrize("seed", range(100, 118))
def test_the_same_bits_as_before(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Operands in many ways from memory, NaNs and infinities among them, on processors of several levels."""
    levels = list(LEVELS)
    compare(seed, levels[seed % len(levels)], monkeypatch)


@pytest.mark.slow
def test_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nearly all are merged."""
    levels = list(LEVELS)
    merged = sum(compare(seed, levels[seed % len(levels)], monkeypatch) for seed in range(1000, 1100))
    assert merged > 80


def said_of(kernel: str, merge: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """What is said of a launch of a kernel of the example of 8-bit integers; its result is checked."""
    monkeypatch.setenv(VARIABLE, merge)
    size, rng = 64, np.random.default_rng(1)
    device = cm.device("cpu")
    program = cm.build(cm.build(EXAMPLES / "matrix_int8.cl", device=cm.device(INTEL[16])).spirv, device=device)
    a, b = rng.integers(-128, 128, (size, size), np.int8), rng.integers(-128, 128, (size, size), np.int8)
    c = np.zeros((size, size), np.int32)
    wide = 32 if kernel.startswith("shared") else 16
    b = b if "rowmajor" in kernel else np.ascontiguousarray(b.reshape(size // 4, 4, size).transpose(0, 2, 1))
    given = b if "rowmajor" in kernel else b.view(np.uint32).reshape(size // 4, size)
    cm.Queue(device).enqueue(program.kernel(kernel), (size, size // 8), (wide, wide // 16), a, given, c, size, size
                             ).wait()
    plain = b if "rowmajor" in kernel else b.transpose(0, 2, 1).reshape(size, size)
    np.testing.assert_array_equal(c, a.astype(np.int32) @ plain.astype(np.int32))
    return "\n".join(device.explanation(program.load(device)))


def test_explanation(monkeypatch: pytest.MonkeyPatch) -> None:
    said = said_of("blocks_rowmajor_m8_n16", "", monkeypatch)
    assert "neighbouring work-groups" in said
    assert "products of Intel's sub-group functions are products of cooperative matrices" in said
    assert "one_tile.h:96" in said.splitlines()[-1]
    said = said_of("blocks_rowmajor_m8_n16", "0", monkeypatch)
    assert "not merged: COOPMAT_MERGE=0" in said
    assert "products of Intel's sub-group functions" not in said
    said = said_of("shared_m8_n16", "", monkeypatch)
    assert "not merged: its products of Intel's sub-group functions do not become those of cooperative matr" in said
    assert "work-items of a sub-group may part at a branch (" in said
