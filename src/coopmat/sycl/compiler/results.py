"""What a function returns: numbers, pointers, matrices, tuples and structures of them, and what is known when it is
compiled."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from coopmat.sycl.compiler.values import Aggregate, MatrixValue, Runtime, Static, Value, leaves
from coopmat.tree import types as t


@dataclass(frozen=True)
class Result:
    """What a function returns: a value in which what it computes is undefined, of the type that it has."""

    form: Value

    @cached_property
    def types(self) -> tuple[t.Type, ...]:
        """The types of what it computes, in order."""
        return tuple(leaf.expression.type for leaf in leaves(self.form) if isinstance(leaf, Runtime | MatrixValue))

    @property
    def is_nothing(self) -> bool:
        """Whether it returns None."""
        return isinstance(self.form, Static) and self.form.value is None

    @cached_property
    def type(self) -> t.Type:
        """The type of the function's result in the tree."""
        if isinstance(self.form, Aggregate) and self.types:
            return t.Record("result", fields=tuple(t.Field(f"part{i}", type_) for i, type_ in enumerate(self.types)))
        return self.types[0] if self.types else t.VOID


NOTHING = Result(Static(None))
