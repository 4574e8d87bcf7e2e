"""Rules for descriptive instruction sets: debug information and clspv's reflection."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from coopmat.spirv.grammar import Op, extended_names, extended_numbers
from coopmat.spirv.tables import descriptions
from coopmat.spirv.validate.rules import Findings, rule
from coopmat.spirv.validate.types import Booleans, Integers
from coopmat.spirv.validate.view import Group, ModuleView

SECTION = "OpenCL.DebugInfo.100, NonSemantic.Shader.DebugInfo, NonSemantic.ClspvReflection"
FIRST = 2
"""The place of the first operand, behind the set and the number."""

_SETS = {"OpenCL.DebugInfo.100": descriptions.OPENCL_DEBUG_INFO,
         "NonSemantic.Shader.DebugInfo.": descriptions.SHADER_DEBUG_INFO,
         "NonSemantic.ClspvReflection.": descriptions.CLSPV_REFLECTION}
_OPCODES = {"string": (Op.String,), "constant": (Op.Constant,), "function": (Op.Function,), "void": (Op.TypeVoid,),
            "count": (Op.Constant, Op.ConstantNull, Op.SpecConstant, Op.SpecConstantOp)}
_UINT = {"uint": (Op.Constant,), "extent": (Op.Constant, Op.SpecConstant, Op.SpecConstantOp)}
_COUNTED = "DebugLocalVariable|DebugGlobalVariable"
_IN_FUNCTIONS = {"DebugScope", "DebugNoScope", "DebugDeclare", "DebugValue", "DebugLine", "DebugNoLine",
                 "DebugFunctionDefinition"}


class _Set(NamedTuple):
    """An imported set: its id, its name, and what the operands of its instructions are."""

    identifier: int
    name: str
    operands: dict[str, str]

    @property
    def takes_ids(self) -> bool:
        """Whether numbers are constants, not literals."""
        return self.name.startswith("NonSemantic.")


def _sets(view: ModuleView) -> Iterator[_Set]:
    for identifier, name in view.module.instruction_sets.items():
        for beginning, operands in _SETS.items():
            if name.startswith(beginning):
                yield _Set(identifier, name, operands)


def _instructions(group: Group, imported: _Set) -> Iterator[tuple[str, Booleans]]:
    """The instructions of a set that there are, each with where it stands in the group."""
    own, numbers = group.word(0) == imported.identifier, group.word(1)
    names = extended_names(imported.name)
    for number in np.unique(numbers[own]).tolist():
        if number in names:
            yield names[number], own & (numbers == number)


def _results(view: ModuleView) -> Integers:
    """Id → set and number of the extended instruction that it is the result of, as set << 32 | number; else 0."""
    found = np.zeros(len(view.defined_by), np.int64)
    indices = np.array(view.indices(Op.ExtInst, Op.ExtInstWithForwardRefsKHR), np.int64)
    start = view.word_start[indices]
    found[view.result_id[indices]] = view.words[start] << 32 | view.words[start + 1]
    return found


@rule("described-operands", "The operands of debug information and of reflection are what the set says.", SECTION,
      Op.ExtInst)
def described_operands(group: Group) -> Findings:
    for imported in _sets(group.view):
        for name, chosen in _instructions(group, imported):
            row = imported.operands.get(name)
            if row is None:
                continue
            for place, word, optional in _places(row, group):
                if word == "any" or (word == "number" and not imported.takes_ids):
                    continue
                wrong = chosen & group.has(place) & ~_matches(group, place, word, imported)
                yield wrong, f"operand {place - FIRST + 1} of {name} is {_described(word)}, not {{def{place}}}"
                if not optional:
                    yield chosen & ~group.has(place), f"{name} lacks its operand {place - FIRST + 1}"


def _places(row: str, group: Group) -> Iterator[tuple[int, str, bool]]:
    """The places of the operands, what they are, and whether they may be missing."""
    place = FIRST
    for word in row.split():
        if word.endswith("*"):
            yield from ((i, word[:-1], True) for i in group.places(place))
            return
        yield place, word.rstrip("?"), word.endswith("?")
        place += 1


def _matches(group: Group, place: int, word: str, imported: _Set) -> Booleans:
    """Whether the ids at this place are what a word of the tables says."""
    view = group.view
    if word == "number":
        word = "uint"
    definition = group.definition(place)
    found = group.none
    for part in descriptions.WORDS.get(word, word).split("|"):
        if part in _UINT:
            value = group.value(place)
            found |= np.isin(definition, _UINT[part]) & value.is_int(32) & (value.signed == 0)
        elif part == "count":
            found |= np.isin(definition, _OPCODES[part]) & group.value(place).is_int(32, 64)
            found |= _matches(group, place, _COUNTED, imported)
        elif part in _OPCODES:
            found |= np.isin(definition, _OPCODES[part])
        else:
            number = extended_numbers(imported.name).get(part)
            wanted = -1 if number is None else imported.identifier << 32 | number
            ids = np.minimum(group.word(place), len(view.defined_by) - 1)
            found |= view.derived(_results)[ids] == wanted
    return found


def _described(word: str) -> str:
    known = {"string": "an OpString", "constant": "an OpConstant", "function": "an OpFunction",
             "uint": "a 32-bit OpConstant of signedness 0", "number": "a 32-bit OpConstant of signedness 0",
             "extent": "a 32-bit constant of signedness 0", "count": "an integer constant or a debugged variable",
             "type": "a debugged type", "parameter": "a debugged type", "result": "a debugged type or void",
             "scope": "what encloses declarations: a compilation unit, function, block or composite type"}
    return known.get(word, " or ".join(word.split("|")))


@rule("described-result", "Debug information and reflection give nothing.", SECTION, Op.ExtInst)
def described_result(group: Group) -> Findings:
    for imported in _sets(group.view):
        yield (group.word(0) == imported.identifier) & ~group.result.is_kind(Op.TypeVoid), \
            "what describes gives nothing: the result type of {op} is void, not {type}"


@rule("described-place", "Debug information about code stands in a function, all other before them.", SECTION,
      Op.ExtInst)
def described_place(group: Group) -> Findings:
    inside = group.view.flow.function_of[group.indices] >= 0
    for imported in _sets(group.view):
        if "DebugInfo" not in imported.name:
            continue
        for name, chosen in _instructions(group, imported):
            if name in _IN_FUNCTIONS:
                yield chosen & ~inside, f"{name} stands outside a function"
            elif name in imported.operands:
                yield chosen & inside, f"{name} stands in a function; it belongs before them"


@rule("reflection-version", "An instruction of clspv's reflection is one of the set's version.", SECTION, Op.ExtInst)
def reflection_version(group: Group) -> Findings:
    for imported in _sets(group.view):
        beginning, _, version = imported.name.rpartition(".")
        if beginning != "NonSemantic.ClspvReflection" or not version.isdecimal():
            continue
        for name, chosen in _instructions(group, imported):
            first = descriptions.CLSPV_VERSIONS.get(name, 1)
            if first > int(version):
                yield chosen, f"{name} exists from version {first} of {beginning} on, not in version {version}"
