"""What random kernels and damaged modules have found on the CPU or in the simulator, each as small as it could be."""

from __future__ import annotations

import numpy as np
import pytest

import coopmat as cm
from coopmat.targets.cpu.program import CpuProgram
from tests.kit.paths import EXAMPLES

DEVICES = ("sim:generic", "cpu")
INDEXED = """
typedef struct { int number; uchar octets[4]; } mixed;
kernel void k(global uint* out, global const uint* in)
{
    mixed m = {7, {10, 20, 30, 40}};
    uint i = get_global_id(0);
    m.octets[in[i]] += m.number;
    out[i] = m.octets[0] | m.octets[1] << 8 | m.octets[2] << 16 | (uint)m.octets[3] << 24;
}
"""
COMPONENTS = """
typedef int tile __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 8, 8,
                                         CLK_COOPERATIVE_MATRIX_ACCUMULATOR)));
__attribute__((intel_reqd_sub_group_size(32)))
kernel void k(global int* out, global const uint* in)
{
    uint i = get_sub_group_local_id();
    tile c = coop_mat_load((global const int*)in, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 8);
    global int* place = out + 64 * get_sub_group_id();
    c[in[i] & 1] += in[in[i]];
    uint n = 0;
    if (get_sub_group_id() == 0)
        n = 2;
    else
        for (; n < coop_mat_length(c); ++n)
            c[n] *= c[n] & 1 ? 3 : 5;
    coop_mat_store(place, c, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 8);
}
"""
SHUFFLED = """
__attribute__((intel_reqd_sub_group_size(SIZE)))
kernel void k(global ulong* out, global const uint* in)
{
    uint i = get_global_id(0);
    out[i] = sub_group_shuffle((TYPE)in[i], in[i] % SIZE);
}
"""


def launched(source: str, device: str, out: np.ndarray, words: np.ndarray, size: int, options: str = "") -> np.ndarray:
    kernel = cm.build(source, options, device="cpu" if device == "cpu" else None).kernel("k")
    cm.Queue(device).enqueue(kernel, (size,), (size,), out, words).wait()
    return out
UNNAMED = """
typedef int tile __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 64, 65,
                                         CLK_COOPERATIVE_MATRIX_ACCUMULATOR)));
#define ROWS CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
kernel void k(global int* C, global int* D, int n, int p)
{
    tile c = coop_mat_load(C, ROWS, 65), d = coop_mat_load(C + 1, ROWS, 65);
    int q = p;
    for (int i = 0; i < n; i++) {
        q++;
        switch ((p + q) % 4) {
        case 2:
            c = c + d;
            break;
        case 1:
            if ((n + q) % 4 == 1)
                c = d;
            break;
        }
        D[i] = (q + n) % 4 == 0;
        if ((q & 1) == 0)
            d = c;
    }
    coop_mat_store(C, c, ROWS, 65);
}
"""
IN_BYTES = """
typedef int tile __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 8, 16,
                                         CLK_COOPERATIVE_MATRIX_ACCUMULATOR)));
#define ROWS CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
kernel void k(global int* C, int n)
{
    tile r[3];
    r[0] = coop_mat_load(C, ROWS, 16);
    r[1] = coop_mat_load(C + 128, ROWS, 16);
    r[2] = r[0] - r[1];
    for (int i = 0; i < n; i++)
        r[i % 3] = r[1] + r[2];
    for (int i = 0; i < 3; i++)
        coop_mat_store(C + 128 * i, r[i], ROWS, 16);
}
"""


@pytest.mark.parametrize("device", DEVICES)
def test_a_run_time_index_into_one_member_of_a_structure(device: str) -> None:
    indices = np.random.default_rng(1).integers(0, 4, 32, np.uint32)
    octets = np.tile(np.array([10, 20, 30, 40], np.uint8), (32, 1))
    octets[np.arange(32), indices] += 7
    assert (launched(INDEXED, device, np.zeros(32, np.uint32), indices, 32) == octets.view(np.uint32)[:, 0]).all()


def test_components_by_varying_indices_beside_gathers() -> None:
    """One sub-group has left the loop whose counter chooses the component."""
    words = np.random.default_rng(2).integers(0, 64, 64, np.uint32)
    found = [launched(COMPONENTS, device, np.zeros(128, np.int32), words, 64) for device in DEVICES]
    assert (found[0] == found[1]).all()
    changed = words.astype(np.int64)
    assert found[0][:64].sum() == changed.sum() + changed[words[:32]].sum()


@pytest.mark.parametrize("type_", ["short", "ushort"])
@pytest.mark.parametrize("size", [4, 16, 32, 64])
def test_shuffled_numbers_of_16_bits_as_64(type_: str, size: int) -> None:
    words = np.random.default_rng(3).integers(0, 2**32, 64, np.uint32)
    numbers = words.astype(np.int16 if type_ == "short" else np.uint16).astype(np.int64).astype(np.uint64)
    lanes = np.arange(64) // size * size + words % size
    found = launched(SHUFFLED, "cpu", np.zeros(64, np.uint64), words, 64, f"-DTYPE={type_} -DSIZE={size}")
    assert (found == numbers[lanes]).all()


def test_dot_products_with_a_word_for_all() -> None:
    """LLVM did not end."""
    program = CpuProgram(cm.build(EXAMPLES / "dot_products.cl", device="cpu").module)
    for name, signature in program.signatures.items():
        program.compile(name, program.variant(signature, (32, 1, 1)))


@pytest.mark.parametrize(("n", "p"), [(0, 0), (3, 2), (7, 1), (9, 3)])
def test_values_without_names_beside_large_matrices(n: int, p: int) -> None:
    """LLVM expects their numbers in order, which must not change with the lines that become copies."""
    given = np.random.default_rng(n).integers(-9, 9, 64 * 65 + 1).astype(np.int32)
    c, d, marks, q = given[:-1].copy(), given[1:].copy(), np.zeros(16, np.int32), p
    for i in range(n):
        q += 1
        if (p + q) % 4 == 2:
            c = c + d
        elif (p + q) % 4 == 1 and (n + q) % 4 == 1:
            c = d
        marks[i] = (q + n) % 4 == 0
        d = c if q % 2 == 0 else d
    found, out = given.copy(), np.zeros(16, np.int32)
    cm.Queue("cpu").enqueue(cm.build(UNNAMED).kernel("k"), 16, 16, found, out, np.int32(n), np.int32(p)).wait()
    np.testing.assert_array_equal(found, [*c, given[-1]])
    np.testing.assert_array_equal(out, marks)


@pytest.mark.parametrize("level", range(4))
def test_matrices_that_llvm_reaches_by_their_bytes(level: int) -> None:
    given = np.random.default_rng(level).integers(-9, 9, 3 * 128).astype(np.int32)
    r = [given[:128], given[128:256], given[:128] - given[128:256]]
    for i in range(5):
        r[i % 3] = r[1] + r[2]
    cm.Queue("cpu").enqueue(cm.build(IN_BYTES).optimized(level).kernel("k"), 16, 16, given, np.int32(5)).wait()
    np.testing.assert_array_equal(given, np.concatenate(r))
