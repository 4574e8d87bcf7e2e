"""Instructions on numbers, of so many lanes side by side: those of the work-items of a sub-group, or the columns of a
matrix's row. What is the same for all lanes stays one number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from coopmat.targets.llvm.values import Number, literal, suffix
from coopmat.targets.llvm.writer import Operand, Writer

PURE = "nobuiltin nounwind willreturn memory(none)"
"""What LLVM may know of the C library's functions. They may set errno, which nobody reads; and no other function may
take their place, as the results would differ in the last bit."""


class NumberWriter:
    """Writes instructions on numbers of ``size`` lanes. ``functions``: the machine's names of the C library's
    functions, where they are others."""

    def __init__(self, writer: Writer, size: int, functions: Mapping[str, str] = MappingProxyType({})) -> None:
        self.writer = writer
        self.size = size
        self.functions = functions

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
        """An instruction on numbers, of all work-items at once unless all are uniform.

        In the template ``{0}`` … are the operands, ``{t0}`` … their types, ``{t}`` the first one's, ``{r}`` the
        result's.
        """
        is_uniform = all(operand.is_uniform for operand in operands)
        texts = [operand.base if is_uniform else self.lanes(operand) for operand in operands]
        types = [operand.type if is_uniform else self.vector(operand.type) for operand in operands]
        named = {f"t{place}": llvm for place, llvm in enumerate(types)}
        r = result if is_uniform else self.vector(result)
        text = self.writer.let(template.format(*texts, t=types[0] if types else "", r=r, **named))
        return Number(result, text) if is_uniform else Number(result, lanes=text)

    def intrinsic(self, name: str, result: str, *operands: Number, immediate: Sequence[Operand] = (),
                  of: str = "") -> Number:
        """Call one of LLVM's intrinsics that is overloaded by its result's type; ``of``: by this type, too.
        ``immediate`` are operands that are the same for every element."""
        is_uniform = all(operand.is_uniform for operand in operands)
        texts = [operand.base if is_uniform else self.lanes(operand) for operand in operands]
        types = [operand.type if is_uniform else self.vector(operand.type) for operand in operands]
        r = result if is_uniform else self.vector(result)
        full = f"llvm.{name}.{suffix(r)}"
        if of:
            full += f".{suffix(of if is_uniform else self.vector(of))}"
        text = self.writer.call(r, full, [*zip(types, texts, strict=True), *immediate])
        return Number(result, text) if is_uniform else Number(result, lanes=text)

    def select(self, condition: Number, chosen: Number, other: Number) -> Number:
        """``chosen`` where the condition holds."""
        if condition.is_uniform and condition.base in ("true", "false"):
            return chosen if condition.base == "true" else other
        if condition.is_uniform and not (chosen.is_uniform and other.is_uniform):
            vector = self.vector(chosen.type)
            return self.varying(chosen.type, self.writer.let(
                f"select i1 {condition.base}, {vector} {self.lanes(chosen)}, {vector} {self.lanes(other)}"))
        return self.apply("select {t0} {0}, {t1} {1}, {t2} {2}", chosen.type, condition, chosen, other)

    def constant(self, llvm: str, value: float | bool) -> Number:
        """A number that is known."""
        return Number(llvm, literal(llvm, value))

    def library(self, name: str, *numbers: Number) -> Number:
        """A function of the C library, which gives a double, of one number of each lane after the other."""
        types, writer, name = [number.type for number in numbers], self.writer, self.functions.get(name, name)
        if all(number.is_uniform for number in numbers):
            return Number("double", writer.call(
                "double", name, [(number.type, number.base) for number in numbers], PURE))
        writer.declarations.setdefault(name, f"declare double @{name}({', '.join(types)}) {PURE}")
        helper = f"each_{name}"
        writer.helper(helper, _loop(helper, name, types, self.size))
        return self.varying("double", writer.call(
            self.vector("double"), helper, [(self.vector(number.type), self.lanes(number)) for number in numbers]))


def _loop(helper: str, name: str, types: list[str], size: int) -> str:
    """A helper function that calls another one for the elements of its vectors."""
    vectors = [f"<{size} x {llvm}>" for llvm in types]
    numbered = list(enumerate(zip(types, vectors, strict=True)))
    result = f"<{size} x double>"
    return "\n".join([
        f"define internal {result} @{helper}({', '.join(f'{vector} %v{i}' for i, (_, vector) in numbered)}) "
        "noinline nounwind willreturn memory(none) {",
        f"  %out = alloca {result}",
        *(line for i, (_, vector) in numbered for line in (
            f"  %in{i} = alloca {vector}", f"  store {vector} %v{i}, ptr %in{i}")),
        "  br label %loop", "loop:", "  %lane = phi i64 [ 0, %0 ], [ %next, %loop ]",
        *(line for i, (llvm, _) in numbered for line in (
            f"  %p{i} = getelementptr {llvm}, ptr %in{i}, i64 %lane", f"  %x{i} = load {llvm}, ptr %p{i}")),
        f"  %y = call double @{name}({', '.join(f'{llvm} %x{i}' for i, (llvm, _) in numbered)})",
        "  %q = getelementptr double, ptr %out, i64 %lane", "  store double %y, ptr %q",
        "  %next = add i64 %lane, 1", f"  %done = icmp eq i64 %next, {size}",
        "  br i1 %done, label %end, label %loop", "end:", f"  %all = load {result}, ptr %out", f"  ret {result} %all",
        "}"])
