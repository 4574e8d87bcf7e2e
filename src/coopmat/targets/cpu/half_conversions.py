"""Conversions of fp16 numbers where the processor has no instructions for them (F16C).

LLVM calls functions for single numbers, and takes vectors apart to call them; vectors get functions of their own here.
"""

from __future__ import annotations

from collections.abc import Callable, Set

from coopmat.targets.llvm.ir_text import Line, parse, vector_of
from coopmat.targets.llvm.numbers import NumberWriter
from coopmat.targets.llvm.terms import Term, choose
from coopmat.targets.llvm.values import Number
from coopmat.targets.llvm.writer import Writer

FEATURE = "f16c"


def _extended(half: Term) -> Term:
    """The float of the same value. A half's exponent field is 112 too low after the shift: a factor makes up for it, of
    subnormal numbers, too."""
    bits = half.bits.resized("i32", signed=False)
    magnitude = bits & 0x7FFF
    shifted = magnitude << 13
    finite = (shifted.cast("float") * 2.0 ** 112).bits
    special = shifted | choose(magnitude > 0x7C00, shifted.constant(0x7FC00000), shifted.constant(0x7F800000))
    return (choose(magnitude >= 0x7C00, special, finite) | bits << 16 & 1 << 31).cast("float")


def _truncated(number: Term) -> Term:
    """The half next to a float, ties to even; of a NaN, a quiet one with the upper bits of its payload."""
    sign = number.bits.right(16, signed=False) & 0x8000
    magnitude = number.bits & (1 << 31) - 1
    cut = magnitude.right(13, signed=False)
    normal = (magnitude - (112 << 23) + 0xFFF + (cut & 1)).right(13, signed=False)
    steps = (magnitude.cast("float") + 0.5).bits  # beside 0.5 a float counts in steps of 2**-24, as subnormal halves do
    finite = choose(magnitude < (113 << 23), steps - (126 << 23), normal)
    limited = choose(magnitude >= 0x477FF000, 0x7C00, finite)  # 65520, from which on numbers become infinite
    found = choose(magnitude > 0x7F800000, cut & 0x3FF | 0x7E00, limited) | sign
    return found.resized("i16", signed=False).cast("half")


def _function(name: str, formula: Callable[[Term], Term], given: str, result: str, size: int = 1,
              linkage: str = "internal") -> str:
    """A function of one number, or of a vector of several."""
    writer = Writer()
    numbers = NumberWriter(writer, size)
    whole = formula(Term(numbers, Number(given, "%x") if size == 1 else Number(given, lanes="%x"))).number
    types = (result, given) if size == 1 else (numbers.vector(result), numbers.vector(given))
    return "\n".join([f"define {linkage} {types[0]} @{name}({types[1]} %x) noinline nounwind {{", *writer.lines,
                      f"  ret {types[0]} {whole.base if size == 1 else whole.lanes}", "}"])


def half_conversions(features: Set[str]) -> str:
    """The functions that LLVM calls in code for a processor with these features."""
    if FEATURE in features:
        return ""
    return "\n".join([_function("__extendhfsf2", _extended, "half", "float", linkage="external"),
                      _function("__truncsfhf2", _truncated, "float", "half", linkage="external")])


def with_vector_conversions(ir: str, features: Set[str]) -> str:
    """IR whose conversions of vectors are functions, where the processor has no instructions for them."""
    if FEATURE in features:
        return ir
    module = parse(ir)
    needed: dict[str, str] = {}
    for function in module.functions:
        for block in function.blocks.values():
            block.lines = [_with_function(line, needed) for line in block.lines]
    return "\n".join([str(module), *needed.values()])


def _with_function(line: Line, needed: dict[str, str]) -> Line:
    """A line; if it converts a vector, as a call of a function among those that are needed."""
    cast = line.cast if line.opcode in ("fpext", "fptrunc") else None
    given, result = (vector_of(cast.given), vector_of(cast.type)) if cast else (None, None)
    if cast is None or given is None or result is None or {given[1], result[1]} != {"half", "float"}:
        return line
    size, name = given[0], f"half.{line.opcode.removeprefix('fp')}.{given[0]}"
    formula = _extended if line.opcode == "fpext" else _truncated
    needed.setdefault(name, _function(name, formula, given[1], result[1], size))
    return Line.of(f"  {line.result} = call {cast.type} @{name}({cast.given} {cast.value})")
