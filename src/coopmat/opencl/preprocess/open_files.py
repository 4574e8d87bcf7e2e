"""Files that the preprocessor is reading: their lines, and the conditionals that are open in them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from coopmat.diagnostics import SourceFile, SourceLocation
from coopmat.opencl.preprocess.tokens import Token, TokenKind, use_site

_OPENING = ("if", "ifdef", "ifndef")
_CONTINUING = ("elif", "else", "endif")


@dataclass(slots=True)
class Conditional:
    """A group of ``#if`` to ``#endif``: is this branch ``active``, was any ``taken``, came ``#else``?"""

    opened: SourceLocation
    active: bool
    taken: bool
    seen_else: bool = False


@dataclass(slots=True)
class DirectiveLine:
    """The tokens of a directive: ``mark`` is the ``#``, ``end`` an END token behind ``tokens``."""

    mark: Token
    tokens: list[Token]
    end: Token

    @property
    def first(self) -> Token:
        """The first token after the ``#``, or the end."""
        return self.tokens[0] if self.tokens else self.end


class OpenFile:
    """A file that is being read."""

    def __init__(self, source: SourceFile, tokens: list[Token]) -> None:
        self.source = source
        self.conditionals: list[Conditional] = []
        self._is_again = use_site(tokens[0].origin).file is not source  # the tokens were made for another inclusion
        self._tokens = tokens
        self._position = 0
        self._line_offset = 0
        self._presumed_name: str | None = None

    @property
    def name(self) -> str:
        """The file's name as ``#line`` may have changed it."""
        return self._presumed_name if self._presumed_name is not None else self.source.name

    @property
    def in_skipped_group(self) -> bool:
        """Whether the innermost conditional's current branch is not taken."""
        return bool(self.conditionals) and not self.conditionals[-1].active

    def peek(self) -> Token:
        """The next token."""
        return self._tokens[self._position]

    def take(self) -> Token:
        """The next token; END stays the next one for ever."""
        token = self._tokens[self._position]
        if token.kind is not TokenKind.END:
            self._position += 1
        return self._presumed(token)

    def take_line(self) -> DirectiveLine:
        """The line that starts with the next token, a ``#``."""
        start = self._position + 1
        stop = start
        while not self._tokens[stop].at_line_start:
            stop += 1
        mark, *tokens = [self._presumed(token) for token in self._tokens[self._position:stop]]
        self._position = stop
        last = use_site((tokens or [mark])[-1].origin)
        end = replace(last, column=last.column + last.length, length=1)
        return DirectiveLine(mark, tokens, Token(TokenKind.END, "", end))

    def set_line(self, physical_line: int, number: int, name: str | None) -> None:
        """``#line``: the line after ``physical_line`` has this number."""
        self._line_offset = number - (physical_line + 1)
        if name is not None:
            self._presumed_name = name

    def skip_group(self) -> None:
        """Go to the directive that ends the current branch, or to the end of the file."""
        depth = 0
        tokens, position = self._tokens, self._position
        while (token := tokens[position]).kind is not TokenKind.END:
            if token.at_line_start and token.is_punctuator("#") and not tokens[position + 1].at_line_start:
                name = tokens[position + 1].text
                if depth == 0 and name in _CONTINUING:
                    break
                depth += (name in _OPENING) - (name == "endif")
            position += 1
        self._position = position

    def _presumed(self, token: Token) -> Token:
        if not (self._line_offset or self._presumed_name is not None or self._is_again):
            return token
        place = use_site(token.origin)
        origin = replace(place, file=self.source, line=place.line + self._line_offset,
                         presumed_name=self._presumed_name, physical_line=place.line)
        return Token(token.kind, token.text, origin, token.leading_space, token.at_line_start)
