"""Variables with an address, and those that are there from the kernel's start."""

from __future__ import annotations

from coopmat.diagnostics import Error
from coopmat.spirv.analysis.imports import imported_name, unresolved
from coopmat.spirv.analysis.types import Type, contains_matrix, round_up
from coopmat.spirv.grammar import StorageClass
from coopmat.spirv.module.instruction import Instruction
from coopmat.targets.llvm.access import store_value
from coopmat.targets.llvm.emitter import Emitter
from coopmat.targets.llvm.places import place_for, write_place
from coopmat.targets.llvm.values import Number, Value


def private_memory(emitter: Emitter, kind: Type) -> tuple[Number, int]:
    """Memory of each work-item for a value: the pointer to it, and the bytes that all have together."""
    return emitter.execution.private(round_up(max(kind.size, 1), kind.alignment))


def clear(emitter: Emitter, address: str, nbytes: int) -> None:
    """Set bytes to zero."""
    emitter.writer.call("void", "llvm.memset.p0.i64", [("ptr", address), ("i8", "0"), ("i64", str(nbytes)),
                                                       ("i1", "false")])


def own_variable(emitter: Emitter, identifier: int, kind: Type, value: Value | None) -> Value | None:
    """A variable of every work-item that is there from the kernel's start, with a value or with zeros; its pointer, if
    it needs one."""
    writer = emitter.writer
    if emitter.uses.stays(identifier, kind):
        place = place_for(emitter, identifier, kind)
        if value is not None or not contains_matrix(kind):
            with writer.in_entry():
                write_place(emitter, place, value or emitter.zero_value(kind))
        return None
    pointer, _ = private_memory(emitter, kind)
    with writer.in_entry():
        store_value(emitter, pointer, value or emitter.zero_value(kind), kind, kind.alignment)
    emitter.constants[identifier] = (pointer,)
    return (pointer,)


def module_variable(emitter: Emitter, row: Instruction) -> Value | None:
    """A variable of the module."""
    assert row.result_id is not None
    name = imported_name(emitter.module, row.result_id)
    if name is not None:
        raise unresolved("variable", name)
    kind, storage = emitter.pointee(row.result_id), row.words[0]
    if storage == StorageClass.Private:
        return own_variable(emitter, row.result_id, kind, emitter.value(row.words[1]) if len(row.words) > 1 else None)
    if storage == StorageClass.Workgroup:
        return (Number("ptr", emitter.execution.local(kind.size)),)
    if storage in (StorageClass.CrossWorkgroup, StorageClass.UniformConstant):
        return (Number("ptr", emitter.execution.variable(row.result_id)),)
    raise Error(f"a variable in storage class {StorageClass(storage).name} is not supported here")
