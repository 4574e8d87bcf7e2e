"""Cases of the family structure."""

from __future__ import annotations

from tests.kit.spirv.case import broken, kernel, module, shader, valid

MAIN = "%main = OpFunction %void None %main_type\n%entry = OpLabel\n"
TYPE = "%main_type = OpTypeFunction %void"
HEAD = "OpCapability Kernel\nOpCapability Addresses\n"
BODY = f"""OpEntryPoint Kernel %main "main"
%void = OpTypeVoid
%uint = OpTypeInt 32 0
{TYPE}
{MAIN}OpReturn
OpFunctionEnd
"""
MODEL = "OpMemoryModel Physical64 OpenCL\n"
DEBUG = '%debug = OpExtInstImport "OpenCL.DebugInfo.100"\n'
NOTES = '%notes = OpExtInstImport "NonSemantic.Notes"\n'
WITH_NOTES = f'OpExtension "SPV_KHR_non_semantic_info"\n{NOTES}'
HELPER = "%{name} = OpFunction %void None %main_type\n{body}OpFunctionEnd\n"
DIAMOND = """%c = OpUndef %bool
OpBranchConditional %c %left %right
%left = OpLabel
{left}
OpBranch %end
%right = OpLabel
{right}
OpBranch %end
%end = OpLabel
{end}"""


def functions(text: str, **rest: str) -> str:
    """A module of whole functions."""
    return module(text, declarations=rest.pop("declarations", "") + f"\n{TYPE}", **rest)


def diamond(left: str = "", right: str = "", end: str = "") -> str:
    return kernel(DIAMOND.format(left=left, right=right, end=end))


LAYOUT = [
    valid("every section in its order",
          f'{HEAD}OpExtension "SPV_KHR_expect_assume"\n%std = OpExtInstImport "OpenCL.std"\n{MODEL}'
          'OpEntryPoint Kernel %main "main"\nOpExecutionMode %main ContractionOff\n%s = OpString "a.cl"\n'
          'OpSource OpenCL_C 300000\nOpName %main "main"\nOpModuleProcessed "tool"\nOpDecorate %v Alignment 4\n'
          "%void = OpTypeVoid\n%uint = OpTypeInt 32 0\n%ptr = OpTypePointer CrossWorkgroup %uint\n"
          f"%uint_1 = OpConstant %uint 1\n%v = OpVariable %ptr CrossWorkgroup %uint_1\n{TYPE}\n"
          f"OpLine %s 1 1\n{MAIN}OpReturn\nOpFunctionEnd\n"),
    broken("layout-order", "a capability after the memory model",
           f"OpCapability Kernel\n{MODEL}OpCapability Addresses\n"
           f"{BODY}", says="capabilities come before them"),
    broken("layout-order", "an extension after the memory model",
           f'{HEAD}{MODEL}OpExtension "SPV_KHR_expect_assume"\n{BODY}', says="OpExtension stands after"),
    broken("layout-order", "an execution mode before the entry point",
           f"{HEAD}{MODEL}OpExecutionMode %main ContractionOff\n{BODY}", says="entry points come before them"),
    broken("layout-order", "a decoration among the types",
           kernel("", declarations="%v = OpVariable %ptr_global_uint CrossWorkgroup\nOpDecorate %v Alignment 4"),
           says="annotations come before them"),
    broken("layout-order", "a name after a decoration",
           kernel("%a = OpUndef %uint", annotations='OpDecorate %a Alignment 4\nOpName %a "a"'),
           says="names come before them"),
    broken("layout-order", "a string after a name",
           kernel("%a = OpUndef %uint", annotations='OpName %a "a"\n%s = OpString "s"'),
           says="strings and sources come before them"),
    broken("layout-order", "a type after the first function", functions(
        f"{MAIN}OpReturn\nOpFunctionEnd\n%uint = OpTypeInt 32 0"), says="stands after the first function"),
    broken("layout-order", "an undefined value after the functions", functions(
        f"{MAIN}OpReturn\nOpFunctionEnd\n%x = OpUndef %uint"), says="stands between functions"),
    broken("layout-order", "a constant in a function", kernel("%c = OpConstant %uint 7"),
           says="stands after the first function"),
    broken("layout-order", "an addition among the declarations",
           kernel("", declarations="%c = OpIAdd %uint %uint_1 %uint_1"), says="stands outside a function"),
    broken("layout-order", "a declared function after a defined one", functions(
        f"{MAIN}OpReturn\nOpFunctionEnd\n" + HELPER.format(name="other", body=""), capabilities="Linkage",
        annotations='OpDecorate %other LinkageAttributes "other" Import'), says="has no body, but stands after"),
    valid("a declared function before a defined one", functions(
        HELPER.format(name="other", body="") + f"{MAIN}OpReturn\nOpFunctionEnd", capabilities="Linkage",
        annotations='OpDecorate %other LinkageAttributes "other" Import')),
    valid("a non-semantic note in a block", f"{HEAD}{WITH_NOTES}{MODEL}" + BODY.replace(
        "OpReturn", "%n = OpExtInst %void %notes 1\nOpReturn")),
    valid("a non-semantic note among the types", f"{HEAD}{WITH_NOTES}{MODEL}" + BODY.replace(
        TYPE, f"%n = OpExtInst %void %notes 1\n{TYPE}")),
    broken("extended-place", "an extended instruction among the declarations", kernel(
        "", declarations="%r = OpExtInst %float %std sqrt %float_1"), says="must stand in a block"),
    broken("extended-place id-before-use", "a note before the first type", f"{HEAD}{WITH_NOTES}{MODEL}" + BODY.replace(
        "%void =", "%n = OpExtInst %void %notes 1\n%void ="), says="or among the declarations"),
    broken("memory-model-once", "no memory model", HEAD + BODY, says="has no OpMemoryModel"),
    broken("memory-model-once", "two memory models", HEAD + MODEL + MODEL + BODY, says="a second OpMemoryModel"),
]

