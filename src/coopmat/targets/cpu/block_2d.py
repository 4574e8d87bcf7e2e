"""SPV_INTEL_2d_block_io: a sub-group loads or stores rectangular blocks of a matrix in global memory.

A function for each shape copies the part of the block that lies in the matrix, row by row, to or from a place on the
stack; outside of the matrix there are zeros. The elements there are the work-items' as devices/subgroup_layout.py says.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from coopmat.devices.subgroup_layout import block_elements
from coopmat.spirv.grammar import Op
from coopmat.spirv.module.instruction import Instruction
from coopmat.targets.analysis.blocks_2d import Block, block_of
from coopmat.targets.cpu.lanes.vector import lanes_of
from coopmat.targets.llvm.arithmetic.integers import resized
from coopmat.targets.llvm.checks import AccessChecks
from coopmat.targets.llvm.emitter import Emitter, Handler
from coopmat.targets.llvm.extents import overlap, rows_of_bytes
from coopmat.targets.llvm.values import Number
from coopmat.targets.llvm.writer import Operand

# What the functions call, and their parameters.
_DECLARATIONS = {
    "llvm.memset.p0.i64": "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)",
    "llvm.memcpy.p0.p0.i64": "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)",
    "llvm.smax.i64": "declare i64 @llvm.smax.i64(i64, i64)",
    "llvm.smin.i64": "declare i64 @llvm.smin.i64(i64, i64)",
}
_FUNCTION = """
@NAME.places = internal constant [ENTRIES x i32] [PLACES]

