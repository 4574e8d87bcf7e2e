"""Modules made to take long, to take much memory, or to nest deeply."""

from __future__ import annotations

import itertools
import struct
from collections.abc import Callable

from coopmat.spirv import Module, Op, make
from coopmat.spirv.grammar import (
    AddressingModel,
    Capability,
    Decoration,
    ExecutionModel,
    MemoryModel,
    StorageClass,
)

HEAD = (make(Op.Capability, Capability.Kernel), make(Op.Capability, Capability.Addresses),
        make(Op.Capability, Capability.Linkage), make(Op.MemoryModel, AddressingModel.Physical64, MemoryModel.OpenCL))
VOID, UINT, BOOL, FUNCTION, ONE, TRUE = range(1, 7)
TYPES = (make(Op.TypeVoid, result_id=VOID), make(Op.TypeInt, 32, 0, result_id=UINT),
         make(Op.TypeBool, result_id=BOOL), make(Op.TypeFunction, VOID, result_id=FUNCTION),
         make(Op.Constant, 1, type_id=UINT, result_id=ONE), make(Op.ConstantTrue, type_id=BOOL, result_id=TRUE))
FIRST = 10
N = 10_000


def binary(*parts: object) -> bytes:
    """A module of these instructions (or lists of them) behind the usual head and types."""
    items = [*HEAD, *TYPES]
    for part in parts:
        items += part if isinstance(part, list) else [part]
    return Module(items).to_bytes()


def kernel(code: list, entry: int = FIRST) -> list:
    """A kernel around some blocks."""
    return [make(Op.Function, 0, FUNCTION, type_id=VOID, result_id=entry), *code, make(Op.FunctionEnd)]


def header(bound: int = 4, count: int = 0) -> bytes:
    return struct.pack("<6I", 0x07230203, 0x00010400, 0, bound, 0, count << 16 | Op.Nop)


def nested_structures() -> bytes:
    return binary([make(Op.TypeStruct, FIRST + i - 1 if i else UINT, result_id=FIRST + i) for i in range(N)])


def nested_arrays() -> bytes:
    return binary([make(Op.TypeArray, FIRST + i - 1 if i else UINT, ONE, result_id=FIRST + i) for i in range(N)])


def doubling_structures() -> bytes:
    """Each structure holds the one before it twice: 2**60 members in all."""
    pairs = [(FIRST + i - 1 if i else UINT) for i in range(60)]
    return binary([make(Op.TypeStruct, inner, inner, result_id=FIRST + i) for i, inner in enumerate(pairs)],
                  make(Op.ConstantNull, type_id=FIRST + 59, result_id=FIRST + 100))


def pointer_cycle() -> bytes:
    pointer, structure = FIRST, FIRST + 1
    return binary(make(Op.TypeForwardPointer, pointer, StorageClass.CrossWorkgroup),
                  make(Op.TypeStruct, pointer, result_id=structure),
                  make(Op.TypePointer, StorageClass.CrossWorkgroup, structure, result_id=pointer))


def type_of_itself() -> bytes:
    return binary(make(Op.TypeStruct, FIRST, result_id=FIRST))


def array_of_itself() -> bytes:
    return binary(make(Op.TypeArray, FIRST + 1, ONE, result_id=FIRST),
                  make(Op.TypeArray, FIRST, ONE, result_id=FIRST + 1))


def constant_of_itself() -> bytes:
    return binary(make(Op.SpecConstantOp, Op.IAdd, FIRST, ONE, type_id=UINT, result_id=FIRST))


def chained_constants() -> bytes:
    return binary([make(Op.SpecConstantOp, Op.IAdd, FIRST + i - 1 if i else ONE, ONE, type_id=UINT,
                        result_id=FIRST + i) for i in range(N)],
                  make(Op.TypeArray, UINT, FIRST + N - 1, result_id=FIRST + N))


def recursion() -> bytes:
    return binary(make(Op.EntryPoint, ExecutionModel.Kernel, FIRST, "k"),
                  kernel([make(Op.Label, result_id=FIRST + 1),
                          make(Op.FunctionCall, FIRST, type_id=VOID, result_id=FIRST + 2), make(Op.Return)]))


