"""Kernels of the CPU in the cache: found again without LLVM, by every part of what decides them, and never damaged."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

import coopmat as cm
from coopmat.llvm.process import client
from coopmat.spirv.analysis import types
from coopmat.support.cache import Cache
from coopmat.targets.cpu.features import VARIABLE, cpu_features
from coopmat.targets.cpu.frame import Slot
from coopmat.targets.cpu.host import saved
from coopmat.targets.cpu.host.threads import team_key
from coopmat.targets.cpu.kernel import KernelCode
from coopmat.targets.cpu.lanes.masks import Variant
from coopmat.targets.cpu.program import CpuProgram
from coopmat.targets.llvm.print_buffer import PrintCall
from tests.kit.clock import assert_takes_at_most
from tests.kit.paths import ROOT

SOURCE = """
constant int TABLE[4] = {1, 10, 100, 1000};
kernel void look(global int* out, local int* shared, int4 add)
{
    shared[get_local_id(0)] = TABLE[get_global_id(0) % 4];
    out[get_global_id(0)] = shared[get_local_id(0)] + add.y;
}
"""
EXPECTED = np.tile([1, 10, 100, 1000], 16) + 7


def run(folder: Path | str, local_size: int = 16, options: cm.CpuOptions | None = None,
        source: str = SOURCE) -> CpuProgram:
    """Build with a cache and run the kernel; what was loaded."""
    device = cm.device("cpu", options=options)
    program = cm.build(source, device=device, cache_dir=folder)
    out = np.zeros(64, np.int32)
    cm.Queue(device).enqueue(program.kernel("look"), 64, local_size, out, cm.local(4 * local_size), [5, 7, 9, 11])
    np.testing.assert_array_equal(out, EXPECTED)
    loaded = program.load(device)
    assert isinstance(loaded, CpuProgram)
    return loaded


class Compilations:
    """How often LLVM compiles for the CPU."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0
        self._original = client.compile_for_host
        monkeypatch.setattr(client, "compile_for_host", self._counted)

    def _counted(self, *arguments, **named):
        self.count += 1
        return self._original(*arguments, **named)

    def are_needed(self, *arguments, **named) -> bool:
        """Whether running the kernel takes LLVM."""
        before = self.count
        run(*arguments, **named)
        return self.count > before


@pytest.fixture
def compilations(monkeypatch: pytest.MonkeyPatch) -> Compilations:
    return Compilations(monkeypatch)


def kernels(folder: Path) -> list[Path]:
    """The files of the cache that hold kernels of the CPU."""
    return [path for path in folder.rglob("*")
            if path.is_file() and path.parent.name + path.name != team_key() and b"\x7fELF" in path.read_bytes()]


def test_a_kernel_is_compiled_once(tmp_path: Path, compilations: Compilations) -> None:
    assert compilations.are_needed(tmp_path)
    assert not compilations.are_needed(tmp_path)
    assert len(kernels(tmp_path)) == 1
    assert not compilations.are_needed(tmp_path, 32)  # the same variant
    assert not compilations.are_needed(tmp_path, options=cm.CpuOptions(threads=1))
    assert compilations.are_needed("off")
    assert compilations.are_needed("off")


def test_what_a_kernel_is_found_by(tmp_path: Path, compilations: Compilations, monkeypatch: pytest.MonkeyPatch) -> None:
    run(tmp_path)
    assert compilations.are_needed(tmp_path, 1)  # sub-groups that are not full
    assert compilations.are_needed(tmp_path, source=SOURCE.replace("add.y", "add.x + 2"))
    monkeypatch.setenv(VARIABLE, "baseline")
    assert compilations.are_needed(tmp_path)
    monkeypatch.delenv(VARIABLE)
    assert not compilations.are_needed(tmp_path)


@dataclass(frozen=True)
class More:
    """Something with a set, whose order differs between processes."""

    features: frozenset[str]


def test_keys_are_the_same_in_every_process() -> None:
    source = ("from tests.targets.cpu.host.test_saved import More, saved\n"
              "print(saved.canonical(More(frozenset({'amx-tile', 'avx2', 'fma', 'avx512f'}))))")
    found = {subprocess.run([sys.executable, "-c", source], check=True, capture_output=True, text=True,
                            env={**os.environ, "PYTHONHASHSEED": str(seed)},
                            cwd=ROOT).stdout for seed in range(3)}
    assert found == {"More(features={'amx-tile', 'avx2', 'avx512f', 'fma'})\n"}


