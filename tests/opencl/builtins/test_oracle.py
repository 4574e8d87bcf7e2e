"""Overload resolution of the built-in functions against clang's own table of them (-fdeclare-opencl-builtins)."""

from __future__ import annotations

import itertools
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from coopmat.devices import describe
from coopmat.diagnostics import DiagnosticSink
from coopmat.opencl.base.values import is_error
from coopmat.opencl.builtins import TABLE, resolve_call
from coopmat.opencl.builtins.atomics import ATOMICS, FLOAT_ATOMICS
from coopmat.opencl.builtins.patterns import Overload, PointerPattern, expand
from coopmat.opencl.sema.analyzer import Analyzer
from coopmat.tree.nodes import Undefined
from coopmat.tree.types import (
    CHAR,
    DOUBLE,
    FLOAT,
    HALF,
    INT,
    LONG,
    SCALARS,
    SHORT,
    UCHAR,
    UINT,
    ULONG,
    USHORT,
    Pointer,
    Type,
    Vector,
)

pytestmark = pytest.mark.oracle("clang")

FEATURES = describe("generic").extensions
CLANG = (sys.executable, "-m", "ziglang", "clang", "-x", "cl", "-cl-std=CL3.0", "--target=spirv64-unknown-unknown",
         "-Xclang", "-fdeclare-opencl-builtins", "-fsyntax-only", "-ferror-limit=0", "-w", "-fno-color-diagnostics",
         "-fno-caret-diagnostics")

# What opencl-c-base.h would declare, as far as the table needs it.
BASE_HEADER = "\n".join([
    "#define __opencl_subgroup_builtins 1",
    *(f"#define {name} 1" for name in FEATURES if name.startswith("__opencl_c_ext_fp")),
    "#pragma OPENCL EXTENSION cl_khr_fp16 : enable",
    "typedef unsigned char uchar; typedef unsigned short ushort; typedef unsigned int uint;",
    "typedef unsigned long ulong; typedef __SIZE_TYPE__ size_t; typedef __PTRDIFF_TYPE__ ptrdiff_t;",
    "typedef __INTPTR_TYPE__ intptr_t; typedef __UINTPTR_TYPE__ uintptr_t; typedef uint cl_mem_fence_flags;",
    "typedef enum memory_scope { memory_scope_work_item, memory_scope_work_group, memory_scope_device,",
    "  memory_scope_all_svm_devices, memory_scope_sub_group } memory_scope;",
    "typedef enum memory_order { memory_order_relaxed = 0, memory_order_acquire = 2, memory_order_release = 3,",
    "  memory_order_acq_rel = 4, memory_order_seq_cst = 5 } memory_order;",
    *(f"typedef {scalar} {scalar}{count} __attribute__((ext_vector_type({count})));"
      for scalar in SCALARS if scalar not in ("bool", "__bf16") for count in (2, 3, 4, 8, 16)),
])


class Clang:
    """Asks clang for the types of many calls at once; parameters of a function stand for the arguments."""

    def __init__(self) -> None:
        self.names: dict[Type, str] = {}
        self.calls: list[str] = []

    def argument(self, type_: Type) -> str:
        """An expression of that type."""
        return self.names.setdefault(type_, f"a{len(self.names)}")

    def add(self, name: str, arguments: list[str]) -> None:
        """Ask about one more call."""
        self.calls.append(f"{name}({', '.join(arguments)})")

    def readable(self, call: str) -> str:
        """A call with types in the place of its arguments."""
        names = {argument: spell(type_) for type_, argument in self.names.items()}
        return re.sub(r"\ba\d+\b", lambda match: names[match[0]], call)

    def types(self, folder: Path) -> list[str]:
        """For each call its result's type, or "ambiguous", or "no match"."""
        (folder / "opencl-c-base.h").write_text(BASE_HEADER)
        parameters = ", ".join(f"{spell(type_)} {name}" for type_, name in self.names.items())
        source = folder / "calls.cl"
        source.write_text("\n".join([
            f"struct none {{ int x; }}; void test({parameters}) {{",
            *(f'_Static_assert(__builtin_types_compatible_p(__typeof__({call}), struct none), "");'
              for call in self.calls), "}"]))
        run = subprocess.run([*CLANG, "-I", str(folder), str(source)], capture_output=True, text=True, check=False)
        found: dict[int, str] = {}
        for number, text in re.findall(r"calls\.cl:(\d+):\d+: error: (.*)", run.stderr):
            found.setdefault(int(number) - 2, _outcome(text))
        return [found[index] for index in range(len(self.calls))]


def _outcome(text: str) -> str:
    """What an error of clang says about a call."""
    match = re.search(r"compatible_p\((.*), struct none\)", text)
    if match is None:
        return "ambiguous" if "is ambiguous" in text else "no match"
    spelled = match[1].replace("unsigned ", "u").replace("_Bool", "bool").replace("cl_mem_fence_flags", "uint")
    scalar, vector = re.fullmatch(r"(\w+)(?: __attribute__\(\(ext_vector_type\((\d+)\)\)\))?", spelled.strip()).groups()
    return scalar + (vector or "")


