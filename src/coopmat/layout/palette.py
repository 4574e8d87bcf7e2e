"""The colours of pictures, for light and for dark surroundings.

Sixteen fills, made of the hues of Paul Tol's "light" scheme (which stay apart for the colour-blind and leave labels
legible) and shares of the background. They are in an order in which the lanes that lie beside each other, in any layout
of the device tables, differ by a CIELAB distance of 11 or more to every kind of eye. Colours are a help to the eye only:
every cell names its lane.
"""

from __future__ import annotations

from dataclasses import dataclass

COLOURS = 16
_TURN = 2  # so many colours further begin the next 16 lanes: lanes 16, 32 and 48 apart lie beside each other, too

_HUES = {"blue": "#77aadd", "orange": "#ee8866", "cyan": "#99ddff", "yellow": "#eedd88", "mint": "#44bb99",
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
        return _mix(_HUES[hue], self.background, share)


LIGHT = Scheme("#ffffff", "#1f2328", "#59636e", (
    ("olive", 0), ("blue", 0.15), ("pink", 0.15), ("mint", 0), ("olive", 0.55), ("cyan", 0.65), ("yellow", 0.8),
    ("orange", 0), ("blue", 0.4), ("pear", 0), ("orange", 0.15), ("orange", 0.65), ("blue", 0), ("cyan", 0),
    ("mint", 0.15), ("pear", 0.55)))
DARK = Scheme("#0d1117", "#ffffff", "#9198a1", (
    ("orange", 0.4), ("cyan", 0.75), ("mint", 0.35), ("blue", 0.5), ("olive", 0.85), ("orange", 0.5), ("olive", 0.6),
    ("mint", 0.85), ("pear", 0.5), ("pink", 0.55), ("cyan", 0.5), ("olive", 0.7), ("cyan", 0.85), ("orange", 0.3),
    ("orange", 0.65), ("olive", 0.35)))


def _mix(colour: str, other: str, share: float) -> str:
    """A colour with a share of another one in it."""
    channels = zip(bytes.fromhex(colour[1:]), bytes.fromhex(other[1:]), strict=True)
    return "#" + bytes(round(one + (two - one) * share) for one, two in channels).hex()
