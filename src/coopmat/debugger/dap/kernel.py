"""The kernel of a session: what can be asked of it, and what it tells; it runs in a thread of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from coopmat.debugger.dap.breakpoints import Breakpoints
from coopmat.debugger.dap.console import asked, completions
from coopmat.debugger.dap.frames import Frames
from coopmat.debugger.dap.messages import Arguments, Refusal, Writer
from coopmat.debugger.dap.sources import Dialect, Sources
from coopmat.debugger.dap.variables import Variables
from coopmat.debugger.engine import Engine, Launch
from coopmat.debugger.items import items_of
from coopmat.debugger.points import Breakpoint, Stop
from coopmat.debugger.queries import Query
from coopmat.debugger.showing import Format
from coopmat.debugger.words import change_lines, stop_head
from coopmat.diagnostics import Error

ERRORS = "errors"  # the filter of exceptions
REASONS = {"start": "entry", "step": "step", "finish": "step", "breakpoint": "breakpoint",
           "watchpoint": "data breakpoint", "interrupt": "pause", "error": "exception", "end": "exit"}
"""What the protocol calls a reason of the engine's."""
WAYS = {"continue": "continue", "next": "next", "stepIn": "step", "stepOut": "finish", "stepBack": "next",
        "reverseContinue": "continue"}
"""How the engine goes for a request."""
KERNEL_ACTIONS = {
    "configurationDone": "configured", **dict.fromkeys(("continue", "next", "stepIn", "stepOut"), "forward"),
    **dict.fromkeys(("stepBack", "reverseContinue"), "backward"), "pause": "pause", "terminate": "terminate",
    "setBreakpoints": "set_lines", "setFunctionBreakpoints": "set_functions",
    "setExceptionBreakpoints": "set_exceptions", "setDataBreakpoints": "set_data", "dataBreakpointInfo": "data_info",
    "breakpointLocations": "locations", "threads": "threads", "stackTrace": "stack_trace", "scopes": "scopes",
    "variables": "variables", "evaluate": "evaluate", "completions": "completions",
    "exceptionInfo": "exception_info", "source": "source", "loadedSources": "loaded",
}
"""The requests about a kernel, and the methods that answer them."""


@dataclass(frozen=True)
class Opened:
    """A launch for a client. ``folder``: what the names of source files are relative to; ``warnings`` of the
    compiler; ``finish`` is called whenever the kernel has ended."""

    launch: Launch
    folder: Path
    warnings: str = ""
    finish: Callable[[], None] = lambda: None


class _Failed(Exception):
    """An error of the engine that is none of the protocol."""


