"""From a SPIR-V function to closures: every instruction is decoded once and executed many times.

An instruction's handler, found in the table of its group, gets the compiler and the instruction and
returns the closure that executes it, or None if there is nothing to execute.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from coopmat.devices.model import DeviceDescription
from coopmat.diagnostics import Error, ValidationError
from coopmat.numerics import EXACT, MODELS, Model
from coopmat.spirv.analysis.control_flow import RETURNED, successors_of, switch_cases
from coopmat.spirv.analysis.imports import imported_name, unresolved
from coopmat.spirv.analysis.lock_step import Flow, flow_of, kept_in_loops
from coopmat.spirv.analysis.places import line_text
from coopmat.spirv.analysis.types import MatrixType, Type, VoidType
from coopmat.spirv.grammar import (
    CHAINS,
    BuiltIn,
    Decoration,
    MemoryAccess,
    Op,
    SourceLanguage,
    StorageClass,
)
from coopmat.spirv.module import Instruction, Module
from coopmat.spirv.module import content as spirv
from coopmat.spirv.text.names import source_name
from coopmat.support.cached import cached_property
from coopmat.support.limits import DEEPEST_CALL
from coopmat.targets.base.geometry import Geometry
from coopmat.targets.base.output import Output
from coopmat.targets.simulator import control
from coopmat.targets.simulator.address_space import AddressSpace, BufferRow, Extent, address_of, member_offsets
from coopmat.targets.simulator.builtins import check_input, read_input
from coopmat.targets.simulator.definedness.marks import UNDEFINED, Mark, all_ones
from coopmat.targets.simulator.matrix_groups import agreed_value, matrix_in, require_group
from coopmat.targets.simulator.options import SimulatorOptions
from coopmat.targets.simulator.registers import (
    Index,
    RegisterPlace,
    constant_index,
    path_type,
    register_variables,
)
from coopmat.targets.simulator.state import Batch, Frame, LoopSite, Site, Step, StepCounter
from coopmat.targets.simulator.turns.cut import cut
from coopmat.targets.simulator.turns.loops import users_of
from coopmat.targets.simulator.turns.places import is_meeting, turns_of
from coopmat.targets.simulator.unsupported import SimulatedTypes, unsupported
from coopmat.targets.simulator.values import Array, Value, blend, members_of, scalar, zero

Handler = Callable[["FunctionCompiler", Instruction], "Step | None"]
Instrument = Callable[["FunctionCompiler", Instruction, "Step | None"], "Step | None"]
"""What watches a kernel: it gets each instruction with its step, and gives the step that is executed. A terminator
comes without one; what is given for it is executed before it."""
Load = Callable[[Frame], Value]
Store = Callable[[Frame, Value], None]

EXTENTS = {
    StorageClass.UniformConstant: Extent.LAUNCH,
    StorageClass.CrossWorkgroup: Extent.LAUNCH,
    StorageClass.Workgroup: Extent.GROUP,
    StorageClass.Private: Extent.LANE,
    StorageClass.Function: Extent.LANE,
}
CONSTANTS = frozenset({Op.Constant, Op.ConstantTrue, Op.ConstantFalse, Op.SpecConstant, Op.SpecConstantTrue,
                       Op.SpecConstantFalse})
COMPOSITES = frozenset({Op.ConstantComposite, Op.SpecConstantComposite})
REPLICATED = frozenset({Op.ConstantCompositeReplicateEXT, Op.SpecConstantCompositeReplicateEXT})
PARTS = frozenset({Op.AccessChain, Op.InBoundsAccessChain, Op.Bitcast})
NULLS = frozenset({Op.ConstantNull, Op.Undef, Op.PoisonKHR})


class KernelCompiler:
    """What the functions of one kernel share: types, constants, variables with an address.

    ``kept`` is the memory of the module's global variables, by id, which all its kernels share and which
    lives on between launches. Variables that can be pointed to from there have the same addresses in every
    kernel: they come first, in the module's order. ``arithmetic`` is the model of matrix multiply-accumulate,
    ``work_group_items`` the size of work-groups where the kernel requires one; ``instruments`` watch it, the first one
    nearest to the instruction. ``takes_turns``: its sub-groups wait for each other (``turns``).
    """

    def __init__(self, module: Module, kernel: str, sub_group_size: int,
                 handlers: Mapping[int, Handler], device: DeviceDescription,
                 kept: dict[int, Array] | None = None, arithmetic: Model = MODELS[EXACT],
                 work_group_items: int | None = None, instruments: Sequence[Instrument] = (), *,
                 takes_turns: bool = False) -> None:
        self.module = module
        self.takes_turns = takes_turns
        self.instruments = instruments
        self.kernel = kernel
        self.language = next((row.words[0] for row in module.of_opcode(Op.Source)), SourceLanguage.Unknown)
        self.device = device
        self.arithmetic = arithmetic
        self.types = SimulatedTypes(module, sub_group_size, device.name, work_group_items=work_group_items)
        self.handlers = handlers
        self.buffers: list[BufferRow] = []
        self._values: dict[int, Value] = {}
        self._functions: dict[int, control.Function] = {}
        self._open: list[int] = []
        self._kept = {} if kept is None else kept
        if any(row.words[0] == StorageClass.CrossWorkgroup for row in module.of_opcode(Op.Variable)):
            self._place_shared_variables()

    def taking_turns(self, module: Module) -> KernelCompiler:
        """A compiler of the same kernel in a module without calls, whose sub-groups wait for each other."""
        types = self.types
        return KernelCompiler(module, self.kernel, types.sub_group_size, self.handlers, self.device, self._kept,
                              self.arithmetic, types.work_group_items, self.instruments, takes_turns=True)

    def _place_shared_variables(self) -> None:
        for row in self.module.of_opcode(Op.Variable):
            if row.words[0] in (StorageClass.CrossWorkgroup, StorageClass.UniformConstant):
                assert row.result_id is not None
                if imported_name(self.module, row.result_id) is None:
                    self.value(row.result_id)

    def name(self, identifier: int) -> str:
        """The name that the module gives an id, or the id itself."""
        return self.module.names.get(identifier) or f"%{identifier}"

    def function_name(self, identifier: int) -> str:
        """What a function is called in the source."""
        return source_name(self.name(identifier))

    def function(self, identifier: int) -> control.Function:
        """The compiled function; Error if it has no body or, directly or not, calls itself."""
        if identifier not in self._functions:
            if identifier in self._open:
                calls = " calls ".join(map(self.function_name, [*self._open, identifier]))
                raise Error(f"recursion is not possible: {calls}")
            if len(self._open) >= DEEPEST_CALL:
                raise Error(f"calls are nested more than {DEEPEST_CALL} deep")
            source = self.module.function(identifier)
            if not source.blocks:
                raise unresolved("function", imported_name(self.module, identifier) or self.name(identifier))
            if self.takes_turns:
                source = cut(source, self.module.bound, partial(is_meeting, self))
            self._open.append(identifier)
            self._functions[identifier] = FunctionCompiler(self, source).compile()
            self._open.pop()
        return self._functions[identifier]

    def add_buffer(self, row: BufferRow) -> Array:
        """Reserve a buffer and return its address as a uniform value."""
        self.buffers.append(row)
        return np.full((1, 1), address_of(len(self.buffers)))

    def variable(self, row: Instruction) -> Array:
        """The address of a variable in memory."""
        assert row.result_id is not None
        assert row.type_id is not None
        imported = imported_name(self.module, row.result_id)
        if imported is not None:
            raise unresolved("variable", imported)
        pointer = self.types[row.type_id]
        storage = StorageClass(row.words[0])
        if storage not in EXTENTS:
            raise Error(f"a variable in storage class {storage.name} is not supported here")
        kind = self.types.pointee(pointer)
        initial = None
        if len(row.words) > 1 and storage != StorageClass.Function:
            initial = to_bytes(kind, self.value(row.words[1]))
        if storage == StorageClass.CrossWorkgroup:
            fresh = np.zeros(kind.size, np.uint8) if initial is None else initial
            initial = self._kept.setdefault(row.result_id, fresh)
        name = f"variable '{self.name(row.result_id)}'"
        writable = storage != StorageClass.UniformConstant
        return self.add_buffer(BufferRow(name, kind.size, EXTENTS[storage], storage, writable, initial))

    def value(self, identifier: int) -> Value:
        """The value of a constant, or the address of a module-scope variable."""
        if identifier not in self._values:
            row = self.module.definition(identifier)
            self._values[identifier] = self._make_value(row)
        return self._values[identifier]

    def is_constant(self, row: Instruction) -> bool:
        """Whether an id's value is known before the kernel runs."""
        return (row.opcode in CONSTANTS or row.opcode in COMPOSITES | REPLICATED or row.opcode in NULLS
                or row.opcode == Op.SpecConstantOp
                or (row.opcode == Op.Variable and row.words[0] != StorageClass.Function
                    and not self.module.is_built_in(row)))

    def _make_value(self, row: Instruction) -> Value:
        if row.opcode == Op.Variable:
            return self.variable(row)
        if row.opcode == Op.SpecConstantOp:
            return FunctionCompiler(self, None).fold(row)
        assert row.type_id is not None
        kind = self.types[row.type_id]
        if row.opcode in NULLS:
            return zero(kind)
        if row.opcode in COMPOSITES:
            return compose(kind, [self.value(word) for word in row.words])
        if row.opcode in REPLICATED:
            return replicate(kind, self.value(row.words[0]))
        assert row.result_id is not None
        value = self.module.constant_value(row.result_id)
        if value is None:
            raise Error(f"{row.name} of type {kind} is not supported")
        return scalar(value, kind)


