"""SPV_INTEL_2d_block_io: a sub-group loads or stores rectangular blocks of a matrix in global memory.

The part of the block that lies in the matrix is copied, row by row, to or from a place on the stack; outside of the
matrix there are zeros. The elements there are the work-items' as devices/subgroup_layout.py says. If the variable that
has them needs no address, they are values, and a block that lies in the matrix as a whole is copied without tests, so
that LLVM makes loads and stores of its rows (block_values.py). Otherwise there are functions for each shape.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from coopmat.devices.subgroup_layout import block_elements
from coopmat.spirv.analysis.blocks_2d import PRIVATE_OF_BLOCK, block_of
from coopmat.spirv.analysis.types import FloatType, IntType
from coopmat.spirv.grammar import Op
from coopmat.spirv.module.instruction import Instruction
from coopmat.targets.analysis.blocks_2d import block_held
from coopmat.targets.cpu.block_values import BlockValues
from coopmat.targets.cpu.lanes.vector import lanes_of
from coopmat.targets.llvm.arithmetic.integers import resized
from coopmat.targets.llvm.checks import AccessChecks
from coopmat.targets.llvm.emitter import Emitter, Handler
from coopmat.targets.llvm.extents import overlap, rows_of_bytes
from coopmat.targets.llvm.inputs import find_place
from coopmat.targets.llvm.place import SlotPlace, part_at
from coopmat.targets.llvm.values import Number
from coopmat.targets.llvm.writer import Operand

# What the functions call, and their parameters.
_DECLARATIONS = {
    "llvm.memset.p0.i64": "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)",
    "llvm.memcpy.p0.p0.i64": "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)",
    "llvm.smax.i64": "declare i64 @llvm.smax.i64(i64, i64)",
    "llvm.smin.i64": "declare i64 @llvm.smin.i64(i64, i64)",
}
_ROWS = """
; The matrix: where it begins, bytes in a row, rows, bytes from row to row. The block: where it begins in its row (in
; bytes), its first row, and a place for its rows. Those parts of them are copied that lie in the matrix.
define internal void @NAME(ptr %base, i64 %width, i64 %height, i64 %pitch, i64 %x, i64 %y,
                           ptr %block) noinline nounwind {
entry:
  %low = call i64 @llvm.smax.i64(i64 %x, i64 0)
  %right = add i64 %x, ROW
  %high = call i64 @llvm.smin.i64(i64 %right, i64 %width)
  %bytes = sub i64 %high, %low
  %has.columns = icmp sgt i64 %bytes, 0
  %skipped = sub i64 %low, %x
  br label %rows
rows:
  %r = phi i64 [ 0, %entry ], [ %r.next, %next.row ]
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
  br i1 %more.rows, label %rows, label %done
done:
  ret void
}
"""
_LANES = """
@NAME.places = internal constant [ENTRIES x i32] [PLACES]

