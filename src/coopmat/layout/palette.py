"""The colours of pictures, for light and for dark surroundings.

Sixteen fills: hues of Paul Tol's "light" scheme, which stay apart for the colour-blind, with shares of the background.
They are in an order in which lanes that lie beside each other in any layout of the device tables differ by a CIELAB
distance of 11 or more, to every kind of eye (found by a search; a test looks at all neighbours). Colours are a help to
the eye only: every cell names its lane.
"""

from __future__ import annotations

from dataclasses import dataclass

COLOURS = 16
_TURN = 2  # so many colours further begin the next 16 lanes: lanes 16, 32 and 48 apart lie beside each other, too

HUES = {"blue": "#77aadd", "orange": "#ee8866", "cyan": "#99ddff", "yellow": "#eedd88", "mint": "#44bb99",
        "pear": "#bbcc33", "pink": "#ffaabb", "olive": "#aaaa00"}


def colour_of(lane: int) -> int:
    """The index of a lane's colour."""
    return (lane + _TURN * (lane // COLOURS)) % COLOURS


@dataclass(frozen=True, slots=True)
class Scheme:
    """The colours of one kind of surroundings; ``fills``: hues, with the share of the background mixed in."""

    background: str
    text: str
    muted: str
    fills: tuple[tuple[str, float], ...]

    def fill(self, index: int) -> str:
        """The colour of the lanes for which :func:`colour_of` gives ``index``."""
        hue, share = self.fills[index]
        return _mix(HUES[hue], self.background, share)


LIGHT = Scheme("#ffffff", "#1f2328", "#59636e", (
    ("cyan", 0.65), ("olive", 0.15), ("orange", 0), ("pear", 0.65), ("blue", 0.15), ("mint", 0.65), ("orange", 0.3),
    ("yellow", 0), ("olive", 0), ("blue", 0), ("cyan", 0), ("orange", 0.15), ("olive", 0.55), ("mint", 0.15),
    ("pink", 0.3), ("blue", 0.3)))
DARK = Scheme("#0d1117", "#ffffff", "#9198a1", (
    ("olive", 0.35), ("olive", 0.75), ("orange", 0.35), ("orange", 0.65), ("blue", 0.55), ("pink", 0.43),
    ("blue", 0.75), ("orange", 0.43), ("olive", 0.65), ("pear", 0.43), ("orange", 0.75), ("blue", 0.4),
    ("orange", 0.55), ("blue", 0.65), ("mint", 0.43), ("olive", 0.55)))


def _mix(colour: str, other: str, share: float) -> str:
    """A colour with a share of another one in it."""
    channels = zip(bytes.fromhex(colour[1:]), bytes.fromhex(other[1:]), strict=True)
    return "#" + bytes(round(one + (two - one) * share) for one, two in channels).hex()
