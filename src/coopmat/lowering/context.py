"""What the parts of the walk share: the three dispatchers and the state of the function at hand.

``evaluate`` gives an expression's value, ``resolve`` finds a place's address, ``execute`` runs a
statement; each is a :func:`functools.singledispatch` on the node's class, and the modules
:mod:`~coopmat.lowering.expressions`, :mod:`~coopmat.lowering.matrices`,
:mod:`~coopmat.lowering.places` and :mod:`~coopmat.lowering.statements` hold their rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import singledispatch
from typing import TYPE_CHECKING, Any

from coopmat.diagnostics import CompileError, Diagnostic, Message, SourceLocation
from coopmat.lowering.analysis import Speculation
from coopmat.lowering.builder import BasicBlock, Builder, LoopMerge, Value
from coopmat.support.assertions import ASSERTION_FUNCTIONS
from coopmat.tree import nodes as n
from coopmat.tree import types as t

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coopmat.lowering.analysis import FunctionFacts


@dataclass(frozen=True, slots=True)
class Address:
    """Where a place lies: ``indices`` below the object that ``root`` points to.

    ``type`` is the place's type; ``components`` selects several components of a vector (a swizzle).
    """

    root: Value
    type: t.Type
    alignment: int
    volatile: bool = False
    indices: tuple[Value | int, ...] = ()
    components: tuple[int, ...] | None = None


@singledispatch
def evaluate(node: n.Expression, context: Context) -> Value:
    """The value of an expression; its effects happen once."""
    raise TypeError(f"no lowering of {type(node).__name__}")


@singledispatch
def resolve(node: n.Place, context: Context) -> Address:
    """The address of a place; the expressions inside are evaluated once."""
    raise TypeError(f"no lowering of {type(node).__name__}")


@singledispatch
def execute(node: n.Statement, context: Context) -> None:
    """Lower a statement into the open block; called through :meth:`Context.execute`."""
    raise TypeError(f"no lowering of {type(node).__name__}")


def failure(message: Message, location: SourceLocation | None, **values: Any) -> CompileError:
    """The exception for an error in the program (see :mod:`coopmat.lowering.messages`)."""
    return CompileError([Diagnostic.of(message, location, **values)])


@dataclass
class Context:
    """One function being lowered.

    ``values`` holds the parameters that need no memory, ``addresses`` the variables; ``current`` what
    an :class:`~coopmat.tree.nodes.Update` read; ``initialized`` the variables that certainly hold a
    value wherever they can be named. ``is_open`` tells whether a block is open. ``is_shift_modular``: in the
    program's language a shift's amount counts modulo the width (OpenCL C 6.3.j; in C++ one out of range is undefined,
    and stays in the module as it is).
    """

    builder: Builder
    function: n.Function
    facts: FunctionFacts
    substitutes: dict[n.Function, n.Function]
    addresses: dict[n.Variable, Value]
    values: dict[n.Variable, Value] = field(default_factory=dict)
    is_shift_modular: bool = True
    initialized: set[n.Variable] = field(default_factory=set)
    current: dict[int, Value] = field(default_factory=dict)  # by id() of the CurrentValue
    labels: dict[str, BasicBlock] = field(default_factory=dict)
    case_blocks: dict[int, BasicBlock] = field(default_factory=dict)  # by id() of the Case
    break_target: BasicBlock | None = None
    continue_target: BasicBlock | None = None
    is_open: bool = True
    targets: set[BasicBlock] = field(default_factory=set)

    @property
    def speculation(self) -> Speculation:
        """What may be evaluated here though its value is not needed."""
        return Speculation(self.initialized, self.is_shift_modular)

    # -- Expressions and statements ------------------------------------------------------

    def evaluate(self, node: n.Expression) -> Value:
        """The value of an expression, its location set for the operations."""
        self.builder.locate(node.location)
        return evaluate(node, self)

    def evaluate_all(self, nodes: Sequence[n.Expression], then: n.Expression | n.Statement) -> list[Value]:
        """The values of ``nodes`` in order; what follows comes from ``then``'s location."""
        values = [self.evaluate(node) for node in nodes]
        self.builder.locate(then.location)
        return values

    def resolve(self, node: n.Place) -> Address:
        """The address of a place."""
        return resolve(node, self)

    # -- Variables -----------------------------------------------------------------------

    def address_of(self, variable: n.Variable) -> Value:
        """The address of a variable, which comes to life now if it has not yet."""
        if variable not in self.addresses:
            self.addresses[variable] = self.builder.local_variable(variable)
        return self.addresses[variable]

    def temporary(self, value: Value) -> Value:
        """The address of a new private variable that holds ``value``."""
        pointer = self.builder.local_variable(n.Variable("", value.type, None))
        self.builder.store(pointer, value, t.layout_of(value.type).alignment)
        return pointer

    # -- Constants -----------------------------------------------------------------------

    def constant(self, type_: t.Type, value: int | float | bool) -> Value:
        """A constant of a scalar type, or a vector with that constant in each component."""
        if isinstance(type_, t.Vector):
            return self.builder.constant_composite(type_, [self.constant(type_.scalar, value)] * type_.count)
        return self.builder.constant(type_, value)

    # -- Blocks --------------------------------------------------------------------------

    def open(self, block: BasicBlock) -> None:
        """Continue in ``block``."""
        self.builder.open_block(block)
        self.is_open = True

    def open_merge(self, block: BasicBlock) -> None:
        """Continue where the parts of a construct meet; if none gets there, what follows is dead."""
        self.open(block)
        if block not in self.targets:
            self.builder.unreachable()
            self.is_open = False

    def jump(self, target: BasicBlock, loop: LoopMerge | None = None) -> None:
        """End the block with a jump; nothing happens if none is open."""
        if self.is_open:
            self.targets.add(target)
            self.builder.branch(target, loop)
            self.is_open = False

    def jump_if(self, condition: Value, if_true: BasicBlock, if_false: BasicBlock,
                merge: BasicBlock | LoopMerge | None = None) -> None:
        """End the block with a choice."""
        self.targets |= {if_true, if_false}
        self.builder.branch_if(condition, if_true, if_false, merge)
        self.is_open = False

    @contextmanager
    def jump_targets(self, leave: BasicBlock, go_on: BasicBlock | None = None) -> Iterator[None]:
        """Inside, ``break`` goes to ``leave`` and ``continue`` to ``go_on`` (None: as outside)."""
        outside = self.break_target, self.continue_target
        self.break_target, self.continue_target = leave, go_on or self.continue_target
        yield
        self.break_target, self.continue_target = outside


def with_element(type_: t.Type, scalar: t.Scalar) -> t.Type:
    """``type_``, a scalar, vector or matrix, with another element type."""
    return replace(type_, scalar=scalar) if isinstance(type_, (t.Vector, t.Matrix)) else scalar


def is_imported(function: n.Function) -> bool:
    """Whether a function is one that whoever runs the program defines."""
    return function.body is None and function.name in ASSERTION_FUNCTIONS
