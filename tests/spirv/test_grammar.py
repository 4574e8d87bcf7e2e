"""The grammar tables against the Khronos grammars, entry by entry."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from coopmat.spirv import grammar
from coopmat.spirv.grammar import (
    ENUMERATIONS,
    OPENCL_STD,
    OPENCL_STD_NAMES,
    Capability,
    Mask,
    Op,
    extended_operands,
    instruction,
    parameters,
    requirements,
)
from tests.kit.paths import ROOT

DATA = ROOT.parent / "shared" / "data"

JOINT_MATRIX = {"CooperativeMatrixLoadCheckedINTEL", "CooperativeMatrixStoreCheckedINTEL",
                "CooperativeMatrixConstructCheckedINTEL", "CooperativeMatrixGetElementCoordINTEL",
                "CooperativeMatrixApplyFunctionINTEL", "CooperativeMatrixPrefetchINTEL",
                "PackedCooperativeMatrixINTEL", "CooperativeMatrixInvocationInstructionsINTEL",
                "CooperativeMatrixTF32ComponentTypeINTEL", "CooperativeMatrixBFloat16ComponentTypeINTEL",
                "CooperativeMatrixCheckedInstructionsINTEL", "MatrixAAndBTF32ComponentsINTEL",
                "MatrixAAndBBFloat16ComponentsINTEL", "MatrixCBFloat16ComponentsINTEL",
                "MatrixResultBFloat16ComponentsINTEL", "PackedINTEL"}
"""SPV_INTEL_joint_matrix, which the Khronos grammar does not hold."""

def khronos(name: str) -> dict[str, Any]:
    path = DATA / name
    if not path.exists():
        pytest.skip(f"the Khronos grammar {name} is not at {DATA}")
    return json.loads(path.read_text())


@pytest.fixture(scope="module")
def core() -> dict[str, Any]:
    return khronos("spirv.core.grammar.json")


def version(text: str | None) -> tuple[int, int] | None:
    if text is None or text == "None":
        return None
    major, minor = text.split(".")
    return int(major), int(minor)


def canonical(names: list[str]) -> set[Capability]:
    return {Capability[name] for name in names}


def kinds(operands: list[dict[str, str]]) -> list[tuple[str, str]]:
    return [(operand["kind"], operand.get("quantifier", "")) for operand in operands
            if operand["kind"] not in ("IdResultType", "IdResult")]


def test_instructions_equal_khronos(core: dict[str, Any]) -> None:
    entries = {entry["opname"].removeprefix("Op"): entry for entry in core["instructions"]}
    for op in Op:
        if op.name in JOINT_MATRIX:
            continue
        entry, row = entries[op.spelling], instruction(op)
        assert row is not None
        operands = entry.get("operands", [])
        assert row.opcode == entry["opcode"], op
        assert row.has_type == any(operand["kind"] == "IdResultType" for operand in operands), op
        assert row.has_result == any(operand["kind"] == "IdResult" for operand in operands), op
        assert [tuple(spec) for spec in row.operands] == kinds(operands), op
        assert set(row.capabilities) == canonical(entry.get("capabilities", [])), op
        assert list(row.extensions) == entry.get("extensions", []), op
        assert row.version == version(entry.get("version", "1.0")), op
        assert row.last_version == version(entry.get("lastVersion")), op
        for alias in entry.get("aliases", []):
            assert Op[alias.removeprefix("Op")] is op


def test_enumerants_equal_khronos(core: dict[str, Any]) -> None:
    compared = 0
    for kind in core["operand_kinds"]:
        enumeration = ENUMERATIONS.get(kind["kind"])
        if enumeration is None:
            continue
        assert issubclass(enumeration, Mask) == (kind["category"] == "BitEnum")
        entries = {entry["enumerant"]: entry for entry in kind["enumerants"]}
        for name, member in enumeration.__members__.items():
            if member.name != name or name in JOINT_MATRIX:
                continue
            entry = entries[member.spelling]
            value = entry["value"]
            assert member == (int(value, 16) if isinstance(value, str) else value), (kind["kind"], name)
            assert [tuple(spec) for spec in parameters(member)] == kinds(entry.get("parameters", [])), name
            needs = requirements(member)
            assert set(needs.capabilities) == canonical(entry.get("capabilities", [])), (kind["kind"], name)
            assert list(needs.extensions) == entry.get("extensions", []), (kind["kind"], name)
            assert needs.version == version(entry.get("version", "1.0")), (kind["kind"], name)
            compared += 1
    assert compared > 700


def test_tables_are_complete(core: dict[str, Any]) -> None:
    names = {"Op" + op.spelling for op in Op}
    assert [entry["opname"] for entry in core["instructions"] if entry["opname"] not in names] == []
    for kind in core["operand_kinds"]:
        enumeration = ENUMERATIONS.get(kind["kind"])
        if enumeration is not None:
            spellings = {member.spelling for member in enumeration.__members__.values()}
            assert [entry["enumerant"] for entry in kind["enumerants"] if entry["enumerant"] not in spellings] == []


def test_every_operand_kind_is_known(core: dict[str, Any]) -> None:
    described = {kind["kind"] for kind in core["operand_kinds"]}
    for op in Op:
        row = instruction(op)
        assert row is not None
        for kind, _ in row.operands:
            assert kind in described
            assert kind in ENUMERATIONS or kind.startswith(("Id", "Literal", "Pair")), (op, kind)


def test_opencl_std_equals_khronos() -> None:
    entries = khronos("extinst.opencl.std.100.grammar.json")["instructions"]
    assert {entry["opname"]: entry["opcode"] for entry in entries} == OPENCL_STD
    assert len(OPENCL_STD_NAMES) == len(entries)
    for entry in entries:
        specs = extended_operands("OpenCL.std", entry["opcode"])
        assert [tuple(spec) for spec in specs or ()] == kinds(entry["operands"]), entry["opname"]


@pytest.mark.parametrize(("op", "number", "operands"), [
    (Op.CooperativeMatrixLoadCheckedINTEL, 6193, 6),
    (Op.CooperativeMatrixStoreCheckedINTEL, 6194, 7),
    (Op.CooperativeMatrixConstructCheckedINTEL, 6195, 5),
    (Op.CooperativeMatrixGetElementCoordINTEL, 6440, 2),
    (Op.CooperativeMatrixApplyFunctionINTEL, 6448, 2),
    (Op.CooperativeMatrixPrefetchINTEL, 6449, 7),
])
def test_joint_matrix_word_counts(op: Op, number: int, operands: int) -> None:
    """Numbers and least word counts as the text of SPV_INTEL_joint_matrix gives them."""
    row = instruction(op)
    assert row is not None
    assert row.opcode == number
    assert sum(not spec.quantifier for spec in row.operands) == operands
    (capability,) = row.capabilities
    assert requirements(capability).extensions == ("SPV_INTEL_joint_matrix",)
    assert requirements(capability).capabilities == (Capability.CooperativeMatrixKHR,)


def test_every_requirement_parses() -> None:
    """A misspelled capability or version in any row raises here."""
    for enumeration in (Op, *ENUMERATIONS.values()):
        for member in enumeration:
            assert requirements(member) is not None


def test_unknown_numbers() -> None:
    assert instruction(0xFFFF) is None
    assert extended_operands("OpenCL.std", 9999) is None
    assert extended_operands("NonSemantic.Unheard", 1) is None


def test_all_names_exist() -> None:
    for name in grammar.__all__:
        assert hasattr(grammar, name)


def test_import_stays_light() -> None:
    """The SPIR-V layer must not pull in numerical libraries by itself."""
    code = ("import sys, types; root = types.ModuleType('coopmat'); root.__path__ = [sys.argv[1]]; "
            "sys.modules['coopmat'] = root; import coopmat.spirv; print('numpy' in sys.modules)")
    root = Path(grammar.__file__).parents[1]
    result = subprocess.run([sys.executable, "-c", code, str(root)], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "False"
