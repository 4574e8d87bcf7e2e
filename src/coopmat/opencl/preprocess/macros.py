"""Macro definitions and their expansion (C99 6.10.3).

The expansion works as gcc's and clang's do: a macro is disabled while tokens of its own replacement
list are being read, and an identifier that names a disabled macro is never expanded later either.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, Protocol

from coopmat.diagnostics import CompileError, Diagnostic, DiagnosticSink, Message, SourceLocation, note
from coopmat.opencl.messages import lexical as messages
from coopmat.opencl.preprocess.lexer import MAX_TOKENS, token_kind
from coopmat.opencl.preprocess.tokens import MacroOrigin, Origin, Token, TokenKind, resolve, use_site

MAX_NESTING = 100
"""Limit on macro calls inside of the arguments of macro calls."""

_CHARACTERS_PER_TOKEN = 16  # long texts that # and ## make count as several tokens

_VA_ARGS = "__VA_ARGS__"
_LEFT_OUT: list[Token] = []  # stands for a variadic argument that a call does not have, not even an empty one


# --------------------------------------------------------------------------------------
# Definitions
# --------------------------------------------------------------------------------------


class Role(enum.Enum):
    """What an element of a replacement list stands for."""

    TEXT = "the token itself"
    ARGUMENT = "an argument, its macros expanded"
    RAW = "an argument as written: an operand of ##"
    STRING = "an argument as a string literal (#)"
    PASTE = "the operator ##"
    COMMA = "the ## of ', ## __VA_ARGS__', which drops the comma if the argument is left out (GNU)"


@dataclass(frozen=True, slots=True)
class Element:
    """One element of a replacement list; ``parameter`` is the argument's number where it has one."""

    role: Role
    token: Token
    place: SourceLocation
    parameter: int = -1


@dataclass(frozen=True, slots=True, eq=False)
class Macro:
    """A macro; ``parameters`` is None for an object-like one, and ends with the variadic one."""

    name: str
    parameters: tuple[str, ...] | None
    variadic: bool
    body: tuple[Element, ...]
    location: SourceLocation

    @property
    def required(self) -> int:
        """The number of arguments that a call must give."""
        return len(self.parameters or ()) - self.variadic

    def same_as(self, other: Macro) -> bool:
        """Whether both definitions agree as far as C99 6.10.3p2 wants it for a redefinition."""
        return (self.parameters == other.parameters and self.variadic == other.variadic
                and self._spelling() == other._spelling())

    def _spelling(self) -> list[tuple[Role, str, bool]]:
        return [(element.role, element.token.text, index > 0 and element.token.leading_space)
                for index, element in enumerate(self.body)]


@dataclass(frozen=True, slots=True, eq=False)
class Builtin:
    """A macro that the preprocessor computes anew at each use; ``make`` gets the macro's name token."""

    name: str
    make: Callable[[Token], Token]


MacroTable = dict[str, Macro | Builtin]


