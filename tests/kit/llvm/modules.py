"""Short ways to write LLVM IR, and to look at the SPIR-V that it becomes."""

from __future__ import annotations

import re
from collections.abc import Sequence

from coopmat import llvm
from coopmat.diagnostics import ValidationError
from coopmat.spirv.grammar import Op
from coopmat.spirv.module import Module
from coopmat.spirv.module.instruction import Instruction


def matrix(element: str = "float", rows: int = 8, columns: int = 16, use: int = 2) -> str:
    return f'target("spirv.CooperativeMatrixKHR", {element}, 3, {rows}, {columns}, {use})'


def kernel(body: str, declarations: Sequence[str] = (), parameters: str = "") -> str:
    """A module with one kernel; its ``declarations`` leave out ``declare spir_func``."""
    declared = "\n".join(f"declare spir_func {text}" for text in declarations)
    return (f'target triple = "spirv64-unknown-unknown"\n{declared}\n'
            f"define spir_kernel void @k({parameters}) {{\n{body}\n  ret void\n}}\n")


def called(body: str, parameters: str = "") -> str:
    """A module with one kernel, whose calls tell what is to be declared."""
    signatures = {name: f"{result} @{name}({_types(arguments)})" for result, name, arguments in
                  re.findall(r"call spir_func (.*?) @([\w.]+)\((.*)\)", body)}
    return kernel(body, list(signatures.values()), parameters)


def _types(arguments: str) -> str:
    """The types in an argument list: each argument's last word is its value."""
    found, depth, start = [], 0, 0
    for position, character in enumerate(arguments + ","):
        depth += (character in "(<{[") - (character in ")>}]")
        if character == "," and not depth:
            argument = arguments[start:position].strip()
            start = position + 1
            if argument:
                vector = re.fullmatch(r"(<\d+ x \w+>) .*", argument)
                found.append(vector.group(1) if vector else argument.rpartition(" ")[0])
    return ", ".join(found)


def compiled(ir: str) -> Module:
    return Module.from_bytes(llvm.to_spirv(ir))


def type_text(module: Module, identifier: int) -> str:
    """A type, written out: ``f32``, ``f32*5`` (storage class), ``f32[8x16]2``, ``i8x4``."""
    item = module.definition(identifier)
    words = item.words
    match item.opcode:
        case Op.TypeInt:
            return f"i{words[0]}"
        case Op.TypeFloat:
            return f"f{words[0]}" if len(words) == 1 else f"bf{words[0]}"
        case Op.TypeVector:
            return f"{type_text(module, words[0])}x{words[1]}"
        case Op.TypePointer:
            return f"{type_text(module, words[1])}*{words[0]}"
        case Op.TypeCooperativeMatrixKHR:
            rows, columns, use = (module.constant_value(word) for word in words[2:5])
            return f"{type_text(module, words[0])}[{rows}x{columns}]{use}"
    return item.name.removeprefix("OpType").lower()


def describe(module: Module, item: Instruction) -> str:
    """An instruction without ids: constants by value, other operands by their types."""
    parts = [item.name.removeprefix("Op")]
    if item.type_id is not None:
        parts.append(f":{type_text(module, item.type_id)}")
    parts += (operand_text(module, operand.value) if operand.is_id else f"#{int(operand.value)}"
              for operand in item.operands)
    return " ".join(parts)


def operand_text(module: Module, identifier: int | str) -> str:
    assert isinstance(identifier, int)
    item = module.definition(identifier)
    if item.opcode == Op.ExtInstImport:
        return "set"
    try:
        value = module.constant_value(identifier)
    except ValidationError:
        value = None
    if value is not None:
        return str(value)
    return type_text(module, item.type_id if item.type_id is not None else identifier)


UNINTERESTING = (Op.Return, Op.Variable)


def code(module: Module) -> list[str]:
    """The instructions of the module's kernel, described; loads, stores and casts included."""
    function = module.function(module.entry_points[0].function_id)
    return [describe(module, item) for block in function.blocks for item in block.instructions
            if item.opcode not in UNINTERESTING]
