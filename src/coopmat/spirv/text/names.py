"""Names for ids that people can read: those of its text, if the module was one, from OpName, or from what an id is."""

from __future__ import annotations

import re

from coopmat.spirv.grammar import AccessQualifier, BuiltIn, Decoration, FPEncoding, Op, Row, StorageClass
from coopmat.spirv.module.content import Content
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.module.operands import decode_string
from coopmat.spirv.text.lines import ScalarTypes, number_text

LONGEST = 256
"""Longer names than this are replaced by the number, as SPIRV-Tools does."""
LONGEST_PART = 64
"""Names of types hold the names of their parts up to this length."""

_INTEGERS = {8: "char", 16: "short", 32: "int", 64: "long"}
_FLOATS = {16: "half", 32: "float", 64: "double"}
_PLAIN: dict[int, str] = {
    Op.TypeVoid: "void", Op.TypeBool: "bool", Op.TypeEvent: "Event", Op.TypeDeviceEvent: "DeviceEvent",
    Op.TypeReserveId: "ReserveId", Op.TypeQueue: "Queue", Op.TypePipeStorage: "PipeStorage",
    Op.TypeNamedBarrier: "NamedBarrier", Op.ConstantTrue: "true", Op.ConstantFalse: "false",
}
_ENCODED = {
    FPEncoding.BFloat16KHR: "bfloat16", FPEncoding.Float8E4M3EXT: "fp8e4m3", FPEncoding.Float8E5M2EXT: "fp8e5m2",
    FPEncoding.Float6E2M3EXT: "fp6e2m3", FPEncoding.Float6E3M2EXT: "fp6e3m2", FPEncoding.Float4E2M1EXT: "fp4e2m1",
    FPEncoding.Float8UnsignedE8M0EXT: "fp8e8m0", FPEncoding.MXInt8EXT: "mxint8",
}
_BUILTINS = {
    **{builtin: builtin.spelling for builtin in (
        BuiltIn.WorkDim, BuiltIn.GlobalSize, BuiltIn.EnqueuedWorkgroupSize, BuiltIn.GlobalOffset,
        BuiltIn.GlobalLinearId, BuiltIn.SubgroupSize, BuiltIn.SubgroupMaxSize, BuiltIn.NumSubgroups,
        BuiltIn.NumEnqueuedSubgroups, BuiltIn.SubgroupId, BuiltIn.SubgroupLocalInvocationId)},
    **{builtin: f"{builtin.spelling}KHR" for builtin in (
        BuiltIn.SubgroupEqMask, BuiltIn.SubgroupGeMask, BuiltIn.SubgroupGtMask, BuiltIn.SubgroupLeMask,
        BuiltIn.SubgroupLtMask)},
    BuiltIn.BaseInstance: "gl_BaseInstance",
    BuiltIn.NumWorkgroups: "gl_NumWorkGroups", BuiltIn.WorkgroupSize: "gl_WorkGroupSize",
    BuiltIn.WorkgroupId: "gl_WorkGroupID", BuiltIn.LocalInvocationId: "gl_LocalInvocationID",
    BuiltIn.GlobalInvocationId: "gl_GlobalInvocationID",
    BuiltIn.LocalInvocationIndex: "gl_LocalInvocationIndex", BuiltIn.Position: "gl_Position",
    BuiltIn.PointSize: "gl_PointSize", BuiltIn.VertexIndex: "gl_VertexIndex",
    BuiltIn.InstanceIndex: "gl_InstanceIndex", BuiltIn.FragCoord: "gl_FragCoord",
    BuiltIn.FragDepth: "gl_FragDepth", BuiltIn.FrontFacing: "gl_FrontFacing",
    BuiltIn.PointCoord: "gl_PointCoord", BuiltIn.ClipDistance: "gl_ClipDistance",
    BuiltIn.CullDistance: "gl_CullDistance", BuiltIn.VertexId: "gl_VertexID",
    BuiltIn.InstanceId: "gl_InstanceID", BuiltIn.PrimitiveId: "gl_PrimitiveID",
    BuiltIn.InvocationId: "gl_InvocationID", BuiltIn.Layer: "gl_Layer",
    BuiltIn.ViewportIndex: "gl_ViewportIndex", BuiltIn.TessLevelOuter: "gl_TessLevelOuter",
    BuiltIn.TessLevelInner: "gl_TessLevelInner", BuiltIn.TessCoord: "gl_TessCoord",
    BuiltIn.PatchVertices: "gl_PatchVertices", BuiltIn.SampleId: "gl_SampleID",
    BuiltIn.SamplePosition: "gl_SamplePosition", BuiltIn.SampleMask: "gl_SampleMask",
    BuiltIn.HelperInvocation: "gl_HelperInvocation",
}


