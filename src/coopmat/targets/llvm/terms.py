"""Formulas over numbers: operators that write the instructions.

A :class:`Term` is a number with the emitter that it belongs to; the other operand of an operator may be a Python
number, which is then a constant of the term's type.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from coopmat.spirv.analysis.types import FloatType
from coopmat.targets.llvm.arithmetic.conversions import to_float
from coopmat.targets.llvm.arithmetic.floats import remainder
from coopmat.targets.llvm.arithmetic.integers import resized
from coopmat.targets.llvm.numbers import NumberWriter
from coopmat.targets.llvm.values import Number, bits_of
from coopmat.targets.llvm.writer import Operand

FLOATS = {"half": FloatType(16), "float": FloatType(32), "double": FloatType(64)}

Formula = Callable[..., "Term"]
Function = Callable[..., Number]  # (emitter, numbers...) → number


@dataclass(frozen=True, eq=False)
class Term:
    """A number of each work-item. ``<`` and so on compare integers as signed ones; with a NaN they do not hold."""

    emitter: NumberWriter
    number: Number

    @property
    def type(self) -> str:
        """LLVM's type of one number."""
        return self.number.type

    @property
    def is_float(self) -> bool:
        """Whether it is a floating-point number."""
        return self.type in FLOATS

    @property
    def width(self) -> int:
        """The number of its bits."""
        return bits_of(self.type)

    def constant(self, value: float | bool) -> Term:
        """A constant of the same type."""
        return Term(self.emitter, self.emitter.constant(self.type, value))

    def apply(self, template: str, result: str, *others: Term | float) -> Term:
        """An instruction on this and other numbers; see :meth:`Emitter.apply`."""
        operands = [other if isinstance(other, Term) else self.constant(other) for other in others]
        return Term(self.emitter, self.emitter.apply(
            template, result, self.number, *(operand.number for operand in operands)))

    def intrinsic(self, name: str, *others: Term | float, immediate: Sequence[Operand] = ()) -> Term:
        """One of LLVM's intrinsics on numbers of this type, whose result has it, too; see :meth:`Emitter.intrinsic`."""
        operands = [other if isinstance(other, Term) else self.constant(other) for other in others]
        return Term(self.emitter, self.emitter.intrinsic(
            name, self.type, self.number, *(operand.number for operand in operands), immediate=immediate))

    # --- arithmetic -------------------------------------------------------------------

    def _binary(self, operation: str, other: Term | float) -> Term:
        letter = "f" if self.is_float else ""
        return self.apply(f"{letter}{operation} {{t}} {{0}}, {{1}}", self.type, other)

    def __add__(self, other: Term | float) -> Term:
        return self._binary("add", other)

    def __sub__(self, other: Term | float) -> Term:
        return self._binary("sub", other)

    def __mul__(self, other: Term | float) -> Term:
        return self._binary("mul", other)

    def __truediv__(self, other: Term | float) -> Term:
        return self._binary("div", other)

    def __mod__(self, other: Term | float) -> Term:
        """C's fmod."""
        divisor = other if isinstance(other, Term) else self.constant(other)
        return Term(self.emitter, remainder(self.emitter, self.number, divisor.number))

    def __rsub__(self, other: float) -> Term:
        return self.constant(other) - self

    def __rtruediv__(self, other: float) -> Term:
        return self.constant(other) / self

    def __neg__(self) -> Term:
        return self.apply("fneg {t} {0}", self.type) if self.is_float else 0 - self

    # --- bits -------------------------------------------------------------------------

    def __and__(self, other: Term | float) -> Term:
        return self.apply("and {t} {0}, {1}", self.type, other)

    def __or__(self, other: Term | float) -> Term:
        return self.apply("or {t} {0}, {1}", self.type, other)

    def __xor__(self, other: Term | float) -> Term:
        return self.apply("xor {t} {0}, {1}", self.type, other)

    def __invert__(self) -> Term:
        return self ^ -1

    def __lshift__(self, other: Term | int) -> Term:
        return self.apply("shl {t} {0}, {1}", self.type, other)

    def right(self, count: Term | int, *, signed: bool) -> Term:
        """Shifted to the right; ``signed``: the sign is shifted in."""
        return self.apply(("ashr" if signed else "lshr") + " {t} {0}, {1}", self.type, count)

    @property
    def bits(self) -> Term:
        """The bits as an integer."""
        return self.cast(f"i{self.width}")

    def cast(self, llvm: str) -> Term:
        """The same bits as another type."""
        return self if llvm == self.type else self.apply("bitcast {t} {0} to {r}", llvm)

    # --- comparisons ------------------------------------------------------------------

    def compare(self, predicate: str, other: Term | float) -> Term:
        """With one of LLVM's predicates."""
        kind = "fcmp" if self.is_float else "icmp"
        return self.apply(f"{kind} {predicate} {{t}} {{0}}, {{1}}", "i1", other)

    def __lt__(self, other: Term | float) -> Term:
        return self.compare("olt" if self.is_float else "slt", other)

    def __gt__(self, other: Term | float) -> Term:
        return self.compare("ogt" if self.is_float else "sgt", other)

    def __ge__(self, other: Term | float) -> Term:
        return self.compare("oge" if self.is_float else "sge", other)

    def equals(self, other: Term | float) -> Term:
        """Whether both are the same number."""
        return self.compare("oeq" if self.is_float else "eq", other)

    def differs(self, other: Term | float) -> Term:
        """Whether they are not the same number; a NaN is not."""
        return self.compare("une" if self.is_float else "ne", other)

    @property
    def is_nan(self) -> Term:
        """Whether it is a NaN."""
        return self.compare("uno", self)

    @property
    def is_infinite(self) -> Term:
        """Whether it is an infinity."""
        return self.magnitude.equals(float("inf"))

    @property
    def is_finite(self) -> Term:
        """Whether it is neither infinite nor a NaN."""
        return self.magnitude.compare("one", float("inf"))

    @property
    def has_sign(self) -> Term:
        """Whether the sign bit is set."""
        return self.bits < 0

    # --- functions --------------------------------------------------------------------

    @property
    def magnitude(self) -> Term:
        """The absolute value of a floating-point number."""
        return self.intrinsic("fabs")

    def with_sign(self, other: Term) -> Term:
        """copysign."""
        return self.intrinsic("copysign", other)

    def to_float(self, llvm: str) -> Term:
        """A floating-point number rounded once to another type."""
        if llvm == self.type:
            return self
        return Term(self.emitter, to_float(self.emitter, self.number, FLOATS[self.type], FLOATS[llvm], "rte"))

    def of_integer(self, llvm: str) -> Term:
        """A signed integer as a floating-point number."""
        return self.apply("sitofp {t} {0} to {r}", llvm)

    def resized(self, llvm: str, *, signed: bool) -> Term:
        """An integer in another width."""
        return Term(self.emitter, resized(self.emitter, self.number, llvm, signed=signed))


def choose(condition: Term, chosen: Term | float, other: Term | float) -> Term:
    """``chosen`` where the condition holds; one of both may be a Python number."""
    if not isinstance(chosen, Term):
        assert isinstance(other, Term)
        chosen = other.constant(chosen)
    if not isinstance(other, Term):
        other = chosen.constant(other)
    return Term(condition.emitter, condition.emitter.select(condition.number, chosen.number, other.number))


def function(formula: Formula) -> Function:
    """A formula over terms as a function of numbers."""
    return lambda emitter, *numbers: formula(*(Term(emitter, number) for number in numbers)).number
