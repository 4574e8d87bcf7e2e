"""Addresses of cooperative matrices that LLVM has counted in bytes become indices again.

LLVM's optimiser leads pointers into arrays and structures of matrices by bytes, and copies matrices as integers of
their size. In SPIR-V a matrix has no size. Where a sum of bytes leads to a matrix, or to what stands beside one, an
access chain takes its place. A pointer of which it cannot be told where all that leads on from it comes to stays as it
is.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from coopmat.llvm.to_spirv.matrix_layout import MATRIX_BYTES, NOTHING, Accepts, Layout, Move, Sum, Way
from coopmat.llvm.to_spirv.names import parse
from coopmat.spirv.edit.editor import Editor, substitute
from coopmat.spirv.grammar import CHAINS, LIFETIMES, MemoryAccess, Op
from coopmat.spirv.module.instruction import Instruction, make

_CASTS = frozenset({Op.Bitcast, Op.CopyObject})
_LEADS_ON = _CASTS | CHAINS.keys()
_WIDTH = 64  # bits of the integers that count
_LONGEST_SUM = 32  # instructions in a row that a sum is taken apart into
_MOST_PARTS = 1024  # of one copy
_NUMBERS = (Op.TypeInt, Op.TypeFloat, Op.TypeVector)


class _Untold(Exception):
    """It cannot be told where something leads to that leads on from ``root``."""

    def __init__(self, root: int) -> None:
        super().__init__(root)
        self.root = root


@dataclass(frozen=True)
class _Address:
    """So many bytes behind a pointer, ``root``."""

    root: int
    distance: Sum = NOTHING


def with_indices(editor: Editor, imported: Mapping[int, str]) -> None:
    """Replace addresses in bytes in an editor's module; ``imported`` are the names of functions that it imports."""
    layout = Layout(editor)
    roots = _roots(editor, layout)
    while roots:
        try:
            editor.functions = _Rewriter(editor, layout, imported, roots).rewritten()
            return
        except _Untold as untold:
            roots -= {untold.root}


def _roots(editor: Editor, layout: Layout) -> frozenset[int]:
    """The pointers to matrices that bytes are copied through, or of which casts make pointers to something else on some
    way. A function may take a matrix's own address for one to bytes."""
    users: defaultdict[int, set[int]] = defaultdict(set)
    for item in editor.functions:
        for used in item.ids():
            users[used].add(item.opcode)
    found = set()
    for item in editor.functions:
        count = 2 if item.opcode == Op.CopyMemorySized else int(item.opcode in _CASTS)
        for pointer in item.words[:count]:
            pointee = _pointee(editor, pointer)
            if pointee is None or not layout.holds_matrix(pointee) or pointee == _pointee(editor, item.result_id):
                continue
            is_matrix = editor.definition(pointee).opcode == Op.TypeCooperativeMatrixKHR
            if not users[item.result_id or 0] <= (LIFETIMES | {Op.FunctionCall} if is_matrix else LIFETIMES):
                found.add(_root(editor, pointer))
    return frozenset(root for root in found if layout.holds_matrix(_pointee(editor, root) or 0))


def _root(editor: Editor, pointer: int) -> int:
    """What a pointer was made from by casts and access chains."""
    item = editor.definition(pointer)
    while item.opcode in _LEADS_ON and _pointee(editor, item.words[0]) is not None:
        pointer = item.words[0]
        item = editor.definition(pointer)
    return pointer


def _pointee(editor: Editor, value: int | None) -> int | None:
    """What a value points to; None of one that is no pointer."""
    type_id = editor.definition(value).type_id if value is not None else None
    type_ = editor.definition(type_id) if type_id is not None else None
    return type_.words[1] if type_ is not None and type_.opcode == Op.TypePointer else None


