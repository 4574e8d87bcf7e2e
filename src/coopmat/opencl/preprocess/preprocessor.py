"""The preprocessor of OpenCL C: source text to the parser's tokens (C99 5.1.1.2, phases 1 to 7; 6.10).

:class:`Preprocessor` reads files, obeys directives and expands macros; errors go to the
:class:`~coopmat.diagnostics.DiagnosticSink`, and the work goes on behind them. Only what would not
end otherwise (an endless expansion, a source too large) raises :class:`~coopmat.diagnostics.CompileError`
at once.
"""

from __future__ import annotations

import difflib
import functools
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from coopmat.diagnostics import CompileError, Diagnostic, DiagnosticSink, Message, SourceFile, note
from coopmat.opencl.messages import lexical as messages
from coopmat.opencl.preprocess.builtin_macros import BuiltinMacros, Names, file_name_literal, parse_header_name
from coopmat.opencl.preprocess.conditions import evaluate
from coopmat.opencl.preprocess.includes import HeaderName, IncludeSearch, read_source
from coopmat.opencl.preprocess.lexer import normalize, report_malformed, tokenize, would_paste
from coopmat.opencl.preprocess.literals import parse_literal
from coopmat.opencl.preprocess.macros import Builtin, DefinitionParser, Expander, Macro, MacroTable
from coopmat.opencl.preprocess.open_files import Conditional, DirectiveLine, OpenFile
from coopmat.opencl.preprocess.pragmas import PragmaParser
from coopmat.opencl.preprocess.predefined_macros import definitions
from coopmat.opencl.preprocess.token_values import FloatingConstant, IntegerConstant
from coopmat.opencl.preprocess.tokens import DIGRAPHS, Origin, Token, TokenKind, spell, use_site
from coopmat.support.build_options import LATEST, Language
from coopmat.support.limits import LONGEST_IDENTIFIER
from coopmat.support.source_files import SourceFiles

MAX_INCLUDE_DEPTH = 200
MAX_LINE_NUMBER = 2**31 - 1

_FILE_COST = 100  # an included file counts as so many tokens, however short it is

_COMMAND_LINE = "<command line>"


