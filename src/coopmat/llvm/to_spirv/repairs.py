"""Repairs around LLVM's SPIR-V back end and opaque types: of the IR that it gets, and of the binary that it writes."""

from __future__ import annotations

import re

import numpy as np

from coopmat.llvm.to_spirv.ir_text import VALUE, functions, operands, split_type
from coopmat.spirv.edit.editor import Editor
from coopmat.spirv.grammar import Op
from coopmat.spirv.module import Module
from coopmat.spirv.module.binary import HEADER_WORDS
from coopmat.spirv.module.instruction import Instruction, make

_EVENT = 'target("spirv.Event")'
_FUNCTION = re.compile(r"define\b")
_BEFORE_INSTRUCTIONS = re.compile(r'("[^"]*"|[-\w$.]+):|\s*(;|$)')
_PHI = re.compile(rf"\s*%\S+ = phi {re.escape(_EVENT)} ")
_ADDRESS, _LOADED = '%"null event.address"', '%"null event"'
_FROM_MEMORY = (f"  {_ADDRESS} = alloca {_EVENT}, align 8",
                f"  store {_EVENT} zeroinitializer, ptr {_ADDRESS}, align 8",
                f"  {_LOADED} = load {_EVENT}, ptr {_ADDRESS}, align 8")


def null_events_from_memory(ir: str) -> str:
    """The IR, its phis with a value from memory where they have the null event: the back end takes no constant there.

    Expects an instruction to a line, as LLVM and all that write IR do.
    """
    if _EVENT not in ir:
        return ir
    lines: list[str] = []
    entry, in_head = 0, False  # where the first instruction of the function goes
    for line in ir.split("\n"):
        if _PHI.match(line) and "[ zeroinitializer," in line:
            line = line.replace("[ zeroinitializer,", f"[ {_LOADED},")
            if tuple(lines[entry:entry + len(_FROM_MEMORY)]) != _FROM_MEMORY:
                lines[entry:entry] = _FROM_MEMORY
        lines.append(line)
        in_head = in_head or _FUNCTION.match(line) is not None
        if in_head and line.rstrip().endswith("{"):
            entry, in_head = len(lines), False
        elif len(lines) == entry + 1 and _BEFORE_INSTRUCTIONS.match(line):
            entry = len(lines)
    return "\n".join(lines)


_COMPUTED = re.compile(rf"  ({VALUE}) = ((?:add|sub|mul|[us]div|[us]rem|and|or|xor|shl|[la]shr|fadd|fsub|fmul|fdiv|"
                       r"frem|fneg|icmp \w+|fcmp \w+|trunc|[sz]ext|fptrunc|fpext|fpto[us]i|[us]itofp|bitcast|"
                       r"extractelement|shufflevector)(?: (?:nuw|nsw|nneg|exact|disjoint|fast|nnan|ninf|nsz|arcp|"
                       r"contract|afn|reassoc|samesign))* )([^%@]*)\Z")


def constants_from_memory(ir: str) -> str:
    """The IR, with a value from memory as the first operand of what has constants only, in functions that also build
    structures or arrays: there the back end ends its process on some of that.

    Expects an instruction to a line, as LLVM and all that write IR do.
    """
    return "\n".join(line for part in functions(ir) for line in _constants_from_memory(part))


def _constants_from_memory(lines: list[str]) -> list[str]:
    if not any(" = insertvalue " in line for line in lines):
        return lines
    variables: list[str] = []
    changed: list[str] = []
    for line in lines:
        found = _COMPUTED.match(line)
        if found is not None:
            result, operation, text = found.groups()
            type_, rest = split_type(text)
            value, *others = operands(rest.replace(" to ", ", to ", 1))
            pointer, loaded = (f"%coopmat.{kind}.{len(variables)}" for kind in ("constant", "value"))
            variables += [f"  {pointer} = alloca {type_}", f"  store {type_} {value}, ptr {pointer}"]
            changed.append(f"  {loaded} = load {type_}, ptr {pointer}")
            line = f"  {result} = {operation}{', '.join([f'{type_} {loaded}', *others])}".replace(", to ", " to ", 1)
        changed.append(line)
    if variables:
        entry = next(place for place, line in enumerate(changed) if _FUNCTION.match(line)) + 1
        while _BEFORE_INSTRUCTIONS.match(changed[entry]):
            entry += 1
        changed[entry:entry] = variables
    return changed


_NULL_WORDS = 3  # of an OpConstantNull: type, result


def without_surplus_operands(binary: bytes) -> bytes:
    """The null constant of an opaque type without the operand that each use but the first has added to it."""
    words = np.frombuffer(binary, "<u4")
    parts, start, position = [], 0, HEADER_WORDS
    while position < len(words):
        count, opcode = int(words[position]) >> 16, int(words[position]) & 0xFFFF
        if opcode == Op.ConstantNull and count > _NULL_WORDS:
            parts += [words[start:position], np.array([_NULL_WORDS << 16 | opcode], "<u4"),
                      words[position + 1:position + _NULL_WORDS]]
            start = position + count
        position += max(count, 1)
    return np.concatenate([*parts, words[start:]]).tobytes()


def with_undefined_phis(module: Module) -> Module:
    """The module with an OpUndef of its own type wherever a phi has one of another: the back end gives opaque types,
    such as matrices, an undefined integer."""
    undefined = {row.result_id: row.type_id for row in module.of_opcode(Op.Undef)}
    wrong = {row.type_id for row in module.of_opcode(Op.Phi)
             if any(value in undefined and undefined[value] != row.type_id for value in row.words[::2])}
    if not wrong:
        return module
    editor = Editor(module)
    right = {kind: editor.new_id() for kind in wrong}
    editor.head += [make(Op.Undef, type_id=kind, result_id=identifier) for kind, identifier in right.items()]

    def mended(row: Instruction) -> list[Instruction] | None:
        if row.opcode != Op.Phi or row.type_id not in right:
            return None
        words = (right[row.type_id] if place % 2 == 0 and undefined.get(word, row.type_id) != row.type_id else word
                 for place, word in enumerate(row.words))
        return [Instruction(Op.Phi, row.type_id, row.result_id, tuple(words), row.offset)]

    editor.rewrite_functions(mended)
    return module.with_instructions([*editor.head, *editor.functions])
