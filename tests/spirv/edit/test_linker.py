"""Linking modules: the same results as with one module and as with spirv-link, valid modules, and each error."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

import coopmat as cm
from coopmat.spirv import Module
from coopmat.spirv.edit.linker import link
from coopmat.spirv.grammar import Op
from tests.targets.simulator.test_clang_modules import run_clang

HEAD = """OpCapability Kernel
OpCapability Addresses
OpCapability Linkage
{capabilities}
OpMemoryModel Physical64 OpenCL
"""
# A list in memory: the two modules declare the same recursive type, in another order and with other ids.
KERNEL = HEAD.format(capabilities="OpCapability Int64") + """
OpEntryPoint Kernel %kernel "kernel" %gid %own %import_table
OpSource OpenCL_C 300000
OpName %kernel "kernel"
OpName %import_weigh "weigh"
OpName %weigh_n "gone"
OpDecorate %import_weigh LinkageAttributes "weigh" Import
OpDecorate %import_table LinkageAttributes "table" Import
OpDecorate %weigh_node FuncParamAttr NoWrite
OpDecorate %gid BuiltIn GlobalInvocationId
OpDecorate %gid LinkageAttributes "__spirv_BuiltInGlobalInvocationId" Import
OpTypeForwardPointer %ptr_node CrossWorkgroup
%void = OpTypeVoid
%uint = OpTypeInt 32 0
%ulong = OpTypeInt 64 0
%v3ulong = OpTypeVector %ulong 3
%ptr_in = OpTypePointer Input %v3ulong
%node = OpTypeStruct %uint %ptr_node
%ptr_node = OpTypePointer CrossWorkgroup %node
%ptr_uint = OpTypePointer CrossWorkgroup %uint
%weigh_type = OpTypeFunction %uint %ptr_node %uint
%kernel_type = OpTypeFunction %void %ptr_uint
%uint_0 = OpConstant %uint 0
%uint_2 = OpConstant %uint 2
%uint_4 = OpConstant %uint 4
%table_type = OpTypeArray %uint %uint_4
%ptr_table = OpTypePointer CrossWorkgroup %table_type
%gid = OpVariable %ptr_in Input
%import_table = OpVariable %ptr_table CrossWorkgroup
%null = OpConstantNull %ptr_node
%node_value = OpConstantComposite %node %uint_2 %null
%own = OpVariable %ptr_node CrossWorkgroup %node_value
%import_weigh = OpFunction %uint None %weigh_type
%weigh_node = OpFunctionParameter %ptr_node
%weigh_n = OpFunctionParameter %uint
OpFunctionEnd
%kernel = OpFunction %void None %kernel_type
%out = OpFunctionParameter %ptr_uint
%entry = OpLabel
%ids = OpLoad %v3ulong %gid Aligned 32
%id = OpCompositeExtract %ulong %ids 0
%n = OpUConvert %uint %id
%weight = OpFunctionCall %uint %import_weigh %own %n
%place = OpInBoundsAccessChain %ptr_uint %import_table %uint_0
%first = OpLoad %uint %place Aligned 4
%sum = OpIAdd %uint %weight %first
%target = OpInBoundsPtrAccessChain %ptr_uint %out %id
OpStore %target %sum Aligned 4
OpReturn
OpFunctionEnd
"""
LIBRARY = HEAD.format(capabilities="OpCapability Int8\nOpCapability Int64") + """
OpString "one"
OpName %weigh "weigh"
OpName %n "n"
OpDecorate %weigh LinkageAttributes "weigh" {linkage}
OpDecorate %table LinkageAttributes "table" {linkage}
OpTypeForwardPointer %pointer CrossWorkgroup
%int = OpTypeInt 32 0
%list = OpTypeStruct %int %pointer
%pointer = OpTypePointer CrossWorkgroup %list
%fourth = OpConstant %int 4
%nine = OpConstant %int 9
%zero = OpConstant %int 0
%four = OpTypeArray %int %fourth
%pfour = OpTypePointer CrossWorkgroup %four
%pint = OpTypePointer CrossWorkgroup %int
%content = OpConstantComposite %four %nine %zero %zero %zero
%table = OpVariable %pfour CrossWorkgroup %content
%type = OpTypeFunction %int %pointer %int
%weigh = OpFunction %int None %type
%node = OpFunctionParameter %pointer
%n = OpFunctionParameter %int
%label = OpLabel
%place = OpInBoundsAccessChain %pint %node %zero
%weight = OpLoad %int %place Aligned 4
%product = OpIMul %int %weight %n
OpReturnValue %product
OpFunctionEnd
"""
LIBRARY = LIBRARY.replace("OpString", "%string = OpString")
EXPORT = LIBRARY.format(linkage="Export")
OTHER = KERNEL.replace('Kernel %kernel "kernel"', 'Kernel %kernel "other"')
WIDER = EXPORT.replace("OpTypeFunction %int %pointer %int", "OpTypeFunction %int %pointer %int %int").replace(
    "%label =", "%more = OpFunctionParameter %int\n%label =")
EXPECTED = np.arange(8) * 2 + 9


def linked(*texts: str) -> Module:
    return link([Module.from_text(text) for text in texts])


def outcome(module: Module | bytes, count: int = 8) -> np.ndarray:
    out = np.zeros(count, np.uint32)
    program = cm.build(module if isinstance(module, bytes) else module.to_bytes())
    cm.Queue("sim:generic").enqueue(program.kernel("kernel"), count, 4, out).wait()
    return out


@pytest.mark.parametrize("texts", [(KERNEL, EXPORT), (EXPORT, KERNEL)], ids=["kernel first", "kernel last"])
def test_imports_are_matched(texts: tuple[str, str]) -> None:
    module = linked(*texts)
    np.testing.assert_array_equal(outcome(module), EXPECTED)
    assert not any("Import" in str(item) and '"weigh"' in str(item) for item in module.of_opcode(Op.Decorate))
    assert sorted(module.names.values()) == ["kernel", "n", "weigh"]
    assert len(list(module.of_opcode(Op.TypeStruct))) == 1  # the recursive type, declared twice
    assert len(list(module.of_opcode(Op.TypeForwardPointer))) == 1
    assert len(module.capabilities) == len(set(module.capabilities)) == 5


@pytest.mark.oracle("spirv-val")
@pytest.mark.parametrize("texts", [(KERNEL, EXPORT), (EXPORT, KERNEL), (KERNEL, OTHER, EXPORT),
                                   (KERNEL.replace(" %own %import_table", ""),)])
def test_linked_modules_are_valid(texts: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "out.spv").write_bytes(linked(*texts).to_bytes())
    found = subprocess.run(["spirv-val", str(tmp_path / "out.spv")], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout + found.stderr


@pytest.mark.oracle("spirv-link")
def test_same_results_as_spirv_link(tmp_path: Path) -> None:
    for name, text in (("kernel", KERNEL), ("library", EXPORT)):
        # spirv-link neither merges recursive types nor takes built-ins that are imports.
        text = text.replace(", %ptr_node", ", %ptr_uint").replace("\nOpTypeForwardPointer %ptr_node CrossWorkgroup", "")
        (tmp_path / f"{name}.spv").write_bytes(Module.from_text(flat(text)).to_bytes())
    files = [tmp_path / "kernel.spv", tmp_path / "library.spv"]
    subprocess.run(["spirv-link", *map(str, files), "-o", str(tmp_path / "theirs.spv")], check=True)
    theirs = outcome((tmp_path / "theirs.spv").read_bytes())
    ours = outcome(link([Module.from_bytes(file.read_bytes()) for file in files]))
    np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_array_equal(ours, EXPECTED)


def flat(text: str) -> str:
    """Without the recursion of the structure, and without the built-in as an import."""
    for old, new in (("OpTypeForwardPointer %ptr_node CrossWorkgroup\n", ""), ("OpTypeForwardPointer %pointer "
                     "CrossWorkgroup\n", ""), ("%node = OpTypeStruct %uint %ptr_node", "%node = OpTypeStruct %uint"),
                     ("%list = OpTypeStruct %int %pointer", "%list = OpTypeStruct %int"),
                     ("%uint_2 %null", "%uint_2"),
                     ('OpDecorate %gid LinkageAttributes "__spirv_BuiltInGlobalInvocationId" Import\n', "")):
        text = text.replace(old, new)
    return text


def test_what_is_not_exported_stays_an_import() -> None:
    module = linked(KERNEL, OTHER)
    assert len([item for item in module.of_opcode(Op.Decorate) if '"weigh" Import' in str(item)]) == 1
    with pytest.raises(cm.Error, match=r"'weigh' is imported, and no module.*exports it.*link"):
        outcome(module)
    np.testing.assert_array_equal(outcome(link([module, Module.from_text(EXPORT)])), EXPECTED)


def test_an_imported_variable_is_reported_when_a_kernel_reaches_it() -> None:
    only_function = EXPORT.replace('OpDecorate %table LinkageAttributes "table" Export\n', "")
    with pytest.raises(cm.Error, match="'table' is imported, and no module"):
        outcome(linked(KERNEL, only_function))


def test_of_definitions_that_are_linked_once_the_first_stays() -> None:
    once = LIBRARY.format(linkage="LinkOnceODR")
    module = linked(once, KERNEL, once.replace("OpIMul", "OpIAdd"))
    np.testing.assert_array_equal(outcome(module), EXPECTED)
    assert len(module.functions) == 2
    module = linked(once.replace("OpIMul", "OpIAdd"), KERNEL, EXPORT)  # an export comes before them
    np.testing.assert_array_equal(outcome(module), EXPECTED)


def test_pointers_to_other_types_are_cast() -> None:
    """LLVM's back end guesses what the pointers of a function that it only declares point to."""
    guessed = KERNEL.replace("%weigh_type = OpTypeFunction %uint %ptr_node %uint",
                             "%weigh_type = OpTypeFunction %uint %ptr_uint %uint").replace(
        "%weigh_node = OpFunctionParameter %ptr_node", "%weigh_node = OpFunctionParameter %ptr_uint").replace(
        "%weight = OpFunctionCall %uint %import_weigh %own %n",
        "%cast = OpBitcast %ptr_uint %own\n%weight = OpFunctionCall %uint %import_weigh %cast %n")
    module = linked(guessed, EXPORT)
    assert len([item for item in module.instructions if item.opcode == Op.Bitcast]) == 2
    np.testing.assert_array_equal(outcome(module), EXPECTED)


