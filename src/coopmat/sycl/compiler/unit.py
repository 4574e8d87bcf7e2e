"""The compilation of one kernel: its parameters, what it captures, and its helpers, one for each way to call them."""

from __future__ import annotations

import ast
import builtins
from collections import ChainMap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import FunctionType, MappingProxyType, ModuleType
from typing import Any

import numpy as np

from coopmat.diagnostics import DiagnosticSink, Error, SourceLocation
from coopmat.sycl.captures import closure_of
from coopmat.sycl.compiler import flow, messages, passing
from coopmat.sycl.compiler.calls import Call
from coopmat.sycl.compiler.expressions import common
from coopmat.sycl.compiler.function import Failed, FunctionCompiler, GaveUp
from coopmat.sycl.compiler.operators import expression, truth, type_of
from coopmat.sycl.compiler.scopes import arguments_of
from coopmat.sycl.compiler.source import Definition, definition_of
from coopmat.sycl.compiler.statements import apply_result
from coopmat.sycl.compiler.support import MatrixUses
from coopmat.sycl.compiler.values import (
    Element,
    Erroneous,
    Item,
    LayoutValue,
    Local,
    LocalArray,
    Nothing,
    Runtime,
    Static,
    Value,
)
from coopmat.sycl.compiler.values import Sequence as ValueSequence
from coopmat.sycl.constraints import ABSTRACT_VALUE
from coopmat.sycl.element_types import ElementType, boolean, element_type, of_dtype
from coopmat.sycl.enumerations import address_space, layout
from coopmat.sycl.pointers import LocalAccessor, LocalAccessorType, PointerType, annotated_ptr
from coopmat.sycl.properties import properties
from coopmat.sycl.ranges import NdItemType
from coopmat.tree import nodes as n
from coopmat.tree import types as t

MAX_SPECIALIZATIONS = 2048
MAX_COPIES = 16_384


@dataclass(frozen=True, slots=True)
class Specialization:
    """A helper compiled for one way to call it."""

    function: n.Function
    hints: properties


