"""LLVM's printed IR, taken apart: a module has functions, these have blocks, and these lines.

    module = parse(text)
    for function in module.functions:
        ...                               # a pass puts other lines into its blocks
    text = str(module)

What no pass changes is written as it was read. Nothing else reads LLVM's text; docs/cpu.md says why it is text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from typing import NamedTuple

from coopmat.diagnostics import Error

TERMINATORS = frozenset({"br", "switch", "ret", "unreachable"})
UNDEFINED = frozenset({"undef", "poison"})
_ZEROS = frozenset({"0", "0.0", "0.000000e+00"})

_NAME = re.compile(r"%[\w.$-]+")
_LABEL = re.compile(r"([\w.$-]+):")
_SUCCESSOR = re.compile(r"label %([\w.$-]+)")
_UNNAMED = re.compile(r"(%|^(?=\d+:))(\d+)\b")
_INSTRUCTION = re.compile(r"  (?:(%[\w.$-]+) = )?(?:(?:tail|musttail|notail) )?([a-z]\w*)")
_METADATA = r"(?:, ![\w.]+ !\d+)*$"
_METADATA_AT_END = re.compile(r"(?:, ![\w.]+ !\d+)+$")
_CALL = re.compile(rf"call (.*?) ?@([\w.$-]+)\((.*)\)(?: #\d+)?{_METADATA}")
_PHI = re.compile(r"phi (.*?) (\[ .*)")
_INCOMING = re.compile(r"\[ ([^,]+), %([^ ]+) \]")
_CAST = re.compile(rf"\w+ (.+) (\S+) to (.+?){_METADATA}")
_VECTOR = re.compile(r"<(\d+) x (\w+)>")
_TARGET_TYPE = re.compile(r'target\("[^"]*"[^()]*\)')
_DECLARED = re.compile(r"declare .*?@([\w.$-]+)\(")
_SEPARATOR = re.compile(r"[(\[{<]|[)\]}>]|, ?| ")
_IGNORED_ATTRIBUTES = re.compile(r" (?:noundef|nonnull|nocapture|readonly|captures\(none\)|noalias|writeonly)(?= )")


def is_zero(constant: str) -> bool:
    """Whether an operand is the integer, float or double zero, as LLVM prints it."""
    return constant in _ZEROS


def is_name(operand: str) -> bool:
    """Whether an operand is the result of an instruction or a parameter; all others are constants."""
    return operand.startswith("%")


def has_any_length(vector: str) -> bool:
    """Whether a vector operand is a constant that stands for vectors of any length: the same number in all places."""
    return vector.startswith("splat") or vector == "zeroinitializer"


def vector_of(llvm: str) -> tuple[int, str] | None:
    """The length and the elements' type of a vector type; None for any other type."""
    found = _VECTOR.fullmatch(llvm)
    return (int(found[1]), found[2]) if found else None


def declared_name(line: str) -> str | None:
    """The function that a line outside of functions declares."""
    found = _DECLARED.match(line)
    return found[1] if found else None


# --------------------------------------------------------------------------------------
# Instructions
# --------------------------------------------------------------------------------------


class Operand(NamedTuple):
    """An operand of a call; attributes, such as an alignment, stand between type and value."""

    type: str
    attributes: str
    value: str

    def __str__(self) -> str:
        return " ".join(filter(None, self))


@dataclass(frozen=True)
class CallLine:
    """A call of a function that is named. result: empty if it has none. returned: its type."""

    result: str
    returned: str
    function: str
    arguments: str

    @cached_property
    def operands(self) -> tuple[Operand, ...]:
        """The operands, without attributes that do not matter."""
        return tuple(_operand(_IGNORED_ATTRIBUTES.sub("", one)) for one in _split(self.arguments))


def _split(arguments: str) -> Iterator[str]:
    """What is separated by the commas that are in no brackets."""
    depth = start = 0
    for found in _SEPARATOR.finditer(arguments):
        depth += _depth(found[0])
        if depth == 0 and found[0][0] == ",":
            yield arguments[start:found.start()]
            start = found.end()
    if arguments:
        yield arguments[start:]


