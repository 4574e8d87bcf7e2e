"""The SVG pictures: one node per element, nothing overlaps, texts have room, colours can be told apart."""

from __future__ import annotations

import itertools
import re
from typing import NamedTuple
from xml.etree import ElementTree

import numpy as np
import pytest

from coopmat.devices.subgroup_layout import SUB_GROUP_MATRIX_ROWS
from coopmat.devices.subgroup_matrices import M_SIZES
from coopmat.diagnostics import Error
from coopmat.layout import (
    Element,
    ElementLayout,
    accumulator,
    as_svg,
    block_2d,
    cooperative_matrix,
    matrix_a,
    matrix_b,
)
from coopmat.layout.palette import COLOURS, DARK, LIGHT, Scheme
from tests.layout.pictures import SVG, drawn

LAYOUTS = [
    *(layout for row in SUB_GROUP_MATRIX_ROWS if row.a == row.b and row.accumulator in ("sint32", "fp32")
      for layout in (*(matrix_a(row, m) for m in M_SIZES), matrix_b(row))),
    *(accumulator(row, m) for row in SUB_GROUP_MATRIX_ROWS if row.a in ("sint8", "tf32") for m in M_SIZES),
    *(cooperative_matrix(rows, columns, size, 32)
      for rows, columns in ((16, 16), (32, 8), (8, 32), (8, 16), (3, 5)) for size in (8, 16, 32, 64)),
    cooperative_matrix(16, 64, 8, 32),
    block_2d("intel_sub_group_2d_block_read_8b_8r32x2c", 32, 8, 2, 8, 16),
    block_2d("intel_sub_group_2d_block_read_transform_8b_32r16x2c", 16, 32, 2, 8, 32, transform=True),
]


class Box(NamedTuple):
    """A rectangle of the picture."""

    left: float
    top: float
    right: float
    bottom: float

    def contains(self, other: Box) -> bool:
        return (self.left <= other.left and self.top <= other.top and other.right <= self.right
                and other.bottom <= self.bottom)


class Text(NamedTuple):
    """A text of the picture: where it is and how large."""

    box: Box
    text: str


SIZES = {"t": 14, "k": 11, "n": 11, "s": 8}  # of letters by class; 10 without one
ANCHORS = {"t": 0.0, "k": 0.0, "r": 1.0}
NARROW = frozenset(" :;.,[]()")


def boxes(svg: str) -> tuple[Box, list[Box], list[Text]]:
    """The picture, the cells of the elements, and all texts."""
    root = ElementTree.fromstring(svg)
    cells, texts = [], []

    def visit(node: ElementTree.Element, x: float, y: float) -> None:
        if match := re.fullmatch(r"translate\((\d+),(\d+)\)", node.get("transform", "")):
            x, y = x + int(match[1]), y + int(match[2])
        if "data-lane" in node.attrib:
            shape = re.fullmatch(r"M(-?\d+) (\d+)h(\d+)v(\d+)h-\d+z", node.attrib["d"])
            assert shape is not None
            left, top, width, height = map(int, shape.groups())
            cells.append(Box(x + left, y + top, x + left + width, y + top + height))
        if node.tag == f"{SVG}text":
            texts.append(text_of(node, x, y))
        for child in node:
            visit(child, x, y)

    visit(root, 0, 0)
    return Box(0, 0, int(root.attrib["width"]), int(root.attrib["height"])), cells, texts


def overlaps(found: list[Box]) -> list[tuple[Box, Box]]:
    """The pairs that have a point in common."""
    edges = np.array(found)
    one, two = edges[:, None], edges[None, :]
    common = (one[..., :2] < two[..., 2:]).all(axis=-1) & (two[..., :2] < one[..., 2:]).all(axis=-1)
    return [(found[i], found[j]) for i, j in np.argwhere(np.triu(common, 1))]


def ems(text: str) -> float:
    """The width of a text, in units of its size: Helvetica's digits, and no less for most letters."""
    return sum(0.28 if letter in NARROW else 0.56 for letter in text)


