"""The values of expressions, for all lanes of a batch at once.

Numbers follow C: integers narrower than ``int`` become ``int``, of two types the larger one counts, ``/`` and ``%`` of
integers cut towards zero (``//`` is Python's). Half and bfloat16 with other types become ``float``.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from coopmat.debugger.expressions import TYPES, Node
from coopmat.debugger.scope import Address, Known, Scope
from coopmat.diagnostics import Error
from coopmat.spirv.analysis.types import (
    ArrayType,
    BoolType,
    FloatType,
    IntType,
    MatrixType,
    PointerType,
    StructType,
    Type,
    VectorType,
)
from coopmat.spirv.grammar import BuiltIn
from coopmat.targets.simulator.builtins import INPUTS
from coopmat.targets.simulator.memory import element_stride
from coopmat.targets.simulator.values import Array, blend, signed, slices_of, unsigned

INT, LONG, BOOL, FLOAT = IntType(32), IntType(64), BoolType(), FloatType(32)
COMPARISONS = {"==": operator.eq, "!=": operator.ne, "<": operator.lt, ">": operator.gt, "<=": operator.le,
               ">=": operator.ge}
ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "//": np.floor_divide, "/": np.divide, "%": np.fmod}
BITS: dict[str, Callable[[Any, Any], Any]] = {
    "&": operator.and_, "|": operator.or_, "^": operator.xor, "<<": np.left_shift, ">>": np.right_shift}
FUNCTIONS = {
    "get_global_id": BuiltIn.GlobalInvocationId, "get_local_id": BuiltIn.LocalInvocationId,
    "get_group_id": BuiltIn.WorkgroupId, "get_global_size": BuiltIn.GlobalSize,
    "get_local_size": BuiltIn.WorkgroupSize, "get_num_groups": BuiltIn.NumWorkgroups,
    "get_global_offset": BuiltIn.GlobalOffset, "get_global_linear_id": BuiltIn.GlobalLinearId,
    "get_local_linear_id": BuiltIn.LocalInvocationIndex, "get_work_dim": BuiltIn.WorkDim,
    "get_sub_group_id": BuiltIn.SubgroupId, "get_sub_group_local_id": BuiltIn.SubgroupLocalInvocationId,
    "get_sub_group_size": BuiltIn.SubgroupSize, "get_num_sub_groups": BuiltIn.NumSubgroups,
}
"""The functions that expressions may call, in both languages: OpenCL's, whose dimension 0 is the fastest."""
BY_DIMENSION = 7  # of these functions, the first ones take a dimension
COMPONENTS = {**{letter: index for index, letter in enumerate("xyzw")},
              **{f"s{digit}": int(digit, 16) for digit in "0123456789abcdefABCDEF"}}


def evaluate(node: Node, scope: Scope) -> Known:
    """What an expression is: a value, or a place in memory. Error where it has none."""
    evaluated = EVALUATED.get(node.operator)
    if evaluated is not None:
        return evaluated(node, scope)
    if node.operator in ("&&", "||"):
        return _logical(node, scope)
    left, right = (value_of(part, scope) for part in node.parts)
    if isinstance(left.kind, PointerType) or isinstance(right.kind, PointerType):
        return _pointers(node, scope, left, right)
    return _numbers(node, scope, left, right)


def value_of(node: Node, scope: Scope) -> Known:
    """The value of an expression, read from memory if it is there."""
    return scope.load(evaluate(node, scope))


def truth(node: Node, scope: Scope) -> Array:
    """Where an expression is true, ``[S, L]``, of the lanes of the scope."""
    found = value_of(node, scope)
    return np.asarray(scope.lanes & (_scalar(found, str(node)) != 0))


# ------------------------------------------------------------------------- names and numbers


