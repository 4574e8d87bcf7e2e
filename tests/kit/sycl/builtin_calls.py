"""Calls of everything that a Python kernel can call, as lines of kernels, made from the compiler's tables.

A function on numbers is called with each type that it takes; for the others, which take groups, matrices or
enumerators, :data:`OTHERS` has what makes the calls. A function that is in no table here is a failure.
"""

from __future__ import annotations

import dataclasses
import inspect
import itertools
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from coopmat.runtime.element_types import BY_FORMAT, VALUE_TYPES, ElementType, boolean
from coopmat.sycl import enumerations, math_functions
from coopmat.sycl.compiler.builtins import DEVICE_FUNCTIONS, PYTHON_FUNCTIONS, groups, work_items
from coopmat.sycl.compiler.builtins.atomics import _DEFAULTS, _ELEMENTS, _METHODS, _OPERATORS, _UPDATES
from coopmat.sycl.math_functions import FUNCTIONS, Domain
from coopmat.sycl.pointers import annotated_ptr
from coopmat.sycl.properties import LOAD_CONTROLS, STORE_CONTROLS
from coopmat.tree.matrices import AXES, COMBINATIONS

WORK_ITEMS, SUB_GROUP = 32, 16
NUMBERS = tuple(type_ for type_ in VALUE_TYPES if type_ is not boolean)
_FLOATS = tuple(type_ for type_ in NUMBERS if type_.scalar.is_float)
_INTEGERS = tuple(type_ for type_ in NUMBERS if not type_.scalar.is_float)
_EXACT = tuple(type_ for type_ in _FLOATS if type_.name != "bfloat16")


@dataclass(frozen=True)
class Probe:
    """A call, as lines of a kernel, in which ``{0}`` is a pointer to what the first result is left in, and ``{n}`` a
    number that no other call has. ``results`` are the results' element types."""

    lines: tuple[str, ...]
    results: tuple[str, ...]

    @property
    def shown(self) -> str:
        """The lines, as messages show them."""
        return "; ".join(self.lines)


@dataclass
class Pair:
    """What dataclasses.replace changes."""

    x: int
    y: int


def value(type_: ElementType | str, index: int = 0) -> str:
    """A random value of a type; each index has values of its own."""
    return f"i_{type_}[lane + {WORK_ITEMS * index}]"


def of(expression: str, type_: ElementType | str) -> Probe:
    """An expression of a type."""
    return Probe((f"{{0}}[lane] = {expression}",), (str(type_),))


# ------------------------------------------------------------------ functions on numbers

DOMAINS: dict[Domain, tuple[ElementType, ...]] = {
    Domain.FLOATING: _FLOATS, Domain.REPRESENTATION: _EXACT,
    Domain.SINGLE: tuple(type_ for type_ in _FLOATS if type_.name == "float32"), Domain.INTEGER: _INTEGERS,
    Domain.INTEGER_32: tuple(type_ for type_ in _INTEGERS if type_.scalar.bits <= 32), Domain.NUMBER: NUMBERS,
    Domain.BITS: (*_INTEGERS, *_EXACT), Domain.GEOMETRIC: _EXACT,
}
"""The types that a function takes."""


def on_numbers() -> Iterator[Probe]:
    """SYCL's functions with each type."""
    for name, function in FUNCTIONS.items():
        if function.domain is Domain.GEOMETRIC:
            continue
        parameters = function.signature.parameters
        for type_ in DOMAINS[function.domain]:
            given = [value("int32" if parameter.endswith("exponent") else type_, index)
                     for index, parameter in enumerate(parameters)]
            if name == "clamp":
                given = [value(type_), f"{type_}(3)", f"{type_}(9)"]
            yield of(f"sycl.{name}({', '.join(given)})", type_)


def vector(type_: ElementType | str, count: int, index: int = 0) -> str:
    """A vector of random values."""
    return f"vec[{type_}, {count}]({', '.join(value(type_, index * count + part) for part in range(count))})"


