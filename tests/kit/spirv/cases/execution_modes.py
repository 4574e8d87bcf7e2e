"""Cases of the family execution_modes."""

from __future__ import annotations

from tests.kit.spirv.case import broken, kernel, module, shader, valid

MAIN = "%main = OpFunction {returns} None %main_type\n{parameters}\n%entry = OpLabel\n{body}\nOpFunctionEnd\n"
PRIVATE = "%v = OpVariable %ptr_global_uint CrossWorkgroup"
INPUT = "%v = OpVariable %ptr_input_v3ulong Input"
BUILT_IN = "OpDecorate %v BuiltIn GlobalInvocationId"


def mode(text: str, instruction: str = "OpExecutionMode", capabilities: str = "", **rest: str) -> str:
    return kernel("", modes=f"{instruction} %main {text}", capabilities=capabilities, **rest)


def stage(model: str, modes: str, capabilities: str = "Shader", **rest: str) -> str:
    """A shader of another stage, with these execution modes."""
    return shader("", entry=f'OpEntryPoint {model} %main "main"', kind=capabilities,
                  modes="\n".join(f"OpExecutionMode %main {text}" for text in modes.split("\n") if text), **rest)


def entry(text: str, interface: str = "", version: str = "1.4", **rest: str) -> str:
    """A kernel that uses the variable %v with this list of variables."""
    return kernel(f"%x = OpLoad {rest.pop('type_', '%uint')} %v", entry=f'OpEntryPoint Kernel %main "main" {interface}',
                  version=version, declarations=text, **rest)


def function(returns: str = "%void", parameters: str = "", body: str = "OpReturn", **rest: str) -> str:
    """A module with a main function of any type."""
    types = parameters.split()
    given = "\n".join(f"%p{i} = OpFunctionParameter {kind}" for i, kind in enumerate(types))
    return module(MAIN.format(returns=returns, parameters=given, body=body),
                  declarations=f"%main_type = OpTypeFunction {returns} {parameters}", **rest)


MODELS = [
    valid("32-bit addresses", kernel("", model="OpMemoryModel Physical32 OpenCL")),
    broken("memory-model-fits", "a kernel with logical addresses", kernel("", model="OpMemoryModel Logical OpenCL"),
           "the OpenCL SPIR-V environment asks for Physical32 or Physical64; SPIRV-Tools asks for it with an OpenCL "
           "target environment only", says="addressing model"),
    broken("memory-model-fits capability-missing", "a kernel with the memory model of shaders",
           kernel("", model="OpMemoryModel Physical64 Simple"), says="memory model OpenCL"),
    broken("memory-model-vulkan", "VulkanMemoryModel with the memory model OpenCL",
           kernel("", capabilities="VulkanMemoryModel", extensions="SPV_KHR_vulkan_memory_model")),
    broken("memory-model-vulkan", "VulkanMemoryModel with the memory model GLSL450",
           shader("", kind="Shader VulkanMemoryModel", extensions="SPV_KHR_vulkan_memory_model")),
    valid("VulkanMemoryModel with the memory model Vulkan",
          shader("", kind="Shader VulkanMemoryModel", extensions="SPV_KHR_vulkan_memory_model",
                 model="OpMemoryModel Logical Vulkan")),
]

ENTRY_POINTS = [
    broken("entry-point-missing", "no entry point", kernel("", entry="")),
    valid("no entry point, but Linkage", kernel("", entry="", capabilities="Linkage")),
    broken("entry-point-function", "two entry points of one name",
           kernel("", entry='OpEntryPoint Kernel %main "main"\nOpEntryPoint Kernel %main "main"'),
           says="another entry point 'main'"),
    valid("one function under two names",
          kernel("", entry='OpEntryPoint Kernel %main "main"\nOpEntryPoint Kernel %main "other"')),
    broken("entry-point-function", "a kernel that returns a number", function("%uint", body="OpReturnValue %uint_1"),
           says="must return void"),
    broken("entry-point-function", "a kernel with braces in its name that returns a number",
           function("%uint", body="OpReturnValue %uint_1", entry='OpEntryPoint Kernel %main "{x} {"'),
           says="'{x} {' must return void"),
    broken("entry-point-function", "a shader with parameters",
           function(parameters="%uint", kind="Shader", model="OpMemoryModel Logical GLSL450",
                    entry='OpEntryPoint GLCompute %main "main"', modes="OpExecutionMode %main LocalSize 1 1 1"),
           says="only kernels may have"),
    valid("the variables that a kernel uses", entry(PRIVATE, "%v")),
    broken("entry-point-uses", "a variable that is not listed", entry(PRIVATE), says="lacks"),
    valid("a global variable need not be listed before SPIR-V 1.4", entry(PRIVATE, version="1.3")),
    broken("entry-point-uses", "an input that is not listed before SPIR-V 1.4",
           entry(INPUT, version="1.3", type_="%v3ulong", annotations=BUILT_IN), says="lacks"),
    valid("an input that is listed", entry(INPUT, "%v", "1.3", type_="%v3ulong", annotations=BUILT_IN)),
    broken("entry-point-uses", "a variable that a called function uses", module(
        "%f = OpFunction %void None %main_type\n%l = OpLabel\n%x = OpLoad %uint %v\nOpReturn\nOpFunctionEnd\n"
        + MAIN.format(returns="%void", parameters="", body="%r = OpFunctionCall %void %f\nOpReturn"),
        declarations=f"{PRIVATE}\n%main_type = OpTypeFunction %void"), says="which 'main' uses"),
    broken("entry-point-interface", "a constant in the interface",
           kernel("%a = OpIAdd %uint %uint_1 %uint_1", entry='OpEntryPoint Kernel %main "main" %uint_1'),
           says="which is no variable"),
    broken("entry-point-interface", "a variable of a function in the interface",
           kernel("%v = OpVariable %ptr_private_uint Function", entry='OpEntryPoint Kernel %main "main" %v'),
           says="a variable of a function"),
    broken("entry-point-interface", "a global variable in the interface before SPIR-V 1.4", entry(PRIVATE, "%v", "1.3"),
           says="before SPIR-V 1.4"),
    broken("entry-point-interface", "a variable listed twice", entry(PRIVATE, "%v %v"), says="more than once"),
    valid("parameters of a kernel",
          kernel("", parameters="%uint %v4float %ptr_global_uint %ptr_local_uint %ptr_constant_uint %s",
                 declarations="%s = OpTypeStruct %uint %float")),
    broken("kernel-parameters-advised", "a generic pointer", kernel("", parameters="%ptr_generic_uint")),
    broken("kernel-parameters-advised", "a boolean", kernel("", parameters="%bool")),
    broken("kernel-parameters", "a pointer to private memory", kernel("", parameters="%ptr_private_uint"),
           "the OpenCL SPIR-V environment allows pointers to CrossWorkgroup, Workgroup and UniformConstant memory; "
           "SPIRV-Tools does not look at the parameters of kernels", says="CrossWorkgroup, Workgroup"),
    broken("kernel-parameters", "an event", kernel("", parameters="%event", declarations="%event = OpTypeEvent"),
           "the OpenCL SPIR-V environment has no events as kernel arguments; SPIRV-Tools does not look at the "
           "parameters of kernels", says="cannot have a parameter of type"),
]

