"""Matrices of work-groups, for drivers: they stay as they are where the driver has them."""

from __future__ import annotations

from collections.abc import Iterator

from coopmat.devices import USES
from coopmat.devices.operands import types_text
from coopmat.diagnostics import KernelNotSupported
from coopmat.spirv.analysis.matrix_uses import possible_formats
from coopmat.spirv.analysis.places import place_of
from coopmat.spirv.analysis.types import PointerType
from coopmat.spirv.grammar import CooperativeMatrixUse, Op, StorageClass
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.transform.cut.choice import LOADS, Matrices, Product, Set_
from coopmat.spirv.transform.goal import MatrixSupport

_REFUSED = frozenset({Op.CooperativeMatrixPerElementOpEXT, Op.CooperativeMatrixReduceEXT,
                      Op.CooperativeMatrixConvertUseEXT, Op.CooperativeMatrixTransposeNV,
                      Op.CooperativeMatrixConstructCheckedINTEL, Op.CooperativeMatrixGetElementCoordINTEL,
                      Op.CooperativeMatrixGetCoordinateEXT})
"""Instructions that no driver is given for its matrices of work-groups."""


def is_of_work_groups(known: Matrices, one: Set_) -> bool:
    """Whether there are matrices of work-groups in a set."""
    return any(known.types[type_id].is_of_work_group for type_id in one.types)


def check_work_groups(known: Matrices, support: MatrixSupport, one: Set_) -> None:
    """KernelNotSupported, with the reason, for matrices of work-groups that are made somewhere and that a driver does
    not have."""
    types = {type_id for type_id in one.types if known.types[type_id].is_of_work_group}
    made = next((row for row in known.module.instructions if row.type_id in types), None)
    if made is None:
        return
    if not support.work_groups:
        raise _refused(known, made, f"{support.name} has no matrices of work-groups, such as the "
                       f"{known.types[made.type_id or 0]} here: use those of sub-groups")
    for row in uses_of(known, types):
        if row.opcode in _REFUSED:
            raise _refused(known, row, f"{support.name} is not given {row.name} of matrices of work-groups: use those "
                           "of sub-groups")
        if row.opcode in LOADS and not _is_global(known, row.words[0]):
            raise _refused(known, row, f"{support.name} does not load matrices of work-groups from local memory, nor "
                           "store them there")
    for product in one.products:
        if not _has(support, product):
            what = product.use
            raise _refused(known, made, f"{support.name} has no matrices of work-groups of {types_text(*what.formats)} "
                           f"with M={what.m} N={what.n} K={what.k}; it has {'; '.join(map(str, support.work_groups))}")
    for type_id in types - {type_id for product in one.products for type_id in product.types}:
        kind = known.types[type_id]
        use = USES[CooperativeMatrixUse(kind.use)]
        if not any(row.supports_matrix(name, use, kind.rows, kind.columns) for row in support.work_groups
                   for name in possible_formats(kind)):
            raise _refused(known, made, f"{support.name} has no {kind} of use '{use}'")


def _is_global(known: Matrices, pointer: int) -> bool:
    kind = known.table[known.module.definition(pointer).type_id or 0]
    return isinstance(kind, PointerType) and kind.storage == StorageClass.CrossWorkgroup


def _has(support: MatrixSupport, product: Product) -> bool:
    use = product.use
    return any(row.types == formats and row.supports_sizes(use.m, use.n, use.k)
               for row in support.work_groups for formats in use.choices())


def uses_of(known: Matrices, types: set[int]) -> Iterator[Instruction]:
    """The instructions that make a matrix of some types, or work on one."""
    for row in known.module.instructions:
        if row.type_id in types or any(known.module.defines(word) and known.module.definition(word).type_id in types
                                       for word in row.ids()):
            yield row


def _refused(known: Matrices, row: Instruction, text: str) -> KernelNotSupported:
    return KernelNotSupported(text, None, place_of(known.module, row))