def chained_calls() -> bytes:
    """N functions, of which each calls the next."""
    code: list = []
    for i in range(N):
        start = FIRST + 3 * i
        call = [make(Op.FunctionCall, start + 3, type_id=VOID, result_id=start + 2)] if i < N - 1 else []
        code += kernel([make(Op.Label, result_id=start + 1), *call, make(Op.Return)], start)
    return binary(code)


def many_kernels_one_function() -> bytes:
    """Many kernels that reach the same many functions."""
    code: list = []
    for i in range(300):
        start = FIRST + 3 * i
        call = [make(Op.FunctionCall, start + 3, type_id=VOID, result_id=start + 2)] if i < 299 else []
        code += kernel([make(Op.Label, result_id=start + 1), *call, make(Op.Return)], start)
    entries = [make(Op.EntryPoint, ExecutionModel.Kernel, FIRST + 3 * i, f"k{i}") for i in range(300)]
    return Module([*HEAD, *entries, *TYPES, *code]).to_bytes()


def chained_blocks() -> bytes:
    code = [make(Op.Label, result_id=FIRST + 1)]
    for i in range(N):
        code += [make(Op.Branch, FIRST + 2 + i), make(Op.Label, result_id=FIRST + 2 + i)]
    return binary(kernel([*code, make(Op.Return)]))


def ladder_of_branches() -> bytes:
    """Blocks of which each goes on to the next two: as many paths as Fibonacci numbers."""
    code: list = []
    for i in range(N):
        code += [make(Op.Label, result_id=FIRST + 1 + i),
                 make(Op.BranchConditional, TRUE, FIRST + 1 + min(i + 1, N - 1), FIRST + 1 + min(i + 2, N - 1))
                 if i < N - 1 else make(Op.Return)]
    return binary(kernel(code))


def nested_loops() -> bytes:
    """Loops within loops."""
    depth = 2000
    code = [make(Op.Label, result_id=FIRST + 1), make(Op.Branch, FIRST + 2)]
    for i in range(depth):
        header, merge, going_on = (FIRST + 2 + i, FIRST + 2 + depth + i, FIRST + 2 + 2 * depth + i)
        inner = FIRST + 3 + i if i < depth - 1 else going_on
        code += [make(Op.Label, result_id=header), make(Op.LoopMerge, merge, going_on, 0),
                 make(Op.BranchConditional, TRUE, inner, merge)]
    for i in reversed(range(depth)):
        outer = FIRST + 2 + 2 * depth + i - 1 if i else 0
        code += [make(Op.Label, result_id=FIRST + 2 + 2 * depth + i), make(Op.Branch, FIRST + 2 + i),
                 make(Op.Label, result_id=FIRST + 2 + depth + i), make(Op.Branch, outer) if i else make(Op.Return)]
    return binary(kernel(code))


def wide_phi() -> bytes:
    """A block with thousands of parents, and values from each."""
    count, join = 8000, FIRST + 50_000
    cases = [word for i in range(count) for word in (i, FIRST + 2 + i)]
    code = [make(Op.Label, result_id=FIRST + 1), make(Op.Switch, ONE, FIRST + 2, *cases)]
    for i in range(count):
        code += [make(Op.Label, result_id=FIRST + 2 + i), make(Op.Branch, join)]
    phi = [word for i in range(count) for word in (ONE, FIRST + 2 + i)]
    code += [make(Op.Label, result_id=join)]
    code += [make(Op.Phi, *phi, type_id=UINT, result_id=join + 1 + i) for i in range(8)]
    return binary(kernel([*code, make(Op.Return)]))


def decoration_groups() -> bytes:
    """Groups that are applied to groups, twice each: the decorations double."""
    groups = [FIRST + i for i in range(40)]
    code = [make(Op.Decorate, groups[0], Decoration.Restrict), make(Op.DecorationGroup, result_id=groups[0])]
    for one, other in itertools.pairwise(groups):
        code += [make(Op.DecorationGroup, result_id=other), make(Op.GroupDecorate, one, other, other)]
    return Module([*HEAD, *code, *TYPES]).to_bytes()


