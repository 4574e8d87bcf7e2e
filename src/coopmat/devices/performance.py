"""What the makers publish of a product of each architecture: peaks, bandwidth, and what a unit has room for.

A peak is that of dense matrices, without sparsity. What nobody publishes is left out: a report says then that it is not
known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from coopmat.formats import format_of

KIB = 1 << 10
TERA, GIGA = 1e12, 1e9


@dataclass(frozen=True, slots=True)
class Room:
    """What the work-groups that are on a unit at the same time share: ``sub_groups`` and ``work_groups`` at most (None:
    not published), and bytes of registers and of local memory. ``source`` says who says so."""

    sub_groups: int
    work_groups: int | None
    registers: int
    local_memory: int
    source: str

    def __post_init__(self) -> None:
        if min(self.sub_groups, self.registers, self.local_memory, self.work_groups or 1) < 1 or not self.source:
            raise ValueError(f"a unit's limits are positive and have a source, found {self}")


@dataclass(frozen=True, slots=True)
class Performance:
    """A product: ``units`` (as ``unit_name`` calls them) at ``clock`` GHz; its peaks by element type in TFLOP/s or
    TOP/s, of operands of matrices and of scalars; the ``bandwidth`` of its memory in GB/s; the ``banks`` of local
    memory (words of 4 bytes; 0: it is ordinary memory)."""

    product: str
    units: int
    unit_name: str
    clock: float
    matrix: Mapping[str, float]
    scalar: Mapping[str, float]
    bandwidth: float
    banks: int
    source: str
    room: Room | None = None

    def __post_init__(self) -> None:
        for name in (*self.matrix, *self.scalar):
            format_of(name)
        numbers = (self.units, self.clock, self.bandwidth, *self.matrix.values(), *self.scalar.values())
        if min(numbers) <= 0 or "fp32" not in self.scalar or not self.source:
            raise ValueError(f"{self.product}: numbers are positive, have a source, and the one of fp32 is there")

    def matrix_peak(self, operand: str) -> float | None:
        """Operations a second with matrices whose A has this element type; None where it is not published."""
        found = self.matrix.get(operand.replace("uint", "sint"))
        return None if found is None else found * TERA

    @property
    def lane_rate(self) -> float:
        """Operations of single work-items a second: half of the peak of fp32, which counts a multiply-add as two."""
        return self.scalar["fp32"] * TERA / 2

    @property
    def bytes_per_second(self) -> float:
        """Of its memory."""
        return self.bandwidth * GIGA

    @property
    def passes_per_second(self) -> float:
        """Passes through the banks of all units' local memories: one a cycle."""
        return self.units * self.clock * GIGA


_CUDA = "CUDA C++ Programming Guide, table of technical specifications per compute capability"
_XE = "oneAPI GPU Optimization Guide, Intel Xe GPU Architecture"


