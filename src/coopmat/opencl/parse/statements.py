"""Parsing of statements and of the declarations in blocks (C99 6.8)."""

from __future__ import annotations

from coopmat.diagnostics import SourceLocation
from coopmat.opencl.messages import syntax as messages
from coopmat.opencl.parse import keywords, syntax
from coopmat.opencl.parse.declarations import DeclarationParser, function_declarator
from coopmat.opencl.parse.token_stream import SyntaxFailure
from coopmat.opencl.preprocess.token_values import ContractPragma, ExtensionPragma, UnrollPragma
from coopmat.opencl.preprocess.tokens import TokenKind

MAX_ELSE_IFS = 1000


class StatementParser(DeclarationParser):
    """Statements."""

    # ------------------------------------------------------------------ blocks

    def compound(self) -> syntax.Compound:
        """``{ … }`` in a scope of its own."""
        with self.type_scope(), self.nested():
            return self.compound_body()

    def compound_body(self) -> syntax.Compound:
        """``{ … }`` in the scope that is open (a function's, with its parameters)."""
        opening = self.expect("{")
        items: list[syntax.Statement] = []
        while not self.at("}") and not self.at_end:
            try:
                items.append(self.block_item())
            except SyntaxFailure:
                self.recover()
        end = self.close(opening)
        return syntax.Compound(opening.location, items, end.location)

    def block_item(self) -> syntax.Statement:
        """A statement or a declaration."""
        if self.at("_Static_assert"):
            return self.static_assert()
        if self.at(*keywords.ATTRIBUTE_WORDS):
            return self._attributed()
        if self.starts_declaration():
            return self.local_declaration()
        return self.statement()

    def local_declaration(self, in_for: bool = False) -> syntax.Declaration:
        """A declaration in a block, its semicolon included; or (``in_for``) in a for statement, up to there."""
        location = self.location
        specifiers = self.specifiers()
        if self.at(";"):
            if not in_for:
                self.advance()
            return syntax.Declaration(location, specifiers, [])
        attributes = self.attributes()
        declarator = self.declarator(attributes)
        if self.at("{") and function_declarator(declarator) is not None:
            raise self.fail(messages.FUNCTION_IN_FUNCTION)
        declarators = self.init_declarators(specifiers, declarator, attributes)
        if not in_for:
            self.expect_semicolon("at end of declaration")
        return syntax.Declaration(location, specifiers, declarators)

    def static_assert(self) -> syntax.StaticAssert:
        """``_Static_assert(condition, "message");`` (C11 6.7.10)."""
        keyword = self.advance()
        opening = self.expect("(", "after '_Static_assert'")
        condition = self.constant_expression()
        message: bytes | None = None
        if self.accept(","):
            literal = self.primary_expression()
            if not isinstance(literal, syntax.StringLiteral):
                raise self.fail(messages.EXPECTED, literal.location, what="string literal")
            message = literal.value
        self.close(opening)
        self.expect_semicolon("after '_Static_assert'")
        return syntax.StaticAssert(keyword.location, condition, message)

    def _attributed(self) -> syntax.Statement:
        """Attributes in front of a loop, another statement, or a declaration."""
        start = self._position
        attributes = self.attributes()
        if self.starts_declaration():
            self._position = start
            self.token = self._tokens[start]
            return self.local_declaration()
        statement = self.statement()
        if isinstance(statement, (syntax.For, syntax.While)):
            statement.attributes = attributes + statement.attributes
        elif attributes:
            statement = syntax.Attributed(statement.location, attributes, statement)
        return statement

    # ------------------------------------------------------------------ statements

    def statement(self) -> syntax.Statement:
        """A statement (C99 6.8)."""
        token = self.token
        with self.nested():
            if token.kind is TokenKind.PRAGMA:
                return self.pragma()
            if self.at("{"):
                with self.type_scope():
                    return self.compound_body()
            if token.kind is TokenKind.IDENTIFIER:
                parse = _STATEMENTS.get(token.text)
                if parse is not None:
                    return parse(self)
                if self.peek().text == ":" and token.text not in keywords.KEYWORDS:
                    return self._labelled()
                if self.at(*keywords.ATTRIBUTE_WORDS):
                    return self._attributed()
            return self._expression_statement()

    def _expression_statement(self) -> syntax.Statement:
        location = self.location
        if self.accept(";"):
            return syntax.ExpressionStatement(location, None)
        if self.at("}") or self.at_end:
            raise self.fail(messages.EXPECTED_STATEMENT)
        expression = self.expression()
        self.expect_semicolon("after expression")
        return syntax.ExpressionStatement(location, expression)

    def substatement(self) -> syntax.Statement:
        """The body of a loop or of an if: a statement, no declaration."""
        if self.starts_declaration() and not self.at(*keywords.ATTRIBUTE_WORDS):
            self.report(messages.DECLARATION_NOT_ALLOWED)
        location = self.location
        try:
            with self.type_scope():
                return self.block_item()
        except SyntaxFailure:
            self.recover()
            return syntax.ExpressionStatement(location, None)

    def pragma(self) -> syntax.Statement:
        """A pragma; one that unrolls belongs to the loop behind it."""
        token = self.advance()
        pragma = token.value
        if isinstance(pragma, (ExtensionPragma, ContractPragma)):
            return syntax.Pragma(token.location, list(pragma.words))
        assert isinstance(pragma, UnrollPragma)
        if self.at("for", "while", "do") or self.at(*keywords.ATTRIBUTE_WORDS) or self.token.kind is TokenKind.PRAGMA:
            statement = self.statement()
            if isinstance(statement, (syntax.For, syntax.While)):
                if statement.unroll is None:
                    statement.unroll = pragma.factor
                return statement
        self.report(messages.UNROLL_WITHOUT_LOOP, token.location, name=pragma.words[0])
        return syntax.ExpressionStatement(token.location, None)

    def _condition(self, keyword: str) -> syntax.Expression:
        """The expression in parentheses behind if, while and switch."""
        opening = self.expect("(", f"after '{keyword}'")
        try:
            condition = self.expression()
            self.close(opening)
        except SyntaxFailure:
            if not self.skip_parenthesis():
                raise
            condition = syntax.IntegerLiteral(opening.location, 0, "int")
        return condition

    def _if(self) -> syntax.Statement:
        """Chains of ``else if`` are parsed in a loop, so that they may be long."""
        chain: list[syntax.If] = []
        otherwise: syntax.Statement | None = None
        too_long: SourceLocation | None = None
        while True:
            keyword = self.advance()
            condition = self._condition("if")
            close = self.previous.location
            then = self.substatement()
            if len(chain) < MAX_ELSE_IFS:
                chain.append(syntax.If(keyword.location, condition, then, None, close))
            else:
                too_long = too_long or keyword.location
            if not self.at("else"):
                break
            chain[-1].else_location = self.advance().location
            if not self.at("if"):
                otherwise = self.substatement()
                break
        if too_long is not None:
            self.report(messages.TOO_DEEP, too_long, limit=MAX_ELSE_IFS)
        for statement in reversed(chain):
            statement.otherwise = otherwise
            otherwise = statement
        return chain[0]

    def _while(self) -> syntax.Statement:
        keyword = self.advance()
        condition = self._condition("while")
        close = self.previous.location
        return syntax.While(keyword.location, condition, self.substatement(), tests_last=False, close=close)

    def _do(self) -> syntax.Statement:
        keyword = self.advance()
        body = self.substatement()
        self.expect("while", "in do/while loop")
        opening = self.expect("(", "after 'while'")
        condition = self.expression()
        self.close(opening)
        self.expect_semicolon("after do/while statement")
        return syntax.While(keyword.location, condition, body, tests_last=True)

    def _for(self) -> syntax.Statement:
        keyword = self.advance()
        opening = self.expect("(", "after 'for'")
        loop = syntax.For(keyword.location, None, None, None, syntax.ExpressionStatement(opening.location, None))
        with self.type_scope():
            try:
                loop.initial = self._for_initial()
                self.expect(";", "in 'for' statement specifier")
                loop.condition = None if self.at(";") else self.expression()
                self.expect(";", "in 'for' statement specifier")
                loop.step = None if self.at(")") else self.expression()
                loop.close = self.close(opening).location
            except SyntaxFailure:
                if not self.skip_parenthesis(over_semicolons=True):
                    raise
            loop.body = self.substatement()
        return loop

    def _for_initial(self) -> syntax.Statement | None:
        if self.at(";"):
            return None
        if self.starts_declaration():
            return self.local_declaration(in_for=True)
        location = self.location
        return syntax.ExpressionStatement(location, self.expression())

    def _switch(self) -> syntax.Statement:
        keyword = self.advance()
        value = self._condition("switch")
        close = self.previous.location
        return syntax.Switch(keyword.location, value, self.substatement(), close)

    def _case(self) -> syntax.Statement:
        keyword = self.advance()
        value: syntax.Expression | None = None
        last: syntax.Expression | None = None
        if keyword.text == "case":
            value = self.constant_expression()
            if self.accept("..."):
                last = self.constant_expression()
        self.expect(":", f"after '{keyword.text}'")
        return syntax.Case(keyword.location, value, self._labelled_statement(), last)

    def _labelled(self) -> syntax.Statement:
        name = self.advance()
        self.advance()
        self.attributes()
        return syntax.Labelled(name.location, name.text, self._labelled_statement())

    def _labelled_statement(self) -> syntax.Statement:
        """What a label stands in front of; at the end of a block an empty statement is implied."""
        if self.at("}"):
            return syntax.ExpressionStatement(self.location, None)
        if self.starts_declaration():
            return self.local_declaration()
        return self.statement()

    def _goto(self) -> syntax.Statement:
        keyword = self.advance()
        if self.token.kind is not TokenKind.IDENTIFIER or self.token.text in keywords.KEYWORDS:
            raise self.fail(messages.EXPECTED_IDENTIFIER)
        name = self.advance()
        self.expect_semicolon("after goto statement")
        return syntax.Goto(keyword.location, name.text, name.location)

    def _break(self) -> syntax.Statement:
        keyword = self.advance()
        self.expect_semicolon("after break statement")
        return syntax.Break(keyword.location)

    def _continue(self) -> syntax.Statement:
        keyword = self.advance()
        self.expect_semicolon("after continue statement")
        return syntax.Continue(keyword.location)

    def _return(self) -> syntax.Statement:
        keyword = self.advance()
        value = None if self.at(";") else self.expression()
        self.expect_semicolon("after return statement")
        return syntax.Return(keyword.location, value)

    def _stray_else(self) -> syntax.Statement:
        raise self.fail(messages.ELSE_WITHOUT_IF)


_STATEMENTS = {
    "if": StatementParser._if, "while": StatementParser._while, "do": StatementParser._do,
    "for": StatementParser._for, "switch": StatementParser._switch, "case": StatementParser._case,
    "default": StatementParser._case, "goto": StatementParser._goto, "break": StatementParser._break,
    "continue": StatementParser._continue, "return": StatementParser._return, "else": StatementParser._stray_else,
}
