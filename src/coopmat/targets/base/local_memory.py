"""Local memory of work-groups: what the launch gives as an argument, and how much a device has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from coopmat.diagnostics import LaunchError


@dataclass(frozen=True)
class LocalMemory:
    """Stands for a local pointer argument: ``nbytes`` of memory for each work-group."""

    nbytes: int


def check_local_memory(kernel: str, parts: Sequence[tuple[int, str]], device: str, most: int) -> None:
    """Raise LaunchError if a work-group would need more local memory than the device has, ``most`` bytes; ``parts``
    are bytes and what they are for."""
    total = sum(nbytes for nbytes, _ in parts)
    if total > most:
        shown = ", ".join(f"{nbytes} for {name}" for nbytes, name in parts if nbytes)
        raise LaunchError(f"kernel '{kernel}' needs {total} bytes of local memory for each work-group ({shown}); "
                          f"{device} has {most} bytes ({most >> 10} KiB)")
