"""What formulas are made of: functions of their own, rare cases apart, polynomials, powers of two, exponents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from coopmat.targets.llvm.emitter import Emitter
from coopmat.targets.llvm.terms import Formula, Term, choose
from coopmat.targets.llvm.values import Number

PURE = "nounwind willreturn memory(none)"


@dataclass(frozen=True)
class Kind:
    """A floating-point type. integer: the type of its bits; fraction: the bits of its fraction; bias: of its
    exponents."""

    name: str
    integer: str
    fraction: int
    bias: int

    @property
    def magic(self) -> float:
        """What added to a number and taken away again leaves the nearest whole number, which meanwhile stands in the
        lowest bits."""
        return 1.5 * 2.0**self.fraction

    @property
    def magic_bits(self) -> int:
        """The bits of that number."""
        return (self.bias + self.fraction << self.fraction) + (1 << self.fraction - 1)


KINDS = {kind.name: kind for kind in (Kind("float", "i32", 23, 127), Kind("double", "i64", 52, 1023))}


def kind_of(x: Term) -> Kind:
    """The type of a number."""
    return KINDS[x.type]


# --------------------------------------------------------------------------------------
# Functions
# --------------------------------------------------------------------------------------


def apart(name: str, formula: Formula, attributes: str = "") -> Formula:
    """A formula as a function of its own, written once however often it is used; LLVM decides whether to call it."""

    def called(*terms: Term) -> Term:
        emitter = terms[0].emitter
        assert isinstance(emitter, Emitter)
        numbers, writer = [term.number for term in terms], emitter.writer
        single = all(number.is_single for number in numbers)
        types = [number.type if single else emitter.vector(number.type) for number in numbers]
        texts = [number.base if single else emitter.lanes(number) for number in numbers]
        full = ".".join(["math", name, *(number.type for number in numbers), "1" if single else str(emitter.size)])
        if full not in writer.helpers:
            given = [Number(number.type, f"%x{place}") if single else Number(number.type, lanes=f"%x{place}")
                     for place, number in enumerate(numbers)]
            with writer.apart():
                number = formula(*(Term(emitter, one) for one in given)).number
                result = number.type if single else emitter.vector(number.type)
                last = number.base if single else emitter.lanes(number)
                parameters = ", ".join(f"{llvm} %x{place}" for place, llvm in enumerate(types))
                text = "\n".join([f"define internal {result} @{full}({parameters}) {attributes} {PURE} {{", "entry:",
                                  *writer.entry, *writer.lines, f"  ret {result} {last}", "}"])
            writer.helper(full, text)
            _RESULTS[full] = number.type
        llvm = _RESULTS[full]
        found = writer.call(llvm if single else emitter.vector(llvm), full, list(zip(types, texts, strict=True)))
        return Term(emitter, Number(llvm, found) if single else Number(llvm, lanes=found))

    return called


_RESULTS: dict[str, str] = {}
"""The types of functions' results, by their names."""


def guarded(usual: Term, found: Term, name: str, rare: Formula, *terms: Term) -> Term:
    """What was found where the usual case holds, and elsewhere another formula of some terms, which is computed only
    where some work-item needs it."""
    emitter = usual.emitter
    assert isinstance(emitter, Emitter)
    writer, condition = emitter.writer, usual.number
    all_usual = condition.base
    if not condition.is_single:
        lanes = emitter.vector("i1")
        all_usual = writer.call("i1", f"llvm.vector.reduce.and.v{emitter.size}i1", [(lanes, emitter.lanes(condition))])
    before, then, rest = writer.block, writer.fresh("rare")[1:], writer.fresh("rest")[1:]
    single = all(term.number.is_single for term in (found, usual, *terms))
    llvm = found.type if single else emitter.vector(found.type)
    text = found.number.base if single else emitter.lanes(found.number)
    writer.do(f"br i1 {all_usual}, label %{rest}, label %{then}")
    writer.label(then)
    other = apart(f"{name}.rare", rare, "noinline cold")(*terms)
    chosen = choose(usual, found, other).number
    last = chosen.base if single else emitter.lanes(chosen)
    end = writer.block
    writer.do(f"br label %{rest}")
    writer.label(rest)
    result = writer.let(f"phi {llvm} [ {text}, %{before} ], [ {last}, %{end} ]")
    return Term(emitter, Number(found.type, result) if single else Number(found.type, lanes=result))


# --------------------------------------------------------------------------------------
# Arithmetic
# --------------------------------------------------------------------------------------


def fused(a: Term, b: Term | float, c: Term | float) -> Term:
    """a * b + c, rounded once."""
    return a.intrinsic("fma", b, c)


def polynomial(x: Term, coefficients: Sequence[float]) -> Term:
    """A polynomial; the constant comes first."""
    found = x.constant(coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        found = fused(found, x, coefficient)
    return found


def limited(x: Term, low: float, high: float) -> Term:
    """A number within bounds; a NaN stays one."""
    return at_most(choose(x < low, low, x), high)


def at_most(x: Term, high: float) -> Term:
    """A number, or the bound if it is beyond; a NaN stays one."""
    return choose(x > high, high, x)


def nearest(x: Term, factor: Term | float, steps: int = 1) -> tuple[Term, Term]:
    """The whole number next to a product, and a number that holds it in its lowest bits; ``steps``: the multiple of one
    of so many, a power of two, and how often in the lowest bits."""
    magic = kind_of(x).magic / steps
    shifted = fused(x, factor, magic)
    return shifted - magic, shifted


def power_of_two(shifted: Term, above: int = 0) -> Term:
    """2 to the power of the whole number in the lowest bits, plus ``above``; normal numbers only."""
    kind = kind_of(shifted)
    return ((shifted.bits << kind.fraction) + ((kind.bias + above) << kind.fraction)).cast(kind.name)


_RECIPROCAL = 0x7EF311C7
"""Less a float's bits, those of an approximation of its reciprocal, to an eighth."""
_FIRST = (2.0148, 1.0074)
"""Of a step from there that leaves 2**-7 of the number."""


def reciprocal(x: Term, steps: int = 1) -> Term:
    """That of a normal float, without a division: one step of Newton's leaves 2**-14, two of them a unit."""
    found = (x.bits.constant(_RECIPROCAL) - x.bits).cast(x.type)
    factor, slope = _FIRST
    found = found * fused(x * found, -slope, factor)
    for _ in range(steps):
        found = fused(found, fused(-x, found, 1.0), found)
    return found
