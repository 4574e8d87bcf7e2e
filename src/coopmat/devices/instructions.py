"""Matrix instructions as a chip's table lists them: who carries one out together, where its operands live, its types
and shapes, and which lane holds which element."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

from coopmat.devices.lane_layout import LaneLayout
from coopmat.devices.operands import Use, shape_of, types_are_consistent
from coopmat.diagnostics import KernelNotSupported
from coopmat.formats import Format, format_of

ThreadGroup = Literal["warp", "warp_group", "thread_block"]
"""Who carries an instruction out together; of a ``thread_block``, one thread starts it for all."""

LANES: dict[ThreadGroup, int] = {"warp": 32, "warp_group": 128}
"""How many lanes hold the operands that live in registers, by scope."""

Home = Literal["registers", "shared memory", "tensor memory"]


@dataclass(frozen=True, slots=True)
class InstructionKind:
    """What the instructions of one kind have in common. ``name``: PTX's, without shape and types. ``a``, ``b``,
    ``accumulator``: where these operands may live. ``makes_combinations``: whether cooperative matrices are made of
    its fragments, so that its types and shapes are the device's combinations."""

    name: str
    scope: ThreadGroup
    a: tuple[Home, ...]
    b: tuple[Home, ...]
    accumulator: tuple[Home, ...]
    makes_combinations: bool = False

    def __post_init__(self) -> None:
        if self.scope not in get_args(ThreadGroup):
            raise ValueError(f"{self.name}: unknown scope '{self.scope}'")
        for homes in (self.a, self.b, self.accumulator):
            if not homes or not set(homes) <= set(get_args(Home)):
                raise ValueError(f"{self.name}: an operand lives in some of {', '.join(get_args(Home))}, not {homes}")
        if self.has_fragments and self.scope not in LANES:
            raise ValueError(f"{self.name}: a {self.scope} has no lanes that could hold an operand in registers")
        if self.makes_combinations and not all("registers" in self.homes(use) for use in get_args(Use)):
            raise ValueError(f"{self.name}: the components of cooperative matrices live in registers")

    def homes(self, use: Use) -> tuple[Home, ...]:
        """Where a matrix of this use may live."""
        return {"a": self.a, "b": self.b, "accumulator": self.accumulator}[use]

    @property
    def has_fragments(self) -> bool:
        """Whether any operand may live in registers."""
        return any("registers" in homes for homes in (self.a, self.b, self.accumulator))


class Shape(NamedTuple):
    """M, N and K. ``is_transposed``: the hardware computes B**T * A**T, so that the fragments of A and B change
    places."""

    m: int
    n: int
    k: int
    is_transposed: bool = False

    @property
    def sizes(self) -> tuple[int, int, int]:
        """M, N and K alone."""
        return self[:3]

    def __str__(self) -> str:
        return f"m{self.m}n{self.n}k{self.k}"


Fragments = Callable[[Use, Format, Shape], LaneLayout | None]
"""Which lane holds which element of an operand in registers; None where that is not known."""


@dataclass(frozen=True, slots=True)
class Instruction:
    """The instructions of one kind that take the same types: ``inputs`` are those of A and B, ``accumulators`` those of
    C and D. ``fragments``: their layouts, None if no operand lives in registers."""

    kind: InstructionKind
    inputs: tuple[str, ...]
    accumulators: tuple[str, ...]
    shapes: tuple[Shape, ...]
    fragments: Fragments | None

    def __post_init__(self) -> None:
        name, types = self.kind.name, (*self.inputs, *self.accumulators)
        if not self.inputs or not self.accumulators or not types_are_consistent(*types):
            raise ValueError(f"{name}: expected types of A, B and C, all integers or all floats, found {types}")
        widths = {format_of(fmt).bits for fmt in self.inputs}
        if len(widths) != 1 or any(format_of(fmt).bits < max(widths) for fmt in self.accumulators):
            raise ValueError(f"{name}: A and B have one width, C and D at least this one, found {types}")
        if not self.shapes or min(min(shape.sizes) for shape in self.shapes) < 1:
            raise ValueError(f"{name}: expected positive sizes, found {self.shapes}")
        if len({shape.sizes for shape in self.shapes}) != len(self.shapes):
            raise ValueError(f"{name}: a shape is listed twice")
        if (self.fragments is not None) != self.kind.has_fragments:
            raise ValueError(f"{name}: what lives in registers has fragments, and nothing else has")

    def name(self, shape: Shape) -> str:
        """As PTX writes it, without the types."""
        return f"{self.kind.name} {shape}"

    def types_of(self, use: Use) -> tuple[str, ...]:
        """The element types that a matrix of this use may have."""
        return self.accumulators if use == "accumulator" else self.inputs

    def has_fragment(self, use: Use, fmt: str) -> bool:
        """Whether a matrix of this use can have this format and live in registers."""
        return fmt in self.types_of(use) and "registers" in self.kind.homes(use)

    def shape(self, m: int, n: int, k: int) -> Shape | None:
        """Its shape of these sizes; None if it has none."""
        return next((shape for shape in self.shapes if shape.sizes == (m, n, k)), None)

    def shape_with(self, use: Use, rows: int, columns: int) -> Shape | None:
        """Its first shape in which a matrix of this use has so many rows and columns; None if there is none."""
        return next((shape for shape in self.shapes if shape_of(use, *shape.sizes) == (rows, columns)), None)

    def layout(self, use: Use, fmt: Format, shape: Shape) -> LaneLayout | None:
        """The fragment of an operand; None where it is not known.

        Raises :class:`KernelNotSupported` for an operand that does not live in registers.
        """
        if self.fragments is None or not self.has_fragment(use, fmt.name):
            raise KernelNotSupported(f"the {fmt.name} matrix of use '{use}' of {self.name(shape)} lives in "
                                     f"{' or '.join(self.kind.homes(use))}: no work-item holds its elements")
        return self.fragments(use, fmt, shape)