def text_of(node: ElementTree.Element, x: float, y: float) -> Text:
    classes = node.get("class", "").split()
    size = next((SIZES[name] for name in classes if name in SIZES), 10)
    text = "".join(node.itertext())
    bold = "".join(part.text or "" for part in node)
    width = ems(text) * size + ems(bold) * (12 - size)
    left = x + float(node.get("x", 0)) - width * next((ANCHORS[name] for name in classes if name in ANCHORS), 0.5)
    base = y + float(node.get("y", 0))
    return Text(Box(left, base - 0.72 * size, left + width, base), text)


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.title)
def test_one_node_for_each_element(layout: ElementLayout) -> None:
    assert sorted(place[:5] for place in drawn(as_svg(layout))) == [tuple(element) for element in layout.elements]


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.title)
def test_cells_are_apart_and_texts_have_room(layout: ElementLayout) -> None:
    picture, cells, texts = boxes(as_svg(layout))
    assert picture.right <= 800
    assert [cell for cell in cells if not picture.contains(cell)] == []
    assert [text for text in texts if not picture.contains(text.box)] == []
    assert overlaps(cells) == []
    assert overlaps([text.box for text in texts]) == []


def test_rows_that_are_left_out() -> None:
    layout = matrix_b(next(row for row in SUB_GROUP_MATRIX_ROWS if row.b == "sint8"))
    svg = as_svg(layout, (0, 1, 2, 3, 31))
    assert {place.row for place in drawn(svg)} == {0, 1, 2, 3, 28, 29, 30, 31}
    assert svg.count("⋮") == 1
    assert "⋮" not in as_svg(layout)
    with pytest.raises(Error, match="rows 0 to 31 to draw, found none"):
        as_svg(layout, (32,))


def test_a_title_is_text() -> None:
    layout = ElementLayout("<m>", "a < b & c", 1, 1, 1, 8, 8, (Element(0, 0, 0, 0, 0),))
    root = ElementTree.fromstring(as_svg(layout))
    assert root.findtext(f"{SVG}title") == "a < b & c"
    assert next(drawn(as_svg(layout))).lane == 0


# ------------------------------------------------------------------ colours

# What an eye without one kind of cones sees, for linear red, green and blue (Machado, Oliveira, Fernandes 2009).
EYES = {
    "normal": np.eye(3),
    "protanopia": np.array([[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
                            [-0.003882, -0.048116, 1.051998]]),
    "deuteranopia": np.array([[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
                              [-0.011820, 0.042940, 0.968881]]),
    "tritanopia": np.array([[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
                            [0.004733, 0.691367, 0.303900]]),
}
XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def linear(colour: str) -> np.ndarray:
    """Red, green and blue of ``#rrggbb`` as intensities."""
    channels = np.frombuffer(bytes.fromhex(colour[1:]), np.uint8) / 255
    return np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)


def contrast(one: str, two: str) -> float:
    """The contrast ratio of WCAG 2."""
    dark, light = sorted(float(XYZ[1] @ linear(colour)) for colour in (one, two))
    return (light + 0.05) / (dark + 0.05)


def lab(colour: str, eye: np.ndarray) -> np.ndarray:
    """CIELAB of a colour as an eye sees it."""
    relative = XYZ @ np.clip(eye @ linear(colour), 0, 1) / XYZ.sum(axis=1)
    root = np.where(relative > 0.008856, np.cbrt(relative), 7.787 * relative + 16 / 116)
    return np.array([116 * root[1] - 16, 500 * (root[0] - root[1]), 200 * (root[1] - root[2])])


@pytest.mark.parametrize("scheme", [LIGHT, DARK], ids=["light", "dark"])
class TestColours:
    def test_texts_can_be_read(self, scheme: Scheme) -> None:
        assert contrast(scheme.text, scheme.background) >= 7
        assert contrast(scheme.muted, scheme.background) >= 4.5
        assert min(contrast(scheme.text, scheme.fill(index)) for index in range(COLOURS)) >= 4.1

    @pytest.mark.parametrize("eye", EYES)
    def test_neighbours_and_halves_differ(self, scheme: Scheme, eye: str) -> None:
        """Lanes beside each other, and lanes 8 apart: tf32's rows. About 2 is the least that an eye notices."""
        seen = [lab(scheme.fill(index), EYES[eye]) for index in range(COLOURS)]
        for one, two in (*itertools.pairwise(range(COLOURS)), *((lane, lane + 8) for lane in range(8))):
            assert np.linalg.norm(seen[one] - seen[two]) > 9, (one, two)

    def test_both_schemes_are_in_the_picture(self, scheme: Scheme) -> None:
        light, dark = as_svg(cooperative_matrix(4, 4, 16, 8)).split("@media(prefers-color-scheme:dark)")
        part = light if scheme is LIGHT else dark.partition("</style>")[0]
        for colour in (scheme.background, scheme.text, scheme.muted, scheme.fill(0), scheme.fill(15)):
            assert colour in part