class Preprocessor:
    """Preprocesses one translation unit.

    ``macros`` are the ``-D`` and ``-U`` options in order: a name, or a name with parameters as in
    ``"MAX(a, b)"``, and its value, or None where it is undefined. ``included_files`` are read before the
    source. ``features`` are the extension and feature macros of the device; they also answer
    ``__has_extension`` and ``__has_feature``.
    ``has_builtin`` and ``has_attribute``, sets or functions, answer ``__has_builtin`` and
    ``__has_attribute``. Files are looked at through ``source_files``. Raises :class:`CompileError` for invalid
    options.
    """

    def __init__(self, sink: DiagnosticSink, *, language: Language = LATEST, include_paths: Iterable[str | Path] = (),
                 system_include_paths: Iterable[str | Path] = (), included_files: Iterable[str] = (),
                 macros: Iterable[tuple[str, str | None]] = (), features: Iterable[str] = (),
                 has_builtin: Names = frozenset(), has_attribute: Names = frozenset(),
                 source_files: SourceFiles | None = None) -> None:
        self._sink = sink
        self._source_files = source_files if source_files is not None else SourceFiles()
        self._search = IncludeSearch(include_paths, system_include_paths, self._source_files)
        self._included_files = tuple(included_files)
        self._files: list[OpenFile] = []
        self._loaded: dict[Path, tuple[SourceFile, list[Token]]] = {}
        self._once: set[Path] = set()
        self._saved_macros: dict[str, list[Macro | Builtin | None]] = {}
        known_features = frozenset(features)
        builtins = BuiltinMacros(sink, has_header=self._has_header, features=known_features,
                                 builtins=has_builtin, attributes=has_attribute)
        self._macros: MacroTable = {**builtins.macros(), **_predefined(known_features, language)}
        self._expander = Expander(self, self._macros, sink, builtins.operators())
        builtins.attach(self._expander)
        self._pragmas = PragmaParser(sink, known_features, self._expander.expand_list)
        self._apply_options(macros)
        self._directives = {
            "define": self._define, "undef": self._undef, "include": self._include, "line": self._line,
            "error": self._error, "warning": self._warning, "pragma": self._pragma,
            "if": self._if, "ifdef": self._ifdef, "ifndef": self._ifdef,
            "elif": self._elif, "else": self._else, "endif": self._endif,
        }

    @property
    def macro_names(self) -> Iterable[str]:
        """The macros that are defined now, those without parameters."""
        return [name for name, macro in self._macros.items() if isinstance(macro, Macro) and macro.parameters is None]

    def run(self, source: SourceFile) -> list[Token]:
        """The parser's tokens, END last.

        Literals carry their values, digraphs are spelled the usual way, and pragmas that mean something
        are PRAGMA tokens. What is wrong is in the sink afterwards.
        """
        return [token for token in map(self._to_parser, self.expand(source)) if token is not None]

    def expand(self, source: SourceFile) -> Iterator[Token]:
        """The preprocessing tokens after phase 4, END last."""
        source = normalize(source, self._sink)
        self._open(source, tokenize(source, self._sink))
        self._open_included_files()
        while (token := self._expander.next()).kind is not TokenKind.END:
            if token.kind is TokenKind.IDENTIFIER and token.text == "_Pragma":
                pragma = self._pragma_operator(token)
                if pragma is not None:
                    yield pragma
            else:
                yield token
        yield token

    # ------------------------------------------------------------------ the source of tokens

    def take(self) -> Token:
        """The next token of the files, directives obeyed; END at the end of the first file."""
        while True:
            file = self._files[-1]
            token = file.peek()
            if token.kind is TokenKind.END:
                if self._expander.collecting or not self._leave(file):
                    return token
            elif token.at_line_start and token.is_punctuator("#"):
                pragma = self._directive(file)
                if pragma is not None:
                    return pragma
            else:
                token = file.take()
                if token.kind is not TokenKind.UNTERMINATED:
                    return token
                report_malformed(token, self._sink)
                return replace(token, value=b"")

    def peek(self) -> Token:
        """The next token of the current file, even if it is a directive's ``#``."""
        return self._files[-1].peek()

    def _open(self, source: SourceFile, tokens: list[Token]) -> None:
        self._files.append(OpenFile(source, tokens))
        self._expander.charge(len(tokens), tokens[0].origin)

    def _leave(self, file: OpenFile) -> bool:
        """End a file; whether another one goes on."""
        for conditional in file.conditionals:
            self._sink.report(messages.UNTERMINATED_CONDITIONAL, conditional.opened)
        file.conditionals.clear()
        if len(self._files) == 1:
            return False
        self._files.pop()
        return True

    # ------------------------------------------------------------------ directives

    def _report(self, message: Message, token: Token, notes: Iterable[Diagnostic] = (), **values: Any) -> None:
        self._sink.report(message, token.location, notes, **values)

    def _directive(self, file: OpenFile) -> Token | None:
        """Obey the directive that comes next; the PRAGMA token, if it makes one."""
        line = file.take_line()
        name = line.first
        token: Token | None = None
        if name.kind is TokenKind.NUMBER:  # the line markers of preprocessed text: # 12 "file.cl"
            self._line(DirectiveLine(name, line.tokens, line.end))
        elif name.kind is not TokenKind.END:
            handler = self._directives.get(name.text)
            if handler is None:
                self._report(messages.UNKNOWN_DIRECTIVE, name, name=name.text, hint=self._hint(name.text))
            else:
                token = handler(DirectiveLine(name, line.tokens[1:], line.end))
        if file.in_skipped_group:
            file.skip_group()
        return token

    def _hint(self, name: str) -> str:
        close = difflib.get_close_matches(name, self._directives, n=1)
        return f"; did you mean '#{close[0]}'?" if close else ""

    def _no_more(self, line: DirectiveLine, used: int) -> None:
        """Warn of tokens after the first ``used`` ones of a directive."""
        if len(line.tokens) > used:
            self._report(messages.EXTRA_TOKENS, line.tokens[used], name=line.mark.text)

    def _macro_name(self, line: DirectiveLine) -> Token | None:
        """The macro name that a directive begins with; None (reported) if there is none."""
        name = line.first
        if name.kind is not TokenKind.IDENTIFIER:
            self._report(messages.EXPECTED_MACRO_NAME, name, name=line.mark.text, found=name)
        elif name.text == "defined":
            self._report(messages.RESERVED_MACRO_NAME, name, name=name.text)
        elif not report_malformed(name, self._sink):
            return name
        return None

    def _define(self, line: DirectiveLine) -> None:
        name = self._macro_name(line)
        if name is None:
            return
        if name.text == "__VA_ARGS__":
            self._report(messages.MISPLACED_VA_ARGS, name)
            return
        macro = DefinitionParser(name, line.tokens[1:], line.end, self._sink).parse()
        if macro is None:
            return
        previous = self._macros.get(name.text)
        if isinstance(previous, Builtin):
            self._report(messages.BUILTIN_REDEFINED, name, name=name.text, action="redefining")
        elif previous is not None and not macro.same_as(previous):
            self._report(messages.MACRO_REDEFINED, name, [note("previous definition is here", previous.location)],
                         name=name.text)
        self._macros[name.text] = macro

    def _undef(self, line: DirectiveLine) -> None:
        name = self._macro_name(line)
        if name is None:
            return
        self._no_more(line, 1)
        if isinstance(self._macros.pop(name.text, None), Builtin):
            self._report(messages.BUILTIN_REDEFINED, name, name=name.text, action="undefining")

    def _error(self, line: DirectiveLine) -> None:
        self._report(messages.USER_ERROR, line.mark, text=_message_text(line))

    def _warning(self, line: DirectiveLine) -> None:
        self._report(messages.USER_WARNING, line.mark, text=_message_text(line))

    def _line(self, line: DirectiveLine) -> None:
        """``#line number "name"``, or a line marker, which may have flags behind the name."""
        marker = line.mark.kind is TokenKind.NUMBER
        tokens = self._expander.expand_list(line.tokens, line.end)
        number, name = (*tokens, line.end, line.end)[:2]
        value = int(number.text) if re.fullmatch("[0-9]{1,10}", number.text) else -1
        if not (0 if marker else 1) <= value <= MAX_LINE_NUMBER:
            self._report(messages.INVALID_LINE_NUMBER, number, text=number.text)
            return
        if name.kind not in (TokenKind.STRING, TokenKind.END):
            self._report(messages.INVALID_LINE_NAME, name, text=name.text)
            return
        if len(tokens) > 2 and not marker:
            self._report(messages.EXTRA_TOKENS, tokens[2], name="line")
        presumed = None
        if name.kind is TokenKind.STRING:
            text = parse_literal(name, self._sink)
            presumed = text.decode("utf-8", "replace") if isinstance(text, bytes) else None
        place = use_site(line.end.origin)
        physical = place.physical_line if place.physical_line is not None else place.line
        self._files[-1].set_line(physical, value, presumed)

    # ------------------------------------------------------------------ conditional inclusion

    def _if(self, line: DirectiveLine) -> None:
        self._begin(line, self._condition(line))

    def _ifdef(self, line: DirectiveLine) -> None:
        name = self._macro_name(line)
        defined = name is not None and name.text in self._macros
        self._no_more(line, 1)
        self._begin(line, name is not None and defined == (line.mark.text == "ifdef"))

    def _begin(self, line: DirectiveLine, active: bool) -> None:
        self._files[-1].conditionals.append(Conditional(line.mark.location, active, active))

    def _condition(self, line: DirectiveLine) -> bool:
        if not line.tokens:
            self._report(messages.EMPTY_CONDITION, line.mark, name=line.mark.text)
            return False
        errors = self._sink.error_count
        tokens = self._expander.expand_list(line.tokens, line.end, condition=True)
        if self._sink.error_count > errors:
            return False
        value = evaluate(tokens, line.end, self._sink)
        return value is not None and value.number != 0

    def _current(self, line: DirectiveLine) -> Conditional | None:
        """The conditional that ``#elif``, ``#else`` or ``#endif`` belongs to; None (reported) without one."""
        conditionals = self._files[-1].conditionals
        if not conditionals:
            self._report(messages.WITHOUT_IF, line.mark, name=line.mark.text)
            return None
        return conditionals[-1]

    def _next_branch(self, line: DirectiveLine) -> Conditional | None:
        """The conditional, not active any more, if another branch may follow."""
        conditional = self._current(line)
        if conditional is None:
            return None
        conditional.active = False
        if conditional.seen_else:
            self._report(messages.AFTER_ELSE, line.mark, [note("the #if is here", conditional.opened)],
                         name=line.mark.text)
            return None
        return conditional

    def _elif(self, line: DirectiveLine) -> None:
        conditional = self._next_branch(line)
        if conditional is not None and not conditional.taken:
            conditional.active = conditional.taken = self._condition(line)

    def _else(self, line: DirectiveLine) -> None:
        conditional = self._next_branch(line)
        if conditional is not None:
            self._no_more(line, 0)
            conditional.seen_else = True
            conditional.active = not conditional.taken
            conditional.taken = True

    def _endif(self, line: DirectiveLine) -> None:
        if self._current(line) is not None:
            self._no_more(line, 0)
            self._files[-1].conditionals.pop()

    # ------------------------------------------------------------------ #include

    def _include(self, line: DirectiveLine) -> None:
        if self._expander.collecting:
            self._report(messages.DIRECTIVE_IN_ARGUMENTS, line.mark, name="include")
            return
        tokens = line.tokens
        parsed = parse_header_name(tokens)
        if parsed is None:  # C99 6.10.2p4: macros may make the name
            tokens = self._expander.expand_list(tokens, line.end)
            parsed = parse_header_name(tokens)
        if parsed is None:
            self._report(messages.EXPECTED_FILE_NAME, line.first, name="include", found=line.first)
            return
        header, rest = parsed
        if not header.file:
            self._report(messages.EMPTY_FILE_NAME, tokens[0], name="include")
            return
        if rest:
            self._report(messages.EXTRA_TOKENS, rest[0], name="include")
        self._enter(header, tokens[0])

    def _enter(self, header: HeaderName, name: Token) -> None:
        """Go on in the file that ``header`` names."""
        if len(self._files) > MAX_INCLUDE_DEPTH:
            self._report(messages.INCLUDE_TOO_DEEP, name, limit=MAX_INCLUDE_DEPTH)
            raise CompileError(self._sink.diagnostics)
        includer = self._files[-1].source.name
        path = self._search.find(header, includer)
        if path is None:
            self._sink.add(self._search.not_found(header, includer, name.location))
            return
        if self._source_files.resolve(path) in self._once:
            return
        again = self._loaded.get(path)
        loaded = self._load(path, name) if again is None else again
        if loaded is not None:
            source, tokens = loaded
            if again is not None and source.included_from != use_site(name.origin):
                source = replace(source, included_from=use_site(name.origin))
            self._expander.charge(_FILE_COST, name.origin)
            self._sink.enter(source)
            self._open(source, tokens)

    def _load(self, path: Path, name: Token) -> tuple[SourceFile, list[Token]] | None:
        place = use_site(name.origin)
        is_system = self._search.is_system(path) or place.file.is_system
        source = read_source(path, name.location, place, is_system, self._source_files)
        if isinstance(source, Diagnostic):
            self._sink.add(source)
            return None
        source = normalize(source, self._sink)
        self._loaded[path] = source, tokenize(source, self._sink)
        return self._loaded[path]

    def _has_header(self, header: HeaderName) -> bool:
        return self._search.find(header, self._files[-1].source.name) is not None

    # ------------------------------------------------------------------ pragmas

    def _pragma(self, line: DirectiveLine) -> Token | None:
        if self._expander.collecting:
            self._report(messages.DIRECTIVE_IN_ARGUMENTS, line.mark, name="pragma")
            return None
        return self._make_pragma(line.tokens, line.end, line.mark.origin)

    def _make_pragma(self, tokens: list[Token], end: Token, origin: Origin) -> Token | None:
        if [token.text for token in tokens] == ["once"]:
            if len(self._files) == 1:
                self._report(messages.ONCE_IN_MAIN_FILE, tokens[0])
            self._once.add(self._source_files.resolve(Path(self._files[-1].source.name)))
            return None
        if tokens and tokens[0].text in ("push_macro", "pop_macro"):
            self._save_macro(tokens)
            return None
        pragma = self._pragmas.parse(tokens, end)
        if pragma is None:
            return None
        return Token(TokenKind.PRAGMA, " ".join(pragma.words), origin, at_line_start=True, value=pragma)

    def _save_macro(self, tokens: list[Token]) -> None:
        """``#pragma push_macro("name")`` and ``pop_macro``, as clang and GCC have them."""
        name = next((token.text[1:-1] for token in tokens if token.kind is TokenKind.STRING), "")
        stack = self._saved_macros.setdefault(name, [])
        if tokens[0].text == "push_macro":
            stack.append(self._macros.get(name))
        elif stack:
            definition = stack.pop()
            self._macros.pop(name, None)
            if definition is not None:
                self._macros[name] = definition

    def _pragma_operator(self, operator: Token) -> Token | None:
        """``_Pragma("…")`` (C99 6.10.9)."""
        opening, text = self._expander.next(), None
        if opening.is_punctuator("("):
            text = self._expander.next()
        if text is None or text.kind is not TokenKind.STRING or not self._expander.next().is_punctuator(")"):
            self._report(messages.INVALID_PRAGMA_OPERATOR, operator)
            return None
        plain = text.text[1:-1].replace('\\"', '"').replace("\\\\", "\\")
        tokens = tokenize(SourceFile("<_Pragma>", plain), self._sink)
        tokens = [Token(token.kind, token.text, operator.origin, token.leading_space) for token in tokens]
        return self._make_pragma(tokens[:-1], tokens[-1], operator.origin)

    # ------------------------------------------------------------------ options and the last phase

    def _apply_options(self, macros: Iterable[tuple[str, str | None]]) -> None:
        errors = self._sink.error_count
        for name, text in macros:
            if text is not None:
                self._define_option(name, text)
            elif name.isidentifier():
                self._macros.pop(name, None)
            else:
                self._invalid_option("U", name, "expected a macro name")
        if self._sink.error_count > errors:
            raise CompileError(self._sink.diagnostics)

    def _define_option(self, name: str, text: str) -> None:
        """``-D name=text``."""
        if re.fullmatch(r"[^\W\d]\w*(\(.*\))?", name) is None:
            self._invalid_option("D", name, "expected a macro name, or a name with parameters: NAME(a, b)")
        elif "\n" in name + text or "\r" in name + text:
            self._invalid_option("D", name, "a macro's value cannot have line ends")
        else:
            option = SourceFile(_COMMAND_LINE, f"#define {name} {text}\n")
            for line in _directive_lines(option, self._sink):
                self._define(line)

    def _open_included_files(self) -> None:
        """``-include``: the files are read first, as if a file of #include lines stood before the source."""
        if self._included_files:
            text = "".join(f"#include {file_name_literal(name)}\n" for name in self._included_files)
            lines = SourceFile(_COMMAND_LINE, text)
            self._open(lines, tokenize(lines, self._sink))

    def _invalid_option(self, option: str, text: str, reason: str) -> None:
        self._sink.report(messages.INVALID_OPTION, None, option=option, text=text, reason=reason)

    def _to_parser(self, token: Token) -> Token | None:
        """The parser's token (C99 phase 7); None for what no program may hold, which is reported."""
        kind = token.kind
        if kind is TokenKind.PUNCTUATOR:
            text = DIGRAPHS.get(token.text, token.text)
            return token if text is token.text else replace(token, text=text)
        if kind is TokenKind.IDENTIFIER and len(token.text) <= LONGEST_IDENTIFIER and token.text.isascii():
            return token
        if kind is TokenKind.UNTERMINATED and token.value is not None:
            return token  # reported where it was read
        if report_malformed(token, self._sink):
            return token if kind is TokenKind.UNTERMINATED else None
        if kind in (TokenKind.NUMBER, TokenKind.CHARACTER, TokenKind.STRING):
            return self._literal(token)
        return token

    def _literal(self, token: Token) -> Token:
        """The token with its value; an invalid literal, which is reported, stands for 0 or ``""``."""
        value = parse_literal(token, self._sink)
        if token.kind is TokenKind.STRING:
            return replace(token, value=b"" if value is None else value)
        value = IntegerConstant(0, "int") if value is None else value
        kind = token.kind
        if kind is TokenKind.NUMBER:
            kind = TokenKind.FLOATING if isinstance(value, FloatingConstant) else TokenKind.INTEGER
        return replace(token, kind=kind, value=value)


