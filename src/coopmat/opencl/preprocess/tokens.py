"""Tokens of OpenCL C, with the place that each came from and the macros that it came through."""

from __future__ import annotations

import enum
from dataclasses import dataclass, replace

from coopmat.diagnostics import SourceLocation
from coopmat.opencl.preprocess.token_values import LiteralValue, Pragma

MAX_TRAIL = 8
"""A location names at most this many macros; of a longer chain the middle is left out."""


class TokenKind(enum.Enum):
    """What a token is. The kinds below ``UNTERMINATED`` occur only while preprocessing (C99 phases 3 to 6);
    an UNTERMINATED token has been reported when the parser gets it."""

    IDENTIFIER = "identifier"
    INTEGER = "integer constant"
    FLOATING = "floating constant"
    CHARACTER = "character constant"
    STRING = "string literal"
    PUNCTUATOR = "punctuator"
    PRAGMA = "pragma"
    END = "end of input"
    UNTERMINATED = "unterminated literal"

    NUMBER = "preprocessing number"
    HEADER_NAME = "header name"
    OTHER = "other character"
    PLACEMARKER = "placemarker"


DIGRAPHS = {"<:": "[", ":>": "]", "<%": "{", "%>": "}", "%:": "#", "%:%:": "##"}
"""C99 6.4.6p3: the other spellings of six punctuators."""

PUNCTUATORS = (
    "[", "]", "(", ")", "{", "}", ".", "->", "++", "--", "&", "*", "+", "-", "~", "!", "/", "%", "<<", ">>",
    "<", ">", "<=", ">=", "==", "!=", "^", "|", "&&", "||", "?", ":", ";", "...", "=", "*=", "/=", "%=",
    "+=", "-=", "<<=", ">>=", "&=", "^=", "|=", ",", "#", "##", *DIGRAPHS,
)
"""C99 6.4.6p1."""


class MacroOrigin:
    """Where a token that a macro produced came from: ``base``, and then ``spelling`` in ``macro``.

    For a token of the macro's replacement list, ``base`` is the origin of the macro's name where it
    was used and ``spelling`` the token in the definition; for a token of an argument, ``base`` is the
    origin of that token and ``spelling`` the parameter in the definition.
    """

    __slots__ = ("base", "macro", "spelling")

    def __init__(self, base: Origin, macro: str, spelling: SourceLocation) -> None:
        self.base = base
        self.macro = macro
        self.spelling = spelling


Origin = SourceLocation | MacroOrigin


def resolve(origin: Origin) -> SourceLocation:
    """The location of a token: its use in the source, with the trail of macros in ``spelling``."""
    steps: list[MacroOrigin] = []
    while isinstance(origin, MacroOrigin):
        steps.append(origin)
        origin = origin.base
    if len(steps) > MAX_TRAIL:
        half = MAX_TRAIL // 2
        steps = steps[:half] + steps[-half:]
    inner: SourceLocation | None = None
    macro: str | None = None
    for step in steps:
        inner = replace(step.spelling, macro=macro, spelling=inner) if inner is not None else step.spelling
        macro = step.macro
    return replace(origin, macro=macro, spelling=inner) if inner is not None else origin


def use_site(origin: Origin) -> SourceLocation:
    """The place in the source where the outermost macro was used, or of the token itself."""
    while isinstance(origin, MacroOrigin):
        origin = origin.base
    return origin


@dataclass(slots=True, eq=False)
class Token:
    """One token. Tokens are never changed once others may see them: they are shared.

    ``text`` is the spelling. ``value`` holds the constant of a literal (kinds INTEGER to STRING) and
    the :class:`~coopmat.opencl.preprocess.pragmas.Pragma` of a PRAGMA token. ``no_expand`` marks an identifier
    that named a macro during that macro's own expansion (C99 6.10.3.4p2).
    """

    kind: TokenKind
    text: str
    origin: Origin
    leading_space: bool = False
    at_line_start: bool = False
    no_expand: bool = False
    value: LiteralValue | Pragma | None = None

    @property
    def location(self) -> SourceLocation:
        """Where to point a message at: the use site, with the trail of macros in ``spelling``."""
        return resolve(self.origin)

    @property
    def has_space_before(self) -> bool:
        """Whether white space, a line end included, stands before the token."""
        return self.leading_space or self.at_line_start

    def is_punctuator(self, text: str) -> bool:
        """Whether this is the punctuator ``text``, or its digraph while preprocessing."""
        return (self.kind is TokenKind.PUNCTUATOR
                and (self.text == text or DIGRAPHS.get(self.text) == text))

    def with_spacing(self, other: Token) -> Token:
        """A copy with the white space of ``other`` before it."""
        return Token(self.kind, self.text, self.origin, other.leading_space, other.at_line_start,
                     self.no_expand, self.value)

    def __str__(self) -> str:
        """The token as messages name it."""
        if self.kind is TokenKind.END:  # a directive's ends where no new line starts
            return "the end of the file" if self.at_line_start else "the end of the line"
        return f"'{self.text}'" if len(self.text) <= 40 else f"'{self.text[:37]}…'"


def spell(tokens: list[Token]) -> str:
    """The source text of tokens, white space made single blanks (none before the first)."""
    parts: list[str] = []
    for token in tokens:
        if parts and token.has_space_before:
            parts.append(" ")
        parts.append(token.text)
    return "".join(parts)
