"""Disassembly and assembly: round trips, header comments, error messages, and SPIRV-Tools as the oracle."""

from __future__ import annotations

import contextlib
import random
import shutil
import struct
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coopmat.diagnostics import Error, ValidationError
from coopmat.spirv import Module, Op, make
from coopmat.spirv.grammar import (
    OPENCL_STD,
    Capability,
    CooperativeMatrixOperands,
    Decoration,
    LinkageType,
    MatrixMultiplyAccumulateOperands,
    MemoryAccess,
)
from coopmat.spirv.module.generators import GENERATOR, TOOLS, generator_text, generator_word

FILES = sorted((Path(__file__).parents[1] / "data").glob("*.spv"))
MODULES = {path.stem: path.read_bytes() for path in FILES}
relaxed = settings(derandomize=True, deadline=None, max_examples=60)

HEAD = "OpCapability Kernel\nOpCapability Addresses\nOpMemoryModel Physical64 OpenCL\n"


def body(module: Module) -> list[str]:
    """The lines of the text without the header comments."""
    return [line.strip() for line in module.to_text().splitlines() if not line.startswith(";")]


def broken(text: str) -> str:
    with pytest.raises(ValidationError) as caught:
        Module.from_text(text)
    return str(caught.value)


@pytest.mark.parametrize("name", MODULES)
def test_text_restores_the_binary(name: str) -> None:
    module = Module.from_bytes(MODULES[name])
    assert Module.from_text(module.to_text()).to_bytes() == MODULES[name]


@pytest.mark.parametrize("name", MODULES)
def test_friendly_text_restores_the_structure(name: str) -> None:
    """Named ids get other numbers, but the module with these names is the same text again."""
    module = Module.from_bytes(MODULES[name])
    text = module.to_text(friendly_names=True)
    again = Module.from_text(text)
    assert again.to_text(friendly_names=True) == text
    assert again.header == module.header
    assert [item.opcode for item in again.instructions] == [item.opcode for item in module.instructions]


# -- SPIRV-Tools -------------------------------------------------------------------------


def tool(*command: str) -> str:
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not here (SPIRV-Tools: the package spirv-tools)")
    result = subprocess.run(command, capture_output=True, text=True, timeout=60)
    if "Invalid" in result.stderr:
        pytest.skip(f"this {command[0]} does not know the module's extensions: {result.stderr.strip()}")
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.mark.oracle("spirv-val")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
@pytest.mark.parametrize("friendly", [False, True])
def test_text_equals_spirv_dis(path: Path, friendly: bool) -> None:
    theirs = tool("spirv-dis", *([] if friendly else ["--raw-id"]), str(path)).splitlines()
    ours = Module.from_bytes(path.read_bytes()).to_text(friendly_names=friendly).splitlines()
    named = [line for line in theirs if not line.startswith("; Generator")]
    assert [line.rstrip() for line in named] == [line for line in ours if not line.startswith("; Generator")]


@pytest.mark.oracle("spirv-val")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_spirv_as_reads_our_text(path: Path, tmp_path: Path) -> None:
    text, out = tmp_path / "text.spvasm", tmp_path / "out.spv"
    module = Module.from_bytes(path.read_bytes())
    text.write_text(module.to_text())
    tool("spirv-as", "--preserve-numeric-ids", f"--target-env=spv{module.version_text}",
         str(text), "-o", str(out))
    theirs, ours = out.read_bytes(), module.to_bytes()
    assert theirs[20:] == ours[20:]


# -- header ------------------------------------------------------------------------------


def test_header_comments_are_restored() -> None:
    module = Module([make(Op.TypeVoid, result_id=3)], version=0x10200, generator=0x12345678, bound=99, schema=7)
    text = module.to_text()
    assert text.splitlines()[:5] == ["; SPIR-V", "; Version: 1.2", "; Generator: Unknown(4660); 22136",
                                     "; Bound: 99", "; Schema: 7"]
    assert Module.from_text(text).header == module.header


def test_defaults_without_header_comments() -> None:
    module = Module.from_text("%7 = OpTypeVoid")
    assert module.header == (0x10400, GENERATOR, 8, 0)
    assert Module.from_text("%7 = OpTypeVoid", version=(1, 1)).version == 0x10100
    assert Module.from_text("").header == (0x10400, GENERATOR, 1, 0)


def test_bound_grows_with_the_ids() -> None:
    assert Module.from_text("; Bound: 3\n%7 = OpTypeVoid").bound == 8


