"""Rules about a module's form: sections, ids, functions and blocks."""

from __future__ import annotations

import numpy as np

from coopmat.spirv.grammar import Op
from coopmat.spirv.validate.roles import FORWARD, Role, role
from coopmat.spirv.validate.rules import Findings, rule
from coopmat.spirv.validate.types import TYPES, Integers
from coopmat.spirv.validate.view import ModuleView

LAYOUT = "SPIR-V 2.4 Logical Layout of a Module"

_SECTIONS: dict[int, tuple[str, tuple[Op, ...]]] = {
    1: ("capabilities", (Op.Capability,)),
    2: ("extensions", (Op.Extension,)),
    3: ("imports of instruction sets", (Op.ExtInstImport,)),
    4: ("the memory model", (Op.MemoryModel,)),
    5: ("entry points", (Op.EntryPoint,)),
    6: ("execution modes", (Op.ExecutionMode, Op.ExecutionModeId)),
    7: ("strings and sources", (Op.String, Op.SourceExtension, Op.Source, Op.SourceContinued)),
    8: ("names", (Op.Name, Op.MemberName)),
    9: ("processing notes", (Op.ModuleProcessed,)),
    10: ("annotations", (Op.Decorate, Op.MemberDecorate, Op.DecorationGroup, Op.GroupDecorate,
                         Op.GroupMemberDecorate, Op.DecorateId, Op.DecorateString, Op.MemberDecorateString)),
}
_DECLARATIONS = 11
"""Types, constants and global variables."""
_FUNCTIONS = 12
_ANYWHERE_LATER = frozenset({Op.Line, Op.NoLine, Op.ExtInst, Op.ExtInstWithForwardRefsKHR, Op.Nop})
_GLOBAL_VALUES = frozenset({
    Op.ConstantTrue, Op.ConstantFalse, Op.Constant, Op.ConstantComposite, Op.ConstantSampler, Op.ConstantNull,
    Op.SpecConstantTrue, Op.SpecConstantFalse, Op.SpecConstant, Op.SpecConstantComposite, Op.SpecConstantOp,
    Op.Undef, Op.Variable, Op.UntypedVariableKHR, Op.TypeForwardPointer, Op.ConstantPipeStorage,
})
_CONSTANTS = frozenset({op for op in _GLOBAL_VALUES if "Constant" in op.spelling} | {Op.Undef})
_SECTION_OF = {int(op): number for number, (_, ops) in _SECTIONS.items() for op in ops}
_SECTION_OF |= {int(op): _DECLARATIONS for op in TYPES | _GLOBAL_VALUES}


def _names(number: int) -> str:
    return _SECTIONS[number][0] if number in _SECTIONS else "types, constants and variables"


@rule("layout-order", "Instructions come in the order of the module's sections.", LAYOUT)
def layout_order(view: ModuleView) -> Findings:
    latest = 0
    end = min((f.first for f in view.flow.functions), default=len(view))
    for index, opcode in enumerate(view.opcode[:end].tolist()):
        if opcode in _ANYWHERE_LATER:
            continue
        section = _SECTION_OF.get(opcode)
        if section is None:
            yield index, "{op} stands outside a function"
        elif section < latest:
            yield index, f"{{op}} stands after {_names(latest)}; {_names(section)} come before them"
        else:
            latest = section
    late = np.isin(view.opcode[end:], [op for op, number in _SECTION_OF.items()
                                       if op not in (Op.Variable, Op.Undef, Op.UntypedVariableKHR)])
    yield end + np.flatnonzero(late), "{op} stands after the first function"


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


@rule("id-defined", "Every id that is used is the result of an instruction.",
      "SPIR-V 2.16.1 Universal Validation Rules")
def id_defined(view: ModuleView) -> Findings:
    at, _, ids = view.uses
    missing = view.definition_of(ids) < 0
    for index, identifier in zip(at[missing].tolist(), ids[missing].tolist(), strict=True):
        yield index, f"{{op}} uses id %{identifier}, which no instruction defines"
    wrong = np.flatnonzero((view.type_id != 0) & (view.definition_of(view.type_id) < 0))
    for index in wrong.tolist():
        yield index, f"{{op}} has the result type %{view.type_id[index]}, which no instruction defines"


@rule("id-role", "Each operand is what the instruction needs: a value, a type, a label, a function, …",
      "SPIR-V 3.3 Instructions")
