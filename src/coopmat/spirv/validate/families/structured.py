"""Rules for structured control flow, which modules with the capability Shader have (SPIR-V 2.11)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from coopmat.spirv.analysis.dominators import immediate_dominators
from coopmat.spirv.grammar import ExecutionMode, Op
from coopmat.spirv.validate.flow import FunctionRange
from coopmat.spirv.validate.rules import Findings, rule
from coopmat.spirv.validate.view import ModuleView

SECTION = "SPIR-V 2.11 Structured Control Flow"
DEEPEST = 1023
"""The nesting depth of constructs that the specification's universal limits ask for (2.17)."""


@dataclass(eq=False, slots=True)
class Construct:
    """A construct: ``kind`` is selection, switch, loop or continue; its blocks by number; the construct around it."""

    kind: str
    header: int
    merge: int
    target: int
    parent: Construct | None
    depth: int


class Structure:
    """The constructs of one function.

    ``innermost`` holds for each block that can be reached (in the structural sense, from header to merge block and
    continue target, too) the innermost construct that it lies in, headers in their own.
    """

    def __init__(self, view: ModuleView, function: FunctionRange) -> None:
        self.view = view
        self.flow = view.flow
        self.merges: dict[int, tuple[str, int, int]] = {}
        for block in function.blocks:
            self._add_merge(block)
        self.entry = function.blocks[0]
        self.successors = {block: self._structural(block) for block in function.blocks}
        self.predecessors: dict[int, list[int]] = {block: [] for block in function.blocks}
        for block, following in self.successors.items():
            for successor in following:
                self.predecessors[successor].append(block)
        self.dominator = immediate_dominators(self.entry, self.successors.__getitem__, self.predecessors.__getitem__)
        self.enter, self.leave, order = self._tree()
        self.too_deep: int | None = None
        self.innermost: dict[int, Construct | None] = {}
        self.own: dict[int, Construct] = {}
        self._nest(order)

    def _add_merge(self, number: int) -> None:
        block = self.flow.blocks[number]
        index = block.last - 1
        if index <= block.first or self.view.opcode[index] not in (Op.LoopMerge, Op.SelectionMerge):
            return
        words = self.view.items[index].words
        labels = self.flow.block_with_label
        merge = labels.get(words[0], -1)
        if self.view.opcode[index] == Op.LoopMerge:
            kind, target = "loop", labels.get(words[1], -1)
        else:
            kind, target = ("switch" if self.view.opcode[block.last] == Op.Switch else "selection"), -1
        own = self.flow.function_of
        if any(b >= 0 and own[self.flow.blocks[b].first] != own[block.first] for b in (merge, target)) or merge < 0:
            return
        self.merges[number] = (kind, merge, target)

    def _structural(self, block: int) -> list[int]:
        own = self.flow.function_of
        here = own[self.flow.blocks[block].first]
        found = [b for b in self.flow.blocks[block].successors if own[self.flow.blocks[b].first] == here]
        if block in self.merges:
            _, merge, target = self.merges[block]
            found += [b for b in (target, merge) if b >= 0]
        return list(dict.fromkeys(found))

    def _tree(self) -> tuple[dict[int, int], dict[int, int], list[int]]:
        """Intervals of a walk over the dominator tree, and the blocks in its order."""
        children: dict[int, list[int]] = {}
        for block, dominator in self.dominator.items():
            children.setdefault(dominator, []).append(block)
        enter: dict[int, int] = {}
        leave: dict[int, int] = {}
        order: list[int] = []
        stack = [(self.entry, False)]
        while stack:
            block, done = stack.pop()
            if done:
                leave[block] = len(order)
                continue
            enter[block] = len(order)
            order.append(block)
            stack.append((block, True))
            stack.extend((child, False) for child in children.get(block, ()))
        return enter, leave, order

    def dominates(self, above: int, below: int) -> bool:
        """Whether one block structurally dominates another; a block dominates itself."""
        return above in self.enter and below in self.enter and \
            self.enter[above] <= self.enter[below] < self.leave[above]

    def _nest(self, order: list[int]) -> None:
        merged: dict[int, int] = {}
        continued: dict[int, int] = {}
        for header, (_, merge, target) in self.merges.items():
            merged.setdefault(merge, header)
            continued.setdefault(target, header)
        for block in order:
            around = self._around(block, merged, continued)
            if around is not None and around.depth > DEEPEST:
                self.too_deep = block
                return
            self.innermost[block] = around
            if block in self.merges:
                kind, merge, target = self.merges[block]
                depth = around.depth + 1 if around is not None else 1
                self.own[block] = self.innermost[block] = Construct(kind, block, merge, target, around, depth)

    def _around(self, block: int, merged: dict[int, int], continued: dict[int, int]) -> Construct | None:
        """The innermost construct around a block, its own apart."""
        header = merged.get(block)
        if header is not None and header in self.own and self.dominates(header, block):
            return self.own[header].parent
        header = continued.get(block)
        if header is not None and header in self.own and header != block and self.dominates(header, block):
            loop = self.own[header]
            return Construct("continue", header, loop.merge, block, loop.parent, loop.depth)
        dominator = self.dominator.get(block)
        return self.innermost.get(dominator) if dominator is not None else None

    def label(self, block: int) -> int:
        """The id of a block's label."""
        return self.flow.blocks[block].label

    def back_edges(self) -> Iterator[tuple[int, int]]:
        """The edges that lead to a block that a depth-first search has not left yet."""
        active: set[int] = set()
        seen = {self.entry}
        stack = [(self.entry, iter(self.successors[self.entry]))]
        active.add(self.entry)
        while stack:
            block, following = stack[-1]
            successor = next(following, None)
            if successor is None:
                active.discard(block)
                stack.pop()
            elif successor in active:
                yield block, successor
            elif successor not in seen:
                seen.add(successor)
                active.add(successor)
                stack.append((successor, iter(self.successors[successor])))


