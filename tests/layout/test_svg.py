"""The SVG pictures: one node per element, nothing overlaps, texts have room, colours can be told apart."""

from __future__ import annotations

import re
from typing import NamedTuple
from xml.etree import ElementTree

import numpy as np
import pytest

from coopmat.devices.subgroup_layout import SUB_GROUP_MATRIX_ROWS
from coopmat.devices.subgroup_matrices import M_SIZES
from coopmat.diagnostics import Error
from coopmat.layout import Picture, accumulator, block_2d, matrix_a, matrix_b, of
from coopmat.layout.palette import COLOURS, DARK, LIGHT, Scheme, colour_of
from tests.kit.layout.device_matrices import ALL, matrices_of
from tests.kit.layout.pictures import SVG, drawn


def generic(rows: int, columns: int, size: int) -> Picture:
    """A matrix whose elements are dealt out."""
    return of("sim:generic", use="accumulator", type="sint32", m=rows, n=columns, k=1, sub_group_size=size)


PICTURES = [
    *(picture for row in SUB_GROUP_MATRIX_ROWS if row.a == row.b and row.accumulator in ("sint32", "fp32")
      for picture in (*(matrix_a(row, m) for m in M_SIZES), matrix_b(row))),
    *(accumulator(row, m) for row in SUB_GROUP_MATRIX_ROWS if row.a in ("sint8", "tf32") for m in M_SIZES),
    *(generic(rows, columns, size)
      for rows, columns in ((16, 16), (32, 8), (8, 32), (8, 16), (3, 5)) for size in (8, 16, 32, 64)),
    generic(16, 64, 8),
    block_2d("intel_sub_group_2d_block_read_8b_8r32x2c", 32, 8, 2, 8, 16),
    block_2d("intel_sub_group_2d_block_read_transform_8b_32r16x2c", 16, 32, 2, 8, 32, transform=True),
    *(of(name, use=use, type=fmt, m=m, n=n, k=k) for name, use, fmt, m, n, k in (
        ("intel_cpu_spr", "b", "sint8", 16, 16, 64), ("intel_gpu_pvc", "accumulator", "fp32", 32, 64, 16),
        ("nvidia_gpu_sm_70", "b", "fp16", 16, 16, 16), ("nvidia_gpu_sm_70", "accumulator", "fp32", 8, 8, 4),
        ("nvidia_gpu_sm_80", "b", "fp16", 8, 32, 16), ("nvidia_gpu_sm_90", "a", "sint8", 64, 8, 32),
        ("nvidia_gpu_sm_90", "accumulator", "fp32", 64, 256, 16), ("amd_gpu_gfx90a", "accumulator", "fp32", 32, 32, 8),
        ("amd_gpu_gfx90a", "a", "fp16", 32, 32, 8), ("amd_gpu_gfx90a", "b", "fp64", 16, 16, 4))),
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


@pytest.mark.parametrize("picture", PICTURES, ids=lambda picture: picture.title)
def test_one_node_for_each_element(picture: Picture) -> None:
    assert sorted(drawn(picture.to_svg())) == [(element.row, element.column, *element.first[:4])
                                               for element in picture.elements]


@pytest.mark.parametrize("picture", PICTURES, ids=lambda picture: picture.title)
def test_cells_are_apart_and_texts_have_room(picture: Picture) -> None:
    last = picture.layout.rows - 1
    shown = range(last + 1) if len(picture.elements) <= 2048 else (0, last // 2, last)
    whole, cells, texts = boxes(picture.to_svg(shown))
    assert whole.right <= 800
    assert [cell for cell in cells if not whole.contains(cell)] == []
    assert [text for text in texts if not whole.contains(text.box)] == []
    assert overlaps(cells) == []
    assert overlaps([text.box for text in texts]) == []


def test_rows_that_are_left_out() -> None:
    picture = matrix_b(next(row for row in SUB_GROUP_MATRIX_ROWS if row.b == "sint8"))
    svg = picture.to_svg((0, 1, 2, 3, 31))
    assert {place.row for place in drawn(svg)} == {0, 1, 2, 3, 28, 29, 30, 31}
    assert svg.count("⋮") == 1
    assert "⋮" not in picture.to_svg()
    with pytest.raises(Error, match="rows 0 to 31 to draw, found none"):
        picture.to_svg((32,))


def test_a_title_is_text() -> None:
    svg = Picture(generic(1, 1, 4).layout, "<m>", "a < b & c").to_svg()
    root = ElementTree.fromstring(svg)
    assert root.findtext(f"{SVG}title") == "a < b & c"
    assert next(drawn(svg)).lane == 0


def test_styles_touch_nothing_but_the_picture() -> None:
    style = ElementTree.fromstring(generic(8, 16, 16).to_svg()).findtext(f"{SVG}style") or ""
    selectors = re.findall(r"([^{}]+)\{[^{}]*\}", style.replace("@media(prefers-color-scheme:dark){", ""))
    assert len(selectors) > 40
    assert [selector for selector in selectors if not selector.strip().startswith(".lanes ")] == []


def test_the_legend_has_every_lane() -> None:
    for picture in (generic(16, 16, 64), of("nvidia_gpu_sm_90", use="accumulator", type="fp32", m=64, n=8, k=16)):
        shown = re.findall(r'data-swatch="(\d+)"', picture.to_svg())
        assert list(map(int, shown)) == list(range(picture.layout.sub_group_size))
    idle = of("nvidia_gpu_sm_70", use="a", type="fp16", m=8, n=8, k=4).to_svg()
    assert re.findall(r'data-swatch="(\d+)"', idle) == ["0", "1", "2", "3", "16", "17", "18", "19"]


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
        assert min(contrast(scheme.text, scheme.fill(index)) for index in range(COLOURS)) >= 4.5

    @pytest.mark.parametrize("eye", EYES)
    def test_neighbours_differ(self, scheme: Scheme, eye: str, neighbours: set[tuple[int, int]]) -> None:
        """Lanes that lie beside each other in some layout. About 2 is the least that an eye notices."""
        seen = [lab(scheme.fill(colour_of(lane)), EYES[eye]) for lane in range(128)]
        near = {(one, two) for one, two in neighbours if np.linalg.norm(seen[one] - seen[two]) < 11}
        assert near == set()

    def test_both_schemes_are_in_the_picture(self, scheme: Scheme) -> None:
        light, dark = generic(4, 4, 16).to_svg().split("@media(prefers-color-scheme:dark)")
        part = light if scheme is LIGHT else dark.partition("</style>")[0]
        for colour in (scheme.background, scheme.text, scheme.muted, *map(scheme.fill, range(COLOURS))):
            assert colour in part


@pytest.fixture(scope="module")
def neighbours() -> set[tuple[int, int]]:
    """The pairs of lanes that lie beside each other or above each other in a matrix of any table.

    Matrices of odd sizes, dealt out, bring any two lanes together.
    """
    found = set()
    for device in (device for device in ALL if not device.any_combination):
        for matrix in matrices_of(device, is_long=True):
            lane = matrix.layout().layout.owner[0]
            for one, two in ((lane[1:], lane[:-1]), (lane[:, 1:], lane[:, :-1])):
                pairs = np.stack([one.ravel(), two.ravel()], axis=1)
                found |= {(one, two) for one, two in np.unique(pairs, axis=0).tolist() if one != two}
    assert len(found) > 300
    return found
