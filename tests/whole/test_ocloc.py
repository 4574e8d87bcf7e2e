"""Intel's offline compiler takes our modules for the devices that have the instructions, and means the same."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

import coopmat as cm
from coopmat.devices import describe
from coopmat.opencl.builtins import has_builtin
from coopmat.opencl.builtins.matrix_mad import COMBINATIONS
from coopmat.opencl.builtins.patterns import Overload
from tests.kit.cases import CASES
from tests.kit.opencl.overload_kernels import Lowered, kernel, lower, lower_through_llvm, overloads_of
from tests.kit.oracles.ocloc import DEVICES, Rejected, assembly
from tests.kit.paths import EXAMPLES

pytestmark = pytest.mark.oracle("ocloc")

SUB_GROUP = {"pvc": 16, "dg2": 8}
MADS = r"intel_sub_group_\w+_matrix_mad_k\d+"


def overloads_on(device: str, pattern: str) -> list[Overload]:
    """The overloads that the device has."""
    features = describe(DEVICES[device]).extensions
    return [overload for overload in overloads_of(pattern) if has_builtin(overload.name, features)
            and all(feature in features for feature in overload.row.needs)
            and (overload.row not in COMBINATIONS
                 or COMBINATIONS[overload.row].sub_group_size == SUB_GROUP[device])
            and ("cl_khr_fp64" in features or "double" not in str(overload))]


def source_of(overloads: list[Overload], device: str) -> str:
    return "".join(kernel(overload, f"k{index}", SUB_GROUP[device]) for index, overload in enumerate(overloads))


# ------------------------------------------------------------------ the 92 matrix functions

# dpas.DEPTHxM (N|M0) result:type acc:type b:type a:type
DPAS = re.compile(r"dpasw?\.(\d)x(\d) \((\d+)\|M0\)\s+r\d+:(\w+)\s+r[\d.]+:(\w+)\s+r[\d.]+:(\w+)\s+r[\d.]+:(\w+)")
ELEMENTS = {"i8": "b", "u8": "ub", "i4": "s4", "u4": "u4", "f16": "hf", "bf16": "bf", "tf32": "tf32"}
ACCUMULATORS = {"int": "d", "float": "f", "half": "hf", "short": "bf"}


@pytest.mark.parametrize("way", [lower, lower_through_llvm], ids=["ours", "LLVM's"])
@pytest.mark.parametrize(("device", "count"), [("pvc", 52), ("dg2", 40)])
def test_matrix_functions(device: str, count: int, way: Callable[[str, str], Lowered], tmp_path: Path) -> None:
    """Each overload becomes one matrix instruction with its M, N and types: all 92 on the two devices."""
    overloads = overloads_on(device, MADS)
    assert len(overloads) == count
    kernels = assembly(way(source_of(overloads, device), DEVICES[device]).module.to_bytes(), device, tmp_path)
    for index, overload in enumerate(overloads):
        a, b = overload.name.removeprefix("intel_sub_group_").split("_")[:2]
        accumulator = ACCUMULATORS[str(overload.result).rstrip("0123456789")]
        found = DPAS.findall(kernels[f"k{index}"])
        assert found == [("8", str(overload.count), str(SUB_GROUP[device]), accumulator, accumulator, ELEMENTS[b],
                          ELEMENTS[a])], str(overload)


# ------------------------------------------------------------------ other functions of Intel's extensions

# Functions → what the assembly must have, where an instruction tells.
FAMILIES = {
    "tf32": (r"intel_convert_tfloat32\d*_as_float\d*", r"mov .*:tf32"),
    "to bfloat16": (r"intel_convert_bfloat16\d*_as_ushort\d*", r"mov .*:bf"),
    "from bfloat16": (r"intel_convert_as_bfloat16\d*_float\d*", r"shl .* 0x10:uw"),
    "integer dot products": (r"dot_acc_sat|dot(_acc_sat)?_4x8packed_\w+", r"dp4a"),
    "two-dimensional blocks": (r"intel_sub_group_2d_block_\w+", r"block2d"),
    "arrive at a barrier": (r"intel_work_group_barrier_arrive", r"signal barrier"),
    "wait at a barrier": (r"intel_work_group_barrier_wait", r"sync\.bar"),
    "blocks": (r"intel_sub_group_block_(read|write)\w*", ""),
    "shuffles": (r"(intel_)?sub_group_shuffle\w*", ""),
}


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("family", FAMILIES)
def test_other_functions(family: str, device: str, tmp_path: Path) -> None:
    pattern, instruction = FAMILIES[family]
    overloads = overloads_on(device, pattern)
    if not overloads:
        assert (device, family) in {("dg2", "tf32"), ("dg2", "two-dimensional blocks")}
        return
    kernels = assembly(lower(source_of(overloads, device), DEVICES[device]).module.to_bytes(), device, tmp_path)
    for index, overload in enumerate(overloads):
        assert re.search(instruction, kernels[f"k{index}"]), str(overload)


# ------------------------------------------------------------------ examples and test kernels


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", ["matrix_int8", "matrix_bf16", "matrix_tf32"])
def test_matrix_examples(name: str, device: str, tmp_path: Path) -> None:
    """As many matrix instructions in each kernel's loop as it has tiles; DG2 has none for tf32."""
    program = cm.build(EXAMPLES / f"{name}.cl", device=f"sim:{DEVICES[device]}")
    kernels = assembly(program.spirv, device, tmp_path)
    assert kernels.keys() == program.kernels.keys()
    for kernel_name, text in kernels.items():
        tiled = re.match(r"tiled_(\d)x(\d)", kernel_name)
        tiles = int(tiled[1]) * int(tiled[2]) if tiled else 1
        assert len(DPAS.findall(text)) == (0 if (name, device) == ("matrix_tf32", "dg2") else tiles), kernel_name


