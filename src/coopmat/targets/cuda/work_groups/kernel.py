"""The code of a kernel with a pipeline: a function for each role, and the kernel that calls them for its work-groups.

As many work-groups run as the GPU has multiprocessors; each does several of the launch's, in an order in which
neighbours read the same tiles at about the same time.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from coopmat.targets.cuda.lanes import CONVERGENT, SHARED, WARP, Variant
from coopmat.targets.cuda.succession import let_next_begin, wait_for_previous
from coopmat.targets.cuda.work_groups.lanes import EXISTS, GROUP
from coopmat.targets.cuda.work_groups.pipeline import (
    BARRIER_BYTES,
    CLUSTER,
    Schedule,
    fetchers_of,
    fetching_registers,
    registers_of,
    threads_of,
    unit_of,
)
from coopmat.targets.cuda.work_groups.rings import STATE
from coopmat.targets.llvm.emitter import Emitter
from coopmat.targets.llvm.threads.launch import LAUNCH, WORD_BYTES, LaunchBlock, Slot, Word
from coopmat.targets.llvm.writer import METADATA, Writer

ROLES = ("compute", "fetch")
SIDE = 8  # work-groups of a block of neighbours, along y
_SHARED = f"ptr addrspace({SHARED})"
_PARAMETERS = ", ".join([f"ptr {LAUNCH}", *(f"i64 {name}" for name in GROUP), f"ptr {STATE}", f"i1 {EXISTS}"])


def role_function(emitter: Emitter, symbol: str, role: str) -> list[str]:
    """The function of a role, whose code an emitter has written."""
    writer = emitter.writer
    return [f"define internal void @{symbol}.{role}({_PARAMETERS}) alwaysinline #2 {{", "entry:", *writer.entry,
            *writer.lines, "  ret void", "}"]


def kernel_text(emitters: Sequence[Emitter], symbol: str, variant: Variant, schedule: Schedule, maps: Sequence[Slot],
                block: LaunchBlock, alignment: int) -> str:
    """The module with a kernel. maps: where its tensor maps are."""
    writer = Writer()
    _Kernel(writer, symbol, variant, schedule, maps).write()
    declared: dict[str, str] = {}
    helpers: dict[str, str] = {}
    for one in (*(emitter.writer for emitter in emitters), writer):
        declared |= one.declarations
        helpers |= one.helpers
    threads = threads_of(variant)
    cluster = "" if variant.cluster is None else f' "nvvm.cluster_dim"="{CLUSTER},1,1"'
    return "\n".join([
        f"@local_memory = external addrspace({SHARED}) global [0 x i8], align 1024",
        *declared.values(), *helpers.values(),
        *(line for emitter, role in zip(emitters, ROLES, strict=True) for line in role_function(emitter, symbol, role)),
        f"define ptx_kernel void @{symbol}(ptr byval([{block.nbytes} x i8]) align {alignment} "
        f'"nvvm.grid_constant" {LAUNCH}) #0 {{',
        "entry:", *writer.entry, *writer.lines, "  ret void", "}",
        f'attributes #0 = {{ convergent nounwind "nvvm.reqntid"="{threads},1,1" "nvvm.minctasm"="1"{cluster} }}',
        "attributes #1 = { convergent nounwind }", "attributes #2 = { convergent nounwind }", METADATA, "!0 = !{}"])


class _Kernel:
    """Writes the kernel's own function."""

    def __init__(self, writer: Writer, symbol: str, variant: Variant, schedule: Schedule,
                 maps: Sequence[Slot]) -> None:
        self.writer, self.symbol, self.variant, self.schedule, self.maps = writer, symbol, variant, schedule, maps
        self.axis = variant.cluster

    def write(self) -> None:
        """Set up the barriers, and part into roles."""
        writer, total = self.writer, math.prod(self.variant.local_size)
        let_next_begin(writer, self.variant.chip)
        thread = self._register("tid.x")
        for slot in self.maps:
            address = writer.let(f"getelementptr i8, ptr {LAUNCH}, i64 {slot.offset}")
            writer.do(f'call void asm sideeffect "prefetch.tensormap [$0];", "l"(ptr {address})')
        writer.when(writer.let(f"icmp eq i32 {thread}, 0"), self._initialise)
        self._meet(".aligned")
        wait_for_previous(writer, self.variant.chip)
        warp = writer.call("i32", "llvm.nvvm.shfl.sync.idx.i32", [
            ("i32", "-1"), ("i32", writer.let(f"lshr i32 {thread}, 5")), ("i32", "0"), ("i32", "31")], CONVERGENT)
        computes = writer.let(f"icmp ult i32 {warp}, {total // WARP}")
        labels = [writer.fresh(role)[1:] for role in ROLES]
        end, others = writer.fresh("end")[1:], writer.fresh("others")[1:]
        writer.do(f"br i1 {computes}, label %{labels[0]}, label %{others}")
        writer.label(others)
        self._set_registers("dec", fetching_registers(self.variant))
        fetches = writer.let(f"icmp ult i32 {warp}, {(total + fetchers_of(self.variant)) // WARP}")
        writer.do(f"br i1 {fetches}, label %{labels[1]}, label %{end}")
        for role, label in zip(ROLES, labels, strict=True):
            writer.label(label)
            if role == ROLES[0]:
                self._set_registers("inc", registers_of(self.variant))
            self._loop(role)
            if role == ROLES[0] and self.schedule.stores:  # no thread ends before what it sends has left
                writer.call("void", "llvm.nvvm.cp.async.bulk.wait.group", [("i32", "0")], CONVERGENT)
            writer.do(f"br label %{end}")
        writer.label(end)
        if self.axis is not None:  # none ends while its neighbour may still write to its memory
            self._meet("")

    def _set_registers(self, direction: str, count: int | None) -> None:
        """Give registers of this warp group away, or take some."""
        if registers_of(self.variant) is not None:
            self.writer.call("void", f"llvm.nvvm.setmaxnreg.{direction}.sync.aligned.u32", [("i32", str(count))],
                             CONVERGENT)

    def _meet(self, manner: str) -> None:
        """Wait for all threads, of the cluster if there is one."""
        if self.axis is None:
            self.writer.call("void", "llvm.nvvm.barrier.cta.sync.aligned.all", [("i32", "0")], CONVERGENT)
            return
        for step in ("arrive.relaxed", "wait"):
            self.writer.call("void", f"llvm.nvvm.barrier.cluster.{step}{manner}", [], CONVERGENT)

    def _register(self, name: str) -> str:
        return self.writer.call("i32", f"llvm.nvvm.read.ptx.sreg.{name}", [])

    def _initialise(self) -> None:
        """The barriers: at a full one the fetching threads arrive, at an empty one each warp group or warp."""
        writers = fetchers_of(self.variant) if self.variant.pipeline == "copies" else 1
        readers = math.prod(self.variant.local_size) // unit_of(self.variant) * (1 if self.axis is None else CLUSTER)
        for ring in {ring.number: ring for ring in self.schedule.rings.values()}.values():
            for number in range(2 * ring.stages):
                address = self._shared(ring.barriers + number * BARRIER_BYTES)
                self.writer.call("void", "llvm.nvvm.mbarrier.init.shared", [
                    (_SHARED, address), ("i32", str(writers if number < ring.stages else readers))], CONVERGENT)
        if self.variant.chip.has(90):
            self.writer.call("void", "llvm.nvvm.fence.mbarrier_init.release.cluster", [], CONVERGENT)

    @staticmethod
    def _shared(place: int) -> str:
        return f"getelementptr (i8, {_SHARED} @local_memory, i32 {place})"

    def _loop(self, role: str) -> None:
        """A role's work-groups, one after the other: a round of them for all multiprocessors, then the next one, each
        in the other direction than the one before, so that work that grows along the launch is shared evenly."""
        writer, let = self.writer, self.writer.let
        state = writer.slot(f"[{8 * len(self.schedule.rings)} x i8]", align=8, initial="zeroinitializer")
        real = [let(f"trunc i64 {self._word(Word.GROUPS + axis)} to i32") for axis in range(3)]
        counts = [let(f"lshr i32 {let(f'add i32 {one}, {CLUSTER - 1}')}, 1") if axis == self.axis else one
                  for axis, one in enumerate(real)]
        plane = let(f"mul i32 {counts[0]}, {counts[1]}")
        total = let(f"mul i32 {plane}, {counts[2]}")
        kind = "ctaid.x" if self.axis is None else "clusterid.x"
        first, step = self._register(kind), self._register(f"n{kind}")
        start, own = (writer.slot("i32") for _ in range(2))
        writer.do(f"store i32 0, ptr {start}")
        writer.do(f"store i32 {first}, ptr {own}")
        again, body, done = (writer.fresh(name)[1:] for name in ("again", "group", "done"))
        writer.do(f"br label %{again}")
        writer.label(again)
        round_start, place_in_round = let(f"load i32, ptr {start}"), let(f"load i32, ptr {own}")
        number = let(f"add i32 {round_start}, {place_in_round}")
        writer.do(f"br i1 {let(f'icmp ult i32 {number}, {total}')}, label %{body}, label %{done}")
        writer.label(body)
        place, exists = [*self._position(number, counts, plane)], "true"
        if self.axis is not None:
            place[self.axis], exists = self._of_cluster(place[self.axis], real[self.axis])
        position = [let(f"zext i32 {one} to i64") for one in place]
        operands = ", ".join([f"ptr {LAUNCH}", *(f"i64 {one}" for one in position), f"ptr {state}", f"i1 {exists}"])
        writer.do(f"call void @{self.symbol}.{role}({operands})")
        writer.do(f"store i32 {let(f'add i32 {round_start}, {step}')}, ptr {start}")
        last = let(f"sub i32 {step}, 1")
        writer.do(f"store i32 {let(f'sub i32 {last}, {place_in_round}')}, ptr {own}")
        writer.do(f"br label %{again}, !llvm.loop !90000")
        writer.label(done)

    def _of_cluster(self, place: str, count: str) -> tuple[str, str]:
        """The work-group of a cluster's position along its axis, and whether there is one; else its neighbour's."""
        let = self.writer.let
        own = let(f"add i32 {let(f'shl i32 {place}, 1')}, {self._register('cluster.ctarank')}")
        exists = let(f"icmp ult i32 {own}, {count}")
        return let(f"select i1 {exists}, i32 {own}, i32 {let(f'sub i32 {count}, 1')}"), exists

    def _word(self, place: int) -> str:
        address = self.writer.let(f"getelementptr i8, ptr {LAUNCH}, i64 {place * WORD_BYTES}")
        return self.writer.let(f"load i64, ptr {address}, align 8, !invariant.load !0")

    def _position(self, number: str, counts: Sequence[str], plane: str) -> tuple[str, str, str]:
        """The work-group of a number: planes, in them bands of some rows, which are walked column by column."""
        let = self.writer.let
        z, rest = let(f"udiv i32 {number}, {plane}"), let(f"urem i32 {number}, {plane}")
        whole = let(f"mul i32 {counts[0]}, {SIDE}")
        band, within = let(f"udiv i32 {rest}, {whole}"), let(f"urem i32 {rest}, {whole}")
        top = let(f"mul i32 {band}, {SIDE}")
        left = let(f"sub i32 {counts[1]}, {top}")
        is_last = let(f"icmp ult i32 {left}, {SIDE}")
        height = let(f"select i1 {is_last}, i32 {left}, i32 {SIDE}")
        x = let(f"udiv i32 {within}, {height}")
        y = let(f"add i32 {top}, {let(f'urem i32 {within}, {height}')}")
        return x, y, z


