"""The page in a real browser: it needs nothing else, its tables sort, keys lead through it, light and dark."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import coopmat as cm
from tests.kit.oracles.browser import Page

SOURCE = """// </script><img src=x onerror="document.title = 'wrong'">
kernel void product(global const float *A, global float *B, int n) {
    int i = get_global_id(0);
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += A[i * n + k] * 2;  // <b>"&
    B[i] = sum;
}
"""


@pytest.fixture(scope="module")
def html() -> str:
    made = cm.build(SOURCE, device="sim:nvidia_gpu_sm_80").kernel("product")
    return made.report(64, 32, np.zeros((64, 32), np.float32), np.zeros(64, np.float32), 32).html()


def test_the_page_needs_nothing_else(html: str) -> None:
    assert re.findall(r"""@import|url\(|fetch\(|import\s|<img|<link""", html) == []
    assert set(re.findall(r"""(?:src|href)="(.)""", html)) == {"#"}
    assert "&lt;/script&gt;" in html
    assert html.count("<script>") == 1
    headings = re.findall(r"<h(\d)", html)
    assert headings[0] == "1"
    assert set(headings[1:]) == {"2"}


@pytest.fixture(scope="module")
def page(html: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with Page(tmp_path_factory.mktemp("profile")) as browser:
        file = tmp_path_factory.mktemp("page") / "report.html"
        file.write_text(html, encoding="utf-8")
        browser.open(file)
        yield browser


@pytest.mark.oracle("chromium")
class TestInABrowser:
    def test_names_and_source_are_texts(self, page: Page) -> None:
        assert page.evaluate("document.title") == "product on sim:nvidia_gpu_sm_80"
        assert page.evaluate("document.querySelector('#line-0-6 .code').textContent") == SOURCE.splitlines()[5]

    def test_keys_lead_to_hot_lines(self, page: Page) -> None:
        number = "document.activeElement.querySelector('.number')?.textContent"
        page.evaluate("document.activeElement.blur(); window.hotLines = [...document.querySelectorAll('tr.hot')]")
        lines = page.evaluate("hotLines.map(row => row.querySelector('.number').textContent)")
        assert "6" in lines
        pressed = "document.dispatchEvent(new KeyboardEvent('keydown', {key: '%s'}))"
        for expected in [*lines, lines[0]]:
            page.evaluate(pressed % "n")
            assert page.evaluate(number) == expected
        page.evaluate(pressed % "p")
        assert page.evaluate(number) == lines[-1]
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"

    def test_tables_sort(self, page: Page) -> None:
        table = "[...document.querySelectorAll('.sortable')].find(one => one.textContent.includes('active work-items'))"
        column = f"[...{table}.tBodies[0].rows].map(row => Number(row.cells[1].textContent.replaceAll(',', '')))"
        button = "[...document.querySelectorAll('.sortable th button')].find(one => one.textContent === 'sub-groups')"
        before = page.evaluate(column)
        page.evaluate(f"{button}.click()")
        assert page.evaluate(column) == sorted(before, reverse=True)
        assert page.evaluate(f"{button}.parentNode.getAttribute('aria-sort')") == "descending"
        page.evaluate(f"{button}.click()")
        assert page.evaluate(column) == sorted(before)

    @pytest.mark.parametrize("dark", [False, True])
    def test_light_and_dark(self, page: Page, html: str, tmp_path: Path, dark: bool) -> None:
        """Text has a contrast of 4.5 at least (WCAG 2, 1.4.3), and nothing is wider than the window."""
        (tmp_path / "report.html").write_text(html, encoding="utf-8")
        page.open(tmp_path / "report.html", width=700, dark=dark)
        colours = page.evaluate("['backgroundColor', 'color'].map(name => getComputedStyle(document.body)[name])")
        muted = page.evaluate("getComputedStyle(document.querySelector('.note')).color")
        link = page.evaluate("getComputedStyle(document.querySelector('nav a')).color")
        background, text = colours
        for colour in (text, muted, link):
            assert contrast(background, colour) >= 4.5
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def contrast(one: str, other: str) -> float:
    """The contrast of two colours as the browser writes them."""
    high, low = sorted(map(luminance, (one, other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def luminance(colour: str) -> float:
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