@dataclass
class Unit:
    """One kernel being compiled."""

    sink: DiagnosticSink
    functions: list[n.Function] = field(default_factory=list)
    specializations: dict[Any, Specialization | None] = field(default_factory=dict)  # None: being compiled
    names: dict[str, int] = field(default_factory=dict)
    kernel: FunctionCompiler | None = None
    annotations: Mapping[str, Any] = field(default_factory=dict)  # of the kernel's parameters
    parameters: list[n.Variable] = field(default_factory=list)
    arrays: dict[str, Value] = field(default_factory=dict)
    calls: list[tuple[str, SourceLocation]] = field(default_factory=list)  # of the helpers being compiled
    being_passed: list[int] = field(default_factory=list)  # ids of the local functions whose captured values are passed
    helpers: dict[FunctionType, Local] = field(default_factory=dict)
    uses: MatrixUses = field(default_factory=MatrixUses)
    copies: int = 0  # of the bodies of unrolled loops and comprehensions

    def count_copies(self, f: FunctionCompiler, count: int, node: ast.AST) -> None:
        """Note that something is about to be compiled ``count`` times; what is in it counts for itself."""
        self.copies += count
        if self.copies > MAX_COPIES:
            f.fail(messages.TOO_MANY_COPIES, node, limit=MAX_COPIES)
            raise GaveUp

    # ------------------------------------------------------------------ kernels

    def compile_kernel(self, function: FunctionType, closure: Mapping[str, Any], *, sub_group_size: int | None,
                       work_group_size: tuple[int, int, int] | None) -> None:
        """Compile a kernel and what it calls; errors are in the sink."""
        source, node = definition_of(function)
        f = FunctionCompiler(self, source, node, _module_of(function, closure, node), {})
        self.kernel, self.annotations = f, function.__annotations__
        try:
            self._parameters(f)
        except Failed:
            return
        f.result = t.VOID
        location = f.location(node)
        name = self.unique(node.name if isinstance(node, ast.FunctionDef) else "lambda_kernel")
        try:
            body = _body(f)
        except GaveUp:
            return
        for value, place in f.returned:
            if not (isinstance(value, Static) and value.value is None):
                f.fail(messages.KERNEL_RESULT, place)
        self.functions.append(n.Function(name, t.VOID, self.parameters, location, True, body,
                                         required_work_group_size=work_group_size,
                                         required_sub_group_size=sub_group_size))

    def _parameters(self, f: FunctionCompiler) -> None:
        _check_parameter_kinds(f)
        arguments = arguments_of(f.node)
        first = None if not arguments else self._annotation(f, arguments[0])
        if not isinstance(first, NdItemType):
            raise f.fail(messages.FIRST_PARAMETER, arguments[0] if arguments else f.node,
                         found=_shown(first, arguments))
        f.names[arguments[0].arg] = Item(first.dimensions)
        for argument in arguments[1:]:
            type_ = self._annotation(f, argument)
            f.names[argument.arg] = self._parameter(f, argument.arg, type_, argument)

    def _annotation(self, f: FunctionCompiler, argument: ast.arg) -> Any:
        if argument.annotation is None:  # a lambda's are given as an attribute
            found = self.annotations.get(argument.arg)
            return element_type(found) or found
        return self.type_of_annotation(f, argument.annotation)

    def _parameter(self, f: FunctionCompiler, name: str, type_: Any, node: ast.AST) -> Value:
        """A parameter of the kernel, and what it is in there."""
        location = f.location(node)
        tree: t.Type
        if isinstance(type_, ElementType) and type_.format is not None:
            tree, hints = type_.scalar, properties()
        elif isinstance(type_, PointerType):
            tree, hints = type_.tree, type_.hints
        elif isinstance(type_, LocalAccessorType) and type_.dimensions == 1:
            tree, hints = type_.pointer.tree, properties()
        elif type_ in (layout, boolean):  # which kernels cannot have as parameters: they get a number
            tree, hints = t.INT if type_ is layout else t.UCHAR, properties()
        else:
            raise f.fail(messages.PARAMETER_TYPE, node, name=name, found=_shown_type_of_parameter(type_))
        variable = n.Variable(name, tree, location)
        self.parameters.append(variable)
        place = n.VariablePlace(tree, location, variable)
        if isinstance(type_, LocalAccessorType):
            return LocalArray(n.Load(tree, location, place), (None,))
        if type_ is layout:
            return LayoutValue(n.Load(tree, location, place))
        if type_ == boolean:
            return Runtime(truth(f, Element(place), node))
        return Element(place, hints)

    # ------------------------------------------------------------------ annotations and captured values

    def type_of_annotation(self, f: FunctionCompiler, node: ast.expr) -> Any:
        """The type that an annotation means; Python's numbers and numpy's types are element types."""
        found = self._evaluated(f, node)
        type_ = element_type(found)
        if type_ is not None and type_.is_abstract:
            raise f.fail(ABSTRACT_VALUE, node, type=type_, storage=type_.storage)
        return type_ or found

    def _evaluated(self, f: FunctionCompiler, node: ast.expr) -> Any:
        text = node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ast.unparse(node)
        evaluated = getattr(f.module, "annotations", {})
        if text in evaluated:
            return evaluated[text]
        try:
            return eval(text, {"__builtins__": {}}, f.module)
        except Exception as error:
            raise f.fail(messages.BAD_ANNOTATION, node, text=text, reason=error) from None

    def captured(self, f: FunctionCompiler, name: str, value: Any, node: ast.AST) -> Value:
        """What a name from outside of the kernel is in there; arrays become parameters of the kernel."""
        if isinstance(value, np.ndarray | LocalAccessor) or hasattr(type(value), "__coopmat_array__"):
            if self.kernel is not f:
                found = "an array read in a helper (the kernel itself captures arrays: pass it as an argument)"
                raise f.fail(messages.CANNOT_CAPTURE, node, name=name, found=found)
            if name not in self.arrays:
                self.arrays[name] = self._captured_array(f, name, value, node)
            return self.arrays[name]
        return self.static(f, value, node, name)

    def _captured_array(self, f: FunctionCompiler, name: str, value: Any, node: ast.AST) -> Value:
        if isinstance(value, LocalAccessor):
            found = self._parameter(f, name, replace(value.type, dimensions=1), node)
            assert isinstance(found, LocalArray)
            return replace(found, shape=value.shape)
        array = value if isinstance(value, np.ndarray) else value.__coopmat_array__()
        element = of_dtype(array.dtype)
        if element is None:
            raise f.fail(messages.CANNOT_CAPTURE, node, name=name, found=f"an array of {array.dtype}")
        hints = value.hints if isinstance(value, annotated_ptr) else properties()
        type_ = PointerType(element, address_space.global_space, not array.flags.writeable, hints)
        return self._parameter(f, name, type_, node)

    def static(self, f: FunctionCompiler, value: Any, node: ast.AST, name: str = "this") -> Value:
        """A Python object as a value."""
        if isinstance(value, (tuple, list)):
            return ValueSequence(tuple(self.static(f, item, node, name) for item in value), isinstance(value, list))
        if isinstance(value, np.ndarray):
            raise f.fail(messages.CANNOT_CAPTURE, node, name=name, found="an array inside of another object")
        if isinstance(value, np.generic) and of_dtype(value.dtype) is None:
            raise f.fail(messages.CANNOT_CAPTURE, node, name=name, found=f"a number of type {value.dtype}")
        if isinstance(value, (dict, set, bytes, complex)):
            raise f.fail(messages.CANNOT_CAPTURE, node, name=name, found=f"a {type(value).__name__}")
        return Static(value)

    # ------------------------------------------------------------------ helpers

    def helper(self, f: FunctionCompiler, function: FunctionType, node: ast.AST) -> Local:
        """A Python function as one that a kernel can call; the same for each of its calls."""
        if function not in self.helpers:
            try:
                source, definition = definition_of(function)
            except Error as error:
                raise f.fail(messages.SOURCE_MISSING, node, name=function.__qualname__, reason=error) from None
            module = _module_of(function, closure_of(function), definition)
            self.helpers[function] = Local(source, definition, module, None, self._defaults(f, function, node))
        return self.helpers[function]

    def _defaults(self, f: FunctionCompiler, function: FunctionType, node: ast.AST) -> dict[str, Value]:
        values = function.__defaults__ or ()
        names = function.__code__.co_varnames[:function.__code__.co_argcount]
        found = {**dict(zip(names[len(names) - len(values):], values, strict=True)), **(function.__kwdefaults__ or {})}
        return {f"{name}=": self.static(f, value, node, name) for name, value in found.items()}

    def call(self, given: Call, local: Local) -> Value:
        """A call of a helper or of a local function."""
        f = given.f
        local = f.capture(local)
        bound = _bind(given, local, self)
        return self._invoke(given, local, bound)

    def _invoke(self, given: Call, local: Local, bound: dict[str, Value]) -> Value:
        f, node = given.f, given.node
        with passing.of_function(f, local, node):
            passed = passing.pass_values(f, {**local.closure, **bound}, node)
        key = (local.key, passed.key)
        found = self._specialization(given, local, passed, key)
        call = n.Call(found.function.result, f.location(node), found.function, tuple(passed.arguments))
        return Nothing(call) if call.type == t.VOID else Runtime(call, found.hints)

    def _specialization(self, given: Call, local: Local, passed: passing.Passed, key: Any) -> Specialization:
        if key in self.specializations:
            found = self.specializations[key]
            if found is None:
                raise given.f.fail(messages.RECURSION, given.node, name=local.name)
            return found
        if len(self.specializations) >= MAX_SPECIALIZATIONS:
            given.f.fail(messages.TOO_MANY_SPECIALIZATIONS, given.node, name=local.name, limit=MAX_SPECIALIZATIONS)
            raise GaveUp
        self.specializations[key] = None
        try:
            with self._inside(given, local):
                found = self.specializations[key] = self._specialize(local, passed)
        finally:
            if self.specializations[key] is None:
                del self.specializations[key]
        return found

    @contextmanager
    def _inside(self, given: Call, local: Local) -> Iterator[None]:
        """Errors inside name this call."""
        self.calls.append((local.name, given.f.location(given.node)))
        try:
            yield
        finally:
            self.calls.pop()

    def _specialize(self, local: Local, passed: passing.Passed) -> Specialization:
        """Compile a helper; a second time if its result's type was not known before."""
        name = self.unique(local.name)
        before = self.sink.error_count
        result: t.Type | None = self._declared_result(local)
        if result is None:
            f = self._compiler(local, passed)
            _body(f)
            if self.sink.error_count > before:
                raise Failed
            result = _result_type(f, local.name)
        f = self._compiler(local, passed)
        f.result = result
        body = _body(f)
        if self.sink.error_count > before:
            raise Failed
        if result != t.VOID and flow.can_end(body):
            raise f.fail(messages.MISSING_RETURN, local.node, name=local.name)
        hints = next((value.hints for value, _ in f.returned if isinstance(value, Runtime)), properties())
        function = n.Function(name, result, passed.parameters, f.location(local.node), body=body)
        self.functions.append(function)
        return Specialization(function, hints)

    def _declared_result(self, local: Local) -> t.Type | None:
        if not isinstance(local.node, ast.FunctionDef) or local.node.returns is None:
            return None
        f = FunctionCompiler(self, local.source, local.node, local.module, {})
        found = self.type_of_annotation(f, local.node.returns)
        if found is None:
            return t.VOID
        if isinstance(found, ElementType):
            return found.storage.scalar
        if not isinstance(found, PointerType):
            raise f.fail(messages.NOT_A_TYPE, local.node.returns, found=Static(found))
        return found.tree

    def _compiler(self, local: Local, passed: passing.Passed) -> FunctionCompiler:
        return FunctionCompiler(self, local.source, local.node, local.module, passed.values)

    def element_function(self, f: FunctionCompiler, local: Local, given: Call,
                         values: Sequence[tuple[str, Value]], stored: t.Scalar) -> n.Expression:
        """A call, for one element of a matrix, of the function that joint_matrix_apply got: ``values`` are its
        arguments, the first the element, whose new value the call gives."""
        local = f.capture(local)
        bound = dict(values)
        with passing.of_function(f, local, given.node):
            passed = passing.pass_values(f, {**local.closure, **bound}, given.node)
        key = (local.key, "element", passed.key)
        found = self.specializations.get(key)
        if found is None:
            with self._inside(given, local):
                found = self.specializations[key] = self._specialize_for_element(local, passed, values[0][0], stored)
        return n.Call(stored, f.location(given.node), found.function, tuple(passed.arguments))

    def _specialize_for_element(self, local: Local, passed: passing.Passed, element: str,
                                stored: t.Scalar) -> Specialization:
        before = self.sink.error_count
        f = self._compiler(local, passed)
        variable = passed.values[element]
        assert isinstance(variable, Element)
        assert isinstance(variable.place, n.VariablePlace)
        f.apply_to, f.result = variable.place.variable, stored
        body = _body(f)
        if self.sink.error_count > before:
            raise Failed
        last = n.Return(f.location(local.node), apply_result(f, None, local.node))
        body = n.Block(body.location, (*body.statements, last))
        function = n.Function(self.unique(local.name), stored, passed.parameters, f.location(local.node), body=body)
        self.functions.append(function)
        return Specialization(function, properties())

    def unique(self, name: str) -> str:
        """A name that no other function of the program has."""
        count = self.names.get(name, 0)
        self.names[name] = count + 1
        return f"{name}.{count}" if count else name


