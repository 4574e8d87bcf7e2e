"""Rules for reading, writing and sampling images (SPIR-V 3.3.10)."""

from __future__ import annotations

import numpy as np

from coopmat.spirv.grammar import Capability, Op
from coopmat.spirv.validate.families.image_types import Images, images
from coopmat.spirv.validate.rules import Findings, rule
from coopmat.spirv.validate.types import Booleans, Types
from coopmat.spirv.validate.view import Group

SECTION = "SPIR-V 3.3.10 Image Instructions"


def _ops(*names: str) -> tuple[Op, ...]:
    return tuple(Op[f"Image{sparse}{name}"] for sparse in ("", "Sparse") for name in names)


_SAMPLING = _ops("SampleImplicitLod", "SampleExplicitLod", "SampleProjImplicitLod", "SampleProjExplicitLod")
_COMPARING = _ops("SampleDrefImplicitLod", "SampleDrefExplicitLod", "SampleProjDrefImplicitLod",
                  "SampleProjDrefExplicitLod")
_GATHERING = _ops("Gather", "DrefGather")
_DIRECT = _ops("Fetch", "Read")
_SCALAR = (*_COMPARING,)
_READING = (*_SAMPLING, *_COMPARING, *_GATHERING, *_DIRECT)


def _texel(group: Group) -> tuple[Types, Booleans]:
    """What is read: the result type, or in sparse instructions the second member of the structure that it is."""
    result = group.result
    if "Sparse" not in group.opcode.spelling:
        return result, group.none
    table = group.view.type_table
    found, wrong = np.zeros(len(group), np.int64), group.none
    for offset, place in enumerate(result.places.tolist()):
        item = table.instructions[place]
        if item is None or item.opcode != Op.TypeStruct or len(item.words) != 2 \
                or table.rows[table.position.get(item.words[0], 0)].kind != Op.TypeInt:
            wrong[offset] = True
        else:
            found[offset] = table.position.get(item.words[1], 0)
    return Types(result.table, found), wrong


@rule("image-sampled", "What is sampled is a sampled image, what is read or written an image.", SECTION,
      *_READING, Op.ImageWrite)
def image_sampled(group: Group) -> Findings:
    image, given = images(group.view, group.value(0)), group.value(0)
    name = group.opcode.spelling
    if group.opcode in _DIRECT or group.opcode == Op.ImageWrite:
        yield ~given.is_kind(Op.TypeImage), "{op} works on an image, not on {type0}"
        if "Fetch" in name:
            yield image.is_image & (image.sampled != 1), "{op} reads an image with Sampled 1, not {type0}"
            yield image.has_dim("Cube", "SubpassData"), "{op} cannot read an image of this dimensionality: {type0}"
        else:
            yield image.is_image & (image.sampled == 1), "{op} works on an image with Sampled 0 or 2, not on {type0}"
            yield image.has_dim("TileImageDataEXT"), "{op} cannot work on {type0}"
        if "Sparse" in name or group.opcode == Op.ImageWrite:
            yield image.has_dim("SubpassData"), "{op} cannot work on an image of dimensionality SubpassData: {type0}"
        return
    yield ~given.is_kind(Op.TypeSampledImage), "{op} samples a sampled image, not {type0}"
    yield image.is_image & (image.multisampled != 0), "{op} cannot sample a multisampled image: {type0}"


@rule("image-coordinate", "A coordinate has as many numbers as the image has dimensions.", SECTION,
      *_READING, Op.ImageWrite)
def image_coordinate(group: Group) -> Findings:
    image, coordinate = images(group.view, group.value(0)), group.value(1)
    name = group.opcode.spelling
    floats = coordinate.scalars_of(Op.TypeFloat)
    if "Fetch" in name:
        yield ~coordinate.scalars_of(Op.TypeInt), "the coordinate of {op} is integers, not {type1}"
    elif ("Sample" not in name and "Gather" not in name) or ("Explicit" in name and group.view.has(Capability.Kernel)):
        yield ~(floats | coordinate.scalars_of(Op.TypeInt)), "the coordinate of {op} is numbers, not {type1}"
    else:
        yield ~floats, "the coordinate of {op} is floats, not {type1}"
    wanted = image.coordinates + ("Proj" in name)
    if group.opcode in _DIRECT or group.opcode == Op.ImageWrite:
        wanted = np.where(image.has_dim("Cube"), 3, wanted)  # the layers are counted as faces
    yield image.is_image & (coordinate.components < wanted), \
        "the coordinate of {op} has too few components for {type0}: {type1}"


