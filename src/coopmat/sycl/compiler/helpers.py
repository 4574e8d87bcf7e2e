"""Helpers and local functions: one function of the program for each way to call them."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field, replace
from types import FunctionType, MethodType
from typing import Any

from coopmat.diagnostics import Error
from coopmat.sycl.captures import call_operator, closure_of
from coopmat.sycl.compiler import flow, messages, passing
from coopmat.sycl.compiler.annotations import module_of
from coopmat.sycl.compiler.binding import bind
from coopmat.sycl.compiler.context import CallSite, Compiler, Failed, GaveUp, Unit
from coopmat.sycl.compiler.function import FunctionCompiler, body_of
from coopmat.sycl.compiler.matrix_objects import has_several_names, parameter_of
from coopmat.sycl.compiler.numbers import negated
from coopmat.sycl.compiler.results import NOTHING, Result
from coopmat.sycl.compiler.returning import declared_result, result_of, result_of_call
from coopmat.sycl.compiler.scopes import arguments_of
from coopmat.sycl.compiler.statements import apply_result
from coopmat.sycl.compiler.statics import static_value
from coopmat.sycl.compiler.values import Element, Local, Nothing, Static, Value, owner_of
from coopmat.sycl.source import definition_of, has_source
from coopmat.tree import nodes as n
from coopmat.tree import types as t

MAX_SPECIALIZATIONS = 2048


@dataclass(frozen=True, slots=True)
class Specialization:
    """A helper compiled for one way to call it."""

    function: n.Function
    result: Result
    rebound: frozenset[int] = frozenset()  # the parameters to matrices whose objects get new ones


@dataclass
class Helpers:
    """The helpers of a kernel."""

    unit: Unit
    known: dict[FunctionType, Local] = field(default_factory=dict)
    methods: dict[Any, Local] = field(default_factory=dict)
    specializations: dict[Any, Specialization | None] = field(default_factory=dict)  # None: being compiled

    def of_function(self, f: Compiler, function: FunctionType, node: ast.AST) -> Local:
        """A Python function as one that a kernel can call; the same for each of its calls."""
        if function not in self.known:
            try:
                source, definition = definition_of(function)
            except Error as error:
                raise f.fail(messages.SOURCE_MISSING, node, name=function.__qualname__, reason=error) from None
            module = module_of(function, closure_of(function), definition)
            self.known[function] = Local(source, definition, module, None, self._defaults(f, function, node))
        return self.known[function]

    def of_callable(self, f: Compiler, callee: Any, node: ast.AST) -> Local | None:
        """A function, a bound method, or an object whose class has ``__call__``, as one that a kernel can call; None
        for what has no source in Python, for classes, and for objects of this package."""
        function, receiver = _function_of(callee)
        if function is None or str(function.__module__).partition(".")[0] == "coopmat":
            return None
        local = self.of_function(f, inspect.unwrap(function), node)
        return local if receiver is None else self._bound(local, receiver)

    def _bound(self, local: Local, receiver: Any) -> Local:
        """A method whose first parameter is known."""
        key = (local.key, id(receiver))
        if key not in self.methods:
            node = copy(local.node)
            node.args = copy(node.args)
            first = arguments_of(node)[0].arg
            places = "posonlyargs" if node.args.posonlyargs else "args"
            setattr(node.args, places, getattr(node.args, places)[1:])
            self.methods[key] = replace(local, node=node, captured={**local.captured, first: Static(receiver)})
        return self.methods[key]

    def _defaults(self, f: Compiler, function: FunctionType, node: ast.AST) -> dict[str, Value]:
        values = function.__defaults__ or ()
        names = function.__code__.co_varnames[:function.__code__.co_argcount]
        found = {**dict(zip(names[len(names) - len(values):], values, strict=True)), **(function.__kwdefaults__ or {})}
        return {f"{name}=": static_value(f, value, node, name) for name, value in found.items()}

    def call(self, given: CallSite, local: Local) -> Value:
        """A call of a helper or of a local function."""
        f = given.f
        local = f.capture(local)
        bound = bind(given, local)
        return self._invoke(given, local, bound)

    def call_function(self, f: Compiler, function: FunctionType, arguments: list[Value],
                      node: ast.AST) -> Value:
        """A call that is written as something else: of a property, of an operator."""
        written = ast.copy_location(ast.Call(ast.Name(function.__name__, ast.Load()), [], []), node)
        return self.call(CallSite(f, function.__name__, written, arguments), self.of_function(f, function, node))

    def overloaded(self, f: Compiler, symbol: str, left: Value, right: Value, node: ast.AST) -> Value | None:
        """An operator that the class of an operand defines; None if neither does."""
        own = _operator(left, _BINARY.get(symbol) or _COMPARISONS.get(symbol))
        if own is not None:
            return self.call_function(f, own, [left, right], node)
        if symbol == "!=":  # which Python has of ==
            equal = self.overloaded(f, "==", left, right, node)
            return None if equal is None else negated(f, equal, node)
        name = f"r{_BINARY[symbol]}" if symbol in _BINARY else _COMPARISONS.get(_SWAPPED.get(symbol, ""))
        own = _operator(right, name)
        return None if own is None else self.call_function(f, own, [right, left], node)

    def overloaded_unary(self, f: Compiler, symbol: str, value: Value, node: ast.AST) -> Value | None:
        """The same of an operator with one operand."""
        own = _operator(value, _UNARY.get(symbol))
        return None if own is None else self.call_function(f, own, [value], node)

    def _invoke(self, given: CallSite, local: Local, bound: dict[str, Value]) -> Value:
        f, node = given.f, given.node
        with passing.of_function(f, local, node):
            passed = passing.pass_values(f, {**local.closure, **bound}, node)
        key = (local.key, passed.key)
        found = self._specialization(given, local, passed, key)
        for index in found.rebound:
            _note_rebound(f, passed.arguments[index], passed.parameters[index].name, node)
        call = n.Call(found.function.result, f.location(node), found.function, tuple(passed.arguments))
        return Nothing(call) if found.result.is_nothing else result_of_call(f, found.result, call, node)

    def _specialization(self, given: CallSite, local: Local, passed: passing.Passed, key: Any) -> Specialization:
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
    def _inside(self, given: CallSite, local: Local) -> Iterator[None]:
        """Errors inside name this call."""
        self.unit.calls.append((local.name, given.f.location(given.node)))
        try:
            yield
        finally:
            self.unit.calls.pop()

    def _specialize(self, local: Local, passed: passing.Passed) -> Specialization:
        """Compile a helper; a second time if its result's type was not known before."""
        name = self.unit.unique(local.name)
        before = self.unit.sink.error_count
        result = self._declared_result(local)
        if result is None:
            f = self._compiler(local, passed)
            body_of(f)
            if self.unit.sink.error_count > before:
                raise Failed
            result = result_of(f)
        f = self._compiler(local, passed)
        f.result = result
        body = body_of(f)
        if self.unit.sink.error_count > before:
            raise Failed
        if not result.is_nothing and flow.can_end(body):
            raise f.fail(messages.MISSING_RETURN, local.node, name=local.name)
        function = n.Function(name, result.type, passed.parameters, f.location(local.node), body=body)
        self.unit.functions.append(function)
        rebound = frozenset(index for index, one in enumerate(passed.parameters) if one in f.rebound)
        return Specialization(function, result, rebound)

    def _declared_result(self, local: Local) -> Result | None:
        if not isinstance(local.node, ast.FunctionDef) or local.node.returns is None:
            return None
        f = FunctionCompiler(self.unit, local.source, local.node, local.module, {})
        return declared_result(f, local.node.returns)

    def _compiler(self, local: Local, passed: passing.Passed) -> Compiler:
        return FunctionCompiler(self.unit, local.source, local.node, local.module, passed.values)

    def call_for_element(self, f: Compiler, local: Local, given: CallSite,
                         values: Sequence[tuple[str, Value]], stored: t.Scalar) -> n.Call:
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
        before = self.unit.sink.error_count
        f = self._compiler(local, passed)
        variable = passed.values[element]
        assert isinstance(variable, Element)
        assert isinstance(variable.place, n.VariablePlace)
        f.apply_to = variable.place.variable
        body = body_of(f)
        if self.unit.sink.error_count > before:
            raise Failed
        last = n.Return(f.location(local.node), apply_result(f, None, local.node))
        body = n.Block(body.location, (*body.statements, last))
        location = f.location(local.node)
        function = n.Function(self.unit.unique(local.name), stored, passed.parameters, location, body=body)
        self.unit.functions.append(function)
        return Specialization(function, NOTHING)


