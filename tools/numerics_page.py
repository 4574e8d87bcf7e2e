"""docs/numerics.md: what each architecture computes, from the table of arithmetic models."""

from __future__ import annotations

from dataclasses import fields
from itertools import groupby

from coopmat.devices import EVIDENCE
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
`cm.CpuOptions(numerics="nvidia_gpu_sm_90")` makes kernels on the [CPU](cpu.md#options) compute as an architecture does,
with compiled code.
Integers are exact on all architectures, modulo 2^32, or clamped with `saturating=True` as SPIR-V's saturating
accumulation asks for (NVIDIA's `.satfinite`).

## The models

A product of an instruction with more products than a block runs block after block, in ascending k; so do products with
more k than an instruction has. tf32 operands lose their 13 low bits, without rounding.

"""
_NOTES = """
- *aligned sum*: all products of a block and C are aligned at the largest exponent (that of a product is the sum of its
  factors' exponents; a subnormal factor has the least exponent of its format; the exponent is at least the floor), cut
  off towards zero after so many fraction bits, added exactly, and converted once: to fp32 by truncation, where a sum of
  2^128 or more is infinity, to fp16 to nearest even. A block's sum of zero is +0. C's exponent is
  that of its number in fp32 (fp16 where D and C are), subnormal ones having the least. Every NaN is 7FFFFFFF (fp16:
  7FFF).
- *two chains*: fused multiply-adds from +0, one chain over the even k and one over the odd; their sum is added to C.
  Every step rounds to nearest even; subnormal results are zero. Subnormal bf16 operands and C are zero, fp16 operands
  are kept. NaNs are x86's: an operand's payload is kept, an invalid operation gives FFC00000.
- *pairwise tree*: groups of products are added pair by pair, and their sum to C; every operation rounds to float32;
  subnormal operands are +0, results zero; zeros keep their signs (MMA-Sim makes them +0). Every NaN is 7FC00000.
- *chain*: fused multiply-adds in float32 from C, k ascending, subnormal numbers kept; one conversion to D's format
  after the eight stages of an instruction. Every NaN is 7FC00000 (bf16: 7FC0, fp16: 7E00). That is a choice among
  several: [below](#what-is-chosen-for-xmx).
- *float64 chain*: IEEE fused multiply-adds from C, k ascending. Of several NaN operands that of B comes out, then the
  accumulator's, then that of A; an invalid operation gives FFF8000000000000.

D of fp16 with a C of fp32 (NVIDIA's wmma) is the sum for a D of fp32, rounded to nearest even at the end. On Hopper,
wmma's only shape for tf32, 16x16x8, is two blocks of four products; the model is that of mma.sync and wgmma, which add
eight. Two calls with K = 4 each give wmma's result.

"""
_REDUCTIONS = """
## The order of reductions

A reduction of a matrix (OpCooperativeMatrixReduceEXT) makes one number of a row, a column or all elements. The
documents leave the order open, so its rounding errors are those of the driver on a device. The simulator, on every
device, and the CPU combine by halves, bit for bit alike: of n elements, element i with element i + h, where h is n/2
rounded up (the one in the middle of an odd number stays), until one is left; of a matrix first its columns, each to one
element, and then these. So errors grow with the logarithm of n. Each combination rounds to the element type; a bf16 is
computed in fp32. Integers wrap. Minima and maxima are those of `fmin` and `fmax`: of a number and a NaN, the number.
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

Sources: *SDM* is Intel's Software Developer's Manual; *vISA* the documentation in Intel's graphics compiler; *PTX*
NVIDIA's PTX ISA; *Fasi*: Fasi, Higham, Mikaitis and Pranesh, Numerical behavior of NVIDIA tensor cores, 2021;
*Khattak*: Khattak and Mikaitis, 2025, with the models and recorded results of
github.com/north-numerical-computing/MATLAB-tensor-core (b12b5a7); *MMA-Sim*: Xie et al., 2025,
github.com/microsoft/MMA-Sim (c785138). The comparisons are of 2026-11-22. Tests compare every model with its rule in
exact rational numbers or in the processor's own arithmetic as well.

| architectures | A and B | source | compared with |
|---|---|---|---|
"""
_FINDINGS = """
Recorded results are those of the publication's authors: ordinary numbers, one dot product each, of one block. All
150,000 (V100, A100, A2, RTX 1000 Ada, L40S, H100, H200, B200; fp16, bf16, tf32 to fp32, fp16 to fp16) equal the models;
the 20,000 of a B200 equal the model of `nvidia_gpu_sm_90`.

MMA-Sim was run on random and hostile operands, those of `benchmarks/hardware/inputs.py`. It gives a zero the exponent
-126, so that a zero product can push other terms out of the sum; here zeros are dropped. Without that rule all of its
results are the models'. An H200 decides: its recorded sample equals the models, and with MMA-Sim's rule 17 of its
results would not.
"""


def numerics_page() -> str:
    """The page."""
    lines = [_HEAD + "| architectures | A and B | D | model |", "|---|---|---|---|"]
    by_rows = sorted(ROWS.items(), key=lambda item: list(ROWS.values()).index(item[1]))
    for _, group in groupby(by_rows, key=lambda item: item[1]):
        found = list(group)
        names = ", ".join(f"`{name}`" for name, _ in found)
        lines += [f"| {names} | {row.inputs} | {_from(row)} | {_described(row)} |" for row in found[0][1]]
    end = _XMX_HEAD + _choices() + _SOURCES + _evidence() + _FINDINGS
    return "\n".join(lines) + "\n" + _NOTES + _REDUCTIONS.lstrip() + end


def _evidence() -> str:
    rows = ((", ".join(f"`{name}`" for name in row.architectures), ", ".join(row.inputs), row.source, row.compared)
            for row in EVIDENCE)
    return "".join(f"| {' | '.join(cells)} |\n" for cells in rows)


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
