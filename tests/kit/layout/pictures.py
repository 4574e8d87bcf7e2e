"""Reading an SVG picture: the element that each of its nodes stands for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple
from xml.etree import ElementTree

import numpy as np

from coopmat.layout import Picture

SVG = "{http://www.w3.org/2000/svg}"
WORDS = {8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}


class Drawn(NamedTuple):
    """What the node of an element says of the first place where it is held; ``bit`` is the lowest of its bits."""

    row: int
    column: int
    lane: int
    component: int
    register: int
    bit: int


def nodes(svg: str) -> Iterator[ElementTree.Element]:
    """Every node of an element, in the order of the file."""
    return (node for node in ElementTree.fromstring(svg).iter() if "data-lane" in node.attrib)


def drawn(svg: str) -> Iterator[Drawn]:
    """What every node says, in the order of the file."""
    for node in nodes(svg):
        bits = node.attrib["data-bits"].split(":")
        names = ("row", "column", "lane", "component", "register")
        yield Drawn(*(int(node.attrib[f"data-{name}"]) for name in names), int(bits[1]))


def registers_of(picture: Picture) -> int:
    """How many registers of a lane a matrix takes."""
    layout = picture.layout
    return -(-layout.components * layout.element_bits // layout.register_bits)


def pack(picture: Picture, bits: np.ndarray) -> np.ndarray:
    """The lanes' registers, [lanes, registers], that hold a matrix of elements' bits as the picture says."""
    layout = picture.layout
    words = np.zeros((layout.sub_group_size, registers_of(picture)), np.uint64)
    for place in drawn(picture.to_svg()):
        words[place.lane, place.register] |= np.uint64(bits[place.row, place.column]) << np.uint64(place.bit)
    return words.astype(WORDS[layout.register_bits])
