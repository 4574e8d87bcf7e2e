"""Messages about event_t and asynchronous copies (CM377x)."""

from __future__ import annotations

from coopmat.diagnostics import Message

KERNEL_PARAMETER = Message("CM3770", "error", "'{type}' cannot be used as the type of a kernel parameter: an event "
                                              "belongs to the work-group whose copy it stands for")
MEMBER = Message("CM3771", "error", "the '{type}' type cannot be used to declare a structure or union field; keep "
                                    "the event in a variable of its own")
WRONG_STORAGE = Message("CM3772", "error", "the event_t type can only be used with the __private address space, found "
                                           "{space}: declare the event in a function, without an address space")
NOT_AN_EVENT = Message("CM3773", "error", "{phrase}; an event_t is the result of an asynchronous copy, or the "
                                          "constant 0")
ASSIGNED_ZERO = Message("CM3776", "error", "{phrase}; the null event is '(event_t)0'")
CAST_TO_EVENT = Message("CM3774", "error", "cannot cast '{type}' to 'event_t'; only the constant 0 can be")
ILLEGAL_LIST = Message("CM3775", "error", "an event_t cannot be initialized by a list in braces; use '= 0'")