def _number(node: Node, scope: Scope) -> Known:
    text = node.text
    is_hex = text[:2].lower() == "0x"
    if not is_hex and any(letter in text for letter in ".eE"):
        kind = FloatType(32) if text[-1] in "fF" else FloatType(16) if text[-1] in "hH" else FloatType(64)
        return Known(kind, np.full((1, 1), float(text.rstrip("fFhHlL")), kind.dtype))
    digits = text.rstrip("uUlL") if is_hex else text.rstrip("uUlLfFhH")
    if not is_hex and text[-1] in "fFhH":
        raise Error(f"'{text}' is no number")
    number = int(digits, 0 if is_hex else 10)
    is_unsigned = "u" in text.lower()
    is_long = "l" in text.lower() or number >= (1 << 32 if is_unsigned or is_hex else 1 << 31)
    if number >= 1 << 64:
        raise Error(f"'{text}' does not fit into 64 bits")
    bits = 64 if is_long else 32
    is_unsigned = is_unsigned or number >= 1 << bits - 1
    return Known(IntType(bits), signed(np.full((1, 1), number, f"u{bits // 8}")), None, is_unsigned)


def _name(node: Node, scope: Scope) -> Known:
    if node.text.lower() in ("true", "false"):
        return Known(BOOL, np.full((1, 1), node.text.lower() == "true"))
    return scope.find(node.text)


def _call(node: Node, scope: Scope) -> Known:
    if node.text not in FUNCTIONS:
        raise Error(f"'{node.text}' cannot be called here; the functions are {', '.join(FUNCTIONS)}")
    parts = INPUTS[FUNCTIONS[node.text]](scope.frame.batch)
    dimensions = list(FUNCTIONS).index(node.text) < BY_DIMENSION
    if len(node.parts) != dimensions:
        raise Error(f"{node.text} takes {'a dimension' if dimensions else 'no argument'}, as in "
                    f"{node.text}({'0' * dimensions})")
    dimension = 0
    if dimensions:
        if node.parts[0].operator != "number" or node.parts[0].text not in ("0", "1", "2"):
            raise Error(f"the dimension of {node.text} is 0, 1 or 2; found {node.parts[0]}")
        dimension = int(node.parts[0].text)
    return Known(LONG, parts[dimension].astype(np.int64), None, True)


# ------------------------------------------------------------------------- parts of values


def _index(node: Node, scope: Scope) -> Known:
    base = evaluate(node.parts[0], scope)
    if isinstance(base.kind, PointerType):
        base = scope.load(base)
    indices = [_integer(value_of(part, scope), str(part)) for part in node.parts[1:]]
    if isinstance(base.kind, MatrixType):
        return _matrix_element(scope.load(base), indices, scope)
    if len(indices) != 1:
        raise Error(f"only a matrix takes a row and a column; {node.parts[0]} is a value of type {base.kind}")
    index = indices[0]
    if isinstance(base.kind, PointerType):
        kind = scope.target(base.kind)
        address = base.value + index * element_stride(kind)
        return Known(kind, None, base.kind.pointee_id or None, base.is_unsigned, address)
    if not isinstance(base.kind, ArrayType | VectorType):
        raise Error(f"{node.parts[0]} has no elements: it is a value of type {base.kind}")
    _check_range(index, base.kind.length, scope, str(node.parts[0]))
    element = base.kind.element if isinstance(base.kind, ArrayType) else base.kind.component
    stride = base.kind.stride if isinstance(base.kind, ArrayType) else element.size
    type_id = _part_id(base, scope, 0)
    if base.address is not None:
        return Known(element, None, type_id, base.is_unsigned, base.address + index * stride)
    clipped = np.clip(index, 0, base.kind.length - 1)
    if isinstance(base.kind, VectorType):
        return Known(element, _taken(base.value, clipped), type_id, base.is_unsigned)
    chosen = np.unique(clipped).tolist()
    value = base.value[chosen[0]]
    for number in chosen[1:]:
        value = blend(element, clipped == number, base.value[number], value)
    return Known(element, value, type_id, base.is_unsigned)


def _taken(vector: Array, index: Array) -> Array:
    """The component of each lane of ``[S, L, components]``."""
    shape = np.broadcast_shapes(vector.shape[:2], index.shape)
    full = np.broadcast_to(vector, (*shape, vector.shape[-1]))
    return np.take_along_axis(full, np.broadcast_to(index, shape)[..., None], -1)[..., 0]


