"""Calls of the C library's functions, which take one number, for all work-items."""

from __future__ import annotations

from collections.abc import Sequence

from coopmat.targets.llvm.numbers import NumberWriter
from coopmat.targets.llvm.values import Number

PURE = "nobuiltin nounwind willreturn memory(none)"
"""What LLVM may know of the C library's functions. They may set errno, which nobody reads; and no other function may
take their place, as the results would differ in the last bit."""


def call(emitter: NumberWriter, name: str, numbers: Sequence[Number]) -> Number:
    """A function that gives a double, of each work-item's numbers."""
    types, writer = [number.type for number in numbers], emitter.writer
    if all(number.is_single for number in numbers):
        return Number("double", writer.call(
            "double", name, [(number.type, number.base) for number in numbers], PURE))
    writer.declarations.setdefault(name, f"declare double @{name}({', '.join(types)}) {PURE}")
    helper = f"each_{name}"
    writer.helper(helper, _loop(helper, name, types, emitter.size))
    return emitter.varying("double", writer.call(
        emitter.vector("double"), helper, [(emitter.vector(number.type), emitter.lanes(number)) for number in numbers]))


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
