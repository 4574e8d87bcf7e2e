"""The colours of pictures, for light and for dark surroundings.

The hues are Paul Tol's "light" scheme, made to fill labelled cells and to stay apart for the
colour-blind, in the order in which neighbours differ most. Lanes from 8 on repeat them, nearer to the
background; lanes from 16 on repeat all. Colours are a help to the eye only: every cell names its lane.
"""

from __future__ import annotations

from dataclasses import dataclass

HUES = ("#77aadd", "#ee8866", "#99ddff", "#eedd88", "#44bb99", "#bbcc33", "#ffaabb", "#aaaa00")
COLOURS = 2 * len(HUES)


@dataclass(frozen=True, slots=True)
class Scheme:
    """The colours of one kind of surroundings; ``shares`` of the background are mixed into the hues."""

    background: str
    text: str
    muted: str
    shares: tuple[float, float]

    def fill(self, index: int) -> str:
        """The colour of the lanes ``index``, ``index + COLOURS`` …"""
        return _mix(HUES[index % len(HUES)], self.background, self.shares[index // len(HUES) % 2])


LIGHT = Scheme("#ffffff", "#1f2328", "#59636e", (0.0, 0.55))
DARK = Scheme("#0d1117", "#ffffff", "#9198a1", (0.47, 0.72))


def colour_of(lane: int) -> int:
    """The index of a lane's colour."""
    return lane % COLOURS


def _mix(colour: str, other: str, share: float) -> str:
    """A colour with a share of another one in it."""
    channels = zip(bytes.fromhex(colour[1:]), bytes.fromhex(other[1:]), strict=True)
    return "#" + bytes(round(one + (two - one) * share) for one, two in channels).hex()
