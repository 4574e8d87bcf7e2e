"""What the simulator does not have: which instruction, where it stands, and what would work instead."""

from __future__ import annotations

from coopmat.diagnostics import Error
from coopmat.spirv.analysis.types import Type, TypeTable
from coopmat.spirv.module import Instruction
from coopmat.targets.base.unsupported import reason_against


def unsupported(row: Instruction, location: str | None = None) -> Error:
    """The error for an instruction that the simulator does not have."""
    reason = reason_against(row) or "the simulator has no such instruction"
    offset = f", at byte {row.offset:#x}" if row.offset is not None else ""
    source = f", {location}" if location else ""
    return Error(f"cannot simulate '{row}'{offset}{source}: {reason}")


class SimulatedTypes(TypeTable):
    """The types of a module, with an error for those that only other devices have."""

    def _make(self, row: Instruction) -> Type:
        if row.name.startswith("OpType") and reason_against(row):
            raise unsupported(row)
        return super()._make(row)
