"""The instructions that are compared with the chip, and which element each lane holds for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from coopmat.devices import ARCHITECTURES, USES, Use
from coopmat.devices.layouts import layout_of

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
    instruction((64, 64, 16), "bf16", "fp32", is_group=True),
    instruction((64, 256, 16), "fp16", "fp16", is_group=True),
    instruction((64, 128, 8), "tf32", "fp32", is_group=True),
    instruction((64, 256, 32), "sint8", "sint32", is_group=True),
)


def places(found: Instruction) -> dict[Use, Places]:
    """(rows, columns) of the elements of A, B and C (and D) by lane and position in the lane's registers; wgmma has B
    in shared memory."""
    held = {use: layout_of(ARCHITECTURES["nvidia_gpu_sm_90"], use, fmt, found.m, found.n, found.k).held
            for use, fmt in zip(USES, (found.a, found.b, found.c), strict=True) if use != "b" or not found.is_group}
    return {use: (one.row, one.column) for use, one in held.items()}
