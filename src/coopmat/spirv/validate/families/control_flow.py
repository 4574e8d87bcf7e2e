"""Rules for blocks, branches and merges (SPIR-V 2.11 and 3.3.17)."""

from __future__ import annotations

from collections import Counter

import numpy as np

from coopmat.spirv.grammar import Capability, LoopControl, Op
from coopmat.spirv.validate.rules import Findings, rule
from coopmat.spirv.validate.view import Group, ModuleView

SECTION = "SPIR-V 3.3.17 Control-Flow Instructions"
BLOCKS = "SPIR-V 2.11 Structured Control Flow; 2.2.5 Control Flow"
_IMAGES = (Op.TypeImage, Op.TypeSampler, Op.TypeSampledImage)


@rule("branch-condition", "A condition is a boolean; weights come in pairs.", SECTION, Op.BranchConditional)
def branch_condition(group: Group) -> Findings:
    yield ~group.value(0).is_kind(Op.TypeBool), "the condition of {op} is a boolean, not {type0}"
    yield (group.size != 3) & (group.size != 5), "{op} has two branch weights or none"
    yield (group.size == 5) & (group.word(3) == 0) & (group.word(4) == 0), \
        "the branch weights of {op} are both 0: one must be larger"
    if group.view.module.version >= 0x10600:
        yield group.word(1) == group.word(2), "{op} has one target twice: from SPIR-V 1.6 on they must differ"


@rule("switch-selector", "The selector of a switch is an integer.", SECTION, Op.Switch)
def switch_selector(group: Group) -> Findings:
    yield ~group.value(0).is_kind(Op.TypeInt), "the selector of {op} is an integer, not {type0}"


@rule("switch-literals", "No two cases of a switch have the same literal.", SECTION)
def switch_literals(view: ModuleView) -> Findings:
    for index, item in view.of_opcode(Op.Switch):
        words = int(item.context or 1)
        cases = item.words[2:]
        literals = Counter(cases[i:i + words] for i in range(0, len(cases) - words, words + 1))
        for literal, count in literals.items():
            if count > 1:
                yield index, f"{{op}} has {count} cases for {sum(w << 32 * i for i, w in enumerate(literal))}"


@rule("branch-target", "A branch goes to a block of its own function, and never to the entry block.", BLOCKS)
def branch_target(view: ModuleView) -> Findings:
    flow = view.flow
    entries = {function.blocks[0] for function in flow.functions if function.blocks}
    for block in flow.blocks:
        for number in block.successors:
            target = flow.blocks[number]
            if flow.function_of[target.first] != flow.function_of[block.first]:
                yield block.last, f"{{op}} goes to block {{named{target.label}}} of another function"
            elif number in entries:
                yield block.last, f"{{op}} goes to {{named{target.label}}}, the function's entry block"


@rule("block-order", "A block stands before the blocks that it dominates.", BLOCKS)
def block_order(view: ModuleView) -> Findings:
    flow = view.flow
    flow.reachable(np.zeros(0, np.int64))  # finds the dominators
    for block in flow.blocks:
        if block.dominator is not None and flow.blocks[block.dominator].first > block.first:
            yield block.first, f"block {{id}} stands before block {{named{flow.blocks[block.dominator].label}}}, " \
                               "which dominates it"


@rule("phi-place", "OpPhi instructions come first in their block, and not in the entry block.", SECTION)
def phi_place(view: ModuleView) -> Findings:
    flow = view.flow
    phis = np.array(view.indices(Op.Phi), np.int64)
    if not len(phis):
        return
    first_other = {}
    for number in np.unique(flow.block_of[phis]).tolist():
        if number < 0:
            continue
        block = flow.blocks[number]
        others = (i for i in range(block.first + 1, block.last + 1)
                  if view.opcode[i] not in (Op.Phi, Op.Line, Op.NoLine))
        first_other[number] = next(others, block.last)
    late = [int(i) for i in phis.tolist() if i > first_other.get(int(flow.block_of[i]), len(view))]
    for index in late:
        yield index, "{op} stands after other instructions of its block"
    entries = {function.blocks[0] for function in flow.functions if function.blocks}
    for index in phis.tolist():
        if int(flow.block_of[index]) in entries:
            yield index, "{op} stands in the entry block, which has no predecessor"


@rule("phi-parents", "OpPhi has one value for each predecessor of its block.", SECTION)
def phi_parents(view: ModuleView) -> Findings:
    flow = view.flow
    expected: dict[int, set[int]] = {}
    for index, item in view.of_opcode(Op.Phi):
        number = int(flow.block_of[index])
        if number < 0:
            continue
        if number not in expected:
            expected[number] = {flow.blocks[p].label for p in flow.blocks[number].predecessors}
        wanted, given = expected[number], item.words[1::2]
        if len(given) == len(wanted) and wanted.issuperset(given) and len(set(given)) == len(given):
            continue
        for label, count in Counter(given).items():
            if count > 1:
                yield index, f"{{op}} names the parent {{named{label}}} {count} times"
        for label in sorted(set(given) - wanted):
            yield index, f"{{op}} names {{named{label}}}, which is no predecessor of its block"
        for label in sorted(wanted - set(given)):
            yield index, f"{{op}} has no value for the predecessor {{named{label}}}"


@rule("phi-types", "The values of OpPhi have its result type, which is a type with values.", SECTION, Op.Phi)
def phi_types(group: Group) -> Findings:
    yield group.result.is_kind(Op.TypeVoid), "{op} cannot have type {type}"
    if not group.view.has(Capability["BindlessTextureNV"]):
        images = _IMAGES if group.view.has(Capability.Shader) else (Op.TypeSampledImage,)
        yield group.result.is_kind(*images), "{op} cannot choose between images and samplers, {type}"
    for place in group.places(0, 2):
        yield group.has(place) & (group.value(place) != group.result), \
            f"{{op}} has a value of type {{type{place}}}; {{type}} is needed"