def test_comments_that_are_no_header() -> None:
    text = ("; Version: banana\n; Bound: many\n; Generator: Acme\n; Generator: Khronos; "
            + "0" * 5000 + "\n%1 = OpTypeVoid ; Version: 1.0\n; Bound: 50\n")
    assert Module.from_text(text).header == (0x10400, GENERATOR, 2, 0)


def test_impossible_header_is_refused() -> None:
    assert "[header-version]" in broken("; Version: 7.3\n%1 = OpTypeVoid")
    assert "[header-bound]" in broken("; Bound: 4294967295\n%1 = OpTypeVoid")


@relaxed
@given(st.integers(0, 0xFFFFFFFF) | st.sampled_from([tool << 16 | 3 for tool in TOOLS]))
def test_generator_words(word: int) -> None:
    assert generator_word(generator_text(word)) == word


# -- operands ----------------------------------------------------------------------------


def test_numeric_ids_are_kept_and_names_fill_the_gaps() -> None:
    module = Module.from_text("%a = OpTypeVoid\n%1 = OpTypeBool\n%b = OpTypeFunction %a\n%3 = OpTypeEvent\n"
                              "%c = OpTypeFunction %1")
    assert [item.result_id for item in module.instructions] == [2, 1, 4, 3, 5]
    assert module.bound == 6


@pytest.mark.parametrize("line", [
    "OpDecorate %1 LinkageAttributes \"f\" Import",
    "OpDecorate %1 FuncParamAttr NoAlias",
    "OpMemberDecorate %1 2 Offset 16",
    "OpMemoryModel Physical64 OpenCL",
    "OpEntryPoint Kernel %1 \"na me\" %2 %3",
    "OpExecutionMode %1 LocalSize 1 2 3",
    "OpExecutionModeId %1 LocalSizeId %2 %3 %4",
    "OpStore %1 %2 Volatile|Aligned 4",
    "OpStore %1 %2 None",
    "%3 = OpLoad %1 %2 Aligned|Nontemporal 16",
    "OpCopyMemory %1 %2 Aligned 4 Aligned 8",
    "%3 = OpFunction %1 Inline|Pure %2",
    "OpLoopMerge %1 %2 Unroll|PartialCount 4",
    "OpSelectionMerge %1 DontFlatten",
    "%4 = OpPhi %1 %2 %3 %5 %6",
    "%4 = OpCompositeExtract %1 %2 0 1 4294967295",
    "%4 = OpSpecConstantOp %1 IAdd %2 %3",
    "%4 = OpSpecConstantOp %1 CompositeExtract %2 0 1",
    "%4 = OpTypeImage %1 2D 0 0 0 0 Unknown ReadOnly",
    "%4 = OpTypeFloat 16 BFloat16KHR",
    "%4 = OpCooperativeMatrixMulAddKHR %1 %2 %3 %5 NoneKHR",
    "%4 = OpCooperativeMatrixMulAddKHR %1 %2 %3 %5 MatrixASignedComponentsKHR|SaturatingAccumulationKHR",
    "%4 = OpCooperativeMatrixLoadKHR %1 %2 %3 %5 Aligned 64",
    "OpCooperativeMatrixPrefetchINTEL %1 %2 %3 0 %4 %5",
    "OpCooperativeMatrixPrefetchINTEL %1 %2 %3 %4 %5 0 %6 %7",
    "%4 = OpSubgroupMatrixMultiplyAccumulateINTEL %1 %2 %3 %5 %6 "
    "MatrixASignedComponentsINTEL|MatrixAPackedInt8INTEL|MatrixBPackedInt8INTEL",
    "%4 = OpSDotAccSat %1 %2 %3 %5 PackedVectorFormat4x8Bit",
    "%4 = OpGroupNonUniformIAdd %1 %2 ClusteredReduce %3 %5",
    "%4 = OpExtInst %1 %2 fma %3 %5 %6",
    "%4 = OpExtInst %1 %2 vloadn %3 %5 16",
    "%4 = OpExtInst %1 %2 vstore_half_r %3 %5 %6 RTP",
    "OpSource OpenCL_C 300000",
    "OpNop",
])
def test_line_round_trip(line: str) -> None:
    text = f'%2 = OpExtInstImport "OpenCL.std"\n{line}\n' if "OpExtInst" in line else line + "\n"
    module = Module.from_text(text)
    assert body(module)[-1] == line
    assert str(module.instructions[-1]) == line
    assert Module.from_text(module.to_text()).to_bytes() == module.to_bytes()