class _Rewriter:
    """Gives what leads on from some pointers, ``roots``, its meaning back."""

    def __init__(self, editor: Editor, layout: Layout, imported: Mapping[int, str], roots: AbstractSet[int]) -> None:
        self._editor = editor
        self._layout = layout
        self._imported = imported
        self._roots = roots
        self._addresses = {root: _Address(root) for root in roots}
        self._kept = set(roots)  # pointers that stay as they are: nothing is counted on the way to them
        self._users: defaultdict[int, list[Instruction]] = defaultdict(list)
        self._in_place: defaultdict[int, list[Instruction]] = defaultdict(list)  # of a pointer: what phis need instead
        self._matrices: dict[int, int] = {}  # integers that are copies of matrices, with the types of these

    def rewritten(self) -> list[Instruction]:
        """The functions of the module. Raises _Untold for a root."""
        for item in self._editor.functions:
            self._follow(item)
            for used in item.ids():
                self._users[used].append(item)
        gone = self._addresses.keys() - self._kept
        changed = [[] if item.result_id in gone else self._changed(item) for item in self._editor.functions]
        return [new for item, code in zip(self._editor.functions, changed, strict=True)
                for new in (self._in_place[item.result_id] if item.result_id in gone else code)]

    # -- Where pointers lead ---------------------------------------------------------

    def _follow(self, item: Instruction) -> None:
        """Note where a pointer leads that is made from another one."""
        address = self._addresses.get(item.words[0]) if item.opcode in _LEADS_ON else None
        if address is None or item.result_id is None or _pointee(self._editor, item.result_id) is None:
            return
        distance, components = self._moved(item)
        if components:
            return
        self._addresses[item.result_id] = _Address(address.root, address.distance + distance)
        if item.words[0] in self._kept and (CHAINS.get(Op(item.opcode)) == 1
                                            or (item.opcode in CHAINS and self._editor.integer(item.words[1]) == 0)):
            self._kept.add(item.result_id)

    def _moved(self, item: Instruction) -> tuple[Sum, tuple[int, ...]]:
        """How many bytes a cast or an access chain leads on, and the indices that are left where it is at a matrix."""
        kind, distance = _pointee(self._editor, item.words[0]) or 0, NOTHING
        first = CHAINS.get(Op(item.opcode), len(item.words))
        if first == 2:
            distance += self._bytes(item.words[1], self._layout.size(kind))
        for place, word in enumerate(item.words[first:], first):
            type_ = self._editor.definition(kind)
            if type_.opcode == Op.TypeCooperativeMatrixKHR:
                return distance, item.words[place:]
            if type_.opcode == Op.TypeStruct:
                index = self._editor.integer(word) or 0
                distance += Sum(self._layout.offsets(kind)[index])
                kind = type_.words[index]
            else:
                kind = type_.words[0]
                distance += self._bytes(word, self._layout.size(kind))
        return distance, ()

    def _bytes(self, index: int, size: int) -> Sum:
        """An index times the size of an element; an index that counts bytes itself is taken apart."""
        return (self._taken_apart(index) if size % MATRIX_BYTES else self._atom(index)).times(size)

    def _taken_apart(self, integer: int, depth: int = 0) -> Sum:
        """The sum that an integer is the result of."""
        item = self._editor.definition(integer)
        if item.opcode in _ARITHMETIC and depth < _LONGEST_SUM:
            found = _ARITHMETIC[item.opcode](*(self._taken_apart(word, depth + 1) for word in item.words))
            if found is not None:
                return found
        return self._atom(integer)

    def _atom(self, integer: int) -> Sum:
        number = self._editor.integer(integer)
        if number is None:
            return Sum(0, ((integer, 1),))
        width = self._editor.type_of(integer).words[0]
        return Sum(number - (number >> width - 1 << width))

    def _way(self, address: _Address, accepts: Accepts) -> tuple[Way, int] | None:
        """The way from an address's root to the part there whose type is looked for, and that type."""
        kind, distance = _pointee(self._editor, address.root) or 0, address.distance
        if self._editor.definition(address.root).opcode == Op.Variable:
            return self._layout.way(kind, distance, accepts)
        step, rest = distance.divided(self._layout.size(kind))  # what is behind a pointer may be an array's element
        found = self._layout.way(kind, rest, accepts)
        return found if found is None or step == NOTHING else ((Move(step, is_step=True), *found[0]), found[1])

    def _is_matrix(self, type_id: int) -> bool:
        return self._editor.definition(type_id).opcode == Op.TypeCooperativeMatrixKHR

    # -- Instructions that use the pointers ------------------------------------------

    def _changed(self, item: Instruction) -> list[Instruction]:
        """What takes an instruction's place."""
        code: list[Instruction] = []
        used = [word for word in dict.fromkeys(item.ids()) if word in self._addresses]
        concerned = [word for word in used if word not in self._kept]
        if not concerned and not (used and item.opcode == Op.CopyMemorySized):
            return [item]
        if item.opcode in LIFETIMES:
            root = self._addresses[item.words[0]].root
            return [make(Op(item.opcode), root, 0)] * (self._editor.definition(root).opcode == Op.Variable)
        if item.opcode == Op.CopyMemorySized:
            self._copy(item, code)
        elif item.opcode == Op.Load:
            self._load(item, code)
        elif item.opcode == Op.Store and item.words[1] not in self._addresses:
            self._store(item, code)
        elif item.opcode in CHAINS:
            self._component(item, code)
        else:
            place = self._in_place if item.opcode == Op.Phi else defaultdict(lambda: code)
            same = {word: self._pointer_for(item, word, place[word]) for word in concerned}
            code.append(self._editor.add(substitute(item, same)))
        return code

    def _load(self, item: Instruction, code: list[Instruction]) -> None:
        address, type_id = self._address(item.words[0]), item.type_id or 0
        found = self._way(address, type_id.__eq__)
        if found is None and self._is_matrix_copied(item):
            found = self._way(address, self._is_matrix)
            if found is not None:
                type_id = self._matrices[item.result_id or 0] = found[1]
        pointer = self._pointer(item.words[0], address, found, code)
        code.append(self._editor.add(make(Op.Load, pointer, *_unaligned(item.words[1:]), type_id=type_id,
                                          result_id=item.result_id)))

    def _is_matrix_copied(self, load: Instruction) -> bool:
        """Whether an integer as large as a matrix is only stored again."""
        type_ = self._editor.definition(load.type_id or 0)
        return type_.opcode == Op.TypeInt and type_.words[0] == 8 * MATRIX_BYTES and all(
            user.opcode == Op.Store and user.words[1] == load.result_id and user.words[0] in self._addresses
            for user in self._users[load.result_id or 0])

    def _store(self, item: Instruction, code: list[Instruction]) -> None:
        address, value = self._address(item.words[0]), item.words[1]
        type_id = self._matrices.get(value, self._editor.definition(value).type_id or 0)
        found = self._way(address, type_id.__eq__)
        if found is None and self._editor.integer(value) == 0 and self._layout.size(type_id) == MATRIX_BYTES:
            found = self._way(address, self._is_matrix)
            value = self._null(found[1]) if found is not None else value
        pointer = self._pointer(item.words[0], address, found, code)
        code.append(make(Op.Store, pointer, value, *_unaligned(item.words[2:])))

    def _component(self, item: Instruction, code: list[Instruction]) -> None:
        address, (distance, components) = self._address(item.words[0]), self._moved(item)
        address = _Address(address.root, address.distance + distance)
        pointer = self._pointer(item.words[0], address, self._way(address, self._is_matrix), code)
        code.append(self._editor.add(make(Op.AccessChain, pointer, *components, type_id=item.type_id,
                                          result_id=item.result_id)))

    def _copy(self, item: Instruction, code: list[Instruction]) -> None:
        """A copy of bytes part by part: each as large as it can be; or zero for each, as the source is."""
        target, source, size = self._address(item.words[0]), item.words[1], self._editor.integer(item.words[2])
        stores: list[Instruction] = []
        done = 0
        while size is None or done < size:
            room = (size or 0) - done
            to = _Address(target.root, target.distance + Sum(done))
            found = self._way(to, lambda type_id, room=room: 0 < self._layout.size(type_id) <= room)  # type: ignore[misc]
            if found is None or size is None or len(stores) == _MOST_PARTS:
                raise _Untold(target.root)
            type_id = found[1]
            if self._is_zero(source):
                value = self._null(type_id)
            else:
                address = self._address(source)
                address = _Address(address.root, address.distance + Sum(done))
                pointer = self._pointer(source, address, self._way(address, type_id.__eq__), code)
                value = self._value(code, Op.Load, type_id, pointer)
            stores.append(make(Op.Store, self._pointer(item.words[0], to, found, code), value))
            done += self._layout.size(type_id)
        code += stores

    def _is_zero(self, source: int) -> bool:
        """Whether a pointer is to a variable that begins as zero, which is how LLVM sets bytes."""
        item = self._editor.definition(source)
        while item.opcode in _CASTS:
            item = self._editor.definition(item.words[0])
        return item.opcode == Op.Variable and len(item.words) > 1 and (
            self._editor.definition(item.words[1]).opcode == Op.ConstantNull)

    def _pointer_for(self, item: Instruction, pointer: int, code: list[Instruction]) -> int:
        """A pointer to what an instruction takes it for; an imported function takes every pointer for one to bytes."""
        address, pointee = self._addresses[pointer], _pointee(self._editor, pointer) or 0
        found = self._way(address, pointee.__eq__)
        if found is None and item.opcode == Op.FunctionCall and item.words[0] in self._imported:
            leads_to_component = parse(self._imported[item.words[0]]).name.endswith("AccessChain")
            found = self._way(address, self._is_matrix if leads_to_component else self._is_number)
        if found is None and address.distance == NOTHING:
            return self._value(code, Op.Bitcast, self._editor.definition(pointer).type_id or 0, address.root)
        return self._pointer(pointer, address, found, code)

    def _is_number(self, type_id: int) -> bool:
        return self._editor.definition(type_id).opcode in _NUMBERS

    # -- New instructions ------------------------------------------------------------

    def _address(self, pointer: int) -> _Address:
        """Where a pointer leads."""
        address = self._addresses.get(pointer)
        if address is None:  # the other side of a copy
            raise _Untold(next(iter(self._roots)))
        return address

    def _pointer(self, old: int, address: _Address, found: tuple[Way, int] | None, code: list[Instruction]) -> int:
        """A pointer by a way from the root of an address; ``old`` is the one in bytes."""
        if found is None:
            raise _Untold(address.root)
        storage = self._editor.type_of(old).words[0]
        pointer, kind = address.root, _pointee(self._editor, address.root) or 0
        moves = list(found[0])
        while moves:
            words = [self._integer(moves.pop(0).count, code)] if moves[0].is_step else []
            op = Op.PtrAccessChain if words else Op.AccessChain
            while moves and not moves[0].is_step:
                is_member = self._editor.definition(kind).opcode == Op.TypeStruct
                words.append(self._integer(moves[0].count, code, 32 if is_member else _WIDTH))
                kind = self._layout.part(kind, moves.pop(0))
            pointer = self._value(code, op, self._editor.type_pointer(storage, kind), pointer, *words)
        return pointer

    def _integer(self, count: Sum, code: list[Instruction], width: int = _WIDTH) -> int:
        """The value of a sum."""
        type_id = self._editor.unique(Op.TypeInt, width, 0)
        result = None
        for identifier, factor in count.terms:
            if self._editor.type_of(identifier).words[0] != width:
                identifier = self._value(code, Op.SConvert, type_id, identifier)
            if factor != 1:
                identifier = self._value(code, Op.IMul, type_id, identifier, self._constant(factor, width))
            result = identifier if result is None else self._value(code, Op.IAdd, type_id, result, identifier)
        if result is None or count.number:
            number = self._constant(count.number, width)
            result = number if result is None else self._value(code, Op.IAdd, type_id, result, number)
        return result

    def _constant(self, number: int, width: int) -> int:
        return self._editor.constant(number & (1 << width) - 1, width)

    def _null(self, type_id: int) -> int:
        return self._editor.unique(Op.ConstantNull, type_id=type_id)

    def _value(self, code: list[Instruction], op: Op, type_id: int, *words: int) -> int:
        identifier = self._editor.new_id()
        code.append(self._editor.add(make(op, *words, type_id=type_id, result_id=identifier)))
        return identifier


