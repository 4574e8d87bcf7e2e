"""Compute shaders that need no compiler: parameters, layouts, lengths, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import coopmat as cm
from coopmat.spirv import Module
from coopmat.spirv.transform.from_shader.kernels import to_kernels

SCALE = """
OpCapability Shader
%glsl = OpExtInstImport "GLSL.std.450"
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main "scale" %id
OpExecutionMode %main LocalSize 8 1 1
OpName %data "data"
OpName %limits "limits"
OpMemberName %push 0 "factor"
OpMemberName %push 1 "start"
OpName %rounds "rounds"
OpDecorate %rounds SpecId 4
OpDecorate %id BuiltIn GlobalInvocationId
OpDecorate %data DescriptorSet 0
OpDecorate %data Binding 3
OpDecorate %limits DescriptorSet 0
OpDecorate %limits Binding 1
OpDecorate %buffer Block
OpMemberDecorate %buffer 0 Offset 0
OpMemberDecorate %buffer 1 Offset 16
OpDecorate %floats ArrayStride 4
OpDecorate %uniform Block
OpMemberDecorate %uniform 0 Offset 0
OpDecorate %push Block
OpMemberDecorate %push 0 Offset 0
OpMemberDecorate %push 1 Offset 4
%void = OpTypeVoid
%uint = OpTypeInt 32 0
%int = OpTypeInt 32 1
%float = OpTypeFloat 32
%bool = OpTypeBool
%v2float = OpTypeVector %float 2
%v3uint = OpTypeVector %uint 3
%floats = OpTypeRuntimeArray %float
%buffer = OpTypeStruct %uint %floats
%uniform = OpTypeStruct %v2float
%push = OpTypeStruct %float %uint
%ptr_buffer = OpTypePointer StorageBuffer %buffer
%ptr_float = OpTypePointer StorageBuffer %float
%ptr_uint = OpTypePointer StorageBuffer %uint
%ptr_uniform = OpTypePointer Uniform %uniform
%ptr_limit = OpTypePointer Uniform %float
%ptr_pair = OpTypePointer Uniform %v2float
%ptr_push = OpTypePointer PushConstant %push
%ptr_push_float = OpTypePointer PushConstant %float
%ptr_push_uint = OpTypePointer PushConstant %uint
%ptr_id = OpTypePointer Input %v3uint
%ptr_input = OpTypePointer Input %uint
%data = OpVariable %ptr_buffer StorageBuffer
%limits = OpVariable %ptr_uniform Uniform
%pushed = OpVariable %ptr_push PushConstant
%id = OpVariable %ptr_id Input
%uint_0 = OpConstant %uint 0
%int_0 = OpConstant %int 0
%int_1 = OpConstant %int 1
%rounds = OpSpecConstant %float 2
%type = OpTypeFunction %void
%main = OpFunction %void None %type
%entry = OpLabel
%x_place = OpAccessChain %ptr_input %id %uint_0
%x = OpLoad %uint %x_place
%start_place = OpAccessChain %ptr_push_uint %pushed %int_1
%start = OpLoad %uint %start_place
%index = OpIAdd %uint %x %start
%length = OpArrayLength %uint %data 1
%inside = OpULessThan %bool %index %length
OpSelectionMerge %end None
OpBranchConditional %inside %then %end
%then = OpLabel
%factor_place = OpAccessChain %ptr_push_float %pushed %int_0
%factor = OpLoad %float %factor_place
%place = OpAccessChain %ptr_float %data %int_1 %index
%value = OpLoad %float %place
%scaled = OpFMul %float %value %factor
%more = OpFMul %float %scaled %rounds
%low_place = OpAccessChain %ptr_limit %limits %int_0 %uint_0
%low = OpLoad %float %low_place
%whole = OpAccessChain %ptr_pair %limits %int_0
%limit = OpLoad %v2float %whole
%high = OpCompositeExtract %float %limit 1
%clamped = OpExtInst %float %glsl FClamp %more %low %high
OpStore %place %clamped
OpBranch %end
%end = OpLabel
%is_first = OpIEqual %bool %x %uint_0
OpSelectionMerge %done None
OpBranchConditional %is_first %first %done
%first = OpLabel
%count_place = OpAccessChain %ptr_uint %data %int_0
OpStore %count_place %length
OpBranch %done
%done = OpLabel
OpReturn
OpFunctionEnd
"""
DEVICES = ["sim:generic", "cpu"]


@pytest.mark.parametrize("device", DEVICES)
def test_parameters(device: str) -> None:
    """Descriptors by set and binding, then push constants; the length is that of the array that is bound."""
    kernel = cm.build(Module.from_text(SCALE), spec_constants={"rounds": 4.0}).kernel("scale")
    assert str(kernel.signature) == "scale(global const float32 x 2 *limits, global int8 *data, float32 factor, " \
                                    "int32 start)"
    assert kernel.signature.work_group_size == (8, 1, 1)
    numbers = np.linspace(-5, 5, 21, dtype=np.float32)
    data = np.zeros(16 + numbers.nbytes, np.uint8)
    data[16:] = numbers.view(np.uint8)
    limits = np.array([-20, 10], np.float32)
    cm.Queue(device).enqueue(kernel, 24, 8, limits, data, 1.5, 2).wait()
    assert data[:4].view(np.uint32) == len(numbers)
    expected = np.concatenate([numbers[:2], np.clip(numbers[2:] * np.float32(1.5) * 4, -20, 10)])
    np.testing.assert_array_equal(data[16:].view(np.float32), expected)


def test_bounds_are_checked() -> None:
    """The simulator tells which buffer an access leaves."""
    kernel = cm.build(Module.from_text(SCALE)).kernel("scale")
    with pytest.raises(cm.OutOfBounds, match="limits"):
        cm.Queue("sim:generic").enqueue(kernel, 8, 8, np.zeros(0, np.float32), np.zeros(64, np.uint8), 1, 0).wait()
    with pytest.raises(cm.LaunchError, match="requires work-groups of"):
        cm.Queue("sim:generic").enqueue(kernel, 8, 4, np.zeros(2, np.float32), np.zeros(64, np.uint8), 1, 0).wait()


def test_the_kernels_are_valid() -> None:
    made = to_kernels(Module.from_text(SCALE))
    assert made.validate() == []
    assert [one.name for one in made.kernel_signatures["scale"].parameters] == [
        "limits", "data", "factor", "start", "bytes of data"]


@pytest.mark.parametrize(("old", "new", "message"), [
    ("OpDecorate %data Binding 3\n", "", "the variable 'data' has no Binding"),
    ("%ptr_buffer = OpTypePointer StorageBuffer %buffer\n", "%four = OpConstant %uint 4\n"
     "%several = OpTypeArray %buffer %four\n%ptr_buffer = OpTypePointer StorageBuffer %several\n",
     "'data' is an array of descriptors"),
    ("BuiltIn GlobalInvocationId", "BuiltIn FragCoord", "the input variable FragCoord of shaders has no counterpart"),
    ("%glsl FClamp %more %low %high", "%glsl InterpolateAtCentroid %more", "InterpolateAtCentroid of GLSL.std.450"),
    ("OpMemberDecorate %buffer 1 Offset 16\n", "", "member 1 of the structure '%[0-9]+' has no Offset"),
    ("OpExecutionMode %main LocalSize 8 1 1\n", "", "has no size of work-groups"),
])
def test_what_kernels_cannot_be(old: str, new: str, message: str) -> None:
    assert old in SCALE
    with pytest.raises(cm.Error, match=message):
        cm.build(Module.from_text(SCALE.replace(old, new)))
