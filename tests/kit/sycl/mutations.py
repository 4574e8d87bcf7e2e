"""Random changes of Python functions that are kernels: what a user may write by mistake, and worse."""

from __future__ import annotations

import ast
import copy
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

SEEDS = Path(__file__).with_name("seed_kernels.py")
_CONSTANTS = (0, 1, -1, 2, 7, 16, 255, 4096, 2**31, 2**63, 2**64, 10**30, 0.5, 1e40, 1e-50, True, None, "text",
              b"b", ..., 2j)
_NAMES = ("len", "range", "zip", "enumerate", "reversed", "min", "max", "sum", "abs", "list", "tuple", "int", "float",
          "bool", "pow", "print", "sorted", "map", "open", "undefined", "self", "kernel", "WIDTH", "WEIGHTS", "TILE",
          "joint_matrix", "joint_matrix_fill", "joint_matrix_apply", "layout", "use", "sub_group", "ptr", "nd_item",
          "int8", "float32", "half", "bfloat16", "precision", "collatz", "control", "clamp", "__name__", "é")
_ATTRIBUTES = ("get_global_id", "get_local_id", "get_group", "get_sub_group", "barrier", "get", "row_major", "append",
               "a", "accumulator", "tf32", "size", "real", "__class__", "__dict__", "get_multi_ptr", "value")
_BINARY = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.LShift, ast.RShift, ast.BitOr,
           ast.BitXor, ast.BitAnd, ast.MatMult)
_COMPARISONS = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Is, ast.IsNot, ast.In, ast.NotIn)
_ANNOTATIONS = ("ptr[int8]", "ptr[const[float32]]", "local_ptr[half]", "int", "float", "bool", "layout", "nd_item[3]",
                "nd_item", "local_accessor[float32, 2]", "precision.tf32", "'float32'", "'undefined'", "'1 +'", "ptr",
                "None", "use", "joint_matrix", "uint64", "[]", "ptr[ptr[int8]]")


@dataclass(frozen=True)
class Slot:
    """A place in a syntax tree that holds an expression or a statement."""

    parent: ast.AST
    field: str
    index: int | None

    @property
    def node(self) -> ast.AST:
        held = getattr(self.parent, self.field)
        return held if self.index is None else held[self.index]

    def put(self, node: ast.AST) -> None:
        if self.index is None:
            setattr(self.parent, self.field, node)
        else:
            getattr(self.parent, self.field)[self.index] = node


def slots(root: ast.AST, kind: type[ast.AST]) -> list[Slot]:
    """The places of expressions or statements below ``root``."""
    return [slot for parent in ast.walk(root) for slot in _slots_of(parent)
            if isinstance(slot.node, kind) and slot.field not in ("annotation", "decorator_list", "returns")]


def _slots_of(parent: ast.AST) -> Iterator[Slot]:
    for name, held in ast.iter_fields(parent):
        if isinstance(held, list):
            yield from (Slot(parent, name, index) for index in range(len(held)))
        else:
            yield Slot(parent, name, None)


