"""Expressions of the debugger, for kernels in both languages: the operators of C, their precedence, and a few words of
Python's. They are read into trees; :mod:`coopmat.debugger.evaluation` gives them values.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from coopmat.diagnostics import Error

_TOKEN = re.compile(r"\s*(?:(?P<number>0[xX][0-9a-fA-F]+[uUlL]*|(?:\d+\.\d*|\.\d+|\d+)(?:[eE][+-]?\d+)?[fFhHuUlL]*)"
                    r"|(?P<name>[A-Za-z_]\w*)|(?P<sign>->|<<|>>|<=|>=|==|!=|&&|\|\||//|[-+*/%&|^~!<>()\[\].,?:]))")
LEVELS = (("||",), ("&&",), ("|",), ("^",), ("&",), ("==", "!="), ("<", ">", "<=", ">="), ("<<", ">>"), ("+", "-"),
          ("*", "/", "//", "%"))
"""Binary operators, those that bind least first."""
WORDS = {"and": "&&", "or": "||", "not": "!"}
TYPES = {"bool": ("bool", 8, False), "char": ("int", 8, False), "uchar": ("int", 8, True),
         "short": ("int", 16, False),
         "ushort": ("int", 16, True), "int": ("int", 32, False), "uint": ("int", 32, True),
         "unsigned": ("int", 32, True),
         "long": ("int", 64, False), "ulong": ("int", 64, True), "size_t": ("int", 64, True),
         **{f"{'u' * u}int{bits}": ("int", bits, bool(u)) for bits in (8, 16, 32, 64) for u in (0, 1)},
         "half": ("float", 16, False), "float": ("float", 32, False), "double": ("float", 64, False),
         "float32": ("float", 32, False), "float64": ("float", 64, False)}
"""The names of types in casts: kind, bits, and whether it has no sign."""
DEEPEST = 40
"""So deep may parts of an expression be nested."""


@dataclass(frozen=True)
class Node:
    """A part of an expression. ``operator``: number, name, call, cast, index, member, arrow, choice, ``u`` and a unary
    operator, or a binary one; ``text`` is the number, the name or the type."""

    operator: str
    text: str = ""
    parts: tuple[Node, ...] = ()

    def __str__(self) -> str:
        return SHOWN.get(self.operator, _binary)(self)


def _binary(node: Node) -> str:
    if node.operator.startswith("u"):
        return f"{node.operator[1:]}{_inside(node.parts[0])}"
    return f"{_inside(node.parts[0])} {node.operator} {_inside(node.parts[1])}"


def _inside(node: Node) -> str:
    simple = node.operator in ("number", "name", "call", "index", "member", "arrow") or node.operator.startswith("u")
    return str(node) if simple else f"({node})"


SHOWN = {
    "number": lambda node: node.text, "name": lambda node: node.text,
    "call": lambda node: f"{node.text}({', '.join(map(str, node.parts))})",
    "cast": lambda node: f"({node.text}){_inside(node.parts[0])}",
    "index": lambda node: f"{_inside(node.parts[0])}[{', '.join(map(str, node.parts[1:]))}]",
    "member": lambda node: f"{_inside(node.parts[0])}.{node.text}",
    "arrow": lambda node: f"{_inside(node.parts[0])}->{node.text}",
    "choice": lambda node: " ".join((_inside(node.parts[0]), "?", _inside(node.parts[1]), ":", _inside(node.parts[2]))),
}


def parse(text: str) -> Node:
    """The tree of an expression; Error for what is none."""
    reader = _Reader(text)
    node = reader.choice()
    if reader.tokens[0]:
        reader.fail("the expression has ended before this")
    return node


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.depth = 0
        self.tokens: list[str] = []
        position, end = 0, len(text.rstrip())
        while position < end:
            match = _TOKEN.match(text, position)
            if match is None:
                raise Error(f"'{text[position:].strip()[:1]}' is not part of expressions, in '{text.strip()}'")
            self.tokens.append(WORDS.get(match[0].strip(), match[0].strip()))
            position = match.end()
        self.tokens.append("")

    def fail(self, what: str) -> None:
        found = f"'{self.tokens[0]}'" if self.tokens[0] else "the end"
        raise Error(f"{what}: {found}, in '{self.text.strip()}'")

    def take(self, *signs: str) -> str:
        """The next token if it is one of these, else nothing."""
        return self.tokens.pop(0) if self.tokens[0] and self.tokens[0] in signs else ""

    def need(self, sign: str) -> None:
        if not self.take(sign):
            self.fail(f"expected '{sign}'")

    def choice(self) -> Node:
        self.depth += 1
        if self.depth > DEEPEST:
            raise Error(f"an expression is nested more than {DEEPEST} deep")
        node = self.binary(0)
        if self.take("?"):
            chosen = self.choice()
            self.need(":")
            node = Node("choice", "", (node, chosen, self.choice()))
        self.depth -= 1
        return node

    def binary(self, level: int) -> Node:
        if level == len(LEVELS):
            return self.unary()
        node = self.binary(level + 1)
        while operator := self.take(*LEVELS[level]):
            node = Node(operator, "", (node, self.binary(level + 1)))
        return node

    def unary(self) -> Node:
        signs = []
        while True:
            if found := self.take("-", "+", "!", "~", "*", "&"):
                signs.append(Node(f"u{found}"))
            elif self.tokens[0] == "(" and self.tokens[1] in TYPES and self.tokens[2:3] == [")"]:
                signs.append(Node("cast", self.tokens[1]))
                del self.tokens[:3]
            else:
                break
        if len(signs) > DEEPEST:
            raise Error(f"an expression is nested more than {DEEPEST} deep")
        node = self.postfix()
        for sign in reversed(signs):
            node = Node(sign.operator, sign.text, (node,))
        return node

    def postfix(self) -> Node:
        node = self.primary()
        for _ in range(DEEPEST):
            if self.take("["):
                indices = [self.choice()]
                if self.take(","):
                    indices.append(self.choice())
                self.need("]")
                node = Node("index", "", (node, *indices))
            elif sign := self.take(".", "->"):
                if not self.tokens[0].isidentifier():
                    self.fail("expected the name of a member")
                node = Node("member" if sign == "." else "arrow", self.tokens.pop(0), (node,))
            else:
                return node
        raise Error(f"an expression is nested more than {DEEPEST} deep")

    def primary(self) -> Node:
        if self.take("("):
            node = self.choice()
            self.need(")")
            return node
        token = self.tokens[0]
        if token[:1].isdigit() or (token[:1] == "." and token != "."):
            return Node("number", self.tokens.pop(0))
        if not token.isidentifier():
            self.fail("expected a value")
        name = self.tokens.pop(0)
        if not self.take("("):
            return Node("name", name)
        arguments: list[Node] = []
        while not self.take(")"):
            if arguments:
                self.need(",")
            arguments.append(self.choice())
        return Node("call", name, tuple(arguments))
