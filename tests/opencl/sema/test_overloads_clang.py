"""Which overload a call means: clang and the package agree, for all pairs of parameter types and all arguments.

Each overload has a result type of its own, and each call initialises something that none of them fits. So every
line is an error, and its message tells which function was called, or that there was none or no best one.
"""

from __future__ import annotations

import itertools
import random
import re
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from coopmat.diagnostics import CompileError
from coopmat.opencl import compile_source
from coopmat.runtime.options import parse_options

CLANG = (sys.executable, "-m", "ziglang", "clang", "-cc1", "-fno-caret-diagnostics", "-ferror-limit", "0",
         "-x", "cl", "-cl-std=CL3.0", "-triple", "spirv64", "-fsyntax-only", "-Wno-incompatible-pointer-types")

RESULTS = ("First", "Second", "Third")
PRELUDE = f"""\
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
typedef unsigned char uchar; typedef unsigned short ushort; typedef unsigned int uint; typedef unsigned long ulong;
typedef float float2 __attribute__((ext_vector_type(2))); typedef float float4 __attribute__((ext_vector_type(4)));
typedef int int4 __attribute__((ext_vector_type(4))); typedef char char4 __attribute__((ext_vector_type(4)));
struct S {{ int a; }}; {' '.join(f'struct {name} {{ int a; }};' for name in (*RESULTS, 'None'))}
"""

ARITHMETIC = ("bool", "char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "half", "float", "double")
VALUES = (*ARITHMETIC, "float2", "float4", "int4", "char4", "struct S")
POINTERS = ("global int *", "local int *", "constant int *", "private int *", "int *", "const int *",
            "global const int *", "global volatile int *", "const volatile int *", "global uint *", "global float *",
            "float *", "void *", "global void *", "const void *", "global float4 *", "global int *private *",
            "global struct S *")
TYPES = (*VALUES, *POINTERS)
CONSTANTS = ("0", "1u", "2l", "'a'", "1.0f", "1.0", "(half)1", "(void *)0", '"a"', "(float4)(1)")

Parameters = tuple[str, ...]


class Calls:
    """A source with one call on each line."""

    def __init__(self) -> None:
        self._names: dict[tuple[Parameters, ...], str] = {}
        self.calls: list[tuple[str, str]] = []  # the call, and how a failing test shows it

    def add(self, overloads: tuple[Parameters, ...], arguments: Sequence[str]) -> None:
        """A call with these arguments of a function with these parameter lists. An argument is a constant, or
        a type, for which a parameter stands."""
        name = self._names.setdefault(overloads, f"f{len(self._names)}")
        values = ", ".join(f"v{TYPES.index(argument)}" if argument in TYPES else argument for argument in arguments)
        self.calls.append((f"{{ struct None r = {name}({values}); }}", f"{arguments} for {overloads}"))

    @property
    def source(self) -> str:
        """The text: functions, then the calls, the last of them in the line before the last."""
        functions = [" ".join(f"struct {result} __attribute__((overloadable)) {name}({', '.join(types)});"
                              for result, types in zip(RESULTS, overloads, strict=False))
                     for overloads, name in self._names.items()]
        parameters = ", ".join(f"{type_} v{index}" for index, type_ in enumerate(TYPES))
        return "\n".join([PRELUDE, *functions, f"void test({parameters}) {{", *(call for call, _ in self.calls), "}\n"])

    def outcomes(self, reports: Iterable[tuple[int, str]]) -> list[tuple[str, str]]:
        """What each line of the reports says about its call."""
        first = self.source.count("\n") - len(self.calls)
        found: dict[int, str] = {}
        for line, text in reports:  # the argument's error, where there is one, comes before the initialiser's
            found.setdefault(line, outcome(text))
        return [(shown, found[first + index]) for index, (_, shown) in enumerate(self.calls)]


def outcome(message: str) -> str:
    """The result type of the function that is called, "ambiguous", or what else is wrong."""
    result = re.search(r"initializing .* of incompatible type '(?:__private )?struct (\w+)'", message)
    if result is not None:
        return result[1]
    known = ("call is ambiguous", "no matching function")
    message = re.sub(r"call to .* is ambiguous", known[0], message)
    return next((text for text in known if text in message), message)


def clangs_reports(source: str, folder: Path) -> list[tuple[int, str]]:
    """Line and text of clang's errors."""
    (folder / "calls.cl").write_text(source, encoding="utf-8")
    result = subprocess.run([*CLANG, "calls.cl"], cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    return [(int(line), text) for line, text in re.findall(r"^calls\.cl:(\d+):\d+: error: (.*)", result.stderr, re.M)]


def own_reports(source: str) -> list[tuple[int, str]]:
    """Line and text of the package's errors; that the functions have no bodies is none."""
    with pytest.raises(CompileError) as caught:
        compile_source(source, options=parse_options(["-ferror-limit=0", "-w"]))
    return [(diagnostic.location.line, diagnostic.message) for diagnostic in caught.value.diagnostics
            if diagnostic.location is not None and diagnostic.code != "CM3110"]


def check(calls: Calls, folder: Path) -> None:
    """Compare what clang and the package make of the calls."""
    expected = calls.outcomes(clangs_reports(calls.source, folder))
    assert len({outcome for _, outcome in expected}) >= 4  # the ways a call can go occur
    found = calls.outcomes(own_reports(calls.source))
    assert [pair for pair in zip(found, expected, strict=True) if pair[0] != pair[1]] == []


@pytest.mark.oracle("clang")
def test_one_parameter(tmp_path: Path) -> None:
    calls = Calls()
    for left, right in itertools.combinations(TYPES, 2):
        for argument in (*TYPES, *CONSTANTS):
            calls.add(((left,), (right,)), (argument,))
    check(calls, tmp_path)


@pytest.mark.oracle("clang")
@pytest.mark.parametrize("types", [ARITHMETIC, VALUES, POINTERS, TYPES],
                         ids=["arithmetic", "values", "pointers", "all"])
def test_several_parameters(types: Parameters, tmp_path: Path) -> None:
    rng, calls = random.Random(len(types)), Calls()
    for _ in range(600):
        count = rng.choice((2, 2, 3))
        lists = {tuple(rng.choices(types, k=count)) for _ in range(3)}
        overloads = tuple(sorted(lists))
        for _ in range(4):
            near = rng.choice(overloads)  # arguments like one of the parameter lists, some of them changed
            calls.add(overloads, [rng.choice((*types, *CONSTANTS)) if rng.random() < 0.5 else type_ for type_ in near])
    check(calls, tmp_path)
