"""Rules for the instructions of OpenCL.std (OpenCL Extended Instruction Set Specification, section 2)."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from coopmat.spirv.grammar import (
    EXTENDED_INSTRUCTIONS,
    OPENCL_STD,
    OPENCL_STD_NAMES,
    AddressingModel,
    Op,
    StorageClass,
)
from coopmat.spirv.tables import opencl_std
from coopmat.spirv.validate.rules import Findings, rule
from coopmat.spirv.validate.types import Booleans, Types
from coopmat.spirv.validate.view import Group, ModuleView

SECTION = "OpenCL Extended Instruction Set Specification, 2"
FIRST = 2
"""The place of the first operand, behind the set and the number."""

_WRITABLE = (StorageClass.CrossWorkgroup, StorageClass.Workgroup, StorageClass.Function, StorageClass.Generic)
_READABLE = (*_WRITABLE, StorageClass.UniformConstant)
_SIZE_BITS: dict[int, tuple[int]] = {AddressingModel.Physical32: (32,), AddressingModel.Physical64: (64,)}
"""Addressing model → the width of OpenCL's size_t."""

_INTEGERS = re.compile(r"[su]_|clz|ctz|rotate|popcount")
_SCALED = {"ldexp", "pown", "rootn"}
"""Floats whose last operand is an integer."""
_POINTERS = {"fract": Op.TypeFloat, "modf": Op.TypeFloat, "sincos": Op.TypeFloat, "frexp": Op.TypeInt,
             "lgamma_r": Op.TypeInt, "remquo": Op.TypeInt}
"""Instructions whose last operand points to a second result, and what that is made of."""
_ELSEWHERE = {"ilogb", "nan", "upsample", "distance", "length", "fast_distance", "fast_length", "cross", "printf",
              "prefetch", "shuffle", "shuffle2", "select", "bitselect", "s_upsample", "u_upsample"}


def _operands(name: str) -> int:
    return len(opencl_std.INSTRUCTIONS[name][1].split())


def _is_memory(name: str) -> bool:
    return name.startswith(("vload", "vstore"))


_ONE_TYPE = {name for name in OPENCL_STD if name not in _ELSEWHERE and not _is_memory(name)}
"""Instructions whose operands have the result type, those of the tables above apart."""
_INTEGER = {name for name in _ONE_TYPE if _INTEGERS.match(name)}
_OF_24_BITS = {name for name in _INTEGER if name.endswith("24")}
_REDUCED = {name for name in _ONE_TYPE if name.startswith(("half_", "native_"))}
_DISTANCES = {"distance", "length", "fast_distance", "fast_length"}
_NORMALIZING = {"normalize", "fast_normalize"}


def _by_name(group: Group, names: set[str] | dict[str, Op]) -> Iterator[tuple[str, Booleans]]:
    """The instructions of OpenCL.std among these names, each with where it stands in the group."""
    return ((name, chosen) for name, chosen in group.view.derived(_instructions).items() if name in names)


def _instructions(view: ModuleView) -> dict[str, Booleans]:
    """For each instruction of OpenCL.std that is used, where it stands in the group of all extended ones."""
    group = view.group(Op.ExtInst)
    assert group is not None
    sets = [i for i, name in view.module.instruction_sets.items() if name == "OpenCL.std"]
    numbers = np.where(np.isin(group.word(0), sets), group.word(1), -1)
    return {OPENCL_STD_NAMES[number]: numbers == number
            for number in np.unique(numbers).tolist() if number in OPENCL_STD_NAMES}


@rule("extended-number", "An extended instruction exists in its set.", SECTION)
def extended_number(view: ModuleView) -> Findings:
    group = view.group(Op.ExtInst)
    if group is None:
        return
    for identifier, name in view.module.instruction_sets.items():
        known = EXTENDED_INSTRUCTIONS.get(name)
        if known is None:
            continue
        wrong = (group.word(0) == identifier) & ~np.isin(group.word(1), list(known.values()))
        yield group.indices[wrong], f"{name} has no instruction {{word1}}"


@rule("extended-set", "An imported instruction set is one that the module's kind has.", "SPIR-V 3.3.4 Extension "
      "Instructions", severity="warning")
def extended_set(view: ModuleView) -> Findings:
    for index, item in view.of_opcode(Op.ExtInstImport):
        name = view.module.instruction_sets[item.result_id or 0]
        if name not in EXTENDED_INSTRUCTIONS and not name.startswith("NonSemantic.") and "DebugInfo" not in name:
            yield index, f"the instruction set '{name}' is not known: what is used of it is not checked"


