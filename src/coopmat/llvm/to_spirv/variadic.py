"""Calls of variadic functions, of which OpenCL C has one: printf.

LLVM's SPIR-V back end looks up the parameter that belongs to an argument that is a global variable, or an
expression of constants with one in it, or null, and stops where a variadic call has no such parameter. Here such an
argument becomes the result of an instruction, of which the back end asks no more. In a program without any parameters
it also stops at a format that is the address of the first element of an array instead of that of the array.
"""

from __future__ import annotations

import re

from coopmat.llvm.to_spirv.ir_text import POINTER, SYMBOL, VALUE, functions, split_list, split_operand

_CALL = re.compile(r'^ *(?:%(?:"[^"]*"|[-\w.$]+) = )?(?:\w+ )*?call [^"@\n]*, \.\.\.\) @(?:"[^"]*"|[-\w.$]+)\(')
_BEGINNING = re.compile(rf"  ({VALUE}) = getelementptr [^,]*, {POINTER} ({SYMBOL})(?:, i\d+ 0)+\Z")
_NAME = "coopmat.argument"


def is_variadic(function_type: str) -> bool:
    """Whether LLVM's type of a function ends with an ellipsis."""
    return function_type.endswith("...)")


def with_plain_arguments(ir: str) -> str:
    """IR, as LLVM prints it, in which no pointer constant is an argument of a variadic call, and its format none that
    was computed needlessly."""
    return "\n".join(line for part in functions(ir) for line in _with_plain_arguments(part))


def _with_plain_arguments(function: list[str]) -> list[str]:
    lines: list[str] = []
    count = 0
    beginnings = {found[1]: found[2] for found in map(_BEGINNING.match, function) if found is not None}
    for line in function:
        call = _CALL.match(line)
        if call is not None:
            arguments, rest = split_list(line[call.end():])
            for index, argument in enumerate(arguments):
                type_, value = split_operand(argument)
                if not index and value in beginnings:
                    arguments[0] = f"{type_} {beginnings[value]}"
                elif index and type_.startswith("ptr") and ("@" in value or value == "null"):
                    register = f"%{_NAME}.{count}"
                    lines.append(f"  {register} = getelementptr i8, {type_} {value}, i64 0")
                    arguments[index] = f"{type_} {register}"
                    count += 1
            line = f"{call.group()}{', '.join(arguments)}){rest}"
        lines.append(line)
    return lines