def _matrix_element(base: Known, indices: list[Array], scope: Scope) -> Known:
    """``m[i]``, a component of each work-item's own, or ``m[row, column]``, an element of the whole matrix."""
    kind = base.kind
    assert isinstance(kind, MatrixType)
    if len(indices) == 1:
        _check_range(indices[0], kind.slice_length, scope, "the matrix")
        slices = slices_of(kind, base.value)
        return Known(kind.component, _taken(slices, np.clip(indices[0], 0, kind.slice_length - 1)), None,
                     base.is_unsigned)
    for index, length, what in zip(indices, (kind.rows, kind.columns), ("rows", "columns"), strict=True):
        _check_range(index, length, scope, f"the {what} of the matrix")
    whole = whole_matrices(kind, base.value, scope)
    shape = scope.lanes.shape
    row, column = (np.broadcast_to(np.clip(index, 0, length - 1), shape)
                   for index, length in zip(indices, (kind.rows, kind.columns), strict=True))
    groups = np.broadcast_to(np.arange(shape[0])[:, None], shape) if whole.shape[0] > 1 else 0
    return Known(kind.component, whole[groups, row, column], None, base.is_unsigned)


def whole_matrices(kind: MatrixType, value: Array, scope: Scope) -> Array:
    """The matrix that each sub-group has a share of: ``[S, rows, columns]``, or ``[1, rows, columns]`` for all."""
    if not kind.is_of_work_group:
        return value
    row, column, valid = kind.layout.held
    batch = scope.frame.batch
    slices = np.broadcast_to(value, (*scope.lanes.shape, value.shape[-1]))
    slices = slices.reshape(batch.group_count, -1, value.shape[-1])[:, :len(valid)]
    whole = np.zeros((batch.group_count, kind.rows, kind.columns), value.dtype)
    whole[:, row[valid], column[valid]] = slices[:, valid]
    return np.repeat(whole, batch.sub_groups_per_group, axis=0)


def _member(node: Node, scope: Scope) -> Known:
    base = evaluate(node.parts[0], scope)
    if isinstance(base.kind, PointerType):
        raise Error(f"{node.parts[0]} is a pointer: write {node.parts[0]}->{node.text}")
    return _part(base, node, scope)


def _arrow(node: Node, scope: Scope) -> Known:
    pointer = value_of(node.parts[0], scope)
    if not isinstance(pointer.kind, PointerType):
        raise Error(f"{node.parts[0]} is no pointer: write {node.parts[0]}.{node.text}")
    return _part(scope.pointed(pointer), node, scope)


def _part(base: Known, node: Node, scope: Scope) -> Known:
    if isinstance(base.kind, VectorType):
        return _component(base, node, scope)
    if not isinstance(base.kind, StructType):
        raise Error(f"{node.parts[0]} has no members: it is a value of type {base.kind}")
    names = member_names(base, scope)
    if node.text not in names:
        raise Error(f"{node.parts[0]} has no member '{node.text}'; it has {', '.join(names)}")
    index = names.index(node.text)
    kind, type_id = base.kind.members[index], _part_id(base, scope, index)
    if base.address is not None:
        return Known(kind, None, type_id, base.is_unsigned, base.address + base.kind.offsets[index])
    return Known(kind, base.value[index], type_id, base.is_unsigned)


def member_names(base: Known, scope: Scope) -> list[str]:
    """The names of a structure's members; those without one have their number."""
    assert isinstance(base.kind, StructType)
    return [scope.module.member_names.get((base.type_id or 0, index), f"m{index}")
            for index in range(len(base.kind.members))]


def _component(base: Known, node: Node, scope: Scope) -> Known:
    kind = base.kind
    assert isinstance(kind, VectorType)
    names = [node.text] if node.text in COMPONENTS else list(node.text)
    if node.text[:1] in "sS" and len(node.text) > 2:
        names = [f"s{digit}" for digit in node.text[1:]]
    indices = [COMPONENTS.get(name, kind.length) for name in names]
    if max(indices) >= kind.length or len(indices) not in (1, 2, 3, 4, 8, 16):
        raise Error(f"{node.parts[0]} has no component '{node.text}': it is a {kind}")
    if len(indices) == 1 and base.address is not None:
        return Known(kind.component, None, None, base.is_unsigned, base.address + indices[0] * kind.component.size)
    value = scope.load(base).value
    if len(indices) == 1:
        return Known(kind.component, value[..., indices[0]], None, base.is_unsigned)
    return Known(VectorType(kind.component, len(indices)), value[..., indices], None, base.is_unsigned)


