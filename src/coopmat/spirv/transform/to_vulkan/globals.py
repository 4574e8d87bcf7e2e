"""Program-scope variables and constants: one image of what a kernel uses, which the runtime copies to the device."""

from __future__ import annotations

from dataclasses import dataclass, field

from coopmat.diagnostics import Error
from coopmat.spirv.analysis.types import ArrayType, PointerType, StructType, Type, TypeTable, VectorType, round_up
from coopmat.spirv.grammar import Decoration, Op, StorageClass
from coopmat.spirv.module import Module
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.module.operands import decode_number
from coopmat.spirv.transform.to_vulkan.regions import steps

_STORAGES = frozenset({StorageClass.CrossWorkgroup, StorageClass.UniformConstant})
LEAST_ALIGNMENT = 16
_CASTS = frozenset({Op.Bitcast, Op.PtrCastToGeneric, Op.GenericCastToPtr, Op.ConvertPtrToU, Op.ConvertUToPtr,
                    Op.UConvert})
_CHAINS = frozenset({Op.AccessChain, Op.InBoundsAccessChain, Op.PtrAccessChain, Op.InBoundsPtrAccessChain})


@dataclass
class Image:
    """``offsets``: variable → where it is. ``relocations``: where addresses of the image itself stand."""

    content: bytearray = field(default_factory=bytearray)
    offsets: dict[int, int] = field(default_factory=dict)
    relocations: list[int] = field(default_factory=list)


def is_global_variable(module: Module, row: Instruction) -> bool:
    """Whether an OpVariable is memory of the whole device."""
    return row.opcode == Op.Variable and row.words[0] in _STORAGES and not any(
        name == Decoration.BuiltIn for name, _ in module.decorations(row.result_id or 0))


def image_of(module: Module, types: TypeTable) -> Image:
    """The image of all variables of a module: the same for all its kernels, which share them."""
    return _Imaging(module, types).done()


def constant_address(module: Module, types: TypeTable, image: Image, constant: int) -> tuple[int, bool]:
    """A constant pointer: a number, or an offset in the image (True)."""
    imaging = _Imaging(module, types)
    imaging.image = image
    return imaging.number(constant)


class _Imaging:
    def __init__(self, module: Module, types: TypeTable) -> None:
        self.module = module
        self.types = types
        self.image = Image()

    def done(self) -> Image:
        variables = {row.result_id or 0: row for row in self.module.of_opcode(Op.Variable)
                     if is_global_variable(self.module, row)}
        for identifier, variable in variables.items():
            kind = self.types.pointee(self.types[variable.type_id or 0])
            alignment = max(LEAST_ALIGNMENT, kind.alignment)
            start = round_up(len(self.image.content), alignment)
            self.image.content.extend(bytes(start + kind.size - len(self.image.content)))
            self.image.offsets[identifier] = start
        for identifier, start in self.image.offsets.items():
            row = variables[identifier]
            if len(row.words) > 1:
                self._write(row.words[1], self.types.pointee(self.types[row.type_id or 0]), start)
        return self.image

    def _write(self, constant: int, kind: Type, start: int) -> None:
        row = self.module.definition(constant)
        if row.opcode in (Op.ConstantNull, Op.Undef, Op.ConstantFalse):
            return
        if isinstance(kind, PointerType) or row.opcode in (Op.SpecConstantOp, Op.Variable):
            number, is_address = self.number(constant)
            self._put(number, kind.size, start)
            if is_address:
                self.image.relocations.append(start)
        elif row.opcode == Op.ConstantTrue:
            self._put(1, 1, start)
        elif row.opcode == Op.Constant:
            self._put(decode_number(row.words), kind.size, start)
        elif row.opcode == Op.ConstantComposite:
            for word, (offset, member) in zip(row.words, _members(kind), strict=True):
                self._write(word, member, start + offset)
        else:
            raise Error(f"a program-scope variable whose initial value is made by {row.name} cannot be translated")

    def _put(self, number: int, size: int, start: int) -> None:
        self.image.content[start:start + size] = (number & (1 << 8 * size) - 1).to_bytes(size, "little")

    def number(self, constant: int) -> tuple[int, bool]:
        """A constant pointer: a number, or an offset in the image."""
        row = self.module.definition(constant)
        if constant in self.image.offsets:
            return self.image.offsets[constant], True
        if row.opcode == Op.ConstantNull:
            return 0, False
        if row.opcode == Op.Constant:
            return decode_number(row.words), False
        if row.opcode == Op.SpecConstantOp and row.words[0] in _CASTS:
            return self.number(row.words[1])
        if row.opcode == Op.SpecConstantOp and row.words[0] in _CHAINS:
            return self._chain(row)
        raise Error(f"a constant address that is made by {row.name} cannot be translated")

    def _chain(self, row: Instruction) -> tuple[int, bool]:
        inner = Instruction(row.words[0], row.type_id, row.result_id, row.words[1:])
        number, is_address = self.number(inner.words[0])
        pointer_type = self.module.definition(inner.words[0]).type_id or 0
        for step in steps(self.module, self.types, pointer_type, inner):
            index = 1
            if step.index is not None:
                value = self.module.constant_value(step.index)
                if not isinstance(value, int):
                    raise Error("a constant address with an index that is not constant cannot be translated")
                bits = self.types[self.module.definition(step.index).type_id or 0].size * 8
                index = value - (1 << bits) if value >> bits - 1 else value
            number += step.size * index
        return number, is_address


def _members(kind: Type) -> list[tuple[int, Type]]:
    if isinstance(kind, StructType):
        return list(zip(kind.offsets, kind.members, strict=True))
    if isinstance(kind, ArrayType):
        return [(index * kind.stride, kind.element) for index in range(kind.length)]
    assert isinstance(kind, VectorType)
    return [(index * kind.component.size, kind.component) for index in range(kind.length)]
