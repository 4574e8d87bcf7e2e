"""Bounds checks in compiled code: before each access a comparison with its buffer.

Where a pointer comes from is known when a kernel is compiled, mostly: from one argument or variable. Its offset there
is compared then. Of other pointers the address is looked up among all buffers of the launch. The first access that is
wrong is noted for the host (faults.py), the sub-group's function ends, and so do the others' at the next jump
backwards.

Where accesses are not checked otherwise, those through arguments that are null pointers are all the same: the code is
made for these nulls, so that what a kernel does only with other pointers is gone, and a check with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from coopmat.spirv.analysis.kernels import Parameter
from coopmat.spirv.analysis.types import ArrayType, MatrixType, StructType, Type
from coopmat.spirv.grammar import Op, SourceLanguage, StorageClass
from coopmat.targets.base.out_of_bounds import argument_name
from coopmat.targets.base.wording import in_words
from coopmat.targets.cpu.checks.faults import MOST_VALUES, NEAR_NULL, AccessSite
from coopmat.targets.cpu.checks.functions import ENTRY_WORDS, IN_BUFFERS, NOTED_WORDS, OUT_OF_BOUNDS
from coopmat.targets.cpu.host.frame import Field
from coopmat.targets.cpu.lanes.vector import VectorLanes
from coopmat.targets.llvm.access import addresses, moved
from coopmat.targets.llvm.arithmetic.integers import resized
from coopmat.targets.llvm.checks import Extent
from coopmat.targets.llvm.numbers import NumberWriter
from coopmat.targets.llvm.values import Number

PRIVATE = frozenset({StorageClass.Function, StorageClass.Private})
GLOBAL = frozenset({StorageClass.CrossWorkgroup, StorageClass.UniformConstant})
COPIES = frozenset({Op.CopyMemory, Op.CopyMemorySized})


@dataclass(frozen=True)
class Buffer:
    """What a pointer comes from: where that begins for each work-item, and the bytes that can be read and written.
    ``is_null``: it is a null pointer."""

    name: str
    start: Number
    readable: str
    writable: str
    is_private: bool
    is_null: bool = False


@dataclass(frozen=True)
class Target:
    """Where an access goes: to a buffer, if it is known, else to one of a storage class (None: of any)."""

    buffer: Buffer | None
    storage: int
    writing: bool


class Bounds:
    """Writes the checks of a kernel."""

    def __init__(self, lanes: VectorLanes, parameters: Sequence[Parameter], sites: list[AccessSite]) -> None:
        """``sites``: where the places of the checks are noted."""
        self.lanes = lanes
        self.emitter = emitter = lanes.emitter
        self.parameters = parameters
        self.sites = sites
        self._checks_all = lanes.variant.bounds
        self._body = emitter.writer.lines
        self._buffers: dict[int, Buffer] = {}
        self._limits: dict[tuple[str, str], str] = {}
        self._language = next((row.words[0] for row in emitter.module.of_opcode(Op.Source)), SourceLanguage.Unknown)

    # --- accesses ---------------------------------------------------------------------

    def access(self, pointer: Number, size: int, writing: bool, identifier: int | None = None) -> None:
        """Check that ``size`` bytes at each work-item's address are in the buffer. ``identifier``: the pointer's, if it
        is not the operand of the instruction that usually is."""
        if self._is_own():
            return
        emitter, target = self.emitter, self._target(identifier, writing)
        if not self._is_checked(target):
            return
        site, span = self._site("access", target, size), Number("i64", str(size))
        place = self._relative(pointer, target)
        if not place.is_linear or place.is_single:
            self._fail_if(self._outside(place, span, target), site, pointer, target)
            return
        reach = place.stride * (emitter.size - 1)
        low = Number("i64", emitter.writer.let(f"add i64 {place.base}, {min(0, reach)}"))
        hull = self._outside(low, Number("i64", str(size + abs(reach))), target)
        each, good = (emitter.writer.fresh(name)[1:] for name in ("each", "good"))
        emitter.writer.do(f"br i1 {hull.base}, label %{each}, label %{good}")
        emitter.writer.label(each)
        lanes = emitter.varying("i64", emitter.lanes(place))
        self._fail_if(self._outside(lanes, span, target), site, pointer, target, good=good)

    def parts(self, pointer: Number, kind: Type, writing: bool) -> None:
        """Check an access to a value of a type: each scalar and vector in it by itself."""
        if self._is_own():
            return
        for offset, size in _parts(kind, 0):
            self.access(moved(self.emitter, pointer, offset), size, writing)

    def bytes(self, pointer: Number, count: Number, writing: bool) -> None:
        """Check an access to as many bytes as a number, an i64, says."""
        emitter, target = self.emitter, self._target(None, writing)
        if not self._is_checked(target):
            return
        is_some = emitter.apply("icmp ne {t} {0}, {1}", "i1", count, emitter.constant("i64", 0))
        outside = self._outside(self._relative(pointer, target), count, target)
        bad = emitter.apply("and {t} {0}, {1}", "i1", outside, is_some)
        self._fail_if(bad, self._site("bytes", target, 1), pointer, target, (count,))

    def index(self, index: Number, length: int, variable: int, leaves: int = 1) -> None:
        """Check a run-time index into a variable in slots, below ``length``; it counts numbers, of which an element has
        ``leaves``."""
        if self._is_own() or not self._checks_all:
            return
        emitter, target = self.emitter, Target(None, StorageClass.Function, False)
        bad = emitter.apply("icmp uge {t} {0}, {1}", "i1", index, emitter.constant("i64", length))
        name = self._variable_name(variable)
        site = replace(self._site("index", target, (length - 1) // leaves + 1), buffer=name, detail=(leaves,))
        self._fail_if(bad, site, Number("ptr", "null"), target, (index,))

    def extent(self, kind: str, identifier: int, address: str, extent: Extent, values: Sequence[str], *, size: int,
               writing: bool, matrix: MatrixType | None = None, layout: int = 0, detail: Sequence[int] = (),
               is_empty: str = "false") -> None:
        """Check what a sub-group accesses together, through the pointer ``address``. ``kind``, ``matrix``, ``layout``,
        ``detail``: of the site; ``values``: what its message needs, each an i64. ``is_empty``: whether that is nothing,
        an i1."""
        emitter, target = self.emitter, self._target(identifier, writing)
        buffer = target.buffer
        if not self._is_checked(target):
            return
        if matrix is not None and buffer is not None and buffer.is_private:
            outside, detail = Number("i1", "true"), (1,)
        else:
            place = self._relative(Number("i64", extent.low), target, self.lanes.first_lane())
            outside = self._outside(place, Number("i64", extent.span), target)
            outside = emitter.apply("or {t} {0}, {1}", "i1", outside, Number("i1", extent.is_far))
        if is_empty != "false":
            is_some = emitter.writer.let(f"xor i1 {is_empty}, true")
            outside = emitter.apply("and {t} {0}, {1}", "i1", outside, Number("i1", is_some))
        site = replace(self._site(kind, target, size), matrix=matrix, layout=layout, detail=tuple(detail),
                       sub_group_size=self.emitter.sub_group_size)
        self._fail_if(outside, site, Number("ptr", address), target, [Number("i64", value) for value in values])

    def assertion(self, text: str, place: str | None) -> None:
        """An assertion that has failed; ``text``: its condition, ``place``: where it says that it is."""
        target = Target(None, StorageClass.Function, False)
        site = self._site("assertion", target, 0)
        site = replace(site, instruction=text, location=site.location or place)
        self._fail_if(Number("i1", "true"), site, Number("ptr", "null"), target)

    # --- where accesses go ------------------------------------------------------------

    def _is_own(self) -> bool:
        """Whether this is no access of the author's: the kernel reads its arguments, or a variable gets its first
        value."""
        emitter = self.emitter
        return emitter.writer.lines is emitter.writer.entry or emitter.row is None or emitter.row.opcode == Op.Variable

    def _is_checked(self, target: Target) -> bool:
        return self._checks_all or target.buffer is None or target.buffer.is_null

    def _target(self, identifier: int | None, writing: bool) -> Target:
        emitter = self.emitter
        assert emitter.writer.lines is self._body
        identifier = self._accessed(writing) if identifier is None else identifier
        source = emitter.origins.of(identifier)
        storage = emitter.module.definition(emitter.flat.definition(identifier).type_id or 0).words[0]
        return Target(None if source is None else self._buffer_of(source), storage, writing)

    def _accessed(self, writing: bool) -> int:
        """The pointer that the instruction accesses memory through."""
        row, emitter = self.emitter.row, self.emitter
        assert row is not None
        if row.opcode == Op.ExtInst:
            return next(word for word in row.words[2:] if self._is_pointer(word))
        assert emitter.row is row
        return row.words[1] if row.opcode in COPIES and not writing else row.words[0]

    def _is_pointer(self, identifier: int) -> bool:
        kind = self.emitter.flat.definition(identifier).type_id
        return kind is not None and self.emitter.module.definition(kind).opcode == Op.TypePointer

    def _buffer_of(self, identifier: int) -> Buffer:
        if identifier not in self._buffers:
            self._buffers[identifier] = self._made_buffer(identifier)
        return self._buffers[identifier]

    def _made_buffer(self, identifier: int) -> Buffer:
        emitter, row = self.emitter, self.emitter.flat.definition(identifier)
        size = str(emitter.pointee(identifier).size)
        if row.opcode == Op.FunctionParameter:
            number = [one.result_id for one in emitter.flat.parameters].index(identifier)
            described = self.parameters[number]
            name, start = argument_name(number, described.name), emitter.number(identifier)
            if described.kind == "value":
                return Buffer(name, start, size, size, True)
            if number in self.lanes.variant.nulls:
                return Buffer(name, start, "0", "0", False, is_null=True)
            return Buffer(name, start, self._table_word(number, 1), self._table_word(number, 2), False)
        name, storage = self._variable_name(identifier), row.words[0]
        if storage == StorageClass.Function:
            slot = emitter.values[identifier][0]  # in the stack's frame, so that it is known everywhere
            assert isinstance(slot, Number)
            start = slot
        else:
            start = emitter.number(identifier)
        writable = "0" if storage == StorageClass.UniformConstant else size
        return Buffer(name, start, size, writable, storage in PRIVATE)

    def _variable_name(self, identifier: int) -> str:
        original = self.emitter.flat.original(identifier)
        return f"variable '{self.emitter.module.names.get(original) or f'%{original}'}'"

    def _table_word(self, entry: int, word: int) -> str:
        """A word of the launch's table of buffers, read at the kernel's start."""
        writer = self.emitter.writer
        table, place = self.lanes.frame.field(Field.BUFFERS), writer.fresh("entry")
        found = writer.fresh("bytes")
        writer.entry += [f"  {place}.table = inttoptr i64 {table} to ptr",
                         f"  {place} = getelementptr i64, ptr {place}.table, i64 {ENTRY_WORDS * entry + word}",
                         f"  {found} = load i64, ptr {place}, align 8"]
        return found

    # --- comparisons ------------------------------------------------------------------

    def _relative(self, pointer: Number, target: Target, lane: str | None = None) -> Number:
        """What is compared: the offset in the buffer if it is known, else the address. ``lane``: the only work-item
        that counts."""
        emitter = self.emitter
        address = _as_integer(emitter, pointer)
        if target.buffer is None:
            return address
        start = _as_integer(emitter, target.buffer.start)
        if lane is not None:
            start = Number("i64", self.lanes.lane_of(start, lane))
        if address.is_linear and start.is_linear:
            return Number("i64", emitter.writer.let(f"sub i64 {address.base}, {start.base}"),
                          address.stride - start.stride)
        return emitter.apply("sub {t} {0}, {1}", "i64", address, start)

    def _outside(self, place: Number, span: Number, target: Target) -> Number:
        """Whether ``span`` bytes from a place on, as _relative gives it, are not all in the target."""
        emitter, buffer = self.emitter, target.buffer
        if buffer is None and not self._checks_all:
            return emitter.apply("icmp ult {t} {0}, {1}", "i1", place, emitter.constant("i64", NEAR_NULL))
        if buffer is None:
            return self._lost(place, span, target)
        allowed = buffer.writable if target.writing else buffer.readable
        if span.is_single and span.base.isdigit():
            limit = Number("i64", self._limit(allowed, span.base))
        else:
            more = Number("i64", emitter.writer.let(f"add i64 {allowed}, 1"))
            limit = emitter.intrinsic("usub.sat", "i64", more, span)
        return emitter.apply("icmp uge {t} {0}, {1}", "i1", place, limit)

    def _limit(self, allowed: str, span: str) -> str:
        """How many offsets are possible for so many bytes; computed at the kernel's start."""
        if allowed.isdigit():
            return str(max(0, int(allowed) + 1 - int(span)))
        if (allowed, span) not in self._limits:
            writer = self.emitter.writer
            lines, writer.lines = writer.lines, writer.entry
            more = writer.let(f"add i64 {allowed}, 1")
            self._limits[allowed, span] = writer.call("i64", "llvm.usub.sat.i64", [("i64", more), ("i64", span)])
            writer.lines = lines
        return self._limits[allowed, span]

    def _lost(self, address: Number, span: Number, target: Target) -> Number:
        """Whether an access through a pointer that may come from anywhere is to no buffer."""
        emitter, writer = self.emitter, self.emitter.writer
        writer.declarations.setdefault("llvm.usub.sat.i64", "declare i64 @llvm.usub.sat.i64(i64, i64)")
        writer.helper("in_buffers", IN_BUFFERS)
        word = str(2 if target.writing else 1)
        memory = self._memory(target.storage)

        def found(*operands: str) -> str:
            return writer.call("i1", "in_buffers", [*(("i64", one) for one in operands), ("i64", word)])

        if address.is_single and span.is_single:
            return Number("i1", writer.let(f"xor i1 {found(*memory, address.base, span.base)}, true"))
        numbers = [*(Number("i64", one) for one in memory), address, span]
        is_there = self.lanes.each(f"in_buffers.each.{word}", numbers, "i8",
                                 lambda *texts: writer.let(f"zext i1 {found(*texts)} to i8"))
        return emitter.apply("icmp eq {t} {0}, {1}", "i1", is_there, emitter.constant("i8", 0))

    def _memory(self, storage: int) -> list[str]:
        """Where a pointer into a storage class may lead: the table of buffers and their number, the work-group's memory
        and its bytes, the ends of the stack's frame."""
        writer = self.emitter.writer
        table, count, local, nbytes, bottom, top = ["0"] * 6
        if storage in GLOBAL or storage == StorageClass.Generic:
            table, count = self.lanes.frame.field(Field.BUFFERS), self.lanes.frame.field(Field.BUFFER_COUNT)
        if storage in (StorageClass.Workgroup, StorageClass.Generic):
            local, nbytes = writer.let("ptrtoint ptr %local to i64"), self.lanes.frame.field(Field.LOCAL_BYTES)
        if storage in PRIVATE or storage == StorageClass.Generic:
            low = writer.call("ptr", "llvm.stacksave.p0", [])
            high = writer.call("ptr", "llvm.frameaddress.p0", [("i32", "0")])
            bottom, top = (writer.let(f"ptrtoint ptr {end} to i64") for end in (low, high))
        return [table, count, local, nbytes, bottom, top]

    # --- faults -----------------------------------------------------------------------

    def _site(self, kind: str, target: Target, size: int) -> AccessSite:
        row = self.emitter.row
        assert row is not None
        name = None if target.buffer is None else target.buffer.name
        return AccessSite(kind, in_words(row.name, self._language), self.emitter.location(), target.writing, size, name)

    def _fail_if(self, bad: Number, site: AccessSite, pointer: Number, target: Target, values: Sequence[Number] = (),
                 good: str | None = None) -> None:
        """End the function where the first work-item that is here and for which ``bad`` holds is at fault; else go on,
        at the label ``good``."""
        emitter, writer = self.emitter, self.emitter.writer
        good = good or writer.fresh("good")[1:]
        fault = writer.fresh("fault")[1:]
        bits, width = "", f"i{emitter.size}"
        if bad.is_single:
            is_bad = bad.base
        else:
            lanes = emitter.lanes(bad)
            if self.lanes.mask is not None:
                lanes = writer.let(f"and {self.lanes.mask_type} {lanes}, {self.lanes.mask}")
            bits = self.lanes.mask_bits(lanes)
            is_bad = writer.let(f"icmp ne {width} {bits}, 0")
        writer.do(f"br i1 {is_bad}, label %{fault}, label %{good}")
        writer.label(fault)
        lane = self.lanes.first_lane() if not bits else resized(emitter, Number(width, writer.call(
            width, f"llvm.cttz.{width}", [(width, bits), ("i1", "true")])), "i32", signed=False).base
        self._note(site, lane, pointer, target.buffer, values)
        writer.do("br label %done")
        writer.label(good)

    def _note(self, site: AccessSite, lane: str, pointer: Number, buffer: Buffer | None,
              values: Sequence[Number]) -> None:
        """Tell the host what a work-item has done."""
        emitter, writer = self.emitter, self.emitter.writer
        self.sites.append(site)
        start = "0" if buffer is None else self.lanes.lane_of(_as_integer(emitter, buffer.start), lane)
        nbytes = "0" if buffer is None else buffer.readable
        own = writer.let(f"zext i32 {lane} to i64")
        texts = [str(len(self.sites) - 1), own, "%gx", "%gy", "%gz", "%sg",
                 self.lanes.lane_of(_as_integer(emitter, pointer), lane), start, nbytes,
                 *(self.lanes.lane_of(value, lane) for value in values), *["0"] * (MOST_VALUES - len(values))]
        assert len(texts) == len(NOTED_WORDS)
        writer.helper("out_of_bounds", OUT_OF_BOUNDS)
        writer.call("void", "out_of_bounds", [("ptr", "%launch"), *(("i64", text) for text in texts)])


def _as_integer(emitter: NumberWriter, pointer: Number) -> Number:
    """Addresses as i64."""
    return pointer if pointer.type == "i64" else addresses(emitter, pointer)


def _parts(kind: Type, offset: int) -> list[tuple[int, int]]:
    """Offset and bytes of each scalar, vector and slice of a matrix in a type."""
    if isinstance(kind, StructType):
        return [part for member, start in zip(kind.members, kind.offsets, strict=True)
                for part in _parts(member, offset + start)]
    if isinstance(kind, ArrayType):
        return [part for number in range(kind.length) for part in _parts(kind.element, offset + number * kind.stride)]
    return [(offset, kind.size if isinstance(kind, MatrixType) else kind.count * kind.scalar.size)]
