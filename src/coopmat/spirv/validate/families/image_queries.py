"""Rules about questions to images (SPIR-V 3.3.10, OpImageQuery…)."""

from __future__ import annotations

import numpy as np

from coopmat.spirv.grammar import Capability, Op
from coopmat.spirv.validate.families.image_types import Images, images
from coopmat.spirv.validate.rules import Findings, rule
from coopmat.spirv.validate.view import Group

SECTION = "SPIR-V 3.3.10 Image Instructions"

_WITH_LEVELS = ("1D", "2D", "3D", "Cube")
_SIZES = (Op.ImageQuerySize, Op.ImageQuerySizeLod)
_PLAIN = (Op.ImageQueryFormat, Op.ImageQueryOrder, Op.ImageQueryLevels, Op.ImageQuerySamples)


def _image(group: Group) -> tuple[Images, Findings]:
    return images(group.view, group.value(0)), iter(((~group.value(0).is_kind(Op.TypeImage),
                                                      "{op} asks an image, not {type0}"),))


@rule("image-query", "The format, order, levels and samples of an image are integers; each is asked of images that "
      "have it.", SECTION, *_PLAIN)
def image_query(group: Group) -> Findings:
    image, wrong = _image(group)
    yield from wrong
    yield ~group.result.is_int(), "{op} gives an integer, not {type}"
    yield image.has_dim("TileImageDataEXT"), "{op} cannot ask an image of dimensionality TileImageDataEXT: {type0}"
    if group.opcode == Op.ImageQueryLevels:
        yield image.is_image & ~image.has_dim(*_WITH_LEVELS), "an image without levels: {type0}"
    elif group.opcode == Op.ImageQuerySamples:
        yield image.is_image & ~image.has_dim("2D"), "{op} asks two-dimensional images, not {type0}"
        yield image.is_image & (image.multisampled == 0), "an image without samples: {type0}"


@rule("image-query-size", "The size of an image is as many integers as it has dimensions, its layers included.",
      SECTION, *_SIZES)
def image_query_size(group: Group) -> Findings:
    image, wrong = _image(group)
    yield from wrong
    good = group.result.scalars_of(Op.TypeInt)
    yield ~good, "{op} gives integers, not {type}"
    wanted = np.where(image.has_dim("Cube"), 2, image.coordinates - image.arrayed) + image.arrayed
    for count in np.unique(wanted[image.is_image]).tolist():
        yield good & image.is_image & (wanted == count) & (group.result.components != count), \
            f"{{op}} of {{type0}} gives {count} integers, not {{type}}"
    if group.opcode == Op.ImageQuerySizeLod:
        yield image.is_image & ~image.has_dim(*_WITH_LEVELS), "{op} asks images with levels, not {type0}"
        yield image.is_image & (image.multisampled != 0), "a multisampled image has no levels: {type0}"
        yield ~(group.value(1).is_int(32) if group.view.has(Capability.Kernel) else group.value(1).is_int()), \
            "the level of {op} is a 32-bit integer, not {type1}"
        return
    yield image.is_image & ~image.has_dim(*_WITH_LEVELS, "Buffer", "Rect"), "{op} cannot ask {type0}"
    levels = image.has_dim(*_WITH_LEVELS) & (image.multisampled == 0) & (image.sampled == 1)
    yield levels, "the size of an image with levels, {type0}, is asked by OpImageQuerySizeLod"


@rule("image-query-lod", "The level of detail at a coordinate of a sampled image is two floats.", SECTION,
      Op.ImageQueryLod)
def image_query_lod(group: Group) -> Findings:
    image, coordinate = images(group.view, group.value(0)), group.value(1)
    sampled = group.value(0).is_kind(Op.TypeSampledImage)
    yield ~sampled, "{op} asks a sampled image, not {type0}"
    yield ~(group.result.is_vector(Op.TypeFloat) & (group.result.components == 2)), "{op} gives two floats, not {type}"
    yield sampled & ~image.has_dim(*_WITH_LEVELS), "{op} asks images with levels, not {type0}"
    numbers = (Op.TypeFloat,) if group.view.has(Capability.Kernel) else (Op.TypeFloat, Op.TypeInt)
    yield ~coordinate.scalars_of(*numbers), "the coordinate of {op} is floats, not {type1}"
    yield sampled & (coordinate.components < image.coordinates - image.arrayed), \
        "the coordinate of {op} has too few components for {type0}: {type1}"
