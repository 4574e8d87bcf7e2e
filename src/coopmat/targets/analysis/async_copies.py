"""What asynchronous copies need of their operands' types, on every target."""

from __future__ import annotations

from collections.abc import Sequence

from coopmat.diagnostics import ValidationError
from coopmat.spirv.analysis.types import EventType, PointerType, Type, TypeTable, is_number
from coopmat.spirv.grammar import StorageClass
from coopmat.spirv.module.instruction import Instruction

COPY_STORAGES = frozenset({StorageClass.Workgroup, StorageClass.CrossWorkgroup})


def copied_type(types: TypeTable, pointers: Sequence[Type], row: Instruction) -> Type:
    """What is copied from the second pointer to the first one; ValidationError if there is no copy between them."""
    destination, source = (types.pointee(pointer) for pointer in pointers)
    if destination != source or not is_number(destination) or isinstance(destination, EventType):
        raise ValidationError("async-copy-type", f"{row.name} copies scalars or vectors of one type, not {source} to "
                              f"{destination}", row.offset)
    if {pointer.storage for pointer in pointers if isinstance(pointer, PointerType)} != COPY_STORAGES:
        raise ValidationError("async-copy-storage", f"{row.name} copies between Workgroup and CrossWorkgroup memory",
                              row.offset)
    return destination


def scatters(destination: Type) -> bool:
    """Whether the stride is that of the destination: it is in global memory."""
    return isinstance(destination, PointerType) and destination.storage == StorageClass.CrossWorkgroup


def check_events(types: TypeTable, pointer: Type, row: Instruction) -> Type:
    """The type that a pointer to events points to; ValidationError if it points to something else."""
    kind = types.pointee(pointer)
    if not isinstance(kind, EventType):
        raise ValidationError("wait-events-type", f"{row.name} needs a pointer to events, not to {kind}", row.offset)
    return kind
