"""The code of a whole kernel: the function of a sub-group, and the loop over work-groups around it.

``run(launch, arguments, scratch)`` takes work-groups until there are none left; several threads may run it at once.
``scratch`` is the thread's own: local memory of one work-group, and stacks for its sub-groups where they wait for each
other at barriers (fibers.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from coopmat.diagnostics import Error
from coopmat.spirv.analysis.imports import imported_name, unresolved
from coopmat.spirv.analysis.kernels import Parameter
from coopmat.spirv.analysis.types import Type, contains_matrix, round_up
from coopmat.spirv.grammar import Op, StorageClass
from coopmat.spirv.module import EntryPoint
from coopmat.spirv.module.instruction import Instruction
from coopmat.targets.analysis.flatten import Flat, flatten
from coopmat.targets.analysis.large_values import Prepared, in_variables
from coopmat.targets.analysis.pointer_uses import users_of
from coopmat.targets.cpu.checks.bounds import Bounds
from coopmat.targets.cpu.checks.faults import AccessSite
from coopmat.targets.cpu.half_conversions import half_conversions
from coopmat.targets.cpu.host.fibers import SWITCHING, run_function
from coopmat.targets.cpu.host.frame import Field, field, input_place
from coopmat.targets.cpu.matrix.operations import Operation
from coopmat.targets.llvm.access import load_value, store_value
from coopmat.targets.llvm.emitter import Assumptions, Emitter, Handler, Variant
from coopmat.targets.llvm.instructions.memory import private_memory
from coopmat.targets.llvm.places import place_for, write_place, zero_value
from coopmat.targets.llvm.print_buffer import PrintCall
from coopmat.targets.llvm.values import Number, Value

Result = TypeVar("Result")
MOST_PASSES = 64
ALIGNMENT = 64  # of arguments and of variables in local memory


@dataclass(frozen=True)
class Slot:
    """Where the host puts something for the kernel: the offset among the arguments, and the bytes that it takes."""

    offset: int
    size: int


@dataclass
class KernelCode:
    """IR of a kernel, and what the host must know to run it.

    parameters: where each argument goes; a pointer takes 8 bytes, local memory its offset in the work-group's.
    globals: variables of the module by id, whose addresses the host writes there. local_bytes: the kernel's own local
    memory. waits: whether sub-groups wait for each other. matrices: the matrix operations by the names of the functions
    that stand for them. sites: the accesses that are checked. prints: the calls of printf (print_buffer.PrintCall).
    reused: the parameters whose matrices may be kept as tiles. has_loops: it may take any time.
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
    has_loops: bool