def _unaligned(operands: tuple[int, ...]) -> tuple[int, ...]:
    """Memory operands without an alignment, which is that of LLVM's layout."""
    if not operands or not operands[0] & MemoryAccess.Aligned:
        return operands
    mask, _, *rest = operands
    return (mask & ~MemoryAccess.Aligned, *rest) if mask != MemoryAccess.Aligned else ()


# --------------------------------------------------------------------------------------
# Arithmetic that bytes are counted with
# --------------------------------------------------------------------------------------


def _product(a: Sum, b: Sum) -> Sum | None:
    if not b.terms:
        return a.times(b.number)
    return b.times(a.number) if not a.terms else None


def _shifted(a: Sum, b: Sum) -> Sum | None:
    return a.times(1 << b.number) if not b.terms and 0 <= b.number < _WIDTH else None


def _disjoint(a: Sum, b: Sum) -> Sum | None:
    """``a | b`` where no bit can be set in both."""
    if b.terms or a.number < 0 or b.number < 0:
        return None
    is_above = all(not factor % (1 << b.number.bit_length()) for _, factor in a.terms)
    return a + b if is_above and not a.number & b.number and not a.number % (1 << b.number.bit_length()) else None


_ARITHMETIC: dict[int, Callable[..., Sum | None]] = {
    Op.IAdd: lambda a, b: a + b,
    Op.ISub: lambda a, b: a + b.times(-1),
    Op.IMul: _product,
    Op.ShiftLeftLogical: _shifted,
    Op.BitwiseOr: _disjoint,
    Op.SConvert: lambda a: a,
    Op.UConvert: lambda a: a,
}
"""What is known of sums: LLVM counts without overflow."""
