"""Rules of SPV_INTEL_predicated_io: loads and stores that may not happen."""

from __future__ import annotations

from coopmat.spirv.grammar import MemoryAccess, Op
from coopmat.spirv.validate.rules import Findings, rule
from coopmat.spirv.validate.view import Group

SECTION = "SPV_INTEL_predicated_io"


@rule("predicated-types", "A predicated load or store moves numbers of the type that the pointer points to, "
      "depending on a boolean.", SECTION, Op.PredicatedLoadINTEL, Op.PredicatedStoreINTEL)
def predicated_types(group: Group) -> Findings:
    loads = group.opcode == Op.PredicatedLoadINTEL
    address, predicate = group.value(0), group.value(1 if loads else 2)
    data, shown = (group.result, "{type}") if loads else (group.value(1), "{type1}")
    yield ~data.scalars_of(Op.TypeInt, Op.TypeFloat), f"{{op}} moves numbers, not {shown}"
    yield ~address.is_pointer, "{op} needs a pointer, not {type0}"
    yield address.is_kind(Op.TypePointer) & (address.element != data), f"{{op}} of {shown} cannot go through {{type0}}"
    yield ~predicate.is_kind(Op.TypeBool), f"the predicate of {{op}} is a boolean, not {{type{1 if loads else 2}}}"
    if loads:
        yield group.value(2) != group.result, "the default of {op} has type {type2}; {type} is needed"
    yield group.word(3) & int(MemoryAccess.Volatile) != 0, "{op} cannot be Volatile"
