"""Rules for composites, selections and copies (SPIR-V 3.3.12)."""

from __future__ import annotations

import numpy as np

from coopmat.spirv.grammar import Capability, Op
from coopmat.spirv.validate.families.constants import constituents
from coopmat.spirv.validate.rules import Findings, rule
from coopmat.spirv.validate.types import Integers, TypeRows, Types
from coopmat.spirv.validate.view import Group, ModuleView

SECTION = "SPIR-V 3.3.12 Composite Instructions"
NO_COMPONENT = 0xFFFFFFFF
"""The literal by which OpVectorShuffle leaves a component undefined."""

_WITH_PARTS = (Op.TypeVector, Op.TypeMatrix, Op.TypeArray, Op.TypeRuntimeArray, Op.TypeStruct,
               Op.TypeCooperativeMatrixKHR)
_MOST_INDICES = 255


def descend(group: Group, start: Types, first: int) -> tuple[Types, np.ndarray]:
    """The types reached from ``start`` by the literal indices at the places from ``first`` on.

    Also whether an index is beyond the end or leads into what has no parts.
    """
    view = group.view
    places = start.places.copy()
    wrong = np.zeros(len(group), bool)
    for place in group.places(first):
        step = group.has(place) & ~wrong
        if not step.any():
            break
        inner, bad = _part(view.type_table, Types(start.table, places), group.word(place))
        wrong |= step & bad
        places = np.where(step & ~bad, inner, places)
    return Types(start.table, places), wrong


def _part(table: TypeRows, whole: Types, index: Integers) -> tuple[Integers, np.ndarray]:
    """The types of parts of composites, and whether there is no such part."""
    inner = whole.element.places.copy()
    structures = whole.is_kind(Op.TypeStruct)
    counted = whole.is_kind(Op.TypeVector, Op.TypeMatrix, Op.TypeArray, Op.TypeStruct)
    known = structures | (whole.length > 0)
    bad = ~whole.is_kind(*_WITH_PARTS) | (counted & known & ((index >= whole.length) | (index < 0)))
    for i in np.flatnonzero(structures & ~bad).tolist():
        declaration = table.instructions[int(whole.places[i])]
        assert declaration is not None
        inner[i] = table.position.get(declaration.words[int(index[i])], 0)
    return inner, bad


@rule("composite-extract", "The indices of OpCompositeExtract lead to a part of the result type.",
      f"{SECTION}; SPV_KHR_cooperative_matrix", Op.CompositeExtract)
def composite_extract(group: Group) -> Findings:
    reached, wrong = descend(group, group.value(0), 1)
    yield ~group.has(1), "{op} has no index"
    yield group.size - 1 > _MOST_INDICES, f"{{op}} has more than {_MOST_INDICES} indices"
    yield wrong, "an index of {op} leads beyond the parts of {type0}"
    for chosen, found in group.by_type(reached, ~wrong & (reached != group.result)):
        yield chosen, f"the indices of {{op}} lead to {found}; the result type {{type}} is needed"


@rule("composite-insert", "The indices of OpCompositeInsert lead to a part of the object's type.",
      f"{SECTION}; SPV_KHR_cooperative_matrix", Op.CompositeInsert)
def composite_insert(group: Group) -> Findings:
    reached, wrong = descend(group, group.value(1), 2)
    yield group.value(1) != group.result, "{op} into {type1} gives a value of that type, not {type}"
    yield ~group.has(2), "{op} has no index"
    yield group.size - 2 > _MOST_INDICES, f"{{op}} has more than {_MOST_INDICES} indices"
    yield wrong, "an index of {op} leads beyond the parts of {type1}"
    for chosen, found in group.by_type(reached, ~wrong & (reached != group.value(0))):
        yield chosen, f"the indices of {{op}} lead to {found}; the type of the object, {{type0}}, is needed"


@rule("composite-construct", "The constituents of OpCompositeConstruct make up its result.",
      f"{SECTION}; SPV_KHR_cooperative_matrix", Op.CompositeConstruct)
def composite_construct(group: Group) -> Findings:
    vectors = group.result.is_kind(Op.TypeVector)
    yield from _vector_construct(group, vectors)
    view = group.view
    for offset in np.flatnonzero(~vectors).tolist():
        item = view.items[int(group.indices[offset])]
        for message in constituents(view, item, item.words):
            yield np.arange(len(group)) == offset, message


def _vector_construct(group: Group, vectors: np.ndarray) -> Findings:
    """A vector may be made of scalars and of shorter vectors."""
    total = np.zeros(len(group), np.int64)
    for place in group.places():
        has = group.has(place)
        part = group.value(place)
        yield vectors & has & ((part.scalar != group.result.element) | part.is_matrix), \
            f"constituent {place} of {{op}} is {{type{place}}}; components of {{type}} are needed"
        total += np.where(has, part.components, 0)
    if not group.view.has(Capability.LongVectorEXT):
        yield vectors & (group.size < 2), "{op} makes a vector of two or more constituents"
    yield vectors & (total != group.result.length), \
        "the constituents of {op} have more or fewer components than {type}"


@rule("vector-shuffle", "OpVectorShuffle picks components of two vectors of one component type.", SECTION,
      Op.VectorShuffle)
