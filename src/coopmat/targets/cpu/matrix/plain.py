"""Matrix operations on any processor: every operation becomes a function with a body, which LLVM inlines."""

from __future__ import annotations

from collections.abc import Callable

from coopmat.targets.cpu.matrix import elements, memory
from coopmat.targets.cpu.matrix.body import Body, Features, Made
from coopmat.targets.cpu.matrix.multiply import multiply
from coopmat.targets.cpu.matrix.multiply_as import multiply_as
from coopmat.targets.cpu.matrix.operations import Operation


def definition(name: str, operation: Operation, features: Features) -> tuple[str, dict[str, str]]:
    """A function for an operation, and the declarations of what it calls."""
    body = Body(operation, features)
    parameters, result, returned = OPERATIONS[operation.name](body)
    end = f"ret {result} {returned}" if result != "void" else "ret void"
    # Large operations stay calls: their loops are many.
    manner = "noinline" if _is_large(operation) else "alwaysinline"
    named = ", ".join(f"{llvm} %{place}" for place, llvm in enumerate(parameters))
    text = "\n".join([f"define internal {result} @{name}({named}) {manner} nounwind {{", "entry:", *body.writer.entry,
                      *body.writer.lines, f"  {end}", "}", *body.writer.helpers.values()])
    return text, body.writer.declarations


def _is_large(operation: Operation) -> bool:
    kinds = [*operation.operands, *([operation.result] if operation.result else [])]
    return max(kind.rows * kind.columns for kind in kinds) > 4096


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
    "extract": elements.extract,
    "insert": elements.insert,
    "multiply": multiply,
    "multiply_as": multiply_as,
}
