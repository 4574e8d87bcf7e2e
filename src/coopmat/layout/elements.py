"""The elements of one matrix and where they are held: what pictures and tables are drawn from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Literal, NamedTuple

Naming = Literal["vector", "array"]
"""How a kernel names a component: ``.s3`` of a vector, or ``[3]`` of an array or a matrix."""


class Element(NamedTuple):
    """One element: its place in the matrix, the work-item, its component and the lowest bit in that."""

    row: int
    column: int
    lane: int
    component: int
    bit: int


@dataclass(frozen=True)
class ElementLayout:
    """How a matrix of ``rows`` x ``columns`` is spread over a sub-group.

    ``name`` is what the kernel calls the matrix, ``title`` describes it in a line. ``element_bits`` and
    ``component_bits`` are the widths of an element and of the component that holds it.
    """

    name: str
    title: str
    rows: int
    columns: int
    sub_group_size: int
    element_bits: int
    component_bits: int
    elements: tuple[Element, ...]
    naming: Naming = "vector"

    def __post_init__(self) -> None:
        if not self.elements:
            raise ValueError(f"{self.title}: expected at least one element")
        for element in self.elements:
            if not (0 <= element.row < self.rows and 0 <= element.column < self.columns):
                raise ValueError(f"{self.title}: {element} is outside of {self.rows}x{self.columns}")
            if not 0 <= element.lane < self.sub_group_size:
                raise ValueError(f"{self.title}: {element} is outside of a sub-group of {self.sub_group_size}")
            if element.component < 0 or not 0 <= element.bit <= self.component_bits - self.element_bits:
                raise ValueError(f"{self.title}: {element} is outside of its component")

    @property
    def components(self) -> int:
        """The number of components that hold an element."""
        return 1 + max(element.component for element in self.elements)

    @cached_property
    def lanes(self) -> frozenset[int]:
        """The lanes that hold an element."""
        return frozenset(element.lane for element in self.elements)

    @property
    def is_packed(self) -> bool:
        """Whether a component holds several elements."""
        return self.component_bits > self.element_bits

    @cached_property
    def packing(self) -> tuple[int, int]:
        """The (rows, columns) that the elements of one component cover: (1, 4) if four neighbours of a row do.

        (1, 1) if components hold single elements, or elements that are not a block of the matrix.
        """
        shapes = set()
        by_component = sorted(self.elements, key=lambda element: (element.lane, element.component))
        for _, group in groupby(by_component, key=lambda element: (element.lane, element.component)):
            held = list(group)
            rows, columns = {element.row for element in held}, {element.column for element in held}
            height, width = max(rows) - min(rows) + 1, max(columns) - min(columns) + 1
            aligned = min(rows) % height == 0 and min(columns) % width == 0
            shapes.add((height, width) if aligned and height * width == len(held) else (1, 1))
        return shapes.pop() if len(shapes) == 1 else (1, 1)

    def component_name(self, component: int) -> str:
        """A component as the kernel names it; empty if the work-item holds a scalar."""
        if self.naming == "array":
            return f"[{component}]"
        return f"s{component:x}" if self.components > 1 else ""

    def bits_name(self, element: Element) -> str:
        """The element's bits in its component, the highest first: ``15:8``."""
        return f"{element.bit + self.element_bits - 1}:{element.bit}"

    def describe(self, element: Element) -> str:
        """The element and its place in words: ``A[1][13]: lane 6, s1, bits 15:8``."""
        words = [f"{self.name}[{element.row}][{element.column}]: lane {element.lane}"]
        if name := self.component_name(element.component):
            words.append(name)
        if self.is_packed:
            words.append(f"bits {self.bits_name(element)}")
        return ", ".join(words)
