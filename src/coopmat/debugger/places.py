"""Places of the source as users name them: files, lines that have code, functions."""

from __future__ import annotations

from pathlib import Path

from coopmat.debugger.code import Line
from coopmat.debugger.engine import Engine
from coopmat.diagnostics import Error


def place_named(engine: Engine, text: str) -> tuple[Line | None, str | None]:
    """``LINE``, ``FILE:LINE`` or ``FUNCTION`` as a line with code, and the function's name if it is the start of
    one. Error where there is none."""
    name, _, number = text.rpartition(":")
    if not number.isdigit():
        return engine.entry(text), text
    return line_with_code(engine, file_named(engine, name), int(number)), None


def line_with_code(engine: Engine, file: str, number: int) -> Line:
    """The line of a file, or the next one that has code; Error if none has."""
    lines = engine.lines_of(file)
    later = [line for line in lines if line >= number]
    if not later:
        last = f"the last line that has is {lines[-1]}" if lines else "it has no lines of the kernel"
        raise Error(f"no code at line {number} of {file} or after it: {last}")
    return Line(file, later[0])


def file_named(engine: Engine, name: str) -> str:
    """A file by its name or the end of its path; without a name the one that the kernel stands in, or begins in."""
    files = engine.table.files
    if not files:
        raise Error("the module tells no source lines (OpLine): it cannot be stopped at lines")
    if not name:
        here = line_here(engine) or engine.entry(engine.launch.kernel)
        return here.file if here is not None else files[0]
    found = [file for file in files if file == name or Path(file).name == Path(name).name]
    if not found:
        raise Error(f"no code comes from '{name}'; the files are {', '.join(files)}")
    return found[0]


def line_here(engine: Engine) -> Line | None:
    """The line that the chosen work-item is at."""
    stack = engine.stack() if engine.has_state else []
    return stack[0].code.line if stack and stack[0].code is not None else None
