"""Composites: making them, taking them apart, shuffling vectors; constants."""

from __future__ import annotations

from collections.abc import Sequence

from coopmat.diagnostics import Error, ValidationError
from coopmat.spirv.analysis.types import MatrixType, Type
from coopmat.spirv.grammar import Op
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.module.operands import decode_number
from coopmat.targets.analysis.leaves import leaf_count, leaves_of, part_of
from coopmat.targets.llvm.emitter import Emitter, Handler, uniform_text
from coopmat.targets.llvm.inputs import find_place
from coopmat.targets.llvm.instructions.memory import nothing
from coopmat.targets.llvm.places import choose
from coopmat.targets.llvm.values import Leaf, Matrix, Number, Value, float_bits, llvm_type

NO_COMPONENT = 0xFFFFFFFF


def _construct(emitter: Emitter, row: Instruction) -> Value:
    kind = emitter.result_type(row)
    if isinstance(kind, MatrixType):
        return (emitter.matrices.fill(kind, uniform_text(emitter, emitter.number(row.words[0]))),)
    found = tuple(leaf for word in row.words for leaf in emitter.value(word))
    if len(found) != leaf_count(kind):
        raise ValidationError("composite-constituents", f"a {kind} has {leaf_count(kind)} numbers, {row.name} gives "
                              f"{len(found)}", row.offset)
    return found


def _replicate(emitter: Emitter, row: Instruction) -> Value:
    kind = emitter.result_type(row)
    if isinstance(kind, MatrixType):
        return _construct(emitter, row)
    part = emitter.value(row.words[0])
    return part * (leaf_count(kind) // max(len(part), 1))


def _span(kind: Type, path: Sequence[int]) -> tuple[Type, int]:
    """The type of a part, and the number of leaves before it."""
    first = 0
    for index in path:
        kind, before = part_of(kind, index)
        first += before
    return kind, first


def _extract(emitter: Emitter, row: Instruction) -> Value:
    kind, path = emitter.type_of(row.words[0]), row.words[1:]
    value = emitter.value(row.words[0])
    if path and isinstance(_span(kind, path[:-1])[0], MatrixType):
        return (emitter.matrices.extract(_matrix_in(value, kind, path), emitter.constant("i32", path[-1])),)
    part, first = _span(kind, path)
    return value[first:first + leaf_count(part)]


def _insert(emitter: Emitter, row: Instruction) -> Value:
    kind, path = emitter.result_type(row), row.words[2:]
    part, value = emitter.value(row.words[0]), emitter.value(row.words[1])
    if path and isinstance(_span(kind, path[:-1])[0], MatrixType):
        _, first = _span(kind, path[:-1])
        assert isinstance(part[0], Number)
        changed = emitter.matrices.insert(_matrix_in(value, kind, path), emitter.constant("i32", path[-1]), part[0])
        return (*value[:first], changed, *value[first + 1:])
    inner, first = _span(kind, path)
    return (*value[:first], *part, *value[first + leaf_count(inner):])


def _matrix_in(value: Value, kind: Type, path: Sequence[int]) -> Matrix:
    found = value[_span(kind, path[:-1])[1]]
    assert isinstance(found, Matrix)
    return found


def _shuffle(emitter: Emitter, row: Instruction) -> Value:
    first, second, *literals = row.words
    joined = (*emitter.numbers(first), *emitter.numbers(second))
    if any(literal >= len(joined) and literal != NO_COMPONENT for literal in literals):
        raise ValidationError("vector-shuffle", f"a component of OpVectorShuffle is not below {len(joined)}",
                              row.offset)
    return tuple(joined[0 if literal == NO_COMPONENT else literal] for literal in literals)


def _extract_dynamic(emitter: Emitter, row: Instruction) -> Value:
    return (choose(emitter, emitter.numbers(row.words[0]), emitter.number(row.words[1])),)


def _insert_dynamic(emitter: Emitter, row: Instruction) -> Value:
    vector, part, index = emitter.numbers(row.words[0]), emitter.number(row.words[1]), emitter.number(row.words[2])
    found: list[Leaf] = []
    for place, one in enumerate(vector):
        here = emitter.apply("icmp eq {t} {0}, {1}", "i1", index, emitter.constant(index.type, place))
        found.append(emitter.select(here, part, one))
    return tuple(found)


def _undefined(emitter: Emitter, row: Instruction) -> Value:
    return emitter.zero_value(emitter.result_type(row))


def _copy(emitter: Emitter, row: Instruction) -> Value | None:
    place = find_place(emitter, row.words[0])
    if place is not None and row.result_id is not None:
        emitter.places[row.result_id] = place
        return None
    return emitter.value(row.words[0])


def _phi(emitter: Emitter, row: Instruction) -> Value:
    return emitter.load_slots(("value", row.result_id), leaves_of(emitter.result_type(row)))


# --------------------------------------------------------------------------------------
# Constants
# --------------------------------------------------------------------------------------


def _number(emitter: Emitter, row: Instruction) -> Value:
    kind = emitter.result_type(row)
    llvm = llvm_type(kind)
    bits = decode_number(row.words) & (1 << 8 * kind.size) - 1
    if llvm in ("half", "float", "double"):
        return (Number(llvm, float_bits(llvm, bits)),)
    return (emitter.constant(llvm, bits),)


def _truth(value: bool) -> Handler:
    return lambda emitter, row: (emitter.constant("i1", value),)


def _null(emitter: Emitter, row: Instruction) -> Value:
    return emitter.zero_value(emitter.result_type(row))


def _constant_operation(emitter: Emitter, row: Instruction) -> Value | None:
    """OpSpecConstantOp: as the instruction that it names."""
    opcode, *words = row.words
    handler = emitter.machine.handlers.get(opcode)
    inner = Instruction(opcode, row.type_id, row.result_id, tuple(words), row.offset)
    if handler is None:
        raise Error(f"{inner.name} is not supported in a constant expression")
    return handler(emitter, inner)


OPERATIONS: dict[int, Handler] = {
    Op.Nop: nothing,
    Op.Line: nothing,
    Op.NoLine: nothing,
    Op.Phi: _phi,
    Op.SelectionMerge: nothing,
    Op.LoopMerge: nothing,
    Op.LoopControlINTEL: nothing,
    Op.ExpectKHR: _copy,
    Op.Undef: _undefined,
    Op.PoisonKHR: _undefined,
    Op.FreezeKHR: _copy,
    Op.ArithmeticFenceEXT: _copy,
    Op.CopyObject: _copy,
    Op.CopyLogical: _copy,
    Op.CompositeConstruct: _construct,
    Op.CompositeConstructReplicateEXT: _replicate,
    Op.CompositeExtract: _extract,
    Op.CompositeInsert: _insert,
    Op.VectorShuffle: _shuffle,
    Op.VectorExtractDynamic: _extract_dynamic,
    Op.VectorInsertDynamic: _insert_dynamic,
    Op.Constant: _number,
    Op.SpecConstant: _number,
    Op.ConstantTrue: _truth(True),
    Op.SpecConstantTrue: _truth(True),
    Op.ConstantFalse: _truth(False),
    Op.SpecConstantFalse: _truth(False),
    Op.ConstantComposite: _construct,
    Op.SpecConstantComposite: _construct,
    Op.ConstantCompositeReplicateEXT: _replicate,
    Op.SpecConstantCompositeReplicateEXT: _replicate,
    Op.ConstantNull: _null,
    Op.SpecConstantOp: _constant_operation,
}
