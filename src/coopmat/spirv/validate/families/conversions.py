"""Rules for conversions (SPIR-V 3.3.11)."""

from __future__ import annotations

import numpy as np

from coopmat.spirv.grammar import CONVERSIONS, AddressingModel, Op, StorageClass
from coopmat.spirv.validate.rules import Findings, rule
from coopmat.spirv.validate.types import POINTERS, Types
from coopmat.spirv.validate.view import Group

SECTION = "SPIR-V 3.3.11 Conversion Instructions"

# Conversion → kinds of the operand and of the result.
_KINDS = {
    Op.ConvertFToU: (Op.TypeFloat, Op.TypeInt), Op.ConvertFToS: (Op.TypeFloat, Op.TypeInt),
    Op.ConvertSToF: (Op.TypeInt, Op.TypeFloat), Op.ConvertUToF: (Op.TypeInt, Op.TypeFloat),
    Op.UConvert: (Op.TypeInt, Op.TypeInt), Op.SConvert: (Op.TypeInt, Op.TypeInt),
    Op.FConvert: (Op.TypeFloat, Op.TypeFloat), Op.SatConvertSToU: (Op.TypeInt, Op.TypeInt),
    Op.SatConvertUToS: (Op.TypeInt, Op.TypeInt),
}
_CHANGES_WIDTH = (Op.UConvert, Op.SConvert, Op.FConvert)
_UNSIGNED = (Op.ConvertFToU, Op.UConvert)
_WHAT = {Op.TypeInt: "integers", Op.TypeFloat: "floating-point numbers"}
_SPECIFIC = (StorageClass.CrossWorkgroup, StorageClass.Workgroup, StorageClass.Function,
             StorageClass.CodeSectionINTEL, StorageClass.DeviceOnlyALTERA, StorageClass.HostOnlyALTERA)


@rule("number-conversion", "A conversion takes and gives as many numbers of its kinds.", SECTION, *_KINDS)
def number_conversion(group: Group) -> Findings:
    opcode = group.opcode
    given, wanted = _KINDS[opcode]
    operand, result = group.value(0), group.result
    matrices = operand.is_matrix & result.is_matrix & (opcode in CONVERSIONS)
    takes = operand.scalars_of(given) | (matrices & operand.element.is_kind(given))
    gives = result.scalars_of(wanted) | (matrices & result.element.is_kind(wanted))
    mixed = operand.is_matrix != result.is_matrix  # matrix-conversion says so
    yield ~takes & ~mixed, f"{{op}} converts {_WHAT[given]}, not {{type0}}"
    yield ~gives & ~mixed, f"{{op}} gives {_WHAT[wanted]}, not {{type}}"
    good = takes & gives & ~matrices
    yield good & (operand.components != result.components), "{op} of {type0} gives as many numbers, not {type}"
    if opcode in _UNSIGNED:
        yield gives & (result.scalar.signed == 1), "the result type of {op}, {type}, must have signedness 0"
    if opcode in _CHANGES_WIDTH:
        same_encoding = operand.scalar.encoding == result.scalar.encoding
        yield good & (operand.scalar.width == result.scalar.width) & same_encoding, \
            "{op} changes the width; {type0} and {type} have the same"


@rule("quantization", "OpQuantizeToF16 keeps the type, 32-bit floats.", SECTION, Op.QuantizeToF16)
def quantization(group: Group) -> Findings:
    result = group.result
    floats = result.scalars_of(Op.TypeFloat) & (result.scalar.width == 32)
    yield ~floats, "{op} gives 32-bit floats, not {type}"
    yield floats & (group.value(0) != result), "{op} of {type0} gives a value of that type, not {type}"


@rule("pointer-conversion", "Pointers are converted to and from integers, if they are addresses.", SECTION,
      Op.ConvertPtrToU, Op.ConvertUToPtr)