@rule("image-texel", "What is read from or written to an image are numbers of the type that it holds.", SECTION,
      *_READING, Op.ImageWrite)
def image_texel(group: Group) -> Findings:
    image = images(group.view, group.value(0))
    if group.opcode == Op.ImageWrite:
        texel = group.value(2)
        yield ~texel.scalars_of(Op.TypeInt, Op.TypeFloat), "{op} writes numbers, not {type2}"
        yield _differs(image, texel), "the texels of {type0} are of another type than {type2}"
        return
    texel, wrong = _texel(group)
    yield wrong, "the result of {op} is a structure of an integer and the texel, not {type}"
    good = ~wrong
    if group.opcode in _SCALAR:
        yield good & ~texel.is_kind(Op.TypeInt, Op.TypeFloat), "{op} gives a number, not {type}"
    elif "Read" in group.opcode.spelling:
        yield good & ~texel.scalars_of(Op.TypeInt, Op.TypeFloat), "{op} gives numbers, not {type}"
    else:
        vector = texel.is_vector(Op.TypeInt, Op.TypeFloat) & (texel.components == 4)
        yield good & ~vector, "{op} gives a vector of 4 numbers, not {type}"
    yield good & _differs(image, texel), "the texels of {type0} are of another type than the result, {type}"


def _differs(image: Images, texel: Types) -> Booleans:
    return image.is_image & ~image.sampled_type.is_kind(Op.TypeVoid) & texel.scalars_of(Op.TypeInt, Op.TypeFloat) \
        & (image.sampled_type != texel.scalar)


@rule("image-reference", "What is compared with a depth is a 32-bit float.", SECTION, *_COMPARING, *_ops("DrefGather"))
def image_reference(group: Group) -> Findings:
    reference = group.value(2)
    yield ~(reference.is_kind(Op.TypeFloat) & (reference.width == 32)), \
        "the depth that {op} compares with is a 32-bit float, not {type2}"


@rule("image-gather-component", "The component to gather is a 32-bit integer.", SECTION, *_ops("Gather"))
def image_gather_component(group: Group) -> Findings:
    yield ~group.value(2).is_int(32), "the component of {op} is a 32-bit integer, not {type2}"


@rule("sampled-image", "A sampled image is made of an image and a sampler, and gives the image back.", SECTION,
      Op.SampledImage, Op.Image)
def sampled_image(group: Group) -> Findings:
    whole = group.result if group.opcode == Op.SampledImage else group.value(0)
    part = group.value(0) if group.opcode == Op.SampledImage else group.result
    shown, inner = ("{type}", "{type0}") if group.opcode == Op.SampledImage else ("{type0}", "{type}")
    yield ~whole.is_kind(Op.TypeSampledImage), f"{{op}} has to do with a sampled image, not {shown}"
    yield ~part.is_kind(Op.TypeImage), f"{{op}} has to do with an image, not {inner}"
    both = whole.is_kind(Op.TypeSampledImage) & part.is_kind(Op.TypeImage)
    yield both & (whole.element != part) & ~_same_but_depth(group, whole.element, part), \
        f"{shown} does not hold {inner}"
    if group.opcode == Op.SampledImage:
        yield ~group.value(1).is_kind(Op.TypeSampler), "{op} takes a sampler, not {type1}"


def _same_but_depth(group: Group, one: Types, other: Types) -> Booleans:
    """Whether two images differ in nothing, or only in being compared with depths."""
    rows = group.view.type_table.instructions
    found = group.none
    for offset, (a, b) in enumerate(zip(one.places.tolist(), other.places.tolist(), strict=True)):
        first, second = rows[a], rows[b]
        if first is not None and second is not None:
            found[offset] = first.words[:2] + first.words[3:] == second.words[:2] + second.words[3:]
    return found
