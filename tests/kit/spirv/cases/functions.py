"""Cases of the family functions."""

from __future__ import annotations

from tests.kit.spirv.case import broken, kernel, module, shader, valid

MAIN = "%main = OpFunction %void None %t\n%entry = OpLabel\n{body}\nOpReturn\nOpFunctionEnd\n"
FUNCTION = "%{name} = OpFunction {returns} {control} {kind}\n{parameters}\n%{name}_l = OpLabel\n{body}\nOpFunctionEnd\n"
T = "%t = OpTypeFunction %void\n"
F = "%ft = OpTypeFunction %uint %uint %float\n"
BOTH = "%f0 = OpFunctionParameter %uint\n%f1 = OpFunctionParameter %float"
EXPORT = 'OpDecorate %{} LinkageAttributes "{}" {}'


def function(name: str = "f", returns: str = "%uint", kind: str = "%ft", parameters: str = BOTH,
             body: str = "OpReturnValue %uint_1", control: str = "None") -> str:
    return FUNCTION.format(name=name, returns=returns, kind=kind, parameters=parameters, body=body, control=control)


def functions(text: str, body: str = "", declarations: str = F, **rest: str) -> str:
    """Functions and the kernel ``main`` with a body."""
    return module(text + MAIN.format(body=body), declarations=T + declarations, **rest)


def linked(annotations: str, text: str = "", declarations: str = "", **rest: str) -> str:
    return functions(text, declarations=declarations, annotations=annotations, capabilities="Linkage", **rest)


def procedure(name: str, calls: str = "") -> str:
    """A function without parameters or result that calls another."""
    return function(name, "%void", "%t", "",
                    (f"%{name}_c = OpFunctionCall %void %{calls}\n" if calls else "") + "OpReturn")


RECURSION = ("SPIR-V 2.16.1 does not allow cycles in the static call graph of an entry point; SPIRV-Tools looks for "
             "them for Vulkan only")
VARIABLE = "%v = OpVariable %ptr_global_uint CrossWorkgroup"
IMPORTED = "%f = OpFunction %void None %t\nOpFunctionEnd\n"

CASES = [
    valid("a function of two parameters", functions(function())),
    broken("function-parameters", "a function whose type is none", functions(function(kind="%uint")),
           says="the function type of"),
    broken("function-parameters", "a function that returns another type",
           functions(function(returns="%float", body="OpReturnValue %float_1")), says="but its function type"),
    broken("function-parameters", "a parameter too few",
           functions(function(parameters="%f0 = OpFunctionParameter %uint")),
           "SPIR-V 3.3.9 asks for one OpFunctionParameter for each parameter of the function type; SPIRV-Tools finds "
           "those that are too many only", says="has 1 parameters"),
    broken("function-parameters", "a parameter too many",
           functions(function(parameters=BOTH + "\n%f2 = OpFunctionParameter %float")), says="has 3 parameters"),
    broken("function-parameters", "a parameter of another type",
           functions(function(parameters=BOTH.replace("%float", "%uint"))), says="parameter 1 has type"),
    valid("an inlined function", functions(function(control="Inline|Pure"))),
    broken("function-control", "a function that is both inlined and not",
           functions(function(control="Inline|DontInline")),
           "SPIR-V 3.2.24 gives Inline and DontInline opposite meanings; SPIRV-Tools does not compare them"),
    valid("a call", functions(function(), "%r = OpFunctionCall %uint %f %uint_1 %float_1")),
    broken("call-arguments", "a call of another type",
           functions(function(), "%r = OpFunctionCall %float %f %uint_1 %float_1"),
           says="but %"),
    broken("call-arguments", "an argument too few", functions(function(), "%r = OpFunctionCall %uint %f %uint_1"),
           says="has 1 arguments"),
    broken("call-arguments", "an argument of another type",
           functions(function(), "%r = OpFunctionCall %uint %f %uint_1 %uint_1"), says="argument 1 of"),
    broken("call-entry-point", "a function that calls the kernel",
           functions(function(body="%r = OpFunctionCall %void %main\nOpReturnValue %uint_1")),
           says="calls the entry point"),
    valid("functions that call each other in turn", functions(procedure("g") + procedure("f", "g"),
                                                             "%r = OpFunctionCall %void %f", "")),
    broken("recursion", "a function that calls itself",
           functions(procedure("f", "f"), "%r = OpFunctionCall %void %f", ""), RECURSION,
           says="recursion is not possible"),
    broken("recursion", "two functions that call each other",
           functions(procedure("f", "g") + procedure("g", "f"), "%r = OpFunctionCall %void %f", ""), RECURSION),
    valid("a recursion that no kernel reaches", functions(procedure("f", "f"), declarations="")),
    broken("recursion", "a shader that calls itself in a circle", shader("%r = OpFunctionCall %void %f").replace(
        "%main = OpFunction", procedure("f", "f").replace("%t", "%main_type") + "%main = OpFunction"), RECURSION),
    valid("an exported variable", linked(EXPORT.format("v", "v", "Export"), declarations=VARIABLE)),
    valid("an imported function", linked(EXPORT.format("f", "f", "Import"), IMPORTED)),
    broken("linkage-target", "a type with linkage", linked(EXPORT.format("t", "t", "Export")),
           "SPIR-V 3.2.20 allows LinkageAttributes on functions and global variables only; SPIRV-Tools does not look "
           "at what has it", says="functions and global variables"),
    broken("linkage-target", "a variable of a function with linkage",
           kernel("%v = OpVariable %ptr_private_uint Function", annotations=EXPORT.format("v", "v", "Export"),
                  capabilities="Linkage"),
           "SPIR-V 3.2.20 allows LinkageAttributes on functions and global variables only; SPIRV-Tools does not look "
           "at what has it", says="a variable of a function"),
    broken("linkage-target", "an imported function with a body",
           linked(EXPORT.format("f", "f", "Import"), procedure("f")), says="is imported, but has a body"),
    broken("linkage-target", "an imported variable with an initialiser",
           linked(EXPORT.format("v", "v", "Import"), declarations=f"{VARIABLE} %uint_1"),
           says="but has an initialiser"),
    broken("linkage-target function-body", "an exported function without body",
           linked(EXPORT.format("f", "f", "Export"), IMPORTED), says="but has no body"),
    broken("linkage-target", "one name exported twice",
           linked(EXPORT.format("v", "name", "Export") + "\n" + EXPORT.format("w", "name", "Export"),
                  declarations=f"{VARIABLE}\n{VARIABLE.replace('%v', '%w')}"),
           "an import of that name could mean either (SPIR-V 3.2.20, LinkageAttributes); SPIRV-Tools does not compare "
           "names",
           says="exports 'name' twice"),
    broken("linkage-entry-point", "an exported kernel", linked(EXPORT.format("main", "main", "Export")),
           says="cannot be imported or exported"),
]
