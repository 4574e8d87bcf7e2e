"""Rules about the types of images (SPIR-V 3.3.6), and what these types say, as arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from coopmat.spirv.grammar import Dim, ImageFormat, Op
from coopmat.spirv.validate.rules import Findings, rule
from coopmat.spirv.validate.types import Booleans, Integers, Types
from coopmat.spirv.validate.view import Group, ModuleView

SECTION = "SPIR-V 3.3.6 Type-Declaration Instructions, OpTypeImage"

_COORDINATES = {Dim["_1D"]: 1, Dim["_2D"]: 2, Dim["_3D"]: 3, Dim.Cube: 3, Dim.Rect: 2, Dim.Buffer: 1,
                Dim.SubpassData: 2, Dim.TileImageDataEXT: 2}
"""Coordinates of a texel, layers of arrays apart."""


class Images(NamedTuple):
    """Of some types, images or sampled images: the operands of OpTypeImage; ``is_image`` is false for all others."""

    is_image: Booleans
    sampled_type: Types
    dim: Integers
    arrayed: Integers
    multisampled: Integers
    sampled: Integers

    @property
    def coordinates(self) -> Integers:
        """The number of coordinates of a texel, the layer of an array included."""
        return _per_dim(self.dim) + self.arrayed

    def has_dim(self, *names: str) -> Booleans:
        """Whether the dimensionality is one of these, by the names of SPIR-V's assembly."""
        return self.is_image & np.isin(self.dim, [member for member in Dim if member.spelling in names])


def _per_dim(dim: Integers) -> Integers:
    table = np.zeros(max(int(member) for member in Dim) + 2, np.int64)
    for member, count in _COORDINATES.items():
        table[member] = count
    return table[np.minimum(dim, len(table) - 1)]


def images(view: ModuleView, types: Types) -> Images:
    """What these types say, those of sampled images through the image that they hold."""
    places = np.where(types.is_kind(Op.TypeSampledImage), types.element.places, types.places)
    columns = view.derived(_columns)[:, places]
    return Images(columns[0] != 0, Types(types.table, columns[1]), *columns[2:])


def _columns(view: ModuleView) -> Integers:
    table = view.type_table
    found = np.zeros((6, len(table.rows)), np.int64)
    for place, item in enumerate(table.instructions):
        if item is not None and item.opcode == Op.TypeImage:
            sampled_type, dim, _, arrayed, multisampled, sampled = item.words[:6]
            found[:, place] = 1, table.position.get(sampled_type, 0), dim, arrayed, multisampled, sampled
    return found


@rule("image-type", "An image has texels of a number or void, and flags within their range.", SECTION, Op.TypeImage)
def image_type(group: Group) -> Findings:
    texel = group.type(0)
    yield ~texel.is_kind(Op.TypeVoid, Op.TypeInt, Op.TypeFloat), \
        "the texels of an image are numbers or void, not {def0}"
    for place, name, most in ((2, "Depth", 2), (3, "Arrayed", 1), (4, "MS", 1), (5, "Sampled", 2)):
        yield group.word(place) > most, f"{name} of an image is {{word{place}}}: 0 to {most} are possible"
    for dim in (Dim.SubpassData, Dim.TileImageDataEXT):
        of_dim = group.word(1) == int(dim)
        yield of_dim & (group.word(5) != 2), f"an image of dimensionality {dim.spelling} has Sampled 2, not {{word5}}"
        yield of_dim & (group.word(6) != int(ImageFormat.Unknown)), \
            f"an image of dimensionality {dim.spelling} has the format Unknown"
    tile = group.word(1) == int(Dim.TileImageDataEXT)
    yield tile & (texel.is_kind(Op.TypeVoid) | (group.word(2) != 0) | (group.word(3) != 0)), \
        "an image of dimensionality TileImageDataEXT has texels, no depth and no layers"


@rule("sampled-image-type", "A sampled image holds an image that can be sampled.", SECTION, Op.TypeSampledImage)
def sampled_image_type(group: Group) -> Findings:
    image = images(group.view, group.type(0))
    yield ~group.type(0).is_kind(Op.TypeImage), "a sampled image holds an image, not {def0}"
    yield image.is_image & (image.sampled == 2), "a sampled image holds an image with Sampled 0 or 1, not {def0}"
    yield image.has_dim("SubpassData"), "an image of dimensionality SubpassData cannot be sampled: {def0}"
    if group.view.module.version >= 0x10600:
        yield image.has_dim("Buffer"), "from SPIR-V 1.6 on, an image of dimensionality Buffer cannot be sampled: {def0}"
