"""Cases of the family control_flow."""

from __future__ import annotations

from tests.kit.spirv.case import broken, kernel, module, shader, valid

CONDITION = "%c = OpUndef %bool\n"
BRANCHES = "%left = OpLabel\n{left}\nOpBranch %end\n%right = OpLabel\n{right}\nOpBranch %end\n%end = OpLabel\n{end}"
LOOP = """OpBranch %loop
%loop = OpLabel
{phis}
OpLoopMerge %end %next {control}
OpBranch %body
%body = OpLabel
%c = OpUndef %bool
OpBranchConditional %c %next %end
%next = OpLabel
OpBranch %loop
%end = OpLabel"""
LITERALS = ("SPIR-V 3.3.17 does not allow two equal literals in OpSwitch; SPIRV-Tools does not compare them")
LATER = "OpBranch %b\n%b = OpLabel"


def branch(operands: str = "%left %right", condition: str = "%bool", left: str = "", right: str = "", end: str = "",
           merge: str = "", **rest: str) -> str:
    return kernel(f"%c = OpUndef {condition}\n{merge}\nOpBranchConditional %c {operands}\n"
                  + BRANCHES.format(left=left, right=right, end=end), **rest)


def switch(cases: str, selector: str = "%uint") -> str:
    return kernel(f"%s = OpUndef {selector}\nOpSwitch %s %end {cases}\n" + BRANCHES.format(left="", right="", end=""))


def loop(control: str = "None", phis: str = "", **rest: str) -> str:
    return kernel(LOOP.format(control=control, phis=phis), **rest)


def returns(result: str, end: str, **rest: str) -> str:
    """A function with this result type that ends so, beside the kernel."""
    of_main = "%f_type" if result == "%void" else "%main_type"
    return module(f"%f = OpFunction {result} None %f_type\n%l = OpLabel\n{end}\nOpFunctionEnd\n"
                  f"%main = OpFunction %void None {of_main}\n%entry = OpLabel\nOpReturn\nOpFunctionEnd",
                  declarations=f"%f_type = OpTypeFunction {result}"
                  + "\n%main_type = OpTypeFunction %void" * (of_main != "%f_type"), **rest)


def phi(operands: str, kind: str = "%uint", end: str = "") -> str:
    return branch(end=f"%r = OpPhi {kind} {operands}\n{end}")


BRANCH = [
    valid("a condition", branch()),
    valid("weights of a branch", branch("%left %right 1 3")),
    broken("branch-condition", "an integer as condition", branch(condition="%uint"), says="is a boolean"),
    broken("branch-condition", "a vector of booleans as condition", branch(condition="%v2bool"), says="is a boolean"),
    broken("branch-condition", "one weight", branch("%left %right 1"), says="two branch weights or none"),
    broken("branch-condition", "weights of zero", branch("%left %right 0 0"),
           "SPIR-V 3.3.17 asks for at least one branch weight above 0; SPIRV-Tools does not look at them",
           says="both 0"),
    broken("branch-condition", "one target twice in SPIR-V 1.6", branch("%left %left", version="1.6"),
           says="one target twice"),
    valid("one target twice before SPIR-V 1.6", branch("%left %left", version="1.5")),
    valid("a switch", switch("1 %left 2 %right")),
    valid("a switch over 64 bits", switch("4294967297 %left 2 %right", "%ulong")),
    broken("switch-selector", "a float as selector", switch("", "%float")),
    broken("switch-selector", "a boolean as selector", switch("", "%bool")),
    broken("switch-literals", "one literal twice", switch("1 %left 1 %right"), LITERALS, says="2 cases for 1"),
    broken("switch-literals", "one literal of 64 bits twice", switch("4294967297 %left 4294967297 %right", "%ulong"),
           LITERALS, says="2 cases for 4294967297"),
    broken("branch-target", "a branch to the entry block", kernel("OpBranch %entry\n%dead = OpLabel"),
           says="entry block"),
    broken("branch-target", "a branch to another function", module(
        "%main = OpFunction %void None %t\n%entry = OpLabel\nOpBranch %a\nOpFunctionEnd\n"
        "%f = OpFunction %void None %t\n%a = OpLabel\nOpReturn\nOpFunctionEnd",
        declarations="%t = OpTypeFunction %void"), says="another function"),
    broken("block-order", "a block before the one that dominates it",
           kernel("OpBranch %b\n%a = OpLabel\nOpReturn\n%b = OpLabel\nOpBranch %a\n%dead = OpLabel"),
           says="which dominates it"),
    valid("blocks in any order that keeps dominators first", branch(left="", right="")),
]

PHI = [
    valid("a phi of two values", phi("%uint_1 %left %uint_2 %right")),
    valid("a phi in a loop", loop(phis="%i = OpPhi %uint %uint_0 %entry %uint_1 %next")),
    broken("phi-place", "a phi after another instruction",
           branch(end="%a = OpUndef %uint\n%r = OpPhi %uint %uint_1 %left %uint_2 %right"),
           says="after other instructions"),
    broken("phi-place", "a phi in the entry block", kernel("%r = OpPhi %uint"), says="in the entry block"),
    broken("phi-parents", "a predecessor that is missing", phi("%uint_1 %left"), says="has no value for"),
    broken("phi-parents", "a predecessor named twice", phi("%uint_1 %left %uint_2 %left %uint_2 %right"),
           says="2 times"),
    broken("phi-parents", "a block that is no predecessor", phi("%uint_1 %left %uint_2 %right %uint_3 %entry"),
           says="is no predecessor"),
    broken("phi-types", "a value of another type", phi("%uint_1 %left %float_1 %right"), says="is needed"),
    broken("phi-types", "samplers in a shader",
           shader("OpBranch %n\n%n = OpLabel\n%r = OpPhi %sampler %s %entry", declarations="%sampler = OpTypeSampler\n"
                  "%s = OpUndef %sampler"), says="images and samplers"),
    broken("phi-types", "values of no type", phi("%uint_1 %left %uint_2 %right", "%void"), says="cannot have type"),
]

