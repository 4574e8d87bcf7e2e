"""The HTML page in a real browser: what the pointer and the keyboard show, in light and in dark surroundings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

from coopmat.devices.subgroup_layout import SUB_GROUP_MATRIX_ROWS
from coopmat.layout import Picture, matrix_b, of
from coopmat.layout.palette import DARK, LIGHT
from tests.kit.oracles.browser import Page

TWICE = of("nvidia_gpu_sm_70", use="a", type="fp16", m=16, n=16, k=16)  # elements lie in two lanes
WIDE = of("intel_gpu_pvc", use="accumulator", type="fp32", m=32, n=64, k=16)
PACKED = matrix_b(next(row for row in SUB_GROUP_MATRIX_ROWS if row.b == "sint8" and row.sub_group_size == 16))


@pytest.mark.parametrize("picture", [TWICE, WIDE, PACKED], ids=lambda picture: picture.title)
def test_the_page_needs_nothing_else(picture: Picture) -> None:
    page = picture.to_html()
    assert re.findall(r"""(?:src|href)\s*=|@import|url\(|fetch\(|import\s""", page) == []
    assert set(re.findall(r"\w+://[^\"' ]+", page)) == {"http://www.w3.org/2000/svg"}  # a name, not an address
    assert "@TITLE@" not in page
    assert page.startswith("<!DOCTYPE html>\n")
    opened: list[str] = []

    class Tags(HTMLParser):
        """Every element of the page that must be closed is closed."""

        def handle_starttag(self, tag: str, attrs: object) -> None:
            if tag not in ("meta", "input"):
                opened.append(tag)

        def handle_endtag(self, tag: str) -> None:
            assert opened.pop() == tag

    Tags().feed(page)
    assert opened == []


def test_a_title_is_text() -> None:
    assert "<title>a &lt; b &amp; c</title>" in Picture(TWICE.layout, "A", "a < b & c").to_html()


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with Page(tmp_path_factory.mktemp("profile")) as page:
        yield page


@pytest.fixture
def show(browser: Page, tmp_path: Path):
    def open_page(picture: Picture, **more: object) -> Page:
        file = tmp_path / "page.html"
        file.write_text(picture.to_html(), encoding="utf-8")
        browser.open(file, **more)
        browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=1, y=1)
        return browser

    return open_page


def cell(row: int, column: int) -> str:
    return f'[data-row="{row}"][data-column="{column}"]'


def standing_out(page: Page) -> set[tuple[int, int]]:
    """Row and column of the elements that are not dimmed."""
    found = page.evaluate("""[...document.querySelectorAll("[data-lane]")]
        .filter(node => getComputedStyle(node.parentNode).opacity === "1")
        .map(node => [Number(node.dataset.row), Number(node.dataset.column)])""")
    return {tuple(place) for place in found}


def of_lane(picture: Picture, lane: int) -> set[tuple[int, int]]:
    return {(element.row, element.column) for element in picture.elements
            if any(place.lane == lane for place in element.places)}


@pytest.mark.oracle("chromium")
class TestInABrowser:
    @pytest.mark.parametrize("picture", [TWICE, WIDE, PACKED], ids=lambda picture: picture.title)
    def test_pointing_at_an_element(self, show, picture: Picture) -> None:
        """Its place is described, and exactly the elements of its lane stand out."""
        page = show(picture)
        everything = {(element.row, element.column) for element in picture.elements}
        assert standing_out(page) == everything
        for row, column in ((3, 5), (0, 0), (7, 13)):
            page.point(cell(row, column))
            element = next(e for e in picture.elements if (e.row, e.column) == (row, column))
            assert page.evaluate("place.textContent") == picture.describe(element)
            assert standing_out(page) == of_lane(picture, element.first.lane)
        page.call("Input.dispatchMouseEvent", type="mouseMoved", x=1, y=1)
        assert standing_out(page) == everything
        assert page.evaluate("place.textContent") == ""

    def test_what_a_lane_holds(self, show) -> None:
        page = show(TWICE)
        page.point('[data-swatch="29"]')
        assert standing_out(page) == of_lane(TWICE, 29) != set()
        words = page.evaluate("holds.textContent")
        assert words.startswith("lane 29 holds [0] A[13][0], [1] A[13][1], [2] A[13][2], ")
        assert len(words.split(", ")) == TWICE.layout.components
        page.evaluate("laneInput.value = 3; laneInput.dispatchEvent(new Event('input'))")
        assert standing_out(page) == of_lane(TWICE, 3)
        page.evaluate("laneInput.value = ''; laneInput.dispatchEvent(new Event('input'))")
        assert len(standing_out(page)) == 256

    def test_a_vector_has_the_kernels_names(self, show) -> None:
        page = show(PACKED)
        page.point(cell(5, 6))
        words = page.evaluate("holds.textContent").split(", ")
        assert words[:2] + words[4:6] == ["lane 6 holds s0 B[0][6]", "s0 B[1][6]", "s1 B[4][6]", "s1 B[5][6]"]

    def test_the_keyboard_is_enough(self, show) -> None:
        page = show(WIDE)
        page.evaluate("document.activeElement.blur()")
        for _ in range(6):
            page.press("Tab")
            if page.evaluate("document.activeElement.matches('[data-lane]')"):
                break
        assert page.evaluate("place.textContent").startswith("C[0][0]: ")
        for key in ("ArrowDown", "ArrowDown", "ArrowRight", "ArrowUp", "ArrowRight", "ArrowLeft"):
            page.press(key)
        assert page.evaluate("place.textContent") == "C[1][1]: lane 1, component 1, register 1, bits 31:0"
        assert standing_out(page) == of_lane(WIDE, 1)
        assert page.evaluate("""(() => {
            const box = document.getElementById("cursor").getBoundingClientRect();
            const cell = document.activeElement.getBoundingClientRect();
            return Math.hypot(box.x + box.width / 2 - cell.x - cell.width / 2,
                              box.y + box.height / 2 - cell.y - cell.height / 2); })()""") < 1
        page.press("ArrowUp")
        page.press("ArrowUp")  # there is nothing above
        assert page.evaluate("place.textContent").startswith("C[0][1]: ")
        page.press("Escape")
        assert len(standing_out(page)) == 32 * 64

    @pytest.mark.parametrize(("dark", "scheme"), [(False, LIGHT), (True, DARK)])
    def test_light_and_dark(self, show, dark: bool, scheme) -> None:
        page = show(TWICE, dark=dark)
        colours = page.evaluate("""[getComputedStyle(document.body).backgroundColor,
            getComputedStyle(document.querySelector("#matrix rect")).fill,
            getComputedStyle(document.querySelector("[data-lane]").parentNode).fill,
            getComputedStyle(place).color]""")
        expected = (scheme.background, scheme.background, scheme.fill(0), scheme.text)
        assert colours == [f"rgb({', '.join(str(channel) for channel in bytes.fromhex(colour[1:]))})"
                           for colour in expected]

    def test_labels_fit_into_their_cells_as_drawn(self, show) -> None:
        """The widths that the browser gives the texts, in the narrowest cells and with the longest labels."""
        for picture in (WIDE, PACKED, of("nvidia_gpu_sm_90", use="accumulator", type="fp32", m=64, n=256, k=16)):
            page = show(picture)
            excess = page.evaluate("""Math.max(...[...document.querySelectorAll("#matrix g text")].map(text => {
                const outer = text.parentNode.querySelector("path").getBBox(), inner = text.getBBox();
                return Math.max(outer.x - inner.x, inner.x + inner.width - outer.x - outer.width); }))""")
            assert excess <= 0