class Kernel:
    """The launch of a session: what can be asked of it, and what it tells. ``tell_later`` gets what is done after the
    answer to a request."""

    def __init__(self, opened: Opened, writer: Writer, inbox: SimpleQueue[Any], dialect: Dialect,
                 arguments: Arguments, tell_later: Callable[[Callable[[], None]], None]) -> None:
        self.status = 0
        self.is_attached = arguments.what == "attach"
        self.engine = Engine(opened.launch, self._print, self._log)
        self.sources = Sources(self.engine, opened.folder, dialect)
        self.frames = Frames(self.engine, self.sources)
        self.variables = Variables(self.frames)
        self.breakpoints = Breakpoints(self.sources, self.variables)
        self.breakpoints.off = arguments.flag("noDebug")
        self._opened = opened
        self._writer = writer
        self._inbox = inbox
        self._later = tell_later
        self._stops_on_entry = arguments.flag("stopOnEntry") and not self.breakpoints.off
        self._stops_on_exit = arguments.flag("stopOnExit") and not self.breakpoints.off
        self._stops_at_errors = not self.breakpoints.off
        self._runner: threading.Thread | None = None
        self._is_terminated = False
        self.actions: dict[str, Callable[[Arguments], dict[str, Any] | None]] = {
            name: getattr(self, f"_{method}") for name, method in KERNEL_ACTIONS.items()}

    # --- going ------------------------------------------------------------------------

    def _go(self, go: Callable[[], Stop]) -> None:
        """Let the kernel run, in a thread of its own, once the request is answered."""
        def work() -> None:
            try:
                self._inbox.put(go())
            except BaseException as error:
                self._inbox.put(error if not isinstance(error, Error) else _Failed(str(error)))

        self._runner = threading.Thread(target=work, daemon=True)
        self._later(self._runner.start)

    def _need_still(self) -> None:
        if self._runner is not None:
            raise Refusal("the kernel runs: pause it first", "notStopped")

    def _configured(self, arguments: Arguments) -> None:
        self._go(lambda: self.engine.start("step" if self._stops_on_entry else "continue"))

    def _forward(self, arguments: Arguments) -> dict[str, Any] | None:
        self._need_still()
        way = WAYS[arguments.what]
        if self.engine.stop is not None and not self.engine.is_running:
            self._later(lambda: self._end(self.status))
        else:
            self.frames.follow(arguments.number("threadId"))
            self._go(lambda: self.engine.resume(way))
        return {"allThreadsContinued": True} if way == "continue" else None

    def _backward(self, arguments: Arguments) -> None:
        self._need_still()
        way = WAYS[arguments.what]
        self.frames.follow(arguments.number("threadId"))
        self._go(lambda: self.engine.reverse(way))

    def _pause(self, arguments: Arguments) -> None:
        if self._runner is not None:
            self.engine.interrupt()

    def _terminate(self, arguments: Arguments) -> None:
        self._is_terminated = True
        if self._runner is not None:
            self.engine.interrupt()
        else:
            self._later(lambda: self._end(None))

    def run_to_end(self) -> None:
        """Let the kernel go on without the client."""
        self._halt()
        self.engine.points.breakpoints.clear()
        self.engine.points.watchpoints.clear()
        while self.engine.stop is None or self.engine.is_running:
            self.engine.resume("continue")

    def close(self) -> None:
        """End the launch."""
        self._halt()
        self.engine.close()

    def _halt(self) -> None:
        while self._runner is not None and self._runner.is_alive():
            self.engine.interrupt()
            self._runner.join(0.05)
        self._runner = None

    # --- what the kernel tells --------------------------------------------------------

    def stopped(self, stop: Stop) -> None:
        """The kernel stands still, or has ended."""
        self._runner = None
        engine = self.engine
        if engine.place is None and stop.lanes is not None and engine.batch is not None:
            engine.select(items_of(engine.batch, stop.lanes)[0])
        self.frames.forget()
        self.variables.forget()
        self.status = int(stop.error is not None)
        if stop.reason == "end":
            self._say("console", f"{engine.launch.kernel} has ended after {stop.clock} instructions")
            self._finish()
        if stop.error is not None:
            self._say("stderr", f"error: {stop.error}", stop)
        if self._is_terminated:
            self._end(None)
        elif (stop.reason == "end" and not self._stops_on_exit) or (stop.error is not None and
                                                                    not self._stops_at_errors):
            self._end(self.status)
        else:
            self._tell(stop)

    def _tell(self, stop: Stop) -> None:
        """Tell the client where and why the kernel stands still."""
        changes = [line for change in stop.changes for line in change_lines(change)]
        body: dict[str, Any] = {"reason": REASONS[stop.reason], "threadId": self.frames.chosen,
                                "allThreadsStopped": True}
        if stop.breakpoint is not None:
            body |= {"hitBreakpointIds": [stop.breakpoint.number]}
            if stop.breakpoint.function is not None:
                body["reason"] = "function breakpoint"
        if changes:
            body |= {"hitBreakpointIds": [change.watchpoint.number for change in stop.changes],
                     "description": "after a write", "text": "\n".join(changes)}
            self._say("console", "\n".join(changes), stop)
        if stop.error is not None:
            body |= {"description": type(stop.error).__name__, "text": str(stop.error)}
        elif stop.reason == "end":
            body["description"] = "at the kernel's end"
        elif not changes and stop.reason != "step":
            body["description"] = stop_head(self.engine, stop)
        if stop.trouble and stop.breakpoint is not None:
            self._say("stderr", f"the condition of breakpoint {stop.breakpoint.number} has no value: {stop.trouble}",
                      stop)
        self._writer.event("stopped", body)

    def failed(self, error: BaseException) -> None:
        """The debugger cannot go on."""
        self._runner = None
        self._say("stderr", str(error) if isinstance(error, _Failed) else
                  f"internal error of the debugger: {type(error).__name__}: {error}")
        self._end(1)

    def _finish(self) -> None:
        try:
            self._opened.finish()
        except Error as error:
            self._say("stderr", f"error: {error}")
            self.status = 1

    def _end(self, code: int | None) -> None:
        """The session is over, with the kernel's exit code if it has ended by itself."""
        if code is not None:
            self._writer.event("exited", {"exitCode": code})
        self._writer.event("terminated")

    def _say(self, category: str, text: str, stop: Stop | None = None) -> None:
        where = self.sources.place(stop.line) if stop is not None and stop.line is not None else {}
        self._writer.event("output", {"category": category, "output": f"{text}\n", **where})

    def _print(self, text: str) -> None:
        self._writer.event("output", {"category": "stdout", "output": text})

    def _log(self, point: Breakpoint, text: str) -> None:
        where = self.sources.place(point.line) if point.line is not None else {}
        self._writer.event("output", {"category": "console", "output": f"{text}\n", **where})

    # --- points -----------------------------------------------------------------------

    def _set_lines(self, arguments: Arguments) -> dict[str, Any]:
        return {"breakpoints": self.breakpoints.set_lines(arguments.part("source"), arguments.parts("breakpoints"))}

    def _set_functions(self, arguments: Arguments) -> dict[str, Any]:
        return {"breakpoints": self.breakpoints.set_functions(arguments.parts("breakpoints"))}

    def _set_exceptions(self, arguments: Arguments) -> None:
        self._stops_at_errors = ERRORS in arguments.texts("filters") and not self.breakpoints.off

    def _set_data(self, arguments: Arguments) -> dict[str, Any]:
        return {"breakpoints": self.breakpoints.set_data(arguments.parts("breakpoints"), self._runner is not None)}

    def _data_info(self, arguments: Arguments) -> dict[str, Any]:
        self._need_still()
        return self.breakpoints.data_info(arguments)

    def _locations(self, arguments: Arguments) -> dict[str, Any]:
        return {"breakpoints": self.breakpoints.locations(arguments)}

    # --- looking ----------------------------------------------------------------------

    def _threads(self, arguments: Arguments) -> dict[str, Any]:
        return {"threads": self.frames.threads()}

    def _stack_trace(self, arguments: Arguments) -> dict[str, Any]:
        self._need_still()
        rows = self.frames.stack(arguments.number("threadId"))
        first, count = arguments.number("startFrame", 0), arguments.number("levels", 0)
        return {"stackFrames": rows[first:first + count if count else None], "totalFrames": len(rows)}

    def _scopes(self, arguments: Arguments) -> dict[str, Any]:
        self._need_still()
        return {"scopes": self.variables.scopes(self.frames.frame(arguments.number("frameId")))}

    def _variables(self, arguments: Arguments) -> dict[str, Any]:
        self._need_still()
        parts = self.variables.parts(arguments.number("variablesReference"))
        return {"variables": parts.rows(arguments.text("filter", ""), arguments.number("start", 0),
                                        arguments.number("count", 0))}

    def _evaluate(self, arguments: Arguments) -> dict[str, Any]:
        self._need_still()
        text, number = arguments.text("expression"), arguments.number("frameId", 0)
        frame = self.frames.frame(number) if number else None
        if arguments.text("context", "") != "repl":
            query = Query.parse(text)
            if arguments.part("format").flag("hex"):
                query = Query(query.text, query.node, Format("x"), query.who)
            return self.variables.answer(query, frame if frame is not None else self.frames.frame(0))
        item = self.engine.item
        found = asked(self.engine, self.variables, text, frame)
        if self.engine.item != item:
            self._later(self._chosen)
        return found

    def _chosen(self) -> None:
        """Another work-item has been chosen."""
        self.frames.forget()
        self.variables.forget()
        self._writer.event("stopped", {"reason": "goto", "description": f"work-item {self.engine.item}",
                                       "threadId": self.frames.chosen, "allThreadsStopped": True})

    def _completions(self, arguments: Arguments) -> dict[str, Any]:
        column = arguments.number("column") - self.sources.dialect.first_column
        return {"targets": completions(self.engine, arguments.text("text"), column) if self._runner is None else []}

    def _exception_info(self, arguments: Arguments) -> dict[str, Any]:
        error = self.engine.stop.error if self.engine.stop is not None else None
        if error is None:
            raise Error("the kernel has made no error")
        name = type(error).__name__
        return {"exceptionId": name, "description": str(error), "breakMode": "always",
                "details": {"message": str(error), "typeName": name, "fullTypeName": f"coopmat.{name}"}}

    def _source(self, arguments: Arguments) -> dict[str, Any]:
        return {"content": self.sources.text(arguments.part("source"), arguments.number("sourceReference", 0))}

    def _loaded(self, arguments: Arguments) -> dict[str, Any]:
        return {"sources": [self.sources.shown(file) for file in self.engine.table.files]}
