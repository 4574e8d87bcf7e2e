"""The lexer: source text to preprocessing tokens (C99 translation phases 1 to 3).

White space, comments and spliced lines are gone afterwards; what is left of them are the tokens'
``leading_space`` and ``at_line_start``. The parser's tokens come from
:class:`coopmat.opencl.preprocess.preprocessor.Preprocessor`.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from dataclasses import replace

from coopmat.diagnostics import CompileError, DiagnosticSink, SourceFile, SourceLocation
from coopmat.opencl.messages import lexical as messages
from coopmat.opencl.preprocess.tokens import PUNCTUATORS, Token, TokenKind
from coopmat.support.limits import LONGEST_IDENTIFIER

MAX_SOURCE_CHARACTERS = 16 * 1024 * 1024


MAX_TOKENS = 1_000_000
"""Limit on the tokens that all files and all macro expansions of one run make together."""

_PUNCTUATOR = "|".join(re.escape(text) for text in sorted(PUNCTUATORS, key=len, reverse=True))

# Every alternative matches greedily without backtracking, so that scanning takes linear time.
_TOKEN = re.compile(
    rf"""[ \t\v\f]*+(?:
      (?P<identifier>[^\W\d]\w*+)
    | (?P<number>\.?[0-9](?:[eEpP][+-]|[\w.])*+)
    | (?P<line_comment>//[^\n]*+)
    | (?P<comment>/\*(?:[^*]++|\*(?!/))*+\*/)
    | (?P<open_comment>/\*)
    | (?P<punctuator>{_PUNCTUATOR})
    | (?P<newline>\n[ \t\v\f\n]*+)
    | (?P<string>"(?:[^"\\\n]|\\[^\n])*+")
    | (?P<character>'(?:[^'\\\n]|\\[^\n])*+')
    | (?P<unterminated>["'][^\n]*+)
    | (?P<end>\Z)
    | (?P<other>.)
    )""", re.VERBOSE | re.DOTALL)

_KINDS = {
    "identifier": TokenKind.IDENTIFIER,
    "number": TokenKind.NUMBER,
    "punctuator": TokenKind.PUNCTUATOR,
    "string": TokenKind.STRING,
    "character": TokenKind.CHARACTER,
    "unterminated": TokenKind.UNTERMINATED,
    "other": TokenKind.OTHER,
}

_HEADER_NAME = re.compile(r"[ \t\v\f]*+(?P<header><[^>\n]+>)")
_SPLICE = re.compile(r"\\([ \t\v\f]*)(?:\n|\Z)")
_LINE_END = re.compile(r"\r\n?")


def normalize(file: SourceFile, sink: DiagnosticSink) -> SourceFile:
    """The file with ``\\n`` line ends and without a byte order mark.

    Raises :class:`CompileError` for a source above :data:`MAX_SOURCE_CHARACTERS`.
    """
    if len(file.text) > MAX_SOURCE_CHARACTERS:
        sink.report(messages.SOURCE_TOO_LARGE, SourceLocation(SourceFile(file.name, ""), 1, 1),
                    size=len(file.text), limit=MAX_SOURCE_CHARACTERS)
        raise CompileError(sink.diagnostics)
    text = file.text.removeprefix("\ufeff")
    if "\r" in text:
        text = _LINE_END.sub("\n", text)
    return file if text is file.text else replace(file, text=text)


class _SourceMap:
    """Finds the place of an offset in the text without splices (phase 2) in the original text."""

    def __init__(self, file: SourceFile, sink: DiagnosticSink) -> None:
        self._file = file
        self._line_starts = [0, *(match.end() for match in re.finditer("\n", file.text)), len(file.text) + 1]
        self._line = 1  # the one that was found last
        self._splices: list[int] = []  # offsets in the joined text …
        self._removed = [0]  # … and the number of characters removed up to each
        self.text = self._join(file.text, sink) if "\\" in file.text else file.text

    def _join(self, text: str, sink: DiagnosticSink) -> str:
        parts: list[str] = []
        start = 0
        for match in _SPLICE.finditer(text):
            parts.append(text[start:match.start()])
            self._splices.append(match.start() - self._removed[-1])
            self._removed.append(self._removed[-1] + len(match[0]))
            start = match.end()
            if match[1]:
                sink.report(messages.SPACE_AFTER_BACKSLASH, self._at(match.start(), 1))
        return "".join([*parts, text[start:]])

    def _at(self, offset: int, length: int) -> SourceLocation:
        line, starts = self._line, self._line_starts
        if not starts[line - 1] <= offset < starts[line]:
            self._line = line = bisect_right(starts, offset, hi=len(starts) - 1)
        return SourceLocation(self._file, line, offset - starts[line - 1] + 1, length)

    def location(self, offset: int, length: int) -> SourceLocation:
        """The location of ``length`` characters at ``offset`` of the joined text."""
        if self._splices:
            offset += self._removed[bisect_right(self._splices, offset)]
        return self._at(offset, length)


def tokenize(file: SourceFile, sink: DiagnosticSink) -> list[Token]:
    """The preprocessing tokens of a :func:`normalize`-d file, an END token at the end.

    Reports only what is wrong even in a skipped group (``#if 0``): an unterminated comment. Stray
    characters and unterminated literals become tokens that :func:`report_malformed` reports.
    Raises :class:`CompileError` past :data:`MAX_TOKENS`.
    """
    source = _SourceMap(file, sink)
    text, locate, scan = source.text, source.location, _TOKEN.match
    tokens: list[Token] = []
    at_line_start, space = True, False
    position = 0
    while True:
        match = scan(text, position)
        assert match is not None  # the last alternative takes any character
        group = match.lastgroup or ""
        start, position = match.start(group), match.end()
        space = space or start > match.start()
        kind = _KINDS.get(group)
        if kind is not None:
            spelling = match[group]
            tokens.append(Token(kind, spelling, locate(start, len(spelling)), space, at_line_start))
            at_line_start = space = False
            if len(tokens) > MAX_TOKENS:
                sink.report(messages.EXPANSION_TOO_LARGE, tokens[-1].location, limit=MAX_TOKENS)
                raise CompileError(sink.diagnostics)
            if spelling == "include" and _follows_directive_mark(tokens):
                position = _header_name(tokens, source, position)
        elif group == "newline":
            at_line_start, space = True, False
        elif group == "end":
            tokens.append(Token(TokenKind.END, "", locate(start, 1), space, True))
            return tokens
        elif group == "open_comment":
            sink.report(messages.UNTERMINATED_COMMENT, locate(start, 2))
            position = len(text)
        else:
            space = True
            _check_comment(source, start, position, sink)


def _check_comment(source: _SourceMap, start: int, stop: int, sink: DiagnosticSink) -> None:
    """Warn of a comment that may begin or end elsewhere than its author thinks."""
    inner = source.text.find("/*", start + 2, stop) if source.text.startswith("/*", start) else -1
    if inner >= 0:
        sink.report(messages.COMMENT_IN_COMMENT, source.location(inner, 2))
    elif source.text.startswith("//", start):
        first, last = source.location(start, 1), source.location(stop - 1, 1)
        if first.line < last.line:
            backslash = replace(first, column=len(first.source_line.rstrip()))
            sink.report(messages.MULTILINE_COMMENT, backslash)


def _follows_directive_mark(tokens: list[Token]) -> bool:
    """Whether the last token is the name of a directive."""
    return len(tokens) > 1 and tokens[-2].at_line_start and tokens[-2].is_punctuator("#")


def _header_name(tokens: list[Token], source: _SourceMap, position: int) -> int:
    """Take a ``<file>`` after ``#include`` as one token, if there is one; returns where to go on."""
    match = _HEADER_NAME.match(source.text, position)
    if match is None:
        return position
    start, header = match.start("header"), match["header"]
    tokens.append(Token(TokenKind.HEADER_NAME, header, source.location(start, len(header)), start > position))
    return match.end()


def token_kind(text: str) -> TokenKind | None:
    """The kind of the single preprocessing token that ``text`` spells, None if it is not just one."""
    match = _TOKEN.match(text)
    if match is None or match.end() != len(text) or match.lastgroup is None:
        return None
    kind = _KINDS.get(match.lastgroup)
    if kind in (TokenKind.OTHER, TokenKind.UNTERMINATED) or match.start(match.lastgroup) > 0:
        return None
    return kind


def would_paste(left: str, right: str) -> bool:
    """Whether two spellings, written without a space between them, would read as other tokens."""
    match = _TOKEN.match(left + right)
    return match is None or match.end() != len(left)


def report_malformed(token: Token, sink: DiagnosticSink) -> bool:
    """Report a token that no valid program has outside of skipped groups; whether it was one."""
    if token.kind is TokenKind.UNTERMINATED:
        sink.report(messages.UNTERMINATED_LITERAL, token.location, quote=token.text[0])
    elif token.kind is TokenKind.OTHER:
        sink.report(messages.UNEXPECTED_CHARACTER, token.location, character=_describe(token.text))
    elif token.kind is TokenKind.IDENTIFIER and len(token.text) > LONGEST_IDENTIFIER:
        sink.report(messages.IDENTIFIER_TOO_LONG, token.location, length=len(token.text), limit=LONGEST_IDENTIFIER)
    elif token.kind is TokenKind.IDENTIFIER and not token.text.isidentifier():
        sink.report(messages.INVALID_IDENTIFIER, token.location, text=token.text)
    else:
        return False
    return True


def _describe(character: str) -> str:
    """A character as a message names it: itself if it can be seen, its code point and name if not."""
    if " " < character <= "~":
        return f"'{character}'"
    name = unicodedata.name(character, "")
    return f"U+{ord(character):04X}" + (f" ({name.lower()})" if name else "")
