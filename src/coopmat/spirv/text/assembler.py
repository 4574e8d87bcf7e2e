"""Text to modules: the syntax of SPIR-V's assembly language.

Numeric ids stay as they are; named ones get the numbers that are left, lowest first.  The header comments
that the disassembler writes are read back.  ``!<integer>`` stands for a word as it is: at the start of a
line, for an instruction made of such words.
"""

from __future__ import annotations

import difflib
import re
import struct
from collections.abc import Iterator, Sequence
from typing import NamedTuple, NoReturn

from coopmat.diagnostics import ValidationError
from coopmat.spirv.grammar import (
    ENUMERATIONS,
    ID_KINDS,
    MAGIC,
    PAIRS,
    InstructionRow,
    Mask,
    Op,
    OperandSpec,
    Row,
    extended_numbers,
    extended_operands,
    instruction,
    operands_of,
    parameters,
)
from coopmat.spirv.module import binary
from coopmat.spirv.module.generators import GENERATOR, generator_word
from coopmat.spirv.module.instruction import MAX_WORDS, Instruction
from coopmat.spirv.module.literals import float_layout, integer_bits, parse_float, parse_integer
from coopmat.spirv.module.operands import decode_string, encode_number, encode_string, has_parameters, mask_bits
from coopmat.spirv.text.lines import InstructionWords, ScalarTypes

RULE = "assembly-syntax"


class Token(NamedTuple):
    """A piece of the text; ``line`` and ``column`` count from 1, ``first`` is set at the start of a line."""

    text: str
    line: int
    column: int
    first: bool = False

    @property
    def is_id(self) -> bool:
        """Whether it is ``%name`` or ``%number``."""
        return self.text.startswith("%")

    @property
    def is_raw(self) -> bool:
        """Whether it is ``!<integer>``."""
        return self.text.startswith("!")


def fail(token: Token, message: str, rule: str = RULE) -> NoReturn:
    """Raise ValidationError at a token."""
    raise ValidationError(rule, f"line {token.line}, column {token.column}: {message}")


def assemble(text: str, *, version: tuple[int, int] = (1, 4)) -> binary.Parsed:
    """The module written as text; ``version`` stands where the text names none.

    Raises ValidationError with line and column.
    """
    return _Assembler(text, version).assemble()


# --------------------------------------------------------------------------------------
# Tokens
# --------------------------------------------------------------------------------------

_TOKEN = re.compile(r'[ \t\f\v\r]+|(?P<newline>\n)|(?P<comment>;[^\n]*)'
                    r'|(?P<string>"(?:[^"\\]|\\.)*")'
                    r'|(?P<word>=|OpUnknown[ \t]*\([^)\n]*\)|[^\s;"=]+)|(?P<bad>.)', re.DOTALL)
_UNKNOWN = re.compile(r"OpUnknown\s*\(\s*(\d{1,5})\s*,\s*(\d{1,5})\s*\)", re.ASCII)
_OPCODE = re.compile(r"Op[A-Z]")
_NUMERIC_ID = re.compile(r"%(0|[1-9]\d*)", re.ASCII)
_NAMED_ID = re.compile(r"%[A-Za-z0-9_]+", re.ASCII)
_HEADER_COMMENT = re.compile(r";\s*(Version|Generator|Bound|Schema):\s*(.*?)\s*")


def _tokens(text: str) -> Iterator[Token]:
    """The tokens of a text; a comment is a token of its own that begins with a semicolon."""
    line, start, first = 1, 0, True
    for match in _TOKEN.finditer(text):
        kind, piece = match.lastgroup, match[0]
        if kind == "newline":
            line, start, first = line + 1, match.end(), True
        elif kind is not None:
            token = Token(piece, line, match.start() - start + 1, first)
            if kind == "bad":
                fail(token, "this string has no closing quote" if piece == '"' else f"unexpected {piece!r}")
            first = False
            yield token
            if kind == "string" and "\n" in piece:
                line, start = line + piece.count("\n"), match.start() + piece.rindex("\n") + 1


class _Statement(NamedTuple):
    """The tokens of one instruction: the result id, if written, the opcode, the operands."""

    result: Token | None
    opcode: Token
    operands: list[Token]


