"""What PTX's instructions do that a processor does not have, by LLVM's names; PTX ISA says how.

A function gets the operands of the instruction, as bits, and its name; ``HERE`` is the thread.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
from models import product

from coopmat.devices import ARCHITECTURES, USES
from coopmat.devices.layouts import layout_of
from coopmat.formats import FORMATS
from tests.kit.targets.emulated_gpu.groups import HERE, WARP, Copy
from tests.kit.targets.emulated_gpu.hopper import HOPPER, arrive

Bits = tuple[int, ...]
Instruction = Callable[[re.Match[str], Bits], Bits]
ALL = 0xFFFFFFFF


def _axis(numbers: Sequence[int], name: str) -> int:
    return numbers["xyz".index(name)]


def register(match: re.Match[str], _: Bits) -> Bits:
    """A special register: the thread's or the work-group's place."""
    name, axis = match[1], match[2]
    if name == "laneid":
        return (HERE.lane,)
    group, number = HERE.group, HERE.number
    x, y, _ = group.size
    own = {"tid": (number % x, number // x % y, number // (x * y)), "ctaid": group.number, "ntid": group.size,
           "nctaid": group.grid}
    return (_axis(own[name], axis),)


def _barrier(match: re.Match[str], operands: Bits) -> Bits:
    HERE.group.meet(("barrier", operands[0]), range(HERE.group.count), HERE.number, None, lambda _: {})
    return ()


def _counting_barrier(match: re.Match[str], operands: Bits) -> Bits:
    """For so many threads, whichever they are."""
    HERE.group.meet(("barrier", operands[0]), operands[1], HERE.number, None, lambda _: {})
    return ()


def _members(mask: int) -> frozenset[int]:
    """The threads of the warp that a mask names."""
    return frozenset(thread for thread in HERE.warp if mask >> thread % WARP & 1)


def _meet(name: str, mask: int, given: Any, answer: Callable[[dict[int, Any]], dict[int, Any]]) -> Any:
    """A meeting of threads of a warp."""
    return HERE.group.meet((name, HERE.warp.start, mask), _members(mask), HERE.number, given, answer)


def _warp_barrier(match: re.Match[str], operands: Bits) -> Bits:
    _meet("bar.warp", operands[0], None, lambda _: {})
    return ()


def _here(match: re.Match[str], _: Bits) -> Bits:
    """The threads of a warp that come to one place; the hardware promises less."""
    def answer(given: dict[int, None]) -> dict[int, int]:
        return dict.fromkeys(given, sum(1 << thread % WARP for thread in given))

    return (HERE.group.meet((match[0], HERE.warp.start), None, HERE.number, None, answer),)


def _ballot(match: re.Match[str], operands: Bits) -> Bits:
    def answer(given: dict[int, int]) -> dict[int, int]:
        found = sum((bit & 1) << thread % WARP for thread, bit in given.items())
        return dict.fromkeys(given, found)

    return (_meet("vote", operands[0], operands[1], answer),)


def _shuffle(match: re.Match[str], operands: Bits) -> Bits:
    mask, word, lane, limit = operands

    def answer(given: dict[int, Bits]) -> dict[int, int]:
        found = {}
        for thread, (word, lane, limit) in given.items():
            segment, clamp = limit >> 8 & 31, limit & 31
            own = thread % WARP
            low, high = own & segment, (own & segment) | (clamp & ~segment & 31)
            source = low | (lane & ~segment & 31)
            other = thread - own + source
            found[thread] = given[other][0] if source <= high and other in given else word
        return found

    return (_meet("shfl", mask, (word, lane, limit), answer),)


def _signed(number: int, bits: int) -> int:
    return number - (1 << bits) if number >> bits - 1 else number


def _dot(match: re.Match[str], operands: Bits) -> Bits:
    a, b, total = operands
    numbers = [[_signed(one >> 8 * place & 255, 8) if kind == "s" else one >> 8 * place & 255 for place in range(4)]
               for one, kind in zip((a, b), match[1].split("."), strict=True)]
    return ((total + sum(x * y for x, y in zip(*numbers, strict=True))) & ALL,)


def _permute(match: re.Match[str], operands: Bits) -> Bits:
    low, high, selector = operands
    content = (high << 32 | low).to_bytes(8, "little")
    found = bytearray()
    for place in range(4):
        code = selector >> 4 * place & 15
        byte = content[code & 7]
        found.append(255 * (byte >> 7) if code & 8 else byte)
    return (int.from_bytes(found, "little"),)


MOST_OF_STACK = 1 << 20


def _is_in_space(match: re.Match[str], operands: Bits) -> Bits:
    is_shared = operands[0] in HERE.group.local
    is_local = abs(HERE.stack - operands[0]) < MOST_OF_STACK
    return (int({"shared": is_shared, "local": is_local and not is_shared,
                 "global": not is_shared and not is_local}[match[1]]),)


def _approximate(function: Callable[[np.float32], Any]) -> Instruction:
    def instruction(match: re.Match[str], operands: Bits) -> Bits:
        with np.errstate(all="ignore"):
            found = np.float32(function(np.uint32(operands[0]).view(np.float32)))
        return (int(found.view(np.uint32)),)

    return instruction


def _begin_copy(match: re.Match[str], operands: Bits) -> Bits:
    """cp.async: the bytes arrive when they are waited for, as late as may be; zeros follow the bytes that are read."""
    to, source, *size = operands
    width = int(match[1])
    [read] = size or [width]
    assert to % width == 0
    assert read <= width
    assert source % width == 0 or not read
    HERE.copies.append((to, source, width, read))
    return ()


def _end_copies(match: re.Match[str], _: Bits) -> Bits:
    HERE.groups.append(HERE.copies)
    HERE.copies = []
    return ()


def _wait_for_copies(match: re.Match[str], operands: Bits) -> Bits:
    while len(HERE.groups) > operands[0]:
        _arrive(HERE.groups.pop(0))
    return ()


def _arrive(copies: list[Copy]) -> None:
    for to, source, width, read in copies:
        ctypes.memmove(to, source, read)
        ctypes.memset(to + read, 0, width - read)


def _wait_for_all_copies(match: re.Match[str], _: Bits) -> Bits:
    for copies in (*HERE.groups, HERE.copies):
        _arrive(copies)
    HERE.groups, HERE.copies = [], []
    return ()


def _arrive_with_copies(match: re.Match[str], operands: Bits) -> Bits:
    """At a barrier, once the thread's copies are done: here they are now."""
    _wait_for_all_copies(match, ())
    arrive(match, operands)
    return ()


