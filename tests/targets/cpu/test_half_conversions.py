"""fp16 conversions on a processor without instructions for them, against numpy's."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import coopmat as cm
from coopmat.runtime.executable import executable
from coopmat.targets.cpu.features import cpu_features
from coopmat.targets.cpu.program import CpuProgram
from tests.kit.paths import EXAMPLES
from tests.kit.targets.short_kernels import module

BASELINE = cpu_features({"COOPMAT_CPU_FEATURES": "baseline"})


def convert(source: np.ndarray, kind: str, result: str, dtype: type) -> np.ndarray:
    program = CpuProgram(executable(module(f"g_{result} out, g_{kind} a", f"""
        %p = OpPtrAccessChain %g_{kind} %a %gx
        %q = OpPtrAccessChain %g_{result} %out %gx
        %v = OpLoad %{kind} %p
        %w = OpFConvert %{result} %v
        OpStore %q %w""")), BASELINE)
    out = np.zeros(len(source), dtype)
    program.launch("kernel", (len(source),), (64,), [out, source])
    return out


def test_every_half_as_float() -> None:
    halves = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    found, expected = convert(halves, "f16", "f32", np.float32), halves.astype(np.float32)
    numbers = ~np.isnan(halves)
    np.testing.assert_array_equal(found[numbers].view(np.uint32), expected[numbers].view(np.uint32))
    assert np.isnan(found[~numbers]).all()


def test_floats_as_halves() -> None:
    """Random bits, every half, what lies half-way between two of them, and their neighbours."""
    rng = np.random.default_rng(3)
    halves = np.arange(0x7C00, dtype=np.uint16).view(np.float16).astype(np.float64)
    ties = ((halves[1:] + halves[:-1]) / 2).astype(np.float32)
    ends = np.array([65519.99, 65520.0, 65536.0, np.inf, np.nan], np.float32)
    near = np.concatenate([halves.astype(np.float32), ties, ends])
    near = np.concatenate([near, np.nextafter(near, np.float32(0)), np.nextafter(near, np.float32(np.inf))])
    floats = np.concatenate([near, -near, np.frombuffer(rng.bytes(1 << 16), np.float32)])
    floats = np.concatenate([floats, floats[:-len(floats) % 64]])
    with np.errstate(all="ignore"):
        expected = floats.astype(np.float16)
    found = convert(floats, "f32", "f16", np.float16)
    numbers = ~np.isnan(floats)
    np.testing.assert_array_equal(found[numbers].view(np.uint16), expected[numbers].view(np.uint16))
    assert np.isnan(found[~numbers]).all()


NUMBERS = "kernel void k(global half *a, global float *b) { b[get_global_id(0)] = a[get_global_id(0)]; }"
MATRICES = ("-DTM=16", "-DTN=16", "-DTK=16", "-DIN=half", "-DOUT=float", "-DFLAGS=0")


@pytest.mark.parametrize(("source", "options", "file"), [
    (NUMBERS, (), "k.ll"), (EXAMPLES / "gemm.cl", MATRICES, "gemm.matrices.ll")], ids=["numbers", "matrices"])
def test_the_last_dump_is_what_is_compiled(source: str | Path, options: tuple[str, ...], file: str, tmp_path: Path,
                                           monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COOPMAT_DUMP", "ll")
    program = CpuProgram(executable(cm.build(source, options).module), BASELINE)
    (name, signature), = program.signatures.items()
    compilation = program.translated(name, program.variant(signature, (16, 1, 1)))
    assert (tmp_path / file).read_text() == compilation.ir
    assert "@half.ext.16(" in compilation.ir
