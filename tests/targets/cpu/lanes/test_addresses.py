"""Accesses of neighbouring work-items that lie beside each other, a few places apart, or only mostly so."""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Iterator

import numpy as np
import pytest

import coopmat as cm
from coopmat.targets.cpu.features import VARIABLE

PAGE = mmap.PAGESIZE
LEVELS = ("avx512", "avx2", "baseline")


def run(source: str, device: str, size: int, *arguments: object, local: int = 32) -> None:
    chosen = cm.device(device)
    kernel = cm.build(f"kernel void k({source}", "", chosen).kernel("k")
    cm.Queue(chosen).enqueue(kernel, size, local, *arguments).wait()


@pytest.fixture
def between_guards() -> Iterator[np.ndarray]:
    """A page of memory between two that cannot be accessed."""
    memory = mmap.mmap(-1, 3 * PAGE)
    libc = ctypes.CDLL(None, use_errno=True)
    view = ctypes.c_char.from_buffer(memory)
    start = ctypes.addressof(view)
    for page in (0, 2):
        assert libc.mprotect(ctypes.c_void_p(start + page * PAGE), PAGE, 0) == 0
    yield np.frombuffer(memory, np.uint8, PAGE, PAGE)
    for page in (0, 2):
        libc.mprotect(ctypes.c_void_p(start + page * PAGE), PAGE, mmap.PROT_READ | mmap.PROT_WRITE)
    del view


@pytest.mark.thinned(4)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("kind", ["uchar", "ushort", "uint", "ulong"])
def test_nothing_beside_is_accessed(kind: str, level: str, between_guards: np.ndarray,
                                    monkeypatch: pytest.MonkeyPatch) -> None:
    """Loads of every third number, and stores of every second one, go up to a page's first and last number."""
    monkeypatch.setenv(VARIABLE, level)
    numbers = between_guards.view({"uchar": "u1", "ushort": "u2", "uint": "u4", "ulong": "u8"}[kind])
    count = numbers.size
    for steps, reverse in ((2, False), (3, False), (4, False), (2, True), (1, True)):
        numbers[:] = np.arange(count)
        copy, out = numbers.copy(), np.zeros(64, numbers.dtype)
        for first in (0, count - 63 * steps - 1):
            index = f"{first} + (63 - i) * {steps}" if reverse else f"{first} + i * {steps}"
            run(f"global {kind} *out, global {kind} *at) {{ int i = get_global_id(0); out[i] = at[{index}]; }}",
                "cpu", 64, out, numbers)
            wanted = copy[first:first + 63 * steps + 1:steps]
            np.testing.assert_array_equal(out, wanted[::-1] if reverse else wanted)
            run(f"global {kind} *out, global {kind} *at) {{ int i = get_global_id(0); at[{index}] = i; }}",
                "cpu", 64, out, numbers)
            copy[first:first + 63 * steps + 1:steps] = np.arange(64)[::-1] if reverse else np.arange(64)
            np.testing.assert_array_equal(numbers, copy)


INDICES = {
    "i % 64": lambda i, m: i % 64, "i / 64": lambda i, m: i // 64, "i / 3": lambda i, m: i // 3,
    "(i + 7) % 48": lambda i, m: (i + 7) % 48, "i % m": lambda i, m: i % m, "i / m * 64 + i % m":
    lambda i, m: i // m * 64 + i % m, "(i >> 4) + (i & 15)": lambda i, m: (i >> 4) + (i & 15), "(i & ~31) + 1":
    lambda i, m: (i & ~31) + 1, "(size_t)(i + 5) % 32": lambda i, m: (i + 5) % 32,
    "(uint)(i - 8) + 8": lambda i, m: i, "(uint)(i - 300) % 64": lambda i, m: (i - 300) % 64,
}


@pytest.mark.thinned(3)
@pytest.mark.parametrize("kind", ["int", "uint", "size_t"])
@pytest.mark.parametrize("index", INDICES)
def test_indices(index: str, kind: str) -> None:
    for m in (1, 5, 16, 64, 100):
        given, out = np.arange(256 * 64, dtype=np.uint32) * 7, np.zeros(256, np.uint32)
        run(f"global uint *out, global const uint *in, int m) {{ {kind} i = get_global_id(0); out[i] = in[{index}]; }}",
            "cpu", 256, out, given, m)
        np.testing.assert_array_equal(out, given[INDICES[index](np.arange(256), m)])


@pytest.mark.parametrize("device", ["cpu", "sim:generic"])
@pytest.mark.parametrize(("kind", "start", "condition", "step"), [
    ("uint", "lid - 8u", "i < 100", "32"), ("int", "lid + 2147483620", "i <= 2147483640", "5"),
    ("uint", "lid + 4294967270u", "i >= 4294967270u", "9"), ("int", "-2147483640 - lid + 40", "i > -2147483630", "-7"),
    ("ulong", "lid + 18446744073709551600ul", "i > 18446744073709551590ul", "16"), ("long", "n - lid", "i >= 0", "-32"),
    ("uint", "lid", "i < n - 100u", "32"), ("int", "lid", "i < n - 100", "32"), ("int", "lid", "!(i >= n)", "3")])
def test_loops_at_the_ends_of_types(kind: str, start: str, condition: str, step: str, device: str) -> None:
    """Where numbers wrap between two work-items, or the bound has none as far away as the last work-item."""
    out, rounds = np.zeros((2, 32), np.uint32)
    head = "global uint *out, int n) { uint lid = get_local_id(0), x = 0; for ("
    run(f"{head}{kind} i = {start}; {condition} && x < 50; i += {step}) x++; out[lid] = x; }}", device, 32, out, 90)
    run(f"{head}{kind} i = {start}; {condition}; i += {step}) if (++x == 50) break; out[lid] = x; }}", device, 32,
        rounds, 90)
    bits = {"int": 32, "uint": 32, "long": 64, "ulong": 64}[kind]

    def held(value: int) -> int:
        value %= 1 << bits
        return value - (1 << bits) if not kind.startswith("u") and value >> bits - 1 else value

    text = "not i >= n" if condition == "!(i >= n)" else condition.replace("ul", "").replace("u", "")
    for lid in range(32):
        n, count = 90, 0
        i = held(eval(start.replace("ul", "").replace("u", ""), {"lid": lid, "n": n}))
        bound = {"i < n - 100": held(n - 100)} if kind == "uint" else {}
        while count < 50 and (i < bound[text] if text in bound else eval(text, {"i": i, "n": n})):
            i, count = held(i + int(step)), count + 1
        assert (out[lid], rounds[lid]) == (count, count), lid
