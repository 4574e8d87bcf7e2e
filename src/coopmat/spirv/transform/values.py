"""Variables of functions become values: SSA form (Cytron and others 1991), with phis only where a variable is live.

A variable whose address nothing but loads, stores and access chains with constant indices use is split into its members
first, down to scalars, vectors, pointers and matrices (scalar replacement). What is left that is loaded and stored as a
whole, or of which single components are, is a value.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from coopmat.spirv.edit.functions import (
    Body,
    FunctionEditor,
    Graph,
    remove_unreachable,
    replace_uses,
    uses_of,
)
from coopmat.spirv.grammar import CHAINS, EXTENDED_INSTRUCTIONS, LIFETIMES, MemoryAccess, Op
from coopmat.spirv.module import Module
from coopmat.spirv.module.content import Block
from coopmat.spirv.module.instruction import Instruction, make
from coopmat.spirv.transform.goal import Goal, Say, counted

MOST_MEMBERS = 256
"""Of a variable that is split."""
_AGGREGATES = frozenset({Op.TypeStruct, Op.TypeArray})
_WITH_COMPONENTS = frozenset({Op.TypeVector, Op.TypeCooperativeMatrixKHR})
_ACCESSES = frozenset({Op.Load, Op.Store})
Path = tuple[int, ...]


def values(module: Module, goal: Goal, say: Say) -> Module:
    """The module with values instead of variables of its functions, where that is possible."""
    editor = FunctionEditor(module)
    count = 0
    left: dict[str, list[str]] = {}
    for body in editor.bodies:
        if body.blocks:
            count += _Promotion(editor, body, left).done()
    if count:
        say(f"{counted(count, 'variable')} became values")
    for reason, names in left.items():
        say(f"left in memory: {', '.join(sorted(set(names)))}: {reason}")
    return editor.done() if count else module


def promote(editor: FunctionEditor, body: Body, variables: Collection[int]) -> None:
    """Let some variables of a function be values, and no others."""
    _Promotion(editor, body, {}, variables).done()


@dataclass
class _Access:
    """A load, store or copy of a place in a variable: ``path`` leads to it."""

    row: Instruction
    path: Path


@dataclass
class _Variable:
    """A variable that can become values: the chains into it, and where each access leads."""

    row: Instruction
    type_id: int
    chains: dict[int, Path] = field(default_factory=dict)
    markers: list[Instruction] = field(default_factory=list)
    paths: set[Path] = field(default_factory=set)


class _Refused(Exception):
    """Why a variable stays in memory."""


class _Promotion:
    """One function."""

    def __init__(self, editor: FunctionEditor, body: Body, left: dict[str, list[str]],
                 chosen: Collection[int] | None = None) -> None:
        self.editor = editor
        self.body = body
        self.left = left
        self.chosen = chosen
        self.names = editor.module.names

    def done(self) -> int:
        remove_unreachable(self.body)
        self.uses = uses_of(self.body)
        found = []
        for row in self.body.blocks[0].instructions:
            if row.opcode == Op.Variable and (self.chosen is None or row.result_id in self.chosen):
                try:
                    found.append(self._examined(row))
                except _Refused as reason:
                    name = self.names.get(row.result_id or 0) or f"%{row.result_id}"
                    self.left.setdefault(str(reason), []).append(name)
        if not found:
            return 0
        leaves = self._split(found)
        _Renaming(self.editor, self.body, leaves).done()
        return len(found)

    # --- which variables ---------------------------------------------------------------

    def _examined(self, row: Instruction) -> _Variable:
        """A variable with all its uses. _Refused if one needs its address."""
        pointee = self.editor.definition(row.type_id or 0).words[1]
        variable = _Variable(row, pointee)
        if self._members(pointee) > MOST_MEMBERS:
            raise _Refused(f"it has more than {MOST_MEMBERS} members")
        self._examine(variable, row.result_id or 0, ())
        return variable

    def _members(self, type_id: int) -> int:
        kind = self.editor.definition(type_id)
        if kind.opcode == Op.TypeStruct:
            return sum(map(self._members, kind.words)) or 1
        if kind.opcode == Op.TypeArray:
            return self._length(kind) * self._members(kind.words[0])
        return 1

    def _length(self, array: Instruction) -> int:
        """The length of an array; beyond all limits where a specialisation constant decides."""
        return self.editor.integer(array.words[1]) or 1 << 32

    def _examine(self, variable: _Variable, pointer: int, path: Path) -> None:
        for user in self.uses.get(pointer, ()):
            if user.opcode in _ACCESSES or user.opcode == Op.CopyMemory:
                self._examine_access(variable, user, pointer, path)
            elif user.opcode in CHAINS and user.words[0] == pointer and pointer not in user.words[1:]:
                further = (*path, *self._indices(user))
                self._type_at(variable.type_id, further)
                variable.chains[user.result_id or 0] = further
                self._examine(variable, user.result_id or 0, further)
            elif user.opcode == Op.Bitcast and all(one.opcode in LIFETIMES
                                                   for one in self.uses.get(user.result_id or 0, ())):
                variable.markers += [user, *self.uses.get(user.result_id or 0, ())]
            elif user.opcode in LIFETIMES or self._is_debug(user):
                variable.markers.append(user)
            else:
                raise _Refused("its address is used" + (
                    " by a call" if user.opcode == Op.FunctionCall else f" by {user.name}"))

    def _examine_access(self, variable: _Variable, user: Instruction, pointer: int, path: Path) -> None:
        if user.opcode == Op.Store and user.words[1] == pointer:
            raise _Refused("its address is stored")
        flags = user.words[{Op.Load: 1, Op.Store: 2, Op.CopyMemory: 2}[Op(user.opcode)]:]
        if flags and flags[0] & (MemoryAccess.Volatile | MemoryAccess.MakePointerAvailable
                                 | MemoryAccess.MakePointerVisible):
            raise _Refused("it is volatile")
        variable.paths.add(path)

    def _is_debug(self, user: Instruction) -> bool:
        return user.opcode == Op.ExtInst and self._set_name(user) not in ("", "OpenCL.std", "GLSL.std.450")

    def _set_name(self, user: Instruction) -> str:
        name = self.editor.module.instruction_sets.get(user.words[0], "")
        return name if name in EXTENDED_INSTRUCTIONS or name.startswith("NonSemantic.") else ""

    def _indices(self, chain: Instruction) -> Iterator[int]:
        first = CHAINS[Op(chain.opcode)]
        for place, word in enumerate(chain.words[1:], 1):
            index = self.editor.integer(word)
            if place < first and index != 0:
                raise _Refused("its address is computed with")
            if index is None:
                raise _Refused("an index is not constant")
            if place >= first:
                yield index

    def _type_at(self, type_id: int, path: Path) -> int:
        """The type that a path leads to; _Refused where it leads nowhere."""
        for index in path:
            kind = self.editor.definition(type_id)
            count = {Op.TypeStruct: len(kind.words), Op.TypeVector: kind.words[-1] if kind.words else 0}.get(
                Op(kind.opcode), 1 << 32)
            count = self._length(kind) if kind.opcode == Op.TypeArray else count
            if kind.opcode not in _AGGREGATES | _WITH_COMPONENTS or index >= count:
                raise _Refused("an index lies outside of it")
            type_id = kind.words[index] if kind.opcode == Op.TypeStruct else kind.words[0]
        return type_id

    # --- splitting ---------------------------------------------------------------------

    def _split(self, variables: Sequence[_Variable]) -> list[_Leaf]:
        """Accesses become accesses of the variables' leaves; all else that names a variable goes."""
        places: dict[int, _Place] = {}
        leaves: list[_Leaf] = []
        gone: set[int] = set()
        dropped: set[int] = set()
        for variable in variables:
            parts = {path: _Leaf(self._type_at(variable.type_id, path), variable.row)
                     for path in self._leaf_paths(variable)}
            leaves += parts.values()
            pointers = {variable.row.result_id or 0: (), **variable.chains}
            places |= {pointer: _Place(variable.type_id, parts, path) for pointer, path in pointers.items()}
            dropped |= {id(row) for row in variable.markers}
            gone |= pointers.keys()
        writer = _Accesses(self, places)
        for block in self.body.blocks:
            rows: list[Instruction | _Step] = []
            for row in block.instructions:
                if id(row) in dropped or row.result_id in gone:
                    if row.opcode == Op.Variable and len(row.words) > 1:
                        rows += writer.initial(row)
                    continue
                rows += writer.replaced(row)
            block.instructions = rows  # type: ignore[assignment]
        return leaves

    def _leaf_paths(self, variable: _Variable) -> Iterator[Path]:
        """The members that become values of their own: what is accessed as a whole only stays whole."""
        def below(type_id: int, path: Path) -> Iterator[Path]:
            kind = self.editor.definition(type_id)
            is_entered = any(len(one) > len(path) and one[:len(path)] == path for one in variable.paths)
            if kind.opcode not in _AGGREGATES or not is_entered:
                yield path
                return
            members = kind.words if kind.opcode == Op.TypeStruct else (kind.words[0],) * self._length(kind)
            for index, member in enumerate(members):
                yield from below(member, (*path, index))

        return below(variable.type_id, ())


