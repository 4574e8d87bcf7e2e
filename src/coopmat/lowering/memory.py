"""How values of the tree's types lie in memory, for every builder alike.

A bool is a value only: memory holds it in 8 bits. An enumeration is an int. A record becomes a
structure of the target, with explicit padding where the target would place the members elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache, singledispatch

from coopmat.tree import types as t

_WIDEST = t.size_of(t.ULONG)


def is_bool(type_: t.Type) -> bool:
    """Whether values of ``type_`` are bools, one or a vector of them."""
    return isinstance(type_, (t.Scalar, t.Vector)) and type_.element == t.BOOL


def memory_type(type_: t.Type) -> t.Type:
    """The type that holds a value of ``type_`` in memory: UCHAR for BOOL, INT for an enumeration.

    Arrays are rewritten down to their items; records keep their identity (their members' types are
    rewritten by :func:`physical_record`), pointers keep their pointee.
    """
    match type_:
        case t.Scalar(kind="bool"):
            return t.UCHAR
        case t.Enumeration():
            return t.INT
        case t.Vector(scalar=t.Scalar(kind="bool")):
            return replace(type_, scalar=t.UCHAR)
        case t.Array(item=item):
            return replace(type_, item=memory_type(item))
    return type_


def value_type(type_: t.Type) -> t.Type:
    """The type that a value of ``type_`` has in the lowering: as in memory, but a bool stays a bool."""
    return type_ if is_bool(type_) else memory_type(type_)


@dataclass(frozen=True, slots=True)
class PhysicalRecord:
    """A record as a structure of the target.

    ``members`` are the structure's members in order, padding (arrays of UCHAR) included;
    ``index_of[i]`` is the position of the record's field ``i`` among them. A union is made of unsigned
    integers as wide as its alignment, so that copies keep all its bytes; its fields are reached by
    casting its address, and its ``index_of`` is empty. ``packed``: members follow each other without gaps.
    """

    members: tuple[t.Type, ...]
    index_of: tuple[int, ...]
    packed: bool


@lru_cache(maxsize=1024)
def physical_record(record: t.Record) -> PhysicalRecord:
    """The structure that stands for ``record``, with :func:`coopmat.tree.types.layout_of`'s offsets."""
    fields = tuple(memory_type(member.type) for member in record.fields or ())
    if record.is_union:
        return _physical_union(record, fields)
    plain = PhysicalRecord(fields, tuple(range(len(fields))), record.packed)
    if t.contains_matrix(record) or _places_fields(plain, t.layout_of(record)):
        return plain
    return _padded(fields, t.layout_of(record))


def _padding(size: int) -> tuple[t.Type, ...]:
    return (t.Array(t.UCHAR, size),) if size else ()


def _physical_union(record: t.Record, fields: tuple[t.Type, ...]) -> PhysicalRecord:
    alignment = 1 if record.packed else max(map(natural_alignment, fields), default=1)
    word = t.Scalar("uint", 8 * alignment) if alignment <= _WIDEST else t.Vector(t.ULONG, alignment // _WIDEST)
    count = t.size_of(record) // alignment
    words = () if not count else (word,) if count == 1 else (t.Array(word, count),)
    return PhysicalRecord(words, (), record.packed)


def _padded(fields: tuple[t.Type, ...], layout: t.Layout) -> PhysicalRecord:
    """A packed structure whose gaps are spelled out."""
    members: list[t.Type] = []
    index_of: list[int] = []
    end = 0
    for field, offset in zip(fields, layout.offsets, strict=True):
        members += _padding(offset - end)
        index_of.append(len(members))
        members.append(field)
        end = offset + t.size_of(field)
    members += _padding(layout.size - end)
    return PhysicalRecord(tuple(members), tuple(index_of), packed=True)


def _places_fields(physical: PhysicalRecord, layout: t.Layout) -> bool:
    """Whether a target that knows only the member types arrives at ``layout``."""
    offsets, size, _ = _natural_layout(physical)
    return offsets == layout.offsets and size == layout.size


def _natural_layout(physical: PhysicalRecord) -> tuple[tuple[int, ...], int, int]:
    """Offsets, size and alignment that a target gives the structure."""
    offsets, end, alignment = [], 0, 1
    for member in physical.members:
        step = 1 if physical.packed else natural_alignment(member)
        alignment = max(alignment, step)
        end = -(-end // step) * step
        offsets.append(end)
        end += t.size_of(member)
    return tuple(offsets), -(-end // alignment) * alignment, alignment


@singledispatch
def natural_alignment(type_: t.Type) -> int:
    """The alignment that a target derives from the type alone, without ``aligned`` attributes."""
    return t.layout_of(type_).alignment


@natural_alignment.register
def _(type_: t.Array) -> int:
    return natural_alignment(type_.item)


@natural_alignment.register
@lru_cache(maxsize=1024)
def _(type_: t.Record) -> int:
    return _natural_layout(physical_record(type_))[2]
