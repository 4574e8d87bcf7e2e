"""Rules about the form of a module: sections, ids, functions and blocks."""

from __future__ import annotations

import numpy as np

from coopmat.spirv.grammar import EXTENDED_INSTRUCTIONS, Op, extended_numbers
from coopmat.spirv.module.instruction import MAX_WORDS
from coopmat.spirv.validate.roles import FORWARD, Role
from coopmat.spirv.validate.rules import Findings, rule
from coopmat.spirv.validate.sections import (
    CONSTANTS,
    FLOATING,
    INSIDE_FUNCTIONS,
    SECTION_OF,
    section_name,
)
from coopmat.spirv.validate.types import TYPES, Booleans, Integers
from coopmat.spirv.validate.view import ModuleView

LAYOUT = "SPIR-V 2.4 Logical Layout of a Module"
UNIVERSAL = "SPIR-V 2.16.1 Universal Validation Rules"

_LATE = np.array([op for op in SECTION_OF if op not in INSIDE_FUNCTIONS])
_SECTION_ARRAY = np.zeros(max(SECTION_OF) + 1, np.int64)
_SECTION_ARRAY[list(SECTION_OF)] = list(SECTION_OF.values())


@rule("layout-order", "Instructions come in the order of the module's sections, function declarations before "
      "definitions.", LAYOUT)
def layout_order(view: ModuleView) -> Findings:
    end = min((f.first for f in view.flow.functions), default=len(view))
    opcodes = view.opcode[:end]
    sections = _SECTION_ARRAY[np.minimum(opcodes, len(_SECTION_ARRAY) - 1)] * (opcodes < len(_SECTION_ARRAY))
    outside = np.flatnonzero(sections == 0)
    yield outside[:0] if view.has_unknown else outside, "{op} stands outside a function: it belongs into a block"
    floating = np.isin(opcodes, list(FLOATING))
    latest = np.maximum.accumulate(np.where(floating, 0, sections)) if end else sections
    for index in np.flatnonzero((sections != 0) & (sections < latest)).tolist():
        section = int(sections[index])
        yield index, f"{{op}} stands after {section_name(int(latest[index]))}; {section_name(section)} come before them"
    yield end + np.flatnonzero(np.isin(view.opcode[end:], _LATE)), \
        "{op} stands after the first function: what is declared comes before all functions"
    between = (view.opcode[end:] == Op.Undef) & (view.flow.function_of[end:] < 0)
    yield end + np.flatnonzero(between), "{op} stands between functions: it belongs into a block or before them"
    defined = False
    for function in view.flow.functions:
        if defined and not function.blocks:
            yield function.first, "{op} has no body, but stands after a function that has one: declarations come first"
        defined |= bool(function.blocks)


@rule("extended-place", "Extended instructions stand in blocks; non-semantic ones and debug information may stand "
      "among the declarations, too.", LAYOUT)
def extended_place(view: ModuleView) -> Findings:
    flow = view.flow
    if view.has_unknown:  # which may make other places for them
        return
    indices = np.array(view.indices(Op.ExtInst, Op.ExtInstWithForwardRefsKHR), np.int64)
    first_type = next(iter(np.flatnonzero(np.isin(view.opcode, _TYPES)).tolist()), len(view))
    for index in indices[flow.block_of[indices] < 0].tolist():
        name = view.module.instruction_sets.get(view.items[index].words[0], "NonSemantic.")
        if not (name.startswith("NonSemantic.") or "DebugInfo" in name):
            yield index, f"{{op}} of {name} must stand in a block"
        elif index < first_type or (flow.function_of[index] >= 0 and "DebugInfo" not in name):
            yield index, f"{{op}} of {name} must stand in a block or among the declarations"


@rule("memory-model-once", "A module has exactly one OpMemoryModel.", LAYOUT)
def memory_model_once(view: ModuleView) -> Findings:
    found = view.indices(Op.MemoryModel)
    if not found:
        yield None, "the module has no OpMemoryModel"
    yield np.array(found[1:], np.int64), "the module has a second {op}"


@rule("function-structure", "Functions are parameters, then blocks that each end with one terminator.",
      "SPIR-V 2.4 Logical Layout of a Module, 2.2.5 Control Flow")