class DefinitionParser:
    """Reads what follows the name in ``#define``; wrong definitions are reported and give None."""

    def __init__(self, name: Token, tokens: Sequence[Token], end: Token, sink: DiagnosticSink) -> None:
        self._name = name
        self._tokens = tokens
        self._end = end
        self._sink = sink
        self._position = 0
        self._parameters: list[str] = []
        self._variadic = False

    def parse(self) -> Macro | None:
        """The macro."""
        first = self._peek()
        function_like = first.is_punctuator("(") and not first.leading_space
        if function_like:
            self._position = 1
            if not self._parameter_list():
                return None
        elif first.kind is not TokenKind.END and not first.leading_space:
            self._sink.report(messages.MISSING_SPACE_AFTER_NAME, first.location)
        body = self._body(function_like)
        if body is None:
            return None
        parameters = tuple(self._parameters) if function_like else None
        return Macro(self._name.text, parameters, self._variadic, tuple(body), use_site(self._name.origin))

    def _peek(self) -> Token:
        return self._tokens[self._position] if self._position < len(self._tokens) else self._end

    def _take(self) -> Token:
        token = self._peek()
        self._position += 1
        return token

    def _fail(self, message: Message, token: Token, **values: Any) -> bool:
        self._sink.report(message, token.location, **values)
        return False

    def _parameter_list(self) -> bool:
        """Read the parameters up to the closing parenthesis; False if they are wrong."""
        if self._peek().is_punctuator(")"):
            self._position += 1
            return True
        while True:
            if not self._parameter(self._take()):
                return False
            token = self._take()
            if token.is_punctuator(")"):
                return True
            if self._variadic:
                return self._fail(messages.NOTHING_AFTER_VARIADIC, token)
            if not token.is_punctuator(","):
                return self._fail(messages.EXPECTED_COMMA, token, found=str(token))

    def _parameter(self, token: Token) -> bool:
        if token.is_punctuator("..."):
            self._variadic = True
            self._parameters.append(_VA_ARGS)
            return True
        if token.kind is not TokenKind.IDENTIFIER:
            return self._fail(messages.EXPECTED_PARAMETER, token, found=str(token))
        if token.text == _VA_ARGS:
            return self._fail(messages.MISPLACED_VA_ARGS, token)
        if token.text in self._parameters:
            return self._fail(messages.DUPLICATE_PARAMETER, token, name=token.text)
        self._parameters.append(token.text)
        if self._peek().is_punctuator("..."):  # GNU: the variadic parameter has a name
            self._position += 1
            self._variadic = True
        return True

    def _body(self, function_like: bool) -> list[Element] | None:
        """The elements of the replacement list; None if it is wrong."""
        elements: list[Element] = []
        while (token := self._take()).kind is not TokenKind.END:
            if token.text == _VA_ARGS and _VA_ARGS not in self._parameters:
                self._fail(messages.MISPLACED_VA_ARGS, token)
                return None
            element = self._element(token, function_like)
            if element is None:
                return None
            elements.append(element)
        for element, end in ((elements[0], "beginning"), (elements[-1], "end")) if elements else ():
            if element.role is Role.PASTE:
                self._fail(messages.PASTE_AT_END, element.token, end=end)
                return None
        return self._mark_pastes(elements)

    def _element(self, token: Token, function_like: bool) -> Element | None:
        place = use_site(token.origin)
        if token.is_punctuator("##"):
            return Element(Role.PASTE, token, place)
        if function_like and token.is_punctuator("#"):
            operand = self._take()
            if operand.kind is TokenKind.IDENTIFIER and operand.text in self._parameters:
                return Element(Role.STRING, token, place, self._parameters.index(operand.text))
            self._fail(messages.HASH_WITHOUT_PARAMETER, token)
            return None
        if token.kind is TokenKind.IDENTIFIER and token.text in self._parameters:
            return Element(Role.ARGUMENT, token, place, self._parameters.index(token.text))
        return Element(Role.TEXT, token, place)

    def _mark_pastes(self, elements: list[Element]) -> list[Element]:
        """The same elements, operands of ``##`` being RAW and the ``##`` of GNU's extension COMMA."""
        roles = [Role.TEXT, *(element.role for element in elements), Role.TEXT]
        marked: list[Element] = []
        for index, element in enumerate(elements):
            before, role, after = roles[index:index + 3]
            if role is Role.ARGUMENT and Role.PASTE in (before, after):
                role = Role.RAW
            elif role is Role.PASTE and self._is_comma_paste(elements, index):
                role = Role.COMMA
            marked.append(Element(role, element.token, element.place, element.parameter))
        return marked

    def _is_comma_paste(self, elements: list[Element], index: int) -> bool:
        last = len(self._parameters) - 1
        return (self._variadic and elements[index - 1].token.is_punctuator(",")
                and elements[index - 2].role is not Role.PASTE
                and elements[index + 1].role is Role.ARGUMENT and elements[index + 1].parameter == last)


# --------------------------------------------------------------------------------------
# Expansion
# --------------------------------------------------------------------------------------


