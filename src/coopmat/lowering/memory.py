"""How values of the tree's types lie in memory, for every builder alike.

A bool is a value only: memory holds it in 8 bits. An enumeration is its integer type. A record becomes a
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
    """The type that holds a value of ``type_`` in memory: UCHAR for BOOL, an integer for an enumeration.

    Arrays are rewritten down to their items, and have at least one of them, as targets ask for; records keep
    their identity (:func:`physical_record` rewrites their members' types), pointers keep their pointee.
    """
    match type_:
        case t.Scalar(kind="bool"):
            return t.UCHAR
        case t.Enumeration(underlying=underlying):
            return underlying
        case t.Vector(scalar=t.Scalar(kind="bool")):
            return replace(type_, scalar=t.UCHAR)
        case t.Array(item=item, count=count):
            return t.Array(memory_type(item), count or 1)
    return type_


def value_type(type_: t.Type) -> t.Type:
    """The type that a value of ``type_`` has in the lowering: as in memory, but a bool stays a bool."""
    return type_ if is_bool(type_) else memory_type(type_)


@dataclass(frozen=True, slots=True)
class PhysicalRecord:
    """A record as a structure of the target.

    ``members`` are the structure's members in order, padding (arrays of UCHAR) included;
    ``index_of[i]`` is the position of the record's field ``i`` among them, None for an array without elements,
    which is no member. A union is made of unsigned
    integers as wide as its alignment, so that copies keep all its bytes; its fields are reached by
    casting its address, and its ``index_of`` is empty. ``packed``: members follow each other without gaps.
    """

    members: tuple[t.Type, ...]
    index_of: tuple[int | None, ...]
    packed: bool


@lru_cache(maxsize=1024)
def physical_record(record: t.Record) -> PhysicalRecord:
    """The structure that stands for ``record``, with :func:`coopmat.tree.types.layout_of`'s offsets."""
    layout = t.layout_of(record)
    located = zip(record.fields or (), layout.offsets, strict=True)
    present = [(memory_type(member.type), offset) for member, offset in located if not is_empty_array(member.type)]
    fields = tuple(field for field, _ in present)
    if record.is_union:
        return _physical_union(record, fields)
    offsets = tuple(offset for _, offset in present)
    if t.contains_matrix(record) or _places_fields(PhysicalRecord(fields, (), record.packed), offsets, layout.size):
        members, positions, packed = fields, tuple(range(len(fields))), record.packed
    else:
        members, positions, packed = *_padded(present, layout.size), True
    numbers = iter(positions)
    index_of = tuple(None if is_empty_array(member.type) else next(numbers) for member in record.fields or ())
    return PhysicalRecord(members, index_of, packed)


def member_index(record: t.Record, index: int) -> int:
    """The position of the record's field ``index`` in the structure that stands for it."""
    position = physical_record(record).index_of[index]
    assert position is not None
    return position


def is_empty_array(type_: t.Type) -> bool:
    """Whether a type is an array without elements, such as the flexible last member of a structure."""
    return isinstance(type_, t.Array) and (not type_.count or is_empty_array(type_.item))


def _padding(size: int) -> tuple[t.Type, ...]:
    return (t.Array(t.UCHAR, size),) if size else ()


def _physical_union(record: t.Record, fields: tuple[t.Type, ...]) -> PhysicalRecord:
    alignment = 1 if record.packed else max(map(natural_alignment, fields), default=1)
    word = t.Scalar("uint", 8 * alignment) if alignment <= _WIDEST else t.Vector(t.ULONG, alignment // _WIDEST)
    count = t.size_of(record) // alignment
    words = () if not count else (word,) if count == 1 else (t.Array(word, count),)
    return PhysicalRecord(words, (), record.packed)


def _padded(fields: list[tuple[t.Type, int]], size: int) -> tuple[tuple[t.Type, ...], tuple[int, ...]]:
    """The members of a packed structure whose gaps are spelled out, and the positions of the fields among them."""
    members: list[t.Type] = []
    positions: list[int] = []
    end = 0
    for field, offset in fields:
        members += _padding(offset - end)
        positions.append(len(members))
        members.append(field)
        end = offset + t.size_of(field)
    members += _padding(size - end)
    return tuple(members), tuple(positions)


def _places_fields(physical: PhysicalRecord, offsets: tuple[int, ...], size: int) -> bool:
    """Whether a target that knows only the member types arrives at this layout."""
    found = _natural_layout(physical)
    return found[:2] == (offsets, size)


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
