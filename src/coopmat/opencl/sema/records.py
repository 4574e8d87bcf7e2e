"""Structures and unions (C99 6.7.2.1, 6.7.2.3, OpenCL C 6.9)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from coopmat.diagnostics import SourceLocation
from coopmat.opencl.base.symbols import Enumerator, QualifiedType
from coopmat.opencl.base.types import MAX_OBJECT_BYTES, has_size, is_flexible, visible_members
from coopmat.opencl.base.values import ERROR
from coopmat.opencl.builtins import matrices
from coopmat.opencl.messages import semantic as messages
from coopmat.opencl.parse import syntax
from coopmat.opencl.sema import assertions, attributes, events
from coopmat.opencl.sema.context import Context
from coopmat.opencl.sema.nesting import check_nesting, nesting
from coopmat.tree.types import (
    VOID,
    AddressSpace,
    Array,
    Enumeration,
    Field,
    Record,
    Type,
    size_of,
)

# ------------------------------------------------------------------ structures and unions


def record_type(context: Context, node: syntax.RecordSpecifier, declares_tag: bool) -> Type:
    """The type that ``struct`` or ``union`` names, defines, or (``declares_tag``) declares."""
    record = _find_record(context, node, declares_tag)
    if record is None:
        return ERROR
    if node.members is None:
        if declares_tag:
            attributes.apply_to_record(context, record, node.attributes)
        else:
            attributes.report_unknown(context, node.attributes, attributes.RECORD)
        return record
    if record.fields is not None:
        context.report(messages.REDEFINITION, node.location, context.previous_tag(node.tag), name=node.tag)
        return record
    record.fields = _fields(context, record, node.members)
    record.most_alignment = node.pack
    attributes.apply_to_record(context, record, node.attributes)
    deepest = max((member.type for member in record.fields), key=partial(nesting, context), default=VOID)
    if not check_nesting(context, deepest, node.location):
        return ERROR
    context.nesting[record] = 1 + nesting(context, deepest)
    if record.fields and size_of(record) >= MAX_OBJECT_BYTES:
        context.report(messages.OBJECT_TOO_LARGE, node.location, type=record)
        return ERROR
    return record


def _find_record(context: Context, node: syntax.RecordSpecifier, declares_tag: bool) -> Record | None:
    """The record with this tag: the one that is visible, or a new one."""
    if node.tag is None:
        place = node.location
        return Record(f"(unnamed at {place})", node.is_union)
    found = context.scope.tags.get(node.tag) if node.members is not None or declares_tag \
        else context.lookup_tag(node.tag)
    if found is None:
        record = Record(node.tag, node.is_union)
        context.scope.tags[node.tag] = (record, node.location)
        return record
    type_, _ = found
    if not isinstance(type_, Record) or type_.is_union != node.is_union:
        context.report(messages.WRONG_TAG_KIND, node.location, context.previous_tag(node.tag), name=node.tag)
        return None
    return type_


def _fields(context: Context, record: Record, members: list[syntax.Declaration | syntax.StaticAssert],
            ) -> tuple[Field, ...]:
    """The members, those of wrong type left out."""
    fields: list[Field] = []
    places: dict[str, SourceLocation] = {}
    for declaration in members:
        if isinstance(declaration, syntax.StaticAssert):
            assertions.static_assert(context, declaration)
            continue
        for member, location in _declared_fields(context, declaration):
            names = [member.name] if member.name else visible_members(member.type)
            repeated = [name for name in names if not _check_duplicate(context, name, location, places)]
            if not member.name or not repeated:
                fields.append(member)
    _settle_flexible(context, record, fields, places)
    return tuple(fields)


def _declared_fields(context: Context, declaration: syntax.Declaration) -> Iterator[tuple[Field, SourceLocation]]:
    """The members of one declaration, each with its place; one without a name is an anonymous record."""
    base = context.specified_type(declaration.specifiers)
    leading = declaration.specifiers.attributes
    attributes.report_unknown(context, leading, attributes.MEMBER)
    if not declaration.declarators:
        if isinstance(base.type, Record) and base.type.name.startswith("(") and base.type.fields is not None:
            yield Field("", base.type, alignment=base.alignment), declaration.location
        elif base.type is not ERROR:
            context.report(messages.DECLARES_NOTHING, declaration.location)
    for item in declaration.declarators:
        member = _field(context, base, item, leading)
        if member is not None:
            yield member, item.declarator.location


def _settle_flexible(context: Context, record: Record, fields: list[Field],
                     places: dict[str, SourceLocation]) -> None:
    """A member without size has no elements in the record; of a structure it may only be the last one."""
    for index, member in enumerate(fields):
        if not is_flexible(member.type):
            continue
        assert isinstance(member.type, Array)
        if index < len(fields) - 1 and not record.is_union:
            context.report(messages.FLEXIBLE_NOT_LAST, places[member.name], name=member.name, item=member.type.item)
        fields[index] = replace(member, type=Array(member.type.item, 0))


def _check_duplicate(context: Context, name: str, location: SourceLocation,
                     places: dict[str, SourceLocation]) -> bool:
    if name in places:
        context.report(messages.DUPLICATE_MEMBER, location, context.previous(places[name]), name=name)
        return False
    places[name] = location
    return True


def _field(context: Context, base: QualifiedType, item: syntax.InitDeclarator,
           leading: list[syntax.Attribute]) -> Field | None:
    """One member, with the attributes in front of its declaration; None after a report."""
    found = context.declared(base, item.declarator)
    location = found.location
    qualified = attributes.apply_to_type(context, found.type, item.attributes)
    type_ = qualified.type
    attributes.report_unknown(context, item.attributes, attributes.MEMBER)
    if item.width is not None:
        context.report(messages.BIT_FIELD, location)
        return None
    if type_ is ERROR or found.name is None:
        return None
    if found.function is not None:
        context.report(messages.FUNCTION_MEMBER, location, name=found.name)
        return None
    if not (has_size(type_) or is_flexible(type_)):
        context.report(messages.INCOMPLETE_MEMBER, location, type=type_)
        return None
    if qualified.address_space not in (None, AddressSpace.PRIVATE):
        context.report(messages.MEMBER_ADDRESS_SPACE, location, space=qualified.address_space)
        return None
    if not (matrices.check_object(context, type_, AddressSpace.PRIVATE, location, "member")
            and events.check_object(context, type_, AddressSpace.PRIVATE, location, "member")):
        return None
    is_packed = any(attribute.name == "packed" for attribute in (*leading, *item.attributes))
    return Field(found.name, type_, qualified.const, qualified.type_alignment, qualified.alignment, is_packed,
                 qualified.of_device is not None)


def rename_unnamed(context: Context, type_: Type, name: str) -> Type:
    """``typedef struct { … } name;`` gives the structure, or enumeration, a name for messages."""
    if isinstance(type_, Record) and type_.name.startswith("(unnamed"):
        type_.name = name
    if isinstance(type_, Enumeration) and type_.name.startswith("enum (unnamed"):
        named = replace(type_, name=name)
        for constant in context.scope.symbols.values():
            if isinstance(constant, Enumerator) and constant.enumeration == type_:
                context.scope.symbols[constant.name] = replace(constant, enumeration=named)
        return named
    return type_
