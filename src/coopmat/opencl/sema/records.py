"""Structures, unions and enumerations (C99 6.7.2.1 to 6.7.2.3, OpenCL C 6.9)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from coopmat.diagnostics import SourceLocation
from coopmat.opencl import syntax
from coopmat.opencl.messages import semantic as messages
from coopmat.opencl.sema import attributes, declarators, events, expressions, matrix
from coopmat.opencl.sema.constants import wrap
from coopmat.opencl.sema.context import Context, Enumerator
from coopmat.opencl.sema.values import ERROR, is_error
from coopmat.tree.nodes import Constant
from coopmat.tree.types import (
    BOOL,
    INT,
    VOID,
    AddressSpace,
    Array,
    Enumeration,
    Field,
    Pointer,
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
        attributes.report_unknown(context, node.attributes, attributes.RECORD_ATTRIBUTES)
        return record
    if record.fields is not None:
        context.report(messages.REDEFINITION, node.location, _previous_tag(context, node.tag), name=node.tag)
        return record
    record.fields = _fields(context, record, node.members)
    attributes.apply_to_record(context, record, node.attributes)
    deepest = max((member.type for member in record.fields), key=partial(declarators.nesting, context), default=VOID)
    if not declarators.check_nesting(context, deepest, node.location):
        return ERROR
    context.nesting[record] = 1 + declarators.nesting(context, deepest)
    if record.fields and size_of(record) >= declarators.MAX_OBJECT_BYTES:
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
        context.report(messages.WRONG_TAG_KIND, node.location, _previous_tag(context, node.tag), name=node.tag)
        return None
    return type_


def _previous_tag(context: Context, tag: str | None) -> tuple:
    found = context.lookup_tag(tag) if tag is not None else None
    return context.previous(found[1]) if found is not None else ()


def _fields(context: Context, record: Record, members: list[syntax.Declaration]) -> tuple[Field, ...]:
    """The members, those of wrong type left out."""
    fields: list[Field] = []
    places: dict[str, SourceLocation] = {}
    for declaration in members:
        base = declarators.specified_type(context, declaration.specifiers)
        if not declaration.declarators:
            if isinstance(base.type, Record) and base.type.name.startswith("(") and base.type.fields is not None:
                fields.append(Field("", base.type))
                for name in visible_members(base.type):
                    _check_duplicate(context, name, declaration.location, places)
            elif base.type is not ERROR:
                context.report(messages.DECLARES_NOTHING, declaration.location)
            continue
        for item in declaration.declarators:
            field = _field(context, base, item)
            if field is not None and _check_duplicate(context, field.name, item.declarator.location, places):
                fields.append(field)
    return tuple(fields)


def visible_members(record: Record) -> list[str]:
    """The names that ``.`` finds in a record, those of anonymous members included."""
    names: list[str] = []
    for member in record.fields or ():
        if member.name:
            names.append(member.name)
        elif isinstance(member.type, Record):
            names += visible_members(member.type)
    return names


def _check_duplicate(context: Context, name: str, location: SourceLocation,
                     places: dict[str, SourceLocation]) -> bool:
    if name in places:
        context.report(messages.DUPLICATE_MEMBER, location, context.previous(places[name]), name=name)
        return False
    places[name] = location
    return True


def _field(context: Context, base: declarators.QualifiedType, item: syntax.InitDeclarator) -> Field | None:
    """One member; None after a report."""
    found = declarators.declared(context, base, item.declarator)
    location = found.location
    qualified = attributes.apply_to_type(context, found.type, item.attributes)
    type_ = qualified.type
    attributes.report_unknown(context, item.attributes, attributes.TYPE_ATTRIBUTES | {"aligned"})
    if item.width is not None:
        context.report(messages.BIT_FIELD, location)
        return None
    if type_ is ERROR or found.name is None:
        return None
    if found.function is not None:
        context.report(messages.FUNCTION_MEMBER, location, name=found.name)
        return None
    if isinstance(type_, Array) and type_.count == declarators.UNSIZED:
        context.report(messages.FLEXIBLE_MEMBER, location, name=found.name)
        return None
    if not declarators.has_size(type_):
        context.report(messages.INCOMPLETE_MEMBER, location, type=type_)
        return None
    if qualified.address_space not in (None, AddressSpace.PRIVATE):
        context.report(messages.MEMBER_ADDRESS_SPACE, location, space=qualified.address_space)
        return None
    if qualified.alignment is not None:
        context.report(messages.MEMBER_ALIGNMENT, location, name=found.name)
    if not (matrix.check_object(context, type_, AddressSpace.PRIVATE, location, "member")
            and events.check_object(context, type_, AddressSpace.PRIVATE, location, "member")):
        return None
    return Field(found.name, type_, qualified.const)


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


# ------------------------------------------------------------------ enumerations


def enumeration_type(context: Context, node: syntax.EnumSpecifier) -> Type:
    """The type that ``enum`` names or defines; its constants are declared as ints."""
    found = None
    if node.tag is not None:
        found = context.lookup_tag(node.tag) if node.enumerators is None else context.scope.tags.get(node.tag)
    if found is not None and not isinstance(found[0], Enumeration):
        context.report(messages.WRONG_TAG_KIND, node.location, _previous_tag(context, node.tag), name=node.tag)
        return ERROR
    if node.enumerators is None:
        if found is None:
            context.report(messages.UNDEFINED_ENUM, node.location, name=node.tag)
            return ERROR
        return found[0]
    if found is not None:
        context.report(messages.REDEFINITION, node.location, _previous_tag(context, node.tag), name=node.tag)
        return found[0]
    name = f"enum {node.tag}" if node.tag is not None else f"enum (unnamed at {node.location})"
    enumeration = Enumeration(name)
    if node.tag is not None:
        context.scope.tags[node.tag] = (enumeration, node.location)
    if not node.enumerators:
        context.report(messages.EMPTY_ENUM, node.location)
    _declare_enumerators(context, enumeration, node.enumerators)
    return enumeration


def _declare_enumerators(context: Context, enumeration: Enumeration, enumerators: list[syntax.Enumerator]) -> None:
    following = 0
    for item in enumerators:
        given = _enumerator_value(context, item)
        value = following if given is None else given
        if wrap(value, INT) != value:
            context.report(messages.ENUM_RANGE, item.location, name=item.name, value=value)
            value = wrap(value, INT)
        previous = context.scope.symbols.get(item.name)
        if previous is not None:
            context.report(messages.REDEFINITION, item.location, context.previous(previous.location), name=item.name)
        else:
            constant = Constant(INT, item.location, value)
            context.scope.symbols[item.name] = Enumerator(item.name, constant, item.location, enumeration)
        following = value + 1


def _enumerator_value(context: Context, item: syntax.Enumerator) -> int | None:
    """The value that is written, None if there is none or it is wrong."""
    if item.value is None:
        return None
    expression = expressions.value(context, item.value)
    value = context.constant_integer(expression)
    if value is None and not is_error(expression):
        context.report(messages.NOT_INTEGER_CONSTANT, expression.location)
    return value


def rename_unnamed(type_: Type, name: str) -> Type:
    """``typedef struct { … } name;`` gives the structure a name for messages."""
    if isinstance(type_, Record) and type_.name.startswith("(unnamed"):
        type_.name = name
        return type_
    if isinstance(type_, Enumeration) and type_.name.startswith("enum (unnamed"):
        return replace(type_, name=name)
    return type_


# ------------------------------------------------------------------ what is inside


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
