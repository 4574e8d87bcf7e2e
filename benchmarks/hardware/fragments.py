"""Which element each lane holds for mma.sync and wgmma (PTX ISA, sections 9.7.14 and 9.7.15)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from inputs import WIDTHS
from numpy.typing import NDArray

PTX_TYPES = {"fp16": "f16", "bf16": "bf16", "tf32": "tf32", "fp32": "f32", "fp64": "f64", "sint8": "s8",
             "uint8": "u8", "sint32": "s32"}
Places = tuple[NDArray[Any], NDArray[Any]]


@dataclass(frozen=True)
class Instruction:
    """One instruction: its shape and formats. ``is_group``: wgmma, with A in registers and B in shared memory."""

    m: int
    n: int
    k: int
    a: str
    b: str
    c: str
    d: str
    is_group: bool = False
    saturating: bool = False

    @property
    def mnemonic(self) -> str:
        """As PTX writes it."""
        d, a, b, c = (PTX_TYPES[name] for name in (self.d, self.a, self.b, self.c))
        shape = f"m{self.m}n{self.n}k{self.k}"
        if self.is_group:
            return f"wgmma.mma_async.sync.aligned.{shape}.{d}.{a}.{b}"
        return f"mma.sync.aligned.{shape}.row.col{'.satfinite' * self.saturating}.{d}.{a}.{b}.{c}"

    @property
    def lanes(self) -> int:
        """Threads that carry it out together."""
        return 128 if self.is_group else 32


def instruction(shape: tuple[int, int, int], a: str, c: str, d: str | None = None, b: str | None = None,
                **options: bool) -> Instruction:
    """An instruction; D is of C's format and B of A's where nothing else is said."""
    return Instruction(*shape, a, b or a, c, d or c, **options)


_HALF_FORMATS = (("fp16", "fp32"), ("fp16", "fp16"), ("bf16", "fp32"))

INSTRUCTIONS = (
    *(instruction((16, 8, k), a, c) for a, c in _HALF_FORMATS for k in (16, 8)),
    *(instruction((16, 8, k), "tf32", "fp32") for k in (8, 4)),
    *(instruction((16, 8, 32), a, "sint32", b=b) for a in ("sint8", "uint8") for b in ("sint8", "uint8")),
    instruction((16, 8, 32), "sint8", "sint32", saturating=True),
    instruction((16, 8, 32), "uint8", "sint32", saturating=True),
    instruction((8, 8, 4), "fp64", "fp64"), instruction((16, 8, 16), "fp64", "fp64"),
    *(instruction((64, 8, 16), a, c, is_group=True) for a, c in _HALF_FORMATS),
    instruction((64, 8, 8), "tf32", "fp32", is_group=True),
    *(instruction((64, 8, 32), a, "sint32", is_group=True) for a in ("sint8", "uint8")),
)


def places(found: Instruction) -> tuple[Places, Places, Places]:
    """(rows, columns) of the elements of A, B and C (and D) by lane and position in the lane's registers."""
    lane = np.arange(found.lanes)[:, None]
    warp, group, thread = lane // 32, lane % 32 >> 2, lane & 3
    together = max(1, 32 // WIDTHS[found.a])  # elements in a register
    halves = found.k // (4 * together)
    row_steps = (0, 8) if found.m > 8 else (0,)
    a = [(group + step + 16 * warp, thread * together + element + 4 * together * half)
         for half in range(halves) for step in row_steps for element in range(together)]
    b = [(thread * together + element + 4 * together * half, group)
         for half in range(halves) for element in range(together)]
    c = [(group + step + 16 * warp, thread * 2 + element) for step in row_steps for element in range(2)]
    return _joined(a), _joined(b), _joined(c)


def _joined(found: list[tuple[NDArray[Any], NDArray[Any]]]) -> Places:
    rows, columns = zip(*found, strict=True)
    return np.concatenate(rows, axis=1), np.concatenate(columns, axis=1)