def _all_structures(view: ModuleView) -> list[Structure]:
    """The structure of each function of a shader module."""
    return [Structure(view, f) for f in view.flow.functions if f.blocks] if view.is_shader else []


def _of_each(view: ModuleView, check: Callable[[Structure], Findings]) -> Findings:
    for structure in view.derived(_all_structures):
        yield from check(structure)


def is_structured(view: ModuleView, function: FunctionRange) -> bool:
    """Whether a function with blocks keeps the rules below, whatever the capabilities of its module."""
    structure = Structure(view, function)
    return not any(True for check in (_selection, _dominance, _loops, _leaving, _entering) for _ in check(structure))


@rule("structured-selection", "In shader modules, what branches to several blocks is the header of a selection or "
      "loop, or leaves such a construct.", SECTION)
def structured_selection(view: ModuleView) -> Findings:
    return _of_each(view, _selection)


def _selection(structure: Structure) -> Findings:
    view = structure.view
    exits = {b for _, merge, target in structure.merges.values() for b in (merge, target)}
    for header, (kind, _, _) in structure.merges.items():
        if kind == "switch":  # a case may go on with another one
            exits.update(view.flow.blocks[header].successors)
    exits |= {header for header, (kind, _, _) in structure.merges.items() if kind == "loop"}
    for block in structure.enter:
        last = view.flow.blocks[block].last
        opcode = view.opcode[last]
        if block in structure.merges or opcode not in (Op.BranchConditional, Op.Switch):
            continue
        remaining = set(view.flow.blocks[block].successors) - exits
        if opcode == Op.Switch or len(remaining) > 1:
            yield last, "{op} needs an OpSelectionMerge before it"


@rule("structured-dominance", "In shader modules, a header dominates its merge block and its continue target.", SECTION)
def structured_dominance(view: ModuleView) -> Findings:
    return _of_each(view, _dominance)


def _dominance(structure: Structure) -> Findings:
    view = structure.view
    for header, (kind, merge, target) in structure.merges.items():
        if header not in structure.enter:
            continue
        index = view.flow.blocks[header].last - 1
        name = f"the {kind} header {{named{structure.label(header)}}}"
        if not structure.dominates(header, merge):
            yield index, f"{name} does not dominate its merge block {{id0}}"
        if kind == "loop" and target >= 0 and not structure.dominates(header, target):
            yield index, f"{name} does not dominate its continue target {{id1}}"


@rule("structured-loops", "In shader modules, the only edges back lead from a continue construct to the header of its "
      "loop, one for each loop.", SECTION)
def structured_loops(view: ModuleView) -> Findings:
    return _of_each(view, _loops)


def _loops(structure: Structure) -> Findings:
    view = structure.view
    sources: dict[int, list[int]] = {}
    for block, header in structure.back_edges():
        if structure.merges.get(header, ("",))[0] != "loop":
            yield view.flow.blocks[block].last, \
                f"{{op}} goes back to {{named{structure.label(header)}}}, which is no loop header"
        else:
            sources.setdefault(header, []).append(block)
    for header, (kind, _, target) in structure.merges.items():
        if kind != "loop" or header not in structure.enter:
            continue
        index = view.flow.blocks[header].last - 1
        found = sources.get(header, [])
        if len(found) != 1:
            yield index, f"{len(found)} blocks branch back to the loop header " \
                         f"{{named{structure.label(header)}}}: exactly one must"
        elif not structure.dominates(target, found[0]):
            yield index, "the continue target {id1} does not dominate the block " \
                         f"{{named{structure.label(found[0])}}} that branches back to the header"
        elif not _always_passes(structure, target, found[0]):
            yield index, "from the continue target {id1} control can go another way than through the block " \
                         f"{{named{structure.label(found[0])}}} that branches back to the header"


