"""Compute shaders become kernels of the same names, which take what docs/shaders.md says."""

from __future__ import annotations

from coopmat.diagnostics import Error
from coopmat.spirv.analysis.shader_interface import (
    Interface,
    functions_reached,
    interfaces,
    is_shader,
    rows_of,
)
from coopmat.spirv.analysis.shader_layout import Placed
from coopmat.spirv.edit.builder import ModuleBuilder
from coopmat.spirv.edit.specialization import frozen
from coopmat.spirv.grammar import (
    BuiltIn,
    Decoration,
    ExecutionMode,
    ExecutionModel,
    FunctionControl,
    FunctionParameterAttribute,
    Op,
    StorageClass,
)
from coopmat.spirv.module import Module
from coopmat.spirv.module.content import EntryPoint, Function
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.transform.from_shader.instructions import Instructions
from coopmat.spirv.transform.from_shader.memory import Pointer
from coopmat.spirv.transform.from_shader.state import Translation
from coopmat.spirv.transform.from_shader.types import Leaf
from coopmat.spirv.transform.goal import Goal
from coopmat.spirv.transform.inline import inline

SIZE_PREFIX = "bytes of "
"""How the name of a parameter begins that is the size of a buffer; these come last."""
_KEPT_DECORATIONS = frozenset({Decoration.FPRoundingMode, Decoration.FPFastMathMode, Decoration.NoSignedWrap,
                               Decoration.NoUnsignedWrap})
_LONG, _CHUNK = 64, 16


def to_kernels(module: Module) -> Module:
    """A module of kernels that compute what a module's compute shaders do; specialisation constants have their
    defaults.

    Kernels' parameters are those of :func:`~coopmat.spirv.analysis.shader_interface.interfaces`, and then the
    sizes in bytes, as 64-bit integers, of the buffers that their ``measured`` names. Raises Error for what kernels do
    not have, such as images.
    """
    if not is_shader(module):
        raise Error("the module has no compute shaders (GLCompute)")
    module = frozen(module)
    sizes = {entry.name: _local_size(module, entry) for entry in module.entry_points
             if entry.model == ExecutionModel.GLCompute}
    found = interfaces(module)
    module = inline(_without_requests(module), Goal(), lambda text: None)
    builder = ModuleBuilder()
    translation = Translation(module, builder)
    variables = _Variables(translation, found)
    for name, interface in found.items():
        _Kernel(translation, interface, variables).add(sizes[name])
    return builder.finish()


def declarations(module: Module) -> Module:
    """Kernels with the parameters of those of :func:`to_kernels` that do nothing: what a host needs to know of shaders
    that go to a driver as they are."""
    module = frozen(module)
    builder = ModuleBuilder()
    translation = Translation(module, builder)
    for name, interface in interfaces(module).items():
        kernel = _Kernel(translation, interface, None)
        kernel.add_declaration(_local_size(module, kernel.interface.entry), name)
    return builder.finish()


def _local_size(module: Module, entry: EntryPoint) -> tuple[int, int, int]:
    """The size of work-groups; a constant with the decoration WorkgroupSize goes before the execution mode."""
    modes = dict(module.execution_modes(entry.function_id))
    words = modes.get(ExecutionMode.LocalSize)
    ids = modes.get(ExecutionMode.LocalSizeId)
    for row in module.of_opcode(Op.Decorate):
        if row.words[1:] == (Decoration.BuiltIn, BuiltIn.WorkgroupSize) \
                and module.definition(row.words[0]).opcode == Op.ConstantComposite:
            ids = module.definition(row.words[0]).words
    match list(map(module.constant_value, ids)) if ids is not None else list(words or ()):
        case [int(x), int(y), int(z)] if min(x, y, z) > 0:
            return x, y, z
    raise Error(f"compute shader '{entry.name}' has no size of work-groups that is known when the kernel is built "
                "(LocalSize, LocalSizeId)")


def _without_requests(module: Module) -> Module:
    """The module without the wish that calls stay calls: pointers to descriptors cannot be passed."""
    def change(row: Instruction) -> Instruction | None:
        if row.opcode != Op.Function or not row.words[0] & FunctionControl.DontInline:
            return None
        words = (row.words[0] & ~int(FunctionControl.DontInline), *row.words[1:])
        return Instruction(row.opcode, row.type_id, row.result_id, words, row.offset)
    return module.rewritten(change)