FUNCTIONS = [
    broken("function-structure", "a function without end", functions(f"{MAIN}OpReturn"), says="has no OpFunctionEnd"),
    broken("function-structure", "a function within a function", functions(
        f"{MAIN}OpReturn\n" + HELPER.format(name="other", body="%l = OpLabel\nOpReturn\n")),
        says="begins within a function"),
    broken("function-structure", "an end without a function",
           functions(f"{MAIN}OpReturn\nOpFunctionEnd\nOpFunctionEnd"),
           says="OpFunctionEnd stands outside a function"),
    broken("function-structure", "a block outside of functions",
           functions(f"{MAIN}OpReturn\nOpFunctionEnd\n%l = OpLabel\nOpReturn"),
           says="OpLabel stands outside a function"),
    broken("function-structure", "a parameter after a block", functions(
        f"{MAIN}OpReturn\n%p = OpFunctionParameter %uint\nOpFunctionEnd"), says="stands after the first block"),
    broken("function-structure", "a last block without terminator", functions(f"{MAIN}OpFunctionEnd"),
           says="stands in a block without terminator"),
    broken("function-structure", "a block without terminator before another", functions(
        f"{MAIN}%next = OpLabel\nOpReturn\nOpFunctionEnd"), says="begins within a block without terminator"),
    broken("function-structure", "an instruction before the first block", functions(
        "%main = OpFunction %void None %main_type\n%a = OpUndef %uint\n%entry = OpLabel\nOpReturn\nOpFunctionEnd"),
        says="stands outside a block"),
    broken("function-structure", "an instruction after a terminator",
           functions(f"{MAIN}OpReturn\n%a = OpUndef %uint\nOpFunctionEnd"), says="stands outside a block"),
    broken("function-structure", "a second terminator", functions(f"{MAIN}OpReturn\nOpReturn\nOpFunctionEnd"),
           says="OpReturn stands outside a block"),
]

