"""docs/numerics.md: what each architecture computes, from the table of arithmetic models."""

from __future__ import annotations

from dataclasses import fields
from itertools import groupby

from coopmat.numerics.aligned_sum import AlignedSum
from coopmat.numerics.float32_steps import Float64Chain, PairwiseTree, TwoChains
from coopmat.numerics.hardware import ROWS, Arithmetic, Row
from coopmat.numerics.xmx import Chain, XmxArithmetic

_HEAD = """# Numerics

What `D = A*B + C` is, bit for bit, depends on the chip: in which order products are added, how many bits are kept on
the way, how sums are rounded, what happens to subnormal numbers. `coopmat.matrix_multiply_accumulate` computes it as an
architecture does, and every simulated device multiplies matrices with its own arithmetic:

```python
import numpy as np
import coopmat as cm

a = np.float16([[2.0**-13, 2.0**-12, 1, 0]])
b = np.float16([[2.0**-13], [2.0**-12], [1], [0]])
c = np.float32([[2.0**-26]])
for architecture in ("generic", "nvidia_gpu_sm_70", "nvidia_gpu_sm_90", "amd_gpu_gfx90a", "intel_gpu_pvc"):
    d = cm.matrix_multiply_accumulate(a, b, c, a_type="fp16", b_type="fp16", c_type="fp32", architecture=architecture)
    print(f"{architecture:18} {d[0, 0].item().hex()}")
```

`cm.SimulatorOptions(numerics="exact")` makes a simulated device compute exactly and round once, as `generic` does.
Integers are exact on all architectures, modulo 2^32 (clamped where SPIR-V's saturating accumulation asks for it).

## The models

A product of an instruction with more products than a block runs block after block, in ascending k; so do products with
more k than an instruction has. tf32 operands lose their 13 low bits, without rounding.

"""
_NOTES = """
- *aligned sum*: all products of a block and C are aligned at the largest exponent (that of a product is the sum of its
  factors' exponents; a subnormal factor has the least exponent of its format; the exponent is at least the floor), cut
  off towards zero after so many fraction bits, added exactly, and converted once: to fp32 by truncation, where a sum of
  2^128 or more is infinity, to fp16 to nearest even. A zero result is +0. Every NaN is 7FFFFFFF (fp16: 7FFF).
- *two chains*: fused multiply-adds from +0, one chain over the even k and one over the odd; their sum is added to C.
  Every step rounds to nearest even; subnormal results are zero. Subnormal bf16 operands and C are zero, fp16 operands
  are kept. NaNs are x86's: an operand's payload is kept, an invalid operation gives FFC00000.
- *pairwise tree*: groups of products are added pair by pair, and their sum to C; every operation rounds to float32;
  subnormal operands and results are zero. Every NaN is 7FC00000.
- *chain*: fused multiply-adds in float32 from C, k ascending, subnormal numbers kept; one conversion to D's format
  after the eight stages of an instruction. Every NaN is 7FC00000 (bf16: 7FC0, fp16: 7E00). That is a choice among
  several: [below](#what-is-chosen-for-xmx).
- *float64 chain*: IEEE fused multiply-adds from C, k ascending. Of several NaN operands that of B comes out, then the
  accumulator's, then that of A; an invalid operation gives FFF8000000000000.

D of fp16 with a C of fp32 (NVIDIA's wmma) is the sum for a D of fp32, rounded to nearest even at the end. On Hopper,
wmma's only shape for tf32, 16x16x8, is two instructions with four products each; mma.sync has one with eight.

"""
_XMX_HEAD = """
## What is chosen for XMX

Intel documents the order of a DPAS instruction's stages and the types; the rest of its floating-point arithmetic is not
documented, and nothing here was measured. Every such choice is a field of `coopmat.XmxArithmetic`, which
`matrix_multiply_accumulate(..., xmx=...)` and the simulated GPUs take:

```python
import numpy as np
import coopmat as cm

a = np.float16([[2.0**-12, 2.0**-12]])
c = np.float32([[1]])
for stage_sum in ("fused", "exact"):
    xmx = cm.XmxArithmetic(stage_sum=stage_sum)
    d = cm.matrix_multiply_accumulate(a, a.T, c, a_type="fp16", b_type="fp16", c_type="fp32",
                                      architecture="intel_gpu_pvc", xmx=xmx)
    print(f"{stage_sum:6} {d[0, 0].item().hex()}")
device = cm.device("sim:intel_gpu_pvc", options=cm.SimulatorOptions(xmx=xmx))
```

A kernel whose results must not depend on them uses integers, or numbers whose partial sums are exact in float32.

"""
_SOURCES = """
## Where the models come from, and how they were checked

- `nvidia_gpu_sm_90`: Fasi, Higham, Mikaitis and Pranesh (2021), Khattak and Mikaitis (2025), and measurements of ours.
  On an H200, `mma.sync` and `wgmma` for fp16, bf16, tf32, int8 and fp64 (22 instructions) were compared with the models
  on 1.1 million dot products each, ordinary and hostile ones (cancellation, subnormal numbers, overflow, NaNs,
  infinities, signed zeros): all equal. `benchmarks/hardware/tensor_cores.py` does it again; a sample of the chip's
  results is a test.
- `nvidia_gpu_sm_70` to `_89`: the same publications, whose models reproduce results of V100, A100, A2 and Ada GPUs.
  Compared with the published rule in rational numbers, not with hardware.
- `intel_cpu_spr`, `_gnr`: Intel's manual (TDPBF16PS, TDPFP16PS). Compared with the processor's own fused multiply-adds
  in that order, NaN payloads included, which the tile instruction was found to equal.
- `intel_gpu_*`: the order of the stages is Intel's (vISA documentation of DPAS), the rounding is undocumented and
  chosen as in Intel's own emulations. Every combination of choices is compared with its rule in rational numbers.
- `amd_gpu_gfx90a`: what is flushed is AMD's documentation, the tree that of Khattak and Mikaitis and of MMA-Sim.
  Compared with that rule.
"""