PLAIN_SOURCES = sorted({case.source for case in CASES if case.source.stem in (
    "control", "memory", "vectors", "dot_products")})


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("source", PLAIN_SOURCES, ids=lambda path: path.stem)
def test_kernels_without_matrices(source: Path, device: str, tmp_path: Path) -> None:
    program = cm.build(source, device=f"sim:{DEVICES[device]}")
    assert assembly(program.spirv, device, tmp_path).keys() >= program.kernels.keys()


# ------------------------------------------------------------------ cooperative matrices

IN = {"sint8": "char", "uint8": "uchar", "fp16": "half"}  # the compiler does not know matrices of bfloat16 yet
OUT = {"sint32": "int", "fp32": "float"}


def gemm(device: str, row: cm.Combination, m: int, n: int) -> cm.Program:
    """examples/gemm.cl with the types and K of a row, for sim:generic, which takes every shape."""
    flags = sum(bit for bit, kind in ((1, row.atype), (2, row.btype), (4, row.ctype), (8, row.dtype))
                if kind.startswith("sint"))
    return cm.build(EXAMPLES / "gemm.cl", [
        f"-DTM={m}", f"-DTN={n}", f"-DTK={row.ksize or row.max_ksize}", f"-DIN={IN[row.atype]}",
        f"-DOUT={OUT[row.ctype]}", f"-DFLAGS={flags}", f"-DSUB_GROUP_SIZE={SUB_GROUP[device]}"])


def rows_of(device: str) -> list[cm.Combination]:
    return [row for row in cm.device(f"sim:{DEVICES[device]}").matrix_combinations
            if row.atype in IN and row.atype == row.btype and row.ctype in OUT and row.max_msize]


@pytest.mark.parametrize("device", DEVICES)
def test_rows_of_the_tables(device: str, tmp_path: Path) -> None:
    """Every M of a row of the device's table is a matrix instruction; a row too many or another N is refused."""
    rows = rows_of(device)
    assert {row.atype for row in rows} == set(IN)
    for row in rows:
        n = row.nsize or row.max_nsize
        for m in range(1, row.max_msize + 1):
            (text,) = assembly(gemm(device, row, m, n).spirv, device, tmp_path).values()
            assert DPAS.search(text), f"{row}, M={m}"
    for m, n in ((rows[0].max_msize + 1, SUB_GROUP[device]), (8, 24 - SUB_GROUP[device])):
        with pytest.raises(Rejected, match="nsupported"):
            assembly(gemm(device, rows[0], m, n).spirv, device, tmp_path)