IDS = [
    broken("id-defined", "an operand that nothing defines", kernel("%r = OpIAdd %uint %uint_1 %nowhere"),
           says="which no instruction defines"),
    broken("id-defined", "a result type that nothing defines", kernel("%r = OpUndef %nowhere"),
           says="has the result type"),
    broken("id-defined", "a name for nothing", kernel("", annotations='OpName %nowhere "nowhere"')),
    broken("id-role", "a value as a result type", kernel("%r = OpUndef %uint_1"), says="is no type"),
    broken("id-role", "a type as a value", kernel("%r = OpIAdd %uint %uint %uint_1"), says="takes a value as operand"),
    broken("id-role", "a value as a type", kernel("", declarations="%t = OpTypeVector %uint_1 2"),
           says="takes a type as operand"),
    broken("id-role", "a branch to a value", kernel("OpBranch %uint_1\n%next = OpLabel"),
           says="takes a label as operand"),
    broken("id-role", "a call of a constant", kernel("%r = OpFunctionCall %void %uint_1"),
           says="takes a function as operand"),
    broken("id-role", "an instruction set that is a type",
           kernel("%r = OpExtInst %float %std sqrt %float_1"),
           words=(("OpExtInst", 3, 5),), says="takes an extended instruction set as operand"),
    broken("id-role", "a line of a file that is no string", kernel("OpLine %uint_1 1 1"),
           says="takes an OpString as operand"),
    broken("id-role", "a group of decorations that is a value",
           kernel("%a = OpUndef %uint", annotations="OpGroupDecorate %a %a"),
           says="takes a decoration group as operand"),
    broken("id-role", "a variable as a constant's constituent",
           kernel("", declarations="%v = OpVariable %ptr_global_uint CrossWorkgroup\n"
                  "%c = OpConstantComposite %v2uint %v %v"), says="takes a constant as operand"),
    broken("id-role", "a label as a value",
           kernel("OpBranch %next\n%next = OpLabel\n%r = OpCopyObject %uint %next"), says="takes a value as operand"),
    broken("id-role", "an instruction set as a value",
           kernel("%r = OpExtInst %float %std sqrt %std"), says="takes a value as operand"),
    broken("id-before-use", "a use before the definition in one block",
           kernel("%r = OpIAdd %uint %later %later\n%later = OpCopyObject %uint %uint_1"), says="before OpCopyObject"),
    broken("id-before-use", "a value that uses itself", kernel("%r = OpIAdd %uint %r %r"), says="before OpIAdd"),
    broken("id-before-use", "a result type declared later", module(
        f"{MAIN}OpReturn\nOpFunctionEnd", declarations="%k = OpConstantNull %later\n%later = OpTypeInt 32 0\n"
        f"{TYPE}"), says="before it is declared"),
    broken("id-before-use", "a value of another function", functions(
        HELPER.format(name="other", body="%l = OpLabel\n%a = OpCopyObject %uint %uint_1\nOpReturn\n")
        + f"{MAIN}%r = OpIAdd %uint %a %a\nOpReturn\nOpFunctionEnd"), says="which another function defines"),
    broken("id-before-use", "a value of one branch after the join",
           diamond(left="%a = OpCopyObject %uint %uint_1", end="%r = OpIAdd %uint %a %a"),
           says="does not dominate the use"),
    broken("id-before-use", "a value of one branch in the other",
           diamond(left="%a = OpCopyObject %uint %uint_1", right="%r = OpIAdd %uint %a %a"),
           says="does not dominate the use"),
    broken("id-before-use", "a phi that takes a value from the wrong side",
           diamond(left="%a = OpCopyObject %uint %uint_1", end="%r = OpPhi %uint %uint_1 %left %a %right"),
           says="does not dominate the use"),
    valid("a phi joins the values of both branches",
          diamond(left="%a = OpCopyObject %uint %uint_1", end="%r = OpPhi %uint %a %left %uint_1 %right")),
    valid("a phi takes a value that a later block defines",
          kernel("OpBranch %loop\n%loop = OpLabel\n%i = OpPhi %uint %uint_0 %entry %n %loop\n"
                 "%n = OpIAdd %uint %i %uint_1\n%c = OpULessThan %bool %n %uint_7\n"
                 "OpBranchConditional %c %loop %end\n%end = OpLabel\n%r = OpIAdd %uint %n %n")),
    valid("a use in a block that cannot be reached",
          diamond(left="%a = OpCopyObject %uint %uint_1", end="OpReturn\n%dead = OpLabel\n%r = OpIAdd %uint %a %a")),
    valid("a forward pointer announces a type", shader(
        "", kind="Shader PhysicalStorageBufferAddresses", extensions="SPV_KHR_physical_storage_buffer",
        model="OpMemoryModel PhysicalStorageBuffer64 GLSL450", annotations="OpDecorate %node Block\n"
        "OpMemberDecorate %node 0 Offset 0",
        declarations="OpTypeForwardPointer %next PhysicalStorageBuffer\n%node = OpTypeStruct %next\n"
        "%next = OpTypePointer PhysicalStorageBuffer %node")),
]

CASES = [*LAYOUT, *FUNCTIONS, *IDS]
