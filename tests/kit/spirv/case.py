"""What a case of the validator's corpus is: a module that is valid or breaks one rule, written in a few lines.

``kernel(…)`` makes a module of a kernel's body.  Types and constants that the text names (``%uint``, ``%v4float``,
``%uint_7``, ``%ptr_global_float``) are declared with the capabilities and extensions that they need; everything
else a case declares itself.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass

from coopmat.spirv import Module

CAPABILITIES_OF = {
    "uchar": ("Int8",), "ushort": ("Int16",), "ulong": ("Int64",), "half": ("Float16",), "double": ("Float64",),
    "bfloat16": ("BFloat16TypeKHR",), "int4": ("Int4TypeINTEL",), "v8": ("Vector16",), "v16": ("Vector16",),
    "matrix": ("CooperativeMatrixKHR",), "ptr_generic": ("GenericPointer",),
}
EXTENSIONS_OF = {
    "bfloat16": "SPV_KHR_bfloat16", "int4": "SPV_INTEL_int4", "matrix": "SPV_KHR_cooperative_matrix",
}
SCALARS = {
    "void": "OpTypeVoid", "bool": "OpTypeBool", "uchar": "OpTypeInt 8 0", "ushort": "OpTypeInt 16 0",
    "uint": "OpTypeInt 32 0", "sint": "OpTypeInt 32 1", "ulong": "OpTypeInt 64 0", "half": "OpTypeFloat 16",
    "float": "OpTypeFloat 32", "double": "OpTypeFloat 64", "bfloat16": "OpTypeFloat 16 BFloat16KHR",
    "int4": "OpTypeInt 4 0",
}
STORAGE = {"global": "CrossWorkgroup", "local": "Workgroup", "private": "Function", "constant": "UniformConstant",
           "generic": "Generic", "input": "Input"}
USES = {"a": 0, "b": 1, "acc": 2}

_NAME = re.compile(r"%([A-Za-z]\w*)")


class _Prelude:
    """The declarations that a text needs, in order."""

    def __init__(self, defined: set[str]) -> None:
        self.defined = defined
        self.lines: dict[str, str] = {}
        self.capabilities: dict[str, None] = {}
        self.extensions: dict[str, None] = {}

    def need(self, name: str) -> None:
        """Declare ``name`` and what it is made of, if it is one of the standard names."""
        if name in self.defined or name in self.lines:
            return
        text = self._declaration(name)
        if text is not None:
            for inner in _NAME.findall(text):
                self.need(inner)
            self.lines[name] = f"%{name} = {text}"

    def _take(self, key: str) -> None:
        self.capabilities.update(dict.fromkeys(CAPABILITIES_OF.get(key, ())))
        if key in EXTENSIONS_OF:
            self.extensions[EXTENSIONS_OF[key]] = None

    def _declaration(self, name: str) -> str | None:
        if name in SCALARS:
            self._take(name)
            return SCALARS[name]
        if match := re.fullmatch(r"v(\d+)(\w+)", name):
            self._take(f"v{match[1]}")
            return f"OpTypeVector %{match[2]} {match[1]}"
        if match := re.fullmatch(r"ptr_([a-z]+)_(\w+)", name):
            self._take(f"ptr_{match[1]}")
            return f"OpTypePointer {STORAGE[match[1]]} %{match[2]}"
        if match := re.fullmatch(r"arr(\d+)_(\w+)", name):
            return f"OpTypeArray %{match[2]} %uint_{match[1]}"
        if match := re.fullmatch(r"matrix_(a|b|acc)_(\d+)x(\d+)_(\w+)", name):
            self._take("matrix")
            return f"OpTypeCooperativeMatrixKHR %{match[4]} %uint_3 %uint_{match[2]} %uint_{match[3]} " \
                   f"%uint_{USES[match[1]]}"
        if match := re.fullmatch(r"([a-z]+\d*)_(n?\d+)", name):
            return f"OpConstant %{match[1]} {match[2].replace('n', '-')}"
        if name in ("true", "false"):
            return f"OpConstant{name.capitalize()} %bool"
        return None


def module(text: str, *, capabilities: str = "", extensions: str = "", entry: str = 'OpEntryPoint Kernel %main "main"',
           modes: str = "", annotations: str = "", declarations: str = "", version: str = "1.4",
           model: str = "OpMemoryModel Physical64 OpenCL", kind: str = "Kernel Addresses") -> str:
    """A module whose functions are ``text``."""
    own = "\n".join((modes, annotations, declarations, text))
    prelude = _Prelude(set(re.findall(r"%([A-Za-z]\w*)\s*=", own)))
    for name in _NAME.findall(own):
        prelude.need(name)
    wanted = dict.fromkeys([*kind.split(), *prelude.capabilities, *capabilities.split()])
    lines = [f"; Version: {version}", *(f"OpCapability {name}" for name in wanted),
             *(f'OpExtension "{name}"' for name in dict.fromkeys([*prelude.extensions, *extensions.split()])),
             '%std = OpExtInstImport "OpenCL.std"' if "%std" in own else "", model, entry, modes, annotations,
             *prelude.lines.values(), declarations, text]
    return "\n".join(line for line in lines if line.strip()) + "\n"


def kernel(body: str, *, parameters: str = "", **rest: str) -> str:
    """A module with the kernel ``main``: ``parameters`` are types, whose values are ``%p0``, ``%p1``, …"""
    types = parameters.split()
    arguments = "\n".join(f"%p{i} = OpFunctionParameter {type_}" for i, type_ in enumerate(types))
    declarations = rest.pop("declarations", "") + f"\n%main_type = OpTypeFunction %void {' '.join(types)}"
    return module(f"%main = OpFunction %void None %main_type\n{arguments}\n%entry = OpLabel\n{body}\n"
                  "OpReturn\nOpFunctionEnd", declarations=declarations, **rest)


def shader(body: str, **rest: str) -> str:
    """A compute shader ``main``, for what OpenCL forbids."""
    rest.setdefault("kind", "Shader")
    rest.setdefault("model", "OpMemoryModel Logical GLSL450")
    rest.setdefault("entry", 'OpEntryPoint GLCompute %main "main"')
    rest.setdefault("modes", "OpExecutionMode %main LocalSize 1 1 1")
    return kernel(body, **rest)


@dataclass(frozen=True)
class Case:
    """One module.  ``rules`` are the rules that it breaks, warnings included; none: it is valid.

    ``says``: a piece of one of the messages.  ``spirv_val``: why the verdict of SPIRV-Tools differs, if it does.
    ``words`` replaces words of the binary, for what no text can say: the name of an instruction ("": the header),
    the place of a word in the first such instruction (0 holds word count and opcode), and the new word.
    ``cut`` bytes are taken from the end.  ``environment``: for SPIRV-Tools, another one than SPIR-V's own.
    """

    name: str
    text: str
    rules: tuple[str, ...] = ()
    spirv_val: str | None = None
    says: str = ""
    words: tuple[tuple[str, int, int], ...] = ()
    cut: int = 0
    environment: str = ""

    @property
    def binary(self) -> bytes:
        """The module as a binary."""
        module = Module.from_text(self.text)
        words = list(memoryview(module.to_bytes()).cast("I"))
        for name, place, word in self.words:
            start = 0
            if name:
                start = next(4 + sum(len(item.to_words()) for item in module.instructions[:i]) + 1
                             for i, item in enumerate(module.instructions) if item.name == name)
            words[start + place] = word
        return struct.pack(f"<{len(words)}I", *words)[:4 * len(words) - self.cut]


def valid(name: str, text: str, spirv_val: str | None = None) -> Case:
    """A valid module."""
    return Case(name, text, (), spirv_val)


def broken(rules: str, name: str, text: str, spirv_val: str | None = None, says: str = "",
           words: tuple[tuple[str, int, int], ...] = (), cut: int = 0) -> Case:
    """A module that breaks one rule, or a few that go together."""
    return Case(name, text, tuple(rules.split()), spirv_val, says, words, cut)
