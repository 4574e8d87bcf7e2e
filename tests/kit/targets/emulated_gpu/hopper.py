"""What Hopper has: barriers that count bytes, copies by tensor maps, and wgmma. A copy is done when it is begun.

PTX ISA: mbarrier; cp.async.bulk.tensor, "Swizzling modes"; wgmma.mma_async, "Matrix Descriptor Format" and fragments.
"""

from __future__ import annotations

import ctypes
import re
import struct
from dataclasses import dataclass

import numpy as np
from models import product

from coopmat.formats import FORMATS
from tests.kit.targets.emulated_gpu.groups import HERE

Bits = tuple[int, ...]
WARP_GROUP = 128
PAUSE = 2.0  # seconds that a thread waits for a barrier before it looks again
SHARED_BITS = 18  # of addresses in shared memory
LINE_BITS, CELL_BITS = 7, 4  # of what swizzling exchanges: 128 bytes, 16 bytes
RESULTS = {"f16": "fp16", "f32": "fp32", "s32": "sint32"}
KINDS = {"f16": "fp16", "bf16": "bf16", "tf32": "tf32", "s8": "sint8", "u8": "uint8"}


def swizzled(offsets: np.ndarray, line_bytes: int) -> np.ndarray:
    """Where bytes are that would lie at offsets of shared memory, in lines of so many bytes."""
    mask = line_bytes // 16 - 1
    return offsets ^ ((offsets >> LINE_BITS & mask) << CELL_BITS)


def shared_memory() -> np.ndarray:
    """The work-group's."""
    return np.frombuffer((ctypes.c_uint8 * (1 << SHARED_BITS)).from_address(HERE.group.local.start), np.uint8)


# --- barriers ---------------------------------------------------------------------------------------------------------


@dataclass
class Barrier:
    """count: arrivals of a phase. pending: those that are missing. expected: bytes that are. phase: how many were."""

    count: int
    pending: int
    expected: int = 0
    phase: int = 0

    def close(self) -> None:
        """Begin the next phase if nothing is missing."""
        if not self.pending and not self.expected:
            self.pending, self.phase = self.count, self.phase + 1
            HERE.group.news.notify_all()


def initialise(match: re.Match[str], operands: Bits) -> Bits:
    """mbarrier.init; of split barriers the first thread does it."""
    if len(operands) == 2 or operands[2] == 0:
        HERE.group.barriers[operands[0]] = Barrier(operands[1], operands[1])
    return ()


def arrive(match: re.Match[str], operands: Bits) -> Bits:
    """Once, or as often as is said; bytes may be expected."""
    with HERE.group.news:
        barrier: Barrier = HERE.group.barriers[operands[0]]
        phase = barrier.phase
        if match["expects"]:
            barrier.expected += operands[1]
        barrier.pending -= operands[1] if match["counts"] else 1
        assert barrier.pending >= 0, "a thread arrives too often"
        barrier.close()
    return (phase,)


def is_over(match: re.Match[str], operands: Bits) -> Bits:
    """Whether a phase is: by its number, or by its parity."""
    with HERE.group.news:
        barrier: Barrier = HERE.group.barriers[operands[0]]

        def found() -> bool:
            over = barrier.phase & 1 != operands[1] if match["parity"] else barrier.phase > operands[1]
            return HERE.group.failure is not None or over

        if not found():
            HERE.group.news.wait(PAUSE)
        return (int(found()),)


# --- tensor maps ------------------------------------------------------------------------------------------------------

MAP, MARK = struct.Struct("<8s8Q"), b"tensmap!"
"""A map: address, width, height, bytes of a line, columns and lines of a box, bytes of an element, and of a swizzled
line."""
ELEMENT_BYTES = {"UINT8": 1, "FLOAT16": 2, "BFLOAT16": 2, "FLOAT32": 4, "INT32": 4}


