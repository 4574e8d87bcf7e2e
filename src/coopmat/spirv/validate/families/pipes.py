"""Rules for pipes (SPIR-V 3.3.23)."""

from __future__ import annotations

import numpy as np

from coopmat.spirv.grammar import AccessQualifier, Op, StorageClass
from coopmat.spirv.validate.rules import Findings, rule
from coopmat.spirv.validate.types import Integers
from coopmat.spirv.validate.view import Group

SECTION = "SPIR-V 3.3.23 Pipe Instructions"

_TRANSFER, _RESERVED = "pipe pointer size size", "pipe reservation index pointer size size"
_RESERVE, _COMMIT, _COUNT = "pipe count size size", "pipe reservation size size", "pipe size size"
# Instruction → what its operands are, and what it gives.
_FORMS: dict[Op, tuple[str, str]] = {
    **dict.fromkeys((Op.ReadPipe, Op.WritePipe), (_TRANSFER, "integer")),
    **dict.fromkeys((Op.ReservedReadPipe, Op.ReservedWritePipe), (_RESERVED, "integer")),
    **dict.fromkeys((Op.ReserveReadPipePackets, Op.ReserveWritePipePackets), (_RESERVE, "reservation")),
    **dict.fromkeys((Op.CommitReadPipe, Op.CommitWritePipe), (_COMMIT, "")),
    **dict.fromkeys((Op.GroupReserveReadPipePackets, Op.GroupReserveWritePipePackets),
                    (f"scope {_RESERVE}", "reservation")),
    **dict.fromkeys((Op.GroupCommitReadPipe, Op.GroupCommitWritePipe), (f"scope {_COMMIT}", "")),
    **dict.fromkeys((Op.GetNumPipePackets, Op.GetMaxPipePackets), (_COUNT, "integer")),
    Op.IsValidReserveId: ("reservation", "boolean"),
    Op.CreatePipeFromPipeStorage: ("storage", "pipe"),
    Op.ConstantPipeStorage: ("", "storage"),
}
_TYPES = {"reservation": Op.TypeReserveId, "storage": Op.TypePipeStorage, "pipe": Op.TypePipe, "boolean": Op.TypeBool}


@rule("pipe-types", "Pipe instructions take pipes, reservations, pointers and 32-bit integers, and give what they say.",
      SECTION, *_FORMS)
def pipe_types(group: Group) -> Findings:
    operands, result = _FORMS[group.opcode]
    for place, role in enumerate(operands.split()):
        given = group.value(place)
        if role in _TYPES:
            yield ~given.is_kind(_TYPES[role]), f"operand {place + 1} of {{op}} is a {role}, not {{type{place}}}"
        elif role in ("size", "index", "count"):
            yield ~given.is_int(32), f"operand {place + 1} of {{op}} is a 32-bit integer, not {{type{place}}}"
        elif role == "pointer":
            good = given.is_pointer & given.in_storage(StorageClass.Generic)
            yield ~good, f"{{op}} moves packets through a pointer to Generic memory, not {{type{place}}}"
    if result == "integer":
        yield ~group.result.is_int(32), "{op} gives a 32-bit integer, not {type}"
    elif result:
        yield ~group.result.is_kind(_TYPES[result]), f"{{op}} gives a {result}, not {{type}}"


@rule("pipe-access", "What is read from is a ReadOnly pipe, what is written to a WriteOnly one.", SECTION, *_FORMS)
def pipe_access(group: Group) -> Findings:
    roles = _FORMS[group.opcode][0].split()
    if "pipe" not in roles:
        return
    place = roles.index("pipe")
    access = _access(group, place)
    known = group.value(place).is_kind(Op.TypePipe)
    name = group.opcode.spelling
    if "Read" in name:
        yield known & (access != int(AccessQualifier.ReadOnly)), f"{{op}} needs a ReadOnly pipe, not {{type{place}}}"
    elif "Write" in name or "Commit" in name:
        yield known & (access != int(AccessQualifier.WriteOnly)), f"{{op}} needs a WriteOnly pipe, not {{type{place}}}"
    else:
        yield known & (access == int(AccessQualifier.ReadWrite)), \
            f"{{op}} needs a ReadOnly or WriteOnly pipe, not {{type{place}}}"


def _access(group: Group, place: int) -> Integers:
    """The access qualifiers of the pipes; -1 for what is no pipe."""
    rows = group.view.type_table.instructions
    found = [-1 if item is None or item.opcode != Op.TypePipe else item.words[0] for item in rows]
    return np.array(found, np.int64)[group.value(place).places]
