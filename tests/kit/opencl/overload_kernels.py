"""One kernel for each overload of built-in functions, and the instructions that it becomes."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from coopmat import llvm
from coopmat.devices import describe
from coopmat.lowering import to_llvm_ir, to_spirv
from coopmat.opencl import compile_source
from coopmat.opencl.builtins import TABLE
from coopmat.opencl.builtins.patterns import Overload, PointerPattern, expand
from coopmat.spirv.grammar import Op
from coopmat.spirv.module import Module
from coopmat.spirv.module.instruction import Instruction
from coopmat.tree.nodes import Program
from coopmat.tree.types import VOID, AddressSpace

NOT_OF_THE_BODY = frozenset({Op.Variable, Op.Load, Op.Store, Op.Return, Op.Line, Op.NoLine, Op.Bitcast})
CLUSTER_SIZE = 4


def overloads_of(pattern: str) -> list[Overload]:
    """Every overload of the functions whose whole name matches."""
    return [overload for name, family in TABLE.items() if re.fullmatch(pattern, name)
            for row, counts in family.members for overload in expand(row, name, counts)]


def kernel(overload: Overload, name: str, size: int | None = None) -> str:
    """A kernel that passes its parameters on to the function and stores the result."""
    parameters, arguments, private = [], [], ""
    terms = [term.strip() for term in overload.row.signature.partition("(")[2].rstrip(")").split(",")]
    for index, parameter in enumerate(overload.parameters):
        if isinstance(parameter, PointerPattern):
            pointee = "char" if parameter.pointee == VOID else parameter.pointee
            space = min(parameter.spaces, key=lambda space: space.value)
            if space is AddressSpace.PRIVATE:
                private += f"{pointee} p{index}[256]; p{index}[0] = 1; "
                arguments.append(f"p{index}")
                continue
            parameters.append(f"{space} {pointee} *a{index}")
        elif terms[index] in ("cl_mem_fence_flags", "memory_scope"):
            arguments.append({"memory_scope": "memory_scope_device"}.get(terms[index], "CLK_LOCAL_MEM_FENCE"))
            continue
        elif "_clustered_" in overload.name and index == len(terms) - 1:
            arguments.append(str(CLUSTER_SIZE))
            continue
        else:
            parameters.append(f"{parameter} a{index}")
        arguments.append(f"a{index}")
    call = f"{overload.name}({', '.join(arguments)});"
    if overload.result != VOID:
        parameters.append(f"global {overload.result} *out")
        call = f"*out = {call}"
    required = f"__attribute__((intel_reqd_sub_group_size({size})))\n" if size is not None else ""
    return f"{required}kernel void {name}({', '.join(parameters)}) {{ {private}{call} }}\n"


@dataclass(frozen=True)
class Lowered:
    """A module and what its functions' bodies do."""

    module: Module

    def bodies(self) -> Iterator[list[Instruction]]:
        """The instructions of each function, without those that only move values."""
        for function in self.module.functions:
            yield [item for block in function.blocks for item in block.instructions
                   if item.opcode not in NOT_OF_THE_BODY]

    def constant(self, identifier: int) -> object:
        """The value of a constant."""
        return self.module.constant_value(identifier)

    def type_of(self, identifier: int) -> str:
        """The type of a value as OpenCL C would spell it, but for signs: ``int8``."""
        type_id = self.module.definition(identifier).type_id
        assert type_id is not None
        return self.type_name(type_id)

    def type_name(self, type_id: int) -> str:
        """A type without signs, as in ``int8`` or ``global short*``."""
        item = self.module.definition(type_id)
        if item.opcode == Op.TypeVector:
            return f"{self.type_name(item.words[0])}{item.words[1]}"
        if item.opcode == Op.TypePointer:
            return f"{self.type_name(item.words[1])}*"
        names = {Op.TypeInt: {8: "char", 16: "short", 32: "int", 64: "long"},
                 Op.TypeFloat: {16: "half", 32: "float", 64: "double"}}
        return "bool" if item.opcode == Op.TypeBool else names[Op(item.opcode)][item.words[0]]

    def described(self, item: Instruction) -> tuple[object, ...]:
        """Name, literals and constants, types of the other operands and of the result: no ids."""
        operands: list[object] = []
        for kind, value in item.operands:
            if not kind.startswith("Id"):
                operands.append(int(value))
            elif self.module.definition(value).opcode == Op.Constant:
                operands.append(self.constant(value))
            else:
                operands.append(self.type_of(value))
        result = None if item.type_id is None else self.type_name(item.type_id)
        return (item.name, *operands, result)

    def requirements(self) -> tuple[set[str], set[str]]:
        """Names of the capabilities and extensions that are declared."""
        return {capability.name for capability in self.module.capabilities}, set(self.module.extensions)


def compile_kernels(source: str, device: str = "generic") -> Program:
    """The program; there must be no warning."""
    program, diagnostics = compile_source(source, device=describe(device))
    assert diagnostics == []
    return program


def lower(source: str, device: str = "generic") -> Lowered:
    """The SPIR-V that we write ourselves."""
    return Lowered(to_spirv(compile_kernels(source, device)))


def lower_through_llvm(source: str, device: str = "generic") -> Lowered:
    """The SPIR-V that LLVM makes of our IR."""
    return Lowered(Module.from_bytes(llvm.to_spirv(to_llvm_ir(compile_kernels(source, device)))))


def validate(modules: Iterable[Lowered], folder: Path) -> None:
    """What spirv-val says of each module; versions before 2024 do not know all extensions."""
    for index, lowered in enumerate(modules):
        path = folder / f"{index}.spv"
        path.write_bytes(lowered.module.to_bytes())
        tool = shutil.which("spirv-val")
        assert tool is not None
        run = subprocess.run([tool, "--target-env", "spv1.4", str(path)], capture_output=True, text=True, check=False)
        if "Invalid capability operand" not in run.stderr:
            assert run.returncode == 0, run.stderr
