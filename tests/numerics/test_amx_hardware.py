"""The models of AMX, and the places of elements in tiles, against the tile instructions of the processor, if it has
them, and against results that one with them gave before."""

from __future__ import annotations

import subprocess
from pathlib import Path

import amx
import numpy as np
import pytest
from amx import INSTRUCTIONS, Instruction, Tiles

from coopmat.formats import FORMATS

RESULTS = amx.SOURCE.parent / "results" / "intel_amx.npz"
ORACLES = {"amx_int8": "amx", "amx_bf16": "amx", "amx_fp16": "amx-fp16"}
ON_HARDWARE = [pytest.param(found, id=found.name, marks=[
    pytest.mark.oracle("clang"), pytest.mark.oracle(ORACLES[found.feature])]) for found in INSTRUCTIONS]


@pytest.fixture(scope="module")
def tiles(tmp_path_factory: pytest.TempPathFactory) -> Tiles:
    return Tiles(tmp_path_factory.mktemp("amx"))


@pytest.mark.parametrize("found", ON_HARDWARE)
def test_the_processor_computes_what_the_model_says(tiles: Tiles, found: Instruction) -> None:
    compared = 0
    for kind, given in amx.cases(found, amx.DOTS):
        np.testing.assert_array_equal(tiles.multiply(found, *given), amx.model(found, *given), kind)
        compared += given[2].size
    assert compared >= 1_000_000


@pytest.mark.parametrize("found", ON_HARDWARE)
def test_places_of_elements(tiles: Tiles, found: Instruction) -> None:
    """A one in A[i][k] brings row k of B, and nothing else, to row i of C; rows and columns of B hold their numbers."""
    (m, n, words), dtype = amx.WHOLE, FORMATS[found.types[0]].dtype
    k, bits = words * found.per_word, f"u{dtype.itemsize}"
    a = np.zeros((m * k, m, k), dtype)
    a[np.arange(m * k), np.repeat(np.arange(m), k), np.tile(np.arange(k), m)] = 1
    c = np.zeros((m * k, m, n), np.uint32)
    for b in (np.arange(1, k + 1)[:, None] + np.zeros(n), np.arange(1, n + 1)[None] + np.zeros((k, 1))):
        right = np.ascontiguousarray(np.broadcast_to(b.astype(dtype), (m * k, k, n)))
        result = tiles.multiply(found, a.view(bits), right.view(bits), c).view(FORMATS[found.types[2]].dtype)
        np.testing.assert_array_equal(result, np.einsum("zik,kj->zij", a.astype(np.int64), b.astype(np.int64)))


@pytest.mark.oracle("clang")
@pytest.mark.oracle("amx")
def test_rows_of_a_tile(tiles: Tiles) -> None:
    """A tile is its rows in memory, one behind the other, each from byte 0 on."""
    memory = np.arange(16 * 100, dtype=np.uint16).astype(np.uint8).reshape(16, 100)
    for rows, row_bytes in ((16, 64), (3, 20), (1, 4)):
        np.testing.assert_array_equal(tiles.copy(memory, rows, row_bytes), memory[:rows, :row_bytes])


@pytest.mark.parametrize("found", [found for found in INSTRUCTIONS if found.feature != "amx_fp16"],
                         ids=lambda found: found.name)
def test_recorded_results(found: Instruction) -> None:
    """What an Emerald Rapids processor computed."""
    with np.load(RESULTS) as recorded:
        for kind in found.kinds:
            ours = amx.model(found, *amx.inputs_of(found, kind, amx.WHOLE, amx.RECORDED))
            np.testing.assert_array_equal(ours, recorded[f"{found.name} {kind}"], kind)


@pytest.mark.oracle("clang")
def test_the_program_has_the_instructions(tmp_path: Path) -> None:
    """Also where no processor with tiles is: the compiler makes of the program what it is meant to be."""
    subprocess.run([*amx.compiler(), "-S", str(amx.SOURCE), "-o", str(tmp_path / "amx.s")], check=True, timeout=120)
    lines = [" ".join(line.split()) for line in (tmp_path / "amx.s").read_text().splitlines()]
    for found in INSTRUCTIONS:
        assert f"{found.name} %tmm2, %tmm1, %tmm0" in lines  # B, A, then C, in this syntax
    loads = [line.partition(" ")[2].rpartition(", ")[2] for line in lines if line.startswith("tileloadd ")]
    assert loads[:3] == ["%tmm0", "%tmm1", "%tmm2"]
