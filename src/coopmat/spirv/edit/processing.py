"""What a module says of how it is to be processed further: OpModuleProcessed with a build option."""

from __future__ import annotations

from coopmat.spirv.grammar import Op
from coopmat.spirv.module import Module
from coopmat.spirv.module.instruction import make
from coopmat.support.schedules import OPTION, ScheduleOptions

_BEHIND = frozenset({
    Op.Decorate, Op.DecorateId, Op.DecorateString, Op.MemberDecorate, Op.MemberDecorateString, Op.DecorationGroup,
    Op.GroupDecorate, Op.GroupMemberDecorate})


def scheduled(module: Module, text: str | None) -> Module:
    """The module with the value of ``-coopmat-schedule=``; itself without one."""
    return module if text is None else processed(module, f"{OPTION}{text}")


def scheduled_as(module: Module, other: Module) -> Module:
    """The module with what another form of it fixes."""
    return scheduled(module, next((text.removeprefix(OPTION) for text in reversed(other.processed)
                                   if text.startswith(OPTION)), None))


def processed(module: Module, text: str) -> Module:
    """The module with a note of how it was processed, or is to be."""
    rows = list(module.instructions)
    place = next((number for number, row in enumerate(rows) if row.opcode in _BEHIND or row.name.startswith("OpType")
                  or row.opcode == Op.Function), len(rows))
    rows.insert(place, make(Op.ModuleProcessed, text))
    return module.with_instructions(rows)


def schedule_of(module: Module) -> ScheduleOptions:
    """What a module fixes; the last such instruction counts."""
    found = [text for text in module.processed if text.startswith(OPTION)]
    return ScheduleOptions.parse(found[-1].removeprefix(OPTION)) if found else ScheduleOptions()
