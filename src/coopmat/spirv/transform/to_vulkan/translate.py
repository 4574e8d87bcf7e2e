"""From a module of kernels to one compute shader."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

from coopmat.diagnostics import KernelNotSupported
from coopmat.spirv.analysis.matrix_uses import has_work_groups
from coopmat.spirv.analysis.sub_group_kernels import notices_sub_groups
from coopmat.spirv.analysis.types import PointerType, Type
from coopmat.spirv.grammar import (
    BuiltIn,
    Capability,
    Decoration,
    ExecutionMode,
    ExecutionModel,
    FunctionControl,
    Op,
    StorageClass,
)
from coopmat.spirv.module import Module
from coopmat.spirv.module.instruction import Instruction, make
from coopmat.spirv.transform.to_vulkan.block import HIDDEN, Block
from coopmat.spirv.transform.to_vulkan.exact_sums import with_exact_sums
from coopmat.spirv.transform.to_vulkan.features import (
    ALWAYS,
    BY_CAPABILITY,
    FLOAT_MODES,
    FLOAT_WIDTHS,
    RECONVERGENCE,
    features_of,
)
from coopmat.spirv.transform.to_vulkan.globals import constant_address
from coopmat.spirv.transform.to_vulkan.instructions import (
    arithmetic,
    assertions,
    async_copies,
    atomics,
    barriers,
    built_ins,
    composites,
    control_flow,
    conversions,
    dot_products,
    groups,
    mathematics,
    matrices,
    pointers,
    printing,
)
from coopmat.spirv.transform.to_vulkan.preparation import prepared
from coopmat.spirv.transform.to_vulkan.regions import Region
from coopmat.spirv.transform.to_vulkan.shader import ADDRESS_BYTES, Argument, Shader, VulkanTarget
from coopmat.spirv.transform.to_vulkan.tame import tame_of
from coopmat.spirv.transform.to_vulkan.translation import Handler, Translation
from coopmat.spirv.transform.to_vulkan.types import LOCAL, U32, U64, UNITS, as_number
from coopmat.spirv.transform.to_vulkan.writer import VERSION

LOCAL_SIZE_IDS = (0, 1, 2)
FIRST_LOCAL_ID = 16
"""The specialisation constant of the first local argument."""
FIRST_GRAIN_ID = 1 << 16
"""The specialisation constant of the first argument's grain."""
REGION_ALIGNMENT = 16
"""Bytes to which the variables in one region are aligned."""
_BASE = (Capability.Shader, Capability.PhysicalStorageBufferAddresses, Capability.VulkanMemoryModel)
_HANDLERS: Mapping[int, Handler] = MappingProxyType({
    op: handler for family in (composites, pointers, barriers, matrices, control_flow, mathematics, atomics, arithmetic,
                                         conversions, groups, async_copies, dot_products, assertions)
    for op, handler in family.HANDLERS.items()})
_OF_SUB_GROUPS = frozenset({"SubgroupSize", "NumSubgroups", "SubgroupId", "SubgroupLocalInvocationId"})
_USUAL_WIDTH = 32
"""Bits of the numbers that every driver's operations of sub-groups take."""
_TOGETHER = ("OpGroup", "OpSubgroup", "OpCooperativeMatrix")
_KERNEL_ONLY = frozenset({Capability.Kernel, Capability.Addresses, Capability.Linkage, Capability.Matrix})


def to_vulkan(module: Module, kernel: str, target: VulkanTarget) -> Shader:
    """One kernel of a valid module as a compute shader for drivers like ``target``.

    Raises KernelNotSupported, which names the feature, for what the driver cannot do; Error or ValidationError for a
    module that is not valid, has no such kernel, or only imports something that the kernel calls.
    """
    parts = prepared(module, kernel, target, _divides)
    found = _Shader(Translation(*parts, target)).done()
    tame = tame_of(parts[1], target)
    if tame is None:
        return found
    return replace(found, tame=tame, tame_spirv=_Shader(Translation(*parts, target, is_tame=True)).done().spirv)


_DIVIDING = atomics.WITH_BLOCKS | async_copies.WITH_BLOCKS | groups.OF_WORK_GROUPS


