"""Views of a module: functions and blocks, names, decorations, constants."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from coopmat import spirv
from coopmat.diagnostics import Error, ValidationError
from coopmat.spirv import EntryPoint, Module, Op, make
from coopmat.spirv.grammar import (
    BuiltIn,
    Capability,
    Decoration,
    ExecutionMode,
    ExecutionModel,
    FunctionParameterAttribute,
)
from coopmat.spirv.module import Content

DATA = Path(__file__).parents[1] / "data"

TEXT = """
OpCapability Kernel
OpCapability Addresses
OpExtension "SPV_KHR_cooperative_matrix"
%1 = OpExtInstImport "OpenCL.std"
OpMemoryModel Physical64 OpenCL
OpEntryPoint Kernel %20 "copy" %9
OpExecutionMode %20 LocalSize 16 1 1
OpExecutionMode %20 SubgroupSize 16
%2 = OpString "copy.cl"
OpName %20 "copy"
OpMemberName %8 1 "second"
OpDecorate %9 BuiltIn GlobalInvocationId
OpDecorate %10 FuncParamAttr NoAlias
%10 = OpDecorationGroup
OpGroupDecorate %10 %22 %23
OpMemberDecorate %8 1 Offset 4
%3 = OpTypeVoid
%4 = OpTypeInt 32 0
%5 = OpConstant %4 7
%6 = OpTypePointer CrossWorkgroup %4
%7 = OpTypeFunction %3 %6 %6
%8 = OpTypeStruct %4 %4
%11 = OpTypePointer Input %4
%9 = OpVariable %11 Input
%20 = OpFunction %3 None %7
%22 = OpFunctionParameter %6
%23 = OpFunctionParameter %6
%24 = OpLabel
OpLine %2 3 5
%25 = OpLoad %4 %22 Aligned 4
OpBranch %26
%26 = OpLabel
OpStore %23 %25 Aligned 4
OpReturn
OpFunctionEnd
%30 = OpFunction %3 None %7
%31 = OpFunctionParameter %6
%32 = OpFunctionParameter %6
OpFunctionEnd
"""


@pytest.fixture
def module() -> Module:
    return Module.from_text(TEXT)


def test_functions_and_blocks(module: Module) -> None:
    copy, declared = module.functions
    assert (copy.id, copy.type_id, copy.function_type_id) == (20, 3, 7)
    assert [item.result_id for item in copy.parameters] == [22, 23]
    assert [block.label for block in copy.blocks] == [24, 26]
    assert [item.name for item in copy.blocks[0].instructions] == ["OpLine", "OpLoad", "OpBranch"]
    assert copy.block(26).terminator.opcode == Op.Return
    assert declared.blocks == []
    assert module.function(30) is declared
    with pytest.raises(ValidationError, match="no block with label %99"):
        copy.block(99)
    with pytest.raises(ValidationError, match="id 5 is used as a function"):
        module.function(5)


def test_declarations(module: Module) -> None:
    assert module.entry_points == (EntryPoint(ExecutionModel.Kernel, 20, "copy", (9,)),)
    assert module.execution_modes(20) == [(ExecutionMode.LocalSize, (16, 1, 1)), (ExecutionMode.SubgroupSize, (16,))]
    assert module.execution_modes(30) == []
    assert module.capabilities == (Capability.Kernel, Capability.Addresses)
    assert module.extensions == ("SPV_KHR_cooperative_matrix",)
    assert module.instruction_sets == {1: "OpenCL.std"}
    assert module.names == {20: "copy"}
    assert module.member_names == {(8, 1): "second"}
    assert module.strings == {2: "copy.cl"}


def test_decorations(module: Module) -> None:
    assert module.decorations(9) == [(Decoration.BuiltIn, (BuiltIn.GlobalInvocationId,))]
    for parameter in (22, 23):
        assert module.decorations(parameter) == [
            (Decoration.FuncParamAttr, (FunctionParameterAttribute.NoAlias,))]
    assert module.member_decorations(8, 1) == [(Decoration.Offset, (4,))]
    assert module.member_decorations(8, 0) == []


def test_definitions(module: Module) -> None:
    assert module.definition(5).opcode == Op.Constant
    assert module.defines(5)
    assert not module.defines(99)
    with pytest.raises(ValidationError, match="id 99"):
        module.definition(99)


@pytest.mark.parametrize(("lines", "value"), [
    (["%2 = OpTypeInt 32 0", "%9 = OpConstant %2 4294967295"], 4294967295),
    (["%2 = OpTypeInt 32 1", "%9 = OpConstant %2 -1"], -1),
    (["%2 = OpTypeInt 8 1", "%9 = OpConstant %2 -128"], -128),
    (["%2 = OpTypeInt 8 0", "%9 = OpConstant %2 !0xffffff80"], 128),
    (["%2 = OpTypeInt 64 1", "%9 = OpSpecConstant %2 -5"], -5),
    (["%2 = OpTypeInt 64 0", "%9 = OpConstantNull %2"], 0),
    (["%2 = OpTypeFloat 16", "%9 = OpConstant %2 0x1.8p+0"], 1.5),
    (["%2 = OpTypeFloat 16 BFloat16KHR", "%9 = OpConstant %2 -0x1.8p+100"], -1.5 * 2.0**100),
    (["%2 = OpTypeFloat 32", "%9 = OpConstant %2 -0x1p+128"], -math.inf),
    (["%2 = OpTypeFloat 64", "%9 = OpConstant %2 0.1"], 0.1),
    (["%2 = OpTypeFloat 64", "%9 = OpConstantNull %2"], 0.0),
    (["%2 = OpTypeBool", "%9 = OpConstantTrue %2"], True),
    (["%2 = OpTypeBool", "%9 = OpSpecConstantFalse %2"], False),
    (["%2 = OpTypeBool", "%9 = OpConstantNull %2"], False),
    (["%2 = OpTypeInt 32 0", "%3 = OpTypeVector %2 4", "%9 = OpConstantNull %3"], None),
    (["%2 = OpTypeInt 32 0", "%9 = OpUndef %2"], None),
    (["%2 = OpTypeFloat 8 Float8E4M3EXT", "%9 = OpConstant %2 !0x00000038"], 1.0),
    (["%2 = OpTypeInt 4294967295 1", "%9 = OpConstant %2 !0x1"], None),
    (["%2 = OpTypeInt 0 1", "%9 = OpConstant %2 !0x1"], None),
])
def test_constant_value(lines: list[str], value: object) -> None:
    found = Module.from_text("\n".join(lines)).constant_value(9)
    assert found == value
    assert type(found) is type(value)


FUNCTION = "%1 = OpFunction %2 None %3\n"


@pytest.mark.parametrize(("text", "message"), [
    (FUNCTION, "function %1 has no OpFunctionEnd"),
    (FUNCTION + "%4 = OpLabel\nOpFunctionEnd", "block %4 has no terminator before it"),
    (FUNCTION + "%4 = OpLabel\n%5 = OpLabel", "OpLabel is misplaced"),
    (FUNCTION + "%4 = OpLabel\nOpNop", "block %4, the last one, has no terminator"),
    (FUNCTION + "%5 = OpFunction %2 None %3", "function %1 has no OpFunctionEnd before it"),
    (FUNCTION + "OpReturn", "OpReturn is misplaced: it stands outside of a block"),
    (FUNCTION + "OpFunctionEnd\nOpFunctionEnd", "OpFunctionEnd is misplaced: it stands outside of a function"),
    (FUNCTION + "%4 = OpLabel\nOpReturn\n%5 = OpFunctionParameter %2", "it stands after a block"),
    (FUNCTION + "%4 = OpLabel\nOpReturn\nOpReturn", "it stands outside of a block"),
    ("%4 = OpLabel", "it stands outside of a function"),
])
def test_functions_not_well_nested(text: str, message: str) -> None:
    with pytest.raises(ValidationError) as caught:
        _ = Module.from_text(text).functions
    assert message in str(caught.value)


def test_ids_of_an_instruction(module: Module) -> None:
    load = module.definition(25)
    assert list(load.ids()) == [4, 22]
    assert [operand.is_id for operand in load.operands] == [True, False, False]
    assert list(module.definition(5).ids()) == [4]


def test_modules_of_other_producers_have_their_kernels() -> None:
    scale = Module.from_bytes((DATA / "scale_O2.spv").read_bytes())
    assert [entry.name for entry in scale.entry_points] == ["scale", "convert"]
    matrix = Module.from_bytes((DATA / "matrix.spv").read_bytes())
    assert [entry.name for entry in matrix.entry_points] == ["multiply", "prefetch_bfloat"]
    (sizes,) = [modes for entry in matrix.entry_points
                for modes in [matrix.execution_modes(entry.function_id)] if len(modes) == 2]
    assert (ExecutionMode.SubgroupSize, (16,)) in sizes
    kinds = [item.words for item in matrix.of_opcode(Op.TypeCooperativeMatrixKHR)]
    shapes = [tuple(matrix.constant_value(word) for word in words[1:]) for words in kinds]
    assert shapes == [(3, 8, 16, 0), (3, 16, 16, 1), (3, 8, 16, 2), (3, 8, 16, 0)]


# ---------------------------------------------------------------------------------- passes


def test_uses() -> None:
    module = Module.from_text(TEXT)
    used = {item.name for item in module.uses(module.functions[0].id)}
    assert "OpEntryPoint" in used
    for item in module.instructions:
        for identifier in item.ids():
            assert item in module.uses(identifier)
    assert module.uses(module.bound) == []


def test_with_ids_renumbers_everything() -> None:
    module = Module.from_text(TEXT)
    shifted = module.with_instructions(item.with_ids(lambda identifier: identifier + 100)
                                       for item in module.instructions)
    assert shifted.bound == module.bound + 100
    assert {v.rule for v in shifted.validate()} == {v.rule for v in module.validate()}
    back = shifted.with_instructions(item.with_ids(lambda identifier: identifier - 100)
                                     for item in shifted.instructions)
    assert [item.to_words() for item in back.instructions] == [item.to_words() for item in module.instructions]


def test_rewritten_removes_keeps_and_adds() -> None:
    module = Module.from_text(TEXT)
    names = list(module.of_opcode(Op.Name))
    assert names
    bare = module.rewritten(lambda item: () if item.opcode == Op.Name else None)
    assert not list(bare.of_opcode(Op.Name))
    assert len(bare.instructions) == len(module.instructions) - len(names)
    longer = module.rewritten(lambda item: [item, make(Op.Nop)] if item.opcode == Op.Label else None)
    assert len(longer.instructions) == len(module.instructions) + len(list(module.of_opcode(Op.Label)))
    assert (longer.version, longer.generator, longer.schema) == (module.version, module.generator, module.schema)


def test_a_changed_module_is_of_the_same_class() -> None:
    for kind in (Module, Content):
        module = kind.from_bytes(Module.from_text(TEXT).to_bytes())
        assert type(module) is type(module.with_instructions(module.instructions)) is kind
        assert type(module.rewritten(lambda item: None)) is kind


def test_names_that_are_imported_when_asked_for() -> None:
    assert {spirv.link.__module__, spirv.specialize.__module__, spirv.Violation.__module__} \
        == {"coopmat.spirv.edit.linker", "coopmat.spirv.edit.specialization", "coopmat.spirv.validate.rules"}


def test_rewriting_refuses_what_is_no_module() -> None:
    module = Module.from_text(TEXT)
    assert module.rewritten(lambda item: item).to_bytes() == module.to_bytes()
    with pytest.raises(ValueError, match="ids run from 1 to"):
        module.with_instructions(item.with_ids(lambda identifier: -identifier) for item in module.instructions)
    with pytest.raises(TypeError, match="a module holds instructions, not int"):
        module.rewritten(lambda item: [1])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="cannot hold a zero byte"):
        make(Op.String, "a\0b", result_id=1)


def test_what_is_given_as_a_module() -> None:
    with pytest.raises(Error, match="a SPIR-V binary is bytes, not str"):
        Module.from_bytes("abc")  # type: ignore[arg-type]
    with pytest.raises(Error, match="SPIR-V text is a str, not bytes"):
        Module.from_text(b"abc")  # type: ignore[arg-type]
    assert repr(Module.from_text(TEXT)).startswith("<SPIR-V 1.4 module of ")


def test_violations_of_a_module_with_too_few_words_are_a_list() -> None:
    module = Module([make(Op.Capability, 6)])
    module.instructions[0].words = ()
    (found,) = module.validate()
    assert found.rule == "operand-missing"
