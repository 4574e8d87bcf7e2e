"""The matrix combinations that the CPU lists: the rows of every device's table, and which of them it has instructions
for. It takes all others, too."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from coopmat.devices import ARCHITECTURES, Combination


@dataclass(frozen=True)
class Instruction:
    """What processors with one of some features multiply and accumulate in one instruction: the element types of A and
    B, and that of C and D."""

    operands: frozenset[str]
    accumulator: str
    features: tuple[str, ...]

    def does(self, row: Combination) -> bool:
        """Whether it is the instruction for a row."""
        return {row.atype, row.btype} <= self.operands and {row.ctype, row.dtype} == {self.accumulator}


INSTRUCTIONS = (
    Instruction(frozenset({"sint8", "uint8"}), "sint32", ("amx-int8", "avx512vnni", "avxvnni")),
    Instruction(frozenset({"bf16"}), "fp32", ("amx-bf16", "avx512bf16")),
    Instruction(frozenset({"fp16"}), "fp32", ("amx-fp16",)),
    Instruction(frozenset({"fp16"}), "fp16", ("avx512fp16",)),
    Instruction(frozenset({"tf32"}), "fp32", ("amx-tf32",)),
)
"""Products that are summed up as they are multiplied. A multiply-add of single numbers, as fp32 and fp64 have it,
makes no row native."""

ARCHITECTURE_OF_FEATURES: tuple[tuple[tuple[str, ...], str], ...] = (
    (("amx-int8", "amx-bf16", "amx-fp16"), "intel_cpu_gnr"),
    (("amx-int8", "amx-bf16"), "intel_cpu_spr"),
)
"""The architectures of sycl_ext_oneapi_device_architecture that are CPUs, by the features that make them; the first
that a processor has all of counts."""


def architecture_of(features: Collection[str], otherwise: str) -> str:
    """The name of the architecture of a processor with these features."""
    for needed, name in ARCHITECTURE_OF_FEATURES:
        if all(feature in features for feature in needed):
            return name
    return otherwise


def combinations(features: Collection[str]) -> list[Combination]:
    """Each row of a table once: first those that a processor with these features has instructions for."""
    rows = dict.fromkeys(row for description in ARCHITECTURES.values() for row in description.combinations)
    marked = [replace(row, native=_is_native(row, features)) for row in rows]
    return sorted(marked, key=lambda row: not row.native)


def _is_native(row: Combination, features: Collection[str]) -> bool:
    return any(instruction.does(row) and any(feature in features for feature in instruction.features)
               for instruction in INSTRUCTIONS)