def pointer_conversion(group: Group) -> Findings:
    operand, result = group.value(0), group.result
    to_integer = group.opcode == Op.ConvertPtrToU
    pointer, integer = (operand, result) if to_integer else (result, operand)
    shown = ("{type0}", "{type}") if to_integer else ("{type}", "{type0}")
    vectors = pointer.is_vector(*POINTERS) & integer.is_vector(Op.TypeInt) & (pointer.length == integer.length)
    yield ~pointer.is_pointer & ~vectors, \
        "{op} " + ("converts" if to_integer else "gives") + f" a pointer, not {shown[0]}"
    yield ~integer.is_kind(Op.TypeInt) & ~vectors, \
        "{op} " + ("gives" if to_integer else "converts") + f" an integer, not {shown[1]}"
    yield integer.signed == 1, "the integer of {op}, " + shown[1] + ", must have signedness 0"
    model = group.view.memory_model[0]
    if model == AddressingModel.Logical:
        yield group.all, "{op} needs pointers that are addresses; the module's addressing model is Logical"
    elif model == AddressingModel.PhysicalStorageBuffer64:
        yield pointer.is_pointer & ~pointer.in_storage(StorageClass.PhysicalStorageBuffer), \
            f"{{op}} needs a pointer to PhysicalStorageBuffer memory in this addressing model, not {shown[0]}"


@rule("generic-cast", "A cast between a generic and another pointer keeps what is pointed to.", SECTION,
      Op.PtrCastToGeneric, Op.GenericCastToPtr, Op.GenericCastToPtrExplicit)
def generic_cast(group: Group) -> Findings:
    operand, result = group.value(0), group.result
    if group.opcode == Op.PtrCastToGeneric:
        specific, generic, text = operand, result, ("{type0}", "{type}")
    else:
        specific, generic, text = result, operand, ("{type}", "{type0}")
    yield ~(generic.is_pointer & (generic.storage == StorageClass.Generic)), \
        f"{{op}} needs a pointer of storage class Generic, not {text[1]}"
    yield ~(specific.is_pointer & np.isin(specific.storage, _SPECIFIC)), \
        f"{{op}} needs a pointer to CrossWorkgroup, Workgroup or Function memory, not {text[0]}"
    typed = operand.is_kind(Op.TypePointer) & result.is_kind(Op.TypePointer)
    yield typed & (operand.element != result.element), "{op} cannot change what is pointed to: {type0} to {type}"
    if group.opcode == Op.GenericCastToPtrExplicit:
        yield group.word(1) != result.storage, "the storage class of {op}, {word1}, is not that of {type}"


@rule("bitcast", "OpBitcast keeps the number of bits; pointers become pointers or integers.", SECTION, Op.Bitcast)
def bitcast(group: Group) -> Findings:
    operand, result = group.value(0), group.result
    numbers = (Op.TypeInt, Op.TypeFloat)
    matrices = operand.is_matrix | result.is_matrix  # matrix-bitcast looks at these
    castable = (operand.scalars_of(*numbers) | operand.is_pointer, result.scalars_of(*numbers) | result.is_pointer)
    yield ~castable[0] & ~matrices, "{op} is for numbers, vectors of numbers and pointers, not {type0}"
    yield ~castable[1] & ~matrices, "{op} gives numbers, vectors of numbers or a pointer, not {type}"
    plain = operand.scalars_of(*numbers) & result.scalars_of(*numbers)
    yield plain & (operand.components * operand.scalar.width != result.components * result.scalar.width), \
        "{op} of {type0} to {type} changes the number of bits"
    pointers = operand.is_pointer & result.is_pointer
    yield pointers & (operand.storage != result.storage), "{op} cannot change the storage class: {type0} to {type}"
    one_pointer = operand.is_pointer ^ result.is_pointer
    other = Types(operand.table, np.where(operand.is_pointer, result.places, operand.places))
    vectors = other.is_vector(Op.TypeInt) & (other.scalar.width == 32)
    if group.view.module.version < 0x10500 and "SPV_KHR_physical_storage_buffer" not in group.view.declared.extensions:
        vectors = group.none
    yield one_pointer & ~other.is_kind(Op.TypeInt) & ~vectors & castable[0] & castable[1], \
        "{op} between a pointer and another value needs an integer, or from SPIR-V 1.5 on a vector of 32-bit ones: " \
        "{type0} to {type}"
