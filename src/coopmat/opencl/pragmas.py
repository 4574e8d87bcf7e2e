"""Pragmas: the ones that mean something to OpenCL C, checked, as the parser gets them.

OpenCL C 6.10 and the extension specification's ``#pragma OPENCL EXTENSION``. Unknown pragmas are
ignored with a warning, as C99 6.10.6 allows.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass

from coopmat.diagnostics import DiagnosticSink
from coopmat.opencl.conditions import Value, evaluate
from coopmat.opencl.messages import lexical as messages
from coopmat.opencl.predefined import CORE_EXTENSIONS
from coopmat.opencl.tokens import Token, TokenKind, spell

MAX_UNROLL = 2**31 - 1


@dataclass(frozen=True, slots=True)
class ExtensionPragma:
    """``#pragma OPENCL EXTENSION name : enable`` or ``disable``; the name ``all`` means all of them."""

    name: str
    enable: bool

    @property
    def words(self) -> tuple[str, ...]:
        """The pragma as words."""
        return "OPENCL", "EXTENSION", self.name, ":", "enable" if self.enable else "disable"


@dataclass(frozen=True, slots=True)
class ContractPragma:
    """``#pragma OPENCL FP_CONTRACT`` (or ``STDC``): ``state`` is ON, OFF or DEFAULT."""

    state: str

    @property
    def words(self) -> tuple[str, ...]:
        """The pragma as words."""
        return "OPENCL", "FP_CONTRACT", self.state


@dataclass(frozen=True, slots=True)
class UnrollPragma:
    """``#pragma unroll``, for the loop behind it; ``factor`` is 0 for "in full" and 1 for "not at all"."""

    factor: int

    @property
    def words(self) -> tuple[str, ...]:
        """The pragma as words."""
        return {0: ("unroll",), 1: ("nounroll",)}.get(self.factor, ("unroll", str(self.factor)))


Pragma = ExtensionPragma | ContractPragma | UnrollPragma

Expand = Callable[[Sequence[Token], Token], list[Token]]
"""Expands the macros of a list of tokens, up to an END token."""


class PragmaParser:
    """Reads the tokens after ``#pragma``; wrong and unknown pragmas are reported and give None."""

    def __init__(self, sink: DiagnosticSink, features: Container[str], expand: Expand) -> None:
        self._sink = sink
        self._features = features
        self._expand = expand

    def parse(self, tokens: Sequence[Token], end: Token) -> Pragma | None:
        """The pragma that ``tokens`` spell."""
        words = [token.text for token in tokens]
        if words[:2] == ["OPENCL", "EXTENSION"]:
            return self._extension(tokens[2:], end)
        if words[:2] in (["OPENCL", "FP_CONTRACT"], ["STDC", "FP_CONTRACT"]):
            return self._contract(" ".join(words[:2]), tokens[2:], end)
        if words[:1] == ["unroll"]:
            return self._unroll(tokens[1:], end)
        if words[:1] == ["nounroll"]:
            self._no_more("nounroll", tokens[1:])
            return UnrollPragma(1)
        first = tokens[0] if tokens else end
        self._sink.report(messages.UNKNOWN_PRAGMA, first.location, text=spell(list(tokens[:2])))
        return None

    def _require(self, condition: bool, pragma: str, expected: str, found: Token) -> bool:
        """The condition; if it is false, report what was expected."""
        if not condition:
            self._sink.report(messages.MALFORMED_PRAGMA, found.location, pragma=pragma, expected=expected,
                              found=found)
        return condition

    def _no_more(self, pragma: str, tokens: Sequence[Token]) -> None:
        if tokens:
            self._sink.report(messages.EXTRA_TOKENS, tokens[0].location, name=f"pragma {pragma}")

    def _extension(self, tokens: Sequence[Token], end: Token) -> ExtensionPragma | None:
        what = "OPENCL EXTENSION"
        name, colon, behavior = (*tokens[:3], end, end, end)[:3]
        allowed = ("disable",) if name.text == "all" else ("enable", "disable")
        if not (self._require(name.kind is TokenKind.IDENTIFIER, what, "an extension's name or 'all'", name)
                and self._require(colon.is_punctuator(":"), what, "':'", colon)
                and self._require(behavior.text in allowed, what, " or ".join(map(repr, allowed)), behavior)):
            return None
        self._no_more(what, tokens[3:])
        if name.text not in ("all", *CORE_EXTENSIONS) and name.text not in self._features:
            self._sink.report(messages.UNSUPPORTED_EXTENSION, name.location, name=name.text)
            return None
        return ExtensionPragma(name.text, behavior.text == "enable")

    def _contract(self, pragma: str, tokens: Sequence[Token], end: Token) -> ContractPragma | None:
        state = tokens[0] if tokens else end
        if not self._require(state.text in ("ON", "OFF", "DEFAULT"), pragma, "ON, OFF or DEFAULT", state):
            return None
        self._no_more(pragma, tokens[1:])
        return ContractPragma(state.text)

    def _unroll(self, tokens: Sequence[Token], end: Token) -> UnrollPragma | None:
        if not tokens:
            return UnrollPragma(0)
        count: Value | None = None
        expanded = self._expand(tokens, end)
        if not any(token.kind is TokenKind.IDENTIFIER for token in expanded):
            count = evaluate(expanded, end, self._sink)
        if count is None or not 1 <= count.number <= MAX_UNROLL:
            self._sink.report(messages.INVALID_UNROLL_COUNT, tokens[0].location, found=f"'{spell(list(tokens))}'")
            return None
        return UnrollPragma(count.number)
