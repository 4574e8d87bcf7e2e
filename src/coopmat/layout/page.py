"""A layout as an HTML page: its picture with a script that describes what is pointed at. The page needs no network."""

from __future__ import annotations

from html import escape

from coopmat.layout.elements import ElementLayout
from coopmat.layout.palette import DARK, LIGHT, Scheme
from coopmat.layout.svg import as_svg


def as_html(layout: ElementLayout) -> str:
    """The page: pointing at an element, or reaching it by the arrow keys, shows where it is held, and the elements of
    its lane stand out."""
    from importlib import resources  # needed for pages only, and it takes a while

    page = (resources.files("coopmat") / "data" / "layout.html").read_text(encoding="utf-8")
    fillings = {"TITLE": escape(layout.title), "LIGHT": _variables(LIGHT), "DARK": _variables(DARK),
                "LAST_LANE": str(layout.layout.sub_group_size - 1), "SVG": as_svg(layout)}
    for name, text in fillings.items():
        page = page.replace(f"@{name}@", text)
    return page


def _variables(scheme: Scheme) -> str:
    return f"--background: {scheme.background}; --text: {scheme.text}; --muted: {scheme.muted};"