def compose(kind: Type, parts: Sequence[Value]) -> Value:
    """A composite from its constituents: an aggregate's members, a vector's components, a matrix's fill."""
    if members_of(kind) is not None:
        return tuple(parts)
    if isinstance(kind, MatrixType):
        fill = parts[0][:, :1, None]  # the same in all lanes
        if kind.is_of_work_group:
            return np.broadcast_to(fill, (fill.shape[0], 1, kind.slice_length))
        return np.broadcast_to(fill, (fill.shape[0], kind.rows, kind.columns))
    shape = np.broadcast_shapes(*(part.shape[:2] for part in parts))
    columns = [part if part.ndim == 3 else part[..., None] for part in parts]
    return np.concatenate([np.broadcast_to(c, (*shape, c.shape[-1])) for c in columns], axis=-1)


def replicate(kind: Type, part: Value) -> Value:
    """A composite all of whose constituents are ``part``."""
    members = members_of(kind)
    count = len(members) if members is not None else 1 if isinstance(kind, MatrixType) else kind.count
    return compose(kind, [part] * count)


def constant_frame(slots: list[Value]) -> Frame:
    """A frame of one lane, for the evaluation of constant expressions."""
    geometry = Geometry(1, (1, 1, 1), (1, 1, 1), (0, 0, 0), 1)
    options = SimulatorOptions()
    batch = Batch(geometry, 0, 1, AddressSpace(1, 1, 1), options, StepCounter(options, 0.0), Output("", 0))
    return Frame(batch, slots, batch.existing)


