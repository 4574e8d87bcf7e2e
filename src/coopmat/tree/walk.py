"""Walks over the nodes of a tree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from typing import Any

from coopmat.tree.nodes import Expression, Place, Statement, Window

Node = Expression | Place | Statement
_NODE_CLASSES = (Expression, Place, Statement)


@cache
def _field_names(class_: type) -> tuple[str, ...]:
    return tuple(field.name for field in fields(class_) if field.name not in ("type", "location"))


def children(node: Node) -> list[Node]:
    """The nodes directly below ``node``, in source order."""
    class_: type = type(node)
    found: list[Node] = []
    for name in _field_names(class_):
        value: Any = getattr(node, name)
        if isinstance(value, tuple):
            found += [item for item in value if isinstance(item, _NODE_CLASSES)]
        elif isinstance(value, _NODE_CLASSES):
            found.append(value)
        elif isinstance(value, Window):
            found += [value.row, value.column, value.height, value.width]
    return found


def descendants(node: Node) -> Iterator[Node]:
    """``node`` and every node below it."""
    stack = [node]
    while stack:
        node = stack.pop()
        yield node
        stack += reversed(children(node))
