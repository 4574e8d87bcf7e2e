"""Instructions that stay as they are, also for each part of a long vector, and those that take values apart."""

from __future__ import annotations

from coopmat.spirv.analysis.types import ArrayType, BoolType, StructType, Type, VectorType
from coopmat.spirv.grammar import Decoration, Op
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.transform.to_vulkan.translation import Handler, Translation
from coopmat.spirv.transform.to_vulkan.types import LONGEST, U32, is_long


def operand_types(t: Translation, row: Instruction) -> dict[int, Type]:
    """Word → the type of the value that it names."""
    found: dict[int, Type] = {}
    for place in row.id_places():
        definition = t.module.definition(row.words[place])
        if definition.type_id is not None:
            found[place] = t.table[definition.type_id]
    return found


def _keep_promises(t: Translation, row: Instruction) -> None:
    for promise in (Decoration.NoSignedWrap, Decoration.NoUnsignedWrap):
        if t.is_decorated(row.result_id or 0, promise) is not None:
            t.writer.out.decorate(t.result(row), promise)


def copied(t: Translation, row: Instruction) -> None:
    """The same instruction; on long vectors, once for each part."""
    if row.type_id is None:
        t.writer.out.append(_with_words(t, row))
        return
    kind = t.result_type(row)
    operands = operand_types(t, row)
    if not is_long(kind) and not any(is_long(one) for one in operands.values()):
        item = _with_words(t, row)
        item.type_id, item.result_id = t.writer.types(kind), t.result(row)
        t.writer.out.append(item)
        _keep_promises(t, row)
        return
    count = max(one.count for one in (kind, *operands.values()) if is_long(one)) // LONGEST
    parts = [_part(t, row, kind, operands, index) for index in range(count)]
    t.define(row, t.writer.construct(kind, parts))


def _with_words(t: Translation, row: Instruction) -> Instruction:
    words = list(row.words)
    for place in row.id_places():
        words[place] = t.value(words[place])
    return Instruction(row.opcode, None, None, tuple(words), None, row.context)


def _part(t: Translation, row: Instruction, kind: Type, operands: dict[int, Type], index: int) -> int:
    words = list(row.words)
    for place in row.id_places():
        value, found = t.value(words[place]), operands.get(place)
        if found is not None and is_long(found):
            value = t.writer.extract(VectorType(found.scalar, LONGEST), value, index)
        words[place] = value
    result = t.writer.out.new_id()
    t.writer.out.append(Instruction(row.opcode, t.writer.types(VectorType(kind.scalar, LONGEST)), result, tuple(words),
                                    None, row.context))
    return result


def _construct(t: Translation, row: Instruction) -> None:
    """A vector may be made of vectors."""
    kind = t.result_type(row)
    if not is_long(kind):
        parts = [scalar for word in row.words for scalar in _flat(t, word)] if isinstance(kind, VectorType) else \
            [t.value(word) for word in row.words]
        t.writer.construct(kind, parts, result=t.result(row))
        return
    scalars = [scalar for word in row.words for scalar in _flat(t, word)]
    t.define(row, of_scalars(t, kind, scalars))


def _flat(t: Translation, word: int) -> list[int]:
    return scalars_of(t, t.value(word), t.type_of(word))


