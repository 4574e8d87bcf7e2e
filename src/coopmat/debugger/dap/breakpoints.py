"""Breakpoints as clients set them: all those of a file, or of a kind, at once; those that stay keep their hits."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from coopmat.debugger.code import Line
from coopmat.debugger.dap.messages import Arguments, Refusal
from coopmat.debugger.dap.sources import Sources
from coopmat.debugger.dap.variables import Variables
from coopmat.debugger.expressions import parse
from coopmat.debugger.places import line_with_code
from coopmat.debugger.points import Breakpoint, Hits, Message, Point, Watchpoint
from coopmat.diagnostics import Error

Row = dict[str, Any]
AnyPoint = TypeVar("AnyPoint", bound=Point)
FUNCTIONS = "functions"  # stands for a file where functions have breakpoints
WHEN = ("condition", "hitCondition", "logMessage")


class Breakpoints:
    """Those of one client. ``off``: none of them stops anything."""

    def __init__(self, sources: Sources, variables: Variables) -> None:
        self.engine = sources.engine
        self.sources = sources
        self.variables = variables
        self.off = False
        self._set: dict[str, dict[tuple[str, ...], Breakpoint]] = {}  # by file
        self._watchable: dict[str, Watchpoint] = {}  # by what clients call them

    # --- lines and functions ----------------------------------------------------------

    def set_lines(self, source: Arguments, wanted: Iterable[Arguments]) -> list[Row]:
        """The breakpoints of a file, in place of those that it had."""
        try:
            file = self.sources.file_of(source)
        except Error as error:
            return [self._refused(error) for _ in wanted]

        def place(one: Arguments) -> tuple[Line | None, str | None]:
            return line_with_code(self.engine, file, self.sources.dialect.from_line(one.number("line"))), None

        return self._replace(file, wanted, place)

    def set_functions(self, wanted: Iterable[Arguments]) -> list[Row]:
        """The breakpoints of functions, in place of all that there were."""
        return self._replace(FUNCTIONS, wanted, lambda one: (self.engine.entry(one.text("name")), one.text("name")))

    def _replace(self, file: str, wanted: Iterable[Arguments],
                 place: Callable[[Arguments], tuple[Line | None, str | None]]) -> list[Row]:
        before = self._set.get(file, {})
        now: dict[tuple[str, ...], Breakpoint] = {}
        rows = []
        for one in wanted:
            try:
                line, function = place(one)
                key = (str(line), function or "", *(one.text(name, "") for name in WHEN))
                point = now.get(key) or before.get(key) or self._made(one, line, function)
            except Error as error:
                rows.append(self._refused(error))
                continue
            now[key] = point
            rows.append({"id": point.number, "verified": True, **self.sources.place(point.line)})
        for key, point in before.items():
            if key not in now:
                self.engine.points.breakpoints.pop(point.number, None)
        for point in now.values():
            if point.number not in self.engine.points.breakpoints and not self.off:
                self.engine.add(point)
        self._set[file] = now
        return rows

    def _made(self, one: Arguments, line: Line | None, function: str | None) -> Breakpoint:
        message = one.text("logMessage", "")
        return _conditioned(Breakpoint(self.engine.points.next_number(), line, function,
                                       message=Message.parse(message) if message else None), one)

    def _refused(self, error: Error) -> Row:
        return {"id": self.engine.points.next_number(), "verified": False, "message": str(error), "reason": "failed"}

    def locations(self, arguments: Arguments) -> list[Row]:
        """The lines of a range that can be stopped at."""
        dialect = self.sources.dialect
        first = dialect.from_line(arguments.number("line"))
        last = dialect.from_line(arguments.number("endLine", arguments.number("line")))
        lines = self.engine.lines_of(self.sources.file_of(arguments.part("source")))
        return [{"line": dialect.line(line)} for line in lines if first <= line <= last]

    # --- data -------------------------------------------------------------------------

    def data_info(self, arguments: Arguments) -> Row:
        """What a client calls a watchpoint on a variable that it shows, or on an expression."""
        name, reference = arguments.text("name"), arguments.number("variablesReference", 0)
        frame = self.variables.parts(reference).frame if reference else \
            self.variables.frames.frame(arguments.number("frameId", 0))
        row = self.variables.parts(reference).row(name) if reference else {"evaluateName": name}
        try:
            if row is None or "evaluateName" not in row:
                raise Error(f"{name} is no variable, nor a part of one")
            point = self.engine.watchable(parse(row["evaluateName"]), frame.activation, frame.place)
        except Error as error:
            return {"dataId": None, "description": str(error)}
        called = f"{point.expression} {point.item} {point.activation}"
        point = self._watchable.setdefault(called, point)
        return {"dataId": called, "description": str(point.expression), "accessTypes": ["write"], "canPersist": False}

    def set_data(self, wanted: Iterable[Arguments], is_running: bool) -> list[Row]:
        """The watchpoints, in place of all that there were. Error while the kernel runs."""
        if is_running:
            raise Refusal("watchpoints are set while the kernel stands still: pause it first", "notStopped")
        rows, now = [], []
        for one in wanted:
            try:
                now.append(self._watched(one))
                rows.append({"id": now[-1].number, "verified": True})
            except Error as error:
                rows.append(self._refused(error))
        for number, point in list(self.engine.points.watchpoints.items()):
            if point not in now:
                self.engine.points.delete(number)
        for point in now:
            if point.number not in self.engine.points.watchpoints and not self.off:
                self.engine.watch_for(point)
        return rows

    def _watched(self, one: Arguments) -> Watchpoint:
        point = self._watchable.get(one.text("dataId"))
        if point is None:
            raise Error("this watchpoint is of another session: set it again where its variable is shown")
        if one.text("accessType", "write") != "write":
            raise Error("watchpoints stop after writes that change a value, not at reads")
        return _conditioned(point, one)


def _conditioned(point: AnyPoint, one: Arguments) -> AnyPoint:
    """A point with the condition and the hits that a client wants."""
    condition, hits = one.text("condition", ""), one.text("hitCondition", "")
    point.condition = parse(condition) if condition else None
    point.stops_at = Hits.parse(hits) if hits else None
    return point
