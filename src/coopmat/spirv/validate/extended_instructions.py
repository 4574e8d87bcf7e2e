"""Rules for the instructions of OpenCL.std (OpenCL Extended Instruction Set Specification, section 2)."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from coopmat.spirv.grammar import EXTENDED_INSTRUCTIONS, OPENCL_STD, OPENCL_STD_NAMES, Op, StorageClass
from coopmat.spirv.tables import opencl_std
from coopmat.spirv.validate.group import Group
from coopmat.spirv.validate.rules import Findings, rule
from coopmat.spirv.validate.types import Types
from coopmat.spirv.validate.view import ModuleView

SECTION = "OpenCL Extended Instruction Set Specification, 2"
FIRST = 2
"""The place of the first operand, behind the set and the number."""

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


def _by_name(group: Group, names: set[str] | dict[str, Op]) -> Iterator[tuple[str, np.ndarray]]:
    """The instructions of OpenCL.std among these names, each with where it stands in the group."""
    sets = group.word(0)
    opencl = np.isin(sets, [i for i, name in group.view.module.instruction_sets.items() if name == "OpenCL.std"])
    numbers = group.word(1)
    for number in np.unique(numbers[opencl]).tolist():
        name = OPENCL_STD_NAMES.get(number)
        if name is not None and name in names:
            yield name, opencl & (numbers == number)


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


@rule("math-types", "Instructions of OpenCL.std work on floats, or on integers, of the result type.", SECTION,
      Op.ExtInst)
def math_types(group: Group) -> Findings:
    for name, chosen in _by_name(group, _ONE_TYPE):
        kind, what = (Op.TypeInt, "integers") if name in _INTEGER else (Op.TypeFloat, "floating-point numbers")
        yield chosen & ~group.result.scalars_of(kind), f"{name} gives {what}, not {{type}}"
        count = _operands(name) - (name in _SCALED or name in _POINTERS)
        for place in range(FIRST, FIRST + count):
            yield chosen & (group.value(place) != group.result), \
                f"operand {place - FIRST + 1} of {name} has type {{type{place}}}; {{type}} is needed"


@rule("math-integer-operand", "The last operand of ldexp, pown and rootn is 32-bit integers.", SECTION, Op.ExtInst)
def math_integer_operand(group: Group) -> Findings:
    for name, chosen in _by_name(group, _SCALED):
        operand = group.value(FIRST + 1)
        good = operand.scalars_of(Op.TypeInt) & (operand.scalar.width == 32) \
            & (operand.components == group.result.components)
        yield chosen & ~good, \
            f"{name} needs as many 32-bit integers as {{type}} has components, not {{type{FIRST + 1}}}"


@rule("math-pointer-operand", "A second result goes through a pointer to its type.", SECTION, Op.ExtInst)
def math_pointer_operand(group: Group) -> Findings:
    for name, chosen in _by_name(group, _POINTERS):
        place = FIRST + _operands(name) - 1
        address = group.value(place)
        yield chosen & ~address.is_pointer, f"{name} needs a pointer as last operand, not {{type{place}}}"
        pointee = address.element
        good = pointee == group.result if _POINTERS[name] == Op.TypeFloat else \
            pointee.scalars_of(Op.TypeInt) & (pointee.components == group.result.components)
        yield chosen & address.is_kind(Op.TypePointer) & ~good, \
            f"{name} giving {{type}} cannot write to {{pointee{place}}}"


@rule("geometric-types", "Lengths and distances are numbers; a cross product has 3 or 4 components.", SECTION,
      Op.ExtInst)
def geometric_types(group: Group) -> Findings:
    for name, chosen in _by_name(group, {"distance", "length", "fast_distance", "fast_length"}):
        operand = group.value(FIRST)
        good = group.result.is_kind(Op.TypeFloat) & (operand.scalar == group.result) & operand.scalars_of(Op.TypeFloat)
        yield chosen & ~good, f"{name} of {{type{FIRST}}} cannot give {{type}}"
        if _operands(name) == 2:
            yield chosen & (group.value(FIRST + 1) != operand), f"the operands of {name} differ"
    for name, chosen in _by_name(group, {"cross"}):
        result = group.result
        good = result.scalars_of(Op.TypeFloat) & np.isin(result.components, (3, 4)) \
            & (group.value(FIRST) == result) & (group.value(FIRST + 1) == result)
        yield chosen & ~good, f"{name} takes and gives vectors of 3 or 4 floats of one type"


@rule("select-extended-types", "select and bitselect take numbers of one type; select's condition is as wide.", SECTION,
      Op.ExtInst)
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


@rule("upsample-types", "upsample joins two integers into one of twice the width.", SECTION, Op.ExtInst)
def upsample_types(group: Group) -> Findings:
    for name, chosen in _by_name(group, {"s_upsample", "u_upsample"}):
        high, low, result = group.value(FIRST), group.value(FIRST + 1), group.result
        good = result.scalars_of(Op.TypeInt) & high.scalars_of(Op.TypeInt) & low.scalars_of(Op.TypeInt) \
            & (high.components == result.components) & (low.components == result.components) \
            & (2 * high.scalar.width == result.scalar.width) & (high.scalar.width == low.scalar.width)
        yield chosen & ~good, f"{name} of {{type{FIRST}}} and {{type{FIRST + 1}}} cannot give {{type}}"


@rule("shuffle-extended-types", "shuffle picks components by a mask as wide as they are.", SECTION, Op.ExtInst)
def shuffle_extended_types(group: Group) -> Findings:
    for name, chosen in _by_name(group, {"shuffle", "shuffle2"}):
        source, mask = group.value(FIRST), group.value(FIRST + (2 if name == "shuffle2" else 1))
        good = source.is_kind(Op.TypeVector) & (source.element == group.result.element) \
            & mask.scalars_of(Op.TypeInt) & (mask.components == group.result.components) \
            & (mask.scalar.width == source.scalar.width)
        yield chosen & ~good, f"{name} of {{type{FIRST}}} with this mask cannot give {{type}}"


@rule("vector-memory-types", "vload and vstore move numbers through a pointer, at an integer offset.", SECTION,
      Op.ExtInst)
def vector_memory_types(group: Group) -> Findings:
    for name, chosen in _by_name(group, {name for name in OPENCL_STD if _is_memory(name)}):
        loads = name.startswith("vload")
        offset, place = (FIRST, FIRST + 1) if loads else (FIRST + 1, FIRST + 2)
        yield chosen & ~group.value(offset).is_kind(Op.TypeInt), \
            f"the offset of {name} is an integer, not {{type{offset}}}"
        address = group.value(place)
        yield chosen & ~address.is_pointer, f"{name} needs a pointer, not {{type{place}}}"
        data: Types = group.result if loads else group.value(FIRST)
        yield chosen & ~data.scalars_of(Op.TypeInt, Op.TypeFloat), f"{name} moves numbers"
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
    for name, chosen in _by_name(group, {"printf"}):
        yield chosen & ~(group.result.is_kind(Op.TypeInt) & (group.result.width == 32)), \
            f"{name} gives a 32-bit integer, not {{type}}"
        address = group.value(FIRST)
        yield chosen & ~(address.is_pointer & (address.storage == int(StorageClass.UniformConstant))), \
            f"the format of {name} is a pointer to UniformConstant memory, not {{type{FIRST}}}"
