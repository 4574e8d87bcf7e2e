"""Matrix operations on any processor: every operation becomes a function with a body, which LLVM inlines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from coopmat.targets.cpu.matrix import components, elements, memory, reductions
from coopmat.targets.cpu.matrix.body import RESULT, Body, Features, Made, is_large
from coopmat.targets.cpu.matrix.multiply import multiply
from coopmat.targets.cpu.matrix.multiply_as import multiply_as
from coopmat.targets.cpu.matrix.operations import Operation
from coopmat.targets.llvm.values import size_of

MOST_INLINED = 4096  # elements


@dataclass(frozen=True)
class Definition:
    """A function for an operation, the declarations of what it calls, by name, and the bytes of its frame."""

    text: str
    declarations: dict[str, str]
    frame_bytes: int


def definition(name: str, operation: Operation, features: Features) -> Definition:
    """The function that stands for an operation."""
    body = Body(operation, features)
    parameters, result, returned = OPERATIONS[operation.name](body)
    named = [f"{llvm} %{place}" for place, llvm in enumerate(parameters)]
    if operation.result is not None and is_large(operation.result):
        result, named = "void", [f"ptr noalias {RESULT}", *named]
    end = f"ret {result} {returned}" if result != "void" else "ret void"
    # Large operations stay calls: their loops are many.
    manner = "noinline" if _is_long(operation) else "alwaysinline"
    text = "\n".join([f"define internal {result} @{name}({', '.join(named)}) {manner} nounwind {{", "entry:",
                      *body.writer.entry, *body.writer.lines, f"  {end}", "}", *body.writer.helpers.values()])
    slots = (line.split(" = alloca ", 1)[1].split(", align")[0] for line in body.writer.entry if " = alloca " in line)
    return Definition(text, body.writer.declarations, sum(map(size_of, slots)))


def _is_long(operation: Operation) -> bool:
    """Whether the code of an operation is long."""
    kinds = [*operation.operands, *([operation.result] if operation.result else [])]
    return any(is_large(kind) or kind.rows * kind.columns > MOST_INLINED for kind in kinds)


OPERATIONS: dict[str, Callable[[Body], Made]] = {
    "fill": elements.fill,
    "load": memory.load,
    "store": memory.store,
    "load_window": memory.load_window,
    "store_window": memory.store_window,
    "inside": elements.inside_fill,
    "elementwise": elements.elementwise,
    "scale": elements.scale,
    "convert": elements.convert,
    "use": elements.use,
    "extract": components.extract,
    "insert": components.insert,
    "extract_in_memory": components.extract_in_memory,
    "insert_in_memory": components.insert_in_memory,
    "to_memory": components.to_memory,
    "from_memory": components.from_memory,
    "reduce": reductions.reduce,
    "multiply": multiply,
    "multiply_as": multiply_as,
}