def to_bytes(kind: Type, value: Value) -> Array:
    """The bytes of a uniform value in memory."""
    result = np.zeros(kind.size, np.uint8)
    members = members_of(kind)
    if members is not None:
        for member, offset, item in zip(members, member_offsets(kind), value, strict=True):
            result[offset:offset + member.size] = to_bytes(member, item)
    else:
        data = np.ascontiguousarray(value).reshape(-1).view(np.uint8)
        result[:len(data)] = data
    return result


class FunctionCompiler:
    """Compiles one function, or (``source`` None) folds constant expressions."""

    def __init__(self, kernel: KernelCompiler, source: spirv.Function | None) -> None:
        self.kernel = kernel
        self.module = kernel.module
        self.types = kernel.types
        self.source = source
        self.places: dict[int, RegisterPlace] = {}
        self.registers: set[int] = set()
        self._template: list[Value] = []
        self._slots: dict[int, int] = {}
        self._undefined: dict[int, Mark] = {}
        self._location: str | None = None
        if source is not None:
            self.registers = register_variables(self.module, self.types, source)

    # --- what handlers use ------------------------------------------------------------

    def type_of(self, identifier: int) -> Type:
        """The type of a value."""
        row = self.module.definition(identifier)
        if row.type_id is None:
            raise ValidationError("operand-value", f"{row.name} %{identifier} is not a value", row.offset)
        return self.types[row.type_id]

    def result_type(self, row: Instruction) -> Type:
        """The type of an instruction's result."""
        assert row.type_id is not None
        return self.types[row.type_id]

    def slot(self, identifier: int) -> int:
        """The slot of the frame that holds a value."""
        if identifier not in self._slots:
            row = self.module.definition(identifier)
            if self.kernel.is_constant(row):
                initial = self.kernel.value(identifier)
            elif identifier in self._local_ids:
                initial = zero(self.type_of(identifier))
            elif "Constant" in row.name:
                raise unsupported(row)
            else:
                raise ValidationError("id-scope", f"%{identifier} ({row.name}) is not a value of this function",
                                      row.offset)
            self._slots[identifier] = len(self._template)
            self._template.append(initial)
            if row.opcode in (Op.Undef, Op.PoisonKHR) and identifier not in self._local_ids:
                kind = self.type_of(identifier)
                self._undefined[self._slots[identifier]] = Mark(all_ones(kind), UNDEFINED)
        return self._slots[identifier]

    @cached_property
    def _local_ids(self) -> set[int | None]:
        if self.source is None:
            return set()
        rows = [*self.source.parameters, *(row for block in self.source.blocks for row in block.instructions)]
        return {row.result_id for row in rows}

    @cached_property
    def users(self) -> dict[int | None, list[Instruction]]:
        """The instructions of the function that use each id."""
        return users_of(() if self.source is None else self.source.blocks)

    def result(self, row: Instruction) -> int:
        """The slot of an instruction's result."""
        assert row.result_id is not None
        if row.result_id not in self._slots:
            self._slots[row.result_id] = len(self._template)
            self._template.append(zero(self.result_type(row)))
        return self._slots[row.result_id]

    def is_only_accessed(self, row: Instruction) -> bool:
        """Whether a pointer is used by loads and stores alone, of what it points to or of parts of it."""
        users = self.users.get(row.result_id, [])
        return bool(users) and all(
            user.opcode == Op.Load or (user.opcode == Op.Store and user.words[1] != row.result_id)
            or (user.opcode in PARTS and self.is_only_accessed(user)) for user in users)

    def constant(self, identifier: int) -> int | None:
        """The value of an integer constant (unsigned where its type has no sign), or None."""
        return constant_index(self.module, identifier)

    def site(self, row: Instruction) -> Site:
        """The place of an instruction, for messages."""
        return Site(self.kernel.kernel, self._location, row.name, self.kernel.language)

    def compute(self, row: Instruction, function: Callable[..., Value], *operands: int) -> Step:
        """A closure that applies ``function`` to the operands' values.

        On matrices the whole group that shares them must take part.
        """
        step = self.apply(row, function, *operands)
        kinds = [self.result_type(row), *map(self.type_of, operands)]
        matrix = next((kind for kind in kinds if isinstance(kind, MatrixType)), None)
        if matrix is None:
            return step
        site, shared = self.site(row), matrix

        def execute(frame: Frame) -> None:
            require_group(frame, site, shared)
            step(frame)

        return execute

    def apply(self, row: Instruction, function: Callable[..., Value], *operands: int) -> Step:
        """As ``compute``, for what lanes may do on their own with a matrix, too."""
        result = self.result(row)
        slots = [self.slot(operand) for operand in operands]
        if len(slots) == 1:
            only = slots[0]

            def execute(frame: Frame) -> None:
                values = frame.slots
                values[result] = function(values[only])
        elif len(slots) == 2:
            left, right = slots

            def execute(frame: Frame) -> None:
                values = frame.slots
                values[result] = function(values[left], values[right])
        else:

            def execute(frame: Frame) -> None:
                values = frame.slots
                values[result] = function(*[values[slot] for slot in slots])

        return execute

    def reader(self, pointer: int, row: Instruction, alignment: int | None = None) -> Load:
        """A closure that reads what ``pointer`` points to."""
        site = self.site(row)
        place = self.place(pointer)
        if place is not None:
            known = place
            return lambda frame: known.load(frame, site)
        kind = self.types.pointee(self.type_of(pointer))
        address, least = self._address(pointer, kind, site), alignment or kind.alignment
        return lambda frame: frame.memory.read(frame, address(frame), kind, least, site)

    def writer(self, pointer: int, row: Instruction, alignment: int | None = None) -> Store:
        """A closure that writes a value to where ``pointer`` points."""
        site = self.site(row)
        place = self.place(pointer)
        if place is not None:
            if place.slot is None:
                raise ValidationError("store-input", f"'{place.name}' cannot be written", row.offset)
            known = place
            return lambda frame, value: known.store(frame, value, site)
        kind = self.types.pointee(self.type_of(pointer))
        address, least = self._address(pointer, kind, site), alignment or kind.alignment
        return lambda frame, value: frame.memory.write(frame, address(frame), value, kind, least, site)

    def _address(self, pointer: int, kind: Type, site: Site) -> Callable[[Frame], Array]:
        """The addresses that a pointer has; of a matrix all work-items of the group have the same."""
        slot, matrix = self.slot(pointer), matrix_in(kind)
        if matrix is None:
            return lambda frame: frame.slots[slot]

        def agreed(frame: Frame) -> Array:
            address: Array = frame.slots[slot]
            agreed_value(frame, matrix, address, site, "pointer",
                         lambda address: frame.memory.describe(int(address), kind.size))
            return address

        return agreed

    def place(self, pointer: int) -> RegisterPlace | None:
        """The register variable or built-in input (or part of it) that a pointer is known to point to."""
        if pointer not in self.places:
            row = self.module.definition(pointer)
            if row.opcode == Op.Variable and self.module.is_built_in(row):
                self.places[pointer] = self._input(row)
        return self.places.get(pointer)

    def alignment(self, operands: Sequence[int]) -> int | None:
        """The literal of the Aligned bit in an instruction's memory operands, if it is there."""
        if not operands or not operands[0] & MemoryAccess.Aligned:
            return None
        alignment = operands[1] if len(operands) > 1 else 0
        if alignment < 1 or alignment & alignment - 1:
            raise ValidationError("memory-alignment", f"an alignment of {alignment} is not a power of two")
        return alignment

    # --- variables and chains ---------------------------------------------------------

    def variable(self, row: Instruction) -> Step | None:
        """OpVariable in a function: a register, or private memory; set again on each execution."""
        assert row.result_id is not None
        kind = self.types.pointee(self.result_type(row))
        if row.result_id in self.registers:
            slot = self._new_slot(zero(kind))
            name = f"variable '{self.kernel.name(row.result_id)}'"
            self.places[row.result_id] = RegisterPlace(name, lambda frame: frame.slots[slot], slot, kind)
        else:
            self._slots[row.result_id] = self._new_slot(self.kernel.variable(row))
        if len(row.words) < 2:
            return None
        initial = self.slot(row.words[1])
        write = self.writer(row.result_id, row)
        return lambda frame: write(frame, frame.slots[initial])

    def extend(self, row: Instruction) -> bool:
        """Compile an access chain into a register variable; False if its base is an address."""
        base = self.place(row.words[0])
        if base is None:
            return False
        indices = row.words[CHAINS[Op(row.opcode)]:]
        path = [Index(constant_index(self.module, word)) for word in indices]
        path = [index if index.constant is not None else Index(None, self.slot(word))
                for index, word in zip(path, indices, strict=True)]
        full = (*base.path, *path)
        path_type(base.kind, full)
        assert row.result_id is not None
        self.places[row.result_id] = replace(base, path=full)
        return True

    def _input(self, row: Instruction) -> RegisterPlace:
        assert row.result_id is not None
        kind = self.types.pointee(self.result_type(row))
        for decoration, words in self.module.decorations(row.result_id):
            if decoration == Decoration.BuiltIn:
                number = words[0]
                builtin = check_input(BuiltIn(number) if number in BuiltIn._value2member_map_ else number, kind)
                return RegisterPlace(builtin.name, partial(read_input, builtin=builtin, kind=kind), None, kind)
        raise Error(f"the input variable '{self.kernel.name(row.result_id)}' is no built-in")

    def _new_slot(self, initial: Value) -> int:
        self._template.append(initial)
        return len(self._template) - 1

    # --- the whole function -----------------------------------------------------------

    def compile(self) -> control.Function:
        """Compile every block."""
        source = self.source
        assert source is not None
        parameters = tuple(self.result(parameter) for parameter in source.parameters)
        shared = _used_elsewhere(source)
        blocks = []
        sites: dict[int, Site] = {}
        for block in source.blocks:
            self._location = line = None
            steps: list[Step] = []
            for row in block.instructions[:-1]:
                step = self._step(row)
                line = self._location or line
                if self.kernel.takes_turns:
                    sites[id(row)] = self.site(row)
                if step is not None:
                    steps.append(self._merging(row, step) if row.result_id in shared else step)
            last = block.terminator
            self._note_line(last)
            site = self.site(last)
            before = self._watched(last, None)
            steps += [before] if before is not None else []
            blocks.append(control.Block(tuple(steps), self._terminator(block),
                                        replace(site, location=site.location or line)))
        self._location = self._line_of_function()
        control.give_lines(blocks, successors_of(source.blocks), self._location)
        flow = self._flow
        for (head,) in flow.successors[len(blocks):]:
            blocks.append(control.Block((), control.branch(control.Edge(flow.place[head])), blocks[head].site))
        return control.Function(self.kernel.function_name(source.id), self._template, parameters,
                                [blocks[block] for block in flow.order], self._undefined,
                                turns_of(self, flow, sites) if sites else None, _loops(flow, blocks))

    @cached_property
    def _number(self) -> dict[int, int]:
        """The number of each block by its label."""
        assert self.source is not None
        return {block.label: number for number, block in enumerate(self.source.blocks)}

    @cached_property
    def _flow(self) -> Flow:
        assert self.source is not None
        return flow_of(successors_of(self.source.blocks), kept_in_loops(self.source.blocks))

    def fold(self, row: Instruction) -> Value:
        """The value of an OpSpecConstantOp."""
        opcode, *words = row.words
        inner = Instruction(opcode, row.type_id, row.result_id, tuple(words), row.offset)
        result = self.result(inner)
        step = self._step(inner)
        if step is None:
            raise Error(f"{inner.name} is not supported in a constant expression")
        frame = constant_frame(self._template)
        with np.errstate(all="ignore"):
            step(frame)
        return frame.slots[result]

    def _note_line(self, row: Instruction) -> bool:
        if row.opcode == Op.Line:
            self._location = line_text(self.module, row)
        elif row.opcode == Op.NoLine:
            self._location = None
        else:
            return False
        return True

    def _line_of_function(self) -> str | None:
        """The line of the OpLine right before the OpFunction, if there is one."""
        assert self.source is not None
        self._location = None
        for row in self.module.instructions:
            if row is self.source.instruction:
                break
            if not self._note_line(row):
                self._location = None
        return self._location

    def _step(self, row: Instruction) -> Step | None:
        if self._note_line(row):
            return None
        handler = self.kernel.handlers.get(row.opcode)
        if handler is None:
            raise unsupported(row, self._location)
        return self._watched(row, handler(self, row))

    def _watched(self, row: Instruction, step: Step | None) -> Step | None:
        for instrument in self.kernel.instruments:
            step = instrument(self, row, step)
        return step

    def _merging(self, row: Instruction, step: Step) -> Step:
        """Keep the result of lanes that wait elsewhere: their value may still be used."""
        kind = self.result_type(row)
        if isinstance(kind, VoidType) or row.result_id in self.places:
            return step
        slot = self.result(row)

        def execute(frame: Frame) -> None:
            old = frame.slots[slot]
            step(frame)
            if frame.merge:
                frame.slots[slot] = blend(kind, frame.mask.lanes, frame.slots[slot], old)

        return execute

    def _terminator(self, block: spirv.Block) -> control.Successor:
        row = block.terminator
        words = row.words
        match row.opcode:
            case Op.Branch:
                return control.branch(self._edge(block, words[0]))
            case Op.BranchConditional:
                return control.branch_conditional(
                    self.slot(words[0]), self._edge(block, words[1]), self._edge(block, words[2]))
            case Op.Switch:
                return self._switch(block)
            case Op.Return:
                return control.return_void
            case Op.ReturnValue:
                return control.return_value(self.slot(words[0]), self.type_of(words[0]))
            case Op.Unreachable:
                return control.unreachable(self.site(row))
        raise unsupported(row, self._location)

    def _switch(self, block: spirv.Block) -> control.Successor:
        selector = block.terminator.words[0]
        kind = self.type_of(selector)
        default, labels = switch_cases(block.terminator, kind.size)
        cases = {int(scalar(literal, kind).item()): self._edge(block, label) for literal, label in labels.items()}
        return control.switch(self.slot(selector), cases, self._edge(block, default))

    def _edge(self, block: spirv.Block, label: int) -> control.Edge:
        assert self.source is not None
        if label not in self._number:
            raise ValidationError("branch-target", f"%{label} is no block of this function",
                                  block.terminator.offset)
        phis = []
        for row in self.source.blocks[self._number[label]].instructions:
            if row.opcode == Op.Phi:
                sources = dict(zip(row.words[1::2], row.words[::2], strict=True))
                if block.label not in sources:
                    raise ValidationError("phi-parents", f"OpPhi %{row.result_id} has no value for its "
                                          f"predecessor %{block.label}", row.offset)
                phis.append((self.result(row), self.slot(sources[block.label]), self.result_type(row)))
        target = self._flow.way(self._number[block.label], self._number[label])
        return control.Edge(self._flow.place.get(target, RETURNED), tuple(phis))  # no place: nobody comes here


def _used_elsewhere(source: spirv.Function) -> set[int | None]:
    """The results that a block other than their own uses; a phi uses its values in the predecessors."""
    home = {row.result_id: block.label for block in source.blocks for row in block.instructions
            if row.result_id is not None}
    found: set[int | None] = set()
    for block in source.blocks:
        for row in block.instructions:
            if row.opcode == Op.Phi:
                pairs = zip(row.words[::2], row.words[1::2], strict=True)
                found.update(value for value, parent in pairs if home.get(value, parent) != parent)
                continue
            found.update(used for used in row.ids() if home.get(used, block.label) != block.label)
    return found


def _loops(flow: Flow, blocks: Sequence[control.Block]) -> tuple[LoopSite, ...]:
    """The loops of a function, smaller ones first; ``blocks`` in the order of its module, latches behind them."""
    found = [LoopSite(frozenset(flow.place[block] for block in loop.members if block in flow.place),
                      blocks[loop.head].site) for loop in flow.loops]
    return tuple(sorted(found, key=lambda loop: len(loop.blocks)))
