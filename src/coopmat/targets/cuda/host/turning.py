"""Matrices in memory transposed before a launch: those whose products wgmma takes along K only lie along M or N.

What is transposed lives in the launch's own memory, in the order of its stream.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from coopmat.diagnostics import LaunchError
from coopmat.llvm.process import client
from coopmat.targets.cuda.chips import TRIPLE, Chip
from coopmat.targets.cuda.host.context import Context
from coopmat.targets.cuda.host.driver import call, failure
from coopmat.targets.cuda.host.modules import LoadedKernel
from coopmat.targets.cuda.host.streams import Stream
from coopmat.targets.cuda.host.submission import submit
from coopmat.targets.cuda.host.tensor_maps import tensor_map
from coopmat.targets.cuda.work_groups.pipeline import MAP_ALIGNMENT, TensorMap
from coopmat.targets.llvm.threads.launch import Slot

THREADS = 256
WORD = 4  # bytes that a thread moves at once
MOST_BLOCKS = 65535  # along the grid's second axis
SYMBOL = "turn"
WORDS = ("in", "out", "width", "height", "stride", "line")  # of what the kernel gets


@dataclass(frozen=True)
class Turn:
    """A matrix that is transposed for a launch: where it lies, in lines of so many elements, and the slot of the tensor
    map of what becomes of it."""

    described: TensorMap
    slot: Slot
    address: int
    width: int
    height: int
    stride: int

    @property
    def line(self) -> int:
        """Bytes of a line of the transposed matrix."""
        return -(-self.height * self.described.element_bytes // MAP_ALIGNMENT) * MAP_ALIGNMENT

    @property
    def nbytes(self) -> int:
        """Of the transposed matrix."""
        return self.width * self.line

    def describe(self, block: Any, target: int) -> None:
        """Put the tensor map of the transposed matrix, at an address, into a launch's block."""
        found = tensor_map(self.described, target, (self.height, self.width, self.line // self.described.element_bytes))
        if found is None:
            raise LaunchError(f"the driver takes no tensor map of {self.width} lines of {self.line} bytes")
        block[self.slot.offset:self.slot.offset + self.slot.size] = found

    def submit(self, context: Context, stream: Stream, target: int) -> None:
        """Transpose it."""
        size = self.described.element_bytes
        kernel = _kernel(context, size)
        block = (ctypes.c_uint64 * len(WORDS))(self.address, target, self.width, self.height, self.stride, self.line)
        across, down = (-(-extent // tile_of(size)) for extent in (self.width, self.height))
        status, = submit(kernel.function, (across, down, 1), (THREADS, 1, 1), 0, stream, block)
        if status:
            raise failure(status, "the transposition of an argument")


def turn(described: TensorMap, slot: Slot, address: int, sizes: Sequence[int]) -> Turn | None:
    """The turn of a matrix of sizes ``width, height, stride``, in elements; None for one that is not made of words."""
    width, height, stride = sizes
    size = described.element_bytes
    if not width or not height or stride < width or any(
            one % WORD for one in (address, stride * size, width * size)) or -(-height // tile_of(size)) > MOST_BLOCKS:
        return None
    return Turn(described, slot, address, width, height, stride * size)


class Turned:
    """The transposed matrices of one launch, in memory that is allocated in the stream's order."""

    def __init__(self, context: Context, turns: Sequence[Turn], block: Any, stream: Stream) -> None:
        self.stream = stream
        self.addresses: list[int] = []
        for one in turns:
            self.addresses.append(int(call("cuMemAllocAsync", one.nbytes, stream.handle)))
            one.describe(block, self.addresses[-1])
            one.submit(context, stream, self.addresses[-1])

    def free(self) -> None:
        """Free the memory once everything that was submitted has been done."""
        while self.addresses:
            call("cuMemFreeAsync", self.addresses.pop(), self.stream.handle)


# --- the kernel -------------------------------------------------------------------------


def tile_of(element_bytes: int) -> int:
    """Elements of a side of what a block of threads transposes."""
    return 64 if element_bytes == 1 else 32


@cache
def _kernel(context: Context, element_bytes: int) -> LoadedKernel:
    ptx = turning_ptx(context.chip, element_bytes)
    return LoadedKernel(context, ptx, SYMBOL, "the transposition of an argument")


def turning_ptx(chip: Chip, element_bytes: int) -> str:
    """PTX that transposes matrices of elements of one byte, or of four."""
    return client.compile(turning_ir(element_bytes), TRIPLE, chip.name, chip.features, 3, "asm",
                          source_name="the transposition of an argument").decode()


def turning_ir(element_bytes: int) -> str:
    """The same as LLVM IR. A thread loads four words, one below the other, and puts them into shared memory as they
    stand in the columns of the transposed tile; then threads that are neighbours store neighbouring words."""
    tile = tile_of(element_bytes)
    words = tile * element_bytes // WORD  # of a line of a tile
    apart = THREADS // words  # lines from one word of a thread to its next, when it stores
    together = WORD // element_bytes  # lines whose words become columns together
    return "\n".join([
        f"@tile = internal addrspace(3) global [{tile * (words + 1)} x i32] undef, align 4",
        "declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()", "declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()",
        "declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()", "declare i32 @llvm.nvvm.prmt(i32, i32, i32)",
        "declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32) convergent",
        f"define ptx_kernel void @{SYMBOL}(ptr byval([{len(WORDS)} x i64]) align 8 %given) {{",
        *(line for number, name in enumerate(WORDS) for line in _word(number, name)),
        "  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()",
        f"  %x = urem i32 %thread, {words}", f"  %y = udiv i32 %thread, {words}",
        *_start("column", "x"), *_start("row", "y"),
        *(line.replace("TILE", str(tile)) for line in (
            "  %left = mul i64 %column.block, TILE", "  %top = mul i64 %row.block, TILE")),
        "  %x.long = zext i32 %x to i64", "  %y.long = zext i32 %y to i64",
        f"  %x.elements = mul i64 %x.long, {together}", "  %column = add i64 %left, %x.elements",
        "  %in.width = icmp ult i64 %column, %width", f"  %column.bytes = mul i64 %column, {element_bytes}",
        *(line for number in range(4) for line in _load(number, together, apart)),
        *_transposed(together),
        *(line for number in range(4) for line in _put(number, together, apart, words)),
        "  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0) convergent",
        f"  %top.bytes = mul i64 %top, {element_bytes}", f"  %x.bytes = mul i64 %x.long, {WORD}",
        "  %place = add i64 %top.bytes, %x.bytes", "  %in.line = icmp ult i64 %place, %line",
        *(line for number in range(4) for line in _store(number, apart, words)),
        "  ret void", "}"])


def _word(number: int, name: str) -> Iterator[str]:
    yield f"  %{name}.given = getelementptr i64, ptr %given, i64 {number}"
    if name in ("in", "out"):
        yield f"  %{name}.address = load i64, ptr %{name}.given, align 8"
        yield f"  %{name} = inttoptr i64 %{name}.address to ptr addrspace(1)"
    else:
        yield f"  %{name} = load i64, ptr %{name}.given, align 8"


def _start(name: str, axis: str) -> Iterator[str]:
    yield f"  %{name}.block.short = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.{axis}()"
    yield f"  %{name}.block = zext i32 %{name}.block.short to i64"


def _load(number: int, together: int, apart: int) -> Iterator[str]:
    """A word of a line, or zeros where the matrix ends: bytes come from lines that follow each other."""
    if together > 1:
        yield f"  %y.{number}.first = mul i64 %y.long, {together}"
        yield f"  %y.{number} = add i64 %y.{number}.first, {number}"
    else:
        yield f"  %y.{number} = add i64 %y.long, {number * apart}"
    yield f"  %row.{number} = add i64 %top, %y.{number}"
    yield f"  %in.height.{number} = icmp ult i64 %row.{number}, %height"
    yield f"  %inside.{number} = and i1 %in.width, %in.height.{number}"
    yield f"  %from.{number}.line = mul i64 %row.{number}, %stride"
    yield f"  %from.{number}.bytes = add i64 %from.{number}.line, %column.bytes"
    yield f"  %from.{number}.safe = select i1 %inside.{number}, i64 %from.{number}.bytes, i64 0"
    yield f"  %from.{number} = getelementptr i8, ptr addrspace(1) %in, i64 %from.{number}.safe"
    yield f"  %loaded.{number} = load i32, ptr addrspace(1) %from.{number}, align 4"
    yield f"  %word.{number} = select i1 %inside.{number}, i32 %loaded.{number}, i32 0"


def _transposed(together: int) -> Iterator[str]:
    """Four words of four bytes, turned; words of one element stay as they are."""
    if together == 1:
        for number in range(4):
            yield f"  %turned.{number} = add i32 %word.{number}, 0"
        return
    for name, one, other, how in (
            ("a", "word.0", "word.1", 0x5140), ("b", "word.2", "word.3", 0x5140), ("c", "word.0", "word.1", 0x7362),
            ("d", "word.2", "word.3", 0x7362), ("turned.0", "a", "b", 0x5410), ("turned.1", "a", "b", 0x7632),
            ("turned.2", "c", "d", 0x5410), ("turned.3", "c", "d", 0x7632)):
        yield f"  %{name} = call i32 @llvm.nvvm.prmt(i32 %{one}, i32 %{other}, i32 {how})"


def _put(number: int, together: int, apart: int, words: int) -> Iterator[str]:
    """A word to its place in the tile, whose lines were columns."""
    column = f"%y.{number}.short" if together == 1 else "%y"
    yield f"  %y.{number}.short = add i32 %y, {number * apart if together == 1 else 0}"
    yield f"  %to.{number}.first = mul i32 %x, {together}"
    yield f"  %to.{number}.row = add i32 %to.{number}.first, {number if together > 1 else 0}"
    yield f"  %to.{number}.line = mul i32 %to.{number}.row, {words + 1}"
    yield f"  %to.{number}.place = add i32 %to.{number}.line, {column}"
    yield f"  %to.{number} = getelementptr i32, ptr addrspace(3) @tile, i32 %to.{number}.place"
    yield f"  store i32 %turned.{number}, ptr addrspace(3) %to.{number}, align 4"


def _store(number: int, apart: int, words: int) -> Iterator[str]:
    """A word of a line of the tile to memory, if there is such a line."""
    yield f"  %own.{number} = add i32 %y, {number * apart}"
    yield f"  %own.{number}.line = mul i32 %own.{number}, {words + 1}"
    yield f"  %own.{number}.place = add i32 %own.{number}.line, %x"
    yield f"  %own.{number}.at = getelementptr i32, ptr addrspace(3) @tile, i32 %own.{number}.place"
    yield f"  %own.{number}.word = load i32, ptr addrspace(3) %own.{number}.at, align 4"
    yield f"  %own.{number}.long = zext i32 %own.{number} to i64"
    yield f"  %own.{number}.row = add i64 %left, %own.{number}.long"
    yield f"  %own.{number}.exists = icmp ult i64 %own.{number}.row, %width"
    yield f"  %own.{number}.stored = and i1 %own.{number}.exists, %in.line"
    yield f"  br i1 %own.{number}.stored, label %store.{number}, label %stored.{number}"
    yield f"store.{number}:"
    yield f"  %own.{number}.bytes = mul i64 %own.{number}.row, %line"
    yield f"  %own.{number}.to = add i64 %own.{number}.bytes, %place"
    yield f"  %own.{number}.target = getelementptr i8, ptr addrspace(1) %out, i64 %own.{number}.to"
    yield f"  store i32 %own.{number}.word, ptr addrspace(1) %own.{number}.target, align 4"
    yield f"  br label %stored.{number}"
    yield f"stored.{number}:"
