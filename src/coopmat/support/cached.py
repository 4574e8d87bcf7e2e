"""Properties that are computed once: functools', without the lock that it has before Python 3.12.

That lock is one for all objects of a class, and stays closed in a forked child if another thread computes such a
property at that moment.
"""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING, Any

__all__ = ["cached_property"]

if TYPE_CHECKING or sys.version_info >= (3, 12):
    from functools import cached_property
else:

    class cached_property(functools.cached_property):
        """As of Python 3.12: threads that ask at the same time may both compute the value."""

        def __get__(self, instance: Any, owner: Any = None) -> Any:
            if instance is None:
                return self
            value = instance.__dict__[self.attrname] = self.func(instance)
            return value
