"""What a module takes from others: functions and variables that only their names are known of."""

from __future__ import annotations

from coopmat.diagnostics import Error
from coopmat.spirv.grammar import Decoration, LinkageType
from coopmat.spirv.module.content import Content
from coopmat.spirv.module.operands import decode_string
from coopmat.support.assertions import ASSERTION_FUNCTIONS


def imported_name(module: Content, identifier: int) -> str | None:
    """The name of a function or variable that another module must define; None if it is none."""
    for decoration, words in module.decorations(identifier):
        if decoration == Decoration.LinkageAttributes and words[-1] == LinkageType.Import:
            name = decode_string(words, 0)
            return name[0] if name is not None else None
    return None


def is_assertion(module: Content, identifier: int) -> bool:
    """Whether this is a function that failed assertions call, which every target has."""
    return imported_name(module, identifier) in ASSERTION_FUNCTIONS


def unresolved(what: str, name: str) -> Error:
    """The error for something that is imported and that nothing defines."""
    return Error(f"the {what} '{name}' is imported, and no module that was linked exports it: link one that does "
                 "(cm.build(..., link=[...]), coopmat run --link FILE)")
