"""The options of a simulated device."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, NoReturn

import numpy as np

from coopmat.diagnostics import Error, value_text
from coopmat.numerics import EXACT, Model, XmxArithmetic, model_of
from coopmat.targets.base.output import DEFAULT_PRINTF_LIMIT

DEFAULT_STEP_LIMIT = 1_000_000  # ten to fifteen seconds of an endless loop in a few work-groups


@dataclass(frozen=True, kw_only=True)
class SimulatorOptions:
    """What the simulator checks.

    ``races``: two work-items that access one place in memory, one of them writing, with nothing that orders the two,
    raise :class:`~coopmat.diagnostics.DataRace`; ``"benign-equal"`` lets stores of what is there already pass.
    ``bounds``: an access outside of its buffer raises :class:`~coopmat.diagnostics.OutOfBounds`;
    without the check such a read gives zero and such a write is dropped.
    ``uninitialized``: an address, a branch, an operand of a group operation, or a value stored to memory that the host
    reads, that depends on data that nobody has written raises :class:`~coopmat.diagnostics.UninitializedRead`;
    ``"decisions"`` lets such values be stored, ``"stores"`` is the same as True.
    ``layouts``: a matrix that is loaded with another layout than all of it was stored with is a
    :class:`~coopmat.diagnostics.LayoutWarning`.
    ``overflow``: signed arithmetic that overflows is a :class:`~coopmat.diagnostics.SignedOverflowWarning`, in modules
    that say that theirs does not (NoSignedWrap), such as those built with ``-fsanitize=signed-integer-overflow``.
    ``convergence``: a group operation that only a part of its group reaches raises
    :class:`~coopmat.diagnostics.DivergentGroupOperation`; without the check the lanes that are
    there carry it out for their whole sub-group.
    ``undefined``: an operation that its specification leaves undefined for these operands raises
    :class:`~coopmat.diagnostics.UndefinedBehavior`: integer division by zero or with overflow, shifts, conversions of
    floating-point numbers to integers, and bit fields out of range, ``clamp`` and ``smoothstep`` with limits in the
    wrong order, dot products that overflow before they saturate, false assumptions, broadcasts from a work-item that
    takes no part, and (together with ``uninitialized``) what depends on a value that a shuffle has read from one;
    without the check such a result is some value.
    ``numerics``: ``"hardware"`` multiplies matrices with the device's own arithmetic, bit for bit (docs/numerics.md);
    ``"exact"`` computes ``A*B + C`` exactly and rounds once.
    ``xmx``: what the documents of Intel's XMX leave open of its arithmetic, for the simulated GPUs that have it
    (:class:`~coopmat.XmxArithmetic`); None for the usual choices.
    ``step_limit``: the number of basic blocks that the work-groups which run together may execute,
    all work-items in lock-step counted once; a kernel that needs more ends with a ``SimulationError``.
    ``time_limit``: the seconds that one launch may take, None for any time; one that takes longer
    ends with a ``SimulationError`` after the basic block that it is in.
    ``printf_limit``: the bytes that printf may write in one launch; once a text does not fit, it and all
    later ones are dropped, their calls return -1, and a line on the standard error output says so.

    Raises :class:`~coopmat.diagnostics.Error` for a value of another type, a limit out of range, or ``xmx`` with
    exact numerics.
    """

    races: bool | Literal["benign-equal"] = True
    bounds: bool = True
    uninitialized: bool | Literal["stores", "decisions"] = True
    convergence: bool = True
    layouts: bool = True
    overflow: bool = True
    undefined: bool = True
    numerics: Literal["hardware", "exact"] = "hardware"
    xmx: XmxArithmetic | None = None
    step_limit: int = DEFAULT_STEP_LIMIT
    time_limit: float | None = None
    printf_limit: int = DEFAULT_PRINTF_LIMIT

    def __post_init__(self) -> None:
        for name in ("bounds", "convergence", "layouts", "overflow", "undefined"):
            if not isinstance(getattr(self, name), bool | np.bool_):
                self._refuse(name, "True or False")
        if not isinstance(self.races, bool | np.bool_) and self.races != "benign-equal":
            self._refuse("races", "True, False or 'benign-equal'")
        if not isinstance(self.uninitialized, bool | np.bool_) and self.uninitialized not in ("stores", "decisions"):
            self._refuse("uninitialized", "True, False, 'stores' or 'decisions'")
        if self.numerics not in ("hardware", "exact"):
            self._refuse("numerics", "'hardware' or 'exact'")
        if self.xmx is not None and not isinstance(self.xmx, XmxArithmetic):
            self._refuse("xmx", "a coopmat.XmxArithmetic, or None")
        if self.xmx is not None and self.numerics == "exact":
            raise Error("the simulator's option xmx is about the device's own arithmetic; with numerics='exact' "
                        "there is nothing for it to choose")
        if not _is_number(self.step_limit, int, np.integer) or self.step_limit < 1:
            self._refuse("step_limit", "an integer of at least 1")
        if not _is_number(self.printf_limit, int, np.integer) or self.printf_limit < 0:
            self._refuse("printf_limit", "an integer of at least 0")
        if self.time_limit is not None and not (
                _is_number(self.time_limit, int, float, np.integer, np.floating)
                and 0 < self.time_limit < math.inf):
            self._refuse("time_limit", "a positive number of seconds, or None")

    def arithmetic(self, architecture: str) -> Model:
        """The matrix arithmetic of a device with these options. Error if ``xmx`` is given and it has no XMX."""
        return model_of(architecture if self.numerics == "hardware" else EXACT, self.xmx)

    def _refuse(self, name: str, expected: str) -> NoReturn:
        value = getattr(self, name)
        raise Error(f"the simulator's option {name} must be {expected}; found {value_text(value)} of type "
                    f"{type(value).__name__}")


def _is_number(value: object, *kinds: type) -> bool:
    return isinstance(value, kinds) and not isinstance(value, bool)