def kernel_code(prepared: Prepared, entry: EntryPoint, variant: Variant, handlers: Mapping[int, Handler],
                architecture: str) -> KernelCode:
    """The IR of a kernel for a variant."""
    flat = in_variables(flatten(prepared.module, entry.function_id), prepared)
    assumptions = Assumptions()
    for _ in range(MOST_PASSES):
        assumptions.changed = False
        maker = _Maker(flat, entry, Emitter(flat, variant, handlers, assumptions, architecture))
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

    def __init__(self, flat: Flat, entry: EntryPoint, emitter: Emitter) -> None:
        self.flat = flat
        self.entry = entry
        self.emitter = emitter
        self.local_bytes = 0
        self.argument_bytes = 0
        self.globals: dict[int, Slot] = {}
        emitter.extra |= {"module variable": self._module_variable, "input": input_place,
                          "is in storage": self._is_in_storage, "reserve local": self._reserve_local}
        if emitter.variant.is_checked or flat.has_assertions:
            emitter.extra["bounds"] = Bounds(emitter, self._described())

    def make(self) -> KernelCode:
        emitter = self.emitter
        writer = emitter.writer
        parameters = tuple(map(self._parameter, self.flat.parameters, self._described()))
        emitter.emit()
        waits = bool(emitter.extra.get("waits"))
        matrices = emitter.extra.get("matrix operations", {})
        body = [*self._start(), *writer.entry, *writer.lines, "  ret void"]
        text = "\n".join([
            *writer.declarations.values(), *writer.helpers.values(), SWITCHING if waits else "",
            half_conversions(emitter.variant.features),
            f"define internal void @sub_group({SUB_GROUP_PARAMETERS}) #0 {{", "entry:", *body, "}",
            run_function(waits), "attributes #0 = { nounwind }", "!0 = !{}"])
        return KernelCode(text, parameters, self.globals, self.argument_bytes, self.local_bytes,
                          emitter.extra.get("memory", 0), waits, matrices, emitter.extra.get("sites", []),
                          emitter.extra.get("printf calls", []), self._reused(), emitter.layout.has_loops)

    def _reused(self) -> list[int]:
        """The positions of the parameters whose matrices may be kept."""
        reused = self.emitter.extra.get("reused", set())
        return [place for place, row in enumerate(self.flat.parameters) if row.result_id in reused]

    def _described(self) -> tuple[Parameter, ...]:
        return self.flat.module.kernel_signatures[self.entry.name].parameters

    def _start(self) -> list[str]:
        """The first lines: which work-items exist."""
        emitter = self.emitter
        if emitter.variant.is_whole:
            return []
        size, vector = emitter.size, emitter.vector("i64")
        x, y, z = (field(emitter, Field.LOCAL_SIZE + axis) for axis in range(3))
        lines, emitter.writer.lines = emitter.writer.lines, []
        total = emitter.writer.let(f"mul i64 {x}, {y}")
        total = emitter.writer.let(f"mul i64 {total}, {z}")
        before = emitter.writer.let(f"mul i64 %sg, {size}")
        left = emitter.writer.let(f"sub i64 {total}, {before}")
        emitter.writer.declarations["llvm.umin.i64"] = "declare i64 @llvm.umin.i64(i64, i64)"
        emitter.writer.lines.append(f"  %existing = call i64 @llvm.umin.i64(i64 {left}, i64 {size})")
        steps = emitter.steps("i64", 1)
        limit = emitter.splat("i64", "%existing")
        emitter.writer.lines.append(f"  %exists = icmp ult {vector} {steps}, {limit}")
        found, emitter.writer.lines = emitter.writer.lines, lines
        # The fields are read in the entry's lines: these must come first.
        fields = [line for line in emitter.writer.entry if "%launch" in line or "!invariant.load" in line]
        emitter.writer.entry = [line for line in emitter.writer.entry if line not in fields]
        return [*fields, *found]

    # --- arguments --------------------------------------------------------------------

    def _reserve(self, size: int) -> Slot:
        slot = Slot(round_up(self.argument_bytes, 16), size)
        self.argument_bytes = slot.offset + size
        return slot

    def _address(self, slot: Slot) -> str:
        name = self.emitter.writer.fresh("argument")
        self.emitter.writer.entry.append(f"  {name} = getelementptr i8, ptr %arguments, i64 {slot.offset}")
        return name

    def _in_entry(self, action: Callable[[], Result]) -> Result:
        writer = self.emitter.writer
        lines, writer.lines = writer.lines, writer.entry
        try:
            return action()
        finally:
            writer.lines = lines

    def _parameter(self, row: Instruction, described: Parameter) -> Slot:
        emitter = self.emitter
        assert row.result_id is not None
        kind = emitter.result_type(row)
        is_pointer = emitter.module.definition(row.type_id or 0).opcode == Op.TypePointer
        if is_pointer and described.kind == "value":
            return self._by_value(row.result_id, emitter.types.pointee(kind))
        slot = self._reserve(8 if is_pointer else kind.size)
        address = self._address(slot)
        if is_pointer and self.flat.parameters.index(row) in emitter.variant.nulls:
            emitter.constants[row.result_id] = (Number("ptr", "null"),)
        elif is_pointer:
            text = emitter.writer.fresh("pointer")
            emitter.writer.entry.append(f"  {text} = load ptr, ptr {address}, align 8")
            if described.kind == "local":
                whole = emitter.writer.fresh("offset")
                emitter.writer.entry[-1] = f"  {whole} = load i64, ptr {address}, align 8"
                emitter.writer.entry.append(f"  {text} = getelementptr i8, ptr %local, i64 {whole}")
            emitter.constants[row.result_id] = (Number("ptr", text),)
        else:
            emitter.constants[row.result_id] = self._in_entry(
                lambda: load_value(emitter, Number("ptr", address), kind, 8))
        emitter.homes.pop(row.result_id, None)
        return slot

    def _by_value(self, identifier: int, kind: Type) -> Slot:
        """A structure behind a pointer: the work-item's own copy of it."""
        emitter = self.emitter
        slot = self._reserve(kind.size)
        source = Number("ptr", self._address(slot))
        value = self._in_entry(lambda: load_value(emitter, source, kind, 8))
        self._own(identifier, kind, value)
        return slot

    def _own(self, identifier: int, kind: Type, value: Value | None) -> Value | None:
        """A variable of every work-item that is there from the kernel's start."""
        emitter = self.emitter
        if users_of(emitter).stays(identifier, kind):
            place = place_for(emitter, identifier, kind)
            if value is not None or not contains_matrix(kind):
                self._in_entry(lambda: write_place(emitter, place, value or zero_value(emitter, kind)))
            return None
        pointer = private_memory(emitter, kind)
        self._in_entry(lambda: store_value(emitter, pointer, value or zero_value(emitter, kind), kind, kind.alignment))
        emitter.constants[identifier] = (pointer,)
        return (pointer,)

    # --- variables of the module ------------------------------------------------------

    def _module_variable(self, emitter: Emitter, row: Instruction) -> Value | None:
        assert row.result_id is not None
        name = imported_name(emitter.module, row.result_id)
        if name is not None:
            raise unresolved("variable", name)
        kind, storage = emitter.pointee(row.result_id), row.words[0]
        if storage == StorageClass.Private:
            initial = emitter.value(row.words[1]) if len(row.words) > 1 else None
            return self._own(row.result_id, kind, initial)
        if storage == StorageClass.Workgroup:
            return (Number("ptr", self._reserve_local(kind.size)),)
        text = emitter.writer.fresh("variable")
        if storage in (StorageClass.CrossWorkgroup, StorageClass.UniformConstant):
            slot = self.globals.setdefault(row.result_id, Slot(0, 0))
            if not slot.size:
                slot = self.globals[row.result_id] = self._reserve(8)
            emitter.writer.entry.append(f"  {text} = load ptr, ptr {self._address(slot)}, align 8")
        else:
            raise Error(f"a variable in storage class {StorageClass(storage).name} is not supported here")
        return (Number("ptr", text),)

    def _reserve_local(self, size: int) -> str:
        """So many bytes of the work-group's local memory; the address, of which the last six bits are zero."""
        writer = self.emitter.writer
        offset = round_up(self.local_bytes, ALIGNMENT)
        self.local_bytes = offset + size
        name = writer.fresh("shared")
        writer.entry.append(f"  {name} = getelementptr i8, ptr %local, i64 {offset}")
        return name

    def _is_in_storage(self, emitter: Emitter, pointer: Number, storage: int) -> Number:
        """Whether an address lies in a storage class."""
        address = emitter.apply("ptrtoint {t} {0} to {r}", "i64", pointer)
        writer = emitter.writer
        start = writer.let("ptrtoint ptr %local to i64")
        local = _within(emitter, address, start, writer.let(f"add i64 {start}, {field(emitter, Field.LOCAL_BYTES)}"))
        top = writer.call("ptr", "llvm.frameaddress.p0", [("i32", "0")])
        bottom = writer.call("ptr", "llvm.stacksave.p0", [])
        private = _within(emitter, address, writer.let(f"ptrtoint ptr {bottom} to i64"),
                          writer.let(f"ptrtoint ptr {top} to i64"))
        if storage == StorageClass.Workgroup:
            return local
        if storage in (StorageClass.Function, StorageClass.Private):
            return private
        either = emitter.apply("or {t} {0}, {1}", "i1", local, private)
        return emitter.apply("xor {t} {0}, {1}", "i1", either, Number("i1", "true"))


def _within(emitter: Emitter, address: Number, start: str, end: str) -> Number:
    above = emitter.apply("icmp uge {t} {0}, {1}", "i1", address, Number("i64", start))
    below = emitter.apply("icmp ult {t} {0}, {1}", "i1", address, Number("i64", end))
    return emitter.apply("and {t} {0}, {1}", "i1", above, below)


SUB_GROUP_PARAMETERS = ("ptr noalias %launch, ptr noalias %arguments, ptr %local, i64 %gx, i64 %gy, i64 %gz, i64 %sg, "
                        "ptr %fiber")