class _Module(ChainMap[str, Any]):
    """What the names that a function does not assign stand for. ``annotations``: those of its parameters that Python
    has evaluated, by their text; names that nothing else reads are not in its closure."""

    annotations: Mapping[str, Any] = MappingProxyType({})


def _module_of(function: FunctionType, closure: Mapping[str, Any], node: Definition) -> Mapping[str, Any]:
    found = _Module(dict(closure), function.__globals__, vars(builtins))
    values = function.__annotations__
    found.annotations = {ast.unparse(argument.annotation): values[argument.arg] for argument in arguments_of(node)
                         if argument.annotation is not None and not isinstance(values.get(argument.arg, ""), str)}
    return found


def _body(f: FunctionCompiler) -> n.Block:
    """The statements of a function, or the expression of a lambda."""
    if isinstance(f.node, ast.FunctionDef):
        return f.block(f.node.body, f.node)
    statement = ast.copy_location(ast.Return(f.node.body), f.node.body)
    return f.block([statement], f.node, (0,))


def _check_parameter_kinds(f: FunctionCompiler) -> None:
    found = f.node.args
    for what, node in (("'*'", found.vararg), ("'**'", found.kwarg)):
        if node is not None:
            raise f.fail(messages.PARAMETER_KIND, node, what=what)


