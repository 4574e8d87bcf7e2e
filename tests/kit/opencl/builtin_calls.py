"""Calls of every built-in function of OpenCL C as statements of kernels, made from the tables of the functions.

A row of the table is called with its types, and with every value of an operand that is a flag or an enumerator. What
the table does not say (that an index must lie in an array, that work-items must agree) stands in :data:`ARGUMENTS`;
functions that want more than arguments have statements of their own in :data:`STATEMENTS`.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from coopmat.devices.subgroup_matrices import SubgroupMatrixMad
from coopmat.opencl.builtins import PRINTF, TABLE, compiler_calls, conversions
from coopmat.opencl.builtins.matrices import calls as matrix_calls
from coopmat.opencl.builtins.matrices.types import ENUMERATIONS
from coopmat.opencl.builtins.matrix_mad import COMBINATIONS
from coopmat.opencl.builtins.memory import ROUNDING_MODES
from coopmat.opencl.builtins.patterns import COUNTS, Overload, PointerPattern, expand
from coopmat.opencl.builtins.predefined_types import ENUM_CONSTANTS, MEMORY_ORDER, MEMORY_SCOPE
from coopmat.tree.types import BOOL, FLOAT, SCALARS, VOID, AddressSpace, Scalar, Type, size_of

WORK_ITEMS, SUB_GROUP = 32, 16


@dataclass(frozen=True)
class Probe:
    """A call, as a block of statements; ``id`` is the local id.

    ``results``: name, element type and count of what each work-item leaves for the comparison. The name is declared as
    a pointer to global memory of its own; ``<name>_group`` points to what the first work-item of its sub-group has.
    """

    shown: str
    statements: str
    results: tuple[tuple[str, str, int], ...] = ()
    sub_group_size: int = SUB_GROUP


def random_value(type_: Type | str, index: int) -> str:
    """A random value of a type; each index has values of its own."""
    return f"IN({type_}, {index})"


# ------------------------------------------------------------------ the values of operands

FENCES = ("CLK_LOCAL_MEM_FENCE", "CLK_GLOBAL_MEM_FENCE", "CLK_IMAGE_MEM_FENCE")


def _names(enumeration: object) -> list[str]:
    return [name for name, (of, _) in ENUM_CONSTANTS.items() if of is enumeration]


def combinations(flags: Iterable[str], none: str = "0") -> list[str]:
    """Every combination of flags, none of them included."""
    known = tuple(flags)
    return [" | ".join(chosen) or none for count in range(len(known) + 1)
            for chosen in itertools.combinations(known, count)]


ENUMERATED: dict[str, list[str]] = {
    "cl_mem_fence_flags": combinations(FENCES), "memory_order": _names(MEMORY_ORDER),
    "memory_scope": _names(MEMORY_SCOPE),
}
"""The values of an operand, by the type's name in a row's signature."""

_ACQUIRING = {"memory_order_acquire", "memory_order_acq_rel"}
_RELEASING = {"memory_order_release", "memory_order_acq_rel"}
FORBIDDEN_ORDERS = (
    ("atomic_(store|flag_clear)_explicit", 0, _ACQUIRING), ("atomic_load_explicit", 0, _RELEASING),
    (r"atomic_compare_exchange_\w+_explicit", 1, _RELEASING),
)
"""Function, place among its orders, and the orders that cannot stand there (OpenCL C 6.15.12.7)."""

ARGUMENTS: tuple[tuple[str, int, tuple[str, ...]], ...] = (
    ("get_(global|local|enqueued_local)_(size|id|offset)|get_(num_groups|group_id)", 0, ("0", "1", "2", "3", "id")),
    ("v(load|store)a?(_half)?.*", 0, ("id & 1",)),
    ("vstorea?(_half)?.*", 1, ("id & 1",)),
    ("prefetch", 1, ("4",)),
    ("(intel_)?sub_group_broadcast", 1, ("3",)),
    ("sub_group_non_uniform_broadcast", 1, ("3", "get_num_groups(0) + 4")),
    ("work_group_broadcast", 1, ("5", "get_num_groups(0)")),
    ("work_group_broadcast", 2, ("0",)),
    ("work_group_broadcast", 3, ("0",)),
    ("(intel_)?sub_group_shuffle(_xor)?", 1, ("id * 5 & 7",)),
    ("sub_group_shuffle_down", 1, ("~id & 1",)),
    ("sub_group_shuffle_up", 1, ("id & 1",)),
    ("intel_sub_group_shuffle_(up|down)", 2, ("0", "5")),
    ("sub_group_(clustered_)?rotate", 1, ("-3", "2")),
    ("sub_group_clustered_reduce_.*", 1, ("1", "2", "4", "8", "16")),
    ("sub_group_clustered_rotate", 2, ("1", "2", "4", "8", "16")),
    ("sub_group_inverse_ballot", 0, ("(uint4)(0xa5c3, 0, 0, 0)",)),
    ("sub_group_ballot_bit_extract", 1, ("id & 7",)),
    ("sub_group_ballot_find_.sb", 0, ("sub_group_ballot(id & 5)",)),
    ("dot_acc_sat", 0, ("{0} / ({1})4",)),  # products and their sum must not overflow
)
"""Function, place, and the arguments to call it with there, where not just any value will do."""


def terms(overload: Overload) -> list[str]:
    """The terms of the parameters in the row's signature."""
    return [term.strip() for term in overload.row.signature.partition("(")[2].rstrip(")").split(",") if term.strip()]