def _operand(text: str) -> Operand:
    """Its parts: the type ends at the first space that is in no brackets, the value is the last word."""
    depth = 0
    for found in _SEPARATOR.finditer(text):
        depth += _depth(found[0])
        if depth == 0 and found[0] == " ":
            attributes, _, value = text[found.end():].rpartition(" ")
            return Operand(text[:found.start()], attributes, value)
    return Operand(text, "", "")


def _depth(separator: str) -> int:
    return (separator in "([{<") - (separator in ")]}>")


class Phi(NamedTuple):
    """incoming: values, each with the label of the block that it comes from."""

    result: str
    type: str
    incoming: list[tuple[str, str]]

    @property
    def sources(self) -> dict[str, str]:
        """The values by the labels of the blocks."""
        return {label: value for value, label in self.incoming}


class Load(NamedTuple):
    """A value out of a variable."""

    result: str
    type: str
    address: str


class Store(NamedTuple):
    """A value into a variable."""

    type: str
    value: str
    address: str


class Select(NamedTuple):
    """One of two values."""

    result: str
    condition: str
    type: str
    first: str
    second: str


class Freeze(NamedTuple):
    """A value, or some value if it is not defined."""

    result: str
    type: str
    value: str


class Cast(NamedTuple):
    """A value in another type."""

    given: str
    value: str
    type: str


Move = Phi | Load | Store | Select | Freeze
"""What moves a value of an opaque type beside calls."""

_T = _TARGET_TYPE.pattern
_MOVES: dict[str, tuple[re.Pattern[str], Callable[..., Move]]] = {
    "load": (re.compile(rf"(%\S+) = load ({_T}), ptr ([^,]+)(?:, align \d+)?"), Load),
    "store": (re.compile(rf"store ({_T}) (\S+), ptr ([^,]+)(?:, align \d+)?"), Store),
    "select": (re.compile(rf"(%\S+) = select i1 ([^,]+), ({_T}) (\S+), {_T} (\S+)"), Select),
    "freeze": (re.compile(rf"(%\S+) = freeze ({_T}) (\S+)"), Freeze),
}


# --------------------------------------------------------------------------------------
# Lines, blocks, functions
# --------------------------------------------------------------------------------------


class Line(NamedTuple):
    """A line of a block. result, opcode and call are those of the instruction that it is, if it is one."""

    text: str
    result: str = ""
    opcode: str = ""
    call: CallLine | None = None

    @classmethod
    def of(cls, text: str) -> Line:
        """The line with a text."""
        found = _INSTRUCTION.match(text)
        if found is None:
            return cls(text)
        result, opcode = found[1] or "", found[2]
        if opcode != "call":
            return cls(text, result, opcode)
        call = _CALL.match(text, found.start(2))
        return cls(text, result, opcode, CallLine(result, *call.groups()) if call else None)

    @property
    def phi(self) -> Phi | None:
        """The phi that it is."""
        if self.opcode != "phi":
            return None
        found = _PHI.match(self.text, len(self.result) + 5)
        return Phi(self.result, found[1], _INCOMING.findall(found[2])) if found else None

    @property
    def cast(self) -> Cast | None:
        """The conversion that it is."""
        found = _CAST.match(self.text, len(self.result) + 5)
        return Cast(*found.groups()) if found else None

    @property
    def move(self) -> Move:
        """What it does with values of opaque types; Error if that is not known."""
        text = _METADATA_AT_END.sub("", self.text.strip())
        if phi := self.phi:
            return phi
        if self.opcode in _MOVES:
            pattern, kind = _MOVES[self.opcode]
            found = pattern.fullmatch(text)
            if found:
                return kind(*found.groups())
        raise Error("a cooperative matrix is used in a way that is not known: " + _TARGET_TYPE.sub("MATRIX", text))

    @property
    def opaque_types(self) -> list[str]:
        """The opaque types that it mentions."""
        return _TARGET_TYPE.findall(self.text) if "target(" in self.text else []

    @property
    def names(self) -> set[str]:
        """The values and labels that it mentions."""
        return set(_NAME.findall(self.text))

    @property
    def used(self) -> set[str]:
        """The values and labels that it uses."""
        return set(_NAME.findall(self.text, len(self.result) + 5 if self.result else 0))

    def with_result(self, name: str) -> Line:
        """The line with another name for its result."""
        return Line.of(f"  {name}{self.text[len(self.result) + 2:]}")

    def renamed(self, new: Callable[[str], str]) -> Line:
        """The line with other values and labels: what ``new`` gives for each."""
        return Line.of(_NAME.sub(lambda found: new(found[0]), self.text))


