"""Devices for kernels whose work-items store to one place on purpose: what they compute is the matter, not the race."""

from __future__ import annotations

from typing import Any

import coopmat as cm


def lenient(name: str, **options: Any) -> cm.Device:
    """A device; a simulated one does not look for data races, and has other options if they are given."""
    if not name.startswith("sim:"):
        return cm.device(name)
    return cm.device(name, options=cm.SimulatorOptions(races=False, **options))
