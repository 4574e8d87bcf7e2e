"""Random kernels, written twice: in Python, and in OpenCL C, whose arithmetic is C++'s."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

INTEGERS = {"int8": "char", "int16": "short", "int32": "int", "int64": "long", "uint8": "uchar", "uint16": "ushort",
            "uint32": "uint", "uint64": "ulong"}
TYPEDEFS = "".join(f"typedef unsigned {name} u{name};\n" for name in ("char", "short", "int", "long"))
FLOATS = {"float32": "float", "float64": "double"}
TYPES = INTEGERS | FLOATS
_VALUES = (0, 1, 2, 3, 7, 100, 127, 255, 1000, 65535, 2**31 - 1, 2**33 + 5)
SLOTS = 4  # of each case's inputs and results


@dataclass(frozen=True)
class Text:
    """An expression in both languages; ``is_integer`` of an integer type."""

    python: str
    c: str
    is_integer: bool


@dataclass
class Case:
    """A block of statements with its own variables."""

    random: random.Random
    number: int
    variables: dict[str, str] = field(default_factory=dict)  # name: type in Python
    python: list[str] = field(default_factory=list)
    c: list[str] = field(default_factory=list)
    loops: int = 0

    # ------------------------------------------------------------------ expressions

    def leaf(self, integer: bool) -> Text:
        names = [name for name, type_ in self.variables.items() if (type_ in INTEGERS) == integer]
        if names and self.random.random() < 0.7:
            name = self.random.choice(names)
            return Text(name, name, integer)
        if integer:  # with a type: constants without one are exact, in C they wrap
            value, type_ = self.random.choice(_VALUES), self.random.choice(list(INTEGERS))
            return Text(f"{type_}({value})", f"(({INTEGERS[type_]}){value}L)", True)
        value = self.random.choice([0.5, 0.25, 1.5, 2.0, 3.0])
        type_ = self.random.choice(list(FLOATS))
        return Text(f"{type_}({value})", f"(({FLOATS[type_]}){value})", False)

    def expression(self, depth: int, integer: bool) -> Text:
        if depth == 0:
            return self.leaf(integer)
        makers = [self._arithmetic, self._choice, self._cast, self._negative]
        if integer:
            makers += [self._bits, self._shift, self._division, self._truth]
        return self.random.choice(makers)(depth - 1, integer)

    def _arithmetic(self, depth: int, integer: bool) -> Text:
        symbol = self.random.choice("+-*")
        left = self.expression(depth, integer)
        if self.random.random() < 0.3:
            value = str(self.random.choice(_VALUES)) if integer else "2"
            suffix = "L" if integer and int(value) >= 2**31 else ""
            name = self.leaf(integer)
            return Text(f"({name.python} {symbol} {value})", f"({name.c} {symbol} {value}{suffix})", integer)
        right = self.expression(depth, integer or self.random.random() < 0.5)
        return Text(f"({left.python} {symbol} {right.python})", f"({left.c} {symbol} {right.c})", integer)

    def _bits(self, depth: int, integer: bool) -> Text:
        symbol = self.random.choice("&|^")
        left, right = self.expression(depth, True), self.expression(depth, True)
        return Text(f"({left.python} {symbol} {right.python})", f"({left.c} {symbol} {right.c})", True)

    def _shift(self, depth: int, integer: bool) -> Text:
        symbol = self.random.choice(["<<", ">>"])
        value, amount = self.expression(depth, True), self.random.randrange(31)
        return Text(f"({value.python} {symbol} {amount})", f"({value.c} {symbol} {amount})", True)

    def _division(self, depth: int, integer: bool) -> Text:
        symbol = self.random.choice(["/", "//", "%"])
        value, divisor = self.expression(depth, True), self.random.choice([1, 2, 3, 7, 16, 1000])
        return Text(f"({value.python} {symbol} {divisor})", f"({value.c} {symbol[0]} {divisor})", True)

    def _negative(self, depth: int, integer: bool) -> Text:
        symbol = self.random.choice("-~") if integer else "-"
        value = self.expression(depth, integer)
        return Text(f"({symbol}{value.python})", f"({symbol}{value.c})", integer)

    def _cast(self, depth: int, integer: bool) -> Text:
        type_ = self.random.choice(list(INTEGERS if integer else FLOATS))
        value = self.expression(depth, integer)
        return Text(f"{type_}({value.python})", f"(({TYPES[type_]}){value.c})", integer)

    def _choice(self, depth: int, integer: bool) -> Text:
        test = self.condition(depth)
        left, right = self.expression(depth, integer), self.expression(depth, integer)
        return Text(f"({left.python} if {test.python} else {right.python})", f"({test.c} ? {left.c} : {right.c})",
                    integer)

    def _truth(self, depth: int, integer: bool) -> Text:
        test = self.condition(depth)
        return Text(f"({test.python})", f"({test.c})", True)

    def condition(self, depth: int) -> Text:
        kind = self.random.choice(["compare", "compare", "and", "or", "not"])
        if kind == "compare" or depth == 0:
            symbol, integer = self.random.choice(["<", "<=", ">", ">=", "==", "!="]), self.random.random() < 0.7
            left, right = self.expression(depth, integer), self.expression(depth, integer)
            return Text(f"({left.python} {symbol} {right.python})", f"({left.c} {symbol} {right.c})", True)
        left, right = self.condition(depth - 1), self.condition(depth - 1)
        if kind == "not":
            return Text(f"(not {left.python})", f"(!{left.c})", True)
        return Text(f"({left.python} {kind} {right.python})", f"({left.c} {'&&' if kind == 'and' else '||'} {right.c})",
                    True)

    # ------------------------------------------------------------------ statements

    def emit(self, indent: int, python: str, c: str) -> None:
        self.python.append("    " * (indent + 1) + python)
        self.c.append("    " * (indent + 1) + c)

    def statements(self, count: int, indent: int, in_loop: bool) -> None:
        for _ in range(count):
            kind = self.random.choice(["assign", "assign", "update", "update", "if", "loop", "while", "jump"])
            if indent > 2 and kind in ("if", "loop", "while"):
                kind = "assign"
            if kind == "jump" and not in_loop:
                kind = "update"
            getattr(self, f"_{kind}")(indent, in_loop)

    def _variable(self) -> str:
        return self.random.choice(list(self.variables))

    def _assign(self, indent: int, in_loop: bool) -> None:
        name = self._variable()
        value = self.expression(2, self.variables[name] in INTEGERS)
        self.emit(indent, f"{name} = {value.python}", f"{name} = {value.c};")

    def _update(self, indent: int, in_loop: bool) -> None:
        name = self._variable()
        integer = self.variables[name] in INTEGERS
        symbol = self.random.choice(["+", "-", "*", *("&|^" if integer else "")])
        value = self.expression(1, integer)
        self.emit(indent, f"{name} {symbol}= {value.python}", f"{name} {symbol}= {value.c};")

    def _if(self, indent: int, in_loop: bool) -> None:
        for index in range(self.random.randrange(1, 3)):
            test = self.condition(1)
            self.emit(indent, f"{'elif' if index else 'if'} {test.python}:",
                      f"{'else ' if index else ''}if ({test.c}) {{")
            self.statements(self.random.randrange(1, 3), indent + 1, in_loop)
            self.c.append("    " * (indent + 1) + "}")
        if self.random.random() < 0.5:
            self.emit(indent, "else:", "else {")
            self.statements(1, indent + 1, in_loop)
            self.c.append("    " * (indent + 1) + "}")

    def _loop(self, indent: int, in_loop: bool) -> None:
        self.loops += 1
        name = f"i{self.number}_{self.loops}"
        start, stop = self.random.randrange(-3, 4), self.random.randrange(0, 6)
        step = self.random.choice([1, 1, 2, 3, -1, -2])
        if step < 0:
            start, stop = stop, start
        self.emit(indent, f"for {name} in range({start}, {stop}, {step}):",
                  f"for (int {name} = {start}; {name} {'<' if step > 0 else '>'} {stop}; {name} += {step}) {{")
        outside = dict(self.variables)
        self.statements(self.random.randrange(1, 3), indent + 1, True)
        target = self._variable()
        self.emit(indent + 1, f"{target} += {name}", f"{target} += {name};")
        self.variables = outside
        self.c.append("    " * (indent + 1) + "}")

    def _while(self, indent: int, in_loop: bool) -> None:
        self.loops += 1
        name = f"w{self.number}_{self.loops}"
        self.emit(indent, f"{name} = int32(0)", f"int {name} = 0;")
        test = self.condition(1)
        self.emit(indent, f"while {name} < 5 and {test.python}:", f"while ({name} < 5 && {test.c}) {{")
        self.emit(indent + 1, f"{name} += 1", f"{name} += 1;")
        self.statements(self.random.randrange(1, 3), indent + 1, True)
        self.c.append("    " * (indent + 1) + "}")

    def _jump(self, indent: int, in_loop: bool) -> None:
        test, word = self.condition(1), self.random.choice(["break", "continue"])
        self.emit(indent, f"if {test.python}:", f"if ({test.c}) {{")
        self.emit(indent + 1, word, f"{word};")
        self.c.append("    " * (indent + 1) + "}")


def write(seed: int, cases: int = 6) -> tuple[str, str]:
    """The kernel ``k`` with parameters (integers in, floats in, integers out, floats out), in Python and OpenCL C."""
    python = ["from coopmat.sycl import *", "", "@kernel",
              "def k(item: nd_item[1], x: ptr[int64], f: ptr[float64], y: ptr[int64], g: ptr[float64]):"]
    c = [TYPEDEFS, "kernel void k(global long *x, global double *f, global long *y, global double *g)", "{"]
    for number in range(cases):
        case = Case(random.Random(seed * 1000 + number), number)
        for index in range(SLOTS):
            for source, types in (("x", INTEGERS), ("f", FLOATS)):
                name, type_ = f"{source}{number}_{index}", case.random.choice(list(types))
                place = f"{source}[{number * SLOTS + index}]"
                case.emit(0, f"{name}: {type_} = {place}", f"{TYPES[type_]} {name} = {place};")
                case.variables[name] = type_
        case.statements(5, 0, False)
        for source, target in (("x", "y"), ("f", "g")):
            for index in range(SLOTS):
                place = f"{target}[{number * SLOTS + index}]"
                case.emit(0, f"{place} = {source}{number}_{index}", f"{place} = {source}{number}_{index};")
        python += case.python
        c += case.c
    return "\n".join(python) + "\n", "\n".join([*c, "}"]) + "\n"
