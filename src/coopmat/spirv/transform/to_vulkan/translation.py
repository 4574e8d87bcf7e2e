"""The translation of one kernel: its blocks, instruction by instruction."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from coopmat.diagnostics import Error, KernelNotSupported
from coopmat.spirv.analysis.types import ArrayType, PointerType, StructType, Type, TypeTable, VectorType
from coopmat.spirv.grammar import BuiltIn, Capability, Decoration, Op, Scope, StorageClass
from coopmat.spirv.module import Module
from coopmat.spirv.module.content import Function
from coopmat.spirv.module.instruction import Instruction, make
from coopmat.spirv.module.operands import decode_number
from coopmat.spirv.transform.to_vulkan.block import Block, Layout
from coopmat.spirv.transform.to_vulkan.globals import Image, image_of, is_global_variable
from coopmat.spirv.transform.to_vulkan.memory import Memory, Place, orders_global_memory
from coopmat.spirv.transform.to_vulkan.regions import Region, Regions
from coopmat.spirv.transform.to_vulkan.shader import PrintedCall, VulkanTarget
from coopmat.spirv.transform.to_vulkan.types import LOCAL, U32, U64
from coopmat.spirv.transform.to_vulkan.writer import Writer
from coopmat.support.limits import DEEPEST_TYPE

NULL_POSITION = 0xFFFFFFFF
"""The null pointer among positions."""
_CONSTANTS = frozenset({Op.Constant, Op.ConstantTrue, Op.ConstantFalse, Op.ConstantNull, Op.ConstantComposite,
                        Op.ConstantCompositeReplicateEXT, Op.Undef})

Handler = Callable[["Translation", Instruction], None]


class Translation:
    """One kernel on its way to a shader. ``whole``: the module with all its kernels. ``is_tame``: it is one for tame
    launches. ``values``: id in the kernel → id in the shader."""

    def __init__(self, whole: Module, module: Module, function: Function, target: VulkanTarget, *,
                 is_tame: bool = False) -> None:
        self.module = module
        self.is_tame = is_tame
        self.function = function
        self.target = target
        self.kernel = module.entry_points[0].name
        self.table = TypeTable(module, target.sub_group_size)
        self.writer = Writer()
        self.memory = Memory(self.writer, hands_over=any(
            orders_global_memory(module, row) for block in function.blocks for row in block.instructions))
        self.regions = Regions(module, function, self.table)
        self.layout = Layout()
        self.used = {identifier for one in function.blocks for row in one.instructions for identifier in row.ids()}
        self.image = image_of(whole, TypeTable(whole, target.sub_group_size)) if self._uses_globals() else Image()
        self.block: Block
        self.arrays: dict[Region, int] = {}
        self.values: dict[int, int] = {}
        self.typed: dict[int, int] = {}  # pointer into a variable with its own type → pointer in the shader
        self.ends: dict[int, int] = {}  # label of a block → label of its last part in the shader
        self.print_calls: list[PrintedCall] = []
        self.assertions: list[str] = []  # what each says that may fail
        self.alignments: dict[int, int] = {}  # of pointers whose type tells too much
        self.built_in_parts: dict[int, tuple[int, int]] = {}  # pointer → built-in variable and index
        self.inputs: dict[BuiltIn, int] = {}
        self.local_size: list[int] = []
        self.needed: set[str] = set()
        self.capabilities: set[Capability] = set()  # that no instruction tells
        self.scratch: dict[tuple[int, int], int] = {}  # bytes and number of elements → an array of local memory
        self.end: Instruction  # of the block that is being translated
        self._phis: list[tuple[Instruction, Instruction]] = []

    # -- types and values --------------------------------------------------------------

    def type_of(self, identifier: int) -> Type:
        """The type of a value in the kernel."""
        return self.table[self.module.definition(identifier).type_id or 0]

    def pointee(self, pointer: int) -> Type:
        """What a pointer in the kernel points to."""
        return self.table.pointee(self.type_of(pointer))

    def result_type(self, row: Instruction) -> Type:
        """The type of an instruction's result."""
        return self.table[row.type_id or 0]

    def value(self, identifier: int) -> int:
        """The id in the shader of a value, an extended set or a label."""
        if identifier not in self.values:
            row = self.module.definition(identifier)
            self.values[identifier] = self._constant(row) if row.opcode in _CONSTANTS else self.writer.out.new_id()
        return self.values[identifier]

    def define(self, row: Instruction, value: int) -> None:
        """Say that a value of the shader stands for an instruction's result."""
        result = row.result_id or 0
        if result in self.values:
            self.writer.op(Op.CopyObject, self.result_type(row), value, result=self.values[result])
        else:
            self.values[result] = value

    def result(self, row: Instruction) -> int:
        """The id in the shader of an instruction's result, which is defined right now."""
        return self.value(row.result_id or 0)

    def integer_of(self, identifier: int) -> int | None:
        """The value of an integer constant of the kernel."""
        row = self.module.definition(identifier)
        value = self.module.constant_value(identifier) if row.opcode in (Op.Constant, Op.ConstantNull) else None
        return value if isinstance(value, int) else None

    def _constant(self, row: Instruction, depth: int = 0) -> int:
        kind, out = self.result_type(row), self.writer.out
        type_id = self.writer.types(kind)
        if depth > DEEPEST_TYPE:
            raise Error(f"constants are nested more than {DEEPEST_TYPE} deep")
        if row.opcode == Op.Undef:
            return out.undef(type_id)
        if row.opcode == Op.ConstantNull:
            if isinstance(kind, PointerType):
                is_position = kind.storage in LOCAL
                return self.writer.integer(NULL_POSITION if is_position else 0, U32 if is_position else U64)
            if kind.count == 1 and not isinstance(kind, StructType) and hasattr(kind, "width"):
                return self.writer.number(0, kind)
            return out.constant_null(type_id)
        if row.opcode == Op.Constant:
            value = self.integer_of(row.result_id or 0)
            if value is not None:
                return self.writer.integer(value, kind)
            return out.constant_bits(type_id, decode_number(row.words))
        if row.opcode in (Op.ConstantTrue, Op.ConstantFalse):
            return out.constant_bool(row.opcode == Op.ConstantTrue)
        parts = [self.value(word) for word in row.words]
        if row.opcode == Op.ConstantCompositeReplicateEXT:
            parts *= kind.length if isinstance(kind, VectorType | ArrayType) else \
                len(kind.members) if isinstance(kind, StructType) else 1
        if isinstance(kind, VectorType) and kind.length > 4:
            part = self.writer.types(VectorType(kind.component, 4))
            parts = [out.constant_composite(part, parts[i:i + 4]) for i in range(0, kind.length, 4)]
        return out.constant_composite(type_id, parts)

    def is_used(self, identifier: int) -> bool:
        """Whether the kernel's blocks name an id."""
        return identifier in self.used

    def most_sub_groups(self) -> int:
        """A constant: as many as a work-group's sub-groups, or more."""
        integer, out = self.writer.types(U32), self.writer.out
        x, y, z = self.local_size
        total = out.constant_operation(integer, Op.IMul, out.constant_operation(integer, Op.IMul, x, y), z)
        size = self.target.sub_group_size
        more = out.constant_operation(integer, Op.IAdd, total, self.writer.integer(size - 1))
        return out.constant_operation(integer, Op.UDiv, more, self.writer.integer(size))

    def _uses_globals(self) -> bool:
        """Whether the kernel names program-scope variables, or constants made of them."""
        return any(self.is_used(row.result_id or 0) and (row.opcode == Op.SpecConstantOp or is_global_variable(
            self.module, row)) for row in self.module.of_opcode(Op.Variable, Op.SpecConstantOp))

    def device_scope(self) -> int:
        """The scope of a device; that of a queue family where the driver has none of devices."""
        if "vulkanMemoryModelDeviceScope" not in self.target.features:
            return Scope.QueueFamily
        self.capabilities.add(Capability.VulkanMemoryModelDeviceScope)
        return Scope.Device

    def need(self, feature: str) -> None:
        """Say that the shader needs a feature of Vulkan that no capability tells."""
        self.needed.add(feature)

    def refuse(self, what: str, row: Instruction | None = None) -> KernelNotSupported:
        """The error for what the driver, or any shader, cannot do."""
        return KernelNotSupported(f"kernel '{self.kernel}' cannot run as a Vulkan shader: {what}", self.kernel)

    # -- places ------------------------------------------------------------------------

    def place(self, pointer: int, alignment: int, flags: int = 0) -> Place:
        """Where a pointer of the kernel points."""
        region = self.regions.of(pointer)
        position = self.value(pointer)
        if region is None:
            return Place(position, alignment, flags)
        return Place(position, region.unit, flags, self.arrays[region], region.unit, region.storage)

    # -- blocks ------------------------------------------------------------------------

    def write_blocks(self, handlers: Mapping[int, Handler], default: Handler) -> None:
        """All blocks of the kernel; the first one has begun."""
        for number, block in enumerate(self.function.blocks):
            if number:
                self.writer.begin(self.value(block.label))
            self.end = block.terminator
            for row in block.instructions:
                if row.opcode == Op.Phi:
                    self._phi(row)
                else:
                    handlers.get(row.opcode, default)(self, row)
            self.ends[block.label] = self.writer.label

    def _phi(self, row: Instruction) -> None:
        """Its operands are filled in when every block has been written."""
        item = make(Op.Phi, type_id=self.writer.types(self.result_type(row)), result_id=self.result(row))
        self.writer.out.append(item)
        self._phis.append((row, item))

    def close_phis(self) -> None:
        """Give each phi its values."""
        for row, item in self._phis:
            words = [self.value(word) if place % 2 == 0 else self.ends[word] for place, word in enumerate(row.words)]
            item.words = tuple(words)

    def is_decorated(self, identifier: int, decoration: Decoration) -> tuple[int, ...] | None:
        """The operands of a value's decoration; None if it has none such."""
        return next((words for name, words in self.module.decorations(identifier) if name == decoration), None)

    def is_global(self, pointer: int) -> bool:
        """Whether a pointer is an address."""
        kind = self.type_of(pointer)
        return isinstance(kind, PointerType) and kind.storage not in LOCAL and kind.storage != StorageClass.Input
