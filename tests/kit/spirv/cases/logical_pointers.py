"""Cases of the family logical_pointers."""

from __future__ import annotations

from tests.kit.spirv.case import broken, kernel, shader, valid

P = "%ptr_private_uint"
VARIABLES = f"%v = OpVariable {P} Function\n%w = OpVariable {P} Function\n%c = OpUndef %bool\n"
DECLARATIONS = f"%s = OpTypeStruct {P}\n%pp = OpTypePointer Function {P}\n%ps = OpTypePointer Function %s\n"


def pointers(body: str, declarations: str = "", **rest: str) -> str:
    """A shader with the variables %v and %w of numbers; %pp is a pointer to pointers, %s a structure of one."""
    return shader(VARIABLES + body, declarations=DECLARATIONS + declarations, **rest)


def local(body: str) -> str:
    """A shader with variable pointers and the work-group variables %x and %y."""
    return shader("%c = OpUndef %bool\n" + body, kind="Shader VariablePointers",
                  entry='OpEntryPoint GLCompute %main "main" %x %y',
                  declarations="%x = OpVariable %ptr_local_uint Workgroup\n%y = OpVariable %ptr_local_uint Workgroup")


CASES = [
    valid("a pointer is copied and read", pointers(f"%q = OpCopyObject {P} %v\n%r = OpLoad %uint %q")),
    broken("logical-pointer-use", "one of two pointers is chosen", pointers(f"%q = OpSelect {P} %c %v %w"),
           says="VariablePointers"),
    broken("logical-pointer-use", "a phi of pointers",
           pointers(f"OpBranch %n\n%n = OpLabel\n%q = OpPhi {P} %v %entry")),
    broken("logical-pointer-use", "a null pointer", pointers("", f"%z = OpConstantNull {P}\n")),
    broken("logical-pointer-use logical-pointer-variable", "a pointer is loaded",
           pointers(f"%q = OpLoad {P} %u").replace("%c = OpUndef", "%u = OpVariable %pp Function\n%c = OpUndef")),
    broken("logical-pointer-use", "a pointer taken out of a structure",
           pointers(f"%a = OpUndef %s\n%q = OpCompositeExtract {P} %a 0")),
    valid("one of two pointers is chosen with VariablePointers",
          local("%q = OpSelect %ptr_local_uint %c %x %y\n%r = OpLoad %uint %q")),
    valid("a kernel chooses one of two pointers",
          kernel(f"{VARIABLES}%q = OpSelect {P} %c %v %w")),
    broken("logical-pointer-use", "a structure of a pointer", pointers("%q = OpCompositeConstruct %s %v"),
           says="cannot take"),
    broken("logical-pointer-use", "a pointer put into a structure",
           pointers("%a = OpUndef %s\n%q = OpCompositeInsert %s %v %a 0"), says="cannot take a pointer"),
    broken("logical-pointer-variable", "a pointer is stored",
           pointers("OpStore %u %v").replace("%c = OpUndef", "%u = OpVariable %pp Function\n%c = OpUndef")),
    broken("logical-pointer-variable", "a variable of a structure of a pointer",
           pointers("").replace("%c = OpUndef", "%u = OpVariable %ps Function\n%c = OpUndef"),
           says="hold no pointers"),
    valid("a variable holds a variable pointer",
          shader("%u = OpVariable %pp Function\nOpStore %u %x", kind="Shader VariablePointers",
                 entry='OpEntryPoint GLCompute %main "main" %x',
                 declarations="%x = OpVariable %ptr_local_uint Workgroup\n"
                 "%pp = OpTypePointer Function %ptr_local_uint")),
]

FUNCTION = """%f = OpFunction %void None %f_type
%a = OpFunctionParameter {kind}
%l = OpLabel
OpReturn
OpFunctionEnd
"""


def call(kind: str, argument: str, body: str = "", declarations: str = "", **rest: str) -> str:
    """A shader that calls a function with a pointer."""
    text = shader(f"{body}\n%r = OpFunctionCall %void %f {argument}",
                  declarations=f"{declarations}\n%f_type = OpTypeFunction %void {kind}", **rest)
    return text.replace("%main = OpFunction", FUNCTION.format(kind=kind) + "%main = OpFunction")


ARRAY = "%v = OpVariable %ptr_private_arr4_uint Function\n%e = OpAccessChain %ptr_private_uint %v %uint_1"
CASES += [
    valid("a variable is passed", call(P, "%v", f"%v = OpVariable {P} Function")),
    broken("logical-pointer-argument", "an element is passed", call(P, "%e", ARRAY),
           says="a part of a variable"),
    broken("logical-pointer-argument", "an input is passed",
           call("%ptr_input_uint", "%i", declarations="%i = OpVariable %ptr_input_uint Input",
                entry='OpEntryPoint GLCompute %main "main" %i'), says="of a storage class"),
    broken("logical-pointer-argument", "a buffer is passed without variable pointers",
           call("%buffer", "%b", annotations="OpDecorate %s Block\nOpMemberDecorate %s 0 Offset 0\n"
                "OpDecorate %b DescriptorSet 0\nOpDecorate %b Binding 0",
                declarations="%s = OpTypeStruct %uint\n%buffer = OpTypePointer StorageBuffer %s\n"
                "%b = OpVariable %buffer StorageBuffer", entry='OpEntryPoint GLCompute %main "main" %b'),
           says="needs the capability VariablePointersStorageBuffer"),
    valid("a kernel passes an element", kernel(f"{ARRAY}\n%r = OpFunctionCall %void %f %e",
                                               declarations=f"%f_type = OpTypeFunction %void {P}").replace(
        "%main = OpFunction", FUNCTION.format(kind=P) + "%main = OpFunction")),
]
