"""The models of AMX, and the places of elements in tiles, against the tile instructions of the processor, if it has
them."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from inputs import KINDS, WIDTHS, operands

from coopmat.formats import FORMATS
from coopmat.numerics.hardware import multiply_accumulate

SOURCE = Path(__file__).parent / "amx.c"
COMPILE = [sys.executable, "-m", "ziglang", "cc", "-O1", "-target", "x86_64-linux-gnu",
           *(f"-mamx-{part}" for part in ("tile", "int8", "bf16", "fp16"))]
DOT_PRODUCTS = 1_000_000  # of each instruction, at least


@dataclass(frozen=True)
class Form:
    """One instruction: its number in amx.c, the types of A, B and C, and the oracle that has it."""

    name: str
    number: int
    types: tuple[str, str, str]
    oracle: str

    @property
    def per_word(self) -> int:
        """Elements of A or B in 32 bits."""
        return 32 // WIDTHS[self.types[0]]

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of operands that there are for the types."""
        return KINDS if FORMATS[self.types[0]].is_float else ("ordinary", "huge")


FORMS = (
    Form("tdpbssd", 0, ("sint8", "sint8", "sint32"), "amx"), Form("tdpbsud", 1, ("sint8", "uint8", "sint32"), "amx"),
    Form("tdpbusd", 2, ("uint8", "sint8", "sint32"), "amx"), Form("tdpbuud", 3, ("uint8", "uint8", "sint32"), "amx"),
    Form("tdpbf16ps", 4, ("bf16", "bf16", "fp32"), "amx"), Form("tdpfp16ps", 5, ("fp16", "fp16", "fp32"), "amx-fp16"))
ON_HARDWARE = [pytest.param(form, id=form.name, marks=[pytest.mark.oracle("clang"), pytest.mark.oracle(form.oracle)])
               for form in FORMS]
# M, N, and K in words: a whole tile, parts of one, and K of several tiles
WHOLE, PARTS = (16, 16, 16), ((1, 1, 1), (16, 16, 1), (5, 3, 9), (1, 16, 16), (16, 2, 15), (7, 16, 40))


def a_tile(a: np.ndarray) -> np.ndarray:
    """A [..., M, K] as rows of bytes: A[i][k] is in row i, from byte k * width / 8 on."""
    return np.ascontiguousarray(a).view(np.uint8)


def b_tile(b: np.ndarray, per_word: int) -> np.ndarray:
    """B [..., K, N] as rows of dwords: B[k][j] is in row k / per_word, dword j, at bit width * (k % per_word)."""
    *batch, k, n = b.shape
    words = b.reshape(*batch, k // per_word, per_word, n).swapaxes(-1, -2)
    return np.ascontiguousarray(words).view(np.uint32)[..., 0]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    path = tmp_path_factory.mktemp("amx") / "amx.so"
    subprocess.run([*COMPILE, "-shared", "-fPIC", str(SOURCE), "-o", str(path)], check=True, timeout=120)
    found = ctypes.CDLL(str(path))
    assert found.request_tiles() == 0, "the kernel refuses the tile registers to this process"
    return found


def tile_products(library: ctypes.CDLL, form: Form, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """C + A * B of bit patterns [count, rows, columns] by the instruction, tile after tile in ascending k."""
    (count, m, k), n = a.shape, b.shape[-1]
    result, step = c.astype(np.uint32), 16 * form.per_word
    for start in range(0, k, step):
        left, right = a_tile(a[:, :, start:start + step]), b_tile(b[:, start:start + step], form.per_word)
        addresses = (ctypes.c_void_p(array.ctypes.data) for array in (left, right, result))
        library.tile_products(form.number, *addresses, ctypes.c_long(count), m, n, right.shape[1])
    return result


def model(form: Form, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    arrays = (x.view(FORMATS[name].dtype) for x, name in zip((a, b, c), form.types, strict=True))
    a_type, b_type, c_type = form.types
    return multiply_accumulate("intel_cpu_gnr", *arrays, a_format=a_type, b_format=b_type, c_format=c_type,
                               d_format=c_type).view(np.uint32)


@pytest.mark.parametrize("form", ON_HARDWARE)
def test_the_processor_computes_what_the_model_says(library: ctypes.CDLL, form: Form) -> None:
    compared = 0
    for number, kind in enumerate(form.kinds):
        for m, n, words in (WHOLE, *PARTS):
            k = words * form.per_word
            count = 20 + (DOT_PRODUCTS // (m * n * len(form.kinds)) if (m, n, words) == WHOLE else 180)
            a, b, c = operands((9, form.number, number, words), kind, form.types, ((count, m, k), (count, k, n),
                                                                                   (count, m, n)))
            np.testing.assert_array_equal(tile_products(library, form, a, b, c), model(form, a, b, c), kind)
            compared += c.size
    assert compared >= DOT_PRODUCTS


@pytest.mark.parametrize("form", ON_HARDWARE)
def test_places_of_elements(library: ctypes.CDLL, form: Form) -> None:
    """A one in A[i][k] brings row k of B, and nothing else, to row i of C; rows and columns of B hold their numbers."""
    (m, n, words), dtype = WHOLE, FORMATS[form.types[0]].dtype
    k, bits = words * form.per_word, f"u{dtype.itemsize}"
    a = np.zeros((m * k, m, k), dtype)
    a[np.arange(m * k), np.repeat(np.arange(m), k), np.tile(np.arange(k), m)] = 1
    c = np.zeros((m * k, m, n), np.uint32)
    for b in (np.arange(1, k + 1)[:, None] + np.zeros(n), np.arange(1, n + 1)[None] + np.zeros((k, 1))):
        right = np.ascontiguousarray(np.broadcast_to(b.astype(dtype), (m * k, k, n)))
        found = tile_products(library, form, a.view(bits), right.view(bits), c).view(FORMATS[form.types[2]].dtype)
        expected = np.einsum("zik,kj->zij", a.astype(np.int64), b.astype(np.int64))
        np.testing.assert_array_equal(found, expected)


@pytest.mark.oracle("clang")
@pytest.mark.oracle("amx")
def test_rows_of_a_tile(library: ctypes.CDLL) -> None:
    """A tile is its rows in memory, one behind the other, each from byte 0 on."""
    memory = np.arange(16 * 100, dtype=np.uint16).astype(np.uint8).reshape(16, 100)
    for rows, row_bytes in ((16, 64), (3, 20), (1, 4)):
        found = np.zeros((rows, row_bytes), np.uint8)
        library.tile_copy(ctypes.c_void_p(memory.ctypes.data), ctypes.c_long(memory.strides[0]),
                          ctypes.c_void_p(found.ctypes.data), rows, row_bytes)
        np.testing.assert_array_equal(found, memory[:rows, :row_bytes])


@pytest.mark.oracle("clang")
def test_the_program_has_the_instructions(tmp_path: Path) -> None:
    """Also where no processor with tiles is: the compiler makes of the program what it is meant to be."""
    subprocess.run([*COMPILE, "-S", str(SOURCE), "-o", str(tmp_path / "amx.s")], check=True, timeout=120)
    lines = [" ".join(line.split()) for line in (tmp_path / "amx.s").read_text().splitlines()]
    for form in FORMS:
        assert f"{form.name} %tmm2, %tmm1, %tmm0" in lines  # B, A, then C, in this syntax
    loads = [line.partition(" ")[2].rpartition(", ")[2] for line in lines if line.startswith("tileloadd ")]
    assert loads[:3] == ["%tmm0", "%tmm1", "%tmm2"]