def _in_storage(address: Types, classes: tuple[StorageClass, ...]) -> Booleans:
    """Pointers to one of these storage classes."""
    return address.is_pointer & address.in_storage(*classes)


def _is_size(group: Group, place: int) -> Booleans:
    """Whether the value at this place has OpenCL's type size_t, which there is only where pointers are addresses."""
    width = _SIZE_BITS.get(group.view.memory_model[0])
    return group.value(place).is_int(*width) if width is not None else group.none


@rule("math-types", "Instructions of OpenCL.std work on floats, or on integers, of the result type; those of 24 bits "
      "on 32-bit integers.", f"{SECTION}.1 to {SECTION}.4", Op.ExtInst)
def math_types(group: Group) -> Findings:
    for name, chosen in _by_name(group, _ONE_TYPE):
        kind, what = (Op.TypeInt, "integers") if name in _INTEGER else (Op.TypeFloat, "floating-point numbers")
        yield chosen & ~group.result.scalars_of(kind), f"{name} gives {what}, not {{type}}"
        count = _operands(name) - (name in _SCALED or name in _POINTERS)
        for place in range(FIRST, FIRST + count):
            yield chosen & (group.value(place) != group.result), \
                f"operand {place - FIRST + 1} of {name} has type {{type{place}}}; {{type}} is needed"
        if name in _OF_24_BITS:
            yield chosen & group.result.scalars_of(kind) & (group.result.scalar.width != 32), \
                f"{name} works on 32-bit integers, not {{type}}"


@rule("reduced-precision-types", "The half_ and native_ instructions are defined for 32-bit floats.", f"{SECTION}.1",
      Op.ExtInst, severity="warning")
def reduced_precision_types(group: Group) -> Findings:
    for name, chosen in _by_name(group, _REDUCED):
        yield chosen & group.result.scalars_of(Op.TypeFloat) & (group.result.scalar.width != 32), \
            f"{name} is defined for 32-bit floats only, not for {{type}}"


@rule("math-integer-operand", "The last operand of ldexp, pown and rootn is 32-bit integers.", f"{SECTION}.1",
      Op.ExtInst)
def math_integer_operand(group: Group) -> Findings:
    for name, chosen in _by_name(group, _SCALED):
        operand = group.value(FIRST + 1)
        good = operand.scalars_of(Op.TypeInt) & (operand.scalar.width == 32) \
            & (operand.components == group.result.components)
        yield chosen & ~good, \
            f"{name} needs as many 32-bit integers as {{type}} has components, not {{type{FIRST + 1}}}"


@rule("ilogb-nan-types", "ilogb gives a 32-bit integer for each float; nan gives a float for each integer as wide.",
      f"{SECTION}.1", Op.ExtInst)
def ilogb_nan_types(group: Group) -> Findings:
    result, operand = group.result, group.value(FIRST)
    for name, chosen in _by_name(group, {"ilogb", "nan"}):
        given, wanted = (Op.TypeFloat, Op.TypeInt) if name == "ilogb" else (Op.TypeInt, Op.TypeFloat)
        good = operand.scalars_of(given) & result.scalars_of(wanted) & (operand.components == result.components) \
            & (result.scalar.width == (32 if name == "ilogb" else operand.scalar.width))
        text = "gives as many 32-bit integers as it takes floats" if name == "ilogb" else \
            "gives as many floats as it takes integers of the same width"
        yield chosen & ~good, f"{name} {text}, not {{type}} for {{type{FIRST}}}"


@rule("math-pointer-operand", "A second result goes through a pointer to its type, in memory that can be written.",
      f"{SECTION}.1", Op.ExtInst)
def math_pointer_operand(group: Group) -> Findings:
    for name, chosen in _by_name(group, _POINTERS):
        place = FIRST + _operands(name) - 1
        address = group.value(place)
        yield chosen & ~_in_storage(address, _WRITABLE), \
            f"{name} needs a pointer to CrossWorkgroup, Workgroup, Function or Generic memory as last operand, " \
            f"not {{type{place}}}"
        pointee, result = address.element, group.result
        good, text = (pointee == result, "{type}") if _POINTERS[name] == Op.TypeFloat else \
            (pointee.scalars_of(Op.TypeInt) & (pointee.scalar.width == 32) & (pointee.components == result.components),
             "as many 32-bit integers")
        yield chosen & address.is_kind(Op.TypePointer) & ~good, \
            f"{name} giving {{type}} writes {text} through its pointer, which points to {{pointee{place}}}"


