"""The analysis put together: which part of it analyses which construct.

Expressions, types, statements and calls contain one another. Each part calls the others through its
:class:`~coopmat.opencl.sema.context.Context`, and only this module knows them all.
"""

from __future__ import annotations

from coopmat.diagnostics import SourceLocation
from coopmat.opencl.base.symbols import Declared, QualifiedType
from coopmat.opencl.base.values import Operand
from coopmat.opencl.builtins import choices, compiler_calls
from coopmat.opencl.messages import semantic as messages
from coopmat.opencl.parse import syntax
from coopmat.opencl.sema import assignment, calls, declarators, expressions, statements
from coopmat.opencl.sema.checks import sequencing
from coopmat.opencl.sema.context import Context
from coopmat.tree.nodes import Expression
from coopmat.tree.types import Type

MAX_DEPTH = 256
"""Operators inside one another; a chain such as ``a + b + c`` counts once."""

EXPRESSIONS: dict[type[syntax.Expression], expressions.Handler] = {
    **expressions.HANDLERS,
    syntax.FunctionCall: calls.call,
    syntax.GenericSelection: choices.selection,
    syntax.BuiltinOperation: compiler_calls.operation,
    syntax.StatementExpression: statements.statement_expression,
}
"""What analyses each kind of expression."""


class Analyzer(Context):
    """The context of an analysis with the way to all its parts."""

    def analyze(self, node: syntax.Expression, target: Type | None = None) -> Operand:
        """The value or place that an expression stands for; an error expression after a report."""
        if self.depth >= MAX_DEPTH:
            return self.error(messages.EXPRESSION_TOO_DEEP, node.location, limit=MAX_DEPTH)
        self.depth += 1
        try:
            return EXPRESSIONS[type(node)](self, node, target)
        finally:
            self.depth -= 1

    def analyze_whole(self, node: syntax.Expression, target: Type | None = None) -> Operand:
        """:meth:`analyze` for an expression that is no part of another one: the order of its effects is checked."""
        before = self.modifications
        result = self.analyze(node, target)
        if self.modifications > before + sequencing.is_modification(node):
            sequencing.check(self, node)
        return result

    def specified_type(self, specifiers: syntax.Specifiers) -> QualifiedType:
        """The type that specifiers give, with type attributes."""
        return declarators.specified_type(self, specifiers)

    def declared(self, base: QualifiedType, declarator: syntax.Declarator) -> Declared:
        """What a declarator makes of the type that the specifiers give."""
        return declarators.declared(self, base, declarator)

    def resolve_type_name(self, name: syntax.TypeName) -> Type:
        """The type in a cast, sizeof or compound literal; ERROR after a report."""
        return declarators.qualified_type_name(self, name).type

    def assign(self, target: Operand, value: Expression, location: SourceLocation | None) -> Expression:
        """``target = value``."""
        return assignment.assign(self, target, value, location)