; The pointer of each work-item, for each a byte that says whether it is here, and the place of the block's rows.
define internal void @NAME(ptr %pointers, ptr %here, ptr %block) noinline nounwind {
entry:
  br label %lanes
lanes:
  %lane = phi i64 [ 0, %entry ], [ %lane.next, %next.lane ]
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
  br i1 %more.lanes, label %lanes, label %done
done:
  ret void
}
"""
_BOTH = """
define internal void @NAME(ptr %base, i64 %width, i64 %height, i64 %pitch, i64 %x, i64 %y, ptr %pointers,
                           ptr %here) noinline nounwind {
  %block = alloca [SPACE x i8], align 64
  call void @llvm.memset.p0.i64(ptr %block, i8 0, i64 SPACE, i1 false)
  call void FIRST
  call void SECOND
  ret void
}
"""
_LOADING = {"ROW_FROM": "outside", "ROW_TO": "inside", "ELEMENT_FROM": "shared", "ELEMENT_TO": "private"}
_STORING = {"ROW_FROM": "inside", "ROW_TO": "outside", "ELEMENT_FROM": "private", "ELEMENT_TO": "shared"}


def _helper(emitter: Emitter, name: str, text: str, facts: dict[str, object], *, storing: bool) -> str:
    """Add a function, and return its name: the kind of it and the numbers that it is made for."""
    facts = {"NAME": name, **facts, **(_STORING if storing else _LOADING)}
    emitter.writer.helper(name, re.sub("|".join(rf"\b{word}\b" for word in facts),
                                       lambda found: str(facts[found[0]]), text))
    return name


@dataclass(frozen=True)
class _Surface:
    """Where an instruction's block lies: base, width, height, pitch and the first column, all in bytes but the height,
    and the first row; each an i64 or a pointer."""

    base: str
    width: str
    height: str
    pitch: str
    x: str
    y: str

    @property
    def operands(self) -> list[Operand]:
        """As parameters."""
        return [("ptr", self.base), *(("i64", one) for one in (self.width, self.height, self.pitch, self.x, self.y))]


class _Transfer:
    """Writes one instruction. ``own``: the position of the work-items' pointers among its words; ``surface``: that of
    the base pointer, behind which width, height, pitch and coordinate follow."""

    def __init__(self, emitter: Emitter, row: Instruction, surface: int) -> None:
        self.emitter, self.row = emitter, row
        self.own, self.surface = PRIVATE_OF_BLOCK[row.opcode], surface
        self.is_store = row.opcode == Op.Subgroup2DBlockStoreINTEL
        transform = row.opcode == Op.Subgroup2DBlockLoadTransformINTEL
        block_of(row, [emitter.constant_of(word) for word in row.words[:4]], transform=transform)
        held = block_held(emitter.flat, row)
        assert held is not None
        self.held, self.block = held, held.block
        self.line = self.block.width * self.block.count * self.block.element_size
        self.space = self.line * self.block.height

    @property
    def places(self) -> list[list[int | None]]:
        """Of each work-item the offsets of its elements among the block's rows; None: there is no such element."""
        size, held = self.block.element_size, self.held.elements
        return [[line * self.line + column * size if valid else None for line, column, valid in zip(*one, strict=True)]
                for one in zip(held.row.tolist(), held.column.tolist(), held.valid.tolist(), strict=True)]

    def write(self) -> None:
        """Write it: with the work-items' elements as values, where they need no addresses, or in memory."""
        emitter, own = self.emitter, self.row.words[self.own]
        place = find_place(emitter, own)
        if place is not None and not isinstance(place.kind, IntType | FloatType):
            place = part_at(place, 0)
        where = self._where(None if place is not None else own)
        emitter.writer.declarations |= _DECLARATIONS
        if place is None:
            self._in_memory(where, emitter.number(own))
        elif self.is_store:
            self._store_values(where, place)
        else:
            self._load_values(where, place)

    def _where(self, own: int | None) -> _Surface:
        emitter, size = self.emitter, self.block.element_size
        found = [_one(emitter, number) for word in self.row.words[self.surface:self.surface + 5]
                 for number in emitter.numbers(word)]
        if emitter.checks is not None:
            transposes = self.row.opcode == Op.Subgroup2DBlockLoadTransposeINTEL
            transforms = self.row.opcode == Op.Subgroup2DBlockLoadTransformINTEL
            detail = (self.block.width, self.block.height, self.block.count, emitter.size, int(transposes),
                      4 // size if transforms else 1)
            _check(emitter, emitter.checks, self.row, detail, size, self.surface, own, [one.base for one in found])
        found[4] = emitter.apply("mul {t} {0}, {1}", "i64", found[4], emitter.constant("i64", size))
        return _Surface(*(one.base for one in found))

    # --- in memory --------------------------------------------------------------------

    def _in_memory(self, where: _Surface, pointer: Number) -> None:
        """Between the work-items' own memory and the surface, by way of the block's rows."""
        emitter, writer, lanes = self.emitter, self.emitter.writer, lanes_of(self.emitter)
        pointers, flags = emitter.vector("ptr"), emitter.vector("i8")
        mine, here = writer.slot(pointers), writer.slot(flags)
        writer.do(f"store {pointers} {emitter.lanes(pointer)}, ptr {mine}")
        bytes_ = writer.let(f"zext {lanes.mask_type} {lanes.mask_text} to {flags}")
        writer.do(f"store {flags} {bytes_}, ptr {here}")
        parts = [f"@{self._rows_function()}(ptr %base, i64 %width, i64 %height, i64 %pitch, i64 %x, i64 %y, "
                 "ptr %block)", f"@{self._lanes_function()}(ptr %pointers, ptr %here, ptr %block)"]
        first, second = reversed(parts) if self.is_store else parts
        name = self._name("both")
        if name not in writer.helpers:
            lanes.frame.reserve_stack(self.space + 64)
        _helper(emitter, name, _BOTH, {"SPACE": self.space + 8, "FIRST": first, "SECOND": second},
                storing=self.is_store)
        writer.call("void", name, [*where.operands, ("ptr", mine), ("ptr", here)])

    def _name(self, part: str) -> str:
        """Of a function for this shape."""
        block = self.block
        kind = {Op.Subgroup2DBlockStoreINTEL: "store", Op.Subgroup2DBlockLoadTransposeINTEL: "transpose",
                Op.Subgroup2DBlockLoadTransformINTEL: "transform"}.get(Op(self.row.opcode), "load")
        return f"block.{part}.{kind}.{block.element_size}.{block.width}.{block.height}.{block.count}"

    def _copy_rows(self, where: _Surface, rows: str) -> None:
        """What of the rows lies in the surface."""
        self.emitter.writer.call("void", self._rows_function(), [*where.operands, ("ptr", rows)])

    def _rows_function(self) -> str:
        name = f"block.rows.{'put' if self.is_store else 'take'}.{self.line}.{self.block.height}"
        return _helper(self.emitter, name, _ROWS, {"ROW": self.line, "HEIGHT": self.block.height},
                       storing=self.is_store)

    def _lanes_function(self) -> str:
        size = self.block.element_size
        places = [self.space if place is None else place for own in self.places for place in own]
        facts: dict[str, object] = {
            "ENTRIES": len(places), "PLACES": ", ".join(f"i32 {place}" for place in places),
            "COMPONENTS": self.held.elements.row.shape[1], "LANES": self.emitter.size, "TYPE": f"i{8 * size}",
            "SIZE": size}
        return _helper(self.emitter, self._name("lanes"), _LANES, facts, storing=self.is_store)

    # --- as values --------------------------------------------------------------------

    def _two_ways(self, where: _Surface, within: Callable[[], None], beyond: Callable[[], None]) -> None:
        """What is done if the whole block lies in the surface, and what if it may not."""
        writer = self.emitter.writer
        right = writer.let(f"add i64 {where.x}, {self.line}")
        bottom = writer.let(f"add i64 {where.y}, {self.block.height}")
        is_within = writer.all_of(*(writer.let(f"icmp {test}") for test in (
            f"sge i64 {where.x}, 0", f"sle i64 {right}, {where.width}", f"sge i64 {where.y}, 0",
            f"sle i64 {bottom}, {where.height}")))
        names = [writer.fresh(name)[1:] for name in ("within", "beyond", "both")]
        writer.do(f"br i1 {is_within}, label %{names[0]}, label %{names[1]}")
        for name, body in zip(names, (within, beyond), strict=False):
            writer.label(name)
            body()
            writer.do(f"br label %{names[2]}")
        writer.label(names[2])

    def _empty_rows(self) -> str:
        """Memory for the block's rows, with zeros."""
        lanes_of(self.emitter).frame.reserve_stack(self.space + 64)
        rows = self.emitter.writer.slot(f"[{self.space} x i8]", align=64)
        self.emitter.writer.call("void", "llvm.memset.p0.i64", [("ptr", rows), ("i8", "0"),
                                                                ("i64", str(self.space)), ("i1", "false")])
        return rows

    def _whole_rows(self, where: _Surface, rows: str) -> None:
        """All rows, which lie in the surface."""
        writer = self.emitter.writer
        first = writer.let(f"getelementptr i8, ptr {where.base}, i64 {where.x}")
        for number in range(self.block.height):
            line = writer.let(f"add i64 {where.y}, {number}")
            outside = writer.line(first, line, where.pitch)
            inside = writer.let(f"getelementptr i8, ptr {rows}, i64 {number * self.line}")
            ends = (inside, outside) if not self.is_store else (outside, inside)
            writer.call("void", "llvm.memcpy.p0.p0.i64", [*(("ptr", end) for end in ends), ("i64", str(self.line)),
                                                          ("i1", "false")])

    def _load_values(self, where: _Surface, place: SlotPlace) -> None:
        emitter, values = self.emitter, BlockValues(self.emitter, self.held, self.places, place)
        found: list[tuple[list[str], str]] = []

        def take(copy: Callable[[_Surface, str], None]) -> None:
            rows = self._empty_rows()
            copy(where, rows)
            found.append((values.taken(rows), emitter.writer.block))

        self._two_ways(where, lambda: take(self._whole_rows), lambda: take(self._copy_rows))
        (one, first), (two, second) = found
        vector = emitter.vector(values.integer)
        values.keep([emitter.writer.let(f"phi {vector} [ {a}, %{first} ], [ {b}, %{second} ]")
                            for a, b in zip(one, two, strict=True)])

    def _store_values(self, where: _Surface, place: SlotPlace) -> None:
        values = BlockValues(self.emitter, self.held, self.places, place)
        given = values.given()

        def put(copy: Callable[[_Surface, str], None]) -> None:
            rows = self._empty_rows()
            values.put(given, rows)
            copy(where, rows)

        self._two_ways(where, lambda: put(self._whole_rows), lambda: put(self._copy_rows))


def _one(emitter: Emitter, number: Number) -> Number:
    """What all work-items have, integers as an i64."""
    one = Number(number.type, emitter.execution.first(number)[0])
    return one if one.type == "ptr" else resized(emitter, one, "i64", signed=True)


def _check(emitter: Emitter, checks: AccessChecks, row: Instruction, detail: tuple[int, ...], size: int, surface: int,
           own: int | None, operands: Sequence[str]) -> None:
    """Have the part of the block that lies in the matrix checked, and the work-items' own elements, if these are in
    memory (``own``: their pointer). ``operands``: base, width, height, pitch, x, y; ``detail``: what decides which
    elements the work-items have."""
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
    if own is not None:
        held = block_elements(width, height, count, lanes, transpose=bool(transposes), rows_per_word=rows_per_word)
        checks.access(emitter.number(own), held.row.shape[1] * size, not is_store, own)


def _load(emitter: Emitter, row: Instruction) -> None:
    _Transfer(emitter, row, 4).write()


def _store(emitter: Emitter, row: Instruction) -> None:
    _Transfer(emitter, row, 5).write()


def _prefetch(emitter: Emitter, row: Instruction) -> None:
    """No effect, but the rules of the constants hold for it as well."""
    block_of(row, [emitter.constant_of(word) for word in row.words[:4]])


OPERATIONS: dict[int, Handler] = {
    Op.Subgroup2DBlockLoadINTEL: _load,
    Op.Subgroup2DBlockLoadTransformINTEL: _load,
    Op.Subgroup2DBlockLoadTransposeINTEL: _load,
    Op.Subgroup2DBlockPrefetchINTEL: _prefetch,
    Op.Subgroup2DBlockStoreINTEL: _store,
}
