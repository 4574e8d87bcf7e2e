"""Questions about types: which have a size, and what is inside them."""

from __future__ import annotations

from collections.abc import Callable

from coopmat.tree.types import BOOL, HALF, VOID, Array, Field, FunctionType, Pointer, Record, Scalar, Type

UNSIZED = -1
"""The count of an array whose initialiser gives it its size."""

MAX_OBJECT_BYTES = 1 << 31

FP64_FEATURES = ("cl_khr_fp64", "__opencl_c_fp64")


def has_size(type_: Type) -> bool:
    """Whether objects of a type can exist: it is complete, and no function or void."""
    match type_:
        case Record(fields=fields):
            return fields is not None
        case Array(item=item, count=count):
            return count != UNSIZED and has_size(item)
    return type_ != VOID and not isinstance(type_, FunctionType)


def is_half(type_: Type) -> bool:
    """Whether values of the type need cl_khr_fp16."""
    element = type_.element
    return isinstance(element, Scalar) and element == HALF


def is_flexible(type_: Type) -> bool:
    """Whether a type is an array without size, as the last member of a structure may be (C99 6.7.2.1p16)."""
    return isinstance(type_, Array) and type_.count == UNSIZED


# ------------------------------------------------------------------ members


def visible_members(record: Type) -> list[str]:
    """The names that ``.`` finds in a record, those of anonymous members included."""
    assert isinstance(record, Record)
    names: list[str] = []
    for member in record.fields or ():
        if member.name:
            names.append(member.name)
        elif isinstance(member.type, Record):
            names += visible_members(member.type)
    return names


def find_member(record: Record, name: str) -> list[int] | None:
    """The path of indices to a member, through anonymous ones; None if there is none."""
    for index, member in enumerate(record.fields or ()):
        if member.name == name:
            return [index]
        if not member.name and isinstance(member.type, Record):
            path = find_member(member.type, name)
            if path is not None:
                return [index, *path]
    return None


# ------------------------------------------------------------------ what is inside


def member_of_device(type_: Type) -> Field | None:
    """A member whose size the device decides, such as a ``size_t``, in ``type_`` or what it holds."""
    while isinstance(type_, Array):
        type_ = type_.item
    for member in (type_.fields or () if isinstance(type_, Record) else ()):
        found = member if member.of_device else member_of_device(member.type)
        if found is not None:
            return found
    return None


def is_bool_or_pointer(type_: Type) -> bool:
    """Whether a type has no representation that the host could know (OpenCL C 6.11.p)."""
    return type_ == BOOL or isinstance(type_, Pointer)


def find_kind(type_: Type, test: Callable[[Type], bool]) -> Type | None:
    """The first type in ``type_``, its members and elements included, for which ``test`` holds."""
    if test(type_):
        return type_
    if isinstance(type_, Array):
        return find_kind(type_.item, test)
    if isinstance(type_, Record):
        found = (find_kind(member.type, test) for member in type_.fields or ())
        return next((inner for inner in found if inner is not None), None)
    return None
