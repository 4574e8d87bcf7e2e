"""Which objects may be events (OpenCL C 6.3.3, 6.11)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coopmat.diagnostics import SourceLocation
from coopmat.opencl.base.types import find_kind
from coopmat.opencl.messages import events as messages
from coopmat.tree.types import EVENT, AddressSpace, Pointer, Type

if TYPE_CHECKING:
    from coopmat.opencl.sema.context import Context

KERNEL_PARAMETER = "kernel parameter"


def check_object(context: Context, type_: Type, space: AddressSpace, location: SourceLocation | None,
                 what: str) -> bool:
    """Whether an object of ``type_`` may be declared in ``space``; False after a report.

    ``what`` is "variable", "parameter", "kernel parameter", "member" or "result".
    """
    is_pointer = isinstance(type_, Pointer) and what == KERNEL_PARAMETER
    if not _is_event(type_.pointee if is_pointer and isinstance(type_, Pointer) else type_):
        return True
    if what == KERNEL_PARAMETER:
        context.report(messages.KERNEL_PARAMETER, location, type=type_)
    elif what == "member":
        context.report(messages.MEMBER, location, type=type_)
    elif space is not AddressSpace.PRIVATE:
        context.report(messages.WRONG_STORAGE, location, space=space)
    else:
        return True
    return False


def _is_event(type_: Type) -> bool:
    """Whether a type is event_t, or an array of it."""
    return find_kind(type_, lambda inner: inner == EVENT) is not None