def _starts(tokens: Sequence[Token], index: int) -> bool:
    """Whether an instruction starts at this token: an opcode, an assignment, a line of words."""
    token = tokens[index]
    match token.text[0]:
        case "%":
            return index + 1 < len(tokens) and tokens[index + 1].text == "="
        case "O":
            return _OPCODE.match(token.text) is not None
        case "!":
            return token.first
    return False


def _statements(tokens: Sequence[Token]) -> Iterator[_Statement]:
    index = 0
    while index < len(tokens):
        if not _starts(tokens, index):
            fail(tokens[index], f"expected an instruction or '%id =', found {_shown(tokens[index])}")
        result = None
        if tokens[index].is_id:
            result, index = tokens[index], index + 2
            if index == len(tokens):
                fail(result, f"expected an instruction after '{result.text} ='")
        opcode, index = tokens[index], index + 1
        end = index
        while end < len(tokens) and not _starts(tokens, end):
            end += 1
        yield _Statement(result, opcode, list(tokens[index:end]))
        index = end


def _shown(token: Token) -> str:
    text = token.text if len(token.text) <= 40 else token.text[:40] + "…"
    return f"'{text}'"


def _near(name: str, names: Sequence[str]) -> str:
    """A hint at the name that was probably meant."""
    close = difflib.get_close_matches(name, names, 1)
    return f"; did you mean {close[0]}?" if close else ""


# --------------------------------------------------------------------------------------
# Ids
# --------------------------------------------------------------------------------------