def scalars_of(t: Translation, value: int, kind: Type) -> list[int]:
    """The components of a vector of any length, of a scalar itself."""
    if not is_long(kind):
        return t.writer.components(value, kind)
    return [t.writer.extract(kind.scalar, value, index // LONGEST, index % LONGEST) for index in range(kind.count)]


def of_scalars(t: Translation, kind: Type, scalars: list[int]) -> int:
    """The opposite."""
    if kind.count == 1:
        return scalars[0]
    if not is_long(kind):
        return t.writer.construct(kind, scalars)
    part = VectorType(kind.scalar, LONGEST)
    return t.writer.construct(kind, [t.writer.construct(part, scalars[i:i + LONGEST])
                                     for i in range(0, kind.count, LONGEST)])


def _path(t: Translation, kind: Type, words: tuple[int, ...]) -> list[int]:
    """A path of literal indices, in which one into a long vector is two."""
    path: list[int] = []
    for index in words:
        path += [index // LONGEST, index % LONGEST] if is_long(kind) else [index]
        kind = _member(kind, index)
    return path


def _member(kind: Type, index: int) -> Type:
    members = getattr(kind, "members", None)
    if members is not None:
        found: Type = members[index]
        return found
    element = getattr(kind, "element", None)
    return element if element is not None else kind.scalar


def extract(t: Translation, row: Instruction) -> None:
    """A member of a composite."""
    path = _path(t, t.type_of(row.words[0]), row.words[1:])
    t.writer.extract(t.result_type(row), t.value(row.words[0]), *path, result=t.result(row))


def _insert(t: Translation, row: Instruction) -> None:
    path = _path(t, t.result_type(row), row.words[2:])
    t.writer.op(Op.CompositeInsert, t.result_type(row), t.value(row.words[0]), t.value(row.words[1]), *path,
                result=t.result(row))


def _shuffle(t: Translation, row: Instruction) -> None:
    first, second, *numbers = row.words
    kinds = t.type_of(first), t.type_of(second)
    kind = t.result_type(row)
    if not any(map(is_long, (*kinds, kind))):
        copied(t, row)
        return
    pool = [(word, index) for word, one in zip((first, second), kinds, strict=True) for index in range(one.count)]
    scalars = []
    for number in numbers:
        word, index = pool[0 if number == 0xFFFFFFFF else number]
        path = (index // LONGEST, index % LONGEST) if is_long(t.type_of(word)) else (index,)
        scalars.append(t.writer.extract(kind.scalar, t.value(word), *path))
    t.define(row, of_scalars(t, kind, scalars))


def _index_is(t: Translation, word: int, number: int) -> int:
    kind = t.type_of(word)
    return t.writer.op(Op.IEqual, BoolType(), t.value(word), t.writer.integer(number, kind))


def _extract_dynamic(t: Translation, row: Instruction) -> None:
    kind = t.type_of(row.words[0])
    if not is_long(kind):
        copied(t, row)
        return
    index_type = t.type_of(row.words[1])
    index = t.writer.converted(t.value(row.words[1]), index_type, U32)
    low = t.writer.op(Op.BitwiseAnd, U32, index, t.writer.integer(LONGEST - 1))
    found = 0
    for part in range(kind.count // LONGEST):
        vector = t.writer.extract(VectorType(kind.scalar, LONGEST), t.value(row.words[0]), part)
        one = t.writer.op(Op.VectorExtractDynamic, kind.scalar, vector, low)
        if found:
            is_there = t.writer.op(Op.UGreaterThanEqual, BoolType(), index, t.writer.integer(part * LONGEST))
            one = t.writer.op(Op.Select, kind.scalar, is_there, one, found)
        found = one
    t.define(row, found)


def _insert_dynamic(t: Translation, row: Instruction) -> None:
    kind = t.result_type(row)
    if not is_long(kind):
        copied(t, row)
        return
    vector, value, index = row.words
    scalars = [t.writer.op(Op.Select, kind.scalar, _index_is(t, index, number), t.value(value), old)
               for number, old in enumerate(scalars_of(t, t.value(vector), kind))]
    t.define(row, of_scalars(t, kind, scalars))


def _reduced(op: Op) -> Handler:
    """Any and All: of each part, then of the results. LLVM's back end also makes them of integers: there the highest
    bit decides."""
    def reduce(t: Translation, row: Instruction) -> None:
        kind, value = t.type_of(row.words[0]), t.value(row.words[0])
        if not is_long(kind):
            t.define(row, holds(t, Op(row.opcode), kind, value))
            return
        part = VectorType(kind.scalar, LONGEST)
        found, *others = [holds(t, Op(row.opcode), part, t.writer.extract(part, value, index))
                          for index in range(kind.count // LONGEST)]
        for other in others:
            found = t.writer.op(op, BoolType(), found, other)
        t.define(row, found)

    def holds(t: Translation, kept: Op, kind: Type, value: int) -> int:
        if not isinstance(kind.scalar, BoolType):
            value = t.writer.op(Op.SLessThan, VectorType(BoolType(), kind.count), value, t.writer.integer(0, kind))
        return t.writer.op(kept, BoolType(), value)
    return reduce


def _undefined(t: Translation, row: Instruction) -> None:
    """It is a constant where it is used."""


def _same(t: Translation, row: Instruction) -> None:
    """Types that are laid out differently are the same here."""
    t.define(row, t.value(row.words[0]))


def _replicated(t: Translation, row: Instruction) -> None:
    """A composite all of whose members are one value; a matrix has one."""
    kind, value = t.result_type(row), t.value(row.words[0])
    if isinstance(kind, VectorType):
        t.define(row, of_scalars(t, kind, [value] * kind.length))
        return
    count = kind.length if isinstance(kind, ArrayType) else len(kind.members) if isinstance(kind, StructType) else 1
    t.writer.construct(kind, [value] * count, result=t.result(row))


HANDLERS: dict[int, Handler] = {
    Op.CompositeConstruct: _construct, Op.CompositeExtract: extract, Op.CompositeInsert: _insert,
    Op.VectorShuffle: _shuffle, Op.VectorExtractDynamic: _extract_dynamic, Op.VectorInsertDynamic: _insert_dynamic,
    Op.Any: _reduced(Op.LogicalOr), Op.All: _reduced(Op.LogicalAnd), Op.Undef: _undefined, Op.CopyLogical: _same,
    Op.CompositeConstructReplicateEXT: _replicated,
}