def _always_passes(structure: Structure, start: int, through: int) -> bool:
    """Whether every way from a block to the function's end passes another block."""
    seen, waiting = {start, through}, [start] if start != through else []
    while waiting:
        block = waiting.pop()
        if not structure.successors[block]:
            return False
        for successor in structure.successors[block]:
            if successor not in seen:
                seen.add(successor)
                waiting.append(successor)
    return True


@rule("structured-exits",
      "In shader modules, a construct is left by its merge block, or by the merge block or continue "
      "target of the loop around it, or the merge block of the switch around it.", SECTION)
def structured_exits(view: ModuleView) -> Findings:
    return _of_each(view, _leaving)


def _leaving(structure: Structure) -> Findings:
    view = structure.view
    if structure.too_deep is not None:
        yield view.flow.blocks[structure.too_deep].first, f"constructs are nested more than {DEEPEST} deep here"
        return
    for block, innermost in structure.innermost.items():
        for successor in view.flow.blocks[block].successors:
            construct = _left_wrongly(structure, innermost, successor)
            if construct is not None:
                yield view.flow.blocks[block].last, \
                    f"{{op}} leaves the {construct.kind} construct of header " \
                    f"{{named{structure.label(construct.header)}}} for {{named{structure.label(successor)}}}, " \
                    "which is no exit of it"


@rule("structured-entries", "In shader modules, a construct is entered by its header, a continue construct by the "
      "continue target.", SECTION)
def structured_entries(view: ModuleView) -> Findings:
    return _of_each(view, _entering)


def _entering(structure: Structure) -> Findings:
    view = structure.view
    if structure.too_deep is not None:
        return
    for block in structure.innermost:
        for successor in view.flow.blocks[block].successors:
            construct = _entered_wrongly(structure, block, successor)
            if construct is not None:
                yield view.flow.blocks[block].last, \
                    f"{{op}} enters the {construct.kind} construct of header " \
                    f"{{named{structure.label(construct.header)}}} at {{named{structure.label(successor)}}}, " \
                    "which is not where it begins"


@rule("structured-convergence", "In shader modules whose entry points reconverge maximally, several blocks lead only "
      "to heads of loops, merge blocks, continue targets and cases of switches.", "SPV_KHR_maximal_reconvergence")
def structured_convergence(view: ModuleView) -> Findings:
    asking = {item.words[0] for _, item in view.of_opcode(Op.ExecutionMode)
              if item.words[1] == ExecutionMode.MaximallyReconvergesKHR}
    if asking and all(entry.function in asking for entry in view.entry_points):
        yield from _of_each(view, _converging)


def _converging(structure: Structure) -> Findings:
    blocks = structure.flow.blocks
    meeting = set[int]()
    for header, (kind, merge, target) in structure.merges.items():
        meeting |= {merge, target} | ({header} if kind == "loop" else set())
        if kind == "switch":
            meeting.update(blocks[header].successors)
    for block in structure.enter:
        if block not in meeting and len(set(blocks[block].predecessors)) > 1:
            name = f"{{named{structure.label(block)}}}"
            yield blocks[block].first, f"several blocks lead to {name}, where nothing converges"


def _entered_wrongly(structure: Structure, block: int, to: int) -> Construct | None:
    """The construct that a branch enters where it may not."""
    construct = structure.innermost.get(to)
    while construct is not None and not _lies_in(structure, block, construct):
        if to != (construct.target if construct.kind == "continue" else construct.header):
            return construct
        construct = construct.parent
    return None


def _left_wrongly(structure: Structure, construct: Construct | None, to: int) -> Construct | None:
    """The construct that a branch leaves where it may not."""
    while construct is not None and not _lies_in(structure, to, construct):
        if to not in _exits(construct):
            return construct
        construct = construct.parent
    return None


def _lies_in(structure: Structure, block: int, construct: Construct) -> bool:
    around = structure.innermost.get(block)
    while around is not None and around.depth >= construct.depth:
        if around.header == construct.header and around.kind == construct.kind:
            return True
        around = around.parent
    return False


def _exits(construct: Construct) -> set[int]:
    """The blocks to which a branch may leave a construct."""
    if construct.kind == "loop":
        return {construct.merge, construct.target}
    if construct.kind == "continue":
        return {construct.merge, construct.header}
    found = {construct.merge}
    in_switch = False
    around = construct.parent
    while around is not None:
        if around.kind == "switch" and not in_switch:
            found.add(around.merge)
            in_switch = True
        elif around.kind in ("loop", "continue"):
            found |= {around.merge, around.target} if around.kind == "loop" else {around.merge, around.header}
            break
        around = around.parent
    return found
