"""joint_matrix_mad, _fill, _copy, _transpose, _reduce, _apply and round_to_tf32."""

from __future__ import annotations

from collections.abc import Sequence

from coopmat.runtime.element_types import precision
from coopmat.sycl import constraints
from coopmat.sycl import matrix_functions as stubs
from coopmat.sycl.compiler import messages
from coopmat.sycl.compiler.builtins.matrix_memory import (
    group_scope,
    matrix_argument,
    matrix_operand,
    require_scope,
    window_of,
)
from coopmat.sycl.compiler.calls import call_value, constant_argument
from coopmat.sycl.compiler.context import Block, CallHandler, CallSite
from coopmat.sycl.compiler.elementwise import of_elements
from coopmat.sycl.compiler.matrix_objects import matrix_value
from coopmat.sycl.compiler.numbers import expression, type_of
from coopmat.sycl.compiler.scopes import arguments_of
from coopmat.sycl.compiler.values import (
    Element,
    Local,
    Matrix,
    MatrixValue,
    NewMatrix,
    Nothing,
    Runtime,
    Static,
    Value,
)
from coopmat.sycl.enumerations import use
from coopmat.sycl.group_functions import FunctionObject
from coopmat.sycl.joint_matrices import SCOPES, JointMatrixType, joint_matrix_type
from coopmat.tree import nodes as n
from coopmat.tree import types as t
from coopmat.tree.effects import effect_of
from coopmat.tree.matrices import AXES, COMBINATIONS, combination, converted, value_of

PLACE, TWO = 2, 2  # row and column; matrices at most
TF32_COMPONENTS = 0x20  # SPV_INTEL_joint_matrix: MatrixAAndBTF32ComponentsINTEL
_SIGNED = {"A": 0x1, "B": 0x2, "C": 0x4, "D": 0x8}  # SPV_KHR_cooperative_matrix: Cooperative Matrix Operands


# ------------------------------------------------------------------ multiply and add


def multiply_add(call: CallSite) -> Value:
    """``D = A*B + C``."""
    bound = call.bind(stubs.joint_matrix_mad.signature)
    scope = group_scope(call, bound["g"])
    found = {role: (matrix_argument if role == "D" else matrix_operand)(call, scope, bound[role], role, index + 1)
             for index, role in enumerate("DABC")}
    for index, (role, expected) in enumerate(
            (("D", use.accumulator), ("A", use.a), ("B", use.b), ("C", use.accumulator))):
        if found[role].type.use is not expected:
            raise call.f.fail(constraints.MAD_USE, call.place(index + 1), role=role, expected=expected,
                              found=found[role].type)
    _check_shapes(call, found)
    operands = _operands(call, found)
    location, type_ = call.f.location(call.node), found["D"].type.tree
    call.f.unit.uses.products.setdefault(tuple(found[role].type for role in "ABCD"), location)
    a, b, c = (found[role].load(location) for role in "ABC")
    product = n.MatrixMultiplyAdd(type_, location, a, b, c, operands)
    return Nothing(n.Assign(type_, location, found["D"].place, product))


def _check_shapes(call: CallSite, found: dict[str, Matrix]) -> None:
    d, a, b, c = (found[role].type for role in "DABC")
    for fits, rule in ((a.columns == b.rows, "the columns of A must be the rows of B (K)"),
                       (a.rows == c.rows, "A and C must have the same rows (M)"),
                       (b.columns == c.columns, "B and C must have the same columns (N)"),
                       ((d.rows, d.columns) == (c.rows, c.columns), "D must have the shape of C")):
        if not fits:
            raise call.f.fail(constraints.MAD_SHAPE, call.node, d=d.shape, a=a.shape, b=b.shape, c=c.shape, rule=rule)


