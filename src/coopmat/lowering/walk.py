"""The walk over a program: module variables, declarations, then function after function."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace

from coopmat.diagnostics import Error
from coopmat.lowering import expressions, matrices, messages, statements
from coopmat.lowering.analysis import FunctionFacts, function_facts
from coopmat.lowering.builder import Builder, Value
from coopmat.lowering.constants import constant
from coopmat.lowering.context import Context, failure, is_imported
from coopmat.lowering.conversions import to_memory
from coopmat.lowering.memory import value_type
from coopmat.tree import nodes as n
from coopmat.tree import types as t

__all__ = ["lower"]
_RECURSION_LIMIT = 20_000  # frames: some five for each level of nesting
_NODE_MODULES = (expressions, matrices, statements)  # importing them fills the dispatchers


def lower(program: n.Program, builder: Builder) -> None:
    """Drive ``builder`` through ``program``.

    Raises :class:`coopmat.diagnostics.CompileError` for what a front end cannot know: a call of a
    function without definition, an initialiser that is not a constant.
    """
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, _RECURSION_LIMIT))
    try:
        _Walk(program, builder).run()
    except RecursionError:
        raise Error("an expression or statement of the program is nested too deeply to be lowered; "
                    "split it into several") from None
    finally:
        sys.setrecursionlimit(limit)


class _Walk:
    """What the functions of one program share."""

    def __init__(self, program: n.Program, builder: Builder) -> None:
        self.program = program
        self.builder = builder
        self.addresses: dict[n.Variable, Value] = {}
        self.unfinished: list[n.Variable] = []  # variables whose initialisers are being written
        defined = [function for function in program.functions if function.body is not None]
        facts = {function: function_facts(function) for function in defined}
        called = {callee for fact in facts.values() for callee in fact.calls}
        self.imported = [callee for callee in dict.fromkeys(callee for fact in facts.values() for callee in fact.calls)
                         if is_imported(callee)]
        self.substitutes = {kernel: _as_helper(kernel) for kernel in defined
                            if kernel.is_kernel and kernel in called}
        self.functions = [*self.substitutes.values(),
                          *(_kernel_around(self.substitutes[f], f) if f in self.substitutes else f
                            for f in defined)]
        self.facts = {function: facts.get(function) or function_facts(function) for function in self.functions}

    def run(self) -> None:
        self.builder.begin_program(replace(self.program, functions=self.functions))
        for function in self.imported:
            self.builder.import_function(function)
        for variable in self.program.globals:
            self._address_of(variable)
        for function in self.functions:
            for declaration in self.facts[function].shared:
                self._module_variable(declaration.variable, declaration.initializer)
        for function in self.functions:
            self.builder.declare_function(function)
        for function in self.functions:
            self._function(function, self.facts[function])

    def _address_of(self, variable: n.Variable) -> Value:
        """The address of a variable of the program, which is written before those that point to it."""
        if variable not in self.addresses:
            if variable in self.unfinished:
                raise failure(messages.CIRCULAR_INITIALIZER, variable.location, name=variable.name)
            self.unfinished.append(variable)
            self._module_variable(variable, variable.initializer)
            self.unfinished.pop()
        return self.addresses[variable]

    def _module_variable(self, variable: n.Variable, initializer: n.Expression | None) -> None:
        value = None if initializer is None else self._constant(initializer, variable)
        self.addresses[variable] = self.builder.module_variable(variable, value)

    def _constant(self, node: n.Expression, variable: n.Variable) -> Value:
        """What ``variable`` holds from the start."""
        try:
            return constant(self.builder, node, in_memory=True, address_of=self._address_of)
        except ValueError:
            raise failure(messages.NOT_CONSTANT, node.location, name=variable.name) from None

    def _context(self, function: n.Function, facts: FunctionFacts) -> Context:
        return Context(self.builder, function, facts, self.substitutes, dict(self.addresses),
                       is_shift_modular=self.program.language is n.Language.OPENCL_C)

    def _function(self, function: n.Function, facts: FunctionFacts) -> None:
        assert function.body is not None
        context = self._context(function, facts)
        self.builder.locate(function.location)
        values = self.builder.begin_function(function)
        self._bind_parameters(function.parameters, values, context)
        statements.run(function.body, context)
        if context.is_open:
            self.builder.locate(function.location)
            is_void = isinstance(function.result, t.Void)
            self.builder.return_value(None if is_void else self.builder.undefined(function.result))
        self.builder.end_function()

    def _bind_parameters(self, parameters: Sequence[n.Variable], values: Sequence[Value],
                         context: Context) -> None:
        """Parameters that are only read whole stay values, the others move into variables."""
        context.initialized.update(parameters)
        for parameter, given in zip(parameters, values, strict=True):
            value = replace(given, type=value_type(parameter.type))
            if parameter not in context.facts.in_memory:
                context.values[parameter] = value
                continue
            pointer = context.address_of(parameter)
            alignment = t.layout_of(parameter.type).alignment
            self.builder.store(pointer, to_memory(context, value), alignment)


def _as_helper(kernel: n.Function) -> n.Function:
    """The body of a kernel that other functions call: SPIR-V forbids calls of entry points."""
    return replace(kernel, name=f"{kernel.name}.body", is_kernel=False, overloadable=False)


def _kernel_around(helper: n.Function, kernel: n.Function) -> n.Function:
    """A kernel that calls ``helper`` with its own parameters."""
    parameters = [replace(parameter) for parameter in kernel.parameters]
    arguments = tuple(n.Load(p.type, p.location, n.VariablePlace(p.type, p.location, p)) for p in parameters)
    call = n.Call(t.VOID, kernel.location, helper, arguments)
    body = n.Block(kernel.location, (n.Evaluate(kernel.location, call),))
    return replace(kernel, parameters=parameters, body=body)
