"""Cases of the family reading: binaries that cannot be read."""

from __future__ import annotations

from tests.kit.spirv.case import Case, broken, kernel, valid

UNDEF = kernel("%a = OpUndef %uint\n%b = OpUndef %uint\n%c = OpIAdd %uint %a %b")
MAGIC, VERSION, BOUND = 0, 1, 3
"""Places of words in the header."""


def patched(rule: str, name: str, *words: tuple[str, int, int], text: str = UNDEF, says: str = "",
            spirv_val: str | None = None, cut: int = 0) -> Case:
    return broken(rule, name, text, spirv_val, says, words, cut)


CASES = [
    valid("a module that nothing was changed in", UNDEF),
    patched("header-size", "a header of four words", cut=len(broken("", "", UNDEF).binary) - 16,
            says="found 4"),
    patched("header-magic", "another first word", ("", MAGIC, 0x07230204)),
    patched("header-version", "SPIR-V 1.7", ("", VERSION, 0x00010700)),
    patched("header-version", "SPIR-V 0.9", ("", VERSION, 0x00000900)),
    patched("header-version", "a version with a low byte", ("", VERSION, 0x00010401)),
    patched("header-bound", "a bound of 0", ("", BOUND, 0)),
    patched("word-size", "a last word of three bytes", cut=1),
    patched("word-count", "an instruction of no words", ("OpIAdd", 0, 0x00000080), says="word count 0"),
    patched("word-count", "an instruction beyond the end", ("OpFunctionEnd", 0, 0x00050038),
            says="ends 4 words before"),
    patched("word-count", "a last instruction that lacks a word", text=UNDEF + "OpLine %a 1 1", cut=4),
    patched("id-bound", "an id as large as the bound", ("", BOUND, 5)),
    patched("id-bound", "id 0", ("OpIAdd", 3, 0)),
    patched("id-bound", "a result type of id 0", ("OpIAdd", 1, 0)),
    patched("header-bound", "a bound beyond the universal limits", ("", BOUND, 0x00400001)),
    patched("id-unique", "one id defined twice", ("OpIAdd", 2, 1)),
    patched("operand-missing", "an addition of one operand", ("OpIAdd", 0, 0x00040080), says="operand"),
    patched("operand-missing", "a phi with a value that has no parent", ("OpPhi", 0, 0x000600F5), text=kernel(
        "OpBranch %b\n%b = OpLabel\n%r = OpPhi %uint %uint_1 %entry %uint_1 %b\nOpBranch %b\n%dead = OpLabel")),
    patched("operand-surplus", "an undefined value with an operand", ("OpIAdd", 0, 0x00050001)),
    patched("operand-surplus", "a square root of two numbers", ("OpExtInst", 4, 61), text=kernel(
        "%a = OpExtInst %float %std fmax %float_1 %float_1"), says="its operands take 3"),
    patched("operand-value", "a specialisation constant within another", ("OpSpecConstantOp", 3, 52),
            text=kernel("", declarations="%s = OpSpecConstantOp %uint SNegate %uint_1")),
    patched("string-terminator", "a name without end", ("OpName", 3, 0x61616161),
            text=kernel("%x = OpUndef %uint", annotations='OpName %x "aaaaa"')),
]