def _operands(call: CallSite, found: dict[str, Matrix]) -> int:
    """Which components are signed, and whether A and B are tf32."""
    elements = {role: matrix.type.element for role, matrix in found.items()}
    kinds = {element.scalar.is_float for element in elements.values()}
    is_tf32 = {elements[role] is precision.tf32 for role in "AB"}
    if len(kinds) > 1 or len(is_tf32) > 1:
        raise call.f.fail(constraints.MAD_TYPES, call.node, a=elements["A"], b=elements["B"], c=elements["C"],
                          d=elements["D"])
    signed = sum(bit for role, bit in _SIGNED.items() if elements[role].scalar.kind == "sint")
    return signed | (TF32_COMPONENTS if is_tf32 == {True} else 0)


# ------------------------------------------------------------------ fill and copy


def fill(call: CallSite) -> Value:
    """All elements get one value."""
    bound = call.bind(stubs.joint_matrix_fill.signature)
    scope = group_scope(call, bound["g"])
    return _fill(call, matrix_argument(call, scope, bound["m"], "m", 1), bound["v"], None)


def _fill(call: CallSite, matrix: Matrix, value: Value, window: n.Window | None) -> Value:
    storage, location = matrix.type.element.storage, call.f.location(call.node)
    is_number = isinstance(value, (Runtime, Element, Static))
    if not is_number or (isinstance(value, Static) and not value.is_number and not hasattr(value.value, "dtype")) \
            or isinstance(type_of(call.f, value, call.place(2)), t.Pointer):
        raise call.f.fail(constraints.FILL_VALUE, call.place(2), name=call.name, element=storage, found=value)
    converted = expression(call.f, value, call.place(2), storage.scalar)
    filled = n.MatrixFill(matrix.type.tree, location, converted, window)
    return Nothing(n.Assign(matrix.type.tree, location, matrix.place, filled))


def fill_checked(call: CallSite) -> Value:
    """Elements inside of a window get a value, the others 0."""
    bound = call.bind(stubs.joint_matrix_fill_checked.signature)
    scope = group_scope(call, bound["g"])
    matrix = matrix_argument(call, scope, bound["m"], "m", 1)
    window = window_of(call, [bound[name] for name in ("height", "width", "row", "col")], 3)
    return _fill(call, matrix, bound["v"], window)


def copy(call: CallSite) -> Value:
    """Each element of src, converted to dest's type."""
    bound = call.bind(stubs.joint_matrix_copy.signature)
    scope = group_scope(call, bound["g"])
    source, target = _source_and_target(call, scope, bound)
    if (source.type.rows, source.type.columns) != (target.type.rows, target.type.columns):
        raise call.f.fail(constraints.COPY_SHAPE, call.node, source=source.type, target=target.type)
    location, type_ = call.f.location(call.node), target.type.tree
    return Nothing(n.Assign(type_, location, target.place, converted(source.expression, type_)))


def _source_and_target(call: CallSite, scope: t.ExecutionScope, bound: dict[str, Value]) -> tuple[MatrixValue, Matrix]:
    """src, whose value is copied, and dest."""
    target = matrix_argument(call, scope, bound["dest"], "dest", 2)
    source = matrix_value(call.f, bound["src"], call.place(1)) if not isinstance(bound["src"], NewMatrix) else None
    if source is None:
        matrix_argument(call, scope, bound["src"], "src", 1)
        raise AssertionError
    require_scope(call, scope, source.type)
    return source, target


def transpose(call: CallSite) -> Value:
    """Each element of src, converted to dest's type, with rows and columns exchanged."""
    bound = call.bind(stubs.joint_matrix_transpose.signature)
    scope = group_scope(call, bound["g"])
    source, target = _source_and_target(call, scope, bound)
    if (source.type.rows, source.type.columns) != (target.type.columns, target.type.rows):
        raise call.f.fail(constraints.TRANSPOSE_SHAPE, call.node, source=source.type, target=target.type)
    location, type_ = call.f.location(call.node), target.type.tree
    turned = n.MatrixTranspose(type_, location, source.expression)
    return Nothing(n.Assign(type_, location, target.place, turned))


