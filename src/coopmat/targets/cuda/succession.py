"""How kernels of a stream follow each other: work-groups of the next one may take their places while those of this one
end, and wait there until all that came before is done and seen (PTX ISA, griddepcontrol).

A kernel that waits itself may be launched so; one that does not starts when everything before it has ended.
"""

from __future__ import annotations

from coopmat.targets.cuda.chips import Chip
from coopmat.targets.llvm.writer import Writer

FIRST = 90  # the compute capability from which chips have it


def let_next_begin(writer: Writer, chip: Chip) -> None:
    """Let the next kernel's work-groups come, once all of this one's have been given their places."""
    _control(writer, chip, "launch_dependents")


def wait_for_previous(writer: Writer, chip: Chip) -> None:
    """Wait for all kernels before this one. No global memory is touched before."""
    _control(writer, chip, "wait")


def _control(writer: Writer, chip: Chip, what: str) -> None:
    if chip.has(FIRST):
        writer.do(f'call void asm sideeffect "griddepcontrol.{what};", "~{{memory}}"()')