@dataclass(eq=False)
class _Leaf:
    """A variable that becomes values."""

    type_id: int
    row: Instruction


@dataclass(eq=False)
class _Step:
    """In the place of an instruction: a leaf's value is needed as ``result``, or is ``value`` from here on."""

    leaf: _Leaf
    result: int = 0
    value: int = 0


@dataclass
class _Place:
    """What a pointer points to: a path into a variable of some type, which was split into parts."""

    type_id: int
    parts: Mapping[Path, _Leaf]
    path: Path


class _Accesses:
    """Writes loads and stores of places as steps."""

    def __init__(self, promotion: _Promotion, places: Mapping[int, _Place]) -> None:
        self.editor = promotion.editor
        self.places = places
        self.type_at: Callable[[int, Path], int] = promotion._type_at

    def initial(self, row: Instruction) -> Iterator[Instruction | _Step]:
        yield from self._put(self.places[row.result_id or 0], row.words[1])

    def replaced(self, row: Instruction) -> Iterator[Instruction | _Step]:
        if row.opcode == Op.Load and row.words[0] in self.places:
            yield from self._get(self.places[row.words[0]], row.result_id or 0)
        elif row.opcode == Op.Store and row.words[0] in self.places:
            yield from self._put(self.places[row.words[0]], row.words[1])
        elif row.opcode == Op.CopyMemory and not self.places.keys().isdisjoint(row.words[:2]):
            yield from self._copy(row)
        else:
            yield row

    def _copy(self, row: Instruction) -> Iterator[Instruction | _Step]:
        target, source, *access = row.words
        place = self.places.get(target) or self.places[source]
        type_id, value = self.type_at(place.type_id, place.path), self.editor.new_id()
        size = 1 + len([1 for bit in (MemoryAccess.Aligned,) if access and access[0] & bit])
        if source in self.places:
            yield from self._get(self.places[source], value)
        else:
            second = access[size:] or access
            yield self.editor.row(Op.Load, type_id, source, *second, result=value)
        if target in self.places:
            yield from self._put(self.places[target], value)
        else:
            yield make(Op.Store, target, value, *access[:size])

    def _leaf_of(self, place: _Place) -> tuple[_Leaf, Path] | None:
        """The leaf that a place is, or is in, and the way on from there; None if it has several."""
        for end in range(len(place.path), -1, -1):
            leaf = place.parts.get(place.path[:end])
            if leaf is not None:
                return leaf, place.path[end:]
        return None

    def _get(self, place: _Place, result: int) -> Iterator[Instruction | _Step]:
        found = self._leaf_of(place)
        type_id = self.type_at(place.type_id, place.path)
        if found is None:
            members = []
            for inner in self._members(place, type_id):
                members.append(self.editor.new_id())
                yield from self._get(inner, members[-1])
            yield self.editor.row(Op.CompositeConstruct, type_id, *members, result=result)
            return
        leaf, rest = found
        if not rest:
            yield _Step(leaf, result=result)
            return
        whole = self.editor.new_id()
        yield _Step(leaf, result=whole)
        yield self.editor.row(Op.CompositeExtract, type_id, whole, *rest, result=result)

    def _put(self, place: _Place, value: int) -> Iterator[Instruction | _Step]:
        found = self._leaf_of(place)
        type_id = self.type_at(place.type_id, place.path)
        if found is None:
            for index, inner in enumerate(self._members(place, type_id)):
                part = self.editor.row(Op.CompositeExtract, self.type_at(type_id, (index,)), value, index)
                yield part
                yield from self._put(inner, part.result_id or 0)
            return
        leaf, rest = found
        if rest:
            old = self.editor.new_id()
            yield _Step(leaf, result=old)
            changed = self.editor.row(Op.CompositeInsert, leaf.type_id, value, old, *rest)
            yield changed
            value = changed.result_id or 0
        yield _Step(leaf, value=value)

    def _members(self, place: _Place, type_id: int) -> Iterator[_Place]:
        kind = self.editor.definition(type_id)
        count = len(kind.words) if kind.opcode == Op.TypeStruct else self.editor.integer(kind.words[1]) or 0
        for index in range(count):
            yield _Place(place.type_id, place.parts, (*place.path, index))


