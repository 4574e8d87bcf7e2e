"""Memory as the work-items of a vector access it: one number for all, vectors, or gathered and scattered."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from coopmat.spirv.grammar import Op, StorageClass
from coopmat.support.cached import cached_property
from coopmat.targets.cpu.host.frame import Field
from coopmat.targets.cpu.lanes.loops import for_each_lane, for_each_value
from coopmat.targets.cpu.lanes.masks import Masks
from coopmat.targets.cpu.lanes.spread import Spread, load_spread, store_spread
from coopmat.targets.cpu.prefetch import prefetch
from coopmat.targets.cpu.rounds import blocks_of_rests
from coopmat.targets.llvm.values import Number, bits_of, suffix

MASKED = {1: "avx512bw", 2: "avx512bw", 4: "avx", 8: "avx"}
GATHERED = {4: "avx2", 8: "avx2"}
SCATTERED = {4: "avx512f", 8: "avx512f"}
"""The features that have these accesses for some work-items only, by the bytes of a number. Without them LLVM makes a
branch for each work-item of every access, which takes it very long where there are many."""
PARTED = MASKED | SCATTERED
"""The features with which parts of vectors are stored, where it is known which: by masks of AVX-512. Stores with AVX's
take AMD's processors longer than one for each number."""
MOST_TWO_WAYS = 256  # accesses that are written twice, in one kernel
MOST_SPELT_OUT = 32  # accesses that LLVM spells out for each work-item, in one kernel