@rule("merge-place", "A merge instruction stands right before the branch that it belongs to.", BLOCKS)
def merge_place(view: ModuleView) -> Findings:
    for index in view.indices(Op.LoopMerge, Op.SelectionMerge):
        after = int(view.opcode[index + 1]) if index + 1 < len(view) else -1
        loop = view.opcode[index] == Op.LoopMerge
        allowed = (Op.Branch, Op.BranchConditional) if loop else (Op.BranchConditional, Op.Switch)
        if after not in allowed:
            names = " or ".join("Op" + op.spelling for op in allowed)
            yield index, f"{{op}} must stand right before an {names}"


@rule("merge-blocks", "A merge block belongs to one header; header, merge block and continue target differ.", BLOCKS)
def merge_blocks(view: ModuleView) -> Findings:
    flow = view.flow
    owners: dict[int, int] = {}
    for index, item in view.of_opcode(Op.LoopMerge, Op.SelectionMerge):
        number = int(flow.block_of[index])
        header = flow.blocks[number].label if number >= 0 else 0
        merge = item.words[0]
        if merge == header:
            yield index, "the merge block of {op}, {id0}, is its own header: another block is needed"
        if item.opcode == Op.LoopMerge and item.words[1] == merge:
            yield index, "the merge block of {op}, {id0}, is its continue target: another block is needed"
        if owners.setdefault(merge, index) != index:
            yield index, f"block {{named{merge}}} is the merge block of another header, too"


@rule("return-type", "A function returns what its type says.", SECTION)
def return_type(view: ModuleView) -> Findings:
    flow = view.flow
    returns = np.array(view.indices(Op.Return, Op.ReturnValue), np.int64)
    returns = returns[flow.function_of[returns] >= 0]
    result_types = view.type_id[np.array([function.first for function in flow.functions], np.int64)]
    wanted = result_types[flow.function_of[returns]]
    has_value = view.opcode[returns] == Op.ReturnValue
    given = np.zeros(len(returns), np.int64)
    given[has_value] = view.type_id[view.definition_of(view.words[view.word_start[returns[has_value]]])]
    is_void = view.types(wanted).is_kind(Op.TypeVoid)
    yield returns[~has_value & ~is_void], "{op} in a function that returns a value: OpReturnValue is needed"
    yield returns[has_value & is_void], "{op} in a function that returns nothing: OpReturn is needed"
    differs = has_value & ~is_void & (given != wanted)
    for index, kind in zip(returns[differs].tolist(), wanted[differs].tolist(), strict=True):
        yield index, f"{{op}} gives {{type0}}; the function returns {{named{kind}}}"


@rule("function-body", "Only a function with Import linkage has no body.", "SPIR-V 2.16.1 Universal Validation Rules")
def function_body(view: ModuleView) -> Findings:
    imports = view.annotations.imports
    for function in view.flow.functions:
        if not function.blocks and int(view.result_id[function.first]) not in imports:
            yield function.first, "{op} {id} has no blocks; only a function with Import linkage may have none"


_UNROLLING = int(LoopControl.PeelCount | LoopControl.PartialCount)


@rule("loop-control", "Loop controls do not contradict each other.", "SPIR-V 3.2.22 Loop Control", Op.LoopMerge)
def loop_control(group: Group) -> Findings:
    control = group.word(2)
    unroll, not_unroll = control & int(LoopControl.Unroll) != 0, control & int(LoopControl.DontUnroll) != 0
    yield unroll & not_unroll, "{op} names both Unroll and DontUnroll, which exclude each other"
    yield not_unroll & (control & _UNROLLING != 0), \
        "{op} names DontUnroll together with PeelCount or PartialCount, which unroll"
    multiple = control & int(LoopControl.IterationMultiple) != 0
    # The numbers follow in the order of the bits.
    before = sum((control & int(bit) != 0).astype(int) for bit in _NUMBERED_BEFORE)
    number = np.choose(np.minimum(before, 3), [group.word(3 + i) for i in range(4)])
    yield multiple & (number == 0), "the IterationMultiple of {op} is 0: at least 1 is needed"


_NUMBERED_BEFORE = (LoopControl.DependencyLength, LoopControl.MinIterations, LoopControl.MaxIterations)
"""Loop controls with a number that come before IterationMultiple."""


@rule("variable-place", "Function variables come first in the entry block.", "SPIR-V 2.4 Logical Layout of a Module")
def variable_place(view: ModuleView) -> Findings:
    flow = view.flow
    variables = np.array(view.indices(Op.Variable, Op.UntypedVariableKHR), np.int64)
    variables = variables[flow.block_of[variables] >= 0]
    others = np.flatnonzero(~np.isin(view.opcode, _BESIDE_VARIABLES))
    entry_labels = [flow.blocks[function.blocks[0]].first for function in flow.functions if function.blocks]
    labels = np.array([block.first for block in flow.blocks], np.int64)[flow.block_of[variables]]
    after_label = np.append(others, len(view))[np.searchsorted(others, labels, side="right")]
    yield variables[~np.isin(labels, entry_labels) | (variables > after_label)], \
        "{op} must be among the first instructions of the function's entry block"


_BESIDE_VARIABLES = (Op.Variable, Op.UntypedVariableKHR, Op.Line, Op.NoLine, Op.ExtInst)
"""What may stand among the variables at the start of a block."""
