"""Rows of matrix instructions: what they refuse, and how operands are treated that no work-item holds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from coopmat.devices import ARCHITECTURES, Use
from coopmat.devices.instructions import Instruction, InstructionKind, Shape
from coopmat.devices.layouts import layout_of
from coopmat.devices.nvidia import MMA, WGMMA
from coopmat.devices.nvidia_fragments import mma_fragment, warp_group_fragment
from coopmat.diagnostics import KernelNotSupported
from coopmat.formats import FORMATS

HOPPER = ARCHITECTURES["nvidia_gpu_sm_90"]
IN_TENSOR_MEMORY = InstructionKind("made_up.mma", "warp_group", a=("shared memory", "tensor memory"),
                                   b=("shared memory",), accumulator=("tensor memory",))
MADE_UP = Instruction(IN_TENSOR_MEMORY, ("fp16", "bf16"), ("fp32",), (Shape(128, 64, 16),), None)
GOOD = Instruction(MMA, ("fp16",), ("fp32", "fp16"), (Shape(16, 8, 8),), mma_fragment)


@pytest.mark.parametrize(("use", "fmt", "message"), [
    ("accumulator", "fp32", "^the fp32 matrix of use 'accumulator' of made_up.mma m128n64k16 lives in tensor memory: "
                            "no work-item holds its elements$"),
    ("a", "bf16", "of made_up.mma m128n64k16 lives in shared memory or tensor memory: no work-item"),
    ("b", "fp16", "has no fp16 matrix of use 'b' for M=128 N=64 K=16; for this type it has M=16 N=16 K=16; "),
    ("accumulator", "fp64", "has no fp64 matrix of use 'accumulator' for M=128 N=64 K=16"),
])
def test_what_lives_in_tensor_memory_has_no_lanes(use: Use, fmt: str, message: str) -> None:
    device = replace(HOPPER, name="made_up", instructions=(*HOPPER.instructions, MADE_UP))
    with pytest.raises(KernelNotSupported, match=message):
        layout_of(device, use, fmt, 128, 64, 16)


def test_the_other_operands_of_such_an_instruction_may_have_lanes() -> None:
    """A in the registers of a warp group, as wgmma has it, the accumulator elsewhere."""
    kind = replace(IN_TENSOR_MEMORY, a=("registers",))
    row = Instruction(kind, ("fp16",), ("fp32",), (Shape(64, 32, 16), Shape(128, 32, 16)), warp_group_fragment)
    device = replace(HOPPER, name="made_up", instructions=(row,))
    layout = layout_of(device, "a", "fp16", 64, 32, 16)
    assert (layout.held.row == layout_of(HOPPER, "a", "fp16", 64, 32, 16).held.row).all()
    with pytest.raises(KernelNotSupported, match="lives in tensor memory"):
        layout_of(device, "accumulator", "fp32", 64, 32, 16)
    with pytest.raises(ValueError, match="four warps hold 64 rows of A and D, not 128 of use 'a'"):
        layout_of(device, "a", "fp16", 128, 32, 16)


def test_b_of_a_warp_group_lives_in_shared_memory() -> None:
    row = next(row for row in HOPPER.instructions if row.kind is WGMMA)
    assert row.has_fragment("a", "fp16")
    assert not row.has_fragment("b", "fp16")
    with pytest.raises(KernelNotSupported, match="of use 'b' of wgmma m64n8k16 lives in shared memory: no work-item"):
        row.layout("b", FORMATS["fp16"], row.shapes[0])


@pytest.mark.parametrize(("change", "message"), [
    ({"scope": "wave"}, "made_up.mma: unknown scope 'wave'"),
    ({"a": ()}, "an operand lives in some of registers, shared memory, tensor memory, not "),
    ({"b": ("texture",)}, r"tensor memory, not \('texture',\)"),
    ({"scope": "thread_block", "a": ("registers",)}, "a thread_block has no lanes that could hold an operand"),
    ({"makes_combinations": True}, "the components of cooperative matrices live in registers")])
def test_wrong_kinds(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replace(IN_TENSOR_MEMORY, **change)


@pytest.mark.parametrize(("change", "message"), [
    ({"inputs": ()}, "mma.sync: expected types of A, B and C"),
    ({"accumulators": ("sint32",)}, "all integers or all floats"),
    ({"inputs": ("fp16", "fp32")}, "A and B have one width"),
    ({"inputs": ("fp32",)}, "C and D at least this one"),
    ({"shapes": ()}, "expected positive sizes"),
    ({"shapes": (Shape(16, 0, 8),)}, "expected positive sizes"),
    ({"shapes": (Shape(16, 8, 8), Shape(16, 8, 8, is_transposed=True))}, "a shape is listed twice"),
    ({"fragments": None}, "what lives in registers has fragments, and nothing else has"),
    ({"kind": IN_TENSOR_MEMORY}, "what lives in registers has fragments, and nothing else has")])
def test_wrong_instructions(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replace(GOOD, **change)
