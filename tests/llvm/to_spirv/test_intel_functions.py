"""Intel's OpenCL C functions in LLVM IR, named as clang mangles them, become the same as from our front end."""

from __future__ import annotations

import re

import pytest

from coopmat import llvm
from coopmat.diagnostics import CompileError
from coopmat.lowering.llvm.names import mangled
from coopmat.opencl.builtins.patterns import Overload, PointerPattern
from coopmat.spirv.module import Module
from coopmat.tree.types import VOID, Pointer, Type, Vector
from tests.kit.llvm.modules import called
from tests.kit.opencl.overload_kernels import Lowered, kernel, lower, overloads_of

FUNCTIONS = r"intel_sub_group_\w+_matrix_mad_k\d+|intel_convert_tfloat32.*|intel_sub_group_2d_block_.*"
OVERLOADS = overloads_of(FUNCTIONS)


def llvm_type(type_: Type) -> str:
    if isinstance(type_, Pointer):
        space = type_.address_space.value
        return f"ptr addrspace({space})" if space else "ptr"
    if isinstance(type_, Vector):
        return f"<{type_.count} x {llvm_type(type_.scalar)}>"
    names = {"half": "half", "float": "float", "double": "double", "void": "void"}
    return names.get(str(type_)) or f"i{type_.bits}"


def types_of(overload: Overload) -> list[Type]:
    return [Pointer(parameter.pointee, next(iter(parameter.spaces)), parameter.const)
            if isinstance(parameter, PointerPattern) else parameter for parameter in overload.parameters]


def through_llvm(overload: Overload) -> Lowered:
    """A kernel that calls the OpenCL C function by its mangled name; pointers to private memory are variables."""
    parameters, arguments, lines = [], [], []
    for index, type_ in enumerate(types_of(overload)):
        text = llvm_type(type_)
        arguments.append(f"{text} %a{index}")
        if text == "ptr":
            lines.append(f"  %a{index} = alloca [256 x i32]")
        else:
            parameters.append(f"{text} %a{index}")
    result = llvm_type(overload.result)
    call = f"call spir_func {result} @{mangled(overload.name, types_of(overload))}({', '.join(arguments)})"
    if overload.result == VOID:
        lines.append(f"  {call}")
    else:
        parameters.append("ptr addrspace(1) %out")
        lines += [f"  %r = {call}", f"  store {result} %r, ptr addrspace(1) %out"]
    return Lowered(Module.from_bytes(llvm.to_spirv(called("\n".join(lines), ", ".join(parameters)))))


def essential(lowered: Lowered) -> list[tuple[object, ...]]:
    """The instructions, but for the types of pointers, which LLVM does not keep."""
    return [tuple(re.sub(r".*\*", "*", part) if isinstance(part, str) else part for part in lowered.described(item))
            for body in lowered.bodies() for item in body if re.match("Op(Subgroup|RoundF)", item.name)]


@pytest.mark.parametrize("overload", OVERLOADS, ids=str)
def test_instruction(overload: Overload) -> None:
    found = through_llvm(overload)
    size = None
    if "matrix_mad" in overload.name:
        size = 8 if str(overload.parameters[0]).startswith(("int", "uint")) else 16
    expected = lower(kernel(overload, "k", size))
    assert len(essential(expected)) == 1
    assert essential(found) == essential(expected)
    assert set(expected.module.extensions) == set(found.module.extensions)


@pytest.mark.parametrize(("name", "arguments", "message"), [
    ("_Z36intel_sub_group_i8_i8_matrix_mad_k32Dv8_lDv8_iS0_", "<8 x i64> %a, <8 x i32> %b, <8 x i32> %b",
     "the name does not tell the types of an overload"),
    ("intel_sub_group_i8_i8_matrix_mad_k32", "<8 x i16> %a, <8 x i32> %b, <8 x i32> %b",
     "the name does not tell the types of an overload"),
    ("_Z36intel_sub_group_i8_i8_matrix_mad_k32Dv8_sDv8_i", "<8 x i16> %a, <8 x i32> %b",
     "expected 3 arguments, found 2"),
])
def test_wrong_calls(name: str, arguments: str, message: str) -> None:
    parameters = ", ".join(dict.fromkeys(re.findall(r"<.*?> %\w+", arguments)))
    ir = called(f"  %r = call spir_func <8 x i32> @{name}({arguments})", parameters)
    with pytest.raises(CompileError, match=message):
        llvm.to_spirv(ir)