MODES = [
    valid("a required size of work-groups", mode("LocalSize 8 8 1")),
    valid("a required size of sub-groups", mode("SubgroupSize 16", capabilities="SubgroupDispatch")),
    valid("a size from constants",
          mode("LocalSizeId %uint_8 %uint_8 %uint_1", "OpExecutionModeId")),
    broken("execution-mode-target", "a mode of a function that is no kernel", module(
        "%f = OpFunction %void None %t\n%l = OpLabel\nOpReturn\nOpFunctionEnd\n"
        "%main = OpFunction %void None %t\n%entry = OpLabel\nOpReturn\nOpFunctionEnd",
        declarations="%t = OpTypeFunction %void", modes="OpExecutionMode %f ContractionOff"),
        says="is for entry points"),
    broken("execution-mode-target", "a mode of fragment shaders",
           mode("OriginUpperLeft", capabilities="Shader", model="OpMemoryModel Physical64 OpenCL"),
           says="OriginUpperLeft is for entry points"),
    broken("execution-mode-target vulkan-capabilities", "a mode of kernels in a shader",
           stage("GLCompute", "LocalSize 1 1 1\nContractionOff", "Shader Kernel")),
    broken("execution-mode-target", "a size given twice", kernel(
        "", modes="OpExecutionMode %main LocalSize 8 1 1\nOpExecutionMode %main LocalSize 16 1 1"),
        says="a second time"),
    valid("a mode for two widths of floats", kernel(
        "", modes="OpExecutionMode %main DenormPreserve 16\nOpExecutionMode %main DenormPreserve 32",
        capabilities="DenormPreserve", extensions="SPV_KHR_float_controls")),
    broken("execution-mode-target", "a mode for one width of floats given twice", kernel(
        "", modes="OpExecutionMode %main DenormPreserve 32\nOpExecutionMode %main DenormPreserve 32",
        capabilities="DenormPreserve", extensions="SPV_KHR_float_controls"), says="a second time"),
    broken("execution-mode-numbers", "ids set by OpExecutionMode",
           mode("LocalSizeId %uint_8 %uint_8 %uint_1"),
           says="is set by OpExecutionModeId"),
    broken("execution-mode-numbers", "numbers set by OpExecutionModeId", mode("LocalSize 8 8 1", "OpExecutionModeId"),
           says="is set by OpExecutionMode"),
    broken("execution-mode-numbers", "a size that is a variable",
           mode("LocalSizeId %v %uint_8 %uint_1", "OpExecutionModeId",
                declarations=PRIVATE), says="are constants"),
    broken("execution-mode-numbers", "a work-group of 0", mode("LocalSize 8 0 1"),
           says="is 0"),
    broken("execution-mode-numbers", "sub-groups of 0", mode("SubgroupSize 0", capabilities="SubgroupDispatch"),
           "SPIR-V 3.2.6 SubgroupSize: a sub-group has at least one work-item; SPIRV-Tools does not look at the number",
           says="is 0"),
    broken("execution-mode-numbers", "a work-group of 0 from constants",
           mode("LocalSizeId %uint_0 %uint_8 %uint_1", "OpExecutionModeId"),
           says="is 0"),
    valid("a fragment shader", stage("Fragment", "OriginUpperLeft")),
    broken("execution-mode-sets", "a fragment shader without origin", stage("Fragment", ""), says="exactly one"),
    broken("execution-mode-sets", "a fragment shader of two origins",
           stage("Fragment", "OriginUpperLeft\nOriginLowerLeft"),
           says="exactly one"),
    broken("execution-mode-sets", "a fragment shader of two depths",
           stage("Fragment", "OriginUpperLeft\nDepthGreater\nDepthLess"), says="more than one"),
    valid("a geometry shader", stage("Geometry", "InputPoints\nOutputPoints\nOutputVertices 1", "Geometry")),
    broken("execution-mode-sets", "a geometry shader without output",
           stage("Geometry", "InputPoints\nOutputVertices 1", "Geometry"), says="OutputPoints"),
]

CASES = [*MODELS, *ENTRY_POINTS, *MODES]