@pytest.mark.parametrize(("type_line", "texts"), [
    ("OpTypeInt 8 0", ["0", "255"]),
    ("OpTypeInt 8 1", ["-128", "127"]),
    ("OpTypeInt 16 1", ["-1"]),
    ("OpTypeInt 32 1", ["-2147483648", "2147483647"]),
    ("OpTypeInt 64 0", ["18446744073709551615", "4294967296"]),
    ("OpTypeInt 64 1", ["-1"]),
    ("OpTypeFloat 16", ["0x1.8p+0", "-0x1p-24", "0x1p+16"]),
    ("OpTypeFloat 16 BFloat16KHR", ["0x1.8p+0", "0x1.8p+128"]),
    ("OpTypeFloat 32", ["1.5", "0x1p-149", "-0", "0x1.8p+128"]),
    ("OpTypeFloat 64", ["0.10000000000000001", "1.7976931348623157e+308"]),
])
def test_constants_are_written_by_their_type(type_line: str, texts: list[str]) -> None:
    for text in texts:
        module = Module.from_text(f"%1 = {type_line}\n%2 = OpConstant %1 {text}")
        assert body(module)[-1] == f"%2 = OpConstant %1 {text}"
        assert Module.from_text(module.to_text()).to_bytes() == module.to_bytes()


def test_switch_literals_are_as_wide_as_the_selector() -> None:
    text = "%1 = OpTypeInt 64 1\n%2 = OpUndef %1\nOpSwitch %2 %3 -1 %4 30000000000 %3"
    module = Module.from_text(text)
    assert module.instructions[-1].words == (2, 3, 0xFFFFFFFF, 0xFFFFFFFF, 4, 30000000000 & 0xFFFFFFFF,
                                             30000000000 >> 32, 3)
    assert body(module)[-1] == "OpSwitch %2 %3 -1 %4 30000000000 %3"


@pytest.mark.parametrize("text", ["plain", "", "abc", "abcd", 'quote " and \\ slash', "two\nlines", "Zürich ≠ 東京",
                                  "; no comment", "Op = %1"])
def test_strings(text: str) -> None:
    module = Module([make(Op.String, text, result_id=1)])
    again = Module.from_text(module.to_text())
    assert again.to_bytes() == module.to_bytes()
    assert again.strings == {1: text}


def test_aliases_are_read() -> None:
    assert Module.from_text("OpCapability DotProductKHR").capabilities == (Capability.DotProduct,)
    assert Module.from_text("%3 = OpSDotKHR %1 %2 %2").instructions[0].opcode == Op.SDot


def test_instructions_may_span_lines_and_share_them() -> None:
    module = Module.from_text('OpCapability\n  Kernel OpCapability ; both\n Addresses\n%1=OpTypeVoid %2 = OpTypeBool')
    assert [item.name for item in module.instructions] == ["OpCapability", "OpCapability", "OpTypeVoid",
                                                           "OpTypeBool"]


# -- what the tables do not know ---------------------------------------------------------


@pytest.mark.parametrize("lines", [
    ["!0x0003fff0 !0x00000005 !0xffffffff", "OpNop", "!0x0001fff1"],
    ["OpCapability !0x0000ffff"],
    ["OpDecorate %1 !0x00007777 !0x00000009"],
    ["OpStore %1 %2 !0x00800002 !0x00000004 !0x00000007"],
    ["%3 = OpTypePointer !0x00007777 %2"],
    ["%3 = OpVariable %1 !0x00007777 %2"],
    ["%4 = OpSpecConstantOp %1 !0x0000fff0 !0x00000002"],
    ['%2 = OpExtInstImport "OpenCL.std"', "%4 = OpExtInst %1 %2 !0x0000270f %3 %5"],
    ['%2 = OpExtInstImport "Vendor.set"', "%4 = OpExtInst %1 %2 !0x00000001 !0x00000003"],
    ['%2 = OpExtInstImport "NonSemantic.Vendor"', "%4 = OpExtInst %1 %2 1 %3 %5"],
])
def test_unknown_is_written_and_read_as_words(lines: list[str]) -> None:
    module = Module.from_text("\n".join(lines))
    assert body(module) == lines
    assert Module.from_text(module.to_text()).to_bytes() == module.to_bytes()


