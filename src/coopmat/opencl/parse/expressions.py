"""Parsing of expressions (C99 6.5 and OpenCL C's vector literals): recursive descent for unary and
postfix expressions, precedence climbing for binary ones."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

from coopmat.opencl.messages import syntax as messages
from coopmat.opencl.parse import keywords, syntax
from coopmat.opencl.parse.token_stream import TokenStream
from coopmat.opencl.preprocess.token_values import FloatingConstant, IntegerConstant
from coopmat.opencl.preprocess.tokens import Token, TokenKind

_LEVELS = (
    ("||",), ("&&",), ("|",), ("^",), ("&",), ("==", "!="), ("<", ">", "<=", ">="), ("<<", ">>"), ("+", "-"),
    ("*", "/", "%"),
)
PRECEDENCE = {operator: level for level, operators in enumerate(_LEVELS, 1) for operator in operators}
"""How strongly the binary operators bind, from weakest to strongest (C99 6.5.5 to 6.5.14)."""

ASSIGNMENTS = frozenset({"=", "*=", "/=", "%=", "+=", "-=", "<<=", ">>=", "&=", "^=", "|="})
PREFIX_OPERATORS = frozenset({"+", "-", "~", "!", "*", "&", "++", "--"})


class ExpressionParser(TokenStream, ABC):
    """Expressions; types come from the declarations' parser."""

    # ------------------------------------------------------------------ what declarations provide

    @abstractmethod
    def starts_type(self, token: Token) -> bool:
        """Whether ``token`` begins a type name."""

    @abstractmethod
    def type_name(self) -> syntax.TypeName:
        """A type name (C99 6.7.6)."""

    @abstractmethod
    def initializer_list(self) -> syntax.InitializerList:
        """An initialiser list in braces (C99 6.7.8)."""

    @abstractmethod
    def member_path(self) -> syntax.MemberPath:
        """The member that ``__builtin_offsetof`` asks for."""

    @abstractmethod
    def static_assert(self) -> syntax.StaticAssert:
        """``_Static_assert`` (C11 6.7.10)."""

    @abstractmethod
    def compound(self) -> syntax.Compound:
        """A block in braces (C99 6.8.2)."""

    # ------------------------------------------------------------------ comma, assignment, conditional

    def expression(self) -> syntax.Expression:
        """An expression, commas included (C99 6.5.17)."""
        left = self.assignment_expression()
        while self.at(","):
            operator = self.advance()
            left = syntax.Binary(operator.location, ",", left, self.assignment_expression())
        return left

    def assignment_expression(self) -> syntax.Expression:
        """An expression without commas (C99 6.5.16); assignments group from the right."""
        with self.nested():
            target = self.conditional_expression()
            if self.token.kind is TokenKind.PUNCTUATOR and self.token.text in ASSIGNMENTS:
                operator = self.advance()
                value = self.assignment_expression()
                return syntax.Assignment(operator.location, operator.text, target, value)
            return target

    def conditional_expression(self) -> syntax.Expression:
        """``a ? b : c``, or something that binds more strongly (C99 6.5.15); GNU lets ``b`` be left out."""
        condition = self.binary_expression(1)
        if not self.at("?"):
            return condition
        question = self.advance()
        with self.nested():
            if_true = None if self.at(":") else self.expression()
            self.expect(":")
            if_false = self.conditional_expression()
        return syntax.Conditional(question.location, condition, if_true, if_false)

    def constant_expression(self) -> syntax.Expression:
        """A constant expression (C99 6.6); that it is constant is checked later."""
        with self.nested():
            return self.conditional_expression()

    def binary_expression(self, lowest: int) -> syntax.Expression:
        """Binary operators that bind at least as strongly as ``lowest``."""
        left = self.cast_expression()
        while (level := self._operator_level()) >= lowest:
            operator = self.advance()
            right = self.binary_expression(level + 1)
            left = syntax.Binary(operator.location, operator.text, left, right)
        return left

    def _operator_level(self) -> int:
        """How strongly the operator at the cursor binds; 0 if there is none."""
        return PRECEDENCE.get(self.token.text, 0) if self.token.kind is TokenKind.PUNCTUATOR else 0

    # ------------------------------------------------------------------ casts and unary operators

    def cast_expression(self) -> syntax.Expression:
        """A cast, a compound literal, a vector literal, or a unary expression (C99 6.5.4)."""
        if not (self.at("(") and self.starts_type(self.peek())):
            return self.unary_expression()
        with self.nested():
            opening = self.advance()
            name = self.type_name()
            self.close(opening)
            if self.at("{"):
                literal = syntax.CompoundLiteral(opening.location, name, self.initializer_list())
                return self.postfix_suffixes(literal)
            if self.at("(") and not self.starts_type(self.peek()) and self.peek().text != "{":
                operand = self._vector_literal_or_operand()
            else:
                operand = self.cast_expression()
        return syntax.Cast(opening.location, name, operand)

    def _vector_literal_or_operand(self) -> syntax.Expression:
        """What stands in parentheses behind a cast: the components of a vector, or the operand."""
        opening = self.advance()
        items = [self.assignment_expression()]
        while self.accept(","):
            items.append(self.assignment_expression())
        close = self.close(opening)
        if len(items) == 1:
            items[0].parentheses = opening.location, close.location
            return self.postfix_suffixes(items[0])
        if self.at(".", "[", "->"):
            suffix = self.token.text + (self.peek().text if not self.at("[") else "")
            raise self.fail(messages.VECTOR_LITERAL_SUFFIX, suffix=suffix)
        return syntax.ParenthesizedList(opening.location, items, end=close.location)

    def unary_expression(self) -> syntax.Expression:
        """A prefix operator and its operand, sizeof, or a postfix expression (C99 6.5.3)."""
        if self.token.kind is TokenKind.PUNCTUATOR and self.token.text in PREFIX_OPERATORS:
            with self.nested():
                operator = self.advance()
                operand = (self.unary_expression() if operator.text in ("++", "--") else self.cast_expression())
            return syntax.Unary(operator.location, operator.text, operand)
        if self.at("sizeof", *keywords.ALIGNMENT_WORDS):
            return self._size_of()
        if self.accept("__extension__"):
            with self.nested():
                return self.cast_expression()
        return self.postfix_suffixes(self.primary_expression())

    def _size_of(self) -> syntax.Expression:
        operator = self.advance()
        is_alignment = operator.text != "sizeof"
        if self.starts_type(self.token):
            raise self.fail(messages.SIZEOF_NEEDS_PARENTHESES, operator=operator.text)
        if not (self.at("(") and self.starts_type(self.peek())):
            with self.nested():
                return syntax.SizeOf(operator.location, self.unary_expression(), is_alignment)
        opening = self.advance()
        name = self.type_name()
        self.close(opening)
        operand: syntax.TypeName | syntax.Expression = name
        if self.at("{"):
            literal = syntax.CompoundLiteral(opening.location, name, self.initializer_list())
            operand = self.postfix_suffixes(literal)
        return syntax.SizeOf(operator.location, operand, is_alignment, end=self.previous.location)

    # ------------------------------------------------------------------ postfix and primary expressions

    def postfix_suffixes(self, base: syntax.Expression) -> syntax.Expression:
        """Subscripts, calls, members, ``++`` and ``--`` behind ``base`` (C99 6.5.2)."""
        while True:
            if self.at("["):
                opening = self.advance()
                index = self.expression()
                close = self.close(opening)
                base = syntax.Index(opening.location, base, index, end=close.location)
            elif self.at("("):
                base = self._call(base)
            elif self.at(".", "->"):
                arrow = self.advance().text == "->"
                if self.token.kind is not TokenKind.IDENTIFIER:
                    raise self.fail(messages.EXPECTED_IDENTIFIER)
                member = self.advance()
                base = syntax.Member(member.location, base, member.text, arrow)
            elif self.at("++", "--"):
                operator = self.advance()
                base = syntax.Postfix(operator.location, operator.text, base)
            else:
                return base

    def _call(self, function: syntax.Expression) -> syntax.Expression:
        opening = self.advance()
        arguments: list[syntax.Expression] = []
        if not self.at(")"):
            arguments.append(self.assignment_expression())
            while self.accept(","):
                arguments.append(self.assignment_expression())
        close = self.close(opening)
        return syntax.FunctionCall(function.location, function, arguments, close.location)

    def primary_expression(self) -> syntax.Expression:
        """A name, a literal, or an expression in parentheses (C99 6.5.1)."""
        token = self.token
        if token.kind is TokenKind.STRING:
            return self._string()
        if token.kind is TokenKind.UNTERMINATED:
            self.advance()
            return syntax.StringLiteral(token.location, b"") if token.text[0] == '"' \
                else syntax.IntegerLiteral(token.location, 0, "int")
        if isinstance(token.value, IntegerConstant):
            self.advance()
            return syntax.IntegerLiteral(token.location, token.value.value, token.value.type_name)
        if isinstance(token.value, FloatingConstant):
            self.advance()
            return syntax.FloatLiteral(token.location, token.value.value, token.value.type_name,
                                       token.value.rounded_to("float"))
        if self.at("("):
            opening = self.advance()
            inner = syntax.StatementExpression(opening.location, self.compound()) if self.at("{") \
                else self.expression()
            close = self.close(opening)
            inner.parentheses = opening.location, close.location
            return inner
        return self._name()

    def _string(self) -> syntax.StringLiteral:
        """Adjacent string literals, joined (C99 5.1.1.2 phase 6)."""
        tokens: list[Token] = []
        while self.token.kind is TokenKind.STRING:
            tokens.append(self.token)
            self.advance()
        value = b"".join(token.value for token in tokens if isinstance(token.value, bytes))
        return syntax.StringLiteral(tokens[0].location, value, tokens)

    def _name(self) -> syntax.Expression:
        token = self.token
        if token.kind is not TokenKind.IDENTIFIER:
            raise self.fail(messages.EXPECTED_EXPRESSION)
        if token.text == "_Generic":
            return self._generic_selection()
        if token.text in keywords.REFUSED_WORDS:
            raise self.fail(messages.UNSUPPORTED, what=keywords.REFUSED_WORDS[token.text])
        if token.text in keywords.CPLUSPLUS_WORDS and self._starts_operand(self.peek()):
            raise self.fail(messages.CPLUSPLUS, word=token.text)
        if self.names_type(token):
            raise self.fail(messages.UNEXPECTED_TYPE_NAME, name=token.text)
        if token.text in keywords.KEYWORDS:
            raise self.fail(messages.EXPECTED_EXPRESSION)
        self.advance()
        if token.text == "vec_step" and self.at("(") and not self._is_declared("vec_step"):
            return self._vec_step(token)
        if token.text in keywords.OPERATIONS:
            return self._builtin_operation(token)
        return syntax.Name(token.location, token.text)

    def _builtin_operation(self, name: Token) -> syntax.BuiltinOperation:
        """A built-in function some of whose operands are types."""
        parsers: dict[str, Callable[[], syntax.TypeName | syntax.Expression | syntax.MemberPath]] = {
            "type": self.type_name, "value": self.assignment_expression, "member": self.member_path}
        opening = self.expect("(", f"after '{name.text}'")
        operands: list[syntax.TypeName | syntax.Expression | syntax.MemberPath] = []
        for kind in keywords.OPERATIONS[name.text]:
            if operands:
                self.expect(",", f"between the operands of '{name.text}'")
            if kind == "type" and not self.starts_type(self.token):
                raise self.fail(messages.EXPECTED, what="a type")
            operands.append(parsers[kind]())
        self.close(opening)
        return syntax.BuiltinOperation(name.location, name.text, operands)

    def _generic_selection(self) -> syntax.GenericSelection:
        """``_Generic(operand, type: value, default: value)`` (C11 6.5.1.1)."""
        keyword = self.advance()
        opening = self.expect("(", "after '_Generic'")
        with self.nested():
            operand = self.assignment_expression()
            associations: list[syntax.GenericAssociation] = []
            while self.accept(","):
                location = self.location
                type_name = None if self.accept("default") else self._association_type()
                self.expect(":", "in a generic association")
                associations.append(syntax.GenericAssociation(location, type_name, self.assignment_expression()))
        self.close(opening)
        return syntax.GenericSelection(keyword.location, operand, associations)

    def _association_type(self) -> syntax.TypeName:
        if not self.starts_type(self.token):
            raise self.fail(messages.EXPECTED, what="a type or 'default'")
        return self.type_name()

    def _vec_step(self, name: Token) -> syntax.Expression:
        opening = self.advance()
        operand: syntax.TypeName | syntax.Expression
        operand = self.type_name() if self.starts_type(self.token) else self.expression()
        self.close(opening)
        return syntax.VecStep(name.location, operand, end=self.previous.location)

    def _is_declared(self, name: str) -> bool:
        return any(name in scope for scope in self.type_scopes)

    @staticmethod
    def _starts_operand(token: Token) -> bool:
        """Whether a word in front of ``token`` cannot be a variable (``new int``, ``static_cast<``)."""
        return token.kind is TokenKind.IDENTIFIER or token.text in ("<", "::")
