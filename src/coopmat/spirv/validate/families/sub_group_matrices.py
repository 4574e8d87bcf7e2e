"""Rules of SPV_INTEL_subgroup_matrix_multiply_accumulate, its legal combinations included."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from coopmat.devices.subgroup_matrices import B_COMPONENTS, M_SIZES, SUBGROUP_MATRIX_MADS, SubgroupMatrixMad
from coopmat.spirv.grammar import ExecutionMode, ExecutionModel, Op
from coopmat.spirv.grammar import MatrixMultiplyAccumulateOperands as Flags
from coopmat.spirv.validate.families.functions import reaching
from coopmat.spirv.validate.rules import Findings, rule
from coopmat.spirv.validate.types import Integers
from coopmat.spirv.validate.view import Group, ModuleView

SECTION = "SPV_INTEL_subgroup_matrix_multiply_accumulate"
ENVIRONMENT = "cl_intel_subgroup_matrix_multiply_accumulate, OpenCL SPIR-V Environment"
MULTIPLY = Op.SubgroupMatrixMultiplyAccumulateINTEL

Shape = tuple[int, int, int]
"""Opcode of a scalar type, its width, and the number of components."""

Key = tuple[int, int, Shape, Shape, Shape]
"""K, operand bits, and the shapes of accumulator, A and B."""

UNKNOWN_K = -1
_PLACES = {"A": "A", "B": "B", "C": "C", "Result": "the result"}
_SHOWN = {"A": "{type1}", "B": "{type2}", "C": "{type3}", "Result": "{type}"}
_PARTS = ("K", "the operand bits", "a result of", "A of", "B of")

_INT, _FLOAT = int(Op.TypeInt), int(Op.TypeFloat)
_ACCUMULATORS = {"sint32": (_INT, 32), "fp32": (_FLOAT, 32), "fp16": (_FLOAT, 16), "bf16": (_INT, 16)}


def combination(row: SubgroupMatrixMad, m: int) -> Key:
    """K, operand bits, and the shapes of accumulator, A and B that a row of the tables asks for."""
    kind = _FLOAT if row.a == "tf32" else _INT
    return (row.k, row.operands, (*_ACCUMULATORS[row.accumulator], m), (kind, row.a_bits, row.a_components(m)),
            (kind, 32, B_COMPONENTS))


_SIZES: dict[Key, set[int]] = {}
for _row in SUBGROUP_MATRIX_MADS:
    for _m in M_SIZES:
        _SIZES.setdefault(combination(_row, _m), set()).add(_row.sub_group_size)


@rule("sub-group-matrix-types", "A, B, C and the result are numbers or vectors of numbers; C has the result's type.",
      SECTION, MULTIPLY)
def sub_group_matrix_types(group: Group) -> Findings:
    number = (Op.TypeInt, Op.TypeFloat)
    yield ~group.result.scalars_of(*number), "the result of {op} is a number or a vector of numbers, not {type}"
    for place, name in ((1, "A"), (2, "B"), (3, "C")):
        yield ~group.value(place).scalars_of(*number), \
            f"{name} of {{op}} is a number or a vector of numbers, not {{type{place}}}"
    yield group.value(3) != group.result, "C of {op} has type {type3}; the result type {type} is needed"


@rule("sub-group-matrix-k", "K is a constant 32-bit integer.", SECTION, MULTIPLY)
def sub_group_matrix_k(group: Group) -> Findings:
    yield ~(group.value(0).is_int(32) & group.is_constant(0)), \
        "K of {op} is a constant 32-bit integer, not {def0} of {type0}"


@rule("sub-group-matrix-flags", "Operand bits fit the types that they reinterpret.",
      f"{SECTION}, Matrix Multiply Accumulate Operands", MULTIPLY)
def sub_group_matrix_flags(group: Group) -> Findings:
    flags = group.word(4)
    kinds = {"A": group.value(1), "B": group.value(2), "C": group.value(3), "Result": group.result}
    for flag in Flags:
        if not flag:
            continue
        name = next(name for name in kinds if flag.spelling.startswith(f"Matrix{name}"))
        of_tf32 = "TF32" in flag.spelling
        kind = kinds[name]
        fits = kind.scalars_of(Op.TypeFloat) & (kind.scalar.width == 32) if of_tf32 else kind.scalars_of(Op.TypeInt)
        yield (flags & int(flag) != 0) & ~fits, \
            f"{flag.spelling} needs {'32-bit floats' if of_tf32 else 'integers'} as " \
            f"{_PLACES[name]}, not {_SHOWN[name]}"


@rule("sub-group-matrix-combination", "Types, K and operand bits are a row of the table for the sub-group size.",
      ENVIRONMENT)
def sub_group_matrix_combination(view: ModuleView) -> Findings:
    for indices, key in _uses(view):
        sizes = _sizes(key)
        if not sizes:
            yield indices, (f"{{op}} with result {{type}}, K {{def0}}, A {{type1}}, B {{type2}} and the operand bits "
                            f"{key[1]:#x} is in no table, for sub-groups of 8 or of 16{_nearest(key)}")
            continue
        for index in indices.tolist():
            for name, size in _callers(view, index):
                if size is not None and size not in sizes:
                    yield index, (f"{{op}} with these types and operand bits works on sub-groups of {_or(sizes)}; the "
                                  f"kernel {name} requires {size}")


def _nearest(key: Key) -> str:
    """The rows of the tables that differ in one thing only, as the end of a message."""
    found = []
    for row, sizes in _SIZES.items():
        differences = [i for i, (mine, its) in enumerate(zip(key, row, strict=True)) if mine != its]
        if len(differences) == 1:
            at = differences[0]
            found.append(f"{_PARTS[at]} {_shown(at, row)} (sub-groups of {_or(sizes)})")
    if not found:
        return ": see docs/opencl-builtins.md for what is"
    return f": it would be with {', or '.join(found[:3])}"


def _shown(at: int, row: Key) -> str:
    """One part of a row, as a message says it."""
    if at == 0:
        return str(row[0])
    if at == 1:
        return f"{row[1]:#x}"
    opcode, width, components = (row[2], row[3], row[4])[at - 2]
    return f"{components} x {Op(opcode).spelling.removeprefix('Type').lower()} of {width} bits"


def _or(sizes: set[int]) -> str:
    return " or ".join(map(str, sorted(sizes)))


@rule("sub-group-matrix-size", "A kernel that multiplies matrices requires a sub-group size.", ENVIRONMENT,
      severity="warning")
def sub_group_matrix_size(view: ModuleView) -> Findings:
    for indices, key in _uses(view):
        sizes = _sizes(key)
        for index in indices.tolist() if sizes else ():
            for name, size in _callers(view, index):
                if size is None:
                    yield index, f"{{op}} needs sub-groups of {_or(sizes)}, but the kernel {name} requires " \
                                 "no size"


def _callers(view: ModuleView, index: int) -> Iterator[tuple[str, int | None]]:
    """The kernels that reach an instruction: name and required sub-group size (None: none)."""
    for entry in view.derived(reaching).get(int(view.flow.function_of[index]), ()):
        if entry.model == ExecutionModel.Kernel:
            sizes = [words[0] for mode, words in view.module.execution_modes(entry.function)
                     if mode == ExecutionMode.SubgroupSize and words]
            yield entry.name, sizes[0] if sizes else None


def _sizes(key: Key) -> set[int]:
    """The sub-group sizes that have a combination; with a K that is specialised, those of every K."""
    if key[0] != UNKNOWN_K:
        return _SIZES.get(key, set())
    return set().union(*(sizes for row, sizes in _SIZES.items() if row[1:] == key[1:]))


def _uses(view: ModuleView) -> Iterator[tuple[Integers, Key]]:
    """The instructions in parts of equal types, K and operand bits."""
    group = view.group(MULTIPLY)
    if group is None:
        return
    kinds = (group.result, group.value(1), group.value(2))
    columns = [group.constant(0), group.word(4)]
    for kind in kinds:
        columns += [kind.scalar.kind, kind.scalar.width, kind.components]
    distinct, inverse = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)
    for number, row in enumerate(distinct.tolist()):
        key = (row[0], row[1], _shape(row, 2), _shape(row, 5), _shape(row, 8))
        yield group.indices[inverse.reshape(-1) == number], key


def _shape(row: list[int], start: int) -> Shape:
    return row[start], row[start + 1], row[start + 2]
