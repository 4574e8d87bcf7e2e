"""The threads of AMD's GPUs, gfx90a: a sub-group is a wave of 64.

It shows that the house has room for them: this is what :class:`ThreadLanes` asks of the hardware, and with it kernels
without matrices become code objects. They are compiled and disassembled, not run; there is no host side.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from coopmat.diagnostics import Error
from coopmat.spirv.analysis.types import Type, TypeTable
from coopmat.spirv.grammar import Scope, StorageClass
from coopmat.spirv.module import EntryPoint
from coopmat.targets.analysis.large_values import Prepared
from coopmat.targets.llvm.access import load_value
from coopmat.targets.llvm.arithmetic.integers import resized
from coopmat.targets.llvm.emitter import Emitter, Machine
from coopmat.targets.llvm.families import HANDLERS
from coopmat.targets.llvm.kernel import bind, flattened, module_text, traced
from coopmat.targets.llvm.lanes import Numbers
from coopmat.targets.llvm.threads.launch import LAUNCH, LOCAL_ALIGNMENT, LaunchBlock, Slot
from coopmat.targets.llvm.threads.threads import ThreadLanes
from coopmat.targets.llvm.values import Matrix, Number, Value

TRIPLE, CHIP, FEATURES = "amdgcn-amd-amdhsa", "gfx90a", ""
WAVE = 64
STACK, LDS, KERNEL_ARGUMENTS = 5, 3, 4  # LLVM's address spaces
MOST_ARGUMENT_BYTES = 4096
LOCAL_MEMORY = "local_memory"
SCOPES = {Scope.Workgroup: "workgroup", Scope.Subgroup: "wavefront", Scope.Invocation: "singlethread",
          Scope.Device: "agent"}
IN_STORAGE = {StorageClass.Workgroup: "shared", StorageClass.Function: "private", StorageClass.Private: "private"}


class AmdLanes(ThreadLanes):
    """See :class:`~coopmat.targets.llvm.lanes.Lanes`."""

    def __init__(self, emitter: Emitter, local_size: tuple[int, int, int]) -> None:
        super().__init__(emitter, LaunchBlock(emitter.writer, KERNEL_ARGUMENTS, MOST_ARGUMENT_BYTES))
        self.size, self.local_size = WAVE, local_size
        self.is_whole = self.total % WAVE == 0

    # --- where a thread is ------------------------------------------------------------

    def _axes(self, name: str) -> Numbers:
        ids = (Number("i32", self.writer.call("i32", f"llvm.amdgcn.{name}.id.{axis}", [])) for axis in "xyz")
        return tuple(resized(self.emitter, one, "i64", signed=False) for one in ids)

    def local_id(self) -> Numbers:
        return self._axes("workitem")

    def hardware_group_id(self) -> Numbers:
        return self._axes("workgroup")

    def lane_number(self, llvm: str) -> Number:
        """The lanes before this one are counted, those of the lower half of the wave first."""
        count = "0"
        for half in ("lo", "hi"):
            count = self.writer.call("i32", f"llvm.amdgcn.mbcnt.{half}", [("i32", "-1"), ("i32", count)])
        return resized(self.emitter, Number("i32", count), llvm, signed=False)

    # --- the wave ---------------------------------------------------------------------

    def here(self) -> Number:
        return self.votes(Number("i1", "true"))

    def votes(self, predicate: Number) -> Number:
        return Number("i64", self.writer.call("i64", "llvm.amdgcn.ballot.i64", [("i1", predicate.base)]))

    def word_of(self, word: str, lane: str) -> str:
        place = self.writer.let(f"shl i32 {lane}, 2")
        return self.writer.call("i32", "llvm.amdgcn.ds.bpermute", [("i32", place), ("i32", word)])

    # --- barriers and fences ----------------------------------------------------------

    def barrier(self, scope: Scope) -> None:
        if scope != Scope.Workgroup:
            self.writer.call("void", "llvm.amdgcn.wave.barrier", [])
            return
        self.fence(scope, "release")
        self.writer.call("void", "llvm.amdgcn.s.barrier", [])
        self.fence(scope, "acquire")

    def scope_name(self, scope: Scope) -> str | None:
        return SCOPES.get(scope)

    def local(self, nbytes: int) -> str:
        return self.local_at(str(self.block.local(nbytes)))

    def local_at(self, offset: str) -> str:
        """The generic address of a place in local memory."""
        place, text = self.writer.fresh("place"), self.writer.fresh("local")
        self.writer.entry += [f"  {place} = getelementptr i8, ptr addrspace({LDS}) @{LOCAL_MEMORY}, i64 {offset}",
                              f"  {text} = addrspacecast ptr addrspace({LDS}) {place} to ptr"]
        return text

    def is_in_storage(self, pointer: Number, storage: int) -> Number:
        if storage in IN_STORAGE:
            name = f"llvm.amdgcn.is.{IN_STORAGE[StorageClass(storage)]}"
            return Number("i1", self.writer.call("i1", name, [("ptr", pointer.base)]))
        own = [self.is_in_storage(pointer, one) for one in (StorageClass.Workgroup, StorageClass.Private)]
        either = self.emitter.apply("or {t} {0}, {1}", "i1", *own)
        return self.emitter.apply("xor {t} {0}, {1}", "i1", either, Number("i1", "true"))

    def prefetch(self, pointer: Number, count: Number, nbytes: int) -> None:
        pass

    # --- what the machine gives -------------------------------------------------------

    def call_library(self, name: str, numbers: Sequence[Number]) -> Number:
        return Number("double", self.writer.call("double", f"__ocml_{name}_f64",
                                                 [(one.type, one.base) for one in numbers]))

    def dot_bytes(self, a: Numbers, b: Numbers, signs: tuple[bool, bool]) -> Number | None:
        return None


class NoMatrices:
    """A form of matrices that has none."""

    def type(self, kind: Type) -> str:
        raise Error("no matrices here")

    def load_slot(self, key: Any, kind: Type) -> Matrix:
        raise Error("no matrices here")


class _Arguments:
    """Arguments in the kernel's block."""

    def __init__(self, lanes: AmdLanes) -> None:
        self.lanes = lanes

    def pointer(self, place: int, *, is_local: bool) -> str:
        block = self.lanes.block
        slot = block.reserve(8)
        if is_local:
            return self.lanes.local_at(block.load(slot, "i64"))
        given, text = block.load(slot, "ptr addrspace(1)"), self.lanes.writer.fresh("pointer")
        self.lanes.writer.entry.append(f"  {text} = addrspacecast ptr addrspace(1) {given} to ptr")
        return text

    def value(self, place: int, kind: Type) -> Value:
        lanes = self.lanes
        address, text = self._address(lanes.block.reserve(kind.size)), lanes.writer.fresh("own")
        lanes.writer.entry.append(f"  {text} = addrspacecast {lanes.block.pointer} {address} to ptr")
        with lanes.writer.in_entry():
            return load_value(lanes.emitter, Number("ptr", text), kind, 8)

    def _address(self, slot: Slot) -> str:
        return self.lanes.block.address(slot)


