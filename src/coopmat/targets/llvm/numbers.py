"""Instructions on numbers, of so many lanes side by side: those of the work-items of a sub-group, or the columns of a
matrix's row. What is the same for all lanes stays one number."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from coopmat.diagnostics import Error
from coopmat.targets.llvm.values import Number, literal, suffix
from coopmat.targets.llvm.writer import Operand, Writer

Library = Callable[[str, Sequence[Number]], Number]
"""Calls a function of the C library, which gives a double: its name in C and its arguments, of each lane."""
Remainder = Callable[["NumberWriter", Number, Number], Number]


def no_library(name: str, numbers: Sequence[Number]) -> Number:
    """The library of numbers that are not those of a kernel's work-items."""
    raise Error(f"'{name}' of {', '.join(number.type for number in numbers)}: only a kernel calls the C library")


class NumberWriter:
    """Writes instructions on numbers of ``size`` lanes. ``remainder``: writes C's fmod of doubles, where LLVM's frem is
    not exact, or slow; ``has_bf16``: the machine rounds to bf16 by itself."""

    def __init__(self, writer: Writer, size: int, library: Library = no_library, *,
                 remainder: Remainder | None = None, has_bf16: bool = False) -> None:
        self.writer = writer
        self.size = size
        self.library = library
        self.remainder = remainder
        self.has_bf16 = has_bf16

    def vector(self, llvm: str) -> str:
        """The type of a number of every work-item."""
        return f"<{self.size} x {llvm}>"

    def lanes(self, number: Number) -> str:
        """The operand for all work-items."""
        if number.lanes:
            return number.lanes
        llvm = number.type
        if number.stride == 0:
            return self.splat(llvm, number.base)
        if llvm == "ptr":
            steps = self.steps("i64", number.stride)
            return self.writer.let(f"getelementptr i8, ptr {number.base}, {self.vector('i64')} {steps}")
        return self.writer.let(f"add {self.vector(llvm)} {self.splat(llvm, number.base)}, "
                               f"{self.steps(llvm, number.stride)}")

    def steps(self, llvm: str, stride: int) -> str:
        """0, stride, 2 stride, … as an operand."""
        return "<" + ", ".join(f"{llvm} {literal(llvm, lane * stride)}" for lane in range(self.size)) + ">"

    def splat(self, llvm: str, text: str) -> str:
        """One operand for all work-items."""
        if not text.startswith("%"):
            return f"splat ({llvm} {text})"
        vector = self.vector(llvm)
        first = self.writer.let(f"insertelement {vector} poison, {llvm} {text}, i32 0")
        return self.writer.let(f"shufflevector {vector} {first}, {vector} poison, <{self.size} x i32> zeroinitializer")

    def varying(self, llvm: str, text: str) -> Number:
        """A number whose operand for all work-items is known."""
        return Number(llvm, lanes=text)

    def apply(self, template: str, result: str, *operands: Number) -> Number:
        """An instruction on numbers, of all work-items at once unless each is one operand.

        In the template ``{0}`` … are the operands, ``{t0}`` … their types, ``{t}`` the first one's, ``{r}`` the
        result's.
        """
        is_single = all(operand.is_single for operand in operands)
        texts = [operand.base if is_single else self.lanes(operand) for operand in operands]
        types = [operand.type if is_single else self.vector(operand.type) for operand in operands]
        named = {f"t{place}": llvm for place, llvm in enumerate(types)}
        r = result if is_single else self.vector(result)
        text = self.writer.let(template.format(*texts, t=types[0] if types else "", r=r, **named))
        return Number(result, text) if is_single else Number(result, lanes=text)

    def intrinsic(self, name: str, result: str, *operands: Number, immediate: Sequence[Operand] = (),
                  of: str = "") -> Number:
        """Call one of LLVM's intrinsics that is overloaded by its result's type; ``of``: by this type, too.
        ``immediate`` are operands that are the same for every element."""
        is_single = all(operand.is_single for operand in operands)
        texts = [operand.base if is_single else self.lanes(operand) for operand in operands]
        types = [operand.type if is_single else self.vector(operand.type) for operand in operands]
        r = result if is_single else self.vector(result)
        full = f"llvm.{name}.{suffix(r)}"
        if of:
            full += f".{suffix(of if is_single else self.vector(of))}"
        text = self.writer.call(r, full, [*zip(types, texts, strict=True), *immediate])
        return Number(result, text) if is_single else Number(result, lanes=text)

    def select(self, condition: Number, chosen: Number, other: Number) -> Number:
        """``chosen`` where the condition holds."""
        if condition.is_single and condition.base in ("true", "false"):
            return chosen if condition.base == "true" else other
        if condition.is_single and not (chosen.is_single and other.is_single):
            vector = self.vector(chosen.type)
            return self.varying(chosen.type, self.writer.let(
                f"select i1 {condition.base}, {vector} {self.lanes(chosen)}, {vector} {self.lanes(other)}"))
        return self.apply("select {t0} {0}, {t1} {1}, {t2} {2}", chosen.type, condition, chosen, other)

    def constant(self, llvm: str, value: float | bool) -> Number:
        """A number that is known."""
        return Number(llvm, literal(llvm, value))
