"""Enumerations (C99 6.7.2.2), with values outside of int's range as clang takes them."""

from __future__ import annotations

from dataclasses import replace

from coopmat.opencl.base.symbols import Enumerator
from coopmat.opencl.base.values import ERROR, is_error
from coopmat.opencl.messages import semantic as messages
from coopmat.opencl.parse import syntax
from coopmat.opencl.sema import attributes
from coopmat.opencl.sema.context import Context
from coopmat.tree.constants import wrap
from coopmat.tree.conversions import promoted_type
from coopmat.tree.nodes import Constant
from coopmat.tree.types import CHAR, INT, LONG, SHORT, UCHAR, UINT, ULONG, USHORT, Enumeration, Scalar, Type


def enumeration_type(context: Context, node: syntax.EnumSpecifier) -> Type:
    """The type that ``enum`` names or defines."""
    found = None
    if node.tag is not None:
        found = context.lookup_tag(node.tag) if node.enumerators is None else context.scope.tags.get(node.tag)
    if found is not None and not isinstance(found[0], Enumeration):
        context.report(messages.WRONG_TAG_KIND, node.location, context.previous_tag(node.tag), name=node.tag)
        return ERROR
    if node.enumerators is None:
        if found is None:
            context.report(messages.UNDEFINED_ENUM, node.location, name=node.tag)
            return ERROR
        return found[0]
    if found is not None:
        context.report(messages.REDEFINITION, node.location, context.previous_tag(node.tag), name=node.tag)
        return found[0]
    return _define(context, node, node.enumerators)


def _define(context: Context, node: syntax.EnumSpecifier, enumerators: list[syntax.Enumerator]) -> Enumeration:
    """A new enumeration; its type follows from the values of its constants."""
    attributes.report_unknown(context, node.attributes, attributes.ENUMERATION)
    if not enumerators:
        context.report(messages.EMPTY_ENUM, node.location)
    declared: list[Enumerator] = []
    following = Constant(INT, node.location, 0)
    for item in enumerators:
        declared.append(_enumerator(context, item, following))
        following = _successor(declared[-1].value)
    is_packed = any(attribute.name == "packed" for attribute in node.attributes)
    underlying = _underlying([int(found.value.value) for found in declared], is_packed)
    name = f"enum {node.tag}" if node.tag is not None else f"enum (unnamed at {node.location})"
    enumeration = Enumeration(name, underlying)
    for found in declared:  # until here each one had the type of its own value
        number, type_ = int(found.value.value), INT if _fits(int(found.value.value), INT) else underlying
        value = Constant(type_, found.location, wrap(number, type_))
        if context.scope.symbols.get(found.name) is found:
            context.scope.symbols[found.name] = replace(found, value=value, enumeration=enumeration)
    if node.tag is not None:
        context.scope.tags[node.tag] = (enumeration, node.location)
    return enumeration


def _enumerator(context: Context, item: syntax.Enumerator, following: Constant) -> Enumerator:
    """Declare one constant: an int if its value is one, else of the type of its value."""
    value = _given_value(context, item)
    if value is None:
        value = following
        if not _fits(int(following.value), _scalar(following)):
            context.report(messages.ENUM_OVERFLOW, item.location)
            value = _of_larger_type(following)
    number = int(value.value)
    enumerator = Enumerator(item.name, Constant(INT if _fits(number, INT) else value.type, item.location, number),
                            item.location)
    previous = context.scope.symbols.get(item.name)
    if previous is not None:
        context.report(messages.REDEFINITION, item.location, context.previous(previous.location), name=item.name)
    else:
        context.scope.symbols[item.name] = enumerator
    return enumerator


def _given_value(context: Context, item: syntax.Enumerator) -> Constant | None:
    """The value that is written, None if there is none or it is wrong."""
    if item.value is None:
        return None
    expression = context.value(item.value)
    value = context.constant_integer(expression)
    if value is not None:
        return Constant(promoted_type(expression.type), item.location, value)
    if not is_error(expression):
        context.report(messages.NOT_INTEGER_CONSTANT, expression.location)
    return None


def _successor(value: Constant) -> Constant:
    """One more, which may be too much for the type."""
    return replace(value, value=int(value.value) + 1)


def _scalar(value: Constant) -> Scalar:
    assert isinstance(value.type, Scalar)
    return value.type


def _fits(value: int, type_: Scalar) -> bool:
    return wrap(value, type_) == value


def _of_larger_type(value: Constant) -> Constant:
    """A value that is too large for its type in the next one; behind ulong's last one comes 0."""
    type_ = LONG if _scalar(value).bits < LONG.bits else ULONG
    return Constant(type_, value.location, wrap(int(value.value), type_))


def _underlying(values: list[int], is_packed: bool) -> Scalar:
    """The type of an enumeration with these values, as clang chooses it: unsigned if none is negative."""
    sizes = ((CHAR, UCHAR), (SHORT, USHORT), (INT, UINT), (LONG, ULONG))
    for signed, unsigned in sizes if is_packed else sizes[2:]:
        candidate = signed if any(value < 0 for value in values) else unsigned
        if all(_fits(value, candidate) for value in values):
            return candidate
    return LONG
