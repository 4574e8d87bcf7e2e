"""Scopes, variables and their parts; values are those of the work-item that a stack frame is of."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from coopmat.debugger.dap.frames import Frames, StackFrame
from coopmat.debugger.evaluation import BY_DIMENSION, FUNCTIONS, evaluate, member_names
from coopmat.debugger.expressions import Node
from coopmat.debugger.queries import Query, answer, scope_of_all
from coopmat.debugger.scope import Known, Scope
from coopmat.debugger.showing import Format, lines_of_all, matrix_of, number, owner_names, show
from coopmat.diagnostics import Error
from coopmat.spirv.analysis.types import ArrayType, IntType, MatrixType, PointerType, StructType, VectorType
from coopmat.targets.simulator.memory import element_stride

Row = dict[str, Any]
LETTERS = "xyzw"  # components of short vectors


def _none() -> list[Row]:
    return []


@dataclass(frozen=True)
class Parts:
    """What a reference stands for: variables with names, and ``count`` with an index. ``frame``: where their
    expressions have values."""

    frame: StackFrame
    named: Callable[[], list[Row]] = _none
    count: int = 0
    indexed: Callable[[int], Row] = lambda index: {}

    def rows(self, kind: str, start: int, count: int) -> list[Row]:
        """The variables of a kind, named, indexed or both; of the indexed ones ``count`` from ``start``, 0 for all."""
        end = min(self.count, start + count) if count else self.count
        return ([] if kind == "indexed" else self.named()) + \
            ([] if kind == "named" else [self.indexed(index) for index in range(start, end)])

    def row(self, name: str) -> Row | None:
        """A variable by its name."""
        match = re.fullmatch(r"\[(\d+)\]", name)
        if match and int(match[1]) < self.count:
            return self.indexed(int(match[1]))
        return next((row for row in self.rows("", 0, 0) if row["name"] == name), None)


class Variables:
    """References last while the kernel stands still."""

    def __init__(self, frames: Frames) -> None:
        self.frames = frames
        self.engine = frames.engine
        self._parts: list[Parts] = []

    def forget(self) -> None:
        """The kernel stands somewhere else."""
        self._parts = []

    def parts(self, reference: int) -> Parts:
        """Error for a reference of an earlier stop."""
        if not 0 < reference <= len(self._parts):
            raise Error(f"there are no variables {reference}: the kernel has gone on since")
        return self._parts[reference - 1]

    def _reference(self, parts: Parts) -> int:
        self._parts.append(parts)
        return len(self._parts)

    # --- scopes -----------------------------------------------------------------------

    def scopes(self, frame: StackFrame, how: Format = Format()) -> list[Row]:  # noqa: B008
        """The scopes of a frame."""
        code = frame.activation.code
        assert code is not None
        variables = code.function.variables
        own = [list(dict.fromkeys(one.name for one in variables if one.is_variable == flag)) for flag in (True, False)]
        shared = self.engine.scope(frame.activation, self.engine.lane(frame.place)).shared()
        found = [self._scope("Locals", frame, own[0], "locals"), self._scope("Arguments", frame, own[1], "arguments")]
        if shared:
            found.append(self._scope("Module", frame, shared))
        everybody = Parts(frame, lambda: [self._of_all(name, Node("name", name), frame) for name in own[0] + own[1]])
        ids = Parts(frame, lambda: [self._id(name, frame, index < BY_DIMENSION)
                                    for index, name in enumerate(FUNCTIONS)])
        return found + [{"name": name, "variablesReference": self._reference(parts), "expensive": True}
                        for name, parts in (("Work-item", ids), ("All work-items", everybody))]

    def _scope(self, name: str, frame: StackFrame, names: Sequence[str], hint: str | None = None) -> Row:
        parts = Parts(frame, lambda: [self.variable(one, Query.parse(one).node, frame, Format()) for one in names])
        return {"name": name, "variablesReference": self._reference(parts), "expensive": False,
                "namedVariables": len(names)} | ({"presentationHint": hint} if hint else {})

    def _id(self, function: str, frame: StackFrame, has_dimensions: bool) -> Row:
        """What one of the functions that tell who a work-item is returns, in all dimensions."""
        texts = [f"{function}({dimension})" for dimension in range(3)] if has_dimensions else [f"{function}()"]
        values = [self.variable(text, Query.parse(text).node, frame, Format())["value"] for text in texts]
        return {"name": function, "value": f"({', '.join(values)})" if has_dimensions else values[0],
                "variablesReference": 0, **({} if has_dimensions else {"evaluateName": texts[0]})}

    def _of_all(self, name: str, node: Node, frame: StackFrame) -> Row:
        """A variable of all work-items that are in a function."""
        try:
            scope = scope_of_all(self.engine, frame.activation)
            lines = lines_of_all(scope.load(evaluate(node, scope)), scope, Format())
        except Error as error:
            return {"name": name, "value": f"<{error}>", "variablesReference": 0}
        return {"name": name, **self._runs(lines, frame)}

    def _runs(self, lines: Sequence[str], frame: StackFrame) -> Row:
        """The values of runs of work-items: ``(0, 0, 0) to (3, 0, 0): 1``."""
        split = [line.rpartition("): ") for line in lines]
        rows = [{"name": f"{who})" if sign else "…", "value": value, "variablesReference": 0}
                for who, sign, value in split]
        values = list(dict.fromkeys(value for _, _, value in split))
        shown = values[0] if len(values) == 1 else f"{len(lines)} runs of work-items"
        return {"value": shown, "variablesReference": self._reference(Parts(frame, lambda: rows))}

    # --- values -----------------------------------------------------------------------

    def variable(self, name: str, node: Node, frame: StackFrame, how: Format) -> Row:
        """A variable; an error in place of its value if it has none."""
        try:
            known, scope = self.engine.evaluate(node, frame.activation, frame.place)
            return {"name": name, "evaluateName": str(node), **self.value(known, scope, node, frame, how)}
        except Error as error:
            return {"name": name, "value": f"<{error}>", "variablesReference": 0, "evaluateName": str(node)}

    def value(self, known: Known, scope: Scope, node: Node, frame: StackFrame, how: Format) -> Row:
        """A value, its type, and a reference to its parts."""
        row = {"type": type_name(known), "variablesReference": 0,
               "value": str(known.kind) if isinstance(known.kind, MatrixType) else show(known, scope, frame.place, how)}
        parts = self._parts_of(known, scope, node, frame, how)
        if parts is None:
            return row
        named = {"namedVariables": len(parts.named())} if parts.named is not _none else {}
        return row | {"variablesReference": self._reference(parts), **named} | (
            {"indexedVariables": parts.count} if parts.count else {})

    def _parts_of(self, known: Known, scope: Scope, node: Node, frame: StackFrame, how: Format) -> Parts | None:
        """The parts of a value that has some."""
        kind = known.kind

        def member(name: str) -> Row:
            return self.variable(name, Node("member", name, (node,)), frame, how)

        def element(index: int) -> Row:
            return self.variable(f"[{index}]", Node("index", "", (node, Node("number", str(index)))), frame, how)

        if isinstance(kind, StructType):
            return Parts(frame, lambda: [member(name) for name in member_names(known, scope)])
        if isinstance(kind, VectorType):
            names = LETTERS[:kind.length] if kind.length <= len(LETTERS) else [f"s{i:x}" for i in range(kind.length)]
            return Parts(frame, lambda: [member(name) for name in names])
        if isinstance(kind, ArrayType):
            return Parts(frame, count=kind.length, indexed=element)
        if isinstance(kind, MatrixType):
            return self._matrix(known, scope, node, frame, how)
        if isinstance(kind, PointerType):
            count = elements_from(known, scope, frame)
            return Parts(frame, count=count, indexed=element) if count else None
        return None

    def _matrix(self, known: Known, scope: Scope, node: Node, frame: StackFrame, how: Format) -> Parts:
        """A matrix: its rows, what the work-item holds of it, and who holds what."""
        kind = known.kind
        assert isinstance(kind, MatrixType)
        cells = [[number(value, kind.component, known.is_unsigned, how) for value in line]
                 for line in matrix_of(known, scope, frame.place)]

        def lines(texts: Sequence[Sequence[str]], is_value: bool) -> Callable[[int], Row]:
            def line(row: int) -> Row:
                def cell(column: int) -> Row:
                    name = {"evaluateName": f"{node}[{row}, {column}]"} if is_value else {}
                    return {"name": f"[{column}]", "value": texts[row][column], "variablesReference": 0, **name}

                columns = len(texts[row])
                return {"name": f"[{row}]", "value": " ".join(texts[row]), "indexedVariables": columns,
                        "variablesReference": self._reference(Parts(frame, count=columns, indexed=cell))}
            return line

        def named() -> list[Row]:
            share = Parts(frame, count=kind.slice_length, indexed=lambda index: self.variable(
                f"[{index}]", Node("index", "", (node, Node("number", str(index)))), frame, how))
            owners = Parts(frame, count=kind.rows, indexed=lines(owner_names(kind), False))
            return [{"name": name, "value": text, "variablesReference": self._reference(parts),
                     "indexedVariables": parts.count, "presentationHint": {"kind": "virtual"}}
                    for name, text, parts in (("share", "components of the work-item", share),
                                              ("owners", "lane and component of each element", owners))]

        return Parts(frame, named, kind.rows, lines(cells, True))

    # --- expressions ------------------------------------------------------------------

    def answer(self, query: Query, frame: StackFrame) -> Row:
        """The value of an expression, for one work-item or for all. Error if it has none."""
        found = answer(self.engine, query, frame.activation, frame.place)
        if found.place is None:
            lines = lines_of_all(found.known, found.scope, query.how)
            row = self._runs(lines, frame)
            return {"result": "\n".join(lines), "variablesReference": row["variablesReference"]}
        if found.place != frame.place:
            frame = replace(frame, place=found.place, activation=found.scope.activation)
        row = self.value(found.known, found.scope, query.node, frame, query.how)
        return {"result": row.pop("value"), **row}


def type_name(known: Known) -> str:
    """A value's type in words."""
    kind = known.kind
    is_unsigned = known.is_unsigned and isinstance(kind, IntType | VectorType | ArrayType) and "int" in str(kind)
    return str(kind).replace("int", "uint", 1) if is_unsigned else str(kind)


def elements_from(pointer: Known, scope: Scope, frame: StackFrame) -> int:
    """How many elements lie in a buffer from where a pointer of a work-item leads; 0 if it leads nowhere."""
    assert isinstance(pointer.kind, PointerType)
    address = int(scope.at(np.asarray(pointer.value), frame.place))
    memory = scope.frame.memory
    buffer = memory.buffer_at(address)
    stride = element_stride(scope.target(pointer.kind))
    if buffer is None or not stride or memory.offset_in(address) < 0:
        return 0
    return max(0, (buffer.row.nbytes - memory.offset_in(address)) // stride)
