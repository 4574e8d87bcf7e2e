"""Dot products of integers (cl_khr_integer_dot_product): instructions, operands, results."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import coopmat as cm
from coopmat.devices import ARCHITECTURES
from coopmat.opencl.builtins.patterns import Overload
from coopmat.tree.types import Scalar, Vector
from tests.kit.opencl.overload_kernels import kernel, lower, lower_through_llvm, overloads_of, validate
from tests.kit.oracles import intel_runtime

OVERLOADS = [overload for overload in overloads_of(r"dot(_acc_sat)?(_4x8packed_\w+)?")
             if not overload.result.is_float]
SIGNS = ("uu", "ss", "us", "su")
INSTRUCTIONS = {"uu": "OpUDot", "ss": "OpSDot", "us": "OpSUDot", "su": "OpSUDot"}


def signs(overload: Overload) -> str:
    """The signs of the two vectors."""
    if "packed" in overload.name:
        return overload.name.split("_")[-2]
    letters = []
    for parameter in overload.parameters[:2]:
        assert isinstance(parameter, Vector)
        letters.append("u" if parameter.scalar.kind == "uint" else "s")
    return "".join(letters)


def test_all_overloads_are_there() -> None:
    expected = set()
    for sign in SIGNS:
        result = "uint" if sign == "uu" else "int"
        for vector in ("char4", "short2"):
            a, b = (f"u{vector}" if letter == "u" else vector for letter in sign)
            expected |= {f"{result} dot({a}, {b})", f"{result} dot_acc_sat({a}, {b}, {result})"}
        expected |= {f"{result} dot_4x8packed_{sign}_{result}(uint, uint)",
                     f"{result} dot_acc_sat_4x8packed_{sign}_{result}(uint, uint, {result})"}
    assert {str(overload) for overload in OVERLOADS} == expected
    assert len(OVERLOADS) == len(expected) == 24


@pytest.mark.parametrize("lowering", [lower, lower_through_llvm])
def test_instructions(lowering) -> None:
    lowered = lowering("".join(kernel(overload, f"k{index}") for index, overload in enumerate(OVERLOADS)))
    for overload, (item,), function in zip(OVERLOADS, lowered.bodies(), lowered.module.functions, strict=True):
        accumulates, packed, sign = "acc_sat" in overload.name, "packed" in overload.name, signs(overload)
        assert item.name == INSTRUCTIONS[sign] + ("AccSat" if accumulates else "")
        literals = [(kind, value) for kind, value in item.operands if not kind.startswith("Id")]
        assert [(kind, int(value)) for kind, value in literals] == [("PackedVectorFormat", 0)] * packed
        # The kernel's parameters are passed on, the signed one first.
        parameters = [parameter.result_id for parameter in function.parameters[:2]]
        assert list(item.words[:2]) == (parameters[::-1] if sign == "us" else parameters)
        vector = "int" if packed else str(overload.parameters[0]).removeprefix("u")
        assert lowered.described(item)[1:] == (vector, vector, *["int"] * accumulates, *[0] * packed, "int")


@pytest.mark.parametrize("overload", OVERLOADS, ids=str)
def test_requirements(overload: Overload) -> None:
    capabilities, extensions = lower(kernel(overload, "k")).requirements()
    own = {"uint": {"DotProductInput4x8BitPacked"}, "char4": {"DotProductInput4x8Bit", "Int8"},
           "short2": {"DotProductInputAll", "Int16"}}
    vector = str(overload.parameters[0])
    needed = own[vector if vector == "uint" else vector.removeprefix("u")]
    assert capabilities == {"Addresses", "Kernel", "DotProduct"} | needed
    assert extensions == {"SPV_KHR_integer_dot_product"}


@pytest.mark.oracle("spirv-val")
def test_spirv_val(tmp_path: Path) -> None:
    source = "".join(kernel(overload, f"k{index}") for index, overload in enumerate(OVERLOADS))
    validate([lower(source), lower_through_llvm(source)], tmp_path)


@pytest.mark.parametrize("device", ARCHITECTURES)
def test_every_device_has_them(device: str) -> None:
    source = """
    #if !cl_khr_integer_dot_product || !__opencl_c_integer_dot_product_input_4x8bit || \\
        !__opencl_c_integer_dot_product_input_4x8bit_packed
    #error no macro
    #endif
    kernel void k(global int *x) { *x = dot((char4)(*x), (char4)(1)) + dot_4x8packed_ss_int(*x, *x); }"""
    assert lower(source, device).module.functions


# ------------------------------------------------------------------ results

COUNT = 64


def extremes(scalar: Scalar, shape: tuple[int, ...], random: np.random.Generator) -> np.ndarray:
    """Random numbers of a type, the smallest and the largest often among them; the first rows are pure."""
    info = np.iinfo(f"{'u' if scalar.kind == 'uint' else ''}int{scalar.bits}")
    values = random.integers(info.min, info.max, shape, dtype=info.dtype, endpoint=True)
    extreme = random.random(shape) < 0.3
    values[extreme] = random.choice(np.array([info.min, info.max], info.dtype), shape)[extreme]
    values[0], values[1] = info.min, info.max
    return values


def operands(overload: Overload) -> tuple[np.ndarray, np.ndarray]:
    """The two vectors, [COUNT, n] each."""
    random = np.random.default_rng(7)
    bits, count = (8, 4) if "packed" in overload.name else (
        overload.parameters[0].element.bits, overload.parameters[0].count)
    a, b = (extremes(Scalar("uint" if sign == "u" else "sint", bits), (COUNT, count), random)
            for sign in signs(overload))
    return a, b[random.permutation(COUNT)] if overload.name.endswith("us_int") else b


def expected(overload: Overload, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Exact sums of products, wrapped to 32 bits or, with an accumulator, saturated."""
    low, high = (0, 2**32 - 1) if str(overload.result) == "uint" else (-2**31, 2**31 - 1)
    sums = (a.astype(np.int64) * b.astype(np.int64)).sum(axis=1)
    if "acc_sat" in overload.name:
        return np.clip(sums + c.astype(np.int64), low, high)
    return (sums - low) % 2**32 + low