# ------------------------------------------------------------------ reduce


def reduce(call: CallSite) -> Value:
    """A matrix of what its rows, its columns or all of its elements give."""
    bound = call.bind(stubs.joint_matrix_reduce.signature)
    f = call.f
    scope = group_scope(call, bound["g"])
    matrix = matrix_operand(call, scope, bound["m"], "m", 1)
    if matrix.type.use is not use.accumulator:
        raise f.fail(constraints.REDUCE_USE, call.place(1), found=matrix.type)
    axes = AXES.get(_word(bound["axis"]))
    if axes is None:
        raise f.fail(constraints.REDUCE_AXIS, call.place(2), found=bound["axis"])
    operation = _word(bound["op"])
    if operation not in COMBINATIONS:
        raise f.fail(constraints.REDUCE_OPERATION, call.place(3), found=bound["op"])
    scalar, location = matrix.type.tree.scalar, f.location(call.node)
    known = f.unit.element_functions
    if (operation, scalar) not in known:
        function = known[operation, scalar] = combination(operation, scalar)
        function.name = f.unit.unique(function.name)
        f.unit.functions.append(function)
    result = _reduced(call, matrix.type, _word(bound["axis"]), bound.get("size", Static(None)))
    return MatrixValue(result, n.MatrixReduce(result.tree, location, matrix.load(location), axes,
                                              known[operation, scalar]))


def _reduced(call: CallSite, given: JointMatrixType, axis: str, size: Value) -> JointMatrixType:
    """The type of a reduction, which may have another size along the axis."""
    if isinstance(size, Static) and size.value is None:
        return given
    if axis == "all":
        raise call.f.fail(constraints.REDUCE_SIZE, call.place(4))
    number = constant_argument(call, size, "the size", call.place(4))
    rows, columns = (given.rows, number) if axis == "row" else (number, given.columns)
    group = next(one for one, scope in SCOPES.items() if scope == given.scope)
    return joint_matrix_type(group, given.element, given.use, rows, columns)


def _word(value: Value) -> str:
    """What a text, or one of SYCL's function objects, names."""
    found = value.value if isinstance(value, Static) else None
    return found.what if isinstance(found, FunctionObject) else found if isinstance(found, str) else ""


def round_to_tf32(call: CallSite) -> Value:
    """OpRoundFToTF32INTEL."""
    bound = call.bind(stubs.round_to_tf32.signature)
    operand = expression(call.f, bound["elem"], call.place(0), t.FLOAT)
    return Runtime(n.Operation(t.FLOAT, call.f.location(call.node), "core.RoundFToTF32INTEL", (operand,)))


# ------------------------------------------------------------------ apply


def apply(call: CallSite) -> Value:
    """The function, run for each element; or a loop over this work-item's components, if it does more than that."""
    f = call.f
    bound = call.bind(stubs.joint_matrix_apply.signature)
    scope = group_scope(call, bound["g"])
    given = [bound["m"], *bound.get("rest", ())]  # type: ignore[misc]
    *matrices, function = given
    found = [matrix_argument(call, scope, value, f"m{index}" if len(matrices) > 1 else "m", index + 1)
             for index, value in enumerate(matrices)]
    if not 1 <= len(found) <= TWO:
        raise f.fail(messages.BAD_ARGUMENTS, call.node, name=call.name, signature="(g, m, f) or (g, m0, m1, f)",
                     reason=f"it takes one or two matrices, found {len(found)}")
    first = found[0].type
    for other in found[1:]:
        if (other.type.use, other.type.rows, other.type.columns) != (first.use, first.rows, first.columns):
            raise f.fail(constraints.APPLY_SHAPE, call.place(2), first=first, second=other.type)
    callee = _function(call, function, len(found))
    changed = _run(call, found[0], callee) if len(found) == 1 else None
    if changed is None:
        _loop(call, found, callee)
        return Nothing(None)
    return Nothing(n.Assign(first.tree, f.location(call.node), found[0].place, changed))