class _Ids:
    """Numbers for the ids of a text."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self._taken = {int(token.text[1:]) for token in tokens
                       if _NUMERIC_ID.fullmatch(token.text) and len(token.text) < 12}
        self._numbers: dict[str, int] = {}
        self._next = 1
        self.largest = 0

    def number(self, token: Token) -> int:
        """The number of an id; ValidationError if the token is none."""
        number = self._numbers.get(token.text)
        if number is None:
            number = self._numbers[token.text] = self._new(token)
            self.largest = max(self.largest, number)
        return number

    def names(self) -> dict[int, str]:
        """The names of the ids that are no numbers."""
        return {number: text[1:] for text, number in self._numbers.items() if not _NUMERIC_ID.fullmatch(text)}

    def _new(self, token: Token) -> int:
        if _NUMERIC_ID.fullmatch(token.text):
            number = int(token.text[1:]) if len(token.text) < 12 else binary.MAX_BOUND
            if not 0 < number < binary.MAX_BOUND:
                fail(token, f"numeric ids run from 1 to {binary.MAX_BOUND - 1}, found {_shown(token)}")
            return number
        if not _NAMED_ID.fullmatch(token.text):
            fail(token, f"expected an id ('%' and letters, digits, '_'), found {_shown(token)}")
        while self._next in self._taken:
            self._next += 1
        if self._next >= binary.MAX_BOUND:
            fail(token, f"the module has more than {binary.MAX_BOUND - 1} ids")
        self._next += 1
        return self._next - 1


# --------------------------------------------------------------------------------------
# Instructions
# --------------------------------------------------------------------------------------


class _Assembler:
    """Assembles one module."""

    def __init__(self, text: str, version: tuple[int, int]) -> None:
        tokens = list(_tokens(text.removeprefix("\ufeff")))  # without a byte order mark
        self.header = _header(tokens, version)
        self.tokens = [token for token in tokens if not token.text.startswith(";")]
        self.ids = _Ids(self.tokens)
        self.types = ScalarTypes()
        self.sets: dict[int, str] = {}

    def assemble(self) -> binary.Parsed:
        words: list[int] = []
        places: dict[int, Token] = {}
        for statement in _statements(self.tokens):
            places[4 * (binary.HEADER_WORDS + len(words))] = statement.opcode
            words += self.instruction(statement)
        binary.check_header(self.header._replace(bound=max(self.header.bound, 1)))
        header = self.header._replace(bound=binary.MAX_BOUND)  # the least bound shows when all ids are read
        data = struct.pack(f"<{len(words) + binary.HEADER_WORDS}I", MAGIC, *header, *words)
        try:
            contents = binary.read(data)
        except ValidationError as error:
            token = places.get(error.offset or 0)
            if token is None:
                raise
            message = str(error).rsplit(" at byte ", 1)[0]
            fail(token, message, error.rule)
        largest = self.ids.largest
        if any(token.is_raw for token in self.tokens):
            used = (i for item in contents.instructions for i in (item.result_id or 0, *item.ids()))
            largest = max(largest, max(used))
        header = self.header._replace(bound=max(self.header.bound, largest + 1))
        return contents._replace(header=header, names=self.ids.names())

    def instruction(self, statement: _Statement) -> list[int]:
        """The words of one instruction."""
        if statement.opcode.is_raw:
            return self.raw_instruction(statement)
        unknown = _UNKNOWN.fullmatch(statement.opcode.text)
        if unknown is not None:
            return self.unknown_instruction(statement, int(unknown[1]), int(unknown[2]))
        row = _row(statement.opcode)
        operands = _Operands(self, row, statement)
        words = operands.parse()
        count = 1 + len(words)
        if count > MAX_WORDS:
            fail(statement.opcode, f"{row.name} would have {count} words; at most {MAX_WORDS} fit")
        self.remember(row, words)
        return [count << 16 | row.opcode, *words]

    def remember(self, row: InstructionRow, words: list[int]) -> None:
        """Keep what later instructions are read by: types, and instruction sets."""
        if not row.has_result:
            return
        type_id = words[0] if row.has_type else None
        result = words[1] if row.has_type else words[0]
        item = Instruction(row.opcode, type_id, result, tuple(words[1 + row.has_type:]))
        self.types.add(item)
        if row.opcode == Op.ExtInstImport:
            decoded = decode_string(item.words, 0)
            self.sets[result] = decoded[0] if decoded is not None else ""

    def raw_instruction(self, statement: _Statement) -> list[int]:
        """An instruction written as words."""
        if statement.result is not None:
            fail(statement.result, "an instruction written as words holds its result id among them")
        words: list[int] = []
        for token in (statement.opcode, *statement.operands):
            words += self.raw_words(token)
        if words[0] >> 16 != len(words):
            fail(statement.opcode, f"the first word announces {words[0] >> 16} words, but there are {len(words)}")
        return words

    def unknown_instruction(self, statement: _Statement, opcode: int, count: int) -> list[int]:
        """An instruction written as ``OpUnknown(opcode, words)`` and its words."""
        words = [word for token in statement.operands for word in self.raw_words(token)]
        if statement.result is not None:
            fail(statement.result, "OpUnknown holds its result id among its words")
        if opcode > 0xFFFF or count != 1 + len(words):
            fail(statement.opcode, f"expected OpUnknown(opcode, words) with an opcode of 16 bits and {1 + len(words)} "
                                   f"words, found {_shown(statement.opcode)}")
        return [count << 16 | opcode, *words]

    def raw_words(self, token: Token) -> list[int]:
        """The words of a token whose kind the grammar does not say."""
        if token.is_id:
            return [self.ids.number(token)]
        if token.text.startswith('"'):
            return _string_words(token)
        bits = integer_bits(token.text[token.is_raw:], 32)
        if bits is None:
            fail(token, f"expected '!' and a 32-bit integer, an id, an integer or a string, found {_shown(token)}")
        return [bits]


def _row(token: Token) -> InstructionRow:
    op = Op.__members__.get(token.text[2:]) if token.text.startswith("Op") else None
    row = instruction(op) if op is not None else None
    if row is None:
        fail(token, f"unknown instruction {_shown(token)}"
             + _near(token.text, ["Op" + name for name in Op.__members__]))
    return row


def _string_words(token: Token) -> list[int]:
    """The words of a quoted string; a backslash stands before a character taken as it is."""
    text = re.sub(r"\\(.)", r"\1", token.text[1:-1], flags=re.DOTALL)
    if "\0" in text:
        fail(token, "a string cannot hold a zero byte")
    if not text.isascii() and text != text.encode("utf-8", "replace").decode("utf-8"):
        fail(token, "this string has characters that UTF-8 cannot encode")
    return encode_string(text)


class _Operands:
    """Reads the operands of one instruction by its grammar row and gives their words."""

    def __init__(self, owner: _Assembler, row: InstructionRow, statement: _Statement) -> None:
        self.owner = owner
        self.row = row
        self.statement = statement
        self.tokens = statement.operands
        self.position = 0
        self.words: list[int] = []
        self.is_raw = False  # from here on, the grammar says nothing about the operands

    def parse(self) -> list[int]:
        row, statement = self.row, self.statement
        if row.has_result and statement.result is None:
            fail(statement.opcode, f"{row.name} has a result; expected '%id = {row.name}'")
        if not row.has_result and statement.result is not None:
            fail(statement.result, f"{row.name} has no result; expected it without '{statement.result.text} ='")
        if row.has_type:
            self.operand("IdResultType")
        if statement.result is not None:
            self.words.append(self.owner.ids.number(statement.result))
        self.operands(operands_of(row, len(self.tokens) - row.has_type))
        if self.position < len(self.tokens):
            token = self.tokens[self.position]
            fail(token, f"{row.name} has no operand here; expected the next instruction, found {_shown(token)}")
        return self.words

    def operands(self, specs: Sequence[OperandSpec]) -> None:
        for kind, quantifier in specs:
            if quantifier == "*":
                while self.position < len(self.tokens):
                    self.operand(kind)
            elif quantifier != "?" or self.position < len(self.tokens):
                self.operand(kind)
            if kind == "LiteralExtInstInteger":
                return  # the extended instruction says what follows, and how much of it

    def next(self, kind: str) -> Token:
        if self.position >= len(self.tokens):
            last = self.tokens[-1] if self.tokens else self.statement.opcode
            fail(last, f"{self.row.name} ends here; expected {_expected(kind)}")
        self.position += 1
        return self.tokens[self.position - 1]

    def rest_is_raw(self) -> None:
        """What follows a word without a name: words, ids, integers, strings."""
        while self.position < len(self.tokens):
            self.position += 1
            self.words += self.owner.raw_words(self.tokens[self.position - 1])

    def operand(self, kind: str) -> None:
        """Read one operand, with the operands that it brings along."""
        if kind in PAIRS:
            first, second = PAIRS[kind]
            if self.row.opcode != Op.Switch:
                self.operand(first)
            elif not self.case_literal():
                return
            self.operand(second)
            return
        token = self.next(kind)
        enumeration = ENUMERATIONS.get(kind)
        if token.is_raw:
            self.words += self.owner.raw_words(token)
            if not (kind in ID_KINDS or kind == "LiteralInteger"
                    or (enumeration is not None and not has_parameters(enumeration))):
                self.rest_is_raw()
        elif kind in ID_KINDS:
            self.words.append(self.owner.ids.number(token))
        elif enumeration is not None:
            self.enumerant(token, kind, enumeration)
        elif kind == "LiteralString":
            self.string(token)
        elif kind == "LiteralContextDependentNumber":
            self.number(token, self.owner.types.scalar(self.words[0]), "the result type of a constant")
        elif kind == "LiteralExtInstInteger":
            self.extended(token)
        elif kind == "LiteralSpecConstantOpInteger":
            self.constant_operation(token)
        else:
            self.integer(token)

    def integer(self, token: Token) -> None:
        bits = integer_bits(token.text, 32)
        if bits is None:
            fail(token, f"expected a 32-bit integer, found {_shown(token)}")
        self.words.append(bits)

    def string(self, token: Token) -> None:
        if not token.text.startswith('"'):
            fail(token, f"expected a string in double quotes, found {_shown(token)}")
        self.words += _string_words(token)

    def case_literal(self) -> bool:
        """The literal of a case of OpSwitch: as wide as the selector.  False if it is a word as it is, after which
        all others are taken to be such."""
        token = self.next("LiteralInteger")
        if token.is_raw:
            self.words += self.owner.raw_words(token)
            self.rest_is_raw()
        else:
            self.number(token, self.owner.types.of_value(self.words[0]), "the selector's type")
        return not token.is_raw

    def number(self, token: Token, kind: InstructionWords | None, what: str) -> None:
        """A number of a scalar type."""
        if kind is None:
            fail(token, f"{what} is no OpTypeInt or OpTypeFloat declared before; write the value as '!0x…' words")
        width = kind.words[0]
        if kind.opcode == Op.TypeInt:
            bits = integer_bits(token.text, width) if 0 < width <= 64 else None
            if bits is not None and kind.words[1] and bits >> width - 1 and width % 32:
                bits |= (1 << 64) - (1 << width)  # a signed number fills its words
        else:
            layout = float_layout(*kind.words[:2])
            bits = parse_float(token.text, layout) if layout is not None else None
        if bits is None:
            fail(token, f"expected a number for {kind.name} {width}, found {_shown(token)}")
        self.words += encode_number(bits, (width + 31) // 32)

    def enumerant(self, token: Token, kind: str, enumeration: type[Row] | type[Mask]) -> None:
        if issubclass(enumeration, Mask):
            value = 0
            for name in token.text.split("|"):
                value |= _member(token, name, kind, enumeration)
            self.words.append(value)
            for bit in mask_bits(enumeration, value) or ():
                self.operands(parameters(bit))
            return
        member = enumeration(_member(token, token.text, kind, enumeration))
        self.words.append(member)
        self.operands(parameters(member))

    def extended(self, token: Token) -> None:
        """The name or number of an extended instruction, and its operands."""
        name = self.owner.sets.get(self.words[2])
        if name is None:
            fail(token, "the instruction set is no OpExtInstImport declared before")
        table = extended_numbers(name)
        number = table.get(token.text)
        if number is None:
            number = parse_integer(token.text)
        if number is None or not 0 <= number <= 0xFFFFFFFF:
            fail(token, f"expected an instruction of '{name}', found {_shown(token)}"
                 + _near(token.text, list(table)))
        self.words.append(number)
        specs = extended_operands(name, number)
        if specs is not None:
            self.operands(specs)
        else:
            self.rest_is_raw()

    def constant_operation(self, token: Token) -> None:
        """The instruction inside OpSpecConstantOp, and its operands."""
        inner = _row(token._replace(text="Op" + token.text.removeprefix("Op")))
        if inner.opcode == Op.SpecConstantOp:
            fail(token, "OpSpecConstantOp cannot hold another OpSpecConstantOp")
        self.words.append(inner.opcode)
        self.operands(inner.operands)


def _member(token: Token, name: str, kind: str, enumeration: type[Row] | type[Mask]) -> int:
    """The value of an enumerant by name."""
    members = enumeration.__members__
    for spelling in (name, f"_{name}", f"{name}_"):
        if spelling in members:
            return int(members[spelling])
    if name == "None" and issubclass(enumeration, Mask):
        return 0
    names = [spelling.strip("_") for spelling in members]
    fail(token, f"expected {_expected(kind)}, found {_shown(token)}" + _near(name, names))


def _expected(kind: str) -> str:
    """An operand kind in words."""
    if kind == "IdResultType":
        return "the id of the result type"
    if kind in ID_KINDS:
        return "an id"
    if kind == "LiteralString":
        return "a string"
    if kind.startswith(("Literal", "Pair")):
        return "a number" if kind != "LiteralExtInstInteger" else "the name of an extended instruction"
    return f"a name of {kind}"


# --------------------------------------------------------------------------------------
# Header
# --------------------------------------------------------------------------------------


def _header(tokens: Sequence[Token], version: tuple[int, int]) -> binary.Header:
    """The header words from the comments before the first instruction; bound 0 where none is named."""
    header = binary.Header(version[0] << 16 | version[1] << 8, GENERATOR, 0, 0)
    for token in tokens:
        if not token.text.startswith(";"):
            break
        match = _HEADER_COMMENT.fullmatch(token.text)
        if match is not None:
            header = _header_field(header, match[1], match[2])
    return header


def _header_field(header: binary.Header, name: str, text: str) -> binary.Header:
    """The header with what one comment says; a comment of another form is only a comment."""
    if name == "Version":
        match = re.fullmatch(r"(\d{1,3})\.(\d{1,3})", text, re.ASCII)
        if match is not None:
            return header._replace(version=(int(match[1]) & 0xFF) << 16 | (int(match[2]) & 0xFF) << 8)
    elif name == "Generator":
        word = generator_word(text)
        if word is not None:
            return header._replace(generator=word)
    elif re.fullmatch(r"\d{1,10}", text, re.ASCII) and int(text) <= 0xFFFFFFFF:
        return header._replace(bound=int(text)) if name == "Bound" else header._replace(schema=int(text))
    return header