def case(overload: Overload) -> tuple[str, list[np.ndarray], np.ndarray]:
    """A kernel, its arguments, and the result that the last one must become."""
    a, b = operands(overload)
    result = np.uint32 if str(overload.result) == "uint" else np.int32
    c = extremes(Scalar("uint" if result is np.uint32 else "sint", 32), (COUNT,), np.random.default_rng(8))
    if "acc_sat" in overload.name:  # an overflow before the accumulator is added would be undefined
        wide = np.abs((a.astype(np.int64) * b.astype(np.int64)).sum(axis=1)) >= 2**31
        a[wide] = 1
    names = [str(parameter) for parameter in overload.parameters]
    more = ", c[i]" if len(names) > 2 else ""
    source = f"""kernel void k(global {names[0]} *a, global {names[1]} *b, global {overload.result} *c,
                               global {overload.result} *out) {{
        size_t i = get_global_id(0);
        out[i] = {overload.name}(a[i], b[i]{more});
    }}"""
    return source, [a, b, c, np.zeros(COUNT, result)], expected(overload, a, b, c)


@pytest.mark.parametrize("overload", OVERLOADS, ids=str)
def test_simulated(overload: Overload) -> None:
    source, arguments, wanted = case(overload)
    device = cm.device("sim:generic")
    packed = [np.ascontiguousarray(a).view(np.uint32).reshape(-1) if "packed" in overload.name else a
              for a in arguments[:2]]
    out = arguments[3]
    cm.Queue(device).enqueue(cm.build(source, device=device).kernel("k"), (COUNT,), (16,), *packed, arguments[2],
                             out).wait()
    np.testing.assert_array_equal(out.astype(np.int64), wanted)
    if "acc_sat" in overload.name:
        assert len({int(value) for value in wanted} & {0, 2**32 - 1, -2**31, 2**31 - 1}) >= 1


@pytest.mark.oracle("intel-opencl")
@pytest.mark.parametrize("overload", [overload for overload in OVERLOADS if "short2" not in str(overload)], ids=str)
def test_on_intels_runtime(overload: Overload) -> None:
    """Those that the runtime has: it knows no DotProductInputAll."""
    source, arguments, wanted = case(overload)
    spirv = cm.build(source).spirv
    out = intel_runtime.run(spirv, "k", (COUNT,), (16,), arguments)[3]
    np.testing.assert_array_equal(out.astype(np.int64), wanted)
