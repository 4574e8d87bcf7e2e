"""What a host needs to know of a module's kernels: names, parameters, required sizes.

SPIR-V integers have no sign, and some producers declare every buffer as one of bytes. A module may say
more in strings of the form ``kernel_arg_type.<kernel>.<type>,<type>,…,`` (a convention of the SPIR-V
translator of LLVM, which our front end follows): then the parameter's C type is known as well.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from coopmat.diagnostics import Error, ValidationError
from coopmat.spirv.grammar import (
    Decoration,
    ExecutionMode,
    ExecutionModel,
    FPEncoding,
    Op,
    StorageClass,
)
from coopmat.spirv.grammar import FunctionParameterAttribute as Attribute
from coopmat.spirv.module.content import Content, Function
from coopmat.spirv.module.instruction import Instruction
from coopmat.support.limits import DEEPEST_TYPE

ARGUMENT_TYPES = "kernel_arg_type"
UNION_NAMES = "union."
"""How the name of a structure begins that stands for a union, in our modules and clang's."""

_OF_BYTES = re.compile(r"(const |volatile )*((un)?signed )?(u?char|bool|void)\d*\s*\*")

_POINTER_KINDS: dict[int, str] = {
    StorageClass.CrossWorkgroup: "global",
    StorageClass.UniformConstant: "constant",
    StorageClass.Workgroup: "local",
    StorageClass.Generic: "global",  # what a host binds to a generic pointer is global memory
}
_OPAQUE: dict[int, str] = {
    Op.TypeImage: "image", Op.TypeSampler: "sampler", Op.TypeSampledImage: "sampled image", Op.TypePipe: "pipe",
    Op.TypeQueue: "queue", Op.TypeDeviceEvent: "device event", Op.TypeReserveId: "reservation",
}
"""Types of parameters of which a host has no bytes."""

@dataclass(frozen=True, slots=True)
class DataType:
    """A type as memory holds it: ``kind`` is int, float, bfloat, bool, pointer or record (or what a parameter of
    kind opaque is); ``bits`` the width of one scalar, ``count`` the number of vector components, ``size`` all bytes,
    padding included, ``alignment`` in bytes too. ``members``: of a record; none where they are not known, in a union.
    """

    kind: str
    bits: int
    count: int
    size: int
    alignment: int
    members: tuple[Member, ...] = ()

    def __str__(self) -> str:
        name = {"bfloat": "bfloat16", "record": f"structure of {self.size} bytes"}.get(self.kind)
        scalar = name or f"{self.kind}{self.bits or ''}"
        return scalar if self.count == 1 else f"{scalar} x {self.count}"


@dataclass(frozen=True, slots=True)
class Member:
    """What lies ``offset`` bytes from the start of a record: ``count`` values of a type, one after the other."""

    name: str
    offset: int
    type: DataType
    count: int = 1


@dataclass(frozen=True, slots=True)
class Parameter:
    """A kernel's parameter.

    ``kind`` is global, constant or local for a pointer, opaque for an image and the like, value for all else;
    ``type`` is what a pointer points to, or the value's type; ``const`` means that the kernel does not write
    through the pointer; ``type_name`` is the type in the source language, where the module tells it.
    """

    name: str
    kind: str
    type: DataType
    const: bool
    type_name: str | None

    @property
    def is_untyped(self) -> bool:
        """Whether this is a pointer of which the module says no more than that it points to bytes, or to something of
        which it names the type only: a structure in code that LLVM has optimised."""
        if not self.is_pointer or self.type.bits != 8:
            return False
        return self.type_name is None or (self.type.kind == "int" and not _OF_BYTES.match(self.type_name))

    @property
    def is_pointer(self) -> bool:
        """Whether the parameter is a pointer to memory."""
        return self.kind in _POINTER_KINDS.values()

    def __str__(self) -> str:
        shown = self.type_name or str(self.type)
        prefix = f"{self.kind} {'const ' * self.const}" if self.is_pointer else ""
        star = " *" if self.is_pointer and self.type_name is None else " "
        return f"{prefix}{shown}{star}{self.name}"


@dataclass(frozen=True, slots=True)
class KernelSignature:
    """A kernel: its name, its parameters and the sizes that it requires, if any."""

    name: str
    parameters: tuple[Parameter, ...]
    work_group_size: tuple[int, int, int] | None
    sub_group_size: int | None

    @property
    def work_items(self) -> int | None:
        """How many work-items a work-group must have; None where the kernel leaves it open."""
        return None if self.work_group_size is None else math.prod(self.work_group_size)

    def __str__(self) -> str:
        return f"{self.name}({', '.join(map(str, self.parameters))})"


def kernel_signatures(module: Content) -> dict[str, KernelSignature]:
    """Name → signature of every kernel of the module, in the module's order."""
    functions = {function.id: function for function in module.functions}
    type_names = _argument_types(module)
    types = DataTypes(module)
    found: dict[str, KernelSignature] = {}
    for entry in module.entry_points:
        if entry.model != ExecutionModel.Kernel:
            continue
        if entry.function_id not in functions:
            raise ValidationError("entry-point-function", f"entry point '{entry.name}' names id "
                                  f"{entry.function_id}, which is not a function")
        function = functions[entry.function_id]
        modes = dict(module.execution_modes(function.id))
        size = modes.get(ExecutionMode.LocalSize) or _constants(module, modes.get(ExecutionMode.LocalSizeId))
        sub_group = modes.get(ExecutionMode.SubgroupSize)
        found[entry.name] = KernelSignature(
            entry.name, _parameters(module, types, function, type_names.get(entry.name)),
            (size[0], size[1], size[2]) if size is not None and len(size) == 3 else None,
            sub_group[0] if sub_group else None)
    return found


