"""print, f-strings and printf: what Python would print, on both targets and with the LLVM form of the module."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import NamedTuple

import ml_dtypes
import numpy as np
import pytest

import coopmat as cm
from coopmat.sycl import (
    bfloat16,
    float2,
    float4,
    float64,
    half,
    int8,
    int16,
    int64,
    joint_matrix,
    kernel,
    layout,
    nd_item,
    nd_range,
    printf,
    ptr,
    sub_group,
    uint2,
    uint8,
    uint32,
    uint64,
    use,
)
from tests.kit.sycl.refused import Case, check, loaded, read_cases

TARGETS = ("sim:generic", "cpu")
WORD = "wörd"


class Point(NamedTuple):
    x: int
    y: float


@dataclass
class Named:
    name: str
    at: object


def output(capsys, k, *arguments, count: int = 1, device: str = "sim:generic") -> str:
    cm.Queue(device).parallel_for(nd_range(count, count), k, *arguments).wait()
    return capsys.readouterr().out


@pytest.mark.parametrize("device", TARGETS)
def test_print_shows_values_as_python_does(capsys, device: str) -> None:
    kinds = ("a", "b")

    @kernel
    def k(item: nd_item[1], i: int, x: float, v: float4, p: ptr[uint8]):
        print(i, -i, x, i > 3, not i, v, v.xy, sep=", ")
        print(int8(i), uint8(250), uint32(1) << 31, uint64(1) << 63, int64(-1), half(0.1), bfloat16(3), float64(x))
        print((i, 2.5), [i, [True, "it's"]], (i,), (), Point(i, x), Named("n", Point(1, 2)), kinds, None)
        print(layout.row_major)
        print("text", WORD + "!", 2 * "ab", "100%", f"{i}%", sep="|", end="#\n", flush=True)
        print()
        print("no line", end="")
        print("", "yes" if i > 3 else "no", end="" if i > 100 else ".\n")

    found = output(capsys, k, 7, 0.15625, (1.5, -2, 3, 4e10), np.zeros(1, np.uint8), device=device)
    assert found == (
        "7, -7, 0.15625, True, False, (1.5, -2, 3, 4e+10), (1.5, -2)\n"
        "7 250 2147483648 9223372036854775808 -1 0.0999756 3 0.15625\n"
        "(7, 2.5) [7, [True, \"it's\"]] (7,) () Point(x=7, y=0.15625) Named(name='n', at=Point(x=1, y=2)) ('a', 'b') "
        "None\nlayout.row_major\n"
        "text|wörd!|abab|100%|7%#\n"
        "\n"
        "no line yes.\n")


@pytest.mark.parametrize("device", TARGETS)
def test_formatted_strings(capsys, device: str) -> None:
    width = 8

    def line(what, value):
        print(f"{what}={value:>{width}}" if False else f"{what}: {value}")

    @kernel
    def k(item: nd_item[1], x: float, h: uint8, n: int):
        i = int(item.get_global_id(0))
        text = f"{x:6.3f} {i:>4d} {h:#x}"
        print(text + ";", f"{x!r} {i + 1 = } {WORD!r} {WORD:>6} {WORD!a} {{}} {width:03d} {0.1:.2f}")
        label = "even" if i % 2 == 0 else "odd"
        before = f"{label:>5}|{label:<5}|{label:.2}"
        i += 100
        print(before, f"{i:>{width}}", f"{float2(x, 1):.1f}", f"{i > 100:d} {i > 100}", f"{n:,}" if False else "")
        line("n", n)
        line(label, text)

    found = output(capsys, k, -2.0625, 200, 3, count=2, device=device)

    def expected(i: int) -> list[str]:
        x, h, n, text = -2.0625, 200, 3, f"{-2.0625:6.3f} {i:>4d} {200:#x}"
        label = ("even", "odd")[i % 2]
        return [f"{text}; {x!r} {i + 1 = } {WORD!r} {WORD:>6} {WORD!a} {{}} {width:03d} {0.1:.2f}",
                f"{label:>5}|{label:<5}|{label:.2} {i + 100:>{width}} ({x:.1f}, 1.0) {i > 0:d} {i > 0} ",
                f"n: {n}", f"{label}: {text}"] if h else []

    assert sorted(found.splitlines()) == sorted([*expected(0), *expected(1)])


PARTS = (("", "<", ">", "0>", "^", "="), ("", "+", " "), ("", "#"), ("", "0"), ("", "7"), ("", ".0", ".3"))
INTEGERS, FLOATS = (0, 1, 65, 1234), (0.0, -1.5, 3.14159, 1e9, 2.5e-7, float("inf"), float("nan"))
CASES = {
    "int": (["".join(parts) for parts in itertools.product(
        *PARTS[:-1], ("", "d", "x", "X", "o", "c", "b", "g", ".2f"))], INTEGERS),
    "float": (["".join(parts) for parts in itertools.product(*PARTS, ("", "f", "E", "g", "d"))], FLOATS),
}


def accepted(specs: list[str], type_: str) -> list[str]:
    """The specifications that the compiler takes; the others it refuses with one message."""
    text = f"from coopmat.sycl import *\n@kernel\ndef k(item: nd_item[1], x: {type_}):\n" + "".join(
        f"    print(f\"{{x:{spec}}}\")\n" for spec in specs)
    try:
        cm.build(loaded(text)[1]["k"], options=None)
        return specs
    except cm.CompileError as error:
        refused = {one.location.line - 4 for one in error.diagnostics if one.code == "CM6081"}
        unknown = [one for one in error.diagnostics if one.code not in ("CM6081", "CM0001")]
        assert unknown == []
    return [spec for index, spec in enumerate(specs) if index not in refused]


def in_parts(specs: list[str], type_: str) -> list[str]:
    """After twenty errors the compiler stops."""
    return [spec for start in range(0, len(specs), 18) for spec in accepted(specs[start:start + 18], type_)]


@pytest.mark.parametrize("type_", CASES)
def test_every_specification_prints_what_python_prints_or_is_refused(capsys, type_: str) -> None:
    """Apart from the prefix of zero in a field of spaces, from infinities filled with zeros, and from characters of
    several bytes, where C differs."""
    specs, values = CASES[type_]
    taken = in_parts(specs, type_)
    assert len(taken) > len(specs) / 6
    text = f"from coopmat.sycl import *\n@kernel\ndef k(item: nd_item[1], x: {type_}):\n" + "".join(
        f"    print(f\"[{{x:{spec}}}]\")\n" for spec in taken)
    k = loaded(text)[1]["k"]
    for device, value in itertools.product(TARGETS, values):
        found = output(capsys, k, value, device=device).splitlines()
        shown = float(np.float32(value)) if type_ == "float" else value
        for spec, line in zip(taken, found, strict=True):
            if spec[-1:] == "c" and value > 127:
                continue
            if (value or "#" not in spec or spec[-1:] not in "xX") and (math.isfinite(value) or "0" not in spec):
                assert line == f"[{as_python(shown, spec, type_)}]", (spec, value)


def as_python(value, spec: str, type_: str) -> str:
    """What Python prints; a float without a letter as %g prints it, with at least as many digits as it has."""
    has_letter = spec[-1:].isalpha()
    return format(value, spec if has_letter or type_ == "int" else f"{spec}g")


def test_bits_are_those_of_the_type(capsys) -> None:
    @kernel
    def k(item: nd_item[1], n: int):
        print(f"{int8(n):x} {int16(n):X} {n:o} {int64(n):#x} {uint8(n):#04x} {int8(n):d}")

    assert output(capsys, k, -2) == "fe FFFE 37777777776 0xfffffffffffffffe 0xfe -2\n"


@pytest.mark.parametrize("device", TARGETS)
def test_printf(capsys, device: str) -> None:
    @kernel
    def k(item: nd_item[1], i: int, x: float, v: float4, u: uint2):
        count = printf("%d %5.2f %s %c %% %x|", i, x, "text", 65, int8(-1))
        printf("%v4f %.1v4f %v2u %s %ld\n", v, v, u, "a" if i > 3 else "b", int64(1) << 40)
        printf("%f %e %d %u %d\n", i, half(0.5), True, uint64(7), count)
        printf("plain\n")

    found = output(capsys, k, 7, 2.5, (1, 2, 3, 4), (5, 6), device=device)
    assert found == ("7  2.50 text A % ff|1.000000,2.000000,3.000000,4.000000 1.0,2.0,3.0,4.0 5,6 a 1099511627776\n"
                     "7.000000 5.000000e-01 1 7 0\nplain\n")


def test_devices_without_double_print_floats(capsys) -> None:
    @kernel
    def k(item: nd_item[1], x: float):
        print(x, f"{x:.3f}")
        printf("%g\n", x)

    assert output(capsys, k, 0.5, device="sim:intel_gpu_dg2_g10") == "0.5 0.500\n0.5\n"
    assert "OpTypeFloat 64" not in cm.build(k, device="sim:intel_gpu_dg2_g10").spirv_asm


def test_printf_on_the_host(capsys) -> None:
    printf("%d %5.2f %s\n", 3, 2.5, "text")
    assert capsys.readouterr().out == "3  2.50 text\n"


def test_strings_that_are_equal_are_there_once() -> None:
    @kernel
    def k(item: nd_item[1], n: int):
        print("same", n > 3, n > 4)
        print("same", n > 3, n > 4)

    program = cm.build(k)
    assert sum("OpVariable" in line and "UniformConstant" in line for line in program.spirv_asm.splitlines()) == 3
    assert program.module.validate() == []
    assert "@printf" in program.llvm_ir


def test_strings_are_values_while_a_kernel_is_compiled(capsys) -> None:
    def dump(name, values, unit=""):
        for index, value in enumerate(values):
            print(name.upper() + f"[{index}]", value, unit.strip(), sep="=" if unit == "" else " ")

    @kernel
    def k(item: nd_item[1], n: int):
        dump("taps", (n, n + 1))
        dump("w", [0.5 * n], unit=" kg ")
        print("ab" in ("ab", "c"), "a" < "b", WORD == "wörd", ", ".join(("x", "y")), "x={}".replace("{}", "3"))
        print(str(2.5) + str(n) + format(n, "03d"), repr("q"), chr(65), np.finfo(np.float32).max > 1e38)

    assert output(capsys, k, 3) == "TAPS[0]=3=\nTAPS[1]=4=\nW[0] 1.5 kg\nTrue True True x, y x=3\n2.53003 'q' A True\n"


@pytest.mark.parametrize("case", read_cases("printing.txt"), ids=lambda case: f"{case.code}: {case.text}")
def test_what_is_refused(case: Case) -> None:
    check(case)


def test_a_matrix_is_not_printed() -> None:
    @kernel(sub_group_size=16)
    def k(item: nd_item[1]):
        print(joint_matrix(sub_group, half, use.a, 8, 16, layout.row_major))

    with pytest.raises(cm.CompileError, match=r"cannot be printed; .* gives f the elements \[CM6080\]"):
        cm.build(k)


def test_bfloat16_in_a_format(capsys) -> None:
    @kernel
    def k(item: nd_item[1], p: ptr[bfloat16]):
        print(f"{p[0]:.3f}", p[0])

    assert output(capsys, k, np.array([1.5], ml_dtypes.bfloat16)) == "1.500 1.5\n"
