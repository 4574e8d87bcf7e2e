"""Rules of Vulkan's environment for accesses to memory and for built-ins."""

from __future__ import annotations

from coopmat.spirv.grammar import BuiltIn, Decoration, Op, StorageClass
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.validate.families.vulkan import is_vulkan
from coopmat.spirv.validate.rules import Findings, rule
from coopmat.spirv.validate.view import ModuleView

_MATRIX_ACCESSES = (Op.CooperativeMatrixLoadKHR, Op.CooperativeMatrixStoreKHR)
_OF_MATRICES = (StorageClass.Workgroup, StorageClass.StorageBuffer, StorageClass.PhysicalStorageBuffer)
_ADDRESS_BITS = 64


def _storage(view: ModuleView, pointer: int) -> int | None:
    """The storage class of a pointer; None for what is none."""
    if not view.is_defined(pointer):
        return None
    type_id = view.definition(pointer).type_id
    kind = view.definition(type_id) if type_id is not None else None
    return kind.words[0] if kind is not None and kind.opcode in (Op.TypePointer, Op.TypeUntypedPointerKHR) else None


@rule("vulkan-addresses", "In Vulkan, addresses are numbers of 64 bits; pointers ahead of their types are physical.",
      "Vulkan, VUID-StandaloneSpirv-PhysicalStorageBuffer64-04710, VUID-StandaloneSpirv-OpTypeForwardPointer-04711")
def vulkan_addresses(view: ModuleView) -> Findings:
    if not is_vulkan(view):
        return
    for index, item in view.of_opcode(Op.ConvertPtrToU, Op.ConvertUToPtr):
        number = item.type_id if item.opcode == Op.ConvertPtrToU else view.definition(item.words[0]).type_id
        kind = view.definition(number or 0)
        if kind.opcode == Op.TypeInt and kind.words[0] != _ADDRESS_BITS:
            yield index, "{op} converts integers of 64 bits in Vulkan"
    for index, item in view.of_opcode(Op.TypeForwardPointer):
        if item.words[1] != StorageClass.PhysicalStorageBuffer:
            yield index, "a pointer ahead of its type is one to a physical storage buffer in Vulkan"


@rule("vulkan-matrix-memory", "In Vulkan, matrices are in memory that several invocations have.",
      "Vulkan, VUID-StandaloneSpirv-Pointer-08973")
def vulkan_matrix_memory(view: ModuleView) -> Findings:
    for index, item in view.of_opcode(*_MATRIX_ACCESSES) if is_vulkan(view) else ():
        if _storage(view, item.words[0]) not in (None, *_OF_MATRICES):
            names = ", ".join(one.spelling for one in _OF_MATRICES)
            yield index, f"{{op}} accesses memory of the storage classes {names} in Vulkan"


_TRIPLE = (3, 32)
_NUMBER = (1, 32)
_BUILT_INS: dict[BuiltIn, tuple[tuple[int, int], str]] = {
    BuiltIn.GlobalInvocationId: (_TRIPLE, "04238"), BuiltIn.LocalInvocationId: (_TRIPLE, "04283"),
    BuiltIn.LocalInvocationIndex: (_NUMBER, "04286"), BuiltIn.NumSubgroups: (_NUMBER, "04295"),
    BuiltIn.NumWorkgroups: (_TRIPLE, "04298"), BuiltIn.SubgroupId: (_NUMBER, "04369"),
    BuiltIn.SubgroupLocalInvocationId: (_NUMBER, "04381"), BuiltIn.SubgroupSize: (_NUMBER, "04383"),
    BuiltIn.WorkgroupId: (_TRIPLE, "04424"),
}
"""Built-ins of compute shaders: components and bits, and the number of the rule."""


@rule("vulkan-builtins", "In Vulkan, built-ins of compute shaders are variables in Input memory, of 32-bit integers.",
      ", ".join(["Vulkan", *(f"VUID-{one.spelling}-{one.spelling}-{code}" for one, (_, code) in _BUILT_INS.items())]))
def vulkan_builtins(view: ModuleView) -> Findings:
    for entry in view.annotations.all if is_vulkan(view) else ():
        if entry.decoration != Decoration.BuiltIn or entry.member is not None or not entry.parameters:
            continue
        variable = view.definition(entry.target)
        built_in = entry.parameters[0]
        if built_in not in _BUILT_INS or variable.opcode != Op.Variable:
            continue
        (components, bits), _ = _BUILT_INS[BuiltIn(built_in)]
        name = BuiltIn(built_in).spelling
        if variable.words[0] != StorageClass.Input:
            yield entry.at, f"the built-in {name} is a variable in Input memory in Vulkan"
        elif _shape(view, variable) != (components, bits):
            shape = f"a vector of {components} {bits}-bit integers" if components > 1 else f"a {bits}-bit integer"
            yield entry.at, f"the built-in {name} is {shape} in Vulkan; {{named{entry.target}}} is of type " \
                            f"{{declared{variable.type_id}}}"


def _shape(view: ModuleView, variable: Instruction) -> tuple[int, int] | None:
    """Components and bits of the integers that a variable holds."""
    pointer = view.definition(variable.type_id or 0)
    kind = view.definition(pointer.words[1]) if pointer.opcode == Op.TypePointer else pointer
    count = 1
    if kind.opcode == Op.TypeVector:
        count, kind = kind.words[1], view.definition(kind.words[0])
    return (count, kind.words[0]) if kind.opcode == Op.TypeInt else None