class _Renaming:
    """From steps to values."""

    def __init__(self, editor: FunctionEditor, body: Body, leaves: Sequence[_Leaf]) -> None:
        self.editor = editor
        self.body = body
        self.leaves = leaves
        self.graph = Graph.of(body)
        self.phis: list[dict[_Leaf, int]] = [{} for _ in body.blocks]
        self.operands: dict[int, list[int]] = {}
        self.same: dict[int, int] = {}

    def done(self) -> None:
        self._place_phis()
        self._rename()
        for index, block in enumerate(self.body.blocks):
            rows = [self._phi(leaf, result) for leaf, result in self.phis[index].items()]
            block.instructions[:0] = rows
        replace_uses(self.body, self.same)

    def _phi(self, leaf: _Leaf, result: int) -> Instruction:
        return self.editor.row(Op.Phi, leaf.type_id, *self.operands[result], result=result)

    def _place_phis(self) -> None:
        frontiers = self.graph.frontiers()
        stored: dict[_Leaf, set[int]] = {leaf: set() for leaf in self.leaves}
        needed: dict[_Leaf, set[int]] = {leaf: set() for leaf in self.leaves}
        for index, block in enumerate(self.body.blocks):
            for step in _steps(block):
                if step.value:
                    stored[step.leaf].add(index)
                elif index not in stored[step.leaf]:
                    needed[step.leaf].add(index)
        for leaf in self.leaves:
            live = self._live(needed[leaf], stored[leaf])
            waiting = list(stored[leaf])
            while waiting:
                for index in sorted(frontiers.get(waiting.pop(), ())):
                    if index in live and leaf not in self.phis[index]:
                        self.phis[index][leaf] = self.editor.new_id()
                        self.operands[self.phis[index][leaf]] = []
                        self._name(leaf, self.phis[index][leaf])
                        waiting.append(index)

    def _name(self, leaf: _Leaf, phi: int) -> None:
        """A phi has the name of its variable."""
        name = self.editor.module.names.get(leaf.row.result_id or 0)
        if name is not None:
            self.editor.annotate([make(Op.Name, phi, name)])

    def _live(self, needed: set[int], stored: set[int]) -> set[int]:
        """The blocks at whose start a variable's value is still needed."""
        live, waiting = set(needed), list(needed)
        while waiting:
            for before in self.graph.predecessors[waiting.pop()]:
                if before not in live and before not in stored:
                    live.add(before)
                    waiting.append(before)
        return live

    def _rename(self) -> None:
        """Walk down the tree of dominators with the value that each variable has."""
        children = self.graph.children()
        waiting: list[tuple[int, dict[_Leaf, int]]] = [(0, {})]
        while waiting:
            index, known = waiting.pop()
            known = {**known, **self.phis[index]}
            block = self.body.blocks[index]
            block.instructions = list(self._renamed(block, known))
            for target in self.graph.successors[index]:
                for leaf, phi in self.phis[target].items():
                    self.operands[phi] += [self._value(leaf, known), block.label]
            waiting += [(child, known) for child in children.get(index, ())]
        for index, block in enumerate(self.body.blocks):  # what cannot be reached: it stays for merges only
            if index and index not in self.graph.parent:
                self._from_nowhere(index, block)

    def _from_nowhere(self, index: int, block: Block) -> None:
        for target in self.graph.successors[index]:
            for phi in self.phis[target].values():
                self.operands[phi] += [phi, block.label]

    def _renamed(self, block: Block, known: dict[_Leaf, int]) -> Iterator[Instruction]:
        for row in block.instructions:
            if not isinstance(row, _Step):
                yield row
            elif row.value:
                known[row.leaf] = self.same.get(row.value, row.value)
            else:
                self.same[row.result] = self._value(row.leaf, known)

    def _value(self, leaf: _Leaf, known: Mapping[_Leaf, int]) -> int:
        """The value of a variable; before it has one, it is undefined."""
        found = known.get(leaf)
        return self.editor.undefined(leaf.type_id) if found is None else found


def _steps(block: Block) -> Iterator[_Step]:
    return (row for row in block.instructions if isinstance(row, _Step))