class _Variables:
    """The variables of local memory and of work-items that the kernels share, or one of them has for itself."""

    def __init__(self, to: Translation, found: dict[str, Interface]) -> None:
        self.to = to
        self.blocks: int | None = None
        self.leaf = Leaf(to.builder.type_vector(to.builder.type_int(32), 4), _CHUNK)
        users: dict[int, int] = {}
        for interface in found.values():
            for function in functions_reached(to.module, interface.entry.function_id):
                for identifier in {one for row in rows_of(function) for one in row.ids()}:
                    users[identifier] = users.get(identifier, 0) + 1
        laid_out = 0
        private = [row for row in to.module.of_opcode(Op.Variable)
                   if row.words[0] == StorageClass.Private and row.result_id in users]
        if all(users[row.result_id or 0] == 1 for row in private):
            to.types.private = StorageClass.Function
        self.own: list[Instruction] = []
        """Variables of work-items, where each is used by one function: its own ones."""
        self.laid_out: list[Instruction] = []
        """Blocks of local memory, which share it."""
        for row in to.module.of_opcode(Op.Variable):
            if row.result_id not in users or row.words[0] not in (StorageClass.Workgroup, StorageClass.Private):
                continue
            if to.types.is_laid_out(row.type_id):
                self.laid_out.append(row)
                pointee = to.module.definition(row.type_id or 0).words[1]
                laid_out = max(laid_out, to.types.layout.size(Placed(pointee)))
            elif row.words[0] == StorageClass.Private and to.types.private == StorageClass.Function:
                self.own.append(row)
            else:
                self._add(row)
        if self.laid_out:
            array = to.builder.type_array(self.leaf.type_id, -(-laid_out // _CHUNK))
            self.blocks = to.builder.global_variable(StorageClass.Workgroup, array)

    def _add(self, row: Instruction) -> None:
        kind = self.to.types[self.to.module.definition(row.type_id or 0).words[1]]
        initial = self.to.id(row.words[1]) if len(row.words) > 1 else None
        new = self.to.builder.global_variable(StorageClass(row.words[0]), kind, initial)
        self.to.ids[row.result_id or 0] = new
        if name := self.to.module.names.get(row.result_id or 0):
            self.to.builder.name(new, name)


class _Kernel:
    """One compute shader being translated."""

    def __init__(self, to: Translation, interface: Interface, variables: _Variables | None) -> None:
        self.to = to
        self.interface = interface
        self.variables = variables
        self.builder = to.builder

    def add(self, local_size: tuple[int, int, int]) -> None:
        """Add the kernel and the functions that its instructions run."""
        entry = self.interface.entry
        for function in functions_reached(self.to.module, entry.function_id):
            if function.id == entry.function_id:
                new = self._add_entry(function)
            elif function.id not in self.to.ids or not self._is_known(function.id):
                self._add_function(function)
        self.builder.entry_point(new, entry.name)
        self._add_modes(new, local_size)

    def add_declaration(self, local_size: tuple[int, int, int], name: str) -> None:
        """Add a kernel that does nothing."""
        new, _ = self._begin()
        self.builder.begin_block()
        self.builder.emit(Op.Return)
        self.builder.end_function()
        self.builder.entry_point(new, name)
        self.builder.execution_mode(new, ExecutionMode.LocalSize, *local_size)

    def _is_known(self, function: int) -> bool:
        return any(body.id == self.to.ids[function] for body in self.builder._functions)

    def _add_modes(self, new: int, local_size: tuple[int, int, int]) -> None:
        if ExecutionMode.RoundingModeRTZ in dict(self.to.module.execution_modes(self.interface.entry.function_id)):
            raise Error("the shader asks for rounding towards zero (RoundingModeRTZ), which kernels do not have")
        self.builder.execution_mode(new, ExecutionMode.LocalSize, *local_size)
        if any(row.words[1:] == (Decoration.NoContraction,) for row in self.to.module.of_opcode(Op.Decorate)):
            self.builder.execution_mode(new, ExecutionMode.ContractionOff)

    # --- functions ----------------------------------------------------------------------

    def _begin(self) -> tuple[int, list[int]]:
        """Begin the kernel's function: its id and its parameters."""
        slots, types = self.interface.slots, self.to.types
        kinds = []
        for slot in slots:
            if slot.is_buffer:
                pointee = types.leaf(slot.placed).type_id
                kinds.append(self.builder.type_pointer(StorageClass.CrossWorkgroup, pointee))
            else:
                kinds.append(types[slot.placed.type_id])
        kinds += [self.builder.type_int(_LONG)] * len(self.interface.measured)
        void = self.builder.type_void()
        new = self.builder.begin_function(void, self.builder.type_function(void, kinds))
        parameters = [self.builder.parameter(kind) for kind in kinds]
        names = [slot.name for slot in slots]
        names += [SIZE_PREFIX + names[place] for place in self.interface.measured]
        for parameter, name in zip(parameters, names, strict=True):
            self.builder.name(parameter, name)
        for slot, parameter in zip(slots, parameters, strict=False):
            if slot.is_buffer and slot.is_read_only:
                self.builder.decorate(parameter, Decoration.FuncParamAttr, FunctionParameterAttribute.NoWrite)
        return new, parameters

    def _add_entry(self, function: Function) -> int:
        slots, types = self.interface.slots, self.to.types
        new, parameters = self._begin()
        work = Instructions(self.to)
        for slot, parameter in zip(slots, parameters, strict=False):
            if not slot.is_buffer:
                work.blocks.add(slot.variable, slot.path, parameter)
                continue
            leaf = types.leaf(slot.placed)
            work.memory.pointers[slot.variable] = Pointer(parameter, StorageClass.CrossWorkgroup, leaf,
                                                          self._alignment(slot.placed))
            self.to.ids[slot.variable] = parameter
        for place, parameter in zip(self.interface.measured, parameters[len(slots):], strict=True):
            work.sizes[slots[place].variable] = parameter
        self._add_body(function, work)
        return new

    def _alignment(self, block: Placed) -> int:
        """What the address of a buffer is a multiple of: the size of what its parameter points to, or of the largest
        scalar where that is bytes."""
        leaf = self.to.types.leaf(block)
        if leaf != self.to.types.bytes:
            return leaf.size
        return max(self.to.types.leaf(Placed(one)).size for one in self.to.types.layout.scalars(block))

    def _add_function(self, function: Function) -> None:
        row = function.instruction
        self.builder.begin_function(self.to.types[row.type_id or 0], self.to.types[row.words[1]],
                                    identifier=self.to.id(function.id))
        for parameter in function.parameters:
            self.to.ids[parameter.result_id or 0] = self.builder.parameter(self.to.types[parameter.type_id or 0])
        self._add_body(function, Instructions(self.to), is_entry=False)

    def _add_body(self, function: Function, work: Instructions, *, is_entry: bool = True) -> None:
        for position, block in enumerate(function.blocks):
            self.builder.begin_block(self.to.id(block.label))
            if position == 0 and is_entry:
                self._add_variables(function, work)
            for row in block.instructions:
                work.translate(row)
                self._annotate(row)
        self.builder.end_function()

    def _add_variables(self, function: Function, work: Instructions) -> None:
        assert self.variables is not None
        used = {identifier for row in rows_of(function) for identifier in row.ids()}
        for row in self.variables.own:
            if row.result_id in used:
                work.translate(row)
                self._annotate(row)
        if self.variables.blocks is not None:
            leaf = self.variables.leaf
            pointer = self.builder.type_pointer(StorageClass.Workgroup, leaf.type_id)
            base = self.to.value(Op.InBoundsAccessChain, pointer, self.variables.blocks, self.to.uint(0))
            for row in self.variables.laid_out:
                work.memory.pointers[row.result_id or 0] = Pointer(base, StorageClass.Workgroup, leaf, _CHUNK)

    def _annotate(self, row: Instruction) -> None:
        """A result's name, and the decorations that kernels have."""
        new = self.to.ids.get(row.result_id or 0)
        if new is None:
            return
        if name := self.to.module.names.get(row.result_id or 0):
            self.builder.name(new, name)
        for one, words in self.to.module.decorations(row.result_id or 0):
            if isinstance(one, Decoration) and one in _KEPT_DECORATIONS:
                self.builder.decorate(new, one, *words)