def source_name(function: str) -> str:
    """What a function is called in the source: ``f`` for ``_Z1fi``, a name mangled by the Itanium C++ ABI."""
    mangled = re.match(r"_Z(\d+)", function)
    if mangled is None:
        return function
    return function[mangled.end():mangled.end() + int(mangled[1])] or function


class FriendlyNames:
    """The names of a module's ids, all different.  ``types`` are the types of its values."""

    def __init__(self, module: Content) -> None:
        self._names: dict[int, str] = {}
        self._used: set[str] = set()
        self._next_suffix: dict[str, int] = {}
        self.types = ScalarTypes()
        for identifier, name in module.names_in_text.items():
            self._save(identifier, name)
        for item in module.instructions:
            self.types.add(item)
            self._take(item)

    def name(self, identifier: int) -> str:
        """The name of an id, without the percent sign."""
        return self._names.get(identifier) or str(identifier)

    def _save(self, identifier: int, suggestion: str) -> None:
        """Give the id the suggested name, made valid and unique, unless it has one already."""
        if identifier in self._names:
            return
        encoded = suggestion.encode("utf-8", "surrogateescape")
        base = re.sub(rb"[^A-Za-z0-9_]", b"_", encoded).decode("ascii") or "_"
        if len(base) > LONGEST:
            base = str(identifier)
        if base.isdigit() and base != str(identifier):
            base = f"_{base}"  # all digits would be read as a number
        name = base
        suffix = self._next_suffix.get(base, 0)
        while name in self._used:
            name = f"{base}_{suffix}"
            suffix += 1
        self._next_suffix[base] = suffix
        self._used.add(name)
        self._names[identifier] = name

    def _take(self, item: Instruction) -> None:
        words = item.words
        if item.opcode == Op.Name:
            decoded = decode_string(words, 1)
            self._save(words[0], decoded[0] if decoded is not None else "")
        elif item.opcode == Op.Decorate and words[1] == Decoration.BuiltIn:
            self._save_builtin(words[0], words[2])
        elif item.result_id is not None:
            self._save(item.result_id, self._description(item, item.result_id))

    def _save_builtin(self, identifier: int, number: int) -> None:
        if number in _BUILTINS:
            self._save(identifier, _BUILTINS[BuiltIn(number)])

    def _part(self, identifier: int) -> str:
        """A name within a name: its number, if it is long."""
        name = self.name(identifier)
        return name if len(name) <= LONGEST_PART else str(identifier)

    def _description(self, item: Instruction, result: int) -> str:
        """What the id stands for; its number where there is nothing short to say."""
        words = item.words
        match item.opcode:
            case Op.TypeInt:
                if words[0] in _INTEGERS:
                    return ("" if words[1] else "u") + _INTEGERS[words[0]]
                return f"{'i' if words[1] else 'u'}{words[0]}"
            case Op.TypeFloat if len(words) > 1:
                return _ENCODED.get(words[1], f"fp{words[0]}_{words[1]}")  # type: ignore[call-overload]
            case Op.TypeFloat:
                return _FLOATS.get(words[0], f"fp{words[0]}")
            case Op.TypeVector:
                return f"v{words[1]}{self._part(words[0])}"
            case Op.TypeMatrix:
                return f"mat{words[1]}{self._part(words[0])}"
            case Op.TypeArray:
                return f"_arr_{self._part(words[0])}_{self._part(words[1])}"
            case Op.TypeRuntimeArray:
                return f"_runtimearr_{self._part(words[0])}"
            case Op.TypePointer:
                return f"_ptr_{_spelling(StorageClass, words[0])}_{self._part(words[1])}"
            case Op.TypeUntypedPointerKHR:
                return f"_ptr_{_spelling(StorageClass, words[0])}"
            case Op.TypePipe:
                return f"Pipe{_spelling(AccessQualifier, words[0])}"
            case Op.TypeOpaque:
                decoded = decode_string(words, 0)
                return f"Opaque_{decoded[0] if decoded is not None else ''}"
            case Op.TypeStruct:
                return f"_struct_{result}"
            case Op.Constant:
                return self._constant(item, result)
        return _PLAIN.get(item.opcode, str(result))

    def _constant(self, item: Instruction, result: int) -> str:
        text = number_text(item.words, self.types.scalar(item.type_id))
        if text is None:
            return str(result)
        return f"{self.name(item.type_id or 0)}_{text.replace('-', 'n')}"


def _spelling(enumeration: type[Row], value: int) -> str:
    member = enumeration._value2member_map_.get(value)
    return member.spelling if isinstance(member, Row) else str(value)
