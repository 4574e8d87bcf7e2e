"""NVIDIA's tensor cores: what each architecture has, a row for each.

Combinations: sycl_ext_oneapi_matrix, appendix "Nvidia Tensor Cores Supported Combinations". The appendix gives each of
its rows a minimum compute capability, of which there are three, and says that what is compiled for one runs on devices
of this capability and greater ones: a device has every row up to its own. The devices are those of
sycl_ext_oneapi_device_architecture. PTX ISA agrees, for sm_75, 86, 89 and 90 too: wmma.mma needs "sm_70 or higher" for
fp16, sm_72 for 8-bit integers, sm_80 for bf16, tf32 and fp64. The combinations are the types and shapes of wmma.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import permutations

from coopmat.devices.arithmetic import INTEGERS, ArithmeticFacts, Evidence, Float64Steps, TensorCoreBlocks
from coopmat.devices.instructions import Fragments, Instruction, InstructionKind, Shape
from coopmat.devices.model import Combination, DeviceDescription, Limits
from coopmat.devices.nvidia_fragments import (
    mma_fragment,
    quad_pair_fragment,
    volta_fragment,
    warp_group_fragment,
    wmma_fragment,
)

# --------------------------------------------------------------------------------------
# Instructions
# --------------------------------------------------------------------------------------

WMMA = InstructionKind("wmma", "warp", a=("registers",), b=("registers",), accumulator=("registers",),
                       makes_combinations=True)
MMA = InstructionKind("mma.sync", "warp", a=("registers",), b=("registers",), accumulator=("registers",))
WGMMA = InstructionKind("wgmma", "warp_group", a=("registers", "shared memory"), b=("shared memory",),
                        accumulator=("registers",))

_HALVES = ("fp32", "fp16")  # of products of fp16
_INT8, _INT4 = ("sint8", "uint8"), ("sint4", "uint4")
_WMMA_SHAPES = (Shape(16, 16, 16), Shape(8, 32, 16, is_transposed=True), Shape(32, 8, 16))


def _wmma(inputs: str, accumulators: tuple[str, ...], fragments: Fragments,
          shapes: tuple[Shape, ...] = _WMMA_SHAPES) -> Instruction:
    return Instruction(WMMA, (inputs,), accumulators, shapes, fragments)


def _mma(inputs: tuple[str, ...], accumulators: tuple[str, ...], *shapes: tuple[int, int, int],
         fragments: Fragments = mma_fragment) -> Instruction:
    return Instruction(MMA, inputs, accumulators, tuple(Shape(*shape) for shape in shapes), fragments)


def _wgmma(inputs: tuple[str, ...], accumulators: tuple[str, ...], k: int) -> Instruction:
    return Instruction(WGMMA, inputs, accumulators, tuple(Shape(64, n, k) for n in range(8, 257, 8)),
                       warp_group_fragment)


_QUAD_PAIRS = _mma(("fp16",), _HALVES, (8, 8, 4), fragments=quad_pair_fragment)

_SM_70 = (
    _wmma("fp16", _HALVES, volta_fragment),
    _QUAD_PAIRS,
)
_SM_72 = (
    *_SM_70,
    *(_wmma(inputs, ("sint32",), volta_fragment) for inputs in _INT8),
)
_SM_75 = (
    _wmma("fp16", _HALVES, wmma_fragment),
    *(_wmma(inputs, ("sint32",), wmma_fragment) for inputs in _INT8),
    _QUAD_PAIRS,
    _mma(("fp16",), _HALVES, (16, 8, 8)),
    _mma(_INT8, ("sint32",), (8, 8, 16)),
    _mma(_INT4, ("sint32",), (8, 8, 32)),
)
_SM_80 = (
    _wmma("fp16", _HALVES, wmma_fragment),
    *(_wmma(inputs, ("sint32",), wmma_fragment) for inputs in _INT8),
    _wmma("tf32", ("fp32",), wmma_fragment, (Shape(16, 16, 8),)),
    _wmma("bf16", ("fp32",), wmma_fragment),
    _wmma("fp64", ("fp64",), mma_fragment, (Shape(8, 8, 4),)),  # a shape of mma.sync, too, whose fragment is the same
    _QUAD_PAIRS,
    _mma(("fp16",), _HALVES, (16, 8, 8), (16, 8, 16)),
    _mma(("bf16",), ("fp32",), (16, 8, 8), (16, 8, 16)),
    _mma(("tf32",), ("fp32",), (16, 8, 4), (16, 8, 8)),
    _mma(_INT8, ("sint32",), (8, 8, 16), (16, 8, 16), (16, 8, 32)),
    _mma(_INT4, ("sint32",), (8, 8, 32), (16, 8, 32), (16, 8, 64)),
    _mma(("fp64",), ("fp64",), (8, 8, 4)),
)
_SM_90 = (
    *_SM_80,
    _mma(("fp64",), ("fp64",), (16, 8, 4), (16, 8, 8), (16, 8, 16)),
    _wgmma(("fp16",), _HALVES, 16),
    _wgmma(("bf16",), ("fp32",), 16),
    _wgmma(("tf32",), ("fp32",), 8),
    _wgmma(_INT8, ("sint32",), 32),
)

# --------------------------------------------------------------------------------------
# Arithmetic
# --------------------------------------------------------------------------------------

_NANS = {"fp32": 0x7FFFFFFF, "fp16": 0x7FFF}
_FLOAT64 = Float64Steps(0xFFF8000000000000, "bca")

_VOLTA = (TensorCoreBlocks({"fp16": 4}, 23, {"fp32": None, "fp16": -19}, _NANS),)
_TURING = (TensorCoreBlocks({"fp16": 8}, 24, {"fp32": -132, "fp16": -20}, _NANS),)
_AMPERE = (
    TensorCoreBlocks({"fp16": 8, "bf16": 8, "tf32": 4}, 24, {"fp32": -132, "fp16": -20}, _NANS),
    _FLOAT64,
)
_HOPPER = (
    TensorCoreBlocks({"fp16": 16, "bf16": 16, "tf32": 8}, 25, {"fp32": -133, "fp16": -21}, _NANS),
    _FLOAT64,
)

# --------------------------------------------------------------------------------------
# Architectures
# --------------------------------------------------------------------------------------

_LIMITS_SOURCE = "CUDA C++ Programming Guide, table of technical specifications per compute capability"


def _gpu(compute_capability: int, shared_memory: int, instructions: tuple[Instruction, ...],
         arithmetic: tuple[ArithmeticFacts, ...]) -> DeviceDescription:
    """A row. ``shared_memory``: KiB that a thread block may have, after it has asked for more than 48."""
    return DeviceDescription(
        f"nvidia_gpu_sm_{compute_capability}", "nvidia", (32,), tuple(_combinations(instructions)),
        limits=Limits(shared_memory << 10, 1024, _LIMITS_SOURCE), instructions=instructions, arithmetic=arithmetic)


def _combinations(instructions: Iterable[Instruction]) -> Iterator[Combination]:
    """Of wmma, where A and B have one type, and C and D each any of theirs."""
    for row in instructions:
        if row.kind.makes_combinations:
            alike = [(fmt, fmt) for fmt in row.accumulators]
            yield from (Combination.row(ab, ab, c, d, *shape.sizes) for ab in row.inputs
                        for c, d in (*alike, *permutations(row.accumulators, 2)) for shape in row.shapes)


ARCHITECTURES = (
    _gpu(70, 96, _SM_70, _VOLTA),
    _gpu(72, 48, _SM_72, _VOLTA),
    _gpu(75, 64, _SM_75, _TURING),
    _gpu(80, 163, _SM_80, _AMPERE),
    _gpu(86, 99, _SM_80, _AMPERE),
    _gpu(89, 99, _SM_80, _AMPERE),
    _gpu(90, 227, _SM_90, _HOPPER),
)

# --------------------------------------------------------------------------------------
# Where the arithmetic comes from
# --------------------------------------------------------------------------------------

_FLOATS = ("fp16", "bf16", "tf32")
_BEFORE_HOPPER = tuple(f"nvidia_gpu_sm_{number}" for number in (72, 75, 80, 86, 89))

EVIDENCE = (
    Evidence(("nvidia_gpu_sm_70",), ("fp16",), "Fasi; Khattak; MMA-Sim",
             "V100: 10,000 recorded results, all equal. MMA-Sim: 89,600, one differs (a zero's exponent, see below)"),
    Evidence(("nvidia_gpu_sm_72",), ("fp16",), "Volta's tensor cores: the model of sm_70", "nothing of its own"),
    Evidence(("nvidia_gpu_sm_75",), ("fp16",), "MMA-Sim (m16n8k8: one block); floors as on Ampere: an assumption",
             "MMA-Sim: 179,200, all equal; no recorded results"),
    Evidence(("nvidia_gpu_sm_80",), _FLOATS, "Fasi; Khattak; MMA-Sim",
             "A100: 20,000 recorded results, all equal (each fills the first block only). MMA-Sim: 268,800, 139 differ "
             "(a zero's exponent)"),
    Evidence(("nvidia_gpu_sm_86",), _FLOATS, "Khattak: the model of sm_80",
             "A2: 20,000 recorded results, all equal (first block)"),
    Evidence(("nvidia_gpu_sm_89",), _FLOATS, "Khattak: the model of sm_80",
             "RTX 1000 Ada and L40S: 20,000 recorded results each, all equal (first block)"),
    Evidence(("nvidia_gpu_sm_80", "nvidia_gpu_sm_86", "nvidia_gpu_sm_89"), ("fp64",),
             "PTX: a fused multiply-add; the order is MMA-Sim's, NaNs are those of an H200",
             "rational numbers; MMA-Sim: 44,800, all equal up to NaN payloads"),
    Evidence(_BEFORE_HOPPER, (INTEGERS,), "PTX, mma: exact, wrapping or .satfinite", "exact integers; an H200 (sm_90)"),
    Evidence(("nvidia_gpu_sm_90",), (*_FLOATS, "fp64", INTEGERS), "Fasi; Khattak; measurements of ours",
             "H200: `mma.sync` and `wgmma`, 26 instructions, a million dot products each, ordinary and hostile "
             "(cancellation, subnormal numbers, overflow, NaNs, infinities, signed zeros), and `wmma`, all 23 rows of "
             "the table, 280,000 each, integers with saturation, too: all equal; `benchmarks/hardware/tensor_cores.py` "
             "and `wmma_fragments.py` do it again, samples of the chip's results are tests. H100 and H200: 20,000 "
             "recorded results each, all equal"),
)