def _constants(module: Content, ids: tuple[int, ...] | None) -> tuple[int, ...] | None:
    """The values of an execution mode's operands that are ids of constants."""
    return None if ids is None else tuple(int(module.constant_value(word) or 0) for word in ids)


def _argument_types(module: Content) -> dict[str, list[str]]:
    found = {}
    for text in module.strings.values():
        label, _, rest = text.partition(".")
        kernel, dot, types = rest.rpartition(".")
        if label == ARGUMENT_TYPES and dot:
            found[kernel] = types.split(",")[:-1]
    return found


def _parameters(module: Content, types: DataTypes, function: Function,
                type_names: list[str] | None) -> tuple[Parameter, ...]:
    if type_names is None or len(type_names) != len(function.parameters):
        type_names = []
    result = []
    for position, parameter in enumerate(function.parameters):
        assert parameter.result_id is not None
        assert parameter.type_id is not None
        attributes = {words[0] for decoration, words in module.decorations(parameter.result_id)
                      if decoration == Decoration.FuncParamAttr}
        type_ = module.definition(parameter.type_id)
        kind = "value"
        if type_.opcode == Op.TypePointer and Attribute.ByVal not in attributes:
            kind = _POINTER_KINDS.get(type_.words[0], "")
            if not kind:
                raise ValidationError("kernel-parameter", f"parameter {position} of a kernel has the type {type_}; "
                                      "expected a pointer to CrossWorkgroup, UniformConstant, Workgroup or Generic "
                                      "memory", parameter.offset)
        pointee = type_.words[1] if type_.opcode == Op.TypePointer else parameter.type_id
        if type_.opcode in _OPAQUE:
            kind = "opaque"
        result.append(Parameter(
            name=module.names.get(parameter.result_id) or f"argument {position}",
            kind=kind,
            type=types(pointee) if kind != "opaque" else DataType(_OPAQUE[type_.opcode], 0, 1, 8, 8),
            const=kind == "constant" or Attribute.NoWrite in attributes,
            type_name=type_names[position] if type_names else None))
    return tuple(result)


class DataTypes:
    """How the types of a module lie in memory (OpenCL C 6.1.5), each looked up once."""

    def __init__(self, module: Content) -> None:
        self._module = module
        self._known: dict[int, DataType] = {}

    def __call__(self, type_id: int, depth: int = 0) -> DataType:
        """The type with this id; ValidationError for one that cannot be in memory."""
        if type_id not in self._known:
            if depth > DEEPEST_TYPE:
                raise ValidationError("type-nesting", f"types are nested more than {DEEPEST_TYPE} deep",
                                      self._module.definition(type_id).offset)
            self._known[type_id] = self._made(self._module.definition(type_id), depth + 1)
        return self._known[type_id]

    def _made(self, type_: Instruction, depth: int) -> DataType:
        match type_.opcode:
            case Op.TypeBool | Op.TypeOpaque | Op.TypeVoid:
                return DataType("bool" if type_.opcode == Op.TypeBool else "int", 8, 1, 1, 1)
            case Op.TypeInt:
                size = max(1, type_.words[0] // 8)
                return DataType("int", type_.words[0], 1, size, size)
            case Op.TypeFloat:
                kind = "bfloat" if type_.words[1:] == (FPEncoding.BFloat16KHR,) else "float"
                size = max(1, type_.words[0] // 8)
                return DataType(kind, type_.words[0], 1, size, size)
            case Op.TypePointer:
                return DataType("pointer", 64, 1, 8, 8)
            case Op.TypeVector:
                scalar, count = self(type_.words[0], depth), type_.words[1]
                size = scalar.size * (4 if count == 3 else count)
                return DataType(scalar.kind, scalar.bits, count, size, size)
            case Op.TypeArray:
                item, length = self(type_.words[0], depth), int(self._module.constant_value(type_.words[1]) or 0)
                return DataType("record", 8, 1, item.size * length, item.alignment, (Member("", 0, item, length),))
            case Op.TypeStruct:
                return self._record(type_, depth)
        if type_.opcode == Op.TypeUntypedPointerKHR:
            raise Error("untyped pointers are not supported: use OpTypePointer")
        raise ValidationError("memory-type", f"{type_.name} cannot be in memory that a host sees", type_.offset)

    def _record(self, type_: Instruction, depth: int) -> DataType:
        identifier = type_.result_id or 0
        packed = any(decoration == Decoration.CPacked for decoration, _ in self._module.decorations(identifier))
        members, end, widest = [], 0, 1
        for index, member in enumerate(self(word, depth) for word in type_.words):
            alignment = 1 if packed else member.alignment
            widest = max(widest, alignment)
            start = -(-end // alignment) * alignment
            members.append(Member(self._module.member_names.get((identifier, index), ""), start, member))
            end = start + member.size
        if self._module.names.get(identifier, "").startswith(UNION_NAMES):
            members = []
        elif any(member.name for member in members):
            members = [member for member in members if member.name]  # what has no name fills gaps
        return DataType("record", 8, 1, -(-end // widest) * widest, widest, tuple(members))