def test_keys_differ_in_every_part() -> None:
    features, variant = cpu_features(), Variant(16, True, True)
    parts = [b"module", "kernel", variant, features, "-O3"]
    others = [b"Module", "other", replace(variant, is_whole=False), replace(features, cpu="other"), "-O2"]
    found = {saved.entry_key(*parts)}
    for place, other in enumerate(others):
        found.add(saved.entry_key(*parts[:place], other, *parts[place + 1:]))
    found.add(saved.entry_key(*parts[:3], replace(features, used=features.used - {"sse2", "neon"}), "-O3"))
    assert len(found) == 7


def test_what_is_saved_comes_back() -> None:
    kinds = types.VectorType(types.FloatType(32), 4), types.PointerType(2, 9)
    calls = [PrintCall(b"%s \xff%v4f\n", kinds, {1: None}), PrintCall(None, (), {})]
    code = KernelCode("text", (Slot(0, 8), Slot(16, 4)), {12: Slot(32, 8)}, 40, 128, 64, True, {}, ["one", "two"],
                      calls, [1], [0], has_loops=True)
    found = saved.from_bytes(saved.to_bytes(code, b"object"))
    assert found == (replace(code, ir=""), b"object")


def test_a_kernel_that_prints(tmp_path: Path, compilations: Compilations, capfd: pytest.CaptureFixture[str]) -> None:
    source = SOURCE.replace("shared[get_local_id(0)] =", """
        if (get_global_id(0) == 9) printf("%s: %v4hld\\n", "nine", add);
        shared[get_local_id(0)] =""")
    for is_needed in (True, False):
        assert compilations.are_needed(tmp_path, source=source) == is_needed
        assert capfd.readouterr().out == "nine: 5,7,9,11\n"


@pytest.mark.parametrize("data", [b"", b"\0" * 8, b"\x02" + b"\0" * 7 + b"{}", b"\xff" * 40,
                                  b"\x11" + b"\0" * 7 + b'{"parameters": 1}'])
def test_bytes_that_are_no_kernel(data: bytes) -> None:
    assert saved.from_bytes(data) is None


@pytest.mark.parametrize("damage", [
    lambda data: data[:-1], lambda data: b"", lambda data: data[:200] + b"x" + data[201:], lambda data: data + b"\0"])
def test_a_damaged_entry_is_made_anew(tmp_path: Path, compilations: Compilations, damage) -> None:
    run(tmp_path)
    entry, = kernels(tmp_path)
    entry.write_bytes(damage(entry.read_bytes()))
    assert compilations.are_needed(tmp_path)
    assert not compilations.are_needed(tmp_path)


def test_an_entry_of_another_form_is_made_anew(tmp_path: Path, compilations: Compilations) -> None:
    """Whole, but not a kernel: as if a version had written others under the same key."""
    program = run(tmp_path)
    name = program._key("look", program.variant(program.signatures["look"], (16, 1, 1)))
    Cache(tmp_path).put(name, b"something else")
    assert compilations.are_needed(tmp_path)


def test_processes_that_compile_at_once(tmp_path: Path) -> None:
    source = f"from tests.targets.cpu.host.test_saved import run\nfor n in (16, 1, 32): run({str(tmp_path)!r}, n)"
    started = [subprocess.Popen([sys.executable, "-c", source], cwd=ROOT) for _ in range(3)]
    assert [process.wait(timeout=120) for process in started] == [0, 0, 0]
    assert len(kernels(tmp_path)) == 2


def test_a_process_that_finds_a_kernel_starts_no_other(tmp_path: Path) -> None:
    source = ("from coopmat.llvm.process import client\nfrom tests.targets.cpu.host.test_saved import run\n"
              f"run({str(tmp_path)!r})\n"
              "print(client._client._worker is None)")
    found = [subprocess.run([sys.executable, "-c", source], cwd=ROOT, check=True,
                            capture_output=True, text=True).stdout for _ in range(2)]
    assert found == ["False\n", "True\n"]


def test_loading_takes_milliseconds(tmp_path: Path) -> None:
    """At most ten, where nothing else runs, and twice that beside others."""
    module = run(tmp_path).module

    def loading() -> float:
        program = CpuProgram(module, cache=Cache(tmp_path))
        start = time.process_time()
        program.compile("look", program.variant(program.signatures["look"], (16, 1, 1)))
        return time.process_time() - start

    assert_takes_at_most(0.02, loading)


def test_the_command_counts_them(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "coopmat", "cache", "--cache-dir", str(tmp_path)]
    run(tmp_path)
    assert "2 entries" in subprocess.run(command, check=True, capture_output=True, text=True).stdout  # SPIR-V and code
    subprocess.run([*command, "--clear"], check=True)
    assert not kernels(tmp_path)
