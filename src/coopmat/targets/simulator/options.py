"""The options of a simulated device."""

from __future__ import annotations

from dataclasses import dataclass

DEFAULT_STEP_LIMIT = 4_000_000  # about a minute of an endless loop


@dataclass(frozen=True, kw_only=True)
class SimulatorOptions:
    """What the simulator checks.

    ``bounds``: an access outside of its buffer raises :class:`~coopmat.diagnostics.OutOfBounds`;
    without the check such a read gives zero and such a write is dropped.
    ``convergence``: a group operation that only a part of its group reaches raises
    :class:`~coopmat.diagnostics.DivergentGroupOperation`; without the check the lanes that are
    there carry it out for their whole sub-group.
    ``step_limit``: the number of basic blocks that one launch may execute, all work-items in
    lock-step counted once; a launch that needs more ends with a ``SimulationError``.
    """

    bounds: bool = True
    convergence: bool = True
    step_limit: int = DEFAULT_STEP_LIMIT

    def __post_init__(self) -> None:
        if self.step_limit < 1:
            raise ValueError(f"step_limit must be at least 1, not {self.step_limit}")