def _function_of(callee: Any) -> tuple[FunctionType | None, Any]:
    """The function that a call of an object runs, and the object that it gets first, if there is one."""
    if isinstance(callee, FunctionType):
        return callee, None
    if isinstance(callee, MethodType):
        return (callee.__func__, callee.__self__) if isinstance(callee.__func__, FunctionType) else (None, None)
    return (None, None) if isinstance(callee, type) else (call_operator(type(callee)), callee)


def _note_rebound(f: Compiler, argument: n.Expression, name: str, node: ast.AST) -> None:
    """A helper gives a matrix of an object a new value: nothing else here must have that matrix."""
    assert isinstance(argument, n.AddressOf)
    if has_several_names(f, argument.place):
        raise f.fail(messages.MATRIX_SHARED, node, name=name)
    parameter = parameter_of(argument.place)
    if parameter is not None:
        f.rebound.add(parameter)


_BINARY = {"+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "**": "pow", "@": "matmul",
           "&": "and", "|": "or", "^": "xor", "<<": "lshift", ">>": "rshift"}
_COMPARISONS = {"==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
_SWAPPED = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_UNARY = {"-": "neg", "+": "pos", "~": "invert"}


def _operator(value: Value, name: str | None) -> FunctionType | None:
    """The method of a user's class for an operator; what a dataclass has by itself has no source."""
    found = None if name is None else inspect.getattr_static(owner_of(value), f"__{name}__", None)
    return found if isinstance(found, FunctionType) and has_source(found) else None
