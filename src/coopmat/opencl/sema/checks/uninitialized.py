"""Variables that are read before anything is stored in them: -Wuninitialized.

The function's body is followed once, each loop twice, with what is known of each variable: it has no value yet,
it may have one, or it has none if a certain branch was taken. Only a read that must happen then is reported.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from coopmat.diagnostics import Diagnostic, FixIt, Marks, SourceLocation, note
from coopmat.opencl.messages import warnings
from coopmat.opencl.sema.context import Context
from coopmat.tree.nodes import (
    AddressOf,
    Assign,
    Block,
    Break,
    Case,
    Comma,
    Conditional,
    Constant,
    Continue,
    Convert,
    Declare,
    ElementPlace,
    Expression,
    FieldPlace,
    Function,
    If,
    Label,
    Load,
    Logical,
    Loop,
    Place,
    Return,
    Statement,
    Switch,
    SwizzlePlace,
    Unary,
    UnaryOperator,
    Unreachable,
    Update,
    Variable,
    VariablePlace,
)
from coopmat.tree.types import VOID, AddressSpace, Matrix, Pointer, Vector
from coopmat.tree.walk import Node, children, descendants


@dataclass(frozen=True, slots=True)
class Reason:
    """The branch on which a variable has no value: where its condition begins, what it is, what could be removed."""

    location: SourceLocation | None
    when: str
    removal: tuple[str, SourceLocation | None] | None = None


@dataclass(frozen=True, slots=True)
class Absence:
    """A variable may have no value: on the branches that are the ``reasons``, or surely if there are none.
    ``is_certain`` is False where a read need not happen on such a branch."""

    reasons: tuple[Reason, ...] = ()
    is_certain: bool = True

    @property
    def is_sure(self) -> bool:
        """Whether the variable has no value whatever happened before."""
        return self.is_certain and not self.reasons


SURE, MAYBE = Absence(), Absence((), is_certain=False)

State = dict[Variable, Absence]
"""The variables that may have no value; all others have one."""


@dataclass(slots=True)
class _Exits:
    """The states in which a loop or switch is left, or begun again."""

    breaks: list[tuple[State, Reason | None]]
    continues: list[State]


def check(context: Context, function: Function) -> None:
    """Report the first read of each variable of a function that has, or may have, no value."""
    assert function.body is not None
    is_on = (context.sink.is_on(warnings.UNINITIALIZED) or context.sink.is_on(warnings.SOMETIMES_UNINITIALIZED))
    if is_on and not any(isinstance(node, Label) for node in descendants(function.body)):
        analysis = _Analysis()
        analysis.statement(function.body)
        analysis.report(context)


class _Analysis:
    """One pass over a function's body; ``state`` is None where control cannot be."""

    def __init__(self) -> None:
        self.state: State | None = {}
        self.reads: dict[Variable, list[tuple[SourceLocation | None, Absence, bool]]] = {}
        self.exits: list[_Exits] = []
        self.returns = 0
        self.is_silent = False
        self.initializing: Variable | None = None
        self.branch: Reason | None = None  # the innermost one that has been entered
        self.leaving: State | None = None  # in which the loop that has just been followed ends

    # ------------------------------------------------------------------ reports

    def report(self, context: Context) -> None:
        """What the reads say: for each variable the surest one."""
        for variable, reads in self.reads.items():
            place, absence, is_own = next((read for read in reads if read[1].is_sure), reads[0])
            hint = _initialize(variable)
            if is_own:
                context.report(warnings.OWN_INITIALIZER, place, name=variable.name)
            elif absence.is_sure:
                context.report(warnings.UNINITIALIZED, place, (hint,), name=variable.name)
            else:
                reason = absence.reasons[0]
                notes = [note("uninitialized use occurs here", place)]
                if reason.removal is not None:
                    notes.append(note(*reason.removal))
                context.report(warnings.SOMETIMES_UNINITIALIZED, reason.location, (*notes, hint), whole=True,
                               name=variable.name, when=reason.when)

    def _read(self, variable: Variable, location: SourceLocation | None) -> None:
        absence = (self.state or {}).get(variable)
        if absence is not None and absence.is_certain and not self.is_silent:
            self.reads.setdefault(variable, []).append((location, absence, variable is self.initializing))

    # ------------------------------------------------------------------ states

    def _enter(self, before: State, branch: Reason | None = None) -> None:
        """A branch begins that need not be taken: what was not sure ``before`` is not certain in it."""
        self.branch = branch
        if self.state is not None:
            self.state = {variable: absence if absence.is_sure or before.get(variable) != absence
                          else replace(absence, is_certain=False) for variable, absence in self.state.items()}

    def _restore(self, before: State, returns: int) -> None:
        """Behind a branch, what has not changed in it is as certain as before, unless the function may have ended."""
        if self.state is None or self.returns > returns:
            return
        for variable, absence in self.state.items():
            earlier = before.get(variable, MAYBE)
            if earlier.reasons and absence == replace(earlier, is_certain=False):
                self.state[variable] = earlier

    def _copy(self) -> State | None:
        return None if self.state is None else dict(self.state)

    # ------------------------------------------------------------------ statements

    def statement(self, node: Statement) -> None:
        """Follow a statement."""
        match node:
            case Block(statements=statements):
                for inner in statements:
                    self.statement(inner)
            case Declare(variable=variable, initializer=initializer):
                self._declare(variable, initializer)
            case If():
                self._if(node)
            case Loop():
                self._loop(node)
            case Switch():
                self._switch(node)
            case Return(value=value):
                if value is not None:
                    self.expression(value)
                self.returns += 1
                self.state = None
            case Break():
                if self.state is not None:
                    self.exits[-1].breaks.append((self.state, self.branch))
                self.state = None
            case Continue():
                loop = next(exits for exits in reversed(self.exits) if exits.continues is not _NO_LOOP)
                if self.state is not None:
                    loop.continues.append(self.state)
                self.state = None
            case Unreachable():
                self.state = None
            case _:
                for inner_node in children(node):
                    self._node(inner_node)

    def _node(self, node: Node) -> None:
        if isinstance(node, Expression):
            self.expression(node)
        elif isinstance(node, Place):
            self._place(node)
        else:
            self.statement(node)

    def _declare(self, variable: Variable, initializer: Expression | None) -> None:
        if self.state is not None and _is_tracked(variable):
            self.state[variable] = SURE
        if initializer is not None:
            self.initializing = variable
            self.expression(initializer)
            self.initializing = None
            self._store(variable)

    def _if(self, node: If) -> None:
        """A chain of ``else if`` is walked in a loop, as it may be long."""
        before, returns = dict(self.state or {}), self.returns
        outcomes: list[tuple[State | None, Reason]] = []
        current: Statement | None = node
        while isinstance(current, If):
            start = _start(current.condition)
            if_true, if_false = self._condition(current.condition)
            always = "remove the 'if' if its condition is always"
            taken = Reason(start, "'if' condition is true", (f"{always} false", current.location))
            self.state = if_true
            self._enter(before, taken)
            self.statement(current.then)
            outcomes.append((self.state, taken))
            self.state = if_false
            last = Reason(start, "'if' condition is false", (f"{always} true", current.location))
            self._enter(before, last)
            current = current.otherwise
        if current is not None:
            self.statement(current)
        self.state = _join([*outcomes, (self.state, last)])
        self._restore(before, returns)

    def _loop(self, node: Loop) -> None:
        before, returns = dict(self.state or {}), self.returns
        if self.is_silent:  # inside another loop's first turn one turn is enough
            exits = self._once(node)
            self.leaving = _merge(self.leaving, self.state)
        else:
            self.is_silent = True
            entry = self._copy()
            self._once(node)
            self.is_silent = False
            self.state = _merge(entry, self.state)
            exits = self._once(node)
        what = "for" if node.step is not None or node.condition is None else "do" if node.tests_last else "while"
        start = None if node.condition is None else _start(node.condition)
        ends = Reason(start, f"'{what}' loop exits because its condition is false",
                      ("remove the condition if it is always true", start))
        endings: list[tuple[State | None, Reason | None]] = [*exits.breaks]
        if not _is_endless(node):
            endings.append((self.leaving, ends))
        self.state = _join(endings)
        self._restore(before, returns)

    def _once(self, node: Loop) -> _Exits:
        """One turn; ``state`` is then the one before the next test, ``leaving`` the one in which the loop ends."""
        exits = _Exits([], [])
        self.exits.append(exits)
        leaving = None
        if node.condition is not None and not node.tests_last:
            self.state, leaving = self._condition(node.condition)
        self._enter(dict(self.state or {}))
        self.statement(node.body)
        self.state = _join([(self.state, None), *((state, None) for state in exits.continues)])
        if node.condition is not None and node.tests_last:
            self.state, leaving = self._condition(node.condition)
        if node.step is not None:
            self.expression(node.step)
        self.exits.pop()
        self.leaving = leaving
        return exits

    def _switch(self, node: Switch) -> None:
        self.expression(node.value)
        before, returns = dict(self.state or {}), self.returns
        self._enter(before)
        entry = self._copy()
        exits = _Exits([], _NO_LOOP)
        self.exits.append(exits)
        self.state = None
        reason: Reason | None = None
        for inner in node.body.statements if isinstance(node.body, Block) else (node.body,):
            if isinstance(inner, Case):
                reason = Reason(inner.location, f"switch {'default' if inner.value is None else 'case'} is taken")
                self.state = _join([(self.state, None), (None if entry is None else dict(entry), reason)])
            else:
                count = len(exits.breaks)
                self.statement(inner)
                exits.breaks[count:] = [(state, reason) for state, _ in exits.breaks[count:]]
        self.exits.pop()
        endings: list[tuple[State | None, Reason | None]] = [*exits.breaks, (self.state, reason)]
        if not any(case.value is None for case in node.cases):
            endings.append((None if entry is None else dict.fromkeys(entry, MAYBE), None))
        self.state = _join(endings)
        self._restore(before, returns)

    # ------------------------------------------------------------------ expressions

    def expression(self, node: Expression) -> None:
        """Follow the evaluation of an expression."""
        match node:
            case Load(place=place):
                variable = _variable(place)
                self._place(place)
                if variable is not None:
                    self._read(variable, node.location)
            case Assign(place=place, value=value):
                self.expression(value)
                self._place(place)
                self._store(_variable(place))
            case Update(place=place, value=value):
                self._place(place)
                variable = _variable(place)
                if variable is not None:
                    self._read(variable, place.location)
                self.expression(value)
            case AddressOf(place=place):
                self._place(place)
                self._store(_variable(place))
            case Comma(type=type_, first=Load(place=VariablePlace())) if type_ == VOID:
                return  # (void)x only says that x is not used
            case Logical():
                if_true, if_false = self._condition(node)
                self.state = _join([(if_true, None), (if_false, _logical_reason(node))])
            case Conditional():
                self._conditional(node)
            case _:
                for inner in children(node):
                    self._node(inner)

    def _conditional(self, node: Conditional) -> None:
        before, returns = dict(self.state or {}), self.returns
        start = _start(node.condition)
        if_true, if_false = self._condition(node.condition)
        self.state = if_true
        self._enter(before)
        self.expression(node.if_true)
        after_true = self.state
        self.state = if_false
        self._enter(before)
        self.expression(node.if_false)
        always = "remove the '?:' if its condition is always"
        self.state = _join([(after_true, Reason(start, "'?:' condition is true", (f"{always} false", start))),
                            (self.state, Reason(start, "'?:' condition is false", (f"{always} true", start)))])
        self._restore(before, returns)

    def _condition(self, node: Expression) -> tuple[State | None, State | None]:
        """Follow a condition: the states where it is true and where it is false."""
        if isinstance(node, Unary) and node.operator is UnaryOperator.NOT:
            if_true, if_false = self._condition(node.operand)
            return if_false, if_true
        if isinstance(node, Convert):
            return self._condition(node.operand)
        if not isinstance(node, Logical):
            self.expression(node)
            return self._copy(), self.state
        reason = _logical_reason(node)
        left_true, left_false = self._condition(node.left)
        self.state = left_true if node.is_and else left_false
        self._enter(dict(self.state or {}))
        right_true, right_false = self._condition(node.right)
        if node.is_and:
            return right_true, _join([(left_false, reason), (right_false, None)])
        return _join([(left_true, reason), (right_true, None)]), right_false

    def _place(self, place: Place) -> None:
        """The expressions in a place: indices and pointers."""
        if not isinstance(place, VariablePlace):
            for inner in children(place):
                self._node(inner)

    def _store(self, variable: Variable | None) -> None:
        if variable is not None and self.state is not None:
            self.state.pop(variable, None)


