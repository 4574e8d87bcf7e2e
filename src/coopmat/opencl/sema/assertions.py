"""``_Static_assert`` (C11 6.7.10)."""

from __future__ import annotations

from coopmat.opencl.base.values import is_error
from coopmat.opencl.messages import semantic as messages
from coopmat.opencl.parse import syntax
from coopmat.opencl.parse.extents import start_of
from coopmat.opencl.sema.context import Context


def static_assert(context: Context, node: syntax.StaticAssert) -> None:
    """Report an assertion that does not hold."""
    test = context.value(node.condition)
    if is_error(test):
        return
    value = context.constant_integer(test)
    if value is None:
        context.report(messages.STATIC_ASSERT_NOT_CONSTANT, start_of(node.condition))
    elif not value:
        text = "" if node.message is None else ": " + node.message.decode("utf-8", "replace")
        context.report(messages.STATIC_ASSERT_FAILED, start_of(node.condition), text=text)