def _divides(module: Module, row: Instruction) -> bool:
    """Whether an instruction may become several blocks."""
    if row.opcode == Op.Select:
        return module.definition(row.type_id or 0).opcode == Op.TypeCooperativeMatrixKHR
    return row.opcode in _DIVIDING or row.opcode == Op.CopyMemorySized or printing.is_printf(row)


class _Shader:
    def __init__(self, translation: Translation) -> None:
        self.t = translation
        self.writer = translation.writer
        self.out = translation.writer.out
        self.arguments: list[Argument] = []
        self.local_bytes = 0
        self.has_work_groups = has_work_groups(translation.module)

    def done(self) -> Shader:
        t, out = self.t, self.out
        self._check_sub_group()
        self._lay_out()
        void = out.type_void()
        self._declare_sizes()
        t.block = Block(self.writer, t.layout, in_memory=t.layout.size > t.target.push_constant_bytes)
        function = out.begin_function(void, out.type_function(void, []), control=FunctionControl.None_)
        self.writer.begin(t.value(t.function.blocks[0].label))
        self._make_regions()
        self._bind()
        t.write_blocks(_HANDLERS, composites.copied)
        t.close_phis()
        out.end_function()
        if ExecutionMode.ContractionOff in dict(t.module.execution_modes(t.function.id)):
            out.keep_roundings()
        out.entry_point(function, t.kernel, model=ExecutionModel.GLCompute)
        out.execution_mode(function, ExecutionMode.LocalSizeId, *t.local_size)
        if self._meets():
            out.execution_mode(function, ExecutionMode.MaximallyReconvergesKHR)
            t.needed.add(RECONVERGENCE)
        for mode, name in FLOAT_MODES.values():
            for width in FLOAT_WIDTHS:
                if f"{name}{width}" in t.target.features:
                    out.execution_mode(function, mode, width)
        out.name(function, t.kernel)
        return self._finished(with_exact_sums(out.finish()))

    def _check_sub_group(self) -> None:
        """A kernel that requires another sub-group size is not for this pipeline, if that makes a difference to it."""
        t = self.t
        modes = dict(t.module.execution_modes(t.function.id))
        required = modes.get(ExecutionMode.SubgroupSize, (t.target.sub_group_size,))[0]
        if required != t.target.sub_group_size and notices_sub_groups(t.module, t.kernel):
            raise KernelNotSupported(f"kernel '{t.kernel}' requires sub-groups of {required}; the shader would run in "
                                     f"sub-groups of {t.target.sub_group_size}", t.kernel)

    # -- the argument block ------------------------------------------------------------

    def _lay_out(self) -> None:
        """Decide where each parameter is."""
        t = self.t
        for number, parameter in enumerate(t.function.parameters):
            kind = t.result_type(parameter)
            if not isinstance(kind, PointerType):
                offset = t.layout.place(kind.size, kind.alignment)
                self.arguments.append(Argument("value", offset, kind.size, grain_id=self._grain_id(number, kind)))
            elif kind.storage == StorageClass.Workgroup:
                region = t.regions.of(parameter.result_id or 0)
                assert region is not None
                self.arguments.append(Argument("local", 0, 0, FIRST_LOCAL_ID + number, region.unit))
            elif kind.storage == StorageClass.Function:
                pointee = t.table.pointee(kind)
                self.arguments.append(Argument("value", t.layout.place(pointee.size, pointee.alignment), pointee.size))
            else:
                self.arguments.append(Argument("pointer", t.layout.place(ADDRESS_BYTES, ADDRESS_BYTES), ADDRESS_BYTES,
                                               grain_id=self._grain_id(number, kind)))
        t.layout.hide({name for name in (*built_ins.hidden(t), *self._other_hidden()) if name in HIDDEN})

    def _meets(self) -> bool:
        """Whether it matters which work-items come to an instruction together, and the driver has a mode for it."""
        return RECONVERGENCE in self.t.target.features and any(
            row.name.startswith(_TOGETHER) for block in self.t.function.blocks for row in block.instructions)

    def _other_hidden(self) -> Iterator[str]:
        if self.t.image.offsets:
            yield "globals"
        if any(printing.is_printf(row) or assertions.is_failure(self.t.module, row)
               for block in self.t.function.blocks for row in block.instructions):
            yield "printf"

    def _declare_sizes(self) -> None:
        out, kind = self.out, self.writer.types(U32)
        self.t.local_size = [out.spec_constant(kind, 1, number) for number in LOCAL_SIZE_IDS]

    def _bind(self) -> None:
        """Parameters become values."""
        t = self.t
        for parameter, argument in zip(t.function.parameters, self.arguments, strict=True):
            kind, identifier = t.result_type(parameter), parameter.result_id or 0
            if argument.kind == "local":
                continue
            if isinstance(kind, PointerType) and kind.storage in LOCAL:
                pointee = t.table.pointee(kind)
                t.memory.store(pointee, t.block.load(pointee, argument.offset), t.place(identifier, pointee.alignment))
            elif t.is_used(identifier):
                value = t.block.load(kind, argument.offset)
                t.values[identifier] = value if argument.grain_id is None else self._in_grains(kind, value, argument)
        self._bind_globals()
        self._compute_constants()

    def _in_grains(self, kind: Type, value: int, argument: Argument) -> int:
        """The argument as what it is a multiple of, so that drivers see that."""
        number = as_number(kind)
        grain = self.out.spec_constant(self.writer.types(U32), 0, argument.grain_id or 0)
        whole = self.writer.op(Op.ShiftRightLogical, number, value, grain)
        return self.writer.op(Op.ShiftLeftLogical, number, whole, grain)

    def _grain_id(self, number: int, kind: Type) -> int | None:
        """Of an argument: lines of matrices of work-groups are loaded as wide as their alignment is known to be."""
        return FIRST_GRAIN_ID + number if self.has_work_groups and as_number(kind) in (U32, U64) else None

    def _compute_constants(self) -> None:
        """Constant expressions that were not folded are computed where the kernel begins."""
        t = self.t
        for row in t.module.of_opcode(Op.SpecConstantOp):
            if row.result_id not in t.values and not isinstance(t.result_type(row), PointerType):
                inner = Instruction(row.words[0], row.type_id, row.result_id, row.words[1:])
                _HANDLERS.get(inner.opcode, composites.copied)(t, inner)

    def _bind_globals(self) -> None:
        """Program-scope variables become addresses, and so do constants that are computed of them."""
        t, image = self.t, self.t.image
        if not image.offsets:
            return
        base = t.block.hidden("globals")
        for identifier, offset in image.offsets.items():
            if not t.module.defines(identifier):
                continue
            t.values[identifier] = self.writer.add(U64, base, self.writer.integer(offset, U64))
        for row in t.module.of_opcode(Op.SpecConstantOp):
            if t.is_used(row.result_id or 0) and isinstance(t.result_type(row), PointerType):
                number, is_address = constant_address(t.module, t.table, image, row.result_id or 0)
                value = self.writer.integer(number, U64)
                t.values[row.result_id or 0] = self.writer.add(U64, base, value) if is_address else value

    # -- regions -----------------------------------------------------------------------

    def _make_regions(self) -> None:
        for region in self.t.regions.all():
            if region.is_typed:
                self._make_typed(region)
            elif region.members:
                self._make_array(region)
            else:
                raise self.t.refuse("a pointer to private or local memory that no variable is")

    def _make_typed(self, region: Region) -> None:
        identifier = region.members[0]
        kind = self.writer.types(self.t.pointee(identifier))
        is_function = region.storage == StorageClass.Function
        self.t.typed[identifier] = self.out.local_variable(kind) if is_function else \
            self.out.global_variable(StorageClass(region.storage), kind)

    def _make_array(self, region: Region) -> None:
        """One array for all members: those of known size first."""
        t, writer = self.t, self.writer
        parameters = {row.result_id: number for number, row in enumerate(t.function.parameters)}
        unit = region.unit
        step = max(1, REGION_ALIGNMENT // unit)
        total = 0
        arguments = []
        for member in region.members:
            if region.storage == StorageClass.Workgroup and member in parameters:
                arguments.append(member)
                continue
            t.values[member] = writer.integer(total)
            count = max(1, -(-t.pointee(member).size // unit))
            total += count if member == region.members[-1] else -(-count // step) * step
        length = writer.integer(total)
        if region.storage == StorageClass.Workgroup:
            self.local_bytes += total * unit
        for member in arguments:
            base = self._rounded(length, step) if writer.known(length) != 0 else length
            t.values[member] = base
            count = self.out.spec_constant(writer.types(U32), 1, FIRST_LOCAL_ID + parameters[member])
            length = count if writer.known(base) == 0 else self._spec(Op.IAdd, base, count)
        array = self.out.type_array_of(writer.types(UNITS[unit]), length)
        t.arrays[region] = self.out.local_variable(array) if region.storage == StorageClass.Function else \
            self.out.global_variable(StorageClass(region.storage), array)

    def _rounded(self, length: int, step: int) -> int:
        known = self.writer.known(length)
        if known is not None:
            return self.writer.integer(-(-known // step) * step)
        more = self._spec(Op.IAdd, length, self.writer.integer(step - 1))
        return self._spec(Op.BitwiseAnd, more, self.writer.integer(0xFFFFFFFF & -step))

    def _spec(self, op: Op, a: int, b: int) -> int:
        return self.out.constant_operation(self.writer.types(U32), op, a, b)

    # -- the module --------------------------------------------------------------------

    def _finished(self, module: Module) -> Shader:
        t = self.t
        capabilities = self._capabilities(module)
        known = {*BY_CAPABILITY, *FLOAT_MODES, *_BASE, Capability.Int64Atomics}
        unknown = sorted(one.name for one in capabilities - known)
        if unknown:
            raise KernelNotSupported(f"kernel '{t.kernel}' needs what Vulkan does not have: "
                                     f"{', '.join(unknown)}", t.kernel)
        needed = ALWAYS | features_of(capabilities).keys() | t.needed
        if _has_extended_types(module):
            needed |= {"shaderSubgroupExtendedTypes"}
        missing = sorted(needed - t.target.features)
        if missing:
            raise KernelNotSupported(f"kernel '{t.kernel}' needs what the driver does not have: the feature"
                                     f"{'s' if len(missing) > 1 else ''} {', '.join(missing)}", t.kernel)
        if self.local_bytes > t.target.local_memory_bytes:
            raise KernelNotSupported(f"kernel '{t.kernel}' needs {self.local_bytes} bytes of local memory; the driver "
                                     f"has {t.target.local_memory_bytes} (maxComputeSharedMemorySize)", t.kernel)
        rows = [row for row in module.instructions if row.opcode != Op.Capability]
        shader = Module([*(make(Op.Capability, one) for one in sorted(capabilities)), *rows],
                        version=VERSION[0] << 16 | VERSION[1] << 8, generator=module.generator, bound=module.bound)
        return Shader(
            spirv=shader.to_bytes(), entry_point=t.kernel, arguments=tuple(self.arguments), block_size=t.layout.size,
            block_in_memory=t.block.in_memory, hidden=MappingProxyType(dict(t.layout.hidden)),
            local_size_spec_ids=LOCAL_SIZE_IDS, globals_image=bytes(self.t.image.content),
            globals_relocations=tuple(self.t.image.relocations), print_calls=tuple(t.print_calls),
            assertions=tuple(t.assertions), local_bytes=self.local_bytes, features=frozenset(needed),
            sub_group_size=t.target.sub_group_size if self._counts_on_sub_groups(capabilities) else None)

    def _counts_on_sub_groups(self, capabilities: set[Capability]) -> bool:
        """Whether the shader computes something else with sub-groups of another size."""
        required = ExecutionMode.SubgroupSize in dict(self.t.module.execution_modes(self.t.function.id))
        return required or any("GroupNonUniform" in one.name or "CooperativeMatrix" in one.name for one in capabilities)

    def _capabilities(self, module: Module) -> set[Capability]:
        found = {Capability(one) for one in module.capabilities} - _KERNEL_ONLY | set(_BASE) | self.t.capabilities
        if any(row.words[1] == Decoration.BuiltIn and BuiltIn(row.words[2]).name in _OF_SUB_GROUPS
               for row in module.of_opcode(Op.Decorate)):
            found.add(Capability.GroupNonUniform)
        return found


def _has_extended_types(module: Module) -> bool:
    """Whether operations of sub-groups work on numbers that are not 32 bits wide."""
    for row in module.instructions:
        if row.type_id is not None and row.name.startswith("OpGroupNonUniform"):
            kind = module.definition(row.type_id)
            scalar = module.definition(kind.words[0]) if kind.opcode == Op.TypeVector else kind
            if scalar.opcode in (Op.TypeInt, Op.TypeFloat) and scalar.words[0] != _USUAL_WIDTH:
                return True
    return False