class Memory(Masks):
    """Accesses memory for the work-items that are here."""

    most_aligned = 0
    @cached_property
    def _rests(self) -> set[int]:
        """The blocks in which work-items finish loops, of which nothing is told."""
        return blocks_of_rests(self.emitter.flat)

    _two_ways = 0  # accesses that are written twice, so far
    _spelt_out = 0  # gathers and scatters without an instruction, so far

    def load(self, pointer: Number, llvm: str, alignment: int, *, volatile: bool = False) -> Number:
        """A number of each work-item that is here."""
        if self._is_two_ways(pointer):
            return self._in_two_ways(pointer, lambda one: self.load(one, llvm, alignment, volatile=volatile))
        emitter, writer = self.emitter, self.writer
        vector, size = emitter.vector(llvm), bits_of(llvm) // 8
        self._tell(pointer, size, GATHERED, volatile=volatile)
        kind = "load volatile" if volatile else "load"
        if pointer.is_single:
            return Number(llvm, writer.let(f"{kind} {llvm}, ptr {pointer.base}, align {alignment}"))
        if pointer.is_linear and pointer.stride == size:
            if self.mask is None:
                return emitter.varying(llvm, writer.let(f"{kind} {vector}, ptr {pointer.base}, align {alignment}"))
            if not self._has(MASKED, size):
                return self._one_by_one(pointer, None, llvm, alignment)
            return emitter.varying(llvm, writer.call(vector, f"llvm.masked.load.{suffix(vector)}.p0", [
                ("ptr", f"align {alignment} {pointer.base}"), (self.mask_type, self.mask_text),
                (vector, "zeroinitializer")]))
        spread = None if volatile or self.mask is not None else Spread.of(pointer, size, self.size)
        if spread is not None:
            return emitter.varying(llvm, load_spread(writer, spread, llvm, alignment))
        if self._needs_loop(GATHERED, size):
            return self._one_by_one(pointer, None, llvm, alignment)
        pointers = emitter.vector("ptr")
        return emitter.varying(llvm, writer.call(vector, f"llvm.masked.gather.{suffix(vector)}.{suffix(pointers)}", [
            (pointers, f"align {alignment} {emitter.lanes(pointer)}"), (self.mask_type, self.mask_text),
            (vector, "zeroinitializer")]))

    def store(self, pointer: Number, number: Number, alignment: int, *, volatile: bool = False) -> None:
        """Write a number of each work-item that is here; of several at one place, the last one's."""
        if self._is_two_ways(pointer):
            self._in_two_ways(pointer, lambda one: self.store(one, number, alignment, volatile=volatile))
            return
        emitter, writer = self.emitter, self.writer
        vector, size = emitter.vector(number.type), bits_of(number.type) // 8
        self._tell(pointer, size, SCATTERED, volatile=volatile)
        kind = "store volatile" if volatile else "store"
        if pointer.is_single:
            writer.do(f"{kind} {number.type} {self.last(number)}, ptr {pointer.base}, align {alignment}")
            return
        lanes = emitter.lanes(number)
        if pointer.is_linear and pointer.stride == size:
            if self.mask is None:
                writer.do(f"{kind} {vector} {lanes}, ptr {pointer.base}, align {alignment}")
                return
            if not self._has(MASKED, size):
                self._one_by_one(pointer, number, number.type, alignment)
                return
            writer.call("void", f"llvm.masked.store.{suffix(vector)}.p0", [
                (vector, lanes), ("ptr", f"align {alignment} {pointer.base}"), (self.mask_type, self.mask_text)])
            return
        spread = None if volatile or self.mask is not None else Spread.of(pointer, size, self.size)
        if spread is not None:
            store_spread(writer, spread, number.type, lanes, alignment, masked=self._is_masked(spread, size))
            return
        if self._needs_loop(SCATTERED, size):
            self._one_by_one(pointer, number, number.type, alignment)
            return
        pointers = emitter.vector("ptr")
        writer.call("void", f"llvm.masked.scatter.{suffix(vector)}.{suffix(pointers)}", [
            (vector, lanes), (pointers, f"align {alignment} {emitter.lanes(pointer)}"),
            (self.mask_type, self.mask_text)])

    def _tell(self, pointer: Number, size: int, needed: Mapping[int, str], *, volatile: bool) -> None:
        """Note how an access of the source is carried out, and if not by whole vectors, why not."""
        row = self.emitter.row
        if row is None or row.opcode not in (Op.Load, Op.Store) or pointer.is_single:
            return
        if self.emitter.block in self._rests:
            return
        reads = row.opcode == Op.Load
        kind = "reads" if reads else "writes"
        spread = None if volatile or self.mask is not None else Spread.of(pointer, size, self.size)
        if pointer.is_linear and pointer.stride == size:
            how = f"{kind} of whole vectors" if self.mask is None else f"{kind} of vectors with a mask"
            if self.mask is not None and not self._has(MASKED, size):
                how = f"{kind} by one work-item after the other, as the processor has no masks for {size} bytes"
        elif spread is not None:
            way = "of whole vectors and shuffles" if reads or self._is_masked(spread, size) else "one by one"
            how = f"{kind} {way}, of numbers {abs(pointer.stride)} bytes apart"
        else:
            way = "gathers" if reads else "scatters"
            if not self._has(needed, size):
                way = f"{kind} by one work-item after the other"
            how = f"{way}, as {self._reason(pointer)}"
        self.accesses.add(how, self.emitter.location())

    def _reason(self, pointer: Number) -> str:
        """Why an access is not one of whole vectors."""
        if not pointer.is_linear:
            return "the addresses of neighbouring work-items are no known distance apart"
        if self.mask is not None:
            return f"they are {abs(pointer.stride)} bytes apart, and not all work-items are there"
        return f"they are {abs(pointer.stride)} bytes apart"

    def _is_two_ways(self, pointer: Number) -> bool:
        """Whether an access is written twice: as pointers mostly are, and as they may be."""
        if pointer.near is None or self._two_ways >= MOST_TWO_WAYS:
            return False
        self._two_ways += 1
        return True

    def _in_two_ways(self, pointer: Number, access: Callable[[Number], Number | None]) -> Number:
        """An access with what is mostly known of a pointer where that holds, and with each work-item's own elsewhere;
        what it gives."""
        writer, near = self.writer, pointer.near
        assert near is not None
        names = [writer.fresh(name)[1:] for name in ("near", "own", "both")]
        writer.do(f"br i1 {near.condition}, label %{names[0]}, label %{names[1]}")
        found = []
        for name, one in zip(names, (Number("ptr", near.base, near.stride), replace(pointer, near=None)), strict=False):
            writer.label(name)
            number = access(one)
            text = "" if number is None else self.emitter.lanes(number)
            found.append((number, text, writer.block))
            writer.do(f"br label %{names[2]}")
        writer.label(names[2])
        if found[0][0] is None:
            return Number("", "")
        llvm = found[0][0].type
        ways = ", ".join(f"[ {text}, %{block} ]" for _, text, block in found)
        return self.emitter.varying(llvm, writer.let(f"phi {self.emitter.vector(llvm)} {ways}"))

    def _needs_loop(self, needed: Mapping[int, str], size: int) -> bool:
        """Whether one more gather or scatter is written as a loop, because LLVM would spell it out and that is too
        long: with a branch for each access, or after many others, which are counted here."""
        if self._has(needed, size):
            return False
        self._spelt_out += 1
        return self.mask is not None or self._spelt_out > MOST_SPELT_OUT

    def _is_masked(self, spread: Spread, size: int) -> bool:
        """Whether numbers that lie apart are stored by vectors with masks; without any where they fill them."""
        return spread.steps == 1 or self._has(PARTED, size)

    def _has(self, needed: Mapping[int, str], size: int) -> bool:
        return needed.get(size) in self.variant.features

    def _one_by_one(self, pointer: Number, number: Number | None, llvm: str, alignment: int) -> Number:
        """A load, or a store of a number, for one work-item after the other."""
        writer = self.writer
        varying = self.emitter.varying("ptr", self.emitter.lanes(pointer))
        if number is None:
            return self.each(f"load.{suffix(llvm)}.{alignment}", [varying], llvm,
                             lambda address: writer.let(f"load {llvm}, ptr {address}, align {alignment}"))

        def store(address: str, text: str) -> None:
            writer.do(f"store {llvm} {text}, ptr {address}, align {alignment}")

        return self.each(f"store.{suffix(llvm)}.{alignment}", [varying, number], None, store)

    def copy_bytes(self, target: Number, source: Number, count: Number) -> None:
        """Copy so many bytes for each work-item that is here."""
        writer = self.writer
        for lane in range(self.size):
            skip, copy = writer.fresh("skip")[1:], writer.fresh("copy")[1:]
            here = writer.let(f"extractelement {self.mask_type} {self.mask_text}, i32 {lane}")
            writer.do(f"br i1 {here}, label %{copy}, label %{skip}")
            writer.label(copy)
            writer.call("void", "llvm.memmove.p0.p0.i64", [
                *(("ptr", self.lane_of(one, str(lane))) for one in (target, source)),
                ("i64", self.lane_of(count, str(lane))), ("i1", "false")])
            writer.do(f"br label %{skip}")
            writer.label(skip)

    # --- addresses --------------------------------------------------------------------

    def private(self, nbytes: int) -> tuple[Number, int]:
        """Memory of each work-item: the pointer, and the bytes that all have together."""
        total = nbytes * self.size
        self.frame.reserve_stack(total)
        return Number("ptr", self.writer.slot(f"[{total} x i8]", align=64), nbytes), total

    def local(self, nbytes: int) -> str:
        """So many bytes of the work-group's local memory."""
        return self.frame.local(nbytes)

    def variable(self, identifier: int) -> str:
        """The address of a variable of the module."""
        return self.frame.variable(identifier)

    def beside(self, address: str, nbytes: int) -> Number:
        """Pointers of neighbouring work-items so many bytes apart."""
        return Number("ptr", address, nbytes)

    def prefetch(self, pointer: Number, count: Number, nbytes: int) -> None:
        """What each work-item asks for. Pointers that vary are left alone."""
        if not pointer.is_linear or not count.is_single:
            return
        bytes_ = self.writer.let(f"mul i64 {count.base}, {nbytes}")
        span = abs(pointer.stride) * (self.size - 1)
        prefetch(self.writer, pointer.base, "1", self.writer.let(f"add i64 {bytes_}, {span}"), "0")

    def is_in_storage(self, pointer: Number, storage: int) -> Number:
        """Whether an address lies in a storage class."""
        emitter, writer = self.emitter, self.writer
        address = emitter.apply("ptrtoint {t} {0} to {r}", "i64", pointer)
        start = writer.let("ptrtoint ptr %local to i64")
        local = self._within(address, start, writer.let(f"add i64 {start}, {self.frame.field(Field.LOCAL_BYTES)}"))
        top = writer.call("ptr", "llvm.frameaddress.p0", [("i32", "0")])
        bottom = writer.call("ptr", "llvm.stacksave.p0", [])
        private = self._within(address, writer.let(f"ptrtoint ptr {bottom} to i64"),
                               writer.let(f"ptrtoint ptr {top} to i64"))
        if storage == StorageClass.Workgroup:
            return local
        if storage in (StorageClass.Function, StorageClass.Private):
            return private
        either = emitter.apply("or {t} {0}, {1}", "i1", local, private)
        return emitter.apply("xor {t} {0}, {1}", "i1", either, Number("i1", "true"))

    def _within(self, address: Number, start: str, end: str) -> Number:
        emitter = self.emitter
        above = emitter.apply("icmp uge {t} {0}, {1}", "i1", address, Number("i64", start))
        below = emitter.apply("icmp ult {t} {0}, {1}", "i1", address, Number("i64", end))
        return emitter.apply("and {t} {0}, {1}", "i1", above, below)

    # --- work-items one by one --------------------------------------------------------

    def each(self, name: str, operands: Sequence[Number], result: str | None,
             body: Callable[..., str | None]) -> Number:
        """Do something for each work-item that is here, in order."""
        return for_each_lane(self, name, operands, result, body)

    def each_value(self, number: Number, body: Callable[[Number], None]) -> None:
        """Do something once for each value that a number has among the work-items that are here."""
        for_each_value(self, number, body)

    def keep_masked(self, number: Number, address: str, mask: str | None) -> None:
        """Store a number of every work-item in the kernel's own memory, where only the sub-group looks."""
        vector, text = self.emitter.vector(number.type), self.emitter.lanes(number)
        if self.is_part(mask):
            old = self.writer.let(f"load {vector}, ptr {address}")
            text = self.writer.let(f"select {self.mask_type} {mask}, {vector} {text}, {vector} {old}")
        self.writer.do(f"store {vector} {text}, ptr {address}")

    def by_value(self, number: Number, llvm: str, body: Callable[[Number], Number]) -> Number:
        """As ``each_value``, for what ``body`` gives."""
        vector = self.emitter.vector(llvm)
        found = self.writer.slot(vector, initial="zeroinitializer")
        self.each_value(number, lambda one: self.keep_masked(body(one), found, self.mask))
        return self.emitter.varying(llvm, self.writer.let(f"load {vector}, ptr {found}"))