# --------------------------------------------------------------------------------------
# Helpers
# --------------------------------------------------------------------------------------


def _message_text(line: DirectiveLine) -> str:
    """What ``#error`` and ``#warning`` say, with a space in front."""
    return f" {spell(line.tokens)}" if line.tokens else ""


def _directive_lines(source: SourceFile, sink: DiagnosticSink) -> Iterator[DirectiveLine]:
    """The lines of a source that holds nothing but directives."""
    file = OpenFile(source, tokenize(source, sink))
    while file.peek().kind is not TokenKind.END:
        line = file.take_line()
        yield DirectiveLine(line.first, line.tokens[1:], line.end)


@functools.lru_cache(maxsize=32)
def _predefined(features: frozenset[str], language: Language) -> MacroTable:
    """The predefined macros of a version of the language on a device with these features."""
    sink = DiagnosticSink()
    table: MacroTable = {}
    for line in _directive_lines(SourceFile("<built-in>", definitions(features, language)), sink):
        macro = DefinitionParser(line.first, line.tokens[1:], line.end, sink).parse()
        if macro is not None:
            table[macro.name] = macro
    sink.finish()
    return table


def render(tokens: Iterable[Token]) -> str:
    """The text of preprocessing tokens, lines as in the source but without empty ones."""
    parts: list[str] = []
    previous = ""
    for token in tokens:
        if token.kind is TokenKind.END:
            break
        if token.kind is TokenKind.PRAGMA:
            parts += ["\n" if parts else "", "#pragma ", token.text]
            previous = "\n"
            continue
        if previous == "\n" or (parts and token.at_line_start):
            parts.append("\n")
        elif parts and (token.leading_space or would_paste(previous, token.text)):
            parts.append(" ")
        parts.append(token.text)
        previous = token.text
    return "".join([*parts, "\n"] if parts else parts)


def preprocess_text(text: str, name: str = "<source>", *, include_paths: Iterable[str | Path] = (),
                    macros: Iterable[tuple[str, str | None]] = (), features: Iterable[str] = ()) -> str:
    """The preprocessed text of a source, as ``clang -E -P`` prints it.

    Raises :class:`~coopmat.diagnostics.CompileError` if there are errors.
    """
    sink = DiagnosticSink()
    preprocessor = Preprocessor(sink, include_paths=include_paths, macros=macros, features=features)
    tokens = list(preprocessor.expand(SourceFile(name, text)))
    sink.finish()
    return render(tokens)
