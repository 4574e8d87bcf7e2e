"""Calls of variadic functions, of which OpenCL C has one: printf.

LLVM's SPIR-V back end looks up the parameter that belongs to an argument that is a global variable, or an
expression of constants with one in it, and stops where a variadic call has no such parameter. Here such an
argument becomes the result of an instruction, of which the back end asks no more.
"""

from __future__ import annotations

import re

_CALL = re.compile(r'^ *(?:%(?:"[^"]*"|[-\w.$]+) = )?(?:\w+ )*?call [^"@\n]*, \.\.\.\) @(?:"[^"]*"|[-\w.$]+)\(')
_POINTER = re.compile(r"(ptr(?: addrspace\(\d+\))?) (.*)")
_TOKEN = re.compile(r'"[^"]*"|[(\[{<]|[)\]}>]|,|[^"()\[\]{}<>,]+')
_ATTRIBUTES = re.compile(r"^(?:(?:noundef|nonnull|nocapture|readonly|readnone|align \d+|captures\([^)]*\)) +)+")
_NAME = "coopmat.argument"


def is_variadic(function_type: str) -> bool:
    """Whether LLVM's type of a function ends with an ellipsis."""
    return function_type.endswith("...)")


def with_plain_arguments(ir: str) -> str:
    """IR, as LLVM prints it, in which no pointer constant is an argument of a variadic call."""
    lines: list[str] = []
    count = 0
    for line in ir.split("\n"):
        call = _CALL.match(line)
        if call is not None:
            arguments, rest = _arguments(line[call.end():])
            for index, argument in enumerate(arguments):
                pointer = _POINTER.match(argument)
                if index and pointer is not None and "@" in argument:
                    register = f"%{_NAME}.{count}"
                    value = _without_attributes(pointer.group(2))
                    lines.append(f"  {register} = getelementptr i8, {pointer.group(1)} {value}, i64 0")
                    arguments[index] = f"{pointer.group(1)} {register}"
                    count += 1
            line = f"{call.group()}{', '.join(arguments)}{rest}"
        lines.append(line)
    return "\n".join(lines)


def _without_attributes(value: str) -> str:
    """The value behind attributes such as ``noundef`` and ``align 4``."""
    return _ATTRIBUTES.sub("", value)


def _arguments(text: str) -> tuple[list[str], str]:
    """The arguments up to the parenthesis that closes the list, and what is left from there on."""
    arguments, depth, end = [""], 0, 0
    for match in _TOKEN.finditer(text):
        token, end = match.group(), match.end()
        if token in tuple(")]}>"):
            depth -= 1
        if depth < 0:
            break
        if token in tuple("([{<"):
            depth += 1
        if token == "," and not depth:
            arguments.append("")
        else:
            arguments[-1] += token
    return [argument.strip() for argument in arguments if argument.strip()], text[end - 1:]
