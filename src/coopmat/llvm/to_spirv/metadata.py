"""What the metadata of LLVM IR tells about kernels and LLVM's SPIR-V back end drops: the parameters' types.

clang writes ``!kernel_arg_type !3`` behind a kernel's first line and ``!3 = !{!"float*", !"int"}`` below.
"""

from __future__ import annotations

import re

from coopmat.llvm.to_spirv.names import ScalarCode

_KERNEL = re.compile(r'^define\b[^@\n]*\bspir_kernel\b[^@\n]*@("(?:[^"\n])*"|[-\w.$]+)\([^\n]*'
                     r"!kernel_arg_type !(\d+)", re.MULTILINE)
_NODE = re.compile(r"^!(\d+) = !\{(.*)\}[ \t]*$", re.MULTILINE)
_STRING = re.compile(r'!"([^"\n]*)"')
_ESCAPE = re.compile(r"\\([0-9A-Fa-f]{2})")

C_SCALARS = {
    "char": ScalarCode("sint", 8), "uchar": ScalarCode("uint", 8),
    "short": ScalarCode("sint", 16), "ushort": ScalarCode("uint", 16),
    "int": ScalarCode("sint", 32), "uint": ScalarCode("uint", 32),
    "long": ScalarCode("sint", 64), "ulong": ScalarCode("uint", 64),
    "half": ScalarCode("float", 16), "float": ScalarCode("float", 32), "double": ScalarCode("float", 64),
    "__bf16": ScalarCode("bfloat", 16),
}
"""The scalar types of OpenCL C."""

_POINTER = re.compile(rf"({'|'.join(C_SCALARS)})(2|3|4|8|16)?\s*\*\Z")


def kernel_argument_types(ir: str) -> dict[str, list[str]]:
    """Kernel -> its parameters' OpenCL C types, for the kernels whose metadata has them."""
    nodes = dict(_NODE.findall(ir))
    found = {}
    for name, number in _KERNEL.findall(ir):
        if number in nodes:
            found[_unescaped(name.strip('"'))] = [_unescaped(text) for text in _STRING.findall(nodes[number])]
    return found


def _unescaped(text: str) -> str:
    raw = _ESCAPE.sub(lambda escape: chr(int(escape.group(1), 16)), text)
    return raw.encode("latin-1", "replace").decode("utf-8", "replace") if raw != text else text


def pointee(type_name: str) -> ScalarCode | None:
    """What a pointer type of OpenCL C points to, if that is a scalar or a vector."""
    pointer = _POINTER.match(type_name)
    if pointer is None:
        return None
    scalar = C_SCALARS[pointer.group(1)]
    return ScalarCode(scalar.kind, scalar.bits, int(pointer.group(2) or 1))
