"""Random expressions without undefined behaviour and without side effects."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Collection, Sequence
from random import Random
from typing import TypeVar

from tests.kit.fuzz.nodes import (
    FLOATS,
    INT,
    INTEGERS,
    SCALARS,
    UINT,
    ULONG,
    VECTOR_COUNTS,
    WIDE_INTEGERS,
    Expression,
    Place,
    Scope,
    Type,
    common,
    promoted,
)

Item = TypeVar("Item")
HEXADECIMAL = "0123456789abcdef"
LETTERS = "xyzw"
ROUNDINGS = ("", "_rte", "_rtz", "_rtp", "_rtn")

# Integer built-ins: argument kinds are g (the type itself), s and u (signed and unsigned of the same width).
BUILTINS = (
    ("add_sat", "gg"), ("sub_sat", "gg"), ("hadd", "gg"), ("rhadd", "gg"), ("mul_hi", "gg"), ("max", "gg"),
    ("min", "gg"), ("rotate", "gg"), ("clz", "g"), ("ctz", "g"), ("popcount", "g"),
    ("bitselect", "ggg"), ("select", "ggs"), ("select", "ggu"),
)
UNSIGNED_BUILTINS = (("abs", "g"), ("abs", "s"), ("abs_diff", "gg"), ("abs_diff", "ss"), ("mad_hi", "ggg"))
SCALAR_BUILTINS = (("mad_sat", "ggg"),)  # Intel's mad_sat of uint vectors does not saturate the sum
VECTOR_BUILTINS = (("max", "ge"), ("min", "ge"))
FLOAT_BUILTINS = (("floor", "g"), ("ceil", "g"), ("trunc", "g"), ("rint", "g"), ("round", "g"), ("fabs", "g"),
                  ("fma", "ggg"))


class Expressions:
    """Makes expressions of a wanted type from what is in ``scope``."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.counts: tuple[int, ...] = VECTOR_COUNTS
        """The numbers of components that vectors may have."""
        self.scope = Scope()
        self.excluded: Collection[str] = ()
        """Variables that the expression's statement changes: reading them here would be unsequenced."""

    def pick(self, items: Sequence[Item]) -> Item:
        return self.random.choice(items)

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    # ------------------------------------------------------------------ any type

    def expression(self, type_: Type, depth: int) -> Expression:
        """A value of exactly this type; ``depth`` bounds the nesting."""
        if depth <= 0:
            return self.leaf(type_)
        while True:
            made = self.pick(self._productions(type_))(type_, depth - 1)
            if made is not None:
                return made

    def _productions(self, type_: Type) -> Sequence[Callable[[Type, int], Expression | None]]:
        if type_.count > 1:
            if type_.is_float:
                return (self._leaf, self._float_arithmetic, self._swizzle, self._vector_literal, self._vector_choice,
                        self._float_function, self._conversion)
            return (self._leaf, self._vector_arithmetic, self._vector_arithmetic, self._vector_shift, self._swizzle,
                    self._vector_literal, self._vector_comparison, self._vector_choice, self._function,
                    self._function, self._conversion, self._reinterpretation, self._vector_unary, self._shuffle,
                    self._vload)
        if type_.is_float:
            return (self._leaf, self._float_arithmetic, self._float_arithmetic, self._choice, self._float_function,
                    self._conversion, self._component)
        if type_.bits < 32:
            return (self._leaf, self._cast, self._cast, self._choice, self._function, self._conversion,
                    self._reinterpretation, self._component, self._unary_cast)
        return (self._leaf, self._arithmetic, self._arithmetic, self._arithmetic, self._shift, self._cast,
                self._comparison, self._logical, self._choice, self._function, self._function, self._conversion,
                self._reinterpretation, self._component, self._unary, self._small_multiplication, self._any_all,
                self._comma)

    def leaf(self, type_: Type) -> Expression:
        """A variable, or a literal where there is none."""
        places = [place for place in self.scope.places if place.type == type_ and place.root not in self.excluded]
        if places and self.chance(0.8):
            return self.read(self.pick(places))
        if type_.count > 1 and self.chance(0.8):
            return Expression(type_, f"(({type_})(", self.leaf(type_.element), "))")
        return self.literal(type_)

    def _leaf(self, type_: Type, depth: int) -> Expression:
        return self.leaf(type_)

    def read(self, place: Place) -> Expression:
        """The place as an expression, its indices in bounds."""
        parts = [self.index(part) if isinstance(part, int) else part for part in place.parts]
        return Expression(place.type, *parts, low=place.low, high=place.high)

    def index(self, length: int) -> Expression:
        """A uint below ``length``."""
        if self.chance(0.4):
            value = self.random.randrange(length)
            return Expression(INT, str(value), low=value, high=value)
        inner = self.leaf(self.pick((UINT, UINT, ULONG, Type("uchar"), Type("ushort"))))
        if length & (length - 1) == 0 and self.chance(0.5):
            return Expression(UINT, "(", inner, f" & {length - 1})", low=0, high=length - 1)
        return Expression(UINT, "(", inner, f" % {length}u)", low=0, high=length - 1)

    # ------------------------------------------------------------------ literals

    def literal(self, type_: Type) -> Expression:
        if type_.count > 1:
            count = 1 if self.chance(0.6) else type_.count
            texts = ", ".join(str(self.literal(type_.element)) for _ in range(count))
            return Expression(type_, f"(({type_})({texts}))")
        if type_.is_float:
            text = str(self.pick((0.0, 1.0, 0.5, 1.5, 2.0, 3.0, 10.0, 255.0, 256.5, 0.1, -1.0, -2.5, -129.0, 1e10)))
            return Expression(type_, f"({text}{'f' if type_.name == 'float' else ''})")
        value = self._integer(type_)
        return Expression(type_, integer_literal(type_, value), low=value, high=value)

    def _integer(self, type_: Type) -> int:
        if self.chance(0.5):
            return self.random.randint(max(-10, type_.low), 20)
        if self.chance(0.5):
            return self.pick((type_.low, type_.high, type_.high - 1, type_.low + 1, 1 << type_.bits - 2))
        return self.random.randint(type_.low, type_.high)

    # ------------------------------------------------------------------ integer scalars

    def _operands(self, type_: Type, depth: int) -> tuple[Expression, Expression]:
        """Two operands, of mixed types, whose arithmetic is done in ``type_``."""
        pairs = [(a, b) for a in INTEGERS for b in INTEGERS if common(a, b) == type_]
        left, right = self.pick(pairs)
        return self.expression(left, depth), self.expression(right, depth)

    def _arithmetic(self, type_: Type, depth: int) -> Expression:
        left, right = self._operands(type_, depth)
        name = self.pick(("+", "-", "*", "&", "|", "^", "/", "%"))
        if name in "/%":
            return self._division(type_, left, name, right)
        return binary(type_, left, name, right)

    def _division(self, type_: Type, left: Expression, name: str, right: Expression) -> Expression:
        """The divisor is neither 0 nor -1."""
        if not type_.is_signed:
            return Expression(type_, "(", left, f" {name} (", right, " | 1))")
        bound = max(abs(left.low), abs(left.high))
        if self.chance(0.5):
            return Expression(type_, "(", left, f" {name} ((", right, " & 63) + 1))", low=-bound, high=bound)
        return Expression(type_, "(", left, f" {name} (-2 - (", right, " & 15)))", low=-bound, high=bound)

    def _shift(self, type_: Type, depth: int) -> Expression:
        """OpenCL C takes the amount modulo the width."""
        left = self.expression(self.pick([t for t in INTEGERS if promoted(t) == type_]), depth)
        amount = self.expression(self.pick(INTEGERS), depth)
        if self.chance(0.5):
            return Expression(type_, "(", left, " >> ", amount, ")", low=min(left.low, 0), high=max(left.high, 0))
        if type_.is_signed:
            return Expression(type_, f"(({type_})(({type_.unsigned()})", left, " << ", amount, "))")
        return Expression(type_, "(", left, " << ", amount, ")")

    def _cast(self, type_: Type, depth: int) -> Expression:
        inner = self.expression(self.pick(INTEGERS), depth)
        return Expression(type_, f"(({type_})", inner, ")", low=inner.low, high=inner.high)

    def _unary(self, type_: Type, depth: int) -> Expression:
        inner = self.expression(self.pick([t for t in INTEGERS if promoted(t) == type_]), depth)
        if self.chance(0.5):
            return Expression(type_, "(~", inner, ")", low=~inner.high, high=~inner.low)
        if type_.is_signed and inner.low == type_.low:
            return Expression(type_, "(+", inner, ")", low=inner.low, high=inner.high)
        return Expression(type_, "(-", inner, ")", low=-inner.high, high=-inner.low)

    def _unary_cast(self, type_: Type, depth: int) -> Expression:
        inner = self._unary(self.pick(WIDE_INTEGERS), depth)
        return Expression(type_, f"(({type_})", inner, ")", low=inner.low, high=inner.high)

    def _comparison(self, type_: Type, depth: int) -> Expression | None:
        if type_ != INT:
            return None
        types = INTEGERS if self.chance(0.7) else SCALARS
        left, right = self.expression(self.pick(types), depth), self.expression(self.pick(types), depth)
        name = self.pick(("<", ">", "<=", ">=", "==", "!="))
        return Expression(INT, "(", left, f" {name} ", right, ")", low=0, high=1)

    def condition(self, depth: int, types: Sequence[Type] = SCALARS) -> Expression:
        """Something to branch on: most often a comparison, else a value of one of the types."""
        if self.chance(0.7):
            made = self._comparison(INT, depth)
            assert made is not None
            return made
        return self.expression(self.pick(types), depth)

    def _logical(self, type_: Type, depth: int) -> Expression | None:
        if type_ != INT:
            return None
        if self.chance(0.2):
            return Expression(INT, "(!", self.condition(depth), ")", low=0, high=1)
        name = self.pick(("&&", "||"))
        return Expression(INT, "(", self.condition(depth), f" {name} ", self.condition(depth), ")", low=0, high=1)

    def _choice(self, type_: Type, depth: int) -> Expression:
        """The operator ?: with operands whose common type is the result's. The condition is no float."""
        condition = self.condition(depth, INTEGERS)
        if type_.is_float or type_.bits < 32:
            left, right = self.expression(type_, depth), self.expression(type_, depth)
            cast = "" if type_.is_float else f"({type_})"
        else:
            left, right = self._operands(type_, depth)
            cast = ""
        low, high = min(left.low, right.low), max(left.high, right.high)
        return Expression(type_, f"({cast}(", condition, " ? ", left, " : ", right, "))", low=low, high=high)

    def _comma(self, type_: Type, depth: int) -> Expression:
        first, second = self.leaf(self.pick(INTEGERS)), self.expression(type_, depth)
        return Expression(type_, "((void)", first, ", ", second, ")", low=second.low, high=second.high)

    def _component(self, type_: Type, depth: int) -> Expression:
        vector = self.expression(type_.of_count(self.pick(self.counts)), depth)
        return Expression(type_, vector, f".s{HEXADECIMAL[self.random.randrange(vector.type.count)]}")

    def _small_multiplication(self, type_: Type, depth: int) -> Expression | None:
        """mul24 and mad24, defined for 24-bit operands."""
        if type_.bits != 32:
            return None
        small = Type("short" if type_.is_signed else "ushort")
        factors = [Expression(type_, f"(({type_})", self.expression(small, depth), ")", low=small.low,
                              high=small.high) for _ in range(2)]
        if self.chance(0.5):
            return Expression(type_, "mul24(", factors[0], ", ", factors[1], ")")
        addend = Expression(type_, f"(({type_})", self.expression(Type("uchar"), depth), ")", low=0, high=255)
        return Expression(type_, "mad24(", factors[0], ", ", factors[1], ", ", addend, ")")

    def _any_all(self, type_: Type, depth: int) -> Expression | None:
        if type_ != INT:
            return None
        inner = self.expression(self.pick([t for t in INTEGERS if t.is_signed]).of_count(self.pick(self.counts)),
                                depth)
        return Expression(INT, f"{self.pick(('any', 'all'))}(", inner, ")", low=0, high=1)

    # ------------------------------------------------------------------ functions and conversions

    def _function(self, type_: Type, depth: int) -> Expression:
        """An integer built-in function, scalar or vector."""
        if type_.bits > 8 and self.chance(0.1):
            return self._upsample(type_, depth)
        if self.chance(0.15):
            return self._clamp(type_, depth)
        table = BUILTINS + (() if type_.is_signed else UNSIGNED_BUILTINS * 2)
        name, kinds = self.pick(table + (VECTOR_BUILTINS if type_.count > 1 else SCALAR_BUILTINS))
        return self._call(type_, name, kinds, depth)

    def _float_function(self, type_: Type, depth: int) -> Expression:
        name, kinds = self.pick(FLOAT_BUILTINS)
        return self._call(type_, name, kinds, depth)

    def _call(self, type_: Type, name: str, kinds: str, depth: int) -> Expression:
        types = {"g": type_, "e": type_.element, **({} if type_.is_float else
                 {"s": type_.signed(), "u": type_.unsigned()})}
        arguments = [self.expression(types[kind], depth) for kind in kinds]
        parts = [part for argument in arguments for part in (", ", argument)][1:]
        return Expression(type_, f"{name}(", *parts, ")")

    def _clamp(self, type_: Type, depth: int) -> Expression:
        least, most = sorted((self._integer(type_), self._integer(type_)))
        bounds = ", ".join(integer_literal(type_, value) if type_.count == 1 or scalar
                           else f"({type_})({integer_literal(type_, value)})"
                           for scalar in [self.chance(0.5)] for value in (least, most))
        return Expression(type_, "clamp(", self.expression(type_, depth), f", {bounds})")

    def _upsample(self, type_: Type, depth: int) -> Expression:
        half = next(t for t in INTEGERS if t.bits * 2 == type_.bits and t.is_signed == type_.is_signed)
        half = half.of_count(type_.count)
        return Expression(type_, "upsample(", self.expression(half, depth), ", ",
                          self.expression(half.unsigned(), depth), ")")

    def _conversion(self, type_: Type, depth: int) -> Expression:
        source = self.pick(SCALARS).of_count(type_.count)
        inner = self.expression(source, depth)
        if type_.is_float:
            return Expression(type_, f"convert_{type_}{self.pick(ROUNDINGS)}(", inner, ")")
        saturation = "_sat" if self.chance(0.5) else ""
        if source.is_float:  # fmax turns a NaN, whose conversion is undefined, into a number
            rounding = self.pick(ROUNDINGS)
            return Expression(type_, f"convert_{type_}_sat{rounding}(fmax(", inner, f", ({source})(-INFINITY)))")
        return Expression(type_, f"convert_{type_}{saturation}(", inner, ")")

    def _reinterpretation(self, type_: Type, depth: int) -> Expression | None:
        """as_type between integers of one size; a vector of three components has the size of four."""
        counts = (1, *self.counts)
        sources = [t.of_count(n) for t in INTEGERS for n in counts
                   if (n != 3 and type_.count != 3 and t.bits * n == type_.bits * type_.count)
                   or (n == type_.count == 3 and t.bits == type_.bits)]
        return Expression(type_, f"as_{type_}(", self.expression(self.pick(sources), depth), ")")

    # ------------------------------------------------------------------ vectors

    def _vector_arithmetic(self, type_: Type, depth: int) -> Expression:
        left, right = self.expression(type_, depth), self.expression(type_, depth)
        if self.chance(0.2):
            right = self.expression(type_.element, depth)
        name = self.pick(("+", "-", "*", "&", "|", "^", "/", "%"))
        if name in "/%" and type_.is_signed:
            element = type_.element
            return Expression(type_, "(", left, f" {name} (({type_})(", right, f" & ({element})63) + ({element})1))")
        if name in "/%":
            return Expression(type_, "(", left, f" {name} (({type_})(", right, f" | ({type_.element})1)))")
        return Expression(type_, "(", left, f" {name} ", right, ")")

    def _vector_shift(self, type_: Type, depth: int) -> Expression:
        amount = type_ if self.chance(0.8) else type_.element
        return Expression(type_, "(", self.expression(type_, depth), f" {self.pick(('<<', '>>'))} ",
                          self.expression(amount, depth), ")")

    def _vector_unary(self, type_: Type, depth: int) -> Expression:
        return Expression(type_, f"({self.pick('-~+')}", self.expression(type_, depth), ")")

    def _vector_comparison(self, type_: Type, depth: int) -> Expression | None:
        """Components are 0 or -1, of the signed type as wide as the operands'."""
        if not type_.is_signed:
            return None
        operand = self.pick([t for t in SCALARS if t.bits == type_.bits]).of_count(type_.count)
        left, right = self.expression(operand, depth), self.expression(operand, depth)
        names = ("<", ">", "<=", ">=", "==", "!=", "&&", "||", "!")
        name = self.pick(names[:6] if operand.is_float else names)  # clang folds && of float vectors to 1, not -1
        if name == "!":
            return Expression(type_, "(!", left, ")")
        return Expression(type_, "(", left, f" {name} ", right, ")")

    def _vector_choice(self, type_: Type, depth: int) -> Expression:
        """By the most significant bit of each component of the condition."""
        mask = self.pick([t for t in INTEGERS if t.bits == type_.bits and t.is_signed]).of_count(type_.count)
        return Expression(type_, "(", self.expression(mask, depth), " ? ", self.expression(type_, depth), " : ",
                          self.expression(type_, depth), ")")

    def _swizzle(self, type_: Type, depth: int) -> Expression:
        source = self.expression(type_.of_count(self.pick(self.counts)), depth)
        names = swizzles(source.type.count, type_.count) if self.chance(0.4) else ()
        if names:
            return Expression(type_, source, f".{self.pick(names)}")
        indices = [self.random.randrange(source.type.count) for _ in range(type_.count)]
        return Expression(type_, source, f".{spell_components(indices, source.type.count, self.chance(0.5))}")

    def _vector_literal(self, type_: Type, depth: int) -> Expression:
        """(type)(scalars and shorter vectors)."""
        parts: list[str | Expression] = []
        missing = type_.count
        while missing:
            count = self.pick([n for n in (1, *self.counts) if n <= missing and n < type_.count])
            parts += [", ", self.expression(type_.of_count(count), depth - 1)]
            missing -= count
        return Expression(type_, f"(({type_})(", *parts[1:], "))")

    def _shuffle(self, type_: Type, depth: int) -> Expression | None:
        if type_.count == 3:
            return None
        source = type_.of_count(self.pick([n for n in self.counts if n != 3]))
        name, sources = self.pick((("shuffle", 1), ("shuffle2", 2)))
        # Intel's runtime does not ignore the mask's upper bits, as OpenCL C 6.15.13 says
        mask = Expression(type_.unsigned(), "(", self.expression(type_.unsigned(), depth),
                          f" & ({type_.unsigned().element}){sources * source.count - 1})")
        vectors = [part for _ in range(sources) for part in (self.expression(source, depth), ", ")]
        return Expression(type_, f"{name}(", *vectors, mask, ")")

    def _vload(self, type_: Type, depth: int) -> Expression | None:
        arrays = [array for array in self.scope.arrays if array.element == type_.element
                  and array.length >= type_.count and array.root not in self.excluded]
        if not arrays:
            return None
        array = self.pick(arrays)
        return Expression(type_, f"vload{type_.count}(", self.index(array.length // type_.count), f", {array.name})")

    # ------------------------------------------------------------------ floats

    def _float_arithmetic(self, type_: Type, depth: int) -> Expression:
        """Correctly rounded operations; contraction is off."""
        left, right = self.expression(type_, depth), self.expression(type_, depth)
        if type_.count == 1 and self.chance(0.3):
            others = [t for t in SCALARS if not t.is_float or t.bits <= type_.bits]
            right = self.expression(self.pick(others), depth)
        if self.chance(0.1):
            return Expression(type_, "(-", left, ")")
        return Expression(type_, "(", left, f" {self.pick('+-*')} ", right, ")")


OPERATIONS: dict[str, Callable[[int, int], int]] = {"+": operator.add, "-": operator.sub, "*": operator.mul}


def binary(type_: Type, left: Expression, name: str, right: Expression) -> Expression:
    """An integer operation; one that could overflow is done in the unsigned type."""
    bounds = _bounds(type_, left, name, right)
    if type_.is_signed and name in OPERATIONS and not (type_.low <= bounds[0] and bounds[1] <= type_.high):
        unsigned = type_.unsigned()
        return Expression(type_, f"(({type_})(({unsigned})", left, f" {name} ({unsigned})", right, "))")
    return Expression(type_, "(", left, f" {name} ", right, ")", low=bounds[0], high=bounds[1])


def _bounds(type_: Type, left: Expression, name: str, right: Expression) -> tuple[int, int]:
    """The exact bounds of + - *, and sufficient ones of the rest."""
    if name in OPERATIONS:
        corners = [OPERATIONS[name](a, b) for a in (left.low, left.high) for b in (right.low, right.high)]
        return min(corners), max(corners)
    if name == "&" and left.low >= 0 and right.low >= 0:
        return 0, min(left.high, right.high)
    width = max(math.ceil(math.log2(max(abs(value), 1))) + 1
                for value in (left.low, left.high, right.low, right.high))
    least = min(left.low, right.low)
    return (-(1 << width) if least < 0 else 0), (1 << width) - 1


def integer_literal(type_: Type, value: int) -> str:
    """The value spelled with exactly the element type."""
    element = type_.element
    suffix = {"uint": "u", "long": "L", "ulong": "UL"}.get(element.name, "")
    if element.bits >= 32 and element.is_signed and value == element.low:
        return f"(-{element.high}{suffix} - 1{suffix})"
    text = f"{value}{suffix}" if value >= 0 else f"(-{-value}{suffix})"
    return text if element.bits >= 32 else f"(({element}){text})"


def swizzles(source: int, result: int) -> list[str]:
    """The named halves of a vector of ``source`` components that have ``result`` components."""
    padded = 4 if source == 3 else source
    return ["lo", "hi", "even", "odd"] if padded == 2 * result and source != 3 else []


def spell_components(indices: Sequence[int], count: int, letters: bool) -> str:
    """A swizzle of these components: .xyzw where possible and wanted, else .s0123."""
    if letters and count <= 4 and len(indices) in (1, 2, 3, 4):
        return "".join(LETTERS[index] for index in indices)
    return "s" + "".join(HEXADECIMAL[index] for index in indices)


__all__ = ["FLOATS", "Expressions", "binary", "integer_literal", "spell_components"]
