"""The parser's view of the tokens: a cursor, reports with recovery, and the scopes of type names."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from coopmat.diagnostics import Diagnostic, DiagnosticSink, FixIt, Marks, Message, SourceFile, SourceLocation, note
from coopmat.opencl.messages import syntax as messages
from coopmat.opencl.preprocess.token_values import PackPragma
from coopmat.opencl.preprocess.tokens import Token, TokenKind

MAX_NESTING = 256
"""Parentheses, brackets, braces, declarators and statements inside one another."""

# A pragma elsewhere stands in the middle of a statement or declaration.
_BEFORE_PRAGMA = frozenset({";", "{", "}", ")", ":", "else", "do"})

_CLOSERS = {"(": ")", "[": "]", "{": "}"}


class SyntaxFailure(Exception):
    """An error that was reported; caught where parsing can go on."""


class _Nesting:
    """How deep the parser is inside of what it reads; a ``with`` of it is one level deeper."""

    def __init__(self, stream: TokenStream) -> None:
        self.stream = stream
        self.depth = 0

    def __enter__(self) -> None:
        if self.depth >= MAX_NESTING:
            raise self.stream.fail(messages.TOO_DEEP, limit=MAX_NESTING)
        self.depth += 1

    def __exit__(self, *_: object) -> None:
        self.depth -= 1


class TokenStream:
    """A cursor over the tokens. ``token`` is the one that is looked at, ``previous`` the one before it."""

    def __init__(self, tokens: list[Token], sink: DiagnosticSink, type_names: frozenset[str]) -> None:
        self.sink = sink
        self._packs: list[tuple[int, int | None]] = []  # position of a token, and the packing from there on
        self._tokens = self._without_packs(self._without_misplaced_pragmas(tokens))
        self._position = 0
        self._nesting = _Nesting(self)
        self._ended = False  # whether it was reported that the source ends too early
        self.type_scopes: list[dict[str, bool]] = [dict.fromkeys(type_names, True)]
        self.token = self._tokens[0]
        self.previous = self.token

    def _without_misplaced_pragmas(self, tokens: list[Token]) -> list[Token]:
        kept: list[Token] = []
        for token in tokens:
            if (token.kind is TokenKind.PRAGMA and not isinstance(token.value, PackPragma) and kept
                    and kept[-1].kind is not TokenKind.PRAGMA and kept[-1].text not in _BEFORE_PRAGMA):
                self.sink.report(messages.MISPLACED_PRAGMA, token.location)
                continue
            kept.append(token)
        if not kept or kept[-1].kind is not TokenKind.END:
            place = kept[-1].location if kept else SourceLocation(SourceFile("<source>", ""), 1, 1)
            kept.append(Token(TokenKind.END, "", place))
        return kept

    def _without_packs(self, tokens: list[Token]) -> list[Token]:
        """The tokens without ``#pragma pack``, which may stand anywhere and holds for the records behind it."""
        kept: list[Token] = []
        stack: list[tuple[str | None, int | None]] = []
        current: int | None = None
        for token in tokens:
            if not isinstance(token.value, PackPragma):
                kept.append(token)
                continue
            pragma = token.value
            if pragma.action == "push":
                stack.append((pragma.label, current))
            elif pragma.action == "pop":
                labels = [label for label, _ in stack]
                if pragma.label in labels:
                    del stack[len(labels) - labels[::-1].index(pragma.label):]
                current = stack.pop()[1] if stack and pragma.label in (None, *labels) else current
            if pragma.alignment is not None:
                current = pragma.alignment or None
            self._packs.append((len(kept), current))
        return kept

    @property
    def pack(self) -> int | None:
        """The alignment that ``#pragma pack`` allows the members of a record that begins here at most."""
        index = bisect_right(self._packs, self._position, key=lambda pack: pack[0])
        return self._packs[index - 1][1] if index else None

    # ------------------------------------------------------------------ the cursor

    @property
    def location(self) -> SourceLocation:
        """Where the current token stands."""
        return self.token.location

    def peek(self, distance: int = 1) -> Token:
        """A token further on; the END token where there is none."""
        return self._tokens[min(self._position + distance, len(self._tokens) - 1)]

    def advance(self) -> Token:
        """Go to the next token and return the one that was current."""
        self.previous = self.token
        if self._position < len(self._tokens) - 1:
            self._position += 1
        self.token = self._tokens[self._position]
        return self.previous

    @property
    def at_end(self) -> bool:
        """Whether all tokens are used up."""
        return self.token.kind is TokenKind.END

    def at(self, *texts: str) -> bool:
        """Whether the current token is one of these punctuators or keywords."""
        return self.token.text in texts and self.token.kind in (TokenKind.PUNCTUATOR, TokenKind.IDENTIFIER)

    def accept(self, text: str) -> bool:
        """Go past the current token if it is ``text``."""
        if self.at(text):
            self.advance()
            return True
        return False

    # ------------------------------------------------------------------ reports

    def report(self, message: Message, location: SourceLocation | None = None,
               notes: tuple[Diagnostic, ...] = (), fix: FixIt | None = None, **values: Any) -> None:
        """Report at the current token, or elsewhere; nothing around an unterminated literal, which has been
        reported and took the rest of its line with it."""
        if TokenKind.UNTERMINATED in (self.token.kind, self.previous.kind):
            return
        self.sink.report(message, location or self.location, notes, Marks((), fix), **values)

    def fail(self, message: Message, location: SourceLocation | None = None,
             notes: tuple[Diagnostic, ...] = (), **values: Any) -> SyntaxFailure:
        """Report, and give the exception to raise."""
        self.report(message, location, notes, **values)
        return SyntaxFailure()

    def after_previous(self) -> SourceLocation:
        """The place just behind the previous token, where something is missing."""
        location = self.previous.location
        return replace(location, column=location.column + location.length, length=1, macro=None, spelling=None)

    def expect(self, text: str, after: str = "") -> Token:
        """Go past ``text``, or report that it is missing (``after``: "after expression")."""
        if self.at(text):
            return self.advance()
        what = f"'{text}' {after}".rstrip()
        raise self.fail(messages.EXPECTED, what=what)

    def expect_semicolon(self, after: str) -> None:
        """Go past ``;``. Where it is missing report so, behind the previous token, and go on there if a
        new line follows, otherwise behind the next ``;``."""
        if self.accept(";"):
            return
        place = self.after_previous()
        self.report(messages.EXPECTED, place, fix=FixIt(place, ";"), what=f"';' {after}")
        if not (self.token.at_line_start or self.at("}") or self.at_end):
            self.recover()

    def close(self, opening: Token) -> Token:
        """Go past the bracket that closes ``opening``."""
        text = _CLOSERS[opening.text]
        if self.at(text):
            return self.advance()
        if self.at_end:
            if self._ended:
                raise SyntaxFailure
            self._ended = True
        hint = note(f"to match this '{opening.text}'", opening.location)
        raise self.fail(messages.EXPECTED, notes=(hint,), what=f"'{text}'")

    # ------------------------------------------------------------------ recovery

    def recover(self) -> None:
        """Skip to behind the next ``;``, over brackets with all that is in them; stop before a ``}``
        that closes something outside."""
        open_brackets: list[str] = []
        while not self.at_end:
            if self.token.kind is TokenKind.PRAGMA and not open_brackets:
                return
            if self.at("(", "[", "{"):
                open_brackets.append(self.token.text)
            elif self.at(")", "]") and open_brackets and _CLOSERS[open_brackets[-1]] == self.token.text:
                open_brackets.pop()
            elif self.at("}"):
                if "{" not in open_brackets:
                    return
                while open_brackets.pop() != "{":
                    pass
                if not open_brackets:
                    self.advance()
                    return
            elif self.at(";") and "{" not in open_brackets and (not open_brackets or self.peek().at_line_start):
                self.advance()  # where a line ends with it, a bracket was never closed
                return
            self.advance()

    def skip_parenthesis(self, over_semicolons: bool = False) -> bool:
        """Skip to behind the ``)`` of a parenthesis that is open; False where a brace (or ``;``) comes first."""
        depth = 1
        while not self.at_end and not self.at("{", "}") and (over_semicolons or not self.at(";")):
            depth += self.at("(") - self.at(")")
            self.advance()
            if depth == 0:
                return True
        return False

    def skip_list(self) -> None:
        """Skip to behind the ``}`` of a list in braces that is open; a ``;`` ends it before that."""
        depth = 1
        while not self.at_end and not self.at(";"):
            if self.at("{"):
                depth += 1
            elif self.at("}"):
                depth -= 1
            self.advance()
            if depth == 0:
                return

    # ------------------------------------------------------------------ nesting and scopes

    def nested(self) -> _Nesting:
        """One level deeper, for the time of a ``with``; reports where that is too deep."""
        return self._nesting

    @contextmanager
    def type_scope(self) -> Iterator[None]:
        """A block's scope of type names."""
        self.type_scopes.append({})
        try:
            yield
        finally:
            self.type_scopes.pop()

    def declare(self, name: str | None, is_type: bool) -> None:
        """Note that ``name`` means a type, or something else, from here on."""
        if name is not None:
            self.type_scopes[-1][name] = is_type

    def names_type(self, token: Token) -> bool:
        """Whether an identifier is the name of a type here."""
        return token.kind is TokenKind.IDENTIFIER and self.is_type_name(token.text)

    def is_type_name(self, name: str) -> bool:
        """Whether ``name`` means a type here."""
        for scope in reversed(self.type_scopes):
            if name in scope:
                return scope[name]
        return False
