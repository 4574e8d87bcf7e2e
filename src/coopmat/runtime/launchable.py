"""What queues take in place of a kernel: an object that chooses one when it is launched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from coopmat.runtime.events import Event

if TYPE_CHECKING:
    from coopmat.runtime.queue import Queue


class Launchable:
    """Stands for a kernel in :meth:`coopmat.Queue.enqueue` and ``parallel_for``, which hand their arguments over."""

    def enqueue(self, queue: Queue, global_size: Any, local_size: Any, args: Sequence[Any],
                named: Mapping[str, Any]) -> Event:
        """What Queue.enqueue does with a kernel."""
        raise NotImplementedError

    def parallel_for(self, queue: Queue, nd_range: Any, args: Sequence[Any], named: Mapping[str, Any]) -> Event:
        """What Queue.parallel_for does with a kernel in Python."""
        raise NotImplementedError