def _part_id(base: Known, scope: Scope, index: int) -> int | None:
    """The type id of a part of a structure, an array or a vector."""
    if base.type_id is None:
        return None
    words = scope.module.definition(base.type_id).words
    return words[index] if isinstance(base.kind, StructType) else words[0]


# ------------------------------------------------------------------------- operators


def _dereference(node: Node, scope: Scope) -> Known:
    pointer = value_of(node.parts[0], scope)
    if not isinstance(pointer.kind, PointerType):
        raise Error(f"{node.parts[0]} is no pointer: it is a value of type {pointer.kind}")
    return scope.pointed(pointer)


def _address(node: Node, scope: Scope) -> Known:
    found = evaluate(node.parts[0], scope)
    if found.address is None:
        raise Error(f"{node.parts[0]} has no address")
    return Known(Address(0, found.type_id or 0, found.kind), found.address, None, found.is_unsigned)


def _cast(node: Node, scope: Scope) -> Known:
    known, (name, bits, is_unsigned) = value_of(node.parts[0], scope), TYPES[node.text]
    value = _scalar(known, str(node.parts[0]))
    kind: Type = BOOL if name == "bool" else IntType(bits) if name == "int" else FloatType(bits)
    with np.errstate(all="ignore"):
        if name == "bool":
            return Known(BOOL, value != 0)
        return Known(kind, signed(value.astype(f"u{bits // 8}") if value.dtype.kind == "u" else
                                  value.astype(kind.dtype)) if name == "int" else value.astype(kind.dtype),
                     None, is_unsigned)


def _negative(node: Node, scope: Scope) -> Known:
    zero = Known(INT, np.zeros((1, 1), np.int32))
    known = value_of(node.parts[0], scope)
    if isinstance(known.kind, FloatType):
        return replace(known, value=-known.value, address=None)
    return _numbers(Node("-", "", (Node("number", "0"), node.parts[0])), scope, zero, known)


def _plus(node: Node, scope: Scope) -> Known:
    return replace(value_of(node.parts[0], scope), address=None)


def _not(node: Node, scope: Scope) -> Known:
    return Known(BOOL, _scalar(value_of(node.parts[0], scope), str(node.parts[0])) == 0)


def _complement(node: Node, scope: Scope) -> Known:
    known = value_of(node.parts[0], scope)
    minus = Known(INT, np.full((1, 1), -1, np.int32))
    return _numbers(Node("^", "", (node.parts[0], Node("number", "-1"))), scope, known, minus)


def _logical(node: Node, scope: Scope) -> Known:
    """``&&`` and ``||``: the right side counts where the left one does not decide."""
    left = np.broadcast_to(_scalar(value_of(node.parts[0], scope), str(node.parts[0])) != 0, scope.lanes.shape)
    inner = scope.narrowed(left if node.operator == "&&" else ~left)
    right = _scalar(value_of(node.parts[1], inner), str(node.parts[1])) != 0
    return Known(BOOL, left & right if node.operator == "&&" else left | right)


def _choice(node: Node, scope: Scope) -> Known:
    condition = np.broadcast_to(_scalar(value_of(node.parts[0], scope), str(node.parts[0])) != 0, scope.lanes.shape)
    chosen, other = value_of(node.parts[1], scope.narrowed(condition)), value_of(node.parts[2],
                                                                                scope.narrowed(~condition))
    if chosen.kind != other.kind:
        kind, is_unsigned = _common(chosen, other, node)
        values = [_scalar(one, str(node)).astype(kind.dtype) for one in (chosen, other)]
        return Known(kind, np.where(condition, *values), None, is_unsigned)
    return Known(chosen.kind, blend(chosen.kind, condition, chosen.value, other.value), chosen.type_id,
                 chosen.is_unsigned)


