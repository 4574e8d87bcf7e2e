"""The code of a whole kernel for an NVIDIA GPU, as LLVM IR."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from coopmat.diagnostics import Error
from coopmat.spirv.analysis.types import MatrixType, Type, TypeTable
from coopmat.spirv.module import EntryPoint
from coopmat.targets.analysis.flatten import Flat
from coopmat.targets.analysis.large_values import Prepared
from coopmat.targets.analysis.origins import Origins
from coopmat.targets.cuda.assertions import Assertions
from coopmat.targets.cuda.families import HANDLERS
from coopmat.targets.cuda.lanes import LOCAL_MEMORY, SHARED, CudaLanes, Variant
from coopmat.targets.cuda.mathematics import RELAXED, SINGLE
from coopmat.targets.cuda.matrix.form import FragmentMatrices
from coopmat.targets.cuda.succession import let_next_begin, wait_for_previous
from coopmat.targets.cuda.work_groups.kernel import kernel_text
from coopmat.targets.cuda.work_groups.lanes import ComputingLanes, FetchingLanes
from coopmat.targets.cuda.work_groups.pipeline import Schedule, TensorMap, threads_of
from coopmat.targets.cuda.work_groups.roles import ComputingMatrices, FetchingMatrices
from coopmat.targets.cuda.work_groups.schedule import schedule_of
from coopmat.targets.llvm.access import load_value
from coopmat.targets.llvm.emitter import Emitter, Machine
from coopmat.targets.llvm.instructions.opencl.real import library
from coopmat.targets.llvm.kernel import bind, module_text
from coopmat.targets.llvm.lanes import Lanes
from coopmat.targets.llvm.matrices import MatrixForm
from coopmat.targets.llvm.print_buffer import PrintCall
from coopmat.targets.llvm.terms import function
from coopmat.targets.llvm.threads.launch import LAUNCH, LOCAL_ALIGNMENT, LaunchBlock, Slot
from coopmat.targets.llvm.values import Number, Value

NAME = "the GPU"  # as messages call it
BLOCK_ALIGNMENT = TENSOR_MAP_ALIGNMENT = 64
TENSOR_MAP_BYTES = 128
PREDEFINED = ("WARP_SZ",)  # words of PTX that begin like names


@dataclass(frozen=True)
class KernelCode:
    """IR of a kernel, and what the host must know to run it.

    symbol: the function's name. threads: of a work-group. maps: the tensor maps that the host makes, and where it
    puts them. apart: pairs of arguments that must not overlap. is_persistent: whether a work-group does several of
    the launch's. cluster: the axis along which two work-groups share tiles. parameters: where each argument goes; a
    pointer takes 8 bytes, local memory its offset in the work-group's. variables: those of the module by id, whose
    addresses the host puts there. block_bytes: of the launch's words and arguments. local_bytes: the kernel's own
    local memory. prints: the calls of printf. assertions: what each failed one says. needs_sub_groups: whether they
    have to be whole.
    """

    ir: str
    symbol: str
    parameters: tuple[Slot, ...]
    variables: dict[int, Slot]
    block_bytes: int
    local_bytes: int
    prints: list[PrintCall]
    assertions: list[str]
    threads: int
    maps: tuple[tuple[TensorMap, Slot], ...] = ()
    apart: tuple[tuple[int, int], ...] = ()
    cluster: int | None = None
    is_persistent: bool = False
    needs_sub_groups: bool = False


def type_table(prepared: Prepared, entry: EntryPoint, variant: Variant) -> TypeTable:
    """The types of a module as a variant of a kernel has them."""
    return TypeTable(prepared.module, variant.sub_group_size, variant.chip.table,
                     work_group_items=prepared.module.kernel_signatures[entry.name].work_items)


def kernel_code(origins: Origins, entry: EntryPoint, variant: Variant) -> KernelCode:
    """The IR of a kernel for a variant. Error, naming the place, for what it cannot be made of."""
    emitter = Emitter(_machine(variant, lambda one: _execution(one, variant)), origins)
    lanes = emitter.execution
    assert isinstance(lanes, CudaLanes)
    assertions = Assertions(lanes)
    if emitter.flat.has_assertions:
        emitter.checks = assertions
    with emitter.writer.in_entry():
        let_next_begin(emitter.writer, variant.chip)
        wait_for_previous(emitter.writer, variant.chip)
    arguments = _Arguments(emitter, lanes.block, variant.nulls)
    _write(emitter, entry, arguments)
    block, symbol = lanes.block, symbol_of(entry.name)
    sizes = ",".join(map(str, variant.local_size))
    text = module_text(
        emitter, f"ptx_kernel void @{symbol}(ptr byval([{block.nbytes} x i8]) align {BLOCK_ALIGNMENT} "
        f'"nvvm.grid_constant" {LAUNCH}) #0',
        variables=[f"@{LOCAL_MEMORY} = external addrspace({SHARED}) global [0 x i8], align {LOCAL_ALIGNMENT}"],
        end=[f'attributes #0 = {{ nounwind "nvvm.reqntid"="{sizes}" }}'])
    return KernelCode(text, symbol, tuple(arguments.slots), block.variables, block.nbytes, block.local_bytes,
                      emitter.prints, assertions.texts, math.prod(variant.local_size),
                      needs_sub_groups=_has_sub_group_matrices(origins.uses.flat))


def _has_sub_group_matrices(flat: Flat) -> bool:
    kinds = (flat.types[row.type_id] for block in flat.blocks for row in block.instructions if row.type_id is not None)
    return any(isinstance(kind, MatrixType) and not kind.is_of_work_group for kind in kinds)


def pipelined_code(origins: Origins, entry: EntryPoint, variant: Variant) -> KernelCode:
    """The IR of a kernel whose tiles are fetched ahead. NoSchedule, with the reason, if that is not possible."""
    most = variant.chip.description.limits.local_memory
    schedule = schedule_of(origins, variant, most)
    code = _pipelined(origins, entry, variant, schedule)
    if code.local_bytes > most:  # what the kernel needs itself is known only now
        room = most - (code.local_bytes - schedule.nbytes)
        code = _pipelined(origins, entry, variant, schedule_of(origins, variant, room))
    return code


def _pipelined(origins: Origins, entry: EntryPoint, variant: Variant, schedule: Schedule) -> KernelCode:
    """The same by a schedule."""
    computing = Emitter(_machine(variant, lambda one: _computing(one, variant, schedule)), origins)
    lanes = computing.execution
    assert isinstance(lanes, ComputingLanes)
    block = lanes.block
    arguments = _Arguments(computing, block, variant.nulls)
    maps = tuple((one, block.reserve(TENSOR_MAP_BYTES, TENSOR_MAP_ALIGNMENT)) for one in schedule.maps)
    matrices = computing.matrices
    assert isinstance(matrices, ComputingMatrices)
    matrices.maps = [slot for _, slot in maps]
    _write(computing, entry, arguments)
    matrices.finish()
    fetching = Emitter(_machine(variant, lambda one: _fetching(one, variant, schedule, [slot for _, slot in maps])),
                       origins)
    other = fetching.execution
    assert isinstance(other, CudaLanes)
    other.block.like(block)
    _write(fetching, entry, _Arguments(fetching, other.block, variant.nulls, arguments.slots))
    text = kernel_text((computing, fetching), symbol_of(entry.name), variant, schedule, matrices.maps, other.block,
                       BLOCK_ALIGNMENT)
    return KernelCode(text, symbol_of(entry.name), tuple(arguments.slots), block.variables, other.block.nbytes,
                      block.local_bytes, [], [], threads_of(variant), maps, schedule.apart, variant.cluster,
                      is_persistent=True)


def _computing(emitter: Emitter, variant: Variant, schedule: Schedule) -> tuple[ComputingLanes, ComputingMatrices]:
    lanes = ComputingLanes(emitter, variant)
    lanes.block.local_bytes = schedule.nbytes  # what the kernel needs itself lies behind the rings
    return lanes, ComputingMatrices(emitter, lanes, schedule)


def _fetching(emitter: Emitter, variant: Variant, schedule: Schedule, maps: Sequence[Slot]
              ) -> tuple[FetchingLanes, FetchingMatrices]:
    lanes = FetchingLanes(emitter, variant)
    return lanes, FetchingMatrices(emitter, lanes, schedule, maps)


def _machine(variant: Variant, execution: Callable[[Emitter], tuple[Lanes, MatrixForm]]) -> Machine:
    return Machine(NAME, HANDLERS, execution, variant.sub_group_size, 1,
                   remainder=function(library("fmod")), has_bf16=variant.chip.has(80), single=SINGLE, relaxed=RELAXED)


def _write(emitter: Emitter, entry: EntryPoint, arguments: _Arguments) -> None:
    """Write a kernel's code. Error, naming the place, for what it cannot be made of."""
    try:
        bind(emitter, emitter.module.kernel_signatures[entry.name].parameters, arguments)
        emitter.emit()
    except Error as error:
        if type(error) is not Error:
            raise
        raise Error(f"{error} ({_where(emitter, entry.name)})") from None


