"""How long compiling takes: benchmarks/large_kernel.cl to SPIR-V, ready for a device, cold and from the cache.

A module from the cache is read when it is first looked at, which the first launch does.

The peer is clang (where ziglang is installed), unoptimised, on the same file, with the declarations that it lacks from
benchmarks/clang_prelude.h: OpenCL C to SPIR-V, too. It is a command, so there are figures of our command as well;
those hold the start of Python and the import of all packages.
"""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from figures import Figure, seconds

import coopmat as cm
from coopmat.support.terminal import console, table

HERE = Path(__file__).parent
SOURCE = HERE / "large_kernel.cl"
DEVICE = "sim:intel_gpu_pvc"
COPIES = 28  # of the functions of SOURCE: 20,000 lines
CLANG_OPTIONS = ("-x", "cl", "-cl-std=CL3.0", "-cl-no-stdinc", "-O0", "--target=spirv64-unknown-unknown", "-Xclang",
                 "-fdeclare-opencl-builtins", "-mllvm", "-spirv-ext=all", "-include", str(HERE / "clang_prelude.h"))


def run(repeat: int) -> list[Figure]:
    """Measure, and print a table."""
    with tempfile.TemporaryDirectory() as folder:
        figures = [duration(name, action, times) for name, action, times in actions(Path(folder), repeat)]
    peer = next((figure for figure in figures if figure.name.startswith("clang")), None)
    lines = len(SOURCE.read_text().splitlines())
    rows = table(f"{SOURCE.name} ({lines} lines), milliseconds", "median", "least", "most", "× clang")
    for figure in figures:
        rows.add_row(figure.name, *(f"{value * 1e3:.0f}" for value in (figure.median, figure.least, figure.most)),
                     f"{figure.median / peer.median:.2f}" if peer is not None else "")
    console().print(rows)
    if peer is None:
        print("ziglang, whose clang is the peer, is not installed: left out")
    return figures


def duration(name: str, action: Callable[[], object], repeat: int) -> Figure:
    """How long ``action`` takes."""
    return Figure.of(name, "s", seconds(action, repeat))


def actions(folder: Path, repeat: int) -> list[tuple[str, Callable[[], object], int]]:
    """What is measured, and how often."""
    few = max(3, repeat // 3)
    large = many_copies(SOURCE.read_text(), COPIES)
    lines = len(large.splitlines())
    found: list[tuple[str, Callable[[], object], int]] = [
        ("cm.build, cold", lambda: build(SOURCE, "off"), repeat),
        ("cm.build, from the cache", lambda: build(SOURCE, folder), repeat),
        ("the same, and the module read", lambda: build(SOURCE, folder).module.functions, repeat),
        ("coopmat compile, cold", lambda: command(folder, "off"), few),
        ("coopmat compile, from the cache", lambda: command(folder, folder), few),
        (f"cm.build, {COPIES} times the functions ({lines:,} lines), cold", lambda: build(large, "off"), 3),
    ]
    clang = find_clang()
    if clang is not None:
        found.append(("clang -O0", lambda: compile_with(clang, folder), few))
    return found


def build(source: Path | str, cache_dir: Path | str) -> cm.Program:
    """In this process."""
    return cm.build(source, (), DEVICE, cache_dir=cache_dir)


def command(folder: Path, cache_dir: Path | str) -> None:
    """By the command, in a process of its own."""
    subprocess.run([sys.executable, "-m", "coopmat", "compile", SOURCE, "-o", folder / "ours.spv", "--device", DEVICE,
                    "--cache-dir", cache_dir], check=True)


def find_clang() -> Path | None:
    """The program that holds clang; None where ziglang is not installed."""
    package = importlib.util.find_spec("ziglang")
    if package is None or package.origin is None:
        return None
    return Path(package.origin).with_name("zig")


def compile_with(zig: Path, folder: Path) -> None:
    """By clang."""
    subprocess.run([zig, "clang", *CLANG_OPTIONS, "-c", SOURCE, "-o", folder / "theirs.spv"], check=True)


def many_copies(text: str, count: int) -> str:
    """A source with every function ``count`` times, under different names."""
    names = re.findall(r"^(?:inline \w+|kernel void|MATRIX_KERNEL) (\w+)\(", text, re.MULTILINE)
    head, mark, functions = text.partition("inline ")
    name = re.compile(rf"\b({'|'.join(names)})\b")
    return head + "".join(name.sub(rf"\g<1>_{index}", mark + functions) for index in range(count))