def _function(call: CallSite, function: Value, matrices: int) -> Value:
    """What is called for each element; helpers become functions whose parameters can be counted."""
    expected = f"{'two elements x0, x1' if matrices == TWO else 'one element x'}, or these, row and col"
    if isinstance(function, Static):
        function = call.f.unit.helpers.of_callable(call.f, function.value, call.node) or function
    if isinstance(function, Local):
        count = len(arguments_of(function.node)) - len(function.node.args.defaults)
        if count not in (matrices, matrices + PLACE):
            raise call.f.fail(constraints.APPLY_CALLABLE, call.place(len(call.arguments) - 1), expected=expected,
                              found=f"{function} of {count} parameter{'s' * (count != 1)}")
    elif not isinstance(function, Static) or not callable(function.value):
        raise call.f.fail(constraints.APPLY_CALLABLE, call.place(len(call.arguments) - 1), expected=expected,
                          found=function)
    return function


def _run(call: CallSite, matrix: Matrix, function: Value) -> n.Expression | None:
    """The elements that a function gives, by one instruction; None if it may do more than compute one, or changes what
    is around it."""
    f, location = call.f, call.f.location(call.node)
    if not isinstance(function, Local):
        assert isinstance(function, Static)
        return of_elements(f, call.name, ("apply", id(function.value)), [matrix], call.node, converts=True,
                           compute=lambda values: call_value(f, function, call.node, values)).expression
    stored = matrix.type.element.storage.scalar
    place = [n.Variable(name, t.UINT, location) for name in ("row", "column")]
    x = n.Variable("x", stored, location)
    coordinates = [Runtime(n.Convert(t.SIZE_T, location, value_of(one, location))) for one in place]
    own = [Runtime(value_of(x, location)), *coordinates]
    inner = _call(call, function, own[0], coordinates, stored)
    if effect_of(inner.function) is not None or any(map(_is_private, inner.arguments)):
        return None
    expressions = [value.expression for value in own]
    others = [argument for argument in inner.arguments if not any(argument is one for one in expressions)]
    passed = {id(other): n.Variable("captured", other.type, location) for other in others}
    arguments = tuple(value_of(passed[id(argument)], location) if id(argument) in passed else argument
                      for argument in inner.arguments)
    body = n.Block(location, (n.Return(location, n.Call(stored, location, inner.function, arguments)),))
    made = n.Function(f.unit.unique(f"each_{function.name}"), stored, [*place, x, *passed.values()], location,
                      body=body)
    f.unit.functions.append(made)
    return n.MatrixApply(matrix.type.tree, location, matrix.load(location), made, tuple(others))


def _is_private(argument: n.Expression) -> bool:
    """Whether an argument points to a variable of the kernel, which a function can change."""
    return isinstance(argument.type, t.Pointer) and argument.type.address_space is t.AddressSpace.PRIVATE


def _call(call: CallSite, function: Local, value: Runtime, coordinates: Sequence[Runtime], stored: t.Scalar) -> n.Call:
    """The call of a function for an element, with row and column if it takes them."""
    names = [parameter.arg for parameter in arguments_of(function.node)]
    values: list[tuple[str, Value]] = [(names[0], value)]
    if _takes_place(function, 1):
        values += zip(names[1:1 + PLACE], coordinates, strict=True)
    values += [(name, value) for name, value in function.defaults.items() if name not in dict(values)]
    return call.f.unit.helpers.call_for_element(call.f, function, call, values, stored)


def _takes_place(function: Value, elements: int) -> bool:
    """Whether a function asks for row and column."""
    return isinstance(function, Local) and len(arguments_of(function.node)) - len(
        function.node.args.defaults) == elements + PLACE