def function_structure(view: ModuleView) -> Findings:
    yield from view.flow.problems


@rule("id-defined", "Every id that is used is the result of an instruction.", UNIVERSAL)
def id_defined(view: ModuleView) -> Findings:
    if view.has_unknown:  # which may define any id
        return
    at, ids = view.uses.at, view.uses.ids
    missing = np.flatnonzero(view.definition_of(ids) < 0)
    for i in missing.tolist():
        yield int(at[i]), f"{{op}} uses id {{named{ids[i]}}}, which no instruction defines"
    wrong = np.flatnonzero((view.type_id != 0) & (view.definition_of(view.type_id) < 0))
    for index in wrong.tolist():
        yield index, f"{{op}} has the result type {{named{view.type_id[index]}}}, which no instruction defines"


@rule("id-role", "Each operand is what the instruction needs: a value, a type, a label, a function, …",
      "SPIR-V 3.3 Instructions")
def id_role(view: ModuleView) -> Findings:
    types = view.definition_opcode(view.type_id)
    wrong = np.flatnonzero((view.type_id != 0) & (types >= 0) & ~np.isin(types, _TYPES) & ~_unknown(view, types))
    for index in wrong.tolist():
        yield index, f"the result type of {{op}}, {{named{view.type_id[index]}}}, is no type"
    at, place, ids, wanted = view.uses
    calls = np.flatnonzero((view.opcode[at] == Op.ExtInst) & (place > 1))
    if len(calls):
        wanted = wanted.copy()
        wanted[calls[_computes(view, at[calls])]] = Role.VALUE
    given = _given(view)[np.minimum(ids, len(view.defined_by) - 1)]
    matches = (wanted == given) | (wanted == Role.ANY) | (given == Role.ANY)
    matches |= (wanted == Role.VALUE) & (given == Role.CONSTANT)
    for i in np.flatnonzero(~matches).tolist():
        needed = Role(int(wanted[i]))
        yield int(at[i]), (f"{{op}} takes {needed.text} as operand, but {{named{ids[i]}}} is "
                           f"{_what(view, int(ids[i]))}")


_TYPES = np.array(sorted(TYPES))
_CONSTANT_OPCODES = np.array(sorted(CONSTANTS | {Op.Undef, Op.PoisonKHR}))


def _unknown(view: ModuleView, opcodes: Integers) -> Booleans:
    return np.isin(opcodes, view.unknown_opcodes)


def _computes(view: ModuleView, at: Integers) -> Booleans:
    """Whether these extended instructions are of a set whose operands are values."""
    sets = [identifier for identifier, name in view.module.instruction_sets.items() if name in EXTENDED_INSTRUCTIONS]
    return np.isin(view.words[np.minimum(view.word_start[at], len(view.words) - 1)], sets)


_FOLLOWING = {"OpenCL.DebugInfo.100": {"DebugFunction": (11, 12), "DebugTypeComposite": (11, MAX_WORDS)},
              "DebugInfo": {"DebugFunction": (11, 12), "DebugTypeComposite": (10, MAX_WORDS)}}
"""Debug information that may refer to what follows, and the range of places where it does."""


def _may_follow(view: ModuleView, at: Integers, place: Integers) -> Booleans:
    """Whether these operands of extended instructions may be ids that are defined later."""
    found = np.zeros(len(at), bool)
    for identifier, name in view.module.instruction_sets.items():
        for instruction, (first, end) in _FOLLOWING.get(name, {}).items():
            start = np.minimum(view.word_start[at], max(len(view.words) - 2, 0))
            found |= (view.words[start] == identifier) & (place >= first) & (place < end) \
                & (view.words[start + 1] == extended_numbers(name)[instruction])
    return found