def kernel_ir(prepared: Prepared, entry: EntryPoint, local_size: tuple[int, int, int] = (WAVE, 1, 1)) -> str:
    """A kernel as LLVM IR, for work-groups of a size; its only parameter is the block of the launch."""
    def execution(emitter: Emitter) -> tuple[Any, Any]:
        return AmdLanes(emitter, local_size), NoMatrices()

    types = TypeTable(prepared.module, WAVE)
    emitter = Emitter(Machine("the GPU", HANDLERS, execution, WAVE, 1, STACK),
                      traced(flattened(prepared, entry, types)))
    lanes = emitter.execution
    assert isinstance(lanes, AmdLanes)
    bind(emitter, prepared.module.kernel_signatures[entry.name].parameters, _Arguments(lanes))
    emitter.emit()
    block, total = lanes.block, math.prod(local_size)
    return module_text(
        emitter, f'amdgpu_kernel void @"{entry.name}"({block.pointer} byref([{block.nbytes} x i8]) align 64 '
        f"{LAUNCH}) #0",
        variables=[f"@{LOCAL_MEMORY} = external addrspace({LDS}) global [0 x i8], align {LOCAL_ALIGNMENT}"],
        end=[f'attributes #0 = {{ nounwind "amdgpu-flat-work-group-size"="{total},{total}" }}'])
