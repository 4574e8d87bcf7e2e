"""Where each arithmetic model comes from and what it was compared with: the rows of a table of docs/numerics.md."""

from __future__ import annotations

from dataclasses import dataclass

INTEGERS = "integers"


@dataclass(frozen=True)
class Evidence:
    """For some architectures and types of A and B: the source of the model, and what was compared with it."""

    architectures: tuple[str, ...]
    inputs: tuple[str, ...]
    source: str
    compared: str


_XMX = ("intel_gpu_pvc", "intel_gpu_dg2_g10", "intel_gpu_dg2_g11", "intel_gpu_dg2_g12")
_AMX = ("intel_cpu_spr", "intel_cpu_gnr")
_BEFORE_HOPPER = tuple(f"nvidia_gpu_sm_{number}" for number in (72, 75, 80, 86, 89))
_FLOATS = ("fp16", "bf16", "tf32")

EVIDENCE = (
    Evidence(_AMX, ("bf16",), "SDM, TDPBF16PS",
             "Emerald Rapids: 1.6 million dot products, ordinary and hostile, NaN payloads included, all equal; "
             "`benchmarks/hardware/amx.py` does it again, a test does where a processor has AMX, a sample of the "
             "results is a test everywhere. The same steps in SSE's fused multiply-adds"),
    Evidence(_AMX, ("fp16",), "SDM, TDPFP16PS",
             "the same steps in SSE's fused multiply-adds; no processor with AMX-FP16 was at hand (the same program "
             "compares a million dot products where one is)"),
    Evidence(_AMX, (INTEGERS,), "SDM, TDPBSSD, TDPBSUD, TDPBUSD, TDPBUUD",
             "Emerald Rapids: 1.2 million dot products of each instruction, ordinary and extreme, all equal; as above"),
    Evidence(_XMX, _FLOATS, "vISA, DPAS: the order of the stages; the choices above are those of Intel's emulations "
             "(SimpleOpenCLSamples, cm-cpu-emulation)", "rational numbers, every combination of choices; no hardware"),
    Evidence(_XMX, (INTEGERS,), "SPV_INTEL_subgroup_matrix_multiply_accumulate: low 32 bits of the exact result",
             "exact integers; no hardware"),
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
    Evidence(("amd_gpu_gfx90a",), ("fp16", "bf16", "fp64"),
             "MIOpen's documentation: what is flushed; MMA-Sim and Khattak: the tree",
             "MMA-Sim (CDNA2, bf16 by the `_1k` instructions): 537,600, all equal but for the bits of NaNs, which are "
             "a choice; no hardware"),
    Evidence(("amd_gpu_gfx90a",), (INTEGERS,), "an assumption: exact modulo 2^32", "exact integers; no hardware"),
)
"""Each architecture and type of A and B has one row."""