def _sm(threads: int, blocks: int, shared: int) -> Room:
    """A streaming multiprocessor, with 64 Ki registers; shared memory in KiB."""
    return Room(threads // 32, blocks, 256 * KIB, shared * KIB, _CUDA)


_DG2 = Room(128, None, 512 * KIB, 128 * KIB, f"{_XE}: 16 vector engines of 8 threads, 128 registers of 32 bytes each")

PERFORMANCE: dict[str, Performance] = {
    "nvidia_gpu_sm_70": Performance(
        "NVIDIA V100 SXM2", 80, "SM", 1.53, {"fp16": 125}, {"fp32": 15.7, "fp16": 31.4, "fp64": 7.8}, 900, 32,
        "NVIDIA Tesla V100 GPU Architecture (white paper)", _sm(2048, 32, 96)),
    "nvidia_gpu_sm_75": Performance(
        "NVIDIA T4", 40, "SM", 1.59, {"fp16": 65, "sint8": 130, "sint4": 260}, {"fp32": 8.1}, 320, 32,
        "NVIDIA T4 data sheet; Turing Architecture (white paper)", _sm(1024, 16, 64)),
    "nvidia_gpu_sm_80": Performance(
        "NVIDIA A100 SXM4 80 GB", 108, "SM", 1.41,
        {"fp16": 312, "bf16": 312, "tf32": 156, "fp64": 19.5, "sint8": 624, "sint4": 1248},
        {"fp32": 19.5, "fp16": 78, "bf16": 39, "fp64": 9.7}, 2039, 32,
        "NVIDIA A100 data sheet; A100 Tensor Core GPU Architecture (white paper)", _sm(2048, 32, 164)),
    "nvidia_gpu_sm_86": Performance(
        "NVIDIA A40", 84, "SM", 1.74, {"fp16": 149.7, "bf16": 149.7, "tf32": 74.8, "sint8": 299.3, "sint4": 598.7},
        {"fp32": 37.4}, 696, 32, "NVIDIA A40 data sheet", _sm(1536, 16, 100)),
    "nvidia_gpu_sm_89": Performance(
        "NVIDIA L40S", 142, "SM", 2.52, {"fp16": 362, "bf16": 362, "tf32": 183, "sint8": 733, "sint4": 733},
        {"fp32": 91.6}, 864, 32, "NVIDIA L40S data sheet", _sm(1536, 24, 100)),
    "nvidia_gpu_sm_90": Performance(
        "NVIDIA H200 SXM", 132, "SM", 1.83, {"fp16": 989, "bf16": 989, "tf32": 494, "fp64": 67, "sint8": 1979},
        {"fp32": 67, "fp64": 34}, 4800, 32,
        "NVIDIA H200 data sheet (half of what it gives with sparsity); clock: H100 Tensor Core GPU Architecture (white "
        "paper)", _sm(2048, 32, 228)),
    "intel_gpu_pvc": Performance(
        "Intel Data Center GPU Max 1550", 128, "Xe-core", 1.6, {"fp16": 839, "bf16": 839, "tf32": 419, "sint8": 1678},
        {"fp32": 52.4, "fp64": 52.4}, 3276.8, 16,
        f"{_XE}: operations per Xe-core and clock, at the 1.6 GHz of Intel's product specification; banks: SLM",
        Room(64, None, 512 * KIB, 128 * KIB, f"{_XE}: 8 vector engines of 8 threads, 128 registers of 64 bytes each")),
    "intel_gpu_dg2_g10": Performance(
        "Intel Arc A770", 32, "Xe-core", 2.1, {"fp16": 137.6, "bf16": 137.6, "sint8": 275.3}, {"fp32": 17.2}, 560, 16,
        f"{_XE}: operations per Xe-core and clock, at the 2.1 GHz of Intel's product specification; banks: SLM",
        _DG2),
    "intel_gpu_dg2_g11": Performance(
        "Intel Arc A380", 8, "Xe-core", 2.0, {"fp16": 32.8, "bf16": 32.8, "sint8": 65.5}, {"fp32": 4.1}, 186, 16,
        f"{_XE}: operations per Xe-core and clock, at the 2.0 GHz of Intel's product specification; banks: SLM",
        _DG2),
    "intel_cpu_spr": Performance(
        "Intel Xeon CPU Max 9480", 56, "core", 1.9, {"bf16": 109, "sint8": 217.9}, {"fp32": 6.8, "fp64": 3.4}, 1638, 0,
        "Intel's product specification (56 cores, 1.9 GHz base; 64 GB of HBM2e on four stacks of 3.2 Gb/s a pin); "
        "Optimization Reference Manual: 1024 bf16 and 2048 int8 operations of AMX, 64 fp32 of AVX-512 a cycle"),
    "intel_cpu_gnr": Performance(
        "Intel Xeon 6980P", 128, "core", 2.0, {"bf16": 262, "fp16": 262, "sint8": 524}, {"fp32": 16.4, "fp64": 8.2},
        845, 0, "Intel's product specification (128 cores, 2.0 GHz base, 12 channels of MRDIMM 8800); operations a "
        "cycle as of intel_cpu_spr"),
    "amd_gpu_gfx90a": Performance(
        "AMD Instinct MI250X, one of its two dies", 110, "CU", 1.7,
        {"fp16": 191.5, "bf16": 191.5, "sint8": 191.5, "fp64": 47.9}, {"fp32": 23.9, "fp64": 23.9}, 1638, 32,
        "AMD Instinct MI250X data sheet, a half of each number; banks: AMD CDNA2 instruction set, local data share",
        Room(32, None, 512 * KIB, 64 * KIB, "AMD CDNA2 instruction set: 4 SIMDs of 8 waves and 512 registers; HIP "
             "documentation, hardware features")),
}
"""By architecture. Architectures without a row have no published numbers that could be told from those of others."""

_TYPES = ("fp16", "bf16", "tf32", "fp64", "sint8", "sint4")

NOMINAL = Performance("a nominal device", 64, "unit", 1.0, dict.fromkeys(_TYPES, 128.0), {"fp32": 16}, 1000, 32,
                      "coopmat's choice: round numbers in the proportions of a GPU")
"""What shares of time are worked out with where nothing is published."""