def arguments(overload: Overload, index: int) -> Sequence[str]:
    """The arguments to call a function with at a place."""
    parameter, term = overload.parameters[index], terms(overload)[index]
    if isinstance(parameter, PointerPattern):
        return [f"p{index}"]
    if term in ENUMERATED:
        return ENUMERATED[term]
    for name, place, values in ARGUMENTS:
        if place == index and "gen" not in term and re.fullmatch(name, overload.name):
            return [value.format(random_value(parameter, index), parameter) for value in values]
    if overload.row in COMBINATIONS:
        return [_packed_value(COMBINATIONS[overload.row], parameter, index)]
    return [random_value(parameter, index)]


_BELOW_ONE = {"fp16": 0x3bff, "bf16": 0x3f7f}


def _packed_value(mad: SubgroupMatrixMad, type_: Type, index: int) -> str:
    """An operand of a sub-group matrix function; 16-bit floating-point elements in integers are numbers below 1."""
    limit = _BELOW_ONE.get((mad.a, mad.b, mad.accumulator)[index])
    element = type_.element
    assert isinstance(element, Scalar)
    if limit is None or element.is_float:
        return random_value(type_, index)
    mask = limit | limit << 16 if element.bits == 32 else limit
    return f"({type_})({random_value(type_, index)} & ({type_}){mask:#x})"


def _is_allowed(overload: Overload, values: Sequence[str]) -> bool:
    orders = [value for value in values if value in ENUMERATED["memory_order"]]
    return not any(orders[place:place + 1] and orders[place] in forbidden
                   for name, place, forbidden in FORBIDDEN_ORDERS if re.fullmatch(name, overload.name))


# ------------------------------------------------------------------ calls of rows of the table


def of_overload(overload: Overload, complete: bool) -> Iterator[Probe]:
    """Calls with all values of the operands, or with all their combinations, and with pointers to all address
    spaces."""
    for name, statements in STATEMENTS.items():
        if re.fullmatch(name, overload.name):
            yield from statements(overload, complete)
            return
    pointers = {index: sorted(one.spaces, key=lambda space: space.value)
                for index, one in enumerate(overload.parameters) if isinstance(one, PointerPattern)}
    values = argument_lists(overload, complete)
    for number in range(max(len(values), *map(len, pointers.values())) if pointers else len(values)):
        spaces = {index: choices[number % len(choices)] for index, choices in pointers.items()}
        yield _call(overload, values[number % len(values)], spaces)