def numerics_page() -> str:
    """The page."""
    lines = [_HEAD + "| architectures | A and B | D | model |", "|---|---|---|---|"]
    by_rows = sorted(ROWS.items(), key=lambda item: list(ROWS.values()).index(item[1]))
    for _, group in groupby(by_rows, key=lambda item: id(item[1])):
        found = list(group)
        names = ", ".join(f"`{name}`" for name, _ in found)
        lines += [f"| {names} | {_shaped(row)} | {_from(row)} | {_described(row)} |" for row in found[0][1]]
    return "\n".join(lines) + "\n" + _NOTES + _XMX_HEAD + _choices() + _SOURCES


def _shaped(row: Row) -> str:
    return row.inputs if row.only_shape is None else f"{row.inputs}, {'x'.join(map(str, row.only_shape))}"


def _from(row: Row) -> str:
    return row.d_format if row.only_c is None else f"{row.d_format}, C {row.only_c}"


def _choices() -> str:
    """What Intel's documents leave open, and what is chosen."""
    lines = ["| field | about | documented | chosen | alternatives |", "|---|---|---|---|---|"]
    for row in fields(XmxArithmetic):
        meanings = {value: f"`{value}`: {text}" for value, text in row.metadata["meanings"].items()}
        chosen = meanings.pop(row.default)
        about, documented = row.metadata["about"], row.metadata["documented"]
        lines.append(f"| `{row.name}` | {about} | {documented} | {chosen} | {'; '.join(meanings.values())} |")
    return "\n".join(lines) + "\n"


def _described(row: Row) -> str:
    model: Arithmetic = row.arithmetic
    match model:
        case AlignedSum(products=products, fraction_bits=bits, floor=floor):
            least = "no floor" if floor is None else f"floor {floor}"
            return f"aligned sum of {products} products, {bits} fraction bits, {least}"
        case TwoChains(products=products):
            return f"two chains, {products} products in a tile"
        case PairwiseTree(group=size):
            return f"pairwise tree of {size}"
        case Chain(stage_products=products):
            return f"chain, {products} product{'s' if products > 1 else ''} in a stage"
        case Float64Chain():
            return "float64 chain"
    raise TypeError(type(model).__name__)