@pytest.mark.parametrize(("texts", "message"), [
    ((KERNEL, EXPORT, EXPORT), "'table' is exported by module 2 and by module 3"),
    ((KERNEL, KERNEL), "kernel 'kernel' is in module 1 and in module 2"),
    ((KERNEL, WIDER), r"'weigh' is int \(pointer, int, int\) in module 2, but uint \(ptr_node, uint\) in module 1"),
    ((KERNEL, EXPORT.replace("Physical64", "Physical32")), "memory model OpMemoryModel Physical32 OpenCL"),
    ((KERNEL, EXPORT.replace("OpConstant %int 4", "OpConstant %int 5").replace("%nine %zero", "%nine %zero %zero")),
     "'table' is .* in module 2, but .* in module 1"),
    ((), "nothing to link"),
])
def test_errors(texts: tuple[str, ...], message: str) -> None:
    with pytest.raises(cm.Error, match=message):
        linked(*texts)


MAIN_FILE = """
typedef struct { int which; float weights[3]; } Item;
extern float weigh(global const Item *item, float factor, Item copy);
extern constant int table[4];
kernel void kernel_of_two(global float *out, global const Item *items, float factor) {
    size_t i = get_global_id(0);
    Item copy = items[i];
    out[i] = weigh(items + i, factor, copy) + table[i & 3] + copy.which;
}"""
OTHER_FILE = """
typedef struct { int which; float weights[3]; } Item;
constant int table[4] = {1, 2, 3, 4};
float weigh(global const Item *item, float factor, Item copy) {
    copy.which += 1;
    return item->weights[copy.which % 3] * factor;
}"""
ITEM = np.dtype([("which", "i4"), ("weights", "f4", 3)])


