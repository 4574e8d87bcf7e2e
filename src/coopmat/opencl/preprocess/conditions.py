"""The expressions of ``#if`` and ``#elif`` (C99 6.10.1), computed in 64 bits.

Macros are expanded before, ``defined`` and the ``__has_…`` operators among them; what identifiers
are left stand for 0, ``true`` for 1.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from coopmat.diagnostics import DiagnosticSink, Message
from coopmat.opencl.messages import lexical as messages
from coopmat.opencl.preprocess import literals
from coopmat.opencl.preprocess.tokens import Token, TokenKind

MAX_DEPTH = 80
"""Limit on operators and parentheses inside of each other."""

_BITS = 64
_MASK = (1 << _BITS) - 1
_MAX = (1 << (_BITS - 1)) - 1


class Value(NamedTuple):
    """An intmax_t or, if ``unsigned``, a uintmax_t."""

    number: int
    unsigned: bool = False


class _Failed(Exception):
    """The expression is wrong, which has been reported."""


_PRECEDENCE = {
    "||": 1, "&&": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6, "<": 7, ">": 7, "<=": 7, ">=": 7,
    "<<": 8, ">>": 8, "+": 9, "-": 9, "*": 10, "/": 10, "%": 10,
}
_CONDITIONAL = 0  # ?: binds less tightly than all of them
_TIGHTEST = max(_PRECEDENCE.values())
_COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, ">": operator.gt, "<=": operator.le,
    ">=": operator.ge,
}


def _quotient(left: int, right: int) -> int:
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


_ARITHMETIC: dict[str, Callable[[int, int], int]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "&": operator.and_, "|": operator.or_,
    "^": operator.xor, "/": _quotient, "%": lambda left, right: left - right * _quotient(left, right),
}
_UNARY: dict[str, Callable[[int], int]] = {"+": operator.pos, "-": operator.neg, "~": operator.invert}
_LITERALS = (TokenKind.NUMBER, TokenKind.CHARACTER)


def evaluate(tokens: Sequence[Token], end: Token, sink: DiagnosticSink) -> Value | None:
    """The value of a constant expression, macros already expanded; None (reported) if it is wrong.

    ``end`` is the END token of the line, for messages.
    """
    evaluator = _Evaluator(tokens, end, sink)
    try:
        value = evaluator.conditional(True)
        evaluator.expect_end()
    except _Failed:
        return None
    return value


class _Evaluator:
    """Recursive descent; ``live`` is false for operands that are parsed but not evaluated."""

    def __init__(self, tokens: Sequence[Token], end: Token, sink: DiagnosticSink) -> None:
        self._tokens = tokens
        self._end = end
        self._sink = sink
        self._position = 0
        self._depth = 0

    def _peek(self) -> Token:
        return self._tokens[self._position] if self._position < len(self._tokens) else self._end

    def _operator(self) -> str:
        token = self._peek()
        return token.text if token.kind is TokenKind.PUNCTUATOR else ""

    def _fail(self, message: Message, token: Token, **values: Any) -> _Failed:
        self._sink.report(message, token.location, token=token, **values)
        return _Failed()

    def _expect(self, text: str) -> None:
        token = self._peek()
        if not token.is_punctuator(text):
            raise self._fail(messages.EXPECTED_IN_CONDITION, token, expected=f"'{text}'", found=token)
        self._position += 1

    def expect_end(self) -> None:
        """Report anything after the expression."""
        token = self._peek()
        if token.kind is not TokenKind.END:
            raise self._fail(messages.EXPECTED_IN_CONDITION, token, expected="the end of the line", found=token)

    def conditional(self, live: bool) -> Value:
        """condition ? value : value."""
        condition = self._binary(_CONDITIONAL + 1, live)
        if self._operator() != "?":
            return condition
        self._position += 1
        chosen = condition.number != 0
        if_true = self._nested(_CONDITIONAL, live and chosen)
        self._expect(":")
        if_false = self._nested(_CONDITIONAL, live and not chosen)
        value = if_true if chosen else if_false
        unsigned = if_true.unsigned or if_false.unsigned
        return Value(value.number & _MASK, True) if unsigned else value

    def _nested(self, precedence: int, live: bool) -> Value:
        """An operand one level deeper, of operators that bind at least as tightly as ``precedence``."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise self._fail(messages.CONDITION_TOO_DEEP, self._peek(), limit=MAX_DEPTH)
        value = self.conditional(live) if precedence == _CONDITIONAL else self._binary(precedence, live)
        self._depth -= 1
        return value

    def _binary(self, minimum: int, live: bool) -> Value:
        """Binary operators that bind at least as tightly as ``minimum``, by precedence climbing."""
        left = self._unary(live)
        while (precedence := _PRECEDENCE.get(self._operator(), 0)) >= minimum:
            token = self._peek()
            self._position += 1
            decided = {"||": left.number != 0, "&&": left.number == 0}.get(token.text, False)
            inner_live = live and not decided
            if precedence == _TIGHTEST:
                right = self._unary(inner_live)
            else:
                right = self._nested(precedence + 1, inner_live)
            left = self._apply(token, left, right, live)
        return left

    def _unary(self, live: bool) -> Value:
        operators: list[Token] = []
        while self._operator() in ("+", "-", "~", "!"):
            operators.append(self._peek())
            self._position += 1
        value = self._primary(live)
        for token in reversed(operators):
            if token.text == "!":
                value = Value(int(value.number == 0))
            else:
                value = self._wrap(_UNARY[token.text](value.number), value.unsigned, token, live)
        return value

    def _primary(self, live: bool) -> Value:
        token = self._peek()
        self._position += 1
        if token.is_punctuator("("):
            value = self._nested(_CONDITIONAL, live)
            self._expect(")")
            return value
        if token.kind in _LITERALS:
            return self._literal(token)
        if token.kind is TokenKind.IDENTIFIER:
            if self._peek().is_punctuator("("):
                raise self._fail(messages.UNDEFINED_FUNCTION_MACRO, token, name=token.text)
            if live and token.text != "true":
                self._sink.report(messages.UNDEFINED_IN_CONDITION, token.location, name=token.text)
            return Value(int(token.text == "true"))
        if token.kind is TokenKind.STRING:
            raise self._fail(messages.STRING_IN_CONDITION, token)
        raise self._fail(messages.EXPECTED_OPERAND, token, found=token)

    def _literal(self, token: Token) -> Value:
        constant = literals.parse_literal(token, self._sink)
        if isinstance(constant, literals.FloatingConstant):
            raise self._fail(messages.FLOATING_IN_CONDITION, token)
        if not isinstance(constant, literals.IntegerConstant):
            raise _Failed
        unsigned = constant.value > _MAX or (token.kind is TokenKind.NUMBER and "u" in token.text.lower())
        return Value(constant.value, unsigned)

    def _apply(self, token: Token, left: Value, right: Value, live: bool) -> Value:
        """A binary operator with the usual arithmetic conversions (C99 6.3.1.8)."""
        text = token.text
        if text == "||":
            return Value(int(left.number != 0 or right.number != 0))
        if text == "&&":
            return Value(int(left.number != 0 and right.number != 0))
        if text in ("<<", ">>"):
            return self._shift(token, left, right, live)
        unsigned = left.unsigned or right.unsigned
        a, b = self._converted(left, unsigned, token, live), self._converted(right, unsigned, token, live)
        if text in _COMPARISONS:
            return Value(int(_COMPARISONS[text](a, b)))
        if text in ("/", "%") and b == 0:
            if live:
                raise self._fail(messages.DIVISION_BY_ZERO, token)
            return Value(0, unsigned)
        return self._wrap(_ARITHMETIC[text](a, b), unsigned, token, live)

    def _converted(self, value: Value, unsigned: bool, token: Token, live: bool) -> int:
        if not unsigned or value.number >= 0:
            return value.number
        if live:
            self._sink.report(messages.NEGATIVE_TO_UNSIGNED, token.location, operator=token.text,
                              value=value.number)
        return value.number & _MASK

    def _shift(self, token: Token, left: Value, right: Value, live: bool) -> Value:
        """A shift; by a negative number it goes the other way, past the width nothing is left."""
        amount = right.number if token.text == "<<" else -right.number
        amount = max(-_BITS, min(amount, _BITS))
        number = left.number << amount if amount >= 0 else left.number >> -amount
        return self._wrap(number, left.unsigned, token, live)

    def _wrap(self, number: int, unsigned: bool, token: Token, live: bool) -> Value:
        """A result reduced to 64 bits; signed overflow warns."""
        if unsigned:
            return Value(number & _MASK, True)
        wrapped = ((number + _MAX + 1) & _MASK) - _MAX - 1
        if wrapped != number and live:
            self._sink.report(messages.CONDITION_OVERFLOW, token.location)
        return Value(wrapped)