def many_names() -> bytes:
    names = [make(Op.Name, UINT, "the same name") for _ in range(N)]
    return Module([*HEAD, *names, *TYPES]).to_bytes()


def equal_names() -> bytes:
    """N ids of one name: each friendly name must differ."""
    names = [make(Op.Name, FIRST + i, "x") for i in range(N)]
    values = [make(Op.Constant, i, type_id=UINT, result_id=FIRST + i) for i in range(N)]
    return Module([*HEAD, *names, *TYPES, *values]).to_bytes()


def capabilities() -> bytes:
    return Module([*HEAD, *(make(Op.Capability, i) for i in range(N)), *TYPES]).to_bytes()


def long_string() -> bytes:
    return Module([*HEAD, make(Op.String, "\\" * 250_000, result_id=FIRST), *TYPES]).to_bytes()


def huge_matrix() -> bytes:
    """A cooperative matrix of 2**62 components."""
    size, three = FIRST, FIRST + 1
    return binary(make(Op.Constant, 0x7FFFFFFF, type_id=UINT, result_id=size),
                  make(Op.Constant, 3, type_id=UINT, result_id=three),
                  make(Op.TypeCooperativeMatrixKHR, UINT, three, size, size, ONE, result_id=FIRST + 2),
                  make(Op.ConstantNull, type_id=FIRST + 2, result_id=FIRST + 3))


def huge_array() -> bytes:
    size = FIRST
    return binary(make(Op.Constant, 0xFFFFFFFF, type_id=UINT, result_id=size),
                  make(Op.TypeArray, UINT, size, result_id=FIRST + 1),
                  make(Op.TypeArray, FIRST + 1, size, result_id=FIRST + 2),
                  make(Op.ConstantNull, type_id=FIRST + 2, result_id=FIRST + 3))


def wide_integer() -> bytes:
    return binary(make(Op.TypeInt, 0xFFFFFFFF, 0, result_id=FIRST),
                  make(Op.Constant, 1, type_id=FIRST, result_id=FIRST + 1),
                  make(Op.TypeFloat, 0xFFFFFFFF, result_id=FIRST + 2),
                  make(Op.TypeVector, UINT, 0xFFFFFFFF, result_id=FIRST + 3))


def errors_in_one_instruction() -> bytes:
    """A phi of which every operand is wrong."""
    return binary(kernel([make(Op.Label, result_id=FIRST + 1),
                          make(Op.Phi, *(30_000 + i for i in range(30_000)), type_id=UINT, result_id=FIRST + 2),
                          make(Op.Return)]))


def wrong_members() -> bytes:
    """Structures of types that do not exist, and values of these."""
    members = [30_000 + i for i in range(16_000)]
    return binary(make(Op.TypeStruct, *members, result_id=FIRST),
                  [make(Op.Undef, type_id=FIRST, result_id=FIRST + 1 + i) for i in range(500)])


def errors_everywhere() -> bytes:
    """As many broken rules as instructions."""
    return binary(kernel([make(Op.Label, result_id=FIRST + 1),
                          *(make(Op.FAdd, ONE, TRUE, type_id=UINT, result_id=FIRST + 2 + i) for i in range(N)),
                          make(Op.Return)]))


HOSTILE: dict[str, Callable[[], bytes]] = {
    "the largest bound": lambda: header(0xFFFFFFFF), "a large bound": lambda: header(0x3FFFFF, 1),
    "a word count of 0": header, "a word count beyond the end": lambda: header(4, 0xFFFF),
    "no words": lambda: b"", "one byte": lambda: b"\x03",
    "a gigabyte of instructions in 24 bytes": lambda: header(4, 0xFFFF),
    **{function.__name__.replace("_", " "): function for function in (
        nested_structures, nested_arrays, doubling_structures, pointer_cycle, type_of_itself, array_of_itself,
        constant_of_itself, chained_constants, recursion, chained_calls, many_kernels_one_function, chained_blocks,
        ladder_of_branches, nested_loops, wide_phi, decoration_groups, many_names, equal_names, capabilities,
        long_string, huge_matrix, huge_array, wide_integer, errors_everywhere, errors_in_one_instruction,
        wrong_members)},
}
