"""Modules to text, in the syntax of SPIR-V's assembly language."""

from __future__ import annotations

from collections.abc import Callable

from coopmat.spirv.grammar import Op
from coopmat.spirv.module.content import Content
from coopmat.spirv.module.generators import generator_text
from coopmat.spirv.text.lines import LineWriter, ScalarTypes
from coopmat.spirv.text.names import FriendlyNames


def disassemble(module: Content, *, friendly_names: bool = False) -> str:
    """The text of a module: header comments, then one instruction a line."""
    name: Callable[[int], str] = str
    if friendly_names:
        name = FriendlyNames(module).name
    writer = LineWriter(name, ScalarTypes(of_values=any(module.of_opcode(Op.Switch))))
    lines = [
        "; SPIR-V",
        f"; Version: {module.version_text}",
        f"; Generator: {generator_text(module.generator)}",
        f"; Bound: {module.bound}",
        f"; Schema: {module.schema}",
    ]
    lines += map(writer.line, module.instructions)
    return "\n".join(lines) + "\n"
