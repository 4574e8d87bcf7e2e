"""What no target has, and what would work instead."""

from __future__ import annotations

from functools import cache

from coopmat.spirv.grammar import Capability, Op, instruction, requirements
from coopmat.spirv.module.instruction import Instruction

_IMAGES = "images and samplers are not supported; use buffers and pointers to them"
_MATRICES = "use the cooperative matrices of SPV_KHR_cooperative_matrix"

_CAPABILITIES = {Capability[name]: reason for reason, names in (
    (_IMAGES,
     "LiteralSampler SparseResidency ImageQuery SubgroupImageBlockIOINTEL SubgroupImageMediaBlockIOINTEL "
     "BindlessImagesINTEL BindlessTextureNV ImageFootprintNV TextureSampleWeightedQCOM TextureBoxFilterQCOM "
     "TextureBlockMatchQCOM TextureBlockMatch2QCOM ImageGatherLinearQCOM ImageGatherExtendedModesQCOM"),
    ("pipes are not supported; use buffers in global memory", "Pipes PipeStorage BlockingPipesALTERA"),
    ("device-side enqueue is not supported; launch each kernel from the host", "DeviceEnqueue SubgroupDispatch"),
    ("named barriers are not supported; use a barrier of the work-group or of the sub-group", "NamedBarrier"),
    ("function pointers are not supported; call functions by their ids", "FunctionPointersINTEL"),
    ("untyped pointers are not supported; use OpTypePointer, as without SPV_KHR_untyped_pointers",
     "UntypedPointersKHR UntypedVariableLengthArrayINTEL"),
    ("arrays of variable length are not supported; give the array a constant length", "VariableLengthArrayINTEL"),
    (_MATRICES,
     "CooperativeMatrixNV CooperativeMatrixTensorAddressingNV CooperativeVectorNV CooperativeVectorTrainingNV "
     "TensorAddressingNV TensorsARM"),
    ("use a branch and a plain load or store", "PredicatedIOINTEL MaskedGatherScatterINTEL"),
    ("assembly of a device is not supported", "AsmINTEL"),
    ("it is for shaders; only kernels run here",
     "Matrix Shader DescriptorHeapEXT TileImageColorReadAccessEXT TileImageDepthReadAccessEXT "
     "TileImageStencilReadAccessEXT RayTracingSpheresGeometryNV RayTracingLinearSweptSpheresGeometryNV"),
) for name in names.split()}
"""What speaks against a capability, and against those that need it."""

_OPCODES = {Op.CooperativeMatrixApplyFunctionINTEL: _MATRICES, **dict.fromkeys((
    Op.TypeImage, Op.TypeSampler, Op.TypeSampledImage, Op.SampledImage, Op.Image, Op.ImageTexelPointer,
    Op.UntypedImageTexelPointerEXT, Op.ImageFetch, Op.ImageRead, Op.ImageWrite, Op.ImageGather, Op.ImageDrefGather,
    Op.ImageSampleImplicitLod, Op.ImageSampleExplicitLod, Op.ImageSampleDrefImplicitLod, Op.ImageSampleDrefExplicitLod,
    Op.ImageSampleProjImplicitLod, Op.ImageSampleProjExplicitLod, Op.ImageSampleProjDrefImplicitLod,
    Op.ImageSampleProjDrefExplicitLod, Op.ImageQueryFormat, Op.ImageQueryOrder, Op.ImageQuerySizeLod,
    Op.ImageQuerySize, Op.ImageQueryLevels, Op.ImageQuerySamples, Op["TypeVmeImageINTEL"], Op["VmeImageINTEL"],
), _IMAGES)}
"""What speaks against instructions whose capabilities do not tell."""


def reason_against(row: Instruction) -> str | None:
    """Why no target has an instruction, and what to use; None if nothing is known against it."""
    return _reason(row.opcode)


@cache
def _reason(opcode: int) -> str | None:
    known = instruction(opcode)
    if known is None:
        return None
    return _OPCODES.get(known.opcode) or _reason_against_all(known.capabilities)


def _reason_against_all(capabilities: tuple[Capability, ...]) -> str | None:
    """What speaks against capabilities of which any one would do; None if nothing is known against one of them."""
    reasons = [_CAPABILITIES.get(one) or _reason_against_all(requirements(one).capabilities) for one in capabilities]
    return reasons[0] if reasons and None not in reasons else None