; The matrix: where it begins, bytes in a row, rows, bytes from row to row. The block: where it begins in its row (in
; bytes), and its first row. Then the pointer of each work-item, and for each a byte that says whether it is here.
define internal void @NAME(ptr %base, i64 %width, i64 %height, i64 %pitch, i64 %x, i64 %y, ptr %pointers,
                           ptr %here) noinline nounwind {
entry:
  %block = alloca [SPACE x i8], align 64
  call void @llvm.memset.p0.i64(ptr %block, i8 0, i64 SPACE, i1 false)
  %low = call i64 @llvm.smax.i64(i64 %x, i64 0)
  %right = add i64 %x, ROW
  %high = call i64 @llvm.smin.i64(i64 %right, i64 %width)
  %bytes = sub i64 %high, %low
  %has.columns = icmp sgt i64 %bytes, 0
  %skipped = sub i64 %low, %x
  br label %FIRST
half:
  br label %SECOND
rows:
  %r = phi i64 [ 0, %BEFORE_ROWS ], [ %r.next, %next.row ]
  %line = add i64 %y, %r
  %is.row = icmp ult i64 %line, %height
  %is.there = and i1 %is.row, %has.columns
  br i1 %is.there, label %copy, label %next.row
copy:
  %down = mul i64 %line, %pitch
  %away = add i64 %down, %low
  %outside = getelementptr i8, ptr %base, i64 %away
  %row = mul i64 %r, ROW
  %start = add i64 %row, %skipped
  %inside = getelementptr i8, ptr %block, i64 %start
  call void @llvm.memcpy.p0.p0.i64(ptr %ROW_TO, ptr %ROW_FROM, i64 %bytes, i1 false)
  br label %next.row
next.row:
  %r.next = add i64 %r, 1
  %more.rows = icmp ult i64 %r.next, HEIGHT
  br i1 %more.rows, label %rows, label %AFTER_ROWS
lanes:
  %lane = phi i64 [ 0, %BEFORE_LANES ], [ %lane.next, %next.lane ]
  %here.at = getelementptr i8, ptr %here, i64 %lane
  %here.byte = load i8, ptr %here.at
  %is.here = icmp ne i8 %here.byte, 0
  br i1 %is.here, label %own, label %next.lane
own:
  %pointer.at = getelementptr ptr, ptr %pointers, i64 %lane
  %pointer = load ptr, ptr %pointer.at
  %before = mul i64 %lane, COMPONENTS
  br label %component
component:
  %c = phi i64 [ 0, %own ], [ %c.next, %component ]
  %number = add i64 %before, %c
  %place.at = getelementptr i32, ptr @NAME.places, i64 %number
  %place = load i32, ptr %place.at
  %place.wide = zext i32 %place to i64
  %shared = getelementptr i8, ptr %block, i64 %place.wide
  %private = getelementptr TYPE, ptr %pointer, i64 %c
  %element = load TYPE, ptr %ELEMENT_FROM, align SIZE
  store TYPE %element, ptr %ELEMENT_TO, align SIZE
  %c.next = add i64 %c, 1
  %more = icmp ult i64 %c.next, COMPONENTS
  br i1 %more, label %component, label %next.lane
next.lane:
  %lane.next = add i64 %lane, 1
  %more.lanes = icmp ult i64 %lane.next, LANES
  br i1 %more.lanes, label %lanes, label %AFTER_LANES
done:
  ret void
}
"""
_LOADING = {"FIRST": "rows", "SECOND": "lanes", "BEFORE_ROWS": "entry", "AFTER_ROWS": "half", "BEFORE_LANES": "half",
            "AFTER_LANES": "done", "ROW_FROM": "outside", "ROW_TO": "inside", "ELEMENT_FROM": "shared",
            "ELEMENT_TO": "private"}
_STORING = {"FIRST": "lanes", "SECOND": "rows", "BEFORE_LANES": "entry", "AFTER_LANES": "half", "BEFORE_ROWS": "half",
            "AFTER_ROWS": "done", "ROW_FROM": "inside", "ROW_TO": "outside", "ELEMENT_FROM": "private",
            "ELEMENT_TO": "shared"}


def _function(emitter: Emitter, block: Block, *, storing: bool = False, transpose: bool = False,
              transform: bool = False) -> str:
    """The name of the function for a shape."""
    size, row = block.element_size, block.width * block.count * block.element_size
    held = block_elements(block.width, block.height, block.count, emitter.size, transpose=transpose,
                          rows_per_word=4 // size if transform else 1)
    nothing = row * block.height  # behind the block: for components that have no element
    places = [line * row + column * size if valid else nothing for line, column, valid in
              zip(*(array.reshape(-1).tolist() for array in held), strict=True)]
    kind = "store" if storing else "transpose" if transpose else "transform" if transform else "load"
    name = f"block.{kind}.{size}.{block.width}.{block.height}.{block.count}"
    if name not in emitter.writer.helpers:
        lanes_of(emitter).frame.reserve_stack(nothing + 64)
    facts = {"NAME": name, "ENTRIES": len(places), "PLACES": ", ".join(f"i32 {place}" for place in places),
             "SPACE": nothing + 8, "COMPONENTS": held.row.shape[1], "LANES": emitter.size, "HEIGHT": block.height,
             "TYPE": f"i{8 * size}", "SIZE": size, **(_STORING if storing else _LOADING), "ROW": row}
    emitter.writer.helper(name, re.sub("|".join(rf"\b{word}\b" for word in facts),
                                       lambda found: str(facts[found[0]]), _FUNCTION))
    emitter.writer.declarations |= _DECLARATIONS
    return name


def _one(emitter: Emitter, number: Number) -> Number:
    """What all work-items have, integers as an i64."""
    one = Number(number.type, emitter.execution.first(number)[0])
    return one if one.type == "ptr" else resized(emitter, one, "i64", signed=True)


def _call(emitter: Emitter, row: Instruction, name: str, block: Block, surface: int, own: int, *,
          transpose: bool = False, transform: bool = False) -> None:
    """``surface``: position of the base pointer among the words; width, height, pitch, coordinate follow. ``own``:
    that of the work-items' own pointers."""
    size = block.element_size
    base, width, height, pitch, x, y = (_one(emitter, number) for word in row.words[surface:surface + 5]
                                        for number in emitter.numbers(word))
    writer, pointers, flags = emitter.writer, emitter.vector("ptr"), emitter.vector("i8")
    if emitter.checks is not None:
        detail = (block.width, block.height, block.count, emitter.size, int(transpose), 4 // size if transform else 1)
        _check(emitter, emitter.checks, row, detail, size, surface, own,
               [one.base for one in (base, width, height, pitch, x, y)])
    x = emitter.apply("mul {t} {0}, {1}", "i64", x, emitter.constant("i64", size))
    mine, here = writer.slot(pointers), writer.slot(flags)
    writer.do(f"store {pointers} {emitter.lanes(emitter.number(row.words[own]))}, ptr {mine}")
    lanes = lanes_of(emitter)
    bytes_ = writer.let(f"zext {lanes.mask_type} {lanes.mask_text} to {flags}")
    writer.do(f"store {flags} {bytes_}, ptr {here}")
    numbers: list[Operand] = [(one.type, one.base) for one in (base, width, height, pitch, x, y)]
    writer.call("void", name, [*numbers, ("ptr", mine), ("ptr", here)])


def _check(emitter: Emitter, checks: AccessChecks, row: Instruction, detail: tuple[int, ...], size: int, surface: int,
           own: int, operands: Sequence[str]) -> None:
    """Have the part of the block that lies in the matrix checked, and the work-items' own elements. ``operands``: base,
    width, height, pitch, x, y; ``detail``: what decides which elements the work-items have."""
    writer = emitter.writer
    is_store = row.opcode == Op.Subgroup2DBlockStoreINTEL
    width, height, count, lanes, transposes, rows_per_word = detail
    base, right, below, pitch, x, y = operands
    top, bottom, no_rows = overlap(emitter, y, height, below)
    start = writer.let(f"mul i64 {x}, {size}")
    first, last, no_columns = overlap(emitter, start, width * count * size, right)
    address = writer.let(f"ptrtoint ptr {base} to i64")
    extent = rows_of_bytes(emitter, address, (top, bottom), pitch, (first, last))
    checks.extent("block", row.words[surface], base, extent, [right, below, pitch, x, y], size=size, writing=is_store,
                  detail=detail, is_empty=writer.let(f"or i1 {no_rows}, {no_columns}"))
    held = block_elements(width, height, count, lanes, transpose=bool(transposes), rows_per_word=rows_per_word)
    checks.access(emitter.number(row.words[own]), held.row.shape[1] * size, not is_store, row.words[own])


def _load(*, transpose: bool = False, transform: bool = False) -> Handler:
    def handle(emitter: Emitter, row: Instruction) -> None:
        block = block_of(row, [emitter.constant_of(word) for word in row.words[:4]], transform=transform)
        name = _function(emitter, block, transpose=transpose, transform=transform)
        _call(emitter, row, name, block, 4, 9, transpose=transpose, transform=transform)

    return handle


def _store(emitter: Emitter, row: Instruction) -> None:
    block = block_of(row, [emitter.constant_of(word) for word in row.words[:4]])
    _call(emitter, row, _function(emitter, block, storing=True), block, 5, 4)


def _prefetch(emitter: Emitter, row: Instruction) -> None:
    """No effect, but the rules of the constants hold for it as well."""
    block_of(row, [emitter.constant_of(word) for word in row.words[:4]])


OPERATIONS: dict[int, Handler] = {
    Op.Subgroup2DBlockLoadINTEL: _load(),
    Op.Subgroup2DBlockLoadTransformINTEL: _load(transform=True),
    Op.Subgroup2DBlockLoadTransposeINTEL: _load(transpose=True),
    Op.Subgroup2DBlockPrefetchINTEL: _prefetch,
    Op.Subgroup2DBlockStoreINTEL: _store,
}
