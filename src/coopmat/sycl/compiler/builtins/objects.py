"""Methods of dataclasses and named tuples, dataclasses.replace, and what tuples have as ids and ranges."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from coopmat.sycl.compiler import messages
from coopmat.sycl.compiler.aggregates import field_names, made, method_of
from coopmat.sycl.compiler.builtins import work_items
from coopmat.sycl.compiler.context import CallHandler, CallSite
from coopmat.sycl.compiler.values import Aggregate, Sequence, Structure, Value, owner_of


def _method(call: CallSite) -> Value:
    """A method of a user's class; ``_replace`` of a named tuple."""
    value = call.receiver
    assert isinstance(value, Aggregate)
    found = method_of(value, call.name)
    if found is not None:
        function, first = found
        given = dataclasses.replace(call, arguments=[*first, *call.arguments], receiver=None)
        return call.f.unit.helpers.call(given, call.f.unit.helpers.of_function(call.f, function, call.node))
    if call.name == "_replace" and isinstance(value, Sequence) and not call.arguments:
        return _changed(call, value, call.named)
    if isinstance(value, Sequence):
        return work_items.of_tuple(call)
    raise call.f.fail(messages.NO_ATTRIBUTE, call.node.func, found=value, name=call.name,
                      hint=f"; it has {', '.join(value.names)}")


def _replace(call: CallSite) -> Value:
    """``dataclasses.replace(p, x=1)``."""
    if len(call.arguments) != 1 or not isinstance(call.arguments[0], Structure):
        found = call.arguments[0] if call.arguments else None
        raise call.f.fail(messages.BAD_ARGUMENTS, call.node, name="replace", signature="(obj, **changes)",
                          reason=f"obj must be an object of a dataclass that the kernel made; found {found or 'none'}")
    return _changed(call, call.arguments[0], call.named)


def _changed(call: CallSite, value: Aggregate, changes: Mapping[str, Value]) -> Value:
    """The same object with other fields."""
    owner = owner_of(value)
    assert owner is not None
    names = field_names(owner)
    for name in changes:
        if name not in names:
            raise call.f.fail(messages.NO_ATTRIBUTE, call.place_of(name), found=value, name=name,
                              hint=f"; it has {', '.join(names)}")
    held = {name: call.f.loaded(item, call.node) for name, item in zip(names, value.items, strict=True)}
    return made(call.f, owner, {**held, **changes}, call.node)


METHODS: dict[type[Value], CallHandler] = {Sequence: _method, Structure: _method}
PYTHON_FUNCTIONS: dict[Any, CallHandler] = {dataclasses.replace: _replace}