@pytest.mark.oracle("clang")
@pytest.mark.oracle("spirv-link")
@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_two_files_compiled_by_clang(level: str, tmp_path: Path) -> None:
    modules = [run_clang(source, tmp_path, level, "-c") for source in (MAIN_FILE, OTHER_FILE)]
    files = [tmp_path / "a.spv", tmp_path / "b.spv"]
    for file, data in zip(files, modules, strict=True):
        file.write_bytes(data)
    theirs, ours = tmp_path / "theirs.spv", tmp_path / "ours.spv"
    subprocess.run(["spirv-link", "--allow-pointer-mismatch", *map(str, files), "-o", str(theirs)], check=True)
    ours.write_bytes(cm.build(files[0], link=[files[1]]).spirv)
    subprocess.run(["spirv-val", str(ours)], check=True)
    items = np.zeros(16, ITEM)
    items["which"], items["weights"] = np.arange(16) % 3, np.arange(48).reshape(16, 3)
    expected = items["weights"][np.arange(16), (items["which"] + 1) % 3] * 2 + np.arange(16) % 4 + 1 + items["which"]
    for file in (ours, theirs):
        out = np.zeros(16, np.float32)
        cm.Queue("sim:generic").enqueue(cm.build(file).kernel("kernel_of_two"), 16, 16, out, items, 2.0).wait()
        np.testing.assert_array_equal(out, expected, err_msg=file.name)