def id_role(view: ModuleView) -> Findings:
    wrong = np.flatnonzero((view.type_id != 0) & (view.definition_of(view.type_id) >= 0)
                           & ~view.types(view.type_id).known)
    for index in wrong.tolist():
        yield index, f"the result type of {{op}}, %{view.type_id[index]}, is no type"
    at, place, ids = view.uses
    key = view.opcode[at] << 16 | place
    distinct, inverse = np.unique(key, return_inverse=True)
    wanted = np.array([role(k >> 16, k & 0xFFFF) for k in distinct.tolist()], np.int64)[inverse]
    given = _given(view, ids)
    matches = (wanted == Role.ANY) | (wanted == given) | (given == Role.ANY)
    matches |= (wanted == Role.VALUE) & (given == Role.CONSTANT)
    for i in np.flatnonzero(~matches).tolist():
        needed = Role(int(wanted[i]))
        yield int(at[i]), (f"{{op}} takes {needed.text} as operand, but %{ids[i]} is "
                           f"{_what(view, int(ids[i]))}")


def _given(view: ModuleView, ids: Integers) -> Integers:
    """What each id is; ANY where it is not defined (another rule says so)."""
    opcodes = view.definition_opcode(ids)
    at = view.definition_of(ids)
    found = np.where(opcodes < 0, Role.ANY, Role.VALUE)
    found[(at >= 0) & (view.type_id[at] == 0)] = 99  # nothing that an operand may be, unless listed below
    for kind, ops in ((Role.TYPE, TYPES), (Role.LABEL, {Op.Label}), (Role.FUNCTION, {Op.Function}),
                      (Role.INSTRUCTION_SET, {Op.ExtInstImport}), (Role.STRING, {Op.String}),
                      (Role.DECORATION_GROUP, {Op.DecorationGroup}), (Role.CONSTANT, _CONSTANTS)):
        found[np.isin(opcodes, [int(op) for op in ops])] = kind
    return found


def _what(view: ModuleView, identifier: int) -> str:
    return f"the result of {view.name_of(int(view.defined_by[identifier]))}"


@rule("id-before-use", "An id is defined before it is used, in a block that dominates the use.",
      "SPIR-V 2.16.1 Universal Validation Rules")
def id_before_use(view: ModuleView) -> Findings:
    at, place, ids = view.uses
    definition = view.definition_of(ids)
    forward = np.isin(view.opcode[at], [int(op) for op in FORWARD])
    chosen = (definition >= 0) & ~(forward & (view.opcode[at] != Op.Phi))
    at, place, ids, definition = at[chosen], place[chosen], ids[chosen], definition[chosen]
    is_phi = view.opcode[at] == Op.Phi
    late = (definition >= at) & ~is_phi
    for i in np.flatnonzero(late).tolist():
        yield int(at[i]), f"{{op}} uses %{ids[i]} before {view.name_of(int(definition[i]))} defines it"
    late_type = (view.type_id != 0) & (view.definition_of(view.type_id) >= np.arange(len(view)))
    for index in np.flatnonzero(late_type).tolist():
        yield index, f"{{op}} uses the type %{view.type_id[index]} before it is declared"
    yield from _dominance(view, at, place, ids, definition, is_phi, late)


def _dominance(view: ModuleView, at: Integers, place: Integers, ids: Integers, definition: Integers,
               is_phi: np.ndarray, late: np.ndarray) -> Findings:
    """Uses in other blocks than the definition's."""
    flow = view.flow
    used_in, defined_in = flow.block_of[at], flow.block_of[definition]
    local = (flow.function_of[definition] >= 0) & (view.opcode[definition] != Op.Function) \
        & (view.opcode[definition] != Op.Label)
    foreign = local & (flow.function_of[definition] != flow.function_of[at])
    for i in np.flatnonzero(foreign).tolist():
        yield int(at[i]), f"{{op}} uses %{ids[i]}, which another function defines"
    inside = local & ~foreign & (defined_in >= 0) & (used_in >= 0)
    phi = np.flatnonzero(inside & is_phi)
    if len(phi):
        parents = view.words[view.start[at[phi]] + np.minimum(place[phi] + 1, view.size[at[phi]] - 1)]
        used_in = used_in.copy()
        used_in[phi] = [flow.block_with_label.get(label, -1) for label in parents.tolist()]
    check = inside & (used_in >= 0) & ~late & (used_in != defined_in)
    places = np.flatnonzero(check)
    bad = flow.reachable(used_in[places]) & ~flow.dominates(defined_in[places], used_in[places])
    for i in places[bad].tolist():
        block = flow.blocks[int(defined_in[i])].label
        yield int(at[i]), f"{{op}} uses %{ids[i]}, but its definition in block %{block} does not dominate the use"
