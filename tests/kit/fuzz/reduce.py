"""Cuts a generated kernel down while it keeps showing what was found.

Every step keeps the kernel well defined: statements are removed or replaced by the blocks inside them, and
expressions by constants or parts of their own, of the same type and within the same bounds. A step that leaves a
name without its declaration fails to compile, and so does not show the finding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tests.kit.fuzz.expressions import integer_literal
from tests.kit.fuzz.generator import Kernel
from tests.kit.fuzz.nodes import Block, Expression, Node, Statement

Shows = Callable[[list[str]], list[bool]]
"""Which of some sources show the finding."""


@dataclass
class Step:
    """Parts [start, stop) of a node become ``parts``."""

    parent: Node
    start: int
    stop: int
    parts: list[str | Node]

    def apply(self) -> list[str | Node]:
        """Returns the node's earlier parts, to undo the step."""
        before = list(self.parent.parts)
        self.parent.parts[self.start:self.stop] = self.parts
        return before


def reduced(kernel: Kernel, shows: Shows, batch: int = 1) -> str:
    """The source of the smallest form found; ``kernel`` itself is changed."""
    while True:
        size = len(kernel.source)
        for steps in (_removals, _unwrappings, _simplifications):
            _pass(kernel, steps, shows, batch)
        if len(kernel.source) == size:
            return kernel.source


def _pass(kernel: Kernel, steps: Callable[[Node], Iterator[Step]], shows: Shows, batch: int) -> None:
    """Tries each step once; after one that works, goes on behind it in the new tree."""
    position = 0
    while True:
        chosen = []
        for number, step in enumerate(steps(kernel.root)):
            if position <= number < position + batch:
                chosen.append(step)
        if not chosen:
            return
        sources = []
        for step in chosen:
            before = step.apply()
            sources.append(kernel.source)
            step.parent.parts = before
        size = len(kernel.source)
        good = [index for index, found in enumerate(shows(sources)) if found and len(sources[index]) < size]
        if good:
            chosen[good[0]].apply()
            position += good[0]
        else:
            position += len(chosen)


def _nodes(root: Node) -> list[Node]:
    return [root, *(node for _, _, node in root.children())]


def _removals(root: Node) -> Iterator[Step]:
    """Runs of statements, long ones first."""
    lists = [node for node in _nodes(root) if any(isinstance(part, Statement) for part in node.parts)]
    length = max((len(node.parts) for node in lists), default=0)
    while length:
        for node in lists:
            for start in range(0, len(node.parts) - length + 1, length):
                if all(isinstance(part, Statement) for part in node.parts[start:start + length]):
                    yield Step(node, start, start + length, [])
        length //= 2


def _unwrappings(root: Node) -> Iterator[Step]:
    """A statement becomes the statements of a block inside it, or loses an else."""
    for node in _nodes(root):
        if not isinstance(node, Block):
            continue
        for index, part in enumerate(node.parts):
            for child in part.parts if isinstance(part, Node) else ():
                if isinstance(child, Block):
                    yield Step(node, index, index + 1, list(child.parts))
            if isinstance(part, Statement) and " else " in part.parts:
                yield Step(part, part.parts.index(" else "), len(part.parts), [])


def _simplifications(root: Node) -> Iterator[Step]:
    """An expression becomes a constant or a part of itself."""
    for parent, index, node in list(root.children()):
        if not isinstance(node, Expression):
            continue
        for candidate in (*_constants(node), *(child for _, _, child in node.children())):
            if isinstance(candidate, Expression) and candidate.may_replace(node):
                yield Step(parent, index, index + 1, [candidate])


def _constants(node: Expression) -> Iterator[Expression]:
    type_ = node.type
    if type_.is_float:
        yield Expression(type_, f"({type_})(1)")
        return
    for value in (0, 1):
        text = integer_literal(type_, value)
        yield Expression(type_, text if type_.count == 1 else f"(({type_})({text}))", low=value, high=value)


__all__ = ["Shows", "reduced"]
