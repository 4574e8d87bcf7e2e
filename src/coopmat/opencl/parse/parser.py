"""The parser of OpenCL C: tokens to :mod:`coopmat.opencl.parse.syntax` (C99 6.9, OpenCL C 3.0)."""

from __future__ import annotations

from coopmat.diagnostics import DiagnosticSink
from coopmat.opencl.messages import syntax as messages
from coopmat.opencl.parse import keywords, syntax
from coopmat.opencl.parse.declarations import function_declarator, name_declarator
from coopmat.opencl.parse.recursion import deep_recursion
from coopmat.opencl.parse.statements import StatementParser
from coopmat.opencl.parse.token_stream import SyntaxFailure
from coopmat.opencl.preprocess.tokens import Token, TokenKind

ExternalDeclaration = syntax.Declaration | syntax.FunctionDefinition | syntax.Pragma | syntax.StaticAssert


def parse(tokens: list[Token], sink: DiagnosticSink,
          type_names: frozenset[str] = keywords.BUILTIN_TYPE_NAMES) -> syntax.TranslationUnit:
    """The syntax tree of a whole source. Errors go to ``sink``; what is wrong is left out of the tree.

    ``type_names`` are the types that are declared before the program begins.
    """
    with deep_recursion():
        return _Parser(tokens, sink, type_names | keywords.BUILTIN_TYPE_NAMES).translation_unit()


class _Parser(StatementParser):
    """External declarations."""

    def translation_unit(self) -> syntax.TranslationUnit:
        """Everything up to the end of the source."""
        location = self.location
        items: list[ExternalDeclaration] = []
        with self.type_scope():
            while not self.at_end:
                try:
                    item = self._external_declaration()
                    if item is not None:
                        items.append(item)
                except SyntaxFailure:
                    self._recover_at_file_scope()
        return syntax.TranslationUnit(location, items)

    def _external_declaration(self) -> ExternalDeclaration | None:
        if self.accept(";"):
            return None
        if self.at("}"):
            failure = self.fail(messages.EXTRANEOUS_BRACE)
            self.advance()
            raise failure
        if self.token.kind is TokenKind.PRAGMA:
            return self._file_pragma()
        if self.at("_Static_assert"):
            return self.static_assert()
        if self.token.kind is not TokenKind.IDENTIFIER or self.token.text in keywords.STATEMENT_WORDS:
            raise self.fail(messages.EXPECTED_DECLARATOR)
        return self._declaration_or_function()

    def _file_pragma(self) -> syntax.Pragma | None:
        statement = self.pragma()
        return statement if isinstance(statement, syntax.Pragma) else None

    def _declaration_or_function(self) -> ExternalDeclaration:
        location = self.location
        specifiers = self.specifiers()
        if self.accept(";"):
            return syntax.Declaration(location, specifiers, [])
        if not self.at("*", "(") and self.token.kind is not TokenKind.IDENTIFIER:
            self._complain_about_missing_name(specifiers)
            return syntax.Declaration(location, specifiers, [])
        attributes = self.attributes()
        declarator = self.declarator(attributes)
        attributes += self.attributes()
        function = function_declarator(declarator)
        if function is not None and self._is_identifier_list(function) and self.starts_declaration():
            self._old_parameters(function)
        if function is not None and self.at("{"):
            return self._function(specifiers, declarator, function, attributes)
        declarators = self.init_declarators(specifiers, declarator, attributes)
        if self.at("{") and function is None:
            raise self.fail(messages.EXPECTED, what="';' after top level declarator")
        self.expect_semicolon("after top level declarator")
        return syntax.Declaration(location, specifiers, declarators)

    def _is_identifier_list(self, function: syntax.FunctionDeclarator) -> bool:
        """Whether the parameters are mere names, as in definitions before C89."""
        return bool(function.parameters) and all(
            isinstance(parameter.declarator, syntax.NameDeclarator) and parameter.declarator.name is None
            and parameter.specifiers.named is not None and not self.is_type_name(parameter.specifiers.named)
            for parameter in function.parameters)

    def _old_parameters(self, function: syntax.FunctionDeclarator) -> None:
        """The declarations of parameters between the list of their names and the body."""
        self.report(messages.OLD_DEFINITION, function.location)
        types: dict[str | None, syntax.Parameter] = {}
        while self.starts_declaration():
            declaration = self.local_declaration()
            for item in declaration.declarators:
                name = name_declarator(item.declarator)
                types[name.name] = syntax.Parameter(name.location, declaration.specifiers, item.declarator,
                                                    item.attributes)
        function.parameters = [types.get(parameter.specifiers.named, parameter) for parameter in function.parameters]

    def _complain_about_missing_name(self, specifiers: syntax.Specifiers) -> None:
        """A structure or enumeration without the semicolon behind it, or no declarator at all."""
        defined = ((specifiers.record is not None and specifiers.record.members is not None)
                   or (specifiers.enumeration is not None and specifiers.enumeration.enumerators is not None))
        if not defined:
            raise self.fail(messages.EXPECTED_DECLARATOR)
        kind = "enum" if specifiers.record is None else "union" if specifiers.record.is_union else "struct"
        self.expect_semicolon(f"after {kind}")

    def _function(self, specifiers: syntax.Specifiers, declarator: syntax.Declarator,
                  function: syntax.FunctionDeclarator, attributes: list[syntax.Attribute],
                  ) -> syntax.FunctionDefinition:
        """A function's body; its parameters hide types of the same name."""
        name = name_declarator(declarator)
        self.declare(name.name, is_type=False)
        with self.type_scope():
            for parameter in function.parameters:
                self.declare(name_declarator(parameter.declarator).name, is_type=False)
            body = self.compound_body()
        return syntax.FunctionDefinition(name.location, specifiers, declarator, attributes, body)

    def _recover_at_file_scope(self) -> None:
        """Go on behind the next ``;``, or behind the body of the function whose header was wrong."""
        before = self._position
        self.recover()
        if self._position == before and not self.at_end:
            self.advance()
