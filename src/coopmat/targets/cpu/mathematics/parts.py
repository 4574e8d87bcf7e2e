"""What formulas are made of: functions of their own, rare cases apart, polynomials, powers of two, exponents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from coopmat.targets.llvm.emitter import Emitter
from coopmat.targets.llvm.terms import Formula, Term, choose
from coopmat.targets.llvm.values import Number
from coopmat.targets.llvm.writer import Writer

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


def nearest(x: Term, factor: Term | float) -> tuple[Term, Term]:
    """The whole number next to a product, and a number that holds it in its lowest bits."""
    magic = kind_of(x).magic
    shifted = fused(x, factor, magic)
    return shifted - magic, shifted


def power_of_two(shifted: Term, above: int = 0) -> Term:
    """2 to the power of the whole number in the lowest bits, plus ``above``; normal numbers only."""
    kind = kind_of(shifted)
    return ((shifted.bits << kind.fraction) + ((kind.bias + above) << kind.fraction)).cast(kind.name)


def scaled(x: Term, exponent: Term) -> Term:
    """x times 2 to the power of a whole number, rounded once: ``exponent`` may lead out of the range of the type, twice
    as far as it goes."""
    emitter = x.emitter
    assert isinstance(emitter, Emitter)
    width, letter = {"float": (16, "ps"), "double": (8, "pd")}[x.type]
    size = emitter.size
    if "avx512f" not in emitter.machine.features or size % width or x.number.is_single or exponent.number.is_single:
        return _scaled_twice(x, exponent)
    vector, whole, writer = f"<{width} x {x.type}>", emitter.vector(x.type), emitter.writer
    parts = []
    for start in range(0, size, width):
        given = [_part(writer, whole, emitter.lanes(one.number), start, width, size) for one in (x, exponent)]
        parts.append(writer.call(vector, f"llvm.x86.avx512.mask.scalef.{letter}.512", [
            (vector, given[0]), (vector, given[1]), (vector, "zeroinitializer"), (f"i{width}", "-1"), ("i32", "4")]))
    while len(parts) > 1:
        count = size // len(parts)
        order = ", ".join(f"i32 {lane}" for lane in range(2 * count))
        parts = [writer.let(f"shufflevector <{count} x {x.type}> {a}, <{count} x {x.type}> {b}, "
                            f"<{2 * count} x i32> <{order}>") for a, b in zip(parts[::2], parts[1::2], strict=True)]
    return Term(emitter, Number(x.type, lanes=parts[0]))


def _part(writer: Writer, whole: str, text: str, start: int, width: int, size: int) -> str:
    """So many elements of a vector."""
    if width == size:
        return text
    order = ", ".join(f"i32 {lane}" for lane in range(start, start + width))
    return writer.let(f"shufflevector {whole} {text}, {whole} poison, <{width} x i32> <{order}>")


def _scaled_twice(x: Term, exponent: Term) -> Term:
    """By two factors, of which the first one is exact where the result is no normal number."""
    kind = kind_of(x)
    whole = (exponent + kind.magic).bits
    whole = whole - whole.constant(kind.magic_bits)
    half = whole.right(1, signed=True)
    for part in (half, whole - half):
        x = x * ((part + kind.bias) << kind.fraction).cast(kind.name)
    return x