@rule("geometric-types", "Lengths and distances of up to 4 components are numbers; cross products have 3 or 4 "
      "components.", f"{SECTION}.4", Op.ExtInst)
def geometric_types(group: Group) -> Findings:
    result, operand = group.result, group.value(FIRST)
    for name, chosen in _by_name(group, _DISTANCES):
        good = result.is_kind(Op.TypeFloat) & (operand.scalar == result) & operand.scalars_of(Op.TypeFloat)
        yield chosen & ~good, f"{name} of {{type{FIRST}}} gives its component type, a float, not {{type}}"
        if _operands(name) == 2:
            yield chosen & (group.value(FIRST + 1) != operand), \
                f"the operands of {name} differ: {{type{FIRST}}} and {{type{FIRST + 1}}}"
    for name, chosen in _by_name(group, _DISTANCES | _NORMALIZING):
        yield chosen & (operand.components > 4), f"{name} takes up to 4 components, not {{type{FIRST}}}"
    for name, chosen in _by_name(group, {"cross"}):
        good = result.scalars_of(Op.TypeFloat) & np.isin(result.components, (3, 4)) & (operand == result) \
            & (group.value(FIRST + 1) == result)
        yield chosen & ~good, f"{name} takes and gives vectors of 3 or 4 floats of one type, not {{type}} of " \
                              f"{{type{FIRST}}} and {{type{FIRST + 1}}}"


@rule("select-extended-types", "select and bitselect take numbers of one type; select's condition is as wide.",
      f"{SECTION}.5", Op.ExtInst)
def select_extended_types(group: Group) -> Findings:
    for name, chosen in _by_name(group, {"select", "bitselect"}):
        result = group.result
        yield chosen & ~result.scalars_of(Op.TypeInt, Op.TypeFloat), f"{name} gives numbers, not {{type}}"
        for place in range(FIRST, FIRST + (2 if name == "select" else 3)):
            yield chosen & (group.value(place) != result), \
                f"operand {place - FIRST + 1} of {name} has type {{type{place}}}; {{type}} is needed"
    for _, chosen in _by_name(group, {"select"}):
        condition = group.value(FIRST + 2)
        good = condition.scalars_of(Op.TypeInt) & (condition.components == group.result.components) \
            & (condition.scalar.width == group.result.scalar.width)
        yield chosen & ~good, f"the condition of select is integers as wide as {{type}}, not {{type{FIRST + 2}}}"


@rule("upsample-types", "upsample joins two integers of one type into one of twice the width.", f"{SECTION}.2",
      Op.ExtInst)
def upsample_types(group: Group) -> Findings:
    for name, chosen in _by_name(group, {"s_upsample", "u_upsample"}):
        high, low, result = group.value(FIRST), group.value(FIRST + 1), group.result
        good = result.scalars_of(Op.TypeInt) & high.scalars_of(Op.TypeInt) & (high == low) \
            & (high.components == result.components) & (2 * high.scalar.width == result.scalar.width)
        yield chosen & ~good, \
            f"{name} joins two integers of one type into one of twice the width, not {{type{FIRST}}} and " \
            f"{{type{FIRST + 1}}} into {{type}}"


@rule("shuffle-extended-types", "shuffle picks components of vectors by a mask as wide as they are.", f"{SECTION}.7",
      Op.ExtInst)
def shuffle_extended_types(group: Group) -> Findings:
    sizes = (2, 4, 8, 16)
    for name, chosen in _by_name(group, {"shuffle", "shuffle2"}):
        result, source, place = group.result, group.value(FIRST), FIRST + (2 if name == "shuffle2" else 1)
        good = source.is_vector(Op.TypeInt, Op.TypeFloat) & (source.element == result.element) \
            & np.isin(source.components, sizes) & np.isin(result.components, sizes)
        yield chosen & ~good, \
            f"{name} makes a vector of 2, 4, 8 or 16 numbers of another, not {{type}} of {{type{FIRST}}}"
        if name == "shuffle2":
            yield chosen & (group.value(FIRST + 1) != source), \
                f"the vectors of {name} differ: {{type{FIRST}}} and {{type{FIRST + 1}}}"
        mask = group.value(place)
        fits = mask.is_vector(Op.TypeInt) & (mask.components == result.components) \
            & (mask.scalar.width == result.scalar.width)
        yield chosen & good & ~fits, f"the mask of {name} is as many integers as wide as those of {{type}}, not " \
                                     f"{{type{place}}}"


