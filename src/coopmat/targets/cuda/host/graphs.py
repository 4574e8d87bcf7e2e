"""Graphs of the driver: commands taken from a stream, and launched together."""

from __future__ import annotations

import contextlib
from typing import Any

from coopmat.diagnostics import Error, LaunchError
from coopmat.targets.cuda.host.driver import bindings, call
from coopmat.targets.cuda.host.streams import Stream


class Capture:
    """A stream whose commands become a graph, from now until :meth:`ended`."""

    def __init__(self, stream: Stream) -> None:
        if stream.is_capturing:
            raise LaunchError("this queue's commands are being taken by a graph already")
        self.stream = stream
        call("cuStreamBeginCapture", stream.handle, bindings().CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED,
             what="the beginning of a graph")
        stream.is_capturing = True
        stream.taken.clear()

    def ended(self, *, is_wanted: bool) -> Graph | None:
        """The graph, or None if it is not wanted: an error has come between."""
        stream = self.stream
        taken, stream.taken = stream.taken, []
        stream.is_capturing = False
        if is_wanted:
            return Graph(stream, call("cuStreamEndCapture", stream.handle, what="the end of a graph"), taken)
        with contextlib.suppress(Error):  # the first error is the one to show
            graph = call("cuStreamEndCapture", stream.handle)
            if graph is not None and int(graph):
                call("cuGraphDestroy", graph)
        return None


class Graph:
    """Commands ready to be launched. arguments: of all of them, which live as long."""

    def __init__(self, stream: Stream, graph: Any, taken: list[Any]) -> None:
        self.context = stream.context
        self.arguments = [one for arguments in taken for one in arguments]
        try:
            self._executable = call("cuGraphInstantiate", graph, 0, what="making a graph ready")
        finally:
            call("cuGraphDestroy", graph)

    def launch(self, stream: Stream) -> None:
        """Submit the commands."""
        stream.launched("a graph")
        call("cuGraphLaunch", self._executable, stream.handle, what="the launch of a graph")

    def __del__(self) -> None:
        if hasattr(self, "_executable") and self.context.lost is None:
            with contextlib.suppress(Error, TypeError):  # at the interpreter's end
                call("cuGraphExecDestroy", self._executable)
