"""The validator: :func:`validate` checks a module against every rule and reports all that are broken."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from coopmat.devices import DeviceDescription
from coopmat.diagnostics import ValidationError
from coopmat.spirv.instruction import Instruction
from coopmat.spirv.module import Module
from coopmat.spirv.validate import (  # noqa: F401 (their rules enter themselves)
    arithmetic,
    atomics,
    capabilities,
    composites,
    constants,
    control_flow,
    conversions,
    cooperative_matrices,
    declarations,
    decorations,
    dot_products,
    execution_modes,
    extended_instructions,
    functions,
    groups,
    intel_groups,
    joint_matrices,
    linear_algebra,
    low_precision,
    matrix2,
    matrix_memory,
    memory,
    pointers,
    reading,
    structure,
    structured,
    sub_group_matrices,
    synchronization,
)
from coopmat.spirv.validate.rules import RULES, Findings, Rule, Violation, rules_by_opcode
from coopmat.spirv.validate.sections import BEFORE_DECLARATIONS
from coopmat.spirv.validate.text import Fields
from coopmat.spirv.validate.types import Integers
from coopmat.spirv.validate.view import ModuleView

__all__ = ["RULES", "Rule", "Violation", "validate"]


def validate(module: Module, device: DeviceDescription | None = None) -> list[Violation]:
    """All broken rules of a module, in the order of its instructions; an empty list means that it is valid.

    With a device, what the module asks of it is checked, too.
    """
    try:
        view = ModuleView(module, device)
        found = list(_check(view))
    except ValidationError as error:  # so malformed that there is nothing more to say
        return [Violation(error.rule, "error", error.message, error.offset)]
    found.sort(key=lambda pair: pair[0])
    return [violation for _, violation in found]


def _check(view: ModuleView) -> Iterator[tuple[int, Violation]]:
    """What breaks a rule, each with the index of the instruction (-1: the module).

    The rules about form come first: what breaks one of them is left out by all others.
    """
    about_form = [entry for entry in RULES.values() if entry.check.__module__ == structure.__name__]
    for entry in about_form:
        found = list(_each(entry, view, entry.check(view), None))
        view.leave_out([index for index, _ in found if index >= 0 and not _is_clear(entry, view, index)])
        yield from found
    view.leave_out_unknown()
    for entry in RULES.values():
        if not entry.opcodes and entry not in about_form:
            yield from _each(entry, view, entry.check(view), None)
    by_opcode = rules_by_opcode()
    for opcode in view.by_opcode:
        entries = by_opcode.get(opcode, ())
        group = view.group(opcode) if entries else None
        if group is not None:
            for entry in entries:
                yield from _each(entry, view, entry.check(group), group.indices)


def _is_clear(entry: Rule, view: ModuleView, index: int) -> bool:
    """Whether an instruction that breaks a rule about form still means what it says: one before the declarations
    that only stands in the wrong order."""
    return entry.check is structure.layout_order and int(view.opcode[index]) in BEFORE_DECLARATIONS


def _each(entry: Rule, view: ModuleView, findings: Findings,
          indices: Integers | None) -> Iterator[tuple[int, Violation]]:
    """The findings of a rule one by one; ``indices`` are those of the group that it looked at."""
    for where, message in findings:
        if where is None:
            yield -1, Violation(entry.name, entry.severity, message, None)
        elif isinstance(where, int):
            yield where, _violation(entry, view, where, message)
        else:
            chosen = np.asarray(where)
            for index in (indices[np.flatnonzero(chosen)] if indices is not None else chosen).tolist():
                yield index, _violation(entry, view, index, message)


def _violation(entry: Rule, view: ModuleView, index: int, message: str) -> Violation:
    item = view.items[index]
    text = message.format_map(Fields(view, index))
    return Violation(entry.name, entry.severity, text, item.offset, _text(item))


def _text(item: Instruction) -> str | None:
    try:
        return str(item)
    except ValidationError:
        return None