@rule("vector-memory-types", "vload and vstore move numbers through a pointer, at an offset of type size_t.",
      f"{SECTION}.6", Op.ExtInst)
def vector_memory_types(group: Group) -> Findings:
    for name, chosen in _by_name(group, {name for name in OPENCL_STD if _is_memory(name)}):
        loads = name.startswith("vload")
        offset, place = (FIRST, FIRST + 1) if loads else (FIRST + 1, FIRST + 2)
        yield chosen & ~_is_size(group, offset), \
            f"the offset of {name} is an integer as wide as an address, not {{type{offset}}}"
        address = group.value(place)
        yield chosen & ~_in_storage(address, _READABLE if loads else _WRITABLE), \
            f"{name} needs a pointer to memory that it can {'read' if loads else 'write'}, not {{type{place}}}"
        yield from _vector_data(group, name, chosen, address, place)
        if not loads:
            yield chosen & ~group.result.is_kind(Op.TypeVoid), f"{name} gives nothing, not {{type}}"


def _vector_data(group: Group, name: str, chosen: Booleans, address: Types, place: int) -> Findings:
    """What vload and vstore move."""
    loads = name.startswith("vload")
    data, shown = (group.result, "{type}") if loads else (group.value(FIRST), f"{{type{FIRST}}}")
    typed, pointee = chosen & address.is_kind(Op.TypePointer), address.element
    if "half" in name:
        shape = data.is_kind(Op.TypeVector) if "halfn" in name else data.is_kind(Op.TypeFloat)
        wide = np.isin(data.scalar.width, (32,) if loads else (32, 64))
        what = "a vector of floats" if "halfn" in name else "a float"
        yield chosen & ~(shape & data.scalars_of(Op.TypeFloat) & wide), \
            f"{name} {'gives' if loads else 'takes'} {what} of 32 bits{'' if loads else ' or 64 bits'}, not {shown}"
        yield typed & ~(pointee.is_kind(Op.TypeFloat) & (pointee.width == 16)), \
            f"{name} needs a pointer to half, not {{type{place}}}"
    else:
        yield chosen & ~data.is_vector(Op.TypeInt, Op.TypeFloat), f"{name} moves a vector of numbers, not {shown}"
        yield typed & (pointee != data.scalar), f"{name} of {shown} needs a pointer to its component type, not " \
                                                f"{{type{place}}}"
    if loads and name != "vload_half":
        yield chosen & (group.word(FIRST + 2) != data.components), \
            f"{name} loads {{word{FIRST + 2}}} components into {{type}}"


@rule("printf-types", "printf takes a string of bytes in memory and gives a 32-bit integer.", f"{SECTION}.8",
      Op.ExtInst)
def printf_types(group: Group) -> Findings:
    for name, chosen in _by_name(group, {"printf"}):
        yield chosen & ~group.result.is_int(32), f"{name} gives a 32-bit integer, not {{type}}"
        address = group.value(FIRST)
        yield chosen & ~_in_storage(address, _READABLE), \
            f"the format of {name} is a pointer to UniformConstant memory, with an extension to other memory, " \
            f"not {{type{FIRST}}}"
        pointee = address.element
        string = pointee.is_int(8) | (pointee.is_kind(Op.TypeArray) & pointee.element.is_int(8))
        yield chosen & address.is_kind(Op.TypePointer) & ~string, \
            f"the format of {name} is bytes, not {{pointee{FIRST}}}"


@rule("prefetch-types", "prefetch takes a pointer to numbers in global memory and how many of them.", f"{SECTION}.8",
      Op.ExtInst)
def prefetch_types(group: Group) -> Findings:
    for name, chosen in _by_name(group, {"prefetch"}):
        yield chosen & ~group.result.is_kind(Op.TypeVoid), f"{name} gives nothing, not {{type}}"
        address = group.value(FIRST)
        yield chosen & ~_in_storage(address, (StorageClass.CrossWorkgroup,)), \
            f"{name} needs a pointer to CrossWorkgroup memory, not {{type{FIRST}}}"
        yield chosen & address.is_kind(Op.TypePointer) & ~address.element.scalars_of(Op.TypeInt, Op.TypeFloat), \
            f"{name} is of numbers or vectors of numbers, not {{pointee{FIRST}}}"
        yield chosen & ~_is_size(group, FIRST + 1), \
            f"the number of elements of {name} is an integer as wide as an address, not {{type{FIRST + 1}}}"