# --- matrices ---------------------------------------------------------------------------------------------------------

LINES, LINE_BYTES = 8, 16


def _load_blocks(match: re.Match[str], operands: Bits) -> Bits:
    """ldmatrix: threads give the addresses of lines, eight a block."""
    count, is_turned = int(match[1]), bool(match[2])

    def answer(given: dict[int, int]) -> dict[int, Bits]:
        first = min(given)
        blocks = [_turned(np.array([_halves(given[first + LINES * block + line]) for line in range(LINES)]), is_turned)
                  for block in range(count)]
        return {thread: tuple(_word(block, thread % WARP) for block in blocks) for thread in given}

    found: Bits = _meet("ldmatrix", ALL, operands[0], answer)
    return found


def _store_blocks(match: re.Match[str], operands: Bits) -> Bits:
    """stmatrix: the other way round."""
    count, is_turned = int(match[1]), bool(match[2])

    def answer(given: dict[int, Bits]) -> dict[int, Bits]:
        first = min(given)
        for block in range(count):
            halves = _turned(_block([given[first + lane][1 + block] for lane in range(WARP)]), is_turned)
            for line in range(LINES):
                address = given[first + LINES * block + line][0]
                assert address % LINE_BYTES == 0
                ctypes.memmove(address, halves[line].tobytes(), LINE_BYTES)
        return {}

    _meet("stmatrix", ALL, operands, answer)
    return ()


def _turn(match: re.Match[str], operands: Bits) -> Bits:
    """movmatrix."""
    def answer(given: dict[int, int]) -> dict[int, int]:
        first = min(given)
        block = _block([given[first + lane] for lane in range(WARP)]).T
        return {thread: _word(block, thread % WARP) for thread in given}

    return (_meet("movmatrix", ALL, operands[0], answer),)


def _halves(address: int) -> np.ndarray:
    assert address % LINE_BYTES == 0, "a line is not aligned"
    assert address in HERE.group.local, "a line outside of local memory"
    assert address + LINE_BYTES - 1 in HERE.group.local
    return np.frombuffer(ctypes.string_at(address, LINE_BYTES), np.uint16)


def _turned(block: np.ndarray, is_turned: bool) -> np.ndarray:
    return np.ascontiguousarray(block.T) if is_turned else block


