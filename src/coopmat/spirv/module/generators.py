"""The tools that write SPIR-V: names for the generator word of the header (the high half is the tool)."""

from __future__ import annotations

GENERATOR = 0x00000001
"""The generator word of modules made here: tool 0 (unregistered), version 1."""

TOOLS: dict[int, str] = {
    0: "Khronos",
    1: "LunarG",
    2: "Valve",
    3: "Codeplay",
    4: "NVIDIA",
    5: "ARM",
    6: "Khronos LLVM/SPIR-V Translator",
    7: "Khronos SPIR-V Tools Assembler",
    8: "Khronos Glslang Reference Front End",
    9: "Qualcomm",
    10: "AMD",
    11: "Intel",
    12: "Imagination",
    13: "Google Shaderc over Glslang",
    14: "Google spiregg",
    15: "Google rspirv",
    16: "X-LEGEND Mesa-IR/SPIR-V Translator",
    17: "Khronos SPIR-V Tools Linker",
    18: "Wine VKD3D Shader Compiler",
    19: "Tellusim Clay Shader Compiler",
    20: "W3C WebGPU Group WHLSL Shader Translator",
    21: "Google Clspv",
    22: "Google MLIR SPIR-V Serializer",
    23: "Google Tint Compiler",
    24: "Google ANGLE Shader Compiler",
    25: "Netease Games Messiah Shader Compiler",
    26: "Xenia Xenia Emulator Microcode Translator",
    27: "Embark Studios Rust GPU Compiler Backend",
    28: "gfx-rs community Naga",
    43: "LLVM SPIR-V Backend",
}
BY_LLVM = (6, 43)
"""The tools to which LLVM's optimiser hands what it made."""

_NUMBERS = {name: number for number, name in TOOLS.items()}
_OWN = "coopmat"


def generator_text(word: int) -> str:
    """``"<tool>; <version>"`` for a generator word."""
    tool, version = word >> 16, word & 0xFFFF
    name = _OWN if word == GENERATOR else TOOLS.get(tool, f"Unknown({tool})")
    return f"{name}; {version}"


def generator_word(text: str) -> int | None:
    """The generator word that :func:`generator_text` has written; None for anything else."""
    name, separator, version = text.rpartition("; ")
    if not separator or not _is_half_word(version):
        return None
    tool = 0 if name == _OWN else _NUMBERS.get(name)
    if tool is None and name.startswith("Unknown(") and name.endswith(")"):
        number = name[len("Unknown("):-1]
        tool = int(number) if _is_half_word(number) else None
    return None if tool is None else tool << 16 | int(version)


def _is_half_word(text: str) -> bool:
    """Whether the text is a decimal number below 65536."""
    return text.isascii() and text.isdigit() and len(text) < 6 and int(text) <= 0xFFFF
