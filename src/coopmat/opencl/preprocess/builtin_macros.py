"""Macros that are computed at each use: ``__LINE__`` and its like, ``defined``, the ``__has_…`` operators."""

from __future__ import annotations

from collections.abc import Callable, Container

from coopmat.diagnostics import DiagnosticSink
from coopmat.opencl.messages import lexical as messages
from coopmat.opencl.preprocess.includes import HeaderName
from coopmat.opencl.preprocess.language_features import LANGUAGE_EXTENSIONS, LANGUAGE_FEATURES
from coopmat.opencl.preprocess.macros import Builtin, Expander, MacroTable
from coopmat.opencl.preprocess.tokens import Token, TokenKind, spell, use_site

Names = Container[str] | Callable[[str], bool]
"""A set of names: a container, or a function that says whether a name is in it."""


def _test(names: Names) -> Callable[[str], bool]:
    """The set as a function."""
    return names.__contains__ if isinstance(names, Container) else names


def file_name_literal(name: str) -> str:
    """A file name as a string literal."""
    escaped = name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def parse_header_name(tokens: list[Token]) -> tuple[HeaderName, list[Token]] | None:
    """The header that tokens begin with, and the tokens behind it; None if they do not name one.

    Takes ``"file"``, ``<file>`` as one token, and ``<``, tokens, ``>`` as a macro makes it.
    """
    first = tokens[0] if tokens else None
    if first is None:
        return None
    if first.kind is TokenKind.STRING:
        return HeaderName(first.text[1:-1], False), tokens[1:]
    if first.kind is TokenKind.HEADER_NAME:
        return HeaderName(first.text[1:-1], True), tokens[1:]
    if first.is_punctuator("<"):
        for index, token in enumerate(tokens):
            if token.is_punctuator(">"):
                return HeaderName(spell(tokens[1:index]), True), tokens[index + 1:]
    return None


class BuiltinMacros:
    """Makes the tokens of the computed macros.

    ``has_header`` looks for a file to include; ``__LINE__`` in a macro is the line where the outermost
    macro's use begins.
    """

    def __init__(self, sink: DiagnosticSink, *, has_header: Callable[[HeaderName], bool],
                 features: Names, builtins: Names, attributes: Names) -> None:
        self._sink = sink
        self._has_header = has_header
        self._counter = -1
        is_of_device = _test(features)
        self._is_known = {
            "__has_builtin": _test(builtins), "__has_attribute": _test(attributes),
            "__has_feature": lambda name: is_of_device(name) or name in LANGUAGE_FEATURES,
            "__has_extension": lambda name: is_of_device(name) or name in LANGUAGE_EXTENSIONS,
        }

    def attach(self, expander: Expander) -> None:
        """Set the expander whose tokens the operators read."""
        self._expander = expander

    def macros(self) -> MacroTable:
        """The macros by name."""
        table: MacroTable = {
            "__LINE__": Builtin("__LINE__", self._line),
            "__FILE__": Builtin("__FILE__", self._file),
            "__COUNTER__": Builtin("__COUNTER__", self._count),
            "__has_include": Builtin("__has_include", self._has_include),
        }
        table.update((name, Builtin(name, self._has_name)) for name in self._is_known)
        return table

    def operators(self) -> dict[str, Builtin]:
        """What acts as a macro in ``#if`` only."""
        return {"defined": Builtin("defined", self._defined)}

    # ------------------------------------------------------------------ places

    def _made(self, use: Token, kind: TokenKind, text: str) -> Token:
        return Token(kind, text, use.origin, use.leading_space, use.at_line_start)

    def _line(self, use: Token) -> Token:
        return self._made(use, TokenKind.NUMBER, str(use_site(use.origin).line))

    def _file(self, use: Token) -> Token:
        return self._made(use, TokenKind.STRING, file_name_literal(use_site(use.origin).name))

    def _count(self, use: Token) -> Token:
        self._counter += 1
        return self._made(use, TokenKind.NUMBER, str(self._counter))

    # ------------------------------------------------------------------ operators

    def _truth(self, use: Token, value: bool) -> Token:
        return self._made(use, TokenKind.NUMBER, str(int(value)))

    def _wrong(self, use: Token, expected: str, found: Token) -> Token:
        place = use.location if found.kind is TokenKind.END else found.location
        self._sink.report(messages.OPERATOR_SYNTAX, place, name=use.text, expected=expected, found=found)
        return self._truth(use, False)

    def _defined(self, use: Token) -> Token:
        name = self._expander.take()
        parenthesized = name.is_punctuator("(")
        if parenthesized:
            name = self._expander.take()
        if name.kind is not TokenKind.IDENTIFIER:
            return self._wrong(use, "a macro name", name)
        if parenthesized and not (close := self._expander.take()).is_punctuator(")"):
            return self._wrong(use, "')'", close)
        return self._truth(use, name.text in self._expander.macros)

    def _has_name(self, use: Token) -> Token:
        opening = self._expander.take()
        if not opening.is_punctuator("("):
            return self._wrong(use, "'('", opening)
        name = self._expander.take()
        if name.kind is not TokenKind.IDENTIFIER:
            return self._wrong(use, "an identifier", name)
        if not (close := self._expander.take()).is_punctuator(")"):
            return self._wrong(use, "')'", close)
        text = name.text
        plain = text[2:-2] if text.startswith("__") and text.endswith("__") and len(text) > 4 else text
        is_known = self._is_known[use.text]
        return self._truth(use, is_known(text) or (use.text == "__has_attribute" and is_known(plain)))

    def _has_include(self, use: Token) -> Token:
        opening = self._expander.take()
        if not opening.is_punctuator("("):
            return self._wrong(use, "'('", opening)
        tokens: list[Token] = []
        while not (token := self._expander.take()).is_punctuator(")"):
            if token.kind is TokenKind.END:
                return self._wrong(use, "')'", token)
            tokens.append(token)
        parsed = parse_header_name(tokens)
        if parsed is None or parsed[1]:
            return self._wrong(use, '"file" or <file>', tokens[0] if tokens else token)
        return self._truth(use, self._has_header(parsed[0]))