def _block(words: Sequence[int]) -> np.ndarray:
    """The 16-bit elements of a block, of which each lane has two that follow each other."""
    return np.array(words, np.uint32).view(np.uint16).reshape(LINES, LINES)


def _word(block: np.ndarray, lane: int) -> int:
    return int(np.ascontiguousarray(block).view(np.uint32)[lane // 4, lane % 4])


NAMES = {"f16": "fp16", "f32": "fp32", "f64": "fp64", "bf16": "bf16", "tf32": "tf32", "s8": "sint8", "u8": "uint8",
         "s4": "sint4", "u4": "uint4"}


def _formats(types: str) -> tuple[str, str, str, str]:
    """The formats of A, B, C and D, by the end of LLVM's name."""
    parts = [NAMES[one] for one in types.split(".")]
    if parts[0] in ("fp32", "fp16"):  # D and C of products of fp16
        return "fp16", "fp16", parts[1], parts[0]
    if parts[0] == "fp64":
        return ("fp64",) * 4  # type: ignore[return-value]
    result = "fp32" if FORMATS[parts[0]].is_float else "sint32"
    return parts[0], parts[-1], result, result


@cache
def _places(architecture: str, use: str, fmt: str, m: int, n: int, k: int) -> tuple[np.ndarray, np.ndarray]:
    held = layout_of(ARCHITECTURES[architecture], use, fmt, m, n, k).held
    return held.row, held.column


def _multiply(match: re.Match[str], operands: Bits) -> Bits:
    """mma.sync, with the arithmetic of the architecture's model."""
    m, n, k = (int(match[place]) for place in (1, 2, 3))
    formats, is_saturating = _formats(match[5]), bool(match[4])
    is_wmma = match[0].startswith("wmma")
    architecture = EMULATED[0]

    def answer(given: dict[int, Bits]) -> dict[int, Bits]:
        first = min(given)
        lanes = [given[first + lane] for lane in range(WARP)]
        matrices, begin = [], 0
        for use, fmt, shape in zip(USES, formats[:3], ((m, k), (k, n), (m, n)), strict=True):
            rows, columns = _places(architecture, use, fmt, m, n, k)
            bits, count = _component_bits(fmt), rows.shape[1]
            each = max(1, 32 // bits)
            numbers = np.zeros(shape, FORMATS[fmt].bits_dtype)
            for lane in range(WARP):
                for place in range(count):
                    word = lanes[lane][begin + place // each]
                    one = word >> bits * (place % each) & (1 << bits) - 1
                    one = _signed(one, 4) & 255 if fmt == "sint4" else one
                    numbers[rows[lane, place], columns[lane, place]] = one
            begin += WMMA_REGISTERS if is_wmma and use != "accumulator" else -(-count // each)
            matrices.append(numbers[None])
        result = product(architecture, formats, *matrices, saturating=is_saturating)[0]
        return _of_lanes(result, formats[3], *_places(architecture, "accumulator", formats[3], m, n, k), first)

    found: Bits = _meet(match[0], ALL, operands, answer)
    return found


WMMA_REGISTERS = 8  # of A and B of fp16, which repeat


def _load_tile(match: re.Match[str], operands: Bits) -> Bits:
    """wmma.load: the registers of a thread, as our tables have them; PTX leaves that open."""
    use, fmt = {"a": "a", "b": "b", "c": "accumulator"}[match[4]], NAMES[match[5]]
    rows, columns = _places(EMULATED[0], use, fmt, *(int(match[place]) for place in (1, 2, 3)))
    dtype = FORMATS[fmt].bits_dtype
    address, stride = operands
    numbers = [ctypes.string_at(address + (row * stride + column) * dtype.itemsize, dtype.itemsize)
               for row, column in zip(rows[HERE.lane].tolist(), columns[HERE.lane].tolist(), strict=True)]
    words = np.frombuffer(b"".join(numbers), np.uint32).tolist()
    return tuple((words * WMMA_REGISTERS)[:WMMA_REGISTERS if use != "accumulator" else len(words)])


def _store_tile(match: re.Match[str], operands: Bits) -> Bits:
    """wmma.store."""
    fmt = NAMES[match[4]]
    rows, columns = _places(EMULATED[0], "accumulator", fmt, *(int(match[place]) for place in (1, 2, 3)))
    size = FORMATS[fmt].bits_dtype.itemsize
    address, *words, stride = operands
    content = np.array(words, np.uint32).tobytes()
    for place, (row, column) in enumerate(zip(rows[HERE.lane].tolist(), columns[HERE.lane].tolist(), strict=True)):
        ctypes.memmove(address + (row * stride + column) * size, content[place * size:(place + 1) * size], size)
    return ()


def _component_bits(fmt: str) -> int:
    return 4 if fmt in ("sint4", "uint4") else int(FORMATS[fmt].bits_dtype.itemsize) * 8


def _of_lanes(result: np.ndarray, fmt: str, rows: np.ndarray, columns: np.ndarray, first: int) -> dict[int, Bits]:
    """The registers of D."""
    bits = _component_bits(fmt)
    each = max(1, 32 // bits)
    held = result[rows, columns]
    return {first + lane: tuple(
        sum(int(number) << bits * place for place, number in enumerate(held[lane, start:start + each]))
        for start in range(0, held.shape[1], each)) for lane in range(WARP)}


EMULATED = ["nvidia_gpu_sm_80"]
"""The architecture whose arithmetic is emulated."""
INSTRUCTIONS: list[tuple[re.Pattern[str], Instruction]] = [(re.compile(pattern), one) for pattern, one in (
    (r"read\.ptx\.sreg\.(\w+)(?:\.([xyz]))?$", register),
    (r"barrier\.cta\.sync\.aligned\.all$", _barrier),
    (r"barrier\.cta\.sync\.aligned\.count$", _counting_barrier),
    (r"bar\.warp\.sync$", _warp_barrier),
    (r"activemask", _here),
    (r"griddepcontrol", lambda match, operands: ()),
    (r"$", lambda match, operands: operands),
    (r"vote\.ballot\.sync$", _ballot),
    (r"shfl\.sync\.idx\.i32$", _shuffle),
    (r"idp4a\.(.*)$", _dot),
    (r"prmt$", _permute),
    (r"and\.b32 \$0, \$1, (\d+);$", lambda match, operands: (operands[0] & int(match[1]),)),
    (r"cp\.async\.c[ag]\.shared\.global\.(\d+)(?:\.s)?$", _begin_copy),
    (r"cp\.async\.commit\.group$", _end_copies),
    (r"cp\.async\.wait\.group$", _wait_for_copies),
    (r"cp\.async\.wait\.all$", _wait_for_all_copies),
    (r"cp\.async\.mbarrier\.arrive\.noinc\.shared(?P<expects>)(?P<counts>)$", _arrive_with_copies),
    (r"isspacep\.(\w+)$", _is_in_space),
    (r"ex2\.approx(?:\.ftz)?\.f$", _approximate(np.exp2)),
    (r"lg2\.approx(?:\.ftz)?\.f$", _approximate(np.log2)),
    (r"sin\.approx(?:\.ftz)?\.f$", _approximate(np.sin)),
    (r"cos\.approx(?:\.ftz)?\.f$", _approximate(np.cos)),
    (r"sqrt\.approx(?:\.ftz)?\.f$", _approximate(np.sqrt)),
    (r"rcp\.approx(?:\.ftz)?\.f$", _approximate(lambda x: 1 / x)),
    (r"rsqrt\.approx(?:\.ftz)?\.f$", _approximate(lambda x: 1 / np.sqrt(x))),
    (r"ldmatrix\.sync\.aligned\.m8n8\.x(\d)(\.trans)?\.b16", _load_blocks),
    (r"stmatrix\.sync\.aligned\.m8n8\.x(\d)(\.trans)?\.shared\.b16", _store_blocks),
    (r"movmatrix\.sync\.aligned\.m8n8\.trans\.b16", _turn),
    (r"wmma\.m(\d+)n(\d+)k(\d+)\.load\.([abc])\.row\.stride\.(\w+)\.p3$", _load_tile),
    (r"wmma\.m(\d+)n(\d+)k(\d+)\.store\.d\.row\.stride\.(\w+)\.p3$", _store_tile),
    (r"w?mma\.m(\d+)n(\d+)k(\d+)\.(?:mma\.)?row\.(?:col|row)\.(satfinite\.)?(.*)$", _multiply),
    *HOPPER,
)]


@cache
def instruction(name: str) -> tuple[re.Match[str], Instruction]:
    """What does an operation. KeyError if nothing does."""
    for pattern, one in INSTRUCTIONS:
        match = pattern.match(name)
        if match is not None:
            return match, one
    raise KeyError(f"{name} is not emulated")
