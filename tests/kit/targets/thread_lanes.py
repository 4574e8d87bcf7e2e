"""An execution model in which a work-item is a thread, for GPUs: every number is one number.

It shows that the compiler asks the machine for everything that differs: with these lanes and nothing else, kernels
without matrices become code for NVIDIA's and AMD's GPUs. They are compiled and assembled, not run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from coopmat.diagnostics import Error
from coopmat.spirv.analysis.dominators import immediate_dominators
from coopmat.spirv.analysis.types import Type, TypeTable
from coopmat.spirv.grammar import BuiltIn, GroupOperation, Scope, StorageClass
from coopmat.spirv.module import EntryPoint
from coopmat.targets.analysis.large_values import Prepared
from coopmat.targets.llvm.access import load_value, offset_pointer
from coopmat.targets.llvm.arithmetic.conversions import reinterpreted
from coopmat.targets.llvm.arithmetic.integers import bounded, resized
from coopmat.targets.llvm.emitter import Emitter, Machine
from coopmat.targets.llvm.families import HANDLERS
from coopmat.targets.llvm.kernel import bind, flattened, module_text, traced
from coopmat.targets.llvm.lanes import Numbers, Source, Update
from coopmat.targets.llvm.reductions import Folding
from coopmat.targets.llvm.values import Matrix, Number, Value, bits_of, literal, llvm_type, zero_of

SIZES, LOCAL_SIZES, OFFSETS, GROUPS, DIMENSIONS, OUTPUT, VARIABLES = 0, 3, 6, 9, 12, 13, 16
"""The 64-bit words of a launch, by their positions; the addresses of variables come last."""
MOST_WORK_ITEMS = 1024


@dataclass(frozen=True, eq=False)
class Gpu:
    """What differs between the GPUs. convention: of a kernel's function. shuffle: the operand of a lane (an i32 as
    text), given a writer's ``call``, a value and that lane. ballot: LLVM's function and its type. axes: the functions
    that give a work-item's and a work-group's position. library: the names of the mathematical library's functions.
    in_storage: the functions that tell where an address leads."""

    triple: str
    cpu: str
    features: str
    convention: str
    stack: int
    sub_group_size: int
    library: str
    local_id: tuple[str, str, str]
    group_id: tuple[str, str, str]
    shuffle: Callable[[Emitter, str, str], str]
    ballot: tuple[str, str]
    barrier: tuple[str, ...]
    sub_group_barrier: str
    in_storage: Mapping[int, str]


def _axes(before: str, after: str = "") -> tuple[str, str, str]:
    x, y, z = (f"{before}{axis}{after}" for axis in "xyz")
    return x, y, z


NVIDIA = Gpu(
    "nvptx64-nvidia-cuda", "sm_80", "+ptx83", "ptx_kernel", 0, 32, "__nv_{}", _axes("llvm.nvvm.read.ptx.sreg.tid."),
    _axes("llvm.nvvm.read.ptx.sreg.ctaid."),
    lambda emitter, value, lane: emitter.writer.call("i32", "llvm.nvvm.shfl.sync.idx.i32", [
        ("i32", "-1"), ("i32", value), ("i32", lane), ("i32", "31")]),
    ("llvm.nvvm.vote.ballot.sync", "i32"), ("call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)",),
    "call void @llvm.nvvm.bar.warp.sync(i32 -1)",
    {StorageClass.Workgroup: "llvm.nvvm.isspacep.shared", StorageClass.Function: "llvm.nvvm.isspacep.local",
     StorageClass.Private: "llvm.nvvm.isspacep.local", StorageClass.CrossWorkgroup: "llvm.nvvm.isspacep.global"})
AMD = Gpu(
    "amdgcn-amd-amdhsa", "gfx90a", "", "amdgpu_kernel", 5, 64, "__ocml_{}_f64", _axes("llvm.amdgcn.workitem.id."),
    _axes("llvm.amdgcn.workgroup.id."),
    lambda emitter, value, lane: emitter.writer.call("i32", "llvm.amdgcn.ds.bpermute", [
        ("i32", emitter.writer.let(f"shl i32 {lane}, 2")), ("i32", value)]),
    ("llvm.amdgcn.ballot.i64", "i64"),
    ('fence syncscope("workgroup") release', "call void @llvm.amdgcn.s.barrier()",
     'fence syncscope("workgroup") acquire'), "call void @llvm.amdgcn.wave.barrier()",
    {StorageClass.Workgroup: "llvm.amdgcn.is.shared", StorageClass.Function: "llvm.amdgcn.is.private",
     StorageClass.Private: "llvm.amdgcn.is.private"})


class ThreadLanes:
    """The lanes of threads; see :class:`~coopmat.targets.llvm.lanes.Lanes`."""

    def __init__(self, emitter: Emitter, gpu: Gpu) -> None:
        self.emitter, self.writer, self.gpu = emitter, emitter.writer, gpu
        self.size = gpu.sub_group_size
        self.flow = emitter.flat.flow
        self.globals: list[str] = []
        self.variables: list[int] = []
        self._slots: dict[Any, str] = {}
        self._words: dict[int, str] = {}
        sources: dict[int, list[int]] = {block: [] for block in self.flow.order}
        for block in self.flow.order:
            for target in self.flow.successors[block]:
                sources[target].append(block)
        self._dominators = immediate_dominators(
            self.flow.order[0], self.flow.successors.__getitem__, sources.__getitem__)

    # --- control flow -----------------------------------------------------------------

    @property
    def order(self) -> Sequence[int]:
        return self.flow.order

    def dominates(self, defining: int, using: int) -> bool:
        while using != defining:
            above = self._dominators[using]
            if above == using:
                return False
            using = above
        return True

    def begin(self) -> None:
        self.writer.do(f"br label %b{self.flow.order[0]}")

    def enter(self, block: int) -> None:
        self.writer.label(f"b{block}")

    def leave_latch(self) -> None:
        [head] = self.flow.successors[self.emitter.block]
        self.writer.do(f"br label %b{head}")

    def finish(self) -> None:
        self.writer.label("done")

    def end(self) -> None:
        self.writer.do("br label %done")

    def jump(self, label: int) -> None:
        target = self.emitter.block_numbers[label]
        for identifier, value in self.emitter.phi_values(target):
            self.emitter.store_slots(("value", identifier), value)
        self.writer.do(f"br label %b{self.flow.way(self.emitter.block, target)}")

    def _possible(self, labels: Sequence[int]) -> list[int]:
        successors = self.flow.successors[self.emitter.block]
        return [label for label in dict.fromkeys(labels)
                if self.flow.way(self.emitter.block, self.emitter.block_numbers[label]) in successors]

    def branch(self, condition: Number, then: int, otherwise: int) -> None:
        targets = self._possible((then, otherwise))
        if len(targets) == 1:
            self.jump(targets[0])
            return
        names = [self.writer.fresh("edge")[1:] for _ in targets]
        self.writer.do(f"br i1 {condition.base}, label %{names[0]}, label %{names[1]}")
        self._edges(dict(zip(targets, names, strict=True)))

    def switch(self, value: Number, default: int, cases: Mapping[int, int]) -> None:
        targets = self._possible((default, *cases.values()))
        default = default if default in targets else targets[0]
        names = {label: self.writer.fresh("edge")[1:] for label in targets}
        table = " ".join(f"{value.type} {literal(value.type, found)}, label %{names[label]}"
                         for found, label in cases.items() if label in targets)
        self.writer.do(f"switch {value.type} {value.base}, label %{names[default]} [ {table} ]")
        self._edges(names)

    def _edges(self, names: Mapping[int, str]) -> None:
        for label, name in names.items():
            self.writer.label(name)
            self.jump(label)

    # --- slots ------------------------------------------------------------------------

    def _slot(self, key: Any, llvm: str) -> str:
        if key not in self._slots:
            self._slots[key] = self.writer.slot(llvm, initial=zero_of(llvm))
        return self._slots[key]

    def load_slot(self, key: Any, llvm: str) -> Number:
        return Number(llvm, self.writer.let(f"load {llvm}, ptr {self._slot(key, llvm)}"))

    def store_slot(self, key: Any, number: Number, *, everywhere: bool = False) -> None:
        self.writer.do(f"store {number.type} {number.base}, ptr {self._slot(key, number.type)}")

    def _element(self, key: Any, count: int, llvm: str, index: str) -> str:
        if key not in self._slots:
            self._slots[key] = self.writer.slot(f"[{count} x {llvm}]", align=16)
        return self.writer.let(f"getelementptr {llvm}, ptr {self._slots[key]}, i64 {index}")

    def load_element(self, key: Any, count: int, llvm: str, index: Number) -> Number:
        return Number(llvm, self.writer.let(f"load {llvm}, ptr {self._element(key, count, llvm, index.base)}"))

    def store_element(self, key: Any, count: int, index: Number, number: Number) -> None:
        address = self._element(key, count, number.type, index.base)
        self.writer.do(f"store {number.type} {number.base}, ptr {address}")

    def clear_elements(self, key: Any, count: int, llvm: str) -> None:
        address = self._element(key, count, llvm, "0")
        self.writer.call("void", "llvm.memset.p0.i64", [
            ("ptr", address), ("i8", "0"), ("i64", str(count * bits_of(llvm) // 8)), ("i1", "false")])

    # --- memory -----------------------------------------------------------------------

    def load(self, pointer: Number, llvm: str, alignment: int, *, volatile: bool = False) -> Number:
        kind = "load volatile" if volatile else "load"
        return Number(llvm, self.writer.let(f"{kind} {llvm}, ptr {pointer.base}, align {alignment}"))

    def store(self, pointer: Number, number: Number, alignment: int, *, volatile: bool = False) -> None:
        kind = "store volatile" if volatile else "store"
        self.writer.do(f"{kind} {number.type} {number.base}, ptr {pointer.base}, align {alignment}")

    def copy_bytes(self, target: Number, source: Number, count: Number) -> None:
        raise AssertionError("every number is one")

    def private(self, nbytes: int) -> tuple[Number, int]:
        return Number("ptr", self.writer.slot(f"[{nbytes} x i8]", align=16)), nbytes

    def local(self, nbytes: int) -> str:
        name = f"@local.{len(self.globals)}"
        self.globals.append(f"{name} = internal addrspace(3) global [{nbytes} x i8] undef, align 64")
        text = self.writer.fresh("local")
        self.writer.entry.append(f"  {text} = addrspacecast ptr addrspace(3) {name} to ptr")
        return text

    def variable(self, identifier: int) -> str:
        if identifier not in self.variables:
            self.variables.append(identifier)
        text = self.writer.fresh("variable")
        word = self._word(VARIABLES + self.variables.index(identifier))
        self.writer.entry.append(f"  {text} = inttoptr i64 {word} to ptr")
        return text

    def is_in_storage(self, pointer: Number, storage: int) -> Number:
        if storage in self.gpu.in_storage:
            return Number("i1", self.writer.call("i1", self.gpu.in_storage[storage], [("ptr", pointer.base)]))
        own = [self.is_in_storage(pointer, one) for one in (StorageClass.Workgroup, StorageClass.Private)]
        either = self.emitter.apply("or {t} {0}, {1}", "i1", *own)
        return self.emitter.apply("xor {t} {0}, {1}", "i1", either, Number("i1", "true"))

    def beside(self, address: str, nbytes: int) -> Number:
        return offset_pointer(self.emitter, Number("ptr", address), self.lane_number("i64"), nbytes)

    def prefetch(self, pointer: Number, count: Number, nbytes: int) -> None:
        pass

    # --- one by one -------------------------------------------------------------------

    def each(self, name: str, operands: Sequence[Number], result: str | None,
             body: Callable[..., str | None]) -> Number:
        return Number(result or "", body(*(operand.base for operand in operands)) or "")

    def each_value(self, number: Number, body: Callable[[Number], None]) -> None:
        raise AssertionError("only matrices under indices that vary need it")

    def by_value(self, number: Number, llvm: str, body: Callable[[Number], Number]) -> Number:
        raise AssertionError("only matrices under indices that vary need it")

    def first(self, *numbers: Number) -> list[str]:
        return [number.base for number in numbers]

    def last(self, number: Number) -> str:
        return number.base

    def is_joint(self, number: Number) -> bool:
        return number.base.isdigit()

    def update_together(self, update: Update, pointer: Number, number: Number, order: str, *,
                        is_used: bool) -> Number | None:
        return None

    # --- the sub-group ----------------------------------------------------------------

    def lane_number(self, llvm: str) -> Number:
        linear = Number("i64", self._linear())
        lane = self.emitter.apply("and {t} {0}, {1}", "i64", linear, self.emitter.constant("i64", self.size - 1))
        return resized(self.emitter, lane, llvm, signed=False)

    def ballot(self, predicate: Number) -> Number:
        name, llvm = self.gpu.ballot
        operands = [("i1", predicate.base)] if llvm == "i64" else [("i32", "-1"), ("i1", predicate.base)]
        return Number(llvm, self.writer.call(llvm, name, operands))

    def any(self, predicate: Number) -> Number:
        bits = self.ballot(predicate)
        return self.emitter.apply("icmp ne {t} {0}, {1}", "i1", bits, self.emitter.constant(bits.type, 0))

    def all(self, predicate: Number) -> Number:
        other = self.emitter.apply("xor {t} {0}, {1}", "i1", predicate, Number("i1", "true"))
        return self.emitter.apply("xor {t} {0}, {1}", "i1", self.any(other), Number("i1", "true"))

    def _first_lane(self) -> Number:
        bits = self.ballot(Number("i1", "true"))
        lane = self.emitter.intrinsic("cttz", bits.type, bits, immediate=[("i1", "true")])
        return resized(self.emitter, lane, "i32", signed=False)

    def elect(self) -> Number:
        return self.emitter.apply("icmp eq {t} {0}, {1}", "i1", self.lane_number("i32"), self._first_lane())

    def own_bit(self, bits: Number) -> Number:
        lane = self.lane_number(bits.type)
        moved = self.emitter.apply("lshr {t} {0}, {1}", bits.type, bits, lane)
        return self.emitter.apply("trunc {t} {0} to {r}", "i1", moved)

    def bits_before(self, llvm: str, *, own: bool) -> Number:
        emitter, one = self.emitter, self.emitter.constant(llvm, 1)
        bit = emitter.apply("shl {t} {0}, {1}", llvm, one, self.lane_number(llvm))
        below = emitter.apply("sub {t} {0}, {1}", llvm, bit, one)
        return emitter.apply("or {t} {0}, {1}", llvm, below, bit) if own else below

    def _taken(self, number: Number, lane: Number) -> Number:
        """The number of another work-item, by words of 32 bits."""
        emitter, llvm = self.emitter, number.type
        bits = max(bits_of(llvm), 32)
        if llvm == "i1":
            raw = emitter.apply("zext {t} {0} to {r}", "i32", number)
        else:
            [whole] = reinterpreted(emitter, (number,), f"i{bits_of(llvm)}")
            raw = resized(emitter, whole, f"i{bits}", signed=False)
        words = reinterpreted(emitter, (raw,), "i32")
        moved = tuple(Number("i32", self.gpu.shuffle(emitter, word.base, lane.base)) for word in words)
        [back] = reinterpreted(emitter, moved, f"i{bits}")
        if llvm == "i1":
            return emitter.apply("trunc {t} {0} to {r}", "i1", back)
        return reinterpreted(emitter, (resized(emitter, back, f"i{bits_of(llvm)}", signed=False),), llvm)[0]

    def _taken_if(self, number: Number, lane: Number) -> Number:
        emitter = self.emitter
        exists = emitter.apply("icmp ult {t} {0}, {1}", "i1", lane, emitter.constant("i32", self.size))
        return emitter.select(exists, self._taken(number, lane), Number(number.type, zero_of(number.type)))

    def shuffle(self, numbers: Numbers, operand: Number, source: Source) -> Numbers:
        emitter = self.emitter
        lane = resized(emitter, operand, "i32", signed=False) if source.wraps else bounded(emitter, operand)
        if source.written is not None:
            lane = source.written(emitter, self.lane_number("i32"), lane)
        return tuple(self._taken_if(number, lane) for number in numbers)

    def shuffle_two(self, ones: Numbers, twos: Numbers, delta: Number, *, down: bool) -> Numbers:
        emitter, size = self.emitter, self.emitter.constant("i32", self.size)
        by = bounded(emitter, delta)
        place = emitter.apply("add {t} {0}, {1}" if down else "sub {t} {0}, {1}", "i32", self.lane_number("i32"), by)
        place = place if down else emitter.apply("add {t} {0}, {1}", "i32", place, size)
        beyond = emitter.apply("sub {t} {0}, {1}", "i32", place, size)
        is_first = emitter.apply("icmp ult {t} {0}, {1}", "i1", place, size)
        return tuple(emitter.select(is_first, self._taken_if(one, place), self._taken_if(two, beyond))
                     for one, two in zip(ones, twos, strict=True))

    def broadcast(self, numbers: Numbers, lane: Number) -> Numbers:
        one = resized(self.emitter, lane, "i32", signed=False)
        return tuple(self._taken(number, one) for number in numbers)

    def broadcast_first(self, numbers: Numbers) -> Numbers:
        return self.broadcast(numbers, self._first_lane())

    def _step(self, number: Number, template: str, distance: int) -> tuple[Number, Number]:
        """The number of the work-item ``distance`` away, and that work-item's position."""
        lane = self.emitter.apply(template, "i32", self.lane_number("i32"), self.emitter.constant("i32", distance))
        return self._taken(number, lane), lane

    def clustered(self, folding: Folding, number: Number, size: int) -> Number:
        distance = 1
        while distance < min(size, self.size):
            other, _ = self._step(number, "xor {t} {0}, {1}", distance)
            number = folding.both(number, other)
            distance *= 2
        return number

    def scan(self, operation: int, folding: Folding, number: Number) -> Number:
        if operation == GroupOperation.Reduce:
            return self.clustered(folding, number, self.size)
        distance = 1
        while distance < self.size:
            number = folding.both(self._behind(number, distance, folding.neutral), number)
            distance *= 2
        if operation == GroupOperation.InclusiveScan:
            return number
        return self._behind(number, 1, folding.identity)

    def _behind(self, number: Number, distance: int, otherwise: Number) -> Number:
        other, lane = self._step(number, "sub {t} {0}, {1}", distance)
        exists = self.emitter.apply("icmp sge {t} {0}, {1}", "i1", lane, self.emitter.constant("i32", 0))
        return self.emitter.select(exists, other, otherwise)

    # --- the work-group ---------------------------------------------------------------

    def barrier(self, scope: Scope) -> None:
        for line in self.gpu.barrier if scope == Scope.Workgroup else (self.gpu.sub_group_barrier,):
            self.writer.do(line)
            if line.startswith("call"):
                name, _, rest = line.removeprefix("call void @").partition("(")
                self.writer.declarations[name] = f"declare void @{name}({'i32' if rest != ')' else ''})"

    def fence(self, scope: int | None, order: str) -> None:
        self.writer.do(f"fence {order}")

    def scan_work_group(self, operation: int, folding: Folding, numbers: Numbers) -> Numbers:
        return tuple(self._serial_scan(operation, folding, number) for number in numbers)

    def _serial_scan(self, operation: int, folding: Folding, number: Number) -> Number:
        """Every work-item leaves its number, and adds up those that it needs."""
        writer, llvm, size = self.writer, folding.llvm, max(bits_of(folding.llvm) // 8, 1)
        memory, own = self.local(MOST_WORK_ITEMS * size), self._linear()
        kept = self.emitter.apply("zext {t} {0} to {r}", "i8", number) if llvm == "i1" else number
        writer.do(f"store {kept.type} {kept.base}, ptr {writer.line(memory, own, size)}")
        self.barrier(Scope.Workgroup)
        count = {GroupOperation.Reduce: self._local_total(), GroupOperation.ExclusiveScan: own}.get(
            GroupOperation(operation)) or writer.let(f"add i64 {own}, 1")
        start = folding.identity if operation == GroupOperation.ExclusiveScan else folding.neutral
        total = writer.slot(llvm)
        writer.do(f"store {llvm} {start.base}, ptr {total}")

        def turn(place: str, carried: list[str]) -> list[str]:
            found = Number(kept.type, writer.let(f"load {kept.type}, ptr {writer.line(memory, place, size)}"))
            one = self.emitter.apply("trunc {t} {0} to {r}", "i1", found) if llvm == "i1" else found
            before = Number(llvm, writer.let(f"load {llvm}, ptr {total}"))
            writer.do(f"store {llvm} {folding.both(before, one).base}, ptr {total}")
            return carried

        writer.when(writer.let(f"icmp ne i64 {count}, 0"), lambda: writer.repeat(count, [], turn) and None)
        self.barrier(Scope.Workgroup)
        return Number(llvm, writer.let(f"load {llvm}, ptr {total}"))

    def broadcast_work_group(self, numbers: Numbers, local_id: Numbers) -> Numbers:
        writer, position = self.writer, Number("i64", "0")
        for axis in reversed(range(len(local_id))):
            wide = resized(self.emitter, local_id[axis], "i64", signed=False)
            scaled = self.emitter.apply("mul {t} {0}, {1}", "i64", position,
                                        Number("i64", self._word(LOCAL_SIZES + axis)))
            position = self.emitter.apply("add {t} {0}, {1}", "i64", scaled, wide)
        places = [self.local(8) for _ in numbers]

        def leave() -> None:
            for number, place in zip(numbers, places, strict=True):
                writer.do(f"store {number.type} {number.base}, ptr {place}")

        writer.when(writer.let(f"icmp eq i64 {position.base}, {self._linear()}"), leave)
        self.barrier(Scope.Workgroup)
        found = tuple(Number(number.type, writer.let(f"load {number.type}, ptr {place}"))
                      for number, place in zip(numbers, places, strict=True))
        self.barrier(Scope.Workgroup)
        return found

    def share(self, count: str) -> tuple[str, str]:
        own, total, writer = self._linear(), self._local_total(), self.writer
        ends = []
        for number in (own, writer.let(f"add i64 {own}, 1")):
            ends.append(writer.let(f"udiv i64 {writer.let(f'mul i64 {count}, {number}')}, {total}"))
        return ends[0], ends[1]

    # --- inputs -----------------------------------------------------------------------

    def _word(self, place: int) -> str:
        if place not in self._words:
            address, value = self.writer.fresh("at"), self.writer.fresh("word")
            self.writer.entry += [f"  {address} = getelementptr i64, ptr %launch, i64 {place}",
                                  f"  {value} = load i64, ptr {address}, align 8"]
            self._words[place] = value
        return self._words[place]

    def _words_of(self, first: int) -> Numbers:
        return tuple(Number("i64", self._word(first + axis)) for axis in range(3))

    def _position(self, names: Sequence[str]) -> Numbers:
        return tuple(resized(self.emitter, Number("i32", self.writer.call("i32", name, [])), "i64", signed=False)
                     for name in names)

    def _local_id(self) -> Numbers:
        return self._position(self.gpu.local_id)

    def _linear_of(self, ids: Numbers, first: int) -> str:
        x, y, z = ids
        width, height = self._word(first), self._word(first + 1)
        rows = self.writer.let(f"add i64 {self.writer.let(f'mul i64 {z.base}, {height}')}, {y.base}")
        return self.writer.let(f"add i64 {self.writer.let(f'mul i64 {rows}, {width}')}, {x.base}")

    def _linear(self) -> str:
        return self._linear_of(self._local_id(), LOCAL_SIZES)

    def _local_total(self) -> str:
        x, y, z = (self._word(LOCAL_SIZES + axis) for axis in range(3))
        return self.writer.let(f"mul i64 {self.writer.let(f'mul i64 {x}, {y}')}, {z}")

    def _global_id(self, *, with_offset: bool = True) -> Numbers:
        found = []
        for axis, (group, local) in enumerate(zip(self._position(self.gpu.group_id), self._local_id(), strict=True)):
            start = self.writer.let(f"mul i64 {group.base}, {self._word(LOCAL_SIZES + axis)}")
            if with_offset:
                start = self.writer.let(f"add i64 {start}, {self._word(OFFSETS + axis)}")
            found.append(Number("i64", self.writer.let(f"add i64 {start}, {local.base}")))
        return tuple(found)

    def _sub_group(self) -> Numbers:
        return (Number("i64", self.writer.let(f"udiv i64 {self._linear()}, {self.size}")),)

    def _sub_groups(self) -> Numbers:
        more = self.writer.let(f"add i64 {self._local_total()}, {self.size - 1}")
        return (Number("i64", self.writer.let(f"udiv i64 {more}, {self.size}")),)

    def input(self, builtin: BuiltIn) -> Numbers | None:
        size = (self.emitter.constant("i64", self.size),)
        found: dict[BuiltIn, Callable[[], Numbers]] = {
            BuiltIn.NumWorkgroups: lambda: self._words_of(GROUPS),
            BuiltIn.WorkgroupSize: lambda: self._words_of(LOCAL_SIZES),
            BuiltIn.EnqueuedWorkgroupSize: lambda: self._words_of(LOCAL_SIZES),
            BuiltIn.WorkgroupId: lambda: self._position(self.gpu.group_id),
            BuiltIn.LocalInvocationId: self._local_id,
            BuiltIn.GlobalInvocationId: self._global_id,
            BuiltIn.LocalInvocationIndex: lambda: (Number("i64", self._linear()),),
            BuiltIn.WorkDim: lambda: (Number("i64", self._word(DIMENSIONS)),),
            BuiltIn.GlobalSize: lambda: self._words_of(SIZES),
            BuiltIn.GlobalOffset: lambda: self._words_of(OFFSETS),
            BuiltIn.GlobalLinearId: lambda: (
                Number("i64", self._linear_of(self._global_id(with_offset=False), SIZES)),),
            BuiltIn.SubgroupSize: lambda: size,
            BuiltIn.SubgroupMaxSize: lambda: size,
            BuiltIn.NumSubgroups: self._sub_groups,
            BuiltIn.NumEnqueuedSubgroups: self._sub_groups,
            BuiltIn.SubgroupId: self._sub_group,
            BuiltIn.SubgroupLocalInvocationId: lambda: (self.lane_number("i64"),),
        }
        return found[builtin]() if builtin in found else None

    def output(self) -> str:
        return self._word(OUTPUT)

    def call_library(self, name: str, numbers: Sequence[Number]) -> Number:
        operands = [(number.type, number.base) for number in numbers]
        return Number("double", self.writer.call("double", self.gpu.library.format(name), operands))

    def dot_bytes(self, a: Numbers, b: Numbers, signs: tuple[bool, bool]) -> Number | None:
        return None


class NoMatrices:
    """A form of matrices that has none."""

    def type(self, kind: Type) -> str:
        raise Error("no matrices here")

    def load_slot(self, key: Any, kind: Type) -> Matrix:
        raise Error("no matrices here")


def kernel_ir(prepared: Prepared, entry: EntryPoint, gpu: Gpu) -> str:
    """A kernel as LLVM IR for a GPU; its first parameter are the words of the launch."""
    types = TypeTable(prepared.module, gpu.sub_group_size)
    emitter = Emitter(Machine(
        "the GPU", HANDLERS, lambda one: (ThreadLanes(one, gpu), NoMatrices()),  # type: ignore[arg-type,return-value]
        gpu.sub_group_size, 1, gpu.stack), traced(flattened(prepared, entry, types)))
    arguments = FunctionArguments(emitter)
    bind(emitter, prepared.module.kernel_signatures[entry.name].parameters, arguments)
    emitter.emit()
    lanes, parameters = emitter.execution, ", ".join(["ptr %launch", *arguments.parameters])
    assert isinstance(lanes, ThreadLanes)
    return module_text(emitter, f"{gpu.convention} void @\"{entry.name}\"({parameters})", variables=lanes.globals)


class FunctionArguments:
    """Arguments that are those of the kernel's function. parameters: of the function, with their types."""

    def __init__(self, emitter: Emitter) -> None:
        self.emitter = emitter
        self.parameters: list[str] = []

    def pointer(self, place: int, *, is_local: bool) -> str:
        if is_local:
            self.parameters.append(f"ptr addrspace(3) %p{place}.own")
            self.emitter.writer.entry.append(f"  %p{place} = addrspacecast ptr addrspace(3) %p{place}.own to ptr")
        else:
            self.parameters.append(f"ptr %p{place}")
        return f"%p{place}"

    def value(self, place: int, kind: Type) -> Value:
        """One of many numbers is an array of bytes, put into memory."""
        name, writer = f"%p{place}", self.emitter.writer
        if kind.count == 1 and not hasattr(kind, "members"):
            self.parameters.append(f"{llvm_type(kind)} {name}")
            return (Number(llvm_type(kind), name),)
        array = f"[{kind.size} x i8]"
        self.parameters.append(f"{array} {name}")
        with writer.in_entry():
            slot = writer.slot(array, align=16)
            writer.do(f"store {array} {name}, ptr {slot}")
            return load_value(self.emitter, Number("ptr", slot), kind, 8)
