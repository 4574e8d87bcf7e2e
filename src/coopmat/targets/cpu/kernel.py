"""The code of a whole kernel: the function of a sub-group, and the loop over work-groups around it.

``run(launch, arguments, scratch)`` takes work-groups until there are none left; several threads may run it at once.
``scratch`` is the thread's own: local memory of one work-group, and stacks for its sub-groups where they wait for each
other at barriers (host/fibers.py). Where races are looked for, ``run(launch, arguments, fiber)`` lets one sub-group go
on instead (host/pauses.py).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from coopmat.diagnostics import Error
from coopmat.spirv.analysis.types import Type, TypeTable
from coopmat.spirv.grammar import Op
from coopmat.spirv.module import EntryPoint
from coopmat.targets.analysis.large_values import Prepared
from coopmat.targets.analysis.origins import Origins
from coopmat.targets.cpu.checks.bounds import Bounds
from coopmat.targets.cpu.checks.faults import AccessSite
from coopmat.targets.cpu.families import HANDLERS
from coopmat.targets.cpu.frame import Frame, Slot
from coopmat.targets.cpu.half_conversions import half_conversions
from coopmat.targets.cpu.host.fibers import SWITCHING, run_function
from coopmat.targets.cpu.host.pauses import PAUSING, RUN
from coopmat.targets.cpu.lanes.masks import Assumptions, Variant
from coopmat.targets.cpu.lanes.notes import notes
from coopmat.targets.cpu.lanes.pauses import pausing
from coopmat.targets.cpu.lanes.vector import VectorLanes
from coopmat.targets.cpu.mathematics.functions import DOUBLE, RELAXED, REMAINDER, SINGLE
from coopmat.targets.cpu.matrix.operation import Operation
from coopmat.targets.cpu.matrix.work_groups import GroupMatrices
from coopmat.targets.llvm.access import load_value
from coopmat.targets.llvm.emitter import Emitter, Machine
from coopmat.targets.llvm.kernel import bind, module_text
from coopmat.targets.llvm.print_buffer import PrintCall
from coopmat.targets.llvm.values import Number, Value
from coopmat.targets.llvm.writer import METADATA

NAME = "the CPU"  # as messages call it
ARCHITECTURE = "generic"  # whose layouts matrices have
MOST_PASSES = 64


@dataclass
class KernelCode:
    """IR of a kernel, and what the host must know to run it.

    parameters: where each argument goes; a pointer takes 8 bytes, local memory its offset in the work-group's.
    globals: variables of the module by id, whose addresses the host writes there. local_bytes: the kernel's own local
    memory. waits: whether sub-groups wait for each other. matrices: the matrix operations by the names of the functions
    that stand for them. sites: the accesses that are checked. prints: the calls of printf (print_buffer.PrintCall).
    reused: the parameters whose matrices may be kept as tiles; read: those that functions of elements read. has_loops:
    it may take any time.
    notes: what became of matrix products, in words.
    """

    ir: str
    parameters: tuple[Slot, ...]
    globals: dict[int, Slot]
    argument_bytes: int
    local_bytes: int
    stack_bytes: int
    waits: bool
    matrices: dict[str, Operation]
    sites: list[AccessSite]
    prints: list[PrintCall]
    reused: list[int]
    read: list[int]
    has_loops: bool
    notes: tuple[str, ...] = ()


def type_table(prepared: Prepared, entry: EntryPoint, variant: Variant) -> TypeTable:
    """The types of a module as a variant of a kernel has them."""
    work_items = prepared.module.kernel_signatures[entry.name].work_items
    return TypeTable(prepared.module, variant.sub_group_size, ARCHITECTURE, work_group_items=work_items)


def kernel_code(origins: Origins, entry: EntryPoint, variant: Variant) -> KernelCode:
    """The IR of a kernel for a variant. It is written again until what varies in it is settled."""
    assumptions = Assumptions()
    for _ in range(MOST_PASSES):
        assumptions.changed = False
        maker = _Maker(origins, entry, variant, assumptions)
        try:
            code = maker.make()
        except Error as error:
            if type(error) is not Error:
                raise
            raise Error(f"{error} ({_where(maker.emitter, entry.name)})") from None
        if not assumptions.changed:
            return code
    raise Error(f"kernel '{entry.name}' is too involved: what varies in it is not settled after {MOST_PASSES} passes")


def _where(emitter: Emitter, kernel: str) -> str:
    """The kernel, and the line or the variable for which no code can be made."""
    row = emitter.row
    if row is None:
        return f"kernel {kernel}"
    if row.opcode == Op.Variable:
        name = emitter.module.names.get(emitter.flat.original(row.result_id or 0))
        return f"kernel {kernel}, variable '{name or f'%{row.result_id}'}'"
    location = emitter.location()
    return f"kernel {kernel}" + (f", at {location}" if location else "")


class _Maker:
    """One pass over a kernel."""

    def __init__(self, origins: Origins, entry: EntryPoint, variant: Variant, assumptions: Assumptions) -> None:
        self.variant = variant
        self.assumptions = assumptions
        self.emitter = Emitter(Machine(
            NAME, pausing(HANDLERS) if variant.pauses else HANDLERS, self._execution, variant.sub_group_size,
            variant.sub_group_size, remainder=REMAINDER, single=SINGLE, double=DOUBLE, relaxed=RELAXED,
            features=variant.features), origins)
        self.flat = self.emitter.flat
        self.described = self.flat.module.kernel_signatures[entry.name].parameters
        self.frame = self.lanes.frame
        self.sites: list[AccessSite] = []
        if variant.is_checked or self.flat.has_assertions:
            self.emitter.checks = Bounds(self.lanes, self.described, self.sites)

    def _execution(self, emitter: Emitter) -> tuple[VectorLanes, GroupMatrices]:
        self.lanes = VectorLanes(emitter, self.variant, self.assumptions)
        self.matrices = GroupMatrices(emitter, self.lanes, self.variant)
        return self.lanes, self.matrices

    def make(self) -> KernelCode:
        """The code."""
        emitter, lanes = self.emitter, self.lanes
        arguments = _FrameArguments(emitter, self.frame, self.variant.nulls)
        bind(emitter, self.described, arguments)
        emitter.emit()
        leads = self.matrices.has_leader
        versions = {_header("following"): self.matrices.following} if leads else {}
        text = module_text(
            emitter, _header("leading" if leads else "sub_group"), start=self._start(), versions=versions,
            helpers=[self._switching(), half_conversions(self.variant.features)],
            end=[_DISPATCH if leads else "", self._run(), "attributes #0 = { nounwind }", METADATA])
        reused, read = ([place for place, row in enumerate(self.flat.parameters) if row.result_id in found]
                        for found in (self.matrices.kept.parameters, self.matrices.read))
        return KernelCode(text, tuple(arguments.slots), self.frame.globals, self.frame.argument_bytes,
                          self.frame.local_bytes, self.frame.stack_bytes, lanes.waits, self.matrices.operations,
                          self.sites, emitter.prints, reused, read, lanes.layout.has_loops, tuple(notes(lanes)))

    def _switching(self) -> str:
        """How sub-groups leave their place to others."""
        if self.variant.pauses:
            return PAUSING
        return SWITCHING if self.lanes.waits else ""

    def _run(self) -> str:
        """What the host calls."""
        if self.variant.pauses:
            return RUN
        return run_function(self.lanes.waits, self.variant.fast, has_matrices=bool(self.matrices.operations))

    def _start(self) -> list[str]:
        """The first lines: which work-items exist."""
        if self.variant.is_whole:
            return []
        emitter, writer = self.emitter, self.emitter.writer
        size, vector = emitter.size, emitter.vector("i64")
        x, y, z = (self.frame.local_size(axis) for axis in range(3))
        lines, writer.lines = writer.lines, []
        total = writer.let(f"mul i64 {x}, {y}")
        total = writer.let(f"mul i64 {total}, {z}")
        before = writer.let(f"mul i64 %sg, {size}")
        left = writer.let(f"sub i64 {total}, {before}")
        writer.declarations["llvm.umin.i64"] = "declare i64 @llvm.umin.i64(i64, i64)"
        writer.lines.append(f"  %existing = call i64 @llvm.umin.i64(i64 {left}, i64 {size})")
        steps = emitter.steps("i64", 1)
        limit = emitter.splat("i64", "%existing")
        writer.lines.append(f"  %exists = icmp ult {vector} {steps}, {limit}")
        found, writer.lines = writer.lines, lines
        return [*self.frame.head, *found]


class _FrameArguments:
    """Arguments in the memory that the host fills. slots: their places there, of all that were asked for."""

    def __init__(self, emitter: Emitter, frame: Frame, nulls: Collection[int]) -> None:
        self.emitter = emitter
        self.frame = frame
        self.nulls = nulls
        self.slots: list[Slot] = []

    def pointer(self, place: int, *, is_local: bool) -> str:
        """The address; of local memory the host passes its offset in the work-group's."""
        writer, address = self.emitter.writer, self._address(8)
        if place in self.nulls:
            return "null"
        text = writer.fresh("pointer")
        if is_local:
            offset = writer.fresh("offset")
            writer.entry += [f"  {offset} = load i64, ptr {address}, align 8",
                             f"  {text} = getelementptr i8, ptr %local, i64 {offset}"]
        else:
            writer.entry.append(f"  {text} = load ptr, ptr {address}, align 8")
        return text

    def value(self, place: int, kind: Type) -> Value:
        """The value."""
        address = self._address(kind.size)
        with self.emitter.writer.in_entry():
            return load_value(self.emitter, Number("ptr", address), kind, 8)

    def _address(self, size: int) -> str:
        """The address of the next argument."""
        self.slots.append(self.frame.argument(size))
        return self.frame.address(self.slots[-1])


SUB_GROUP_PARAMETERS = ("ptr noalias %launch, ptr noalias %arguments, ptr %local, i64 %gx, i64 %gy, i64 %gz, i64 %sg, "
                        "ptr %fiber")


def _header(name: str) -> str:
    """What defines the function of a sub-group, or one of its versions."""
    return f"internal void @{name}({SUB_GROUP_PARAMETERS}) #0"


_ARGUMENTS = SUB_GROUP_PARAMETERS.replace("noalias ", "")
_DISPATCH = f"""define {_header("sub_group")} {{
  %leads = icmp eq i64 %sg, 0
  br i1 %leads, label %first, label %other
first:
  call void @leading({_ARGUMENTS})
  ret void
other:
  call void @following({_ARGUMENTS})
  ret void
}}"""
"""The first sub-group of a work-group does what is done for all of them (matrix/work_groups.py)."""
