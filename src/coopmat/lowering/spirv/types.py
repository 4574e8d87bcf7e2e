"""Tree types as SPIR-V types of the OpenCL environment."""

from __future__ import annotations

from coopmat.lowering.memory import memory_type, physical_record
from coopmat.spirv.edit.builder import ModuleBuilder
from coopmat.spirv.grammar import CooperativeMatrixUse, Decoration, FPEncoding, Op, Scope, StorageClass
from coopmat.tree import types as t

STORAGE_CLASSES = {
    t.AddressSpace.PRIVATE: StorageClass.Function,
    t.AddressSpace.GLOBAL: StorageClass.CrossWorkgroup,
    t.AddressSpace.CONSTANT: StorageClass.UniformConstant,
    t.AddressSpace.LOCAL: StorageClass.Workgroup,
    t.AddressSpace.GENERIC: StorageClass.Generic,
}


class TypeLowering:
    """Finds or declares the SPIR-V type of a tree type.

    A record becomes one OpTypeStruct. Where records refer to each other by pointers, the pointer type
    is declared ahead (OpTypeForwardPointer) and completed once its pointee is.
    """

    def __init__(self, module: ModuleBuilder) -> None:
        self._module = module
        self._records: dict[t.Record, int] = {}
        self._unfinished: list[t.Record] = []
        self._forward: dict[tuple[StorageClass, t.Type], int] = {}
        self._pending: list[tuple[StorageClass, t.Type]] = []  # of these, the ones to complete

    def value(self, type_: t.Type) -> int:
        """The id of the type of values of ``type_``."""
        module = self._module
        match type_:
            case t.Void():
                return module.type_void()
            case t.Scalar():
                return self._scalar(type_)
            case t.Vector(scalar=scalar, count=count):
                return module.type_vector(self._scalar(scalar), count)
            case t.Matrix(scalar=scalar, rows=rows, columns=columns):
                return module.type_cooperative_matrix(
                    self._scalar(scalar), Scope(type_.scope.value), rows, columns,
                    CooperativeMatrixUse(type_.use.value))
            case t.Pointer(pointee=pointee, address_space=space):
                return self._pointer(STORAGE_CLASSES[space], pointee)
            case t.Event():
                return module.type_opaque(Op.TypeEvent)
            case t.Array(item=item, count=count):
                return module.type_array(self.memory(item), count)
            case t.Record():
                return self._record(type_)
        return self.value(memory_type(type_))

    def memory(self, type_: t.Type) -> int:
        """The id of the type that holds a value of ``type_`` in memory."""
        return self.value(memory_type(type_))

    def _scalar(self, scalar: t.Scalar) -> int:
        match scalar.kind:
            case "bool":
                return self._module.type_bool()
            case "float":
                return self._module.type_float(scalar.bits)
            case "bfloat":
                return self._module.type_float(scalar.bits, FPEncoding.BFloat16KHR)
        return self._module.type_int(scalar.bits)

    # -- Pointers and records ------------------------------------------------------------

    def _pointer(self, storage: StorageClass, pointee: t.Type) -> int:
        pointee = _pointee(pointee)
        key = storage, pointee
        if key in self._forward:
            return self._forward[key]
        if self._reaches_unfinished(pointee):
            self._forward[key] = self._module.forward_pointer(storage)
            self._pending.append(key)
            return self._forward[key]
        return self._module.type_pointer(storage, self.value(pointee))

    def _reaches_unfinished(self, type_: t.Type) -> bool:
        """Whether ``type_`` is, or holds by value, a record that is being declared."""
        match type_:
            case t.Array(item=item):
                return self._reaches_unfinished(item)
            case t.Record(fields=fields):
                return type_ in self._unfinished or (type_ not in self._records and any(
                    self._reaches_unfinished(member.type) for member in fields or ()))
        return False

    def _record(self, record: t.Record) -> int:
        if record in self._records:
            return self._records[record]
        self._unfinished.append(record)
        physical = physical_record(record)
        members = [self.memory(member) for member in physical.members]
        structure = self._module.type_struct(members, unique=False)
        self._unfinished.pop()
        self._records[record] = structure
        self._name(record, structure, physical.index_of)
        if physical.packed:
            self._module.decorate(structure, Decoration.CPacked)
        if not self._unfinished:
            self._complete_pointers()
        return structure

    def _name(self, record: t.Record, structure: int, index_of: tuple[int | None, ...]) -> None:
        self._module.name(structure, str(record).replace(" ", "."))
        for index, member in zip(index_of, record.fields or (), strict=False):
            if index is not None:
                self._module.member_name(structure, index, member.name)

    def _complete_pointers(self) -> None:
        while self._pending:
            storage, pointee = self._pending.pop()
            identifier = self._forward[storage, pointee]
            self._module.complete_pointer(identifier, storage, self.value(pointee))


def _pointee(type_: t.Type) -> t.Type:
    """What a pointer to ``type_`` points to in SPIR-V: bytes where C names no complete type."""
    is_opaque = isinstance(type_, t.Void) or (isinstance(type_, t.Record) and type_.fields is None)
    return t.UCHAR if is_opaque else memory_type(type_)