def _given(view: ModuleView) -> Integers:
    """What each id is; ANY where it is not defined (another rule says so)."""
    at = view.defined_by
    if not len(view):
        return np.full(len(at), Role.ANY)
    opcodes = np.where(at >= 0, view.opcode[at], -1)
    found = np.where(at < 0, Role.ANY, np.where(view.type_id[at] == 0, Role.NOTHING, Role.VALUE))
    for kind, ops in ((Role.TYPE, _TYPES), (Role.LABEL, Op.Label), (Role.FUNCTION, Op.Function),
                      (Role.INSTRUCTION_SET, Op.ExtInstImport), (Role.STRING, Op.String),
                      (Role.DECORATION_GROUP, Op.DecorationGroup), (Role.CONSTANT, _CONSTANT_OPCODES)):
        found[np.isin(opcodes, ops)] = kind
    if view.has_unknown:
        found[_unknown(view, opcodes)] = Role.ANY
    return found


def _what(view: ModuleView, identifier: int) -> str:
    return f"the result of {view.name_of(int(view.defined_by[identifier]))}"


@rule("id-before-use", "An id is defined before it is used, in a block that dominates the use.", UNIVERSAL)
def id_before_use(view: ModuleView) -> Findings:
    at, place, ids, wanted = view.uses
    definition = view.definition_of(ids)
    user = view.opcode[at]
    is_phi = user == Op.Phi
    later = (wanted == Role.LABEL) | (wanted == Role.FUNCTION) | np.isin(user, _FORWARD) | _unknown(view, user)
    later |= (user == Op.ExtInst) & _may_follow(view, at, place)
    chosen = (definition >= 0) & ~later & ~_announced(view, at, definition)
    at, place, ids, definition, is_phi = at[chosen], place[chosen], ids[chosen], definition[chosen], is_phi[chosen]
    late = (definition >= at) & ~is_phi
    for i in np.flatnonzero(late).tolist():
        yield int(at[i]), f"{{op}} uses {{named{ids[i]}}} before {view.name_of(int(definition[i]))} defines it"
    late_type = (view.type_id != 0) & (view.definition_of(view.type_id) >= np.arange(len(view)))
    for index in np.flatnonzero(late_type).tolist():
        yield index, f"{{op}} uses the type {{named{view.type_id[index]}}} before it is declared"
    yield from _dominance(view, at, place, ids, definition, is_phi, late)


_FORWARD = np.array(sorted(FORWARD))


def _announced(view: ModuleView, at: Integers, definition: Integers) -> Booleans:
    """Whether a declaration names a pointer type that an OpTypeForwardPointer has announced before."""
    announced = [item.words[0] for _, item in view.of_opcode(Op.TypeForwardPointer)]
    if not announced:
        return np.zeros(len(at), bool)
    return np.isin(view.result_id[definition], announced) & np.isin(view.opcode[at], _TYPES)


def _dominance(view: ModuleView, at: Integers, place: Integers, ids: Integers, definition: Integers,
               is_phi: Booleans, late: Booleans) -> Findings:
    """Uses in other blocks than the definition's."""
    flow = view.flow
    defined_as = view.opcode[definition]
    local = (flow.function_of[definition] >= 0) & (defined_as != Op.Function) & (defined_as != Op.Label)
    chosen = np.flatnonzero(local)
    at, place, ids, definition = at[chosen], place[chosen], ids[chosen], definition[chosen]
    is_phi, late = is_phi[chosen], late[chosen]
    used_in, defined_in = flow.block_of[at], flow.block_of[definition]
    foreign = flow.function_of[definition] != flow.function_of[at]
    for i in np.flatnonzero(foreign).tolist():
        yield int(at[i]), f"{{op}} uses {{named{ids[i]}}}, which another function defines"
    inside = ~foreign & (defined_in >= 0) & (used_in >= 0)
    phi = np.flatnonzero(inside & is_phi)
    if len(phi):
        parents = view.words[view.word_start[at[phi]] + np.minimum(place[phi] + 1, view.word_count[at[phi]] - 1)]
        used_in = used_in.copy()
        used_in[phi] = [flow.block_with_label.get(label, -1) for label in parents.tolist()]
    check = inside & (used_in >= 0) & ~late & (used_in != defined_in)
    places = np.flatnonzero(check)
    bad = flow.reachable(used_in[places]) & ~flow.dominates(defined_in[places], used_in[places])
    for i in places[bad].tolist():
        block = flow.blocks[int(defined_in[i])].label
        yield int(at[i]), f"{{op}} uses {{named{ids[i]}}}, but its definition in block {{named{block}}} does not " \
                          "dominate the use"
