"""How a kernel is to be run on a GPU, where its author knows better: the build option ``-coopmat-schedule=``."""

from __future__ import annotations

import re
from dataclasses import dataclass

from coopmat.diagnostics import Error

OPTION = "-coopmat-schedule="
PIPELINES = {"none": "none", "copies": "copies", "loads": "loads", "stores": "loads and stores"}
"""What the option calls pipelines, and what they are."""
CLUSTERS = {"none": None, "x": 0, "y": 1}
"""What it calls clusters, and the axis of each."""
_BLOCK = re.compile(r"([1-9]\d{0,3})x([1-9]\d{0,3})")
FORM = "block:none|ROWSxCOLUMNS, pipeline:none|copies|loads|stores, cluster:none|x|y, separated by commas"


@dataclass(frozen=True)
class ScheduleOptions:
    """What is fixed; None: it is chosen.

    block: rows and columns of the blocks that work-groups are merged to; (0, 0): they are not. pipeline: one of
    :data:`PIPELINES`. cluster: one of :data:`CLUSTERS`.
    """

    block: tuple[int, int] | None = None
    pipeline: str | None = None
    cluster: str | None = None

    @classmethod
    def parse(cls, text: str) -> ScheduleOptions:
        """What follows ``-coopmat-schedule=``. Error, with the form, for anything else."""
        found: dict[str, object] = {}
        for item in text.split(","):
            name, colon, value = item.partition(":")
            known = {"block": _block(value), "pipeline": value if value in PIPELINES else None,
                     "cluster": value if value in CLUSTERS else None}
            if not colon or known.get(name) is None or name in found:
                raise Error(f"invalid item '{item}' in '{OPTION}{text}': it takes {FORM}")
            found[name] = known[name]
        return cls(**found)  # type: ignore[arg-type]


def _block(value: str) -> tuple[int, int] | None:
    if value == "none":
        return 0, 0
    match = _BLOCK.fullmatch(value)
    return None if match is None else (int(match[1]), int(match[2]))