def _bind(given: Call, local: Local, unit: Unit) -> dict[str, Value]:
    """The arguments of a helper by its parameters' names, converted to the annotated types."""
    f = FunctionCompiler(unit, local.source, local.node, local.module, {})
    _check_parameter_kinds(f)
    parameters = arguments_of(local.node)
    names = [parameter.arg for parameter in parameters]
    bound: dict[str, Value] = {}
    for name, value in [*zip(names, given.arguments, strict=False), *given.named.items()]:
        if name not in names or name in bound:
            problem = "is given twice" if name in bound else "does not exist"
            raise given.f.fail(messages.BAD_ARGUMENTS, given.node, name=local.name, signature=f"({', '.join(names)})",
                               reason=f"argument '{name}' {problem}")
        bound[name] = value
    bound = {**local.defaults, **bound}
    missing = [name for name in names if name not in bound]
    if missing or len(given.arguments) > len(names):
        reason = f"argument '{missing[0]}' is missing" if missing else \
            f"it takes {len(names)} arguments, found {len(given.arguments)}"
        raise given.f.fail(messages.BAD_ARGUMENTS, given.node, name=local.name, signature=f"({', '.join(names)})",
                           reason=reason)
    for parameter in parameters:
        if parameter.annotation is not None:
            bound[parameter.arg] = _annotated(given, f, parameter, bound[parameter.arg])
    return {name: bound[name] for name in names}


