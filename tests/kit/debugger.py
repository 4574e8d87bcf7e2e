"""Launches under the debugger, for tests."""

from __future__ import annotations

import io
from typing import Any

import coopmat as cm
from coopmat.debugger.engine import Engine
from coopmat.debugger.expressions import parse
from coopmat.debugger.points import Breakpoint
from coopmat.debugger.shell import Shell
from coopmat.debugger.showing import Format, show
from coopmat.runtime.debugging import launch_of


def engine_of(source: Any, name: str, global_size: Any, local_size: Any, *arguments: Any, device: str = "sim:generic",
              write: Any = None) -> Engine:
    """An engine for a launch of a kernel of a source."""
    kernel = cm.build(source, device=device).kernel(name)
    return Engine(launch_of(kernel, device, global_size, local_size, arguments, {}), write)


def broken(engine: Engine, line: int, condition: str | None = None, item: Any = None) -> Breakpoint:
    """A new breakpoint at a line of the engine's only file."""
    (file,) = engine.table.files
    found = Breakpoint(engine.points.next_number(), type(engine.entry(engine.launch.kernel))(file, line), None,
                       item, condition=parse(condition) if condition else None)
    engine.points.breakpoints[found.number] = found
    return found


def value(engine: Engine, text: str) -> str:
    """An expression for the chosen work-item, as it is shown."""
    known, scope = engine.evaluate(parse(text))
    assert engine.place is not None
    return show(known, scope, engine.place, Format())


def transcript(engine: Engine, commands: str) -> tuple[list[str], int]:
    """What a script prints, in lines, and its exit status."""
    output = io.StringIO()
    status = Shell(engine, output).script(commands.strip().splitlines())
    return output.getvalue().splitlines(), status
