"""Specialisation, compared with spirv-opt where it is installed."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import coopmat as cm
from coopmat.spirv import Module
from coopmat.spirv.edit.specialization import spec_constants, specialize
from coopmat.spirv.grammar import Op
from tests.kit.spirv.case import kernel

NAMES = ("IAdd", "ISub", "IMul", "UDiv", "SDiv", "UMod", "SRem", "SMod", "BitwiseAnd", "BitwiseOr", "BitwiseXor",
         "ShiftLeftLogical", "ShiftRightLogical", "ShiftRightArithmetic")
COMPARISONS = ("IEqual", "INotEqual", "ULessThan", "SLessThan", "UGreaterThanEqual", "SGreaterThanEqual")
TEXT = kernel(
    "", annotations="OpDecorate %a SpecId 3\nOpDecorate %b SpecId 7\nOpDecorate %f SpecId 8\nOpDecorate %t SpecId 9",
    declarations="\n".join((
        "%a = OpSpecConstant %uint 6", "%b = OpSpecConstant %uint 3", "%f = OpSpecConstant %float 1.5",
        "%t = OpSpecConstantTrue %bool",
        *(f"%r{i} = OpSpecConstantOp %uint {name} %a %b" for i, name in enumerate(NAMES)),
        *(f"%c{i} = OpSpecConstantOp %bool {name} %a %b" for i, name in enumerate(COMPARISONS)),
        "%s = OpSpecConstantOp %uint Select %t %a %b", "%n = OpSpecConstantOp %uint Not %a",
        "%v = OpSpecConstantComposite %v2uint %a %b")),
    modes='OpName %a "tile"')


def constants(module: Module) -> list[tuple[int, object]]:
    return [(item.result_id or 0, module.constant_value(item.result_id or 0)) for item in module.instructions
            if item.opcode in (Op.Constant, Op.ConstantTrue, Op.ConstantFalse)]


def test_lists_the_constants() -> None:
    found = spec_constants(Module.from_text(TEXT))
    assert [(c.spec_id, c.name, c.type, c.default) for c in found] == [
        (3, "tile", "uint32", 6), (7, None, "uint32", 3), (8, None, "fp32", 1.5), (9, None, "bool", True)]


def test_defaults_stay_where_no_value_is_given() -> None:
    module = specialize(Module.from_text(TEXT), {"tile": 40})
    assert not any(item.name.startswith("OpSpec") for item in module.instructions)
    values = dict(constants(module)).values()
    assert {40, 3, 1.5, True, 43} <= set(values)


@pytest.mark.parametrize(("values", "message"), [
    ({4: 1}, "no specialisation constant 4"), ({"tiles": 1}, "no specialisation constant 'tiles'"),
    ({3: 1.5}, "does not fit"), ({3: 1 << 32}, "does not fit"), ({9: 2}, "does not fit"), ({8: "x"}, "does not fit"),
])
def test_refuses_what_does_not_fit(values: dict[int | str, object], message: str) -> None:
    with pytest.raises(cm.Error, match=message):
        specialize(Module.from_text(TEXT), values)  # type: ignore[arg-type]


@pytest.mark.oracle("spirv-opt")
@pytest.mark.parametrize(("a", "b"), [(6, 3), (0xFFFFFFF9, 2), (7, 0xFFFFFFFE), (0x80000000, 31), (5, 0)])
def test_same_values_as_spirv_opt(a: int, b: int, tmp_path: Path) -> None:
    source, target = tmp_path / "in.spv", tmp_path / "out.spv"
    source.write_bytes(Module.from_text(TEXT).to_bytes())
    subprocess.run(["spirv-opt", f"--set-spec-const-default-value=3:{a} 7:{b}", "--freeze-spec-const",
                    "--fold-spec-const-op-composite", str(source), "-o", str(target)], check=True)
    ours = specialize(Module.from_bytes(source.read_bytes()), {3: a, 7: b})
    theirs = Module.from_bytes(target.read_bytes())
    folded = {item.result_id for item in theirs.instructions if item.opcode == Op.Constant}
    for identifier, value in constants(ours):
        if identifier in folded:
            assert theirs.constant_value(identifier) == value