_NO_LOOP: list[State] = []  # the continues of a switch


# ------------------------------------------------------------------ helpers


def _is_tracked(variable: Variable) -> bool:
    type_ = variable.type
    is_simple = type_.is_arithmetic or isinstance(type_, (Vector, Pointer, Matrix))
    return is_simple and variable.address_space is AddressSpace.PRIVATE and not variable.name.startswith(".")


def _variable(place: Place) -> Variable | None:
    """The variable that a place is, or is a component of."""
    while isinstance(place, (ElementPlace, SwizzlePlace, FieldPlace)):
        place = place.base
    return place.variable if isinstance(place, VariablePlace) else None


def _start(expression: Expression) -> SourceLocation | None:
    """Where an expression begins."""
    places = [node.location for node in descendants(expression) if node.location is not None]
    own = expression.location
    same = [place for place in places if own is not None and place.file == own.file]
    return min(same, key=lambda place: (place.line, place.column), default=own)


def _is_endless(node: Loop) -> bool:
    return node.condition is None or (isinstance(node.condition, Constant) and bool(node.condition.value))


def _logical_reason(node: Logical) -> Reason:
    operator, outcome, other = ("&&", "false", "true") if node.is_and else ("||", "true", "false")
    start = _start(node.left)
    return Reason(start, f"'{operator}' condition is {outcome}",
                  (f"remove the '{operator}' if its condition is always {other}", start))