def vector_shuffle(group: Group) -> Findings:
    one, two, result = group.value(0), group.value(1), group.result
    yield ~result.is_kind(Op.TypeVector), "the result of {op} is a vector, not {type}"
    for place, operand in ((0, one), (1, two)):
        yield result.is_kind(Op.TypeVector) & (~operand.is_kind(Op.TypeVector) | (operand.element != result.element)), \
            f"{{op}} picks components of {{type}} from vectors of them, not from {{type{place}}}"
    yield result.is_kind(Op.TypeVector) & (group.size - 2 != result.length), \
        "{op} names another number of components than {type} has"
    available = one.length + two.length
    for place in group.places(2):
        literal = group.word(place)
        yield group.has(place) & (available > 0) & (literal >= available) & (literal != NO_COMPONENT), \
            f"{{op}} picks component {{word{place}}}, but {{type0}} and {{type1}} have fewer"


@rule("vector-dynamic", "Dynamic extraction and insertion work on vectors, with an integer index.",
      f"{SECTION}; SPV_KHR_cooperative_matrix",
      Op.VectorExtractDynamic, Op.VectorInsertDynamic)
def vector_dynamic(group: Group) -> Findings:
    inserts = group.opcode == Op.VectorInsertDynamic
    vector, part, place = (group.value(0), group.value(1) if inserts else group.result, 2 if inserts else 1)
    yield ~vector.is_kind(Op.TypeVector), "{op} works on a vector, not on {type0}"
    yield vector.is_kind(Op.TypeVector) & (vector.element != part), \
        "the component of {op} is " + ("{type1}" if inserts else "{type}") + "; those of {type0} have another type"
    if inserts:
        yield group.result != vector, "{op} into {type0} gives a value of that type, not {type}"
    yield ~group.value(place).is_kind(Op.TypeInt), f"the index of {{op}} is an integer, not {{type{place}}}"


@rule("copy-object", "A copy has the type of what is copied.", SECTION, Op.CopyObject)
def copy_object(group: Group) -> Findings:
    yield group.result.is_kind(Op.TypeVoid) | (group.value(0) != group.result), \
        "{op} of {type0} gives a value of that type, not {type}"


@rule("copy-logical", "A logical copy is between two types that differ, but are made alike.", SECTION, Op.CopyLogical)
def copy_logical(group: Group) -> Findings:
    view = group.view
    yield group.value(0) == group.result, "{op} between equal types, {type}: OpCopyObject does that"
    for offset, index, _ in group.each():
        item = view.items[index]
        given = int(view.type_id[view.defined_by[item.words[0]]])
        if given != item.type_id and not _alike(view, given, item.type_id or 0):
            yield group.only(offset), "{op} cannot turn {type0} into {type}: both must be structures, or arrays of " \
                                      "one length, of types that are equal or alike"


def _alike(view: ModuleView, one: int, other: int) -> bool:
    """Whether two types are arrays or structures of types that are equal or alike themselves."""
    waiting, seen = [(one, other)], set()
    while waiting:
        pair = waiting.pop()
        if pair[0] == pair[1] or pair in seen:
            continue
        seen.add(pair)
        first, second = view.definition(pair[0]), view.definition(pair[1])
        if first.opcode != second.opcode or len(first.words) != len(second.words):
            return False
        if first.opcode == Op.TypeStruct:
            waiting += zip(first.words, second.words, strict=True)
        elif first.opcode == Op.TypeArray and first.words[1] == second.words[1]:
            waiting.append((first.words[0], second.words[0]))
        else:
            return False
    return True


@rule("freeze-type", "Freezing keeps the type of a value.", "SPV_KHR_poison_freeze", Op.FreezeKHR)
def freeze_type(group: Group) -> Findings:
    yield group.value(0) != group.result, "{op} of {type0} gives a value of that type, not {type}"


@rule("select-types", "OpSelect chooses between two values of its result type by booleans.",
      "SPIR-V 3.3.15 Relational and Logical Instructions; SPV_KHR_cooperative_matrix", Op.Select)
def select_types(group: Group) -> Findings:
    condition, result = group.value(0), group.result
    yield ~condition.scalars_of(Op.TypeBool), "the condition of {op} is a boolean or a vector of booleans, not {type0}"
    for place in (1, 2):
        yield group.value(place) != result, f"{{op}} chooses {{type{place}}} for a result of {{type}}"
    vector = condition.is_kind(Op.TypeVector)
    yield vector & (condition.components != result.components), \
        "{op} by {type0} gives a vector of as many components, not {type}"
    selectable = result.is_scalar | result.is_pointer | result.is_kind(Op.TypeVector)
    composite = result.is_kind(Op.TypeMatrix, Op.TypeArray, Op.TypeStruct, Op.TypeCooperativeMatrixKHR)
    before = group.view.module.version < 0x10400
    if not group.view.declared.unknown:  # which may allow more
        yield ~selectable & ~composite, "{op} cannot choose between values of {type}"
    yield composite & before, "{op} of {type} is possible from SPIR-V 1.4 on"
    yield (result.is_kind(Op.TypeVector) & ~vector) & before, \
        "{op} of {type} by one boolean is possible from SPIR-V 1.4 on"


@rule("transpose", "OpTranspose turns columns into rows.", SECTION, Op.Transpose)
def transpose(group: Group) -> Findings:
    given, result = group.value(0), group.result
    good = given.is_kind(Op.TypeMatrix) & result.is_kind(Op.TypeMatrix)
    yield ~good, "{op} turns a matrix into a matrix, not {type0} into {type}"
    yield good & ((given.length != result.element.length) | (result.length != given.element.length)
                  | (given.element.element != result.element.element)), \
        "{op} of {type0} gives a matrix whose columns are its rows, not {type}"
