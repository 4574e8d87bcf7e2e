"""The options of several devices that share launches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from coopmat.diagnostics import Error, value_text


@dataclass(frozen=True, kw_only=True)
class SplitOptions:
    """How several devices share a launch (docs/several-devices.md).

    ``split``: ``"checked"`` refuses kernels whose work-groups share more than can be put together afterwards;
    ``"unchecked"`` runs them all the same: what a part does to memory, others do not see.

    Raises :class:`~coopmat.diagnostics.Error` for another value.
    """

    split: Literal["checked", "unchecked"] = "checked"

    def __post_init__(self) -> None:
        if self.split not in ("checked", "unchecked"):
            raise Error(f"the option split must be 'checked' or 'unchecked'; found {value_text(self.split)}")
