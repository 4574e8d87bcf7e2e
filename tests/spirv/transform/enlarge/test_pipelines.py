"""Kernels that load ahead, as ones that do not: the same results, in the simulator with all checks."""

from __future__ import annotations

import numpy as np
import pytest

import coopmat as cm
from coopmat.spirv import Module
from coopmat.spirv.grammar import Op
from coopmat.spirv.transform.enlarge.pipelines import in_turn
from coopmat.spirv.transform.without_variables import with_values
from tests.kit.fuzz.products import LOOPS, SOURCE

TYPES = ("-DIN=char -DOUT=int -DFLAGS=15 -DTM=8 -DTN=8 -DTK=8 -DRM=2 -DRN=1 -DBY_COLUMNS_A=0 -DBY_COLUMNS_B=1 "
         "-DTOGETHER=1 -DEND= -DTILES= -DROW_OF=get_group_id(1) -DCOLUMN_OF=get_group_id(0)")
AHEAD = ("a round ahead", "if there is another", "within the matrix", "by turns", "two rounds ahead", "in turn")
MOST_ROUNDS = 4


def straightened(loop: str) -> tuple[Module, int]:
    """A kernel as it is then, and how many conditions that has."""
    options = [*TYPES.split(), "-DSTART=coop_mat_init(0)", f"-DLOOP={loop}".replace("\n", " ")]
    module = with_values(cm.build(SOURCE, options).module, element_loops=False)
    found = in_turn(module, "gemm", (16, 1, 1), 16)
    assert found.module.validate() == []
    return found.module, len(found.conditions)


def carried(module: Module) -> set[int]:
    """The uses of the matrices that loops carry on."""
    kinds = [module.definition(row.type_id) for row in module.of_opcode(Op.Phi) if row.type_id is not None]
    return {module.constant_value(kind.words[4]) or 0 for kind in kinds if kind.opcode == Op.TypeCooperativeMatrixKHR}


@pytest.mark.parametrize("name", AHEAD)
def test_loads_ahead(name: str) -> None:
    """Nothing but sums is carried on, all products are in the loop, and no round loads what is not there."""
    module, conditions = straightened(LOOPS[name])
    assert carried(module) == {2}
    assert sum(1 for _ in module.of_opcode(Op.CooperativeMatrixMulAddKHR)) == (4 if name == "in turn" else 2)
    assert conditions
    kernel = cm.build(module.to_bytes(), device="sim:generic").kernel("gemm")
    for rounds in range(2 if name in ("two rounds ahead", "in turn") else 1, MOST_ROUNDS + 1):
        if name == "in turn" and rounds % 2:
            continue
        m, n, k = 32, 16, 8 * rounds
        rng = np.random.default_rng(rounds)
        a, b = (rng.integers(-128, 128, shape).astype(np.int8) for shape in ((m, k), (k, n)))
        c = np.zeros((m, n), np.int32)
        cm.Queue("sim:generic").enqueue(kernel, (n // 8 * 16, m // 16), (16, 1), a, np.ascontiguousarray(b.T), c, c, m,
                                        n, k).wait()
        np.testing.assert_array_equal(c, a.astype(np.int32) @ b)


@pytest.mark.parametrize(("change", "kept"), [
    ("ADD(x, y, sums); COPY", "ADD(x, y, sums); coop_mat_store(c, sums[0][0], ROW, n); COPY"),
    ("for (int at = TK; at < k; at += TK) {", "for (int at = TK; at < k; at += TK) { if (at > m) break;"),
    ("LOAD(x, y, 0);", "LOAD(x, y, 0); coop_mat_store(c, sums[0][0], ROW, n);"),
])
def test_stays(change: str, kept: str) -> None:
    """What is stored meanwhile may be what is loaded, and a loop that is left in the middle has done less."""
    loop = LOOPS["a round ahead"]
    assert carried(straightened(loop.replace(change, kept))[0]) == {0, 1, 2}
    assert loop.replace(change, kept) != loop


@pytest.mark.parametrize(("name", "change", "kept", "products"), [
    ("a round ahead", "} ADD(x, y, sums);", "} ADD(x, y, sums); ADD(x, y, sums);", 6),
    ("a round ahead", "} ADD(x, y, sums);", "} sums[0][0] = sums[0][0] * 2; ADD(x, y, sums);", 4),
    ("if there is another", "at + TK < k", "at + TK <= k", 2),
])
def test_another_round(name: str, change: str, kept: str, products: int) -> None:
    """What stands behind a loop is no round of it if it is something else; a load for another round must be one."""
    loop = " ".join(LOOPS[name].split())
    module, _ = straightened(loop.replace(change, kept))
    assert loop.replace(change, kept) != loop
    assert carried(module) == ({2} if name == "a round ahead" else {0, 1, 2})
    assert sum(1 for _ in module.of_opcode(Op.CooperativeMatrixMulAddKHR)) == products


@pytest.mark.parametrize(("change", "kept", "limits"), [
    ("", "", 0), ("min(at + TK, k - TK)", "at + TK < k ? at + TK : at", 0),
    ("min(at + TK, k - TK)", "at + TK <= k ? at + TK : at", 1), ("min(at + TK, k - TK)", "min(TK, k - TK)", 1),
    ("min(at + TK, k - TK)", "at + TK; if (k <= next) next = 0", 0),
    ("k - TK); LOAD", "k - TK); sums[0][0] = sums[0][0] * next; LOAD", 1)])
def test_limits(change: str, kept: str, limits: int) -> None:
    """A limit that only the last round reaches is none for the others, if nothing but loads for these needs it."""
    loop = " ".join(LOOPS["within the matrix"].split())
    module, _ = straightened(loop.replace(change, kept))
    assert carried(module) == {2}
    assert sum(1 for _ in (*module.of_opcode(Op.ExtInst), *module.of_opcode(Op.Select))) == 1 + limits  # 1: of relu


@pytest.mark.parametrize(("options", "start", "sums"), [
    (TYPES, "0", 2), (TYPES, "7", 2), (TYPES.replace("FLAGS=15", "FLAGS=31"), "0", 4),
    (TYPES.replace("char", "half").replace("int", "float").replace("FLAGS=15", "FLAGS=0"), "0", 4)])
def test_two_sums(options: str, start: str, sums: int) -> None:
    """Sums of integers are one: they wrap around, unless they saturate; floats are rounded."""
    loop = LOOPS["two sums"].replace("coop_mat_init(0)", f"coop_mat_init({start})")
    module = with_values(cm.build(SOURCE, [*options.split(), "-DSTART=coop_mat_init(3)", f"-DLOOP={loop}".replace(
        "\n", " ")]).module, element_loops=False)
    found = in_turn(module, "gemm", (16, 1, 1), 16).module
    assert found.validate() == []
    kinds = [found.definition(row.type_id).opcode for row in found.of_opcode(Op.Phi) if row.type_id is not None]
    assert kinds.count(Op.TypeCooperativeMatrixKHR) == sums
    if options is TYPES:
        m, n, k = 16, 8, 32
        rng = np.random.default_rng(0)
        a, b = (rng.integers(-128, 128, shape).astype(np.int8) for shape in ((m, k), (k, n)))
        c = np.zeros((m, n), np.int32)
        kernel = cm.build(found.to_bytes(), device="sim:generic").kernel("gemm")
        cm.Queue("sim:generic").enqueue(kernel, (16, 1), (16, 1), a, np.ascontiguousarray(b.T), c, c, m, n, k).wait()
        np.testing.assert_array_equal(c, a.astype(np.int32) @ b + 3 + int(start))
