"""Reading an SVG picture: the element that each of its nodes stands for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple
from xml.etree import ElementTree

import numpy as np

SVG = "{http://www.w3.org/2000/svg}"


class Drawn(NamedTuple):
    """What the node of an element says; ``bit`` is the lowest of its bits, 0 if the title names none."""

    row: int
    column: int
    lane: int
    component: int
    bit: int


def drawn(svg: str) -> Iterator[Drawn]:
    """Every node of an element, in the order of the file."""
    for node in ElementTree.fromstring(svg).iter():
        if "data-lane" in node.attrib:
            title = node.findtext(f"{SVG}title")
            assert title is not None
            bits = re.search(r"bits \d+:(\d+)$", title)
            numbers = [int(node.attrib[f"data-{name}"]) for name in ("row", "column", "lane", "component")]
            yield Drawn(*numbers, int(bits[1]) if bits else 0)


def pack(svg: str, bits: np.ndarray, lanes: int, components: int, dtype: type) -> np.ndarray:
    """The lanes' components, [lanes, components], that hold a matrix of elements' bits as the picture says."""
    words = np.zeros((lanes, components), np.uint64)
    for place in drawn(svg):
        words[place.lane, place.component] |= np.uint64(bits[place.row, place.column]) << np.uint64(place.bit)
    return words.astype(dtype)