def on_vectors(complete: bool) -> Iterator[Probe]:
    """The same functions on vectors: of one type and length each, or of all."""
    for number, (name, function) in enumerate(FUNCTIONS.items()):
        is_geometric = function.domain is Domain.GEOMETRIC
        counts = (3, 4) if name == "cross" else (2, 3, 4) if is_geometric else (2, 3, 4, 8, 16)
        types = [type_ for type_ in DOMAINS[function.domain] if type_ in _EXACT or not type_.scalar.is_float]
        if name.startswith("fast_"):
            types = list(DOMAINS[Domain.SINGLE])
        cases = list(itertools.product(types, counts))
        for type_, count in cases if complete else [cases[number % len(cases)]]:
            given = [vector("int32" if parameter.endswith("exponent") else type_, count, index)
                     for index, parameter in enumerate(function.signature.parameters)]
            if name == "clamp":
                given[1:] = [f"vec[{type_}, {count}](3)", f"vec[{type_}, {count}](9)"]
            elif name == "select":
                given[2] = f"{given[0]} < {given[1]}"
            call = f"sycl.{name}({', '.join(given)})"
            if is_geometric and not re.search("cross|normalize", name):
                yield of(call, type_)
            else:
                yield Probe((f"{call}.convert[{type_}]().store(lane, {{0}})",), (str(type_),))


_STRUCTURAL: dict[Any, tuple[str, ...]] = {
    range: ("sum(range(4))", "sum([k for k in range(9, 1, -2)])"),
    len: ("len([1, 2, 3])",),
    zip: ("sum([a * b for a, b in zip([1, 2], [lane, 4])])",),
    enumerate: ("sum([k * x for k, x in enumerate([lane, 4], start=1)])",),
    reversed: ("[lane, 2][0] - list(reversed([lane, 3]))[0]",),
    min: ("min(lane, 7, 9)",), max: ("max([lane, 7])",), abs: ("abs(lane - 9)",),
    sum: ("sum([lane, 2, 3], 4)",), pow: ("pow(lane, 2)",),
    list: ("len(list((lane, 2)))",), tuple: ("len(tuple([lane, 2]))",),
    all: ("all([lane < 9, lane > 2])", "all(vec[int32, 4](lane) > 3)"),
    any: ("any([lane < 2, lane > 9])", "any(vec[int32, 4](lane) > 30)"),
    divmod: ("divmod(lane, 5)[0] * 8 + divmod(lane, 5)[1]",),
    round: ("int32(round(lane * 0.3))",), dataclasses.replace: ("dataclasses.replace(Pair(lane, 2), y=5).y",),
    str: ("len([str(lane)])",), repr: ("len([repr(lane)])",), format: ("len([format(lane, 'd')])",),
    print: (),  # no expression: with printf
    annotated_ptr: ("annotated_ptr(i_int32)[lane]",),
}
"""Functions of Python that do not just take numbers: expressions that are integers."""
_ARITY = {"log": 1, "hypot": 2}
"""Functions whose signature Python does not tell."""


def of_python() -> Iterator[Probe]:
    """The functions of Python, of its module math and of numpy."""
    for function in PYTHON_FUNCTIONS:
        if function in _STRUCTURAL:
            yield from (of(expression, "int32") for expression in _STRUCTURAL[function])
            continue
        name = {"builtins": "{}", "math": "math.{}", "numpy": "np.{}"}[_module(function)].format(function.__name__)
        exponent = function.__name__ == "ldexp"
        for type_ in ("half", "float32"):
            given = [value("int32" if exponent and index else type_, index) for index in range(_count(function))]
            yield of(f"{name}({', '.join(given)})", type_)


def _module(function: Any) -> str:
    return "numpy" if isinstance(function, np.ufunc) else function.__module__


def _count(function: Any) -> int:
    """How many numbers a function takes."""
    if isinstance(function, np.ufunc):
        return function.nin
    if function.__name__ in _ARITY:
        return _ARITY[function.__name__]
    required = [parameter for parameter in inspect.signature(function).parameters.values()
                if parameter.default is parameter.empty]
    return sum(2 if parameter.kind is parameter.VAR_POSITIONAL else 1 for parameter in required)


# ------------------------------------------------------------------ groups

_GROUPS = ("sg", "g")
_OPERATORS_OF_GROUPS = [operator.name for operator in groups._OPERATORS]


def _all(enumeration: Any) -> list[str]:
    return [str(member) for member in enumeration]


def _barriers(complete: bool) -> Iterator[Probe]:
    for group, scope in itertools.product(_GROUPS, ("", *_all(enumerations.memory_scope))):
        yield Probe((f"group_barrier({group}{', ' * bool(scope)}{scope})",), ())