@dataclass(frozen=True)
class Atomic(Type):
    """A pointer to a C11 atomic object, which our tree does not tell from a plain one."""

    pointer: Pointer
    is_flag: bool


def spell(type_: Type) -> str:
    """A type as OpenCL C writes it."""
    if isinstance(type_, Atomic):
        pointee = str(type_.pointer.pointee)
        return spell(type_.pointer).replace(pointee, "atomic_flag" if type_.is_flag else f"atomic_{pointee}")
    if isinstance(type_, Pointer):
        qualifiers = "".join(f"{word} " for word in ("const", "volatile") if getattr(type_, word))
        return f"{type_.address_space} {qualifiers}{type_.pointee} *"
    return str(type_)


# ------------------------------------------------------------------ every overload


# They take a pointer to any type, for which the table has no exact argument.
OF_ANY_POINTER = frozenset({"to_global", "to_local", "to_private", "get_fence"})


def clang_has(overload: Overload) -> bool:
    """Whether clang declares it: Intel's functions and dot products of 16-bit integers it does not know."""
    first = overload.parameters[0] if overload.parameters else None
    is_dot_of_16_bits = overload.name in ("dot", "dot_acc_sat") and first in (Vector(SHORT, 2), Vector(USHORT, 2))
    return not overload.name.startswith("intel_") and not is_dot_of_16_bits


def exact_arguments(overload: Overload) -> list[list[Type]]:
    """Argument lists that fit an overload exactly: one for each combination of address spaces."""
    choices: list[list[Type]] = []
    for parameter in overload.parameters:
        if isinstance(parameter, PointerPattern):
            choices.append([Pointer(parameter.pointee, space, parameter.const, parameter.volatile)
                            for space in sorted(parameter.spaces, key=lambda space: space.value)])
        else:
            choices.append([parameter])
    return [list(types) for types in itertools.product(*choices)]


def test_every_overload_exists_in_clang_with_the_same_result(tmp_path: Path) -> None:
    clang, expected = Clang(), []
    for family in TABLE.values():
        if family.name in OF_ANY_POINTER:
            continue
        for row, counts in family.members:
            for overload in filter(clang_has, expand(row, family.name, counts)):
                for types in exact_arguments(overload):
                    if row in ATOMICS + FLOAT_ATOMICS:
                        types = [Atomic(types[0], "flag" in family.name), *types[1:]]
                    clang.add(family.name, [clang.argument(type_) for type_ in types])
                    expected.append(str(overload.result))
    found = clang.types(tmp_path)
    wrong = [f"{clang.readable(call)}: {ours}, clang: {theirs}"
             for call, ours, theirs in zip(clang.calls, expected, found, strict=True) if ours != theirs]
    assert not wrong
    assert len(expected) > 6900


# ------------------------------------------------------------------ ranking of overloads


SCALAR_ARGUMENTS = (CHAR, UCHAR, SHORT, INT, UINT, LONG, ULONG, HALF, FLOAT, DOUBLE, SCALARS["bool"])
VECTOR_ARGUMENTS = (Vector(INT, 4), Vector(UINT, 4), Vector(FLOAT, 4), Vector(DOUBLE, 4), Vector(FLOAT, 2))
ARGUMENTS = (*SCALAR_ARGUMENTS, *VECTOR_ARGUMENTS)
TERNARY_ARGUMENTS = (CHAR, INT, UINT, FLOAT, DOUBLE, *VECTOR_ARGUMENTS[:3])

RANKED = (
    *((name, (ARGUMENTS,)) for name in ("sqrt", "abs", "isnan", "any", "nan", "ilogb", "native_exp", "length")),
    *((name, (ARGUMENTS, ARGUMENTS)) for name in (
        "fmax", "pow", "pown", "ldexp", "max", "mul24", "add_sat", "upsample", "step", "isequal", "dot", "rotate")),
    *((name, (TERNARY_ARGUMENTS,) * 3) for name in ("clamp", "mix", "select", "fma", "smoothstep", "mad_sat")),
)


def our_result(name: str, types: list[Type]) -> str:
    """The type that our resolution gives a call, or "ambiguous", or "no match"."""
    context = Analyzer(DiagnosticSink(), FEATURES)
    result = resolve_call(context, name, [Undefined(type_, None) for type_ in types], None, None)
    codes = {diagnostic.code for diagnostic in context.sink.diagnostics}
    assert len(codes) == (1 if is_error(result) else 0)
    return {"CM3701": "no match", "CM3702": "ambiguous"}[codes.pop()] if codes else str(result.type)


def test_inexact_calls_resolve_as_in_clang(tmp_path: Path) -> None:
    clang, ours = Clang(), []
    for name, choices in RANKED:
        for types in itertools.product(*choices):
            clang.add(name, [clang.argument(type_) for type_ in types])
            ours.append(our_result(name, list(types)))
    theirs = clang.types(tmp_path)
    wrong = [f"{clang.readable(call)}: {mine}, clang: {clangs}"
             for call, mine, clangs in zip(clang.calls, ours, theirs, strict=True) if mine != clangs]
    assert not wrong
    assert {"ambiguous", "no match", "float4"} <= set(ours)
