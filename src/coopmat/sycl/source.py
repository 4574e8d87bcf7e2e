"""Python source of kernels: a function's syntax tree, and the places that messages point to."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from functools import lru_cache
from types import CodeType, FunctionType
from typing import Any

from coopmat.diagnostics import Error, SourceFile, SourceLocation
from coopmat.sycl.texts import text_of

Definition = ast.FunctionDef | ast.Lambda


@dataclass(frozen=True, slots=True)
class Source:
    """A file of Python, whose syntax trees know their places by line and UTF-8 byte."""

    file: SourceFile
    tree: ast.Module = field(repr=False, compare=False)

    def location(self, node: ast.AST) -> SourceLocation:
        """Where a node stands; of one that spans several lines, its first line."""
        line = getattr(node, "lineno", 0)
        text = self.file.line(line)
        start, end = getattr(node, "col_offset", 0), getattr(node, "end_col_offset", 0)
        if getattr(node, "end_lineno", line) != line:
            end = len(text.encode())
        column = _characters(text, start)
        return SourceLocation(self.file, line, column + 1, max(1, _characters(text, end) - column))


def _characters(text: str, octets: int) -> int:
    return octets if text.isascii() else len(text.encode()[:octets].decode("utf-8", "ignore"))


@lru_cache(maxsize=32)
def parse(name: str, text: str) -> Source:
    """The syntax tree of a file."""
    try:
        tree = ast.parse(text, name)
    except SyntaxError as error:
        raise Error(f"{name} is not what the function was defined from: line {error.lineno} has a syntax error "
                    "now; import it again") from None
    return Source(SourceFile(name, text), tree)


def definition_of(function: FunctionType) -> tuple[Source, Definition]:
    """A function's source and its node. Error if there is none that fits."""
    source = parse(*text_of(function))
    found = [node for node in _definitions(source.file.name, source.file.text) if _fits(node, function.__code__)]
    if len(found) > 1:
        found = [node for node in found if _begins_at(node, function.__code__)] or found
    if not found:
        raise Error(f"the source of '{function.__qualname__}' is not at line {function.__code__.co_firstlineno} of "
                    f"{source.file.name}: the file has changed since it was loaded")
    if isinstance(found[0], ast.AsyncFunctionDef):
        raise Error(f"{source.file.name}:{found[0].lineno}: '{function.__qualname__}' is async, and device code runs "
                    "by itself: define it with def alone")
    return source, found[0]


def has_source(function: FunctionType) -> bool:
    """Whether a function was written in Python's source, and not made by a class's decorator."""
    try:
        text_of(function)
    except Error:
        return False
    return True


@lru_cache(maxsize=32)
def _definitions(name: str, text: str) -> list[Any]:
    return [node for node in ast.walk(parse(name, text).tree)
            if isinstance(node, ast.FunctionDef | ast.Lambda | ast.AsyncFunctionDef)]


def _fits(node: Any, code: CodeType) -> bool:
    decorators = [] if isinstance(node, ast.Lambda) else node.decorator_list
    name = "<lambda>" if isinstance(node, ast.Lambda) else node.name
    return name == code.co_name and min([node.lineno, *(d.lineno for d in decorators)]) == code.co_firstlineno


def _begins_at(node: Any, code: CodeType) -> bool:
    """Whether a lambda's body holds the code's instructions: several lambdas may stand in one line."""
    body = node.body if isinstance(node, ast.Lambda) else node
    first, after = (body.lineno, body.col_offset), (body.end_lineno, body.end_col_offset)
    return any(first <= (line, column) and (end, last) <= after for line, end, column, last in code.co_positions()
               if line is not None and end is not None and column is not None and last is not None and last > column)