def _loop(call: CallSite, matrices: list[Matrix], function: Value) -> None:
    """``for (uint i = 0; i < length; ++i)``."""
    f, location = call.f, call.f.location(call.node)
    counter = f.variable("", t.UINT, call.node)
    place = n.VariablePlace(t.UINT, location, counter)
    index = n.Load(t.UINT, location, place)
    length = n.MatrixLength(t.UINT, location, matrices[0].type.tree)
    condition = n.Binary(t.BOOL, location, n.BinaryOperator.LESS, index, length)
    current = n.CurrentValue(t.UINT, location)
    step = n.Update(t.UINT, location, place, current,
                    n.Binary(t.UINT, location, n.BinaryOperator.ADD, current, n.Constant(t.UINT, location, 1)))
    f.blocks.append(Block(f.blocks[-1].path))
    try:
        elements = [Element(n.ElementPlace(matrix.type.element.storage.scalar, location, matrix.place, index))
                    for matrix in matrices]
        if len(elements) == TWO:
            coordinates = _coordinates(call, matrices[0], index) if _takes_place(function, TWO) else []
            _apply_to_two(call, elements, coordinates, function)
        else:
            _apply_to_one(call, matrices[0], elements[0], index, function)
    finally:
        body = f.blocks.pop().finish(location)
    declared = n.Declare(location, counter, n.Constant(t.UINT, location, 0))
    f.emit(n.Block(location, (declared, n.Loop(location, condition, body, step))))


def _apply_to_one(call: CallSite, matrix: Matrix, element: Element, index: n.Expression, function: Value) -> None:
    f, location = call.f, call.f.location(call.node)
    value = f.loaded(element, call.node)
    stored = matrix.type.element.storage.scalar
    if not isinstance(function, Local):
        f.assign(element, expression(f, call_value(f, function, call.node, [value]), call.node), call.node)
        return
    assert isinstance(value, Runtime)
    coordinates = _coordinates(call, matrix, index) if _takes_place(function, 1) else ()
    result = _call(call, function, value, coordinates, stored)
    f.perform(n.Assign(stored, location, element.place, result))


def _coordinates(call: CallSite, matrix: Matrix, index: n.Expression) -> list[Runtime]:
    """Row and column of a component, as size_t."""
    f, location, pair = call.f, call.f.location(call.node), t.Vector(t.INT, 2)
    variable = f.variable("", pair, call.node)
    f.emit(n.Declare(location, variable, n.MatrixCoordinates(pair, location, matrix.load(location), index)))
    place = n.VariablePlace(pair, location, variable)
    parts = [n.ElementPlace(t.INT, location, place, n.Constant(t.INT, location, part)) for part in range(2)]
    return [Runtime(n.Convert(t.SIZE_T, location, n.Load(t.INT, location, part))) for part in parts]


def _apply_to_two(call: CallSite, elements: list[Element], coordinates: list[Runtime], function: Value) -> None:
    """Both elements by reference; what the function returns is the second's new value."""
    f, location = call.f, call.f.location(call.node)
    held = []
    for element in elements:
        variable = f.variable("", element.type, call.node)
        f.emit(n.Declare(location, variable, n.Load(element.type, location, element.place)))
        held.append(Element(n.VariablePlace(element.type, location, variable)))
    result = call_value(f, function, call.node, [*held, *coordinates])
    if isinstance(result, Nothing):
        if result.expression is not None:
            f.perform(result.expression)
    else:
        f.assign(held[1], expression(f, result, call.node), call.node)
    for element, value in zip(elements, held, strict=True):
        f.perform(n.Assign(element.type, location, element.place, n.Load(value.type, location, value.place)))


DEVICE_FUNCTIONS: dict[str, CallHandler] = {
    "joint_matrix_mad": multiply_add, "joint_matrix_fill": fill, "joint_matrix_fill_checked": fill_checked,
    "joint_matrix_copy": copy, "joint_matrix_transpose": transpose, "joint_matrix_reduce": reduce,
    "round_to_tf32": round_to_tf32, "joint_matrix_apply": apply,
}
