"""Rules for the instructions of OpenCL.std that read and write memory (its sections 2.3 to 2.5)."""

from __future__ import annotations

import numpy as np

from coopmat.spirv.grammar import OPENCL_STD, AddressingModel, Op, StorageClass
from coopmat.spirv.validate.extended_instructions import FIRST, SECTION, WRITABLE, by_name, is_memory
from coopmat.spirv.validate.group import Group
from coopmat.spirv.validate.rules import Findings, rule
from coopmat.spirv.validate.types import Booleans, Types

_POINTER_WIDTHS = {int(AddressingModel.Physical32): 32, int(AddressingModel.Physical64): 64}
_SCALARS = ("vload_half", "vstore_half", "vstore_half_r")


def _size_t(group: Group, chosen: Booleans, place: int, name: str) -> Findings:
    """The address arithmetic that these instructions do: it needs pointers of a known width."""
    width = _POINTER_WIDTHS.get(group.view.memory_model[0])
    if width is None:
        yield chosen, f"{name} needs the addressing model Physical32 or Physical64"
    else:
        yield chosen & ~group.value(place).is_int(width), \
            f"operand {place - FIRST + 1} of {name} is a {width}-bit integer, not {{type{place}}}"


@rule("vector-memory-types", "vload and vstore move numbers through a pointer, at an integer offset.", SECTION,
      Op.ExtInst)
def vector_memory_types(group: Group) -> Findings:
    for name, chosen in by_name(group, {name for name in OPENCL_STD if is_memory(name)}):
        loads = name.startswith("vload")
        offset, place = (FIRST, FIRST + 1) if loads else (FIRST + 1, FIRST + 2)
        yield from _size_t(group, chosen, offset, name)
        address = group.value(place)
        classes = (*WRITABLE, StorageClass.UniformConstant) if loads else WRITABLE
        yield chosen & address.is_pointer & ~address.in_storage(*classes), \
            f"{name} cannot go through {{type{place}}}: its storage class is for other things"
        yield chosen & ~address.is_pointer, f"{name} needs a pointer, not {{type{place}}}"
        data: Types = group.result if loads else group.value(FIRST)
        numbers = (Op.TypeFloat,) if "half" in name else (Op.TypeInt, Op.TypeFloat)
        moved = data.is_kind(*numbers) if name in _SCALARS else data.is_vector(*numbers)
        what = f"a {'float' if 'half' in name else 'number'}" if name in _SCALARS else "a vector of numbers"
        yield chosen & ~moved, f"{name} moves {what}"
        if name.startswith("vstore") and "half" in name:
            yield chosen & moved & (data.scalar.width < 32), \
                f"{name} rounds floats of 32 or 64 bits, not {{type{FIRST}}}"
        typed = chosen & address.is_kind(Op.TypePointer)
        pointee = address.element
        if "half" in name:
            yield typed & ~(pointee.is_kind(Op.TypeFloat) & (pointee.width == 16)), \
                f"{name} needs a pointer to half, not {{type{place}}}"
        else:
            yield typed & (pointee != data.scalar), \
                f"{name} needs a pointer to the component type, not {{type{place}}}"
        if loads and name != "vload_half":
            yield chosen & (group.word(FIRST + 2) != data.components), \
                f"{name} loads {{word{FIRST + 2}}} components into {{type}}"
        if not loads:
            yield chosen & ~group.result.is_kind(Op.TypeVoid), f"{name} gives nothing, not {{type}}"


@rule("printf-types", "printf takes a format string in constant memory and gives a 32-bit integer.", SECTION,
      Op.ExtInst)
def printf_types(group: Group) -> Findings:
    for name, chosen in by_name(group, {"printf"}):
        yield chosen & ~(group.result.is_kind(Op.TypeInt) & (group.result.width == 32)), \
            f"{name} gives a 32-bit integer, not {{type}}"
        address = group.value(FIRST)
        yield chosen & ~(address.is_pointer & (address.storage == int(StorageClass.UniformConstant))), \
            f"the format of {name} is a pointer to UniformConstant memory, not {{type{FIRST}}}"
        characters = address.element.scalar
        characters = Types(characters.table, np.where(characters.is_kind(Op.TypeArray), characters.element.places,
                                                      characters.places))
        yield chosen & address.is_kind(Op.TypePointer) & ~characters.is_int(8), \
            f"the format of {name} is made of 8-bit integers, not {{pointee{FIRST}}}"


@rule("prefetch-types", "prefetch takes a pointer to numbers in global memory, and how many to read.", SECTION,
      Op.ExtInst)
def prefetch_types(group: Group) -> Findings:
    for name, chosen in by_name(group, {"prefetch"}):
        address = group.value(FIRST)
        yield chosen & ~group.result.is_kind(Op.TypeVoid), f"{name} gives nothing, not {{type}}"
        yield chosen & ~address.in_storage(StorageClass.CrossWorkgroup), \
            f"{name} takes a pointer to CrossWorkgroup memory, not {{type{FIRST}}}"
        yield chosen & address.is_kind(Op.TypePointer) & ~address.element.scalars_of(Op.TypeInt, Op.TypeFloat), \
            f"{name} reads numbers or vectors of them, not {{pointee{FIRST}}}"
        yield from _size_t(group, chosen, FIRST + 1, name)
