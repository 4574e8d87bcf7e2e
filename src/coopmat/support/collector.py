"""Python's garbage collector, kept from work that cannot pay off."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_paused() -> Iterator[None]:
    """No collections for the time of a ``with`` that builds much, keeps it, and makes few reference cycles.

    The collector would walk all that exists again and again: a third of the time that a large source takes.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
