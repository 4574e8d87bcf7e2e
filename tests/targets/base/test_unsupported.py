"""Why no target has an instruction: what messages say, for every opcode of the grammar."""

from __future__ import annotations

import pytest

from coopmat.spirv.grammar import Op
from coopmat.spirv.module.instruction import Instruction, make
from coopmat.targets.base.unsupported import reason_against
from coopmat.targets.cpu.families import HANDLERS as CPU
from coopmat.targets.simulator.kernel import HANDLERS as SIMULATOR

MISSING = [op for op in Op if op not in CPU and op not in SIMULATOR]
SHADERS = "it is for shaders; only kernels run here"
REASONS = {
    "images and samplers are not supported; use buffers and pointers to them": (
        "TypeImage TypeSampler TypeSampledImage ConstantSampler SampledImage ImageRead ImageWrite ImageQuerySize "
        "ImageFetch ImageSparseRead SubgroupImageBlockReadINTEL ConvertHandleToImageINTEL TypeVmeImageINTEL"),
    "pipes are not supported; use buffers in global memory": (
        "TypePipe TypeReserveId ReadPipe TypePipeStorage GroupCommitReadPipe ReadPipeBlockingALTERA"),
    "device-side enqueue is not supported; launch each kernel from the host": (
        "TypeQueue TypeDeviceEvent EnqueueKernel GetDefaultQueue BuildNDRange GetKernelMaxNumSubgroups"),
    "named barriers are not supported; use a barrier of the work-group or of the sub-group": (
        "TypeNamedBarrier NamedBarrierInitialize MemoryNamedBarrier"),
    "function pointers are not supported; call functions by their ids": (
        "ConstantFunctionPointerINTEL FunctionPointerCallINTEL"),
    "untyped pointers are not supported; use OpTypePointer, as without SPV_KHR_untyped_pointers": (
        "TypeUntypedPointerKHR UntypedVariableKHR UntypedAccessChainKHR UntypedVariableLengthArrayINTEL"),
    "arrays of variable length are not supported; give the array a constant length": (
        "VariableLengthArrayINTEL SaveMemoryINTEL RestoreMemoryINTEL"),
    "use the cooperative matrices of SPV_KHR_cooperative_matrix": (
        "TypeCooperativeMatrixNV CooperativeMatrixMulAddNV CooperativeVectorLoadNV CooperativeMatrixLoadTensorNV "
        "TypeTensorLayoutNV TypeTensorARM CooperativeMatrixApplyFunctionINTEL"),
    "use a branch and a plain load or store": (
        "PredicatedLoadINTEL PredicatedStoreINTEL MaskedGatherINTEL MaskedScatterINTEL"),
    "assembly of a device is not supported": "AsmTargetINTEL AsmINTEL AsmCallINTEL",
    SHADERS: (
        "TypeMatrix TypeRuntimeArray ArrayLength MatrixTimesVector Transpose OuterProduct QuantizeToF16 DPdx "
        "FwidthFine EmitVertex Kill TerminateInvocation TraceRayKHR TypeRayQueryKHR TypeHitObjectNV EmitMeshTasksEXT "
        "DemoteToHelperInvocation BeginInvocationInterlockEXT ColorAttachmentReadEXT TypeBufferEXT"),
    None: "TypeInt TypePointer TypeEvent TypeOpaque TypeCooperativeMatrixKHR Decorate Label ReadClockKHR TypeGraphARM",
}


def reason(op: Op) -> str | None:
    """Why no target has an instruction."""
    return reason_against(make(op))


@pytest.mark.parametrize("expected", REASONS, ids=str)
def test_reasons(expected: str | None) -> None:
    for name in REASONS[expected].split():
        assert Op[name] in MISSING
        assert reason(Op[name]) == expected, name


def test_the_reason_is_that_of_the_instructions_kin() -> None:
    images, pipes, *_ = REASONS
    for op in MISSING:
        if "Image" in op.name or "Sampler" in op.name:
            assert reason(op) == images, op
        elif "Pipe" in op.name:
            assert reason(op) == pipes, op
        elif op.name.startswith(("Ray", "HitObject", "TraceRay", "Matrix", "DPd", "Fwidth")):
            assert reason(op) == SHADERS, op


def test_nothing_speaks_against_instructions_that_targets_have() -> None:
    """But against the one of matrices of shaders that cooperative matrices have, too."""
    found = {op.name for op in Op if (op in CPU or op in SIMULATOR) and reason(op)}
    assert found == {"MatrixTimesScalar"}


def test_an_opcode_that_the_grammar_does_not_know() -> None:
    assert reason_against(Instruction(0xFFFF, None, None, (), None, None)) is None