@dataclass
class Block:
    """Lines that run one after the other. head: the line of its label; empty if it has none."""

    head: str
    lines: list[Line]

    @property
    def end(self) -> int:
        """The number of the terminator's first line."""
        return next(number for number, line in enumerate(self.lines) if line.opcode in TERMINATORS)

    @property
    def successors(self) -> list[str]:
        """The labels of the blocks that may come next."""
        return [label for line in self.lines[self.end:] for label in _SUCCESSOR.findall(line.text)]


@dataclass
class Function:
    """A function. header: its first line. blocks: by label; the first one's may be empty."""

    header: str
    blocks: dict[str, Block]

    @property
    def lines(self) -> Iterator[Line]:
        """The lines of all blocks."""
        return (line for block in self.blocks.values() for line in block.lines)

    @property
    def entry(self) -> Block:
        """The first block."""
        return next(iter(self.blocks.values()))

    @property
    def text(self) -> Iterator[str]:
        """The text, line by line."""
        yield self.header
        for block in self.blocks.values():
            if block.head:
                yield block.head
            yield from (line.text for line in block.lines)
        yield "}"

    def name_all(self) -> None:
        """Give names to values and labels that have none: LLVM expects their numbers in order."""
        header, *body, _ = (_UNNAMED.sub(r"\1unnamed.\2", line) for line in self.text)
        self.header, self.blocks = header, _blocks(body)


def _blocks(lines: Iterable[str]) -> dict[str, Block]:
    found: dict[str, Block] = {}
    block = Block("", [])
    for text in lines:
        label = _LABEL.match(text)
        if label:
            block = found[label[1]] = Block(text, [])
        else:
            found = found or {"": block}
            block.lines.append(Line.of(text))
    return found


@dataclass
class Module:
    """A module: its functions, and the lines between them."""

    parts: list[Function | str]

    @property
    def functions(self) -> Iterator[Function]:
        """The functions."""
        return (part for part in self.parts if isinstance(part, Function))

    @property
    def declared(self) -> set[str]:
        """The functions that are declared."""
        return {name for part in self.parts if isinstance(part, str) and (name := declared_name(part))}

    @property
    def called(self) -> Counter[str]:
        """The functions that are called by their names, and how often the text calls each."""
        return Counter(line.call.function for function in self.functions for line in function.lines if line.call)

    def drop_declarations(self, names: Iterable[str]) -> None:
        """Remove the declarations of some functions."""
        dropped = set(names)
        self.parts = [part for part in self.parts
                      if not (isinstance(part, str) and declared_name(part) in dropped)]

    def replace_types(self, types: Mapping[str, str]) -> None:
        """Put other types in the place of some that are, or contain, opaque ones."""
        longest_first = sorted(types, key=len, reverse=True)
        pattern = re.compile("|".join(map(re.escape, longest_first)))

        def replaced(text: str) -> str:
            return pattern.sub(lambda found: types[found[0]], text) if "target(" in text else text

        self.parts = [replaced(part) if isinstance(part, str) else part for part in self.parts]
        for function in self.functions:
            function.header = replaced(function.header)
            for block in function.blocks.values():
                block.lines = [Line.of(replaced(line.text)) if "target(" in line.text else line
                               for line in block.lines]

    def __str__(self) -> str:
        return "\n".join(line for part in self.parts for line in ([part] if isinstance(part, str) else part.text))


def parse(text: str) -> Module:
    """The module that LLVM printed."""
    lines = iter(text.splitlines())
    parts: list[Function | str] = []
    for line in lines:
        if line.startswith("define "):
            body = takewhile(lambda one: one != "}", lines)
            parts.append(Function(line, _blocks(body)))
        else:
            parts.append(line)
    return Module(parts)
