"""The validator: :func:`validate` checks a module against every rule and reports all that are broken."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain
from types import ModuleType

import numpy as np

from coopmat.devices import DeviceDescription
from coopmat.diagnostics import ValidationError
from coopmat.spirv.module.content import Content
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.validate.families import device_support, structure
from coopmat.spirv.validate.rules import RULES, Findings, Rule, Violation, rules_by_opcode
from coopmat.spirv.validate.sections import BEFORE_DECLARATIONS
from coopmat.spirv.validate.text import Fields
from coopmat.spirv.validate.types import Integers
from coopmat.spirv.validate.view import ModuleView
from coopmat.support.collector import collector_paused

__all__ = ["RULES", "Rule", "Violation", "validate"]

MOST_FINDINGS = 10
"""How often one rule speaks about one instruction."""
LONGEST_SHOWN = 64
"""So many operand words of an instruction are shown with what it breaks."""


def validate(module: Content, device: DeviceDescription | None = None) -> list[Violation]:
    """All broken rules of a module, in the order of its instructions; an empty list means that it is valid.

    With a device, what the module asks of it is checked, too, if the module breaks no other rule.
    """
    try:
        module.check_operands()
        with collector_paused():  # what it would look through are the instructions, of which none goes
            found = list(_check(ModuleView(module, device)))
    except ValidationError as error:  # so malformed that there is nothing more to say
        return [Violation(error.rule, "error", error.message, error.offset)]
    found.sort(key=lambda pair: pair[0])
    return list(dict.fromkeys(violation for _, violation in found))


def _check(view: ModuleView) -> Iterator[tuple[int, Violation]]:
    """What breaks a rule, each with the index of the instruction (-1: the module).

    What a device has is asked of modules that break no other rule.
    """
    errors = 0
    for index, violation in chain(_check_form(view), _check_meaning(view)):
        errors += violation.severity == "error"
        yield index, violation
    if view.device is not None and not errors:
        for entry in _rules_of(device_support):
            yield from _each(entry, view, entry.check(view), None)


def _check_form(view: ModuleView) -> Iterator[tuple[int, Violation]]:
    """The rules about form, which come first: what breaks one of them is left out by all others."""
    for entry in _rules_of(structure):
        found = list(_each(entry, view, entry.check(view), None))
        view.leave_out([index for index, _ in found if index >= 0 and not _is_clear(entry, view, index)])
        yield from found
    view.leave_out_unknown()


def _rules_of(module: ModuleType) -> list[Rule]:
    return [entry for entry in RULES.values() if entry.check.__module__ == module.__name__]


def _check_meaning(view: ModuleView) -> Iterator[tuple[int, Violation]]:
    """The rules that are neither about form nor about the device."""
    apart = {entry.name for entry in (*_rules_of(structure), *_rules_of(device_support))}
    for entry in RULES.values():
        if not entry.opcodes and entry.name not in apart:
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
    """The findings of a rule one by one, so many at most about one instruction; ``indices`` are those of the group
    that it looked at."""
    about: Counter[int] = Counter()
    for where, message in findings:
        if where is None:
            yield -1, Violation(entry.name, entry.severity, message, None)
            continue
        chosen = np.array([where]) if isinstance(where, int) else np.asarray(where)
        for index in (indices[np.flatnonzero(chosen)] if indices is not None else chosen).tolist():
            about[index] += 1
            if about[index] <= MOST_FINDINGS:
                yield index, _violation(entry, view, index, message)


def _violation(entry: Rule, view: ModuleView, index: int, message: str) -> Violation:
    item = view.items[index]
    text = Fields(view, index).fill(message)
    return Violation(entry.name, entry.severity, text, item.offset, _shown(view, item))


def _shown(view: ModuleView, item: Instruction) -> str:
    """An instruction as text; of a long one, the beginning."""
    if len(item.words) <= LONGEST_SHOWN:
        return view.writer.line(item).strip()
    short = Instruction(item.opcode, item.type_id, item.result_id, item.words[:LONGEST_SHOWN], None, item.context)
    head = f"%{view.names.name(item.result_id)} = " if item.result_id is not None else ""
    with suppress(ValidationError):
        return f"{view.writer.line(short).strip()} …"
    return f"{head}{item.name} …"