def _join(outcomes: Iterable[tuple[State | None, Reason | None]]) -> State | None:
    """The state after any of several branches; a branch on which a variable surely has no value is a reason."""
    reached = [(state, reason) for state, reason in outcomes if state is not None]
    if not reached:
        return None
    if len(reached) == 1:
        return reached[0][0]
    result: State = {}
    for variable in dict.fromkeys(variable for state, _ in reached for variable in state):
        found = [(state.get(variable), reason) for state, reason in reached]
        result[variable] = _join_absences(found)
    return result


def _join_absences(found: list[tuple[Absence | None, Reason | None]]) -> Absence:
    if found[0][0] is not None and all(absence == found[0][0] for absence, _ in found):
        return found[0][0]
    reasons: list[Reason] = []
    for absence, reason in found:
        if absence is not None and absence.is_sure:
            reasons += [reason] if reason is not None else []
        elif absence is not None and absence.is_certain:
            reasons += absence.reasons
    return Absence(tuple(reasons)) if reasons else MAYBE


def _merge(entry: State | None, again: State | None) -> State | None:
    """The state at the head of a loop: what only the first turn lacks may be there."""
    if entry is None or again is None:
        return entry
    return {variable: absence if again.get(variable) == absence else MAYBE for variable, absence in entry.items()}


def _initialize(variable: Variable) -> Diagnostic:
    """The note that says how to mend it."""
    location = variable.location
    text = " = 0"
    marks = Marks()
    if location is not None and location.macro is None and not isinstance(variable.type, Matrix):
        marks = Marks(fix=FixIt(_behind(location), text))
    return note(f"initialize the variable '{variable.name}' to silence this warning", location, marks)


def _behind(location: SourceLocation) -> SourceLocation:
    return SourceLocation(location.file, location.line, location.column + location.length, 1, None, None,
                          location.presumed_name, location.physical_line)