def argument_lists(overload: Overload, complete: bool) -> list[tuple[str, ...]]:
    """The argument lists to call a function with: all combinations, or enough of them for each value to occur."""
    choices = [arguments(overload, index) for index in range(len(overload.parameters))]
    found = [given for given in itertools.product(*choices) if _is_allowed(overload, given)]
    if complete:
        return found
    needed, chosen = {(index, value) for given in found for index, value in enumerate(given)}, []
    while needed:
        best = max(found, key=lambda given: len(needed & set(enumerate(given))))
        chosen.append(best)
        needed -= set(enumerate(best))
    return chosen or found


def _call(overload: Overload, values: Sequence[str], spaces: dict[int, AddressSpace]) -> Probe:
    """A call; what it returns is ``r``, the object behind the pointer ``p<n>`` is ``r<n>``."""
    text = f"{overload.name}({', '.join(values)})"
    before, after, results = "", "", []
    width = 4 if overload.count == 3 else overload.count
    count = 2 * width if "size_t" in terms(overload) else 1  # at the offsets 0 and 1
    for index, space in spaces.items():
        pattern = overload.parameters[index]
        assert isinstance(pattern, PointerPattern)
        element = FLOAT if pattern.pointee == VOID else pattern.pointee
        first, last = _object(str(element), space, index, count, "const " * pattern.const)
        before, after = f"{before}{first} ", f"{after}{last} "
        results.append((f"r{index}", str(element), count))
    if overload.result != VOID:
        results.append(("r", "int" if overload.result == BOOL else str(overload.result), 1))
        text = f"*r = {text}"
    size = COMBINATIONS[overload.row].sub_group_size if overload.row in COMBINATIONS else SUB_GROUP
    return Probe(f"{overload}: {text} {' '.join(map(str, spaces.values()))}", f"{before}{text}; {after}",
                 tuple(results), size)


def _object(element: str, space: AddressSpace, index: int, count: int, const: str) -> tuple[str, str]:
    """Statements before a call, which declare the pointer ``p<index>`` to an object with values, and after it."""
    target = f"r{index}"
    home = {AddressSpace.PRIVATE: f"{element} o{index}[{count}];",
            AddressSpace.LOCAL: f"local {element} *o{index} = (local {element} *)shared + id * {count};",
            AddressSpace.CONSTANT: f"constant {element} *o{index} = (constant {element} *)numbers;"}
    qualifier = "" if space is AddressSpace.GENERIC else f"{space} "
    if space not in home:
        return f"{_each(count, f'{target}[i] = {random_value(element, index)}')} " \
               f"{qualifier}{const}{element} *p{index} = {target};", ""
    fill = "" if space is AddressSpace.CONSTANT else _each(count, f"o{index}[i] = {random_value(element, index)}")
    return f"{home[space]} {fill} {qualifier}{const}{element} *p{index} = o{index};", \
        _each(count, f"{target}[i] = o{index}[i]")


def _each(count: int, statement: str) -> str:
    return f"for (int i = 0; i < {count}; ++i) {statement};"


# ------------------------------------------------------------------ calls that want statements of their own


def _split_barrier(overload: Overload, complete: bool) -> Iterator[Probe]:
    """Both halves of a barrier with the same operands."""
    for values in argument_lists(overload, complete):
        given = ", ".join(values)
        text = f"intel_work_group_barrier_arrive({given}); intel_work_group_barrier_wait({given});"
        yield Probe(f"{overload}: {text}", text)


def _cast(overload: Overload, complete: bool) -> Iterator[Probe]:
    """to_global and its like: the same pointer, or null."""
    (pattern,) = overload.parameters
    assert isinstance(pattern, PointerPattern)
    for space in sorted(pattern.spaces, key=lambda space: space.value):
        first, last = _object("float", space, 0, 1, "")
        text = f"float *g = p0; *r = {overload.name}(p0) ? {overload.name}(p0) == g : 2;"
        yield Probe(f"{overload}: {text} {space}", f"{first} {text} {last}", (("r0", "float", 1), ("r", "int", 1)))