@pytest.mark.parametrize("words", [
    [Op.Name, 1, 0x61006261],
    [Op.Name, 1, 0xFF000061],
    [Op.String, 1, 0x000000FF],
    [Op.String, 1, 0x00000D61],
])
def test_strings_that_text_cannot_hold_stay_words(words: list[int]) -> None:
    """Bytes after the terminator, bytes that are no UTF-8, carriage returns."""
    opcode, *rest = words
    data = struct.pack(f"<{6 + len(rest)}I", 0x07230203, 0x10400, 0, 5, 0, len(rest) + 1 << 16 | opcode, *rest)
    text = Module.from_bytes(data).to_text()
    assert Module.from_text(text).to_bytes() == data
    text.encode("utf-8")


def test_numbers_wider_than_their_type_stay_words() -> None:
    text = "%1 = OpTypeInt 8 0\n%2 = OpConstant %1 !0xffffffff\n"
    module = Module.from_text(text)
    assert body(module)[-1] == "%2 = OpConstant %1 !0xffffffff"
    assert str(module.instructions[-1]) == "%2 = OpConstant %1 !0xffffffff"


def test_bound_counts_ids_among_words() -> None:
    module = Module.from_text("!0x00020013 !0x00000005")
    assert module.bound == 6
    assert module.definition(5).opcode == Op.TypeVoid
    assert Module.from_text("!0x0002fff0 !0x00000005").bound == 1


# -- errors ------------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "line", "column", "message"), [
    ("OpCapability Kernle", 1, 14, "expected a name of Capability, found 'Kernle'; did you mean Kernel?"),
    ("OpNop\n  OpTypVoid", 2, 3, "unknown instruction 'OpTypVoid'; did you mean OpTypeVoid?"),
    ("OpTypeVoid", 1, 1, "OpTypeVoid has a result; expected '%id = OpTypeVoid'"),
    ("%1 = OpNop", 1, 1, "OpNop has no result; expected it without '%1 ='"),
    ("%1 = OpTypeInt 32", 1, 16, "OpTypeInt ends here; expected a number"),
    ("%1 =", 1, 1, "expected an instruction after '%1 ='"),
    ("%1 = OpTypeVector 3 4", 1, 19, "expected an id ('%' and letters, digits, '_'), found '3'"),
    ("%1 = OpTypeVector %a-b 4", 1, 19, "expected an id ('%' and letters, digits, '_'), found '%a-b'"),
    ("%1 = OpTypeInt 32 x", 1, 19, "expected a 32-bit integer, found 'x'"),
    ('%1 = OpExtInstImport "OpenCL.std"\n%2 = OpTypeFloat 32\n%4 = OpExtInst %2 %1 sqrt %3 %3', 3, 30,
     "OpExtInst has no operand here; expected the next instruction, found '%3'"),
    ("%1 = OpTypeInt 32 0 0", 1, 21, "OpTypeInt has no operand here; expected the next instruction, found '0'"),
    ("OpName %1 name", 1, 11, "expected a string in double quotes, found 'name'"),
    ('OpName %1 "name', 1, 11, "this string has no closing quote"),
    ("%0 = OpTypeVoid", 1, 1, "numeric ids run from 1 to 4194303, found '%0'"),
    ("%99999999999999999999 = OpTypeVoid", 1, 1, "numeric ids run from 1 to 4194303"),
    ("hello", 1, 1, "expected an instruction or '%id =', found 'hello'"),
    ("%1 = OpTypeInt 8 0\n%2 = OpConstant %1 256", 2, 20, "expected a number for OpTypeInt 8, found '256'"),
    ("%1 = OpTypeFloat 32\n%2 = OpConstant %1 one", 2, 20, "expected a number for OpTypeFloat 32, found 'one'"),
    ("%2 = OpConstant %1 5", 1, 20, "the result type of a constant is no OpTypeInt or OpTypeFloat declared before"),
    ("OpSwitch %1 %2 5 %3", 1, 16, "the selector's type is no OpTypeInt"),
    ("%4 = OpExtInst %1 %2 fma %3", 1, 22, "the instruction set is no OpExtInstImport declared before"),
    ('%2 = OpExtInstImport "OpenCL.std"\n%4 = OpExtInst %1 %2 fmaa %3', 2, 22,
     "expected an instruction of 'OpenCL.std', found 'fmaa'; did you mean fma?"),
    ("%4 = OpSpecConstantOp %1 Foo %2", 1, 26, "unknown instruction 'OpFoo'"),
    ("OpStore %1 %2 Aligned", 1, 15, "OpStore ends here; expected a number"),
    ("OpStore %1 %2 Volatile|Algned 4", 1, 15, "expected a name of MemoryAccess"),
    ("!0x0003fff0 !1", 1, 1, "the first word announces 3 words, but there are 2"),
    ("%1 = !0x0001fff0", 1, 1, "an instruction written as words holds its result id among them"),
    ('OpName %1 "\ud800"', 1, 11, "characters that UTF-8 cannot encode"),
    ('OpName %1 "a\0b"', 1, 11, "a string cannot hold a zero byte"),
    ("OpCapability !0x1ffffffff", 1, 14, "expected '!' and a 32-bit integer"),
    ("%1 = OpTypeVoid\n%1 = OpTypeBool", 2, 6, "OpTypeBool defines id 1"),
    ("OpNop\n!0x00030013 !1 !2", 2, 1, "OpTypeVoid has 1 operand words, but its operands take 0"),
])
def test_messages(text: str, line: int, column: int, message: str) -> None:
    found = broken(text)
    assert found.startswith(f"line {line}, column {column}: ")
    assert message in found