def _execution(emitter: Emitter, variant: Variant) -> tuple[CudaLanes, FragmentMatrices]:
    lanes = CudaLanes(emitter, variant)
    return lanes, FragmentMatrices(emitter, lanes)


def symbol_of(kernel: str) -> str:
    """A kernel's name in PTX, which takes fewer characters than SPIR-V."""
    is_own = re.match(r"[A-Za-z]", kernel) and kernel not in PREDEFINED
    return _plain(kernel) if is_own else f"kernel_{_plain(kernel)}"


def _plain(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_]", "_", name)


def _where(emitter: Emitter, kernel: str) -> str:
    """The kernel and the line for which no code can be made."""
    location = emitter.location() if emitter.row is not None else None
    return f"kernel {kernel}" + (f", at {location}" if location else "")


class _Arguments:
    """Arguments in the block of the launch. slots: their places there."""

    def __init__(self, emitter: Emitter, block: LaunchBlock, nulls: Collection[int],
                 known: Sequence[Slot] = ()) -> None:
        """``known``: the slots that other code for the same block has reserved."""
        self.emitter = emitter
        self.block = block
        self.nulls = nulls
        self.slots: list[Slot] = []
        self._known = list(known)

    def pointer(self, place: int, *, is_local: bool) -> str:
        """The address; of local memory the host passes its offset in the work-group's."""
        slot = self._reserve(8)
        if place in self.nulls:
            return "null"
        lanes, writer = self.emitter.execution, self.emitter.writer
        assert isinstance(lanes, CudaLanes)
        if is_local:
            return lanes.local_at(self.block.load(slot, "i64"))
        given, text = self.block.load(slot, "ptr addrspace(1)"), writer.fresh("pointer")
        writer.entry.append(f"  {text} = addrspacecast ptr addrspace(1) {given} to ptr")
        return text

    def value(self, place: int, kind: Type) -> Value:
        """The value."""
        address = self.block.address(self._reserve(kind.size))
        with self.emitter.writer.in_entry():
            return load_value(self.emitter, Number("ptr", address), kind, 8)

    def _reserve(self, size: int) -> Slot:
        self.slots.append(self._known[len(self.slots)] if self._known else self.block.reserve(size))
        return self.slots[-1]
