"""Events: what submitting a command returns."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from coopmat.support.templates import template_method


class Event:
    """A submitted command; ``submitted_at``, ``started_at`` and ``ended_at`` are times in nanoseconds."""

    def __init__(self, submitted_at: int, started_at: int, ended_at: int) -> None:
        self.submitted_at = submitted_at
        self.started_at = started_at
        self.ended_at = ended_at

    @classmethod
    def of(cls, command: Callable[..., object], *arguments: Any) -> Event:
        """Execute a command; its event."""
        start = time.perf_counter_ns()
        command(*arguments)
        return cls(start, start, time.perf_counter_ns())

    @property
    def is_complete(self) -> bool:
        """Whether the command has ended."""
        return True

    @property
    def elapsed(self) -> float:
        """The time that the command took, in seconds."""
        return (self.ended_at - self.started_at) * 1e-9

    def wait(self) -> Event:
        """Return when the command has finished and its results are in the arrays."""
        return self

    def wait_and_throw(self) -> Event:
        """The same: errors are raised where a command is submitted."""
        return self.wait()

    @template_method
    def get_profiling_info(self, template: Any = None, descriptor: Any = None) -> int:
        """A time in nanoseconds: ``get_profiling_info(info.event_profiling.command_end)``, or with the descriptor in
        square brackets. The three times are ``command_submit``, ``command_start`` and ``command_end``."""
        from coopmat.runtime.information import info  # imported late: few programs ask

        return int(info.event_profiling.ask(self, descriptor if template is None else template))

    @template_method
    def get_info(self, template: Any = None, descriptor: Any = None) -> Any:
        """``get_info(info.event.command_execution_status)``, or with the descriptor in square brackets."""
        from coopmat.runtime.information import info

        return info.event.ask(self, descriptor if template is None else template)

    def __repr__(self) -> str:
        return f"<coopmat.Event, {f'{self.elapsed * 1e6:.1f} us' if self.is_complete else 'not complete'}>"