def _broadcasts(complete: bool) -> Iterator[Probe]:
    for type_ in NUMBERS:
        yield of(f"group_broadcast(sg, {value(type_)}, 3)", type_)
    for group, place in itertools.product(_GROUPS, ("", ", 5", ", [5]")):
        if (group, place) != ("sg", ", [5]"):
            yield of(f"group_broadcast({group}, {value('int32')}{place})", "int32")


def _combinations(name: str) -> Callable[[bool], Iterator[Probe]]:
    def make(complete: bool) -> Iterator[Probe]:
        cases = itertools.product(NUMBERS, _OPERATORS_OF_GROUPS, _GROUPS, (False, True))
        for number, (type_, operator, group, with_init) in enumerate(cases):
            if (operator.startswith("bit") and type_.scalar.is_float) or not (complete or number % 7 == 0):
                continue
            init, order = f"{type_}(3)", (operator,)
            if with_init:
                order = (operator, init) if name.startswith("inclusive") else (init, operator)
            yield of(f"{name}({group}, {value(type_)}, {', '.join(order)})", type_)
    return make


def _votes(name: str) -> Callable[[bool], Iterator[Probe]]:
    def make(complete: bool) -> Iterator[Probe]:
        for group in _GROUPS:
            yield of(f"{name}({group}, lane > 7)", "int32")
            yield of(f"{name}({group}, lane, lambda x: x > 40)", "int32")
    return make


def _shuffles(name: str) -> Callable[[bool], Iterator[Probe]]:
    place = {"shift_group_left": "~lane & 1", "shift_group_right": "lane & 1"}.get(name, "lane * 5 & 7")

    def make(complete: bool) -> Iterator[Probe]:
        methods = [f"sg.{method}(" for method, function in groups._METHODS.items() if function == name]
        for type_, call in itertools.product(NUMBERS, (f"{name}(sg, ", *methods)):
            yield of(f"{call}{value(type_)}, {place})", type_)
    return make


def _local_memory(complete: bool) -> Iterator[Probe]:
    for type_, sizes in itertools.product(NUMBERS, ("32", "2, 16", "2, 4, 4")):
        index = {"32": "lane", "2, 16": "lane // 16, lane % 16"}.get(sizes, "lane // 16, lane // 4 % 4, lane % 4")
        yield Probe((f"m{{n}} = group_local_memory_for_overwrite[{type_}, {sizes}](g)",
                     f"m{{n}}[{index}] = {value(type_)}", f"{{0}}[lane] = m{{n}}[{index}]"), (str(type_),))


def of_work_items() -> Iterator[Probe]:
    """The methods of nd_item, group, sub_group, of what they return and of local memory."""
    for receiver, names in (("item", work_items._ITEM_METHODS), ("g", work_items._GROUP_METHODS),
                            ("sg", (*work_items._OF_SUB_GROUP, "leader", "barrier"))):
        for name in names:
            yield from _method(receiver, name)
    for name in ("get_multi_ptr", "get_pointer"):
        yield Probe(("m{n} = group_local_memory_for_overwrite[int32, 32](g)", f"m{{n}}.{name}()[lane] = lane",
                     f"{{0}}[lane] = m{{n}}.{name}()[lane]"), ("int32",))


def _method(receiver: str, name: str) -> Iterator[Probe]:
    if name == "barrier":
        yield from (Probe((f"{receiver}.barrier({space})",), ())
                    for space in ("", *(f"fence_space.{space.name}" for space in enumerations.fence_space)))
        return
    text = f"{receiver}.{name}("
    if (receiver, name) in (("item", "get_group"), ("item", "get_sub_group")):
        text = f"{receiver}.{name}().get_group_id("
    dimensioned = receiver != "sg" and name in work_items._BY_DIMENSION
    yield of(f"{text}{'0' * dimensioned})", "int64")
    if dimensioned:
        yield from (of(f"{receiver}.{name}({more}", "int64") for more in ("lane * 0)", ").get(0)", ").size()")
                    if not (more.startswith(")") and (receiver, name) == ("item", "get_group")))


# ------------------------------------------------------------------ atomics

_READS, _WRITES = ("relaxed", "acquire", "seq_cst"), ("relaxed", "release", "seq_cst")


def _cycle(*choices: tuple[str, ...] | list[str]) -> Iterator[tuple[str, ...]]:
    """Tuples in which every choice occurs."""
    return ((*(options[number % len(options)] for options in choices),) for number in range(max(map(len, choices))))


