"""A layout that shows itself: as SVG, as a page, as text."""

from __future__ import annotations

from collections.abc import Iterable

from coopmat.layout.elements import ElementLayout
from coopmat.layout.page import as_html
from coopmat.layout.svg import as_svg
from coopmat.layout.text import as_text


class Picture(ElementLayout):
    """A layout as SVG, as an HTML page or as text; notebooks show it as a picture.

    A matrix of more than 16384 elements is refused with a :class:`coopmat.Error`.
    """

    def __str__(self) -> str:
        return as_text(self)

    def to_svg(self, rows: Iterable[int] | None = None) -> str:
        """The matrix as an SVG file: one node for each element, with its place and a title.

        rows: only these, as far as whole registers go, are drawn; a mark stands for those that are left out.
        """
        return as_svg(self, rows)

    def to_html(self) -> str:
        """The matrix as a page that needs nothing else: what the pointer or the keyboard is on is described, and the
        elements of its lane stand out."""
        return as_html(self)

    def _repr_svg_(self) -> str | None:
        """For notebooks."""
        return None if self.is_too_large else as_svg(self)
