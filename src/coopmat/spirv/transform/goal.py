"""What a pass is told, and what it tells: the machine that a module is transformed for, and notes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from coopmat.devices import DeviceDescription

Say = Callable[[str], None]
"""Takes a note: what a pass did, or what it did not do and why."""


@dataclass(frozen=True)
class Goal:
    """What a module is transformed for. ``device``: whose matrices it is to have. ``tile``: M, N and K to cut matrices
    to, instead of the device's."""

    device: DeviceDescription | None = None
    tile: tuple[int, int, int] | None = None


def counted(number: int, what: str, plural: str = "") -> str:
    """``1 call``, ``2 calls``."""
    return f"{number} {what if number == 1 else plural or what + 's'}"