def _atomics(complete: bool) -> Iterator[Probe]:
    """Each method with each order and scope, on elements of each type in each address space."""
    orders, scopes = _all(enumerations.memory_order), _all(enumerations.memory_scope)
    spaces = ("", *(f", access.address_space.{space}_space" for space in ("global", "local", "generic")))
    together = itertools.product if complete else _cycle
    cases = itertools.product(map(str, _ELEMENTS), (*_METHODS, *_UPDATES, *_OPERATORS))
    for place, (type_, method) in enumerate(cases):
        if type_.startswith("float") and ("and" in method or "or" in method or method in ("&=", "|=", "^=")):
            continue
        choices = [orders, scopes, list(map(str, _DEFAULTS)), scopes, list(spaces)]
        if method == "load":
            choices[0] = [f"memory_order.{name}" for name in _READS]
        elif method == "store":
            choices[0] = [f"memory_order.{name}" for name in _WRITES]
        for number, (order, scope) in enumerate(together(*choices[:2])):
            if not complete and (number + place) % 3:
                continue
            default, default_scope, space = (choice[number % len(choice)] for choice in choices[2:])
            yield _atomic(type_, method, f"{order}, {scope}", f"{default}, {default_scope}{space}")
    for success, failure in together(orders, [f"memory_order.{name}" for name in _READS]):
        yield _atomic("int32", "compare_exchange_strong", f"{success}, {failure}, {scopes[0]}",
                      f"{_DEFAULTS[0]}, {scopes[1]}")


def _atomic(type_: str, method: str, orders: str, template: str) -> Probe:
    local = "local_space" in template
    memory = "m{n}" if local else "{0}"
    lines = [f"m{{n}} = group_local_memory_for_overwrite[{type_}, 32](g)"] if local else []
    lines += [f"{memory}[lane] = {value(type_)}", f"a{{n}} = atomic_ref[{type_}, {template}]({memory}[lane])"]
    operand = value(type_, 1)
    if method in _OPERATORS:
        lines.append(f"a{{n}} {method} {operand}")
    elif method == "store":
        lines.append(f"a{{n}}.store({operand}, {orders})")
    elif method == "load":
        lines.append(f"{{1}}[lane] = a{{n}}.load({orders})")
    elif method.startswith("compare"):
        lines.append(f"{{1}}[lane] = a{{n}}.{method}({value(type_)}, {operand}, {orders})")
    else:
        lines.append(f"{{1}}[lane] = a{{n}}.{method}({operand}, {orders})")
    if local:
        lines.append("{0}[lane] = m{n}[lane]")
    return Probe(tuple(lines), (type_,) * (2 if any("{1}" in line for line in lines) else 1))


def _fences(complete: bool) -> Iterator[Probe]:
    for order, scope in itertools.product(_all(enumerations.memory_order), _all(enumerations.memory_scope)):
        yield Probe((f"atomic_fence({order}, {scope})",), ())


def _casts(complete: bool) -> Iterator[Probe]:
    spaces = ("global_space", "generic_space")
    for space, decoration in itertools.product(spaces, enumerations.decorated):
        yield of(f"address_space_cast[access.address_space.{space}, {decoration}](i_int32)[lane]", "int32")
    for space, method in itertools.product(spaces, ("get", "get_raw", "get_decorated")):
        yield of(f"address_space_cast[access.address_space.{space}](i_int32).{method}()[lane]", "int32")


# ------------------------------------------------------------------ matrices

SIZE = 16
_A_AND_B = ("row_major", "col_major", "ext_intel_packed")
_ROLES = ("a", "b", "accumulator")
_MATRIX_TYPES = tuple(BY_FORMAT.values())
_HINTS = [*(("read_hint", mode) for mode in LOAD_CONTROLS), *(("write_hint", mode) for mode in STORE_CONTROLS)]


def matrix(name: str, type_: ElementType | str, role: str, order: str = "") -> str:
    """A line that makes a matrix object."""
    return f"{name} = joint_matrix(sub_group, {type_}, use.{role}, {SIZE}, {SIZE}{', layout.' * bool(order)}{order})"


def _stored(name: str, role: str, order: str = "row_major") -> str:
    """A line that stores a matrix to the first result, each sub-group's to a place of its own."""
    where = f", layout.{order}" if role == "accumulator" else ""
    return f"joint_matrix_store(sg, {name}, {{0}} + sg.get_group_id() * {SIZE * SIZE}, {SIZE}{where})"


