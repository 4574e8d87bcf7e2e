"""The debugger's commands in words, for the terminal and for scripts."""

from __future__ import annotations

import cmd
import re
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import IO

from coopmat.debugger.code import Line
from coopmat.debugger.engine import Engine
from coopmat.debugger.expressions import parse
from coopmat.debugger.items import check_item, show_item
from coopmat.debugger.places import file_named, line_here, place_named
from coopmat.debugger.points import Breakpoint, Hits, Message, Stop, Watchpoint
from coopmat.debugger.queries import Query, answer, format_of
from coopmat.debugger.showing import Format, lines_of_all, matrix_lines, owner_lines, show
from coopmat.debugger.states import lines_of_lanes
from coopmat.debugger.words import memory_lines, stop_lines
from coopmat.diagnostics import Error
from coopmat.spirv.analysis.types import MatrixType

PROMPT = "(coopmat) "
LISTED = 10  # lines that `list` shows
ENDED = "the kernel has ended: run starts it again, reverse-step and reverse-continue go back into it"
NOT_RUN = "the kernel does not run yet: run, or step to its first line"


@dataclass(frozen=True)
class Command:
    """A command: its short names, what follows it, and what it does."""

    names: tuple[str, ...]
    usage: str
    help: str


COMMANDS = {
    "break": Command(("b",), "LINE|FILE:LINE|FUNCTION [@X,Y,Z] [if EXPR]",
                     "stop work-items before a line or at the start of a function"),
    "tbreak": Command(("tb",), "LINE|FILE:LINE|FUNCTION [@X,Y,Z] [if EXPR]", "the same, once"),
    "watch": Command(("w",), "EXPR", "stop after a write that changes an element of memory, or a variable"),
    "log": Command((), "LINE|FILE:LINE|FUNCTION [@X,Y,Z] [if EXPR]: MESSAGE",
                   "print a message with values in braces each time, and go on"),
    "condition": Command((), "NUMBER [EXPR]", "stop at a breakpoint or watchpoint only where EXPR holds, or always"),
    "hits": Command((), "NUMBER [[>=|>|<=|<|%] COUNT]",
                    "stop only at the hit of that number, from it on, or each so many"),
    "delete": Command(("d",), "[NUMBER]", "forget a breakpoint or watchpoint, or all of them"),
    "info": Command(("i",), "breakpoints|lanes|locals|args|stack", "show what there is"),
    "run": Command(("r", "restart"), "", "run the kernel from its start, with its arguments as they were"),
    "continue": Command(("c",), "", "go on to the next stop"),
    "step": Command(("s",), "[COUNT]", "go on to the next line, into functions"),
    "next": Command(("n",), "[COUNT]", "go on to the next line of this function"),
    "finish": Command(("fin",), "", "go on until this function has returned"),
    "reverse-step": Command(("rs",), "[COUNT]", "go back to the line before, into functions"),
    "reverse-next": Command(("rn",), "[COUNT]", "go back to the line before in this function"),
    "reverse-continue": Command(("rc",), "", "go back to the stop before"),
    "print": Command(("p",), "[/x|/u|/d] EXPR [@all|@X,Y,Z]", "show a value, of one work-item or of all"),
    "matrix": Command(("m",), "EXPR [owners]", "show a matrix, or which lane and component hold its elements"),
    "memory": Command(("x",), "[/x|/u|/d] EXPR [COUNT]", "show memory from where a pointer or an element is"),
    "list": Command(("l",), "[LINE|FUNCTION]", "show the source"),
    "where": Command(("bt",), "", "show the call stack of the work-item"),
    "lane": Command(("item",), "[X[,Y[,Z]]]", "choose the work-item to follow, by its global id"),
    "help": Command(("h",), "[COMMAND]", "show the commands"),
    "quit": Command(("q", "exit"), "", "end the debugger"),
}
SHORT = {short: name for name, command in COMMANDS.items() for short in command.names}
INFO = ("breakpoints", "lanes", "locals", "args", "stack")
REPEATED = ("step", "next", "continue", "reverse-step", "reverse-next", "reverse-continue", "list")