def _block(overload: Overload, complete: bool) -> Iterator[Probe]:
    """A one-dimensional block, read from or written to what the sub-group's work-items filled one by one."""
    pattern = overload.parameters[0]
    assert isinstance(pattern, PointerPattern)
    element, count = str(pattern.pointee), overload.count
    fill, base, copy = _each(count, f"r0[i] = {random_value(element, 0)}"), "r0_group", ""
    if AddressSpace.LOCAL in pattern.spaces:
        mine = f"((local {element} *)shared + id * {count})"
        fill, copy = _each(count, f"{mine}[i] = {random_value(element, 0)}"), _each(count, f"r0[i] = {mine}[i]")
        base = f"({mine} - get_sub_group_local_id() * {count})"
    results = [("r0", element, count)]
    if overload.result != VOID:
        text = f"*r = {overload.name}({base});"
        results.append(("r", str(overload.result), 1))
    else:
        text = f"{overload.name}({base}, {random_value(overload.parameters[1], 3)});"  # type: ignore[arg-type]
    synchronize = "sub_group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);"
    yield Probe(f"{overload}: {text}", f"{fill} {synchronize} {text} {synchronize} {copy}", tuple(results))


def _block_2d(overload: Overload, complete: bool) -> Iterator[Probe]:
    """A two-dimensional block that sticks out of its surface, and one within it."""
    for at in ("(int2)(-4, -1)", "(int2)(0, 1)") if complete else ("(int2)(-4, -1)",):
        surface = f"256, 8, 256, {at}"
        if len(overload.parameters) == 5:
            yield Probe(str(overload), f"{overload.name}(in, {surface});")
            continue
        pattern = overload.parameters[5]
        assert isinstance(pattern, PointerPattern)
        element, count = str(pattern.pointee), 128 // size_of(pattern.pointee)
        data = f"{element} o[{count}];"
        if pattern.const:
            text = f"{overload.name}(r_group, {surface}, o);"
            yield Probe(f"{overload}: {text}", f"{data} {_each(count, f'o[i] = {random_value(element, 0)}')} {text}",
                        (("r", "uchar", 128),))
        else:
            text = f"{overload.name}(in, {surface}, o);"
            yield Probe(f"{overload}: {text}",
                        f"{data} {_each(count, 'o[i] = 0')} {text} {_each(count, 'r[i] = o[i]')}",
                        (("r", element, count),))


_GROUP_BARRIER = "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);"