def _annotated(given: Call, f: FunctionCompiler, parameter: ast.arg, value: Value) -> Value:
    """An argument as the parameter's annotation has it: numbers are converted, pointers checked."""
    assert parameter.annotation is not None
    type_ = f.unit.type_of_annotation(f, parameter.annotation)
    if isinstance(type_, ElementType) and not isinstance(value, Erroneous):
        return Runtime(expression(given.f, value, given.node, type_.storage.scalar))
    if isinstance(type_, PointerType):
        found = type_of(given.f, value, given.node)
        if not isinstance(found, t.Pointer):
            raise given.f.fail(messages.ARGUMENT_TYPE, given.node, name=f.node.name if isinstance(
                f.node, ast.FunctionDef) else "lambda", parameter=parameter.arg, expected=f"a {type_}", found=value)
        return Runtime(expression(given.f, value, given.node, type_.tree), type_.hints)
    return value


def _result_type(f: FunctionCompiler, name: str) -> t.Type:
    """The common type of what a helper returns."""
    if not f.returned:
        return t.VOID
    first, _ = f.returned[0]
    for value, node in f.returned[1:]:
        if _is_nothing(value) != _is_nothing(first):
            raise f.fail(messages.RESULT_DIFFERS, node, name=name, found=value, before=first)
    if _is_nothing(first):
        return t.VOID
    result: Value = first
    for value, node in f.returned:
        if not isinstance(value, (Runtime, Static)):
            raise f.fail(messages.RESULT_DIFFERS, node, name=name, found=value, before="a number")
        type_ = common(f, result, value, node)
        result = Static(0.0) if _is_weak(result) and _is_weak(value) else Runtime(n.Undefined(type_, None))
    return type_of(f, result, f.node)


def _is_weak(value: Value) -> bool:
    return isinstance(value, Static) and type(value.value) is float


def _is_nothing(value: Value) -> bool:
    return isinstance(value, Static) and value.value is None


def _shown(found: Any, arguments: list[ast.arg]) -> str:
    if not arguments:
        return "no parameter"
    return f"'{arguments[0].arg}' without a type" if found is None else f"'{arguments[0].arg}: {_name_of(found)}'"


def _shown_type_of_parameter(found: Any) -> str:
    if isinstance(found, LocalAccessorType):
        return f"{found}: a local accessor of several dimensions must be captured, so that its shape is known"
    return "none" if found is None else _name_of(found)


def _name_of(found: Any) -> str:
    return found.__name__ if isinstance(found, (type, ModuleType)) else str(found)