MERGE = [
    valid("a selection", branch(merge="OpSelectionMerge %end None")),
    valid("a loop", loop()),
    broken("merge-place", "a selection before a plain branch", kernel("OpSelectionMerge %b None\n" + LATER),
           says="OpBranchConditional or OpSwitch"),
    broken("merge-place", "a loop before a return",
           kernel("OpBranch %a\n%a = OpLabel\nOpLoopMerge %m %n None\nOpReturn\n%n = OpLabel\nOpBranch %a\n"
                  "%m = OpLabel"),
           says="OpBranch or OpBranchConditional"),
    broken("merge-place", "an instruction between the merge and the branch",
           kernel(CONDITION + "OpSelectionMerge %end None\n%x = OpUndef %uint\nOpBranchConditional %c %left %right\n"
                  + BRANCHES.format(left="", right="", end="")), says="right before"),
    broken("merge-blocks", "a header that is its own merge block",
           kernel("OpBranch %h\n%h = OpLabel\n%c = OpUndef %bool\nOpSelectionMerge %h None\n"
                  "OpBranchConditional %c %left %right\n" + BRANCHES.format(left="", right="", end="")),
           "SPIR-V 2.11.2 asks that a header strictly dominate its merge block; SPIRV-Tools asks for it in modules "
           "with Shader only", says="its own header"),
    broken("merge-blocks", "a merge block that is the continue target",
           kernel(LOOP.format(control="None", phis="").replace("OpLoopMerge %end %next", "OpLoopMerge %next %next")),
           says="its continue target"),
    broken("merge-blocks", "one merge block for two headers",
           branch(merge="OpSelectionMerge %end None",
                  left="%d = OpUndef %bool\nOpSelectionMerge %end None\nOpBranchConditional %d %deep %end\n"
                       "%deep = OpLabel"), says="of another header, too"),
    *(valid(f"the loop control {control}", loop(control)) for control in ("Unroll", "DontUnroll", "Unroll|PeelCount 2",
                                                                        "DependencyLength 4",
                                                                        "MinIterations|MaxIterations 1 9",
                                                                        "MaxIterations|IterationMultiple 8 4")),
    broken("loop-control", "both Unroll and DontUnroll", loop("Unroll|DontUnroll"), says="both Unroll and DontUnroll"),
    broken("loop-control", "DontUnroll with PeelCount", loop("DontUnroll|PeelCount 2"),
           says="PeelCount or PartialCount"),
    broken("loop-control", "DontUnroll with PartialCount", loop("DontUnroll|PartialCount 2"),
           says="PeelCount or PartialCount"),
    broken("loop-control", "a multiple of 0", loop("IterationMultiple 0"), says="at least 1"),
    broken("loop-control", "a multiple of 0 after other numbers", loop("MinIterations|IterationMultiple 4 0"),
           says="at least 1"),
]

FUNCTIONS = [
    valid("a function that returns a value", returns("%uint", "OpReturnValue %uint_1")),
    broken("return-type", "no value for a result", returns("%uint", "OpReturn"), says="OpReturnValue is needed"),
    broken("return-type", "a value for no result", returns("%void", "OpReturnValue %uint_1"),
           says="OpReturn is needed"),
    broken("return-type", "a value of another type", returns("%uint", "OpReturnValue %float_1"),
           says="the function returns"),
    broken("logical-pointer-use", "a pointer in a shader",
           returns("%ptr_private_uint", "%v = OpVariable %ptr_private_uint Function\nOpReturnValue %v",
                   kind="Shader", model="OpMemoryModel Logical GLSL450", modes="OpExecutionMode %main LocalSize 1 1 1",
                   entry='OpEntryPoint GLCompute %main "main"'), says="takes a pointer only"),
    valid("a function that ends nowhere", returns("%uint", "OpUnreachable")),
    broken("function-body", "a function without blocks", module(
        "%f = OpFunction %void None %t\nOpFunctionEnd\n"
        "%main = OpFunction %void None %t\n%entry = OpLabel\nOpReturn\nOpFunctionEnd",
        declarations="%t = OpTypeFunction %void"), says="has no blocks"),
    valid("variables first", kernel("%v = OpVariable %ptr_private_uint Function\n"
                                    "%w = OpVariable %ptr_private_uint Function\nOpStore %v %uint_1")),
    broken("variable-place", "a variable after a store",
           kernel("%v = OpVariable %ptr_private_uint Function\nOpStore %v %uint_1\n"
                  "%w = OpVariable %ptr_private_uint Function"), says="among the first instructions"),
    broken("variable-place", "a variable in a later block",
           kernel(f"{LATER}\n%v = OpVariable %ptr_private_uint Function"), says="among the first instructions"),
    broken("variable-place", "a variable after an undefined value",
           kernel("%x = OpUndef %uint\n%v = OpVariable %ptr_private_uint Function"), says="among the first"),
    valid("a shader returns a number", shader("")),
]

CASES = [*BRANCH, *PHI, *MERGE, *FUNCTIONS]
