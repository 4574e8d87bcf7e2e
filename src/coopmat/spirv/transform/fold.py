"""Constants are folded, branches on them resolved, what is computed twice or never used is removed.

Specialisation constants are no constants: a module keeps them. Memory is not looked at: what loads and stores do to
each other, :mod:`coopmat.spirv.transform.values` knows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from coopmat.spirv.analysis.control_flow import switch_cases
from coopmat.spirv.analysis.types import BoolType, FloatType, IntType, Type, TypeTable, VectorType
from coopmat.spirv.edit.functions import (
    MERGES,
    Body,
    FunctionEditor,
    Graph,
    change_phis,
    current_line,
    remove_unreachable,
    rename_parent,
    replace_uses,
    with_words,
    without_parents,
)
from coopmat.spirv.edit.ordering import LINES
from coopmat.spirv.grammar import CHAINS, CONVERSIONS, MemoryAccess, Op, StorageClass
from coopmat.spirv.module import Module
from coopmat.spirv.module.content import Block
from coopmat.spirv.module.instruction import Instruction, make
from coopmat.spirv.module.operands import encode_number
from coopmat.spirv.transform.constant_values import COMPUTED, Bits, evaluate, width_of
from coopmat.spirv.transform.goal import Goal, Say

MOST_ROUNDS = 20
"""What is folded lets more be folded; nearly always two rounds find it all."""

_ARITHMETIC = frozenset(op for first, last in ((Op.SNegate, Op.SMulExtended), (Op.Any, Op.FUnordGreaterThanEqual),
                                               (Op.ShiftRightLogical, Op.BitCount)) for op in Op if first <= op <= last)
_COMPOSITES = frozenset({Op.CompositeConstruct, Op.CompositeExtract, Op.CompositeInsert, Op.VectorShuffle,
                         Op.VectorExtractDynamic, Op.VectorInsertDynamic, Op.CopyObject})
_DOT_PRODUCTS = frozenset({Op.SDot, Op.UDot, Op.SUDot, Op.SDotAccSat, Op.UDotAccSat, Op.SUDotAccSat})
_MATRICES = frozenset({Op.CooperativeMatrixMulAddKHR, Op.CooperativeMatrixLengthKHR, Op.MatrixTimesScalar,
                       Op.CooperativeMatrixConvertUseEXT, Op.CooperativeMatrixGetElementCoordINTEL})
_POINTERS = frozenset({*CHAINS, Op.PtrCastToGeneric, Op.GenericCastToPtr, Op.ConvertPtrToU, Op.ConvertUToPtr,
                       Op.PtrEqual, Op.PtrNotEqual, Op.PtrDiff})
PURE = _ARITHMETIC | _COMPOSITES | CONVERSIONS | _DOT_PRODUCTS | _MATRICES | _POINTERS | {
    Op.Bitcast, Op.SatConvertSToU, Op.SatConvertUToS, Op.RoundFToTF32INTEL, Op.ConvertFToBF16INTEL,
    Op.ConvertBF16ToFINTEL, Op.Undef}
"""Instructions whose result depends on nothing but their operands, and that do nothing else."""
_UNUSED_TOO = PURE | {Op.Phi, Op.Variable, Op.Load, Op.CooperativeMatrixLoadKHR, Op.CooperativeMatrixLoadCheckedINTEL}
_LOADS = {Op.Load: 1, Op.CooperativeMatrixLoadKHR: 3, Op.CooperativeMatrixLoadCheckedINTEL: 7}
"""Load → the place of its memory operands."""
_WITH_RESULT = 2  # words of a phi for each parent

_ZERO_RIGHT = frozenset({Op.IAdd, Op.ISub, Op.BitwiseOr, Op.BitwiseXor, Op.ShiftLeftLogical, Op.ShiftRightLogical,
                         Op.ShiftRightArithmetic})
_ZERO_LEFT = frozenset({Op.IAdd, Op.BitwiseOr, Op.BitwiseXor})
_ONE_RIGHT = frozenset({Op.IMul, Op.UDiv, Op.SDiv})
_ONE_LEFT = frozenset({Op.IMul})


def fold(module: Module, goal: Goal, say: Say) -> Module:
    """The module with less in it."""
    editor = FunctionEditor(module)
    found: Counter[str] = Counter()
    for body in editor.bodies:
        if body.blocks:
            _Folding(editor, body, found).done()
    for what, count in found.items():
        if count:
            say(f"{what}: {count}")
    return editor.done() if found.total() else module


class _Folding:
    """One function."""

    def __init__(self, editor: FunctionEditor, body: Body, found: Counter[str]) -> None:
        self.editor = editor
        self.body = body
        self.found = found
        self.types = TypeTable(editor.module, 1)
        self.decorated = {identifier: tuple(sorted(row.words[1:] for row in rows if row.opcode != Op.Name))
                          for identifier, rows in editor.annotations().items()}
        for row in editor.head:
            if row.opcode == Op.GroupDecorate:
                self.decorated |= {target: (*self.decorated.get(target, ()), row.words[:1]) for target in row.words[1:]}

    def done(self) -> None:
        for _ in range(MOST_ROUNDS):
            before = self.found.total()
            self.found["blocks removed that nobody reaches"] += remove_unreachable(self.body)
            _Simplifying(self).done()
            self._remove_unused()
            self._resolve_branches()
            self._join_blocks()
            if self.found.total() == before:
                return

    # --- what is not used ---------------------------------------------------------------

    def _remove_unused(self) -> None:
        """Take out instructions without an effect whose result nobody uses, directly or in a circle."""
        definitions = {row.result_id: row for row in self.body.rows() if row.result_id is not None}
        waiting = [row for row in self.body.rows() if not self._may_go(row) and row.opcode not in LINES]
        needed: set[int] = set()
        while waiting:
            for identifier in waiting.pop().ids():
                if identifier in definitions and identifier not in needed:
                    needed.add(identifier)
                    waiting.append(definitions[identifier])
        for block in self.body.blocks:
            kept = [row for row in block.instructions
                    if row.result_id is None or row.result_id in needed or not self._may_go(row)]
            self.found["unused instructions removed"] += len(block.instructions) - len(kept)
            block.instructions = kept

    def _may_go(self, row: Instruction) -> bool:
        if row.opcode in _LOADS:
            access = row.words[_LOADS[Op(row.opcode)]:]
            return not (access and access[0] & MemoryAccess.Volatile)
        return row.opcode in _UNUSED_TOO or (row.opcode == Op.ExtInst and self.is_pure_function(row))

    def is_pure_function(self, row: Instruction) -> bool:
        """Whether an extended instruction computes numbers from numbers."""
        return (self.editor.module.instruction_sets.get(row.words[0]) == "OpenCL.std" and len(row.words) > _WITH_RESULT
                and row.words[1] != _PRINTF and not any(self._is_pointer(word) for word in row.words[2:]))

    def _is_pointer(self, identifier: int) -> bool:
        kind = self.editor.type_of(identifier)
        return self.editor.component(kind).opcode == Op.TypePointer

    # --- branches -----------------------------------------------------------------------

    def _resolve_branches(self) -> None:
        for block in self.body.blocks:
            target = self._only_target(block.terminator)
            if target is not None and self._goes_to(block, target):
                self.found["branches resolved"] += 1
        graph = Graph.of(self.body)
        entered = set(graph.order)
        for index, block in enumerate(self.body.blocks):
            if index in entered and any(row.opcode == Op.LoopMerge for row in block.instructions[-2:-1]):
                inside = any(_is_dominated(graph, source, index) for source in graph.predecessors[index])
                if not inside:
                    del block.instructions[-2]
                    self.found["loops of one round opened"] += 1

    def _only_target(self, end: Instruction) -> int | None:
        if end.opcode == Op.BranchConditional:
            chosen, other = end.words[1:3]
            known = self.bits(end.words[0])
            return chosen if chosen == other or (known and known[0]) else other if known else None
        if end.opcode == Op.Switch:
            known = self.bits(end.words[0])
            if known is None:
                return None
            kind = self.types[self.editor.type_of(end.words[0]).result_id or 0]
            default, cases = switch_cases(end, kind.size)
            return cases.get(known[0], default)
        return None

    def _goes_to(self, block: Block, target: int) -> bool:
        """Let a block branch to one of its targets only; not where that would leave a loop without the way to its merge
        block, by which all know what belongs to the loop."""
        old = list(block.instructions)
        lost = {label for label in _labels(block.terminator) if label != target}
        merges = self._reached_merges()
        block.instructions[-1] = Instruction(Op.Branch, None, None, (target,), block.terminator.offset)
        if len(old) > 1 and old[-2].opcode == Op.SelectionMerge:
            del block.instructions[-2]
        if not self._reached_merges() >= {label for label in merges if self._is_loop_still(label)}:
            block.instructions = old
            return False
        for other in self.body.blocks:
            if other.label in lost:
                change_phis(other, lambda row: without_parents(row, {block.label}))
        return True

    def _reached_merges(self) -> set[int]:
        """The merge blocks of loops that can be reached."""
        graph = Graph.of(self.body)
        entered = {self.body.blocks[index].label for index in graph.order}
        return {row.words[0] for block in self.body.blocks if block.label in entered
                for row in block.instructions[-2:-1] if row.opcode == Op.LoopMerge and row.words[0] in entered}

    def _is_loop_still(self, merge: int) -> bool:
        """Whether the head of the loop with a merge block can be reached, and comes back to itself."""
        graph = Graph.of(self.body)
        head = next(index for index, block in enumerate(self.body.blocks) for row in block.instructions[-2:-1]
                    if row.opcode == Op.LoopMerge and row.words[0] == merge)
        return head in graph.order and any(_is_dominated(graph, source, head) for source in graph.predecessors[head])

    def _join_blocks(self) -> None:
        """Let a block that only one other leads to be the end of that one."""
        named = {word for row in self.body.rows() if row.opcode in MERGES
                 for word in row.words[:2 if row.opcode == Op.LoopMerge else 1]}
        sources = Counter(label for block in self.body.blocks for label in dict.fromkeys(_labels(block.terminator)))
        by_label = {block.label: block for block in self.body.blocks}
        same: dict[int, int] = {}
        gone: set[int] = set()
        for block in self.body.blocks:
            while block.label not in gone and block.terminator.opcode == Op.Branch:
                label = block.terminator.words[0]
                has_merge = len(block.instructions) > 1 and block.instructions[-2].opcode in MERGES
                if has_merge or sources[label] != 1 or label in named or label in gone or label == block.label:
                    break
                following = by_label[label]
                same |= {row.result_id or 0: row.words[0] for row in following.instructions if row.opcode == Op.Phi}
                rest = [row for row in following.instructions if row.opcode != Op.Phi]
                line = [make(Op.NoLine)] if current_line(block.instructions) is not None else []
                block.instructions[-1:] = [*line, *rest]
                rename_parent(self.body, block, label)
                gone.add(label)
                self.found["blocks joined to the one before"] += 1
        self.body.blocks = [block for block in self.body.blocks if block.label not in gone]
        replace_uses(self.body, same)

    # --- constants ----------------------------------------------------------------------

    def kind(self, type_id: int) -> Type | None:
        """The type with an id, if it is a number or a vector of numbers."""
        if self.editor.definition(type_id).opcode not in (Op.TypeBool, Op.TypeInt, Op.TypeFloat, Op.TypeVector):
            return None
        known = self.types[type_id]
        return known if isinstance(known.scalar, BoolType | IntType | FloatType) else None

    def bits(self, identifier: int) -> Bits | None:
        """The value of a constant that is a number or a vector of numbers."""
        row = self.editor.definition(identifier)
        kind = self.kind(row.type_id) if row.type_id is not None else None
        if kind is None or row.opcode not in _CONSTANTS:
            return None
        if row.opcode == Op.ConstantNull:
            return (0,) * kind.count
        if row.opcode in (Op.ConstantTrue, Op.ConstantFalse):
            return (int(row.opcode == Op.ConstantTrue),)
        if row.opcode == Op.Constant:
            value = sum(word << 32 * place for place, word in enumerate(row.words))
            return (value & (1 << width_of(kind)) - 1,)
        parts = [self.bits(word) for word in row.words]
        return None if None in parts else tuple(part[0] for part in parts if part is not None)

    def constant(self, type_id: int, value: Bits) -> int:
        """A constant of a type from its bits."""
        kind, editor = self.types[type_id], self.editor
        if isinstance(kind, VectorType):
            component = editor.definition(type_id).words[0]
            return editor.unique(Op.ConstantComposite, *(self.constant(component, (one,)) for one in value),
                                 type_id=type_id)
        if isinstance(kind, BoolType):
            return editor.unique(Op.ConstantTrue if value[0] else Op.ConstantFalse, type_id=type_id)
        number, width = value[0], width_of(kind)
        row = editor.definition(type_id)
        if row.opcode == Op.TypeInt and row.words[1] and number >> width - 1:
            number -= 1 << width  # narrow signed numbers fill their word with the sign
        return editor.unique(Op.Constant, *encode_number(number, (width + 31) // 32), type_id=type_id)


_CONSTANTS = frozenset({Op.Constant, Op.ConstantNull, Op.ConstantTrue, Op.ConstantFalse, Op.ConstantComposite})
_PRINTF = 184


def _labels(end: Instruction) -> Sequence[int]:
    if end.opcode == Op.Branch:
        return end.words[:1]
    if end.opcode == Op.BranchConditional:
        return end.words[1:3]
    if end.opcode == Op.Switch:
        size = int(end.context or 1) + 1
        return (end.words[1], *end.words[1 + size::size])
    return ()


def _is_dominated(graph: Graph, block: int, above: int) -> bool:
    while block != above and block in graph.parent:
        block = graph.parent[block]
    return block == above


class _Simplifying:
    """One walk over a function, from each block to those that it dominates: what has the same value as another one is
    replaced by it."""

    def __init__(self, folding: _Folding) -> None:
        self.folding = folding
        self.editor = folding.editor
        self.body = folding.body
        self.same: dict[int, int] = {}
        self.rows: dict[int, Instruction] = {}

    def done(self) -> None:
        graph = Graph.of(self.body)
        children = graph.children()
        waiting: list[tuple[int, dict[tuple[object, ...], int]]] = [(0, {})]
        while waiting:
            index, known = waiting.pop()
            block = self.body.blocks[index]
            block.instructions = list(self._block(block, known))
            waiting += [(child, dict(known)) for child in reversed(children.get(index, ()))]
        replace_uses(self.body, self.same)

    def _block(self, block: Block, known: dict[tuple[object, ...], int]) -> Iterator[Instruction]:
        for row in block.instructions:
            if row.result_id is None or row.opcode in LINES:
                yield row
                continue
            if self.same and any(word in self.same for word in row.words):
                row = _with_same(row, self.same)
            found = self._simpler(row)
            if found is None and self._is_shared(row):
                key = (row.opcode, row.type_id, _in_order(row), row.context,
                       self.folding.decorated.get(row.result_id or 0, ()))
                found = known.get(key)
                if found is not None:
                    self.folding.found["instructions computed before"] += 1
                known.setdefault(key, row.result_id or 0)
            elif found is not None:
                self.folding.found["instructions folded"] += 1
            if found is not None:
                self.same[row.result_id or 0] = self.same.get(found, found)
                continue
            self.rows[row.result_id or 0] = row
            yield row

    def _is_shared(self, row: Instruction) -> bool:
        if row.opcode == Op.Load:
            pointer = self.editor.definition(row.words[0])
            return pointer.opcode == Op.Variable and pointer.words[0] == StorageClass.Input
        return row.opcode in PURE or (row.opcode == Op.ExtInst and self.folding.is_pure_function(row))

    # --- one instruction ----------------------------------------------------------------

    def _simpler(self, row: Instruction) -> int | None:
        """What has the value of an instruction, if that is known."""
        if row.opcode == Op.Phi:
            values = set(row.words[::2]) - {row.result_id}
            return values.pop() if len(values) == 1 else None
        if row.opcode == Op.CopyObject:
            return row.words[0]
        if row.opcode in _SIMPLER:
            found = _SIMPLER[row.opcode](self, row)
            if found is not None:
                return found
        if row.opcode in COMPUTED:
            return self._computed(row) or self._neutral(row)
        return None

    def _computed(self, row: Instruction) -> int | None:
        folding = self.folding
        kind = folding.kind(row.type_id or 0)
        if kind is None or folding.decorated.get(row.result_id or 0, ()):
            return None
        given = [folding.bits(word) for word in row.words]
        kinds = [folding.kind(self.editor.type_of(word).result_id or 0) for word in row.words]
        values = [bits for bits in given if bits is not None]
        known = [one.scalar for one in kinds if one is not None]
        if len(values) < len(row.words) or len(known) < len(row.words):
            return None
        if row.opcode == Op.Select and len(values[0]) < kind.count:
            values[0] *= kind.count
        results = [evaluate(row.opcode, kind.scalar, known, [bits[place] for bits in values])
                   for place in range(kind.count)]
        found = tuple(one for one in results if one is not None)
        return folding.constant(row.type_id or 0, found) if len(found) == kind.count else None

    def _neutral(self, row: Instruction) -> int | None:
        """The other operand of one that changes nothing."""
        if len(row.words) != 2:
            return None
        for place, zeros, ones in ((1, _ZERO_RIGHT, _ONE_RIGHT), (0, _ZERO_LEFT, _ONE_LEFT)):
            other = row.words[1 - place]
            if row.opcode not in zeros | ones or self.editor.type_of(other).result_id != row.type_id:
                continue
            bits = self.folding.bits(row.words[place])
            if bits is not None and all(one == (row.opcode in ones) for one in bits):
                return other
        return None

    def _select(self, row: Instruction) -> int | None:
        condition, chosen, other = row.words
        bits = self.folding.bits(condition)
        if chosen == other:
            return chosen
        if bits is None or len(set(bits)) != 1:
            return None
        return chosen if bits[0] else other

    def _extract(self, row: Instruction) -> int | None:
        """A part of a composite that is known."""
        value, *path = row.words
        while path:
            made = self.rows.get(value)
            if made is None:
                return self._constant_part(row, value, path)
            if made.opcode == Op.CompositeInsert:
                part, whole, *there = made.words
                if there == path[:len(there)]:
                    value, path = part, path[len(there):]
                elif path == there[:len(path)]:
                    return None
                else:
                    value = whole
            elif made.opcode == Op.CompositeConstruct and self._has_members(made):
                value, path = made.words[path[0]], path[1:]
            elif made.opcode == Op.CompositeConstruct and self._is_matrix(made):
                return made.words[0]
            else:
                return None
            value = self.same.get(value, value)
        return value

    def _constant_part(self, row: Instruction, value: int, path: Sequence[int]) -> int | None:
        made = self.editor.definition(value)
        for index in path:
            if made.opcode == Op.ConstantNull:
                return self.editor.unique(Op.ConstantNull, type_id=row.type_id) if self._is_number(row) else None
            if made.opcode == Op.Undef:
                return self.editor.undefined(row.type_id or 0)
            if made.opcode != Op.ConstantComposite:
                return None
            made = self.editor.definition(made.words[0 if self._is_matrix(made) else index])
        return made.result_id

    def _is_number(self, row: Instruction) -> bool:
        return self.folding.kind(row.type_id or 0) is not None

    def _has_members(self, made: Instruction) -> bool:
        """Whether each operand of an OpCompositeConstruct is one member of the result."""
        kind = self.editor.definition(made.type_id or 0)
        if kind.opcode == Op.TypeVector:
            return len(made.words) == kind.words[1]
        return kind.opcode in (Op.TypeStruct, Op.TypeArray)

    def _is_matrix(self, made: Instruction) -> bool:
        return self.editor.definition(made.type_id or 0).opcode == Op.TypeCooperativeMatrixKHR

    def _chain(self, row: Instruction) -> int | None:
        """A pointer moved by nothing."""
        base, *indices = row.words
        if self.editor.type_of(base).result_id == row.type_id and all(self.editor.integer(word) == 0
                                                                       for word in indices[:1]) and len(indices) == 1:
            return base
        return None

    def _unchanged(self, row: Instruction) -> int | None:
        """A value converted to its own type."""
        if self.folding.decorated.get(row.result_id or 0, ()):
            return None
        return row.words[0] if self.editor.type_of(row.words[0]).result_id == row.type_id else None


_SIMPLER: dict[int, Callable[[_Simplifying, Instruction], int | None]] = {
    Op.Select: _Simplifying._select,
    Op.CompositeExtract: _Simplifying._extract,
    Op.PtrAccessChain: _Simplifying._chain,
    Op.InBoundsPtrAccessChain: _Simplifying._chain,
    Op.Bitcast: _Simplifying._unchanged,
    Op.UConvert: _Simplifying._unchanged,
    Op.SConvert: _Simplifying._unchanged,
    Op.FConvert: _Simplifying._unchanged,
}
_COMMUTATIVE = frozenset({Op.IAdd, Op.IMul, Op.BitwiseAnd, Op.BitwiseOr, Op.BitwiseXor, Op.LogicalAnd, Op.LogicalOr,
                          Op.LogicalEqual, Op.LogicalNotEqual, Op.IEqual, Op.INotEqual})


def _in_order(row: Instruction) -> tuple[int, ...]:
    return tuple(sorted(row.words)) if row.opcode in _COMMUTATIVE else row.words


def _with_same(row: Instruction, same: dict[int, int]) -> Instruction:
    words = list(row.words)
    for place in row.id_places():
        words[place] = same.get(words[place], words[place])
    return with_words(row, words)