def command_named(word: str) -> str:
    """The command of a name, a short name or the beginning of a name; Error if there is none."""
    if word in COMMANDS or word in SHORT:
        return SHORT.get(word, word)
    found = [name for name in COMMANDS if name.startswith(word)]
    if len(found) != 1:
        raise Error(f"'{word}' may be {' or '.join(found)}" if found else f"no command '{word}'; help shows them")
    return found[0]


class Shell(cmd.Cmd):
    """Takes commands for an engine. ``wrong`` counts those that could not be carried out."""

    prompt = PROMPT

    def __init__(self, engine: Engine, output: IO[str] | None = None) -> None:
        super().__init__(stdout=output if output is not None else sys.stdout)
        self.engine = engine
        self.wrong = 0
        self._listed: Line | None = None
        self._last_function: str | None = None

    # --- reading ------------------------------------------------------------------------

    def say(self, *lines: str) -> None:
        """Print lines."""
        for line in lines:
            print(line, file=self.stdout)

    def script(self, lines: Iterable[str]) -> int:
        """Carry out commands as if they were typed; 1 if one was wrong, else 0."""
        try:
            for line in lines:
                if line.strip():
                    self.say(f"{self.prompt}{line.rstrip()}")
                    if self.onecmd(line.strip()):
                        break
        finally:
            self.engine.close()
        return int(self.wrong > 0)

    def interact(self) -> int:
        """Carry out what is typed; 1 if the input could not be read."""
        from coopmat.debugger.terminal import read_lines

        try:
            for line in read_lines(self.prompt, self.words):
                if self.onecmd(line.strip() or (self.lastcmd if self.lastcmd.split(" ")[0] in REPEATED else "")):
                    break
        finally:
            self.engine.close()
        return 0

    def words(self) -> list[str]:
        """What can be typed: commands, functions and variables."""
        functions = [function.name for function in self.engine.table.functions.values()]
        variables = [variable.name for activation in self.engine.stack()[:1] if activation.code is not None
                     for variable in activation.code.function.variables]
        return [*COMMANDS, *functions, *variables]

    def onecmd(self, line: str) -> bool:
        """Carry out one command, and say what is wrong with it; True if it was quit."""
        try:
            return self.carry_out(line)
        except Error as error:
            self.wrong += 1
            self.say(f"error: {error}")
            return False

    def carry_out(self, line: str) -> bool:
        """Carry out one command; True if it was quit. Error for one that is wrong."""
        word, _, rest = line.strip().partition(" ")
        if "/" in word and not word.startswith("/"):  # p/x
            word, _, letter = word.partition("/")
            rest = f"/{letter} {rest}"
        if not word or word.startswith("#"):
            return False
        name = command_named(word)
        self.lastcmd = f"{name} {rest}".strip()
        return bool(self._actions[name](rest.strip()))

    @property
    def _actions(self) -> dict[str, Callable[[str], bool | None]]:
        return {
            "break": self._break, "tbreak": lambda rest: self._break(rest, is_temporary=True), "watch": self._watch,
            "log": self._log, "condition": self._condition, "hits": self._hits, "delete": self._delete,
            "info": self._info,
            "run": lambda rest: self._went(self.engine.start("continue")),
            "continue": lambda rest: self._go("continue"),
            "step": lambda rest: self._go("step", rest), "next": lambda rest: self._go("next", rest),
            "finish": lambda rest: self._go("finish"),
            "reverse-step": lambda rest: self._back("step", rest),
            "reverse-next": lambda rest: self._back("next", rest),
            "reverse-continue": lambda rest: self._back("continue"), "print": self._print, "matrix": self._matrix,
            "memory": self._memory, "list": self._list, "where": lambda rest: self._stack(), "lane": self._lane,
            "help": self._help, "quit": lambda rest: True,
        }

    # --- breakpoints ----------------------------------------------------------------------

    def _break(self, rest: str, is_temporary: bool = False) -> None:
        self._set(rest, "break", None, is_temporary)

    def _log(self, rest: str) -> None:
        place, colon, message = rest.partition(": ")
        self._set(place.strip() if colon else "", "log", Message.parse(message.strip()))

    def _set(self, rest: str, command: str, message: Message | None, is_temporary: bool = False) -> None:
        match = re.fullmatch(r"(\S+)(?:\s+@\s*([\d,\s]+?))?(?:\s+if\s+(.+))?", rest)
        if match is None:
            raise Error(f"expected {command} {COMMANDS[command].usage}")
        place, item, condition = match.groups()
        line, function = place_named(self.engine, place)
        point = Breakpoint(self.engine.points.next_number(), line, function,
                           check_item(self.engine.geometry, item) if item else None, is_temporary, message,
                           condition=parse(condition) if condition else None)
        self.engine.add(point)
        self.say(f"{point.number}: {point}")

    def _watch(self, rest: str) -> None:
        point = self.engine.watch(parse(rest))
        self.say(f"{point.number}: {point}")

    def _point(self, rest: str, command: str) -> tuple[Breakpoint | Watchpoint, str]:
        """The point whose number comes first, and what follows."""
        number, _, text = rest.partition(" ")
        point = self.engine.points.all.get(int(number) if number.isdigit() else -1)
        if point is None:
            raise Error(f"there is no breakpoint or watchpoint {number}" if number else
                        f"expected {command} {COMMANDS[command].usage}")
        return point, text.strip()

    def _condition(self, rest: str) -> None:
        point, text = self._point(rest, "condition")
        point.condition = parse(text) if text else None
        self.say(f"{point.number}: {point}")

    def _hits(self, rest: str) -> None:
        point, text = self._point(rest, "hits")
        point.stops_at = Hits.parse(text) if text else None
        self.say(f"{point.number}: {point}")

    def _delete(self, rest: str) -> None:
        points = self.engine.points
        if rest and not rest.isdigit():
            raise Error(f"expected the number of a breakpoint or watchpoint; found '{rest}'")
        for number in [int(rest)] if rest else [*points.breakpoints, *points.watchpoints]:
            points.delete(number)

    # --- going ----------------------------------------------------------------------------

    def _went(self, stop: Stop) -> None:
        self.say(*stop_lines(self.engine, stop, self._last_function))
        self._last_function, self._listed = stop.function, None

    def _go(self, way: str, count: str = "") -> None:
        if self.engine.stop is not None and not self.engine.is_running:
            raise Error(ENDED)
        for _ in range(_count(count)):
            stop = self.engine.resume(way)
            if stop.reason not in ("step", "start"):
                break
        self._went(stop)

    def _back(self, way: str, count: str = "") -> None:
        for _ in range(_count(count)):
            stop = self.engine.reverse(way)
            if stop.reason != "step":
                break
        self._went(stop)

    def _lane(self, rest: str) -> None:
        if rest:
            self.engine.select(check_item(self.engine.geometry, rest.removeprefix("@")))
        stack = self.engine.stack()
        state = f", {stack[0].code.function.name} at {stack[0].code.place}" if stack and stack[0].code else ""
        self.say(f"work-item {show_item(self.engine.item)}{state}")

    # --- looking --------------------------------------------------------------------------

    def _print(self, rest: str) -> None:
        query = Query.parse(rest)
        found = answer(self.engine, query)
        if found.place is None:
            self.say(*lines_of_all(found.known, found.scope, query.how))
        else:
            self.say(f"{query.text} = {show(found.known, found.scope, found.place, query.how)}")

    def _matrix(self, rest: str) -> None:
        text, _, last = rest.rpartition(" ")
        with_owners = last == "owners" and bool(text)
        known, scope = self.engine.evaluate(parse(text if with_owners else rest))
        if not isinstance(known.kind, MatrixType):
            raise Error(f"{rest} is no matrix: it is a value of type {known.kind}")
        assert self.engine.place is not None
        shown = owner_lines(known, scope) if with_owners else matrix_lines(known, scope, self.engine.place, Format())
        self.say(*shown)

    def _memory(self, rest: str) -> None:
        how, text = format_of(rest)
        match = re.fullmatch(r"(.+?)(?:\s+(\d{1,6}))?", text)
        if match is None:
            raise Error(f"expected memory {COMMANDS['memory'].usage}")
        self.say(*memory_lines(self.engine, parse(match[1]), int(match[2] or 1), how))

    def _info(self, rest: str) -> None:
        found = [name for name in INFO if rest and name.startswith(rest)]
        if len(found) != 1:
            raise Error(f"expected info {COMMANDS['info'].usage}")
        {"breakpoints": self._show_points, "lanes": self._show_lanes, "stack": self._stack,
         "locals": lambda: self._variables(True), "args": lambda: self._variables(False)}[found[0]]()

    def _show_points(self) -> None:
        points = self.engine.points.all
        self.say(*(f"{number}: {point}, {point.hits} {'hit' if point.hits == 1 else 'hits'}"
                   for number, point in points.items()) if points else ["no breakpoints or watchpoints"])

    def _show_lanes(self) -> None:
        self._need_state()
        self.say(*lines_of_lanes(self.engine))

    def _need_state(self) -> None:
        if not self.engine.has_state or not self.engine.activations:
            raise Error(ENDED if self.engine.stop is not None else NOT_RUN)

    def _variables(self, are_locals: bool) -> None:
        self._need_state()
        stack = self.engine.stack()
        code = stack[0].code if stack else None
        if code is None:
            raise Error(f"work-item {show_item(self.engine.item)} has no variables now")
        for name in dict.fromkeys(variable.name for variable in code.function.variables
                                  if variable.is_variable == are_locals):
            self._print(name)

    def _stack(self) -> None:
        self._need_state()
        self.say(*(f"#{number}  {activation.code.function.name} at {activation.code.place}"
                   for number, activation in enumerate(self.engine.stack()) if activation.code is not None))

    # --- the source -----------------------------------------------------------------------

    def _list(self, rest: str) -> None:
        if rest:
            line = Line(file_named(self.engine, ""), int(rest)) if rest.isdigit() else place_named(self.engine, rest)[0]
            start = max(1, line.number - LISTED // 2) if line is not None else 1
        elif self._listed is not None:
            line, start = self._listed, self._listed.number
        else:
            line = line_here(self.engine) or self.engine.entry(self.engine.launch.kernel)
            start = max(1, line.number - LISTED // 2) if line is not None else 1
        text = self.engine.launch.text_of(line.file) if line is not None else None
        if line is None or text is None:
            raise Error("the text of the source is not known")
        lines, here = text.splitlines(), line_here(self.engine)
        if start > len(lines):
            raise Error(f"{line.file} has {len(lines)} lines")
        for number in range(start, min(start + LISTED, len(lines) + 1)):
            sign = ">" if here == Line(line.file, number) else " "
            self.say(f"{sign}{number:>4}  {lines[number - 1]}".rstrip())
        self._listed = Line(line.file, start + LISTED)

    def _help(self, rest: str) -> None:
        names = [command_named(rest)] if rest else list(COMMANDS)
        self.say(*(f"{' '.join([name, COMMANDS[name].usage]).strip():<58} {COMMANDS[name].help}" for name in names))


def _count(text: str) -> int:
    if text and not re.fullmatch(r"[1-9]\d{0,5}", text):
        raise Error(f"expected a number of steps; found '{text}'")
    return int(text or 1)
