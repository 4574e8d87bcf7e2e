"""The client's console: expressions, and the commands of the shell that look."""

from __future__ import annotations

import io

from coopmat.debugger.dap.frames import StackFrame
from coopmat.debugger.dap.variables import Row, Variables
from coopmat.debugger.engine import Engine
from coopmat.debugger.evaluation import FUNCTIONS
from coopmat.debugger.queries import Query
from coopmat.debugger.shell import COMMANDS, SHORT, Shell, command_named
from coopmat.diagnostics import Error

LOOKING = ("print", "matrix", "memory", "info", "list", "where", "lane", "help")


def asked(engine: Engine, variables: Variables, text: str, frame: StackFrame | None) -> Row:
    """What a line of the console answers: the value of an expression, or, where it has none, what a command prints.
    Error for what is neither."""
    try:
        return variables.answer(Query.parse(text), frame if frame is not None else variables.frames.frame(0))
    except Error:
        word = text.split("/")[0].split(" ")[0].strip()
        if word not in COMMANDS and word not in SHORT:
            raise
        name = command_named(word)
    if name not in LOOKING:
        raise Error(f"'{name}' is the editor's: here are expressions, and the commands {', '.join(LOOKING)}")
    output = io.StringIO()
    Shell(engine, output).carry_out(text.strip())
    return {"result": output.getvalue().rstrip("\n"), "variablesReference": 0}


def completions(engine: Engine, text: str, column: int) -> list[Row]:
    """The words that what is typed up to a column, from 0, may go on with."""
    typed = text[:column]
    start = len(typed)
    while start and (typed[start - 1].isalnum() or typed[start - 1] == "_"):
        start -= 1
    names = [variable.name for activation in engine.stack()[:1] if activation.code is not None
             for variable in activation.code.function.variables]
    words = [*names, *FUNCTIONS, *(LOOKING if not typed[:start].strip() else ())]
    return [{"label": word, "start": start, "length": column - start} for word in dict.fromkeys(words)
            if word.startswith(typed[start:])]
