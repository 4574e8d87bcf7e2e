"""Matrix operations on any processor: every operation becomes a function with a body, which LLVM inlines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from coopmat.targets.cpu.matrix import components, elements, expressions, memory, reductions
from coopmat.targets.cpu.matrix.body import RESULT, Body, Features, Made, is_large
from coopmat.targets.cpu.matrix.multiply import multiply, multiply_in_memory
from coopmat.targets.cpu.matrix.multiply_as import multiply_as
from coopmat.targets.cpu.matrix.operation import (
    ChangeUse,
    Convert,
    Elementwise,
    Expression,
    Extract,
    ExtractInMemory,
    Fill,
    FromMemory,
    Insert,
    InsertInMemory,
    Inside,
    Load,
    LoadWindow,
    Multiply,
    MultiplyAs,
    MultiplyInMemory,
    Operation,
    Product,
    Publish,
    Reduce,
    Scale,
    Store,
    StoreWindow,
    ToMemory,
)
from coopmat.targets.cpu.matrix.product.panels import Shares
from coopmat.targets.cpu.matrix.product.product import product
from coopmat.targets.llvm.values import size_of

MOST_INLINED = 4096  # elements


@dataclass(frozen=True)
class Definition:
    """A function for an operation, the declarations of what it calls, and helpers, by name, and the bytes of its
    frame."""

    text: str
    declarations: dict[str, str]
    helpers: dict[str, str]
    frame_bytes: int


def definition(name: str, operation: Operation, features: Features, shares: Shares = (None, None),
               calls: int = 1) -> Definition:
    """The function that stands for an operation. ``shares``: a product's parts of what is kept; ``calls``: how
    often the kernel calls it."""
    body = Body(features, calls)
    if isinstance(operation, Product):
        parameters, result, returned = product(body, operation, shares)
    else:
        parameters, result, returned = BODIES[type(operation)](body, operation)
    named = [f"{llvm} %{place}" for place, llvm in enumerate(parameters)]
    if operation.result is not None and is_large(operation.result):
        alone = "" if isinstance(operation, Product | Expression) else "noalias "  # an operand may lie there
        result, named = "void", [f"ptr {alone}{RESULT}", *named]
    end = f"ret {result} {returned}" if result != "void" else "ret void"
    # Large operations stay calls: their loops are many.
    manner = "noinline" if _is_long(operation) else "alwaysinline"
    text = "\n".join([f"define internal {result} @{name}({', '.join(named)}) {manner} nounwind {{", "entry:",
                      *body.writer.entry, *body.writer.lines, f"  {end}", "}"])
    return Definition(text, body.writer.declarations, body.writer.helpers, sum(map(size_of, body.writer.slots)))


def _is_long(operation: Operation) -> bool:
    """Whether the code of an operation is long."""
    return isinstance(operation, Product | Expression) or any(
        is_large(kind) or kind.rows * kind.columns > MOST_INLINED for kind in operation.kinds)


BODIES: dict[type[Operation], Callable[[Body, Any], Made]] = {
    Fill: elements.fill,
    Inside: elements.inside,
    Elementwise: elements.elementwise,
    Scale: elements.scale,
    Convert: elements.convert,
    Expression: expressions.expression,
    ChangeUse: elements.change_use,
    Reduce: reductions.reduce,
    Load: memory.load,
    Store: memory.store,
    LoadWindow: memory.load_window,
    StoreWindow: memory.store_window,
    Multiply: multiply,
    MultiplyAs: multiply_as,
    MultiplyInMemory: multiply_in_memory,
    Extract: components.extract,
    Insert: components.insert,
    ExtractInMemory: components.extract_in_memory,
    InsertInMemory: components.insert_in_memory,
    ToMemory: components.to_memory,
    FromMemory: components.from_memory,
    Publish: components.publish,
}
"""What writes the code of each class of operations."""