def copy_box(match: re.Match[str], operands: Bits) -> Bits:
    """A box from global to shared memory, zeros where the matrix ends, or back, without what lies outside."""
    if match[1] == "s2g":
        (place, described, column, line), barrier = operands[:4], None
    else:
        place, barrier, described, column, line = operands[:5]
    mark, address, width, height, stride, columns, lines, size, swizzle = MAP.unpack(
        ctypes.string_at(described, MAP.size))
    assert mark == MARK
    assert columns * size <= swizzle
    column, line = (one - (1 << 32) if one >> 31 else one for one in (column, line))
    rows, bytes_ = np.indices((lines, columns * size))
    offsets = swizzled((place - HERE.group.local.start) + rows * swizzle + bytes_, swizzle)
    first, last = max(0, -column) * size, min(columns, width - column) * size
    memory = shared_memory()
    if barrier is not None:
        memory[offsets] = 0
    for row in range(max(0, -line), min(lines, height - line)):
        if first < last:
            there = np.frombuffer((ctypes.c_uint8 * (last - first)).from_address(
                address + (line + row) * stride + column * size + first), np.uint8)
            here = offsets[row, first:last]
            if barrier is None:
                there[:] = memory[here]
            else:
                memory[here] = there
    if barrier is not None:
        with HERE.group.news:
            HERE.group.barriers[barrier].expected -= lines * columns * size
            HERE.group.barriers[barrier].close()
    return ()


# --- wgmma ------------------------------------------------------------------------------------------------------------

_PRODUCT = re.compile(r"wgmma\.mma_async\.sync\.aligned\.m64n(\d+)k(\d+)\.(\w+)\.(\w+)\.(\w+) \{([^}]*)\}, "
                      r"(a|\{[^}]*\}), b, ([pq])((?:, \d)*);")
_STEP = re.compile(r"add\.s64 ([ab]), \$(\d+), (-?\d+);")
_ZERO = re.compile(r"setp\.eq\.b32 p, \$(\d+), 0;")


def multiply(match: re.Match[str], operands: Bits) -> Bits:
    """A piece of assembly with products of a warp group, which read descriptors of shared memory."""
    text, number = match[0], HERE.number
    group = range(number - number % WARP_GROUP, number - number % WARP_GROUP + WARP_GROUP)
    found: Bits = HERE.group.meet(("wgmma", group.start), group, number, operands,
                                  lambda given: _products(text, given, group))
    return found


def _products(text: str, given: dict[int, Bits], group: range) -> dict[int, Bits]:
    words = np.array([given[thread] for thread in group], np.uint64)
    count = max(int(one) for product in _PRODUCT.finditer(text) for one in re.findall(r"\$(\d+)", product[6])) + 1
    registers = words[:, :count].astype(np.uint32)

    def operand(name: str) -> np.ndarray:  # those behind the accumulator count twice
        return words[:, int(name) - count]

    zero = _ZERO.search(text)
    assert zero is not None
    is_zero, steps = bool(operand(zero[1])[0]), {}
    for line in text.replace("\\0A", "\n").splitlines():
        step = _STEP.search(line)
        if step is not None:
            steps[step[1]] = int(operand(step[2])[0]) + int(step[3])
        found = _PRODUCT.search(line)
        if found is None:
            continue
        n, k, types = int(found[1]), int(found[2]), (KINDS[found[4]], KINDS[found[5]])
        flags = [int(one) for one in re.findall(r"\d", found[9])][2:] or [0, 0]
        if found[7] == "a":
            a = _tile(steps["a"], (64, k), types[0], along_k=not flags[0])
        else:
            a = _of_registers([operand(one) for one in re.findall(r"\$(\d+)", found[7])], k, types[0])
        b = _tile(steps["b"], (n, k), types[1], along_k=not flags[-1])
        own = [int(one) for one in re.findall(r"\$(\d+)", found[6])]
        keeps = found[8] == "q" or not is_zero
        registers[:, own] = _added(registers[:, own], a, b.T, (*types, RESULTS[found[3]]), keeps=keeps)
    return {thread: tuple(map(int, registers[place])) for place, thread in enumerate(group)}


