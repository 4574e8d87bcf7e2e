"""Loops over the components of matrices become functions of their elements (OpCooperativeMatrixPerElementOpEXT).

``for (int i = 0; i < coop_mat_length(m); i++) m[i] = f(m[i]);`` says the same as a function of each element, but for
what it does not: that matrices of any size have it. Where a round of such a loop reads and writes nothing but component
i of matrices of one type, and memory that it only reads, it is such a function, whatever the order of components.
Matrices of another type may take part where their elements are converted (:mod:`.element_types`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from coopmat.spirv.edit.functions import Body, FunctionEditor, Graph, first_place, replace_uses, targets, with_words
from coopmat.spirv.edit.ordering import LINES
from coopmat.spirv.grammar import (
    CHAINS,
    CONVERSIONS,
    BuiltIn,
    Decoration,
    FunctionControl,
    MemoryAccess,
    Op,
    StorageClass,
)
from coopmat.spirv.module import Module
from coopmat.spirv.module.content import Block
from coopmat.spirv.module.instruction import Instruction, make
from coopmat.spirv.transform.element_types import Conversion, ElementTypes, Place
from coopmat.spirv.transform.enlarge.conditions import Counter
from coopmat.spirv.transform.enlarge.indices import Indices
from coopmat.spirv.transform.facts import PURE, Facts
from coopmat.spirv.transform.goal import Goal, Say, counted

_ALLOWED = PURE | {Op.Phi, Op.Branch, Op.BranchConditional, Op.Switch, Op.SelectionMerge, Op.LoopMerge, *LINES}
_READ = frozenset({StorageClass.CrossWorkgroup, StorageClass.UniformConstant})
_OF_SUB_GROUPS = frozenset({
    BuiltIn.WorkgroupId, BuiltIn.NumWorkgroups, BuiltIn.WorkgroupSize, BuiltIn.EnqueuedWorkgroupSize,
    BuiltIn.GlobalSize, BuiltIn.GlobalOffset, BuiltIn.WorkDim, BuiltIn.SubgroupId, BuiltIn.NumSubgroups,
    BuiltIn.SubgroupSize})
"""Built-ins that are the same for all work-items of a sub-group."""
_OF_BUILT_INS = CONVERSIONS | {Op.CompositeExtract}
"""What is done to a built-in before anything is computed of it."""


def element_functions(module: Module, goal: Goal, say: Say) -> Module:
    """The module with functions of elements instead of loops over components."""
    editor = FunctionEditor(module)
    count = 0
    for body in list(editor.bodies):
        while _replace_one(editor, body, goal):
            count += 1
    if count:
        say(f"{counted(count, 'loop')} over components became functions of elements")
    return editor.done() if count else module


def _replace_one(editor: FunctionEditor, body: Body, goal: Goal) -> bool:
    """Replace a loop of a function; False if there is none."""
    if not any(row.opcode in (Op.CooperativeMatrixLengthKHR, Op.AccessChain) for row in body.rows()):
        return False
    load_built_ins_first(editor, body)
    for loop in _loops(editor, body, goal):
        if not loop.refusal():
            loop.replace()
            return True
    return False


def _loops(editor: FunctionEditor, body: Body, goal: Goal) -> Iterator[_Loop]:
    """The loops of a function that count."""
    facts, indices = Facts(editor), Indices(editor, body, None)
    for counter in indices.counters.values():
        sizes = () if goal.device is None else goal.device.sub_group_sizes
        types = ElementTypes(editor, facts, goal.device, (goal.sub_group_size,) if goal.sub_group_size else sizes)
        yield _Loop(editor, facts, body, counter, indices.loops.blocks(counter.header), types)


def refusal_of(editor: FunctionEditor, body: Body, access: Instruction, goal: Goal) -> str:
    """Why the innermost loop that reaches a component by an instruction is no function of elements; nothing if no loop
    does that."""
    loops = [loop for loop in _loops(editor, body, goal) if access in loop.rows()]
    return min(loops, key=lambda loop: len(loop.blocks)).refusal() if loops else ""


def load_built_ins_first(editor: FunctionEditor, body: Body) -> None:
    """Load built-ins where a function begins, so that rounds of a loop, such as those that ask for the work-group's
    number, take them from outside."""
    moved: list[Instruction] = []
    numbers: set[int] = set()
    for block in body.blocks[1:]:
        found = []
        for row in block.instructions:
            if (row.opcode == Op.Load and _is_of_sub_groups(editor, row.words[0])) or (
                    row.opcode in _OF_BUILT_INS and row.words[0] in numbers):
                numbers.add(row.result_id or 0)
                found.append(row)
        block.instructions = [row for row in block.instructions if row.result_id not in numbers]
        moved += found
    entry = body.blocks[0]
    place = first_place(entry)
    entry.instructions[place:place] = moved


def _is_of_sub_groups(editor: FunctionEditor, pointer: int) -> bool:
    """Whether a pointer leads to a built-in that is the same for all work-items of a sub-group."""
    return any(decoration == Decoration.BuiltIn and words[0] in _OF_SUB_GROUPS
               for decoration, words in editor.module.decorations(pointer))


def _said_of(row: Instruction) -> str:
    """What an instruction does that a function of elements does not, in messages."""
    if row.opcode in CHAINS:
        return "takes those of matrices of several shapes, or not only those of its own number"
    return {Op.Load: "asks which work-item runs it, or reads local or private memory",
            Op.Store: "stores to memory"}.get(Op(row.opcode), f"does more than to compute and to read ({row.name})")


@dataclass
class _Loop:
    """A loop of a function. chains: the pointers to components, each with the matrix's place; matrices: those to whole
    matrices; coordinates: the components' positions; types: of matrices and elements; indices: what counts the
    rounds, and the same in other widths."""

    editor: FunctionEditor
    facts: Facts
    body: Body
    counter: Counter
    blocks: list[Block]
    types: ElementTypes
    chains: dict[int, Place] = field(default_factory=dict)
    matrices: dict[int, Place] = field(default_factory=dict)
    coordinates: set[int] = field(default_factory=set)
    indices: set[int] = field(default_factory=set)

    @property
    def header(self) -> Block:
        """Where it begins, and is left."""
        return next(block for block in self.blocks if block.label == self.counter.header)

    @property
    def rounds(self) -> list[Block]:
        """What one round runs."""
        return [block for block in self.blocks if block.label != self.counter.header]

    def rows(self) -> Iterator[Instruction]:
        """The instructions of a round."""
        for block in self.rounds:
            yield from block.instructions

    # --- whether it is one ------------------------------------------------------------------

    def refusal(self) -> str:
        """Why a round is no function of the elements that one component of matrices is; nothing if it is one."""
        if not self._counts_components():
            return "that does not count all of them, one by one from the first one"
        if not self._stays_inside():
            return "that is left early, or computes what is used behind it"
        other = next((row for row in self.rows() if not self._is_allowed(row)), None)
        if other is not None:
            return f"that {_said_of(other)}"
        if not self.stored:
            return "that changes none of them"
        if not self._uses_index_alone():
            return "that uses their numbers, or whole matrices, otherwise"
        if not self.types.settle(list(self.rows()), self.chains, self.read()):
            return "in which they are of several types, and are not converted as soon as read, or just before stored"
        return ""

    def _counts_components(self) -> bool:
        phis = [row for row in self.header.instructions if row.opcode == Op.Phi]
        if len(phis) != 1 or self.counter.start.known != 0 or self.counter.step != 1:
            return False
        self.indices = {phis[0].result_id or 0}
        return self._counts_all() and all(
            row.opcode in PURE or row.opcode in (Op.Phi, Op.LoopMerge, Op.BranchConditional, *LINES)
            for row in self.header.instructions)

    def _counts_all(self) -> bool:
        """Whether it counts to the number of a matrix's components: what the matrix says, or a constant that is that
        number. Notes the matrix's type."""
        limit = self.counter.limit
        if limit.known is None:
            (monomial, factor), *more = limit.terms
            if more or factor != 1 or len(monomial) != 1 or monomial[0].kind != "value":
                return False
            length = self.editor.definition(monomial[0].number)
            self.types.counted = length.words[0]
            return length.opcode == Op.CooperativeMatrixLengthKHR
        kind = next(filter(None, map(self._kind_of_component, self.rows())), None)
        self.types.counted = kind or 0
        return kind is not None and self.types.has_components(limit.known)

    def _kind_of_component(self, row: Instruction) -> int | None:
        """The type of a matrix of which an instruction takes the component that the index tells."""
        if row.opcode not in CHAINS or row.words[-1] not in self.indices:
            return None
        kind = self.editor.definition(self.editor.type_of(row.words[0]).words[1])
        while kind.opcode == Op.TypeArray:
            kind = self.editor.definition(kind.words[0])
        return kind.result_id if kind.opcode == Op.TypeCooperativeMatrixKHR else None

    def _stays_inside(self) -> bool:
        """Whether it is left at its header only, and nothing of it is used behind it."""
        inside = {block.label for block in self.blocks}
        made = {row.result_id for block in self.blocks for row in block.instructions if row.result_id is not None}
        return all(inside.issuperset(targets(block)) for block in self.rounds) and not any(
            made.intersection(row.ids()) for block in self.body.blocks if block.label not in inside
            for row in block.instructions if row.opcode not in LINES)

    def _is_allowed(self, row: Instruction) -> bool:
        """Whether an instruction of a round computes, reads memory, or concerns the component; notes what does."""
        if row.opcode in CHAINS and self._storage(row.result_id or 0) == StorageClass.Function:
            return self._is_component(row)
        if row.opcode == Op.Load:
            is_known = row.words[0] in self.chains or self._storage(row.words[0]) in _READ or (
                self.types.is_alike(row.type_id))
            return is_known and not (row.words[1:] and row.words[1] & MemoryAccess.Volatile)
        if row.opcode == Op.Store:
            return row.words[0] in self.chains
        if row.opcode == Op.CooperativeMatrixGetElementCoordINTEL:
            self.coordinates.add(row.result_id or 0)
            return row.words[1] in self.indices and self.types.is_alike(self.editor.definition(row.words[0]).type_id)
        if row.opcode in (Op.UConvert, Op.SConvert) and row.words[0] in self.indices:
            self.indices.add(row.result_id or 0)
        return row.opcode in _ALLOWED or (row.opcode == Op.ExtInst and self.facts.is_pure_function(row))

    def _is_component(self, row: Instruction) -> bool:
        """Whether a pointer leads to a whole matrix, or to the component of one; notes it."""
        base, *indices = row.words
        place = (*self.matrices.get(base, (base,)), *indices)
        if self.types.is_alike(self._reached(place)):
            self.matrices[row.result_id or 0] = place
            return self.indices.isdisjoint(place)
        kind = self._reached(place[:-1])
        if kind is None:
            return False
        self.chains[row.result_id or 0] = place[:-1]
        self.types.kinds[place[:-1]] = kind
        return place[-1] in self.indices and self.types.is_alike(kind)

    def _reached(self, place: Place) -> int | None:
        """The type of what is at a place; None if that is no member of arrays, or the place is not always the same."""
        inside = {row.result_id for block in self.blocks for row in block.instructions}
        kind = self.editor.definition(self.editor.type_of(place[0]).words[1])
        for _ in place[1:]:
            if kind.opcode != Op.TypeArray:
                return None
            kind = self.editor.definition(kind.words[0])
        return None if inside.intersection(place) else kind.result_id

    def _storage(self, pointer: int) -> int:
        return self.editor.type_of(pointer).words[0]

    def _uses_index_alone(self) -> bool:
        """Whether the index, and whole matrices, are used for nothing else, and what is given to it is no matrix and
        no pointer to private memory."""
        counting = self._counting()
        for block in self.blocks:
            for row in block.instructions:
                is_own = any(row.result_id in found for found in (
                    counting, self.indices, self.chains, self.matrices, self.coordinates))
                uses = self.indices | counting if row.opcode not in (Op.Phi, Op.BranchConditional) else ()
                if not is_own and (any(word in uses or self._is_matrix(word) for word in row.ids())):
                    return False
        kinds = [self.editor.type_of(one) for one in self.given()]
        return not any(kind.opcode == Op.TypePointer and kind.words[0] not in _READ for kind in kinds)

    def _counting(self) -> set[int]:
        """What only counts the rounds: the next index, and its comparison."""
        phi = next(row for row in self.header.instructions if row.opcode == Op.Phi)
        return {self.counter.condition, *(word for word in phi.words[::2] if self.editor.integer(word) is None)}

    def _is_matrix(self, identifier: int) -> bool:
        type_id = self.editor.definition(identifier).type_id
        return type_id is not None and self.editor.definition(type_id).opcode == Op.TypeCooperativeMatrixKHR

    # --- what it has to do with the rest ----------------------------------------------------

    @property
    def stored(self) -> list[Place]:
        """The matrices that it changes."""
        return list(dict.fromkeys(self.chains[row.words[0]] for row in self.rows() if row.opcode == Op.Store))

    def read(self) -> list[Place]:
        """The matrices whose components count: all but those that are written in every round, and not read."""
        loads = [row.words[0] for row in self.rows() if row.opcode == Op.Load]
        loaded = {self.chains[one] for one in loads if one in self.chains}
        return [one for one in dict.fromkeys(self.chains.values()) if one in loaded or not self._always_stores(one)]

    def _always_stores(self, matrix: Place) -> bool:
        """Whether each round writes a matrix's component."""
        graph = Graph.of(self.body)
        numbers = {block.label: number for number, block in enumerate(self.body.blocks)}
        header = numbers[self.counter.header]
        last = next(one for one in graph.predecessors[header] if self.body.blocks[one] in self.rounds)
        always = set()
        while last != header:
            always.add(last)
            last = graph.parent[last]
        return any(row.opcode == Op.Store and self.chains[row.words[0]] == matrix
                   for number in always for row in self.body.blocks[number].instructions)

    def given(self) -> list[int]:
        """What a round takes from outside, and is no constant."""
        own = {row.result_id for block in self.blocks for row in block.instructions} | {
            block.label for block in self.blocks}
        here = {row.result_id for row in (*self.body.parameters, *self.body.rows())}
        return list(dict.fromkeys(word for block in self.blocks for row in self._kept(block) for word in row.ids()
                                  if word in here and word not in own))

    def _kept(self, block: Block) -> list[Instruction]:
        """What of a block becomes part of the function."""
        skipped = {*self.indices, *self.chains, *self.matrices, *self.coordinates, *self._counting()}
        is_header = block.label == self.counter.header
        ends = (Op.Phi, Op.LoopMerge, Op.BranchConditional) if is_header else ()
        return [row for row in block.instructions if row.opcode not in ends and row.result_id not in skipped
                and not self.types.is_alike(row.type_id)]

    # --- writing ----------------------------------------------------------------------------

    def replace(self) -> None:
        """Put functions of elements in the loop's place."""
        read, given, header, types = self.read(), self.given(), self.header, self.types
        merge = header.instructions[-2].words[0]
        like = next(row for row in self.rows() if row.opcode == Op.Store)
        rows = [row for row in header.instructions if row.opcode in PURE and row.result_id in given]
        pointers = {one: self._pointer(like, one) for one in dict.fromkeys((*read, *self.stored))}
        loads = {one: self._row(like, Op.Load, types.kinds[one], pointers[one].result_id or 0) for one in read}
        before = [*loads.values()]
        for one in types.conversions.keys() & loads.keys():
            loads[one] = types.converted(like, one, loads[one].result_id or 0, types.type_id)
            before.append(loads[one])
        results, values = [], []
        for matrix in self.stored:
            first = matrix if matrix in read else next(iter(read), ())
            others = [one for one in read if one != first]
            function = self._function(matrix, [first, *others], given)
            matrices = [loads[one].result_id or 0 if one else self.editor.undefined(types.type_id)
                        for one in (first, *others)]
            results.append(self._row(like, Op.CooperativeMatrixPerElementOpEXT, types.type_id, matrices[0], function,
                                     *matrices[1:], *given))
            values.append(results[-1])
            if matrix in types.conversions:
                values[-1] = types.converted(like, matrix, results[-1].result_id or 0, types.kinds[matrix])
                results.append(values[-1])
        stores = [make(Op.Store, pointers[one].result_id or 0, row.result_id or 0) for one, row in
                  zip(self.stored, values, strict=True)]
        chains = [row for one, row in pointers.items() if len(one) > 1]
        line = next((row for row in self.rows() if row.opcode == Op.Line), None)
        lines = [] if line is None else [line]
        header.instructions = [*rows, *lines, *chains, *before, *results, *stores, make(Op.Branch, merge)]
        gone = {block.label for block in self.rounds}
        self.body.blocks = [block for block in self.body.blocks if block.label not in gone]

    def _pointer(self, like: Instruction, place: Place) -> Instruction:
        """The pointer to a matrix."""
        if len(place) == 1:
            return self.editor.definition(place[0])
        pointer = self.editor.type_pointer(StorageClass.Function, self.types.kinds[place])
        return self._row(like, Op.AccessChain, pointer, *place)

    def _row(self, like: Instruction, op: Op, type_id: int, *words: int) -> Instruction:
        """An instruction that stands where another one does."""
        return self.editor.add(Instruction(op, type_id, self.editor.new_id(), words, like.offset, like.context))

    def _function(self, result: Place, matrices: Sequence[Place], given: Sequence[int]) -> int:
        """A function with what a round does; it returns the element of one matrix."""
        editor = self.editor
        element = self.types.element
        uint = editor.unique(Op.TypeInt, 32, 0)
        types = [uint, uint, *[element] * len(matrices), *(editor.definition(one).type_id or 0 for one in given)]
        head = [editor.row(Op.Function, element, FunctionControl(0), editor.unique(Op.TypeFunction, element, *types))]
        head += [editor.row(Op.FunctionParameter, one) for one in types]
        row, column, *rest = (one.result_id or 0 for one in head[1:])
        elements, extras = rest[:len(matrices)], rest[len(matrices):]
        pointer = editor.type_pointer(StorageClass.Function, element)
        held = {one: editor.row(Op.Variable, pointer, StorageClass.Function)
                for one in dict.fromkeys(self.chains.values())}
        entry = Block(editor.new_id(), list(held.values()))
        entry.instructions += [make(Op.Store, held[one].result_id or 0, value)
                               for one, value in zip(matrices, elements, strict=True) if one]
        names = dict(zip(given, extras, strict=True))
        names |= {chain: held[place].result_id or 0 for chain, place in self.chains.items()}
        for one in self.coordinates:
            pair = editor.row(Op.CompositeConstruct, editor.definition(one).type_id or 0, row, column)
            names[one] = pair.result_id or 0
            entry.instructions.append(pair)
        blocks = self._copied(names, entry, held[result].result_id or 0, element)
        made = Body(head, blocks)
        replace_uses(made, names)
        editor.bodies.insert(editor.bodies.index(self.body), made)
        return made.id

    def _copied(self, names: dict[int, int], entry: Block, result: int, element: int) -> list[Block]:
        """The blocks of a round behind an entry, with new ids, which ``names`` gets; they end with the result."""
        editor = self.editor
        inside = {block.label for block in self.rounds}
        labels = {label: editor.new_id() for label in inside}
        names |= labels
        entry.instructions += self._renamed(self._kept(self.header), names)
        start = next(label for label in targets(self.header) if label in inside)
        entry.instructions.append(make(Op.Branch, start))
        names[self.counter.header] = entry.label
        blocks = [entry]
        for block in self.rounds:
            rows = self._renamed(self._kept(block), names)
            if self.counter.header in targets(block):
                value = editor.row(Op.Load, element, result)
                rows[-1:] = [value, make(Op.ReturnValue, value.result_id or 0)]
            blocks.append(Block(labels[block.label], rows))
        return blocks

    def _renamed(self, rows: Sequence[Instruction], names: dict[int, int]) -> list[Instruction]:
        """Copies of instructions with results of their own."""
        found = []
        for row in rows:
            if row.result_id is None:
                found += self._without_result(row)
                continue
            if row.opcode in CONVERSIONS and (read := self._read_by(row.words[0])):
                names[row.result_id] = names[read]
                continue
            names[row.result_id] = self.editor.new_id()
            conversion = self._conversion_of(row)
            if conversion is not None and conversion.back:
                load = self.editor.row(Op.Load, self.types.element, row.words[0])
                found += [load, self.editor.add(Instruction(conversion.back, row.type_id, names[row.result_id],
                                                            (load.result_id or 0,), row.offset, row.context))]
                continue
            type_id = self.types.element if self._read_by(row.result_id) else row.type_id
            found.append(self.editor.add(Instruction(row.opcode, type_id, names[row.result_id], row.words,
                                                     row.offset, row.context)))
            for words in self.facts.decorated.get(row.result_id, ()):
                self.editor.decorate(names[row.result_id], *words)
        return found

    def _read_by(self, identifier: int) -> int:
        """A value, if it is a component that is converted when it is read; otherwise 0."""
        conversion = self._conversion_of(self.editor.definition(identifier))
        return identifier if conversion is not None and not conversion.back else 0

    def _conversion_of(self, row: Instruction) -> Conversion | None:
        """How the component that an instruction loads or stores is converted, if it is one of a matrix of another
        type."""
        place = self.chains.get(row.words[0]) if row.opcode in (Op.Load, Op.Store) else None
        return None if place is None else self.types.conversions.get(place)

    def _without_result(self, row: Instruction) -> list[Instruction]:
        """A copy of an instruction without a result; of a store of what is not converted before, or is by the function,
        if the matrix is one of another type."""
        conversion = self._conversion_of(row)
        if conversion is None:
            return [with_words(row, row.words)]
        pointer, value, *_ = row.words
        if not conversion.back:
            return [make(Op.Store, pointer, self.editor.definition(value).words[0])]
        held = self.editor.add(Instruction(conversion.opcode, self.types.element, self.editor.new_id(), (value,),
                                           row.offset, row.context))
        return [held, make(Op.Store, pointer, held.result_id or 0)]
