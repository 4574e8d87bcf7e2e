"""Pragmas: the ones that mean something to OpenCL C, checked, as the parser gets them.

OpenCL C 6.10 and the extension specification's ``#pragma OPENCL EXTENSION``. Unknown pragmas are
ignored with a warning, as C99 6.10.6 allows.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence

from coopmat.diagnostics import DiagnosticSink
from coopmat.diagnostics.warning_levels import Level, WarningLevels
from coopmat.opencl.messages import GROUPS, warning_names
from coopmat.opencl.messages import lexical as messages
from coopmat.opencl.preprocess.conditions import Value, evaluate
from coopmat.opencl.preprocess.predefined_macros import CORE_EXTENSIONS
from coopmat.opencl.preprocess.spelling import closest
from coopmat.opencl.preprocess.token_values import ContractPragma, ExtensionPragma, PackPragma, Pragma, UnrollPragma
from coopmat.opencl.preprocess.tokens import Token, TokenKind, spell

MAX_UNROLL = 2**31 - 1

_LEVELS = {"ignored": Level.IGNORED, "warning": Level.WARNING, "error": Level.ERROR, "fatal": Level.ERROR}

PACK_ALIGNMENTS = (1, 2, 4, 8, 16)

WITHOUT_EFFECT = (
    ("GCC", "diagnostic"), ("GCC", "visibility"), ("GCC", "system_header"), ("GCC", "ivdep"), ("clang", "diagnostic"),
    ("clang", "fp"), ("clang", "loop"), ("clang", "optimize"), ("clang", "system_header"), ("mark",), ("region",),
    ("endregion",), ("ident",), ("ivdep",), ("warning",), ("OPENCL", "FP_FAST_FMA"), ("OPENCL", "FP_FAST_FMAF"),
    ("STDC", "FENV_ACCESS"), ("STDC", "CX_LIMITED_RANGE"),
)
"""How pragmas begin that are taken silently, as they change nothing in what a kernel computes."""

Expand = Callable[[Sequence[Token], Token], list[Token]]
"""Expands the macros of a list of tokens, up to an END token."""


class PragmaParser:
    """Reads the tokens after ``#pragma``; wrong and unknown pragmas are reported and give None."""

    def __init__(self, sink: DiagnosticSink, features: Container[str], expand: Expand) -> None:
        self._sink = sink
        self._features = features
        self._expand = expand
        self._saved_levels: list[WarningLevels] = []

    def parse(self, tokens: Sequence[Token], end: Token) -> Pragma | None:
        """The pragma that ``tokens`` spell."""
        words = [token.text for token in tokens]
        if words[:2] == ["OPENCL", "EXTENSION"]:
            return self._extension(tokens[2:], end)
        if words[:2] in (["OPENCL", "FP_CONTRACT"], ["STDC", "FP_CONTRACT"]):
            return self._contract(" ".join(words[:2]), tokens[2:], end)
        if words[1:2] == ["diagnostic"] and words[0] in ("clang", "GCC"):
            self._diagnostic(tokens[2:], end)
            return None
        if words[:1] == ["unroll"]:
            return self._unroll(tokens[1:], end)
        if words[:2] == ["GCC", "unroll"]:
            return self._unroll(tokens[2:], end)
        if words[:1] == ["nounroll"]:
            self._no_more("nounroll", tokens[1:])
            return UnrollPragma(1)
        if words[:1] == ["pack"]:
            return self._pack(tokens[1:], end)
        return self._other(tokens, words, end)

    def _other(self, tokens: Sequence[Token], words: list[str], end: Token) -> Pragma | None:
        """A pragma of clang or GCC, or an unknown one."""
        if words[:3] == ["clang", "loop", "unroll_count"]:
            return self._unroll(tokens[3:], end)
        if words[:4] == ["clang", "loop", "unroll", "("] and words[4:] in (["full", ")"], ["disable", ")"]):
            return UnrollPragma(0 if words[4] == "full" else 1)
        if any(tuple(words[:len(start)]) == start for start in WITHOUT_EFFECT):
            return None
        if words[:1] == ["message"]:
            text = "".join(word[1:-1] for word in words if word.startswith('"'))
            self._sink.report(messages.PRAGMA_MESSAGE, tokens[0].location, text=text)
            return None
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
            self._sink.report(messages.UNSUPPORTED_EXTENSION, name.location, name=name.text, what="pragma")
            return None
        return ExtensionPragma(name.text, behavior.text == "enable")

    def _contract(self, pragma: str, tokens: Sequence[Token], end: Token) -> ContractPragma | None:
        state = tokens[0] if tokens else end
        if not self._require(state.text in ("ON", "OFF", "DEFAULT"), pragma, "ON, OFF or DEFAULT", state):
            return None
        self._no_more(pragma, tokens[1:])
        return ContractPragma(state.text)

    def _diagnostic(self, tokens: Sequence[Token], end: Token) -> None:
        """``clang diagnostic push``, ``pop``, and a level with the name of a warning, such as
        ``ignored "-Wshadow"``: it holds from here on."""
        action = tokens[0] if tokens else end
        if action.text == "push":
            self._saved_levels.append(self._sink.levels)
        elif action.text == "pop":
            if not self._saved_levels:
                self._sink.report(messages.POP_WITHOUT_PUSH, action.location)
                return
            self._sink.change_levels(action.location, self._saved_levels.pop())
        elif action.text in _LEVELS:
            self._set_level(_LEVELS[action.text], tokens[1] if len(tokens) > 1 else end)
        else:
            self._sink.report(messages.BAD_DIAGNOSTIC_PRAGMA, action.location,
                              expected="'error', 'warning', 'ignored', 'fatal', 'push', or 'pop'")
            return
        extra = tokens[2 if action.text in _LEVELS else 1:]
        if extra:
            self._sink.report(messages.BAD_DIAGNOSTIC_PRAGMA, extra[0].location, expected="nothing more")

    def _set_level(self, level: Level, name: Token) -> None:
        text = name.text[1:-1]
        if name.kind is not TokenKind.STRING or not text.startswith("-W"):
            self._sink.report(messages.BAD_DIAGNOSTIC_PRAGMA, name.location,
                              expected="a warning's name as a string, such as \"-Wshadow\"")
        elif text[2:] not in warning_names():
            close = closest(text[2:], sorted(warning_names()))
            self._sink.report(messages.UNKNOWN_WARNING_OPTION, name.location, option=text,
                              suggestion=f"; did you mean '-W{close}'?" if close else "")
        else:
            self._sink.change_levels(name.location, self._sink.levels.with_level(text[2:], level, GROUPS))

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

    def _pack(self, tokens: Sequence[Token], end: Token) -> PackPragma | None:
        """``pack(n)``, ``pack()``, ``pack(push, name, n)``, ``pack(pop, name)``: the parts but ``n`` may lack."""
        inner = [token for token in tokens[1:-1] if not token.is_punctuator(",")]
        opening, closing = (tokens[0] if tokens else end), (tokens[-1] if len(tokens) > 1 else end)
        if not (self._require(opening.is_punctuator("("), "pack", "'('", opening)
                and self._require(closing.is_punctuator(")"), "pack", "')'", closing)):
            return None
        action = inner.pop(0).text if inner and inner[0].text in ("push", "pop") else ""
        label = inner.pop(0).text if action and inner and inner[0].kind is TokenKind.IDENTIFIER else None
        if not inner:
            return PackPragma(action, None if action else 0, label)
        found = self._expand(inner[:1], end)[0]
        known = {str(alignment): alignment for alignment in (0, *PACK_ALIGNMENTS)}
        if not self._require(found.text in known, "pack", ", ".join(map(str, PACK_ALIGNMENTS)), found):
            return None
        return PackPragma(action, known[found.text], label)