def test_too_long_an_instruction_is_refused() -> None:
    assert "at most 65535 fit" in broken(f'%1 = OpString "{"x" * 300000}"')


@relaxed
@given(st.sampled_from(sorted(MODULES)), st.randoms(use_true_random=False), st.booleans())
def test_mutated_text_raises_nothing_else(name: str, rng: random.Random, friendly: bool) -> None:
    text = Module.from_bytes(MODULES[name]).to_text(friendly_names=friendly)
    for _ in range(rng.randrange(1, 4)):
        start = rng.randrange(len(text))
        end = min(len(text), start + rng.randrange(12))
        piece = ["", "%", "!0x1", '"', " ; ", "OpNop", "=", "|", "\n", "-1", "%9", "é"][rng.randrange(12)]
        text = text[:start] + piece + text[end:]
    try:
        module = Module.from_text(text)
    except ValidationError:
        return
    assert Module.from_text(module.to_text()).to_bytes() == module.to_bytes()


@relaxed
@given(st.text(alphabet='OpTypeInt%123 !0x="\n;|\\é', max_size=60))
def test_noise_raises_nothing_else(text: str) -> None:
    with contextlib.suppress(ValidationError):
        assert Module.from_text(text).to_bytes()


# -- names -------------------------------------------------------------------------------


def test_friendly_names() -> None:
    text = HEAD + "\n".join([
        'OpName %20 "main"', 'OpName %21 "main"', 'OpName %22 "a.b"', 'OpName %23 "17"', 'OpName %24 ""',
        "OpDecorate %25 BuiltIn GlobalInvocationId", "%1 = OpTypeInt 32 0", "%2 = OpTypeVector %1 4",
        "%3 = OpTypePointer CrossWorkgroup %2", "%4 = OpConstant %1 7", "%5 = OpTypeArray %2 %4",
        "%6 = OpTypeFloat 16 BFloat16KHR", "%7 = OpTypeStruct %1", "%8 = OpTypeFloat 32",
        "%9 = OpConstant %8 -0.5", "%10 = OpTypeInt 4 0",
    ])
    lines = Module.from_text(text).to_text(friendly_names=True).split("\n")
    names = [line.split(" = ")[0].strip() for line in lines if " = " in line]
    assert names == ["%uint", "%v4uint", "%_ptr_CrossWorkgroup_v4uint", "%uint_7", "%_arr_v4uint_uint_7",
                     "%bfloat16", "%_struct_7", "%float", "%float_n0_5", "%u4"]
    shown = [line.split()[1] for line in lines if line.strip().startswith("OpName")]
    assert shown == ["%main", "%main_0", "%a_b", "%_17", "%_"]
    assert any("%gl_GlobalInvocationID BuiltIn" in line for line in lines)


def test_str_of_an_instruction() -> None:
    assert str(make(Op.Decorate, 5, Decoration.LinkageAttributes, "f", LinkageType.Import)) == (
        'OpDecorate %5 LinkageAttributes "f" Import')
    assert str(make(Op.Load, 2, MemoryAccess.Aligned, 4, type_id=1, result_id=3)) == "%3 = OpLoad %1 %2 Aligned 4"
    assert str(make(Op.ExtInst, 2, OPENCL_STD["sqrt"], 3, type_id=1, result_id=4)) == "%4 = OpExtInst %1 %2 sqrt %3"
    operands = CooperativeMatrixOperands.MatrixASignedComponentsKHR
    assert str(make(Op.CooperativeMatrixMulAddKHR, 1, 2, 3, operands, type_id=4, result_id=5)).endswith(
        "MatrixASignedComponentsKHR")
    flags = MatrixMultiplyAccumulateOperands(0x33)
    assert str(make(Op.SubgroupMatrixMultiplyAccumulateINTEL, 1, 2, 3, 4, flags, type_id=5, result_id=6)).count(
        "|") == 3


