"""The validator: :func:`validate` checks a module against every rule and reports all that are broken."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from coopmat.devices import DeviceDescription
from coopmat.diagnostics import ValidationError
from coopmat.spirv.module import Module
from coopmat.spirv.validate import (  # noqa: F401 (their rules enter themselves)
    arithmetic,
    capabilities,
    composites,
    control_flow,
    conversions,
    cooperative_matrices,
    declarations,
    decorations,
    dot_products,
    extended_instructions,
    groups,
    interfaces,
    joint_matrices,
    low_precision,
    memory,
    structure,
    sub_group_matrices,
    synchronization,
)
from coopmat.spirv.validate.rules import RULES, Findings, Rule, Violation
from coopmat.spirv.validate.text import Fields
from coopmat.spirv.validate.view import ModuleView

__all__ = ["RULES", "Rule", "Violation", "validate"]


def validate(module: Module, device: DeviceDescription | None = None) -> list[Violation]:
    """All broken rules of a module, in the order of its instructions; an empty list means that it is valid.

    With a device, what the module asks of it is checked, too.
    """
    try:
        view = ModuleView(module, device)
        found = [pair for entry in _in_order() for pair in _run(entry, view)]
    except ValidationError as error:  # so malformed that there is nothing more to say
        return [Violation(error.rule, "error", error.message, error.offset)]
    found.sort(key=lambda pair: pair[0])
    return [violation for _, violation in found]


def _in_order() -> list[Rule]:
    """All rules; those about the module's form first, because what breaks one of them is left out by the rest."""
    return sorted(RULES.values(), key=lambda entry: not _is_about_form(entry))


def _is_about_form(entry: Rule) -> bool:
    return entry.check.__module__ == structure.__name__


def _run(entry: Rule, view: ModuleView) -> Iterator[tuple[int, Violation]]:
    """What breaks one rule, with the index of the instruction (-1: the module)."""
    broken: list[int] = []
    for index, message in _findings(entry, view):
        if index is None:
            yield -1, Violation(entry.name, entry.severity, message, None)
            continue
        item = view.items[index]
        text = message.format_map(Fields(view, index))
        broken.append(index)
        yield index, Violation(entry.name, entry.severity, text, item.offset, _text(item))
    if _is_about_form(entry):
        view.broken[broken] = True


def _findings(entry: Rule, view: ModuleView) -> Iterator[tuple[int | None, str]]:
    """The rule's findings one by one."""
    if not entry.opcodes:
        yield from _each(entry.check(view), None)
    for opcode in entry.opcodes:
        group = view.group(opcode)
        if group is not None:
            yield from _each(entry.check(group), group.indices)


def _each(findings: Findings, indices: Any) -> Iterator[tuple[int | None, str]]:
    for where, message in findings:
        if where is None or isinstance(where, int):
            yield where, message
        else:
            chosen = np.asarray(where)
            for index in (indices[chosen] if indices is not None else chosen).tolist():
                yield index, message


def _text(item: Any) -> str | None:
    try:
        return str(item)
    except ValidationError:
        return None
