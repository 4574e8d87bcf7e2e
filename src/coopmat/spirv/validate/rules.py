"""What a rule is, and the table of all rules.

A rule looks at a module through :class:`~coopmat.spirv.validate.view.ModuleView` and yields what breaks it.
A rule with opcodes is called once for each of them with the :class:`~coopmat.spirv.validate.view.Group` of
all instructions that have it; it yields pairs of a boolean array (one entry per instruction of the group) and
a message.  A rule without opcodes is called once with the view and yields pairs of an instruction's index (or
an array of them, or None for the module as a whole) and a message.

Messages may hold the fields of :class:`~coopmat.spirv.validate.text.Fields`: ``{op}``, ``{type}``, ``{id0}`` …
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from coopmat.spirv.grammar import Op

Findings = Iterator[tuple[Any, str]]
"""What a rule yields: where it is broken (see above), and the message."""


@dataclass(frozen=True, slots=True)
class Violation:
    """A broken rule.

    ``rule`` is its name, ``severity`` ``"error"`` or ``"warning"``, ``offset`` the byte offset of the
    instruction in the binary (None: the module as a whole) and ``instruction`` that instruction as text, with ids
    by name.
    """

    rule: str
    severity: str
    message: str
    offset: int | None
    instruction: str | None = None

    def __str__(self) -> str:
        place = f"{self.offset:#x}: " if self.offset is not None else ""
        return f"{place}{self.severity}: {self.message} [{self.rule}]"


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule: its name, one line that explains it, and the section of the document that states it."""

    name: str
    summary: str
    section: str
    check: Callable[[Any], Findings]
    opcodes: tuple[Op, ...]
    severity: str


RULES: dict[str, Rule] = {}
"""All rules by name, in the order in which they are checked."""


def rule(name: str, summary: str, section: str, *opcodes: Op,
         severity: str = "error") -> Callable[[Callable[[Any], Findings]], Callable[[Any], Findings]]:
    """Enter the decorated function into :data:`RULES`."""
    if name in RULES:
        raise ValueError(f"there are two rules called {name}")

    def enter(check: Callable[[Any], Findings]) -> Callable[[Any], Findings]:
        RULES[name] = Rule(name, summary, section, check, opcodes, severity)
        return check

    return enter


@cache
def rules_by_opcode() -> dict[int, list[Rule]]:
    """The rules that look at instructions of one opcode."""
    found: dict[int, list[Rule]] = {}
    for entry in RULES.values():
        for opcode in entry.opcodes:
            found.setdefault(int(opcode), []).append(entry)
    return found
