"""What became of matrix products, in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from coopmat.spirv.analysis.matrix_uses import format_name
from coopmat.spirv.grammar import Op
from coopmat.spirv.transform.goal import counted
from coopmat.targets.cpu.matrix.amx import instruction_of
from coopmat.targets.cpu.matrix.body import Body, Features, is_large
from coopmat.targets.cpu.matrix.operation import (
    Expression,
    Fill,
    Multiply,
    MultiplyAs,
    MultiplyInMemory,
    Operation,
    Product,
    Source,
)
from coopmat.targets.cpu.matrix.product.product import copies_lines, stays
from coopmat.targets.cpu.matrix.product.unit import unit_of

UNITS = {
    "tiles": "AMX ({}), with sums in two by two tiles over all of K",
    "bytes": "dot products of four bytes, with sums in registers over all of K",
    "pairs": "dot products of two bf16 numbers, with sums in registers over all of K",
    "shorts": "dot products of two 16-bit integers, with sums in registers over all of K",
    "numbers": "multiplications and additions of {}, with sums in registers over all of K",
}
"""By the kind of a unit; the instruction or the type of numbers stands in it."""
ALONG_LINES = "multiplications and additions of {}, along lines of B"
"""The same where B of few rows is multiplied where it lies."""


def noted(operations: Iterable[Operation], features: Features) -> tuple[str, ...]:
    """A line for each kind of product, and for how its operands come."""
    found: dict[str, None] = {}
    for operation in operations:
        for line in _lines(operation, features):
            found[line] = None
    return tuple(found)


def _lines(operation: Operation, features: Features) -> Iterator[str]:
    if isinstance(operation, Product):
        unit = unit_of(operation.formats, operation.saturates, features)
        runs, depth = operation.runs, operation.runs.taken(operation.a.columns)
        size = f"{operation.result.rows}x{operation.result.columns}x{depth}"
        stay = stays(operation, Body(features))
        how = (ALONG_LINES if stay[1] else UNITS[unit.kind]).format(unit.instruction or unit.word)
        yield f"products of {size}, {_formats(operation.formats)}: {how}"
        if depth < operation.a.columns:
            yield f"  along K each takes {runs.length} of {runs.period} elements, as each round of the loop did"
        if is_large(operation.result):
            yield f"  C, {operation.result.rows}x{operation.result.columns}, lies in memory between products"
            if operation.asks_for_zeros:
                yield "  the first product begins with zeros"
            if operation.target:
                yield "  the last product's sums go to where the kernel stores them, without a copy"
        for name, source, is_copied, may_stay in zip("AB", operation.sources, copies_lines(operation, Body(features)),
                                                     stay, strict=True):
            if may_stay:
                yield f"  {name}: multiplied where it lies, if all of it is there"
            elif source is None:
                yield f"  {name}: a matrix of the kernel, packed for each product"
            elif source.is_kept and (name == "B" or unit.kind == "tiles"):
                how = "copied once, row by row," if is_copied else "packed once,"
                yield f"  {name}: {_converted(source)}{how} and kept for blocks that share it"
            elif is_copied:
                yield f"  {name}: copied for each block, row by row"
            else:
                yield f"  {name}: {_converted(source)}packed for each block"
    elif isinstance(operation, Expression):
        where = ", and stored without a copy" if operation.target else ""
        count = sum(not isinstance(step.operation, Fill) for step in operation.steps)
        yield (f"{counted(count, 'operation')} on each element of "
               f"{operation.last.rows}x{operation.last.columns}: together{where}")
    elif isinstance(operation, MultiplyInMemory):
        size = f"{operation.result.rows}x{operation.result.columns}x{operation.a.columns}"
        yield f"products of {size}, {_formats(operation.formats)}: vectors, elements of A from where they are"
    elif isinstance(operation, Multiply | MultiplyAs):
        a, b, _ = operation.operands
        size = f"{a.rows}x{b.columns}x{a.columns}"
        instruction = instruction_of(operation, features)
        how = (f"the numerics '{operation.numerics}'" if isinstance(operation, MultiplyAs)
               else f"one instruction of AMX ({instruction})" if instruction else "vectors")
        yield f"products of {size}, {_formats(operation.formats)}: {how}"


def _converted(source: Source) -> str:
    """What an operand is converted from, if it is."""
    if not source.conversions:
        return ""
    first = source.conversions[0]
    is_signed = first.instruction not in (Op.ConvertUToF, Op.UConvert)
    return f"converted from {format_name(first.operands[0], signed=is_signed)}, "


def _formats(formats: tuple[str, str, str, str]) -> str:
    a, b, c, d = formats
    return f"{a if a == b else f'{a} and {b}'} to {d if c == d else f'{c} and {d}'}"