def _pointers(node: Node, scope: Scope, left: Known, right: Known) -> Known:
    both = isinstance(left.kind, PointerType) and isinstance(right.kind, PointerType)
    if node.operator in COMPARISONS:
        return Known(BOOL, COMPARISONS[node.operator](left.value, right.value))
    pointer, number = (left, right) if isinstance(left.kind, PointerType) else (right, left)
    assert isinstance(pointer.kind, PointerType)
    stride = element_stride(scope.target(pointer.kind))
    if both and node.operator == "-":
        return Known(LONG, (left.value - right.value) // stride)
    if both or node.operator not in ("+", "-") or (node.operator == "-" and pointer is right):
        raise Error(f"'{node.operator}' has no meaning for a pointer, in {node}")
    distance = _integer(number, str(node)) * stride
    return replace(pointer, value=pointer.value + (distance if node.operator == "+" else -distance), address=None)


def _numbers(node: Node, scope: Scope, left: Known, right: Known) -> Known:
    kind, is_unsigned = _common(left, right, node)
    dtype = np.dtype(f"u{kind.size}") if is_unsigned else kind.dtype
    with np.errstate(all="ignore"):
        one, other = (_scalar(side, str(part)).astype(dtype) for side, part in
                      zip((left, right), node.parts, strict=True))
        if node.operator in COMPARISONS:
            return Known(BOOL, COMPARISONS[node.operator](one, other))
        if node.operator in BITS:
            return Known(kind, _bits(node, kind, one, other), None, is_unsigned)
        if isinstance(kind, FloatType):
            return Known(kind, np.asarray(ARITHMETIC[node.operator](one, other)).astype(dtype))
        if node.operator in ("/", "//", "%"):
            other = _divisor(other, scope, node)
        result = _quotient(one, other) if node.operator == "/" else \
            ARITHMETIC[node.operator](one, other)
        return Known(kind, signed(np.asarray(result).astype(dtype)), None, is_unsigned)


def _bits(node: Node, kind: Type, one: Array, other: Array) -> Array:
    if not isinstance(kind, IntType):
        raise Error(f"'{node.operator}' takes integers, in {node}")
    if node.operator in ("<<", ">>"):
        other = other & other.dtype.type(kind.width - 1)
    return signed(np.asarray(BITS[node.operator](one, other)))


def _quotient(one: Array, other: Array) -> Array:
    """The quotient of integers, cut towards zero."""
    return np.asarray((one - np.fmod(one, other)) // other)


def _divisor(value: Array, scope: Scope, node: Node) -> Array:
    if (scope.lanes & (value == 0)).any():
        raise Error(f"division by zero, in {node}")
    return np.where(value == 0, value.dtype.type(1), value)


def _common(left: Known, right: Known, node: Node) -> tuple[Type, bool]:
    """The type that both operands are brought to, and whether it has no sign."""
    for known, part in zip((left, right), node.parts[-2:], strict=True):
        _scalar(known, str(part))
    floats = [known.kind for known in (left, right) if isinstance(known.kind, FloatType)]
    if floats:
        widest = max(floats, key=lambda kind: kind.width)
        return (FLOAT if len(set(floats)) > 1 and widest.width == 16 else widest), False
    widths = [(max(32, known.kind.width), known.kind.width >= 32 and known.is_unsigned)
              if isinstance(known.kind, IntType) else (32, False) for known in (left, right)]
    width = max(width for width, _ in widths)
    return IntType(width), any(one == width and flag for one, flag in widths)


def _scalar(known: Known, text: str) -> Array:
    """A number, with the sign that it has; Error for anything else."""
    if isinstance(known.kind, PointerType):
        return np.asarray(known.value)
    if not isinstance(known.kind, BoolType | IntType | FloatType):
        raise Error(f"{text} is no number: it is a value of type {known.kind}")
    value: Array = known.value
    return unsigned(value) if known.is_unsigned and value.dtype.kind == "i" else value


def _integer(known: Known, text: str) -> Array:
    if not isinstance(known.kind, IntType | BoolType):
        raise Error(f"{text} is no integer: it is a value of type {known.kind}")
    return np.asarray(known.value).astype(np.int64)


def _check_range(index: Array, length: int, scope: Scope, what: str) -> None:
    wrong = scope.lanes & ((index < 0) | (index >= length))
    if wrong.any():
        found = int(np.broadcast_to(index, wrong.shape)[wrong][0])
        raise Error(f"index {found} is outside of {what}, which has {length}")


EVALUATED: dict[str, Callable[[Node, Scope], Known]] = {
    "number": _number, "name": _name, "call": _call, "cast": _cast, "index": _index, "member": _member,
    "arrow": _arrow, "choice": _choice, "u*": _dereference, "u&": _address, "u-": _negative, "u+": _plus,
    "u!": _not, "u~": _complement,
}