def _tile(described: int, shape: tuple[int, int], fmt: str, *, along_k: bool) -> np.ndarray:
    """Rows of A or columns of B by K, from shared memory, as bits."""
    start, leading, stride = ((described >> first & 0x3FFF) << 4 for first in (0, 16, 32))
    line = {1: 128, 2: 64, 3: 32}[described >> 62 & 3]
    size = FORMATS[fmt].bits_dtype.itemsize
    outer, inner = np.indices(shape)
    if along_k:
        offsets = outer // 8 * stride + outer % 8 * line + inner * size
    else:
        offsets = outer * size // line * leading + inner // 8 * stride + inner % 8 * line + outer * size % line
    places = swizzled(start + offsets, line)[..., None] + np.arange(size)
    return shared_memory()[places].view(FORMATS[fmt].bits_dtype)[..., 0]


def _of_registers(registers: list[np.ndarray], k: int, fmt: str) -> np.ndarray:
    """A in registers: of a thread rows t / 4 and + 8 of its warp's sixteen, in the first and the second half of K."""
    size = FORMATS[fmt].bits_dtype.itemsize
    each, found = 4 // size, np.zeros((64, k), FORMATS[fmt].bits_dtype)
    threads = np.arange(WARP_GROUP)
    for place, register in enumerate(registers):
        parts = register.astype(np.uint32).view(FORMATS[fmt].bits_dtype).reshape(WARP_GROUP, each)
        rows = threads // 32 * 16 + threads % 32 // 4 + 8 * (place & 1)
        for part in range(each):
            found[rows, threads % 4 * each + part + (place >> 1) * k // 2] = parts[:, part]
    return found


def _added(registers: np.ndarray, a: np.ndarray, b: np.ndarray, formats: tuple[str, str, str], *,
           keeps: bool) -> np.ndarray:
    """The accumulator's registers with a product added: a thread has two neighbours of rows t / 4 and + 8."""
    dtype = FORMATS[formats[2]].bits_dtype
    each = 4 // dtype.itemsize
    threads, components = np.arange(WARP_GROUP), np.arange(registers.shape[1] * each)
    rows = (threads // 32 * 16 + threads % 32 // 4)[:, None] + 8 * (components >> 1 & 1)
    columns = (threads % 4 * 2)[:, None] + (components >> 2) * 8 + (components & 1)
    c = np.zeros((a.shape[0], b.shape[1]), dtype)
    if keeps:
        c[rows, columns] = np.ascontiguousarray(registers).view(dtype).reshape(WARP_GROUP, -1)
    d = product("nvidia_gpu_sm_90", (*formats, formats[2]), a[None], b[None], c[None])[0]
    return np.ascontiguousarray(d[rows, columns]).view(np.uint32).reshape(registers.shape)


HOPPER = [
    (r"(?:.* )?mbarrier\.init\.shared", initialise),
    (r"mbarrier\.arrive\.(?:(?P<expects>expect\.tx)|shared|(?P<counts>scope))", arrive),
    (r"mbarrier\.(?:try|test)\.wait\.(?P<parity>parity\.)?(?:scope\.cta\.space\.cta|shared)$", is_over),
    (r"cp\.async\.bulk\.tensor\.(g2s|s2g)\.(?:cta\.)?tile\.2d$", copy_box),
    (r"\{ \.reg \.pred p, q;.*", multiply),
    (r"elect\.sync$", lambda match, operands: (0, int(HERE.lane == 0))),
    (r"cp\.async\.bulk\.(commit|wait)\.group|fence\.|setmaxnreg\.|prefetch\.tensormap", lambda match, operands: ()),
]
"""What does an instruction, by a pattern of its name."""