def test_unknown_instructions_with_opcode_and_count() -> None:
    module = Module.from_text("%a = OpTypeVoid\nOpUnknown(60000, 4) %a 42 !7\nOpUnknown ( 61000 , 1 )")
    assert [item.to_words() for item in module.instructions[1:]] == [(0x4EA60, 1, 42, 7), (0x1EE48,)]
    with pytest.raises(Error, match="3 words"):
        Module.from_text("OpUnknown(60000, 4) 1 2")


@pytest.mark.parametrize(("line", "name"), [
    ("%1 = OpTypeFloat 8 Float8E4M3EXT", "fp8e4m3"),
    ("%1 = OpTypeFloat 8 MXInt8EXT", "mxint8"),
    ('OpName %1 "ä"', "__"),
    (f'OpName %1 "{"a" * 257}"', "1"),
    ("OpDecorate %1 BuiltIn SubgroupEqMask", "SubgroupEqMaskKHR"),
    ("OpDecorate %1 BuiltIn BaseInstance", "gl_BaseInstance"),
    ("OpDecorate %1 BuiltIn DrawIndex", "1"),
])
def test_friendly_names_of_others(line: str, name: str) -> None:
    text = Module.from_text(line).to_text(friendly_names=True)
    assert f"%{name} " in text.splitlines()[-1]


@pytest.mark.parametrize("encoding", ["Float8E4M3EXT", "Float8E5M2EXT"])
def test_every_8_bit_float_is_written_and_read(encoding: str) -> None:
    for word in range(256):
        module = Module.from_text(f"%1 = OpTypeFloat 8 {encoding}\n%2 = OpConstant %1 !{word}")
        text = module.to_text().splitlines()[-1]
        assert "!" not in text
        assert Module.from_text(f"%1 = OpTypeFloat 8 {encoding}\n{text}").to_bytes() == module.to_bytes()


@pytest.mark.parametrize(("number", "written"), [("448", "0x1.cp+8"), ("-1.5", "-0x1.8p+0"), ("0x1.ep+8", "0x1.ep+8")])
def test_8_bit_floats_without_infinity(number: str, written: str) -> None:
    module = Module.from_text(f"%1 = OpTypeFloat 8 Float8E4M3EXT\n%2 = OpConstant %1 {number}")
    assert module.to_text().split()[-1] == written
    with pytest.raises(Error, match="expected a number"):
        Module.from_text("%1 = OpTypeFloat 8 Float8E4M3EXT\n%2 = OpConstant %1 500")


def test_extended_sets_are_named() -> None:
    lines = ['%1 = OpExtInstImport "NonSemantic.Shader.DebugInfo.100"', "%3 = OpExtInst %2 %1 DebugSource %4",
             '%5 = OpExtInstImport "OpenCL.DebugInfo.100"',
             "%6 = OpExtInst %2 %5 DebugTypePointer %3 CrossWorkgroup FlagIsPublic",
             "%7 = OpExtInst %2 %5 DebugOperation PlusUconst 4",
             '%8 = OpExtInstImport "NonSemantic.ClspvReflection.5"', "%9 = OpExtInst %2 %8 ArgumentInfo %4"]
    module = Module.from_text("\n".join(lines))
    text = module.to_text()
    assert text == Module.from_text(text).to_text()
    assert [line.strip() for line in text.splitlines() if "OpExtInst " in line] == [
        "%3 = OpExtInst %2 %1 DebugSource %4",
        "%6 = OpExtInst %2 %5 DebugTypePointer %3 CrossWorkgroup FlagIsProtected|FlagIsPrivate",
        "%7 = OpExtInst %2 %5 DebugOperation PlusUconst 4",
        "%9 = OpExtInst %2 %8 ArgumentInfo %4"]


@pytest.mark.parametrize(("kind", "number"), [("OpTypeFloat 32", "1e40"), ("OpTypeFloat 64", "-1e400"),
                                              ("OpTypeFloat 16", "65536"), ("OpTypeFloat 8 Float8E5M2EXT", "1e9")])
def test_numbers_beyond_the_largest_are_refused(kind: str, number: str) -> None:
    with pytest.raises(ValidationError, match="expected a number"):
        Module.from_text(f"%1 = {kind}\n%2 = OpConstant %1 {number}")