def _memory_of(type_: ElementType | str) -> str:
    return "float32" if str(type_) == "precision.tf32" else str(type_)


def _has_layout(type_: ElementType, role: str, order: str) -> bool:
    return order != "ext_intel_packed" or (role == "a" or type_.scalar.bits < 32)


def _stride(type_: ElementType, role: str, order: str) -> int:
    return SIZE * (32 // type_.scalar.bits if (role, order) == ("b", "ext_intel_packed") else 1)


def _loads(complete: bool) -> Iterator[Probe]:
    """Loads of A and B, whose layout is that of their type, and of accumulators, whose layout the call gives."""
    for number, (type_, role, order) in enumerate(itertools.product(_MATRIX_TYPES, ("a", "b"), _A_AND_B)):
        if _has_layout(type_, role, order) and (complete or number % 2 == 0):
            stride = _stride(type_, role, order)
            end = _stored("m{n}", role).replace(f", {SIZE})", f", {stride})")
            yield Probe((matrix("m{n}", type_, role, order),
                         f"joint_matrix_load(sg, m{{n}}, i_{_memory_of(type_)}, {stride})", end), (_memory_of(type_),))
    for type_, order in itertools.product(_MATRIX_TYPES, ("row_major", "col_major")):
        yield Probe((matrix("m{n}", type_, "accumulator"),
                     f"joint_matrix_load(sg, m{{n}}, i_{_memory_of(type_)}, {SIZE}, layout.{order})",
                     _stored("m{n}", "accumulator")), (_memory_of(type_),))
    for hint, mode in _HINTS:
        for level in enumerations.cache_level:
            given = f"annotated_ptr(i_half, properties({hint}[cache_control[{mode}, {level}]]))"
            yield Probe((matrix("m{n}", "half", "a", "row_major"), f"joint_matrix_load(sg, m{{n}}, {given}, {SIZE})",
                         _stored("m{n}", "a")), ("half",))


def _stores(complete: bool) -> Iterator[Probe]:
    for type_, order in itertools.product(_MATRIX_TYPES, ("row_major", "col_major")):
        memory = _memory_of(type_)
        yield Probe((matrix("m{n}", type_, "accumulator"),
                     f"joint_matrix_load(sg, m{{n}}, i_{memory}, {SIZE}, layout.row_major)",
                     _stored("m{n}", "accumulator", order)), (memory,))


_WINDOW = "12, 13, 2, 3"


def _checked_loads(complete: bool) -> Iterator[Probe]:
    for role, order in (("a", "row_major"), ("b", "col_major"), ("accumulator", "")):
        given = f", layout.row_major, {_WINDOW}" if not order else f", {_WINDOW}"
        yield Probe((matrix("m{n}", "half", role, order),
                     f"joint_matrix_load_checked(sg, m{{n}}, i_half, {SIZE}{given})", _stored("m{n}", role)), ("half",))


def _checked_stores(complete: bool) -> Iterator[Probe]:
    for order in ("row_major", "col_major"):
        yield Probe((matrix("m{n}", "half", "accumulator"), "joint_matrix_fill(sg, m{n}, 3)",
                     f"joint_matrix_store_checked(sg, m{{n}}, {{0}} + sg.get_group_id() * {SIZE * SIZE}, {SIZE}, "
                     f"layout.{order}, {_WINDOW})"), ("half",))


def _fills(complete: bool) -> Iterator[Probe]:
    for type_, role in itertools.product(_MATRIX_TYPES, ("a", "b", "accumulator")):
        order = "row_major" if role != "accumulator" else ""
        yield Probe((matrix("m{n}", type_, role, order), "joint_matrix_fill(sg, m{n}, 3)", _stored("m{n}", role)),
                    (_memory_of(type_),))


def _checked_fills(complete: bool) -> Iterator[Probe]:
    yield Probe((matrix("m{n}", "half", "accumulator"), f"joint_matrix_fill_checked(sg, m{{n}}, 3, {_WINDOW})",
                 _stored("m{n}", "accumulator")), ("half",))


def _copies(complete: bool) -> Iterator[Probe]:
    cases = itertools.product(_MATRIX_TYPES, _MATRIX_TYPES, _ROLES, _ROLES)
    for number, (source, target, first, second) in enumerate(cases):
        if complete or number % 29 == 0:
            orders = ["row_major" if role != "accumulator" else "" for role in (first, second)]
            yield Probe((matrix("s{n}", source, first, orders[0]), matrix("m{n}", target, second, orders[1]),
                         "joint_matrix_fill(sg, s{n}, 3)", "joint_matrix_copy(sg, s{n}, m{n})",
                         _stored("m{n}", second)), (_memory_of(target),))


_PRODUCTS = tuple(text.split() for text in (
    "int8 int8 int32 int32", "uint8 int8 int32 int32", "int8 uint8 uint32 int32", "int16 int16 int64 int64",
    "half half float32 float32", "half half half half", "half half float32 half",
    "bfloat16 bfloat16 float32 float32", "bfloat16 bfloat16 bfloat16 bfloat16",
    "precision.tf32 precision.tf32 float32 float32", "float32 float32 float32 float32",
    "float64 float64 float64 float64"))


def _products(complete: bool) -> Iterator[Probe]:
    for a, b, c, d in _PRODUCTS:
        lines = [matrix("a{n}", a, "a", "row_major"), matrix("b{n}", b, "b", "row_major"),
                 matrix("c{n}", c, "accumulator"), matrix("d{n}", d, "accumulator"),
                 f"joint_matrix_load(sg, a{{n}}, i_{_memory_of(a)}, {SIZE})",
                 f"joint_matrix_load(sg, b{{n}}, i_{_memory_of(b)} + 7, {SIZE})",
                 f"joint_matrix_load(sg, c{{n}}, i_{_memory_of(c)} + 9, {SIZE}, layout.row_major)",
                 "joint_matrix_mad(sg, d{n}, a{n}, b{n}, c{n})", _stored("d{n}", "accumulator")]
        yield Probe(tuple(lines), (_memory_of(d),))


def _applications(complete: bool) -> Iterator[Probe]:
    start = (matrix("m{n}", "float32", "accumulator"),
             f"joint_matrix_load(sg, m{{n}}, i_float32, {SIZE}, layout.row_major)")
    for function in ("lambda x: x * 2", "lambda x, row, col: x + row * 100 + col"):
        yield Probe((*start, f"joint_matrix_apply(sg, m{{n}}, {function})", _stored("m{n}", "accumulator")),
                    ("float32",))
    yield Probe((*start, matrix("k{n}", "float32", "accumulator"), "joint_matrix_fill(sg, k{n}, 3)",
                 "joint_matrix_apply(sg, m{n}, k{n}, lambda x, y: x + y)", _stored("k{n}", "accumulator")),
                ("float32",))


def _prefetches(complete: bool) -> Iterator[Probe]:
    hints = ("", *(f", properties(prefetch_hint_{level.name})" for level in enumerations.cache_level))
    for order, hint in itertools.product(("row_major", "col_major"), hints):
        yield Probe((f"joint_matrix_prefetch[8, 16](sg, i_half, {SIZE}, layout.{order}{hint})",), ())


def _transposes(complete: bool) -> Iterator[Probe]:
    for number, (type_, first, second) in enumerate(itertools.product(_MATRIX_TYPES, _ROLES, _ROLES)):
        if complete or number % 3 == 0:
            orders = ["row_major" if role != "accumulator" else "" for role in (first, second)]
            layout = ", layout.row_major" * (first == "accumulator")
            yield Probe((matrix("s{n}", type_, first, orders[0]), matrix("m{n}", type_, second, orders[1]),
                         f"joint_matrix_load(sg, s{{n}}, i_{_memory_of(type_)}, {SIZE}{layout})",
                         "joint_matrix_transpose(sg, s{n}, m{n})", _stored("m{n}", second)), (_memory_of(type_),))


def _accumulator(name: str, type_: ElementType, index: int) -> tuple[str, str]:
    """Lines that make an accumulator of random values."""
    return (matrix(name, type_, "accumulator"),
            f"joint_matrix_load(sg, {name}, i_{type_} + {index}, {SIZE}, layout.row_major)")


def _reductions(complete: bool) -> Iterator[Probe]:
    operations = [*(f'"{name}"' for name in COMBINATIONS), "plus()", "minimum()", "maximum()", "multiplies()"]
    for number, (type_, axis, operation) in enumerate(itertools.product(NUMBERS, AXES, operations)):
        if not complete and number % 5:
            continue
        yield Probe((*_accumulator("m{n}", type_, 0),
                     f'r{{n}} = joint_matrix_reduce(sg, m{{n}}, "{axis}", {operation})',
                     _stored("r{n}", "accumulator")), (str(type_),))


def on_matrices(complete: bool) -> Iterator[Probe]:
    """The functions on numbers that give one of their type, on matrices, which give elements."""
    for number, (name, function) in enumerate(FUNCTIONS.items()):
        if function.result is not None or function.domain is Domain.GEOMETRIC or name.startswith("is"):
            continue
        types = DOMAINS[function.domain]
        for type_ in types if complete else [types[number % len(types)]]:
            parameters = list(function.signature.parameters)
            lines = [line for index in range(len(parameters)) for line in _accumulator(f"m{{n}}_{index}", type_, index)]
            given = [value("int32", index) if parameter.endswith("exponent") else f"m{{n}}_{index}"
                     for index, parameter in enumerate(parameters)]
            if name == "clamp":
                given[1:] = ["3", "9"]
            yield Probe((*lines, f"r{{n}} = sycl.{name}({', '.join(given)})", _stored("r{n}", "accumulator")),
                        (str(type_),))


# ------------------------------------------------------------------ the same bits, and printing


def _bit_casts(complete: bool) -> Iterator[Probe]:
    for source, target in itertools.product(_EXACT + _INTEGERS, repeat=2):
        if source.scalar.bits == target.scalar.bits:
            yield of(f"bit_cast[{target}]({value(source)})", target)
    yield of("bit_cast[uint32](vec[half, 2](1, 2))", "uint32")


def _reinterpretations(complete: bool) -> Iterator[Probe]:
    for source, target in itertools.product(NUMBERS, repeat=2):
        if source.scalar.bits == target.scalar.bits:
            yield of(f"reinterpret_cast[ptr[{target}]](i_{source})[lane]", target)


def _prints(complete: bool) -> Iterator[Probe]:
    for type_, conversion in (("int32", "d"), ("uint64", "lx"), ("float32", "f"), ("half", "a"), ("int8", "hhd")):
        yield Probe((f'printf("%{conversion} ", {value(type_)})',), ())
        yield Probe((f'print({value(type_)}, [lane, f"{{{{lane:>4}}}}"], sep=";", end=" ")',), ())


# ------------------------------------------------------------------ all of it

OTHERS: dict[str, Callable[[bool], Iterator[Probe]]] = {
    "group_barrier": _barriers, "group_broadcast": _broadcasts,
    **{name: _combinations(name) for name in ("reduce_over_group", "exclusive_scan_over_group",
                                              "inclusive_scan_over_group")},
    **{name: _votes(name) for name in ("any_of_group", "all_of_group", "none_of_group")},
    **{name: _shuffles(name) for name in groups._SHUFFLES},
    "group_local_memory_for_overwrite": _local_memory, "atomic_ref": _atomics, "atomic_fence": _fences,
    "address_space_cast": _casts, "joint_matrix_load": _loads, "joint_matrix_store": _stores,
    "joint_matrix_load_checked": _checked_loads, "joint_matrix_store_checked": _checked_stores,
    "joint_matrix_fill": _fills, "joint_matrix_fill_checked": _checked_fills, "joint_matrix_copy": _copies,
    "joint_matrix_mad": _products, "joint_matrix_apply": _applications, "joint_matrix_prefetch": _prefetches,
    "joint_matrix_transpose": _transposes, "joint_matrix_reduce": _reductions, "bit_cast": _bit_casts,
    "reinterpret_cast": _reinterpretations, "printf": _prints,
    "round_to_tf32": lambda complete: iter([of(f"round_to_tf32({value('float32')})", "float32")]),
}
"""The functions that take more than numbers, and what makes their calls."""
assert OTHERS.keys() == DEVICE_FUNCTIONS.keys() - FUNCTIONS.keys(), OTHERS.keys() ^ (
    DEVICE_FUNCTIONS.keys() - FUNCTIONS.keys())
assert all(hasattr(math_functions, name.partition(".")[0]) for name in FUNCTIONS)


def every_call(*, complete: bool) -> list[Probe]:
    """Calls of all functions and methods: enough for each type and each value of an operand, or with all combinations
    of them."""
    others = (probe for make in OTHERS.values() for probe in make(complete))
    return [*on_numbers(), *on_vectors(complete), *on_matrices(complete), *of_python(), *of_work_items(), *others]
