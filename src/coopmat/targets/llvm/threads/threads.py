"""A work-item as a thread: what :class:`~coopmat.targets.llvm.lanes.Lanes` asks, but for the hardware's own part."""

from __future__ import annotations

from coopmat.targets.llvm.threads.inputs import Inputs


class ThreadLanes(Inputs):
    """The lanes of a GPU; its abstract methods are what the hardware says."""
