"""Who counts the accesses of a launch to memory, where somebody does."""

from __future__ import annotations

from typing import Protocol

from coopmat.targets.simulator.address_space import AccessWatch, Buffer, Part
from coopmat.targets.simulator.state import Batch, Frame, Site
from coopmat.targets.simulator.values import Array


class Traffic(AccessWatch, Protocol):
    """What is told of every access to memory. What work-items load and store themselves comes through ``read`` and
    ``write``; offsets are bytes in the memory of a buffer, sub-groups count within the batch."""

    def begin(self, batch: Batch) -> None:
        """Other work-groups run."""

    def atomic(self, frame: Frame, part: Part, nbytes: int, site: Site) -> None:
        """An atomic access of ``nbytes`` in each lane."""

    def tiles(self, buffer: Buffer, sub_groups: Array, starts: Array, places: Array, size: int, site: Site, *,
              writing: bool) -> None:
        """Matrices that groups move, one from each of ``starts``: ``places`` are the offsets of their elements of
        ``size`` bytes, counted from there."""

    def elements(self, buffer: Buffer, sub_groups: Array, starts: Array, size: int, site: Site, form: str, *,
                 writing: bool) -> None:
        """Elements of ``size`` bytes, each with its sub-group, that groups move together: as a "matrix", or by an
        asynchronous "copy"."""


def traffic_of(frame: Frame) -> Traffic | None:
    """Who counts the accesses of a frame; nobody where other memory than the batch's is used, as for checks."""
    found: Traffic | None = frame.batch.traffic if frame.memory is frame.batch.memory else None
    return found