def _asynchronous_copy(overload: Overload, complete: bool) -> Iterator[Probe]:
    """A copy by the work-group, between global memory and the beginning of ``shared``."""
    destination = overload.parameters[0]
    assert isinstance(destination, PointerPattern)
    element, strided = str(destination.pointee), "strided" in overload.name
    count, more = (WORK_ITEMS // 2, ", 2") if strided else (WORK_ITEMS, "")
    local = f"(local {element} *)shared"
    if AddressSpace.LOCAL in destination.spaces:
        start, give = f"({local})[id] = 0;", f"*r = ({local})[id];"
        text = f"{overload.name}({local}, (global const {element} *)in, {count}{more}, 0)"
    else:
        start, give = f"({local})[id] = {random_value(element, 0)};", ""
        text = f"{overload.name}(r - id, {local}, {count}{more}, 0)"
    statements = f"{_GROUP_BARRIER} {start} {_GROUP_BARRIER} event_t e = {text}; wait_group_events(1, &e); " \
                 f"{_GROUP_BARRIER} {give}"
    yield Probe(f"{overload}: {text}", statements, (("r", element, 1),))


def _wait(overload: Overload, complete: bool) -> Iterator[Probe]:
    """Waiting for several copies, with each kind of pointer to the events."""
    for pointer in ("event_t *p", "private event_t *p"):
        text = "event_t e[2]; e[0] = async_work_group_copy((local int *)shared, (global const int *)in, 16, 0); " \
               "e[1] = async_work_group_copy((local int *)shared + 16, (global const int *)in + 32, 16, e[0]); " \
               f"{pointer} = e; wait_group_events(2, p);"
        yield Probe(f"{overload}: {pointer}",
                    f"{_GROUP_BARRIER} {text} {_GROUP_BARRIER} *r = ((local int *)shared)[id];", (("r", "int", 1),))


STATEMENTS: dict[str, Callable[[Overload, bool], Iterator[Probe]]] = {
    "intel_work_group_barrier_(arrive|wait)": _split_barrier,
    "to_(global|local|private)": _cast,
    "intel_sub_group_block_(read|write).*": _block,
    "intel_sub_group_2d_block_.*": _block_2d,
    "async_work_group_(strided_)?copy": _asynchronous_copy,
    "wait_group_events": _wait,
}
"""Functions, and what makes their calls."""


def of_table(*, complete: bool) -> Iterator[Probe]:
    """Calls of every function of the table: of all overloads, or of one for each row that declares the function."""
    number = 0
    for family in TABLE.values():
        for row, counts in family.members:
            overloads = expand(row, family.name, counts)
            number += 1
            for overload in overloads if complete else [overloads[number % len(overloads)]]:
                yield from of_overload(overload, complete)


# ------------------------------------------------------------------ functions without rows

_SPARE_RECORD = "struct S { int a; float4 b[3]; };"
COMPILER: dict[str, tuple[str, ...]] = {
    "__builtin_assume": ("__builtin_assume(id < 32); *r = id",),
    "__builtin_assume_aligned": ("*r = *(global const int *)__builtin_assume_aligned(in, 64)",
                                 "*r = *(global const int *)__builtin_assume_aligned(in + 4, 64, 4)"),
    "__builtin_constant_p": ("*r = __builtin_constant_p(3) + __builtin_constant_p(id)",),
    "__builtin_expect_with_probability": ("*r = __builtin_expect_with_probability(id, 1, 0.5)",),
    "__builtin_FILE": ("*r = __builtin_FILE()[0] != 0",),
    "__builtin_FUNCTION": ("*r = __builtin_FUNCTION()[0]",),
    "__builtin_LINE": ("*r = __builtin_LINE() > 0",),
    "__builtin_nan": ('*r = isnan(__builtin_nan(""))',),
    "__builtin_nanf": ('*r = isnan(__builtin_nanf(""))',),
    "__builtin_nontemporal_load": ("*r = __builtin_nontemporal_load((global const int *)in + id)",),
    "__builtin_nontemporal_store": ("__builtin_nontemporal_store(id * 2, r)",),
    "__builtin_prefetch": tuple(f"__builtin_prefetch(in{more}); *r = 0" for more in ("", *(
        f", {writes}, {locality}" for writes in range(2) for locality in range(4)))),
    "__builtin_shufflevector": ("int4 v = IN(int4, 0); *r = __builtin_shufflevector(v, v, 7, 0, -1, 2).y",
                                "int4 v = IN(int4, 0); *r = __builtin_shufflevector(v, IN(int4, 1)).y"),
    "__builtin_trap": ("if (id > 99) __builtin_trap(); *r = id",),
    "__builtin_unreachable": ("if (id > 99) __builtin_unreachable(); *r = id",),
    "__builtin_astype": ("*r = __builtin_astype(IN(float, 0), int)",),
    "__builtin_choose_expr": ("*r = __builtin_choose_expr(1, id, in)",),
    "__builtin_convertvector": ("*r = __builtin_convertvector(IN(float4, 0), int4).x",),
    "__builtin_offsetof": (f"{_SPARE_RECORD} *r = __builtin_offsetof(struct S, b[2])",
                           f"{_SPARE_RECORD} *r = __builtin_offsetof(struct S, b[id])"),
    "__builtin_types_compatible_p": ("*r = __builtin_types_compatible_p(int, const int)",),
    PRINTF: ('*r = printf("")',),
}
"""Statements for the functions that look at their arguments themselves."""
assert COMPILER.keys() == compiler_calls.NAMES | {PRINTF}, COMPILER.keys() ^ compiler_calls.NAMES


def of_compiler() -> Iterator[Probe]:
    """Calls of the functions that have handlers of their own."""
    return (Probe(text, f"{text};", (("r", "int", 1),)) for texts in COMPILER.values() for text in texts)


_ELEMENTS = conversions._ELEMENTS.split("|")


def of_conversions(*, complete: bool) -> Iterator[Probe]:
    """``convert_<type>[_sat][_rt?]`` from each type, ``as_<type>`` from each of its size: all of them on vectors of
    each length, or some in turn."""
    modes = ("", *(f"_{mode}" for mode in ROUNDING_MODES))
    for number, (source, target) in enumerate(itertools.product(_ELEMENTS, repeat=2)):
        for count in COUNTS if complete else (COUNTS[number % len(COUNTS)],):
            suffix = str(count) if count > 1 else ""
            names = [f"convert_{target}{suffix}{saturating}{mode}" for saturating in ("", "_sat") for mode in modes]
            if size_of(SCALARS[source]) == size_of(SCALARS[target]):
                names.append(f"as_{target}{suffix}")
            names = list(filter(conversions.is_conversion, names))
            for name in names if complete else names[number % len(names):][:1]:
                value = random_value(f"{source}{suffix}", 0)
                if "convert" in name and "_sat" not in name and SCALARS[source].is_float:
                    value = f"fabs({value})"  # an unsigned integer has no negative numbers
                text = f"*r = {name}({value});"
                yield Probe(text, text, (("r", f"{target}{suffix}", 1),))
    for name, type_ in conversions._AS_SIZE.items():
        text = f"*r = {name}({random_value('double', 0)});"
        yield Probe(text, text, (("r", str(type_), 1),))


# ------------------------------------------------------------------ matrices

ROWS, COLUMNS = 16, 16
PER_ITEM = ROWS * COLUMNS // SUB_GROUP
_SCOPES, _USES, _LAYOUTS, _OPERANDS, _AXES, _COMBINED = (
    list(ENUMERATIONS[f"coop_matrix_{name}_t"]) for name in ("scope", "use", "layout", "operands", "reduce", "combine"))
_MATRIX_ELEMENTS = (*_ELEMENTS, "__bf16")
_A, _B, _C = ("CLK_COOPERATIVE_MATRIX_A", "CLK_COOPERATIVE_MATRIX_B", "CLK_COOPERATIVE_MATRIX_ACCUMULATOR")
_PLAIN = "CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR"
_PACKED = "CLK_COOPERATIVE_MATRIX_LAYOUT_PACKED_INTEL"


def matrix(element: str, use: str, name: str, scope: str = "CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP") -> str:
    """The declaration of a matrix."""
    return f"{element} __attribute__((coop_mat({scope}, {ROWS}, {COLUMNS}, {use}))) {name}"


def _loaded(element: str, use: str, name: str, index: int) -> str:
    """A matrix of random values."""
    return f"{matrix(element, use, name)} = coop_mat_load(&{random_value(element, index)} - id, {_PLAIN}, {COLUMNS});"


def _matrix_probe(element: str, statements: str, result: str = "m", place: str = "r_group") -> Probe:
    """The matrix ``result`` in memory."""
    return Probe(statements, f"{statements} coop_mat_store({place}, {result}, {_PLAIN}, {COLUMNS});",
                 (("r", element, PER_ITEM),))


def _loads(complete: bool) -> Iterator[Probe]:
    for scope in _SCOPES:
        place = f"r - id * {PER_ITEM}" if scope.endswith("WORKGROUP") else "r_group"
        yield _matrix_probe("int", f"{matrix('int', _USES[0], 'm', scope)} = coop_mat_init(7);", place=place)
    cases = itertools.product(_MATRIX_ELEMENTS, _USES, _LAYOUTS, ("global ", "local ", ""))
    for number, (element, use, layout, space) in enumerate(cases):
        if not _has_layout(element, use, layout) or not (complete or number % 5 == 0):
            continue
        source = f"global const {element} *p = (global const {element} *)in;"
        if space == "local ":
            source = f"{_GROUP_BARRIER} for (int i = id; i < {ROWS * COLUMNS}; i += {WORK_ITEMS}) " \
                     f"((local {element} *)shared)[i] = ((global const {element} *)in)[i]; {_GROUP_BARRIER} " \
                     f"local const {element} *p = (local {element} *)shared;"
        elif not space:
            source = f"const {element} *p = (global const {element} *)in;"
        loaded = f"coop_mat_load(p, {layout}, {_stride(element, use, layout)})"
        yield _matrix_probe(element, f"{source} {matrix(element, use, 'm')} = {loaded};")


def _size(element: str) -> int:
    return 2 if element == "__bf16" else size_of(SCALARS[element])


def _has_layout(element: str, use: str, layout: str) -> bool:
    """Elements of A and B can be packed into 32 bits."""
    return layout != _PACKED or (_size(element) < 4 and use != _C)


def _stride(element: str, use: str, layout: str) -> int:
    """In elements; a packed row of B is that of several rows."""
    return COLUMNS * (4 // _size(element) if (use, layout) == (_B, _PACKED) else 1)


def _stores(complete: bool) -> Iterator[Probe]:
    for number, (element, use, layout) in enumerate(itertools.product(_MATRIX_ELEMENTS, _USES, _LAYOUTS)):
        if _has_layout(element, use, layout) and (complete or number % 4 == 0):
            stored = f"coop_mat_store(r_group, m, {layout}, {_stride(element, use, layout)});"
            text = f"{_loaded(element, use, 'm', 0)} {stored}"
            yield Probe(text, text, (("r", element, PER_ITEM),))


_KINDS = tuple(text.split() for text in (
    "char uchar int", "uchar char uint", "char char char", "short short long", "half half float", "half half half",
    "__bf16 __bf16 float", "float float float", "double double double"))


def _products(name: str, counts: Sequence[int]) -> Callable[[bool], Iterator[Probe]]:
    """With all combinations of flags on 8-bit integers, and, in the complete form, each flag on every kind."""
    def make(complete: bool) -> Iterator[Probe]:
        for a, b, c in _KINDS:
            declared = " ".join(_loaded(element, use, each, index) for index, (element, use, each) in enumerate(
                ((a, _A, "a"), (b, _B, "b"), (c, _C, "c"))))
            operands = combinations(_OPERANDS[1:], _OPERANDS[0]) if c == "int" else _OPERANDS[:None if complete else 1]
            given = [f", {operand}" for operand in operands if 4 in counts] + [""] * (3 in counts)
            for operand in given:
                yield _matrix_probe(c, f"{declared} c = {name}(a, b, c{operand});", "c")
    return make


def _inits(complete: bool) -> Iterator[Probe]:
    for element, use in itertools.product(_MATRIX_ELEMENTS, _USES):
        yield _matrix_probe(element, f"{matrix(element, use, 'm')} = coop_mat_init(3);")


def _conversions(complete: bool) -> Iterator[Probe]:
    cases = itertools.product(_MATRIX_ELEMENTS, _MATRIX_ELEMENTS, _USES, _USES)
    for number, (source, target, before, use) in enumerate(cases):
        if complete or number % 19 == 0:
            # small numbers, that every type has
            start = f"{matrix(source, before, 's')} = coop_mat_init(5);"
            yield _matrix_probe(target, f"{start} {matrix(target, use, 'm')} = coop_mat_convert(s);")


def _transposes(complete: bool) -> Iterator[Probe]:
    for number, (element, before, use) in enumerate(itertools.product(_MATRIX_ELEMENTS, _USES, _USES)):
        if complete or number % 3 == 0:
            yield _matrix_probe(element, f"{_loaded(element, before, 's', 0)} "
                                         f"{matrix(element, use, 'm')} = coop_mat_transpose(s);")


def _reductions(complete: bool) -> Iterator[Probe]:
    for number, (element, axis, combined) in enumerate(itertools.product(_MATRIX_ELEMENTS, _AXES, _COMBINED)):
        if not complete and number % 5:
            continue
        yield _matrix_probe(element, f"{_loaded(element, _C, 'm', 0)} m = coop_mat_reduce(m, {axis}, {combined});")


PLACED = "placed"
"""A function of the program, overloaded for all elements, that coop_mat_apply calls."""


def _applications(complete: bool) -> Iterator[Probe]:
    for element, use in itertools.product(_MATRIX_ELEMENTS, _USES):
        start = f"{_loaded(element, use, 'm', 0)} {_loaded(element, use, 'o', 1)}"
        yield _matrix_probe(element, f"{start} m = coop_mat_apply(m, {PLACED}, 3, o);")
        built_in = "fmax" if element in ("half", "float", "double", "__bf16") else "max"
        yield _matrix_probe(element, f"{start} m = coop_mat_apply(m, {built_in}, o);")


_WITH_EFFECTS = "(intel_)?(sub|work)_group_.*|.*atomic.*|.*block_(read|write).*|read_.*"


def of_elements(*, complete: bool) -> Iterator[Probe]:
    """Built-in functions of scalars, of matrices of each element type that they take, or of one of these."""
    for family in TABLE.values():
        for row, counts in family.members:
            found = [overload for overload in expand(row, family.name, counts) if _takes_elements(overload)]
            for overload in found if complete else found[len(family.name) % (len(found) or 1):][:1]:
                element = str(overload.parameters[0])
                names = [f"m{index}" for index in range(len(overload.parameters))]
                start = " ".join(_loaded(element, _C, name, index) for index, name in enumerate(names))
                yield _matrix_probe(element, f"{start} m0 = {overload.name}({', '.join(names)});", "m0")


def _takes_elements(overload: Overload) -> bool:
    """Whether a function of scalars gives an element of several."""
    first, result = next(iter(overload.parameters), None), overload.result
    return isinstance(first, Scalar) and isinstance(result, Scalar) and str(first) in _MATRIX_ELEMENTS \
        and all(parameter == first for parameter in overload.parameters) \
        and (result == first or (result.is_integer and first.is_integer and result.bits == first.bits)) \
        and not re.fullmatch(_WITH_EFFECTS, overload.name)


def _components(complete: bool) -> Iterator[Probe]:
    """Every component goes where coop_mat_get_coord says that it stands."""
    for element, use in itertools.product(_MATRIX_ELEMENTS, _USES):
        text = f"{_loaded(element, use, 'm', 0)} for (uint i = 0; i < coop_mat_length(m); ++i) " \
               f"{{ int2 at = coop_mat_get_coord(m, i); r_group[at.x * {COLUMNS} + at.y] = m[i]; }}"
        yield Probe(text, text, (("r", element, PER_ITEM),))


MATRIX: dict[str, Callable[[bool], Iterator[Probe]]] = {
    "coop_mat_load": _loads,
    "coop_mat_store": _stores,
    **{name: _products(name, matrix_calls.FUNCTIONS[name].counts) for name in ("coop_matmul_add", "coop_mat_mulAdd")},
    "coop_mat_init": _inits,
    "coop_mat_convert": _conversions,
    "coop_mat_transpose": _transposes,
    "coop_mat_reduce": _reductions,
    "coop_mat_apply": _applications,
    "coop_mat_length": _components,
    "coop_mat_get_coord": _components,
}
"""What makes the calls of a function of the cooperative matrix extension."""
assert MATRIX.keys() == matrix_calls.FUNCTION_NAMES, MATRIX.keys() ^ matrix_calls.FUNCTION_NAMES


def of_matrices(*, complete: bool) -> Iterator[Probe]:
    """Calls of the functions of the cooperative matrix extension."""
    made = (make(complete) for make in dict.fromkeys(MATRIX.values()))
    return itertools.chain(*made, of_elements(complete=complete))


def every_call(*, complete: bool) -> list[Probe]:
    """Calls of all built-in functions: each once, or with every overload."""
    return [*of_table(complete=complete), *of_compiler(), *of_conversions(complete=complete),
            *of_matrices(complete=complete)]
