"""One client's session: its requests are answered, one after another."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from queue import SimpleQueue
from typing import IO, Any

from coopmat.debugger.dap.kernel import ERRORS, KERNEL_ACTIONS, Kernel, Opened
from coopmat.debugger.dap.messages import Arguments, Writer, read_message
from coopmat.debugger.dap.sources import Dialect
from coopmat.debugger.points import Stop
from coopmat.diagnostics import Error

CAPABILITIES = {
    **dict.fromkeys((
        "supportsConfigurationDoneRequest", "supportsFunctionBreakpoints", "supportsConditionalBreakpoints",
        "supportsHitConditionalBreakpoints", "supportsLogPoints", "supportsDataBreakpoints", "supportsStepBack",
        "supportsEvaluateForHovers", "supportsCompletionsRequest", "supportsExceptionInfoRequest",
        "supportsValueFormattingOptions", "supportsTerminateRequest", "supportTerminateDebuggee",
        "supportsDelayedStackTraceLoading", "supportsLoadedSourcesRequest", "supportsBreakpointLocationsRequest",
        "supportsClipboardContext"), True),
    "exceptionBreakpointFilters": [{
        "filter": ERRORS, "label": "Errors of the kernel", "default": True,
        "description": "Stop where a check of the simulator fails. Otherwise the session ends with its message."}],
}


Opener = Callable[[Mapping[str, Any]], Opened]
"""Makes a launch of what a client's launch request says. Raises Error."""


class Session:
    """``run`` answers a client until it leaves; ``status`` is 0 if the kernel ended well."""

    def __init__(self, reader: IO[bytes], writer: IO[bytes], open_launch: Opener) -> None:
        self.status = 0
        self._reader = reader
        self._writer = Writer(writer)
        self._open = open_launch
        self._inbox: SimpleQueue[dict[str, Any] | Stop | BaseException | None] = SimpleQueue()
        self._dialect = Dialect()
        self._kernel: Kernel | None = None
        self._after: list[Callable[[], None]] = []  # what is done once a request is answered
        self._is_over = False

    # --- the loop ---------------------------------------------------------------------

    def run(self) -> int:
        """Answer requests until the client disconnects. Error for what is not the protocol."""
        threading.Thread(target=self._read, daemon=True).start()
        try:
            while not self._is_over:
                found = self._inbox.get()
                if isinstance(found, dict):
                    self._answer(found)
                elif isinstance(found, Stop):
                    self._running_kernel.stopped(found)
                elif isinstance(found, Error) or found is None:
                    if found is not None:
                        raise found
                    break
                else:
                    self._running_kernel.failed(found)
        finally:
            if self._kernel is not None:
                self._kernel.close()
        return self.status if self._kernel is None else self._kernel.status

    def _read(self) -> None:
        """The client's messages, in a thread of their own."""
        try:
            while (message := read_message(self._reader)) is not None:
                self._inbox.put(message)
            self._inbox.put(None)
        except (Error, OSError, ValueError) as error:
            self._inbox.put(error if isinstance(error, Error) else None)

    def _answer(self, request: dict[str, Any]) -> None:
        """Answer a request, whatever it is: a client sees errors, never silence."""
        if request.get("type") != "request":
            return
        command = str(request.get("command"))
        try:
            action = self._actions().get(command)
            if action is None:
                raise Error(f"the request '{command}' is not supported")
            body = action(Arguments(command, request.get("arguments")))
        except Error as error:
            self._writer.failure(request, error)
        except Exception as error:
            self._writer.failure(request, Error(f"internal error of the debugger at '{command}': "
                                                f"{type(error).__name__}: {error}"))
        else:
            self._writer.response(request, body)
        after = self._after.copy()
        self._after.clear()
        for then in after:
            then()

    def _actions(self) -> dict[str, Callable[[Arguments], dict[str, Any] | None]]:
        own = {"initialize": self._initialize, "launch": self._launch, "attach": self._launch,
               "disconnect": self._disconnect}
        return own | (self._kernel.actions if self._kernel is not None else dict.fromkeys(KERNEL_ACTIONS, _no_kernel))

    @property
    def _running_kernel(self) -> Kernel:
        assert self._kernel is not None
        return self._kernel

    # --- requests ---------------------------------------------------------------------

    def _initialize(self, arguments: Arguments) -> dict[str, Any]:
        self._dialect = Dialect.of(arguments)
        return CAPABILITIES

    def _launch(self, arguments: Arguments) -> None:
        if self._kernel is not None:
            raise Error("there is a launch already: a session has one")
        opened = self._open({key: value for key, value in arguments.values.items() if not key.startswith("__")})
        self._kernel = Kernel(opened, self._writer, self._inbox, self._dialect, arguments, self._after.append)
        if opened.warnings:
            self._writer.event("output", {"category": "stderr", "output": f"{opened.warnings}\n"})
        self._after.append(lambda: self._writer.event("initialized"))

    def _disconnect(self, arguments: Arguments) -> None:
        if self._kernel is not None and self._kernel.is_attached and not arguments.flag("terminateDebuggee"):
            self._kernel.run_to_end()
        self._is_over = True


def _no_kernel(arguments: Arguments) -> None:
    raise Error(f"'{arguments.what}' comes after launch or attach: there is no kernel yet")
