"""Every row of the tables of OpSubgroupMatrixMultiplyAccumulateINTEL, and what is next to it, through the validator.

The rows come from coopmat.devices; what an instruction of a row looks like in SPIR-V is said here once more.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import pytest

from coopmat.devices.subgroup_matrices import SUBGROUP_MATRIX_MADS
from coopmat.spirv import Module
from coopmat.spirv.grammar import Op
from coopmat.spirv.validate import validate
from tests.kit.spirv.case import kernel

RULE = "sub-group-matrix-combination"
BITS = {"sint8": 0x11, "uint8": 0x10, "sint4": 0x41, "uint4": 0x40, "tf32": 0x100, "fp16": 0x400, "bf16": 0x1000}
"""Operand bits that A has; B has each of them one place to the left."""
ACCUMULATORS = {"sint32": ("uint", 0), "fp32": ("float", 0), "fp16": ("half", 0), "bf16": ("ushort", 0xC)}
A_TYPES = {(8, "sint8"): "uint", (8, "uint8"): "uint", (8, "sint4"): "uint", (8, "uint4"): "uint", (8, "fp16"): "uint",
           (8, "bf16"): "uint", (16, "tf32"): "float"}
"""Sub-group size and format of A → component type, where it is not ushort."""
FLAGS = [1 << bit for bit in range(14)]
SCALARS = ("ushort", "uint", "half", "float")


class Use(NamedTuple):
    """One instruction: K, the operand bits, and scalar type and number of components of C, A and B."""

    k: int
    flags: int
    c: tuple[str, int]
    a: tuple[str, int]
    b: tuple[str, int]


def rows() -> Iterator[tuple[int, Use]]:
    """Sub-group size and instruction of every row for every M."""
    for row in SUBGROUP_MATRIX_MADS:
        kind, bits = ACCUMULATORS[row.accumulator]
        for m in (1, 2, 4, 8):
            a = ("float", (m + 1) // 2) if row.a == "tf32" else (A_TYPES.get((row.sub_group_size, row.a), "ushort"), m)
            yield row.sub_group_size, Use(row.k, BITS[row.a] | BITS[row.b] << 1 | bits, (kind, m), a,
                                          ("float" if row.a == "tf32" else "uint", 8))


ROWS = list(rows())


def neighbours(use: Use) -> Iterator[Use]:
    """What differs from a row in one thing."""
    yield from (use._replace(flags=use.flags ^ flag) for flag in FLAGS)
    yield use._replace(flags=0)
    yield from (use._replace(k=k) for k in (1, 8, 16, 32, 64, 128) if k != use.k)
    for field in ("c", "a", "b"):
        kind, count = getattr(use, field)
        yield from (use._replace(**{field: (kind, other)}) for other in (1, 2, 3, 4, 8, 16) if other != count)
        yield from (use._replace(**{field: (other, count)}) for other in SCALARS if other != kind)


def text_type(kind: str, count: int) -> str:
    return f"%{kind}" if count == 1 else f"%v{count}{kind}"


def found_in(size: int, uses: list[Use]) -> list[bool]:
    """For each of these instructions in a kernel for one sub-group size, whether the validator finds it in no row."""
    types = {text_type(*kind) for use in uses for kind in (use.a, use.b, use.c)}
    body = "\n".join(f"%u{name[1:]} = OpUndef {name}" for name in sorted(types))
    body += "".join(f"\n%r{i} = OpSubgroupMatrixMultiplyAccumulateINTEL {text_type(*use.c)} %uint_{use.k} "
                    f"%u{text_type(*use.a)[1:]} %u{text_type(*use.b)[1:]} %u{text_type(*use.c)[1:]} None"
                    for i, use in enumerate(uses))
    module = Module.from_text(kernel(body, modes=f"OpExecutionMode %main SubgroupSize {size}",
                                     capabilities="SubgroupMatrixMultiplyAccumulateINTEL SubgroupDispatch",
                                     extensions="SPV_INTEL_subgroup_matrix_multiply_accumulate"))
    products = [item for item in module.instructions if item.opcode == Op.SubgroupMatrixMultiplyAccumulateINTEL]
    for item, use in zip(products, uses, strict=True):
        item.words = (*item.words[:4], use.flags)
    module = Module.from_bytes(module.to_bytes())
    broken = {violation.offset for violation in validate(module) if violation.rule == RULE}
    return [item.offset in broken for item in module.instructions if item.opcode == products[0].opcode]


def test_there_are_92_rows() -> None:
    assert len(ROWS) == len(set(ROWS)) == 92


@pytest.mark.parametrize("size", [8, 16, 32])
def test_each_row_is_for_its_sub_group_size(size: int) -> None:
    uses = list(dict.fromkeys(use for _, use in ROWS))
    assert found_in(size, uses) == [(size, use) not in ROWS for use in uses]


@pytest.mark.parametrize("size", [8, 16])
def test_what_differs_in_one_thing_is_no_row(size: int) -> None:
    uses = list(dict.fromkeys(near for own, use in ROWS if own == size for near in neighbours(use)))
    known = [(size, use) in ROWS for use in uses]
    assert known.count(True) < 60 < 1000 < known.count(False)
    assert found_in(size, uses) == [not is_row for is_row in known]