class TokenSource(Protocol):
    """Where tokens come from once those of macro expansions are used up."""

    def take(self) -> Token:
        """The next token, END at the end."""

    def peek(self) -> Token:
        """The next token as it stands in the source, directives not looked at."""


class _ListSource:
    """The end of a list of tokens: the list itself is the expander's lowest frame."""

    def __init__(self, end: Token) -> None:
        self._end = end

    def take(self) -> Token:
        return self._end

    def peek(self) -> Token:
        return self._end


class _Frame:
    """Tokens that are being read: a macro's replacement, or a list."""

    __slots__ = ("macro", "position", "tokens")

    def __init__(self, tokens: Sequence[Token], macro: Macro | None) -> None:
        self.tokens = tokens
        self.macro = macro
        self.position = 0


class Expander:
    """Expands macros in the tokens of a source.

    ``collecting`` is true while the arguments of a call are read. Identifiers named in ``operators``
    act as macros in conditions only (``defined``).
    """

    def __init__(self, source: TokenSource, macros: MacroTable, sink: DiagnosticSink,
                 operators: Mapping[str, Builtin] | None = None) -> None:
        self.macros = macros
        self.collecting = False
        self._operators = operators if operators is not None else {}
        self._source = source
        self._sink = sink
        self._frames: list[_Frame] = []
        self._disabled: set[Macro] = set()
        self._in_condition = False
        self._nesting = 0
        self._made = 0

    def next(self) -> Token:
        """The next token after macro expansion, END at the end."""
        vanished: Token | None = None  # the name of a macro that left nothing but its white space
        while True:
            token = self.take()
            if vanished is not None:
                token = _add_space(token, vanished)
            if token.kind is not TokenKind.IDENTIFIER or token.no_expand:
                return token
            macro = self.macros.get(token.text)
            if macro is None and self._in_condition:
                macro = self._operators.get(token.text)
            if macro is None:
                return token
            if isinstance(macro, Builtin):
                return macro.make(token)
            if macro in self._disabled:
                return _painted(token)
            replacement = self._replacement(macro, token)
            if replacement is None:
                return token
            self._frames.append(_Frame(replacement, macro))
            self._disabled.add(macro)
            vanished = None if replacement else token

    def take(self) -> Token:
        """The next token, not expanded."""
        frames = self._frames
        while frames:
            frame = frames[-1]
            if frame.position < len(frame.tokens):
                frame.position += 1
                return frame.tokens[frame.position - 1]
            frames.pop()
            if frame.macro is not None:
                self._disabled.discard(frame.macro)
        return self._source.take()

    def expand_list(self, tokens: Sequence[Token], end: Token, *, condition: bool = False) -> list[Token]:
        """The expansion of some tokens by themselves: an argument, or the rest of a directive's line."""
        saved = self._frames, self._source, self._in_condition
        self._frames, self._source = [_Frame(tokens, None)], _ListSource(end)
        self._in_condition = self._in_condition or condition
        expanded: list[Token] = []
        while (token := self.next()).kind is not TokenKind.END:
            expanded.append(token)
        self._frames, self._source, self._in_condition = saved
        return expanded

    def charge(self, tokens: int, origin: Origin) -> None:
        """Count tokens that were made; more than ``MAX_TOKENS`` raise :class:`CompileError`."""
        self._made += tokens
        if self._made > MAX_TOKENS:
            self._stop(messages.EXPANSION_TOO_LARGE, origin, MAX_TOKENS)

    def _stop(self, message: Message, origin: Origin, limit: int) -> NoReturn:
        self._sink.report(message, resolve(origin), limit=limit)
        raise CompileError(self._sink.diagnostics)

    def _peek(self) -> Token:
        for frame in reversed(self._frames):
            if frame.position < len(frame.tokens):
                return frame.tokens[frame.position]
        return self._source.peek()

    # ------------------------------------------------------------------ calls

    def _replacement(self, macro: Macro, use: Token) -> list[Token] | None:
        """What a macro's use is replaced by; None if it is not a (valid) call of it.

        This is the only function on the way from :meth:`next` to itself, so that calls nested in
        arguments take few Python frames.
        """
        if macro.parameters is None:
            return self._substitute(macro, use, [], {})
        if not self._peek().is_punctuator("("):
            return None
        arguments = self._collect(macro, use)
        if arguments is None:
            return None
        if self._nesting >= MAX_NESTING:
            self._stop(messages.EXPANSION_TOO_DEEP, use.origin, MAX_NESTING)
        self._nesting += 1
        needed = {element.parameter for element in macro.body if element.role is Role.ARGUMENT}
        end = Token(TokenKind.END, "", use.origin)
        expanded: dict[int, list[Token]] = {}
        for index in needed:
            expanded[index] = self.expand_list(arguments[index], end)
        self._nesting -= 1
        return self._substitute(macro, use, arguments, expanded)

    def _collect(self, macro: Macro, use: Token) -> list[list[Token]] | None:
        """The arguments of a call, one list per parameter; None (reported) if the call is wrong."""
        self.take()  # the parenthesis
        outer, self.collecting = self.collecting, True
        arguments = self._read_arguments(macro)
        self.collecting = outer
        if arguments is None:
            end = "directive" if isinstance(self._source, _ListSource) else "file"
            self._report(messages.UNTERMINATED_CALL, use, macro, name=macro.name, end=end)
            return None
        return self._checked(macro, use, arguments)

    def _read_arguments(self, macro: Macro) -> list[list[Token]] | None:
        """The tokens of a call's arguments as they are separated by commas; None at the end."""
        named = macro.required
        arguments: list[list[Token]] = [[]]
        depth = 0
        while True:
            token = self.take()
            text = token.text if token.kind is TokenKind.PUNCTUATOR else ""
            if token.kind is TokenKind.END:
                return None
            if text == "(":
                depth += 1
            elif text == ")":
                if depth == 0:
                    return arguments
                depth -= 1
            elif text == "," and depth == 0 and not (macro.variadic and len(arguments) > named):
                arguments.append([])
                continue
            arguments[-1].append(self._as_argument(token))

    def _as_argument(self, token: Token) -> Token:
        """A token of an argument: a line end before it is a space, a disabled macro stays disabled."""
        painted = token.kind is TokenKind.IDENTIFIER and self.macros.get(token.text) in self._disabled
        if not token.at_line_start and not painted:
            return token
        return Token(token.kind, token.text, token.origin, True if token.at_line_start else token.leading_space,
                     False, token.no_expand or painted, token.value)

    def _checked(self, macro: Macro, use: Token, arguments: list[list[Token]]) -> list[list[Token]] | None:
        """The arguments, if their number is right; a variadic one that is left out is empty."""
        assert macro.parameters is not None
        wanted = len(macro.parameters)
        if wanted == 0 and arguments == [[]]:
            return []
        if macro.variadic and len(arguments) == macro.required:
            arguments.append(_LEFT_OUT)
        if len(arguments) != wanted:
            expected = f"at least {macro.required}" if macro.variadic else str(wanted)
            found = f"{len(arguments)} {'was' if len(arguments) == 1 else 'were'}"
            self._report(messages.WRONG_ARGUMENT_COUNT, use, macro, name=macro.name, expected=expected,
                         plural="" if expected.endswith("1") else "s", found=found)
            return None
        return arguments

    def _report(self, message: Message, use: Token, macro: Macro, **values: Any) -> None:
        self._sink.report(message, use.location, [definition_note(macro)], **values)

    # ------------------------------------------------------------------ replacement

    def _substitute(self, macro: Macro, use: Token, arguments: list[list[Token]],
                    expanded: dict[int, list[Token]]) -> list[Token]:
        """The replacement list with the arguments put in and ``#`` and ``##`` carried out."""
        result: list[Token] = []
        pasting: Element | None = None
        for element in macro.body:
            if element.role is Role.PASTE:
                pasting = element
            elif element.role is Role.COMMA:
                if arguments[-1] is _LEFT_OUT:
                    result.pop()
            else:
                tokens = self._element_tokens(element, macro, use, arguments, expanded)
                if pasting is None:
                    result += tokens
                else:
                    self._paste(result, tokens, MacroOrigin(use.origin, macro.name, pasting.place))
                pasting = None
        result = [token for token in result if token.kind is not TokenKind.PLACEMARKER]
        if result:
            result[0] = result[0].with_spacing(use)
        self.charge(len(result) + 1, use.origin)
        return result

    def _element_tokens(self, element: Element, macro: Macro, use: Token, arguments: list[list[Token]],
                        expanded: dict[int, list[Token]]) -> list[Token]:
        """The tokens that one element of the replacement list turns into."""
        token, role = element.token, element.role
        if role is Role.TEXT:
            origin = MacroOrigin(use.origin, macro.name, element.place)
            return [Token(token.kind, token.text, origin, token.leading_space)]
        if role is Role.STRING:
            origin = MacroOrigin(use.origin, macro.name, element.place)
            return [self._stringize(arguments[element.parameter], token, origin)]
        source = arguments[element.parameter] if role is Role.RAW else expanded[element.parameter]
        tokens = [Token(part.kind, part.text, MacroOrigin(part.origin, macro.name, element.place),
                        part.leading_space, False, part.no_expand, part.value) for part in source]
        if tokens:
            tokens[0].leading_space = token.leading_space
        elif role is Role.RAW:
            tokens.append(Token(TokenKind.PLACEMARKER, "", use.origin, token.leading_space))
        return tokens

    def _stringize(self, argument: Iterable[Token], operator: Token, origin: Origin) -> Token:
        """``#`` applied to an argument (C99 6.10.3.2)."""
        parts: list[str] = []
        for token in argument:
            if parts and token.leading_space:
                parts.append(" ")
            text = token.text
            if token.kind in (TokenKind.STRING, TokenKind.CHARACTER, TokenKind.UNTERMINATED):
                text = text.replace("\\", "\\\\").replace('"', '\\"')
            parts.append(text)
        text = "".join(parts)
        backslashes = len(text) - len(text.rstrip("\\"))
        if backslashes % 2:
            self._sink.report(messages.STRAY_BACKSLASH_IN_STRING, resolve(origin))
            text = text[:-1]
        self.charge(len(text) // _CHARACTERS_PER_TOKEN, origin)
        return Token(TokenKind.STRING, f'"{text}"', origin, operator.leading_space)

    def _paste(self, result: list[Token], right: list[Token], origin: Origin) -> None:
        """``##`` applied to the last token of ``result`` and the first of ``right`` (C99 6.10.3.3)."""
        left, first = result[-1], right[0]
        if left.kind is TokenKind.PLACEMARKER:
            result[-1:] = [Token(first.kind, first.text, first.origin, left.leading_space, False,
                                 first.no_expand), *right[1:]]
            return
        if first.kind is TokenKind.PLACEMARKER:
            return
        text = left.text + first.text
        self.charge(len(text) // _CHARACTERS_PER_TOKEN, origin)
        kind = token_kind(text)
        if kind is None:
            self._sink.report(messages.INVALID_PASTE, resolve(origin), text=text)
            result += right
            return
        result[-1:] = [Token(kind, text, origin, left.leading_space), *right[1:]]


def definition_note(macro: Macro) -> Diagnostic:
    """A note that points at a macro's definition."""
    return note(f"macro '{macro.name}' defined here", macro.location)


def _painted(token: Token) -> Token:
    """A copy that is never expanded again."""
    return Token(token.kind, token.text, token.origin, token.leading_space, token.at_line_start, True)


def _add_space(token: Token, vanished: Token) -> Token:
    """The token, with the white space before a macro in front of it that expanded to nothing."""
    if token.kind is TokenKind.END or not vanished.has_space_before or token.has_space_before:
        return token
    return token.with_spacing(vanished)