class Mutator:
    """Changes one kernel of a file, or a helper of it. ``kernels`` are those that the change is in."""

    def __init__(self, seed: int, text: str) -> None:
        self.random = random.Random(seed)
        self.tree = ast.parse(text)
        functions = [node for node in self.tree.body if isinstance(node, ast.FunctionDef)]
        self.function = self.random.choice(functions)
        self.kernels = [node.name for node in functions if node.decorator_list and self.function.name in (
            node.name, *(part.id for part in ast.walk(node) if isinstance(part, ast.Name)))]
        self.donors = [copy.deepcopy(slot.node) for function in functions for slot in slots(function, ast.expr)]
        self.statements = [copy.deepcopy(slot.node) for function in functions for slot in slots(function, ast.stmt)]

    def mutate(self) -> str:
        """The text of the file after one to three changes."""
        for _ in range(self.random.choice([1, 1, 1, 2, 3])):
            self.random.choice(self.changes())()
        return ast.unparse(ast.fix_missing_locations(self.tree))

    def changes(self) -> list[Callable[[], None]]:
        return [self.replace_expression, self.replace_expression, self.replace_expression, self.wrap_expression,
                self.wrap_expression, self.change_operator, self.delete_statement, self.duplicate_statement,
                self.swap_statements, self.swap_expressions, self.insert_statement, self.wrap_statement,
                self.change_annotation, self.change_arguments, self.nest, self.rename]

    # ------------------------------------------------------------------ expressions

    def expressions(self) -> list[Slot]:
        return [slot for slot in slots(self.function, ast.expr)
                if not isinstance(getattr(slot.node, "ctx", None), ast.Store)]

    def expression(self) -> ast.expr:
        """Some expression: a constant, a name, or one of the file."""
        kind = self.random.random()
        if kind < 0.25:
            return ast.Constant(self.random.choice(_CONSTANTS))
        if kind < 0.5:
            return ast.Name(self.random.choice((*_NAMES, *self.names())), ast.Load())
        return copy.deepcopy(self.random.choice(self.donors))

    def names(self) -> list[str]:
        return sorted({node.id for node in ast.walk(self.function) if isinstance(node, ast.Name)} | {"x"})

    def replace_expression(self) -> None:
        if found := self.expressions():
            self.random.choice(found).put(self.expression())

    def wrap_expression(self) -> None:
        if found := self.expressions():
            slot = self.random.choice(found)
            slot.put(self.wrapped(slot.node))

    def wrapped(self, node: ast.expr) -> ast.expr:
        other, load = self.expression(), ast.Load()
        comprehension = ast.comprehension(ast.Name("k", ast.Store()), other, [], 0)
        return self.random.choice([
            ast.List([node, other], load), ast.Tuple([node], load), ast.Subscript(node, other, load),
            ast.Subscript(node, ast.Slice(None, other, None), load), ast.Subscript(other, node, load),
            ast.Attribute(node, self.random.choice(_ATTRIBUTES), load), ast.Call(node, [], []),
            ast.Call(node, [other], []), ast.Call(other, [node], []), ast.Call(other, [ast.Starred(node, load)], []),
            ast.Call(other, [], [ast.keyword("x", node)]), ast.Call(other, [], [ast.keyword(None, node)]),
            ast.IfExp(node, other, node), ast.IfExp(other, node, self.expression()),
            ast.UnaryOp(self.random.choice([ast.Not, ast.USub, ast.Invert, ast.UAdd])(), node),
            ast.BinOp(node, self.random.choice(_BINARY)(), other), ast.BoolOp(ast.And(), [node, other]),
            ast.Compare(node, [self.random.choice(_COMPARISONS)(), ast.Lt()], [other, node]),
            ast.ListComp(node, [comprehension]), ast.GeneratorExp(node, [comprehension]),
            ast.DictComp(node, node, [comprehension]), ast.NamedExpr(ast.Name("k", ast.Store()), node),
            ast.Call(ast.Lambda(_no_arguments(), node), [], []), ast.Lambda(_no_arguments(), node),
            ast.JoinedStr([ast.FormattedValue(node, -1)]), ast.Dict([node], [other]), ast.Yield(node), ast.Await(node),
        ])

    def change_operator(self) -> None:
        for node in self.random.sample(found := list(ast.walk(self.function)), len(found)):
            if isinstance(node, ast.BinOp | ast.AugAssign):
                node.op = self.random.choice(_BINARY)()
                return
            if isinstance(node, ast.Compare):
                node.ops[0] = self.random.choice(_COMPARISONS)()
                return

    def swap_expressions(self) -> None:
        if found := self.expressions():
            first, second = self.random.choice(found), self.random.choice(found)
            nodes = copy.deepcopy(first.node), copy.deepcopy(second.node)
            first.put(nodes[1])
            second.put(nodes[0])

    def nest(self) -> None:
        """An expression inside of itself, many times."""
        if found := self.expressions():
            slot = self.random.choice(found)
            node = slot.node
            for _ in range(self.random.choice([3, 10, 40])):
                node = self.random.choice([
                    ast.BinOp(node, ast.Add(), ast.Constant(1)), ast.UnaryOp(ast.USub(), node),
                    ast.IfExp(node, ast.Constant(1), ast.Constant(0)), ast.Tuple([node], ast.Load()),
                    ast.BoolOp(ast.Or(), [node, ast.Constant(0)])])
            slot.put(node)

    def rename(self) -> None:
        """All occurrences of one name become another."""
        if names := self.names():
            old, new = self.random.choice(names), self.random.choice((*_NAMES, *names))
            for node in ast.walk(self.function):
                if isinstance(node, ast.Name) and node.id == old:
                    node.id = new

    # ------------------------------------------------------------------ statements

    def bodies(self) -> list[list[ast.stmt]]:
        return [held for node in ast.walk(self.function) for name in ("body", "orelse")
                if isinstance(held := getattr(node, name, None), list) and held]

    def delete_statement(self) -> None:
        body = self.random.choice(self.bodies())
        body[self.random.randrange(len(body))] = ast.Pass()

    def duplicate_statement(self) -> None:
        body = self.random.choice(self.bodies())
        body.insert(self.random.randrange(len(body) + 1), copy.deepcopy(self.random.choice(body)))

    def swap_statements(self) -> None:
        body = self.random.choice(self.bodies())
        self.random.shuffle(body)

    def insert_statement(self) -> None:
        body = self.random.choice(self.bodies())
        body.insert(self.random.randrange(len(body) + 1), copy.deepcopy(self.random.choice(self.statements)))

    def wrap_statement(self) -> None:
        body = self.random.choice(self.bodies())
        index = self.random.randrange(len(body))
        inner, other, target = [body[index]], self.expression(), ast.Name(self.random.choice(self.names()), ast.Store())
        body[index] = self.random.choice([
            ast.If(other, inner, []), ast.If(other, [ast.Pass()], inner), ast.While(other, inner, []),
            ast.For(target, other, inner, []), ast.For(ast.Tuple([target], ast.Store()), other, inner, []),
            ast.For(target, ast.Call(ast.Name("range", ast.Load()), [other], []), inner, []),
            ast.With([ast.withitem(other)], inner), ast.FunctionDef("inner", _no_arguments(), inner, [], None),
            ast.Try(inner, [ast.ExceptHandler(None, None, inner)], [], []), ast.Return(other), ast.Expr(other),
            ast.Assign([target], other), ast.Assign([target, target], other), ast.AugAssign(target, ast.Add(), other),
            ast.AnnAssign(target, other, other, 1), ast.Delete([target]), ast.Assert(other), ast.Raise(other),
            ast.If(other, [ast.Break()], []), ast.Continue(), ast.Return(None),
            ast.Assign([ast.Subscript(other, self.expression(), ast.Store())], self.expression()),
            ast.Assign([ast.Attribute(other, "a", ast.Store())], other),
        ])

    # ------------------------------------------------------------------ signatures

    def change_annotation(self) -> None:
        annotation = ast.parse(self.random.choice(_ANNOTATIONS), mode="eval").body
        if self.function.args.args and self.random.random() < 0.8:
            self.random.choice(self.function.args.args).annotation = annotation
        else:
            self.function.returns = annotation

    def change_arguments(self) -> None:
        arguments = self.function.args
        change = self.random.choice(["drop", "add", "star", "keyword", "default"])
        if change == "drop" and len(arguments.args) > len(arguments.defaults):
            arguments.args.pop(0)
        elif change == "add":
            arguments.args.insert(0, ast.arg("extra"))
        elif change == "star":
            arguments.vararg = ast.arg("rest")
        elif change == "keyword":
            arguments.kwonlyargs.append(ast.arg("only"))
            arguments.kw_defaults.append(self.expression())
        elif len(arguments.args) > len(arguments.defaults):
            arguments.defaults.insert(0, self.expression())


def _no_arguments() -> ast.arguments:
    return ast.arguments([], [], None, [], [], None, [])
